/* Requests to a provider and its answers, over a socket. */
#include "lib/provider.h"
#include "lib/test.h"

#include <math.h>

#include "base/str.h"
#include "model/embedder.h"

#define DIMENSIONS 8

typedef struct talk {
    lc_env env;
    lc_arena arena;
    lc_provider_line line;
    lc_embedder embedder;
    loci_error err;
} talk;

static void open_talk(talk *t, const provider *p)
{
    *t = (talk){.line.deadline_us = INT64_MAX,
                .embedder = {.kind = LC_EMBEDDER_PROVIDER,
                             .model = "text-small",
                             .dimensions = DIMENSIONS,
                             .provider = {.url = provider_url(p),
                                          .model = "text-small",
                                          .key = LC_STR("sk-canary"),
                                          .allow_private = true,
                                          .timeout_ms = 20000}}};
    lc_heap_init(&t->env.heap, test_heap());
    lc_random_init(&t->env.random, 3);
    lc_arena_init(&t->arena, &t->env.heap, LOCI_MEM_REQUESTS);
    CHECK_OK(lc_net_client_open(&t->env, &t->line.client, &t->err), t->err);
}

static void close_talk(talk *t)
{
    lc_net_client_close(t->line.client);
    lc_arena_clear(&t->arena);
}

static void check_vector(loci_str text, const float *vector)
{
    float expected[DIMENSIONS];
    double length = 0;

    provider_numbers(text, DIMENSIONS, expected);
    for (int i = 0; i < DIMENSIONS; i++)
        length += (double)expected[i] * (double)expected[i];
    length = sqrt(length);
    for (int i = 0; i < DIMENSIONS; i++)
        CHECK(fabs((double)vector[i] - (double)expected[i] / length) < 1e-6);
}

static void embed_many(bool asks_base64)
{
    provider_good good = {.dimensions = DIMENSIONS};
    provider *p = provider_start(provider_answer_well, &good);
    size_t count = 2 * LC_EMBED_TEXTS_PER_REQUEST + 5;
    loci_str *texts = (loci_str *)(void *)test_bytes(count * sizeof *texts);
    lc_embed_batch batch = {.texts = texts, .count = count, .dimensions = DIMENSIONS};
    talk t;

    open_talk(&t, p);
    t.embedder.provider.asks_base64 = asks_base64;
    for (size_t i = 0; i < count; i++)
        texts[i] = loci_str_of(test_format("text \"%zu\" \xC3\xA6", i * 7919));
    batch.out = lc_arena_zalloc_array(&t.arena, count * DIMENSIONS, sizeof(float));
    CHECK_OK(lc_embedder_embed(&t.embedder, &t.line, &batch, &t.arena, &t.err), t.err);
    for (size_t i = 0; i < count; i++)
        check_vector(texts[i], batch.out + i * DIMENSIONS);
    CHECK_EQ(batch.requests, 3);
    CHECK_EQ(batch.tokens, 3 * (int64_t)count);
    CHECK_EQ(provider_requests(p), 3);
    close_talk(&t);
    provider_stop(p);
    provider_good_clear(&good);
}

TEST(provider, texts_are_sent_in_batches)
{
    embed_many(false);
}

TEST(provider, base64_gives_the_same)
{
    embed_many(true);
}

TEST(provider, batches_are_bounded_in_bytes)
{
    provider_good good = {.dimensions = DIMENSIONS};
    provider *p = provider_start(provider_answer_well, &good);
    char *half = test_bytes(LC_EMBED_BYTES_PER_REQUEST / 2 + 1);
    loci_str texts[5];
    float out[5 * DIMENSIONS];
    lc_embed_batch batch = {.texts = texts, .count = 5, .dimensions = DIMENSIONS, .out = out};
    talk t;

    memset(half, 'x', LC_EMBED_BYTES_PER_REQUEST / 2 + 1);
    for (int i = 0; i < 5; i++)
        texts[i] = (loci_str){half, LC_EMBED_BYTES_PER_REQUEST / 2 + (i == 2)};
    open_talk(&t, p);
    CHECK_OK(lc_embedder_embed(&t.embedder, &t.line, &batch, &t.arena, &t.err), t.err);
    CHECK_EQ(batch.requests, 3); /* Two, one that is a byte too long for company, two. */
    close_talk(&t);
    provider_stop(p);
    provider_good_clear(&good);
}

TEST(provider, an_empty_text_is_not_sent)
{
    provider_good good = {.dimensions = DIMENSIONS};
    provider *p = provider_start(provider_answer_well, &good);
    loci_str texts[] = {LC_STR("a"), LC_STR(" \n")};
    float out[2 * DIMENSIONS];
    lc_embed_batch batch = {.texts = texts, .count = 2, .dimensions = DIMENSIONS, .out = out};
    talk t;

    open_talk(&t, p);
    CHECK_STATUS(LOCI_EINVAL, lc_embedder_embed(&t.embedder, &t.line, &batch, &t.arena, &t.err));
    CHECK_CONTAINS(t.err.message, "texts[1]");
    CHECK_EQ(provider_requests(p), 0);
    close_talk(&t);
    provider_stop(p);
    provider_good_clear(&good);
}

TEST(provider, generations_are_not_mixed)
{
    lc_embedder a = {.kind = LC_EMBEDDER_PROVIDER, .model = "m", .dimensions = 8};
    lc_embedder b = {.kind = LC_EMBEDDER_PROVIDER, .model = "m", .dimensions = 9};
    loci_error err;

    lc_embedder_set_generation(&a, "");
    lc_embedder_set_generation(&b, "ab12");
    CHECK_STR_EQ(a.generation, "provider:m:8");
    CHECK_STR_EQ(b.generation, "provider:m:9:ab12");
    CHECK_OK(lc_generation_check(LC_STR("provider:m:8"), loci_str_of(a.generation), &err), err);
    CHECK_STATUS(LOCI_ECONFLICT,
                 lc_generation_check(loci_str_of(a.generation), loci_str_of(b.generation), &err));
    CHECK_CONTAINS(err.message, "model.reembed");
}

/* ---- Chat ------------------------------------------------------------------------------------ */

static lc_chat question(void)
{
    return (lc_chat){.system = LC_STR("Be brief."),
                     .user = LC_STR("Who \"is\" it?"),
                     .name = "answer",
                     .schema = LC_STR("{\"type\":\"object\"}"),
                     .tokens_max = 100,
                     .prompt_bytes_max = 1000};
}

typedef struct seen {
    provider_good good;
    char body[2048];
} seen;

static void remember(void *ctx, const provider_request *request, provider_reply *reply)
{
    seen *s = ctx;

    memcpy(s->body, request->body.ptr, request->body.len < 2047 ? request->body.len : 2047);
    provider_answer_well(&s->good, request, reply);
}

TEST(provider, a_chat_asks_for_json_of_a_shape)
{
    seen s = {.good.dimensions = DIMENSIONS};
    provider *p = provider_start(remember, &s);
    lc_chat chat = question();
    lc_chat_reply reply;
    talk t;

    open_talk(&t, p);
    CHECK_OK(lc_provider_chat(&t.line, &t.embedder.provider, &chat, &t.arena, &reply, &t.err),
             t.err);
    CHECK_STR_EQ(reply.text, "{\"echo\":\"Who \\\"is\\\" it?\"}");
    CHECK_EQ(reply.tokens_in, 11);
    CHECK_STR_EQ(s.body, "{\"model\":\"text-small\",\"stream\":false,\"max_completion_tokens\":100,"
                         "\"messages\":[{\"role\":\"system\",\"content\":\"Be brief.\"},"
                         "{\"role\":\"user\",\"content\":\"Who \\\"is\\\" it?\"}],"
                         "\"response_format\":{\"type\":\"json_schema\",\"json_schema\":{\"name\":"
                         "\"answer\",\"strict\":true,\"schema\":{\"type\":\"object\"}}}}");
    close_talk(&t);
    provider_stop(p);
    provider_good_clear(&s.good);
}

TEST(provider, a_chat_has_limits)
{
    provider_good good = {.dimensions = DIMENSIONS};
    provider *p = provider_start(provider_answer_well, &good);
    lc_chat chat = question();
    size_t prompt_bytes = chat.system.len + chat.user.len;
    lc_chat_reply reply;
    talk t;

    open_talk(&t, p);
    chat.prompt_bytes_max = prompt_bytes - 1;
    CHECK_STATUS(LOCI_ELIMIT,
                 lc_provider_chat(&t.line, &t.embedder.provider, &chat, &t.arena, &reply, &t.err));
    CHECK_EQ(provider_requests(p), 0);
    chat.prompt_bytes_max = prompt_bytes;
    chat.tokens_max = 6; /* It says that it used 7: it did not heed the limit. */
    CHECK_STATUS(LOCI_ELIMIT,
                 lc_provider_chat(&t.line, &t.embedder.provider, &chat, &t.arena, &reply, &t.err));
    CHECK_EQ(reply.tokens_out, 7);
    chat.tokens_max = 7;
    CHECK_OK(lc_provider_chat(&t.line, &t.embedder.provider, &chat, &t.arena, &reply, &t.err),
             t.err);
    close_talk(&t);
    provider_stop(p);
    provider_good_clear(&good);
}

/* ---- Memory ---------------------------------------------------------------------------------- */

static loci_status use_once(void *ctx)
{
    loci_str texts[] = {LC_STR("one"), LC_STR("two")};
    float out[2 * DIMENSIONS];
    lc_embed_batch batch = {.texts = texts, .count = 2, .dimensions = DIMENSIONS, .out = out};
    lc_chat chat = question();
    lc_chat_reply reply;
    talk t = {.line.deadline_us = INT64_MAX};
    lc_provider to = {
        .url = provider_url(ctx), .model = "m", .allow_private = true, .timeout_ms = 20000};
    loci_status status;

    lc_heap_init(&t.env.heap, test_heap());
    lc_arena_init(&t.arena, &t.env.heap, LOCI_MEM_REQUESTS);
    status = lc_net_client_open(&t.env, &t.line.client, &t.err);
    if (status == LOCI_OK)
        status = lc_provider_embed(&t.line, &to, &batch, &t.arena, &t.err);
    if (status == LOCI_OK)
        status = lc_provider_chat(&t.line, &to, &chat, &t.arena, &reply, &t.err);
    close_talk(&t);
    return status;
}

TEST(provider, memory_running_out)
{
    provider_good good = {.dimensions = DIMENSIONS};
    provider *p = provider_start(provider_answer_well, &good);

    test_oom_sweep(use_once, p);
    provider_stop(p);
    provider_good_clear(&good);
}
