/* build.h - one text that tells a model what is true now, and a manifest that says why.
 *
 * It contains who the user is, the rules that apply, the facts that bear on the query, what was
 * said and still holds, the notes of the session and the state of the environment. It leaves out
 * what is superseded, retracted, expired, of another scope, not meant for this reader, or only
 * supposed. Mandatory parts come first, facts get at most 700 per mille of the rest, and what
 * changes with every call comes last. The same state and the same input give the same bytes.
 */
#ifndef LC_CONTEXT_BUILD_H
#define LC_CONTEXT_BUILD_H

#include "fact/fact_corpus.h"
#include "pack/pack.h"
#include "session/session.h"
#include "talk/talk.h"

#define LC_CONTEXT_BYTES_MAX (32 << 20)

/* In the order of the text. */
#define LC_SECTION_NAMES                                                                           \
    "identity|constraints|foundation|facts|cards|memories|todos|conversation|working|environment"
#define LC_SECTION_COUNT 10
/* The bit of a section in a mask; 0 for an unknown name. */
unsigned lc_context_section_bit(loci_str name);

typedef struct lc_context_input {
    loci_str query;
    lc_corpus_terms terms; /* Of the query. */
    const float *vector;   /* Of the query, made by tx->embedding; NULL = by words alone. */
    int64_t budget;
    lc_fact_view view;
    loci_str conversation_id;    /* Messages of this session only; none = of all. */
    loci_str working_id;         /* Session of the working set; none = there is none. */
    const lc_identity *identity; /* Of the open session; no user_name = none. */
    const lc_talk *talk;
    lc_counter counter;
    int encoding;             /* Identifies what the counter counts; see lc_fact_request. */
    bool is_estimated;        /* The counter's numbers are estimates, */
    bool is_estimate_wanted;  /* as the caller asked for. */
    int reader_rank;          /* Seniority of the reader, for marks in texts; -1 = unknown. */
    unsigned section_mask;    /* Sections that are wanted: lc_context_section_bit(). */
    bool relevant_only;       /* Nothing but what the query is about. */
    loci_str without_session; /* Without the messages of this session; none = with all. */
    /* Asked now and then: not LOCI_OK (the deadline, a cancelled call) ends the work. */
    loci_status (*pause)(void *ctx, loci_error *err);
    void *pause_ctx;
    lc_arena *arena;
} lc_context_input;

/* Writes the members of the answer: text, included, excluded, excluded_counts, tokens, budget,
 * estimated, pressure, warnings. LOCI_EBUDGET as the packer; LOCI_ECONFLICT as lc_fact_choose(). */
loci_status lc_context_build(lc_tx *tx, const lc_context_input *input, lc_json_writer *out,
                             loci_error *err);

#endif /* LC_CONTEXT_BUILD_H */
