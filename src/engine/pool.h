/* pool.h - a few threads for submitted calls that do not write.
 *
 * The first task starts the threads. Tasks run in the order in which they were added, but at most
 * half of the threads run tasks of one group that are not short: long calls of one tenant never
 * occupy all threads. A task stays in its caller's memory until it has run. One thread runs short
 * tasks one after the other and calls lc_engine_drained() once after the last; before a task that
 * may take long it calls it too, and wakes another thread for the rest of the queue.
 *
 * A task that waits for its caller, such as an export that the caller reads slowly, would keep a
 * thread from all others. It gets a thread of its own instead; the number of these is bounded. */
#ifndef LC_ENGINE_POOL_H
#define LC_ENGINE_POOL_H

#include "engine/engine.h"

typedef struct lc_task {
    void (*run)(void *ctx); /* Must not raise a fault. */
    void *ctx;
    bool is_short;         /* Takes less time than waking a thread. */
    bool waits_for_caller; /* Runs in a thread of its own. */
    uint64_t group;        /* Of the tenant that it runs for. */
    struct lc_task *next;  /* These two are the pool's. */
    struct lc_pool *pool;
} lc_task;

typedef struct lc_pool lc_pool;

loci_status lc_pool_new(loci_engine *engine, lc_pool **out, loci_error *err);
/* Runs the queued tasks, waits for all others and ends the threads. NULL is fine. */
void lc_pool_free(lc_pool *pool);

/* LOCI_ERESOURCE when no thread can be started or the queue is full, LOCI_EUNAVAILABLE when too
 * many tasks wait for their callers; the task is then not run. */
loci_status lc_pool_add(lc_pool *pool, lc_task *task, loci_error *err);
loci_status lc_engine_queue_task(loci_engine *engine, lc_task *task, loci_error *err);

#endif /* LC_ENGINE_POOL_H */
