/* doctor_daemon.c - `loci doctor --url`: a daemon as its clients see it. */
#include "cli/doctor.h"

#include <stdio.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/json.h"
#include "base/str.h"
#include "cli/token_file.h"
#include "net/fetch.h"

#define TIMEOUT_MS 5000
#define BODY_BYTES_MAX (1024u * 1024)

typedef struct visit {
    lc_doctor *doctor;
    const char *url;
    loci_str token; /* None without --token-file. */
    int status;     /* Of the last answer. */
    int64_t took_us;
    const lc_json *body; /* NULL when it is no object. */
    loci_error err;
} visit;

static bool ask(visit *v, lc_fetch fetch)
{
    lc_cli *cli = v->doctor->cli;
    int64_t began_us = lc_clock_monotonic_us();
    lc_buf body;
    loci_status status;

    fetch.url = v->url;
    fetch.timeout_ms = TIMEOUT_MS;
    v->body = NULL;
    lc_buf_init(&body, cli->heap, LOCI_MEM_REQUESTS, BODY_BYTES_MAX);
    status = lc_fetch_run(&fetch, &v->status, &body, &v->err);
    v->took_us = lc_clock_monotonic_us() - began_us;
    if (status == LOCI_OK &&
        (lc_json_parse(cli->arena, lc_arena_copy(cli->arena, lc_buf_str(&body)), LC_JSON_ALLOW_NUL,
                       &v->body, NULL) != LOCI_OK ||
         lc_json_kind_of(v->body) != LC_JSON_OBJECT))
        v->body = NULL;
    lc_buf_clear(&body);
    return status == LOCI_OK;
}

static loci_str member(const visit *v, const char *name)
{
    const lc_json *found = v->body != NULL ? lc_json_member(v->body, loci_str_of(name)) : NULL;

    return found != NULL && lc_json_kind_of(found) == LC_JSON_STRING ? lc_json_str(found)
                                                                     : LC_STR("");
}

static void add(visit *v, lc_finding_kind kind, const char *name, const char *advice,
                const char *detail)
{
    lc_finding finding = {.kind = kind, .name = name, .advice = advice};

    lc_doctor_add(v->doctor, &finding, "%s", detail);
}

/* What the last answer said went wrong. */
static void add_answer(visit *v, const char *name, const char *advice)
{
    char text[400];

    (void)snprintf(text, sizeof text, "HTTP %d %.*s", v->status, LC_STR_ARG(member(v, "detail")));
    add(v, LC_FINDING_BAD, name, advice, text);
}

/* False when there is nothing to talk to. */
static bool look_at_life(visit *v)
{
    loci_str version;
    char text[160];

    if (!ask(v, (lc_fetch){.method = "GET", .path = "/livez"})) {
        add(v, LC_FINDING_BAD, "daemon", "Start it with `loci serve`, or correct --url",
            v->err.message);
        return false;
    }
    version = member(v, "version");
    if (v->status != 200 || version.len == 0) {
        add_answer(v, "daemon", "Something else than loci listens there");
        return false;
    }
    add(v, LC_FINDING_GOOD, "daemon", NULL, v->url);
    if (lc_str_is(version, loci_version())) {
        add(v, LC_FINDING_GOOD, "version", NULL, loci_version());
        return true;
    }
    (void)snprintf(text, sizeof text, "the daemon is %.*s, this program %s", LC_STR_ARG(version),
                   loci_version());
    add(v, LC_FINDING_NOTE, "version", "Restart the daemon after an upgrade", text);
    return true;
}

static void look_at_readiness(visit *v)
{
    if (!ask(v, (lc_fetch){.method = "GET", .path = "/readyz"}))
        add(v, LC_FINDING_BAD, "ready", NULL, v->err.message);
    else if (v->status != 200)
        add_answer(v, "ready", "Its log says more; `loci doctor` looks at the store itself");
    else
        add(v, LC_FINDING_GOOD, "ready", NULL, "the store answers");
}

/* Whoever comes without a token must be turned away, except on the Unix socket. */
static void look_at_strangers(visit *v)
{
    if (lc_str_starts(loci_str_of(v->url), LC_STR("unix:")))
        return;
    if (!ask(v, (lc_fetch){.method = "GET", .path = "/v1/operations"}))
        add(v, LC_FINDING_BAD, "strangers", NULL, v->err.message);
    else if (v->status != 401)
        add_answer(v, "strangers",
                   "It should answer 401 to calls without a token; is a proxy "
                   "adding one?");
    else
        add(v, LC_FINDING_GOOD, "strangers", NULL, "calls without a token are refused");
}

static void look_at_calls(visit *v)
{
    lc_fetch call = {.method = "POST",
                     .path = "/v1/call/op.get",
                     .token = v->token,
                     .body = LC_STR("{\"name\":\"op.get\"}")};
    char text[80];

    if (v->token.len == 0 && !lc_str_starts(loci_str_of(v->url), LC_STR("unix:"))) {
        add(v, LC_FINDING_NOTE, "call", "--token-file PATH names the file of a token",
            "not tried: there is no token");
        return;
    }
    if (!ask(v, call)) {
        add(v, LC_FINDING_BAD, "call", NULL, v->err.message);
    } else if (v->status != 200) {
        add_answer(v, "call",
                   v->status == 401 ? "`loci token create` makes a token; `loci token "
                                      "list` says whether this one expired"
                                    : NULL);
    } else {
        (void)snprintf(text, sizeof text, "answered in %.1f ms", (double)v->took_us / 1000);
        add(v, LC_FINDING_GOOD, "call", NULL, text);
    }
}

void lc_doctor_look_at_daemon(lc_doctor *doctor, const char *url, const char *token_file)
{
    visit v = {.doctor = doctor, .url = url};

    if (token_file != NULL &&
        lc_token_file_read(doctor->cli, token_file, &v.token, &v.err) != LOCI_OK) {
        add(&v, LC_FINDING_BAD, "token", "`loci serve --token-file PATH` makes one", v.err.message);
        return;
    }
    if (!look_at_life(&v))
        return;
    look_at_readiness(&v);
    look_at_strangers(&v);
    look_at_calls(&v);
}
