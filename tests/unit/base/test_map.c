#include "base/map.h"

#include <string.h>

#include "base/error.h"
#include "base/str.h"
#include "lib/test.h"

#define KEYS 400

static void init(lc_heap *heap, lc_map *map)
{
    lc_heap_init(heap, test_heap());
    lc_map_init(map, heap, LOCI_MEM_CACHES);
}

TEST(map, empty_one_has_nothing_and_takes_no_memory)
{
    lc_heap heap;
    lc_map map;
    size_t place = 0;

    init(&heap, &map);
    CHECK(lc_map_find(&map, LC_STR("a")) == NULL);
    CHECK(lc_map_take(&map, LC_STR("a")) == NULL);
    CHECK(lc_map_each(&map, &place) == NULL);
    CHECK_EQ(test_heap_live_blocks(), 0);
    lc_map_clear(&map);
    lc_map_clear(&map);
}

TEST(map, key_may_be_any_bytes)
{
    lc_heap heap;
    lc_map map;
    int empty, nul, longer;

    init(&heap, &map);
    CHECK(lc_map_put(&map, LC_STR_NONE, &empty));
    CHECK(lc_map_put(&map, (loci_str){"\0", 1}, &nul));
    CHECK(lc_map_put(&map, (loci_str){"\0\0", 2}, &longer));
    CHECK(lc_map_find(&map, LC_STR("")) == &empty);
    CHECK(lc_map_find(&map, (loci_str){"\0", 1}) == &nul);
    CHECK(lc_map_find(&map, (loci_str){"\0\0", 2}) == &longer);
    CHECK_EQ(map.entry_count, 3);
    lc_map_clear(&map);
}

/* The old key usually lives in the old value: after a replacement it may be gone. */
TEST(map, replacing_takes_over_the_new_key_too)
{
    lc_heap heap;
    lc_map map;
    char old_key[] = "key";
    int first, second;

    init(&heap, &map);
    CHECK(lc_map_put(&map, (loci_str){old_key, 3}, &first));
    CHECK(lc_map_put(&map, LC_STR("key"), &second));
    memset(old_key, 'x', 3);
    CHECK(lc_map_find(&map, LC_STR("key")) == &second);
    CHECK_EQ(map.entry_count, 1);
    lc_map_clear(&map);
}

/* ---- Against a model ------------------------------------------------------------------------- */

typedef struct model {
    lc_map map;
    loci_str keys[KEYS];
    int cells[KEYS];   /* Their addresses are the values. */
    int *values[KEYS]; /* Expected values; NULL = not in the map. */
    size_t count;
} model;

static void check_whole(model *m)
{
    bool seen[KEYS] = {false};
    size_t place = 0, found = 0;
    int *value;

    CHECK_EQ(m->map.entry_count, m->count);
    for (size_t i = 0; i < KEYS; i++)
        CHECK(lc_map_find(&m->map, m->keys[i]) == m->values[i]);
    while ((value = lc_map_each(&m->map, &place)) != NULL) {
        size_t cell = (size_t)(value - m->cells);

        CHECK(!seen[cell]);
        seen[cell] = true;
        found++;
    }
    CHECK_EQ(found, m->count);
}

static void step(model *m, test_rng *rng, unsigned put_percent)
{
    size_t i = test_rng_below(rng, KEYS);

    if (test_rng_chance(rng, put_percent)) {
        m->count += m->values[i] == NULL;
        m->values[i] = &m->cells[i];
        CHECK(lc_map_put(&m->map, m->keys[i], m->values[i]));
    } else {
        CHECK(lc_map_take(&m->map, m->keys[i]) == m->values[i]);
        m->count -= m->values[i] != NULL;
        m->values[i] = NULL;
    }
}

/* Taking an entry out moves others into its place; the gap that is wrongly closed loses them. */
TEST(map, equals_a_plain_array_after_any_operations)
{
    test_rng rng = test_random(42);
    uint64_t steps = test_count(20000, 500000);
    model *m = (model *)(void *)test_bytes(sizeof *m);
    lc_heap heap;

    init(&heap, &m->map);
    for (size_t i = 0; i < KEYS; i++)
        m->keys[i] = loci_str_of(test_format("key %zu", i));
    for (uint64_t i = 0; i < steps; i++) {
        /* Waves of filling and emptying, so that clusters are long and then break up. */
        step(m, &rng, i / 1000 % 2 == 0 ? 75 : 25);
        if (i % 100 == 0)
            check_whole(m);
    }
    check_whole(m);
    lc_map_clear(&m->map);
}

/* ---- Memory ---------------------------------------------------------------------------------- */

static loci_status fill(void *ctx)
{
    static const char names[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    lc_map map;
    loci_status status = LOCI_OK;
    size_t put = 0;

    lc_map_init(&map, ctx, LOCI_MEM_CACHES);
    for (; put < sizeof names - 1 && status == LOCI_OK; put++) {
        if (!lc_map_put(&map, (loci_str){&names[put], 1}, (void *)&names[put])) {
            status = lc_fail_memory(NULL);
            break;
        }
    }
    CHECK_EQ(map.entry_count, put);
    for (size_t i = 0; i < put; i++)
        CHECK(lc_map_find(&map, (loci_str){&names[i], 1}) == &names[i]);
    lc_map_clear(&map);
    return status;
}

TEST(map, running_out_of_memory_loses_no_entry)
{
    lc_heap heap;

    lc_heap_init(&heap, test_heap());
    test_oom_sweep(fill, &heap);
}
