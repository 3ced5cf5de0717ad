/* probe.c - Slow readings are kept as rooms and limits, and combined with the fast one at each
 * tick.
 *
 * memory.current includes file pages, which the kernel takes back by itself; counting them would
 * report pressure whenever a large file was read. So inactive file pages are subtracted. The path
 * in /proc/self/cgroup may be one of the host's that a container does not see: directories without
 * the file are skipped on the way up, and the mounted root is read in any case.
 */
#include "guard/probe.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"

#define PATH_BYTES 4096
#define TEXT_BYTES 8192     /* Of a file; more is cut. memory.stat has about 2 KB. */
#define SLOW_MS 1000        /* Between two slow readings. */
#define AVAILABLE_SHARE 800 /* Of MemAvailable, per mille: others allocate, too. */
#define STALLED_PERCENT 10  /* PSI: some avg10. */

struct lc_probe {
    lc_heap *heap;
    const char *root;
    uint32_t machine_share;
    int statm_fd; /* Kept open: a third of the cost. */
    int64_t page_bytes;
    bool has_slow;
    int64_t slow_ms;     /* Time of the last slow reading, and its results: */
    int64_t extra_bytes; /* Shared memory and swap. */
    int64_t cgroup_room; /* -1 = none, here and below. */
    int64_t machine_limit;
    int64_t available_room;
    int64_t space_limit;
    int64_t data_limit;
    int64_t used_then; /* Bytes in use at that moment. */
    bool is_stalled;
};

/* ---- Files ----------------------------------------------------------------------------------- */

/* Reads the start of root/path into `text`, terminated. False if it cannot be read. */
static bool read_text(const lc_probe *probe, const char *path, char text[TEXT_BYTES])
{
    char full[PATH_BYTES];
    ssize_t got;
    int fd, len = snprintf(full, sizeof full, "%s%s", probe->root, path);

    if (len < 0 || len >= (int)sizeof full)
        return false;
    fd = open(full, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    got = read(fd, text, TEXT_BYTES - 1);
    (void)close(fd); /* It was only read. */
    text[got > 0 ? got : 0] = '\0';
    return got > 0;
}

/* The decimal number at the start of `text`, after blanks; -1 if there is none or it does not fit:
 * "max" and v1's huge numbers mean no limit. */
static int64_t leading_number(const char *text)
{
    int64_t value;
    size_t digits;

    text += strspn(text, " \t");
    digits = strspn(text, "0123456789");
    if (!lc_str_to_i64((loci_str){text, digits}, &value) || value >= LC_GUARD_BYTES_MAX)
        return -1;
    return value;
}

/* The number after `name` at the start of a line; -1 if there is none. */
static int64_t line_number(const char *text, const char *name)
{
    size_t len = strlen(name);

    for (const char *line = text; line != NULL; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, name, len) == 0)
            return leading_number(line + len);
    }
    return -1;
}

static int64_t file_number(const lc_probe *probe, const char *directory, const char *name)
{
    char path[PATH_BYTES], text[TEXT_BYTES];
    int len = snprintf(path, sizeof path, "%s/%s", directory, name);

    if (len < 0 || len >= (int)sizeof path || !read_text(probe, path, text))
        return -1;
    return leading_number(text);
}

static int64_t smaller(int64_t a, int64_t b)
{
    if (a < 0 || b < 0)
        return a < 0 ? b : a;
    return a < b ? a : b;
}

/* ---- Slow readings --------------------------------------------------------------------------- */

typedef struct cgroup_files {
    const char *limits[2];
    const char *current;
    const char *inactive; /* In memory.stat. */
} cgroup_files;

static const cgroup_files version_1 = {
    {"memory.limit_in_bytes", NULL}, "memory.usage_in_bytes", "total_inactive_file "};
static const cgroup_files version_2 = {
    {"memory.max", "memory.high"}, "memory.current", "inactive_file "};

/* The room that one directory leaves; -1 = it sets no limit. */
static int64_t directory_room(const lc_probe *probe, const char *directory,
                              const cgroup_files *files)
{
    char path[PATH_BYTES], text[TEXT_BYTES];
    int64_t limit = -1, current, inactive = -1;
    int len;

    for (int i = 0; i < 2 && files->limits[i] != NULL; i++)
        limit = smaller(limit, file_number(probe, directory, files->limits[i]));
    if (limit < 0)
        return -1;
    current = file_number(probe, directory, files->current);
    len = snprintf(path, sizeof path, "%s/memory.stat", directory);
    if (len > 0 && len < (int)sizeof path && read_text(probe, path, text))
        inactive = line_number(text, files->inactive);
    if (current < 0)
        current = probe->used_then;
    else if (inactive > 0)
        current = current > inactive ? current - inactive : 0;
    return limit > current ? limit - current : 0;
}

/* The least room from `mount`/`path` up to `mount`. */
static int64_t path_room(const lc_probe *probe, const char *mount, loci_str path,
                         const cgroup_files *files)
{
    char directory[PATH_BYTES];
    int len = snprintf(directory, sizeof directory, "%s%.*s", mount, LC_STR_ARG(path));
    size_t mount_len = strlen(mount);
    int64_t room = -1;
    char *slash;

    if (len < 0 || len >= (int)sizeof directory)
        return -1;
    while (strlen(directory) > mount_len) {
        room = smaller(room, directory_room(probe, directory, files));
        slash = strrchr(directory, '/');
        *slash = '\0';
    }
    return smaller(room, directory_room(probe, mount, files));
}

static bool lists_memory(loci_str controllers)
{
    loci_str rest = controllers;

    while (rest.len > 0) {
        if (lc_str_is(lc_str_split(rest, ',', &rest), "memory"))
            return true;
    }
    return false;
}

/* A line of /proc/self/cgroup is "number:controllers:path"; v2 is "0::path". */
static int64_t read_cgroups(const lc_probe *probe)
{
    char text[TEXT_BYTES];
    loci_str rest, line, number, controllers;
    int64_t room = -1;

    if (!read_text(probe, "/proc/self/cgroup", text))
        return -1;
    rest = loci_str_of(text);
    while (rest.len > 0) {
        line = lc_str_split(rest, '\n', &rest);
        number = lc_str_split(line, ':', &line);
        controllers = lc_str_split(line, ':', &line);
        if (lists_memory(controllers))
            room = smaller(room, path_room(probe, "/sys/fs/cgroup/memory", line, &version_1));
        else if (lc_str_is(number, "0") && controllers.len == 0) {
            room = smaller(room, path_room(probe, "/sys/fs/cgroup", line, &version_2));
            room = smaller(room, path_room(probe, "/sys/fs/cgroup/unified", line, &version_2));
        }
    }
    return room;
}

static int64_t read_rlimit(int resource)
{
    struct rlimit limit;

    if (getrlimit((__rlimit_resource_t)resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ||
        limit.rlim_cur >= (rlim_t)LC_GUARD_BYTES_MAX)
        return -1;
    return (int64_t)limit.rlim_cur;
}

/* Kilobytes of /proc files as bytes; -1 stays. */
static int64_t from_kb(int64_t kb)
{
    return kb < 0 ? -1 : kb * 1024;
}

static bool read_stalled(const lc_probe *probe)
{
    char text[TEXT_BYTES];
    const char *at;
    int64_t whole;

    if (!read_text(probe, "/proc/pressure/memory", text))
        return false;
    at = strstr(text, "some avg10="); /* As in "some avg10=12.34 avg60=…". */
    whole = at == NULL ? -1 : leading_number(at + strlen("some avg10="));
    return whole >= STALLED_PERCENT;
}

static void read_slow(lc_probe *probe, int64_t anonymous_bytes)
{
    char text[TEXT_BYTES];
    int64_t shared = -1, swap = -1, total = -1, available = -1;

    if (read_text(probe, "/proc/self/status", text)) {
        shared = from_kb(line_number(text, "RssShmem:"));
        swap = from_kb(line_number(text, "VmSwap:"));
    }
    probe->extra_bytes = (shared > 0 ? shared : 0) + (swap > 0 ? swap : 0);
    probe->used_then = anonymous_bytes + probe->extra_bytes;
    if (read_text(probe, "/proc/meminfo", text)) {
        total = from_kb(line_number(text, "MemTotal:"));
        available = from_kb(line_number(text, "MemAvailable:"));
    }
    probe->machine_limit = total < 0 ? -1 : total / 1000 * probe->machine_share;
    probe->available_room = available < 0 ? -1 : available / 1000 * AVAILABLE_SHARE;
    probe->cgroup_room = read_cgroups(probe);
    probe->space_limit = read_rlimit(RLIMIT_AS);
    probe->data_limit = read_rlimit(RLIMIT_DATA);
    probe->is_stalled = read_stalled(probe);
}

/* ---- Readings -------------------------------------------------------------------------------- */

loci_status lc_probe_open(lc_heap *heap, const char *root, uint32_t machine_share, lc_probe **out,
                          loci_error *err)
{
    char path[PATH_BYTES];
    lc_probe *probe = lc_heap_zalloc(heap, sizeof *probe, LOCI_MEM_ENGINE);

    if (probe == NULL)
        return lc_fail_memory(err);
    (void)snprintf(path, sizeof path, "%s/proc/self/statm", root); /* Cut = not found. */
    *probe = (lc_probe){.heap = heap,
                        .root = root,
                        .machine_share = machine_share,
                        .statm_fd = open(path, O_RDONLY | O_CLOEXEC),
                        .page_bytes = sysconf(_SC_PAGESIZE)};
    *out = probe;
    return LOCI_OK;
}

void lc_probe_close(lc_probe *probe)
{
    if (probe == NULL)
        return;
    if (probe->statm_fd >= 0)
        (void)close(probe->statm_fd); /* It was only read. */
    lc_heap_free(probe->heap, probe, sizeof *probe, LOCI_MEM_ENGINE);
}

/* Lowers the limit of `out` to `room` above the bytes in use; -1 changes nothing. */
static void lower_limit(lc_reading *out, int64_t room, const char *from)
{
    int64_t limit = out->used_bytes + room;

    if (room < 0 || (out->limit_bytes > 0 && out->limit_bytes <= limit))
        return;
    out->limit_bytes = limit > 0 ? limit : 1; /* 0 would mean no limit. */
    out->limit_from = from;
}

static int64_t room_below(int64_t limit, int64_t used)
{
    if (limit < 0)
        return -1;
    return limit > used ? limit - used : 0;
}

bool lc_probe_read(lc_probe *probe, int64_t now_ms, lc_reading *out)
{
    char text[256];
    long long size, resident, shared, data;
    int64_t grown;
    ssize_t got = probe->statm_fd < 0 ? -1 : pread(probe->statm_fd, text, sizeof text - 1, 0);

    if (got <= 0)
        return false;
    text[got] = '\0';
    /* Pages: size resident shared text lib data dirty. */
    if (sscanf(text, "%lld %lld %lld %*s %*s %lld", &size, &resident, &shared, &data) != 4)
        return false;
    if (!probe->has_slow || now_ms - probe->slow_ms >= SLOW_MS || now_ms < probe->slow_ms) {
        read_slow(probe, (resident - shared) * probe->page_bytes);
        probe->has_slow = true;
        probe->slow_ms = now_ms;
    }
    *out = (lc_reading){.used_bytes = (resident - shared) * probe->page_bytes + probe->extra_bytes,
                        .is_stalled = probe->is_stalled};
    /* The room of slow readings was measured when `used_then` was in use. */
    grown = out->used_bytes - probe->used_then;
    lower_limit(out, room_below(probe->cgroup_room, grown), "cgroup");
    lower_limit(out, room_below(probe->machine_limit, out->used_bytes), "machine");
    lower_limit(out, room_below(probe->available_room, grown), "available");
    lower_limit(out, room_below(probe->space_limit, size * probe->page_bytes), "address_space");
    lower_limit(out, room_below(probe->data_limit, data * probe->page_bytes), "data");
    return true;
}
