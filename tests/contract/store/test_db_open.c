/* Opening: what is not ours is left alone, and the message says what is wrong with it. */
#include "contract/probe_fixture.h"
#include "lib/calls.h"

#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

static loci_status try_open(const char *path, bool create, loci_error *err)
{
    lc_env env = {.clock = lc_clock_system_us};
    lc_db *db = NULL;
    loci_status status;

    lc_heap_init(&env.heap, test_heap());
    lc_random_init(&env.random, 1);
    status = probe_driver()->open(&env, &probe_catalogue,
                                  &(lc_db_target){.store = path, .is_created = create}, &db, err);
    lc_db_close(db);
    return status;
}

TEST(db_open, a_missing_store_is_created_only_when_asked)
{
    const char *path = probe_path();
    loci_error err;

    CHECK_STATUS(LOCI_ENOTFOUND, try_open(path, false, &err));
    CHECK_CONTAINS(err.message, path);
    CHECK(!test_file_exists(path));
    CHECK_OK(try_open(path, true, &err), err);
    if (test_is_postgres()) /* There a store is its tables. */
        loci_close(test_open(path));
    CHECK_OK(try_open(path, false, &err), err);
}

/* It holds what people said. */
TEST_ON(TEST_FILES, db_open, a_new_store_is_its_owners_alone)
{
    const char *path = probe_path();
    struct stat info;
    loci_error err;
    mode_t before = umask(0);

    CHECK_OK(try_open(path, true, &err), err);
    (void)umask(before);
    CHECK_EQ(stat(path, &info), 0);
    CHECK_EQ(info.st_mode & 0777, 0600);
}

TEST_ON(TEST_FILES, db_open, a_wrong_path_is_explained)
{
    const char *dir = test_tmpdir();
    char *longer = test_bytes(5000);
    loci_error err;

    CHECK_STATUS(LOCI_EINVAL, try_open(dir, true, &err));
    CHECK_CONTAINS(err.message, "is a directory");
    CHECK_STATUS(LOCI_ENOTFOUND, try_open(test_path(dir, "none/store.db"), true, &err));
    CHECK_CONTAINS(err.message, "directory does not exist");
    memset(longer, 'x', 5000);
    CHECK_STATUS(LOCI_ELIMIT, try_open(longer, true, &err));
}

TEST_ON(TEST_FILES, db_open, a_file_that_is_no_database_is_refused_and_kept)
{
    const char *path = probe_path();
    loci_str letter = LC_STR(
        "Dear diary, this is not a database. It only has its name. Sincerely.");
    loci_error err;

    test_write_file(path, letter);
    CHECK_STATUS(LOCI_ECORRUPT, try_open(path, true, &err));
    CHECK_CONTAINS(err.message, "not a loci store");
    CHECK_STR_EQ(test_read_file(path), letter);
}

static void run_on_file(const char *path, const char *sql)
{
    sqlite3 *db = NULL;

    CHECK_EQ(sqlite3_open(path, &db), SQLITE_OK);
    CHECK_EQ(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    CHECK_EQ(sqlite3_close(db), SQLITE_OK);
}

TEST_ON(TEST_FILES, db_open, another_programs_database_is_refused_and_kept)
{
    static const char *const owners[] = {
        "create table bookmarks (url text); insert into bookmarks values ('x')",
        "pragma application_id = 77",
        "pragma application_id = 77; create table bookmarks (url text)",
    };
    loci_error err;

    for (size_t i = 0; i < sizeof owners / sizeof *owners; i++) {
        const char *path = probe_path();
        loci_str before;

        run_on_file(path, owners[i]);
        before = test_read_file(path);
        CHECK_STATUS(LOCI_EUNSUPPORTED, try_open(path, true, &err));
        CHECK_CONTAINS(err.message, "another program");
        CHECK_STR_EQ(test_read_file(path), before);
    }
}

TEST_ON(TEST_FILES, db_open, an_empty_file_becomes_a_store)
{
    const char *path = probe_path();
    probe p;

    test_write_file(path, LC_STR(""));
    probe_open(&p, path);
    CHECK_OK(probe_write(&p, "u", probe_say_body, (void *)"hello"), p.err);
    probe_expect_log(&p, "u", 1);
    probe_close(&p);
}

/* ---- Out of memory --------------------------------------------------------------------------- */

static loci_status open_and_say(void *ctx)
{
    lc_env env = {.clock = lc_clock_system_us};
    lc_schema_state state;
    lc_db *db = NULL;
    lc_write write;
    probe p = {.now_us = PROBE_NOW_US};
    loci_error err;
    loci_status status;

    lc_heap_init(&env.heap, test_heap());
    lc_random_init(&env.random, 1);
    status = probe_driver()->open(&env, &probe_catalogue,
                                  &(lc_db_target){.store = ctx, .is_created = true}, &db, &err);
    if (status == LOCI_OK)
        status = lc_schema_open(db, NULL, &state, &err);
    if (status == LOCI_OK) {
        write = probe_write_of(&p, "u", probe_say_body, (void *)"hello");
        lc_db_write(db, &write);
        CHECK(write.is_answered);
        status = write.status;
    }
    lc_db_close(db);
    return status;
}

/* A statement that cannot be kept is prepared again: not every failure is one. */
TEST(db_open, running_out_of_memory_leaks_nothing)
{
    const char *path = probe_path();

    for (uint64_t nth = 1; nth < 10000; nth++) {
        loci_status status;
        bool was_injected;

        test_heap_fail_nth(nth);
        status = open_and_say((void *)path);
        was_injected = test_heap_disarm();
        CHECK(status == LOCI_OK || (was_injected && status == LOCI_ERESOURCE));
        CHECK_EQ(test_heap_live_blocks(), 0);
        if (!was_injected)
            return;
    }
    test_fail(__FILE__, __LINE__, "the sweep did not end");
}
