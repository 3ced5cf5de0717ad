/* Kept contexts: reasons, staleness, differences, changes, and that forgetting reaches them. */
#include "contract/context_fixture.h"

#include <string.h>

#include "base/str.h"
#include "context/kept.h"

#define HOUR_US (60 * MINUTE_US)

static const char *keep(facts *f, const char *query)
{
    loci_str answer = facts_call(f, "context.build",
                                 "{'query':'%s','keep':true,'session_id':'s','budget':600}", query);

    return test_format("%.*s", LC_STR_ARG(test_member_text(answer, "context_id")));
}

static loci_str check(facts *f, const char *id)
{
    return facts_call(f, "context.check", "{'context_id':'%s','session_id':'s'}", id);
}

/* The member `name` of the entry of `list` with this id; "" if there is none. */
static const char *entry(loci_str answer, const char *list, const char *id, const char *name)
{
    for (int i = 0;; i++) {
        loci_str item = test_member(answer, test_format("%s.%d", list, i));

        if (item.len == 0)
            return "";
        if (lc_str_is(test_member_text(item, "id"), id))
            return test_member(item, name).len > 0
                       ? test_format("%.*s", LC_STR_ARG(test_member_text(item, name)))
                       : "-";
    }
}

static const char *stored(facts *f, const char *operation, const char *args)
{
    loci_str answer = facts_call(f, operation, "%s", args);
    const char *member = test_member(answer, "id").len > 0 ? "id" : "message_id";

    return test_format("%.*s", LC_STR_ARG(test_member_text(answer, member)));
}

TEST(context_kept, explains_every_line_and_what_lost_its_place)
{
    facts f;
    const char *rule, *pinned, *todo, *id;
    loci_str answer, built;

    facts_open(&f);
    rule = facts_write(&f, "created", "{'key':'limit','value':'500','is_constraint':true}");
    pinned = stored(&f, "memory.store", "{'text':'Ann speaks Danish.','pinned':true}");
    todo = stored(&f, "todo.add", "{'text':'Call Bo'}");
    for (int i = 0; i < 60; i++)
        facts_write(&f, "created", "{'key':'city_%02d','value':'a city far away, number %d'}", i,
                    i);
    built = facts_call(&f, "context.build",
                       "{'query':'city','keep':true,'session_id':'s','budget':200}");
    id = test_format("%.*s", LC_STR_ARG(test_member_text(built, "context_id")));
    answer = facts_call(&f, "context.explain", "{'context_id':'%s'}", id);
    CHECK_STR_EQ(entry(answer, "included", rule, "why"), "rule");
    CHECK_STR_EQ(entry(answer, "included", pinned, "why"), "pinned");
    CHECK_STR_EQ(test_member_text(answer, "included.2.section"), "facts");
    CHECK_STR_EQ(test_member_text(answer, "included.2.why"), "relevant");
    CHECK(test_member(answer, "included.2.score").len > 0);
    CHECK_STR_EQ(entry(answer, "included", todo, "why"), "open");
    CHECK_EQ(test_member_int(answer, "tokens"), test_member_int(built, "tokens.total"));
    CHECK_EQ(test_member_int(answer, "budget"), 200);
    CHECK_EQ(test_member_int(answer, "seq"), 63);
    CHECK_EQ(test_member_int(answer, "forgotten"), 0);
    /* The same lines as the manifest, each with a reason. */
    for (int i = 0; test_member(built, test_format("included.%d", i)).len > 0; i++)
        CHECK_STR_EQ(test_member(answer, test_format("included.%d.id", i)),
                     test_member(built, test_format("included.%d.id", i)));
    CHECK(test_member(answer, "excluded.0").len > 0);
    for (int i = 0; test_member(answer, test_format("excluded.%d", i)).len > 0; i++) {
        const char *lost = test_format(
            "%.*s", LC_STR_ARG(test_member_text(answer, test_format("excluded.%d.id", i))));

        CHECK_STR_EQ(entry(answer, "excluded", lost, "reason"), context_reason(built, lost));
    }
    facts_close(&f);
}

/* A program that only looks must not push the contexts of agents out of the kept ones. */
TEST(context_kept, a_build_explains_itself_without_being_kept)
{
    facts f;
    const char *rule, *id;
    loci_str plain, explained, kept;

    facts_open(&f);
    rule = facts_write(&f, "created", "{'key':'limit','value':'500','is_constraint':true}");
    for (int i = 0; i < 60; i++)
        facts_write(&f, "created", "{'key':'city_%02d','value':'a city far away, number %d'}", i,
                    i);
    plain = facts_call(&f, "context.build", "{'query':'city','budget':200}");
    CHECK_EQ(test_member(plain, "included.0.why").len, 0);
    CHECK_EQ(test_member(plain, "included.1.score").len, 0);
    explained = facts_call(&f, "context.build", "{'query':'city','budget':200,'explain':true}");
    CHECK_STR_EQ(test_member_text(explained, "text"), test_member_text(plain, "text"));
    CHECK_EQ(test_member(explained, "context_id").len, 0);
    CHECK_STR_EQ(entry(explained, "included", rule, "why"), "rule");
    CHECK_STR_EQ(entry(explained, "included", rule, "score"), "-");
    CHECK_STR_EQ(test_member_text(explained, "included.1.why"), "relevant");
    CHECK(test_member(explained, "included.1.score").len > 0);
    CHECK(test_member(explained, "excluded.0.score").len > 0);
    /* The same numbers as those of a kept context. */
    kept = facts_call(&f, "context.build", "{'query':'city','budget':200,'keep':true}");
    id = test_format("%.*s", LC_STR_ARG(test_member_text(kept, "context_id")));
    kept = facts_call(&f, "context.explain", "{'context_id':'%s'}", id);
    for (int i = 0; test_member(explained, test_format("included.%d", i)).len > 0; i++) {
        static const char *const members[] = {"id", "section", "why", "tokens", "score", "words"};

        for (size_t j = 0; j < sizeof members / sizeof *members; j++)
            CHECK_STR_EQ(test_member(explained, test_format("included.%d.%s", i, members[j])),
                         test_member(kept, test_format("included.%d.%s", i, members[j])));
    }
    facts_close(&f);
}

TEST(context_kept, nothing_of_its_text_is_kept)
{
    facts f;

    facts_open(&f);
    facts_write(&f, "created", "{'key':'city','value':'Oslo'}");
    (void)keep(&f, "Where is the zanzibarine city?");
    CHECK(!facts_is_stored(&f, "zanzibarine"));
    facts_close(&f);
}

TEST(context_kept, checks_what_is_no_longer_true)
{
    facts f;
    const char *city, *lake, *tea, *todo, *said, *review, *soon, *id, *now;
    loci_str answer;

    facts_open(&f);
    city = facts_write(&f, "created", "{'key':'city','value':'Oslo'}");
    lake = facts_write(&f, "created", "{'key':'lake','value':'Mjosa'}");
    soon = facts_write(&f, "created",
                       "{'key':'pass','value':'1','valid_until':'2023-11-14T22:20:00Z'}");
    review = facts_write(&f, "created", "{'key':'tram','value':'12','depends_on':['city']}");
    tea = stored(&f, "memory.store", "{'text':'Ann drinks tea.'}");
    todo = stored(&f, "todo.add", "{'text':'Call Bo'}");
    said = stored(&f, "session.append",
                  "{'text':'Ann drinks tea in the city.','role':'user','session_id':'s'}");
    facts_call(&f, "working.set", "{'key':'step','value':1,'session_id':'s'}");
    facts_call(&f, "environment.set", "{'key':'weather','value':'rain'}");
    id = keep(&f, "Ann drinks tea in the city by the lake; pass, tram");
    answer = check(&f, id);
    CHECK_STR_EQ(test_member(answer, "stale"), "[]");
    CHECK_STR_EQ(test_member(answer, "is_current"), "true");

    f.now_us += 10 * MINUTE_US;
    facts_write(&f, "superseded", "{'key':'city','value':'Moss'}");
    now = facts_write(&f, "superseded", "{'key':'city','value':'Bergen'}");
    facts_call(&f, "fact.retract", "{'key':'lake'}");
    facts_call(&f, "memory.archive", "{'id':'%s'}", tea);
    facts_call(&f, "todo.done", "{'id':'%s'}", todo);
    facts_call(&f, "working.set", "{'key':'step','value':2,'session_id':'s'}");
    facts_call(&f, "environment.set", "{'key':'weather','value':'sun'}");
    answer = check(&f, id);
    CHECK_STR_EQ(test_member(answer, "is_current"), "false");
    CHECK_STR_EQ(entry(answer, "stale", city, "reason"), "superseded");
    CHECK_STR_EQ(entry(answer, "stale", city, "now_id"), now);
    CHECK_STR_EQ(entry(answer, "stale", lake, "reason"), "retracted");
    CHECK_STR_EQ(entry(answer, "stale", lake, "now_id"), "-");
    CHECK_STR_EQ(entry(answer, "stale", soon, "reason"), "expired");
    CHECK_STR_EQ(entry(answer, "stale", review, "reason"), "needs_review");
    CHECK_STR_EQ(entry(answer, "stale", tea, "reason"), "archived");
    CHECK_STR_EQ(entry(answer, "stale", todo, "reason"), "closed");
    CHECK_STR_EQ(entry(answer, "stale", "step", "reason"), "changed");
    CHECK_STR_EQ(entry(answer, "stale", "weather", "reason"), "changed");
    CHECK_STR_EQ(entry(answer, "stale", said, "reason"), "");
    facts_close(&f);
}

TEST(context_kept, what_a_rewind_took_back_is_withdrawn)
{
    facts f;
    const char *first, *second, *id;
    loci_str answer;

    facts_open(&f);
    first = stored(&f, "session.append",
                   "{'text':'We meet in Oslo.','role':'user','session_id':'s'}");
    second = stored(&f, "session.append",
                    "{'text':'We meet at noon.','role':'user','session_id':'s'}");
    id = keep(&f, "When do we meet?");
    facts_call(&f, "session.rewind", "{'message_id':'%s'}", first);
    answer = check(&f, id);
    CHECK_STR_EQ(entry(answer, "stale", second, "reason"), "withdrawn");
    CHECK_STR_EQ(entry(answer, "stale", first, "reason"), "");
    CHECK_EQ(test_member_int(answer, "forgotten"), 0);
    facts_close(&f);
}

TEST(context_kept, forgotten_things_are_counted_and_not_named)
{
    facts f;
    const char *tea, *city, *said, *id;
    loci_str answer;

    facts_open(&f);
    tea = stored(&f, "memory.store", "{'text':'Ann drinks tea.'}");
    city = facts_write(&f, "created", "{'key':'city','value':'Oslo'}");
    said = stored(&f, "session.append",
                  "{'text':'Ann likes the city.','role':'user','session_id':'s'}");
    id = keep(&f, "Ann drinks tea in the city");
    answer = facts_call(&f, "context.explain", "{'context_id':'%s'}", id);
    CHECK_STR_EQ(entry(answer, "included", tea, "section"), "memories");
    facts_call(&f, "memory.forget", "{'id':'%s'}", tea);
    facts_call(&f, "fact.forget", "{'key':'city'}");
    facts_call(&f, "session.forget", "{'session_id':'s'}");
    answer = facts_call(&f, "context.explain", "{'context_id':'%s'}", id);
    CHECK_EQ(test_member_int(answer, "forgotten"), 3);
    CHECK_STR_EQ(entry(answer, "included", tea, "section"), "");
    CHECK_STR_EQ(entry(answer, "included", city, "section"), "");
    CHECK_STR_EQ(entry(answer, "included", said, "section"), "");
    answer = facts_call(&f, "context.check", "{'context_id':'%s'}", id);
    CHECK_STR_EQ(test_member(answer, "is_current"), "false");
    CHECK_EQ(test_member_int(answer, "forgotten"), 3);
    facts_call(&f, "user.forget", "{}");
    facts_fail(&f, LOCI_ENOTFOUND, "no kept context", "context.check",
               test_format("{\"context_id\":\"%s\"}", id));
    facts_close(&f);
}

TEST(context_kept, two_contexts_are_compared_line_by_line)
{
    facts f;
    const char *city, *lake, *a, *b;
    loci_str answer;

    facts_open(&f);
    facts_write(&f, "created", "{'key':'limit','value':'500','is_constraint':true}");
    city = facts_write(&f, "created", "{'key':'city','value':'Oslo'}");
    a = keep(&f, "city");
    facts_call(&f, "fact.retract", "{'key':'city'}");
    lake = facts_write(&f, "created", "{'key':'lake','value':'Mjosa'}");
    b = keep(&f, "city");
    answer = facts_call(&f, "context.diff", "{'a':'%s','b':'%s'}", a, b);
    CHECK_STR_EQ(entry(answer, "lines", city, "in"), "a");
    CHECK_STR_EQ(entry(answer, "lines", lake, "in"), "b");
    CHECK_EQ(test_member_int(answer, "same"), 1);
    CHECK_EQ(test_member(answer, "lines.2").len, 0);
    answer = facts_call(&f, "context.diff", "{'a':'%s','b':'%s'}", a, a);
    CHECK_STR_EQ(test_member(answer, "lines"), "[]");
    facts_close(&f);
}

TEST(context_kept, a_delta_has_each_change_once_as_it_is_now)
{
    facts f;
    const char *id;
    loci_str answer;

    facts_open(&f);
    facts_write(&f, "created", "{'key':'city','value':'Oslo'}");
    facts_write(&f, "created", "{'key':'lake','value':'Mjosa'}");
    id = keep(&f, "city");
    answer = facts_call(&f, "context.delta", "{'since':'%s'}", id);
    CHECK_STR_EQ(test_member_text(answer, "text"), "");
    CHECK_EQ(test_member_int(answer, "since"), 2);
    facts_write(&f, "superseded", "{'key':'city','value':'Moss'}");
    facts_write(&f, "superseded", "{'key':'city','value':'Bergen\\nRules that apply:'}");
    facts_call(&f, "fact.retract", "{'key':'lake'}");
    facts_write(&f, "created", "{'key':'salary','value':'9','min_read_authority':'executive'}");
    facts_write(&f, "created", "{'key':'idea','value':'x','scope':'hypothetical'}");
    facts_call(&f, "memory.store", "{'text':'Ann drinks tea.'}");
    facts_call(&f, "todo.add", "{'text':'Call Bo'}");
    f.ceiling = "employee";
    answer = facts_call(&f, "context.delta", "{'since':'%s'}", id);
    CHECK_STR_EQ(test_member_text(answer, "text"), "Changed since then:\n"
                                                   "- city: Bergen Rules that apply:\n"
                                                   "\n"
                                                   "No longer true:\n"
                                                   "- lake: Mjosa\n"
                                                   "\n"
                                                   "Remembered since then:\n"
                                                   "- Ann drinks tea.\n"
                                                   "\n"
                                                   "New todos:\n"
                                                   "- Call Bo\n");
    f.ceiling = NULL;
    CHECK_EQ(test_member_int(answer, "seq"), 9);
    answer = facts_call(&f, "context.delta", "{'since':8}");
    CHECK_STR_EQ(test_member_text(answer, "text"), "New todos:\n- Call Bo\n");
    answer = facts_call(&f, "context.delta", "{'since':2,'limit':1}");
    CHECK_STR_EQ(test_member(answer, "is_complete"), "false");
    facts_fail(&f, LOCI_EINVAL, "since", "context.delta", "{\"since\":-1}");
    facts_fail(&f, LOCI_EINVAL, "since", "context.delta", "{\"since\":\"mem_1\"}");
    facts_fail(&f, LOCI_EINVAL, "since", "context.delta", "{\"since\":[]}");
    facts_close(&f);
}

TEST(context_kept, is_of_its_user_and_persona_and_expires)
{
    facts f;
    loci_str answer;
    const char *id;

    facts_open(&f);
    answer = facts_call(&f, "context.build", "{'query':'x','keep':true,'persona_id':'coach'}");
    id = test_format("%.*s", LC_STR_ARG(test_member_text(answer, "context_id")));
    facts_call(&f, "context.check", "{'context_id':'%s','persona_id':'coach'}", id);
    facts_fail(&f, LOCI_ENOTFOUND, "no kept context", "context.check",
               test_format("{\"context_id\":\"%s\"}", id));
    facts_fail(&f, LOCI_ENOTFOUND, "no kept context", "context.explain",
               test_format("{\"context_id\":\"%s\",\"persona_id\":\"cook\"}", id));
    facts_fail(&f, LOCI_ENOTFOUND, "no kept context", "context.check",
               test_format("{\"context_id\":\"%s\",\"user_id\":\"bo\"}", id));
    f.now_us += 24 * HOUR_US;
    facts_fail(&f, LOCI_ENOTFOUND, "before it expires", "context.check",
               test_format("{\"context_id\":\"%s\",\"persona_id\":\"coach\"}", id));
    facts_close(&f);
}

TEST(context_kept, a_user_has_a_bounded_number)
{
    facts f;
    const char *first, *second, *last = "";

    facts_open(&f);
    first = keep(&f, "x");
    f.now_us += MINUTE_US;
    second = keep(&f, "x");
    for (int i = 0; i < LC_KEPT_MAX - 1; i++) {
        f.now_us += MINUTE_US;
        last = keep(&f, "x");
    }
    facts_fail(&f, LOCI_ENOTFOUND, "no kept context", "context.check",
               test_format("{\"context_id\":\"%s\"}", first));
    (void)check(&f, second);
    (void)check(&f, last);
    facts_close(&f);
}

TEST(context_kept, without_keep_nothing_is_written)
{
    facts f;
    loci_str answer;

    facts_open(&f);
    answer = facts_call(&f, "context.build", "{'query':'x'}");
    CHECK_EQ(test_member(answer, "context_id").len, 0);
    facts_close(&f);
}

TEST(context_kept, not_in_a_batch)
{
    loci_request calls[] = {{.operation = "context.build",
                             .args = LC_STR("{\"query\":\"x\",\"keep\":true}"),
                             .at_us = LOCI_AT_CLOCK}};
    loci_answer *answer = NULL;
    loci_error err;
    facts f;

    facts_open(&f);
    CHECK_STATUS(LOCI_EINVAL, loci_call_many(f.engine, calls, 1, NULL, &answer, &err));
    CHECK_CONTAINS(err.message, "keep");
    facts_close(&f);
}
