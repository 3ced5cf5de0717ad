/* context.build finds facts that share no word with the query, by the built-in encoder: at once
 * when few have no vector yet, else as soon as the job has made them; and the same bytes whichever
 * way a vector came. */
#include "contract/context_fixture.h"

#include <string.h>
#include <unistd.h>

#include "base/str.h"

/* About 60 tokens of 600: what is not near the query does not fit. */
#define ASK "{\"query\":\"What should I not cook for her?\",\"budget\":60}"
#define ALLERGY "- medical_note: Anna is allergic to peanuts\n"
#define WAIT_TURNS 2000 /* Of 10 ms. */

/* Things of an office: none has anything to do with food, and none shares a word with ASK. */
static const char *const places[] = {"lobby",  "garage", "archive", "studio", "workshop",
                                     "tunnel", "tower",  "depot",   "annex",  "terrace"};
static const char *const things[] = {"printer", "elevator", "projector", "server", "ladder"};

static void write_things(facts *f, int count)
{
    for (int i = 0; i < count; i++)
        facts_write(f, "created", "{'key':'%s_%s_%d','value':'number %d, model %d of Acme'}",
                    places[i % 10], things[i / 10 % 5], i, i * 37 % 1000, i * 11 % 90);
}

static void set_embedder(facts *f, const char *embedder)
{
    facts_call(f, "config.set", "{'name':'model.embedder','value':'%s'}", embedder);
}

TEST(context_meaning, a_fact_without_a_word_of_the_query_is_found)
{
    facts f;
    const char *id;
    loci_str answer;

    facts_open(&f);
    id = facts_write(&f, "created", "{'key':'medical_note','value':'Anna is allergic to peanuts'}");
    write_things(&f, 49);
    answer = context_build(&f, ASK);
    CHECK(context_shows(answer, ALLERGY));
    CHECK_STR_EQ(context_section(answer, id), "facts");
    CHECK_LT(30, context_count(answer, "irrelevant"));
    /* By words alone it is one of fifty, and the oldest. */
    set_embedder(&f, "lexical");
    CHECK_STR_EQ(context_reason(context_build(&f, ASK), id), "budget");
    set_embedder(&f, "builtin");
    CHECK(context_shows(context_build(&f, ASK), ALLERGY));
    facts_close(&f);
}

TEST(context_meaning, words_still_count)
{
    facts f;

    facts_open(&f);
    facts_write(&f, "created", "{'key':'locker','value':'XK-4471 belongs to Anna'}");
    write_things(&f, 49);
    CHECK(context_shows(context_build(&f, "{'query':'Whose is XK-4471?','budget':60}"),
                        "- locker: XK-4471 belongs to Anna\n"));
    facts_close(&f);
}

TEST(context_meaning, bytes_do_not_depend_on_where_a_vector_came_from)
{
    facts f, fresh;
    loci_str made, stored;

    facts_open(&f);
    facts_write(&f, "created", "{'key':'medical_note','value':'Anna is allergic to peanuts'}");
    write_things(&f, 49);
    made = context_build(&f, ASK);
    CHECK_STR_EQ(context_build(&f, ASK), made);
    facts_call(&f, "model.reembed", "{'wait':true}");
    stored = context_build(&f, ASK);
    CHECK_STR_EQ(stored, made);
    facts_open_store(&fresh, f.store);
    CHECK_STR_EQ(context_build(&fresh, ASK), made);
    facts_close(&fresh);
    facts_close(&f);
}

TEST(context_meaning, what_ended_is_not_found_and_what_took_its_place_is)
{
    facts f;
    const char *old;
    loci_str answer;

    facts_open(&f);
    old = facts_write(&f, "created",
                      "{'key':'medical_note','value':'Anna is allergic to peanuts'}");
    write_things(&f, 49);
    CHECK(context_shows(context_build(&f, ASK), ALLERGY));
    facts_call(&f, "model.reembed", "{'wait':true}");
    facts_write(&f, "superseded", "{'key':'medical_note','value':'Anna cannot eat shellfish'}");
    answer = context_build(&f, ASK);
    CHECK(!context_shows(answer, "peanuts"));
    CHECK_STR_EQ(context_section(answer, old), "");
    CHECK(context_shows(answer, "- medical_note: Anna cannot eat shellfish\n"));
    facts_close(&f);
}

/* An engine without threads makes missing vectors inside the call that needs them, and keeps them:
 * programs that open the store for one question find by meaning, too. */
TEST(context_meaning, many_facts_get_their_vectors_inside_the_call_of_an_inline_engine)
{
    facts f;
    const char *id;

    facts_open(&f);
    id = facts_write(&f, "created", "{'key':'medical_note','value':'Anna is allergic to peanuts'}");
    write_things(&f, 100);
    CHECK_STR_EQ(context_section(context_build(&f, ASK), id), "facts");
    CHECK_EQ(test_member_int(facts_call(&f, "model.reembed", "{'wait':true}"), "result.embedded"),
             0);
    facts_close(&f);
}

/* In an engine with threads facts are found by words until the job that the first context asked for
 * is done. */
TEST(context_meaning, many_facts_get_their_vectors_from_a_job)
{
    facts f = {.store = test_path(test_tmpdir(), "store.db")};
    const char *id;
    int turn = 0;

    f.engine = test_open_threads(f.store);
    id = facts_write(&f, "created", "{'key':'medical_note','value':'Anna is allergic to peanuts'}");
    write_things(&f, 100);
    while (!context_shows(context_build(&f, ASK), ALLERGY)) {
        CHECK_LT(turn++, WAIT_TURNS);
        usleep(10000);
    }
    CHECK_STR_EQ(context_section(context_build(&f, ASK), id), "facts");
    CHECK_STR_EQ(test_member_text(facts_call(&f, "job.list", "{}"), "jobs.0.kind"),
                 "model.reembed");
    facts_close(&f);
}
