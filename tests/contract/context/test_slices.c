/* The indexes of facts and messages are built in slices, each on a snapshot of its own; what
 * changes between two slices must not be lost, and a part of an index never shows what has ended.
 */
#include "contract/fact_fixture.h"

#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/str.h"
#include "engine/engine.h"
#include "fact/fact_corpus.h"
#include "session/message_corpus.h"
#include "store/event.h"

/* Lends one state and advances it by one slice for each loan, as an engine without time would. */
typedef struct slices {
    lc_user_states states;
    const lc_user_kind *kind;
    void *state;
    lc_catch_up step;
    int count;
} slices;

static loci_status borrow(void *ctx, lc_tx *tx, const lc_user_kind *kind, void **out,
                          bool *out_is_complete, loci_error *err)
{
    slices *s = ctx;
    lc_head head = {0};
    loci_status status = lc_tx_head(tx, &head, err);

    CHECK(kind == s->kind);
    if (status == LOCI_OK && s->state == NULL)
        status = kind->open(kind, &tx->db->env->heap, &s->state, err);
    s->step.head_seq = head.seq;
    s->step.pause_us = 0; /* Long ago. */
    s->step.is_complete = true;
    if (status == LOCI_OK)
        status = kind->catch_up(s->state, tx, &s->step, err);
    s->count++;
    *out = s->state;
    *out_is_complete = s->step.is_complete;
    return status;
}

static void give_back(void *ctx, lc_tx *tx, const lc_user_kind *kind, void *state)
{
    (void)tx;
    CHECK(kind == ((slices *)ctx)->kind);
    CHECK(state == ((slices *)ctx)->state);
}

static slices new_slices(const lc_user_kind *kind)
{
    return (slices){.states = {.borrow = borrow, .give_back = give_back},
                    .kind = kind,
                    .step = {.seen_seq = -1}};
}

/* One question, asked through the slices. */
typedef struct asking {
    slices *s;
    const char *words;
    lc_arena *arena;
    lc_fact_choice facts;
    lc_message_hits messages;
} asking;

static void enter(asking *a, lc_tx *tx)
{
    a->s->states.ctx = a->s;
    tx->states = &a->s->states;
    tx->tenant_id = LC_STR("default");
    tx->user_id = LC_STR("default");
    tx->now_us = INT64_C(1700000000000000);
}

static int64_t count_bytes(void *ctx, loci_str text)
{
    (void)ctx;
    return (int64_t)text.len;
}

static loci_status choose(lc_tx *tx, void *ctx, loci_error *err)
{
    asking *a = ctx;
    lc_fact_request request = {.limit = 20, .counter = {count_bytes, NULL}};
    loci_status status = lc_corpus_split(a->arena, loci_str_of(a->words), &request.terms, err);

    enter(a, tx);
    return status == LOCI_OK ? lc_fact_choose(tx, &request, a->arena, &a->facts, err) : status;
}

static loci_status search(lc_tx *tx, void *ctx, loci_error *err)
{
    asking *a = ctx;
    lc_message_query query = {.from_us = INT64_MIN, .to_us = INT64_MAX, .limit = 3};
    loci_status status = lc_corpus_split(a->arena, loci_str_of(a->words), &query.terms, err);

    enter(a, tx);
    return status == LOCI_OK ? lc_message_search(tx, &query, a->arena, &a->messages, err) : status;
}

static void ask(facts *f, asking *a, lc_tx_body *body)
{
    loci_error err;

    CHECK_OK(lc_engine_read(f->engine, &(lc_read){.deadline_us = INT64_MAX, .body = body, .ctx = a},
                            &err),
             err);
}

static bool has_fact(const asking *a, const char *value)
{
    for (size_t i = 0; i < a->facts.count; i++)
        if (lc_str_is(a->facts.facts[i].text, value))
            return true;
    return false;
}

TEST(slices, facts_are_usable_while_the_index_is_built)
{
    facts f;
    slices s = new_slices(&lc_fact_corpus_kind);
    lc_arena arena;
    asking a = {.s = &s, .arena = &arena};

    facts_open(&f);
    lc_arena_init(&arena, &lc_engine_env(f.engine)->heap, LOCI_MEM_REQUESTS);
    for (int i = 0; i < 1200; i++)
        facts_write(&f, "created", "{'key':'k%d','value':'thing n%dx'}", i, i);
    a.words = "n7x n1100x";
    ask(&f, &a, choose);
    CHECK(!a.facts.is_complete);
    CHECK(has_fact(&a, "thing n7x"));
    CHECK(!has_fact(&a, "thing n1100x"));

    /* Between two slices: one that was read ends, one that was not read yet ends, one is new. */
    facts_write(&f, "superseded", "{'key':'k7','value':'thing n7y'}");
    facts_write(&f, "superseded", "{'key':'k900','value':'thing n900y'}");
    facts_call(&f, "fact.retract", "{'key':'k8'}");
    a.words = "n7x n8x n900x n7y n600x";
    ask(&f, &a, choose);
    CHECK(!a.facts.is_complete);
    CHECK(!has_fact(&a, "thing n7x"));
    CHECK(!has_fact(&a, "thing n8x"));
    CHECK(has_fact(&a, "thing n600x"));
    CHECK_EQ(a.facts.past.superseded, 2);
    CHECK_EQ(a.facts.past.retracted, 1);

    ask(&f, &a, choose);
    CHECK(a.facts.is_complete);
    CHECK_EQ(s.count, 3);
    CHECK(has_fact(&a, "thing n7y"));
    CHECK(!has_fact(&a, "thing n7x"));
    CHECK(!has_fact(&a, "thing n900x"));
    CHECK_EQ(a.facts.count + (size_t)a.facts.irrelevant, 1199);
    CHECK_EQ(a.facts.past.superseded, 2);

    s.kind->close(s.state);
    lc_arena_clear(&arena);
    facts_close(&f);
}

TEST(slices, messages_are_found_while_the_index_is_built)
{
    facts f;
    slices s = new_slices(&lc_message_corpus_kind);
    lc_arena arena;
    asking a = {.s = &s, .words = "n7x n1050x", .arena = &arena};

    facts_open(&f);
    lc_arena_init(&arena, &lc_engine_env(f.engine)->heap, LOCI_MEM_REQUESTS);
    for (int i = 0; i < 1100; i++)
        facts_call(&f, "session.append", "{'role':'user','text':'thing n%dx'}", i);
    ask(&f, &a, search);
    CHECK(!a.messages.is_complete);
    CHECK_EQ(a.messages.count, 1);
    CHECK_STR_EQ(a.messages.items[0].message.text, "thing n7x");
    while (!a.messages.is_complete)
        ask(&f, &a, search);
    CHECK_EQ(s.count, 3);
    CHECK_EQ(a.messages.count, 2);
    CHECK(s.kind->bytes(s.state) > 1100 * 32);

    s.kind->close(s.state);
    lc_arena_clear(&arena);
    facts_close(&f);
}
