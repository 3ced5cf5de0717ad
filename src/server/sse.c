/* sse.c - A message is its lines and an empty one: "id: 7\nevent: fact.written\ndata: {…}\n\n".
 * What goes out was mostly written by loci itself, but part of it is the text of users, so nothing
 * is taken for granted. */
#include "server/sse.h"

#include "base/str.h"

#define TYPES_MAX 64
#define TYPE_BYTES_MAX 64

void lc_sse_retry(lc_buf *out, int64_t ms)
{
    lc_buf_append_format(out, "retry: %lld\n\n", (long long)ms);
}

static bool is_break(char c)
{
    return c == '\n' || c == '\r' || c == '\0';
}

/* One line's worth of text. */
static void add_line(lc_buf *out, loci_str text)
{
    for (size_t i = 0; i < text.len; i++) {
        if (!is_break(text.ptr[i]))
            lc_buf_append_byte(out, text.ptr[i]);
    }
    lc_buf_append_byte(out, '\n');
}

void lc_sse_comment(lc_buf *out, const char *text)
{
    lc_buf_append(out, LC_STR(": "));
    add_line(out, loci_str_of(text));
    lc_buf_append_byte(out, '\n');
}

/* Runs without a break are copied as they are: data is large and nearly always one run. */
static void add_data(lc_buf *out, loci_str data)
{
    size_t begin = 0;

    lc_buf_append(out, LC_STR("data: "));
    for (size_t i = 0; i < data.len; i++) {
        if (!is_break(data.ptr[i]))
            continue;
        lc_buf_append(out, (loci_str){data.ptr + begin, i - begin});
        lc_buf_append(out, LC_STR("\ndata: "));
        begin = i + 1;
    }
    lc_buf_append(out, (loci_str){data.ptr + begin, data.len - begin});
    lc_buf_append_byte(out, '\n');
}

void lc_sse_message_add(lc_buf *out, const lc_sse_message *message)
{
    if (message->id != 0)
        lc_buf_append_format(out, "id: %lld\n", (long long)message->id);
    lc_buf_append(out, LC_STR("event: "));
    add_line(out, message->type);
    add_data(out, message->data);
    lc_buf_append_byte(out, '\n');
}

/* ---- Reading the head of an event --------------------------------------------------------------
 */

/* Takes a JSON string off the front; the quotes are not part of it, escapes stay. */
static bool take_string(loci_str *rest, loci_str *out)
{
    size_t i = 1;

    if (rest->len == 0 || rest->ptr[0] != '"')
        return false;
    while (i < rest->len && rest->ptr[i] != '"')
        i += rest->ptr[i] == '\\' ? 2 : 1;
    if (i >= rest->len)
        return false;
    *out = (loci_str){rest->ptr + 1, i - 1};
    *rest = (loci_str){rest->ptr + i + 1, rest->len - i - 1};
    return true;
}

/* Takes what is neither a string nor a container: a number or a word. */
static bool take_word(loci_str *rest, loci_str *out)
{
    size_t i = 0;

    while (i < rest->len && rest->ptr[i] != ',' && rest->ptr[i] != '}')
        i++;
    *out = (loci_str){rest->ptr, i};
    *rest = (loci_str){rest->ptr + i, rest->len - i};
    return i > 0;
}

static bool take_byte(loci_str *rest, char byte)
{
    if (rest->len == 0 || rest->ptr[0] != byte)
        return false;
    *rest = (loci_str){rest->ptr + 1, rest->len - 1};
    return true;
}

bool lc_sse_peek(loci_str event, int64_t *out_seq, loci_str *out_type)
{
    loci_str rest = event, name, value;
    bool has_seq = false, has_type = false;

    if (!take_byte(&rest, '{'))
        return false;
    while (!has_seq || !has_type) {
        bool is_string;

        if (!take_string(&rest, &name) || !take_byte(&rest, ':'))
            return false;
        is_string = rest.len > 0 && rest.ptr[0] == '"';
        if (!(is_string ? take_string(&rest, &value) : take_word(&rest, &value)))
            return false;
        if (lc_str_is(name, "seq"))
            has_seq = lc_str_to_i64(value, out_seq);
        if (lc_str_is(name, "type") && is_string) {
            *out_type = value;
            has_type = true;
        }
        if ((!has_seq || !has_type) && !take_byte(&rest, ','))
            return false;
    }
    return true;
}

/* ---- Types
 * --------------------------------------------------------------------------------------- */

static bool is_type(loci_str word)
{
    if (word.len == 0 || word.len > TYPE_BYTES_MAX)
        return false;
    for (size_t i = 0; i < word.len; i++) {
        char c = word.ptr[i];

        if (!(c >= 'a' && c <= 'z') && !(c >= '0' && c <= '9') && c != '.' && c != '_' && c != '-')
            return false;
    }
    return true;
}

bool lc_sse_is_type_list(loci_str text)
{
    loci_str rest = text;
    size_t count = 0;

    if (text.ptr == NULL)
        return false;
    while (rest.ptr != NULL) {
        if (!is_type(lc_str_trim(lc_str_split(rest, ',', &rest))) || ++count > TYPES_MAX)
            return false;
    }
    return true;
}
