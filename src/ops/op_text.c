/* op_text.c - text.count. */
#include "ops/op.h"

#include "base/assert.h"
#include "base/limits.h"
#include "engine/engine.h"
#include "engine/tokenizers.h"

typedef struct count_input {
    loci_str text;
    loci_str encoding;
} count_input;

static const lc_record count_answer = {
    .members =
        (const lc_result[]){
            {"tokens", LC_PARAM_INT, "Number of tokens"},
            {"encoding", LC_PARAM_STRING, "Encoding", .choices = LC_ENCODING_CHOICES},
            {"estimated", LC_PARAM_BOOL,
             "True if estimated: the data of the encoding is not installed"},
            {NULL},
        },
};

static loci_status run_count(lc_call *call, lc_tx *tx, loci_error *err)
{
    const count_input *in = call->input;
    const lc_tokenizer *tokenizer;
    lc_text_tokens count;
    lc_encoding encoding;
    bool is_known = lc_encoding_find(in->encoding, &encoding);
    loci_status status;

    (void)tx; /* The store has no part in it. */
    LC_ASSERT(is_known);
    status = lc_tokenizers_get(lc_engine_tokenizers(call->engine), encoding, &tokenizer, err);
    if (status == LOCI_OK)
        status = lc_tokenizer_count(tokenizer, in->text, &count, err);
    if (status != LOCI_OK)
        return status;
    lc_jw_object(&call->out);
    lc_jw_member_int(&call->out, "tokens", count.tokens);
    lc_jw_member_text(&call->out, "encoding", lc_encoding_name(encoding));
    lc_jw_member_bool(&call->out, "estimated", count.is_estimated);
    lc_jw_end(&call->out);
    return lc_buf_status(call->out.buf, err);
}

static const lc_op op_count = {
    .name = "text.count",
    .help = "Count the tokens of a text as a language model would",
    .params =
        (const lc_param[]){
            {LC_ARG_STR("text", count_input, text), .alias = "content",
             .flags = LC_PARAM_REQUIRED | LC_PARAM_POSITIONAL, .max = LC_ARGS_BYTES_MAX,
             .help = "Text to count; special tokens in it are counted as ordinary text"},
            {LC_ARG_STR("encoding", count_input, encoding), .default_text = "\"o200k_base\"",
             .choices = LC_ENCODING_CHOICES, .help = "Tokenizer encoding of the model"},
            {.name = NULL},
        },
    .input_bytes = sizeof(count_input),
    .answer = &count_answer,
    .cost = LC_COST_WORK,
    .flags = LC_OP_IDEMPOTENT,
    .http = "POST /v1/text/count",
    .example = "{\"text\":\"Seven tokens make up this sentence.\"}",
    .run = run_count,
};

extern const lc_op *const lc_ops_text[];
const lc_op *const lc_ops_text[] = {&op_count, NULL};
