/* link.c - see link.h. */
#include "cli/link.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"

#define REMOTE_MS 60000 /* A daemon itself gives a call up after 30 s. */

/* Milliseconds of a call; 0 = the default of the store. */
static int64_t ms_left(const lc_link *link, int64_t timeout_ms)
{
    int64_t left_us;

    if (link->deadline_us == 0)
        return timeout_ms;
    left_us = link->deadline_us - lc_clock_monotonic_us();
    return left_us > 1000 ? left_us / 1000 : 1;
}

/* ---- A daemon -------------------------------------------------------------------------------- */

/* Whether a daemon of the store answers on its socket. */
static bool find_local_daemon(lc_link *link, lc_endpoint *out)
{
    lc_cli *cli = link->cli;
    lc_store_path store;
    const char *path = NULL;
    int http_status = 0;
    char url[4096 + 8];
    lc_buf answer;
    bool is_there;

    if (cli->globals.tenant != NULL || cli->globals.set_count > 0 ||
        cli->globals.config_file != NULL || lc_store_path_find(cli, &store, NULL) != LOCI_OK ||
        lc_socket_path_find(cli, store.text, &path, NULL) != LOCI_OK || path == NULL)
        return false;
    (void)snprintf(url, sizeof url, "unix:%s", path); /* A socket's path is short. */
    *out = (lc_endpoint){.url = lc_arena_copy(cli->arena, loci_str_of(url)).ptr,
                         .cancel = lc_interrupt_flag()};
    if (out->url == NULL)
        return false;
    lc_buf_init(&answer, cli->heap, LOCI_MEM_REQUESTS, 64u * 1024);
    is_there = lc_fetch_run(out,
                            &(lc_fetch){.method = "GET",
                                        .path = "/readyz",
                                        .timeout_ms = ms_left(link, REMOTE_MS)},
                            &http_status, &answer, NULL) == LOCI_OK &&
               http_status == 200;
    lc_buf_clear(&answer);
    return is_there;
}

/* --set call.timeout_ms=N or LOCI_CALL_TIMEOUT_MS: a daemon does not see them. */
static int64_t own_timeout_ms(const lc_cli *cli)
{
    static const char name[] = "call.timeout_ms=";
    loci_str text = loci_str_of(lc_cli_variable("LOCI_CALL_TIMEOUT_MS"));
    int64_t timeout_ms = 0;

    for (size_t i = 0; i < cli->globals.set_count; i++) {
        if (lc_str_starts(loci_str_of(cli->globals.sets[i]), (loci_str){name, sizeof name - 1}))
            text = loci_str_of(cli->globals.sets[i] + sizeof name - 1);
    }
    return lc_str_to_i64(text, &timeout_ms) && timeout_ms > 0 && timeout_ms < INT64_MAX / 1000
               ? timeout_ms
               : 0;
}

static lc_remote_terms remote_terms(const lc_link *link, const lc_link_terms *terms)
{
    int64_t own_ms = own_timeout_ms(link->cli);
    int64_t timeout_ms = own_ms > 0                             ? own_ms
                         : ms_left(link, terms->timeout_ms) > 0 ? ms_left(link, terms->timeout_ms)
                                                                : REMOTE_MS;

    return (lc_remote_terms){.client = terms->client != NULL ? terms->client : link->cli->client,
                             .deadline_us = lc_clock_monotonic_us() + timeout_ms * 1000,
                             .lines = terms->lines,
                             .lines_ctx = terms->lines_ctx};
}

/* ---- The store ------------------------------------------------------------------------------- */

static loci_call_options store_options(const lc_link *link, const lc_link_terms *terms)
{
    loci_call_options options = LOCI_CALL_OPTIONS_INIT;

    options.client = terms->client != NULL ? terms->client : link->cli->client;
    options.timeout_ms = ms_left(link, terms->timeout_ms);
    options.cancel = lc_interrupt_flag();
    return options;
}

static loci_status take_answer(loci_status status, loci_answer *answer, lc_buf *out,
                               loci_error *err)
{
    if (status == LOCI_OK) {
        lc_buf_append(out, loci_answer_json(answer));
        status = lc_buf_status(out, err);
    }
    loci_answer_free(answer);
    return status;
}

/* ---- Opening --------------------------------------------------------------------------------- */

static bool is_same(const char *a, const char *b)
{
    return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

/* Whether a command of the shell means what the shell has open. */
static bool may_borrow(const lc_cli *cli)
{
    const lc_globals *kept = &cli->kept_globals, *mine = &cli->globals;

    return cli->kept != NULL && is_same(kept->store, mine->store) &&
           is_same(kept->url, mine->url) && is_same(kept->token_file, mine->token_file) &&
           is_same(kept->tenant, mine->tenant) && is_same(kept->config_file, mine->config_file) &&
           kept->set_count == mine->set_count && kept->is_verbose == mine->is_verbose;
}

static loci_status open_remote(lc_link *out, loci_error *err)
{
    lc_endpoint to;
    loci_status status = lc_remote_find(out->cli, &to, err);

    if (status != LOCI_OK)
        return status;
    lc_remote_init(&out->own, out->cli, &to);
    out->remote = &out->own;
    return LOCI_OK;
}

/* Opens into `out`, which is not kept by a shell. */
static loci_status open_own(lc_link *out, const lc_link_options *options, loci_error *err)
{
    lc_endpoint to;

    if (lc_remote_url(out->cli) != NULL)
        return open_remote(out, err);
    if (options->prefers_local_daemon && find_local_daemon(out, &to)) {
        lc_remote_init(&out->own, out->cli, &to);
        out->remote = &out->own;
        return LOCI_OK;
    }
    return lc_opening_run(out->cli, &options->opening, &out->engine, err);
}

loci_status lc_link_open(lc_link *out, lc_cli *cli, const lc_link_options *options, loci_error *err)
{
    bool has_own_clock = options->opening.clock != NULL;
    lc_link *kept = cli->kept;
    loci_status status = LOCI_OK;

    *out = (lc_link){.cli = cli, .deadline_us = options->deadline_us};
    if (has_own_clock || !may_borrow(cli))
        return open_own(out, options, err);
    if (kept->engine == NULL && kept->remote == NULL) {
        lc_link_options long_lived = *options;

        /* One command needs threads, another does not: those that need none can have them. */
        long_lived.opening.flags &= ~(unsigned)LOCI_OPEN_INLINE;
        long_lived.opening.is_silent = true;
        long_lived.opening.lives_long = true;
        status = open_own(kept, &long_lived, err);
    }
    out->engine = kept->engine;
    out->remote = kept->remote;
    out->is_borrowed = true;
    return status;
}

lc_link lc_link_to(lc_cli *cli, loci_engine *engine)
{
    return (lc_link){.cli = cli, .engine = engine, .is_borrowed = true};
}

void lc_link_close(lc_link *link)
{
    if (!link->is_borrowed) {
        loci_close(link->engine);
        lc_remote_close(&link->own);
    }
    *link = (lc_link){0};
}

/* ---- Calls ----------------------------------------------------------------------------------- */

loci_status lc_link_call(lc_link *link, const loci_request *request, const lc_link_terms *terms,
                         lc_buf *out, loci_error *err)
{
    loci_call_options options;
    loci_answer *answer = NULL;
    loci_status status;

    if (link->remote != NULL) {
        lc_remote_terms remote = remote_terms(link, terms);

        return lc_remote_call(link->remote, request, &remote, out, err);
    }
    options = store_options(link, terms);
    options.at_us = request->at_us;
    if (terms->sink != NULL)
        status = loci_call_stream(link->engine, request->operation, request->args, &options,
                                  terms->sink, terms->sink_ctx, &answer, err);
    else
        status = loci_call(link->engine, request->operation, request->args, &options, &answer, err);
    return take_answer(status, answer, out, err);
}

loci_status lc_link_call_many(lc_link *link, const loci_request *requests, size_t count,
                              const lc_link_terms *terms, lc_buf *out, loci_error *err)
{
    loci_call_options options;
    loci_answer *answer = NULL;
    loci_status status;

    if (link->remote != NULL) {
        lc_remote_terms remote = remote_terms(link, terms);

        return lc_remote_call_many(link->remote, requests, count, &remote, out, err);
    }
    options = store_options(link, terms);
    status = loci_call_many(link->engine, requests, count, &options, &answer, err);
    return take_answer(status, answer, out, err);
}
