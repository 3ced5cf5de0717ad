/* pool.h - a few threads for calls that nobody waits for and that do not write.
 *
 * Started with the first task. Tasks are run in the order they came; a task is the caller's storage
 * until it runs. One thread runs those that are short one after the other and settles (settle.h)
 * when it has done all; before one that may take long it settles, and another thread is woken. */
#ifndef LC_ENGINE_POOL_H
#define LC_ENGINE_POOL_H

#include "engine/engine.h"

typedef struct lc_task {
    void (*run)(void *ctx); /* Must not raise a fault. */
    void *ctx;
    bool is_short; /* Shorter than waking a thread for it. */
    struct lc_task *next;
} lc_task;

typedef struct lc_pool lc_pool;

loci_status lc_pool_new(loci_engine *engine, lc_pool **out, loci_error *err);
/* Runs what is queued and ends the threads. NULL is fine. */
void lc_pool_free(lc_pool *pool);

/* LOCI_ERESOURCE when no thread can be had or too much is queued; the task is then not run. */
loci_status lc_pool_add(lc_pool *pool, lc_task *task, loci_error *err);
loci_status lc_engine_queue_task(loci_engine *engine, lc_task *task, loci_error *err);

#endif /* LC_ENGINE_POOL_H */
