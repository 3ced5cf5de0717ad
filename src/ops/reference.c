/* reference.c - docs/reference.md. Nouns appear in the order of the table, each with all of its
 * operations, also those of other groups; parameters that follow from an operation's flags are
 * explained once and only named afterwards. */
#include "ops/reference.h"

#include <stdio.h>

#include "base/error.h"
#include "base/str.h"
#include "engine/settings.h"
#include "ops/check.h"
#include "ops/schema.h"
#include "ops/tool.h"
#include "window/resource_state.h"

static void add(lc_buf *out, const char *text)
{
    lc_buf_append(out, loci_str_of(text));
}

/* Text inside a table: what would end a cell or begin HTML is escaped. */
static void add_cell(lc_buf *out, const char *text)
{
    for (const char *at = text; *at != '\0'; at++) {
        if (*at == '|' || *at == '\\')
            lc_buf_append_byte(out, '\\');
        if (*at == '<')
            add(out, "&lt;");
        else
            lc_buf_append_byte(out, *at);
    }
}

/* The same as code, where only the pipe needs an escape. */
static void add_code_cell(lc_buf *out, const char *text)
{
    lc_buf_append_byte(out, '`');
    for (const char *at = text; *at != '\0'; at++) {
        if (*at == '|')
            lc_buf_append_byte(out, '\\');
        lc_buf_append_byte(out, *at);
    }
    lc_buf_append_byte(out, '`');
}

/* ---- Parameters and answers ------------------------------------------------------------------ */

static void add_param_head(lc_buf *out)
{
    add(out, "| Parameter | Takes | Default | Meaning |\n|---|---|---|---|\n");
}

static void add_param(lc_buf *out, const lc_param *param)
{
    char takes[LC_DESCRIPTION_BYTES];

    lc_param_describe(param, takes);
    add(out, "| ");
    add_code_cell(out, param->name);
    add(out, " | ");
    add_cell(out, takes);
    add(out, " | ");
    if ((param->flags & LC_PARAM_REQUIRED) != 0)
        add(out, "**required**");
    else if (param->default_text != NULL)
        add_code_cell(out, param->default_text);
    add(out, " | ");
    add_cell(out, param->help);
    add(out, " |\n");
}

static void add_params(lc_buf *out, const lc_op *op)
{
    const lc_param *params[LC_PARAMS_MAX];
    size_t count = lc_op_params(op, params);
    size_t own_count = 0;

    while (own_count < count && lc_op_owns(op, params[own_count]))
        own_count++;
    if (own_count > 0) {
        add_param_head(out);
        for (size_t i = 0; i < own_count; i++)
            add_param(out, params[i]);
    } else {
        add(out, "No parameters of its own.\n");
    }
    for (size_t i = own_count; i < count; i++)
        lc_buf_append_format(out, "%s`%s`", i == own_count ? "\nAlso takes " : ", ",
                             params[i]->name);
    add(out, count > own_count ? ".\n" : "");
    for (const lc_param_rule *rule = op->rules; rule != NULL && rule->kind != LC_RULE_END; rule++) {
        char sentence[LC_RULE_TEXT_BYTES];

        lc_rule_describe(rule, sentence);
        lc_buf_append_format(out, "%s%s%s", rule == op->rules ? "\n" : " ", sentence,
                             rule[1].kind == LC_RULE_END ? "\n" : "");
    }
}

static void add_record_link(lc_buf *out, const lc_record *record)
{
    lc_buf_append_format(out, "[%s](#record-", record->name);
    for (const char *at = record->name; *at != '\0'; at++)
        lc_buf_append_byte(out, (char)(*at | 0x20));
    add(out, ")");
}

/* "list of [Fact](#record-fact)", "string or null, optional", "one of set, late". */
static void add_result_kind(lc_buf *out, const lc_result *result)
{
    const lc_record *record = result->record;

    add(out, (result->flags & LC_RESULT_LIST) != 0  ? "list of "
             : (result->flags & LC_RESULT_MAP) != 0 ? "object of "
                                                    : "");
    if (record != NULL && record->name != NULL) {
        add_record_link(out, record);
    } else if (result->choices != NULL) {
        loci_str rest = loci_str_of(result->choices);
        const char *separator = result->kind == LC_PARAM_STRINGS ? "list of " : "one of ";

        while (rest.ptr != NULL) {
            loci_str choice = lc_str_split(rest, '|', &rest);

            lc_buf_append_format(out, "%s`%.*s`", separator, LC_STR_ARG(choice));
            separator = ", ";
        }
    } else {
        add(out, record != NULL ? "object" : lc_param_kind_name(result->kind));
    }
    add(out, (result->flags & LC_RESULT_NULLABLE) != 0 ? " or null" : "");
    add(out, (result->flags & LC_RESULT_OPTIONAL) != 0 ? ", optional" : "");
}

/* The members from `first` on. Members of a record without a name follow it as `result.users`. */
static void add_members(lc_buf *out, const lc_record *record, size_t first, const char *prefix)
{
    lc_result members[LC_RECORD_MEMBERS_MAX];
    size_t count = lc_record_members(record, members);

    for (size_t i = first; i < count; i++) {
        const lc_record *inner = members[i].record;
        char name[128];

        (void)snprintf(name, sizeof name, "%s%s", prefix, members[i].name);
        add(out, "| ");
        add_code_cell(out, name);
        add(out, " | ");
        add_result_kind(out, &members[i]);
        add(out, " | ");
        add_cell(out, members[i].help);
        add(out, " |\n");
        if (inner == NULL || inner->name != NULL)
            continue;
        (void)snprintf(name, sizeof name, "%s%s%s", prefix, members[i].name,
                       (members[i].flags & LC_RESULT_LIST) != 0 ? "[]." : ".");
        add_members(out, inner, 0, name);
    }
}

static void add_member_table(lc_buf *out, const char *title, const lc_record *record, size_t first)
{
    lc_buf_append_format(out, "\n| %s | Kind | Meaning |\n|---|---|---|\n", title);
    add_members(out, record, first, "");
}

/* The record of the section Records that an answer begins with; NULL = none. */
static const lc_record *find_base(const lc_record *answer)
{
    const lc_record *records[LC_SCHEMA_RECORDS_MAX], *base = answer;
    size_t count = lc_schema_records(records);

    while (base != NULL && base->name == NULL)
        base = base->required == NULL ? base->base : NULL;
    for (size_t i = 0; i < count; i++)
        if (records[i] == base)
            return base;
    return NULL;
}

static void add_answer(lc_buf *out, const lc_op *op)
{
    lc_result members[LC_RECORD_MEMBERS_MAX];
    const lc_record *base = find_base(op->answer);

    if (op->answer->name == NULL) {
        if (base != NULL) {
            add(out, "\nAnswer: the members of ");
            add_record_link(out, base);
            add(out, ", and these:\n");
        }
        add_member_table(out, "Answer", op->answer,
                         base != NULL ? lc_record_members(base, members) : 0);
        return;
    }
    add(out, "\nAnswer: ");
    add_record_link(out, op->answer);
    add(out, "\n");
}

static void add_records(lc_buf *out)
{
    const lc_record *records[LC_SCHEMA_RECORDS_MAX];
    size_t count = lc_schema_records(records);

    add(out,
        "\n## Records\n\nObjects that answers have in common. A member without \"optional\" is "
        "in every answer; later versions may add members.\n");
    for (size_t i = 0; i < count; i++) {
        lc_buf_append_format(out, "\n### Record %s\n", records[i]->name);
        add_member_table(out, "Member", records[i], 0);
    }
}

/* ---- Operations ------------------------------------------------------------------------------ */

static void add_properties(lc_buf *out, const lc_op *op)
{
    if (op->http != NULL)
        lc_buf_append_format(out, "\nHTTP: `%s`.", op->http);
    else
        lc_buf_append_format(out, "\nHTTP: `POST /v1/call/%s`.", op->name);
    if (op->mcp != NULL) {
        loci_str action, tool = lc_str_split(loci_str_of(op->mcp), ' ', &action);

        lc_buf_append_format(out, " MCP: `%.*s`", LC_STR_ARG(tool));
        if (action.ptr != NULL)
            lc_buf_append_format(out, " with `%s: %.*s`", lc_tool_find(tool)->selector,
                                 LC_STR_ARG(action));
        add(out, ".");
    }
    if ((op->flags & LC_OP_PROCESS) != 0)
        add(out, " Changes the running process, not the store.");
    else if ((op->flags & LC_OP_MUTATES) != 0)
        add(out, " Changes the store.");
    /* Every read is. */
    if ((op->flags & LC_OP_MUTATES) != 0 && (op->flags & LC_OP_IDEMPOTENT) != 0)
        add(out, " Idempotent: a repeat has no further effect.");
    if ((op->flags & LC_OP_ADMIN) != 0)
        add(out, " For administrators.");
    if ((op->flags & LC_OP_TENANT_ADMIN) != 0)
        add(out, " For administrators of the tenant.");
    if ((op->flags & LC_OP_SECRET) != 0)
        add(out, " The secret is in the first answer only: a repeat of the request has null.");
    if ((op->flags & LC_OP_ALONE) != 0)
        add(out, " Not allowed in a batch.");
    if ((op->flags & LC_OP_STREAMS) != 0)
        add(out, " Reports progress.");
    if ((op->flags & LC_OP_LINES) != 0)
        add(out, " Lines are streamed over HTTP as application/x-ndjson.");
    add(out, "\n\n");
}

/* Quotes a text for a shell: inside single quotes, which are closed and reopened around each single
 * quote of the text. */
static void add_example(lc_buf *out, const lc_op *op)
{
    if (op->example == NULL)
        return;
    lc_buf_append_format(out, "\n```sh\nloci call %s '", op->name);
    for (const char *at = op->example; *at != '\0'; at++) {
        if (*at == '\'')
            add(out, "'\\''");
        else
            lc_buf_append_byte(out, *at);
    }
    add(out, "'\n```\n");
}

static void add_op(lc_buf *out, const lc_op *op)
{
    lc_buf_append_format(out, "\n### %s\n\n", op->name);
    add_cell(out, op->help);
    add(out, ".\n");
    add_properties(out, op);
    add_params(out, op);
    add_answer(out, op);
    add_example(out, op);
}

static void add_noun(lc_buf *out, loci_str noun)
{
    const lc_op *op;

    lc_buf_append_format(out, "\n## %.*s\n", LC_STR_ARG(noun));
    for (size_t i = 0; (op = lc_op_at(i)) != NULL; i++) {
        if (lc_str_eq(lc_op_noun(op), noun))
            add_op(out, op);
    }
}

/* One line per noun. A heading's anchor is its text without the dots. */
static void add_contents(lc_buf *out)
{
    const lc_op *op;

    for (size_t i = 0; (op = lc_op_at(i)) != NULL; i++) {
        loci_str noun = lc_op_noun(op);
        const char *separator = ": ";

        if (!lc_op_is_first_of_noun(i))
            continue;
        lc_buf_append_format(out, "- [%.*s](#%.*s)", LC_STR_ARG(noun), LC_STR_ARG(noun));
        for (size_t j = i; (op = lc_op_at(j)) != NULL; j++) {
            if (!lc_str_eq(lc_op_noun(op), noun))
                continue;
            lc_buf_append_format(out, "%s[%s](#%.*s%s)", separator, op->name, LC_STR_ARG(noun),
                                 op->name + noun.len + 1);
            separator = ", ";
        }
        add(out, "\n");
    }
    add(out,
        "- [Records](#records)\n- [Parameters of many operations](#parameters-of-many-operations)\n"
        "- [Tools of models](#tools-of-models)\n- [Errors](#errors)\n- [Settings](#settings)\n");
}

/* ---- Sections about other things than operations --------------------------------------------- */

static void add_implied(lc_buf *out)
{
    static const lc_op takes_all = {.flags = LC_OP_USER | LC_OP_SESSION | LC_OP_MUTATES};
    const lc_param *param;

    add(out, "\n## Parameters of many operations\n\nOperations that act for a user take `user_id` "
             "and `persona_id`, operations in a session take\n`session_id`, and operations that "
             "change something take `request_id`; changes for a user take `expected_seq` as "
             "well.\n\n");
    add_param_head(out);
    for (size_t i = 0; (param = lc_op_param(&takes_all, i)) != NULL; i++)
        add_param(out, param);
}

static void add_tools(lc_buf *out)
{
    static const char *const effects[] = {[LC_EFFECT_READS] = "reads",
                                          [LC_EFFECT_ADDS] = "adds",
                                          [LC_EFFECT_DESTROYS] = "takes away"};
    const lc_tool *tool;
    const lc_op *op;

    add(out, "\n## Tools of models\n\nOver MCP models see these tools; [mcp.md](mcp.md) describes "
             "their results.\n\n"
             "| Tool | Effect | Operations | Description for the model |\n|---|---|---|---|\n");
    for (size_t i = 0; (tool = lc_tool_at(i)) != NULL; i++) {
        lc_buf_append_format(out, "| `%s` | %s | ", tool->name, effects[tool->effect]);
        for (size_t k = 0; (op = lc_tool_op(tool, k)) != NULL; k++)
            lc_buf_append_format(out, "%s%s", k > 0 ? ", " : "", op->name);
        add(out, " | ");
        add_cell(out, tool->description);
        add(out, " |\n");
    }
}

static void add_errors(lc_buf *out)
{
    const lc_status_row *rows = lc_status_rows();

    add(out, "\n## Errors\n\nA call that failed changed nothing. Its error is an object with "
             "`code`, `message` and details. Wrong usage of the command line exits with 2.\n\n"
             "| Code | HTTP | Exit | Meaning |\n|---|---|---|---|\n");
    for (size_t i = LOCI_OK + 1; i <= LOCI_EINTERNAL; i++) {
        lc_buf_append_format(out, "| `%s` | %d | %d | ", rows[i].name, rows[i].http,
                             rows[i].exit_code);
        add_cell(out, rows[i].help);
        add(out, " |\n");
    }
}

/* A setting as a parameter: both say in the same words what they take. */
static void add_setting_takes(lc_buf *out, const lc_setting *setting)
{
    lc_param param = {.name = setting->name, .min = setting->min, .max = setting->max};
    char takes[LC_DESCRIPTION_BYTES];

    param.kind = setting->kind == LC_SETTING_INT    ? LC_PARAM_INT
                 : setting->kind == LC_SETTING_BOOL ? LC_PARAM_BOOL
                                                    : LC_PARAM_STRING;
    param.choices = setting->choices;
    lc_param_describe(&param, takes);
    add_cell(out, takes);
    add(out, setting->is_secret ? ", given as a file or a variable" : "");
}

static void add_settings(lc_buf *out)
{
    lc_setting_list list = lc_setting_list_own();

    add(out,
        "\n## Settings\n\nPrecedence, lowest first: default, config file, stored by `config.set`, "
        "environment, flag.\n\n"
        "| Setting | Takes | Default | Takes effect | Meaning |\n|---|---|---|---|---|\n");
    for (size_t i = 0; i < list.count; i++) {
        add(out, "| ");
        add_code_cell(out, list.items[i]->name);
        add(out, " | ");
        add_setting_takes(out, list.items[i]);
        add(out, " | ");
        if (list.items[i]->default_text != NULL)
            add_code_cell(out, list.items[i]->default_text);
        add(out, list.items[i]->is_live ? " | at once" : " | when the store is opened next");
        add(out, list.items[i]->is_per_tenant ? ", per tenant | " : " | ");
        add_cell(out, list.items[i]->help);
        add(out, " |\n");
    }
}

void lc_reference_markdown(lc_buf *out)
{
    const lc_op *op;

    add(out,
        "# Reference\n\n"
        "<!-- Made from the tables of operations, statuses and settings; not to be edited. "
        "-->\n\n"
        "Every operation takes one JSON object and returns one. It is the same from C "
        "(`loci_call`), from the command line\n(`loci call`) and over HTTP: by its route, or by "
        "name with `POST /v1/call/{operation}`. An unknown parameter is an\nerror; `null` for "
        "an optional parameter means that it is absent.\n\n");
    add_contents(out);
    for (size_t i = 0; (op = lc_op_at(i)) != NULL; i++) {
        if (lc_op_is_first_of_noun(i))
            add_noun(out, lc_op_noun(op));
    }
    add_records(out);
    add_implied(out);
    add_tools(out);
    add_errors(out);
    add_settings(out);
}

void lc_reference_states(lc_buf *out)
{
    lc_resource_states_write(out);
}
