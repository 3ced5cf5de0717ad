/* Reports of models' APIs about kept contexts: the ratio of tokens, budgets in tokens of a model,
 * the cache hit rate. */
#include "contract/context_fixture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "context/usage.h"

/* Keeps a context for a model's API and returns its id; `*out_tokens` is loci's count of the
 * request. */
static const char *keep_for(facts *f, const char *model, int64_t *out_tokens)
{
    static const char query[] = "Which city has a harbour?";
    loci_str answer = facts_call(f, "context.build",
                                 "{'query':'%s','keep':true,'budget':400,'format':'messages',"
                                 "'model':'%s'}",
                                 query, model);
    loci_str asked = facts_call(f, "text.count", "{'text':'%s'}", query);

    *out_tokens = test_member_int(answer, "tokens.total") + test_member_int(asked, "tokens");
    return test_format("%.*s", LC_STR_ARG(test_member_text(answer, "context_id")));
}

static loci_str report(facts *f, const char *id, int64_t input, int64_t cached, int64_t other)
{
    return facts_call(f, "context.usage",
                      "{'context_id':'%s','input_tokens':%lld,'cached_tokens':%lld,"
                      "'other_tokens':%lld}",
                      id, (long long)input, (long long)cached, (long long)other);
}

static double real(loci_str answer, const char *name)
{
    return strtod(test_format("%.*s", LC_STR_ARG(test_member(answer, name))), NULL);
}

static void open_with_cities(facts *f)
{
    facts_open(f);
    for (int i = 0; i < 40; i++)
        facts_write(f, "created", "{'key':'city_%02d','value':'a city with a harbour, number %d'}",
                    i, i);
}

/* An agent sets its budget in tokens of its model. Without the ratio, the prompt would be larger
 * than the budget by as much as the model's tokenizer differs. */
TEST(context_usage, a_budget_is_in_tokens_of_the_model_after_three_reports)
{
    facts f;
    int64_t counted, total;
    const char *id;
    loci_str answer;

    open_with_cities(&f);
    id = keep_for(&f, "m-1", &counted);
    for (int i = 1; i <= 3; i++) {
        answer = facts_call(&f, "context.build", "{'query':'city','budget':400,'model':'m-1'}");
        CHECK_EQ(test_member(answer, "model_tokens").len, 0);
        answer = report(&f, id, counted * 2, 0, 0);
        CHECK_STR_EQ(test_member(answer, "is_compared"), "true");
        CHECK_EQ(test_member(answer, "tokens_ratio").len > 0, i == 3);
    }
    CHECK(fabs(real(answer, "tokens_ratio") - 2) < 0.001);
    answer = facts_call(&f, "context.build", "{'query':'city','budget':400,'model':'m-1'}");
    total = test_member_int(answer, "tokens.total");
    CHECK_LT(total, 201);
    CHECK_LT(100, total);
    CHECK_EQ(test_member_int(answer, "model_tokens"), total * 2);
    CHECK_EQ(test_member_int(answer, "budget"), 400);
    /* Other models, and calls without one, are as before. */
    CHECK_LT(200, test_member_int(facts_call(&f, "context.build",
                                             "{'query':'city','budget':400,'model':'m-2'}"),
                                  "tokens.total"));
    CHECK_LT(200, test_member_int(facts_call(&f, "context.build", "{'query':'city','budget':400}"),
                                  "tokens.total"));
    facts_close(&f);
}

/* The count of a text is never above the budget, also for a model that has fewer tokens. */
TEST(context_usage, a_model_with_fewer_tokens_gets_no_larger_budget)
{
    facts f;
    int64_t counted;
    const char *id;
    loci_str answer;

    open_with_cities(&f);
    id = keep_for(&f, "small", &counted);
    for (int i = 0; i < 3; i++)
        report(&f, id, counted * 3 / 4, 0, 0);
    answer = facts_call(&f, "context.build", "{'query':'city','budget':300,'model':'small'}");
    CHECK_LT(test_member_int(answer, "tokens.total"), 301);
    CHECK_LT(test_member_int(answer, "model_tokens"), test_member_int(answer, "tokens.total"));
    facts_close(&f);
}

TEST(context_usage, a_budget_that_is_too_small_says_how_many_tokens_of_the_model_it_needs)
{
    facts f;
    int64_t counted;
    const char *id, *args = "{\"query\":\"city\",\"budget\":9,\"model\":\"m\"}";
    loci_str answer;

    open_with_cities(&f);
    id = keep_for(&f, "m", &counted);
    for (int i = 0; i < 3; i++)
        report(&f, id, counted * 17 / 10, 0, 0);
    CHECK_EQ(facts_try(&f, "context.build", &answer, args), LOCI_EBUDGET);
    CHECK_CONTAINS(f.err.message, "tokens of the model");
    facts_call(&f, "context.build", "{'query':'city','budget':%.*s,'model':'m'}",
               LC_STR_ARG(test_member(loci_str_of(f.err.data), "needed")));
    facts_close(&f);
}

/* A request usually has more than the context. Tokens of tools must not make every later context
 * smaller. */
TEST(context_usage, a_report_with_other_tokens_in_it_does_not_change_the_ratio)
{
    facts f;
    int64_t counted;
    const char *id;
    loci_str answer;

    open_with_cities(&f);
    id = keep_for(&f, "m", &counted);
    for (int i = 0; i < 4; i++) {
        answer = report(&f, id, counted + 5000, 1000, 0);
        CHECK_STR_EQ(test_member(answer, "is_compared"), "false");
    }
    CHECK_EQ(test_member_int(answer, "reports"), 4);
    CHECK_EQ(test_member(answer, "tokens_ratio").len, 0);
    CHECK(fabs(real(answer, "cache_hit_rate") - 1000.0 / (double)(counted + 5000)) < 0.001);
    for (int i = 0; i < 3; i++)
        answer = report(&f, id, counted + 5000, 0, 5000);
    CHECK_STR_EQ(test_member(answer, "is_compared"), "true");
    CHECK(fabs(real(answer, "tokens_ratio") - 1) < 0.001);
    facts_close(&f);
}

/* A provider changes the tokenizer of a model under the same name. */
TEST(context_usage, the_ratio_follows_the_last_reports)
{
    facts f;
    int64_t counted;
    const char *id;
    loci_str answer = LC_STR_NONE;

    open_with_cities(&f);
    id = keep_for(&f, "m", &counted);
    for (int i = 0; i < 20; i++)
        report(&f, id, counted, 0, 0);
    for (int i = 0; i < 100; i++)
        answer = report(&f, id, counted * 2, 0, 0);
    CHECK(real(answer, "tokens_ratio") > 1.9);
    facts_close(&f);
}

/* Estimates and exact counts differ, so each has a ratio of its own. */
TEST(context_usage, estimated_counts_have_their_own_ratio)
{
    facts f;
    loci_str answer;
    const char *id;

    open_with_cities(&f);
    answer = facts_call(&f, "context.build",
                        "{'query':'city','keep':true,'budget':300,'estimate':true,'model':'m'}");
    id = test_format("%.*s", LC_STR_ARG(test_member_text(answer, "context_id")));
    for (int i = 0; i < 3; i++)
        answer = report(&f, id, 290, 0, 0);
    CHECK_STR_EQ(test_member(answer, "encoding"), "\"estimated\"");
    CHECK_LT(0, test_member(answer, "tokens_ratio").len);
    answer = facts_call(&f, "context.build", "{'query':'city','budget':300,'model':'m'}");
    CHECK_EQ(test_member(answer, "model_tokens").len, 0);
    facts_close(&f);
}

TEST(context_usage, wrong_reports_are_refused_and_change_nothing)
{
    facts f;
    int64_t counted;
    const char *id;
    loci_str answer;

    open_with_cities(&f);
    id = keep_for(&f, "m", &counted);
    facts_fail(&f, LOCI_EINVAL, "cached_tokens", "context.usage",
               test_format("{\"context_id\":\"%s\",\"input_tokens\":5,\"cached_tokens\":6}", id));
    facts_fail(&f, LOCI_EINVAL, "other_tokens", "context.usage",
               test_format("{\"context_id\":\"%s\",\"input_tokens\":5,\"other_tokens\":6}", id));
    facts_fail(&f, LOCI_EINVAL, "input_tokens", "context.usage",
               test_format("{\"context_id\":\"%s\",\"input_tokens\":0}", id));
    facts_fail(&f, LOCI_EINVAL, "input_tokens", "context.usage",
               test_format("{\"context_id\":\"%s\",\"input_tokens\":-1}", id));
    facts_fail(&f, LOCI_ENOTFOUND, "kept context", "context.usage",
               "{\"context_id\":\"ctx_00000000000000000000000000\",\"input_tokens\":5}");
    facts_fail(&f, LOCI_ENOTFOUND, "kept context", "context.usage",
               test_format("{\"context_id\":\"%s\",\"input_tokens\":5,\"user_id\":\"bo\"}", id));
    answer = facts_call(&f, "context.build", "{'query':'city','keep':true,'budget':300}");
    facts_fail(&f, LOCI_EINVAL, "model", "context.usage",
               test_format("{\"context_id\":\"%.*s\",\"input_tokens\":5}",
                           LC_STR_ARG(test_member_text(answer, "context_id"))));
    CHECK_STR_EQ(test_member(facts_call(&f, "context.models", "{}"), "models"), "[]");
    facts_close(&f);
}

TEST(context_usage, a_repeated_report_is_added_once)
{
    facts f;
    int64_t counted;
    const char *id;

    open_with_cities(&f);
    id = keep_for(&f, "m", &counted);
    for (int i = 0; i < 3; i++)
        facts_call(&f, "context.usage", "{'context_id':'%s','input_tokens':500,'request_id':'r-1'}",
                   id);
    CHECK_EQ(test_member_int(facts_call(&f, "context.models", "{}"), "models.0.reports"), 1);
    facts_close(&f);
}

TEST(context_usage, models_are_listed_in_pages_and_the_oldest_goes_first)
{
    facts f;
    int64_t counted;
    const char *id;
    loci_str page;
    int64_t seen = 0;
    const char *cursor = "";

    open_with_cities(&f);
    id = keep_for(&f, "m", &counted);
    for (int i = 0; i < LC_USAGE_MODELS_MAX + 5; i++) {
        f.now_us += 1000000;
        facts_call(&f, "context.usage",
                   "{'context_id':'%s','input_tokens':500,'model':'model-%03d'}", id, i);
    }
    do {
        page = facts_call(&f, "context.models", "{'limit':30%s}", cursor);
        for (int i = 0; test_member(page, test_format("models.%d", i)).len > 0; i++, seen++)
            CHECK_STR_EQ(test_member_text(page, test_format("models.%d.model", i)),
                         test_format("model-%03d", (int)seen + 5));
        cursor = test_format(",\"cursor\":%.*s", LC_STR_ARG(test_member(page, "next_cursor")));
    } while (!lc_str_is(test_member(page, "next_cursor"), "null"));
    CHECK_EQ(seen, LC_USAGE_MODELS_MAX);
    facts_close(&f);
}

TEST(context_usage, forgetting_a_user_removes_the_reports)
{
    facts f;
    int64_t counted;

    open_with_cities(&f);
    report(&f, keep_for(&f, "m", &counted), 500, 0, 0);
    facts_call(&f, "user.forget", "{}");
    CHECK_STR_EQ(test_member(facts_call(&f, "context.models", "{}"), "models"), "[]");
    facts_close(&f);
}
