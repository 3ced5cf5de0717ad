/* http_keeper.c - the thread that watches what the loop does not see.
 *
 *   clocks       every tick, all connections: has a phase lasted too long, has a first byte come
 *   deferred     every tick: is the deadline over (504), has the client gone (cancel)
 *   streams      epoll: wake_fd is readable, the client hung up; every tick: the heartbeat
 *   Unix socket  epoll: somebody connects
 *
 * It never speaks to libmicrohttpd about a connection except to resume it. To cut one it shuts the
 * socket, and the loop finds that out. Events carry pointers to streams; so a stream that has ended
 * is only freed here, between two calls of epoll_wait, when no event can be on its way.
 *
 * The loop cannot tell when the first byte of a request came, since libmicrohttpd reads silently.
 * The kernel can: when data came last. Were it not for that, a client sending a byte a second could
 * hold a connection for as long as an idle one may. */
#include "server/http_private.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"

#define EVENTS_MAX 64
#define TICK_MS_MIN 5
#define TICK_MS_MAX 100
#define TICKS_PER_TIMEOUT 8
#define KERNEL_TICK_MS 20 /* How exact "when data came last" is, twice over. */

/* What an event is of, in the low bits of the pointer to a stream. */
enum { TAG_WAKE, TAG_HANGUP, TAG_KICK, TAG_UNIX, TAGS };

static uint64_t tagged(const lc_http_request *request, unsigned tag)
{
    return (uint64_t)(uintptr_t)request | tag;
}

/* ---- Streams ------------------------------------------------------------------------------- */

void lc_http_keeper_watch(lc_http *http, lc_http_request *request)
{
    struct epoll_event wake = {EPOLLIN | EPOLLONESHOT, {.u64 = tagged(request, TAG_WAKE)}};
    struct epoll_event hangup = {EPOLLRDHUP | EPOLLONESHOT, {.u64 = tagged(request, TAG_HANGUP)}};

    if (request->stream.wake_fd >= 0) {
        /* Armed anew, it fires at once for what came in the meantime. */
        int mode = request->is_wake_watched ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;

        if (epoll_ctl(http->epoll_fd, mode, request->stream.wake_fd, &wake) == 0)
            request->is_wake_watched = true;
    }
    if (!request->is_hangup_watched)
        request->is_hangup_watched = epoll_ctl(http->epoll_fd, EPOLL_CTL_ADD,
                                               request->connection->fd, &hangup) == 0;
}

void lc_http_keeper_forget(lc_http *http, lc_http_request *request)
{
    if (request->is_wake_watched)
        (void)epoll_ctl(http->epoll_fd, EPOLL_CTL_DEL, request->stream.wake_fd, NULL);
    if (request->is_hangup_watched)
        (void)epoll_ctl(http->epoll_fd, EPOLL_CTL_DEL, request->connection->fd, NULL);
    request->is_wake_watched = request->is_hangup_watched = false;
}

static void free_graves(lc_http *http)
{
    lc_http_request *request = http->graves;

    http->graves = NULL;
    while (request != NULL) {
        lc_http_request *next = request->next_grave;

        lc_http_free_request(request);
        request = next;
    }
}

/* ---- Clocks -------------------------------------------------------------------------------- */

static void cut(lc_http *http, lc_http_connection *connection, lc_http_phase phase)
{
    if (phase == LC_HTTP_HEAD || phase == LC_HTTP_BODY)
        lc_http_say_last(connection->fd, 408);
    if (phase == LC_HTTP_REPLY || phase == LC_HTTP_STREAM)
        lc_http_drop_unsent(connection);
    (void)shutdown(connection->fd, SHUT_RDWR); /* The loop sees the end and closes. */
    if (phase != LC_HTTP_IDLE)
        atomic_fetch_add_explicit(&http->cut, 1, memory_order_relaxed);
}

/* Whether data came since the connection is idle. */
static bool has_begun(const lc_http_connection *connection, int64_t since_ms, int64_t now_ms)
{
    struct tcp_info info;
    socklen_t bytes = sizeof info;

    if (connection->is_unix ||
        getsockopt(connection->fd, IPPROTO_TCP, TCP_INFO, &info, &bytes) != 0)
        return false;
    return now_ms - (int64_t)info.tcpi_last_data_recv > since_ms + KERNEL_TICK_MS;
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
    } else if (phase == LC_HTTP_IDLE &&
               has_begun(connection, deadline_ms - http->limits.idle_timeout_ms, now_ms)) {
        /* Lost when the loop was faster: then the head is there. */
        (void)atomic_compare_exchange_strong(
            &connection->watch, &watch,
            lc_http_watch_of(LC_HTTP_HEAD, now_ms + http->limits.header_timeout_ms));
    }
}

static void check_sleeper(lc_http_connection *connection, int64_t now_us)
{
    lc_http_request *request = connection->asleep;
    struct pollfd socket = {.fd = connection->fd, .events = POLLRDHUP};

    if (request->is_stream) {
        if (now_us >= request->heartbeat_us) {
            request->is_heartbeat = true;
            lc_http_wake(connection);
        }
        return;
    }
    if (now_us >= request->deadline_us && !request->is_claimed) {
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
        if (connection->asleep != NULL)
            check_sleeper(connection, now_us);
        check_phase(http, connection, now_us / 1000);
    }
    pthread_mutex_unlock(&http->lock);
}

/* ---- Events -------------------------------------------------------------------------------- */

static void accept_all(lc_http *http)
{
    int fd;

    while ((fd = accept4(http->unix_socket.fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0)
        lc_http_adopt(http, fd);
}

static void handle_event(lc_http *http, uint64_t what)
{
    lc_http_request *request = (lc_http_request *)(uintptr_t)(what & ~(uint64_t)(TAGS - 1));
    unsigned tag = (unsigned)(what % TAGS);
    eventfd_t kicks;

    if (tag == TAG_KICK) {
        (void)eventfd_read(http->kick_fd, &kicks);
        return;
    }
    pthread_mutex_lock(&http->lock);
    if (tag == TAG_UNIX) {
        if (http->unix_socket.fd >= 0)
            accept_all(http);
    } else if (!request->is_over) {
        if (tag == TAG_HANGUP)
            request->is_gone = true;
        if (request->connection->asleep == request)
            lc_http_wake(request->connection);
    }
    pthread_mutex_unlock(&http->lock);
}

/* How long to wait; everything is forgotten that no event can be of. */
static int prepare(lc_http *http)
{
    bool is_resting;

    pthread_mutex_lock(&http->lock);
    free_graves(http);
    is_resting = http->connections == NULL && !atomic_load(&http->is_stopping);
    http->is_keeper_resting = is_resting;
    pthread_mutex_unlock(&http->lock);
    return is_resting ? -1 : (int)http->tick_ms;
}

static void *keep(void *ctx)
{
    lc_http *http = ctx;
    struct epoll_event events[EVENTS_MAX];
    int64_t checked_us = 0;

    while (!atomic_load(&http->is_stopping)) {
        int count = epoll_wait(http->epoll_fd, events, EVENTS_MAX, prepare(http));
        int64_t now_us = lc_clock_monotonic_us();

        for (int i = 0; i < count; i++)
            handle_event(http, events[i].data.u64);
        if (now_us - checked_us >= http->tick_ms * 1000) {
            check_all(http, now_us);
            checked_us = now_us;
        }
    }
    return NULL;
}

/* ---- Life ---------------------------------------------------------------------------------- */

void lc_http_keeper_rouse(lc_http *http)
{
    if (!http->is_keeper_resting)
        return;
    http->is_keeper_resting = false;
    (void)eventfd_write(http->kick_fd, 1); /* Fails only when it is full, which also wakes. */
}

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

loci_status lc_http_keeper_open(lc_http *http, loci_error *err)
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
        return lc_fail(err, LOCI_ERESOURCE, "no descriptors for the HTTP server: %s",
                       strerror(errno));
    return LOCI_OK;
}

loci_status lc_http_keeper_start(lc_http *http, loci_error *err)
{
    if (pthread_create(&http->keeper, NULL, keep, http) != 0)
        return lc_fail(err, LOCI_ERESOURCE, "no thread for the HTTP server");
    http->has_keeper = true;
    return LOCI_OK;
}

void lc_http_keeper_stop(lc_http *http)
{
    if (http->has_keeper) {
        (void)eventfd_write(http->kick_fd, 1); /* Fails only when it is full, which also wakes. */
        (void)pthread_join(http->keeper, NULL);
        http->has_keeper = false;
    }
}

void lc_http_keeper_close(lc_http *http)
{
    free_graves(http);
    if (http->epoll_fd >= 0)
        (void)close(http->epoll_fd); /* Holds nothing. */
    if (http->kick_fd >= 0)
        (void)close(http->kick_fd);
}
