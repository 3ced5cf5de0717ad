/* op_store.c - the operations on a whole store, for admins: its state, checks and repairs, and the
 * store in files. Most cannot be in a batch.
 *
 * Paths are the process's own: relative ones start where it runs. That is why they are for admins.
 * A remote caller names a file in the folder of store.transfer_dir instead: an admin of the store
 * is not necessarily trusted with the files of the machine.
 */
#include "ops/op.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/str.h"
#include "base/url.h"
#include "engine/engine.h"
#include "engine/file_jobs.h"
#include "engine/models.h"
#include "engine/route.h"
#include "engine/store_jobs.h"
#include "engine/verify_job.h"
#include "ops/op_job.h"
#include "ops/upkeep_as_job.h"
#include "store/backup.h"
#include "store/db_upkeep.h"
#include "store/discard.h"
#include "store/partition.h"
#include "store/publish.h"
#include "store/rebuild.h"
#include "store/recover.h"
#include "store/schema.h"
#include "store/store_room.h"
#include "store/transfer.h"
#include "store/upkeep.h"
#include "store/vector.h"
#include "store/verify.h"

#define TELL_US 100000

static const lc_param no_params[] = {{.name = NULL}};

/* ---- Shared --------------------------------------------------------------------------------- */

/* An operation with a connection of its own at work. */
typedef struct store_work store_work;
typedef loci_status store_run(store_work *work, const lc_upkeep *upkeep, loci_error *err);
struct store_work {
    lc_call *call;
    lc_dump_plan plan; /* Outlives the connection, as it must. */
    store_run *run;
    int64_t told_us;          /* Time of the last progress report. */
    lc_file_work file;        /* Of the argument `path`; no path = none was named. */
    const lc_file_kind *kind; /* The work of run_file(). */
};

/* Input of the operations on files; verify and migrate take no arguments. */
typedef struct store_input {
    loci_str path;
    bool force;
    loci_str tenant; /* Of an export. */
} store_input;

static loci_status tell(void *ctx, const char *what, int64_t done, int64_t total, loci_error *err)
{
    store_work *work = ctx;
    int64_t now_us = lc_clock_monotonic_us();

    if (done != total && now_us - work->told_us < TELL_US && !lc_call_is_given_up(work->call))
        return LOCI_OK;
    work->told_us = now_us;
    return lc_call_progress(work->call, what, done, total, err);
}

static loci_status run_on(lc_db *db, void *ctx, loci_error *err)
{
    store_work *work = ctx;
    const store_input *in = work->call->input;
    lc_upkeep upkeep = {.db = db,
                        .plan = &work->plan,
                        .progress = tell,
                        .ctx = work,
                        .tenant_id = in != NULL ? in->tenant : LC_STR_NONE};

    return work->run(work, &upkeep, err);
}

/* Names, not paths, so that nothing leads out of the folder; nor does a link. */
static loci_status place_in_transfer_dir(lc_call *call, loci_str name, loci_str *out,
                                         loci_error *err)
{
    struct stat info;
    loci_status status;
    lc_buf path;

    if (memchr(name.ptr, '/', name.len) != NULL || lc_str_is(name, ".") || lc_str_is(name, ".."))
        return lc_fail(err, LOCI_EFORBIDDEN,
                       "path: over HTTP it is the name of a file in the directory of the setting "
                       "store.transfer_dir, without any /");
    lc_buf_init(&path, &lc_engine_env(call->engine)->heap, LOCI_MEM_REQUESTS,
                LC_PATH_BYTES_MAX - 1);
    status = lc_settings_text(lc_engine_settings(call->engine), &lc_setting_store_transfer_dir,
                              LC_STR_NONE, &path, err);
    if (status == LOCI_OK && path.len == 0)
        status = lc_fail(err, LOCI_EFORBIDDEN,
                         "path: files cannot be named over HTTP; set store.transfer_dir to a "
                         "directory for them, or use the command line");
    lc_buf_append_byte(&path, '/');
    lc_buf_append(&path, name);
    if (status == LOCI_OK)
        status = lc_buf_status(&path, err);
    if (status == LOCI_OK) {
        *out = lc_arena_copy(call->arena, lc_buf_str(&path));
        if (out->ptr == NULL)
            status = lc_fail_memory(err);
        else if (lstat(out->ptr, &info) == 0 && S_ISLNK(info.st_mode))
            status = lc_fail(err, LOCI_EFORBIDDEN, "path: %.*s is a link", LC_STR_ARG(name));
    }
    lc_buf_clear(&path);
    return status;
}

/* Finds the file that the argument `path` names, if there is one. */
static loci_status find_file(store_work *work, loci_error *err)
{
    lc_call *call = work->call;
    const store_input *in = call->input; /* NULL: the operation takes no arguments. */
    loci_str path;
    loci_status status;

    if (in == NULL || in->path.ptr == NULL)
        return LOCI_OK;
    path = in->path;
    if (call->is_remote) {
        status = place_in_transfer_dir(call, in->path, &path, err);
        if (status != LOCI_OK)
            return status;
    }
    path = lc_arena_copy(call->arena, path);
    if (path.ptr == NULL)
        return lc_fail_memory(err);
    work->file = (lc_file_work){.path = path.ptr,
                                .name = in->path,
                                .replaces = in->force,
                                .now_us = call->now_us,
                                .tenant = in->tenant};
    return LOCI_OK;
}

/* Runs `work` on a connection of its own and reports its progress ten times per second. */
static loci_status run_work(store_work *work, loci_error *err)
{
    loci_engine *engine = work->call->engine;
    loci_status status = lc_dump_plan_init(&work->plan, &lc_engine_env(engine)->heap,
                                           lc_engine_catalogue(engine), err);

    if (status == LOCI_OK)
        status = lc_engine_with_connection(engine, run_on, work, err);
    lc_dump_plan_clear(&work->plan);
    return status;
}

static loci_status do_file(store_work *work, const lc_upkeep *upkeep, loci_error *err)
{
    return work->kind->run(&work->file, upkeep, &work->call->out, err);
}

/* A caller over HTTP waits 30 seconds at most: for it the work is a job. */
static loci_status run_file(lc_call *call, const lc_file_kind *kind, loci_error *err)
{
    store_work work = {.call = call, .run = do_file, .kind = kind};
    loci_status status = find_file(&work, err);

    if (status == LOCI_OK && lc_upkeep_is_job(call)) {
        lc_upkeep_job job = {.kind = kind->job.name, .attempts_max = 1, .unit = kind->unit};

        status = lc_file_job_args(&work.file, call->arena, &job.args, err);
        return status == LOCI_OK ? lc_upkeep_as_job(call, &job, err) : status;
    }
    if (status != LOCI_OK)
        return status;
    status = run_work(&work, err);
    if (kind->done != NULL)
        kind->done(call->engine, &work.file, status);
    return status;
}

/* ---- store.status --------------------------------------------------------------------------- */

static const lc_record database_record = {
    .name = "RoutedDatabase",
    .members =
        (const lc_result[]){
            {"name", LC_PARAM_STRING, "Name of the database in store.routes"},
            {"store", LC_PARAM_STRING, "Its URL or path, without a password"},
            {"open", LC_PARAM_BOOL,
             "Whether this process has opened it; if not, its tenants are unavailable"},
            {NULL},
        },
};

static const lc_record counters_record = {
    .name = "EngineCounters",
    .members =
        (const lc_result[]){
            {"writes", LC_PARAM_INT, "Writes since open"},
            {"commits", LC_PARAM_INT, "Commits since open"},
            {"reads", LC_PARAM_INT, "Reads since open"},
            {"replica_reads", LC_PARAM_INT, "Reads answered by replicas since open"},
            {"replica_fallbacks", LC_PARAM_INT,
             "Reads since open that a replica could not answer, so the primary did"},
            {"recalls", LC_PARAM_INT, "Calls of memory.recall and context.build since open"},
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

static const lc_record generation_record = {
    .name = "VectorGeneration",
    .members =
        (const lc_result[]){
            {"generation", LC_PARAM_STRING, "Generation: the embedder, its model and its version"},
            {"users", LC_PARAM_INT, "Number of users with vectors of this generation"},
            {"in_use", LC_PARAM_BOOL, "True if it is the generation of the embedder in use"},
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
            {"read_only", LC_PARAM_BOOL,
             "True if the file or its directory cannot be written: reads work, writes are refused"},
            {"version", LC_PARAM_STRING, "Version of loci"},
            {"bytes", LC_PARAM_INT, "Size of the store in bytes"},
            {"wal_bytes", LC_PARAM_INT, "Size of the write-ahead log in bytes"},
            {"users", LC_PARAM_INT, "Number of users with state"},
            {"events", LC_PARAM_INT, "Number of events in the logs of all users"},
            {"jobs", LC_PARAM_INT,
             "Number of jobs of all users by status; queued jobs that are not due yet are "
             "`scheduled`",
             LC_RESULT_MAP},
            {"store_jobs", LC_PARAM_INT,
             "The same of jobs of the store itself, such as upkeep (job.list with scope \"store\")",
             LC_RESULT_MAP},
            {"backup_at", LC_PARAM_TIME, "Time of the last store.backup; null if there was none",
             LC_RESULT_NULLABLE},
            {"vectors", 0, "Embedders whose vectors are stored", LC_RESULT_LIST,
             .record = &generation_record},
            {"vectors_warning", LC_PARAM_STRING,
             "Why vectors of another embedder than the one in use are not used, and the next step; "
             "null if there are none",
             LC_RESULT_NULLABLE},
            {"scrub_pending", LC_PARAM_BOOL,
             "True if bytes of forgotten data may still be in the files"},
            {"scrub_blocked_by", LC_PARAM_STRING,
             "Reason why the last scrub of the files did not finish; null if it did",
             LC_RESULT_NULLABLE},
            {"tables_discarding", LC_PARAM_INT,
             "Number of tables that a rebuild has replaced and that are not deleted yet"},
            {"partitions", LC_PARAM_INT,
             "Number of partitions that each large table is to have; 1 = they are not divided"},
            {"tables_dividing", LC_PARAM_INT,
             "Number of large tables that have another number of partitions so far"},
            {"databases", 0, "Further databases, for the tenants of store.routes", LC_RESULT_LIST,
             .record = &database_record},
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
    lc_jw_member_int(out, "replica_reads", counters->replica_reads);
    lc_jw_member_int(out, "replica_fallbacks", counters->replica_fallbacks);
    lc_jw_member_int(out, "recalls", counters->recalls);
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

static void put_databases(lc_json_writer *out, loci_engine *engine)
{
    lc_routed_database at;

    lc_jw_name(out, "databases");
    lc_jw_array(out);
    for (size_t i = 0; lc_engine_database_at(engine, i, &at); i++) {
        lc_jw_object(out);
        lc_jw_member_text(out, "name", at.name);
        lc_jw_member_text(out, "store", at.store);
        lc_jw_member_bool(out, "open", at.engine != NULL);
        lc_jw_end(out);
    }
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

/* `name` is "jobs" or "store_jobs". */
static loci_status put_jobs(lc_json_writer *out, const char *name, lc_tx *tx, loci_error *err)
{
    lc_job_counts counts = {0};
    loci_status status = lc_job_count(tx, strcmp(name, "store_jobs") == 0, &counts, err);

    lc_jw_name(out, name);
    lc_jw_object(out);
    for (int i = 0; i < LC_JOB_STATUSES; i++)
        lc_jw_member_int(out, lc_job_status_name((lc_job_status)i), counts.by_status[i]);
    lc_jw_member_int(out, "scheduled", counts.scheduled);
    lc_jw_end(out);
    return status;
}

static loci_status put_backup(lc_json_writer *out, lc_tx *tx, loci_error *err)
{
    int64_t at_us = 0;
    loci_status status = lc_meta_get_i64(tx, LC_BACKUP_AT, 0, &at_us, err);

    if (at_us > 0)
        lc_jw_member_time(out, LC_BACKUP_AT, at_us);
    else
        lc_jw_member_null(out, LC_BACKUP_AT);
    return status;
}

static loci_status put_scrub(lc_call *call, lc_tx *tx, loci_error *err)
{
    lc_scrub_state state = {0};
    loci_str obstacle = LC_STR_NONE;
    loci_status status = lc_scrub_get(tx, &state, err);
    bool is_pending = state.wanted != state.done;

    if (status == LOCI_OK && is_pending)
        status = lc_scrub_obstacle(tx, call->arena, &obstacle, err);
    lc_jw_member_bool(&call->out, "scrub_pending", is_pending);
    if (obstacle.ptr != NULL)
        lc_jw_member_str(&call->out, "scrub_blocked_by", obstacle);
    else
        lc_jw_member_null(&call->out, "scrub_blocked_by");
    return status;
}

/* The encoder, whose file is large, is opened only if there are vectors to compare it with. */
static loci_status put_vectors(lc_call *call, lc_tx *tx, loci_error *err)
{
    lc_models *models = lc_engine_models(call->engine);
    lc_vector_generation items[LC_VECTOR_GENERATIONS_MAX];
    lc_embedder embedder = {.generation = ""};
    loci_str stale = LC_STR_NONE, warning = LC_STR_NONE;
    size_t count = 0;
    loci_status status = lc_vector_generations(tx, call->arena, items, &count, err);

    if (count > 0)
        (void)lc_models_find_embedder(models, call->arena, &embedder, NULL); /* "" if missing. */
    lc_jw_name(&call->out, "vectors");
    lc_jw_array(&call->out);
    for (size_t i = 0; i < count; i++) {
        bool is_in_use = lc_str_is(items[i].name, embedder.generation);

        lc_jw_object(&call->out);
        lc_jw_member_str(&call->out, "generation", items[i].name);
        lc_jw_member_int(&call->out, "users", items[i].users);
        lc_jw_member_bool(&call->out, "in_use", is_in_use);
        lc_jw_end(&call->out);
        if (!is_in_use && stale.ptr == NULL)
            stale = items[i].name;
    }
    lc_jw_end(&call->out);
    if (status == LOCI_OK && stale.ptr != NULL)
        status = lc_models_explain_stale(models, stale, call->arena, &warning, err);
    if (warning.ptr != NULL)
        lc_jw_member_str(&call->out, "vectors_warning", warning);
    else
        lc_jw_member_null(&call->out, "vectors_warning");
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
    int64_t schema_version = 0, discarding = 0, partitions = 1;
    lc_partition_state dividing = {0};
    loci_status status = lc_meta_get_i64(tx, "schema_version", 0, &schema_version, err);

    if (status != LOCI_OK)
        return status;
    lc_jw_object(out);
    lc_jw_member_text(out, "store", lc_engine_store(call->engine));
    lc_jw_member_text(out, "driver", tx->db->driver->name);
    lc_jw_member_text(out, "store_id", tx->db->store_id);
    lc_jw_member_int(out, "schema_version", schema_version);
    lc_jw_member_bool(out, "read_only", lc_engine_is_read_only(call->engine));
    lc_jw_member_text(out, "version", loci_version());
    status = put_size(out, tx, err);
    if (status == LOCI_OK)
        status = put_jobs(out, "jobs", tx, err);
    if (status == LOCI_OK)
        status = put_jobs(out, "store_jobs", tx, err);
    if (status == LOCI_OK)
        status = put_backup(out, tx, err);
    if (status == LOCI_OK)
        status = put_vectors(call, tx, err);
    if (status == LOCI_OK)
        status = put_scrub(call, tx, err);
    if (status == LOCI_OK)
        status = lc_discard_count(tx, &discarding, err);
    if (status == LOCI_OK)
        status = lc_partition_wanted(tx, &partitions, err);
    if (status == LOCI_OK)
        status = lc_partition_look(tx, &dividing, err);
    if (status != LOCI_OK)
        return status;
    lc_jw_member_int(out, "tables_discarding", discarding);
    lc_jw_member_int(out, "partitions", partitions);
    lc_jw_member_int(out, "tables_dividing", dividing.projections + dividing.others);
    put_databases(out, call->engine);
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
    .look = {.hidden = "counters memory"},
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

static loci_status verify(store_work *work, const lc_upkeep *upkeep, loci_error *err)
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
    if (lc_upkeep_is_job(call))
        return lc_upkeep_as_job(call,
                                &(lc_upkeep_job){.kind = lc_job_verify.name,
                                                 .args = LC_STR("{}"),
                                                 .unit = "events verified"},
                                err);
    return run_work(&(store_work){.call = call, .run = verify}, err);
}

static const lc_op op_verify = {
    .name = "store.verify",
    .help = "Verify the log and that the projections agree with it",
    .params = no_params,
    .answer = &verify_answer,
    .cost = LC_COST_WORK,
    .flags = LC_OP_ADMIN | LC_OP_ALONE | LC_OP_IDEMPOTENT | LC_OP_STREAMS | LC_OP_BULK,
    .http = "POST /v1/store/verify",
    .look = {.sentence = "{sound yes=sound,no=damaged} (users: {users}, events: {events})"},
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

static loci_status migrate(store_work *work, const lc_upkeep *upkeep, loci_error *err)
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
    return run_work(&(store_work){.call = call, .run = migrate}, err);
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

/* ---- store.rebuild -------------------------------------------------------------------------- */

/* A durable job, and a caller that may wait for it. */
typedef struct rebuild_input {
    bool wait;
} rebuild_input;

static const lc_param rebuild_params[] = {
    LC_JOB_WAIT_PARAM(rebuild_input, wait),
    {.name = NULL},
};

const lc_record lc_rebuilt_record = {
    .members =
        (const lc_result[]){
            {"events", LC_PARAM_INT, "Number of events that were replayed"},
            {"equal", LC_PARAM_BOOL,
             "True if the projections equal the old ones; null if they cannot be compared",
             LC_RESULT_NULLABLE},
            {"differences", LC_PARAM_INT, "Number of rows that differ"},
            {"tables", LC_PARAM_STRING, "Names of the tables that differ"},
            {"users_skipped", LC_PARAM_INT,
             "Number of users that were not compared, since they changed meanwhile"},
            {NULL},
        },
};

static const lc_record rebuild_answer = {
    .members =
        (const lc_result[]){
            LC_JOB_RESULTS,
            {"result", 0, "Result, if done", LC_RESULT_OPTIONAL, .record = &lc_rebuilt_record},
            {NULL},
        },
};

static loci_status enqueue(lc_tx *tx, lc_id *out, loci_error *err)
{
    return lc_job_enqueue(
        tx, &(lc_job_new){.kind = loci_str_of(lc_job_rebuild.name), .unique = LC_STR("rebuild")},
        out, err);
}

static loci_status run_rebuild(lc_call *call, loci_error *err)
{
    return lc_job_start_run(call,
                            &(lc_job_start){.tenant_id = LC_STR(""),
                                            .user_id = LC_STR(""),
                                            .enqueue = enqueue,
                                            .unit = "events replayed",
                                            .waits = ((const rebuild_input *)call->input)->wait},
                            err);
}

static const lc_op op_rebuild = {
    .name = "store.rebuild",
    .help = "Rebuild the projections from the log and compare them with the old ones",
    .params = rebuild_params,
    .input_bytes = sizeof(rebuild_input),
    .answer = &rebuild_answer,
    .cost = LC_COST_WORK,
    .flags = LC_OP_ADMIN | LC_OP_ALONE | LC_OP_MUTATES | LC_OP_STREAMS | LC_OP_BULK | LC_OP_JOB,
    .http = "POST /v1/store/rebuild",
    .example = "{\"wait\":true}",
    .run_alone = run_rebuild,
};

/* ---- Files ---------------------------------------------------------------------------------- */

#define PATH_PARAM(flags_, help_)                                                                  \
    {                                                                                              \
        LC_ARG_STR("path", store_input, path), .flags = (flags_) | LC_PARAM_POSITIONAL, .min = 1,  \
                                               .max = LC_PATH_BYTES_MAX - 1, .help = help_         \
    }
#define FORCE_PARAM                                                                                \
    {                                                                                              \
        LC_ARG_BOOL("force", store_input, force, "false"),                                         \
            .help = "Whether to replace an existing file"                                          \
    }

static bool is_forced(const lc_call *call)
{
    return ((const store_input *)call->input)->force;
}

/* ---- store.backup --------------------------------------------------------------------------- */

static const lc_param backup_params[] = {
    PATH_PARAM(LC_PARAM_REQUIRED, "File to create: a complete store"),
    FORCE_PARAM,
    {.name = NULL},
};

static const lc_record backup_answer = {
    .members =
        (const lc_result[]){
            {"path", LC_PARAM_STRING, "Path of the file"},
            {"bytes", LC_PARAM_INT, "Size of the file in bytes"},
            {NULL},
        },
};

static loci_status run_backup(lc_call *call, loci_error *err)
{
    return run_file(call, &lc_file_backup, err);
}

static const lc_op op_backup = {
    .name = "store.backup",
    .help = "Copy the store, while it is in use, into one file",
    .params = backup_params,
    .input_bytes = sizeof(store_input),
    .answer = &backup_answer,
    .cost = LC_COST_WORK,
    .flags = LC_OP_ADMIN | LC_OP_ALONE | LC_OP_IDEMPOTENT | LC_OP_STREAMS,
    .http = "POST /v1/store/backup",
    .look = {.sentence = "copied the store to {path}, {bytes} bytes"},
    .example = "{\"path\":\"backup.db\",\"force\":true}",
    .run_alone = run_backup,
};

/* ---- store.restore -------------------------------------------------------------------------- */

static const lc_param restore_params[] = {
    PATH_PARAM(LC_PARAM_REQUIRED, "File made by store.backup"),
    {LC_ARG_BOOL("force", store_input, force, "false"),
     .help = "Whether to replace a store that is damaged; what could be recovered from it is lost"},
    {.name = NULL},
};

static const lc_record restore_answer = {
    .members =
        (const lc_result[]){
            {"path", LC_PARAM_STRING, "Path of the file"},
            {"store_id", LC_PARAM_STRING, "Id of the restored store"},
            {"schema_version", LC_PARAM_INT, "Schema version of the backup; it is migrated now"},
            {NULL},
        },
};

/* A damaged store may hold the only copy of something: store.recover reads it, and a restore into
 * the same file would end that. */
static loci_status refuse_damaged(const store_work *work, const lc_upkeep *upkeep, loci_error *err)
{
    lc_problems problems = {0};
    loci_status status;

    if (is_forced(work->call))
        return LOCI_OK;
    status = upkeep->db->driver->upkeep->check(upkeep->db, &problems, err);
    if (status != LOCI_OK || problems.count == 0)
        return status;
    return lc_fail(err, LOCI_ECONFLICT,
                   "the store is damaged, and its content would be lost: `loci restore` moves its "
                   "file aside first; or pass force: true");
}

static loci_status restore(store_work *work, const lc_upkeep *upkeep, loci_error *err)
{
    lc_json_writer *out = &work->call->out;
    lc_backup_facts facts = {0};
    loci_status status = lc_upkeep_refuse_own_file(upkeep->db, work->file.path, err);

    if (status == LOCI_OK)
        status = refuse_damaged(work, upkeep, err);
    if (status == LOCI_OK)
        status = lc_restore(upkeep, work->file.path, &facts, err);
    if (status != LOCI_OK)
        return status;
    lc_jw_object(out);
    lc_jw_member_str(out, "path", work->file.name);
    lc_jw_member_text(out, "store_id", facts.store_id);
    lc_jw_member_int(out, "schema_version", facts.schema_version);
    lc_jw_end(out);
    return LOCI_OK;
}

static loci_status run_restore(lc_call *call, loci_error *err)
{
    store_work work = {.call = call, .run = restore};
    loci_status status = find_file(&work, err);

    if (status != LOCI_OK)
        return status;
    status = run_work(&work, err);

    /* Also after a failure: it may have come after the copy. */
    lc_engine_store_replaced(call->engine);
    return status;
}

static const lc_op op_restore = {
    .name = "store.restore",
    .help = "Replace the content of the store by a backup",
    .params = restore_params,
    .input_bytes = sizeof(store_input),
    .answer = &restore_answer,
    .cost = LC_COST_WORK,
    .flags = LC_OP_ADMIN | LC_OP_ALONE | LC_OP_MUTATES | LC_OP_IDEMPOTENT | LC_OP_STREAMS |
             LC_OP_DESTROYS | LC_OP_LONG, /* The job would be among the rows that it replaces. */
    .http = "POST /v1/store/restore",
    .look = {.sentence = "restored the store from {path}"},
    .example = "{\"path\":\"backup.db\"}",
    .run_alone = run_restore,
};

/* ---- store.export --------------------------------------------------------------------------- */

static const lc_param export_params[] = {
    PATH_PARAM(0, "File to create (default: lines are streamed to the caller)"),
    FORCE_PARAM,
    LC_NAME_PARAM("tenant", store_input, tenant, 0,
                  "Tenant whose users are exported, without settings (default: all)"),
    {.name = NULL},
};

static const lc_record export_answer = {
    .members =
        (const lc_result[]){
            {"path", LC_PARAM_STRING, "Path of the file, if one was named", LC_RESULT_OPTIONAL},
            {"users", LC_PARAM_INT, "Number of users in it"},
            {"events", LC_PARAM_INT, "Number of events in it"},
            {"settings", LC_PARAM_INT, "Number of stored settings in it"},
            {NULL},
        },
};

static loci_status give_line(void *ctx, loci_str line, loci_error *err)
{
    return lc_call_line(ctx, line, err);
}

static loci_status export_lines(store_work *work, const lc_upkeep *upkeep, loci_error *err)
{
    lc_json_writer *out = &work->call->out;
    lc_transfer_counts counts = {0};
    loci_status status = lc_export(upkeep, give_line, work->call, &counts, err);

    if (status != LOCI_OK)
        return status;
    lc_jw_object(out);
    lc_file_put_counts(out, &counts);
    lc_jw_end(out);
    return LOCI_OK;
}

static loci_status run_export(lc_call *call, loci_error *err)
{
    if (((const store_input *)call->input)->path.ptr != NULL)
        return run_file(call, &lc_file_export, err);
    if (call->sink == NULL)
        return lc_fail(err, LOCI_EINVAL,
                       "path: missing, and the caller does not stream lines; name a file");
    return run_work(&(store_work){.call = call, .run = export_lines}, err);
}

static const lc_op op_export = {
    .name = "store.export",
    .help = "Export the logs of all users as lines of JSON",
    .params = export_params,
    .input_bytes = sizeof(store_input),
    .answer = &export_answer,
    .cost = LC_COST_WORK,
    .flags = LC_OP_ADMIN | LC_OP_ALONE | LC_OP_IDEMPOTENT | LC_OP_STREAMS | LC_OP_LINES,
    .http = "POST /v1/store/export",
    .look = {.sentence = "exported users: {users}, events: {events}[, to {path}]"},
    .example = "{\"path\":\"export.ndjson\",\"force\":true}",
    .run_alone = run_export,
};

/* ---- store.import --------------------------------------------------------------------------- */

static const lc_param import_params[] = {
    PATH_PARAM(LC_PARAM_REQUIRED, "File made by store.export"),
    {.name = NULL},
};

static const lc_record import_answer = {
    .members =
        (const lc_result[]){
            {"path", LC_PARAM_STRING, "Path of the file"},
            {"users", LC_PARAM_INT, "Number of users in it"},
            {"events", LC_PARAM_INT, "Number of events in it"},
            {"settings", LC_PARAM_INT,
             "Number of settings in it; settings already stored are kept"},
            {"skipped", LC_PARAM_INT, "Number of events that were in the store already"},
            {NULL},
        },
};

static loci_status run_import(lc_call *call, loci_error *err)
{
    return run_file(call, &lc_file_import, err);
}

static const lc_op op_import = {
    .name = "store.import",
    .help = "Import a file written by store.export; resumes if interrupted",
    .params = import_params,
    .input_bytes = sizeof(store_input),
    .answer = &import_answer,
    .cost = LC_COST_WORK,
    .flags = LC_OP_ADMIN | LC_OP_ALONE | LC_OP_MUTATES | LC_OP_IDEMPOTENT | LC_OP_STREAMS |
             LC_OP_BULK,
    .http = "POST /v1/store/import",
    .look = {.sentence = "imported users: {users}, events: {events}[, known already: {skipped}]"},
    .example = "{\"path\":\"export.ndjson\"}",
    .run_alone = run_import,
};

/* ---- store.recover -------------------------------------------------------------------------- */

typedef struct recover_input {
    loci_str path;
    loci_str to;
    bool force;
} recover_input;

static const lc_param recover_params[] = {
    {LC_ARG_STR("path", recover_input, path), .flags = LC_PARAM_REQUIRED | LC_PARAM_POSITIONAL,
     .min = 1, .max = LC_PATH_BYTES_MAX - 32,
     .help = "File of a damaged SQLite store; it is only read"},
    {LC_ARG_STR("to", recover_input, to), .flags = LC_PARAM_POSITIONAL, .min = 1,
     .max = LC_PATH_BYTES_MAX - 1,
     .help = "File to create: a new store (default: the path with .recovered at its end)"},
    {LC_ARG_BOOL("force", recover_input, force, "false"),
     .help = "Whether to replace an existing file"},
    {.name = NULL},
};

static const lc_record lost_record = {
    .name = "LostEvents",
    .members =
        (const lc_result[]){
            {"tenant_id", LC_PARAM_STRING, "Tenant"},
            {"user_id", LC_PARAM_STRING, "User"},
            {"first_seq", LC_PARAM_INT, "First event that was lost"},
            {"last_seq", LC_PARAM_INT, "Last event that was lost"},
            {NULL},
        },
};

static const lc_record recover_answer = {
    .members =
        (const lc_result[]){
            {"path", LC_PARAM_STRING, "Path of the damaged file, which was not changed"},
            {"to", LC_PARAM_STRING, "Path of the new store"},
            {"users", LC_PARAM_INT, "Number of users in the new store"},
            {"events", LC_PARAM_INT, "Number of events that were recovered"},
            {"events_lost", LC_PARAM_INT,
             "Number of events that were lost; event.lost is in their place"},
            {"events_unusable", LC_PARAM_INT,
             "Of the lost events: how many could be read, but depend on others that were lost"},
            {"lost", 0, "Ranges of events that were lost, at most 1000", LC_RESULT_LIST,
             .record = &lost_record},
            {"users_without_head", LC_PARAM_INT,
             "Number of users of whom it is not known whether later events were lost"},
            {"wal_damaged", LC_PARAM_BOOL,
             "True if the end of the write-ahead log, with the last writes, could not be read"},
            {"settings", LC_PARAM_INT, "Number of settings that were recovered"},
            {"not_kept", LC_PARAM_STRING, "Names of the tables that are empty in the new store",
             LC_RESULT_LIST},
            {"sound", LC_PARAM_BOOL, "True if the new store passes store.verify"},
            {"problems", LC_PARAM_STRING, "Problems that store.verify finds in the new store",
             LC_RESULT_LIST},
            {NULL},
        },
};

static loci_status name_empty_table(void *ctx, const lc_table *table, loci_error *err)
{
    (void)err;
    if (table->table_class == LC_TABLE_OPERATIONAL && strcmp(table->name, "meta") != 0 &&
        strcmp(table->name, "settings") != 0)
        lc_jw_text(ctx, table->name);
    return LOCI_OK;
}

static void put_recovery(lc_call *call, const lc_recovery *found)
{
    const lc_catalogue *catalogue = lc_engine_catalogue(call->engine);
    lc_json_writer *out = &call->out;

    lc_jw_member_int(out, "users", found->users);
    lc_jw_member_int(out, "events", found->events);
    lc_jw_member_int(out, "events_lost", found->events_lost);
    lc_jw_member_int(out, "events_unusable", found->events_unusable);
    lc_jw_name(out, "lost");
    lc_jw_array(out);
    for (const lc_lost_range *lost = found->lost; lost != NULL; lost = lost->next) {
        lc_jw_object(out);
        lc_jw_member_str(out, "tenant_id", lost->tenant_id);
        lc_jw_member_str(out, "user_id", lost->user_id);
        lc_jw_member_int(out, "first_seq", lost->first_seq);
        lc_jw_member_int(out, "last_seq", lost->last_seq);
        lc_jw_end(out);
    }
    lc_jw_end(out);
    lc_jw_member_int(out, "users_without_head", found->users_without_head);
    lc_jw_member_bool(out, "wal_damaged", found->wal_is_damaged);
    lc_jw_member_int(out, "settings", found->settings);
    lc_jw_name(out, "not_kept");
    lc_jw_array(out);
    (void)lc_catalogue_each(catalogue, name_empty_table, out, NULL); /* Cannot fail. */
    lc_jw_end(out);
    lc_jw_member_bool(out, "sound", found->problems.count == 0);
    lc_jw_name(out, "problems");
    lc_jw_array(out);
    for (int64_t i = 0; i < found->problems.count && i < LC_PROBLEMS_MAX; i++)
        lc_jw_text(out, found->problems.text[i]);
    lc_jw_end(out);
}

/* Reading a file that this process has open would end its locks. */
static loci_status refuse_open_store(const lc_call *call, const char *path, loci_error *err)
{
    char own[LC_PATH_BYTES_MAX];

    if (realpath(lc_engine_store(call->engine), own) == NULL || !lc_path_is_same(path, own))
        return LOCI_OK;
    return lc_fail(err, LOCI_EINVAL,
                   "path: %s is the store that is open here; end this process, then run `loci "
                   "recover`",
                   path);
}

static loci_status run_recover(lc_call *call, loci_error *err)
{
    const recover_input *in = call->input;
    store_work work = {.call = call};
    loci_str path = in->path, to = in->to, named = in->to;
    char made[LC_PATH_BYTES_MAX];
    lc_recovery found;
    loci_status status = LOCI_OK;

    if (lc_url_is(lc_arena_copy(call->arena, path).ptr))
        return lc_fail(err, LOCI_EUNSUPPORTED,
                       "path: only SQLite files can be recovered; for a PostgreSQL store use its "
                       "server's own tools");
    if (named.ptr == NULL) {
        (void)snprintf(made, sizeof made, "%.*s.recovered", LC_STR_ARG(path)); /* Fits: see max. */
        to = named = loci_str_of(made);
    }
    if (call->is_remote)
        status = place_in_transfer_dir(call, in->path, &path, err);
    if (status == LOCI_OK && call->is_remote)
        status = place_in_transfer_dir(call, named, &to, err);
    path = lc_arena_copy(call->arena, path);
    to = lc_arena_copy(call->arena, to);
    if (status == LOCI_OK && (path.ptr == NULL || to.ptr == NULL))
        status = lc_fail_memory(err);
    if (status == LOCI_OK)
        status = refuse_open_store(call, path.ptr, err);
    if (status == LOCI_OK)
        status = lc_recover_run(&(lc_recover){.env = lc_engine_env(call->engine),
                                              .catalogue = lc_engine_catalogue(call->engine),
                                              .from = path.ptr,
                                              .to = to.ptr,
                                              .replace = in->force,
                                              .progress = tell,
                                              .ctx = &work,
                                              .arena = call->arena},
                                &found, err);
    if (status != LOCI_OK)
        return status;
    lc_jw_object(&call->out);
    lc_jw_member_str(&call->out, "path", in->path);
    lc_jw_member_str(&call->out, "to", named);
    put_recovery(call, &found);
    lc_jw_end(&call->out);
    return LOCI_OK;
}

static const lc_op op_recover = {
    .name = "store.recover",
    .help = "Make a new store from the readable part of a damaged SQLite file",
    .params = recover_params,
    .input_bytes = sizeof(recover_input),
    .answer = &recover_answer,
    .cost = LC_COST_WORK,
    .flags = LC_OP_ADMIN | LC_OP_ALONE | LC_OP_IDEMPOTENT | LC_OP_STREAMS | LC_OP_NO_STORE |
             LC_OP_FILES,
    .http = "POST /v1/store/recover",
    .example = "{\"path\":\"backup.db\",\"to\":\"recovered.db\",\"force\":true}",
    .run_alone = run_recover,
};

extern const lc_op *const lc_ops_store[];
const lc_op *const lc_ops_store[] = {
    &op_status, &op_verify, &op_rebuild, &op_backup,  &op_restore,
    &op_export, &op_import, &op_migrate, &op_recover, NULL,
};
