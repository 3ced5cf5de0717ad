/* Valid and invalid replies of an embedding provider. */
#include "lib/test.h"

#include <math.h>

#include "base/json.h"
#include "base/limits.h"
#include "base/str.h"
#include "model/provider.h"

static const lc_embed_expected two_of_three = {.count = 2, .dimensions = 3};

typedef struct reading {
    float out[6];
    int64_t tokens;
    loci_error err;
} reading;

static loci_status read_as(const lc_embed_expected *expected, const char *reply, reading *out)
{
    lc_heap heap;
    lc_arena arena;
    loci_status status;

    *out = (reading){.tokens = -1};
    lc_heap_init(&heap, test_heap());
    lc_arena_init(&arena, &heap, LOCI_MEM_REQUESTS);
    status = lc_embed_reply_read(&arena, loci_str_of(reply), expected, out->out, &out->tokens,
                                 &out->err);
    lc_arena_clear(&arena);
    return status;
}

static void check_near(float a, double b)
{
    if (fabs((double)a - b) > 1e-6)
        test_fail(__FILE__, __LINE__, "%.9g is not near %.9g", (double)a, b);
}

TEST(embed_reply, vectors_come_by_their_index_and_with_length_1)
{
    reading r;

    CHECK_OK(read_as(&two_of_three,
                     "{\"object\":\"list\",\"data\":["
                     "{\"object\":\"embedding\",\"index\":1,\"embedding\":[0,-2.5,0]},"
                     "{\"index\":0,\"embedding\":[3,4.0,0]}],"
                     "\"model\":\"m\",\"usage\":{\"prompt_tokens\":9,\"total_tokens\":9}}",
                     &r),
             r.err);
    check_near(r.out[0], 0.6);
    check_near(r.out[1], 0.8);
    check_near(r.out[4], -1);
    CHECK_EQ(r.tokens, 9);
}

/* 1, 0 and 0 as floats, then 0, 0 and -2. */
#define BASE64_X "AACAPwAAAAAAAAAA"
#define BASE64_Z "AAAAAAAAAAAAAADA"

TEST(embed_reply, base64_is_read_whatever_was_asked_for)
{
    reading r;

    CHECK_OK(read_as(&two_of_three,
                     "{\"data\":[{\"index\":0,\"embedding\":\"" BASE64_X "\"},"
                     "{\"index\":1,\"embedding\":\"" BASE64_Z "\"}]}",
                     &r),
             r.err);
    check_near(r.out[0], 1);
    check_near(r.out[5], -1);
    CHECK_EQ(r.tokens, 0);
}

TEST(embed_reply, what_is_no_answer_may_pass)
{
    static const char *const replies[] = {
        "",
        "<html>502</html>",
        "null",
        "[]",
        "{}",
        "{\"data\":{}}",
        "{\"data\":[]}",
        "{\"data\":[1,2]}",
        "{\"data\":[{\"index\":0,\"embedding\":[1,0,0]}]}",
        "{\"data\":[{\"embedding\":[1,0,0]},{\"embedding\":[1,0,0]}]}",
        "{\"data\":[{\"index\":0,\"embedding\":[1,0,0]},{\"index\":0,\"embedding\":[1,0,0]}]}",
        "{\"data\":[{\"index\":0,\"embedding\":[1,0,0]},{\"index\":2,\"embedding\":[1,0,0]}]}",
        "{\"data\":[{\"index\":0,\"embedding\":[1,0,0]},{\"index\":-1,\"embedding\":[1,0,0]}]}",
        "{\"data\":[{\"index\":0,\"embedding\":[1,0,0]},{\"index\":1.0,\"embedding\":[1,0,0]}]}",
        "{\"data\":[{\"index\":0,\"embedding\":[1,0,0]},{\"index\":1}]}",
        "{\"data\":[{\"index\":0,\"embedding\":[1,0,0]},{\"index\":1,\"embedding\":null}]}",
        "{\"data\":[{\"index\":0,\"embedding\":[1,0,0]},{\"index\":1,\"embedding\":[1,0,\"0\"]}]}",
        "{\"data\":[{\"index\":0,\"embedding\":[1,0,0]},{\"index\":1,\"embedding\":[1,0,NaN]}]}",
        "{\"data\":[{\"index\":0,\"embedding\":[1,0,0]},{\"index\":1,\"embedding\":[1,0,1e39]}]}",
        "{\"data\":[{\"index\":0,\"embedding\":[1,0,0]},{\"index\":1,\"embedding\":[1,0,1e999]}]}",
        "{\"data\":[{\"index\":0,\"embedding\":[1,0,0]},{\"index\":1,\"embedding\":[0,0,0.0]}]}",
        /* A NaN and an infinity in base64, and invalid base64. */
        ("{\"data\":[{\"index\":0,\"embedding\":[1,0,0]},"
         "{\"index\":1,\"embedding\":\"AADAfwAAAAAAAAAA\"}]}"),
        ("{\"data\":[{\"index\":0,\"embedding\":[1,0,0]},"
         "{\"index\":1,\"embedding\":\"AACAfwAAAAAAAAAA\"}]}"),
        ("{\"data\":[{\"index\":0,\"embedding\":[1,0,0]},"
         "{\"index\":1,\"embedding\":\"AACAPwAAAAAA*AAA\"}]}"),
    };

    for (size_t i = 0; i < sizeof replies / sizeof *replies; i++) {
        reading r;
        loci_status status = read_as(&two_of_three, replies[i], &r);

        if (status != LOCI_EUNAVAILABLE)
            test_fail(__FILE__, __LINE__, "%s: %s", replies[i], loci_status_name(status));
    }
}

/* A vector of another length is not temporary: the setting must be corrected. */
TEST(embed_reply, another_length_names_both)
{
    static const char *const replies[] = {
        "{\"data\":[{\"index\":0,\"embedding\":[1,0]},{\"index\":1,\"embedding\":[1,0]}]}",
        "{\"data\":[{\"index\":0,\"embedding\":[1,0,0]},{\"index\":1,\"embedding\":[1,0,0,0]}]}",
        ("{\"data\":[{\"index\":0,\"embedding\":\"AACAPwAAAAA=\"},"
         "{\"index\":1,\"embedding\":\"AACAPwAAAAA=\"}]}"),
    };

    for (size_t i = 0; i < sizeof replies / sizeof *replies; i++) {
        reading r;

        CHECK_STATUS(LOCI_EUNSUPPORTED, read_as(&two_of_three, replies[i], &r));
        CHECK_CONTAINS(r.err.message, "expected 3 numbers");
        CHECK_CONTAINS(r.err.message, "model.embed_dimensions");
    }
}

TEST(embed_reply, the_ceiling_holds_the_longest_numbers)
{
    lc_embed_expected expected = {.count = 64, .dimensions = 1536};
    lc_embed_expected huge = {.count = 64, .dimensions = 1000000};

    CHECK_LE(64 * 1536 * 26, lc_embed_reply_bytes_max(&expected));
    CHECK_EQ(lc_embed_reply_bytes_max(&huge), LC_JSON_BYTES_MAX);
}

static loci_status read_once(void *ctx)
{
    reading r;

    (void)ctx;
    return read_as(&two_of_three,
                   "{\"data\":[{\"index\":0,\"embedding\":[1,0,0],\"\\u0041\":\"\\u0042\"},"
                   "{\"index\":1,\"embedding\":\"" BASE64_Z "\"}]}",
                   &r);
}

TEST(embed_reply, memory_running_out)
{
    test_oom_sweep(read_once, NULL);
}
