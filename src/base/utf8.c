/* utf8.c - Most text is ASCII, so it is skipped 32 bytes at a time; the rest goes through one table
 * of Unicode 15, table 3-7: the bytes allowed after each lead byte. Overlong forms, surrogates and
 * code points above U+10FFFF differ from valid text in that second byte alone.
 */
#include "base/utf8.h"

#include <string.h>

#include "base/assert.h"

#define HIGH_BITS UINT64_C(0x8080808080808080)

static bool is_tail(unsigned char byte)
{
    return (byte & 0xC0) == 0x80;
}

static bool is_second(unsigned char lead, unsigned char second)
{
    switch (lead) {
    case 0xE0:
        return second >= 0xA0 && second <= 0xBF; /* Below: overlong. */
    case 0xED:
        return second >= 0x80 && second <= 0x9F; /* Above: surrogates. */
    case 0xF0:
        return second >= 0x90 && second <= 0xBF; /* Below: overlong. */
    case 0xF4:
        return second >= 0x80 && second <= 0x8F; /* Above: beyond U+10FFFF. */
    default:
        return is_tail(second);
    }
}

size_t lc_utf8_char_bytes(const char *at, const char *end)
{
    const unsigned char *byte = (const unsigned char *)at;
    size_t left = (size_t)(end - at);
    size_t bytes;

    if (byte[0] < 0x80)
        return 1;
    if (byte[0] < 0xC2 || byte[0] > 0xF4)
        return 0;
    bytes = byte[0] < 0xE0 ? 2 : byte[0] < 0xF0 ? 3 : 4;
    if (left < bytes || !is_second(byte[0], byte[1]))
        return 0;
    if (bytes > 2 && !is_tail(byte[2]))
        return 0;
    if (bytes > 3 && !is_tail(byte[3]))
        return 0;
    return bytes;
}

/* The first byte of the first block that is not all ASCII, or of the rest that fills no block. */
static const char *skip_ascii_blocks(const char *at, const char *end)
{
    uint64_t block[4];

    while ((size_t)(end - at) >= sizeof block) {
        memcpy(block, at, sizeof block);
        if (((block[0] | block[1] | block[2] | block[3]) & HIGH_BITS) != 0)
            break;
        at += sizeof block;
    }
    return at;
}

bool lc_utf8_is_valid(loci_str text)
{
    const char *at = text.ptr;
    const char *end = text.len > 0 ? text.ptr + text.len : text.ptr; /* NULL is fine. */

    while (at < end) {
        const char *block_end;

        at = skip_ascii_blocks(at, end);
        block_end = end - at > 32 ? at + 32 : end;
        while (at < block_end) {
            size_t bytes = lc_utf8_char_bytes(at, end);

            if (bytes == 0)
                return false;
            at += bytes;
        }
    }
    return true;
}

size_t lc_utf8_count(loci_str text)
{
    size_t count = 0;

    for (size_t i = 0; i < text.len; i++)
        count += !is_tail((unsigned char)text.ptr[i]);
    return count;
}

size_t lc_utf8_cut(loci_str text, size_t bytes_max)
{
    size_t bytes = bytes_max;

    if (text.len <= bytes_max)
        return text.len;
    while (bytes > 0 && is_tail((unsigned char)text.ptr[bytes]))
        bytes--;
    return bytes;
}

size_t lc_utf8_encode(uint32_t code_point, char out[4])
{
    LC_ASSERT(code_point <= 0x10FFFF);
    LC_ASSERT(code_point < 0xD800 || code_point > 0xDFFF);

    if (code_point < 0x80) {
        out[0] = (char)code_point;
        return 1;
    }
    if (code_point < 0x800) {
        out[0] = (char)(0xC0 | code_point >> 6);
        out[1] = (char)(0x80 | (code_point & 0x3F));
        return 2;
    }
    if (code_point < 0x10000) {
        out[0] = (char)(0xE0 | code_point >> 12);
        out[1] = (char)(0x80 | (code_point >> 6 & 0x3F));
        out[2] = (char)(0x80 | (code_point & 0x3F));
        return 3;
    }
    out[0] = (char)(0xF0 | code_point >> 18);
    out[1] = (char)(0x80 | (code_point >> 12 & 0x3F));
    out[2] = (char)(0x80 | (code_point >> 6 & 0x3F));
    out[3] = (char)(0x80 | (code_point & 0x3F));
    return 4;
}
