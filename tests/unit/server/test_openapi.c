/* The OpenAPI document and the pages: made from the table, so everything in the table is in them.
 */
#include "lib/test.h"

#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "ops/op.h"
#include "ops/schema.h"
#include "server/openapi.h"

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

TEST(openapi, every_operation_has_its_route)
{
    document d;
    const lc_op *op;

    make(&d);
    CHECK_STR_EQ(lc_json_str(FIND(d.root, "openapi")), "3.1.0");
    CHECK_STR_EQ(lc_json_str(FIND(d.root, "info", "version")), loci_version());
    for (size_t i = 0; (op = lc_op_at(i)) != NULL; i++) {
        loci_str method, path;
        char lower[16] = "";

        if (!lc_op_route(op, &method, &path))
            continue;
        for (size_t j = 0; j < method.len; j++)
            lower[j] = (char)(method.ptr[j] | 0x20);
        CHECK(FIND(d.root, "paths", test_format("%.*s", LC_STR_ARG(path)), lower, "responses",
                   "200") != NULL);
    }
    CHECK(FIND(d.root, "paths", "/v1/call/{op}", "post", "requestBody") != NULL);
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
    CHECK_LT(lc_op_count() - 1, count);
    clear(&d);
}

/* Every reference has a target. */
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

/* A generated client has a type per record, with members that need no check for absence. */
TEST(openapi, answers_refer_to_records_with_required_members)
{
    document d;
    const lc_json *fact;
    bool has_value = false;

    make(&d);
    CHECK_STR_EQ(lc_json_str(FIND(d.root, "paths", "/v1/facts/{id}", "get", "responses", "200",
                                  "content", "application/json", "schema", "$ref")),
                 "#/components/schemas/Fact");
    CHECK_STR_EQ(lc_json_str(FIND(d.root, "components", "schemas", "FactListAnswer", "properties",
                                  "facts", "items", "$ref")),
                 "#/components/schemas/Fact");
    fact = FIND(d.root, "components", "schemas", "Fact");
    for (const lc_json *name = lc_json_first(FIND(fact, "required")); name != NULL;
         name = lc_json_next(name))
        has_value |= lc_str_is(lc_json_str(name), "value");
    CHECK(has_value);
    CHECK_EQ(lc_json_count(FIND(fact, "properties", "trust", "enum")), 5);
    clear(&d);
}
