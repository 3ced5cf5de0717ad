#include "ops/probe.h"

#include "base/clock.h"
#include "base/error.h"
#include "engine/engine.h"
#include "store/schema.h"

typedef struct probe {
    loci_engine *engine;
    int64_t deadline_us;
} probe;

static loci_status read_version(lc_tx *tx, void *ctx, loci_error *err)
{
    int64_t version = 0;
    loci_status status = lc_meta_get_i64(tx, "schema_version", 0, &version, err);

    (void)ctx; /* Everything is in the store. */
    if (status == LOCI_OK && version < 1)
        status = lc_fail(err, LOCI_ECORRUPT, "meta.schema_version is missing");
    return status;
}

static loci_status run(void *ctx, loci_error *err)
{
    probe *p = ctx;

    return lc_engine_read(p->engine,
                          &(lc_read){.deadline_us = p->deadline_us, .body = read_version}, err);
}

loci_status lc_probe_store(loci_engine *engine, int64_t timeout_ms, loci_error *err)
{
    probe p = {.engine = engine, .deadline_us = lc_clock_monotonic_us() + timeout_ms * 1000};
    loci_status status = lc_engine_check(engine, err);

    return status == LOCI_OK ? lc_engine_guard(engine, run, &p, err) : status;
}
