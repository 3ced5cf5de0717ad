/* recover.c - `loci restore`, and what `loci recover` prints.
 *
 * A restore must not destroy data that may still be needed. A store that can be read is replaced
 * only after a question or with --yes. One that cannot be read is replaced in three steps: the new
 * store is made beside it, the files of the damaged one are renamed, and the new one gets their
 * name. A restore that fails before the second step has changed nothing.
 */
#include "cli/recover.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/json.h"
#include "base/str.h"
#include "base/url.h"
#include "cli/command.h"
#include "cli/input.h"
#include "cli/link.h"
#include "cli/opening.h"
#include "cli/operation.h"

#define PATH_BYTES (PATH_MAX + 64)
#define ASIDE_MAX 1000 /* Damaged stores with one name. */

/* Suffixes of the files that SQLite keeps beside a store; the store itself comes last. */
static const char *const file_ends[] = {"-wal", "-shm", "-journal", ""};
#define FILE_ENDS (sizeof file_ends / sizeof *file_ends)

typedef struct restore {
    lc_cli *cli;
    const char *backup;
    bool is_yes;
    lc_store_path store;
    char moved_to[PATH_BYTES]; /* Where the damaged store is now; "" = nowhere. */
} restore;

/* ---- Calls ----------------------------------------------------------------------------------- */

/* The answer goes to the arena: one of an engine must not outlive it. */
static loci_status call_restore(const restore *r, loci_engine *engine, loci_str *out,
                                loci_error *err)
{
    lc_operation operation = {.name = "store.restore"};
    lc_link link = lc_link_to(r->cli, engine);
    lc_json_writer w;
    loci_status status;
    lc_buf args, answer;

    lc_buf_init(&args, r->cli->heap, LOCI_MEM_REQUESTS, 64u * 1024);
    lc_buf_init(&answer, r->cli->heap, LOCI_MEM_REQUESTS, LC_ANSWER_BYTES_MAX);
    lc_jw_init(&w, &args);
    lc_jw_object(&w);
    lc_jw_member_text(&w, "path", r->backup);
    lc_jw_end(&w);
    status = lc_buf_status(&args, err);
    operation.args = lc_buf_str(&args);
    if (status == LOCI_OK)
        status = lc_operation_call(r->cli, &link, &operation, &answer, err);
    if (status == LOCI_OK)
        *out = lc_arena_copy(r->cli->arena, lc_buf_str(&answer));
    lc_buf_clear(&answer);
    lc_buf_clear(&args);
    return status;
}

/* How many events and users would be replaced. */
static loci_status count_content(const restore *r, loci_engine *engine, int64_t *out_events,
                                 int64_t *out_users, loci_error *err)
{
    lc_operation operation = {.name = "store.status", .args = LC_STR("{}")};
    lc_link link = lc_link_to(r->cli, engine);
    const lc_json *json = NULL, *events, *users;
    lc_buf answer;
    loci_status status;

    lc_buf_init(&answer, r->cli->heap, LOCI_MEM_REQUESTS, LC_ANSWER_BYTES_MAX);
    status = lc_operation_call(r->cli, &link, &operation, &answer, err);
    if (status == LOCI_OK)
        status = lc_json_parse(r->cli->arena, lc_buf_str(&answer), 0, &json, err);
    if (status == LOCI_OK) {
        events = lc_json_find(json, "events", LC_JSON_INT);
        users = lc_json_find(json, "users", LC_JSON_INT);
        *out_events = events != NULL ? lc_json_int(events) : 0;
        *out_users = users != NULL ? lc_json_int(users) : 0;
    }
    lc_buf_clear(&answer);
    return status;
}

/* ---- A store that can be read ---------------------------------------------------------------- */

static bool ask(const restore *r, int64_t events, int64_t users)
{
    lc_line_reader reader;
    loci_str line;
    bool is_yes;

    lc_cli_print(r->cli,
                 "The store %s has %lld event%s of %lld user%s. Replace everything in it with %s? "
                 "[y/N] ",
                 r->store.label, (long long)events, events == 1 ? "" : "s", (long long)users,
                 users == 1 ? "" : "s", r->backup);
    if (!lc_cli_flush(r->cli))
        return false;
    lc_line_reader_init(&reader, r->cli->heap, STDIN_FILENO, 1024);
    is_yes = lc_line_reader_next(&reader, &line) == LC_LINE_READ;
    if (is_yes) {
        line = lc_str_trim(line);
        is_yes = lc_str_is(line, "y") || lc_str_is(line, "Y") || lc_str_is(line, "yes");
    }
    lc_line_reader_clear(&reader);
    return is_yes;
}

/* An empty store needs no question. */
static loci_status confirm(const restore *r, loci_engine *engine, loci_error *err)
{
    int64_t events = 0, users = 0;
    loci_status status = r->is_yes ? LOCI_OK : count_content(r, engine, &events, &users, err);

    if (status != LOCI_OK || events == 0)
        return status;
    if (!isatty(STDIN_FILENO) || !r->cli->out_terminal.is_terminal)
        return lc_fail(
            err, LOCI_EFORBIDDEN,
            "the store %s has %lld events of %lld users, which the restore would replace; "
            "pass --yes to do so, or keep a copy first with `loci backup FILE`",
            r->store.label, (long long)events, (long long)users);
    return ask(r, events, users) ? LOCI_OK : lc_fail(err, LOCI_ECANCELLED, "nothing was restored");
}

/* ---- A store that cannot be read ------------------------------------------------------------- */

static bool exists(const char *path)
{
    struct stat info;

    return lstat(path, &info) == 0;
}

/* The first free name of NAME.damaged, NAME.damaged-2, … */
static loci_status choose_aside(const char *store, char out[PATH_BYTES], loci_error *err)
{
    for (int i = 1; i <= ASIDE_MAX; i++) {
        (void)snprintf(out, PATH_BYTES, i == 1 ? "%s.damaged" : "%s.damaged-%d", store, i);
        if (!exists(out))
            return LOCI_OK;
    }
    return lc_fail(err, LOCI_ELIMIT, "%s.damaged and its numbers up to %d exist; remove some",
                   store, ASIDE_MAX);
}

static loci_status rename_files(const char *from, const char *to, loci_error *err)
{
    char a[PATH_BYTES + 16], b[PATH_BYTES + 16];

    for (size_t i = 0; i < FILE_ENDS; i++) {
        (void)snprintf(a, sizeof a, "%s%s", from, file_ends[i]);
        (void)snprintf(b, sizeof b, "%s%s", to, file_ends[i]);
        if (rename(a, b) != 0 && errno != ENOENT)
            return lc_fail(err, LOCI_EFORBIDDEN, "cannot rename %s to %s: %s", a, b,
                           strerror(errno));
    }
    return LOCI_OK;
}

static void remove_files(const char *path)
{
    char file[PATH_BYTES + 16];

    for (size_t i = 0; i < FILE_ENDS; i++) {
        (void)snprintf(file, sizeof file, "%s%s", path, file_ends[i]);
        (void)unlink(file); /* Most of them do not exist. */
    }
}

/* After a power loss the directory must not have the old names with the new content gone. */
static void sync_directory(lc_cli *cli, const char *file)
{
    int descriptor = open(lc_store_path_directory(cli, file), O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (descriptor < 0)
        return;
    (void)fsync(descriptor); /* Not every file system can. */
    (void)close(descriptor);
}

/* Makes a store with the content of the backup at `path`. */
static loci_status make_new(const restore *r, const char *path, loci_str *out, loci_error *err)
{
    lc_opening opening = {.flags = LOCI_OPEN_INLINE, .is_silent = true, .creates_named = true};
    const char *store = r->cli->globals.store;
    loci_engine *engine = NULL;
    loci_status status;

    r->cli->globals.store = path;
    status = lc_opening_run(r->cli, &opening, &engine, err);
    r->cli->globals.store = store;
    if (status == LOCI_OK)
        status = call_restore(r, engine, out, err);
    loci_close(engine);
    return status;
}

static loci_status replace_unreadable(restore *r, loci_str *out, loci_error *err)
{
    char store[PATH_MAX], fresh[PATH_BYTES];
    loci_status status = LOCI_OK;

    if (realpath(r->store.text, store) == NULL)
        return lc_fail(err, LOCI_EUNAVAILABLE, "%s: %s", r->store.label, strerror(errno));
    (void)snprintf(fresh, sizeof fresh, "%s.restoring-%ld", store, (long)getpid());
    status = make_new(r, fresh, out, err);
    if (status == LOCI_OK)
        status = choose_aside(store, r->moved_to, err);
    if (status == LOCI_OK)
        status = rename_files(store, r->moved_to, err);
    if (status == LOCI_OK)
        status = rename_files(fresh, store, err);
    sync_directory(r->cli, store);
    if (status != LOCI_OK)
        remove_files(fresh);
    return status;
}

/* ---- loci restore ---------------------------------------------------------------------------- */

/* store.restore answers a conflict for a store that can be opened but has damaged pages. If the
 * damage is in the backup instead, making a new store of it fails again, and nothing is moved. */
static loci_status run(restore *r, loci_str *out, loci_error *err)
{
    lc_opening opening = {.flags = LOCI_OPEN_INLINE, .is_silent = true, .notes_creation = true};
    loci_engine *engine = NULL;
    bool is_unread;
    loci_status status = lc_opening_run(r->cli, &opening, &engine, err);

    is_unread = status == LOCI_ECORRUPT && r->store.is_file;
    if (status == LOCI_OK) {
        status = confirm(r, engine, err);
        is_unread = status == LOCI_ECORRUPT && r->store.is_file;
    }
    if (status == LOCI_OK) {
        status = call_restore(r, engine, out, err);
        is_unread = (status == LOCI_ECONFLICT || status == LOCI_ECORRUPT) && r->store.is_file;
    }
    loci_close(engine);
    return is_unread ? replace_unreadable(r, out, err) : status;
}

static void print_restored(const restore *r, loci_str answer)
{
    lc_cli *cli = r->cli;
    const lc_json *json = NULL;
    lc_json_writer w;

    if (!cli->globals.wants_json) {
        if (r->moved_to[0] != '\0')
            lc_cli_print(cli, "Moved the damaged store to %s\n", r->moved_to);
        lc_cli_print(cli, "Restored %s from %s\n", r->store.label, r->backup);
        return;
    }
    if (lc_json_parse(cli->arena, answer, 0, &json, NULL) != LOCI_OK)
        return;
    lc_jw_init(&w, &cli->out);
    lc_jw_object(&w);
    for (const lc_json *m = lc_json_first(json); m != NULL; m = lc_json_next(m)) {
        lc_jw_name_str(&w, lc_json_name(m));
        lc_jw_value(&w, m);
    }
    if (r->moved_to[0] != '\0')
        lc_jw_member_text(&w, "moved_to", r->moved_to);
    lc_jw_end(&w);
    lc_buf_append_byte(&cli->out, '\n');
}

int lc_command_restore(lc_cli *cli, const lc_arguments *arguments)
{
    restore r = {.cli = cli, .is_yes = lc_arguments_has(arguments, "yes")};
    loci_str answer = LC_STR("{}");
    struct stat info;
    loci_error err;
    loci_status status;

    if (arguments->word_count == 0)
        return lc_cli_usage(cli, "the backup is missing: loci restore PATH");
    r.backup = arguments->words[0];
    status = lc_store_path_find(cli, &r.store, &err);
    if (status == LOCI_OK && (!r.store.is_file || lc_url_is(r.backup)))
        status = lc_fail(&err, LOCI_EUNSUPPORTED,
                         "restore works on SQLite stores and their backup files; restore a "
                         "PostgreSQL store with its server's own tools (pg_dump, pg_restore), or "
                         "copy a store with `loci migrate --from STORE --to STORE`");
    if (status == LOCI_OK && stat(r.backup, &info) != 0)
        status = lc_fail(&err, LOCI_ENOTFOUND, "%s: %s", r.backup, strerror(errno));
    if (status == LOCI_OK)
        status = run(&r, &answer, &err);
    if (status == LOCI_OK)
        print_restored(&r, answer);
    return status == LOCI_OK ? LC_EXIT_OK : lc_cli_report(cli, &err);
}

/* ---- loci recover ---------------------------------------------------------------------------- */

#define RANGES_SHOWN 20

static int64_t number_of(const lc_json *answer, const char *name)
{
    const lc_json *member = lc_json_find(answer, name, LC_JSON_INT);

    return member != NULL ? lc_json_int(member) : 0;
}

static loci_str text_of(const lc_json *object, const char *name)
{
    const lc_json *member = lc_json_find(object, name, LC_JSON_STRING);

    return member != NULL ? lc_json_str(member) : LC_STR("");
}

static bool is_true(const lc_json *object, const char *name)
{
    const lc_json *member = lc_json_member(object, loci_str_of(name));

    return member != NULL && lc_json_kind_of(member) == LC_JSON_BOOL && lc_json_bool(member);
}

static void print_text(lc_cli *cli, loci_str text)
{
    lc_text_append_visible(&cli->out, text);
}

static void print_lost(lc_cli *cli, const lc_json *answer)
{
    const lc_json *range = lc_json_first(lc_json_member(answer, LC_STR("lost")));
    int64_t shown = 0;

    for (; range != NULL && shown < RANGES_SHOWN; range = lc_json_next(range), shown++) {
        lc_cli_print(cli, "  lost: events %lld to %lld of ",
                     (long long)number_of(range, "first_seq"),
                     (long long)number_of(range, "last_seq"));
        print_text(cli, text_of(range, "tenant_id"));
        lc_cli_print(cli, "/");
        print_text(cli, text_of(range, "user_id"));
        lc_cli_print(cli, "\n");
    }
    if (range != NULL)
        lc_cli_print(cli, "  and more: --json lists up to 1000 ranges\n");
    if (number_of(answer, "events_unusable") > 0)
        lc_cli_print(cli, "  %lld of them could be read, but depend on events that were lost\n",
                     (long long)number_of(answer, "events_unusable"));
    if (number_of(answer, "users_without_head") > 0)
        lc_cli_print(cli,
                     "  Later events of %lld users may be lost, too; their number is unknown\n",
                     (long long)number_of(answer, "users_without_head"));
    if (is_true(answer, "wal_damaged"))
        lc_cli_print(cli, "  The end of the write-ahead log, with the last writes, was damaged\n");
}

int lc_recover_print(lc_cli *cli, const lc_json *answer)
{
    lc_cli_print(cli, "Recovered %lld events of %lld users and %lld settings into ",
                 (long long)number_of(answer, "events"), (long long)number_of(answer, "users"),
                 (long long)number_of(answer, "settings"));
    print_text(cli, text_of(answer, "to"));
    lc_cli_print(cli, "\nLost %lld events\n", (long long)number_of(answer, "events_lost"));
    print_lost(cli, answer);
    lc_cli_print(cli, "Not kept: tokens, jobs, stored answers and vectors\n");
    if (!is_true(answer, "sound"))
        lc_cli_print(cli, "`loci verify` finds problems in the new store: run it to list them\n");
    lc_cli_print(cli, "To use it: loci restore ");
    print_text(cli, text_of(answer, "to"));
    lc_cli_print(cli, "\n");
    return LC_EXIT_OK;
}
