#include "cli/input.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/json.h"
#include "base/str.h"
#include "cli/cli.h"
#include "ops/surface.h"

/* ---- Whole files ----------------------------------------------------------------------------- */

#define READ_BYTES 65536u

/* read(2) that a signal ends with EINTR even if it arrives just before: between a look at the flag
 * and read(2) it would be lost, and a pipe may stay empty for ever. */
static ssize_t read_or_stop(int descriptor, char *out)
{
    struct pollfd watched[] = {{.fd = descriptor, .events = POLLIN},
                               {.fd = lc_interrupt_fd(), .events = POLLIN}};

    if (poll(watched, 2, -1) < 0)
        return -1;
    if (lc_interrupt_is_set()) {
        errno = EINTR;
        return -1;
    }
    return read(descriptor, out, READ_BYTES);
}

/* One read(2) into `block`; *out_bytes = 0 at the end. */
static loci_status read_block(int descriptor, const char *name, char block[READ_BYTES],
                              size_t *out_bytes, loci_error *err)
{
    ssize_t got;

    do
        got = read_or_stop(descriptor, block);
    while (got < 0 && errno == EINTR && !lc_interrupt_is_set());
    if (got < 0 && errno == EINTR)
        return lc_fail(err, LOCI_ECANCELLED, "interrupted while reading %s; nothing was changed",
                       name);
    if (got < 0)
        return lc_fail(err, LOCI_EUNAVAILABLE, "cannot read %s: %s", name, strerror(errno));
    *out_bytes = (size_t)got;
    return LOCI_OK;
}

loci_status lc_input_read(int descriptor, const char *name, lc_buf *out, loci_error *err)
{
    char block[READ_BYTES];
    size_t bytes = 1;
    loci_status status = LOCI_OK;

    while (status == LOCI_OK && bytes > 0) {
        status = read_block(descriptor, name, block, &bytes, err);
        if (status == LOCI_OK)
            lc_buf_append(out, (loci_str){block, bytes});
        if (out->failure == LOCI_ELIMIT)
            return lc_fail(err, LOCI_ELIMIT, "%s is larger than the maximum of %zu bytes", name,
                           out->bytes_max);
        if (out->failure != LOCI_OK)
            return lc_fail_memory(err);
    }
    return status;
}

loci_status lc_input_read_file(const char *path, lc_buf *out, loci_error *err)
{
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    loci_status status;

    if (descriptor < 0)
        return lc_fail(err, errno == ENOENT ? LOCI_ENOTFOUND : LOCI_EFORBIDDEN,
                       "cannot read %s: %s", path, strerror(errno));
    status = lc_input_read(descriptor, path, out, err);
    (void)close(descriptor); /* Was only read. */
    return status;
}

/* ---- Lines ----------------------------------------------------------------------------------- */

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

/* One read(2). */
static lc_line_result read_more(lc_line_reader *reader)
{
    size_t left = reader->text.len - reader->start;
    char *room;
    ssize_t got;

    if (reader->start > 0) { /* Moves the text that was not returned yet to the front. */
        memmove(reader->text.ptr, reader->text.ptr + reader->start, left);
        lc_buf_truncate(&reader->text, left);
        reader->start = 0;
    }
    room = lc_buf_reserve(&reader->text, READ_BYTES);
    if (room == NULL) {
        errno = ENOMEM;
        return LC_LINE_FAILED;
    }
    got = read_or_stop(reader->descriptor, room);
    if (got < 0)
        return errno != EINTR ? LC_LINE_FAILED : LC_LINE_INTERRUPTED;
    if (got == 0)
        reader->is_at_end = true;
    lc_buf_grew(&reader->text, (size_t)got);
    return LC_LINE_READ;
}

/* Takes a complete line, or the rest at the end of the file. */
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

/* ---- Temporary files ------------------------------------------------------------------------- */

static loci_status name_temporary(const char *name, char out[LC_TEMPORARY_BYTES], loci_error *err)
{
    const char *directory = getenv("TMPDIR");
    int len = snprintf(out, LC_TEMPORARY_BYTES, "%s/loci-%s-XXXXXX",
                       directory != NULL && directory[0] != '\0' ? directory : "/tmp", name);

    if (len < 0 || len >= LC_TEMPORARY_BYTES)
        return lc_fail(err, LOCI_EINVAL, "TMPDIR is too long");
    return LOCI_OK;
}

loci_status lc_temporary_open(const char *name, char out[LC_TEMPORARY_BYTES], int *out_descriptor,
                              loci_error *err)
{
    loci_status status = name_temporary(name, out, err);

    if (status != LOCI_OK)
        return status;
    *out_descriptor = mkstemp(out);
    if (*out_descriptor < 0)
        return lc_fail(err, LOCI_EUNAVAILABLE, "cannot create the temporary file %s: %s", out,
                       strerror(errno));
    return LOCI_OK;
}

loci_status lc_temporary_directory(const char *name, char out[LC_TEMPORARY_BYTES], loci_error *err)
{
    loci_status status = name_temporary(name, out, err);

    if (status == LOCI_OK && mkdtemp(out) == NULL) {
        status = lc_fail(err, LOCI_EUNAVAILABLE, "cannot create the temporary directory %s: %s",
                         out, strerror(errno));
        out[0] = '\0';
    }
    return status;
}

/* An import reads its input twice: all of it is checked before anything is changed. */
loci_status lc_input_spool(lc_cli *cli, char **out_path, loci_error *err)
{
    char path[LC_TEMPORARY_BYTES], block[READ_BYTES];
    size_t bytes = 1;
    int descriptor;
    loci_status status = lc_temporary_open("import", path, &descriptor, err);

    if (status != LOCI_OK)
        return status;
    while (status == LOCI_OK && bytes > 0) {
        status = read_block(STDIN_FILENO, "stdin", block, &bytes, err);
        if (status == LOCI_OK && !lc_cli_write(descriptor, (loci_str){block, bytes}))
            status = lc_fail(err, errno == ENOSPC ? LOCI_ERESOURCE : LOCI_EUNAVAILABLE,
                             "cannot copy stdin to %s: %s", path, strerror(errno));
    }
    (void)close(descriptor); /* A temporary file need not be durable. */
    if (status == LOCI_OK) {
        *out_path = (char *)lc_arena_copy(cli->arena, loci_str_of(path)).ptr; /* Ours. */
        status = *out_path != NULL ? LOCI_OK : lc_fail_memory(err);
    }
    if (status != LOCI_OK)
        (void)unlink(path); /* Best effort. */
    return status;
}

/* ---- Token files ----------------------------------------------------------------------------- */

#define TOKEN_FILE_BYTES_MAX 4096

static loci_status make_token(lc_cli *cli, loci_engine *engine, loci_str *out, loci_error *err)
{
    loci_str args = LC_STR("{\"name\":\"token-file\",\"scopes\":[\"admin\"]}");
    loci_answer *answer = NULL;
    const lc_json *json;
    const lc_json *token;
    loci_status status = loci_call(engine, "token.create", args, NULL, &answer, err);

    if (status != LOCI_OK)
        return status;
    status = lc_json_parse(cli->arena, loci_answer_json(answer), 0, &json, err);
    if (status == LOCI_OK) {
        token = lc_json_member(json, LC_STR("token"));
        *out = lc_arena_copy(cli->arena, lc_json_str(token));
        status = out->ptr != NULL ? LOCI_OK : lc_fail_memory(err);
    }
    loci_answer_free(answer);
    return status;
}

/* A file of another store would only lead to 401 later. */
static loci_status check_token(lc_cli *cli, loci_engine *engine, const char *path, loci_error *err)
{
    lc_token_identity identity;
    loci_str token;
    loci_status status = lc_token_file_read(cli, path, &token, err);

    if (status == LOCI_OK)
        status = lc_token_authenticate(engine, token, cli->arena, &identity, err);
    if (status == LOCI_EAUTH)
        return lc_fail(err, LOCI_ECONFLICT,
                       "the token in %s is not valid for this store; remove the file to create "
                       "a new token",
                       path);
    return status;
}

loci_status lc_token_file_make(lc_cli *cli, loci_engine *engine, const char *path, loci_error *err)
{
    /* Before the token: one that cannot be written to a file would be of no use. */
    int descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    loci_str token;
    loci_status status;

    if (descriptor < 0 && errno == EEXIST)
        return check_token(cli, engine, path, err);
    if (descriptor < 0)
        return lc_fail(err, LOCI_EFORBIDDEN, "cannot create the token file %s: %s", path,
                       strerror(errno));
    status = make_token(cli, engine, &token, err);
    if (status == LOCI_OK && (!lc_cli_write(descriptor, token) ||
                              !lc_cli_write(descriptor, LC_STR("\n")) || fsync(descriptor) != 0))
        status = lc_fail(err, LOCI_ERESOURCE, "cannot write the token file %s: %s", path,
                         strerror(errno));
    (void)close(descriptor); /* Synchronised above. */
    if (status != LOCI_OK)
        (void)unlink(path); /* The failure above is reported. */
    return status;
}

loci_status lc_token_file_read(lc_cli *cli, const char *path, loci_str *out, loci_error *err)
{
    loci_status status;
    lc_buf text;

    lc_buf_init(&text, cli->heap, LOCI_MEM_REQUESTS, TOKEN_FILE_BYTES_MAX);
    status = lc_input_read_file(path, &text, err);
    if (status == LOCI_OK) {
        *out = lc_arena_copy(cli->arena, lc_str_trim(lc_buf_str(&text)));
        status = out->ptr != NULL ? LOCI_OK : lc_fail_memory(err);
    }
    lc_buf_clear(&text);
    return status;
}
