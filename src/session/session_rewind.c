/* session_rewind.c - messages that a rewind takes back (recall/rewind.h).
 *
 * The event session.rewound names the last message that stays. Its `apply` deletes the rows of the
 * later messages, except those of personas that the caller does not see, subtracts their turns and
 * lists them in `withdrawals`, from which the index of messages learns that they are gone. Their
 * external ids can be used again, because a person who edits a message sends it a second time. Only
 * messages that were forgotten before the rewind keep their external ids, so that they do not come
 * back. The event lists those ids, because a replay cannot distinguish these messages from messages
 * that were forgotten later.
 */
#include "base/error.h"
#include "base/str.h"
#include "recall/rewind.h"
#include "session/session.h"
#include "session/session_event.h"
#include "session/summary.h"

/* ---- Deciding -------------------------------------------------------------------------------- */

static const lc_sql message_sql = {
    "select {row} from messages where tenant_id = $1 and user_id = $2 and id = $3"
    " and persona_id in ('', $4)",
    "tttt", "", &lc_message_row};

static const lc_sql hidden_sql = {
    "select seq from messages where tenant_id = $1 and user_id = $2 and session_id = $3"
    " and seq > $5 and persona_id not in ('', $4)",
    "tttti", "i"};

#define LATER                                                                                      \
    " where tenant_id = $1 and user_id = $2 and session_id = $3 and seq > $5"                      \
    " and persona_id in ('', $4)"

static const lc_sql later_sql = {"select {row} from messages" LATER " order by seq", "tttti", "",
                                 &lc_message_row};

loci_status lc_session_decide_rewind(const lc_session_ref *ref, loci_str message_id, lc_rewind *r,
                                     loci_error *err)
{
    const lc_arg which[] = {LC_T(r->tx->tenant_id), LC_T(r->tx->user_id), LC_T(message_id),
                            LC_T_OR_EMPTY(ref->persona_id)};
    lc_message message;
    lc_rows rows;
    bool found, is_named = true;
    loci_status status = lc_row_find(r->tx, &(lc_query){&message_sql, which}, r->arena, &message,
                                     &found, err);

    if (status == LOCI_OK && found && ref->session_id.len > 0)
        status = lc_session_is_named(r->tx, message.session_id, ref->session_id, &is_named, err);
    if (status == LOCI_OK && (!found || !is_named))
        status = lc_fail(err, LOCI_ENOTFOUND, "no message %.*s%s%.*s", LC_STR_ARG(message_id),
                         found ? " in session " : "", LC_STR_ARG(ref->session_id));
    if (status != LOCI_OK)
        return status;
    r->session_id = message.session_id;
    r->message_id = message.id;
    r->persona_id = ref->persona_id;
    r->after_seq = message.seq;
    status = lc_tx_query(r->tx, &hidden_sql,
                         (lc_arg[]){LC_T(r->tx->tenant_id), LC_T(r->tx->user_id),
                                    LC_T(r->session_id), LC_T_OR_EMPTY(r->persona_id),
                                    LC_I(r->after_seq)},
                         &rows, err);
    while (status == LOCI_OK && lc_rows_next(&rows, &status, err))
        status = lc_rewind_keep(r, lc_rows_i64(&rows, 0), err);
    lc_rows_end(&rows);
    return status;
}

loci_status lc_session_list_rewind(lc_rewind *r, loci_error *err)
{
    lc_rows rows;
    lc_message message = {0};
    loci_status status = lc_tx_query(r->tx, &later_sql,
                                     (lc_arg[]){LC_T(r->tx->tenant_id), LC_T(r->tx->user_id),
                                                LC_T(r->session_id), LC_T_OR_EMPTY(r->persona_id),
                                                LC_I(r->after_seq)},
                                     &rows, err);

    while (lc_row_next(&rows, &message, &status, err))
        status = lc_rewind_add(
            r, &(lc_rewind_item){"message", "withdrawn", message.id, message.text}, err);
    lc_rows_end(&rows);
    return status;
}

/* ---- Recording ------------------------------------------------------------------------------- */

/* Names of messages that were forgotten or belong to another persona. */
static const lc_sql kept_names_sql = {
    "select n.name, n.message_id, n.seq from message_names n left join messages m"
    " on m.tenant_id = n.tenant_id and m.user_id = n.user_id and m.seq = n.seq"
    " where n.tenant_id = $1 and n.user_id = $2 and n.session_id = $3 and n.seq > $5"
    " and (m.seq is null or m.persona_id not in ('', $4)) order by n.seq",
    "tttti", "tti"};

static loci_status put_kept_names(const lc_rewind *r, lc_json_writer *out, loci_error *err)
{
    lc_rows rows;
    loci_status status = lc_tx_query(r->tx, &kept_names_sql,
                                     (lc_arg[]){LC_T(r->tx->tenant_id), LC_T(r->tx->user_id),
                                                LC_T(r->session_id), LC_T_OR_EMPTY(r->persona_id),
                                                LC_I(r->after_seq)},
                                     &rows, err);

    lc_jw_name(out, "kept");
    lc_jw_array(out);
    while (status == LOCI_OK && lc_rows_next(&rows, &status, err)) {
        lc_jw_object(out);
        lc_jw_member_str(out, "name", lc_rows_str(&rows, 0));
        lc_jw_member_str(out, "message_id", lc_rows_str(&rows, 1));
        lc_jw_member_int(out, "seq", lc_rows_i64(&rows, 2));
        lc_jw_end(out);
    }
    lc_jw_end(out);
    lc_rows_end(&rows);
    return status;
}

loci_status lc_session_commit_rewind(lc_rewind *r, int64_t *out_seq, loci_error *err)
{
    lc_event_draft draft;
    loci_status status, appended;

    status = lc_summary_redo_after(r->tx, r->session_id, r->after_seq, err);
    if (status != LOCI_OK)
        return status;
    lc_event_draft_begin(&draft, r->tx);
    lc_jw_member_str(&draft.refs, "id", r->session_id);
    lc_jw_member_str(&draft.refs, "to", r->message_id);
    lc_jw_member_int(&draft.refs, "after", r->after_seq);
    if (r->persona_id.len > 0)
        lc_jw_member_str(&draft.refs, "persona_id", r->persona_id);
    status = put_kept_names(r, &draft.refs, err);
    appended = lc_event_draft_append(&draft, r->tx, &(lc_append){.type = &lc_session_rewound_event},
                                     out_seq, err);
    return status == LOCI_OK ? appended : status;
}

/* ---- Applying -------------------------------------------------------------------------------- */

static const lc_sql uncount_turns_sql = {
    "update sessions set turn_count = turn_count - (select count(*) from messages" LATER
    " and role = 'user') where tenant_id = $1 and user_id = $2 and id = $3",
    "tttti", NULL};

static const lc_sql uncount_messages_sql = {
    "update message_counts set message_count = message_count - (select count(*) from messages m"
    " where m.tenant_id = $1 and m.user_id = $2 and m.session_id = $3 and m.seq > $5"
    " and m.persona_id = message_counts.persona_id and m.role = 'user')"
    " where tenant_id = $1 and user_id = $2 and persona_id in ('', $4)",
    "tttti", NULL};

static const lc_sql note_sql = {
    "insert into withdrawals (tenant_id, user_id, seq, kind, id, session_id, by_seq)"
    " select tenant_id, user_id, seq, 'message', id, session_id, $6 from messages" LATER,
    "ttttii", NULL};

static const lc_sql delete_names_sql = {
    "delete from message_names where tenant_id = $1 and user_id = $2 and session_id = $3"
    " and seq > $4",
    "ttti", NULL};

static const lc_sql delete_messages_sql = {"delete from messages" LATER, "tttti", NULL};

static const lc_sql keep_name_sql = {
    "insert into message_names (tenant_id, user_id, name, message_id, session_id, seq)"
    " values ($1, $2, $3, $4, $5, $6)",
    "ttttti", NULL};

static const lc_sql *const steps[] = {&uncount_turns_sql, &uncount_messages_sql, &note_sql,
                                      &delete_messages_sql};

static loci_status keep_names(lc_tx *tx, const lc_event *event, const lc_json *refs,
                              loci_error *err)
{
    const lc_json *kept = lc_json_find(refs, "kept", LC_JSON_ARRAY);
    loci_status status = LOCI_OK;

    for (const lc_json *each = kept != NULL ? lc_json_first(kept) : NULL;
         each != NULL && status == LOCI_OK; each = lc_json_next(each))
        status = lc_tx_exec(
            tx, &keep_name_sql,
            (lc_arg[]){LC_T(event->tenant_id), LC_T(event->user_id),
                       LC_T(lc_event_str(each, "name")), LC_T(lc_event_str(each, "message_id")),
                       LC_T(lc_event_str(refs, "id")), LC_I(lc_event_int(each, "seq", 0))},
            err);
    return status;
}

static loci_status apply_json(lc_tx *tx, const lc_event *event, const lc_json *refs,
                              loci_error *err)
{
    loci_str id = lc_event_str(refs, "id");
    const lc_arg args[] = {LC_T(event->tenant_id),
                           LC_T(event->user_id),
                           LC_T(id),
                           LC_T_OR_EMPTY(lc_event_str(refs, "persona_id")),
                           LC_I(lc_event_int(refs, "after", INT64_MAX)),
                           LC_I(event->seq)};
    loci_status status = LOCI_OK;

    if (id.len == 0)
        return lc_event_fail(event, err);
    status = lc_summary_withdraw(tx, event, id, lc_event_int(refs, "after", INT64_MAX), err);
    for (size_t i = 0; i < sizeof steps / sizeof steps[0] && status == LOCI_OK; i++)
        status = lc_tx_exec(tx, steps[i], args, err);
    if (status == LOCI_OK)
        status = lc_tx_exec(tx, &delete_names_sql, (lc_arg[]){args[0], args[1], args[2], args[4]},
                            err);
    if (status == LOCI_OK)
        status = keep_names(tx, event, refs, err);
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

const lc_event_type lc_session_rewound_event = {
    .name = "session.rewound", .version = 1, .apply = apply};
