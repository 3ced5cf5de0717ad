/* publish.c - a rename makes the file appear atomically; the two syncs around it make that true
 * after a power loss: without the first the name may lead to an empty file, without the second the
 * file may be gone although success was reported. */
#include "store/publish.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"

loci_status lc_fail_path(loci_error *err, const char *path, int error)
{
    switch (error) {
    case ENOENT:
    case ENOTDIR:
        return lc_fail(err, LOCI_ENOTFOUND, "%s: no such file or directory", path);
    case EEXIST:
        return lc_fail(err, LOCI_ECONFLICT,
                       "%s exists; choose another name or pass --force (force: true)", path);
    case EACCES:
    case EPERM:
    case EROFS:
        return lc_fail(err, LOCI_EFORBIDDEN, "%s: %s", path, strerror(error));
    case EISDIR:
        return lc_fail(err, LOCI_EINVAL, "%s is a directory; name a file in it", path);
    case ENAMETOOLONG:
        return lc_fail(err, LOCI_ELIMIT, "the path is longer than %d bytes", LC_PATH_BYTES_MAX);
    case ENOSPC:
    case EDQUOT:
    case EMFILE:
    case ENFILE:
    case ENOMEM:
        return lc_fail(err, LOCI_ERESOURCE, "%s: %s", path, strerror(error));
    default:
        return lc_fail(err, LOCI_EUNAVAILABLE, "%s: %s", path, strerror(error));
    }
}

/* Replaces publish->path by the file that it leads to, if it is a symbolic link. */
static loci_status follow_link(lc_publish *publish, loci_error *err)
{
    char target[PATH_MAX];
    struct stat info;

    _Static_assert(sizeof target <= sizeof publish->path, "a resolved path fits");
    if (lstat(publish->path, &info) != 0 || !S_ISLNK(info.st_mode))
        return LOCI_OK;
    if (realpath(publish->path, target) == NULL)
        return lc_fail(err, LOCI_ENOTFOUND,
                       "%s is a symbolic link that leads to no file; remove it or name its target",
                       publish->path);
    memcpy(publish->path, target, strlen(target) + 1);
    return LOCI_OK;
}

/* Opened without waiting: a FIFO that no program reads would block for ever. */
static loci_status open_stream(lc_publish *publish, loci_error *err)
{
    publish->is_stream = true;
    publish->fd = open(publish->path, O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (publish->fd < 0 && errno == ENXIO)
        return lc_fail(err, LOCI_EUNAVAILABLE, "%s: no program reads it; start the reader first",
                       publish->path);
    if (publish->fd < 0)
        return lc_fail_path(err, publish->path, errno);
    (void)fcntl(publish->fd, F_SETFL, 0); /* If it fails, a slow reader ends the export. */
    return LOCI_OK;
}

loci_status lc_publish_begin(lc_publish *publish, const char *path, bool replace, loci_error *err)
{
    struct stat info;
    loci_status status;

    *publish = (lc_publish){.fd = -1, .replace = replace};
    if (strlen(path) >= sizeof publish->path)
        return lc_fail_path(err, path, ENAMETOOLONG);
    memcpy(publish->path, path, strlen(path) + 1);
    status = follow_link(publish, err);
    if (status != LOCI_OK)
        return status;
    path = publish->path;
    if (stat(path, &info) == 0) {
        if (S_ISDIR(info.st_mode))
            return lc_fail_path(err, path, EISDIR);
        if (!S_ISREG(info.st_mode))
            return open_stream(publish, err);
        if (!replace)
            return lc_fail_path(err, path, EEXIST);
    }
    (void)snprintf(publish->temporary, sizeof publish->temporary, "%s.partial-XXXXXX",
                   path); /* Room was made for it. */
    publish->fd = mkostemp(publish->temporary, O_CLOEXEC);
    if (publish->fd < 0) {
        publish->temporary[0] = '\0';
        return lc_fail_path(err, path, errno);
    }
    return LOCI_OK;
}

loci_status lc_publish_write(lc_publish *publish, loci_str bytes, loci_error *err)
{
    while (bytes.len > 0) {
        ssize_t written = write(publish->fd, bytes.ptr, bytes.len);

        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return lc_fail_path(err, publish->path, errno);
        bytes.ptr += written;
        bytes.len -= (size_t)written;
    }
    return LOCI_OK;
}

void lc_publish_let_go(lc_publish *publish)
{
    if (publish->fd >= 0)
        (void)close(publish->fd); /* The content is synced through another descriptor. */
    publish->fd = -1;
}

/* 0 or an errno. */
static int sync_path(const char *path, int flags)
{
    int fd = open(path, flags | O_CLOEXEC);
    int error = 0;

    if (fd < 0)
        return errno;
    if (fsync(fd) != 0)
        error = errno;
    (void)close(fd); /* Synced. */
    return error;
}

static void sync_directory_of(const char *path)
{
    char copy[LC_PATH_BYTES_MAX];

    memcpy(copy, path, strlen(path) + 1);
    (void)sync_path(dirname(copy), O_RDONLY | O_DIRECTORY); /* Not every file system can. */
}

/* 0 or an errno. Another process may have created the file since it was checked. */
static int take_name(const lc_publish *publish)
{
    if (publish->replace)
        return rename(publish->temporary, publish->path) == 0 ? 0 : errno;
    if (renameat2(AT_FDCWD, publish->temporary, AT_FDCWD, publish->path, RENAME_NOREPLACE) == 0)
        return 0;
    if (errno != EINVAL && errno != ENOSYS)
        return errno;
    /* A file system without it: a link refuses an existing name, too. */
    if (link(publish->temporary, publish->path) != 0)
        return errno;
    return unlink(publish->temporary) == 0 ? 0 : errno;
}

loci_status lc_publish_finish(lc_publish *publish, loci_error *err)
{
    int error;

    lc_publish_let_go(publish);
    if (publish->is_stream)
        return LOCI_OK;
    error = sync_path(publish->temporary, O_RDWR);
    if (error == 0)
        error = take_name(publish);
    if (error != 0) {
        lc_publish_abandon(publish);
        return lc_fail_path(err, publish->path, error);
    }
    publish->temporary[0] = '\0';
    sync_directory_of(publish->path);
    return LOCI_OK;
}

void lc_publish_abandon(lc_publish *publish)
{
    static const char *const companions[] = {"", "-journal", "-wal", "-shm"};
    char path[sizeof publish->temporary + 16];

    lc_publish_let_go(publish);
    if (publish->temporary[0] == '\0')
        return;
    for (size_t i = 0; i < sizeof companions / sizeof *companions; i++) {
        (void)snprintf(path, sizeof path, "%s%s", publish->temporary, companions[i]); /* Fits. */
        (void)unlink(path); /* Most of them do not exist. */
    }
    publish->temporary[0] = '\0';
}

bool lc_path_is_same(const char *a, const char *b)
{
    char dir_a[LC_PATH_BYTES_MAX], dir_b[LC_PATH_BYTES_MAX];
    const char *slash = strrchr(a, '/');
    struct stat first, second;

    if (stat(a, &first) == 0 && stat(b, &second) == 0 && first.st_dev == second.st_dev &&
        first.st_ino == second.st_ino)
        return true;
    if (strcmp(slash != NULL ? slash + 1 : a, strrchr(b, '/') + 1) != 0)
        return false;
    (void)snprintf(dir_a, sizeof dir_a, "%s", a); /* Both are shorter. */
    (void)snprintf(dir_b, sizeof dir_b, "%s", b);
    return stat(dirname(dir_a), &first) == 0 && stat(dirname(dir_b), &second) == 0 &&
           first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}
