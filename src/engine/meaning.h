/* meaning.h - search by meaning: the vector of a query, and the job that gives every stored text a
 * vector.
 *
 * For queries only the built-in encoder is used: it answers within a millisecond, needs no network,
 * and gives the same vector for the same text. With a provider, or without the encoder's data,
 * texts are found by words alone; model.status reports what is missing.
 */
#ifndef LC_ENGINE_MEANING_H
#define LC_ENGINE_MEANING_H

#include "engine/job_kind.h"
#include "engine/models.h"
#include "store/vector.h"

typedef struct lc_meaning {
    const float *vector;    /* Of the query; NULL = search by words alone. */
    lc_embedding embedding; /* For lc_tx.embedding, when there is a vector. */
    loci_engine *engine;    /* NULL = there was no query. */
    lc_embedder embedder;
} lc_meaning;

/* Embeds `query` for `tenant_id` with the embedder that is configured now. Takes about a
 * millisecond, so it is called before the snapshot. `out` must not be moved or copied; its memory
 * is in `arena`. */
loci_status lc_meaning_find(lc_meaning *out, loci_engine *engine, loci_str tenant_id,
                            loci_str query, lc_arena *arena, loci_error *err);

/* In the read: a warning in `arena` if the user has vectors that the search could not use, because
 * another embedder made them; else none. */
loci_status lc_meaning_warn(const lc_meaning *meaning, lc_tx *tx, lc_arena *arena, loci_str *out,
                            loci_error *err);

/* Queues the job that makes the missing vectors of the transaction's user, if a search asked for
 * it. Does not wait and writes nothing itself. True in an engine without threads, which cannot
 * queue it: the caller calls lc_meaning_make_vectors() after the read and searches again. */
bool lc_meaning_queue_job(lc_meaning *meaning, const lc_tx *tx);
/* Makes missing vectors of a user now, by running the job inside the call, for at most half of the
 * time that the call has left: it must still search. The next search continues. */
loci_status lc_meaning_make_vectors(loci_engine *engine, loci_str tenant_id, loci_str user_id,
                                    int64_t deadline_us);

/* Called by an operation that has written `texts` texts, in its transaction: adds a job for them
 * after LC_CORPUS_TAIL_MAX / 2 texts of the user. So the texts without a vector are, except while
 * the job runs, never more than a search embeds itself. An engine without threads adds no job: the
 * job would run before the answer. */
loci_status lc_meaning_follow_writes(loci_engine *engine, lc_tx *tx, size_t texts, loci_error *err);

/* "model.reembed" (store/vector.h): args {} or LC_EMBED_NEWEST_ARGS, result {generation, users,
 * texts, embedded, deleted}. Embeds the texts of a user, or as a job of the store itself those of
 * all users, with the configured embedder. Texts that have a vector are skipped, so a repeat costs
 * little; vectors of other generations are deleted, except by a job of the newest texts. */
extern const lc_job_kind lc_job_reembed;

#endif /* LC_ENGINE_MEANING_H */
