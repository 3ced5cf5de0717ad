#include "server/store_thread.h"

#include <semaphore.h>
#include <time.h>

#include "lib/test.h"

#define PATIENCE_S 20

typedef struct early {
    lc_store_task task; /* First: the thread knows nothing else. */
    lc_store_thread *thread;
    sem_t drained;
} early;

static void count(void *ctx)
{
    (void)sem_post(&((early *)ctx)->drained);
}

static loci_status set_hook(lc_store_task *task, const loci_error *failure, loci_error *err)
{
    early *e = (early *)task;

    (void)err;
    CHECK(failure == NULL);
    lc_store_thread_on_drained(e->thread, count, e);
    return LOCI_OK;
}

/* A daemon sets the hook when it already listens. A first request whose task began before that, and
 * was answered after it, was never sent: its client waited for ever. */
TEST(store_thread, a_hook_set_while_tasks_run_is_called_for_them)
{
    early e = {.task = {.run = set_hook}};
    struct timespec until;
    lc_env env = {0};
    loci_error err;

    lc_heap_init(&env.heap, test_heap());
    CHECK_EQ(sem_init(&e.drained, 0, 0), 0);
    CHECK_OK(lc_store_thread_start(&env, NULL, &e.thread, &err), err);
    lc_store_thread_add(e.thread, &e.task);
    (void)clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += PATIENCE_S;
    CHECK_EQ(sem_timedwait(&e.drained, &until), 0);
    lc_store_thread_stop(e.thread);
    lc_store_thread_free(e.thread);
    (void)sem_destroy(&e.drained);
}
