/* When a fact is true: its end, and what was known at a time. */
#include "contract/fact_fixture.h"

#include <string.h>

#include "base/str.h"
#include "base/time.h"

/* A fact ends by the clock: nobody writes. */
TEST(fact_time, an_expired_fact_is_not_valid)
{
    facts f;
    const char *first;

    facts_open(&f);
    first = facts_write(&f, "created",
                        "{'key':'offer','value':1,'authority':'policy',"
                        "'valid_until':'2023-11-14T23:00:00Z'}");
    CHECK_STR_EQ(facts_current(&f, "offer", "status"), "valid");
    facts_write(&f, "claimed", "{'key':'offer','value':2}");
    f.now_us += 47 * MINUTE_US;
    CHECK_STR_EQ(facts_current(&f, "offer", "status"), "expired");
    CHECK_STR_EQ(test_member(facts_call(&f, "fact.current", "{'key':'offer'}"), "is_valid"),
                 "false");
    CHECK_STR_EQ(facts_call(&f, "fact.list", "{}"), "{\"facts\":[],\"next_cursor\":null}");
    /* The same again is a new statement, and who was below may make one now. */
    facts_write(&f, "superseded", "{'key':'offer','value':1}");
    CHECK_STR_EQ(facts_current(&f, "offer", "supersedes.0"), first);
    CHECK_STR_EQ(facts_current(&f, "offer", "status"), "valid");
    facts_close(&f);
}

TEST(fact_time, an_expired_shadow_hides_nothing)
{
    facts f;

    facts_open(&f);
    facts_write(&f, "created", "{'key':'a','value':1}");
    facts_write(&f, "shadowed",
                "{'key':'a','value':2,'scope':'task',"
                "'valid_until':'2023-11-14T23:00:00Z'}");
    CHECK_STR_EQ(facts_value(&f, "{'key':'a','scope':'task'}"), "2");
    f.now_us += 47 * MINUTE_US;
    CHECK_STR_EQ(facts_value(&f, "{'key':'a','scope':'task'}"), "1");
    CHECK_STR_EQ(test_member(facts_call(&f, "fact.list", "{'scope':'task'}"), "facts.0.value"),
                 "1");
    facts_close(&f);
}

/* ---- As of ----------------------------------------------------------------------------------- */

static const char *time_text(int64_t us)
{
    char text[LC_TIME_BYTES_MAX];

    return test_format("%.*s", (int)lc_time_format(us, text), text);
}

static loci_str list_as_of(facts *f, int64_t us)
{
    return facts_call(f, "fact.list", "{'as_of':'%s'}", time_text(us));
}

TEST(fact_time, the_past_is_as_it_was)
{
    facts f;
    int64_t start;
    loci_str answer;

    facts_open(&f);
    start = f.now_us;
    facts_write(&f, "created", "{'key':'a','value':1}");
    f.now_us += MINUTE_US;
    facts_write(&f, "created", "{'key':'b','value':1,'depends_on':['a']}");
    f.now_us += MINUTE_US;
    facts_write(&f, "superseded", "{'key':'a','value':2}");
    f.now_us += MINUTE_US;
    facts_call(&f, "fact.review", "{'id':'%s','action':'confirm'}", facts_current(&f, "b", "id"));
    f.now_us += MINUTE_US;
    facts_call(&f, "fact.retract", "{'key':'a'}");
    CHECK_STR_EQ(list_as_of(&f, start - 1), "{\"facts\":[],\"next_cursor\":null}");
    answer = list_as_of(&f, start);
    CHECK_STR_EQ(test_member(answer, "facts.0.value"), "1");
    CHECK_STR_EQ(test_member_text(answer, "facts.0.status"), "valid");
    CHECK_STR_EQ(test_member(answer, "facts.0.superseded_by"), "");
    CHECK_STR_EQ(test_member(answer, "facts.1"), "");
    answer = list_as_of(&f, start + 2 * MINUTE_US - 1);
    CHECK_STR_EQ(test_member(answer, "facts.0.value"), "1");
    CHECK_STR_EQ(test_member(answer, "facts.1.needs_review"), "false");
    answer = list_as_of(&f, start + 2 * MINUTE_US);
    CHECK_STR_EQ(test_member(answer, "facts.0.value"), "2");
    CHECK_STR_EQ(test_member(answer, "facts.1.needs_review"), "true");
    answer = list_as_of(&f, start + 3 * MINUTE_US);
    CHECK_STR_EQ(test_member(answer, "facts.1.needs_review"), "false");
    answer = list_as_of(&f, start + 4 * MINUTE_US);
    CHECK_STR_EQ(test_member_text(answer, "facts.0.key"), "b");
    CHECK_STR_EQ(test_member(answer, "facts.1"), "");
    facts_close(&f);
}

/* A late version was never current, so the key ended with the fact that was. */
TEST(fact_time, a_late_version_does_not_decide_how_a_key_ended)
{
    loci_str answer;
    facts f;

    facts_open(&f);
    facts_write(&f, "created", "{'key':'a','value':1,'observed_at':'2026-01-02T00:00:00Z'}");
    facts_write(&f, "late", "{'key':'a','value':2,'observed_at':'2026-01-01T00:00:00Z'}");
    facts_call(&f, "fact.retract", "{'key':'a'}");
    answer = facts_call(&f, "fact.current", "{'key':'a'}");
    CHECK_STR_EQ(test_member_text(answer, "status"), "retracted");
    CHECK_STR_EQ(test_member(answer, "superseded_by"), "");
    facts_close(&f);
}

#define WRITES 1000
#define KEYS 20

/* After every write the list is kept, and asked for again when all is over. The clock stands still
 * or goes back now and then: of several writes of one moment the last one counts. */
TEST(fact_time, as_of_answers_right_after_many_writes)
{
    static int64_t recorded_at[WRITES];
    static int values[WRITES][KEYS];
    test_rng rng = test_random(5);
    facts f;

    test_timeout(300);
    facts_open(&f);
    for (int i = 0; i < WRITES; i++) {
        int key = (int)test_rng_below(&rng, KEYS);
        loci_str answer;

        if (i > 0)
            memcpy(values[i], values[i - 1], sizeof values[i]);
        f.now_us += test_rng_between(&rng, -5, 20) * 100000;
        if (values[i][key] != 0 && test_rng_chance(&rng, 10)) {
            facts_call(&f, "fact.retract", "{'key':'k%02d'}", key);
            values[i][key] = 0;
        } else {
            answer = facts_call(&f, "fact.write",
                                "{'key':'k%02d','value':%d,"
                                "'observed_at':'2023-01-01T00:00:00Z'}",
                                key, i + 1);
            CHECK(!lc_str_is(test_member_text(answer, "outcome"), "late"));
            values[i][key] = i + 1;
        }
        recorded_at[i] = i > 0 && recorded_at[i - 1] > f.now_us ? recorded_at[i - 1] : f.now_us;
    }
    for (int i = 0; i < WRITES; i += 7) {
        loci_str answer;
        int last = i, place = 0;

        while (last + 1 < WRITES && recorded_at[last + 1] == recorded_at[i])
            last++;
        answer = list_as_of(&f, recorded_at[i]);
        for (int key = 0; key < KEYS; key++) {
            if (values[last][key] == 0)
                continue;
            CHECK_STR_EQ(test_member_text(answer, test_format("facts.%d.key", place)),
                         test_format("k%02d", key));
            CHECK_EQ(test_member_int(answer, test_format("facts.%d.value", place)),
                     values[last][key]);
            place++;
        }
        CHECK_STR_EQ(test_member(answer, test_format("facts.%d", place)), "");
    }
    facts_close(&f);
}

/* The values of the key that count in the task and the session at a time, with commas behind. */
static const char *values_as_of(facts *f, int64_t us)
{
    loci_str answer = facts_call(f, "fact.list",
                                 "{'scope':'task','scope_id':'t','session_id':'s',"
                                 "'as_of':'%s'}",
                                 time_text(us));
    const char *all = "";

    for (int i = 0; test_member(answer, test_format("facts.%d", i)).len > 0; i++)
        all = test_format("%s%.*s,", all,
                          LC_STR_ARG(test_member(answer, test_format("facts.%d.value", i))));
    return all;
}

/* What hides a fact now has not always been there, and what hid one may have ended. */
TEST(fact_time, as_of_a_fact_is_hidden_by_what_was_further_inside_then)
{
    static const char *const expected[] = {"1,", "2,", "3,", "2,", "4,", "2,", "1,"};
    int64_t start;
    facts f;

    facts_open(&f);
    start = f.now_us;
    facts_write(&f, "created", "{'key':'k','value':1}");
    f.now_us += MINUTE_US;
    facts_write(&f, "shadowed", "{'key':'k','value':2,'scope':'session','session_id':'s'}");
    f.now_us += MINUTE_US;
    facts_write(&f, "shadowed",
                "{'key':'k','value':3,'scope':'task','scope_id':'t',"
                "'session_id':'s'}");
    for (int i = 0; i < 3; i++) /* While those inside stand, */
        CHECK_STR_EQ(values_as_of(&f, start + i * MINUTE_US), expected[i]);
    f.now_us += MINUTE_US;
    facts_call(&f, "fact.retract", "{'key':'k','scope':'task','scope_id':'t','session_id':'s'}");
    f.now_us += MINUTE_US;
    facts_write(&f, "shadowed",
                "{'key':'k','value':4,'scope':'task','scope_id':'t',"
                "'session_id':'s','valid_until':'%s'}",
                time_text(start + 5 * MINUTE_US));
    f.now_us += 2 * MINUTE_US;
    facts_call(&f, "fact.retract", "{'key':'k','scope':'session','session_id':'s'}");
    for (int i = 0; i < 7; i++) /* and when they have ended or expired. */
        CHECK_STR_EQ(values_as_of(&f, start + i * MINUTE_US), expected[i]);
    facts_close(&f);
}

#define MOMENTS 150
#define VIEWS 3

static const char *list_view(facts *f, int view, const char *as_of)
{
    static const char *const views[VIEWS] = {"", ",\"persona_id\":\"cook\"",
                                             ",\"scope\":\"task\",\"scope_id\":\"t\""};
    loci_str answer = facts_call(f, "fact.list", "{'limit':1000%s%s}", views[view],
                                 as_of != NULL ? test_format(",\"as_of\":\"%s\"", as_of) : "");

    return test_format("%.*s", LC_STR_ARG(answer));
}

/* One random change: of keys with one fact and with several, of a persona, of a task. */
static void change_any(facts *f, test_rng *rng, int nth)
{
    static const char *const places[] = {"", ",\"persona_id\":\"cook\"",
                                         ",\"persona_id\":\"clerk\"",
                                         ",\"scope\":\"task\",\"scope_id\":\"t\""};
    int key = (int)test_rng_below(rng, 5);
    const char *at = places[test_rng_below(rng, 4)];
    loci_str answer;

    if (test_rng_chance(rng, 25))
        (void)facts_try(f, "fact.retract", &answer, test_format("{\"key\":\"k%d\"%s}", key, at));
    else
        (void)facts_try(f, "fact.write", &answer,
                        test_format("{\"key\":\"k%d\",\"value\":%d%s%s%s}", key, nth, at,
                                    key < 2 ? ",\"multi\":true" : "",
                                    test_rng_chance(rng, 10)
                                        ? ",\"observed_at\":\"2020-01-01T00:00:00Z\""
                                        : ""));
}

/* Several facts of a slot are valid beside each other, those of personas and tasks in places of
 * their own, and late ones never were: `as_of` must list the same facts as a list did at that time.
 */
TEST(fact_time, as_of_equals_the_list_of_its_time)
{
    static const char *lists[MOMENTS][VIEWS];
    static int64_t times[MOMENTS];
    test_rng rng = test_random(6);
    facts f;

    test_timeout(300);
    facts_open(&f);
    for (int i = 0; i < MOMENTS; i++) {
        f.now_us += MINUTE_US;
        change_any(&f, &rng, i);
        times[i] = f.now_us;
        for (int view = 0; view < VIEWS; view++)
            lists[i][view] = list_view(&f, view, NULL);
    }
    for (int i = 0; i < MOMENTS; i++)
        for (int view = 0; view < VIEWS; view++)
            CHECK_STR_EQ(loci_str_of(list_view(&f, view, time_text(times[i]))), lists[i][view]);
    facts_close(&f);
}
