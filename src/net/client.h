/* client.h - JSON posted to a provider over HTTP or HTTPS, several at once, waited for.
 *
 *     lc_net_client_open(env, &client, err);
 *     lc_net_post_all(client, &terms, posts, count, err);     the replies are in posts[i].reply
 *
 * A client is used by one thread at a time and keeps its connections between calls; engine/ owns
 * the threads and lends clients out. What one call posts goes to one URL, a few at a time. A
 * failure that may pass (no connection, a time-out, 429, 5xx) is tried again after a pause; any
 * other ends the call. Redirects are not followed, proxies and variables of the environment not
 * looked at, answers not unpacked, and private addresses not spoken to unless the terms allow it.
 * (net/fetch.h talks to daemons of ours, over Unix sockets too, and needs none of this.)
 */
#ifndef LC_NET_CLIENT_H
#define LC_NET_CLIENT_H

#include "base/buf.h"
#include "base/env.h"

struct sockaddr;
typedef struct lc_net_client lc_net_client;

#define LC_NET_PARALLEL_MAX 4 /* Connections of one call. */
#define LC_NET_ATTEMPTS_MAX 4

typedef struct lc_net_terms {
    const char *url;     /* http:// or https://, without a user, a query and a fragment. */
    loci_str key;        /* For "Authorization: Bearer …"; none = none. */
    bool allow_private;  /* Addresses of this machine and its network too. */
    int64_t timeout_ms;  /* Of one attempt. */
    int64_t deadline_us; /* Monotonic, of the whole. INT64_MAX = none. */
    /* Asked ten times a second while waiting; what it answers other than LOCI_OK ends the call and
     * is its status. May be NULL. */
    loci_status (*pause)(void *ctx, loci_error *err);
    void *pause_ctx;
} lc_net_terms;

typedef struct lc_net_post {
    loci_str body;
    lc_buf *reply; /* Gets the body of the answer; its ceiling is that of the answer. */
} lc_net_post;

/* LOCI_EUNSUPPORTED if libcurl is not installed. */
loci_status lc_net_client_open(lc_env *env, lc_net_client **out, loci_error *err);
void lc_net_client_close(lc_net_client *client); /* NULL is fine. */

/* LOCI_EINVAL naming what is wrong with a URL. */
loci_status lc_net_check_url(const char *url, loci_error *err);

/* LOCI_OK: every post was answered with 2xx. Otherwise what the replies hold means nothing:
 * LOCI_EUNAVAILABLE (may pass; all attempts used up), LOCI_EUNSUPPORTED (the provider refuses: 3xx,
 * 4xx), LOCI_EFORBIDDEN (a private address; a key over plain HTTP to a public one), LOCI_ELIMIT
 * (the answer is too large), LOCI_EDEADLINE, LOCI_EINVAL (the URL or the key cannot be used). No
 * message holds the key, a body or anything of an answer but its status. */
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
