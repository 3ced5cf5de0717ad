/* session_forget.c - sessions and messages that are forgotten (recall/forget.h).
 *
 * A forgotten message has no row. A forgotten session has neither row, messages, identity nor
 * working set; if it also has messages of a persona that the caller does not see, those and the
 * session stay.
 *
 * The payload of session.opened is erased if the session has a name of the caller's; one without a
 * name may have been opened by another event, whose payload is not the session's.
 */
#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "recall/forget.h"
#include "session/session.h"
#include "session/session_event.h"
#include "session/working.h"

#define SESSIONS_MAX 1000 /* That one name stands for. */

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

typedef struct identities {
    loci_str session_id;
    lc_forgetting *f;
    int64_t seq; /* Of the last event that was read, */
    int64_t count;
} identities;

static loci_status collect_identity(void *ctx, const lc_event *event, loci_error *err)
{
    identities *i = ctx;

    i->seq = event->seq;
    i->count++;
    if (event->type != &lc_identity_set_event ||
        memmem(event->refs.ptr, event->refs.len, i->session_id.ptr, i->session_id.len) == NULL)
        return LOCI_OK;
    return lc_forget_add_event(i->f, event->seq, err);
}

/* No table says which events set the identity of a session: the log is read from its opening on. */
static loci_status collect_identities(lc_tx *tx, const lc_session *session, lc_forgetting *f,
                                      loci_error *err)
{
    identities i = {.session_id = session->id, .f = f, .seq = session->seq};
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
    oblivion->is_whole = hidden == 0;
    if (status != LOCI_OK || !oblivion->is_whole)
        return status;
    status = lc_forget_add(
        f,
        &(lc_forget_item){.kind = "session",
                          .id = session->id,
                          .seq = session->external_id.len > 0 ? session->seq : 0},
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

loci_status lc_message_decide_forget(lc_tx *tx, loci_str persona_id, loci_str id, lc_forgetting *f,
                                     loci_error *err)
{
    size_t count = 0;
    loci_status status = collect_messages(tx, &(lc_query){&message_sql, ARGS(tx, id, persona_id)},
                                          f, &count, err);

    if (status == LOCI_OK && count == 0)
        status = lc_fail(err, LOCI_ENOTFOUND, "no message %.*s", LC_STR_ARG(id));
    return status;
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

loci_status lc_message_commit_forget(lc_tx *tx, loci_str id, loci_error *err)
{
    return append(tx, &lc_message_forgotten_event, id, LC_STR_NONE, false, err);
}

/* ---- Applying -------------------------------------------------------------------------------- */

static const lc_sql delete_messages_sql = {"delete from messages where tenant_id = $1"
                                           " and user_id = $2 and session_id = $3"
                                           " and persona_id in ('', $4)",
                                           "tttt", NULL};

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
    if (event->type == &lc_message_forgotten_event)
        return lc_tx_exec(tx, &delete_message_sql, args, err);
    status = lc_tx_exec(tx, &delete_messages_sql, args, err);
    if (status == LOCI_OK && !lc_event_bool(refs, "keeps_session"))
        status = lc_tx_exec(tx, &delete_session_sql, args, err);
    lc_session_drop_cached(tx);
    return status;
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
