/* review.c - see review.h. */
#include "review/review.h"

#include "base/error.h"
#include "base/hash.h"
#include "base/str.h"
#include "review/withdraw.h"
#include "store/event.h"

#define OF_USER " where tenant_id = $1 and user_id = $2"

/* ---- Proposals ------------------------------------------------------------------------------- */

#define P lc_review_proposal

static const lc_column columns[] = {
    LC_COLUMN("tenant_id", 't'),
    LC_COLUMN("user_id", 't'),
    LC_INTEGER_COLUMN(P, seq, "seq", LC_COL_EVENT),
    LC_STRING_COLUMN(P, id, "id", LC_COL_REFS | LC_COL_CODED | LC_COL_REQUIRED,
                     .help = "Id of the proposal (prop_...)"),
    LC_STRING_COLUMN(P, kind, "kind", LC_COL_PAYLOAD | LC_COL_REQUIRED, .absent = "memory",
                     .choices = LC_PROPOSAL_KINDS, .help = "Kind of record it would become"),
    LC_STRING_COLUMN(P, text, "body", LC_COL_PAYLOAD | LC_COL_CODED | LC_COL_REQUIRED, .absent = "",
                     .json = "text", .help = "Statement, or what is to be done"),
    LC_STRING_COLUMN(P, quote, "quote", LC_COL_PAYLOAD | LC_COL_REQUIRED, .absent = "",
                     .help = "Sentence that it came from"),
    LC_STRING_COLUMN(P, type, "type", LC_COL_NULL | LC_COL_PAYLOAD | LC_COL_SHOWN,
                     .help = "Kind of memory"),
    LC_STRING_COLUMN(P, fact_type, "fact_type", LC_COL_NULL | LC_COL_PAYLOAD | LC_COL_SHOWN,
                     .help = "Kind of fact"),
    LC_STRING_COLUMN(P, person, "person", LC_COL_NULL | LC_COL_PAYLOAD | LC_COL_SHOWN,
                     .help = "Person it is about"),
    LC_INTEGER_COLUMN(P, importance, "importance", LC_COL_PAYLOAD, .help = "Importance"),
    LC_TIME_COLUMN(P, due_at, "due_at", LC_COL_NULL | LC_COL_PAYLOAD | LC_COL_SHOWN,
                   .help = "Date that it names"),
    LC_NUMBER_COLUMN(P, confidence, "confidence", LC_COL_PAYLOAD | LC_COL_REQUIRED,
                     .help = "Confidence from 0 to 1"),
    LC_STRING_COLUMN(P, trust, "trust", LC_COL_PAYLOAD, .absent = "user",
                     .help = "Origin of the statement"),
    LC_STRING_COLUMN(P, persona_id, "persona_id", LC_COL_PAYLOAD | LC_COL_SHOWN, .absent = "",
                     .help = "Persona it belongs to; absent if it belongs to all"),
    LC_STRING_COLUMN(P, message_id, "source_id", LC_COL_REFS | LC_COL_SHOWN, .absent = "",
                     .help = "Message that it came from"),
    LC_STRING_COLUMN(P, session_id, "session_id", LC_COL_PAYLOAD | LC_COL_SHOWN, .absent = "",
                     .json = "in_session", .help = "Session of the message"),
    LC_STRING_COLUMN(P, content, "content", LC_COL_PAYLOAD, .absent = ""),
    LC_STRING_COLUMN(P, status, "status", LC_COL_PAYLOAD, .absent = "open",
                     .choices = LC_PROPOSAL_STATUSES),
    LC_TIME_COLUMN(P, observed_at, "observed_at", LC_COL_PAYLOAD | LC_COL_SINCE | LC_COL_CODED),
    LC_TIME_COLUMN(P, created_at, "created_at", LC_COL_EVENT),
    {0},
};

const lc_row_type lc_review_proposal_row = {columns, 0, sizeof(P)};

static const lc_index indexes[] = {
    {"open", "tenant_id, user_id, persona_id, seq", "status = 'open'", false},
    {"content", "tenant_id, user_id, content", NULL, false},
    {"source", "tenant_id, user_id, source_id", NULL, false},
    {"session", "tenant_id, user_id, session_id", NULL, false},
    {NULL, NULL, NULL, false},
};

static const lc_sql forget_proposals_sql = {"delete from proposals" OF_USER, "tt", NULL};

static const lc_table proposals_table = {
    .name = "proposals",
    .table_class = LC_TABLE_PROJECTION,
    .columns = columns,
    .key = "tenant_id, user_id, seq",
    .forget = &forget_proposals_sql,
    .indexes = indexes,
};

static const lc_sql insert_sql = {
    "insert into proposals (tenant_id, user_id, {row}) values ($1, $2, {values})", "tt", NULL,
    &lc_review_proposal_row};

const lc_event_type lc_review_proposed_event = {
    .name = "review.proposed", .version = 1, .insert = &insert_sql};

loci_str lc_review_hash(lc_arena *arena, const loci_str *parts, size_t count)
{
    size_t bytes = 0;
    char *text, *to, *hash = lc_arena_alloc(arena, LC_HASH_TEXT_BYTES);

    for (size_t i = 0; i < count; i++)
        bytes += parts[i].len + 1;
    text = to = lc_arena_alloc(arena, bytes + 1);
    if (text == NULL || hash == NULL)
        return LC_STR_NONE;
    for (size_t i = 0; i < count; i++) {
        if (parts[i].len > 0)
            memcpy(to, parts[i].ptr, parts[i].len);
        to += parts[i].len;
        *to++ = '\n';
    }
    lc_hash128_format(lc_hash128_of((loci_str){text, bytes}), hash);
    return loci_str_of(hash);
}

static const lc_sql known_sql = {"select seq from proposals" OF_USER
                                 " and content = $3 and persona_id = $4 limit 1",
                                 "tttt", "i"};

loci_status lc_review_propose(lc_tx *tx, lc_review_proposal *proposal, lc_arena *arena,
                              lc_id *out_id, loci_error *err)
{
    lc_rows rows;
    bool found = false;
    loci_status status;

    out_id->text[0] = '\0';
    proposal->content = lc_review_hash(arena, (loci_str[]){proposal->kind, proposal->text}, 2);
    if (proposal->content.ptr == NULL)
        return lc_fail_memory(err);
    status = lc_tx_find(tx, &known_sql,
                        (lc_arg[]){LC_T(tx->tenant_id), LC_T(tx->user_id), LC_T(proposal->content),
                                   LC_T_OR_EMPTY(proposal->persona_id)},
                        &rows, &found, err);
    lc_rows_end(&rows);
    if (status != LOCI_OK || found)
        return status;
    status = lc_tx_make_id(tx, "prop", out_id, err);
    proposal->id = lc_id_str(out_id);
    proposal->status = LC_STR("open");
    return status == LOCI_OK ? lc_row_append(tx, &lc_review_proposed_event, &lc_review_proposal_row,
                                             proposal, &proposal->seq, err)
                             : status;
}

static const lc_sql load_sql = {"select {row} from proposals" OF_USER
                                " and persona_id in ('', $3) and seq = $4",
                                "ttti", "", &lc_review_proposal_row};

loci_status lc_review_load(lc_tx *tx, loci_str persona_id, loci_str id, lc_arena *arena,
                           lc_review_proposal *out, loci_error *err)
{
    lc_id_parts parts = {0};
    bool found = false;
    loci_status status = LOCI_OK;

    if (lc_id_parse(id, "prop", &parts)) {
        const lc_arg args[] = {LC_T(tx->tenant_id), LC_T(tx->user_id), LC_T_OR_EMPTY(persona_id),
                               LC_I(parts.seq)};

        status = lc_row_find(tx, &(lc_query){&load_sql, args}, arena, out, &found, err);
    }
    if (status == LOCI_OK && (!found || !lc_str_eq(out->id, id)))
        status = lc_fail(err, LOCI_ENOTFOUND, "no proposal %.*s", LC_STR_ARG(id));
    return status;
}

static const lc_sql each_sql = {"select {row} from proposals" OF_USER
                                " and persona_id in ('', $3) and status = 'open' and seq > $4"
                                " order by seq limit $5",
                                "tttii", "", &lc_review_proposal_row};

loci_status lc_review_each(lc_tx *tx, const lc_review_page *page, lc_review_visit *visit, void *ctx,
                           loci_error *err)
{
    lc_review_proposal proposal = {0};
    lc_rows rows;
    loci_status status = lc_tx_query(tx, &each_sql,
                                     (lc_arg[]){LC_T(tx->tenant_id), LC_T(tx->user_id),
                                                LC_T_OR_EMPTY(page->persona_id),
                                                LC_I(page->after_seq), LC_I(page->limit)},
                                     &rows, err);

    while (lc_row_next(&rows, &proposal, &status, err))
        status = visit(ctx, &proposal, err);
    lc_rows_end(&rows);
    return status;
}

/* ---- Closing --------------------------------------------------------------------------------- */

static const lc_sql close_sql = {"update proposals set status = $4" OF_USER " and seq = $3", "ttit",
                                 NULL};

/* The event has only refs, no payload: they contain no text of the proposal. */
static loci_status apply_closed(lc_tx *tx, const lc_event *event, loci_error *err)
{
    lc_arena *arena = &tx->db->scratch;
    lc_arena_mark mark = lc_arena_get_mark(arena);
    lc_event_json json;
    lc_id_parts parts;
    loci_status status = lc_event_parse(event, arena, &json, err);

    if (status == LOCI_OK && !lc_id_parse(lc_event_str(json.refs, "id"), "prop", &parts))
        status = lc_event_fail(event, err);
    if (status == LOCI_OK)
        status = lc_tx_exec(tx, &close_sql,
                            (lc_arg[]){LC_T(event->tenant_id), LC_T(event->user_id),
                                       LC_I(parts.seq),
                                       LC_T_OR_EMPTY(lc_event_str(json.refs, "status"))},
                            err);
    lc_arena_rewind(arena, mark);
    return status;
}

static const lc_event_type closed_event = {
    .name = "review.closed", .version = 1, .apply = apply_closed};

loci_status lc_review_close(lc_tx *tx, const lc_review_proposal *proposal, const char *status,
                            loci_str result, loci_error *err)
{
    lc_event_draft draft;

    if (!lc_str_is(proposal->status, "open"))
        return lc_fail(err, LOCI_ECONFLICT, "proposal %.*s was %.*s before",
                       LC_STR_ARG(proposal->id), LC_STR_ARG(proposal->status));
    lc_event_draft_begin(&draft, tx);
    lc_jw_member_str(&draft.refs, "id", proposal->id);
    lc_jw_member_text(&draft.refs, "status", status);
    if (result.len > 0)
        lc_jw_member_str(&draft.refs, "result", result);
    return lc_event_draft_append(&draft, tx, &(lc_append){.type = &closed_event}, NULL, err);
}

/* ---- Verdicts -------------------------------------------------------------------------------- */

static const lc_column verdict_columns[] = {
    LC_COLUMN("tenant_id", 't'),  LC_COLUMN("user_id", 't'),
    LC_COLUMN("persona_id", 't'), LC_COLUMN("kind", 't'),
    LC_COLUMN("content", 't'),    LC_COLUMN("seq", 'i'),
    LC_COLUMN("verdict", 't'),    {0},
};

static const lc_sql forget_verdicts_sql = {"delete from verdicts" OF_USER, "tt", NULL};

static const lc_table verdicts_table = {
    .name = "verdicts",
    .table_class = LC_TABLE_PROJECTION,
    .columns = verdict_columns,
    .key = "tenant_id, user_id, persona_id, kind, content",
    .forget = &forget_verdicts_sql,
};

static const lc_sql verdict_sql = {
    "insert into verdicts (tenant_id, user_id, persona_id, kind, content, seq, verdict)"
    " values ($1, $2, $3, $4, $5, $6, $7)"
    " on conflict (tenant_id, user_id, persona_id, kind, content) do update set seq = excluded.seq,"
    " verdict = excluded.verdict",
    "tttttit", NULL};

static loci_status apply_judged(lc_tx *tx, const lc_event *event, loci_error *err)
{
    lc_arena *arena = &tx->db->scratch;
    lc_arena_mark mark = lc_arena_get_mark(arena);
    lc_event_json json;
    loci_status status = lc_event_parse(event, arena, &json, err);

    if (status == LOCI_OK)
        status = lc_tx_exec(tx, &verdict_sql,
                            (lc_arg[]){LC_T(event->tenant_id), LC_T(event->user_id),
                                       LC_T_OR_EMPTY(lc_event_str(json.refs, "persona_id")),
                                       LC_T_OR_EMPTY(lc_event_str(json.refs, "kind")),
                                       LC_T_OR_EMPTY(lc_event_str(json.refs, "content")),
                                       LC_I(event->seq),
                                       LC_T_OR_EMPTY(lc_event_str(json.refs, "verdict"))},
                            err);
    lc_arena_rewind(arena, mark);
    return status;
}

static const lc_event_type judged_event = {
    .name = "review.judged", .version = 1, .apply = apply_judged};

loci_status lc_review_judge(lc_tx *tx, const lc_verdict_on *verdict, loci_error *err)
{
    lc_event_draft draft;

    lc_event_draft_begin(&draft, tx);
    lc_jw_member_str(&draft.refs, "id", verdict->target);
    lc_jw_member_text(&draft.refs, "kind", verdict->kind);
    lc_jw_member_str(&draft.refs, "content", verdict->content);
    if (verdict->persona_id.len > 0)
        lc_jw_member_str(&draft.refs, "persona_id", verdict->persona_id);
    lc_jw_member_text(&draft.refs, "verdict", verdict->verdict);
    return lc_event_draft_append(&draft, tx, &(lc_append){.type = &judged_event}, NULL, err);
}

static const lc_sql is_judged_sql = {"select seq from verdicts" OF_USER
                                     " and persona_id = $3 and kind = $4 and content = $5",
                                     "ttttt", "i"};

loci_status lc_review_is_judged(lc_tx *tx, const lc_verdict_on *verdict, bool *out, loci_error *err)
{
    lc_rows rows;
    loci_status status = lc_tx_find(
        tx, &is_judged_sql,
        (lc_arg[]){LC_T(tx->tenant_id), LC_T(tx->user_id), LC_T_OR_EMPTY(verdict->persona_id),
                   LC_T(loci_str_of(verdict->kind)), LC_T(verdict->content)},
        &rows, out, err);

    lc_rows_end(&rows);
    return status;
}

/* ---- Forgetting ------------------------------------------------------------------------------ */

static const lc_sql of_target_sql = {
    "select {row} from proposals" OF_USER
    " and (($3 <> '' and source_id = $3) or ($4 <> '' and session_id = $4)"
    " or ($5 <> '' and content = $5)) order by seq",
    "ttttt", "", &lc_review_proposal_row};

/* A proposal that a rewind took back has no row; its event is found by the hash of its content. */
typedef struct withdrawn_match {
    const lc_review_target *target;
    lc_arena *arena;
} withdrawn_match;

static loci_status match_withdrawn(void *ctx, const lc_event *event, lc_forget_item *item,
                                   bool *out, loci_error *err)
{
    const withdrawn_match *m = ctx;
    lc_review_proposal proposal = {0};
    loci_status status = lc_row_decode(&lc_review_proposal_row, event, m->arena, &proposal, err);

    *out = status == LOCI_OK && lc_str_eq(proposal.content, m->target->content);
    *item = (lc_forget_item){.kind = "proposal", .id = proposal.id};
    return status;
}

loci_status lc_review_decide_forget(lc_tx *tx, const lc_review_target *target, lc_forgetting *f,
                                    lc_review_oblivion *out, loci_error *err)
{
    lc_review_proposal proposal = {0};
    lc_rows rows;
    loci_status status = lc_tx_query(
        tx, &of_target_sql,
        (lc_arg[]){LC_T(tx->tenant_id), LC_T(tx->user_id), LC_T_OR_EMPTY(target->message_id),
                   LC_T_OR_EMPTY(target->session_id), LC_T_OR_EMPTY(target->content)},
        &rows, err);

    while (lc_row_next(&rows, &proposal, &status, err)) {
        if (out->count == out->room) {
            size_t room = out->room > 0 ? 2 * out->room : 16;
            loci_str *ids = lc_arena_zalloc_array(f->arena, room, sizeof *ids);

            if (ids == NULL) {
                status = lc_fail_memory(err);
                break;
            }
            for (size_t i = 0; i < out->count; i++)
                ids[i] = out->ids[i];
            out->ids = ids;
            out->room = room;
        }
        out->ids[out->count] = lc_arena_copy(f->arena, proposal.id);
        if (out->ids[out->count++].ptr == NULL)
            status = lc_fail_memory(err);
        else
            status = lc_forget_add(
                f, &(lc_forget_item){.kind = "proposal", .id = proposal.id, .seq = proposal.seq},
                err);
    }
    lc_rows_end(&rows);
    if (status == LOCI_OK && target->content.len > 0)
        status = lc_forget_withdrawn(f, &(lc_withdrawal_filter){.kind = LC_STR("proposal")},
                                     match_withdrawn, &(withdrawn_match){target, f->arena}, err);
    return status;
}

static const lc_sql delete_sql = {"delete from proposals" OF_USER " and seq = $3", "tti", NULL};

static loci_status apply_forgotten(lc_tx *tx, const lc_event *event, loci_error *err)
{
    lc_arena *arena = &tx->db->scratch;
    lc_arena_mark mark = lc_arena_get_mark(arena);
    const lc_json *ids = NULL;
    lc_event_json json;
    loci_status status = lc_event_parse(event, arena, &json, err);

    if (status == LOCI_OK)
        ids = lc_json_find(json.refs, "ids", LC_JSON_ARRAY);
    if (status == LOCI_OK && ids == NULL)
        status = lc_event_fail(event, err);
    for (const lc_json *id = ids != NULL ? lc_json_first(ids) : NULL;
         id != NULL && status == LOCI_OK; id = lc_json_next(id)) {
        lc_id_parts parts;

        if (lc_json_kind_of(id) != LC_JSON_STRING || !lc_id_parse(lc_json_str(id), "prop", &parts))
            status = lc_event_fail(event, err);
        else
            status = lc_tx_exec(
                tx, &delete_sql,
                (lc_arg[]){LC_T(event->tenant_id), LC_T(event->user_id), LC_I(parts.seq)}, err);
    }
    lc_arena_rewind(arena, mark);
    return status;
}

static const lc_event_type forgotten_event = {
    .name = "review.forgotten", .version = 1, .apply = apply_forgotten, .forgets = true};

loci_status lc_review_commit_forget(lc_tx *tx, const lc_review_oblivion *oblivion, loci_error *err)
{
    lc_event_draft draft;

    if (oblivion->count == 0)
        return LOCI_OK;
    lc_event_draft_begin(&draft, tx);
    lc_jw_name(&draft.refs, "ids");
    lc_jw_array(&draft.refs);
    for (size_t i = 0; i < oblivion->count; i++)
        lc_jw_str(&draft.refs, oblivion->ids[i]);
    lc_jw_end(&draft.refs);
    return lc_event_draft_append(&draft, tx, &(lc_append){.type = &forgotten_event}, NULL, err);
}

static const lc_table *const tables[] = {&proposals_table, &verdicts_table, NULL};
static const lc_event_type *const events[] = {
    &lc_review_proposed_event,  &closed_event,    &judged_event,
    &lc_review_withdrawn_event, &forgotten_event, NULL};

const lc_room lc_review_room = {.name = "review", .tables = tables, .events = events};
