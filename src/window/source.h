/* source.h - the content of resources: reading, counting and summarising it.
 *
 * Files are read below the allowed roots only. A path is walked one name at a time from the open
 * root, without following any symbolic link and without `..`, so the file that is read is below the
 * root even if names are replaced while it is opened. Content is read in blocks: it is hashed,
 * counted and summarised without being held in memory, unless the caller wants the text.
 *
 * The summary is an extract: the beginning and the end of the text, at most
 * LC_SUMMARY_TOKENS_MAX tokens. The same content has the same summary.
 *
 * Nothing here uses the store; callers read before their transaction.
 */
#ifndef LC_WINDOW_SOURCE_H
#define LC_WINDOW_SOURCE_H

#include "text/tokenizer.h"
#include "window/window.h"

#define LC_SUMMARY_TOKENS_MAX 100
#define LC_SOURCE_TEXT_BYTES_MAX (8 * 1024 * 1024) /* A file that is returned in full. */
#define LC_SOURCE_FILE_BYTES_MAX (INT64_C(4) << 30)

typedef struct lc_source_reader {
    const lc_tokenizer *tokenizer;
    lc_arena *arena;
    loci_str roots;  /* Absolute paths, separated by colons; "" = none. */
    bool wants_text; /* lc_resource_content.text is wanted. */
    /* Called now and then: not LOCI_OK (the deadline, a cancelled call) ends the work. May be
     * NULL. */
    loci_status (*pause)(void *ctx, loci_error *err);
    void *pause_ctx;
} lc_source_reader;

/* Checks that `path` is an existing file below a root, and writes its URI, file:///… A relative
 * path is searched for in each root. LOCI_EFORBIDDEN outside the roots, LOCI_ENOTFOUND if there is
 * no such file, LOCI_EINVAL if it is not a plain file. */
loci_status lc_source_find_file(const lc_source_reader *reader, loci_str path, loci_str *out_uri,
                                loci_error *err);

/* Identifies the version of a file without reading it. */
typedef struct lc_source_stamp {
    int64_t bytes;
    int64_t modified_at;
} lc_source_stamp;
/* LOCI_EUNAVAILABLE if it cannot be opened. */
loci_status lc_source_stamp_file(const lc_source_reader *reader, loci_str uri, lc_source_stamp *out,
                                 loci_error *err);

/* Reads the file of a URI file:///… LOCI_EUNAVAILABLE if it is gone or cannot be read,
 * LOCI_EUNSUPPORTED if it is not text in UTF-8, LOCI_ELIMIT if it is too large. */
loci_status lc_source_read_file(const lc_source_reader *reader, loci_str uri,
                                lc_resource_content *out, loci_error *err);
/* The same for a text in memory. */
loci_status lc_source_read_text(const lc_source_reader *reader, loci_str text,
                                lc_resource_content *out, loci_error *err);

#endif /* LC_WINDOW_SOURCE_H */
