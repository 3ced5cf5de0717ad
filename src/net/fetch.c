/* fetch.c - one connection, one request at a time. The body of an answer has a length; a stream is
 * requested with HTTP/1.0, so that it is not chunked, and ends with the connection. */
#include "net/fetch.h"

#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdint.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/str.h"

#define HOST_BYTES 256
#define HEAD_BYTES_MAX (64u * 1024)
#define READ_BYTES 16384
#define CONNECT_MS_MAX 1000
#define UNTIL_CLOSED SIZE_MAX

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

static loci_status fail_distant(const char *url, loci_error *err)
{
    return lc_fail(err, LOCI_EFORBIDDEN,
                   "%s is another machine: tokens are not sent there without TLS", url);
}

/* A connection. */
typedef struct opened {
    int fd;             /* -1 = none. */
    bool must_be_local; /* A token will be sent. */
    bool is_local;
} opened;

static loci_status open_unix(const char *url, const target *to, int64_t deadline_us, opened *out,
                             loci_error *err)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};

    if (!copy_text(address.sun_path, sizeof address.sun_path, loci_str_of(to->host)))
        return lc_fail(err, LOCI_EINVAL, "the path of the Unix socket is too long");
    out->fd = connect_to((struct sockaddr *)&address, sizeof address, deadline_us);
    out->is_local = true;
    return out->fd >= 0 ? LOCI_OK : fail_connect(url, err);
}

static loci_status open_tcp(const char *url, const target *to, int64_t deadline_us, opened *out,
                            loci_error *err)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL;
    int problem = getaddrinfo(to->host, to->port, &hints, &found);

    if (problem != 0)
        return lc_fail(err, LOCI_EUNAVAILABLE, "%s: %s", url, gai_strerror(problem));
    errno = EADDRNOTAVAIL;
    for (struct addrinfo *at = found; out->fd < 0 && at != NULL; at = at->ai_next) {
        out->is_local = is_loopback(at->ai_addr);
        if (out->must_be_local && !out->is_local)
            break;
        out->fd = connect_to(at->ai_addr, at->ai_addrlen, deadline_us);
    }
    freeaddrinfo(found);
    if (out->fd < 0 && out->must_be_local && !out->is_local)
        return fail_distant(url, err);
    return out->fd >= 0 ? LOCI_OK : fail_connect(url, err);
}

/* ---- Links ----------------------------------------------------------------------------------- */

struct lc_fetch_link {
    lc_heap *heap;
    target to;
    opened socket;
    lc_buf out;
    size_t sent_bytes; /* Of `out`. */
    lc_buf in;
    size_t head_bytes; /* 0 = the head of the answer is not complete. */
    size_t body_bytes; /* Announced, or UNTIL_CLOSED. */
    int status;
    bool is_busy;   /* A request was begun and is not done. */
    bool is_stream; /* Its body is lent as it arrives. */
    bool is_kept;   /* The daemon does not close the connection. */
};

typedef struct link_options {
    const char *url;
    size_t bytes_max;
    int64_t deadline_us;
    bool has_token;
} link_options;

static loci_status open_link(lc_heap *heap, const link_options *options, lc_fetch_link **out,
                             loci_error *err)
{
    int64_t deadline_us = options->deadline_us;
    const char *url = options->url;
    lc_fetch_link *link = lc_heap_zalloc(heap, sizeof *link, LOCI_MEM_REQUESTS);
    loci_status status;

    if (link == NULL)
        return lc_fail_memory(err);
    link->heap = heap;
    link->socket = (opened){.fd = -1, .must_be_local = options->has_token};
    link->is_kept = true;
    lc_buf_init(&link->out, heap, LOCI_MEM_REQUESTS, SIZE_MAX / 2);
    lc_buf_init(&link->in, heap, LOCI_MEM_REQUESTS, options->bytes_max + HEAD_BYTES_MAX);
    status = parse_url(url, &link->to, err);
    if (status == LOCI_OK)
        status = link->to.is_unix ? open_unix(url, &link->to, deadline_us, &link->socket, err)
                                  : open_tcp(url, &link->to, deadline_us, &link->socket, err);
    if (status == LOCI_OK)
        *out = link;
    else
        lc_fetch_link_close(link);
    return status;
}

loci_status lc_fetch_link_open(lc_heap *heap, const char *url, size_t bytes_max,
                               lc_fetch_link **out, loci_error *err)
{
    link_options options = {.url = url,
                            .bytes_max = bytes_max,
                            .deadline_us = lc_clock_monotonic_us() + CONNECT_MS_MAX * 1000};

    return open_link(heap, &options, out, err);
}

void lc_fetch_link_close(lc_fetch_link *link)
{
    if (link == NULL)
        return;
    if (link->socket.fd >= 0)
        (void)close(link->socket.fd);
    lc_buf_clear(&link->out);
    lc_buf_clear(&link->in);
    lc_heap_free(link->heap, link, sizeof *link, LOCI_MEM_REQUESTS);
}

int lc_fetch_link_fd(const lc_fetch_link *link)
{
    return link->socket.fd;
}

short lc_fetch_link_events(const lc_fetch_link *link)
{
    return link->sent_bytes < link->out.len ? POLLOUT : POLLIN;
}

bool lc_fetch_link_is_reusable(const lc_fetch_link *link)
{
    return !link->is_busy && link->is_kept;
}

/* ---- Request and answer ---------------------------------------------------------------------- */

static void write_head(const lc_fetch *fetch, const target *to, lc_buf *out)
{
    bool is_v6 = strchr(to->host, ':') != NULL;

    lc_buf_append_format(out, "%s %s HTTP/1.%d\r\n", fetch->method, fetch->path,
                         fetch->is_stream ? 0 : 1);
    if (to->is_unix)
        lc_buf_append(out, LC_STR("Host: localhost\r\n"));
    else
        lc_buf_append_format(out, "Host: %s%s%s:%s\r\n", is_v6 ? "[" : "", to->host,
                             is_v6 ? "]" : "", to->port);
    lc_buf_append(out, LC_STR("Accept: application/json\r\n"));
    if (fetch->token.len > 0)
        lc_buf_append_format(out, "Authorization: Bearer %.*s\r\n", LC_STR_ARG(fetch->token));
    if (fetch->request_id != NULL)
        lc_buf_append_format(out, "Idempotency-Key: %s\r\n", fetch->request_id);
    if (fetch->body.ptr != NULL)
        lc_buf_append_format(out, "Content-Type: application/json\r\nContent-Length: %zu\r\n",
                             fetch->body.len);
    lc_buf_append(out, LC_STR("\r\n"));
    lc_buf_append(out, fetch->body);
}

loci_status lc_fetch_link_send(lc_fetch_link *link, const lc_fetch *fetch, loci_error *err)
{
    if (fetch->token.len > 0 && !link->socket.is_local)
        return fail_distant(link->to.host, err);
    lc_buf_reset(&link->out);
    lc_buf_reset(&link->in);
    link->sent_bytes = 0;
    link->head_bytes = 0;
    link->status = 0;
    link->is_busy = true;
    link->is_stream = fetch->is_stream;
    write_head(fetch, &link->to, &link->out);
    return lc_buf_status(&link->out, err);
}

static loci_status send_some(lc_fetch_link *link, loci_error *err)
{
    while (link->sent_bytes < link->out.len) {
        ssize_t sent = send(link->socket.fd, link->out.ptr + link->sent_bytes,
                            link->out.len - link->sent_bytes, MSG_NOSIGNAL | MSG_DONTWAIT);

        if (sent < 0 && errno == EINTR)
            continue;
        if (sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
            return LOCI_OK;
        if (sent <= 0)
            return lc_fail(err, LOCI_EUNAVAILABLE, "the daemon closed the connection: %s",
                           strerror(errno));
        link->sent_bytes += (size_t)sent;
    }
    return LOCI_OK;
}

/* The value of a header in the head of an answer; ptr NULL when absent. */
static loci_str find_header(loci_str head, const char *name)
{
    loci_str rest, line;

    (void)lc_str_split(head, '\n', &rest); /* The status line. */
    while (rest.ptr != NULL) {
        loci_str value, field;

        line = lc_str_split(rest, '\n', &rest);
        field = lc_str_split(line, ':', &value);
        if (value.ptr != NULL && field.len == strlen(name) &&
            strncasecmp(field.ptr, name, field.len) == 0)
            return lc_str_trim(value);
    }
    return LC_STR_NONE;
}

/* "HTTP/1.1 200 OK", headers, an empty line. */
static loci_status parse_head(lc_fetch_link *link, loci_error *err)
{
    const char *end = link->in.len > 0 ? memmem(link->in.ptr, link->in.len, "\r\n\r\n", 4) : NULL;
    loci_str head, length, connection;
    int64_t status = 0, bytes = 0;

    if (end == NULL)
        return link->in.len < HEAD_BYTES_MAX
                   ? LOCI_OK
                   : lc_fail(err, LOCI_ECORRUPT, "the answer is not HTTP");
    head = (loci_str){link->in.ptr, (size_t)(end - link->in.ptr)};
    length = find_header(head, "Content-Length");
    connection = find_header(head, "Connection");
    if (!lc_str_starts(head, LC_STR("HTTP/1.")) || head.len < 12 ||
        !lc_str_to_i64((loci_str){head.ptr + 9, 3}, &status) || status < 100 || status > 599 ||
        (length.ptr != NULL && (!lc_str_to_i64(length, &bytes) || bytes < 0)))
        return lc_fail(err, LOCI_ECORRUPT, "the answer is not HTTP");
    link->status = (int)status;
    link->head_bytes = head.len + 4;
    link->body_bytes = length.ptr != NULL ? (size_t)bytes : UNTIL_CLOSED;
    link->is_kept = length.ptr != NULL &&
                    !(connection.len == 5 && strncasecmp(connection.ptr, "close", 5) == 0);
    return LOCI_OK;
}

static bool is_complete(const lc_fetch_link *link)
{
    return link->head_bytes > 0 && link->body_bytes != UNTIL_CLOSED &&
           link->in.len - link->head_bytes >= link->body_bytes;
}

/* Receives what is there; `*out_is_closed` when the daemon has closed the connection. */
static loci_status receive_some(lc_fetch_link *link, bool *out_is_closed, loci_error *err)
{
    loci_status status = LOCI_OK;

    while (status == LOCI_OK && !is_complete(link)) {
        char *room = lc_buf_reserve(&link->in, READ_BYTES);
        ssize_t got;

        if (room == NULL)
            return lc_buf_status(&link->in, err);
        got = recv(link->socket.fd, room, READ_BYTES, MSG_DONTWAIT);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
            return LOCI_OK;
        if (got < 0)
            return lc_fail(err, LOCI_EUNAVAILABLE, "the daemon closed the connection: %s",
                           strerror(errno));
        *out_is_closed = got == 0;
        if (got == 0)
            return LOCI_OK;
        lc_buf_grew(&link->in, (size_t)got);
        if (link->head_bytes == 0)
            status = parse_head(link, err);
    }
    return status;
}

loci_status lc_fetch_link_step(lc_fetch_link *link, lc_fetch_answer *out, loci_error *err)
{
    bool is_closed = false;
    loci_status status;

    /* What a stream lent before was read. */
    if (link->is_stream && link->head_bytes > 0)
        lc_buf_truncate(&link->in, link->head_bytes);
    status = send_some(link, err);
    if (status == LOCI_OK)
        status = receive_some(link, &is_closed, err);
    *out = (lc_fetch_answer){.status = link->status};
    if (status != LOCI_OK)
        return status;
    if (link->head_bytes > 0)
        out->body = (loci_str){link->in.ptr + link->head_bytes, link->in.len - link->head_bytes};
    out->is_done = is_complete(link) ||
                   (is_closed && link->head_bytes > 0 && link->body_bytes == UNTIL_CLOSED);
    if (is_closed)
        link->is_kept = false;
    if (out->is_done)
        link->is_busy = false;
    else if (is_closed)
        return lc_fail(err, LOCI_EUNAVAILABLE, "the daemon closed the connection");
    return LOCI_OK;
}

loci_status lc_fetch_run(const lc_fetch *fetch, int *out_status, lc_buf *out, loci_error *err)
{
    int64_t deadline_us = lc_clock_monotonic_us() + fetch->timeout_ms * 1000;
    lc_fetch_link *link = NULL;
    lc_fetch_answer answer = {0};
    link_options options = {.url = fetch->url,
                            .bytes_max = out->bytes_max,
                            .deadline_us = deadline_us,
                            .has_token = fetch->token.len > 0};
    loci_status status = open_link(out->heap, &options, &link, err);

    if (status == LOCI_OK)
        status = lc_fetch_link_send(link, fetch, err);
    while (status == LOCI_OK && !answer.is_done) {
        status = lc_fetch_link_step(link, &answer, err);
        if (status == LOCI_OK && !answer.is_done &&
            !wait_for(link->socket.fd, lc_fetch_link_events(link), deadline_us))
            status = lc_fail(err, LOCI_EDEADLINE, "the daemon did not answer in time");
    }
    if (status == LOCI_OK) {
        *out_status = answer.status;
        lc_buf_append(out, answer.body);
        status = lc_buf_status(out, err);
    }
    lc_fetch_link_close(link);
    return status;
}
