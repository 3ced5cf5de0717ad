/* pages.c - everything that needs no credentials: what this is, the reference, the OpenAPI document
 * and the probes. They show nothing of what is stored. A page is written again for each request;
 * that takes less time than a cache would be worth. */
#include "server/parts.h"

#include <stdio.h>

#include "base/error.h"
#include "base/json.h"
#include "base/str.h"
#include "ops/reference.h"
#include "ops/surface.h"
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

/* No script, no style sheet, nothing loaded: the browser's own look does. */
static const char home_begin[] =
    "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; base-uri 'none'; "
    "form-action 'none'\">\n<title>loci</title>\n</head>\n<body>\n<h1>loci ";

static const char home_rest[] =
    "</h1>\n"
    "<p>The state engine for AI agents: facts, sessions and context windows, kept in one event log "
    "from which every past state can be rebuilt.</p>\n"
    "<ul>\n"
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
    "order, after <code>Last-Event-ID</code> or <code>after</code> if given. Without "
    "<code>user_id</code> it sends new events of all users; <code>event: reset</code> means that "
    "some were missed.</p>\n"
    "<pre>curl -N -H \"Authorization: Bearer $LOCI_TOKEN\" -H \"Accept: text/event-stream\" \\\n"
    "     \"$LOCI_URL/v1/events?user_id=default&amp;after=0\"</pre>\n"
    "</body>\n</html>\n";

static void write_home(lc_buf *out)
{
    lc_buf_append(out, loci_str_of(home_begin));
    lc_buf_append(out, loci_str_of(loci_version()));
    lc_buf_append(out, loci_str_of(home_rest));
}

static void write_openapi(lc_buf *out)
{
    lc_json_writer w;

    lc_jw_init(&w, out);
    lc_openapi_write(&w);
    lc_buf_append_byte(out, '\n');
}

/* The reference is Markdown; as plain text a browser shows it instead of saving it. */
static const page table[] = {
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

bool lc_pages_handle(lc_http_request *request)
{
    lc_access_record *record = lc_http_state(request);
    loci_str method = lc_http_method(request);

    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        if (!lc_str_is(lc_http_path(request), table[i].path))
            continue;
        record->route = loci_str_of(table[i].path);
        if (lc_str_is(method, "GET") || lc_str_is(method, "HEAD"))
            answer_page(request, &table[i]);
        else if (lc_str_is(method, "OPTIONS"))
            lc_http_answer(request, &(lc_http_reply){.status = 204, .allow = "GET, HEAD, OPTIONS"});
        else
            lc_reply_method_not_allowed(request, "GET, HEAD, OPTIONS");
        return true;
    }
    return false;
}

/* ---- Probes ---------------------------------------------------------------------------------- */

void lc_pages_live(lc_http_request *request)
{
    char text[64];

    (void)snprintf(text, sizeof text, "{\"alive\":true,\"version\":\"%s\"}", loci_version());
    lc_reply_json(request, loci_str_of(text));
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
        lc_reply_json(request, LC_STR("{\"ready\":true}"));
    else
        lc_reply_error(request, &answer);
    return failure == NULL ? status : LOCI_OK;
}
