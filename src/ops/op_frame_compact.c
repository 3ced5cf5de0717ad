/* op_frame_compact.c - frame.compact: fewer or shorter handles, for good. */
#include "base/error.h"
#include "frame/frame_compact.h"
#include "ops/counter.h"
#include "ops/op_frame.h"

typedef struct compact_input {
    loci_str frame_id, strategy;
    int64_t budget, message_count;
    lc_call_counter counter; /* Made by prepare. */
} compact_input;

static const lc_param params[] = {
    LC_FRAME_PARAM(compact_input, frame_id),
    {LC_ARG_STR("strategy", compact_input, strategy), .flags = LC_PARAM_POSITIONAL,
     .default_text = "\"priority\"", .choices = LC_COMPACT_STRATEGIES,
     .help = "priority: removes the least important handles until the budget is kept; "
             "summarize_oldest: replaces prose older than the last 10 handles by a summary; "
             "truncate_at: keeps the last message_count handles"},
    {LC_ARG_INT("budget", compact_input, budget), .min = 0, .max = LC_LEDGER_TOKENS_MAX,
     .help = "Tokens that the texts of all handles may have (default: max_context_tokens of the "
             "frame)"},
    {LC_ARG_INT("message_count", compact_input, message_count), .min = 0,
     .max = LC_FRAME_HANDLES_MAX,
     .help = "For truncate_at: number of handles to keep, without results; critical ones stay"},
    {.name = NULL},
};

static const lc_record answer = {
    .members =
        (const lc_result[]){
            {"frame_id", LC_PARAM_STRING, "Id of the frame"},
            {"strategy", LC_PARAM_STRING, "Strategy of the call", .choices = LC_COMPACT_STRATEGIES},
            {"reached", LC_PARAM_BOOL,
             "True if the budget is kept and, for truncate_at, no more handles are left than were "
             "asked for"},
            {"budget", LC_PARAM_INT, "Budget that was used; absent if there was none",
             LC_RESULT_OPTIONAL},
            {"original_tokens", LC_PARAM_INT, "Tokens of the texts of all handles before"},
            {"final_tokens", LC_PARAM_INT, "Tokens of the texts of all handles now"},
            {"shortfall", LC_PARAM_INT, "Tokens above the budget that could not be removed"},
            {"items_removed", LC_PARAM_INT, "Number of handles that were removed"},
            {"items_summarized", LC_PARAM_INT, "Number of those that are in the summary"},
            {"removed", LC_PARAM_STRINGS, "Ids of the handles that were removed, oldest first"},
            {"summary_id", LC_PARAM_STRING, "Id of the handle with the summary; absent if none",
             LC_RESULT_OPTIONAL},
            {"context_hash", LC_PARAM_STRING, "Hash of the handles; changes whenever they do",
             LC_RESULT_OPTIONAL},
            {NULL},
        },
};

static loci_status prepare(lc_call *call, loci_error *err)
{
    compact_input *in = call->input;
    bool is_truncated = lc_str_is(in->strategy, "truncate_at");

    if (is_truncated && in->message_count == LC_ABSENT)
        return lc_fail(err, LOCI_EINVAL,
                       "message_count: truncate_at needs the number of handles to keep");
    if (!is_truncated && in->message_count != LC_ABSENT)
        return lc_fail(err, LOCI_EINVAL, "message_count: only the strategy truncate_at takes it");
    return lc_call_open_counter(call, LC_STR("o200k_base"), false, &in->counter, err);
}

static loci_status set_budget(const compact_input *in, const lc_frame *frame, int64_t *out,
                              loci_error *err)
{
    *out = in->budget != LC_ABSENT ? in->budget : frame->limits.max_context_tokens;
    if (*out == LC_FRAME_NO_LIMIT && lc_str_is(in->strategy, "priority"))
        return lc_fail(err, LOCI_EINVAL,
                       "budget: frame %.*s has no max_context_tokens; pass the tokens that its "
                       "handles may have",
                       LC_STR_ARG(frame->id));
    return LOCI_OK;
}

static void put_answer(lc_call *call, const lc_frame *frame, const lc_frame_compacted *done,
                       int64_t budget)
{
    const compact_input *in = call->input;
    lc_json_writer *out = &call->out;
    bool is_over = budget != LC_FRAME_NO_LIMIT && done->final_tokens > budget;

    lc_jw_object(out);
    lc_jw_member_str(out, "frame_id", frame->id);
    lc_jw_member_str(out, "strategy", in->strategy);
    lc_jw_member_bool(out, "reached", done->is_reached);
    if (budget != LC_FRAME_NO_LIMIT)
        lc_jw_member_int(out, "budget", budget);
    lc_jw_member_int(out, "original_tokens", done->original_tokens);
    lc_jw_member_int(out, "final_tokens", done->final_tokens);
    lc_jw_member_int(out, "shortfall", is_over ? done->final_tokens - budget : 0);
    lc_jw_member_int(out, "items_removed", (int64_t)done->removed_count);
    lc_jw_member_int(out, "items_summarized", (int64_t)done->summarized_count);
    lc_jw_name(out, "removed");
    lc_jw_array(out);
    for (size_t i = 0; i < done->removed_count; i++)
        lc_jw_str(out, done->removed[i].id);
    lc_jw_end(out);
    if (done->summary_id.ptr != NULL)
        lc_jw_member_str(out, "summary_id", done->summary_id);
    if (frame->context_hash.ptr != NULL)
        lc_jw_member_str(out, "context_hash", frame->context_hash);
    lc_jw_end(out);
}

static loci_status run(lc_call *call, lc_tx *tx, loci_error *err)
{
    const compact_input *in = call->input;
    lc_call_counter counter = in->counter;
    lc_frame_compaction compaction = {.strategy = in->strategy,
                                      .message_count = in->message_count,
                                      .counter = lc_call_counter_of(&counter)};
    lc_frame_compacted done;
    lc_frame frame;
    loci_status status = lc_frame_load(tx, call->persona_id, in->frame_id, call->arena, &frame,
                                       err);

    if (status == LOCI_OK)
        status = set_budget(in, &frame, &compaction.budget, err);
    if (status == LOCI_OK)
        status = lc_frame_compact(tx, &frame, &compaction, call->arena, &done, err);
    if (status == LOCI_OK)
        status = lc_call_counter_status(&counter, err);
    if (status == LOCI_OK)
        put_answer(call, &frame, &done, compaction.budget);
    return status;
}

extern const lc_op lc_op_frame_compact;
const lc_op lc_op_frame_compact = {
    .name = "frame.compact",
    .help = "Remove or shorten handles of a frame for good, to save tokens",
    .params = params,
    .input_bytes = sizeof(compact_input),
    .answer = &answer,
    .cost = LC_COST_WRITE,
    .flags = LC_OP_USER | LC_OP_MUTATES | LC_OP_DESTROYS,
    .http = "POST /v1/frames/{frame_id}/compact",
    .look = {.sentence = "{reached yes=compacted,no=compacted as far as possible}: {items_removed} "
                         "handles removed, {final_tokens} of {original_tokens} tokens left  "
                         "({frame_id})"},
    .example = "{\"frame_id\":\"" LC_FRAME_EXAMPLE "\",\"budget\":1000}",
    .prepare = prepare,
    .run = run,
};
