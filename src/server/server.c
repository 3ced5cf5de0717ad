/* server.c - starts the parts, hands every request to one of them, and shuts down in order.
 *
 *     starting -> serving -> draining -> stopped
 *
 * Draining: no new connection is accepted, accepted requests are answered, streams are ended. Only
 * then does the loop stop. The engine belongs to the caller, who closes it after that.
 */
#include "server/server.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/str.h"
#include "base/trace.h"
#include "ops/surface.h"
#include "server/event_page.h"
#include "server/mcp.h"
#include "server/parts.h"

/* ---- Replies and the access log -------------------------------------------------------------- */

void lc_reply_error(lc_http_request *request, const loci_error *err)
{
    lc_access_record *record = lc_http_state(request);

    record->code = loci_status_name(err->status);
    lc_http_answer_error(request, err);
}

void lc_reply_method_not_allowed(lc_http_request *request, const char *allow)
{
    lc_access_record *record = lc_http_state(request);

    record->code = loci_status_name(LOCI_EUNSUPPORTED);
    lc_http_answer_not_allowed(request, allow);
}

void lc_reply_json(lc_http_request *request, loci_str json, bool is_replayed)
{
    lc_http_answer(request, &(lc_http_reply){.status = 200,
                                             .content_type = "application/json",
                                             .body = json,
                                             .is_replayed = is_replayed});
}

/* The method is the client's text, so only known ones are written to the log. */
static const char *method_name(const lc_http_request *request)
{
    static const char *const known[] = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"};

    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (lc_str_is(lc_http_method(request), known[i]))
            return known[i];
    }
    return "other";
}

/* lc_http_options.answered: counts the request and writes its record to the log. Any thread. */
static void log_request(void *ctx, const lc_http_request *request, int status, size_t bytes)
{
    /* It was refused before, or there was no memory for one. */
    static const lc_access_record empty = {.route = {"-", 1}};
    lc_server *server = ctx;
    const lc_access_record *record = lc_http_state(request);
    const char *code = lc_http_problem_code(request);
    int64_t took_us;
    size_t count = 8;
    /* The one in `_meta` of a message of MCP precedes that of the header. */
    loci_str trace_id = loci_str_of(lc_http_trace_id(request));

    if (record == NULL)
        record = &empty;
    if (code == NULL)
        code = record->code != NULL ? record->code : "ok";
    if (record->traceparent.len > 0)
        trace_id = lc_trace_id(record->traceparent);
    took_us = record->started_us > 0 ? lc_clock_monotonic_us() - record->started_us : 0;
    lc_metrics_count(server->metrics, &(lc_metrics_request){.operation = record->operation,
                                                            .http_status = status,
                                                            .code = code,
                                                            .took_us = took_us});
    /* Fields that only some requests have are behind the others. */
    lc_field fields[11] = {
        LC_LOG_STR("trace_id", trace_id),
        LC_LOG_TEXT("method", method_name(request)),
        LC_LOG_STR("route", record->route),
        LC_LOG_INT("status", status),
        LC_LOG_TEXT("code", code),
        LC_LOG_INT("took_us", took_us),
        LC_LOG_INT("bytes", (int64_t)bytes),
        LC_LOG_TEXT("token_id", record->token_id != NULL ? record->token_id : "-"),
    };
    if (record->mcp_method != NULL)
        fields[count++] = LC_LOG_TEXT("mcp_method", record->mcp_method);
    if (record->mcp_tool.len > 0)
        fields[count++] = LC_LOG_STR("mcp_tool", record->mcp_tool);
    if (record->mcp_code != 0)
        fields[count++] = LC_LOG_INT("mcp_code", record->mcp_code);
    lc_log_fields(&server->env->log, status >= 500 ? LOCI_LOG_WARN : LOCI_LOG_INFO, "http.request",
                  count, fields);
}

/* ---- Requests -------------------------------------------------------------------------------- */

/* The list of events and the stream of them share a path, and so do signals; a client asks for the
 * stream by Accept or, where it cannot set headers, by ?stream=1. */
static bool wants_stream(const lc_http_request *request, const lc_route *route, const char *path)
{
    loci_str accept = lc_http_header(request, "Accept");
    loci_str stream = lc_http_query(request, "stream");

    if (route->kind != LC_ROUTE_OPERATION || !lc_str_is(route->path, path) ||
        !lc_str_is(route->method, "GET"))
        return false;
    return lc_str_is(stream, "1") || lc_str_is(stream, "true") ||
           (accept.len > 0 &&
            memmem(accept.ptr, accept.len, "text/event-stream", strlen("text/event-stream")));
}

/* A request that waits for one of the store's threads; in its arena. */
typedef struct waiting {
    lc_store_task task; /* First. */
    lc_server *server;
    lc_http_request *request;
    loci_str bearer; /* Of a look-up. */
} waiting;

static loci_status open_stream(lc_store_task *task, const loci_error *failure, loci_error *err)
{
    const waiting *w = (const waiting *)task;
    const lc_access_record *record = lc_http_state(w->request);

    (void)err; /* The next stream may find the store again. */
    if (failure != NULL)
        lc_reply_error(w->request, failure);
    else
        lc_events_handle(w->server, w->request, &record->who);
    return LOCI_OK;
}

static loci_status probe(lc_store_task *task, const loci_error *failure, loci_error *err)
{
    const waiting *w = (const waiting *)task;

    return lc_pages_ready(w->server, w->request, failure, err);
}

/* Suspends the request until `thread` has run the task. */
static void wait_for(lc_store_thread *thread, const waiting *what)
{
    waiting *w = lc_arena_alloc(lc_http_arena(what->request), sizeof *w);
    loci_error err;

    if (w == NULL) {
        (void)lc_fail_memory(&err);
        lc_reply_error(what->request, &err);
        return;
    }
    *w = *what;
    lc_http_defer(w->request);
    lc_store_thread_add(thread, &w->task);
}

/* Decides about a request whose caller is known: an operation may have its body, the rest is
 * answered without one. */
static void admit_caller(lc_server *server, lc_http_request *request)
{
    lc_access_record *record = lc_http_state(request);
    const lc_route *route = record->match.route;
    loci_error err;

    record->token_id = record->who.token_id;
    if (route->kind == LC_ROUTE_METRICS)
        lc_metrics_handle(server, request, &record->who);
    else if (route->kind == LC_ROUTE_MCP) {
        record->operation = LC_METRICS_MCP;
        if (lc_auth_need(&record->who, LC_SCOPE_READ, &err) != LOCI_OK)
            lc_reply_error(request, &err);
        else
            lc_http_admit(request);
    } else if (wants_stream(request, route, LC_SIGNALS_PATH))
        lc_signals_handle(server, request, &record->who);
    else if (wants_stream(request, route, "/v1/events"))
        wait_for(server->event_thread, &(waiting){{.run = open_stream}, server, request});
    else if (lc_api_admit(&record->match, &record->who, &err) != LOCI_OK)
        lc_reply_error(request, &err);
    else
        lc_http_admit(request);
}

static loci_status look_up(lc_store_task *task, const loci_error *failure, loci_error *err)
{
    const waiting *w = (const waiting *)task;
    lc_access_record *record = lc_http_state(w->request);
    loci_status status;

    if (failure != NULL) {
        lc_reply_error(w->request, failure);
        return LOCI_OK;
    }
    status = lc_token_authenticate(w->server->engine, w->bearer, lc_http_arena(w->request),
                                   &record->who, err);
    if (status == LOCI_OK)
        admit_caller(w->server, w->request);
    else
        lc_reply_error(w->request, err);
    return status == LOCI_EAUTH ? LOCI_OK : status;
}

/* Routes that need credentials. */
static void admit_protected(lc_server *server, lc_http_request *request, lc_access_record *record)
{
    loci_str bearer;
    loci_error err;

    if (lc_auth_check(server, request, &record->who, &bearer, &err) != LOCI_OK)
        lc_reply_error(request, &err);
    else if (bearer.ptr != NULL)
        wait_for(server->token_thread, &(waiting){{.run = look_up}, server, request, bearer});
    else
        admit_caller(server, request);
}

static void admit_routed(lc_server *server, lc_http_request *request, lc_access_record *record)
{
    char allow[LC_ALLOW_BYTES];
    loci_str method = lc_http_method(request), path = lc_http_path(request);
    bool is_options = lc_str_is(method, "OPTIONS");
    lc_route_match match;
    loci_error err;
    loci_status status;

    if (is_options && lc_route_allow(server->routes, path, allow)) {
        lc_http_answer(request, &(lc_http_reply){.status = 204, .allow = allow});
        return;
    }
    status = is_options ? lc_fail(&err, LOCI_ENOTFOUND, "there is nothing at this path")
                        : lc_route_find(server->routes, lc_http_arena(request), method, path,
                                        &match, &err);
    if (status == LOCI_EUNSUPPORTED && lc_route_allow(server->routes, path, allow)) {
        lc_reply_method_not_allowed(request, allow);
        return;
    }
    if (status != LOCI_OK) {
        lc_reply_error(request, &err);
        return;
    }
    record->match = match;
    record->route = match.route->path;
    if (match.route->kind == LC_ROUTE_LIVE)
        lc_pages_live(request);
    else if (match.route->kind == LC_ROUTE_READY)
        wait_for(server->token_thread, &(waiting){{.run = probe}, server, request});
    else
        admit_protected(server, request, record);
}

/* Finds the route and the caller from the head of the request. Only operations have a body: all
 * else is answered here, and no client can make the daemon read a body without a token for its
 * operation. */
static void admit(void *ctx, lc_http_request *request)
{
    lc_server *server = ctx;
    lc_access_record *record = lc_arena_alloc(lc_http_arena(request), sizeof *record);
    loci_error err;

    lc_http_set_state(request, record);
    if (record == NULL) {
        (void)lc_fail_memory(&err);
        lc_http_answer_error(request, &err);
        return;
    }
    *record = (lc_access_record){.started_us = lc_clock_monotonic_us(), .route = LC_STR("-")};
    if (!lc_pages_handle(request))
        admit_routed(server, request, record);
}

static void handle(void *ctx, lc_http_request *request)
{
    const lc_access_record *record = lc_http_state(request);
    lc_server *server = ctx;

    if (record->match.route->kind == LC_ROUTE_MCP)
        lc_mcp_http_handle(server->mcp, request, &record->who);
    else
        lc_api_handle(server, request, &record->who);
}

/* ---- Life ------------------------------------------------------------------------------------ */

static int64_t at_most(int64_t value, int64_t most)
{
    return value < most ? value : most;
}

static lc_http_limits read_limits(loci_engine *engine)
{
    int64_t connections_max = lc_setting_view_i64(engine, "server.connections_max");
    int64_t of_client = lc_setting_view_i64(engine, "server.client_connections_max");
    int64_t body_bytes_max = lc_setting_view_i64(engine, "server.body_bytes_max");
    int64_t inflight_bytes = lc_setting_view_i64(engine, "server.inflight_bytes_max");
    int64_t client_bytes = lc_setting_view_i64(engine, "server.client_bytes_max");

    /* A limit below the largest body would refuse it for ever. */
    client_bytes = client_bytes > 2 * body_bytes_max ? client_bytes : 2 * body_bytes_max;
    inflight_bytes = inflight_bytes > client_bytes ? inflight_bytes : client_bytes;
    return (lc_http_limits){
        .body_bytes_max = (size_t)body_bytes_max,
        .connections_max = connections_max,
        .connections_of_peer = at_most(of_client, (connections_max * 7 + 7) / 8),
        .inflight_bytes_max = inflight_bytes,
        .inflight_bytes_of_peer = client_bytes,
        .header_timeout_ms = lc_setting_view_i64(engine, "server.header_timeout_ms"),
        .body_timeout_ms = lc_setting_view_i64(engine, "server.body_timeout_ms"),
        .idle_timeout_ms = lc_setting_view_i64(engine, "server.idle_timeout_ms"),
    };
}

/* Refuses a public address for a store without a token. */
static loci_status check_public(const lc_server_options *options, loci_error *err)
{
    if (options->listen == NULL || lc_http_address_is_local(loci_str_of(options->listen)) ||
        lc_token_exists_any(options->engine))
        return LOCI_OK;
    return lc_fail(err, LOCI_EFORBIDDEN,
                   "%s can be reached from other machines, and the store has no token: create one "
                   "with `loci token create --name NAME`, or listen on 127.0.0.1",
                   options->listen);
}

static void report_ready(const lc_server *server, const lc_server_options *options)
{
    char address[LC_HTTP_ADDRESS_BYTES];

    lc_http_address_format(options->listen, lc_http_port(server->http), options->socket_path,
                           address);
    lc_log_write(&server->env->log, LOCI_LOG_INFO, "server.ready", LC_LOG_TEXT("address", address),
                 LC_LOG_TEXT("socket", options->socket_path),
                 LC_LOG_TEXT("version", loci_version()));
    if (options->ready != NULL)
        options->ready(options->ready_ctx, address);
}

/* The engine has delivered a group of answers: wakes the loop once for all of them. Any thread. */
static void flush_answers(void *ctx)
{
    lc_http_flush(ctx);
}

static void drain(lc_server *server, int64_t timeout_ms)
{
    int64_t began_us = lc_clock_monotonic_us();
    bool is_idle;

    lc_log_write(&server->env->log, LOCI_LOG_INFO, "server.draining",
                 LC_LOG_INT("timeout_ms", timeout_ms));
    atomic_store(&server->is_draining, true);
    lc_http_drain(server->http);
    is_idle = lc_http_wait_idle(server->http, timeout_ms);
    lc_store_thread_stop(server->token_thread);
    lc_store_thread_stop(server->event_thread);
    lc_submit_on_drained(server->engine, NULL,
                         NULL); /* Answers from now on are sent by the stop. */
    lc_http_stop(server->http);
    lc_log_write(&server->env->log, is_idle ? LOCI_LOG_INFO : LOCI_LOG_WARN, "server.stopped",
                 LC_LOG_TEXT("drained", is_idle ? "all" : "some"),
                 LC_LOG_INT("took_ms", (lc_clock_monotonic_us() - began_us) / 1000));
}

static loci_status serve(lc_server *server, const lc_server_options *options, loci_error *err)
{
    lc_http_options http = {
        .listen = options->listen,
        .socket_path = options->socket_path,
        .hosts = options->hosts,
        .limits = read_limits(options->engine),
        .admit = admit,
        .handle = handle,
        .answered = log_request,
        .ctx = server,
        .wakes_on_flush = true,
    };
    struct pollfd stop = {.fd = options->stop_fd, .events = POLLIN};
    loci_status status = lc_http_start(server->env, &http, &server->http, err);

    if (status != LOCI_OK)
        return status;
    lc_submit_on_drained(server->engine, flush_answers, server->http);
    lc_store_thread_on_drained(server->token_thread, flush_answers, server->http);
    lc_store_thread_on_drained(server->event_thread, flush_answers, server->http);
    lc_http_flush(server->http); /* For requests that were answered before the hook was set. */
    report_ready(server, options);
    while (poll(&stop, 1, -1) < 0 && errno == EINTR)
        ; /* A signal handler ran; only the descriptor ends the wait. */
    if (options->stopping != NULL)
        options->stopping(options->ready_ctx);
    drain(server, options->drain_ms_max);
    return LOCI_OK;
}

static loci_status open_mcp(lc_server *server, loci_error *err)
{
    lc_mcp_http_options options = {
        .env = server->env,
        .free_provider = lc_mcp_provider_free,
        .engine = server->engine,
        .event_thread = server->event_thread,
        .token_thread = server->token_thread,
        .is_draining = &server->is_draining,
    };
    lc_mcp_defaults defaults = {.user_id = LC_STR_NONE};
    loci_status status = lc_mcp_provider_new(&server->env->heap, &defaults, &options.provider, err);

    return status == LOCI_OK ? lc_mcp_http_new(&options, &server->mcp, err) : status;
}

loci_status lc_server_run(const lc_server_options *options, loci_error *err)
{
    lc_env *env = options->env;
    lc_routes routes = {0};
    lc_server server = {
        .env = env,
        .engine = options->engine,
        .log_queue = options->log_queue,
        .routes = &routes,
        .has_peer_access = options->socket_path != NULL,
    };
    uint64_t seed;
    loci_status status;

    *env = (lc_env){
        .log = {.write = options->log, .ctx = options->log_ctx},
        .clock = lc_clock_system_us,
    };
    server.started_us = lc_env_now_us(env);
    seed = (uint64_t)server.started_us;
    (void)lc_random_secret(&seed, sizeof seed); /* For trace ids the clock is random enough. */
    lc_heap_init(&env->heap, (loci_allocator){0});
    lc_engine_add_heap(options->engine, &env->heap);
    lc_random_init(&env->random, seed);
    env->log.level_min = (loci_log_level)lc_setting_view_i64(options->engine, "log.level");
    status = check_public(options, err);
    if (status == LOCI_OK)
        status = lc_routes_init(&routes, &env->heap, err);
    if (status == LOCI_OK)
        status = lc_metrics_new(env, &server.metrics, err);
    if (status == LOCI_OK)
        status = lc_store_thread_start(env, options->engine, &server.token_thread, err);
    if (status == LOCI_OK)
        status = lc_store_thread_start(env, options->engine, &server.event_thread, err);
    if (status == LOCI_OK)
        status = lc_event_pages_new(&env->heap, &server.event_pages, err);
    if (status == LOCI_OK)
        status = open_mcp(&server, err);
    if (status == LOCI_OK)
        status = serve(&server, options, err);
    lc_store_thread_stop(server.token_thread);
    lc_store_thread_stop(server.event_thread);
    lc_store_thread_free(server.token_thread);
    lc_store_thread_free(server.event_thread);
    lc_event_pages_free(server.event_pages);
    lc_mcp_http_free(server.mcp);
    lc_metrics_free(server.metrics);
    lc_routes_clear(&routes);
    lc_engine_remove_heap(options->engine, &env->heap);
    return status;
}
