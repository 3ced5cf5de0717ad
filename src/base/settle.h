/* settle.h - what is to be done once for many answers is left until the last of them.
 *
 * A thread that answers one call after the other (the pool's, the writer's) holds; whoever it calls
 * back may then leave something for the moment when it has no more to answer, such as waking
 * another thread: woken for the first answer, that one would only take the processor from the one
 * who has the second.
 *
 *     lc_settle_hold();  answer, answer, answer -> lc_settle_later(wake, loop);  lc_settle();
 */
#ifndef LC_BASE_SETTLE_H
#define LC_BASE_SETTLE_H

#include <stdbool.h>

typedef void lc_settle_fn(void *ctx);

typedef enum lc_settle_promise {
    LC_SETTLE_NOT,  /* This thread does not hold: whoever asks does it now. */
    LC_SETTLE_NEW,  /* It will be done. */
    LC_SETTLE_KNOWN /* The same was promised before, and will be done once. */
} lc_settle_promise;

/* This thread holds from now on, until lc_settle(). Again does no harm. */
void lc_settle_hold(void);
lc_settle_promise lc_settle_later(lc_settle_fn *fn, void *ctx);
/* Does what was left, in the order it came, and holds no more. */
void lc_settle(void);

#endif /* LC_BASE_SETTLE_H */
