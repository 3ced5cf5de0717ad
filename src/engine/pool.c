/* pool.c - Invariant: `length` is the length of the queue; no lock is held while a task runs. */
#include "engine/pool.h"

#include <pthread.h>
#include <sched.h>

#include "base/error.h"
#include "engine/internal.h"

#define THREAD_COUNT 2
#define TASKS_MAX 10000  /* In the queue; more are refused. */
#define BACKLOG_MAX 8    /* Tasks that may wait for a thread busy with a short one. */
#define UNDRAINED_MAX 16 /* Tasks run by one thread between two calls of lc_engine_drained(). */

struct lc_pool {
    loci_engine *engine;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    pthread_t threads[THREAD_COUNT];
    int thread_count;
    int idle_count; /* Threads that wait for work. */
    int long_count; /* Threads that run a task which is not short. */
    bool is_stopping;
    lc_task *first, *last;
    int length;
};

/* Wakes a thread for the queue, unless one that runs a short task will come to it soon. The lock is
 * held, here and in the next two. */
static void wake_thread(lc_pool *pool)
{
    int available = pool->thread_count - pool->idle_count - pool->long_count;

    if (pool->length > (available > 0 ? BACKLOG_MAX : 0) && pool->idle_count > 0)
        (void)pthread_cond_signal(&pool->wake);
}

/* Yields after the wake-up: the thread that queued the task may have been preempted for this one
 * while it has more to queue, and should continue first. */
static void wait_for_task(lc_pool *pool)
{
    pool->idle_count++;
    (void)pthread_cond_wait(&pool->wake, &pool->lock);
    pool->idle_count--;
    (void)pthread_mutex_unlock(&pool->lock);
    (void)sched_yield();
    (void)pthread_mutex_lock(&pool->lock);
}

static void run_first(lc_pool *pool)
{
    lc_task *task = pool->first;
    bool is_short = task->is_short; /* The task may be freed when it has run. */

    pool->first = task->next;
    if (pool->first == NULL)
        pool->last = NULL;
    pool->length--;
    pool->long_count += !is_short;
    wake_thread(pool);
    (void)pthread_mutex_unlock(&pool->lock);
    task->run(task->ctx);
    (void)pthread_mutex_lock(&pool->lock);
    pool->long_count -= !is_short;
}

static void *run_tasks(void *ctx)
{
    lc_pool *pool = ctx;
    int undrained = 0;

    (void)pthread_mutex_lock(&pool->lock);
    while (pool->first != NULL || undrained > 0 || !pool->is_stopping) {
        bool is_next_short = pool->first != NULL && pool->first->is_short;

        if (undrained > 0 && (!is_next_short || undrained == UNDRAINED_MAX)) {
            undrained = 0;
            (void)pthread_mutex_unlock(&pool->lock);
            lc_engine_drained(pool->engine);
            (void)pthread_mutex_lock(&pool->lock);
        } else if (pool->first != NULL) {
            run_first(pool);
            undrained++;
        } else {
            wait_for_task(pool);
        }
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
        status = lc_fail(err, LOCI_ERESOURCE, "cannot start a thread to run calls");
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
        wake_thread(pool);
    }
    (void)pthread_mutex_unlock(&pool->lock);
    return status;
}

loci_status lc_engine_queue_task(loci_engine *engine, lc_task *task, loci_error *err)
{
    return lc_pool_add(engine->pool, task, err);
}
