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

#endif /* LC_NET_CLIENT_H */
