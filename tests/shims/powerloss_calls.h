/* powerloss_calls.h - the names under which the C library's callers find powerloss.c. Included
 * once, at its end. On 64 bit systems the ...64 functions have the same signatures; __open_2 and
 * friends are what open becomes when a program is compiled with _FORTIFY_SOURCE.
 */
#ifndef LC_TESTS_SHIMS_POWERLOSS_CALLS_H
#define LC_TESTS_SHIMS_POWERLOSS_CALLS_H

_Static_assert(sizeof(off_t) == 8, "the ...64 functions are the plain ones");

#define MODE_OF(last, flags)                                                                       \
    mode_t mode = 0;                                                                               \
    if (((flags) & (O_CREAT | __O_TMPFILE)) != 0) {                                                \
        va_list list;                                                                              \
        va_start(list, last);                                                                      \
        mode = va_arg(list, mode_t);                                                               \
        va_end(list);                                                                              \
    }

#define OPENERS(suffix)                                                                            \
    int open##suffix(const char *path, int flags, ...)                                             \
    {                                                                                              \
        MODE_OF(flags, flags)                                                                      \
        return do_open(AT_FDCWD, path, flags, mode);                                               \
    }                                                                                              \
    int openat##suffix(int dir, const char *path, int flags, ...)                                  \
    {                                                                                              \
        MODE_OF(flags, flags)                                                                      \
        return do_open(dir, path, flags, mode);                                                    \
    }                                                                                              \
    int creat##suffix(const char *path, mode_t mode)                                               \
    {                                                                                              \
        return do_open(AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC, mode);                        \
    }                                                                                              \
    int __open##suffix##_2(const char *path, int flags);                                           \
    int __open##suffix##_2(const char *path, int flags)                                            \
    {                                                                                              \
        return do_open(AT_FDCWD, path, flags, 0);                                                  \
    }                                                                                              \
    int __openat##suffix##_2(int dir, const char *path, int flags);                                \
    int __openat##suffix##_2(int dir, const char *path, int flags)                                 \
    {                                                                                              \
        return do_open(dir, path, flags, 0);                                                       \
    }                                                                                              \
    ssize_t pwrite##suffix(int fd, const void *from, size_t bytes, off_t at)                       \
    {                                                                                              \
        return do_write(fd, from, bytes, at);                                                      \
    }                                                                                              \
    int ftruncate##suffix(int fd, off_t bytes)                                                     \
    {                                                                                              \
        return do_resize(fd, bytes);                                                               \
    }                                                                                              \
    int fallocate##suffix(int fd, int mode, off_t at, off_t bytes)                                 \
    {                                                                                              \
        return do_allocate(fd, mode, at, bytes);                                                   \
    }                                                                                              \
    int posix_fallocate##suffix(int fd, off_t at, off_t bytes)                                     \
    {                                                                                              \
        return do_allocate(fd, 0, at, bytes) == 0 ? 0 : errno;                                     \
    }

static int do_allocate(int fd, int mode, off_t at, off_t bytes)
{
    struct stat info;

    if (mode != 0 || fstat(fd, &info) != 0) {
        errno = EOPNOTSUPP;
        return -1;
    }
    return at + bytes > info.st_size ? do_resize(fd, at + bytes) : 0;
}

/* The C library opens what mkstemp makes without asking us. */
static int make_temporary(char *template, int flags)
{
    size_t bytes = strlen(template);

    for (unsigned i = 0; bytes >= 6 && i < 1000000; i++) {
        char digits[7];
        int fd;

        snprintf(digits, sizeof digits, "%06u", i);
        memcpy(template + bytes - 6, digits, 6);
        fd = do_open(AT_FDCWD, template, flags | O_RDWR | O_CREAT | O_EXCL, 0600);
        if (fd >= 0 || errno != EEXIST)
            return fd;
    }
    errno = EINVAL;
    return -1;
}

#define TEMPORARIES(suffix)                                                                        \
    int mkstemp##suffix(char *template)                                                            \
    {                                                                                              \
        return make_temporary(template, 0);                                                        \
    }                                                                                              \
    int mkostemp##suffix(char *template, int flags)                                                \
    {                                                                                              \
        return make_temporary(template, flags);                                                    \
    }

OPENERS()
OPENERS(64)
TEMPORARIES()
TEMPORARIES(64)

ssize_t write(int fd, const void *from, size_t bytes)
{
    return do_write(fd, from, bytes, -1);
}

ssize_t writev(int fd, const struct iovec *parts, int count)
{
    ssize_t total = 0;

    for (int i = 0; i < count; i++) {
        ssize_t got = do_write(fd, parts[i].iov_base, parts[i].iov_len, -1);

        if (got < 0)
            return total > 0 ? total : got;
        total += got;
        if ((size_t)got < parts[i].iov_len)
            break;
    }
    return total;
}

int fsync(int fd)
{
    return do_sync(fd);
}

int fdatasync(int fd)
{
    return do_sync(fd);
}

/* Starts writing out, and promises nothing. */
int sync_file_range(int fd, off64_t at, off64_t bytes, unsigned flags)
{
    (void)fd;
    (void)at;
    (void)bytes;
    (void)flags;
    return 0;
}

/* Not followed, so not to be had: callers go back to reading and writing. */
ssize_t copy_file_range(int from, off64_t *from_at, int to, off64_t *to_at, size_t bytes,
                        unsigned flags)
{
    (void)from;
    (void)from_at;
    (void)to;
    (void)to_at;
    (void)bytes;
    (void)flags;
    errno = ENOSYS;
    return -1;
}

int rename(const char *from, const char *to)
{
    return do_rename(AT_FDCWD, from, AT_FDCWD, to, 0);
}

int renameat(int from_dir, const char *from, int to_dir, const char *to)
{
    return do_rename(from_dir, from, to_dir, to, 0);
}

int renameat2(int from_dir, const char *from, int to_dir, const char *to, unsigned flags)
{
    return do_rename(from_dir, from, to_dir, to, flags);
}

int unlink(const char *path)
{
    return do_unlink(AT_FDCWD, path, 0);
}

int unlinkat(int dir, const char *path, int flags)
{
    return do_unlink(dir, path, flags);
}

int remove(const char *path)
{
    struct stat info;

    return do_unlink(AT_FDCWD, path,
                     lstat(path, &info) == 0 && S_ISDIR(info.st_mode) ? AT_REMOVEDIR : 0);
}

int mknodat(int dir, const char *path, mode_t mode, dev_t device)
{
    int fd;

    if (!S_ISREG(mode))
        return (int)syscall(SYS_mknodat, dir, path, mode, device);
    fd = do_open(dir, path, O_WRONLY | O_CREAT | O_EXCL, mode & 07777);
    return fd < 0 ? -1 : 0; /* Not closed: that would drop the locks on the file. */
}

int mknod(const char *path, mode_t mode, dev_t device)
{
    return mknodat(AT_FDCWD, path, mode, device);
}

int link(const char *from, const char *to)
{
    return do_make(AT_FDCWD, from, AT_FDCWD, to, 0);
}

int linkat(int from_dir, const char *from, int to_dir, const char *to, int flags)
{
    return do_make(from_dir, from, to_dir, to, flags);
}

int mkdir(const char *path, mode_t mode)
{
    return do_make(0, NULL, AT_FDCWD, path, (int)mode);
}

int mkdirat(int dir, const char *path, mode_t mode)
{
    return do_make(0, NULL, dir, path, (int)mode);
}

#endif /* LC_TESTS_SHIMS_POWERLOSS_CALLS_H */
