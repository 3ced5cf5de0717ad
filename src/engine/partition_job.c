/* partition_job.c - Tables outside the projections one after the other: begin, copy, swap, on a
 * connection of their own, so that the writer of this process goes on. Then the projections, as a
 * rebuild. Tables that are divided are recognised as such, so a job that is started again continues
 * with the others; the position within a table is its checkpoint, {"table", "copy": the server's
 * number of the copy, "after": [the key as texts]}.
 */
#include "engine/partition_job.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/str.h"
#include "engine/engine.h"
#include "engine/store_jobs.h"
#include "store/event.h"
#include "store/partition.h"

typedef struct division {
    lc_job_run *run;
    int64_t partitions;
    const lc_table *table; /* The one to divide next; NULL = only projections are left. */
    lc_partition_state state;
    lc_buf checkpoint;
    int64_t rows;
} division;

/* ---- Steps of one table ---------------------------------------------------------------------- */

static loci_status keep(division *d, const lc_partition *p, loci_error *err)
{
    lc_job_progress progress = {.done = d->rows + p->rows};
    lc_json_writer json;
    loci_status status;

    lc_buf_reset(&d->checkpoint);
    lc_jw_init(&json, &d->checkpoint);
    lc_jw_object(&json);
    lc_jw_member_text(&json, "table", p->table->name);
    lc_jw_member_int(&json, "copy", p->copy_id);
    lc_jw_name(&json, "after");
    lc_jw_array(&json);
    for (size_t i = 0; i < p->key_count; i++)
        lc_jw_str(&json, p->after[i]);
    lc_jw_end(&json);
    lc_jw_end(&json);
    status = lc_buf_status(&d->checkpoint, err);
    progress.checkpoint = lc_buf_str(&d->checkpoint);
    return status == LOCI_OK ? lc_job_run_keep(d->run, &progress, err) : status;
}

/* Behind the last row of the attempt before, if that filled this copy. */
static loci_status take_up(division *d, lc_partition *p, loci_error *err)
{
    loci_str after[LC_PARTITION_KEY_MAX];
    const lc_json *checkpoint, *list;
    size_t count = 0;
    loci_status status = LOCI_OK;

    if (d->run->job.checkpoint.len == 0)
        return LOCI_OK;
    status = lc_json_parse(d->run->arena, d->run->job.checkpoint, 0, &checkpoint, err);
    if (status != LOCI_OK || !lc_str_is(lc_event_str(checkpoint, "table"), p->table->name) ||
        lc_event_int(checkpoint, "copy", 0) != p->copy_id)
        return status;
    list = lc_json_find(checkpoint, "after", LC_JSON_ARRAY);
    for (const lc_json *item = list == NULL ? NULL : lc_json_first(list);
         item != NULL && count < LC_PARTITION_KEY_MAX; item = lc_json_next(item))
        after[count++] = lc_json_str(item);
    return lc_partition_continue(p, after, count, err);
}

static loci_status divide_table(lc_db *db, void *ctx, loci_error *err)
{
    division *d = ctx;
    lc_partition p;
    bool is_new = false;
    loci_status status;

    lc_partition_init(&p, &lc_engine_env(d->run->engine)->heap, d->table);
    status = lc_partition_begin(&p, db, &is_new, err);
    if (status == LOCI_OK && !is_new)
        status = take_up(d, &p, err);
    while (status == LOCI_OK && !p.is_over) {
        status = lc_partition_copy(&p, db, err);
        if (status == LOCI_OK)
            status = keep(d, &p, err);
    }
    if (status == LOCI_OK)
        status = lc_partition_swap(&p, db, err);
    d->rows += p.rows;
    lc_partition_clear(&p);
    return status;
}

/* ---- The job --------------------------------------------------------------------------------- */

static loci_status want(lc_tx *tx, void *ctx, loci_error *err)
{
    const division *d = ctx;
    int64_t before;
    loci_status status = lc_partition_wanted(tx, &before, err);

    if (status != LOCI_OK || before == d->partitions)
        return status;
    status = lc_partition_drop_copies(tx, err);
    return status == LOCI_OK ? lc_partition_want(tx, d->partitions, err) : status;
}

static loci_status find_table(lc_tx *tx, void *ctx, loci_error *err)
{
    division *d = ctx;
    loci_status status = lc_partition_look(tx, &d->state, err);

    return status == LOCI_OK ? lc_partition_find(tx, &d->table, err) : status;
}

static loci_status look(division *d, loci_error *err)
{
    return lc_engine_read(d->run->engine,
                          &(lc_read){.deadline_us = INT64_MAX, .body = find_table, .ctx = d}, err);
}

static loci_status read_args(division *d, loci_error *err)
{
    const lc_json *args;
    loci_status status = lc_json_parse(d->run->arena, d->run->job.args, 0, &args, err);

    if (status == LOCI_OK)
        d->partitions = lc_event_int(args, "partitions", 1);
    return status;
}

static loci_status run_partition(lc_job_run *run, loci_error *err)
{
    division d = {.run = run};
    lc_job_progress none = {0};
    loci_status status = read_args(&d, err);

    lc_buf_init(&d.checkpoint, &lc_engine_env(run->engine)->heap, LOCI_MEM_PIPELINES,
                LC_ARGS_BYTES_MAX);
    none.checkpoint = run->job.checkpoint;
    if (status == LOCI_OK)
        status = lc_job_run_commit(run, want, &d, &none, err);
    if (status == LOCI_OK)
        status = look(&d, err);
    while (status == LOCI_OK && d.table != NULL) {
        status = lc_engine_with_connection(run->engine, divide_table, &d, err);
        if (status == LOCI_OK)
            status = look(&d, err);
    }
    lc_buf_clear(&d.checkpoint);
    if (status != LOCI_OK)
        return status;
    return d.state.projections > 0 ? lc_job_rebuild.run(run, err)
                                   : lc_job_run_finish(run, NULL, NULL, LC_STR_NONE, err);
}

const lc_job_kind lc_job_partition = {
    .name = "store.partition",
    .help = "Divide the large tables of a PostgreSQL store into partitions, or join them again",
    .run = run_partition,
};
