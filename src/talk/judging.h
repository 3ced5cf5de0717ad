/* judging.h - the state of one judgement, shared by talk.c, talk_rank.c, talk_flow.c,
 * talk_span.c, talk_void.c and talk_model.c. */
#ifndef LC_TALK_JUDGING_H
#define LC_TALK_JUDGING_H

#include "talk/talk.h"

typedef struct lc_unit_clause lc_unit_clause;

struct lc_unit_clause {
    lc_terms terms;
    lc_cue_set cues;
    uint64_t bits; /* lc_sense_bits() of its terms. */
    lc_verdict verdict;
    bool is_aside;                 /* In parentheses at the end of its sentence. */
    size_t void_since;             /* When replaced: the thing said that did it ... */
    lc_terms void_by;              /* ... and what took its place. */
    const lc_unit_clause *premise; /* What it was concluded from and no longer holds, or NULL. */
};

/* One of the things said, read. */
typedef struct lc_unit {
    const lc_said *said;
    lc_attribution attribution;
    lc_terms terms; /* Of its words, without the attribution. */
    lc_unit_clause *clauses;
    size_t clause_count;
    lc_verdict verdict;
    bool is_withdrawn;   /* It says so itself: "[INVALIDATED] ..." */
    uint64_t words_hash; /* Of its words: texts of two hashes differ. */
} lc_unit;

typedef struct lc_judging {
    const lc_talk *talk;
    lc_arena *arena;
    const lc_talk_input *input;
    lc_terms query;
    lc_unit *units;   /* As many as things said. */
    uint32_t *places; /* Of facts and messages by the hash of their words; UINT32_MAX = free. */
    size_t place_mask;
    lc_dead *dead;
    size_t dead_count;
    bool is_out_of_memory; /* The judgement is worth nothing. */
    size_t now;            /* The thing said that is looked at: it kills what is buried. */
} lc_judging;

/* Attribution, terms and clauses of a text. */
loci_status lc_unit_read(const lc_talk *talk, lc_arena *arena, loci_str text, lc_unit *out,
                         loci_error *err);

/* From here on the value is dead. */
void lc_judging_bury(lc_judging *j, lc_terms value, lc_terms successor, bool is_rejected);
/* Has one of its clauses one of these cues? */
bool lc_unit_has(const lc_unit *unit, uint32_t cues);
/* Something that a person said, not the assistant. */
static inline bool lc_unit_is_person(const lc_unit *unit)
{
    return unit->said->kind == LC_SAID_MESSAGE && !unit->said->is_model;
}
bool lc_unit_contradicts(const lc_unit *older, const lc_unit *newer);

/* Is the thing said at `index` contradicted by somebody of higher rank, or by the same person
 * later?
 */
void lc_judging_outrank_fact(lc_judging *j, size_t index);
void lc_judging_outrank_message(lc_judging *j, size_t index);

/* What the thing said at `index` makes void without saying so. */
void lc_judging_void(lc_judging *j, size_t index);
/* What was concluded from something that does not hold; after everything else is judged. */
void lc_judging_conclusions(lc_judging *j);

/* What the assistant made up. */
void lc_judging_model(lc_judging *j);

/* What the course of the conversation makes void: asides, explorations, corrections. */
void lc_judging_flow(lc_judging *j);

#endif /* LC_TALK_JUDGING_H */
