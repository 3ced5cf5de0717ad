/* http_server.c - addresses to listen on; starting, draining and stopping.
 *
 * A Unix socket is bound, then made private to its owner (mode 0600), then listened on. No client
 * can connect before listen(), so the socket is never open to other users.
 *
 * Stopping, in this order: no connection is accepted; no request begins; is_stopping is set; all
 * suspended connections are resumed, and one to be suspended later finds is_stopping under the same
 * lock and is not; the monitor ends; the loop ends and closes the rest; other threads answer the
 * deferred requests that they still have. Only then may the caller free the context of its
 * callbacks. */
#include "server/http.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/error.h"
#include "base/str.h"
#include "server/http_private.h"

#define BACKLOG 1024

/* ---- Addresses ------------------------------------------------------------------------------- */

/* "127.0.0.1" of "127.0.0.1:7077", "::1" of "[::1]:7077"; a text without a port is all host. */
static loci_str host_of(loci_str listen)
{
    const char *colon = listen.len > 0 ? memrchr(listen.ptr, ':', listen.len) : NULL;
    loci_str host = listen;

    if (colon != NULL)
        host.len = (size_t)(colon - listen.ptr);
    if (host.len >= 2 && host.ptr[0] == '[' && host.ptr[host.len - 1] == ']')
        host = (loci_str){host.ptr + 1, host.len - 2};
    return host;
}

bool lc_http_address_is_local(loci_str listen)
{
    loci_str host = host_of(listen);
    char text[INET6_ADDRSTRLEN];
    struct in_addr v4;
    struct in6_addr v6;

    if (lc_str_starts(listen, LC_STR("unix:")) || lc_str_is(host, "localhost"))
        return true;
    if (host.len == 0 || host.len >= sizeof text)
        return false;
    memcpy(text, host.ptr, host.len);
    text[host.len] = '\0';
    if (inet_pton(AF_INET, text, &v4) == 1)
        return ntohl(v4.s_addr) >> 24 == 127;
    return inet_pton(AF_INET6, text, &v6) == 1 && IN6_IS_ADDR_LOOPBACK(&v6);
}

void lc_http_address_format(const char *listen, int port, const char *socket_path,
                            char out[LC_HTTP_ADDRESS_BYTES])
{
    loci_str host = host_of(loci_str_of(listen));
    bool is_v6 = host.len > 0 && memchr(host.ptr, ':', host.len) != NULL;

    if (listen == NULL)
        (void)snprintf(out, LC_HTTP_ADDRESS_BYTES, "unix:%s",
                       socket_path != NULL ? socket_path : "");
    else if (lc_str_starts(loci_str_of(listen), LC_STR("unix:")))
        (void)snprintf(out, LC_HTTP_ADDRESS_BYTES, "%s", listen);
    else
        (void)snprintf(out, LC_HTTP_ADDRESS_BYTES, "http://%s%.*s%s:%d", is_v6 ? "[" : "",
                       LC_STR_ARG(host), is_v6 ? "]" : "", port);
}

/* ---- TCP sockets ----------------------------------------------------------------------------- */

static loci_status fail_socket(loci_error *err, const char *where)
{
    int code = errno;

    if (code == EADDRINUSE)
        return lc_fail(err, LOCI_ECONFLICT, "%s is in use by another process", where);
    if (code == EACCES || code == EPERM)
        return lc_fail(err, LOCI_EFORBIDDEN, "no permission to listen on %s: %s", where,
                       strerror(code));
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

loci_status lc_http_check_address(const char *listen, loci_error *err)
{
    char host[NI_MAXHOST];
    loci_str port;

    return split_address(listen, host, sizeof host, &port, err);
}

static bool read_address(lc_http_listener *out)
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

/* LOCI_EINVAL: not an address; LOCI_ECONFLICT: in use; LOCI_EFORBIDDEN; LOCI_EUNAVAILABLE
 * otherwise. */
static loci_status listen_tcp(const char *where, lc_http_listener *out, loci_error *err)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE | AI_NUMERICSERV};
    lc_http_listener listener = {.fd = -1};
    struct addrinfo *found = NULL;
    loci_status status;
    char host[256];
    loci_str port;
    int code, on = 1;

    status = split_address(where, host, sizeof host, &port, err);
    if (status != LOCI_OK)
        return status;
    code = getaddrinfo(host, port.ptr, &hints, &found);
    if (code != 0)
        return lc_fail(err, LOCI_EINVAL, "%s is not an address of this machine: %s", host,
                       gai_strerror(code));
    listener.fd = socket(found->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (listener.fd >= 0 &&
        setsockopt(listener.fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0 &&
        bind(listener.fd, found->ai_addr, found->ai_addrlen) == 0 &&
        listen(listener.fd, BACKLOG) == 0 && read_address(&listener)) {
        *out = listener;
    } else {
        status = fail_socket(err, where);
        if (listener.fd >= 0)
            (void)close(listener.fd); /* Nothing was written to it. */
    }
    freeaddrinfo(found);
    return status;
}

/* ---- Unix sockets ---------------------------------------------------------------------------- */

/* Removes a socket file that no process listens on. */
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

/* Closes, and removes the file. Twice is fine. */
static void unlisten_unix(lc_http_unix *unix_socket)
{
    struct stat file;

    if (unix_socket->fd < 0)
        return;
    (void)close(unix_socket->fd); /* Nothing was written to it. */
    unix_socket->fd = -1;
    /* Another process may have bound the path since. */
    if (lstat(unix_socket->path, &file) == 0 && file.st_dev == unix_socket->device &&
        file.st_ino == unix_socket->inode)
        (void)unlink(unix_socket->path); /* A file that stays is replaced at the next start. */
}

/* Makes the socket with mode 0600. A file left by a process that has ended is replaced; one with a
 * listener is LOCI_ECONFLICT. */
static loci_status listen_unix(const char *path, lc_http_unix *out, loci_error *err)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    lc_http_unix unix_socket = {.fd = -1};
    size_t bytes = strlen(path);
    loci_status status;
    struct stat file;

    _Static_assert(sizeof address.sun_path == sizeof unix_socket.path, "the longest path");
    if (bytes == 0 || bytes >= sizeof address.sun_path)
        return lc_fail(err, LOCI_EINVAL, "the path of a Unix socket has 1 to %zu bytes",
                       sizeof address.sun_path - 1);
    memcpy(address.sun_path, path, bytes + 1);
    memcpy(unix_socket.path, path, bytes + 1);
    status = remove_stale(&address, err);
    if (status != LOCI_OK)
        return status;
    unix_socket.fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (unix_socket.fd < 0 ||
        bind(unix_socket.fd, (const struct sockaddr *)&address, sizeof address) != 0 ||
        chmod(path, S_IRUSR | S_IWUSR) != 0 || lstat(path, &file) != 0) {
        status = fail_socket(err, path);
    } else {
        unix_socket.device = file.st_dev;
        unix_socket.inode = file.st_ino;
        if (listen(unix_socket.fd, BACKLOG) != 0)
            status = fail_socket(err, path);
    }
    if (status == LOCI_OK)
        *out = unix_socket;
    else
        unlisten_unix(&unix_socket);
    return status;
}

/* ---- Start and stop -------------------------------------------------------------------------- */

static int64_t or_default(int64_t given, int64_t fallback)
{
    return given > 0 ? given : fallback;
}

static lc_http_limits fill_limits(const lc_http_limits *given)
{
    return (lc_http_limits){
        .header_bytes_max = (size_t)or_default((int64_t)given->header_bytes_max, 16 << 10),
        .body_bytes_max = (size_t)or_default((int64_t)given->body_bytes_max, 4 << 20),
        .connections_max = or_default(given->connections_max, 4096),
        .connections_of_peer = or_default(given->connections_of_peer, 0),
        .inflight_bytes_max = or_default(given->inflight_bytes_max, 256 << 20),
        .inflight_bytes_of_peer = or_default(given->inflight_bytes_of_peer, 0),
        .header_timeout_ms = or_default(given->header_timeout_ms, 5000),
        .body_timeout_ms = or_default(given->body_timeout_ms, 30000),
        .idle_timeout_ms = or_default(given->idle_timeout_ms, 60000),
        .answer_timeout_ms = or_default(given->answer_timeout_ms, 30000),
    };
}

static loci_status open_sockets(lc_http *http, const lc_http_options *options, loci_error *err)
{
    const char *path = options->socket_path;
    const char *listen = options->listen;
    loci_status status = LOCI_OK;

    if (listen != NULL && strncmp(listen, "unix:", 5) == 0) {
        if (path != NULL)
            return lc_fail(err, LOCI_EINVAL,
                           "%s and a second Unix socket cannot be combined; use one of them",
                           listen);
        path = listen + 5;
        listen = NULL;
    }
    if (listen == NULL && path == NULL)
        return lc_fail(err, LOCI_EINVAL,
                       "no address and no socket to listen on; use --listen or --socket");
    if (listen != NULL) {
        status = listen_tcp(listen, &http->tcp, err);
        http->rules.address = http->tcp.address;
    }
    if (status == LOCI_OK && path != NULL)
        status = listen_unix(path, &http->unix_socket, err);
    return status;
}

/* New threads inherit the signal mask: signals are for the host's own threads. */
static loci_status start_threads(lc_http *http, loci_error *err)
{
    sigset_t all, before;
    loci_status status;

    (void)sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    status = lc_http_monitor_open(http, err);
    if (status == LOCI_OK)
        status = lc_http_loop_start(http, err);
    if (status == LOCI_OK)
        status = lc_http_monitor_start(http, err);
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
    http->admit = options->admit;
    http->handle = options->handle;
    http->answered = options->answered;
    http->wakes_on_flush = options->wakes_on_flush;
    http->ctx = options->ctx;
    http->limits = fill_limits(&options->limits);
    http->rules = (lc_http_rules){.header_bytes_max = http->limits.header_bytes_max,
                                  .body_bytes_max = http->limits.body_bytes_max,
                                  .hosts = options->hosts};
    http->tcp.fd = http->unix_socket.fd = http->epoll_fd = http->kick_fd = -1;
    http->mark = (uint32_t)lc_random_next(&env->random);
    http->started_ms = lc_env_now_us(env) / 1000;
    pthread_mutex_init(&http->lock, NULL);
    pthread_cond_init(&http->none_deferred, NULL);
    pthread_mutex_init(&http->clients_lock, NULL);
    *out = http; /* Before the loop starts: its first request may use it. */
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
    unlisten_unix(&http->unix_socket);
    pthread_mutex_unlock(&http->lock);
    lc_http_loop_quiesce(http);
    if (http->tcp.fd >= 0)
        (void)shutdown(http->tcp.fd, SHUT_RDWR); /* New connections are refused from now on. */
}

/* Wakes suspended streams and, with `is_for_all`, deferred requests: they get 504. */
static void wake_all(lc_http *http, bool is_for_all)
{
    pthread_mutex_lock(&http->lock);
    for (lc_http_connection *connection = http->connections; connection != NULL;
         connection = connection->next) {
        lc_http_request *request = connection->suspended;

        if (request == NULL || !(request->is_stream || is_for_all))
            continue;
        if (!request->is_stream && !lc_http_is_given(request)) {
            request->is_expired = true;
            __atomic_store_n(&request->cancel, 1, __ATOMIC_RELAXED);
        }
        lc_http_wake(connection);
    }
    pthread_mutex_unlock(&http->lock);
}

/* Waits until every request that has begun was answered; false on timeout. */
static bool wait_for_requests(const lc_http *http, int64_t deadline_ms)
{
    while (atomic_load(&http->ended) < atomic_load(&http->requests)) {
        if (lc_http_now_ms() >= deadline_ms)
            return false;
        lc_clock_sleep_us(1000);
    }
    return true;
}

bool lc_http_wait_idle(lc_http *http, int64_t timeout_ms)
{
    int64_t deadline_ms = lc_http_now_ms() + timeout_ms;

    atomic_store(&http->are_streams_ended, true);
    wake_all(http, false);
    if (!wait_for_requests(http, deadline_ms))
        return false;
    /* A connection that is kept alive may have begun its next request since. */
    atomic_store(&http->refuses_requests, true);
    return wait_for_requests(http, deadline_ms);
}

void lc_http_stop(lc_http *http)
{
    lc_http_drain(http);
    atomic_store(&http->refuses_requests, true);
    atomic_store(&http->is_stopping, true);
    wake_all(http, true);
    lc_http_monitor_stop(http);
    lc_http_loop_stop(http);
    if (http->tcp.fd >= 0)
        (void)close(http->tcp.fd); /* Nothing was written to it. */
    lc_http_monitor_close(http);
    pthread_mutex_lock(&http->lock);
    while (http->deferred_count > 0)
        pthread_cond_wait(&http->none_deferred, &http->lock);
    pthread_mutex_unlock(&http->lock);
    pthread_cond_destroy(&http->none_deferred);
    pthread_mutex_destroy(&http->lock);
    pthread_mutex_destroy(&http->clients_lock);
    lc_heap_free(&http->env->heap, http, sizeof *http, LOCI_MEM_ENGINE);
}

lc_http_counters lc_http_get_counters(const lc_http *http)
{
    lc_http *open = (lc_http *)(uintptr_t)http; /* Only its lock is modified. */
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
    pthread_mutex_lock(&open->clients_lock);
    counters.inflight_bytes = http->inflight_bytes;
    pthread_mutex_unlock(&open->clients_lock);
    return counters;
}
