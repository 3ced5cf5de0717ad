/* text.count through the engine: which tokenizer it takes, and when it is opened. */
#include "lib/calls.h"

#include <pthread.h>

#include "base/str.h"

#define CALL "{\"text\":\"Seven tokens make up this sentence.\"}"

static const char *new_store(void)
{
    return test_path(test_tmpdir(), "store.db");
}

TEST(text, is_counted_exactly_with_the_data_and_says_so)
{
    loci_engine *engine = test_open(new_store());

    CHECK_STR_EQ(test_call(engine, "text.count", CALL),
                 "{\"tokens\":7,\"encoding\":\"o200k_base\",\"estimated\":false}");
    CHECK_STR_EQ(test_call(engine, "text.count", "{'text':'','encoding':'cl100k_base'}"),
                 "{\"tokens\":0,\"encoding\":\"cl100k_base\",\"estimated\":false}");
    test_close(engine);
}

static loci_engine *open_in(const char *store, const char *dir)
{
    loci_open_options options = test_open_options(store);
    loci_engine *engine = NULL;
    loci_error err;

    options.settings = test_format("{\"data.dir\":\"%s\"}", dir);
    CHECK_OK(loci_open(&options, &engine, &err), err);
    return engine;
}

/* Somebody who has no data can still work, and somebody who brings it need only open again. */
TEST(text, is_estimated_without_the_data)
{
    const char *store = new_store(), *dir = test_tmpdir();
    loci_engine *engine = open_in(store, dir);
    loci_str answer = test_call(engine, "text.count", CALL);

    CHECK_STR_EQ(test_member(answer, "estimated"), "true");
    CHECK_LE(4, test_member_int(answer, "tokens"));
    CHECK_LE(test_member_int(answer, "tokens"), 12);

    test_write_file(test_path(dir, "o200k_base.loci"),
                    test_read_file(test_build_path("share/loci/o200k_base.loci")));
    answer = test_call(engine, "text.count", CALL);
    CHECK_STR_EQ(test_member(answer, "estimated"), "true");
    test_close(engine);
    engine = open_in(store, dir);
    answer = test_call(engine, "text.count", CALL);
    CHECK_STR_EQ(test_member(answer, "estimated"), "false");
    test_close(engine);
}

static loci_status count_without_memory(void *ctx)
{
    loci_error err;

    return test_try(ctx, "text.count", LC_STR(CALL), &err);
}

/* What failed for want of memory at the first use is tried again at the next. */
TEST(text, an_encoding_can_be_asked_for_again_when_memory_was_short)
{
    loci_engine *engine = test_open(new_store());
    loci_str answer;

    test_heap_fail_nth(1);
    CHECK_STATUS(LOCI_ERESOURCE, count_without_memory(engine));
    (void)test_heap_disarm();
    answer = test_call(engine, "text.count", CALL);
    CHECK_STR_EQ(test_member(answer, "estimated"), "false");
    test_close(engine);
}

typedef struct counter {
    loci_engine *engine;
    bool is_exact;
} counter;

static void *count_in_thread(void *ctx)
{
    counter *c = ctx;

    for (int i = 0; i < 50; i++) {
        loci_answer *answer = NULL;
        loci_str text;

        if (loci_call(c->engine, "text.count", LC_STR(CALL), NULL, &answer, NULL) != LOCI_OK)
            return NULL;
        text = loci_answer_json(answer);
        c->is_exact = lc_str_eq(
            text, LC_STR("{\"tokens\":7,\"encoding\":\"o200k_base\",\"estimated\":false}"));
        loci_answer_free(answer);
        if (!c->is_exact)
            return NULL;
    }
    return NULL;
}

TEST(text, many_threads_may_be_the_first)
{
    loci_engine *engine = test_open_threads(new_store());
    counter counters[8] = {0};
    pthread_t threads[8];

    for (int i = 0; i < 8; i++) {
        counters[i].engine = engine;
        CHECK_EQ(pthread_create(&threads[i], NULL, count_in_thread, &counters[i]), 0);
    }
    for (int i = 0; i < 8; i++)
        CHECK_EQ(pthread_join(threads[i], NULL), 0);
    for (int i = 0; i < 8; i++)
        CHECK(counters[i].is_exact);
    test_close(engine);
}
