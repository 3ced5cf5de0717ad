/* Arguments from path, query and body must become exactly what the same call by name would take. */
#include "lib/test.h"

#include "base/str.h"
#include "server/api_args.h"

static const lc_param params[] = {
    {.name = "id", .kind = LC_PARAM_STRING},
    {.name = "count", .kind = LC_PARAM_INT},
    {.name = "weight", .kind = LC_PARAM_REAL},
    {.name = "deep", .kind = LC_PARAM_BOOL},
    {.name = "since", .kind = LC_PARAM_TIME},
    {.name = "types", .kind = LC_PARAM_STRINGS},
    {.name = "filter", .kind = LC_PARAM_OBJECT},
    {.name = "value", .kind = LC_PARAM_ANY},
    {.name = NULL},
};
static const lc_op op = {.name = "note.find", .params = params};

typedef struct building {
    lc_heap heap;
    lc_arena arena;
    lc_path_param path[2], query[8];
    lc_api_given given;
    loci_str args;
    loci_error err;
} building;

static void begin(building *b)
{
    memset(b, 0, sizeof *b);
    lc_heap_init(&b->heap, test_heap());
    lc_arena_init(&b->arena, &b->heap, LOCI_MEM_REQUESTS);
    b->given = (lc_api_given){.op = &op, .path = b->path, .query = b->query};
}

static void add_path(building *b, const char *name, const char *value)
{
    b->path[b->given.path_count++] = (lc_path_param){loci_str_of(name), loci_str_of(value)};
}

static void add_query(building *b, const char *name, const char *value)
{
    b->query[b->given.query_count++] = (lc_path_param){loci_str_of(name), loci_str_of(value)};
}

static loci_status build(building *b, const char *body)
{
    b->given.body = loci_str_of(body);
    return lc_api_args(&b->arena, &b->given, &b->args, &b->err);
}

TEST(api_args, texts_become_what_their_parameter_takes)
{
    building b;

    begin(&b);
    add_path(&b, "id", "007");
    add_query(&b, "count", "10");
    add_query(&b, "weight", "0.5");
    add_query(&b, "deep", "1");
    add_query(&b, "since", "2026-01-31T12:00:00Z");
    add_query(&b, "types", "a,b");
    add_query(&b, "filter", "{\"x\":1}");
    add_query(&b, "types", "[\"c\",\"d,e\"]");
    add_query(&b, "value", "Oslo");
    CHECK_OK(build(&b, ""), b.err);
    CHECK_STR_EQ(b.args, "{\"id\":\"007\",\"count\":10,\"weight\":0.5,\"deep\":true,"
                         "\"since\":\"2026-01-31T12:00:00Z\",\"types\":[\"a\",\"b\",\"c\",\"d,e\"],"
                         "\"filter\":{\"x\":1},\"value\":\"Oslo\"}");
    lc_arena_clear(&b.arena);
}

/* The operation's own check then says what is wrong, in the words of every surface. */
TEST(api_args, what_does_not_look_right_stays_a_string)
{
    building b;

    begin(&b);
    add_query(&b, "count", "ten");
    add_query(&b, "weight", "1e999");
    add_query(&b, "deep", "yes");
    add_query(&b, "unknown", "5");
    CHECK_OK(build(&b, ""), b.err);
    CHECK_STR_EQ(b.args, "{\"count\":\"ten\",\"weight\":\"1e999\",\"deep\":\"yes\","
                         "\"unknown\":\"5\"}");
    lc_arena_clear(&b.arena);
}

TEST(api_args, a_body_is_taken_as_it_is_and_merged_with_the_path)
{
    building b;

    begin(&b);
    CHECK_OK(build(&b, "[1, 2"), b.err);
    CHECK_STR_EQ(b.args, "[1, 2"); /* The call itself says what is wrong with it, and where. */
    add_path(&b, "id", "n1");
    CHECK_OK(build(&b, " {\"value\": [1, {\"a\": null}], \"id\": \"n1\"} "), b.err);
    CHECK_STR_EQ(b.args, "{\"id\":\"n1\",\"value\":[1,{\"a\":null}]}");
    CHECK_STATUS(LOCI_EINVAL, build(&b, "{\"id\":\"n2\"}"));
    CHECK_CONTAINS(b.err.message, "id");
    CHECK_STATUS(LOCI_EINVAL, build(&b, "[]"));
    CHECK_STATUS(LOCI_EINVAL, build(&b, "{"));
    lc_arena_clear(&b.arena);
}

TEST(api_args, nothing_is_given_twice)
{
    building b;

    begin(&b);
    add_query(&b, "count", "1");
    add_query(&b, "count", "1");
    CHECK_STATUS(LOCI_EINVAL, build(&b, ""));
    b.given.query_count = 1;
    CHECK_STATUS(LOCI_EINVAL, build(&b, "{\"count\":1}"));
    add_path(&b, "count", "1");
    CHECK_STATUS(LOCI_EINVAL, build(&b, ""));
    lc_arena_clear(&b.arena);
}

TEST(api_args, text_that_json_cannot_hold_is_refused)
{
    building b;

    begin(&b);
    add_query(&b, "id", "\xff");
    CHECK_STATUS(LOCI_EINVAL, build(&b, ""));
    b.query[0].value = (loci_str){"a\0b", 3};
    CHECK_STATUS(LOCI_EINVAL, build(&b, ""));
    b.query[0] = (lc_path_param){(loci_str){"\xc0", 1}, LC_STR("x")};
    CHECK_STATUS(LOCI_EINVAL, build(&b, ""));
    lc_arena_clear(&b.arena);
}
