/* op_identity.c - identity.set and identity.get: the identity of a session's user.
 *
 * identity.set is not offered to models, and an identity never raises the rights of a caller: a
 * caller has the lowest of its token's ceiling, this identity and the authority it claims with each
 * call, and a permission only if both its token and the identity have it. An identity cannot claim
 * more than its setter's token allows, and binds callers with the same or lower ceilings only. A
 * caller with a higher ceiling can set it again.
 */
#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "ops/call_scope.h"
#include "ops/op.h"

#define PERMISSIONS_MAX 256

extern const lc_record lc_identity_record;
const lc_record lc_identity_record = {.name = "Identity", .row = &lc_identity_row};

typedef struct identity_input {
    lc_identity identity; /* `permissions` is made by prepare. */
    lc_str_list permissions;
    lc_fact_caller caller; /* Made by prepare. */
} identity_input;

static const lc_param identity_params[] = {
    LC_NAME_PARAM("user_name", identity_input, identity.user_name,
                  LC_PARAM_REQUIRED | LC_PARAM_POSITIONAL, "Name of the user"),
    LC_NAME_PARAM(
        "authority", identity_input, identity.authority, LC_PARAM_REQUIRED | LC_PARAM_POSITIONAL,
        "Authority: policy, executive, admin, manager, employee, intern, guest, or a title"),
    LC_NAME_PARAM("department", identity_input, identity.department, 0, "Department of the user"),
    LC_NAME_PARAM("organization", identity_input, identity.organization, 0,
                  "Organization of the user"),
    {LC_ARG_STRINGS("permissions", identity_input, permissions), .max = PERMISSIONS_MAX,
     .item_max = LC_ID_BYTES_MAX,
     .help = "Permissions of the user; restricted facts need one of them"},
    {.name = NULL},
};

static const lc_record identity_answer = {
    .members =
        (const lc_result[]){
            {"session_id", LC_PARAM_STRING, "Id of the session (ses_...)"},
            {"identity", 0, "Identity of the user", .record = &lc_identity_record},
            {NULL},
        },
};

static void put_identity(lc_call *call, loci_str session_id, const lc_identity *identity)
{
    lc_jw_object(&call->out);
    lc_jw_member_str(&call->out, "session_id", session_id);
    lc_jw_name(&call->out, "identity");
    lc_identity_put(&call->out, identity);
    lc_jw_end(&call->out);
}

/* LOCI_EFORBIDDEN when the identity claims more than the caller's token allows. */
static loci_status check_claim(const lc_call *call, const identity_input *in, loci_error *err)
{
    lc_authority claimed = lc_authority_of(in->identity.authority, in->caller.titles);

    if (in->caller.ceiling.rank > 0 && claimed.rank > in->caller.ceiling.rank)
        return lc_fail(err, LOCI_EFORBIDDEN, "authority: the maximum is the caller's own, \"%.*s\"",
                       LC_STR_ARG(call->authority_max));
    for (size_t i = 0; call->permissions_max.ptr != NULL && i < in->permissions.count; i++) {
        if (!lc_permissions_have(call->permissions_max, in->permissions.items[i]))
            return lc_fail(err, LOCI_EFORBIDDEN,
                           "permissions: the caller's token does not have \"%.*s\"; create one "
                           "with it (token.create, permissions)",
                           LC_STR_ARG(in->permissions.items[i]));
    }
    return LOCI_OK;
}

/* Permissions are stored as canonical JSON, in the order given. */
static loci_status prepare_identity(lc_call *call, loci_error *err)
{
    identity_input *in = call->input;
    lc_json_writer w;
    lc_buf text;
    loci_status status = lc_fact_caller_init(&in->caller, call, NULL, err);

    if (status == LOCI_OK)
        status = check_claim(call, in, err);
    if (status != LOCI_OK)
        return status;
    in->identity.authority_max = call->authority_max;
    in->identity.trust_max = call->trust_max;
    if (in->permissions.items == NULL)
        return LOCI_OK;
    lc_buf_init(&text, call->arena->heap, LOCI_MEM_REQUESTS, LC_ARGS_BYTES_MAX);
    lc_jw_init(&w, &text);
    lc_jw_array(&w);
    for (size_t i = 0; i < in->permissions.count; i++)
        lc_jw_str(&w, in->permissions.items[i]);
    lc_jw_end(&w);
    status = lc_buf_status(&text, err);
    if (status == LOCI_OK) {
        in->identity.permissions = lc_arena_copy(call->arena, lc_buf_str(&text));
        if (in->identity.permissions.ptr == NULL)
            status = lc_fail_memory(err);
    }
    lc_buf_clear(&text);
    return status;
}

static loci_status run_identity(lc_call *call, lc_tx *tx, loci_error *err)
{
    const identity_input *in = call->input;
    lc_session_use use;
    loci_status status = lc_call_choose_session(call, tx, &use, err);

    if (status == LOCI_OK)
        status = lc_session_identify(tx, &use, &in->identity,
                                     !lc_fact_caller_is_bound(&in->caller, &use.session.identity),
                                     err);
    if (status == LOCI_OK)
        put_identity(call, use.session.id, &in->identity);
    return status;
}

extern const lc_op lc_op_identity_set;
const lc_op lc_op_identity_set = {
    .name = "identity.set",
    .help = "Set the identity of a session's user, once per session and ceiling",
    .params = identity_params,
    .input_bytes = sizeof(identity_input),
    .answer = &identity_answer,
    .cost = LC_COST_WRITE,
    .flags = LC_OP_USER | LC_OP_MUTATES | LC_OP_SESSION,
    .http = "PUT /v1/sessions/{session_id}/identity",
    .example = "{\"user_name\":\"Anna\",\"authority\":\"manager\"}",
    .prepare = prepare_identity,
    .run = run_identity,
};

static loci_status run_get_identity(lc_call *call, lc_tx *tx, loci_error *err)
{
    lc_session session;
    bool found;
    loci_status status = lc_call_find_session(call, tx, &session, &found, err);

    if (status != LOCI_OK)
        return status;
    if (!found || session.identity.user_name.ptr == NULL)
        return lc_fail(err, LOCI_ENOTFOUND, "no identity was set in an open session");
    put_identity(call, session.id, &session.identity);
    return LOCI_OK;
}

extern const lc_op lc_op_identity_get;
const lc_op lc_op_identity_get = {
    .name = "identity.get",
    .help = "Return the identity of a session's user",
    .params = (const lc_param[]){{.name = NULL}},
    .answer = &identity_answer,
    .cost = LC_COST_POINT,
    .flags = LC_OP_USER | LC_OP_IDEMPOTENT | LC_OP_SESSION,
    .http = "GET /v1/sessions/{session_id}/identity",
    .example = "{}",
    .run = run_get_identity,
};
