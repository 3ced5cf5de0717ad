/* openapi_fixed.c - Written as JSON where nothing is filled in: it can be compared with the
 * specification as it stands. */
#include "server/openapi_fixed.h"

#include "base/error.h"
#include "base/str.h"

static const char description[] =
    "loci is the state engine for AI agents. Every operation takes one JSON object and answers "
    "one; it "
    "is the same from C, on the command line and over HTTP. Each has `POST "
    "/v1/call/{operation}`, most also a route of their own.\n\n"
    "Errors are `application/problem+json` with a stable `code`; an error changed nothing. A "
    "request "
    "with an `Idempotency-Key` can be repeated: it answers the same and changes nothing again. "
    "Every "
    "answer carries `X-Request-Id`.";

void lc_openapi_info(lc_json_writer *out)
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

void lc_openapi_other_tags(lc_json_writer *out)
{
    lc_jw_raw(out, LC_STR("{\"name\":\"batch\",\"description\":\"Many operations at once\"}"));
    lc_jw_raw(out, LC_STR("{\"name\":\"daemon\",\"description\":\"The daemon itself\"}"));
}

/* ---- Routes that are no operation ---------------------------------------------------------------
 */

#define PROBLEMS                                                                                   \
    "\"4XX\":{\"$ref\":\"#/components/responses/Problem\"},"                                       \
    "\"5XX\":{\"$ref\":\"#/components/responses/Problem\"}"

static const char batch_path[] =
    "{\"post\":{\"operationId\":\"batch\",\"summary\":\"Run up to 100 operations of one user as "
    "one "
    "transaction\",\"description\":\"All or nothing. A string argument \\\"$0.id\\\" stands for "
    "the "
    "member `id` of the first answer. On failure `index` names the call.\",\"tags\":[\"batch\"],"
    "\"parameters\":[{\"$ref\":\"#/components/parameters/IdempotencyKey\"}],"
    "\"requestBody\":{\"required\":true,\"description\":\"The calls, in order\",\"content\":"
    "{\"application/json\":{\"schema\":{\"type\":\"object\",\"additionalProperties\":false,"
    "\"required\":[\"calls\"],\"properties\":{\"calls\":{\"type\":\"array\",\"minItems\":1,"
    "\"maxItems\":100,\"items\":{\"type\":\"object\",\"additionalProperties\":false,"
    "\"required\":[\"op\"],\"properties\":{\"op\":{\"type\":\"string\",\"description\":\"Such as "
    "fact.write\"},\"args\":{\"type\":\"object\",\"description\":\"Its arguments\"},"
    "\"at\":{\"type\":"
    "\"string\",\"format\":\"date-time\",\"description\":\"The time it happens at; needs the scope "
    "admin\"}}}}}},\"example\":{\"calls\":[{\"op\":\"fact.write\",\"args\":{\"key\":\"city\","
    "\"value\":\"Oslo\"}},{\"op\":\"fact.get\",\"args\":{\"id\":\"$0.id\"}}]}}}},"
    "\"responses\":{\"200\":{\"description\":\"One answer a call\","
    "\"content\":{\"application/json\":"
    "{\"schema\":{\"type\":\"object\",\"required\":[\"answers\"],\"properties\":{\"answers\":"
    "{\"type\":\"array\",\"items\":{\"type\":\"object\"}}}}}}}," PROBLEMS "}}}";

/* A page or probe: GET without credentials, always this content. */
#define PAGE(id, summary, content)                                                                 \
    "{\"get\":{\"operationId\":\"" id "\",\"summary\":\"" summary "\",\"description\":\"" summary  \
    "; needs no credentials.\",\"tags\":[\"daemon\"],\"security\":[],\"responses\":{\"200\":"      \
    "{\"description\":\"OK\",\"content\":{\"" content "\":{\"schema\":{}}}}," PROBLEMS "}}}"

static const char metrics_path[] =
    "{\"get\":{\"operationId\":\"metrics\",\"summary\":\"Figures in Prometheus' text format\","
    "\"description\":\"About all tenants: needs the scope `admin`.\",\"tags\":[\"daemon\"],"
    "\"responses\":{\"200\":{\"description\":\"The figures\",\"content\":{\"text/plain\":"
    "{\"schema\":{\"type\":\"string\"}}}}," PROBLEMS "}}}";

void lc_openapi_other_paths(lc_json_writer *out)
{
    lc_jw_member_raw(out, "/v1/batch", loci_str_of(batch_path));
    lc_jw_member_raw(out, "/metrics", loci_str_of(metrics_path));
    lc_jw_member_raw(out, "/livez",
                     LC_STR(PAGE("livez", "Whether the process runs", "application/json")));
    lc_jw_member_raw(out, "/readyz",
                     LC_STR(PAGE("readyz", "Whether requests can be served", "application/json")));
    lc_jw_member_raw(out, "/", LC_STR(PAGE("home", "What this is", "text/html")));
    lc_jw_member_raw(out, "/docs",
                     LC_STR(PAGE("docs", "The reference of all operations", "text/plain")));
    lc_jw_member_raw(out, "/openapi.json",
                     LC_STR(PAGE("openapi", "This document", "application/json")));
}

/* ---- Streams*/

void lc_openapi_stream_params(lc_json_writer *out)
{
    lc_jw_raw(out, LC_STR("{\"name\":\"stream\",\"in\":\"query\",\"description\":\"Asks for a "
                          "stream where the header Accept cannot be set\",\"schema\":{\"type\":"
                          "\"boolean\"}}"));
    lc_jw_raw(out,
              LC_STR("{\"name\":\"types\",\"in\":\"query\",\"description\":\"Of a stream: only "
                     "events of these types, separated by commas\",\"schema\":{\"type\":"
                     "\"string\"}}"));
    lc_jw_raw(out, LC_STR("{\"name\":\"heartbeat_ms\",\"in\":\"query\",\"description\":\"Of a "
                          "stream: a comment when nothing was said for so long\",\"schema\":"
                          "{\"type\":\"integer\",\"minimum\":100,\"maximum\":300000,\"default\":"
                          "15000}}"));
    lc_jw_raw(out, LC_STR("{\"name\":\"Last-Event-ID\",\"in\":\"header\",\"description\":\"Of a "
                          "stream: the last id that was seen; outranks `after_seq`\",\"schema\":"
                          "{\"type\":\"integer\",\"format\":\"int64\",\"minimum\":0}}"));
}

void lc_openapi_stream_content(lc_json_writer *out)
{
    lc_jw_member_raw(
        out, "text/event-stream",
        LC_STR(
            "{\"schema\":{\"type\":\"string\",\"description\":\"With `Accept: "
            "text/event-stream` the connection stays open. Of one user (`user_id`): `id` is the "
            "event's seq, `event` its type, `data` the event as event.list shows it, from "
            "`after_seq` or Last-Event-ID on, else what is new. Without `user_id`, for callers not "
            "narrowed to a user: the events of all users, live and without ids. `event: reset` "
            "says that some were missed.\"},\"example\":\"id: 7\\nevent: fact.written\\ndata: "
            "{\\\"user_id\\\":\\\"default\\\",\\\"seq\\\":7}\\n\\n\"}"));
}

/* ---- Shared*/

void lc_openapi_problem_responses(lc_json_writer *out)
{
    lc_jw_member_raw(out, "4XX", LC_STR("{\"$ref\":\"#/components/responses/Problem\"}"));
    lc_jw_member_raw(out, "5XX", LC_STR("{\"$ref\":\"#/components/responses/Problem\"}"));
}

void lc_openapi_shared(lc_json_writer *out)
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
            "\"The same as the argument `request_id`: a repeat with the same one answers the same "
            "and changes nothing again\",\"schema\":{\"type\":\"string\",\"minLength\":1,"
            "\"maxLength\":256}}}"));
    lc_jw_member_raw(
        out, "responses",
        LC_STR("{\"Problem\":{\"description\":\"Nothing was changed; `code` and `detail` say why\","
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

void lc_openapi_problem_schema(lc_json_writer *out)
{
    lc_jw_name(out, "Problem");
    lc_jw_object(out);
    lc_jw_member_text(out, "type", "object");
    lc_jw_member_text(out, "description",
                      "RFC 9457, with the particulars of the error as further members");
    lc_jw_member_raw(out, "required", LC_STR("[\"title\",\"status\",\"detail\",\"code\"]"));
    lc_jw_name(out, "properties");
    lc_jw_object(out);
    put_code(out);
    lc_jw_member_raw(out, "type", LC_STR("{\"type\":\"string\",\"format\":\"uri-reference\"}"));
    lc_jw_member_raw(out, "title", LC_STR("{\"type\":\"string\"}"));
    lc_jw_member_raw(out, "status", LC_STR("{\"type\":\"integer\"}"));
    lc_jw_member_raw(
        out, "detail",
        LC_STR("{\"type\":\"string\",\"description\":\"For the person who wrote the request\"}"));
    lc_jw_member_raw(out, "request_id",
                     LC_STR("{\"type\":\"string\",\"description\":\"As in the daemon's log\"}"));
    lc_jw_end(out);
    lc_jw_end(out);
}
