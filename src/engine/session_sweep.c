/* session_sweep.c - looks on a snapshot first: nearly all users have nothing to end, and a write
 * that finds nothing would still lock their head. */
#include "engine/session_sweep.h"

#include "base/clock.h"
#include "engine/internal.h"
#include "session/session.h"
#include "store/user_walk.h"

#define MINUTE_US INT64_C(60000000)
#define WRITE_US 10000000 /* How long one user's write may wait. */
#define HOLD_US 1000000

typedef struct sweep {
    lc_job_run *run;
    lc_user_walk walk; /* Stands on the user at hand. */
    int64_t idle_us;   /* Of its tenant. */
    bool has_idle;
    int64_t ended_now, ended;
    int64_t held_us; /* Monotonic: when the lease was extended last. */
} sweep;

static loci_status look(lc_tx *tx, void *ctx, loci_error *err)
{
    sweep *s = ctx;
    lc_settings *settings = lc_engine_settings(s->run->engine);
    loci_status status = lc_user_walk_next(tx, &s->walk, &lc_session_users_sql, err);

    s->has_idle = false;
    if (status != LOCI_OK || !s->walk.found)
        return status;
    tx->tenant_id = lc_user_walk_tenant(&s->walk);
    tx->user_id = lc_user_walk_user(&s->walk);
    s->idle_us = MINUTE_US *
                 lc_settings_i64(settings, &lc_setting_session_idle_minutes, tx->tenant_id);
    return lc_session_has_idle(tx, s->idle_us, &s->has_idle, err);
}

static loci_status end_idle(lc_tx *tx, void *ctx, loci_error *err)
{
    sweep *s = ctx;

    s->ended_now = 0;
    return lc_session_end_idle(tx, s->idle_us, &s->ended_now, err);
}

static loci_status end_of_user(sweep *s, loci_error *err)
{
    loci_engine *engine = s->run->engine;
    lc_write write = {.tenant_id = lc_user_walk_tenant(&s->walk),
                      .user_id = lc_user_walk_user(&s->walk),
                      .now_us = lc_env_now_us(lc_engine_env(engine)),
                      .deadline_us = lc_clock_monotonic_us() + WRITE_US,
                      .body = end_idle,
                      .ctx = s};
    loci_status status = lc_engine_write(engine, &write);

    if (status == LOCI_OK)
        s->ended += s->ended_now;
    else if (err != NULL)
        *err = write.error;
    return status;
}

/* Keeps the lease while there is much to do. */
static loci_status hold(sweep *s, loci_error *err)
{
    lc_job_progress progress = {.done = s->ended};
    loci_status status = lc_job_run_pause_point(s->run, err);

    if (status != LOCI_OK || lc_clock_monotonic_us() - s->held_us < HOLD_US)
        return status;
    s->held_us = lc_clock_monotonic_us();
    return lc_job_run_commit(s->run, NULL, NULL, &progress, err);
}

static bool has_sessions(const loci_engine *engine)
{
    for (size_t i = 0; engine->catalogue.rooms[i] != NULL; i++)
        if (engine->catalogue.rooms[i] == &lc_session_room)
            return true;
    return false;
}

loci_status lc_session_sweep(lc_job_run *run, int64_t *out_ended, loci_error *err)
{
    loci_engine *engine = run->engine;
    sweep s = {.run = run, .held_us = lc_clock_monotonic_us()};
    loci_status status = LOCI_OK;

    *out_ended = 0;
    if (!has_sessions(engine))
        return LOCI_OK;
    lc_user_walk_init(&s.walk, &lc_engine_env(engine)->heap);
    do {
        status = hold(&s, err);
        if (status == LOCI_OK)
            status = lc_engine_read(
                engine, &(lc_read){.deadline_us = INT64_MAX, .body = look, .ctx = &s}, err);
        if (status == LOCI_OK && s.has_idle)
            status = end_of_user(&s, err);
    } while (status == LOCI_OK && s.walk.found);
    lc_user_walk_clear(&s.walk);
    *out_ended = s.ended;
    return status;
}
