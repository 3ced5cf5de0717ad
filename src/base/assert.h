/* assert.h - detects bugs in loci at run time, before they write wrong data.
 *
 * LC_ASSERT stays on in release: an event log outlives the process, and a wrong event is worse than
 * a stop. It is for conditions that only a bug in loci can break; bad arguments, a failing disk and
 * damaged data are statuses.
 *
 * After a failed assertion the call cannot continue, and a library must not end its host. So every
 * entry to loci (a public call, the body of a worker thread) runs inside a fault frame; the
 * assertion unwinds to it, it is reported to the frame's owner, whose handle returns `internal`
 * from then on. Resources of the interrupted call are leaked on purpose: nothing it used can be
 * trusted. Without a frame the process aborts.
 */
#ifndef LC_BASE_ASSERT_H
#define LC_BASE_ASSERT_H

#include <setjmp.h>

typedef struct lc_fault_frame {
    jmp_buf landing;
    void (*report)(void *ctx, const char *what, const char *file, int line);
    void *ctx;
    struct lc_fault_frame *outer; /* The frame this one is nested in, restored by leave. */
} lc_fault_frame;

/* Enters `frame`: evaluates to true when it is entered and a second time, to false, after a fault.
 *     if (LC_FAULT_ENTER(&frame)) { work; } else { status = internal; }
 *     lc_fault_leave(&frame);
 * Locals changed inside and read after a fault must be volatile. */
#define LC_FAULT_ENTER(frame) (lc_fault_enter(frame), setjmp((frame)->landing) == 0)

void lc_fault_enter(lc_fault_frame *frame);
void lc_fault_leave(lc_fault_frame *frame);
_Noreturn void lc_fault_raise(const char *what, const char *file, int line);

#define LC_ASSERT(condition)                                                                       \
    do {                                                                                           \
        if (__builtin_expect(!(condition), 0))                                                     \
            lc_fault_raise(#condition, __FILE__, __LINE__);                                        \
    } while (0)

#define LC_UNREACHABLE() lc_fault_raise("unreachable", __FILE__, __LINE__)

#endif /* LC_BASE_ASSERT_H */
