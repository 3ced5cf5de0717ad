/* fetch.h - HTTP requests to a loci daemon.
 *
 * Plain HTTP over TCP or a Unix socket, no redirects, no proxies. A token is never sent over plain
 * HTTP to another machine.
 *
 *     lc_fetch_run(&fetch, &status, &body, err);     one request, which waits for its answer
 *
 *     lc_fetch_link_open(heap, url, &link, err);     a connection that is kept between requests,
 *     lc_fetch_link_send(link, &fetch, err);         for a loop that waits with poll()
 *     lc_fetch_link_step(link, &answer, err);
 */
#ifndef LC_NET_FETCH_H
#define LC_NET_FETCH_H

#include "base/buf.h"

typedef struct lc_fetch {
    const char
        *url; /* "http://127.0.0.1:7077", "http://[::1]:80" or "unix:/path". Of a link: NULL. */
    const char *method;     /* "GET" */
    const char *path;       /* "/readyz" */
    loci_str token;         /* For "Authorization: Bearer …"; may be empty. */
    loci_str body;          /* JSON; may be empty. */
    const char *request_id; /* For "Idempotency-Key"; or NULL. */
    int64_t timeout_ms;     /* Of the whole request; of a link: not used. */
    bool is_stream;         /* The body is endless: a link lends what has arrived. */
} lc_fetch;

/* Sends the request and reads the body of the answer into `out`, up to its maximum. LOCI_OK: there
 * is an answer, with any `*out_status`. LOCI_EINVAL: not a valid URL. LOCI_EFORBIDDEN: a token for
 * another machine. LOCI_EUNAVAILABLE: no connection. LOCI_EDEADLINE. LOCI_ECORRUPT: the answer is
 * not HTTP. */
loci_status lc_fetch_run(const lc_fetch *fetch, int *out_status, lc_buf *out, loci_error *err);

/* ---- Connections that are kept --------------------------------------------------------------- */

typedef struct lc_fetch_link lc_fetch_link;

/* Connects; the answers may have up to `bytes_max` bytes. A Unix socket does not keep the caller
 * waiting; a TCP connection may take up to a second. */
loci_status lc_fetch_link_open(lc_heap *heap, const char *url, size_t bytes_max,
                               lc_fetch_link **out, loci_error *err);
void lc_fetch_link_close(lc_fetch_link *link); /* NULL is fine. */

/* Begins a request; the one before must be done. */
loci_status lc_fetch_link_send(lc_fetch_link *link, const lc_fetch *fetch, loci_error *err);
/* What to poll() for. */
int lc_fetch_link_fd(const lc_fetch_link *link);
short lc_fetch_link_events(const lc_fetch_link *link);

typedef struct lc_fetch_answer {
    int status; /* 0 = it is not known yet. */
    loci_str
        body; /* Borrowed until the next call. Of a stream: what arrived since the last step. */
    bool is_done;
} lc_fetch_answer;

/* Sends and receives what can be without waiting. LOCI_EUNAVAILABLE when the daemon closed the
 * connection before the answer was complete: it may have been carried out or not. */
loci_status lc_fetch_link_step(lc_fetch_link *link, lc_fetch_answer *out, loci_error *err);
/* Whether another request can be sent on it. */
bool lc_fetch_link_is_reusable(const lc_fetch_link *link);

#endif /* LC_NET_FETCH_H */
