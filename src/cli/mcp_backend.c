/* mcp_backend.c - operations run in the daemon of the store while there is one, else in the store.
 *
 *     unknown --first call--> daemon --it is gone--> store
 *                        `--no daemon--> store
 *
 * With --url there is only that daemon, which is tried again with every call.
 *
 * Daemon: a few connections that are kept, each with one call at a time; further calls wait. Every
 * write has a request id of its own. When a connection breaks, it is unknown whether the call was
 * carried out: it is sent again with the same id, to the daemon or, if that has gone, to the store,
 * which answers a repeated id with the answer of the first call.
 *
 * Store: the engine calls back from its own threads; a lock-free list and an eventfd pass finished
 * calls to the loop. A process that has opened the store stays with it.
 */
#include "cli/mcp_backend.h"

#include <stdatomic.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/random.h"
#include "base/str.h"
#include "cli/opening.h"
#include "cli/remote.h"
#include "net/fetch.h"
#include "ops/surface.h"

#define LINKS_MAX 8             /* Connections to the daemon. */
#define CALL_MS_MAX 60000       /* The daemon itself gives up after 30 s. */
#define FOLLOW_PAUSE_US 1000000 /* Between attempts to follow the events. */
#define PATH_BYTES 1024
#define LINE_BYTES_MAX (8u * 1024 * 1024)

_Static_assert(LC_MCP_BACKEND_FDS_MAX >= LINKS_MAX + 3, "all descriptors can be watched");

/* Many calls end before loci_submit() returns; only the others need to wake the loop. */
typedef enum call_phase { CALL_SUBMITTING, CALL_SUBMITTED, CALL_ENDED } call_phase;

/* One operation, until it is reported. */
typedef struct backend_call {
    struct backend_call *next;
    lc_mcp_backend *backend;
    lc_mcp_exchange *exchange;
    lc_arena arena;
    const char *operation;
    loci_str args;
    const char *request_id;           /* NULL = it changes nothing, or has one in its arguments. */
    char client[LC_MCP_CLIENT_BYTES]; /* Or, if it did not say its name, this program's. */
    int attempts;                     /* To send it to the daemon. */
    int64_t deadline_us;
    _Atomic call_phase phase; /* In the store. */
    loci_status status;       /* Once it has ended. */
    loci_answer *answer;
    loci_error err;
} backend_call;

typedef struct daemon_link {
    lc_fetch_link *link; /* NULL = not connected. */
    backend_call *call;  /* NULL = idle. */
} daemon_link;

typedef enum backend_mode { MODE_UNKNOWN, MODE_DAEMON, MODE_STORE } backend_mode;

struct lc_mcp_backend {
    lc_cli *cli;
    backend_mode mode;
    uint64_t mark; /* Of this process, in request ids. */
    uint64_t call_count;
    /* Daemon. */
    lc_endpoint to;   /* url NULL = no place for one is known. */
    bool is_only_way; /* --url: there is no store to go on with. */
    char url[256];    /* "unix:/path" of the daemon of the store. */
    daemon_link links[LINKS_MAX];
    backend_call *waiting, **last_waiting; /* For a connection. */
    lc_fetch_link *stream;                 /* Of events. */
    lc_buf lines;                          /* Of the stream, from `line_at` on not read yet. */
    size_t line_at;
    int64_t followed_us; /* The last attempt. */
    bool has_missed;     /* Events, since the stream broke. */
    /* Store. */
    loci_engine *engine; /* NULL until it is needed. */
    int wake_fd;
    _Atomic(backend_call *) ended; /* The one that ended last first. */
    loci_subscription *subscription;
    loci_answer *event; /* Owner of the event type that was lent. */
};

/* ---- Calls ----------------------------------------------------------------------------------- */

static void free_call(backend_call *call)
{
    lc_heap *heap = call->backend->cli->heap;

    lc_arena_clear(&call->arena);
    lc_heap_free(heap, call, sizeof *call, LOCI_MEM_REQUESTS);
}

/* Hands the result to the exchange, and frees the call. */
static void report(backend_call *call, loci_status status, loci_str answer, const loci_error *err)
{
    lc_mcp_resume(call->exchange, status, answer, err);
    loci_answer_free(call->answer);
    free_call(call);
}

static backend_call *new_call(lc_mcp_backend *backend, lc_mcp_exchange *exchange,
                              const char *operation, loci_str args)
{
    static const char own_id[] = "\"request_id\":";
    backend_call *call = lc_heap_zalloc(backend->cli->heap, sizeof *call, LOCI_MEM_REQUESTS);
    const lc_op *op = lc_op_find(loci_str_of(operation));
    char id[64];

    if (call == NULL)
        return NULL;
    lc_arena_init(&call->arena, backend->cli->heap, LOCI_MEM_REQUESTS);
    call->backend = backend;
    call->exchange = exchange;
    call->operation = lc_arena_copy(&call->arena, loci_str_of(operation)).ptr;
    call->args = lc_arena_copy(&call->arena, args);
    call->deadline_us = lc_clock_monotonic_us() + CALL_MS_MAX * INT64_C(1000);
    if (op != NULL && (op->flags & LC_OP_MUTATES) != 0 &&
        memmem(args.ptr, args.len, own_id, sizeof own_id - 1) == NULL) {
        (void)snprintf(id, sizeof id, "mcp-%016llx-%llu", (unsigned long long)backend->mark,
                       (unsigned long long)++backend->call_count);
        call->request_id = lc_arena_copy(&call->arena, loci_str_of(id)).ptr;
        if (call->request_id == NULL)
            call->operation = NULL;
    }
    if (!lc_mcp_write_client(exchange, call->client))
        (void)snprintf(call->client, sizeof call->client, "%s", backend->cli->client);
    if (call->operation != NULL && call->args.ptr != NULL)
        return call;
    free_call(call);
    return NULL;
}

/* ---- The store ------------------------------------------------------------------------------- */

/* loci_done_fn: any thread. */
static void store_done(void *ctx, loci_status status, loci_answer *answer, const loci_error *err)
{
    backend_call *call = ctx;
    lc_mcp_backend *backend = call->backend;
    backend_call *first;
    int wake_fd = backend->wake_fd;

    call->status = status;
    call->answer = answer;
    if (status != LOCI_OK)
        call->err = *err;
    if (atomic_exchange(&call->phase, CALL_ENDED) == CALL_SUBMITTING)
        return; /* run_in_store() reports it. */
    first = atomic_load_explicit(&backend->ended, memory_order_relaxed);
    do {
        call->next = first;
    } while (!atomic_compare_exchange_weak_explicit(&backend->ended, &first, call,
                                                    memory_order_acq_rel, memory_order_relaxed));
    (void)eventfd_write(wake_fd, 1); /* Fails only when full: it is readable. */
}

/* A read of a missing store that the user has named does not create it. The default store is
 * created by any call, so that an agent begins with an empty memory and not with an error. */
static loci_status open_store(lc_mcp_backend *backend, const char *operation, loci_error *err)
{
    const lc_op *op = lc_op_find(loci_str_of(operation));
    lc_opening opening = {.lives_long = true};
    lc_store_path path;
    loci_error cause;
    loci_status status;

    if (backend->engine != NULL)
        return LOCI_OK;
    status = lc_store_path_find(backend->cli, &path, err);
    if (status != LOCI_OK)
        return status;
    if (!path.is_default && (op == NULL || (op->flags & LC_OP_MUTATES) == 0))
        opening.flags |= LOCI_OPEN_EXISTING;
    status = lc_opening_run(backend->cli, &opening, &backend->engine, &cause);
    if (status == LOCI_OK)
        return LOCI_OK;
    /* Not found would mean a missing fact or memory to a model. */
    return lc_fail(err, status == LOCI_ENOTFOUND ? LOCI_EUNAVAILABLE : status, "%s", cause.message);
}

static void report_stored(backend_call *call)
{
    report(call, call->status,
           call->status == LOCI_OK ? loci_answer_json(call->answer) : LC_STR_NONE, &call->err);
}

static void run_in_store(lc_mcp_backend *backend, backend_call *call)
{
    loci_call_options options = LOCI_CALL_OPTIONS_INIT;
    loci_error err;
    loci_status status = open_store(backend, call->operation, &err);

    options.cancel = lc_mcp_cancel(call->exchange);
    options.client = call->client;
    if (call->attempts > 0) /* The daemon may have carried it out. */
        options.request_id = call->request_id;
    if (status == LOCI_OK)
        status = lc_submit_or_finish(backend->engine, call->operation, call->args, &options,
                                     store_done, call, &err);
    if (status != LOCI_OK)
        report(call, status, LC_STR_NONE, &err);
    else if (atomic_exchange(&call->phase, CALL_SUBMITTED) == CALL_ENDED)
        report_stored(call);
}

/* Reports the calls that have ended, in their order. */
static void report_ended(lc_mcp_backend *backend)
{
    backend_call *newest = atomic_exchange_explicit(&backend->ended, NULL, memory_order_acq_rel);
    backend_call *oldest = NULL;

    while (newest != NULL) {
        backend_call *next = newest->next;

        newest->next = oldest;
        oldest = newest;
        newest = next;
    }
    while (oldest != NULL) {
        backend_call *call = oldest;

        oldest = call->next;
        report_stored(call);
    }
}

/* ---- The daemon ------------------------------------------------------------------------------ */

/* Whether the daemon would do what this process is told to do: it has a tenant and settings of its
 * own. */
static bool may_use_daemon(const lc_mcp_backend *backend)
{
    const lc_globals *globals = &backend->cli->globals;

    return backend->is_only_way || (backend->to.url != NULL && globals->tenant == NULL &&
                                    globals->config_file == NULL && globals->set_count == 0);
}

static bool connect_link(lc_mcp_backend *backend, lc_fetch_link **out)
{
    return lc_fetch_link_open(backend->cli->heap, &backend->to, LC_ANSWER_BYTES_MAX, out, NULL) ==
           LOCI_OK;
}

/* Sends the call of the link; false when the connection is broken. */
static bool send_call(daemon_link *link)
{
    backend_call *call = link->call;
    char path[128];
    lc_fetch fetch = {.method = "POST",
                      .path = path,
                      .body = call->args,
                      .client = loci_str_of(call->client),
                      .request_id = call->request_id};

    (void)snprintf(path, sizeof path, "/v1/call/%s", call->operation);
    call->attempts++;
    return lc_fetch_link_send(link->link, &fetch, NULL) == LOCI_OK;
}

/* There is no store to ask instead of the daemon. */
static void report_lost(backend_call *call)
{
    loci_error err;

    report(call,
           lc_fail(&err, LOCI_EUNAVAILABLE, "no daemon answers at %s; the call may be repeated",
                   call->backend->to.url),
           LC_STR_NONE, &err);
}

/* The daemon has gone: what it has not answered is done by the store. */
static void lose_daemon(lc_mcp_backend *backend)
{
    backend_call *calls = backend->waiting;

    backend->mode = backend->is_only_way ? MODE_UNKNOWN : MODE_STORE;
    backend->waiting = NULL;
    backend->last_waiting = &backend->waiting;
    for (size_t i = 0; i < LINKS_MAX; i++) {
        backend_call *call = backend->links[i].call;

        lc_fetch_link_close(backend->links[i].link);
        backend->links[i] = (daemon_link){.link = NULL};
        if (call != NULL) {
            call->next = calls;
            calls = call;
        }
    }
    lc_fetch_link_close(backend->stream);
    backend->stream = NULL;
    backend->has_missed = true;
    while (calls != NULL) {
        backend_call *call = calls;

        calls = call->next;
        if (backend->is_only_way)
            report_lost(call);
        else
            run_in_store(backend, call);
    }
}

/* Gives the link a call and sends it, on a new connection if there is none. False when there is no
 * daemon any more: all calls, this one too, were given to the store. */
static bool start_on(lc_mcp_backend *backend, daemon_link *link, backend_call *call)
{
    link->call = call;
    if ((link->link == NULL && !connect_link(backend, &link->link)) || !send_call(link)) {
        lose_daemon(backend);
        return false;
    }
    return true;
}

static void run_in_daemon(lc_mcp_backend *backend, backend_call *call)
{
    daemon_link *free_link = NULL;

    for (size_t i = 0; i < LINKS_MAX; i++) {
        daemon_link *at = &backend->links[i];

        if (at->call == NULL && (free_link == NULL || at->link != NULL))
            free_link = at; /* Best one that is connected. */
        if (at->call == NULL && at->link != NULL)
            break;
    }
    if (free_link != NULL) {
        (void)start_on(backend, free_link, call); /* Else the store has it. */
        return;
    }
    call->next = NULL;
    *backend->last_waiting = call;
    backend->last_waiting = &call->next;
}

/* A connection broke, or its call was given up. */
static void drop_link(daemon_link *link)
{
    lc_fetch_link_close(link->link);
    link->link = NULL;
    link->call = NULL;
}

/* The next operation of the exchange may use the link, so it is set free before the report. */
static void report_answer(daemon_link *link, const lc_fetch_answer *answer)
{
    backend_call *call = link->call;
    loci_str body = lc_arena_copy(&call->arena, answer->body);
    loci_status status = LOCI_OK;
    loci_error err;

    if (body.ptr == NULL)
        status = lc_fail_memory(&err);
    else if (answer->status != 200)
        status = lc_remote_fail(&call->arena, &call->backend->to, answer, &err);
    link->call = NULL;
    if (!lc_fetch_link_is_reusable(link->link))
        drop_link(link);
    report(call, status, status == LOCI_OK ? body : LC_STR_NONE, &err);
}

/* Goes on with the call of a link. False when the daemon was lost. */
static bool step_link(lc_mcp_backend *backend, daemon_link *link)
{
    backend_call *call = link->call;
    lc_fetch_answer answer;
    loci_error err;
    loci_status status;

    if (*lc_mcp_cancel(call->exchange) != 0) { /* Hanging up cancels it in the daemon, too. */
        drop_link(link);
        report(call, lc_fail(&err, LOCI_ECANCELLED, "the client cancelled the call"), LC_STR_NONE,
               &err);
        return true;
    }
    status = lc_fetch_link_step(link->link, &answer, &err);
    if (status == LOCI_OK && !answer.is_done && lc_clock_monotonic_us() < call->deadline_us)
        return true;
    if (status == LOCI_OK && !answer.is_done) {
        drop_link(link);
        report(call,
               lc_fail(&err, LOCI_EDEADLINE,
                       "the daemon did not answer in time; the call may still take effect"),
               LC_STR_NONE, &err);
    } else if (status == LOCI_OK) {
        report_answer(link, &answer);
    } else if (status == LOCI_EUNAVAILABLE && call->attempts < 2) {
        /* An idle connection is closed by the daemon after a while. */
        drop_link(link);
        return start_on(backend, link, call);
    } else if (status == LOCI_EUNAVAILABLE) {
        lose_daemon(backend);
        return false;
    } else {
        drop_link(link);
        report(call, status, LC_STR_NONE, &err);
    }
    return true;
}

static void step_daemon(lc_mcp_backend *backend)
{
    for (size_t i = 0; i < LINKS_MAX; i++) {
        daemon_link *link = &backend->links[i];

        if (link->call != NULL && !step_link(backend, link))
            return;
        if (backend->mode != MODE_DAEMON)
            return;
        if (link->call == NULL && backend->waiting != NULL) {
            backend_call *call = backend->waiting;

            backend->waiting = call->next;
            if (backend->waiting == NULL)
                backend->last_waiting = &backend->waiting;
            if (!start_on(backend, link, call))
                return;
        }
    }
}

/* ---- Either ---------------------------------------------------------------------------------- */

static void choose_mode(lc_mcp_backend *backend)
{
    if (backend->mode != MODE_UNKNOWN)
        return;
    if (may_use_daemon(backend) && connect_link(backend, &backend->links[0].link))
        backend->mode = MODE_DAEMON;
    else if (!backend->is_only_way)
        backend->mode = MODE_STORE;
}

static void run_call(lc_mcp_backend *backend, backend_call *call)
{
    choose_mode(backend);
    if (backend->mode == MODE_DAEMON)
        run_in_daemon(backend, call);
    else if (backend->is_only_way)
        report_lost(call);
    else
        run_in_store(backend, call);
}

void lc_mcp_backend_run(lc_mcp_backend *backend, lc_mcp_exchange *exchange, const char *operation,
                        loci_str args)
{
    backend_call *call = new_call(backend, exchange, operation, args);
    loci_error err;

    if (call != NULL)
        run_call(backend, call);
    else
        lc_mcp_resume(exchange, lc_fail_memory(&err), LC_STR_NONE, &err);
}

/* ---- Events ---------------------------------------------------------------------------------- */

/* "/v1/events?stream=1&user_id=ada"; false when it is too long. */
static bool write_events_path(const char *user, char out[PATH_BYTES])
{
    size_t len = (size_t)snprintf(out, PATH_BYTES, "/v1/events?stream=1&user_id=");

    for (const char *at = user != NULL ? user : "default"; *at != '\0'; at++) {
        if (len + 4 > PATH_BYTES)
            return false;
        len += (size_t)snprintf(out + len, 4, "%%%02X", (unsigned char)*at);
    }
    return true;
}

static void follow_daemon(lc_mcp_backend *backend)
{
    char path[PATH_BYTES];
    lc_fetch fetch = {.method = "GET", .path = path, .is_stream = true};

    if (!connect_link(backend, &backend->stream)) {
        lose_daemon(backend);
        return;
    }
    if (!write_events_path(backend->cli->globals.user, path) ||
        lc_fetch_link_send(backend->stream, &fetch, NULL) != LOCI_OK) {
        lc_fetch_link_close(backend->stream);
        backend->stream = NULL;
    }
    lc_buf_reset(&backend->lines);
    backend->line_at = 0;
}

static void follow_store(lc_mcp_backend *backend)
{
    loci_subscribe_options options = LOCI_SUBSCRIBE_OPTIONS_INIT;

    options.user_id = backend->cli->globals.user;
    if (open_store(backend, "event.list", NULL) != LOCI_OK ||
        loci_subscribe(backend->engine, &options, &backend->subscription, NULL) != LOCI_OK) {
        backend->subscription = NULL;
        backend->has_missed = true; /* It is tried again: the store may be created later. */
    }
}

static void stop_following(lc_mcp_backend *backend)
{
    lc_fetch_link_close(backend->stream);
    backend->stream = NULL;
    if (backend->subscription != NULL)
        loci_subscription_close(backend->subscription);
    backend->subscription = NULL;
    backend->has_missed = false;
}

void lc_mcp_backend_follow(lc_mcp_backend *backend, bool is_followed)
{
    int64_t now_us;

    if (!is_followed) {
        stop_following(backend);
        return;
    }
    if (backend->stream != NULL || backend->subscription != NULL)
        return;
    now_us = lc_clock_monotonic_us();
    if (backend->followed_us != 0 && now_us - backend->followed_us < FOLLOW_PAUSE_US)
        return;
    backend->followed_us = now_us;
    choose_mode(backend);
    if (backend->mode == MODE_DAEMON)
        follow_daemon(backend);
    if (backend->mode == MODE_STORE)
        follow_store(backend);
}

/* Receives lines of the stream; one that breaks is opened again by lc_mcp_backend_follow(). */
static void step_stream(lc_mcp_backend *backend)
{
    lc_fetch_answer answer = {0};

    if (backend->stream == NULL)
        return;
    if (lc_fetch_link_step(backend->stream, &answer, NULL) == LOCI_OK && !answer.is_done &&
        (answer.status == 0 || answer.status == 200)) {
        lc_buf_append(&backend->lines, answer.body);
        if (lc_buf_status(&backend->lines, NULL) == LOCI_OK)
            return;
    }
    lc_buf_reset(&backend->lines);
    backend->line_at = 0;
    lc_fetch_link_close(backend->stream);
    backend->stream = NULL;
    backend->has_missed = true;
}

/* "event: fact.written": the type of the next event of the stream. */
static bool next_line_event(lc_mcp_backend *backend, loci_str *out_type)
{
    static const loci_str prefix = LC_STR("event: ");

    while (backend->lines.len > 0) {
        loci_str rest = {backend->lines.ptr + backend->line_at,
                         backend->lines.len - backend->line_at};
        const char *end = rest.len > 0 ? memchr(rest.ptr, '\n', rest.len) : NULL;
        loci_str line = {rest.ptr, end != NULL ? (size_t)(end - rest.ptr) : 0};

        if (end == NULL) {
            if (rest.len > 0)
                memmove(backend->lines.ptr, rest.ptr, rest.len);
            lc_buf_truncate(&backend->lines, rest.len);
            backend->line_at = 0;
            return false;
        }
        backend->line_at += line.len + 1;
        if (!lc_str_starts(line, prefix))
            continue;
        *out_type = lc_str_trim((loci_str){line.ptr + prefix.len, line.len - prefix.len});
        if (lc_str_is(*out_type, "reset") || lc_str_is(*out_type, "end"))
            *out_type = LC_STR_NONE; /* Events were missed. */
        return true;
    }
    return false;
}

/* Reads `type` of an event. */
static loci_str type_of(loci_str event)
{
    static const loci_str name = LC_STR("\"type\":\"");
    const char *at = memmem(event.ptr, event.len, name.ptr, name.len);
    loci_str rest;

    if (at == NULL)
        return LC_STR_NONE;
    at += name.len;
    return lc_str_split((loci_str){at, event.len - (size_t)(at - event.ptr)}, '"', &rest);
}

bool lc_mcp_backend_next_event(lc_mcp_backend *backend, loci_str *out_type)
{
    int lagged = 0;

    loci_answer_free(backend->event);
    backend->event = NULL;
    if (backend->has_missed && (backend->stream != NULL || backend->subscription != NULL)) {
        backend->has_missed = false;
        *out_type = LC_STR_NONE;
        return true;
    }
    if (backend->stream != NULL)
        return next_line_event(backend, out_type);
    if (backend->subscription == NULL ||
        loci_subscription_next(backend->subscription, &backend->event, &lagged, NULL) != LOCI_OK)
        return false;
    if (lagged == 0 && backend->event == NULL)
        return false;
    *out_type = lagged != 0 ? LC_STR_NONE : type_of(loci_answer_json(backend->event));
    return true;
}

/* ---- Life ------------------------------------------------------------------------------------ */

/* --url, else the socket of the daemon of the store, if such a place is known. */
static loci_status find_daemon(lc_mcp_backend *backend, loci_error *err)
{
    lc_store_path path;
    const char *socket_path = NULL;

    if (lc_remote_url(backend->cli) != NULL) {
        backend->is_only_way = true;
        return lc_remote_find(backend->cli, &backend->to, err);
    }
    if (lc_store_path_find(backend->cli, &path, NULL) == LOCI_OK &&
        lc_socket_path_find(backend->cli, path.text, &socket_path, NULL) == LOCI_OK &&
        socket_path != NULL && strlen(socket_path) < sizeof backend->url - 6)
        (void)snprintf(backend->url, sizeof backend->url, "unix:%s", socket_path);
    if (backend->url[0] != '\0')
        backend->to.url = backend->url;
    return LOCI_OK;
}

loci_status lc_mcp_backend_new(lc_cli *cli, lc_mcp_backend **out, loci_error *err)
{
    lc_mcp_backend *backend = lc_heap_zalloc(cli->heap, sizeof *backend, LOCI_MEM_ENGINE);

    if (backend == NULL)
        return lc_fail_memory(err);
    backend->cli = cli;
    backend->last_waiting = &backend->waiting;
    lc_buf_init(&backend->lines, cli->heap, LOCI_MEM_REQUESTS, LINE_BYTES_MAX);
    backend->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (backend->wake_fd < 0 || !lc_random_secret(&backend->mark, sizeof backend->mark)) {
        lc_mcp_backend_free(backend);
        return lc_fail(err, LOCI_ERESOURCE, "cannot open a descriptor to wait for calls");
    }
    if (find_daemon(backend, err) != LOCI_OK) {
        lc_mcp_backend_free(backend);
        return err != NULL ? err->status : LOCI_EINVAL;
    }
    *out = backend;
    return LOCI_OK;
}

void lc_mcp_backend_free(lc_mcp_backend *backend)
{
    if (backend == NULL)
        return;
    loci_answer_free(backend->event);
    stop_following(backend);
    for (size_t i = 0; i < LINKS_MAX; i++)
        lc_fetch_link_close(backend->links[i].link);
    loci_close(backend->engine); /* Calls that have not ended do so in here. */
    lc_buf_clear(&backend->lines);
    if (backend->wake_fd >= 0)
        (void)close(backend->wake_fd);
    lc_heap_free(backend->cli->heap, backend, sizeof *backend, LOCI_MEM_ENGINE);
}

size_t lc_mcp_backend_watch(lc_mcp_backend *backend, struct pollfd out[LC_MCP_BACKEND_FDS_MAX])
{
    size_t count = 0;

    out[count++] = (struct pollfd){.fd = backend->wake_fd, .events = POLLIN};
    if (backend->subscription != NULL)
        out[count++] = (struct pollfd){.fd = loci_subscription_fd(backend->subscription),
                                       .events = POLLIN};
    if (backend->stream != NULL)
        out[count++] = (struct pollfd){.fd = lc_fetch_link_fd(backend->stream),
                                       .events = lc_fetch_link_events(backend->stream)};
    for (size_t i = 0; i < LINKS_MAX; i++) {
        const daemon_link *link = &backend->links[i];

        if (link->call != NULL)
            out[count++] = (struct pollfd){.fd = lc_fetch_link_fd(link->link),
                                           .events = lc_fetch_link_events(link->link)};
    }
    return count;
}

int lc_mcp_backend_wait_ms(const lc_mcp_backend *backend)
{
    for (size_t i = 0; i < LINKS_MAX; i++) {
        if (backend->links[i].call != NULL)
            return 1000; /* To notice that a daemon hangs. */
    }
    return backend->has_missed ? 1000 : -1; /* To follow the events again. */
}

void lc_mcp_backend_step(lc_mcp_backend *backend, bool is_woken)
{
    eventfd_t wakes;

    if (is_woken)
        (void)eventfd_read(backend->wake_fd, &wakes); /* EAGAIN: it was read before. */
    report_ended(backend);
    if (backend->mode == MODE_DAEMON)
        step_daemon(backend);
    step_stream(backend);
}
