/* doctor_inside.c - the store opened and looked through. What cannot be opened is explained, not
 * repaired: a doctor that writes could make it worse. */
#include "cli/doctor.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/str.h"
#include "cli/opening.h"
#include "cli/operation.h"
#include "cli/store_path.h"

static const char *advice_for(const loci_error *err)
{
    switch (err->status) {
    case LOCI_ENOTFOUND:
        return "`loci init` makes it";
    case LOCI_EINVAL:
        return "Correct the setting; `loci help config` says where they come from";
    case LOCI_EFORBIDDEN:
        return "Give yourself read and write permission for the file and its directory";
    case LOCI_ECORRUPT:
        return "Choose another file with --store, or bring a backup back: `loci restore PATH`";
    case LOCI_EUNSUPPORTED:
        return "Install a newer loci";
    case LOCI_ERESOURCE:
        return "Make room on the disk";
    case LOCI_EUNAVAILABLE:
    case LOCI_EDEADLINE:
        return "Another process is busy with it; try again";
    default:
        return NULL;
    }
}

static void add_failure(lc_doctor *doctor, const char *name, const loci_error *err)
{
    bool is_setting = err->status == LOCI_EINVAL;
    lc_finding finding = {LC_FINDING_BAD, is_setting ? "settings" : name, NULL, advice_for(err)};

    lc_doctor_add(doctor, &finding, "%s", err->message);
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
        lc_doctor_add(doctor, &(lc_finding){.name = "schema"}, "%.*s",
                      LC_STR_ARG(lc_buf_str(&text)));
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
        lc_finding finding = {LC_FINDING_BAD, "content", NULL,
                              "`loci verify` lists the problems; `loci rebuild` makes everything "
                              "again from the log"};

        lc_doctor_add(doctor, &finding, "%s", err.message);
        return;
    }
    loci_answer_free(answer);
    lc_doctor_add(doctor, &(lc_finding){.name = "content"}, "log and projections agree (%lld ms)",
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
        finding.advice = "`script/data` brings it; loci works without, and says where it estimates";
    } else if (problem.len > 0) {
        finding.kind = LC_FINDING_BAD;
        finding.advice = "Remove it and run `script/data`: what it gives is wrong or estimated";
    }
    if (problem.len > 0)
        lc_doctor_add(doctor, &finding, "%.*s (for %.*s)", LC_STR_ARG(problem), LC_STR_ARG(use));
    else
        lc_doctor_add(doctor, &finding, "%.*s is whole: %.*s", LC_STR_ARG(name), LC_STR_ARG(use));
}

/* The files are optional: one that is missing is worth knowing, one that is damaged is wrong. */
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

/* Only a hint: whether the shell has read it cannot be seen from here. */
static void look_at_shell(lc_doctor *doctor)
{
    const char *shell = getenv("SHELL");
    const char *slash = shell != NULL ? strrchr(shell, '/') : NULL;
    const char *name = slash != NULL ? slash + 1 : shell;
    lc_finding finding = {LC_FINDING_NOTE, "completion", NULL, NULL};

    if (name == NULL || (strcmp(name, "bash") != 0 && strcmp(name, "zsh") != 0))
        return;
    lc_doctor_add(doctor, &finding, "source <(loci completion %s)  in ~/.%src completes commands",
                  name, name);
}

void lc_doctor_look_inside(lc_doctor *doctor)
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
    lc_doctor_add(doctor, &(lc_finding){.name = "opens"}, "in %lld ms",
                  (long long)((lc_clock_monotonic_us() - began_us) / 1000));
    lc_doctor_add(doctor, &(lc_finding){.name = "settings"},
                  "file, environment and flags are valid");
    look_at_status(doctor, engine);
    look_at_content(doctor, engine);
    look_at_data(doctor, engine);
    look_at_shell(doctor);
    loci_close(engine);
}
