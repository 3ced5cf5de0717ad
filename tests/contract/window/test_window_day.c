/* A scripted day of an agent: random page operations under a window of 32,000 tokens, compared with
 * a naive model after each of them. */
#include "contract/fact_fixture.h"

#include <string.h>

#include "base/str.h"
#include "lib/files.h"
#include "lib/postgres.h"
#include "window/evict.h"

#define RESOURCES 60
#define LIMIT 32000
#define SECOND_US INT64_C(1000000)

typedef struct modelled {
    const char *id;
    lc_evictable e; /* tokens: of the whole text. */
    int64_t held;   /* In the window now. */
    bool is_read;   /* It has a summary. */
} modelled;

typedef struct day {
    facts f;
    test_rng rng;
    modelled r[RESOURCES];
    lc_window_policy policy;
    int64_t active, evictions, refusals;
    const char *map; /* At the end. */
} day;

/* A text of one token per word, longer than its summary. */
static const char *words(int tokens)
{
    char *text = (char *)(uintptr_t)test_format("%*s", 2 * tokens, "");

    for (int i = 0; i < tokens; i++)
        memcpy(text + 2 * i, " a", 2);
    return text;
}

static void discover(day *d, size_t i)
{
    int tokens = (int)test_rng_between(&d->rng, 150, 3500);
    lc_resource_kind kind = (lc_resource_kind)test_rng_below(&d->rng, LC_KINDS);
    bool is_protected = test_rng_chance(&d->rng, 10);
    loci_str answer;

    CHECK_OK(facts_try(&d->f, "resource.discover", &answer,
                       test_format("{'name':'r%zu','text':'%s','kind':'%s','tags':[%s]}", i,
                                   words(tokens), lc_resource_kind_name(kind),
                                   is_protected ? "'protected'" : "")),
             d->f.err);
    d->r[i] = (modelled){
        .id = test_format("%.*s", LC_STR_ARG(test_member_text(answer, "id"))),
        .e = {.kind = kind, .attention = 1, .tokens = tokens, .is_protected = is_protected}};
    d->r[i].e.id = loci_str_of(d->r[i].id);
}

/* Every resource that the engine paged out was the first one in the order of the model, was not
 * protected, and has a reason. */
static void follow_evictions(day *d, loci_str answer)
{
    for (int k = 0;; k++) {
        loci_str id = test_member_text(answer, test_format("pressure.evicted.%d.id", k));
        modelled *first = NULL;

        if (id.len == 0)
            return;
        for (size_t i = 0; i < RESOURCES; i++) {
            lc_evictable e = d->r[i].e, best = {0};

            e.tokens = d->r[i].held;
            if (first != NULL) {
                best = first->e;
                best.tokens = first->held;
            }
            if (d->r[i].held > 0 && lc_evict_allows(d->policy, &e) &&
                (first == NULL || lc_evict_compare(d->policy, &e, &best) < 0))
                first = &d->r[i];
        }
        CHECK(first != NULL);
        CHECK_STR_EQ(id, first->id);
        CHECK(test_member_text(answer, test_format("pressure.evicted.%d.reason", k)).len > 10);
        d->active -= first->held;
        first->held = 0;
        d->evictions++;
    }
}

static void check_sums(day *d, loci_str answer)
{
    CHECK_EQ(test_member_int(answer, "pressure.active_tokens"), d->active);
    CHECK_LE(d->active, LIMIT);
    CHECK_EQ(test_member_int(answer, "pressure.available"), LIMIT - d->active);
}

static void page_in(day *d, modelled *r, bool is_full)
{
    loci_str answer = LC_STR_NONE;
    loci_status status = facts_try(
        &d->f, "resource.page_in", &answer,
        test_format("{'id':'%s','mode':'%s'}", r->id, is_full ? "full" : "summary"));

    if (status == LOCI_EOVERBUDGET) { /* Only if it is true: the engine may have evicted, though. */
        CHECK(is_full && r->e.tokens + d->active - r->held > LIMIT);
        CHECK_CONTAINS(d->f.err.data, "\"candidates\":[");
        d->refusals++;
        return;
    }
    CHECK_OK(status, d->f.err);
    follow_evictions(d, answer);
    d->active -= r->held;
    r->held = test_member_int(answer, "window_tokens");
    if (is_full)
        CHECK_EQ(r->held, r->e.tokens);
    else
        CHECK_LE(r->held, 100);
    d->active += r->held;
    r->e.last_accessed = d->f.now_us;
    check_sums(d, answer);
}

static void page_out(day *d, modelled *r)
{
    loci_str answer = LC_STR_NONE;
    loci_status status = facts_try(&d->f, "resource.page_out", &answer,
                                   test_format("{'id':'%s'}", r->id));

    if (status == LOCI_ECONFLICT) /* It was not active, or the engine was faster. */
        return;
    CHECK_OK(status, d->f.err);
    follow_evictions(d, answer);
    CHECK(r->held > 0);
    d->active -= r->held;
    r->held = 0;
    check_sums(d, answer);
}

static void attend(day *d, modelled *r)
{
    static const char *const weights[] = {"0", "0.5", "1", "2", "10"};
    static const double values[] = {0, 0.5, 1, 2, 10};
    size_t i = test_rng_below(&d->rng, 5);
    loci_str answer = facts_call(&d->f, "resource.attention", "{'id':'%s','attention':%s}", r->id,
                                 weights[i]);

    follow_evictions(d, answer);
    r->e.attention = values[i];
    r->e.last_accessed = d->f.now_us;
    if (r->held > 0)
        CHECK_STR_EQ(test_member_text(answer, "state"), values[i] > 1 ? "hot" : "loaded");
    check_sums(d, answer);
}

static void change_policy(day *d)
{
    d->policy = (lc_window_policy)test_rng_below(&d->rng, LC_POLICIES);
    /* Evictions of this call are by the former policy. */
    (void)facts_call(&d->f, "window.policy", "{'policy':'%s'}", lc_window_policy_name(d->policy));
}

static void live(day *d, uint64_t seed, int steps)
{
    loci_str map;

    *d = (day){.rng = test_random(seed)};
    facts_open_store(&d->f, test_store(test_tmpdir(), "store.db"));
    facts_call(&d->f, "window.open", "{'context_max':%d}", LIMIT);
    for (size_t i = 0; i < RESOURCES; i++)
        discover(d, i);
    for (int step = 0; step < steps; step++) {
        modelled *r = &d->r[test_rng_below(&d->rng, RESOURCES)];
        uint64_t what = test_rng_below(&d->rng, 100);

        /* Mostly too little time for the engine to act, now and then enough. */
        d->f.now_us += test_rng_chance(&d->rng, 10) ? 40 * SECOND_US : SECOND_US;
        if (what < 45)
            page_in(d, r, true);
        else if (what < 55)
            page_in(d, r, false);
        else if (what < 75)
            page_out(d, r);
        else if (what < 97)
            attend(d, r);
        else if (d->active < LIMIT / 2) /* So that nothing is evicted in the same call. */
            change_policy(d);
    }
    map = facts_call(&d->f, "window.map", "{'level':'2'}");
    d->map = test_format("%.*s", (int)map.len, map.ptr);
}

TEST(window_day, never_exceeds_the_window_and_explains_every_choice)
{
    day first, second;

    live(&first, 17, 1000);
    CHECK(first.evictions > 5);
    CHECK(first.refusals > 5);
    live(&second, 17, 1000);
    CHECK_STR_EQ(loci_str_of(second.map), first.map);
    facts_close(&second.f);
    facts_close(&first.f); /* The log gives the same rows. */
}
