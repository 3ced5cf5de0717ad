/* argument_text.c - arguments that come as text, from a command line or a URL, as JSON. */
#include "base/number.h"
#include "base/str.h"
#include "ops/check.h"

static bool write_number(lc_json_writer *w, loci_str text, bool is_integer)
{
    lc_number number = lc_number_read(text);
    bool is_whole = number.kind != LC_NUMBER_NONE && number.bytes == text.len;

    if (is_whole && number.kind == LC_NUMBER_INT) {
        lc_jw_int(w, number.integer);
        return true;
    }
    if (is_whole && !is_integer && number.kind == LC_NUMBER_REAL &&
        number.real - number.real == 0) { /* Finite. */
        lc_jw_real(w, number.real);
        return true;
    }
    lc_jw_str(w, text);
    return false;
}

static bool write_bool(lc_json_writer *w, loci_str text)
{
    bool is_true = lc_str_is(text, "true") || lc_str_is(text, "1");

    if (is_true || lc_str_is(text, "false") || lc_str_is(text, "0")) {
        lc_jw_bool(w, is_true);
        return true;
    }
    lc_jw_str(w, text);
    return false;
}

/* Whether writing the number gives the text again. 3.10, 1e3 and 1.0e5 do not: they are versions,
 * sizes or codes at least as often as numbers, and a number would not keep the typed text. */
static bool is_shortest_number(const lc_json *json, loci_str text)
{
    char bytes[LC_NUMBER_BYTES_MAX];
    size_t len = lc_json_kind_of(json) == LC_JSON_INT
                     ? lc_number_format_i64(lc_json_int(json), bytes)
                     : lc_number_format_f64(lc_json_real(json), bytes);

    return lc_str_eq((loci_str){bytes, len}, text);
}

/* The value if the text is JSON, else the text. */
static bool write_json(lc_arena *arena, lc_json_writer *w, lc_param_kind kind, loci_str text)
{
    lc_arena_mark mark = lc_arena_get_mark(arena);
    const lc_json *json = NULL;
    bool is_json = lc_json_parse(arena, text, 0, &json, NULL) == LOCI_OK;
    lc_json_kind is = is_json ? lc_json_kind_of(json) : LC_JSON_NULL;

    if (kind == LC_PARAM_JSON && (is == LC_JSON_INT || is == LC_JSON_REAL))
        is_json = is_shortest_number(json, text);
    if (is_json)
        lc_jw_value(w, json);
    else
        lc_jw_str(w, text);
    lc_arena_rewind(arena, mark);
    return kind != LC_PARAM_OBJECT || is == LC_JSON_OBJECT;
}

bool lc_arg_write_text(lc_arena *arena, lc_json_writer *w, lc_param_kind kind, loci_str text)
{
    switch (kind) {
    case LC_PARAM_INT:
        return write_number(w, text, true);
    case LC_PARAM_REAL:
        return write_number(w, text, false);
    case LC_PARAM_BOOL:
        return write_bool(w, text);
    case LC_PARAM_OBJECT:
    case LC_PARAM_ANY:
    case LC_PARAM_JSON:
        return write_json(arena, w, kind, text);
    case LC_PARAM_STRING:
    case LC_PARAM_TIME:
    case LC_PARAM_STRINGS: /* One of its elements. */
        break;
    }
    lc_jw_str(w, text);
    return true;
}

void lc_arg_write_items(lc_arena *arena, lc_json_writer *w, loci_str text)
{
    lc_arena_mark mark = lc_arena_get_mark(arena);
    const lc_json *json;
    bool is_array = text.len > 0 && text.ptr[0] == '[' &&
                    lc_json_parse(arena, text, 0, &json, NULL) == LOCI_OK;

    for (const lc_json *item = is_array ? lc_json_first(json) : NULL; item != NULL;
         item = lc_json_next(item))
        lc_jw_value(w, item);
    lc_arena_rewind(arena, mark);
    while (!is_array && text.ptr != NULL) {
        loci_str item = lc_str_trim(lc_str_split(text, ',', &text));

        if (item.len > 0)
            lc_jw_str(w, item);
    }
}
