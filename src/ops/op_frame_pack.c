/* op_frame_pack.c - frame.pack: a frame as a text for a model, within a budget of tokens. */
#include "base/error.h"
#include "context/frame_pack.h"
#include "context/resolve.h"
#include "ops/counter.h"
#include "ops/op_frame.h"

#define BUDGET_MAX 100000000

typedef struct pack_input {
    loci_str frame_id, min_compaction, encoding;
    int64_t budget;
    lc_str_list include, exclude;
    bool estimate;
    lc_call_counter counter; /* Made before the snapshot. */
} pack_input;

static const lc_param params[] = {
    LC_FRAME_PARAM(pack_input, frame_id),
    {LC_ARG_INT("budget", pack_input, budget), .flags = LC_PARAM_POSITIONAL, .default_text = "2000",
     .min = 1, .max = BUDGET_MAX,
     .help = "Maximum number of tokens of the text; max_context_tokens of the frame limits it"},
    {LC_ARG_STRINGS("include", pack_input, include), .flags = LC_PARAM_ONE_OR_MANY,
     .max = LC_FRAME_HANDLES_MAX, .item_max = LC_ID_BYTES_MAX,
     .help = "Handles of this frame or of frames above it that must be in the text"},
    {LC_ARG_STRINGS("exclude", pack_input, exclude), .flags = LC_PARAM_ONE_OR_MANY,
     .max = LC_FRAME_HANDLES_MAX, .item_max = LC_ID_BYTES_MAX,
     .help = "Handles that must not be in the text; critical ones cannot be excluded"},
    {LC_ARG_STR("min_compaction", pack_input, min_compaction), .default_text = "\"none\"",
     .choices = LC_COMPACTION_LEVELS,
     .help = "Lowest level of compaction, even if the budget does not need it"},
    {LC_ARG_STR("encoding", pack_input, encoding), .default_text = "\"o200k_base\"",
     .choices = LC_ENCODING_CHOICES, .help = "Tokenizer encoding of the model"},
    {LC_ARG_BOOL("estimate", pack_input, estimate, "false"),
     .help = "Whether to estimate tokens instead of loading the encoding's data, which saves time "
             "in a new process"},
    {.name = NULL},
};

static const lc_record metadata_record = {
    .members =
        (const lc_result[]){
            {"frame_id", LC_PARAM_STRING, "Id of the frame"},
            {"goal", LC_PARAM_STRING, "Task of the frame"},
            {"status", LC_PARAM_STRING, "Status of the frame", .choices = LC_FRAME_STATUSES},
            {"depth", LC_PARAM_INT, "Number of frames above it"},
            {"handles", LC_PARAM_INT, "Number of its handles and results in use"},
            {"elided", LC_PARAM_INT, "Number of frames above it that are not in breadcrumbs"},
            {"context_hash", LC_PARAM_STRING, "Hash of the handles; changes whenever they do",
             LC_RESULT_OPTIONAL},
            {NULL},
        },
};

static const lc_record breadcrumb_record = {
    .name = "FrameBreadcrumb",
    .members =
        (const lc_result[]){
            {"frame_id", LC_PARAM_STRING, "Id of the frame"},
            {"goal", LC_PARAM_STRING, "Beginning of its goal"},
            {"status", LC_PARAM_STRING, "Status of the frame", .choices = LC_FRAME_STATUSES},
            {"depth", LC_PARAM_INT, "Number of frames above it"},
            {NULL},
        },
};

static const lc_record segment_record = {
    .name = "FrameSegment",
    .members =
        (const lc_result[]){
            {"id", LC_PARAM_STRING, "Id of the handle or result (hdl_...)"},
            {"frame_id", LC_PARAM_STRING, "Frame that it belongs to"},
            {"type", LC_PARAM_STRING, "Kind of content", .choices = LC_HANDLE_TYPES},
            {"priority", LC_PARAM_STRING, "Importance", .choices = LC_HANDLE_PRIORITIES},
            {"label", LC_PARAM_STRING, "Title, or the tool call that it is the output of"},
            {"text", LC_PARAM_STRING, "Its text, in the form that is in the pack"},
            {"form", LC_PARAM_STRING, "Whether the text is shorter than the original",
             .choices = LC_SEGMENT_FORM_CHOICES},
            {"tokens", LC_PARAM_INT, "Number of tokens"},
            {NULL},
        },
};

static const lc_record tokens_record = {
    .members =
        (const lc_result[]){
            {"budget", LC_PARAM_INT, "Maximum that was used: the smaller of the next two"},
            {"requested", LC_PARAM_INT, "Budget of the call"},
            {"max_context_tokens", LC_PARAM_INT, "Limit of the frame; absent if it has none",
             LC_RESULT_OPTIONAL},
            {"used", LC_PARAM_INT, "Tokens of the text, at most the budget"},
            {"remaining", LC_PARAM_INT, "Tokens of the budget that are left"},
            {"breakdown", LC_PARAM_INT, "Tokens of brief, breadcrumbs and segments", LC_RESULT_MAP},
            {"compaction_level", LC_PARAM_STRING, "Level at which the text was packed",
             .choices = LC_COMPACTION_LEVELS},
            {"estimated", LC_PARAM_BOOL, "True if tokens are estimated"},
            {NULL},
        },
};

static const lc_record dropped_record = {
    .name = "FrameDropped",
    .members =
        (const lc_result[]){
            {"id", LC_PARAM_STRING, "Id of the handle (hdl_...)"},
            {"reason", LC_PARAM_STRING,
             "excluded: by the call; duplicate: another one has the same text; compaction: its "
             "priority is too low for the level; budget: it did not fit",
             .choices = LC_DROP_REASONS},
            {NULL},
        },
};

static const lc_record missing_record = {
    .name = "FrameMissing",
    .members =
        (const lc_result[]){
            {"id", LC_PARAM_STRING, "Id of the handle (hdl_...)"},
            {"ref", LC_PARAM_STRING, "Object that it refers to; absent if no such handle is known",
             LC_RESULT_OPTIONAL},
            {"reason", LC_PARAM_STRING,
             "unknown: no frame of the stack has such a handle; otherwise the state of the object",
             .choices = "unknown|" LC_UNRESOLVED_REASONS},
            {NULL},
        },
};

static const lc_record answer = {
    .members =
        (const lc_result[]){
            {"metadata", 0, "Frame that was packed", .record = &metadata_record},
            {"brief", LC_PARAM_STRING, "Goal, inputs, status and running tools of the frame"},
            {"breadcrumbs", 0, "Frames above it: the root and the last ones", LC_RESULT_LIST,
             .record = &breadcrumb_record},
            {"segments", 0, "Handles and results in the text, oldest first", LC_RESULT_LIST,
             .record = &segment_record},
            {"text", LC_PARAM_STRING, "Text for the model"},
            {"tokens", 0, "Tokens of the text", .record = &tokens_record},
            {"dropped", 0, "Handles that are not in the text, the most important first",
             LC_RESULT_LIST, .record = &dropped_record},
            {"missing", 0, "Handles whose text was not found", LC_RESULT_LIST,
             .record = &missing_record},
            {NULL},
        },
};

static loci_status compute(lc_call *call, loci_error *err)
{
    pack_input *in = call->input;

    return lc_call_open_counter(call, in->encoding, in->estimate, &in->counter, err);
}

static loci_status run(lc_call *call, lc_tx *tx, loci_error *err)
{
    const pack_input *in = call->input;
    lc_call_counter counter = in->counter;
    const lc_frame_pack_input input = {.persona_id = call->persona_id,
                                       .frame_id = in->frame_id,
                                       .budget = in->budget,
                                       .include = in->include,
                                       .exclude = in->exclude,
                                       .min_level = lc_compaction_of(in->min_compaction),
                                       .counter = lc_call_counter_of(&counter),
                                       .is_estimated = counter.is_estimated,
                                       .arena = call->arena};
    loci_status status;

    lc_jw_object(&call->out);
    status = lc_context_pack_frame(tx, &input, &call->out, err);
    lc_jw_end(&call->out);
    return status == LOCI_OK ? lc_call_counter_status(&counter, err) : status;
}

extern const lc_op lc_op_frame_pack;
const lc_op lc_op_frame_pack = {
    .name = "frame.pack",
    .help = "Pack a frame into a text for a model, within a budget of tokens",
    .params = params,
    .input_bytes = sizeof(pack_input),
    .answer = &answer,
    .cost = LC_COST_WORK,
    .flags = LC_OP_USER | LC_OP_IDEMPOTENT,
    .http = "POST /v1/frames/{frame_id}/pack",
    .mcp = "frame pack",
    .mcp_takes = "id budget=2000",
    .mcp_shows = "text! ~tokens(used remaining compaction_level) ~dropped(id reason)",
    .look = {.text = "text",
             .hidden = "metadata brief breadcrumbs segments tokens dropped missing"},
    .example = "{\"frame_id\":\"" LC_FRAME_EXAMPLE "\",\"budget\":1000}",
    .compute = compute,
    .run = run,
};
