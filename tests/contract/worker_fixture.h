/* worker_fixture.h - engines whose jobs are a test's own, and looks at what becomes of them. */
#ifndef TEST_CONTRACT_WORKER_FIXTURE_H
#define TEST_CONTRACT_WORKER_FIXTURE_H

#include "contract/job_fixture.h"

#include "engine/engine.h"
#include "engine/worker.h"

/* How long a test waits for another thread before it fails. */
#define WORKER_PATIENCE_US (60 * INT64_C(1000000))

/* Three workers, or none with LOCI_OPEN_INLINE; leases of 20 s. */
loci_engine *worker_open(const char *path, uint32_t flags, const lc_job_kind *const *kinds);
/* A write as (tenant "t", `user`); "" is the store itself. */
loci_status worker_write(loci_engine *engine, const char *user, lc_tx_body *body, void *ctx,
                         loci_error *err);

typedef struct worker_job {
    lc_job_new job;
    lc_id id;
} worker_job;

/* A body: enqueues a worker_job. */
loci_status worker_add_body(lc_tx *tx, void *ctx, loci_error *err);
/* Enqueues a job of the user "u" and wakes the workers. */
lc_id worker_add(loci_engine *engine, const lc_job_kind *kind, int64_t attempts_max);

typedef struct worker_look_result {
    lc_job job;      /* Of its text only error_code may be used. */
    int64_t effects; /* How often the effect was had. */
} worker_look_result;

/* What the row of a job of "u" says now, and an effect; NULL = that named as the job. */
worker_look_result worker_look(loci_engine *engine, lc_id id, const char *effect);
lc_job_status worker_status(loci_engine *engine, lc_id id);
void worker_wait(loci_engine *engine, lc_id id, lc_job_status status);

#endif /* TEST_CONTRACT_WORKER_FIXTURE_H */
