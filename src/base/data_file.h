/* data_file.h - finds, reads and checks the large read-only tables that script/setup installs.
 *
 * Each is one file whose content is used as it is: ranks of a tokenizer, weights of an encoder. It
 * begins with a header that names its kind and the version of its layout, which the writers
 * (tools/data/) and the readers agree on. A file that is missing, cut, damaged or of another
 * version is a plain error: loci works without the file, and reports that it is missing. Changes to
 * a file after it was opened have no effect, because it was copied.
 */
#ifndef LC_BASE_DATA_FILE_H
#define LC_BASE_DATA_FILE_H

#include "loci.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#define LC_DATA_PATH_BYTES 4096

/* The first 64 bytes of every data file; numbers are little-endian. */
typedef struct lc_data_header {
    char magic[8];       /* "lociDATA" */
    char kind[16];       /* Such as "tokens" or "encoder", padded with NULs. */
    uint32_t version;    /* Of the layout behind the header. */
    uint32_t reserved;   /* 0 */
    uint64_t body_bytes; /* All that follows the header. */
    uint8_t digest[16];  /* First half of the SHA-256 of the body, checked by the engine. */
    uint8_t padding[8];  /* 0 */
} lc_data_header;

_Static_assert(sizeof(lc_data_header) == 64, "the body begins at a cache line");

/* The kind and version that a reader expects. */
typedef struct lc_data_kind {
    const char *name;
    uint32_t version;
} lc_data_kind;

/* Identifies a file and its version. */
typedef struct lc_data_identity {
    dev_t device;
    ino_t inode;
    off_t bytes;
    struct timespec modified, changed;
} lc_data_identity;

bool lc_data_identity_eq(const lc_data_identity *a, const lc_data_identity *b);

/* A copy of a file; zeroed = no file. Its memory is not from a heap (base/heap.h). */
typedef struct lc_data_file {
    const lc_data_header *header;
    const uint8_t *body;
    size_t body_bytes;
    lc_data_identity identity;
} lc_data_file;

/* Reads the file at `path` and checks its header: its kind, its version, its length.
 * LOCI_ENOTFOUND if it does not exist, LOCI_ECORRUPT if the header is wrong. */
loci_status lc_data_file_open(const lc_data_kind *kind, const char *path, lc_data_file *out,
                              loci_error *err);
/* The same for the header alone. */
loci_status lc_data_file_peek(const lc_data_kind *kind, const char *path, lc_data_header *out,
                              loci_error *err);
/* Twice is fine. */
void lc_data_file_close(lc_data_file *file);

/* Finds the path of `name`: in `dir` if that is given (not empty), else in the first of these
 * folders that has it: share/loci, ../share/loci and ../../share/loci from the running program, the
 * same from the library that this code is in, and the folder that was compiled in. LOCI_ENOTFOUND
 * names the command that installs it. */
loci_status lc_data_file_find(loci_str dir, const char *name, char out[LC_DATA_PATH_BYTES],
                              loci_error *err);

#endif /* LC_BASE_DATA_FILE_H */
