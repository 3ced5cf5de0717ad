/* parameters.c - words are assigned to parameters first; then all parameters are written in the
 * order of the table, so that equal commands give equal arguments. */
#include "cli/parameters.h"

#include <ctype.h>
#include <unistd.h>

#include "base/error.h"
#include "base/str.h"
#include "base/utf8.h"
#include "cli/cli.h"
#include "cli/input.h"
#include "ops/check.h"
#include "ops/op.h"

/* ---- Values ---------------------------------------------------------------------------------- */

/* The text, or the content of the file or stdin that it refers to; in cli->arena. */
static loci_status load_text(lc_cli *cli, const char *typed, loci_str *out, loci_error *err)
{
    loci_status status;
    lc_buf text;

    if (strcmp(typed, "-") != 0 && typed[0] != '@') {
        *out = loci_str_of(typed);
        return LOCI_OK;
    }
    if (typed[0] == '@' && typed[1] == '@') {
        *out = loci_str_of(typed + 1);
        return LOCI_OK;
    }
    lc_buf_init(&text, cli->heap, LOCI_MEM_REQUESTS, LC_ARGS_BYTES_MAX);
    status = typed[0] == '-' ? lc_input_read(STDIN_FILENO, "stdin", &text, err)
                             : lc_input_read_file(typed + 1, &text, err);
    if (status == LOCI_ENOTFOUND)
        status = lc_fail(err, LOCI_ENOTFOUND,
                         "there is no file %s; write @@ for a text that begins with @", typed + 1);
    if (status == LOCI_OK) {
        /* Editors end the last line of a file with a newline; it is not part of the text. */
        if (text.len > 0 && text.ptr[text.len - 1] == '\n')
            lc_buf_truncate(&text, text.len - 1);
        *out = lc_arena_copy(cli->arena, lc_buf_str(&text));
        if (out->ptr == NULL)
            status = lc_fail_memory(err);
    }
    lc_buf_clear(&text);
    return status;
}

static loci_status fail_kind(const lc_param *param, loci_str text, loci_error *err)
{
    char wanted[LC_DESCRIPTION_BYTES];

    lc_param_describe(param, wanted);
    text.len = lc_utf8_is_valid(text) ? lc_utf8_cut(text, 40) : 0;
    return lc_fail(err, LOCI_EINVAL, "%s is %s, not \"%.*s\"", param->name, wanted,
                   LC_STR_ARG(text));
}

/* Loads what was typed for `param`, which must be UTF-8. */
static loci_status load_value(lc_cli *cli, const lc_param *param, const char *typed, loci_str *out,
                              loci_error *err)
{
    loci_status status = load_text(cli, typed, out, err);

    if (status == LOCI_OK && !lc_utf8_is_valid(*out))
        status = lc_fail(err, LOCI_EINVAL, "%s is not valid UTF-8", param->name);
    return status;
}

/* ---- Words and options ----------------------------------------------------------------------- */

static const char *value_name(const lc_param *param)
{
    switch (param->kind) {
    case LC_PARAM_INT:
    case LC_PARAM_REAL:
        return "N";
    case LC_PARAM_TIME:
        return "TIME";
    case LC_PARAM_STRINGS:
        return "A,B";
    case LC_PARAM_OBJECT:
        return "JSON";
    case LC_PARAM_ANY:
    case LC_PARAM_JSON:
        return "VALUE";
    case LC_PARAM_STRING:
        return "TEXT";
    case LC_PARAM_BOOL:
        break;
    }
    return NULL;
}

static const char *dashed(lc_cli *cli, const char *name)
{
    loci_str copy = lc_arena_copy(cli->arena, loci_str_of(name));
    char *text = (char *)copy.ptr; /* Ours: it was made a line above. */

    for (size_t i = 0; i < copy.len; i++) {
        if (text[i] == '_')
            text[i] = '-';
    }
    return text;
}

/* How a typed value is read, for operations that take any JSON value. */
#define AS_JSON "json-value"
#define AS_TEXT "text"
#define READING_OPTIONS 2

lc_option *lc_parameters_options(lc_cli *cli, const lc_op *op)
{
    lc_option *options = lc_arena_zalloc_array(cli->arena, LC_PARAMS_MAX + READING_OPTIONS + 1,
                                               sizeof *options);
    const lc_param *param;
    bool takes_json = false;
    size_t count = 0;

    for (; options != NULL && (param = lc_op_param(op, count)) != NULL; count++) {
        options[count] = (lc_option){.name = dashed(cli, param->name),
                                     .value = value_name(param),
                                     .help = param->help,
                                     .is_negatable = param->kind == LC_PARAM_BOOL};
        if (options[count].name == NULL)
            return NULL;
        takes_json |= param->kind == LC_PARAM_JSON;
    }
    if (options != NULL && takes_json) {
        options[count++] = (lc_option){.name = AS_TEXT, .help = "Store the value as text"};
        options[count] = (lc_option){.name = AS_JSON,
                                     .help = "Require the value to be JSON: 3.10 becomes 3.1"};
    }
    return options;
}

void lc_parameters_word(const lc_param *param, lc_buf *out)
{
    for (const char *byte = param->name; *byte != '\0'; byte++)
        lc_buf_append_byte(out, *byte == '_' ? '-' : (char)toupper((unsigned char)*byte));
}

void lc_parameters_usage(const lc_op *op, lc_buf *out)
{
    const lc_param *param;
    bool has_more = false;

    for (const char *byte = op->name; *byte != '\0'; byte++)
        lc_buf_append_byte(out, *byte == '.' ? ' ' : *byte);
    for (size_t i = 0; (param = lc_op_param(op, i)) != NULL; i++) {
        bool is_required = (param->flags & LC_PARAM_REQUIRED) != 0;

        if ((param->flags & LC_PARAM_POSITIONAL) != 0) {
            lc_buf_append(out, is_required ? LC_STR(" ") : LC_STR(" ["));
            lc_parameters_word(param, out);
            lc_buf_append(out, is_required ? LC_STR("") : LC_STR("]"));
        } else if (is_required) {
            lc_buf_append_format(out, " --%s ", param->name);
            lc_parameters_word(param, out);
        } else {
            has_more = true;
        }
    }
    if (has_more)
        lc_buf_append(out, LC_STR(" [--option …]"));
}

/* Values given for each parameter. */
typedef struct given_values {
    const lc_op *op;
    const lc_arguments *arguments;
    const lc_given *given[LC_PARAMS_MAX]; /* The last option, or NULL. */
    size_t first_word[LC_PARAMS_MAX];     /* Or words: index of the first one, */
    size_t word_count[LC_PARAMS_MAX];     /* and their number. */
} given_values;

static void find_options(given_values *values)
{
    const lc_arguments *arguments = values->arguments;
    const lc_param *param;

    for (size_t g = 0; g < arguments->given_count; g++) {
        loci_str name = loci_str_of(arguments->given[g].option->name);

        for (size_t i = 0; (param = lc_op_param(values->op, i)) != NULL; i++) {
            if (lc_arguments_name_is(name, param->name))
                values->given[i] = &arguments->given[g];
        }
    }
}

static loci_status place_words(given_values *values, loci_error *err)
{
    const lc_param *param;
    size_t next = 0;

    for (size_t i = 0; (param = lc_op_param(values->op, i)) != NULL; i++) {
        if ((param->flags & LC_PARAM_POSITIONAL) == 0 || values->given[i] != NULL ||
            next == values->arguments->word_count)
            continue;
        values->first_word[i] = next;
        values->word_count[i] = param->kind == LC_PARAM_STRINGS
                                    ? values->arguments->word_count - next
                                    : 1;
        next += values->word_count[i];
    }
    if (next < values->arguments->word_count)
        return lc_fail(err, LOCI_EINVAL,
                       "unexpected \"%s\": quote texts that contain spaces; give other parameters "
                       "as --name value",
                       values->arguments->words[next]);
    return LOCI_OK;
}

static loci_status check_required(lc_cli *cli, const given_values *values, size_t index,
                                  loci_error *err)
{
    const lc_param *param = lc_op_param(values->op, index);
    lc_buf usage;

    if ((param->flags & LC_PARAM_REQUIRED) == 0 || values->given[index] != NULL ||
        values->word_count[index] > 0)
        return LOCI_OK;
    lc_buf_init(&usage, cli->heap, LOCI_MEM_REQUESTS, 4096);
    lc_parameters_word(param, &usage);
    lc_buf_append(&usage, LC_STR(" is missing: loci "));
    lc_parameters_usage(values->op, &usage);
    (void)lc_fail(err, LOCI_EINVAL, "%.*s", LC_STR_ARG(lc_buf_str(&usage)));
    lc_buf_clear(&usage);
    return LOCI_EINVAL;
}

static loci_status write_items(lc_cli *cli, const lc_param *param, const char *typed,
                               lc_json_writer *w, loci_error *err)
{
    loci_str text;
    loci_status status = load_value(cli, param, typed, &text, err);

    if (status == LOCI_OK)
        lc_arg_write_items(cli->arena, w, text);
    return status;
}

/* A list collects all its options and words; for other kinds the last one wins. */
static loci_status write_strings(lc_cli *cli, const given_values *values, size_t index,
                                 lc_json_writer *w, loci_error *err)
{
    const lc_arguments *arguments = values->arguments;
    const lc_param *param = lc_op_param(values->op, index);
    loci_status status = LOCI_OK;

    lc_jw_array(w);
    for (size_t g = 0; status == LOCI_OK && g < arguments->given_count; g++) {
        if (lc_arguments_name_is(loci_str_of(arguments->given[g].option->name), param->name))
            status = write_items(cli, param, arguments->given[g].value, w, err);
    }
    for (size_t i = 0; status == LOCI_OK && i < values->word_count[index]; i++)
        status = write_items(cli, param, arguments->words[values->first_word[index] + i], w, err);
    if (status == LOCI_OK)
        lc_jw_end(w);
    return status;
}

/* A value of any kind: JSON or text, as --json-value and --text say or as it looks. */
static loci_status write_any(lc_cli *cli, const given_values *values, loci_str text,
                             lc_json_writer *w, loci_error *err)
{
    bool is_text = lc_arguments_has(values->arguments, AS_TEXT);
    bool is_forced = lc_arguments_has(values->arguments, AS_JSON);
    const lc_json *json = NULL;
    loci_error why;
    loci_status status = is_text ? LOCI_EINVAL : lc_json_parse(cli->arena, text, 0, &json, &why);

    if (is_text && is_forced)
        return lc_fail(err, LOCI_EINVAL, "give one of --" AS_TEXT " and --" AS_JSON ", not both");
    if (status != LOCI_OK && is_forced)
        return lc_fail(err, LOCI_EINVAL, "the value is not JSON: %s", why.message);
    if (status != LOCI_OK && !is_text && text.len > 0 && strchr("{[\"", text.ptr[0]) != NULL)
        lc_cli_note(cli,
                    "note: the value looks like JSON but is not (%s); it is stored as text. Pass "
                    "--" AS_TEXT " if that is meant.",
                    why.message);
    if (is_text)
        lc_jw_str(w, text);
    else if (is_forced)
        lc_jw_value(w, json);
    else
        (void)lc_arg_write_text(cli->arena, w, LC_PARAM_JSON, text); /* Any text is a value. */
    return LOCI_OK;
}

static loci_status write_one(lc_cli *cli, const given_values *values, size_t index,
                             lc_json_writer *w, loci_error *err)
{
    const lc_param *param = lc_op_param(values->op, index);
    const lc_given *given = values->given[index];
    const char *typed;
    loci_status status;
    loci_str text;

    if (given == NULL && values->word_count[index] == 0)
        return check_required(cli, values, index, err);
    lc_jw_name(w, param->name);
    if (param->kind == LC_PARAM_STRINGS)
        return write_strings(cli, values, index, w, err);
    if (param->kind == LC_PARAM_BOOL && given != NULL) {
        lc_jw_bool(w, !given->is_negated);
        return LOCI_OK;
    }
    typed = given != NULL ? given->value : values->arguments->words[values->first_word[index]];
    status = load_value(cli, param, typed, &text, err);
    if (status == LOCI_OK && param->kind == LC_PARAM_JSON)
        return write_any(cli, values, text, w, err);
    if (status == LOCI_OK && !lc_arg_write_text(cli->arena, w, param->kind, text))
        status = fail_kind(param, text, err);
    return status;
}

loci_status lc_parameters_write(lc_cli *cli, const lc_op *op, const lc_arguments *arguments,
                                lc_buf *out, loci_error *err)
{
    given_values values = {.op = op, .arguments = arguments};
    lc_json_writer w;
    loci_status status;

    find_options(&values);
    status = place_words(&values, err);
    if (status != LOCI_OK)
        return status;
    lc_jw_init(&w, out);
    lc_jw_object(&w);
    for (size_t i = 0; status == LOCI_OK && lc_op_param(op, i) != NULL; i++)
        status = write_one(cli, &values, i, &w, err);
    if (status != LOCI_OK)
        return status;
    lc_jw_end(&w);
    return lc_buf_status(out, err);
}
