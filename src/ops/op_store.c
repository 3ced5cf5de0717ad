/* op_store.c - store.status, store.verify and store.migrate. They concern the whole store, so they
 * are for admins and no part of a batch. */
#include "ops/op_store.h"

#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/str.h"
#include "engine/engine.h"
#include "store/job.h"
#include "store/rebuild.h"
#include "store/schema.h"
#include "store/verify.h"

#define TELL_US 100000

static const lc_param no_params[] = {{.name = NULL}};

/* ---- Shared --------------------------------------------------------------------------------- */

static loci_status tell(void *ctx, const char *what, int64_t done, int64_t total, loci_error *err)
{
    lc_store_work *work = ctx;
    int64_t now_us = lc_clock_monotonic_us();

    if (done != total && now_us - work->told_us < TELL_US && !lc_call_is_given_up(work->call))
        return LOCI_OK;
    work->told_us = now_us;
    return lc_call_progress(work->call, what, done, total, err);
}

static loci_status run_on(lc_db *db, void *ctx, loci_error *err)
{
    lc_store_work *work = ctx;
    lc_upkeep upkeep = {.db = db, .plan = &work->plan, .progress = tell, .ctx = work};

    return work->run(work, &upkeep, err);
}

loci_status lc_store_work_run(lc_call *call,
                              loci_status (*run)(lc_store_work *work, const lc_upkeep *upkeep,
                                                 loci_error *err),
                              loci_error *err)
{
    loci_engine *engine = call->engine;
    lc_store_work work = {.call = call, .run = run};
    const lc_store_input *in = call->input; /* NULL: the operation takes no arguments. */
    loci_status status;

    if (in != NULL && in->path.ptr != NULL) {
        work.path = (char *)lc_arena_copy(call->arena, in->path).ptr;
        if (work.path == NULL)
            return lc_fail_memory(err);
    }
    status = lc_dump_plan_init(&work.plan, &lc_engine_env(engine)->heap,
                               lc_engine_catalogue(engine), err);
    if (status == LOCI_OK)
        status = lc_engine_with_connection(engine, run_on, &work, err);
    lc_dump_plan_clear(&work.plan);
    return status;
}

/* ---- store.status --------------------------------------------------------------------------- */

static const lc_record counters_record = {
    .name = "EngineCounters",
    .members =
        (const lc_result[]){
            {"writes", LC_PARAM_INT, "Writes since open"},
            {"commits", LC_PARAM_INT, "Commits since open"},
            {"reads", LC_PARAM_INT, "Reads since open"},
            {"jobs_done", LC_PARAM_INT, "Jobs done since open"},
            {"jobs_failed", LC_PARAM_INT, "Jobs failed since open"},
            {"queue_length", LC_PARAM_INT, "Writes waiting now"},
            {"model_calls", LC_PARAM_INT, "Calls of providers since open"},
            {"model_failures", LC_PARAM_INT, "Failed calls of providers since open"},
            {"model_tokens", LC_PARAM_INT, "Tokens of providers since open"},
            {"user_cache_entries", LC_PARAM_INT, "Users in the cache now"},
            {"user_cache_bytes", LC_PARAM_INT, "Size of the user cache in bytes now"},
            {"user_cache_hits", LC_PARAM_INT, "Hits of the user cache since open"},
            {"user_cache_misses", LC_PARAM_INT, "Misses of the user cache since open"},
            {"user_cache_evictions", LC_PARAM_INT, "Evictions from the user cache since open"},
            {NULL},
        },
};

static const lc_record status_answer = {
    .members =
        (const lc_result[]){
            {"store", LC_PARAM_STRING, "Store, as named at open"},
            {"driver", LC_PARAM_STRING, "Database", .choices = "sqlite|postgresql"},
            {"store_id", LC_PARAM_STRING, "Id of the store; part of every id"},
            {"schema_version", LC_PARAM_INT, "Version of the tables"},
            {"version", LC_PARAM_STRING, "Version of loci"},
            {"bytes", LC_PARAM_INT, "Size of the store in bytes"},
            {"wal_bytes", LC_PARAM_INT, "Size of the write-ahead log in bytes"},
            {"users", LC_PARAM_INT, "Number of users with state"},
            {"events", LC_PARAM_INT, "Number of events in the logs of all users"},
            {"jobs", LC_PARAM_INT, "Number of jobs by status", LC_RESULT_MAP},
            {"counters", 0, "Counters of this process", .record = &counters_record},
            {"memory", LC_PARAM_INT, "Bytes of memory in use by category", LC_RESULT_MAP},
            {NULL},
        },
};

static const lc_sql size_sql = {
    "select count(*), cast(coalesce(sum(seq), 0) as bigint) from heads where user_id <> ''", "",
    "ii"};

static void put_counters(lc_json_writer *out, const lc_engine_counters *counters)
{
    lc_jw_name(out, "counters");
    lc_jw_object(out);
    lc_jw_member_int(out, "writes", counters->writes);
    lc_jw_member_int(out, "commits", counters->commits);
    lc_jw_member_int(out, "reads", counters->reads);
    lc_jw_member_int(out, "jobs_done", counters->jobs_done);
    lc_jw_member_int(out, "jobs_failed", counters->jobs_failed);
    lc_jw_member_int(out, "queue_length", counters->queue_length);
    lc_jw_member_int(out, "model_calls", counters->model_calls);
    lc_jw_member_int(out, "model_failures", counters->model_failures);
    lc_jw_member_int(out, "model_tokens", counters->model_tokens);
    lc_jw_member_int(out, "user_cache_entries", counters->user_cache.entries);
    lc_jw_member_int(out, "user_cache_bytes", counters->user_cache.bytes);
    lc_jw_member_int(out, "user_cache_hits", counters->user_cache.hits);
    lc_jw_member_int(out, "user_cache_misses", counters->user_cache.misses);
    lc_jw_member_int(out, "user_cache_evictions", counters->user_cache.evictions);
    lc_jw_end(out);
}

static void put_memory(lc_json_writer *out, const lc_heap *heap)
{
    lc_jw_name(out, "memory");
    lc_jw_object(out);
    for (int i = 0; i < LOCI_MEM_CATEGORIES; i++)
        lc_jw_member_int(out, lc_category_name((loci_category)i),
                         lc_heap_live_bytes(heap, (loci_category)i));
    lc_jw_end(out);
}

static loci_status put_jobs(lc_json_writer *out, lc_tx *tx, loci_error *err)
{
    int64_t counts[LC_JOB_STATUSES] = {0};
    loci_status status = lc_job_count(tx, counts, err);

    lc_jw_name(out, "jobs");
    lc_jw_object(out);
    for (int i = 0; i < LC_JOB_STATUSES; i++)
        lc_jw_member_int(out, lc_job_status_name((lc_job_status)i), counts[i]);
    lc_jw_end(out);
    return status;
}

static loci_status put_size(lc_json_writer *out, lc_tx *tx, loci_error *err)
{
    int64_t bytes = 0, wal_bytes = 0;
    lc_rows rows = {0};
    bool found;
    loci_status status = tx->db->driver->upkeep->size(tx->db, &bytes, &wal_bytes, err);

    lc_jw_member_int(out, "bytes", bytes);
    lc_jw_member_int(out, "wal_bytes", wal_bytes);
    if (status == LOCI_OK)
        status = lc_tx_find(tx, &size_sql, NULL, &rows, &found, err);
    if (status == LOCI_OK && found) {
        lc_jw_member_int(out, "users", lc_rows_i64(&rows, 0));
        lc_jw_member_int(out, "events", lc_rows_i64(&rows, 1));
    }
    lc_rows_end(&rows);
    return status;
}

static loci_status run_status(lc_call *call, lc_tx *tx, loci_error *err)
{
    lc_engine_counters counters = lc_engine_get_counters(call->engine);
    lc_json_writer *out = &call->out;
    int64_t schema_version = 0;
    loci_status status = lc_meta_get_i64(tx, "schema_version", 0, &schema_version, err);

    if (status != LOCI_OK)
        return status;
    lc_jw_object(out);
    lc_jw_member_text(out, "store", lc_engine_store(call->engine));
    lc_jw_member_text(out, "driver", tx->db->driver->name);
    lc_jw_member_text(out, "store_id", tx->db->store_id);
    lc_jw_member_int(out, "schema_version", schema_version);
    lc_jw_member_text(out, "version", loci_version());
    status = put_size(out, tx, err);
    if (status == LOCI_OK)
        status = put_jobs(out, tx, err);
    if (status != LOCI_OK)
        return status;
    put_counters(out, &counters);
    put_memory(out, &lc_engine_env(call->engine)->heap);
    lc_jw_end(out);
    return LOCI_OK;
}

static const lc_op op_status = {
    .name = "store.status",
    .help = "Return the size, the counts and the counters of the store",
    .params = no_params,
    .answer = &status_answer,
    .cost = LC_COST_WORK,
    .flags = LC_OP_ADMIN | LC_OP_IDEMPOTENT,
    .http = "GET /v1/store",
    .example = "{}",
    .run = run_status,
};

/* ---- store.verify --------------------------------------------------------------------------- */

static const lc_record verify_answer = {
    .members =
        (const lc_result[]){
            {"sound", LC_PARAM_BOOL,
             "Always true: damage is the error corrupt, which lists the problems"},
            {"users", LC_PARAM_INT, "Number of users checked"},
            {"events", LC_PARAM_INT, "Number of events replayed and compared"},
            {NULL},
        },
};

static loci_status verify(lc_store_work *work, const lc_upkeep *upkeep, loci_error *err)
{
    lc_json_writer *out = &work->call->out;
    lc_problems problems = {0};
    int64_t users = 0, events = 0;
    loci_status status = lc_verify(upkeep, &problems, err);

    if (status == LOCI_OK)
        status = lc_problems_status(&problems, err);
    if (status == LOCI_OK)
        status = lc_upkeep_count(upkeep->db, &users, &events, err);
    if (status != LOCI_OK)
        return status;
    lc_jw_object(out);
    lc_jw_member_bool(out, "sound", true);
    lc_jw_member_int(out, "users", users);
    lc_jw_member_int(out, "events", events);
    lc_jw_end(out);
    return LOCI_OK;
}

static loci_status run_verify(lc_call *call, loci_error *err)
{
    return lc_store_work_run(call, verify, err);
}

static const lc_op op_verify = {
    .name = "store.verify",
    .help = "Verify the log and that the projections agree with it",
    .params = no_params,
    .answer = &verify_answer,
    .cost = LC_COST_WORK,
    .flags = LC_OP_ADMIN | LC_OP_ALONE | LC_OP_IDEMPOTENT | LC_OP_STREAMS,
    .http = "POST /v1/store/verify",
    .example = "{}",
    .run_alone = run_verify,
};

/* ---- store.migrate -------------------------------------------------------------------------- */

static const lc_record migrate_answer = {
    .members =
        (const lc_result[]){
            {"from", LC_PARAM_INT, "Schema version before"},
            {"to", LC_PARAM_INT, "Schema version now"},
            {"rebuilt", LC_PARAM_BOOL, "True if the projections were rebuilt"},
            {NULL},
        },
};

static void tell_rebuild(void *ctx, const char *what, int64_t done, int64_t total)
{
    (void)tell(ctx, what, done, total, NULL); /* It is better ended than given up. */
}

static loci_status migrate(lc_store_work *work, const lc_upkeep *upkeep, loci_error *err)
{
    lc_json_writer *out = &work->call->out;
    lc_schema_state state;
    loci_status status = lc_schema_open(upkeep->db, NULL, &state, err);

    if (status == LOCI_OK && state.needs_rebuild)
        status = lc_rebuild_run(upkeep->db, tell_rebuild, work, err);
    if (status != LOCI_OK)
        return status;
    lc_jw_object(out);
    lc_jw_member_int(out, "from", state.version_before);
    lc_jw_member_int(out, "to", state.version);
    lc_jw_member_bool(out, "rebuilt", state.needs_rebuild);
    lc_jw_end(out);
    return LOCI_OK;
}

static loci_status run_migrate(lc_call *call, loci_error *err)
{
    return lc_store_work_run(call, migrate, err);
}

static const lc_op op_migrate = {
    .name = "store.migrate",
    .help = "Migrate the schema to this version; opening a store does so as well",
    .params = no_params,
    .answer = &migrate_answer,
    .cost = LC_COST_WORK,
    .flags = LC_OP_ADMIN | LC_OP_ALONE | LC_OP_MUTATES | LC_OP_IDEMPOTENT | LC_OP_STREAMS,
    .http = "POST /v1/store/migrate",
    .example = "{}",
    .run_alone = run_migrate,
};

extern const lc_op *const lc_ops_store[];
const lc_op *const lc_ops_store[] = {
    &op_status,          &op_verify,           &lc_op_store_rebuild,
    &lc_op_store_backup, &lc_op_store_restore, &lc_op_store_export,
    &lc_op_store_import, &op_migrate,          NULL,
};
