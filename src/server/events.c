/* events.c - GET /v1/events as a stream.
 *
 * A stream is a subscription of the engine: its descriptor wakes the connection, and each pull
 * takes a bounded batch, so that one reader with a long way to catch up does not hold up the
 * others. Nothing is queued here. A reader that is slow only falls behind in the log, from which it
 * is served when it reads on; a stream of all users skips instead, and says `reset`: read the state
 * again.
 */
#include "server/events.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "server/parts.h"

#define TYPES_MAX 64
#define TYPE_BYTES_MAX 64
#define RETRY_MS 1000
#define HEARTBEAT_MS 15000
#define HEARTBEAT_MS_MIN 100
#define HEARTBEAT_MS_MAX 300000
#define PULL_EVENTS_MAX 64
#define PULL_BYTES_MAX (64u * 1024)

/* ---- Server-sent events: the text format ----------------------------------------------------- */

/* A message is its lines and an empty one: "id: 7\nevent: fact.written\ndata: {…}\n\n". Most of it
 * was written by loci itself, but part of it is text of users, so nothing is trusted. */

void lc_sse_retry(lc_buf *out, int64_t ms)
{
    lc_buf_append_format(out, "retry: %lld\n\n", (long long)ms);
}

static bool is_break(char c)
{
    return c == '\n' || c == '\r' || c == '\0';
}

/* One line's worth of text. */
static void add_line(lc_buf *out, loci_str text)
{
    for (size_t i = 0; i < text.len; i++) {
        if (!is_break(text.ptr[i]))
            lc_buf_append_byte(out, text.ptr[i]);
    }
    lc_buf_append_byte(out, '\n');
}

void lc_sse_comment(lc_buf *out, const char *text)
{
    lc_buf_append(out, LC_STR(": "));
    add_line(out, loci_str_of(text));
    lc_buf_append_byte(out, '\n');
}

/* Runs without a break are copied as they are: data is large and nearly always one run. */
static void add_data(lc_buf *out, loci_str data)
{
    size_t begin = 0;

    lc_buf_append(out, LC_STR("data: "));
    for (size_t i = 0; i < data.len; i++) {
        if (!is_break(data.ptr[i]))
            continue;
        lc_buf_append(out, (loci_str){data.ptr + begin, i - begin});
        lc_buf_append(out, LC_STR("\ndata: "));
        begin = i + 1;
    }
    lc_buf_append(out, (loci_str){data.ptr + begin, data.len - begin});
    lc_buf_append_byte(out, '\n');
}

void lc_sse_message_add(lc_buf *out, const lc_sse_message *message)
{
    if (message->id != 0)
        lc_buf_append_format(out, "id: %lld\n", (long long)message->id);
    lc_buf_append(out, LC_STR("event: "));
    add_line(out, message->type);
    add_data(out, message->data);
    lc_buf_append_byte(out, '\n');
}

/* ---- Reading the head of an event ------------------------------------------------------------ */

/* Takes a JSON string off the front; the quotes are not part of it, escapes stay. */
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

/* Takes what is neither a string nor a container: a number or a word. */
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

/* ---- Types ----------------------------------------------------------------------------------- */

static bool is_type(loci_str word)
{
    if (word.len == 0 || word.len > TYPE_BYTES_MAX)
        return false;
    for (size_t i = 0; i < word.len; i++) {
        char c = word.ptr[i];

        if (!(c >= 'a' && c <= 'z') && !(c >= '0' && c <= '9') && c != '.' && c != '_' && c != '-')
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
        if (!is_type(lc_str_trim(lc_str_split(rest, ',', &rest))) || ++count > TYPES_MAX)
            return false;
    }
    return true;
}

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

/* ---- What is asked for ----------------------------------------------------------------------- */

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

/* ---- The stream ------------------------------------------------------------------------------ */

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

/* ---- Beginning ------------------------------------------------------------------------------- */

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
