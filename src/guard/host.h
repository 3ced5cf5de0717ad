/* host.h - a guard as hosts know it, loci.h's loci_guard: a controller that runs by itself. */
#ifndef LC_GUARD_HOST_H
#define LC_GUARD_HOST_H

#include "base/json.h"
#include "guard/controller.h"
#include "guard/probe.h"
#include "guard/watch.h"

typedef void lc_ticked_fn(void *ctx, int64_t now_ms);

struct loci_guard {
    lc_heap heap;
    lc_controller controller;
    bool has_controller;
    lc_probe *probe; /* NULL with readings of the host. */
    lc_watch watch;
    bool is_reported; /* By the watch, since the last tick. */
    loci_reading_fn *reading;
    void *reading_ctx;
    loci_clock_fn *clock; /* Monotonic µs. */
    void *clock_ctx;
    pthread_cond_t granted; /* The outcome of a ticket changed. */
    pthread_t thread;
    bool has_thread;
    int wake_fd; /* -1 = no thread. */
    _Atomic bool is_stopping;
    _Atomic bool is_woken; /* A wake-up is on its way. */
    _Atomic int64_t outside_bytes;
    lc_ticked_fn *ticked; /* Or NULL; inside the gate, like the next. */
    void *ticked_ctx;
};

/* Calls `ticked` after each tick, in the thread of the guard and without a lock; NULL ends it. */
void lc_guard_on_tick(loci_guard *guard, lc_ticked_fn *ticked, void *ctx);
/* Bytes of other processes that share the limit. They are reported like components, and no reading
 * of this process shows them: each reading is raised by them. */
void lc_guard_set_outside(loci_guard *guard, int64_t bytes);
/* The guard's clock. */
int64_t lc_guard_now_ms(const loci_guard *guard);
/* The sample of the last tick. */
lc_sample lc_guard_sample(loci_guard *guard);
/* Writes the members of loci_guard_status() into an object that is open. */
void lc_guard_put_status(loci_guard *guard, lc_json_writer *w);

#endif /* LC_GUARD_HOST_H */
