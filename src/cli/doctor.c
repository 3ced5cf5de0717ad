/* doctor.c - `loci doctor`: checks the environment and the store, or with --url a daemon. It
 * changes nothing: repairing a damaged store could make it worse. */
#include "cli/command.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/str.h"
#include "base/time.h"
#include "cli/cli.h"
#include "cli/findings.h"
#include "cli/input.h"
#include "cli/opening.h"
#include "cli/operation.h"
#include "net/fetch.h"
#include "ops/check.h"
#include "ops/surface.h"

/* ---- The environment ------------------------------------------------------------------------- */

#define DISK_BAD_BYTES (INT64_C(64) << 20)     /* A rebuild or a checkpoint may need this much. */
#define DISK_LOW_BYTES (INT64_C(512) << 20)    /* Low: a warning. */
#define CLOCK_MIN_US INT64_C(1735689600000000) /* 2025-01-01: before loci existed. */
#define CLOCK_MAX_US INT64_C(4102444800000000) /* 2100-01-01 */

static void look_at_directory(lc_findings *d, const lc_store_path *path)
{
    const char *directory = lc_store_path_directory(d->cli, path->text);
    struct stat info;

    if (stat(directory, &info) != 0 && errno == ENOENT)
        lc_find(d, path->is_default ? LC_NOTE : LC_BAD, "directory",
                path->is_default ? "Run `loci init` to create it"
                                 : "Create it, or choose another --store",
                "%s does not exist", directory);
    else if (access(directory, W_OK | X_OK) != 0)
        lc_find(d, LC_BAD, "directory",
                "Make it writable: SQLite writes its journal next to the store", "%s: %s",
                directory, strerror(errno));
    else
        lc_find(d, LC_GOOD, "directory", NULL, "%s is writable", directory);
}

static void look_at_file(lc_findings *d, const lc_store_path *path)
{
    struct stat info;

    if (stat(path->text, &info) != 0)
        return; /* look_inside() reports that it is missing. */
    if (!S_ISREG(info.st_mode))
        lc_find(d, LC_BAD, "permission", "Choose a file with --store", "%s is not a file",
                path->text);
    else if (access(path->text, R_OK | W_OK) != 0)
        lc_find(d, LC_BAD, "permission", "Give yourself read and write permission", "%s: %s",
                path->text, strerror(errno));
    else if ((info.st_mode & S_IROTH) != 0)
        lc_find(d, LC_NOTE, "permission", "Run `chmod o= FILE` if other users must not read it",
                "all users of this machine can read the store");
    else
        lc_find(d, LC_GOOD, "permission", NULL, "the store is readable and writable");
}

/* Of the nearest existing directory: the store will be created below it. */
static void look_at_disk(lc_findings *d, const lc_store_path *path)
{
    const char *directory = lc_store_path_directory(d->cli, path->text);
    struct statvfs disk;
    int64_t free_bytes;

    while (statvfs(directory, &disk) != 0) {
        if (strcmp(directory, "/") == 0 || strcmp(directory, ".") == 0)
            return;
        directory = lc_store_path_directory(d->cli, directory);
    }
    free_bytes = (int64_t)disk.f_bavail * (int64_t)disk.f_frsize;
    lc_find(d,
            free_bytes < DISK_BAD_BYTES   ? LC_BAD
            : free_bytes < DISK_LOW_BYTES ? LC_NOTE
                                          : LC_GOOD,
            "disk", free_bytes < DISK_LOW_BYTES ? "Free some space, or move the store" : NULL,
            "%lld MB free", (long long)(free_bytes >> 20));
}

static void look_at_clock(lc_findings *d)
{
    int64_t now_us = lc_clock_system_us(NULL);
    char text[LC_TIME_BYTES_MAX];
    int len = (int)lc_time_format(now_us - now_us % 1000000, text);
    bool is_wrong = now_us < CLOCK_MIN_US || now_us > CLOCK_MAX_US;

    lc_find(d, is_wrong ? LC_BAD : LC_GOOD, "clock",
            is_wrong ? "Set the clock: facts are recorded with the time" : NULL, "%.*s", len, text);
}

static bool is_variable(loci_str name)
{
    static const char *const others[] = {
        "LOCI_STORE",  "LOCI_URL",    "LOCI_TOKEN",   "LOCI_CA_FILE",         "LOCI_PLAIN_HTTP",
        "LOCI_TENANT", "LOCI_USER",   "LOCI_PERSONA", "LOCI_PROJECT",         "LOCI_CLIENT",
        "LOCI_CONFIG", "LOCI_SOCKET", "LOCI_LISTEN",  "LOCI_HOOK_TIMEOUT_MS", "LOCI_NOW"};
    char variable[LC_SETTING_VARIABLE_BYTES];

    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        if (lc_str_is(name, others[i]))
            return true;
    }
    for (size_t i = 0; i < lc_setting_view_count(); i++) {
        lc_setting_variable(lc_setting_view_at(i).name, variable);
        if (lc_str_is(name, variable))
            return true;
    }
    return false;
}

/* A misspelled variable has no effect, and nothing else would report it. */
static void look_at_variables(lc_findings *d)
{
    for (char **entry = environ; entry != NULL && *entry != NULL; entry++) {
        loci_str value;
        loci_str name = lc_str_split(loci_str_of(*entry), '=', &value);
        char advice[160] = "It has no effect: unset it";
        char variable[LC_SETTING_VARIABLE_BYTES];
        lc_nearest nearest = lc_nearest_to(name);

        if (!lc_str_starts(name, LC_STR("LOCI_")) || is_variable(name))
            continue;
        for (size_t i = 0; i < lc_setting_view_count(); i++) {
            lc_setting_variable(lc_setting_view_at(i).name, variable);
            lc_nearest_offer(&nearest, lc_arena_copy(d->cli->arena, loci_str_of(variable)));
        }
        if (nearest.best.ptr != NULL)
            (void)snprintf(advice, sizeof advice, "It has no effect: did you mean %.*s?",
                           LC_STR_ARG(nearest.best));
        lc_find(d, LC_NOTE, "environment", advice, "%.*s is not a variable of loci",
                LC_STR_ARG(name));
    }
}

static void look_outside(lc_findings *d)
{
    lc_store_path path;
    loci_error err;

    if (lc_store_path_find(d->cli, &path, &err) != LOCI_OK) {
        lc_find(d, LC_BAD, "store", NULL, "%s", err.message);
        return;
    }
    lc_find(d, LC_GOOD, "store", NULL, "%s (%s)", path.label, path.origin);
    if (path.is_file) {
        look_at_directory(d, &path);
        look_at_file(d, &path);
        look_at_disk(d, &path);
    }
    look_at_clock(d);
    look_at_variables(d);
}

/* ---- The store ------------------------------------------------------------------------------- */

static const char *advice_for(lc_findings *d, const loci_error *err)
{
    switch (err->status) {
    case LOCI_ENOTFOUND:
        return "Run `loci init` to create it";
    case LOCI_EINVAL:
        return "Correct the setting; `loci help config` lists the sources of settings";
    case LOCI_EFORBIDDEN:
        return "Give yourself read and write permission for the file and its directory";
    case LOCI_ECORRUPT:
        return lc_cli_damage_advice(d->cli, err);
    case LOCI_EUNSUPPORTED:
        return strstr(err->message, "newer") != NULL ? "Install a newer loci"
                                                     : "Choose another store with --store";
    case LOCI_ERESOURCE:
        return "Free some disk space";
    case LOCI_EUNAVAILABLE:
    case LOCI_EDEADLINE:
        return "Another process is using it; try again";
    default:
        return NULL;
    }
}

static void add_failure(lc_findings *d, const char *name, const loci_error *err)
{
    lc_find(d, LC_BAD, err->status == LOCI_EINVAL ? "settings" : name, advice_for(d, err), "%s",
            err->message);
}

/* The answer of an operation, NULL if it is no JSON; false, with a finding, if it failed. */
static bool call(lc_findings *d, lc_link *link, const char *name, const char *args,
                 const lc_json **out)
{
    lc_operation operation = {.name = name, .args = loci_str_of(args)};
    lc_cli *cli = d->cli;
    loci_error err;
    loci_status status;
    lc_buf answer;

    *out = NULL;
    lc_buf_init(&answer, cli->heap, LOCI_MEM_REQUESTS, LC_ANSWER_BYTES_MAX);
    status = lc_operation_call(cli, link, &operation, &answer, &err);
    if (status != LOCI_OK)
        add_failure(d, lc_str_starts(loci_str_of(name), LC_STR("model")) ? "data" : "status", &err);
    else if (lc_json_parse(cli->arena, lc_arena_copy(cli->arena, lc_buf_str(&answer)), 0, out,
                           NULL) != LOCI_OK)
        *out = NULL;
    lc_buf_clear(&answer);
    return status == LOCI_OK;
}

static void append_member(const lc_json *status, const char *name, const char *label, lc_buf *out)
{
    const lc_json *member = lc_json_member(status, loci_str_of(name));

    if (member == NULL || lc_json_kind_of(member) == LC_JSON_NULL)
        return;
    lc_buf_append_format(out, "%s%s ", out->len > 0 ? ", " : "", label);
    if (lc_json_kind_of(member) == LC_JSON_STRING)
        lc_buf_append(out, lc_json_str(member));
    else if (lc_json_kind_of(member) == LC_JSON_INT)
        lc_buf_append_format(out, "%lld", (long long)lc_json_int(member));
}

static void look_at_status(lc_findings *d, lc_link *link)
{
    lc_cli *cli = d->cli;
    const lc_json *json;
    lc_buf text;

    if (!call(d, link, "store.status", "{}", &json))
        return;
    lc_buf_init(&text, cli->heap, LOCI_MEM_REQUESTS, 4096);
    if (json != NULL && lc_json_kind_of(json) == LC_JSON_OBJECT) {
        append_member(json, "schema_version", "schema", &text);
        append_member(json, "driver", "on", &text);
        append_member(json, "driver_version", "version", &text);
        append_member(json, "sqlite_version", "sqlite", &text);
        append_member(json, "events", "events", &text);
        append_member(json, "users", "users", &text);
    }
    if (text.len > 0)
        lc_find(d, LC_GOOD, "schema", NULL, "%.*s", LC_STR_ARG(lc_buf_str(&text)));
    lc_buf_clear(&text);
}

static void look_at_content(lc_findings *d, lc_link *link)
{
    lc_operation operation = {.name = "store.verify", .args = LC_STR("{}")};
    int64_t began_us = lc_clock_monotonic_us();
    loci_error err;
    loci_status status;
    lc_buf answer;

    lc_buf_init(&answer, d->cli->heap, LOCI_MEM_REQUESTS, LC_ANSWER_BYTES_MAX);
    status = lc_operation_call(d->cli, link, &operation, &answer, &err);
    lc_buf_clear(&answer); /* That it succeeds is enough. */
    if (status != LOCI_OK) {
        lc_find(d, LC_BAD, "content", advice_for(d, &err), "%s", err.message);
        return;
    }
    lc_find(d, LC_GOOD, "content", NULL, "log and derived tables agree (%lld ms)",
            (long long)((lc_clock_monotonic_us() - began_us) / 1000));
}

/* A member that is text; "" for any other. `object` may be NULL. */
static loci_str text_of(const lc_json *object, const char *name)
{
    const lc_json *member = object != NULL ? lc_json_member(object, loci_str_of(name)) : NULL;

    return member != NULL && lc_json_kind_of(member) == LC_JSON_STRING ? lc_json_str(member)
                                                                       : LC_STR("");
}

static void add_data_file(lc_findings *d, const lc_json *file)
{
    loci_str name = text_of(file, "name"), use = text_of(file, "use");
    loci_str problem = text_of(file, "problem");
    bool is_missing = lc_str_is(text_of(file, "state"), "missing");

    if (problem.len == 0)
        lc_find(d, LC_GOOD, "data", NULL, "%.*s is intact: %.*s", LC_STR_ARG(name),
                LC_STR_ARG(use));
    else
        lc_find(d, is_missing ? LC_NOTE : LC_BAD, "data",
                is_missing
                    ? "Run `script/data` to install it; without it, loci estimates and says so"
                    : "Remove it and run `script/data` to install it again",
                "%.*s (for %.*s)", LC_STR_ARG(problem), LC_STR_ARG(use));
}

/* Vectors of another embedder, or of one whose data is missing now, are kept but not used. */
static void look_at_vectors(lc_findings *d, const lc_json *status)
{
    const lc_json *stale = lc_json_find(status, "vectors_stale", LC_JSON_INT);
    loci_str why = text_of(status, "vectors_warning");

    if (stale != NULL && lc_json_int(stale) > 0)
        lc_find(d, LC_NOTE, "vectors", NULL, "%.*s (number: %lld)", LC_STR_ARG(why),
                (long long)lc_json_int(stale));
}

/* The files are optional: a missing one is a note, a damaged one a failure. */
static void look_at_data(lc_findings *d, lc_link *link)
{
    const lc_json *json, *files;

    if (call(d, link, "model.status", "{\"check_data\":true}", &json) && json != NULL &&
        (files = lc_json_member(json, LC_STR("data"))) != NULL) {
        for (const lc_json *file = lc_json_first(files); file != NULL; file = lc_json_next(file))
            add_data_file(d, file);
        look_at_vectors(d, json);
    }
}

/* Only a hint: whether the shell has loaded the script cannot be detected. */
static void look_at_shell(lc_findings *d)
{
    const char *shell = getenv("SHELL");
    const char *slash = shell != NULL ? strrchr(shell, '/') : NULL;
    const char *name = slash != NULL ? slash + 1 : shell;

    if (name == NULL || (strcmp(name, "bash") != 0 && strcmp(name, "zsh") != 0))
        return;
    lc_find(d, LC_NOTE, "completion", NULL,
            "add  source <(loci completion %s)  to ~/.%src to complete commands", name, name);
}

static void look_inside(lc_findings *d)
{
    lc_opening opening = {.flags = LOCI_OPEN_INLINE | LOCI_OPEN_EXISTING, .is_silent = true};
    int64_t began_us = lc_clock_monotonic_us();
    loci_engine *engine = NULL;
    lc_link link;
    loci_error err;

    if (lc_opening_run(d->cli, &opening, &engine, &err) != LOCI_OK) {
        add_failure(d, "opens", &err);
        return;
    }
    lc_find(d, LC_GOOD, "opens", NULL, "in %lld ms",
            (long long)((lc_clock_monotonic_us() - began_us) / 1000));
    lc_find(d, LC_GOOD, "settings", NULL, "file, environment and flags are valid");
    link = lc_link_to(d->cli, engine);
    look_at_status(d, &link);
    look_at_content(d, &link);
    look_at_data(d, &link);
    loci_close(engine);
}

void lc_doctor_check_store(lc_findings *d)
{
    look_outside(d);
    look_inside(d);
}

/* ---- A daemon -------------------------------------------------------------------------------- */

#define TIMEOUT_MS 5000
#define BODY_BYTES_MAX (1024u * 1024)

typedef struct visit {
    lc_findings *d;
    lc_endpoint to;
    bool is_socket; /* Calls on the Unix socket need no token. */
    int status;     /* Of the last answer. */
    int64_t took_us;
    const lc_json *body; /* NULL if it is not an object. */
} visit;

/* One request and the HTTP status that its answer must have. */
typedef struct check {
    const char *name;
    lc_fetch fetch;
    bool has_token; /* Send it. */
    int status;
    const char *advice; /* If the status is another one. */
} check;

/* Adds a failure and returns false without an answer, or with one that has the wrong status. */
static bool ask(visit *v, check c)
{
    lc_cli *cli = v->d->cli;
    int64_t began_us = lc_clock_monotonic_us();
    lc_endpoint to = v->to;
    loci_error err;
    lc_buf body;
    loci_status status;

    if (!c.has_token)
        to.token = LC_STR_NONE;
    c.fetch.timeout_ms = TIMEOUT_MS;
    v->body = NULL;
    lc_buf_init(&body, cli->heap, LOCI_MEM_REQUESTS, BODY_BYTES_MAX);
    status = lc_fetch_run(&to, &c.fetch, &v->status, &body, &err);
    v->took_us = lc_clock_monotonic_us() - began_us;
    if (status == LOCI_OK &&
        (lc_json_parse(cli->arena, lc_arena_copy(cli->arena, lc_buf_str(&body)), LC_JSON_ALLOW_NUL,
                       &v->body, NULL) != LOCI_OK ||
         lc_json_kind_of(v->body) != LC_JSON_OBJECT))
        v->body = NULL;
    lc_buf_clear(&body);
    if (status != LOCI_OK)
        lc_find(v->d, LC_BAD, c.name, "Start it with `loci serve`, or correct the URL", "%s",
                err.message);
    else if (v->status != c.status)
        lc_find(v->d, LC_BAD, c.name, c.advice, "HTTP %d %.*s", v->status,
                LC_STR_ARG(text_of(v->body, "detail")));
    return status == LOCI_OK && v->status == c.status;
}

/* False if no daemon answers. */
static bool look_at_life(visit *v)
{
    const char *advice = "Another program is listening there";
    loci_str version;

    if (!ask(v, (check){.name = "daemon",
                        .fetch = {.method = "GET", .path = "/livez"},
                        .status = 200,
                        .advice = advice}))
        return false;
    version = text_of(v->body, "version");
    if (version.len == 0) {
        lc_find(v->d, LC_BAD, "daemon", advice, "%s does not answer like loci", v->to.url);
        return false;
    }
    lc_find(v->d, LC_GOOD, "daemon", NULL, "%s (%s)", v->to.url, lc_remote_origin(v->d->cli));
    if (lc_str_is(version, loci_version()))
        lc_find(v->d, LC_GOOD, "version", NULL, "%s", loci_version());
    else
        lc_find(v->d, LC_NOTE, "version", "Restart the daemon after an upgrade",
                "the daemon is %.*s, this program %s", LC_STR_ARG(version), loci_version());
    return true;
}

static void look_at_calls(visit *v)
{
    check call = {.name = "call",
                  .fetch = {.method = "POST",
                            .path = "/v1/call/op.get",
                            .body = LC_STR("{\"name\":\"op.get\"}")},
                  .has_token = true,
                  .status = 200,
                  .advice = "If the token is refused, create one with `loci token create`; `loci "
                            "token list` shows expired ones"};

    if (v->to.token.len == 0 && !v->is_socket)
        lc_find(v->d, LC_NOTE, "call", "Set LOCI_TOKEN, or pass --token-file FILE",
                "skipped: no token was given");
    else if (ask(v, call))
        lc_find(v->d, LC_GOOD, "call", NULL, "answered in %.1f ms", (double)v->took_us / 1000);
}

static void look_at_daemon(lc_findings *d)
{
    visit v = {.d = d};
    loci_error err;

    if (lc_remote_find(d->cli, &v.to, &err) != LOCI_OK) {
        bool is_file = err.status == LOCI_ENOTFOUND || err.status == LOCI_EFORBIDDEN;

        lc_find(d, LC_BAD, is_file ? "token" : "url",
                is_file ? "Create one with `loci serve --token-file FILE`" : NULL, "%s",
                err.message);
        return;
    }
    v.is_socket = lc_str_starts(loci_str_of(v.to.url), LC_STR("unix:"));
    if (!look_at_life(&v))
        return;
    if (ask(&v, (check){.name = "ready",
                        .fetch = {.method = "GET", .path = "/readyz"},
                        .status = 200,
                        .advice = "See its log; `loci doctor --store` checks the store itself"}))
        lc_find(d, LC_GOOD, "ready", NULL, "the store answers");
    if (!v.is_socket &&
        ask(&v,
            (check){
                .name = "strangers",
                .fetch = {.method = "GET", .path = "/v1/operations"},
                .status = 401,
                .advice = "It must answer 401 to calls without a token; is a proxy adding one?"}))
        lc_find(d, LC_GOOD, "strangers", NULL, "calls without a token are refused");
    look_at_calls(&v);
}

/* ---- loci doctor ----------------------------------------------------------------------------- */

int lc_command_doctor(lc_cli *cli, const lc_arguments *arguments)
{
    lc_findings d = {.cli = cli};

    (void)arguments; /* doctor has no options of its own. */
    if (lc_remote_url(cli) != NULL) {
        look_at_daemon(&d);
    } else {
        lc_doctor_check_store(&d);
        look_at_shell(&d);
    }
    lc_findings_print(&d);
    return d.is_any_bad ? LC_EXIT_FAILED : LC_EXIT_OK;
}
