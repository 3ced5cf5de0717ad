/* http_connection.c - open connections, and the thread that watches events which the loop does not
 * see.
 *
 * The monitor thread checks:
 *   timeouts     every tick, all connections: has a phase lasted too long, has a first byte arrived
 *   deferred     every tick: has the deadline passed (504), has the client hung up (cancel)
 *   streams      epoll: wake_fd is readable, the client hung up; every tick: the heartbeat
 *   Unix socket  epoll: a client connects
 *   lingering    epoll: the client still sends a body that was answered already; discards it
 *
 * The only libmicrohttpd function it calls for a connection is resume. To cut a connection it shuts
 * down the socket, and the loop notices. epoll events carry pointers to streams, so a stream that
 * has ended is freed only by this thread, between two calls of epoll_wait, when no event can refer
 * to it.
 *
 * After the answer to a client that has shut down its sending side, libmicrohttpd may miss the end
 * of the stream, above all on a busy machine, and would keep the connection until the idle timeout.
 * The monitor closes such a connection.
 *
 * The loop cannot tell when the first byte of a request arrived, because libmicrohttpd reads
 * without a callback. The kernel can: TCP_INFO has the time of the last data. Without it, a client
 * sending one byte per second could keep a connection for as long as an idle one may stay open.
 *
 * Most clients send their whole body before they read an answer. If the server closed the socket
 * after an early answer (401, 413 ...), the kernel would reset the connection and the client would
 * report a broken pipe instead of the error. So the connection lingers: the loop's socket is
 * duplicated before libmicrohttpd closes it, the sending side is shut down, and the monitor reads
 * and discards until the client closes. A lingering connection still counts for its peer and for
 * all; bytes, silence and total time are bounded, so it costs a client no less than sending a body
 * that is read. */
#include "server/http_private.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "server/http_reply.h"

#define EVENTS_MAX 64
#define TICK_MS_MIN 5
#define TICK_MS_MAX 100
#define TICKS_PER_TIMEOUT 8
#define KERNEL_TICK_MS 20 /* Twice the precision of the time of the last data. */
#define LINGER_BYTES_MIN (INT64_C(64) * 1024 * 1024) /* Or four times the largest body. */
#define LINGER_READ_BYTES 16384
#define LEFT_AFTER_MS 1000 /* Far more than the loop needs to see a hang-up itself. */

/* The kind of an event, in the low bits of the pointer to a stream or a lingering connection. */
enum { TAG_WAKE, TAG_HANGUP, TAG_KICK, TAG_UNIX, TAG_LINGER, TAGS = 8 };

static uint64_t tagged(const void *what, unsigned tag)
{
    return (uint64_t)(uintptr_t)what | tag;
}

/* ---- Open and close -------------------------------------------------------------------------- */

bool lc_http_leave_reading(lc_http_connection *connection, lc_http_phase phase, int64_t deadline_ms)
{
    int64_t old = atomic_exchange(&connection->watch, lc_http_watch_of(phase, deadline_ms));

    if (lc_http_phase_of(old) != LC_HTTP_CUT)
        return true;
    lc_http_set_phase(connection, LC_HTTP_CUT, LC_HTTP_NEVER_MS);
    return false;
}

static void read_peer(lc_http_connection *connection)
{
    struct sockaddr_storage address = {0};
    struct ucred peer;
    socklen_t bytes = sizeof address;

    if (getsockname(connection->fd, (struct sockaddr *)&address, &bytes) != 0 ||
        address.ss_family != AF_UNIX)
        return;
    bytes = sizeof peer;
    if (getsockopt(connection->fd, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) != 0)
        return;
    connection->is_unix = true;
    connection->uid = peer.uid;
}

lc_http_connection *lc_http_connection_open(lc_http *http, int fd)
{
    lc_http_connection *connection = NULL;
    lc_http_peer peer;
    bool is_full;

    pthread_mutex_lock(&http->lock);
    is_full = http->connection_count >= http->limits.connections_max;
    pthread_mutex_unlock(&http->lock);
    if (!is_full)
        connection = lc_heap_zalloc(&http->env->heap, sizeof *connection, LOCI_MEM_REQUESTS);
    if (connection != NULL) {
        connection->http = http;
        connection->fd = fd;
        read_peer(connection);
        lc_http_peer_read(connection, &peer);
        connection->client = lc_http_client_enter(http, &peer);
    }
    if (connection == NULL || connection->client == NULL) {
        lc_heap_free(&http->env->heap, connection, sizeof *connection, LOCI_MEM_REQUESTS);
        lc_http_send_final(fd, 503);
        (void)shutdown(fd, SHUT_RDWR); /* The loop sees the end and closes. */
        lc_http_count(&http->refused);
        return NULL;
    }
    lc_http_set_phase(connection, LC_HTTP_IDLE, lc_http_now_ms() + http->limits.idle_timeout_ms);
    pthread_mutex_lock(&http->lock);
    connection->next = http->connections;
    if (http->connections != NULL)
        http->connections->previous = connection;
    http->connections = connection;
    http->connection_count++;
    if (http->is_monitor_idle) { /* There is a timeout to watch now. */
        http->is_monitor_idle = false;
        (void)eventfd_write(http->kick_fd, 1); /* Fails only when it is full, which also wakes. */
    }
    pthread_mutex_unlock(&http->lock);
    return connection;
}

/* The lock is held. */
static void unlink_connection(lc_http *http, lc_http_connection *connection)
{
    if (connection->previous != NULL)
        connection->previous->next = connection->next;
    else
        http->connections = connection->next;
    if (connection->next != NULL)
        connection->next->previous = connection->previous;
    http->connection_count--;
}

static void free_connection(lc_http *http, lc_http_connection *connection)
{
    lc_http_client_leave(http, connection->client);
    lc_heap_free(&http->env->heap, connection, sizeof *connection, LOCI_MEM_REQUESTS);
}

/* ---- Lingering ------------------------------------------------------------------------------- */

static int64_t linger_deadline_ms(const lc_http_connection *connection, int64_t now_ms)
{
    int64_t silent_ms = now_ms + connection->http->limits.header_timeout_ms;

    return silent_ms < connection->linger_end_ms ? silent_ms : connection->linger_end_ms;
}

/* False when the connection must be closed now. The lock is held, so that lc_http_stop() either
 * finds the connection in the monitor's care or has stopped it before. */
static bool linger(lc_http *http, lc_http_connection *connection)
{
    struct epoll_event readable = {EPOLLIN, {.u64 = tagged(connection, TAG_LINGER)}};
    int64_t now_ms = lc_http_now_ms(), body_bytes_max = (int64_t)http->limits.body_bytes_max;
    int fd;

    if (!connection->must_linger || atomic_load(&http->is_stopping))
        return false;
    fd = dup(connection->fd);
    if (fd < 0)
        return false;
    connection->fd = fd;
    connection->linger_bytes = body_bytes_max * 4 > LINGER_BYTES_MIN ? body_bytes_max * 4
                                                                     : LINGER_BYTES_MIN;
    connection->linger_end_ms = now_ms + http->limits.body_timeout_ms;
    (void)shutdown(fd, SHUT_WR); /* Fails when the client has gone, which the monitor sees. */
    lc_http_set_phase(connection, LC_HTTP_LINGER, linger_deadline_ms(connection, now_ms));
    if (epoll_ctl(http->epoll_fd, EPOLL_CTL_ADD, fd, &readable) == 0)
        return true;
    (void)close(fd);
    return false;
}

/* On the monitor's thread, or after it has ended. The lock is held. */
static void end_linger(lc_http *http, lc_http_connection *connection)
{
    /* Closing it would not: libmicrohttpd may not have closed its own descriptor yet. */
    (void)epoll_ctl(http->epoll_fd, EPOLL_CTL_DEL, connection->fd, NULL);
    (void)close(connection->fd); /* Nothing was written to it. */
    unlink_connection(http, connection);
    free_connection(http, connection);
}

static void discard(lc_http *http, lc_http_connection *connection)
{
    char bytes[LINGER_READ_BYTES];
    ssize_t count = recv(connection->fd, bytes, sizeof bytes, MSG_DONTWAIT);

    if (count < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    connection->linger_bytes -= count;
    if (count <= 0 || connection->linger_bytes < 0)
        end_linger(http, connection);
    else
        lc_http_set_phase(connection, LC_HTTP_LINGER,
                          linger_deadline_ms(connection, lc_http_now_ms()));
}

void lc_http_connection_close(lc_http_connection *connection)
{
    lc_http *http = connection->http;
    bool lingers;

    pthread_mutex_lock(&http->lock);
    lingers = linger(http, connection);
    if (!lingers)
        unlink_connection(http, connection);
    pthread_mutex_unlock(&http->lock);
    if (!lingers)
        free_connection(http, connection);
}

void lc_http_drop_unsent(const lc_http_connection *connection)
{
    struct linger at_once = {.l_onoff = 1};

    (void)setsockopt(connection->fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
}

void lc_http_send_final(int fd, int http_status)
{
    const char *detail = http_status == 408 ? "the request did not arrive in time"
                                            : "the server is busy; try again later";
    loci_status code = http_status == 408 ? LOCI_EDEADLINE : LOCI_EUNAVAILABLE;
    const char *title = lc_http_title(http_status);
    char body[512], head[256];
    struct iovec parts[2] = {{.iov_base = head}, {.iov_base = body}};
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};

    parts[1].iov_len = (size_t)snprintf(body, sizeof body,
                                        "{\"type\":\"about:blank\",\"title\":\"%s\","
                                        "\"status\":%d,\"detail\":\"%s\",\"code\":\"%s\"}",
                                        title, http_status, detail, loci_status_name(code));
    parts[0].iov_len = (size_t)snprintf(head, sizeof head,
                                        "HTTP/1.1 %d %s\r\n"
                                        "Content-Type: " LC_PROBLEM_TYPE "\r\n"
                                        "Content-Length: %zu\r\n%s"
                                        "Cache-Control: no-store\r\nConnection: close\r\n\r\n",
                                        http_status, title, parts[1].iov_len,
                                        http_status == 503 ? "Retry-After: 1\r\n" : "");
    (void)sendmsg(fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL); /* It is closed either way. */
}

/* ---- Watched streams ------------------------------------------------------------------------- */

void lc_http_monitor_watch(lc_http *http, lc_http_request *request)
{
    struct epoll_event wake = {EPOLLIN | EPOLLONESHOT, {.u64 = tagged(request, TAG_WAKE)}};
    struct epoll_event hangup = {EPOLLRDHUP | EPOLLONESHOT, {.u64 = tagged(request, TAG_HANGUP)}};

    if (request->stream.wake_fd >= 0) {
        /* Re-armed, it fires at once if data arrived in the meantime. */
        int mode = request->is_wake_watched ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;

        if (epoll_ctl(http->epoll_fd, mode, request->stream.wake_fd, &wake) == 0)
            request->is_wake_watched = true;
    }
    if (!request->is_hangup_watched)
        request->is_hangup_watched = epoll_ctl(http->epoll_fd, EPOLL_CTL_ADD,
                                               request->connection->fd, &hangup) == 0;
}

void lc_http_monitor_forget(lc_http *http, lc_http_request *request)
{
    if (request->is_wake_watched)
        (void)epoll_ctl(http->epoll_fd, EPOLL_CTL_DEL, request->stream.wake_fd, NULL);
    if (request->is_hangup_watched)
        (void)epoll_ctl(http->epoll_fd, EPOLL_CTL_DEL, request->connection->fd, NULL);
    request->is_wake_watched = request->is_hangup_watched = false;
}

static void free_ended_streams(lc_http *http)
{
    lc_http_request *request = http->ended_streams;

    http->ended_streams = NULL;
    while (request != NULL) {
        lc_http_request *next = request->next_ended;

        lc_http_free_request(request);
        request = next;
    }
}

/* ---- Timeouts -------------------------------------------------------------------------------- */

static void cut(lc_http *http, lc_http_connection *connection, lc_http_phase phase)
{
    /* First: a client that sees its end may ask for the metrics. */
    if (phase != LC_HTTP_IDLE)
        atomic_fetch_add_explicit(&http->cut, 1, memory_order_relaxed);
    if (phase == LC_HTTP_HEAD || phase == LC_HTTP_BODY)
        lc_http_send_final(connection->fd, 408);
    if (phase == LC_HTTP_REPLY || phase == LC_HTTP_STREAM)
        lc_http_drop_unsent(connection);
    (void)shutdown(connection->fd, SHUT_RDWR); /* The loop sees the end and closes. */
}

/* Whether data arrived since the connection is idle. */
static bool has_begun(const lc_http_connection *connection, int64_t since_ms, int64_t now_ms)
{
    struct tcp_info info;
    socklen_t bytes = sizeof info;

    if (connection->is_unix ||
        getsockopt(connection->fd, IPPROTO_TCP, TCP_INFO, &info, &bytes) != 0)
        return false;
    return now_ms - (int64_t)info.tcpi_last_data_recv > since_ms + KERNEL_TICK_MS;
}

/* Whether the client has shut down its sending side, and all that it sent was read. */
static bool has_left(const lc_http_connection *connection)
{
    char byte;

    return recv(connection->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
}

static void check_idle(lc_http *http, lc_http_connection *connection, int64_t watch, int64_t now_ms)
{
    int64_t since_ms = watch / LC_HTTP_PHASES - http->limits.idle_timeout_ms;
    int64_t head = lc_http_watch_of(LC_HTTP_HEAD, now_ms + http->limits.header_timeout_ms);

    /* An exchange fails when the loop was faster: then the head is complete. */
    if (has_begun(connection, since_ms, now_ms))
        (void)atomic_compare_exchange_strong(&connection->watch, &watch, head);
    else if (now_ms - since_ms >= LEFT_AFTER_MS && has_left(connection) &&
             atomic_compare_exchange_strong(&connection->watch, &watch,
                                            lc_http_watch_of(LC_HTTP_CUT, LC_HTTP_NEVER_MS)))
        cut(http, connection, LC_HTTP_IDLE);
}

static void check_phase(lc_http *http, lc_http_connection *connection, int64_t now_ms)
{
    int64_t watch = atomic_load_explicit(&connection->watch, memory_order_acquire);
    int64_t deadline_ms = watch / LC_HTTP_PHASES;
    lc_http_phase phase = lc_http_phase_of(watch);

    if (now_ms >= deadline_ms) {
        if (atomic_compare_exchange_strong(&connection->watch, &watch,
                                           lc_http_watch_of(LC_HTTP_CUT, LC_HTTP_NEVER_MS)))
            cut(http, connection, phase);
    } else if (phase == LC_HTTP_IDLE) {
        check_idle(http, connection, watch, now_ms);
    }
}

static void check_suspended(lc_http_connection *connection, int64_t now_us)
{
    lc_http_request *request = connection->suspended;
    struct pollfd socket = {.fd = connection->fd, .events = POLLRDHUP};

    if (request->is_stream) {
        if (now_us >= request->heartbeat_us) {
            request->is_heartbeat = true;
            lc_http_wake(connection);
        }
        return;
    }
    if (now_us >= request->deadline_us && !request->is_claimed && !lc_http_is_given(request)) {
        request->is_expired = true;
        __atomic_store_n(&request->cancel, 1, __ATOMIC_RELAXED);
        lc_http_wake(connection);
    } else if (request->cancel == 0 && poll(&socket, 1, 0) == 1) {
        __atomic_store_n(&request->cancel, 1, __ATOMIC_RELAXED);
    }
}

static void check_all(lc_http *http, int64_t now_us)
{
    pthread_mutex_lock(&http->lock);
    for (lc_http_connection *connection = http->connections; connection != NULL;
         connection = connection->next) {
        if (connection->suspended != NULL)
            check_suspended(connection, now_us);
        check_phase(http, connection, now_us / 1000);
    }
    pthread_mutex_unlock(&http->lock);
}

/* ---- Events ---------------------------------------------------------------------------------- */

static void handle_event(lc_http *http, uint64_t what)
{
    void *object = (void *)(uintptr_t)(what & ~(uint64_t)(TAGS - 1));
    lc_http_request *request = object;
    unsigned tag = (unsigned)(what % TAGS);
    eventfd_t kicks;
    int fd;

    if (tag == TAG_KICK) {
        (void)eventfd_read(http->kick_fd, &kicks);
        return;
    }
    pthread_mutex_lock(&http->lock);
    if (tag == TAG_UNIX) {
        while (http->unix_socket.fd >= 0 &&
               (fd = accept4(http->unix_socket.fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0)
            lc_http_adopt(http, fd);
    } else if (tag == TAG_LINGER) {
        discard(http, object);
    } else if (!request->is_over) {
        if (tag == TAG_HANGUP)
            request->is_gone = true;
        if (request->connection->suspended == request)
            lc_http_wake(request->connection);
    }
    pthread_mutex_unlock(&http->lock);
}

static void *run_monitor(void *ctx)
{
    lc_http *http = ctx;
    struct epoll_event events[EVENTS_MAX];
    int64_t checked_us = 0;

    while (!atomic_load(&http->is_stopping)) {
        int count, timeout_ms;
        int64_t now_us;

        pthread_mutex_lock(&http->lock);
        free_ended_streams(http); /* No event can refer to them now. */
        http->is_monitor_idle = http->connections == NULL && !atomic_load(&http->is_stopping);
        timeout_ms = http->is_monitor_idle ? -1 : (int)http->tick_ms;
        pthread_mutex_unlock(&http->lock);
        count = epoll_wait(http->epoll_fd, events, EVENTS_MAX, timeout_ms);
        for (int i = 0; i < count; i++)
            handle_event(http, events[i].data.u64);
        now_us = lc_clock_monotonic_us();
        if (now_us - checked_us >= http->tick_ms * 1000) {
            check_all(http, now_us);
            checked_us = now_us;
        }
    }
    return NULL;
}

/* ---- Start and stop -------------------------------------------------------------------------- */

static int64_t choose_tick_ms(const lc_http_limits *limits)
{
    const int64_t timeouts_ms[] = {limits->header_timeout_ms, limits->body_timeout_ms,
                                   limits->idle_timeout_ms, limits->answer_timeout_ms};
    int64_t tick_ms = TICK_MS_MAX;

    for (size_t i = 0; i < sizeof timeouts_ms / sizeof timeouts_ms[0]; i++) {
        if (timeouts_ms[i] / TICKS_PER_TIMEOUT < tick_ms)
            tick_ms = timeouts_ms[i] / TICKS_PER_TIMEOUT;
    }
    return tick_ms < TICK_MS_MIN ? TICK_MS_MIN : tick_ms;
}

loci_status lc_http_monitor_open(lc_http *http, loci_error *err)
{
    struct epoll_event kick = {EPOLLIN, {.u64 = TAG_KICK}};
    struct epoll_event visitor = {EPOLLIN, {.u64 = TAG_UNIX}};

    http->tick_ms = choose_tick_ms(&http->limits);
    http->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    http->kick_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (http->epoll_fd < 0 || http->kick_fd < 0 ||
        epoll_ctl(http->epoll_fd, EPOLL_CTL_ADD, http->kick_fd, &kick) != 0 ||
        (http->unix_socket.fd >= 0 &&
         epoll_ctl(http->epoll_fd, EPOLL_CTL_ADD, http->unix_socket.fd, &visitor) != 0))
        return lc_fail(err, LOCI_ERESOURCE, "cannot create descriptors for the HTTP server: %s",
                       strerror(errno));
    return LOCI_OK;
}

loci_status lc_http_monitor_start(lc_http *http, loci_error *err)
{
    if (pthread_create(&http->monitor, NULL, run_monitor, http) != 0)
        return lc_fail(err, LOCI_ERESOURCE, "cannot start the monitor thread of the HTTP server");
    http->has_monitor = true;
    return LOCI_OK;
}

void lc_http_monitor_stop(lc_http *http)
{
    if (http->has_monitor) {
        (void)eventfd_write(http->kick_fd, 1); /* Fails only when it is full, which also wakes. */
        (void)pthread_join(http->monitor, NULL);
        http->has_monitor = false;
    }
}

void lc_http_monitor_close(lc_http *http)
{
    free_ended_streams(http);
    while (http->connections != NULL) /* The loop has closed all but those that linger. */
        end_linger(http, http->connections);
    if (http->epoll_fd >= 0)
        (void)close(http->epoll_fd); /* Nothing was written to it. */
    if (http->kick_fd >= 0)
        (void)close(http->kick_fd);
}
