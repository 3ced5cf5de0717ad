/* settle.c - Invariant: what this thread has promised is in `left`, which is empty unless it holds.
 *
 * A thread-local, because it goes past everything between those who answer and those who are called
 * back, and is nobody's but the thread's.
 */
#include "base/settle.h"

#include <stddef.h>

#define LEFT_MAX 4 /* Different things; in a daemon there is one. */

static _Thread_local struct {
    bool holds;
    size_t count;
    struct {
        lc_settle_fn *fn;
        void *ctx;
    } left[LEFT_MAX];
} own;

void lc_settle_hold(void)
{
    own.holds = true;
}

lc_settle_promise lc_settle_later(lc_settle_fn *fn, void *ctx)
{
    if (!own.holds)
        return LC_SETTLE_NOT;
    for (size_t i = 0; i < own.count; i++) {
        if (own.left[i].fn == fn && own.left[i].ctx == ctx)
            return LC_SETTLE_KNOWN;
    }
    if (own.count == LEFT_MAX)
        return LC_SETTLE_NOT;
    own.left[own.count].fn = fn;
    own.left[own.count].ctx = ctx;
    own.count++;
    return LC_SETTLE_NEW;
}

void lc_settle(void)
{
    own.holds = false; /* What is done now leaves nothing for later. */
    for (size_t i = 0; i < own.count; i++)
        own.left[i].fn(own.left[i].ctx);
    own.count = 0;
}
