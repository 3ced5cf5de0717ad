/* served.h - what is remembered of a request for its record in the log.
 *
 * A record names the route ("GET /v1/facts/{id}"), never the path, the query or the body: what
 * users say stays out of logs. */
#ifndef LC_SERVER_SERVED_H
#define LC_SERVER_SERVED_H

#include "server/parts.h"
#include "server/route.h"

/* In the request's arena, and its state. */
typedef struct lc_served {
    int64_t started_us;    /* Monotonic. */
    loci_str route;        /* A path of the route table, or a page; "-" before one is found. */
    lc_route_match match;  /* What the path means, once that is known. */
    const char *operation; /* Or NULL. */
    const char *token_id;  /* Or NULL before anybody is known. */
    const char *code;      /* Of the error it is answered with, or NULL. */
} lc_served;

/* Begins the record of `request`; NULL when out of memory. */
lc_served *lc_served_begin(lc_http_request *request);
/* Logs and counts; lc_http_options.answered. `ctx` is the lc_server. Any thread. */
void lc_served_end(void *ctx, const lc_http_request *request, int status, size_t bytes);

/* Answer and note the code for the record. */
void lc_served_fail(lc_http_request *request, const loci_error *err);
void lc_served_json(lc_http_request *request, loci_str json);
/* 405 with what is allowed. */
void lc_served_refuse_method(lc_http_request *request, const char *allow);

#endif /* LC_SERVER_SERVED_H */
