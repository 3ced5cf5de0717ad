/* frame_resume.c - suspending, resuming, and finding the work that a crash has interrupted.
 *
 * A token is shown once and stored as a hash. Writes of one user run one after the other, so of two
 * processes that present the same token the second one reads that it was used.
 *
 * Time limits are checked where work is asked for (lc_frame_check_works()). A frame of an agent
 * that never comes back is failed by the sweep, leaves first, so that its budget returns to its
 * parent.
 */
#include "base/error.h"
#include "base/random.h"
#include "base/str.h"
#include "frame/frame_row.h"
#include "store/token.h"

#define OF_USER " where tenant_id = $1 and user_id = $2"
#define SECOND_US INT64_C(1000000)

/* ---- Tokens ---------------------------------------------------------------------------------- */

static void put_digits(const unsigned char *bytes, size_t count, char *out)
{
    static const char digits[] = "0123456789abcdef";

    for (size_t i = 0; i < count; i++) {
        out[2 * i] = digits[bytes[i] >> 4];
        out[2 * i + 1] = digits[bytes[i] & 15];
    }
    out[2 * count] = '\0';
}

bool lc_frame_token_make(char text[LC_FRAME_TOKEN_BYTES])
{
    unsigned char secret[16];
    bool is_made = lc_random_secret(secret, sizeof secret);

    memcpy(text, "frt_", 4);
    put_digits(secret, sizeof secret, text + 4);
    lc_token_wipe(secret, sizeof secret);
    return is_made;
}

loci_str lc_frame_token_hash(lc_arena *arena, loci_str token)
{
    unsigned char hash[LC_SHA256_BYTES];
    char *text = lc_arena_alloc(arena, 2 * sizeof hash + 1);

    if (text == NULL)
        return LC_STR_NONE;
    lc_sha256(token.ptr, token.len, hash);
    put_digits(hash, sizeof hash, text);
    return loci_str_of(text);
}

/* ---- Suspending ------------------------------------------------------------------------------ */

static const lc_sql busy_sql = {"select id from frames" OF_USER
                                " and parent_seq = $3 and status in ('active', 'waiting') limit 1",
                                "tti", "t"};

static loci_status check_children(lc_tx *tx, const lc_frame *frame, loci_error *err)
{
    lc_rows rows;
    bool found = false;
    loci_status status = lc_tx_find(
        tx, &busy_sql, (lc_arg[]){LC_T(tx->tenant_id), LC_T(tx->user_id), LC_I(frame->seq)}, &rows,
        &found, err);

    if (status == LOCI_OK && found)
        status = lc_fail(err, LOCI_ECONFLICT,
                         "frame %.*s has the open child %.*s; pop or suspend it first",
                         LC_STR_ARG(frame->id), LC_STR_ARG(lc_rows_str(&rows, 0)));
    lc_rows_end(&rows);
    return status;
}

loci_status lc_frame_suspend(lc_tx *tx, lc_frame *frame, lc_frame_suspension *suspension,
                             loci_error *err)
{
    loci_status status = lc_frame_move(&frame->status, LC_FRAME_SUSPENDED, frame->id, err);

    if (status == LOCI_OK)
        status = check_children(tx, frame, err);
    if (status == LOCI_OK)
        status = lc_tx_recorded_at(tx, &suspension->suspended_at, err);
    if (status != LOCI_OK)
        return status;
    frame->waiting_for = LC_STR_NONE;
    suspension->frame_id = frame->id;
    suspension->root_seq = frame->root_seq;
    return lc_frame_append(tx,
                           &(lc_frame_change){.type = &lc_frame_suspended_event,
                                              .frame = frame,
                                              .type_of_row = &lc_frame_suspension_row,
                                              .row = suspension,
                                              .is_new = true},
                           &suspension->seq, err);
}

static const lc_sql find_token_sql = {"select {row} from frame_suspensions" OF_USER
                                      " and token_hash = $3",
                                      "ttt", "", &lc_frame_suspension_row};

loci_status lc_frame_resume(lc_tx *tx, loci_str persona_id, loci_str token_hash, lc_arena *arena,
                            lc_frame *out, loci_error *err)
{
    const lc_arg args[] = {LC_T(tx->tenant_id), LC_T(tx->user_id), LC_T(token_hash)};
    lc_frame_suspension suspension;
    bool found = false;
    loci_status status = lc_row_find(tx, &(lc_query){&find_token_sql, args}, arena, &suspension,
                                     &found, err);

    if (status == LOCI_OK && found)
        status = lc_frame_load(tx, persona_id, suspension.frame_id, arena, out, err);
    if (status == LOCI_ENOTFOUND || (status == LOCI_OK && !found))
        return lc_fail(err, LOCI_ENOTFOUND,
                       "token: unknown; it must be given exactly as frame.suspend returned it, for "
                       "the same user and persona");
    if (status == LOCI_OK && suspension.resumed_at != 0)
        status = lc_fail(err, LOCI_ECONFLICT,
                         "token: it was used before, and frame %.*s was resumed with it",
                         LC_STR_ARG(out->id));
    if (status == LOCI_OK && tx->now_us >= suspension.expires_at)
        status = lc_fail(err, LOCI_ECONFLICT,
                         "token: it has expired; pop frame %.*s, or push a new one",
                         LC_STR_ARG(out->id));
    if (status == LOCI_OK)
        status = lc_frame_move(&out->status, LC_FRAME_ACTIVE, out->id, err);
    return status == LOCI_OK ? lc_frame_append(tx,
                                               &(lc_frame_change){.type = &lc_frame_resumed_event,
                                                                  .frame = out,
                                                                  .suspension_seq = suspension.seq},
                                               NULL, err)
                             : status;
}

/* ---- After a crash --------------------------------------------------------------------------- */

#define IN_SCOPE                                                                                   \
    OF_USER " and persona_id in ('', $3) and actor_id = $4 and ($5 = '' or session_id = $5)"       \
            " and ($6 = '' or thread_id = $6)"                                                     \
            " and status in ('active', 'waiting', 'suspended')"

static const lc_sql top_sql = {"select {row} from frames" IN_SCOPE
                               " and status = $7 order by touched_seq desc, depth desc"
                               " limit 1",
                               "ttttttt", "", &lc_frame_row};

#define SCOPE_ARGS(tx, actor)                                                                      \
    LC_T((tx)->tenant_id), LC_T((tx)->user_id), LC_T_OR_EMPTY((actor)->persona_id),                \
        LC_T((actor)->scope.actor_id), LC_T_OR_EMPTY((actor)->scope.session_id),                   \
        LC_T_OR_EMPTY((actor)->scope.thread_id)

loci_status lc_frame_find_top(lc_tx *tx, const lc_actor *actor, lc_arena *arena, lc_frame *out,
                              bool *found, loci_error *err)
{
    static const char *const statuses[] = {"active", "waiting", "suspended"};
    loci_status status = LOCI_OK;

    /* One after the other, so that the index by touched_seq ends each search at its first row. */
    *found = false;
    for (size_t i = 0; i < 3 && !*found && status == LOCI_OK; i++) {
        const lc_arg args[] = {SCOPE_ARGS(tx, actor), LC_T(loci_str_of(statuses[i]))};

        status = lc_row_find(tx, &(lc_query){&top_sql, args}, arena, out, found, err);
    }
    out->ledger.is_settled = false; /* It is open. */
    return status;
}

/* Most open frames are active ones with nothing to report. */
static const lc_sql pending_sql = {
    "select {row} from frames" IN_SCOPE " and (status <> 'active' or error is not null or id in"
    " (select t.frame_id from frame_tools t where t.tenant_id = $1 and t.user_id = $2"
    " and t.status = 'running')) order by seq limit $7",
    "tttttti", "", &lc_frame_row};
static const lc_sql last_suspension_sql = {"select {row} from frame_suspensions" OF_USER
                                           " and frame_id = $3 order by seq desc limit 1",
                                           "ttt", "", &lc_frame_suspension_row};

typedef struct pending_walk {
    lc_tx *tx;
    lc_frame_pending_visit *visit;
    void *ctx;
    const lc_frame *frame;
} pending_walk;

static loci_status visit_tool(void *ctx, const lc_frame_tool *tool, loci_error *err)
{
    const pending_walk *w = ctx;

    return w->visit(w->ctx,
                    &(lc_frame_pending){.type = "tool_in_progress",
                                        .frame_id = tool->frame_id,
                                        .goal = w->frame->goal,
                                        .detail = tool->name,
                                        .call_id = tool->call_id,
                                        .since = tool->started_at},
                    err);
}

static loci_status visit_suspended(const pending_walk *w, lc_frame_pending *pending,
                                   loci_error *err)
{
    lc_frame_suspension suspension;
    lc_rows rows;
    loci_status status = lc_tx_query(
        w->tx, &last_suspension_sql,
        (lc_arg[]){LC_T(w->tx->tenant_id), LC_T(w->tx->user_id), LC_T(pending->frame_id)}, &rows,
        err);

    if (lc_row_next(&rows, &suspension, &status, err)) {
        pending->type = "suspended";
        pending->detail = suspension.reason;
        pending->since = suspension.suspended_at;
        pending->expires_at = suspension.expires_at;
        status = w->visit(w->ctx, pending, err);
    }
    lc_rows_end(&rows);
    return status;
}

static loci_status visit_frame(pending_walk *w, loci_error *err)
{
    const lc_frame *frame = w->frame;
    lc_frame_pending pending = {
        .frame_id = frame->id, .goal = frame->goal, .since = frame->updated_at};
    loci_status status = LOCI_OK;

    if (frame->status == LC_FRAME_SUSPENDED)
        status = visit_suspended(w, &pending, err);
    if (frame->status == LC_FRAME_WAITING) {
        pending.type = lc_str_is(frame->waiting_for, "user") ? "waiting_for_user" : "waiting";
        pending.detail = frame->waiting_for;
        status = w->visit(w->ctx, &pending, err);
    }
    if (status == LOCI_OK && frame->error.len > 0) {
        pending.type = "unhandled_error";
        pending.detail = frame->error;
        status = w->visit(w->ctx, &pending, err);
    }
    return status == LOCI_OK ? lc_frame_each_tool(w->tx, frame->id, true, visit_tool, w, err)
                             : status;
}

loci_status lc_frame_each_pending(lc_tx *tx, const lc_actor *actor, lc_frame_pending_visit *visit,
                                  void *ctx, loci_error *err)
{
    pending_walk w = {.tx = tx, .visit = visit, .ctx = ctx};
    lc_frame frame;
    lc_rows rows;
    loci_status status = lc_tx_query(
        tx, &pending_sql, (lc_arg[]){SCOPE_ARGS(tx, actor), LC_I(LC_PENDING_MAX)}, &rows, err);

    while (lc_row_next(&rows, &frame, &status, err)) {
        w.frame = &frame;
        status = visit_frame(&w, err);
    }
    lc_rows_end(&rows);
    return status;
}

/* Nothing changes: the event says that, and when, an actor took up its work again. */
static loci_status apply_nothing(lc_tx *tx, const lc_event *event, loci_error *err)
{
    (void)tx, (void)event, (void)err;
    return LOCI_OK;
}

const lc_event_type lc_actor_resumed_event = {
    .name = "actor.resumed", .version = 1, .apply = apply_nothing};

loci_status lc_actor_note_resumed(lc_tx *tx, const lc_frame_scope *scope, int64_t frames,
                                  int64_t pending, loci_error *err)
{
    lc_event_draft draft;

    lc_event_draft_begin(&draft, tx);
    lc_jw_member_str(&draft.payload, "actor_id", scope->actor_id);
    if (scope->session_id.len > 0)
        lc_jw_member_str(&draft.payload, "in_session", scope->session_id);
    if (scope->thread_id.len > 0)
        lc_jw_member_str(&draft.payload, "thread_id", scope->thread_id);
    lc_jw_member_int(&draft.payload, "frames", frames);
    lc_jw_member_int(&draft.payload, "pending", pending);
    return lc_event_draft_append(&draft, tx, &(lc_append){.type = &lc_actor_resumed_event}, NULL,
                                 err);
}

/* ---- The sweep ------------------------------------------------------------------------------- */

const lc_setting lc_setting_frame_orphan_grace_s = {
    .name = "frame.orphan_grace_s",
    .kind = LC_SETTING_INT,
    .default_text = "60",
    .min = 0,
    .max = 86400,
    .help = "Seconds after its timeout, or after its token has expired, at which an open frame is "
            "marked as failed",
    .is_live = true,
    .is_per_tenant = true,
};

static const lc_sql users_sql = {
    "select tenant_id, user_id from frames where status in ('active', 'waiting', 'suspended')"
    " and (tenant_id, user_id) > ($1, $2) order by tenant_id, user_id limit 1",
    "tt", "tt"};

/* Frames without open children, so that each round ends the leaves of the last one. */
static const lc_sql orphan_sql = {
    "select {row} from frames" OF_USER " and status in ('active', 'waiting', 'suspended')"
    " and open_children = 0 and (deadline_at <= $3 or (status = 'suspended' and not exists"
    " (select 1 from frame_suspensions s where s.tenant_id = $1 and s.user_id = $2"
    " and s.frame_id = frames.id and s.resumed_at is null and s.expires_at > $3)))"
    " order by depth desc, seq limit 1",
    "tti", "", &lc_frame_row};

static loci_status find_orphan(lc_tx *tx, int64_t grace_s, lc_arena *arena, lc_frame *out,
                               bool *found, loci_error *err)
{
    const lc_arg args[] = {LC_T(tx->tenant_id), LC_T(tx->user_id),
                           LC_I(tx->now_us - grace_s * SECOND_US)};
    loci_status status = lc_row_find(tx, &(lc_query){&orphan_sql, args}, arena, out, found, err);

    out->ledger.is_settled = false; /* It is open. */
    return status;
}

static loci_status has_orphan(lc_tx *tx, int64_t grace_s, bool *out, loci_error *err)
{
    lc_arena_mark mark = lc_arena_get_mark(&tx->db->scratch);
    lc_frame frame;
    loci_status status = find_orphan(tx, grace_s, &tx->db->scratch, &frame, out, err);

    lc_arena_rewind(&tx->db->scratch, mark);
    return status;
}

static loci_status fail_orphans(lc_tx *tx, int64_t grace_s, int64_t *out, loci_error *err)
{
    loci_status status = LOCI_OK;
    bool found = true;

    *out = 0;
    while (status == LOCI_OK && found && *out < LC_SWEEP_ITEMS) {
        lc_arena arena;
        lc_frame frame;
        int64_t count = 0;

        lc_arena_init(&arena, tx->db->scratch.heap, LOCI_MEM_REQUESTS);
        status = find_orphan(tx, grace_s, &arena, &frame, &found, err);
        if (status == LOCI_OK && found)
            status = lc_frame_pop(tx, &frame,
                                  &(lc_frame_end){.status = LC_FRAME_FAILED,
                                                  .error = frame.status == LC_FRAME_SUSPENDED
                                                               ? LC_STR("its suspension expired")
                                                               : LC_STR("it timed out")},
                                  &arena, &count, err);
        *out += count;
        lc_arena_clear(&arena);
    }
    return status;
}

const lc_sweep lc_frame_sweep = {
    .name = "frames",
    .users = &users_sql,
    .setting = &lc_setting_frame_orphan_grace_s,
    .is_due = has_orphan,
    .run = fail_orphans,
};
