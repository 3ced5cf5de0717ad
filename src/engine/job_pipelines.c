/* job_pipelines.c - Invariant: a band that is paused or cancelled, and has no running job, has
 * acknowledged or is registered again by the next settle: no band stays paused for good. */
#include "engine/job_pipelines.h"

#include <stddef.h>

#include "store/job.h"

static const struct {
    const char *name;
    int64_t priority_max; /* Of its jobs. */
    int32_t priority;     /* Of the pipeline. */
} bands[LC_JOB_BANDS] = {
    {"loci.jobs.upkeep", LC_JOB_PRIORITY_UPKEEP, LC_JOB_PRIORITY_UPKEEP},
    {"loci.jobs.background", -1, -100},
    {"loci.jobs.requested", INT64_MAX, 0},
};

static void confirm(lc_job_band *band)
{
    /* Fails if it is not being paused now: then there is nothing to confirm. */
    if (atomic_load(&band->is_paused) && atomic_load(&band->running) == 0)
        (void)loci_guard_ack(band->pipelines->guard, bands[band->number].name, NULL);
}

static void pause_band(void *ctx)
{
    lc_job_band *band = ctx;

    atomic_store(&band->is_paused, true);
    confirm(band);
}

static void resume_band(void *ctx)
{
    lc_job_band *band = ctx;

    atomic_store(&band->is_paused, false);
    band->pipelines->wake(band->pipelines->wake_ctx);
}

static void cancel_band(void *ctx)
{
    lc_job_band *band = ctx;

    atomic_store(&band->is_cancelled, true);
}

static loci_status add(lc_job_band *band, loci_error *err)
{
    loci_pipeline pipeline = LOCI_PIPELINE_INIT;

    pipeline.name = bands[band->number].name;
    pipeline.priority = bands[band->number].priority;
    pipeline.pause = pause_band;
    pipeline.resume = resume_band;
    pipeline.cancel = cancel_band;
    pipeline.ctx = band;
    return loci_guard_add_pipeline(band->pipelines->guard, &pipeline, err);
}

loci_status lc_job_pipelines_open(lc_job_pipelines *pipelines, loci_guard *guard,
                                  void (*wake)(void *ctx), void *wake_ctx, loci_error *err)
{
    loci_status status = LOCI_OK;

    if (guard == NULL)
        return LOCI_OK;
    pipelines->guard = guard;
    pipelines->wake = wake;
    pipelines->wake_ctx = wake_ctx;
    for (int i = 0; i < LC_JOB_BANDS && status == LOCI_OK; i++) {
        pipelines->bands[i].pipelines = pipelines;
        pipelines->bands[i].number = i;
        status = add(&pipelines->bands[i], err);
    }
    return status;
}

void lc_job_pipelines_close(lc_job_pipelines *pipelines)
{
    if (pipelines->guard == NULL)
        return;
    for (int i = 0; i < LC_JOB_BANDS; i++) /* One that was never added is not found. */
        (void)loci_guard_remove(pipelines->guard, bands[i].name, NULL);
    pipelines->guard = NULL;
}

int64_t lc_job_pipelines_floor(const lc_job_pipelines *pipelines)
{
    int64_t floor = INT64_MIN;

    for (int i = 0; i < LC_JOB_BANDS; i++) {
        if (atomic_load_explicit(&pipelines->bands[i].is_paused, memory_order_relaxed))
            floor = bands[i].priority_max == INT64_MAX ? INT64_MAX : bands[i].priority_max + 1;
    }
    return floor;
}

static lc_job_band *band_of(lc_job_pipelines *pipelines, int64_t priority)
{
    int number = 0;

    while (priority > bands[number].priority_max)
        number++;
    return &pipelines->bands[number];
}

void lc_job_pipelines_began(lc_job_pipelines *pipelines, int64_t priority)
{
    atomic_fetch_add(&band_of(pipelines, priority)->running, 1);
}

void lc_job_pipelines_ended(lc_job_pipelines *pipelines, int64_t priority)
{
    lc_job_band *band = band_of(pipelines, priority);

    if (atomic_fetch_sub(&band->running, 1) == 1 && pipelines->guard != NULL)
        confirm(band);
}

void lc_job_pipelines_settle(lc_job_pipelines *pipelines)
{
    for (int i = 0; i < LC_JOB_BANDS; i++) {
        lc_job_band *band = &pipelines->bands[i];

        if (atomic_load(&band->running) > 0 || !atomic_exchange(&band->is_cancelled, false))
            continue;
        (void)loci_guard_remove(pipelines->guard, bands[i].name, NULL);
        atomic_store(&band->is_paused, false);
        if (add(band, NULL) != LOCI_OK) /* Out of memory: unregistered, it runs on. Try again. */
            atomic_store(&band->is_cancelled, true);
    }
}
