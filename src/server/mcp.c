/* mcp.c - a message becomes an exchange of the dispatcher; most are answered as one JSON body.
 *
 * Operations are submitted to the engine, so the loop never waits, and an exchange goes on in the
 * thread that delivers the answer. When a provider sends something before its answer (progress, a
 * question to the client), the reply becomes a stream of server-sent events that ends with the
 * answer. A call is then used by two threads: the one that works on the exchange appends messages,
 * and the loop sends them.
 *
 * Streams of notices are in mcp_notices.c.
 */
#include "server/mcp.h"

#include <pthread.h>
#include <strings.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/str.h"
#include "server/events.h"
#include "server/mcp_streams.h"

#define STREAM_BYTES_MAX (LC_ANSWER_BYTES_MAX + 2u * 1024 * 1024)
#define NOTICE_BYTES_MAX                                                                           \
    (1024u * 1024) /* Waiting in a stream: further notifications are dropped. */
#define HEARTBEAT_MS 15000

/* One message of a client, until it is answered and its stream, if any, has ended. */
typedef struct mcp_call {
    lc_mcp_http *mcp;
    lc_http_request *request; /* NULL once it is answered or a stream. */
    lc_arena arena;
    lc_identity who; /* Texts are in the arena. */
    int64_t deadline_us;
    bool is_in_handler;   /* No operation has ended yet. */
    volatile int is_gone; /* The client has closed the stream. */
    bool is_stream;
    int wake_fd; /* Of the stream; -1 = none. */
    pthread_mutex_t lock;
    int users;     /* The exchange and the stream. Under the lock, like the rest. */
    lc_buf queued; /* Bytes that the stream will send next. */
    bool is_ended; /* The answer is in `queued`. */
    lc_buf lent;   /* Bytes being sent; only used by the loop. */
} mcp_call;

/* ---- Life of a call -------------------------------------------------------------------------- */

static bool keep_text(lc_arena *arena, const char **text)
{
    if (*text != NULL)
        *text = lc_arena_copy(arena, loci_str_of(*text)).ptr;
    return *text != NULL;
}

/* Copies the caller's identity: the request's memory may end before the exchange. */
bool lc_mcp_identity_keep(lc_arena *arena, const lc_identity *who, lc_identity *out)
{
    const char **texts[] = {&out->principal.tenant,  &out->principal.user,
                            &out->principal.persona, &out->principal.authority,
                            &out->principal.trust,   &out->principal.permissions,
                            &out->principal.token,   &out->token_id};

    *out = *who;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        if (*texts[i] != NULL && !keep_text(arena, texts[i]))
            return false;
    }
    return true;
}

static void free_call(mcp_call *call)
{
    lc_heap *heap = &call->mcp->env->heap;

    lc_buf_clear(&call->queued);
    lc_buf_clear(&call->lent);
    lc_arena_clear(&call->arena);
    if (call->wake_fd >= 0)
        (void)close(call->wake_fd);
    (void)pthread_mutex_destroy(&call->lock);
    lc_mcp_http_free(call->mcp);
    lc_heap_free(heap, call, sizeof *call, LOCI_MEM_REQUESTS);
}

/* The last of the two users frees it. */
static void leave_call(mcp_call *call)
{
    bool is_last;

    (void)pthread_mutex_lock(&call->lock);
    is_last = --call->users == 0;
    (void)pthread_mutex_unlock(&call->lock);
    if (is_last)
        free_call(call);
}

static mcp_call *new_call(lc_mcp_http *mcp, lc_http_request *request, const lc_identity *who)
{
    lc_heap *heap = &mcp->env->heap;
    mcp_call *call = lc_heap_zalloc(heap, sizeof *call, LOCI_MEM_REQUESTS);

    if (call == NULL)
        return NULL;
    atomic_fetch_add(&mcp->users, 1);
    call->mcp = mcp;
    call->request = request;
    call->deadline_us = lc_http_deadline_us(request);
    call->wake_fd = -1;
    call->users = 1;
    call->is_in_handler = true;
    (void)pthread_mutex_init(&call->lock, NULL); /* Cannot fail on Linux. */
    lc_arena_init(&call->arena, heap, LOCI_MEM_REQUESTS);
    lc_buf_init(&call->queued, heap, LOCI_MEM_REQUESTS, STREAM_BYTES_MAX);
    lc_buf_init(&call->lent, heap, LOCI_MEM_REQUESTS, STREAM_BYTES_MAX);
    if (lc_mcp_identity_keep(&call->arena, who, &call->who))
        return call;
    free_call(call);
    return NULL;
}

/* For the access log: names of the protocol and of tools, never arguments. */
static void note_answer(lc_http_request *request, const lc_mcp_answer *answer)
{
    lc_access_record *record = lc_http_state(request);

    record->mcp_method = answer->method;
    record->mcp_tool = answer->tool;
    record->mcp_code = answer->code;
    if (answer->is_tool_error)
        record->code = "tool_error";
    else if (answer->code != 0)
        record->code = "mcp_error";
    if (answer->traceparent.len > 0)
        record->traceparent = lc_arena_copy(lc_http_arena(request), answer->traceparent);
}

/* ---- Operations ------------------------------------------------------------------------------ */

static void operation_done(void *ctx, loci_status status, loci_answer *answer,
                           const loci_error *err)
{
    mcp_call *call = lc_mcp_transport_ctx(ctx);

    call->is_in_handler = false; /* From now on it may be any thread. */
    lc_mcp_resume(ctx, status, status == LOCI_OK ? loci_answer_json(answer) : LC_STR_NONE, err);
    loci_answer_free(answer);
}

static void run_operation(void *ctx, lc_mcp_exchange *exchange, const char *operation,
                          loci_str args)
{
    mcp_call *call = ctx;
    int64_t left_us = call->deadline_us - lc_clock_monotonic_us();
    loci_call_options options = LOCI_CALL_OPTIONS_INIT;
    char client[LC_MCP_CLIENT_BYTES];
    const lc_op *op;
    loci_error err;
    loci_status status = lc_op_load(loci_str_of(operation), &op, &err);

    if (status == LOCI_OK)
        status = lc_auth_need(&call->who, lc_op_scopes(op), &err);
    if (status == LOCI_OK && (op->flags & LC_OP_MUTATES) != 0 && call->is_in_handler &&
        call->request != NULL)
        status = lc_http_promise(call->request, &err); /* A commit is never answered with 503. */
    if (lc_mcp_write_client(exchange, client))
        options.client = client;
    options.flags = LOCI_CALL_REMOTE;
    options.principal = &call->who.principal;
    options.timeout_ms = left_us > 1000 ? left_us / 1000 : 1;
    options.cancel = lc_mcp_cancel(exchange);
    if (options.cancel == &call->is_gone && call->request != NULL)
        options.cancel = lc_http_cancel(call->request);
    if (status == LOCI_OK)
        status = lc_submit_or_finish(call->mcp->engine, operation, args, &options, operation_done,
                                     exchange, &err);
    if (status != LOCI_OK)
        lc_mcp_resume(exchange, status, LC_STR_NONE, &err);
}

/* ---- A reply as a stream --------------------------------------------------------------------- */

static bool pull(void *ctx, loci_str *out, bool is_heartbeat)
{
    mcp_call *call = ctx;
    lc_buf sent = call->lent;
    eventfd_t wakes;
    bool goes_on;

    (void)eventfd_read(call->wake_fd, &wakes); /* EAGAIN: it is pulled again after data. */
    (void)pthread_mutex_lock(&call->lock);
    call->lent = call->queued;
    call->queued = sent;
    lc_buf_reset(&call->queued);
    goes_on = !call->is_ended;
    (void)pthread_mutex_unlock(&call->lock);
    *out = lc_buf_str(&call->lent);
    if (is_heartbeat && goes_on && out->len == 0)
        *out = lc_mcp_heartbeat;
    return goes_on;
}

static void close_stream(void *ctx)
{
    mcp_call *call = ctx;

    __atomic_store_n(&call->is_gone, 1, __ATOMIC_SEQ_CST);
    leave_call(call);
}

/* Turns the reply into a stream; false when that is impossible. */
static bool begin_stream(mcp_call *call, const lc_mcp_exchange *exchange)
{
    lc_http_request *request = call->request;
    lc_mcp_answer about = lc_mcp_describe(exchange);

    if (call->is_stream)
        return true;
    note_answer(request, &about);
    call->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (call->wake_fd < 0)
        return false;
    call->is_stream = true;
    call->request = NULL;
    call->users++; /* No other thread has it yet. */
    lc_http_answer_stream(request, &(lc_http_stream){.content_type = "text/event-stream",
                                                     .pull = pull,
                                                     .close = close_stream,
                                                     .ctx = call,
                                                     .heartbeat_ms = HEARTBEAT_MS,
                                                     .wake_fd = call->wake_fd});
    return true;
}

static void append_to_stream(mcp_call *call, loci_str message, bool is_last)
{
    (void)pthread_mutex_lock(&call->lock);
    if (message.len > 0 && (is_last || call->queued.len < NOTICE_BYTES_MAX))
        lc_sse_message_add(&call->queued,
                           &(lc_sse_message){.type = LC_STR("message"), .data = message});
    call->is_ended = is_last;
    (void)eventfd_write(call->wake_fd, 1);
    (void)pthread_mutex_unlock(&call->lock);
}

static void send_message(void *ctx, const lc_mcp_exchange *exchange, loci_str message)
{
    mcp_call *call = ctx;

    if (begin_stream(call, exchange))
        append_to_stream(call, message, false);
}

/* ---- Answers --------------------------------------------------------------------------------- */

static void answer_message(void *ctx, const lc_mcp_answer *answer)
{
    mcp_call *call = ctx;
    lc_http_reply reply = {
        .status = answer->message.ptr != NULL ? answer->http_status : 202,
        .content_type = answer->message.ptr != NULL ? "application/json" : NULL,
        .body = answer->message,
        .mcp_session_id = answer->session,
    };

    if (call->is_stream) {
        append_to_stream(call, answer->message, true);
    } else {
        note_answer(call->request, answer);
        lc_http_answer(call->request, &reply);
    }
    leave_call(call);
}

static void listen_for(void *ctx, lc_mcp_listener *listener, const lc_mcp_answer *first)
{
    mcp_call *call = ctx;
    lc_http_request *request = call->request;

    note_answer(request, first);
    lc_mcp_notices_open(&(lc_mcp_notices){.mcp = call->mcp,
                                          .request = request,
                                          .who = &call->who,
                                          .listener = listener,
                                          .first = first->message});
    leave_call(call);
}

static const lc_mcp_transport transport = {
    .run = run_operation, .send = send_message, .answer = answer_message, .listen = listen_for};

/* ---- Requests -------------------------------------------------------------------------------- */

static loci_str find_header(const void *ctx, const char *name)
{
    return lc_http_header(ctx, name);
}

static bool has_json_body(const lc_http_request *request)
{
    loci_str rest, type = lc_http_header(request, "Content-Type");

    type = lc_str_trim(lc_str_split(type, ';', &rest));
    return type.len == strlen("application/json") &&
           strncasecmp(type.ptr, "application/json", type.len) == 0;
}

static void refuse_type(lc_http_request *request)
{
    static const loci_str body = LC_STR(
        "{\"jsonrpc\":\"2.0\",\"error\":{\"code\":-32600,"
        "\"message\":\"Content-Type: expected application/json\"}}");
    lc_access_record *record = lc_http_state(request);

    record->code = loci_status_name(LOCI_EINVAL);
    lc_http_answer(
        request, &(lc_http_reply){.status = 415, .content_type = "application/json", .body = body});
}

static void handle_post(lc_mcp_http *mcp, lc_http_request *request, const lc_identity *who)
{
    lc_mcp_head head = {.header = find_header, .ctx = request, .owner = who->token_id};
    lc_mcp_incoming incoming = {
        .text = lc_http_body(request), .head = &head, .transport = &transport};
    mcp_call *call;
    loci_error err;

    if (!has_json_body(request)) {
        refuse_type(request);
        return;
    }
    call = new_call(mcp, request, who);
    if (call == NULL) {
        (void)lc_fail_memory(&err);
        lc_reply_error(request, &err);
        return;
    }
    incoming.ctx = call;
    incoming.cancel = &call->is_gone;
    lc_http_defer(request);
    lc_mcp_receive(mcp->server, &incoming);
}

/* The session that the request names; NULL when it was answered with an error. */
static lc_mcp_session *load_session(lc_mcp_http *mcp, lc_http_request *request,
                                    const lc_identity *who)
{
    loci_str id = lc_http_header(request, "Mcp-Session-Id");
    lc_mcp_session *session;
    loci_error err;

    if (id.ptr == NULL) {
        lc_reply_method_not_allowed(request, "POST"); /* The newer generation has no others. */
        return NULL;
    }
    session = lc_mcp_session_find(mcp->server, lc_str_trim(id), who->token_id);
    if (session == NULL) {
        (void)lc_fail(&err, LOCI_ENOTFOUND,
                      "the session was not found or has ended: send `initialize` again");
        lc_reply_error(request, &err);
    }
    return session;
}

void lc_mcp_http_handle(lc_mcp_http *mcp, lc_http_request *request, const lc_identity *who)
{
    lc_mcp_session *session;

    if (lc_str_is(lc_http_method(request), "POST")) {
        handle_post(mcp, request, who);
        return;
    }
    session = load_session(mcp, request, who);
    if (session == NULL)
        return;
    if (lc_str_is(lc_http_method(request), "DELETE")) {
        lc_mcp_session_end(session);
        lc_mcp_session_release(session);
        lc_http_answer(request, &(lc_http_reply){.status = 200});
    } else {
        lc_http_defer(request);
        lc_mcp_notices_open(&(lc_mcp_notices){
            .mcp = mcp, .request = request, .who = who, .session = session, .first = LC_STR_NONE});
    }
}

/* ---- Life ------------------------------------------------------------------------------------ */

static void enter(void *ctx)
{
    (void)pthread_mutex_lock(ctx);
}

static void leave(void *ctx)
{
    (void)pthread_mutex_unlock(ctx);
}

/* Frees the provider, too, if it fails. */
loci_status lc_mcp_http_new(const lc_mcp_http_options *options, lc_mcp_http **out, loci_error *err)
{
    lc_mcp_http *mcp = lc_heap_zalloc(&options->env->heap, sizeof *mcp, LOCI_MEM_ENGINE);
    loci_status status;

    if (mcp == NULL) {
        if (options->free_provider != NULL)
            options->free_provider(options->provider);
        return lc_fail_memory(err);
    }
    mcp->env = options->env;
    mcp->provider = options->provider;
    mcp->free_provider = options->free_provider;
    mcp->users = 1;
    mcp->engine = options->engine;
    mcp->event_thread = options->event_thread;
    mcp->token_thread = options->token_thread;
    mcp->is_draining = options->is_draining;
    (void)pthread_mutex_init(&mcp->lock, NULL); /* Cannot fail on Linux. */
    status = lc_mcp_server_new(&mcp->env->heap, options->provider,
                               (lc_mcp_lock){enter, leave, &mcp->lock}, &mcp->server, err);
    if (status == LOCI_OK)
        *out = mcp;
    else
        lc_mcp_http_free(mcp);
    return status;
}

void lc_mcp_http_free(lc_mcp_http *mcp)
{
    if (mcp == NULL || atomic_fetch_sub(&mcp->users, 1) > 1)
        return;
    lc_mcp_server_free(mcp->server);
    if (mcp->free_provider != NULL)
        mcp->free_provider(mcp->provider);
    (void)pthread_mutex_destroy(&mcp->lock);
    lc_heap_free(&mcp->env->heap, mcp, sizeof *mcp, LOCI_MEM_ENGINE);
}
