/* Schema: stores are made once, brought forward in order or not at all, and never written by a loci
 * that is too old for them. */
#include "contract/probe_fixture.h"
#include "lib/calls.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "engine/engine.h"
#include "store/db_upkeep.h"

static const lc_sql version_sql = {
    "select cast(value as bigint) from meta where name = 'schema_version'", "", "i"};

static lc_schema_state open_schema(probe *p, const lc_migration *migrations)
{
    lc_schema_state state;

    CHECK_OK(lc_schema_open(p->db, migrations, &state, &p->err), p->err);
    return state;
}

TEST(schema, a_new_store_is_made_once_and_then_found)
{
    const char *path = probe_path();
    lc_schema_state state;
    char store_id[33];
    probe p;

    probe_open_bare(&p, path);
    state = open_schema(&p, NULL);
    CHECK_EQ(state.version_before, 0);
    CHECK_EQ(state.version, LC_SCHEMA_VERSION);
    CHECK(!state.needs_rebuild);
    CHECK_EQ(strlen(p.db->store_id), 32);
    memcpy(store_id, p.db->store_id, sizeof store_id);
    probe_close(&p);

    probe_open_bare(&p, path);
    state = open_schema(&p, NULL);
    CHECK_EQ(state.version_before, LC_SCHEMA_VERSION);
    CHECK(!state.needs_rebuild);
    CHECK_STR_EQ(p.db->store_id, store_id);
    probe_close(&p);
}

/* ---- Newer and damaged ----------------------------------------------------------------------- */

static void expect_refusal(const char *path, loci_status expected, const char *part)
{
    loci_open_options options = test_open_options(path);
    uint64_t before = test_store_hash(path, NULL);
    loci_engine *engine = NULL;
    loci_error err;

    CHECK_STATUS(expected, loci_open(&options, &engine, &err));
    CHECK(engine == NULL);
    CHECK_CONTAINS(err.message, part);
    CHECK_EQ(test_store_hash(path, NULL), before);
}

TEST(schema, a_newer_store_is_refused_and_left_alone)
{
    const char *path = probe_path();

    loci_close(test_open(path));
    test_store_run(
        path,
        test_format(
            "update meta set value = '%d' where name in ('schema_version', 'schema_compatible')",
            LC_SCHEMA_VERSION + 1));
    expect_refusal(path, LOCI_EUNSUPPORTED, "use a newer loci");
}

/* Whatever is wrong with a store, it is not a bug of ours and not a reason to make a new one. */
TEST(schema, a_store_that_does_not_say_its_version_is_corrupt)
{
    static const char *const damages[] = {
        "delete from meta where name = 'schema_version'",
        "update meta set value = 'one' where name = 'schema_version'",
        "update meta set value = '0' where name = 'schema_version'",
        "update meta set value = '-3' where name = 'schema_version'",
    };

    for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
        const char *path = probe_path();

        loci_close(test_open(path));
        test_store_run(path, damages[i]);
        expect_refusal(path, LOCI_ECORRUPT, "schema_version");
    }
}

/* ---- Migrations ------------------------------------------------------------------------------ */

static _Atomic int migration_runs;

/* What could come after the newest. */
#define NEXT (LC_SCHEMA_VERSION + 1)
#define NEXT_BUT_ONE (LC_SCHEMA_VERSION + 2)

static loci_status to_next(lc_tx *tx, loci_error *err)
{
    atomic_fetch_add(&migration_runs, 1);
    return tx->db->driver->upkeep->run_script(tx, "create table two (a bigint)", err);
}

/* Needs what the one before has made. */
static loci_status to_next_but_one(lc_tx *tx, loci_error *err)
{
    atomic_fetch_add(&migration_runs, 1);
    return tx->db->driver->upkeep->run_script(tx, "insert into two (a) values (3)", err);
}

static loci_status to_next_but_one_in_vain(lc_tx *tx, loci_error *err)
{
    loci_status status = to_next_but_one(tx, err);

    return status == LOCI_OK ? lc_fail(err, LOCI_EUNAVAILABLE, "no way") : status;
}

static const lc_migration forward[] = {{NEXT, "a table", to_next, true},
                                       {NEXT_BUT_ONE, "a row", to_next_but_one, false},
                                       {0, NULL, NULL, false}};
static const lc_migration expand[] = {{NEXT, "a table", to_next, true}, {0, NULL, NULL, false}};
static const lc_migration in_vain[] = {{NEXT, "a table", to_next, true},
                                       {NEXT_BUT_ONE, "a row", to_next_but_one_in_vain, false},
                                       {0, NULL, NULL, false}};

static bool has_two(probe *p)
{
    static const lc_sql two_sql = {"select count(*) from sqlite_schema where name = 'two'", "",
                                   "i"};

    return probe_number(p, &two_sql) == 1;
}

/* Daemons are replaced one by one: what only adds lets the older ones go on; what takes away does
 * not, and waits for the release after. */
TEST(schema, two_versions_serve_one_store)
{
    const char *path = probe_path();
    lc_schema_state state;
    probe older, newer;

    probe_open(&older, path);
    CHECK_OK(probe_write(&older, "u", probe_say_body, (void *)"before"), older.err);
    probe_open_bare(&newer, path);
    CHECK_EQ(open_schema(&newer, expand).version, NEXT);
    for (int i = 0; i < 3; i++) {
        CHECK_OK(probe_write(&older, "u", probe_say_body, (void *)"older"), older.err);
        CHECK_OK(probe_write(&newer, "u", probe_say_body, (void *)"newer"), newer.err);
    }
    probe_close(&older);
    probe_open(&older, path); /* It may even be started anew, and changes nothing. */
    CHECK_EQ(open_schema(&older, NULL).version, NEXT);
    probe_expect_log(&older, "u", 7);
    CHECK(has_two(&newer));

    CHECK_EQ(open_schema(&newer, forward).version, NEXT_BUT_ONE);
    CHECK_STATUS(LOCI_EUNSUPPORTED, lc_schema_open(older.db, NULL, &state, &older.err));
    CHECK_STATUS(LOCI_EUNSUPPORTED, lc_schema_open(older.db, expand, &state, &older.err));
    probe_close(&older);
    probe_close(&newer);
}

TEST(schema, migrations_run_in_order_and_once)
{
    const char *path = probe_path();
    lc_schema_state state;
    probe p;

    atomic_store(&migration_runs, 0);
    probe_open(&p, path);
    state = open_schema(&p, forward);
    CHECK_EQ(state.version_before, LC_SCHEMA_VERSION);
    CHECK_EQ(state.version, NEXT_BUT_ONE);
    CHECK_EQ(migration_runs, 2);
    CHECK(has_two(&p));
    state = open_schema(&p, forward);
    CHECK_EQ(state.version_before, NEXT_BUT_ONE);
    CHECK_EQ(migration_runs, 2);
    CHECK_EQ(probe_number(&p, &version_sql), NEXT_BUT_ONE);
    probe_close(&p);
    probe_open_bare(&p, path);
    CHECK_STATUS(LOCI_EUNSUPPORTED, lc_schema_open(p.db, NULL, &state, &p.err));
    probe_close(&p);
}

/* The catalogue is the newest shape: a new store must not be migrated into it. */
TEST(schema, a_new_store_needs_no_migration)
{
    lc_schema_state state;
    probe p;

    atomic_store(&migration_runs, 0);
    probe_open_bare(&p, NULL);
    state = open_schema(&p, forward);
    CHECK_EQ(state.version, NEXT_BUT_ONE);
    CHECK_EQ(migration_runs, 0);
    CHECK_EQ(probe_number(&p, &version_sql), NEXT_BUT_ONE);
    probe_close(&p);
}

TEST(schema, a_failing_migration_leaves_the_old_version)
{
    lc_schema_state state;
    probe p;

    probe_open(&p, NULL);
    CHECK_OK(probe_write(&p, "u", probe_say_body, (void *)"before"), p.err);
    CHECK_STATUS(LOCI_EUNAVAILABLE, lc_schema_open(p.db, in_vain, &state, &p.err));
    CHECK(!has_two(&p)); /* The step that worked is undone with it. */
    CHECK_EQ(probe_number(&p, &version_sql), LC_SCHEMA_VERSION);
    CHECK_OK(probe_write(&p, "u", probe_say_body, (void *)"after"), p.err);
    probe_expect_log(&p, "u", 2);
    state = open_schema(&p, forward);
    CHECK_EQ(state.version, NEXT_BUT_ONE);
    probe_close(&p);
}

/* ---- Several at once ------------------------------------------------------------------------- */

enum { OPENERS = 6 };

typedef struct opener {
    const char *path;
    const lc_migration *migrations;
    pthread_barrier_t *barrier;
    char store_id[33];
    loci_status status;
    loci_error err;
} opener;

/* Without CHECKs that jump: this runs in threads and in other processes. */
static void open_and_close(opener *o)
{
    lc_env env = {.clock = lc_clock_system_us};
    lc_schema_state state;
    lc_db *db = NULL;

    lc_heap_init(&env.heap, test_heap());
    lc_random_init(&env.random, (uint64_t)(uintptr_t)o);
    o->status = probe_driver()->open(&env, &probe_catalogue,
                                     &(lc_db_target){.store = o->path, .is_created = true}, &db,
                                     &o->err);
    if (o->status == LOCI_OK)
        o->status = lc_schema_open(db, o->migrations, &state, &o->err);
    if (o->status == LOCI_OK)
        memcpy(o->store_id, db->store_id, sizeof o->store_id);
    lc_db_close(db);
}

static void *open_in_thread(void *ctx)
{
    opener *o = ctx;

    (void)pthread_barrier_wait(o->barrier);
    open_and_close(o);
    return NULL;
}

static void open_at_once(const char *path, const lc_migration *migrations)
{
    static opener openers[OPENERS];
    pthread_t threads[OPENERS];
    pthread_barrier_t barrier;

    CHECK_EQ(pthread_barrier_init(&barrier, NULL, OPENERS), 0);
    for (int i = 0; i < OPENERS; i++) {
        openers[i] = (opener){.path = path, .migrations = migrations, .barrier = &barrier};
        CHECK_EQ(pthread_create(&threads[i], NULL, open_in_thread, &openers[i]), 0);
    }
    for (int i = 0; i < OPENERS; i++)
        CHECK_EQ(pthread_join(threads[i], NULL), 0);
    (void)pthread_barrier_destroy(&barrier);
    for (int i = 0; i < OPENERS; i++) {
        CHECK_OK(openers[i].status, openers[i].err);
        CHECK_STR_EQ(openers[i].store_id, openers[0].store_id);
    }
}

TEST(schema, threads_may_make_the_same_store_at_once)
{
    for (int round = 0; round < 20; round++)
        open_at_once(probe_path(), NULL);
}

TEST(schema, threads_may_migrate_the_same_store_at_once)
{
    for (int round = 0; round < 5; round++) {
        const char *path = probe_path();
        probe p;

        probe_open(&p, path);
        probe_close(&p);
        atomic_store(&migration_runs, 0);
        open_at_once(path, forward);
        CHECK_EQ(migration_runs, 2);
    }
}

TEST(schema, processes_may_make_the_same_store_at_once)
{
    for (int round = 0; round < 5; round++) {
        const char *path = probe_path();
        pid_t children[OPENERS];

        for (int i = 0; i < OPENERS; i++) {
            children[i] = fork();
            CHECK_LE(0, children[i]);
            if (children[i] == 0) {
                opener o = {.path = path};

                (void)alarm(60); /* A mutex that another thread held at the fork stays locked. */

                open_and_close(&o);
                _exit(o.status == LOCI_OK ? 0 : (int)o.status);
            }
        }
        for (int i = 0; i < OPENERS; i++) {
            int result = -1;

            CHECK_EQ(waitpid(children[i], &result, 0), children[i]);
            CHECK_EQ(WIFEXITED(result) ? WEXITSTATUS(result) : 128 + WTERMSIG(result), 0);
        }
    }
}

/* ---- Projections ----------------------------------------------------------------------------- */

/* The same room with one more column, as a newer loci would have it. */
static const lc_column wider_columns[] = {
    LC_COLUMN("tenant_id", 't'),
    LC_COLUMN("user_id", 't'),
    LC_COLUMN("seq", 'i'),
    LC_COLUMN("recorded_at", 'i'),
    LC_COLUMN("payload", 't'),
    LC_COLUMN_OR_NULL("mood", 't'),
    {0},
};
static const lc_table wider_table = {
    .name = "sayings",
    .table_class = LC_TABLE_PROJECTION,
    .columns = wider_columns,
    .key = "tenant_id, user_id, seq",
};

static loci_engine *open_with(const char *path, const lc_room *room)
{
    const lc_room *rooms[] = {&lc_store_room, room, NULL};
    const lc_room **kept = (const lc_room **)test_bytes(sizeof rooms);
    loci_open_options options = test_open_options(path);
    loci_engine *engine = NULL;
    loci_error err;

    memcpy(kept, rooms, sizeof rooms);
    CHECK_OK(lc_engine_open(&options, &(lc_engine_parts){.rooms = kept}, &engine, &err), err);
    return engine;
}

static void say_on(loci_engine *engine, const char *text)
{
    lc_write write = {
        .tenant_id = LC_STR("t"),
        .user_id = LC_STR("u"),
        .now_us = PROBE_NOW_US,
        .deadline_us = lc_clock_monotonic_us() + 10000000,
        .body = probe_say_body,
        .ctx = (void *)text,
    };

    CHECK_OK(lc_engine_write(engine, &write), write.error);
}

TEST(schema, projections_of_another_shape_are_rebuilt_at_open)
{
    static const char *const full =
        "select count(*) from sayings s join events e on e.seq = s.seq where s.payload = e.payload";
    const lc_table *tables[] = {probe_room.tables[0], &wider_table, NULL};
    lc_room wider = {.name = "probe", .tables = tables, .events = probe_room.events};
    const char *path = probe_path();
    loci_engine *engine = open_with(path, &probe_room);

    for (int i = 0; i < 50; i++)
        say_on(engine, "hello");
    lc_engine_close(engine);

    engine = open_with(path, &wider);
    say_on(engine, "wider");
    lc_engine_close(engine);
    CHECK_EQ(test_store_number(path, full), 51);
    CHECK_EQ(test_store_number(path, "select count(*) from sayings where mood is null"), 51);

    engine = open_with(path, &probe_room); /* And back. */
    say_on(engine, "narrow");
    lc_engine_close(engine);
    CHECK_EQ(test_store_number(path, full), 52);
}
