/* Contexts of one user from several threads: they share an index and lend each other what was
 * read, and every answer is the one that a lone caller gets. */
#include "contract/context_fixture.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"

#define THREADS 4
#define ROUNDS 12
#define QUERIES 3

static const char *const queries[QUERIES] = {"Where is the garden?", "Who said what?",
                                             "What about the budget?"};

typedef struct asker {
    pthread_t thread;
    loci_engine *engine;
    const char *expected[QUERIES];
    int differing;
} asker;

static loci_status ask(loci_engine *engine, const char *query, loci_answer **out, loci_error *err)
{
    char args[200];

    snprintf(args, sizeof args, "{\"query\":\"%s\",\"budget\":600}", query);
    return loci_call(engine, "context.build", loci_str_of(args), NULL, out, err);
}

static const char *copy(loci_str text)
{
    char *bytes = test_bytes(text.len + 1);

    memcpy(bytes, text.ptr, text.len);
    bytes[text.len] = '\0';
    return bytes;
}

static void *ask_all(void *ctx)
{
    asker *a = ctx;

    for (int i = 0; i < ROUNDS; i++) {
        loci_answer *answer = NULL;
        loci_error err;

        if (ask(a->engine, queries[i % QUERIES], &answer, &err) != LOCI_OK ||
            !lc_str_is(loci_answer_json(answer), a->expected[i % QUERIES]))
            a->differing++;
        loci_answer_free(answer);
    }
    return NULL;
}

static int64_t stand_still(void *ctx)
{
    (void)ctx;
    return INT64_C(1700000000) * 1000000;
}

static loci_engine *open_engine(const char *path)
{
    loci_open_options options = test_open_options(path);
    loci_engine *engine = NULL;
    loci_error err;

    options.flags = LOCI_OPEN_SEEDED;
    options.clock = stand_still;
    CHECK_OK(loci_open(&options, &engine, &err), err);
    return engine;
}

static void write_some(loci_engine *engine, int round)
{
    (void)test_call(engine, "fact.write", "{'key':'garden_%d','value':'behind gate %d'}", round % 7,
                    round);
    (void)test_call(engine, "fact.write", "{'key':'budget','value':'%d pounds'}", 100 + round);
    (void)test_call(engine, "fact.observe", "{'text':'Actually, gate %d is painted. It is green.'}",
                    round);
}

TEST(context_threads, many_at_once_answer_like_one_alone)
{
    loci_engine *engine = open_engine(test_path(test_tmpdir(), "store.db"));

    /* A summary that a job makes meanwhile would be a change of the state. */
    (void)test_call(engine, "config.set", "{'name':'summary.rolling_turns','value':0}");
    for (int round = 0; round < 5; round++) {
        asker askers[THREADS];
        const char *expected[QUERIES];

        for (int i = 0; i < 4; i++)
            write_some(engine, 4 * round + i);
        for (int q = 0; q < QUERIES; q++) {
            loci_answer *answer = NULL;
            loci_error err;

            CHECK_OK(ask(engine, queries[q], &answer, &err), err);
            expected[q] = copy(loci_answer_json(answer));
            loci_answer_free(answer);
        }
        for (int t = 0; t < THREADS; t++) {
            askers[t] = (asker){.engine = engine};
            memcpy(askers[t].expected, expected, sizeof expected);
            CHECK_EQ(pthread_create(&askers[t].thread, NULL, ask_all, &askers[t]), 0);
        }
        for (int t = 0; t < THREADS; t++)
            CHECK_EQ(pthread_join(askers[t].thread, NULL), 0);
        for (int t = 0; t < THREADS; t++)
            CHECK_EQ(askers[t].differing, 0);
    }
    test_close(engine);
}
