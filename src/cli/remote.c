/* remote.c - see remote.h.
 *
 * A connection that was kept may have been closed by the daemon while it was idle: then the call is
 * sent once more on a new one. When a call fails in a way that two versions of loci could explain,
 * the daemon is asked for its version, and the message says so if it is another one: calls that
 * succeed do not pay for that.
 */
#include "cli/remote.h"

#include <stdio.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/random.h"
#include "base/str.h"
#include "base/time.h"
#include "cli/input.h"
#include "ops/op.h"

#define CONNECT_MS 10000 /* It may be on another continent. */
#define VERSION_MS 2000
#define VERSION_BYTES_MAX 4096
#define TOKEN_BYTES_MAX 4096

/* ---- Which daemon ---------------------------------------------------------------------------- */

const char *lc_remote_url(const lc_cli *cli)
{
    if (cli->globals.url != NULL || cli->globals.store != NULL)
        return cli->globals.url;
    return lc_cli_variable("LOCI_URL");
}

const char *lc_remote_origin(const lc_cli *cli)
{
    return cli->globals.url != NULL ? "--url" : "LOCI_URL";
}

static loci_status check_options(const lc_cli *cli, loci_error *err)
{
    const lc_globals *globals = &cli->globals;

    if (globals->url == NULL && lc_cli_variable("LOCI_STORE") != NULL)
        return lc_fail(err, LOCI_EINVAL,
                       "LOCI_URL and LOCI_STORE are both set: unset one of them, or pass --url or "
                       "--store");
    if (globals->tenant != NULL)
        return lc_fail(err, LOCI_EINVAL,
                       "a daemon takes the tenant from the token: do not set --tenant or "
                       "LOCI_TENANT with a URL");
    if (globals->config_file != NULL && globals->config_file != lc_cli_variable("LOCI_CONFIG"))
        return lc_fail(err, LOCI_EINVAL,
                       "a daemon has its own settings: do not pass --config with a URL");
    for (size_t i = 0; i < globals->set_count; i++) {
        if (!lc_str_starts(loci_str_of(globals->sets[i]), LC_STR("call.timeout_ms=")))
            return lc_fail(err, LOCI_EINVAL,
                           "a daemon has its own settings: --set can only set call.timeout_ms with "
                           "a URL; `loci config set` changes the others");
    }
    return LOCI_OK;
}

/* Header fields end at a line break: a token with one could add fields. */
static loci_status check_token(loci_str token, const char *origin, loci_error *err)
{
    for (size_t i = 0; i < token.len; i++) {
        if (token.ptr[i] <= ' ' || token.ptr[i] == 0x7f)
            return lc_fail(err, LOCI_EINVAL,
                           "%s has no token: it contains white space or a "
                           "character that no token has",
                           origin);
    }
    if (token.len > TOKEN_BYTES_MAX)
        return lc_fail(err, LOCI_ELIMIT, "%s has no token: it is too long", origin);
    return LOCI_OK;
}

loci_status lc_remote_find(lc_cli *cli, lc_endpoint *out, loci_error *err)
{
    const char *plain = lc_cli_variable("LOCI_PLAIN_HTTP");
    const char *token_file = cli->globals.token_file;
    lc_endpoint to = {.url = lc_remote_url(cli),
                      .token = lc_str_trim(loci_str_of(lc_cli_variable("LOCI_TOKEN"))),
                      .ca_file = lc_cli_variable("LOCI_CA_FILE"),
                      .allows_plain = plain != NULL && strcmp(plain, "on") == 0,
                      .connect_ms = CONNECT_MS,
                      .cancel = lc_interrupt_flag()};
    loci_status status = lc_fetch_check_url(to.url, err);

    if (status == LOCI_OK)
        status = check_options(cli, err);
    if (status == LOCI_OK && token_file != NULL)
        status = lc_token_file_read(cli, token_file, &to.token, err);
    if (status == LOCI_OK)
        status = check_token(to.token, token_file != NULL ? token_file : "LOCI_TOKEN", err);
    if (status == LOCI_OK)
        *out = to;
    return status;
}

loci_status lc_remote_refuse(const lc_cli *cli, const char *what, loci_error *err)
{
    if (lc_remote_url(cli) == NULL)
        return LOCI_OK;
    return lc_fail(err, LOCI_EUNSUPPORTED,
                   "%s needs the store itself, not a daemon: run it on the machine of the store, "
                   "%s",
                   what,
                   cli->globals.url != NULL ? "with --store" : "with --store or without LOCI_URL");
}

/* ---- Errors ---------------------------------------------------------------------------------- */

/* Members of a problem document that are particulars of the error. */
static void read_data(lc_arena *arena, const lc_json *problem, loci_error *err)
{
    static const char *const own[] = {"type", "title", "status", "detail", "code", "trace_id"};
    lc_json_writer w;
    lc_buf data;

    lc_buf_init(&data, arena->heap, LOCI_MEM_REQUESTS, LOCI_ERROR_DATA_BYTES);
    lc_jw_init(&w, &data);
    lc_jw_object(&w);
    for (const lc_json *at = lc_json_first(problem); at != NULL; at = lc_json_next(at)) {
        size_t i = 0;

        while (i < sizeof own / sizeof own[0] && !lc_str_is(lc_json_name(at), own[i]))
            i++;
        if (i < sizeof own / sizeof own[0])
            continue;
        lc_jw_name_str(&w, lc_json_name(at));
        lc_jw_value(&w, at);
    }
    lc_jw_end(&w);
    if (lc_buf_status(&data, NULL) == LOCI_OK && data.len > 2)
        lc_error_set_data(err, lc_buf_str(&data));
    lc_buf_clear(&data);
}

static loci_status fail_foreign(const lc_endpoint *to, int http_status, loci_error *err)
{
    if (http_status >= 502 && http_status <= 504)
        return lc_fail(err, LOCI_EUNAVAILABLE,
                       "%s answers with HTTP status %d: a proxy is there, and no daemon behind it",
                       to->url, http_status);
    return lc_fail(err, LOCI_EUNAVAILABLE,
                   "%s does not answer like a loci daemon (HTTP status %d): check the URL", to->url,
                   http_status);
}

loci_status lc_remote_fail(lc_arena *arena, const lc_endpoint *to, const lc_fetch_answer *answer,
                           loci_error *err)
{
    const lc_json *problem = NULL, *code, *detail;
    loci_status status = LOCI_EINTERNAL;

    if (lc_json_parse(arena, answer->body, LC_JSON_ALLOW_NUL, &problem, NULL) != LOCI_OK)
        problem = NULL;
    code = lc_json_find(problem, "code", LC_JSON_STRING);
    detail = lc_json_find(problem, "detail", LC_JSON_STRING);
    if (code == NULL || detail == NULL || !lc_status_find(lc_json_str(code), &status) ||
        status == LOCI_OK)
        return fail_foreign(to, answer->status, err);
    if (status == LOCI_EAUTH && to->token.len == 0)
        return lc_fail(err, status, "%s needs a token: set LOCI_TOKEN, or pass --token-file FILE",
                       to->url);
    if (status == LOCI_EAUTH)
        return lc_fail(
            err, status,
            "%s refuses the token: it is wrong, expired or of another store; `loci token "
            "create` on its machine makes one",
            to->url);
    (void)lc_fail(err, status, "%.*s", LC_STR_ARG(lc_json_str(detail)));
    read_data(arena, problem, err);
    return status;
}

/* Adds to the message that the daemon has another version, if it has. */
static void compare_versions(lc_remote *remote, loci_error *err)
{
    lc_arena_mark mark = lc_arena_get_mark(remote->cli->arena);
    const lc_json *json = NULL, *version = NULL;
    int http_status = 0;
    lc_buf body;

    lc_buf_init(&body, remote->cli->heap, LOCI_MEM_REQUESTS, VERSION_BYTES_MAX);
    if (lc_fetch_run(&remote->to,
                     &(lc_fetch){.method = "GET", .path = "/livez", .timeout_ms = VERSION_MS},
                     &http_status, &body, NULL) == LOCI_OK &&
        lc_json_parse(remote->cli->arena, lc_buf_str(&body), 0, &json, NULL) == LOCI_OK)
        version = lc_json_find(json, "version", LC_JSON_STRING);
    if (version != NULL && !lc_str_is(lc_json_str(version), loci_version())) {
        size_t len = strlen(err->message);

        (void)snprintf(err->message + len, sizeof err->message - len,
                       "; the daemon is loci %.*s, this program %s: use the same version",
                       LC_STR_ARG(lc_json_str(version)), loci_version());
    }
    lc_buf_clear(&body);
    lc_arena_rewind(remote->cli->arena, mark);
}

/* ---- Requests -------------------------------------------------------------------------------- */

void lc_remote_init(lc_remote *remote, lc_cli *cli, const lc_endpoint *to)
{
    *remote = (lc_remote){.cli = cli, .to = *to};
    if (!lc_random_secret(&remote->mark, sizeof remote->mark))
        remote->mark = (uint64_t)lc_clock_monotonic_us(); /* It need not be secret. */
}

static void disconnect(lc_remote *remote)
{
    lc_fetch_link_close(remote->link);
    remote->link = NULL;
}

void lc_remote_close(lc_remote *remote)
{
    disconnect(remote);
    *remote = (lc_remote){0};
}

/* Gets the answer to `fetch`; lines of it go to `terms`. Its body is borrowed from the link. */
static loci_status exchange(lc_remote *remote, const lc_fetch *fetch, const lc_remote_terms *terms,
                            lc_fetch_answer *out, loci_error *err)
{
    loci_status status = lc_fetch_link_send(remote->link, fetch, err);

    *out = (lc_fetch_answer){.status = 0};
    while (status == LOCI_OK && !out->is_done) {
        status = lc_fetch_link_step(remote->link, out, err);
        if (status == LOCI_OK && fetch->is_stream && out->is_lines && out->status == 200 &&
            out->body.len > 0 && terms->lines(terms->lines_ctx, out->body) != 0)
            status = lc_fail(err, LOCI_ECANCELLED, "the lines of the answer were not wanted");
        else if (status == LOCI_OK && !out->is_done)
            status = lc_fetch_link_wait(remote->link, terms->deadline_us, err);
    }
    return status;
}

/* Sends `fetch`, again if the connection was a kept one and had been closed: not when its answer
 * has begun, of which the caller may have got lines. */
static loci_status request(lc_remote *remote, const lc_fetch *fetch, const lc_remote_terms *terms,
                           lc_fetch_answer *out, loci_error *err)
{
    loci_status status = LOCI_EUNAVAILABLE;

    *out = (lc_fetch_answer){.status = 0};
    if (remote->link != NULL)
        status = exchange(remote, fetch, terms, out, err);
    if (status != LOCI_EUNAVAILABLE || out->status != 0)
        return status;
    disconnect(remote);
    status = lc_fetch_link_open(remote->cli->heap, &remote->to, LC_ANSWER_BYTES_MAX + 64u,
                                &remote->link, err);
    return status == LOCI_OK ? exchange(remote, fetch, terms, out, err) : status;
}

/* Whether two versions of loci could explain the failure: a name that only one of them knows. */
static bool may_be_of_version(int http_status)
{
    return http_status == 400 || http_status == 404 || http_status == 405 || http_status == 501;
}

/* One request to the end: appends the body of an answer with status 200. */
static loci_status run(lc_remote *remote, const lc_fetch *fetch, const lc_remote_terms *terms,
                       lc_buf *out, loci_error *err)
{
    lc_arena_mark mark = lc_arena_get_mark(remote->cli->arena);
    lc_fetch_answer answer;
    loci_status status = request(remote, fetch, terms, &answer, err);

    if (status == LOCI_OK && answer.status != 200) {
        status = lc_remote_fail(remote->cli->arena, &remote->to, &answer, err);
        if (may_be_of_version(answer.status) && err != NULL)
            compare_versions(remote, err);
    } else if (status == LOCI_OK && !answer.is_lines) {
        lc_buf_append(out, lc_str_trim(answer.body));
        status = lc_buf_status(out, err);
        if (status == LOCI_OK && (out->len == 0 || out->ptr[0] != '{'))
            status = fail_foreign(&remote->to, answer.status, err);
    }
    if (remote->link != NULL && !lc_fetch_link_is_reusable(remote->link))
        disconnect(remote);
    lc_arena_rewind(remote->cli->arena, mark);
    return status;
}

/* Whether a call may change something and does not bring a request id of its own. */
static bool needs_request_id(const loci_request *request)
{
    static const char own_id[] = "\"request_id\":";
    const lc_op *op = lc_op_find(loci_str_of(request->operation));

    return op != NULL && (op->flags & LC_OP_MUTATES) != 0 &&
           (request->args.len == 0 ||
            memmem(request->args.ptr, request->args.len, own_id, sizeof own_id - 1) == NULL);
}

static const char *make_request_id(lc_remote *remote, char out[64])
{
    (void)snprintf(out, 64, "cli-%016llx-%llu", (unsigned long long)remote->mark,
                   (unsigned long long)++remote->call_count);
    return out;
}

static loci_status run_alone(lc_remote *remote, const loci_request *request,
                             const lc_remote_terms *terms, lc_buf *out, loci_error *err)
{
    char path[128], id[64];
    lc_fetch fetch = {.method = "POST",
                      .path = path,
                      .body = request->args.len > 0 ? request->args : LC_STR("{}"),
                      .client = loci_str_of(terms->client)};
    const lc_op *op = lc_op_find(loci_str_of(request->operation));

    if (op == NULL) /* It would become part of a path. */
        return lc_op_load(loci_str_of(request->operation), &op, err);
    (void)snprintf(path, sizeof path, "/v1/call/%s", op->name); /* Names are short. */
    if (needs_request_id(request))
        fetch.request_id = make_request_id(remote, id);
    if (terms->lines != NULL) {
        fetch.accept = "application/x-ndjson, application/json";
        fetch.is_stream = true;
    }
    return run(remote, &fetch, terms, out, err);
}

/* ---- Batches --------------------------------------------------------------------------------- */

static void write_calls(const loci_request *requests, size_t count, lc_buf *out)
{
    char at[LC_TIME_BYTES_MAX];
    lc_json_writer w;

    lc_jw_init(&w, out);
    lc_jw_object(&w);
    lc_jw_name(&w, "calls");
    lc_jw_array(&w);
    for (size_t i = 0; i < count; i++) {
        lc_jw_object(&w);
        lc_jw_member_text(&w, "op", requests[i].operation);
        if (requests[i].args.len > 0)
            lc_jw_member_raw(&w, "args", requests[i].args);
        if (requests[i].at_us != LOCI_AT_CLOCK)
            lc_jw_member_str(&w, "at", (loci_str){at, lc_time_format(requests[i].at_us, at)});
        lc_jw_end(&w);
    }
    lc_jw_end(&w);
    lc_jw_end(&w);
}

/* Whether a batch takes a request id: it changes something, and no answer has a secret. */
static bool is_repeatable(const loci_request *requests, size_t count)
{
    bool has_write = false;

    for (size_t i = 0; i < count; i++) {
        const lc_op *op = lc_op_find(loci_str_of(requests[i].operation));

        if (op != NULL && (op->flags & LC_OP_SECRET) != 0)
            return false;
        has_write = has_write || needs_request_id(&requests[i]);
    }
    return has_write;
}

loci_status lc_remote_call_many(lc_remote *remote, const loci_request *requests, size_t count,
                                const lc_remote_terms *terms, lc_buf *out, loci_error *err)
{
    static const char head[] = "{\"answers\":";
    lc_remote_terms no_lines = {.client = terms->client, .deadline_us = terms->deadline_us};
    lc_fetch fetch = {.method = "POST", .path = "/v1/batch", .client = loci_str_of(terms->client)};
    loci_status status;
    lc_buf body, answer;
    loci_str text;
    char id[64];

    if (is_repeatable(requests, count))
        fetch.request_id = make_request_id(remote, id);
    lc_buf_init(&body, remote->cli->heap, LOCI_MEM_REQUESTS, SIZE_MAX / 2);
    lc_buf_init(&answer, remote->cli->heap, LOCI_MEM_REQUESTS, LC_ANSWER_BYTES_MAX + 64u);
    write_calls(requests, count, &body);
    status = lc_buf_status(&body, err);
    fetch.body = lc_buf_str(&body);
    if (status == LOCI_OK)
        status = run(remote, &fetch, &no_lines, &answer, err);
    text = lc_buf_str(&answer);
    if (status == LOCI_OK &&
        (!lc_str_starts(text, (loci_str){head, sizeof head - 1}) || text.ptr[text.len - 1] != '}'))
        status = fail_foreign(&remote->to, 200, err);
    if (status == LOCI_OK) {
        lc_buf_append(out, (loci_str){text.ptr + sizeof head - 1, text.len - sizeof head});
        status = lc_buf_status(out, err);
    }
    lc_buf_clear(&answer);
    lc_buf_clear(&body);
    return status;
}

/* Only a batch takes the time of a call: it is a batch of one then. */
static loci_status run_at(lc_remote *remote, const loci_request *request,
                          const lc_remote_terms *terms, lc_buf *out, loci_error *err)
{
    loci_status status;
    lc_buf answers;

    lc_buf_init(&answers, remote->cli->heap, LOCI_MEM_REQUESTS, LC_ANSWER_BYTES_MAX);
    status = lc_remote_call_many(remote, request, 1, terms, &answers, err);
    if (status == LOCI_OK) {
        lc_buf_append(out, (loci_str){answers.ptr + 1, answers.len - 2}); /* Without [ and ]. */
        status = lc_buf_status(out, err);
    } else if (err != NULL && strcmp(err->data, "{\"index\":0}") == 0) {
        err->data[0] = '\0';
    }
    lc_buf_clear(&answers);
    return status;
}

loci_status lc_remote_call(lc_remote *remote, const loci_request *request,
                           const lc_remote_terms *terms, lc_buf *out, loci_error *err)
{
    return request->at_us == LOCI_AT_CLOCK ? run_alone(remote, request, terms, out, err)
                                           : run_at(remote, request, terms, out, err);
}
