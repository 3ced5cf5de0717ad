/* What only a server can do to us: refuse, go away, come back, lose an answer. */
#include "contract/probe_fixture.h"
#include "lib/calls.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "store/db_upkeep.h"
#include "store/event.h"
#include "store/schema.h"

static loci_status try_store(const char *store, loci_error *err)
{
    loci_open_options options = test_open_options(store);
    loci_engine *engine = NULL;
    loci_status status = loci_open(&options, &engine, err);

    loci_close(engine);
    return status;
}

TEST_ON(TEST_SERVERS, postgres, what_is_wrong_with_a_url_is_said_without_its_password)
{
    const char *dir;
    loci_error err;

    dir = test_postgres_dir();
    CHECK_STATUS(LOCI_EINVAL, try_store("postgresql://me:hush@h:notaport:9/x?foo=1", &err));
    CHECK(strstr(err.message, "hush") == NULL);
    CHECK_STATUS(LOCI_EUNAVAILABLE, try_store("postgresql://me:hush@127.0.0.1:1/x", &err));
    CHECK(strstr(err.message, "hush") == NULL);
    CHECK_STATUS(LOCI_ENOTFOUND,
                 try_store(test_format("postgresql://loci:hush@/nowhere?host=%s", dir), &err));
    CHECK_STATUS(LOCI_EFORBIDDEN,
                 try_store(test_format("postgresql://nobody:hush@/loci?host=%s", dir), &err));
    CHECK(strstr(err.message, "hush") == NULL);
}

TEST_ON(TEST_SERVERS, postgres, a_schema_newer_than_this_loci_is_refused)
{
    const char *store = probe_path();
    loci_error err;

    loci_close(test_open(store));
    test_store_run(store, "update meta set value = '999' where name in ('schema_version', "
                          "'schema_compatible')");
    CHECK_STATUS(LOCI_EUNSUPPORTED, try_store(store, &err));
    CHECK_CONTAINS(err.message, "999");
    test_store_run(store, test_format("update meta set value = '%d' where name in "
                                      "('schema_version', 'schema_compatible')",
                                      LC_SCHEMA_VERSION));
    CHECK_STATUS(LOCI_OK, try_store(store, &err));
}

TEST_ON(TEST_SERVERS, postgres, tables_of_somebody_else_are_refused_and_kept)
{
    const char *store;
    loci_error err;

    store = probe_path();
    test_store_run(store, "create table events (a int); insert into events values (7)");
    CHECK_STATUS(LOCI_ECONFLICT, try_store(store, &err));
    CHECK_CONTAINS(err.message, "schema of its own");
    CHECK_EQ(test_store_number(store, "select a from events"), 7);
    CHECK_EQ(test_store_number(store, "select count(*) from sqlite_schema"), 1);
}

/* Without statistics the planner may read all rows of a user to find one. */
TEST_ON(TEST_SERVERS, postgres, tables_that_have_grown_get_statistics)
{
    static const char analyzed[] =
        "select count(*) from pg_class where relname = 'fact_current'"
        " and relnamespace = to_regnamespace(current_schema()) and reltuples > 0";
    const char *store = probe_path();
    loci_engine *engine = test_open(store);

    for (int i = 0; i < 10; i++)
        (void)test_call(engine, "fact.write", "{'key':'a%d','value':1}", i);
    CHECK_EQ(test_store_number(store, analyzed), 0);
    for (int i = 0; i < 400; i++)
        (void)test_call(engine, "fact.write", "{'key':'b%d','value':1}", i);
    CHECK_EQ(test_store_number(store, analyzed), 1);
    test_close(engine);
}

#define BEGIN_MS 1000 /* A busy machine begins within this time; the write takes longer. */

/* `ctx`: the time that it asks for, or 0. */
static loci_status sleep_long(lc_tx *tx, void *ctx, loci_error *err)
{
    const int64_t *us = ctx;
    lc_rows rows = {0};
    bool found;
    loci_status status;

    if (*us > 0)
        tx->db->driver->upkeep->extend_write(tx, *us);
    status = lc_tx_find(tx, &(lc_sql){"select 1 from pg_sleep(3)", "", "i"}, NULL, &rows, &found,
                        err);
    lc_rows_end(&rows);
    return status;
}

/* A migration may convert millions of rows: if it were stopped, the store could never be opened. */
TEST_ON(TEST_SERVERS, postgres, a_migration_may_take_longer_than_a_write)
{
    int64_t none = 0, minute_us = 60000000;
    probe p;

    probe_open(&p, NULL);
    CHECK_STATUS(LOCI_EDEADLINE, lc_db_write_one(p.db, BEGIN_MS, sleep_long, &none, &p.err));
    CHECK_OK(lc_db_write_one(p.db, BEGIN_MS, sleep_long, &minute_us, &p.err), p.err);
    probe_close(&p);
}

/* Whatever has a tenant needs a policy; the catalogue is not asked. */
static const char bare_tables[] =
    "select count(*) from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = "
    "'tenant_id' where c.relnamespace = current_schema()::regnamespace and c.relkind = 'r' and "
    "(not c.relrowsecurity or not exists (select 1 from pg_policy p where p.polrelid = c.oid))";

/* Stores of version 4 have no policies on tokens and settings. */
TEST_ON(TEST_SERVERS, postgres, an_older_store_gets_the_missing_policies)
{
    const char *store = probe_path();

    test_close(test_open(store));
    test_store_run(store, "drop table request_usage, kept_contexts, kept_lines, model_usage;"
                          " drop policy tenant on tokens; drop policy tenant on settings;"
                          " alter table settings disable row level security;"
                          " update meta set value = '4' where name in"
                          " ('schema_version', 'schema_compatible')");
    CHECK_EQ(test_store_number(store, bare_tables), 2);
    test_close(test_open(store));
    CHECK_EQ(test_store_number(store, bare_tables), 0);
}

/* A role that does not own the tables sees one tenant, and none before it has said which. */
TEST_ON(TEST_SERVERS, postgres, other_roles_see_one_tenant)
{
    static const char as_reader[] = "set role one_tenant; %s select count(*) from %s";
    static const char *const tables[] = {"events", "fact_current", "heads", "tokens", "settings"};
    static const char *const calls[][2] = {
        {"fact.write", "{\"key\":\"a\",\"value\":1}"},
        {"token.create", "{\"name\":\"ci\"}"},
        {"config.set", "{\"name\":\"session.idle_minutes\",\"value\":45}"},
    };
    static const char touch[] =
        "set role one_tenant; set loci.tenant = 'other'; with t as (update heads set objects = "
        "objects returning 1) select count(*) from t";
    loci_principal other = {.size = sizeof other,
                            .flags = LOCI_PRINCIPAL_ADMIN | LOCI_PRINCIPAL_TENANT_ADMIN,
                            .tenant = "other"};
    loci_call_options options = LOCI_CALL_OPTIONS_INIT;
    loci_answer *answer = NULL;
    loci_engine *engine;
    const char *store;
    loci_error err;

    store = probe_path();
    engine = test_open(store);
    test_call(engine, "config.set", "{'name':'log.level','value':'warn'}");
    options.principal = &other;
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        test_call(engine, calls[i][0], "%s", calls[i][1]);
        CHECK_OK(loci_call(engine, calls[i][0], loci_str_of(calls[i][1]), &options, &answer, &err),
                 err);
        loci_answer_free(answer);
    }
    CHECK_EQ(test_store_number(store, bare_tables), 0);
    test_store_run(store,
                   "drop role if exists one_tenant; create role one_tenant; do $$ begin execute "
                   "format('grant usage on schema %I to one_tenant', current_schema()); end $$; "
                   "grant select, update on events, heads, fact_current, tokens, settings to "
                   "one_tenant");
    for (int round = 0; round < 2; round++) {
        for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
            const char *table = tables[i];

            CHECK_LE(2, test_store_number(store, test_format("select count(*) from %s", table)));
            CHECK_EQ(test_store_number(store, test_format(as_reader, "", table)), 0);
            CHECK_EQ(
                test_store_number(store, test_format(as_reader, "set loci.tenant = '';", table)),
                0);
            CHECK_EQ(test_store_number(store,
                                       test_format(as_reader, "set loci.tenant = 'other';", table)),
                     1);
            CHECK_EQ(test_store_number(store,
                                       test_format(as_reader, "set loci.tenant = 'none';", table)),
                     0);
        }
        CHECK_EQ(test_store_number(store, touch), 1); /* Writers see no more than readers. */
        test_call(engine, "store.rebuild", "{}");     /* Its new tables are as those before. */
    }
    test_close(engine);
    test_store_run(store, "drop owned by one_tenant; drop role one_tenant");
}

TEST_ON(TEST_SERVERS, postgres, an_engine_outlives_its_server)
{
    loci_engine *engine;
    const char *store;
    loci_error err;

    store = probe_path();
    engine = test_open_threads(store);
    test_call(engine, "fact.write", "{'key':'city','value':'Oslo'}");
    test_call(engine, "fact.current", "{'key':'city'}");
    test_postgres_command("kill");
    CHECK_STATUS(LOCI_EUNAVAILABLE,
                 test_try(engine, "fact.current", LC_STR("{\"key\":\"city\"}"), &err));
    CHECK_STATUS(LOCI_EUNAVAILABLE,
                 test_try(engine, "fact.write", LC_STR("{\"key\":\"k\",\"value\":1}"), &err));
    test_postgres_command("start");
    CHECK_STR_EQ(test_member(test_call(engine, "fact.current", "{'key':'city'}"), "value"),
                 "\"Oslo\"");
    test_call(engine, "fact.write", "{'key':'k','value':2}");
    CHECK_EQ(test_store_number(store, "select count(*) from events"), 2);
    test_close(engine);
}

/* ---- Lost answers ---------------------------------------------------------------------------- */

typedef struct lost_write {
    probe p;
    int runs;
    loci_status status;
    _Atomic bool is_over;
} lost_write;

static loci_status say(lc_tx *tx, void *ctx, loci_error *err)
{
    lost_write *l = ctx;

    l->runs++;
    return probe_say_body(tx, (void *)"once", err);
}

static void *write_and_lose(void *ctx)
{
    lost_write *l = ctx;

    l->status = probe_write(&l->p, "u", say, l);
    l->is_over = true;
    return NULL;
}

/* The process of the server that waits in a COMMIT; 0 when there is none. Any other commit is of a
 * transaction before, and losing it would lose nothing. */
static int64_t committing(const char *store, const char *wait)
{
    return test_postgres_run(store,
                             test_format("select coalesce(max(pid), 0) from pg_stat_activity where "
                                         "application_name = 'loci' and state = 'active' and "
                                         "query = 'commit' and wait_event = '%s'",
                                         wait));
}

/* False when the commit was over before it could be seen: nothing was lost. */
static bool lose_the_commit(lost_write *l, const char *store, const char *wait,
                            const char *afterwards)
{
    pthread_t thread;
    int64_t pid = 0;

    l->is_over = false;
    l->runs = 0;
    CHECK_EQ(pthread_create(&thread, NULL, write_and_lose, l), 0);
    while (pid == 0 && !l->is_over)
        pid = committing(store, wait);
    if (pid == 0) {
        CHECK_EQ(pthread_join(thread, NULL), 0);
        return false;
    }
    test_postgres_run(store,
                      test_format("select pg_terminate_backend(%lld, 10000)", (long long)pid));
    if (afterwards != NULL) {
        test_postgres_run(store, afterwards);
        test_postgres_run(store, "select pg_reload_conf()");
    }
    CHECK_EQ(pthread_join(thread, NULL), 0);
    return true;
}

/* Its transaction dies while it commits: the store says so, and the body is run again. */
TEST_ON(TEST_SERVERS, postgres, a_commit_that_was_not_done_is_done_again)
{
    static const char slow_commit[] =
        "create sequence nap_count; create function nap() returns trigger language plpgsql as $$ "
        "begin if nextval('nap_count') = 1 then perform pg_sleep(20); end if; return null; end $$;"
        "create constraint trigger nap after insert on events deferrable initially deferred "
        "for each row execute function nap()";
    lost_write l = {0};
    const char *store;

    store = probe_path();
    probe_open(&l.p, store);
    test_store_run(store, slow_commit);
    CHECK(lose_the_commit(&l, store, "PgSleep", NULL));
    CHECK_OK(l.status, l.p.err);
    CHECK_EQ(l.runs, 2);
    probe_expect_log(&l.p, "u", 1);
    probe_close(&l.p);
}

/* It is committed, but the answer gets lost: the store says so, and nothing is run again. */
TEST_ON(TEST_SERVERS, postgres, a_commit_that_was_done_is_not_done_again)
{
    lost_write l = {0};
    const char *store;
    int before = 0;

    store = probe_path();
    probe_open(&l.p, store);
    CHECK_OK(probe_write(&l.p, "other", probe_say_body, (void *)"first"), l.p.err);
    /* A commit is done and then waits for a standby that does not exist. */
    test_postgres_run(store, "alter system set synchronous_commit = 'on'");
    test_postgres_run(store, "alter system set synchronous_standby_names = 'nobody'");
    test_postgres_run(store, "select pg_reload_conf()");
    CHECK_OK(l.p.db->driver->set_durability(l.p.db, false, &l.p.err), l.p.err);
    while (!lose_the_commit(&l, store, "SyncRep", "alter system reset all"))
        before++; /* The server has not read its settings yet. */
    CHECK_OK(l.status, l.p.err);
    CHECK_EQ(l.runs, 1);
    probe_expect_log(&l.p, "u", before + 1);
    probe_close(&l.p);
}

/* Nobody could say whether the first was committed; it is, later, and is numbered as the next one
 * of its writer would be. The commit of the second gets lost, too, and was not done: the number
 * that is there must not be taken for its own. */
TEST_ON(TEST_SERVERS, postgres, a_commit_is_not_taken_for_one_that_came_late)
{
    /* The server must not notice that nobody waits for the first any more. */
    static const char slow_commits[] =
        "create sequence naps; create sequence calls; create function nap() returns trigger "
        "language plpgsql as $$ declare n bigint := nextval('naps'); begin if n = 1 then perform "
        "set_config('client_connection_check_interval', '0', false); while not (select is_called "
        "from calls) loop perform pg_sleep(0.01); end loop; elsif n = 2 then perform pg_sleep(20); "
        "end if; return null; end $$; create constraint trigger nap after insert on events "
        "deferrable initially deferred for each row execute function nap()";
    lost_write l = {0};
    lc_write first;
    const char *store;

    store = probe_path();
    probe_open(&l.p, store);
    CHECK_OK(probe_write(&l.p, "u", probe_say_body, (void *)"before"), l.p.err);
    test_store_run(store, slow_commits);
    first = probe_write_of(&l.p, "u", probe_say_body, (void *)"late");
    first.deadline_us = lc_clock_monotonic_us() + 2000000;
    lc_db_write(l.p.db, &first);
    CHECK(first.is_answered);
    CHECK_STATUS(LOCI_EUNAVAILABLE, first.status);
    CHECK_CONTAINS(first.error.message, "cannot be found out");
    CHECK_EQ(test_store_number(store, "select count(*) from events"), 1);
    test_store_run(store, "select nextval('calls')");
    while (test_store_number(store, "select count(*) from events") != 2)
        lc_clock_sleep_us(1000);
    CHECK(lose_the_commit(&l, store, "PgSleep", NULL));
    CHECK_OK(l.status, l.p.err);
    CHECK_EQ(l.runs, 2);
    probe_expect_log(&l.p, "u", 3);
    probe_close(&l.p);
}

/* ---- Groups of two processes ----------------------------------------------------------------- */

#define SHARED_USERS 16
#define SHARED_ROUNDS 5

typedef struct rival {
    probe p;
    bool is_reversed;
    pthread_barrier_t *start;
    int failures;
    int64_t slowest_us; /* Of its rounds. */
} rival;

/* In each round one group with a write of every user, all of them new. */
static void *write_new_users(void *ctx)
{
    rival *own = ctx;
    lc_write writes[SHARED_USERS];
    char users[SHARED_USERS][32];

    for (int round = 0; round < SHARED_ROUNDS; round++) {
        bool is_over = false;
        int64_t began_us;

        for (int i = 0; i < SHARED_USERS; i++) {
            int user = own->is_reversed ? SHARED_USERS - 1 - i : i;

            (void)snprintf(users[i], sizeof users[i], "user-%d-%d", round, user);
            writes[i] = probe_write_of(&own->p, users[i], probe_say_body, (void *)"hello");
            if (i > 0)
                writes[i - 1].next = &writes[i];
        }
        (void)pthread_barrier_wait(own->start);
        began_us = lc_clock_monotonic_us();
        while (!is_over) {
            lc_db_write(own->p.db, &writes[0]);
            is_over = true;
            for (int i = 0; i < SHARED_USERS; i++)
                is_over = is_over && writes[i].is_answered;
        }
        for (int i = 0; i < SHARED_USERS; i++)
            own->failures += writes[i].status != LOCI_OK;
        began_us = lc_clock_monotonic_us() - began_us;
        own->slowest_us = began_us > own->slowest_us ? began_us : own->slowest_us;
    }
    return NULL;
}

/* Both insert the same heads, each of which takes a while, and wait for each other's. In opposite
 * orders they would deadlock, which the server notices after a second. */
TEST_ON(TEST_SERVERS, postgres, groups_with_the_same_new_users_do_not_deadlock)
{
    static const char slow_heads[] =
        "create function nap() returns trigger language plpgsql as $$ begin perform "
        "pg_sleep(0.003); return new; end $$; create trigger nap before insert on heads for each "
        "row execute function nap()";
    const char *store = probe_path();
    pthread_barrier_t start;
    pthread_t threads[2];
    rival rivals[2] = {{.is_reversed = false}, {.is_reversed = true}};

    CHECK_EQ(pthread_barrier_init(&start, NULL, 2), 0);
    for (int i = 0; i < 2; i++) {
        rivals[i].start = &start;
        probe_open(&rivals[i].p, store);
    }
    test_store_run(store, slow_heads);
    for (int i = 0; i < 2; i++)
        CHECK_EQ(pthread_create(&threads[i], NULL, write_new_users, &rivals[i]), 0);
    for (int i = 0; i < 2; i++) {
        CHECK_EQ(pthread_join(threads[i], NULL), 0);
        CHECK_EQ(rivals[i].failures, 0);
        CHECK_LT(rivals[i].slowest_us, 900000);
        probe_close(&rivals[i].p);
    }
    CHECK_EQ(test_store_number(store, "select count(*) from events"),
             2 * SHARED_USERS * SHARED_ROUNDS);
    (void)pthread_barrier_destroy(&start);
}

/* ---- Writers that end ------------------------------------------------------------------------ */

#define VISITORS 6
#define VISITS 8

static void *visit(void *ctx)
{
    const char *store = ctx;

    for (int i = 0; i < VISITS; i++) {
        probe p;

        probe_open(&p, store);
        CHECK_OK(probe_write(&p, "u", probe_say_body, (void *)"hello"), p.err);
        probe_close(&p);
    }
    return NULL;
}

/* However many end at the same time: what they have committed stays in the sum, which is what tells
 * a watcher, and their rows go. So do those of writers that went away without a word. */
TEST_ON(TEST_SERVERS, postgres, writers_that_end_leave_their_numbers)
{
    const char *store = probe_path();
    pthread_t threads[VISITORS];
    probe p;

    probe_open(&p, store);
    for (int i = 0; i < VISITORS; i++)
        CHECK_EQ(pthread_create(&threads[i], NULL, visit, (void *)store), 0);
    for (int i = 0; i < VISITORS; i++)
        CHECK_EQ(pthread_join(threads[i], NULL), 0);
    CHECK_EQ(test_store_number(store, "select sum(commits) from writers"), VISITORS * VISITS);
    test_store_run(store, "insert into writers values ('killed', 5, 0), ('lost', 7, 0)");
    CHECK_OK(probe_write(&p, "u", probe_say_body, (void *)"hello"), p.err);
    CHECK_EQ(test_store_number(store, "select sum(commits) from writers"),
             VISITORS * VISITS + 12 + 1);
    CHECK_EQ(test_store_number(store, "select count(*) from writers where seen_us = 0"), 0);
    probe_close(&p);
}

/* ---- Plans ----------------------------------------------------------------------------------- */

#define PLAN_USERS 600

/* Statements are prepared once and keep their plan while the tables grow: one that was made for a
 * small table must not read all rows of a large one. */
TEST_ON(TEST_SERVERS, postgres, no_write_reads_a_whole_table)
{
    static const char read_rows[] = "select coalesce(max(seq_tup_read), 0) from pg_stat_user_tables"
                                    " where schemaname = current_schema()";
    const char *store = probe_path();
    loci_engine *engine = test_open(store);

    for (int i = 0; i < 2 * PLAN_USERS; i++)
        test_call(engine, "fact.write", "{'user_id':'user-%d','key':'k','value':1}",
                  i % PLAN_USERS);
    loci_close(engine);        /* A session that ends hands in what it has counted, */
    lc_clock_sleep_us(200000); /* soon. */
    CHECK_LT(test_store_number(store, read_rows), 2 * PLAN_USERS);
}
