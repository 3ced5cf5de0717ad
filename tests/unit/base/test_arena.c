#include "base/arena.h"

#include <stdalign.h>
#include <string.h>

#include "base/error.h"
#include "base/str.h"
#include "lib/test.h"

static void init(lc_heap *heap, lc_arena *arena)
{
    lc_heap_init(heap, test_heap());
    lc_arena_init(arena, heap, LOCI_MEM_REQUESTS);
}

TEST(arena, pieces_are_aligned_and_do_not_overlap)
{
    lc_heap heap;
    lc_arena arena;
    test_rng rng = test_random(1);
    unsigned char *pieces[200];
    size_t sizes[200];

    init(&heap, &arena);
    for (size_t i = 0; i < 200; i++) {
        sizes[i] = test_rng_below(&rng, i % 50 == 0 ? 100000 : 300);
        pieces[i] = lc_arena_alloc(&arena, sizes[i]);
        CHECK(pieces[i] != NULL);
        CHECK_EQ((uintptr_t)pieces[i] % alignof(max_align_t), 0);
        memset(pieces[i], (int)i, sizes[i]);
    }
    for (size_t i = 0; i < 200; i++) {
        for (size_t j = 0; j < sizes[i]; j++)
            CHECK_EQ(pieces[i][j], (unsigned char)i);
    }
    lc_arena_clear(&arena);
}

TEST(arena, nothing_is_taken_before_the_first_piece)
{
    lc_heap heap;
    lc_arena arena;

    init(&heap, &arena);
    CHECK_EQ(test_heap_live_blocks(), 0);
    CHECK(lc_arena_alloc(&arena, 0) != NULL);
    CHECK_EQ(test_heap_live_blocks(), 1);
    lc_arena_clear(&arena);
    CHECK_EQ(test_heap_live_blocks(), 0);
    lc_arena_clear(&arena);
}

TEST(arena, can_be_used_again_after_clear)
{
    lc_heap heap;
    lc_arena arena;

    init(&heap, &arena);
    for (int round = 0; round < 3; round++) {
        CHECK(lc_arena_alloc(&arena, 5000) != NULL);
        CHECK_LT(4999, test_heap_live_bytes(LOCI_MEM_REQUESTS));
        lc_arena_clear(&arena);
        CHECK_EQ(lc_heap_live_bytes(&heap, LOCI_MEM_REQUESTS), 0);
    }
}

TEST(arena, copy_is_terminated_and_independent)
{
    lc_heap heap;
    lc_arena arena;
    char original[] = {'a', '\0', 'b'};
    loci_str copy, none;

    init(&heap, &arena);
    copy = lc_arena_copy(&arena, (loci_str){original, 3});
    original[0] = 'x';
    CHECK_BYTES(copy.ptr, copy.len + 1, "a\0b", 4);
    none = lc_arena_copy(&arena, LC_STR_NONE);
    CHECK(none.ptr != NULL);
    CHECK_EQ(none.len, 0);
    CHECK_EQ(none.ptr[0], '\0');
    lc_arena_clear(&arena);
}

TEST(arena, array_is_zeroed_also_where_something_was_before)
{
    lc_heap heap;
    lc_arena arena;
    lc_arena_mark mark;
    const char *bytes;

    init(&heap, &arena);
    mark = lc_arena_get_mark(&arena);
    memset(lc_arena_alloc(&arena, 600), 'x', 600);
    lc_arena_rewind(&arena, mark);
    bytes = lc_arena_zalloc_array(&arena, 100, 6);
    for (int i = 0; i < 600; i++)
        CHECK_EQ(bytes[i], 0);
    lc_arena_clear(&arena);
}

TEST(arena, sizes_that_overflow_are_out_of_memory)
{
    lc_heap heap;
    lc_arena arena;

    init(&heap, &arena);
    CHECK(lc_arena_zalloc_array(&arena, SIZE_MAX / 2, 3) == NULL);
    CHECK(lc_arena_zalloc_array(&arena, 3, SIZE_MAX / 2) == NULL);
    CHECK(lc_arena_alloc(&arena, SIZE_MAX) == NULL);
    CHECK(lc_arena_alloc(&arena, SIZE_MAX - 15) == NULL);
    CHECK_EQ(test_heap_live_blocks(), 0);
    CHECK(lc_arena_zalloc_array(&arena, 0, SIZE_MAX) != NULL);
    lc_arena_clear(&arena);
}

/* A body that is run again after a conflict rewinds; without that it would grow with every run. */
TEST(arena, rewind_gives_back_what_came_after_the_mark)
{
    lc_heap heap;
    lc_arena arena;
    lc_arena_mark mark;
    loci_str kept;
    size_t blocks;
    char *after;

    init(&heap, &arena);
    kept = lc_arena_copy(&arena, LC_STR("kept"));
    mark = lc_arena_get_mark(&arena);
    blocks = test_heap_live_blocks();
    after = lc_arena_alloc(&arena, 10);
    for (int round = 0; round < 100; round++) {
        for (int i = 0; i < 20; i++)
            CHECK(lc_arena_alloc(&arena, 1000) != NULL);
        lc_arena_rewind(&arena, mark);
        CHECK_EQ(test_heap_live_blocks(), blocks);
        CHECK(lc_arena_alloc(&arena, 10) == after);
    }
    CHECK_STR_EQ(kept, "kept");
    lc_arena_clear(&arena);
}

TEST(arena, rewind_to_the_very_beginning_gives_everything_back)
{
    lc_heap heap;
    lc_arena arena;
    lc_arena_mark mark;

    init(&heap, &arena);
    mark = lc_arena_get_mark(&arena);
    CHECK(lc_arena_alloc(&arena, 100000) != NULL);
    lc_arena_rewind(&arena, mark);
    CHECK_EQ(test_heap_live_blocks(), 0);
}

static loci_status take_many(void *ctx)
{
    lc_arena *arena = ctx;
    loci_status status = LOCI_OK;

    for (size_t i = 1; i < 20000 && status == LOCI_OK; i *= 3) {
        if (lc_arena_alloc(arena, i) == NULL || lc_arena_copy(arena, LC_STR("text")).ptr == NULL ||
            lc_arena_zalloc_array(arena, i, 2) == NULL)
            status = lc_fail_memory(NULL);
    }
    lc_arena_clear(arena);
    return status;
}

TEST(arena, running_out_of_memory_is_told_and_leaks_nothing)
{
    lc_heap heap;
    lc_arena arena;

    init(&heap, &arena);
    test_oom_sweep(take_many, &arena);
}

/* Blocks allocated before a failure keep their content. */
TEST(arena, failed_piece_disturbs_no_other)
{
    lc_heap heap;
    lc_arena arena;
    loci_str kept;

    init(&heap, &arena);
    kept = lc_arena_copy(&arena, LC_STR("kept"));
    test_heap_fail_nth(1);
    CHECK(lc_arena_alloc(&arena, 100000) == NULL);
    CHECK(test_heap_disarm());
    CHECK_STR_EQ(kept, "kept");
    CHECK(lc_arena_alloc(&arena, 100000) != NULL);
    lc_arena_clear(&arena);
}
