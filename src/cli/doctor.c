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
#include "base/str.h"
#include "base/time.h"
#include "cli/cli.h"
#include "cli/input.h"
#include "cli/opening.h"
#include "cli/operation.h"
#include "net/fetch.h"
#include "ops/check.h"
#include "ops/setting_view.h"

typedef enum lc_finding_kind {
    LC_FINDING_GOOD,
    LC_FINDING_NOTE, /* Worth knowing; not a failure. */
    LC_FINDING_BAD
} lc_finding_kind;

typedef struct lc_finding {
    lc_finding_kind kind;
    const char *name;   /* "disk" */
    const char *detail; /* The result. */
    const char *advice; /* What to do, or NULL. */
} lc_finding;

#define LC_FINDINGS_MAX 48

typedef struct lc_doctor {
    lc_cli *cli;
    lc_finding findings[LC_FINDINGS_MAX];
    size_t count;
    bool is_any_bad;
} lc_doctor;

/* ---- Findings -------------------------------------------------------------------------------- */

static void add_finding(lc_doctor *doctor, const lc_finding *finding, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void add_finding(lc_doctor *doctor, const lc_finding *finding, const char *format, ...)
{
    char text[LOCI_ERROR_MESSAGE_BYTES + 256];
    lc_finding *next = &doctor->findings[doctor->count];
    va_list args;

    if (doctor->count == LC_FINDINGS_MAX)
        return;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args); /* Cut is fine. */
    va_end(args);
    *next = *finding;
    next->detail = lc_arena_copy(doctor->cli->arena, loci_str_of(text)).ptr;
    if (finding->advice != NULL)
        next->advice = lc_arena_copy(doctor->cli->arena, loci_str_of(finding->advice)).ptr;
    if (next->detail == NULL)
        next->detail = "";
    doctor->count++;
    doctor->is_any_bad = doctor->is_any_bad || finding->kind == LC_FINDING_BAD;
}

static void print_json(lc_doctor *doctor)
{
    lc_json_writer w;

    lc_jw_init(&w, &doctor->cli->out);
    lc_jw_object(&w);
    lc_jw_member_bool(&w, "ok", !doctor->is_any_bad);
    lc_jw_name(&w, "checks");
    lc_jw_array(&w);
    for (size_t i = 0; i < doctor->count; i++) {
        const lc_finding *finding = &doctor->findings[i];

        lc_jw_object(&w);
        lc_jw_member_text(&w, "name", finding->name);
        lc_jw_member_bool(&w, "ok", finding->kind != LC_FINDING_BAD);
        lc_jw_member_text(&w, "detail", finding->detail);
        lc_jw_member_text(&w, "advice", finding->advice);
        lc_jw_end(&w);
    }
    lc_jw_end(&w);
    lc_jw_end(&w);
    lc_buf_append_byte(&doctor->cli->out, '\n');
}

static void print_finding(lc_cli *cli, const lc_finding *finding)
{
    static const char *const marks[] = {"✓", "•", "✗"};
    static const lc_style styles[] = {LC_STYLE_GOOD, LC_STYLE_WARNING, LC_STYLE_BAD};

    lc_cli_print_styled(cli, styles[finding->kind], marks[finding->kind]);
    lc_cli_print(cli, " %-12s ", finding->name);
    lc_text_append_visible(&cli->out, loci_str_of(finding->detail));
    lc_buf_append_byte(&cli->out, '\n');
    if (finding->advice != NULL) {
        lc_cli_print(cli, "  %-12s ", "");
        lc_cli_print_styled(cli, LC_STYLE_FAINT, "→ ");
        lc_text_append_visible(&cli->out, loci_str_of(finding->advice));
        lc_buf_append_byte(&cli->out, '\n');
    }
}

static void print_findings(lc_doctor *doctor)
{
    lc_cli *cli = doctor->cli;

    if (cli->globals.wants_json) {
        print_json(doctor);
        return;
    }
    for (size_t i = 0; i < doctor->count; i++)
        print_finding(cli, &doctor->findings[i]);
    lc_buf_append_byte(&cli->out, '\n');
    if (doctor->is_any_bad)
        lc_cli_print_styled(cli, LC_STYLE_BAD, "Some checks failed: see the lines marked ✗.\n");
    else
        lc_cli_print_styled(cli, LC_STYLE_GOOD, "All checks passed.\n");
}

/* ---- The environment ------------------------------------------------------------------------- */

#define DISK_BAD_BYTES (INT64_C(64) << 20)     /* A rebuild or a checkpoint may need this much. */
#define DISK_LOW_BYTES (INT64_C(512) << 20)    /* Low: a warning. */
#define CLOCK_MIN_US INT64_C(1735689600000000) /* 2025-01-01: before loci existed. */
#define CLOCK_MAX_US INT64_C(4102444800000000) /* 2100-01-01 */

static void look_at_directory(lc_doctor *doctor, const lc_store_path *path)
{
    const char *directory = lc_store_path_directory(doctor->cli, path->text);
    struct stat info;
    lc_finding finding = {.name = "directory"};

    if (stat(directory, &info) != 0 && errno == ENOENT) {
        finding.kind = path->is_default ? LC_FINDING_NOTE : LC_FINDING_BAD;
        finding.advice = path->is_default ? "Run `loci init` to create it"
                                          : "Create it, or choose another --store";
        add_finding(doctor, &finding, "%s does not exist", directory);
    } else if (access(directory, W_OK | X_OK) != 0) {
        finding.kind = LC_FINDING_BAD;
        finding.advice = "Make it writable: SQLite writes its journal next to the store";
        add_finding(doctor, &finding, "%s: %s", directory, strerror(errno));
    } else {
        add_finding(doctor, &finding, "%s is writable", directory);
    }
}

static void look_at_file(lc_doctor *doctor, const lc_store_path *path)
{
    struct stat info;
    lc_finding finding = {.name = "permission"};

    if (stat(path->text, &info) != 0)
        return; /* look_inside() reports that it is missing. */
    if (!S_ISREG(info.st_mode)) {
        finding.kind = LC_FINDING_BAD;
        finding.advice = "Choose a file with --store";
        add_finding(doctor, &finding, "%s is not a file", path->text);
    } else if (access(path->text, R_OK | W_OK) != 0) {
        finding.kind = LC_FINDING_BAD;
        finding.advice = "Give yourself read and write permission";
        add_finding(doctor, &finding, "%s: %s", path->text, strerror(errno));
    } else if ((info.st_mode & S_IROTH) != 0) {
        finding.kind = LC_FINDING_NOTE;
        finding.advice = "Run `chmod o= FILE` if other users must not read it";
        add_finding(doctor, &finding, "all users of this machine can read the store");
    } else {
        add_finding(doctor, &finding, "the store is readable and writable");
    }
}

/* Of the nearest existing directory: the store will be created below it. */
static void look_at_disk(lc_doctor *doctor, const lc_store_path *path)
{
    const char *directory = lc_store_path_directory(doctor->cli, path->text);
    lc_finding finding = {.name = "disk"};
    struct statvfs disk;
    int64_t free_bytes;

    while (statvfs(directory, &disk) != 0) {
        if (strcmp(directory, "/") == 0 || strcmp(directory, ".") == 0)
            return;
        directory = lc_store_path_directory(doctor->cli, directory);
    }
    free_bytes = (int64_t)disk.f_bavail * (int64_t)disk.f_frsize;
    if (free_bytes < DISK_BAD_BYTES)
        finding = (lc_finding){LC_FINDING_BAD, "disk", NULL, "Free some space, or move the store"};
    else if (free_bytes < DISK_LOW_BYTES)
        finding = (lc_finding){LC_FINDING_NOTE, "disk", NULL, "Free some space soon"};
    add_finding(doctor, &finding, "%lld MB free", (long long)(free_bytes >> 20));
}

static void look_at_clock(lc_doctor *doctor)
{
    int64_t now_us = lc_clock_system_us(NULL);
    char text[LC_TIME_BYTES_MAX];
    int len = (int)lc_time_format(now_us - now_us % 1000000, text);
    lc_finding finding = {.name = "clock"};

    if (now_us < CLOCK_MIN_US || now_us > CLOCK_MAX_US) {
        finding.kind = LC_FINDING_BAD;
        finding.advice = "Set the clock: facts are recorded with the time";
    }
    add_finding(doctor, &finding, "%.*s", len, text);
}

static bool is_variable(loci_str name)
{
    static const char *const others[] = {"LOCI_STORE",  "LOCI_TENANT", "LOCI_USER",
                                         "LOCI_CONFIG", "LOCI_SOCKET", "LOCI_LISTEN"};
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

/* The variable with the most similar name, in cli->arena, or NULL. */
static const char *nearest_variable(lc_cli *cli, loci_str name)
{
    lc_nearest nearest = lc_nearest_to(name);
    char variable[LC_SETTING_VARIABLE_BYTES];

    for (size_t i = 0; i < lc_setting_view_count(); i++) {
        lc_setting_variable(lc_setting_view_at(i).name, variable);
        lc_nearest_offer(&nearest, lc_arena_copy(cli->arena, loci_str_of(variable)));
    }
    return nearest.best.ptr;
}

/* A misspelled variable has no effect, and nothing else would report it. */
static void look_at_variables(lc_doctor *doctor)
{
    for (char **entry = environ; entry != NULL && *entry != NULL; entry++) {
        loci_str value;
        loci_str name = lc_str_split(loci_str_of(*entry), '=', &value);
        lc_finding finding = {LC_FINDING_NOTE, "environment", NULL, "It has no effect: unset it"};
        const char *nearest;
        char advice[160];

        if (!lc_str_starts(name, LC_STR("LOCI_")) || is_variable(name))
            continue;
        nearest = nearest_variable(doctor->cli, name);
        if (nearest != NULL) {
            (void)snprintf(advice, sizeof advice, "It has no effect: did you mean %s?", nearest);
            finding.advice = advice;
        }
        add_finding(doctor, &finding, "%.*s is not a variable of loci", LC_STR_ARG(name));
    }
}

static void look_outside(lc_doctor *doctor)
{
    lc_store_path path;
    loci_error err;

    if (lc_store_path_find(doctor->cli, &path, &err) != LOCI_OK) {
        add_finding(doctor, &(lc_finding){LC_FINDING_BAD, "store", NULL, NULL}, "%s", err.message);
        return;
    }
    add_finding(doctor, &(lc_finding){.name = "store"}, "%s (%s)", path.label, path.origin);
    if (path.is_file) {
        look_at_directory(doctor, &path);
        look_at_file(doctor, &path);
        look_at_disk(doctor, &path);
    }
    look_at_clock(doctor);
    look_at_variables(doctor);
}

/* ---- The store ------------------------------------------------------------------------------- */

static const char *advice_for(const loci_error *err)
{
    switch (err->status) {
    case LOCI_ENOTFOUND:
        return "Run `loci init` to create it";
    case LOCI_EINVAL:
        return "Correct the setting; `loci help config` lists the sources of settings";
    case LOCI_EFORBIDDEN:
        return "Give yourself read and write permission for the file and its directory";
    case LOCI_ECORRUPT:
        return "Choose another file with --store, or restore a backup: `loci restore PATH`";
    case LOCI_EUNSUPPORTED:
        return "Install a newer loci";
    case LOCI_ERESOURCE:
        return "Free some disk space";
    case LOCI_EUNAVAILABLE:
    case LOCI_EDEADLINE:
        return "Another process is using it; try again";
    default:
        return NULL;
    }
}

static void add_failure(lc_doctor *doctor, const char *name, const loci_error *err)
{
    bool is_setting = err->status == LOCI_EINVAL;
    lc_finding finding = {LC_FINDING_BAD, is_setting ? "settings" : name, NULL, advice_for(err)};

    add_finding(doctor, &finding, "%s", err->message);
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

static void look_at_status(lc_doctor *doctor, loci_engine *engine)
{
    lc_cli *cli = doctor->cli;
    lc_operation operation = {.name = "store.status", .args = LC_STR("{}")};
    loci_answer *answer = NULL;
    const lc_json *json;
    loci_error err;
    lc_buf text;

    if (lc_operation_call(cli, engine, &operation, &answer, &err) != LOCI_OK) {
        add_failure(doctor, "status", &err);
        return;
    }
    lc_buf_init(&text, cli->heap, LOCI_MEM_REQUESTS, 4096);
    if (lc_json_parse(cli->arena, loci_answer_json(answer), 0, &json, NULL) == LOCI_OK &&
        lc_json_kind_of(json) == LC_JSON_OBJECT) {
        append_member(json, "schema_version", "schema", &text);
        append_member(json, "driver", "on", &text);
        append_member(json, "driver_version", "version", &text);
        append_member(json, "sqlite_version", "sqlite", &text);
        append_member(json, "events", "events", &text);
        append_member(json, "users", "users", &text);
    }
    if (text.len > 0)
        add_finding(doctor, &(lc_finding){.name = "schema"}, "%.*s", LC_STR_ARG(lc_buf_str(&text)));
    lc_buf_clear(&text);
    loci_answer_free(answer);
}

static void look_at_content(lc_doctor *doctor, loci_engine *engine)
{
    lc_operation operation = {.name = "store.verify", .args = LC_STR("{}")};
    int64_t began_us = lc_clock_monotonic_us();
    loci_answer *answer = NULL;
    loci_error err;

    if (lc_operation_call(doctor->cli, engine, &operation, &answer, &err) != LOCI_OK) {
        lc_finding finding = {
            LC_FINDING_BAD, "content", NULL,
            "Run `loci verify` to list the problems and `loci rebuild` to rebuild "
            "all derived tables from the log"};

        add_finding(doctor, &finding, "%s", err.message);
        return;
    }
    loci_answer_free(answer);
    add_finding(doctor, &(lc_finding){.name = "content"}, "log and derived tables agree (%lld ms)",
                (long long)((lc_clock_monotonic_us() - began_us) / 1000));
}

static loci_str text_of(const lc_json *object, const char *name)
{
    const lc_json *member = lc_json_member(object, loci_str_of(name));

    return member != NULL && lc_json_kind_of(member) == LC_JSON_STRING ? lc_json_str(member)
                                                                       : LC_STR("");
}

static void add_data_file(lc_doctor *doctor, const lc_json *file)
{
    loci_str name = text_of(file, "name"), use = text_of(file, "use");
    loci_str problem = text_of(file, "problem");
    lc_finding finding = {.name = "data"};

    if (lc_str_is(text_of(file, "state"), "missing")) {
        finding.kind = LC_FINDING_NOTE;
        finding.advice = "Run `script/data` to install it; without it, loci estimates and says so";
    } else if (problem.len > 0) {
        finding.kind = LC_FINDING_BAD;
        finding.advice = "Remove it and run `script/data` to install it again";
    }
    if (problem.len > 0)
        add_finding(doctor, &finding, "%.*s (for %.*s)", LC_STR_ARG(problem), LC_STR_ARG(use));
    else
        add_finding(doctor, &finding, "%.*s is intact: %.*s", LC_STR_ARG(name), LC_STR_ARG(use));
}

/* The files are optional: a missing one is a note, a damaged one a failure. */
static void look_at_data(lc_doctor *doctor, loci_engine *engine)
{
    lc_cli *cli = doctor->cli;
    lc_operation operation = {.name = "model.status", .args = LC_STR("{\"check_data\":true}")};
    loci_answer *answer = NULL;
    const lc_json *json, *files;
    loci_error err;

    if (lc_operation_call(cli, engine, &operation, &answer, &err) != LOCI_OK) {
        add_failure(doctor, "data", &err);
        return;
    }
    if (lc_json_parse(cli->arena, loci_answer_json(answer), 0, &json, NULL) == LOCI_OK &&
        (files = lc_json_member(json, LC_STR("data"))) != NULL)
        for (const lc_json *file = lc_json_first(files); file != NULL; file = lc_json_next(file))
            add_data_file(doctor, file);
    loci_answer_free(answer);
}

/* Only a hint: whether the shell has loaded the script cannot be detected. */
static void look_at_shell(lc_doctor *doctor)
{
    const char *shell = getenv("SHELL");
    const char *slash = shell != NULL ? strrchr(shell, '/') : NULL;
    const char *name = slash != NULL ? slash + 1 : shell;
    lc_finding finding = {LC_FINDING_NOTE, "completion", NULL, NULL};

    if (name == NULL || (strcmp(name, "bash") != 0 && strcmp(name, "zsh") != 0))
        return;
    add_finding(doctor, &finding,
                "add  source <(loci completion %s)  to ~/.%src to complete commands", name, name);
}

static void look_inside(lc_doctor *doctor)
{
    lc_opening opening = {.flags = LOCI_OPEN_INLINE | LOCI_OPEN_EXISTING, .is_silent = true};
    int64_t began_us = lc_clock_monotonic_us();
    loci_engine *engine = NULL;
    loci_error err;

    if (lc_opening_run(doctor->cli, &opening, &engine, &err) != LOCI_OK) {
        add_failure(doctor, "opens", &err);
        look_at_shell(doctor);
        return;
    }
    add_finding(doctor, &(lc_finding){.name = "opens"}, "in %lld ms",
                (long long)((lc_clock_monotonic_us() - began_us) / 1000));
    add_finding(doctor, &(lc_finding){.name = "settings"}, "file, environment and flags are valid");
    look_at_status(doctor, engine);
    look_at_content(doctor, engine);
    look_at_data(doctor, engine);
    look_at_shell(doctor);
    loci_close(engine);
}

/* ---- A daemon -------------------------------------------------------------------------------- */

#define TIMEOUT_MS 5000
#define BODY_BYTES_MAX (1024u * 1024)

typedef struct visit {
    lc_doctor *doctor;
    const char *url;
    loci_str token; /* Empty without --token-file. */
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

    add_finding(v->doctor, &finding, "%s", detail);
}

/* Adds the error of the last answer. */
static void add_answer(visit *v, const char *name, const char *advice)
{
    char text[400];

    (void)snprintf(text, sizeof text, "HTTP %d %.*s", v->status, LC_STR_ARG(member(v, "detail")));
    add(v, LC_FINDING_BAD, name, advice, text);
}

/* False if no daemon answers. */
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
        add_answer(v, "daemon", "Another program is listening there");
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
        add_answer(v, "ready", "See its log; `loci doctor` without --url checks the store itself");
    else
        add(v, LC_FINDING_GOOD, "ready", NULL, "the store answers");
}

/* Calls without a token must be refused, except on the Unix socket. */
static void look_at_strangers(visit *v)
{
    if (lc_str_starts(loci_str_of(v->url), LC_STR("unix:")))
        return;
    if (!ask(v, (lc_fetch){.method = "GET", .path = "/v1/operations"}))
        add(v, LC_FINDING_BAD, "strangers", NULL, v->err.message);
    else if (v->status != 401)
        add_answer(v, "strangers",
                   "It must answer 401 to calls without a token; is a proxy adding one?");
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
        add(v, LC_FINDING_NOTE, "call", "Pass --token-file PATH", "skipped: no token was given");
        return;
    }
    if (!ask(v, call)) {
        add(v, LC_FINDING_BAD, "call", NULL, v->err.message);
    } else if (v->status != 200) {
        add_answer(v, "call",
                   v->status == 401
                       ? "Create a token with `loci token create`; `loci token list` shows "
                         "expired ones"
                       : NULL);
    } else {
        (void)snprintf(text, sizeof text, "answered in %.1f ms", (double)v->took_us / 1000);
        add(v, LC_FINDING_GOOD, "call", NULL, text);
    }
}

static void look_at_daemon(lc_doctor *doctor, const char *url, const char *token_file)
{
    visit v = {.doctor = doctor, .url = url};

    if (token_file != NULL &&
        lc_token_file_read(doctor->cli, token_file, &v.token, &v.err) != LOCI_OK) {
        add(&v, LC_FINDING_BAD, "token", "Create one with `loci serve --token-file PATH`",
            v.err.message);
        return;
    }
    if (!look_at_life(&v))
        return;
    look_at_readiness(&v);
    look_at_strangers(&v);
    look_at_calls(&v);
}

/* ---- loci doctor ------------------------------------------------------------------------------
 */

int lc_command_doctor(lc_cli *cli, const lc_arguments *arguments)
{
    const char *url = lc_arguments_value(arguments, "url");
    const char *token_file = lc_arguments_value(arguments, "token-file");
    lc_doctor doctor = {.cli = cli};

    if (url == NULL && token_file != NULL)
        return lc_cli_usage(cli, "--token-file needs --url");
    if (url != NULL) {
        look_at_daemon(&doctor, url, token_file);
    } else {
        look_outside(&doctor);
        look_inside(&doctor);
    }
    print_findings(&doctor);
    return doctor.is_any_bad ? LC_EXIT_FAILED : LC_EXIT_OK;
}
