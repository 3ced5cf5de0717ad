/* fuzz_http.c - any bytes as a request: judged, routed and turned into arguments without a socket.
 *
 * The input is a head (request line and fields, ended by an empty line) and a body, cut here by the
 * plainest rules; what the guard lets in goes the way of a request up to the call itself. */
#include <stdlib.h>
#include <string.h>

#include "base/heap.h"
#include "base/json.h"
#include "base/str.h"
#include "server/api_args.h"
#include "server/http_guard.h"
#include "server/route.h"
#include "store/token.h"

#define TARGET_BYTES_MAX 4096

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static void demand(bool is_right)
{
    if (!is_right)
        abort();
}

/* What is before the next `end`, and the rest behind it. */
static loci_str cut(loci_str *text, const char *end)
{
    const char *at = memmem(text->ptr, text->len, end, strlen(end));
    loci_str part = {text->ptr, at == NULL ? text->len : (size_t)(at - text->ptr)};
    size_t used = at == NULL ? text->len : part.len + strlen(end);

    text->ptr += used;
    text->len -= used;
    return part;
}

static size_t read_fields(loci_str *text, lc_http_field *out)
{
    size_t count = 0;

    while (text->len > 0 && count < LC_HTTP_FIELDS_MAX) {
        loci_str line = cut(text, "\r\n");

        if (line.len == 0)
            break;
        out[count].name = cut(&line, ":");
        out[count++].value = lc_str_trim(line);
    }
    return count;
}

/* A query as libmicrohttpd cuts it, decoded in place. */
static size_t read_query(char *text, size_t len, lc_path_param *out)
{
    loci_str rest = {text, len};
    size_t count = 0;

    while (rest.len > 0 && count < LC_QUERY_PARAMS_MAX) {
        loci_str pair = cut(&rest, "&");
        loci_str name = cut(&pair, "=");
        char *places[2] = {(char *)(uintptr_t)name.ptr, (char *)(uintptr_t)pair.ptr};
        size_t lens[2] = {name.len, pair.len};

        /* Decoding ends a text with a NUL, over the separator, which was read already. */
        for (int i = 0; i < 2; i++) {
            size_t before = lens[i];

            if (!lc_http_guard_decode(places[i], &lens[i]))
                return count;
            demand(lens[i] <= before);
            demand(memchr(places[i], '\0', lens[i]) == NULL);
        }
        out[count++] = (lc_path_param){{places[0], lens[0]}, {places[1], lens[1]}};
    }
    return count;
}

/* Everything behind the guard, up to the JSON that the call would get. */
static void follow(const lc_routes *routes, lc_arena *arena, const lc_http_head *head,
                   loci_str body)
{
    static char target[TARGET_BYTES_MAX + 2];
    lc_path_param query[LC_QUERY_PARAMS_MAX];
    loci_str rest = {target, head->target.len}, path, args = {NULL, 0};
    lc_route_match match;
    char allow[LC_ALLOW_BYTES];
    lc_api_given given;
    loci_error err;
    loci_status status;

    if (head->target.len > TARGET_BYTES_MAX)
        return;
    memcpy(target, head->target.ptr, head->target.len);
    target[head->target.len] = '\0';
    path = cut(&rest, "?");
    status = lc_route_find(routes, arena, head->method, path, &match, &err);
    if (status == LOCI_EUNSUPPORTED)
        demand(lc_route_allow(routes, path, allow));
    if (status != LOCI_OK || match.route->kind != LC_ROUTE_OPERATION)
        return;
    given = (lc_api_given){.op = match.route->op,
                           .path = match.params,
                           .path_count = match.param_count,
                           .query = query,
                           .query_count = read_query((char *)(uintptr_t)rest.ptr, rest.len, query),
                           .body = body};
    status = lc_api_args(arena, &given, &args, &err);
    if (status == LOCI_OK)
        demand(args.ptr != NULL || args.len == 0);
}

static void look_at_names(loci_str value, const lc_http_rules *rules)
{
    lc_token_hash hash;
    lc_id id;

    (void)lc_http_guard_is_our_host(value, rules);
    if (lc_http_guard_is_our_origin(value, rules))
        demand(value.len > 7 && memcmp(value.ptr, "http", 4) == 0);
    if (lc_http_guard_is_trace_id(value))
        demand(value.len > 0 && value.len <= LC_HTTP_TRACE_ID_BYTES_MAX &&
               memchr(value.ptr, '\n', value.len) == NULL);
    if (lc_token_text_parse(value, &id, &hash))
        demand(lc_token_text_is_in(value));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    static const char *const hosts[] = {"loci.example", "loci.example:8443", NULL};
    static lc_routes routes;
    static lc_heap heap;
    lc_http_rules rules = {16384, 65536, "127.0.0.1", hosts};
    lc_http_field fields[LC_HTTP_FIELDS_MAX];
    loci_str text = {(const char *)data, bytes}, line = cut(&text, "\r\n");
    lc_http_head head = {.method = cut(&line, " "), .fields = fields};
    lc_http_verdict verdict;
    lc_arena arena;
    loci_error err;

    if (routes.count == 0) {
        lc_heap_init(&heap, (loci_allocator){0});
        demand(lc_routes_init(&routes, &heap, &err) == LOCI_OK);
    }
    head.target = cut(&line, " ");
    head.is_target_bad = !lc_http_guard_is_target(head.target);
    head.is_http_1_0 = lc_str_is(line, "HTTP/1.0");
    head.field_count = read_fields(&text, fields);
    head.bytes = (size_t)(text.ptr - (const char *)data);
    for (size_t i = 0; i < head.field_count; i++)
        look_at_names(fields[i].value, &rules);
    verdict = lc_http_guard_check(&head, &rules);
    demand(verdict.http_status == 0 || (verdict.http_status >= 400 && verdict.detail != NULL));
    demand(verdict.http_status != 0 || !head.is_target_bad);
    if (verdict.http_status != 0)
        return 0;
    demand(verdict.body_bytes <= rules.body_bytes_max);
    lc_arena_init(&arena, &heap, LOCI_MEM_REQUESTS);
    follow(&routes, &arena, &head, text);
    lc_arena_clear(&arena);
    return 0;
}
