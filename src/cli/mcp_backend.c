/* mcp_backend.c - the engine calls back from its own threads; a list without locks and an eventfd
 * bring what ended to the loop. */
#include "cli/mcp_backend.h"

#include <stdatomic.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/error.h"
#include "base/str.h"
#include "cli/opening.h"
#include "ops/surface.h"

/* A call of the store that has not been reported yet. */
typedef struct store_call {
    struct store_call *next;
    lc_mcp_backend *backend;
    lc_mcp_exchange *exchange;
    loci_status status;
    loci_answer *answer;
    loci_error err;
} store_call;

struct lc_mcp_backend {
    lc_cli *cli;
    loci_engine *engine; /* NULL until it is needed. */
    int wake_fd;
    _Atomic(store_call *) ended; /* The one that ended last first. */
    loci_subscription *subscription;
    bool is_followed;
    loci_answer *event; /* Whose type was lent. */
};

/* ---- The store ------------------------------------------------------------------------------- */

/* loci_done_fn: any thread. */
static void store_done(void *ctx, loci_status status, loci_answer *answer, const loci_error *err)
{
    store_call *call = ctx;
    lc_mcp_backend *backend = call->backend;
    store_call *first = atomic_load_explicit(&backend->ended, memory_order_relaxed);

    call->status = status;
    call->answer = answer;
    if (status != LOCI_OK)
        call->err = *err;
    do {
        call->next = first;
    } while (!atomic_compare_exchange_weak_explicit(&backend->ended, &first, call,
                                                    memory_order_acq_rel, memory_order_relaxed));
    (void)eventfd_write(backend->wake_fd, 1); /* Fails only when full: it is readable. */
}

static loci_status open_store(lc_mcp_backend *backend, loci_error *err)
{
    lc_opening opening = {.flags = 0};

    return backend->engine != NULL ? LOCI_OK
                                   : lc_opening_run(backend->cli, &opening, &backend->engine, err);
}

static void run_in_store(lc_mcp_backend *backend, lc_mcp_exchange *exchange, const char *operation,
                         loci_str args)
{
    loci_call_options options = LOCI_CALL_OPTIONS_INIT;
    store_call *call = NULL;
    loci_error err;
    loci_status status = open_store(backend, &err);

    if (status == LOCI_OK) {
        call = lc_heap_zalloc(backend->cli->heap, sizeof *call, LOCI_MEM_REQUESTS);
        status = call != NULL ? LOCI_OK : lc_fail_memory(&err);
    }
    if (status == LOCI_OK) {
        call->backend = backend;
        call->exchange = exchange;
        options.cancel = lc_mcp_cancel(exchange);
        status = lc_submit_or_finish(backend->engine, operation, args, &options, store_done, call,
                                     &err);
    }
    if (status == LOCI_OK)
        return;
    lc_heap_free(backend->cli->heap, call, sizeof *call, LOCI_MEM_REQUESTS);
    lc_mcp_resume(exchange, status, LC_STR_NONE, &err);
}

/* Reports the calls that have ended, in their order. */
static void report_ended(lc_mcp_backend *backend)
{
    store_call *newest = atomic_exchange_explicit(&backend->ended, NULL, memory_order_acq_rel);
    store_call *oldest = NULL;

    while (newest != NULL) {
        store_call *next = newest->next;

        newest->next = oldest;
        oldest = newest;
        newest = next;
    }
    while (oldest != NULL) {
        store_call *call = oldest;

        oldest = call->next;
        lc_mcp_resume(call->exchange, call->status,
                      call->status == LOCI_OK ? loci_answer_json(call->answer) : LC_STR_NONE,
                      &call->err);
        loci_answer_free(call->answer);
        lc_heap_free(backend->cli->heap, call, sizeof *call, LOCI_MEM_REQUESTS);
    }
}

/* ---- Events ---------------------------------------------------------------------------------- */

void lc_mcp_backend_follow(lc_mcp_backend *backend, bool is_followed)
{
    loci_subscribe_options options = LOCI_SUBSCRIBE_OPTIONS_INIT;

    backend->is_followed = is_followed;
    if (!is_followed && backend->subscription != NULL) {
        loci_subscription_close(backend->subscription);
        backend->subscription = NULL;
    }
    if (!is_followed || backend->subscription != NULL || open_store(backend, NULL) != LOCI_OK)
        return;
    options.user_id = backend->cli->globals.user;
    if (loci_subscribe(backend->engine, &options, &backend->subscription, NULL) != LOCI_OK)
        backend->subscription = NULL;
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
    if (backend->subscription == NULL ||
        loci_subscription_next(backend->subscription, &backend->event, &lagged, NULL) != LOCI_OK)
        return false;
    if (lagged == 0 && backend->event == NULL)
        return false;
    *out_type = lagged != 0 ? LC_STR_NONE : type_of(loci_answer_json(backend->event));
    return true;
}

/* ---- Life ------------------------------------------------------------------------------------ */

loci_status lc_mcp_backend_new(lc_cli *cli, lc_mcp_backend **out, loci_error *err)
{
    lc_mcp_backend *backend = lc_heap_zalloc(cli->heap, sizeof *backend, LOCI_MEM_ENGINE);

    if (backend == NULL)
        return lc_fail_memory(err);
    backend->cli = cli;
    backend->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (backend->wake_fd < 0) {
        lc_heap_free(cli->heap, backend, sizeof *backend, LOCI_MEM_ENGINE);
        return lc_fail(err, LOCI_ERESOURCE, "cannot open a descriptor to wait for calls");
    }
    *out = backend;
    return LOCI_OK;
}

void lc_mcp_backend_free(lc_mcp_backend *backend)
{
    if (backend == NULL)
        return;
    loci_answer_free(backend->event);
    loci_subscription_close(backend->subscription);
    loci_close(backend->engine); /* Calls that have not ended do so in here. */
    (void)close(backend->wake_fd);
    lc_heap_free(backend->cli->heap, backend, sizeof *backend, LOCI_MEM_ENGINE);
}

void lc_mcp_backend_run(lc_mcp_backend *backend, lc_mcp_exchange *exchange, const char *operation,
                        loci_str args)
{
    run_in_store(backend, exchange, operation, args);
}

size_t lc_mcp_backend_watch(lc_mcp_backend *backend, struct pollfd out[LC_MCP_BACKEND_FDS_MAX])
{
    size_t count = 0;

    out[count++] = (struct pollfd){.fd = backend->wake_fd, .events = POLLIN};
    if (backend->subscription != NULL)
        out[count++] = (struct pollfd){.fd = loci_subscription_fd(backend->subscription),
                                       .events = POLLIN};
    return count;
}

void lc_mcp_backend_step(lc_mcp_backend *backend)
{
    eventfd_t wakes;

    (void)eventfd_read(backend->wake_fd, &wakes); /* EAGAIN: nothing has ended. */
    report_ended(backend);
}
