/* schema.c - see schema.h.
 *
 * JSON Schema counts characters, the check counts bytes: a string of at most N bytes has at most N
 * characters, so maxLength is right but not tight. The exact limit is in "x-max-bytes".
 *
 * null for an optional argument means that it is absent, so rules about several arguments ask
 * whether one is there and not null.
 */
#include "ops/schema.h"

#include <stdio.h>

#include "base/assert.h"
#include "base/str.h"
#include "ops/check.h"

/* ---- One value ------------------------------------------------------------------------------- */

/* NULL for any value. */
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

static void put_type(lc_json_writer *out, const char *type, bool is_nullable)
{
    if (type == NULL)
        return;
    lc_jw_name(out, "type");
    if (is_nullable)
        lc_jw_array(out);
    lc_jw_text(out, type);
    if (is_nullable) {
        lc_jw_text(out, "null");
        lc_jw_end(out);
    }
}

static void put_words(lc_json_writer *out, const char *name, const char *words, bool is_nullable)
{
    loci_str rest = loci_str_of(words);

    lc_jw_name(out, name);
    lc_jw_array(out);
    while (rest.ptr != NULL)
        lc_jw_str(out, lc_str_split(rest, '|', &rest));
    if (is_nullable)
        lc_jw_null(out);
    lc_jw_end(out);
}

/* The members that follow from the kind and the choices. */
static void put_kind(lc_json_writer *out, lc_param_kind kind, const char *choices, bool is_nullable)
{
    put_type(out, type_of(kind), is_nullable);
    if (kind == LC_PARAM_INT)
        lc_jw_member_text(out, "format", "int64");
    if (kind == LC_PARAM_TIME)
        lc_jw_member_text(out, "format", "date-time");
    if (choices != NULL && kind != LC_PARAM_STRINGS)
        put_words(out, "enum", choices, is_nullable);
}

/* ---- Parameters ------------------------------------------------------------------------------ */

static void put_max_bytes(lc_json_writer *out, int64_t max)
{
    lc_jw_member_int(out, "maxLength", max);
    lc_jw_member_int(out, "x-max-bytes", max);
}

/* Writes the schema of the strings of an array. */
static void put_items(lc_json_writer *out, const lc_param *param)
{
    lc_jw_name(out, "items");
    lc_jw_object(out);
    lc_jw_member_text(out, "type", "string");
    if (param->choices != NULL)
        put_words(out, "enum", param->choices, false);
    else
        lc_jw_member_int(out, "minLength", 1);
    if (param->item_max > 0)
        put_max_bytes(out, param->item_max);
    lc_jw_end(out);
}

static void put_bounds(lc_json_writer *out, const lc_param *param)
{
    lc_bounds bounds = lc_param_bounds(param);

    switch (param->kind) {
    case LC_PARAM_INT:
    case LC_PARAM_REAL:
        if (bounds.has_min)
            lc_jw_member_int(out, "minimum", bounds.min);
        if (bounds.has_max)
            lc_jw_member_int(out, "maximum", bounds.max);
        break;
    case LC_PARAM_STRING:
        LC_ASSERT(!bounds.has_min || bounds.min == 1); /* More bytes could be one character. */
        if (bounds.has_min)
            lc_jw_member_int(out, "minLength", bounds.min);
        if (bounds.has_max)
            put_max_bytes(out, bounds.max);
        break;
    case LC_PARAM_JSON:
        if (bounds.has_max)
            lc_jw_member_int(out, "x-max-bytes", bounds.max);
        break;
    case LC_PARAM_STRINGS:
        if (bounds.has_min)
            lc_jw_member_int(out, "minItems", bounds.min);
        if (bounds.has_max)
            lc_jw_member_int(out, "maxItems", bounds.max);
        break;
    default:
        break;
    }
}

static void put_param(lc_json_writer *out, const lc_param *param, bool takes_null)
{
    put_kind(out, param->kind, param->choices, takes_null);
    if (param->kind == LC_PARAM_STRINGS)
        put_items(out, param);
    if (param->choices == NULL || param->kind == LC_PARAM_STRINGS)
        put_bounds(out, param);
    if ((param->flags & LC_PARAM_ID) != 0)
        lc_jw_member_text(out, "pattern", "^[^\\u0000-\\u001f\\u007f-\\u009f]*$");
}

void lc_schema_param(lc_json_writer *out, const lc_param *param, bool takes_null)
{
    takes_null = takes_null && (param->flags & LC_PARAM_REQUIRED) == 0;
    lc_jw_object(out);
    if ((param->flags & LC_PARAM_ONE_OR_MANY) != 0) {
        lc_param one = {.kind = LC_PARAM_STRING, .choices = param->choices, .min = 1};

        one.max = param->item_max > 0 ? param->item_max : INT64_MAX;
        lc_jw_name(out, "anyOf");
        lc_jw_array(out);
        lc_jw_object(out);
        put_param(out, param, takes_null);
        lc_jw_end(out);
        lc_jw_object(out);
        put_param(out, &one, false);
        lc_jw_end(out);
        lc_jw_end(out);
    } else {
        put_param(out, param, takes_null);
    }
    if (param->default_text != NULL)
        lc_jw_member_raw(out, "default", loci_str_of(param->default_text));
    lc_jw_member_text(out, "description", param->help);
    lc_jw_end(out);
}

/* Any JSON value. Some hosts refuse a schema without a type, others an array without `items`, and
 * LangChain takes a choice with an object in it for that object and refuses everything else. So
 * objects and other arrays are not named; they are accepted all the same. */
#define ANY_VALUE                                                                                  \
    "[{\"type\":\"string\"},{\"type\":\"number\"},{\"type\":\"boolean\"},"                         \
    "{\"type\":\"array\",\"items\":{\"type\":\"string\"}}]"

void lc_schema_plain(lc_json_writer *out, lc_param_kind kind, const char *choices)
{
    const char *type = type_of(kind);

    if (type == NULL) {
        lc_jw_member_raw(out, "anyOf", LC_STR(ANY_VALUE));
        return;
    }
    lc_jw_member_text(out, "type", type);
    if (kind == LC_PARAM_STRINGS) {
        lc_jw_name(out, "items");
        lc_jw_object(out);
        lc_jw_member_text(out, "type", "string");
    }
    if (choices != NULL)
        put_words(out, "enum", choices, false);
    if (kind == LC_PARAM_STRINGS)
        lc_jw_end(out);
}

/* ---- Rules about several parameters ---------------------------------------------------------- */

/* {"required": names, "properties": {name: {"not": {"type": "null"}}, …}} */
static void put_given(lc_json_writer *out, const char *names)
{
    loci_str rest = loci_str_of(names);

    lc_jw_object(out);
    put_words(out, "required", names, false);
    lc_jw_name(out, "properties");
    lc_jw_object(out);
    while (rest.ptr != NULL) {
        lc_jw_name_str(out, lc_str_split(rest, '|', &rest));
        lc_jw_raw(out, LC_STR("{\"not\":{\"type\":\"null\"}}"));
    }
    lc_jw_end(out);
    lc_jw_end(out);
}

/* The first two names of a rule; all rules of the table are about two. */
static void split_rule(const lc_param_rule *rule, char out[2][64])
{
    loci_str second;
    loci_str first = lc_str_split(loci_str_of(rule->params), '|', &second);

    LC_ASSERT(second.ptr != NULL);
    LC_ASSERT(memchr(second.ptr, '|', second.len) == NULL);
    (void)snprintf(out[0], sizeof out[0], "%.*s", LC_STR_ARG(first));
    (void)snprintf(out[1], sizeof out[1], "%.*s", LC_STR_ARG(second));
}

static void put_rule(lc_json_writer *out, const lc_param_rule *rule)
{
    char names[2][64];

    split_rule(rule, names);
    lc_jw_object(out);
    switch (rule->kind) {
    case LC_RULE_EXACTLY_ONE:
        lc_jw_name(out, "oneOf");
        lc_jw_array(out);
        put_given(out, names[0]);
        put_given(out, names[1]);
        lc_jw_end(out);
        break;
    case LC_RULE_AT_MOST_ONE:
        lc_jw_name(out, "not");
        put_given(out, rule->params);
        break;
    case LC_RULE_NEEDS:
        lc_jw_name(out, "if");
        put_given(out, names[0]);
        lc_jw_name(out, "then");
        put_given(out, names[1]);
        break;
    case LC_RULE_END:
        break;
    }
    lc_jw_end(out);
}

void lc_rule_describe(const lc_param_rule *rule, char out[LC_RULE_TEXT_BYTES])
{
    char names[2][64];

    split_rule(rule, names);
    if (rule->kind == LC_RULE_NEEDS)
        (void)snprintf(out, LC_RULE_TEXT_BYTES, "`%s` can only be given together with `%s`.",
                       names[0], names[1]);
    else
        (void)snprintf(out, LC_RULE_TEXT_BYTES, "Give %s one of `%s` and `%s`.",
                       rule->kind == LC_RULE_EXACTLY_ONE ? "exactly" : "at most", names[0],
                       names[1]);
}

/* ---- Arguments ------------------------------------------------------------------------------- */

static bool is_required(const lc_param *param, loci_str path)
{
    return (param->flags & LC_PARAM_REQUIRED) != 0 && !lc_path_has(path, param->name);
}

bool lc_schema_needs_args(const lc_op *op, loci_str path)
{
    const lc_param *params[LC_PARAMS_MAX];
    size_t count = lc_op_params(op, params);

    for (const lc_param_rule *rule = op->rules; rule != NULL && rule->kind != LC_RULE_END; rule++) {
        if (rule->kind == LC_RULE_EXACTLY_ONE)
            return true;
    }
    for (size_t i = 0; i < count; i++) {
        if (is_required(params[i], path))
            return true;
    }
    return false;
}

static void put_required(lc_json_writer *out, const lc_op *op, loci_str path)
{
    const lc_param *params[LC_PARAMS_MAX];
    size_t count = lc_op_params(op, params);
    bool is_open = false;

    for (size_t i = 0; i < count; i++) {
        if (!is_required(params[i], path))
            continue;
        if (!is_open) {
            lc_jw_name(out, "required");
            lc_jw_array(out);
            is_open = true;
        }
        lc_jw_text(out, params[i]->name);
    }
    if (is_open)
        lc_jw_end(out);
}

void lc_schema_args(lc_json_writer *out, const lc_op *op, loci_str path)
{
    const lc_param *params[LC_PARAMS_MAX];
    size_t count = lc_op_params(op, params);

    lc_jw_object(out);
    lc_jw_member_text(out, "type", "object");
    lc_jw_member_bool(out, "additionalProperties", false);
    lc_jw_name(out, "properties");
    lc_jw_object(out);
    for (size_t i = 0; i < count; i++) {
        if (lc_path_has(path, params[i]->name))
            continue;
        lc_jw_name(out, params[i]->name);
        lc_schema_param(out, params[i], true);
    }
    lc_jw_end(out);
    put_required(out, op, path);
    if (op->rules != NULL && op->rules->kind != LC_RULE_END) {
        lc_jw_name(out, "allOf");
        lc_jw_array(out);
        for (const lc_param_rule *rule = op->rules; rule->kind != LC_RULE_END; rule++)
            put_rule(out, rule);
        lc_jw_end(out);
    }
    lc_jw_end(out);
}

/* ---- Answers --------------------------------------------------------------------------------- */

static void put_members(lc_json_writer *out, const lc_record *record, bool is_nullable);

/* The members of a schema for one value of `result`, without regard to LIST and MAP. */
static void put_value(lc_json_writer *out, const lc_result *result, bool is_nullable)
{
    const lc_record *record = result->record;
    char ref[96];

    if (record == NULL) {
        put_kind(out, result->kind, result->choices, is_nullable);
        if (result->kind == LC_PARAM_STRINGS) {
            lc_jw_name(out, "items");
            lc_jw_object(out);
            put_kind(out, LC_PARAM_STRING, result->choices, false);
            lc_jw_end(out);
        }
        return;
    }
    if (record->name == NULL) {
        put_members(out, record, is_nullable);
        return;
    }
    (void)snprintf(ref, sizeof ref, LC_SCHEMA_REFS "%s", record->name);
    if (!is_nullable) {
        lc_jw_member_text(out, "$ref", ref);
        return;
    }
    lc_jw_name(out, "anyOf");
    lc_jw_array(out);
    lc_jw_object(out);
    lc_jw_member_text(out, "$ref", ref);
    lc_jw_end(out);
    lc_jw_raw(out, LC_STR("{\"type\":\"null\"}"));
    lc_jw_end(out);
}

static void put_result(lc_json_writer *out, const lc_result *result)
{
    bool is_nullable = (result->flags & LC_RESULT_NULLABLE) != 0;
    bool is_list = (result->flags & LC_RESULT_LIST) != 0;

    lc_jw_object(out);
    lc_jw_member_text(out, "description", result->help);
    if (is_list || (result->flags & LC_RESULT_MAP) != 0) {
        put_type(out, is_list ? "array" : "object", is_nullable);
        lc_jw_name(out, is_list ? "items" : "additionalProperties");
        lc_jw_object(out);
        put_value(out, result, false);
        lc_jw_end(out);
    } else {
        put_value(out, result, is_nullable);
    }
    lc_jw_end(out);
}

/* Recursion over records without a name, which cannot contain themselves. */
static void put_members(lc_json_writer *out, const lc_record *record, bool is_nullable)
{
    lc_result members[LC_RECORD_MEMBERS_MAX];
    size_t count = lc_record_members(record, members);

    put_type(out, "object", is_nullable);
    lc_jw_name(out, "properties");
    lc_jw_object(out);
    for (size_t i = 0; i < count; i++) {
        lc_jw_name(out, members[i].name);
        put_result(out, &members[i]);
    }
    lc_jw_end(out);
    lc_jw_name(out, "required");
    lc_jw_array(out);
    for (size_t i = 0; i < count; i++) {
        if ((members[i].flags & LC_RESULT_OPTIONAL) == 0)
            lc_jw_text(out, members[i].name);
    }
    lc_jw_end(out);
}

void lc_schema_record(lc_json_writer *out, const lc_record *record)
{
    lc_jw_object(out);
    put_members(out, record, false);
    lc_jw_end(out);
}

/* Adds `record` and what it consists of to those that were found. */
static size_t collect(const lc_record *record, const lc_record **found, size_t count)
{
    lc_result members[LC_RECORD_MEMBERS_MAX];
    size_t member_count;

    for (size_t i = 0; i < count; i++) {
        if (found[i] == record)
            return count;
    }
    if (record->name != NULL) {
        LC_ASSERT(count < LC_SCHEMA_RECORDS_MAX);
        found[count++] = record;
    }
    member_count = lc_record_members(record, members);
    for (size_t i = 0; i < member_count; i++) {
        if (members[i].record != NULL)
            count = collect(members[i].record, found, count);
    }
    return count;
}

size_t lc_schema_records(const lc_record *out[LC_SCHEMA_RECORDS_MAX])
{
    size_t count = 0;
    const lc_op *op;

    for (size_t i = 0; (op = lc_op_at(i)) != NULL; i++)
        count = collect(op->answer, out, count);
    return count;
}
