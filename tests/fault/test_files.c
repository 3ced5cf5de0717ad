/* test_files.c - files that cannot be a store, or not any more: each is refused with a status and a
 * message that says what to do, and is left as it was. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/calls.h"

static const char *new_store(void)
{
    const char *store = test_path(test_tmpdir(), "store.db");
    loci_engine *engine = test_open(store);

    for (int i = 0; i < 260; i++)
        test_call(engine, "fact.write", "{'key':'k%d','value':'%0*d'}", i, 400, i);
    test_close(engine);
    return store;
}

static void check_refused(const char *store, loci_status expected, const char *part)
{
    loci_open_options options = test_open_options(store);
    loci_engine *engine = NULL;
    loci_error err = {.status = LOCI_OK};
    loci_status status;

    options.flags |= LOCI_OPEN_EXISTING;
    status = loci_open(&options, &engine, &err);
    if (status == LOCI_OK)
        loci_close(engine);
    CHECK_STATUS(expected, status);
    CHECK_STATUS(expected, err.status);
    CHECK_CONTAINS(err.message, part);
    CHECK_EQ(test_heap_live_blocks(), 0);
}

TEST(files, missing_file_and_directory_are_not_found)
{
    const char *dir = test_tmpdir();
    loci_open_options options = test_open_options(test_path(dir, "no/store.db"));
    loci_engine *engine = NULL;
    loci_error err;

    check_refused(test_path(dir, "store.db"), LOCI_ENOTFOUND, "does not exist");
    CHECK(!test_file_exists(test_path(dir, "store.db")));
    CHECK_STATUS(LOCI_ENOTFOUND, loci_open(&options, &engine, &err));
    CHECK_CONTAINS(err.message, "directory");
}

TEST(files, directory_in_place_of_a_file_is_refused)
{
    check_refused(test_tmpdir(), LOCI_EINVAL, "is a directory");
}

TEST(files, file_that_is_no_database_is_left_alone)
{
    const char *store = test_path(test_tmpdir(), "letter.txt");
    char *text = test_bytes(9000);

    memset(text, 'x', 9000);
    test_write_file(store, (loci_str){text, 9000});
    check_refused(store, LOCI_ECORRUPT, "not a loci store");
    CHECK_STR_EQ(test_read_file(store), ((loci_str){text, 9000}));
    test_write_file(store, loci_str_of("short"));
    check_refused(store, LOCI_ECORRUPT, "not a loci store");
    CHECK_STR_EQ(test_read_file(store), "short");
}

/* Somebody's browser keeps its history in SQLite, too. */
TEST(files, database_of_another_program_is_left_alone)
{
    const char *store = test_path(test_tmpdir(), "history.db");
    loci_str before;

    test_write_file(store, loci_str_of(""));
    test_store_run(store, "create table visits(url text); insert into visits values('a')");
    before = test_read_file(store);
    check_refused(store, LOCI_EUNSUPPORTED, "another program");
    CHECK_STR_EQ(test_read_file(store), before);
}

TEST(files, newer_schema_is_unsupported_and_left_alone)
{
    const char *store = new_store();
    uint64_t hash;

    test_store_run(
        store,
        "update meta set value = '1000' where name in ('schema_version', 'schema_compatible')");
    hash = test_store_hash(store, NULL);
    check_refused(store, LOCI_EUNSUPPORTED, "newer loci");
    CHECK_EQ(test_store_hash(store, NULL), hash);
}

/* The log of a newer loci: events that this one cannot apply. Reading them wrongly would be worse.
 */
TEST(files, events_of_a_newer_loci_are_unsupported)
{
    const char *store = new_store();
    loci_engine *engine;
    loci_error err;

    test_store_run(store, "update events set type = 'fact.dreamt' where seq = 3");
    engine = test_open(store);
    CHECK_STATUS(LOCI_ECORRUPT, test_verify(engine, &err));
    CHECK_CONTAINS(err.data, "fact.dreamt");
    CHECK_CONTAINS(err.data, "newer");
    loci_close(engine);
}

TEST(files, projection_that_differs_from_the_log_is_corrupt_and_rebuilt)
{
    const char *store = new_store();
    loci_engine *engine;
    loci_error err;

    test_store_run(store, "update fact_current set value = '\"wrong\"' where key = 'k7'");
    engine = test_open(store);
    CHECK_STATUS(LOCI_ECORRUPT, test_verify(engine, &err));
    CHECK_CONTAINS(err.data, "problems");
    test_call(engine, "store.rebuild", "{}");
    test_close(engine);
}

/* Damages a page in the middle. Whatever is read afterwards answers or says `corrupt`; nothing
 * crashes. */
TEST(files, damaged_pages_are_corrupt_or_unread)
{
    const char *store = new_store();
    loci_str good = test_read_file(store);
    uint64_t corrupt = 0;

    for (size_t page = 1; page < good.len / 4096; page += 3) {
        char *bad = test_bytes(good.len);
        loci_open_options options = test_open_options(store);
        loci_engine *engine = NULL;
        loci_error err;
        loci_status status;

        memcpy(bad, good.ptr, good.len);
        memset(bad + page * 4096 + 8, 0xA5, 2000);
        test_write_file(store, (loci_str){bad, good.len});
        status = loci_open(&options, &engine, &err);
        if (status == LOCI_OK) {
            status = test_verify(engine, &err);
            loci_close(engine);
        }
        if (status != LOCI_OK && status != LOCI_ECORRUPT)
            test_fail(__FILE__, __LINE__, "page %zu: %s: %s", page, loci_status_name(status),
                      err.message);
        corrupt += status == LOCI_ECORRUPT;
    }
    /* Many pages of this store are in use; the others are roots of empty tables and indexes. */
    CHECK_LE(good.len / 4096 / 3 * 2 / 5, corrupt);
}

TEST(files, truncated_file_is_corrupt)
{
    const char *store = new_store();
    loci_str good = test_read_file(store);

    for (size_t bytes = 4096; bytes < good.len; bytes += good.len / 5) {
        loci_open_options options = test_open_options(store);
        loci_engine *engine = NULL;
        loci_error err;
        loci_status status;

        test_write_file(store, (loci_str){good.ptr, bytes});
        status = loci_open(&options, &engine, &err);
        if (status == LOCI_OK) {
            status = test_verify(engine, &err);
            loci_close(engine);
        }
        CHECK_STATUS(LOCI_ECORRUPT, status);
    }
}

/* An empty file is what `touch` or mktemp leaves behind: as good as none. */
TEST(files, empty_file_becomes_a_store)
{
    const char *store = test_path(test_tmpdir(), "store.db");
    loci_engine *engine;

    test_write_file(store, loci_str_of(""));
    engine = test_open(store);
    test_call(engine, "fact.write", "{'key':'a','value':1}");
    test_close(engine);
}

/* Root may write to anything, so the rest of this test is somebody else. */
static int open_as_nobody(const char *store)
{
    loci_open_options options = test_open_options(store);
    loci_engine *engine = NULL;
    loci_error err;

    if (setgid(65534) != 0 || setuid(65534) != 0)
        return 100;
    options.allocator = (loci_allocator){0};
    return (int)loci_open(&options, &engine, &err);
}

static loci_status status_as_nobody(const char *store)
{
    pid_t child = fork();
    int status = 0;

    if (child == 0)
        _exit(open_as_nobody(store));
    CHECK_EQ(waitpid(child, &status, 0), child);
    CHECK(WIFEXITED(status));
    return (loci_status)WEXITSTATUS(status);
}

TEST(files, files_without_permission_are_forbidden)
{
    const char *store = new_store();
    const char *dir = test_format("%.*s", (int)(strlen(store) - strlen("/store.db")), store);

    if (getuid() != 0)
        test_skip("only root can become somebody else");
    CHECK_EQ(chmod(dir, 0755), 0);
    CHECK_EQ(chmod(store, 0444), 0);
    CHECK_STATUS(LOCI_OK, status_as_nobody(store)); /* It can be read. */
    CHECK_EQ(chmod(store, 0600), 0);
    CHECK_STATUS(LOCI_EFORBIDDEN, status_as_nobody(store));
    CHECK_STATUS(LOCI_EFORBIDDEN, status_as_nobody(test_path(dir, "new.db")));
    CHECK_EQ(chmod(dir, 0700), 0);
    CHECK_STATUS(LOCI_EFORBIDDEN, status_as_nobody(store));
    test_close(test_open(store));
}
