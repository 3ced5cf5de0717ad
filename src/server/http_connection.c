/* http_connection.c - the list of open connections, and the last words to one. */
#include "server/http_private.h"

#include <stdio.h>
#include <sys/socket.h>
#include <sys/uio.h>

bool lc_http_leave_reading(lc_http_connection *connection, lc_http_phase phase, int64_t deadline_ms)
{
    int64_t old = atomic_exchange(&connection->watch, lc_http_watch_of(phase, deadline_ms));

    if (lc_http_phase_of(old) != LC_HTTP_CUT)
        return true;
    lc_http_set_phase(connection, LC_HTTP_CUT, LC_HTTP_NEVER_MS);
    return false;
}

static void note_peer(lc_http_connection *connection)
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

static void list_connection(lc_http *http, lc_http_connection *connection)
{
    pthread_mutex_lock(&http->lock);
    connection->next = http->connections;
    if (http->connections != NULL)
        http->connections->previous = connection;
    http->connections = connection;
    http->connection_count++;
    lc_http_keeper_rouse(http);
    pthread_mutex_unlock(&http->lock);
}

lc_http_connection *lc_http_connection_open(lc_http *http, int fd)
{
    lc_http_connection *connection = NULL;

    if (http->connection_count < http->limits.connections_max)
        connection = lc_heap_zalloc(&http->env->heap, sizeof *connection, LOCI_MEM_REQUESTS);
    if (connection == NULL) {
        lc_http_say_last(fd, 503);
        (void)shutdown(fd, SHUT_RDWR); /* The loop sees the end and closes. */
        lc_http_count(&http->refused);
        return NULL;
    }
    connection->http = http;
    connection->fd = fd;
    note_peer(connection);
    lc_http_set_phase(connection, LC_HTTP_IDLE, lc_http_now_ms() + http->limits.idle_timeout_ms);
    list_connection(http, connection);
    return connection;
}

void lc_http_connection_close(lc_http_connection *connection)
{
    lc_http *http = connection->http;

    pthread_mutex_lock(&http->lock);
    if (connection->previous != NULL)
        connection->previous->next = connection->next;
    else
        http->connections = connection->next;
    if (connection->next != NULL)
        connection->next->previous = connection->previous;
    http->connection_count--;
    pthread_mutex_unlock(&http->lock);
    lc_heap_free(&http->env->heap, connection, sizeof *connection, LOCI_MEM_REQUESTS);
}

void lc_http_drop_unsent(const lc_http_connection *connection)
{
    struct linger at_once = {.l_onoff = 1};

    (void)setsockopt(connection->fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
}

typedef struct last_words {
    int http_status;
    loci_status code;
    const char *detail;
} last_words;

static const last_words *find_words(int http_status)
{
    static const last_words all[] = {
        {408, LOCI_EDEADLINE, "the request did not arrive in time"},
        {413, LOCI_ELIMIT, "the body is larger than this server takes"},
        {503, LOCI_EUNAVAILABLE, "too many connections; try again later"},
    };
    size_t at = 0;

    while (all[at].http_status != http_status)
        at++;
    return &all[at];
}

void lc_http_say_last(int fd, int http_status)
{
    const last_words *words = find_words(http_status);
    char body[512], head[256];
    struct iovec parts[2] = {{.iov_base = head}, {.iov_base = body}};
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};

    parts[1].iov_len = (size_t)snprintf(body, sizeof body,
                                        "{\"type\":\"about:blank\",\"title\":\"%s\","
                                        "\"status\":%d,\"detail\":\"%s\",\"code\":\"%s\"}",
                                        lc_http_title(http_status), http_status, words->detail,
                                        loci_status_name(words->code));
    parts[0].iov_len = (size_t)snprintf(head, sizeof head,
                                        "HTTP/1.1 %d %s\r\n"
                                        "Content-Type: application/problem+json\r\n"
                                        "Content-Length: %zu\r\n"
                                        "Cache-Control: no-store\r\nConnection: close\r\n\r\n",
                                        http_status, lc_http_title(http_status), parts[1].iov_len);
    (void)sendmsg(fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL); /* It is closed either way. */
}
