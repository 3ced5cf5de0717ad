/* http.c - libmicrohttpd's callbacks, and nothing of it anywhere else.
 *
 *     request line -> note_target, decode_query
 *     headers      -> begin: guard and copy, or refuse
 *     body         -> receive
 *     whole        -> proceed: the handler --answered--> queue
 *                                    `--deferred--> sleep ... answer or expiry ... wake -> queue
 *     sent, or cut -> on_completed
 *
 * All of these run on the loop's thread. Traps of libmicrohttpd 0.9.75, and what is done about
 * them:
 *
 *     parses leniently              http_guard.h; where its pointers point tells what it swallowed
 *     one timeout, since the last   http_connection.c has one for each phase; a byte a second does
 * not byte                          keep a connection suspended connections have    the monitor
 * watches deadlines and hang-ups no timeout, nor a hang-up panics when stopped while lc_http_stop()
 * wakes them; who wants to sleep later finds some are suspended            is_stopping under the
 * same lock, and does not hangs up on long queries      cut_query(): what is refused anyway is cut
 * before it is noted does not accept at its limit  its limit is a little above ours; beyond ours
 * the answer is 503
 */
#include "server/http.h"

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "base/assert.h"
#include "base/error.h"
#include "base/library.h"
#include "base/settle.h"
#include "base/str.h"
#include "server/http_private.h"
#include "server/http_reply.h"

#define CONNECTIONS_SPARE 32   /* Beyond the limit, to be told so. */
#define REPLY_BYTES_PER_MS 16  /* A reader slower than 16 KB/s has not got forever. */
#define BODY_BYTES_FIRST 65536 /* Memory for what was announced; more only for what has come. */
#define POOL_BYTES_SPARE 10240 /* 100 fields of 64 bytes, 3 KB of answer, and a little. */

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

/* ---- Requests -------------------------------------------------------------------------------- */

/* libmicrohttpd notes every parameter of a query before anybody is asked, and hangs up when they do
 * not fit into its memory. Cut behind the first that is too many, the request is refused as it
 * should be. The text lies in the connection's own buffer. */
static void cut_query(char *target)
{
    char *at = strchr(target, '?');

    for (size_t count = 0; at != NULL && count <= LC_HTTP_FIELDS_MAX; count++)
        at = strchr(at + 1, '&');
    if (at != NULL)
        *at = '\0';
}

/* The request line as it was sent, before it is taken apart. */
static void *note_target(void *cls, const char *target, struct MHD_Connection *mhd)
{
    lc_http_connection *connection = connection_of(cls, mhd);

    if (connection != NULL) {
        connection->target = target;
        connection->target_bytes = target == NULL ? 0 : strlen(target);
        connection->has_bad_target = !lc_http_guard_is_target(
            (loci_str){target, connection->target_bytes});
        connection->has_bad_escape = false;
        if (target != NULL)
            cut_query((char *)(uintptr_t)target);
    }
    return NULL;
}

/* Names and values of the query are decoded; the path is left for the router to cut first. */
static size_t decode_query(void *cls, struct MHD_Connection *mhd, char *text)
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
    /* Fails for a value with a line break: left out. */
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
    add_header(http, response, "X-Request-Id", request->id);
    add_header(http, response, MHD_HTTP_HEADER_LOCATION, reply->location);
    add_header(http, response, MHD_HTTP_HEADER_ALLOW, reply->allow);
    add_header(http, response, MHD_HTTP_HEADER_WWW_AUTHENTICATE, reply->authenticate);
    if (is_gzip) {
        add_header(http, response, MHD_HTTP_HEADER_CONTENT_ENCODING, "gzip");
        add_header(http, response, MHD_HTTP_HEADER_VARY, MHD_HTTP_HEADER_ACCEPT_ENCODING);
    }
    if (reply->retry_after_s > 0) {
        (void)snprintf(number, sizeof number, "%lld", (long long)reply->retry_after_s);
        add_header(http, response, MHD_HTTP_HEADER_RETRY_AFTER, number);
    }
    if (atomic_load_explicit(&request->http->is_draining, memory_order_relaxed))
        add_header(http, response, MHD_HTTP_HEADER_CONNECTION, "close");
    return response;
}

/* Makes an error of this file's own the answer, on the loop's thread. It does not touch the arena,
 * which a late worker may be using. */
static void make_problem(lc_http_request *request, int http_status, loci_status code,
                         const char *detail)
{
    lc_http_reply reply = {.content_type = LC_PROBLEM_TYPE};
    lc_problem problem = {
        .http_status = http_status, .code = code, .detail = detail, .request_id = request->id};

    lc_buf_init(&request->said, &request->http->env->heap, LOCI_MEM_REQUESTS, LC_PROBLEM_BYTES_MAX);
    lc_problem_write(&problem, NULL, &request->said);
    if (lc_buf_status(&request->said, NULL) == LOCI_OK)
        request->response = make_response(request, &reply, lc_buf_str(&request->said), false);
    request->status = http_status;
    request->reply_bytes = request->said.len;
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

typedef struct outcome {
    struct MHD_Response *response;
    int status;
    size_t bytes;
    const lc_http_stream *stream; /* Or NULL. */
} outcome;

static void store(lc_http_request *request, const outcome *what)
{
    request->is_answered = true;
    request->response = what->response;
    request->status = what->status;
    request->reply_bytes = what->bytes;
    if (what->stream != NULL) {
        request->is_stream = true;
        request->stream = *what->stream;
        lc_buf_init(&request->said, &request->http->env->heap, LOCI_MEM_REQUESTS,
                    request->http->limits.stream_buffer_bytes);
    }
}

static void tell_answered(const lc_http_request *request, int status, size_t bytes)
{
    if (request->http->answered != NULL)
        request->http->answered(request->http->ctx, request, status, bytes);
}

/* To be resumed by whoever asks; the lock is held. */
static struct MHD_Connection *take_asleep(lc_http_connection *connection)
{
    lc_http_request *request = connection->asleep;

    if (connection->answered_by != NULL) {
        *connection->answered_by = connection->next_answered;
        if (connection->next_answered != NULL)
            connection->next_answered->answered_by = connection->answered_by;
        connection->answered_by = NULL;
    }
    connection->asleep = NULL;
    return request->mhd;
}

/* On the loop's thread; the lock is held. */
static void wake_all_answered(lc_http *http)
{
    while (http->answered_connections != NULL)
        lc_http_wake(http->answered_connections);
}

/* A thread that has answered several is done: it wakes one of them, and the loop the others when it
 * comes to that one (proceed, on_completed). */
static void ring(void *ctx)
{
    lc_http *http = ctx;
    struct MHD_Connection *mhd = NULL;
    bool is_last_owner;

    pthread_mutex_lock(&http->lock);
    if (http->answered_connections != NULL)
        mhd = take_asleep(http->answered_connections);
    http->ringing += mhd != NULL;
    pthread_mutex_unlock(&http->lock);
    if (mhd != NULL)
        http->mhd.resume_connection(
            mhd); /* Without the lock, for which the loop would have to wait. */
    pthread_mutex_lock(&http->lock);
    http->ringing -= mhd != NULL;
    is_last_owner = --http->owners == 0;
    pthread_mutex_unlock(&http->lock);
    lc_http_let_go(http, is_last_owner);
}

/* Now, or with others; the lock is held. */
static void wake_soon(lc_http_connection *connection)
{
    lc_http *http = connection->http;
    lc_settle_promise promise = lc_settle_later(ring, http);

    if (promise == LC_SETTLE_NOT) {
        lc_http_wake(connection);
        return;
    }
    if (promise == LC_SETTLE_NEW)
        http->owners++;
    connection->next_answered = http->answered_connections;
    if (connection->next_answered != NULL)
        connection->next_answered->answered_by = &connection->next_answered;
    connection->answered_by = &http->answered_connections;
    http->answered_connections = connection;
}

/* From here on the monitor leaves it alone. False when it has not. */
static bool claim(lc_http_request *request)
{
    bool is_ours;

    pthread_mutex_lock(&request->http->lock);
    is_ours = !request->is_expired;
    request->is_claimed = is_ours;
    pthread_mutex_unlock(&request->http->lock);
    return is_ours;
}

/* A deferred request may be gone when this returns. */
static void give(lc_http_request *request, const outcome *what)
{
    lc_http *http = request->http;
    bool is_late, is_over, is_last_owner;

    LC_ASSERT(!request->is_answered);
    if (!request->is_deferred) {
        store(request, what);
        tell_answered(request, what->status, what->bytes);
        return;
    }
    if (claim(request))
        tell_answered(request, what->status, what->bytes);
    pthread_mutex_lock(&http->lock);
    is_late = request->is_expired;
    is_over = request->is_over;
    is_last_owner = --http->owners == 0;
    if (is_late)
        request->is_answered = true;
    else
        store(request, what);
    if (!is_late && request->connection->asleep == request)
        wake_soon(request->connection);
    pthread_mutex_unlock(&http->lock);
    if (is_late) {
        if (what->response != NULL)
            http->mhd.destroy_response(what->response);
        if (what->stream != NULL)
            what->stream->close(what->stream->ctx);
    }
    if (is_over)
        lc_http_free_request(request);
    lc_http_let_go(http, is_last_owner);
}

void lc_http_answer(lc_http_request *request, const lc_http_reply *reply)
{
    loci_str body = reply->body;
    outcome what = {.status = reply->status};
    bool is_gzip = body.len >= LC_GZIP_BYTES_MIN &&
                   lc_gzip_is_accepted(lc_http_header(request, MHD_HTTP_HEADER_ACCEPT_ENCODING)) &&
                   lc_gzip_pack(&request->arena, body, &body);

    if (!is_gzip && body.len > 0)
        body = lc_arena_copy(&request->arena, body);
    /* Without memory for an answer there is none: the connection is closed. */
    if (body.ptr != NULL || body.len == 0)
        what.response = make_response(request, reply, body, is_gzip);
    what.bytes = body.len;
    give(request, &what);
}

void lc_http_defer(lc_http_request *request)
{
    LC_ASSERT(!request->is_deferred);
    request->is_deferred = true;
    pthread_mutex_lock(&request->http->lock);
    request->http->owners++;
    pthread_mutex_unlock(&request->http->lock);
}

/* ---- Sleeping -------------------------------------------------------------------------------- */

void lc_http_suspend(lc_http_request *request)
{
    request->http->mhd.suspend_connection(request->mhd);
    request->connection->asleep = request;
}

void lc_http_wake(lc_http_connection *connection)
{
    connection->http->mhd.resume_connection(take_asleep(connection));
}

/* False when an answer is there already, or everything ends. */
static bool sleep_until_answered(lc_http_request *request)
{
    lc_http *http = request->http;
    bool is_asleep;

    pthread_mutex_lock(&http->lock);
    if (!request->is_answered && atomic_load(&http->is_stopping))
        request->is_expired = true;
    is_asleep = !request->is_answered && !request->is_expired;
    if (is_asleep)
        lc_http_suspend(request);
    pthread_mutex_unlock(&http->lock);
    return is_asleep;
}

/* ---- Streams -------------------------------------------------------------------------------
 *
 * A stream is pulled when the client has taken all that was sent before, and sleeps when there was
 * nothing. The monitor starts to watch it under the lock, after it was suspended, and sees at once
 * what arrived in between: no wake-up is lost. */

static bool must_streams_end(const lc_http *http)
{
    return atomic_load(&http->is_stopping) || atomic_load(&http->are_streams_ended);
}

/* False when the stream must end instead. */
static bool sleep_until_woken(lc_http_request *request)
{
    lc_http *http = request->http;
    bool is_asleep;

    lc_buf_clear(&request->said);
    lc_http_set_phase(request->connection, LC_HTTP_STREAM, LC_HTTP_NEVER_MS);
    pthread_mutex_lock(&http->lock);
    is_asleep = !request->is_gone && !must_streams_end(http);
    if (is_asleep) {
        lc_http_suspend(request);
        request->heartbeat_us = request->stream.heartbeat_ms > 0
                                    ? lc_clock_monotonic_us() + request->stream.heartbeat_ms * 1000
                                    : INT64_MAX;
        lc_http_monitor_watch(http, request);
    }
    pthread_mutex_unlock(&http->lock);
    return is_asleep;
}

/* The number of bytes pulled, 0 when the stream was put to sleep, or one of libmicrohttpd's ends.
 */
static ssize_t pull_stream(lc_http_request *request)
{
    bool is_heartbeat, is_gone;

    pthread_mutex_lock(&request->http->lock);
    is_heartbeat = request->is_heartbeat;
    request->is_heartbeat = false;
    is_gone = request->is_gone;
    pthread_mutex_unlock(&request->http->lock);
    if (is_gone)
        return MHD_CONTENT_READER_END_WITH_ERROR;
    if (request->is_last || must_streams_end(request->http))
        return MHD_CONTENT_READER_END_OF_STREAM;
    lc_buf_reset(&request->said);
    request->said_sent = 0;
    request->is_last = !request->stream.pull(request->stream.ctx, &request->said, is_heartbeat);
    if (lc_buf_status(&request->said, NULL) != LOCI_OK) {
        lc_http_count(&request->http->cut);
        return MHD_CONTENT_READER_END_WITH_ERROR;
    }
    if (request->said.len > 0)
        return (ssize_t)request->said.len;
    if (request->is_last || !sleep_until_woken(request))
        return MHD_CONTENT_READER_END_OF_STREAM;
    return 0;
}

/* Called when everything sent before is with the kernel, so the time between two calls that return
 * bytes is the time the reader took. */
static ssize_t read_stream(void *cls, uint64_t position, char *out, size_t bytes_max)
{
    lc_http_request *request = cls;
    size_t bytes;

    (void)position;
    if (request->said_sent == request->said.len) {
        ssize_t pulled = pull_stream(request);

        if (pulled <= 0)
            return pulled;
    }
    bytes = request->said.len - request->said_sent;
    if (bytes > bytes_max)
        bytes = bytes_max;
    memcpy(out, request->said.ptr + request->said_sent, bytes);
    request->said_sent += bytes;
    lc_http_set_phase(request->connection, LC_HTTP_STREAM,
                      lc_http_now_ms() + request->http->limits.idle_timeout_ms);
    lc_http_add(&request->http->bytes_out, (int64_t)bytes);
    return (ssize_t)bytes;
}

/* The stream is over, whatever ended it; the monitor frees the request. */
static void end_stream(lc_http_request *request)
{
    lc_http *http = request->http;
    lc_http_stream stream = request->stream;

    pthread_mutex_lock(&http->lock);
    request->is_over = true;
    lc_http_monitor_forget(http, request);
    request->next_ended = http->ended_streams;
    http->ended_streams = request;
    pthread_mutex_unlock(&http->lock);
    lc_http_add(&http->streams, -1);
    stream.close(stream.ctx); /* The request may be freed by now. */
}

void lc_http_answer_stream(lc_http_request *request, const lc_http_stream *stream)
{
    const lc_http *http = request->http;
    outcome what = {.status = MHD_HTTP_OK, .stream = stream};
    size_t chunk_bytes = 4096; /* Only for HTTP/1.0; chunks are as large as the pool allows. */

    what.response = http->mhd.create_response_from_callback(MHD_SIZE_UNKNOWN, chunk_bytes,
                                                            read_stream, request, NULL);
    if (what.response != NULL) {
        add_header(http, what.response, MHD_HTTP_HEADER_CONTENT_TYPE, stream->content_type);
        add_header(http, what.response, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
        add_header(http, what.response, "X-Request-Id", request->id);
        add_header(http, what.response, "X-Accel-Buffering",
                   "no"); /* nginx would hold events back. */
    }
    give(request, &what);
}

/* ---- The life of a request ------------------------------------------------------------------- */

static enum MHD_Result refuse(lc_http_request *request, const lc_http_verdict *verdict)
{
    lc_http_count(&request->http->refused);
    make_problem(request, verdict->http_status, verdict->status, verdict->detail);
    return queue(request);
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
    verdict = lc_http_judge(connection, &in);
    is_refused = verdict.http_status != 0;
    if (!lc_http_leave_reading(connection, verdict.has_body ? LC_HTTP_BODY : LC_HTTP_WORK,
                               verdict.has_body ? lc_http_now_ms() + http->limits.body_timeout_ms
                                                : LC_HTTP_NEVER_MS))
        return MHD_NO;
    request = lc_http_new_request(connection, is_refused ? NULL : &in);
    if (request == NULL)
        return MHD_NO;
    request->mhd = mhd;
    *context = request;
    lc_http_add(&http->bytes_in, (int64_t)in.head.bytes);
    if (is_refused)
        return refuse(request, &verdict);
    if (verdict.body_bytes > 0 &&
        lc_buf_reserve(&request->body, verdict.body_bytes < BODY_BYTES_FIRST
                                           ? verdict.body_bytes
                                           : BODY_BYTES_FIRST) == NULL)
        return MHD_NO;
    return MHD_YES;
}

static enum MHD_Result receive(lc_http_request *request, loci_str part)
{
    lc_buf_append(&request->body, part);
    lc_http_add(&request->http->bytes_in, (int64_t)part.len);
    if (lc_buf_status(&request->body, NULL) == LOCI_OK)
        return MHD_YES;
    /* Chunks without an end: in the middle of a body libmicrohttpd takes no answer. */
    lc_http_count(&request->http->refused);
    if (request->body.failure == LOCI_ELIMIT)
        lc_http_say_last(request->connection->fd, MHD_HTTP_CONTENT_TOO_LARGE);
    return MHD_NO;
}

static enum MHD_Result proceed(lc_http_request *request)
{
    lc_http *http = request->http;
    bool is_expired = false;

    if (!request->is_handled) {
        if (!lc_http_leave_reading(request->connection, LC_HTTP_WORK, LC_HTTP_NEVER_MS))
            return MHD_NO;
        request->is_handled = true;
        request->deadline_us = lc_clock_monotonic_us() + http->limits.answer_timeout_ms * 1000;
        http->handle(http->ctx, request);
        LC_ASSERT(request->is_deferred || request->is_answered);
        if (request->is_deferred && sleep_until_answered(request))
            return MHD_YES;
    }
    if (request->is_deferred) {
        pthread_mutex_lock(&http->lock);
        is_expired = request->is_expired;
        wake_all_answered(http);
        pthread_mutex_unlock(&http->lock);
    }
    /* A loop that is stopping drops the answer, and asks for it once more. */
    if (request->is_queued)
        return MHD_NO;
    if (is_expired) {
        make_problem(request, 504, LOCI_EDEADLINE, "there was no answer in time");
        tell_answered(request, request->status, request->reply_bytes);
    }
    if (request->is_stream)
        lc_http_add(&http->streams, 1);
    return queue(request);
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
    if (part.len == 0)
        return proceed(request);
    *upload_bytes = 0;
    return receive(request, part);
}

/* Sent, or cut: libmicrohttpd will not ask for it again. */
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
    lc_http_set_phase(request->connection, LC_HTTP_IDLE,
                      lc_http_now_ms() + http->limits.idle_timeout_ms);
    lc_http_add(&http->ended, 1);
    if (request->response != NULL)
        http->mhd.destroy_response(request->response);
    request->response = NULL;
    if (request->is_deferred) {
        pthread_mutex_lock(&http->lock);
        is_answered = request->is_answered;
        request->is_over = true;
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
    unsigned flags = MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ITC;
    /* The head of a request, what libmicrohttpd notes of its fields, and the head of the answer. It
     * is cleared for every request, so it is no larger than that. */
    size_t pool_bytes = http->limits.header_bytes_max + POOL_BYTES_SPARE;
    struct MHD_OptionItem options[] = {
        {MHD_OPTION_CONNECTION_MEMORY_LIMIT, (intptr_t)pool_bytes, NULL},
        {MHD_OPTION_CONNECTION_LIMIT, (intptr_t)(http->limits.connections_max + CONNECTIONS_SPARE),
         NULL},
        /* For a reader that takes nothing of an answer; the monitor is quicker with all others. */
        {MHD_OPTION_CONNECTION_TIMEOUT, (intptr_t)(http->limits.idle_timeout_ms / 1000 + 1), NULL},
        {MHD_OPTION_PER_IP_CONNECTION_LIMIT, (intptr_t)http->limits.connections_of_peer, NULL},
        {MHD_OPTION_STRICT_FOR_CLIENT, 1, NULL},
        {MHD_OPTION_NOTIFY_CONNECTION, (intptr_t)on_connection, http},
        {MHD_OPTION_NOTIFY_COMPLETED, (intptr_t)on_completed, http},
        {MHD_OPTION_URI_LOG_CALLBACK, (intptr_t)note_target, http},
        {MHD_OPTION_UNESCAPE_CALLBACK, (intptr_t)decode_query, http},
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
        return lc_fail(err, LOCI_ERESOURCE, "the HTTP loop could not be started");
    return LOCI_OK;
}

void lc_http_loop_quiesce(lc_http *http)
{
    if (http->daemon != NULL && http->tcp.fd >= 0)
        (void)http->mhd.quiesce_daemon(http->daemon); /* Gives back the socket, which is ours. */
}

void lc_http_loop_stop(lc_http *http)
{
    if (http->daemon != NULL)
        http->mhd.stop_daemon(http->daemon);
}
