/* meaning.h - what a search by meaning needs: the query's vector, and the embedder for texts that
 * have no vector in the store yet.
 *
 * Only the built-in encoder is used: it answers within a millisecond, needs no network, and gives
 * the same vector for the same text. With a provider, or without the encoder's data, texts are
 * found by words alone; model.status reports what is missing.
 */
#ifndef LC_ENGINE_MEANING_H
#define LC_ENGINE_MEANING_H

#include "engine/models.h"
#include "store/embedding.h"

typedef struct lc_meaning {
    const float *vector;    /* Of the query; NULL = search by words alone. */
    lc_embedding embedding; /* For lc_tx.embedding, when there is a vector. */
    loci_engine *engine;
    lc_embedder embedder;
} lc_meaning;

/* Embeds `query` for `tenant_id` with the embedder that is configured now. Takes about a
 * millisecond, so it is called before the snapshot. `out` must stay where it is; its memory is
 * `arena`. */
loci_status lc_meaning_find(lc_meaning *out, loci_engine *engine, loci_str tenant_id,
                            loci_str query, lc_arena *arena, loci_error *err);

/* Queues the job that makes the missing vectors of the transaction's user, if a search asked for
 * it. Does not wait and writes nothing itself; an engine without threads ignores it, there
 * model.reembed makes them. */
void lc_meaning_queue_job(lc_meaning *meaning, const lc_tx *tx);

#endif /* LC_ENGINE_MEANING_H */
