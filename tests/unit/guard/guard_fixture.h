/* guard_fixture.h - a controller in a world that a test can script: base usage, caches that really
 * shrink, pipelines that spill when they pause, a clock that only the test moves. */
#ifndef TEST_UNIT_GUARD_FIXTURE_H
#define TEST_UNIT_GUARD_FIXTURE_H

#include "guard/controller.h"

#define MB (1024ll * 1024)
#define LIMIT_MB 1000 /* So megabytes are thousandths. */
#define CACHES 3
#define PIPELINES 4
#define SIGNALS_MAX 4096

typedef struct fake_cache {
    int64_t bytes;
    int64_t regions_bytes; /* It evicts whole regions of this size. */
    bool is_stuck;         /* Frees nothing and says it did. */
    uint64_t asked;
} fake_cache;

typedef struct fake_pipeline {
    struct world *world;
    char name[16];
    int64_t bytes;              /* While it runs. */
    bool is_running, is_silent; /* Silent: never acknowledges. */
    unsigned paused, resumed, cancelled;
} fake_pipeline;

typedef struct world {
    lc_heap heap;
    lc_controller controller;
    int64_t now_ms, clock_us;
    int64_t limit_bytes;
    int64_t base_bytes; /* Neither caches nor pipelines. */
    bool is_failing;    /* Readings fail. */
    bool is_stalled;
    fake_cache caches[CACHES];
    fake_pipeline pipelines[PIPELINES];
    unsigned signals[LOCI_SIGNAL_CANCEL_PIPELINE + 1];
    unsigned purges;
    uint32_t changed;    /* Tickets, by the last tick. */
    int64_t interval_ms; /* Asked for by the last tick. */
} world;

/* Caches "small", "middle", "large" of no bytes; pipelines "p0" to "p3" of priorities 0 to 3, which
 * run and hold nothing. */
void world_open(world *w);
void world_close(world *w);
/* Bytes in use. */
int64_t world_used(const world *w);
/* One tick at the present time; returns the level. */
loci_level world_tick(world *w);
/* Ticks every 200 ms for `ms`; returns the level after them. */
loci_level world_run(world *w, int64_t ms);
/* The same with `mb` of base usage. */
loci_level world_at(world *w, int64_t mb, int64_t ms);
/* Asks for admission of ordinary work that waits up to `deadline_ms`. */
loci_ticket world_ask(world *w, loci_work work, int32_t priority, int64_t deadline_ms);

#endif /* TEST_UNIT_GUARD_FIXTURE_H */
