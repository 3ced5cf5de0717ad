/* fact.c - deciding what a write means, and reading facts. */
#include "fact/fact.h"

#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "fact/fact_event.h"

#define COLUMNS                                                                                    \
    "id, seq, key, value, source, persona_id, observed_at, recorded_at, is_valid, supersedes,"     \
    " superseded_by"
#define KINDS                                                                                      \
    "titttt"                                                                                       \
    "iiitt"

/* The one filter for personas: their own, and everybody's. $3 is the persona, '' = none. */
#define SEEN "tenant_id = $1 and user_id = $2 and (persona_id is null or persona_id = $3)"

/* The valid facts of a slot: everybody's and the persona's own, so at most two. */
static const lc_sql valid_slot_sql = {
    "select " COLUMNS " from facts where " SEEN " and key = $4 and is_valid = 1", "tttt", KINDS};

static const lc_sql last_sql = {"select " COLUMNS " from facts where " SEEN
                                " and key = $4 order by seq desc limit 1",
                                "tttt", KINDS};

static const lc_sql own_slot_sql = {
    "select id, seq, value from facts where tenant_id = $1 and user_id = $2 and key = $3"
    " and is_valid = 1 and coalesce(persona_id, '') = $4",
    "tttt", "tit"};

static const lc_sql by_id_sql = {"select " COLUMNS " from facts where " SEEN " and id = $4", "tttt",
                                 KINDS};

static const lc_sql history_sql = {"select " COLUMNS " from facts where " SEEN
                                   " and key = $4 and seq > $5"
                                   " order by seq, id limit $6",
                                   "ttttii", KINDS};

static const lc_sql valid_sql = {"select " COLUMNS " from facts where " SEEN
                                 " and is_valid = 1 and (key, id) > ($4, $5)"
                                 " order by key, id limit $6",
                                 "ttttti", KINDS};

const char *lc_fact_outcome_name(lc_fact_outcome outcome)
{
    static const char *const names[] = {"created", "superseded", "repeated"};

    return names[outcome];
}

static loci_str or_empty(loci_str text)
{
    return text.ptr == NULL ? LC_STR("") : text;
}

/* The valid fact of the very slot that would be written; a persona has slots of its own. */
static loci_status find_slot(lc_tx *tx, const lc_fact_new *fact, lc_fact_written *out,
                             bool *same_value, loci_error *err)
{
    lc_rows rows = {0};
    bool found;
    loci_status status = lc_tx_find(tx, &own_slot_sql,
                                    (lc_arg[]){LC_T(tx->tenant_id), LC_T(tx->user_id),
                                               LC_T(fact->key), LC_T(or_empty(fact->persona_id))},
                                    &rows, &found, err);

    if (status != LOCI_OK || !found)
        return status;
    loci_str id = lc_rows_str(&rows, 0);

    if (id.len >= sizeof out->superseded.text) {
        status = lc_fail(err, LOCI_ECORRUPT, "a fact's id is too long");
    } else {
        memcpy(out->superseded.text, id.ptr, id.len);
        out->seq = lc_rows_i64(&rows, 1);
        *same_value = lc_str_eq(lc_rows_str(&rows, 2), fact->value);
    }
    lc_rows_end(&rows);
    return status;
}

static loci_status append_written(lc_tx *tx, const lc_fact *fact, int64_t *out_seq, loci_error *err)
{
    lc_heap *heap = &tx->db->env->heap;
    lc_buf refs, payload;
    loci_status status;

    lc_buf_init(&refs, heap, LOCI_MEM_WAL, LC_EVENT_BYTES_MAX);
    lc_buf_init(&payload, heap, LOCI_MEM_WAL, LC_EVENT_BYTES_MAX);
    lc_fact_event_encode(fact, &refs, &payload);
    status = lc_buf_status(&refs, err);
    if (status == LOCI_OK)
        status = lc_buf_status(&payload, err);
    if (status == LOCI_OK)
        status = lc_event_append(tx,
                                 &(lc_append){.type = &lc_fact_written_event,
                                              .refs = lc_buf_str(&refs),
                                              .payload = lc_buf_str(&payload),
                                              .decoded = fact},
                                 out_seq, err);
    lc_buf_clear(&payload);
    lc_buf_clear(&refs);
    return status;
}

loci_status lc_fact_write(lc_tx *tx, const lc_fact_new *fact, lc_fact_written *out, loci_error *err)
{
    bool same_value = false;
    lc_fact next = {.key = fact->key,
                    .value = fact->value,
                    .source = fact->source,
                    .persona_id = fact->persona_id,
                    .observed_at = fact->observed_at};
    loci_status status;

    *out = (lc_fact_written){.outcome = LC_FACT_CREATED};
    status = find_slot(tx, fact, out, &same_value, err);
    if (status != LOCI_OK)
        return status;
    if (same_value) {
        out->id = out->superseded;
        out->superseded = (lc_id){{0}};
        out->outcome = LC_FACT_REPEATED;
        return LOCI_OK;
    }
    status = lc_tx_make_id(tx, "fact", &out->id, err);
    if (status != LOCI_OK)
        return status;
    if (next.observed_at == LOCI_AT_CLOCK)
        next.observed_at = tx->now_us;
    next.id = lc_id_str(&out->id);
    if (out->superseded.text[0] != '\0') {
        next.supersedes = lc_id_str(&out->superseded);
        out->outcome = LC_FACT_SUPERSEDED;
    }
    return append_written(tx, &next, &out->seq, err);
}

/* ---- Reading ------------------------------------------------------------------------------------
 */

static lc_fact from_row(const lc_rows *rows)
{
    return (lc_fact){
        .id = lc_rows_str(rows, 0),
        .seq = lc_rows_i64(rows, 1),
        .key = lc_rows_str(rows, 2),
        .value = lc_rows_str(rows, 3),
        .source = lc_rows_str(rows, 4),
        .persona_id = lc_rows_str(rows, 5),
        .observed_at = lc_rows_i64(rows, 6),
        .recorded_at = lc_rows_i64(rows, 7),
        .is_valid = lc_rows_i64(rows, 8) == 1,
        .supersedes = lc_rows_str(rows, 9),
        .superseded_by = lc_rows_str(rows, 10),
    };
}

static bool copy_text(lc_arena *arena, loci_str *text)
{
    if (text->ptr == NULL)
        return true;
    *text = lc_arena_copy(arena, *text);
    return text->ptr != NULL;
}

static bool copy_texts(lc_arena *arena, lc_fact *fact)
{
    return copy_text(arena, &fact->id) && copy_text(arena, &fact->key) &&
           copy_text(arena, &fact->value) && copy_text(arena, &fact->source) &&
           copy_text(arena, &fact->persona_id) && copy_text(arena, &fact->supersedes) &&
           copy_text(arena, &fact->superseded_by);
}

/* The row of `sql` that counts, a persona's own before everybody's; without an id when there
 * is none. */
static loci_status find_one(lc_tx *tx, const lc_sql *sql, const lc_arg args[4], lc_arena *arena,
                            lc_fact *out, loci_error *err)
{
    lc_rows rows;
    loci_status status = lc_tx_query(tx, sql, args, &rows, err);

    if (status != LOCI_OK)
        return status;
    *out = (lc_fact){0};
    while (lc_rows_next(&rows, &status, err)) {
        lc_fact fact = from_row(&rows);

        if (out->id.ptr != NULL && fact.persona_id.ptr == NULL)
            continue;
        *out = fact;
        if (!copy_texts(arena, out)) {
            status = lc_fail_memory(err);
            break;
        }
    }
    lc_rows_end(&rows);
    return status;
}

static loci_status fail_absent(loci_str name, loci_error *err)
{
    return lc_fail(err, LOCI_ENOTFOUND, "no fact %.*s", LC_STR_ARG(name));
}

loci_status lc_fact_load_current(lc_tx *tx, const lc_fact_view *view, loci_str key, lc_arena *arena,
                                 lc_fact *out, loci_error *err)
{
    const lc_arg args[] = {LC_T(view->tenant_id), LC_T(view->user_id),
                           LC_T(or_empty(view->persona_id)), LC_T(key)};
    loci_status status = find_one(tx, &valid_slot_sql, args, arena, out, err);

    if (status == LOCI_OK && out->id.ptr == NULL)
        status = find_one(tx, &last_sql, args, arena, out, err);
    return status == LOCI_OK && out->id.ptr == NULL ? fail_absent(key, err) : status;
}

loci_status lc_fact_load(lc_tx *tx, const lc_fact_view *view, loci_str id, lc_arena *arena,
                         lc_fact *out, loci_error *err)
{
    const lc_arg args[] = {LC_T(view->tenant_id), LC_T(view->user_id),
                           LC_T(or_empty(view->persona_id)), LC_T(id)};
    loci_status status = find_one(tx, &by_id_sql, args, arena, out, err);

    return status == LOCI_OK && out->id.ptr == NULL ? fail_absent(id, err) : status;
}

static loci_status visit_rows(lc_tx *tx, const lc_sql *sql, const lc_arg *args,
                              lc_fact_visit *visit, void *ctx, loci_error *err)
{
    lc_rows rows;
    loci_status status = lc_tx_query(tx, sql, args, &rows, err);

    if (status != LOCI_OK)
        return status;
    while (lc_rows_next(&rows, &status, err)) {
        lc_fact fact = from_row(&rows);

        status = visit(ctx, &fact, err);
        if (status != LOCI_OK)
            break;
    }
    lc_rows_end(&rows);
    return status;
}

loci_status lc_fact_each_version(lc_tx *tx, const lc_fact_view *view,
                                 const lc_fact_history *history, lc_fact_visit *visit, void *ctx,
                                 loci_error *err)
{
    return visit_rows(tx, &history_sql,
                      (lc_arg[]){LC_T(view->tenant_id), LC_T(view->user_id),
                                 LC_T(or_empty(view->persona_id)), LC_T(history->key),
                                 LC_I(history->after_seq), LC_I(history->limit)},
                      visit, ctx, err);
}

loci_status lc_fact_each_valid(lc_tx *tx, const lc_fact_view *view, const lc_fact_page *page,
                               lc_fact_visit *visit, void *ctx, loci_error *err)
{
    /* '~' is behind every id. */
    loci_str after_id = page->after_id.ptr != NULL ? page->after_id : LC_STR("~");

    return visit_rows(tx, &valid_sql,
                      (lc_arg[]){LC_T(view->tenant_id), LC_T(view->user_id),
                                 LC_T(or_empty(view->persona_id)), LC_T(or_empty(page->after_key)),
                                 LC_T(after_id), LC_I(page->limit)},
                      visit, ctx, err);
}

static void put_text(lc_json_writer *out, const char *name, loci_str text)
{
    if (text.ptr != NULL)
        lc_jw_member_str(out, name, text);
}

void lc_fact_put(lc_json_writer *out, const lc_fact *fact)
{
    lc_jw_object(out);
    lc_jw_member_str(out, "id", fact->id);
    lc_jw_member_str(out, "key", fact->key);
    lc_jw_member_raw(out, "value", fact->value);
    lc_jw_member_text(out, "status", fact->is_valid ? "valid" : "superseded");
    lc_jw_member_bool(out, "is_valid", fact->is_valid);
    put_text(out, "source", fact->source);
    put_text(out, "persona_id", fact->persona_id);
    lc_jw_member_time(out, "observed_at", fact->observed_at);
    lc_jw_member_time(out, "recorded_at", fact->recorded_at);
    lc_jw_name(out, "supersedes");
    lc_jw_array(out);
    if (fact->supersedes.ptr != NULL)
        lc_jw_str(out, fact->supersedes);
    lc_jw_end(out);
    put_text(out, "superseded_by", fact->superseded_by);
    lc_jw_member_int(out, "seq", fact->seq);
    lc_jw_end(out);
}
