/* memory_recall.h - finding memories, and the cards of the entities they are about.
 *
 * The best LC_MEMORY_RANKED by meaning and as many by words, inside the filter, are fused
 * (recall/recall.h); the best LC_MEMORY_RANKED of them are read and ranked again by a blend:
 *
 *     similarity = (0.6 * BM25 / the best BM25 + 0.4 * cosine / the best cosine) * the best fused
 *                  score (index/fusion.h); by words alone BM25 / the best BM25 * that score;
 *                  plus neighbours
 *     neighbours = 0.06 * the better fused score of the two memories stored next to it in its
 *                  session, 0.02 * that of the two behind them; only hits count
 *     recency    = 0.5 ^ (days since observed_at / 14), in whole hours; 1 for pinned ones and
 *                  importance 3, which do not decay
 *     frequency  = ln(1 + n) / ln(1 + max): n is how many memories name its entity, max the
 *                  largest n of the candidates; 0.5 without an entity
 *     boost      = 1 + 0.05 * (importance - 1)
 *     score      = similarity * (0.4 + 0.3 * recency + 0.3 * frequency) * boost, at most 1
 *
 * Recency and frequency are multiplied by similarity: a memory unrelated to the query is not found
 * just because it is new or about a popular entity. A memory without a matching keyword can still
 * be found.
 */
#ifndef LC_MEMORY_MEMORY_RECALL_H
#define LC_MEMORY_MEMORY_RECALL_H

#include "memory/memory.h"
#include "recall/recall.h"

extern const lc_recall_source lc_memory_source;

#define LC_MEMORY_HITS_MAX LC_RECALL_HITS_MAX
/* Each is a row to read, which is most of the time of a recall. */
#define LC_MEMORY_RANKED 200

typedef struct lc_memory_query {
    lc_corpus_terms terms; /* Of the query: lc_corpus_split(). */
    const float *vector;   /* Of the query, made by tx->embedding; NULL = by words alone. */
    loci_str persona_id;
    lc_str_list types;       /* items NULL = all. */
    lc_str_list entities;    /* Refs or ids, any of them; items NULL = all. */
    const lc_json *metadata; /* Members that must be equal; NULL = none. */
    int64_t from_us, to_us;  /* observed_at */
    int64_t as_of_us;        /* The memories of that time; INT64_MAX = those of now. */
    double min_score;
    size_t limit; /* Hits the caller asks for; if above LC_MEMORY_RANKED, this many are ranked. */
} lc_memory_query;

typedef struct lc_memory_hit {
    lc_memory memory; /* First: read by lc_recall_read(). */
    lc_fused fused;
    double neighbours; /* Part of the similarity. */
    double similarity, recency, frequency, boost, score;
} lc_memory_hit;

/* Best first, in the arena. */
typedef struct lc_memory_hits {
    lc_memory_hit *items;
    size_t count;
    size_t near_misses; /* Items behind `count` whose score is below min_score. */
    bool is_complete;   /* False: the index was still being built, so memories may be missing. */
} lc_memory_hits;

/* Borrows the user's state, so the caller holds none. LOCI_ECONFLICT must be returned untouched:
 * the engine then runs the body again. */
loci_status lc_memory_recall(lc_tx *tx, const lc_memory_query *query, lc_arena *arena,
                             lc_memory_hits *out, loci_error *err);

/* ---- Cards ----------------------------------------------------------------------------------- */

#define LC_CARDS_MAX 5
#define LC_CARD_FACTS_MAX 3
#define LC_CARD_FACT_BYTES_MAX 400

typedef struct lc_memory_card {
    loci_str ref;
    loci_str ids[LC_CARD_FACTS_MAX];
    size_t count;
    loci_str text; /* "[person:john]: fact; fact; fact" in one line, which no fact can forge. */
} lc_memory_card;

typedef struct lc_memory_cards {
    bool is_each_once;   /* Set by the caller: a memory is on the first of its cards only. */
    bool without_pinned; /* The same: pinned ones are on none, because they are shown elsewhere. */
    lc_memory_card items[LC_CARDS_MAX];
    size_t count;
} lc_memory_cards;

/* The cards of the entities of the hits, in the order of the hits: of each the memories that are
 * pinned or of importance 2 and above; pinned first, then by importance, then the newest. */
loci_status lc_memory_make_cards(lc_tx *tx, loci_str persona_id, const lc_memory_hits *hits,
                                 lc_arena *arena, lc_memory_cards *out, loci_error *err);
bool lc_memory_is_on_card(const lc_memory_cards *cards, loci_str id);

#endif /* LC_MEMORY_MEMORY_RECALL_H */
