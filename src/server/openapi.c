/* openapi.c - The document, in the order in which it is read: what this is, the routes of the
 * table, calls by name, what is not an operation, and the parts they share. Nothing of an operation
 * is written here but what the table says. */
#include "server/openapi.h"

#include "base/error.h"
#include "base/str.h"
#include "server/listing.h"
#include "server/openapi_fixed.h"
#include "server/openapi_schema.h"

#define EVENTS_PATH "/v1/events"

/* What writing an operation needs. */
typedef struct page {
    lc_json_writer *out;
    const lc_op *op;
    loci_str method;        /* "GET" */
    loci_str path;          /* "" for a call by name. */
    const lc_json *example; /* Arguments, an object; or NULL. */
} page;

/* ---- Parameters ---------------------------------------------------------------------------------
 */

static const lc_json *example_of(const page *p, const char *name)
{
    return p->example == NULL ? NULL : lc_json_member(p->example, loci_str_of(name));
}

static void put_param(const page *p, const lc_param *param, const char *place)
{
    lc_json_writer *out = p->out;
    bool is_required = lc_listing_is_in_path(p->path, param->name) ||
                       (param->flags & LC_PARAM_REQUIRED) != 0;
    const lc_json *example = example_of(p, param->name);

    lc_jw_object(out);
    lc_jw_member_text(out, "name", param->name);
    lc_jw_member_text(out, "in", place);
    if (is_required)
        lc_jw_member_bool(out, "required", true);
    lc_jw_member_text(out, "description", param->help);
    if (param->kind == LC_PARAM_STRINGS) {
        lc_jw_member_text(out, "style", "form");
        lc_jw_member_bool(out, "explode", false);
    }
    lc_jw_name(out, "schema");
    lc_schema_param(out, param);
    if (example != NULL)
        lc_jw_member_value(out, "example", example);
    lc_jw_end(out);
}

static void put_params(const page *p)
{
    bool has_query = !lc_listing_has_body(p->method);
    const lc_param *param;

    lc_jw_name(p->out, "parameters");
    lc_jw_array(p->out);
    for (size_t i = 0; (param = lc_op_param(p->op, i)) != NULL; i++) {
        if (lc_listing_is_in_path(p->path, param->name))
            put_param(p, param, "path");
        else if (has_query)
            put_param(p, param, "query");
    }
    if ((p->op->flags & LC_OP_MUTATES) != 0)
        lc_jw_raw(p->out, LC_STR("{\"$ref\":\"#/components/parameters/IdempotencyKey\"}"));
    if (lc_str_is(p->path, EVENTS_PATH) && lc_str_is(p->method, "GET"))
        lc_openapi_stream_params(p->out);
    lc_jw_end(p->out);
}

/* ---- Bodies and answers*/

static void put_ref(lc_json_writer *out, const lc_op *op, const char *suffix)
{
    char name[LC_SCHEMA_NAME_BYTES], ref[LC_SCHEMA_NAME_BYTES + 32] = "#/components/schemas/";

    lc_schema_name(op, suffix, name);
    memcpy(ref + strlen("#/components/schemas/"), name, strlen(name) + 1);
    lc_jw_object(out);
    lc_jw_member_text(out, "$ref", ref);
    lc_jw_end(out);
}

static bool has_path_params(loci_str path)
{
    return path.len > 0 && memchr(path.ptr, '{', path.len) != NULL;
}

static void put_body_example(const page *p)
{
    if (p->example == NULL)
        return;
    lc_jw_name(p->out, "example");
    lc_jw_object(p->out);
    for (const lc_json *at = lc_json_first(p->example); at != NULL; at = lc_json_next(at)) {
        const lc_param *param;
        bool is_in_path = false;

        for (size_t i = 0; (param = lc_op_param(p->op, i)) != NULL; i++)
            is_in_path |= lc_str_is(lc_json_name(at), param->name) &&
                          lc_listing_is_in_path(p->path, param->name);
        if (is_in_path)
            continue;
        lc_jw_name_str(p->out, lc_json_name(at));
        lc_jw_value(p->out, at);
    }
    lc_jw_end(p->out);
}

static void put_body(const page *p)
{
    lc_json_writer *out = p->out;

    lc_jw_name(out, "requestBody");
    lc_jw_object(out);
    lc_jw_member_text(out, "description", "The arguments");
    lc_jw_member_bool(out, "required", lc_schema_needs_args(p->op, p->path));
    lc_jw_name(out, "content");
    lc_jw_object(out);
    lc_jw_name(out, "application/json");
    lc_jw_object(out);
    lc_jw_name(out, "schema");
    if (has_path_params(p->path))
        lc_schema_args(out, p->op, p->path);
    else
        put_ref(out, p->op, "Args");
    put_body_example(p);
    lc_jw_end(out);
    lc_jw_end(out);
    lc_jw_end(out);
}

static void put_responses(const page *p)
{
    lc_json_writer *out = p->out;

    lc_jw_name(out, "responses");
    lc_jw_object(out);
    lc_jw_name(out, "200");
    lc_jw_object(out);
    lc_jw_member_text(out, "description", "The answer");
    lc_jw_name(out, "content");
    lc_jw_object(out);
    lc_jw_name(out, "application/json");
    lc_jw_object(out);
    lc_jw_name(out, "schema");
    put_ref(out, p->op, "Answer");
    lc_jw_end(out);
    if (lc_str_is(p->path, EVENTS_PATH) && lc_str_is(p->method, "GET"))
        lc_openapi_stream_content(out);
    lc_jw_end(out);
    lc_jw_end(out);
    lc_openapi_problem_responses(out);
    lc_jw_end(out);
}

/* ---- Operations*/

/* "fact_write" of fact.write, behind `prefix`. */
static void put_operation_id(lc_json_writer *out, const char *prefix, const char *name)
{
    char id[128];
    size_t len = strlen(prefix);

    memcpy(id, prefix, len);
    for (; *name != '\0' && len < sizeof id; name++)
        id[len++] = *name == '.' ? '_' : *name;
    lc_jw_member_str(out, "operationId", (loci_str){id, len});
}

static void put_description(lc_json_writer *out, const lc_op *op)
{
    lc_buf text;

    lc_buf_init(&text, out->buf->heap, LOCI_MEM_REQUESTS, 4096);
    lc_buf_append_format(&text, "The operation `%s`. %s", op->name,
                         (op->flags & LC_OP_MUTATES) != 0 ? "Changes the store." : "Only reads.");
    if ((op->flags & LC_OP_MUTATES) != 0 && (op->flags & LC_OP_IDEMPOTENT) != 0)
        lc_buf_append(&text, LC_STR(" Doing it twice is doing it once."));
    if ((op->flags & (LC_OP_ADMIN | LC_OP_TENANT_ADMIN)) != 0)
        lc_buf_append(&text, LC_STR(" Needs the scope `admin`."));
    if ((op->flags & LC_OP_ALONE) != 0)
        lc_buf_append(&text, LC_STR(" Not in a batch."));
    lc_jw_member_str(out, "description", lc_buf_str(&text));
    lc_buf_clear(&text);
}

static void put_operation(const page *p)
{
    lc_json_writer *out = p->out;

    lc_jw_object(out);
    put_operation_id(out, p->path.len > 0 ? "" : "call_", p->op->name);
    lc_jw_member_text(out, "summary", p->op->help);
    put_description(out, p->op);
    lc_jw_name(out, "tags");
    lc_jw_array(out);
    lc_jw_str(out, lc_listing_noun(p->op));
    lc_jw_end(out);
    put_params(p);
    if (lc_listing_has_body(p->method))
        put_body(p);
    put_responses(p);
    lc_jw_end(out);
}

static void put_method(lc_json_writer *out, loci_str method)
{
    char lower[16];
    size_t len = method.len < sizeof lower ? method.len : sizeof lower;

    for (size_t i = 0; i < len; i++)
        lower[i] = (char)(method.ptr[i] | 0x20);
    lc_jw_name_str(out, (loci_str){lower, len});
}

static void put_op_at(lc_json_writer *out, const lc_op *op, loci_str method, loci_str path)
{
    page p = {.out = out, .op = op, .method = method, .path = path};
    lc_arena arena;

    lc_arena_init(&arena, out->buf->heap, LOCI_MEM_REQUESTS);
    /* Without memory for it there is no example, and the document's own buffer has failed, too. */
    if (op->example != NULL)
        (void)lc_json_parse(&arena, loci_str_of(op->example), 0, &p.example, NULL);
    put_method(out, method);
    put_operation(&p);
    lc_arena_clear(&arena);
}

static void put_path(lc_json_writer *out, loci_str path)
{
    const lc_op *op;

    lc_jw_name_str(out, path);
    lc_jw_object(out);
    for (size_t i = 0; (op = lc_op_at(i)) != NULL; i++) {
        loci_str method, its_path;

        if (lc_listing_route(op, &method, &its_path) && lc_str_eq(its_path, path))
            put_op_at(out, op, method, path);
    }
    lc_jw_end(out);
}

static void put_call(lc_json_writer *out, const lc_op *op)
{
    char path[128] = "/v1/call/";
    size_t len = strlen(op->name);

    len = len < 100 ? len : 100;
    memcpy(path + strlen("/v1/call/"), op->name, len);
    lc_jw_name_str(out, (loci_str){path, strlen("/v1/call/") + len});
    lc_jw_object(out);
    put_op_at(out, op, LC_STR("POST"), LC_STR(""));
    lc_jw_end(out);
}

static void put_paths(lc_json_writer *out)
{
    const lc_op *op;
    loci_str method, path;

    lc_jw_name(out, "paths");
    lc_jw_object(out);
    for (size_t i = 0; (op = lc_op_at(i)) != NULL; i++) {
        if (lc_listing_is_first_of_path(i) && lc_listing_route(op, &method, &path))
            put_path(out, path);
    }
    for (size_t i = 0; (op = lc_op_at(i)) != NULL; i++)
        put_call(out, op);
    lc_openapi_other_paths(out);
    lc_jw_end(out);
}

/* ---- The document*/

static void put_tags(lc_json_writer *out)
{
    const lc_op *op;

    lc_jw_name(out, "tags");
    lc_jw_array(out);
    for (size_t i = 0; (op = lc_op_at(i)) != NULL; i++) {
        loci_str noun = lc_listing_noun(op);
        char text[128] = "Operations whose names begin with ";
        size_t len = strlen(text);

        if (!lc_listing_is_first_of_noun(i))
            continue;
        memcpy(text + len, noun.ptr, noun.len < 64 ? noun.len : 64);
        lc_jw_object(out);
        lc_jw_member_str(out, "name", noun);
        lc_jw_member_text(out, "description", text);
        lc_jw_end(out);
    }
    lc_openapi_other_tags(out);
    lc_jw_end(out);
}

static void put_components(lc_json_writer *out)
{
    char name[LC_SCHEMA_NAME_BYTES];
    const lc_op *op;

    lc_jw_name(out, "components");
    lc_jw_object(out);
    lc_openapi_shared(out);
    lc_jw_name(out, "schemas");
    lc_jw_object(out);
    lc_openapi_problem_schema(out);
    for (size_t i = 0; (op = lc_op_at(i)) != NULL; i++) {
        lc_schema_name(op, "Args", name);
        lc_jw_name(out, name);
        lc_schema_args(out, op, LC_STR(""));
        lc_schema_name(op, "Answer", name);
        lc_jw_name(out, name);
        lc_schema_answer(out, op);
    }
    lc_jw_end(out);
    lc_jw_end(out);
}

void lc_openapi_write(lc_json_writer *out)
{
    lc_jw_object(out);
    lc_jw_member_text(out, "openapi", "3.1.0");
    lc_openapi_info(out);
    lc_jw_member_raw(out, "servers",
                     LC_STR("[{\"url\":\"/\",\"description\":\"The daemon that serves this\"}]"));
    lc_jw_member_raw(out, "security", LC_STR("[{\"bearer\":[]}]"));
    put_tags(out);
    put_paths(out);
    put_components(out);
    lc_jw_end(out);
}
