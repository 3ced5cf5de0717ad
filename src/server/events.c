/* events.c - GET /v1/events as a stream.
 *
 * A stream is a subscription of the engine: its descriptor wakes the connection, and each pull
 * takes a bounded batch, so that one reader with a long way to catch up does not hold up the
 * others. Nothing is queued here. A reader that is slow only falls behind in the log, from which it
 * is served when it reads on; a stream of all users skips instead, and says `reset`: read the state
 * again.
 */
#include "server/parts.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "server/served.h"
#include "server/sse.h"

#define RETRY_MS 1000
#define HEARTBEAT_MS 15000
#define HEARTBEAT_MS_MIN 100
#define HEARTBEAT_MS_MAX 300000
#define PULL_EVENTS_MAX 64
#define PULL_BYTES_MAX (64u * 1024)

/* What was asked for; texts live in the request's arena. */
typedef struct wish {
    loci_str user_id; /* ptr NULL = not said. */
    loci_str types;
    loci_str after;
    loci_str heartbeat;
    loci_str stream;   /* How it was asked for, when not by Accept. */
    int64_t after_seq; /* -1 = only what is new. */
    int64_t heartbeat_ms;
    bool is_of_all;
    bool is_resumed; /* The client was connected before. */
} wish;

typedef struct stream {
    lc_server *server;
    loci_subscription *subscription;
    bool is_of_all;
    bool has_begun;
    bool must_reset; /* Say so before anything else. */
    int64_t heartbeat_us;
    int64_t said_us; /* When something was said last, monotonic. */
} stream;

/* ---- What is asked for
 * --------------------------------------------------------------------------- */

static loci_status keep(wish *w, loci_str name, loci_str value, loci_error *err)
{
    const struct {
        const char *name;
        loci_str *place;
    } known[] = {
        {"user_id", &w->user_id},        {"types", &w->types},   {"after", &w->after},
        {"heartbeat_ms", &w->heartbeat}, {"stream", &w->stream},
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
                   "a stream of events does not take %.*s; it takes user_id, types, after and "
                   "heartbeat_ms",
                   name.len > 40 ? 40 : (int)name.len, name.ptr);
}

static loci_status parse_number(const char *name, loci_str text, int64_t *out, loci_error *err)
{
    if (!lc_str_to_i64(text, out) || *out < 0)
        return lc_fail(err, LOCI_EINVAL, "%s: expected a whole number from 0 on", name);
    return LOCI_OK;
}

static loci_status parse_numbers(wish *w, loci_str last_event_id, loci_error *err)
{
    loci_status status = LOCI_OK;

    w->after_seq = -1;
    w->heartbeat_ms = HEARTBEAT_MS;
    if (w->after.ptr != NULL)
        status = parse_number("after", w->after, &w->after_seq, err);
    /* An EventSource that never saw an id sends none; some others send an empty one. */
    if (status == LOCI_OK && last_event_id.ptr != NULL && last_event_id.len > 0) {
        status = parse_number("Last-Event-ID", last_event_id, &w->after_seq, err);
        w->is_resumed = true;
    }
    if (status == LOCI_OK && w->heartbeat.ptr != NULL) {
        status = parse_number("heartbeat_ms", w->heartbeat, &w->heartbeat_ms, err);
        if (status == LOCI_OK &&
            (w->heartbeat_ms < HEARTBEAT_MS_MIN || w->heartbeat_ms > HEARTBEAT_MS_MAX))
            status = lc_fail(err, LOCI_EINVAL, "heartbeat_ms: expected %d to %d", HEARTBEAT_MS_MIN,
                             HEARTBEAT_MS_MAX);
    }
    return status;
}

static loci_status check_user(loci_str user_id, loci_error *err)
{
    if (user_id.len == 0 || user_id.len > LC_ID_BYTES_MAX)
        return lc_fail(err, LOCI_EINVAL, "user_id: expected 1 to %d bytes", LC_ID_BYTES_MAX);
    for (size_t i = 0; i < user_id.len; i++) {
        if ((unsigned char)user_id.ptr[i] < 0x20 || user_id.ptr[i] == 0x7f)
            return lc_fail(err, LOCI_EINVAL, "user_id: no control characters");
    }
    return LOCI_OK;
}

static bool is_narrowed(const lc_identity *who)
{
    return who->principal.user != NULL && who->principal.user[0] != '\0';
}

static loci_status read_wish(lc_http_request *request, const lc_identity *who, wish *out,
                             loci_error *err)
{
    loci_status status = LOCI_OK;
    loci_str name, value;
    wish w = {0};

    for (size_t i = 0; status == LOCI_OK && lc_http_query_at(request, i, &name, &value); i++)
        status = keep(&w, name, value, err);
    if (status == LOCI_OK)
        status = parse_numbers(&w, lc_http_header(request, "Last-Event-ID"), err);
    if (status == LOCI_OK && w.user_id.ptr != NULL)
        status = check_user(w.user_id, err);
    if (status == LOCI_OK && w.types.ptr != NULL && !lc_sse_is_type_list(w.types))
        status = lc_fail(err, LOCI_EINVAL,
                         "types: expected names such as fact.written, separated by commas");
    w.is_of_all = w.user_id.ptr == NULL && !is_narrowed(who);
    if (status == LOCI_OK && w.is_of_all && w.after.ptr != NULL)
        status = lc_fail(err, LOCI_EINVAL,
                         "after: a stream of all users has no place to go on from; give user_id");
    if (status == LOCI_OK)
        *out = w;
    return status;
}

/* ---- The stream
 * ------------------------------------------------------------------------------------ */

static void say_reset(lc_buf *out)
{
    lc_sse_message_add(out,
                       &(lc_sse_message){.type = LC_STR("reset"),
                                         .data = LC_STR("{\"reason\":\"events were missed; read "
                                                        "the state again\"}")});
}

static bool say_event(const stream *s, loci_str event, lc_buf *out)
{
    lc_sse_message message = {.data = event};
    int64_t seq;

    if (!lc_sse_peek(event, &seq, &message.type))
        return false;
    message.id = s->is_of_all ? 0 : seq;
    lc_sse_message_add(out, &message);
    return true;
}

/* A batch; false when the stream cannot go on. The client comes back with the last id it saw. */
static bool say_events(stream *s, lc_buf *out)
{
    for (int count = 0; count < PULL_EVENTS_MAX && out->len < PULL_BYTES_MAX; count++) {
        loci_answer *answer = NULL;
        loci_error err;
        int lagged = 0;
        bool is_said;

        if (loci_subscription_next(s->subscription, &answer, &lagged, &err) != LOCI_OK) {
            lc_log_write(&s->server->env->log, LOCI_LOG_WARN, "events.broken",
                         LC_LOG_TEXT("why", err.message));
            return false;
        }
        if (lagged != 0)
            say_reset(out);
        if (answer == NULL)
            return true;
        is_said = say_event(s, loci_answer_json(answer), out);
        loci_answer_free(answer);
        if (!is_said)
            return false;
    }
    return true;
}

static bool pull(void *ctx, lc_buf *out, bool is_heartbeat)
{
    stream *s = ctx;
    size_t before = out->len;
    int64_t now_us;

    if (atomic_load_explicit(&s->server->is_draining, memory_order_acquire))
        return false;
    if (!s->has_begun)
        lc_sse_retry(out, RETRY_MS);
    if (s->must_reset)
        say_reset(out);
    s->has_begun = true;
    s->must_reset = false;
    if (!say_events(s, out)) {
        if (s->is_of_all)
            say_reset(out);
        return false;
    }
    now_us = lc_clock_monotonic_us();
    if (is_heartbeat && out->len == before && now_us - s->said_us >= s->heartbeat_us / 2)
        lc_sse_comment(out, "hb");
    if (out->len > before)
        s->said_us = now_us;
    return lc_buf_status(out, NULL) == LOCI_OK;
}

static void end(void *ctx)
{
    stream *s = ctx;

    loci_subscription_close(s->subscription);
    lc_heap_free(&s->server->env->heap, s, sizeof *s, LOCI_MEM_REQUESTS);
}

/* ---- Beginning
 * ------------------------------------------------------------------------------------- */

static const char *terminated(lc_http_request *request, loci_str text)
{
    return text.ptr == NULL ? NULL : lc_arena_copy(lc_http_arena(request), text).ptr;
}

static loci_status subscribe(lc_server *server, lc_http_request *request, const lc_identity *who,
                             const wish *w, loci_subscription **out, loci_error *err)
{
    loci_subscribe_options options = LOCI_SUBSCRIBE_OPTIONS_INIT;

    options.principal = &who->principal;
    options.flags = w->is_of_all ? LOCI_SUBSCRIBE_ALL_USERS : 0;
    options.user_id = terminated(request, w->user_id);
    options.types = terminated(request, w->types);
    options.after_seq = w->is_of_all ? -1 : w->after_seq;
    if ((w->user_id.ptr != NULL && options.user_id == NULL) ||
        (w->types.ptr != NULL && options.types == NULL))
        return lc_fail_memory(err);
    return loci_subscribe(server->engine, &options, out, err);
}

void lc_events_handle(lc_server *server, lc_http_request *request, const lc_identity *who)
{
    loci_subscription *subscription = NULL;
    stream *s = NULL;
    wish w = {0};
    loci_error err;
    loci_status status = lc_auth_need(who, LC_SCOPE_READ, &err);

    if (status == LOCI_OK)
        status = read_wish(request, who, &w, &err);
    if (status == LOCI_OK)
        status = subscribe(server, request, who, &w, &subscription, &err);
    if (status == LOCI_OK) {
        s = lc_heap_zalloc(&server->env->heap, sizeof *s, LOCI_MEM_REQUESTS);
        if (s == NULL)
            status = lc_fail_memory(&err);
    }
    if (status != LOCI_OK) {
        loci_subscription_close(subscription);
        lc_served_fail(request, &err);
        return;
    }
    *s = (stream){.server = server,
                  .subscription = subscription,
                  .is_of_all = w.is_of_all,
                  .heartbeat_us = w.heartbeat_ms * 1000,
                  .must_reset = w.is_of_all && w.is_resumed};
    lc_http_answer_stream(request,
                          &(lc_http_stream){.content_type = "text/event-stream",
                                            .pull = pull,
                                            .close = end,
                                            .ctx = s,
                                            .heartbeat_ms = w.heartbeat_ms,
                                            .wake_fd = loci_subscription_fd(subscription)});
}
