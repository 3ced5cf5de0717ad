/* http.c - libmicrohttpd's callbacks; nothing else in loci calls that library.
 *
 *     request line -> on_target, on_query_text
 *     headers      -> begin: check and copy, or refuse; then options.admit, which may suspend
 *     body         -> on_request
 *     complete     -> proceed: the handler --answered--> queue
 *                                    `--deferred--> suspend ... answer or expiry ... wake -> queue
 *     sent, or cut -> on_completed
 *
 * All of these run on the loop's thread. While options.admit suspends a connection, libmicrohttpd
 * does not read from it and sends no "100 Continue"; after that it calls on_request again in the
 * same state, in which an answer ends the request before its body. Limitations of libmicrohttpd
 * 0.9.75 and how they are handled:
 *
 *   - It parses leniently. http_guard.h checks again; gaps between pointers show skipped bytes.
 *     Chunked bodies, whose framing it does not show, are refused (411).
 *   - A head that it cannot parse, or that does not fit into its memory, it answers with a page of
 *     its own and closes the connection. There is no hook to replace that page; on_message() counts
 *     it and writes a log record. Where a check of ours says the same, its own is switched off.
 *   - It has one timeout, since the last byte, so one byte per second keeps a connection open. The
 *     monitor (http_connection.c) has a timeout for each phase.
 *   - Suspended connections have no timeout and do not see a hang-up. The monitor watches both.
 *   - It aborts when it is stopped while a connection is suspended. lc_http_stop() wakes them all;
 *     a connection to be suspended later finds is_stopping under the same lock and is not.
 *   - It disconnects on queries with many parameters. on_target() cuts what is refused anyway.
 *   - It reads from a resumed connection before it asks for the answer, and drops the request when
 *     the client has shut down its sending side. must_wait() prevents that for whole requests, and
 *     must_read_first() for most others. A client that does so while options.admit looks up a token
 *     that is not cached, before the body is read, still gets no answer.
 *   - After an answer to a part of a request it closes the socket, which resets a client that still
 *     sends. The monitor takes such a connection over and lets it linger.
 *   - It stops accepting at its connection limit. Its limit is above ours, so that we can send 503.
 */
#include "server/http.h"

#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "base/assert.h"
#include "base/error.h"
#include "base/library.h"
#include "base/str.h"
#include "server/http_private.h"
#include "server/http_reply.h"

#define CONNECTIONS_SPARE 32     /* Accepted beyond the limit, to be answered with 503. */
#define REPLY_BYTES_PER_MS 16    /* A client must read at least 16 KB/s. */
#define BODY_BYTES_FIRST 65536   /* Reserved for an announced body; more only as data arrives. */
#define SMALL_ANSWER_BYTES 65536 /* Sent even if a ceiling is exceeded. */
#define RETRY_AFTER_S 1
#define STREAM_SEND_BYTES 32768 /* The kernel's buffer of a stream, which it doubles. */
#define POOL_BYTES_SPARE 10240  /* 100 fields of 64 bytes, 3 KB for the reply, and some spare. */

static const char busy_detail[] =
    "this client, or all together, have too many bytes in flight; read "
    "the answers you asked for, or try again later";

/* ---- Connections ----------------------------------------------------------------------------- */

static void on_connection(void *cls, struct MHD_Connection *mhd, void **context,
                          enum MHD_ConnectionNotificationCode code)
{
    lc_http *http = cls;

    if (code == MHD_CONNECTION_NOTIFY_STARTED)
        *context = lc_http_connection_open(
            http,
            http->mhd.get_connection_info(mhd, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd);
    else if (*context != NULL)
        lc_http_connection_close(*context);
}

static lc_http_connection *connection_of(const lc_http *http, struct MHD_Connection *mhd)
{
    return http->mhd.get_connection_info(mhd, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;
}

void lc_http_adopt(lc_http *http, int fd)
{
    struct sockaddr address = {.sa_family = AF_UNIX};

    /* Closes the socket when it fails. */
    (void)http->mhd.add_connection(http->daemon, fd, &address, sizeof address);
}

/* Called by libmicrohttpd for everything that it would print; only its own answers matter. */
static void on_message(void *cls, const char *format, va_list arguments)
{
    static const char answered[] = "Error processing request (HTTP response code is %u";
    lc_http *http = cls;

    if (strncmp(format, answered, sizeof answered - 1) != 0)
        return;
    lc_http_count(&http->refused);
    lc_log_write(&http->env->log, LOCI_LOG_INFO, "http.unparsed",
                 LC_LOG_INT("status", va_arg(arguments, unsigned)));
}

/* ---- Requests -------------------------------------------------------------------------------- */

/* The request line as it was sent, before libmicrohttpd splits it. */
static void *on_target(void *cls, const char *target, struct MHD_Connection *mhd)
{
    lc_http_connection *connection = connection_of(cls, mhd);
    char *at;

    if (connection == NULL)
        return NULL;
    connection->target = target;
    connection->target_bytes = target == NULL ? 0 : strlen(target);
    connection->has_bad_target = !lc_http_guard_is_target(
        (loci_str){target, connection->target_bytes});
    connection->has_bad_escape = false;
    if (target == NULL)
        return NULL;
    /* libmicrohttpd stores every parameter of the query before it calls us, and disconnects when
     * they do not fit into its memory. Cut after one too many, the request is refused properly. The
     * text is in the connection's own buffer. */
    at = strchr((char *)(uintptr_t)target, '?');
    for (size_t count = 0; at != NULL && count <= LC_HTTP_FIELDS_MAX; count++)
        at = strchr(at + 1, '&');
    if (at != NULL)
        *at = '\0';
    return NULL;
}

/* Decodes names and values of the query in place. The path stays encoded: the router splits it into
 * segments first. */
static size_t on_query_text(void *cls, struct MHD_Connection *mhd, char *text)
{
    lc_http_connection *connection = connection_of(cls, mhd);
    size_t len = strlen(text);

    if (connection == NULL || text == connection->target)
        return len;
    if (!lc_http_guard_decode(text, &len))
        connection->has_bad_escape = true;
    return len;
}

static enum MHD_Result collect(void *cls, enum MHD_ValueKind kind, const char *name,
                               size_t name_bytes, const char *value, size_t value_bytes)
{
    lc_http_fields *found = cls;

    (void)kind;
    found->list[found->count++] = (lc_http_field){
        {name, name_bytes}, {value == NULL ? name + name_bytes : value, value_bytes}};
    return found->count <= LC_HTTP_FIELDS_MAX ? MHD_YES : MHD_NO;
}

static void read_head(struct MHD_Connection *mhd, const lc_http_connection *connection,
                      const char *method, const char *path, lc_http_incoming *in)
{
    const lc_http *http = connection->http;

    in->headers.count = in->queries.count = 0;
    (void)http->mhd.get_connection_values_n(mhd, MHD_HEADER_KIND, collect, &in->headers);
    (void)http->mhd.get_connection_values_n(mhd, MHD_GET_ARGUMENT_KIND, collect, &in->queries);
    in->path = loci_str_of(path);
    in->head = (lc_http_head){
        .method = loci_str_of(method),
        .target = {connection->target, connection->target_bytes},
        .is_target_bad = connection->has_bad_target,
        .is_http_1_0 = strcmp(in->version, MHD_HTTP_VERSION_1_0) == 0,
        .fields = in->headers.list,
        .field_count = in->headers.count,
        .query_count = in->queries.count,
        .bytes = http->mhd.get_connection_info(mhd, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE)
                     ->header_size,
    };
}

/* ---- Replies --------------------------------------------------------------------------------- */

static void add_header(const lc_http *http, struct MHD_Response *response, const char *name,
                       const char *value)
{
    /* Fails for a value with a line break, which is then omitted. */
    if (value != NULL)
        (void)http->mhd.add_response_header(response, name, value);
}

/* Any thread. NULL when out of memory. */
static struct MHD_Response *make_response(lc_http_request *request, const lc_http_reply *reply,
                                          loci_str body, bool is_gzip)
{
    const lc_http *http = request->http;
    struct MHD_Response *response = http->mhd.create_response_from_buffer(
        body.len, (void *)(uintptr_t)body.ptr, MHD_RESPMEM_PERSISTENT);
    char number[32];

    if (response == NULL)
        return NULL;
    add_header(http, response, MHD_HTTP_HEADER_CONTENT_TYPE, reply->content_type);
    add_header(http, response, MHD_HTTP_HEADER_CACHE_CONTROL,
               reply->cache_control == NULL ? "no-store" : reply->cache_control);
    add_header(http, response, "Trace-Id", request->trace_id);
    add_header(http, response, "traceparent", request->traceparent.ptr);
    add_header(http, response, "Mcp-Session-Id", reply->mcp_session_id);
    add_header(http, response, "Idempotency-Replayed", reply->is_replayed ? "true" : NULL);
    add_header(http, response, MHD_HTTP_HEADER_LOCATION, reply->location);
    add_header(http, response, MHD_HTTP_HEADER_ETAG, reply->etag);
    if (reply->content_security_policy != NULL) { /* A page, or a part of one. */
        add_header(http, response, "Content-Security-Policy", reply->content_security_policy);
        add_header(http, response, "X-Content-Type-Options", "nosniff");
        add_header(http, response, "Referrer-Policy", "no-referrer");
    }
    add_header(http, response, MHD_HTTP_HEADER_ALLOW, reply->allow);
    add_header(http, response, MHD_HTTP_HEADER_WWW_AUTHENTICATE, reply->authenticate);
    if (is_gzip)
        add_header(http, response, MHD_HTTP_HEADER_CONTENT_ENCODING, "gzip");
    /* A reply with an ETag may be cached, and one without gzip must not serve a client with it. */
    if (is_gzip || reply->etag != NULL)
        add_header(http, response, MHD_HTTP_HEADER_VARY, MHD_HTTP_HEADER_ACCEPT_ENCODING);
    if (reply->retry_after_s > 0) {
        (void)snprintf(number, sizeof number, "%lld", (long long)reply->retry_after_s);
        add_header(http, response, MHD_HTTP_HEADER_RETRY_AFTER, number);
    }
    if (atomic_load_explicit(&request->http->is_draining, memory_order_relaxed))
        add_header(http, response, MHD_HTTP_HEADER_CONNECTION, "close");
    return response;
}

/* Makes an error found by this file the answer, on the loop's thread. It does not use the arena,
 * because a late worker may be using it. */
static void make_problem(lc_http_request *request, int http_status, loci_status code,
                         const char *detail)
{
    lc_http_reply reply = {.content_type = LC_PROBLEM_TYPE,
                           .retry_after_s = http_status == 503 ? RETRY_AFTER_S : 0};
    lc_problem problem = {
        .http_status = http_status, .code = code, .detail = detail, .trace_id = request->trace_id};

    lc_buf_init(&request->problem, &request->http->env->heap, LOCI_MEM_REQUESTS,
                LC_PROBLEM_BYTES_MAX);
    lc_problem_write(&problem, NULL, &request->problem);
    if (lc_buf_status(&request->problem, NULL) == LOCI_OK)
        request->response = make_response(request, &reply, lc_buf_str(&request->problem), false);
    request->problem_code = loci_status_name(code);
    request->status = http_status;
    request->reply_bytes = request->problem.len;
}

static enum MHD_Result queue(lc_http_request *request)
{
    const lc_http_limits *limits = &request->http->limits;
    struct MHD_Response *response = request->response;
    enum MHD_Result result;

    if (response == NULL)
        return MHD_NO;
    request->is_queued = true;
    lc_http_set_phase(request->connection, request->is_stream ? LC_HTTP_STREAM : LC_HTTP_REPLY,
                      lc_http_now_ms() + limits->idle_timeout_ms +
                          (int64_t)(request->reply_bytes / REPLY_BYTES_PER_MS));
    lc_http_add(&request->http->bytes_out, (int64_t)request->reply_bytes);
    result = request->http->mhd.queue_response(request->mhd, (unsigned)request->status, response);
    request->http->mhd.destroy_response(response);
    request->response = NULL;
    return result;
}

/* ---- Answering ------------------------------------------------------------------------------- */

typedef struct outcome {
    struct MHD_Response *response;
    int status;
    size_t bytes;
    const lc_http_stream *stream; /* Or NULL. */
} outcome;

static void set_outcome(lc_http_request *request, const outcome *what)
{
    request->is_answered = true;
    request->response = what->response;
    request->status = what->status;
    request->reply_bytes = what->bytes;
    if (what->stream != NULL) {
        request->is_stream = true;
        request->stream = *what->stream;
    }
}

static void report_answered(const lc_http_request *request, int status, size_t bytes)
{
    if (request->http->answered != NULL)
        request->http->answered(request->http->ctx, request, status, bytes);
}

/* Returns the connection, which the caller must resume. The lock is held. */
static struct MHD_Connection *take_suspended(lc_http_connection *connection)
{
    lc_http_request *request = connection->suspended;

    if (connection->answered_by != NULL) {
        *connection->answered_by = connection->next_answered;
        if (connection->next_answered != NULL)
            connection->next_answered->answered_by = connection->answered_by;
        connection->answered_by = NULL;
    }
    connection->suspended = NULL;
    return request->mhd;
}

/* On the loop's thread, when it was woken by lc_http_flush(), which resumes one connection only:
 * the others are resumed here, without a wake-up for each. The lock is held. */
static void wake_all_answered(lc_http *http)
{
    while (http->answered_connections != NULL)
        lc_http_wake(http->answered_connections);
}

void lc_http_flush(lc_http *http)
{
    struct MHD_Connection *mhd = NULL;

    pthread_mutex_lock(&http->lock);
    if (http->answered_connections != NULL)
        mhd = take_suspended(http->answered_connections);
    pthread_mutex_unlock(&http->lock);
    if (mhd != NULL)
        http->mhd.resume_connection(mhd); /* Not under the lock, which the loop takes at once. */
}

/* Resumes `connection` now, or leaves it to lc_http_flush(). The lock is held. */
static void wake_answered(lc_http_connection *connection)
{
    lc_http *http = connection->http;

    if (!http->wakes_on_flush) {
        lc_http_wake(connection);
        return;
    }
    connection->next_answered = http->answered_connections;
    if (connection->next_answered != NULL)
        connection->next_answered->answered_by = &connection->next_answered;
    connection->answered_by = &http->answered_connections;
    http->answered_connections = connection;
}

/* The last step of a thread that had a deferred request: lc_http_stop() may free the server now. */
static void leave(lc_http *http)
{
    pthread_mutex_lock(&http->lock);
    if (--http->deferred_count == 0)
        pthread_cond_signal(&http->none_deferred);
    pthread_mutex_unlock(&http->lock);
}

/* A deferred request may be freed when this returns. */
static void give(lc_http_request *request, const outcome *what)
{
    lc_http *http = request->http;
    bool is_late, is_over;

    LC_ASSERT(!request->is_answered);
    if (!request->is_deferred) {
        set_outcome(request, what);
        report_answered(request, what->status, what->bytes);
        return;
    }
    pthread_mutex_lock(&http->lock);
    is_late = request->is_expired;
    request->is_claimed = !is_late;
    pthread_mutex_unlock(&http->lock);
    if (!is_late)
        report_answered(request, what->status, what->bytes);
    pthread_mutex_lock(&http->lock);
    is_over = request->is_over;
    is_late = is_over || request->is_expired; /* lc_http_stop() ignores claims. */
    if (is_late)
        request->is_answered = true;
    else
        set_outcome(request, what);
    if (!is_late && request->connection->suspended == request) {
        if (what->stream != NULL) /* Its thread may go on for long before the next flush. */
            lc_http_wake(request->connection);
        else
            wake_answered(request->connection);
    }
    pthread_mutex_unlock(&http->lock);
    if (is_late && what->response != NULL)
        http->mhd.destroy_response(what->response);
    if (is_late && what->stream != NULL)
        what->stream->close(what->stream->ctx);
    if (is_over)
        lc_http_free_request(request);
    leave(http);
}

loci_status lc_http_promise(lc_http_request *request, loci_error *err)
{
    if (!lc_http_charge(request, SMALL_ANSWER_BYTES, false)) {
        lc_http_count(&request->http->refused);
        return lc_fail(err, LOCI_EUNAVAILABLE, "%s", busy_detail);
    }
    request->is_promised = true;
    return LOCI_OK;
}

bool lc_http_accepts_gzip(const lc_http_request *request)
{
    return lc_gzip_is_accepted(lc_http_header(request, MHD_HTTP_HEADER_ACCEPT_ENCODING));
}

void lc_http_answer(lc_http_request *request, const lc_http_reply *reply)
{
    loci_str body = reply->body;
    outcome what = {.status = reply->status};
    bool is_gzip;

    if (!lc_http_charge(request, (int64_t)body.len,
                        request->is_promised || body.len <= SMALL_ANSWER_BYTES)) {
        loci_error err;

        (void)lc_fail(&err, LOCI_EUNAVAILABLE, "%s", busy_detail);
        lc_http_count(&request->http->refused);
        lc_http_answer_error(request, &err); /* Which is small. */
        return;
    }
    is_gzip = !reply->is_gzip && body.len >= LC_GZIP_BYTES_MIN && lc_http_accepts_gzip(request) &&
              lc_gzip_pack(&request->arena, body, &body);

    if (!is_gzip && body.len > 0)
        body = lc_arena_copy(&request->arena, body);
    /* Without memory for the body there is no response, and the connection is closed. */
    if (body.ptr != NULL || body.len == 0)
        what.response = make_response(request, reply, body, is_gzip || reply->is_gzip);
    what.bytes = body.len;
    give(request, &what);
}

void lc_http_admit(lc_http_request *request)
{
    lc_http *http = request->http;
    bool is_late, is_over;

    LC_ASSERT(!request->is_admitted && !request->is_answered);
    if (!request->is_deferred) {
        request->is_admitted = true;
        return;
    }
    pthread_mutex_lock(&http->lock);
    is_late = request->is_expired;
    is_over = request->is_over;
    request->is_answered = is_late;
    request->is_admitted = !is_late;
    if (!is_late && !is_over && request->connection->suspended == request)
        wake_answered(request->connection);
    pthread_mutex_unlock(&http->lock);
    if (is_over)
        lc_http_free_request(request);
    leave(http);
}

void lc_http_defer(lc_http_request *request)
{
    if (request->is_deferred) /* By options.admit, or a part before. */
        return;
    request->is_deferred = true;
    pthread_mutex_lock(&request->http->lock);
    request->http->deferred_count++;
    pthread_mutex_unlock(&request->http->lock);
}

/* ---- Suspending ------------------------------------------------------------------------------ */

void lc_http_suspend(lc_http_request *request)
{
    request->http->mhd.suspend_connection(request->mhd);
    request->connection->suspended = request;
}

void lc_http_wake(lc_http_connection *connection)
{
    connection->http->mhd.resume_connection(take_suspended(connection));
}

/* Whether the loop must return without an answer. False when the answer, or the admission, was
 * given already, or the server stops.
 *
 * A resumed connection that libmicrohttpd believes to be reading is read from before on_request is
 * called, and closed without an answer if the client has shut down its sending side. So a request
 * that is whole is not suspended on the first call: libmicrohttpd then notes that it waits for us
 * alone, and calls again at once. */
static bool must_wait(lc_http_request *request)
{
    lc_http *http = request->http;
    bool is_given, is_suspended;

    if (!request->is_deferred)
        return false;
    if (request->is_whole && !request->has_turned) {
        request->has_turned = true;
        return true;
    }
    pthread_mutex_lock(&http->lock);
    is_given = lc_http_is_given(request);
    if (!is_given && atomic_load(&http->is_stopping))
        request->is_expired = true;
    is_suspended = !is_given && !request->is_expired;
    if (is_suspended)
        lc_http_suspend(request);
    pthread_mutex_unlock(&http->lock);
    return is_suspended;
}

/* ---- Streams -------------------------------------------------------------------------------
 *
 * A stream is pulled when the client has read all that was sent before, and suspended when there
 * was nothing to send. The monitor starts to watch it under the lock, after it was suspended, and
 * sees at once what arrived in between: no wake-up is lost. */

static bool must_streams_end(const lc_http *http)
{
    return atomic_load(&http->is_stopping) || atomic_load(&http->are_streams_ended);
}

/* Charges what the stream lends now, even if others lend the same; false when a ceiling would be
 * exceeded. */
static bool charge_stream(lc_http_request *request)
{
    int64_t bytes = (int64_t)request->pending.len;

    if (!lc_http_charge(request, bytes - request->stream_bytes, false))
        return false;
    request->stream_bytes = bytes;
    return true;
}

/* False when the stream must end instead. */
static bool suspend_stream(lc_http_request *request)
{
    lc_http *http = request->http;
    bool is_suspended;

    lc_http_set_phase(request->connection, LC_HTTP_STREAM, LC_HTTP_NEVER_MS);
    pthread_mutex_lock(&http->lock);
    is_suspended = !request->is_gone && !must_streams_end(http);
    if (is_suspended) {
        lc_http_suspend(request);
        request->heartbeat_us = request->stream.heartbeat_ms > 0
                                    ? lc_clock_monotonic_us() + request->stream.heartbeat_ms * 1000
                                    : INT64_MAX;
        lc_http_monitor_watch(http, request);
    }
    pthread_mutex_unlock(&http->lock);
    return is_suspended;
}

/* Ends a stream without its last chunk, so that the client knows that it is incomplete. After
 * MHD_CONTENT_READER_END_WITH_ERROR libmicrohttpd may keep the closed connection until its next
 * event, a minute later or more; a failure to send ends it at once. */
static ssize_t break_stream(lc_http_request *request)
{
    (void)shutdown(request->connection->fd, SHUT_RDWR);
    return MHD_CONTENT_READER_END_OF_STREAM;
}

static ssize_t finish_stream(lc_http_request *request)
{
    const lc_http_stream *stream = &request->stream;

    if (stream->is_whole != NULL && !stream->is_whole(stream->ctx))
        return break_stream(request);
    return MHD_CONTENT_READER_END_OF_STREAM;
}

/* The number of bytes pulled; 0 when the stream was suspended; or one of libmicrohttpd's ends. */
static ssize_t pull_stream(lc_http_request *request)
{
    bool is_heartbeat, is_gone;

    pthread_mutex_lock(&request->http->lock);
    is_heartbeat = request->is_heartbeat;
    request->is_heartbeat = false;
    is_gone = request->is_gone;
    pthread_mutex_unlock(&request->http->lock);
    if (is_gone)
        return break_stream(request);
    if (request->is_last || must_streams_end(request->http))
        return finish_stream(request);
    request->pending = LC_STR_NONE;
    request->is_last = !request->stream.pull(request->stream.ctx, &request->pending, is_heartbeat);
    if (!charge_stream(request)) {
        lc_http_count(&request->http->cut);
        return break_stream(request);
    }
    if (request->pending.len > 0)
        return (ssize_t)request->pending.len;
    if (request->is_last || !suspend_stream(request))
        return finish_stream(request);
    return 0;
}

/* Called when everything sent before is with the kernel, so the time between two calls that return
 * bytes is the time the reader took. */
static ssize_t read_stream(void *cls, uint64_t position, char *out, size_t bytes_max)
{
    lc_http_request *request = cls;
    size_t bytes;

    (void)position;
    if (request->pending.len == 0) {
        ssize_t pulled = pull_stream(request);

        if (pulled <= 0)
            return pulled;
    }
    bytes = request->pending.len < bytes_max ? request->pending.len : bytes_max;
    memcpy(out, request->pending.ptr, bytes);
    request->pending = (loci_str){request->pending.ptr + bytes, request->pending.len - bytes};
    lc_http_set_phase(request->connection, LC_HTTP_STREAM,
                      lc_http_now_ms() + request->http->limits.idle_timeout_ms);
    lc_http_add(&request->http->bytes_out, (int64_t)bytes);
    return (ssize_t)bytes;
}

/* The kernel would buffer megabytes for a client that does not read, and thousands of such clients
 * would cost gigabytes. A stream needs only the bytes that are written while its reader wakes
 * up. */
static void begin_stream(lc_http_request *request)
{
    int bytes = STREAM_SEND_BYTES;

    /* Without it, there is a larger buffer. */
    (void)setsockopt(request->connection->fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
    lc_http_add(&request->http->streams, 1);
}

/* The stream is over, whatever ended it; the monitor frees the request. */
static void end_stream(lc_http_request *request)
{
    lc_http *http = request->http;
    lc_http_stream stream = request->stream;
    bool is_begun = request->is_queued; /* Else the client has gone before. */

    pthread_mutex_lock(&http->lock);
    request->is_over = true;
    lc_http_monitor_forget(http, request);
    request->next_ended = http->ended_streams;
    http->ended_streams = request;
    pthread_mutex_unlock(&http->lock);
    if (is_begun)
        lc_http_add(&http->streams, -1);
    stream.close(stream.ctx); /* The request may be freed by now. */
}

void lc_http_answer_stream(lc_http_request *request, const lc_http_stream *stream)
{
    const lc_http *http = request->http;
    outcome what = {.status = MHD_HTTP_OK, .stream = stream};
    size_t chunk_bytes = 4096; /* For HTTP/1.0 only; chunks are as large as the pool allows. */

    what.response = http->mhd.create_response_from_callback(MHD_SIZE_UNKNOWN, chunk_bytes,
                                                            read_stream, request, NULL);
    if (what.response != NULL) {
        add_header(http, what.response, MHD_HTTP_HEADER_CONTENT_TYPE, stream->content_type);
        add_header(http, what.response, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
        add_header(http, what.response, "Trace-Id", request->trace_id);
        add_header(http, what.response, "traceparent", request->traceparent.ptr);
        add_header(http, what.response, "X-Accel-Buffering", "no"); /* nginx would delay events. */
    }
    give(request, &what);
}

/* ---- Requests: from the head to the end ------------------------------------------------------ */

/* Hands the answer that was given, or that of an expired request, to libmicrohttpd. */
static enum MHD_Result deliver(lc_http_request *request)
{
    lc_http *http = request->http;
    bool is_expired = false;

    if (request->is_deferred) {
        pthread_mutex_lock(&http->lock);
        is_expired = request->is_expired;
        wake_all_answered(http);
        pthread_mutex_unlock(&http->lock);
    }
    /* A stopping loop drops the answer and calls again. */
    if (request->is_queued)
        return MHD_NO;
    if (is_expired) {
        make_problem(request, 504, LOCI_EDEADLINE,
                     "the request was not answered before its deadline");
        report_answered(request, request->status, request->reply_bytes);
    }
    if (request->is_stream && request->response != NULL)
        begin_stream(request);
    return queue(request);
}

static enum MHD_Result proceed(lc_http_request *request)
{
    lc_http *http = request->http;

    if (!request->is_handled) {
        if (!lc_http_leave_reading(request->connection, LC_HTTP_WORK, LC_HTTP_NEVER_MS))
            return MHD_NO;
        request->is_handled = true;
        request->deadline_us = lc_clock_monotonic_us() + http->limits.answer_timeout_ms * 1000;
        http->handle(http->ctx, request);
        LC_ASSERT(request->is_deferred || request->is_answered);
    }
    return must_wait(request) ? MHD_YES : deliver(request);
}

static enum MHD_Result read_body(lc_http_request *request)
{
    lc_http *http = request->http;

    if (!lc_http_charge(request, (int64_t)request->body_bytes, false)) {
        lc_http_count(&http->refused);
        make_problem(request, 503, LOCI_EUNAVAILABLE, busy_detail);
        report_answered(request, request->status, request->reply_bytes);
        return queue(request);
    }
    lc_http_set_phase(request->connection, LC_HTTP_BODY,
                      lc_http_now_ms() + http->limits.body_timeout_ms);
    if (lc_buf_reserve(&request->body, request->body_bytes < BODY_BYTES_FIRST
                                           ? request->body_bytes
                                           : BODY_BYTES_FIRST) == NULL)
        return MHD_NO;
    return MHD_YES;
}

/* Whether the decision must wait for the body: a client that has shut down its sending side would
 * get no answer if it were suspended now (must_wait). All its bytes are with the kernel already. */
static bool must_read_first(const lc_http_request *request)
{
    struct pollfd socket = {.fd = request->connection->fd, .events = POLLRDHUP};

    return request->is_deferred && !request->is_whole &&
           lc_http_header(request, MHD_HTTP_HEADER_EXPECT).ptr == NULL && poll(&socket, 1, 0) == 1;
}

/* Called when options.admit has returned, and again until a deferred decision was made. */
static enum MHD_Result follow_admission(lc_http_request *request)
{
    lc_http *http = request->http;
    bool is_admitted;

    if (!request->has_read_first && must_read_first(request)) {
        request->has_read_first = true;
        return read_body(request);
    }
    if (must_wait(request))
        return MHD_YES;
    if (request->is_deferred) {
        pthread_mutex_lock(&http->lock);
        is_admitted = request->is_admitted;
        if (is_admitted) {
            request->is_deferred = false; /* The other thread is done with it. */
            wake_all_answered(http);
        }
        pthread_mutex_unlock(&http->lock);
    } else {
        is_admitted = request->is_admitted;
    }
    if (!is_admitted)
        return deliver(request);
    return request->is_whole ? proceed(request) : read_body(request);
}

static enum MHD_Result ask(lc_http_request *request)
{
    lc_http *http = request->http;

    request->is_asked = true;
    request->deadline_us = lc_clock_monotonic_us() + http->limits.answer_timeout_ms * 1000;
    if (http->admit != NULL)
        http->admit(http->ctx, request);
    else
        request->is_admitted = true;
    return follow_admission(request);
}

static enum MHD_Result begin(lc_http *http, struct MHD_Connection *mhd, const char *const *line,
                             void **context)
{
    lc_http_connection *connection = connection_of(http, mhd);
    lc_http_incoming in;
    lc_http_verdict verdict;
    lc_http_request *request;
    bool is_refused;

    if (connection == NULL)
        return MHD_NO;
    in.version = line[2];
    read_head(mhd, connection, line[0], line[1], &in);
    verdict = lc_http_check_head(connection, &in);
    is_refused = verdict.http_status != 0;
    if (!lc_http_leave_reading(connection, LC_HTTP_WORK, LC_HTTP_NEVER_MS))
        return MHD_NO;
    request = lc_http_new_request(connection, is_refused ? NULL : &in);
    if (request == NULL)
        return MHD_NO;
    request->mhd = mhd;
    request->body_bytes = verdict.body_bytes;
    *context = request;
    lc_http_add(&http->bytes_in, (int64_t)in.head.bytes);
    /* No answer, rather than an error: nothing was done, and most clients send it again. */
    if (atomic_load(&http->refuses_requests))
        return MHD_NO;
    if (is_refused) {
        lc_http_count(&http->refused);
        make_problem(request, verdict.http_status, verdict.status, verdict.detail);
        report_answered(request, request->status, request->reply_bytes);
        return queue(request);
    }
    /* An answer before the end of the request closes the connection, so only a body is worth one.
     */
    return request->body_bytes > 0 ? ask(request) : MHD_YES;
}

/* Whether options.admit has deferred its decision and the loop has not seen it yet. */
static bool is_undecided(const lc_http_request *request)
{
    return !request->is_handled && (request->is_deferred || !request->is_admitted);
}

static enum MHD_Result on_request(void *cls, struct MHD_Connection *mhd, const char *path,
                                  const char *method, const char *version, const char *upload,
                                  size_t *upload_bytes, void **context)
{
    const char *const line[] = {method, path, version};
    lc_http_request *request = *context;
    loci_str part = {upload, *upload_bytes};

    if (request == NULL)
        return begin(cls, mhd, line, context);
    if (part.len == 0 && (!request->is_asked || !is_undecided(request) || request->has_read_first))
        request->is_whole = true;
    if (!request->is_asked)
        return ask(request);
    if (is_undecided(request) && (request->is_whole || !request->has_read_first))
        return follow_admission(request);
    if (part.len == 0)
        return proceed(request);
    *upload_bytes = 0;
    lc_buf_append(&request->body, part);
    lc_http_add(&request->http->bytes_in, (int64_t)part.len);
    /* Out of memory: libmicrohttpd takes no answer in the middle of a body, and disconnects. */
    return lc_buf_status(&request->body, NULL) == LOCI_OK ? MHD_YES : MHD_NO;
}

/* The answer was sent, or the connection closed: libmicrohttpd is done with the request. */
static void on_completed(void *cls, struct MHD_Connection *mhd, void **context,
                         enum MHD_RequestTerminationCode code)
{
    lc_http *http = cls;
    lc_http_request *request = *context;
    bool is_answered = true;

    (void)mhd;
    if (request == NULL)
        return;
    *context = NULL;
    if (code == MHD_REQUEST_TERMINATED_TIMEOUT_REACHED) {
        lc_http_drop_unsent(request->connection);
        lc_http_count(&http->cut);
    }
    request->connection->must_linger = code == MHD_REQUEST_TERMINATED_COMPLETED_OK &&
                                       !request->is_whole;
    lc_http_set_phase(request->connection, LC_HTTP_IDLE,
                      lc_http_now_ms() + http->limits.idle_timeout_ms);
    lc_http_add(&http->ended, 1);
    if (request->response != NULL)
        http->mhd.destroy_response(request->response);
    request->response = NULL;
    if (request->is_deferred) {
        pthread_mutex_lock(&http->lock);
        is_answered = lc_http_is_given(request);
        request->is_over = true; /* And its connection may be freed next. */
        __atomic_store_n(&request->cancel, 1, __ATOMIC_RELAXED);
        wake_all_answered(http);
        pthread_mutex_unlock(&http->lock);
    }
    if (request->is_stream)
        end_stream(request);
    else if (is_answered)
        lc_http_free_request(request);
}

/* ---- The loop -------------------------------------------------------------------------------- */

static loci_status load_mhd(lc_mhd *out, loci_error *err)
{
#define LC_MHD_NAME(name) "MHD_" #name,
    static const char *const names[] = {LC_MHD_FUNCTIONS(LC_MHD_NAME) NULL};
#undef LC_MHD_NAME
    static const lc_library library = {"libmicrohttpd.so.12", "a server", "libmicrohttpd12",
                                       "libmicrohttpd 0.9.75", names};

    return lc_library_load(&library, out, err);
}

loci_status lc_http_loop_start(lc_http *http, loci_error *err)
{
    unsigned flags = MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ITC |
                     MHD_USE_ERROR_LOG;
    /* The head of a request, libmicrohttpd's list of its fields, and the head of the answer. It is
     * cleared for every request, so it is no larger than that. */
    size_t pool_bytes = http->limits.header_bytes_max + POOL_BYTES_SPARE;
    struct MHD_OptionItem options[] = {
        {MHD_OPTION_EXTERNAL_LOGGER, (intptr_t)on_message, http}, /* First, or it comes late. */
        {MHD_OPTION_CONNECTION_MEMORY_LIMIT, (intptr_t)pool_bytes, NULL},
        {MHD_OPTION_CONNECTION_LIMIT, (intptr_t)(http->limits.connections_max + CONNECTIONS_SPARE),
         NULL},
        /* For a client that reads nothing of an answer; the monitor is faster in all other cases.
         */
        {MHD_OPTION_CONNECTION_TIMEOUT, (intptr_t)(http->limits.idle_timeout_ms / 1000 + 1), NULL},
        {MHD_OPTION_STRICT_FOR_CLIENT, 0, NULL}, /* A missing Host is refused by the guard. */
        {MHD_OPTION_NOTIFY_CONNECTION, (intptr_t)on_connection, http},
        {MHD_OPTION_NOTIFY_COMPLETED, (intptr_t)on_completed, http},
        {MHD_OPTION_URI_LOG_CALLBACK, (intptr_t)on_target, http},
        {MHD_OPTION_UNESCAPE_CALLBACK, (intptr_t)on_query_text, http},
        {http->tcp.fd >= 0 ? MHD_OPTION_LISTEN_SOCKET : MHD_OPTION_END, http->tcp.fd, NULL},
        {MHD_OPTION_END, 0, NULL},
    };
    loci_status status = load_mhd(&http->mhd, err);

    if (status != LOCI_OK)
        return status;
    if (http->tcp.fd < 0)
        flags |= MHD_USE_NO_LISTEN_SOCKET;
    http->daemon = http->mhd.start_daemon(flags, 0, NULL, NULL, on_request, http, MHD_OPTION_ARRAY,
                                          options, MHD_OPTION_END);
    if (http->daemon == NULL)
        return lc_fail(err, LOCI_ERESOURCE,
                       "the HTTP loop could not be started; check the limit of open files");
    return LOCI_OK;
}

void lc_http_loop_quiesce(lc_http *http)
{
    if (http->daemon != NULL && http->tcp.fd >= 0)
        (void)http->mhd.quiesce_daemon(http->daemon); /* Returns the socket, which is ours. */
}

void lc_http_loop_stop(lc_http *http)
{
    if (http->daemon != NULL)
        http->mhd.stop_daemon(http->daemon);
}
