/* json_string.c - strings that hold more than plain ASCII.
 *
 * A string is checked to its end first, which also tells whether it can be borrowed; decoding its
 * escapes then cannot meet anything unexpected, and never makes it longer.
 */
#include "base/json_tree.h"

#include <string.h>

#include "base/utf8.h"

static const char ends_early[] = "the text ends too early";

static int hex_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

/* The four hexadecimal digits at `at`, or -1. */
static int hex4(const char *at, const char *end)
{
    int value = 0;

    if (end - at < 4)
        return -1;
    for (int i = 0; i < 4; i++) {
        int digit = hex_value(at[i]);

        if (digit < 0)
            return -1;
        value = value * 16 + digit;
    }
    return value;
}

static bool is_high_surrogate(int unit)
{
    return unit >= 0xD800 && unit <= 0xDBFF;
}

static bool is_low_surrogate(int unit)
{
    return unit >= 0xDC00 && unit <= 0xDFFF;
}

/* Bytes of the \u escape at `at`, or 0 and what is wrong with it. */
static size_t check_unicode(loci_str rest, unsigned flags, const char **out_flaw)
{
    const char *at = rest.ptr, *end = rest.ptr + rest.len;
    int unit = hex4(at + 2, end);

    if (unit < 0)
        *out_flaw = "expected four hexadecimal digits after \\u";
    else if (unit == 0 && (flags & LC_JSON_ALLOW_NUL) == 0)
        *out_flaw = "\\u0000 is not allowed in a string";
    else if (is_low_surrogate(unit))
        *out_flaw = "a low surrogate without a high one before it";
    else if (!is_high_surrogate(unit))
        return 6;
    else if (rest.len < 12 || at[6] != '\\' || at[7] != 'u' || !is_low_surrogate(hex4(at + 8, end)))
        *out_flaw = "a high surrogate without a low one after it";
    else
        return 12;
    return 0;
}

static size_t check_escape(loci_str rest, unsigned flags, const char **out_flaw)
{
    if (rest.len < 2) {
        *out_flaw = ends_early;
        return 0;
    }
    switch (rest.ptr[1]) {
    case '"':
    case '\\':
    case '/':
    case 'b':
    case 'f':
    case 'n':
    case 'r':
    case 't':
        return 2;
    case 'u':
        return check_unicode(rest, flags, out_flaw);
    default:
        *out_flaw = "expected one of \"\\/bfnrtu after a backslash";
        return 0;
    }
}

/* Bytes of the character or escape that `rest` begins with, or 0 and what is wrong with it. */
static size_t check_next(loci_str rest, unsigned flags, const char **out_flaw)
{
    size_t bytes;

    if (rest.ptr[0] == '\\')
        return check_escape(rest, flags, out_flaw);
    if ((unsigned char)rest.ptr[0] < 0x20) {
        *out_flaw = "a control character in a string must be escaped";
        return 0;
    }
    bytes = lc_utf8_char_bytes(rest.ptr, rest.ptr + rest.len);
    if (bytes == 0)
        *out_flaw = "this is not UTF-8";
    return bytes;
}

lc_json_string lc_json_check_string(loci_str rest, unsigned flags)
{
    const char *end = rest.ptr + rest.len;
    lc_json_string out = {.stop = rest.ptr};

    for (;;) {
        size_t bytes;

        out.stop = lc_json_scan(out.stop, end);
        if (out.stop == end) {
            out.flaw = ends_early;
            return out;
        }
        if (*out.stop == '"')
            return out;
        out.has_escape = out.has_escape || *out.stop == '\\';
        bytes = check_next((loci_str){out.stop, (size_t)(end - out.stop)}, flags, &out.flaw);
        if (bytes == 0)
            return out;
        out.stop += bytes;
    }
}

/* Decodes the checked \u escape at `*at`, moving behind it; returns the bytes written. */
static size_t decode_unicode(const char **at, const char *end, char *out)
{
    int unit = hex4(*at + 2, end);
    char bytes[4];
    size_t count;

    if (is_high_surrogate(unit)) {
        unit = 0x10000 + ((unit - 0xD800) << 10) + (hex4(*at + 8, end) - 0xDC00);
        *at += 6;
    }
    *at += 6;
    count = lc_utf8_encode((uint32_t)unit, bytes);
    memcpy(out, bytes, count);
    return count;
}

static char decode_letter(char letter)
{
    switch (letter) {
    case 'b':
        return '\b';
    case 'f':
        return '\f';
    case 'n':
        return '\n';
    case 'r':
        return '\r';
    case 't':
        return '\t';
    default:
        return letter;
    }
}

loci_str lc_json_decode_string(lc_arena *arena, loci_str raw)
{
    char *text = lc_arena_alloc(arena, raw.len);
    char *to = text;
    const char *at = raw.ptr, *end = raw.ptr + raw.len;

    if (text == NULL)
        return (loci_str){NULL, 0};
    while (at < end) {
        const char *escape = memchr(at, '\\', (size_t)(end - at));
        size_t plain = (size_t)((escape != NULL ? escape : end) - at);

        memcpy(to, at, plain);
        to += plain;
        at += plain;
        if (escape == NULL)
            break;
        if (at[1] == 'u') {
            to += decode_unicode(&at, end, to);
        } else {
            *to++ = decode_letter(at[1]);
            at += 2;
        }
    }
    return (loci_str){text, (size_t)(to - text)};
}
