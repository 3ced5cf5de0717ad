/* fetch.c - the daemon closes the connection after its answer ("Connection: close"), so the body
 * ends with the stream. Only event streams are chunked, and they are not requested here. */
#include "net/fetch.h"

#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/str.h"

#define HOST_BYTES 256
#define HEAD_BYTES_MAX (64u * 1024)

typedef struct target {
    char host[HOST_BYTES]; /* Or path of a Unix socket. */
    char port[8];
    bool is_unix;
} target;

static bool copy_text(char *out, size_t bytes, loci_str text)
{
    if (text.len == 0 || text.len >= bytes)
        return false;
    memcpy(out, text.ptr, text.len);
    out[text.len] = '\0';
    return true;
}

/* "127.0.0.1:80", "[::1]:80", "host" */
static bool parse_authority(loci_str text, target *out)
{
    loci_str rest;
    loci_str host;

    if (text.len > 0 && text.ptr[0] == '[') {
        host = lc_str_split((loci_str){text.ptr + 1, text.len - 1}, ']', &rest);
        if (rest.ptr == NULL || (rest.len > 0 && rest.ptr[0] != ':'))
            return false;
        rest = rest.len > 0 ? (loci_str){rest.ptr + 1, rest.len - 1} : LC_STR("80");
    } else {
        host = lc_str_split(text, ':', &rest);
        if (rest.ptr == NULL)
            rest = LC_STR("80");
    }
    return copy_text(out->host, sizeof out->host, host) &&
           copy_text(out->port, sizeof out->port, rest);
}

static loci_status parse_url(const char *url, target *out, loci_error *err)
{
    loci_str text = loci_str_of(url);
    bool is_good = false;

    while (text.len > 0 && text.ptr[text.len - 1] == '/')
        text.len--;
    *out = (target){.is_unix = lc_str_starts(text, LC_STR("unix:"))};
    if (out->is_unix)
        is_good = copy_text(out->host, sizeof out->host, (loci_str){text.ptr + 5, text.len - 5});
    else if (lc_str_starts(text, LC_STR("http://")))
        is_good = parse_authority((loci_str){text.ptr + 7, text.len - 7}, out);
    if (is_good)
        return LOCI_OK;
    return lc_fail(err, LOCI_EINVAL,
                   "the URL must look like http://127.0.0.1:7077 or unix:/path; https is not "
                   "supported here");
}

/* ---- Connecting ------------------------------------------------------------------------------ */

static bool is_loopback(const struct sockaddr *address)
{
    if (address->sa_family == AF_INET)
        return ntohl(((const struct sockaddr_in *)(const void *)address)->sin_addr.s_addr) >> 24 ==
               127;
    if (address->sa_family == AF_INET6)
        return IN6_IS_ADDR_LOOPBACK(
            &((const struct sockaddr_in6 *)(const void *)address)->sin6_addr);
    return address->sa_family == AF_UNIX;
}

static int ms_left(int64_t deadline_us)
{
    int64_t left_ms = (deadline_us - lc_clock_monotonic_us()) / 1000;

    return left_ms <= 0 ? 0 : left_ms > 60000 ? 60000 : (int)left_ms;
}

/* Waits until the socket is readable or writable. */
static bool wait_for(int fd, short events, int64_t deadline_us)
{
    struct pollfd waiting = {.fd = fd, .events = events};

    while (ms_left(deadline_us) > 0) {
        int ready = poll(&waiting, 1, ms_left(deadline_us));

        if (ready > 0 || (ready < 0 && errno != EINTR))
            return ready > 0;
    }
    return false;
}

/* A connected socket, or -1 with errno set. */
static int connect_to(const struct sockaddr *address, socklen_t bytes, int64_t deadline_us)
{
    int fd = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    int problem = 0;
    socklen_t problem_bytes = sizeof problem;

    if (fd < 0)
        return -1;
    if (connect(fd, address, bytes) == 0)
        return fd;
    problem = errno;
    if (problem == EINPROGRESS) {
        problem = ETIMEDOUT;
        if (wait_for(fd, POLLOUT, deadline_us))
            (void)getsockopt(fd, SOL_SOCKET, SO_ERROR, &problem, &problem_bytes);
    }
    if (problem == 0)
        return fd;
    (void)close(fd);
    errno = problem;
    return -1;
}

static loci_status fail_connect(const char *url, loci_error *err)
{
    return lc_fail(err, LOCI_EUNAVAILABLE, "cannot connect to %s: %s", url, strerror(errno));
}

static loci_status open_unix(const lc_fetch *fetch, const target *to, int64_t deadline_us,
                             int *out_fd, loci_error *err)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};

    if (!copy_text(address.sun_path, sizeof address.sun_path, loci_str_of(to->host)))
        return lc_fail(err, LOCI_EINVAL, "the path of the Unix socket is too long");
    *out_fd = connect_to((struct sockaddr *)&address, sizeof address, deadline_us);
    return *out_fd >= 0 ? LOCI_OK : fail_connect(fetch->url, err);
}

static loci_status open_tcp(const lc_fetch *fetch, const target *to, int64_t deadline_us,
                            int *out_fd, loci_error *err)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL;
    int problem = getaddrinfo(to->host, to->port, &hints, &found);
    loci_status status = LOCI_OK;

    if (problem != 0)
        return lc_fail(err, LOCI_EUNAVAILABLE, "%s: %s", fetch->url, gai_strerror(problem));
    *out_fd = -1;
    errno = EADDRNOTAVAIL;
    for (struct addrinfo *at = found; status == LOCI_OK && *out_fd < 0 && at != NULL;
         at = at->ai_next) {
        if (fetch->token.len > 0 && !is_loopback(at->ai_addr))
            status = lc_fail(err, LOCI_EFORBIDDEN,
                             "%s is another machine: tokens are not sent there without TLS",
                             fetch->url);
        else
            *out_fd = connect_to(at->ai_addr, at->ai_addrlen, deadline_us);
    }
    if (status == LOCI_OK && *out_fd < 0)
        status = fail_connect(fetch->url, err);
    freeaddrinfo(found);
    return status;
}

/* ---- Request and answer ---------------------------------------------------------------------- */

static void write_head(const lc_fetch *fetch, const target *to, lc_buf *out)
{
    bool is_v6 = strchr(to->host, ':') != NULL;

    lc_buf_append_format(out, "%s %s HTTP/1.1\r\n", fetch->method, fetch->path);
    if (to->is_unix)
        lc_buf_append(out, LC_STR("Host: localhost\r\n"));
    else
        lc_buf_append_format(out, "Host: %s%s%s:%s\r\n", is_v6 ? "[" : "", to->host,
                             is_v6 ? "]" : "", to->port);
    lc_buf_append(out, LC_STR("Connection: close\r\nAccept: application/json\r\n"));
    if (fetch->token.len > 0)
        lc_buf_append_format(out, "Authorization: Bearer %.*s\r\n", LC_STR_ARG(fetch->token));
    if (fetch->client.len > 0)
        lc_buf_append_format(out, "Loci-Client: %.*s\r\n", LC_STR_ARG(fetch->client));
    if (fetch->body.ptr != NULL)
        lc_buf_append_format(out, "Content-Type: application/json\r\nContent-Length: %zu\r\n",
                             fetch->body.len);
    lc_buf_append(out, LC_STR("\r\n"));
    lc_buf_append(out, fetch->body);
}

static loci_status send_all(int fd, loci_str text, int64_t deadline_us, loci_error *err)
{
    while (text.len > 0) {
        ssize_t sent;

        if (!wait_for(fd, POLLOUT, deadline_us))
            return lc_fail(err, LOCI_EDEADLINE, "the daemon did not accept the request in time");
        sent = send(fd, text.ptr, text.len, MSG_NOSIGNAL);
        if (sent < 0 && (errno == EINTR || errno == EAGAIN))
            continue;
        if (sent <= 0)
            return lc_fail(err, LOCI_EUNAVAILABLE, "the daemon closed the connection: %s",
                           strerror(errno));
        text.ptr += sent;
        text.len -= (size_t)sent;
    }
    return LOCI_OK;
}

static loci_status receive_all(int fd, lc_buf *out, int64_t deadline_us, loci_error *err)
{
    for (;;) {
        char *room = lc_buf_reserve(out, 4096);
        ssize_t got;

        if (room == NULL)
            return lc_buf_status(out, err);
        if (!wait_for(fd, POLLIN, deadline_us))
            return lc_fail(err, LOCI_EDEADLINE, "the daemon did not answer in time");
        got = recv(fd, room, 4096, 0);
        if (got < 0 && (errno == EINTR || errno == EAGAIN))
            continue;
        if (got < 0)
            return lc_fail(err, LOCI_EUNAVAILABLE, "the daemon closed the connection: %s",
                           strerror(errno));
        if (got == 0)
            return LOCI_OK;
        lc_buf_grew(out, (size_t)got);
    }
}

/* "HTTP/1.1 200 OK", headers, an empty line, the body. */
static loci_status parse_answer(loci_str answer, int *out_status, loci_str *out_body,
                                loci_error *err)
{
    const char *end = answer.len > 0 ? memmem(answer.ptr, answer.len, "\r\n\r\n", 4) : NULL;
    int64_t status = 0;

    if (end == NULL || !lc_str_starts(answer, LC_STR("HTTP/1.")) || answer.len < 13 ||
        !lc_str_to_i64((loci_str){answer.ptr + 9, 3}, &status) || status < 100 || status > 599)
        return lc_fail(err, LOCI_ECORRUPT, "the answer is not HTTP");
    *out_status = (int)status;
    *out_body = (loci_str){end + 4, answer.len - (size_t)(end + 4 - answer.ptr)};
    return LOCI_OK;
}

loci_status lc_fetch_run(const lc_fetch *fetch, int *out_status, lc_buf *out, loci_error *err)
{
    int64_t deadline_us = lc_clock_monotonic_us() + fetch->timeout_ms * 1000;
    loci_str body = LC_STR_NONE;
    target to;
    lc_buf text;
    int fd = -1;
    loci_status status = parse_url(fetch->url, &to, err);

    lc_buf_init(&text, out->heap, LOCI_MEM_REQUESTS, out->bytes_max + HEAD_BYTES_MAX);
    if (status == LOCI_OK)
        status = to.is_unix ? open_unix(fetch, &to, deadline_us, &fd, err)
                            : open_tcp(fetch, &to, deadline_us, &fd, err);
    if (status == LOCI_OK) {
        write_head(fetch, &to, &text);
        status = lc_buf_status(&text, err);
    }
    if (status == LOCI_OK)
        status = send_all(fd, lc_buf_str(&text), deadline_us, err);
    lc_buf_reset(&text);
    if (status == LOCI_OK)
        status = receive_all(fd, &text, deadline_us, err);
    if (status == LOCI_OK)
        status = parse_answer(lc_buf_str(&text), out_status, &body, err);
    if (status == LOCI_OK) {
        lc_buf_append(out, body);
        status = lc_buf_status(out, err);
    }
    lc_buf_clear(&text);
    if (fd >= 0)
        (void)close(fd);
    return status;
}
