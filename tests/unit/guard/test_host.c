/* test_host.c - the guard of loci.h: bad input, callbacks that call back, tickets, the thread, the
 * watch, the status. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/str.h"
#include "lib/files.h"
#include "lib/heap.h"
#include "lib/test.h"
#include "loci.h"

#define MB (1024ll * 1024)

typedef struct host {
    loci_guard *guard;
    _Atomic int64_t used_bytes; /* Beside the cache. */
    _Atomic int64_t cache_bytes;
    _Atomic int64_t now_us;
    pthread_mutex_t lock; /* The host's own, which its callbacks take. */
    _Atomic unsigned pauses, resumes, signals;
    bool removes_itself;
} host;

static int read_memory(void *ctx, int64_t *used_bytes, int64_t *limit_bytes)
{
    host *h = ctx;

    if (h->used_bytes < 0)
        return 1;
    *used_bytes = h->used_bytes + h->cache_bytes;
    *limit_bytes = 1000 * MB;
    return 0;
}

static int64_t read_clock(void *ctx)
{
    return ((host *)ctx)->now_us;
}

static void count_signal(void *ctx, const loci_signal *signal)
{
    host *h = ctx;

    (void)signal;
    h->signals++;
    (void)loci_guard_level(h->guard); /* No lock may be held. */
}

static loci_guard_options options_of(host *h)
{
    loci_guard_options options = LOCI_GUARD_OPTIONS_INIT;

    options.flags = LOCI_GUARD_INLINE;
    options.in_flight_max = 4;
    options.queue_max = 4;
    options.reading = read_memory;
    options.clock = read_clock;
    options.signal = count_signal;
    options.reading_ctx = options.clock_ctx = options.signal_ctx = h;
    options.allocator = test_heap();
    return options;
}

static void open_host(host *h)
{
    loci_guard_options options = options_of(h);
    loci_error err;

    memset(h, 0, sizeof *h);
    (void)pthread_mutex_init(&h->lock, NULL);
    CHECK_OK(loci_guard_open(&options, &h->guard, &err), err);
}

static void close_host(host *h)
{
    loci_guard_close(h->guard);
    (void)pthread_mutex_destroy(&h->lock);
}

static void tick(host *h)
{
    h->now_us += 200000;
    CHECK_LT(0, loci_guard_tick(h->guard));
}

static int64_t cache_bytes(void *ctx)
{
    return ((host *)ctx)->cache_bytes;
}

/* Takes the host's lock, and calls the guard under it. */
static int64_t cache_evict(void *ctx, int64_t bytes, int64_t budget_us)
{
    host *h = ctx;

    (void)budget_us;
    (void)pthread_mutex_lock(&h->lock);
    bytes = bytes < h->cache_bytes ? bytes : h->cache_bytes;
    h->cache_bytes -= bytes;
    (void)loci_guard_report(h->guard, "evicted", LOCI_MEM_CACHES, 1, NULL);
    if (h->removes_itself)
        (void)loci_guard_remove(h->guard, "cache", NULL);
    (void)pthread_mutex_unlock(&h->lock);
    return bytes;
}

static loci_cache cache_of(host *h)
{
    loci_cache cache = LOCI_CACHE_INIT;

    cache.name = "cache";
    cache.bytes = cache_bytes;
    cache.evict = cache_evict;
    cache.ctx = h;
    return cache;
}

static void on_pause(void *ctx)
{
    ((host *)ctx)->pauses++;
}

static void on_resume(void *ctx)
{
    ((host *)ctx)->resumes++;
}

static loci_pipeline pipeline_of(host *h)
{
    loci_pipeline pipeline = LOCI_PIPELINE_INIT;

    pipeline.name = "pipeline";
    pipeline.pause = on_pause;
    pipeline.resume = on_resume;
    pipeline.ctx = h;
    return pipeline;
}

/* ---- Bad input ------------------------------------------------------------------------------- */

TEST(guard_host, options_are_checked)
{
    host h;
    loci_guard *guard = NULL;
    loci_guard_options good, bad;
    loci_error err;

    memset(&h, 0, sizeof h);
    good = options_of(&h);
    bad = good;
    bad.size = 8;
    CHECK_STATUS(LOCI_EINVAL, loci_guard_open(&bad, &guard, &err));
    CHECK_CONTAINS(err.message, "LOCI_GUARD_OPTIONS_INIT");
    bad = good;
    bad.flags = 2;
    CHECK_STATUS(LOCI_EINVAL, loci_guard_open(&bad, &guard, &err));
    bad = good;
    bad.limit_bytes = -1;
    CHECK_STATUS(LOCI_EINVAL, loci_guard_open(&bad, &guard, &err));
    bad = good;
    bad.machine_share = 1001;
    CHECK_STATUS(LOCI_EINVAL, loci_guard_open(&bad, &guard, &err));
    bad = good;
    bad.in_flight_max = LC_GUARD_IN_FLIGHT_MAX + 1;
    CHECK_STATUS(LOCI_EINVAL, loci_guard_open(&bad, &guard, &err));
    bad = good;
    bad.queue_max = LC_GUARD_QUEUE_MAX + 1;
    CHECK_STATUS(LOCI_EINVAL, loci_guard_open(&bad, &guard, &err));
    bad = good;
    bad.watch = "/no/such/file";
    CHECK_STATUS(LOCI_EUNAVAILABLE, loci_guard_open(&bad, &guard, &err));
    bad.watch_write = "%";
    CHECK_STATUS(LOCI_EINVAL, loci_guard_open(&bad, &guard, &err));
    good.in_flight_max = LC_GUARD_IN_FLIGHT_MAX;
    good.queue_max = LC_GUARD_QUEUE_MAX;
    good.watch = "/dev/null";
    CHECK_OK(loci_guard_open(&good, &guard, &err), err);
    loci_guard_close(guard);
    loci_guard_close(NULL);
}

TEST(guard_host, names_are_unique)
{
    host h;
    loci_cache cache;
    loci_pipeline pipeline;
    loci_error err;

    open_host(&h);
    cache = cache_of(&h);
    pipeline = pipeline_of(&h);
    CHECK_OK(loci_guard_add_pipeline(h.guard, &pipeline, &err), err);
    CHECK_STATUS(LOCI_ECONFLICT, loci_guard_add_pipeline(h.guard, &pipeline, &err));
    CHECK_CONTAINS(err.message, "pipeline");
    cache.name = "pipeline";
    CHECK_STATUS(LOCI_ECONFLICT, loci_guard_add_cache(h.guard, &cache, &err));
    cache.name = "";
    CHECK_STATUS(LOCI_EINVAL, loci_guard_add_cache(h.guard, &cache, &err));
    cache.name = NULL;
    CHECK_STATUS(LOCI_EINVAL, loci_guard_add_cache(h.guard, &cache, &err));
    cache = cache_of(&h);
    cache.evict = NULL;
    CHECK_STATUS(LOCI_EINVAL, loci_guard_add_cache(h.guard, &cache, &err));
    cache = cache_of(&h);
    cache.min_bytes = -1;
    CHECK_STATUS(LOCI_EINVAL, loci_guard_add_cache(h.guard, &cache, &err));
    cache = cache_of(&h);
    cache.size = 4;
    CHECK_STATUS(LOCI_EINVAL, loci_guard_add_cache(h.guard, &cache, &err));
    CHECK_STATUS(LOCI_EINVAL, loci_guard_report(h.guard, "pipeline", LOCI_MEM_PIPELINES, 5, &err));
    CHECK_OK(loci_guard_remove(h.guard, "pipeline", &err), err);
    CHECK_STATUS(LOCI_ENOTFOUND, loci_guard_remove(h.guard, "pipeline", &err));
    CHECK_STATUS(LOCI_ENOTFOUND, loci_guard_remove(h.guard, NULL, &err));
    close_host(&h);
}

TEST(guard_host, members_are_bounded)
{
    host h;
    loci_cache cache;
    loci_pipeline pipeline;
    loci_error err;
    char name[32];

    open_host(&h);
    cache = cache_of(&h);
    pipeline = pipeline_of(&h);
    cache.name = pipeline.name = name;
    for (int i = 0; i < LC_GUARD_CACHES_MAX; i++) {
        (void)snprintf(name, sizeof name, "cache%d", i);
        CHECK_OK(loci_guard_add_cache(h.guard, &cache, &err), err);
    }
    (void)snprintf(name, sizeof name, "more");
    CHECK_STATUS(LOCI_ELIMIT, loci_guard_add_cache(h.guard, &cache, &err));
    for (int i = 0; i < LC_GUARD_PIPELINES_MAX; i++) {
        (void)snprintf(name, sizeof name, "pipeline%d", i);
        CHECK_OK(loci_guard_add_pipeline(h.guard, &pipeline, &err), err);
    }
    (void)snprintf(name, sizeof name, "more");
    CHECK_STATUS(LOCI_ELIMIT, loci_guard_add_pipeline(h.guard, &pipeline, &err));
    CHECK_OK(loci_guard_remove(h.guard, "pipeline7", &err), err);
    CHECK_OK(loci_guard_add_pipeline(h.guard, &pipeline, &err), err);
    close_host(&h);
}

TEST(guard_host, an_ack_for_nothing_is_an_error)
{
    host h;
    loci_pipeline pipeline;
    loci_error err;

    open_host(&h);
    pipeline = pipeline_of(&h);
    CHECK_STATUS(LOCI_ENOTFOUND, loci_guard_ack(h.guard, "pipeline", &err));
    CHECK_OK(loci_guard_add_pipeline(h.guard, &pipeline, &err), err);
    CHECK_STATUS(LOCI_ECONFLICT, loci_guard_ack(h.guard, "pipeline", &err));
    CHECK_CONTAINS(err.message, "running");
    h.used_bytes = 900 * MB;
    tick(&h);
    CHECK_EQ(h.pauses, 1);
    CHECK_OK(loci_guard_ack(h.guard, "pipeline", &err), err);
    CHECK_STATUS(LOCI_ECONFLICT, loci_guard_ack(h.guard, "pipeline", &err));
    CHECK_CONTAINS(err.message, "paused");
    close_host(&h); /* The guard ends and resumes it. */
    CHECK_EQ(h.resumes, 1);
}

/* ---- Callbacks ------------------------------------------------------------------------------- */

/* The first design took the cache's lock in evict and again in the function that it called there.
 */
TEST(guard_host, callbacks_may_call_the_guard)
{
    host h;
    loci_cache cache;
    loci_error err;

    open_host(&h);
    cache = cache_of(&h);
    CHECK_OK(loci_guard_add_cache(h.guard, &cache, &err), err);
    h.cache_bytes = 600 * MB;
    tick(&h);
    CHECK_EQ(loci_guard_level(h.guard), LOCI_LEVEL_CRITICAL); /* A spike: judged at 1200. */
    CHECK_LT(h.cache_bytes, 100 * MB);
    CHECK_EQ(h.signals, 1);
    CHECK_EQ(loci_guard_usage(h.guard, LOCI_MEM_CACHES), 1);
    /* A cache that removes itself while it evicts. */
    h.removes_itself = true;
    h.cache_bytes = 800 * MB;
    h.now_us += 5000000;
    tick(&h);
    CHECK_STATUS(LOCI_ENOTFOUND, loci_guard_remove(h.guard, "cache", &err));
    close_host(&h);
}

TEST(guard_host, charges_stop_where_the_limit_is)
{
    host h;
    int64_t charged = 0;

    open_host(&h);
    h.used_bytes = 200 * MB; /* Not charged. */
    tick(&h);
    while (loci_guard_charge(h.guard, LOCI_MEM_INDEX, LOCI_WORK_BULK, MB) == LOCI_OK)
        charged += MB;
    CHECK_LE(498 * MB, charged); /* 700 in all. */
    CHECK_LE(charged, 500 * MB);
    while (loci_guard_charge(h.guard, LOCI_MEM_INDEX, LOCI_WORK_NORMAL, MB) == LOCI_OK)
        charged += MB;
    CHECK_LE(748 * MB, charged); /* 950 in all. */
    CHECK_LE(charged, 750 * MB);
    CHECK_EQ(loci_guard_usage(h.guard, LOCI_MEM_CATEGORIES), charged);
    tick(&h); /* Charged, but not touched: it counts all the same. */
    CHECK_EQ(loci_guard_level(h.guard), LOCI_LEVEL_CRITICAL);
    CHECK_STATUS(LOCI_EINVAL, loci_guard_uncharge(h.guard, LOCI_MEM_INDEX, charged + 1));
    CHECK_STATUS(LOCI_OK, loci_guard_uncharge(h.guard, LOCI_MEM_INDEX, charged));
    close_host(&h);
}

TEST(guard_host, a_failed_reading_is_survived)
{
    host h;

    open_host(&h);
    h.used_bytes = -1;
    for (int i = 0; i < 10; i++)
        tick(&h);
    CHECK_EQ(loci_guard_level(h.guard), LOCI_LEVEL_NORMAL);
    close_host(&h);
}

/* ---- Admission ------------------------------------------------------------------------------- */

TEST(guard_host, tickets_are_checked)
{
    host h;
    loci_admission admission = LOCI_ADMISSION_INIT;
    loci_ticket ticket = {0};
    loci_error err;

    open_host(&h);
    admission.deadline_ms = -1;
    CHECK_STATUS(LOCI_EINVAL, loci_guard_admit(h.guard, &admission, &ticket, &err));
    admission.deadline_ms = 0;
    admission.work = (loci_work)7;
    CHECK_STATUS(LOCI_EINVAL, loci_guard_admit(h.guard, &admission, &ticket, &err));
    admission.size = 0;
    CHECK_STATUS(LOCI_EINVAL, loci_guard_admit(h.guard, &admission, &ticket, &err));
    CHECK_STATUS(LOCI_ENOTFOUND, loci_guard_wait(h.guard, 12345, 0, &ticket, &err));
    CHECK_STATUS(LOCI_ENOTFOUND, loci_guard_done(h.guard, 12345, &err));
    CHECK_CONTAINS(err.message, "12345");
    close_host(&h);
}

typedef struct waiter {
    host *host;
    uint64_t ticket;
    loci_ticket out;
} waiter;

static void *wait_for_ticket(void *ctx)
{
    waiter *self = ctx;

    if (loci_guard_wait(self->host->guard, self->ticket, 60000, &self->out, NULL) != LOCI_OK)
        test_note_failure(__FILE__, __LINE__, "no such ticket");
    return NULL;
}

TEST(guard_host, a_waiter_goes_on_when_work_is_done)
{
    host h;
    loci_admission admission = LOCI_ADMISSION_INIT;
    loci_ticket running[16] = {0}, last = {0};
    int count = 0;
    pthread_t thread;
    waiter self;
    loci_error err;

    open_host(&h);
    admission.deadline_ms = 1000000;
    for (; count < 16 && last.outcome == LOCI_ADMITTED; count++) {
        CHECK_OK(loci_guard_admit(h.guard, &admission, &last, &err), err);
        running[count] = last;
    }
    CHECK_EQ(last.outcome, LOCI_QUEUED);
    CHECK_OK(loci_guard_wait(h.guard, last.id, 1, &last, &err), err);
    CHECK_EQ(last.outcome, LOCI_QUEUED);
    self = (waiter){.host = &h, .ticket = last.id, .out = {LOCI_REJECTED, 0, 0}};
    CHECK_EQ(pthread_create(&thread, NULL, wait_for_ticket, &self), 0);
    lc_clock_sleep_us(20000);
    CHECK_OK(loci_guard_done(h.guard, running[0].id, &err), err);
    CHECK_EQ(pthread_join(thread, NULL), 0);
    CHECK_EQ(self.out.outcome, LOCI_ADMITTED);
    for (int i = 1; i < count; i++)
        CHECK_OK(loci_guard_done(h.guard, running[i].id, &err), err);
    close_host(&h);
}

/* ---- Thread, watch, status ------------------------------------------------------------------- */

static bool wait_until(host *h, bool is_normal)
{
    for (int i = 0; i < 1000; i++, lc_clock_sleep_us(10000)) {
        if ((loci_guard_level(h->guard) == LOCI_LEVEL_NORMAL) == is_normal)
            return true;
    }
    return false;
}

static void *charge_and_remove(void *ctx)
{
    host *h = ctx;
    loci_cache cache = cache_of(h);
    char name[32];

    (void)snprintf(name, sizeof name, "cache%lx", (unsigned long)pthread_self());
    cache.name = name;
    for (int i = 0; i < 2000; i++) {
        (void)loci_guard_charge(h->guard, LOCI_MEM_REQUESTS, LOCI_WORK_NORMAL, 100000);
        if (i % 100 == 0 && loci_guard_add_cache(h->guard, &cache, NULL) == LOCI_OK)
            (void)loci_guard_remove(h->guard, name, NULL);
        if (loci_guard_uncharge(h->guard, LOCI_MEM_REQUESTS, 0) != LOCI_OK)
            test_note_failure(__FILE__, __LINE__, "uncharge");
    }
    return NULL;
}

/* The guard's own thread, with eight others, under ThreadSanitizer too. */
TEST(guard_host, the_thread_acts_by_itself)
{
    host h;
    loci_guard_options options;
    loci_cache cache;
    pthread_t threads[8];
    int64_t charged;
    loci_error err;

    memset(&h, 0, sizeof h);
    (void)pthread_mutex_init(&h.lock, NULL);
    options = options_of(&h);
    options.flags = 0;
    options.clock = NULL;
    CHECK_OK(loci_guard_open(&options, &h.guard, &err), err);
    cache = cache_of(&h);
    CHECK_OK(loci_guard_add_cache(h.guard, &cache, &err), err);
    CHECK_EQ(loci_guard_tick(h.guard), 0);
    for (int i = 0; i < 8; i++)
        CHECK_EQ(pthread_create(&threads[i], NULL, charge_and_remove, &h), 0);
    h.cache_bytes = 550 * MB;
    CHECK(wait_until(&h, false));
    for (int i = 0; i < 8; i++)
        CHECK_EQ(pthread_join(threads[i], NULL), 0);
    charged = loci_guard_usage(h.guard, LOCI_MEM_REQUESTS);
    CHECK_STATUS(LOCI_OK, loci_guard_uncharge(h.guard, LOCI_MEM_REQUESTS, charged));
    CHECK(wait_until(&h, true));
    CHECK_LT(h.cache_bytes, 500 * MB);
    close_host(&h);
}

/* systemd's protocol; the FIFO is the form that a test can write to. */
TEST(guard_host, the_system_can_report_pressure)
{
    const char *path = test_path(test_tmpdir(), "pressure");
    host h;
    loci_guard_options options;
    int fd;
    loci_error err;

    CHECK_EQ(mkfifo(path, 0600), 0);
    memset(&h, 0, sizeof h);
    (void)pthread_mutex_init(&h.lock, NULL);
    options = options_of(&h);
    options.watch = path;
    CHECK_OK(loci_guard_open(&options, &h.guard, &err), err);
    tick(&h);
    CHECK_EQ(loci_guard_level(h.guard), LOCI_LEVEL_NORMAL);
    fd = open(path, O_WRONLY | O_CLOEXEC);
    CHECK(fd >= 0);
    CHECK_EQ(write(fd, "x", 1), 1);
    tick(&h);
    CHECK_EQ(loci_guard_level(h.guard), LOCI_LEVEL_ELEVATED);
    CHECK_EQ(close(fd), 0);
    for (int i = 0; i < 17; i++)
        tick(&h);
    CHECK_EQ(loci_guard_level(h.guard), LOCI_LEVEL_NORMAL);
    close_host(&h);
}

TEST(guard_host, the_status_is_json)
{
    host h;
    loci_cache cache;
    loci_pipeline pipeline;
    const lc_json *status = NULL;
    lc_arena arena;
    lc_heap heap;
    char *text;
    loci_error err;

    open_host(&h);
    cache = cache_of(&h);
    pipeline = pipeline_of(&h);
    CHECK_OK(loci_guard_add_cache(h.guard, &cache, &err), err);
    CHECK_OK(loci_guard_add_pipeline(h.guard, &pipeline, &err), err);
    CHECK_OK(loci_guard_report(h.guard, "llm", LOCI_MEM_LLM_BUFFERS, 5 * MB, &err), err);
    h.cache_bytes = 100 * MB;
    h.used_bytes = 800 * MB;
    tick(&h);
    text = loci_guard_status(h.guard);
    CHECK(text != NULL);
    lc_heap_init(&heap, test_heap());
    lc_arena_init(&arena, &heap, LOCI_MEM_REQUESTS);
    CHECK_OK(lc_json_parse(&arena, loci_str_of(text), 0, &status, &err), err);
    CHECK_STR_EQ(lc_json_str(lc_json_member(status, LC_STR("level"))), "critical");
    CHECK_EQ(lc_json_int(lc_json_member(status, LC_STR("limit_bytes"))), 1000 * MB);
    CHECK_CONTAINS(text, "\"llm_buffers\":5242880");
    CHECK_CONTAINS(text, "\"what\":\"pause_pipeline\"");
    CHECK_CONTAINS(text, "\"state\":\"pausing\"");
    CHECK_CONTAINS(text, "\"what\":\"evicted\"");
    loci_text_free(text);
    lc_arena_clear(&arena);
    close_host(&h);
}

static loci_status open_and_register(void *ctx)
{
    loci_guard_options options;
    loci_cache cache;
    loci_pipeline pipeline;
    loci_guard *guard = NULL;
    loci_status status;

    options = options_of(ctx);
    options.reading = NULL;
    cache = cache_of(ctx);
    pipeline = pipeline_of(ctx);
    status = loci_guard_open(&options, &guard, NULL);
    if (status == LOCI_OK)
        status = loci_guard_add_cache(guard, &cache, NULL);
    if (status == LOCI_OK)
        status = loci_guard_add_pipeline(guard, &pipeline, NULL);
    loci_guard_close(guard);
    return status;
}

TEST(guard_host, out_of_memory_is_a_status)
{
    host h;

    memset(&h, 0, sizeof h);
    test_oom_sweep(open_and_register, &h);
}
