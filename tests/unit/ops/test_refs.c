/* References in a batch: their syntax, where they may be, and their limits. */
#include "lib/test.h"

#include <string.h>

#include "base/clock.h"
#include "base/str.h"
#include "ops/call.h"

typedef struct fixture {
    lc_heap heap;
    lc_arena arena;
    loci_error err;
} fixture;

static fixture new_fixture(void)
{
    fixture f = {0};

    lc_heap_init(&f.heap, test_heap());
    return f;
}

static loci_status resolve(fixture *f, loci_str args, const char *answer, loci_str *out)
{
    loci_str answers[1] = {loci_str_of(answer)};

    if (f->arena.heap == NULL)
        lc_arena_init(&f->arena, &f->heap, LOCI_MEM_REQUESTS);
    return lc_refs_resolve(&f->arena, args, answers, 1, out, &f->err);
}

static void check(const char *args, const char *expected)
{
    fixture f = new_fixture();
    loci_str out;

    CHECK_OK(
        resolve(&f, loci_str_of(args),
                "{\"id\":\"x\",\"n\":-1.5,\"a\":[{\"b\":[null,true]},2],\"\":{\"c\":\"$0.id\"}}",
                &out),
        f.err);
    CHECK_STR_EQ(out, expected);
    lc_arena_clear(&f.arena);
}

TEST(refs, a_reference_becomes_what_it_refers_to)
{
    check("{\"v\":\"$0.id\"}", "{\"v\":\"x\"}");
    check("[\"$0.n\",\"$0.a.0.b.1\",\"$0.a.1\"]", "[-1.5,true,2]");
    check("{\"v\":{\"w\":[\"$0.a.0.b\"]},\"u\":[]}", "{\"v\":{\"w\":[[null,true]]},\"u\":[]}");
    check("[\"$0.a.0.b.0\"]", "[null]");
    check("{\"v\":\"$0..c\"}", "{\"v\":\"$0.id\"}"); /* The inserted text is not expanded again. */
    check("{\"v\":\"$0\"}",
          "{\"v\":{\"id\":\"x\",\"n\":-1.5,\"a\":[{\"b\":[null,true]},2],\"\":{\"c\":\"$0.id\"}}}");
}

TEST(refs, everything_else_stays_as_it_is)
{
    check("{}", "{}");
    check(" [ 1 ] ", " [ 1 ] "); /* Without a dollar nothing is even read. */
    check("{\"$0.id\":1}", "{\"$0.id\":1}");
    check("[\"a $0.id\",\"$\",\"$x\",\"$-1\",\"US$0\",\"$ 0\"]",
          "[\"a $0.id\",\"$\",\"$x\",\"$-1\",\"US$0\",\"$ 0\"]");
    check("{\"$\":9223372036854775807,\"b\":1e300,\"c\":\"\\u00e9\\n\"}",
          "{\"$\":9223372036854775807,\"b\":1e+300,\"c\":\"é\\n\"}");
}

/* Whatever text there is, there must be a way to write it. */
TEST(refs, an_escape_loses_one_dollar)
{
    check("[\"$$0.id\",\"$$$0.id\",\"$$$$7\"]", "[\"$0.id\",\"$$0.id\",\"$$$7\"]");
    check("[\"$$\",\"$$x\",\"$$$\"]", "[\"$$\",\"$$x\",\"$$$\"]");
}

TEST(refs, a_reference_that_leads_nowhere_is_an_error)
{
    static const char *const wrong[] = {"$1.id",
                                        "$0.b",
                                        "$0.id.x",
                                        "$0.a.2",
                                        "$0.a.-1",
                                        "$0.a.zero",
                                        "$0.a.0.b.",
                                        "$0,id",
                                        "$0 id",
                                        "$4294967296",
                                        "$18446744073709551616"};
    fixture f = new_fixture();

    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        loci_str out;

        CHECK_STATUS(LOCI_EINVAL, resolve(&f, loci_str_of(test_format("{\"v\":\"%s\"}", wrong[i])),
                                          "{\"id\":\"x\",\"a\":[{\"b\":[1]},2]}", &out));
        CHECK_CONTAINS(f.err.message, wrong[i]);
    }
    lc_arena_clear(&f.arena);
}

TEST(refs, broken_arguments_are_an_error)
{
    fixture f = new_fixture();
    loci_str out;

    CHECK_STATUS(LOCI_EINVAL, resolve(&f, LC_STR("{\"v\":\"$0.id\""), "{}", &out));
    CHECK_STATUS(LOCI_EINVAL, resolve(&f, LC_STR("$"), "{}", &out));
    lc_arena_clear(&f.arena);
}

/* The answers of a batch are in memory already; naming them often must not multiply them. */
TEST(refs, many_references_cost_no_more_than_they_bring)
{
    enum { COUNT = 20000, ANSWER_BYTES = 500000 };
    int64_t began_us = lc_clock_monotonic_us();
    char *answer = test_bytes(ANSWER_BYTES), *args = test_bytes(COUNT * 9 + 2);
    fixture f = new_fixture();
    loci_str out;
    size_t at = 0;

    memset(answer, ' ', ANSWER_BYTES);
    memcpy(answer, "{\"id\":\"x\",\"pad\":[", 17);
    for (size_t i = 17; i + 4 < ANSWER_BYTES - 2; i += 2)
        memcpy(answer + i, "1,", 2);
    memcpy(answer + ANSWER_BYTES - 6, "1]}", 3);
    for (int i = 0; i < COUNT; i++) {
        memcpy(args + at, i == 0 ? "[\"$0.id\"" : ",\"$0.id\"", 8);
        at += 8;
    }
    args[at] = ']';
    CHECK_OK(resolve(&f, loci_str_of(args), answer, &out), f.err);
    CHECK_EQ(out.len, COUNT * 4 + 1);
    CHECK_LT(test_heap_live_bytes(LOCI_MEM_CATEGORIES), 64 << 20);
    CHECK_LT(lc_clock_monotonic_us() - began_us, 5000000);
    lc_arena_clear(&f.arena);
}

TEST(refs, a_result_that_is_too_large_is_given_up_early)
{
    enum { COUNT = 100000, ANSWER_BYTES = 1000000 };
    int64_t began_us = lc_clock_monotonic_us();
    char *answer = test_bytes(ANSWER_BYTES), *args = test_bytes(COUNT * 5 + 2);
    fixture f = new_fixture();
    loci_str out;
    size_t at = 0;

    memset(answer, 'x', ANSWER_BYTES);
    answer[0] = answer[ANSWER_BYTES - 1] = '"';
    for (int i = 0; i < COUNT; i++) {
        memcpy(args + at, i == 0 ? "[\"$0\"" : ",\"$0\"", 5);
        at += 5;
    }
    args[at] = ']';
    CHECK_STATUS(LOCI_ELIMIT, resolve(&f, loci_str_of(args), answer, &out));
    CHECK_LT(lc_clock_monotonic_us() - began_us, 5000000);
    lc_arena_clear(&f.arena);
}

static loci_status resolve_once(void *ctx)
{
    fixture f = new_fixture();
    loci_str out;
    loci_status status;

    (void)ctx;
    status = resolve(&f, LC_STR("{\"v\":[\"$0.id\",\"$0.n\"]}"), "{\"id\":\"\\u0041\",\"n\":2}",
                     &out);
    lc_arena_clear(&f.arena);
    return status;
}

TEST(refs, running_out_of_memory_leaks_nothing)
{
    test_oom_sweep(resolve_once, NULL);
}
