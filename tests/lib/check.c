/* check.c - the comparisons behind CHECK_*: each prints both values. */
#include "lib/test.h"

#include <stdio.h>
#include <string.h>

/* Longer texts are cut in messages; a golden file shows the rest better. */
#define SHOWN_BYTES_MAX 400

test_int test_int_signed(long long value)
{
    return (test_int){.is_negative = value < 0, .bits = (uint64_t)value};
}

test_int test_int_unsigned(unsigned long long value)
{
    return (test_int){.bits = value};
}

loci_str test_str_same(loci_str value)
{
    return value;
}

loci_str test_str_terminated(const char *value)
{
    return (loci_str){value, value == NULL ? 0 : strlen(value)};
}

const char *test_message_of_value(loci_error err)
{
    return test_format("%s %s", err.message, err.data);
}

const char *test_message_of_pointer(const loci_error *err)
{
    return err == NULL ? "(none)" : test_format("%s %s", err->message, err->data);
}

static int compare_ints(test_int a, test_int b)
{
    if (a.is_negative != b.is_negative)
        return a.is_negative ? -1 : 1;
    return a.bits < b.bits ? -1 : a.bits > b.bits;
}

static const char *show_int(test_int value)
{
    if (value.is_negative)
        return test_format("%lld", (long long)value.bits);
    if (value.bits > 9)
        return test_format("%llu (0x%llx)", (unsigned long long)value.bits,
                           (unsigned long long)value.bits);
    return test_format("%llu", (unsigned long long)value.bits);
}

void test_check_int(test_site site, test_int a, test_op op, test_int b)
{
    int order = compare_ints(a, b);
    bool holds = false;

    switch (op) {
    case TEST_EQ:
        holds = order == 0;
        break;
    case TEST_NE:
        holds = order != 0;
        break;
    case TEST_LT:
        holds = order < 0;
        break;
    case TEST_LE:
        holds = order <= 0;
        break;
    }
    if (!holds)
        test_fail(site.file, site.line, "%s\n    left:  %s\n    right: %s", site.text, show_int(a),
                  show_int(b));
}

/* Quoted, with everything unprintable as \xNN; UTF-8 is left as it is. */
static const char *show_text(loci_str text)
{
    char shown[SHOWN_BYTES_MAX * 4 + 64];
    size_t at = 0;

    if (text.ptr == NULL)
        return "(null)";
    shown[at++] = '"';
    for (size_t i = 0; i < text.len && i < SHOWN_BYTES_MAX; i++) {
        unsigned char c = (unsigned char)text.ptr[i];

        if (c == '\n')
            at += (size_t)snprintf(shown + at, 5, "\\n");
        else if (c < 0x20 || c == 0x7F)
            at += (size_t)snprintf(shown + at, 5, "\\x%02x", c);
        else
            shown[at++] = (char)c;
    }
    shown[at++] = '"';
    shown[at] = '\0';
    if (text.len > SHOWN_BYTES_MAX)
        return test_format("%s... (%zu bytes)", shown, text.len);
    return test_format("%s", shown);
}

static bool same_bytes(const void *a, size_t a_bytes, const void *b, size_t b_bytes)
{
    return a_bytes == b_bytes && (a_bytes == 0 || memcmp(a, b, a_bytes) == 0);
}

void test_check_str(test_site site, loci_str a, loci_str b)
{
    if (!same_bytes(a.ptr, a.len, b.ptr, b.len) || (a.ptr == NULL) != (b.ptr == NULL)) {
        /* An empty text may have any pointer, NULL included. */
        if (a.len == 0 && b.len == 0)
            return;
        test_fail(site.file, site.line, "%s\n    left:  %s\n    right: %s", site.text, show_text(a),
                  show_text(b));
    }
}

void test_check_contains(test_site site, loci_str text, loci_str part)
{
    if (part.len > 0 && (text.len == 0 || memmem(text.ptr, text.len, part.ptr, part.len) == NULL))
        test_fail(site.file, site.line, "%s\n    text: %s\n    part: %s", site.text,
                  show_text(text), show_text(part));
}

static const char *show_bytes(const unsigned char *bytes, size_t count, size_t from)
{
    char shown[3 * 16 + 1] = "";
    size_t at = 0;

    for (size_t i = from; i < count && i < from + 16; i++)
        at += (size_t)snprintf(shown + at, 4, "%02x ", bytes[i]);
    return test_format("%zu bytes, from %zu: %s", count, from, shown);
}

void test_check_bytes(test_site site, const void *a, size_t a_bytes, const void *b, size_t b_bytes)
{
    const unsigned char *left = a;
    const unsigned char *right = b;
    size_t from = 0;

    if (same_bytes(a, a_bytes, b, b_bytes))
        return;
    while (from < a_bytes && from < b_bytes && left[from] == right[from])
        from++;
    test_fail(site.file, site.line, "%s\n    left:  %s\n    right: %s", site.text,
              show_bytes(left, a_bytes, from), show_bytes(right, b_bytes, from));
}

void test_check_status(test_site site, loci_status expected, loci_status actual)
{
    if (expected != actual)
        test_fail(site.file, site.line, "%s\n    expected: %s\n    actual:   %s", site.text,
                  loci_status_name(expected), loci_status_name(actual));
}
