/* check.c - arguments against the table, once, before anything else sees them.
 *
 * First the members given, in their order: each must be a parameter and of its kind. Then the
 * parameters not given: a default, nothing, or a failure. In this order a misspelt name is reported
 * as such and not as the absence of the right one. Then the rules about several parameters. Last,
 * the user: a principal that is narrowed to one user cannot learn whether another exists.
 *
 * This runs for every call: values borrow from the parsed arguments, and nothing is allocated but
 * the input struct, lists, canonical JSON and defaults that are arrays, objects or strings with
 * escapes.
 *
 * Every message names the parameter, the allowed values and the given one. The given value is
 * quoted, up to LC_QUOTE_BYTES_MAX bytes, only if the parameter does not take free text: texts of
 * users do not belong in errors, which end up in logs. Messages are built in place, without
 * allocation, so a wrong argument is reported as such even when memory is short.
 */
#include "ops/check.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/assert.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/number.h"
#include "base/str.h"
#include "base/time.h"
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

/* ---- Allowed values -------------------------------------------------------------------------- */

lc_bounds lc_param_bounds(const lc_param *param)
{
    bool is_limited = param->min != 0 || param->max != 0;
    bool is_size = param->kind == LC_PARAM_STRING || param->kind == LC_PARAM_STRINGS ||
                   param->kind == LC_PARAM_JSON;

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
        if ((param->flags & LC_PARAM_ONE_OR_MANY) != 0)
            add(w, "a string or ");
        add(w, "an array of ");
        add_count(w, lc_param_bounds(param), "string");
        if (param->item_max > 0)
            add(w, " of 1 to %lld bytes", (long long)param->item_max);
        if (param->choices != NULL) {
            add(w, ", each ");
            add_choices(w, param->choices);
        }
        break;
    case LC_PARAM_OBJECT:
        add(w, "an object");
        break;
    case LC_PARAM_ANY:
    case LC_PARAM_JSON:
        add(w, "any JSON value");
        if (lc_param_bounds(param).has_max)
            add(w, " of at most %lld bytes", (long long)param->max);
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

/* ---- Given values ---------------------------------------------------------------------------- */

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

/* Adds the correct spelling of the value that was probably meant. */
static void add_hint(words *w, const lc_param *param, const lc_json *value, bool is_element)
{
    lc_json_kind kind = lc_json_kind_of(value);
    loci_str text = kind == LC_JSON_STRING ? lc_json_str(value) : LC_STR_NONE;
    double real = kind == LC_JSON_REAL ? lc_json_real(value) : 0.5;
    int64_t integer;

    if (kind == LC_JSON_STRING && param->choices != NULL)
        add_nearest_choice(w, param->choices, text);
    else if (param->kind == LC_PARAM_STRINGS && kind == LC_JSON_STRING && !is_element)
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

static loci_status fail_value(loci_error *err, const lc_param *param, int64_t element,
                              const lc_json *value)
{
    words w = {0};

    add(&w, "%s", param->name);
    if (element >= 0)
        add(&w, "[%lld]", (long long)element);
    add(&w, ": expected ");
    if (element >= 0 && param->choices != NULL)
        add_choices(&w, param->choices);
    else if (element >= 0 && param->item_max > 0)
        add(&w, "a string of 1 to %lld bytes", (long long)param->item_max);
    else if (element >= 0)
        add(&w, "a string of at least 1 byte");
    else
        add_expected(&w, param);
    add(&w, ", got ");
    add_given(&w, param, value);
    if (element < 0 || lc_json_kind_of(value) == LC_JSON_STRING)
        add_hint(&w, param, value, element >= 0);
    return fail(err, loci_str_of(param->name), &w);
}

static loci_status fail_control(loci_error *err, const lc_param *param, loci_str text,
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

static loci_status fail_unknown(loci_error *err, const lc_op *op, loci_str name)
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

static loci_status fail_missing(loci_error *err, const lc_op *op, const lc_param *param)
{
    words w = {0};

    add(&w, "missing parameter \"%s\" of %s (%s: %s)", param->name, op->name,
        lc_param_kind_name(param->kind), param->help);
    return fail(err, loci_str_of(param->name), &w);
}

/* ---- One value ------------------------------------------------------------------------------- */

/* A checked argument on its way into the input struct. */
typedef struct checked {
    bool is_set; /* Given, or has a default. */
    const lc_json *json;
    union {
        loci_str str; /* STRING and JSON. */
        int64_t i64;  /* INT and TIME. */
        double f64;
        bool boolean;
        lc_str_list list;
    } as;
} checked;

/* The arguments of one call, in the order of lc_op_param(). */
typedef struct arguments {
    const lc_param *params[LC_PARAMS_MAX];
    checked values[LC_PARAMS_MAX];
    size_t count;
} arguments;

static bool is_within(const lc_param *param, int64_t number)
{
    lc_bounds bounds = lc_param_bounds(param);

    return (!bounds.has_min || number >= bounds.min) && (!bounds.has_max || number <= bounds.max);
}

static bool is_real_within(const lc_param *param, double number)
{
    lc_bounds bounds = lc_param_bounds(param);

    return (!bounds.has_min || number >= (double)bounds.min) &&
           (!bounds.has_max || number <= (double)bounds.max);
}

/* The place of the first control character, or the length. */
static size_t find_control(loci_str text)
{
    for (size_t i = 0; i < text.len; i++) {
        unsigned char byte = (unsigned char)text.ptr[i];

        if (byte < 0x20 || byte == 0x7F)
            return i;
        /* U+0080 to U+009F; the text is valid, so there is a byte behind this one. */
        if (byte == 0xC2 && (unsigned char)text.ptr[i + 1] < 0xA0)
            return i;
    }
    return text.len;
}

/* The choice that is written like the integer `given`: 3 is understood as "3". None = there is no
 * such choice. */
static loci_str find_number_choice(const lc_param *param, const lc_json *given)
{
    loci_str rest = loci_str_of(param->choices);
    char digits[24];

    if (lc_json_kind_of(given) != LC_JSON_INT)
        return LC_STR_NONE;
    (void)snprintf(digits, sizeof digits, "%lld", (long long)lc_json_int(given));
    while (rest.ptr != NULL) {
        loci_str choice = lc_str_split(rest, '|', &rest);

        if (lc_str_is(choice, digits))
            return choice;
    }
    return LC_STR_NONE;
}

static loci_status read_string(const lc_param *param, const lc_json *given, checked *out,
                               loci_error *err)
{
    bool is_string = lc_json_kind_of(given) == LC_JSON_STRING;
    loci_str text = is_string ? lc_json_str(given) : find_number_choice(param, given);
    bool is_allowed = text.ptr != NULL && text.len <= LC_ARGS_BYTES_MAX;

    if (is_allowed && param->choices != NULL)
        is_allowed = lc_str_is_choice(text, param->choices);
    else if (is_allowed)
        is_allowed = is_within(param, (int64_t)text.len);
    if (!is_allowed)
        return fail_value(err, param, -1, given);
    if ((param->flags & LC_PARAM_ID) != 0) {
        size_t at = find_control(text);

        if (at < text.len)
            return fail_control(err, param, text, at);
    }
    out->as.str = text;
    return LOCI_OK;
}

static bool is_item(const lc_param *param, const lc_json *item)
{
    loci_str text;

    if (lc_json_kind_of(item) != LC_JSON_STRING)
        return false;
    text = lc_json_str(item);
    if (param->choices != NULL)
        return lc_str_is_choice(text, param->choices);
    return text.len > 0 && (param->item_max == 0 || text.len <= (size_t)param->item_max);
}

static loci_status read_strings(lc_call *call, const lc_param *param, const lc_json *given,
                                checked *out, loci_error *err)
{
    bool is_one = (param->flags & LC_PARAM_ONE_OR_MANY) != 0 &&
                  lc_json_kind_of(given) == LC_JSON_STRING;
    bool is_array = lc_json_kind_of(given) == LC_JSON_ARRAY;
    size_t count = is_array ? lc_json_count(given) : 1;
    loci_str *items;
    int64_t place = 0;

    if ((!is_one && !is_array) || (is_array && !is_within(param, (int64_t)count)))
        return fail_value(err, param, -1, given);
    items = lc_arena_zalloc_array(call->arena, count + 1, sizeof *items);
    if (items == NULL)
        return lc_fail_memory(err);
    for (const lc_json *each = is_array ? lc_json_first(given) : given; each != NULL;
         each = is_array ? lc_json_next(each) : NULL) {
        if (!is_item(param, each))
            return fail_value(err, param, is_array ? place : -1, each);
        items[place++] = lc_json_str(each);
    }
    out->as.list = (lc_str_list){items, count};
    return LOCI_OK;
}

/* Canonical, because the value is compared and stored; too long is LOCI_ELIMIT. */
static loci_status read_json(lc_call *call, const lc_param *param, const lc_json *given,
                             checked *out, loci_error *err)
{
    loci_status status;
    lc_buf text;

    lc_buf_init(&text, call->arena->heap, LOCI_MEM_REQUESTS, LC_ARGS_BYTES_MAX);
    status = lc_json_canonical(call->arena, given, &text, err);
    if (status == LOCI_OK && !is_within(param, (int64_t)text.len))
        status = lc_fail(err, LOCI_ELIMIT, "%s: %zu bytes of JSON; the maximum is %lld",
                         param->name, text.len, (long long)param->max);
    if (status == LOCI_OK) {
        out->as.str = lc_arena_copy(call->arena, lc_buf_str(&text));
        if (out->as.str.ptr == NULL)
            status = lc_fail_memory(err);
    }
    lc_buf_clear(&text);
    return status;
}

/* Whether `given` is the number, time or boolean that `param` takes; `out` gets it. */
static bool read_scalar(const lc_param *param, const lc_json *given, checked *out)
{
    lc_json_kind kind = lc_json_kind_of(given);

    switch (param->kind) {
    case LC_PARAM_INT:
        if (kind != LC_JSON_INT)
            return false;
        out->as.i64 = lc_json_int(given);
        return is_within(param, out->as.i64);
    case LC_PARAM_REAL:
        if (kind != LC_JSON_REAL && kind != LC_JSON_INT)
            return false;
        out->as.f64 = lc_json_real(given);
        return is_real_within(param, out->as.f64);
    case LC_PARAM_BOOL:
        if (kind != LC_JSON_BOOL)
            return false;
        out->as.boolean = lc_json_bool(given);
        return true;
    case LC_PARAM_TIME:
        return kind == LC_JSON_STRING && lc_time_parse(lc_json_str(given), &out->as.i64);
    default:
        return false;
    }
}

static loci_status read_value(lc_call *call, const lc_param *param, const lc_json *given,
                              checked *out, loci_error *err)
{
    loci_status status = LOCI_OK;

    switch (param->kind) {
    case LC_PARAM_STRING:
        status = read_string(param, given, out, err);
        break;
    case LC_PARAM_STRINGS:
        status = read_strings(call, param, given, out, err);
        break;
    case LC_PARAM_OBJECT:
        if (lc_json_kind_of(given) != LC_JSON_OBJECT)
            status = fail_value(err, param, -1, given);
        break;
    case LC_PARAM_ANY:
        break;
    case LC_PARAM_JSON:
        status = read_json(call, param, given, out, err);
        break;
    default:
        if (!read_scalar(param, given, out))
            status = fail_value(err, param, -1, given);
        break;
    }
    out->is_set = status == LOCI_OK;
    out->json = given;
    return status;
}

/* ---- Into the input struct ------------------------------------------------------------------- */

/* Writes `value`, or what stands for its absence, to the member at `slot`. */
static void store_value(const lc_param *param, const checked *value, void *slot)
{
    switch (param->kind) {
    case LC_PARAM_STRING:
    case LC_PARAM_JSON:
        *(loci_str *)slot = value->is_set ? value->as.str : LC_STR_NONE;
        break;
    case LC_PARAM_INT:
    case LC_PARAM_TIME:
        *(int64_t *)slot = value->is_set ? value->as.i64 : LC_ABSENT;
        break;
    case LC_PARAM_REAL:
        *(double *)slot = value->is_set ? value->as.f64 : (double)NAN;
        break;
    case LC_PARAM_BOOL:
        if (param->default_text != NULL)
            *(bool *)slot = value->as.boolean;
        else
            *(lc_tristate *)slot = !value->is_set      ? LC_UNSET
                                   : value->as.boolean ? LC_TRUE
                                                       : LC_FALSE;
        break;
    case LC_PARAM_STRINGS:
        *(lc_str_list *)slot = value->is_set ? value->as.list : (lc_str_list){NULL, 0};
        break;
    case LC_PARAM_OBJECT:
    case LC_PARAM_ANY:
        *(const lc_json **)slot = value->is_set ? value->json : NULL;
        break;
    }
}

static loci_status fill_input(lc_call *call, const arguments *all, loci_error *err)
{
    if (call->op->input_bytes > 0) {
        call->input = lc_arena_zalloc_array(call->arena, 1, call->op->input_bytes);
        if (call->input == NULL)
            return lc_fail_memory(err);
    }
    for (size_t i = 0; i < all->count; i++) {
        const lc_param *param = all->params[i];
        void *base = lc_op_owns(call->op, param) ? call->input : (void *)&call->implied;

        LC_ASSERT(base != NULL);
        store_value(param, &all->values[i], (char *)base + param->offset);
    }
    return LOCI_OK;
}

/* ---- Defaults -------------------------------------------------------------------------------- */

/* The inside of a JSON string without escapes. */
static bool read_plain_string(loci_str json, loci_str *out)
{
    if (json.len < 2 || json.ptr[0] != '"' || memchr(json.ptr, '\\', json.len) != NULL)
        return false;
    *out = (loci_str){json.ptr + 1, json.len - 2};
    return true;
}

/* Reads the usual defaults without building a tree; false when one has to be built. */
static bool read_plain_default(const lc_param *param, checked *out)
{
    loci_str json = loci_str_of(param->default_text);
    loci_str text;

    switch (param->kind) {
    case LC_PARAM_STRING:
        return read_plain_string(json, &out->as.str);
    case LC_PARAM_INT:
        return lc_str_to_i64(json, &out->as.i64);
    case LC_PARAM_REAL:
        return lc_number_parse_f64(json, &out->as.f64);
    case LC_PARAM_BOOL:
        out->as.boolean = lc_str_is(json, "true");
        return out->as.boolean || lc_str_is(json, "false");
    case LC_PARAM_TIME:
        return read_plain_string(json, &text) && lc_time_parse(text, &out->as.i64);
    default:
        return false;
    }
}

static loci_status apply_default(lc_call *call, const lc_param *param, checked *out,
                                 loci_error *err)
{
    const lc_json *parsed;
    loci_status status;

    if (read_plain_default(param, out)) {
        out->is_set = true;
        return LOCI_OK;
    }
    status = lc_json_parse(call->arena, loci_str_of(param->default_text), 0, &parsed, err);
    if (status == LOCI_OK)
        status = read_value(call, param, parsed, out, err);
    /* The table is ours: a default that does not pass is a bug in it. */
    LC_ASSERT(status == LOCI_OK || status == LOCI_ERESOURCE);
    return status;
}

/* ---- Rules ----------------------------------------------------------------------------------- */

static bool is_given(const lc_call *call, loci_str name)
{
    size_t index;
    const lc_param *param = lc_op_find_param(call->op, name, &index);

    LC_ASSERT(param != NULL);
    return (call->given >> index & 1) != 0;
}

/* "key or id". */
static void add_alternatives(words *w, const char *params)
{
    loci_str rest = loci_str_of(params);

    while (rest.ptr != NULL) {
        loci_str name = lc_str_split(rest, '|', &rest);

        add(w, "%.*s%s", LC_STR_ARG(name), rest.ptr != NULL ? " or " : "");
    }
}

static loci_status check_rule(const lc_call *call, const lc_param_rule *rule, loci_error *err)
{
    loci_str rest = loci_str_of(rule->params);
    loci_str first = lc_str_split(rest, '|', &rest);
    size_t count = is_given(call, first);
    words w = {0};

    if (rule->kind == LC_RULE_NEEDS) {
        if (count == 0 || is_given(call, rest))
            return LOCI_OK;
        add(&w, "%.*s: needs %.*s as well", LC_STR_ARG(first), LC_STR_ARG(rest));
        return fail(err, first, &w);
    }
    while (rest.ptr != NULL)
        count += is_given(call, lc_str_split(rest, '|', &rest));
    if (count == 1 || (count == 0 && rule->kind == LC_RULE_AT_MOST_ONE))
        return LOCI_OK;
    add(&w, "%s: give ", call->op->name);
    add_alternatives(&w, rule->params);
    add(&w, "%s", count > 1 ? ", not both" : "");
    return fail(err, first, &w);
}

static loci_status check_rules(const lc_call *call, loci_error *err)
{
    loci_status status = LOCI_OK;

    for (const lc_param_rule *rule = call->op->rules;
         status == LOCI_OK && rule != NULL && rule->kind != LC_RULE_END; rule++)
        status = check_rule(call, rule, err);
    return status;
}

/* ---- User and persona ------------------------------------------------------------------------ */

/* `*own` is the only id that the principal may use, or empty; it becomes the id in use. */
static loci_status narrow_id(loci_str given, bool is_given_, const char *noun, loci_str *own,
                             loci_error *err)
{
    loci_str shown;

    if (own->len == 0) {
        *own = given;
        return LOCI_OK;
    }
    if (!is_given_ || lc_str_eq(given, *own))
        return LOCI_OK;
    shown = (loci_str){given.ptr, lc_utf8_cut(given, LC_QUOTE_BYTES_MAX)};
    return lc_fail(err, LOCI_ENOTFOUND, "%s \"%.*s%s\" not found", noun, LC_STR_ARG(shown),
                   shown.len < given.len ? "…" : "");
}

static loci_status narrow_ids(lc_call *call, loci_error *err)
{
    loci_str user_id = call->user_id;
    loci_str persona_id = call->persona_id;
    loci_status status;

    if ((call->op->flags & LC_OP_USER) == 0)
        return LOCI_OK;
    status = narrow_id(call->implied.user_id, is_given(call, LC_STR("user_id")), "user", &user_id,
                       err);
    if (status == LOCI_OK)
        status = narrow_id(call->implied.persona_id, is_given(call, LC_STR("persona_id")),
                           "persona", &persona_id, err);
    if (status != LOCI_OK)
        return status;
    call->user_id = user_id;
    call->persona_id = persona_id;
    return LOCI_OK;
}

static loci_status check_admin(const lc_call *call, loci_error *err)
{
    if ((call->op->flags & LC_OP_ADMIN) != 0 && !call->is_admin)
        return lc_fail(err, LOCI_EFORBIDDEN, "%s is for administrators of the store",
                       call->op->name);
    if ((call->op->flags & LC_OP_TENANT_ADMIN) != 0 && !call->is_tenant_admin && !call->is_admin)
        return lc_fail(err, LOCI_EFORBIDDEN, "%s is for administrators of the tenant",
                       call->op->name);
    if ((call->op->flags & LC_OP_WHOLE_USER) != 0 && call->is_of_persona)
        return lc_fail(err, LOCI_EFORBIDDEN,
                       "%s is about all personas of the user; this caller is narrowed to one",
                       call->op->name);
    return LOCI_OK;
}

/* A member that is absent, or no string, is an error that the whole check reports, or none. */
static loci_str text_member(const lc_json *args, loci_str name)
{
    const lc_json *member = lc_json_kind_of(args) == LC_JSON_OBJECT ? lc_json_member(args, name)
                                                                    : NULL;

    return member != NULL && lc_json_kind_of(member) == LC_JSON_STRING ? lc_json_str(member)
                                                                       : LC_STR_NONE;
}

loci_status lc_op_check_rights(const lc_call *call, const lc_json *args, loci_error *err)
{
    loci_str user_id = call->user_id, persona_id = call->persona_id;
    loci_str given = text_member(args, LC_STR("user_id"));
    loci_status status = check_admin(call, err);

    if (status != LOCI_OK || (call->op->flags & LC_OP_USER) == 0)
        return status;
    status = narrow_id(given, given.ptr != NULL, "user", &user_id, err);
    given = text_member(args, LC_STR("persona_id"));
    if (status == LOCI_OK)
        status = narrow_id(given, given.ptr != NULL, "persona", &persona_id, err);
    return status;
}

/* ---- All together ---------------------------------------------------------------------------- */

static loci_status read_given(lc_call *call, const lc_json *args, arguments *all, loci_error *err)
{
    for (const lc_json *given = lc_json_first(args); given != NULL; given = lc_json_next(given)) {
        size_t index;
        const lc_param *param = lc_op_find_param(call->op, lc_json_name(given), &index);
        loci_status status;

        if (param == NULL)
            return fail_unknown(err, call->op, lc_json_name(given));
        /* Clients write null for parameters that they leave out. */
        if (lc_json_kind_of(given) == LC_JSON_NULL && (param->flags & LC_PARAM_REQUIRED) == 0)
            continue;
        if ((call->given >> index & 1) != 0) {
            words w = {0};

            add(&w, "%s: given twice, also as %s", param->name, param->alias);
            return fail(err, loci_str_of(param->name), &w);
        }
        status = read_value(call, param, given, &all->values[index], err);
        if (status != LOCI_OK)
            return status;
        call->given |= UINT64_C(1) << index;
    }
    return LOCI_OK;
}

static loci_status read_absent(lc_call *call, arguments *all, loci_error *err)
{
    for (size_t i = 0; i < all->count; i++) {
        const lc_param *param = all->params[i];
        loci_status status = LOCI_OK;

        if (all->values[i].is_set)
            continue;
        if ((param->flags & LC_PARAM_REQUIRED) != 0)
            status = fail_missing(err, call->op, param);
        else if (param->default_text != NULL)
            status = apply_default(call, param, &all->values[i], err);
        if (status != LOCI_OK)
            return status;
    }
    return LOCI_OK;
}

loci_status lc_op_check(lc_call *call, const lc_json *args, loci_error *err)
{
    arguments all;
    loci_status status = check_admin(call, err);

    if (status != LOCI_OK)
        return status;
    if (lc_json_kind_of(args) != LC_JSON_OBJECT)
        return lc_fail(err, LOCI_EINVAL, "arguments of %s: expected an object, got %s",
                       call->op->name, lc_json_kind_name(lc_json_kind_of(args)));

    all.count = lc_op_params(call->op, all.params);
    for (size_t i = 0; i < all.count; i++)
        all.values[i] = (checked){0};
    call->given = 0;
    status = read_given(call, args, &all, err);
    if (status == LOCI_OK)
        status = read_absent(call, &all, err);
    if (status == LOCI_OK)
        status = check_rules(call, err);
    if (status == LOCI_OK)
        status = fill_input(call, &all, err);
    /* Routes need a word for the default: /v1/sessions/current/messages. */
    if (status == LOCI_OK && lc_str_is(call->implied.session_id, "current"))
        call->implied.session_id = LC_STR_NONE;
    if (status == LOCI_OK)
        status = narrow_ids(call, err);
    return status;
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
