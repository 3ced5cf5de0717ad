/* map.h - a hash map from byte strings to pointers.
 *
 * Keys are borrowed: they must live, unchanged, as long as their entry, so a key usually is a
 * member of its value. Order of iteration is not defined and must not reach any output.
 */
#ifndef LC_BASE_MAP_H
#define LC_BASE_MAP_H

#include "base/heap.h"

#include <stdbool.h>

typedef struct lc_map_entry {
    loci_str key;
    uint64_t hash;
    void *value; /* NULL = the place is free. */
} lc_map_entry;

typedef struct lc_map {
    lc_heap *heap;
    loci_category category;
    lc_map_entry *entries;
    size_t place_count; /* A power of two, or 0. */
    size_t entry_count;
} lc_map;

void lc_map_init(lc_map *map, lc_heap *heap, loci_category category);
/* Frees the table, not its values. */
void lc_map_clear(lc_map *map);

void *lc_map_find(const lc_map *map, loci_str key);
/* Sets or replaces; `value` is not NULL. False when out of memory: nothing changed. */
bool lc_map_put(lc_map *map, loci_str key, void *value);
/* Removes the entry and returns its value, or NULL. */
void *lc_map_take(lc_map *map, loci_str key);
/* Returns one value per call, NULL after the last; `*place` starts at 0. */
void *lc_map_each(const lc_map *map, size_t *place);

#endif /* LC_BASE_MAP_H */
