/* test_sqlite_sweep.c - what is below the driver fails: SQLite's own allocations, which do not come
 * from our allocator, and its file system. Both are set up for the whole of this program before
 * anything uses SQLite; a library could not do so, because the setting belongs to the process. */
#include <pthread.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "faulty_vfs.h"
#include "lib/calls.h"
#include "sweep.h"

static struct {
    pthread_mutex_t lock;
    sqlite3_mem_methods real;
    uint64_t requests;
    uint64_t fail_at; /* 0 = never. */
    bool was_injected;
} memory = {.lock = PTHREAD_MUTEX_INITIALIZER};

static bool must_fail(void)
{
    bool fails;

    pthread_mutex_lock(&memory.lock);
    fails = memory.fail_at != 0 && ++memory.requests == memory.fail_at;
    memory.was_injected |= fails;
    pthread_mutex_unlock(&memory.lock);
    return fails;
}

static void *allocate(int bytes)
{
    return must_fail() ? NULL : memory.real.xMalloc(bytes);
}

static void *resize(void *ptr, int bytes)
{
    return must_fail() ? NULL : memory.real.xRealloc(ptr, bytes);
}

__attribute__((constructor)) static void set_up(void)
{
    sqlite3_mem_methods ours;

    if (sqlite3_config(SQLITE_CONFIG_GETMALLOC, &memory.real) != SQLITE_OK)
        abort();
    ours = memory.real;
    ours.xMalloc = allocate;
    ours.xRealloc = resize;
    /* Without the lookaside every small allocation is one that can fail. */
    if (sqlite3_config(SQLITE_CONFIG_MALLOC, &ours) != SQLITE_OK ||
        sqlite3_config(SQLITE_CONFIG_LOOKASIDE, 0, 0) != SQLITE_OK)
        abort();
    test_vfs_install();
}

static void fail_memory(uint64_t nth)
{
    pthread_mutex_lock(&memory.lock);
    memory.requests = 0;
    memory.fail_at = nth;
    memory.was_injected = false;
    pthread_mutex_unlock(&memory.lock);
}

static bool disarm_memory(void)
{
    bool was_injected;

    pthread_mutex_lock(&memory.lock);
    memory.fail_at = 0;
    was_injected = memory.was_injected;
    pthread_mutex_unlock(&memory.lock);
    return was_injected;
}

static bool is_resource(loci_status status)
{
    return status == LOCI_ERESOURCE;
}

static const sweep out_of_memory = {.what = "allocation of SQLite",
                                    .arm = fail_memory,
                                    .disarm = disarm_memory,
                                    .is_fair = is_resource,
                                    .dense_until = 30};

TEST(sqlite_sweep, every_operation_survives_when_sqlite_has_no_memory)
{
    sweep_operations(&out_of_memory);
}

TEST(sqlite_sweep, batches_survive_when_sqlite_has_no_memory)
{
    sweep_batches(&out_of_memory);
}

TEST(sqlite_sweep, opening_survives_when_sqlite_has_no_memory)
{
    sweep_opening(&out_of_memory);
}

static void fail_device(uint64_t nth)
{
    test_vfs_fail_nth(nth, TEST_VFS_IO, false);
}

static void fail_full(uint64_t nth)
{
    test_vfs_fail_nth(nth, TEST_VFS_FULL, true);
}

static bool is_unavailable(loci_status status)
{
    return status == LOCI_EUNAVAILABLE;
}

static const sweep bad_device = {.what = "access to a bad device",
                                 .arm = fail_device,
                                 .disarm = test_vfs_disarm,
                                 .is_fair = is_unavailable,
                                 .dense_until = 30};
static const sweep full_device = {.what = "access to a full device",
                                  .arm = fail_full,
                                  .disarm = test_vfs_disarm,
                                  .is_fair = is_resource,
                                  .dense_until = 30};

TEST(sqlite_sweep, every_operation_survives_a_bad_device)
{
    sweep_operations(&bad_device);
}

TEST(sqlite_sweep, every_operation_survives_a_full_device)
{
    sweep_operations(&full_device);
}

TEST(sqlite_sweep, batches_survive_bad_and_full_devices)
{
    sweep_batches(&bad_device);
    sweep_batches(&full_device);
}

TEST(sqlite_sweep, opening_survives_bad_and_full_devices)
{
    sweep_opening(&bad_device);
    sweep_opening(&full_device);
}

/* A fact changes pages of a dozen tables and indexes. Each of them written by itself, twice with
 * its frame's header, would be most of the system calls of a commit. */
TEST(sqlite_sweep, a_commit_is_one_write_to_the_wal)
{
    loci_engine *engine = test_open(test_store(test_tmpdir(), "one.db"));

    test_call(engine, "fact.write", "{'key':'city','value':'Oslo'}");
    for (int i = 0; i < 5; i++) {
        test_vfs_fail_nth(UINT64_MAX, TEST_VFS_FULL, false); /* Counts the writes. */
        test_call(engine, "fact.write", "%s", test_format("{\"key\":\"city\",\"value\":%d}", i));
        CHECK_EQ(test_vfs_calls(), 1);
        CHECK(!test_vfs_disarm());
    }
    test_close(engine);
}

/* A host program's own connections go on using the VFS that it chose. */
TEST(sqlite_sweep, the_default_vfs_stays_the_default)
{
    loci_engine *engine = test_open(test_store(test_tmpdir(), "default.db"));

    CHECK(strcmp(sqlite3_vfs_find(NULL)->zName, "faulty") == 0);
    CHECK(sqlite3_vfs_find("loci") != NULL);
    test_close(engine);
}
