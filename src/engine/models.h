/* models.h - the configured models and their use: embeddings and chats, from any thread.
 *
 *     lc_models_find_embedder(models, arena, &embedder, err);        as configured now
 *     lc_models_embed(models, &use, &embedder, &batch, err);
 *
 * Settings are read at each use, so a change takes effect at once. The built-in encoder is opened
 * at its first use and stays open; clients of providers are reused with their connections. Usage is
 * counted per tenant since the engine was opened. A provider that does not answer fails only the
 * call; work that can wait for it belongs in a job.
 */
#ifndef LC_ENGINE_MODELS_H
#define LC_ENGINE_MODELS_H

#include "engine/engine.h"
#include "model/embedder.h"

extern const lc_setting lc_setting_model_allow_private;
extern const lc_setting lc_setting_model_chat_key;
extern const lc_setting lc_setting_model_chat_model;
extern const lc_setting lc_setting_model_chat_prompt_bytes_max;
extern const lc_setting lc_setting_model_chat_tokens_max;
extern const lc_setting lc_setting_model_chat_url;
extern const lc_setting lc_setting_model_embed_dimensions;
extern const lc_setting lc_setting_model_embed_encoding;
extern const lc_setting lc_setting_model_embed_key;
extern const lc_setting lc_setting_model_embed_model;
extern const lc_setting lc_setting_model_embed_rate;
extern const lc_setting lc_setting_model_embed_url;
extern const lc_setting lc_setting_model_embedder;
extern const lc_setting lc_setting_model_timeout_ms;

typedef struct lc_models lc_models;

/* Maximum number of tenants that are counted separately. */
#define LC_MODEL_METERS_MAX 10000

loci_status lc_models_new(loci_engine *engine, lc_models **out, loci_error *err);
void lc_models_free(lc_models *models); /* NULL is fine. */
lc_models *lc_engine_models(loci_engine *engine);

/* The configured embedder. Its texts, the provider's key among them, are in `arena`. The messages
 * of LOCI_ENOTFOUND and LOCI_EUNSUPPORTED say what is missing and how to install it. */
loci_status lc_models_find_embedder(lc_models *models, lc_arena *arena, lc_embedder *out,
                                    loci_error *err);

/* One use: the tenant it is counted for, its deadline and its cancellation (see lc_net_terms). */
typedef struct lc_model_use {
    loci_str tenant_id;
    lc_arena *arena;
    int64_t deadline_us;
    loci_status (*pause)(void *ctx, loci_error *err);
    void *pause_ctx;
} lc_model_use;

loci_status lc_models_embed(lc_models *models, const lc_model_use *use, const lc_embedder *embedder,
                            lc_embed_batch *batch, loci_error *err);

/* Whether a chat provider is configured: its URL and its model are set. */
bool lc_models_has_chat(lc_models *models);

/* Asks the chat model; limits of `chat` that are 0 are taken from the settings. LOCI_EUNSUPPORTED
 * if no provider is configured: callers must work without one. `out` is in the arena of the use. */
loci_status lc_models_chat(lc_models *models, const lc_model_use *use, const lc_chat *chat,
                           lc_chat_reply *out, loci_error *err);

/* A sentence in `arena`: why vectors of the generation `stored`, another one than that of the
 * embedder in use, are not used, and what to do. */
loci_status lc_models_explain_stale(lc_models *models, loci_str stored, lc_arena *arena,
                                    loci_str *out, loci_error *err);

/* Usage of providers since the engine was opened. */
typedef struct lc_model_meter {
    int64_t chat_calls;
    int64_t chat_failures;
    int64_t chat_tokens_in;
    int64_t chat_tokens_out;
    int64_t embed_calls; /* Requests. */
    int64_t embed_failures;
    int64_t embed_tokens;
} lc_model_meter;

/* The usage of one tenant, or of all tenants if `tenant_id` is absent. */
lc_model_meter lc_models_meter(lc_models *models, loci_str tenant_id);

/* Members embedder, model, dimensions, generation, lexical_only, missing, provider, chat, usage of
 * an open object. */
loci_status lc_models_write_status(lc_models *models, loci_str tenant_id, lc_arena *arena,
                                   lc_json_writer *out, loci_error *err);

#endif /* LC_ENGINE_MODELS_H */
