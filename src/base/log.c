/* log.c - one record is one JSON object, built in a fixed buffer: logging never allocates and so
 * works when memory has run out. A field that does not fit is left out. */
#include "base/log.h"

#include <stdio.h>
#include <string.h>

#include "base/utf8.h"

#define RECORD_BYTES 2048
#define TEXT_BYTES_MAX 512

typedef struct record {
    char text[RECORD_BYTES];
    size_t len;
} record;

static void add(record *out, const char *text, size_t len)
{
    if (len >= sizeof out->text - out->len)
        return;
    memcpy(out->text + out->len, text, len);
    out->len += len;
}

static void add_quoted(record *out, loci_str text)
{
    size_t len = lc_utf8_cut(text, TEXT_BYTES_MAX);

    add(out, "\"", 1);
    if (!lc_utf8_is_valid((loci_str){text.ptr, len}))
        len = 0;
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)text.ptr[i];
        char escaped[8];

        if (c == '"' || c == '\\')
            add(out, (char[]){'\\', (char)c}, 2);
        else if (c < 0x20 || c == 0x7F)
            add(out, escaped, (size_t)snprintf(escaped, sizeof escaped, "\\u%04x", c));
        else
            add(out, text.ptr + i, 1);
    }
    add(out, "\"", 1);
}

static void add_value(record *out, const lc_field *field)
{
    char text[48];

    switch (field->kind) {
    case LC_FIELD_TEXT:
        add_quoted(out, field->text);
        break;
    case LC_FIELD_INT:
        add(out, text, (size_t)snprintf(text, sizeof text, "%lld", (long long)field->number));
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
    record out = {.len = 0};

    if (log == NULL || log->write == NULL || level < log->level_min)
        return;
    add(&out, "{", 1);
    for (size_t i = 0; i < count; i++) {
        size_t before = out.len;

        if (out.len > 1)
            add(&out, ",", 1);
        add_quoted(&out, loci_str_of(fields[i].name));
        add(&out, ":", 1);
        add_value(&out, &fields[i]);
        if (out.len > sizeof out.text - 64) /* Perhaps cut within: take the field out again. */
            out.len = before;
    }
    add(&out, "}", 1);
    log->write(log->ctx, level, event, (loci_str){out.text, out.len});
}
