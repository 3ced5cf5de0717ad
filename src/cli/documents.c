/* documents.c - texts made from the tables of commands, operations and settings: `loci completion`
 * and `loci reference`. */
#include "cli/command.h"

#include <stdio.h>

#include "base/error.h"
#include "base/str.h"
#include "cli/help.h"
#include "ops/op.h"
#include "ops/reference.h"
#include "ops/surface.h"
#include "server/openapi.h"

/* ---- loci completion -------------------------------------------------------------------------
 *
 * The scripts for bash and zsh work alike: they find the command and the verb among the words
 * before the cursor and fill `list` from two tables, rows of a `case`: what may follow, and which
 * values an option takes
 * (`only`). The script for bash works without the package bash-completion; the one for zsh has a
 * description beside each word and may be sourced, or put as _loci into a directory of fpath. */

typedef struct script {
    lc_cli *cli;
    bool is_zsh;
} script;

static void add_text(const script *s, const char *text)
{
    lc_buf_append(&s->cli->out, loci_str_of(text));
}

/* bash: word; zsh: 'word:description', escaped. */
static void add_item(const script *s, loci_str word, const char *help)
{
    lc_buf *out = &s->cli->out;

    if (!s->is_zsh) {
        lc_buf_append(out, word);
        lc_buf_append_byte(out, ' ');
        return;
    }
    lc_buf_append_byte(out, '\'');
    for (size_t i = 0; i < word.len; i++) {
        if (word.ptr[i] == ':')
            lc_buf_append_byte(out, '\\');
        lc_buf_append_byte(out, word.ptr[i]);
    }
    lc_buf_append_byte(out, ':');
    for (const char *byte = help; *byte != '\0'; byte++) {
        if (*byte == '\'')
            add_text(s, "'\\''");
        else
            lc_buf_append_byte(out, *byte);
    }
    add_text(s, "' ");
}

static void add_option(const script *s, const char *name, const char *help)
{
    char text[128];

    (void)snprintf(text, sizeof text, "--%s", name); /* Names are far shorter. */
    for (char *byte = text; *byte != '\0'; byte++)
        *byte = *byte == '_' ? '-' : *byte;
    add_item(s, loci_str_of(text), help);
}

static void add_options(const script *s, const lc_option *options)
{
    for (; options != NULL && options->name != NULL; options++)
        add_option(s, options->name, options->help);
}

static void add_params(const script *s, const lc_op *op)
{
    const lc_param *param;

    for (size_t i = 0; (param = lc_op_param(op, i)) != NULL; i++)
        add_option(s, param->name, param->help);
}

static void add_settings(const script *s, const char *end)
{
    char name[128];

    for (size_t i = 0; i < lc_setting_view_count(); i++) {
        (void)snprintf(name, sizeof name, "%s%s", lc_setting_view_at(i).name, end);
        add_item(s, loci_str_of(name), lc_setting_view_at(i).help);
    }
}

/* Whether the operation at `index` is the first of its noun. */
static bool is_first_of_noun(size_t index)
{
    return index == 0 || !lc_str_eq(lc_noun_of(lc_op_at(index)), lc_noun_of(lc_op_at(index - 1)));
}

static void add_names(const script *s)
{
    for (const lc_command *command = lc_command_table(); command->name != NULL; command++)
        add_item(s, loci_str_of(command->name), command->help);
    for (size_t i = 0; i < lc_op_count(); i++) {
        if (is_first_of_noun(i) && lc_command_find(lc_noun_of(lc_op_at(i))) == NULL)
            add_item(s, lc_noun_of(lc_op_at(i)), "Operations");
    }
}

/* A row of a `case`: begin_row(s, "'fact write'"), items, end_row(). */
static void begin_row(const script *s, const char *pattern)
{
    lc_cli_print(s->cli, s->is_zsh ? "    %s) list=(" : "        %s) list='", pattern);
}

static void end_row(const script *s, bool is_value)
{
    if (s->is_zsh)
        add_text(s, is_value ? ") only=1 ;;\n" : ") ;;\n");
    else
        add_text(s, is_value ? "'; only=1;;\n" : "';;\n");
}

/* Adds the words that may follow a noun, and a noun and its verb. */
static void add_noun_rows(const script *s)
{
    char pattern[160];

    begin_row(s, "' '");
    add_names(s);
    end_row(s, false);
    for (size_t i = 0; i < lc_op_count(); i++) {
        const lc_op *op = lc_op_at(i);
        loci_str noun = lc_noun_of(op);

        if (is_first_of_noun(i)) {
            (void)snprintf(pattern, sizeof pattern, "'%.*s '", LC_STR_ARG(noun));
            begin_row(s, pattern);
            for (size_t j = i; j < lc_op_count() && (j == i || !is_first_of_noun(j)); j++)
                add_item(s, lc_verb_of(lc_op_at(j)), lc_op_at(j)->help);
            if (lc_str_is(noun, "config"))
                add_item(s, LC_STR("unset"), "Remove a stored setting");
            end_row(s, false);
        }
        (void)snprintf(pattern, sizeof pattern, "'%.*s %.*s'", LC_STR_ARG(noun),
                       LC_STR_ARG(lc_verb_of(op)));
        begin_row(s, pattern);
        add_params(s, op);
        end_row(s, false);
    }
}

/* Adds the words that may follow a command. */
static void add_command_rows(const script *s)
{
    for (const lc_command *command = lc_command_table(); command->name != NULL; command++) {
        loci_str rest = loci_str_of(command->words);
        const lc_op *op = NULL;
        char pattern[160];

        /* One that has the name of its noun (config) is in add_noun_rows() already. */
        if (command->noun != NULL && strcmp(command->noun, command->name) == 0)
            continue;
        (void)snprintf(pattern, sizeof pattern, "'%s '*", command->name);
        begin_row(s, pattern);
        while (rest.ptr != NULL)
            add_item(s, lc_str_split(rest, '|', &rest), "");
        add_options(s, command->options);
        if (command->operation != NULL)
            op = lc_op_find(loci_str_of(command->operation));
        else if (command->noun != NULL)
            op = lc_noun_verb_find(loci_str_of(command->noun), LC_STR("list"));
        if (op != NULL)
            add_params(s, op);
        if (strcmp(command->name, "help") == 0)
            add_names(s);
        for (size_t i = 0; strcmp(command->name, "call") == 0 && i < lc_op_count(); i++)
            add_item(s, loci_str_of(lc_op_at(i)->name), lc_op_at(i)->help);
        end_row(s, false);
    }
}

/* The values an option takes. */
static void add_value_rows(const script *s)
{
    const lc_param *param;
    char pattern[160];

    for (size_t i = 0; i < lc_op_count(); i++) {
        const lc_op *op = lc_op_at(i);

        for (size_t j = 0; (param = lc_op_param(op, j)) != NULL; j++) {
            loci_str rest = loci_str_of(param->choices);

            if (rest.ptr == NULL)
                continue;
            (void)snprintf(pattern, sizeof pattern, "'%.*s %.*s --%s'", LC_STR_ARG(lc_noun_of(op)),
                           LC_STR_ARG(lc_verb_of(op)), param->name);
            for (char *byte = pattern; *byte != '\0'; byte++)
                *byte = *byte == '_' ? '-' : *byte;
            begin_row(s, pattern);
            while (rest.ptr != NULL) {
                lc_buf_append(&s->cli->out, lc_str_split(rest, '|', &rest));
                lc_buf_append_byte(&s->cli->out, ' ');
            }
            end_row(s, true);
        }
    }
    begin_row(s, "'config '[gsu]*et' '*");
    add_settings(s, "");
    end_row(s, false);
    begin_row(s, "*' --set'");
    add_settings(s, "=");
    end_row(s, true);
}

/* "--store|--user": the global options whose value is the next word, as a pattern of `case`. */
static void add_valued_options(const script *s)
{
    const char *separator = "";

    for (const lc_option *option = lc_cli_global_options(); option->name != NULL; option++) {
        if (option->value == NULL)
            continue;
        lc_cli_print(s->cli, "%s--%s", separator, option->name);
        separator = "|";
    }
}

static void write_bash(const script *s)
{
    add_text(s, "# Completion of loci for bash, made by `loci completion bash`.\n"
                "_loci()\n{\n"
                "    local word=${COMP_WORDS[COMP_CWORD]} first= second= list= only= i\n"
                "    for ((i = 1; i < COMP_CWORD; i++)); do\n"
                "        case ${COMP_WORDS[i]} in\n        ");
    add_valued_options(s);
    add_text(s, ") ((i++)) ;;\n"
                "        -*) ;;\n"
                "        *)\n"
                "            if [[ -z $first ]]; then first=${COMP_WORDS[i]}\n"
                "            elif [[ -z $second ]]; then second=${COMP_WORDS[i]}; fi ;;\n"
                "        esac\n"
                "    done\n"
                "    case \"$first $second\" in\n");
    add_noun_rows(s);
    add_command_rows(s);
    add_text(s, "    esac\n"
                "    case \"$first $second ${COMP_WORDS[COMP_CWORD - 1]}\" in\n");
    add_value_rows(s);
    add_text(s, "    esac\n    [[ $only ]] || list+=' ");
    add_options(s, lc_cli_global_options());
    add_text(s, "'\n"
                "    # Options are offered when a dash was typed: names come first.\n"
                "    if [[ $word != -* && ! $only ]]; then\n"
                "        local item words=\n"
                "        for item in $list; do [[ $item == -* ]] || words+=\" $item\"; done\n"
                "        list=$words\n"
                "    fi\n"
                "    COMPREPLY=($(compgen -W \"$list\" -- \"$word\"))\n"
                "    [[ ${COMPREPLY[0]} == *= ]] && compopt -o nospace\n"
                "    return 0\n"
                "}\n"
                "complete -o default -F _loci loci\n");
}

static void write_zsh(const script *s)
{
    add_text(s, "#compdef loci\n"
                "# Completion of loci for zsh, made by `loci completion zsh`.\n"
                "_loci()\n{\n"
                "  local first= second= only= i\n"
                "  local -a list\n"
                "  for ((i = 2; i < CURRENT; i++)); do\n"
                "    case ${words[i]} in\n"
                "    (");
    add_valued_options(s);
    add_text(s, ") ((i++)) ;;\n"
                "    (-*) ;;\n"
                "    (*)\n"
                "      if [[ -z $first ]]; then first=${words[i]}\n"
                "      elif [[ -z $second ]]; then second=${words[i]}; fi ;;\n"
                "    esac\n"
                "  done\n"
                "  case \"$first $second\" in\n");
    add_noun_rows(s);
    add_command_rows(s);
    add_text(s, "  esac\n"
                "  case \"$first $second ${words[CURRENT - 1]}\" in\n");
    add_value_rows(s);
    add_text(s, "  esac\n"
                "  [[ -n $only ]] || list+=(");
    add_options(s, lc_cli_global_options());
    add_text(s,
             ")\n"
             "  [[ -n $only || ${words[CURRENT]} == -* ]] || list=(${list:#--*})\n"
             "  _describe loci list || _files\n"
             "}\n"
             "if [[ ${funcstack[1]} == _loci ]]; then _loci \"$@\"; else compdef _loci loci; fi\n");
}

/* In fish every candidate is a command of its own: complete -c loci -n CONDITION … */

/* Text in single quotes. */
static void add_fish_text(const script *s, const char *option, loci_str text)
{
    lc_cli_print(s->cli, " %s '", option);
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] == '\'' || text.ptr[i] == '\\')
            lc_buf_append_byte(&s->cli->out, '\\');
        lc_buf_append_byte(&s->cli->out, text.ptr[i]);
    }
    lc_buf_append_byte(&s->cli->out, '\'');
}

static void add_fish_word(const script *s, const char *condition, loci_str word, const char *help)
{
    lc_cli_print(s->cli, "complete -c loci -n '%s'", condition);
    add_fish_text(s, "-a", word);
    add_fish_text(s, "-d", loci_str_of(help));
    lc_buf_append_byte(&s->cli->out, '\n');
}

/* `choices` are the values it takes, "a|b", or NULL; a flag takes none. */
static void add_fish_option(const script *s, const char *condition, const lc_option *option,
                            const char *choices)
{
    loci_str rest = loci_str_of(choices);

    lc_cli_print(s->cli, "complete -c loci%s%s%s -l ", condition[0] != '\0' ? " -n '" : "",
                 condition, condition[0] != '\0' ? "'" : "");
    for (const char *byte = option->name; *byte != '\0'; byte++)
        lc_buf_append_byte(&s->cli->out, *byte == '_' ? '-' : *byte);
    if (option->letter != '\0')
        lc_cli_print(s->cli, " -s %c", option->letter);
    if (option->value != NULL)
        add_text(s, choices != NULL ? " -xa '" : " -r");
    while (rest.ptr != NULL && option->value != NULL) {
        loci_str choice = lc_str_split(rest, '|', &rest);

        lc_cli_print(s->cli, "%.*s%s", LC_STR_ARG(choice), rest.ptr != NULL ? " " : "'");
    }
    add_fish_text(s, "-d", loci_str_of(option->help));
    lc_buf_append_byte(&s->cli->out, '\n');
}

static void add_fish_params(const script *s, const char *condition, const lc_op *op)
{
    const lc_param *param;

    for (size_t i = 0; (param = lc_op_param(op, i)) != NULL; i++)
        add_fish_option(s, condition,
                        &(lc_option){.name = param->name,
                                     .value = param->kind != LC_PARAM_BOOL ? "VALUE" : NULL,
                                     .help = param->help},
                        param->choices);
}

static void write_fish(const script *s)
{
    char condition[256];

    add_text(s,
             "# Completion of loci for fish, made by `loci completion fish`.\n"
             "# __loci_at WORD...: whether the words before the cursor, options aside, are these.\n"
             "function __loci_at\n"
             "    set -l words (commandline -opc | string match -v -- '-*')\n"
             "    test \"$words[2..-1]\" = \"$argv\"\n"
             "end\n"
             "# __loci_in WORD...: whether they begin with these.\n"
             "function __loci_in\n"
             "    set -l words (commandline -opc | string match -v -- '-*')\n"
             "    set -l last (math (count $argv) + 1)\n"
             "    test \"$words[2..$last]\" = \"$argv\"\n"
             "end\n");
    for (const lc_command *command = lc_command_table(); command->name != NULL; command++) {
        loci_str rest = loci_str_of(command->words);
        const lc_op *op = lc_op_find(loci_str_of(command->operation));

        add_fish_word(s, "__loci_at", loci_str_of(command->name), command->help);
        (void)snprintf(condition, sizeof condition, "__loci_at %s", command->name);
        while (rest.ptr != NULL)
            add_fish_word(s, condition, lc_str_split(rest, '|', &rest), "");
        (void)snprintf(condition, sizeof condition, "__loci_in %s", command->name);
        for (const lc_option *option = command->options; option != NULL && option->name != NULL;
             option++)
            add_fish_option(s, condition, option, NULL);
        if (op != NULL)
            add_fish_params(s, condition, op);
    }
    for (size_t i = 0; i < lc_op_count(); i++) {
        const lc_op *op = lc_op_at(i);
        loci_str noun = lc_noun_of(op), verb = lc_verb_of(op);

        if (is_first_of_noun(i) && lc_command_find(noun) == NULL)
            add_fish_word(s, "__loci_at", noun, "Operations");
        (void)snprintf(condition, sizeof condition, "__loci_at %.*s", LC_STR_ARG(noun));
        add_fish_word(s, condition, verb, op->help);
        (void)snprintf(condition, sizeof condition, "__loci_in %.*s %.*s", LC_STR_ARG(noun),
                       LC_STR_ARG(verb));
        add_fish_params(s, condition, op);
    }
    for (const lc_option *option = lc_cli_global_options(); option->name != NULL; option++)
        add_fish_option(s, "", option, NULL);
}

int lc_command_completion(lc_cli *cli, const lc_arguments *arguments)
{
    script s = {.cli = cli};

    if (arguments->word_count == 0)
        return lc_cli_usage(cli, "the name of the shell is missing: loci completion bash|zsh|fish");
    s.is_zsh = strcmp(arguments->words[0], "zsh") == 0;
    if (s.is_zsh)
        write_zsh(&s);
    else if (strcmp(arguments->words[0], "fish") == 0)
        write_fish(&s);
    else /* The table has no fourth word. */
        write_bash(&s);
    return LC_EXIT_OK;
}

/* ---- loci reference -------------------------------------------------------------------------- */

static const lc_reference_option variables[] = {
    {"LOCI_STORE", "Default of --store"},
    {"LOCI_NOW", "Time that a command uses instead of the clock, for reproducible output"},
    {"LOCI_URL", "Default of --url; not used with --store"},
    {"LOCI_TOKEN", "Token to send to a daemon, unless --token-file is given"},
    {"LOCI_CA_FILE", "PEM file with the certificates to trust for https"},
    {"LOCI_PLAIN_HTTP", "on: send the token to other machines without TLS"},
    {"LOCI_TENANT", "Default of --tenant"},
    {"LOCI_USER", "Default of --user"},
    {"LOCI_CONFIG", "Default of --config"},
    {"LOCI_CALL_TIMEOUT_MS",
     "The setting call.timeout_ms; each setting has a variable named like this"},
    {"NO_COLOR", "Disable colours, if not empty"},
    {"XDG_DATA_HOME", "Directory of the default store, loci/loci.db (default: ~/.local/share)"},
    {NULL, NULL},
};

/* Rows for the man page, in the arena; NULL when out of memory. */
static const lc_reference_option *convert_options(lc_cli *cli, const lc_option *options)
{
    lc_reference_option *rows;
    size_t count = 0;
    lc_buf usage;

    while (options != NULL && options[count].name != NULL)
        count++;
    lc_buf_init(&usage, cli->heap, LOCI_MEM_REQUESTS, 4096);
    rows = lc_arena_zalloc_array(cli->arena, count + 1, sizeof *rows);
    for (size_t i = 0; rows != NULL && i < count; i++) {
        lc_buf_reset(&usage);
        lc_help_append_option(&options[i], &usage);
        rows[i].usage = lc_arena_copy(cli->arena, lc_buf_str(&usage)).ptr;
        rows[i].help = options[i].help;
    }
    lc_buf_clear(&usage);
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

int lc_command_reference(lc_cli *cli, const lc_arguments *arguments)
{
    bool wants_man = lc_arguments_has(arguments, "man");
    bool wants_markdown = lc_arguments_has(arguments, "markdown");
    bool wants_openapi = lc_arguments_has(arguments, "openapi");
    bool wants_states = lc_arguments_has(arguments, "states");
    lc_reference_cli rows = {.environment = variables};

    if (wants_man + wants_markdown + wants_openapi + wants_states != 1)
        return lc_cli_usage(cli, "reference needs one of --markdown, --man, --openapi or --states");
    if (wants_states) {
        lc_reference_states(&cli->out);
        return LC_EXIT_OK;
    }
    if (wants_openapi) {
        lc_json_writer out;

        lc_jw_init(&out, &cli->out);
        lc_openapi_write(&out);
        lc_buf_append_byte(&cli->out, '\n');
        return LC_EXIT_OK;
    }
    if (wants_markdown) {
        lc_reference_markdown(&cli->out);
        return LC_EXIT_OK;
    }
    rows.commands = convert_commands(cli);
    rows.options = convert_options(cli, lc_cli_global_options());
    if (rows.commands == NULL || rows.options == NULL)
        return lc_cli_report_memory(cli);
    lc_reference_man(&cli->out, &rows);
    return LC_EXIT_OK;
}
