/* powerloss.c - preloaded into a program, takes the power away from the disk under one directory.
 *
 *     POWERLOSS_DIR=/tmp/x POWERLOSS_AT=17 POWERLOSS_SEED=1 LD_PRELOAD=…/powerloss.so loci batch …
 *
 * Until the 17th change below the directory everything works, but what was not fsynced is
 * remembered with what it replaced. Then the files are put into a state that a disk may be in after
 * the power went (powerloss_disk.h says which), and the process ends with exit code 99. fsync is
 * not passed on, because the simulated disk is all that counts; that also makes it fast.
 * POWERLOSS_LIE=1 makes it do nothing at all. Shared memory files (-shm) and mapped writes are not
 * followed. POWERLOSS_COUNT names a file that gets the number of changes when the program ends by
 * itself.
 *
 * One lock is held over every change with its record, and over every write(2) to any file: no
 * acknowledgement can leave after the power went. Our own descriptors are never closed: closing any
 * descriptor of a file drops the locks that the process has on it. System calls are made directly,
 * so that this works below the sanitizers' own interceptors.
 */
#include "powerloss_disk.h"

/* ---- What happens to data ------------------------------------------------------------------- */

static bool is_below(const char *path)
{
    size_t bytes = strlen(path);

    return disk.dir_bytes > 0 && strncmp(path, disk.dir, disk.dir_bytes) == 0 &&
           !(bytes > 4 && strcmp(path + bytes - 4, "-shm") == 0);
}

static file *find_file(int fd)
{
    struct stat info;

    if (disk.file_count == 0 || fstat(fd, &info) != 0)
        return NULL;
    for (size_t i = 0; i < disk.file_count; i++)
        if (disk.files[i].ino == info.st_ino && disk.files[i].dev == info.st_dev)
            return &disk.files[i];
    return NULL;
}

static void follow(const char *path, int fd)
{
    struct stat info;
    file *f = find_file(fd);

    if (f != NULL || fstat(fd, &info) != 0 || !S_ISREG(info.st_mode))
        return;
    if (disk.file_count == FILES_MAX)
        give_up("too many files");
    f = &disk.files[disk.file_count++];
    *f = (file){.dev = info.st_dev, .ino = info.st_ino};
    fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC, 0);
    f->fd = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, FD_MIN);
    if (f->fd < 0)
        give_up(path);
}

/* Notes what is about to be replaced, from `at` on. */
static change *begin_change(file *f, off_t at, size_t bytes)
{
    change *c = need(calloc(1, sizeof *c));
    struct stat info;
    ssize_t got;

    if (fstat(f->fd, &info) != 0)
        give_up("fstat");
    c->size_before = info.st_size;
    c->at = at;
    c->before = need(malloc(bytes + 1));
    got = bytes == 0 ? 0 : pread(f->fd, c->before, bytes, at);
    if (got < 0)
        give_up("pread");
    c->before_bytes = (size_t)got;
    return c;
}

static void end_change(file *f, change *c, const void *after, size_t bytes)
{
    struct stat info;

    if (fstat(f->fd, &info) != 0)
        give_up("fstat");
    c->size_after = info.st_size;
    c->bytes = bytes;
    c->after = need(malloc(bytes + 1));
    if (bytes > 0)
        memcpy(c->after, after, bytes);
    c->older = f->last;
    f->last = c;
    step();
}

static void drop_change(change *c)
{
    free(c->before);
    free(c->after);
    free(c);
}

static void make_durable(file *f)
{
    while (f->last != NULL) {
        change *c = f->last;

        f->last = c->older;
        drop_change(c);
    }
}

/* `at` < 0: where the descriptor stands. */
static ssize_t do_write(int fd, const void *from, size_t bytes, off_t at)
{
    file *f;
    change *c = NULL;
    long got;

    pthread_mutex_lock(&disk.lock);
    f = find_file(fd);
    if (f != NULL && bytes > 0) {
        bool appends = (fcntl(fd, F_GETFL) & O_APPEND) != 0;
        off_t where = at >= 0 ? at : lseek(fd, 0, appends ? SEEK_END : SEEK_CUR);

        c = begin_change(f, where, bytes);
    }
    got = at >= 0 ? syscall(SYS_pwrite64, fd, from, bytes, at)
                  : syscall(SYS_write, fd, from, bytes);
    if (c != NULL && got > 0)
        end_change(f, c, from, (size_t)got);
    else if (c != NULL)
        drop_change(c);
    pthread_mutex_unlock(&disk.lock);
    return got;
}

static int do_resize(int fd, off_t bytes)
{
    file *f;
    change *c = NULL;
    struct stat info;
    int result;

    pthread_mutex_lock(&disk.lock);
    f = find_file(fd);
    if (f != NULL && fstat(fd, &info) == 0)
        c = begin_change(f, bytes, info.st_size > bytes ? (size_t)(info.st_size - bytes) : 0);
    result = (int)syscall(SYS_ftruncate, fd, bytes);
    if (c != NULL && result == 0)
        end_change(f, c, NULL, 0);
    else if (c != NULL)
        drop_change(c);
    pthread_mutex_unlock(&disk.lock);
    return result;
}

/* ---- What happens to names ------------------------------------------------------------------ */

/* The whole path of a name given to a ...at() function. */
static void whole_path(int dir, const char *path, char out[PATH_MAX])
{
    char link[64];
    char base[PATH_MAX / 2];
    ssize_t bytes;

    if (path[0] == '/') {
        snprintf(out, PATH_MAX, "%s", path);
        return;
    }
    if (dir == AT_FDCWD)
        snprintf(link, sizeof link, "/proc/self/cwd");
    else
        snprintf(link, sizeof link, "/proc/self/fd/%d", dir);
    bytes = readlink(link, base, sizeof base - 1);
    base[bytes < 0 ? 0 : bytes] = '\0';
    snprintf(out, PATH_MAX, "%s/%.2000s", base, path);
}

static bool exists(const char *path)
{
    return syscall(SYS_faccessat, AT_FDCWD, path, F_OK) == 0;
}

/* Keeps the file that is called `path`, if there is one, under a second name beside the directory.
 */
static void save(const char *path, char out[PATH_MAX])
{
    out[0] = '\0';
    if (!exists(path))
        return;
    snprintf(out, PATH_MAX, "%.*s.lost-%u", (int)disk.dir_bytes - 1, disk.dir, disk.saved_count++);
    if (syscall(SYS_linkat, AT_FDCWD, path, AT_FDCWD, out, 0) != 0)
        out[0] = '\0'; /* A directory: there is no second name for one. */
}

static name_change *begin_name(name_kind kind, const char *path)
{
    name_change *n = need(calloc(1, sizeof *n));

    n->kind = kind;
    snprintf(n->path, sizeof n->path, "%s", path);
    if (kind == NAME_GONE || kind == NAME_MOVED)
        save(path, n->saved);
    return n;
}

static void end_name(name_change *n, bool happened)
{
    if (happened) {
        n->older = disk.names;
        disk.names = n;
        step();
        return;
    }
    if (n->saved[0] != '\0')
        syscall(SYS_unlinkat, AT_FDCWD, n->saved, 0);
    free(n);
}

static bool is_in(const char *path, const char *dir)
{
    const char *slash = strrchr(path, '/');

    return strlen(dir) == (size_t)(slash - path) && strncmp(path, dir, strlen(dir)) == 0;
}

static void make_names_durable(const char *dir)
{
    name_change **at = &disk.names;

    while (*at != NULL) {
        name_change *n = *at;

        if (!is_in(n->path, dir)) {
            at = &n->older;
            continue;
        }
        *at = n->older;
        if (n->saved[0] != '\0')
            syscall(SYS_unlinkat, AT_FDCWD, n->saved, 0);
        free(n);
    }
}

static int do_sync(int fd)
{
    char link[64];
    char path[PATH_MAX];
    ssize_t bytes;
    file *f;

    pthread_mutex_lock(&disk.lock);
    f = find_file(fd);
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    bytes = readlink(link, path, sizeof path - 2);
    if (bytes < 0) {
        pthread_mutex_unlock(&disk.lock);
        errno = EBADF;
        return -1;
    }
    memcpy(path + bytes, "/", 2); /* So that the directory itself is below it, too. */
    if (f != NULL || is_below(path))
        step();
    path[bytes] = '\0';
    if (!disk.is_lying && f != NULL)
        make_durable(f);
    else if (!disk.is_lying)
        make_names_durable(path);
    pthread_mutex_unlock(&disk.lock);
    return 0;
}

static int do_open(int dir, const char *name, int flags, mode_t mode)
{
    bool writes = (flags & O_ACCMODE) != O_RDONLY;
    char path[PATH_MAX];
    bool is_new;
    int fd;

    whole_path(dir, name, path);
    if (!writes || !is_below(path))
        return (int)syscall(SYS_openat, dir, name, flags, mode);

    pthread_mutex_lock(&disk.lock);
    is_new = !exists(path);
    fd = (int)syscall(SYS_openat, dir, name, flags & ~O_TRUNC, mode);
    if (fd >= 0) {
        follow(path, fd);
        if (is_new)
            end_name(begin_name(NAME_MADE, path), true);
    }
    pthread_mutex_unlock(&disk.lock);
    if (fd >= 0 && (flags & O_TRUNC) != 0)
        (void)do_resize(fd, 0); /* Of a regular file open for writing: cannot fail. */
    return fd;
}

static int do_rename(int from_dir, const char *from, int to_dir, const char *to, unsigned flags)
{
    char from_path[PATH_MAX];
    char to_path[PATH_MAX];
    name_change *n = NULL;
    int result;

    whole_path(from_dir, from, from_path);
    whole_path(to_dir, to, to_path);
    pthread_mutex_lock(&disk.lock);
    if (is_below(to_path)) {
        n = begin_name(NAME_MOVED, to_path);
        snprintf(n->from, sizeof n->from, "%s", from_path);
    }
    result = (int)syscall(SYS_renameat2, from_dir, from, to_dir, to, flags);
    if (n != NULL)
        end_name(n, result == 0);
    pthread_mutex_unlock(&disk.lock);
    return result;
}

static int do_unlink(int dir, const char *name, int flags)
{
    char path[PATH_MAX];
    name_change *n = NULL;
    int result;

    whole_path(dir, name, path);
    pthread_mutex_lock(&disk.lock);
    if (is_below(path))
        n = begin_name(NAME_GONE, path);
    result = (int)syscall(SYS_unlinkat, dir, name, flags);
    if (n != NULL)
        end_name(n, result == 0);
    pthread_mutex_unlock(&disk.lock);
    return result;
}

/* A name that appears: link and mkdir. `from` NULL makes a directory. */
static int do_make(int from_dir, const char *from, int dir, const char *name, int flags_or_mode)
{
    char path[PATH_MAX];
    int result;

    whole_path(dir, name, path);
    pthread_mutex_lock(&disk.lock);
    result = from == NULL ? (int)syscall(SYS_mkdirat, dir, name, flags_or_mode)
                          : (int)syscall(SYS_linkat, from_dir, from, dir, name, flags_or_mode);
    if (result == 0 && is_below(path))
        end_name(begin_name(from == NULL ? NAME_MADE_DIR : NAME_MADE, path), true);
    pthread_mutex_unlock(&disk.lock);
    return result;
}

#include "powerloss_calls.h"
