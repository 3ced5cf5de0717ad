#include "cli/line_reader.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "cli/interrupt.h"

#define READ_BYTES (64u * 1024)

void lc_line_reader_init(lc_line_reader *reader, lc_heap *heap, int descriptor,
                         size_t line_bytes_max)
{
    *reader = (lc_line_reader){.descriptor = descriptor, .line_bytes_max = line_bytes_max};
    lc_buf_init(&reader->text, heap, LOCI_MEM_REQUESTS, line_bytes_max + 2 * (size_t)READ_BYTES);
}

void lc_line_reader_clear(lc_line_reader *reader)
{
    lc_buf_clear(&reader->text);
}

/* Moves what was not given out to the front. */
static void make_room(lc_line_reader *reader)
{
    size_t left = reader->text.len - reader->start;

    if (reader->start == 0)
        return;
    memmove(reader->text.ptr, reader->text.ptr + reader->start, left);
    lc_buf_truncate(&reader->text, left);
    reader->start = 0;
}

/* Reads once. */
static lc_line_result read_more(lc_line_reader *reader)
{
    char *room;
    ssize_t got;

    make_room(reader);
    room = lc_buf_reserve(&reader->text, READ_BYTES);
    if (room == NULL) {
        errno = ENOMEM;
        return LC_LINE_FAILED;
    }
    got = read(reader->descriptor, room, READ_BYTES);
    if (got < 0)
        return errno != EINTR ? LC_LINE_FAILED : LC_LINE_INTERRUPTED;
    if (got == 0)
        reader->is_at_end = true;
    lc_buf_grew(&reader->text, (size_t)got);
    return LC_LINE_READ;
}

/* A whole line, or what is left at the end, from what was read. */
static bool take_line(lc_line_reader *reader, loci_str *out)
{
    size_t have = reader->text.len - reader->start;
    const char *newline = NULL;
    const char *from;

    if (have == 0)
        return false;
    from = reader->text.ptr + reader->start;
    if (have > reader->looked_at)
        newline = memchr(from + reader->looked_at, '\n', have - reader->looked_at);
    if (newline == NULL && !reader->is_at_end) {
        reader->looked_at = have;
        return false;
    }
    *out = (loci_str){from, newline != NULL ? (size_t)(newline - from) : have};
    reader->start += out->len + (newline != NULL ? 1 : 0);
    reader->looked_at = 0;
    return true;
}

lc_line_result lc_line_reader_next(lc_line_reader *reader, loci_str *out)
{
    bool is_too_long = false;

    for (;;) {
        lc_line_result result;

        if (take_line(reader, out))
            return is_too_long || out->len > reader->line_bytes_max ? LC_LINE_TOO_LONG
                                                                    : LC_LINE_READ;
        if (reader->is_at_end)
            return is_too_long ? LC_LINE_TOO_LONG : LC_LINE_END;
        if (reader->text.len - reader->start > reader->line_bytes_max) {
            is_too_long = true;
            lc_buf_truncate(&reader->text, reader->start);
            reader->looked_at = 0;
        }
        result = read_more(reader);
        if (result == LC_LINE_INTERRUPTED && !lc_interrupt_is_set())
            continue;
        if (result != LC_LINE_READ)
            return result;
    }
}
