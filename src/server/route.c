/* route.c - routes are a sorted array, walked from the beginning: there are a few dozen, and most
 * differ from a request's path in their number of segments already.
 *
 * Order: fewer segments first, then segment by segment, a literal before a parameter, literals by
 * their bytes. Two routes of one method with the same literals in the same places would take the
 * same requests; that is refused when they are compiled.
 */
#include "server/route.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/str.h"
#include "base/utf8.h"
#include "ops/check.h"

static const char *const methods[] = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"};

#define METHOD_COUNT (sizeof methods / sizeof methods[0])

static bool is_param(loci_str segment)
{
    return segment.len > 2 && segment.ptr[0] == '{' && segment.ptr[segment.len - 1] == '}';
}

/* Splits "/v1/facts" into its segments; false when it has too many or does not begin with '/'. */
static bool split_path(loci_str path, loci_str segments[LC_ROUTE_SEGMENTS_MAX], size_t *out_count)
{
    loci_str rest = path;

    *out_count = 0;
    if (path.len == 0 || path.ptr[0] != '/')
        return false;
    rest.ptr++;
    rest.len--;
    while (rest.ptr != NULL) {
        if (*out_count == LC_ROUTE_SEGMENTS_MAX)
            return false;
        segments[(*out_count)++] = lc_str_split(rest, '/', &rest);
    }
    return true;
}

/* ---- Compiling ------------------------------------------------------------------------------- */

static int compare_segments(loci_str a, loci_str b)
{
    if (is_param(a) != is_param(b))
        return is_param(a) ? 1 : -1;
    return is_param(a) ? 0 : lc_str_compare(a, b);
}

/* 0 when both take the same paths. */
static int compare_paths(const lc_route *a, const lc_route *b)
{
    if (a->segment_count != b->segment_count)
        return a->segment_count < b->segment_count ? -1 : 1;
    for (size_t i = 0; i < a->segment_count; i++) {
        int order = compare_segments(a->segments[i], b->segments[i]);

        if (order != 0)
            return order;
    }
    return 0;
}

static int compare_routes(const void *a, const void *b)
{
    const lc_route *left = a;
    const lc_route *right = b;
    int order = compare_paths(left, right);

    return order != 0 ? order : lc_str_compare(left->method, right->method);
}

static bool is_method(loci_str text)
{
    for (size_t i = 0; i < METHOD_COUNT; i++) {
        if (lc_str_is(text, methods[i]))
            return !lc_str_is(text, "HEAD"); /* Comes with GET. */
    }
    return false;
}

/* Every parameter of the path must be one of the operation, and occur only once. */
static bool has_good_params(const lc_route *route)
{
    size_t count = 0;
    size_t index;

    for (size_t i = 0; i < route->segment_count; i++) {
        loci_str segment = route->segments[i];
        loci_str name = {segment.ptr + 1, segment.len - 2};

        if (segment.len == 0)
            return false;
        if (!is_param(segment))
            continue;
        if (++count > LC_ROUTE_PARAMS_MAX)
            return false;
        if (route->op != NULL && lc_op_find_param(route->op, name, &index) == NULL)
            return false;
        for (size_t j = 0; j < i; j++) {
            if (lc_str_eq(route->segments[j], segment))
                return false;
        }
    }
    return true;
}

static loci_status compile(const lc_route_source *source, lc_route *out, loci_error *err)
{
    loci_str path;

    out->kind = source->kind;
    out->op = source->op;
    out->method = lc_str_split(loci_str_of(source->http), ' ', &path);
    out->path = path;
    if (!is_method(out->method) || path.ptr == NULL ||
        !split_path(path, out->segments, &out->segment_count) || !has_good_params(out))
        return lc_fail(err, LOCI_EINTERNAL, "the route \"%s\" is not one", source->http);
    return LOCI_OK;
}

static loci_status refuse_doubles(const lc_routes *routes, loci_error *err)
{
    for (size_t i = 1; i < routes->count; i++) {
        const lc_route *a = &routes->routes[i - 1];
        const lc_route *b = &routes->routes[i];

        if (compare_routes(a, b) == 0)
            return lc_fail(err, LOCI_EINTERNAL, "the routes %.*s %.*s and %.*s take the same paths",
                           LC_STR_ARG(a->method), LC_STR_ARG(a->path), LC_STR_ARG(b->path));
    }
    return LOCI_OK;
}

loci_status lc_routes_init_from(lc_routes *routes, lc_heap *heap, const lc_route_source *sources,
                                size_t count, loci_error *err)
{
    loci_status status = LOCI_OK;

    lc_arena_init(&routes->arena, heap, LOCI_MEM_ENGINE);
    routes->count = 0;
    routes->routes = lc_arena_zalloc_array(&routes->arena, count, sizeof *routes->routes);
    if (routes->routes == NULL)
        status = lc_fail_memory(err);
    for (size_t i = 0; status == LOCI_OK && i < count; i++)
        status = compile(&sources[i], &routes->routes[routes->count++], err);
    if (status == LOCI_OK && routes->count > 0)
        qsort(routes->routes, routes->count, sizeof *routes->routes, compare_routes);
    if (status == LOCI_OK)
        status = refuse_doubles(routes, err);
    if (status != LOCI_OK)
        lc_routes_clear(routes);
    return status;
}

loci_status lc_routes_init(lc_routes *routes, lc_heap *heap, loci_error *err)
{
    static const lc_route_source own[] = {
        {"POST /v1/call/{op}", LC_ROUTE_CALL, NULL}, {"POST /v1/batch", LC_ROUTE_BATCH, NULL},
        {"GET /metrics", LC_ROUTE_METRICS, NULL},    {"GET /livez", LC_ROUTE_LIVE, NULL},
        {"GET /readyz", LC_ROUTE_READY, NULL},       {"GET /healthz", LC_ROUTE_READY, NULL},
        {"POST /mcp", LC_ROUTE_MCP, NULL},           {"GET /mcp", LC_ROUTE_MCP, NULL},
        {"DELETE /mcp", LC_ROUTE_MCP, NULL},
    };
    size_t count = sizeof own / sizeof own[0];
    lc_route_source *sources;
    lc_arena scratch;
    loci_status status;

    lc_arena_init(&scratch, heap, LOCI_MEM_ENGINE);
    sources = lc_arena_zalloc_array(&scratch, count + lc_op_count(), sizeof *sources);
    if (sources == NULL)
        return lc_fail_memory(err);
    memcpy(sources, own, sizeof own);
    for (size_t i = 0; i < lc_op_count(); i++) {
        const lc_op *op = lc_op_at(i);

        if (op->http != NULL)
            sources[count++] = (lc_route_source){op->http, LC_ROUTE_OPERATION, op};
    }
    status = lc_routes_init_from(routes, heap, sources, count, err);
    lc_arena_clear(&scratch);
    return status;
}

void lc_routes_clear(lc_routes *routes)
{
    lc_arena_clear(&routes->arena);
    routes->routes = NULL;
    routes->count = 0;
}

/* ---- Decoding -------------------------------------------------------------------------------- */

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* In place: what is decoded is never longer. False for a broken escape. */
static bool decode_escapes(char *text, size_t *len)
{
    size_t to = 0;

    for (size_t from = 0; from < *len; to++) {
        if (text[from] != '%') {
            text[to] = text[from++];
            continue;
        }
        if (*len - from < 3 || hex_digit(text[from + 1]) < 0 || hex_digit(text[from + 2]) < 0)
            return false;
        text[to] = (char)(hex_digit(text[from + 1]) * 16 + hex_digit(text[from + 2]));
        from += 3;
    }
    *len = to;
    return true;
}

loci_status lc_route_decode(lc_arena *arena, loci_str text, loci_str *out, loci_error *err)
{
    loci_str decoded = text;

    if (text.len > 0 && memchr(text.ptr, '%', text.len) != NULL) {
        char *copy = lc_arena_alloc(arena, text.len);

        if (copy == NULL)
            return lc_fail_memory(err);
        memcpy(copy, text.ptr, text.len);
        decoded.ptr = copy;
        if (!decode_escapes(copy, &decoded.len))
            return lc_fail(err, LOCI_EINVAL,
                           "the path has a '%%' without two hexadecimal digits; write %%25 for it");
    }
    if (!lc_utf8_is_valid(decoded) ||
        (decoded.len > 0 && memchr(decoded.ptr, '\0', decoded.len) != NULL))
        return lc_fail(err, LOCI_EINVAL, "the path is not UTF-8 without U+0000");
    *out = decoded;
    return LOCI_OK;
}

/* ---- Matching -------------------------------------------------------------------------------- */

typedef struct split {
    loci_str segments[LC_ROUTE_SEGMENTS_MAX];
    size_t count;
} split;

static bool fits(const lc_route *route, const split *path)
{
    if (route->segment_count != path->count)
        return false;
    for (size_t i = 0; i < path->count; i++) {
        bool is_same = is_param(route->segments[i])
                           ? path->segments[i].len > 0
                           : lc_str_eq(route->segments[i], path->segments[i]);

        if (!is_same)
            return false;
    }
    return true;
}

static loci_status take_params(const lc_route *route, const split *path, lc_arena *arena,
                               lc_route_match *out, loci_error *err)
{
    loci_status status = LOCI_OK;

    *out = (lc_route_match){.route = route};
    for (size_t i = 0; status == LOCI_OK && i < path->count; i++) {
        loci_str segment = route->segments[i];
        lc_path_param *param = &out->params[out->param_count];

        if (!is_param(segment))
            continue;
        param->name = (loci_str){segment.ptr + 1, segment.len - 2};
        out->param_count++;
        status = lc_route_decode(arena, path->segments[i], &param->value, err);
    }
    return status;
}

/* Offers every path of as many segments, its parameters filled in from the request. */
static loci_status fail_unknown(const lc_routes *routes, lc_arena *arena, loci_str path,
                                const split *given, loci_error *err)
{
    lc_nearest nearest = lc_nearest_to(path);
    lc_buf text;

    lc_buf_init(&text, arena->heap, LOCI_MEM_REQUESTS, 4096);
    for (size_t i = 0; i < routes->count; i++) {
        const lc_route *route = &routes->routes[i];

        if (route->segment_count != given->count)
            continue;
        lc_buf_reset(&text);
        for (size_t j = 0; j < given->count; j++) {
            lc_buf_append_byte(&text, '/');
            lc_buf_append(&text,
                          is_param(route->segments[j]) ? given->segments[j] : route->segments[j]);
        }
        if (lc_buf_status(&text, NULL) == LOCI_OK)
            lc_nearest_offer(&nearest, lc_arena_copy(arena, lc_buf_str(&text)));
    }
    lc_buf_clear(&text);
    if (nearest.best.ptr != NULL)
        return lc_fail(err, LOCI_ENOTFOUND, "there is nothing at this path; did you mean %.*s?",
                       LC_STR_ARG(nearest.best));
    return lc_fail(err, LOCI_ENOTFOUND,
                   "there is nothing at this path; /docs and /openapi.json list all paths");
}

loci_status lc_route_find(const lc_routes *routes, lc_arena *arena, loci_str method, loci_str path,
                          lc_route_match *out, loci_error *err)
{
    char allow[LC_ALLOW_BYTES];
    split given = {.count = 0};

    if (!split_path(path, given.segments, &given.count))
        given.count = 0; /* Fits nothing. */
    if (lc_str_is(method, "HEAD"))
        method = LC_STR("GET");
    for (size_t i = 0; i < routes->count; i++) {
        const lc_route *route = &routes->routes[i];

        if (lc_str_eq(route->method, method) && fits(route, &given))
            return take_params(route, &given, arena, out, err);
    }
    if (lc_route_allow(routes, path, allow))
        return lc_fail(err, LOCI_EUNSUPPORTED, "this path takes %s", allow);
    return fail_unknown(routes, arena, path, &given, err);
}

static bool has_method(const lc_routes *routes, const split *path, const char *method)
{
    for (size_t i = 0; i < routes->count; i++) {
        if (lc_str_is(routes->routes[i].method, method) && fits(&routes->routes[i], path))
            return true;
    }
    return false;
}

bool lc_route_allow(const lc_routes *routes, loci_str path, char out[LC_ALLOW_BYTES])
{
    split given = {.count = 0};
    size_t len = 0;

    if (!split_path(path, given.segments, &given.count))
        return false;
    for (size_t i = 0; i < METHOD_COUNT; i++) {
        const char *needed = lc_str_is(LC_STR("HEAD"), methods[i]) ? "GET" : methods[i];

        if (!has_method(routes, &given, needed))
            continue;
        memcpy(out + len, methods[i], strlen(methods[i]));
        len += strlen(methods[i]);
        memcpy(out + len, ", ", 2);
        len += 2;
    }
    memcpy(out + len, "OPTIONS", sizeof "OPTIONS");
    return len > 0;
}
