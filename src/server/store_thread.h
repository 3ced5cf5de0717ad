/* store_thread.h - a thread that waits for the store, so that the event loop does not.
 *
 * Tasks run in the order in which they were added. They answer requests, or admit them; `drained`
 * is called after each group of them. When a task finds that the store does not answer, the tasks
 * that were waiting behind it fail at once instead of waiting one after the other.
 *
 * A stream outlives the request that opened it, and must not outlive its token. Each stream with a
 * token has a ticket. About once a second, and at once after this process has changed tokens, the
 * thread reads the tokens of all tickets on one snapshot; a token that many streams share is read
 * once. When a token was revoked or has expired, the thread sets `ended` and wakes the stream.
 * While the store does not answer, tickets stay as they are: a stream gets no events then either.
 */
#ifndef LC_SERVER_STORE_THREAD_H
#define LC_SERVER_STORE_THREAD_H

#include "base/env.h"
#include "base/id.h"

#include <stdatomic.h>

typedef struct lc_store_thread lc_store_thread;

typedef enum lc_token_end {
    LC_TOKEN_VALID,
    LC_TOKEN_WAS_REVOKED,
    LC_TOKEN_HAS_EXPIRED
} lc_token_end;

/* A member of a stream; the caller sets the first three. */
typedef struct lc_token_ticket {
    lc_id token_id;
    int64_t expires_at; /* System time in µs, or LC_TOKEN_NO_TIME. */
    int wake_fd;        /* An eventfd, written to when the token has ended. */
    _Atomic lc_token_end ended;
    struct lc_token_ticket *previous, *next;
} lc_token_ticket;

/* Lives in its caller's memory until it is run. */
typedef struct lc_store_task {
    /* Called once, by the thread. With `failure` the store is known not to answer, or the daemon
     * stops: the task must not use the store. Returns the status of the store, not of the task. */
    loci_status (*run)(struct lc_store_task *task, const loci_error *failure, loci_error *err);
    struct lc_store_task *next;
} lc_store_task;

loci_status lc_store_thread_start(lc_env *env, loci_engine *engine, lc_store_thread **out,
                                  loci_error *err);
/* Called by the thread after each group of tasks, until it is stopped. Set once. */
void lc_store_thread_on_drained(lc_store_thread *thread, void (*drained)(void *ctx), void *ctx);
/* Ends the thread. Tasks that are queued or added later fail at once. NULL, and twice, are fine. */
void lc_store_thread_stop(lc_store_thread *thread);
/* After it was stopped; there are no tickets any more. NULL is fine. */
void lc_store_thread_free(lc_store_thread *thread);

/* Does not wait. After the stop the task is run, with a failure, before this returns. */
void lc_store_thread_add(lc_store_thread *thread, lc_store_task *task);

/* Neither waits for the store. */
void lc_store_thread_watch(lc_store_thread *thread, lc_token_ticket *ticket);
void lc_store_thread_forget(lc_store_thread *thread, lc_token_ticket *ticket);

#endif /* LC_SERVER_STORE_THREAD_H */
