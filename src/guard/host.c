/* host.c - the guard of loci.h: the controller with a thread, a clock and readings.
 *
 * Everything but charges goes through the gate. The thread sleeps in poll() until the next tick, a
 * report of the system's (guard/watch.h), or a refused charge, which wakes it early so that room is
 * made at once; two ticks are at least 10 ms apart in any case.
 */
#include "guard/host.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/str.h"

#define MACHINE_SHARE 500 /* Per mille: a program is rarely alone on a machine. */
#define IN_FLIGHT 256
#define QUEUE 1024

static int64_t monotonic_us(void *ctx)
{
    (void)ctx;
    return lc_clock_monotonic_us();
}

int64_t lc_guard_now_ms(const loci_guard *guard)
{
    return guard->clock(guard->clock_ctx) / 1000;
}

/* ---- Ticks ----------------------------------------------------------------------------------- */

static bool read_host(loci_guard *guard, lc_reading *out)
{
    int64_t used = 0, limit = 0;

    if (guard->reading(guard->reading_ctx, &used, &limit) != 0)
        return false;
    *out = (lc_reading){.used_bytes = used < 0                    ? 0
                                      : used < LC_GUARD_BYTES_MAX ? used
                                                                  : LC_GUARD_BYTES_MAX,
                        .limit_bytes = limit < 0 ? 0 : limit,
                        .limit_from = "host"};
    return true;
}

static int64_t tick(loci_guard *guard)
{
    lc_reading reading = {0};
    int64_t time_ms = lc_guard_now_ms(guard), interval_ms;
    uint32_t changed;
    lc_ticked_fn *ticked;
    void *ctx;
    bool is_read;

    atomic_store(&guard->is_woken, false);
    is_read = guard->reading != NULL ? read_host(guard, &reading)
                                     : lc_probe_read(guard->probe, time_ms, &reading);
    reading.used_bytes += atomic_load(&guard->outside_bytes);
    if (guard->is_reported) {
        reading.is_stalled = true;
        guard->is_reported = false;
    }
    interval_ms = lc_controller_tick(&guard->controller, is_read ? &reading : NULL, time_ms,
                                     &changed);
    if (changed > 0)
        (void)pthread_cond_broadcast(&guard->granted);
    lc_gate_enter(&guard->controller.gate);
    ticked = guard->ticked;
    ctx = guard->ticked_ctx;
    lc_gate_leave(&guard->controller.gate);
    if (ticked != NULL)
        ticked(ctx, time_ms);
    return interval_ms;
}

void lc_guard_on_tick(loci_guard *guard, lc_ticked_fn *ticked, void *ctx)
{
    lc_gate_enter(&guard->controller.gate);
    guard->ticked = ticked;
    guard->ticked_ctx = ctx;
    lc_gate_leave(&guard->controller.gate);
}

/* Also called for each refused charge. */
static void wake(void *ctx)
{
    loci_guard *guard = ctx;
    uint64_t one = 1;

    if (guard->wake_fd >= 0 && !atomic_exchange(&guard->is_woken, true))
        (void)!write(guard->wake_fd, &one, sizeof one); /* Full means that it is awake. */
}

static void *run(void *ctx)
{
    loci_guard *guard = ctx;

    while (!atomic_load(&guard->is_stopping)) {
        int64_t interval_ms = tick(guard);
        struct pollfd fds[2] = {{.fd = guard->wake_fd, .events = POLLIN},
                                {.fd = guard->watch.fd, .events = guard->watch.events}};
        uint64_t count;

        if (poll(fds, 2, (int)interval_ms) <= 0)
            continue;
        if (guard->watch.fd >= 0 && lc_watch_take(&guard->watch, fds[1].revents))
            guard->is_reported = true;
        if ((fds[0].revents & POLLIN) != 0)
            (void)!read(guard->wake_fd, &count, sizeof count); /* Only its count is taken. */
        /* Woken before its time: a stream of refusals must not become a busy loop. */
        if (!atomic_load(&guard->is_stopping))
            lc_clock_sleep_us(LC_MONITOR_TICK_MS_MIN * 1000);
    }
    return NULL;
}

int64_t loci_guard_tick(loci_guard *guard)
{
    struct pollfd fd = {.fd = guard->watch.fd, .events = guard->watch.events};

    if (guard->has_thread)
        return 0;
    if (guard->watch.fd >= 0 && poll(&fd, 1, 0) > 0 && lc_watch_take(&guard->watch, fd.revents))
        guard->is_reported = true;
    return tick(guard);
}

/* ---- Opening --------------------------------------------------------------------------------- */

static loci_status check_options(const loci_guard_options *options, loci_error *err)
{
    if (options->size < sizeof *options)
        return lc_fail(err, LOCI_EINVAL,
                       "guard: options have size %u; initialise them with LOCI_GUARD_OPTIONS_INIT",
                       options->size);
    if ((options->flags & ~LOCI_GUARD_INLINE) != 0)
        return lc_fail(err, LOCI_EINVAL, "guard: flags 0x%x are unknown", options->flags);
    if (options->limit_bytes < 0 || options->limit_bytes > LC_GUARD_BYTES_MAX)
        return lc_fail(err, LOCI_EINVAL, "guard: limit_bytes is %lld, not 0 to %lld",
                       (long long)options->limit_bytes, LC_GUARD_BYTES_MAX);
    if (options->machine_share > 1000)
        return lc_fail(err, LOCI_EINVAL, "guard: machine_share is %u thousandths, not 0 to 1000",
                       options->machine_share);
    if (options->in_flight_max > LC_GUARD_IN_FLIGHT_MAX || options->queue_max > LC_GUARD_QUEUE_MAX)
        return lc_fail(err, LOCI_EINVAL,
                       "guard: in_flight_max is %u and queue_max %u; the maxima are %d and %d",
                       options->in_flight_max, options->queue_max, LC_GUARD_IN_FLIGHT_MAX,
                       LC_GUARD_QUEUE_MAX);
    return LOCI_OK;
}

static loci_status start_thread(loci_guard *guard, loci_error *err)
{
    guard->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (guard->wake_fd < 0)
        return lc_fail(err, LOCI_ERESOURCE, "guard: no descriptor: %s", strerror(errno));
    if (pthread_create(&guard->thread, NULL, run, guard) != 0)
        return lc_fail(err, LOCI_ERESOURCE,
                       "guard: no thread can be started; raise the limit of threads or open the "
                       "guard with LOCI_GUARD_INLINE");
    guard->has_thread = true;
    return LOCI_OK;
}

static uint32_t or_default(uint32_t value, uint32_t otherwise)
{
    return value != 0 ? value : otherwise;
}

static loci_status fill(loci_guard *guard, const loci_guard_options *options, loci_error *err)
{
    lc_controller_options controls = {
        .limit_bytes = options->limit_bytes,
        .in_flight_max = or_default(options->in_flight_max, IN_FLIGHT),
        .queue_max = or_default(options->queue_max, QUEUE),
        .signal = options->signal,
        .signal_ctx = options->signal_ctx,
        .clock = guard->clock,
        .clock_ctx = guard->clock_ctx,
        .purge = options->purge,
        .purge_ctx = options->purge_ctx};
    loci_status status = lc_controller_init(&guard->controller, &guard->heap, &controls, err);
    pthread_condattr_t monotonic;

    if (status != LOCI_OK)
        return status;
    guard->has_controller = true;
    lc_usage_on_refused(guard->controller.usage, wake, guard);
    (void)pthread_condattr_init(&monotonic); /* Cannot fail on Linux, as the next two. */
    (void)pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&guard->granted, &monotonic);
    (void)pthread_condattr_destroy(&monotonic);
    if (guard->reading == NULL)
        status = lc_probe_open(&guard->heap, "", or_default(options->machine_share, MACHINE_SHARE),
                               &guard->probe, err);
    if (status == LOCI_OK)
        status = lc_watch_open(options->watch, options->watch_write, &guard->watch, err);
    if (status == LOCI_OK)
        (void)tick(guard); /* Charges are compared with a limit from the first one on. */
    if (status == LOCI_OK && (options->flags & LOCI_GUARD_INLINE) == 0)
        status = start_thread(guard, err);
    return status;
}

loci_status loci_guard_open(const loci_guard_options *options, loci_guard **out, loci_error *err)
{
    loci_status status = check_options(options, err);
    lc_heap heap;
    loci_guard *guard;

    if (status != LOCI_OK)
        return status;
    lc_heap_init(&heap, options->allocator);
    guard = lc_heap_zalloc(&heap, sizeof *guard, LOCI_MEM_ENGINE);
    if (guard == NULL)
        return lc_fail_memory(err);
    lc_heap_init(&guard->heap, options->allocator);
    guard->wake_fd = guard->watch.fd = -1;
    guard->reading = options->reading;
    guard->reading_ctx = options->reading_ctx;
    guard->clock = options->clock != NULL ? options->clock : monotonic_us;
    guard->clock_ctx = options->clock_ctx;
    status = fill(guard, options, err);
    if (status == LOCI_OK)
        *out = guard;
    else
        loci_guard_close(guard);
    return status;
}

void loci_guard_close(loci_guard *guard)
{
    lc_heap heap;

    if (guard == NULL)
        return;
    if (guard->has_thread) {
        atomic_store(&guard->is_stopping, true);
        atomic_store(&guard->is_woken, false);
        wake(guard);
        (void)pthread_join(guard->thread, NULL); /* Only fails for no such thread. */
    }
    if (guard->has_controller) {
        lc_gate_enter(&guard->controller.gate);
        lc_suspender_resume_all(&guard->controller.suspender);
        lc_gate_leave(&guard->controller.gate);
        lc_controller_clear(&guard->controller);
        (void)pthread_cond_destroy(&guard->granted);
    }
    lc_watch_close(&guard->watch);
    lc_probe_close(guard->probe);
    if (guard->wake_fd >= 0)
        (void)close(guard->wake_fd); /* Nothing is lost with it. */
    lc_heap_init(&heap, guard->heap.allocator);
    lc_heap_free(&heap, guard, sizeof *guard, LOCI_MEM_ENGINE);
}

/* ---- Usage ----------------------------------------------------------------------------------- */

loci_status loci_guard_charge(loci_guard *guard, loci_category category, loci_work work,
                              int64_t bytes)
{
    return lc_usage_charge(guard->controller.usage, category, work, bytes);
}

loci_status loci_guard_uncharge(loci_guard *guard, loci_category category, int64_t bytes)
{
    return lc_usage_uncharge(guard->controller.usage, category, bytes);
}

loci_status loci_guard_report(loci_guard *guard, const char *name, loci_category category,
                              int64_t bytes, loci_error *err)
{
    lc_controller *c = &guard->controller;
    loci_str text = loci_str_of(name);
    bool is_member;

    lc_gate_enter(&c->gate);
    is_member = lc_evictor_has(&c->evictor, text) || lc_suspender_has(&c->suspender, text);
    lc_gate_leave(&c->gate);
    if (is_member)
        return lc_fail(err, LOCI_EINVAL,
                       "component %s: a cache or pipeline has this name, and its size is asked for",
                       name);
    return lc_usage_report(c->usage, text, category, bytes, err);
}

loci_status loci_guard_release(loci_guard *guard, const char *name, loci_error *err)
{
    return lc_usage_release(guard->controller.usage, loci_str_of(name), err);
}

int64_t loci_guard_usage(loci_guard *guard, loci_category category)
{
    return lc_usage_total(guard->controller.usage, category);
}

/* ---- Caches and pipelines -------------------------------------------------------------------- */

/* Inside the gate. */
static loci_status check_member(lc_controller *c, const char *what, const char *name,
                                loci_error *err)
{
    loci_str text = loci_str_of(name);
    loci_status status = lc_usage_check_name(text, err);

    if (status == LOCI_OK &&
        (lc_evictor_has(&c->evictor, text) || lc_suspender_has(&c->suspender, text)))
        status = lc_fail(err, LOCI_ECONFLICT,
                         "%s %s: a cache or pipeline with this name is registered; remove it first "
                         "or choose another name",
                         what, name);
    return status;
}

/* `size` is what the caller's struct says, `needed` what this version reads. */
static loci_status check_struct(const char *what, uint32_t size, size_t needed, uint32_t flags,
                                loci_error *err)
{
    if (size < needed)
        return lc_fail(err, LOCI_EINVAL, "%s: the struct has size %u, not %zu; use its _INIT", what,
                       size, needed);
    if ((flags & ~LOCI_GUARD_CHARGED) != 0)
        return lc_fail(err, LOCI_EINVAL, "%s: flags 0x%x are unknown", what, flags);
    return LOCI_OK;
}

loci_status loci_guard_add_cache(loci_guard *guard, const loci_cache *cache, loci_error *err)
{
    lc_controller *c = &guard->controller;
    loci_status status = check_struct("cache", cache->size, sizeof *cache, cache->flags, err);

    if (status != LOCI_OK)
        return status;
    lc_gate_enter(&c->gate);
    status = check_member(c, "cache", cache->name, err);
    if (status == LOCI_OK)
        status = lc_evictor_add(&c->evictor, cache, err);
    lc_gate_leave(&c->gate);
    return status;
}

loci_status loci_guard_add_pipeline(loci_guard *guard, const loci_pipeline *pipeline,
                                    loci_error *err)
{
    lc_controller *c = &guard->controller;
    loci_status status = check_struct("pipeline", pipeline->size, sizeof *pipeline, pipeline->flags,
                                      err);

    if (status != LOCI_OK)
        return status;
    lc_gate_enter(&c->gate);
    status = check_member(c, "pipeline", pipeline->name, err);
    if (status == LOCI_OK)
        status = lc_suspender_add(&c->suspender, pipeline, err);
    lc_gate_leave(&c->gate);
    return status;
}

loci_status loci_guard_remove(loci_guard *guard, const char *name, loci_error *err)
{
    lc_controller *c = &guard->controller;
    loci_str text = loci_str_of(name);
    bool is_removed;

    lc_gate_enter(&c->gate);
    is_removed = lc_evictor_remove(&c->evictor, text) || lc_suspender_remove(&c->suspender, text);
    lc_gate_leave(&c->gate);
    if (!is_removed)
        return lc_fail(err, LOCI_ENOTFOUND, "no cache or pipeline %.*s is registered",
                       LC_STR_ARG(text));
    return LOCI_OK;
}

loci_status loci_guard_ack(loci_guard *guard, const char *name, loci_error *err)
{
    lc_controller *c = &guard->controller;
    loci_status status;

    lc_gate_enter(&c->gate);
    status = lc_suspender_ack(&c->suspender, loci_str_of(name), lc_guard_now_ms(guard), err);
    lc_gate_leave(&c->gate);
    return status;
}

/* ---- Admission ------------------------------------------------------------------------------- */

loci_status loci_guard_admit(loci_guard *guard, const loci_admission *admission, loci_ticket *out,
                             loci_error *err)
{
    lc_controller *c = &guard->controller;

    if (admission->size < sizeof *admission)
        return lc_fail(err, LOCI_EINVAL,
                       "admission: the struct has size %u; initialise it with LOCI_ADMISSION_INIT",
                       admission->size);
    if ((unsigned)admission->work >= LC_WORK_KINDS)
        return lc_fail(err, LOCI_EINVAL, "admission: %d is no kind of work", (int)admission->work);
    if (admission->deadline_ms < 0)
        return lc_fail(err, LOCI_EINVAL, "admission: deadline_ms is %lld, not 0 or more",
                       (long long)admission->deadline_ms);
    lc_gate_enter(&c->gate);
    *out = lc_admission_ask(&c->admission, admission, lc_guard_now_ms(guard));
    lc_gate_leave(&c->gate);
    return LOCI_OK;
}

static loci_status fail_ticket(uint64_t ticket, loci_error *err)
{
    return lc_fail(err, LOCI_ENOTFOUND, "no ticket %llu: it was never given, or has ended",
                   (unsigned long long)ticket);
}

loci_status loci_guard_wait(loci_guard *guard, uint64_t ticket, int64_t timeout_ms,
                            loci_ticket *out, loci_error *err)
{
    lc_controller *c = &guard->controller;
    int64_t until_us = lc_clock_monotonic_us();
    loci_ticket now = {0};
    bool is_known;

    if (timeout_ms > 0)
        until_us += (timeout_ms < 86400000 ? timeout_ms : 86400000) * 1000;
    lc_gate_enter(&c->gate);
    while ((is_known = lc_admission_look(&c->admission, ticket, lc_guard_now_ms(guard), &now)) &&
           now.outcome == LOCI_QUEUED && lc_clock_monotonic_us() < until_us) {
        struct timespec until = {.tv_sec = until_us / 1000000,
                                 .tv_nsec = until_us % 1000000 * 1000};

        (void)pthread_cond_timedwait(&guard->granted, &c->gate.lock, &until);
    }
    lc_gate_leave(&c->gate);
    if (!is_known)
        return fail_ticket(ticket, err);
    *out = now;
    return LOCI_OK;
}

loci_status loci_guard_done(loci_guard *guard, uint64_t ticket, loci_error *err)
{
    lc_controller *c = &guard->controller;
    bool is_known;

    lc_gate_enter(&c->gate);
    is_known = lc_admission_done(&c->admission, ticket);
    lc_gate_leave(&c->gate);
    (void)pthread_cond_broadcast(&guard->granted); /* The next in the queue may go on. */
    return is_known ? LOCI_OK : fail_ticket(ticket, err);
}

loci_level loci_guard_level(loci_guard *guard)
{
    loci_level level;

    lc_gate_enter(&guard->controller.gate);
    level = guard->controller.gate.level;
    lc_gate_leave(&guard->controller.gate);
    return level;
}

void lc_guard_set_outside(loci_guard *guard, int64_t bytes)
{
    atomic_store(&guard->outside_bytes, bytes);
}

lc_sample lc_guard_sample(loci_guard *guard)
{
    lc_sample sample;

    lc_gate_enter(&guard->controller.gate);
    sample = guard->controller.sample;
    lc_gate_leave(&guard->controller.gate);
    return sample;
}
