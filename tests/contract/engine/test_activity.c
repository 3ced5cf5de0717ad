/* store.activity and the counter of recalls: samples of the work of an engine. */
#include "contract/guard_fixture.h"

#include "base/str.h"

static int64_t counter(loci_engine *engine, const char *name)
{
    return test_member_int(test_call(engine, "store.status", "{}"),
                           test_format("counters.%s", name));
}

/* Reads of other kinds, and calls that were refused, do not look like use of the memory. */
TEST(activity, recalls_are_counted_apart_from_reads)
{
    loci_engine *engine = test_open(test_store(test_tmpdir(), "store.db"));
    loci_error err;
    int64_t reads;

    (void)test_call(engine, "memory.store", "{'text':'Ann likes tea'}");
    CHECK_EQ(counter(engine, "recalls"), 0);
    reads = counter(engine, "reads");
    (void)test_call(engine, "memory.list", "{}");
    (void)test_call(engine, "memory.recall", "{'query':'tea'}");
    (void)test_call(engine, "context.build", "{'query':'tea'}");
    CHECK_EQ(counter(engine, "recalls"), 2);
    CHECK_EQ(counter(engine, "reads"), reads + 3);
    CHECK_EQ(test_try(engine, "memory.recall", loci_str_of("{\"query\":\" \"}"), &err),
             LOCI_EINVAL);
    CHECK_EQ(counter(engine, "recalls"), 2);
    loci_close(engine);
}

/* Samples are taken whether or not a page is open. */
TEST(activity, samples_have_memory_and_counters_of_every_five_seconds)
{
    guard_machine m = {.used = GUARD_LIMIT / 100 * 20};
    loci_engine *engine = guard_open(&m, &(guard_parts){0});
    loci_str answer;

    for (int i = 0; i < 28; i++) /* 5.6 s: the first ticks have no measurement to note yet. */
        guard_set_usage(&m, engine, 20);
    (void)test_call(engine, "fact.write", "{'key':'a','value':1}");
    (void)test_call(engine, "memory.recall", "{'query':'tea'}");
    for (int i = 0; i < 26; i++)
        guard_set_usage(&m, engine, 21);
    answer = test_call(engine, "store.activity", "{}");
    CHECK_EQ(test_member(answer, "samples.3").len, 0);
    CHECK_EQ(test_member_int(answer, "samples.1.used_bytes"), GUARD_LIMIT / 100 * 20);
    CHECK_EQ(test_member_int(answer, "samples.1.recalls"), 0);
    CHECK_EQ(test_member_int(answer, "samples.2.used_bytes"), GUARD_LIMIT / 100 * 21);
    /* A job of the engine itself may have written, too. */
    CHECK_LT(test_member_int(answer, "samples.1.writes"),
             test_member_int(answer, "samples.2.writes"));
    CHECK_EQ(test_member_int(answer, "samples.2.recalls"), 1);
    CHECK_EQ(test_member_int(answer, "samples.2.reads"), 1);
    loci_close(engine);
}

TEST(activity, engine_without_a_guard_has_no_samples)
{
    guard_machine m = {.used = GUARD_LIMIT / 100 * 20};
    loci_engine *engine = guard_open(&m, &(guard_parts){.settings = "{\"guard.enabled\":false}"});

    CHECK_STR_EQ(test_call(engine, "store.activity", "{}"), "{\"samples\":[]}");
    loci_close(engine);
}
