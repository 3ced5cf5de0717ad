/* Random writes, and then a context: nothing that does not count is in it, and everything that is
 * not in it is counted for the right reason. A failing seed is printed; LOCI_TEST_SEED=n runs it
 * alone. */
#include "contract/context_fixture.h"

#include <string.h>

#include "base/str.h"
#include "base/time.h"

#define STEPS 300
#define CHECK_EVERY 10
#define SEEDS 3
#define IDS_MAX (2 * STEPS)

static const char *const keys[] = {"harbor", "garden", "engine", "ladder",
                                   "mirror", "pocket", "window", "bridge"};
#define KEYS (sizeof keys / sizeof *keys)

typedef struct history {
    facts f;
    test_rng rng;
    int step;
    const char *ids[IDS_MAX]; /* Of every fact that nobody owns. */
    int count;
} history;

static const char *any_key(history *h)
{
    return keys[test_rng_below(&h->rng, KEYS)];
}

static const char *any_id(history *h)
{
    return h->count > 0 ? h->ids[test_rng_below(&h->rng, (uint64_t)h->count)]
                        : "fact_00000000000000000000000000";
}

/* A part of the arguments, `percent` times in a hundred. */
static const char *maybe(history *h, unsigned percent, const char *part)
{
    return test_rng_chance(&h->rng, percent) ? part : "";
}

static void keep_id(history *h, loci_str id)
{
    for (int i = 0; i < h->count; i++)
        if (lc_str_is(id, h->ids[i]))
            return;
    CHECK_LT(h->count, IDS_MAX);
    h->ids[h->count++] = test_format("%.*s", LC_STR_ARG(id));
}

/* Refusals are fine: what is asked for is random. */
static loci_str attempt(history *h, const char *operation, const char *args)
{
    loci_str answer = LC_STR_NONE;
    loci_status status = facts_try(&h->f, operation, &answer, args);

    if (status == LOCI_OK)
        return answer;
    CHECK(status == LOCI_ECONFLICT || status == LOCI_ENOTFOUND || status == LOCI_EINVAL ||
          status == LOCI_EFORBIDDEN);
    return LC_STR_NONE;
}

/* ---- Steps ----------------------------------------------------------------------------------- */

static void step_write(history *h)
{
    static const char *const ranks[] = {"policy", "executive", "manager", "employee", "guest"};
    bool is_owned = test_rng_chance(&h->rng, 5);
    char until[LC_TIME_BYTES_MAX];
    loci_str answer;

    lc_time_format(h->f.now_us + test_rng_between(&h->rng, 1, 30) * MINUTE_US, until);
    answer = attempt(
        h, "fact.write",
        test_format("{\"key\":\"%s\",\"value\":\"v%04d\",\"authority\":\"%s\"%s%s%s%s%s%s%s}",
                    any_key(h), h->step, ranks[test_rng_below(&h->rng, 5)],
                    maybe(h, 10, ",\"trust\":\"web\""), maybe(h, 15, ",\"scope\":\"hypothetical\""),
                    maybe(h, 10, ",\"is_constraint\":true"),
                    maybe(h, 10, ",\"min_read_authority\":\"manager\""),
                    maybe(h, 15, test_format(",\"valid_until\":\"%s\"", until)),
                    maybe(h, 20, test_format(",\"depends_on\":[\"%s\"]", any_key(h))),
                    is_owned ? ",\"persona_id\":\"coach\""
                             : maybe(h, 10, test_format(",\"supersedes\":\"%s\"", any_key(h)))));
    if (answer.ptr != NULL && !is_owned)
        keep_id(h, test_member_text(answer, "id"));
}

static void step_observe(history *h)
{
    loci_str answer = attempt(h, "fact.observe",
                              test_format("{\"text\":\"Actually, the %s is v%04d.\"%s}", any_key(h),
                                          h->step, maybe(h, 30, ",\"authority\":\"intern\"")));

    if (test_member(answer, "outcomes.0").len > 0)
        keep_id(h, test_member_text(answer, "outcomes.0.id"));
}

static void take_step(history *h)
{
    uint64_t kind = test_rng_below(&h->rng, 100);

    if (kind < 60)
        step_write(h);
    else if (kind < 72)
        step_observe(h);
    else if (kind < 80)
        (void)attempt(h, "fact.retract", test_format("{\"key\":\"%s\"}", any_key(h)));
    else if (kind < 84)
        (void)attempt(h, "fact.retract", test_format("{\"id\":\"%s\"}", any_id(h)));
    else if (kind < 92)
        (void)attempt(h, "fact.review",
                      test_format("{\"id\":\"%s\",\"action\":\"%s\"}", any_id(h),
                                  test_rng_chance(&h->rng, 70) ? "confirm" : "retract"));
    else
        h->f.now_us += test_rng_between(&h->rng, 0, 15) * MINUTE_US;
}

/* ---- What must be so ------------------------------------------------------------------------- */

typedef struct tally {
    int64_t valid, superseded, retracted, claims, expired, restricted, scoped;
} tally;

static bool is_text(loci_str fact, const char *name, const char *text)
{
    return lc_str_is(test_member_text(fact, name), text);
}

/* Where this fact belongs, by what fact.get says about it; true when it may be in the context. */
static bool count_fact(loci_str fact, tally *t)
{
    if (is_text(fact, "status", "claim")) {
        t->claims++;
    } else if (is_text(fact, "status", "retracted")) {
        t->retracted++;
    } else if (lc_str_is(test_member(fact, "is_valid"), "false") &&
               !is_text(fact, "status", "expired")) {
        t->superseded++;
    } else if (!is_text(fact, "scope", "global")) {
        t->scoped++;
    } else if (is_text(fact, "status", "expired")) {
        t->expired++;
    } else if (is_text(fact, "min_read_authority", "manager")) {
        t->restricted++;
    } else {
        t->valid++;
        return true;
    }
    return false;
}

static void check_one(loci_str context, loci_str fact, bool may_be_in)
{
    const char *id = test_format("%.*s", LC_STR_ARG(test_member_text(fact, "id")));
    bool is_rule = lc_str_is(test_member(fact, "is_constraint"), "true");
    const char *section = context_section(context, id);
    const char *line = test_format("- %.*s: %.*s", LC_STR_ARG(test_member_text(fact, "key")),
                                   LC_STR_ARG(test_member_text(fact, "value")));
    bool is_in = section[0] != '\0';

    CHECK_EQ(context_shows(context, line), is_in);
    if (!is_in) {
        CHECK(!may_be_in || !is_rule);
        return;
    }
    CHECK(may_be_in);
    CHECK_STR_EQ(section, is_rule ? "constraints" : "facts");
    CHECK_EQ(context_shows(context, test_format("%s (unverified)", line)),
             lc_str_is(test_member(fact, "needs_review"), "true"));
}

/* As an employee sees it, without the conversation. */
static loci_str ask(history *h, int64_t budget)
{
    loci_str answer = LC_STR_NONE;
    const char *args = test_format(
        "{\"query\":\"the %s and the %s\",\"session_id\":\"nobody's\",\"budget\":%lld}", any_key(h),
        any_key(h), (long long)budget);

    h->f.ceiling = "employee";
    if (facts_try(&h->f, "context.build", &answer, args) == LOCI_EBUDGET)
        answer = context_build(&h->f, "{\"query\":\"x\",\"session_id\":\"nobody's\"}");
    else
        answer = context_build(&h->f, "%s", args);
    h->f.ceiling = NULL;
    return answer;
}

static void check_context(history *h)
{
    loci_str context = ask(h, test_rng_between(&h->rng, 30, 300));
    tally t = {0};

    for (int i = 0; i < h->count; i++) {
        loci_str fact = facts_call(&h->f, "fact.get", "{'id':'%s'}", h->ids[i]);

        check_one(context, fact, count_fact(fact, &t));
    }
    CHECK_EQ(context_count(context, "superseded"), t.superseded);
    CHECK_EQ(context_count(context, "retracted"), t.retracted);
    CHECK_EQ(context_count(context, "claim"), t.claims);
    CHECK_EQ(context_count(context, "expired"), t.expired);
    CHECK_EQ(context_count(context, "restricted"), t.restricted);
    CHECK_EQ(context_count(context, "scope"), t.scoped);
    CHECK_EQ(context_facts_in(context) + context_count(context, "budget") +
                 context_count(context, "irrelevant"),
             t.valid);
    /* With what was said the fixture's own checks hold, and the dead stay out. */
    context = context_build(&h->f, "{'query':'%s','budget':900}", any_key(h));
    for (int i = 0; i < h->count; i++) {
        loci_str fact = facts_call(&h->f, "fact.get", "{'id':'%s'}", h->ids[i]);

        if (!is_text(fact, "status", "valid"))
            CHECK_STR_EQ(context_section(context, h->ids[i]), "");
    }
}

TEST(context_random, only_what_counts_is_in_and_the_rest_is_accounted_for)
{
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        history *h = (history *)(void *)test_bytes(sizeof *h);

        memset(h, 0, sizeof *h);
        h->rng = test_random(seed);
        facts_open(&h->f);
        for (h->step = 0; h->step < STEPS; h->step++) {
            take_step(h);
            if (h->step % CHECK_EVERY == CHECK_EVERY - 1)
                check_context(h);
        }
        CHECK_LT(50, h->count);
        facts_close(&h->f);
    }
}
