/* openapi.c - the document in the order in which it is read: info, the routes of the table, the
 * paths that are not operations, and the components. Everything about operations comes from the
 * table; the rest is written as JSON text, which can be compared with the specification. */
#include "server/openapi.h"

#include <stdio.h>

#include "base/error.h"
#include "base/str.h"
#include "ops/schema.h"
#include "ops/surface.h"

#define EVENTS_PATH "/v1/events"
#define NAME_BYTES 96

/* The state for writing an operation. */
typedef struct page {
    lc_json_writer *out;
    const lc_op *op;
    loci_str method; /* "GET" */
    loci_str path;
    const lc_json *example; /* Arguments, an object; or NULL. */
} page;

static bool has_body(loci_str method)
{
    return lc_str_is(method, "POST") || lc_str_is(method, "PUT") || lc_str_is(method, "PATCH");
}

/* "FactWriteArgs" of fact.write and "Args". */
static void name_schema(const lc_op *op, const char *suffix, char out[NAME_BYTES])
{
    size_t len = 0;
    bool is_start = true;

    for (const char *at = op->name; *at != '\0' && len < NAME_BYTES - 16; at++) {
        bool is_letter = *at != '.' && *at != '_';

        if (is_letter)
            out[len++] = is_start && *at >= 'a' && *at <= 'z' ? (char)(*at - 'a' + 'A') : *at;
        is_start = !is_letter;
    }
    (void)snprintf(out + len, NAME_BYTES - len, "%s", suffix);
}

/* ---- Streams of events: what GET /v1/events has beside the operation ------------------------ */

static void put_signal_params(lc_json_writer *out)
{
    lc_jw_raw(out,
              LC_STR("{\"name\":\"stream\",\"in\":\"query\",\"description\":\"True for a stream "
                     "of server-sent events, if the header Accept cannot be set\",\"schema\":{"
                     "\"type\":\"boolean\"}}"));
    lc_jw_raw(out, LC_STR("{\"name\":\"heartbeat_ms\",\"in\":\"query\",\"description\":\"For a "
                          "stream: milliseconds without an event after which a comment is sent\","
                          "\"schema\":{\"type\":\"integer\",\"minimum\":100,\"maximum\":300000,"
                          "\"default\":15000}}"));
}

static void put_stream_params(lc_json_writer *out)
{
    put_signal_params(out);
    lc_jw_raw(out, LC_STR("{\"name\":\"types\",\"in\":\"query\",\"description\":\"For a stream: "
                          "types of events to send, separated by commas (default: all)\","
                          "\"schema\":{\"type\":\"string\"}}"));
    lc_jw_raw(out, LC_STR("{\"name\":\"Last-Event-ID\",\"in\":\"header\",\"description\":\"For a "
                          "stream: id of the last event received; has precedence over "
                          "`after_seq`\",\"schema\":{\"type\":\"integer\",\"format\":\"int64\","
                          "\"minimum\":0}}"));
}

static void put_stream_content(lc_json_writer *out)
{
    lc_jw_member_raw(
        out, "text/event-stream",
        LC_STR(
            "{\"schema\":{\"type\":\"string\",\"description\":\"With `Accept: "
            "text/event-stream` the connection stays open. For one user (`user_id`): `id` is the "
            "number of the event, `event` its type and `data` the event as in event.list; the "
            "stream starts after `after_seq` or Last-Event-ID, by default with new events. Without "
            "`user_id`, for callers that may act for all users: new events of all users, without "
            "ids. `event: reset` means that some events were lost; `event: end`, the last one, "
            "that the token was revoked or has expired.\"},\"example\":\"id: 7\\nevent: "
            "fact.written\\ndata: {\\\"user_id\\\":\\\"default\\\",\\\"seq\\\":7}\\n\\n\"}"));
}

static void put_signal_content(lc_json_writer *out)
{
    lc_jw_member_raw(
        out, "text/event-stream",
        LC_STR(
            "{\"schema\":{\"type\":\"string\",\"description\":\"With `Accept: "
            "text/event-stream` the connection stays open, and the agent is asked to free memory: "
            "`id` is the number of the signal, `event` its kind and `data` the signal as in "
            "signal.list. The first message is the level now, then all signals that wait. Signals "
            "with `ack_within_ms` must be acknowledged by signal.ack in that time. `event: end`, "
            "the last one, has the reason: no_ack, replaced by another stream of the agent, "
            "token_revoked or token_expired.\"},\"example\":\"id: 17\\nevent: pause_pipeline\\n"
            "data: {\\\"signal_id\\\":17,\\\"name\\\":\\\"reindex\\\"}\\n\\n\"}"));
}

/* ---- Parameters ------------------------------------------------------------------------------ */

static const lc_json *example_of(const page *p, const char *name)
{
    return p->example == NULL ? NULL : lc_json_member(p->example, loci_str_of(name));
}

static void put_param(const page *p, const lc_param *param, const char *place)
{
    lc_json_writer *out = p->out;
    bool is_required = lc_path_has(p->path, param->name) || (param->flags & LC_PARAM_REQUIRED) != 0;
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
    lc_schema_param(out, param, false);
    if (example != NULL)
        lc_jw_member_value(out, "example", example);
    lc_jw_end(out);
}

static void put_params(const page *p)
{
    bool has_query = !has_body(p->method);
    const lc_param *param;

    lc_jw_name(p->out, "parameters");
    lc_jw_array(p->out);
    for (size_t i = 0; (param = lc_op_param(p->op, i)) != NULL; i++) {
        if (lc_path_has(p->path, param->name))
            put_param(p, param, "path");
        else if (has_query)
            put_param(p, param, "query");
    }
    if ((p->op->flags & (LC_OP_MUTATES | LC_OP_PROCESS)) == LC_OP_MUTATES)
        lc_jw_raw(p->out, LC_STR("{\"$ref\":\"#/components/parameters/IdempotencyKey\"}"));
    if (lc_str_is(p->path, EVENTS_PATH) && lc_str_is(p->method, "GET"))
        put_stream_params(p->out);
    if (lc_str_is(p->path, LC_SIGNALS_PATH) && lc_str_is(p->method, "GET"))
        put_signal_params(p->out);
    lc_jw_end(p->out);
}

/* ---- Bodies and answers ---------------------------------------------------------------------- */

/* {"$ref": …} to the schema of a record, or of an operation's `suffix`. */
static void put_ref(lc_json_writer *out, const lc_op *op, const lc_record *record,
                    const char *suffix)
{
    char name[NAME_BYTES], ref[NAME_BYTES + 32];

    name_schema(op, suffix, name);
    (void)snprintf(ref, sizeof ref, LC_SCHEMA_REFS "%s",
                   record != NULL && record->name != NULL ? record->name : name);
    lc_jw_object(out);
    lc_jw_member_text(out, "$ref", ref);
    lc_jw_end(out);
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
                          lc_path_has(p->path, param->name);
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
    lc_jw_member_text(out, "description", "Arguments of the operation");
    lc_jw_member_bool(out, "required", lc_schema_needs_args(p->op, p->path));
    lc_jw_name(out, "content");
    lc_jw_object(out);
    lc_jw_name(out, "application/json");
    lc_jw_object(out);
    lc_jw_name(out, "schema");
    put_ref(out, p->op, NULL, "Args");
    put_body_example(p);
    lc_jw_end(out);
    lc_jw_end(out);
    lc_jw_end(out);
}

/* The record is stored; that an answer was stored is said beside it. */
static void put_answer(lc_json_writer *out, const lc_op *op)
{
    if (!lc_op_may_replay(op)) {
        put_ref(out, op, op->answer, "Answer");
        return;
    }
    lc_jw_object(out);
    lc_jw_name(out, "allOf");
    lc_jw_array(out);
    put_ref(out, op, op->answer, "Answer");
    lc_jw_raw(out, LC_STR("{\"$ref\":\"#/components/schemas/Replayed\"}"));
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
    lc_jw_member_text(out, "description", "Answer of the operation");
    lc_jw_name(out, "content");
    lc_jw_object(out);
    lc_jw_name(out, "application/json");
    lc_jw_object(out);
    lc_jw_name(out, "schema");
    put_answer(out, p->op);
    lc_jw_end(out);
    if (lc_str_is(p->path, EVENTS_PATH) && lc_str_is(p->method, "GET"))
        put_stream_content(out);
    if (lc_str_is(p->path, LC_SIGNALS_PATH) && lc_str_is(p->method, "GET"))
        put_signal_content(out);
    if ((p->op->flags & LC_OP_LINES) != 0)
        lc_jw_member_raw(
            out, "application/x-ndjson",
            LC_STR("{\"schema\":{\"type\":\"string\",\"description\":\"One JSON object "
                   "per line. The connection is cut if the operation fails after the "
                   "first line.\"}}"));
    lc_jw_end(out);
    lc_jw_end(out);
    lc_jw_member_raw(out, "4XX", LC_STR("{\"$ref\":\"#/components/responses/Problem\"}"));
    lc_jw_member_raw(out, "5XX", LC_STR("{\"$ref\":\"#/components/responses/Problem\"}"));
    lc_jw_end(out);
}

/* ---- Operations ------------------------------------------------------------------------------ */

/* "fact_write" of fact.write. */
static void put_operation_id(lc_json_writer *out, const char *name)
{
    char id[128];
    size_t len = 0;

    for (; *name != '\0' && len < sizeof id; name++)
        id[len++] = *name == '.' ? '_' : *name;
    lc_jw_member_str(out, "operationId", (loci_str){id, len});
}

static void put_description(lc_json_writer *out, const lc_op *op)
{
    lc_buf text;

    lc_buf_init(&text, out->buf->heap, LOCI_MEM_REQUESTS, 4096);
    lc_buf_append_format(&text, "The operation `%s`. %s", op->name,
                         (op->flags & LC_OP_PROCESS) != 0
                             ? "Changes the running process, not the store."
                         : (op->flags & LC_OP_MUTATES) != 0 ? "Changes the store."
                                                            : "Only reads.");
    if ((op->flags & LC_OP_MUTATES) != 0 && (op->flags & LC_OP_IDEMPOTENT) != 0)
        lc_buf_append(&text, LC_STR(" Idempotent: a repeat has no further effect."));
    if ((op->flags & (LC_OP_ADMIN | LC_OP_TENANT_ADMIN)) != 0)
        lc_buf_append(&text, LC_STR(" Requires the scope `admin`."));
    if ((op->flags & LC_OP_ALONE) != 0)
        lc_buf_append(&text, LC_STR(" Not allowed in a batch."));
    for (const lc_param_rule *rule = op->rules; rule != NULL && rule->kind != LC_RULE_END; rule++) {
        char sentence[LC_RULE_TEXT_BYTES];

        lc_rule_describe(rule, sentence);
        lc_buf_append_format(&text, " %s", sentence);
    }
    lc_jw_member_str(out, "description", lc_buf_str(&text));
    lc_buf_clear(&text);
}

static void put_operation(const page *p)
{
    lc_json_writer *out = p->out;

    lc_jw_object(out);
    put_operation_id(out, p->op->name);
    lc_jw_member_text(out, "summary", p->op->help);
    put_description(out, p->op);
    lc_jw_name(out, "tags");
    lc_jw_array(out);
    lc_jw_str(out, lc_op_noun(p->op));
    lc_jw_end(out);
    put_params(p);
    if (has_body(p->method))
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

/* ---- Paths that are not operations ----------------------------------------------------------- */

#define PROBLEMS                                                                                   \
    "\"4XX\":{\"$ref\":\"#/components/responses/Problem\"},"                                       \
    "\"5XX\":{\"$ref\":\"#/components/responses/Problem\"}"

static const char batch_path[] =
    "{\"post\":{\"operationId\":\"batch\",\"summary\":\"Run up to 100 operations of one user as "
    "one transaction\",\"description\":\"All or nothing. The string argument \\\"$0.id\\\" is "
    "replaced by the member `id` of the first answer. On failure `index` is the number of the "
    "call.\",\"tags\":[\"batch\"],"
    "\"parameters\":[{\"$ref\":\"#/components/parameters/IdempotencyKey\"}],"
    "\"requestBody\":{\"required\":true,\"description\":\"The calls, in order\",\"content\":"
    "{\"application/json\":{\"schema\":{\"type\":\"object\",\"additionalProperties\":false,"
    "\"required\":[\"calls\"],\"properties\":{\"calls\":{\"type\":\"array\",\"minItems\":1,"
    "\"maxItems\":100,\"items\":{\"type\":\"object\",\"additionalProperties\":false,"
    "\"required\":[\"op\"],\"properties\":{\"op\":{\"type\":\"string\",\"description\":\"Name of "
    "the operation, such as fact.write\"},\"args\":{\"type\":\"object\",\"description\":"
    "\"Arguments of the operation\"},\"at\":{\"type\":\"string\",\"format\":\"date-time\","
    "\"description\":\"Time of the call; requires the scope admin\"}}}}}},\"example\":{\"calls\":["
    "{\"op\":\"fact.write\",\"args\":{\"key\":\"city\",\"value\":\"Oslo\"}},"
    "{\"op\":\"fact.get\",\"args\":{\"id\":\"$0.id\"}}]}}}},"
    "\"responses\":{\"200\":{\"description\":\"One answer per call\","
    "\"content\":{\"application/json\":"
    "{\"schema\":{\"type\":\"object\",\"required\":[\"answers\"],\"properties\":{\"answers\":"
    "{\"type\":\"array\",\"items\":{\"type\":\"object\"}},\"replayed\":{\"type\":\"boolean\","
    "\"description\":\"True if the batch was answered from the store\"}}}}}}," PROBLEMS "}}}";

/* A page or probe: GET without credentials, always this content. */
#define PAGE(id, summary, content)                                                                 \
    "{\"get\":{\"operationId\":\"" id "\",\"summary\":\"" summary "\",\"description\":\"" summary  \
    "; requires no credentials.\",\"tags\":[\"daemon\"],\"security\":[],\"responses\":{\"200\":"   \
    "{\"description\":\"OK\",\"content\":{\"" content "\":{\"schema\":{}}}}," PROBLEMS "}}}"

static const char metrics_path[] =
    "{\"get\":{\"operationId\":\"metrics\",\"summary\":\"Return metrics for Prometheus\","
    "\"description\":\"Metrics of all tenants; requires the scope `metrics` or `admin`.\","
    "\"tags\":[\"daemon\"],"
    "\"responses\":{\"200\":{\"description\":\"Metrics\",\"content\":{\"text/plain\":"
    "{\"schema\":{\"type\":\"string\"}}}}," PROBLEMS "}}}";

/* A call by name: one path for all operations, whose arguments and answers their routes describe.
 */
static void put_call_path(lc_json_writer *out)
{
    const lc_op *op;

    lc_jw_name(out, "/v1/call/{op}");
    lc_jw_object(out);
    lc_jw_name(out, "post");
    lc_jw_object(out);
    lc_jw_member_text(out, "operationId", "call");
    lc_jw_member_text(out, "summary", "Run an operation by its name");
    lc_jw_member_text(out, "description",
                      "Takes and returns the same as the route of the operation, with all "
                      "arguments in the body.");
    lc_jw_member_raw(out, "tags", LC_STR("[\"call\"]"));
    lc_jw_name(out, "parameters");
    lc_jw_array(out);
    lc_jw_object(out);
    lc_jw_member_text(out, "name", "op");
    lc_jw_member_text(out, "in", "path");
    lc_jw_member_bool(out, "required", true);
    lc_jw_member_text(out, "description", "Name of the operation");
    lc_jw_name(out, "schema");
    lc_jw_object(out);
    lc_jw_member_text(out, "type", "string");
    lc_jw_name(out, "enum");
    lc_jw_array(out);
    for (size_t i = 0; (op = lc_op_at(i)) != NULL; i++)
        lc_jw_text(out, op->name);
    lc_jw_end(out);
    lc_jw_end(out);
    lc_jw_end(out);
    lc_jw_raw(out, LC_STR("{\"$ref\":\"#/components/parameters/IdempotencyKey\"}"));
    lc_jw_end(out);
    lc_jw_member_raw(
        out, "requestBody",
        LC_STR("{\"description\":\"Arguments of the operation\",\"required\":false,\"content\":{"
               "\"application/json\":{\"schema\":{\"type\":\"object\"}}}}"));
    lc_jw_member_raw(out, "responses",
                     LC_STR("{\"200\":{\"description\":\"Answer of the operation\",\"content\":{"
                            "\"application/json\":{\"schema\":{\"type\":\"object\"}}}}," PROBLEMS
                            "}"));
    lc_jw_end(out);
    lc_jw_end(out);
}

/* ---- Paths ----------------------------------------------------------------------------------- */

/* All operations at the path of lc_op_at(index), unless one before it has this path, too. */
static void put_path(lc_json_writer *out, size_t index)
{
    loci_str method, path, other;
    const lc_op *op;

    if (!lc_op_route(lc_op_at(index), &method, &path))
        return;
    for (size_t i = 0; i < index; i++) {
        if (lc_op_route(lc_op_at(i), &method, &other) && lc_str_eq(path, other))
            return;
    }
    lc_jw_name_str(out, path);
    lc_jw_object(out);
    for (size_t i = index; (op = lc_op_at(i)) != NULL; i++) {
        if (lc_op_route(op, &method, &other) && lc_str_eq(other, path))
            put_op_at(out, op, method, path);
    }
    lc_jw_end(out);
}

static void put_paths(lc_json_writer *out)
{
    lc_jw_name(out, "paths");
    lc_jw_object(out);
    for (size_t i = 0; i < lc_op_count(); i++)
        put_path(out, i);
    put_call_path(out);
    lc_jw_member_raw(out, "/v1/batch", loci_str_of(batch_path));
    lc_jw_member_raw(out, "/metrics", loci_str_of(metrics_path));
    lc_jw_member_raw(out, "/livez",
                     LC_STR(PAGE("livez", "Report whether the process runs", "application/json")));
    lc_jw_member_raw(out, "/healthz",
                     LC_STR(PAGE("healthz", "Report the same as /readyz", "application/json")));
    lc_jw_member_raw(
        out, "/readyz",
        LC_STR(PAGE("readyz", "Report whether requests can be served", "application/json")));
    lc_jw_member_raw(out, "/", LC_STR(PAGE("home", "Return the dashboard", "text/html")));
    lc_jw_member_raw(out, "/start", LC_STR(PAGE("start", "Return the start page", "text/html")));
    lc_jw_member_raw(out, "/docs",
                     LC_STR(PAGE("docs", "Return the reference of all operations", "text/plain")));
    lc_jw_member_raw(out, "/openapi.json",
                     LC_STR(PAGE("openapi", "Return this document", "application/json")));
    lc_jw_end(out);
}

/* ---- The document ---------------------------------------------------------------------------- */

static const char description[] =
    "loci is the state engine for AI agents. Every operation takes one JSON object and returns "
    "one; it is the same from C, on the command line and over HTTP. Each operation has its own "
    "route and can be called by name: `POST /v1/call/{op}`.\n\n"
    "Errors are `application/problem+json` with a stable `code`; a request that failed changed "
    "nothing. A request with an `Idempotency-Key` can be repeated: the repeat returns the first "
    "answer and changes nothing. Every answer has the header `Trace-Id`, which log records and "
    "errors repeat as `trace_id`: that of the header `traceparent`, else of `Trace-Id` or "
    "`X-Request-Id`, else a new one.\n\n"
    "`x-max-bytes` is the limit of a value in bytes of UTF-8 or JSON. Later versions may add "
    "members to answers.";

static void put_info(lc_json_writer *out)
{
    lc_jw_name(out, "info");
    lc_jw_object(out);
    lc_jw_member_text(out, "title", "loci");
    lc_jw_member_text(out, "version", loci_version());
    lc_jw_member_text(out, "summary", "The state engine for AI agents");
    lc_jw_member_text(out, "description", description);
    lc_jw_member_raw(out, "contact", LC_STR("{\"name\":\"loci\"}"));
    lc_jw_member_raw(out, "license",
                     LC_STR("{\"name\":\"Apache 2.0\",\"identifier\":\"Apache-2.0\"}"));
    lc_jw_end(out);
}

static void put_shared(lc_json_writer *out)
{
    lc_jw_member_raw(
        out, "securitySchemes",
        LC_STR("{\"bearer\":{\"type\":\"http\",\"scheme\":\"bearer\",\"description\":"
               "\"A token made by `loci token create`. On the Unix socket the daemon's "
               "own user needs none.\"}}"));
    lc_jw_member_raw(
        out, "parameters",
        LC_STR(
            "{\"IdempotencyKey\":{\"name\":\"Idempotency-Key\",\"in\":\"header\",\"description\":"
            "\"The same as the argument `request_id`: a repeat returns the first answer and "
            "changes nothing\",\"schema\":{\"type\":\"string\",\"minLength\":1,"
            "\"maxLength\":256}}}"));
    lc_jw_member_raw(out, "responses",
                     LC_STR("{\"Problem\":{\"description\":\"Error; nothing was changed\","
                            "\"content\":{\"application/problem+json\":{\"schema\":{\"$ref\":"
                            "\"#/components/schemas/Problem\"}}}}}"));
}

static void put_code(lc_json_writer *out)
{
    const lc_status_row *rows = lc_status_rows();
    lc_buf text;

    lc_buf_init(&text, out->buf->heap, LOCI_MEM_REQUESTS, 64 * 1024);
    lc_jw_name(out, "code");
    lc_jw_object(out);
    lc_jw_member_text(out, "type", "string");
    lc_jw_name(out, "enum");
    lc_jw_array(out);
    for (size_t i = LOCI_OK + 1; i <= LOCI_EINTERNAL; i++) {
        lc_jw_text(out, rows[i].name);
        lc_buf_append_format(&text, "- `%s` (%d): %s\n", rows[i].name, rows[i].http, rows[i].help);
    }
    lc_jw_end(out);
    lc_jw_member_str(out, "description", lc_buf_str(&text));
    lc_jw_end(out);
    lc_buf_clear(&text);
}

static void put_problem_schema(lc_json_writer *out)
{
    lc_jw_name(out, "Replayed");
    lc_jw_object(out);
    lc_jw_member_text(out, "type", "object");
    lc_jw_name(out, "properties");
    lc_jw_object(out);
    lc_jw_name(out, lc_replayed_result.name);
    lc_jw_object(out);
    lc_jw_member_text(out, "type", "boolean");
    lc_jw_member_text(out, "description", lc_replayed_result.help);
    lc_jw_end(out);
    lc_jw_end(out);
    lc_jw_end(out);
    lc_jw_name(out, "Problem");
    lc_jw_object(out);
    lc_jw_member_text(out, "type", "object");
    lc_jw_member_text(out, "description",
                      "Error as in RFC 9457, with its details as further members");
    lc_jw_member_raw(out, "required", LC_STR("[\"title\",\"status\",\"detail\",\"code\"]"));
    lc_jw_name(out, "properties");
    lc_jw_object(out);
    put_code(out);
    lc_jw_member_raw(out, "type", LC_STR("{\"type\":\"string\",\"format\":\"uri-reference\"}"));
    lc_jw_member_raw(out, "title", LC_STR("{\"type\":\"string\"}"));
    lc_jw_member_raw(out, "status", LC_STR("{\"type\":\"integer\"}"));
    lc_jw_member_raw(out, "detail",
                     LC_STR("{\"type\":\"string\",\"description\":\"Explanation of the error\"}"));
    lc_jw_member_raw(
        out, "trace_id",
        LC_STR("{\"type\":\"string\",\"description\":\"Id of the request in the daemon's log\"}"));
    lc_jw_end(out);
    lc_jw_end(out);
}

static void put_tags(lc_json_writer *out)
{
    const lc_op *op;

    lc_jw_name(out, "tags");
    lc_jw_array(out);
    for (size_t i = 0; (op = lc_op_at(i)) != NULL; i++) {
        loci_str noun = lc_op_noun(op);
        char text[128] = "Operations whose names begin with ";
        size_t len = strlen(text);

        if (!lc_op_is_first_of_noun(i))
            continue;
        memcpy(text + len, noun.ptr, noun.len < 64 ? noun.len : 64);
        lc_jw_object(out);
        lc_jw_member_str(out, "name", noun);
        lc_jw_member_text(out, "description", text);
        lc_jw_end(out);
    }
    lc_jw_raw(out, LC_STR("{\"name\":\"call\",\"description\":\"Operations by name\"}"));
    lc_jw_raw(out, LC_STR("{\"name\":\"batch\",\"description\":\"Many operations at once\"}"));
    lc_jw_raw(out, LC_STR("{\"name\":\"daemon\",\"description\":\"The daemon itself\"}"));
    lc_jw_end(out);
}

static void put_components(lc_json_writer *out)
{
    const lc_record *records[LC_SCHEMA_RECORDS_MAX];
    size_t record_count = lc_schema_records(records);
    char name[NAME_BYTES];
    const lc_op *op;

    lc_jw_name(out, "components");
    lc_jw_object(out);
    put_shared(out);
    lc_jw_name(out, "schemas");
    lc_jw_object(out);
    put_problem_schema(out);
    for (size_t i = 0; i < record_count; i++) {
        lc_jw_name(out, records[i]->name);
        lc_schema_record(out, records[i]);
    }
    for (size_t i = 0; (op = lc_op_at(i)) != NULL; i++) {
        loci_str method, path;

        if (!lc_op_route(op, &method, &path))
            continue;
        if (has_body(method)) {
            name_schema(op, "Args", name);
            lc_jw_name(out, name);
            lc_schema_args(out, op, path);
        }
        if (op->answer->name == NULL) {
            name_schema(op, "Answer", name);
            lc_jw_name(out, name);
            lc_schema_record(out, op->answer);
        }
    }
    lc_jw_end(out);
    lc_jw_end(out);
}

void lc_openapi_write(lc_json_writer *out)
{
    lc_jw_object(out);
    lc_jw_member_text(out, "openapi", "3.1.0");
    put_info(out);
    lc_jw_member_raw(out, "servers",
                     LC_STR("[{\"url\":\"/\",\"description\":\"The daemon that serves this\"}]"));
    lc_jw_member_raw(out, "security", LC_STR("[{\"bearer\":[]}]"));
    put_tags(out);
    put_paths(out);
    put_components(out);
    lc_jw_end(out);
}
