/* session_forget.c - sessions and messages that are forgotten (recall/forget.h).
 *
 * A forgotten message has no row. A forgotten session has neither row, messages, identity nor
 * working set; if it also has messages of a persona that the caller does not see, those and the
 * session stay.
 *
 * The payload of session.opened is erased if the session has an external_id or metadata. A session
 * with neither may have been opened by an event of another type, whose payload must stay.
 */
#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "recall/forget.h"
#include "session/session.h"
#include "session/session_event.h"
#include "session/summary.h"
#include "session/working.h"
#include "store/withdrawal.h"

#define SESSIONS_MAX 1000 /* Maximum number of sessions with one name. */

static const lc_sql by_id_sql = {"select {row} from sessions where tenant_id = $1 and user_id = $2"
                                 " and id = $3 and persona_id in ('', $4)",
                                 "tttt", "", &lc_session_row};

static const lc_sql by_name_sql = {
    "select {row} from sessions where tenant_id = $1 and user_id = $2 and external_id = $3"
    " and persona_id in ('', $4) order by seq limit 1001",
    "tttt", "", &lc_session_row};

static const lc_sql messages_sql = {
    "select {row} from messages where tenant_id = $1 and user_id = $2 and session_id = $3"
    " and persona_id in ('', $4) order by seq",
    "tttt", "", &lc_message_row};

static const lc_sql message_sql = {
    "select {row} from messages where tenant_id = $1 and user_id = $2 and id = $3"
    " and persona_id in ('', $4)",
    "tttt", "", &lc_message_row};

static const lc_sql hidden_sql = {
    "select count(*) from messages where tenant_id = $1 and user_id = $2 and session_id = $3"
    " and persona_id not in ('', $4)",
    "tttt", "i"};

static const lc_sql drop_activity_sql = {"delete from session_activity where tenant_id = $1"
                                         " and user_id = $2 and session_id = $3",
                                         "ttt", NULL};

#define ARGS(tx, which, persona)                                                                   \
    (lc_arg[])                                                                                     \
    {                                                                                              \
        LC_T((tx)->tenant_id), LC_T((tx)->user_id), LC_T(which), LC_T_OR_EMPTY(persona)            \
    }

/* ---- Collecting ------------------------------------------------------------------------------ */

static loci_status collect_messages(lc_tx *tx, const lc_query *query, lc_forgetting *f,
                                    size_t *out_count, loci_error *err)
{
    lc_rows rows;
    lc_message message;
    loci_status status = lc_tx_query(tx, query->sql, query->args, &rows, err);

    while (lc_row_next(&rows, &message, &status, err)) {
        ++*out_count;
        status = lc_forget_add(
            f, &(lc_forget_item){"message", message.id, message.seq, message.text}, err);
    }
    lc_rows_end(&rows);
    return status;
}

/* Matches all events that a rewind took back in the session: messages and events derived from
 * them. */
static loci_status match_withdrawn(void *ctx, const lc_event *event, lc_forget_item *item,
                                   bool *out, loci_error *err)
{
    lc_message message = {0};
    loci_status status = LOCI_OK;

    *out = true;
    if (event->type == &lc_session_message_event) {
        status = lc_row_decode(&lc_message_row, event, ctx, &message, err);
        *item = (lc_forget_item){.kind = "message", .id = message.id};
    }
    return status;
}

typedef struct identities {
    loci_str session_id;
    lc_forgetting *f;
    int64_t seq; /* Seq of the last event that was read. */
    int64_t count;
} identities;

static loci_status collect_identity(void *ctx, const lc_event *event, loci_error *err)
{
    identities *i = ctx;
    lc_event_json json;
    lc_arena_mark mark = lc_arena_get_mark(i->f->arena);
    bool is_its;
    loci_status status;

    i->seq = event->seq;
    i->count++;
    if (event->type != &lc_identity_set_event)
        return LOCI_OK;
    /* The event may also name this session as the one that ended when its own was opened. */
    status = lc_event_parse(event, i->f->arena, &json, err);
    is_its = status == LOCI_OK && lc_str_eq(lc_event_str(json.refs, "session_id"), i->session_id);
    lc_arena_rewind(i->f->arena, mark);
    return is_its ? lc_forget_add_event(i->f, event->seq, err) : status;
}

/* No table lists the events that set the identity of a session, so this reads the log from the
 * event that opened the session on, which may be one of them. */
static loci_status collect_identities(lc_tx *tx, const lc_session *session, lc_forgetting *f,
                                      loci_error *err)
{
    identities i = {.session_id = session->id, .f = f, .seq = session->seq - 1};
    loci_status status = LOCI_OK;

    if (session->identity.user_name.len == 0)
        return LOCI_OK;
    do {
        lc_event_range range = {.tenant_id = tx->tenant_id,
                                .user_id = tx->user_id,
                                .after_seq = i.seq,
                                .limit = LC_PAGE_ROWS_MAX};

        i.count = 0;
        status = lc_event_each(tx, &range, collect_identity, &i, err);
    } while (status == LOCI_OK && i.count == LC_PAGE_ROWS_MAX);
    return status;
}

static loci_status collect_session(lc_tx *tx, const lc_session_ref *ref,
                                   lc_session_oblivion *oblivion, lc_forgetting *f, loci_error *err)
{
    const lc_session *session = &oblivion->session;
    lc_arg *args = ARGS(tx, session->id, ref->persona_id);
    int64_t hidden = 0;
    size_t count = 0;
    loci_status status = lc_tx_find_numbers(tx, &hidden_sql, args, &hidden, err);

    if (status == LOCI_OK)
        status = collect_messages(tx, &(lc_query){&messages_sql, args}, f, &count, err);
    if (status == LOCI_OK)
        status = lc_summary_collect(f, session->id, 0, err);
    if (status == LOCI_OK)
        status = lc_forget_withdrawn(f, &(lc_withdrawal_filter){.session_id = session->id},
                                     match_withdrawn, f->arena, err);
    oblivion->is_whole = hidden == 0;
    if (status != LOCI_OK || !oblivion->is_whole)
        return status;
    status = lc_forget_add(
        f,
        &(lc_forget_item){
            .kind = "session",
            .id = session->id,
            .seq = session->external_id.len > 0 || session->metadata.len > 0 ? session->seq : 0},
        err);
    return status == LOCI_OK ? collect_identities(tx, session, f, err) : status;
}

loci_status lc_session_decide_forget(lc_tx *tx, const lc_session_ref *ref, lc_forgetting *f,
                                     lc_session_oblivions *out, loci_error *err)
{
    bool is_id = lc_id_is(ref->session_id, "ses");
    lc_rows rows;
    lc_session session;
    loci_status status;

    *out = (lc_session_oblivions){
        .items = lc_arena_zalloc_array(f->arena, is_id ? 1 : SESSIONS_MAX, sizeof *out->items)};
    if (out->items == NULL)
        return lc_fail_memory(err);
    status = lc_tx_query(tx, is_id ? &by_id_sql : &by_name_sql,
                         ARGS(tx, ref->session_id, ref->persona_id), &rows, err);
    while (lc_row_next(&rows, &session, &status, err)) {
        if (out->count == SESSIONS_MAX)
            status = lc_fail(err, LOCI_ELIMIT,
                             "more than %d sessions have this name; forget them"
                             " by id",
                             SESSIONS_MAX);
        else if (!lc_row_keep(&lc_session_row, f->arena, &session))
            status = lc_fail_memory(err);
        else
            out->items[out->count++].session = session;
    }
    lc_rows_end(&rows);
    if (status == LOCI_OK && out->count == 0)
        status = lc_fail(err, LOCI_ENOTFOUND, "no session %.*s", LC_STR_ARG(ref->session_id));
    for (size_t i = 0; status == LOCI_OK && i < out->count; i++)
        status = collect_session(tx, ref, &out->items[i], f, err);
    return status;
}

/* A message that a rewind took back. */
typedef struct gone_message {
    loci_str id, persona_id;
    lc_arena *arena;
    lc_withdrawal place; /* Without a seq, none was found. */
    bool is_visible;     /* The message was read, and the persona sees it. */
} gone_message;

static loci_status find_gone(void *ctx, const lc_withdrawal *withdrawal, loci_error *err)
{
    gone_message *g = ctx;

    if (g->place.seq != 0 || !lc_str_eq(withdrawal->id, g->id))
        return LOCI_OK;
    g->place = (lc_withdrawal){.seq = withdrawal->seq,
                               .session_id = lc_arena_copy(g->arena, withdrawal->session_id)};
    return g->place.session_id.ptr != NULL ? LOCI_OK : lc_fail_memory(err);
}

/* The message, and behind it the events that were derived from it. */
static loci_status match_gone(void *ctx, const lc_event *event, lc_forget_item *item, bool *out,
                              loci_error *err)
{
    gone_message *g = ctx;
    lc_message message = {0};
    loci_status status = LOCI_OK;

    if (event->seq == g->place.seq) {
        status = lc_row_decode(&lc_message_row, event, g->arena, &message, err);
        g->is_visible = message.persona_id.len == 0 || lc_str_eq(message.persona_id, g->persona_id);
        *item = (lc_forget_item){.kind = "message", .id = message.id};
    }
    *out = g->is_visible && lc_event_names(event, g->id);
    return status;
}

static loci_status collect_gone(lc_forgetting *f, gone_message *g, loci_error *err)
{
    const lc_withdrawal_filter messages = {.kind = LC_STR("message")};
    loci_status status = lc_withdrawal_each(f->tx, &messages, find_gone, g, err);

    if (status == LOCI_OK && g->place.seq != 0)
        status = lc_forget_withdrawn(f,
                                     &(lc_withdrawal_filter){.session_id = g->place.session_id,
                                                             .after_seq = g->place.seq - 1},
                                     match_gone, g, err);
    return status == LOCI_OK && !g->is_visible
               ? lc_fail(err, LOCI_ENOTFOUND, "no message %.*s", LC_STR_ARG(g->id))
               : status;
}

loci_status lc_message_decide_forget(lc_tx *tx, loci_str persona_id, loci_str id, lc_forgetting *f,
                                     loci_error *err)
{
    gone_message gone = {.id = id, .persona_id = persona_id, .arena = f->arena};
    lc_message message;
    bool found;
    loci_status status = lc_row_find(tx, &(lc_query){&message_sql, ARGS(tx, id, persona_id)},
                                     f->arena, &message, &found, err);

    if (status == LOCI_OK && !found)
        return collect_gone(f, &gone, err);
    if (status == LOCI_OK)
        status = lc_forget_add(
            f, &(lc_forget_item){"message", message.id, message.seq, message.text}, err);
    return status == LOCI_OK ? lc_summary_collect(f, message.session_id, message.seq, err) : status;
}

/* ---- Recording ------------------------------------------------------------------------------- */

static loci_status append(lc_tx *tx, const lc_event_type *type, loci_str id, loci_str persona_id,
                          bool keeps, loci_error *err)
{
    lc_event_draft draft;

    lc_event_draft_begin(&draft, tx);
    lc_jw_member_str(&draft.refs, "id", id);
    if (persona_id.len > 0)
        lc_jw_member_str(&draft.refs, "persona_id", persona_id);
    if (keeps)
        lc_jw_member_bool(&draft.refs, "keeps_session", true);
    return lc_event_draft_append(&draft, tx, &(lc_append){.type = type}, NULL, err);
}

loci_status lc_session_commit_forget(lc_tx *tx, loci_str persona_id,
                                     const lc_session_oblivions *oblivions, loci_error *err)
{
    loci_status status = LOCI_OK;

    for (size_t i = 0; status == LOCI_OK && i < oblivions->count; i++) {
        const lc_session_oblivion *each = &oblivions->items[i];
        loci_str id = each->session.id;

        status = append(tx, &lc_session_forgotten_event, id, persona_id, !each->is_whole, err);
        if (status == LOCI_OK && each->is_whole)
            status = lc_working_clear(tx, id, err);
        if (status == LOCI_OK && each->is_whole)
            status = lc_tx_exec(tx, &drop_activity_sql,
                                (lc_arg[]){LC_T(tx->tenant_id), LC_T(tx->user_id), LC_T(id)}, err);
    }
    return status;
}

static const lc_sql place_sql = {"select session_id, seq from messages where tenant_id = $1"
                                 " and user_id = $2 and id = $3",
                                 "ttt", "ti"};

/* Enqueues new summaries, without the message, for those that were made from it. */
static loci_status redo_summaries(lc_tx *tx, loci_str id, loci_error *err)
{
    lc_rows rows = {0};
    lc_id session = {""};
    int64_t seq = 0;
    bool found = false;
    loci_status status = lc_tx_find(tx, &place_sql,
                                    (lc_arg[]){LC_T(tx->tenant_id), LC_T(tx->user_id), LC_T(id)},
                                    &rows, &found, err);

    if (status == LOCI_OK && found) {
        loci_str text = lc_rows_str(&rows, 0);

        LC_ASSERT(text.len < sizeof session.text);
        memcpy(session.text, text.ptr, text.len);
        session.text[text.len] = '\0';
        seq = lc_rows_i64(&rows, 1);
    }
    lc_rows_end(&rows);
    return status == LOCI_OK && found ? lc_summary_redo(tx, lc_id_str(&session), seq, err) : status;
}

loci_status lc_message_commit_forget(lc_tx *tx, loci_str id, loci_error *err)
{
    loci_status status = redo_summaries(tx, id, err);

    if (status != LOCI_OK)
        return status;
    return append(tx, &lc_message_forgotten_event, id, LC_STR_NONE, false, err);
}

/* ---- Applying -------------------------------------------------------------------------------- */

/* Turns are subtracted before the rows are deleted. In a replay the erased messages have no rows,
 * so their turns are neither added nor subtracted. */
static const lc_sql uncount_turn_sql = {
    "update sessions set turn_count = turn_count - 1 where tenant_id = $1 and user_id = $2"
    " and id = (select session_id from messages where tenant_id = $1 and user_id = $2 and id = $3"
    " and role = 'user')",
    "ttt", NULL};

static const lc_sql uncount_turns_sql = {
    "update sessions set turn_count = turn_count - (select count(*) from messages"
    " where tenant_id = $1 and user_id = $2 and session_id = $3 and persona_id in ('', $4)"
    " and role = 'user') where tenant_id = $1 and user_id = $2 and id = $3",
    "tttt", NULL};

static const lc_sql uncount_message_sql = {
    "update message_counts set message_count = message_count - 1 where tenant_id = $1"
    " and user_id = $2 and persona_id = (select persona_id from messages where tenant_id = $1"
    " and user_id = $2 and id = $3 and role = 'user')",
    "ttt", NULL};

static const lc_sql uncount_messages_sql = {
    "update message_counts set message_count = message_count - (select count(*) from messages m"
    " where m.tenant_id = $1 and m.user_id = $2 and m.session_id = $3"
    " and m.persona_id = message_counts.persona_id and m.role = 'user')"
    " where tenant_id = $1 and user_id = $2 and persona_id in ('', $4)",
    "tttt", NULL};

static const lc_sql drop_counts_sql = {
    "delete from message_counts where tenant_id = $1 and user_id = $2 and message_count = 0", "tt",
    NULL};

static const lc_sql find_last_sql = {
    "update message_counts set last_seq = coalesce((select m.seq from messages m"
    " where m.tenant_id = $1 and m.user_id = $2 and m.persona_id = message_counts.persona_id"
    " and m.role = 'user' order by m.seq desc limit 1), 0) where tenant_id = $1 and user_id = $2"
    " and not exists (select 1 from messages m where m.tenant_id = $1 and m.user_id = $2"
    " and m.seq = message_counts.last_seq)",
    "tt", NULL};

loci_status lc_session_settle_counts(lc_tx *tx, const lc_event *event, loci_error *err)
{
    const lc_arg args[] = {LC_T(event->tenant_id), LC_T(event->user_id)};
    loci_status status = lc_tx_exec(tx, &drop_counts_sql, args, err);

    return status == LOCI_OK ? lc_tx_exec(tx, &find_last_sql, args, err) : status;
}

static const lc_sql delete_messages_sql = {"delete from messages where tenant_id = $1"
                                           " and user_id = $2 and session_id = $3"
                                           " and persona_id in ('', $4)",
                                           "tttt", NULL};

/* Entries of events that a rewind took back in the session. */
static const lc_sql drop_withdrawals_sql = {
    "delete from withdrawals where tenant_id = $1 and user_id = $2 and session_id = $3", "ttt",
    NULL};

static const lc_sql delete_session_sql = {
    "delete from sessions where tenant_id = $1 and user_id = $2 and id = $3", "ttt", NULL};

static const lc_sql delete_message_sql = {
    "delete from messages where tenant_id = $1 and user_id = $2 and id = $3", "ttt", NULL};

static loci_status apply_json(lc_tx *tx, const lc_event *event, const lc_json *refs,
                              loci_error *err)
{
    loci_str id = lc_event_str(refs, "id");
    const lc_arg args[] = {LC_T(event->tenant_id), LC_T(event->user_id), LC_T(id),
                           LC_T_OR_EMPTY(lc_event_str(refs, "persona_id"))};
    loci_status status;

    if (id.len == 0)
        return lc_event_fail(event, err);
    if (event->type == &lc_message_forgotten_event) {
        status = lc_summary_remove_of(tx, event, id, err);
        if (status == LOCI_OK)
            status = lc_tx_exec(tx, &uncount_turn_sql, args, err);
        if (status == LOCI_OK)
            status = lc_tx_exec(tx, &uncount_message_sql, args, err);
        if (status == LOCI_OK)
            status = lc_tx_exec(tx, &delete_message_sql, args, err);
        return status == LOCI_OK ? lc_session_settle_counts(tx, event, err) : status;
    }
    status = lc_summary_remove_after(tx, event, id, 0, err);
    if (status == LOCI_OK)
        status = lc_tx_exec(tx, &uncount_turns_sql, args, err);
    if (status == LOCI_OK)
        status = lc_tx_exec(tx, &uncount_messages_sql, args, err);
    if (status == LOCI_OK)
        status = lc_tx_exec(tx, &delete_messages_sql, args, err);
    if (status == LOCI_OK)
        status = lc_tx_exec(tx, &drop_withdrawals_sql, args, err);
    if (status == LOCI_OK && !lc_event_bool(refs, "keeps_session"))
        status = lc_tx_exec(tx, &delete_session_sql, args, err);
    lc_session_drop_cached(tx);
    return status == LOCI_OK ? lc_session_settle_counts(tx, event, err) : status;
}

static loci_status apply(lc_tx *tx, const lc_event *event, loci_error *err)
{
    lc_arena *arena = &tx->db->scratch;
    lc_arena_mark mark = lc_arena_get_mark(arena);
    lc_event_json json;
    loci_status status = lc_event_parse(event, arena, &json, err);

    if (status == LOCI_OK)
        status = apply_json(tx, event, json.refs, err);
    lc_arena_rewind(arena, mark);
    return status;
}

const lc_event_type lc_session_forgotten_event = {
    .name = "session.forgotten", .version = 1, .apply = apply, .forgets = true};
const lc_event_type lc_message_forgotten_event = {
    .name = "message.forgotten", .version = 1, .apply = apply, .forgets = true};
