/* pages.c - the pages that need no credentials: the dashboard, the start page, the reference, the
 * OpenAPI document and the probes. They show no stored data; the dashboard asks for it with the
 * token of its user. A page is generated for each request, which is cheap enough without a cache;
 * the dashboard's files are part of the program (server/dashboard.h). */
#include "server/parts.h"

#include <stdio.h>

#include "base/error.h"
#include "base/json.h"
#include "base/str.h"
#include "ops/reference.h"
#include "ops/surface.h"
#include "server/dashboard.h"
#include "server/http_reply.h"
#include "server/openapi.h"

#define PAGE_BYTES_MAX (16u * 1024 * 1024)

/* A store that takes longer than this for one row is not ready. The read runs on the loop's thread
 * and blocks it for as long. */
#define PROBE_MS 250

typedef struct page {
    const char *path;
    const char *content_type;
    void (*write)(lc_buf *out);
} page;

/* Only its own script, its own style sheet and its own daemon; no text becomes HTML or script. */
#define DASHBOARD_POLICY                                                                           \
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "                    \
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "            \
    "require-trusted-types-for 'script'; trusted-types 'none'"

/* No script, no style sheet, nothing loaded: the browser's own look does. */
static const char home_begin[] =
    "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; base-uri 'none'; "
    "form-action 'none'\">\n<title>loci</title>\n</head>\n<body>\n<h1>loci ";

static const char home_rest[] =
    "<p>The state engine for AI agents: facts, sessions and context windows, kept in one event log "
    "from which every past state can be rebuilt.</p>\n"
    "<ul>\n"
    "<li><a href=\"/\">/</a>: the dashboard</li>\n"
    "<li><a href=\"/docs\">/docs</a>: all operations, errors and settings</li>\n"
    "<li><a href=\"/openapi.json\">/openapi.json</a>: the same as OpenAPI 3.1</li>\n"
    "<li><a href=\"/metrics\">/metrics</a>: figures in Prometheus' text format; needs a token with "
    "the scope <code>metrics</code></li>\n"
    "<li><a href=\"/livez\">/livez</a>: 200 while the process runs</li>\n"
    "<li><a href=\"/readyz\">/readyz</a>: 200 while the store answers, 503 otherwise</li>\n"
    "</ul>\n"
    "<p>Calls need a token; <code>loci token create --name NAME</code> prints one.</p>\n"
    "<pre>export LOCI_URL=http://127.0.0.1:7077 LOCI_TOKEN=…\n"
    "curl -H \"Authorization: Bearer $LOCI_TOKEN\" $LOCI_URL/v1/call/fact.write \\\n"
    "     --json '{\"key\":\"city\",\"value\":\"Oslo\"}'</pre>\n"
    "<p>A batch runs up to 100 calls of one user in one transaction, all or nothing. The string "
    "<code>\"$0.id\"</code> is replaced by the member <code>id</code> of the first answer.</p>\n"
    "<pre>curl -H \"Authorization: Bearer $LOCI_TOKEN\" $LOCI_URL/v1/batch --json '{\"calls\":[\n"
    "  {\"op\":\"fact.write\",\"args\":{\"key\":\"city\",\"value\":\"Oslo\"}},\n"
    "  {\"op\":\"fact.get\",\"args\":{\"id\":\"$0.id\"}}]}'</pre>\n"
    "<p>With <code>Accept: text/event-stream</code>, <code>/v1/events</code> is a stream of "
    "server-sent events. For one user (<code>user_id</code>) every event is sent once and in "
    "order, after <code>Last-Event-ID</code> or <code>after_seq</code> if given. Without "
    "<code>user_id</code> it sends new events of all users; <code>event: reset</code> means that "
    "some were missed.</p>\n"
    "<pre>curl -N -H \"Authorization: Bearer $LOCI_TOKEN\" -H \"Accept: text/event-stream\" \\\n"
    "     \"$LOCI_URL/v1/events?user_id=default&amp;after_seq=0\"</pre>\n"
    "</body>\n</html>\n";

static void write_home(lc_buf *out)
{
    lc_buf_append(out, loci_str_of(home_begin));
    lc_buf_append(out, loci_str_of(loci_version()));
    lc_buf_append(out, loci_str_of("</h1>\n"));
    if (lc_dashboard_file_count == 0)
        lc_buf_append_format(out,
                             "<p>This build has no dashboard: %s. Install Node.js and npm, then "
                             "build again with <code>cmake --build DIR --target dashboard loci"
                             "</code>.</p>\n",
                             lc_dashboard_missing);
    lc_buf_append(out, loci_str_of(home_rest));
}

static void write_openapi(lc_buf *out)
{
    lc_json_writer w;

    lc_jw_init(&w, out);
    lc_openapi_write(&w);
    lc_buf_append_byte(out, '\n');
}

/* The reference is Markdown; as plain text a browser shows it instead of saving it. The start page
 * is also at "/" of a build without the dashboard. */
static const page table[] = {
    {"/start", "text/html; charset=utf-8", write_home},
    {"/", "text/html; charset=utf-8", write_home},
    {"/docs", "text/plain; charset=utf-8", lc_reference_markdown},
    {"/openapi.json", "application/json", write_openapi},
};

static void answer_page(lc_http_request *request, const page *p)
{
    loci_error err;
    lc_buf out;

    lc_buf_init(&out, lc_http_arena(request)->heap, LOCI_MEM_REQUESTS, PAGE_BYTES_MAX);
    p->write(&out);
    if (lc_buf_status(&out, &err) == LOCI_OK)
        lc_http_answer(request, &(lc_http_reply){.status = 200,
                                                 .content_type = p->content_type,
                                                 .body = lc_buf_str(&out),
                                                 .cache_control = "no-cache"});
    else
        lc_reply_error(request, &err);
    lc_buf_clear(&out);
}

static void answer_file(lc_http_request *request, const lc_dashboard_file *file)
{
    loci_str packed = {(const char *)file->gzip, file->gzip_bytes};
    lc_http_reply reply = {.status = 200,
                           .content_type = file->content_type,
                           .body = packed,
                           .is_gzip = lc_http_accepts_gzip(request),
                           .etag = file->etag,
                           .content_security_policy = DASHBOARD_POLICY,
                           .cache_control = "no-cache"};
    loci_error err;

    if (lc_str_is(lc_http_header(request, "If-None-Match"), file->etag)) {
        reply.status = 304;
        reply.body = LC_STR_NONE;
        reply.is_gzip = false;
    } else if (!reply.is_gzip &&
               !lc_gzip_unpack(lc_http_arena(request), packed, file->bytes, &reply.body)) {
        (void)lc_fail_memory(&err);
        lc_reply_error(request, &err);
        return;
    }
    lc_http_answer(request, &reply);
}

bool lc_pages_handle(lc_http_request *request)
{
    lc_access_record *record = lc_http_state(request);
    loci_str method = lc_http_method(request);
    loci_str path = lc_http_path(request);
    const lc_dashboard_file *file = NULL;
    const page *found = NULL;

    for (size_t i = 0; i < lc_dashboard_file_count && file == NULL; i++) {
        if (lc_str_is(path, lc_dashboard_files[i].path))
            file = &lc_dashboard_files[i];
    }
    for (size_t i = 0; i < sizeof table / sizeof table[0] && found == NULL; i++) {
        if (lc_str_is(path, table[i].path))
            found = &table[i];
    }
    if (file == NULL && found == NULL)
        return false;
    record->route = loci_str_of(file != NULL ? file->path : found->path);
    if (lc_str_is(method, "OPTIONS"))
        lc_http_answer(request, &(lc_http_reply){.status = 204, .allow = "GET, HEAD, OPTIONS"});
    else if (!lc_str_is(method, "GET") && !lc_str_is(method, "HEAD"))
        lc_reply_method_not_allowed(request, "GET, HEAD, OPTIONS");
    else if (file != NULL)
        answer_file(request, file);
    else
        answer_page(request, found);
    return true;
}

/* ---- Probes ---------------------------------------------------------------------------------- */

void lc_pages_live(lc_http_request *request)
{
    char text[64];

    (void)snprintf(text, sizeof text, "{\"alive\":true,\"version\":\"%s\"}", loci_version());
    lc_reply_json(request, loci_str_of(text), false);
}

loci_status lc_pages_ready(lc_server *server, lc_http_request *request, const loci_error *failure,
                           loci_error *err)
{
    loci_status status = failure == NULL ? lc_probe_store(server->engine, PROBE_MS, err)
                                         : failure->status;
    loci_error answer;

    if (atomic_load(&server->is_draining))
        (void)lc_fail(&answer, LOCI_EUNAVAILABLE, "the daemon is shutting down");
    else /* No credentials are needed to ask, so the details are in the log only. */
        (void)lc_fail(&answer, LOCI_EUNAVAILABLE, "the store does not answer: %s",
                      loci_status_name(status));
    if (status == LOCI_OK && !atomic_load(&server->is_draining))
        lc_reply_json(request, LC_STR("{\"ready\":true}"), false);
    else
        lc_reply_error(request, &answer);
    return failure == NULL ? status : LOCI_OK;
}
