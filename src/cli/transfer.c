/* transfer.c - an import is read more than once, to be checked before anything is changed, so what
 * comes through a pipe is put into a file first. */
#include "cli/transfer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/error.h"
#include "base/str.h"
#include "cli/interrupt.h"

#define COPY_BYTES 65536u

static loci_status fail_spool(const char *path, loci_error *err)
{
    return lc_fail(err, errno == ENOSPC ? LOCI_ERESOURCE : LOCI_EUNAVAILABLE,
                   "cannot keep standard input in %s: %s", path, strerror(errno));
}

static loci_status copy_input(int descriptor, const char *path, loci_error *err)
{
    char block[COPY_BYTES];

    for (;;) {
        ssize_t got = read(STDIN_FILENO, block, sizeof block);

        if (got < 0 && errno == EINTR && !lc_interrupt_is_set())
            continue;
        if (got < 0 && errno == EINTR)
            return lc_fail(err, LOCI_ECANCELLED, "interrupted while reading standard input");
        if (got < 0)
            return lc_fail(err, LOCI_EUNAVAILABLE, "cannot read standard input: %s",
                           strerror(errno));
        if (got == 0)
            return LOCI_OK;
        if (!lc_cli_write(descriptor, (loci_str){block, (size_t)got}))
            return fail_spool(path, err);
    }
}

loci_status lc_transfer_spool(lc_cli *cli, char **out_path, loci_error *err)
{
    const char *directory = getenv("TMPDIR");
    char path[4096];
    loci_status status;
    int descriptor;
    int len = snprintf(path, sizeof path, "%s/loci-import-XXXXXX",
                       directory != NULL && directory[0] != '\0' ? directory : "/tmp");

    if (len < 0 || (size_t)len >= sizeof path)
        return lc_fail(err, LOCI_EINVAL, "TMPDIR is too long");
    descriptor = mkstemp(path);
    if (descriptor < 0)
        return fail_spool(path, err);
    status = copy_input(descriptor, path, err);
    if (close(descriptor) != 0 && status == LOCI_OK)
        status = fail_spool(path, err);
    if (status == LOCI_OK) {
        *out_path = (char *)lc_arena_copy(cli->arena, loci_str_of(path)).ptr; /* Ours. */
        status = *out_path != NULL ? LOCI_OK : lc_fail_memory(err);
    }
    if (status != LOCI_OK)
        (void)unlink(path); /* Best effort. */
    return status;
}
