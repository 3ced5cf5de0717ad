/* link.c - see link.h. */
#include "cli/link.h"

#include <stdio.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/str.h"
#include "cli/opening.h"
#include "net/fetch.h"

static int64_t ms_left(const lc_link *link)
{
    int64_t left_us = link->deadline_us - lc_clock_monotonic_us();

    return left_us > 1000 ? left_us / 1000 : 1;
}

/* ---- A daemon -------------------------------------------------------------------------------- */

/* Whether a daemon of the store answers on its socket. */
static bool find_daemon(lc_link *link, const char *store)
{
    lc_cli *cli = link->cli;
    const char *path = NULL;
    int http_status = 0;
    char url[4096 + 8];
    lc_buf answer;
    bool is_there;

    if (cli->globals.tenant != NULL || cli->globals.set_count > 0 ||
        cli->globals.config_file != NULL ||
        lc_socket_path_find(cli, store, &path, NULL) != LOCI_OK || path == NULL)
        return false;
    (void)snprintf(url, sizeof url, "unix:%s", path); /* A socket's path is short. */
    link->url = lc_arena_copy(cli->arena, loci_str_of(url)).ptr;
    if (link->url == NULL)
        return false;
    lc_buf_init(&answer, cli->heap, LOCI_MEM_REQUESTS, 64u * 1024);
    is_there = lc_fetch_run(&(lc_fetch){.url = link->url,
                                        .method = "GET",
                                        .path = "/readyz",
                                        .timeout_ms = ms_left(link)},
                            &http_status, &answer, NULL) == LOCI_OK &&
               http_status == 200;
    lc_buf_clear(&answer);
    return is_there;
}

/* The status of a code such as "not_found". */
static loci_status status_of(loci_str code)
{
    for (int status = LOCI_EINVAL; status <= LOCI_EINTERNAL; status++)
        if (lc_str_is(code, loci_status_name((loci_status)status)))
            return (loci_status)status;
    return LOCI_EUNAVAILABLE;
}

/* The error of a daemon's answer: problem+json with code, detail and index. */
static loci_status read_problem(lc_link *link, int http_status, loci_str body, loci_error *err)
{
    lc_arena *arena = link->cli->arena;
    lc_arena_mark mark = lc_arena_get_mark(arena);
    const lc_json *json = NULL, *code = NULL, *detail = NULL, *index = NULL;
    loci_status status;
    char data[64];

    if (lc_json_parse(arena, body, 0, &json, NULL) == LOCI_OK) {
        code = lc_json_find(json, "code", LC_JSON_STRING);
        detail = lc_json_find(json, "detail", LC_JSON_STRING);
        index = lc_json_find(json, "index", LC_JSON_INT);
    }
    status = lc_fail(err, code != NULL ? status_of(lc_json_str(code)) : LOCI_EUNAVAILABLE,
                     "the daemon answers %d: %.*s", http_status,
                     LC_STR_ARG(detail != NULL ? lc_json_str(detail) : LC_STR("no reason given")));
    if (index != NULL) {
        int len = snprintf(data, sizeof data, "{\"index\":%lld}", (long long)lc_json_int(index));

        lc_error_set_data(err, (loci_str){data, (size_t)len});
    }
    lc_arena_rewind(arena, mark);
    return status;
}

static void write_calls(const lc_link_call *calls, size_t count, lc_buf *out)
{
    lc_json_writer w;

    lc_jw_init(&w, out);
    lc_jw_object(&w);
    lc_jw_name(&w, "calls");
    lc_jw_array(&w);
    for (size_t i = 0; i < count; i++) {
        lc_jw_object(&w);
        lc_jw_member_text(&w, "op", calls[i].operation);
        lc_jw_member_raw(&w, "args", calls[i].args);
        lc_jw_end(&w);
    }
    lc_jw_end(&w);
    lc_jw_end(&w);
}

/* The array in {"answers":[…]}, or an array of the one answer. */
static loci_status read_answers(loci_str body, bool is_one, lc_buf *out, loci_error *err)
{
    static const char head[] = "{\"answers\":";

    if (is_one) {
        lc_buf_append_byte(out, '[');
        lc_buf_append(out, body);
        lc_buf_append_byte(out, ']');
        return lc_buf_status(out, err);
    }
    if (!lc_str_starts(body, (loci_str){head, sizeof head - 1}) || body.ptr[body.len - 1] != '}')
        return lc_fail(err, LOCI_ECORRUPT, "the daemon's answer is not a batch");
    lc_buf_append(out, (loci_str){body.ptr + sizeof head - 1, body.len - sizeof head});
    return lc_buf_status(out, err);
}

static loci_status run_in_daemon(lc_link *link, const lc_link_call *calls, size_t count,
                                 const char *client, lc_buf *out, loci_error *err)
{
    lc_fetch fetch = {.url = link->url,
                      .method = "POST",
                      .path = "/v1/batch",
                      .client = loci_str_of(client),
                      .timeout_ms = ms_left(link)};
    char path[128];
    int http_status = 0;
    loci_status status;
    lc_buf body, answer;

    if (count == 1) {
        (void)snprintf(path, sizeof path, "/v1/call/%s", calls[0].operation); /* Names are short. */
        fetch.path = path;
    }
    lc_buf_init(&body, link->cli->heap, LOCI_MEM_REQUESTS, LC_JSON_BYTES_MAX);
    lc_buf_init(&answer, link->cli->heap, LOCI_MEM_REQUESTS, LC_ANSWER_BYTES_MAX);
    if (count == 1)
        lc_buf_append(&body, calls[0].args);
    else
        write_calls(calls, count, &body);
    status = lc_buf_status(&body, err);
    if (status == LOCI_OK) {
        fetch.body = lc_buf_str(&body);
        status = lc_fetch_run(&fetch, &http_status, &answer, err);
    }
    if (status == LOCI_OK && http_status != 200)
        status = read_problem(link, http_status, lc_buf_str(&answer), err);
    if (status == LOCI_OK)
        status = read_answers(lc_str_trim(lc_buf_str(&answer)), count == 1, out, err);
    lc_buf_clear(&answer);
    lc_buf_clear(&body);
    return status;
}

/* ---- The store ------------------------------------------------------------------------------- */

static loci_status run_in_store(lc_link *link, const lc_link_call *calls, size_t count,
                                const char *client, lc_buf *out, loci_error *err)
{
    loci_call_options options = LOCI_CALL_OPTIONS_INIT;
    loci_request requests[LC_CALLS_PER_BATCH_MAX];
    loci_answer *answer = NULL;
    loci_status status;

    for (size_t i = 0; i < count; i++)
        requests[i] = (loci_request){calls[i].operation, calls[i].args, LOCI_AT_CLOCK};
    options.client = client;
    options.timeout_ms = ms_left(link);
    options.cancel = lc_interrupt_flag();
    /* Alone, a search embeds its query before it takes a snapshot; in a batch it cannot. */
    if (count == 1)
        status = loci_call(link->engine, requests[0].operation, requests[0].args, &options, &answer,
                           err);
    else
        status = loci_call_many(link->engine, requests, count, &options, &answer, err);
    if (status == LOCI_OK) {
        lc_buf_append(out, count == 1 ? LC_STR("[") : LC_STR(""));
        lc_buf_append(out, loci_answer_json(answer));
        lc_buf_append(out, count == 1 ? LC_STR("]") : LC_STR(""));
        status = lc_buf_status(out, err);
    }
    loci_answer_free(answer);
    return status;
}

/* ---- Both ------------------------------------------------------------------------------------ */

loci_status lc_link_open(lc_link *out, lc_cli *cli, int64_t deadline_us, loci_error *err)
{
    lc_store_path path;
    loci_status status = lc_store_path_find(cli, &path, err);

    *out = (lc_link){.cli = cli, .deadline_us = deadline_us};
    if (status != LOCI_OK || find_daemon(out, path.text))
        return status;
    out->url = NULL;
    return lc_opening_run(
        cli, &(lc_opening){.flags = LOCI_OPEN_INLINE | LOCI_OPEN_EXISTING, .is_silent = true},
        &out->engine, err);
}

void lc_link_close(lc_link *link)
{
    loci_close(link->engine);
    *link = (lc_link){0};
}

loci_status lc_link_run(lc_link *link, const lc_link_call *calls, size_t count, const char *client,
                        lc_buf *out, loci_error *err)
{
    return link->engine == NULL ? run_in_daemon(link, calls, count, client, out, err)
                                : run_in_store(link, calls, count, client, out, err);
}
