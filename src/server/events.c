/* events.c - GET /v1/events as a stream of server-sent events.
 *
 * A stream is a subscription of the engine, whose descriptor wakes the connection. The loop never
 * reads the log: a pull hands the stream to the event thread, which reads and formats a bounded
 * page (event_page.h), or finds the one that another stream has, and wakes the connection again.
 *
 *     idle --pull--> filling --thread--> filled or broken --pull: sends it--> idle
 *
 * So a reader with a long backlog does not delay the others. Nothing else is queued: a slow reader
 * of one user's stream falls behind and reads on from the event log. A stream of all users skips
 * events instead and sends `reset`, which means: read the state again. A stream ends with its
 * token: the last message is `end` with the reason (store_thread.h).
 */
#include "server/events.h"

#include <pthread.h>
#include <string.h>
#include <sys/eventfd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "server/event_page.h"
#include "server/http_guard.h"
#include "server/parts.h"

#define TYPES_MAX 64
#define TYPE_BYTES_MAX 64
#define HEARTBEAT_MS_MIN 100
#define HEARTBEAT_MS_MAX 300000
#define PAGE_BYTES_MAX (5u * 1024 * 1024) /* Fits the largest event as text. */

/* ---- Server-sent events: the text format ----------------------------------------------------- */

/* A message is its lines and an empty line: "id: 7\nevent: fact.written\ndata: {…}\n\n". Part of it
 * is text of users, so a line break is never copied into a field. */

static bool is_break(char c)
{
    return c == '\n' || c == '\r' || c == '\0';
}

/* Appends the text as one line. */
static void add_line(lc_buf *out, loci_str text)
{
    for (size_t i = 0; i < text.len; i++) {
        if (!is_break(text.ptr[i]))
            lc_buf_append_byte(out, text.ptr[i]);
    }
    lc_buf_append_byte(out, '\n');
}

void lc_sse_message_add(lc_buf *out, const lc_sse_message *message)
{
    loci_str data = message->data;
    size_t begin = 0;

    if (message->id != 0)
        lc_buf_append_format(out, "id: %lld\n", (long long)message->id);
    lc_buf_append(out, LC_STR("event: "));
    add_line(out, message->type);
    /* Runs without a line break are copied whole: data is large and nearly always one run. */
    lc_buf_append(out, LC_STR("data: "));
    for (size_t i = 0; i < data.len; i++) {
        if (!is_break(data.ptr[i]))
            continue;
        lc_buf_append(out, (loci_str){data.ptr + begin, i - begin});
        lc_buf_append(out, LC_STR("\ndata: "));
        begin = i + 1;
    }
    lc_buf_append(out, (loci_str){data.ptr + begin, data.len - begin});
    lc_buf_append(out, LC_STR("\n\n"));
}

/* ---- Parsing -------------------------------------------------------------------------------- */

/* Removes a JSON string from the front; without its quotes, with its escapes. */
static bool take_string(loci_str *rest, loci_str *out)
{
    size_t i = 1;

    if (rest->len == 0 || rest->ptr[0] != '"')
        return false;
    while (i < rest->len && rest->ptr[i] != '"')
        i += rest->ptr[i] == '\\' ? 2 : 1;
    if (i >= rest->len)
        return false;
    *out = (loci_str){rest->ptr + 1, i - 1};
    *rest = (loci_str){rest->ptr + i + 1, rest->len - i - 1};
    return true;
}

/* Removes a number, true, false or null. */
static bool take_word(loci_str *rest, loci_str *out)
{
    size_t i = 0;

    while (i < rest->len && rest->ptr[i] != ',' && rest->ptr[i] != '}')
        i++;
    *out = (loci_str){rest->ptr, i};
    *rest = (loci_str){rest->ptr + i, rest->len - i};
    return i > 0;
}

static bool take_byte(loci_str *rest, char byte)
{
    if (rest->len == 0 || rest->ptr[0] != byte)
        return false;
    *rest = (loci_str){rest->ptr + 1, rest->len - 1};
    return true;
}

bool lc_sse_peek(loci_str event, int64_t *out_seq, loci_str *out_type)
{
    loci_str rest = event, name, value;
    bool has_seq = false, has_type = false;

    if (!take_byte(&rest, '{'))
        return false;
    while (!has_seq || !has_type) {
        bool is_string;

        if (!take_string(&rest, &name) || !take_byte(&rest, ':'))
            return false;
        is_string = rest.len > 0 && rest.ptr[0] == '"';
        if (!(is_string ? take_string(&rest, &value) : take_word(&rest, &value)))
            return false;
        if (lc_str_is(name, "seq"))
            has_seq = lc_str_to_i64(value, out_seq);
        if (lc_str_is(name, "type") && is_string) {
            *out_type = value;
            has_type = true;
        }
        if ((!has_seq || !has_type) && !take_byte(&rest, ','))
            return false;
    }
    return true;
}

bool lc_sse_is_type_list(loci_str text)
{
    loci_str rest = text;
    size_t count = 0;

    if (text.ptr == NULL)
        return false;
    while (rest.ptr != NULL) {
        loci_str type = lc_str_trim(lc_str_split(rest, ',', &rest));

        if (type.len == 0 || type.len > TYPE_BYTES_MAX || ++count > TYPES_MAX)
            return false;
        for (size_t i = 0; i < type.len; i++) {
            char c = type.ptr[i];

            if (!(c >= 'a' && c <= 'z') && !(c >= '0' && c <= '9') && c != '.' && c != '_' &&
                c != '-')
                return false;
        }
    }
    return true;
}

/* ---- The request ----------------------------------------------------------------------------- */

/* The query; texts live in the request's arena. */
typedef struct stream_query {
    loci_str user_id; /* ptr NULL when absent, like the rest. */
    loci_str types;
    loci_str session_id;
    loci_str after;
    loci_str heartbeat;
    loci_str stream;   /* Only read by server.c. */
    int64_t after_seq; /* -1 = new events only. */
    int64_t heartbeat_ms;
    bool is_of_all;  /* Users. */
    bool is_resumed; /* The client was connected before. */
} stream_query;

static loci_status read_param(stream_query *q, loci_str name, loci_str value, loci_error *err)
{
    const struct {
        const char *name;
        loci_str *place;
    } known[] = {
        {"user_id", &q->user_id},        {"types", &q->types},
        {"session_id", &q->session_id},  {"after_seq", &q->after},
        {"heartbeat_ms", &q->heartbeat}, {"stream", &q->stream},
    };

    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (!lc_str_is(name, known[i].name))
            continue;
        if (known[i].place->ptr != NULL)
            return lc_fail(err, LOCI_EINVAL, "%s is given twice", known[i].name);
        *known[i].place = value.ptr != NULL ? value : LC_STR("");
        return LOCI_OK;
    }
    return lc_fail(err, LOCI_EINVAL,
                   "unknown parameter %.*s; a stream of events takes user_id, session_id, types, "
                   "after_seq and heartbeat_ms",
                   name.len > 40 ? 40 : (int)name.len, name.ptr);
}

static loci_status parse_number(const char *name, loci_str text, int64_t *out, loci_error *err)
{
    if (!lc_str_to_i64(text, out) || *out < 0)
        return lc_fail(err, LOCI_EINVAL, "%s: expected an integer of at least 0", name);
    return LOCI_OK;
}

loci_status lc_sse_parse_heartbeat(loci_str text, int64_t *out_ms, loci_error *err)
{
    int64_t ms = LC_SSE_HEARTBEAT_MS;
    loci_status status = text.ptr != NULL ? parse_number("heartbeat_ms", text, &ms, err) : LOCI_OK;

    if (status == LOCI_OK && (ms < HEARTBEAT_MS_MIN || ms > HEARTBEAT_MS_MAX))
        status = lc_fail(err, LOCI_EINVAL, "heartbeat_ms: expected %d to %d", HEARTBEAT_MS_MIN,
                         HEARTBEAT_MS_MAX);
    if (status == LOCI_OK)
        *out_ms = ms;
    return status;
}

static loci_status parse_numbers(stream_query *q, loci_str last_event_id, loci_error *err)
{
    loci_status status = LOCI_OK;

    q->after_seq = -1;
    if (q->after.ptr != NULL)
        status = parse_number("after_seq", q->after, &q->after_seq, err);
    /* An EventSource that has not seen an id sends no header; some other clients send an empty
     * one. */
    if (status == LOCI_OK && last_event_id.ptr != NULL && last_event_id.len > 0) {
        status = parse_number("Last-Event-ID", last_event_id, &q->after_seq, err);
        q->is_resumed = true;
    }
    if (status == LOCI_OK)
        status = lc_sse_parse_heartbeat(q->heartbeat, &q->heartbeat_ms, err);
    return status;
}

static loci_status check_id(const char *name, loci_str id, loci_error *err)
{
    if (id.ptr == NULL)
        return LOCI_OK;
    if (id.len == 0 || id.len > LC_ID_BYTES_MAX)
        return lc_fail(err, LOCI_EINVAL, "%s: expected 1 to %d bytes", name, LC_ID_BYTES_MAX);
    for (size_t i = 0; i < id.len; i++) {
        if ((unsigned char)id.ptr[i] < 0x20 || id.ptr[i] == 0x7f)
            return lc_fail(err, LOCI_EINVAL, "%s: control characters are not allowed", name);
    }
    return LOCI_OK;
}

static loci_status read_query(lc_http_request *request, const lc_identity *who, stream_query *out,
                              loci_error *err)
{
    bool is_bound_to_user = who->principal.user != NULL && who->principal.user[0] != '\0';
    loci_status status = LOCI_OK;
    loci_str name, value;
    stream_query q = {0};

    for (size_t i = 0; status == LOCI_OK && lc_http_query_at(request, i, &name, &value); i++)
        status = read_param(&q, name, value, err);
    if (status == LOCI_OK)
        status = parse_numbers(&q, lc_http_header(request, "Last-Event-ID"), err);
    if (status == LOCI_OK)
        status = check_id("user_id", q.user_id, err);
    if (status == LOCI_OK)
        status = check_id("session_id", q.session_id, err);
    if (status == LOCI_OK && q.types.ptr != NULL && !lc_sse_is_type_list(q.types))
        status = lc_fail(err, LOCI_EINVAL,
                         "types: expected names such as fact.written, separated by commas");
    /* A session without a user is one of the user "default", as in calls. */
    q.is_of_all = q.user_id.ptr == NULL && !is_bound_to_user && q.session_id.ptr == NULL;
    if (status == LOCI_OK && q.is_of_all && q.after.ptr != NULL)
        status = lc_fail(err, LOCI_EINVAL,
                         "after_seq: a stream of all users cannot be resumed; pass user_id");
    if (status == LOCI_OK)
        *out = q;
    return status;
}

/* ---- The stream ------------------------------------------------------------------------------ */

typedef enum fill_state { FILL_IDLE, FILL_BUSY, FILL_DONE, FILL_BROKEN } fill_state;

typedef struct event_stream {
    lc_store_task task; /* First: the thread knows the stream by it. */
    lc_server *server;
    loci_subscription *subscription;
    lc_token_ticket ticket;
    bool has_ticket;                               /* It was opened with a token. */
    char trace_id[LC_HTTP_TRACE_ID_BYTES_MAX + 1]; /* Of the request that opened it. */
    bool is_of_all;
    bool has_begun;
    bool must_reset; /* Before anything else. */
    bool must_fill;  /* The log may have grown since it was read last. */
    int64_t heartbeat_us;
    int64_t written_us; /* When something was written last, monotonic. */
    pthread_mutex_t lock;
    fill_state state;    /* Under the lock, like the next. */
    bool is_closed;      /* While it was being filled: the thread frees it. */
    lc_event_page *page; /* Of the thread while it is busy, else of the loop; or NULL. */
} event_stream;

const loci_str lc_sse_retry = LC_STR("retry: 1000\n\n");
const loci_str lc_sse_heartbeat = LC_STR(": hb\n\n");
static const loci_str reset_text = LC_STR(
    "event: reset\ndata: {\"reason\":\"events were missed; read the state again\"}\n\n");

loci_str lc_sse_token_end(lc_token_end end)
{
    return end == LC_TOKEN_WAS_REVOKED
               ? LC_STR("event: end\ndata: {\"reason\":\"token_revoked\"}\n\n")
               : LC_STR("event: end\ndata: {\"reason\":\"token_expired\"}\n\n");
}

/* Writes the events of one read; false when the stream must end. The client reconnects with the
 * last id it saw. `*out_end` is set, and `*out_has_end`, where another
 * stream can go on from here. */
static bool write_events(event_stream *s, lc_buf *out, lc_subscription_place *out_end,
                         bool *out_has_end)
{
    do {
        lc_sse_message message = {0};
        loci_answer *answer = NULL;
        loci_error err;
        int lagged = 0;
        int64_t seq = 0;
        bool is_event;

        if (loci_subscription_next(s->subscription, &answer, &lagged, &err) != LOCI_OK) {
            lc_log_write(&s->server->env->log, LOCI_LOG_WARN, "events.broken",
                         LC_LOG_TEXT("trace_id", s->trace_id), LC_LOG_TEXT("why", err.message));
            return false;
        }
        if (lagged != 0)
            lc_buf_append(out, reset_text);
        *out_has_end = lc_subscription_place_get(s->subscription, out_end);
        if (answer == NULL)
            return true;
        message.data = loci_answer_json(answer);
        is_event = lc_sse_peek(message.data, &seq, &message.type);
        message.id = s->is_of_all ? 0 : seq;
        if (is_event)
            lc_sse_message_add(out, &message);
        loci_answer_free(answer);
        if (!is_event)
            return false;
    } while (!*out_has_end);
    return true;
}

/* Makes the next page, or shares that of another stream. False when the stream must end. */
static bool fill_page(event_stream *s)
{
    lc_event_pages *pages = s->server->event_pages;
    lc_subscription_place begin, end;
    bool has_begin = lc_subscription_place_get(s->subscription, &begin), has_end = false, is_good;
    lc_buf text;

    s->page = has_begin ? lc_event_page_find(pages, &begin) : NULL;
    if (s->page != NULL) {
        lc_subscription_skip(s->subscription, &s->page->end);
        return true;
    }
    lc_buf_init(&text, &s->server->env->heap, LOCI_MEM_REQUESTS, PAGE_BYTES_MAX);
    is_good = write_events(s, &text, &end, &has_end);
    if (!is_good && s->is_of_all)
        lc_buf_append(&text, reset_text);
    /* After a restore the subscription has moved to another log. */
    has_end &= has_begin && is_good && begin.restore_mark == end.restore_mark;
    if (lc_buf_status(&text, NULL) == LOCI_OK)
        s->page = lc_event_page_new(pages, lc_buf_str(&text), &begin, has_end ? &end : NULL);
    lc_buf_clear(&text);
    return is_good && s->page != NULL;
}

static void release_page(event_stream *s)
{
    lc_event_page_release(s->server->event_pages, s->page);
    s->page = NULL;
}

static void free_stream(event_stream *s)
{
    loci_subscription_close(s->subscription);
    release_page(s);
    (void)pthread_mutex_destroy(&s->lock);
    lc_heap_free(&s->server->env->heap, s, sizeof *s, LOCI_MEM_REQUESTS);
}

/* lc_store_task.run: makes a page and wakes the stream. */
static loci_status fill(lc_store_task *task, const loci_error *failure, loci_error *err)
{
    event_stream *s = (event_stream *)task;
    bool is_good = failure == NULL && fill_page(s), is_closed;

    (void)err; /* Another stream may find the store again. */
    (void)pthread_mutex_lock(&s->lock);
    s->state = is_good ? FILL_DONE : FILL_BROKEN;
    is_closed = s->is_closed;
    if (!is_closed) /* Fails only when full: it is readable. */
        (void)eventfd_write(loci_subscription_fd(s->subscription), 1);
    (void)pthread_mutex_unlock(&s->lock);
    if (is_closed)
        free_stream(s);
    return LOCI_OK;
}

/* Lends the page that the thread has made, or lets it make one. False when the stream must end. */
static bool move_on(event_stream *s, loci_str *out)
{
    eventfd_t wakes = 0;
    fill_state state;

    (void)pthread_mutex_lock(&s->lock);
    state = s->state;
    (void)eventfd_read(loci_subscription_fd(s->subscription), &wakes); /* EAGAIN: 0. */
    if (state == FILL_DONE || state == FILL_BROKEN)
        wakes--; /* The thread's own. */
    if (state == FILL_IDLE)
        release_page(s); /* It was sent. */
    if (state != FILL_BUSY)
        s->state = FILL_IDLE;
    (void)pthread_mutex_unlock(&s->lock);
    s->must_fill |= wakes > 0;
    if (state == FILL_BUSY)
        return true;
    if (s->page != NULL)
        *out = s->page->text;
    if (state == FILL_BROKEN)
        return false;
    if (out->len == 0 && s->must_fill) {
        release_page(s); /* It was empty. */
        s->must_fill = false;
        s->state = FILL_BUSY; /* The thread does not have it yet. */
        lc_store_thread_add(s->server->event_thread, &s->task);
    }
    return true;
}

static bool pull(void *ctx, loci_str *out, bool is_heartbeat)
{
    event_stream *s = ctx;
    lc_token_end end = atomic_load(&s->ticket.ended);
    int64_t now_us = lc_clock_monotonic_us();
    bool goes_on = true;

    if (atomic_load_explicit(&s->server->is_draining, memory_order_acquire))
        return false;
    if (end != LC_TOKEN_VALID) {
        *out = lc_sse_token_end(end);
        return false;
    }
    if (!s->has_begun) {
        s->has_begun = true;
        *out = lc_sse_retry;
    } else if (s->must_reset) {
        s->must_reset = false;
        *out = reset_text;
    } else {
        goes_on = move_on(s, out);
    }
    if (goes_on && is_heartbeat && out->len == 0 && now_us - s->written_us >= s->heartbeat_us / 2)
        *out = lc_sse_heartbeat;
    if (out->len > 0)
        s->written_us = now_us;
    return goes_on;
}

static void close_stream(void *ctx)
{
    event_stream *s = ctx;
    bool is_busy;

    if (s->has_ticket)
        lc_store_thread_forget(s->server->token_thread, &s->ticket);
    (void)pthread_mutex_lock(&s->lock);
    is_busy = s->state == FILL_BUSY;
    s->is_closed = true;
    (void)pthread_mutex_unlock(&s->lock);
    if (!is_busy)
        free_stream(s);
}

static loci_status make_options(lc_arena *arena, const lc_identity *who, const stream_query *q,
                                loci_subscribe_options *out, loci_error *err)
{
    loci_subscribe_options options = LOCI_SUBSCRIBE_OPTIONS_INIT;

    options.principal = &who->principal;
    options.flags = (q->is_of_all ? LOCI_SUBSCRIBE_ALL_USERS : 0) |
                    (q->is_resumed ? LOCI_SUBSCRIBE_RESUMED : 0);
    options.after_seq = q->is_of_all ? -1 : q->after_seq;
    if (q->user_id.ptr != NULL) {
        options.user_id = lc_arena_copy(arena, q->user_id).ptr;
        if (options.user_id == NULL)
            return lc_fail_memory(err);
    }
    if (q->session_id.ptr != NULL) {
        options.session_id = lc_arena_copy(arena, q->session_id).ptr;
        if (options.session_id == NULL)
            return lc_fail_memory(err);
    }
    if (q->types.ptr != NULL) {
        options.types = lc_arena_copy(arena, q->types).ptr;
        if (options.types == NULL)
            return lc_fail_memory(err);
    }
    *out = options;
    return LOCI_OK;
}

void lc_events_handle(lc_server *server, lc_http_request *request, const lc_identity *who)
{
    loci_subscription *subscription = NULL;
    loci_subscribe_options options;
    event_stream *s = NULL;
    stream_query q = {0};
    loci_error err;
    loci_status status = lc_auth_need(who, LC_SCOPE_READ, &err);

    if (status == LOCI_OK)
        status = read_query(request, who, &q, &err);
    if (status == LOCI_OK)
        status = make_options(lc_http_arena(request), who, &q, &options, &err);
    if (status == LOCI_OK)
        status = loci_subscribe(server->engine, &options, &subscription, &err);
    if (status == LOCI_OK) {
        s = lc_heap_zalloc(&server->env->heap, sizeof *s, LOCI_MEM_REQUESTS);
        if (s == NULL)
            status = lc_fail_memory(&err);
    }
    if (status != LOCI_OK) {
        loci_subscription_close(subscription);
        lc_reply_error(request, &err);
        return;
    }
    *s = (event_stream){.task = {.run = fill},
                        .server = server,
                        .subscription = subscription,
                        .is_of_all = q.is_of_all,
                        .heartbeat_us = q.heartbeat_ms * 1000,
                        .must_reset = q.is_of_all && q.is_resumed};
    (void)pthread_mutex_init(&s->lock, NULL); /* Cannot fail on Linux. */
    memcpy(s->trace_id, lc_http_trace_id(request), strlen(lc_http_trace_id(request)));
    if (lc_id_is(loci_str_of(who->token_id), "tok")) {
        s->has_ticket = true;
        s->ticket.expires_at = who->expires_at;
        s->ticket.wake_fd = loci_subscription_fd(subscription);
        memcpy(s->ticket.token_id.text, who->token_id, strlen(who->token_id));
        lc_store_thread_watch(server->token_thread, &s->ticket);
    }
    lc_http_answer_stream(request,
                          &(lc_http_stream){.content_type = "text/event-stream",
                                            .pull = pull,
                                            .close = close_stream,
                                            .ctx = s,
                                            .heartbeat_ms = q.heartbeat_ms,
                                            .wake_fd = loci_subscription_fd(subscription)});
}
