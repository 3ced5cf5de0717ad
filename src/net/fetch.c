/* fetch.c - one connection, one request at a time. The body of an answer has a length, is chunked,
 * or ends with the connection. TLS comes from net/tls.h, which moves the bytes.
 *
 * `in` has the head of the answer, then the decoded body up to `body_end`, then, while chunks are
 * decoded in place, bytes that are not decoded yet. */
#include "net/fetch.h"

#include <ctype.h>
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
#include "net/tls.h"

#define HOST_BYTES 256
#define HEAD_BYTES_MAX (64u * 1024)
#define READ_BYTES 16384
#define STREAM_BYTES_MAX (256u * 1024) /* Lent by one step. */
#define CONNECT_MS 1000
#define LOOK_MS 100 /* Interval at which a flag to cancel is read. */
#define CHUNK_HEAD_BYTES_MAX 1024
#define UNTIL_CLOSED SIZE_MAX

typedef struct target {
    char host[HOST_BYTES]; /* Or path of a Unix socket. */
    char port[8];
    bool is_unix;
    bool is_tls;
} target;

static bool copy_text(char *out, size_t bytes, loci_str text)
{
    if (text.len == 0 || text.len >= bytes)
        return false;
    memcpy(out, text.ptr, text.len);
    out[text.len] = '\0';
    return true;
}

static bool is_port(loci_str text)
{
    int64_t port;

    return text.len <= 5 && lc_str_to_i64(text, &port) && port > 0 && port < 65536;
}

/* "127.0.0.1:80", "[::1]:80", "host". A user, a path or a query is refused. */
static bool parse_authority(loci_str text, target *out)
{
    loci_str other_port = out->is_tls ? LC_STR("443") : LC_STR("80");
    loci_str rest;
    loci_str host;

    if (text.len > 0 && text.ptr[0] == '[') {
        host = lc_str_split((loci_str){text.ptr + 1, text.len - 1}, ']', &rest);
        if (rest.ptr == NULL || (rest.len > 0 && rest.ptr[0] != ':'))
            return false;
        rest = rest.len > 0 ? (loci_str){rest.ptr + 1, rest.len - 1} : other_port;
    } else {
        host = lc_str_split(text, ':', &rest);
        if (rest.ptr == NULL)
            rest = other_port;
    }
    for (size_t i = 0; i < host.len; i++) {
        if ((unsigned char)host.ptr[i] <= ' ' || strchr("/?#@\\\"", host.ptr[i]) != NULL)
            return false;
    }
    return is_port(rest) && copy_text(out->host, sizeof out->host, host) &&
           copy_text(out->port, sizeof out->port, rest);
}

static loci_status parse_url(const char *url, target *out, loci_error *err)
{
    loci_str text = loci_str_of(url);
    bool is_good = false;

    while (text.len > 0 && text.ptr[text.len - 1] == '/')
        text.len--;
    *out = (target){.is_unix = lc_str_starts(text, LC_STR("unix:")),
                    .is_tls = lc_str_starts(text, LC_STR("https://"))};
    if (out->is_unix)
        is_good = copy_text(out->host, sizeof out->host, (loci_str){text.ptr + 5, text.len - 5});
    else if (out->is_tls)
        is_good = parse_authority((loci_str){text.ptr + 8, text.len - 8}, out);
    else if (lc_str_starts(text, LC_STR("http://")))
        is_good = parse_authority((loci_str){text.ptr + 7, text.len - 7}, out);
    if (is_good)
        return LOCI_OK;
    return lc_fail(err, LOCI_EINVAL,
                   "the URL of a daemon must look like http://127.0.0.1:7077, https://host or "
                   "unix:/path, without a path, a user or a password");
}

loci_status lc_fetch_check_url(const char *url, loci_error *err)
{
    target to;

    return parse_url(url, &to, err);
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

static bool is_cancelled(const volatile int *cancel)
{
    return cancel != NULL && __atomic_load_n(cancel, __ATOMIC_SEQ_CST) != 0;
}

/* Waits until the socket is readable or writable; false at the deadline, or when cancelled. */
static bool wait_for(int fd, short events, int64_t deadline_us, const volatile int *cancel)
{
    struct pollfd waiting = {.fd = fd, .events = events};

    while (ms_left(deadline_us) > 0 && !is_cancelled(cancel)) {
        int left_ms = ms_left(deadline_us);
        int ready = poll(&waiting, 1, cancel != NULL && left_ms > LOOK_MS ? LOOK_MS : left_ms);

        if (ready > 0 || (ready < 0 && errno != EINTR))
            return ready > 0;
    }
    return false;
}

/* A connection being opened. */
typedef struct opening {
    const lc_endpoint *endpoint;
    target to;
    int64_t deadline_us;
    int fd; /* -1 = none. */
    lc_tls *tls;
    bool is_local;
} opening;

/* A connected socket, or -1 with errno set. */
static int connect_to(const opening *o, const struct sockaddr *address, socklen_t bytes)
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
        if (wait_for(fd, POLLOUT, o->deadline_us, o->endpoint->cancel))
            (void)getsockopt(fd, SOL_SOCKET, SO_ERROR, &problem, &problem_bytes);
    }
    if (problem == 0)
        return fd;
    (void)close(fd);
    errno = problem;
    return -1;
}

static loci_status fail_cancelled(loci_error *err)
{
    return lc_fail(err, LOCI_ECANCELLED, "interrupted while waiting for the daemon");
}

static loci_status fail_connect(const opening *o, loci_error *err)
{
    int problem = errno;

    if (is_cancelled(o->endpoint->cancel))
        return fail_cancelled(err);
    return lc_fail(err, LOCI_EUNAVAILABLE, "cannot connect to %s: %s", o->endpoint->url,
                   strerror(problem));
}

static loci_status fail_distant(const char *url, loci_error *err)
{
    return lc_fail(err, LOCI_EFORBIDDEN,
                   "%s is another machine: the token is not sent there without TLS; use https://, "
                   "or forward a port with ssh -L",
                   url);
}

static loci_status open_unix(opening *o, loci_error *err)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};

    if (!copy_text(address.sun_path, sizeof address.sun_path, loci_str_of(o->to.host)))
        return lc_fail(err, LOCI_EINVAL, "the path of the Unix socket is too long");
    o->fd = connect_to(o, (struct sockaddr *)&address, sizeof address);
    o->is_local = true;
    return o->fd >= 0 ? LOCI_OK : fail_connect(o, err);
}

static loci_status open_tcp(opening *o, loci_error *err)
{
    bool must_be_local = o->endpoint->token.len > 0 && !o->endpoint->allows_plain;
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL;
    int problem = getaddrinfo(o->to.host, o->to.port, &hints, &found);

    if (problem != 0)
        return lc_fail(err, LOCI_EUNAVAILABLE, "cannot connect to %s: %s", o->endpoint->url,
                       gai_strerror(problem));
    errno = EADDRNOTAVAIL;
    for (struct addrinfo *at = found; o->fd < 0 && at != NULL; at = at->ai_next) {
        o->is_local = is_loopback(at->ai_addr);
        if (must_be_local && !o->is_local)
            break;
        o->fd = connect_to(o, at->ai_addr, at->ai_addrlen);
    }
    freeaddrinfo(found);
    if (o->fd < 0 && must_be_local && !o->is_local)
        return fail_distant(o->endpoint->url, err);
    return o->fd >= 0 ? LOCI_OK : fail_connect(o, err);
}

static loci_status open_tls(lc_heap *heap, opening *o, loci_error *err)
{
    lc_tls_options options = {.url = o->endpoint->url,
                              .ca_file = o->endpoint->ca_file,
                              .timeout_ms = ms_left(o->deadline_us),
                              .cancel = o->endpoint->cancel};
    loci_status status = lc_tls_open(heap, &options, &o->tls, err);

    if (status == LOCI_OK)
        o->fd = lc_tls_fd(o->tls);
    o->is_local = true; /* No other machine can read it. */
    return status == LOCI_OK || !is_cancelled(o->endpoint->cancel) ? status : fail_cancelled(err);
}

/* ---- Links ----------------------------------------------------------------------------------- */

/* A chunk is a line with its size, data and an empty line; the last one has no data, but trailers.
 */
typedef enum chunk_state {
    CHUNK_HEAD,
    CHUNK_DATA,
    CHUNK_END,
    CHUNK_TRAILER,
    CHUNK_DONE
} chunk_state;

struct lc_fetch_link {
    lc_heap *heap;
    opening socket;
    lc_buf out;
    size_t sent_bytes; /* Of `out`. */
    lc_buf in;
    size_t head_bytes; /* 0 = the head of the answer is not complete. */
    size_t body_bytes; /* Announced, or UNTIL_CLOSED. */
    size_t body_end;   /* End of the decoded body in `in`. */
    size_t chunk_left; /* Of the body in the current chunk. */
    int status;
    bool is_chunked;
    chunk_state chunk; /* The next part to decode. */
    bool is_lines;
    bool is_busy;   /* A request was begun and is not done. */
    bool is_stream; /* Its body is lent as it arrives. */
    bool is_kept;   /* The daemon does not close the connection. */
};

static loci_status open_link(lc_heap *heap, const lc_endpoint *to, size_t bytes_max,
                             int64_t deadline_us, lc_fetch_link **out, loci_error *err)
{
    lc_fetch_link *link = lc_heap_zalloc(heap, sizeof *link, LOCI_MEM_REQUESTS);
    loci_status status;

    if (link == NULL)
        return lc_fail_memory(err);
    link->heap = heap;
    link->socket = (opening){.endpoint = to, .deadline_us = deadline_us, .fd = -1};
    link->is_kept = true;
    lc_buf_init(&link->out, heap, LOCI_MEM_REQUESTS, SIZE_MAX / 2);
    lc_buf_init(&link->in, heap, LOCI_MEM_REQUESTS, bytes_max + HEAD_BYTES_MAX);
    status = parse_url(to->url, &link->socket.to, err);
    if (status == LOCI_OK)
        status = link->socket.to.is_unix  ? open_unix(&link->socket, err)
                 : link->socket.to.is_tls ? open_tls(heap, &link->socket, err)
                                          : open_tcp(&link->socket, err);
    if (status == LOCI_OK)
        *out = link;
    else
        lc_fetch_link_close(link);
    return status;
}

loci_status lc_fetch_link_open(lc_heap *heap, const lc_endpoint *to, size_t bytes_max,
                               lc_fetch_link **out, loci_error *err)
{
    int64_t connect_ms = to->connect_ms > 0 ? to->connect_ms : CONNECT_MS;

    return open_link(heap, to, bytes_max, lc_clock_monotonic_us() + connect_ms * 1000, out, err);
}

void lc_fetch_link_close(lc_fetch_link *link)
{
    if (link == NULL)
        return;
    if (link->socket.tls != NULL)
        lc_tls_close(link->socket.tls);
    else if (link->socket.fd >= 0)
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

loci_status lc_fetch_link_wait(lc_fetch_link *link, int64_t deadline_us, loci_error *err)
{
    const volatile int *cancel = link->socket.endpoint->cancel;

    if (wait_for(link->socket.fd, lc_fetch_link_events(link), deadline_us, cancel))
        return LOCI_OK;
    if (is_cancelled(cancel))
        return fail_cancelled(err);
    return lc_fail(err, LOCI_EDEADLINE, "%s did not answer in time", link->socket.endpoint->url);
}

/* ---- Request and answer ---------------------------------------------------------------------- */

static void write_head(const lc_fetch *fetch, const opening *o, lc_buf *out)
{
    const target *to = &o->to;
    bool is_v6 = strchr(to->host, ':') != NULL;

    lc_buf_append_format(out, "%s %s HTTP/1.1\r\n", fetch->method, fetch->path);
    if (to->is_unix)
        lc_buf_append(out, LC_STR("Host: localhost\r\n"));
    else
        lc_buf_append_format(out, "Host: %s%s%s:%s\r\n", is_v6 ? "[" : "", to->host,
                             is_v6 ? "]" : "", to->port);
    lc_buf_append_format(out, "Accept: %s\r\n",
                         fetch->accept != NULL ? fetch->accept : "application/json");
    if (o->endpoint->token.len > 0)
        lc_buf_append_format(out, "Authorization: Bearer %.*s\r\n", LC_STR_ARG(o->endpoint->token));
    if (fetch->request_id != NULL)
        lc_buf_append_format(out, "Idempotency-Key: %s\r\n", fetch->request_id);
    if (fetch->client.len > 0)
        lc_buf_append_format(out, "Loci-Client: %.*s\r\n", LC_STR_ARG(fetch->client));
    if (fetch->body.ptr != NULL)
        lc_buf_append_format(out, "Content-Type: application/json\r\nContent-Length: %zu\r\n",
                             fetch->body.len);
    lc_buf_append(out, LC_STR("\r\n"));
    lc_buf_append(out, fetch->body);
}

loci_status lc_fetch_link_send(lc_fetch_link *link, const lc_fetch *fetch, loci_error *err)
{
    const lc_endpoint *endpoint = link->socket.endpoint;

    if (endpoint->token.len > 0 && !link->socket.is_local && !endpoint->allows_plain)
        return fail_distant(endpoint->url, err);
    lc_buf_reset(&link->out);
    lc_buf_reset(&link->in);
    link->sent_bytes = 0;
    link->head_bytes = 0;
    link->status = 0;
    link->is_busy = true;
    link->is_stream = fetch->is_stream;
    write_head(fetch, &link->socket, &link->out);
    return lc_buf_status(&link->out, err);
}

static ssize_t send_bytes(const lc_fetch_link *link, const char *bytes, size_t count)
{
    if (link->socket.tls != NULL)
        return lc_tls_send(link->socket.tls, bytes, count);
    return send(link->socket.fd, bytes, count, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static ssize_t receive_bytes(const lc_fetch_link *link, char *out, size_t count)
{
    if (link->socket.tls != NULL)
        return lc_tls_receive(link->socket.tls, out, count);
    return recv(link->socket.fd, out, count, MSG_DONTWAIT);
}

static loci_status fail_closed(const lc_fetch_link *link, const char *why, loci_error *err)
{
    return lc_fail(err, LOCI_EUNAVAILABLE, "%s closed the connection%s%s",
                   link->socket.endpoint->url, why[0] != '\0' ? ": " : "", why);
}

static loci_status send_some(lc_fetch_link *link, loci_error *err)
{
    while (link->sent_bytes < link->out.len) {
        ssize_t sent = send_bytes(link, link->out.ptr + link->sent_bytes,
                                  link->out.len - link->sent_bytes);

        if (sent < 0 && errno == EINTR)
            continue;
        if (sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
            return LOCI_OK;
        if (sent <= 0)
            return fail_closed(link, strerror(errno), err);
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

static bool is_word(loci_str text, const char *word)
{
    return text.len == strlen(word) && strncasecmp(text.ptr, word, text.len) == 0;
}

static loci_status fail_format(const lc_fetch_link *link, loci_error *err)
{
    return lc_fail(err, LOCI_ECORRUPT,
                   "%s does not answer with HTTP: another program is "
                   "listening there, or it needs https://",
                   link->socket.endpoint->url);
}

/* "HTTP/1.1 200 OK", headers, an empty line. */
static loci_status parse_head(lc_fetch_link *link, loci_error *err)
{
    const char *end = link->in.len > 0 ? memmem(link->in.ptr, link->in.len, "\r\n\r\n", 4) : NULL;
    loci_str head, length, type;
    int64_t status = 0, bytes = 0;

    if (link->in.len >= 7 && memcmp(link->in.ptr, "HTTP/1.", 7) != 0)
        return fail_format(link, err);
    if (end == NULL)
        return link->in.len < HEAD_BYTES_MAX ? LOCI_OK : fail_format(link, err);
    head = (loci_str){link->in.ptr, (size_t)(end - link->in.ptr)};
    length = find_header(head, "Content-Length");
    type = find_header(head, "Content-Type");
    if (head.len < 12 || !lc_str_to_i64((loci_str){head.ptr + 9, 3}, &status) || status < 100 ||
        status > 599 || (length.ptr != NULL && (!lc_str_to_i64(length, &bytes) || bytes < 0)))
        return fail_format(link, err);
    link->status = (int)status;
    link->head_bytes = head.len + 4;
    link->body_end = link->head_bytes;
    link->is_lines = lc_str_starts(type, LC_STR("application/x-ndjson"));
    if (lc_str_starts(type, LC_STR("application/json")) ||
        lc_str_starts(type, LC_STR("application/problem+json")))
        link->is_stream = false;
    link->is_chunked = is_word(find_header(head, "Transfer-Encoding"), "chunked");
    link->chunk = CHUNK_HEAD;
    link->body_bytes = length.ptr != NULL && !link->is_chunked ? (size_t)bytes : UNTIL_CLOSED;
    link->is_kept = (length.ptr != NULL || link->is_chunked) &&
                    !is_word(find_header(head, "Connection"), "close");
    return LOCI_OK;
}

/* Removes bytes of `in`, which are at `body_end`. */
static void drop_raw(lc_fetch_link *link, size_t bytes)
{
    size_t after = link->body_end + bytes;

    memmove(link->in.ptr + link->body_end, link->in.ptr + after, link->in.len - after);
    lc_buf_truncate(&link->in, link->in.len - bytes);
}

static bool parse_chunk_size(loci_str line, size_t *out)
{
    size_t digits = 0, size = 0;

    for (; digits < line.len && isxdigit((unsigned char)line.ptr[digits]); digits++) {
        int digit = tolower((unsigned char)line.ptr[digits]);

        size = size * 16 + (size_t)(digit <= '9' ? digit - '0' : digit - 'a' + 10);
        if (digits == 8)
            return false;
    }
    *out = size;
    return digits > 0 && (digits == line.len || line.ptr[digits] == ';');
}

/* Takes the line at `body_end`: "1a;name=value", the empty line after a chunk, or a trailer. False
 * when it has not arrived yet, or is none of them: then `*out_is_good` is false, too. */
static bool take_chunk_line(lc_fetch_link *link, bool *out_is_good)
{
    const char *raw = link->in.ptr + link->body_end;
    size_t raw_bytes = link->in.len - link->body_end;
    const char *end = raw_bytes > 0 ? memmem(raw, raw_bytes, "\r\n", 2) : NULL;
    loci_str line = {raw, end != NULL ? (size_t)(end - raw) : 0};

    *out_is_good = end != NULL || raw_bytes < CHUNK_HEAD_BYTES_MAX;
    if (end == NULL)
        return false;
    if (link->chunk == CHUNK_HEAD) {
        *out_is_good = parse_chunk_size(line, &link->chunk_left);
        link->chunk = link->chunk_left > 0 ? CHUNK_DATA : CHUNK_TRAILER;
    } else if (link->chunk == CHUNK_END) {
        *out_is_good = line.len == 0;
        link->chunk = CHUNK_HEAD;
    } else if (line.len == 0) {
        link->chunk = CHUNK_DONE;
    }
    drop_raw(link, line.len + 2);
    return *out_is_good;
}

/* Moves `body_end` behind the bytes of the body that have arrived. */
static loci_status decode_body(lc_fetch_link *link, loci_error *err)
{
    bool is_good = true;

    if (link->head_bytes == 0)
        return LOCI_OK;
    if (!link->is_chunked) {
        link->body_end = link->in.len;
        return LOCI_OK;
    }
    while (link->chunk != CHUNK_DONE && link->body_end < link->in.len) {
        size_t here = link->in.len - link->body_end;

        if (link->chunk != CHUNK_DATA) {
            if (!take_chunk_line(link, &is_good))
                break;
            continue;
        }
        here = here < link->chunk_left ? here : link->chunk_left;
        link->body_end += here;
        link->chunk_left -= here;
        if (link->chunk_left == 0)
            link->chunk = CHUNK_END;
    }
    return is_good ? LOCI_OK : fail_format(link, err);
}

static bool is_complete(const lc_fetch_link *link)
{
    if (link->head_bytes == 0)
        return false;
    if (link->is_chunked)
        return link->chunk == CHUNK_DONE;
    return link->body_bytes != UNTIL_CLOSED && link->in.len - link->head_bytes >= link->body_bytes;
}

/* Receives all available bytes; `*out_is_closed`: the daemon has closed the connection. */
static loci_status receive_some(lc_fetch_link *link, bool *out_is_closed, loci_error *err)
{
    size_t received = 0;
    loci_status status = LOCI_OK;

    while (status == LOCI_OK && !is_complete(link)) {
        char *room;
        ssize_t got;

        if (link->is_stream && received >= STREAM_BYTES_MAX)
            return LOCI_OK; /* Return these bytes first: the caller continues later. */
        room = lc_buf_reserve(&link->in, READ_BYTES);
        if (room == NULL)
            return lc_buf_status(&link->in, err);
        got = receive_bytes(link, room, READ_BYTES);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
            return LOCI_OK;
        if (got < 0)
            return fail_closed(link, strerror(errno), err);
        *out_is_closed = got == 0;
        if (got == 0)
            return LOCI_OK;
        lc_buf_grew(&link->in, (size_t)got);
        received += (size_t)got;
        if (link->head_bytes == 0)
            status = parse_head(link, err);
        if (status == LOCI_OK)
            status = decode_body(link, err);
    }
    return status;
}

/* Removes the bytes that a stream returned before. */
static void drop_lent(lc_fetch_link *link)
{
    size_t lent = link->body_end - link->head_bytes;

    if (!link->is_stream || link->head_bytes == 0 || lent == 0)
        return;
    link->body_end = link->head_bytes;
    drop_raw(link, lent);
}

loci_status lc_fetch_link_step(lc_fetch_link *link, lc_fetch_answer *out, loci_error *err)
{
    bool is_closed = false;
    loci_status status;

    drop_lent(link);
    status = send_some(link, err);
    if (status == LOCI_OK)
        status = receive_some(link, &is_closed, err);
    *out = (lc_fetch_answer){.status = link->status, .is_lines = link->is_lines};
    if (status != LOCI_OK)
        return status;
    if (link->head_bytes > 0)
        out->body = (loci_str){link->in.ptr + link->head_bytes, link->body_end - link->head_bytes};
    out->is_done = is_complete(link) || (is_closed && link->head_bytes > 0 && !link->is_chunked &&
                                         link->body_bytes == UNTIL_CLOSED);
    if (is_closed)
        link->is_kept = false;
    if (out->is_done)
        link->is_busy = false;
    else if (is_closed)
        return fail_closed(link, "", err);
    return LOCI_OK;
}

loci_status lc_fetch_run(const lc_endpoint *to, const lc_fetch *fetch, int *out_status, lc_buf *out,
                         loci_error *err)
{
    int64_t deadline_us = lc_clock_monotonic_us() + fetch->timeout_ms * 1000;
    lc_fetch_link *link = NULL;
    lc_fetch_answer answer = {0};
    loci_status status = open_link(out->heap, to, out->bytes_max, deadline_us, &link, err);

    if (status == LOCI_OK)
        status = lc_fetch_link_send(link, fetch, err);
    while (status == LOCI_OK && !answer.is_done) {
        status = lc_fetch_link_step(link, &answer, err);
        if (status == LOCI_OK && !answer.is_done)
            status = lc_fetch_link_wait(link, deadline_us, err);
    }
    if (status == LOCI_OK) {
        *out_status = answer.status;
        lc_buf_append(out, answer.body);
        status = lc_buf_status(out, err);
    }
    lc_fetch_link_close(link);
    return status;
}
