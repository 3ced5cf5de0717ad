/* test_writers.c - many writers at once: every acknowledged write is there exactly once. (A popular
 * memory server keeps 1 of 20.) */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/calls.h"

#define THREADS 20
#define USERS 3

typedef struct writer {
    loci_engine *engine;
    int number; /* Different in every process, too. */
    int writes;
    int failed;
} writer;

/* Odd writers share a slot, even ones have their own; the value says whose it is. */
static void *write_facts(void *ctx)
{
    writer *w = ctx;

    for (int n = 0; n < w->writes; n++) {
        char args[256];
        loci_answer *answer = NULL;
        loci_error err;

        snprintf(args, sizeof args, "{\"user_id\":\"u%d\",\"key\":\"%s%d\",\"value\":\"w%d-%d\"}",
                 w->number % USERS, w->number % 2 ? "shared" : "own", w->number % 2 ? 0 : w->number,
                 w->number, n);
        if (loci_call(w->engine, "fact.write", loci_str_of(args), NULL, &answer, &err) != LOCI_OK) {
            fprintf(stderr, "%s: %s\n", args, err.message);
            w->failed++;
        }
        loci_answer_free(answer);
    }
    return NULL;
}

/* How many calls failed. */
static int run_threads(loci_engine *engine, int first_number, int writes)
{
    writer writers[THREADS];
    pthread_t threads[THREADS];
    int failed = 0;

    for (int i = 0; i < THREADS; i++) {
        writers[i] = (writer){.engine = engine, .number = first_number + i, .writes = writes};
        if (pthread_create(&threads[i], NULL, write_facts, &writers[i]) != 0)
            return -1;
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        failed += writers[i].failed;
    }
    return failed;
}

static void check_all_there(const char *store, int writes)
{
    CHECK_EQ(test_store_number(store, "select count(*) from events where type = 'fact.written'"),
             writes);
    CHECK_EQ(test_store_number(
                 store, "select count(distinct payload) from events where type = 'fact.written'"),
             writes);
    CHECK_EQ(test_store_number(store, "select count(*) from events"), writes);
    CHECK_EQ(test_store_number(
                 store, "select count(distinct refs) from events where type = 'fact.written'"),
             writes);
    /* Seqs of a user have no gaps, and the head says the last. */
    CHECK_EQ(test_store_number(store,
                               "select count(*) from (select user_id, max(seq) as last, "
                               "count(*) as n from events group by user_id) as e join heads h "
                               "on h.user_id = e.user_id where last <> n or last <> h.seq"),
             0);
}

TEST(writers, twenty_threads_lose_nothing)
{
    const char *store = test_path(test_tmpdir(), "store.db");
    loci_engine *engine = test_open_threads(store);
    int writes = (int)test_count(50, 500);

    CHECK_EQ(run_threads(engine, 0, writes), 0);
    test_close(engine);
    check_all_there(store, THREADS * writes);
}

static int run_process(const char *store, int number, int writes)
{
    loci_open_options options = LOCI_OPEN_OPTIONS_INIT;
    loci_engine *engine = NULL;
    loci_error err;
    int failed;

    options.store = store;
    if (loci_open(&options, &engine, &err) != LOCI_OK) {
        fprintf(stderr, "%s\n", err.message);
        return 2;
    }
    failed = run_threads(engine, number * THREADS, writes);
    loci_close(engine);
    return failed != 0;
}

/* Each process also creates the store, opens and closes it: whoever is last must not take the log
 * of the others with it. */
TEST(writers, forty_threads_over_two_processes_lose_nothing)
{
    const char *store = test_path(test_tmpdir(), "store.db");
    int writes = (int)test_count(50, 500);
    pid_t children[2];
    loci_engine *engine;

    for (int i = 0; i < 2; i++) {
        fflush(stdout);
        children[i] = fork();
        if (children[i] == 0)
            _exit(run_process(store, i, writes));
    }
    for (int i = 0; i < 2; i++) {
        int status = 0;

        CHECK_EQ(waitpid(children[i], &status, 0), children[i]);
        CHECK_EQ(status, 0);
    }
    engine = test_open(store);
    test_close(engine);
    check_all_there(store, 2 * THREADS * writes);
}

/* Processes that come and go while others write. */
TEST(writers, processes_that_open_and_close_all_the_time_lose_nothing)
{
    const char *store = test_path(test_tmpdir(), "store.db");
    int rounds = (int)test_count(15, 100);
    pid_t children[3];
    loci_engine *engine;

    for (int i = 0; i < 3; i++) {
        fflush(stdout);
        children[i] = fork();
        for (int round = 0; children[i] == 0 && round < rounds; round++)
            if (run_process(store, i + 3 * round, 2) != 0)
                _exit(1);
        if (children[i] == 0)
            _exit(0);
    }
    for (int i = 0; i < 3; i++) {
        int status = 0;

        CHECK_EQ(waitpid(children[i], &status, 0), children[i]);
        CHECK_EQ(status, 0);
    }
    engine = test_open(store);
    test_close(engine);
    check_all_there(store, 3 * rounds * THREADS * 2);
}
