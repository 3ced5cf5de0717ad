/* The rules for reading plain English: compiled by the first call that needs them, once. */
#include "lib/calls.h"

#include <pthread.h>

#include "engine/engine.h"

#define THREADS 4

static void *ask(void *engine)
{
    const lc_talk *talk = NULL;

    return lc_engine_talk(engine, &talk, NULL) == LOCI_OK ? (void *)talk : NULL;
}

TEST(talk, opening_a_store_and_writing_compile_no_rules)
{
    loci_engine *engine = test_open(test_store(test_tmpdir(), "store.db"));
    size_t bytes;

    test_call(engine, "fact.write", "{'key':'city','value':'Oslo'}");
    bytes = test_heap_live_bytes(LOCI_MEM_REQUESTS);
    CHECK(ask(engine) != NULL);
    CHECK_LT(bytes + 40000, test_heap_live_bytes(LOCI_MEM_REQUESTS)); /* This call did. */
    bytes = test_heap_live_bytes(LOCI_MEM_REQUESTS);
    CHECK(ask(engine) != NULL);
    CHECK_EQ(test_heap_live_bytes(LOCI_MEM_REQUESTS), bytes);
    test_close(engine);
}

TEST(talk, threads_that_ask_at_the_same_time_share_one_compilation)
{
    loci_engine *engine = test_open(test_store(test_tmpdir(), "store.db"));
    pthread_t threads[THREADS];
    void *first = NULL, *other;

    for (int i = 0; i < THREADS; i++)
        CHECK_EQ(pthread_create(&threads[i], NULL, ask, engine), 0);
    for (int i = 0; i < THREADS; i++) {
        CHECK_EQ(pthread_join(threads[i], i == 0 ? &first : &other), 0);
        CHECK(first != NULL && (i == 0 || other == first));
    }
    test_close(engine); /* The test fails if the rules that lost the race are not freed. */
}
