/* discard.c - The list in meta is the truth: a table is renamed and noted in one transaction, and
 * dropped and taken off the list in one. The names are those of `meta.projection_tables`, which
 * also has projections of a former version, and of the catalogue, in case the list is damaged.
 *
 * A slice ends by rows, too: each row is in several indexes, so its pages are many, and all of them
 * are written at the commit.
 */
#include "store/discard.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "store/db_upkeep.h"
#include "store/job.h"
#include "store/schema.h"
#include "store/upkeep.h"

#define DISCARDING "discarding" /* In meta: names without `__old`, separated by spaces. */
#define NAME_BYTES_MAX 63
#define STATEMENT_BYTES 256
#define SLICE_US 50000 /* When the caller does not say. */
#define ROWS_AT_ONCE 50
#define US_PER_ROW 10 /* A slice deletes at most one row per this time. */
#define GAP_US 4000   /* Between slices without a queue: other processes get the lock. */

/* ---- Putting aside --------------------------------------------------------------------------- */

typedef struct aside {
    lc_tx *tx;
    lc_buf names; /* All that are put aside. */
} aside;

static bool is_listed(loci_str names, loci_str name)
{
    while (names.len > 0) {
        if (lc_str_eq(lc_str_split(names, ' ', &names), name))
            return true;
    }
    return false;
}

static loci_status rename_table(aside *a, loci_str name, loci_error *err)
{
    char statement[STATEMENT_BYTES], plain[NAME_BYTES_MAX + 1];
    bool exists;
    loci_status status;

    if (name.len == 0 || name.len > NAME_BYTES_MAX || is_listed(lc_buf_str(&a->names), name))
        return LOCI_OK;
    (void)snprintf(plain, sizeof plain, "%.*s", LC_STR_ARG(name));
    status = a->tx->db->driver->upkeep->has_table(a->tx, plain, &exists, err);
    if (status != LOCI_OK || !exists)
        return status;
    (void)snprintf(statement, sizeof statement, "alter table %s rename to %s__old", plain, plain);
    status = a->tx->db->driver->upkeep->run_script(a->tx, statement, err);
    lc_buf_append_format(&a->names, "%s%s", a->names.len == 0 ? "" : " ", plain);
    return status != LOCI_OK ? status : lc_buf_status(&a->names, err);
}

static loci_status rename_projection(void *ctx, const lc_table *table, loci_error *err)
{
    return table->table_class == LC_TABLE_PROJECTION
               ? rename_table(ctx, loci_str_of(table->name), err)
               : LOCI_OK;
}

static loci_status begin_aside(aside *a, lc_tx *tx, loci_error *err)
{
    char names[LC_PROJECTION_LIST_BYTES];
    loci_status status = lc_meta_get_text(tx, DISCARDING, names, sizeof names, err);

    *a = (aside){.tx = tx};
    lc_buf_init(&a->names, &tx->db->env->heap, LOCI_MEM_PIPELINES, LC_PROJECTION_LIST_BYTES - 1);
    if (status == LOCI_OK)
        lc_buf_append(&a->names, loci_str_of(names));
    return status == LOCI_OK ? lc_buf_status(&a->names, err) : status;
}

static loci_status end_aside(aside *a, loci_status status, loci_error *err)
{
    if (status == LOCI_OK)
        status = lc_meta_set_text(
            a->tx, DISCARDING, (loci_str){a->names.ptr != NULL ? a->names.ptr : "", a->names.len},
            err);
    lc_buf_clear(&a->names);
    return status;
}

loci_status lc_discard_put_aside(lc_tx *tx, loci_error *err)
{
    char former[LC_PROJECTION_LIST_BYTES];
    aside a;
    loci_status status = begin_aside(&a, tx, err);
    loci_str rest;

    if (status == LOCI_OK)
        status = lc_meta_get_text(tx, "projection_tables", former, sizeof former, err);
    if (status == LOCI_OK)
        status = lc_catalogue_each(tx->db->catalogue, rename_projection, &a, err);
    rest = status == LOCI_OK ? loci_str_of(former) : LC_STR("");
    while (status == LOCI_OK && rest.len > 0)
        status = rename_table(&a, lc_str_split(rest, ' ', &rest), err);
    return end_aside(&a, status, err);
}

loci_status lc_discard_put_table_aside(lc_tx *tx, const lc_table *table, loci_error *err)
{
    aside a;
    loci_status status = begin_aside(&a, tx, err);

    if (status == LOCI_OK)
        status = rename_table(&a, loci_str_of(table->name), err);
    return end_aside(&a, status, err);
}

/* ---- Discarding ------------------------------------------------------------------------------ */

loci_status lc_discard_count(lc_tx *tx, int64_t *out, loci_error *err)
{
    char names[LC_PROJECTION_LIST_BYTES];
    loci_status status = lc_meta_get_text(tx, DISCARDING, names, sizeof names, err);
    loci_str rest = loci_str_of(names);

    if (status != LOCI_OK)
        return status;
    for (*out = 0; rest.len > 0; ++*out)
        (void)lc_str_split(rest, ' ', &rest);
    return LOCI_OK;
}

typedef struct slice {
    lc_tx *tx;
    lc_discard *discard;
    int64_t until_us;
    int64_t rows_max;
} slice;

static bool is_full(const slice *s)
{
    return s->discard->rows >= s->rows_max || lc_clock_monotonic_us() >= s->until_us;
}

/* `*is_gone`: it was emptied and dropped. */
static loci_status empty_table(slice *s, loci_str name, bool *is_gone, loci_error *err)
{
    const lc_db_upkeep *upkeep = s->tx->db->driver->upkeep;
    char table[NAME_BYTES_MAX + 8], statement[STATEMENT_BYTES];
    int64_t deleted = ROWS_AT_ONCE;
    bool exists;
    loci_status status;

    *is_gone = false;
    if (name.len > NAME_BYTES_MAX)
        return lc_fail(err, LOCI_ECORRUPT, "meta.discarding is damaged");
    (void)snprintf(table, sizeof table, "%.*s__old", LC_STR_ARG(name));
    status = upkeep->has_table(s->tx, table, &exists, err);
    while (status == LOCI_OK && exists && upkeep->delete_some != NULL && deleted > 0) {
        status = upkeep->delete_some(s->tx, table, ROWS_AT_ONCE, &deleted, err);
        s->discard->rows += deleted;
        if (status == LOCI_OK && deleted > 0 && is_full(s))
            return LOCI_OK;
    }
    (void)snprintf(statement, sizeof statement, "drop table %s", table);
    if (status == LOCI_OK && exists)
        status = upkeep->run_script(s->tx, statement, err);
    *is_gone = status == LOCI_OK;
    return status;
}

loci_status lc_discard_slice(lc_tx *tx, void *ctx, loci_error *err)
{
    lc_discard *discard = ctx;
    char names[LC_PROJECTION_LIST_BYTES];
    int64_t slice_us = discard->slice_us > 0 ? discard->slice_us : SLICE_US;
    slice s = {.tx = tx,
               .discard = discard,
               .until_us = lc_clock_monotonic_us() + slice_us,
               .rows_max = slice_us / US_PER_ROW};
    loci_status status = lc_meta_get_text(tx, DISCARDING, names, sizeof names, err);
    loci_str left = loci_str_of(names);
    bool is_gone = true, is_begun = false;

    discard->rows = 0;
    while (status == LOCI_OK && left.len > 0 && is_gone && !(is_begun && is_full(&s))) {
        loci_str after;
        loci_str name = lc_str_split(left, ' ', &after);

        is_begun = true;
        status = empty_table(&s, name, &is_gone, err);
        if (is_gone)
            left = after.len > 0 ? after : LC_STR("");
    }
    if (status == LOCI_OK && left.len != strlen(names))
        status = lc_meta_set_text(tx, DISCARDING, left, err);
    discard->is_done = left.len == 0;
    return status;
}

loci_status lc_discard_run(lc_db *db, loci_error *err)
{
    loci_status status = LOCI_OK;
    lc_discard discard = {0};

    while (status == LOCI_OK && !discard.is_done) {
        status = lc_db_write_one(db, LC_UPKEEP_WAIT_MS, lc_discard_slice, &discard, err);
        if (status == LOCI_OK && !discard.is_done)
            lc_clock_sleep_us(GAP_US);
    }
    return status;
}

loci_status lc_discard_enqueue(lc_tx *tx, loci_error *err)
{
    lc_id id;

    return lc_job_enqueue(
        tx, &(lc_job_new){.kind = LC_STR(LC_DISCARD_JOB), .unique = LC_STR("discard")}, &id, err);
}
