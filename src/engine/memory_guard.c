/* memory_guard.c - opening the engine's guard, its caches, and its signals.
 *
 * Memory is counted, not charged. The heaps count each allocation anyway, and a refused charge
 * would fail calls of a host whose own memory, not the engine's, fills the limit. Charges also live
 * in the threads that make them, and those of a host may end while the engine closes.
 *
 * Memory that was freed stays with malloc, so a guard that only evicts would see no effect. The
 * purge returns it: malloc_trim() gives back whole free pages in the middle of the heap too. It
 * takes each arena's lock for as long as it walks through it, which is why the guard calls it only
 * under pressure and at most once a second.
 *
 * Invariants: `guard` is set once, before other threads can see the engine, or by the one caller of
 * an inline engine; everything that the guard calls lives until the guard is closed.
 */
#include "engine/memory_guard.h"

#include <pthread.h>
#if defined(__GLIBC__)
#include <malloc.h>
#endif

#include "base/assert.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "engine/activity.h"
#include "engine/internal.h"
#include "guard/agents.h"
#include "guard/host.h"
#include "pressure/ladder.h"

#define HEAPS_MAX 12
#define USER_CACHE_BYTES_MIN (1 << 20) /* The few users that are active now keep their states. */

const lc_setting lc_setting_guard_enabled = {
    .name = "guard.enabled",
    .kind = LC_SETTING_BOOL,
    .default_text = "true",
    .help = "Whether the engine watches the memory of its process, evicts from caches and admits "
            "less work when memory gets scarce",
};

const lc_setting lc_setting_guard_limit_bytes = {
    .name = "guard.limit_bytes",
    .kind = LC_SETTING_INT,
    .default_text = "0",
    .min = 0,
    .max = LC_GUARD_BYTES_MAX,
    .help = "Memory that the process should stay below, in bytes; 0: only the limits of the "
            "system, its control groups and guard.machine_percent",
};

const lc_setting lc_setting_guard_machine_percent = {
    .name = "guard.machine_percent",
    .kind = LC_SETTING_INT,
    .default_text = "50",
    .min = 1,
    .max = 100,
    .help = "Share of the machine's memory that the process should stay below, in percent",
};

const lc_setting lc_setting_guard_agents_bytes_max = {
    .name = "guard.agents_bytes_max",
    .kind = LC_SETTING_INT,
    .default_text = "0",
    .min = 0,
    .max = LC_GUARD_BYTES_MAX,
    .help = "Bytes that the agents of one tenant may report to the guard together; 0: a quarter of "
            "the guard's limit",
};

struct lc_memory_guard {
    loci_engine *engine;
    lc_agents *agents;
    lc_activity *activity;      /* NULL in an inline engine. */
    loci_guard_options options; /* Of a guard that an inline engine opens later. */
    loci_guard *guard;          /* NULL = none yet, or off. */
    bool is_enabled;
    pthread_mutex_t heaps_lock;
    const lc_heap *heaps[HEAPS_MAX]; /* NULL = none. The engine's is the first. */
    pthread_rwlock_t hook_lock;      /* Shared while the hook runs, exclusive to replace it. */
    loci_signal_fn *hook;            /* Or NULL. */
    void *hook_ctx;
};

/* ---- Callbacks of the guard ------------------------------------------------------------------ */

static void purge(void *ctx)
{
    (void)ctx;
#if defined(__GLIBC__)
    (void)malloc_trim(0); /* Whether anything was returned shows in the next reading. */
#endif
}

static void take_signal(void *ctx, const loci_signal *signal)
{
    lc_memory_guard *memory = ctx;

    if (signal->kind == LOCI_SIGNAL_PRESSURE_CHANGED)
        lc_log_write(&memory->engine->env.log,
                     signal->level >= LOCI_LEVEL_HIGH ? LOCI_LOG_WARN : LOCI_LOG_INFO,
                     "guard.level_changed",
                     LC_LOG_TEXT("level", lc_ladder_guard.names[signal->level]),
                     LC_LOG_INT("need_bytes", signal->bytes));
    lc_agents_signal(memory->agents, signal);
    (void)pthread_rwlock_rdlock(&memory->hook_lock);
    if (memory->hook != NULL)
        memory->hook(memory->hook_ctx, signal);
    (void)pthread_rwlock_unlock(&memory->hook_lock);
}

void lc_engine_on_signal(loci_engine *engine, loci_signal_fn *hook, void *ctx)
{
    lc_memory_guard *memory = engine->memory_guard;

    (void)pthread_rwlock_wrlock(&memory->hook_lock);
    memory->hook = hook;
    memory->hook_ctx = ctx;
    (void)pthread_rwlock_unlock(&memory->hook_lock);
}

/* ---- Heaps ----------------------------------------------------------------------------------- */

/* The parts of usage that are shown by name. Buffers of model calls are requests: the guard asks
 * holders of LLM buffers to compact their contexts, and these hold none. */
static const struct {
    loci_category counted;
    loci_category shown;
    const char *name;
} components[] = {
    {LOCI_MEM_ENGINE, LOCI_MEM_ENGINE, "loci.engine"},
    {LOCI_MEM_REQUESTS, LOCI_MEM_REQUESTS, "loci.requests"},
    {LOCI_MEM_LLM_BUFFERS, LOCI_MEM_REQUESTS, "loci.model_calls"},
    {LOCI_MEM_CACHES, LOCI_MEM_CACHES, "loci.caches"},
    {LOCI_MEM_INDEX, LOCI_MEM_INDEX, "loci.index"},
    {LOCI_MEM_PIPELINES, LOCI_MEM_PIPELINES, "loci.jobs"},
    {LOCI_MEM_WAL, LOCI_MEM_WAL, "loci.writes"},
};

static int64_t sum_heaps(lc_memory_guard *memory, loci_category category)
{
    int64_t sum = 0;

    (void)pthread_mutex_lock(&memory->heaps_lock);
    for (int i = 0; i < HEAPS_MAX; i++) {
        if (memory->heaps[i] != NULL)
            sum += lc_heap_live_bytes(memory->heaps[i], category);
    }
    (void)pthread_mutex_unlock(&memory->heaps_lock);
    return sum > 0 ? sum : 0; /* Counters that are read one by one may be a little apart. */
}

static void report_heaps(lc_memory_guard *memory)
{
    for (size_t i = 0; i < sizeof components / sizeof *components; i++) {
        /* Fails when out of memory: the next tick reports again. */
        (void)loci_guard_report(memory->guard, components[i].name, components[i].shown,
                                sum_heaps(memory, components[i].counted), NULL);
    }
}

static void replace_heap(lc_memory_guard *memory, const lc_heap *from, const lc_heap *to)
{
    int at = 0;

    (void)pthread_mutex_lock(&memory->heaps_lock);
    while (at < HEAPS_MAX && memory->heaps[at] != from)
        at++;
    LC_ASSERT(at < HEAPS_MAX);
    memory->heaps[at] = to;
    (void)pthread_mutex_unlock(&memory->heaps_lock);
}

void lc_engine_add_heap(loci_engine *engine, const lc_heap *heap)
{
    replace_heap(engine->memory_guard, NULL, heap);
}

void lc_engine_remove_heap(loci_engine *engine, const lc_heap *heap)
{
    replace_heap(engine->memory_guard, heap, NULL);
}

/* ---- Caches ---------------------------------------------------------------------------------- */

/* An eviction, guarded so that a bug in closing a state poisons the engine instead of ending the
 * process from the guard's thread. */
typedef struct eviction {
    loci_engine *engine;
    int64_t bytes;
    int64_t until_us;
    int64_t freed_bytes;
} eviction;

/* Of the parts that exist before the guard does: its first tick may come before the others. */
static void note_activity(lc_memory_guard *memory)
{
    loci_engine *engine = memory->engine;
    int64_t used_bytes = lc_guard_sample(memory->guard).used_bytes; /* Of the last tick. */

    if (used_bytes == 0 || !lc_activity_is_due(memory->activity, lc_guard_now_ms(memory->guard)))
        return;
    lc_activity_add(memory->activity, &(lc_activity_sample){
                                          .at_us = lc_env_now_us(&engine->env),
                                          .used_bytes = used_bytes,
                                          .reads = lc_engine_count_of_reads(engine),
                                          .recalls = atomic_load_explicit(&engine->recall_count,
                                                                          memory_order_relaxed),
                                          .writes = lc_writer_get_counters(engine->writer).writes,
                                      });
}

static int64_t user_cache_bytes(void *ctx)
{
    lc_memory_guard *memory = ctx;

    /* The guard asks for sizes at each tick before it judges: the time to report the others. */
    report_heaps(memory);
    if (memory->activity != NULL)
        note_activity(memory);
    return lc_user_cache_get_counters(memory->engine->user_cache).bytes;
}

static loci_status evict_users(void *ctx, loci_error *err)
{
    eviction *e = ctx;

    (void)err;
    e->freed_bytes = (int64_t)lc_user_cache_evict(e->engine->user_cache, (size_t)e->bytes,
                                                  e->until_us);
    return LOCI_OK;
}

static int64_t user_cache_evict(void *ctx, int64_t bytes, int64_t budget_us)
{
    lc_memory_guard *memory = ctx;
    eviction e = {
        .engine = memory->engine, .bytes = bytes, .until_us = lc_clock_monotonic_us() + budget_us};

    (void)lc_engine_guard(memory->engine, evict_users, &e, NULL); /* A fault frees nothing. */
    return e.freed_bytes;
}

static int64_t store_pages_bytes(void *ctx)
{
    lc_memory_guard *memory = ctx;

    return memory->engine->driver->memory_bytes();
}

static int64_t store_pages_evict(void *ctx, int64_t bytes, int64_t budget_us)
{
    lc_memory_guard *memory = ctx;
    int64_t before = store_pages_bytes(ctx);

    (void)bytes; /* Connections give all or nothing, and have at most a few megabytes each. */
    lc_readers_release_memory(memory->engine->readers, lc_clock_monotonic_us() + budget_us);
    return before - store_pages_bytes(ctx);
}

static loci_status add_caches(lc_memory_guard *memory, loci_error *err)
{
    loci_cache users = LOCI_CACHE_INIT, pages = LOCI_CACHE_INIT;
    loci_status status;

    users.flags = LOCI_GUARD_CHARGED; /* Its bytes are among those that the heaps count. */
    users.name = "loci.user_cache";
    users.min_bytes = USER_CACHE_BYTES_MIN;
    users.bytes = user_cache_bytes;
    users.evict = user_cache_evict;
    users.ctx = memory;
    status = loci_guard_add_cache(memory->guard, &users, err);
    if (status != LOCI_OK || memory->engine->driver->release_memory == NULL)
        return status;
    pages.name = "loci.store_pages";
    pages.bytes = store_pages_bytes;
    pages.evict = store_pages_evict;
    pages.ctx = memory;
    return loci_guard_add_cache(memory->guard, &pages, err);
}

/* ---- Admission ------------------------------------------------------------------------------- */

static loci_status refuse(const loci_ticket *ticket, loci_error *err)
{
    loci_status status = lc_fail(err, LOCI_EUNAVAILABLE,
                                 "memory is scarce; try again in %lld ms, or forget or close "
                                 "something, which is always possible",
                                 (long long)ticket->retry_after_ms);

    lc_error_set_retry(err, ticket->retry_after_ms);
    return status;
}

loci_status lc_engine_check_admission(loci_engine *engine, loci_error *err)
{
    loci_guard *guard = lc_memory_guard_running(engine->memory_guard);
    loci_admission request = LOCI_ADMISSION_INIT;
    loci_ticket ticket;
    loci_status status;

    if (guard == NULL)
        return LOCI_OK;
    request.work = LOCI_WORK_NORMAL;
    request.deadline_ms = 1; /* Queued is as good as admitted: it would be over in a moment. */
    status = loci_guard_admit(guard, &request, &ticket, err);
    if (status != LOCI_OK)
        return status;
    if (ticket.outcome == LOCI_REJECTED)
        return refuse(&ticket, err);
    lc_engine_end_bulk(engine, ticket.id);
    return LOCI_OK;
}

loci_status lc_engine_begin_bulk(loci_engine *engine, int64_t wait_ms, uint64_t *out_ticket,
                                 loci_error *err)
{
    loci_guard *guard = lc_memory_guard_running(engine->memory_guard);
    loci_admission request = LOCI_ADMISSION_INIT;
    loci_ticket ticket;
    loci_status status;

    *out_ticket = 0;
    if (guard == NULL)
        return LOCI_OK;
    request.work = LOCI_WORK_BULK;
    request.deadline_ms = wait_ms;
    status = loci_guard_admit(guard, &request, &ticket, err);
    if (status == LOCI_OK && ticket.outcome == LOCI_QUEUED) {
        uint64_t id = ticket.id;

        status = loci_guard_wait(guard, id, wait_ms, &ticket, err);
        /* Its deadline is over, but no tick has noticed it yet. */
        if (status == LOCI_OK && ticket.outcome == LOCI_QUEUED) {
            lc_engine_end_bulk(engine, id);
            ticket = (loci_ticket){.outcome = LOCI_REJECTED, .retry_after_ms = wait_ms};
        }
    }
    if (status != LOCI_OK)
        return status;
    if (ticket.outcome == LOCI_REJECTED)
        return refuse(&ticket, err);
    *out_ticket = ticket.id;
    return LOCI_OK;
}

void lc_engine_end_bulk(loci_engine *engine, uint64_t ticket)
{
    loci_guard *guard = lc_memory_guard_running(engine->memory_guard);

    /* One that waited too long to be claimed was taken back: then there is nothing to end. */
    if (guard != NULL && ticket != 0)
        (void)loci_guard_done(guard, ticket, NULL);
}

/* ---- Life ------------------------------------------------------------------------------------ */

static void fill_options(lc_memory_guard *memory, const lc_memory_guard_options *given)
{
    static const loci_guard_options none = LOCI_GUARD_OPTIONS_INIT;
    loci_guard_options *o = &memory->options;
    lc_settings *settings = memory->engine->settings;

    *o = given->parts != NULL ? *given->parts : none;
    if (lc_engine_is_inline(memory->engine))
        o->flags |= LOCI_GUARD_INLINE;
    o->limit_bytes = lc_settings_i64(settings, &lc_setting_guard_limit_bytes, LC_STR_NONE);
    o->machine_share = (uint32_t)lc_settings_i64(settings, &lc_setting_guard_machine_percent,
                                                 LC_STR_NONE) *
                       10;
    o->signal = take_signal;
    o->signal_ctx = memory;
    o->purge = purge;
    o->allocator = memory->engine->env.heap.allocator;
}

/* Opens the guard with the reports of the service manager if they can be had. They are a bonus:
 * a daemon that cannot open the file must start all the same. */
static loci_status open_watching(lc_memory_guard *memory, const lc_memory_guard_options *given,
                                 loci_error *err)
{
    loci_guard_options options = memory->options;
    loci_status status;

    if (given->variable != NULL) {
        options.watch = given->variable(given->variable_ctx, "MEMORY_PRESSURE_WATCH");
        options.watch_write = given->variable(given->variable_ctx, "MEMORY_PRESSURE_WRITE");
    }
    status = loci_guard_open(&options, &memory->guard, err);
    if (status != LOCI_OK && options.watch != NULL) {
        lc_log_write(&memory->engine->env.log, LOCI_LOG_WARN, "guard.not_watching",
                     LC_LOG_TEXT("why", err->message));
        status = loci_guard_open(&memory->options, &memory->guard, err);
    }
    return status == LOCI_OK ? add_caches(memory, err) : status;
}

/* The guard of an inline engine. */
static loci_status open_later(lc_memory_guard *memory, loci_error *err)
{
    loci_status status = loci_guard_open(&memory->options, &memory->guard, err);

    if (status == LOCI_OK)
        status = add_caches(memory, err);
    if (status == LOCI_OK) {
        lc_agents_attach(memory->agents, memory->guard);
    } else {
        loci_guard_close(memory->guard);
        memory->guard = NULL;
    }
    return status;
}

loci_status lc_memory_guard_new(loci_engine *engine, const lc_memory_guard_options *options,
                                lc_memory_guard **out, loci_error *err)
{
    lc_memory_guard *memory = lc_heap_zalloc(&engine->env.heap, sizeof *memory, LOCI_MEM_ENGINE);
    loci_status status;

    if (memory == NULL)
        return lc_fail_memory(err);
    memory->engine = engine;
    memory->is_enabled = lc_settings_bool(engine->settings, &lc_setting_guard_enabled, LC_STR_NONE);
    memory->heaps[0] = &engine->env.heap;
    (void)pthread_mutex_init(&memory->heaps_lock, NULL); /* Both cannot fail without attributes. */
    (void)pthread_rwlock_init(&memory->hook_lock, NULL);
    fill_options(memory, options);
    status = lc_agents_new(&engine->env.heap, &memory->agents, err);
    if (status == LOCI_OK && !lc_engine_is_inline(engine))
        status = lc_activity_new(&engine->env.heap, &memory->activity, err);
    if (status == LOCI_OK && memory->is_enabled && !lc_engine_is_inline(engine)) {
        status = open_watching(memory, options, err);
        if (status == LOCI_OK)
            lc_agents_attach(memory->agents, memory->guard);
    }
    if (status == LOCI_OK)
        *out = memory;
    else
        lc_memory_guard_free(memory);
    return status;
}

void lc_memory_guard_free(lc_memory_guard *memory)
{
    if (memory == NULL)
        return;
    loci_guard_close(memory->guard);
    lc_agents_free(memory->agents);
    lc_activity_free(memory->activity);
    (void)pthread_rwlock_destroy(&memory->hook_lock);
    (void)pthread_mutex_destroy(&memory->heaps_lock);
    lc_heap_free(&memory->engine->env.heap, memory, sizeof *memory, LOCI_MEM_ENGINE);
}

loci_guard *lc_memory_guard_running(lc_memory_guard *memory)
{
    return memory->guard;
}

loci_status lc_engine_memory_guard(loci_engine *engine, loci_guard **out, loci_error *err)
{
    lc_memory_guard *memory = engine->memory_guard;
    loci_status status = LOCI_OK;

    if (!memory->is_enabled)
        return lc_fail(err, LOCI_EUNAVAILABLE,
                       "the guard is off: set guard.enabled to true and open the store again");
    if (memory->guard == NULL)
        status = open_later(memory, err);
    if (status != LOCI_OK)
        return status;
    if (lc_engine_is_inline(engine))
        (void)loci_guard_tick(memory->guard);
    *out = memory->guard;
    return LOCI_OK;
}

size_t lc_engine_activity(loci_engine *engine, int64_t after_us, lc_activity_sample *out)
{
    lc_activity *activity = engine->memory_guard->activity;

    return activity != NULL ? lc_activity_read(activity, after_us, out) : 0;
}

loci_status lc_engine_agents(loci_engine *engine, lc_agents **out, loci_error *err)
{
    loci_guard *guard;
    loci_status status = lc_engine_memory_guard(engine, &guard, err);

    if (status == LOCI_OK)
        *out = engine->memory_guard->agents;
    return status;
}
