/* op_identity.c - the identity of a session's user: set once, read-only after.
 *
 * identity.set is not offered to models, and an identity never raises anybody's rights: a caller
 * has the lowest of its token's ceiling, this identity and the authority it claims with each call.
 */
#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "ops/check.h"
#include "ops/op.h"
#include "ops/session_arg.h"

#define PERMISSIONS_MAX 256

typedef struct set_input {
    lc_identity identity; /* `permissions` is made by prepare. */
    lc_str_list permissions;
} set_input;

static const lc_param set_params[] = {
    LC_NAME_PARAM("user_name", set_input, identity.user_name,
                  LC_PARAM_REQUIRED | LC_PARAM_POSITIONAL, "Name of the user"),
    LC_NAME_PARAM("authority", set_input, identity.authority,
                  LC_PARAM_REQUIRED | LC_PARAM_POSITIONAL,
                  "policy, executive, admin, manager, employee, intern, guest, or a title"),
    LC_NAME_PARAM("department", set_input, identity.department, 0, "Department of the user"),
    LC_NAME_PARAM("organization", set_input, identity.organization, 0, "Organization of the user"),
    {LC_ARG_STRINGS("permissions", set_input, permissions), .max = PERMISSIONS_MAX,
     .item_max = LC_ID_BYTES_MAX,
     .help = "Permissions of the user; restricted facts need one of them"},
    {.name = NULL},
};

const lc_record lc_identity_record = {.name = "Identity", .row = &lc_identity_row};

static const lc_record answer = {
    .members =
        (const lc_result[]){
            {"session_id", LC_PARAM_STRING, "Id of the session (ses_...)"},
            {"identity", 0, "Identity of the user", .record = &lc_identity_record},
            {NULL},
        },
};

static void put_answer(lc_call *call, loci_str session_id, const lc_identity *identity)
{
    lc_jw_object(&call->out);
    lc_jw_member_str(&call->out, "session_id", session_id);
    lc_jw_name(&call->out, "identity");
    lc_identity_put(&call->out, identity);
    lc_jw_end(&call->out);
}

/* Permissions are stored as canonical JSON, in the order given. */
static loci_status prepare_set(lc_call *call, loci_error *err)
{
    set_input *in = call->input;
    lc_json_writer w;
    lc_buf text;
    loci_status status;

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

static loci_status run_set(lc_call *call, lc_tx *tx, loci_error *err)
{
    const lc_identity *identity = &((const set_input *)call->input)->identity;
    lc_session_use use;
    loci_status status = lc_call_choose_session(call, tx, &use, err);

    if (status == LOCI_OK && use.session.identity.user_name.ptr != NULL)
        status = lc_fail(err, LOCI_EFORBIDDEN,
                         "the identity of session %.*s is set; a new session may have another",
                         LC_STR_ARG(use.session.id));
    if (status == LOCI_OK)
        status = lc_session_begin(tx, &use, true, err);
    if (status == LOCI_OK)
        status = lc_session_identify(tx, &use.session, identity, err);
    if (status == LOCI_OK)
        put_answer(call, use.session.id, identity);
    return status;
}

static const lc_op identity_set = {
    .name = "identity.set",
    .help = "Set the identity of a session's user, once per session",
    .params = set_params,
    .input_bytes = sizeof(set_input),
    .answer = &answer,
    .cost = LC_COST_WRITE,
    .flags = LC_OP_USER | LC_OP_MUTATES | LC_OP_SESSION,
    .http = "PUT /v1/sessions/{session_id}/identity",
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
    .help = "Return the identity of a session's user",
    .params = get_params,
    .answer = &answer,
    .cost = LC_COST_POINT,
    .flags = LC_OP_USER | LC_OP_IDEMPOTENT | LC_OP_SESSION,
    .http = "GET /v1/sessions/{session_id}/identity",
    .mcp = "identity get",
    .example = "{}",
    .run = run_get,
};

extern const lc_op *const lc_ops_identity[];
const lc_op *const lc_ops_identity[] = {&identity_set, &identity_get, NULL};
