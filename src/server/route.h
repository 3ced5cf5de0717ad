/* route.h - finds the operation of a method and a path.
 *
 * The routes are those of the table of operations ("GET /v1/facts/{id}") and a few of the daemon's
 * own, compiled once and sorted so that the first that fits is the right one: a literal segment
 * goes before a parameter. Matching is pure: no request, no engine.
 */
#ifndef LC_SERVER_ROUTE_H
#define LC_SERVER_ROUTE_H

#include "ops/op.h"

#define LC_ROUTE_SEGMENTS_MAX 8
#define LC_ROUTE_PARAMS_MAX 4
#define LC_ALLOW_BYTES 64 /* "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS" and a NUL. */

typedef enum lc_route_kind {
    LC_ROUTE_OPERATION, /* One of the table, with parameters in path, query and body. */
    LC_ROUTE_CALL,      /* Any of the table, by name, with its arguments as the body. */
    LC_ROUTE_BATCH,
    LC_ROUTE_MCP,
    LC_ROUTE_METRICS,
    LC_ROUTE_LIVE,
    LC_ROUTE_READY
} lc_route_kind;

typedef struct lc_route {
    lc_route_kind kind;
    const lc_op *op;                          /* Of LC_ROUTE_OPERATION. */
    loci_str method;                          /* "GET" */
    loci_str path;                            /* "/v1/facts/{id}" */
    loci_str segments[LC_ROUTE_SEGMENTS_MAX]; /* "v1", "facts", "{id}" */
    size_t segment_count;
} lc_route;

typedef struct lc_routes {
    lc_arena arena;
    lc_route *routes; /* Sorted. */
    size_t count;
} lc_routes;

/* The parts that a route is made of. */
typedef struct lc_route_source {
    const char *http; /* "GET /v1/facts/{id}" */
    lc_route_kind kind;
    const lc_op *op; /* NULL = parameters are not checked. */
} lc_route_source;

/* Compiles the routes of the table and the daemon's own. A route that cannot be understood, and two
 * that take the same requests, are bugs in the table: LOCI_EINTERNAL naming them. */
loci_status lc_routes_init(lc_routes *routes, lc_heap *heap, loci_error *err);
/* The same of other sources, which must outlive the routes. */
loci_status lc_routes_init_from(lc_routes *routes, lc_heap *heap, const lc_route_source *sources,
                                size_t count, loci_error *err);
void lc_routes_clear(lc_routes *routes);

/* A parameter of the path, decoded. */
typedef struct lc_path_param {
    loci_str name;
    loci_str value;
} lc_path_param;

typedef struct lc_route_match {
    const lc_route *route;
    lc_path_param params[LC_ROUTE_PARAMS_MAX];
    size_t param_count;
} lc_route_match;

/* The route of `method` ("HEAD" counts as "GET") and `path`, which is still encoded; decoded
 * parameters live in `arena`. LOCI_ENOTFOUND suggests a path that is near. LOCI_EUNSUPPORTED: the
 * path exists for other methods. LOCI_EINVAL: the path is badly encoded. */
loci_status lc_route_find(const lc_routes *routes, lc_arena *arena, loci_str method, loci_str path,
                          lc_route_match *out, loci_error *err);

/* Writes the methods that `path` has, "GET, HEAD, POST, OPTIONS"; false when there is no such path.
 */
bool lc_route_allow(const lc_routes *routes, loci_str path, char out[LC_ALLOW_BYTES]);

/* Decodes %XX; '+' stays. Without escapes `*out` is `text`, else a copy in `arena`. LOCI_EINVAL for
 * a broken escape, a NUL or text that is not UTF-8. */
loci_status lc_route_decode(lc_arena *arena, loci_str text, loci_str *out, loci_error *err);

#endif /* LC_SERVER_ROUTE_H */
