#include "index/bitmap.h"

#include "base/limits.h"
#include "lib/test.h"

#define IDS 700

static void init(lc_heap *heap, lc_bitmap *bitmap)
{
    lc_heap_init(heap, test_heap());
    lc_bitmap_init(bitmap, heap, LOCI_MEM_INDEX);
}

TEST(bitmap, empty_one_has_nothing_and_takes_no_memory)
{
    lc_heap heap;
    lc_bitmap bitmap;
    uint32_t id = 7;

    init(&heap, &bitmap);
    CHECK(!lc_bitmap_has(&bitmap, 0));
    CHECK(!lc_bitmap_has(&bitmap, UINT32_MAX));
    CHECK(!lc_bitmap_next(&bitmap, 0, &id));
    CHECK_EQ(id, 7);
    CHECK_EQ(lc_bitmap_count(&bitmap), 0);
    lc_bitmap_remove(&bitmap, 3);
    lc_bitmap_reset(&bitmap);
    lc_bitmap_intersect(&bitmap, &bitmap);
    CHECK_EQ(test_heap_live_blocks(), 0);
    lc_bitmap_clear(&bitmap);
    lc_bitmap_clear(&bitmap);
}

TEST(bitmap, freeing_gives_the_memory_back_to_its_category)
{
    lc_heap heap;
    lc_bitmap bitmap;

    init(&heap, &bitmap);
    CHECK_OK(lc_bitmap_add(&bitmap, 100000, NULL), (loci_error *)NULL);
    CHECK_LE(100000 / 8, lc_heap_live_bytes(&heap, LOCI_MEM_INDEX));
    lc_bitmap_clear(&bitmap);
    CHECK_EQ(lc_heap_live_bytes(&heap, LOCI_MEM_INDEX), 0);
    CHECK_OK(lc_bitmap_add(&bitmap, 1, NULL), (loci_error *)NULL);
    CHECK_EQ(lc_bitmap_count(&bitmap), 1);
    lc_bitmap_clear(&bitmap);
}

TEST(bitmap, numbers_end_at_the_limit)
{
    lc_heap heap;
    lc_bitmap bitmap;
    loci_error err;

    init(&heap, &bitmap);
    CHECK_OK(lc_bitmap_add(&bitmap, LC_INDEX_IDS_MAX - 2, &err), err);
    CHECK_OK(lc_bitmap_add(&bitmap, LC_INDEX_IDS_MAX - 1, &err), err);
    CHECK_STATUS(LOCI_ELIMIT, lc_bitmap_add(&bitmap, LC_INDEX_IDS_MAX, &err));
    CHECK_STATUS(LOCI_ELIMIT, lc_bitmap_add(&bitmap, UINT32_MAX, &err));
    CHECK_STATUS(LOCI_ELIMIT, lc_bitmap_add_range(&bitmap, 1, SIZE_MAX, &err));
    CHECK_STATUS(LOCI_ELIMIT, lc_bitmap_add_range(&bitmap, LC_INDEX_IDS_MAX - 1, 2, &err));
    CHECK_EQ(lc_bitmap_count(&bitmap), 2);
    CHECK_OK(lc_bitmap_add_range(&bitmap, LC_INDEX_IDS_MAX - 3, 3, &err), err);
    CHECK_EQ(lc_bitmap_count(&bitmap), 3);
    lc_bitmap_clear(&bitmap);
}

/* ---- Against a model ------------------------------------------------------------------------- */

typedef struct model {
    lc_bitmap bitmap;
    bool is_in[IDS];
} model;

static void check_whole(const model *m)
{
    size_t count = 0;
    uint32_t next = 0;

    for (uint32_t id = 0; id < IDS; id++) {
        CHECK_EQ(lc_bitmap_has(&m->bitmap, id), m->is_in[id]);
        if (!m->is_in[id])
            continue;
        CHECK(lc_bitmap_next(&m->bitmap, next, &next));
        CHECK_EQ(next, id);
        next++;
        count++;
    }
    CHECK(!lc_bitmap_next(&m->bitmap, next, &next));
    CHECK_EQ(lc_bitmap_count(&m->bitmap), count);
}

static void change(model *m, test_rng *rng)
{
    uint32_t id = (uint32_t)test_rng_below(rng, IDS);
    size_t count = test_rng_below(rng, 3) == 0 ? test_rng_below(rng, IDS - id + 1) : 1;

    switch (test_rng_below(rng, 8)) {
    case 0:
        CHECK_OK(lc_bitmap_add_range(&m->bitmap, id, count, NULL), (loci_error *)NULL);
        for (size_t i = 0; i < count; i++)
            m->is_in[id + i] = true;
        break;
    case 1:
    case 2:
        CHECK_OK(lc_bitmap_add(&m->bitmap, id, NULL), (loci_error *)NULL);
        m->is_in[id] = true;
        break;
    default:
        lc_bitmap_remove(&m->bitmap, id);
        m->is_in[id] = false;
    }
}

TEST(bitmap, equals_an_array_of_booleans_after_any_operations)
{
    test_rng rng = test_random(7);
    uint64_t steps = test_count(3000, 100000);
    model *a = (model *)(void *)test_bytes(sizeof *a);
    model *b = (model *)(void *)test_bytes(sizeof *b);
    lc_heap heap;

    init(&heap, &a->bitmap);
    init(&heap, &b->bitmap);
    for (uint64_t step = 0; step < steps; step++) {
        size_t common = 0;

        change(test_rng_chance(&rng, 50) ? a : b, &rng);
        for (size_t i = 0; i < IDS; i++)
            common += a->is_in[i] && b->is_in[i];
        CHECK_EQ(lc_bitmap_count_common(&a->bitmap, &b->bitmap), common);
        if (test_rng_below(&rng, 50) == 0) {
            lc_bitmap_intersect(&a->bitmap, &b->bitmap);
            for (size_t i = 0; i < IDS; i++)
                a->is_in[i] &= b->is_in[i];
        }
        check_whole(a);
    }
    check_whole(b);
    lc_bitmap_clear(&a->bitmap);
    lc_bitmap_clear(&b->bitmap);
}

/* ---- Memory ---------------------------------------------------------------------------------- */

static loci_status grow(void *ctx)
{
    lc_bitmap bitmap;
    loci_status status = LOCI_OK;
    uint32_t id = 0;

    lc_bitmap_init(&bitmap, ctx, LOCI_MEM_INDEX);
    for (; id < 20000; id += 100) {
        status = lc_bitmap_add(&bitmap, id, NULL);
        if (status != LOCI_OK)
            break;
    }
    CHECK_EQ(lc_bitmap_count(&bitmap), id / 100);
    lc_bitmap_clear(&bitmap);
    return status;
}

TEST(bitmap, running_out_of_memory_loses_no_number)
{
    lc_heap heap;

    lc_heap_init(&heap, test_heap());
    test_oom_sweep(grow, &heap);
}
