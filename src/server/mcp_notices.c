/* mcp_notices.c - streams that tell clients what has changed.
 *
 * A stream has a listener of the dispatcher and a subscription of the engine. A pull on the loop
 * writes the notices that are due; it never reads the log. When the subscription has events, the
 * event thread reads them and passes their types to the listener:
 *
 *     idle --pull--> reading --thread--> read, or broken --pull--> idle, or end
 *
 * So the memory for a slow client is bounded by the number of its subscriptions. A stream ends with
 * its token, as those of events.c do.
 */
#include "server/mcp_streams.h"

#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/error.h"
#include "base/str.h"
#include "server/events.h"
#include "server/http_guard.h"

#define HEARTBEAT_MS 15000
#define READ_EVENTS_MAX 256         /* In one turn of the event thread. */
#define PAGE_BYTES_MAX (64u * 1024) /* Sent at a time, and the notice that exceeds it. */
#define TEXT_BYTES_MAX (1024u * 1024)

typedef enum read_state { READ_IDLE, READ_BUSY, READ_DONE, READ_BROKEN } read_state;

typedef struct notice_stream {
    lc_store_task task; /* First: the thread knows the stream by it. */
    lc_mcp_http *mcp;
    lc_http_request *request; /* Until it is answered. */
    lc_arena arena;
    lc_identity who;
    lc_mcp_listener *listener;
    lc_mcp_session *session;         /* Owner of the listener; NULL = this stream owns it. */
    loci_subscription *subscription; /* NULL without an engine. */
    int wake_fd;                     /* Of the subscription, or our own. */
    lc_token_ticket ticket;
    bool has_ticket;
    char trace_id[LC_HTTP_TRACE_ID_BYTES_MAX + 1]; /* Of the request that opened it. */
    bool must_read; /* The log may have grown since it was read last. */
    bool has_begun;
    lc_buf page; /* Lent. */
    lc_buf message;
    pthread_mutex_t lock;
    read_state state; /* Under the lock, like the next. */
    bool is_closed;   /* While it was being read: the thread frees it. */
} notice_stream;

static void free_stream(notice_stream *s)
{
    lc_heap *heap = &s->mcp->env->heap;

    if (s->session != NULL)
        lc_mcp_session_release(s->session);
    else
        lc_mcp_listener_free(s->listener);
    if (s->subscription != NULL)
        loci_subscription_close(s->subscription);
    else if (s->wake_fd >= 0)
        (void)close(s->wake_fd);
    lc_buf_clear(&s->page);
    lc_buf_clear(&s->message);
    lc_arena_clear(&s->arena);
    (void)pthread_mutex_destroy(&s->lock);
    lc_heap_free(heap, s, sizeof *s, LOCI_MEM_REQUESTS);
}

/* ---- Events ---------------------------------------------------------------------------------- */

/* Passes new events of the log to the listener; false if the subscription is broken. */
static bool read_events(notice_stream *s, bool *out_has_more)
{
    *out_has_more = true;
    for (int i = 0; i < READ_EVENTS_MAX; i++) {
        loci_answer *answer = NULL;
        loci_str type = LC_STR_NONE;
        loci_error err;
        int64_t seq;
        int lagged = 0;

        if (loci_subscription_next(s->subscription, &answer, &lagged, &err) != LOCI_OK) {
            lc_log_write(&s->mcp->env->log, LOCI_LOG_WARN, "mcp.broken",
                         LC_LOG_TEXT("trace_id", s->trace_id), LC_LOG_TEXT("why", err.message));
            return false;
        }
        if (lagged != 0)
            lc_mcp_listener_note(s->listener, LC_STR_NONE);
        if (answer == NULL) {
            *out_has_more = false;
            return true;
        }
        if (lc_sse_peek(loci_answer_json(answer), &seq, &type))
            lc_mcp_listener_note(s->listener, type);
        loci_answer_free(answer);
    }
    return true;
}

/* lc_store_task.run: reads the log and wakes the stream. */
static loci_status read_log(lc_store_task *task, const loci_error *failure, loci_error *err)
{
    notice_stream *s = (notice_stream *)task;
    bool has_more = false;
    bool is_good = failure == NULL && read_events(s, &has_more);
    bool is_closed;

    (void)err; /* Another stream may find the store again. */
    (void)pthread_mutex_lock(&s->lock);
    s->state = is_good ? READ_DONE : READ_BROKEN;
    is_closed = s->is_closed;
    if (!is_closed) /* Once for the events read, and once more for the rest. */
        (void)eventfd_write(s->wake_fd, has_more ? 2 : 1);
    (void)pthread_mutex_unlock(&s->lock);
    if (is_closed)
        free_stream(s);
    return LOCI_OK;
}

/* ---- The stream ------------------------------------------------------------------------------ */

static void add_message(notice_stream *s)
{
    if (lc_buf_status(&s->message, NULL) == LOCI_OK)
        lc_sse_message_add(&s->page, &(lc_sse_message){.type = LC_STR("message"),
                                                       .data = lc_buf_str(&s->message)});
    lc_buf_reset(&s->message);
}

/* Writes the notices that are due. */
static void write_notices(notice_stream *s)
{
    /* A client that opens a second stream gets its notices there. */
    if (s->session != NULL && !lc_mcp_listener_tells(s->listener, s))
        return;
    while (s->page.len < PAGE_BYTES_MAX && lc_mcp_listener_next(s->listener, &s->message))
        add_message(s);
}

/* Lets the event thread read the log if there may be something; false when that failed before. */
static bool move_on(notice_stream *s)
{
    eventfd_t wakes = 0;
    read_state state;

    (void)pthread_mutex_lock(&s->lock);
    (void)eventfd_read(s->wake_fd, &wakes); /* EAGAIN: 0. */
    state = s->state;
    if (state == READ_DONE || state == READ_BROKEN)
        wakes--; /* The thread's own. */
    if (state != READ_BUSY)
        s->state = READ_IDLE;
    (void)pthread_mutex_unlock(&s->lock);
    s->must_read |= wakes > 0;
    if (state == READ_BROKEN)
        return false;
    if (state != READ_BUSY && s->must_read && s->subscription != NULL) {
        s->must_read = false;
        s->state = READ_BUSY; /* The thread does not have it yet. */
        lc_store_thread_add(s->mcp->event_thread, &s->task);
    }
    return true;
}

static bool must_end(notice_stream *s)
{
    return (s->mcp->is_draining != NULL &&
            atomic_load_explicit(s->mcp->is_draining, memory_order_acquire)) ||
           atomic_load(&s->ticket.ended) != LC_TOKEN_VALID ||
           (s->session != NULL && lc_mcp_session_has_ended(s->session));
}

static bool pull(void *ctx, loci_str *out, bool is_heartbeat)
{
    notice_stream *s = ctx;
    bool goes_on = true;

    lc_buf_reset(&s->page);
    if (must_end(s) || !move_on(s)) {
        if (s->session == NULL) {
            lc_mcp_listener_write_end(s->listener, &s->message);
            add_message(s);
        }
        goes_on = false;
    } else {
        write_notices(s);
    }
    *out = lc_buf_str(&s->page);
    if (goes_on && is_heartbeat && out->len == 0)
        *out = lc_mcp_heartbeat;
    return goes_on;
}

/* The stream begins with its first message, or with a comment: clients wait for the head. */
static bool pull_first(void *ctx, loci_str *out, bool is_heartbeat)
{
    notice_stream *s = ctx;

    if (s->has_begun)
        return pull(ctx, out, is_heartbeat);
    s->has_begun = true;
    *out = s->page.len > 0 ? lc_buf_str(&s->page) : lc_mcp_heartbeat;
    return true;
}

static void close_stream(void *ctx)
{
    notice_stream *s = ctx;
    bool is_busy;

    if (s->has_ticket)
        lc_store_thread_forget(s->mcp->token_thread, &s->ticket);
    lc_mcp_listener_forget(s->listener, s);
    (void)pthread_mutex_lock(&s->lock);
    is_busy = s->state == READ_BUSY;
    s->is_closed = true;
    (void)pthread_mutex_unlock(&s->lock);
    if (!is_busy)
        free_stream(s);
}

/* Called under the dispatcher's lock. */
static void wake(void *ctx)
{
    const notice_stream *s = ctx;

    (void)eventfd_write(s->wake_fd, 1);
}

/* ---- Opening --------------------------------------------------------------------------------- */

static void answer_stream(notice_stream *s)
{
    lc_http_request *request = s->request;

    if (lc_id_is(loci_str_of(s->who.token_id), "tok") && s->mcp->token_thread != NULL) {
        s->has_ticket = true;
        s->ticket.expires_at = s->who.expires_at;
        s->ticket.wake_fd = s->wake_fd;
        memcpy(s->ticket.token_id.text, s->who.token_id, strlen(s->who.token_id));
        lc_store_thread_watch(s->mcp->token_thread, &s->ticket);
    }
    lc_mcp_listener_on_change(s->listener, wake, s);
    s->request = NULL;
    lc_http_answer_stream(request, &(lc_http_stream){.content_type = "text/event-stream",
                                                     .pull = pull_first,
                                                     .close = close_stream,
                                                     .ctx = s,
                                                     .heartbeat_ms = HEARTBEAT_MS,
                                                     .wake_fd = s->wake_fd});
}

static void refuse(notice_stream *s, const loci_error *err)
{
    lc_http_request *request = s->request;

    free_stream(s);
    lc_reply_error(request, err);
}

/* lc_store_task.run: opening a subscription reads the store. */
static loci_status subscribe(lc_store_task *task, const loci_error *failure, loci_error *err)
{
    notice_stream *s = (notice_stream *)task;
    loci_subscribe_options options = LOCI_SUBSCRIBE_OPTIONS_INIT;

    (void)err;
    options.principal = &s->who.principal;
    /* The user that a token is bound to, or the one that operations act for by default. */
    if (s->who.principal.user != NULL && s->who.principal.user[0] != '\0')
        options.user_id = s->who.principal.user;
    if (failure != NULL) {
        refuse(s, failure);
    } else if (loci_subscribe(s->mcp->engine, &options, &s->subscription, err) != LOCI_OK) {
        refuse(s, err);
    } else {
        s->wake_fd = loci_subscription_fd(s->subscription);
        s->task.run = read_log;
        answer_stream(s);
    }
    return LOCI_OK;
}

void lc_mcp_notices_open(const lc_mcp_notices *notices)
{
    lc_heap *heap = &notices->mcp->env->heap;
    notice_stream *s = lc_heap_zalloc(heap, sizeof *s, LOCI_MEM_REQUESTS);
    loci_error err;
    loci_status status = LOCI_OK;

    if (s == NULL) {
        if (notices->session != NULL)
            lc_mcp_session_release(notices->session);
        else
            lc_mcp_listener_free(notices->listener);
        (void)lc_fail_memory(&err);
        lc_reply_error(notices->request, &err);
        return;
    }
    s->mcp = notices->mcp;
    s->request = notices->request;
    memcpy(s->trace_id, lc_http_trace_id(s->request), strlen(lc_http_trace_id(s->request)));
    s->session = notices->session;
    s->listener = s->session != NULL ? lc_mcp_session_listener(s->session) : notices->listener;
    s->wake_fd = -1;
    s->task.run = subscribe;
    (void)pthread_mutex_init(&s->lock, NULL); /* Cannot fail on Linux. */
    lc_arena_init(&s->arena, heap, LOCI_MEM_REQUESTS);
    lc_buf_init(&s->page, heap, LOCI_MEM_REQUESTS, TEXT_BYTES_MAX);
    lc_buf_init(&s->message, heap, LOCI_MEM_REQUESTS, TEXT_BYTES_MAX);
    lc_buf_append(&s->message, notices->first);
    if (notices->first.len > 0)
        add_message(s);
    if (!lc_mcp_identity_keep(&s->arena, notices->who, &s->who) ||
        (notices->first.len > 0 && s->page.len == 0))
        status = lc_fail_memory(&err);
    /* The older generation may subscribe to resources later. */
    if (status == LOCI_OK && s->mcp->engine != NULL &&
        (s->session != NULL || lc_mcp_listener_wants_events(s->listener))) {
        lc_store_thread_add(s->mcp->event_thread, &s->task);
        return;
    }
    if (status == LOCI_OK) {
        s->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        if (s->wake_fd < 0)
            status = lc_fail(&err, LOCI_ERESOURCE, "too many descriptors are open");
    }
    if (status == LOCI_OK)
        answer_stream(s);
    else
        refuse(s, &err);
}
