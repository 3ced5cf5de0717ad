/* op_forget.c - forgetting facts, memories, todos, files, sessions and frames, and the operations
 * on whole users.
 *
 * Forgetting is two steps (recall/forget.h): the call removes the data from every table and index;
 * the job store.scrub then removes the bytes from the files. `wait` waits for the job, after the
 * commit, so it cannot make the call fail: the answer says whether the scrub is done.
 *
 * Rights: a writer may forget data that it sees, except facts that it could not retract and
 * memories that it could not archive. A whole user is forgotten or exported by callers that are
 * neither capped nor narrowed to a persona, since that concerns all facts and personas.
 */
#include "ops/op.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "context/forget.h"
#include "engine/engine.h"
#include "frame/frame.h"
#include "memory/file.h"
#include "memory/slug.h"
#include "memory/todo.h"
#include "ops/call_scope.h"
#include "ops/op_job.h"
#include "ops/op_memory.h"
#include "ops/page.h"
#include "session/summary.h"
#include "store/event.h"
#include "store/store_room.h"
#include "window/window.h"

#define POLL_US 20000

/* ---- Shared ---------------------------------------------------------------------------------- */

typedef struct forget_input {
    loci_str key, id, message_id, path;
    lc_memory_filter_args filter;
    lc_scope_args scope;
    lc_claim_args claim;
    bool dry_run, wait;
    lc_fact_caller caller; /* Made by prepare. */
    lc_forgetting *f;      /* Made by run; NULL if the answer was stored. */
} forget_input;

#define FORGET_PARAMS                                                                              \
    {LC_ARG_BOOL("dry_run", forget_input, dry_run, "false"),                                       \
     .help = "Whether to list what would be forgotten and forget nothing"},                        \
    {                                                                                              \
        LC_ARG_BOOL("wait", forget_input, wait, "false"),                                          \
            .help = "Whether to answer when the files were scrubbed or at the call's deadline; "   \
                    "not in a batch"                                                               \
    }

static const lc_record item_record = {
    .name = "ForgottenItem",
    .members =
        (const lc_result[]){
            {"kind", LC_PARAM_STRING, "Kind of thing: fact, message, session …"},
            {"id", LC_PARAM_STRING, "Its id, under which nothing is found any more"},
            {"text", LC_PARAM_STRING, "In a dry run: beginning of its text", LC_RESULT_OPTIONAL},
            {NULL},
        },
};

#define FORGET_LOOK                                                                                \
    {                                                                                              \
        .columns = "kind text id",                                                                 \
        .sentence = "{dry_run yes=would forget,no=forgot}: {removed}"                              \
                    "[; facts to review, as they depended on it: {needs_review}]"                  \
                    "[; {job_id} removes their bytes from the files]",                             \
    }

static const lc_record forget_answer = {
    .members =
        (const lc_result[]){
            {"dry_run", LC_PARAM_BOOL, "True if nothing was forgotten"},
            {"removed", LC_PARAM_INT,
             "Number of things removed, by kind; also of events emptied, vectors deleted and "
             "stored answers emptied",
             LC_RESULT_MAP},
            {"items", 0, "Removed things, the first 1,000", LC_RESULT_LIST, .record = &item_record},
            {"items_left_out", LC_PARAM_INT, "Number of removed things that `items` does not name"},
            {"needs_review", LC_PARAM_INT,
             "Number of facts that need review since a fact they depend on was forgotten"},
            {"scrubbed", LC_PARAM_BOOL,
             "True if the bytes are gone from the files; else store.status shows when they are"},
            {"job_id", LC_PARAM_STRING, "Id of the job that scrubs the files; absent in a dry run",
             LC_RESULT_OPTIONAL},
            {NULL},
        },
};

static void put_answer(lc_call *call, const lc_forgetting *f, bool is_dry_run, bool is_scrubbed)
{
    lc_json_writer *out = &call->out;

    lc_jw_object(out);
    lc_jw_member_bool(out, "dry_run", is_dry_run);
    lc_forget_put(f, out);
    lc_jw_member_bool(out, "scrubbed", is_scrubbed);
    if (!is_dry_run)
        lc_jw_member_text(out, "job_id", f->job_id.text);
    lc_jw_end(out);
}

/* The work of one of the operations between its beginning and its answer. */
typedef loci_status forget_body(lc_call *call, lc_forgetting *f, loci_error *err);

/* The spines that may repeat something of it go, too. */
static loci_status finish_forget(lc_forgetting *f, bool is_dry_run, loci_error *err)
{
    loci_status status = lc_summary_collect_spines(f, err);

    if (status != LOCI_OK || is_dry_run)
        return status;
    status = lc_summary_commit_forget(f, err);
    return status == LOCI_OK ? lc_forget_finish(f, err) : status;
}

static loci_status run_forget(lc_call *call, lc_tx *tx, forget_body *body, loci_error *err)
{
    forget_input *in = call->input;
    lc_forgetting *f = lc_arena_alloc(call->arena, sizeof *f);
    loci_status status;

    in->f = NULL;
    if (f == NULL)
        return lc_fail_memory(err);
    lc_forget_begin(f, tx, call->arena);
    status = body(call, f, err);
    if (status == LOCI_OK && !f->is_finished)
        status = finish_forget(f, in->dry_run, err);
    if (status == LOCI_OK)
        put_answer(call, f, in->dry_run, false);
    lc_forget_end(f);
    if (status == LOCI_OK && !in->dry_run)
        in->f = f;
    return status;
}

/* ---- Waiting for the scrub ------------------------------------------------------------------- */

typedef struct waiting {
    lc_call *call;
    lc_id job_id;
    lc_job job;
} waiting;

static loci_status load_job(lc_tx *tx, void *ctx, loci_error *err)
{
    waiting *w = ctx;

    return lc_job_load(tx,
                       &(lc_job_key){.tenant_id = w->call->tenant_id,
                                     .user_id = w->call->user_id,
                                     .id = lc_id_str(&w->job_id)},
                       w->call->arena, &w->job, err);
}

/* Whether the job has ended well before the deadline. A job that is gone has ended long ago. */
static bool wait_for_scrub(lc_call *call, const lc_id *job_id)
{
    waiting w = {.call = call, .job_id = *job_id};
    lc_arena_mark mark = lc_arena_get_mark(call->arena);

    while (true) {
        loci_status status = lc_engine_read(
            call->engine, &(lc_read){.deadline_us = INT64_MAX, .body = load_job, .ctx = &w}, NULL);
        bool is_over = status != LOCI_OK || lc_job_status_is_ended(w.job.status) ||
                       lc_engine_is_inline(call->engine) ||
                       lc_call_pause_point(call, NULL) != LOCI_OK;
        bool is_done = status == LOCI_ENOTFOUND ||
                       (status == LOCI_OK && w.job.status == LC_JOB_DONE);

        lc_arena_rewind(call->arena, mark);
        if (is_over)
            return is_done;
        lc_clock_sleep_us(POLL_US);
    }
}

static bool wait_forget(lc_call *call)
{
    forget_input *in = call->input;

    if (!in->wait || in->f == NULL || !wait_for_scrub(call, &in->f->job_id))
        return false;
    put_answer(call, in->f, false, true);
    return true;
}

/* ---- fact.forget ----------------------------------------------------------------------------- */

static const lc_param fact_params[] = {
    LC_KEY_PARAM(forget_input, key, 0, "Key whose versions are forgotten, current and former"),
    LC_NAME_PARAM("id", forget_input, id, 0, "Id of one version to forget, instead of a key"),
    LC_SCOPE_PARAMS(forget_input, scope),
    LC_CLAIM_PARAMS(forget_input, claim),
    FORGET_PARAMS,
    {.name = NULL},
};

static const lc_param_rule fact_rules[] = {
    {LC_RULE_EXACTLY_ONE, "key|id"},
    LC_SCOPE_RULE,
    {LC_RULE_END, NULL},
};

static loci_status prepare_forget(lc_call *call, loci_error *err)
{
    forget_input *in = call->input;
    lc_fact_view view;
    loci_status status = lc_fact_set_scope(&in->scope, NULL, &view, err);

    return status == LOCI_OK ? lc_fact_caller_init(&in->caller, call, &in->claim, err) : status;
}

/* The rights of the call: its own, limited by the identity of its open session. Forgetting opens
 * no session and is no activity in one. */
static loci_status make_target(lc_call *call, lc_tx *tx, loci_str session_id, lc_fact_target *out,
                               loci_error *err)
{
    const forget_input *in = call->input;
    lc_session_ref ref = lc_call_session_ref(call);
    lc_session session = {0};
    bool found = false;
    loci_status status;

    ref.session_id = session_id;
    status = lc_session_find(tx, &ref, call->arena, &session, &found, err);
    if (status != LOCI_OK)
        return status;
    if (!found || !lc_session_state_is_open(session.state))
        session = (lc_session){0};
    *out = (lc_fact_target){.key = in->key, .id = in->id, .trust = in->caller.trust};
    out->authority = lc_fact_caller_authority(&in->caller, &session.identity);
    out->view.access = lc_fact_caller_access(&in->caller, &session.identity);
    out->view.persona_id = call->persona_id;
    return lc_fact_set_scope(&in->scope, found ? &session : NULL, &out->view, err);
}

static loci_status forget_facts(lc_call *call, lc_forgetting *f, loci_error *err)
{
    const forget_input *in = call->input;
    lc_fact_target target;
    lc_fact_oblivion *oblivion;
    loci_status status = make_target(call, f->tx, call->implied.session_id, &target, err);

    if (status == LOCI_OK)
        status = lc_fact_decide_forget(f->tx, &target, f, &oblivion, err);
    if (status != LOCI_OK || in->dry_run)
        return status;
    return lc_fact_commit_forget(f->tx, oblivion, err);
}

static loci_status run_fact(lc_call *call, lc_tx *tx, loci_error *err)
{
    return run_forget(call, tx, forget_facts, err);
}

extern const lc_op lc_op_fact_forget;
const lc_op lc_op_fact_forget = {
    .name = "fact.forget",
    .help = "Forget a fact for good: its versions, events, vectors and stored answers",
    .params = fact_params,
    .rules = fact_rules,
    .input_bytes = sizeof(forget_input),
    .answer = &forget_answer,
    .cost = LC_COST_WRITE,
    .flags = LC_OP_USER | LC_OP_MUTATES | LC_OP_SESSION | LC_OP_DESTROYS,
    .http = "POST /v1/facts/forget",
    .mcp = "forget fact",
    .mcp_takes = "dry_run=true key id",
    .mcp_shows = "dry_run ~removed ~items(kind id)",
    .look = FORGET_LOOK,
    .example = "{\"key\":\"city\",\"dry_run\":true}",
    .prepare = prepare_forget,
    .run = run_fact,
    .wait = wait_forget,
};

/* ---- memory.forget --------------------------------------------------------------------------- */

static const lc_param memory_params[] = {
    LC_NAME_PARAM("id", forget_input, id, LC_PARAM_POSITIONAL, "Id of the memory, mem_…"),
    LC_NAME_PARAM("entity", forget_input, filter.entity, 0,
                  "Instead of an id: memories about this entity, its ref or id; an entity "
                  "without memories is removed, too"),
    {LC_ARG_OBJECT("metadata", forget_input, filter.metadata),
     .help = "Instead of an id: memories with these members in their metadata, at most 3"},
    FORGET_PARAMS,
    {.name = NULL},
};

static const lc_param_rule memory_rules[] = {
    {LC_RULE_AT_MOST_ONE, "id|entity"},
    {LC_RULE_AT_MOST_ONE, "id|metadata"},
    {LC_RULE_END, NULL},
};

static loci_status prepare_memory(lc_call *call, loci_error *err)
{
    const forget_input *in = call->input;

    bool has_filter = in->filter.entity.len > 0 ||
                      (in->filter.metadata != NULL && lc_json_count(in->filter.metadata) > 0);

    if (in->id.ptr == NULL && !has_filter)
        return lc_fail(err, LOCI_EINVAL, "id, entity or metadata: say what to forget");
    return lc_memory_check_trusted(call, LC_STR_NONE, call->op->name, err);
}

static loci_status forget_memories(lc_call *call, lc_forgetting *f, loci_error *err)
{
    const forget_input *in = call->input;
    lc_memories_forget what = {.target = {.id = in->id, .which = {.persona_id = call->persona_id}},
                               .is_dry_run = in->dry_run};
    lc_memory_filter_args without = {.metadata = in->filter.metadata};
    loci_status status = lc_memory_set_filter(call, f->tx, &in->filter, &what.target.which, err);

    if (status == LOCI_ENOTFOUND) { /* No such entity; a rewind may have taken it back. */
        status = lc_memory_set_filter(call, f->tx, &without, &what.target.which, err);
        what.target.gone_entity = in->filter.entity;
        if (status == LOCI_OK && !lc_id_is(in->filter.entity, "ent"))
            status = lc_ref_make(call->arena, in->filter.entity, &what.target.gone_entity, err);
    }
    return status == LOCI_OK ? lc_context_forget_memories(&what, f, err) : status;
}

static loci_status run_memory(lc_call *call, lc_tx *tx, loci_error *err)
{
    return run_forget(call, tx, forget_memories, err);
}

const lc_op lc_memory_forget_op = {
    .name = "memory.forget",
    .help = "Forget a memory and its duplicates for good, or all about an entity",
    .params = memory_params,
    .rules = memory_rules,
    .input_bytes = sizeof(forget_input),
    .answer = &forget_answer,
    .cost = LC_COST_WRITE,
    .flags = LC_OP_USER | LC_OP_MUTATES | LC_OP_DESTROYS,
    .http = "DELETE /v1/memories/{id}",
    .mcp = "forget memory",
    .mcp_takes = "dry_run=true id entity",
    .mcp_shows = "dry_run ~removed ~items(kind id)",
    .look = FORGET_LOOK,
    .example = "{\"id\":\"mem_00000000000000000000000000\",\"dry_run\":true}",
    .prepare = prepare_memory,
    .run = run_memory,
    .wait = wait_forget,
};

/* ---- resource.forget ------------------------------------------------------------------------- */

static const lc_param resource_params[] = {
    LC_ID_PARAM(forget_input, id, "Id (res_...) or URI of the resource"),
    FORGET_PARAMS,
    {.name = NULL},
};

static loci_status forget_resource(lc_call *call, lc_forgetting *f, loci_error *err)
{
    const forget_input *in = call->input;
    lc_resource_oblivion oblivion;
    loci_status status = lc_resource_decide_forget(call->persona_id, in->id, f, &oblivion, err);

    if (status != LOCI_OK || in->dry_run)
        return status;
    return lc_resource_commit_forget(f->tx, &oblivion, err);
}

static loci_status run_resource(lc_call *call, lc_tx *tx, loci_error *err)
{
    return run_forget(call, tx, forget_resource, err);
}

extern const lc_op lc_op_resource_forget;
const lc_op lc_op_resource_forget = {
    .name = "resource.forget",
    .help = "Forget a resource for good: its text, summaries and annotations; a file stays",
    .params = resource_params,
    .input_bytes = sizeof(forget_input),
    .answer = &forget_answer,
    .cost = LC_COST_WRITE,
    .flags = LC_OP_USER | LC_OP_MUTATES | LC_OP_DESTROYS,
    .http = "DELETE /v1/resources/{id}",
    .look = FORGET_LOOK,
    .example = "{\"id\":\"text:rules\",\"dry_run\":true}",
    .run = run_resource,
    .wait = wait_forget,
};

/* ---- todo.forget ----------------------------------------------------------------------------- */

static const lc_param todo_params[] = {
    LC_ID_PARAM(forget_input, id, "Id of the todo, todo_…"),
    FORGET_PARAMS,
    {.name = NULL},
};

static loci_status forget_todo(lc_call *call, lc_forgetting *f, loci_error *err)
{
    const forget_input *in = call->input;
    loci_status status = lc_todo_decide_forget(f->tx, call->persona_id, in->id, f, err);

    if (status != LOCI_OK || in->dry_run)
        return status;
    return lc_todo_commit_forget(f->tx, in->id, err);
}

static loci_status run_todo(lc_call *call, lc_tx *tx, loci_error *err)
{
    return run_forget(call, tx, forget_todo, err);
}

extern const lc_op lc_op_todo_forget;
const lc_op lc_op_todo_forget = {
    .name = "todo.forget",
    .help = "Forget a todo for good",
    .params = todo_params,
    .input_bytes = sizeof(forget_input),
    .answer = &forget_answer,
    .cost = LC_COST_WRITE,
    .flags = LC_OP_USER | LC_OP_MUTATES | LC_OP_DESTROYS,
    .http = "DELETE /v1/todos/{id}",
    .mcp = "forget todo",
    .mcp_takes = "dry_run=true id",
    .mcp_shows = "dry_run ~removed ~items(kind id)",
    .look = FORGET_LOOK,
    .example = "{\"id\":\"todo_00000000000000000000000000\",\"dry_run\":true}",
    .run = run_todo,
    .wait = wait_forget,
};

/* ---- file.forget ----------------------------------------------------------------------------- */

static const lc_param file_params[] = {
    {LC_ARG_STR("path", forget_input, path), .flags = LC_PARAM_POSITIONAL | LC_PARAM_ID, .min = 1,
     .max = LC_FILE_PATH_BYTES_MAX,
     .help = "Path of the file or directory; deleted files that last were there go too"},
    LC_NAME_PARAM("id", forget_input, id, 0, "Instead of a path: id of one file, file_…"),
    FORGET_PARAMS,
    {.name = NULL},
};

static const lc_param_rule file_rules[] = {
    {LC_RULE_EXACTLY_ONE, "path|id"},
    {LC_RULE_END, NULL},
};

static loci_status prepare_file(lc_call *call, loci_error *err)
{
    forget_input *in = call->input;

    return in->path.ptr != NULL ? lc_file_path_make(call->arena, in->path, &in->path, err)
                                : LOCI_OK;
}

static loci_status forget_files(lc_call *call, lc_forgetting *f, loci_error *err)
{
    const forget_input *in = call->input;
    const lc_file_call who = {.tx = f->tx, .arena = call->arena, .persona_id = call->persona_id};
    lc_str_list ids;
    loci_status status = lc_file_decide_forget(&who, &(lc_file_target){in->path, in->id}, f, &ids,
                                               err);

    if (status != LOCI_OK || in->dry_run)
        return status;
    return lc_file_commit_forget(f->tx, ids, err);
}

static loci_status run_file(lc_call *call, lc_tx *tx, loci_error *err)
{
    return run_forget(call, tx, forget_files, err);
}

extern const lc_op lc_op_file_forget;
const lc_op lc_op_file_forget = {
    .name = "file.forget",
    .help = "Forget files for good: their contents, versions, events and stored answers",
    .params = file_params,
    .rules = file_rules,
    .input_bytes = sizeof(forget_input),
    .answer = &forget_answer,
    .cost = LC_COST_WRITE,
    .flags = LC_OP_USER | LC_OP_MUTATES | LC_OP_DESTROYS,
    .http = "POST /v1/files/forget",
    .look = FORGET_LOOK,
    .example = "{\"path\":\"/memories\",\"dry_run\":true}",
    .prepare = prepare_file,
    .run = run_file,
    .wait = wait_forget,
};

/* ---- session.forget -------------------------------------------------------------------------- */

static const lc_param session_params[] = {
    LC_NAME_PARAM("message_id", forget_input, message_id, 0,
                  "Id of one message to forget, instead of a session"),
    LC_CLAIM_PARAMS(forget_input, claim),
    FORGET_PARAMS,
    {.name = NULL},
};

static const lc_param_rule session_rules[] = {
    {LC_RULE_EXACTLY_ONE, "session_id|message_id"},
    {LC_RULE_END, NULL},
};

static loci_status forget_message(lc_call *call, lc_forgetting *f, loci_error *err)
{
    const forget_input *in = call->input;

    return lc_context_forget_message(&(lc_message_forget){.persona_id = call->persona_id,
                                                          .id = in->message_id,
                                                          .is_dry_run = in->dry_run},
                                     f, err);
}

static loci_status forget_session(lc_call *call, lc_forgetting *f, loci_error *err)
{
    const forget_input *in = call->input;
    lc_session_forget what = {.session = lc_call_session_ref(call), .is_dry_run = in->dry_run};
    loci_status status;

    if (in->message_id.ptr != NULL)
        return forget_message(call, f, err);
    if (what.session.session_id.len == 0)
        return lc_fail(err, LOCI_EINVAL, "session_id: name the session to forget");
    status = make_target(call, f->tx, what.session.session_id, &what.facts, err);
    return status == LOCI_OK ? lc_context_forget_session(&what, f, err) : status;
}

static loci_status run_session(lc_call *call, lc_tx *tx, loci_error *err)
{
    return run_forget(call, tx, forget_session, err);
}

extern const lc_op lc_op_session_forget;
const lc_op lc_op_session_forget = {
    .name = "session.forget",
    .help = "Forget a session and everything that belongs to it, or one message",
    .params = session_params,
    .rules = session_rules,
    .input_bytes = sizeof(forget_input),
    .answer = &forget_answer,
    .cost = LC_COST_WRITE,
    .flags = LC_OP_USER | LC_OP_MUTATES | LC_OP_SESSION | LC_OP_DESTROYS,
    .http = "POST /v1/sessions/forget",
    .mcp = "forget session",
    .mcp_takes = "dry_run=true session_id message_id",
    .mcp_shows = "dry_run ~removed ~items(kind id)",
    .look = FORGET_LOOK,
    .example = "{\"session_id\":\"chat-42\",\"dry_run\":true}",
    .prepare = prepare_forget,
    .run = run_session,
    .wait = wait_forget,
};

/* ---- frame.forget ---------------------------------------------------------------------------- */

static const lc_param frame_params[] = {
    LC_ID_PARAM(forget_input, id, "Id of a frame, frm_…: its whole tree is forgotten"),
    FORGET_PARAMS,
    {.name = NULL},
};

static loci_status forget_frame(lc_call *call, lc_forgetting *f, loci_error *err)
{
    const forget_input *in = call->input;
    lc_frame_oblivion oblivion = {0};
    loci_status status = lc_frame_decide_forget(
        f->tx, &(lc_frame_target){.persona_id = call->persona_id, .id = in->id}, f, &oblivion, err);

    return status == LOCI_OK && !in->dry_run ? lc_frame_commit_forget(f->tx, &oblivion, err)
                                             : status;
}

static loci_status run_frame(lc_call *call, lc_tx *tx, loci_error *err)
{
    return run_forget(call, tx, forget_frame, err);
}

extern const lc_op lc_op_frame_forget;
const lc_op lc_op_frame_forget = {
    .name = "frame.forget",
    .help = "Forget the whole tree of a frame for good",
    .params = frame_params,
    .input_bytes = sizeof(forget_input),
    .answer = &forget_answer,
    .cost = LC_COST_WRITE,
    .flags = LC_OP_USER | LC_OP_MUTATES | LC_OP_DESTROYS,
    .http = "DELETE /v1/frames/{id}",
    .look = FORGET_LOOK,
    .example = "{\"id\":\"frm_00000000000000000000000000\",\"dry_run\":true}",
    .run = run_frame,
    .wait = wait_forget,
};

/* ---- user.forget ----------------------------------------------------------------------------- */

static const lc_param user_params[] = {
    FORGET_PARAMS,
    {.name = NULL},
};

/* Everything of a user: what no cap and no persona may come between. */
static loci_status check_all_of_user(const lc_call *call, loci_error *err)
{
    if (call->persona_id.len == 0 && call->authority_max.len == 0 && call->trust_max.len == 0 &&
        call->permissions_max.ptr == NULL)
        return LOCI_OK;
    return lc_fail(err, LOCI_EFORBIDDEN,
                   "%s concerns all facts and personas of the user; this caller is capped or"
                   " narrowed, or the call names a persona",
                   call->op->name);
}

static loci_status prepare_user(lc_call *call, loci_error *err)
{
    return check_all_of_user(call, err);
}

static const lc_sql counts_sql = {
    "select (select count(*) from events where tenant_id = $1 and user_id = $2 and is_erased = 0),"
    " (select count(*) from fact_current where tenant_id = $1 and user_id = $2)"
    " + (select count(*) from fact_past where tenant_id = $1 and user_id = $2"
    " and standing <> 'erased'),"
    " (select count(*) from messages where tenant_id = $1 and user_id = $2),"
    " (select count(*) from sessions where tenant_id = $1 and user_id = $2),"
    " (select count(*) from memories where tenant_id = $1 and user_id = $2),"
    " (select count(*) from todos where tenant_id = $1 and user_id = $2),"
    " (select count(*) from files where tenant_id = $1 and user_id = $2),"
    " (select count(*) from proposals where tenant_id = $1 and user_id = $2),"
    " (select count(*) from resources where tenant_id = $1 and user_id = $2)",
    "tt", "iiiiiiiii"};

/* Counted, not listed: everything goes. */
static loci_status forget_user(lc_call *call, lc_forgetting *f, loci_error *err)
{
    static const char *const kinds[] = {"fact", "message", "session",  "memory",
                                        "todo", "file",    "proposal", "resource"};
    int64_t counts[9] = {0};
    lc_head head;
    loci_status status = lc_tx_head(f->tx, &head, err);

    if (status == LOCI_OK && head.seq == 0)
        status = lc_fail(err, LOCI_ENOTFOUND, "no user %.*s", LC_STR_ARG(call->user_id));
    if (status == LOCI_OK)
        status = lc_tx_find_numbers(f->tx, &counts_sql,
                                    (lc_arg[]){LC_T(f->tx->tenant_id), LC_T(f->tx->user_id)},
                                    counts, err);
    if (status != LOCI_OK)
        return status;
    f->events = counts[0];
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        f->kinds[f->kind_count].kind = kinds[i];
        f->kinds[f->kind_count++].count = counts[i + 1];
    }
    return ((const forget_input *)call->input)->dry_run ? LOCI_OK : lc_forget_user(f, err);
}

static loci_status run_user(lc_call *call, lc_tx *tx, loci_error *err)
{
    return run_forget(call, tx, forget_user, err);
}

static const lc_op user_forget = {
    .name = "user.forget",
    .help = "Forget everything of a user; the log keeps numbers and times, without content",
    .params = user_params,
    .input_bytes = sizeof(forget_input),
    .answer = &forget_answer,
    .cost = LC_COST_WRITE,
    .flags = LC_OP_USER | LC_OP_MUTATES | LC_OP_WHOLE_USER | LC_OP_DESTROYS,
    .http = "DELETE /v1/users/{user_id}",
    .look = FORGET_LOOK,
    .example = "{\"user_id\":\"default\",\"dry_run\":true}",
    .prepare = prepare_user,
    .run = run_user,
    .wait = wait_forget,
};

/* ---- user.list ------------------------------------------------------------------------------- */

static const lc_record user_record = {
    .name = "User",
    .members =
        (const lc_result[]){
            {"user_id", LC_PARAM_STRING, "Id of the user"},
            {"events", LC_PARAM_INT, "Number of events in its log"},
            {"last_event_at", LC_PARAM_TIME, "Time of the last event"},
            {NULL},
        },
};

static const lc_record list_answer = {
    .members =
        (const lc_result[]){
            {"users", 0, "Users in the order of their ids", LC_RESULT_LIST, .record = &user_record},
            LC_PAGE_RESULT,
            {NULL},
        },
};

typedef struct list_input {
    loci_str prefix;
    lc_page_args page;
} list_input;

static const lc_param list_params[] = {
    {LC_ARG_STR("prefix", list_input, prefix), .flags = LC_PARAM_ID, .min = 1,
     .max = LC_ID_BYTES_MAX,
     .help = "Only users whose ids begin with this text (default: all users)"},
    LC_PAGE_PARAMS(list_input, page),
    {.name = NULL},
};

static const lc_sql list_sql = {
    "select h.user_id, h.seq, h.recorded_at from heads h where h.tenant_id = $1 and h.user_id > $2"
    " and h.user_id >= $5 and ($4 = '' or h.user_id = $4) and h.seq > 0"
    " and not exists (select 1 from forgettings f where f.tenant_id = h.tenant_id"
    " and f.user_id = h.user_id and f.seq = h.seq and f.type = 'user.forgotten')"
    " order by h.user_id limit $3",
    "ttitt", "tii"};

static loci_status run_list(lc_call *call, lc_tx *tx, loci_error *err)
{
    const list_input *in = call->input;
    lc_name_position at = {LC_STR("")};
    lc_page page = {call, &lc_position_by_name, &at};
    lc_rows rows;
    loci_status status;

    status = lc_page_begin(&page, &in->page, err);
    if (status != LOCI_OK)
        return status;
    status = lc_tx_query(tx, &list_sql,
                         (lc_arg[]){LC_T(call->tenant_id), LC_T(at.name), LC_I(in->page.limit + 1),
                                    LC_T_OR_EMPTY(call->user_id), LC_T_OR_EMPTY(in->prefix)},
                         &rows, err);
    lc_page_open(&page, "users");
    while (status == LOCI_OK && lc_rows_next(&rows, &status, err)) {
        loci_str user_id = lc_rows_str(&rows, 0);

        if (in->prefix.len > 0 && !lc_str_starts(user_id, in->prefix))
            break; /* Ids are in order: none behind it begins so. */
        if (!lc_page_takes(&page))
            continue;
        lc_jw_object(&call->out);
        lc_jw_member_str(&call->out, "user_id", user_id);
        lc_jw_member_int(&call->out, "events", lc_rows_i64(&rows, 1));
        lc_jw_member_time(&call->out, "last_event_at", lc_rows_i64(&rows, 2));
        lc_jw_end(&call->out);
        at.name = lc_arena_copy(call->arena, user_id);
        if (at.name.ptr == NULL)
            status = lc_fail_memory(err);
    }
    lc_rows_end(&rows);
    lc_page_close(&page);
    return status;
}

static const lc_op user_list = {
    .name = "user.list",
    .help = "List the users of the tenant that have state; forgotten ones have none",
    .params = list_params,
    .input_bytes = sizeof(list_input),
    .answer = &list_answer,
    .cost = LC_COST_WORK,
    .flags = LC_OP_IDEMPOTENT | LC_OP_WHOLE_USER,
    .http = "GET /v1/users",
    .look = {.columns = "user_id events last_event_at"},
    .example = "{\"limit\":10}",
    .run = run_list,
};

/* ---- user.export ----------------------------------------------------------------------------- */

static const lc_record export_answer = {
    .members =
        (const lc_result[]){
            {"user_id", LC_PARAM_STRING, "Id of the user"},
            {"events", 0, "Events, oldest first; restricted ones without their payload",
             LC_RESULT_LIST, .record = &lc_event_record},
            LC_PAGE_RESULT,
            {NULL},
        },
};

typedef struct exporting {
    lc_page page;
    lc_seq_position last;
} exporting;

static loci_status export_event(void *ctx, const lc_event *event, loci_error *err)
{
    exporting *e = ctx;

    (void)err; /* Writing to a buffer fails later. */
    if (!lc_page_takes(&e->page))
        return LOCI_OK;
    e->last.seq = event->seq;
    lc_event_write(&e->page.call->out, event);
    return LOCI_OK;
}

static loci_status run_export(lc_call *call, lc_tx *tx, loci_error *err)
{
    const lc_page_args *in = call->input;
    /* From the parts of a snapshot on (store/snapshot.h). */
    exporting e = {.page = {call, &lc_position_by_seq, &e.last}, .last = {-LC_ID_SEQ_MAX}};
    lc_event_range range = {
        .tenant_id = call->tenant_id, .user_id = call->user_id, .limit = in->limit + 1};
    loci_status status = lc_page_begin(&e.page, in, err);

    if (status != LOCI_OK)
        return status;
    range.after_seq = e.last.seq;
    lc_jw_member_str(&call->out, "user_id", call->user_id);
    lc_page_open(&e.page, "events");
    status = lc_event_each(tx, &range, export_event, &e, err);
    lc_page_close(&e.page);
    return status;
}

static const lc_op user_export = {
    .name = "user.export",
    .help = "Export everything recorded of a user: its whole log, page by page",
    .params = lc_page_params,
    .input_bytes = sizeof(lc_page_args),
    .answer = &export_answer,
    .cost = LC_COST_WORK,
    .flags = LC_OP_USER | LC_OP_IDEMPOTENT | LC_OP_WHOLE_USER,
    .http = "GET /v1/users/{user_id}/export",
    .look = {.columns = "seq recorded_at type payload", .id = "seq", .hidden = "user_id"},
    .example = "{\"user_id\":\"default\",\"limit\":100}",
    .prepare = prepare_user,
    .run = run_export,
};

extern const lc_op *const lc_ops_user[];
const lc_op *const lc_ops_user[] = {&user_list, &user_export, &user_forget, NULL};
