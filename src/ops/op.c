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
                   "Session: its id (ses_…) or a name of your own (default: the open session)")},
    {LC_OP_MUTATES,
     LC_NAME_PARAM("request_id", lc_implied_args, request_id, 0,
                   "Idempotency key: a repeat returns the first answer and changes nothing")},
    {LC_OP_USER | LC_OP_MUTATES,
     {LC_ARG_INT("expected_seq", lc_implied_args, expected_seq), .min = 0, .max = INT64_MAX,
      .help = "Seq that the user's last event must have; otherwise the call is a conflict"}},
};

#define IMPLIED_COUNT (sizeof implied / sizeof implied[0])

static bool takes_implied(const lc_op *op, size_t which)
{
    return (op->flags & implied[which].op_flags) == implied[which].op_flags;
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
    /* The name comes from the caller's C, not out of JSON: nobody has looked at its bytes. */
    if (lc_utf8_is_valid(name))
        shown = (loci_str){name.ptr, lc_utf8_cut(name, LC_QUOTE_BYTES_MAX)};
    if (nearest.best.ptr == NULL)
        return lc_fail(err, LOCI_ENOTFOUND, "unknown operation \"%.*s\"; op.list names them all",
                       LC_STR_ARG(shown));
    return lc_fail(err, LOCI_ENOTFOUND, "unknown operation \"%.*s\"; did you mean \"%.*s\"?",
                   LC_STR_ARG(shown), LC_STR_ARG(nearest.best));
}
