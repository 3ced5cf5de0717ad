/* test_json_canonical.c - hashes are taken of this form, so the same value must always have the
 * same bytes: a change here is a change of every hash ever stored. */
#include "lib/test.h"

#include "base/json.h"
#include "base/str.h"

#include <stdio.h>

#define MEMBERS_MAX 64

typedef struct fixture {
    lc_heap heap;
    lc_arena arena;
    lc_buf buf;
    loci_error err;
} fixture;

static void set_up(fixture *f)
{
    lc_heap_init(&f->heap, test_heap());
    lc_arena_init(&f->arena, &f->heap, LOCI_MEM_REQUESTS);
    lc_buf_init(&f->buf, &f->heap, LOCI_MEM_REQUESTS, LC_ANSWER_BYTES_MAX);
}

static void tear_down(fixture *f)
{
    lc_buf_clear(&f->buf);
    lc_arena_clear(&f->arena);
}

/* The canonical form of `text`, kept in the arena. */
static loci_str canonical(fixture *f, loci_str text)
{
    const lc_json *value;

    CHECK_OK(lc_json_parse(&f->arena, text, LC_JSON_ALLOW_NUL, &value, &f->err), f->err);
    lc_buf_reset(&f->buf);
    CHECK_OK(lc_json_canonical(&f->arena, value, &f->buf, &f->err), f->err);
    return lc_arena_copy(&f->arena, lc_buf_str(&f->buf));
}

TEST(json_canonical, known_documents_have_known_bytes)
{
    static const struct {
        const char *text;
        const char *canonical;
    } rows[] = {
        {" null ", "null"},
        {"[ ]", "[]"},
        {"{ }", "{}"},
        {"-0", "0"},
        {"-0.0", "0.0"},
        {"1.50", "1.5"},
        {"1E3", "1000.0"},
        {"\"\\u0041\\/\\u00e9\\u000a\\u0000\"", "\"A/\xC3\xA9\\n\\u0000\""},
        {"{\"b\":1,\"a\":2}", "{\"a\":2,\"b\":1}"},
        {"{\"ab\":1,\"a\":2,\"\":3}", "{\"\":3,\"a\":2,\"ab\":1}"},
        {"{\"a\\u0000\":1,\"a\":2}", "{\"a\":2,\"a\\u0000\":1}"},
        {"{\"prefix_02\":1,\"prefix_01\":2}", "{\"prefix_01\":2,\"prefix_02\":1}"},
        /* By bytes: U+FF61 before U+1F600, which UTF-16 would turn round. */
        {"{\"\\ud83d\\ude00\":1,\"\\uff61\":2,\"z\":3}",
         "{\"z\":3,\"\xEF\xBD\xA1\":2,\"\xF0\x9F\x98\x80\":1}"},
        {"[{\"z\":{\"y\":1,\"x\":[{\"b\":0,\"a\":0}]},\"a\":null},2]",
         "[{\"a\":null,\"z\":{\"x\":[{\"a\":0,\"b\":0}],\"y\":1}},2]"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        fixture f;

        set_up(&f);
        CHECK_STR_EQ(canonical(&f, loci_str_of(rows[i].text)), rows[i].canonical);
        CHECK_STR_EQ(canonical(&f, loci_str_of(rows[i].canonical)), rows[i].canonical);
        tear_down(&f);
    }
}

TEST(json_canonical, a_part_of_a_document_can_be_taken)
{
    fixture f;
    const lc_json *value;

    set_up(&f);
    CHECK_OK(lc_json_parse(&f.arena, LC_STR("[{\"b\":1,\"a\":2},3]"), 0, &value, &f.err), f.err);
    CHECK_OK(lc_json_canonical(&f.arena, lc_json_first(value), &f.buf, &f.err), f.err);
    CHECK_STR_EQ(lc_buf_str(&f.buf), "{\"a\":2,\"b\":1}");
    tear_down(&f);
}

/* Random names, many of them alike in the bytes that are compared first. */
static void write_random(lc_json_writer *w, test_rng *rng, int depth)
{
    size_t count = test_rng_below(rng, depth == 0 ? 40 : 6);

    if (depth == 4 || test_rng_chance(rng, 30)) {
        lc_jw_int(w, (int64_t)test_rng_below(rng, 1000));
        return;
    }
    if (test_rng_chance(rng, 25)) {
        lc_jw_array(w);
        for (size_t i = 0; i < count; i++)
            write_random(w, rng, depth + 1);
        lc_jw_end(w);
        return;
    }
    lc_jw_object(w);
    for (size_t i = 0; i < count; i++) {
        char name[64];

        snprintf(name, sizeof name, "%s%zu",
                 (const char *[]){"", "a\n", "preference_", "\xC3\xA9",
                                  "\xF0\x9F\x98\x80"}[test_rng_below(rng, 5)],
                 i);
        lc_jw_name(w, name);
        write_random(w, rng, depth + 1);
    }
    lc_jw_end(w);
}

/* The same value with the members of every object in another order. */
static void write_shuffled(lc_json_writer *w, test_rng *rng, const lc_json *value)
{
    const lc_json *members[MEMBERS_MAX];
    size_t count = 0;
    lc_json_kind kind = lc_json_kind_of(value);

    if (kind != LC_JSON_OBJECT && kind != LC_JSON_ARRAY) {
        lc_jw_value(w, value);
        return;
    }
    for (const lc_json *at = lc_json_first(value); at != NULL; at = lc_json_next(at))
        members[count++] = at;
    for (size_t i = count; kind == LC_JSON_OBJECT && i > 1; i--) {
        size_t other = test_rng_below(rng, i);
        const lc_json *spare = members[i - 1];

        members[i - 1] = members[other];
        members[other] = spare;
    }
    kind == LC_JSON_OBJECT ? lc_jw_object(w) : lc_jw_array(w);
    for (size_t i = 0; i < count; i++) {
        if (kind == LC_JSON_OBJECT)
            lc_jw_name_str(w, lc_json_name(members[i]));
        write_shuffled(w, rng, members[i]);
    }
    lc_jw_end(w);
}

TEST(json_canonical, the_order_of_members_does_not_matter)
{
    test_rng rng = test_random(31);
    uint64_t runs = test_count(2000, 100000);

    for (uint64_t run = 0; run < runs; run++) {
        fixture f;
        lc_json_writer w;
        const lc_json *value;
        loci_str text, shuffled;

        set_up(&f);
        lc_jw_init(&w, &f.buf);
        write_random(&w, &rng, 0);
        text = lc_arena_copy(&f.arena, lc_buf_str(&f.buf));
        CHECK_OK(lc_json_parse(&f.arena, text, 0, &value, &f.err), f.err);
        lc_buf_reset(&f.buf);
        lc_jw_init(&w, &f.buf);
        write_shuffled(&w, &rng, value);
        shuffled = lc_arena_copy(&f.arena, lc_buf_str(&f.buf));
        CHECK_STR_EQ(canonical(&f, text), canonical(&f, shuffled));
        tear_down(&f);
    }
}

TEST(json_canonical, what_is_taken_from_the_scratch_is_given_back)
{
    fixture f;
    const lc_json *value;
    size_t live_bytes;

    set_up(&f);
    CHECK_OK(
        lc_json_parse(&f.arena, LC_STR("{\"b\":{\"d\":1,\"c\":2},\"a\":3}"), 0, &value, &f.err),
        f.err);
    CHECK_OK(lc_json_canonical(&f.arena, value, &f.buf, &f.err), f.err);
    live_bytes = test_heap_live_bytes(LOCI_MEM_REQUESTS);
    for (int i = 0; i < 1000; i++) {
        lc_buf_reset(&f.buf);
        CHECK_OK(lc_json_canonical(&f.arena, value, &f.buf, &f.err), f.err);
    }
    CHECK_EQ(test_heap_live_bytes(LOCI_MEM_REQUESTS), live_bytes);
    tear_down(&f);
}

static loci_status parse_and_write(void *ctx)
{
    fixture f;
    const lc_json *value;
    loci_status status;

    set_up(&f);
    status = lc_json_parse(&f.arena, loci_str_of(ctx), 0, &value, &f.err);
    if (status == LOCI_OK)
        status = lc_json_canonical(&f.arena, value, &f.buf, &f.err);
    tear_down(&f);
    return status;
}

TEST(json_canonical, survives_without_memory)
{
    size_t size = 4096, len = 1;
    char *text = test_bytes(size);

    text[0] = '{';
    for (int i = 0; i < 100; i++)
        len += (size_t)snprintf(text + len, size - len, "%s\"%d\":{\"b\":1,\"a\":2}",
                                i > 0 ? "," : "", i);
    CHECK_LT(len, size - 1);
    text[len] = '}';
    test_oom_sweep(parse_and_write, text);
}
