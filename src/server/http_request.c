/* http_request.c - a request as the handler sees it. Everything is in the request's own memory
 * block, so it can be read from any thread until the request is answered. */
#include "server/http_private.h"

#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "base/trace.h"

loci_str lc_http_method(const lc_http_request *request)
{
    return request->method;
}

loci_str lc_http_path(const lc_http_request *request)
{
    return request->path;
}

loci_str lc_http_query(const lc_http_request *request, const char *name)
{
    for (size_t i = 0; i < request->query_count; i++) {
        if (lc_str_is(request->queries[i].name, name))
            return request->queries[i].value;
    }
    return LC_STR_NONE;
}

bool lc_http_query_at(const lc_http_request *request, size_t index, loci_str *name, loci_str *value)
{
    if (index >= request->query_count)
        return false;
    *name = request->queries[index].name;
    *value = request->queries[index].value;
    return true;
}

loci_str lc_http_header(const lc_http_request *request, const char *name)
{
    loci_str wanted = loci_str_of(name);

    for (size_t i = 0; i < request->field_count; i++) {
        if (lc_http_is_same_name(request->fields[i].name, wanted))
            return lc_str_trim(request->fields[i].value);
    }
    return LC_STR_NONE;
}

loci_str lc_http_body(const lc_http_request *request)
{
    return request->body.len == 0 ? LC_STR("") : lc_buf_str(&request->body);
}

bool lc_http_peer_uid(const lc_http_request *request, uid_t *out)
{
    if (!request->is_unix)
        return false;
    *out = request->peer_uid;
    return true;
}

const char *lc_http_problem_code(const lc_http_request *request)
{
    return request->problem_code;
}

loci_str lc_http_traceparent(const lc_http_request *request)
{
    return request->traceparent;
}

const char *lc_http_trace_id(const lc_http_request *request)
{
    return request->trace_id;
}

lc_arena *lc_http_arena(lc_http_request *request)
{
    return &request->arena;
}

void lc_http_set_state(lc_http_request *request, void *state)
{
    request->state = state;
}

void *lc_http_state(const lc_http_request *request)
{
    return request->state;
}

int64_t lc_http_deadline_us(const lc_http_request *request)
{
    return request->deadline_us;
}

void lc_http_set_deadline_us(lc_http_request *request, int64_t deadline_us)
{
    request->deadline_us = deadline_us;
}

const volatile int *lc_http_cancel(const lc_http_request *request)
{
    return &request->cancel;
}

/* ---- Create and free ------------------------------------------------------------------------- */

lc_http_verdict lc_http_check_head(const lc_http_connection *connection, const lc_http_incoming *in)
{
    lc_http_verdict malformed = {.http_status = 400, .status = LOCI_EINVAL};
    lc_http_verdict verdict = lc_http_guard_check(&in->head, &connection->http->rules);

    if (verdict.http_status == 0 || verdict.http_status == 421) {
        if (connection->has_bad_escape) {
            malformed.detail =
                "a % in the query must be followed by two hexadecimal digits other than 00";
            return malformed;
        }
        if (!lc_http_guard_is_gapless(&in->head, in->version,
                                      in->head.method.ptr + in->head.bytes)) {
            malformed.detail =
                "lines must end with CRLF, must not be folded and must not contain NUL";
            return malformed;
        }
    }
    return verdict;
}

/* The place of `text`, a part of `from`, in the copy of `from`. */
static loci_str moved(loci_str text, const char *from, const char *copy)
{
    return (loci_str){copy + (text.ptr - from), text.len};
}

static const lc_http_field *move_fields(lc_http_field *to, const lc_http_fields *from,
                                        const char *base, const char *copy)
{
    for (size_t i = 0; i < from->count; i++)
        to[i] = (lc_http_field){moved(from->list[i].name, base, copy),
                                moved(from->list[i].value, base, copy)};
    return to;
}

/* Without memory for it, the request is served without its trace. */
static void set_traceparent(lc_http_request *request)
{
    loci_str given = lc_http_header(request, "traceparent");

    if (given.ptr == NULL || !lc_trace_is_parent(lc_str_trim(given)))
        return;
    request->traceparent = lc_arena_copy(&request->arena, lc_str_trim(given));
}

/* The first valid one; ptr NULL when there is none. */
static loci_str given_trace_id(const lc_http_request *request)
{
    static const char *const names[] = {"Trace-Id", "X-Request-Id"};

    if (request->traceparent.len > 0)
        return lc_trace_id(request->traceparent);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        loci_str given = lc_http_header(request, names[i]);

        if (given.ptr != NULL && lc_http_guard_is_trace_id(given))
            return given;
    }
    return LC_STR_NONE;
}

static void set_trace_id(const lc_http *http, lc_http_request *request)
{
    loci_str given = given_trace_id(request);
    int64_t number = atomic_load_explicit(&http->requests, memory_order_relaxed);

    if (given.ptr == NULL) {
        (void)snprintf(request->trace_id, sizeof request->trace_id, "%012llx%08x%012llx",
                       (unsigned long long)http->started_ms, http->mark,
                       (unsigned long long)number);
        return;
    }
    memcpy(request->trace_id, given.ptr, given.len);
    request->trace_id[given.len] = '\0';
}

/* Behind the request are its fields, and behind them the bytes of the head. */
static void copy_head(lc_http_request *request, const lc_http_incoming *in)
{
    lc_http_field *list = (lc_http_field *)(request + 1);
    char *copy = (char *)(list + in->headers.count + in->queries.count);
    const char *base = in->head.method.ptr;

    memcpy(copy, base, in->head.bytes);
    request->method = moved(in->head.method, base, copy);
    request->path = moved(in->path, base, copy);
    request->fields = move_fields(list, &in->headers, base, copy);
    request->field_count = in->headers.count;
    request->queries = move_fields(list + in->headers.count, &in->queries, base, copy);
    request->query_count = in->queries.count;
}

lc_http_request *lc_http_new_request(lc_http_connection *connection, const lc_http_incoming *in)
{
    lc_http *http = connection->http;
    lc_heap *heap = &http->env->heap;
    size_t bytes = sizeof(lc_http_request);
    lc_http_request *request;

    if (in != NULL)
        bytes += (in->headers.count + in->queries.count) * sizeof(lc_http_field) + in->head.bytes;
    request = lc_heap_alloc(heap, bytes, LOCI_MEM_REQUESTS);
    if (request == NULL)
        return NULL;
    memset(request, 0, sizeof *request);
    request->http = http;
    request->connection = connection;
    request->block_bytes = bytes;
    request->is_unix = connection->is_unix;
    request->peer_uid = connection->uid;
    lc_arena_init(&request->arena, heap, LOCI_MEM_REQUESTS);
    lc_buf_init(&request->body, heap, LOCI_MEM_REQUESTS, http->limits.body_bytes_max);
    if (in != NULL)
        copy_head(request, in);
    set_traceparent(request);
    set_trace_id(http, request);
    lc_http_account_open(request);
    /* A locked instruction, so that it is seen before refuses_requests is read. */
    atomic_fetch_add(&http->requests, 1);
    return request;
}

void lc_http_free_request(lc_http_request *request)
{
    lc_heap *heap = &request->http->env->heap;

    lc_http_account_close(request);
    lc_buf_clear(&request->problem);
    lc_buf_clear(&request->body);
    lc_arena_clear(&request->arena);
    lc_heap_free(heap, request, request->block_bytes, LOCI_MEM_REQUESTS);
}
