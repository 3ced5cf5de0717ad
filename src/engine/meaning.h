/* meaning.h - what lets a context find facts by meaning: the query as a vector, and whoever makes
 * vectors of facts.
 *
 * Only by the built-in encoder: it answers within a millisecond or so, asks nobody, and the same
 * text has the same vector. With a provider, or without the encoder's data, facts are found by
 * words alone. */
#ifndef LC_ENGINE_MEANING_H
#define LC_ENGINE_MEANING_H

#include "context/fact_index.h"
#include "engine/models.h"

typedef struct lc_meaning {
    bool is_found;
    lc_fact_meaning of_facts;
    loci_engine *engine;
    lc_tx *tx;
    lc_arena *arena;
    lc_embedder embedder;
} lc_meaning;

/* Embeds the query with what the settings ask for now. Must stay where it is. */
loci_status lc_meaning_find(lc_meaning *out, loci_engine *engine, lc_tx *tx, loci_str query,
                            lc_arena *arena, loci_error *err);

/* Has the vectors of the user's facts made soon, by a job. Does not wait and writes nothing by
 * itself; in an inline engine nothing happens, there it is model.reembed that makes them. */
void lc_meaning_want_job(const lc_meaning *meaning);

#endif /* LC_ENGINE_MEANING_H */
