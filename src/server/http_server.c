/* http_server.c - starting, draining and stopping.
 *
 * Stopping, in this order: nothing is accepted; is_stopping is set; all that sleeps is woken, and
 * what falls asleep later finds is_stopping under the same lock and does not; the keeper ends; the
 * loop ends and closes what is left. Deferred requests that nobody has answered yet keep the object
 * itself alive, lock and all, until they are. */
#include "server/http.h"

#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/error.h"
#include "server/http_private.h"

static int64_t or_usual(int64_t given, int64_t usual)
{
    return given > 0 ? given : usual;
}

static lc_http_limits fill_limits(const lc_http_limits *given)
{
    return (lc_http_limits){
        .header_bytes_max = (size_t)or_usual((int64_t)given->header_bytes_max, 16 << 10),
        .body_bytes_max = (size_t)or_usual((int64_t)given->body_bytes_max, 4 << 20),
        .connections_max = or_usual(given->connections_max, 4096),
        .connections_of_peer = or_usual(given->connections_of_peer, 0),
        .header_timeout_ms = or_usual(given->header_timeout_ms, 5000),
        .body_timeout_ms = or_usual(given->body_timeout_ms, 30000),
        .idle_timeout_ms = or_usual(given->idle_timeout_ms, 60000),
        .stream_buffer_bytes = (size_t)or_usual((int64_t)given->stream_buffer_bytes, 1 << 20),
        .answer_timeout_ms = or_usual(given->answer_timeout_ms, 30000),
    };
}

static loci_status open_sockets(lc_http *http, const lc_http_options *options, loci_error *err)
{
    const char *path = options->socket_path;
    const char *listen = options->listen;
    loci_status status = LOCI_OK;

    if (listen != NULL && strncmp(listen, "unix:", 5) == 0) {
        if (path != NULL)
            return lc_fail(err, LOCI_EINVAL, "%s and a second Unix socket are too many", listen);
        path = listen + 5;
        listen = NULL;
    }
    if (listen == NULL && path == NULL)
        return lc_fail(err, LOCI_EINVAL, "there is neither an address nor a socket to listen on");
    if (listen != NULL) {
        status = lc_http_listen_tcp(listen, &http->tcp, err);
        http->rules.address = http->tcp.address;
    }
    if (status == LOCI_OK && path != NULL)
        status = lc_http_listen_unix(path, &http->unix_socket, err);
    return status;
}

void lc_http_let_go(lc_http *http, bool is_last_owner)
{
    if (!is_last_owner)
        return;
    pthread_mutex_destroy(&http->lock);
    lc_heap_free(&http->env->heap, http, sizeof *http, LOCI_MEM_ENGINE);
}

/* Threads inherit the mask: signals are for the host's own threads. */
static loci_status start_threads(lc_http *http, loci_error *err)
{
    sigset_t all, before;
    loci_status status;

    (void)sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    status = lc_http_keeper_open(http, err);
    if (status == LOCI_OK)
        status = lc_http_loop_start(http, err);
    if (status == LOCI_OK)
        status = lc_http_keeper_start(http, err);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return status;
}

loci_status lc_http_start(lc_env *env, const lc_http_options *options, lc_http **out,
                          loci_error *err)
{
    lc_http *http = lc_heap_zalloc(&env->heap, sizeof *http, LOCI_MEM_ENGINE);
    loci_status status;

    if (http == NULL)
        return lc_fail_memory(err);
    http->env = env;
    http->handle = options->handle;
    http->answered = options->answered;
    http->ctx = options->ctx;
    http->limits = fill_limits(&options->limits);
    http->rules = (lc_http_rules){.header_bytes_max = http->limits.header_bytes_max,
                                  .body_bytes_max = http->limits.body_bytes_max,
                                  .hosts = options->hosts};
    http->tcp.fd = http->unix_socket.fd = http->epoll_fd = http->kick_fd = -1;
    http->mark = (uint32_t)lc_random_next(&env->random);
    http->started_ms = lc_env_now_us(env) / 1000;
    http->owners = 1;
    pthread_mutex_init(&http->lock, NULL);
    *out = http; /* Before the loop starts: its first request may already look there. */
    status = open_sockets(http, options, err);
    if (status == LOCI_OK)
        status = start_threads(http, err);
    if (status != LOCI_OK) {
        *out = NULL;
        lc_http_stop(http);
    }
    return status;
}

int lc_http_port(const lc_http *http)
{
    return http->tcp.port;
}

void lc_http_drain(lc_http *http)
{
    if (atomic_exchange(&http->is_draining, true))
        return;
    pthread_mutex_lock(&http->lock);
    lc_http_unlisten_unix(&http->unix_socket);
    pthread_mutex_unlock(&http->lock);
    lc_http_loop_quiesce(http);
    if (http->tcp.fd >= 0)
        (void)shutdown(http->tcp.fd, SHUT_RDWR); /* Who connects from now on is refused. */
}

/* Ends the sleep of streams, and of deferred requests too: with a 504. */
static void wake_all(lc_http *http, bool is_for_all)
{
    pthread_mutex_lock(&http->lock);
    for (lc_http_connection *connection = http->connections; connection != NULL;
         connection = connection->next) {
        lc_http_request *request = connection->asleep;

        if (request == NULL || !(request->is_stream || is_for_all))
            continue;
        if (!request->is_stream) {
            request->is_expired = true;
            __atomic_store_n(&request->cancel, 1, __ATOMIC_RELAXED);
        }
        lc_http_wake(connection);
    }
    pthread_mutex_unlock(&http->lock);
}

bool lc_http_wait_idle(lc_http *http, int64_t timeout_ms)
{
    int64_t deadline_ms = lc_http_now_ms() + timeout_ms;

    atomic_store(&http->are_streams_ended, true);
    wake_all(http, false);
    while (atomic_load(&http->ended) < atomic_load(&http->requests)) {
        if (lc_http_now_ms() >= deadline_ms)
            return false;
        lc_clock_sleep_us(1000);
    }
    return true;
}

/* Nobody begins any more: nothing is asleep. */
static void wait_for_ringing(lc_http *http)
{
    bool is_ringing = true;

    while (is_ringing) {
        pthread_mutex_lock(&http->lock);
        is_ringing = http->ringing > 0;
        pthread_mutex_unlock(&http->lock);
        if (is_ringing)
            lc_clock_sleep_us(1000);
    }
}

void lc_http_stop(lc_http *http)
{
    bool is_last_owner;

    lc_http_drain(http);
    atomic_store(&http->is_stopping, true);
    wake_all(http, true);
    wait_for_ringing(http);
    lc_http_keeper_stop(http);
    lc_http_loop_stop(http);
    if (http->tcp.fd >= 0)
        (void)close(http->tcp.fd); /* Nothing was written to it. */
    lc_http_keeper_close(http);
    pthread_mutex_lock(&http->lock);
    is_last_owner = --http->owners == 0;
    pthread_mutex_unlock(&http->lock);
    lc_http_let_go(http, is_last_owner);
}

lc_http_counters lc_http_get_counters(const lc_http *http)
{
    lc_http *open = (lc_http *)(uintptr_t)http; /* Only its lock is changed. */
    lc_http_counters counters = {
        .streams = atomic_load(&http->streams),
        .requests = atomic_load(&http->requests),
        .refused = atomic_load(&http->refused),
        .cut = atomic_load(&http->cut),
        .bytes_in = atomic_load(&http->bytes_in),
        .bytes_out = atomic_load(&http->bytes_out),
    };

    pthread_mutex_lock(&open->lock);
    counters.connections = http->connection_count;
    pthread_mutex_unlock(&open->lock);
    return counters;
}
