/* project.c - finds the git repository of a directory and the name of its project.
 *
 *     root/.git/                    a repository; its config has the remotes
 *     root/.git                     a file "gitdir: PATH": a worktree or a submodule
 *     PATH/commondir                of a worktree: the .git of the main work tree, which has config
 *     DIR/HEAD, objects/, refs/     a bare repository
 *
 * So worktrees share the config, and the project, of their main work tree; a submodule has a
 * config, and a project, of its own.
 */
#include "cli/project.h"

#include <ctype.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/limits.h"
#include "base/str.h"
#include "base/utf8.h"

#define PREFIX "project:"
#define LINK_BYTES_MAX (PATH_MAX + 64) /* .git and commondir: one path. */
#define CONFIG_BYTES_MAX (1u << 20)

/* ---- Files ----------------------------------------------------------------------------------- */

/* The content of a regular file in the arena; false if there is none, or it is too large. A FIFO or
 * device in its place does not block. */
static bool read_small(lc_arena *arena, const char *path, size_t bytes_max, loci_str *out)
{
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    bool is_read = false;
    struct stat info;
    char *text = NULL;
    size_t len = 0;

    if (descriptor < 0)
        return false;
    if (fstat(descriptor, &info) == 0 && S_ISREG(info.st_mode) && info.st_size >= 0 &&
        (uint64_t)info.st_size <= bytes_max)
        text = lc_arena_alloc(arena, (size_t)info.st_size + 1);
    while (text != NULL && len < (size_t)info.st_size) {
        ssize_t got = read(descriptor, text + len, (size_t)info.st_size - len);

        if (got <= 0)
            break; /* It became shorter, or cannot be read: what was read counts. */
        len += (size_t)got;
    }
    if (text != NULL) {
        text[len] = '\0';
        *out = (loci_str){text, len};
        is_read = memchr(text, '\0', len) == NULL || len == 0;
    }
    (void)close(descriptor); /* Nothing was written. */
    return is_read;
}

static bool is_directory(const char *path)
{
    struct stat info;

    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

/* "directory/name"; false if it is too long. */
static bool join(char out[PATH_MAX], const char *directory, const char *name)
{
    int len = name[0] == '/' ? snprintf(out, PATH_MAX, "%s", name)
                             : snprintf(out, PATH_MAX, "%s/%s", directory, name);

    return len > 0 && len < PATH_MAX;
}

/* As git judges: HEAD, which may be a broken link, and where objects are. */
static bool is_git_directory(const char *path)
{
    char part[PATH_MAX];
    struct stat info;

    if (!join(part, path, "HEAD") || lstat(part, &info) != 0)
        return false;
    if (join(part, path, "commondir") && stat(part, &info) == 0)
        return true;
    return join(part, path, "objects") && is_directory(part) && join(part, path, "refs") &&
           is_directory(part);
}

/* The path in a file of the form "LEAD PATH\n", relative to `directory`. */
static bool read_link(lc_arena *arena, const char *file, loci_str lead, const char *directory,
                      char out[PATH_MAX])
{
    char joined[PATH_MAX];
    loci_str text;

    if (!read_small(arena, file, LINK_BYTES_MAX, &text) || !lc_str_starts(text, lead))
        return false;
    text = lc_str_trim((loci_str){text.ptr + lead.len, text.len - lead.len});
    text = lc_arena_copy(arena, text);
    if (text.ptr == NULL || text.len == 0 || !join(joined, directory, text.ptr))
        return false;
    if (realpath(joined, out) != NULL)
        return true;
    memcpy(out, joined, sizeof joined); /* It is gone: known by its name alone. */
    return true;
}

/* ---- The repository -------------------------------------------------------------------------- */

typedef struct repository {
    char root[PATH_MAX];   /* Of the work tree; a bare one's own. */
    char common[PATH_MAX]; /* The directory with config. */
    bool is_linked;        /* A worktree beside the main one, or of a bare repository. */
} repository;

/* Whether `directory` is the top of a repository. */
static bool open_at(lc_arena *arena, const char *directory, repository *out)
{
    char dot_git[PATH_MAX], common_file[PATH_MAX], git[PATH_MAX];
    struct stat info;

    if (!join(dot_git, directory, ".git"))
        return false;
    if (stat(dot_git, &info) != 0) {
        const char *name = strrchr(directory, '/');

        /* Bare, unless it is the .git of the directory above. */
        if (!is_git_directory(directory) || (name != NULL && strcmp(name, "/.git") == 0))
            return false;
        memcpy(git, directory, strlen(directory) + 1);
    } else if (S_ISDIR(info.st_mode)) {
        if (!is_git_directory(dot_git))
            return false;
        memcpy(git, dot_git, sizeof git);
    } else if (!read_link(arena, dot_git, LC_STR("gitdir:"), directory, git)) {
        return false;
    }
    if (snprintf(out->root, sizeof out->root, "%s", directory) >= (int)sizeof out->root)
        return false;
    out->is_linked = join(common_file, git, "commondir") &&
                     read_link(arena, common_file, LC_STR(""), git, out->common);
    if (!out->is_linked)
        memcpy(out->common, git, sizeof git);
    return true;
}

static bool find_repository(lc_arena *arena, const char *directory, repository *out)
{
    char at[PATH_MAX];

    if (realpath(directory != NULL ? directory : ".", at) == NULL)
        return false;
    for (;;) {
        char *slash = strrchr(at, '/');

        if (open_at(arena, at, out))
            return true;
        if (slash == NULL || at[1] == '\0')
            return false;
        slash[slash == at ? 1 : 0] = '\0';
    }
}

/* ---- Its config ------------------------------------------------------------------------------ */

/* git-config's syntax, as far as remotes need it: sections, quoted subsections, quoted values with
 * escapes, comments, continued lines. Includes are not followed. */
typedef struct config_reader {
    const char *at, *end;
    lc_buf *value; /* Of the current variable. */
} config_reader;

static void skip_line(config_reader *r)
{
    while (r->at < r->end && *r->at != '\n')
        r->at++;
}

/* Reads `[remote "NAME"]` behind its bracket. True if it is a remote; its name is in `value`. */
static bool read_section(config_reader *r)
{
    static const char word[] = "remote";
    size_t len = 0;
    bool is_remote;

    while (r->at + len < r->end &&
           (isalnum((unsigned char)r->at[len]) || r->at[len] == '-' || r->at[len] == '.'))
        len++;
    is_remote = len == sizeof word - 1 && strncasecmp(r->at, word, len) == 0;
    r->at += len;
    lc_buf_reset(r->value);
    while (r->at < r->end && *r->at != ']' && *r->at != '"' && *r->at != '\n')
        r->at++;
    if (r->at < r->end && *r->at == '"') {
        for (r->at++; r->at < r->end && *r->at != '"' && *r->at != '\n'; r->at++) {
            if (*r->at == '\\' && r->at + 1 < r->end)
                r->at++;
            lc_buf_append_byte(r->value, *r->at);
        }
        while (r->at < r->end && *r->at != ']' && *r->at != '\n')
            r->at++;
    }
    if (r->at < r->end && *r->at == ']')
        r->at++;
    return is_remote && r->value->len > 0;
}

static char unescape(char c)
{
    return c == 'n' ? '\n' : c == 't' ? '\t' : c == 'b' ? '\b' : c;
}

/* Reads a value up to the end of its line into `value`, without white space around it. */
static void read_value(config_reader *r)
{
    bool is_quoted = false;
    size_t kept = 0; /* Without trailing spaces, unless they are quoted. */

    lc_buf_reset(r->value);
    while (r->at < r->end && (*r->at == ' ' || *r->at == '\t'))
        r->at++;
    for (; r->at < r->end && *r->at != '\n'; r->at++) {
        char c = *r->at;

        if (c == '"') {
            is_quoted = !is_quoted;
            continue;
        }
        if (!is_quoted && (c == '#' || c == ';')) {
            skip_line(r);
            break;
        }
        if (c == '\\' && r->at + 1 < r->end) {
            c = *++r->at;
            if (c == '\n')
                continue; /* A line that is continued. */
            c = unescape(c);
        }
        lc_buf_append_byte(r->value, c);
        if (is_quoted || !isspace((unsigned char)c))
            kept = r->value->len;
    }
    r->value->len = kept < r->value->len ? kept : r->value->len;
}

/* Reads "name = value" and returns whether the name is `url`. */
static bool read_variable(config_reader *r)
{
    const char *name = r->at;
    size_t len;

    while (r->at < r->end && (isalnum((unsigned char)*r->at) || *r->at == '-'))
        r->at++;
    len = (size_t)(r->at - name);
    while (r->at < r->end && (*r->at == ' ' || *r->at == '\t'))
        r->at++;
    if (len == 0 || r->at == r->end || *r->at != '=') {
        skip_line(r);
        return false;
    }
    r->at++;
    read_value(r);
    return len == 3 && strncasecmp(name, "url", 3) == 0;
}

typedef struct remote {
    loci_str name;
    loci_str url;
} remote;

/* The remote "origin", else the first in the file; `out->url` is empty without a remote. */
static loci_status find_remote(lc_arena *arena, loci_str config, remote *out, loci_error *err)
{
    loci_str section = LC_STR_NONE;
    loci_status status = LOCI_OK;
    config_reader r = {.at = config.ptr, .end = config.ptr + config.len};
    lc_buf value;

    lc_buf_init(&value, arena->heap, LOCI_MEM_REQUESTS, CONFIG_BYTES_MAX);
    r.value = &value;
    while (status == LOCI_OK && r.at < r.end && !lc_str_is(out->name, "origin")) {
        if (isspace((unsigned char)*r.at)) {
            r.at++;
        } else if (*r.at == '#' || *r.at == ';') {
            skip_line(&r);
        } else if (*r.at == '[') {
            r.at++;
            section = read_section(&r) ? lc_arena_copy(arena, lc_buf_str(&value)) : LC_STR_NONE;
        } else if (read_variable(&r) && section.len > 0 && value.len > 0 &&
                   (out->url.len == 0 || lc_str_is(section, "origin"))) {
            out->name = section;
            out->url = lc_arena_copy(arena, lc_buf_str(&value));
            if (out->url.ptr == NULL)
                status = lc_fail_memory(err);
        }
        if (status == LOCI_OK)
            status = lc_buf_status(&value, err);
    }
    lc_buf_clear(&value);
    return status;
}

/* ---- The name of a remote -------------------------------------------------------------------- */

static bool is_default_port(loci_str scheme, loci_str port)
{
    static const struct {
        const char *scheme, *port;
    } defaults[] = {
        {"https", "443"}, {"http", "80"}, {"ssh", "22"}, {"git+ssh", "22"}, {"git", "9418"}};

    for (size_t i = 0; i < sizeof defaults / sizeof defaults[0]; i++)
        if (lc_str_is(scheme, defaults[i].scheme) && lc_str_is(port, defaults[i].port))
            return true;
    return port.len == 0;
}

/* Without "/" at either end, without ".git", and with one "/" between its parts. */
static loci_str trim_path(loci_str path)
{
    while (path.len > 0 && path.ptr[path.len - 1] == '/')
        path.len--;
    if (path.len > 4 && memcmp(path.ptr + path.len - 4, ".git", 4) == 0 &&
        path.ptr[path.len - 5] != '/')
        path.len -= 4;
    return path;
}

static void append_path(lc_buf *out, loci_str path)
{
    for (size_t i = 0; i < path.len; i++)
        if (path.ptr[i] != '/' || (i + 1 < path.len && path.ptr[i + 1] != '/'))
            lc_buf_append_byte(out, path.ptr[i]);
}

static bool append_host(lc_buf *out, loci_str scheme, loci_str authority, loci_str path)
{
    const char *at = authority.len > 0 ? memrchr(authority.ptr, '@', authority.len) : NULL;
    loci_str host = authority, port = LC_STR("");
    const char *colon;

    if (at != NULL) /* Credentials. */
        host = (loci_str){at + 1, authority.len - (size_t)(at + 1 - authority.ptr)};
    colon = host.len > 0 && host.ptr[host.len - 1] != ']' ? memrchr(host.ptr, ':', host.len) : NULL;
    if (colon != NULL) {
        port = (loci_str){colon + 1, host.len - (size_t)(colon + 1 - host.ptr)};
        host.len = (size_t)(colon - host.ptr);
    }
    while (path.len > 0 && path.ptr[0] == '/') {
        path.ptr++;
        path.len--;
    }
    path = trim_path(path);
    if (host.len == 0 || path.len == 0)
        return false;
    for (size_t i = 0; i < host.len; i++)
        lc_buf_append_byte(out, (char)tolower((unsigned char)host.ptr[i]));
    if (!is_default_port(scheme, port)) {
        lc_buf_append_byte(out, ':');
        lc_buf_append(out, port);
    }
    lc_buf_append_byte(out, '/');
    append_path(out, path);
    return true;
}

/* A remote that is a directory: its real path. */
static bool append_local(lc_buf *out, loci_str path, const char *root)
{
    char text[PATH_MAX], joined[PATH_MAX], real[PATH_MAX];
    loci_str shown;

    if (path.len == 0 || path.len >= sizeof text)
        return false;
    memcpy(text, path.ptr, path.len);
    text[path.len] = '\0';
    if (!join(joined, root, text))
        return false;
    shown = trim_path(loci_str_of(realpath(joined, real) != NULL ? real : joined));
    if (shown.len == 0)
        return false;
    append_path(out, shown);
    return true;
}

bool lc_project_append_remote(lc_buf *out, loci_str url, const char *root)
{
    const char *scheme_end, *slash, *colon;
    loci_str scheme, rest;

    url = lc_str_trim(url);
    if (url.len == 0)
        return false;
    scheme_end = memmem(url.ptr, url.len, "://", 3);
    slash = memchr(url.ptr, '/', url.len);
    colon = memchr(url.ptr, ':', url.len);
    if (scheme_end != NULL && scheme_end + 1 == slash) {
        scheme = (loci_str){url.ptr, (size_t)(scheme_end - url.ptr)};
        rest = (loci_str){scheme_end + 3, url.len - scheme.len - 3};
        if (lc_str_is(scheme, "file"))
            return append_local(out, rest, root);
        if (lc_str_starts(scheme, LC_STR("http"))) { /* A query may have a token. */
            size_t len = 0;

            while (len < rest.len && rest.ptr[len] != '?' && rest.ptr[len] != '#')
                len++;
            rest.len = len;
        }
        slash = rest.len > 0 ? memchr(rest.ptr, '/', rest.len) : NULL;
        if (slash == NULL)
            return false;
        return append_host(out, scheme, (loci_str){rest.ptr, (size_t)(slash - rest.ptr)},
                           (loci_str){slash, rest.len - (size_t)(slash - rest.ptr)});
    }
    /* [user@]host:path, as scp writes it, unless a slash comes before the colon. */
    if (colon != NULL && colon > url.ptr && (slash == NULL || colon < slash)) {
        if (colon + 1 < url.ptr + url.len && colon[1] == ':')
            return false; /* "helper::address": a remote helper's own. */
        return append_host(out, LC_STR("ssh"), (loci_str){url.ptr, (size_t)(colon - url.ptr)},
                           (loci_str){colon + 1, url.len - (size_t)(colon + 1 - url.ptr)});
    }
    return append_local(out, url, root);
}

/* ---- The project ----------------------------------------------------------------------------- */

static bool is_plain(loci_str text)
{
    for (size_t i = 0; i < text.len; i++)
        if ((unsigned char)text.ptr[i] < 0x20 || text.ptr[i] == 0x7F)
            return false;
    return lc_utf8_is_valid(text);
}

/* The id of the persona. A name that an id cannot have, or that is too long, ends in its hash. */
static const char *make_id(lc_arena *arena, loci_str name)
{
    char id[LC_ID_BYTES_MAX + 1], hash[LC_HASH_TEXT_BYTES];
    size_t len = 0;

    if (is_plain(name) && sizeof PREFIX - 1 + name.len <= LC_ID_BYTES_MAX) {
        (void)snprintf(id, sizeof id, PREFIX "%.*s", LC_STR_ARG(name)); /* Measured above. */
        return lc_arena_copy(arena, loci_str_of(id)).ptr;
    }
    lc_hash128_format(lc_hash128_of(name), hash);
    if (is_plain(name))
        len = lc_utf8_cut(name, LC_ID_BYTES_MAX - sizeof PREFIX - sizeof hash);
    (void)snprintf(id, sizeof id, PREFIX "%.*s#%s", (int)len, name.ptr, hash);
    return lc_arena_copy(arena, loci_str_of(id)).ptr;
}

/* Of all worktrees together: the main work tree, or the bare repository. */
static void name_by_path(const repository *of, lc_buf *out)
{
    loci_str path = loci_str_of(of->is_linked ? of->common : of->root);

    if (of->is_linked && path.len > 5 && memcmp(path.ptr + path.len - 5, "/.git", 5) == 0)
        path.len -= 5;
    lc_buf_append(out, path);
}

static loci_status name_project(lc_arena *arena, const repository *found, lc_project *out,
                                loci_error *err)
{
    char config_file[PATH_MAX];
    remote chosen = {0};
    loci_status status = LOCI_OK;
    loci_str config;
    lc_buf name;

    lc_buf_init(&name, arena->heap, LOCI_MEM_REQUESTS, CONFIG_BYTES_MAX);
    if (join(config_file, found->common, "config") &&
        read_small(arena, config_file, CONFIG_BYTES_MAX, &config))
        status = find_remote(arena, config, &chosen, err);
    if (status == LOCI_OK && lc_project_append_remote(&name, chosen.url, found->root))
        out->remote = chosen.name.ptr;
    else if (status == LOCI_OK)
        name_by_path(found, &name);
    if (status == LOCI_OK)
        status = lc_buf_status(&name, err);
    if (status == LOCI_OK) {
        out->persona_id = make_id(arena, lc_buf_str(&name));
        out->root = lc_arena_copy(arena, loci_str_of(found->root)).ptr;
        if (out->persona_id == NULL || out->root == NULL)
            status = lc_fail_memory(err);
    }
    lc_buf_clear(&name);
    return status;
}

loci_status lc_project_find(lc_arena *arena, const char *directory, lc_project *out,
                            loci_error *err)
{
    repository found;

    *out = (lc_project){0};
    return find_repository(arena, directory, &found) ? name_project(arena, &found, out, err)
                                                     : LOCI_OK;
}
