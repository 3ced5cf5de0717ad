/* Whose facts, sessions and scopes a context is made from. */
#include "contract/context_fixture.h"

#include <string.h>

#include "base/str.h"

TEST(context_view, other_users_and_tenants_never_appear)
{
    facts f;
    loci_str answer;

    facts_open(&f);
    for (int i = 0; i < 4; i++) {
        const char *user = i % 2 == 0 ? "ann" : "bob";
        const char *who = test_format("%s of %s", user, i < 2 ? "here" : "there");

        f.tenant = i < 2 ? NULL : "there";
        facts_write(&f, "created", "{'user_id':'%s','key':'city','value':'%s'}", user, who);
        facts_call(&f, "fact.observe", "{'user_id':'%s','text':'I am %s.'}", user, who);
        facts_call(&f, "working.set", "{'user_id':'%s','key':'w','value':'%s'}", user, who);
        facts_call(&f, "environment.set", "{'user_id':'%s','key':'e','value':'%s'}", user, who);
        facts_call(&f, "identity.set", "{'user_id':'%s','user_name':'%s','authority':'manager'}",
                   user, who);
    }
    f.tenant = NULL;
    answer = context_build(&f, "{'user_id':'ann','query':'city of ann and bob'}");
    CHECK_STR_EQ(context_text(answer), "The user is ann of here, manager.\n\n"
                                       "What is known:\n- city: ann of here\n\n"
                                       "What was said:\n- 2023-11-14 user: I am ann of here.\n\n"
                                       "Notes of this session:\n- w: ann of here\n\n"
                                       "Right now:\n- Current time: 2023-11-14T22:13:00Z\n"
                                       "- e: ann of here\n");
    CHECK_STR_EQ(test_member(answer, "excluded_counts"), "{}");
    f.tenant = "there";
    answer = context_build(&f, "{'user_id':'bob','query':'city of ann and bob'}");
    CHECK(strstr(answer.ptr, "here") != NULL && strstr(answer.ptr, "of here") == NULL);
    CHECK(!context_shows(answer, "ann"));
    f.tenant = NULL;
    CHECK(!context_shows(context_build(&f, "{'user_id':'eve','query':'city'}"), "city"));
    facts_close(&f);
}

TEST(context_view, a_persona_sees_its_own_and_everybodys)
{
    facts f;
    const char *coach;
    loci_str answer;

    facts_open(&f);
    facts_write(&f, "created", "{'key':'tone','value':'plain'}");
    facts_write(&f, "created", "{'key':'city','value':'Oslo'}");
    coach = facts_write(&f, "created", "{'key':'tone','value':'warm','persona_id':'coach'}");
    facts_write(&f, "created", "{'key':'own','value':'first secret','persona_id':'coach'}");
    facts_write(&f, "superseded", "{'key':'own','value':'secret','persona_id':'coach'}");
    facts_call(&f, "fact.observe", "{'text':'Speak to me about running.','persona_id':'coach'}");
    answer = context_build(&f, "{'query':'tone','persona_id':'coach'}");
    CHECK(context_shows(answer, "- tone: warm\n"));
    CHECK(context_shows(answer, "- city: Oslo\n"));
    CHECK(context_shows(answer, "- own: secret\n"));
    CHECK(!context_shows(answer, "plain"));
    CHECK_STR_EQ(context_section(answer, coach), "facts");
    CHECK_EQ(context_count(answer, "superseded"), 1);
    /* For the others it is not even counted. */
    for (int i = 0; i < 2; i++) {
        answer = context_build(&f, "{'query':'tone'%s}", i == 0 ? "" : ",\"persona_id\":\"clerk\"");
        CHECK(context_shows(answer, "- tone: plain\n"));
        CHECK(!context_shows(answer, "secret"));
        CHECK(!context_shows(answer, "running"));
        CHECK_EQ(context_facts_in(answer), 2);
        CHECK_STR_EQ(test_member(answer, "excluded_counts"), "{}");
    }
    facts_close(&f);
}

TEST(context_view, suppositions_count_only_where_they_are_asked_for)
{
    static const char *const scopes[] = {"task", "hypothetical", "draft"};
    facts f;

    facts_open(&f);
    facts_write(&f, "created", "{'key':'price','value':100}");
    facts_write(&f, "created", "{'key':'city','value':'Oslo'}");
    for (int i = 0; i < 3; i++) {
        const char *in = test_format("\"scope\":\"%s\",\"scope_id\":\"x\"", scopes[i]);
        const char *elsewhere = test_format("\"scope\":\"%s\",\"scope_id\":\"y\"", scopes[i]);
        const char *inner = facts_write(&f, "shadowed", "{'key':'price','value':%d,%s}", 200 + i,
                                        in);
        loci_str answer = context_build(&f, "{'query':'price',%s}", in);

        CHECK_CONTAINS(context_text(answer),
                       test_format("What is known:\n- price: %d\n- city: Oslo\n", 200 + i));
        CHECK_STR_EQ(context_section(answer, inner), "facts");
        CHECK_EQ(context_count(answer, "scope"), 1 + i); /* The global one and other scopes'. */
        answer = context_build(&f, "{'query':'price',%s}", elsewhere);
        CHECK(context_shows(answer, "- price: 100\n"));
        CHECK_STR_EQ(context_reason(answer, inner), "scope");
        answer = context_build(&f, "{'query':'price'}");
        CHECK(context_shows(answer, "- price: 100\n"));
        CHECK(!context_shows(answer, test_format("price: %d", 200 + i)));
        CHECK_EQ(context_count(answer, "scope"), 1 + i);
    }
    facts_close(&f);
}

/* An inner fact that is no longer true hides nothing. */
TEST(context_view, what_has_expired_does_not_hide)
{
    facts f;
    loci_str answer;

    facts_open(&f);
    facts_write(&f, "created", "{'key':'price','value':100}");
    facts_write(&f, "shadowed",
                "{'key':'price','value':50,'scope':'draft',"
                "'valid_until':'2023-11-14T22:14:00Z'}");
    CHECK(context_shows(context_build(&f, "{'query':'price','scope':'draft'}"), "- price: 50\n"));
    f.now_us += MINUTE_US;
    answer = context_build(&f, "{'query':'price','scope':'draft'}");
    CHECK(!context_shows(answer, "- price: 50\n"));
    CHECK_EQ(context_count(answer, "expired"), 1);
    /* As reading it by its key does. */
    CHECK_EQ(context_shows(answer, "- price: 100\n"),
             lc_str_is(facts_value(&f, "{'key':'price','scope':'draft'}"), "100"));
    facts_close(&f);
}

TEST(context_view, restricted_facts_are_for_those_who_may_read_them)
{
    facts f;
    const char *salary;
    loci_str answer;

    facts_open(&f);
    salary = facts_write(&f, "created",
                         "{'key':'salary','value':'90 thousand',"
                         "'min_read_authority':'manager'}");
    facts_write(&f, "created", "{'key':'merger','value':'in May','required_permission':'board'}");
    facts_call(&f, "identity.set", "{'user_name':'I','authority':'intern','session_id':'i'}");
    facts_call(&f, "identity.set",
               "{'user_name':'M','authority':'CEO','permissions':['board'],"
               "'session_id':'m'}");
    answer = context_build(&f, "{'query':'salary merger','session_id':'m'}");
    CHECK(context_shows(answer, "salary: 90 thousand"));
    CHECK(context_shows(answer, "merger: in May"));
    answer = context_build(&f, "{'query':'salary merger','session_id':'i'}");
    CHECK_EQ(context_count(answer, "restricted"), 2);
    CHECK_STR_EQ(context_reason(answer, salary), "restricted");
    CHECK(strstr(answer.ptr, "salary") == NULL && strstr(answer.ptr, "90 thousand") == NULL);
    CHECK(strstr(answer.ptr, "merger") == NULL && strstr(answer.ptr, "in May") == NULL);
    f.ceiling = "employee"; /* Of the token: no identity goes above it. */
    answer = context_build(&f, "{'query':'salary merger','session_id':'m'}");
    CHECK(!context_shows(answer, "salary"));
    f.ceiling = NULL;
    facts_close(&f);
}

TEST(context_view, without_a_session_there_is_no_identity_and_no_working_set)
{
    facts f;
    loci_str answer;

    facts_open(&f);
    facts_call(&f, "identity.set", "{'user_name':'Ann','authority':'manager'}");
    facts_call(&f, "working.set", "{'key':'todo','value':'call Bob'}");
    facts_call(&f, "working.set",
               "{'key':'brief','value':'x','expires_at':'2023-11-14T22:14:00Z'}");
    facts_call(&f, "fact.observe", "{'text':'The stairs are being painted.'}");
    facts_write(&f, "created", "{'key':'mood','value':'calm','scope':'session'}");
    answer = context_build(&f, "{'query':'stairs'}");
    CHECK(context_shows(answer, "The user is Ann"));
    CHECK(context_shows(answer, "Notes of this session:\n- brief: x\n- todo: call Bob\n"));
    CHECK(context_shows(answer, "- mood: calm\n"));
    f.now_us += MINUTE_US;
    CHECK(!context_shows(context_build(&f, "{'query':'stairs'}"), "brief"));
    facts_call(&f, "session.close", "{}");
    answer = context_build(&f, "{'query':'stairs'}");
    CHECK(!context_shows(answer, "Ann"));
    CHECK(!context_shows(answer, "todo"));
    CHECK(!context_shows(answer, "mood"));
    CHECK(context_shows(answer, "user: The stairs are being painted.\n"));
    CHECK_EQ(context_count(answer, "scope"), 1);
    facts_close(&f);
}

TEST(context_view, a_session_narrows_the_conversation)
{
    facts f;
    const char *b;
    loci_str answer;

    facts_open(&f);
    facts_call(&f, "fact.observe", "{'text':'The stairs are being painted.','session_id':'a'}");
    answer = facts_call(&f, "fact.observe", "{'text':'The lift is fine.','session_id':'b'}");
    b = test_format("%.*s", LC_STR_ARG(test_member_text(answer, "session_id")));
    facts_call(&f, "working.set", "{'key':'todo','value':1,'session_id':'b'}");
    answer = context_build(&f, "{'query':'stairs','session_id':'a'}");
    CHECK(context_shows(answer, "stairs"));
    CHECK(!context_shows(answer, "lift"));
    CHECK(!context_shows(answer, "todo"));
    answer = context_build(&f, "{'query':'stairs','session_id':'b'}");
    CHECK(!context_shows(answer, "stairs"));
    CHECK(context_shows(answer, "todo: 1"));
    /* A name nobody used is nobody's session; one that looks like an id must be one. */
    answer = context_build(&f, "{'query':'stairs','session_id':'c'}");
    CHECK_STR_EQ(context_text(answer), "Right now:\n- Current time: 2023-11-14T22:13:00Z\n");
    /* One that has ended still has what was said in it. */
    facts_call(&f, "session.close", "{'session_id':'b'}");
    CHECK(context_shows(context_build(&f, "{'query':'stairs','session_id':'b'}"), "lift"));
    answer = context_build(&f, "{'query':'stairs','session_id':'%s'}", b);
    CHECK(context_shows(answer, "The lift is fine."));
    CHECK(!context_shows(answer, "stairs"));
    CHECK(!context_shows(answer, "todo"));
    facts_fail(&f, LOCI_ENOTFOUND, "no session", "context.build",
               "{'query':'x','session_id':'ses_00000000000000000000000000'}");
    facts_close(&f);
}

/* ---- Parts of a context ---------------------------------------------------------------------- */

static void fill(facts *f)
{
    facts_write(f, "created", "{'key':'database','value':'PostgreSQL 16'}");
    facts_write(f, "created", "{'key':'max_upload_mb','value':25}");
    facts_call(f, "memory.store", "{'text':'The webhook retry policy is five attempts'}");
    facts_call(f, "memory.store", "{'text':'Prefers short answers without emoji','pinned':true}");
    facts_call(f, "todo.add", "{'text':'Renew the certificate'}");
    facts_call(f, "session.append",
               "{'role':'user','text':'The export to CSV loses umlauts.','session_id':'old'}");
    facts_call(f, "session.append", "{'role':'user','text':'ok, thanks','session_id':'old'}");
}

TEST(context_view, sections_can_be_chosen)
{
    facts f;
    loci_str answer;

    facts_open(&f);
    fill(&f);
    answer = context_build(&f, "{'query':'umlauts','sections':['todos','foundation']}");
    CHECK_STR_EQ(context_text(answer), "Always remember:\n- Prefers short answers without emoji\n\n"
                                       "Open todos:\n- Renew the certificate\n");
    answer = context_build(&f, "{'query':'umlauts','sections':'conversation'}");
    CHECK(context_shows(answer, "umlauts"));
    CHECK(!context_shows(answer, "database"));
    facts_fail(&f, LOCI_EINVAL, "sections", "context.build", "{'query':'x','sections':['nope']}");
    facts_close(&f);
}

/* A hook adds this to every prompt: it must not add what has nothing to do with it. */
TEST(context_view, of_what_is_relevant_only_can_be_empty)
{
    static const char *const idle[] = {"thanks", "yes, go on", "continue", "hello",
                                       "write a haiku about the sea"};
    facts f;
    loci_str answer;

    facts_open(&f);
    fill(&f);
    for (size_t i = 0; i < sizeof idle / sizeof idle[0]; i++) {
        answer = context_build(&f, "{'query':'%s','relevant_only':true}", idle[i]);
        CHECK_STR_EQ(context_text(answer), "");
    }
    answer = context_build(&f, "{'query':'Which database do we use?','relevant_only':true}");
    CHECK_STR_EQ(context_text(answer), "What is known:\n- database: PostgreSQL 16\n");
    answer = context_build(&f, "{'query':'change the webhook retries','relevant_only':true}");
    CHECK(context_shows(answer, "five attempts"));
    CHECK(!context_shows(answer, "emoji"));
    CHECK(!context_shows(answer, "certificate"));
    answer = context_build(&f, "{'query':'fix the umlauts in the export','relevant_only':true}");
    CHECK(context_shows(answer, "The export to CSV loses umlauts."));
    CHECK(!context_shows(answer, "thanks"));
    CHECK(!context_shows(answer, "Current time"));
    facts_call(&f, "config.set", "{'name':'model.embedder','value':'lexical'}");
    answer = context_build(&f, "{'query':'Which database do we use?','relevant_only':true}");
    CHECK_STR_EQ(context_text(answer), "What is known:\n- database: PostgreSQL 16\n");
    answer = context_build(&f, "{'query':'hello','relevant_only':true}");
    CHECK_STR_EQ(context_text(answer), "");
    facts_close(&f);
}

TEST(context_view, the_session_that_the_model_has_can_be_left_out)
{
    facts f;
    loci_str answer;

    facts_open(&f);
    fill(&f);
    facts_call(&f, "session.append",
               "{'role':'user','text':'Umlauts are lost in the PDF, too.','session_id':'now'}");
    answer = context_build(&f, "{'query':'umlauts','without_session':'now'}");
    CHECK(context_shows(answer, "CSV"));
    CHECK(!context_shows(answer, "PDF"));
    answer = context_build(&f, "{'query':'','without_session':'old'}");
    CHECK(!context_shows(answer, "CSV"));
    CHECK(context_shows(answer, "PDF"));
    answer = context_build(&f, "{'query':'umlauts','without_session':'never'}");
    CHECK(context_shows(answer, "CSV"));
    CHECK(context_shows(answer, "PDF"));
    facts_close(&f);
}

/* A session starts with a brief: there is no question yet. */
TEST(context_view, without_a_query_the_newest_memories_are_shown)
{
    facts f;
    loci_str answer;

    facts_open(&f);
    fill(&f);
    facts_call(&f, "memory.store", "{'text':'Anna owns billing','persona_id':'p'}");
    answer = context_build(&f, "{'query':''}");
    CHECK(
        context_shows(answer, "What is remembered:\n- The webhook retry policy is five attempts"));
    CHECK(!context_shows(answer, "Anna"));
    answer = context_build(&f, "{'query':' ','persona_id':'p'}");
    CHECK(context_shows(answer, "Anna owns billing"));
    facts_close(&f);
}

/* A process that lives for one call does not load 80 ms of token tables. */
TEST(context_view, tokens_can_be_estimated)
{
    facts f;
    loci_str answer;

    facts_open(&f);
    fill(&f);
    answer = facts_call(&f, "context.build", "{'query':'database','budget':100,'estimate':true}");
    CHECK_STR_EQ(test_member(answer, "estimated"), "true");
    CHECK_STR_EQ(test_member_text(answer, "warnings.0"), "tokens are estimated");
    CHECK(context_shows(answer, "database: PostgreSQL 16"));
    CHECK_LE(test_member_int(answer, "tokens.total"), 100);
    facts_close(&f);
}

/* A persona's own fact takes the place of the one that all personas share, also for a reader who
 * may not read it: otherwise the shared value would be taken for the current one. */
TEST(context_view, a_fact_that_the_reader_may_not_read_still_hides_the_shared_one)
{
    facts f;
    loci_str answer;

    facts_open(&f);
    facts_write(&f, "created", "{'key':'harbor','value':'Bergen'}");
    facts_write(&f, "created",
                "{'key':'harbor','value':'Oslo','persona_id':'coach',"
                "'min_read_authority':'manager'}");
    f.ceiling = "employee";
    CHECK_STR_EQ(facts_value(&f, "{'key':'harbor','persona_id':'coach'}"), "-");
    answer = context_build(&f, "{'query':'Where is the harbor?','persona_id':'coach'}");
    CHECK(!context_shows(answer, "harbor"));
    CHECK_EQ(context_count(answer, "restricted"), 1);
    CHECK_EQ(context_count(answer, "scope"), 1);
    answer = context_build(&f, "{'query':'Where is the harbor?'}");
    CHECK(context_shows(answer, "harbor: Bergen"));
    f.ceiling = NULL;
    answer = context_build(&f, "{'query':'Where is the harbor?','persona_id':'coach'}");
    CHECK(context_shows(answer, "harbor: Oslo"));
    facts_close(&f);
}

/* The manifest names facts that ended where it counts them, and nowhere else. */
TEST(context_view, facts_that_ended_are_left_out_of_a_manifest_without_facts)
{
    facts f;
    const char *old;
    loci_str answer;

    facts_open(&f);
    old = facts_write(&f, "created", "{'key':'city','value':'Oslo'}");
    facts_write(&f, "superseded", "{'key':'city','value':'Bergen'}");
    facts_call(&f, "session.append", "{'role':'user','text':'My city is Oslo.'}");
    answer = context_build(&f, "{'query':'city','sections':['conversation']}");
    CHECK(!context_shows(answer, "Oslo"));
    CHECK_EQ(context_count(answer, "superseded"), 1); /* The message. */
    CHECK_STR_EQ(context_reason(answer, old), "");
    answer = context_build(&f, "{'query':'city'}");
    CHECK_STR_EQ(context_reason(answer, old), "superseded");
    facts_close(&f);
}
