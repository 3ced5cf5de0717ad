/* op_context_usage.c - reports of models' APIs about kept contexts, and what they show. */
#include <math.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "context/kept.h"
#include "context/usage.h"
#include "ops/op_context.h"
#include "ops/page.h"

#define TOKENS_MAX 100000000

/* ---- The record ------------------------------------------------------------------------------ */

static const lc_record usage_record = {
    .name = "ModelUsage",
    .row = &lc_model_usage_row,
    .members =
        (const lc_result[]){
            {"cache_hit_rate", LC_PARAM_REAL,
             "Part of the input tokens that came from the provider's cache, from 0 to 1"},
            {"tokens_ratio", LC_PARAM_REAL,
             "Tokens of the model per token that loci counts; absent before the third report that"
             " can be compared",
             LC_RESULT_OPTIONAL},
            {NULL},
        },
};

/* Enough digits for a budget. */
static double rounded(double value)
{
    return round(value * 10000) / 10000;
}

static void put_usage(const lc_model_usage *usage, lc_json_writer *out)
{
    double ratio = lc_usage_ratio(usage);

    lc_row_put(&lc_model_usage_row, usage, out);
    lc_jw_member_real(out, "cache_hit_rate", rounded(lc_usage_hit_rate(usage)));
    if (ratio > 0)
        lc_jw_member_real(out, "tokens_ratio", rounded(ratio));
}

/* ---- context.usage --------------------------------------------------------------------------- */

typedef struct usage_input {
    loci_str context_id;
    loci_str model;
    int64_t input_tokens, cached_tokens, other_tokens;
} usage_input;

static const lc_param usage_params[] = {
    LC_NAME_PARAM("context_id", usage_input, context_id, LC_PARAM_REQUIRED | LC_PARAM_POSITIONAL,
                  "Id of the kept context that was sent (ctx_...)"),
    {LC_ARG_INT("input_tokens", usage_input, input_tokens),
     .flags = LC_PARAM_REQUIRED | LC_PARAM_POSITIONAL, .min = 1, .max = TOKENS_MAX,
     .help = "Number of input tokens of the whole request, with those of the cache: prompt_tokens"
             " of OpenAI; for Anthropic the sum of input_tokens, cache_read_input_tokens and"
             " cache_creation_input_tokens"},
    {LC_ARG_INT("cached_tokens", usage_input, cached_tokens), .flags = LC_PARAM_POSITIONAL,
     .default_text = "0", .min = 0, .max = TOKENS_MAX,
     .help = "Number of those that were read from the provider's cache"},
    {LC_ARG_INT("other_tokens", usage_input, other_tokens), .default_text = "0", .min = 0,
     .max = TOKENS_MAX,
     .help = "Number of input tokens that are not of the context: tools, earlier turns, prompts of"
             " the program"},
    LC_NAME_PARAM("model", usage_input, model, 0,
                  "Name of the model (default: that of context.build)"),
    {.name = NULL},
};

static const lc_record usage_answer = {
    .base = &usage_record,
    .members =
        (const lc_result[]){
            {"is_compared", LC_PARAM_BOOL,
             "True if the report changed the ratio; false if it is too far from the count of the"
             " context, as it is without other_tokens"},
            {NULL},
        },
};

static loci_status prepare_usage(lc_call *call, loci_error *err)
{
    const usage_input *in = call->input;

    if (in->cached_tokens > in->input_tokens)
        return lc_fail(
            err, LOCI_EINVAL,
            "cached_tokens: %lld are more than the %lld input_tokens, which must include "
            "them",
            (long long)in->cached_tokens, (long long)in->input_tokens);
    if (in->other_tokens > in->input_tokens)
        return lc_fail(err, LOCI_EINVAL,
                       "other_tokens: %lld are more than the %lld input_tokens, which must include "
                       "them",
                       (long long)in->other_tokens, (long long)in->input_tokens);
    return LOCI_OK;
}

static loci_status run_usage(lc_call *call, lc_tx *tx, loci_error *err)
{
    const usage_input *in = call->input;
    lc_kept_context context;
    lc_model_usage usage;
    lc_usage_report report;
    bool is_compared = false;
    loci_status status = lc_kept_find(tx, call->persona_id, in->context_id, call->arena, &context,
                                      err);

    if (status != LOCI_OK)
        return status;
    report = (lc_usage_report){.model = in->model.len > 0 ? in->model : context.model,
                               .encoding = context.encoding,
                               .counted_tokens = context.request_tokens,
                               .input_tokens = in->input_tokens,
                               .cached_tokens = in->cached_tokens,
                               .other_tokens = in->other_tokens};
    if (report.model.len == 0)
        return lc_fail(err, LOCI_EINVAL,
                       "model: missing, and context %.*s was built without one; pass the name of "
                       "the model",
                       LC_STR_ARG(in->context_id));
    status = lc_usage_add(tx, &report, call->arena, &usage, &is_compared, err);
    if (status != LOCI_OK)
        return status;
    lc_jw_object(&call->out);
    put_usage(&usage, &call->out);
    lc_jw_member_bool(&call->out, "is_compared", is_compared);
    lc_jw_end(&call->out);
    return LOCI_OK;
}

const lc_op lc_context_usage = {
    .name = "context.usage",
    .help = "Report how many tokens a model's API counted for a kept context",
    .params = usage_params,
    .input_bytes = sizeof(usage_input),
    .answer = &usage_answer,
    .cost = LC_COST_WRITE,
    .flags = LC_OP_USER | LC_OP_MUTATES,
    .http = "POST /v1/contexts/{context_id}/usage",
    .look = {.sentence = "{model}: {reports} reports, cache hit rate {cache_hit_rate}[, "
                         "{tokens_ratio} tokens per token counted]"},
    .example = "{\"context_id\":\"" LC_EXAMPLE_CONTEXT_ID "\",\"input_tokens\":1200,"
               "\"cached_tokens\":800,\"model\":\"my-model\"}",
    .prepare = prepare_usage,
    .run = run_usage,
};

/* ---- context.models -------------------------------------------------------------------------- */

static const lc_record models_answer = {
    .members =
        (const lc_result[]){
            {"models", 0, "Models, by name", LC_RESULT_LIST, .record = &usage_record},
            LC_PAGE_RESULT,
            {NULL},
        },
};

typedef struct model_position {
    loci_str model, encoding;
} model_position;

static const lc_position by_model = {
    "ss", {offsetof(model_position, model), offsetof(model_position, encoding)}};

typedef struct listing {
    lc_page page;
    model_position at;
} listing;

/* A user has at most LC_USAGE_MODELS_MAX rows: those of earlier pages are read again and skipped.
 */
static loci_status list_model(void *ctx, const lc_model_usage *usage, loci_error *err)
{
    listing *l = ctx;
    lc_arena *arena = l->page.call->arena;
    int order = lc_str_compare(usage->model, l->at.model);
    bool is_before = order < 0 ||
                     (order == 0 && lc_str_compare(usage->encoding, l->at.encoding) <= 0);

    if (is_before || !lc_page_takes(&l->page))
        return LOCI_OK;
    l->at = (model_position){lc_arena_copy(arena, usage->model),
                             lc_arena_copy(arena, usage->encoding)};
    if (l->at.model.ptr == NULL || l->at.encoding.ptr == NULL)
        return lc_fail_memory(err);
    lc_jw_object(&l->page.call->out);
    put_usage(usage, &l->page.call->out);
    lc_jw_end(&l->page.call->out);
    return LOCI_OK;
}

static loci_status run_models(lc_call *call, lc_tx *tx, loci_error *err)
{
    listing l = {.page = {call, &by_model, &l.at}, .at = {LC_STR(""), LC_STR("")}};
    loci_status status = lc_page_begin(&l.page, call->input, err);

    if (status != LOCI_OK)
        return status;
    lc_page_open(&l.page, "models");
    status = lc_usage_each(tx, list_model, &l, err);
    lc_page_close(&l.page);
    return status;
}

const lc_op lc_context_models = {
    .name = "context.models",
    .help = "List the models with reported usage: token ratio and cache hit rate",
    .params = lc_page_params,
    .input_bytes = sizeof(lc_page_args),
    .answer = &models_answer,
    .cost = LC_COST_WORK,
    .flags = LC_OP_USER | LC_OP_IDEMPOTENT,
    .http = "GET /v1/context/models",
    .look = {.columns =
                 "model encoding reports tokens_ratio cache_hit_rate input_tokens updated_at",
             .id = "model"},
    .example = "{}",
    .run = run_models,
};
