/* provider.h - models behind the API of OpenAI: /v1/embeddings and /v1/chat/completions.
 *
 * URL, model and key come from settings only (engine/models.h). Requests contain the name of the
 * model and the texts; replies are not trusted.
 */
#ifndef LC_MODEL_PROVIDER_H
#define LC_MODEL_PROVIDER_H

#include "base/arena.h"
#include "base/json.h"
#include "net/client.h"

/* ---- Replies of /v1/embeddings ---------------------------------------------------------------
 *
 * Pure and fuzzed. Number, order, length and values of the vectors are all checked. */

typedef struct lc_embed_expected {
    size_t count; /* Texts sent. */
    size_t dimensions;
} lc_embed_expected;

/* Reads `reply` into `out`: `count` vectors of length 1 in the order of the texts, as given by
 * `index`.
 * `*out_tokens` gets the tokens used, 0 if unknown. LOCI_EUNAVAILABLE: not a valid reply.
 * LOCI_EUNSUPPORTED: vectors with another number of dimensions. On failure `out` is undefined. The
 * caller rewinds `scratch`. */
loci_status lc_embed_reply_read(lc_arena *scratch, loci_str reply,
                                const lc_embed_expected *expected, float *out, int64_t *out_tokens,
                                loci_error *err);

/* Maximum size of such a reply. */
size_t lc_embed_reply_bytes_max(const lc_embed_expected *expected);

/* ---- Replies of /v1/chat/completions. Pure and fuzzed. --------------------------------------- */

typedef struct lc_chat_reply {
    loci_str text;       /* The answer: one JSON document. */
    const lc_json *json; /* The same, parsed. */
    int64_t tokens_in;   /* As counted by the provider; 0 if unknown. */
    int64_t tokens_out;
} lc_chat_reply;

/* Reads `reply`; `out` points into `arena` and `reply`. LOCI_EUNAVAILABLE: not a valid reply, or
 * the answer is not JSON. LOCI_ELIMIT: cut off at the limit of tokens. LOCI_EUNSUPPORTED: the model
 * refuses. The tokens are set on failure too, if known: they were used. */
loci_status lc_chat_reply_read(lc_arena *arena, loci_str reply, lc_chat_reply *out,
                               loci_error *err);

/* ---- Requests -------------------------------------------------------------------------------- */

typedef struct lc_provider {
    const char *url; /* Base URL: "https://api.example.com/v1". */
    const char *model;
    loci_str key; /* None = none. */
    bool allow_private;
    bool asks_base64;   /* Vectors in base64: a third of the size; not all providers support it. */
    int64_t timeout_ms; /* Of one attempt. */
} lc_provider;

/* The connection to use, and how long: see lc_net_terms. */
typedef struct lc_provider_line {
    lc_net_client *client;
    int64_t deadline_us;
    loci_status (*pause)(void *ctx, loci_error *err);
    void *pause_ctx;
} lc_provider_line;

/* Maximum per request. A larger batch is sent as several requests, a few at a time. */
#define LC_EMBED_TEXTS_PER_REQUEST 64
#define LC_EMBED_BYTES_PER_REQUEST (256u * 1024)

typedef struct lc_embed_batch {
    const loci_str *texts; /* UTF-8, none empty. */
    size_t count;
    size_t dimensions;
    float *out;       /* count x dimensions: vectors of length 1 in the order of the texts. */
    int64_t requests; /* Out: number of requests, */
    int64_t tokens;   /* and tokens used, as counted by the provider. */
} lc_embed_batch;

/* Embeds all texts or none. Statuses: those of lc_net_post_all() and lc_embed_reply_read(). */
loci_status lc_provider_embed(const lc_provider_line *line, const lc_provider *provider,
                              lc_embed_batch *batch, lc_arena *scratch, loci_error *err);

#define LC_CHAT_REPLY_BYTES_MAX (4u * 1024 * 1024)

typedef struct lc_chat {
    loci_str system;         /* Instructions. */
    loci_str user;           /* Input. */
    const char *name;        /* Name of the schema: letters, digits, _ and -. */
    loci_str schema;         /* JSON schema of the answer. */
    int64_t tokens_max;      /* Of the answer. */
    size_t prompt_bytes_max; /* Of the two texts; a token is at least a byte. */
} lc_chat;

/* Requests one answer in the form of the schema; the caller checks it. `out` is JSON, in `arena`.
 * LOCI_ELIMIT: the prompt is too long, or the answer was cut off. Other statuses: see
 * lc_net_post_all() and lc_chat_reply_read(). */
loci_status lc_provider_chat(const lc_provider_line *line, const lc_provider *provider,
                             const lc_chat *chat, lc_arena *arena, lc_chat_reply *out,
                             loci_error *err);

#endif /* LC_MODEL_PROVIDER_H */
