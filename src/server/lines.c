/* lines.c - a bounded queue of lines between the thread that runs an operation and the event loop.
 *
 *     operation --take: waits while `back` is full--> back --pull: swaps--> front --> client
 *
 * The queue is two buffers. The operation's thread appends to `back`; when the client has read
 * `front`, the loop swaps the two. The memory of a stream is bounded by QUEUE_BYTES, or one line,
 * for each buffer, however slowly the client reads: the operation waits for the client.
 *
 * The lines are the whole result only if the operation has ended without an error and all lines
 * were lent. In every other case (an error after the first line, the daemon stops, the token was
 * revoked) the connection is cut without the last chunk, and the client sees an incomplete body.
 *
 * A stream has two owners, which may end in either order: the call, until `finish`, and the
 * connection, from the first line to `close_stream`. When the connection ends first, `cancel` ends
 * the call at its next line or progress report.
 */
#include "server/lines.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "server/http_guard.h"

#define QUEUE_BYTES (256u * 1024)

typedef struct line_stream {
    lc_env *env;
    lc_store_thread *token_thread;
    const lc_op *op;
    char trace_id[LC_HTTP_TRACE_ID_BYTES_MAX + 1];
    lc_http_request *request; /* Of the call's thread, until it is answered. */
    bool is_begun;            /* It was answered with the stream; of the call's thread. */
    int wake_fd;
    lc_token_ticket ticket;
    bool has_token;
    bool is_watched; /* The ticket is; of the loop, like the next. */
    lc_buf front;    /* Lent to the connection. */

    pthread_mutex_t lock;
    pthread_cond_t room;
    lc_buf back;           /* Under the lock, like the rest. */
    bool is_asleep;        /* The loop waits for wake_fd. */
    bool is_done, is_good; /* The call has ended; and without an error. */
    bool is_revoked;
    volatile int cancel;
    int owners;
} line_stream;

static void release(line_stream *s)
{
    bool is_last;

    (void)pthread_mutex_lock(&s->lock);
    is_last = --s->owners == 0;
    (void)pthread_mutex_unlock(&s->lock);
    if (!is_last)
        return;
    if (s->wake_fd >= 0)
        (void)close(s->wake_fd);
    lc_buf_clear(&s->front);
    lc_buf_clear(&s->back);
    (void)pthread_cond_destroy(&s->room);
    (void)pthread_mutex_destroy(&s->lock);
    lc_heap_free(&s->env->heap, s, sizeof *s, LOCI_MEM_REQUESTS);
}

/* ---- The connection's side, on the loop's thread --------------------------------------------- */

/* The daemon's threads are alive here, and may not be when a call ends late. */
static void watch_token(line_stream *s)
{
    if (s->has_token && !s->is_watched)
        lc_store_thread_watch(s->token_thread, &s->ticket);
    s->is_watched = s->has_token;
}

/* lc_http_stream.pull */
static bool pull(void *ctx, loci_str *out, bool is_heartbeat)
{
    line_stream *s = ctx;
    eventfd_t wakes;
    bool goes_on;

    (void)is_heartbeat;
    watch_token(s);
    (void)pthread_mutex_lock(&s->lock);
    (void)eventfd_read(s->wake_fd, &wakes); /* EAGAIN: nothing was written. */
    s->is_revoked = atomic_load(&s->ticket.ended) != LC_TOKEN_VALID;
    if (s->is_revoked) {
        goes_on = false;
    } else {
        lc_buf sent = s->front;

        lc_buf_reset(&sent);
        s->front = s->back;
        s->back = sent;
        *out = lc_buf_str(&s->front);
        goes_on = out->len > 0 || !s->is_done;
        s->is_asleep = goes_on && out->len == 0;
        (void)pthread_cond_signal(&s->room);
    }
    (void)pthread_mutex_unlock(&s->lock);
    return goes_on;
}

/* lc_http_stream.is_whole */
static bool is_whole(void *ctx)
{
    line_stream *s = ctx;
    bool result;

    (void)pthread_mutex_lock(&s->lock);
    result = s->is_good && s->back.len == 0 && !s->is_revoked;
    (void)pthread_mutex_unlock(&s->lock);
    return result;
}

/* lc_http_stream.close; of a request that was over before, on the call's thread. */
static void close_stream(void *ctx)
{
    line_stream *s = ctx;

    if (s->is_watched)
        lc_store_thread_forget(s->token_thread, &s->ticket);
    (void)pthread_mutex_lock(&s->lock);
    __atomic_store_n(&s->cancel, 1, __ATOMIC_RELAXED);
    (void)pthread_cond_signal(&s->room);
    (void)pthread_mutex_unlock(&s->lock);
    release(s);
}

/* ---- The call's side, on its own thread ------------------------------------------------------ */

/* The lock is held. */
static void wake(line_stream *s)
{
    if (s->is_asleep)
        (void)eventfd_write(s->wake_fd, 1); /* Fails only when it is full: it is readable. */
    s->is_asleep = false;
}

/* Waits for room. False when the call must end. */
static bool add_line(line_stream *s, loci_str line)
{
    bool is_added;

    (void)pthread_mutex_lock(&s->lock);
    while (s->cancel == 0 && s->back.len > 0 && s->back.len + line.len + 1 > QUEUE_BYTES)
        (void)pthread_cond_wait(&s->room, &s->lock);
    is_added = s->cancel == 0;
    if (is_added) {
        lc_buf_append(&s->back, line);
        lc_buf_append_byte(&s->back, '\n');
        is_added = lc_buf_status(&s->back, NULL) == LOCI_OK;
        wake(s);
    }
    (void)pthread_mutex_unlock(&s->lock);
    return is_added;
}

/* The request is answered, and no longer this thread's. */
static void begin(line_stream *s)
{
    s->is_begun = true;
    s->owners = 2; /* No other thread knows it yet. */
    lc_http_answer_stream(s->request, &(lc_http_stream){.content_type = "application/x-ndjson",
                                                        .pull = pull,
                                                        .is_whole = is_whole,
                                                        .close = close_stream,
                                                        .ctx = s,
                                                        .wake_fd = s->wake_fd});
}

/* loci_sink_fn. Progress is not part of the answer. */
static int take(void *ctx, loci_str chunk)
{
    line_stream *s = ctx;
    loci_str line;

    if (!s->is_begun && __atomic_load_n(lc_http_cancel(s->request), __ATOMIC_RELAXED) != 0)
        return 1;
    if (!lc_chunk_line(chunk, &line))
        return 0; /* The operation looks at `cancel` itself. */
    if (!add_line(s, line))
        return 1;
    if (!s->is_begun)
        begin(s);
    return 0;
}

/* The record of the request was written when the stream began. */
static void log_cut(const line_stream *s, loci_status status, const loci_error *err)
{
    lc_log_write(&s->env->log, status == LOCI_ECANCELLED ? LOCI_LOG_INFO : LOCI_LOG_WARN,
                 "http.stream_cut", LC_LOG_TEXT("trace_id", s->trace_id),
                 LC_LOG_TEXT("operation", s->op->name),
                 LC_LOG_TEXT("code", loci_status_name(status)), LC_LOG_TEXT("why", err->message));
}

/* loci_done_fn */
static void finish(void *ctx, loci_status status, loci_answer *answer, const loci_error *err)
{
    line_stream *s = ctx;

    if (s->is_begun) {
        if (status != LOCI_OK)
            log_cut(s, status, err);
        (void)pthread_mutex_lock(&s->lock);
        s->is_done = true;
        s->is_good = status == LOCI_OK;
        wake(s);
        (void)pthread_mutex_unlock(&s->lock);
    } else if (status == LOCI_OK) {
        lc_reply_json(s->request, loci_answer_json(answer), lc_answer_is_replayed(answer));
    } else {
        lc_reply_error(s->request, err);
    }
    loci_answer_free(answer);
    release(s);
}

/* ---- Beginning ------------------------------------------------------------------------------- */

static loci_status new_stream(lc_server *server, lc_http_request *request, const lc_op *op,
                              line_stream **out, loci_error *err)
{
    const lc_access_record *record = lc_http_state(request);
    line_stream *s = lc_heap_zalloc(&server->env->heap, sizeof *s, LOCI_MEM_REQUESTS);

    if (s == NULL)
        return lc_fail_memory(err);
    s->env = server->env;
    s->token_thread = server->token_thread;
    s->op = op;
    s->request = request;
    s->owners = 1;
    memcpy(s->trace_id, lc_http_trace_id(request), strlen(lc_http_trace_id(request)));
    lc_buf_init(&s->front, &s->env->heap, LOCI_MEM_REQUESTS, LC_ANSWER_BYTES_MAX);
    lc_buf_init(&s->back, &s->env->heap, LOCI_MEM_REQUESTS, LC_ANSWER_BYTES_MAX);
    (void)pthread_mutex_init(&s->lock, NULL); /* Neither can fail on Linux. */
    (void)pthread_cond_init(&s->room, NULL);
    s->wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (s->wake_fd < 0) {
        release(s);
        return lc_fail(err, LOCI_ERESOURCE, "cannot create a descriptor: %s", strerror(errno));
    }
    s->has_token = lc_id_is(loci_str_of(record->who.token_id), "tok");
    if (s->has_token) {
        memcpy(s->ticket.token_id.text, record->who.token_id, strlen(record->who.token_id));
        s->ticket.expires_at = record->who.expires_at;
        s->ticket.wake_fd = s->wake_fd;
    }
    *out = s;
    return LOCI_OK;
}

void lc_lines_run(lc_server *server, lc_http_request *request, const lc_op *op, loci_str args,
                  const loci_call_options *options)
{
    loci_call_options own = *options;
    line_stream *s = NULL;
    loci_error err;
    loci_status status = new_stream(server, request, op, &s, &err);

    if (status == LOCI_OK) {
        lc_streamed_call call = {
            .operation = op->name, .args = args, .sink = take, .done = finish, .ctx = s};

        own.cancel = &s->cancel; /* The request's own does not live as long as the call. */
        lc_http_defer(request);
        status = lc_submit_stream(server->engine, &call, &own, &err);
        if (status != LOCI_OK)
            release(s);
    }
    if (status != LOCI_OK)
        lc_reply_error(request, &err);
}
