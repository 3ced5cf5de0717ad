#include "contract/probe_fixture.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "store/db_upkeep.h"

#define PATIENCE_US 10000000

/* ---- The room -------------------------------------------------------------------------------- */

static const lc_column sample_columns[] = {
    LC_COLUMN("tenant_id", 't'),
    LC_COLUMN("user_id", 't'),
    LC_COLUMN("id", 'i'),
    LC_COLUMN_OR_NULL("number", 'i'),
    LC_COLUMN_OR_NULL("real_number", 'f'),
    LC_COLUMN_OR_NULL("words", 't'),
    LC_COLUMN_OR_NULL("bytes", 'b'),
    {0},
};
static const lc_table samples_table = {
    .name = "samples",
    .table_class = LC_TABLE_OPERATIONAL,
    .columns = sample_columns,
    .key = "tenant_id, user_id, id",
};

static const lc_column saying_columns[] = {
    LC_COLUMN("tenant_id", 't'),   LC_COLUMN("user_id", 't'), LC_COLUMN("seq", 'i'),
    LC_COLUMN("recorded_at", 'i'), LC_COLUMN("payload", 't'), {0},
};
static const lc_table sayings_table = {
    .name = "sayings",
    .table_class = LC_TABLE_PROJECTION,
    .columns = saying_columns,
    .key = "tenant_id, user_id, seq",
};

static const lc_sql put_saying_sql = {
    "insert into sayings (tenant_id, user_id, seq, recorded_at, payload)"
    " values ($1, $2, $3, $4, $5)",
    "ttiit", NULL};

static loci_status apply_saying(lc_tx *tx, const lc_event *event, loci_error *err)
{
    loci_status status = lc_tx_exec(tx, &put_saying_sql,
                                    (lc_arg[]){LC_T(event->tenant_id), LC_T(event->user_id),
                                               LC_I(event->seq), LC_I(event->recorded_at),
                                               LC_T(event->payload)},
                                    err);

    if (status == LOCI_OK && memmem(event->payload.ptr, event->payload.len, "refuse", 6) != NULL)
        status = lc_fail(err, LOCI_EUNSUPPORTED, "refused after it was written");
    return status;
}

const lc_event_type probe_said = {.name = "probe.said", .version = 1, .apply = apply_saying};

static loci_status wrap_twice(loci_str payload, lc_buf *out, loci_error *err)
{
    if (payload.len < 2 || payload.ptr[0] != '{')
        return lc_fail(err, LOCI_ECORRUPT, "payload is not an object");
    lc_buf_append(out, LC_STR("{\"was\":["));
    lc_buf_append(out, payload);
    lc_buf_append(out, LC_STR(","));
    lc_buf_append(out, payload);
    lc_buf_append(out, LC_STR("]}"));
    return LOCI_OK;
}

static lc_upcast *const grown_upcasts[] = {wrap_twice, wrap_twice};
const lc_event_type probe_grown = {
    .name = "probe.grown", .version = 3, .upcasts = grown_upcasts, .apply = apply_saying};

static const lc_table *const tables[] = {&samples_table, &sayings_table, NULL};
static const lc_event_type *const events[] = {&probe_said, &probe_grown, NULL};
const lc_room probe_room = {.name = "probe", .tables = tables, .events = events};
static const lc_room *const rooms[] = {&lc_store_room, &probe_room, NULL};
const lc_catalogue probe_catalogue = {.rooms = rooms};

/* ---- The store ------------------------------------------------------------------------------- */

const lc_db_driver *probe_driver(void)
{
    return test_is_postgres() ? &lc_postgres_driver : &lc_sqlite_driver;
}

const char *probe_path(void)
{
    return test_store(test_tmpdir(), "probe.db");
}

static int64_t read_clock(void *ctx)
{
    return ((const probe *)ctx)->now_us;
}

void probe_open_bare(probe *p, const char *path)
{
    *p = (probe){.now_us = PROBE_NOW_US};
    lc_heap_init(&p->env.heap, test_heap());
    lc_random_init(&p->env.random, 1);
    p->env.clock = read_clock;
    p->env.clock_ctx = p;
    CHECK_OK(probe_driver()->open(
                 &p->env, &probe_catalogue,
                 &(lc_db_target){.store = path != NULL ? path : probe_path(), .is_created = true},
                 &p->db, &p->err),
             p->err);
}

void probe_open(probe *p, const char *path)
{
    lc_schema_state state;

    probe_open_bare(p, path);
    CHECK_OK(lc_schema_open(p->db, NULL, &state, &p->err), p->err);
}

void probe_close(probe *p)
{
    lc_db_close(p->db);
    p->db = NULL;
}

lc_write probe_write_of(const probe *p, const char *user, lc_tx_body *body, void *ctx)
{
    return (lc_write){
        .tenant_id = loci_str_of(user[0] != '\0' ? "t" : ""),
        .user_id = loci_str_of(user),
        .now_us = p->now_us,
        .deadline_us = lc_clock_monotonic_us() + PATIENCE_US,
        .body = body,
        .ctx = ctx,
    };
}

loci_status probe_write(probe *p, const char *user, lc_tx_body *body, void *ctx)
{
    lc_write write = probe_write_of(p, user, body, ctx);

    while (!write.is_answered)
        lc_db_write(p->db, &write);
    CHECK(write.is_answered);
    if (write.status != LOCI_OK)
        p->err = write.error;
    return write.status;
}

loci_status probe_read(probe *p, lc_tx_body *body, void *ctx)
{
    return lc_db_read(p->db, lc_clock_monotonic_us() + PATIENCE_US, body, ctx, &p->err);
}

loci_status probe_say(lc_tx *tx, const char *text, int64_t *out_seq, loci_error *err)
{
    char payload[256];
    int len = snprintf(payload, sizeof payload, "{\"text\":\"%s\"}", text);

    return lc_event_append(tx, &(lc_append){.type = &probe_said, .payload = {payload, (size_t)len}},
                           out_seq, err);
}

loci_status probe_say_body(lc_tx *tx, void *ctx, loci_error *err)
{
    return probe_say(tx, ctx, NULL, err);
}

/* ---- Looking --------------------------------------------------------------------------------- */

typedef struct question {
    const lc_sql *sql;
    const lc_arg *args;
    int64_t answer;
} question;

static loci_status ask(lc_tx *tx, void *ctx, loci_error *err)
{
    question *q = ctx;
    lc_rows rows = {0};
    bool found;
    loci_status status = lc_tx_find(tx, q->sql, q->args, &rows, &found, err);

    if (status == LOCI_OK && found)
        q->answer = lc_rows_i64(&rows, 0);
    lc_rows_end(&rows);
    return status;
}

int64_t probe_number(probe *p, const lc_sql *sql)
{
    question q = {.sql = sql, .answer = -1};

    CHECK_OK(probe_read(p, ask, &q), p->err);
    return q.answer;
}

static loci_status run_script(lc_tx *tx, void *ctx, loci_error *err)
{
    return tx->db->driver->upkeep->run_script(tx, ctx, err);
}

void probe_script(probe *p, const char *script)
{
    CHECK_OK(probe_write(p, "", run_script, (void *)script), p->err);
}

static int64_t ask_of(probe *p, const lc_sql *sql, const char *user)
{
    const lc_arg args[] = {LC_T(loci_str_of(user))};
    question q = {.sql = sql, .args = args, .answer = -1};

    CHECK_OK(probe_read(p, ask, &q), p->err);
    return q.answer;
}

void probe_expect_log(probe *p, const char *user, int64_t count)
{
    static const lc_sql head_sql = {
        "select coalesce(max(seq), 0) from heads where tenant_id = 't' and user_id = $1", "t", "i"};
    static const lc_sql count_sql = {
        "select count(*) from events where tenant_id = 't' and user_id = $1", "t", "i"};
    static const lc_sql last_sql = {
        "select coalesce(max(seq), 0) from events where tenant_id = 't' and user_id = $1", "t",
        "i"};
    static const lc_sql rows_sql = {
        "select count(*) from sayings s join events e on e.tenant_id = s.tenant_id"
        " and e.user_id = s.user_id and e.seq = s.seq and e.recorded_at = s.recorded_at"
        " where s.tenant_id = 't' and s.user_id = $1",
        "t", "i"};

    CHECK_EQ(ask_of(p, &head_sql, user), count);
    CHECK_EQ(ask_of(p, &count_sql, user), count); /* As many as the last seq: no gaps. */
    CHECK_EQ(ask_of(p, &last_sql, user), count);
    CHECK_EQ(ask_of(p, &rows_sql, user), count);
}
