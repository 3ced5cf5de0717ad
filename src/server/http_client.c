/* http_client.c - clients, and the resources that each of them uses in the server.
 *
 * A client is a remote address (of IPv6 its /64 network, because one machine can have all addresses
 * of that) or, on the Unix socket, a user id. It has an account as long as it has a connection or a
 * request. Bytes in flight are bodies being received and answers or stream data not yet sent; they
 * are charged to the request, to its client and to the server, and credited when the request is
 * freed. So the memory that clients can occupy has a ceiling, and one client leaves room for
 * others.
 *
 * Invariant: accounts are used under clients_lock only, which is taken last. */
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

#include "server/http_private.h"

struct lc_http_client {
    struct lc_http_client *next; /* In its bucket. */
    lc_http_peer peer;
    int64_t connection_count;
    int64_t user_count; /* Connections and requests. */
    int64_t bytes;
};

void lc_http_peer_read(lc_http_connection *connection, lc_http_peer *out)
{
    struct sockaddr_storage address = {0};
    const struct sockaddr_in *v4 = (const struct sockaddr_in *)&address;
    const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)&address;
    socklen_t bytes = sizeof address;

    memset(out, 0, sizeof *out);
    if (connection->is_unix) {
        out->family = AF_UNIX;
        memcpy(out->bytes, &connection->uid, sizeof connection->uid);
    } else if (getpeername(connection->fd, (struct sockaddr *)&address, &bytes) == 0) {
        out->family = address.ss_family;
        if (address.ss_family == AF_INET6 && IN6_IS_ADDR_V4MAPPED(&v6->sin6_addr)) {
            out->family = AF_INET;
            memcpy(out->bytes, &v6->sin6_addr.s6_addr[12], 4);
        } else if (address.ss_family == AF_INET6) {
            memcpy(out->bytes, &v6->sin6_addr, 8);
        } else {
            memcpy(out->bytes, &v4->sin_addr, 4);
        }
    }
}

static lc_http_client **bucket_of(lc_http *http, const lc_http_peer *peer)
{
    unsigned hash = (unsigned)peer->family;

    for (size_t i = 0; i < sizeof peer->bytes; i++)
        hash = hash * 31 + peer->bytes[i];
    return &http->clients[hash % LC_HTTP_CLIENT_BUCKETS];
}

lc_http_client *lc_http_client_enter(lc_http *http, const lc_http_peer *peer)
{
    int64_t connections_max = http->limits.connections_of_peer;
    lc_http_client **bucket = bucket_of(http, peer), *client;

    pthread_mutex_lock(&http->clients_lock);
    for (client = *bucket; client != NULL; client = client->next) {
        if (memcmp(&client->peer, peer, sizeof *peer) == 0)
            break;
    }
    if (client != NULL && connections_max > 0 && client->connection_count >= connections_max) {
        client = NULL;
    } else {
        if (client == NULL) {
            client = lc_heap_zalloc(&http->env->heap, sizeof *client, LOCI_MEM_REQUESTS);
            if (client != NULL) {
                client->peer = *peer;
                client->next = *bucket;
                *bucket = client;
            }
        }
        if (client != NULL) {
            client->connection_count++;
            client->user_count++;
        }
    }
    pthread_mutex_unlock(&http->clients_lock);
    return client;
}

/* Gives `client` back once. The lock is held. */
static void drop(lc_http *http, lc_http_client *client)
{
    lc_http_client **link = bucket_of(http, &client->peer);

    if (--client->user_count > 0)
        return;
    while (*link != client)
        link = &(*link)->next;
    *link = client->next;
    lc_heap_free(&http->env->heap, client, sizeof *client, LOCI_MEM_REQUESTS);
}

void lc_http_client_leave(lc_http *http, lc_http_client *client)
{
    pthread_mutex_lock(&http->clients_lock);
    client->connection_count--;
    drop(http, client);
    pthread_mutex_unlock(&http->clients_lock);
}

void lc_http_account_open(lc_http_request *request)
{
    pthread_mutex_lock(&request->http->clients_lock);
    request->client = request->connection->client;
    request->client->user_count++;
    pthread_mutex_unlock(&request->http->clients_lock);
}

void lc_http_account_close(lc_http_request *request)
{
    lc_http *http = request->http;

    pthread_mutex_lock(&http->clients_lock);
    http->inflight_bytes -= request->charged_bytes;
    request->client->bytes -= request->charged_bytes;
    drop(http, request->client);
    pthread_mutex_unlock(&http->clients_lock);
}

bool lc_http_charge(lc_http_request *request, int64_t bytes, bool is_forced)
{
    lc_http *http = request->http;
    const lc_http_limits *limits = &http->limits;
    bool is_allowed;

    pthread_mutex_lock(&http->clients_lock);
    is_allowed = bytes <= 0 || is_forced ||
                 (http->inflight_bytes + bytes <= limits->inflight_bytes_max &&
                  (limits->inflight_bytes_of_peer == 0 ||
                   request->client->bytes + bytes <= limits->inflight_bytes_of_peer));
    if (is_allowed) {
        http->inflight_bytes += bytes;
        request->client->bytes += bytes;
        request->charged_bytes += bytes;
    }
    pthread_mutex_unlock(&http->clients_lock);
    return is_allowed;
}
