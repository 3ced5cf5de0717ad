/* data_file.c - reads a data file, and knows the folders to search for it.
 *
 * A file is copied into memory, not mapped: an access to a mapped file that another process
 * truncates, or whose disk fails, is a SIGBUS, which ends the process, and the content can change
 * after it was checked. The copy costs its size in memory for each process (8 to 15 MB) and 5 to 10
 * ms when it is first needed.
 *
 * The build tree has share/loci beside the program and the library. An installed program has
 * ../share/loci; an installed library has it too, or ../../share/loci where libraries are in a
 * folder per architecture. Last comes the place that was compiled in.
 */
#include "base/data_file.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/str.h"

#ifndef LOCI_DATA_DIR
#define LOCI_DATA_DIR "/usr/local/share/loci"
#endif

static const char magic[8] = {'l', 'o', 'c', 'i', 'D', 'A', 'T', 'A'};

static loci_status check_header(const lc_data_header *header, size_t file_bytes, const char *kind,
                                uint32_t version, loci_error *err)
{
    char named[sizeof header->kind] = "";

    (void)snprintf(named, sizeof named, "%s", kind);
    if (memcmp(header->magic, magic, sizeof magic) != 0 ||
        memcmp(header->kind, named, sizeof named) != 0)
        return lc_fail(err, LOCI_ECORRUPT, "the data file is no %s file; run script/setup", kind);
    if (header->version != version)
        return lc_fail(err, LOCI_ECORRUPT,
                       "the %s file has version %u where %u is wanted; run script/setup", kind,
                       header->version, version);
    if (header->body_bytes != file_bytes - sizeof *header)
        return lc_fail(err, LOCI_ECORRUPT, "the %s file is cut or too long; run script/setup",
                       kind);
    return LOCI_OK;
}

static lc_data_identity identity_of(const struct stat *info)
{
    return (lc_data_identity){info->st_dev, info->st_ino, info->st_size, info->st_mtim,
                              info->st_ctim};
}

bool lc_data_identity_eq(const lc_data_identity *a, const lc_data_identity *b)
{
    return a->device == b->device && a->inode == b->inode && a->bytes == b->bytes &&
           a->modified.tv_sec == b->modified.tv_sec && a->modified.tv_nsec == b->modified.tv_nsec &&
           a->changed.tv_sec == b->changed.tv_sec && a->changed.tv_nsec == b->changed.tv_nsec;
}

/* Reads `bytes` bytes; fewer are LOCI_ECORRUPT. */
static loci_status read_all(int fd, void *out, size_t bytes, const char *kind, loci_error *err)
{
    size_t done = 0;

    while (done < bytes) {
        ssize_t got = read(fd, (char *)out + done, bytes - done);

        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return lc_fail(err, LOCI_EUNAVAILABLE, "the %s file could not be read: %s", kind,
                           strerror(errno));
        if (got == 0)
            return lc_fail(err, LOCI_ECORRUPT, "the %s file is cut or too long; run script/setup",
                           kind);
        done += (size_t)got;
    }
    return LOCI_OK;
}

/* Opens the file and reads its header; the descriptor is then behind it. */
static loci_status open_header(const lc_data_kind *kind, const char *path, lc_data_header *out,
                               struct stat *info, int *out_fd, loci_error *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    loci_status status;

    if (fd < 0) {
        status = errno == ENOENT ? LOCI_ENOTFOUND : LOCI_EUNAVAILABLE;
        return lc_fail(err, status, "the %s file could not be opened: %s", kind->name,
                       strerror(errno));
    }
    if (fstat(fd, info) != 0 || !S_ISREG(info->st_mode) || (size_t)info->st_size < sizeof *out)
        status = lc_fail(err, LOCI_ECORRUPT, "the %s file is no data file; run script/setup",
                         kind->name);
    else
        status = read_all(fd, out, sizeof *out, kind->name, err);
    if (status == LOCI_OK)
        status = check_header(out, (size_t)info->st_size, kind->name, kind->version, err);
    if (status != LOCI_OK) {
        (void)close(fd); /* Only read from. */
        return status;
    }
    *out_fd = fd;
    return LOCI_OK;
}

loci_status lc_data_file_peek(const lc_data_kind *kind, const char *path, lc_data_header *out,
                              loci_error *err)
{
    lc_data_header header;
    struct stat info;
    int fd;
    loci_status status = open_header(kind, path, &header, &info, &fd, err);

    if (status != LOCI_OK)
        return status;
    (void)close(fd); /* Only read from. */
    *out = header;
    return LOCI_OK;
}

loci_status lc_data_file_open(const lc_data_kind *kind, const char *path, lc_data_file *out,
                              loci_error *err)
{
    struct stat info, after;
    lc_data_identity now;
    lc_data_header header, *copy = MAP_FAILED;
    size_t bytes = 0;
    int fd;
    loci_status status = open_header(kind, path, &header, &info, &fd, err);

    if (status != LOCI_OK)
        return status;
    bytes = (size_t)info.st_size;
    copy = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (copy == MAP_FAILED) {
        status = lc_fail(err, LOCI_ERESOURCE, "no memory for the %s file: %s", kind->name,
                         strerror(errno));
        goto out;
    }
    *copy = header;
    status = read_all(fd, copy + 1, bytes - sizeof header, kind->name, err);
    if (status != LOCI_OK)
        goto out;
    out->identity = identity_of(&info);
    now = fstat(fd, &after) == 0 ? identity_of(&after) : (lc_data_identity){0};
    if (!lc_data_identity_eq(&out->identity, &now)) {
        status = lc_fail(err, LOCI_EUNAVAILABLE, "the %s file changed while it was read; try again",
                         kind->name);
        goto out;
    }
    (void)mprotect(copy, bytes, PROT_READ); /* Only to find bugs. */
    out->header = copy;
    out->body = (const uint8_t *)(copy + 1);
    out->body_bytes = (size_t)header.body_bytes;

out:
    if (status != LOCI_OK && copy != MAP_FAILED)
        (void)munmap(copy, bytes);
    (void)close(fd); /* Only read from. */
    return status;
}

void lc_data_file_close(lc_data_file *file)
{
    if (file->header != NULL)
        (void)munmap((void *)(uintptr_t)file->header, file->body_bytes + sizeof *file->header);
    memset(file, 0, sizeof *file);
}

/* "DIR/NAME" when such a file can be read. */
static bool is_there(const char *dir, const char *name, char out[LC_DATA_PATH_BYTES])
{
    int len = snprintf(out, LC_DATA_PATH_BYTES, "%s/%s", dir, name);

    return len > 0 && len < LC_DATA_PATH_BYTES && access(out, R_OK) == 0;
}

/* Whether the file is in a folder near `file`, which is the program or the library. */
static bool is_near(const char *file, const char *name, char out[LC_DATA_PATH_BYTES])
{
    static const char *const folders[] = {"share/loci", "../share/loci", "../../share/loci"};
    const char *slash = strrchr(file, '/');
    char place[LC_DATA_PATH_BYTES + 32];

    for (size_t i = 0; i < sizeof folders / sizeof *folders && slash != NULL; i++) {
        (void)snprintf(place, sizeof place, "%.*s/%s", (int)(slash - file), file, folders[i]);
        if (is_there(place, name, out))
            return true;
    }
    return false;
}

loci_status lc_data_file_find(loci_str dir, const char *name, char out[LC_DATA_PATH_BYTES],
                              loci_error *err)
{
    char program[LC_DATA_PATH_BYTES], place[LC_DATA_PATH_BYTES];
    ssize_t len = readlink("/proc/self/exe", program, sizeof program - 1);
    Dl_info here;

    if (dir.len > 0) {
        (void)snprintf(place, sizeof place, "%.*s", LC_STR_ARG(dir));
        if (is_there(place, name, out))
            return LOCI_OK;
        return lc_fail(err, LOCI_ENOTFOUND,
                       "%s is not in the folder that the setting data.dir names; copy it there or"
                       " clear the setting",
                       name);
    }
    program[len > 0 ? len : 0] = '\0';
    if (is_near(program, name, out))
        return LOCI_OK;
    if (dladdr(magic, &here) != 0 && here.dli_fname != NULL && is_near(here.dli_fname, name, out))
        return LOCI_OK;
    if (is_there(LOCI_DATA_DIR, name, out))
        return LOCI_OK;
    return lc_fail(err, LOCI_ENOTFOUND,
                   "%s is not installed; install the package loci-data or run script/data", name);
}
