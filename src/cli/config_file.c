/* config_file.c - the order of apply: backup and its fsync, new text and its fsync, a last look at
 * the old file, rename, fsync of the directory. A crash leaves the old file or the new one. */
#include "cli/config_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/str.h"
#include "base/time.h"
#include "cli/input.h"
#include "cli/opening.h"
#include "mcp/config_edit.h"

#define MODE_NEW 0600 /* Entries may hold secrets. */
#define BACKUPS_PER_SECOND_MAX 100

/* ---- Reading --------------------------------------------------------------------------------- */

static loci_status read_text(lc_cli *cli, const char *path, loci_str *out, loci_error *err)
{
    loci_status status;
    lc_buf text;

    lc_buf_init(&text, cli->heap, LOCI_MEM_REQUESTS, LC_CONFIG_BYTES_MAX);
    status = lc_input_read_file(path, &text, err);
    if (status == LOCI_OK) {
        *out = lc_arena_copy(cli->arena, lc_buf_str(&text));
        if (out->ptr == NULL)
            status = lc_fail_memory(err);
    }
    lc_buf_clear(&text);
    return status;
}

loci_status lc_config_change_open(lc_cli *cli, const char *path, lc_config_change *out,
                                  loci_error *err)
{
    lc_config_change change = {.path = path, .target = path};
    char target[PATH_MAX];
    struct stat link;
    loci_status status = LOCI_OK;

    if (lstat(path, &link) != 0 && (errno == ENOENT || errno == ENOTDIR)) {
        change.before = change.after = LC_STR("");
        *out = change;
        return LOCI_OK;
    }
    if (realpath(path, target) == NULL || stat(target, &change.info) != 0)
        return lc_fail(err, errno == ENOENT ? LOCI_ENOTFOUND : LOCI_EFORBIDDEN, "%s: %s%s", path,
                       strerror(errno),
                       errno == ENOENT ? " (a symbolic link to a missing file)" : "");
    if (!S_ISREG(change.info.st_mode))
        return lc_fail(err, LOCI_EFORBIDDEN, "%s is not a regular file", path);
    change.target = lc_arena_copy(cli->arena, loci_str_of(target)).ptr;
    if (change.target == NULL)
        return lc_fail_memory(err);
    status = read_text(cli, target, &change.before, err);
    if (status != LOCI_OK)
        return status;
    change.existed = change.exists_after = true;
    change.after = change.before;
    *out = change;
    return LOCI_OK;
}

bool lc_config_change_is_any(const lc_config_change *change)
{
    return change->existed != change->exists_after || !lc_str_eq(change->before, change->after);
}

/* ---- Showing --------------------------------------------------------------------------------- */

#define CONTEXT_LINES 2
#define LINES_MAX 2000 /* Of the part that differs: more is shown as removed and added. */

typedef struct lines {
    loci_str *items;
    size_t count;
} lines;

static lines split_lines(lc_cli *cli, loci_str text)
{
    lines split = {0};
    size_t count = 1;

    for (size_t i = 0; i < text.len; i++)
        count += text.ptr[i] == '\n';
    split.items = lc_arena_zalloc_array(cli->arena, count, sizeof *split.items);
    while (split.items != NULL && text.len > 0) {
        const char *end = memchr(text.ptr, '\n', text.len);
        size_t len = end != NULL ? (size_t)(end - text.ptr) + 1 : text.len;

        split.items[split.count++] = (loci_str){text.ptr, len};
        text = (loci_str){text.ptr + len, text.len - len};
    }
    return split;
}

static void show_line(lc_cli *cli, char mark, loci_str line, lc_buf *out)
{
    lc_style style = mark == '+' ? LC_STYLE_GOOD : mark == '-' ? LC_STYLE_BAD : LC_STYLE_PLAIN;
    loci_str text = line;
    lc_buf shown;

    lc_buf_init(&shown, cli->heap, LOCI_MEM_REQUESTS, LC_CONFIG_BYTES_MAX);
    while (text.len > 0 && (text.ptr[text.len - 1] == '\n' || text.ptr[text.len - 1] == '\r'))
        text.len--;
    lc_buf_append_byte(&shown, mark);
    for (; text.len > 0 && text.ptr[0] == '\t'; text.ptr++, text.len--)
        lc_buf_append_byte(&shown, '\t');
    lc_text_append_visible(&shown, text);
    lc_terminal_append(&cli->out_terminal, out, style, lc_buf_str(&shown));
    lc_buf_append_byte(out, '\n');
    if (line.len > 0 && line.ptr[line.len - 1] != '\n')
        lc_buf_append(out, LC_STR("\\ No newline at end of file\n"));
    lc_buf_clear(&shown);
}

/* The part of two texts between their common first and last lines. */
typedef struct middle {
    lines before, after;
    size_t head; /* Common lines at the beginning. */
    size_t tail; /* At the end. */
} middle;

/* Prints the lines of the middle by the longest common subsequence, so that two insertions do not
 * show the lines between them as changed. */
static void show_middle(lc_cli *cli, const middle *m, lc_buf *out)
{
    size_t rows = m->before.count - m->head - m->tail, columns = m->after.count - m->head - m->tail;
    const loci_str *a = m->before.items + m->head, *b = m->after.items + m->head;
    uint16_t *longest = rows <= LINES_MAX && columns <= LINES_MAX
                            ? lc_arena_zalloc_array(cli->arena, (rows + 1) * (columns + 1), 2)
                            : NULL;
    size_t i = 0, j = 0;

#define LONGEST(row, column) longest[(row) * (columns + 1) + (column)]
    for (size_t row = rows; longest != NULL && row-- > 0;) {
        for (size_t column = columns; column-- > 0;) {
            uint16_t down = LONGEST(row + 1, column), right = LONGEST(row, column + 1);

            LONGEST(row, column) = lc_str_eq(a[row], b[column])
                                       ? (uint16_t)(LONGEST(row + 1, column + 1) + 1)
                                       : (down > right ? down : right);
        }
    }
    while (i < rows || j < columns) {
        if (longest != NULL && i < rows && j < columns && lc_str_eq(a[i], b[j])) {
            show_line(cli, ' ', a[i], out);
            i++;
            j++;
        } else if (i < rows &&
                   (longest == NULL || j == columns || LONGEST(i + 1, j) >= LONGEST(i, j + 1))) {
            show_line(cli, '-', a[i++], out);
        } else {
            show_line(cli, '+', b[j++], out);
        }
    }
#undef LONGEST
}

void lc_config_change_show(lc_cli *cli, const lc_config_change *change, lc_buf *out)
{
    middle m = {.before = split_lines(cli, change->before),
                .after = split_lines(cli, change->after)};
    size_t shorter = m.before.count < m.after.count ? m.before.count : m.after.count;
    size_t from, to;

    if (m.before.items == NULL || m.after.items == NULL)
        return; /* Out of memory: apply will say so. */
    while (m.head < shorter && lc_str_eq(m.before.items[m.head], m.after.items[m.head]))
        m.head++;
    while (m.tail < shorter - m.head && lc_str_eq(m.before.items[m.before.count - 1 - m.tail],
                                                  m.after.items[m.after.count - 1 - m.tail]))
        m.tail++;
    from = m.head > CONTEXT_LINES ? m.head - CONTEXT_LINES : 0;
    to = m.before.count - m.tail + (m.tail < CONTEXT_LINES ? m.tail : CONTEXT_LINES);
    lc_buf_append_format(out, "--- %s\n+++ %s\n", change->existed ? change->path : "/dev/null",
                         change->exists_after ? change->path : "/dev/null");
    lc_buf_append_format(out, "@@ -%zu,%zu +%zu,%zu @@\n", change->existed ? from + 1 : 0,
                         to - from, change->exists_after ? from + 1 : 0,
                         m.after.count - m.before.count + to - from);
    for (size_t i = from; i < m.head; i++)
        show_line(cli, ' ', m.before.items[i], out);
    show_middle(cli, &m, out);
    for (size_t i = m.before.count - m.tail; i < to; i++)
        show_line(cli, ' ', m.before.items[i], out);
}

/* ---- Writing --------------------------------------------------------------------------------- */

static loci_status fail_write(const char *path, loci_error *err)
{
    int why = errno;

    return lc_fail(err, why == ENOSPC || why == EDQUOT ? LOCI_ERESOURCE : LOCI_EFORBIDDEN,
                   "cannot write %s: %s; nothing was changed", path, strerror(why));
}

/* Writes, syncs and closes. */
static bool fill_file(int descriptor, loci_str text)
{
    bool is_done = lc_cli_write(descriptor, text) && fsync(descriptor) == 0;
    int why = errno;

    is_done = close(descriptor) == 0 && is_done;
    if (!is_done && why != 0)
        errno = why;
    return is_done;
}

/* Gives a new file the mode and owner of the old one. */
static bool copy_rights(int descriptor, const lc_config_change *change)
{
    struct stat made;

    if (!change->existed)
        return fchmod(descriptor, MODE_NEW) == 0;
    if (fstat(descriptor, &made) != 0)
        return false;
    if ((made.st_uid != change->info.st_uid || made.st_gid != change->info.st_gid) &&
        fchown(descriptor, change->info.st_uid, change->info.st_gid) != 0)
        return false;
    return fchmod(descriptor, change->info.st_mode & 07777) == 0;
}

static loci_status write_backup(lc_cli *cli, lc_config_change *change, loci_error *err)
{
    char path[PATH_MAX], time[LC_TIME_BYTES_MAX];
    int64_t now_us = lc_clock_system_us(NULL);
    size_t len = 0, kept = lc_time_format(now_us - now_us % 1000000, time);
    int descriptor = -1;

    for (size_t i = 0; i < kept; i++) { /* 20261117T193000Z */
        if (time[i] != '-' && time[i] != ':')
            time[len++] = time[i];
    }
    for (unsigned i = 0; i < BACKUPS_PER_SECOND_MAX && descriptor < 0; i++) {
        if (i == 0)
            (void)snprintf(path, sizeof path, "%s.loci-backup-%.*s", change->target, (int)len,
                           time);
        else
            (void)snprintf(path, sizeof path, "%s.loci-backup-%.*s-%u", change->target, (int)len,
                           time, i + 1);
        descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
        if (descriptor < 0 && errno != EEXIST)
            break;
    }
    if (descriptor < 0)
        return fail_write(path, err);
    if (!copy_rights(descriptor, change)) {
        (void)close(descriptor); /* The first failure is reported. */
        (void)unlink(path);
        return fail_write(path, err);
    }
    if (!fill_file(descriptor, change->before)) {
        (void)unlink(path); /* An incomplete backup is worse than none. */
        return fail_write(path, err);
    }
    change->backup = lc_arena_copy(cli->arena, loci_str_of(path)).ptr;
    return change->backup != NULL ? LOCI_OK : lc_fail_memory(err);
}

/* Creates the directories of a path that are missing. */
static loci_status make_directories(const char *path, loci_error *err)
{
    char partial[PATH_MAX];
    size_t len = strlen(path);

    if (len >= sizeof partial)
        return lc_fail(err, LOCI_ELIMIT, "%s: the path is too long", path);
    for (size_t i = 1; i < len; i++) {
        if (path[i] != '/')
            continue;
        memcpy(partial, path, i);
        partial[i] = '\0';
        if (mkdir(partial, 0755) != 0 && errno != EEXIST)
            return lc_fail(err, LOCI_EFORBIDDEN, "cannot create the directory %s: %s", partial,
                           strerror(errno));
    }
    return LOCI_OK;
}

/* A client that is running may have written its file while the question was waiting. */
static loci_status check_unchanged(lc_cli *cli, const lc_config_change *change, loci_error *err)
{
    lc_config_change now;
    loci_status status = lc_config_change_open(cli, change->path, &now, err);

    if (status == LOCI_OK &&
        (now.existed != change->existed || !lc_str_eq(now.before, change->before)))
        status = lc_fail(err, LOCI_ECONFLICT,
                         "%s was changed by another program in the meantime; nothing was changed: "
                         "run the command again",
                         change->path);
    return status;
}

static loci_status replace_file(lc_cli *cli, const lc_config_change *change, loci_error *err)
{
    char path[PATH_MAX];
    loci_status status;
    int descriptor;

    if ((size_t)snprintf(path, sizeof path, "%s.loci-XXXXXX", change->target) >= sizeof path)
        return lc_fail(err, LOCI_ELIMIT, "%s: the path is too long", change->path);
    descriptor = mkostemp(path, O_CLOEXEC);
    if (descriptor < 0)
        return fail_write(change->path, err);
    if (!copy_rights(descriptor, change)) {
        (void)close(descriptor); /* The first failure is reported. */
        (void)unlink(path);
        return fail_write(change->path, err);
    }
    if (!fill_file(descriptor, change->after)) {
        status = fail_write(change->path, err);
        (void)unlink(path); /* The failure is reported. */
        return status;
    }
    status = check_unchanged(cli, change, err);
    if (status == LOCI_OK && rename(path, change->target) != 0)
        status = fail_write(change->path, err);
    if (status != LOCI_OK)
        (void)unlink(path); /* The failure is reported. */
    return status;
}

static void sync_directory(lc_cli *cli, const char *file)
{
    int descriptor = open(lc_store_path_directory(cli, file), O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (descriptor < 0)
        return;
    (void)fsync(descriptor); /* The change is made; only a power loss could still undo it. */
    (void)close(descriptor);
}

loci_status lc_config_change_apply(lc_cli *cli, lc_config_change *change, loci_error *err)
{
    loci_status status = LOCI_OK;

    /* A rename would succeed, and so would a write of root: the mode shows that its user does not
     * want changes. */
    if (change->existed &&
        ((change->info.st_mode & 0222) == 0 || access(change->target, W_OK) != 0))
        return lc_fail(
            err, LOCI_EFORBIDDEN,
            "%s is read-only; nothing was changed: make it writable, or pass --print and "
            "add the entry by hand",
            change->path);
    if (change->existed)
        status = write_backup(cli, change, err);
    else
        status = make_directories(change->target, err);
    if (status == LOCI_OK && change->exists_after)
        status = replace_file(cli, change, err);
    else if (status == LOCI_OK)
        status = check_unchanged(cli, change, err);
    if (status == LOCI_OK && !change->exists_after && unlink(change->target) != 0)
        status = fail_write(change->path, err);
    if (status == LOCI_OK)
        sync_directory(cli, change->target);
    else if (change->backup != NULL)
        (void)unlink(change->backup); /* The file is as it was. */
    return status;
}
