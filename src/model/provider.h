/* provider.h - somebody else's models, spoken to as OpenAI's are: /v1/embeddings and
 * /v1/chat/completions.
 *
 * Where it is, which model and which key come from settings alone (engine/models.h). What is sent
 * is the name of the model and the texts; what comes back is not trusted.
 */
#ifndef LC_MODEL_PROVIDER_H
#define LC_MODEL_PROVIDER_H

#include "model/chat_reply.h"
#include "net/client.h"

typedef struct lc_provider {
    const char *url; /* "https://api.example.com/v1": what the paths below follow. */
    const char *model;
    loci_str key; /* None = none. */
    bool allow_private;
    bool
        asks_base64; /* Vectors in base64: a third of the bytes, and not every provider knows it. */
    int64_t timeout_ms; /* Of one attempt. */
} lc_provider;

/* Who speaks, how long it waits and whether it still does: see lc_net_terms. */
typedef struct lc_provider_line {
    lc_net_client *client;
    int64_t deadline_us;
    loci_status (*pause)(void *ctx, loci_error *err);
    void *pause_ctx;
} lc_provider_line;

/* What one request holds at most. More texts are several requests, a few at a time. */
#define LC_EMBED_TEXTS_PER_REQUEST 64
#define LC_EMBED_BYTES_PER_REQUEST (256u * 1024)

typedef struct lc_embed_batch {
    const loci_str *texts; /* UTF-8, none empty. */
    size_t count;
    size_t dimensions;
    float *out;       /* count x dimensions: vectors of length 1 in the order of the texts. */
    int64_t requests; /* Out: how many were needed, */
    int64_t tokens;   /* and tokens used, as the provider counts. */
} lc_embed_batch;

/* All or nothing. Besides what net/client.h answers: LOCI_EUNAVAILABLE and LOCI_EUNSUPPORTED of
 * model/embed_reply.h. */
loci_status lc_provider_embed(const lc_provider_line *line, const lc_provider *provider,
                              lc_embed_batch *batch, lc_arena *scratch, loci_error *err);

#define LC_CHAT_REPLY_BYTES_MAX (4u * 1024 * 1024)

typedef struct lc_chat {
    loci_str system;         /* What the model shall do. */
    loci_str user;           /* What it shall do it with. */
    const char *name;        /* Of the answer's shape: letters, digits, _ and -. */
    loci_str schema;         /* JSON schema of the answer, an object. */
    int64_t tokens_max;      /* Of the answer. */
    size_t prompt_bytes_max; /* Of the two texts; a token is at least a byte. */
} lc_chat;

/* Asks for one answer that follows the schema, and does not check that it does: `out` is JSON, in
 * `arena`. LOCI_ELIMIT: the prompt is too long, or the answer was cut. Else as above. */
loci_status lc_provider_chat(const lc_provider_line *line, const lc_provider *provider,
                             const lc_chat *chat, lc_arena *arena, lc_chat_reply *out,
                             loci_error *err);

#endif /* LC_MODEL_PROVIDER_H */
