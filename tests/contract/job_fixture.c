#include "contract/job_fixture.h"

#include "base/clock.h"
#include "base/error.h"
#include "store/schema.h"

int64_t fixture_database_us;
int64_t fixture_domain_us;

/* ---- Effects -------------------------------------------------------------------------------- */

static const lc_column effect_columns[] = {
    LC_COLUMN("tenant_id", 't'),
    LC_COLUMN("user_id", 't'),
    LC_COLUMN("name", 't'),
    LC_COLUMN("times", 'i'),
    {0},
};

static const lc_table effects_table = {
    .name = "effects",
    .table_class = LC_TABLE_OPERATIONAL,
    .columns = effect_columns,
    .key = "tenant_id, user_id, name",
};

static const lc_table *const fixture_tables[] = {&effects_table, NULL};

const lc_room fixture_room = {.name = "effect", .tables = fixture_tables};

static const lc_sql add_effect = {
    .text = "insert into effects (tenant_id, user_id, name, times) values ('t', 'effects', $1, 1) "
            "on conflict (tenant_id, user_id, name) do update set times = effects.times + 1",
    .params = "t",
};

static const lc_sql count_effect = {
    .text = "select times from effects where tenant_id = 't' and user_id = 'effects' and name = $1",
    .params = "t",
    .columns = "i",
};

loci_status fixture_add_effect(lc_tx *tx, const char *name, loci_error *err)
{
    return lc_tx_exec(tx, &add_effect, (lc_arg[]){LC_T(loci_str_of(name))}, err);
}

loci_status fixture_count_effects(lc_tx *tx, const char *name, int64_t *out, loci_error *err)
{
    lc_rows rows;
    bool found;
    loci_status status = lc_tx_find(tx, &count_effect, (lc_arg[]){LC_T(loci_str_of(name))}, &rows,
                                    &found, err);

    if (status == LOCI_OK)
        *out = found ? lc_rows_i64(&rows, 0) : 0;
    lc_rows_end(&rows);
    return status;
}

/* ---- The store ------------------------------------------------------------------------------ */

static const lc_room *const rooms[] = {&lc_store_room, &fixture_room, NULL};
static const lc_catalogue catalogue = {.rooms = rooms};

static int64_t domain_clock(void *ctx)
{
    (void)ctx;
    return fixture_domain_us;
}

static loci_status database_clock(lc_tx *tx, int64_t *out, loci_error *err)
{
    (void)tx;
    (void)err;
    *out = fixture_database_us;
    return LOCI_OK;
}

const char *fixture_path(void)
{
    return test_store(test_tmpdir(), "jobs.db");
}

void fixture_open(fixture *f, const char *path)
{
    static lc_db_driver with_clock;
    lc_schema_state state;

    fixture_database_us = INT64_C(1700000000000000);
    fixture_domain_us = INT64_C(1600000000000000);
    *f = (fixture){0};
    lc_heap_init(&f->env.heap, test_heap());
    lc_random_init(&f->env.random, 1);
    f->env.clock = domain_clock;
    lc_arena_init(&f->arena, &f->env.heap, LOCI_MEM_PIPELINES);
    if (path == NULL)
        path = fixture_path();
    CHECK_OK(lc_db_driver_of(path)->open(&f->env, &catalogue,
                                         &(lc_db_target){.store = path, .is_created = true}, &f->db,
                                         &f->err),
             f->err);
    CHECK_OK(lc_schema_open(f->db, NULL, &state, &f->err), f->err);
    with_clock = *f->db->driver;
    with_clock.now_us = database_clock;
    f->db->driver = &with_clock;
}

void fixture_close(fixture *f)
{
    lc_arena_clear(&f->arena);
    lc_db_close(f->db);
    f->db = NULL;
}

loci_status fixture_write(fixture *f, const char *user, lc_tx_body *body, void *ctx)
{
    lc_write write = {
        .tenant_id = loci_str_of(user[0] != '\0' ? "t" : ""),
        .user_id = loci_str_of(user),
        .now_us = fixture_domain_us,
        .deadline_us = lc_clock_monotonic_us() + 10000000,
        .body = body,
        .ctx = ctx,
    };

    while (!write.is_answered)
        lc_db_write(f->db, &write);
    if (write.status != LOCI_OK)
        f->err = write.error;
    return write.status;
}

loci_status fixture_read(fixture *f, lc_tx_body *body, void *ctx)
{
    return lc_db_read(f->db, lc_clock_monotonic_us() + 10000000, body, ctx, &f->err);
}

void fixture_pass_ms(int64_t ms)
{
    fixture_database_us += ms * 1000;
}

/* ---- Short forms ---------------------------------------------------------------------------- */

typedef struct call {
    fixture *f;
    const lc_job *job;
    lc_job *out;
    const lc_job_new *fresh;
    lc_job_key key;
    lc_id id;
    loci_status cause;
    bool flag;
    const char *name;
    const char *checkpoint;
    int64_t count;
} call;

static loci_status enqueue_body(lc_tx *tx, void *ctx, loci_error *err)
{
    call *c = ctx;

    return lc_job_enqueue(tx, c->fresh, &c->id, err);
}

lc_id fixture_enqueue(fixture *f, const char *user, const lc_job_new *job)
{
    call c = {.fresh = job};

    CHECK_OK(fixture_write(f, user, enqueue_body, &c), f->err);
    return c.id;
}

static loci_status claim_body(lc_tx *tx, void *ctx, loci_error *err)
{
    call *c = ctx;
    lc_job_terms terms = {.lease_ms = LEASE_MS, .priority_min = INT64_MIN};

    return lc_job_claim(tx, &terms, &c->f->arena, c->out, err);
}

lc_job fixture_claim(fixture *f)
{
    lc_job job;
    call c = {.f = f, .out = &job};

    CHECK_OK(fixture_write(f, "", claim_body, &c), f->err);
    return job;
}

lc_job fixture_claim_one(fixture *f)
{
    lc_job job = fixture_claim(f);

    CHECK(job.id.ptr != NULL);
    CHECK_EQ(job.status, LC_JOB_RUNNING);
    return job;
}

static loci_status load_body(lc_tx *tx, void *ctx, loci_error *err)
{
    call *c = ctx;

    return lc_job_load(tx, &c->key, &c->f->arena, c->out, err);
}

static lc_job_key key_of(const char *user, const lc_id *id)
{
    return (lc_job_key){loci_str_of(user[0] != '\0' ? "t" : ""), loci_str_of(user), lc_id_str(id)};
}

lc_job fixture_load(fixture *f, const char *user, lc_id id)
{
    lc_job job;
    call c = {.f = f, .out = &job, .key = key_of(user, &id)};

    CHECK_OK(fixture_read(f, load_body, &c), f->err);
    return job;
}

static loci_status hold_body(lc_tx *tx, void *ctx, loci_error *err)
{
    return lc_job_hold(tx, ((call *)ctx)->job, LEASE_MS, err);
}

loci_status fixture_hold(fixture *f, const lc_job *job)
{
    call c = {.job = job};

    return fixture_write(f, "u", hold_body, &c);
}

static loci_status finish_body(lc_tx *tx, void *ctx, loci_error *err)
{
    return lc_job_finish(tx, ((call *)ctx)->job, LC_STR("{\"n\":1}"), err);
}

loci_status fixture_finish(fixture *f, const lc_job *job)
{
    call c = {.job = job};

    return fixture_write(f, "u", finish_body, &c);
}

static loci_status return_body(lc_tx *tx, void *ctx, loci_error *err)
{
    return lc_job_return(tx, ((call *)ctx)->job, err);
}

loci_status fixture_return(fixture *f, const lc_job *job)
{
    call c = {.job = job};

    return fixture_write(f, "u", return_body, &c);
}

static loci_status fail_body(lc_tx *tx, void *ctx, loci_error *err)
{
    call *c = ctx;
    loci_error cause;

    (void)lc_fail(&cause, c->cause, "it did not work");
    return lc_job_fail(tx, c->job, &(lc_job_failure){.cause = &cause, .is_final = c->flag}, err);
}

loci_status fixture_fail(fixture *f, const lc_job *job, loci_status cause, bool is_final)
{
    call c = {.job = job, .cause = cause, .flag = is_final};

    return fixture_write(f, "u", fail_body, &c);
}

static loci_status cancel_body(lc_tx *tx, void *ctx, loci_error *err)
{
    return lc_job_request_cancel(tx, &((call *)ctx)->key, err);
}

loci_status fixture_cancel(fixture *f, const char *user, lc_id id)
{
    call c = {.key = key_of(user, &id)};

    return fixture_write(f, user, cancel_body, &c);
}

static loci_status slice_body(lc_tx *tx, void *ctx, loci_error *err)
{
    call *c = ctx;
    lc_job_progress progress = {
        .done = 1,
        .total = 3,
        .checkpoint = c->checkpoint != NULL ? loci_str_of(c->checkpoint) : LC_STR_NONE,
    };
    loci_status status = lc_job_hold(tx, c->job, LEASE_MS, err);

    if (status == LOCI_OK)
        status = fixture_add_effect(tx, c->name, err);
    if (status == LOCI_OK)
        status = c->flag ? lc_job_finish(tx, c->job, LC_STR_NONE, err)
                         : lc_job_advance(tx, c->job, &progress, err);
    return status;
}

loci_status fixture_slice(fixture *f, const lc_job *job, const char *name, const char *checkpoint)
{
    call c = {.job = job, .name = name, .checkpoint = checkpoint};

    return fixture_write(f, "u", slice_body, &c);
}

loci_status fixture_last_slice(fixture *f, const lc_job *job, const char *name)
{
    call c = {.job = job, .name = name, .flag = true};

    return fixture_write(f, "u", slice_body, &c);
}

static loci_status effects_body(lc_tx *tx, void *ctx, loci_error *err)
{
    call *c = ctx;

    return fixture_count_effects(tx, c->name, &c->count, err);
}

int64_t fixture_effects(fixture *f, const char *name)
{
    call c = {.name = name};

    CHECK_OK(fixture_read(f, effects_body, &c), f->err);
    return c.count;
}
