/* message_corpus.c - the messages of a user as an index (recall/recall.h), and searching them. */
#include "session/message_corpus.h"

#include "base/error.h"
#include "recall/recall.h"
#include "text/word.h"

/* ---- The index ------------------------------------------------------------------------------- */

enum { SESSION_TAG, ROLE_TAG };

static const lc_sql texts_sql = {
    "select seq, observed_at, body, persona_id, session_id, role from messages"
    " where tenant_id = $1 and user_id = $2 and seq > $3 order by seq limit $4",
    "ttii", "iitttt"};

/* Messages that a rewind took back. */
static const lc_sql ended_sql = {"select seq from withdrawals where tenant_id = $1 and user_id = $2"
                                 " and by_seq > $3 and kind = 'message'",
                                 "tti", "i"};

const lc_recall_source lc_message_source = {
    .name = "message", .rows = &texts_sql, .ended = &ended_sql};
const lc_user_kind lc_message_corpus_kind = LC_RECALL_INDEX("message.corpus", &lc_message_source);

/* ---- Searching ------------------------------------------------------------------------------- */

static const lc_sql session_by_id_sql = {
    "select id from sessions where tenant_id = $1 and user_id = $2 and id = $3"
    " and persona_id in ('', $4)",
    "tttt", "t"};

static const lc_sql sessions_by_name_sql = {
    "select id from sessions where tenant_id = $1 and user_id = $2 and external_id = $3"
    " and persona_id in ('', $4) order by seq",
    "tttt", "t"};

static const lc_sql hits_sql = {
    "select {m.row}, s.external_id, m.seq from messages m left join sessions s"
    " on s.tenant_id = m.tenant_id and s.user_id = m.user_id and s.id = m.session_id"
    " where m.tenant_id = $1 and m.user_id = $2 and m.seq in " LC_RECALL_SEQS,
    LC_RECALL_SEQ_PARAMS, "ti", &lc_message_row};

/* The ids of the sessions that the query names. */
static loci_status find_sessions(lc_tx *tx, const lc_message_query *query, lc_arena *arena,
                                 lc_words *out, loci_error *err)
{
    bool is_id = lc_id_is(query->session, "ses");
    lc_arg args[] = {LC_T(tx->tenant_id), LC_T(tx->user_id), LC_T(query->session),
                     LC_T_OR_EMPTY(query->persona_id)};
    lc_rows rows;
    loci_status status = lc_tx_query(tx, is_id ? &session_by_id_sql : &sessions_by_name_sql, args,
                                     &rows, err);

    while (status == LOCI_OK && lc_rows_next(&rows, &status, err)) {
        loci_str id = lc_arena_copy(arena, lc_rows_str(&rows, 0));

        if (id.ptr == NULL || !lc_words_add(out, arena, id))
            status = lc_fail_memory(err);
    }
    lc_rows_end(&rows);
    if (status == LOCI_OK && is_id && out->count == 0)
        status = lc_fail(err, LOCI_ENOTFOUND, "session: there is no session %.*s",
                         LC_STR_ARG(query->session));
    return status;
}

static loci_status keep_external_id(void *item, const lc_rows *rows, lc_arena *arena,
                                    loci_error *err)
{
    lc_message_hit *hit = item;
    loci_str external_id = lc_rows_str(rows, rows->row_columns);

    if (external_id.ptr == NULL)
        return LOCI_OK;
    hit->external_id = lc_arena_copy(arena, external_id);
    return hit->external_id.ptr != NULL ? LOCI_OK : lc_fail_memory(err);
}

loci_status lc_message_search(lc_tx *tx, const lc_message_query *query, lc_arena *arena,
                              lc_message_hits *out, loci_error *err)
{
    lc_recall_query wanted = {.terms = query->terms,
                              .vector = query->vector,
                              .persona_id = query->persona_id,
                              .from_us = query->from_us,
                              .to_us = query->to_us,
                              .limit = query->limit,
                              .neighbours = query->with_neighbours ? LC_NEIGHBOURS_ADDED
                                                                   : LC_NEIGHBOURS_IGNORED};
    loci_str role = query->role;
    lc_str_list roles = {&role, 1}, sessions;
    lc_words ids = {0};
    lc_recall_hits hits = {0};
    lc_recall_rows rows = {.item_bytes = sizeof(lc_message_hit), .more = keep_external_id};
    loci_status status = LOCI_OK;

    *out = (lc_message_hits){0};
    if (role.len > 0)
        wanted.tags[ROLE_TAG] = &roles;
    if (query->session.len > 0) {
        status = find_sessions(tx, query, arena, &ids, err);
        sessions = (lc_str_list){ids.items, ids.count};
        wanted.tags[SESSION_TAG] = &sessions;
    }
    if (status == LOCI_OK)
        status = lc_recall_search(tx, &lc_message_corpus_kind, &wanted, arena, &hits, err);
    if (status == LOCI_OK)
        status = lc_recall_read(tx, &hits_sql, &hits, arena, &rows, err);
    if (status != LOCI_OK)
        return status;
    *out = (lc_message_hits){rows.items, hits.count, hits.total, hits.is_complete};
    for (size_t i = 0; i < hits.count; i++)
        out->items[i].score = hits.items[i].score;
    return LOCI_OK;
}
