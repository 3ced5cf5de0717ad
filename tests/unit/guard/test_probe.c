/* test_probe.c - readings from a tree of files that looks like /proc and /sys, with files missing;
 * and from the real ones. */
#include "guard/probe.h"

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/files.h"
#include "lib/heap.h"
#include "lib/test.h"

#define MB (1024ll * 1024)

static lc_heap heap;
static char root[4096];

/* Writes root/path, with the folders on the way. */
static void put(const char *path, const char *text)
{
    char full[8192];
    FILE *file;

    (void)snprintf(full, sizeof full, "%s%s", root, path);
    for (char *at = full + strlen(root) + 1; (at = strchr(at, '/')) != NULL; at++) {
        *at = '\0';
        (void)mkdir(full, 0700); /* It may exist. */
        *at = '/';
    }
    file = fopen(full, "w");
    CHECK(file != NULL);
    CHECK(fputs(text, file) >= 0);
    CHECK_EQ(fclose(file), 0);
}

static void take_away(const char *path)
{
    char full[8192];

    (void)snprintf(full, sizeof full, "%s%s", root, path);
    CHECK_EQ(unlink(full), 0);
}

/* A process with 100 MB of anonymous memory on a machine with 16 GB, half of it available. */
static lc_probe *open_tree(void)
{
    lc_probe *probe = NULL;
    loci_error err;

    lc_heap_init(&heap, test_heap());
    (void)snprintf(root, sizeof root, "%s", test_tmpdir());
    put("/proc/self/statm", "50000 26000 400 10 0 40000 0\n"); /* Pages of 4 KiB. */
    put("/proc/self/status", "Name:\tx\nRssShmem:\t     0 kB\nVmSwap:\t       0 kB\n");
    put("/proc/meminfo", "MemTotal:       16777216 kB\nMemAvailable:    8388608 kB\n");
    CHECK_OK(lc_probe_open(&heap, root, 500, &probe, &err), err);
    return probe;
}

static lc_reading read_at(lc_probe *probe, int64_t now_ms)
{
    lc_reading reading = {0};

    CHECK(lc_probe_read(probe, now_ms, &reading));
    return reading;
}

TEST(guard_probe, anonymous_shared_and_swapped_memory_is_used)
{
    lc_probe *probe = open_tree();

    CHECK_EQ(read_at(probe, 0).used_bytes, 25600 * 4096ll);
    put("/proc/self/status", "RssShmem:\t    1024 kB\nVmSwap:\t    2048 kB\n");
    CHECK_EQ(read_at(probe, 999).used_bytes, 25600 * 4096ll); /* Read once a second. */
    CHECK_EQ(read_at(probe, 1000).used_bytes, 25600 * 4096ll + 3 * MB);
    lc_probe_close(probe);
}

TEST(guard_probe, a_share_of_the_machine_and_what_is_available_limit)
{
    lc_probe *probe = open_tree();
    lc_reading reading = read_at(probe, 0);

    CHECK_STR_EQ(reading.limit_from, "available");
    CHECK_LE(6600 * MB, reading.limit_bytes); /* 80 % of 8 GB and what it has. */
    put("/proc/meminfo", "MemTotal:       16777216 kB\n");
    reading = read_at(probe, 1000);
    CHECK_STR_EQ(reading.limit_from, "machine");
    CHECK_LE(reading.limit_bytes, 8192 * MB);
    CHECK_LE(8191 * MB, reading.limit_bytes);
    take_away("/proc/meminfo");
    take_away("/proc/self/status");
    CHECK_EQ(read_at(probe, 2000).limit_bytes, 0); /* None is known, and none is made up. */
    lc_probe_close(probe);
}

TEST(guard_probe, cgroup_v2_ancestors_limit_with_neighbours)
{
    lc_probe *probe = open_tree();
    lc_reading reading;

    put("/proc/self/cgroup", "0::/a/b\n");
    put("/sys/fs/cgroup/a/b/memory.max", "max\n");
    put("/sys/fs/cgroup/a/b/memory.high", "max\n");
    put("/sys/fs/cgroup/a/memory.max", "629145600\n");  /* 600 MB */
    put("/sys/fs/cgroup/a/memory.high", "524288000\n"); /* 500 MB */
    put("/sys/fs/cgroup/a/memory.current", "314572800\n");
    put("/sys/fs/cgroup/a/memory.stat", "anon 1\ninactive_file 104857600\n");
    reading = read_at(probe, 0);
    CHECK_STR_EQ(reading.limit_from, "cgroup");
    CHECK_EQ(reading.limit_bytes, 400 * MB); /* 100 used, 300 of 500 left. */
    /* The neighbour grows by 200 MB. */
    put("/sys/fs/cgroup/a/memory.current", "524288000\n");
    CHECK_EQ(read_at(probe, 1000).limit_bytes, 200 * MB);
    /* Without memory.current the process is taken to be alone. */
    take_away("/sys/fs/cgroup/a/memory.current");
    CHECK_EQ(read_at(probe, 2000).limit_bytes, 500 * MB);
    lc_probe_close(probe);
}

/* In a container the path may be the host's: then only the mounted root is there. */
TEST(guard_probe, cgroup_v1_and_paths_that_are_not_visible)
{
    lc_probe *probe = open_tree();
    lc_reading reading;

    put("/proc/self/cgroup", "5:cpu,cpuacct:/x\n4:memory:/docker/123\n0::/\n");
    put("/sys/fs/cgroup/memory/memory.limit_in_bytes", "268435456\n");
    put("/sys/fs/cgroup/memory/memory.usage_in_bytes", "167772160\n");
    put("/sys/fs/cgroup/memory/memory.stat", "cache 5\ntotal_inactive_file 62914560\n");
    reading = read_at(probe, 0);
    CHECK_STR_EQ(reading.limit_from, "cgroup");
    CHECK_EQ(reading.limit_bytes, 256 * MB);
    put("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
    CHECK_STR_EQ(read_at(probe, 1000).limit_from, "available"); /* That means none. */
    lc_probe_close(probe);
}

TEST(guard_probe, waiting_tasks_are_reported)
{
    lc_probe *probe = open_tree();

    CHECK(!read_at(probe, 0).is_stalled);
    put("/proc/pressure/memory", "some avg10=9.99 avg60=0.00\nfull avg10=0.00\n");
    CHECK(!read_at(probe, 1000).is_stalled);
    put("/proc/pressure/memory", "some avg10=10.00 avg60=0.00\nfull avg10=0.00\n");
    CHECK(read_at(probe, 2000).is_stalled);
    lc_probe_close(probe);
}

TEST(guard_probe, a_reading_fails_only_without_the_process_itself)
{
    lc_probe *probe = open_tree();
    lc_reading reading;
    loci_error err;

    put("/proc/self/statm", "nonsense\n");
    CHECK(!lc_probe_read(probe, 0, &reading));
    put("/proc/self/statm", "");
    CHECK(!lc_probe_read(probe, 0, &reading));
    lc_probe_close(probe);
    take_away("/proc/self/statm");
    CHECK_OK(lc_probe_open(&heap, root, 500, &probe, &err), err);
    CHECK(!lc_probe_read(probe, 0, &reading));
    lc_probe_close(probe);
}

/* On this machine, whatever it is: memory that is touched is seen, and RLIMIT_DATA counts. */
TEST(guard_probe, the_real_files_see_what_is_allocated)
{
    struct rlimit before, lower;
    lc_probe *probe = NULL;
    lc_reading first, grown;
    char *block;

    lc_heap_init(&heap, test_heap());
    CHECK_STATUS(LOCI_OK, lc_probe_open(&heap, "", 1000, &probe, NULL));
    first = read_at(probe, 0);
    CHECK_LT(0, first.limit_bytes);
    block = test_bytes(64 * MB);
    memset(block, 1, 64 * MB);
    grown = read_at(probe, 1);
    CHECK_LE(first.used_bytes + 60 * MB, grown.used_bytes);
    if (!test_is_sanitized()) { /* Shadow memory is above any limit of data. */
        CHECK_EQ(getrlimit(RLIMIT_DATA, &before), 0);
        lower = (struct rlimit){.rlim_cur = 700 * MB, .rlim_max = before.rlim_max};
        CHECK_EQ(setrlimit(RLIMIT_DATA, &lower), 0);
        grown = read_at(probe, 1001);
        CHECK_EQ(setrlimit(RLIMIT_DATA, &before), 0);
        CHECK_LE(grown.limit_bytes, 700 * MB);
    }
    lc_probe_close(probe);
}
