/* http_problem.c - errors as RFC 9457 has them, with loci's code and particulars as members. */
#include "server/http_private.h"

#include "base/json.h"
#include "base/str.h"

#define PROBLEM_BYTES_MAX (64u * 1024)

static bool is_taken(loci_str name)
{
    static const char *const names[] = {"type", "title",      "status", "detail",
                                        "code", "request_id", NULL};

    for (size_t i = 0; names[i] != NULL; i++) {
        if (lc_str_is(name, names[i]))
            return true;
    }
    return false;
}

static void write_data(lc_json_writer *w, lc_arena *scratch, const char *json)
{
    const lc_json *data;

    if (json == NULL || json[0] == '\0' ||
        lc_json_parse(scratch, loci_str_of(json), LC_JSON_ALLOW_NUL, &data, NULL) != LOCI_OK ||
        lc_json_kind_of(data) != LC_JSON_OBJECT)
        return;
    for (const lc_json *member = lc_json_first(data); member != NULL;
         member = lc_json_next(member)) {
        if (is_taken(lc_json_name(member)))
            continue;
        lc_jw_name_str(w, lc_json_name(member));
        lc_jw_value(w, member);
    }
}

void lc_problem_write(const lc_problem *problem, lc_arena *scratch, lc_buf *out)
{
    lc_json_writer w;

    lc_jw_init(&w, out);
    lc_jw_object(&w);
    lc_jw_member_text(&w, "type", "about:blank");
    lc_jw_member_text(&w, "title", problem->title);
    lc_jw_member_int(&w, "status", problem->http_status);
    lc_jw_member_text(&w, "detail", problem->detail);
    lc_jw_member_text(&w, "code", loci_status_name(problem->code));
    if (problem->request_id != NULL)
        lc_jw_member_text(&w, "request_id", problem->request_id);
    write_data(&w, scratch, problem->data);
    lc_jw_end(&w);
}

void lc_http_answer_error(lc_http_request *request, const loci_error *err)
{
    lc_http_reply reply = {.status = loci_status_http(err->status),
                           .content_type = "application/problem+json",
                           .authenticate = err->status == LOCI_EAUTH ? "Bearer" : NULL,
                           .retry_after_s = err->status == LOCI_EUNAVAILABLE ? 1 : 0};
    lc_problem problem = {.http_status = reply.status,
                          .title = lc_http_title(reply.status),
                          .code = err->status,
                          .detail = err->message,
                          .request_id = request->id,
                          .data = err->data};
    lc_buf text;

    lc_buf_init(&text, request->arena.heap, LOCI_MEM_REQUESTS, PROBLEM_BYTES_MAX);
    lc_problem_write(&problem, &request->arena, &text);
    if (lc_buf_status(&text, NULL) == LOCI_OK)
        reply.body = lc_buf_str(&text);
    lc_http_answer(request, &reply);
    lc_buf_clear(&text);
}
