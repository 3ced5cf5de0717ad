/* fetch.h - one HTTP request to a daemon nearby, waited for.
 *
 * Plain HTTP over TCP or a Unix socket, one connection a request, no redirects, no proxies: enough
 * to look after a daemon of ours. It never sends a token over plain HTTP to another machine.
 */
#ifndef LC_NET_FETCH_H
#define LC_NET_FETCH_H

#include "base/buf.h"

typedef struct lc_fetch {
    const char *url;    /* "http://127.0.0.1:7077", "http://[::1]:80" or "unix:/path". */
    const char *method; /* "GET" */
    const char *path;   /* "/readyz" */
    loci_str token;     /* For "Authorization: Bearer …"; none = none. */
    loci_str body;      /* JSON; none = none. */
    int64_t timeout_ms; /* Of the whole. */
} lc_fetch;

/* Sends it and reads the answer's body into `out` (bounded by its ceiling). LOCI_OK is any answer,
 * whatever its `*out_status` says. LOCI_EINVAL: not a URL of ours. LOCI_EFORBIDDEN: a token for
 * another machine. LOCI_EUNAVAILABLE: nobody listens. LOCI_EDEADLINE. LOCI_ECORRUPT: not HTTP. */
loci_status lc_fetch_run(const lc_fetch *fetch, int *out_status, lc_buf *out, loci_error *err);

#endif /* LC_NET_FETCH_H */
