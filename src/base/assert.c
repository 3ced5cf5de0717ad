/* assert.c - Invariant: `innermost` is the frame entered last by this thread and not yet left.
 *
 * It is the one thread-local of the library outside guard/: an assertion deep in base/ has no
 * handle to report to, and passing one through every function would cost more than it protects.
 */
#include "base/assert.h"

#include <stdlib.h>

static _Thread_local lc_fault_frame *innermost;

void lc_fault_enter(lc_fault_frame *frame)
{
    frame->outer = innermost;
    innermost = frame;
}

void lc_fault_leave(lc_fault_frame *frame)
{
    innermost = frame->outer;
}

void lc_fault_raise(const char *what, const char *file, int line)
{
    lc_fault_frame *frame = innermost;
    void (*report)(void *ctx, const char *what, const char *file, int line);

    if (frame == NULL)
        abort();
    /* Once: a report that fails an assertion itself lands in the frame at once. */
    report = frame->report;
    frame->report = NULL;
    if (report != NULL)
        report(frame->ctx, what, file, line);
    /* Left already: what the owner does after a fault, and fails in, is for the frame around it. */
    innermost = frame->outer;
    longjmp(frame->landing, 1);
}
