/* buf.h - a growing buffer of bytes.
 *
 * Appending returns no status: the first failure (no memory, or more than `bytes_max`) is kept,
 * later appends are ignored, and lc_buf_status() returns it at the end. So code that writes a long
 * text checks once, and cannot forget a check in between.
 */
#ifndef LC_BASE_BUF_H
#define LC_BASE_BUF_H

#include "base/heap.h"

#include <stdbool.h>

typedef struct lc_buf {
    lc_heap *heap;
    loci_category category;
    loci_status failure; /* LOCI_OK, LOCI_ERESOURCE or LOCI_ELIMIT; sticky until reset. */
    char *ptr;           /* Borrowed by readers until the next append. */
    size_t len;
    size_t capacity_bytes;
    size_t bytes_max; /* Maximum of `len`. */
} lc_buf;

void lc_buf_init(lc_buf *buf, lc_heap *heap, loci_category category, size_t bytes_max);
/* Frees the bytes; the buffer can be used again. Zeroed is fine. */
void lc_buf_clear(lc_buf *buf);
/* Forgets the content and any failure, keeps the memory. */
void lc_buf_reset(lc_buf *buf);
/* Cuts back to an earlier length. */
void lc_buf_truncate(lc_buf *buf, size_t len);

void lc_buf_append(lc_buf *buf, loci_str text);
void lc_buf_append_byte(lc_buf *buf, char byte);
void lc_buf_append_format(lc_buf *buf, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Room for `bytes` more at the end, or NULL; lc_buf_grew() then says how many were written. */
char *lc_buf_reserve(lc_buf *buf, size_t bytes);
void lc_buf_grew(lc_buf *buf, size_t bytes);

loci_status lc_buf_status(const lc_buf *buf, loci_error *err);
/* Appends a terminating NUL that is not included in `len`. NULL when the buffer failed. */
const char *lc_buf_terminate(lc_buf *buf);

static inline loci_str lc_buf_str(const lc_buf *buf)
{
    return (loci_str){buf->ptr, buf->len};
}

#endif /* LC_BASE_BUF_H */
