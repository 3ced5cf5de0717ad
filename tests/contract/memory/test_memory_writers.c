/* Many writers, one key: threads of one engine and engines of several processes store statements
 * about one attribute. One of them is current at the end, and all of them are in the history. */
#include "lib/calls.h"

#include <pthread.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/str.h"

#define THREADS 8
#define EACH 10

typedef struct writer {
    loci_engine *engine;
    int number;
    pthread_t thread;
    int failures;
} writer;

static void *write_all(void *ctx)
{
    writer *w = ctx;

    for (int i = 0; i < EACH; i++) {
        char args[128];
        int bytes = snprintf(args, sizeof args,
                             "{\"text\":\"step %d of %d\",\"attribute\":\"progress\"}", i,
                             w->number);
        loci_answer *answer = NULL;
        loci_error err;

        if (loci_call(w->engine, "memory.store", (loci_str){args, (size_t)bytes}, NULL, &answer,
                      &err) != LOCI_OK)
            w->failures++;
        loci_answer_free(answer);
    }
    return NULL;
}

static int run_threads(loci_engine *engine, int first)
{
    writer writers[THREADS];
    int failures = 0;

    for (int i = 0; i < THREADS; i++) {
        writers[i] = (writer){.engine = engine, .number = first + i};
        CHECK_EQ(pthread_create(&writers[i].thread, NULL, write_all, &writers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        CHECK_EQ(pthread_join(writers[i].thread, NULL), 0);
        failures += writers[i].failures;
    }
    return failures;
}

/* The child has an engine of its own and ends without cleaning up after the test. */
static pid_t start_process(const char *store)
{
    pid_t child = fork();

    if (child == 0) {
        loci_open_options options = LOCI_OPEN_OPTIONS_INIT;
        loci_engine *engine = NULL;
        loci_error err;
        int failures = 1;

        options.store = store;
        if (loci_open(&options, &engine, &err) == LOCI_OK) {
            failures = run_threads(engine, THREADS);
            loci_close(engine);
        }
        _exit(failures == 0 ? 0 : 1);
    }
    return child;
}

TEST(memory_writers, one_key_ends_in_one_current_memory_with_a_full_history)
{
    const char *store = test_store(test_tmpdir(), "store.db");
    loci_engine *engine;
    loci_str answer;
    int status = 1;
    pid_t child;

    test_close(test_open(store)); /* Both find the tables. */
    child = start_process(store);
    CHECK(child > 0);
    engine = test_open_threads(store);
    CHECK_EQ(run_threads(engine, 0), 0);
    CHECK_EQ(waitpid(child, &status, 0), child);
    CHECK_EQ(status, 0);
    answer = test_call(engine, "memory.list", "{'limit':1000}");
    CHECK(test_member(answer, "memories.0").len > 0);
    CHECK_STR_EQ(test_member(answer, "memories.1"), "");
    answer = test_call(engine, "memory.history", "{'id':%s,'limit':1000}",
                       test_format("%.*s", LC_STR_ARG(test_member(answer, "memories.0.id"))));
    CHECK(test_member(answer, test_format("memories.%d", 2 * THREADS * EACH - 1)).len > 0);
    CHECK_STR_EQ(test_member(answer, test_format("memories.%d", 2 * THREADS * EACH)), "");
    test_close(engine);
}
