/* summary.c - see summary.h.
 *
 * Forgetting needs no list of sources: a summary of a session was made from all messages between
 * its two seqs, and a spine may repeat anything that was recorded before it. So the summaries to
 * remove follow from seqs alone, also when a model has written them.
 */
#include "session/summary.h"

#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "store/event.h"
#include "store/job.h"
#include "store/withdrawal.h"

static const lc_column columns[] = {
    LC_COLUMN("tenant_id", 't'),
    LC_COLUMN("user_id", 't'),
    LC_STRING_COLUMN(lc_summary, id, "id", LC_COL_REFS | LC_COL_CODED | LC_COL_REQUIRED,
                     .help = "Id of the summary (sum_...)"),
    LC_INTEGER_COLUMN(lc_summary, seq, "seq", LC_COL_EVENT),
    LC_STRING_COLUMN(lc_summary, kind, "kind", LC_COL_REFS | LC_COL_CODED | LC_COL_REQUIRED,
                     .choices = LC_SUMMARY_KINDS, .help = "Kind of summary"),
    LC_STRING_COLUMN(lc_summary, session_id, "session_id", LC_COL_REFS | LC_COL_SHOWN, .absent = "",
                     .help = "Session it is about; absent for a spine"),
    LC_STRING_COLUMN(lc_summary, persona_id, "persona_id", LC_COL_PAYLOAD | LC_COL_SHOWN,
                     .absent = "", .help = "Persona it belongs to; absent if it belongs to all"),
    LC_INTEGER_COLUMN(lc_summary, version, "version",
                      LC_COL_PAYLOAD | LC_COL_CODED | LC_COL_REQUIRED,
                      .help = "Number of this version, from 1"),
    LC_STRING_COLUMN(lc_summary, text, "body", LC_COL_PAYLOAD | LC_COL_CODED | LC_COL_REQUIRED,
                     .absent = "", .json = "text", .help = "The summary as text"),
    LC_OBJECT_COLUMN(lc_summary, content, "content", LC_COL_NULL | LC_COL_PAYLOAD | LC_COL_SHOWN,
                     .help = "Its parts; absent for a rolling summary"),
    LC_STRING_COLUMN(lc_summary, method, "method", LC_COL_PAYLOAD | LC_COL_CODED | LC_COL_REQUIRED,
                     .absent = "extract", .choices = "extract|model",
                     .help = "Whether sentences were extracted or a model wrote it"),
    LC_STRING_COLUMN(lc_summary, error, "error", LC_COL_NULL | LC_COL_PAYLOAD | LC_COL_SHOWN,
                     .help = "Code of the error because of which the model was not used"),
    LC_INTEGER_COLUMN(lc_summary, from_seq, "from_seq", LC_COL_PAYLOAD | LC_COL_SHOWN,
                      .help = "seq of the first message it was made from"),
    LC_INTEGER_COLUMN(lc_summary, to_seq, "to_seq", LC_COL_PAYLOAD | LC_COL_SHOWN,
                      .help = "seq of the last message it was made from"),
    LC_INTEGER_COLUMN(lc_summary, message_count, "message_count", LC_COL_PAYLOAD | LC_COL_REQUIRED,
                      .help = "Number of messages it was made from; of a spine: user messages of "
                              "the persona so far"),
    LC_INTEGER_COLUMN(lc_summary, turn_count, "turn_count", LC_COL_PAYLOAD | LC_COL_SHOWN,
                      .help = "Turns of the session so far; absent for a spine"),
    LC_STRINGS_COLUMN(lc_summary, sources, "sources", LC_COL_PAYLOAD | LC_COL_REQUIRED,
                      .absent = "[]",
                      .help = "Ids of the messages, memories and todos that it repeats"),
    LC_TIME_COLUMN(lc_summary, recorded_at, "recorded_at", LC_COL_EVENT | LC_COL_REQUIRED,
                   .help = "Time at which it was made"),
    {0},
};

const lc_row_type lc_summary_row = {columns, 0, sizeof(lc_summary)};

static const lc_index indexes[] = {
    {"session", "tenant_id, user_id, session_id, kind, seq", NULL, false},
    {NULL, NULL, NULL, false},
};

static const lc_sql forget_sql = {"delete from summaries where tenant_id = $1 and user_id = $2",
                                  "tt", NULL};

const lc_table lc_summaries_table = {
    .name = "summaries",
    .table_class = LC_TABLE_PROJECTION,
    .columns = columns,
    .key = "tenant_id, user_id, seq",
    .indexes = indexes,
    .forget = &forget_sql,
};

const lc_setting lc_setting_summary_rolling_turns = {
    .name = "summary.rolling_turns",
    .kind = LC_SETTING_INT,
    .default_text = "4",
    .min = 0,
    .max = 1000,
    .help = "Turns of a session between two rolling summaries; 0 makes none",
    .is_live = true,
    .is_per_tenant = true,
};

const lc_setting lc_setting_summary_spine_messages = {
    .name = "summary.spine_messages",
    .kind = LC_SETTING_INT,
    .default_text = "20",
    .min = 0,
    .max = 10000,
    .help = "User messages between two versions of the spine, the summary of everything known "
            "about a user; 0 makes none",
    .is_live = true,
    .is_per_tenant = true,
};

/* ---- Writing --------------------------------------------------------------------------------- */

static const lc_sql insert_sql = {
    "insert into summaries (tenant_id, user_id, {row}) values ($1, $2, {values})", "tt", NULL,
    &lc_summary_row};

const lc_event_type lc_summary_made_event = {
    .name = "summary.made", .version = 1, .insert = &insert_sql};

static const lc_sql version_sql = {
    "select max(version) from summaries where tenant_id = $1 and user_id = $2 and session_id = $3"
    " and kind = $4 and persona_id = $5",
    "ttttt", "i"};

loci_status lc_summary_add(lc_tx *tx, lc_summary *summary, lc_id *out_id, loci_error *err)
{
    const lc_arg args[] = {LC_T(tx->tenant_id), LC_T(tx->user_id), LC_T(summary->session_id),
                           LC_T(summary->kind), LC_T(summary->persona_id)};
    loci_status status;

    summary->version = 0;
    status = lc_tx_find_numbers(tx, &version_sql, args, &summary->version, err);
    summary->version++;
    if (status == LOCI_OK)
        status = lc_tx_make_id(tx, "sum", out_id, err);
    if (status == LOCI_OK)
        status = lc_tx_recorded_at(tx, &summary->recorded_at, err);
    summary->id = lc_id_str(out_id);
    return status == LOCI_OK ? lc_row_append(tx, &lc_summary_made_event, &lc_summary_row, summary,
                                             &summary->seq, err)
                             : status;
}

/* ---- Reading --------------------------------------------------------------------------------- */

#define SELECT "select {row} from summaries where tenant_id = $1 and user_id = $2"

static const lc_sql last_sql = {SELECT " and session_id = $3 and kind = $4 and persona_id = $5"
                                       " order by seq desc limit 1",
                                "ttttt", "", &lc_summary_row};

static const lc_sql each_sql = {SELECT
                                " and persona_id in ('', $3) and seq < $4"
                                " and ($5 = '' or kind = $5) and ($6 = '' or session_id = $6)"
                                " order by seq desc limit $7",
                                "tttitti", "", &lc_summary_row};

static const lc_sql load_sql = {SELECT " and persona_id in ('', $3) and seq = $4", "ttti", "",
                                &lc_summary_row};

loci_status lc_summary_each(lc_tx *tx, const lc_summary_ref *ref, int64_t before_seq, int64_t limit,
                            lc_summary_visit *visit, void *ctx, loci_error *err)
{
    lc_rows rows;
    lc_summary summary;
    loci_status status = lc_tx_query(tx, &each_sql,
                                     (lc_arg[]){LC_T(tx->tenant_id), LC_T(tx->user_id),
                                                LC_T_OR_EMPTY(ref->persona_id), LC_I(before_seq),
                                                LC_T_OR_EMPTY(ref->kind),
                                                LC_T_OR_EMPTY(ref->session_id), LC_I(limit)},
                                     &rows, err);

    while (lc_row_next(&rows, &summary, &status, err))
        status = visit(ctx, &summary, err);
    lc_rows_end(&rows);
    return status;
}

static loci_status find_exact(lc_tx *tx, const lc_summary_ref *ref, lc_arena *arena,
                              lc_summary *out, bool *found, loci_error *err)
{
    const lc_arg args[] = {LC_T(tx->tenant_id), LC_T(tx->user_id), LC_T_OR_EMPTY(ref->session_id),
                           LC_T(ref->kind), LC_T_OR_EMPTY(ref->persona_id)};

    return lc_row_find(tx, &(lc_query){&last_sql, args}, arena, out, found, err);
}

static loci_status find_any(lc_tx *tx, const lc_summary_ref *ref, lc_arena *arena, lc_summary *out,
                            bool *found, loci_error *err)
{
    const lc_arg args[] = {LC_T(tx->tenant_id),
                           LC_T(tx->user_id),
                           LC_T_OR_EMPTY(ref->persona_id),
                           LC_I(INT64_MAX),
                           LC_T_OR_EMPTY(ref->kind),
                           LC_T_OR_EMPTY(ref->session_id),
                           LC_I(1)};

    return lc_row_find(tx, &(lc_query){&each_sql, args}, arena, out, found, err);
}

loci_status lc_summary_find_last(lc_tx *tx, const lc_summary_ref *ref, lc_arena *arena,
                                 lc_summary *out, bool *found, loci_error *err)
{
    return lc_str_is(ref->kind, "spine") ? find_exact(tx, ref, arena, out, found, err)
                                         : find_any(tx, ref, arena, out, found, err);
}

loci_status lc_summary_load(lc_tx *tx, loci_str persona_id, loci_str id, lc_arena *arena,
                            lc_summary *out, loci_error *err)
{
    lc_id_parts parts = {0};
    bool found = false;
    loci_status status = LOCI_OK;

    if (lc_id_parse(id, "sum", &parts)) {
        const lc_arg args[] = {LC_T(tx->tenant_id), LC_T(tx->user_id), LC_T_OR_EMPTY(persona_id),
                               LC_I(parts.seq)};

        status = lc_row_find(tx, &(lc_query){&load_sql, args}, arena, out, &found, err);
    }
    if (status == LOCI_OK && (!found || !lc_str_eq(out->id, id)))
        status = lc_fail(err, LOCI_ENOTFOUND, "no summary %.*s", LC_STR_ARG(id));
    return status;
}

void lc_summary_put(lc_json_writer *out, const lc_summary *summary)
{
    lc_jw_object(out);
    lc_row_put(&lc_summary_row, summary, out);
    lc_jw_end(out);
}

/* Sessions of a persona are few per day, and the last one is among the newest. */
static const lc_sql pending_sql = {
    "select case when m.seq is null then 1 else 0 end from (select tenant_id, user_id, id, seq"
    " from sessions where tenant_id = $1 and user_id = $2 and persona_id = $3 and state = 'ended'"
    " and turn_count > 0 order by seq desc limit 1) s left join summaries m"
    " on m.tenant_id = s.tenant_id and m.user_id = s.user_id and m.session_id = s.id"
    " and m.kind = 'session' limit 1",
    "ttt", "i"};

loci_status lc_summary_is_pending(lc_tx *tx, loci_str persona_id, bool *out, loci_error *err)
{
    int64_t is_missing = 0;
    loci_status status = lc_tx_find_numbers(
        tx, &pending_sql,
        (lc_arg[]){LC_T(tx->tenant_id), LC_T(tx->user_id), LC_T_OR_EMPTY(persona_id)}, &is_missing,
        err);

    *out = is_missing != 0;
    return status;
}

/* ---- When one is due ------------------------------------------------------------------------- */

#define ARGS_BYTES_MAX 2048
/* Runs after the jobs that a caller waits for. */
#define PRIORITY (-100)
#define ATTEMPTS_MAX 100 /* A worker that was killed has used up an attempt, too. */

loci_status lc_summary_enqueue(lc_tx *tx, const lc_summary_request *request, lc_id *out_job,
                               loci_error *err)
{
    loci_str of = request->session_id.len > 0 ? request->session_id : request->persona_id;
    char unique[LC_ID_BYTES_MAX + 32];
    lc_json_writer json;
    lc_buf args;
    lc_id job;
    loci_status status;

    (void)snprintf(unique, sizeof unique, "%s:%.*s", request->kind, LC_STR_ARG(of));
    lc_buf_init(&args, &tx->db->env->heap, LOCI_MEM_REQUESTS, ARGS_BYTES_MAX);
    lc_jw_init(&json, &args);
    lc_jw_object(&json);
    lc_jw_member_text(&json, "kind", request->kind);
    if (request->session_id.len > 0)
        lc_jw_member_str(&json, "session_id", request->session_id);
    if (request->persona_id.len > 0)
        lc_jw_member_str(&json, "persona_id", request->persona_id);
    if (request->is_forced)
        lc_jw_member_bool(&json, "forced", true);
    lc_jw_end(&json);
    status = lc_buf_status(&args, err);
    if (status == LOCI_OK)
        status = lc_job_enqueue(tx,
                                &(lc_job_new){.kind = LC_STR(LC_JOB_SUMMARY_MAKE),
                                              .priority = PRIORITY,
                                              .attempts_max = ATTEMPTS_MAX,
                                              .delay_ms = request->delay_ms,
                                              .args = lc_buf_str(&args),
                                              .unique = loci_str_of(unique)},
                                out_job != NULL ? out_job : &job, err);
    lc_buf_clear(&args);
    return status;
}

/* Whether there is a multiple of `step` above `before` and up to `after`. */
static bool passes(int64_t before, int64_t after, int64_t step)
{
    return step > 0 && before / step < after / step;
}

loci_status lc_summary_note_messages(lc_tx *tx, const lc_summary_counts *counts, loci_error *err)
{
    loci_status status = LOCI_OK;

    if (passes(counts->turns_before, counts->turns_after, counts->rolling_turns))
        status = lc_summary_enqueue(tx,
                                    &(lc_summary_request){.kind = "rolling",
                                                          .session_id = counts->session_id,
                                                          .persona_id = counts->persona_id,
                                                          .delay_ms = counts->delay_ms},
                                    NULL, err);
    if (status == LOCI_OK &&
        passes(counts->messages_before, counts->messages_after, counts->spine_messages))
        status = lc_summary_enqueue(tx,
                                    &(lc_summary_request){.kind = "spine",
                                                          .persona_id = counts->persona_id,
                                                          .delay_ms = counts->delay_ms},
                                    NULL, err);
    return status;
}

static const lc_sql session_sql = {
    "select persona_id from sessions where tenant_id = $1 and user_id = $2 and id = $3"
    " and turn_count > 0",
    "ttt", "t"};

loci_status lc_summary_note_end(lc_tx *tx, loci_str session_id, loci_error *err)
{
    const lc_arg args[] = {LC_T(tx->tenant_id), LC_T(tx->user_id), LC_T(session_id)};
    char persona[LC_ID_BYTES_MAX];
    lc_summary_request request = {.kind = "session", .session_id = session_id};
    lc_rows rows = {0};
    bool found = false;
    loci_status status = lc_tx_find(tx, &session_sql, args, &rows, &found, err);

    if (status == LOCI_OK && found) {
        loci_str id = lc_rows_str(&rows, 0);

        LC_ASSERT(id.len <= sizeof persona); /* It was checked when the session was opened. */
        memcpy(persona, id.ptr, id.len);
        request.persona_id = (loci_str){persona, id.len};
    }
    lc_rows_end(&rows);
    return status == LOCI_OK && found ? lc_summary_enqueue(tx, &request, NULL, err) : status;
}

/* ---- Forgetting and withdrawing -------------------------------------------------------------- */

static const lc_sql covering_sql = {
    SELECT " and session_id = $3 and ($4 = 0 or (from_seq <= $4 and to_seq >= $4)) order by seq",
    "ttti", "", &lc_summary_row};

static const lc_sql spines_sql = {SELECT " and kind = 'spine' and seq > $3 order by seq", "tti", "",
                                  &lc_summary_row};

static loci_status collect(lc_forgetting *f, const lc_query *query, loci_error *err)
{
    lc_rows rows;
    lc_summary summary;
    loci_status status = lc_tx_query(f->tx, query->sql, query->args, &rows, err);

    while (lc_row_next(&rows, &summary, &status, err))
        status = lc_forget_add(
            f, &(lc_forget_item){.kind = "summary", .id = summary.id, .seq = summary.seq}, err);
    lc_rows_end(&rows);
    return status;
}

loci_status lc_summary_collect(lc_forgetting *f, loci_str session_id, int64_t seq, loci_error *err)
{
    const lc_arg args[] = {LC_T(f->tx->tenant_id), LC_T(f->tx->user_id), LC_T(session_id),
                           LC_I(seq)};

    return collect(f, &(lc_query){&covering_sql, args}, err);
}

/* A summary that a rewind took back has no row, but its event still has the text. */
static loci_status collect_withdrawn(void *ctx, const lc_withdrawal *withdrawal, loci_error *err)
{
    return lc_forget_add(
        ctx, &(lc_forget_item){.kind = "summary", .id = withdrawal->id, .seq = withdrawal->seq},
        err);
}

loci_status lc_summary_collect_spines(lc_forgetting *f, loci_error *err)
{
    const lc_arg args[] = {LC_T(f->tx->tenant_id), LC_T(f->tx->user_id), LC_I(f->first_seq)};
    const lc_withdrawal_filter withdrawn = {.kind = LC_STR("summary"), .after_seq = f->first_seq};
    loci_status status;

    if (f->first_seq == 0)
        return LOCI_OK;
    status = collect(f, &(lc_query){&spines_sql, args}, err);
    return status == LOCI_OK ? lc_withdrawal_each(f->tx, &withdrawn, collect_withdrawn, f, err)
                             : status;
}

static const lc_sql personas_sql = {
    "select distinct persona_id from summaries where tenant_id = $1 and user_id = $2"
    " and kind = 'spine' and seq > $3 order by persona_id limit 100",
    "tti", "t"};

/* The personas whose spines are removed. */
static loci_status find_personas(lc_forgetting *f, lc_str_list *out, loci_error *err)
{
    loci_str *ids = lc_arena_zalloc_array(f->arena, 100, sizeof *ids);
    lc_rows rows;
    loci_status status;

    *out = (lc_str_list){ids, 0};
    if (ids == NULL)
        return lc_fail_memory(err);
    status = lc_tx_query(
        f->tx, &personas_sql,
        (lc_arg[]){LC_T(f->tx->tenant_id), LC_T(f->tx->user_id), LC_I(f->first_seq)}, &rows, err);
    while (status == LOCI_OK && lc_rows_next(&rows, &status, err)) {
        ids[out->count] = lc_arena_copy(f->arena, lc_rows_str(&rows, 0));
        if (ids[out->count++].ptr == NULL)
            status = lc_fail_memory(err);
    }
    lc_rows_end(&rows);
    return status;
}

static const lc_sql count_withdrawn_sql = {
    "select count(*) from withdrawals where tenant_id = $1 and user_id = $2 and kind = 'summary'"
    " and seq > $3",
    "tti", "i"};

loci_status lc_summary_commit_forget(lc_forgetting *f, loci_error *err)
{
    const lc_arg args[] = {LC_T(f->tx->tenant_id), LC_T(f->tx->user_id), LC_I(f->first_seq)};
    lc_str_list personas;
    lc_event_draft draft;
    int64_t withdrawn = 0;
    loci_status status;

    if (f->first_seq == 0)
        return LOCI_OK;
    status = find_personas(f, &personas, err);
    if (status == LOCI_OK)
        status = lc_tx_find_numbers(f->tx, &count_withdrawn_sql, args, &withdrawn, err);
    if (status != LOCI_OK || (personas.count == 0 && withdrawn == 0))
        return status;
    lc_event_draft_begin(&draft, f->tx);
    lc_jw_member_int(&draft.refs, "after_seq", f->first_seq);
    status = lc_event_draft_append(&draft, f->tx, &(lc_append){.type = &lc_summary_forgotten_event},
                                   NULL, err);
    for (size_t i = 0; i < personas.count && status == LOCI_OK; i++)
        status = lc_summary_enqueue(f->tx,
                                    &(lc_summary_request){.kind = "spine",
                                                          .persona_id = personas.items[i],
                                                          .is_forced = true},
                                    NULL, err);
    return status;
}

static const lc_sql kinds_sql = {
    "select distinct kind, persona_id from summaries where tenant_id = $1 and user_id = $2"
    " and session_id = $3 and from_seq <= $4 and to_seq >= $4 order by kind, persona_id limit 4",
    "ttti", "tt"};

loci_status lc_summary_redo(lc_tx *tx, loci_str session_id, int64_t seq, loci_error *err)
{
    lc_summary_request requests[4];
    char personas[4][LC_ID_BYTES_MAX];
    size_t count = 0;
    lc_rows rows;
    loci_status status = lc_tx_query(
        tx, &kinds_sql,
        (lc_arg[]){LC_T(tx->tenant_id), LC_T(tx->user_id), LC_T(session_id), LC_I(seq)}, &rows,
        err);

    while (status == LOCI_OK && count < 4 && lc_rows_next(&rows, &status, err)) {
        loci_str persona = lc_rows_str(&rows, 1);

        LC_ASSERT(persona.len <= sizeof personas[0]);
        memcpy(personas[count], persona.ptr, persona.len);
        requests[count] = (lc_summary_request){
            .kind = lc_str_is(lc_rows_str(&rows, 0), "rolling") ? "rolling" : "session",
            .session_id = session_id,
            .persona_id = {personas[count], persona.len},
            .is_forced = true};
        count++;
    }
    lc_rows_end(&rows);
    for (size_t i = 0; i < count && status == LOCI_OK; i++)
        status = lc_summary_enqueue(tx, &requests[i], NULL, err);
    return status;
}

static const lc_sql remove_after_sql = {
    "delete from summaries where tenant_id = $1 and user_id = $2 and session_id = $3"
    " and to_seq > $4",
    "ttti", NULL};

static const lc_sql remove_of_sql = {
    "delete from summaries where tenant_id = $1 and user_id = $2 and from_seq <= $4"
    " and to_seq >= $4 and session_id = (select m.session_id from messages m"
    " where m.tenant_id = $1 and m.user_id = $2 and m.id = $3)",
    "ttti", NULL};

static const lc_sql remove_spines_sql = {
    "delete from summaries where tenant_id = $1 and user_id = $2 and kind = 'spine' and seq > $3",
    "tti", NULL};

static const lc_sql drop_withdrawn_sql = {
    "delete from withdrawals where tenant_id = $1 and user_id = $2 and kind = 'summary'"
    " and seq > $3",
    "tti", NULL};

static const lc_sql note_withdrawn_sql = {
    "insert into withdrawals (tenant_id, user_id, seq, kind, id, session_id, by_seq)"
    " select tenant_id, user_id, seq, 'summary', id, $3, $5 from summaries where tenant_id = $1"
    " and user_id = $2 and ((session_id = $3 and to_seq > $4) or (kind = 'spine' and seq > $4))",
    "tttii", NULL};

static const lc_sql has_session_sql = {
    "select count(*) from summaries where tenant_id = $1 and user_id = $2 and session_id = $3"
    " and kind = 'session' and to_seq > $4",
    "ttti", "i"};

loci_status lc_summary_redo_after(lc_tx *tx, loci_str session_id, int64_t seq, loci_error *err)
{
    int64_t count = 0;
    loci_status status = lc_tx_find_numbers(
        tx, &has_session_sql,
        (lc_arg[]){LC_T(tx->tenant_id), LC_T(tx->user_id), LC_T(session_id), LC_I(seq)}, &count,
        err);

    return status == LOCI_OK && count > 0 ? lc_summary_note_end(tx, session_id, err) : status;
}

loci_status lc_summary_withdraw(lc_tx *tx, const lc_event *event, loci_str session_id, int64_t seq,
                                loci_error *err)
{
    const lc_arg args[] = {LC_T(event->tenant_id), LC_T(event->user_id), LC_T(session_id),
                           LC_I(seq), LC_I(event->seq)};
    loci_status status = lc_tx_exec(tx, &note_withdrawn_sql, args, err);

    if (status == LOCI_OK)
        status = lc_tx_exec(tx, &remove_after_sql, args, err);
    return status == LOCI_OK
               ? lc_tx_exec(tx, &remove_spines_sql, (lc_arg[]){args[0], args[1], args[3]}, err)
               : status;
}

loci_status lc_summary_remove_after(lc_tx *tx, const lc_event *event, loci_str session_id,
                                    int64_t seq, loci_error *err)
{
    return lc_tx_exec(
        tx, &remove_after_sql,
        (lc_arg[]){LC_T(event->tenant_id), LC_T(event->user_id), LC_T(session_id), LC_I(seq)}, err);
}

loci_status lc_summary_remove_of(lc_tx *tx, const lc_event *event, loci_str message_id,
                                 loci_error *err)
{
    lc_id_parts parts;

    if (!lc_id_parse(message_id, "msg", &parts))
        return lc_event_fail(event, err);
    return lc_tx_exec(
        tx, &remove_of_sql,
        (lc_arg[]){LC_T(event->tenant_id), LC_T(event->user_id), LC_T(message_id), LC_I(parts.seq)},
        err);
}

static loci_status apply_forgotten(lc_tx *tx, const lc_event *event, loci_error *err)
{
    lc_arena *arena = &tx->db->scratch;
    lc_arena_mark mark = lc_arena_get_mark(arena);
    lc_event_json json;
    loci_status status = lc_event_parse(event, arena, &json, err);

    if (status == LOCI_OK) {
        const lc_arg args[] = {LC_T(event->tenant_id), LC_T(event->user_id),
                               LC_I(lc_event_int(json.refs, "after_seq", 0))};

        status = lc_tx_exec(tx, &remove_spines_sql, args, err);
        if (status == LOCI_OK)
            status = lc_tx_exec(tx, &drop_withdrawn_sql, args, err);
    }
    lc_arena_rewind(arena, mark);
    return status;
}

const lc_event_type lc_summary_forgotten_event = {
    .name = "summary.forgotten", .version = 1, .apply = apply_forgotten, .forgets = true};
