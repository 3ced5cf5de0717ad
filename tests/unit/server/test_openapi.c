/* The OpenAPI document and the pages: made from the table, so everything in the table is in them.
 */
#include "lib/test.h"

#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "ops/op.h"
#include "server/listing.h"
#include "server/openapi.h"
#include "server/openapi_schema.h"

/* All memory of these tests. */
static lc_heap *fresh_heap(void)
{
    static lc_heap heap;

    heap.allocator = test_heap();
    return &heap;
}

typedef struct document {
    lc_buf text;
    lc_arena arena;
    const lc_json *root;
} document;

static void make(document *d)
{
    lc_json_writer w;
    loci_error err;

    lc_buf_init(&d->text, fresh_heap(), LOCI_MEM_REQUESTS, 16u << 20);
    lc_arena_init(&d->arena, fresh_heap(), LOCI_MEM_REQUESTS);
    lc_jw_init(&w, &d->text);
    lc_openapi_write(&w);
    CHECK(lc_jw_is_done(&w));
    CHECK_OK(lc_buf_status(&d->text, &err), err);
    CHECK_OK(lc_json_parse(&d->arena, lc_buf_str(&d->text), 0, &d->root, &err), err);
}

static void clear(document *d)
{
    lc_arena_clear(&d->arena);
    lc_buf_clear(&d->text);
}

/* A member inside members; the names end with NULL. */
static const lc_json *find(const lc_json *value, const char *const *names)
{
    for (; value != NULL && *names != NULL; names++)
        value = lc_json_kind_of(value) == LC_JSON_OBJECT
                    ? lc_json_member(value, loci_str_of(*names))
                    : NULL;
    return value;
}

#define FIND(value, ...) find((value), (const char *const[]){__VA_ARGS__, NULL})

TEST(openapi, every_operation_has_a_call_and_its_route)
{
    document d;
    const lc_op *op;

    make(&d);
    CHECK_STR_EQ(lc_json_str(FIND(d.root, "openapi")), "3.1.0");
    CHECK_STR_EQ(lc_json_str(FIND(d.root, "info", "version")), loci_version());
    for (size_t i = 0; (op = lc_op_at(i)) != NULL; i++) {
        const char *call = test_format("/v1/call/%s", op->name);
        loci_str method, path;
        char lower[16] = "";

        CHECK(FIND(d.root, "paths", call, "post", "requestBody") != NULL);
        if (!lc_listing_route(op, &method, &path))
            continue;
        for (size_t j = 0; j < method.len; j++)
            lower[j] = (char)(method.ptr[j] | 0x20);
        CHECK(FIND(d.root, "paths", test_format("%.*s", LC_STR_ARG(path)), lower, "responses",
                   "200") != NULL);
    }
    CHECK(FIND(d.root, "paths", "/v1/batch", "post") != NULL);
    CHECK(FIND(d.root, "paths", "/v1/events", "get", "responses", "200", "content",
               "text/event-stream") != NULL);
    clear(&d);
}

/* Client generators name functions after them. */
TEST(openapi, operation_ids_are_unique)
{
    document d;
    loci_str seen[512];
    size_t count = 0;

    make(&d);
    for (const lc_json *path = lc_json_first(FIND(d.root, "paths")); path != NULL;
         path = lc_json_next(path)) {
        for (const lc_json *op = lc_json_first(path); op != NULL; op = lc_json_next(op)) {
            const lc_json *id = FIND(op, "operationId");

            CHECK(id != NULL);
            for (size_t i = 0; i < count; i++)
                CHECK(!lc_str_eq(seen[i], lc_json_str(id)));
            CHECK_LT(count, sizeof seen / sizeof seen[0]);
            seen[count++] = lc_json_str(id);
        }
    }
    CHECK_LT(lc_op_count(), count);
    clear(&d);
}

/* Whatever is referred to is there. */
TEST(openapi, every_schema_that_is_used_exists)
{
    document d;
    loci_str rest;

    make(&d);
    rest = lc_buf_str(&d.text);
    for (;;) {
        static const char prefix[] = "\"$ref\":\"#/components/";
        const char *at = memmem(rest.ptr, rest.len, prefix, sizeof prefix - 1);
        loci_str ref, name;

        if (at == NULL)
            break;
        rest = (loci_str){at + sizeof prefix - 1,
                          rest.len - (size_t)(at + sizeof prefix - 1 - rest.ptr)};
        ref = lc_str_split(rest, '"', &rest);
        ref = lc_str_split(ref, '/', &name);
        CHECK(FIND(d.root, "components", test_format("%.*s", LC_STR_ARG(ref)),
                   test_format("%.*s", LC_STR_ARG(name))) != NULL);
    }
    clear(&d);
}

TEST(openapi, all_error_codes_are_listed)
{
    document d;
    const lc_json *codes;

    make(&d);
    codes = FIND(d.root, "components", "schemas", "Problem", "properties", "code", "enum");
    CHECK_EQ(lc_json_count(codes), LOCI_EINTERNAL);
    clear(&d);
}

/* ---- Schemas
 * ------------------------------------------------------------------------------------- */

static char *schema_text(void (*write)(lc_json_writer *out, const void *what), const void *what)
{
    lc_json_writer w;
    lc_buf text;
    char *copy;

    lc_buf_init(&text, fresh_heap(), LOCI_MEM_REQUESTS, 65536);
    lc_jw_init(&w, &text);
    write(&w, what);
    copy = test_format("%.*s", (int)text.len, text.ptr);
    lc_buf_clear(&text);
    return copy;
}

static void write_answer(lc_json_writer *out, const void *what)
{
    lc_schema_answer(out, what);
}

static void write_param(lc_json_writer *out, const void *what)
{
    lc_schema_param(out, what);
}

TEST(openapi, flat_results_become_a_tree)
{
    static const lc_result results[] = {
        {"jobs", LC_PARAM_ANY, "Newest first"},
        {"jobs[].id", LC_PARAM_STRING, "I"},
        {"jobs[].error.code", LC_PARAM_STRING, "Or null"},
        {"names[]", LC_PARAM_STRING, "N"},
        {"next", LC_PARAM_INT, "null at the end"},
        {NULL, 0, NULL},
    };
    static const lc_op op = {.name = "x.y", .results = results};

    CHECK_STR_EQ(schema_text(write_answer, &op),
                 "{\"type\":\"object\",\"properties\":{\"jobs\":{\"description\":\"Newest first\","
                 "\"type\":\"array\",\"items\":{\"type\":\"object\",\"properties\":{\"id\":{"
                 "\"description\":\"I\",\"type\":\"string\"},\"error\":{\"type\":\"object\","
                 "\"properties\":{\"code\":{\"description\":\"Or null\",\"type\":[\"string\","
                 "\"null\"]}}}}}},\"names\":{\"description\":\"N\",\"type\":\"array\",\"items\":{"
                 "\"type\":\"string\"}},\"next\":{\"description\":\"null at the end\",\"type\":["
                 "\"integer\",\"null\"],\"format\":\"int64\"}}}");
}

TEST(openapi, a_parameter_says_what_it_takes)
{
    static const lc_param choice = {.name = "a",
                                    .kind = LC_PARAM_STRING,
                                    .choices = "x|y",
                                    .default_text = "\"x\"",
                                    .help = "A"};
    static const lc_param number = {
        .name = "n", .kind = LC_PARAM_INT, .min = 1, .max = 1000, .help = "N"};
    static const lc_param words = {
        .name = "s", .kind = LC_PARAM_STRINGS, .choices = "x|y", .max = 3, .help = "S"};
    static const lc_param any = {.name = "v", .kind = LC_PARAM_ANY, .help = "V"};

    CHECK_STR_EQ(schema_text(write_param, &choice),
                 "{\"type\":\"string\",\"enum\":[\"x\",\"y\"],\"default\":\"x\","
                 "\"description\":\"A\"}");
    CHECK_STR_EQ(schema_text(write_param, &number),
                 "{\"type\":\"integer\",\"format\":\"int64\",\"minimum\":1,\"maximum\":1000,"
                 "\"description\":\"N\"}");
    CHECK_STR_EQ(schema_text(write_param, &words),
                 "{\"type\":\"array\",\"items\":{\"type\":\"string\",\"enum\":[\"x\",\"y\"]},"
                 "\"maxItems\":3,\"description\":\"S\"}");
    CHECK_STR_EQ(schema_text(write_param, &any), "{\"description\":\"V\"}");
}
