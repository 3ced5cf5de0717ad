/* guard_fixture.c - the world of guard_fixture.h. */
#include "guard_fixture.h"

#include <stdio.h>

#include "base/str.h"
#include "lib/heap.h"
#include "lib/test.h"

static int64_t cache_bytes(void *ctx)
{
    return ((fake_cache *)ctx)->bytes;
}

static int64_t cache_evict(void *ctx, int64_t bytes, int64_t budget_us)
{
    fake_cache *cache = ctx;
    int64_t freed = 0;

    CHECK_LT(0, bytes);
    CHECK_LT(0, budget_us);
    CHECK_LE(budget_us, LC_EVICTOR_SLICE_US);
    cache->asked++;
    if (cache->is_stuck)
        return bytes;
    while (freed < bytes && cache->bytes > 0) {
        int64_t part = cache->bytes < cache->regions_bytes ? cache->bytes : cache->regions_bytes;

        cache->bytes -= part;
        freed += part;
    }
    return freed;
}

static void pause(void *ctx)
{
    fake_pipeline *pipeline = ctx;
    loci_error err;

    CHECK(pipeline->is_running);
    pipeline->paused++;
    if (pipeline->is_silent)
        return;
    /* An acknowledgement from within the callback: no lock may be held. */
    lc_gate_enter(&pipeline->world->controller.gate);
    CHECK_OK(lc_suspender_ack(&pipeline->world->controller.suspender, loci_str_of(pipeline->name),
                              pipeline->world->now_ms, &err),
             err);
    lc_gate_leave(&pipeline->world->controller.gate);
    pipeline->is_running = false;
}

static void resume(void *ctx)
{
    fake_pipeline *pipeline = ctx;

    CHECK(!pipeline->is_running);
    pipeline->resumed++;
    pipeline->is_running = true;
}

static void cancel(void *ctx)
{
    fake_pipeline *pipeline = ctx;

    pipeline->cancelled++;
    pipeline->is_running = false;
}

static int64_t pipeline_bytes(void *ctx)
{
    fake_pipeline *pipeline = ctx;

    return pipeline->is_running ? pipeline->bytes : 0;
}

static void on_signal(void *ctx, const loci_signal *signal)
{
    ((world *)ctx)->signals[signal->kind]++;
}

static void purge(void *ctx)
{
    ((world *)ctx)->purges++;
}

static int64_t clock_us(void *ctx)
{
    return ((world *)ctx)->clock_us;
}

void world_open(world *w)
{
    static const char *const names[CACHES] = {"small", "middle", "large"};
    lc_controller_options options = {.in_flight_max = 64,
                                     .queue_max = 1000,
                                     .signal = on_signal,
                                     .signal_ctx = w,
                                     .clock = clock_us,
                                     .clock_ctx = w,
                                     .purge = purge,
                                     .purge_ctx = w};
    loci_error err;

    *w = (world){.limit_bytes = LIMIT_MB * MB, .now_ms = 1000000};
    lc_heap_init(&w->heap, test_heap());
    CHECK_OK(lc_controller_init(&w->controller, &w->heap, &options, &err), err);
    w->controller.admission.window = w->controller.admission.window_small = 4; /* Any machine. */
    for (int i = 0; i < CACHES; i++) {
        loci_cache cache = LOCI_CACHE_INIT;

        w->caches[i].regions_bytes = MB;
        cache.name = names[i];
        cache.bytes = cache_bytes;
        cache.evict = cache_evict;
        cache.ctx = &w->caches[i];
        CHECK_OK(lc_evictor_add(&w->controller.evictor, &cache, &err), err);
    }
    for (int i = 0; i < PIPELINES; i++) {
        loci_pipeline pipeline = LOCI_PIPELINE_INIT;

        w->pipelines[i] = (fake_pipeline){.world = w, .is_running = true};
        (void)snprintf(w->pipelines[i].name, sizeof w->pipelines[i].name, "p%d", i);
        pipeline.name = w->pipelines[i].name;
        pipeline.priority = i;
        pipeline.bytes = pipeline_bytes;
        pipeline.pause = pause;
        pipeline.resume = resume;
        pipeline.cancel = cancel;
        pipeline.ctx = &w->pipelines[i];
        CHECK_OK(lc_suspender_add(&w->controller.suspender, &pipeline, &err), err);
    }
}

void world_close(world *w)
{
    lc_controller_clear(&w->controller);
}

int64_t world_used(const world *w)
{
    int64_t used = w->base_bytes;

    for (int i = 0; i < CACHES; i++)
        used += w->caches[i].bytes;
    for (int i = 0; i < PIPELINES; i++)
        used += w->pipelines[i].is_running ? w->pipelines[i].bytes : 0;
    return used;
}

loci_level world_tick(world *w)
{
    lc_reading reading = {.used_bytes = world_used(w),
                          .limit_bytes = w->limit_bytes,
                          .limit_from = "test",
                          .is_stalled = w->is_stalled};

    w->interval_ms = lc_controller_tick(&w->controller, w->is_failing ? NULL : &reading, w->now_ms,
                                        &w->changed);
    return w->controller.gate.level;
}

loci_level world_run(world *w, int64_t ms)
{
    loci_level level = w->controller.gate.level;

    for (int64_t until = w->now_ms + ms; w->now_ms < until;) {
        w->now_ms += 200;
        level = world_tick(w);
    }
    return level;
}

loci_level world_at(world *w, int64_t mb, int64_t ms)
{
    w->base_bytes = mb * MB;
    return world_run(w, ms);
}

loci_ticket world_ask(world *w, loci_work work, int32_t priority, int64_t deadline_ms)
{
    loci_admission request = LOCI_ADMISSION_INIT;

    request.work = work;
    request.priority = priority;
    request.deadline_ms = deadline_ms;
    return lc_admission_ask(&w->controller.admission, &request, w->now_ms);
}
