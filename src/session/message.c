/* message.c - reading what was said. */
#include "session/session.h"

#include "base/str.h"

static const lc_sql messages_sql = {
    "select id, seq, session_id, role, speaker, body, persona_id, observed_at, recorded_at"
    " from messages where tenant_id = $1 and user_id = $2 and session_id = $3 and seq > $4"
    " and persona_id in ('', $5) order by seq limit $6",
    "tttiti", "titttttii"};

loci_status lc_session_each_message(lc_tx *tx, const lc_message_page *page, lc_message_visit *visit,
                                    void *ctx, loci_error *err)
{
    loci_str persona_id = page->persona_id.ptr != NULL ? page->persona_id : LC_STR("");
    lc_rows rows;
    loci_status status = lc_tx_query(tx, &messages_sql,
                                     (lc_arg[]){LC_T(tx->tenant_id), LC_T(tx->user_id),
                                                LC_T(page->session_id), LC_I(page->after_seq),
                                                LC_T(persona_id), LC_I(page->limit)},
                                     &rows, err);

    if (status != LOCI_OK)
        return status;
    while (lc_rows_next(&rows, &status, err)) {
        lc_message message = {
            .id = lc_rows_str(&rows, 0),
            .seq = lc_rows_i64(&rows, 1),
            .session_id = lc_rows_str(&rows, 2),
            .role = lc_rows_str(&rows, 3),
            .speaker = lc_rows_str(&rows, 4),
            .text = lc_rows_str(&rows, 5),
            .persona_id = lc_rows_str(&rows, 6),
            .observed_at = lc_rows_i64(&rows, 7),
            .recorded_at = lc_rows_i64(&rows, 8),
        };

        status = visit(ctx, &message, err);
        if (status != LOCI_OK)
            break;
    }
    lc_rows_end(&rows);
    return status;
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
