/* welcome.c - the first minute with loci: `loci` and `loci init`. */
#include "cli/welcome.h"

#include <sys/stat.h>

#include "base/error.h"
#include "base/json.h"
#include "base/str.h"
#include "cli/command.h"
#include "cli/help.h"
#include "cli/opening.h"
#include "cli/store_path.h"

static void suggest(lc_cli *cli, const char *const *rows)
{
    lc_help_list *list = lc_help_list_new(cli);

    for (; rows[0] != NULL; rows += 2)
        lc_help_list_add(list, loci_str_of(rows[0]), loci_str_of(rows[1]));
    lc_help_list_write(list);
}

static void suggest_first_steps(lc_cli *cli)
{
    static const char *const rows[] = {
        "loci fact write city Oslo",
        "Remember that something is true",
        "loci fact current city",
        "What is true now",
        "loci fact history city",
        "What was true before, and why it changed",
        "loci status",
        "What the store holds",
        "loci help",
        "Everything else",
        NULL,
    };

    lc_help_heading(cli, "What to try next");
    suggest(cli, rows);
}

static void print_size(lc_cli *cli, const char *path)
{
    struct stat info;

    if (stat(path, &info) != 0)
        return;
    if (info.st_size >= 1024 * 1024)
        lc_cli_print(cli, ", %.1f MB", (double)info.st_size / (1024 * 1024));
    else
        lc_cli_print(cli, ", %lld kB", (long long)(info.st_size + 1023) / 1024);
}

static void welcome_json(lc_cli *cli, const lc_store_path *path, bool exists)
{
    lc_json_writer w;

    lc_jw_init(&w, &cli->out);
    lc_jw_object(&w);
    lc_jw_member_text(&w, "version", loci_version());
    lc_jw_member_text(&w, "store", path->text);
    lc_jw_member_bool(&w, "exists", exists);
    lc_jw_end(&w);
    lc_buf_append_byte(&cli->out, '\n');
}

static void welcome_newcomer(lc_cli *cli, const lc_store_path *path)
{
    static const char *const rows[] = {
        "loci init",
        "Make your store",
        "loci fact write city Oslo",
        "Or start right away: the store is made when it is first needed",
        "loci help",
        "Everything it can do",
        NULL,
    };

    lc_cli_print(cli,
                 "It keeps what an agent knows, why, and since when, in one file on your disk.\n"
                 "Nothing is overwritten, nothing leaves your machine.\n");
    lc_help_heading(cli, "There is no store yet. Begin with");
    suggest(cli, rows);
    lc_cli_print(cli, "\nIt will be at %s\n(--store FILE or LOCI_STORE choose another place)\n",
                 path->text);
}

int lc_welcome(lc_cli *cli)
{
    lc_store_path path;
    loci_error err;
    bool exists;

    if (lc_store_path_find(cli, &path, &err) != LOCI_OK)
        return lc_cli_report(cli, &err);
    exists = lc_store_path_exists(&path);
    if (cli->globals.wants_json) {
        welcome_json(cli, &path, exists);
        return LC_EXIT_OK;
    }
    lc_cli_print_styled(cli, LC_STYLE_HEADING, "loci");
    lc_cli_print(cli, " %s, the state engine for AI agents\n\n", loci_version());
    if (!exists) {
        welcome_newcomer(cli, &path);
        return LC_EXIT_OK;
    }
    lc_cli_print(cli, "Your store: %s", path.label);
    print_size(cli, path.text);
    lc_buf_append_byte(&cli->out, '\n');
    suggest_first_steps(cli);
    return LC_EXIT_OK;
}

/* A server has to be asked. */
static bool has_store(lc_cli *cli)
{
    lc_opening opening = {.flags = LOCI_OPEN_INLINE | LOCI_OPEN_EXISTING, .is_silent = true};
    loci_engine *engine = NULL;
    bool found = lc_opening_run(cli, &opening, &engine, NULL) == LOCI_OK;

    loci_close(engine);
    return found;
}

int lc_command_init(lc_cli *cli, const lc_arguments *arguments)
{
    lc_opening opening = {.flags = LOCI_OPEN_INLINE};
    loci_engine *engine = NULL;
    lc_store_path path;
    loci_error err;
    bool existed;
    lc_json_writer w;

    (void)arguments; /* It has none of its own. */
    if (lc_store_path_find(cli, &path, &err) != LOCI_OK)
        return lc_cli_report(cli, &err);
    existed = path.is_file ? lc_store_path_exists(&path) : has_store(cli);
    if (lc_opening_run(cli, &opening, &engine, &err) != LOCI_OK)
        return lc_cli_report(cli, &err);
    loci_close(engine);

    if (cli->globals.wants_json) {
        lc_jw_init(&w, &cli->out);
        lc_jw_object(&w);
        lc_jw_member_text(&w, "store", path.label);
        lc_jw_member_bool(&w, "created", !existed);
        lc_jw_end(&w);
        lc_buf_append_byte(&cli->out, '\n');
        return LC_EXIT_OK;
    }
    lc_cli_print_styled(cli, LC_STYLE_GOOD, "✓");
    lc_cli_print(cli,
                 existed ? " There already is a store at %s; it is fine as it is\n"
                         : " Made a store at %s\n",
                 path.label);
    if (!cli->globals.is_quiet)
        suggest_first_steps(cli);
    return LC_EXIT_OK;
}
