/* op.c - looking up operations and their parameters.
 *
 * Parameters that many operations take are declared once, here, and follow from an operation's
 * flags: an operation for a user takes user_id, one that changes something takes request_id.
 */
#include "ops/op.h"

#include <string.h>

#include "base/assert.h"
#include "base/error.h"
#include "base/str.h"
#include "base/utf8.h"
#include "ops/check.h"
#include "store/row.h"

typedef struct implied_param {
    unsigned op_flags; /* An operation with all of these takes it. */
    lc_param param;
} implied_param;

static const implied_param implied[] = {
    {LC_OP_USER,
     {LC_ARG_STR("user_id", lc_implied_args, user_id), .flags = LC_PARAM_ID,
      .default_text = "\"default\"", .min = 1, .max = LC_ID_BYTES_MAX,
      .help = "User whose state the operation reads or changes"}},
    {LC_OP_USER, LC_NAME_PARAM("persona_id", lc_implied_args, persona_id, 0,
                               "Persona of the user; only this persona sees the state it owns")},
    {LC_OP_SESSION,
     LC_NAME_PARAM("session_id", lc_implied_args, session_id, 0,
                   "Session: its id (ses_…), a name of your own, or current: the open session"
                   " (default)")},
    {LC_OP_MUTATES,
     LC_NAME_PARAM("request_id", lc_implied_args, request_id, 0,
                   "Idempotency key: a repeat changes nothing and returns the first answer, with "
                   "replayed: true")},
    {LC_OP_USER | LC_OP_MUTATES,
     {LC_ARG_INT("expected_seq", lc_implied_args, expected_seq), .min = 0, .max = INT64_MAX,
      .help = "Seq that the user's last event must have; otherwise the call is a conflict"}},
};

#define IMPLIED_COUNT (sizeof implied / sizeof implied[0])

static bool takes_implied(const lc_op *op, size_t which)
{
    bool is_of_process = (op->flags & LC_OP_PROCESS) != 0;

    return (op->flags & implied[which].op_flags) == implied[which].op_flags &&
           !(is_of_process && (implied[which].op_flags & LC_OP_MUTATES) != 0);
}

size_t lc_op_params(const lc_op *op, const lc_param *out[LC_PARAMS_MAX])
{
    size_t count = 0;

    for (const lc_param *own = op->params; own != NULL && own->name != NULL; own++) {
        LC_ASSERT(count < LC_PARAMS_MAX);
        out[count++] = own;
    }
    for (size_t i = 0; i < IMPLIED_COUNT; i++) {
        if (!takes_implied(op, i))
            continue;
        LC_ASSERT(count < LC_PARAMS_MAX);
        out[count++] = &implied[i].param;
    }
    return count;
}

const lc_param *lc_op_param(const lc_op *op, size_t index)
{
    const lc_param *params[LC_PARAMS_MAX];
    size_t count = lc_op_params(op, params);

    return index < count ? params[index] : NULL;
}

static bool is_called(const lc_param *param, loci_str name)
{
    return lc_str_is(name, param->name) || (param->alias != NULL && lc_str_is(name, param->alias));
}

bool lc_op_owns(const lc_op *op, const lc_param *param)
{
    const lc_param *own = op->params;

    while (own != NULL && own->name != NULL && own != param)
        own++;
    return own == param && own != NULL && own->name != NULL;
}

const lc_param *lc_op_find_param(const lc_op *op, loci_str name, size_t *out_index)
{
    size_t index = 0;

    for (const lc_param *own = op->params; own != NULL && own->name != NULL; own++, index++) {
        if (is_called(own, name)) {
            *out_index = index;
            return own;
        }
    }
    for (size_t i = 0; i < IMPLIED_COUNT; i++) {
        if (!takes_implied(op, i))
            continue;
        if (is_called(&implied[i].param, name)) {
            *out_index = index;
            return &implied[i].param;
        }
        index++;
    }
    return NULL;
}

const char *lc_param_kind_name(lc_param_kind kind)
{
    switch (kind) {
    case LC_PARAM_STRING:
        return "string";
    case LC_PARAM_INT:
        return "integer";
    case LC_PARAM_REAL:
        return "number";
    case LC_PARAM_BOOL:
        return "boolean";
    case LC_PARAM_TIME:
        return "time";
    case LC_PARAM_STRINGS:
        return "strings";
    case LC_PARAM_OBJECT:
        return "object";
    case LC_PARAM_ANY:
    case LC_PARAM_JSON:
        return "any";
    }
    LC_UNREACHABLE();
}

/* ---- Names and routes ------------------------------------------------------------------------ */

loci_str lc_op_noun(const lc_op *op)
{
    loci_str verb;

    return lc_str_split(loci_str_of(op->name), '.', &verb);
}

bool lc_op_is_first_of_noun(size_t index)
{
    loci_str noun = lc_op_noun(lc_op_at(index));

    for (size_t i = 0; i < index; i++) {
        if (lc_str_eq(lc_op_noun(lc_op_at(i)), noun))
            return false;
    }
    return true;
}

bool lc_op_route(const lc_op *op, loci_str *out_method, loci_str *out_path)
{
    if (op->http == NULL)
        return false;
    *out_method = lc_str_split(loci_str_of(op->http), ' ', out_path);
    return out_path->ptr != NULL;
}

bool lc_path_has(loci_str path, const char *name)
{
    size_t len = strlen(name);

    for (size_t i = 0; i + len + 2 <= path.len; i++) {
        if (path.ptr[i] == '{' && memcmp(path.ptr + i + 1, name, len) == 0 &&
            path.ptr[i + 1 + len] == '}')
            return true;
    }
    return false;
}

/* ---- Answers --------------------------------------------------------------------------------- */

/* `is_head`: the first of a group; whether it may be null says whether the whole group is. */
static lc_result result_of(const lc_column *column, bool is_head)
{
    static const lc_param_kind kinds[] = {
        [LC_TYPE_STRING] = LC_PARAM_STRING,   [LC_TYPE_INTEGER] = LC_PARAM_INT,
        [LC_TYPE_NUMBER] = LC_PARAM_REAL,     [LC_TYPE_BOOLEAN] = LC_PARAM_BOOL,
        [LC_TYPE_TIME] = LC_PARAM_TIME,       [LC_TYPE_RANK] = LC_PARAM_INT,
        [LC_TYPE_ENUM] = LC_PARAM_STRING,     [LC_TYPE_CHARS] = LC_PARAM_STRING,
        [LC_TYPE_STRINGS] = LC_PARAM_STRINGS, [LC_TYPE_OBJECT] = LC_PARAM_OBJECT,
        [LC_TYPE_ANY] = LC_PARAM_ANY,
    };
    lc_result result = {
        .name = lc_column_shown_name(column),
        .kind = kinds[column->type],
        .help = column->help,
        .choices = column->choices,
    };

    if ((column->flags & (LC_COL_REQUIRED | LC_COL_OR_NULL)) == 0)
        result.flags |= LC_RESULT_OPTIONAL;
    if ((column->flags & LC_COL_OR_NULL) != 0 && !is_head)
        result.flags |= LC_RESULT_NULLABLE;
    return result;
}

static bool is_in_group(const lc_column *column, const char *group)
{
    if (column->group == NULL || group == NULL)
        return column->group == group;
    return strcmp(column->group, group) == 0;
}

/* The shown columns that are, or are not, behind all others. */
static size_t add_columns(const lc_record *record, unsigned last, size_t count, lc_result *out)
{
    const unsigned shown = LC_COL_SHOWN | LC_COL_REQUIRED | LC_COL_OR_NULL;
    bool is_head = record->group != NULL;

    for (const lc_column *column = record->row->columns; column->name != NULL; column++) {
        if ((column->flags & shown) == 0 || (column->flags & LC_COL_LAST) != last ||
            !is_in_group(column, record->group))
            continue;
        LC_ASSERT(count < LC_RECORD_MEMBERS_MAX);
        out[count++] = result_of(column, is_head);
        is_head = false;
    }
    return count;
}

const lc_record lc_warning_record = {
    .name = "Warning",
    .members =
        (const lc_result[]){
            {"code", LC_PARAM_STRING, "Kind of change: a secret was replaced by [redacted: kind]",
             .choices = "secret_redacted"},
            {"parameter", LC_PARAM_STRING, "Parameter with the secret"},
            {"kind", LC_PARAM_STRING, "Kind of secret, such as github_token"},
            {"count", LC_PARAM_INT, "Number of such secrets"},
            {NULL},
        },
};

size_t lc_record_members(const lc_record *record, lc_result out[LC_RECORD_MEMBERS_MAX])
{
    size_t count = record->base != NULL ? lc_record_members(record->base, out) : 0;

    if (record->row != NULL) {
        count = add_columns(record, 0, count, out);
        count = add_columns(record, LC_COL_LAST, count, out);
    }
    for (const lc_result *member = record->members; member != NULL && member->name != NULL;
         member++) {
        LC_ASSERT(count < LC_RECORD_MEMBERS_MAX);
        out[count++] = *member;
    }
    for (size_t i = 0; record->required != NULL && i < count; i++) {
        if (!lc_str_is_choice(loci_str_of(out[i].name), record->required))
            out[i].flags |= LC_RESULT_OPTIONAL;
    }
    return count;
}

const lc_record *lc_record_rows(const lc_record *record, const char **out_name)
{
    lc_result members[LC_RECORD_MEMBERS_MAX];
    size_t count = lc_record_members(record, members);

    for (size_t i = 0; i < count; i++) {
        if ((members[i].flags & LC_RESULT_LIST) == 0 || members[i].record == NULL)
            continue;
        if (out_name != NULL)
            *out_name = members[i].name;
        return members[i].record;
    }
    return NULL;
}

const lc_result lc_replayed_result = {
    "replayed", LC_PARAM_BOOL,
    "True if this is the stored answer of an earlier call with the same request_id; else absent",
    LC_RESULT_OPTIONAL};

bool lc_op_may_replay(const lc_op *op)
{
    return (op->flags & LC_OP_JOB) != 0 ||
           ((op->flags & LC_OP_MUTATES) != 0 && (op->flags & LC_OP_ALONE) == 0);
}

size_t lc_op_results(const lc_op *op, lc_result out[LC_RECORD_MEMBERS_MAX])
{
    size_t count = lc_record_members(op->answer, out);

    if (lc_op_may_replay(op)) {
        LC_ASSERT(count < LC_RECORD_MEMBERS_MAX);
        out[count++] = lc_replayed_result;
    }
    return count;
}

loci_status lc_op_load(loci_str name, const lc_op **out, loci_error *err)
{
    lc_nearest nearest = lc_nearest_to(name);
    const lc_op *op = lc_op_find(name);
    loci_str shown = LC_STR("?");

    if (op != NULL) {
        *out = op;
        return LOCI_OK;
    }
    for (size_t i = 0; (op = lc_op_at(i)) != NULL; i++)
        lc_nearest_offer(&nearest, loci_str_of(op->name));
    /* The name comes from the caller's C code, not from JSON: its bytes have not been checked. */
    if (lc_utf8_is_valid(name))
        shown = (loci_str){name.ptr, lc_utf8_cut(name, LC_QUOTE_BYTES_MAX)};
    if (nearest.best.ptr == NULL)
        return lc_fail(err, LOCI_ENOTFOUND, "unknown operation \"%.*s\"; op.list names them all",
                       LC_STR_ARG(shown));
    return lc_fail(err, LOCI_ENOTFOUND, "unknown operation \"%.*s\"; did you mean \"%.*s\"?",
                   LC_STR_ARG(shown), LC_STR_ARG(nearest.best));
}
