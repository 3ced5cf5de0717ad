/* Reading by key and by id where there is more than one row to look at. */
#include "contract/fact_fixture.h"

#include <string.h>

#include "base/str.h"

#define MANY 20 /* More than one statement looks at (fact_read.c). */

TEST(fact_read, of_many_facts_of_a_key_the_newest_is_current)
{
    facts f;

    facts_open(&f);
    for (int i = 0; i < MANY; i++) {
        facts_write(&f, "created", "{'key':'likes','value':%d,'multi':true}", i);
        CHECK_STR_EQ(facts_value(&f, "{'key':'likes'}"), test_format("%d", i));
    }
    facts_close(&f);
}

/* An agent that reads `value` must not act on something that is no longer true. */
TEST(fact_read, a_key_without_a_valid_fact_has_no_value)
{
    const char *id;
    facts f;

    facts_open(&f);
    facts_write(&f, "created", "{'key':'a','value':1}");
    facts_call(&f, "fact.retract", "{'key':'a'}");
    CHECK_STR_EQ(facts_call(&f, "fact.current", "{'key':'a'}"),
                 "{\"key\":\"a\",\"status\":\"retracted\",\"is_valid\":false,"
                 "\"ended_at\":\"2023-11-14T22:13:20Z\"}");
    facts_write(&f, "created", "{'key':'b','value':1,'valid_until':'2023-11-14T23:00:00Z'}");
    f.now_us += 47 * MINUTE_US;
    CHECK_STR_EQ(facts_call(&f, "fact.current", "{'key':'b'}"),
                 "{\"key\":\"b\",\"status\":\"expired\",\"is_valid\":false,"
                 "\"ended_at\":\"2023-11-14T23:00:00Z\"}");
    facts_write(&f, "created", "{'key':'c','value':1}");
    id = facts_write(&f, "superseded", "{'key':'d','value':2,'supersedes':'c'}");
    CHECK_STR_EQ(facts_call(&f, "fact.current", "{'key':'c'}"),
                 test_format("{\"key\":\"c\",\"status\":\"superseded\",\"is_valid\":false,"
                             "\"superseded_by\":\"%s\","
                             "\"ended_at\":\"2023-11-14T23:00:20Z\"}",
                             id));
    CHECK_STR_EQ(facts_value(&f, "{'key':'d'}"), "2");
    facts_close(&f);
}

/* Once each and in order, wherever a page ends. */
TEST(fact_read, pages_go_through_keys_of_one_and_of_many_facts)
{
    for (int limit = 1; limit < 5; limit++) {
        loci_str cursor = LC_STR("null");
        int seen = 0;
        facts f;

        facts_open(&f);
        for (int i = 0; i < 6; i++)
            facts_write(&f, "created", "{'key':'b','value':%d,'multi':true}", 1 + i);
        facts_write(&f, "created", "{'key':'a','value':-1}");
        facts_write(&f, "superseded", "{'key':'a','value':0}");
        facts_write(&f, "created", "{'key':'c','value':7}");
        facts_write(&f, "shadowed", "{'key':'b','value':8,'scope':'task','scope_id':'t'}");
        do {
            loci_str answer = facts_call(&f, "fact.list", "{'limit':%d,'cursor':%.*s}", limit,
                                         LC_STR_ARG(cursor));

            for (int i = 0; i < limit && seen < 8; i++)
                CHECK_STR_EQ(test_member(answer, test_format("facts.%d.value", i)),
                             test_format("%d", seen++));
            cursor = test_member(answer, "next_cursor");
        } while (!lc_str_is(cursor, "null"));
        CHECK_EQ(seen, 8);
        facts_close(&f);
    }
}

/* The keys of fact.list with these arguments, page by page. */
static const char *keys_of(facts *f, const char *args)
{
    loci_str cursor = LC_STR("null");
    const char *keys = "";

    do {
        loci_str answer = facts_call(f, "fact.list", "{'limit':2,%s,'cursor':%.*s}", args,
                                     LC_STR_ARG(cursor));

        for (int i = 0; i < 2; i++) {
            loci_str key = test_member_text(answer, test_format("facts.%d.key", i));

            if (key.len > 0)
                keys = test_format("%s%.*s ", keys, LC_STR_ARG(key));
        }
        cursor = test_member(answer, "next_cursor");
    } while (!lc_str_is(cursor, "null"));
    return keys;
}

/* In every way in which facts are read: everywhere, for a persona, in a scope, as of a time. The
 * largest character and a key that is itself the prefix are the ends of the range. */
TEST(fact_read, a_prefix_selects_one_range_of_keys)
{
    static const char *const keys[] = {"us",     "user",   "user.a",
                                       "user.b", "user.é", "user.\xf4\x8f\xbf\xbf",
                                       "user/",  "uses",   "\xf4\x8f\xbf\xbf"};
    static const char *const views[] = {"", ",\"persona_id\":\"p\"",
                                        ",\"scope\":\"task\",\"scope_id\":\"t\"",
                                        ",\"as_of\":\"2100-01-01T00:00:00Z\""};
    facts f;

    facts_open(&f);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        facts_write(&f, "created", "{'key':'%s','value':1}", keys[i]);
    facts_write(&f, "shadowed", "{'key':'user.a','value':2,'scope':'task','scope_id':'t'}");
    for (size_t i = 0; i < sizeof views / sizeof *views; i++) {
        CHECK_STR_EQ(keys_of(&f, test_format("\"prefix\":\"user.\"%s", views[i])),
                     "user.a user.b user.é user.\xf4\x8f\xbf\xbf ");
        CHECK_STR_EQ(keys_of(&f, test_format("\"prefix\":\"user\"%s", views[i])),
                     "user user.a user.b user.é user.\xf4\x8f\xbf\xbf user/ ");
        CHECK_STR_EQ(keys_of(&f, test_format("\"prefix\":\"v\"%s", views[i])), "");
        CHECK_STR_EQ(keys_of(&f, test_format("\"prefix\":\"\xf4\x8f\xbf\xbf\"%s", views[i])),
                     "\xf4\x8f\xbf\xbf ");
    }
    facts_fail(&f, LOCI_EINVAL, "prefix", "fact.list", "{'prefix':''}");
    facts_close(&f);
}

TEST(fact_read, of_many_sessions_the_own_one_counts)
{
    facts f;

    facts_open(&f);
    facts_write(&f, "created", "{'key':'mood','value':'calm'}");
    for (int i = 0; i < MANY; i++)
        facts_write(&f, "shadowed",
                    "{'key':'mood','value':%d,'scope':'session','session_id':'s%d'}", i, i);
    CHECK_STR_EQ(facts_value(&f, "{'key':'mood','session_id':'s7'}"), "7");
    CHECK_STR_EQ(facts_value(&f, "{'key':'mood','session_id':'other'}"), "\"calm\"");
    CHECK_STR_EQ(facts_value(&f, "{'key':'mood'}"), test_format("%d", MANY - 1));
    facts_close(&f);
}

/* Rows are found by the seq in an id; all the rest of it must be right, too. */
TEST(fact_read, an_id_counts_as_a_whole)
{
    const char *ids[2];
    facts f;

    facts_open(&f);
    ids[0] = facts_write(&f, "created", "{'key':'city','value':'Oslo'}");
    ids[1] = facts_write(&f, "superseded", "{'key':'city','value':'Rome'}");
    for (int i = 0; i < 2; i++) {
        char *forged = (char *)(uintptr_t)test_format("%s", ids[i]);
        char *last = forged + strlen(forged) - 1;

        CHECK_STR_EQ(test_member_text(facts_call(&f, "fact.get", "{'id':'%s'}", ids[i]), "id"),
                     ids[i]);
        *last = *last == '0' ? '1' : '0';
        facts_fail(&f, LOCI_ENOTFOUND, "no fact", "fact.get",
                   test_format("{\"id\":\"%s\"}", forged));
        facts_fail(&f, LOCI_ENOTFOUND, "no fact", "fact.retract",
                   test_format("{\"id\":\"%s\"}", forged));
    }
    facts_close(&f);
}
