/* rebuild_compare.c - the projections against their shadows, before the latter take over.
 *
 * A user is compared when its shadow stands at its head, which is checked in every snapshot; one
 * that was written to since is first replayed a little further by the owner of the write path.
 */
#include "store/rebuild.h"

#include <string.h>

#include "base/limits.h"
#include "base/str.h"
#include "store/compare.h"
#include "store/schema.h"

#define ATTEMPTS_MAX 5
#define TABLES_BYTES_MAX 4096

static const lc_sql both_heads_sql = {
    "select h.seq, coalesce(r.seq, 0) from heads h left join rebuild_heads r"
    " on r.tenant_id = h.tenant_id and r.user_id = h.user_id"
    " where h.tenant_id = $1 and h.user_id = $2",
    "tt", "ii"};

typedef struct comparison {
    const lc_upkeep *upkeep;
    lc_rebuild_report *report;
    lc_user_walk walk;
    lc_compare compare;
    int64_t seq;         /* That the comparison began at; -1 = it has not begun. */
    bool has_moved;      /* It has to be begun anew. */
    int64_t differences; /* Of the user at hand. */
    bool is_same_shape;
} comparison;

static bool has_table(const lc_buf *tables, const char *name)
{
    loci_str rest = lc_buf_str(tables);

    while (rest.len > 0) {
        if (lc_str_is(lc_str_trim(lc_str_split(rest, ',', &rest)), name))
            return true;
    }
    return false;
}

static void note_difference(void *ctx, const lc_table *table, const char *what)
{
    comparison *c = ctx;
    lc_buf *tables = &c->report->tables;

    (void)what;
    c->differences++;
    if (!has_table(tables, table->name))
        lc_buf_append_format(tables, "%s%s", tables->len == 0 ? "" : ", ", table->name);
}

static loci_status next_user(lc_tx *tx, void *ctx, loci_error *err)
{
    comparison *c = ctx;

    return lc_user_walk_next(tx, &c->walk, &lc_user_heads_sql, err);
}

static loci_status look_at_shape(lc_tx *tx, void *ctx, loci_error *err)
{
    comparison *c = ctx;
    int64_t shape = 0;
    loci_status status = lc_meta_get_i64(tx, "projection_shape", 0, &shape, err);

    c->is_same_shape = shape == (int64_t)lc_catalogue_shape(tx->db->catalogue);
    return status;
}

static loci_status compare_some(lc_tx *tx, void *ctx, loci_error *err)
{
    comparison *c = ctx;
    int64_t seq = 0, shadow_seq = 0;
    lc_rows rows = {0};
    bool found;
    loci_status status = lc_tx_find(
        tx, &both_heads_sql,
        (lc_arg[]){LC_T(lc_user_walk_tenant(&c->walk)), LC_T(lc_user_walk_user(&c->walk))}, &rows,
        &found, err);

    if (status == LOCI_OK && found) {
        seq = lc_rows_i64(&rows, 0);
        shadow_seq = lc_rows_i64(&rows, 1);
    }
    lc_rows_end(&rows);
    if (status != LOCI_OK)
        return status;
    if (c->seq < 0)
        c->seq = seq;
    c->has_moved = seq != shadow_seq || seq != c->seq;
    return c->has_moved ? LOCI_OK : lc_compare_step(&c->compare, tx, tx, err);
}

/* One attempt: all tables of the user at hand, unless it moves. */
static loci_status compare_user(comparison *c, loci_error *err)
{
    size_t tables_before = c->report->tables.len;
    loci_status status = LOCI_OK;

    c->seq = -1;
    c->has_moved = false;
    c->differences = 0;
    c->compare.tenant_id = lc_user_walk_tenant(&c->walk);
    c->compare.user_id = lc_user_walk_user(&c->walk);
    lc_compare_restart(&c->compare);
    while (status == LOCI_OK && !c->compare.is_done && !c->has_moved)
        status = lc_db_read(c->upkeep->db, INT64_MAX, compare_some, c, err);
    if (c->has_moved && c->report->tables.len > tables_before)
        lc_buf_truncate(&c->report->tables, tables_before);
    return status;
}

static loci_status compare_users(comparison *c, lc_rebuild_catch_up *catch_up, void *catch_up_ctx,
                                 loci_error *err)
{
    int64_t users = 0, total = 0, events;
    loci_status status = lc_upkeep_count(c->upkeep->db, &total, &events, err);

    while (status == LOCI_OK) {
        status = lc_db_read(c->upkeep->db, INT64_MAX, next_user, c, err);
        if (status != LOCI_OK || !c->walk.found)
            break;
        c->has_moved = true;
        for (int i = 0; status == LOCI_OK && c->has_moved && i < ATTEMPTS_MAX; i++) {
            if (i > 0)
                status = catch_up(catch_up_ctx, err);
            if (status == LOCI_OK)
                status = compare_user(c, err);
        }
        if (c->has_moved)
            c->report->users_skipped++;
        else
            c->report->differences += c->differences;
        if (status == LOCI_OK)
            status = lc_upkeep_report(c->upkeep, "users compared", ++users, total, err);
    }
    return status;
}

loci_status lc_rebuild_compare(const lc_upkeep *upkeep, lc_rebuild_catch_up *catch_up,
                               void *catch_up_ctx, lc_rebuild_report *out, loci_error *err)
{
    lc_heap *heap = &upkeep->db->env->heap;
    comparison c = {.upkeep = upkeep, .report = out};
    loci_status status;

    *out = (lc_rebuild_report){0};
    lc_buf_init(&out->tables, heap, LOCI_MEM_PIPELINES, TABLES_BYTES_MAX);
    lc_user_walk_init(&c.walk, heap);
    lc_compare_init(&c.compare, heap);
    c.compare.plan = upkeep->plan;
    c.compare.differs = note_difference;
    c.compare.ctx = &c;
    status = lc_db_read(upkeep->db, INT64_MAX, look_at_shape, &c, err);
    if (status == LOCI_OK && c.is_same_shape) {
        status = compare_users(&c, catch_up, catch_up_ctx, err);
        out->was_compared = status == LOCI_OK;
    }
    if (status == LOCI_OK)
        status = lc_buf_status(&out->tables, err);
    lc_compare_clear(&c.compare);
    lc_user_walk_clear(&c.walk);
    return status;
}
