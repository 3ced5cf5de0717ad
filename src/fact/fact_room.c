/* fact_room.c - the table `facts`, made from the events `fact.written` and from nothing else.
 *
 * One row a version; `is_valid` marks the one that stands. Invariants, checked by verify: a slot of
 * a persona has at most one valid fact; supersedes and superseded_by lead to facts of the same user
 * and to each other.
 */
#include "base/str.h"
#include "fact/fact_event.h"
#include "store/problems.h"

static const lc_column columns[] = {
    {"tenant_id", 't', false},    {"user_id", 't', false},   {"id", 't', false},
    {"seq", 'i', false},          {"key", 't', false},       {"value", 't', false},
    {"source", 't', true},        {"persona_id", 't', true}, {"observed_at", 'i', false},
    {"recorded_at", 'i', false},  {"is_valid", 'i', false},  {"supersedes", 't', true},
    {"superseded_by", 't', true}, {NULL, 0, false},
};

static const lc_index indexes[] = {
    {"slot", "tenant_id, user_id, key, seq", NULL, false},
    {"valid", "tenant_id, user_id, key, id", "is_valid = 1", false},
    {NULL, NULL, NULL, false},
};

static const lc_table facts_table = {
    .name = "facts",
    .table_class = LC_TABLE_PROJECTION,
    .columns = columns,
    .key = "tenant_id, user_id, id",
    .indexes = indexes,
};

static const lc_sql insert_sql = {
    "insert into facts (tenant_id, user_id, id, seq, key, value, source, persona_id, observed_at,"
    " recorded_at, is_valid, supersedes, superseded_by)"
    " values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, 1, $11, null)",
    "tttittttiit", NULL};

static const lc_sql supersede_sql = {"update facts set is_valid = 0, superseded_by = $4"
                                     " where tenant_id = $1 and user_id = $2 and id = $3",
                                     "tttt", NULL};

static loci_status apply_fact(lc_tx *tx, const lc_event *event, const lc_fact *fact,
                              loci_error *err)
{
    loci_status status = LOCI_OK;

    if (fact->supersedes.len > 0)
        status = lc_tx_exec(tx, &supersede_sql,
                            (lc_arg[]){LC_T(event->tenant_id), LC_T(event->user_id),
                                       LC_T(fact->supersedes), LC_T(fact->id)},
                            err);
    if (status == LOCI_OK)
        status = lc_tx_exec(tx, &insert_sql,
                            (lc_arg[]){LC_T(event->tenant_id), LC_T(event->user_id), LC_T(fact->id),
                                       LC_I(fact->seq), LC_T(fact->key), LC_T(fact->value),
                                       LC_T_OR_NULL(fact->source), LC_T_OR_NULL(fact->persona_id),
                                       LC_I(fact->observed_at), LC_I(fact->recorded_at),
                                       LC_T_OR_NULL(fact->supersedes)},
                            err);
    return status;
}

static loci_status apply_written(lc_tx *tx, const lc_event *event, loci_error *err)
{
    lc_arena *arena = &tx->db->scratch;
    lc_arena_mark mark = lc_arena_get_mark(arena);
    lc_fact fact;
    loci_status status;

    if (event->decoded != NULL) {
        fact = *(const lc_fact *)event->decoded;
        fact.seq = event->seq;
        fact.recorded_at = event->recorded_at;
        return apply_fact(tx, event, &fact, err);
    }
    status = lc_fact_event_decode(event, arena, &fact, err);
    if (status == LOCI_OK)
        status = apply_fact(tx, event, &fact, err);
    lc_arena_rewind(arena, mark);
    return status;
}

const lc_event_type lc_fact_written_event = {
    .name = "fact.written",
    .version = 1,
    .apply = apply_written,
};

static const lc_sql broken_links_sql = {
    "select f.id from facts f left join facts g on g.tenant_id = f.tenant_id"
    " and g.user_id = f.user_id and g.id = f.supersedes"
    " where f.tenant_id = $1 and f.user_id = $2 and f.supersedes is not null"
    " and (g.id is null or g.superseded_by is null or g.superseded_by <> f.id)"
    " order by f.id limit 20",
    "tt", "t"};

static const lc_sql two_valid_sql = {
    "select min(id) from facts where tenant_id = $1 and user_id = $2 and is_valid = 1"
    " group by key, coalesce(persona_id, '') having count(*) > 1 order by 1 limit 20",
    "tt", "t"};

static loci_status report(lc_tx *tx, const lc_sql *sql, const lc_arg *args, const char *what,
                          lc_problems *problems, loci_error *err)
{
    lc_rows rows;
    loci_status status = lc_tx_query(tx, sql, args, &rows, err);

    while (status == LOCI_OK && lc_rows_next(&rows, &status, err))
        lc_problems_add(problems, "facts: %.*s %s", LC_STR_ARG(lc_rows_str(&rows, 0)), what);
    lc_rows_end(&rows);
    return status;
}

static loci_status check(lc_tx *tx, loci_str tenant_id, loci_str user_id, lc_problems *problems,
                         loci_error *err)
{
    const lc_arg args[] = {LC_T(tenant_id), LC_T(user_id)};
    loci_status status = report(tx, &broken_links_sql, args,
                                "supersedes a fact that does not say so", problems, err);

    if (status == LOCI_OK)
        status = report(tx, &two_valid_sql, args, "is not the only valid fact of its slot",
                        problems, err);
    return status;
}

static const lc_table *const tables[] = {&facts_table, NULL};
static const lc_event_type *const events[] = {&lc_fact_written_event, NULL};

const lc_room lc_fact_room = {.name = "fact", .tables = tables, .events = events, .check = check};
