/* quota.c - Invariants: everything in `tenants` is touched under the lock, which is never held
 * while the store is read; a tenant is counted by one thread at a time.
 *
 * An engine with threads counts in its pool, because checks run on event loops; an inline engine
 * counts in the call.
 */
#include "engine/quota.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/map.h"
#include "base/str.h"
#include "engine/internal.h"
#include "engine/pool.h"
#include "store/schema.h"

#define SECOND_US INT64_C(1000000)
#define DAY_US (86400 * SECOND_US)
#define COUNT_US (5 * SECOND_US)        /* Between two counts, */
#define COUNT_BYTES_US (60 * SECOND_US) /* and two of the log's size; */
#define COUNT_SHARE 100                 /* more if that would take this part of the time. */
#define COUNT_US_MAX (30 * SECOND_US)   /* A count that takes longer is given up. */
#define TENANTS_MAX 4096                /* In memory; then all are dropped. */

const lc_setting lc_setting_quota_events_per_day = {
    .name = "quota.events_per_day",
    .kind = LC_SETTING_INT,
    .default_text = "0",
    .max = INT64_C(1) << 40,
    .help = "Maximum number of events that a tenant may write per day in UTC; 0: no limit",
    .is_live = true,
    .is_per_tenant = true,
    .is_admins = true,
};

const lc_setting lc_setting_quota_log_bytes_max = {
    .name = "quota.log_bytes_max",
    .kind = LC_SETTING_INT,
    .default_text = "0",
    .max = INT64_C(1) << 50,
    .help = "Maximum size of a tenant's log, in bytes, where a character counts as one; 0: no "
            "limit",
    .is_live = true,
    .is_per_tenant = true,
    .is_admins = true,
};

const lc_setting lc_setting_quota_requests_per_second = {
    .name = "quota.requests_per_second",
    .kind = LC_SETTING_INT,
    .default_text = "0",
    .max = 1000000,
    .help = "Maximum number of calls of a tenant per second, for each process; 0: no limit",
    .is_live = true,
    .is_per_tenant = true,
    .is_admins = true,
};

const lc_setting lc_setting_quota_users_max = {
    .name = "quota.users_max",
    .kind = LC_SETTING_INT,
    .default_text = "0",
    .max = INT64_C(1) << 40,
    .help = "Maximum number of users that a tenant may have, counted by their logs; 0: no limit",
    .is_live = true,
    .is_per_tenant = true,
    .is_admins = true,
};

typedef enum limit { RATE, EVENTS, BYTES, USERS, LIMITS } limit;

static const lc_setting *const settings_of[LIMITS] = {
    [RATE] = &lc_setting_quota_requests_per_second,
    [EVENTS] = &lc_setting_quota_events_per_day,
    [BYTES] = &lc_setting_quota_log_bytes_max,
    [USERS] = &lc_setting_quota_users_max,
};

typedef struct tenant {
    int64_t limits[LIMITS]; /* 0 = none. */
    uint64_t generation;    /* Of the settings that they are from. */
    double tokens;          /* Calls that may come now, */
    int64_t filled_us;      /* at this time (monotonic). */
    bool has_counts;
    int64_t users;
    int64_t day;    /* Since 1970, */
    int64_t events; /* and how many were written in it. */
    bool has_bytes;
    int64_t bytes;
    int64_t count_us, count_bytes_us; /* Times of the next queries (monotonic). */
    bool is_counting;
    size_t key_bytes;
    char key[];
} tenant;

struct lc_quotas {
    loci_engine *engine;
    _Atomic bool is_any;         /* Some tenant has a quota. */
    _Atomic uint64_t generation; /* Of the settings. */
    pthread_mutex_t lock;
    lc_map tenants;
};

/* ---- Counting -------------------------------------------------------------------------------- */

static const lc_sql count_sql = {
    "select count(*), cast(coalesce(sum(seq), 0) as bigint) from heads where tenant_id = $1", "t",
    "ii"};

static const lc_sql bytes_sql = {
    "select cast(coalesce(sum(length(payload) + length(refs)), 0) as bigint) from events"
    " where tenant_id = $1",
    "t", "i"};

typedef struct count {
    lc_task task;
    lc_quotas *quotas;
    int64_t day;
    bool with_bytes;
    int64_t users, total; /* Found, with the events of all days, */
    int64_t bytes;
    int64_t base_day, base; /* and those before this day. */
    size_t bytes_of_count;  /* Of this struct. */
    size_t key_bytes;
    char key[];
} count;

#define BASE_NAME_BYTES (LC_ID_BYTES_MAX + 16)
#define BASE_BYTES 64

/* The row of `meta` with the number of events before a day: "day events". */
static void base_name(const count *c, char out[BASE_NAME_BYTES])
{
    (void)snprintf(out, BASE_NAME_BYTES, "quota_day.%.*s", (int)c->key_bytes, c->key);
}

static loci_status read_base(lc_tx *tx, count *c, loci_error *err)
{
    char name[BASE_NAME_BYTES], text[BASE_BYTES], *rest;
    loci_status status;

    base_name(c, name);
    status = lc_meta_get_text(tx, name, text, sizeof text, err);
    if (status != LOCI_OK)
        return status;
    c->base_day = strtoll(text, &rest, 10); /* "" is day 0, which is over. */
    c->base = strtoll(rest, NULL, 10);
    return LOCI_OK;
}

static loci_status count_body(lc_tx *tx, void *ctx, loci_error *err)
{
    count *c = ctx;
    loci_str tenant_id = {c->key, c->key_bytes};
    int64_t numbers[2] = {0};
    loci_status status = lc_tx_find_numbers(tx, &count_sql, (lc_arg[]){LC_T(tenant_id)}, numbers,
                                            err);

    c->users = numbers[0];
    c->total = numbers[1];
    if (status == LOCI_OK)
        status = read_base(tx, c, err);
    if (status == LOCI_OK && c->with_bytes)
        status = lc_tx_find_numbers(tx, &bytes_sql, (lc_arg[]){LC_T(tenant_id)}, &c->bytes, err);
    return status;
}

/* The first to count on a day writes down what was before, unless another process just has. */
static loci_status base_body(lc_tx *tx, void *ctx, loci_error *err)
{
    count *c = ctx;
    char name[BASE_NAME_BYTES], text[BASE_BYTES];
    loci_status status = read_base(tx, c, err);

    if (status != LOCI_OK || c->base_day == c->day)
        return status;
    base_name(c, name);
    (void)snprintf(text, sizeof text, "%lld %lld", (long long)c->day, (long long)c->total);
    status = lc_meta_set_text(tx, name, loci_str_of(text), err);
    if (status == LOCI_OK) {
        c->base_day = c->day;
        c->base = c->total;
    }
    return status;
}

static loci_status count_guarded(void *ctx, loci_error *err)
{
    count *c = ctx;
    loci_engine *engine = c->quotas->engine;
    int64_t deadline_us = lc_clock_monotonic_us() + COUNT_US_MAX;
    lc_read read = {.deadline_us = deadline_us, .body = count_body, .ctx = c};
    lc_write write = {.tenant_id = LC_STR(""),
                      .user_id = LC_STR(""),
                      .now_us = lc_env_now_us(&engine->env),
                      .deadline_us = deadline_us,
                      .body = base_body,
                      .ctx = c};
    loci_status status = lc_engine_read(engine, &read, err);

    if (status != LOCI_OK || c->base_day == c->day || lc_engine_is_read_only(engine))
        return status;
    status = lc_engine_write(engine, &write);
    if (status != LOCI_OK)
        *err = write.error;
    return status;
}

static int64_t later(int64_t now_us, int64_t usual_us, int64_t took_us)
{
    return now_us + (usual_us > took_us * COUNT_SHARE ? usual_us : took_us * COUNT_SHARE);
}

static void run_count(void *ctx)
{
    count *c = ctx;
    lc_quotas *quotas = c->quotas;
    int64_t began_us = lc_clock_monotonic_us(), now_us;
    loci_error err;
    loci_status status = lc_engine_guard(quotas->engine, count_guarded, c, &err);
    tenant *t;

    now_us = lc_clock_monotonic_us();
    (void)pthread_mutex_lock(&quotas->lock);
    t = lc_map_find(&quotas->tenants, (loci_str){c->key, c->key_bytes});
    if (t != NULL) {
        t->is_counting = false;
        t->count_us = later(now_us, COUNT_US, now_us - began_us);
    }
    if (t != NULL && status == LOCI_OK) {
        t->has_counts = true;
        t->users = c->users;
        t->day = c->day;
        t->events = c->total - c->base;
        if (c->with_bytes) {
            t->has_bytes = true;
            t->bytes = c->bytes;
            t->count_bytes_us = later(now_us, COUNT_BYTES_US, now_us - began_us);
        }
    }
    (void)pthread_mutex_unlock(&quotas->lock);
    if (status != LOCI_OK)
        lc_log_write(&quotas->engine->env.log, LOCI_LOG_WARN, "quota.not_counted",
                     LC_LOG_TEXT("why", err.message));
    lc_heap_free(&quotas->engine->env.heap, c, c->bytes_of_count, LOCI_MEM_REQUESTS);
}

static int64_t today(const lc_quotas *quotas)
{
    return lc_env_now_us(&quotas->engine->env) / DAY_US;
}

/* Starts a count if one is due; an inline engine makes it here. The lock is held, and given up
 * meanwhile. */
static void keep_counted(lc_quotas *quotas, tenant *t)
{
    lc_heap *heap = &quotas->engine->env.heap;
    int64_t now_us = lc_clock_monotonic_us();
    bool is_due = !t->is_counting && (t->limits[EVENTS] | t->limits[BYTES] | t->limits[USERS]) != 0;
    bool is_stale = now_us >= t->count_us || t->day != today(quotas);
    bool with_bytes = t->limits[BYTES] > 0 && now_us >= t->count_bytes_us;
    size_t bytes = sizeof(count) + t->key_bytes;
    bool is_queued = true;
    count *c;

    if (!is_due || (!is_stale && !with_bytes))
        return;
    c = lc_heap_zalloc(heap, bytes, LOCI_MEM_REQUESTS);
    if (c == NULL)
        return; /* The next call tries again. */
    t->is_counting = true;
    c->quotas = quotas;
    c->day = today(quotas);
    c->with_bytes = with_bytes;
    c->bytes_of_count = bytes;
    c->key_bytes = t->key_bytes;
    memcpy(c->key, t->key, t->key_bytes);
    c->task = (lc_task){.run = run_count, .ctx = c};
    (void)pthread_mutex_unlock(&quotas->lock);
    if (lc_engine_is_inline(quotas->engine))
        run_count(c);
    else
        is_queued = lc_engine_queue_task(quotas->engine, &c->task, NULL) == LOCI_OK;
    (void)pthread_mutex_lock(&quotas->lock);
    if (!is_queued) {
        t = lc_map_find(&quotas->tenants, (loci_str){c->key, c->key_bytes});
        if (t != NULL)
            t->is_counting = false;
        lc_heap_free(heap, c, bytes, LOCI_MEM_REQUESTS);
    }
}

/* ---- Tenants --------------------------------------------------------------------------------- */

static void drop_all(lc_quotas *quotas)
{
    size_t place = 0;
    tenant *t;

    while ((t = lc_map_each(&quotas->tenants, &place)) != NULL)
        lc_heap_free(&quotas->engine->env.heap, t, sizeof *t + t->key_bytes, LOCI_MEM_ENGINE);
    lc_map_clear(&quotas->tenants);
}

static tenant *add_tenant(lc_quotas *quotas, loci_str tenant_id)
{
    lc_heap *heap = &quotas->engine->env.heap;
    size_t bytes = sizeof(tenant) + tenant_id.len;
    tenant *t;

    if (quotas->tenants.entry_count >= TENANTS_MAX)
        drop_all(quotas);
    t = lc_heap_zalloc(heap, bytes, LOCI_MEM_ENGINE);
    if (t == NULL)
        return NULL;
    t->key_bytes = tenant_id.len;
    memcpy(t->key, tenant_id.ptr, tenant_id.len);
    if (!lc_map_put(&quotas->tenants, (loci_str){t->key, t->key_bytes}, t)) {
        lc_heap_free(heap, t, bytes, LOCI_MEM_ENGINE);
        return NULL;
    }
    return t;
}

/* With its limits as they are now; NULL when out of memory. The lock is held. */
static tenant *find_tenant(lc_quotas *quotas, loci_str tenant_id)
{
    uint64_t generation = atomic_load(&quotas->generation);
    tenant *t = lc_map_find(&quotas->tenants, tenant_id);

    if (t == NULL)
        t = add_tenant(quotas, tenant_id);
    if (t == NULL || t->generation == generation)
        return t;
    for (int i = 0; i < LIMITS; i++)
        t->limits[i] = lc_settings_i64(quotas->engine->settings, settings_of[i], tenant_id);
    t->generation = generation;
    t->tokens = (double)t->limits[RATE];
    t->filled_us = lc_clock_monotonic_us();
    return t;
}

/* ---- Checks ---------------------------------------------------------------------------------- */

static loci_status refuse(limit which, int64_t most, int64_t retry_ms, const char *advice,
                          loci_error *err)
{
    loci_status status = lc_fail(err, LOCI_ELIMIT, "the tenant has reached %s (%lld); %s",
                                 settings_of[which]->name, (long long)most, advice);

    if (retry_ms > 0)
        lc_error_set_retry(err, retry_ms);
    return status;
}

static loci_status check_rate(tenant *t, loci_error *err)
{
    int64_t now_us = lc_clock_monotonic_us(), rate = t->limits[RATE];

    if (rate == 0)
        return LOCI_OK;
    t->tokens += (double)(now_us - t->filled_us) * (double)rate / (double)SECOND_US;
    t->filled_us = now_us;
    if (t->tokens > (double)rate)
        t->tokens = (double)rate;
    if (t->tokens >= 1) {
        t->tokens -= 1;
        return LOCI_OK;
    }
    return refuse(RATE, rate, 1 + (int64_t)((1 - t->tokens) * 1000 / (double)rate),
                  "send fewer calls per second", err);
}

static loci_status check_written(const lc_quotas *quotas, const tenant *t, loci_error *err)
{
    int64_t now_us = lc_env_now_us(&quotas->engine->env);

    if (t->limits[EVENTS] > 0 && t->has_counts && t->day == now_us / DAY_US &&
        t->events >= t->limits[EVENTS])
        return refuse(EVENTS, t->limits[EVENTS], 1 + (DAY_US - now_us % DAY_US) / 1000,
                      "it may write again after midnight in UTC", err);
    if (t->limits[BYTES] > 0 && t->has_bytes && t->bytes >= t->limits[BYTES])
        return refuse(BYTES, t->limits[BYTES], 0, "forget something, or raise it", err);
    return LOCI_OK;
}

loci_status lc_engine_check_quota(loci_engine *engine, loci_str tenant_id, lc_quota_use use,
                                  loci_error *err)
{
    lc_quotas *quotas = engine->quotas;
    loci_status status;
    tenant *t;

    if (!lc_engine_has_quotas(engine))
        return LOCI_OK;
    (void)pthread_mutex_lock(&quotas->lock);
    t = find_tenant(quotas, tenant_id);
    if (t != NULL && use == LC_QUOTA_WRITES) {
        keep_counted(quotas, t);
        t = find_tenant(quotas, tenant_id); /* It may have been dropped meanwhile. */
    }
    status = t != NULL ? check_rate(t, err) : lc_fail_memory(err);
    if (status == LOCI_OK && use == LC_QUOTA_WRITES)
        status = check_written(quotas, t, err);
    (void)pthread_mutex_unlock(&quotas->lock);
    return status;
}

loci_status lc_engine_check_new_user(loci_engine *engine, loci_str tenant_id, loci_error *err)
{
    lc_quotas *quotas = engine->quotas;
    loci_status status = LOCI_OK;
    tenant *t;

    (void)pthread_mutex_lock(&quotas->lock);
    t = find_tenant(quotas, tenant_id);
    if (t == NULL)
        status = lc_fail_memory(err);
    else if (t->limits[USERS] > 0 && t->has_counts && t->users >= t->limits[USERS])
        status = refuse(USERS, t->limits[USERS], 0, "raise it to add a user", err);
    (void)pthread_mutex_unlock(&quotas->lock);
    return status;
}

void lc_engine_count_written(loci_engine *engine, loci_str tenant_id, const lc_quota_written *what)
{
    lc_quotas *quotas = engine->quotas;
    tenant *t;

    (void)pthread_mutex_lock(&quotas->lock);
    t = lc_map_find(&quotas->tenants, tenant_id);
    if (t != NULL) {
        t->users += what->users;
        t->events += what->events;
        t->bytes += what->bytes;
    }
    (void)pthread_mutex_unlock(&quotas->lock);
}

bool lc_engine_has_quotas(const loci_engine *engine)
{
    return atomic_load_explicit(&engine->quotas->is_any, memory_order_relaxed);
}

/* ---- Life ------------------------------------------------------------------------------------ */

void lc_quotas_changed(lc_quotas *quotas)
{
    bool is_any = false;

    for (int i = 0; i < LIMITS; i++)
        is_any |= lc_settings_is_set(quotas->engine->settings, settings_of[i]);
    atomic_fetch_add(&quotas->generation, 1);
    atomic_store(&quotas->is_any, is_any);
}

loci_status lc_quotas_new(loci_engine *engine, lc_quotas **out, loci_error *err)
{
    lc_quotas *quotas = lc_heap_zalloc(&engine->env.heap, sizeof *quotas, LOCI_MEM_ENGINE);

    if (quotas == NULL)
        return lc_fail_memory(err);
    quotas->engine = engine;
    (void)pthread_mutex_init(&quotas->lock, NULL); /* Cannot fail without attributes. */
    lc_map_init(&quotas->tenants, &engine->env.heap, LOCI_MEM_ENGINE);
    lc_quotas_changed(quotas);
    *out = quotas;
    return LOCI_OK;
}

void lc_quotas_free(lc_quotas *quotas)
{
    if (quotas == NULL)
        return;
    drop_all(quotas);
    (void)pthread_mutex_destroy(&quotas->lock);
    lc_heap_free(&quotas->engine->env.heap, quotas, sizeof *quotas, LOCI_MEM_ENGINE);
}
