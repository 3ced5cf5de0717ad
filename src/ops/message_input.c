/* message_input.c - see message_input.h. An object of an array is checked as the arguments of an
 * operation are, by the same table, so both forms accept and refuse the same.
 */
#include "ops/message_input.h"

#include <stdio.h>

#include "base/error.h"
#include "base/str.h"
#include "engine/engine.h"
#include "engine/tokenizers.h"

typedef struct item_input {
    lc_message_input message;
} item_input;

static const lc_param item_params[] = {
    LC_MESSAGE_PARAMS(item_input, message, LC_PARAM_REQUIRED),
    {.name = NULL},
};

/* Never called: what lc_op_check() compares an object with. */
static const lc_op item_op = {
    .name = "session.append", .params = item_params, .input_bytes = sizeof(item_input)};

loci_status lc_message_count_tokens(lc_call *call, bool estimate, lc_message *message,
                                    loci_error *err)
{
    const lc_tokenizer *tokenizer;
    lc_tokenizer estimator;
    lc_text_tokens count;
    loci_status status = LOCI_OK;

    lc_tokenizer_init(&estimator, call->arena->heap, LC_ENCODING_O200K_BASE);
    tokenizer = &estimator;
    if (!estimate)
        status = lc_tokenizers_get(lc_engine_tokenizers(call->engine), LC_ENCODING_O200K_BASE,
                                   &tokenizer, err);
    if (status == LOCI_OK)
        status = lc_tokenizer_count(tokenizer, message->text, &count, err);
    if (status != LOCI_OK)
        return status;
    message->tokens = count.tokens;
    message->is_estimated = count.is_estimated;
    return LOCI_OK;
}

loci_status lc_message_from_input(lc_call *call, const lc_message_input *in, bool estimate,
                                  lc_message *out, loci_error *err)
{
    loci_status status;

    *out = (lc_message){.role = in->role,
                        .text = in->text,
                        .speaker = in->speaker,
                        .persona_id = call->persona_id,
                        .external_id = in->external_id,
                        .observed_at = in->at};
    status = lc_call_keep_metadata(call, in->metadata, &out->metadata, err);
    return status == LOCI_OK ? lc_message_count_tokens(call, estimate, out, err) : status;
}

loci_status lc_message_from_json(lc_call *call, const lc_json *object, lc_message_place place,
                                 lc_message *out, loci_error *err)
{
    lc_call item = *call;
    loci_error problem = {0};
    loci_status status = LOCI_OK;

    item.op = &item_op;
    if (lc_json_kind_of(object) != LC_JSON_OBJECT)
        return lc_fail(err, LOCI_EINVAL, "messages.%zu: expected an object {role, text}",
                       place.index);
    status = lc_op_check(&item, object, &problem);
    if (status == LOCI_OK)
        status = lc_message_from_input(&item, &((const item_input *)item.input)->message,
                                       place.estimate, out, &problem);
    if (status != LOCI_OK)
        (void)lc_fail(err, status, "messages.%zu: %s", place.index, problem.message);
    return status;
}
