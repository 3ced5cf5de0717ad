/* op_model.c - text.count, model.embed, model.status, model.reembed.
 *
 * Embedding takes long and may ask a provider, so it runs outside of any transaction: a snapshot
 * that is open while a provider computes keeps the store from shrinking its WAL.
 */
#include "base/assert.h"
#include "base/base64.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/number.h"
#include "base/str.h"
#include "engine/engine.h"
#include "engine/models.h"
#include "engine/tokenizers.h"
#include "ops/op.h"
#include "ops/op_job.h"
#include "store/vector.h"

#define TEXTS_MAX 256
#define TEXT_BYTES_MAX 65536

/* ---- model.embed ----------------------------------------------------------------------------- */

typedef struct embed_input {
    lc_str_list texts;
    loci_str encoding;
} embed_input;

static const lc_param embed_params[] = {
    {LC_ARG_STRINGS("texts", embed_input, texts), .flags = LC_PARAM_REQUIRED | LC_PARAM_POSITIONAL,
     .min = 1, .max = TEXTS_MAX, .item_max = TEXT_BYTES_MAX, .help = "Texts to embed"},
    {LC_ARG_STR("encoding", embed_input, encoding), .default_text = "\"float\"",
     .choices = "float|base64",
     .help = "Vectors as numbers, or as base64 of little-endian 32-bit floats"},
    {.name = NULL},
};

static const lc_record embed_answer = {
    .members =
        (const lc_result[]){
            {"model", LC_PARAM_STRING, "Name of the model"},
            {"generation", LC_PARAM_STRING,
             "Generation: only vectors of the same generation can be compared"},
            {"dimensions", LC_PARAM_INT, "Length of each vector"},
            {"lexical_only", LC_PARAM_BOOL, "True if the vectors compare words only, not meaning"},
            {"vectors", LC_PARAM_ANY,
             "One vector of unit length per text: an array of numbers, or base64", LC_RESULT_LIST},
            {NULL},
        },
};

static loci_status prepare_embed(lc_call *call, loci_error *err)
{
    const embed_input *in = call->input;

    for (size_t i = 0; i < in->texts.count; i++) {
        if (lc_str_trim(in->texts.items[i]).len == 0)
            return lc_fail(err, LOCI_EINVAL, "texts[%zu]: only white space", i);
    }
    return LOCI_OK;
}

static loci_status pause_call(void *ctx, loci_error *err)
{
    return lc_call_pause_point(ctx, err);
}

static void write_numbers(lc_buf *out, const float *vector, size_t dimensions)
{
    char number[LC_NUMBER_BYTES_MAX];

    lc_buf_append_byte(out, '[');
    for (size_t i = 0; i < dimensions; i++) {
        if (i > 0)
            lc_buf_append_byte(out, ',');
        lc_buf_append(out, (loci_str){number, lc_number_format_f32(vector[i], number)});
    }
    lc_buf_append_byte(out, ']');
}

static loci_status write_vectors(lc_call *call, const lc_embed_batch *batch, loci_error *err)
{
    bool is_base64 = lc_str_is(((const embed_input *)call->input)->encoding, "base64");
    loci_status status;
    lc_buf text;

    lc_buf_init(&text, call->arena->heap, LOCI_MEM_REQUESTS, LC_ANSWER_BYTES_MAX);
    lc_jw_name(&call->out, "vectors");
    lc_jw_array(&call->out);
    for (size_t i = 0; text.failure == LOCI_OK && i < batch->count; i++) {
        const float *vector = batch->out + i * batch->dimensions;

        lc_buf_reset(&text);
        if (is_base64) {
            lc_base64_append(&text, vector, batch->dimensions * sizeof *vector);
            lc_jw_str(&call->out, lc_buf_str(&text));
        } else {
            write_numbers(&text, vector, batch->dimensions);
            if (text.failure == LOCI_OK) /* A truncated text is not JSON. */
                lc_jw_raw(&call->out, lc_buf_str(&text));
        }
    }
    lc_jw_end(&call->out);
    status = lc_buf_status(&text, err);
    lc_buf_clear(&text);
    return status;
}

static loci_status run_embed(lc_call *call, loci_error *err)
{
    const embed_input *input = call->input;
    lc_models *models = lc_engine_models(call->engine);
    lc_embed_batch batch = {.texts = input->texts.items, .count = input->texts.count};
    lc_model_use use = {.tenant_id = call->tenant_id,
                        .arena = call->arena,
                        .deadline_us = call->deadline_us,
                        .pause = pause_call,
                        .pause_ctx = call};
    lc_embedder embedder;
    loci_status status = lc_models_find_embedder(models, call->arena, &embedder, err);

    if (status != LOCI_OK)
        return status;
    batch.dimensions = embedder.dimensions;
    batch.out = lc_arena_zalloc_array(call->arena, batch.count * batch.dimensions,
                                      sizeof *batch.out);
    if (batch.out == NULL)
        return lc_fail_memory(err);
    status = lc_models_embed(models, &use, &embedder, &batch, err);
    if (status != LOCI_OK)
        return status;
    lc_jw_object(&call->out);
    lc_jw_member_text(&call->out, "model", embedder.model);
    lc_jw_member_text(&call->out, "generation", embedder.generation);
    lc_jw_member_int(&call->out, "dimensions", (int64_t)embedder.dimensions);
    lc_jw_member_bool(&call->out, "lexical_only", embedder.kind == LC_EMBEDDER_LEXICAL);
    status = write_vectors(call, &batch, err);
    lc_jw_end(&call->out);
    return status;
}

static const lc_op op_embed = {
    .name = "model.embed",
    .help = "Embed texts: return one vector per text",
    .params = embed_params,
    .input_bytes = sizeof(embed_input),
    .answer = &embed_answer,
    .cost = LC_COST_WORK,
    .flags = LC_OP_ALONE | LC_OP_IDEMPOTENT | LC_OP_NO_STORE,
    .http = "POST /v1/models/embed",
    .example = "{\"texts\":[\"The cat sat on the mat\",\"A feline rested on a rug\"]}",
    .prepare = prepare_embed,
    .run_alone = run_embed,
};

/* ---- model.status ---------------------------------------------------------------------------- */

typedef struct status_input {
    bool check_data;
} status_input;

static const lc_param status_params[] = {
    {LC_ARG_BOOL("check_data", status_input, check_data, "false"),
     .help = "Whether to read the data files and compare their digests (admins only)"},
    {.name = NULL},
};

static const lc_record provider_record = {
    .name = "Provider",
    .members =
        (const lc_result[]){
            {"configured", LC_PARAM_BOOL, "True if it can be used"},
            {"url", LC_PARAM_STRING, "URL; null if none is set", LC_RESULT_NULLABLE},
            {"model", LC_PARAM_STRING, "Name of the model; null if none is set",
             LC_RESULT_NULLABLE},
            {"missing", LC_PARAM_STRING, "Missing setting", LC_RESULT_OPTIONAL},
            {"answered_at", LC_PARAM_TIME, "Time of the last successful call, or null",
             LC_RESULT_NULLABLE},
            {"failed_at", LC_PARAM_TIME, "Time of the last failed call, or null",
             LC_RESULT_NULLABLE},
            {"error_code", LC_PARAM_STRING, "Code of that failure", LC_RESULT_OPTIONAL},
            {"error_message", LC_PARAM_STRING, "Message of that failure", LC_RESULT_OPTIONAL},
            {NULL},
        },
};

static const lc_record usage_record = {
    .name = "ProviderUsage",
    .members =
        (const lc_result[]){
            {"chat_calls", LC_PARAM_INT, "Calls of the chat provider"},
            {"chat_failures", LC_PARAM_INT, "Failed calls of the chat provider"},
            {"chat_tokens_in", LC_PARAM_INT, "Tokens sent to the chat provider"},
            {"chat_tokens_out", LC_PARAM_INT, "Tokens received from the chat provider"},
            {"embed_calls", LC_PARAM_INT, "Calls of the embedding provider"},
            {"embed_failures", LC_PARAM_INT, "Failed calls of the embedding provider"},
            {"embed_tokens", LC_PARAM_INT, "Tokens sent to the embedding provider"},
            {NULL},
        },
};

static const lc_record tokenizer_record = {
    .name = "TokenizerStatus",
    .members =
        (const lc_result[]){
            {"encoding", LC_PARAM_STRING, "Encoding of text.count", .choices = LC_ENCODING_CHOICES},
            {"estimated", LC_PARAM_BOOL,
             "True if its data is not installed and tokens are estimated"},
            {NULL},
        },
};

static const lc_record data_record = {
    .name = "DataFile",
    .members =
        (const lc_result[]){
            {"name", LC_PARAM_STRING, "Name of the file"},
            {"use", LC_PARAM_STRING, "Purpose of the file"},
            {"state", LC_PARAM_STRING, "State; whole: its digest was compared",
             .choices = "missing|damaged|present|whole"},
            {"problem", LC_PARAM_STRING, "Problem and next step, or null", LC_RESULT_NULLABLE},
            {NULL},
        },
};

static const lc_record status_answer = {
    .members =
        (const lc_result[]){
            {"embedder", LC_PARAM_STRING,
             "Embedder in use; null if the configured one is unavailable", LC_RESULT_NULLABLE,
             .choices = "builtin|lexical|provider"},
            {"model", LC_PARAM_STRING, "Name of its model", LC_RESULT_NULLABLE},
            {"dimensions", LC_PARAM_INT, "Length of its vectors", LC_RESULT_NULLABLE},
            {"generation", LC_PARAM_STRING, "Generation of its vectors", LC_RESULT_NULLABLE},
            {"lexical_only", LC_PARAM_BOOL, "True if texts are compared by words only"},
            {"missing", LC_PARAM_STRING,
             "Missing data for a better embedder and how to get it, or null", LC_RESULT_NULLABLE},
            {"provider", 0, "Embedding provider", .record = &provider_record},
            {"chat", 0, "Chat provider", .record = &provider_record},
            {"usage", 0, "Usage of providers by this tenant since open", .record = &usage_record},
            {"tokenizers", 0, "Tokenizers", LC_RESULT_LIST, .record = &tokenizer_record},
            {"data", 0, "Data files", LC_RESULT_LIST, .record = &data_record},
            {"vectors", LC_PARAM_INT, "Number of vectors of this user that can be used"},
            {"vectors_stale", LC_PARAM_INT,
             "Number of vectors of other generations; model.reembed replaces them"},
            {"vectors_warning", LC_PARAM_STRING,
             "Why those are not used and the next step; null if there are none",
             LC_RESULT_NULLABLE},
            {NULL},
        },
};

static loci_status write_tokenizers(lc_call *call, loci_error *err)
{
    loci_status status = LOCI_OK;

    lc_jw_name(&call->out, "tokenizers");
    lc_jw_array(&call->out);
    for (int i = 0; status == LOCI_OK && i < LC_ENCODINGS; i++) {
        const lc_tokenizer *tokenizer;

        status = lc_tokenizers_get(lc_engine_tokenizers(call->engine), (lc_encoding)i, &tokenizer,
                                   err);
        if (status != LOCI_OK)
            break;
        lc_jw_object(&call->out);
        lc_jw_member_text(&call->out, "encoding", lc_encoding_name((lc_encoding)i));
        lc_jw_member_bool(&call->out, "estimated", !lc_tokenizer_is_exact(tokenizer));
        lc_jw_end(&call->out);
    }
    lc_jw_end(&call->out);
    return status;
}

static loci_status explain_stale(lc_call *call, lc_tx *tx, const lc_vector_set *set, loci_str *out,
                                 loci_error *err)
{
    loci_str stale;
    loci_status status = lc_vector_find_stale(tx, set, call->arena, &stale, err);

    if (status != LOCI_OK)
        return status;
    return lc_models_explain_stale(lc_engine_models(call->engine),
                                   stale.ptr != NULL ? stale : LC_STR("another embedder"),
                                   call->arena, out, err);
}

static loci_status run_status(lc_call *call, lc_tx *tx, loci_error *err)
{
    lc_models *models = lc_engine_models(call->engine);
    bool checks_data = ((const status_input *)call->input)->check_data;
    lc_embedder embedder = {.generation = ""};
    lc_vector_set set = {.tenant_id = call->tenant_id, .user_id = call->user_id};
    lc_vector_counts counts = {0};
    loci_str warning = LC_STR_NONE;
    loci_status status;

    if (checks_data && !call->is_admin)
        return lc_fail(err, LOCI_EFORBIDDEN, "check_data needs an admin");
    (void)lc_models_find_embedder(models, call->arena, &embedder, NULL); /* Reported below. */
    set.generation = loci_str_of(embedder.generation);
    status = lc_vector_count(tx, &set, &counts, err);
    if (status == LOCI_OK && counts.stale > 0)
        status = explain_stale(call, tx, &set, &warning, err);
    if (status != LOCI_OK)
        return status;
    lc_jw_object(&call->out);
    status = lc_models_write_status(models, call->tenant_id, call->arena, &call->out, err);
    if (status == LOCI_OK)
        status = write_tokenizers(call, err);
    if (status != LOCI_OK)
        return status;
    lc_jw_name(&call->out, "data");
    status = lc_data_files_write(call->engine, checks_data, &call->out, err);
    lc_jw_member_int(&call->out, "vectors", counts.current);
    lc_jw_member_int(&call->out, "vectors_stale", counts.stale);
    if (warning.ptr != NULL)
        lc_jw_member_str(&call->out, "vectors_warning", warning);
    else
        lc_jw_member_null(&call->out, "vectors_warning");
    lc_jw_end(&call->out);
    return status;
}

static const lc_op op_status = {
    .name = "model.status",
    .help = "Return the models in use, missing data and the usage of providers",
    .params = status_params,
    .input_bytes = sizeof(status_input),
    .answer = &status_answer,
    .cost = LC_COST_WORK,
    .flags = LC_OP_USER | LC_OP_IDEMPOTENT,
    .http = "GET /v1/models",
    .example = "{}",
    .run = run_status,
};

/* ---- model.reembed --------------------------------------------------------------------------- */

typedef struct reembed_input {
    loci_str scope;
    bool wait;
} reembed_input;

static const lc_param reembed_params[] = {
    {LC_ARG_STR("scope", reembed_input, scope), .default_text = "\"user\"", .choices = "user|store",
     .help = "user: texts of user_id; store: texts of all users (admins only)"},
    LC_JOB_WAIT_PARAM(reembed_input, wait),
    {.name = NULL},
};

static const lc_record reembedded_record = {
    .members =
        (const lc_result[]){
            {"generation", LC_PARAM_STRING, "Generation of the vectors"},
            {"users", LC_PARAM_INT, "Number of users"},
            {"texts", LC_PARAM_INT, "Number of texts"},
            {"embedded", LC_PARAM_INT, "Number of texts that had no vector"},
            {"deleted", LC_PARAM_INT, "Number of deleted vectors of other generations"},
            {NULL},
        },
};

static const lc_record reembed_answer = {
    .members =
        (const lc_result[]){
            LC_JOB_RESULTS,
            {"result", 0, "Result, if done", LC_RESULT_OPTIONAL, .record = &reembedded_record},
            {NULL},
        },
};

static loci_status run_reembed(lc_call *call, loci_error *err)
{
    const reembed_input *in = call->input;
    bool is_of_store = lc_str_is(in->scope, "store");

    if (is_of_store && !call->is_admin)
        return lc_fail(err, LOCI_EFORBIDDEN, "scope \"store\" needs an admin");
    return lc_job_start_run(call,
                            &(lc_job_start){.tenant_id = is_of_store ? LC_STR("") : call->tenant_id,
                                            .user_id = is_of_store ? LC_STR("") : call->user_id,
                                            .enqueue = lc_embed_enqueue,
                                            .unit = "texts",
                                            .waits = in->wait},
                            err);
}

static const lc_op op_reembed = {
    .name = "model.reembed",
    .help = "Embed every text again with the embedder in use",
    .params = reembed_params,
    .input_bytes = sizeof(reembed_input),
    .answer = &reembed_answer,
    .cost = LC_COST_WORK,
    .flags = LC_OP_USER | LC_OP_ALONE | LC_OP_MUTATES | LC_OP_STREAMS | LC_OP_WHOLE_USER |
             LC_OP_BULK | LC_OP_JOB,
    .http = "POST /v1/models/reembed",
    .example = "{\"wait\":true}",
    .run_alone = run_reembed,
};

/* ---- text.count ------------------------------------------------------------------------------ */

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
    .flags = LC_OP_IDEMPOTENT | LC_OP_NO_STORE,
    .http = "POST /v1/text/count",
    .look = {.sentence = "{tokens} tokens of {encoding}[ {estimated yes=(estimated)}]"},
    .example = "{\"text\":\"Seven tokens make up this sentence.\"}",
    .run = run_count,
};

extern const lc_op *const lc_ops_model[];
const lc_op *const lc_ops_model[] = {&op_count, &op_embed, &op_status, &op_reembed, NULL};
