/* propose.h - does a new message give a known fact another value?
 *
 * Keywords only propose. A proposal needs a cue (a correction, news, a decision, somebody's
 * authority, the old value fell through) or a plain statement of exactly what the key names; a new
 * value in the sentence; and one fact that the sentence is about: its key is named, or the words it
 * was stated with come back, or the message points at what was said lately. The new value must be
 * able to contradict the old one. Whether the writer may change the fact is not asked here; that is
 * the fact's business. */
#ifndef LC_TALK_PROPOSE_H
#define LC_TALK_PROPOSE_H

#include "talk/talk.h"

typedef enum lc_rule {
    LC_RULE_EXPLICIT,  /* "No wait, make that Thursday." */
    LC_RULE_IMPLICIT,  /* "Let's go with GlobalTech for the contract." */
    LC_RULE_AUTHORITY, /* "Per the CEO, ..." */
    LC_RULE_TEMPORAL   /* "As of today, the project is delayed." */
} lc_rule;

const char *lc_rule_name(lc_rule rule); /* "explicit" ... */

typedef struct lc_known {
    loci_str key;
    loci_str value;
    bool is_former;   /* No longer valid, but may be gone back to. */
    size_t successor; /* Of a former one: which of the known took its place. */
} lc_known;

typedef struct lc_proposal {
    size_t known;   /* Whose slot gets the value. */
    loci_str value; /* In the arena, or part of the message. */
    lc_rule rule;
} lc_proposal;

#define LC_PROPOSALS_MAX 4

typedef struct lc_propose_input {
    const lc_known *known;
    size_t known_count;
    const lc_said *before; /* The messages before, oldest first. */
    size_t before_count;
    loci_str message;
} lc_propose_input;

/* At most one for each clause of the message, LC_PROPOSALS_MAX in all. */
loci_status lc_talk_propose(const lc_talk *talk, lc_arena *arena, const lc_propose_input *input,
                            lc_proposal out[LC_PROPOSALS_MAX], size_t *out_count, loci_error *err);

#endif /* LC_TALK_PROPOSE_H */
