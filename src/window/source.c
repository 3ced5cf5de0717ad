/* source.c - see source.h.
 *
 * Counting in blocks is exact: a block ends behind a line feed that is followed by a printable
 * ASCII character other than '/', where no rule of the encodings joins the two sides into one
 * piece. A block without such a place is cut between two characters, and the count is then marked
 * as an estimate.
 */
#include "window/source.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/hash.h"
#include "base/str.h"
#include "base/utf8.h"

#define BLOCK_BYTES (256 * 1024)
#define EDGE_BYTES 600 /* Of the beginning and of the end, for the extract. */
#define SCHEME "file://"

/* ---- Counting and extracting ----------------------------------------------------------------- */

typedef struct digesting {
    const lc_source_reader *reader;
    lc_resource_content *out;
    lc_hash128 hash;
    char head[EDGE_BYTES], tail[EDGE_BYTES];
    size_t head_len, tail_len;
} digesting;

static loci_status take_block(digesting *d, loci_str block, loci_error *err)
{
    lc_text_tokens count = {0};
    size_t room = EDGE_BYTES - d->head_len;
    size_t len = block.len < room ? block.len : room;
    loci_status status;

    if (memchr(block.ptr, '\0', block.len) != NULL || !lc_utf8_is_valid(block))
        return lc_fail(err, LOCI_EUNSUPPORTED,
                       "the content is not text in UTF-8; only text can be a resource");
    d->hash = d->out->bytes == 0 ? lc_hash128_of(block) : lc_hash128_chain(d->hash, block);
    memcpy(d->head + d->head_len, block.ptr, len);
    d->head_len += len;
    if (block.len >= EDGE_BYTES) {
        memcpy(d->tail, block.ptr + block.len - EDGE_BYTES, EDGE_BYTES);
        d->tail_len = EDGE_BYTES;
    } else {
        size_t keep = d->tail_len + block.len > EDGE_BYTES ? EDGE_BYTES - block.len : d->tail_len;

        memmove(d->tail, d->tail + d->tail_len - keep, keep);
        memcpy(d->tail + keep, block.ptr, block.len);
        d->tail_len = keep + block.len;
    }
    status = lc_tokenizer_count(d->reader->tokenizer, block, &count, err);
    d->out->bytes += (int64_t)block.len;
    d->out->tokens += count.tokens;
    d->out->is_estimated |= count.is_estimated;
    if (status == LOCI_OK && d->reader->pause != NULL)
        status = d->reader->pause(d->reader->pause_ctx, err);
    return status;
}

/* Appends `text` with each run of white space as one space. */
static void append_words(lc_buf *out, loci_str text)
{
    bool is_after_space = true;

    text = lc_str_trim(text);
    for (size_t i = 0; i < text.len; i++) {
        bool is_space = (unsigned char)text.ptr[i] <= ' ';

        if (!is_space || !is_after_space)
            lc_buf_append_byte(out, is_space ? ' ' : text.ptr[i]);
        is_after_space = is_space;
    }
}

/* The first `bytes` of `text`, up to the end of a word if there is one near. */
static loci_str cut_head(loci_str text, size_t bytes)
{
    size_t end = text.len <= bytes ? text.len : lc_utf8_cut(text, bytes);
    size_t at = end;

    while (end < text.len && at > end / 2 && (unsigned char)text.ptr[at - 1] > ' ')
        at--;
    return (loci_str){text.ptr, end < text.len && at > end / 2 ? at : end};
}

static loci_str cut_tail(loci_str text, size_t bytes)
{
    size_t from = text.len <= bytes ? 0 : text.len - bytes;
    size_t at;

    while (from < text.len && ((unsigned char)text.ptr[from] & 0xC0) == 0x80)
        from++;
    for (at = from; from > 0 && at < from + bytes / 2 && at < text.len; at++)
        if ((unsigned char)text.ptr[at] <= ' ')
            return (loci_str){text.ptr + at, text.len - at};
    return (loci_str){text.ptr + from, text.len - from};
}

static void append_extract(lc_buf *out, const digesting *d, size_t bytes)
{
    loci_str head = {d->head, d->head_len}, tail = {d->tail, d->tail_len};

    lc_buf_reset(out);
    if ((size_t)d->out->bytes <= bytes && (size_t)d->out->bytes <= d->head_len) {
        append_words(out, head);
        return;
    }
    append_words(out, cut_head(head, bytes * 2 / 3));
    lc_buf_append(out, LC_STR(" … "));
    append_words(out, cut_tail(tail, bytes / 3));
}

/* The longest extract that has few enough tokens. */
static loci_status make_summary(const digesting *d, loci_error *err)
{
    lc_resource_content *out = d->out;
    lc_text_tokens count = {0};
    loci_status status = LOCI_OK;
    lc_buf text;

    lc_buf_init(&text, d->reader->arena->heap, LOCI_MEM_REQUESTS, 4 * EDGE_BYTES);
    for (size_t bytes = EDGE_BYTES; status == LOCI_OK; bytes = bytes * 3 / 4) {
        append_extract(&text, d, bytes);
        status = lc_buf_status(&text, err);
        if (status == LOCI_OK)
            status = lc_tokenizer_count(d->reader->tokenizer, lc_buf_str(&text), &count, err);
        if (count.tokens <= LC_SUMMARY_TOKENS_MAX || bytes < 16)
            break;
    }
    if (status == LOCI_OK && text.len == 0)
        lc_buf_append(&text, LC_STR("(empty)"));
    if (status == LOCI_OK)
        status = lc_tokenizer_count(d->reader->tokenizer, lc_buf_str(&text), &count, err);
    if (status == LOCI_OK) {
        out->summary = lc_arena_copy(d->reader->arena, lc_buf_str(&text));
        out->summary_tokens = count.tokens;
        if (out->summary.ptr == NULL)
            status = lc_fail_memory(err);
    }
    lc_buf_clear(&text);
    return status;
}

static loci_status finish(digesting *d, loci_error *err)
{
    char hash[LC_HASH_TEXT_BYTES];
    loci_status status = make_summary(d, err);

    if (status != LOCI_OK)
        return status;
    lc_hash128_format(d->out->bytes > 0 ? d->hash : lc_hash128_of(LC_STR("")), hash);
    d->out->hash = lc_arena_copy(d->reader->arena, loci_str_of(hash));
    return d->out->hash.ptr != NULL ? LOCI_OK : lc_fail_memory(err);
}

/* Where a block of `text` can end, not before `from`; 0 = nowhere. */
static size_t find_end(loci_str text, size_t from)
{
    for (size_t at = text.len - 1; at > from; at--) {
        unsigned char next = (unsigned char)text.ptr[at];

        if (text.ptr[at - 1] == '\n' && next > ' ' && next < 0x7F && next != '/')
            return at;
    }
    return 0;
}

/* Takes the whole blocks of `text` and returns how many bytes they have. */
static loci_status take_blocks(digesting *d, loci_str text, bool is_last, size_t *out,
                               loci_error *err)
{
    size_t end = is_last ? text.len : text.len > 1 ? find_end(text, 0) : 0;

    *out = 0;
    if (end == 0 && !is_last && text.len >= 2 * BLOCK_BYTES) {
        end = lc_utf8_cut(text, text.len - 4);
        d->out->is_estimated = true;
    }
    if (end == 0)
        return LOCI_OK;
    *out = end;
    return take_block(d, (loci_str){text.ptr, end}, err);
}

loci_status lc_source_read_text(const lc_source_reader *reader, loci_str text,
                                lc_resource_content *out, loci_error *err)
{
    digesting d = {.reader = reader, .out = out};
    loci_status status = LOCI_OK;

    *out = (lc_resource_content){.text = reader->wants_text ? text : LC_STR_NONE};
    for (size_t at = 0; at < text.len && status == LOCI_OK;) {
        size_t len = text.len - at < 2 * BLOCK_BYTES ? text.len - at : 2 * BLOCK_BYTES;
        size_t taken;

        status = take_blocks(&d, (loci_str){text.ptr + at, len}, at + len == text.len, &taken, err);
        at += taken;
    }
    return status == LOCI_OK ? finish(&d, err) : status;
}

/* ---- Files ----------------------------------------------------------------------------------- */

static loci_status fail_open(loci_str path, int number, loci_error *err)
{
    if (number == ELOOP || number == ENOTDIR)
        return lc_fail(
            err, LOCI_EFORBIDDEN,
            "%.*s: the path has a symbolic link, which is not followed, or a file in the "
            "place of a folder",
            LC_STR_ARG(path));
    if (number == ENOENT)
        return lc_fail(err, LOCI_ENOTFOUND, "%.*s: no such file%s", LC_STR_ARG(path),
                       path.len > 0 && path.ptr[0] == '/'
                           ? ""
                           : " in the folders of window.roots; an absolute path works, too");
    return lc_fail(err, LOCI_EUNAVAILABLE, "%.*s: %s", LC_STR_ARG(path), strerrordesc_np(number));
}

/* Opens `name` (not terminated) in the folder `at`. */
static int open_name(int at, loci_str name, int flags)
{
    char text[256];

    if (name.len == 0 || name.len >= sizeof text || memchr(name.ptr, '\0', name.len) != NULL) {
        errno = ENOENT;
        return -1;
    }
    memcpy(text, name.ptr, name.len);
    text[name.len] = '\0';
    return openat(at, text, flags | O_NOFOLLOW | O_CLOEXEC);
}

static bool is_climbing(loci_str path)
{
    for (loci_str rest = path; rest.ptr != NULL;)
        if (lc_str_is(lc_str_split(rest, '/', &rest), ".."))
            return true;
    return false;
}

/* Opens `path`, which is relative to the open folder `at`, name by name; closes `at`. O_NONBLOCK:
 * the file may be a pipe. */
static int walk(int at, loci_str path)
{
    loci_str rest = path;

    while (at >= 0) {
        loci_str name = lc_str_split(rest, '/', &rest);
        bool is_last = rest.ptr == NULL;
        int next, number;

        if ((name.len == 0 || lc_str_is(name, ".")) && !is_last)
            continue;
        next = open_name(at, name,
                         is_last ? O_RDONLY | O_NONBLOCK | O_NOCTTY : O_PATH | O_DIRECTORY);
        number = errno;
        (void)close(at);
        errno = number;
        if (is_last || next < 0)
            return next;
        at = next;
    }
    return at;
}

/* The part of an absolute `path` below `root`; none = it is not below it. */
static loci_str below(loci_str root, loci_str path)
{
    while (root.len > 1 && root.ptr[root.len - 1] == '/')
        root.len--;
    if (root.len == 1 && root.ptr[0] == '/')
        return path.len > 1 ? (loci_str){path.ptr + 1, path.len - 1} : LC_STR_NONE;
    if (!lc_str_starts(path, root) || path.len <= root.len + 1 || path.ptr[root.len] != '/')
        return LC_STR_NONE;
    return (loci_str){path.ptr + root.len + 1, path.len - root.len - 1};
}

static int open_root(lc_arena *arena, loci_str root)
{
    loci_str path = lc_arena_copy(arena, root); /* Terminated. */

    if (path.ptr == NULL) {
        errno = ENOMEM;
        return -1;
    }
    return open(path.ptr, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

/* Opens a plain file at `path`, absolute or relative, below one of the roots. `root`, which may be
 * NULL, gets the root and `part` the path below it. */
static loci_status open_file(const lc_source_reader *reader, loci_str path, loci_str *root,
                             loci_str *part, int *out, loci_error *err)
{
    bool is_absolute = path.len > 0 && path.ptr[0] == '/';
    bool is_below = false;
    struct stat info;
    int fd = -1, number = ENOENT;

    if (is_climbing(path))
        return lc_fail(err, LOCI_EFORBIDDEN, "%.*s: `..` is not allowed in a path",
                       LC_STR_ARG(path));
    for (loci_str rest = reader->roots; rest.len > 0 && fd < 0;) {
        *root = lc_str_split(rest, ':', &rest);
        *part = is_absolute ? below(*root, path) : path;
        if (root->len == 0 || root->ptr[0] != '/' || part->len == 0)
            continue;
        is_below = true;
        fd = walk(open_root(reader->arena, *root), *part);
        if (fd < 0 && (number == ENOENT || errno != ENOENT))
            number = errno;
    }
    if (!is_below)
        return lc_fail(err, LOCI_EFORBIDDEN, "%.*s is not below a folder of the setting %s",
                       LC_STR_ARG(path), lc_setting_window_roots.name);
    if (fd < 0)
        return fail_open(path, number, err);
    if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
        (void)close(fd);
        return lc_fail(err, LOCI_EINVAL, "%.*s is not a plain file", LC_STR_ARG(path));
    }
    *out = fd;
    return LOCI_OK;
}

loci_status lc_source_find_file(const lc_source_reader *reader, loci_str path, loci_str *out_uri,
                                loci_error *err)
{
    loci_str root, part;
    loci_status status;
    lc_buf uri;
    int fd = -1;

    if (reader->roots.len == 0)
        return lc_fail(err, LOCI_EFORBIDDEN,
                       "files cannot be resources until an administrator sets %s to the folders "
                       "that may be read",
                       lc_setting_window_roots.name);
    if (lc_str_starts(path, LC_STR(SCHEME)))
        path = (loci_str){path.ptr + strlen(SCHEME), path.len - strlen(SCHEME)};
    status = open_file(reader, path, &root, &part, &fd, err);
    if (status != LOCI_OK)
        return status;
    (void)close(fd);
    lc_buf_init(&uri, reader->arena->heap, LOCI_MEM_REQUESTS, LC_JSON_BYTES_MAX);
    lc_buf_append(&uri, LC_STR(SCHEME));
    while (root.len > 0 && root.ptr[root.len - 1] == '/')
        root.len--;
    lc_buf_append(&uri, root);
    for (loci_str rest = part; rest.ptr != NULL;) { /* One spelling: no "//" and no "/./". */
        loci_str name = lc_str_split(rest, '/', &rest);

        if (name.len == 0 || lc_str_is(name, "."))
            continue;
        lc_buf_append_byte(&uri, '/');
        lc_buf_append(&uri, name);
    }
    status = lc_buf_status(&uri, err);
    if (status == LOCI_OK) {
        *out_uri = lc_arena_copy(reader->arena, lc_buf_str(&uri));
        if (out_uri->ptr == NULL)
            status = lc_fail_memory(err);
    }
    lc_buf_clear(&uri);
    return status;
}

/* Any failure to open a known resource means that it is unavailable now. */
static loci_status open_uri(const lc_source_reader *reader, loci_str uri, int *out, loci_error *err)
{
    loci_str root, part;
    loci_str path = {uri.ptr + strlen(SCHEME), uri.len - strlen(SCHEME)};
    loci_error problem = {0};
    loci_status status = open_file(reader, path, &root, &part, out, &problem);

    return status == LOCI_OK || status == LOCI_ERESOURCE
               ? status
               : lc_fail(err, LOCI_EUNAVAILABLE, "%s", problem.message);
}

static int64_t modified_at(const struct stat *info)
{
    return (int64_t)info->st_mtim.tv_sec * 1000000 + info->st_mtim.tv_nsec / 1000;
}

loci_status lc_source_stamp_file(const lc_source_reader *reader, loci_str uri, lc_source_stamp *out,
                                 loci_error *err)
{
    struct stat info = {0};
    int fd = -1;
    loci_status status = open_uri(reader, uri, &fd, err);

    if (status != LOCI_OK)
        return status;
    if (fstat(fd, &info) != 0)
        status = lc_fail(err, LOCI_EUNAVAILABLE, "%.*s: %s", LC_STR_ARG(uri),
                         strerrordesc_np(errno));
    (void)close(fd);
    *out = (lc_source_stamp){(int64_t)info.st_size, modified_at(&info)};
    return status;
}

/* Fills the buffer; 0 at the end of the file. */
static loci_status read_some(int fd, char *to, size_t room, size_t *out, loci_error *err)
{
    ssize_t got;

    do
        got = read(fd, to, room);
    while (got < 0 && errno == EINTR);
    if (got < 0)
        return lc_fail(err, LOCI_EUNAVAILABLE, "the file cannot be read: %s",
                       strerrordesc_np(errno));
    *out = (size_t)got;
    return LOCI_OK;
}

/* Keeps the text, for a file that is wanted in full. */
static loci_status keep(const digesting *d, lc_buf *whole, loci_str block, loci_error *err)
{
    if (!d->reader->wants_text)
        return LOCI_OK;
    if (whole->len + block.len > LC_SOURCE_TEXT_BYTES_MAX)
        return lc_fail(err, LOCI_ELIMIT,
                       "the file has more than %d bytes and cannot be returned in full; use mode "
                       "summary",
                       LC_SOURCE_TEXT_BYTES_MAX);
    lc_buf_append(whole, block);
    return lc_buf_status(whole, err);
}

static loci_status read_blocks(digesting *d, int fd, char *block, lc_buf *whole, loci_error *err)
{
    size_t filled = 0, got = 1, taken;
    loci_status status = LOCI_OK;

    while (status == LOCI_OK && got > 0) {
        while (status == LOCI_OK && got > 0 && filled < 2 * BLOCK_BYTES) {
            status = read_some(fd, block + filled, 2 * BLOCK_BYTES - filled, &got, err);
            filled += status == LOCI_OK ? got : 0;
        }
        if (status == LOCI_OK && d->out->bytes + (int64_t)filled > LC_SOURCE_FILE_BYTES_MAX)
            status = lc_fail(err, LOCI_ELIMIT, "the file has more than %lld bytes",
                             (long long)LC_SOURCE_FILE_BYTES_MAX);
        if (status == LOCI_OK && filled > 0)
            status = take_blocks(d, (loci_str){block, filled}, got == 0, &taken, err);
        if (status != LOCI_OK || filled == 0)
            break;
        status = keep(d, whole, (loci_str){block, taken}, err);
        filled -= taken;
        memmove(block, block + taken, filled);
    }
    return status;
}

loci_status lc_source_read_file(const lc_source_reader *reader, loci_str uri,
                                lc_resource_content *out, loci_error *err)
{
    digesting d = {.reader = reader, .out = out};
    lc_heap *heap = reader->arena->heap;
    char *block = NULL;
    struct stat info = {0};
    lc_buf whole;
    int fd = -1;
    loci_status status = open_uri(reader, uri, &fd, err);

    *out = (lc_resource_content){.text = LC_STR_NONE};
    lc_buf_init(&whole, heap, LOCI_MEM_REQUESTS, LC_SOURCE_TEXT_BYTES_MAX);
    if (status == LOCI_OK) {
        block = lc_heap_alloc(heap, 2 * BLOCK_BYTES, LOCI_MEM_REQUESTS);
        if (block == NULL)
            status = lc_fail_memory(err);
    }
    if (status == LOCI_OK && fstat(fd, &info) != 0)
        status = lc_fail(err, LOCI_EUNAVAILABLE, "%.*s: %s", LC_STR_ARG(uri),
                         strerrordesc_np(errno));
    if (status == LOCI_OK)
        status = read_blocks(&d, fd, block, &whole, err);
    if (status == LOCI_OK)
        status = finish(&d, err);
    if (status == LOCI_OK && reader->wants_text) {
        out->text = lc_arena_copy(reader->arena, lc_buf_str(&whole));
        if (out->text.ptr == NULL)
            status = lc_fail_memory(err);
    }
    out->modified_at = modified_at(&info);
    lc_buf_clear(&whole);
    if (block != NULL)
        lc_heap_free(heap, block, 2 * BLOCK_BYTES, LOCI_MEM_REQUESTS);
    if (fd >= 0)
        (void)close(fd);
    return status;
}
