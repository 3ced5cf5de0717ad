/* migrate.c - `loci migrate`: copies one store into another and checks that they are equal.
 *
 *     from --export--> lines --import--> to --verify--> to --export--> the same lines
 *
 * An export contains all events and settings in a fixed order, so two stores that export the same
 * bytes are equal; verify checks that the derived tables agree with the events. The first line of
 * an export describes its origin and is not compared. An interrupted migration, or one of a store
 * that has grown since, is resumed by running it again.
 */
#include "cli/command.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "base/error.h"
#include "base/json.h"
#include "base/str.h"
#include "cli/input.h"
#include "cli/opening.h"
#include "cli/operation.h"

#define COMPARE_BYTES 65536u

typedef struct migration {
    lc_cli *cli;
    const char *from;
    const char *to;
    char there[LC_TEMPORARY_BYTES]; /* Exports of both stores; "" = not created. */
    char back[LC_TEMPORARY_BYTES];
} migration;

static loci_status run(migration *m, loci_engine *engine, const char *name, const char *path,
                       loci_error *err)
{
    lc_operation operation = {.name = name};
    lc_link link = lc_link_to(m->cli, engine);
    lc_json_writer w;
    lc_buf args, answer;
    loci_status status;

    lc_buf_init(&args, m->cli->heap, LOCI_MEM_REQUESTS, 8192);
    lc_buf_init(&answer, m->cli->heap, LOCI_MEM_REQUESTS, LC_ANSWER_BYTES_MAX);
    lc_jw_init(&w, &args);
    lc_jw_object(&w);
    if (path != NULL)
        lc_jw_member_text(&w, "path", path);
    if (strcmp(name, "store.export") == 0)
        lc_jw_member_bool(&w, "force", true);
    lc_jw_end(&w);
    status = lc_buf_status(&args, err);
    operation.args = lc_buf_str(&args);
    if (status == LOCI_OK)
        status = lc_operation_call(m->cli, &link, &operation, &answer, err);
    lc_buf_clear(&answer);
    lc_buf_clear(&args);
    return status;
}

static loci_status open_store(migration *m, const char *store, unsigned flags, loci_engine **out,
                              loci_error *err)
{
    lc_opening opening = {
        .flags = flags | LOCI_OPEN_INLINE, .is_silent = true, .creates_named = true};

    m->cli->globals.store = store;
    return lc_opening_run(m->cli, &opening, out, err);
}

static loci_status move_all(migration *m, loci_error *err)
{
    loci_engine *engine = NULL;
    loci_status status = open_store(m, m->from, LOCI_OPEN_EXISTING, &engine, err);

    if (status == LOCI_OK)
        status = run(m, engine, "store.export", m->there, err);
    loci_close(engine);
    engine = NULL;
    if (status == LOCI_OK)
        status = open_store(m, m->to, 0, &engine, err);
    if (status == LOCI_OK)
        status = run(m, engine, "store.import", m->there, err);
    if (status == LOCI_OK)
        status = run(m, engine, "store.verify", NULL, err);
    if (status == LOCI_OK)
        status = run(m, engine, "store.export", m->back, err);
    loci_close(engine);
    return status;
}

static void skip_line(FILE *file)
{
    int c;

    do {
        c = getc(file);
    } while (c != '\n' && c != EOF);
}

static bool are_equal(FILE *a, FILE *b)
{
    static char x[COMPARE_BYTES], y[COMPARE_BYTES];
    size_t got;

    skip_line(a);
    skip_line(b);
    do {
        got = fread(x, 1, sizeof x, a);
        if (fread(y, 1, sizeof y, b) != got || memcmp(x, y, got) != 0)
            return false;
    } while (got > 0);
    return ferror(a) == 0 && ferror(b) == 0;
}

static loci_status compare(const migration *m, loci_error *err)
{
    FILE *a = fopen(m->there, "rb");
    FILE *b = fopen(m->back, "rb");
    loci_status status = LOCI_OK;

    if (a == NULL || b == NULL)
        status = lc_fail(err, LOCI_EUNAVAILABLE, "cannot read an export: %s", strerror(errno));
    else if (!are_equal(a, b))
        status = lc_fail(err, LOCI_ECONFLICT,
                         "all events were copied, but the stores differ: the destination was not "
                         "empty, or the source was written to meanwhile");
    if (a != NULL)
        (void)fclose(a); /* Was only read. */
    if (b != NULL)
        (void)fclose(b);
    return status;
}

static loci_status make_file(char out[LC_TEMPORARY_BYTES], loci_error *err)
{
    int descriptor;
    loci_status status = lc_temporary_open("migrate", out, &descriptor, err);

    if (status == LOCI_OK)
        (void)close(descriptor); /* Nothing was written. */
    else
        out[0] = '\0';
    return status;
}

static void remove_file(const char *path)
{
    if (path[0] != '\0')
        (void)unlink(path); /* Best effort. */
}

int lc_command_migrate(lc_cli *cli, const lc_arguments *arguments)
{
    migration m = {.cli = cli,
                   .from = lc_arguments_value(arguments, "from"),
                   .to = lc_arguments_value(arguments, "to")};
    loci_error err;
    loci_status status;

    if (m.from == NULL || m.to == NULL)
        return lc_cli_usage(cli, "migrate needs both stores: --from STORE --to STORE");
    if (strcmp(m.from, m.to) == 0)
        return lc_cli_usage(cli, "--from and --to name the same store");
    status = make_file(m.there, &err);
    if (status == LOCI_OK)
        status = make_file(m.back, &err);
    if (status == LOCI_OK)
        status = move_all(&m, &err);
    if (status == LOCI_OK)
        status = compare(&m, &err);
    remove_file(m.there);
    remove_file(m.back);
    if (status != LOCI_OK)
        return lc_cli_report(cli, &err);
    if (cli->globals.wants_json)
        lc_cli_print(cli, "{\"equal\":true}\n");
    else
        lc_cli_print(cli,
                     "Copied; both stores are equal. Tokens, jobs and idempotency records were not "
                     "copied.\n");
    return LC_EXIT_OK;
}
