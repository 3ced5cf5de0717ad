#include "index/vector.h"

#include <math.h>

#include "base/error.h"
#include "base/limits.h"
#include "lib/test.h"

static lc_heap heap;

static void init(lc_vectors *set, uint32_t dimension)
{
    lc_heap_init(&heap, test_heap());
    lc_vectors_init(set, &heap, dimension, LC_VECTOR_BEST);
}

/* The vector of document `id`: told apart from its neighbours by any search. */
static void make(float *out, uint32_t dimension, uint32_t id)
{
    test_rng rng = {.state = id};

    for (uint32_t j = 0; j < dimension; j++)
        out[j] = (float)test_rng_between(&rng, -1000, 1000) / 1000;
}

static void add(lc_vectors *set, uint32_t id)
{
    float vector[1024];
    loci_error err;

    make(vector, set->dimension, id);
    CHECK_OK(lc_vectors_add(set, id, vector, &err), err);
}

static bool has(const lc_vectors *set, uint32_t id)
{
    for (size_t i = 0; i < set->region_count; i++)
        for (uint32_t row = 0; row < set->regions[i].count; row++)
            if (set->regions[i].ids[row] == id)
                return !lc_vector_region_is_dead(&set->regions[i], row);
    return false;
}

/* Every live document is its own nearest one, with the right score; the counters agree. */
static void check_whole(const lc_vectors *set, const bool *is_live, uint32_t ids)
{
    uint32_t live = 0, rows = 0;

    for (uint32_t id = 0; id < ids; id++) {
        CHECK_EQ(has(set, id), is_live[id]);
        live += is_live[id];
    }
    CHECK_EQ(set->live, live);
    for (size_t i = 0; i < set->region_count; i++) {
        const lc_vector_region *region = &set->regions[i];

        CHECK_LT(0, region->live);
        for (uint32_t row = 0; row < region->count; row++, rows++) {
            float vector[1024];
            uint64_t bits[1024 / 64];
            int8_t codes[1024];

            CHECK(row == 0 || region->ids[row - 1] < region->ids[row]);
            CHECK_EQ(lc_vector_region_is_dead(region, row), !is_live[region->ids[row]]);
            make(vector, set->dimension, region->ids[row]);
            CHECK(region->scales[row] == lc_vector_quantise(vector, set->dimension, codes));
            CHECK_BYTES(codes, set->stride, region->codes + row * set->stride, set->stride);
            lc_vector_signs(codes, set->dimension, bits);
            CHECK_BYTES(bits, set->stride / 8, region->bits + row * (set->stride / 64),
                        set->stride / 8);
        }
    }
    CHECK_EQ(set->live + set->dead, rows);
}

TEST(vector, empty_set_takes_no_memory)
{
    lc_vectors set;
    float query[3] = {1, 0, 0};
    size_t count = 7;
    lc_hit hits[4];

    init(&set, 3);
    CHECK_EQ(lc_vectors_bytes(&set), 0);
    CHECK(!has(&set, 0));
    CHECK(!lc_vectors_delete(&set, 0));
    CHECK_OK(lc_vectors_search(&set, &(lc_vector_search){.query = query, .limit = 4}, hits, &count,
                               NULL),
             (loci_error *)NULL);
    CHECK_EQ(count, 0);
    CHECK_EQ(test_heap_live_blocks(), 0);
    lc_vectors_clear(&set);
    lc_vectors_clear(&set);
}

/* A user with five memories must not cost a region of 1 MB; ten thousand such users do exist. */
TEST(vector, small_set_is_small)
{
    lc_vectors set;

    init(&set, 512);
    for (uint32_t id = 0; id < 5; id++)
        add(&set, id);
    CHECK_LT(lc_vectors_bytes(&set), 8 * 1024);
    CHECK_EQ(lc_vectors_bytes(&set), test_heap_live_bytes(LOCI_MEM_INDEX));
    lc_vectors_clear(&set);
}

TEST(vector, regions_are_at_most_their_size_and_aligned)
{
    static const uint32_t dimensions[] = {1, 64, 65, 512, 1024};

    for (size_t i = 0; i < sizeof dimensions / sizeof dimensions[0]; i++) {
        lc_vectors set;

        init(&set, dimensions[i]);
        CHECK_LT(0, set.rows_per_region);
        for (uint32_t id = 0; id < 100; id++)
            add(&set, id);
        for (size_t k = 0; k < set.region_count; k++) {
            CHECK_LE(lc_vector_region_bytes(&set.regions[k]), LC_VECTOR_REGION_BYTES);
            CHECK_EQ((uintptr_t)set.regions[k].codes % 64, 0);
        }
        lc_vectors_clear(&set);
    }
    CHECK_LT(100, lc_vector_region_capacity_max(LC_VECTOR_STRIDE_MAX));
}

/* Random adding and deleting, compared with a list of the current members. */
TEST(vector, holds_what_was_added_and_not_deleted)
{
    test_rng rng = test_random(11);
    bool *is_live = (bool *)test_bytes(20000);

    for (uint64_t round = 0; round < test_count(4, 40); round++) {
        uint32_t next = 0, dimension = (uint32_t)test_rng_between(&rng, 600, 1024);
        lc_vectors set;

        init(&set, dimension);
        for (int step = 0; step < 6; step++) {
            uint32_t adds = (uint32_t)test_rng_below(&rng, 1200);
            unsigned percent = (unsigned)test_rng_below(&rng, 101);

            for (uint32_t i = 0; i < adds; i++) {
                next += (uint32_t)test_rng_below(&rng, 3); /* Numbers may be left out. */
                is_live[next] = true;
                add(&set, next++);
            }
            for (uint32_t id = 0; id < next; id++) {
                if (test_rng_chance(&rng, percent)) {
                    CHECK_EQ(lc_vectors_delete(&set, id), is_live[id]);
                    is_live[id] = false;
                }
            }
            check_whole(&set, is_live, next);
        }
        for (uint32_t id = 0; id < next; id++)
            is_live[id] = false;
        CHECK_EQ(lc_vectors_bytes(&set), test_heap_live_bytes(LOCI_MEM_INDEX));
        lc_vectors_clear(&set);
        CHECK_EQ(lc_heap_live_bytes(&heap, LOCI_MEM_INDEX), 0);
    }
}

/* Evicting is what the guard does when memory is short: it must help. */
TEST(vector, deleting_a_whole_region_gives_it_back_at_once)
{
    lc_vectors set;
    uint32_t rows, total;
    size_t full_bytes;

    init(&set, 1024);
    rows = set.rows_per_region;
    total = 3 * rows;
    for (uint32_t id = 0; id < total; id++)
        add(&set, id);
    CHECK_EQ(set.region_count, 3);
    full_bytes = lc_vectors_bytes(&set);
    for (uint32_t id = rows; id < 2 * rows; id++)
        CHECK(lc_vectors_delete(&set, id));
    CHECK_EQ(set.region_count, 2);
    CHECK_EQ(set.dead, 0);
    CHECK_LT(lc_vectors_bytes(&set), full_bytes - 900 * 1024);
    CHECK_EQ(lc_vectors_bytes(&set), test_heap_live_bytes(LOCI_MEM_INDEX));
    CHECK(has(&set, rows - 1));
    CHECK(!has(&set, rows));
    CHECK(has(&set, 2 * rows));
    lc_vectors_clear(&set);
}

TEST(vector, values_that_are_no_numbers_are_refused)
{
    static const float bad[] = {NAN, INFINITY, -INFINITY};
    lc_vectors set;
    loci_error err;

    init(&set, 3);
    add(&set, 0);
    for (size_t i = 0; i < 3; i++) {
        float vector[3] = {0, 1, bad[i]};

        CHECK_STATUS(LOCI_EINVAL, lc_vectors_add(&set, 1, vector, &err));
        CHECK_EQ(set.live, 1);
        CHECK_EQ(set.next_id, 1);
    }
    lc_vectors_clear(&set);
}

TEST(vector, ids_end_at_the_limit)
{
    float vector[2] = {1, 0};
    lc_vectors set;
    loci_error err;

    init(&set, 2);
    CHECK_OK(lc_vectors_add(&set, LC_INDEX_IDS_MAX - 2, vector, &err), err);
    CHECK_OK(lc_vectors_add(&set, LC_INDEX_IDS_MAX - 1, vector, &err), err);
    CHECK_STATUS(LOCI_ELIMIT, lc_vectors_add(&set, LC_INDEX_IDS_MAX, vector, &err));
    CHECK_EQ(set.live, 2);
    lc_vectors_clear(&set);
}

/* ---- Memory running out ---------------------------------------------------------------------- */

static loci_status add_and_search(void *ctx)
{
    uint32_t added = *(const uint32_t *)ctx;
    float vector[1024];
    loci_status status = LOCI_OK;
    lc_vectors set;
    size_t count;
    lc_hit hits[5];

    init(&set, 1024);
    for (uint32_t id = 0; status == LOCI_OK && id < added; id++) {
        make(vector, 1024, id);
        status = lc_vectors_add(&set, id, vector, NULL);
        if (status != LOCI_OK) { /* As it was: one more try goes on from there. */
            CHECK_EQ(set.live, id);
            CHECK_EQ(set.next_id, id);
            CHECK(!has(&set, id));
            CHECK_EQ(lc_vectors_bytes(&set), test_heap_live_bytes(LOCI_MEM_INDEX));
            add(&set, id);
            CHECK(has(&set, id));
        }
    }
    if (status == LOCI_OK)
        status = lc_vectors_search(
            &set, &(lc_vector_search){.query = vector, .limit = 5, .prefilter_above = 1}, hits,
            &count, NULL);
    lc_vectors_clear(&set);
    return status;
}

TEST(vector, failed_add_leaves_the_set_as_it_was)
{
    uint32_t added = lc_vector_region_capacity_max(1024) + 2;

    test_oom_sweep(add_and_search, &added);
}

static void check_found(const lc_vectors *set, uint32_t id, uint32_t nearest)
{
    float query[512];
    lc_hit hit;
    size_t count = 0;
    loci_error err;

    make(query, set->dimension, id);
    CHECK_OK(
        lc_vectors_search(set, &(lc_vector_search){.query = query, .limit = 1}, &hit, &count, &err),
        err);
    CHECK_EQ(count, 1);
    CHECK_EQ(hit.id, nearest);
}

/* Vectors come in the order of the store, not in that of their ids. Only rows that were filled are
 * found, and rows behind the truncation may be added again. */
TEST(vector, reserved_rows_are_filled_in_any_order)
{
    enum { ROWS = 50 };
    lc_vectors set;
    float vector[512];
    int8_t codes[512];
    loci_error err;

    init(&set, 512);
    for (uint32_t id = 0; id < ROWS; id++)
        CHECK_OK(lc_vectors_reserve(&set, id, &err), err);
    CHECK_EQ(set.live, 0);
    for (uint32_t id = ROWS; id-- > 0;) {
        if (id == 30)
            continue;
        make(vector, 512, id);
        lc_vectors_fill(&set, id, (lc_vector_code){codes, lc_vector_quantise(vector, 512, codes)});
    }
    lc_vectors_fill(&set, ROWS, (lc_vector_code){codes, 1}); /* Without a row. */
    CHECK_EQ(set.live, ROWS - 1);
    CHECK_EQ(set.dead, 1);
    CHECK(lc_vectors_has(&set, 29));
    CHECK(!lc_vectors_has(&set, 30));
    check_found(&set, 7, 7);
    check_found(&set, 40, 40);

    lc_vectors_truncate(&set, 30);
    CHECK_EQ(set.live, 30);
    CHECK_EQ(set.dead, 0);
    CHECK_EQ(set.next_id, 30);
    CHECK(!lc_vectors_has(&set, 40));
    make(vector, 512, 40);
    CHECK_OK(lc_vectors_add(&set, 40, vector, &err), err);
    check_found(&set, 40, 40);
    lc_vectors_truncate(&set, 0);
    CHECK_EQ(set.region_count, 0);
    CHECK_EQ(set.live + set.dead, 0);
    lc_vectors_clear(&set);
}
