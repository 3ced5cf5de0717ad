/* log.c - one record is one JSON object, built in a fixed buffer: logging never allocates and so
 * works when memory has run out. A field that does not fit is left out. */
#include "base/log.h"

#include <stdio.h>
#include <string.h>

#include "base/json_tree.h"
#include "base/number.h"
#include "base/utf8.h"

#define RECORD_BYTES 2048
#define TEXT_BYTES_MAX 512

typedef struct record {
    char text[RECORD_BYTES];
    size_t len;
} record;

static void add(record *out, const char *text, size_t len)
{
    if (len == 0 || len >= sizeof out->text - out->len)
        return;
    memcpy(out->text + out->len, text, len);
    out->len += len;
}

static bool is_plain(unsigned char c)
{
    return c >= 0x20 && c < 0x7F && c != '"' && c != '\\';
}

/* Runs of characters that need no escape are copied together. */
static void add_escaped(record *out, loci_str text)
{
    size_t at = 0;

    while (at < text.len) {
        size_t begin = at;
        unsigned char c;
        char escaped[8];

        while (at < text.len && (is_plain((unsigned char)text.ptr[at]) || text.ptr[at] < 0))
            at++;
        add(out, text.ptr + begin, at - begin);
        if (at == text.len)
            return;
        c = (unsigned char)text.ptr[at++];
        if (c == '"' || c == '\\')
            add(out, (char[]){'\\', (char)c}, 2);
        else
            add(out, escaped, (size_t)snprintf(escaped, sizeof escaped, "\\u%04x", c));
    }
}

static void add_quoted(record *out, loci_str text)
{
    bool is_all_plain = text.len == 0 ||
                        (text.len <= TEXT_BYTES_MAX &&
                         lc_json_scan(text.ptr, text.ptr + text.len) == text.ptr + text.len &&
                         memchr(text.ptr, 0x7F, text.len) == NULL);

    add(out, "\"", 1);
    if (is_all_plain) {
        add(out, text.ptr, text.len);
    } else {
        text.len = lc_utf8_cut(text, TEXT_BYTES_MAX);
        if (lc_utf8_is_valid(text))
            add_escaped(out, text);
    }
    add(out, "\"", 1);
}

static void add_value(record *out, const lc_field *field)
{
    char text[LC_NUMBER_BYTES_MAX + 16];

    switch (field->kind) {
    case LC_FIELD_TEXT:
        add_quoted(out, field->text);
        break;
    case LC_FIELD_INT:
        add(out, text, lc_number_format_i64(field->number, text));
        break;
    case LC_FIELD_SECRET:
        add(out, "\"***\"", 5);
        break;
    case LC_FIELD_USER_TEXT:
        add(out, text, (size_t)snprintf(text, sizeof text, "\"[%zu bytes]\"", field->text.len));
        break;
    }
}

void lc_log_fields(const lc_log *log, loci_log_level level, const char *event, size_t count,
                   const lc_field *fields)
{
    record out;

    if (log == NULL || log->write == NULL || level < log->level_min)
        return;
    out.len = 0;
    add(&out, "{", 1);
    for (size_t i = 0; i < count; i++) {
        size_t before = out.len;

        if (out.len > 1)
            add(&out, ",", 1);
        add(&out, "\"", 1);
        add(&out, fields[i].name, strlen(fields[i].name)); /* Needs no escapes. */
        add(&out, "\":", 2);
        add_value(&out, &fields[i]);
        if (out.len > sizeof out.text - 64) /* Perhaps cut within: take the field out again. */
            out.len = before;
    }
    add(&out, "}", 1);
    log->write(log->ctx, level, event, (loci_str){out.text, out.len});
}
