/* terminal.c - widths come from wcwidth() in the locale C.UTF-8, which main() sets: the layout of a
 * table must not depend on the locale of the caller. */
#include "cli/terminal.h"

#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <wchar.h>

#include "base/str.h"
#include "base/utf8.h"

#define COLUMNS_DEFAULT 80 /* If the terminal does not report its width. */
#define COLUMNS_MIN 20

static size_t columns_of(const struct winsize *size)
{
    int64_t columns;

    if (size->ws_col > 0)
        columns = size->ws_col;
    else if (!lc_str_to_i64(loci_str_of(getenv("COLUMNS")), &columns) || columns > 10000)
        columns = COLUMNS_DEFAULT;
    return columns < COLUMNS_MIN ? COLUMNS_MIN : (size_t)columns;
}

lc_terminal lc_terminal_of(int descriptor, bool no_color)
{
    lc_terminal terminal = {.is_terminal = isatty(descriptor) == 1};
    const char *kind = getenv("TERM");
    const char *refused = getenv("NO_COLOR");
    struct winsize size = {0};

    if (!terminal.is_terminal)
        return terminal;
    if (ioctl(descriptor, TIOCGWINSZ, &size) != 0)
        size = (struct winsize){0};
    terminal.columns = columns_of(&size);
    terminal.rows = size.ws_row;
    terminal.has_color = !no_color && (refused == NULL || refused[0] == '\0') && kind != NULL &&
                         strcmp(kind, "dumb") != 0;
    return terminal;
}

static const char *code_of(lc_style style)
{
    switch (style) {
    case LC_STYLE_HEADING:
        return "\033[1m";
    case LC_STYLE_FAINT:
        return "\033[2m";
    case LC_STYLE_NAME:
        return "\033[36m";
    case LC_STYLE_GOOD:
        return "\033[32m";
    case LC_STYLE_WARNING:
        return "\033[33m";
    case LC_STYLE_BAD:
        return "\033[31m";
    case LC_STYLE_PLAIN:
        break;
    }
    return NULL;
}

void lc_terminal_append(const lc_terminal *terminal, lc_buf *out, lc_style style, loci_str text)
{
    const char *code = terminal->has_color ? code_of(style) : NULL;

    if (code != NULL)
        lc_buf_append(out, loci_str_of(code));
    lc_buf_append(out, text);
    if (code != NULL)
        lc_buf_append(out, LC_STR("\033[0m"));
}

/* Decodes the character at `at`; invalid UTF-8 is taken byte by byte. */
static uint32_t decode(const char *at, const char *end, size_t *out_bytes)
{
    const unsigned char *byte = (const unsigned char *)at;
    size_t bytes = lc_utf8_char_bytes(at, end);

    *out_bytes = bytes == 0 ? 1 : bytes;
    switch (bytes) {
    case 1:
        return byte[0];
    case 2:
        return (byte[0] & 0x1Fu) << 6 | (byte[1] & 0x3Fu);
    case 3:
        return (byte[0] & 0x0Fu) << 12 | (byte[1] & 0x3Fu) << 6 | (byte[2] & 0x3Fu);
    case 4:
        return (byte[0] & 0x07u) << 18 | (byte[1] & 0x3Fu) << 12 | (byte[2] & 0x3Fu) << 6 |
               (byte[3] & 0x3Fu);
    default:
        return 0xFFFD;
    }
}

static size_t columns_of_char(uint32_t code_point)
{
    int columns = code_point < 0x80 ? 1 : wcwidth((wchar_t)code_point);

    return columns < 0 ? 1 : (size_t)columns;
}

size_t lc_text_columns(loci_str text)
{
    const char *end;
    size_t columns = 0;
    size_t bytes;

    if (text.len == 0)
        return 0;
    end = text.ptr + text.len;
    for (const char *at = text.ptr; at < end; at += bytes)
        columns += columns_of_char(decode(at, end, &bytes));
    return columns;
}

size_t lc_text_cut(loci_str text, size_t columns)
{
    const char *at = text.ptr;
    const char *end;
    size_t bytes;

    if (text.len == 0)
        return 0;
    end = text.ptr + text.len;
    while (at < end) {
        size_t width = columns_of_char(decode(at, end, &bytes));

        if (width > columns)
            break;
        columns -= width;
        at += bytes;
    }
    return (size_t)(at - text.ptr);
}

size_t lc_text_line(loci_str text, size_t columns)
{
    size_t fits = lc_text_cut(text, columns), end = fits;

    if (fits == text.len)
        return fits;
    while (end > 0 && text.ptr[end] != ' ')
        end--;
    while (end > 0 && text.ptr[end - 1] == ' ')
        end--;
    return end > 0 ? end : fits > 0 ? fits : text.len;
}

loci_str lc_text_rest(loci_str text, size_t bytes)
{
    return lc_str_trim((loci_str){text.ptr + bytes, text.len - bytes});
}

static bool is_harmful(uint32_t code_point)
{
    return code_point < 0x20 || (code_point >= 0x7F && code_point < 0xA0) ||
           (code_point >= 0x202A && code_point <= 0x202E) || /* Embedding and overriding, */
           (code_point >= 0x2066 && code_point <= 0x2069) || /* isolating, */
           code_point == 0x2028 || code_point == 0x2029;     /* line and paragraph ends. */
}

void lc_text_append_visible(lc_buf *out, loci_str text)
{
    const char *end;
    size_t bytes;

    if (text.len == 0)
        return;
    end = text.ptr + text.len;
    for (const char *at = text.ptr; at < end; at += bytes) {
        uint32_t code_point = decode(at, end, &bytes);

        if (!is_harmful(code_point))
            lc_buf_append(out, (loci_str){at, bytes});
        else if (code_point == '\n')
            lc_buf_append(out, LC_STR("\\n"));
        else if (code_point == '\t')
            lc_buf_append(out, LC_STR("\\t"));
        else
            lc_buf_append_format(out, code_point < 0x100 ? "\\x%02x" : "\\u%04x", code_point);
    }
}

void lc_text_append_wrapped(lc_buf *out, loci_str text, size_t indent, size_t width)
{
    size_t column = indent;
    bool is_first = true;
    loci_str rest = text;

    while (rest.ptr != NULL) {
        loci_str word = lc_str_split(rest, ' ', &rest);
        size_t columns = lc_text_columns(word);

        if (!is_first && width != 0 && column + 1 + columns > width) {
            lc_buf_append_byte(out, '\n');
            for (size_t i = 0; i < indent; i++)
                lc_buf_append_byte(out, ' ');
            column = indent;
            is_first = true;
        }
        if (!is_first) {
            lc_buf_append_byte(out, ' ');
            column++;
        }
        lc_buf_append(out, word);
        column += columns;
        is_first = false;
    }
    lc_buf_append_byte(out, '\n');
}
