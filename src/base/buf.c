/* buf.c - Invariants: len <= capacity_bytes, len <= bytes_max; after a failure nothing changes. */
#include "base/buf.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "base/error.h"

#define FIRST_CAPACITY_BYTES 1024

void lc_buf_init(lc_buf *buf, lc_heap *heap, loci_category category, size_t bytes_max)
{
    *buf = (lc_buf){.heap = heap, .category = category, .bytes_max = bytes_max};
}

void lc_buf_clear(lc_buf *buf)
{
    if (buf->ptr != NULL)
        lc_heap_free(buf->heap, buf->ptr, buf->capacity_bytes, buf->category);
    buf->ptr = NULL;
    buf->capacity_bytes = 0;
    lc_buf_reset(buf);
}

void lc_buf_reset(lc_buf *buf)
{
    buf->len = 0;
    buf->failure = LOCI_OK;
}

void lc_buf_truncate(lc_buf *buf, size_t len)
{
    LC_ASSERT(len <= buf->len);
    buf->len = len;
}

/* Makes room for `bytes` more, whether or not they may become content. */
static bool make_room(lc_buf *buf, size_t bytes)
{
    size_t capacity = buf->capacity_bytes;
    char *block;

    if (bytes <= capacity - buf->len)
        return true;
    if (bytes > PTRDIFF_MAX / 4 - buf->len) { /* Doubling must not overflow. */
        buf->failure = LOCI_ERESOURCE;
        return false;
    }

    if (capacity == 0)
        capacity = FIRST_CAPACITY_BYTES;
    while (capacity - buf->len < bytes)
        capacity *= 2;
    block = lc_heap_resize(buf->heap, buf->ptr, buf->capacity_bytes, capacity, buf->category);
    if (block == NULL) {
        buf->failure = LOCI_ERESOURCE;
        return false;
    }
    buf->ptr = block;
    buf->capacity_bytes = capacity;
    return true;
}

/* Makes room for `bytes` of content and `spare` bytes behind it; false after a failure, new or old.
 */
static bool grow(lc_buf *buf, size_t bytes, size_t spare)
{
    if (buf->failure != LOCI_OK)
        return false;
    if (bytes > buf->bytes_max - buf->len) {
        buf->failure = LOCI_ELIMIT;
        return false;
    }
    return make_room(buf, bytes + spare);
}

char *lc_buf_reserve(lc_buf *buf, size_t bytes)
{
    /* Zero bytes still need an address: NULL would look like a failure. */
    return grow(buf, bytes, bytes == 0) ? buf->ptr + buf->len : NULL;
}

void lc_buf_grew(lc_buf *buf, size_t bytes)
{
    LC_ASSERT(bytes <= buf->capacity_bytes - buf->len);
    buf->len += bytes;
}

void lc_buf_append(lc_buf *buf, loci_str text)
{
    if (text.len == 0 || !grow(buf, text.len, 0))
        return;
    memcpy(buf->ptr + buf->len, text.ptr, text.len);
    buf->len += text.len;
}

void lc_buf_append_byte(lc_buf *buf, char byte)
{
    if (!grow(buf, 1, 0))
        return;
    buf->ptr[buf->len++] = byte;
}

void lc_buf_append_format(lc_buf *buf, const char *format, ...)
{
    va_list list;
    int needed;

    va_start(list, format);
    needed = vsnprintf(NULL, 0, format, list);
    va_end(list);
    LC_ASSERT(needed >= 0);
    if (!grow(buf, (size_t)needed, 1)) /* vsnprintf wants room for its NUL. */
        return;
    va_start(list, format);
    (void)vsnprintf(buf->ptr + buf->len, (size_t)needed + 1, format, list); /* Measured above. */
    va_end(list);
    buf->len += (size_t)needed;
}

loci_status lc_buf_status(const lc_buf *buf, loci_error *err)
{
    if (buf->failure == LOCI_OK)
        return LOCI_OK;
    if (buf->failure == LOCI_ELIMIT)
        return lc_fail(err, LOCI_ELIMIT, "text is longer than %zu bytes", buf->bytes_max);
    return lc_fail_memory(err);
}

const char *lc_buf_terminate(lc_buf *buf)
{
    if (!grow(buf, 0, 1)) /* The NUL is not content. */
        return NULL;
    buf->ptr[buf->len] = '\0';
    return buf->ptr;
}
