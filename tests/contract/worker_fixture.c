#include "contract/worker_fixture.h"

#include "base/clock.h"

static const lc_room *const rooms[] = {&lc_store_room, &fixture_room, NULL};

loci_engine *worker_open(const char *path, uint32_t flags, const lc_job_kind *const *kinds)
{
    const lc_engine_parts parts = {.rooms = rooms, .job_kinds = kinds};
    loci_open_options options = LOCI_OPEN_OPTIONS_INIT;
    loci_engine *engine = NULL;
    loci_error err;

    options.store = path;
    options.flags = flags;
    options.allocator = test_heap();
    options.settings = "{\"job.workers\":3,\"job.lease_ms\":20000}";
    CHECK_OK(lc_engine_open(&options, &parts, &engine, &err), err);
    return engine;
}

loci_status worker_write(loci_engine *engine, const char *user, lc_tx_body *body, void *ctx,
                         loci_error *err)
{
    lc_write write = {
        .tenant_id = loci_str_of(user[0] != '\0' ? "t" : ""),
        .user_id = loci_str_of(user),
        .now_us = lc_clock_system_us(NULL),
        .deadline_us = lc_clock_monotonic_us() + WORKER_PATIENCE_US,
        .body = body,
        .ctx = ctx,
    };
    loci_status status = lc_engine_write(engine, &write);

    if (status != LOCI_OK)
        *err = write.error;
    return status;
}

loci_status worker_add_body(lc_tx *tx, void *ctx, loci_error *err)
{
    worker_job *a = ctx;

    return lc_job_enqueue(tx, &a->job, &a->id, err);
}

lc_id worker_add(loci_engine *engine, const lc_job_kind *kind, int64_t attempts_max)
{
    worker_job a = {.job = {.kind = loci_str_of(kind->name), .attempts_max = attempts_max}};
    loci_error err;

    CHECK_OK(worker_write(engine, "u", worker_add_body, &a, &err), err);
    lc_engine_wake_workers(engine);
    return a.id;
}

typedef struct look {
    lc_job_key key;
    const char *effect;
    lc_arena arena;
    worker_look_result result;
} look;

static loci_status look_body(lc_tx *tx, void *ctx, loci_error *err)
{
    look *l = ctx;
    loci_status status = lc_job_load(tx, &l->key, &l->arena, &l->result.job, err);

    if (status == LOCI_OK)
        status = fixture_count_effects(tx, l->effect, &l->result.effects, err);
    return status;
}

worker_look_result worker_look(loci_engine *engine, lc_id id, const char *effect)
{
    look l = {
        .key = {LC_STR("t"), LC_STR("u"), lc_id_str(&id)},
        .effect = effect != NULL ? effect : id.text,
    };
    int64_t deadline_us = lc_clock_monotonic_us() + WORKER_PATIENCE_US;
    loci_error err;

    lc_arena_init(&l.arena, &lc_engine_env(engine)->heap, LOCI_MEM_REQUESTS);
    CHECK_OK(lc_engine_read(engine,
                            &(lc_read){.deadline_us = deadline_us, .body = look_body, .ctx = &l},
                            &err),
             err);
    if (l.result.job.error_code.ptr != NULL)
        l.result.job.error_code = loci_str_of(
            test_format("%.*s", LC_STR_ARG(l.result.job.error_code)));
    lc_arena_clear(&l.arena);
    return l.result;
}

lc_job_status worker_status(loci_engine *engine, lc_id id)
{
    return worker_look(engine, id, NULL).job.status;
}

void worker_wait(loci_engine *engine, lc_id id, lc_job_status status)
{
    int64_t until_us = lc_clock_monotonic_us() + WORKER_PATIENCE_US;

    while (worker_status(engine, id) != status) {
        CHECK_LT(lc_clock_monotonic_us(), until_us);
        lc_clock_sleep_us(2000);
    }
}
