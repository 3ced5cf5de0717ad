/* build.h - one text that tells a model what is true now, and a manifest that tells why.
 *
 * What is in it: who the user is, the rules that apply, what is known and bears on the question,
 * what was said and still holds, notes of the session, the world around. What is not: anything
 * superseded, taken back, expired, of another scope, not meant for this reader, only supposed.
 * Mandatory parts come first, facts get at most 700 of 1000 of the rest, what changes with every
 * call stands last. The same state and the same input give the same bytes. */
#ifndef LC_CONTEXT_BUILD_H
#define LC_CONTEXT_BUILD_H

#include "context/source.h"
#include "pack/pack.h"

typedef struct lc_context_input {
    loci_str query;
    int64_t budget;
    lc_source_input source;
    const lc_identity *identity; /* Of the open session; no user_name = none. */
    const lc_talk *talk;
    lc_readings *readings; /* For this call alone; NULL = none. */
    lc_counter counter;
    bool is_estimated; /* What the counter says is an estimate. */
    int reader_rank;   /* Seniority of who reads, for marks in texts; -1 = nobody known. */
    lc_arena *arena;
} lc_context_input;

/* Writes the members of the answer: text, included, excluded, excluded_counts, tokens, budget,
 * estimated, pressure, warnings. LOCI_EBUDGET as the packer. */
loci_status lc_context_build(lc_tx *tx, const lc_context_input *input, lc_json_writer *out,
                             loci_error *err);

#endif /* LC_CONTEXT_BUILD_H */
