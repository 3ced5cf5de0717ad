/* pool.c - Invariant: `length` is the length of the queue; no lock is held while a task runs. */
#include "engine/pool.h"

#include <pthread.h>
#include <sched.h>

#include "base/error.h"
#include "base/settle.h"
#include "engine/internal.h"

#define THREAD_COUNT 2
#define TASKS_MAX 10000          /* Queued; beyond it the caller should slow down. */
#define SHORT_TASKS_ALONE 8      /* That may wait for a thread which has a short one. */
#define SHORT_TASKS_UNSETTLED 16 /* Answers that may wait for the next. */

struct lc_pool {
    loci_engine *engine;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    pthread_t threads[THREAD_COUNT];
    int thread_count;
    int idle_count; /* Of those that wait to be woken, */
    int long_count; /* and of those that have a task which may take long. */
    bool is_stopping;
    lc_task *first, *last;
    int length;
};

/* The lock is held, here and in what follows. */
static lc_task *take(lc_pool *pool)
{
    lc_task *task = pool->first;

    pool->first = task->next;
    if (pool->first == NULL)
        pool->last = NULL;
    pool->length--;
    return task;
}

/* Wakes a thread for what is queued, unless one that is awake will soon have done it. */
static void call_for_help(lc_pool *pool)
{
    int at_hand = pool->thread_count - pool->idle_count - pool->long_count;

    if (pool->length > (at_hand > 0 ? SHORT_TASKS_ALONE : 0) && pool->idle_count > 0)
        (void)pthread_cond_signal(&pool->wake);
}

static void settle(lc_pool *pool)
{
    (void)pthread_mutex_unlock(&pool->lock);
    lc_settle();
    (void)pthread_mutex_lock(&pool->lock);
}

/* Whoever woke this thread may have been stopped for it, with more to queue: it goes on first. */
static void wait_for_work(lc_pool *pool)
{
    pool->idle_count++;
    (void)pthread_cond_wait(&pool->wake, &pool->lock);
    pool->idle_count--;
    (void)pthread_mutex_unlock(&pool->lock);
    (void)sched_yield();
    (void)pthread_mutex_lock(&pool->lock);
}

static void *run_tasks(void *ctx)
{
    lc_pool *pool = ctx;
    int unsettled = 0;

    (void)pthread_mutex_lock(&pool->lock);
    for (;;) {
        lc_task *task;
        bool is_short;

        if (unsettled > 0 &&
            (pool->first == NULL || !pool->first->is_short || unsettled == SHORT_TASKS_UNSETTLED)) {
            settle(pool); /* Meanwhile everything may change. */
            unsettled = 0;
            continue;
        }
        if (pool->first == NULL && pool->is_stopping)
            break;
        if (pool->first == NULL) {
            wait_for_work(pool);
            continue;
        }
        task = take(pool);
        unsettled++;
        is_short = task->is_short; /* Afterwards its storage is somebody else's. */
        pool->long_count += !is_short;
        call_for_help(pool);
        (void)pthread_mutex_unlock(&pool->lock);
        lc_settle_hold();
        task->run(task->ctx);
        (void)pthread_mutex_lock(&pool->lock);
        pool->long_count -= !is_short;
    }
    (void)pthread_mutex_unlock(&pool->lock);
    return NULL;
}

loci_status lc_pool_new(loci_engine *engine, lc_pool **out, loci_error *err)
{
    lc_pool *pool = lc_heap_zalloc(&lc_engine_env(engine)->heap, sizeof *pool, LOCI_MEM_ENGINE);

    if (pool == NULL)
        return lc_fail_memory(err);
    pool->engine = engine;
    (void)pthread_mutex_init(&pool->lock, NULL); /* Neither fails with default attributes. */
    (void)pthread_cond_init(&pool->wake, NULL);
    *out = pool;
    return LOCI_OK;
}

void lc_pool_free(lc_pool *pool)
{
    if (pool == NULL)
        return;
    (void)pthread_mutex_lock(&pool->lock);
    pool->is_stopping = true;
    (void)pthread_cond_broadcast(&pool->wake);
    (void)pthread_mutex_unlock(&pool->lock);
    for (int i = 0; i < pool->thread_count; i++)
        (void)pthread_join(pool->threads[i], NULL);
    (void)pthread_cond_destroy(&pool->wake);
    (void)pthread_mutex_destroy(&pool->lock);
    lc_heap_free(&lc_engine_env(pool->engine)->heap, pool, sizeof *pool, LOCI_MEM_ENGINE);
}

loci_status lc_pool_add(lc_pool *pool, lc_task *task, loci_error *err)
{
    loci_status status = LOCI_OK;

    (void)pthread_mutex_lock(&pool->lock);
    while (pool->thread_count < THREAD_COUNT &&
           pthread_create(&pool->threads[pool->thread_count], NULL, run_tasks, pool) == 0)
        pool->thread_count++;
    if (pool->thread_count == 0) {
        status = lc_fail(err, LOCI_ERESOURCE, "no thread could be started");
    } else if (pool->length >= TASKS_MAX) {
        status = lc_fail(err, LOCI_ERESOURCE, "%d calls are waiting; try again later", TASKS_MAX);
    } else {
        task->next = NULL;
        if (pool->last == NULL)
            pool->first = task;
        else
            pool->last->next = task;
        pool->last = task;
        pool->length++;
        call_for_help(pool);
    }
    (void)pthread_mutex_unlock(&pool->lock);
    return status;
}

loci_status lc_engine_queue_task(loci_engine *engine, lc_task *task, loci_error *err)
{
    return lc_pool_add(engine->pool, task, err);
}
