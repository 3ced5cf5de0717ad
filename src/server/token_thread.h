/* token_thread.h - the thread that asks the store about tokens, so that the event loop does not.
 *
 * A stream outlives the request that opened it, and must not outlive its token. Each stream with a
 * token has a ticket. About once a second, and at once after this process has changed tokens, the
 * thread reads the tokens of all tickets on one snapshot; a token that many streams share is read
 * once. When a token was revoked or has expired, the thread sets `ended` and wakes the stream.
 * While the store does not answer, tickets stay as they are: a stream gets no events then either.
 */
#ifndef LC_SERVER_TOKEN_THREAD_H
#define LC_SERVER_TOKEN_THREAD_H

#include "base/env.h"
#include "base/id.h"

#include <stdatomic.h>

typedef struct lc_token_thread lc_token_thread;

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

loci_status lc_token_thread_start(lc_env *env, loci_engine *engine, lc_token_thread **out,
                                  loci_error *err);
/* There are no tickets any more. NULL is fine. */
void lc_token_thread_stop(lc_token_thread *thread);

/* Neither waits for the store. */
void lc_token_thread_watch(lc_token_thread *thread, lc_token_ticket *ticket);
void lc_token_thread_forget(lc_token_thread *thread, lc_token_ticket *ticket);

#endif /* LC_SERVER_TOKEN_THREAD_H */
