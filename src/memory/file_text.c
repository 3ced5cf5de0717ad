/* file_text.c - see file_text.h. */
#include "memory/file_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "base/utf8.h"
#include "text/normalise.h"

#define ROOT_BYTES (sizeof LC_FILE_ROOT - 1)

/* ---- Paths ----------------------------------------------------------------------------------- */

bool lc_file_path_is_within(loci_str path, loci_str above)
{
    return lc_str_starts(path, above) && (path.len == above.len || path.ptr[above.len] == '/');
}

/* Resolves names from the left, as a file system does: `to` holds the path so far. */
static loci_status resolve(loci_str given, loci_str names, lc_buf *to, loci_error *err)
{
    int depth = 0;

    lc_buf_append(to, LC_STR(LC_FILE_ROOT));
    while (names.len > 0) {
        loci_str name = lc_str_split(names, '/', &names);

        if (name.len == 0 || lc_str_is(name, "."))
            continue;
        if (!lc_str_is(name, "..")) {
            depth++;
            lc_buf_append_byte(to, '/');
            lc_buf_append(to, name);
        } else if (depth-- > 0) {
            while (to->len > 0 && to->ptr[to->len - 1] != '/')
                lc_buf_truncate(to, to->len - 1);
            lc_buf_truncate(to, to->len > 0 ? to->len - 1 : 0);
        } else {
            return lc_fail(err, LOCI_EINVAL, "Path %.*s would escape " LC_FILE_ROOT " directory",
                           LC_STR_ARG(given));
        }
    }
    if (depth > LC_FILE_PATH_SEGMENTS_MAX)
        return lc_fail(err, LOCI_EINVAL,
                       "the path has %d names below " LC_FILE_ROOT ", the maximum is %d", depth,
                       LC_FILE_PATH_SEGMENTS_MAX);
    return lc_buf_status(to, err);
}

loci_status lc_file_path_make(lc_arena *arena, loci_str given, loci_str *out, loci_error *err)
{
    loci_str names = given;
    lc_buf composed, path;
    loci_status status;

    if (!lc_file_path_is_within(given, LC_STR(LC_FILE_ROOT)))
        return lc_fail(err, LOCI_EINVAL, "Path must start with " LC_FILE_ROOT ", got: %.*s",
                       LC_STR_ARG(given));
    names.ptr += ROOT_BYTES;
    names.len -= ROOT_BYTES;
    lc_buf_init(&composed, arena->heap, LOCI_MEM_REQUESTS, LC_ARGS_BYTES_MAX);
    lc_buf_init(&path, arena->heap, LOCI_MEM_REQUESTS, LC_ARGS_BYTES_MAX);
    status = lc_text_nfc(names, &composed, err);
    if (status == LOCI_OK)
        status = resolve(given, lc_buf_str(&composed), &path, err);
    if (status == LOCI_OK && path.len > LC_FILE_PATH_BYTES_MAX)
        status = lc_fail(err, LOCI_EINVAL, "the path has %zu bytes in NFC, the maximum is %d",
                         path.len, LC_FILE_PATH_BYTES_MAX);
    if (status == LOCI_OK) {
        *out = lc_arena_copy(arena, lc_buf_str(&path));
        if (out->ptr == NULL)
            status = lc_fail_memory(err);
    }
    lc_buf_clear(&path);
    lc_buf_clear(&composed);
    return status;
}

/* ---- Lines ----------------------------------------------------------------------------------- */

/* Newlines in the first `bytes` of `content`. */
static int64_t count_newlines(loci_str content, size_t bytes)
{
    int64_t count = 0;

    for (size_t i = 0; i < bytes; i++)
        count += content.ptr[i] == '\n';
    return count;
}

int64_t lc_file_line_count(loci_str content)
{
    return count_newlines(content, content.len) + 1;
}

/* Where line `line`, counted from 0, begins; the end if there are fewer. */
static size_t start_of(loci_str content, int64_t line)
{
    size_t at = 0;

    while (line > 0 && at < content.len)
        line -= content.ptr[at++] == '\n';
    return at;
}

void lc_file_put_lines(lc_buf *out, loci_str content, int64_t first, int64_t last)
{
    int64_t count = lc_file_line_count(content);
    size_t at;

    if (first < 1)
        first = 1;
    if (last > count)
        last = count;
    at = first <= last ? start_of(content, first - 1) : 0;
    for (int64_t line = first; line <= last; line++) {
        const char *end = at < content.len ? memchr(content.ptr + at, '\n', content.len - at)
                                           : NULL;
        size_t bytes = end != NULL ? (size_t)(end - content.ptr) - at : content.len - at;

        lc_buf_append_format(out, "%s%6" PRId64 "\t", line > first ? "\n" : "", line);
        if (bytes > 0)
            lc_buf_append(out, (loci_str){content.ptr + at, bytes});
        at += bytes + 1;
    }
}

/* ---- Edits ----------------------------------------------------------------------------------- */

#define QUOTED_BYTES_MAX 160 /* Of old_str, in a message. */
#define LINES_LISTED_MAX 20

/* The next occurrence at or behind `from`; -1 if there is none. */
static int64_t find_next(loci_str content, loci_str part, size_t from)
{
    const char *at = part.len > 0 && from < content.len
                         ? memmem(content.ptr + from, content.len - from, part.ptr, part.len)
                         : NULL;

    return at != NULL ? at - content.ptr : -1;
}

typedef struct quoted {
    loci_str text;
    const char *more; /* "" or "…" */
} quoted;

static quoted quote(loci_str text)
{
    quoted out = {text, text.len > QUOTED_BYTES_MAX ? "…" : ""};

    if (text.len > QUOTED_BYTES_MAX)
        out.text.len = lc_utf8_cut(text, QUOTED_BYTES_MAX);
    return out;
}

/* Names each line on which an occurrence begins, once. */
static loci_status fail_ambiguous(loci_str content, loci_str old_str, int64_t first,
                                  loci_error *err)
{
    quoted q = quote(old_str);
    char lines[LINES_LISTED_MAX * 8 + 8];
    size_t len = 0;
    int listed = 0;
    int64_t line = 0;

    for (int64_t at = first, from = 0; at >= 0 && listed <= LINES_LISTED_MAX;
         at = find_next(content, old_str, (size_t)at + 1)) {
        int64_t passed = count_newlines((loci_str){content.ptr + from, (size_t)(at - from)},
                                        (size_t)(at - from));

        line += passed;
        from = at;
        if (passed == 0 && listed > 0)
            continue;
        if (listed++ == LINES_LISTED_MAX)
            len += (size_t)snprintf(lines + len, sizeof lines - len, ", …");
        else
            len += (size_t)snprintf(lines + len, sizeof lines - len, "%s%" PRId64,
                                    listed > 1 ? ", " : "", line + 1);
        LC_ASSERT(len < sizeof lines);
    }
    return lc_fail(err, LOCI_ECONFLICT,
                   "No replacement was performed. Multiple occurrences of old_str `%.*s%s` in"
                   " lines: %s. Please ensure it is unique",
                   LC_STR_ARG(q.text), q.more, lines);
}

loci_status lc_file_replace(loci_str content, const lc_file_replacement *what, lc_file_edit *out,
                            int64_t *out_line, loci_error *err)
{
    int64_t at = find_next(content, what->old_str, 0);
    quoted q = quote(what->old_str);

    if (at < 0)
        return lc_fail(err, LOCI_ECONFLICT,
                       "No replacement was performed, old_str `%.*s%s` did not appear verbatim in"
                       " %.*s.",
                       LC_STR_ARG(q.text), q.more, LC_STR_ARG(what->path));
    if (find_next(content, what->old_str, (size_t)at + 1) >= 0)
        return fail_ambiguous(content, what->old_str, at, err);
    *out = (lc_file_edit){at, (int64_t)what->old_str.len, what->new_str};
    *out_line = count_newlines(content, (size_t)at) + 1;
    return LOCI_OK;
}

loci_status lc_file_insert(lc_arena *arena, loci_str content, int64_t line, loci_str text,
                           lc_file_edit *out, loci_error *err)
{
    int64_t count = lc_file_line_count(content);
    char *inserted;

    if (line < 0 || line > count)
        return lc_fail(err, LOCI_EINVAL,
                       "Invalid `insert_line` parameter: %" PRId64
                       ". It should be within the range of lines of the file: [0, %" PRId64 "]",
                       line, count);
    if (text.len > 0 && text.ptr[text.len - 1] == '\n')
        text.len--;
    inserted = lc_arena_alloc(arena, text.len + 1);
    if (inserted == NULL)
        return lc_fail_memory(err);
    /* A newline separates: it comes behind the text, or before it at the end of the file. */
    inserted[line == count ? 0 : text.len] = '\n';
    if (text.len > 0)
        memcpy(inserted + (line == count), text.ptr, text.len);
    *out = (lc_file_edit){line == count ? (int64_t)content.len : (int64_t)start_of(content, line),
                          0,
                          {inserted, text.len + 1}};
    return LOCI_OK;
}

bool lc_file_edit_fits(loci_str content, const lc_file_edit *edit)
{
    int64_t bytes = (int64_t)content.len;

    return edit->at >= 0 && edit->at <= bytes && edit->removed >= 0 &&
           edit->removed <= bytes - edit->at;
}

loci_str lc_file_edit_apply(lc_arena *arena, loci_str content, const lc_file_edit *edit)
{
    size_t at = (size_t)edit->at, behind = at + (size_t)edit->removed;
    size_t bytes = content.len - (size_t)edit->removed + edit->inserted.len;
    char *text = lc_arena_alloc(arena, bytes + 1);

    LC_ASSERT(lc_file_edit_fits(content, edit));
    if (text == NULL)
        return LC_STR_NONE;
    if (at > 0)
        memcpy(text, content.ptr, at);
    if (edit->inserted.len > 0)
        memcpy(text + at, edit->inserted.ptr, edit->inserted.len);
    if (behind < content.len)
        memcpy(text + at + edit->inserted.len, content.ptr + behind, content.len - behind);
    text[bytes] = '\0';
    return (loci_str){text, bytes};
}

/* ---- Directories ----------------------------------------------------------------------------- */

#define LEVELS 2
#define DIRECTORY_BYTES 4096 /* Size of a directory on most file systems. */

void lc_file_put_size(lc_buf *out, int64_t bytes)
{
    static const char units[] = "BKMG";
    int64_t unit = 1, tenths;
    size_t at = 0;

    while (bytes >= unit * 1024 && units[at + 1] != '\0') {
        unit *= 1024;
        at++;
    }
    tenths = (bytes * 20 + unit) / (unit * 2); /* Rounded to the nearest, halves up. */
    if (bytes % unit == 0)
        lc_buf_append_format(out, "%" PRId64 "%c", bytes / unit, units[at]);
    else
        lc_buf_append_format(out, "%" PRId64 ".%" PRId64 "%c", tenths / 10, tenths % 10, units[at]);
}

/* A directory comes before all names that begin with its name: the slash is the lowest byte. */
static int compare_paths(const void *a, const void *b)
{
    loci_str x = ((const lc_file_entry *)a)->path, y = ((const lc_file_entry *)b)->path;
    size_t at = 0;

    while (at < x.len && at < y.len && x.ptr[at] == y.ptr[at])
        at++;
    if (at == x.len || at == y.len)
        return (x.len > y.len) - (x.len < y.len);
    if (x.ptr[at] == '/' || y.ptr[at] == '/')
        return x.ptr[at] == '/' ? -1 : 1;
    return (unsigned char)x.ptr[at] < (unsigned char)y.ptr[at] ? -1 : 1;
}

static void put_item(lc_buf *out, int64_t bytes, loci_str path, const char *end)
{
    lc_buf_append_byte(out, '\n');
    lc_file_put_size(out, bytes);
    lc_buf_append_byte(out, '\t');
    lc_buf_append(out, path);
    lc_buf_append(out, loci_str_of(end));
}

/* The items that a file adds: directories in which no file before it was, then the file itself.
 * `before` is the path of the file before, or "". */
static void put_items(lc_buf *out, const lc_file_entry *entry, size_t root_bytes, loci_str before)
{
    loci_str path = entry->path;
    size_t start = root_bytes + 1;

    for (int level = 0; level < LEVELS; level++) {
        const char *slash = memchr(path.ptr + start, '/', path.len - start);
        size_t end = slash != NULL ? (size_t)(slash - path.ptr) : path.len;
        loci_str name = {path.ptr + start, end - start};
        loci_str item = {path.ptr, end};

        if (name.ptr[0] == '.' || lc_str_is(name, "node_modules"))
            return;
        if (slash == NULL) {
            put_item(out, entry->size, item, "");
            return;
        }
        if (before.len <= end || before.ptr[end] != '/' || !lc_str_starts(before, item))
            put_item(out, DIRECTORY_BYTES, item, "/");
        start = end + 1;
    }
}

void lc_file_put_directory(lc_buf *out, loci_str path, lc_file_entry *entries, size_t count)
{
    loci_str before = LC_STR("");

    lc_buf_append_format(out,
                         "Here're the files and directories up to %d levels deep in %.*s,"
                         " excluding hidden items and node_modules:",
                         LEVELS, (int)path.len, path.ptr);
    put_item(out, DIRECTORY_BYTES, path, "");
    if (count > 0)
        qsort(entries, count, sizeof *entries, compare_paths);
    for (size_t i = 0; i < count; i++) {
        put_items(out, &entries[i], path.len, before);
        before = entries[i].path;
    }
}
