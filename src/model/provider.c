/* provider.c - writes the requests and reads the replies.
 *
 * All requests of a batch are posted together; net/client.c sends a few at a time. Bodies and
 * replies of the whole batch are in memory together; the caller bounds the size of a batch.
 */
#include "model/provider.h"

#include <math.h>
#include <stdbool.h>

#include "base/base64.h"
#include "base/error.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/str.h"

/* ---- Replies of /v1/embeddings ---------------------------------------------------------------
 *
 *     {"data": [{"index": 0, "embedding": [0.1, …] or "base64"}, …], "usage": {"prompt_tokens": 7}}
 *
 * Other members are ignored. A provider may answer in another encoding than requested; both are
 * read. Base64 contains little-endian floats, like this machine. */

#define NUMBER_BYTES 32   /* Per number in JSON, with white space. */
#define VECTOR_BYTES 1024 /* Overhead per vector, */
#define REPLY_BYTES 65536 /* and per reply. */

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "floats in base64 are little-endian");

size_t lc_embed_reply_bytes_max(const lc_embed_expected *expected)
{
    size_t bytes = expected->count * (expected->dimensions * NUMBER_BYTES + VECTOR_BYTES) +
                   REPLY_BYTES;

    return bytes < LC_JSON_BYTES_MAX ? bytes : LC_JSON_BYTES_MAX;
}

/* Scales a vector to length 1. False if it is zero or contains NaN or infinity. */
static bool normalise(float *vector, size_t dimensions)
{
    double sum = 0, scale;

    for (size_t i = 0; i < dimensions; i++)
        sum += (double)vector[i] * (double)vector[i];
    /* Squares of floats cannot overflow a double: the sum is finite if all numbers are. */
    if (!isfinite(sum) || sum == 0)
        return false;
    scale = 1 / sqrt(sum);
    for (size_t i = 0; i < dimensions; i++)
        vector[i] = (float)((double)vector[i] * scale);
    return true;
}

static loci_status fail_shape(const char *what, loci_error *err)
{
    return lc_fail(err, LOCI_EUNAVAILABLE, "the reply of the provider is not valid: %s", what);
}

static loci_status fail_length(size_t got, const char *unit, const lc_embed_expected *expected,
                               loci_error *err)
{
    return lc_fail(err, LOCI_EUNSUPPORTED,
                   "the vectors of the provider have %zu %s, expected %zu numbers: set "
                   "model.embed_dimensions to the dimensions of its model",
                   got, unit, expected->dimensions);
}

static loci_status read_numbers(const lc_json *array, const lc_embed_expected *expected, float *out,
                                loci_error *err)
{
    if (lc_json_count(array) != expected->dimensions)
        return fail_length(lc_json_count(array), "numbers", expected, err);
    for (const lc_json *at = lc_json_first(array); at != NULL; at = lc_json_next(at)) {
        lc_json_kind kind = lc_json_kind_of(at);

        if (kind != LC_JSON_INT && kind != LC_JSON_REAL)
            return fail_shape("an embedding contains something other than numbers", err);
        *out++ = (float)lc_json_real(at);
    }
    return LOCI_OK;
}

static loci_status read_vector(const lc_json *item, const lc_embed_expected *expected, float *out,
                               loci_error *err)
{
    const lc_json *numbers = lc_json_find(item, "embedding", LC_JSON_ARRAY);
    const lc_json *text = lc_json_find(item, "embedding", LC_JSON_STRING);
    size_t bytes = expected->dimensions * sizeof *out;
    loci_status status = LOCI_OK;

    if (numbers != NULL)
        status = read_numbers(numbers, expected, out, err);
    else if (text == NULL)
        status = fail_shape("an embedding is missing", err);
    else if (lc_json_str(text).len != (bytes + 2) / 3 * 4)
        status = fail_length(lc_json_str(text).len, "characters of base64", expected, err);
    else if (!lc_base64_read(lc_json_str(text), out, bytes))
        status = fail_shape("an embedding is not base64", err);
    if (status == LOCI_OK && !normalise(out, expected->dimensions))
        status = fail_shape("an embedding is zero or not finite", err);
    return status;
}

static loci_status read_items(const lc_json *data, const lc_embed_expected *expected, bool *is_seen,
                              float *out, loci_error *err)
{
    loci_status status = LOCI_OK;

    for (const lc_json *item = lc_json_first(data); status == LOCI_OK && item != NULL;
         item = lc_json_next(item)) {
        const lc_json *index = lc_json_find(item, "index", LC_JSON_INT);
        int64_t at = index != NULL ? lc_json_int(index) : -1;

        if (at < 0 || (uint64_t)at >= expected->count)
            return fail_shape("an index is missing or out of range", err);
        if (is_seen[at])
            return fail_shape("duplicate index", err);
        is_seen[at] = true;
        status = read_vector(item, expected, out + (size_t)at * expected->dimensions, err);
    }
    return status;
}

loci_status lc_embed_reply_read(lc_arena *scratch, loci_str reply,
                                const lc_embed_expected *expected, float *out, int64_t *out_tokens,
                                loci_error *err)
{
    bool *is_seen = lc_arena_zalloc_array(scratch, expected->count, sizeof *is_seen);
    const lc_json *json = NULL, *data, *tokens;
    loci_status status;

    if (is_seen == NULL)
        return lc_fail_memory(err);
    status = lc_json_parse(scratch, reply, LC_JSON_ALLOW_NUL, &json, NULL);
    if (status == LOCI_ERESOURCE)
        return lc_fail_memory(err);
    if (status != LOCI_OK)
        return fail_shape("it is not JSON",
                          err); /* The text is not repeated: it may be anything. */
    data = lc_json_find(json, "data", LC_JSON_ARRAY);
    if (data == NULL)
        return fail_shape("\"data\" is missing", err);
    if (lc_json_count(data) != expected->count)
        return lc_fail(err, LOCI_EUNAVAILABLE, "the provider returned %zu vectors for %zu texts",
                       lc_json_count(data), expected->count);
    status = read_items(data, expected, is_seen, out, err);
    if (status != LOCI_OK)
        return status;
    tokens = lc_json_find(lc_json_find(json, "usage", LC_JSON_OBJECT), "prompt_tokens",
                          LC_JSON_INT);
    *out_tokens = tokens != NULL && lc_json_int(tokens) > 0 ? lc_json_int(tokens) : 0;
    return LOCI_OK;
}

/* ---- Replies of /v1/chat/completions ---------------------------------------------------------
 *
 *     {"choices": [{"finish_reason": "stop", "message": {"content": "{…}", "refusal": null}}],
 *      "usage": {"prompt_tokens": 7, "completion_tokens": 5}} */

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
        return lc_fail(err, LOCI_EUNSUPPORTED,
                       "the content filter of the provider removed the answer");
    if (ends_with(choice, "length"))
        return lc_fail(
            err, LOCI_ELIMIT,
            "the answer of the model is cut off: it exceeds the maximum number of tokens");
    if (content == NULL || lc_str_trim(lc_json_str(content)).len == 0)
        return lc_fail(err, LOCI_EUNAVAILABLE, "the answer of the model is empty");
    out->text = lc_str_trim(lc_json_str(content));
    return parse(arena, out->text, &out->json, "the answer of the model", err);
}

loci_status lc_chat_reply_read(lc_arena *arena, loci_str reply, lc_chat_reply *out, loci_error *err)
{
    const lc_json *json = NULL, *choices, *usage;
    loci_status status = parse(arena, reply, &json, "the reply of the provider", err);

    *out = (lc_chat_reply){0};
    if (status != LOCI_OK)
        return status;
    usage = lc_json_find(json, "usage", LC_JSON_OBJECT);
    out->tokens_in = count_of(usage, "prompt_tokens");
    out->tokens_out = count_of(usage, "completion_tokens");
    choices = lc_json_find(json, "choices", LC_JSON_ARRAY);
    if (choices == NULL || lc_json_first(choices) == NULL)
        return lc_fail(err, LOCI_EUNAVAILABLE, "the reply of the provider contains no choice");
    return read_choice(arena, lc_json_first(choices), out, err);
}

/* ---- Requests -------------------------------------------------------------------------------- */

#define URL_BYTES_MAX 4096
#define BODY_BYTES_MAX LC_JSON_BYTES_MAX

static lc_net_terms terms_of(const lc_provider_line *line, const lc_provider *provider,
                             const char *url)
{
    return (lc_net_terms){
        .url = url,
        .key = provider->key,
        .allow_private = provider->allow_private,
        .timeout_ms = provider->timeout_ms,
        .deadline_us = line->deadline_us,
        .pause = line->pause,
        .pause_ctx = line->pause_ctx,
    };
}

/* The base URL, without slashes at its end, and a path. */
static loci_status join_url(const lc_provider *provider, const char *path, lc_buf *out,
                            loci_error *err)
{
    loci_str base = lc_str_trim(loci_str_of(provider->url));

    while (base.len > 0 && base.ptr[base.len - 1] == '/')
        base.len--;
    lc_buf_append(out, base);
    lc_buf_append(out, loci_str_of(path));
    return lc_buf_terminate(out) != NULL ? LOCI_OK : lc_buf_status(out, err);
}

/* ---- Embeddings ------------------------------------------------------------------------------ */

/* One request: a part of the batch. */
typedef struct part {
    size_t first;
    size_t count;
    lc_buf body;
    lc_buf reply;
} part;

typedef struct sending {
    const lc_provider *provider;
    lc_embed_batch *batch;
    part *parts;
    lc_net_post *posts;
    size_t count;
} sending;

/* Number of texts from `first` on for one request: at least one, of any length. */
static size_t part_texts(const lc_embed_batch *batch, size_t first)
{
    size_t count = 0, bytes = 0;

    while (first + count < batch->count && count < LC_EMBED_TEXTS_PER_REQUEST) {
        bytes += batch->texts[first + count].len;
        if (count > 0 && bytes > LC_EMBED_BYTES_PER_REQUEST)
            break;
        count++;
    }
    return count;
}

static void write_body(const sending *s, part *p)
{
    lc_json_writer w;

    lc_jw_init(&w, &p->body);
    lc_jw_object(&w);
    lc_jw_member_text(&w, "model", s->provider->model);
    lc_jw_member_text(&w, "encoding_format", s->provider->asks_base64 ? "base64" : "float");
    lc_jw_name(&w, "input");
    lc_jw_array(&w);
    for (size_t i = 0; i < p->count; i++)
        lc_jw_str(&w, s->batch->texts[p->first + i]);
    lc_jw_end(&w);
    lc_jw_end(&w);
}

static lc_embed_expected expected_of(const sending *s, const part *p)
{
    return (lc_embed_expected){.count = p->count, .dimensions = s->batch->dimensions};
}

static loci_status make_parts(sending *s, lc_arena *scratch, loci_error *err)
{
    loci_status status = LOCI_OK;

    for (size_t at = 0; at < s->batch->count; at += part_texts(s->batch, at))
        s->count++;
    s->parts = lc_arena_zalloc_array(scratch, s->count, sizeof *s->parts);
    s->posts = lc_arena_zalloc_array(scratch, s->count, sizeof *s->posts);
    if (s->parts == NULL || s->posts == NULL) {
        s->count = 0;
        return lc_fail_memory(err);
    }
    for (size_t i = 0, at = 0; i < s->count; i++) {
        part *p = &s->parts[i];
        lc_embed_expected expected;

        *p = (part){.first = at, .count = part_texts(s->batch, at)};
        at += p->count;
        expected = expected_of(s, p);
        lc_buf_init(&p->body, scratch->heap, LOCI_MEM_LLM_BUFFERS, BODY_BYTES_MAX);
        lc_buf_init(&p->reply, scratch->heap, LOCI_MEM_LLM_BUFFERS,
                    lc_embed_reply_bytes_max(&expected));
        if (status != LOCI_OK)
            continue; /* Only initialises the buffers. */
        write_body(s, p);
        status = lc_buf_status(&p->body, err);
        s->posts[i] = (lc_net_post){.body = lc_buf_str(&p->body), .reply = &p->reply};
    }
    return status;
}

static loci_status read_parts(sending *s, lc_arena *scratch, loci_error *err)
{
    lc_embed_batch *batch = s->batch;
    loci_status status = LOCI_OK;
    int64_t tokens = 0, part_tokens = 0;

    for (size_t i = 0; status == LOCI_OK && i < s->count; i++) {
        const part *p = &s->parts[i];
        lc_embed_expected expected = expected_of(s, p);
        lc_arena_mark mark = lc_arena_get_mark(scratch);

        status = lc_embed_reply_read(scratch, lc_buf_str(&p->reply), &expected,
                                     batch->out + p->first * batch->dimensions, &part_tokens, err);
        tokens += part_tokens;
        lc_arena_rewind(scratch, mark);
    }
    batch->tokens = tokens;
    return status;
}

loci_status lc_provider_embed(const lc_provider_line *line, const lc_provider *provider,
                              lc_embed_batch *batch, lc_arena *scratch, loci_error *err)
{
    lc_arena_mark mark = lc_arena_get_mark(scratch);
    sending s = {.provider = provider, .batch = batch};
    lc_buf url;
    loci_status status;

    lc_buf_init(&url, scratch->heap, LOCI_MEM_LLM_BUFFERS, URL_BYTES_MAX);
    status = join_url(provider, "/embeddings", &url, err);
    if (status == LOCI_OK)
        status = make_parts(&s, scratch, err);
    if (status == LOCI_OK) {
        lc_net_terms terms = terms_of(line, provider, url.ptr);

        status = lc_net_post_all(line->client, &terms, s.posts, s.count, err);
    }
    if (status == LOCI_OK)
        status = read_parts(&s, scratch, err);
    batch->requests = (int64_t)s.count;
    for (size_t i = 0; i < s.count; i++) {
        lc_buf_clear(&s.parts[i].body);
        lc_buf_clear(&s.parts[i].reply);
    }
    lc_buf_clear(&url);
    lc_arena_rewind(scratch, mark);
    return status;
}

/* ---- Chat ------------------------------------------------------------------------------------ */

static void write_message(lc_json_writer *w, const char *role, loci_str content)
{
    lc_jw_object(w);
    lc_jw_member_text(w, "role", role);
    lc_jw_member_str(w, "content", content);
    lc_jw_end(w);
}

static void write_chat(const lc_provider *provider, const lc_chat *chat, lc_buf *out)
{
    lc_json_writer w;

    lc_jw_init(&w, out);
    lc_jw_object(&w);
    lc_jw_member_text(&w, "model", provider->model);
    lc_jw_member_bool(&w, "stream", false);
    lc_jw_member_int(&w, "max_completion_tokens", chat->tokens_max);
    lc_jw_name(&w, "messages");
    lc_jw_array(&w);
    write_message(&w, "system", chat->system);
    write_message(&w, "user", chat->user);
    lc_jw_end(&w);
    lc_jw_name(&w, "response_format");
    lc_jw_object(&w);
    lc_jw_member_text(&w, "type", "json_schema");
    lc_jw_name(&w, "json_schema");
    lc_jw_object(&w);
    lc_jw_member_text(&w, "name", chat->name);
    lc_jw_member_bool(&w, "strict", true);
    lc_jw_member_raw(&w, "schema", chat->schema);
    lc_jw_end(&w);
    lc_jw_end(&w);
    lc_jw_end(&w);
}

/* The reply is copied, because `out` points into it. */
static loci_status read_chat(const lc_chat *chat, loci_str reply, lc_arena *arena,
                             lc_chat_reply *out, loci_error *err)
{
    loci_str copy = lc_arena_copy(arena, reply);
    loci_status status = copy.ptr != NULL ? lc_chat_reply_read(arena, copy, out, err)
                                          : lc_fail_memory(err);

    /* Some providers ignore the limit. */
    if (status == LOCI_OK && out->tokens_out > chat->tokens_max)
        status = lc_fail(err, LOCI_ELIMIT,
                         "the answer of the model has %lld tokens, the maximum is %lld",
                         (long long)out->tokens_out, (long long)chat->tokens_max);
    return status;
}

loci_status lc_provider_chat(const lc_provider_line *line, const lc_provider *provider,
                             const lc_chat *chat, lc_arena *arena, lc_chat_reply *out,
                             loci_error *err)
{
    lc_buf url, body, reply;
    loci_status status;

    *out = (lc_chat_reply){0};
    if (chat->system.len + chat->user.len > chat->prompt_bytes_max)
        return lc_fail(err, LOCI_ELIMIT, "the prompt has %zu bytes, the maximum is %zu",
                       chat->system.len + chat->user.len, chat->prompt_bytes_max);
    lc_buf_init(&url, arena->heap, LOCI_MEM_LLM_BUFFERS, URL_BYTES_MAX);
    lc_buf_init(&body, arena->heap, LOCI_MEM_LLM_BUFFERS, BODY_BYTES_MAX);
    lc_buf_init(&reply, arena->heap, LOCI_MEM_LLM_BUFFERS, LC_CHAT_REPLY_BYTES_MAX);
    status = join_url(provider, "/chat/completions", &url, err);
    if (status == LOCI_OK) {
        write_chat(provider, chat, &body);
        status = lc_buf_status(&body, err);
    }
    if (status == LOCI_OK) {
        lc_net_terms terms = terms_of(line, provider, url.ptr);
        lc_net_post post = {.body = lc_buf_str(&body), .reply = &reply};

        status = lc_net_post_all(line->client, &terms, &post, 1, err);
    }
    if (status == LOCI_OK)
        status = read_chat(chat, lc_buf_str(&reply), arena, out, err);
    lc_buf_clear(&url);
    lc_buf_clear(&body);
    lc_buf_clear(&reply);
    return status;
}
