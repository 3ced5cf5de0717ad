/* client.h - posts JSON to a provider over HTTP or HTTPS, several requests at a time.
 *
 *     lc_net_client_open(env, &client, err);
 *     lc_net_post_all(client, &terms, posts, count, err);     the replies are in posts[i].reply
 *
 * A client is used by one thread at a time and keeps its connections between calls; engine/ owns
 * the threads and lends clients to them. All posts of a call go to one URL. A temporary failure (no
 * connection, timeout, 429, 5xx) is retried with back-off; any other ends the call. Redirects are
 * not followed, proxies and environment variables are ignored, replies are not decompressed, and
 * private addresses are refused unless the terms allow them. (net/fetch.h is for loci daemons.)
 */
#ifndef LC_NET_CLIENT_H
#define LC_NET_CLIENT_H

#include "base/buf.h"
#include "base/env.h"

struct sockaddr;
typedef struct lc_net_client lc_net_client;

#define LC_NET_PARALLEL_MAX 4 /* Connections per call. */
#define LC_NET_ATTEMPTS_MAX 4

typedef struct lc_net_terms {
    const char *url;     /* http:// or https://, without a user, a query and a fragment. */
    loci_str key;        /* For "Authorization: Bearer …"; none = none. */
    bool allow_private;  /* Allow addresses of this machine and its network. */
    int64_t timeout_ms;  /* Per attempt. */
    int64_t deadline_us; /* Of the call, monotonic; INT64_MAX = none. */
    /* Called ten times per second while waiting; any status but LOCI_OK ends the call with it. May
     * be NULL. */
    loci_status (*pause)(void *ctx, loci_error *err);
    void *pause_ctx;
} lc_net_terms;

typedef struct lc_net_post {
    loci_str body;
    lc_buf *reply; /* Gets the body of the reply; its maximum limits the reply. */
} lc_net_post;

/* LOCI_EUNSUPPORTED if libcurl is not installed. */
loci_status lc_net_client_open(lc_env *env, lc_net_client **out, loci_error *err);
void lc_net_client_close(lc_net_client *client); /* NULL is fine. */

/* LOCI_EINVAL if the URL cannot be used. */
loci_status lc_net_check_url(const char *url, loci_error *err);

/* LOCI_OK: all posts were answered with 2xx. Otherwise the replies are undefined: LOCI_EUNAVAILABLE
 * (temporary, all attempts failed), LOCI_EUNSUPPORTED (refused with 3xx or 4xx), LOCI_EFORBIDDEN (a
 * private address, or a key over plain HTTP to a public one), LOCI_ELIMIT (the reply is too large),
 * LOCI_EDEADLINE, LOCI_EINVAL (the URL or the key cannot be used). Messages never contain the key,
 * a body or any part of a reply but its status. */
loci_status lc_net_post_all(lc_net_client *client, const lc_net_terms *terms, lc_net_post *posts,
                            size_t count, loci_error *err);

/* ---- The rules a client follows, for its tests ----------------------------------------------- */

/* Whether `address` is anything but a public unicast address of the internet. The URL comes from a
 * setting, but the address comes from DNS: without this check a host name could direct a request,
 * and the key with it, to a service inside the network that trusts its neighbours (a cloud's
 * metadata service, a router). IPv6 forms that carry an IPv4 address (mapped, NAT64, 6to4) are
 * judged by it. Families other than IP are private. */
bool lc_net_is_private(const struct sockaddr *address);

#define LC_NET_BACKOFF_MS 250           /* Before the second attempt; doubles with each attempt, */
#define LC_NET_BACKOFF_MS_MAX 8000      /* up to this. */
#define LC_NET_RETRY_AFTER_MS_MAX 60000 /* Longest pause that a provider can ask for. */

/* Whether to try again after this status: 429 and 5xx. */
bool lc_net_may_pass(int http_status);

/* Pause after this many failed attempts (1 or more), at random between half of the back-off and all
 * of it, so that clients that failed together do not return together. */
int64_t lc_net_backoff_ms(lc_random *random, int attempts);

/* Pause that a header `Retry-After` asks for: seconds, or an HTTP date relative to `now_us`. At
 * most LC_NET_RETRY_AFTER_MS_MAX; 0 for a date in the past, -1 if the value is neither. */
int64_t lc_net_retry_after_ms(const lc_net_client *client, const char *value, int64_t now_us);

#endif /* LC_NET_CLIENT_H */
