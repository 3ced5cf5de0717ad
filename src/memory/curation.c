/* curation.c - stores when the curator last ran for a user, across all sessions. */
#include "base/str.h"
#include "memory/curate.h"
#include "store/event.h"

static const lc_column columns[] = {
    LC_COLUMN("tenant_id", 't'),
    LC_COLUMN("user_id", 't'),
    LC_COLUMN("run_at", 'i'),
    LC_COLUMN("memory_count", 'i'),
    {0},
};

static const lc_sql forget_sql = {
    "delete from memory_curations where tenant_id = $1 and user_id = $2", "tt", NULL};

const lc_table lc_curations_table = {
    .name = "memory_curations",
    .table_class = LC_TABLE_PROJECTION,
    .columns = columns,
    .key = "tenant_id, user_id",
    .forget = &forget_sql,
};

static const lc_sql put_sql = {
    "insert into memory_curations (tenant_id, user_id, run_at, memory_count)"
    " values ($1, $2, $3, $4) on conflict (tenant_id, user_id) do update"
    " set run_at = excluded.run_at, memory_count = excluded.memory_count",
    "ttii", NULL};

static loci_status apply(lc_tx *tx, const lc_event *event, loci_error *err)
{
    lc_arena *arena = &tx->db->scratch;
    lc_arena_mark mark = lc_arena_get_mark(arena);
    lc_event_json json;
    loci_status status = lc_event_parse(event, arena, &json, err);

    if (status == LOCI_OK && !event->is_erased)
        status = lc_tx_exec(tx, &put_sql,
                            (lc_arg[]){LC_T(event->tenant_id), LC_T(event->user_id),
                                       LC_I(event->recorded_at),
                                       LC_I(lc_event_int(json.payload, "memories", 0))},
                            err);
    lc_arena_rewind(arena, mark);
    return status;
}

const lc_event_type lc_memory_curated_event = {
    .name = "memory.curated", .version = 1, .apply = apply};

loci_status lc_curation_note(lc_tx *tx, int64_t memories, loci_error *err)
{
    lc_event_draft draft;

    lc_event_draft_begin(&draft, tx);
    lc_jw_member_int(&draft.payload, "memories", memories);
    return lc_event_draft_append(&draft, tx, &(lc_append){.type = &lc_memory_curated_event}, NULL,
                                 err);
}

static const lc_sql find_sql = {
    "select run_at, memory_count from memory_curations where tenant_id = $1 and user_id = $2", "tt",
    "ii"};

loci_status lc_curation_find_last(lc_tx *tx, lc_curation_run *out, loci_error *err)
{
    int64_t numbers[2] = {0};
    loci_status status = lc_tx_find_numbers(
        tx, &find_sql, (lc_arg[]){LC_T(tx->tenant_id), LC_T(tx->user_id)}, numbers, err);

    *out = (lc_curation_run){numbers[0], numbers[1]};
    return status;
}
