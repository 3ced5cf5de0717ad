#include "base/base64.h"

#include <string.h>

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/* 0 … 63, or -1. */
static int digit_of(char c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

bool lc_base64_read(loci_str text, void *out, size_t bytes)
{
    unsigned char *at = out;
    size_t digit_count = (bytes * 4 + 2) / 3; /* Without the padding. */
    unsigned pending = 0;
    int bits = 0;

    if (text.len != (bytes + 2) / 3 * 4)
        return false;
    for (size_t i = 0; i < digit_count; i++) {
        int digit = digit_of(text.ptr[i]);

        if (digit < 0)
            return false;
        pending = (pending << 6 | (unsigned)digit) & 0xFFFF;
        bits += 6;
        if (bits >= 8) {
            bits -= 8;
            *at++ = (unsigned char)(pending >> bits);
        }
    }
    for (size_t i = digit_count; i < text.len; i++) {
        if (text.ptr[i] != '=')
            return false;
    }
    return (pending & ((1u << bits) - 1)) == 0;
}

void lc_base64_append(lc_buf *out, const void *data, size_t bytes)
{
    const unsigned char *in = data;
    size_t len = (bytes + 2) / 3 * 4;
    char *at = lc_buf_reserve(out, len);

    if (at == NULL)
        return;
    for (size_t i = 0; i < bytes; i += 3) {
        size_t left = bytes - i;
        unsigned three = (unsigned)in[i] << 16 | (left > 1 ? (unsigned)in[i + 1] << 8 : 0) |
                         (left > 2 ? in[i + 2] : 0);

        *at++ = digits[three >> 18];
        *at++ = digits[three >> 12 & 63];
        *at++ = left > 1 ? digits[three >> 6 & 63] : '=';
        *at++ = left > 2 ? digits[three & 63] : '=';
    }
    lc_buf_grew(out, len);
}
