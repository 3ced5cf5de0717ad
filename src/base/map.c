/* map.c - open addressing with linear probing; removing an entry moves later entries into its
 * place, so there are no tombstones. Invariants: at most 3/4 of the places are used; between an
 * entry's home place and its place none is free. */
#include "base/map.h"

#include "base/assert.h"
#include "base/hash.h"
#include "base/str.h"

#define PLACES_FIRST 16

void lc_map_init(lc_map *map, lc_heap *heap, loci_category category)
{
    *map = (lc_map){.heap = heap, .category = category};
}

void lc_map_clear(lc_map *map)
{
    if (map->entries != NULL)
        lc_heap_free(map->heap, map->entries, map->place_count * sizeof *map->entries,
                     map->category);
    map->entries = NULL;
    map->place_count = 0;
    map->entry_count = 0;
}

/* The place of `key`, or the free place where it would go. The map has places. */
static size_t probe(const lc_map *map, loci_str key, uint64_t hash)
{
    size_t mask = map->place_count - 1;
    size_t place = (size_t)hash & mask;

    while (map->entries[place].value != NULL &&
           (map->entries[place].hash != hash || !lc_str_eq(map->entries[place].key, key)))
        place = (place + 1) & mask;
    return place;
}

static bool make_room(lc_map *map)
{
    lc_map grown = *map;

    if ((map->entry_count + 1) * 4 <= map->place_count * 3)
        return true;
    grown.place_count = map->place_count == 0 ? PLACES_FIRST : map->place_count * 2;
    grown.entries = lc_heap_zalloc(map->heap, grown.place_count * sizeof *grown.entries,
                                   map->category);
    if (grown.entries == NULL)
        return false;
    for (size_t i = 0; i < map->place_count; i++) {
        const lc_map_entry *entry = &map->entries[i];

        if (entry->value != NULL)
            grown.entries[probe(&grown, entry->key, entry->hash)] = *entry;
    }
    if (map->entries != NULL)
        lc_heap_free(map->heap, map->entries, map->place_count * sizeof *map->entries,
                     map->category);
    *map = grown;
    return true;
}

void *lc_map_find(const lc_map *map, loci_str key)
{
    if (map->place_count == 0)
        return NULL;
    return map->entries[probe(map, key, lc_hash64(key))].value;
}

bool lc_map_put(lc_map *map, loci_str key, void *value)
{
    uint64_t hash = lc_hash64(key);
    lc_map_entry *entry;

    LC_ASSERT(value != NULL);
    if (!make_room(map))
        return false;
    entry = &map->entries[probe(map, key, hash)];
    if (entry->value == NULL)
        map->entry_count++;
    *entry = (lc_map_entry){.key = key, .hash = hash, .value = value};
    return true;
}

void *lc_map_take(lc_map *map, loci_str key)
{
    size_t mask = map->place_count - 1;
    size_t gap;
    void *taken;

    if (map->place_count == 0)
        return NULL;
    gap = probe(map, key, lc_hash64(key));
    taken = map->entries[gap].value;
    if (taken == NULL)
        return NULL;

    map->entry_count--;
    map->entries[gap].value = NULL;
    for (size_t i = (gap + 1) & mask; map->entries[i].value != NULL; i = (i + 1) & mask) {
        size_t home = (size_t)map->entries[i].hash & mask;

        /* An entry may move into the gap unless its home is behind the gap. */
        if (((i - home) & mask) < ((i - gap) & mask))
            continue;
        map->entries[gap] = map->entries[i];
        map->entries[i].value = NULL;
        gap = i;
    }
    return taken;
}

void *lc_map_each(const lc_map *map, size_t *place)
{
    while (*place < map->place_count) {
        void *value = map->entries[(*place)++].value;

        if (value != NULL)
            return value;
    }
    return NULL;
}
