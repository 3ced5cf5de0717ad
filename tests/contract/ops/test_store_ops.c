/* The operations on a whole store, as a caller sees them. */
#include "lib/calls.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/str.h"
#include "ops/surface.h"
#include "store/schema.h"

static loci_engine *open_filled(const char *path)
{
    loci_engine *engine = test_open(path);

    for (int i = 0; i < 20; i++)
        (void)test_call(engine, "fact.write", "{'key':'k%d','value':%d,'user_id':'u%d'}", i % 4, i,
                        i % 3);
    return engine;
}

static const char *store_path(void)
{
    return test_store(test_tmpdir(), "store.db");
}

TEST(store_ops, status_counts_what_is_there)
{
    const char *path = store_path();
    loci_engine *engine = open_filled(path);
    loci_str answer = test_call(engine, "store.status", "{}");

    CHECK_STR_EQ(test_member_text(answer, "store"), path);
    CHECK_STR_EQ(test_member_text(answer, "driver"), test_is_postgres() ? "postgresql" : "sqlite");
    CHECK_STR_EQ(test_member_text(answer, "version"), loci_version());
    CHECK_EQ(test_member_int(answer, "users"), 3);
    CHECK_EQ(test_member_int(answer, "events"), 20);
    CHECK_EQ(test_member_int(answer, "schema_version"), LC_SCHEMA_VERSION);
    CHECK_LE(4096, test_member_int(answer, "bytes"));
    CHECK_LE(20, test_member_int(answer, "counters.writes"));
    CHECK_EQ(test_member_int(answer, "jobs.failed"), 0);
    CHECK_LT(0, test_member_int(answer, "memory.engine"));
    test_close(engine);
}

TEST(store_ops, verify_answers_corrupt_and_names_the_problems)
{
    const char *path = store_path();
    loci_engine *engine = open_filled(path);
    loci_str answer = test_call(engine, "store.verify", "{}");
    loci_error err;

    CHECK_STR_EQ(test_member(answer, "sound"), "true");
    CHECK_EQ(test_member_int(answer, "events"), 20);
    test_store_run(path, "update fact_current set value = '99' where user_id = 'u1'");
    CHECK_STATUS(LOCI_ECORRUPT, test_try(engine, "store.verify", LC_STR("{}"), &err));
    CHECK_CONTAINS(err.message, "4 problems, first: user default/u1: fact_current ");
    CHECK_EQ(test_member_int(loci_str_of(err.data), "count"), 4);
    CHECK_CONTAINS(test_member_text(loci_str_of(err.data), "problems.3"), "value differs");

    answer = test_call(engine, "store.rebuild", "{}");
    CHECK_STR_EQ(test_member_text(answer, "status"), "done");
    CHECK_STR_EQ(test_member(answer, "result.equal"), "false");
    CHECK_EQ(test_member_int(answer, "result.differences"), 4);
    CHECK_STR_EQ(test_member_text(answer, "result.tables"), "fact_current");
    test_close(engine);
}

static void check_rebuild(loci_engine *engine)
{
    loci_str answer = test_call(engine, "store.rebuild", "{}");

    CHECK_STR_EQ(test_member_text(answer, "status"), "done");
    CHECK_STR_EQ(test_member(answer, "result.equal"), "true");
    CHECK_EQ(test_member_int(answer, "result.events"), 20);
    CHECK_EQ(test_member_int(answer, "result.users_skipped"), 0);
}

TEST(store_ops, rebuild_runs_inline_and_in_a_worker)
{
    const char *path = store_path();
    loci_engine *engine = open_filled(path);
    loci_str answer;

    check_rebuild(engine);
    test_close(engine);
    engine = test_open_threads(path);
    check_rebuild(engine);
    answer = test_call(engine, "store.rebuild", "{'wait':false}");
    CHECK_CONTAINS(test_member_text(answer, "job_id"), "job_");
    check_rebuild(engine); /* Waits for that one, or for its own. */
    test_close(engine);
}

TEST(store_ops, a_backup_restores_what_was_there)
{
    const char *dir = test_tmpdir();
    const char *path = test_store(dir, "store.db");
    const char *backup = test_path(dir, "backup.db");
    loci_engine *engine = open_filled(path);
    loci_error err;
    loci_str answer;

    if (test_is_postgres()) {
        CHECK_STATUS(LOCI_EUNSUPPORTED,
                     test_try(engine, "store.backup",
                              loci_str_of(test_format("{\"path\":\"%s\"}", backup)), &err));
        CHECK_CONTAINS(err.message, "pg_dump");
        CHECK(!test_file_exists(backup));
        CHECK_STATUS(LOCI_EUNSUPPORTED,
                     test_try(engine, "store.restore", LC_STR("{\"path\":\"/nowhere/x\"}"), &err));
        test_close(engine);
        return;
    }
    answer = test_call(engine, "store.backup", "{'path':'%s'}", backup);
    CHECK_LE(4096, test_member_int(answer, "bytes"));
    CHECK_STATUS(LOCI_ECONFLICT,
                 test_try(engine, "store.backup",
                          loci_str_of(test_format("{\"path\":\"%s\"}", backup)), &err));
    CHECK_STATUS(LOCI_EINVAL,
                 test_try(engine, "store.backup",
                          loci_str_of(test_format("{\"path\":\"%s\",\"force\":true}", path)),
                          &err));
    CHECK_CONTAINS(err.message, "the store itself");

    (void)test_call(engine, "fact.write", "{'key':'k0','value':'later','user_id':'u0'}");
    answer = test_call(engine, "store.restore", "{'path':'%s'}", backup);
    CHECK_EQ(test_member_int(answer, "schema_version"), LC_SCHEMA_VERSION);
    answer = test_call(engine, "fact.current", "{'key':'k0','user_id':'u0'}");
    CHECK_STR_EQ(test_member(answer, "value"), "12");
    (void)test_call(engine, "fact.write", "{'key':'k0','value':'again','user_id':'u0'}");
    CHECK_STATUS(LOCI_ENOTFOUND,
                 test_try(engine, "store.restore", LC_STR("{\"path\":\"/nowhere/x\"}"), &err));
    test_close(engine);
}

/* A file in the place of the store or of its WAL destroys it, whatever name leads there. */
TEST_ON(TEST_FILES, store_ops, files_of_the_store_are_not_overwritten)
{
    static const char *const operations[] = {"store.backup", "store.export"};
    const char *dir = test_tmpdir();
    const char *store = test_path(dir, "store.db");
    const char *paths[] = {
        store,
        test_path(dir, "store.db-wal"),
        test_path(dir, "store.db-shm"),
        test_path(dir, "store.db-journal"), /* Does not exist. */
        test_format("%s/./store.db-wal", dir),
        test_path(dir, "soft"),
        test_path(dir, "hard"),
    };
    loci_engine *engine = open_filled(store);
    loci_error err;

    CHECK_EQ(symlink("store.db-wal", test_path(dir, "soft")), 0);
    CHECK_EQ(link(store, test_path(dir, "hard")), 0);
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        for (int k = 0; k < 2; k++) {
            CHECK_STATUS(
                LOCI_EINVAL,
                test_try(engine, operations[k],
                         loci_str_of(test_format("{\"path\":\"%s\",\"force\":true}", paths[i])),
                         &err));
            CHECK_CONTAINS(err.message, "store");
        }
    }
    test_close(engine);
}

static loci_status try_write(loci_engine *engine, loci_error *err)
{
    return test_try(engine, "fact.write", LC_STR("{\"key\":\"k\",\"value\":1}"), err);
}

/* What is written to a file without a name is lost when the daemon ends, though it was acked. */
TEST_ON(TEST_FILES, store_ops, a_store_that_was_moved_or_replaced_is_noticed)
{
    const char *dir = test_tmpdir();
    const char *store = test_path(dir, "store.db");
    const char *away = test_path(dir, "away.db");
    loci_engine *engine = test_open_threads(store);
    loci_error err;

    CHECK_OK(try_write(engine, &err), err);
    for (int i = 0; i < 3; i++) /* From now on it is in memory. */
        CHECK_OK(test_try(engine, "fact.current", LC_STR("{\"key\":\"k\"}"), &err), err);
    CHECK_EQ(rename(store, away), 0);
    lc_clock_sleep_us(1000000);
    CHECK_STATUS(LOCI_EUNAVAILABLE, try_write(engine, &err));
    CHECK_CONTAINS(err.message, "moved, deleted or replaced");
    CHECK_STATUS(LOCI_EUNAVAILABLE, test_try(engine, "event.list", LC_STR("{}"), &err));
    CHECK_STATUS(LOCI_EUNAVAILABLE,
                 test_try(engine, "fact.current", LC_STR("{\"key\":\"k\"}"), &err));
    CHECK_STATUS(LOCI_EUNAVAILABLE, lc_probe_store(engine, 1000, &err));
    test_write_file(store, LC_STR("another file"));
    lc_clock_sleep_us(1000000);
    CHECK_STATUS(LOCI_EUNAVAILABLE, try_write(engine, &err));
    /* With the log of the store beside it, the other file would look like the store to a new
     * connection, which would write the log into it. */
    CHECK_STATUS(LOCI_EUNAVAILABLE, test_try(engine, "store.verify", LC_STR("{}"), &err));
    CHECK_STR_EQ(test_read_file(store), "another file");
    CHECK_EQ(rename(away, store), 0);
    lc_clock_sleep_us(1000000);
    CHECK_OK(try_write(engine, &err), err);
    test_close(engine);
}

TEST(store_ops, an_export_is_taken_in_by_another_store)
{
    const char *dir = test_tmpdir();
    const char *file = test_path(dir, "export.ndjson");
    loci_engine *engine = open_filled(test_store(dir, "a.db"));
    loci_error err;
    loci_str answer;

    answer = test_call(engine, "store.export", "{'path':'%s'}", file);
    CHECK_EQ(test_member_int(answer, "events"), 20);
    CHECK_STATUS(LOCI_EINVAL, test_try(engine, "store.export", LC_STR("{}"), &err));
    CHECK_CONTAINS(err.message, "does not stream lines");
    test_close(engine);

    engine = test_open(test_store(dir, "b.db"));
    answer = test_call(engine, "store.import", "{'path':'%s'}", file);
    CHECK_EQ(test_member_int(answer, "users"), 3);
    CHECK_EQ(test_member_int(answer, "skipped"), 0);
    answer = test_call(engine, "store.import", "{'path':'%s'}", file);
    CHECK_EQ(test_member_int(answer, "skipped"), 20);
    answer = test_call(engine, "fact.current", "{'key':'k0','user_id':'u0'}");
    CHECK_STR_EQ(test_member(answer, "value"), "12");
    test_close(engine);
}

typedef struct lines {
    int lines;
    int progress;
    int limit; /* Gives up behind so many lines. */
} lines;

static int count_chunk(void *ctx, loci_str chunk)
{
    lines *l = ctx;

    l->lines += lc_str_starts(chunk, LC_STR("{\"line\":{\""));
    l->progress += lc_str_starts(chunk, LC_STR("{\"progress\":{\""));
    return l->lines >= l->limit;
}

TEST(store_ops, an_export_can_be_streamed_and_given_up)
{
    loci_engine *engine = open_filled(store_path());
    lines l = {.limit = 1000};
    loci_answer *answer = NULL;
    loci_error err;

    CHECK_OK(loci_call_stream(engine, "store.export", LC_STR("{}"), NULL, count_chunk, &l, &answer,
                              &err),
             err);
    CHECK_EQ(l.lines, 1 + 20 + 3 + 1);
    CHECK_LE(1, l.progress);
    loci_answer_free(answer);
    l = (lines){.limit = 5};
    CHECK_STATUS(LOCI_ECANCELLED, loci_call_stream(engine, "store.export", LC_STR("{}"), NULL,
                                                   count_chunk, &l, &answer, &err));
    CHECK_EQ(l.lines, 5);
    test_close(engine);
}

TEST(store_ops, migrate_says_that_an_open_store_is_up_to_date)
{
    loci_engine *engine = open_filled(store_path());
    loci_str answer = test_call(engine, "store.migrate", "{}");

    CHECK_EQ(test_member_int(answer, "from"), test_member_int(answer, "to"));
    CHECK_STR_EQ(test_member(answer, "rebuilt"), "false");
    test_close(engine);
}

/* An engine whose projections have another shape rebuilds them before it serves anybody. */
TEST(store_ops, opening_rebuilds_an_older_shape)
{
    const char *path = store_path();
    loci_engine *engine = open_filled(path);
    loci_str answer;

    test_close(engine);
    test_store_run(path, "drop table fact_past; create table fact_past (a text);"
                         "update meta set value = '1' where name = 'projection_shape'");
    engine = test_open(path);
    answer = test_call(engine, "fact.current", "{'key':'k0','user_id':'u0'}");
    CHECK_STR_EQ(test_member(answer, "value"), "12");
    test_close(engine);
}

TEST(store_ops, only_admins_may)
{
    static const char *const names[] = {"store.status", "store.verify",  "store.rebuild",
                                        "store.backup", "store.restore", "store.export",
                                        "store.import", "store.migrate"};
    loci_principal user = {.size = sizeof user, .user = "u0"};
    loci_call_options options = LOCI_CALL_OPTIONS_INIT;
    loci_engine *engine = open_filled(store_path());

    options.principal = &user;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        loci_answer *answer = NULL;
        loci_error err;

        CHECK_STATUS(LOCI_EFORBIDDEN, loci_call(engine, names[i], LC_STR("{\"path\":\"x\"}"),
                                                &options, &answer, &err));
    }
    test_close(engine);
}

/* The store itself has a head too, once it has had a job; it is nobody's knowledge. */
TEST(store_ops, verify_counts_the_users_that_status_counts)
{
    loci_engine *engine = test_open(test_store(test_tmpdir(), "a.db"));

    test_call(engine, "fact.write", "{'key':'k','value':1}");
    test_call(engine, "store.rebuild", "{}");
    CHECK_EQ(test_member_int(test_call(engine, "store.status", "{}"), "users"), 1);
    CHECK_EQ(test_member_int(test_call(engine, "store.verify", "{}"), "users"), 1);
    test_close(engine);
}
