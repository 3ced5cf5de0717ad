/* problems.c - sentences are made safe when they are added: names out of a damaged store may be any
 * bytes, and what is listed here goes into JSON and onto terminals. */
#include "store/problems.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/str.h"
#include "base/utf8.h"

/* Drops a character that was cut in the middle. */
static void drop_torn_tail(char *text)
{
    size_t len = strlen(text);
    size_t start = len;

    while (start > 0 && ((unsigned char)text[start - 1] & 0xC0) == 0x80)
        start--;
    if (start == 0 || (unsigned char)text[start - 1] < 0xC0)
        return;
    if (!lc_utf8_is_valid((loci_str){text + start - 1, len - start + 1}))
        text[start - 1] = '\0';
}

static void clean(char *text)
{
    bool is_valid = lc_utf8_is_valid(loci_str_of(text));

    for (; *text != '\0'; text++) {
        unsigned char c = (unsigned char)*text;

        if (c < 0x20 || c == 0x7F || (c >= 0x80 && !is_valid))
            *text = '?';
    }
}

void lc_problems_add(lc_problems *problems, const char *format, ...)
{
    va_list list;
    char *text;
    int needed;

    if (problems->count++ >= LC_PROBLEMS_MAX)
        return;
    text = problems->text[problems->count - 1];
    va_start(list, format);
    needed = vsnprintf(text, LC_PROBLEM_BYTES, format, list);
    va_end(list);
    if (needed >= LC_PROBLEM_BYTES)
        drop_torn_tail(text);
    clean(text);
}

/* Appends `text` as a JSON string; false, leaving `*len` alone, when it does not fit. */
static bool append_json(char *out, size_t *len, size_t max, const char *text)
{
    size_t at = *len;

    if (at + 2 > max)
        return false;
    out[at++] = '"';
    for (; *text != '\0'; text++) {
        if (at + 4 > max)
            return false;
        if (*text == '"' || *text == '\\')
            out[at++] = '\\';
        out[at++] = *text;
    }
    out[at++] = '"';
    *len = at;
    return true;
}

loci_status lc_problems_status(const lc_problems *problems, loci_error *err)
{
    char data[LOCI_ERROR_DATA_BYTES];
    size_t room = sizeof data - 2; /* For "]}". */
    size_t len;

    if (problems->count == 0)
        return LOCI_OK;

    len = (size_t)snprintf(data, sizeof data, "{\"count\":%lld,\"problems\":[",
                           (long long)problems->count);
    for (int i = 0; i < problems->count && i < LC_PROBLEMS_MAX; i++) {
        size_t before = len;

        if (i > 0)
            data[len++] = ',';
        if (!append_json(data, &len, room - 1, problems->text[i])) {
            len = before;
            break;
        }
    }
    memcpy(data + len, "]}", 2);
    (void)lc_fail(err, LOCI_ECORRUPT, "%lld problem%s, first: %s", (long long)problems->count,
                  problems->count == 1 ? "" : "s", problems->text[0]);
    lc_error_set_data(err, (loci_str){data, len + 2});
    return LOCI_ECORRUPT;
}
