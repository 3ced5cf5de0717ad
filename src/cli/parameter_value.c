#include "cli/parameter_value.h"

#include <unistd.h>

#include "base/error.h"
#include "base/str.h"
#include "base/utf8.h"
#include "cli/input.h"
#include "ops/check.h"

/* What was typed, or what it refers to; in the arena of the run. */
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
    status = typed[0] == '-' ? lc_input_read(STDIN_FILENO, "standard input", &text, err)
                             : lc_input_read_file(typed + 1, &text, err);
    if (status == LOCI_ENOTFOUND)
        status = lc_fail(err, LOCI_ENOTFOUND,
                         "there is no file %s; a text that begins with @ is written @@", typed + 1);
    if (status == LOCI_OK) {
        /* The newline that ends a file is the editor's, not the author's. */
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

static bool is_accepted(const lc_param *param, const lc_json *json)
{
    lc_json_kind kind = lc_json_kind_of(json);

    switch (param->kind) {
    case LC_PARAM_INT:
        return kind == LC_JSON_INT;
    case LC_PARAM_REAL:
        return kind == LC_JSON_INT || kind == LC_JSON_REAL;
    case LC_PARAM_BOOL:
        return kind == LC_JSON_BOOL;
    case LC_PARAM_OBJECT:
        return kind == LC_JSON_OBJECT;
    default:
        return true;
    }
}

loci_status lc_parameter_write(lc_cli *cli, lc_json_writer *w, const lc_param *param,
                               const char *typed, loci_error *err)
{
    const lc_json *json = NULL;
    loci_status status;
    loci_str text;
    bool is_json;

    status = load_text(cli, typed, &text, err);
    if (status != LOCI_OK)
        return status;
    if (!lc_utf8_is_valid(text))
        return lc_fail(err, LOCI_EINVAL, "%s is not valid UTF-8", param->name);
    if (param->kind == LC_PARAM_STRING || param->kind == LC_PARAM_TIME) {
        lc_jw_str(w, text);
        return LOCI_OK;
    }
    is_json = lc_json_parse(cli->arena, text, 0, &json, err) == LOCI_OK;
    if (param->kind == LC_PARAM_ANY && !is_json) {
        lc_jw_str(w, text);
        return LOCI_OK;
    }
    if (!is_json || !is_accepted(param, json))
        return fail_kind(param, text, err);
    lc_jw_value(w, json);
    return LOCI_OK;
}

loci_status lc_parameter_write_items(lc_cli *cli, lc_json_writer *w, const char *typed,
                                     loci_error *err)
{
    const lc_json *json;
    loci_status status;
    loci_str text;

    status = load_text(cli, typed, &text, err);
    if (status != LOCI_OK)
        return status;
    if (!lc_utf8_is_valid(text))
        return lc_fail(err, LOCI_EINVAL, "a list is not valid UTF-8");
    if (lc_json_parse(cli->arena, text, 0, &json, NULL) == LOCI_OK &&
        lc_json_kind_of(json) == LC_JSON_ARRAY) {
        for (const lc_json *item = lc_json_first(json); item != NULL; item = lc_json_next(item))
            lc_jw_value(w, item);
        return LOCI_OK;
    }
    while (text.ptr != NULL) {
        loci_str item = lc_str_trim(lc_str_split(text, ',', &text));

        if (item.len > 0)
            lc_jw_str(w, item);
    }
    return LOCI_OK;
}
