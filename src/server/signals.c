/* signals.c - GET /v1/signals as a stream of server-sent events: the guard's requests to an agent.
 *
 * Signals are state of the process, so the loop itself takes them from the agent's list
 * (guard/agents.h), one message per pull, and nothing waits. Signals that an agent has not
 * acknowledged are sent again to its next stream. The last message, `end`, has the reason.
 */
#include <string.h>
#include <sys/eventfd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "server/events.h"
#include "server/parts.h"

#define MESSAGE_BYTES_MAX 4096

typedef struct signal_stream {
    lc_server *server;
    lc_agent_stream *signals;
    lc_token_ticket ticket;
    bool has_ticket; /* It was opened with a token. */
    bool has_begun;
    int64_t heartbeat_us;
    int64_t written_us; /* When something was written last, monotonic. */
    lc_buf text;        /* The message that is being sent. */
} signal_stream;

/* Makes the next message; false when the stream must end. */
static bool make_message(signal_stream *s)
{
    eventfd_t wakes;
    const char *why, *name;
    bool is_made;
    uint64_t id;
    lc_buf json;

    lc_buf_reset(&s->text);
    (void)eventfd_read(lc_agent_stream_fd(s->signals), &wakes); /* EAGAIN: 0. */
    why = lc_agent_stream_end(s->signals);
    if (why != NULL) {
        lc_buf_append_format(&s->text, "event: end\ndata: {\"reason\":\"%s\"}\n\n", why);
        return false;
    }
    lc_buf_init(&json, s->text.heap, LOCI_MEM_REQUESTS, MESSAGE_BYTES_MAX);
    if (lc_signals_next(s->signals, &json, &id, &name))
        lc_sse_message_add(&s->text, &(lc_sse_message){.id = (int64_t)id,
                                                       .type = loci_str_of(name),
                                                       .data = lc_buf_str(&json)});
    /* Without memory it ends; signals that need an answer are sent to the next stream. */
    is_made = lc_buf_status(&json, NULL) == LOCI_OK && lc_buf_status(&s->text, NULL) == LOCI_OK;
    lc_buf_clear(&json);
    return is_made;
}

static bool pull(void *ctx, loci_str *out, bool is_heartbeat)
{
    signal_stream *s = ctx;
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
    } else {
        goes_on = make_message(s);
        *out = lc_buf_str(&s->text);
    }
    if (goes_on && is_heartbeat && out->len == 0 && now_us - s->written_us >= s->heartbeat_us / 2)
        *out = lc_sse_heartbeat;
    if (out->len > 0)
        s->written_us = now_us;
    return goes_on;
}

static void close_stream(void *ctx)
{
    signal_stream *s = ctx;

    if (s->has_ticket)
        lc_store_thread_forget(s->server->token_thread, &s->ticket);
    lc_agent_stream_close(s->signals);
    lc_buf_clear(&s->text);
    lc_heap_free(&s->server->env->heap, s, sizeof *s, LOCI_MEM_REQUESTS);
}

static loci_status read_query(const lc_http_request *request, loci_str *out_agent,
                              int64_t *out_heartbeat_ms, loci_error *err)
{
    loci_str name, value, agent = LC_STR("default"), heartbeat = LC_STR_NONE;

    for (size_t i = 0; lc_http_query_at(request, i, &name, &value); i++) {
        if (lc_str_is(name, "agent_id"))
            agent = value.ptr != NULL ? value : LC_STR("");
        else if (lc_str_is(name, "heartbeat_ms"))
            heartbeat = value.ptr != NULL ? value : LC_STR("");
        else if (!lc_str_is(name, "stream"))
            return lc_fail(err, LOCI_EINVAL,
                           "unknown parameter %.*s; a stream of signals takes agent_id and "
                           "heartbeat_ms",
                           name.len > 40 ? 40 : (int)name.len, name.ptr);
    }
    if (agent.len == 0 || agent.len > LC_AGENT_NAME_BYTES_MAX)
        return lc_fail(err, LOCI_EINVAL, "agent_id: expected 1 to %d bytes",
                       LC_AGENT_NAME_BYTES_MAX);
    *out_agent = agent;
    return lc_sse_parse_heartbeat(heartbeat, out_heartbeat_ms, err);
}

/* A listener is asked to free memory, and must acknowledge: the scope is that of signal.ack. */
void lc_signals_handle(lc_server *server, lc_http_request *request, const lc_identity *who)
{
    lc_agent_stream *signals = NULL;
    signal_stream *s = NULL;
    int64_t heartbeat_ms = 0;
    loci_str agent = LC_STR_NONE;
    loci_error err;
    loci_status status = lc_auth_need(who, LC_SCOPE_WRITE, &err);

    if (status == LOCI_OK)
        status = read_query(request, &agent, &heartbeat_ms, &err);
    if (status == LOCI_OK)
        status = lc_signals_open(server->engine, &who->principal, agent, &signals, &err);
    if (status == LOCI_OK) {
        s = lc_heap_zalloc(&server->env->heap, sizeof *s, LOCI_MEM_REQUESTS);
        if (s == NULL)
            status = lc_fail_memory(&err);
    }
    if (status != LOCI_OK) {
        lc_agent_stream_close(signals);
        lc_reply_error(request, &err);
        return;
    }
    s->server = server;
    s->signals = signals;
    s->heartbeat_us = heartbeat_ms * 1000;
    lc_buf_init(&s->text, &server->env->heap, LOCI_MEM_REQUESTS, MESSAGE_BYTES_MAX);
    if (lc_id_is(loci_str_of(who->token_id), "tok")) {
        s->has_ticket = true;
        s->ticket.expires_at = who->expires_at;
        s->ticket.wake_fd = lc_agent_stream_fd(signals);
        memcpy(s->ticket.token_id.text, who->token_id, strlen(who->token_id));
        lc_store_thread_watch(server->token_thread, &s->ticket);
    }
    lc_http_answer_stream(request, &(lc_http_stream){.content_type = "text/event-stream",
                                                     .pull = pull,
                                                     .close = close_stream,
                                                     .ctx = s,
                                                     .heartbeat_ms = heartbeat_ms,
                                                     .wake_fd = lc_agent_stream_fd(signals)});
}
