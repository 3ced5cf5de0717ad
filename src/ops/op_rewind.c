/* op_rewind.c - session.rewind: take back what came after a message. */
#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "context/rewind.h"
#include "ops/call_scope.h"
#include "ops/op.h"

typedef struct rewind_input {
    loci_str message_id;
    bool dry_run;
} rewind_input;

static const lc_param rewind_params[] = {
    LC_NAME_PARAM("message_id", rewind_input, message_id, LC_PARAM_REQUIRED | LC_PARAM_POSITIONAL,
                  "Id of the last message that stays (msg_...)"),
    {LC_ARG_BOOL("dry_run", rewind_input, dry_run, "false"),
     .help = "Whether to only list what would be taken back"},
    {.name = NULL},
};

#define COUNTS(name, what)                                                                         \
    {                                                                                              \
        name, LC_PARAM_INT, what, LC_RESULT_MAP                                                    \
    }

static const lc_record item_record = {
    .name = "RewoundItem",
    .members =
        (const lc_result[]){
            {"kind", LC_PARAM_STRING, "Kind of item",
             .choices = "message|fact|memory|entity|todo|proposal"},
            {"action", LC_PARAM_STRING,
             "Effect on it: taken back, restored as it was before, or changed in another way",
             .choices = "withdrawn|restored|changed"},
            {"id", LC_PARAM_STRING, "Its id"},
            {"text", LC_PARAM_STRING, "Beginning of its text, in a dry run", LC_RESULT_OPTIONAL},
            {NULL},
        },
};

static const lc_record rewind_answer = {
    .members =
        (const lc_result[]){
            {"session_id", LC_PARAM_STRING, "Id of the session (ses_...)"},
            {"message_id", LC_PARAM_STRING, "Id of its last message now"},
            {"dry_run", LC_PARAM_BOOL, "True if nothing was changed because of dry_run"},
            {"seq", LC_PARAM_INT,
             "Number of the event that recorded it; absent if nothing was "
             "written",
             LC_RESULT_OPTIONAL},
            COUNTS("withdrawn", "Number of things that were taken back, by kind"),
            COUNTS("restored", "Number of things that are back as they were before, by kind"),
            COUNTS("changed", "Number of things that were changed in another way, by kind"),
            {"items", 0, "All of them, at most 1,000", LC_RESULT_LIST, .record = &item_record},
            {"items_left_out", LC_PARAM_INT, "Number of those that are not listed"},
            {NULL},
        },
};

static loci_status run_rewind(lc_call *call, lc_tx *tx, loci_error *err)
{
    const rewind_input *in = call->input;
    const lc_rewind_to to = {lc_call_session_ref(call), in->message_id, in->dry_run};
    int64_t seq = 0;
    lc_rewind r;
    loci_status status;

    lc_rewind_begin(&r, tx, call->arena);
    status = lc_context_rewind(&to, &r, &seq, err);
    if (status == LOCI_OK) {
        lc_jw_object(&call->out);
        lc_jw_member_str(&call->out, "session_id", r.session_id);
        lc_jw_member_str(&call->out, "message_id", r.message_id);
        lc_jw_member_bool(&call->out, "dry_run", in->dry_run);
        if (seq > 0)
            lc_jw_member_int(&call->out, "seq", seq);
        lc_rewind_put(&r, in->dry_run, &call->out);
        lc_jw_end(&call->out);
    }
    lc_rewind_end(&r);
    return status;
}

extern const lc_op lc_op_session_rewind;
const lc_op lc_op_session_rewind = {
    .name = "session.rewind",
    .help = "Take back what was said after a message, and what was derived from it",
    .params = rewind_params,
    .input_bytes = sizeof(rewind_input),
    .answer = &rewind_answer,
    .cost = LC_COST_WRITE,
    .flags = LC_OP_USER | LC_OP_MUTATES | LC_OP_SESSION | LC_OP_DESTROYS,
    .http = "POST /v1/sessions/{session_id}/rewind",
    .example = "{\"message_id\":\"msg_01J00000000000000000000000\",\"dry_run\":true}",
    .run = run_rewind,
};
