/* trace.c - the format of traceparent as in https://www.w3.org/TR/trace-context/. */
#include "base/trace.h"

#include "base/str.h"

#define VERSION_AT 0
#define TRACE_AT 3
#define PARENT_AT 36
#define FLAGS_AT 53
#define TOTAL_BYTES 55
#define TRACE_BYTES 32
#define PARENT_BYTES 16
#define BYTES_MAX 512 /* Of a later version with more fields. */

static bool is_hex(loci_str text, size_t at, size_t count)
{
    for (size_t i = at; i < at + count; i++) {
        char c = text.ptr[i];

        if (!(c >= '0' && c <= '9') && !(c >= 'a' && c <= 'f'))
            return false;
    }
    return true;
}

static bool is_zero(loci_str text, size_t at, size_t count)
{
    for (size_t i = at; i < at + count; i++) {
        if (text.ptr[i] != '0')
            return false;
    }
    return true;
}

/* The fields of a later version must be printable, as in a header. */
static bool is_visible(loci_str text, size_t at)
{
    for (size_t i = at; i < text.len; i++) {
        if (text.ptr[i] <= ' ' || text.ptr[i] > '~')
            return false;
    }
    return true;
}

bool lc_trace_is_parent(loci_str text)
{
    bool is_version_0;

    if (text.len < TOTAL_BYTES || text.len > BYTES_MAX || !is_hex(text, VERSION_AT, 2) ||
        memcmp(text.ptr, "ff", 2) == 0)
        return false;
    is_version_0 = memcmp(text.ptr, "00", 2) == 0;
    if (text.ptr[TRACE_AT - 1] != '-' || text.ptr[PARENT_AT - 1] != '-' ||
        text.ptr[FLAGS_AT - 1] != '-')
        return false;
    if (text.len > TOTAL_BYTES &&
        (is_version_0 || text.ptr[TOTAL_BYTES] != '-' || !is_visible(text, TOTAL_BYTES)))
        return false;
    return is_hex(text, TRACE_AT, TRACE_BYTES) && !is_zero(text, TRACE_AT, TRACE_BYTES) &&
           is_hex(text, PARENT_AT, PARENT_BYTES) && !is_zero(text, PARENT_AT, PARENT_BYTES) &&
           is_hex(text, FLAGS_AT, 2);
}

loci_str lc_trace_id(loci_str traceparent)
{
    return (loci_str){traceparent.ptr + TRACE_AT, TRACE_BYTES};
}
