/* fetch.h - HTTP requests to a loci daemon.
 *
 * HTTP/1.1 over a Unix socket, TCP or TLS; no redirects, no proxies. A token is sent over plain
 * HTTP to another machine only if the endpoint allows it.
 *
 *     lc_fetch_run(&to, &fetch, &status, &body, err);  one request, which waits for its answer
 *
 *     lc_fetch_link_open(heap, &to, max, &link, err);  a connection that is kept between requests,
 *     lc_fetch_link_send(link, &fetch, err);           for a loop that waits with poll()
 *     lc_fetch_link_step(link, &answer, err);
 */
#ifndef LC_NET_FETCH_H
#define LC_NET_FETCH_H

#include "base/buf.h"

/* A daemon and how to reach it. Borrowed; of a link, until it is closed. */
typedef struct lc_endpoint {
    /* "http://127.0.0.1:7077", "http://[::1]:80", "https://host" or "unix:/path". */
    const char *url;
    loci_str token;             /* For "Authorization: Bearer …"; may be empty. */
    const char *ca_file;        /* https: certificates to trust, PEM; NULL = the system's. */
    bool allows_plain;          /* The token may be sent to another machine without TLS. */
    int64_t connect_ms;         /* Maximum time to connect; 0 = a second. */
    const volatile int *cancel; /* Becomes non-zero when waiting should end; or NULL. */
} lc_endpoint;

typedef struct lc_fetch {
    const char *method;     /* "GET" */
    const char *path;       /* "/readyz" */
    const char *accept;     /* NULL = application/json. */
    loci_str body;          /* JSON; may be empty. */
    loci_str client;        /* For "Loci-Client: …"; may be empty. */
    const char *request_id; /* For "Idempotency-Key"; or NULL. */
    int64_t timeout_ms;     /* Of the whole request; of a link: not used. */
    /* The body is long or endless: each step returns the bytes that have arrived, unless the answer
     * is JSON, such as an error. */
    bool is_stream;
} lc_fetch;

/* LOCI_EINVAL, with a message that does not repeat the URL, unless it is one of the above. */
loci_status lc_fetch_check_url(const char *url, loci_error *err);

/* Sends the request and reads the body of the answer into `out`, up to its maximum. LOCI_OK: there
 * is an answer, with any `*out_status`. LOCI_EINVAL: not a valid URL. LOCI_EFORBIDDEN: a token for
 * another machine. LOCI_EUNAVAILABLE: no connection. LOCI_EDEADLINE. LOCI_ECANCELLED.
 * LOCI_ECORRUPT: the answer is not HTTP. LOCI_EUNSUPPORTED: https without libcurl. Messages name
 * the URL, never the token. */
loci_status lc_fetch_run(const lc_endpoint *to, const lc_fetch *fetch, int *out_status, lc_buf *out,
                         loci_error *err);

/* ---- Connections that are kept --------------------------------------------------------------- */

typedef struct lc_fetch_link lc_fetch_link;

/* Connects; the answers may have up to `bytes_max` bytes. A Unix socket does not keep the caller
 * waiting; others may, up to `connect_ms` and the time of a name look-up. */
loci_status lc_fetch_link_open(lc_heap *heap, const lc_endpoint *to, size_t bytes_max,
                               lc_fetch_link **out, loci_error *err);
void lc_fetch_link_close(lc_fetch_link *link); /* NULL is fine. */

/* Begins a request; the one before must be done. */
loci_status lc_fetch_link_send(lc_fetch_link *link, const lc_fetch *fetch, loci_error *err);
/* The descriptor and the events for poll(). */
int lc_fetch_link_fd(const lc_fetch_link *link);
short lc_fetch_link_events(const lc_fetch_link *link);

typedef struct lc_fetch_answer {
    int status; /* 0 = it is not known yet. */
    /* Borrowed until the next call. For a stream: the bytes that arrived since the last step. */
    loci_str body;
    bool is_lines; /* Its type is application/x-ndjson. */
    bool is_done;
} lc_fetch_answer;

/* Sends and receives as much as possible without waiting. LOCI_EUNAVAILABLE if the daemon closed
 * the connection before the answer was complete: the request may have been executed or not. */
loci_status lc_fetch_link_step(lc_fetch_link *link, lc_fetch_answer *out, loci_error *err);
/* Waits until the link can go on. LOCI_EDEADLINE, or LOCI_ECANCELLED. */
loci_status lc_fetch_link_wait(lc_fetch_link *link, int64_t deadline_us, loci_error *err);
/* Whether another request can be sent on it. */
bool lc_fetch_link_is_reusable(const lc_fetch_link *link);

#endif /* LC_NET_FETCH_H */
