/* http_listen.c - A Unix socket is bound, then closed to others, then listened on: before listen()
 * nobody can connect, so there is no moment in which it is open to all. */
#include "server/http_listen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/error.h"
#include "base/str.h"

#define BACKLOG 1024

static loci_status fail_socket(loci_error *err, const char *where)
{
    int code = errno;

    if (code == EADDRINUSE)
        return lc_fail(err, LOCI_ECONFLICT, "%s is in use by another process", where);
    if (code == EACCES || code == EPERM)
        return lc_fail(err, LOCI_EFORBIDDEN, "may not listen on %s: %s", where, strerror(code));
    return lc_fail(err, LOCI_EUNAVAILABLE, "cannot listen on %s: %s", where, strerror(code));
}

/* "[::1]:80" -> "::1", "80". */
static loci_status split_address(const char *where, char *host, size_t host_bytes, loci_str *port,
                                 loci_error *err)
{
    const char *colon = strrchr(where, ':');
    loci_str name = {where, colon == NULL ? 0 : (size_t)(colon - where)};
    int64_t number;

    if (name.len >= 2 && name.ptr[0] == '[' && name.ptr[name.len - 1] == ']')
        name = (loci_str){name.ptr + 1, name.len - 2};
    else if (name.len > 0 && memchr(name.ptr, ':', name.len) != NULL)
        name.len = 0;
    if (name.len == 0 || name.len >= host_bytes ||
        !lc_str_to_i64(loci_str_of(colon + 1), &number) || number < 0 || number > 65535)
        return lc_fail(err, LOCI_EINVAL,
                       "%s is not an address to listen on; write 127.0.0.1:7077 or [::1]:7077",
                       where);
    memcpy(host, name.ptr, name.len);
    host[name.len] = '\0';
    *port = loci_str_of(colon + 1);
    return LOCI_OK;
}

static bool note_address(lc_http_listener *out)
{
    struct sockaddr_storage bound = {0};
    socklen_t bytes = sizeof bound;
    const struct sockaddr_in *v4 = (const struct sockaddr_in *)&bound;
    const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)&bound;

    if (getsockname(out->fd, (struct sockaddr *)&bound, &bytes) != 0)
        return false;
    if (bound.ss_family == AF_INET6) {
        out->port = ntohs(v6->sin6_port);
        return inet_ntop(AF_INET6, &v6->sin6_addr, out->address, sizeof out->address) != NULL;
    }
    out->port = ntohs(v4->sin_port);
    return inet_ntop(AF_INET, &v4->sin_addr, out->address, sizeof out->address) != NULL;
}

static bool open_listener(const struct addrinfo *found, lc_http_listener *out)
{
    int on = 1;

    out->fd = socket(found->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    return out->fd >= 0 && setsockopt(out->fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0 &&
           bind(out->fd, found->ai_addr, found->ai_addrlen) == 0 && listen(out->fd, BACKLOG) == 0 &&
           note_address(out);
}

loci_status lc_http_listen_tcp(const char *where, lc_http_listener *out, loci_error *err)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE | AI_NUMERICSERV};
    lc_http_listener listener = {.fd = -1};
    struct addrinfo *found = NULL;
    loci_status status;
    char host[256];
    loci_str port;
    int code;

    status = split_address(where, host, sizeof host, &port, err);
    if (status != LOCI_OK)
        return status;
    code = getaddrinfo(host, port.ptr, &hints, &found);
    if (code != 0)
        return lc_fail(err, LOCI_EINVAL, "%s is no address of this machine: %s", host,
                       gai_strerror(code));
    if (open_listener(found, &listener)) {
        *out = listener;
    } else {
        status = fail_socket(err, where);
        if (listener.fd >= 0)
            (void)close(listener.fd); /* Nothing was written to it. */
    }
    freeaddrinfo(found);
    return status;
}

/* ---- Unix ---------------------------------------------------------------------------------- */

/* Removes a socket that nobody listens on any more. */
static loci_status remove_stale(const struct sockaddr_un *address, loci_error *err)
{
    struct stat file;
    int fd, code;

    if (lstat(address->sun_path, &file) != 0)
        return LOCI_OK;
    if (!S_ISSOCK(file.st_mode))
        return lc_fail(err, LOCI_ECONFLICT, "%s exists and is not a socket", address->sun_path);
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return fail_socket(err, address->sun_path);
    code = connect(fd, (const struct sockaddr *)address, sizeof *address) == 0 ? 0 : errno;
    (void)close(fd); /* Nothing was written to it. */
    if (code != ECONNREFUSED)
        return lc_fail(err, LOCI_ECONFLICT, "%s is in use by another process", address->sun_path);
    if (unlink(address->sun_path) != 0 && errno != ENOENT)
        return fail_socket(err, address->sun_path);
    return LOCI_OK;
}

static bool open_unix(const struct sockaddr_un *address, lc_http_unix *out)
{
    struct stat file;

    out->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (out->fd < 0 || bind(out->fd, (const struct sockaddr *)address, sizeof *address) != 0)
        return false;
    if (chmod(address->sun_path, S_IRUSR | S_IWUSR) != 0 || lstat(address->sun_path, &file) != 0)
        return false;
    out->device = file.st_dev;
    out->inode = file.st_ino;
    return listen(out->fd, BACKLOG) == 0;
}

loci_status lc_http_listen_unix(const char *path, lc_http_unix *out, loci_error *err)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    lc_http_unix unix_socket = {.fd = -1};
    size_t bytes = strlen(path);
    loci_status status;

    _Static_assert(sizeof address.sun_path == sizeof unix_socket.path, "the longest path");
    if (bytes == 0 || bytes >= sizeof address.sun_path)
        return lc_fail(err, LOCI_EINVAL, "the path of a Unix socket has 1 to %zu bytes",
                       sizeof address.sun_path - 1);
    memcpy(address.sun_path, path, bytes + 1);
    memcpy(unix_socket.path, path, bytes + 1);
    status = remove_stale(&address, err);
    if (status != LOCI_OK)
        return status;
    if (!open_unix(&address, &unix_socket)) {
        status = fail_socket(err, path);
        lc_http_unlisten_unix(&unix_socket);
        return status;
    }
    *out = unix_socket;
    return LOCI_OK;
}

void lc_http_unlisten_unix(lc_http_unix *unix_socket)
{
    struct stat file;

    if (unix_socket->fd < 0)
        return;
    (void)close(unix_socket->fd); /* Nothing was written to it. */
    unix_socket->fd = -1;
    /* Another process may have taken the path since. */
    if (lstat(unix_socket->path, &file) == 0 && file.st_dev == unix_socket->device &&
        file.st_ino == unix_socket->inode)
        (void)unlink(unix_socket->path); /* Stale at worst, and replaced at the next start. */
}
