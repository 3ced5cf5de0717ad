/* data_file.c - mapping a data file, and the places to look for it.
 *
 * The build tree has share/loci beside the program, an installed program has ../share/loci, and a
 * library inside another program has only the place it was installed to, or the setting.
 */
#include "base/data_file.h"

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

loci_status lc_data_file_open(const char *path, const char *kind, uint32_t version,
                              lc_data_file *out, loci_error *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    void *start = MAP_FAILED;
    struct stat info;
    loci_status status;

    if (fd < 0) {
        status = errno == ENOENT ? LOCI_ENOTFOUND : LOCI_EUNAVAILABLE;
        return lc_fail(err, status, "the %s file could not be opened: %s", kind, strerror(errno));
    }
    if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode) ||
        (size_t)info.st_size < sizeof(lc_data_header)) {
        status = lc_fail(err, LOCI_ECORRUPT, "the %s file is no data file; run script/setup", kind);
        goto out;
    }
    start = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_SHARED, fd, 0);
    if (start == MAP_FAILED) {
        status = lc_fail(err, LOCI_EUNAVAILABLE, "the %s file could not be mapped: %s", kind,
                         strerror(errno));
        goto out;
    }
    status = check_header(start, (size_t)info.st_size, kind, version, err);
    if (status != LOCI_OK) {
        (void)munmap(start, (size_t)info.st_size);
        goto out;
    }
    out->header = start;
    out->body = (const uint8_t *)start + sizeof(lc_data_header);
    out->body_bytes = (size_t)out->header->body_bytes;

out:
    (void)close(fd);
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

/* The folder of the running program, without a slash at its end; empty when it cannot be told. */
static void program_dir(char out[LC_DATA_PATH_BYTES])
{
    ssize_t len = readlink("/proc/self/exe", out, LC_DATA_PATH_BYTES - 1);
    char *slash;

    out[len > 0 ? len : 0] = '\0';
    slash = strrchr(out, '/');
    if (slash != NULL)
        *slash = '\0';
}

loci_status lc_data_file_find(loci_str dir, const char *name, char out[LC_DATA_PATH_BYTES],
                              loci_error *err)
{
    static const char *const beside[] = {"share/loci", "../share/loci"};
    char program[LC_DATA_PATH_BYTES], place[LC_DATA_PATH_BYTES + 32];

    if (dir.len > 0) {
        (void)snprintf(place, sizeof place, "%.*s", LC_STR_ARG(dir));
        if (is_there(place, name, out))
            return LOCI_OK;
        return lc_fail(err, LOCI_ENOTFOUND,
                       "%s is not in the folder that the setting data.dir names", name);
    }
    program_dir(program);
    for (size_t i = 0; i < sizeof beside / sizeof *beside && program[0] != '\0'; i++) {
        (void)snprintf(place, sizeof place, "%s/%s", program, beside[i]);
        if (is_there(place, name, out))
            return LOCI_OK;
    }
    if (is_there(LOCI_DATA_DIR, name, out))
        return LOCI_OK;
    return lc_fail(err, LOCI_ENOTFOUND, "%s is not installed; script/setup brings it", name);
}
