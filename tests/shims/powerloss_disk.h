/* powerloss_disk.h - the disk of powerloss.c: what was not fsynced yet, and what is left of it when
 * the power goes. A header only because every .c file here becomes a library of its own; included
 * once.
 *
 * What may be left:
 * - Data: each sector of 512 bytes holds some version between the last fsync of its file and now. A
 *   write can be there as a whole, not at all, or torn; writes get there in any order.
 * - Sizes: a file may have grown without its data (zeros), or not have grown.
 * - Names: creating, renaming, linking and removing are undone from some point on, unless the
 * directory itself was fsynced. (fsync of a file saves no name: POSIX does not promise it.)
 */
#ifndef LC_TESTS_SHIMS_POWERLOSS_DISK_H
#define LC_TESTS_SHIMS_POWERLOSS_DISK_H

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define FILES_MAX 4096
#define SECTOR_BYTES 512
#define FD_MIN 500 /* Above whatever the program and the test use. */
#define EXIT_DARK 99

typedef struct file {
    dev_t dev;
    ino_t ino;
    int fd;              /* Ours, open for as long as the process lives. */
    struct change *last; /* Changes since its last fsync, newest first. */
} file;

typedef struct change { /* bytes == 0: only the size. */
    struct change *older;
    off_t at;
    size_t bytes;
    char *before; /* `before_bytes` of what was there. */
    size_t before_bytes;
    char *after; /* `bytes` of what came. */
    off_t size_before;
    off_t size_after;
} change;

typedef enum name_kind { NAME_MADE, NAME_MADE_DIR, NAME_GONE, NAME_MOVED } name_kind;

typedef struct name_change {
    struct name_change *older;
    name_kind kind;
    char path[PATH_MAX];  /* The name that appeared or went. */
    char from[PATH_MAX];  /* NAME_MOVED: what it was called before. */
    char saved[PATH_MAX]; /* A second link to the file that had the name, or "". */
} name_change;

static struct {
    pthread_mutex_t lock;
    char dir[PATH_MAX]; /* With its trailing slash: /tmp/x2 is not below /tmp/x. "" = inactive. */
    size_t dir_bytes;
    bool is_lying;
    uint64_t at; /* 0 = never. */
    uint64_t changes;
    uint64_t random;
    file files[FILES_MAX];
    size_t file_count;
    name_change *names; /* Since the last fsync of their directory, newest first. */
    unsigned saved_count;
} disk = {.lock = PTHREAD_MUTEX_INITIALIZER};

static _Noreturn void give_up(const char *what)
{
    dprintf(STDERR_FILENO, "powerloss.so: %s: %s\n", what, strerror(errno));
    _exit(98);
}

static void *need(void *ptr)
{
    if (ptr == NULL)
        give_up("memory");
    return ptr;
}

static uint64_t roll(uint64_t bound)
{
    uint64_t z = (disk.random += 0x9E3779B97F4A7C15u);

    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return (z ^ (z >> 31)) % bound;
}

__attribute__((constructor)) static void start(void)
{
    const char *dir = getenv("POWERLOSS_DIR");
    const char *at = getenv("POWERLOSS_AT");
    const char *seed = getenv("POWERLOSS_SEED");

    if (dir == NULL)
        return;
    disk.at = at == NULL ? 0 : strtoull(at, NULL, 10);
    disk.random = (seed == NULL ? 0 : strtoull(seed, NULL, 10)) * 1000003 + disk.at;
    disk.is_lying = getenv("POWERLOSS_LIE") != NULL;
    disk.dir_bytes = (size_t)snprintf(disk.dir, sizeof disk.dir, "%s/", dir);
}

__attribute__((destructor)) static void end(void)
{
    const char *path = getenv("POWERLOSS_COUNT");
    int fd = path == NULL ? -1 : (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT, 0600);

    if (fd >= 0)
        dprintf(fd, "%llu\n", (unsigned long long)disk.changes);
}

/* ---- When the power goes -------------------------------------------------------------------- */

static void put(int fd, const char *from, size_t bytes, off_t at)
{
    if (bytes > 0 && syscall(SYS_pwrite64, fd, from, bytes, at) != (long)bytes)
        give_up("pwrite");
}

static void set_size(int fd, off_t bytes)
{
    if (syscall(SYS_ftruncate, fd, bytes) != 0)
        give_up("ftruncate");
}

/* Lets a write reach the disk sector by sector. A sector that missed one write gets no later one:
 * they would have been written together. */
static void survive(file *f, const change *c, char *is_stale, unsigned kept_percent)
{
    bool is_lost = roll(100) >= kept_percent;
    bool is_torn = roll(4) == 0;

    for (size_t done = 0; done < c->bytes;) {
        off_t at = c->at + (off_t)done;
        size_t bytes = SECTOR_BYTES - (size_t)(at % SECTOR_BYTES);

        if (bytes > c->bytes - done)
            bytes = c->bytes - done;
        if (is_torn ? roll(2) == 0 : is_lost)
            is_stale[at / SECTOR_BYTES] = 1;
        if (!is_stale[at / SECTOR_BYTES])
            put(f->fd, c->after + done, bytes, at);
        done += bytes;
    }
}

static void lose_data(file *f, unsigned kept_percent)
{
    struct stat now;
    change *oldest = NULL;
    char *is_stale;
    off_t bytes_max = 0;

    if (f->last == NULL || fstat(f->fd, &now) != 0)
        return;
    while (f->last != NULL) { /* Back to the last fsync, turning the list around. */
        change *c = f->last;

        set_size(f->fd, c->size_before);
        put(f->fd, c->before, c->before_bytes, c->at);
        bytes_max = c->at + (off_t)c->bytes > bytes_max ? c->at + (off_t)c->bytes : bytes_max;
        f->last = c->older;
        c->older = oldest;
        oldest = c;
    }
    is_stale = need(calloc(1, (size_t)(bytes_max / SECTOR_BYTES) + 1));
    for (change *c = oldest; c != NULL; c = c->older) {
        if (c->bytes > 0)
            survive(f, c, is_stale, kept_percent);
        else if (roll(100) < kept_percent)
            set_size(f->fd, c->size_after);
    }
    if (roll(3) == 0)
        set_size(f->fd, now.st_size);
}

static void undo_name(const name_change *n)
{
    if (n->kind == NAME_MADE)
        syscall(SYS_unlinkat, AT_FDCWD, n->path, 0);
    else if (n->kind == NAME_MADE_DIR)
        syscall(SYS_unlinkat, AT_FDCWD, n->path, AT_REMOVEDIR);
    else if (n->kind == NAME_MOVED)
        syscall(SYS_renameat2, AT_FDCWD, n->path, AT_FDCWD, n->from, 0);
    if (n->saved[0] != '\0')
        syscall(SYS_linkat, AT_FDCWD, n->saved, AT_FDCWD, n->path, 0);
}

static _Noreturn void go_dark(void)
{
    static const unsigned kept_percents[] = {0, 10, 50, 50, 90, 100};
    size_t count = 0;
    size_t undone;

    for (size_t i = 0; i < disk.file_count; i++)
        lose_data(&disk.files[i], kept_percents[roll(6)]);
    for (name_change *n = disk.names; n != NULL; n = n->older)
        count++;
    undone = roll(3) == 0 ? count : roll(count + 1);
    for (name_change *n = disk.names; undone > 0; n = n->older, undone--)
        undo_name(n);
    syscall(SYS_exit_group, EXIT_DARK);
    abort();
}

/* Counts a change; the one that was waited for is the last. The lock is held. */
static void step(void)
{
    if (++disk.changes == disk.at)
        go_dark();
}

#endif /* LC_TESTS_SHIMS_POWERLOSS_DISK_H */
