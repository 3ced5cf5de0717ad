#include "cli/input.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "cli/interrupt.h"

#define READ_BYTES 65536u

loci_status lc_input_read(int descriptor, const char *name, lc_buf *out, loci_error *err)
{
    char block[READ_BYTES];

    for (;;) {
        ssize_t got = read(descriptor, block, sizeof block);

        if (got < 0 && errno == EINTR && !lc_interrupt_is_set())
            continue;
        if (got < 0 && errno == EINTR)
            return lc_fail(err, LOCI_ECANCELLED, "interrupted while reading %s", name);
        if (got < 0)
            return lc_fail(err, LOCI_EUNAVAILABLE, "cannot read %s: %s", name, strerror(errno));
        if (got == 0)
            return LOCI_OK;
        lc_buf_append(out, (loci_str){block, (size_t)got});
        if (out->failure == LOCI_ELIMIT)
            return lc_fail(err, LOCI_ELIMIT, "%s has more than %zu bytes", name, out->bytes_max);
        if (out->failure != LOCI_OK)
            return lc_fail_memory(err);
    }
}

loci_status lc_input_read_file(const char *path, lc_buf *out, loci_error *err)
{
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    loci_status status;

    if (descriptor < 0)
        return lc_fail(err, errno == ENOENT ? LOCI_ENOTFOUND : LOCI_EFORBIDDEN,
                       "cannot read %s: %s", path, strerror(errno));
    status = lc_input_read(descriptor, path, out, err);
    (void)close(descriptor); /* Only read from. */
    return status;
}
