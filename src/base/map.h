/* map.h - finds a pointer by a key of bytes.
 *
 * Keys are borrowed: they must live, unchanged, as long as their entry, which is why they usually
 * are a member of the thing they lead to. Order of iteration is not defined and must not reach any
 * output.
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
/* Frees the table, not what it leads to. */
void lc_map_clear(lc_map *map);

void *lc_map_find(const lc_map *map, loci_str key);
/* Sets or replaces; `value` is not NULL. False when out of memory: nothing changed. */
bool lc_map_put(lc_map *map, loci_str key, void *value);
/* The value taken out, or NULL. */
void *lc_map_take(lc_map *map, loci_str key);
/* Calls for each value until `*place` reaches the end: start with 0, NULL ends. */
void *lc_map_each(const lc_map *map, size_t *place);

#endif /* LC_BASE_MAP_H */
