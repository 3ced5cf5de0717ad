/* import_file.c - a file as the source of an import, read with a buffer of our own: a line may be
 * long, but never longer than LC_TRANSFER_LINE_BYTES_MAX. */
#include "store/transfer.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "store/publish.h"

#define READ_BYTES 65536

typedef struct input {
    const char *path;
    int fd;
    size_t start; /* Of what was read but not taken. */
    size_t end;
    char bytes[READ_BYTES];
} input;

static loci_status fill(input *in, loci_error *err)
{
    ssize_t got;

    do
        got = read(in->fd, in->bytes, sizeof in->bytes);
    while (got < 0 && errno == EINTR);
    if (got < 0)
        return lc_fail_path(err, in->path, errno);
    in->start = 0;
    in->end = (size_t)got;
    return LOCI_OK;
}

static loci_status next_line(void *ctx, lc_buf *line, bool *found, loci_error *err)
{
    input *in = ctx;

    lc_buf_reset(line);
    *found = false;
    for (;;) {
        const char *start = in->bytes + in->start;
        const char *newline;

        if (in->start == in->end) {
            loci_status status = fill(in, err);

            if (status != LOCI_OK)
                return status;
            if (in->end == 0) /* The last line needs no end. */
                return lc_buf_status(line, err);
            start = in->bytes;
        }
        *found = true;
        newline = memchr(start, '\n', in->end - in->start);
        if (newline != NULL) {
            lc_buf_append(line, (loci_str){start, (size_t)(newline - start)});
            in->start += (size_t)(newline - start) + 1;
            return lc_buf_status(line, err);
        }
        lc_buf_append(line, (loci_str){start, in->end - in->start});
        in->start = in->end;
        if (line->failure != LOCI_OK)
            return lc_buf_status(line, err);
    }
}

static loci_status rewind_file(void *ctx, loci_error *err)
{
    input *in = ctx;

    in->start = in->end = 0;
    return lseek(in->fd, 0, SEEK_SET) == 0 ? LOCI_OK : lc_fail_path(err, in->path, errno);
}

static loci_status open_file(const char *path, int *out, loci_error *err)
{
    struct stat info;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);

    if (fd < 0)
        return lc_fail_path(err, path, errno);
    if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode)) {
        *out = fd;
        return LOCI_OK;
    }
    (void)close(fd); /* Only looked at. */
    return lc_fail(err, LOCI_EINVAL, "%s is not a file", path);
}

loci_status lc_import_file(const lc_upkeep *upkeep, const char *path, lc_transfer_counts *out,
                           loci_error *err)
{
    lc_heap *heap = &upkeep->db->env->heap;
    input *in = lc_heap_alloc(heap, sizeof *in, LOCI_MEM_REQUESTS);
    loci_status status;

    if (in == NULL)
        return lc_fail_memory(err);
    in->path = path;
    in->start = in->end = 0;
    status = open_file(path, &in->fd, err);
    if (status == LOCI_OK) {
        lc_import_source source = {.next = next_line, .rewind = rewind_file, .ctx = in};

        status = lc_import(upkeep, &source, out, err);
        (void)close(in->fd); /* Only read from. */
    }
    lc_heap_free(heap, in, sizeof *in, LOCI_MEM_REQUESTS);
    return status;
}
