/* Many writers, one key: threads of one engine and engines of several processes store statements
 * about one attribute. One of them is current at the end, and all of them are in the history. */
#include "lib/calls.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/str.h"

#define THREADS 8
#define EACH 10
#define ALL (2 * THREADS * EACH)

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

/* The child has an engine of its own and ends without cleaning up after the test. It reports when
 * the engine is open, and begins when the test does. */
typedef struct gate {
    int opened[2], begins[2];
} gate;

static pid_t start_process(const char *store, const gate *g)
{
    char byte = 0;
    pid_t child = fork();

    if (child == 0) {
        loci_open_options options = LOCI_OPEN_OPTIONS_INIT;
        loci_engine *engine = NULL;
        loci_error err;
        int failures = 1;

        options.store = store;
        if (loci_open(&options, &engine, &err) == LOCI_OK && write(g->opened[1], &byte, 1) == 1 &&
            read(g->begins[0], &byte, 1) == 1) {
            failures = run_threads(engine, THREADS);
            loci_close(engine);
        }
        _exit(failures == 0 ? 0 : 1);
    }
    return child;
}

/* Each memory was replaced by the next one: no writer has decided by what another had replaced. */
static void check_chain(loci_str history)
{
    for (int i = 0; i < ALL; i++) {
        loci_str next = i < ALL - 1
                            ? test_member_text(history, test_format("memories.%d.id", i + 1))
                            : LC_STR("");

        CHECK_STR_EQ(test_member_text(history, test_format("memories.%d.status", i)),
                     i < ALL - 1 ? "superseded" : "active");
        CHECK_STR_EQ(test_member_text(history, test_format("memories.%d.superseded_by", i)), next);
    }
    CHECK_STR_EQ(test_member(history, test_format("memories.%d", ALL)), "");
}

static void check_once(loci_str history, const char *text)
{
    const char *end = history.ptr + history.len;
    const char *at = memmem(history.ptr, history.len, text, strlen(text));

    CHECK(at != NULL);
    CHECK(memmem(at + 1, (size_t)(end - at - 1), text, strlen(text)) == NULL);
}

TEST(memory_writers, one_key_ends_in_one_current_memory_with_a_full_history)
{
    const char *store = test_store(test_tmpdir(), "store.db");
    loci_engine *engine;
    loci_str answer;
    char byte = 0;
    int status = 1;
    gate g;
    pid_t child;

    CHECK_EQ(pipe(g.opened), 0);
    CHECK_EQ(pipe(g.begins), 0);
    test_close(test_open(store)); /* Both find the tables. */
    child = start_process(store, &g);
    CHECK(child > 0);
    engine = test_open_threads(store);
    CHECK_EQ(read(g.opened[0], &byte, 1), 1);
    CHECK_EQ(write(g.begins[1], &byte, 1), 1);
    CHECK_EQ(run_threads(engine, 0), 0);
    CHECK_EQ(waitpid(child, &status, 0), child);
    CHECK_EQ(status, 0);
    answer = test_call(engine, "memory.list", "{'limit':1000}");
    CHECK(test_member(answer, "memories.0").len > 0);
    CHECK_STR_EQ(test_member(answer, "memories.1"), "");
    answer = test_call(engine, "memory.history", "{'id':%s,'limit':1000}",
                       test_format("%.*s", LC_STR_ARG(test_member(answer, "memories.0.id"))));
    check_chain(answer);
    for (int number = 0; number < 2 * THREADS; number++)
        for (int i = 0; i < EACH; i++)
            check_once(answer, test_format("\"step %d of %d\"", i, number));
    test_call(engine, "store.verify", "{}");
    test_close(engine);
    for (int i = 0; i < 2; i++) {
        (void)close(g.opened[i]);
        (void)close(g.begins[i]);
    }
}
