/* check_message.c - what is wrong with an argument, in words for the person who wrote it.
 *
 * Every message names the parameter, what is allowed and what was given. What was given is quoted,
 * up to LC_QUOTE_BYTES_MAX bytes, only where the parameter does not take free text: what users
 * wrote does not belong into errors, which end up in logs. Messages are built in place; nothing
 * here allocates, so a wrong argument is reported as such even when memory is short.
 */
#include "ops/check.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/error.h"
#include "base/number.h"
#include "base/str.h"
#include "base/utf8.h"

#define DATA_NAME_BYTES_MAX 64

typedef struct words {
    /* Terminated. Larger than a message, so that it is lc_fail() who cuts, between characters. */
    char text[2 * LOCI_ERROR_MESSAGE_BYTES];
    size_t len;
} words;

__attribute__((format(printf, 2, 3))) static void add(words *w, const char *format, ...)
{
    size_t left = sizeof w->text - w->len;
    va_list list;
    int written;

    va_start(list, format);
    written = vsnprintf(w->text + w->len, left, format, list);
    va_end(list);
    w->len += written < 0 ? 0 : (size_t)written < left ? (size_t)written : left - 1;
}

static void add_quoted(words *w, loci_str text)
{
    loci_str shown = {text.ptr, lc_utf8_cut(text, LC_QUOTE_BYTES_MAX)};

    add(w, "\"%.*s%s\"", LC_STR_ARG(shown), shown.len < text.len ? "…" : "");
}

static void add_suggestion(words *w, const lc_nearest *nearest)
{
    if (nearest->best.ptr != NULL)
        add(w, "; did you mean \"%.*s\"?", LC_STR_ARG(nearest->best));
}

/* ---- What is allowed ------------------------------------------------------------------------- */

lc_bounds lc_param_bounds(const lc_param *param)
{
    bool is_limited = param->min != 0 || param->max != 0;
    bool is_size = param->kind == LC_PARAM_STRING || param->kind == LC_PARAM_STRINGS;

    return (lc_bounds){
        .has_min = is_limited && param->min != INT64_MIN && !(is_size && param->min <= 0),
        .has_max = is_limited && param->max >= param->min && param->max != INT64_MAX,
        .min = param->min,
        .max = param->max,
    };
}

/* "1 to 512 bytes", "at least 1 byte", "bytes". */
static void add_count(words *w, lc_bounds bounds, const char *unit)
{
    int64_t last = bounds.has_max ? bounds.max : bounds.has_min ? bounds.min : 0;

    if (bounds.has_min && bounds.has_max && bounds.min != bounds.max)
        add(w, "%lld to ", (long long)bounds.min);
    else if (bounds.has_min != bounds.has_max)
        add(w, "at %s ", bounds.has_min ? "least" : "most");
    if (bounds.has_min || bounds.has_max)
        add(w, "%lld ", (long long)last);
    add(w, "%s%s", unit, last == 1 ? "" : "s");
}

static void add_number_range(words *w, lc_bounds bounds)
{
    if (bounds.has_min && bounds.has_max)
        add(w, " from %lld to %lld", (long long)bounds.min, (long long)bounds.max);
    else if (bounds.has_min)
        add(w, " of at least %lld", (long long)bounds.min);
    else if (bounds.has_max)
        add(w, " of at most %lld", (long long)bounds.max);
}

static void add_choices(words *w, const char *choices)
{
    loci_str rest = loci_str_of(choices);
    const char *separator = "one of ";

    while (rest.ptr != NULL) {
        loci_str choice = lc_str_split(rest, '|', &rest);

        add(w, "%s%.*s", separator, LC_STR_ARG(choice));
        separator = ", ";
    }
}

static void add_string_words(words *w, const lc_param *param)
{
    lc_bounds bounds = lc_param_bounds(param);

    if (param->choices != NULL) {
        add_choices(w, param->choices);
        return;
    }
    add(w, "a string");
    if (bounds.has_min || bounds.has_max) {
        add(w, " of ");
        add_count(w, bounds, "byte");
    }
    if ((param->flags & LC_PARAM_ID) != 0)
        add(w, " without control characters");
}

static void add_expected(words *w, const lc_param *param)
{
    switch (param->kind) {
    case LC_PARAM_STRING:
        add_string_words(w, param);
        break;
    case LC_PARAM_INT:
    case LC_PARAM_REAL:
        add(w, param->kind == LC_PARAM_INT ? "an integer" : "a number");
        add_number_range(w, lc_param_bounds(param));
        break;
    case LC_PARAM_BOOL:
        add(w, "true or false");
        break;
    case LC_PARAM_TIME:
        add(w, "an RFC 3339 time such as 2026-01-31T09:00:00Z");
        break;
    case LC_PARAM_STRINGS:
        add(w, "an array of ");
        add_count(w, lc_param_bounds(param), "string");
        if (param->choices != NULL) {
            add(w, ", each ");
            add_choices(w, param->choices);
        }
        break;
    case LC_PARAM_OBJECT:
        add(w, "an object");
        break;
    case LC_PARAM_ANY:
        add(w, "any JSON value");
        break;
    }
}

void lc_param_describe(const lc_param *param, char out[LC_DESCRIPTION_BYTES])
{
    words w = {0};
    size_t bytes;

    add_expected(&w, param);
    bytes = lc_utf8_cut((loci_str){w.text, w.len}, LC_DESCRIPTION_BYTES - 1);
    memcpy(out, w.text, bytes);
    out[bytes] = '\0';
}

/* ---- What was given -------------------------------------------------------------------------- */

static void add_given_string(words *w, const lc_param *param, loci_str text)
{
    bool is_text = param->kind == LC_PARAM_STRING || param->kind == LC_PARAM_STRINGS ||
                   param->kind == LC_PARAM_OBJECT;

    if (text.len == 0)
        add(w, "an empty string");
    else if (is_text && param->choices == NULL)
        add(w, "a string of %zu byte%s", text.len, text.len == 1 ? "" : "s");
    else
        add_quoted(w, text);
}

static void add_given(words *w, const lc_param *param, const lc_json *value)
{
    char number[LC_NUMBER_BYTES_MAX];
    size_t count;

    switch (lc_json_kind_of(value)) {
    case LC_JSON_NULL:
        add(w, "null");
        break;
    case LC_JSON_BOOL:
        add(w, "%s", lc_json_bool(value) ? "true" : "false");
        break;
    case LC_JSON_INT:
        add(w, "integer %lld", (long long)lc_json_int(value));
        break;
    case LC_JSON_REAL:
        add(w, "number %.*s", (int)lc_number_format_f64(lc_json_real(value), number), number);
        break;
    case LC_JSON_STRING:
        add_given_string(w, param, lc_json_str(value));
        break;
    case LC_JSON_ARRAY:
        count = lc_json_count(value);
        add(w, "an array of %zu element%s", count, count == 1 ? "" : "s");
        break;
    case LC_JSON_OBJECT:
        add(w, "an object");
        break;
    }
}

static void add_nearest_choice(words *w, const char *choices, loci_str given)
{
    lc_nearest nearest = lc_nearest_to(given);
    loci_str rest = loci_str_of(choices);

    while (rest.ptr != NULL)
        lc_nearest_offer(&nearest, lc_str_split(rest, '|', &rest));
    add_suggestion(w, &nearest);
}

/* How to write what was probably meant. */
static void add_hint(words *w, const lc_param *param, const lc_json *value)
{
    lc_json_kind kind = lc_json_kind_of(value);
    loci_str text = kind == LC_JSON_STRING ? lc_json_str(value) : LC_STR_NONE;
    double real = kind == LC_JSON_REAL ? lc_json_real(value) : 0.5;
    int64_t integer;

    if (kind == LC_JSON_STRING && param->choices != NULL)
        add_nearest_choice(w, param->choices, text);
    else if (param->kind == LC_PARAM_STRINGS && kind == LC_JSON_STRING)
        add(w, "; one string is written [\"…\"]");
    else if (param->kind == LC_PARAM_INT && real > -1e15 && real < 1e15 &&
             real == (double)(int64_t)real)
        add(w, "; write %lld", (long long)real);
    else if (param->kind == LC_PARAM_BOOL && (lc_str_is(text, "true") || lc_str_is(text, "false")))
        add(w, "; write it without quotes");
    else if ((param->kind == LC_PARAM_INT || param->kind == LC_PARAM_REAL) &&
             lc_str_to_i64(text, &integer))
        add(w, "; write it without quotes");
}

/* ---- The failures ---------------------------------------------------------------------------- */

/* {"parameter": name}. A name out of the table needs no escapes, but a caller's may. */
static void set_parameter_data(loci_error *err, loci_str name)
{
    words w = {0};
    size_t bytes = lc_utf8_cut(name, DATA_NAME_BYTES_MAX);

    add(&w, "{\"parameter\":\"");
    for (size_t i = 0; i < bytes; i++) {
        unsigned char byte = (unsigned char)name.ptr[i];

        if (byte < 0x20 || byte == '"' || byte == '\\')
            add(&w, "\\u%04x", byte);
        else
            add(&w, "%c", byte);
    }
    add(&w, "\"}");
    lc_error_set_data(err, (loci_str){w.text, w.len});
}

static loci_status fail(loci_error *err, loci_str parameter, const words *w)
{
    (void)lc_fail(err, LOCI_EINVAL, "%s", w->text); /* The status is known. */
    set_parameter_data(err, parameter);
    return LOCI_EINVAL;
}

loci_status lc_check_fail_value(loci_error *err, const lc_param *param, int64_t element,
                                const lc_json *value)
{
    words w = {0};

    add(&w, "%s", param->name);
    if (element >= 0)
        add(&w, "[%lld]", (long long)element);
    add(&w, ": expected ");
    if (element >= 0 && param->choices != NULL)
        add_choices(&w, param->choices);
    else if (element >= 0)
        add(&w, "a string");
    else
        add_expected(&w, param);
    add(&w, ", got ");
    add_given(&w, param, value);
    if (element < 0 || lc_json_kind_of(value) == LC_JSON_STRING)
        add_hint(&w, param, value);
    return fail(err, loci_str_of(param->name), &w);
}

loci_status lc_check_fail_control(loci_error *err, const lc_param *param, loci_str text,
                                  size_t at_byte)
{
    unsigned byte = (unsigned char)text.ptr[at_byte];
    /* U+0080 to U+009F are the byte 0xC2 and one that equals the code point. */
    unsigned code_point = byte == 0xC2 ? (unsigned char)text.ptr[at_byte + 1] : byte;
    words w = {0};

    add(&w, "%s: expected ", param->name);
    add_expected(&w, param);
    add(&w, ", got U+%04X at byte %zu", code_point, at_byte + 1);
    return fail(err, loci_str_of(param->name), &w);
}

loci_status lc_check_fail_unknown(loci_error *err, const lc_op *op, loci_str name)
{
    const lc_param *params[LC_PARAMS_MAX];
    size_t count = lc_op_params(op, params);
    lc_nearest nearest = lc_nearest_to(name);
    words w = {0};

    for (size_t i = 0; i < count; i++)
        lc_nearest_offer(&nearest, loci_str_of(params[i]->name));
    add(&w, "unknown parameter ");
    add_quoted(&w, name);
    add(&w, " of %s", op->name);
    add_suggestion(&w, &nearest);
    add(&w, "%s ", nearest.best.ptr != NULL ? "" : ";");
    add(&w, "%s", count == 0 ? "it takes none" : "allowed: ");
    for (size_t i = 0; i < count; i++)
        add(&w, "%s%s", i == 0 ? "" : ", ", params[i]->name);
    return fail(err, name, &w);
}

loci_status lc_check_fail_missing(loci_error *err, const lc_op *op, const lc_param *param)
{
    words w = {0};

    add(&w, "missing parameter \"%s\" of %s (%s: %s)", param->name, op->name,
        lc_param_kind_name(param->kind), param->help);
    return fail(err, loci_str_of(param->name), &w);
}

/* ---- Did you mean …? ------------------------------------------------------------------------- */

#define DISTANCE_MAX 3
#define PREFIX_BYTES_MIN 3 /* "user" means user_id; "a" could mean anything. */

lc_nearest lc_nearest_to(loci_str word)
{
    size_t slips = 1 + word.len / 4; /* One, and one more for every four letters. */

    return (lc_nearest){.word = word,
                        .distance = (slips < DISTANCE_MAX ? slips : DISTANCE_MAX) + 1};
}

void lc_nearest_offer(lc_nearest *nearest, loci_str candidate)
{
    size_t distance = lc_str_distance(nearest->word, candidate, nearest->distance);

    if (nearest->word.len >= PREFIX_BYTES_MIN && distance > 1 &&
        lc_str_starts(candidate, nearest->word))
        distance = 1;
    if (distance < nearest->distance) {
        nearest->best = candidate;
        nearest->distance = distance;
    }
}
