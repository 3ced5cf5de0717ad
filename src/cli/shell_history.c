/* shell_history.c - the file only grows while shells run; the one that opens it next and finds more
 * lines than are kept writes it again, to another file that takes its place. */
#include "cli/shell_history.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/str.h"
#include "base/utf8.h"
#include "cli/cli.h"
#include "cli/input.h"
#include "text/secret.h"

#define FILE_BYTES_MAX (4u * 1024 * 1024)

/* "STATE/loci/shell_history", whose directories are made; "" without a state directory. */
static void find_path(char *out, size_t bytes)
{
    const char *state = lc_cli_variable("XDG_STATE_HOME");
    const char *home = lc_cli_variable("HOME");
    int len = 0;

    if (state != NULL && state[0] == '/')
        len = snprintf(out, bytes, "%s/loci/shell_history", state);
    else if (home != NULL && home[0] == '/')
        len = snprintf(out, bytes, "%s/.local/state/loci/shell_history", home);
    if (len <= 0 || (size_t)len >= bytes) {
        out[0] = '\0';
        return;
    }
    for (char *at = out + 1; *at != '\0'; at++) {
        if (*at != '/')
            continue;
        *at = '\0';
        (void)mkdir(out, 0700); /* It may be there; otherwise opening the file fails. */
        *at = '/';
    }
}

static void drop_oldest(lc_history *history)
{
    loci_str *line = &history->lines[history->first];

    lc_heap_free(history->heap, (char *)line->ptr, line->len, LOCI_MEM_REQUESTS);
    *line = LC_STR_NONE;
    history->first = (history->first + 1) % LC_HISTORY_LINES_MAX;
    history->count--;
}

/* Adds a copy; false if it is not kept. */
static bool keep(lc_history *history, loci_str line)
{
    lc_secret secret;
    char *copy;

    if (line.len == 0 || line.len > LC_HISTORY_LINE_BYTES_MAX || line.ptr[0] == ' ' ||
        memchr(line.ptr, '\n', line.len) != NULL || !lc_utf8_is_valid(line) ||
        lc_str_eq(line, lc_history_at(history, 0)) || lc_secret_next(line, 0, &secret))
        return false;
    copy = lc_heap_alloc(history->heap, line.len, LOCI_MEM_REQUESTS);
    if (copy == NULL)
        return false;
    memcpy(copy, line.ptr, line.len);
    if (history->count == LC_HISTORY_LINES_MAX)
        drop_oldest(history);
    history->lines[(history->first + history->count) % LC_HISTORY_LINES_MAX] = (loci_str){copy,
                                                                                          line.len};
    history->count++;
    return true;
}

/* Writes the file again, with the lines that are kept. */
static void shorten_file(const lc_history *history)
{
    char path[sizeof history->path + 8];
    int descriptor;
    bool is_good = true;

    (void)snprintf(path, sizeof path, "%s.XXXXXX", history->path);
    descriptor = mkostemp(path, O_CLOEXEC); /* Mode 0600. */
    if (descriptor < 0)
        return;
    for (size_t i = history->count; i > 0 && is_good; i--)
        is_good = lc_cli_write(descriptor, lc_history_at(history, i - 1)) &&
                  lc_cli_write(descriptor, LC_STR("\n"));
    (void)close(descriptor); /* Not durable: it is a convenience. */
    if (!is_good || rename(path, history->path) != 0)
        (void)unlink(path); /* The file stays as it was. */
}

void lc_history_open(lc_history *history, lc_heap *heap)
{
    size_t lines = 0;
    loci_str rest;
    lc_buf text;

    *history = (lc_history){.heap = heap};
    find_path(history->path, sizeof history->path);
    lc_buf_init(&text, heap, LOCI_MEM_REQUESTS, FILE_BYTES_MAX);
    if (history->path[0] != '\0' && lc_input_read_file(history->path, &text, NULL) == LOCI_OK) {
        rest = lc_buf_str(&text);
        while (rest.len > 0) {
            (void)keep(history, lc_str_split(rest, '\n', &rest)); /* Others may not be ours. */
            lines++;
        }
        if (lines > 2 * LC_HISTORY_LINES_MAX)
            shorten_file(history);
    } else if (text.len > 0) {
        (void)unlink(history->path); /* Too large to be ours. */
    }
    lc_buf_clear(&text);
}

void lc_history_clear(lc_history *history)
{
    while (history->count > 0)
        drop_oldest(history);
}

void lc_history_add(lc_history *history, loci_str line)
{
    char text[LC_HISTORY_LINE_BYTES_MAX + 1];
    int descriptor;

    if (!keep(history, line) || history->path[0] == '\0')
        return;
    descriptor = open(history->path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (descriptor < 0)
        return;
    memcpy(text, line.ptr, line.len);
    text[line.len] = '\n';
    (void)fchmod(descriptor, 0600);                                 /* Also if the file existed. */
    (void)lc_cli_write(descriptor, (loci_str){text, line.len + 1}); /* Best effort. */
    (void)close(descriptor);
}

loci_str lc_history_at(const lc_history *history, size_t index)
{
    if (index >= history->count)
        return LC_STR_NONE;
    return history->lines[(history->first + history->count - 1 - index) % LC_HISTORY_LINES_MAX];
}
