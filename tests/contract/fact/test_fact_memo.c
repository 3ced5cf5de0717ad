/* A writer need not read what it wrote itself (store/memo.h), and never acts on what is no longer
 * so: somebody else has written, something was undone, a fact has changed in another way. */
#include "contract/probe_fixture.h"
#include "lib/calls.h"

#include "base/str.h"

/* Writes `value` and checks whom it superseded; its id. */
static loci_str write_after(loci_engine *engine, const char *before, const char *args)
{
    loci_str answer = test_call(engine, "fact.write", "%s", args);

    if (before == NULL)
        CHECK_STR_EQ(test_member_text(answer, "outcome"), "created");
    else
        CHECK_STR_EQ(test_member_text(answer, "superseded"), before);
    return test_member_text(answer, "id");
}

static const char *text_of(loci_str text)
{
    return test_format("%.*s", (int)text.len, text.ptr);
}

TEST(fact_memo, engines_in_turn_supersede_each_other)
{
    const char *store = probe_path();
    loci_engine *engines[] = {test_open(store), test_open(store)};
    const char *before = NULL;

    for (int i = 0; i < 60; i++) {
        const char *args = test_format("{\"key\":\"city\",\"value\":%d}", i);

        /* Runs of one, two and three. */
        before = text_of(write_after(engines[i % 6 == 1 || i % 6 > 3], before, args));
    }
    test_close(engines[1]);
    test_close(engines[0]);
}

TEST(fact_memo, what_ended_otherwise_is_not_superseded)
{
    loci_engine *engine = test_open(probe_path());
    loci_str id;

    (void)write_after(engine, NULL, "{\"key\":\"city\",\"value\":1}");
    test_call(engine, "fact.retract", "{\"key\":\"city\"}");
    CHECK_STR_EQ(test_member_text(test_call(engine, "fact.write", "{\"key\":\"city\",\"value\":2}"),
                                  "outcome"),
                 "created");
    id = write_after(engine, NULL, "{\"key\":\"town\",\"value\":1}");
    test_call(engine, "fact.write", "{\"key\":\"place\",\"value\":3,\"supersedes\":\"town\"}");
    CHECK_STR_EQ(test_member_text(test_call(engine, "fact.get", "%s",
                                            test_format("{\"id\":\"%s\"}", text_of(id))),
                                  "status"),
                 "superseded");
    CHECK_STATUS(LOCI_ECONFLICT,
                 test_try(engine, "fact.write", LC_STR("{\"key\":\"town\",\"value\":4}"), NULL));
    test_close(engine);
}

/* Marks on a fact are seen by whoever writes next: what is derived from it needs a review. */
TEST(fact_memo, what_depends_on_a_fact_is_known)
{
    loci_engine *engine = test_open(probe_path());

    test_call(engine, "fact.write", "{\"key\":\"a\",\"value\":1}");
    test_call(engine, "fact.write", "{\"key\":\"b\",\"value\":2,\"depends_on\":[\"a\"]}");
    test_call(engine, "fact.write", "{\"key\":\"a\",\"value\":3}");
    CHECK_STR_EQ(test_member(test_call(engine, "fact.current", "{\"key\":\"b\"}"), "needs_review"),
                 "true");
    test_call(engine, "fact.write", "{\"key\":\"b\",\"value\":5}");
    CHECK_STR_EQ(test_member(test_call(engine, "fact.current", "{\"key\":\"b\"}"), "needs_review"),
                 "false");
    test_close(engine);
}

/* A batch that fails half-way is undone, and what it had written was never there. */
TEST(fact_memo, what_was_undone_is_not_remembered)
{
    static const loci_request requests[] = {
        {"fact.write", {"{\"key\":\"city\",\"value\":2}", 24}, LOCI_AT_CLOCK},
        {"fact.retract", {"{\"key\":\"nobody\"}", 16}, LOCI_AT_CLOCK},
    };
    loci_engine *engine = test_open(probe_path());
    const char *before = text_of(write_after(engine, NULL, "{\"key\":\"city\",\"value\":1}"));
    loci_answer *answer = NULL;
    loci_error err;

    for (int i = 3; i < 6; i++) {
        CHECK_STATUS(LOCI_ENOTFOUND, loci_call_many(engine, requests, 2, NULL, &answer, &err));
        before = text_of(
            write_after(engine, before, test_format("{\"key\":\"city\",\"value\":%d}", i)));
    }
    test_close(engine);
}

/* Every user has a head of his own, and events without gaps, also when others write in between. */
TEST(fact_memo, heads_are_those_of_their_users)
{
    const char *store = probe_path();
    loci_engine *engines[] = {test_open(store), test_open(store)};
    int64_t seqs[3] = {0};

    for (int i = 0; i < 60; i++) {
        int user = i * 7 % 3;
        loci_str answer = test_call(engines[i % 5 == 0], "fact.write", "%s",
                                    test_format("{\"key\":\"k%d\",\"value\":%d,"
                                                "\"user_id\":\"u%d\"}",
                                                i % 4, i, user));
        int64_t seq = test_member_int(answer, "seq");

        CHECK_LT(seqs[user], seq);
        CHECK_LE(seq, seqs[user] + 2); /* A session may have begun before it. */
        seqs[user] = seq;
    }
    test_close(engines[1]);
    test_close(engines[0]);
}
