/* fact_corpus.h - the valid facts of a user in memory, and the choice of those that are relevant to
 * a query.
 *
 * One state per user (store/user_kind.h) holds the facts of all scopes and personas with an
 * index/corpus of their words and vectors. Access rights are checked inside the search, so the
 * facts chosen are the best of those it may see, and other personas' facts cost nothing.
 *
 *     lc_fact_request request = {.view = view, .terms = terms, .vector = vector, .limit = 150,
 * ...}; status = lc_fact_choose(tx, &request, arena, &choice, err);
 */
#ifndef LC_FACT_FACT_CORPUS_H
#define LC_FACT_FACT_CORPUS_H

#include "fact/fact.h"
#include "pack/pack.h"
#include "recall/recall.h"

#define LC_FACT_BULLET "- "

extern const lc_user_kind lc_fact_corpus_kind;
/* The valid facts of all personas, as texts to embed. */
extern const lc_recall_source lc_fact_source;

/* "office floor: third" for the key office_floor, in the arena: the words of the key apart, a
 * string without its quotes and anything else as JSON. The vector of a fact is found by this text.
 */
loci_status lc_fact_embed_text(lc_arena *arena, loci_str key, loci_str value, loci_str *out,
                               loci_error *err);

typedef struct lc_fact_request {
    lc_fact_view view;
    lc_corpus_terms terms; /* Of the query: lc_corpus_split(). */
    const float *vector;   /* Of the query, made by tx->embedding; NULL = by words alone. */
    size_t limit;          /* Facts beside the constraints, which are all chosen. */
    lc_counter counter;    /* Counts the tokens of lines that were not counted before. */
    int encoding;          /* Identifies the counter's encoding: counts are kept per encoding. */
} lc_fact_request;

typedef struct lc_chosen_fact {
    lc_fact fact;
    loci_str text;       /* Its value as text. */
    float score;         /* BM25, or fused with cosine similarity; 0 = unrelated to the query. */
    lc_fused fused;      /* Its parts; zeroed if it was not found by the query. */
    int64_t line_tokens; /* Of its line in a list: lead, text and tail behind LC_FACT_BULLET. */
} lc_chosen_fact;

#define LC_FACT_LEFT_OUT_MAX 20

/* The choice, in the arena: constraints, then the best for the query, then the newest. */
typedef struct lc_fact_choice {
    lc_chosen_fact *facts;
    size_t count;
    int64_t expired, restricted, scoped, irrelevant; /* How many were not chosen, by reason. */
    lc_fact_counts past;
    /* Some of those not chosen for another reason than relevance. */
    struct {
        loci_str id;
        const char *reason;
    } left_out[LC_FACT_LEFT_OUT_MAX];
    size_t left_out_count;
    bool has_meaning; /* Scores are of meaning and words; else of words alone. */
    bool is_complete; /* False: the index was still being built, so facts may be missing. */
} lc_fact_choice;

/* Borrows the user's state, so the caller holds none. LOCI_ECONFLICT must be returned untouched:
 * the engine then runs the body again. */
loci_status lc_fact_choose(lc_tx *tx, const lc_fact_request *request, lc_arena *arena,
                           lc_fact_choice *out, loci_error *err);

/* The text before and after the value in the line of a fact, in the arena: "key: ", and the source
 * in brackets if it is an organisation. */
loci_status lc_fact_line_parts(lc_arena *arena, const lc_fact *fact, loci_str *lead, loci_str *tail,
                               loci_error *err);

#endif /* LC_FACT_FACT_CORPUS_H */
