/* normalise.c - utf8proc decomposes into an array from the heap and composes it in place, so that
 * it allocates nothing itself.
 *
 * Folding takes two rounds. Case folding turns one combining mark (U+0345) into a letter, which
 * then stops the reordering of marks; in text that is in NFKC already it is the last of the marks,
 * so that canonically equal texts fold to equal ones.
 */
#include "text/normalise.h"

#include <string.h>
#include <utf8proc.h>

#include "base/error.h"
#include "base/utf8.h"

#define NFC (UTF8PROC_STABLE | UTF8PROC_COMPOSE)
#define NFKC (NFC | UTF8PROC_COMPAT)
#define FOLD (NFKC | UTF8PROC_CASEFOLD | UTF8PROC_IGNORE)

bool lc_text_is_ascii(loci_str text)
{
    uint64_t bits = 0;
    size_t at = 0;

    for (; text.len - at >= sizeof bits; at += sizeof bits) {
        memcpy(&bits, text.ptr + at, sizeof bits);
        if ((bits & UINT64_C(0x8080808080808080)) != 0)
            return false;
    }
    for (; at < text.len; at++) {
        if ((text.ptr[at] & 0x80) != 0)
            return false;
    }
    return true;
}

static void append_code_points(lc_buf *out, const int32_t *code_points, size_t count)
{
    size_t bytes = 0;
    char unit[4];
    char *at;

    for (size_t i = 0; i < count; i++)
        bytes += lc_utf8_encode((uint32_t)code_points[i], unit);
    at = lc_buf_reserve(out, bytes);
    if (at == NULL)
        return;
    for (size_t i = 0; i < count; i++) {
        size_t wrote = lc_utf8_encode((uint32_t)code_points[i], unit);

        memcpy(at, unit, wrote);
        at += wrote;
    }
    lc_buf_grew(out, bytes);
}

static loci_status map_text(loci_str text, int options, lc_buf *out, loci_error *err)
{
    /* A text rarely has more code points than bytes; then utf8proc returns the number. */
    size_t capacity = text.len + 16;
    loci_status status = LOCI_OK;

    for (;;) {
        int32_t *code_points = lc_heap_alloc(out->heap, capacity * sizeof *code_points,
                                             out->category);
        utf8proc_ssize_t count;
        size_t needed;

        if (code_points == NULL)
            return lc_fail_memory(err);
        count = utf8proc_decompose((const utf8proc_uint8_t *)text.ptr, (utf8proc_ssize_t)text.len,
                                   code_points, (utf8proc_ssize_t)capacity,
                                   (utf8proc_option_t)options);
        needed = count < 0 ? 0 : (size_t)count;
        if (count >= 0 && needed <= capacity) {
            count = utf8proc_normalize_utf32(code_points, count, (utf8proc_option_t)options);
            if (count >= 0)
                append_code_points(out, code_points, (size_t)count);
        }
        lc_heap_free(out->heap, code_points, capacity * sizeof *code_points, out->category);
        if (count < 0)
            status = lc_fail(err, LOCI_EINVAL, "the text is not valid UTF-8");
        else if (needed <= capacity)
            status = lc_buf_status(out, err);
        if (needed <= capacity)
            return status;
        capacity = needed;
    }
}

static loci_status compose(loci_str text, int options, lc_buf *out, loci_error *err)
{
    if (!lc_text_is_ascii(text))
        return map_text(text, options, out, err);
    lc_buf_append(out, text);
    return lc_buf_status(out, err);
}

loci_status lc_text_nfc(loci_str text, lc_buf *out, loci_error *err)
{
    return compose(text, NFC, out, err);
}

loci_status lc_text_nfkc(loci_str text, lc_buf *out, loci_error *err)
{
    return compose(text, NFKC, out, err);
}

static loci_status lower_ascii(loci_str text, lc_buf *out, loci_error *err)
{
    char *at = lc_buf_reserve(out, text.len);

    if (at != NULL) {
        for (size_t i = 0; i < text.len; i++)
            at[i] = lc_ascii_lower(text.ptr[i]);
        lc_buf_grew(out, text.len);
    }
    return lc_buf_status(out, err);
}

loci_status lc_text_fold(loci_str text, lc_buf *out, loci_error *err)
{
    lc_buf composed;
    loci_status status;

    if (lc_text_is_ascii(text))
        return lower_ascii(text, out, err);
    lc_buf_init(&composed, out->heap, out->category, SIZE_MAX);
    status = map_text(text, NFKC, &composed, err);
    if (status == LOCI_OK)
        status = map_text(lc_buf_str(&composed), FOLD, out, err);
    lc_buf_clear(&composed);
    return status;
}
