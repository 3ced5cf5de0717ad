/* session_write.c - the events of sessions: opened, ended, identified, a message. */
#include "session/session.h"

#include <stdio.h>

#include "base/assert.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/limits.h"
#include "base/str.h"
#include "session/session_event.h"
#include "session/summary.h"
#include "session/working.h"

/* Never moves the time back: lc_session_choose() has checked that the new time is later. */
static const lc_sql touch_sql = {
    "insert into session_activity (tenant_id, user_id, session_id, last_at)"
    " values ($1, $2, $3, $4) on conflict (tenant_id, user_id, session_id)"
    " do update set last_at = excluded.last_at",
    "ttti", NULL};

#define CARRIED_BYTES_MAX 1024 /* Enough for two ids, a time and a persona. */

/* The job of the summary is enqueued in the same transaction, so `persisting` is passed at once. */
static loci_status move_to_end(lc_session *session, lc_session_move move, int64_t ended_at,
                               loci_error *err)
{
    loci_status status = lc_session_make_move(&session->state, move, session->id, err);

    if (status == LOCI_OK)
        status = lc_session_make_move(&session->state, LC_SESSION_PERSISTED, session->id, err);
    session->ended_at = ended_at;
    session->end_reason = loci_str_of(lc_session_move_name(move));
    return status;
}

loci_status lc_session_end(lc_tx *tx, lc_session *session, lc_session_move move, int64_t ended_at,
                           loci_error *err)
{
    lc_event_draft d;
    loci_status status = move_to_end(session, move, ended_at, err);

    if (status != LOCI_OK)
        return status;
    lc_event_draft_begin(&d, tx);
    lc_jw_member_str(&d.refs, "id", session->id);
    lc_jw_member_str(&d.payload, "reason", session->end_reason);
    lc_jw_member_time(&d.payload, "ended_at", ended_at);
    status = lc_event_draft_append(&d, tx, &(lc_append){.type = &lc_session_ended_event}, NULL,
                                   err);
    if (status == LOCI_OK)
        status = lc_summary_note_end(tx, session->id, err);
    return status == LOCI_OK ? lc_working_clear(tx, session->id, err) : status;
}

/* A session whose row is active and that has been idle for too long. */
static lc_session idle_one(const lc_id *id)
{
    return (lc_session){.id = lc_id_str(id), .state = LC_SESSION_ACTIVE};
}

/* "session":{"ended":…,"ended_at":…,"opened":…,"persona_id":…} for the refs of the next event. */
static loci_status carry_opening(lc_tx *tx, const lc_session_use *use, loci_error *err)
{
    loci_str stale_id = lc_id_str(&use->stale_id);
    lc_session stale = idle_one(&use->stale_id);
    lc_json_writer out;
    lc_buf text;
    loci_status status = LOCI_OK;

    if (stale_id.len > 0)
        status = move_to_end(&stale, LC_SESSION_GONE_IDLE, use->stale_ended_at, err);
    if (status != LOCI_OK)
        return status;
    lc_buf_init(&text, &tx->db->env->heap, LOCI_MEM_WAL, CARRIED_BYTES_MAX);
    lc_jw_init(&out, &text);
    lc_jw_object(&out);
    lc_jw_name(&out, "session");
    lc_jw_object(&out);
    if (stale_id.len > 0) {
        lc_jw_member_str(&out, "ended", stale_id);
        lc_jw_member_time(&out, "ended_at", use->stale_ended_at);
    }
    lc_jw_member_str(&out, "opened", use->session.id);
    if (use->session.persona_id.len > 0)
        lc_jw_member_str(&out, "persona_id", use->session.persona_id);
    lc_jw_end(&out);
    lc_jw_end(&out);
    status = lc_buf_status(&text, err);
    if (status == LOCI_OK) /* Without the outer braces. */
        status = lc_tx_carry(tx, (loci_str){text.ptr + 1, text.len - 2}, err);
    if (status == LOCI_OK && stale_id.len > 0)
        status = lc_summary_note_end(tx, stale_id, err);
    if (status == LOCI_OK && stale_id.len > 0)
        status = lc_working_clear(tx, stale_id, err);
    lc_buf_clear(&text);
    return status;
}

loci_status lc_session_begin(lc_tx *tx, lc_session_use *use, bool has_event, loci_error *err)
{
    lc_session stale = idle_one(&use->stale_id);
    loci_status status = LOCI_OK;

    if (use->is_new)
        status = lc_session_make_move(&use->session.state, LC_SESSION_LOADED, use->session.id, err);
    if (status == LOCI_OK && use->is_new)
        status = lc_session_make_move(&use->session.state, LC_SESSION_BEGUN, use->session.id, err);
    if (status == LOCI_OK && use->is_new && has_event && use->session.external_id.len == 0)
        return carry_opening(tx, use, err);
    if (status == LOCI_OK && stale.id.len > 0)
        status = lc_session_end(tx, &stale, LC_SESSION_GONE_IDLE, use->stale_ended_at, err);
    if (status == LOCI_OK && use->is_new)
        status = lc_row_append(tx, &lc_session_opened_event, &lc_session_row, &use->session, NULL,
                               err);
    if (use->needs_touch)
        lc_session_drop_cached(tx);
    if (status == LOCI_OK && use->needs_touch)
        status = lc_tx_exec(tx, &touch_sql,
                            (lc_arg[]){LC_T(tx->tenant_id), LC_T(tx->user_id),
                                       LC_T(use->session.id), LC_I(tx->now_us)},
                            err);
    return status;
}

loci_status lc_session_begin_lazily(lc_tx *tx, lc_session_use *use, bool has_event, loci_error *err)
{
    if (!has_event && use->is_new && use->session.external_id.len == 0)
        return LOCI_OK;
    return lc_session_begin(tx, use, has_event, err);
}

/* ---- The sweep of idle sessions ----------------------------------------------------------------
 *
 * Every reader treats a session that was idle for too long as ended, and the user's next write
 * records it in the log. For a user who never writes again the sweep records it, with the time at
 * which the session ended; otherwise its row and working set would stay. */

#define IDLE_PAGE 16
#define MINUTE_US INT64_C(60000000)
#define OPEN_FUTURE_US (INT64_C(1000) * 365 * 86400 * 1000000) /* Later than any activity. */

static const lc_sql users_sql = {
    "select tenant_id, user_id from sessions where state = 'active'"
    " and (tenant_id, user_id) > ($1, $2) order by tenant_id, user_id limit 1",
    "tt", "tt"};

/* The same rule as in session_find.c: idle since the last activity, or since the opening. */
static const lc_sql idle_sql = {
    "select s.id, case when a.last_at > s.opened_at then a.last_at else s.opened_at end"
    " from sessions s left join session_activity a on a.tenant_id = s.tenant_id"
    " and a.user_id = s.user_id and a.session_id = s.id"
    " where s.tenant_id = $1 and s.user_id = $2 and s.state = 'active' and s.opened_at <= $3"
    " and (a.last_at is null or a.last_at <= $3) order by s.seq limit $4",
    "ttii", "ti"};

typedef struct idle_session {
    lc_id id;
    int64_t last_at;
} idle_session;

static loci_status find_idle(lc_tx *tx, int64_t idle_us, idle_session out[IDLE_PAGE], size_t *count,
                             loci_error *err)
{
    lc_rows rows;
    loci_status status = lc_tx_query(tx, &idle_sql,
                                     (lc_arg[]){LC_T(tx->tenant_id), LC_T(tx->user_id),
                                                LC_I(tx->now_us - idle_us), LC_I(IDLE_PAGE)},
                                     &rows, err);

    *count = 0;
    while (status == LOCI_OK && lc_rows_next(&rows, &status, err)) {
        loci_str id = lc_rows_str(&rows, 0);
        idle_session *session = &out[*count];

        if (id.len >= sizeof session->id.text)
            continue; /* Not an id of loci; verify reports it. */
        memcpy(session->id.text, id.ptr, id.len);
        session->id.text[id.len] = '\0';
        session->last_at = lc_rows_i64(&rows, 1);
        ++*count;
    }
    lc_rows_end(&rows);
    return status;
}

static loci_status has_idle(lc_tx *tx, int64_t idle_minutes, bool *out, loci_error *err)
{
    idle_session idle[IDLE_PAGE];
    size_t count;
    loci_status status = find_idle(tx, idle_minutes * MINUTE_US, idle, &count, err);

    *out = status == LOCI_OK && count > 0;
    return status;
}

/* Ends idle sessions of the user, of all personas. */
static loci_status end_idle(lc_tx *tx, int64_t idle_minutes, int64_t *out, loci_error *err)
{
    int64_t idle_us = idle_minutes * MINUTE_US;
    idle_session idle[IDLE_PAGE];
    size_t count = 0;
    loci_status status;

    *out = 0;
    do {
        status = find_idle(tx, idle_us, idle, &count, err);
        for (size_t i = 0; i < count && status == LOCI_OK; i++) {
            lc_session session = idle_one(&idle[i].id);

            status = lc_session_end(tx, &session, LC_SESSION_GONE_IDLE, idle[i].last_at + idle_us,
                                    err);
            *out += status == LOCI_OK;
        }
    } while (status == LOCI_OK && count == IDLE_PAGE && *out < LC_SWEEP_ITEMS);
    return status;
}

/* Ends open sessions of the user; sessions that were already idle end with the reason idle. */
static loci_status shut_down(lc_tx *tx, int64_t idle_minutes, int64_t *out, loci_error *err)
{
    idle_session open[IDLE_PAGE];
    size_t count = 0;
    loci_status status = end_idle(tx, idle_minutes, out, err);

    while (status == LOCI_OK && *out < LC_SWEEP_ITEMS) {
        status = find_idle(tx, -OPEN_FUTURE_US, open, &count, err);
        for (size_t i = 0; i < count && status == LOCI_OK; i++) {
            lc_session session = idle_one(&open[i].id);

            status = lc_session_end(tx, &session, LC_SESSION_SHUT_DOWN, tx->now_us, err);
            *out += status == LOCI_OK;
        }
        if (count < IDLE_PAGE)
            break;
    }
    return status;
}

static loci_status has_open(lc_tx *tx, int64_t idle_minutes, bool *out, loci_error *err)
{
    (void)tx, (void)idle_minutes, (void)err; /* users_sql finds only users with an open session. */
    *out = true;
    return LOCI_OK;
}

const lc_sweep lc_session_shutdown = {
    .name = "sessions",
    .users = &users_sql,
    .setting = &lc_setting_session_idle_minutes,
    .is_due = has_open,
    .run = shut_down,
};

const lc_sweep lc_session_sweep = {
    .name = "sessions",
    .users = &users_sql,
    .setting = &lc_setting_session_idle_minutes,
    .is_due = has_idle,
    .run = end_idle,
};

loci_status lc_session_identify(lc_tx *tx, lc_session_use *use, const lc_identity *identity,
                                bool replaces, loci_error *err)
{
    loci_status status;
    lc_event_draft d;

    if (use->session.identity.user_name.ptr != NULL && !replaces)
        return lc_fail(err, LOCI_EFORBIDDEN,
                       "the identity of session %.*s is set; a new session may have another",
                       LC_STR_ARG(use->session.id));
    status = lc_session_begin(tx, use, true, err);
    if (status != LOCI_OK)
        return status;
    lc_event_draft_begin(&d, tx);
    lc_jw_member_str(&d.refs, "session_id", use->session.id);
    lc_row_encode(&lc_identity_row, identity, LC_COL_PAYLOAD, &d.payload);
    return lc_event_draft_append(&d, tx, &(lc_append){.type = &lc_identity_set_event}, NULL, err);
}

/* ---- Messages -------------------------------------------------------------------------------- */

/* The name is a hash, because it stays in the log when the message is forgotten. It covers both
 * ids, because the persona is forgotten, too. */
static void make_name(loci_str persona_id, loci_str external_id, char out[LC_HASH_TEXT_BYTES])
{
    lc_hash128_format(lc_hash128_chain(lc_hash128_of(persona_id), external_id), out);
}

static const lc_sql has_sql = {"select 1 from messages where tenant_id = $1 and user_id = $2"
                               " and id = $3 and persona_id in ('', $4)",
                               "tttt", "i"};

static const lc_sql load_sql = {"select {row} from messages where tenant_id = $1 and user_id = $2"
                                " and id = $3 and persona_id in ('', $4)",
                                "tttt", "", &lc_message_row};

loci_status lc_session_load_message(lc_tx *tx, loci_str persona_id, loci_str id, lc_arena *arena,
                                    lc_message *out, loci_error *err)
{
    const lc_arg args[] = {LC_T(tx->tenant_id), LC_T(tx->user_id), LC_T(id),
                           LC_T_OR_EMPTY(persona_id)};
    bool found;
    loci_status status = lc_row_find(tx, &(lc_query){&load_sql, args}, arena, out, &found, err);

    if (status == LOCI_OK && !found)
        status = lc_fail(err, LOCI_ENOTFOUND, "no message %.*s", LC_STR_ARG(id));
    return status;
}

loci_status lc_session_has_message(lc_tx *tx, loci_str persona_id, loci_str id, bool *out,
                                   loci_error *err)
{
    lc_rows rows = {0};
    loci_status status = lc_tx_find(
        tx, &has_sql,
        (lc_arg[]){LC_T(tx->tenant_id), LC_T(tx->user_id), LC_T(id), LC_T_OR_EMPTY(persona_id)},
        &rows, out, err);

    lc_rows_end(&rows);
    return status;
}

static const lc_sql use_sql = {
    "select message_id, session_id, seq from message_names where tenant_id = $1 and user_id = $2"
    " and name = $3",
    "ttt", "tti"};

loci_status lc_session_find_message_use(lc_tx *tx, const lc_message *message, lc_arena *arena,
                                        lc_message_use *out, bool *found, loci_error *err)
{
    char name[LC_HASH_TEXT_BYTES];
    lc_rows rows = {0};
    loci_status status;

    make_name(message->persona_id, message->external_id, name);
    status = lc_tx_find(tx, &use_sql,
                        (lc_arg[]){LC_T(tx->tenant_id), LC_T(tx->user_id), LC_T(loci_str_of(name))},
                        &rows, found, err);
    if (status == LOCI_OK && *found) {
        *out = (lc_message_use){lc_arena_copy(arena, lc_rows_str(&rows, 0)),
                                lc_arena_copy(arena, lc_rows_str(&rows, 1)), lc_rows_i64(&rows, 2)};
        if (out->message_id.ptr == NULL || out->session_id.ptr == NULL)
            status = lc_fail_memory(err);
    }
    lc_rows_end(&rows);
    return status;
}

static loci_status carry_name(lc_tx *tx, const lc_message *message, loci_error *err)
{
    char name[LC_HASH_TEXT_BYTES], text[sizeof LC_MESSAGE_NAME + LC_HASH_TEXT_BYTES + 8];

    make_name(message->persona_id, message->external_id, name);
    (void)snprintf(text, sizeof text, "\"" LC_MESSAGE_NAME "\":\"%s\"", name); /* Fits. */
    return lc_tx_carry(tx, loci_str_of(text), err);
}

loci_status lc_session_carry_source(lc_tx *tx, loci_str message_id, loci_error *err)
{
    char *text = lc_arena_alloc(&tx->db->tx_memory, message_id.len + 3);

    LC_ASSERT(lc_id_is(message_id, "msg"));
    if (text == NULL)
        return lc_fail_memory(err);
    (void)snprintf(text, message_id.len + 3, "\"%.*s\"", LC_STR_ARG(message_id)); /* Fits. */
    tx->source = (loci_str){text, message_id.len + 2};
    return LOCI_OK;
}

loci_status lc_session_append_message(lc_tx *tx, const lc_message *message, lc_id *out_id,
                                      int64_t *out_seq, loci_error *err)
{
    lc_message row = *message;
    loci_status status = lc_tx_make_id(tx, "msg", out_id, err);

    row.id = lc_id_str(out_id);
    if (status == LOCI_OK && row.observed_at == LOCI_AT_CLOCK)
        status = lc_tx_recorded_at(tx, &row.observed_at, err);
    if (status == LOCI_OK && row.external_id.len > 0)
        status = carry_name(tx, &row, err);
    return status == LOCI_OK
               ? lc_row_append(tx, &lc_session_message_event, &lc_message_row, &row, out_seq, err)
               : status;
}
