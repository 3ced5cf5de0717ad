#include "server/http_reply.h"

#include <string.h>
#include <zlib.h>

#include "base/str.h"
#include "lib/random.h"
#include "lib/test.h"

TEST(http_gzip, taken_when_named_and_not_forbidden)
{
    static const struct {
        const char *header;
        bool is_taken;
    } cases[] = {
        {"", false},
        {"gzip", true},
        {"GZIP", true},
        {"deflate, gzip;q=0.5, br", true},
        {"gzip;q=0", false},
        {"gzip; q=0.0", false},
        {"gzip; q=0.001", true},
        {"identity", false},
        {"*", true},
        {"*;q=0", false},
        {"gzip;q=0, *", false},
        {"*;q=0, gzip", true},
        {"xgzip", false},
        {",,;;q=,", false},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        if (lc_gzip_is_accepted(loci_str_of(cases[i].header)) != cases[i].is_taken)
            test_fail(__FILE__, __LINE__, "Accept-Encoding: %s", cases[i].header);
    }
    CHECK(!lc_gzip_is_accepted(LC_STR_NONE));
}

static void unpack(loci_str packed, char *out, size_t bytes)
{
    z_stream stream = {.next_in = (Bytef *)(uintptr_t)packed.ptr,
                       .avail_in = (uInt)packed.len,
                       .next_out = (Bytef *)out,
                       .avail_out = (uInt)bytes};

    CHECK_EQ(inflateInit2(&stream, MAX_WBITS + 16), Z_OK);
    CHECK_EQ(inflate(&stream, Z_FINISH), Z_STREAM_END);
    CHECK_EQ(stream.total_out, bytes);
    inflateEnd(&stream);
}

/* A client unpacks the original text, below and above the size where the tables change. */
TEST(http_gzip, packs_what_shrinks)
{
    static const size_t sizes[] = {LC_GZIP_BYTES_MIN, 16384, 16385, 1000000};
    lc_heap heap;

    lc_heap_init(&heap, test_heap());
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        char *body = test_bytes(sizes[i]), *back = test_bytes(sizes[i]);
        lc_arena arena;
        loci_str packed;

        for (size_t j = 0; j < sizes[i]; j++)
            body[j] = "{\"key\":\"city\",\"value\":7}"[(j + j / 1000) % 24];
        lc_arena_init(&arena, &heap, LOCI_MEM_REQUESTS);
        CHECK(lc_gzip_pack(&arena, (loci_str){body, sizes[i]}, &packed));
        CHECK_LT(packed.len, sizes[i]);
        unpack(packed, back, sizes[i]);
        CHECK_BYTES(back, sizes[i], body, sizes[i]);
        lc_arena_clear(&arena);
    }
}

TEST(http_gzip, leaves_small_and_random_bodies)
{
    char *noise = test_bytes(4096);
    lc_heap heap;
    lc_arena arena;
    loci_str packed;

    lc_heap_init(&heap, test_heap());
    lc_arena_init(&arena, &heap, LOCI_MEM_REQUESTS);
    CHECK(!lc_gzip_pack(&arena, (loci_str){noise, LC_GZIP_BYTES_MIN - 1}, &packed));
    for (size_t i = 0; i < 4096; i++)
        noise[i] = (char)(i * 2654435761u >> 13 ^ i * i * 40503u >> 7);
    CHECK(!lc_gzip_pack(&arena, (loci_str){noise, 4096}, &packed));
    lc_arena_clear(&arena);
}

/* Out of memory is no reason to fail: the body goes as it is. */
TEST(http_gzip, gives_up_without_memory)
{
    char *body = test_bytes(4096);
    lc_heap heap;
    lc_arena arena;
    loci_str packed;

    memset(body, 'x', 4096);
    lc_heap_init(&heap, test_heap());
    for (uint64_t nth = 1; nth <= 4; nth++) {
        lc_arena_init(&arena, &heap, LOCI_MEM_REQUESTS);
        test_heap_fail_nth(nth);
        if (lc_gzip_pack(&arena, (loci_str){body, 4096}, &packed))
            CHECK_LT(packed.len, 4096);
        test_heap_disarm();
        lc_arena_clear(&arena);
    }
}

/* Files of the dashboard are stored packed; a client that does not take gzip gets them unpacked. */
TEST(http_gzip, unpacks_what_was_packed_and_nothing_else)
{
    const size_t bytes = 20000;
    char *body = test_bytes(bytes);
    loci_str packed, text;
    lc_arena arena;
    lc_heap heap;

    for (size_t i = 0; i < bytes; i++)
        body[i] = "loci serve"[i % 10];
    lc_heap_init(&heap, test_heap());
    lc_arena_init(&arena, &heap, LOCI_MEM_REQUESTS);
    CHECK(lc_gzip_pack(&arena, (loci_str){body, bytes}, &packed));
    CHECK(lc_gzip_unpack(&arena, packed, bytes, &text));
    CHECK_BYTES(text.ptr, text.len, body, bytes);
    CHECK(!lc_gzip_unpack(&arena, packed, bytes - 1, &text));
    CHECK(!lc_gzip_unpack(&arena, packed, bytes + 1, &text));
    CHECK(!lc_gzip_unpack(&arena, (loci_str){packed.ptr, packed.len - 9}, bytes, &text));
    CHECK(!lc_gzip_unpack(&arena, (loci_str){body, bytes}, bytes, &text));
    lc_arena_clear(&arena);
}
