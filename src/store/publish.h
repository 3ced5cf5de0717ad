/* publish.h - writes a file that appears complete or not at all.
 *
 * The content is written to a temporary file beside the final one; when complete, it is synced and
 * renamed, and its directory synced. A crash leaves at most a file called `name.partial-XXXXXX`.
 *
 * Only a regular file is ever replaced. A symbolic link is followed: the file it leads to is
 * replaced, and the link stays. A device or FIFO is written to as it is.
 */
#ifndef LC_STORE_PUBLISH_H
#define LC_STORE_PUBLISH_H

#include "loci.h"

#include <stdbool.h>

#define LC_PATH_BYTES_MAX 4096

typedef struct lc_publish {
    char path[LC_PATH_BYTES_MAX];
    char temporary[LC_PATH_BYTES_MAX + 32]; /* "" = nothing to abandon. */
    int fd;                                 /* Of the temporary file; -1 = closed. */
    bool replace;
    bool is_stream; /* A device or FIFO: there is no temporary file. */
} lc_publish;

/* Makes the temporary file, empty and readable by its owner only; or opens a device or FIFO, and
 * sets is_stream. A regular file that exists is LOCI_ECONFLICT unless `replace`. A FIFO that no
 * program reads is LOCI_EUNAVAILABLE. */
loci_status lc_publish_begin(lc_publish *publish, const char *path, bool replace, loci_error *err);
/* Appends to the file. */
loci_status lc_publish_write(lc_publish *publish, loci_str bytes, loci_error *err);
/* Closes the file, so that other code (SQLite) can write to its temporary path. */
void lc_publish_let_go(lc_publish *publish);
/* Syncs the file and gives it its final name. On failure the file is abandoned. */
loci_status lc_publish_finish(lc_publish *publish, loci_error *err);
/* Removes the temporary file, unless it was finished. May be called at any time after begin, and
 * twice. */
void lc_publish_abandon(lc_publish *publish);

/* A status for errno, naming the path and what to do. */
loci_status lc_fail_path(loci_error *err, const char *path, int error);

/* Whether two paths lead to one file, or would if it existed. `b` is absolute. */
bool lc_path_is_same(const char *a, const char *b);

#endif /* LC_STORE_PUBLISH_H */
