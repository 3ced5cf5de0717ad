/* json_write.c - text straight into the buffer, no tree.
 *
 * The states are `needs_comma` and `has_name`: a value in an object takes the name that waits, a
 * value in an array or a name in an object is preceded by a comma if something came before.
 * Invariant: has_name only directly inside an object; is_done only at depth 0.
 */
#include "base/json_tree.h"

#include <string.h>

#include "base/assert.h"
#include "base/number.h"
#include "base/str.h"
#include "base/time.h"
#include "base/utf8.h"

void lc_jw_init(lc_json_writer *w, lc_buf *buf)
{
    w->buf = buf;
    w->depth = 0;
    w->needs_comma = false;
    w->has_name = false;
    w->is_done = false;
}

bool lc_jw_is_done(const lc_json_writer *w)
{
    return w->is_done;
}

static bool is_in_object(const lc_json_writer *w)
{
    return w->depth > 0 && w->closers[w->depth - 1] == '}';
}

/* Before any value: asserts that a value is allowed here. Returns whether it needs a comma before
 * it. */
static bool begin_value(lc_json_writer *w)
{
    bool needs_comma = w->needs_comma && !w->has_name;

    LC_ASSERT(!w->is_done);
    LC_ASSERT(w->has_name == is_in_object(w));
    w->has_name = false;
    w->needs_comma = true;
    w->is_done = w->depth == 0;
    return needs_comma;
}

/* A value whose text is ready. */
static void put(lc_json_writer *w, loci_str json)
{
    if (begin_value(w))
        lc_buf_append_byte(w->buf, ',');
    lc_buf_append(w->buf, json);
}

static void open_container(lc_json_writer *w, char opener, char closer)
{
    char text[2] = {',', opener};
    bool needs_comma;

    LC_ASSERT(w->depth < LC_JSON_WRITE_DEPTH_MAX);
    needs_comma = begin_value(w);
    lc_buf_append(w->buf, needs_comma ? (loci_str){text, 2} : (loci_str){text + 1, 1});
    w->closers[w->depth++] = closer;
    w->needs_comma = false;
    w->is_done = false;
}

void lc_jw_object(lc_json_writer *w)
{
    open_container(w, '{', '}');
}

void lc_jw_array(lc_json_writer *w)
{
    open_container(w, '[', ']');
}

void lc_jw_end(lc_json_writer *w)
{
    LC_ASSERT(w->depth > 0);
    LC_ASSERT(!w->has_name);
    lc_buf_append_byte(w->buf, w->closers[--w->depth]);
    w->needs_comma = true;
    w->is_done = w->depth == 0;
}

/* ---- Strings --------------------------------------------------------------------------------- */

/* Appends the escape of a byte that is not allowed in a string itself. */
static void put_escape(lc_buf *buf, unsigned char byte)
{
    static const char letters[0x20] = {
        ['\b'] = 'b', ['\f'] = 'f', ['\n'] = 'n', ['\r'] = 'r', ['\t'] = 't'};
    static const char hex[] = "0123456789abcdef";

    if (byte == '"' || byte == '\\') {
        lc_buf_append(buf, (loci_str){(char[]){'\\', (char)byte}, 2});
    } else if (byte >= 0x80) {
        lc_buf_append(buf, LC_STR("\xEF\xBF\xBD"));
    } else if (letters[byte] != 0) {
        lc_buf_append(buf, (loci_str){(char[]){'\\', letters[byte]}, 2});
    } else {
        lc_buf_append(buf, LC_STR("\\u00"));
        lc_buf_append(buf, (loci_str){(char[]){hex[byte >> 4], hex[byte & 15]}, 2});
    }
}

/* The first byte that needs put_escape(): UTF-8 beyond ASCII does not. */
static const char *find_escape(const char *at, const char *end)
{
    for (;;) {
        size_t bytes;

        at = lc_json_scan(at, end);
        if (at == end || (unsigned char)*at < 0x80)
            return at;
        bytes = lc_utf8_char_bytes(at, end);
        if (bytes == 0)
            return at;
        at += bytes;
    }
}

/* Appends the characters of `text` as they are written between quotes. */
static void put_characters(lc_buf *buf, loci_str text)
{
    const char *at = text.ptr, *end = text.ptr + text.len;

    while (at < end) {
        const char *escape = find_escape(at, end);

        lc_buf_append(buf, (loci_str){at, (size_t)(escape - at)});
        at = escape;
        if (at < end)
            put_escape(buf, (unsigned char)*at++);
    }
}

/* Text that needs no escapes, in quotes; `before` and `after` are the characters around them, 0 for
 * none. */
static void put_plain(lc_buf *buf, char before, loci_str text, char after)
{
    char *at = lc_buf_reserve(buf, text.len + 2 + (before != 0) + (after != 0));
    char *begin = at;

    if (at == NULL)
        return; /* The buffer keeps the failure. */
    if (before != 0)
        *at++ = before;
    *at++ = '"';
    if (text.len > 0)
        memcpy(at, text.ptr, text.len);
    at += text.len;
    *at++ = '"';
    if (after != 0)
        *at++ = after;
    lc_buf_grew(buf, (size_t)(at - begin));
}

static void put_quoted(lc_buf *buf, char before, loci_str text, char after)
{
    if (text.len == 0 || lc_json_scan(text.ptr, text.ptr + text.len) == text.ptr + text.len) {
        put_plain(buf, before, text, after);
        return;
    }
    lc_buf_append(buf, before != 0 ? (loci_str){(char[]){before, '"'}, 2} : LC_STR("\""));
    put_characters(buf, text);
    lc_buf_append(buf, (loci_str){(char[]){'"', after}, after != 0 ? 2 : 1});
}

void lc_jw_name_str(lc_json_writer *w, loci_str name)
{
    LC_ASSERT(is_in_object(w));
    LC_ASSERT(!w->has_name);
    put_quoted(w->buf, w->needs_comma ? ',' : 0, name, ':');
    w->has_name = true;
}

void lc_jw_name(lc_json_writer *w, const char *name)
{
    lc_jw_name_str(w, loci_str_of(name));
}

void lc_jw_str(lc_json_writer *w, loci_str text)
{
    put_quoted(w->buf, begin_value(w) ? ',' : 0, text, 0);
}

void lc_jw_text(lc_json_writer *w, const char *text)
{
    if (text == NULL)
        lc_jw_null(w);
    else
        lc_jw_str(w, loci_str_of(text));
}

/* ---- Other values ---------------------------------------------------------------------------- */

void lc_jw_int(lc_json_writer *w, int64_t value)
{
    char text[LC_NUMBER_BYTES_MAX];

    put(w, (loci_str){text, lc_number_format_i64(value, text)});
}

void lc_jw_real(lc_json_writer *w, double value)
{
    char text[LC_NUMBER_BYTES_MAX];

    put(w, (loci_str){text, lc_number_format_f64(value, text)});
}

void lc_jw_bool(lc_json_writer *w, bool value)
{
    put(w, value ? LC_STR("true") : LC_STR("false"));
}

void lc_jw_null(lc_json_writer *w)
{
    put(w, LC_STR("null"));
}

void lc_jw_time(lc_json_writer *w, int64_t us)
{
    char text[LC_TIME_BYTES_MAX];

    lc_jw_str(w, (loci_str){text, lc_time_format(us, text)});
}

void lc_jw_raw(lc_json_writer *w, loci_str json)
{
    LC_ASSERT(json.len > 0);
    put(w, json);
}

void lc_jw_put_parsed(lc_json_writer *w, const lc_json *value)
{
    switch ((lc_json_kind)value->kind) {
    case LC_JSON_NULL:
        lc_jw_null(w);
        break;
    case LC_JSON_BOOL:
        lc_jw_bool(w, value->as.boolean);
        break;
    case LC_JSON_INT:
        lc_jw_int(w, value->as.integer);
        break;
    case LC_JSON_REAL:
        lc_jw_real(w, value->as.real);
        break;
    case LC_JSON_STRING:
        lc_jw_str(w, lc_json_str(value));
        break;
    case LC_JSON_ARRAY:
        lc_jw_array(w);
        break;
    case LC_JSON_OBJECT:
        lc_jw_object(w);
        break;
    }
}

void lc_jw_value(lc_json_writer *w, const lc_json *value)
{
    const lc_json *rest[LC_JSON_DEPTH_MAX]; /* The next value of each open container. */
    unsigned depth = 0;

    for (;;) {
        lc_jw_put_parsed(w, value);
        if (lc_json_is_container(value)) {
            LC_ASSERT(depth < LC_JSON_DEPTH_MAX);
            rest[depth++] = lc_json_first(value);
        }
        while (depth > 0 && rest[depth - 1] == NULL) {
            depth--;
            lc_jw_end(w);
        }
        if (depth == 0)
            return;
        value = rest[depth - 1];
        rest[depth - 1] = lc_json_next(value);
        if (value->name != NULL)
            lc_jw_name_str(w, lc_json_name(value));
    }
}

/* ---- Members --------------------------------------------------------------------------------- */

void lc_jw_member_str(lc_json_writer *w, const char *name, loci_str text)
{
    lc_jw_name(w, name);
    lc_jw_str(w, text);
}

void lc_jw_member_text(lc_json_writer *w, const char *name, const char *text)
{
    lc_jw_name(w, name);
    lc_jw_text(w, text);
}

void lc_jw_member_int(lc_json_writer *w, const char *name, int64_t value)
{
    lc_jw_name(w, name);
    lc_jw_int(w, value);
}

void lc_jw_member_real(lc_json_writer *w, const char *name, double value)
{
    lc_jw_name(w, name);
    lc_jw_real(w, value);
}

void lc_jw_member_bool(lc_json_writer *w, const char *name, bool value)
{
    lc_jw_name(w, name);
    lc_jw_bool(w, value);
}

void lc_jw_member_null(lc_json_writer *w, const char *name)
{
    lc_jw_name(w, name);
    lc_jw_null(w);
}

void lc_jw_member_time(lc_json_writer *w, const char *name, int64_t us)
{
    lc_jw_name(w, name);
    lc_jw_time(w, us);
}

void lc_jw_member_raw(lc_json_writer *w, const char *name, loci_str json)
{
    lc_jw_name(w, name);
    lc_jw_raw(w, json);
}

void lc_jw_member_value(lc_json_writer *w, const char *name, const lc_json *value)
{
    lc_jw_name(w, name);
    lc_jw_value(w, value);
}

void lc_jw_put_error(lc_json_writer *w, lc_arena *scratch, const loci_error *err)
{
    const lc_json *data = NULL;
    bool has_data = err->data[0] != '\0' &&
                    lc_json_parse(scratch, loci_str_of(err->data), LC_JSON_ALLOW_NUL, &data,
                                  NULL) == LOCI_OK &&
                    lc_json_kind_of(data) == LC_JSON_OBJECT;

    lc_jw_object(w);
    lc_jw_name(w, "error");
    lc_jw_object(w);
    lc_jw_member_text(w, "code", loci_status_name(err->status));
    lc_jw_member_text(w, "message", err->message);
    for (const lc_json *member = has_data ? lc_json_first(data) : NULL; member != NULL;
         member = lc_json_next(member)) {
        loci_str name = lc_json_name(member);

        if (lc_str_is(name, "code") || lc_str_is(name, "message"))
            continue;
        lc_jw_name_str(w, name);
        lc_jw_value(w, member);
    }
    lc_jw_end(w);
    lc_jw_end(w);
}
