/* line_edit.c - a line, a cursor and a view: every key changes them, then one write shows them.
 *
 *     bytes --read_key()--> key --apply()--> line, cursor --show()--> one line of the terminal
 *
 * Only sequences that every terminal since the VT100 knows are written: carriage return, erase to
 * the end of the line, cursor right. So there is no terminfo. Libraries were rejected: readline's
 * licence is not compatible with ours, and libedit depends on terminfo.
 */
#include "cli/line_edit.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "base/str.h"
#include "base/utf8.h"
#include "cli/cli.h"
#include "cli/terminal.h"

#define ESCAPE_MS 50 /* A key sends its bytes at once; a lone Escape is followed by none. */
#define PASTE_END "\033[201~"
#define CONTROL(letter) ((letter)&0x1F)

/* Keys that are not a character; others are themselves. */
enum {
    KEY_NONE = 0x110000, /* Behind the last code point. */
    KEY_LEFT,
    KEY_RIGHT,
    KEY_UP,
    KEY_DOWN,
    KEY_HOME,
    KEY_END,
    KEY_DELETE,
    KEY_WORD_LEFT,
    KEY_WORD_RIGHT,
    KEY_WORD_DELETE,
    KEY_PASTE,
    KEY_GONE /* No terminal any more. */
};

typedef struct editor {
    lc_line_edit *edit;
    lc_buf *line;
    size_t cursor; /* Byte in the line. */
    size_t view;   /* First byte that is shown. */
    size_t back;   /* Entries back in the history; 0 = the line itself. */
    lc_buf kept;   /* The line that the history replaced. */
    lc_buf killed; /* The text that Ctrl-W, Ctrl-U or Ctrl-K removed last. */
    lc_buf screen; /* The output of one redraw, written at once. */
} editor;

/* ---- Keys ------------------------------------------------------------------------------------ */

/* The next byte, or -1: the terminal is gone, or nothing arrived for `wait_ms` (-1 = for ever). */
static int read_byte(editor *e, int wait_ms)
{
    struct pollfd waiting = {.fd = e->edit->in, .events = POLLIN};
    ssize_t got;

    if (e->edit->typed_at < e->edit->typed_count)
        return (unsigned char)e->edit->typed[e->edit->typed_at++];
    if (wait_ms >= 0 && poll(&waiting, 1, wait_ms) <= 0)
        return -1;
    do {
        got = read(e->edit->in, e->edit->typed, sizeof e->edit->typed);
    } while (got < 0 && errno == EINTR && !lc_interrupt_is_set());
    if (got <= 0)
        return -1;
    e->edit->typed_count = (size_t)got;
    e->edit->typed_at = 1;
    return (unsigned char)e->edit->typed[0];
}

/* "[A", "[1;5C", "[3~", "OH": what follows an Escape. */
static int read_sequence(editor *e)
{
    int first = 0, second = 0, byte = read_byte(e, ESCAPE_MS);
    bool has_second = false;

    if (byte == 'b')
        return KEY_WORD_LEFT;
    if (byte == 'f')
        return KEY_WORD_RIGHT;
    if (byte == 0x7F)
        return KEY_WORD_DELETE;
    if (byte != '[' && byte != 'O')
        return KEY_NONE;
    while ((byte = read_byte(e, ESCAPE_MS)) >= 0 && (byte == ';' || (byte >= '0' && byte <= '9'))) {
        int *number = has_second ? &second : &first;

        if (byte == ';')
            has_second = true;
        else if (*number < 1000)
            *number = *number * 10 + byte - '0';
    }
    switch (byte) {
    case 'A':
        return KEY_UP;
    case 'B':
        return KEY_DOWN;
    case 'C':
        return second == 5 || second == 3 ? KEY_WORD_RIGHT : KEY_RIGHT;
    case 'D':
        return second == 5 || second == 3 ? KEY_WORD_LEFT : KEY_LEFT;
    case 'H':
        return KEY_HOME;
    case 'F':
        return KEY_END;
    case '~':
        return first == 1 || first == 7   ? KEY_HOME
               : first == 4 || first == 8 ? KEY_END
               : first == 3               ? KEY_DELETE
               : first == 200             ? KEY_PASTE
                                          : KEY_NONE;
    default:
        return KEY_NONE;
    }
}

/* A key; of a character, its bytes go to `text`. */
static int read_key(editor *e, char text[4], size_t *out_bytes)
{
    int byte = read_byte(e, -1);
    size_t count = 1;

    *out_bytes = 0;
    if (byte < 0)
        return KEY_GONE;
    if (byte == 0x1B)
        return read_sequence(e);
    text[0] = (char)byte;
    if (byte < 0x80) {
        *out_bytes = 1;
        return byte;
    }
    while (count < 4 && lc_utf8_char_bytes(text, text + count) == 0) {
        byte = read_byte(e, ESCAPE_MS);
        if (byte < 0x80 || byte > 0xBF)
            return KEY_NONE; /* Not UTF-8. */
        text[count++] = (char)byte;
    }
    *out_bytes = lc_utf8_char_bytes(text, text + count);
    return *out_bytes > 0 ? 0xA0 : KEY_NONE; /* Any character. */
}

/* ---- The line -------------------------------------------------------------------------------- */

/* Where the character at or before a byte begins, with its combining marks. */
static size_t step_back(const editor *e, size_t at)
{
    while (at > 0) {
        size_t start = at - 1;

        while (start > 0 && (e->line->ptr[start] & 0xC0) == 0x80)
            start--;
        at = start;
        if (lc_text_cut((loci_str){e->line->ptr + at, e->line->len - at}, 0) == 0)
            break; /* It has a width: a mark would fit into no columns. */
    }
    return at;
}

/* Where the next character begins. */
static size_t step_on(const editor *e, size_t at)
{
    size_t bytes;

    if (at >= e->line->len)
        return at;
    bytes = lc_utf8_char_bytes(e->line->ptr + at, e->line->ptr + e->line->len);
    at += bytes > 0 ? bytes : 1;
    return at + lc_text_cut((loci_str){e->line->ptr + at, e->line->len - at}, 0);
}

static bool is_space_at(const editor *e, size_t at)
{
    return e->line->ptr[at] == ' ';
}

static size_t word_back(const editor *e, size_t at)
{
    while (at > 0 && is_space_at(e, at - 1))
        at--;
    while (at > 0 && !is_space_at(e, at - 1))
        at--;
    return at;
}

static size_t word_on(const editor *e, size_t at)
{
    while (at < e->line->len && is_space_at(e, at))
        at++;
    while (at < e->line->len && !is_space_at(e, at))
        at++;
    return at;
}

/* Characters that would control the terminal are left out; a full line takes no more. */
static void insert(editor *e, loci_str text)
{
    size_t tail = e->line->len - e->cursor;
    lc_buf clean;

    lc_buf_init(&clean, e->edit->heap, LOCI_MEM_REQUESTS, LC_LINE_BYTES_MAX);
    for (size_t at = 0, bytes; at < text.len; at += bytes) {
        size_t before = clean.len;
        loci_str one;

        bytes = lc_utf8_char_bytes(text.ptr + at, text.ptr + text.len);
        if (bytes == 0) {
            bytes = 1;
            continue;
        }
        one = (loci_str){text.ptr + at, bytes};
        lc_text_append_visible(&clean, one);
        if (clean.len != before + bytes || memcmp(clean.ptr + before, one.ptr, bytes) != 0) {
            lc_buf_truncate(&clean, before); /* It was escaped. */
            if (one.ptr[0] == '\n' || one.ptr[0] == '\r' || one.ptr[0] == '\t')
                lc_buf_append_byte(&clean, ' ');
        }
    }
    if (clean.len > 0 && clean.len <= LC_LINE_BYTES_MAX - e->line->len &&
        lc_buf_reserve(e->line, clean.len) != NULL) {
        lc_buf_grew(e->line, clean.len);
        memmove(e->line->ptr + e->cursor + clean.len, e->line->ptr + e->cursor, tail);
        memcpy(e->line->ptr + e->cursor, clean.ptr, clean.len);
        e->cursor += clean.len;
    }
    lc_buf_clear(&clean);
}

static void erase(editor *e, size_t from, size_t to)
{
    if (to > from)
        memmove(e->line->ptr + from, e->line->ptr + to, e->line->len - to);
    lc_buf_truncate(e->line, e->line->len - (to - from));
    e->cursor = from;
}

/* Removes text that Ctrl-Y brings back. */
static void kill_text(editor *e, size_t from, size_t to)
{
    lc_buf_reset(&e->killed);
    if (to > from)
        lc_buf_append(&e->killed, (loci_str){e->line->ptr + from, to - from});
    erase(e, from, to);
}

static void replace(editor *e, loci_str text)
{
    lc_buf_truncate(e->line, 0);
    e->cursor = 0;
    insert(e, text);
}

/* Older with +1, newer with -1. */
static void walk_history(editor *e, int step)
{
    loci_str entry = LC_STR_NONE;

    if (step < 0 && e->back == 0)
        return;
    if (step > 0 && e->edit->recall != NULL)
        entry = e->edit->recall(e->edit->ctx, e->back);
    if (step > 0 && entry.ptr == NULL)
        return;
    if (e->back == 0) {
        lc_buf_reset(&e->kept);
        lc_buf_append(&e->kept, lc_buf_str(e->line));
    }
    e->back += (size_t)step; /* One less is added as its complement. */
    if (step < 0)
        entry = e->back > 0 ? e->edit->recall(e->edit->ctx, e->back - 1) : lc_buf_str(&e->kept);
    replace(e, entry);
}

static void paste(editor *e)
{
    const size_t end = sizeof PASTE_END - 1;
    lc_buf text;
    int byte;

    lc_buf_init(&text, e->edit->heap, LOCI_MEM_REQUESTS, LC_LINE_BYTES_MAX + 64);
    while ((byte = read_byte(e, 1000)) >= 0) {
        if (text.len < LC_LINE_BYTES_MAX)
            lc_buf_append_byte(&text, (char)byte);
        else if (byte == '~')
            break;
        if (text.len >= end && memcmp(text.ptr + text.len - end, PASTE_END, end) == 0) {
            lc_buf_truncate(&text, text.len - end);
            break;
        }
    }
    insert(e, lc_str_trim(lc_buf_str(&text)));
    lc_buf_clear(&text);
}

/* ---- The screen ------------------------------------------------------------------------------ */

static void write_screen(editor *e)
{
    /* A terminal that is gone is noticed by the next read. */
    (void)lc_cli_write(e->edit->out, lc_buf_str(&e->screen));
    lc_buf_reset(&e->screen);
}

static loci_str part(const editor *e, size_t from, size_t to)
{
    return (loci_str){to > from ? e->line->ptr + from : "", to - from};
}

static void show(editor *e)
{
    size_t columns = lc_terminal_of(e->edit->out, true).columns;
    size_t room = columns > e->edit->prompt_columns + 2 ? columns - e->edit->prompt_columns - 1 : 1;
    size_t shown, at;

    if (e->view > e->cursor)
        e->view = e->cursor;
    while (lc_text_columns(part(e, e->view, e->cursor)) > room)
        e->view = step_on(e, e->view);
    shown = lc_text_cut(part(e, e->view, e->line->len), room);
    at = e->edit->prompt_columns + lc_text_columns(part(e, e->view, e->cursor));
    lc_buf_append_byte(&e->screen, '\r');
    lc_buf_append(&e->screen, loci_str_of(e->edit->prompt));
    lc_buf_append(&e->screen, part(e, e->view, e->view + shown));
    lc_buf_append_format(&e->screen, "\033[K\r\033[%zuC", at);
    write_screen(e);
}

static size_t common_bytes(const lc_completions *list)
{
    size_t bytes = list->items[0].len;

    for (size_t i = 1; i < list->count; i++) {
        size_t same = 0;

        while (same < bytes && same < list->items[i].len &&
               list->items[i].ptr[same] == list->items[0].ptr[same])
            same++;
        bytes = same;
    }
    return lc_utf8_cut(list->items[0], bytes);
}

/* Below the line, in columns. */
static void list_items(editor *e, const lc_completions *list)
{
    size_t columns = lc_terminal_of(e->edit->out, true).columns;
    size_t widest = 0, across;

    for (size_t i = 0; i < list->count; i++) {
        size_t width = lc_text_columns(list->items[i]);

        widest = width > widest ? width : widest;
    }
    across = columns / (widest + 2);
    across = across > 0 ? across : 1;
    for (size_t i = 0; i < list->count; i++) {
        size_t width = lc_text_columns(list->items[i]);

        if (i % across == 0)
            lc_buf_append(&e->screen, LC_STR("\n"));
        lc_text_append_visible(&e->screen, list->items[i]);
        if ((i + 1) % across != 0)
            lc_buf_append_format(&e->screen, "%*s", (int)(widest + 2 - width), "");
    }
    lc_buf_append(&e->screen, LC_STR("\n"));
    write_screen(e);
}

static void complete(editor *e)
{
    lc_arena arena;
    lc_completions *list;

    if (e->edit->complete == NULL)
        return;
    lc_arena_init(&arena, e->edit->heap, LOCI_MEM_REQUESTS);
    list = lc_arena_zalloc_array(&arena, 1, sizeof *list);
    if (list != NULL) {
        list->arena = &arena;
        e->edit->complete(e->edit->ctx, part(e, 0, e->cursor), list);
    }
    if (list != NULL && list->count > 0 && list->start <= e->cursor) {
        size_t typed = e->cursor - list->start;
        size_t common = common_bytes(list);

        if (common > typed || list->count == 1) {
            erase(e, list->start, e->cursor);
            insert(e, (loci_str){list->items[0].ptr, common});
            if (list->count == 1)
                insert(e, LC_STR(" "));
        } else {
            list_items(e, list);
        }
    }
    lc_arena_clear(&arena);
}

/* ---- Reading --------------------------------------------------------------------------------- */

/* Applies a key; false when the line is complete, `*out` says how. */
static bool apply(editor *e, int key, loci_str text, lc_edit_result *out)
{
    switch (key) {
    case '\r':
    case '\n':
        *out = LC_EDIT_LINE;
        return false;
    case CONTROL('C'):
        *out = LC_EDIT_CANCELLED;
        return false;
    case KEY_GONE:
        *out = LC_EDIT_END;
        return false;
    case CONTROL('D'):
        *out = LC_EDIT_END;
        if (e->line->len == 0)
            return false;
        erase(e, e->cursor, step_on(e, e->cursor));
        return true;
    case KEY_DELETE:
        erase(e, e->cursor, step_on(e, e->cursor));
        return true;
    case CONTROL('H'):
    case 0x7F:
        erase(e, step_back(e, e->cursor), e->cursor);
        return true;
    case CONTROL('B'):
    case KEY_LEFT:
        e->cursor = step_back(e, e->cursor);
        return true;
    case CONTROL('F'):
    case KEY_RIGHT:
        e->cursor = step_on(e, e->cursor);
        return true;
    case CONTROL('A'):
    case KEY_HOME:
        e->cursor = 0;
        return true;
    case CONTROL('E'):
    case KEY_END:
        e->cursor = e->line->len;
        return true;
    case KEY_WORD_LEFT:
        e->cursor = word_back(e, e->cursor);
        return true;
    case KEY_WORD_RIGHT:
        e->cursor = word_on(e, e->cursor);
        return true;
    case CONTROL('W'):
    case KEY_WORD_DELETE:
        kill_text(e, word_back(e, e->cursor), e->cursor);
        return true;
    case CONTROL('U'):
        kill_text(e, 0, e->cursor);
        return true;
    case CONTROL('K'):
        kill_text(e, e->cursor, e->line->len);
        return true;
    case CONTROL('Y'):
        insert(e, lc_buf_str(&e->killed));
        return true;
    case CONTROL('P'):
    case KEY_UP:
        walk_history(e, 1);
        return true;
    case CONTROL('N'):
    case KEY_DOWN:
        walk_history(e, -1);
        return true;
    case CONTROL('L'):
        lc_buf_append(&e->screen, LC_STR("\033[H\033[2J"));
        return true;
    case '\t':
        complete(e);
        return true;
    case KEY_PASTE:
        paste(e);
        return true;
    default:
        insert(e, text);
        return true;
    }
}

static lc_edit_result read_line(editor *e)
{
    lc_edit_result result = LC_EDIT_FAILED;
    bool goes_on = true;

    while (goes_on) {
        char text[4];
        size_t bytes;
        int key;

        if (e->edit->typed_at == e->edit->typed_count)
            show(e); /* Not between keys that arrived together. */
        key = read_key(e, text, &bytes);
        goes_on = apply(e, key, (loci_str){text, bytes}, &result);
    }
    e->cursor = e->line->len;
    show(e);
    (void)lc_cli_write(e->edit->out, result == LC_EDIT_CANCELLED ? LC_STR("^C\n") : LC_STR("\n"));
    return result;
}

lc_edit_result lc_line_edit_read(lc_line_edit *edit, lc_buf *line)
{
    editor e = {.edit = edit, .line = line};
    struct termios before, raw;
    lc_edit_result result;

    if (tcgetattr(edit->in, &before) != 0)
        return LC_EDIT_FAILED;
    raw = before;
    /* Output stays as it is: a line feed returns the carriage. */
    raw.c_iflag &= ~(tcflag_t)(BRKINT | ICRNL | INPCK | ISTRIP | IXON);
    raw.c_lflag &= ~(tcflag_t)(ECHO | ICANON | IEXTEN | ISIG);
    raw.c_cc[VMIN] = 1;
    raw.c_cc[VTIME] = 0;
    if (tcsetattr(edit->in, TCSADRAIN, &raw) != 0)
        return LC_EDIT_FAILED;
    lc_buf_init(&e.kept, edit->heap, LOCI_MEM_REQUESTS, LC_LINE_BYTES_MAX);
    lc_buf_init(&e.killed, edit->heap, LOCI_MEM_REQUESTS, LC_LINE_BYTES_MAX);
    lc_buf_init(&e.screen, edit->heap, LOCI_MEM_REQUESTS, 1024u * 1024);
    lc_buf_append(&e.screen, LC_STR("\033[?2004h")); /* Mark what is pasted. */
    result = read_line(&e);
    (void)lc_cli_write(edit->out, LC_STR("\033[?2004l"));
    (void)tcsetattr(edit->in, TCSADRAIN, &before); /* Worked a moment ago. */
    lc_buf_clear(&e.kept);
    lc_buf_clear(&e.killed);
    lc_buf_clear(&e.screen);
    return result;
}
