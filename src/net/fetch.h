/* fetch.h - one blocking HTTP request to a loci daemon.
 *
 * Plain HTTP over TCP or a Unix socket, one connection per request, no redirects, no proxies:
 * enough to check a daemon. A token is never sent over plain HTTP to another machine.
 */
#ifndef LC_NET_FETCH_H
#define LC_NET_FETCH_H

#include "base/buf.h"

typedef struct lc_fetch {
    const char *url;    /* "http://127.0.0.1:7077", "http://[::1]:80" or "unix:/path". */
    const char *method; /* "GET" */
    const char *path;   /* "/readyz" */
    loci_str token;     /* For "Authorization: Bearer …"; may be empty. */
    loci_str body;      /* JSON; may be empty. */
    loci_str client;    /* For "Loci-Client: …"; may be empty. */
    int64_t timeout_ms; /* Of the whole request. */
} lc_fetch;

/* Sends the request and reads the body of the answer into `out`, up to its maximum. LOCI_OK: there
 * is an answer, with any `*out_status`. LOCI_EINVAL: not a valid URL. LOCI_EFORBIDDEN: a token for
 * another machine. LOCI_EUNAVAILABLE: no connection. LOCI_EDEADLINE. LOCI_ECORRUPT: the answer is
 * not HTTP. */
loci_status lc_fetch_run(const lc_fetch *fetch, int *out_status, lc_buf *out, loci_error *err);

#endif /* LC_NET_FETCH_H */
