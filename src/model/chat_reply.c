/* chat_reply.c - {"choices": [{"finish_reason": "stop", "message": {"content": "{…}",
 *                   "refusal": null}}], "usage": {"prompt_tokens": 7, "completion_tokens": 5}} */
#include "model/chat_reply.h"

#include "base/error.h"
#include "base/str.h"

static int64_t count_of(const lc_json *usage, const char *name)
{
    const lc_json *value = lc_json_find(usage, name, LC_JSON_INT);

    return value != NULL && lc_json_int(value) > 0 ? lc_json_int(value) : 0;
}

static bool ends_with(const lc_json *choice, const char *reason)
{
    const lc_json *value = lc_json_find(choice, "finish_reason", LC_JSON_STRING);

    return value != NULL && lc_str_is(lc_json_str(value), reason);
}

static loci_status parse(lc_arena *arena, loci_str text, const lc_json **out, const char *what,
                         loci_error *err)
{
    loci_status status = lc_json_parse(arena, text, 0, out, NULL);

    if (status == LOCI_OK)
        return status;
    if (status == LOCI_ERESOURCE)
        return lc_fail_memory(err);
    return lc_fail(err, LOCI_EUNAVAILABLE, "%s is not JSON", what);
}

static loci_status read_choice(lc_arena *arena, const lc_json *choice, lc_chat_reply *out,
                               loci_error *err)
{
    const lc_json *message = lc_json_find(choice, "message", LC_JSON_OBJECT);
    const lc_json *content = lc_json_find(message, "content", LC_JSON_STRING);

    if (lc_json_find(message, "refusal", LC_JSON_STRING) != NULL)
        return lc_fail(err, LOCI_EUNSUPPORTED, "the model refuses to answer");
    if (ends_with(choice, "content_filter"))
        return lc_fail(err, LOCI_EUNSUPPORTED, "the provider's filter holds the answer back");
    if (ends_with(choice, "length"))
        return lc_fail(err, LOCI_ELIMIT,
                       "the model's answer is cut off: it needs more than the tokens allowed");
    if (content == NULL || lc_str_trim(lc_json_str(content)).len == 0)
        return lc_fail(err, LOCI_EUNAVAILABLE, "the model's answer is empty");
    out->text = lc_str_trim(lc_json_str(content));
    return parse(arena, out->text, &out->json, "the model's answer", err);
}

loci_status lc_chat_reply_read(lc_arena *arena, loci_str reply, lc_chat_reply *out, loci_error *err)
{
    const lc_json *json = NULL, *choices, *usage;
    loci_status status = parse(arena, reply, &json, "what the provider answers", err);

    *out = (lc_chat_reply){0};
    if (status != LOCI_OK)
        return status;
    usage = lc_json_find(json, "usage", LC_JSON_OBJECT);
    out->tokens_in = count_of(usage, "prompt_tokens");
    out->tokens_out = count_of(usage, "completion_tokens");
    choices = lc_json_find(json, "choices", LC_JSON_ARRAY);
    if (choices == NULL || lc_json_first(choices) == NULL)
        return lc_fail(err, LOCI_EUNAVAILABLE, "the provider's answer holds no choice");
    return read_choice(arena, lc_json_first(choices), out, err);
}
