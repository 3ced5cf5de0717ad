/* session.search: every message of a user is found by its words and by its meaning, at once, by
 * those who may see it and by nobody else; whoever built the index, and whenever. */
#include "contract/fact_fixture.h"

#include <string.h>
#include <unistd.h>

#include "base/str.h"

#define WAIT_TURNS 2000 /* Of 10 ms. */

/* JSON with ' for ", so that it can be read. */
static const char *json(const char *text)
{
    char *copy = test_format("%s", text);

    for (char *at = copy; *at != '\0'; at++)
        if (*at == '\'')
            *at = '"';
    return copy;
}

static const char *say(facts *f, const char *args)
{
    loci_str answer = facts_call(f, "session.append", "%s", json(args));

    return test_format("%.*s", LC_STR_ARG(test_member_text(answer, "message_id")));
}

static loci_str search(facts *f, const char *args)
{
    return facts_call(f, "session.search", "%s", json(args));
}

/* The texts of the results, best first, each in brackets. */
static const char *texts(loci_str answer)
{
    const char *out = "";

    for (int i = 0;; i++) {
        loci_str text = test_member_text(answer, test_format("results.%d.text", i));

        if (text.len == 0)
            return out;
        out = test_format("%s[%.*s]", out, LC_STR_ARG(text));
    }
}

static const char *found(facts *f, const char *args)
{
    loci_str answer = search(f, args);

    CHECK_STR_EQ(test_member(answer, "complete"), "true");
    return texts(answer);
}

static void set_embedder(facts *f, const char *embedder)
{
    facts_call(f, "config.set", "{'name':'model.embedder','value':'%s'}", embedder);
}

/* Things of an office that have nothing to do with food. */
static void say_things(facts *f, int first, int count)
{
    static const char *const places[] = {"lobby", "garage", "archive", "studio", "workshop"};

    for (int i = first; i < first + count; i++)
        say(f, test_format("{'role':'user','text':'The printer of the %s is number %d.'}",
                           places[i % 5], i * 37 % 1000));
}

#define ALLERGY "Anna is allergic to peanuts."
#define COOK "{'query':'What should I not cook for her?','limit':1}"

TEST(session_search, finds_by_words_and_by_meaning)
{
    facts f;

    facts_open(&f);
    say(&f, "{'role':'user','text':'" ALLERGY "'}");
    say(&f, "{'role':'assistant','text':'Noted. The locker XK-4471 is hers.'}");
    say_things(&f, 0, 30);
    CHECK_STR_EQ(found(&f, COOK), "[" ALLERGY "]");
    CHECK_STR_EQ(found(&f, "{'query':'XK-4471','limit':1}"),
                 "[Noted. The locker XK-4471 is hers.]");
    CHECK_STR_EQ(found(&f, "{'query':'allergies','limit':1}"), "[" ALLERGY "]");
    /* By words alone the first has nothing to be found by. */
    set_embedder(&f, "lexical");
    CHECK_STR_EQ(found(&f, COOK), "");
    CHECK_STR_EQ(found(&f, "{'query':'locker'}"), "[Noted. The locker XK-4471 is hers.]");
    facts_close(&f);
}

TEST(session_search, hit_says_whose_message_it_is_and_where)
{
    facts f;
    const char *id;
    loci_str hit;

    facts_open(&f);
    id = say(&f, "{'role':'user','text':'The harbour is closed.','speaker':'Bo',"
                 "'at':'2023-01-02T03:04:05Z','session_id':'chat-7'}");
    hit = test_member(search(&f, "{'query':'harbour'}"), "results.0");
    CHECK_STR_EQ(test_member_text(hit, "message_id"), id);
    CHECK_STR_EQ(test_member_text(hit, "external_id"), "chat-7");
    CHECK(lc_str_starts(test_member_text(hit, "session_id"), LC_STR("ses_")));
    CHECK_STR_EQ(test_member_text(hit, "role"), "user");
    CHECK_STR_EQ(test_member_text(hit, "speaker"), "Bo");
    CHECK_STR_EQ(test_member_text(hit, "at"), "2023-01-02T03:04:05Z");
    CHECK_STR_EQ(test_member_text(hit, "text"), "The harbour is closed.");
    CHECK(test_member(hit, "score").len > 0);
    CHECK_STR_EQ(test_member(hit, "parts"), "");
    say(&f, "{'role':'tool','text':'pier 4','user_id':'u2'}");
    hit = test_member(search(&f, "{'query':'pier','user_id':'u2'}"), "results.0");
    CHECK_STR_EQ(test_member(hit, "speaker"), "");
    CHECK_STR_EQ(test_member(hit, "external_id"), "");
    facts_close(&f);
}

TEST(session_search, explains_the_score_when_asked)
{
    facts f;
    loci_str parts;

    facts_open(&f);
    say(&f, "{'role':'user','text':'" ALLERGY "'}");
    say_things(&f, 0, 5);
    parts = test_member(search(&f, "{'query':'peanuts','limit':1,'explain':true}"),
                        "results.0.parts");
    CHECK(test_member(parts, "cosine").len > 0);
    CHECK(test_member(parts, "meaning").len > 0);
    CHECK(test_member(parts, "bm25").len > 0);
    CHECK(test_member(parts, "words").len > 0);
    set_embedder(&f, "lexical");
    parts = test_member(search(&f, "{'query':'peanuts','explain':true}"), "results.0.parts");
    CHECK_STR_EQ(test_member(parts, "cosine"), "");
    CHECK(test_member(parts, "bm25").len > 0);
    facts_close(&f);
}

TEST(session_search, filters_choose_before_the_best_are_taken)
{
    facts f;

    facts_open(&f);
    set_embedder(&f, "lexical");
    for (int i = 0; i < 250; i++)
        say(&f, "{'role':'user','text':'boat boat boat','session_id':'talk','at':"
                "'2023-05-01T00:00:00Z'}");
    say(&f, "{'role':'assistant','text':'a boat among many other things','session_id':'talk','at':"
            "'2023-05-02T00:00:00Z'}");
    say(&f, "{'role':'tool','text':'list of every boat in the harbour','session_id':'port','at':"
            "'2023-05-03T00:00:00Z'}");
    CHECK_STR_EQ(found(&f, "{'query':'boat','role':'assistant'}"),
                 "[a boat among many other things]");
    CHECK_STR_EQ(found(&f, "{'query':'boat','session':'port'}"),
                 "[list of every boat in the harbour]");
    CHECK_STR_EQ(found(&f, "{'query':'boat','from':'2023-05-03T00:00:00Z'}"),
                 "[list of every boat in the harbour]");
    CHECK_STR_EQ(found(&f, "{'query':'boat','from':'2023-05-01T00:00:01Z',"
                           "'to':'2023-05-03T00:00:00Z'}"),
                 "[a boat among many other things]");
    CHECK_STR_EQ(found(&f, "{'query':'boat','to':'2023-05-01T00:00:00Z'}"), "");
    CHECK_STR_EQ(found(&f, "{'query':'boat','session':'port','role':'user'}"), "");
    CHECK_STR_EQ(found(&f, "{'query':'boat','session':'never begun'}"), "");
    CHECK_STR_EQ(found(&f, "{'query':'boat','role':'system'}"), "");
    facts_close(&f);
}

/* A caller's name for a session may have meant several, one after the other. */
TEST(session_search, session_may_be_named_by_its_id_or_by_its_name)
{
    facts f;
    loci_str answer;

    facts_open(&f);
    set_embedder(&f, "lexical");
    answer = facts_call(&f, "session.append",
                        "{'role':'user','text':'red boat','session_id':'chat'}");
    facts_call(&f, "session.close", "{'session_id':'chat'}");
    say(&f, "{'role':'user','text':'blue boat','session_id':'chat'}");
    say(&f, "{'role':'user','text':'green boat','session_id':'other'}");
    CHECK_STR_EQ(found(&f, "{'query':'boat','session':'chat'}"), "[red boat][blue boat]");
    CHECK_STR_EQ(found(&f, test_format("{'query':'boat','session':'%.*s'}",
                                       LC_STR_ARG(test_member_text(answer, "session_id")))),
                 "[red boat]");
    facts_fail(&f, LOCI_ENOTFOUND, "there is no session ses_01", "session.search",
               json("{'query':'boat','session':'ses_01K9Z5W8G0000000005W0BSTYX'}"));
    facts_close(&f);
}

TEST(session_search, limit_cuts_the_same_ranking)
{
    facts f;
    const char *all, *few;

    facts_open(&f);
    say_things(&f, 0, 40);
    all = found(&f, "{'query':'printer in the studio','limit':30}");
    few = found(&f, "{'query':'printer in the studio','limit':7}");
    CHECK_EQ(strncmp(all, few, strlen(few)), 0);
    CHECK(strlen(all) > 3 * strlen(few));
    CHECK_EQ(strncmp(all, found(&f, "{'query':'printer in the studio'}"), strlen(few)), 0);
    facts_close(&f);
}

TEST(session_search, bad_input_is_refused_with_a_reason)
{
    facts f;

    facts_open(&f);
    facts_fail(&f, LOCI_EINVAL, "query", "session.search", "{}");
    facts_fail(&f, LOCI_EINVAL, "query", "session.search", json("{'query':''}"));
    facts_fail(&f, LOCI_EINVAL, "white space", "session.search", json("{'query':' \\t '}"));
    facts_fail(&f, LOCI_EINVAL, "query", "session.search", json("{'query':7}"));
    facts_fail(&f, LOCI_EINVAL, "limit", "session.search", json("{'query':'a','limit':0}"));
    facts_fail(&f, LOCI_EINVAL, "limit", "session.search", json("{'query':'a','limit':101}"));
    facts_fail(&f, LOCI_EINVAL, "role", "session.search", json("{'query':'a','role':'user '}"));
    facts_fail(&f, LOCI_EINVAL, "session", "session.search", json("{'query':'a','session':''}"));
    facts_fail(&f, LOCI_EINVAL, "from", "session.search", json("{'query':'a','from':'monday'}"));
    facts_fail(&f, LOCI_EINVAL, "later than", "session.search",
               json("{'query':'a','from':'2023-01-02T00:00:00Z','to':'2023-01-01T00:00:00Z'}"));
    facts_fail(&f, LOCI_EINVAL, "explain", "session.search", json("{'query':'a','explain':'yes'}"));
    CHECK_STR_EQ(found(&f, "{'query':'a','limit':100}"), "");
    CHECK_STR_EQ(found(&f, "{'query':'the'}"), ""); /* Nothing but a stop word, and no message. */
    facts_close(&f);
}

TEST(session_search, message_of_another_engine_is_found_at_once)
{
    facts f, other;

    facts_open(&f);
    facts_open_store(&other, f.store);
    set_embedder(&f, "lexical");
    CHECK_STR_EQ(found(&f, "{'query':'boat'}"), "");
    for (int i = 0; i < 20; i++) {
        say(&other, test_format("{'role':'user','text':'boat number %d'}", i));
        CHECK_STR_EQ(found(&f, test_format("{'query':'number %d','limit':1}", i)),
                     test_format("[boat number %d]", i));
    }
    set_embedder(&f, "builtin");
    CHECK_STR_EQ(search(&f, "{'query':'sailing','limit':20,'explain':true}"),
                 search(&other, "{'query':'sailing','limit':20,'explain':true}"));
    facts_close(&other);
    facts_close(&f);
}

/* The index that grew with the messages, one built at once, and vectors from the store or made on
 * the spot: the same bytes. */
TEST(session_search, cold_answer_equals_warm_answer)
{
    static const char *const queries[] = {
        "{'query':'What should I not cook?','limit':30,'explain':true}",
        "{'query':'printer archive','limit':30,'explain':true}",
        "{'query':'number 37','role':'user','limit':5,'explain':true}"};
    facts f, fresh;
    loci_str warm[3];

    facts_open(&f);
    say(&f, "{'role':'user','text':'" ALLERGY "'}");
    for (int i = 0; i < 10; i++) {
        say_things(&f, 4 * i, 4);
        search(&f, queries[0]);
    }
    for (int i = 0; i < 3; i++)
        warm[i] = search(&f, queries[i]);
    facts_open_store(&fresh, f.store);
    for (int i = 0; i < 3; i++)
        CHECK_STR_EQ(search(&fresh, queries[i]), warm[i]);
    facts_close(&fresh);
    facts_call(&f, "model.reembed", "{'wait':true}");
    facts_open_store(&fresh, f.store);
    for (int i = 0; i < 3; i++) {
        CHECK_STR_EQ(search(&f, queries[i]), warm[i]);
        CHECK_STR_EQ(search(&fresh, queries[i]), warm[i]);
    }
    facts_close(&fresh);
    facts_close(&f);
}

/* Too many to be embedded on the spot: without threads the job runs inside the call. */
TEST(session_search, an_inline_engine_makes_vectors_when_they_are_needed)
{
    facts f;

    facts_open(&f);
    say(&f, "{'role':'user','text':'" ALLERGY "'}");
    say_things(&f, 0, 100);
    CHECK_STR_EQ(found(&f, COOK), "[" ALLERGY "]");
    CHECK_EQ(test_member_int(facts_call(&f, "model.reembed", "{'wait':true}"), "result.embedded"),
             0);
    facts_close(&f);
}

TEST(session_search, vectors_come_from_a_job_that_the_search_asks_for)
{
    facts f = {.store = test_path(test_tmpdir(), "store.db")};
    int turn = 0;

    f.engine = test_open_threads(f.store);
    say(&f, "{'role':'user','text':'" ALLERGY "'}");
    say_things(&f, 0, 100);
    /* A slow machine needs more than one search to build the index: it need not be complete. */
    while (strcmp(texts(search(&f, COOK)), "[" ALLERGY "]") != 0) {
        CHECK_LT(turn++, WAIT_TURNS);
        usleep(10000);
    }
    facts_close(&f);
}

/* White space has no vector: the messages behind it must get theirs all the same. */
TEST(session_search, blank_message_does_not_stop_the_vectors)
{
    facts f;

    facts_open(&f);
    say(&f, "{'role':'user','text':'  '}");
    say(&f, "{'role':'user','text':'" ALLERGY "'}");
    say_things(&f, 0, 100);
    facts_call(&f, "model.reembed", "{'wait':true}");
    CHECK_STR_EQ(found(&f, COOK), "[" ALLERGY "]");
    facts_close(&f);
}

static const char *found_as(facts *f, const char *ask, const char *caller)
{
    return found(f, test_format("{%s%s}", ask, caller));
}

TEST(session_search, canaries_of_others_never_appear)
{
    static const char *const asks[] = {"'query':'canary'", "'query':'canary','role':'user'",
                                       "'query':'small yellow bird','limit':100",
                                       "'query':'canary','session':'cage'"};
    facts f;

    facts_open(&f);
    say(&f, "{'role':'user','text':'canary of everybody','session_id':'cage'}");
    say(&f, "{'role':'user','text':'canary of ada','persona_id':'ada','session_id':'cage'}");
    say(&f, "{'role':'user','text':'canary of bob','persona_id':'bob','session_id':'cage'}");
    say(&f, "{'role':'user','text':'canary of a user','user_id':'u2','session_id':'cage'}");
    f.tenant = "t2";
    say(&f, "{'role':'user','text':'canary of a tenant','session_id':'cage'}");
    for (int round = 0; round < 2; round++)
        for (size_t i = 0; i < sizeof asks / sizeof *asks; i++) {
            f.tenant = NULL;
            CHECK_STR_EQ(found_as(&f, asks[i], ""), "[canary of everybody]");
            CHECK_STR_EQ(found_as(&f, asks[i], ",'persona_id':'eve'"), "[canary of everybody]");
            CHECK(strstr(found_as(&f, asks[i], ",'persona_id':'ada'"), "bob") == NULL);
            CHECK_CONTAINS(found_as(&f, asks[i], ",'persona_id':'ada'"), "[canary of ada]");
            CHECK_STR_EQ(found_as(&f, asks[i], ",'user_id':'u2'"), "[canary of a user]");
            CHECK_STR_EQ(found_as(&f, asks[i], ",'user_id':'u3'"), "");
            f.tenant = "t2";
            CHECK_STR_EQ(found_as(&f, asks[i], ""), "[canary of a tenant]");
            f.tenant = NULL;
        }
    facts_close(&f);
}

static const char *session_of(facts *f, const char *caller)
{
    loci_str answer = facts_call(f, "session.append", "%s",
                                 json(test_format("{'role':'user','text':'canary'%s}", caller)));

    return test_format("%.*s", LC_STR_ARG(test_member_text(answer, "session_id")));
}

/* A session of another persona, user or tenant is no session at all. */
TEST(session_search, session_of_somebody_else_is_not_found)
{
    facts f;
    const char *ids[3];

    facts_open(&f);
    ids[0] = session_of(&f, ",'persona_id':'ada'");
    ids[1] = session_of(&f, ",'user_id':'u2'");
    f.tenant = "t2";
    ids[2] = session_of(&f, "");
    f.tenant = NULL;
    CHECK_STR_EQ(
        found(&f, test_format("{'query':'canary','persona_id':'ada','session':'%s'}", ids[0])),
        "[canary]");
    for (int i = 0; i < 3; i++)
        facts_fail(
            &f, LOCI_ENOTFOUND, test_format("session: there is no session %s", ids[i]),
            "session.search",
            json(test_format("{'query':'canary','persona_id':'bob','session':'%s'}", ids[i])));
    facts_close(&f);
}

/* Words alone need no encoder, so these bytes are the same on every store and every processor. */
TEST(session_search, scores_are_the_same_everywhere)
{
    facts f;
    loci_str answer;

    facts_open(&f);
    set_embedder(&f, "lexical");
    say(&f, "{'role':'user','text':'The ferry to the island leaves at noon.'}");
    say(&f, "{'role':'user','text':'Tickets for the ferry are sold on the pier.'}");
    say(&f, "{'role':'assistant','text':'The island has one hotel.'}");
    answer = search(&f, "{'query':'ferry to the island','explain':true}");
    CHECK_STR_EQ(texts(answer), "[The ferry to the island leaves at noon.]"
                                "[The island has one hotel.]"
                                "[Tickets for the ferry are sold on the pier.]");
    CHECK_CONTAINS(test_member(answer, "results.0.parts"), "\"bm25\":0.9");
    facts_close(&f);
}

/* In one transaction with a write: what that wrote is found, too, and the shared index must not
 * learn of it before the commit. */
TEST(session_search, works_inside_a_batch)
{
    facts f;
    loci_request requests[] = {
        {"session.append", loci_str_of(json("{'role':'user','text':'a red boat'}")), LOCI_AT_CLOCK},
        {"session.search", loci_str_of(json("{'query':'boat'}")), LOCI_AT_CLOCK},
        {"context.build", loci_str_of(json("{'query':'boat'}")), LOCI_AT_CLOCK},
        {"session.close", loci_str_of(json("{'session_id':'not there'}")), LOCI_AT_CLOCK},
    };
    loci_answer *answer = NULL;
    loci_error err;

    facts_open(&f);
    CHECK_OK(loci_call_many(f.engine, requests, 3, NULL, &answer, &err), err);
    CHECK_CONTAINS(loci_answer_json(answer), "\"text\":\"a red boat\",\"score\"");
    loci_answer_free(answer);
    CHECK_STATUS(LOCI_ENOTFOUND, loci_call_many(f.engine, requests, 4, NULL, &answer, &err));
    CHECK_STR_EQ(found(&f, "{'query':'boat'}"), "[a red boat]");
    facts_close(&f);
}
