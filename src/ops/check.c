/* check.c - arguments against the table, once, before anything else sees them.
 *
 * First the members given, in their order: each must be a parameter and of its kind. Then the
 * parameters not given: a default, nothing, or a failure. In this order a misspelt name is reported
 * as such and not as the absence of the right one. Last, whose state it is: who may act for one
 * user only cannot learn whether another exists.
 *
 * This runs for every call: values borrow from the parsed arguments, and nothing is allocated but
 * for defaults that are arrays, objects or strings with escapes.
 */
#include "ops/check.h"

#include "base/assert.h"
#include "base/error.h"
#include "base/number.h"
#include "base/str.h"
#include "base/time.h"
#include "base/utf8.h"

static bool is_choice(const char *choices, loci_str text)
{
    loci_str rest = loci_str_of(choices);

    while (rest.ptr != NULL) {
        if (lc_str_eq(lc_str_split(rest, '|', &rest), text))
            return true;
    }
    return false;
}

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

static loci_status check_string(const lc_param *param, const lc_json *given, lc_value *out,
                                loci_error *err)
{
    bool is_string = lc_json_kind_of(given) == LC_JSON_STRING;
    loci_str text = is_string ? lc_json_str(given) : LC_STR_NONE;
    bool is_allowed = is_string && text.len <= LC_ARGS_BYTES_MAX;

    if (is_allowed && param->choices != NULL)
        is_allowed = is_choice(param->choices, text);
    else if (is_allowed)
        is_allowed = is_within(param, (int64_t)text.len);
    if (!is_allowed)
        return lc_check_fail_value(err, param, -1, given);
    if ((param->flags & LC_PARAM_ID) != 0) {
        size_t at = find_control(text);

        if (at < text.len)
            return lc_check_fail_control(err, param, text, at);
    }
    out->as.str = text;
    return LOCI_OK;
}

static loci_status check_strings(const lc_param *param, const lc_json *given, loci_error *err)
{
    int64_t place = 0;

    if (lc_json_kind_of(given) != LC_JSON_ARRAY || !is_within(param, (int64_t)lc_json_count(given)))
        return lc_check_fail_value(err, param, -1, given);
    for (const lc_json *each = lc_json_first(given); each != NULL; each = lc_json_next(each)) {
        if (lc_json_kind_of(each) != LC_JSON_STRING ||
            (param->choices != NULL && !is_choice(param->choices, lc_json_str(each))))
            return lc_check_fail_value(err, param, place, each);
        place++;
    }
    return LOCI_OK;
}

/* Whether `given` is the number, moment or truth that `param` takes; `out` gets it. */
static bool read_scalar(const lc_param *param, const lc_json *given, lc_value *out)
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

static loci_status check_value(const lc_param *param, const lc_json *given, lc_value *out,
                               loci_error *err)
{
    loci_status status = LOCI_OK;

    switch (param->kind) {
    case LC_PARAM_STRING:
        status = check_string(param, given, out, err);
        break;
    case LC_PARAM_STRINGS:
        status = check_strings(param, given, err);
        break;
    case LC_PARAM_OBJECT:
        if (lc_json_kind_of(given) != LC_JSON_OBJECT)
            status = lc_check_fail_value(err, param, -1, given);
        break;
    case LC_PARAM_ANY:
        break;
    default:
        if (!read_scalar(param, given, out))
            status = lc_check_fail_value(err, param, -1, given);
        break;
    }
    out->is_set = status == LOCI_OK;
    out->json = given;
    return status;
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
static bool read_plain_default(const lc_param *param, lc_value *out)
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

static loci_status apply_default(lc_call *call, const lc_param *param, lc_value *out,
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
        status = check_value(param, parsed, out, err);
    /* The table is ours: a default that does not pass is a bug in it. */
    LC_ASSERT(status == LOCI_OK || status == LOCI_ERESOURCE);
    return status;
}

/* ---- Whose ----------------------------------------------------------------------------------- */

/* `*held` is the one id that the principal may use, or empty; it becomes the one that is used. */
static loci_status settle_id(lc_call *call, const char *name, const char *noun, loci_str *held,
                             loci_error *err)
{
    size_t index;
    const lc_param *param = lc_op_find_param(call->op, loci_str_of(name), &index);
    lc_value *value;
    loci_str shown;

    LC_ASSERT(param != NULL);
    value = &call->values[index];
    if (held->len == 0) {
        *held = value->is_set ? value->as.str : LC_STR_NONE;
        return LOCI_OK;
    }
    if (value->json != NULL && !lc_str_eq(value->as.str, *held)) {
        shown = (loci_str){value->as.str.ptr, lc_utf8_cut(value->as.str, LC_QUOTE_BYTES_MAX)};
        return lc_fail(err, LOCI_ENOTFOUND, "%s \"%.*s%s\" not found", noun, LC_STR_ARG(shown),
                       shown.len < value->as.str.len ? "…" : "");
    }
    value->is_set = true;
    value->as.str = *held;
    return LOCI_OK;
}

static loci_status settle_ids(lc_call *call, loci_error *err)
{
    loci_str user_id = call->user_id;
    loci_str persona_id = call->persona_id;
    loci_status status;

    if ((call->op->flags & LC_OP_USER) == 0)
        return LOCI_OK;
    status = settle_id(call, "user_id", "user", &user_id, err);
    if (status == LOCI_OK)
        status = settle_id(call, "persona_id", "persona", &persona_id, err);
    if (status != LOCI_OK)
        return status;
    call->user_id = user_id;
    call->persona_id = persona_id;
    return LOCI_OK;
}

/* ---- All together ---------------------------------------------------------------------------- */

static loci_status check_given(lc_call *call, const lc_json *args, loci_error *err)
{
    for (const lc_json *given = lc_json_first(args); given != NULL; given = lc_json_next(given)) {
        size_t index;
        const lc_param *param = lc_op_find_param(call->op, lc_json_name(given), &index);
        bool is_required;
        loci_status status;

        if (param == NULL)
            return lc_check_fail_unknown(err, call->op, lc_json_name(given));
        is_required = (param->flags & LC_PARAM_REQUIRED) != 0;
        /* Clients write null for what they leave out. */
        if (lc_json_kind_of(given) == LC_JSON_NULL && param->kind != LC_PARAM_ANY && !is_required)
            continue;
        status = check_value(param, given, &call->values[index], err);
        if (status != LOCI_OK)
            return status;
    }
    return LOCI_OK;
}

static loci_status fill_absent(lc_call *call, const lc_param *const *params, size_t count,
                               loci_error *err)
{
    for (size_t i = 0; i < count; i++) {
        loci_status status = LOCI_OK;

        if (call->values[i].is_set)
            continue;
        if ((params[i]->flags & LC_PARAM_REQUIRED) != 0)
            status = lc_check_fail_missing(err, call->op, params[i]);
        else if (params[i]->default_text != NULL)
            status = apply_default(call, params[i], &call->values[i], err);
        if (status != LOCI_OK)
            return status;
    }
    return LOCI_OK;
}

loci_status lc_op_check(lc_call *call, const lc_json *args, loci_error *err)
{
    const lc_param *params[LC_PARAMS_MAX];
    size_t count = lc_op_params(call->op, params);
    loci_status status;

    if ((call->op->flags & LC_OP_ADMIN) != 0 && !call->is_admin)
        return lc_fail(err, LOCI_EFORBIDDEN, "%s is for administrators of the store",
                       call->op->name);
    if ((call->op->flags & LC_OP_TENANT_ADMIN) != 0 && !call->is_tenant_admin && !call->is_admin)
        return lc_fail(err, LOCI_EFORBIDDEN, "%s is for administrators of the tenant",
                       call->op->name);
    if (lc_json_kind_of(args) != LC_JSON_OBJECT)
        return lc_fail(err, LOCI_EINVAL, "arguments of %s: expected an object, got %s",
                       call->op->name, lc_json_kind_name(lc_json_kind_of(args)));

    for (size_t i = 0; i < count; i++)
        call->values[i] = (lc_value){0};
    status = check_given(call, args, err);
    if (status == LOCI_OK)
        status = fill_absent(call, params, count, err);
    if (status == LOCI_OK)
        status = settle_ids(call, err);
    return status;
}
