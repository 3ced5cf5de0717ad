/* Models through loci.h: embedding here and by a provider, what becomes of failures, re-embedding
 * as a job, and that a key is seen by nobody. */
#include "lib/calls.h"
#include "lib/provider.h"
#include "lib/test.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/str.h"
#include "contract/probe_fixture.h"
#include "engine/models.h"

#define DIMENSIONS 8
#define KEY "sk-canary-9d2e71"
#define PATIENCE_US (60 * INT64_C(1000000))

/* ---- An engine and its provider -------------------------------------------------------------- */

/* A good provider that can be told to be down. */
typedef struct host {
    provider_good good;
    _Atomic int serves; /* So many requests are answered well, all others with 503. */
    _Atomic bool hangs;
    provider *p;
    const char *path; /* Of the store. */
    char seen[2048];  /* The head of the last request. */
} host;

static void answer(void *ctx, const provider_request *request, provider_reply *reply)
{
    host *h = ctx;

    memcpy(h->seen, request->head.ptr, request->head.len < 2047 ? request->head.len : 2047);
    if (atomic_load(&h->hangs)) {
        reply->hangs = true;
    } else if (atomic_fetch_sub(&h->serves, 1) <= 0) {
        reply->status = 503;
        reply->body = LC_STR("{\"error\":{\"message\":\"" KEY "\"}}");
    } else {
        provider_answer_well(&h->good, request, reply);
    }
}

static void start_host(host *h)
{
    *h = (host){.good.dimensions = DIMENSIONS, .path = probe_path()};
    atomic_store(&h->serves, 1000000);
    h->p = provider_start(answer, h);
}

static void stop_host(host *h)
{
    provider_stop(h->p);
    provider_good_clear(&h->good);
}

static const char *provider_settings(const host *h, const char *more)
{
    const char *key = test_path(test_tmpdir(), "key");

    test_write_file(key, LC_STR(KEY "\n"));
    return test_format("{\"model.embedder\":\"provider\",\"model.embed_url\":\"%s\","
                       "\"model.embed_model\":\"small\",\"model.embed_dimensions\":%d,"
                       "\"model.embed_key\":{\"file\":\"%s\"},\"model.chat_url\":\"%s/\","
                       "\"model.chat_model\":\"talker\",\"model.chat_key\":{\"env\":\"CHAT_KEY\"},"
                       "\"model.allow_private\":true%s}",
                       provider_url(h->p), DIMENSIONS, key, provider_url(h->p), more);
}

static const char *find_variable(void *ctx, const char *name)
{
    (void)ctx;
    return strcmp(name, "CHAT_KEY") == 0 ? KEY : NULL;
}

static loci_engine *open_with(const char *path, const char *settings, uint32_t flags)
{
    loci_open_options options = test_open_options(path);
    loci_engine *engine = NULL;
    loci_error err;

    options.settings = settings;
    options.flags = flags | LOCI_OPEN_SEEDED;
    options.variable = find_variable;
    CHECK_OK(loci_open(&options, &engine, &err), err);
    return engine;
}

static loci_engine *open_lexical(const char *path)
{
    return open_with(path, "{\"model.embedder\":\"lexical\"}", LOCI_OPEN_INLINE);
}

static void write_facts(loci_engine *engine, const char *user, int count)
{
    for (int i = 0; i < count; i++)
        test_call(engine, "fact.write", "{'user_id':'%s','key':'k%03d','value':%d}", user, i, i);
}

/* ---- model.embed ----------------------------------------------------------------------------- */

static double number_at(loci_str answer, int vector, int i)
{
    loci_str text = test_member(answer, test_format("vectors.%d.%d", vector, i));

    CHECK(text.len > 0);
    return strtod(test_format("%.*s", (int)text.len, text.ptr), NULL);
}

static double product(loci_str answer, int a, int b, int dimensions)
{
    double sum = 0;

    for (int i = 0; i < dimensions; i++)
        sum += number_at(answer, a, i) * number_at(answer, b, i);
    return sum;
}

TEST(models, texts_become_vectors_of_length_1)
{
    loci_engine *engine = open_lexical(probe_path());
    loci_str answer = test_call(engine, "model.embed",
                                "{'texts':['a red cat','stock prices','the red cat']}");

    CHECK_STR_EQ(test_member_text(answer, "generation"), "lexical:words:512:1");
    CHECK_STR_EQ(test_member(answer, "lexical_only"), "true");
    CHECK_EQ(test_member_int(answer, "dimensions"), 512);
    CHECK(fabs(product(answer, 0, 0, 512) - 1) < 1e-5);
    CHECK(product(answer, 0, 2, 512) > product(answer, 0, 1, 512)); /* In the order of texts. */
    CHECK_STR_EQ(test_member(answer, "vectors.0.512"), "");
    CHECK_STR_EQ(test_member(answer, "vectors.3"), "");
    test_close(engine);
}

TEST(models, what_cannot_be_embedded_is_named)
{
    loci_engine *engine = open_lexical(probe_path());
    char *text = test_bytes(65537);
    char *many = test_bytes(257 * 4 + 16);
    loci_error err;

    CHECK_STATUS(LOCI_EINVAL, test_try(engine, "model.embed", LC_STR("{\"texts\":[]}"), &err));
    CHECK_STATUS(LOCI_EINVAL,
                 test_try(engine, "model.embed", LC_STR("{\"texts\":[\"a\",\" \"]}"), &err));
    CHECK_CONTAINS(err.message, "texts[1]");
    memset(text, 'x', 65537);
    CHECK_STATUS(LOCI_EINVAL,
                 test_try(engine, "model.embed",
                          loci_str_of(test_format("{\"texts\":[\"%s\"]}", text)), &err));
    CHECK_CONTAINS(err.message, "texts[0]: expected a string of 1 to 65536 bytes");
    text[65536] = '\0';
    CHECK_OK(test_try(engine, "model.embed", loci_str_of(test_format("{\"texts\":[\"%s\"]}", text)),
                      &err),
             err);
    for (int i = 0; i < 257; i++)
        memcpy(many + 4 * i, "\"a\",", 4);
    many[257 * 4 - 1] = '\0';
    CHECK_STATUS(LOCI_EINVAL, test_try(engine, "model.embed",
                                       loci_str_of(test_format("{\"texts\":[%s]}", many)), &err));
    many[256 * 4 - 1] = '\0';
    CHECK_OK(
        test_try(engine, "model.embed", loci_str_of(test_format("{\"texts\":[%s]}", many)), &err),
        err);
    test_close(engine);
}

TEST(models, a_provider_embeds)
{
    host h;
    loci_engine *engine;
    loci_str answer, status;

    start_host(&h);
    engine = open_with(h.path, provider_settings(&h, ",\"model.embed_encoding\":\"base64\""),
                       LOCI_OPEN_INLINE);
    answer = test_call(engine, "model.embed", "{'texts':['one','two']}");
    CHECK_STR_EQ(test_member_text(answer, "model"), "small");
    CHECK_STR_EQ(test_member_text(answer, "generation"), "provider:small:8");
    CHECK(fabs(product(answer, 1, 1, DIMENSIONS) - 1) < 1e-5);
    CHECK_CONTAINS(h.seen, "POST /v1/embeddings HTTP/1.1");
    CHECK_CONTAINS(h.seen, "Authorization: Bearer " KEY);
    answer = test_call(engine, "model.embed", "{'texts':['one'],'encoding':'base64'}");
    CHECK_EQ(test_member_text(answer, "vectors.0").len, 44); /* 32 bytes. */
    status = test_call(engine, "model.status", "{}");
    CHECK_STR_EQ(test_member_text(status, "embedder"), "provider");
    CHECK_STR_EQ(test_member(status, "missing"), "null");
    CHECK_STR_EQ(test_member(status, "provider.configured"), "true");
    CHECK_STR_EQ(test_member(status, "provider.failed_at"), "null");
    CHECK(test_member_text(status, "provider.answered_at").len > 0);
    CHECK_EQ(test_member_int(status, "usage.embed_calls"), 2);
    CHECK_EQ(test_member_int(status, "usage.embed_tokens"), 9);
    test_close(engine);
    stop_host(&h);
}

TEST(models, what_is_missing_is_said)
{
    static const struct {
        const char *settings;
        const char *missing;
    } rows[] = {
        {"{\"model.embedder\":\"provider\"}", "model.embed_url"},
        {"{\"model.embed_url\":\"https://example.com/v1\"}", "model.embed_model"},
        {"{\"model.embed_url\":\"https://example.com/v1\",\"model.embed_model\":\"m\"}",
         "model.embed_dimensions"},
        {"{\"model.embed_url\":\"ftp://example.com\",\"model.embed_model\":\"m\","
         "\"model.embed_dimensions\":8}",
         "URL is not valid"},
        {"{\"model.embed_url\":\"https://example.com/v1\",\"model.embed_model\":\"m\","
         "\"model.embed_dimensions\":8,\"model.embed_key\":{\"env\":\"NO_SUCH\"}}",
         "model.embed_key"},
        {"{\"model.embed_url\":\"https://example.com/v1\",\"model.embed_model\":\"m\","
         "\"model.embed_dimensions\":8,\"model.embed_key\":{\"file\":\"/nowhere/canary\"}}",
         "model.embed_key"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        loci_engine *engine = open_with(probe_path(), rows[i].settings, LOCI_OPEN_INLINE);
        loci_str status = test_call(engine, "model.status", "{}");
        loci_error err;

        CHECK_STR_EQ(test_member(status, "embedder"), "null");
        CHECK_CONTAINS(test_member_text(status, "missing"), rows[i].missing);
        CHECK(test_try(engine, "model.embed", LC_STR("{\"texts\":[\"a\"]}"), &err) != LOCI_OK);
        CHECK_CONTAINS(err.message, rows[i].missing);
        CHECK(memmem(status.ptr, status.len, "canary", 6) == NULL);
        loci_close(engine);
    }
}

TEST(models, without_the_encoder_words_have_to_do)
{
    const char *settings = test_format("{\"data.dir\":\"%s\"}", test_tmpdir());
    loci_engine *engine = open_with(probe_path(), settings, LOCI_OPEN_INLINE);
    loci_str status = test_call(engine, "model.status", "{}");
    loci_error err;

    CHECK_STR_EQ(test_member_text(status, "embedder"), "lexical");
    CHECK_STR_EQ(test_member(status, "lexical_only"), "true");
    CHECK_CONTAINS(test_member_text(status, "missing"), "use_lite_en.loci");
    test_call(engine, "config.set", "{'name':'model.embedder','value':'builtin'}");
    CHECK_STATUS(LOCI_ENOTFOUND,
                 test_try(engine, "model.embed", LC_STR("{\"texts\":[\"a\"]}"), &err));
    test_close(engine);
}

TEST(models, a_provider_that_lies_is_found_out)
{
    host h;
    loci_engine *engine;
    loci_error err;
    loci_str status;

    start_host(&h);
    engine = open_with(h.path, provider_settings(&h, ""), LOCI_OPEN_INLINE);
    h.good.dimensions = 9;
    CHECK_STATUS(LOCI_EUNSUPPORTED,
                 test_try(engine, "model.embed", LC_STR("{\"texts\":[\"a\"]}"), &err));
    status = test_call(engine, "model.status", "{}");
    CHECK_STR_EQ(test_member_text(status, "provider.error_code"), "unsupported");
    CHECK_CONTAINS(test_member_text(status, "provider.error_message"), "9 numbers");
    CHECK_EQ(test_member_int(status, "usage.embed_failures"), 1);
    test_close(engine);
    stop_host(&h);
}

TEST(models, a_call_waits_no_longer_than_it_may)
{
    loci_call_options options = LOCI_CALL_OPTIONS_INIT;
    host h;
    loci_engine *engine;
    loci_answer *out;
    loci_error err;

    start_host(&h);
    atomic_store(&h.hangs, true);
    engine = open_with(h.path, provider_settings(&h, ""), LOCI_OPEN_INLINE);
    options.timeout_ms = 300;
    CHECK_STATUS(LOCI_EDEADLINE, loci_call(engine, "model.embed", LC_STR("{\"texts\":[\"a\"]}"),
                                           &options, &out, &err));
    test_close(engine);
    stop_host(&h);
}

/* ---- Nobody sees the key --------------------------------------------------------------------- */

static void check_no_key(const char *where, loci_str text)
{
    if (text.len > 0 && memmem(text.ptr, text.len, "canary", 6) != NULL)
        test_note_failure(__FILE__, __LINE__, "the key is in %s", where);
}

static void check_record(void *ctx, loci_log_level level, const char *event, loci_str fields)
{
    (void)ctx;
    (void)level;
    check_no_key(event, fields);
}

TEST_ON(TEST_FILES, models, the_key_is_seen_by_nobody)
{
    static const char *const operations[] = {"config.list", "model.status", "job.list",
                                             "event.list"};
    host h;
    loci_open_options options;
    loci_engine *engine = NULL;
    loci_error err;

    start_host(&h);
    options = test_open_options(h.path);
    options.settings = provider_settings(&h, ",\"log.level\":\"debug\"");
    options.variable = find_variable;
    options.log = check_record;
    CHECK_OK(loci_open(&options, &engine, &err), err);
    write_facts(engine, "default", 2);
    test_call(engine, "model.embed", "{'texts':['a']}");
    atomic_store(&h.serves, 0);
    CHECK_STATUS(LOCI_EUNAVAILABLE,
                 test_try(engine, "model.embed", LC_STR("{\"texts\":[\"a\"]}"), &err));
    check_no_key("an error", loci_str_of(err.message));
    check_no_key("an error's data", loci_str_of(err.data));
    test_call(engine, "model.reembed", "{}");
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++)
        check_no_key(operations[i], test_call(engine, operations[i], "{}"));
    test_close(engine);
    check_no_key("the store", test_store_content(h.path));
    stop_host(&h);
}

/* ---- model.reembed --------------------------------------------------------------------------- */

TEST(models, every_fact_gets_its_vector_once)
{
    const char *path = probe_path();
    loci_engine *engine = open_lexical(path);
    loci_str answer;

    write_facts(engine, "default", 70); /* More than a page. */
    write_facts(engine, "anna", 3);
    test_call(engine, "fact.write", "{'key':'k001','value':'another'}");
    test_call(engine, "fact.write", "{'key':'k002','persona_id':'p','value':2}");
    answer = test_call(engine, "model.reembed", "{}");
    CHECK_STR_EQ(test_member_text(answer, "status"), "done");
    CHECK_EQ(test_member_int(answer, "result.texts"), 71);
    CHECK_EQ(test_member_int(answer, "result.embedded"), 70); /* Two say the same. */
    answer = test_call(engine, "model.reembed", "{}");
    CHECK_EQ(test_member_int(answer, "result.texts"), 71);
    CHECK_EQ(test_member_int(answer, "result.embedded"), 0);
    CHECK_EQ(test_member_int(test_call(engine, "model.status", "{}"), "vectors"), 70);
    CHECK_EQ(test_member_int(test_call(engine, "model.status", "{'user_id':'anna'}"), "vectors"),
             0);
    answer = test_call(engine, "model.reembed", "{'scope':'store'}");
    CHECK_EQ(test_member_int(answer, "result.users"), 2);
    CHECK_EQ(test_member_int(answer, "result.embedded"), 3);
    CHECK_EQ(test_member_int(test_call(engine, "model.status", "{'user_id':'anna'}"), "vectors"),
             3);
    test_close(engine);
    CHECK_EQ(test_store_number(path, "select count(*) from vectors"), 73);
    CHECK_EQ(test_store_number(path, "select min(length(vector)) from vectors"), 516);
}

TEST(models, another_embedder_means_other_vectors)
{
    host h;
    loci_engine *engine;
    loci_str answer;

    start_host(&h);
    engine = open_lexical(h.path);
    write_facts(engine, "default", 3);
    test_call(engine, "model.reembed", "{}");
    test_close(engine);
    engine = open_with(h.path, provider_settings(&h, ""), LOCI_OPEN_INLINE);
    answer = test_call(engine, "model.status", "{}");
    CHECK_EQ(test_member_int(answer, "vectors"), 0);
    CHECK_EQ(test_member_int(answer, "vectors_stale"), 3);
    answer = test_call(engine, "model.reembed", "{}");
    CHECK_STR_EQ(test_member_text(answer, "result.generation"), "provider:small:8");
    CHECK_EQ(test_member_int(answer, "result.embedded"), 3);
    CHECK_EQ(test_member_int(answer, "result.deleted"), 3);
    answer = test_call(engine, "model.status", "{}");
    CHECK_EQ(test_member_int(answer, "vectors"), 3);
    CHECK_EQ(test_member_int(answer, "vectors_stale"), 0);
    test_close(engine);
    stop_host(&h);
}

/* The provider goes down behind the first page. Nothing that was paid for is paid for again. */
TEST(models, reembedding_goes_on_where_it_stopped)
{
    host h;
    loci_engine *engine;
    loci_str answer;

    start_host(&h);
    engine = open_with(h.path, provider_settings(&h, ""), LOCI_OPEN_INLINE);
    write_facts(engine, "default", 70);
    atomic_store(&h.serves, 1);
    answer = test_call(engine, "model.reembed", "{}");
    CHECK_STR_EQ(test_member_text(answer, "status"), "queued");
    answer = test_call(engine, "job.list", "{}");
    CHECK_EQ(test_member_int(answer, "jobs.0.progress.done"), 64);
    CHECK_STR_EQ(test_member_text(answer, "jobs.0.error.code"), "unavailable");
    /* Writes do not care. */
    test_call(engine, "fact.write", "{'key':'later','value':1}");
    atomic_store(&h.serves, 1000);
    test_store_run(h.path, "update jobs set run_after_us = 0");
    answer = test_call(engine, "model.reembed", "{}");
    CHECK_STR_EQ(test_member_text(answer, "status"), "done");
    CHECK_EQ(test_member_int(answer, "result.texts"), 71);
    CHECK_EQ(test_member_int(answer, "result.embedded"), 71);
    CHECK_EQ(h.good.texts, 71);
    CHECK_EQ(test_member_int(test_call(engine, "model.status", "{}"), "vectors"), 71);
    test_close(engine);
    stop_host(&h);
}

/* A checkpoint of another generation is none. */
TEST(models, reembedding_starts_anew_for_another_embedder)
{
    host h;
    loci_engine *engine;
    loci_str answer;

    start_host(&h);
    engine = open_with(h.path, provider_settings(&h, ""), LOCI_OPEN_INLINE);
    write_facts(engine, "default", 70);
    atomic_store(&h.serves, 1);
    test_call(engine, "model.reembed", "{}");
    test_close(engine);
    test_store_run(h.path, "update jobs set run_after_us = 0");
    engine = open_lexical(h.path);
    answer = test_call(engine, "model.reembed", "{}");
    CHECK_EQ(test_member_int(answer, "result.texts"), 70);
    CHECK_EQ(test_member_int(answer, "result.embedded"), 70);
    CHECK_EQ(test_member_int(answer, "result.deleted"), 64);
    test_close(engine);
    stop_host(&h);
}

TEST(models, reembedding_can_be_cancelled_while_a_provider_is_waited_for)
{
    int64_t deadline_us = lc_clock_monotonic_us() + PATIENCE_US;
    host h;
    loci_engine *engine;
    loci_str id, answer;

    start_host(&h);
    atomic_store(&h.hangs, true);
    engine = open_with(h.path, provider_settings(&h, ""), 0);
    write_facts(engine, "default", 3);
    id = test_member_text(test_call(engine, "model.reembed", "{'wait':false}"), "job_id");
    while (provider_requests(h.p) == 0 && lc_clock_monotonic_us() < deadline_us)
        lc_clock_sleep_us(1000);
    CHECK_EQ(provider_requests(h.p), 1);
    test_call(engine, "job.cancel", "{'id':'%.*s'}", (int)id.len, id.ptr);
    do {
        lc_clock_sleep_us(1000);
        answer = test_call(engine, "job.get", "{'id':'%.*s'}", (int)id.len, id.ptr);
    } while (!lc_str_is(test_member_text(answer, "status"), "cancelled") &&
             lc_clock_monotonic_us() < deadline_us);
    CHECK_STR_EQ(test_member_text(answer, "status"), "cancelled");
    CHECK_EQ(test_member_int(test_call(engine, "model.status", "{}"), "vectors"), 0);
    test_close(engine);
    stop_host(&h);
}

/* At a low rate a job makes way before its turn has come. If it kept its place in the rate, jobs
 * that take turns would wait longer and longer, and none would embed anything. */
TEST(models, users_take_turns_at_a_low_rate)
{
    enum { USERS = 4, FACTS = 40 };
    int64_t until_us = lc_clock_monotonic_us() + PATIENCE_US;
    const char *path = probe_path();
    loci_engine *engine = open_lexical(path);

    for (int i = 0; i < USERS; i++)
        write_facts(engine, test_format("u%d", i), FACTS);
    test_close(engine);
    engine = open_with(path,
                       "{\"model.embedder\":\"lexical\",\"model.embed_rate\":50,"
                       "\"job.workers\":1}",
                       0);
    for (int i = 0; i < USERS; i++)
        test_call(engine, "model.reembed", "{'user_id':'u%d','wait':false}", i);
    for (int i = 0; i < USERS; i++) {
        while (test_member_int(test_call(engine, "model.status", "{'user_id':'u%d'}", i),
                               "vectors") < FACTS) {
            CHECK_LT(lc_clock_monotonic_us(), until_us);
            lc_clock_sleep_us(20000);
        }
    }
    test_close(engine);
}

TEST(models, everybodys_vectors_are_for_administrators)
{
    loci_principal principal = {.size = sizeof principal, .tenant = "other"};
    loci_call_options options = LOCI_CALL_OPTIONS_INIT;
    const char *path = probe_path();
    loci_engine *engine = open_lexical(path);
    loci_answer *out;
    loci_error err;

    write_facts(engine, "default", 2);
    test_call(engine, "model.reembed", "{}");
    options.principal = &principal;
    CHECK_STATUS(LOCI_EFORBIDDEN, loci_call(engine, "model.reembed",
                                            LC_STR("{\"scope\":\"store\"}"), &options, &out, &err));
    /* The same user of another tenant has nothing. */
    CHECK_OK(loci_call(engine, "model.status", LC_STR("{}"), &options, &out, &err), err);
    CHECK_EQ(test_member_int(loci_answer_json(out), "vectors"), 0);
    CHECK_EQ(test_member_int(loci_answer_json(out), "vectors_stale"), 0);
    loci_answer_free(out);
    test_close(engine);
}

/* ---- Chats ----------------------------------------------------------------------------------- */

static loci_status ask(loci_engine *engine, const char *tenant, loci_error *err)
{
    lc_arena arena;
    lc_chat chat = {.system = LC_STR("s"),
                    .user = LC_STR("u"),
                    .name = "n",
                    .schema = LC_STR("{\"type\":\"object\"}")};
    lc_model_use use = {
        .tenant_id = loci_str_of(tenant), .arena = &arena, .deadline_us = INT64_MAX};
    lc_chat_reply reply;
    loci_status status;

    lc_arena_init(&arena, &lc_engine_env(engine)->heap, LOCI_MEM_REQUESTS);
    status = lc_models_chat(lc_engine_models(engine), &use, &chat, &reply, err);
    if (status == LOCI_OK)
        CHECK_STR_EQ(reply.text, "{\"echo\":\"u\"}");
    lc_arena_clear(&arena);
    return status;
}

TEST_ON(TEST_FILES, models, chats_are_counted_by_tenant)
{
    host h;
    loci_engine *engine;
    lc_model_meter mine, others, all;
    loci_error err;
    loci_str status;

    start_host(&h);
    engine = open_with(h.path, provider_settings(&h, ""), LOCI_OPEN_INLINE);
    CHECK_OK(ask(engine, "default", &err), err);
    CHECK_OK(ask(engine, "default", &err), err);
    CHECK_OK(ask(engine, "b", &err), err);
    CHECK_CONTAINS(h.seen, "Authorization: Bearer " KEY);
    atomic_store(&h.serves, 0);
    CHECK_STATUS(LOCI_EUNAVAILABLE, ask(engine, "b", &err));
    mine = lc_models_meter(lc_engine_models(engine), LC_STR("default"));
    others = lc_models_meter(lc_engine_models(engine), LC_STR("b"));
    all = lc_models_meter(lc_engine_models(engine), LC_STR_NONE);
    CHECK_EQ(mine.chat_calls, 2);
    CHECK_EQ(mine.chat_tokens_in, 22);
    CHECK_EQ(mine.chat_tokens_out, 14);
    CHECK_EQ(mine.chat_failures, 0);
    CHECK_EQ(others.chat_calls, 2);
    CHECK_EQ(others.chat_failures, 1);
    CHECK_EQ(all.chat_calls, 4);
    CHECK_EQ(all.chat_tokens_in, 33);
    status = test_call(engine, "model.status", "{}");
    CHECK_EQ(test_member_int(status, "usage.chat_calls"), 2);
    CHECK_STR_EQ(test_member_text(status, "chat.error_code"), "unavailable");
    test_close(engine);
    stop_host(&h);
}

TEST(models, without_a_chat_model_nothing_is_asked)
{
    loci_engine *engine = open_lexical(probe_path());
    loci_error err;

    CHECK_STATUS(LOCI_EUNSUPPORTED, ask(engine, "default", &err));
    CHECK_CONTAINS(err.message, "model.chat_url");
    test_close(engine);
}
