/* op_identity.c - who the user of a session is: said once, read-only after.
 *
 * Neither operation is offered to models, and what is said here never raises anybody: what a caller
 * can do is the lowest of its token's ceiling, this identity and what it says with each call. */
#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "ops/check.h"
#include "ops/op.h"
#include "ops/session_arg.h"

#define PERMISSIONS_MAX 256

#define WORD_PARAM(word, what)                                                                     \
    {                                                                                              \
        .name = word, .kind = LC_PARAM_STRING, .flags = LC_PARAM_ID, .min = 1,                     \
        .max = LC_ID_BYTES_MAX, .help = what                                                       \
    }

static const lc_param set_params[] = {
    {.name = "user_name",
     .kind = LC_PARAM_STRING,
     .flags = LC_PARAM_REQUIRED | LC_PARAM_POSITIONAL | LC_PARAM_ID,
     .min = 1,
     .max = LC_ID_BYTES_MAX,
     .help = "What the user is called"},
    {.name = "authority",
     .kind = LC_PARAM_STRING,
     .flags = LC_PARAM_REQUIRED | LC_PARAM_POSITIONAL | LC_PARAM_ID,
     .min = 1,
     .max = LC_ID_BYTES_MAX,
     .help = "policy, executive, admin, manager, employee, intern, guest, or a title"},
    WORD_PARAM("department", "Where the user works"),
    WORD_PARAM("organization", "For whom"),
    {.name = "permissions",
     .kind = LC_PARAM_STRINGS,
     .max = PERMISSIONS_MAX,
     .help = "What the user may see that needs a permission"},
    {.name = NULL},
};

static const lc_result results[] = {
    {"session_id", LC_PARAM_STRING, "The session, ses_…"},
    {"identity", LC_PARAM_OBJECT, "user_name, authority, department, organization and permissions"},
    {NULL, 0, NULL},
};

static void put_answer(lc_call *call, loci_str session_id, const lc_identity *identity)
{
    lc_jw_object(&call->out);
    lc_jw_member_str(&call->out, "session_id", session_id);
    lc_jw_name(&call->out, "identity");
    lc_identity_put(&call->out, identity);
    lc_jw_end(&call->out);
}

static loci_status prepare_set(lc_call *call, loci_error *err)
{
    lc_identity *identity = lc_arena_zalloc_array(call->arena, 1, sizeof *identity);
    loci_status status = LOCI_OK;

    if (identity == NULL)
        return lc_fail_memory(err);
    *identity = (lc_identity){
        .user_name = lc_call_str(call, "user_name"),
        .authority = lc_call_str(call, "authority"),
        .department = lc_call_str(call, "department"),
        .organization = lc_call_str(call, "organization"),
    };
    if (lc_call_has(call, "permissions"))
        status = lc_call_canonical(call, "permissions", &identity->permissions, err);
    call->input = identity;
    return status;
}

static loci_status run_set(lc_call *call, lc_tx *tx, loci_error *err)
{
    lc_session_use use;
    loci_status status = lc_call_choose_session(call, tx, &use, err);

    if (status == LOCI_OK && use.session.identity.user_name.ptr != NULL)
        status = lc_fail(err, LOCI_EFORBIDDEN,
                         "the identity of session %.*s is set; a new session may have another",
                         LC_STR_ARG(use.session.id));
    if (status == LOCI_OK)
        status = lc_session_begin(tx, &use, true, err);
    if (status == LOCI_OK)
        status = lc_session_identify(tx, &use.session, call->input, err);
    if (status == LOCI_OK)
        put_answer(call, use.session.id, call->input);
    return status;
}

static const lc_op identity_set = {
    .name = "identity.set",
    .help = "Say who the user of a session is, once",
    .params = set_params,
    .results = results,
    .cost = LC_COST_WRITE,
    .flags = LC_OP_USER | LC_OP_MUTATES | LC_OP_SESSION,
    .http = "PUT /v1/identity",
    .example = "{\"user_name\":\"Anna\",\"authority\":\"manager\"}",
    .prepare = prepare_set,
    .run = run_set,
};

static const lc_param get_params[] = {{.name = NULL}};

static loci_status run_get(lc_call *call, lc_tx *tx, loci_error *err)
{
    lc_session session;
    bool found;
    loci_status status = lc_call_find_session(call, tx, &session, &found, err);

    if (status != LOCI_OK)
        return status;
    if (!found || session.identity.user_name.ptr == NULL)
        return lc_fail(err, LOCI_ENOTFOUND, "no identity was set in an open session");
    put_answer(call, session.id, &session.identity);
    return LOCI_OK;
}

static const lc_op identity_get = {
    .name = "identity.get",
    .help = "Who the user of a session is",
    .params = get_params,
    .results = results,
    .cost = LC_COST_POINT,
    .flags = LC_OP_USER | LC_OP_IDEMPOTENT | LC_OP_SESSION,
    .http = "GET /v1/identity",
    .mcp = "identity get",
    .example = "{}",
    .run = run_get,
};

extern const lc_op *const lc_ops_identity[];
const lc_op *const lc_ops_identity[] = {&identity_set, &identity_get, NULL};
