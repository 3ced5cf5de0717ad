/* openapi_schema.c - Results are a flat list of names such as "jobs[].id"; here they become a tree
 * again. The tree is walked by prefixes of names: a table is small, and nothing need be built.
 *
 * Bytes are not characters: a string of at most N bytes has at most N characters, so the limits
 * hold as a schema's, if not as tightly as the operation's own check. */
#include "server/openapi_schema.h"

#include "base/assert.h"
#include "base/str.h"
#include "ops/check.h"
#include "server/listing.h"

#define LEVELS_MAX 6 /* Of results inside results. */
#define PREFIX_BYTES_MAX 128

/* ---- One value*/

/* NULL for what may be anything. */
static const char *type_of(lc_param_kind kind)
{
    switch (kind) {
    case LC_PARAM_STRING:
    case LC_PARAM_TIME:
        return "string";
    case LC_PARAM_INT:
        return "integer";
    case LC_PARAM_REAL:
        return "number";
    case LC_PARAM_BOOL:
        return "boolean";
    case LC_PARAM_STRINGS:
        return "array";
    case LC_PARAM_OBJECT:
        return "object";
    case LC_PARAM_ANY:
    case LC_PARAM_JSON:
        break;
    }
    return NULL;
}

static void put_type(lc_json_writer *out, const char *type, bool may_be_null)
{
    if (type == NULL)
        return;
    lc_jw_name(out, "type");
    if (may_be_null)
        lc_jw_array(out);
    lc_jw_text(out, type);
    if (may_be_null) {
        lc_jw_text(out, "null");
        lc_jw_end(out);
    }
}

/* What follows from the kind alone. */
static void put_kind(lc_json_writer *out, lc_param_kind kind, bool may_be_null)
{
    put_type(out, type_of(kind), may_be_null);
    if (kind == LC_PARAM_INT)
        lc_jw_member_text(out, "format", "int64");
    if (kind == LC_PARAM_TIME)
        lc_jw_member_text(out, "format", "date-time");
}

static void put_choices(lc_json_writer *out, const char *choices)
{
    loci_str rest = loci_str_of(choices);

    lc_jw_name(out, "enum");
    lc_jw_array(out);
    while (rest.ptr != NULL)
        lc_jw_str(out, lc_str_split(rest, '|', &rest));
    lc_jw_end(out);
}

/* Of an array of strings: what each of them may be. */
static void put_items(lc_json_writer *out, const char *choices)
{
    lc_jw_name(out, "items");
    lc_jw_object(out);
    lc_jw_member_text(out, "type", "string");
    if (choices != NULL)
        put_choices(out, choices);
    lc_jw_end(out);
}

static void put_bounds(lc_json_writer *out, const lc_param *param)
{
    lc_bounds bounds = lc_param_bounds(param);
    const char *least, *most;

    switch (param->kind) {
    case LC_PARAM_INT:
    case LC_PARAM_REAL:
        least = "minimum";
        most = "maximum";
        break;
    case LC_PARAM_STRING:
        least = "minLength";
        most = "maxLength";
        break;
    case LC_PARAM_STRINGS:
        least = "minItems";
        most = "maxItems";
        break;
    default:
        return;
    }
    if (bounds.has_min && (bounds.min > 0 || param->kind == LC_PARAM_INT))
        lc_jw_member_int(out, least, bounds.min);
    if (bounds.has_max)
        lc_jw_member_int(out, most, bounds.max);
}

void lc_schema_param(lc_json_writer *out, const lc_param *param)
{
    lc_jw_object(out);
    put_kind(out, param->kind, false);
    if (param->kind == LC_PARAM_STRINGS)
        put_items(out, param->choices);
    if (param->choices != NULL && param->kind != LC_PARAM_STRINGS)
        put_choices(out, param->choices);
    else
        put_bounds(out, param);
    if (param->default_text != NULL)
        lc_jw_member_raw(out, "default", loci_str_of(param->default_text));
    lc_jw_member_text(out, "description", param->help);
    lc_jw_end(out);
}

/* ---- Arguments*/

static bool is_required(const lc_param *param, loci_str path)
{
    return (param->flags & LC_PARAM_REQUIRED) != 0 && !lc_listing_is_in_path(path, param->name);
}

bool lc_schema_needs_args(const lc_op *op, loci_str path)
{
    const lc_param *param;

    for (size_t i = 0; (param = lc_op_param(op, i)) != NULL; i++) {
        if (is_required(param, path))
            return true;
    }
    return false;
}

void lc_schema_args(lc_json_writer *out, const lc_op *op, loci_str path)
{
    const lc_param *param;

    lc_jw_object(out);
    lc_jw_member_text(out, "type", "object");
    lc_jw_member_bool(out, "additionalProperties", false);
    lc_jw_name(out, "properties");
    lc_jw_object(out);
    for (size_t i = 0; (param = lc_op_param(op, i)) != NULL; i++) {
        if (lc_listing_is_in_path(path, param->name))
            continue;
        lc_jw_name(out, param->name);
        lc_schema_param(out, param);
    }
    lc_jw_end(out);
    if (lc_schema_needs_args(op, path)) {
        lc_jw_name(out, "required");
        lc_jw_array(out);
        for (size_t i = 0; (param = lc_op_param(op, i)) != NULL; i++) {
            if (is_required(param, path))
                lc_jw_text(out, param->name);
        }
        lc_jw_end(out);
    }
    lc_jw_end(out);
}

/* ---- Answers*/

/* One name at one level: "jobs" of "jobs[].id". */
typedef struct member {
    loci_str name;
    const lc_result *own; /* The entry about itself, or NULL. */
    bool is_array;        /* "jobs[]…" is there, */
    bool has_members;     /* and "jobs[].…" or "jobs.…". */
} member;

static loci_str name_behind(const lc_result *result, loci_str prefix)
{
    loci_str rest = loci_str_of(result->name);
    size_t end = 0;

    if (!lc_str_starts(rest, prefix))
        return LC_STR_NONE;
    rest = (loci_str){rest.ptr + prefix.len, rest.len - prefix.len};
    while (end < rest.len && rest.ptr[end] != '.' && rest.ptr[end] != '[')
        end++;
    return (loci_str){rest.ptr, end};
}

static bool is_first(const lc_result *results, const lc_result *at, loci_str prefix)
{
    loci_str name = name_behind(at, prefix);

    for (const lc_result *before = results; before != at; before++) {
        if (lc_str_eq(name_behind(before, prefix), name))
            return false;
    }
    return true;
}

static member look_at(const lc_result *results, loci_str prefix, loci_str name)
{
    member found = {.name = name};

    for (const lc_result *at = results; at->name != NULL; at++) {
        loci_str tail;

        if (!lc_str_eq(name_behind(at, prefix), name))
            continue;
        tail = loci_str_of(at->name + prefix.len + name.len);
        if (tail.len == 0 || lc_str_is(tail, "[]"))
            found.own = at;
        found.is_array |= lc_str_starts(tail, LC_STR("[]"));
        found.has_members |= tail.len > 0 && tail.ptr[tail.len - 1] != ']';
    }
    return found;
}

/* The table says in words what may be null, and it is the only place that knows. */
static bool may_be_null(const lc_result *result)
{
    return result != NULL && strstr(result->help, "null") != NULL;
}

static void put_members(lc_json_writer *out, const lc_result *results, loci_str prefix, int level);

static void put_member(lc_json_writer *out, const lc_result *results, loci_str prefix,
                       const member *m, int level)
{
    char inner[PREFIX_BYTES_MAX];
    size_t len = prefix.len + m->name.len;

    LC_ASSERT(len + 3 < sizeof inner);
    memcpy(inner, prefix.ptr, prefix.len);
    memcpy(inner + prefix.len, m->name.ptr, m->name.len);
    memcpy(inner + len, m->is_array ? "[]." : ".", m->is_array ? 3 : 1);
    len += m->is_array ? 3 : 1;
    if (m->own != NULL)
        lc_jw_member_text(out, "description", m->own->help);
    if (m->is_array) {
        put_type(out, "array", may_be_null(m->own));
        lc_jw_name(out, "items");
        lc_jw_object(out);
    }
    if (m->has_members)
        put_members(out, results, (loci_str){inner, len}, level + 1);
    else
        put_kind(out, m->own->kind, !m->is_array && may_be_null(m->own));
    if (!m->has_members && m->own->kind == LC_PARAM_STRINGS)
        put_items(out, NULL);
    if (m->is_array)
        lc_jw_end(out);
}

/* Recursion over names of the table, at most LEVELS_MAX deep. */
static void put_members(lc_json_writer *out, const lc_result *results, loci_str prefix, int level)
{
    LC_ASSERT(level < LEVELS_MAX);
    lc_jw_member_text(out, "type", "object");
    lc_jw_name(out, "properties");
    lc_jw_object(out);
    for (const lc_result *at = results; at->name != NULL; at++) {
        loci_str name = name_behind(at, prefix);
        member m;

        if (name.len == 0 || !is_first(results, at, prefix))
            continue;
        m = look_at(results, prefix, name);
        lc_jw_name_str(out, name);
        lc_jw_object(out);
        put_member(out, results, prefix, &m, level);
        lc_jw_end(out);
    }
    lc_jw_end(out);
}

void lc_schema_answer(lc_json_writer *out, const lc_op *op)
{
    static const lc_result none = {0};

    lc_jw_object(out);
    put_members(out, op->results != NULL ? op->results : &none, LC_STR(""), 0);
    lc_jw_end(out);
}

/* ---- Names*/

void lc_schema_name(const lc_op *op, const char *suffix, char out[LC_SCHEMA_NAME_BYTES])
{
    size_t len = 0;
    bool is_start = true;

    for (const char *at = op->name; *at != '\0' && len < LC_SCHEMA_NAME_BYTES - 16; at++) {
        if (*at == '.' || *at == '_') {
            is_start = true;
            continue;
        }
        out[len++] = is_start && *at >= 'a' && *at <= 'z' ? (char)(*at - 'a' + 'A') : *at;
        is_start = false;
    }
    while (*suffix != '\0' && len < LC_SCHEMA_NAME_BYTES - 1)
        out[len++] = *suffix++;
    out[len] = '\0';
}
