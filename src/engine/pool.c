/* pool.c - Invariant: `length` is the length of the queue; no lock is held while a task runs. A
 * thread of one task is detached; `own_count` includes it until it no longer uses the pool. */
#include "engine/pool.h"

#include <pthread.h>
#include <sched.h>

#include "base/error.h"
#include "engine/internal.h"

#define THREAD_COUNT 4
#define GROUP_THREADS_MAX 2 /* For tasks of one group that are not short. */
#define TASKS_MAX 10000     /* In the queue; more are refused. */
#define OWN_THREADS_MAX 4   /* Each for one task that waits for its caller. */
#define BACKLOG_MAX 8       /* Tasks that may wait for a thread busy with a short one. */
#define UNDRAINED_MAX 16    /* Tasks run by one thread between two calls of lc_engine_drained(). */

struct lc_pool {
    loci_engine *engine;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    pthread_t threads[THREAD_COUNT];
    int thread_count;
    int own_count;                      /* Threads of one task each. */
    pthread_cond_t own_ended;           /* That is 0. */
    int idle_count;                     /* Threads that wait for work. */
    int long_count;                     /* Threads that run a task which is not short, */
    uint64_t long_groups[THREAD_COUNT]; /* and their groups. */
    bool is_stopping;
    lc_task *first, *last;
    int length;
};

/* The lock is held, here and in the next four functions. */
static bool may_run(const lc_pool *pool, const lc_task *task)
{
    int running = 0;

    for (int i = 0; i < pool->long_count; i++)
        running += pool->long_groups[i] == task->group;
    return task->is_short || running < GROUP_THREADS_MAX;
}

/* The first task that may run now, or NULL; and the one before it in the queue, or NULL. */
static lc_task *find_next(const lc_pool *pool, lc_task **out_before)
{
    lc_task *task = pool->first;

    *out_before = NULL;
    while (task != NULL && !may_run(pool, task)) {
        *out_before = task;
        task = task->next;
    }
    return task;
}

/* Wakes a thread for the queue, unless one that runs a short task will come to it soon. */
static void wake_thread(lc_pool *pool)
{
    int available = pool->thread_count - pool->idle_count - pool->long_count;
    lc_task *before;

    if (pool->idle_count > 0 && pool->length > (available > 0 ? BACKLOG_MAX : 0) &&
        find_next(pool, &before) != NULL)
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

/* Takes the task out of the queue and runs it without the lock. */
static void run_task(lc_pool *pool, lc_task *task, lc_task *before)
{
    bool is_short = task->is_short; /* The task may be freed when it has run. */
    uint64_t group = task->group;

    if (before == NULL)
        pool->first = task->next;
    else
        before->next = task->next;
    if (pool->last == task)
        pool->last = before;
    pool->length--;
    if (!is_short)
        pool->long_groups[pool->long_count++] = group;
    wake_thread(pool);
    (void)pthread_mutex_unlock(&pool->lock);
    task->run(task->ctx);
    (void)pthread_mutex_lock(&pool->lock);
    for (int i = 0; !is_short; i++) {
        if (pool->long_groups[i] == group) {
            pool->long_groups[i] = pool->long_groups[--pool->long_count];
            break;
        }
    }
}

static void *run_tasks(void *ctx)
{
    lc_pool *pool = ctx;
    int undrained = 0;

    (void)pthread_mutex_lock(&pool->lock);
    for (;;) {
        lc_task *before, *next = find_next(pool, &before);
        bool is_next_short = next != NULL && next->is_short;

        if (next == NULL && undrained == 0 && pool->is_stopping)
            break;
        if (undrained > 0 && (!is_next_short || undrained == UNDRAINED_MAX)) {
            undrained = 0;
            (void)pthread_mutex_unlock(&pool->lock);
            lc_engine_drained(pool->engine);
            (void)pthread_mutex_lock(&pool->lock);
        } else if (next != NULL) {
            run_task(pool, next, before);
            undrained++;
        } else {
            wait_for_task(pool);
        }
    }
    (void)pthread_mutex_unlock(&pool->lock);
    return NULL;
}

/* ---- Tasks with a thread of their own -------------------------------------------------------- */

static void *run_own(void *ctx)
{
    lc_task *task = ctx;
    lc_pool *pool = task->pool; /* The task may be freed when it has run. */

    task->run(task->ctx);
    lc_engine_drained(pool->engine);
    (void)pthread_mutex_lock(&pool->lock);
    if (--pool->own_count == 0)
        (void)pthread_cond_broadcast(&pool->own_ended);
    (void)pthread_mutex_unlock(&pool->lock);
    return NULL;
}

/* The lock is held. */
static loci_status start_own(lc_pool *pool, lc_task *task, loci_error *err)
{
    pthread_t thread;

    if (pool->own_count >= OWN_THREADS_MAX)
        return lc_fail(err, LOCI_EUNAVAILABLE,
                       "%d calls stream to their callers, which is the maximum; try again later",
                       OWN_THREADS_MAX);
    task->pool = pool;
    if (pthread_create(&thread, NULL, run_own, task) != 0)
        return lc_fail(err, LOCI_ERESOURCE, "cannot start a thread for a call that streams");
    (void)pthread_detach(thread); /* Cannot fail for a new thread. */
    pool->own_count++;            /* The thread needs the lock to decrement this, and we have it. */
    return LOCI_OK;
}

/* ---- Life ------------------------------------------------------------------------------------ */

loci_status lc_pool_new(loci_engine *engine, lc_pool **out, loci_error *err)
{
    lc_pool *pool = lc_heap_zalloc(&lc_engine_env(engine)->heap, sizeof *pool, LOCI_MEM_ENGINE);

    if (pool == NULL)
        return lc_fail_memory(err);
    pool->engine = engine;
    (void)pthread_mutex_init(&pool->lock, NULL); /* Neither fails with default attributes. */
    (void)pthread_cond_init(&pool->wake, NULL);
    (void)pthread_cond_init(&pool->own_ended, NULL);
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
    while (pool->own_count > 0)
        (void)pthread_cond_wait(&pool->own_ended, &pool->lock);
    (void)pthread_mutex_unlock(&pool->lock);
    for (int i = 0; i < pool->thread_count; i++)
        (void)pthread_join(pool->threads[i], NULL);
    (void)pthread_cond_destroy(&pool->own_ended);
    (void)pthread_cond_destroy(&pool->wake);
    (void)pthread_mutex_destroy(&pool->lock);
    lc_heap_free(&lc_engine_env(pool->engine)->heap, pool, sizeof *pool, LOCI_MEM_ENGINE);
}

loci_status lc_pool_add(lc_pool *pool, lc_task *task, loci_error *err)
{
    loci_status status = LOCI_OK;

    (void)pthread_mutex_lock(&pool->lock);
    if (task->waits_for_caller) {
        status = start_own(pool, task, err);
        (void)pthread_mutex_unlock(&pool->lock);
        return status;
    }
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
