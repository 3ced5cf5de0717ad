/* documents.c - `loci reference`: the tables as documents. The man page also shows the commands,
 * which only the command line knows: they are handed over as rows. */
#include "cli/command.h"

#include <stdio.h>

#include "base/error.h"
#include "base/str.h"
#include "cli/setting_sources.h"
#include "ops/reference.h"
#include "server/openapi.h"

static const lc_reference_option variables[] = {
    {"LOCI_STORE", "The store, where --store is not given"},
    {"LOCI_TENANT", "The tenant, where --tenant is not given"},
    {"LOCI_USER", "The user, where --user is not given"},
    {"LOCI_CONFIG", "A JSON file of settings, where --config is not given"},
    {"LOCI_CALL_TIMEOUT_MS",
     "The setting call.timeout_ms; every setting has its variable, made the same way"},
    {"NO_COLOR", "No colours when it is set to anything"},
    {"XDG_DATA_HOME", "Where the default store is: loci/loci.db below it, or below ~/.local/share"},
    {NULL, NULL},
};

static size_t count_options(const lc_option *options)
{
    size_t count = 0;

    while (options != NULL && options[count].name != NULL)
        count++;
    return count;
}

/* Rows for the man page, in the arena; NULL when out of memory. */
static const lc_reference_option *convert_options(lc_cli *cli, const lc_option *options)
{
    size_t count = count_options(options);
    lc_reference_option *rows = lc_arena_zalloc_array(cli->arena, count + 1, sizeof *rows);
    char usage[128];

    for (size_t i = 0; rows != NULL && i < count; i++) {
        const lc_option *option = &options[i];
        char letter[8] = "";

        if (option->letter != 0)
            (void)snprintf(letter, sizeof letter, "-%c, ", option->letter);
        (void)snprintf(usage, sizeof usage, "%s--%s%s%s", letter, option->name,
                       option->value != NULL ? " " : "",
                       option->value != NULL ? option->value : "");
        rows[i].usage = lc_arena_copy(cli->arena, loci_str_of(usage)).ptr;
        rows[i].help = option->help;
    }
    return rows;
}

static const lc_reference_command *convert_commands(lc_cli *cli)
{
    const lc_command *table = lc_command_table();
    lc_reference_command *rows;
    size_t count = 0;
    char usage[256];

    while (table[count].name != NULL)
        count++;
    rows = lc_arena_zalloc_array(cli->arena, count + 1, sizeof *rows);
    for (size_t i = 0; rows != NULL && i < count; i++) {
        (void)snprintf(usage, sizeof usage, "%s%s%s", table[i].name,
                       table[i].usage[0] != '\0' ? " " : "", table[i].usage);
        rows[i].name = table[i].name;
        rows[i].usage = lc_arena_copy(cli->arena, loci_str_of(usage)).ptr;
        rows[i].help = table[i].help;
        rows[i].options = convert_options(cli, table[i].options);
    }
    return rows;
}

static int print_openapi(lc_cli *cli)
{
    lc_json_writer out;

    lc_jw_init(&out, &cli->out);
    lc_openapi_write(&out);
    lc_buf_append_byte(&cli->out, '\n');
    return LC_EXIT_OK;
}

int lc_command_reference(lc_cli *cli, const lc_arguments *arguments)
{
    bool wants_man = lc_arguments_has(arguments, "man");
    bool wants_markdown = lc_arguments_has(arguments, "markdown");
    bool wants_openapi = lc_arguments_has(arguments, "openapi");
    lc_reference_cli rows = {.environment = variables};
    loci_error err;

    if (wants_man + wants_markdown + wants_openapi != 1)
        return lc_cli_usage(cli, "reference needs one of --markdown, --man and --openapi");
    if (wants_openapi)
        return print_openapi(cli);
    if (wants_markdown) {
        lc_reference_markdown(&cli->out);
        return LC_EXIT_OK;
    }
    rows.commands = convert_commands(cli);
    rows.options = convert_options(cli, lc_cli_global_options());
    if (rows.commands == NULL || rows.options == NULL) {
        (void)lc_fail_memory(&err);
        return lc_cli_report(cli, &err);
    }
    lc_reference_man(&cli->out, &rows);
    return LC_EXIT_OK;
}
