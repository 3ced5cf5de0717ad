/* reference.c - docs/reference.md. Nouns appear in the order of the table, each with all of its
 * operations, wherever their groups stand; parameters that follow from an operation's flags are
 * explained once and only named afterwards. */
#include "ops/reference.h"

#include "base/error.h"
#include "base/str.h"
#include "engine/settings.h"
#include "ops/check.h"

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

static loci_str noun_of(const lc_op *op)
{
    loci_str verb;

    return lc_str_split(loci_str_of(op->name), '.', &verb);
}

static bool is_first_of_noun(size_t index)
{
    loci_str noun = noun_of(lc_op_at(index));

    for (size_t i = 0; i < index; i++) {
        if (lc_str_eq(noun_of(lc_op_at(i)), noun))
            return false;
    }
    return true;
}

/* ---- Parameters and answers ------------------------------------------------------------------ */

static bool is_own(const lc_op *op, const lc_param *param)
{
    const lc_param *own = op->params;

    while (own != NULL && own->name != NULL && own != param)
        own++;
    return own == param;
}

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

    while (own_count < count && is_own(op, params[own_count]))
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
}

static void add_results(lc_buf *out, const lc_op *op)
{
    const lc_result *result = op->results;

    if (result == NULL || result->name == NULL)
        return;
    add(out, "\n| Answer | Kind | Meaning |\n|---|---|---|\n");
    for (; result->name != NULL; result++) {
        add(out, "| ");
        add_code_cell(out, result->name);
        lc_buf_append_format(out, " | %s | ", lc_param_kind_name(result->kind));
        add_cell(out, result->help);
        add(out, " |\n");
    }
}

/* ---- Operations ------------------------------------------------------------------------------ */

static void add_ways(lc_buf *out, const lc_op *op)
{
    lc_buf_append_format(out, "\nHTTP: `POST /v1/call/%s`", op->name);
    if (op->http != NULL)
        lc_buf_append_format(out, ", `%s`", op->http);
    add(out, ".");
    if ((op->flags & LC_OP_MUTATES) != 0)
        add(out, " Changes the store.");
    /* Of a read that goes without saying. */
    if ((op->flags & LC_OP_MUTATES) != 0 && (op->flags & LC_OP_IDEMPOTENT) != 0)
        add(out, " Doing it twice is doing it once.");
    if ((op->flags & LC_OP_ADMIN) != 0)
        add(out, " For administrators.");
    if ((op->flags & LC_OP_TENANT_ADMIN) != 0)
        add(out, " For administrators of the tenant.");
    if ((op->flags & LC_OP_SECRET) != 0)
        add(out, " The secret is in the first answer only: a repeat of the request has null.");
    if ((op->flags & LC_OP_ALONE) != 0)
        add(out, " Not in a batch.");
    if ((op->flags & LC_OP_STREAMS) != 0)
        add(out, " Tells its progress.");
    add(out, "\n\n");
}

/* As a shell wants it: inside single quotes, which end for each one in the text. */
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
    add_ways(out, op);
    add_params(out, op);
    add_results(out, op);
    add_example(out, op);
}

static void add_noun(lc_buf *out, loci_str noun)
{
    const lc_op *op;

    lc_buf_append_format(out, "\n## %.*s\n", LC_STR_ARG(noun));
    for (size_t i = 0; (op = lc_op_at(i)) != NULL; i++) {
        if (lc_str_eq(noun_of(op), noun))
            add_op(out, op);
    }
}

/* One line a noun. A heading's anchor is its text without the dots. */
static void add_contents(lc_buf *out)
{
    const lc_op *op;

    for (size_t i = 0; (op = lc_op_at(i)) != NULL; i++) {
        loci_str noun = noun_of(op);
        const char *separator = ": ";

        if (!is_first_of_noun(i))
            continue;
        lc_buf_append_format(out, "- [%.*s](#%.*s)", LC_STR_ARG(noun), LC_STR_ARG(noun));
        for (size_t j = i; (op = lc_op_at(j)) != NULL; j++) {
            if (!lc_str_eq(noun_of(op), noun))
                continue;
            lc_buf_append_format(out, "%s[%s](#%.*s%s)", separator, op->name, LC_STR_ARG(noun),
                                 op->name + noun.len + 1);
            separator = ", ";
        }
        add(out, "\n");
    }
    add(out, "- [Parameters of many operations](#parameters-of-many-operations)\n"
             "- [Errors](#errors)\n- [Settings](#settings)\n");
}

/* ---- What is not an operation ---------------------------------------------------------------- */

static void add_implied(lc_buf *out)
{
    static const lc_op takes_all = {.flags = LC_OP_USER | LC_OP_MUTATES};
    const lc_param *param;

    add(out, "\n## Parameters of many operations\n\nOperations that act for a user take `user_id` "
             "and `persona_id`; those that change something take `request_id`;\nthose that do both "
             "take `expected_seq` too.\n\n");
    add_param_head(out);
    for (size_t i = 0; (param = lc_op_param(&takes_all, i)) != NULL; i++)
        add_param(out, param);
}

static void add_errors(lc_buf *out)
{
    const lc_status_row *rows = lc_status_rows();

    add(out, "\n## Errors\n\nAn error changed nothing. It is `{\"code\", \"message\"}` with "
             "particulars beside them. Wrong usage of the command line exits with 2.\n\n"
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

    add(out, "# Reference\n\n"
             "<!-- Made from the tables of operations, statuses and settings; not to be edited. "
             "-->\n\n"
             "Every operation takes one JSON object and answers one. It is the same from C "
             "(`loci_call`), from the command line\n(`loci call`) and over HTTP. Names "
             "that an operation does not know are errors; `null` for an optional\nparameter counts "
             "as absent, unless it takes any value.\n\n");
    add_contents(out);
    for (size_t i = 0; (op = lc_op_at(i)) != NULL; i++) {
        if (is_first_of_noun(i))
            add_noun(out, noun_of(op));
    }
    add_implied(out);
    add_errors(out);
    add_settings(out);
}
