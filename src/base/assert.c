/* assert.c - Invariant: `innermost` is the frame entered last by this thread and not yet left.
 *
 * It is the only thread-local variable of the library outside guard/: an assertion deep in base/
 * has no handle to report to, and passing one through every function would cost more than it
 * protects.
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
    /* Called once: if the report itself fails an assertion, that returns to the frame directly. */
    report = frame->report;
    frame->report = NULL;
    if (report != NULL)
        report(frame->ctx, what, file, line);
    /* The frame is left already: a fault while its owner cleans up belongs to the outer frame. */
    innermost = frame->outer;
    longjmp(frame->landing, 1);
}
