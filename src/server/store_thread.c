/* store_thread.c - Invariant: tickets are linked, and changed, under the lock only; the store is
 * read without it. The ids to be read are copied first, because a stream may end during the read.
 */
#include "server/store_thread.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>

#include "base/assert.h"
#include "base/clock.h"
#include "base/error.h"
#include "ops/surface.h"

#define TICK_MS 100
#define RECHECK_US 800000 /* With a tick and the read itself, less than a second. */

struct lc_store_thread {
    lc_env *env;
    loci_engine *engine;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    bool is_stopping;
    void (*drained)(void *ctx);
    void *drained_ctx;
    lc_store_task *first, *last;
    lc_token_ticket *tickets;
    size_t ticket_count;
    uint64_t generation; /* Of the last read; used by the thread only, like the next. */
    int64_t read_us;
};

static int compare_checks(const void *a, const void *b)
{
    const lc_token_check *first = a, *second = b;

    return strcmp(first->id.text, second->id.text);
}

/* The different ids of all tickets, sorted; NULL when there are none, or no memory. The caller
 * holds the lock, and frees `*out_bytes`. */
static lc_token_check *copy_ids(lc_store_thread *thread, size_t *out_count, size_t *out_bytes)
{
    size_t bytes = thread->ticket_count * sizeof(lc_token_check), read = 0, written = 0;
    lc_token_check *checks = bytes > 0
                                 ? lc_heap_zalloc(&thread->env->heap, bytes, LOCI_MEM_REQUESTS)
                                 : NULL;

    if (checks == NULL)
        return NULL;
    for (const lc_token_ticket *ticket = thread->tickets; ticket != NULL; ticket = ticket->next)
        checks[read++].id = ticket->token_id;
    qsort(checks, read, sizeof *checks, compare_checks);
    for (size_t i = 0; i < read; i++) {
        if (i == 0 || compare_checks(&checks[i], &checks[written - 1]) != 0)
            checks[written++] = checks[i];
    }
    *out_count = written;
    *out_bytes = bytes;
    return checks;
}

/* Ends the streams of tokens that have ended. `checks` are what was read, or none. The caller holds
 * the lock. */
static void judge(lc_store_thread *thread, const lc_token_check *checks, size_t count)
{
    int64_t now_us = lc_clock_system_us(NULL);

    for (lc_token_ticket *ticket = thread->tickets; ticket != NULL; ticket = ticket->next) {
        lc_token_check wanted = {.id = ticket->token_id};
        const lc_token_check *check = count > 0 ? bsearch(&wanted, checks, count, sizeof wanted,
                                                          compare_checks)
                                                : NULL;
        lc_token_end end = LC_TOKEN_VALID;

        if (check != NULL)
            ticket->expires_at = check->expires_at;
        if (check != NULL && check->is_revoked)
            end = LC_TOKEN_WAS_REVOKED;
        else if (now_us >= ticket->expires_at)
            end = LC_TOKEN_HAS_EXPIRED;
        if (end != LC_TOKEN_VALID && atomic_load(&ticket->ended) == LC_TOKEN_VALID) {
            atomic_store(&ticket->ended, end);
            (void)eventfd_write(ticket->wake_fd, 1); /* Fails only when full: it is readable. */
        }
    }
}

/* One look at all tickets; the store is read when it is time. The caller holds the lock. */
static void look(lc_store_thread *thread)
{
    int64_t now_us = lc_clock_monotonic_us();
    uint64_t generation = lc_token_generation(thread->engine);
    bool is_due = generation != thread->generation || now_us - thread->read_us >= RECHECK_US;
    size_t count = 0, bytes = 0;
    lc_token_check *checks = is_due ? copy_ids(thread, &count, &bytes) : NULL;
    loci_error err;

    if (checks != NULL) {
        loci_status status;

        (void)pthread_mutex_unlock(&thread->lock);
        status = lc_token_recheck(thread->engine, checks, count, &err);
        (void)pthread_mutex_lock(&thread->lock);
        if (status != LOCI_OK) {
            lc_log_write(&thread->env->log, LOCI_LOG_WARN, "tokens.unchecked",
                         LC_LOG_TEXT("why", err.message));
            count = 0;
        } else {
            thread->generation = generation;
        }
        thread->read_us = now_us;
    }
    judge(thread, checks, count);
    lc_heap_free(&thread->env->heap, checks, bytes, LOCI_MEM_REQUESTS);
}

/* Runs a list of tasks without the lock. `failure` is NULL, or the reason not to use the store. */
static void run_tasks(lc_store_task *first, const loci_error *failure)
{
    loci_error found;

    while (first != NULL) {
        lc_store_task *task = first;
        loci_error err;
        loci_status status;

        first = task->next; /* The task is gone once it has run. */
        status = task->run(task, failure, &err);
        if (failure == NULL && status != LOCI_OK) {
            found = err;
            failure = &found;
        }
    }
}

/* Runs the tasks that are queued now. The caller holds the lock. */
static void run_queue(lc_store_thread *thread)
{
    lc_store_task *first = thread->first;
    void (*drained)(void *ctx);
    void *ctx;

    thread->first = thread->last = NULL;
    (void)pthread_mutex_unlock(&thread->lock);
    run_tasks(first, NULL);
    /* Read now: a hook that is set while tasks run is for their answers, too. */
    (void)pthread_mutex_lock(&thread->lock);
    drained = thread->drained;
    ctx = thread->drained_ctx;
    (void)pthread_mutex_unlock(&thread->lock);
    if (drained != NULL)
        drained(ctx);
    (void)pthread_mutex_lock(&thread->lock);
}

static void *run(void *ctx)
{
    lc_store_thread *thread = ctx;

    (void)pthread_mutex_lock(&thread->lock);
    while (!thread->is_stopping) {
        struct timespec until;

        if (thread->first != NULL) {
            run_queue(thread);
            continue;
        }
        if (thread->tickets == NULL) {
            (void)pthread_cond_wait(&thread->wake, &thread->lock);
            continue;
        }
        look(thread);
        (void)clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_nsec += TICK_MS * 1000000;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        if (!thread->is_stopping && thread->first == NULL)
            (void)pthread_cond_timedwait(&thread->wake, &thread->lock, &until);
    }
    (void)pthread_mutex_unlock(&thread->lock);
    return NULL;
}

loci_status lc_store_thread_start(lc_env *env, loci_engine *engine, lc_store_thread **out,
                                  loci_error *err)
{
    lc_store_thread *thread = lc_heap_zalloc(&env->heap, sizeof *thread, LOCI_MEM_ENGINE);
    pthread_condattr_t attributes;
    sigset_t all, before;
    int code;

    if (thread == NULL)
        return lc_fail_memory(err);
    thread->env = env;
    thread->engine = engine;
    (void)pthread_mutex_init(&thread->lock, NULL); /* None of these fails on Linux. */
    (void)pthread_condattr_init(&attributes);
    (void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&thread->wake, &attributes);
    (void)pthread_condattr_destroy(&attributes);
    /* A new thread inherits the signal mask: signals are for the host's own threads. */
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    code = pthread_create(&thread->thread, NULL, run, thread);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (code == 0) {
        *out = thread;
        return LOCI_OK;
    }
    (void)pthread_cond_destroy(&thread->wake);
    (void)pthread_mutex_destroy(&thread->lock);
    lc_heap_free(&env->heap, thread, sizeof *thread, LOCI_MEM_ENGINE);
    return lc_fail(err, LOCI_ERESOURCE, "cannot start a thread that waits for the store");
}

void lc_store_thread_on_drained(lc_store_thread *thread, void (*drained)(void *ctx), void *ctx)
{
    (void)pthread_mutex_lock(&thread->lock);
    thread->drained = drained;
    thread->drained_ctx = ctx;
    (void)pthread_mutex_unlock(&thread->lock);
}

static void fail_tasks(lc_store_task *first)
{
    loci_error err;

    (void)lc_fail(&err, LOCI_EUNAVAILABLE, "the daemon is shutting down");
    run_tasks(first, &err);
}

void lc_store_thread_stop(lc_store_thread *thread)
{
    lc_store_task *first;

    if (thread == NULL || thread->is_stopping)
        return;
    (void)pthread_mutex_lock(&thread->lock);
    thread->is_stopping = true;
    (void)pthread_cond_signal(&thread->wake);
    (void)pthread_mutex_unlock(&thread->lock);
    (void)pthread_join(thread->thread, NULL);
    (void)pthread_mutex_lock(&thread->lock);
    first = thread->first;
    thread->first = thread->last = NULL;
    (void)pthread_mutex_unlock(&thread->lock);
    fail_tasks(first);
}

void lc_store_thread_free(lc_store_thread *thread)
{
    if (thread == NULL)
        return;
    LC_ASSERT(thread->is_stopping && thread->tickets == NULL);
    (void)pthread_cond_destroy(&thread->wake);
    (void)pthread_mutex_destroy(&thread->lock);
    lc_heap_free(&thread->env->heap, thread, sizeof *thread, LOCI_MEM_ENGINE);
}

void lc_store_thread_add(lc_store_thread *thread, lc_store_task *task)
{
    bool is_stopping;

    task->next = NULL;
    (void)pthread_mutex_lock(&thread->lock);
    is_stopping = thread->is_stopping;
    if (!is_stopping) {
        if (thread->last == NULL)
            thread->first = task;
        else
            thread->last->next = task;
        thread->last = task;
        (void)pthread_cond_signal(&thread->wake);
    }
    (void)pthread_mutex_unlock(&thread->lock);
    if (is_stopping)
        fail_tasks(task);
}

void lc_store_thread_watch(lc_store_thread *thread, lc_token_ticket *ticket)
{
    (void)pthread_mutex_lock(&thread->lock);
    ticket->next = thread->tickets;
    if (ticket->next != NULL)
        ticket->next->previous = ticket;
    thread->tickets = ticket;
    thread->ticket_count++;
    if (thread->ticket_count == 1)
        (void)pthread_cond_signal(&thread->wake);
    (void)pthread_mutex_unlock(&thread->lock);
}

void lc_store_thread_forget(lc_store_thread *thread, lc_token_ticket *ticket)
{
    (void)pthread_mutex_lock(&thread->lock);
    if (ticket->previous != NULL)
        ticket->previous->next = ticket->next;
    else
        thread->tickets = ticket->next;
    if (ticket->next != NULL)
        ticket->next->previous = ticket->previous;
    thread->ticket_count--;
    (void)pthread_mutex_unlock(&thread->lock);
}
