/* events_remote.c - see events_remote.h.
 *
 *     open --200--> reading --broken, silent, `end` of a daemon that stops--> pause --> open
 *       `--refused: the command fails (the first time, or with 401)
 *
 * The stream of one user misses nothing: it begins after a seq that is known before. A stream of
 * all users cannot be resumed, so a gap is reported. */
#include "cli/events_remote.h"

#include <poll.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/str.h"
#include "cli/operation.h"

#define PAGE_EVENTS 200
#define PATH_BYTES 4096
#define MESSAGE_BYTES_MAX (16u * 1024 * 1024)
#define SILENCE_US (INT64_C(60) * 1000000) /* A daemon sends a sign of life every 15 s. */
#define PAUSE_MS 250                       /* Before the second attempt; doubles, */
#define PAUSE_MS_MAX 8000                  /* up to this. */
#define STEP_MS 1000

/* ---- Pages ----------------------------------------------------------------------------------- */

static bool is_wanted(const lc_remote_events *events, const lc_json *event)
{
    const lc_json *type = lc_json_find(event, "type", LC_JSON_STRING);
    loci_str rest = loci_str_of(events->types);

    if (events->types == NULL || type == NULL)
        return true;
    while (rest.ptr != NULL) {
        if (lc_str_eq(lc_str_trim(lc_str_split(rest, ',', &rest)), lc_json_str(type)))
            return true;
    }
    return false;
}

/* One page of event.list, in the arena. */
static loci_status read_page(const lc_remote_events *events, int64_t after_seq, int64_t limit,
                             const lc_json **out, loci_error *err)
{
    lc_cli *cli = events->link->cli;
    lc_operation operation = {.name = "event.list"};
    lc_json_writer json;
    loci_status status;
    lc_buf args, answer;

    lc_buf_init(&args, cli->heap, LOCI_MEM_REQUESTS, PATH_BYTES);
    lc_buf_init(&answer, cli->heap, LOCI_MEM_REQUESTS, LC_ANSWER_BYTES_MAX);
    lc_jw_init(&json, &args);
    lc_jw_object(&json);
    lc_jw_member_int(&json, "after_seq", after_seq);
    lc_jw_member_int(&json, "limit", limit);
    if (events->session != NULL)
        lc_jw_member_text(&json, "session_id", events->session);
    lc_jw_end(&json);
    operation.args = lc_buf_str(&args);
    status = lc_buf_status(&args, err);
    if (status == LOCI_OK)
        status = lc_operation_call(cli, events->link, &operation, &answer, err);
    if (status == LOCI_OK)
        status = lc_json_parse(cli->arena, lc_arena_copy(cli->arena, lc_buf_str(&answer)),
                               LC_JSON_ALLOW_NUL, out, err);
    lc_buf_clear(&answer);
    lc_buf_clear(&args);
    return status;
}

loci_status lc_remote_events_head(const lc_remote_events *events, int64_t *out, loci_error *err)
{
    lc_arena *arena = events->link->cli->arena;
    lc_arena_mark mark = lc_arena_get_mark(arena);
    const lc_json *page = NULL, *head;
    loci_status status = read_page(events, 0, 1, &page, err);

    head = status == LOCI_OK ? lc_json_find(page, "head_seq", LC_JSON_INT) : NULL;
    *out = head != NULL ? lc_json_int(head) : 0;
    lc_arena_rewind(arena, mark);
    return status;
}

/* Shows a page and moves `*seq` behind it; false if the reader wants no more. */
static bool show_page(const lc_remote_events *events, const lc_json *page, int64_t *seq)
{
    const lc_json *list = lc_json_find(page, "events", LC_JSON_ARRAY);
    bool goes_on = true;
    lc_json_writer w;
    lc_buf text;

    lc_buf_init(&text, events->link->cli->heap, LOCI_MEM_REQUESTS, LC_ANSWER_BYTES_MAX);
    for (const lc_json *event = list != NULL ? lc_json_first(list) : NULL;
         event != NULL && goes_on && !lc_interrupt_is_set(); event = lc_json_next(event)) {
        const lc_json *own = lc_json_find(event, "seq", LC_JSON_INT);

        *seq = own != NULL ? lc_json_int(own) : *seq;
        if (!is_wanted(events, event))
            continue;
        lc_buf_reset(&text);
        lc_jw_init(&w, &text);
        lc_jw_value(&w, event);
        goes_on = events->show(events->ctx, lc_buf_str(&text));
    }
    lc_buf_clear(&text);
    return goes_on;
}

loci_status lc_remote_events_list(const lc_remote_events *events, loci_error *err)
{
    lc_arena *arena = events->link->cli->arena;
    int64_t seq = events->after_seq > 0 ? events->after_seq : 0;
    bool has_more = true;

    while (has_more && !lc_interrupt_is_set()) {
        lc_arena_mark mark = lc_arena_get_mark(arena);
        const lc_json *page = NULL;
        int64_t before = seq;
        loci_status status = read_page(events, seq, PAGE_EVENTS, &page, err);

        if (status != LOCI_OK)
            return status;
        has_more = show_page(events, page, &seq) && seq > before &&
                   lc_json_find(page, "next_cursor", LC_JSON_STRING) != NULL;
        lc_arena_rewind(arena, mark);
    }
    return LOCI_OK;
}

/* ---- The stream ------------------------------------------------------------------------------ */

typedef struct stream {
    const lc_remote_events *events;
    lc_fetch_link *link; /* NULL = not connected. */
    lc_buf text;         /* Received, from `at` on not read yet. */
    size_t at;
    lc_buf data;     /* Of the message that is being read. */
    char type[64];   /* Its type. */
    int64_t seq;     /* Of the last event shown; -1 = unknown. */
    bool has_ended;  /* The reader wants no more. */
    bool omits_user; /* The token is narrowed to a user, who is meant. */
} stream;

static void append_escaped(lc_buf *out, const char *text)
{
    for (; *text != '\0'; text++)
        lc_buf_append_format(out, "%%%02X", (unsigned char)*text);
}

static loci_status open_stream(stream *s, loci_error *err)
{
    const lc_remote_events *events = s->events;
    lc_cli *cli = events->link->cli;
    lc_fetch fetch = {.method = "GET", .accept = "text/event-stream", .is_stream = true};
    loci_status status;
    lc_buf path;

    lc_buf_reset(&s->text);
    lc_buf_reset(&s->data);
    s->at = 0;
    s->type[0] = '\0';
    lc_buf_init(&path, cli->heap, LOCI_MEM_REQUESTS, PATH_BYTES);
    lc_buf_append(&path, LC_STR("/v1/events?stream=1"));
    if (!events->of_all) {
        if (!s->omits_user) {
            lc_buf_append(&path, LC_STR("&user_id="));
            append_escaped(&path, events->user != NULL ? events->user : "default");
        }
        lc_buf_append_format(&path, "&after_seq=%lld", (long long)s->seq);
    }
    if (events->session != NULL) {
        lc_buf_append(&path, LC_STR("&session_id="));
        append_escaped(&path, events->session);
    }
    if (events->types != NULL) {
        lc_buf_append(&path, LC_STR("&types="));
        append_escaped(&path, events->types);
    }
    lc_buf_append_byte(&path, '\0');
    status = lc_buf_status(&path, err);
    fetch.path = path.ptr;
    if (status == LOCI_OK)
        status = lc_fetch_link_open(cli->heap, &events->link->remote->to, MESSAGE_BYTES_MAX,
                                    &s->link, err);
    if (status == LOCI_OK)
        status = lc_fetch_link_send(s->link, &fetch, err);
    lc_buf_clear(&path);
    return status;
}

static void close_stream(stream *s)
{
    lc_fetch_link_close(s->link);
    s->link = NULL;
}

/* A message is complete: shows it if it is an event. */
static void take_message(stream *s)
{
    lc_arena *arena = s->events->link->cli->arena;
    lc_arena_mark mark = lc_arena_get_mark(arena);
    loci_str type = loci_str_of(s->type);
    const lc_json *json = NULL, *seq;

    if (lc_str_is(type, "reset")) {
        lc_cli_note(s->events->link->cli,
                    "loci: some events were skipped here: they arrived too fast");
    } else if (s->data.len > 0 && !lc_str_is(type, "end") &&
               lc_json_parse(arena, lc_buf_str(&s->data), LC_JSON_ALLOW_NUL, &json, NULL) ==
                   LOCI_OK &&
               (seq = lc_json_find(json, "seq", LC_JSON_INT)) != NULL) {
        s->has_ended = !s->events->show(s->events->ctx, lc_buf_str(&s->data));
        s->seq = lc_json_int(seq);
    }
    lc_arena_rewind(arena, mark);
    lc_buf_reset(&s->data);
    s->type[0] = '\0';
}

/* "event: fact.written", "data: {…}", "id: 7", ": a comment", or the empty line after a message. */
static void take_line(stream *s, loci_str line)
{
    loci_str value;
    loci_str field = lc_str_split(line, ':', &value);

    if (line.len == 0) {
        take_message(s);
        return;
    }
    if (value.ptr == NULL || field.len == 0)
        return;
    if (value.len > 0 && value.ptr[0] == ' ')
        value = (loci_str){value.ptr + 1, value.len - 1};
    if (lc_str_is(field, "event"))
        (void)snprintf(s->type, sizeof s->type, "%.*s", LC_STR_ARG(value));
    if (lc_str_is(field, "data")) {
        if (s->data.len > 0)
            lc_buf_append_byte(&s->data, '\n');
        lc_buf_append(&s->data, value);
    }
}

static void take_lines(stream *s)
{
    while (!s->has_ended && !lc_interrupt_is_set()) {
        size_t left = s->text.len - s->at;
        const char *from = s->text.ptr + s->at;
        const char *end = left > 0 ? memchr(from, '\n', left) : NULL;

        if (end == NULL)
            break;
        s->at += (size_t)(end - from) + 1;
        take_line(s, (loci_str){from, (size_t)(end - from)});
    }
    if (s->at > 0) {
        memmove(s->text.ptr, s->text.ptr + s->at, s->text.len - s->at);
        lc_buf_truncate(&s->text, s->text.len - s->at);
        s->at = 0;
    }
}

/* Reads until the stream breaks (LOCI_EUNAVAILABLE), is refused, or need not go on (LOCI_OK). */
static loci_status read_stream(stream *s, bool *out_has_begun, loci_error *err)
{
    lc_cli *cli = s->events->link->cli;
    int64_t heard_us = lc_clock_monotonic_us();
    lc_fetch_answer answer = {0};

    while (!s->has_ended && !lc_interrupt_is_set()) {
        loci_status status = lc_fetch_link_step(s->link, &answer, err);

        bool is_refusal = answer.status != 0 && answer.status != 200;

        if (status == LOCI_OK && is_refusal && answer.is_done)
            return lc_remote_fail(cli->arena, &s->events->link->remote->to, &answer, err);
        if (status != LOCI_OK)
            return status;
        *out_has_begun = *out_has_begun || answer.status == 200;
        if (answer.body.len > 0 && !is_refusal) {
            heard_us = lc_clock_monotonic_us();
            lc_buf_append(&s->text, answer.body);
            status = lc_buf_status(&s->text, err);
            if (status != LOCI_OK)
                return status;
            take_lines(s);
            continue;
        }
        if (answer.is_done || lc_clock_monotonic_us() - heard_us > SILENCE_US)
            return lc_fail(err, LOCI_EUNAVAILABLE, "the stream of events ended");
        if (s->events->rest != NULL && !s->events->rest(s->events->ctx)) {
            s->has_ended = true;
            continue;
        }
        (void)lc_fetch_link_wait(s->link, lc_clock_monotonic_us() + STEP_MS * 1000,
                                 NULL); /* The loop checks for a timeout and for Ctrl-C. */
    }
    return LOCI_OK;
}

static void pause_for(int64_t ms)
{
    struct pollfd waiting = {.fd = lc_interrupt_fd(), .events = POLLIN};

    if (!lc_interrupt_is_set())
        (void)poll(&waiting, 1, (int)ms); /* Ended by Ctrl-C. */
}

static loci_status run(stream *s, loci_error *err)
{
    lc_cli *cli = s->events->link->cli;
    bool has_ever_begun = false;
    int64_t pause_ms = PAUSE_MS;

    for (;;) {
        bool has_begun = false;
        loci_status status = open_stream(s, err);

        if (status == LOCI_OK)
            status = read_stream(s, &has_begun, err);
        close_stream(s);
        if (s->has_ended || lc_interrupt_is_set())
            return LOCI_OK;
        has_ever_begun = has_ever_begun || has_begun;
        /* Calls without a user mean the one that the token is narrowed to; a stream is asked for by
         * name, unless that is refused. */
        if ((status == LOCI_EFORBIDDEN || status == LOCI_ENOTFOUND) && s->events->user == NULL &&
            !s->omits_user) {
            s->omits_user = true;
            continue;
        }
        if (!has_ever_begun || (status != LOCI_EUNAVAILABLE && status != LOCI_EDEADLINE))
            return status;
        if (has_begun) {
            pause_ms = PAUSE_MS;
            lc_cli_note(cli,
                        s->events->of_all
                            ? "loci: the connection to %s was lost; events may be missing here"
                            : "loci: the connection to %s was lost; connecting again",
                        s->events->link->remote->to.url);
        }
        pause_for(pause_ms);
        if (lc_interrupt_is_set())
            return LOCI_OK;
        pause_ms = pause_ms * 2 < PAUSE_MS_MAX ? pause_ms * 2 : PAUSE_MS_MAX;
    }
}

loci_status lc_remote_events_follow(const lc_remote_events *events, loci_error *err)
{
    lc_heap *heap = events->link->cli->heap;
    stream s = {.events = events, .seq = events->after_seq};
    loci_status status = LOCI_OK;

    /* Where "now" is must be known, so that nothing is missed if the stream breaks. */
    if (!events->of_all && s.seq < 0)
        status = lc_remote_events_head(events, &s.seq, err);
    if (status != LOCI_OK)
        return status;
    lc_buf_init(&s.text, heap, LOCI_MEM_REQUESTS, MESSAGE_BYTES_MAX);
    lc_buf_init(&s.data, heap, LOCI_MEM_REQUESTS, MESSAGE_BYTES_MAX);
    status = run(&s, err);
    lc_buf_clear(&s.text);
    lc_buf_clear(&s.data);
    return status;
}
