/* message.c - reading what was said. */
#include "session/session.h"

#include "base/str.h"

#define MESSAGE_COLUMNS                                                                            \
    "id, seq, session_id, role, speaker, body, persona_id, observed_at, recorded_at"
#define MESSAGE_KINDS "titttttii"

static const lc_sql messages_sql = {
    "select " MESSAGE_COLUMNS
    " from messages where tenant_id = $1 and user_id = $2 and session_id = $3 and seq > $4"
    " and persona_id in ('', $5) order by seq limit $6",
    "tttiti", MESSAGE_KINDS};

static const lc_sql last_of_session_sql = {
    "select " MESSAGE_COLUMNS
    " from messages where tenant_id = $1 and user_id = $2 and session_id = $3"
    " and persona_id in ('', $4) order by seq desc limit $5",
    "tttti", MESSAGE_KINDS};

static const lc_sql last_sql = {"select " MESSAGE_COLUMNS
                                " from messages where tenant_id = $1 and user_id = $2"
                                " and persona_id in ('', $3) order by seq desc limit $4",
                                "ttti", MESSAGE_KINDS};

static lc_message message_from(const lc_rows *rows)
{
    return (lc_message){
        .id = lc_rows_str(rows, 0),
        .seq = lc_rows_i64(rows, 1),
        .session_id = lc_rows_str(rows, 2),
        .role = lc_rows_str(rows, 3),
        .speaker = lc_rows_str(rows, 4),
        .text = lc_rows_str(rows, 5),
        .persona_id = lc_rows_str(rows, 6),
        .observed_at = lc_rows_i64(rows, 7),
        .recorded_at = lc_rows_i64(rows, 8),
    };
}

typedef struct message_query {
    const lc_sql *sql;
    const lc_arg *args;
} message_query;

static loci_status walk(lc_tx *tx, const message_query *query, lc_message_visit *visit, void *ctx,
                        loci_error *err)
{
    lc_rows rows;
    loci_status status = lc_tx_query(tx, query->sql, query->args, &rows, err);

    if (status != LOCI_OK)
        return status;
    while (lc_rows_next(&rows, &status, err)) {
        lc_message message = message_from(&rows);

        status = visit(ctx, &message, err);
        if (status != LOCI_OK)
            break;
    }
    lc_rows_end(&rows);
    return status;
}

static loci_str or_empty(loci_str text)
{
    return text.ptr != NULL ? text : LC_STR("");
}

loci_status lc_session_each_message(lc_tx *tx, const lc_message_page *page, lc_message_visit *visit,
                                    void *ctx, loci_error *err)
{
    lc_arg args[] = {LC_T(tx->tenant_id),
                     LC_T(tx->user_id),
                     LC_T(page->session_id),
                     LC_I(page->after_seq),
                     LC_T(or_empty(page->persona_id)),
                     LC_I(page->limit)};

    return walk(tx, &(message_query){&messages_sql, args}, visit, ctx, err);
}

loci_status lc_session_each_last_message(lc_tx *tx, const lc_message_page *page,
                                         lc_message_visit *visit, void *ctx, loci_error *err)
{
    loci_str persona_id = or_empty(page->persona_id);
    lc_arg of_session[] = {LC_T(tx->tenant_id), LC_T(tx->user_id), LC_T(page->session_id),
                           LC_T(persona_id), LC_I(page->limit)};
    lc_arg of_all[] = {LC_T(tx->tenant_id), LC_T(tx->user_id), LC_T(persona_id), LC_I(page->limit)};

    if (page->session_id.len > 0)
        return walk(tx, &(message_query){&last_of_session_sql, of_session}, visit, ctx, err);
    return walk(tx, &(message_query){&last_sql, of_all}, visit, ctx, err);
}

void lc_message_put(lc_json_writer *out, const lc_message *message)
{
    lc_jw_object(out);
    lc_jw_member_str(out, "id", message->id);
    lc_jw_member_str(out, "session_id", message->session_id);
    lc_jw_member_str(out, "role", message->role);
    if (message->speaker.len > 0)
        lc_jw_member_str(out, "speaker", message->speaker);
    lc_jw_member_str(out, "text", message->text);
    if (message->persona_id.len > 0)
        lc_jw_member_str(out, "persona_id", message->persona_id);
    lc_jw_member_time(out, "at", message->observed_at);
    lc_jw_member_time(out, "recorded_at", message->recorded_at);
    lc_jw_member_int(out, "seq", message->seq);
    lc_jw_end(out);
}
