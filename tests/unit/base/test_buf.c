#include "base/buf.h"

#include <string.h>

#include "base/assert.h"
#include "base/str.h"
#include "lib/test.h"

static void init(lc_heap *heap, lc_buf *buf, size_t bytes_max)
{
    lc_heap_init(heap, test_heap());
    lc_buf_init(buf, heap, LOCI_MEM_REQUESTS, bytes_max);
}

/* "x" repeated. */
static loci_str xs(size_t count)
{
    char *text = test_bytes(count);

    memset(text, 'x', count);
    return (loci_str){text, count};
}

TEST(buf, what_was_appended_is_there_in_order)
{
    lc_heap heap;
    lc_buf buf;
    loci_error err;
    char *room;

    init(&heap, &buf, 1000);
    lc_buf_append(&buf, LC_STR("one"));
    lc_buf_append_byte(&buf, ' ');
    lc_buf_append(&buf, LC_STR_NONE);
    lc_buf_append_format(&buf, "%d%s", 2, "%");
    room = lc_buf_reserve(&buf, 10);
    CHECK(room != NULL);
    memcpy(room, " three", 6);
    lc_buf_grew(&buf, 6);
    CHECK_OK(lc_buf_status(&buf, &err), err);
    CHECK_STR_EQ(lc_buf_str(&buf), "one 2% three");
    lc_buf_truncate(&buf, 3);
    CHECK_STR_EQ(lc_buf_terminate(&buf), "one");
    CHECK_EQ(buf.len, 3);
    lc_buf_clear(&buf);
}

TEST(buf, zeroed_can_be_cleared_and_cleared_can_be_used)
{
    lc_heap heap;
    lc_buf buf = {0};

    lc_buf_clear(&buf);
    init(&heap, &buf, 1000);
    for (int round = 0; round < 3; round++) {
        lc_buf_append(&buf, xs(300));
        CHECK_EQ(buf.len, 300);
        lc_buf_clear(&buf);
        CHECK_EQ(test_heap_live_blocks(), 0);
    }
}

TEST(buf, reset_keeps_the_memory)
{
    lc_heap heap;
    lc_buf buf;

    init(&heap, &buf, 100000);
    lc_buf_append(&buf, xs(5000));
    lc_buf_reset(&buf);
    test_heap_fail_from(1);
    lc_buf_append(&buf, xs(5000));
    CHECK(!test_heap_disarm());
    CHECK_EQ(buf.len, 5000);
    lc_buf_clear(&buf);
}

/* ---- The ceiling ----------------------------------------------------------------------------- */

typedef enum way { WAY_APPEND, WAY_BYTE, WAY_FORMAT, WAY_RESERVE, WAY_COUNT } way;

/* Adds `count` bytes, each way of adding in turn. */
static void add(lc_buf *buf, way how, size_t count)
{
    char *room;

    switch (how) {
    case WAY_APPEND:
        lc_buf_append(buf, xs(count));
        break;
    case WAY_BYTE:
        for (size_t i = 0; i < count; i++)
            lc_buf_append_byte(buf, 'x');
        break;
    case WAY_FORMAT:
        lc_buf_append_format(buf, "%s", xs(count).ptr);
        break;
    default:
        room = lc_buf_reserve(buf, count);
        if (room != NULL) {
            memset(room, 'x', count);
            lc_buf_grew(buf, count);
        }
        break;
    }
}

TEST(buf, ceiling_can_be_reached_and_not_passed)
{
    static const size_t ceilings[] = {1, 255, 256, 257, 1000};

    for (size_t i = 0; i < sizeof ceilings / sizeof ceilings[0]; i++) {
        for (way how = WAY_APPEND; how < WAY_COUNT; how++) {
            size_t max = ceilings[i];
            lc_heap heap;
            lc_buf buf;
            loci_error err;

            init(&heap, &buf, max);
            add(&buf, how, max - 1);
            CHECK_OK(lc_buf_status(&buf, &err), err);
            add(&buf, how, 1);
            CHECK_OK(lc_buf_status(&buf, &err), err);
            CHECK_EQ(buf.len, max);
            add(&buf, how, 1);
            CHECK_STATUS(LOCI_ELIMIT, lc_buf_status(&buf, &err));
            CHECK_EQ(buf.len, max);
            CHECK_STR_EQ(err.message, test_format("text is longer than %zu bytes", max));
            lc_buf_clear(&buf);
        }
    }
}

/* The NUL is not content: it fits behind a full buffer, and does not make room for more. */
TEST(buf, terminating_a_full_buffer_does_not_move_the_ceiling)
{
    lc_heap heap;
    lc_buf buf;

    init(&heap, &buf, 256);
    lc_buf_append(&buf, xs(256));
    CHECK_EQ(strlen(lc_buf_terminate(&buf)), 256);
    CHECK_EQ(strlen(lc_buf_terminate(&buf)), 256);
    lc_buf_append_byte(&buf, 'x');
    CHECK_STATUS(LOCI_ELIMIT, lc_buf_status(&buf, NULL));
    CHECK_EQ(buf.len, 256);
    CHECK(lc_buf_terminate(&buf) == NULL);
    lc_buf_clear(&buf);
}

TEST(buf, empty_one_terminates_to_an_empty_text)
{
    lc_heap heap;
    lc_buf buf;

    init(&heap, &buf, 0);
    CHECK_STR_EQ(lc_buf_terminate(&buf), "");
    lc_buf_clear(&buf);
}

TEST(buf, room_for_nothing_is_a_place)
{
    lc_heap heap;
    lc_buf buf;

    init(&heap, &buf, 0);
    CHECK(lc_buf_reserve(&buf, 0) != NULL);
    CHECK_EQ(buf.len, 0);
    CHECK(lc_buf_reserve(&buf, 1) == NULL);
    lc_buf_clear(&buf);
}

TEST(buf, sizes_that_overflow_are_out_of_memory)
{
    lc_heap heap;
    lc_buf buf;

    init(&heap, &buf, SIZE_MAX);
    lc_buf_append_byte(&buf, 'x');
    CHECK(lc_buf_reserve(&buf, SIZE_MAX - 1) == NULL);
    CHECK_STATUS(LOCI_ERESOURCE, lc_buf_status(&buf, NULL));
    lc_buf_reset(&buf);
    CHECK(lc_buf_reserve(&buf, SIZE_MAX / 2) == NULL);
    lc_buf_clear(&buf);
}

/* ---- Failures -------------------------------------------------------------------------------- */

/* A writer checks once at the end, so nothing may be appended after a failure. */
TEST(buf, first_failure_is_kept_and_what_follows_is_ignored)
{
    lc_heap heap;
    lc_buf buf;

    init(&heap, &buf, 100000);
    lc_buf_append(&buf, LC_STR("kept"));
    test_heap_fail_nth(1);
    lc_buf_append(&buf, xs(2000));
    CHECK(test_heap_disarm());
    lc_buf_append(&buf, LC_STR("no"));
    lc_buf_append_byte(&buf, 'n');
    lc_buf_append_format(&buf, "no");
    lc_buf_append(&buf, xs(200000));
    CHECK(lc_buf_reserve(&buf, 1) == NULL);
    CHECK(lc_buf_terminate(&buf) == NULL);
    CHECK_STATUS(LOCI_ERESOURCE, lc_buf_status(&buf, NULL));
    CHECK_STR_EQ(lc_buf_str(&buf), "kept");
    lc_buf_reset(&buf);
    lc_buf_append(&buf, LC_STR("again"));
    CHECK_STATUS(LOCI_OK, lc_buf_status(&buf, NULL));
    CHECK_STR_EQ(lc_buf_str(&buf), "again");
    lc_buf_clear(&buf);
}

static loci_status write_much(void *ctx)
{
    lc_buf buf;
    loci_status status;

    lc_buf_init(&buf, ctx, LOCI_MEM_REQUESTS, 1u << 20);
    for (int i = 0; i < 1000; i++) {
        lc_buf_append(&buf, LC_STR("some text "));
        lc_buf_append_format(&buf, "and %d ", i);
    }
    (void)lc_buf_terminate(&buf); /* Reported by lc_buf_status(). */
    status = lc_buf_status(&buf, NULL);
    lc_buf_clear(&buf);
    return status;
}

TEST(buf, running_out_of_memory_is_told_at_the_end)
{
    lc_heap heap;

    lc_heap_init(&heap, test_heap());
    test_oom_sweep(write_much, &heap);
}

TEST(buf, random_appends_equal_the_text_they_make)
{
    test_rng rng = test_random(7);
    char *expected = test_bytes(20000);
    size_t len = 0;
    lc_heap heap;
    lc_buf buf;

    init(&heap, &buf, 20000);
    for (int i = 0; i < 500; i++) {
        char piece[40];
        size_t bytes = 1 + test_rng_below(&rng, sizeof piece - 1);

        for (size_t j = 0; j < bytes; j++)
            piece[j] = (char)('a' + test_rng_below(&rng, 26));
        if (test_rng_chance(&rng, 10)) {
            len = test_rng_below(&rng, len + 1);
            lc_buf_truncate(&buf, len);
        }
        if (test_rng_chance(&rng, 50))
            lc_buf_append(&buf, (loci_str){piece, bytes});
        else
            lc_buf_append_format(&buf, "%.*s", (int)bytes, piece);
        memcpy(expected + len, piece, bytes);
        len += bytes;
    }
    CHECK_BYTES(buf.ptr, buf.len, expected, len);
    lc_buf_clear(&buf);
}
