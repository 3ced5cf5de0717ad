/* test_disk_full.c - a disk with a megabyte. Writing until it is full answers `resource_exhausted`
 * and keeps everything that was acknowledged; with space again, the same engine goes on. */
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/calls.h"

#define WRITES_MAX 2000

/* A small disk at `dir`, seen by this process alone; false when that is not allowed here. */
static bool mount_small(const char *dir)
{
    return unshare(CLONE_NEWNS) == 0 && mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
           mount("tmpfs", dir, "tmpfs", 0, "size=2m") == 0;
}

static loci_status write_one(loci_engine *engine, int n, loci_error *err)
{
    return test_try(engine, "fact.write",
                    loci_str_of(test_format("{\"key\":\"k%d\",\"value\":\"%0*d\"}", n, 4000, n)),
                    err);
}

/* Returns how many were acknowledged before the disk was full. */
static int fill(loci_engine *engine)
{
    for (int n = 0; n < WRITES_MAX; n++) {
        loci_error err;
        loci_status status = write_one(engine, n, &err);

        if (status == LOCI_OK)
            continue;
        CHECK_STATUS(LOCI_ERESOURCE, status);
        CHECK_CONTAINS(err.message, "full");
        return n;
    }
    test_fail(__FILE__, __LINE__, "the disk never filled up");
    return 0;
}

static void check_there(loci_engine *engine, int count)
{
    for (int n = 0; n < count; n++)
        test_call(engine, "fact.current", "{'key':'k%d'}", n);
}

static void live_with_a_full_disk(const char *dir)
{
    const char *store = test_path(dir, "store.db");
    const char *filler = test_path(dir, "filler");
    loci_engine *engine;
    loci_error err;
    int count;

    test_write_file(filler, (loci_str){test_bytes(900000), 900000});
    engine = test_open_threads(store);
    count = fill(engine);
    CHECK_LT(5, count);
    CHECK_STATUS(LOCI_ERESOURCE, write_one(engine, count, &err)); /* Still, and not worse. */
    check_there(engine, count);
    CHECK_EQ(remove(filler), 0);
    CHECK_OK(write_one(engine, count, &err), err);
    test_close(engine);

    engine = test_open(store);
    check_there(engine, count + 1);
    CHECK_EQ(test_store_number(store, "select count(*) from events"), count + 1);
    test_close(engine);
}

/* A store cannot even be begun: nothing is left behind that could be taken for one. */
static void begin_on_a_full_disk(const char *dir)
{
    const char *store = test_path(dir, "store.db");
    const char *filler = test_path(dir, "filler");
    loci_open_options options = test_open_options(store);
    loci_engine *engine = NULL;
    loci_error err;
    int fd = open(filler, O_WRONLY | O_CREAT, 0600);

    CHECK(fd >= 0);
    while (write(fd, dir, 1) == 1)
        continue;
    close(fd);
    CHECK_STATUS(LOCI_ERESOURCE, loci_open(&options, &engine, &err));
    CHECK_EQ(remove(filler), 0);
    test_close(test_open(store));
}

static void run_on_small_disk(void (*body)(const char *dir))
{
    const char *dir = test_tmpdir();
    pid_t child;
    int status = 0;

    if (getuid() != 0)
        test_skip("only root can mount a small disk");
    fflush(stdout);
    child = fork();
    if (child == 0) {
        if (!mount_small(dir))
            _exit(77);
        body(dir);
        _exit(0);
    }
    CHECK_EQ(waitpid(child, &status, 0), child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
        test_skip("no mount namespaces here");
    CHECK_EQ(status, 0);
}

TEST(disk_full, nothing_is_lost_and_it_goes_on_when_there_is_space)
{
    run_on_small_disk(live_with_a_full_disk);
}

TEST(disk_full, a_store_cannot_begin_on_a_full_disk)
{
    run_on_small_disk(begin_on_a_full_disk);
}
