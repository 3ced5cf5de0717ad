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
} unsettled;

void lc_settle_hold(void)
{
    unsettled.holds = true;
}

lc_settle_promise lc_settle_later(lc_settle_fn *fn, void *ctx)
{
    if (!unsettled.holds)
        return LC_SETTLE_NOT;
    for (size_t i = 0; i < unsettled.count; i++) {
        if (unsettled.left[i].fn == fn && unsettled.left[i].ctx == ctx)
            return LC_SETTLE_KNOWN;
    }
    if (unsettled.count == LEFT_MAX)
        return LC_SETTLE_NOT;
    unsettled.left[unsettled.count].fn = fn;
    unsettled.left[unsettled.count].ctx = ctx;
    unsettled.count++;
    return LC_SETTLE_NEW;
}

void lc_settle(void)
{
    unsettled.holds = false; /* What is done now leaves nothing for later. */
    for (size_t i = 0; i < unsettled.count; i++)
        unsettled.left[i].fn(unsettled.left[i].ctx);
    unsettled.count = 0;
}
