/* The review inbox: everything that waits for a decision, of all rooms, in one shape. */
#include "contract/context_fixture.h"

#include "base/str.h"

static loci_str say(facts *f, const char *text)
{
    return facts_call(f, "session.append", "{\"role\":\"user\",\"text\":\"%s\"}", text);
}

/* The id of the first item of a kind; "" = there is none. */
static const char *first_of(facts *f, const char *kind)
{
    loci_str items = facts_call(f, "review.list", "{'kind':'%s'}", kind);

    return test_format("%.*s", LC_STR_ARG(test_member_text(items, "items.0.id")));
}

/* One of each kind. */
static void fill(facts *f)
{
    say(f, "i live in leeds.");
    facts_write(f, "created", "{'key':'city','value':'Oslo'}");
    facts_write(f, "claimed", "{'key':'city','value':'Bergen','trust':'web'}");
    facts_write(f, "created", "{'key':'office','value':'Main St 1','depends_on':['lease']}");
}

TEST(review, lists_every_kind_in_one_shape_and_pages)
{
    facts f;
    loci_str answer;
    const char *cursor;
    int seen = 0;

    facts_open(&f);
    facts_write(&f, "created", "{'key':'lease','value':'2024'}");
    fill(&f);
    facts_call(&f, "fact.retract", "{'key':'lease'}");
    facts_call(&f, "memory.store", "{'text':'Prefers tea','pinned':true}");
    facts_call(&f, "memory.store", "{'text':'Prefers coffee'}");
    facts_call(&f, "memory.store", "{'text':'Makesh is my friend'}");
    facts_call(&f, "memory.store", "{'text':'Mukesh is my friend'}");
    answer = facts_call(&f, "review.list", "{}");
    CHECK_STR_EQ(test_member_text(answer, "items.0.kind"), "proposal");
    CHECK_STR_EQ(test_member_text(answer, "items.0.proposed"), "Lives in leeds");
    CHECK_STR_EQ(test_member_text(answer, "items.0.quote"), "i live in leeds");
    CHECK_STR_EQ(test_member_text(answer, "items.1.kind"), "fact_claim");
    CHECK_STR_EQ(test_member_text(answer, "items.1.about"), "city");
    CHECK_STR_EQ(test_member_text(answer, "items.1.proposed"), "Bergen");
    CHECK_STR_EQ(test_member_text(answer, "items.1.current"), "Oslo");
    CHECK_STR_EQ(test_member_text(answer, "items.2.kind"), "fact_review");
    CHECK_STR_EQ(test_member_text(answer, "items.2.about"), "office");
    CHECK_STR_EQ(test_member_text(answer, "items.3.kind"), "memory_claim");
    CHECK_STR_EQ(test_member_text(answer, "items.3.current"), "Prefers tea");
    CHECK_STR_EQ(test_member_text(answer, "items.4.kind"), "merge");
    CHECK_STR_EQ(test_member(answer, "items.5"), "");
    CHECK_STR_EQ(test_member(answer, "next_cursor"), "null");
    for (cursor = ""; seen < 9; seen++) {
        answer = facts_call(&f, "review.list", "{\"limit\":1%s}", cursor);
        CHECK_STR_EQ(test_member(answer, "items.1"), "");
        if (lc_str_is(test_member(answer, "next_cursor"), "null"))
            break;
        cursor = test_format(",\"cursor\":\"%.*s\"",
                             LC_STR_ARG(test_member_text(answer, "next_cursor")));
    }
    CHECK_EQ(seen, 4);
    facts_close(&f);
}

TEST(review, proposals_are_accepted_corrected_or_dismissed)
{
    facts f;
    loci_str answer;
    const char *id;

    facts_open(&f);
    say(&f, "i live in leeds.");
    id = first_of(&f, "proposal");
    answer = facts_call(&f, "review.correct", "{'id':'%s','value':'Lives in Leeds'}", id);
    CHECK_STR_EQ(test_member_text(answer, "outcome"), "corrected");
    answer = test_member(facts_call(&f, "memory.list", "{}"), "memories.0");
    CHECK_STR_EQ(test_member_text(answer, "text"), "Lives in Leeds");
    CHECK_STR_EQ(test_member_text(answer, "metadata.said.quote"), "i live in leeds");
    facts_fail(&f, LOCI_ECONFLICT, "accepted before", "review.accept",
               test_format("{\"id\":\"%s\"}", id));
    say(&f, "i work at tesco.");
    facts_call(&f, "review.accept", "{'id':'%s'}", first_of(&f, "proposal"));
    CHECK_STR_EQ(test_member_text(facts_call(&f, "memory.list", "{}"), "memories.0.text"),
                 "Works at tesco");
    /* What was dismissed is not proposed again. */
    say(&f, "I can't stand horror movies.");
    facts_call(&f, "review.dismiss", "{'id':'%s'}", first_of(&f, "proposal"));
    CHECK_STR_EQ(test_member(say(&f, "I can't stand horror movies."), "learned"), "");
    CHECK_STR_EQ(first_of(&f, "proposal"), "");
    facts_fail(&f, LOCI_ENOTFOUND, "prop_", "review.accept",
               "{\"id\":\"prop_00000000000000000000000000\"}");
    facts_close(&f);
}

TEST(review, claims_need_the_authority_to_write)
{
    facts f;
    loci_str item;
    const char *id;

    facts_open(&f);
    facts_write(&f, "created", "{'key':'city','value':'Oslo','authority':'executive'}");
    facts_write(&f, "claimed",
                "{'key':'city','value':'Bergen','authority':'employee','source':'intranet'}");
    id = first_of(&f, "fact_claim");
    /* One decides by who said it. */
    item = test_member(facts_call(&f, "review.list", "{'kind':'fact_claim'}"), "items.0");
    CHECK_STR_EQ(test_member_text(item, "source"), "intranet");
    CHECK_STR_EQ(test_member_text(item, "authority"), "employee");
    CHECK_STR_EQ(test_member_text(item, "trust"), "user");
    f.ceiling = "employee";
    facts_fail(&f, LOCI_EFORBIDDEN, "city", "review.accept", test_format("{\"id\":\"%s\"}", id));
    f.ceiling = NULL;
    facts_call(&f, "review.accept", "{'id':'%s','authority':'executive'}", id);
    CHECK_STR_EQ(facts_current(&f, "city", "value"), "Bergen");
    CHECK_STR_EQ(first_of(&f, "fact_claim"), "");
    /* A dismissed claim does not come back with the same value, another one does. */
    facts_write(&f, "claimed", "{'key':'city','value':'Rome','trust':'web'}");
    facts_call(&f, "review.dismiss", "{'id':'%s'}", first_of(&f, "fact_claim"));
    CHECK_STR_EQ(first_of(&f, "fact_claim"), "");
    facts_write(&f, "claimed", "{'key':'city','value':'Rome','trust':'model'}");
    CHECK_STR_EQ(first_of(&f, "fact_claim"), "");
    facts_write(&f, "claimed", "{'key':'city','value':'Paris','trust':'web'}");
    facts_call(&f, "review.correct", "{'id':'%s','value':'Lyon','authority':'executive'}",
               first_of(&f, "fact_claim"));
    CHECK_STR_EQ(facts_current(&f, "city", "value"), "Lyon");
    f.trust = "tool";
    facts_write(&f, "claimed", "{'key':'city','value':'Nice'}");
    id = first_of(&f, "fact_claim");
    facts_fail(&f, LOCI_EFORBIDDEN, "trust", "review.dismiss", test_format("{\"id\":\"%s\"}", id));
    facts_close(&f);
}

TEST(review, facts_in_doubt_are_confirmed_corrected_or_retracted)
{
    facts f;

    facts_open(&f);
    facts_write(&f, "created", "{'key':'lease','value':'2024'}");
    facts_write(&f, "created", "{'key':'office','value':'Main St 1','depends_on':['lease']}");
    facts_write(&f, "created", "{'key':'desk','value':'12','depends_on':['lease']}");
    facts_write(&f, "created", "{'key':'door','value':'A','depends_on':['lease']}");
    facts_call(&f, "fact.retract", "{'key':'lease'}");
    facts_call(&f, "review.accept", "{'id':'%s'}", first_of(&f, "fact_review"));
    facts_call(&f, "review.correct", "{'id':'%s','value':'14'}", first_of(&f, "fact_review"));
    facts_call(&f, "review.dismiss", "{'id':'%s'}", first_of(&f, "fact_review"));
    CHECK_STR_EQ(first_of(&f, "fact_review"), "");
    CHECK_STR_EQ(facts_current(&f, "office", "value"), "Main St 1");
    CHECK_STR_EQ(facts_current(&f, "desk", "value"), "14");
    CHECK_STR_EQ(facts_current(&f, "door", "status"), "retracted");
    facts_close(&f);
}

TEST(review, claimed_memories_and_merges_are_settled)
{
    facts f;
    const char *id;

    facts_open(&f);
    facts_call(&f, "memory.store", "{'text':'Lives in Oslo','pinned':true}");
    facts_call(&f, "memory.store", "{'text':'Lives in Bergen'}");
    facts_call(&f, "review.dismiss", "{'id':'%s'}", first_of(&f, "memory_claim"));
    facts_call(&f, "memory.store", "{'text':'Lives in Bergen'}");
    CHECK_STR_EQ(first_of(&f, "memory_claim"), "");
    facts_call(&f, "memory.store", "{'text':'Lives in Rome'}");
    facts_call(&f, "review.accept", "{'id':'%s'}", first_of(&f, "memory_claim"));
    CHECK_STR_EQ(
        test_member_text(facts_call(&f, "memory.list", "{'status':'active'}"), "memories.0.text"),
        "Lives in Rome");
    facts_call(&f, "memory.store", "{'text':'Makesh is my friend'}");
    facts_call(&f, "memory.store", "{'text':'Mukesh is my friend'}");
    id = first_of(&f, "merge");
    facts_fail(&f, LOCI_EINVAL, "merge", "review.correct",
               test_format("{\"id\":\"%s\",\"value\":\"x\"}", id));
    facts_call(&f, "review.dismiss", "{'id':'%s'}", id);
    CHECK_STR_EQ(first_of(&f, "merge"), "");
    CHECK_STR_EQ(test_member(facts_call(&f, "entity.suggestions", "{}"), "suggestions"), "[]");
    facts_call(&f, "memory.store", "{'text':'Katerina is my friend'}");
    facts_call(&f, "memory.store", "{'text':'Katarina is my friend'}");
    facts_call(&f, "review.accept", "{'id':'%s'}", first_of(&f, "merge"));
    CHECK_STR_EQ(first_of(&f, "merge"), "");
    facts_close(&f);
}

TEST(review, a_forgotten_memory_takes_its_proposal_along)
{
    facts f;
    loci_str answer;
    const char *session;

    facts_open_store(&f, test_store(test_tmpdir(), "store.db"));
    answer = say(&f, "i live in canaryville.");
    session = test_format("%.*s", LC_STR_ARG(test_member_text(answer, "session_id")));
    facts_call(&f, "review.accept", "{'id':'%s'}", first_of(&f, "proposal"));
    facts_call(&f, "session.forget", "{'session_id':'%s','wait':true}", session);
    CHECK(!facts_is_stored(&f, "canaryville"));
    facts_call(&f, "memory.store", "{'text':'Lives in canaryville'}");
    say(&f, "i live in canaryville.");
    answer = facts_call(&f, "memory.list", "{}");
    answer = facts_call(&f, "memory.forget", "{'id':'%.*s'}",
                        LC_STR_ARG(test_member_text(answer, "memories.0.id")));
    CHECK_EQ(test_member_int(answer, "removed.proposal"), 1);
    CHECK_STR_EQ(first_of(&f, "proposal"), "");
    facts_close(&f);
}
