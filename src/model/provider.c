/* provider.c - making the requests; what is answered is read by embed_reply.c and chat_reply.c.
 *
 * All requests of a batch are posted in one go; net/client.c sends a few at a time. Bodies and
 * replies of the whole batch are in memory together, which its caller bounds.
 */
#include "model/provider.h"

#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "model/embed_reply.h"

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

/* The provider's URL and a path; slashes at the end of the first do not count. */
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

/* The texts of one request: a part of the batch. */
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

/* How many texts from `first` on go into one request: at least one, however long. */
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
            continue; /* What is left has nothing to be freed. */
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

/* The reply is copied: what was read of it points into it. */
static loci_status read_chat(const lc_chat *chat, loci_str reply, lc_arena *arena,
                             lc_chat_reply *out, loci_error *err)
{
    loci_str copy = lc_arena_copy(arena, reply);
    loci_status status = copy.ptr != NULL ? lc_chat_reply_read(arena, copy, out, err)
                                          : lc_fail_memory(err);

    /* A provider that does not know the limit is found out by its own count. */
    if (status == LOCI_OK && out->tokens_out > chat->tokens_max)
        status = lc_fail(err, LOCI_ELIMIT, "the model's answer has %lld tokens; %lld are allowed",
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
        return lc_fail(err, LOCI_ELIMIT,
                       "the prompt has %zu bytes; at most %zu are sent to a model",
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
