/* models.c - Invariant: the encoder, the idle clients, the meters and the outcomes are used under
 * the lock only; the only slow work under it is opening the encoder, once. */
#include "engine/models.h"

#include <pthread.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/data_file.h"
#include "base/error.h"
#include "base/map.h"
#include "base/str.h"
#include "engine/internal.h"
#include "model/embedder.h"
#include "model/encoder.h"

#define CLIENTS_IDLE_MAX 8
#define TEXT_BYTES_MAX 8192
#define DIGEST_BYTES 8 /* Of the encoder's data, as part of the generation. */

/* The choices of model.embedder, in order. */
enum { CHOICE_AUTO, CHOICE_BUILTIN, CHOICE_LEXICAL, CHOICE_PROVIDER };

typedef struct meter {
    lc_model_meter counts;
    char tenant_id[LC_ID_BYTES_MAX];
    size_t tenant_bytes;
} meter;

/* The last outcomes of a provider. Domain times; 0 = never. */
typedef struct outcome {
    int64_t ok_at;
    int64_t failed_at;
    loci_error error;
} outcome;

const lc_setting lc_setting_model_allow_private = {
    .name = "model.allow_private",
    .kind = LC_SETTING_BOOL,
    .default_text = "false",
    .help = "Allow providers on this machine or in a private network",
    .is_live = true,
};

const lc_setting lc_setting_model_chat_key = {
    .name = "model.chat_key",
    .kind = LC_SETTING_TEXT,
    .default_text = "null",
    .help = "API key for the chat provider",
    .is_live = true,
    .is_secret = true,
};

const lc_setting lc_setting_model_chat_model = {
    .name = "model.chat_model",
    .kind = LC_SETTING_TEXT,
    .default_text = "\"\"",
    .max = LC_MODEL_NAME_BYTES_MAX,
    .help = "Name of the chat provider's model",
    .is_live = true,
};

const lc_setting lc_setting_model_chat_prompt_bytes_max = {
    .name = "model.chat_prompt_bytes_max",
    .kind = LC_SETTING_INT,
    .default_text = "262144",
    .min = 1024,
    .max = 4194304,
    .help = "Maximum size of one prompt, in bytes",
    .is_live = true,
};

const lc_setting lc_setting_model_chat_tokens_max = {
    .name = "model.chat_tokens_max",
    .kind = LC_SETTING_INT,
    .default_text = "2048",
    .min = 16,
    .max = 131072,
    .help = "Maximum number of tokens in one chat answer",
    .is_live = true,
};

const lc_setting lc_setting_model_chat_url = {
    .name = "model.chat_url",
    .kind = LC_SETTING_TEXT,
    .default_text = "\"\"",
    .max = 2000,
    .help = "Base URL of the chat provider, to which /chat/completions is added, such as "
            "https://api.example.com/v1; empty: none",
    .is_live = true,
};

const lc_setting lc_setting_model_embed_dimensions = {
    .name = "model.embed_dimensions",
    .kind = LC_SETTING_INT,
    .default_text = "0",
    .min = 0,
    .max = LC_EMBED_DIMENSIONS_MAX,
    .help = "Number of dimensions of the vectors of the provider's model",
    .is_live = true,
};

const lc_setting lc_setting_model_embed_encoding = {
    .name = "model.embed_encoding",
    .kind = LC_SETTING_CHOICE,
    .default_text = "\"float\"",
    .choices = "float|base64",
    .help = "Encoding of vectors in answers of the provider; base64 is shorter, but not every"
            " provider supports it",
    .is_live = true,
};

const lc_setting lc_setting_model_embed_key = {
    .name = "model.embed_key",
    .kind = LC_SETTING_TEXT,
    .default_text = "null",
    .help = "API key for the embedding provider",
    .is_live = true,
    .is_secret = true,
};

const lc_setting lc_setting_model_embed_model = {
    .name = "model.embed_model",
    .kind = LC_SETTING_TEXT,
    .default_text = "\"\"",
    .max = LC_MODEL_NAME_BYTES_MAX,
    .help = "Name of the embedding provider's model",
    .is_live = true,
};

const lc_setting lc_setting_model_embed_rate = {
    .name = "model.embed_rate",
    .kind = LC_SETTING_INT,
    .default_text = "1000",
    .min = 0,
    .max = 1000000,
    .help = "Maximum number of texts per second that the jobs of one process embed; 0 = no limit;"
            " lower it if embedding takes too much of the processor from calls",
    .is_live = true,
};

const lc_setting lc_setting_model_embed_url = {
    .name = "model.embed_url",
    .kind = LC_SETTING_TEXT,
    .default_text = "\"\"",
    .max = 2000,
    .help = "Base URL of the embedding provider, to which /embeddings is added, such as "
            "https://api.example.com/v1; empty: none",
    .is_live = true,
};

const lc_setting lc_setting_model_embedder = {
    .name = "model.embedder",
    .kind = LC_SETTING_CHOICE,
    .default_text = "\"auto\"",
    .choices = "auto|builtin|lexical|provider",
    .help = "Embedder to use; auto: the provider if model.embed_url is set, else the built-in"
            " encoder if its data is installed, else words only",
    .is_live = true,
};

const lc_setting lc_setting_model_timeout_ms = {
    .name = "model.timeout_ms",
    .kind = LC_SETTING_INT,
    .default_text = "30000",
    .min = 100,
    .max = 600000,
    .help = "Timeout of one request to a provider, in milliseconds",
    .is_live = true,
};

struct lc_models {
    loci_engine *engine;
    lc_env *env;
    lc_settings *settings;
    pthread_mutex_t lock;
    lc_encoder *encoder; /* NULL until its first use; closed with the engine. */
    char encoder_digest[2 * DIGEST_BYTES + 1];
    lc_net_client *idle[CLIENTS_IDLE_MAX];
    size_t idle_count;
    lc_map meters;
    lc_model_meter total;
    outcome embed;
    outcome chat;
};

loci_status lc_models_new(loci_engine *engine, lc_models **out, loci_error *err)
{
    lc_heap *heap = &engine->env.heap;
    lc_models *models = lc_heap_zalloc(heap, sizeof *models, LOCI_MEM_ENGINE);

    if (models == NULL)
        return lc_fail_memory(err);
    models->engine = engine;
    models->env = &engine->env;
    models->settings = engine->settings;
    (void)pthread_mutex_init(&models->lock, NULL); /* Cannot fail on Linux. */
    lc_map_init(&models->meters, heap, LOCI_MEM_ENGINE);
    *out = models;
    return LOCI_OK;
}

void lc_models_free(lc_models *models)
{
    lc_heap *heap;
    size_t place = 0;

    if (models == NULL)
        return;
    heap = &models->env->heap;
    for (meter *m; (m = lc_map_each(&models->meters, &place)) != NULL;)
        lc_heap_free(heap, m, sizeof *m, LOCI_MEM_ENGINE);
    lc_map_clear(&models->meters);
    for (size_t i = 0; i < models->idle_count; i++)
        lc_net_client_close(models->idle[i]);
    lc_encoder_close(models->encoder);
    (void)pthread_mutex_destroy(&models->lock);
    lc_heap_free(heap, models, sizeof *models, LOCI_MEM_ENGINE);
}

lc_models *lc_engine_models(loci_engine *engine)
{
    return engine->models;
}

/* ---- Which embedder -------------------------------------------------------------------------- */

/* The text of a setting, or of the secret it refers to, as a C string in `arena`. */
static loci_status read_text(lc_models *models, lc_arena *arena, const lc_setting *setting,
                             loci_str *out, loci_error *err)
{
    loci_status status;
    lc_buf text;

    lc_buf_init(&text, arena->heap, LOCI_MEM_REQUESTS, TEXT_BYTES_MAX);
    status = lc_settings_text(models->settings, setting, LC_STR_NONE, &text, err);
    if (status == LOCI_OK) {
        *out = lc_arena_copy(arena, lc_buf_str(&text));
        if (out->ptr == NULL)
            status = lc_fail_memory(err);
    }
    if (text.ptr != NULL)
        explicit_bzero(text.ptr, text.capacity_bytes); /* It may have been a key. */
    lc_buf_clear(&text);
    return status;
}

/* The settings of a provider. */
typedef struct provider_settings {
    const lc_setting *url;
    const lc_setting *model;
    const lc_setting *key;
} provider_settings;

static const provider_settings embed_settings = {
    &lc_setting_model_embed_url, &lc_setting_model_embed_model, &lc_setting_model_embed_key};
static const provider_settings chat_settings = {
    &lc_setting_model_chat_url, &lc_setting_model_chat_model, &lc_setting_model_chat_key};

static loci_status fail_not_set(const lc_setting *setting, loci_error *err)
{
    return lc_fail(err, LOCI_EUNSUPPORTED, "no provider is configured: the setting %s is empty",
                   setting->name);
}

/* Only administrators may know where the key is stored, and every caller sees this message. */
static loci_status read_key(lc_models *models, lc_arena *arena, const lc_setting *setting,
                            loci_str *out, loci_error *err)
{
    loci_status status = read_text(models, arena, setting, out, NULL);

    if (status == LOCI_OK)
        return status;
    if (status == LOCI_ERESOURCE)
        return lc_fail_memory(err);
    return lc_fail(err, status, "the secret that the setting %s refers to cannot be read",
                   setting->name);
}

static loci_status read_provider(lc_models *models, lc_arena *arena, const provider_settings *ids,
                                 lc_provider *out, loci_error *err)
{
    lc_settings *settings = models->settings;
    loci_str url, model, key = LC_STR_NONE;
    loci_status status = read_text(models, arena, ids->url, &url, err);

    if (status == LOCI_OK)
        status = read_text(models, arena, ids->model, &model, err);
    /* A local provider may need no key; but a key that is configured must exist. */
    if (status == LOCI_OK && lc_settings_is_changed(settings, ids->key, LC_STR_NONE))
        status = read_key(models, arena, ids->key, &key, err);
    if (status != LOCI_OK)
        return status;
    if (url.len == 0)
        return fail_not_set(ids->url, err);
    if (model.len == 0)
        return fail_not_set(ids->model, err);
    *out = (lc_provider){
        .url = url.ptr,
        .model = model.ptr,
        .key = key,
        .allow_private = lc_settings_bool(settings, &lc_setting_model_allow_private, LC_STR_NONE),
        .timeout_ms = lc_settings_i64(settings, &lc_setting_model_timeout_ms, LC_STR_NONE),
    };
    return lc_net_check_url(out->url, err);
}

static loci_status use_provider(lc_models *models, lc_arena *arena, lc_embedder *out,
                                loci_error *err)
{
    lc_settings *settings = models->settings;
    loci_status status = read_provider(models, arena, &embed_settings, &out->provider, err);

    if (status != LOCI_OK)
        return status;
    out->kind = LC_EMBEDDER_PROVIDER;
    out->model = out->provider.model;
    out->dimensions = (size_t)lc_settings_i64(settings, &lc_setting_model_embed_dimensions,
                                              LC_STR_NONE);
    out->provider.asks_base64 = lc_settings_choice(settings, &lc_setting_model_embed_encoding,
                                                   LC_STR_NONE) == 1;
    if (out->dimensions == 0)
        return lc_fail(err, LOCI_EUNSUPPORTED,
                       "set model.embed_dimensions to the length of the vectors of %s", out->model);
    lc_embedder_set_generation(out, "");
    return LOCI_OK;
}

static void use_lexical(lc_embedder *out)
{
    *out = (lc_embedder){
        .kind = LC_EMBEDDER_LEXICAL, .model = "words", .dimensions = LC_LEXICAL_DIMENSIONS};
    lc_embedder_set_generation(out, "1"); /* Version of the hashing. */
}

/* Searches the file each time: it may have been installed meanwhile. */
static loci_status open_encoder(lc_models *models, lc_arena *arena, loci_error *err)
{
    char path[LC_DATA_PATH_BYTES];
    lc_encoder *encoder = NULL;
    loci_str dir;
    loci_status status = read_text(models, arena, &lc_setting_data_dir, &dir, err);

    if (status == LOCI_OK)
        status = lc_data_file_find(dir, LC_ENCODER_FILE, path, err);
    if (status == LOCI_OK)
        status = lc_encoder_open(models->env, path, &encoder, err);
    if (status == LOCI_OK)
        status = lc_data_file_verify(lc_encoder_file(encoder), err);
    if (status != LOCI_OK) {
        lc_encoder_close(encoder);
        return status;
    }
    for (size_t i = 0; i < DIGEST_BYTES; i++)
        (void)snprintf(models->encoder_digest + 2 * i, 3, "%02x",
                       lc_encoder_file(encoder)->header->digest[i]);
    models->encoder = encoder;
    return LOCI_OK;
}

static loci_status use_builtin(lc_models *models, lc_arena *arena, lc_embedder *out,
                               loci_error *err)
{
    loci_status status = LOCI_OK;

    (void)pthread_mutex_lock(&models->lock);
    if (models->encoder == NULL)
        status = open_encoder(models, arena, err);
    if (status == LOCI_OK) {
        *out = (lc_embedder){.kind = LC_EMBEDDER_BUILTIN,
                             .model = "use-lite-en",
                             .dimensions = LC_ENCODER_DIMENSIONS,
                             .encoder = models->encoder};
        lc_embedder_set_generation(out, models->encoder_digest);
    }
    (void)pthread_mutex_unlock(&models->lock);
    return status;
}

static loci_status use_best(lc_models *models, lc_arena *arena, lc_embedder *out, loci_error *err)
{
    loci_str url;
    loci_status status = read_text(models, arena, &lc_setting_model_embed_url, &url, err);

    if (status != LOCI_OK)
        return status;
    if (url.len > 0)
        return use_provider(models, arena, out, err);
    status = use_builtin(models, arena, out, err);
    if (status == LOCI_ENOTFOUND || status == LOCI_ECORRUPT) { /* model.status reports it. */
        use_lexical(out);
        status = LOCI_OK;
    }
    return status;
}

loci_status lc_models_find_embedder(lc_models *models, lc_arena *arena, lc_embedder *out,
                                    loci_error *err)
{
    *out = (lc_embedder){0};
    switch (lc_settings_choice(models->settings, &lc_setting_model_embedder, LC_STR_NONE)) {
    case CHOICE_BUILTIN:
        return use_builtin(models, arena, out, err);
    case CHOICE_LEXICAL:
        use_lexical(out);
        return LOCI_OK;
    case CHOICE_PROVIDER:
        return use_provider(models, arena, out, err);
    default:
        return use_best(models, arena, out, err);
    }
}

loci_status lc_models_explain_stale(lc_models *models, loci_str stored, lc_arena *arena,
                                    loci_str *out, loci_error *err)
{
    lc_embedder embedder, builtin;
    loci_error why = {.status = LOCI_OK}, missing = {.status = LOCI_OK};
    loci_status status = lc_models_find_embedder(models, arena, &embedder, &why);
    lc_buf text;

    lc_buf_init(&text, arena->heap, LOCI_MEM_REQUESTS, TEXT_BYTES_MAX);
    lc_buf_append_format(&text, "vectors made by %.*s are not used: ", LC_STR_ARG(stored));
    if (status != LOCI_OK) {
        lc_buf_append_format(&text, "the configured embedder is unavailable: %s", why.message);
    } else {
        if (embedder.kind == LC_EMBEDDER_LEXICAL)
            status = use_builtin(models, arena, &builtin, &missing);
        lc_buf_append_format(&text, "the embedder in use is %s; %s; or run `loci model reembed`",
                             embedder.generation,
                             status != LOCI_OK ? missing.message
                                               : "choose the other one again (model.embedder)");
    }
    status = lc_buf_status(&text, err);
    if (status == LOCI_OK) {
        *out = lc_arena_copy(arena, lc_buf_str(&text));
        status = out->ptr != NULL ? LOCI_OK : lc_fail_memory(err);
    }
    lc_buf_clear(&text);
    return status;
}

/* ---- Counting -------------------------------------------------------------------------------- */

/* The lock is held. NULL when there are too many tenants, or out of memory: then only the total is
 * updated. */
static meter *meter_of(lc_models *models, loci_str tenant_id)
{
    meter *m = lc_map_find(&models->meters, tenant_id);

    if (m != NULL || models->meters.entry_count >= LC_MODEL_METERS_MAX ||
        tenant_id.len > sizeof m->tenant_id)
        return m;
    m = lc_heap_zalloc(&models->env->heap, sizeof *m, LOCI_MEM_ENGINE);
    if (m == NULL)
        return NULL;
    memcpy(m->tenant_id, tenant_id.ptr, tenant_id.len);
    m->tenant_bytes = tenant_id.len;
    if (!lc_map_put(&models->meters, (loci_str){m->tenant_id, m->tenant_bytes}, m)) {
        lc_heap_free(&models->env->heap, m, sizeof *m, LOCI_MEM_ENGINE);
        return NULL;
    }
    return m;
}

static void add(lc_model_meter *to, const lc_model_meter *more)
{
    to->chat_calls += more->chat_calls;
    to->chat_failures += more->chat_failures;
    to->chat_tokens_in += more->chat_tokens_in;
    to->chat_tokens_out += more->chat_tokens_out;
    to->embed_calls += more->embed_calls;
    to->embed_failures += more->embed_failures;
    to->embed_tokens += more->embed_tokens;
}

static void note(lc_models *models, loci_str tenant_id, const lc_model_meter *used, outcome *of,
                 const loci_error *failure)
{
    int64_t now_us = lc_env_now_us(models->env);
    meter *m;

    (void)pthread_mutex_lock(&models->lock);
    m = meter_of(models, tenant_id);
    if (m != NULL)
        add(&m->counts, used);
    add(&models->total, used);
    if (failure == NULL) {
        of->ok_at = now_us;
    } else {
        of->failed_at = now_us;
        of->error = *failure;
    }
    (void)pthread_mutex_unlock(&models->lock);
    if (failure != NULL)
        lc_log_write(&models->env->log, LOCI_LOG_WARN, "model.failed",
                     LC_LOG_TEXT("what", of == &models->chat ? "chat" : "embed"),
                     LC_LOG_TEXT("code", loci_status_name(failure->status)),
                     LC_LOG_TEXT("why", failure->message));
}

lc_model_meter lc_models_meter(lc_models *models, loci_str tenant_id)
{
    lc_model_meter out = {0};
    const meter *m;

    (void)pthread_mutex_lock(&models->lock);
    m = tenant_id.ptr != NULL ? lc_map_find(&models->meters, tenant_id) : NULL;
    if (m != NULL)
        out = m->counts;
    else if (tenant_id.ptr == NULL)
        out = models->total;
    (void)pthread_mutex_unlock(&models->lock);
    return out;
}

/* ---- Using ----------------------------------------------------------------------------------- */

static loci_status take_client(lc_models *models, lc_net_client **out, loci_error *err)
{
    *out = NULL;
    (void)pthread_mutex_lock(&models->lock);
    if (models->idle_count > 0)
        *out = models->idle[--models->idle_count];
    (void)pthread_mutex_unlock(&models->lock);
    return *out != NULL ? LOCI_OK : lc_net_client_open(models->env, out, err);
}

static void give_back(lc_models *models, lc_net_client *client)
{
    (void)pthread_mutex_lock(&models->lock);
    if (models->idle_count < CLIENTS_IDLE_MAX) {
        models->idle[models->idle_count++] = client;
        client = NULL;
    }
    (void)pthread_mutex_unlock(&models->lock);
    lc_net_client_close(client);
}

static lc_provider_line line_of(const lc_model_use *use, lc_net_client *client)
{
    return (lc_provider_line){.client = client,
                              .deadline_us = use->deadline_us,
                              .pause = use->pause,
                              .pause_ctx = use->pause_ctx};
}

/* A call that was cancelled or ran out of memory says nothing about the provider. */
static bool is_of_provider(loci_status status)
{
    return status == LOCI_EUNAVAILABLE || status == LOCI_EUNSUPPORTED || status == LOCI_ELIMIT ||
           status == LOCI_EFORBIDDEN || status == LOCI_EDEADLINE;
}

loci_status lc_models_embed(lc_models *models, const lc_model_use *use, const lc_embedder *embedder,
                            lc_embed_batch *batch, loci_error *err)
{
    bool is_remote = embedder->kind == LC_EMBEDDER_PROVIDER;
    lc_net_client *client = NULL;
    lc_provider_line line;
    loci_error failure = {.status = LOCI_OK};
    loci_status status = is_remote ? take_client(models, &client, err) : LOCI_OK;
    int64_t began_us;

    if (status != LOCI_OK)
        return status;
    line = line_of(use, client);
    began_us = lc_clock_monotonic_us();
    status = lc_embedder_embed(embedder, &line, batch, use->arena, &failure);
    if (is_remote) {
        lc_model_meter used = {.embed_calls = batch->requests,
                               .embed_failures = status != LOCI_OK,
                               .embed_tokens = batch->tokens};

        lc_histogram_add(&models->engine->timings.embed, lc_clock_monotonic_us() - began_us);
        give_back(models, client);
        if (status == LOCI_OK || is_of_provider(status))
            note(models, use->tenant_id, &used, &models->embed,
                 status != LOCI_OK ? &failure : NULL);
    }
    if (status != LOCI_OK && err != NULL)
        *err = failure;
    return status;
}

bool lc_models_has_chat(lc_models *models)
{
    return lc_settings_is_changed(models->settings, chat_settings.url, LC_STR_NONE) &&
           lc_settings_is_changed(models->settings, chat_settings.model, LC_STR_NONE);
}

static loci_status prepare_chat(lc_models *models, lc_arena *arena, lc_chat *chat, lc_provider *out,
                                loci_error *err)
{
    lc_settings *settings = models->settings;
    int64_t tokens_max = lc_settings_i64(settings, &lc_setting_model_chat_tokens_max, LC_STR_NONE);
    int64_t bytes_max = lc_settings_i64(settings, &lc_setting_model_chat_prompt_bytes_max,
                                        LC_STR_NONE);

    /* A caller may ask for less than the settings allow, never for more. */
    if (chat->tokens_max <= 0 || chat->tokens_max > tokens_max)
        chat->tokens_max = tokens_max;
    if (chat->prompt_bytes_max == 0 || chat->prompt_bytes_max > (size_t)bytes_max)
        chat->prompt_bytes_max = (size_t)bytes_max;
    return read_provider(models, arena, &chat_settings, out, err);
}

loci_status lc_models_chat(lc_models *models, const lc_model_use *use, const lc_chat *chat,
                           lc_chat_reply *out, loci_error *err)
{
    lc_chat bounded = *chat;
    lc_provider provider;
    lc_net_client *client;
    lc_provider_line line;
    lc_model_meter used;
    loci_error failure = {.status = LOCI_OK};
    loci_status status = prepare_chat(models, use->arena, &bounded, &provider, err);
    int64_t began_us;

    if (status == LOCI_OK)
        status = take_client(models, &client, err);
    if (status != LOCI_OK)
        return status;
    line = line_of(use, client);
    began_us = lc_clock_monotonic_us();
    status = lc_provider_chat(&line, &provider, &bounded, use->arena, out, &failure);
    lc_histogram_add(&models->engine->timings.chat, lc_clock_monotonic_us() - began_us);
    give_back(models, client);
    used = (lc_model_meter){.chat_calls = 1,
                            .chat_failures = status != LOCI_OK,
                            .chat_tokens_in = out->tokens_in,
                            .chat_tokens_out = out->tokens_out};
    if (status == LOCI_OK || is_of_provider(status))
        note(models, use->tenant_id, &used, &models->chat, status != LOCI_OK ? &failure : NULL);
    if (status != LOCI_OK && err != NULL)
        *err = failure;
    return status;
}

/* ---- Showing --------------------------------------------------------------------------------- */

static void write_outcome(lc_models *models, const outcome *of, lc_json_writer *out)
{
    outcome seen;

    (void)pthread_mutex_lock(&models->lock);
    seen = *of;
    (void)pthread_mutex_unlock(&models->lock);
    if (seen.ok_at != 0)
        lc_jw_member_time(out, "answered_at", seen.ok_at);
    else
        lc_jw_member_null(out, "answered_at");
    if (seen.failed_at == 0) {
        lc_jw_member_null(out, "failed_at");
        return;
    }
    lc_jw_member_time(out, "failed_at", seen.failed_at);
    lc_jw_member_text(out, "error_code", loci_status_name(seen.error.status));
    lc_jw_member_text(out, "error_message", seen.error.message);
}

/* {configured, url, model, missing?, answered_at, failed_at, …} */
static loci_status write_provider(lc_models *models, lc_arena *arena, const provider_settings *ids,
                                  lc_json_writer *out, loci_error *err)
{
    const outcome *of = ids == &chat_settings ? &models->chat : &models->embed;
    loci_error why;
    lc_provider provider;
    loci_str url = LC_STR_NONE, model = LC_STR_NONE;
    loci_status found = read_provider(models, arena, ids, &provider, &why);
    loci_status status = read_text(models, arena, ids->url, &url, err);

    if (status == LOCI_OK)
        status = read_text(models, arena, ids->model, &model, err);
    if (status != LOCI_OK)
        return status;
    lc_jw_object(out);
    lc_jw_member_bool(out, "configured", found == LOCI_OK);
    if (url.len > 0 && lc_net_check_url(url.ptr, NULL) == LOCI_OK)
        lc_jw_member_str(out, "url", url);
    else
        lc_jw_member_null(out, "url");
    if (model.len > 0)
        lc_jw_member_str(out, "model", model);
    else
        lc_jw_member_null(out, "model");
    if (found != LOCI_OK && url.len > 0)
        lc_jw_member_text(out, "missing", why.message);
    write_outcome(models, of, out);
    lc_jw_end(out);
    return LOCI_OK;
}

static void write_usage(lc_models *models, loci_str tenant_id, lc_json_writer *out)
{
    lc_model_meter used = lc_models_meter(models, tenant_id);

    lc_jw_object(out);
    lc_jw_member_int(out, "chat_calls", used.chat_calls);
    lc_jw_member_int(out, "chat_failures", used.chat_failures);
    lc_jw_member_int(out, "chat_tokens_in", used.chat_tokens_in);
    lc_jw_member_int(out, "chat_tokens_out", used.chat_tokens_out);
    lc_jw_member_int(out, "embed_calls", used.embed_calls);
    lc_jw_member_int(out, "embed_failures", used.embed_failures);
    lc_jw_member_int(out, "embed_tokens", used.embed_tokens);
    lc_jw_end(out);
}

/* Why no better embedder is used, or none. */
static void write_embedder(lc_models *models, lc_arena *arena, lc_json_writer *out)
{
    lc_embedder embedder;
    lc_embedder better;
    loci_error why = {.status = LOCI_OK};
    loci_status status = lc_models_find_embedder(models, arena, &embedder, &why);
    bool is_lexical = status == LOCI_OK && embedder.kind == LC_EMBEDDER_LEXICAL;

    if (status == LOCI_OK) {
        lc_jw_member_text(out, "embedder", lc_embedder_kind_name(embedder.kind));
        lc_jw_member_text(out, "model", embedder.model);
        lc_jw_member_int(out, "dimensions", (int64_t)embedder.dimensions);
        lc_jw_member_text(out, "generation", embedder.generation);
    } else {
        lc_jw_member_null(out, "embedder");
        lc_jw_member_null(out, "model");
        lc_jw_member_null(out, "dimensions");
        lc_jw_member_null(out, "generation");
    }
    lc_jw_member_bool(out, "lexical_only", is_lexical);
    if (is_lexical)
        status = use_builtin(models, arena, &better, &why);
    if (status != LOCI_OK)
        lc_jw_member_text(out, "missing", why.message);
    else
        lc_jw_member_null(out, "missing");
}

loci_status lc_models_write_status(lc_models *models, loci_str tenant_id, lc_arena *arena,
                                   lc_json_writer *out, loci_error *err)
{
    loci_status status;

    write_embedder(models, arena, out);
    lc_jw_name(out, "provider");
    status = write_provider(models, arena, &embed_settings, out, err);
    if (status != LOCI_OK)
        return status;
    lc_jw_name(out, "chat");
    status = write_provider(models, arena, &chat_settings, out, err);
    if (status != LOCI_OK)
        return status;
    lc_jw_name(out, "usage");
    write_usage(models, tenant_id, out);
    return LOCI_OK;
}
