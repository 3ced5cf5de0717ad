/* engine.c - opening and closing, in the order in which the parts need each other:
 *
 *     env -> settings (outside) -> store, schema, rebuild -> settings (stored) -> writer, readers
 *         -> guard of memory -> pool, watch, workers
 *
 * Closing goes the other way. A poisoned engine (a bug was found) closes too, but writes nothing.
 */
#include "engine/engine.h"

#include <string.h>

#include "base/assert.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "base/url.h"
#include "engine/internal.h"
#include "engine/rooms.h"
#include "engine/store_jobs.h"
#include "fact/authority.h"
#include "store/rebuild.h"
#include "store/schema.h"
#include "talk/talk.h"

#define UPKEEP_MS_MAX 10000
#define STORE_LABEL_BYTES 4096

const lc_setting lc_setting_cache_user_bytes_max = {
    .name = "cache.user_bytes_max",
    .kind = LC_SETTING_INT,
    .default_text = "268435456",
    .min = 0,
    .max = INT64_C(1) << 40,
    .help = "Maximum size of all per-user caches together, in bytes; one user who is larger is "
            "cached beside it; raise it if loci_user_cache_evictions_total keeps growing",
    .is_live = true,
};

const lc_setting lc_setting_call_timeout_ms = {
    .name = "call.timeout_ms",
    .kind = LC_SETTING_INT,
    .default_text = "30000",
    .min = 1,
    .max = 86400000,
    .help = "Default timeout of a call, in milliseconds",
    .is_live = true,
    .is_per_tenant = true,
};

const lc_setting lc_setting_hook_prompt_tokens = {
    .name = "hook.prompt_tokens",
    .kind = LC_SETTING_INT,
    .default_text = "600",
    .min = 0,
    .max = 100000,
    .help = "Maximum number of tokens that loci hook adds to a prompt; 0 adds nothing",
    .is_live = true,
    .is_per_tenant = true,
};

const lc_setting lc_setting_hook_start_tokens = {
    .name = "hook.start_tokens",
    .kind = LC_SETTING_INT,
    .default_text = "1500",
    .min = 0,
    .max = 100000,
    .help =
        "Maximum number of tokens that loci hook adds at the start of a session; 0 adds nothing",
    .is_live = true,
    .is_per_tenant = true,
};

const lc_setting lc_setting_hook_tool_bytes = {
    .name = "hook.tool_bytes",
    .kind = LC_SETTING_INT,
    .default_text = "2000",
    .min = 0,
    .max = 262144,
    .help = "Maximum bytes of a tool's output that loci hook keeps; 0 keeps none",
    .is_live = true,
    .is_per_tenant = true,
};

const lc_setting lc_setting_log_level = {
    .name = "log.level",
    .kind = LC_SETTING_CHOICE,
    .default_text = "\"info\"",
    .choices = "debug|info|warn|error", /* In the order of loci_log_level. */
    .help = "Lowest level of log records that are written",
};

const lc_setting lc_setting_request_keep_hours = {
    .name = "request.keep_hours",
    .kind = LC_SETTING_INT,
    .default_text = "24",
    .min = 1,
    .max = 8760,
    .help = "Hours for which the answer of a request_id is stored for retries",
    .is_live = true,
};

const lc_setting lc_setting_request_user_bytes_max = {
    .name = "request.user_bytes_max",
    .kind = LC_SETTING_INT,
    .default_text = "268435456",
    .min = 0,
    .max = INT64_C(1) << 40,
    .help =
        "Maximum size of all stored answers of one user, in bytes; when it is reached, calls with "
        "a new request_id are refused until answers are older than request.keep_hours",
    .is_live = true,
};

const lc_setting lc_setting_store_durability = {
    .name = "store.durability",
    .kind = LC_SETTING_CHOICE,
    .default_text = "\"full\"",
    .choices = "full|relaxed",
    .help = "full: a committed write survives a power failure; relaxed: a power failure may "
            "lose the last writes, a crash of the process none",
};

const lc_setting lc_setting_store_readers = {
    .name = "store.readers",
    .kind = LC_SETTING_INT,
    .default_text = "4",
    .min = 1,
    .max = 64,
    .help = "Number of connections for reads, which is how many calls can read at the same "
            "time",
};

const lc_setting lc_setting_store_transfer_dir = {
    .name = "store.transfer_dir",
    .kind = LC_SETTING_TEXT,
    .default_text = "\"\"",
    .max = 4000,
    .help = "Directory of the files that callers over HTTP name for backups and exports; empty: "
            "they cannot name files",
    .is_live = true,
};

/* ---- Accessors and guard --------------------------------------------------------------------- */

lc_env *lc_engine_env(loci_engine *engine)
{
    return &engine->env;
}

lc_settings *lc_engine_settings(loci_engine *engine)
{
    return engine->settings;
}

const lc_catalogue *lc_engine_catalogue(const loci_engine *engine)
{
    return &engine->catalogue;
}

const lc_db_driver *lc_engine_driver(const loci_engine *engine)
{
    return engine->driver;
}

const char *lc_engine_store(const loci_engine *engine)
{
    return engine->store_label;
}

loci_str lc_engine_tenant(const loci_engine *engine)
{
    return loci_str_of(engine->tenant);
}

loci_str lc_engine_tenant_of(const loci_engine *engine, const loci_principal *principal)
{
    loci_str named = principal != NULL ? loci_str_of(principal->tenant) : LC_STR_NONE;

    return named.len > 0 ? named : lc_engine_tenant(engine);
}

bool lc_engine_is_routed(const loci_engine *engine)
{
    return engine->main != NULL;
}

bool lc_engine_is_inline(const loci_engine *engine)
{
    return (engine->flags & LOCI_OPEN_INLINE) != 0;
}

bool lc_engine_is_read_only(const loci_engine *engine)
{
    return engine->is_read_only;
}

bool lc_engine_is_far(const loci_engine *engine)
{
    return engine->driver->is_remote;
}

lc_token_cache *lc_engine_token_cache(loci_engine *engine)
{
    return engine->token_cache;
}

loci_status lc_engine_talk(loci_engine *engine, const lc_talk **out, loci_error *err)
{
    lc_talk *talk = atomic_load_explicit(&engine->talk, memory_order_acquire), *own = NULL;
    loci_status status = LOCI_OK;

    /* Two threads may both compile; the second one to finish uses the result of the first. */
    if (talk == NULL) {
        status = lc_talk_new(&engine->env.heap, lc_title_weight, &own, err);
        if (status == LOCI_OK && atomic_compare_exchange_strong(&engine->talk, &talk, own))
            talk = own;
        else
            lc_talk_free(own);
    }
    if (status == LOCI_OK)
        *out = talk;
    return status;
}

lc_tokenizers *lc_engine_tokenizers(loci_engine *engine)
{
    return engine->tokenizers;
}

const lc_job_kind *lc_engine_find_job_kind(const loci_engine *engine, loci_str name)
{
    for (size_t i = 0; engine->job_kinds[i] != NULL; i++) {
        if (lc_str_is(name, engine->job_kinds[i]->name))
            return engine->job_kinds[i];
    }
    return NULL;
}

loci_status lc_engine_check(const loci_engine *engine, loci_error *err)
{
    if (!atomic_load_explicit(&engine->is_poisoned, memory_order_acquire))
        return LOCI_OK;
    return lc_fail(
        err, LOCI_EINTERNAL,
        "loci found a bug in itself and stopped using this store; open it again and report it");
}

void lc_engine_report_fault(void *ctx, const char *what, const char *file, int line)
{
    loci_engine *engine = ctx;

    if (atomic_exchange_explicit(&engine->is_poisoned, true, memory_order_acq_rel))
        return;
    lc_log_write(&engine->env.log, LOCI_LOG_ERROR, "engine.fault", LC_LOG_TEXT("what", what),
                 LC_LOG_TEXT("file", file), LC_LOG_INT("line", line));
    if (engine->on_fault != NULL)
        engine->on_fault(engine->fault_ctx, what, file, line);
}

loci_status lc_engine_guard(loci_engine *engine, lc_guarded *work, void *ctx, loci_error *err)
{
    lc_fault_frame frame = {.report = lc_engine_report_fault, .ctx = engine};
    loci_status status = lc_engine_check(engine, err);

    if (status != LOCI_OK)
        return status;
    if (LC_FAULT_ENTER(&frame))
        status = work(ctx, err);
    else
        status = lc_engine_check(engine, err);
    lc_fault_leave(&frame);
    return status;
}

int64_t lc_engine_count_of_reads(loci_engine *engine)
{
    return atomic_load_explicit(&engine->read_count, memory_order_relaxed) +
           lc_user_cache_get_counters(engine->user_cache).peeks;
}

void lc_engine_count_recall(loci_engine *engine)
{
    atomic_fetch_add_explicit(&engine->recall_count, 1, memory_order_relaxed);
}

static lc_engine_counters own_counters(loci_engine *engine)
{
    lc_writer_counters writer = lc_writer_get_counters(engine->writer);
    lc_workers_counters workers = lc_workers_get_counters(engine->workers);
    lc_model_meter models = lc_models_meter(engine->models, LC_STR_NONE);
    lc_user_cache_counters cache = lc_user_cache_get_counters(engine->user_cache);
    lc_replica_counters replicas = lc_replicas_get_counters(engine->replicas);

    return (lc_engine_counters){
        .writes = writer.writes,
        .commits = writer.commits,
        .queue_length = writer.queue_length,
        .reads = atomic_load_explicit(&engine->read_count, memory_order_relaxed) + cache.peeks,
        .replica_reads = replicas.reads,
        .replica_fallbacks = replicas.fallbacks,
        .recalls = atomic_load_explicit(&engine->recall_count, memory_order_relaxed),
        .user_cache = cache,
        .jobs_done = workers.done,
        .jobs_failed = workers.failed,
        .model_calls = models.chat_calls + models.embed_calls,
        .model_failures = models.chat_failures + models.embed_failures,
        .model_tokens = models.chat_tokens_in + models.chat_tokens_out + models.embed_tokens,
    };
}

static void add_counters(lc_engine_counters *sum, const lc_engine_counters *more)
{
    sum->writes += more->writes;
    sum->commits += more->commits;
    sum->reads += more->reads;
    sum->recalls += more->recalls;
    sum->jobs_done += more->jobs_done;
    sum->jobs_failed += more->jobs_failed;
    sum->queue_length += more->queue_length;
    sum->user_cache.entries += more->user_cache.entries;
    sum->user_cache.bytes += more->user_cache.bytes;
    sum->user_cache.hits += more->user_cache.hits;
    sum->user_cache.misses += more->user_cache.misses;
    sum->user_cache.evictions += more->user_cache.evictions;
}

lc_engine_counters lc_engine_get_counters(loci_engine *engine)
{
    lc_engine_counters sum = own_counters(engine);
    lc_routed_database at;

    for (size_t i = 0; lc_engine_database_at(engine, i, &at); i++) {
        if (at.engine != NULL) {
            lc_engine_counters more = own_counters(at.engine);

            add_counters(&sum, &more); /* Models and replicas are the main engine's. */
        }
    }
    return sum;
}

lc_engine_timings *lc_engine_get_timings(loci_engine *engine)
{
    return &engine->timings;
}

/* ---- Answers --------------------------------------------------------------------------------- */

loci_answer *lc_answer_new(lc_heap *heap, loci_str json)
{
    loci_answer *answer = lc_heap_alloc(heap, sizeof *answer + json.len + 1, LOCI_MEM_REQUESTS);

    if (answer == NULL)
        return NULL;
    answer->heap = heap;
    answer->next = NULL;
    answer->is_replayed = false;
    answer->len = json.len;
    if (json.len > 0)
        memcpy(answer->text, json.ptr, json.len);
    answer->text[json.len] = '\0';
    return answer;
}

loci_str loci_answer_json(const loci_answer *answer)
{
    return (loci_str){answer->text, answer->len};
}

void loci_answer_free(loci_answer *answer)
{
    if (answer != NULL)
        lc_heap_free(answer->heap, answer, sizeof *answer + answer->len + 1, LOCI_MEM_REQUESTS);
}

/* ---- Working with the store ------------------------------------------------------------------ */

typedef struct connecting {
    loci_engine *engine;
    const char *store;
    int64_t deadline_us;
    lc_db *db;
} connecting;

static bool has_routes(const loci_engine *engine)
{
    return engine->main != NULL ||
           lc_settings_is_set(engine->settings, &lc_setting_store_databases);
}

static loci_status connect_guarded(void *ctx, loci_error *err)
{
    connecting *c = ctx;
    loci_engine *engine = c->engine;
    lc_schema_state state;
    bool is_relaxed;
    loci_status status = engine->driver->open(
        &engine->env, &engine->catalogue,
        &(lc_db_target){.store = c->store, .deadline_us = c->deadline_us, .file = engine->file},
        &c->db, err);

    if (status == LOCI_OK)
        status = lc_schema_open(c->db, NULL, &state, err);
    if (status == LOCI_OK && c->store != engine->store &&
        strcmp(c->db->store_id, engine->store_id) != 0)
        status = lc_fail(err, LOCI_ECONFLICT, "the replica holds another store");
    if (status != LOCI_OK)
        return status;
    c->db->checks_tenants = has_routes(engine);
    is_relaxed = lc_settings_choice(engine->settings, &lc_setting_store_durability, LC_STR_NONE) !=
                 0;
    return c->db->driver->set_durability(c->db, is_relaxed, err);
}

/* Guarded by itself, like every use of a connection, so that a bug does not leave one open, with
 * its snapshot or its lock, for as long as the host runs. */
loci_status lc_engine_connect_to(loci_engine *engine, const char *replica, int64_t deadline_us,
                                 lc_db **out, loci_error *err)
{
    connecting c = {.engine = engine, .store = replica, .deadline_us = deadline_us};
    loci_status status = lc_engine_guard(engine, connect_guarded, &c, err);

    if (status == LOCI_OK)
        *out = c.db;
    else
        lc_db_close(c.db);
    return status;
}

loci_status lc_engine_connect(loci_engine *engine, int64_t deadline_us, lc_db **out,
                              loci_error *err)
{
    return lc_engine_connect_to(engine, engine->store, deadline_us, out, err);
}

void lc_engine_on_drained(loci_engine *engine, lc_drained_fn *drained, void *ctx)
{
    (void)pthread_rwlock_wrlock(&engine->drained_lock);
    engine->drained = drained;
    engine->drained_ctx = ctx;
    (void)pthread_rwlock_unlock(&engine->drained_lock);
}

void lc_engine_drained(loci_engine *engine)
{
    engine = engine->main != NULL ? engine->main : engine;
    (void)pthread_rwlock_rdlock(&engine->drained_lock);
    if (engine->drained != NULL)
        engine->drained(engine->drained_ctx);
    (void)pthread_rwlock_unlock(&engine->drained_lock);
}

typedef struct guarded_work {
    lc_db *db;
    lc_db_work *work;
    void *ctx;
} guarded_work;

static loci_status work_guarded(void *ctx, loci_error *err)
{
    const guarded_work *w = ctx;

    return w->work(w->db, w->ctx, err);
}

loci_status lc_engine_with_connection(loci_engine *engine, lc_db_work *work, void *ctx,
                                      loci_error *err)
{
    guarded_work w = {.work = work, .ctx = ctx};
    loci_status status = lc_engine_connect(engine, 0, &w.db, err);

    if (status != LOCI_OK)
        return status;
    status = lc_engine_guard(engine, work_guarded, &w, err);
    lc_replicas_wrote_all(engine->replicas); /* It may have been an import. */
    lc_watch_wrote_all(engine->watch);
    lc_db_close(w.db);
    return status;
}

void lc_engine_store_replaced(loci_engine *engine)
{
    lc_readers_renew(engine->readers);
    lc_writer_renew(engine->writer);
    lc_maintenance_renew(engine->maintenance);
    lc_token_cache_forget(engine->token_cache);
    lc_user_cache_clear(engine->user_cache);
    lc_engine_settings_changed(engine);
    lc_replicas_wrote_all(engine->replicas);
    lc_watch_replaced(engine->watch);
}

void lc_engine_wake_workers(loci_engine *engine)
{
    lc_workers_wake(engine->workers);
}

loci_status lc_engine_run_jobs(loci_engine *engine, int64_t end_us, loci_error *err)
{
    return lc_workers_run_due(engine->workers, end_us, err);
}

static loci_status reload_settings(lc_tx *tx, void *ctx, loci_error *err)
{
    loci_engine *engine = ctx;

    return engine->main != NULL ? LOCI_OK : lc_settings_reload(engine->settings, tx, err);
}

static int64_t setting(loci_engine *engine, const lc_setting *which)
{
    return lc_settings_i64(engine->settings, which, LC_STR_NONE);
}

static void limit_user_cache(loci_engine *engine)
{
    lc_user_cache_set_limit(engine->user_cache,
                            (size_t)setting(engine, &lc_setting_cache_user_bytes_max));
}

void lc_engine_apply_settings(loci_engine *engine)
{
    limit_user_cache(engine);
    lc_quotas_changed(engine->quotas);
}

void lc_engine_settings_changed(loci_engine *engine)
{
    loci_error err;

    lc_read read = {.deadline_us = lc_clock_monotonic_us() + UPKEEP_MS_MAX * 1000,
                    .body = reload_settings,
                    .ctx = engine};

    if (lc_engine_read(engine, &read, &err) == LOCI_OK) {
        atomic_store_explicit(&engine->has_old_settings, false, memory_order_relaxed);
        lc_engine_apply_settings(engine);
        lc_routes_settings_changed(engine->routes);
    } else {
        atomic_store_explicit(&engine->has_old_settings, true, memory_order_relaxed);
        lc_log_write(&engine->env.log, LOCI_LOG_WARN, "settings.not_reloaded",
                     LC_LOG_TEXT("why", err.message));
    }
}

/* ---- Opening and closing --------------------------------------------------------------------- */

static char *copy_text(lc_heap *heap, const char *text)
{
    size_t bytes = strlen(text) + 1;
    char *copy = lc_heap_alloc(heap, bytes, LOCI_MEM_ENGINE);

    return copy == NULL ? NULL : memcpy(copy, text, bytes);
}

static void free_text(lc_heap *heap, char *text)
{
    size_t bytes = text == NULL ? 0 : strlen(text) + 1;

    if (text == NULL)
        return;
    explicit_bzero(text, bytes); /* A store's URL may contain a password. */
    lc_heap_free(heap, text, bytes, LOCI_MEM_ENGINE);
}

static loci_status new_engine(const loci_open_options *options, loci_engine **out, loci_error *err)
{
    lc_heap heap;
    loci_engine *engine;
    uint64_t seed = options->seed;
    loci_status status;
    char label[STORE_LABEL_BYTES];

    if (options->store == NULL || options->store[0] == '\0')
        return lc_fail(err, LOCI_EINVAL, "store: expected a path or a URL");
    status = lc_url_check_store(options->store, err);
    if (status != LOCI_OK)
        return status;
    if ((options->flags & LOCI_OPEN_SEEDED) == 0 && !lc_random_secret(&seed, sizeof seed))
        return lc_fail(err, LOCI_ERESOURCE, "the system provides no random bytes");
    lc_heap_init(&heap, options->allocator);
    engine = lc_heap_zalloc(&heap, sizeof *engine, LOCI_MEM_ENGINE);
    if (engine == NULL)
        return lc_fail_memory(err);

    engine->env.heap.allocator = heap.allocator;
    engine->env.log = (lc_log){.write = options->log, .ctx = options->log_ctx};
    engine->env.clock = options->clock != NULL ? options->clock : lc_clock_system_us;
    engine->env.clock_ctx = options->clock_ctx;
    lc_random_init(&engine->env.random, seed);
    (void)pthread_rwlock_init(&engine->drained_lock, NULL); /* Cannot fail without attributes. */
    engine->flags = options->flags;
    engine->on_fault = options->on_fault;
    engine->fault_ctx = options->fault_ctx;
    engine->store = copy_text(&engine->env.heap, options->store);
    lc_url_write_label(options->store, label, sizeof label);
    engine->store_label = copy_text(&engine->env.heap, label);
    engine->tenant = copy_text(&engine->env.heap,
                               options->tenant != NULL ? options->tenant : "default");
    *out = engine;
    if (engine->store == NULL || engine->store_label == NULL || engine->tenant == NULL)
        return lc_fail_memory(err);
    if (engine->tenant[0] == '\0' || strlen(engine->tenant) > LC_ID_BYTES_MAX)
        return lc_fail(err, LOCI_EINVAL, "tenant: expected 1 to %d bytes", LC_ID_BYTES_MAX);
    return LOCI_OK;
}

static void log_rebuild(void *ctx, const char *what, int64_t done, int64_t total)
{
    loci_engine *engine = ctx;

    lc_log_write(&engine->env.log, LOCI_LOG_INFO, "store.rebuilding", LC_LOG_TEXT("what", what),
                 LC_LOG_INT("done", done), LC_LOG_INT("total", total));
}

/* An engine that is being opened. */
typedef struct start {
    loci_engine *engine;
    lc_db *db; /* The first connection, until the writer has taken it over. */
    lc_memory_guard_options guard;
} start;

/* The first connection creates or migrates the store. */
static loci_status open_store(start *s, loci_error *err)
{
    loci_engine *engine = s->engine;
    bool create = (engine->flags & LOCI_OPEN_EXISTING) == 0;
    lc_schema_state state;
    lc_db *db;
    loci_status status = engine->driver->open(
        &engine->env, &engine->catalogue,
        &(lc_db_target){.store = engine->store, .is_created = create}, &s->db, err);

    if (status != LOCI_OK)
        return status;
    db = s->db;
    engine->file = db->file;
    engine->is_read_only = db->is_read_only;
    status = lc_schema_open(db, NULL, &state, err);
    memcpy(engine->store_id, db->store_id, sizeof engine->store_id);
    if (status == LOCI_OK && state.needs_rebuild)
        status = lc_rebuild_run(db, log_rebuild, engine, err);
    if (status == LOCI_OK)
        status = lc_db_read(db, INT64_MAX, reload_settings, engine, err);
    db->checks_tenants = has_routes(engine);
    if (status == LOCI_OK)
        status = db->driver->set_durability(
            db,
            lc_settings_choice(engine->settings, &lc_setting_store_durability, LC_STR_NONE) != 0,
            err);
    return status;
}

/* The parts that routed engines share, and these engines. */
static loci_status start_main(start *s, loci_error *err)
{
    loci_engine *engine = s->engine;
    loci_status status = lc_tokenizers_new(&engine->env, engine->settings, &engine->tokenizers,
                                           err);

    if (status == LOCI_OK)
        status = lc_models_new(engine, &engine->models, err);
    if (status == LOCI_OK)
        status = lc_memory_guard_new(engine, &s->guard, &engine->memory_guard, err);
    if (status == LOCI_OK)
        status = lc_routes_new(engine, &engine->routes, err);
    return status;
}

static void borrow_parts(loci_engine *engine)
{
    engine->tokenizers = engine->main->tokenizers;
    engine->models = engine->main->models;
    engine->memory_guard = engine->main->memory_guard;
    lc_engine_add_heap(engine->main, &engine->env.heap);
}

static loci_status start_parts(void *ctx, loci_error *err)
{
    start *s = ctx;
    loci_engine *engine = s->engine;
    bool is_inline = lc_engine_is_inline(engine);
    loci_status status = open_store(s, err);

    if (status != LOCI_OK)
        return status;
    engine->env.log.level_min = (loci_log_level)lc_settings_choice(
        engine->settings, &lc_setting_log_level, LC_STR_NONE);
    status = lc_maintenance_new(engine, &engine->maintenance, err);
    if (status == LOCI_OK)
        status = lc_writer_new(engine, s->db, &engine->writer, err);
    if (status != LOCI_OK)
        return status;
    s->db = NULL;
    status = lc_readers_new(engine, NULL, (int)setting(engine, &lc_setting_store_readers),
                            &engine->readers, err);
    if (status == LOCI_OK && engine->main == NULL)
        status = lc_replicas_new(engine, &engine->replicas, err);
    if (status == LOCI_OK)
        status = lc_token_cache_new(&engine->env.heap, &engine->token_cache, err);
    if (status == LOCI_OK)
        status = lc_user_cache_new(&engine->env.heap, &engine->user_cache, err);
    if (status == LOCI_OK)
        limit_user_cache(engine);
    if (status == LOCI_OK)
        status = lc_quotas_new(engine, &engine->quotas, err);
    if (status == LOCI_OK && engine->main == NULL)
        status = start_main(s, err);
    else if (status == LOCI_OK)
        borrow_parts(engine);
    if (status == LOCI_OK)
        status = lc_pool_new(engine, &engine->pool, err);
    if (status == LOCI_OK)
        status = lc_watch_new(engine, !is_inline, &engine->watch, err);
    if (status == LOCI_OK)
        status = lc_workers_new(
            engine,
            is_inline || engine->is_read_only ? 0 : setting(engine, &lc_setting_job_workers),
            engine->main != NULL ? NULL : lc_memory_guard_running(engine->memory_guard),
            &engine->workers, err);
    if (status == LOCI_OK && !is_inline && !engine->is_read_only)
        status = lc_job_purge_schedule(engine, err);
    return status;
}

loci_status lc_engine_open(const loci_open_options *options, const lc_engine_parts *parts,
                           loci_engine **out, loci_error *err)
{
    static const lc_engine_parts own = {0};
    loci_engine *engine = NULL;
    loci_status status = new_engine(options, &engine, err);

    if (parts == NULL)
        parts = &own;
    if (status == LOCI_OK) {
        engine->driver = parts->driver != NULL ? parts->driver : lc_db_driver_of(options->store);
        engine->catalogue.rooms = parts->rooms != NULL ? parts->rooms : lc_engine_rooms;
        engine->job_kinds = parts->job_kinds != NULL ? parts->job_kinds : lc_engine_job_kinds;
        status = lc_settings_new(
            &engine->env,
            &(lc_setting_sources){.config_file = options->config_file,
                                  .environment = options->environment,
                                  .flags = options->settings,
                                  .variables = {options->variable, options->variable_ctx}},
            &engine->settings, err);
    }
    if (status == LOCI_OK) {
        start s = {.engine = engine,
                   .guard = {.parts = parts->guard,
                             .variable = options->variable,
                             .variable_ctx = options->variable_ctx}};

        status = lc_engine_guard(engine, start_parts, &s, err);
        lc_db_close(s.db);
    }
    if (status != LOCI_OK) {
        lc_engine_close(engine);
        return status;
    }
    lc_log_write(&engine->env.log, LOCI_LOG_INFO, "engine.opened",
                 LC_LOG_TEXT("store", engine->store_label),
                 LC_LOG_TEXT("driver", engine->driver->name));
    *out = engine;
    return LOCI_OK;
}

/* The borrowed parts are freed with the main engine. */
static void lend_back(loci_engine *engine)
{
    if (engine->memory_guard != NULL)
        lc_engine_remove_heap(engine->main, &engine->env.heap);
    engine->memory_guard = NULL;
    engine->tokenizers = NULL;
    engine->models = NULL;
    engine->settings = NULL;
}

loci_status lc_engine_open_routed(loci_engine *main, const char *store, loci_engine **out,
                                  loci_error *err)
{
    const lc_env *env = &main->env;
    loci_open_options options = LOCI_OPEN_OPTIONS_INIT;
    loci_engine *engine = NULL;
    loci_status status;

    options.store = store;
    options.flags = main->flags & ~(uint32_t)LOCI_OPEN_SEEDED;
    options.tenant = main->tenant;
    options.allocator = env->heap.allocator;
    options.log = env->log.write;
    options.log_ctx = env->log.ctx;
    options.clock = env->clock;
    options.clock_ctx = env->clock_ctx;
    options.on_fault = main->on_fault;
    options.fault_ctx = main->fault_ctx;
    status = new_engine(&options, &engine, err);
    if (status == LOCI_OK) {
        start s = {.engine = engine};

        engine->main = main;
        engine->settings = main->settings;
        engine->driver = lc_db_driver_of(store);
        engine->catalogue.rooms = main->catalogue.rooms;
        engine->job_kinds = main->job_kinds;
        status = lc_engine_guard(engine, start_parts, &s, err);
        lc_db_close(s.db);
    }
    if (status == LOCI_OK)
        *out = engine;
    else
        lc_engine_close(engine);
    return status;
}

void lc_engine_close(loci_engine *engine)
{
    lc_heap heap;

    if (engine == NULL)
        return;
    lc_pool_free(engine->pool);
    lc_writer_stop(engine->writer); /* Its completions may wake the workers and the watch. */
    lc_workers_free(engine->workers);
    lc_watch_free(engine->watch);
    lc_routes_free(engine->routes); /* The watch passed changed settings on to them. */
    if (engine->main != NULL)
        lend_back(engine);
    lc_memory_guard_free(engine->memory_guard);
    lc_maintenance_free(engine->maintenance);
    lc_writer_free(engine->writer);
    lc_readers_free(engine->readers);
    lc_replicas_free(engine->replicas);
    lc_token_cache_free(engine->token_cache);
    lc_tokenizers_free(engine->tokenizers);
    lc_talk_free(engine->talk);
    lc_user_cache_free(engine->user_cache);
    lc_quotas_free(engine->quotas);
    lc_models_free(engine->models);
    lc_settings_free(engine->settings);
    free_text(&engine->env.heap, engine->store);
    free_text(&engine->env.heap, engine->store_label);
    free_text(&engine->env.heap, engine->tenant);
    (void)pthread_rwlock_destroy(&engine->drained_lock);
    lc_heap_init(&heap, engine->env.heap.allocator);
    lc_heap_free(&heap, engine, sizeof *engine, LOCI_MEM_ENGINE);
}
