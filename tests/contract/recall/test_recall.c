/* An index that a room declares with one statement (recall/recall.h). */
#include "contract/fact_fixture.h"

#include <stdio.h>

#include "base/clock.h"
#include "base/str.h"
#include "engine/engine.h"
#include "recall/recall.h"
#include "session/session.h"

/* Messages, as a room would declare them that has nothing to filter by. */
static const lc_sql plain_sql = {
    "select seq, observed_at, body, persona_id from messages"
    " where tenant_id = $1 and user_id = $2 and seq > $3 order by seq limit $4",
    "ttii", "iitt"};
static const lc_recall_source plain_source = {.name = "test.plain", .rows = &plain_sql};
static const lc_user_kind plain_index = LC_RECALL_INDEX("test.plain", &plain_source);

static const lc_sql read_sql = {"select {row}, seq from messages"
                                " where tenant_id = $1 and user_id = $2 and seq in " LC_RECALL_SEQS,
                                LC_RECALL_SEQ_PARAMS, "i", &lc_message_row};

typedef struct asking {
    const char *words, *persona;
    size_t limit;
    int64_t to_us;
    bool loses_rows;
    lc_recall_hits hits;
    char texts[LC_RECALL_HITS_MAX][40];
} asking;

static loci_status ask_body(lc_tx *tx, void *ctx, loci_error *err)
{
    asking *a = ctx;
    lc_recall_query query = {.persona_id = loci_str_of(a->persona),
                             .from_us = INT64_MIN,
                             .to_us = a->to_us,
                             .limit = a->limit};
    lc_recall_rows rows = {0};
    lc_arena arena;
    loci_status status;

    tx->tenant_id = LC_STR("default");
    tx->user_id = LC_STR("default");
    lc_arena_init(&arena, &tx->db->env->heap, LOCI_MEM_REQUESTS);
    status = lc_corpus_split(&arena, loci_str_of(a->words), &query.terms, err);
    if (status == LOCI_OK)
        status = lc_recall_search(tx, &plain_index, &query, &arena, &a->hits, err);
    if (status == LOCI_OK && a->loses_rows)
        a->hits.items[0].seq += 1000000;
    if (status == LOCI_OK)
        status = lc_recall_read(tx, &read_sql, &a->hits, &arena, &rows, err);
    for (size_t i = 0; status == LOCI_OK && i < a->hits.count; i++)
        snprintf(a->texts[i], sizeof a->texts[i], "%.*s",
                 LC_STR_ARG(((const lc_message *)rows.items)[i].text));
    lc_arena_clear(&arena);
    return status;
}

static loci_status ask(facts *f, asking *a, loci_error *err)
{
    lc_read read = {.tenant_id = LC_STR("default"),
                    .user_id = LC_STR("default"),
                    .deadline_us = lc_clock_monotonic_us() + 10000000,
                    .body = ask_body,
                    .ctx = a};

    return lc_engine_read(f->engine, &read, err);
}

/* The texts found, in brackets. */
static const char *found(facts *f, const char *words, const char *persona, size_t limit)
{
    asking a = {.words = words, .persona = persona, .limit = limit, .to_us = INT64_MAX};
    const char *all = "";
    loci_error err;

    CHECK_OK(ask(f, &a, &err), err);
    CHECK(a.hits.is_complete);
    for (size_t i = 0; i < a.hits.count; i++)
        all = test_format("%s[%s]", all, a.texts[i]);
    return all;
}

static void say(facts *f, const char *text, const char *persona)
{
    facts_call(f, "session.append", "{'role':'user','text':'%s'%s}", text,
               *persona != '\0' ? test_format(",\"persona_id\":\"%s\"", persona) : "");
}

TEST(recall, one_statement_makes_an_index_that_follows_the_log)
{
    facts f;

    facts_open(&f);
    CHECK_STR_EQ(found(&f, "boat", "", 5), "");
    say(&f, "the boat is red", "");
    CHECK_STR_EQ(found(&f, "boat", "", 5), "[the boat is red]");
    say(&f, "a boat boat", "");
    say(&f, "a house", "");
    CHECK_STR_EQ(found(&f, "boat", "", 5), "[a boat boat][the boat is red]");
    CHECK_STR_EQ(found(&f, "boat", "", 1), "[a boat boat]");
    facts_close(&f);
}

/* The best of the rows that the reader may see, not those that it may see of the best. */
TEST(recall, rows_of_other_personas_are_neither_found_nor_take_a_place)
{
    facts f;

    facts_open(&f);
    say(&f, "boat of all and of many other things", "");
    for (int i = 0; i < 150; i++)
        say(&f, "boat boat", "ann");
    say(&f, "boat of bob and of many other things", "bob");
    CHECK_STR_EQ(found(&f, "boat", "", 3), "[boat of all and of many other things]");
    CHECK_STR_EQ(found(&f, "boat", "bob", 3),
                 "[boat of all and of many other things][boat of bob and of many other things]");
    CHECK_STR_EQ(found(&f, "boat", "nobody", 3), "[boat of all and of many other things]");
    CHECK_STR_EQ(found(&f, "boat", "ann", 2), "[boat boat][boat boat]");
    facts_close(&f);
}

TEST(recall, rows_of_many_hits_are_read_each_to_its_hit)
{
    facts f;
    asking a = {.words = "boat", .persona = "", .limit = 50, .to_us = INT64_MAX};
    loci_error err;

    facts_open(&f);
    for (int i = 0; i < 40; i++)
        say(&f, test_format("boat %d", i), "");
    CHECK_OK(ask(&f, &a, &err), err);
    CHECK_EQ(a.hits.count, 40);
    for (size_t i = 0; i < a.hits.count; i++) /* Of equal scores the older comes first. */
        CHECK_STR_EQ(a.texts[i], test_format("boat %zu", i));
    a.to_us = f.now_us;
    CHECK_OK(ask(&f, &a, &err), err);
    CHECK_EQ(a.hits.count, 0);
    a.to_us = INT64_MAX;
    a.loses_rows = true;
    CHECK_STATUS(LOCI_ECORRUPT, ask(&f, &a, &err));
    facts_close(&f);
}
