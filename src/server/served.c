#include "server/served.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/json.h"
#include "base/str.h"

lc_served *lc_served_begin(lc_http_request *request)
{
    lc_served *served = lc_arena_alloc(lc_http_arena(request), sizeof *served);

    if (served != NULL)
        *served = (lc_served){.started_us = lc_clock_monotonic_us(), .route = LC_STR("-")};
    lc_http_set_state(request, served);
    return served;
}

/* A method is the client's text: only those that mean something here are written down. */
static const char *method_name(const lc_http_request *request)
{
    static const char *const known[] = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"};

    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (lc_str_is(lc_http_method(request), known[i]))
            return known[i];
    }
    return "other";
}

void lc_served_end(void *ctx, const lc_http_request *request, int status, size_t bytes)
{
    static const lc_served nothing = {.route = {"-", 1}};
    lc_server *server = ctx;
    const lc_served *served = lc_http_state(request);
    int64_t took_us;

    if (served == NULL)
        served = &nothing;
    took_us = served->started_us > 0 ? lc_clock_monotonic_us() - served->started_us : 0;
    if (server->metrics != NULL)
        lc_metrics_count(server->metrics, served->operation, status, took_us);
    lc_log_write(&server->env->log, status >= 500 ? LOCI_LOG_WARN : LOCI_LOG_INFO, "http.request",
                 LC_LOG_TEXT("request_id", lc_http_request_id(request)),
                 LC_LOG_TEXT("method", method_name(request)), LC_LOG_STR("route", served->route),
                 LC_LOG_INT("status", status),
                 LC_LOG_TEXT("code", served->code != NULL ? served->code : "ok"),
                 LC_LOG_INT("took_us", took_us), LC_LOG_INT("bytes", (int64_t)bytes),
                 LC_LOG_TEXT("token_id", served->token_id != NULL ? served->token_id : "-"));
}

static void note_code(lc_http_request *request, loci_status status)
{
    lc_served *served = lc_http_state(request);

    if (served != NULL)
        served->code = loci_status_name(status);
}

void lc_served_fail(lc_http_request *request, const loci_error *err)
{
    note_code(request, err->status);
    lc_http_answer_error(request, err);
}

void lc_served_json(lc_http_request *request, loci_str json)
{
    lc_http_answer(
        request, &(lc_http_reply){.status = 200, .content_type = "application/json", .body = json});
}

void lc_served_refuse_method(lc_http_request *request, const char *allow)
{
    lc_json_writer w;
    loci_error err;
    lc_buf body;

    note_code(request, LOCI_EUNSUPPORTED);
    lc_buf_init(&body, lc_http_arena(request)->heap, LOCI_MEM_REQUESTS, 4096);
    lc_jw_init(&w, &body);
    lc_jw_object(&w);
    lc_jw_member_text(&w, "type", "about:blank");
    lc_jw_member_text(&w, "title", "Method Not Allowed");
    lc_jw_member_int(&w, "status", 405);
    (void)lc_fail(&err, LOCI_EUNSUPPORTED, "this path takes %s", allow);
    lc_jw_member_text(&w, "detail", err.message);
    lc_jw_member_text(&w, "code", loci_status_name(LOCI_EUNSUPPORTED));
    lc_jw_member_text(&w, "request_id", lc_http_request_id(request));
    lc_jw_end(&w);
    if (lc_buf_status(&body, &err) != LOCI_OK)
        lc_http_answer_error(request, &err);
    else
        lc_http_answer(request, &(lc_http_reply){.status = 405,
                                                 .content_type = "application/problem+json",
                                                 .body = lc_buf_str(&body),
                                                 .allow = allow});
    lc_buf_clear(&body);
}
