/* Memories are found by meaning soon after the answer, however many texts are new. */
#include "contract/fact_fixture.h"

#include <string.h>
#include <unistd.h>

#include "base/str.h"

#define WAIT_TURNS 2000 /* Of 10 ms. */
#define ALLERGY "Anna is allergic to peanuts."
/* Has no word in common with it. */
#define COOK "{'query':'What should I not cook for her?','limit':1}"

static const char *first_found(facts *f)
{
    loci_str answer = facts_call(f, "memory.recall", "%s", COOK);

    CHECK_STR_EQ(test_member(answer, "complete"), "true");
    return test_format("%.*s", LC_STR_ARG(test_member_text(answer, "results.0.text")));
}

/* Lines of a file about printers, which have nothing to do with food. */
static const char *printers(int first, int count)
{
    static const char *const places[] = {"lobby", "garage", "archive", "studio", "workshop"};
    char *out = test_bytes((size_t)count * 64 + 1), *to = out;

    for (int i = first; i < first + count; i++)
        to = stpcpy(to, test_format("* The printer of the %s is number %d.\\n", places[i % 5],
                                    i * 37 % 10000));
    return out;
}

static void import(facts *f, const char *text)
{
    loci_error err;

    CHECK_OK(test_try(f->engine, "memory.import",
                      loci_str_of(test_format("{\"text\":\"%s\"}", text)), &err),
             err);
}

static int64_t vectors(facts *f)
{
    return test_member_int(facts_call(f, "model.status", "{}"), "vectors");
}

/* The command line after a long import: the job runs inside the first search. */
TEST(memory_meaning, an_inline_engine_makes_vectors_when_they_are_needed)
{
    facts f;

    facts_open(&f);
    import(&f, test_format("* %s\\n%s", ALLERGY, printers(0, 200)));
    CHECK_EQ(vectors(&f), 0); /* The import did not wait for them. */
    CHECK_STR_EQ(first_found(&f), ALLERGY);
    CHECK_EQ(vectors(&f), 201);
    facts_close(&f);
}

/* Without any search: a search that comes a second later finds all of them. */
TEST(memory_meaning, an_import_brings_its_vectors)
{
    facts f = {.store = test_path(test_tmpdir(), "store.db")};
    int turn = 0;

    f.engine = test_open_threads(f.store);
    import(&f, test_format("* %s\\n%s", ALLERGY, printers(0, 200)));
    while (vectors(&f) < 201) {
        CHECK_LT(turn++, WAIT_TURNS);
        usleep(10000);
    }
    CHECK_STR_EQ(first_found(&f), ALLERGY);
    facts_close(&f);
}

/* Stored one by one, with other events between them: no more than a search embeds are left. */
TEST(memory_meaning, single_memories_bring_their_vectors)
{
    facts f = {.store = test_path(test_tmpdir(), "store.db")};
    int turn = 0;

    f.engine = test_open_threads(f.store);
    facts_call(&f, "memory.store", "{'text':'%s'}", ALLERGY);
    for (int i = 0; i < 150; i++) {
        facts_call(&f, "memory.store", "{'text':'Printer %d is in room %d'}", i, i * 7);
        facts_call(&f, "session.append", "{'role':'user','text':'turn %d'}", i);
    }
    while (vectors(&f) < 150) { /* Of the memories at least 120. */
        CHECK_LT(turn++, WAIT_TURNS);
        usleep(10000);
    }
    CHECK_STR_EQ(first_found(&f), ALLERGY);
    facts_close(&f);
}

/* At once: it need not wait until a thousand older texts have their vectors. */
/* A job that finds nothing to do must not enqueue another one: it would run for ever. */
TEST(memory_meaning, jobs_for_new_texts_come_to_rest)
{
    facts f = {.store = test_path(test_tmpdir(), "store.db")};
    int64_t jobs = -1, before;
    int turns = 0;

    f.engine = test_open_threads(f.store);
    for (int i = 0; i < 100; i++)
        facts_call(&f, "memory.store", "{'text':'The printer of room %d is broken.'}", i);
    do {
        before = jobs;
        usleep(300000);
        jobs = test_store_number(f.store, "select count(*) from jobs");
    } while (jobs != before && ++turns < 20);
    CHECK_LT(turns, 20);
    CHECK_LT(jobs, 50);
    facts_close(&f);
}

TEST(memory_meaning, a_new_memory_is_found_behind_a_backlog)
{
    facts f = {.store = test_path(test_tmpdir(), "store.db")};

    f.engine = test_open_threads(f.store);
    import(&f, printers(0, 1000));
    facts_call(&f, "memory.store", "{'text':'%s'}", ALLERGY);
    CHECK_STR_EQ(first_found(&f), ALLERGY);
    facts_close(&f);
}

/* Vectors of a provider cost money: they are made when the caller asks for them. */
TEST(memory_meaning, no_job_sends_texts_to_a_provider)
{
    facts f = {.store = test_path(test_tmpdir(), "store.db")};
    loci_str job;
    int turn = 0;

    f.engine = test_open_threads(f.store);
    facts_call(&f, "config.set", "%s", "{'name':'model.embedder','value':'provider'}");
    import(&f, printers(0, 100));
    do { /* In one more turn, so that the worker has let go of the job when the engine closes. */
        job = facts_call(&f, "job.list", "{}");
        CHECK_LT(turn++, WAIT_TURNS);
        usleep(10000);
    } while (!lc_str_is(test_member_text(job, "jobs.0.status"), "done"));
    CHECK_STR_EQ(test_member_text(job, "jobs.0.kind"), "model.reembed");
    CHECK_EQ(test_member_int(job, "jobs.0.result.texts"), 0);
    facts_close(&f);
}
