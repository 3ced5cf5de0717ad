/* propose.h - changes of known facts that a message proposes.
 *
 * A statement (talk/statement.h) becomes a proposal when it is about one fact: it names the fact's
 * key whole, or points back at a fact that was stated within the last few turns. It supersedes only
 * when nothing speaks against it; whatever else looks like a change is a claim, kept for review:
 *
 *     supersedes   old and new value are of one kind, the new one has at most four content words;
 *                  a key of one word, which may be the word for anything, and values that are mere
 *                  words also need a word of change ("now", "actually") or a recent fact
 *     claims       the key is named, but one of these fails; or the statement only implies the key
 *     creates      "my X is Y" where X is something people have one of, "remember that X is Y",
 *                  "we use Y for X", and no fact has that key
 *
 * Rights are not read from a text: whether a proposal may be written is decided by fact.write.
 */
#ifndef LC_TALK_PROPOSE_H
#define LC_TALK_PROPOSE_H

#include "talk/statement.h"
#include "talk/talk.h"

#define LC_PROPOSALS_MAX LC_STATEMENTS_MAX
#define LC_PROPOSE_TURNS 4 /* Turns of people that a statement without a subject reaches back. */

/* Which of the seed's four kinds of rule found it. */
typedef enum lc_rule {
    LC_RULE_EXPLICIT,
    LC_RULE_IMPLICIT,
    LC_RULE_AUTHORITY,
    LC_RULE_TEMPORAL
} lc_rule;
const char *lc_rule_name(lc_rule rule);
#define LC_RULES "explicit|implicit|authority|temporal"

/* A fact that a message can be about. */
typedef struct lc_known {
    loci_str key;
    loci_str value; /* As text. */
    bool is_recent; /* Written since LC_PROPOSE_TURNS turns ago. */
} lc_known;

#define LC_KNOWN_NONE SIZE_MAX

typedef struct lc_proposal {
    size_t known;   /* Index of the fact, or LC_KNOWN_NONE: a new one, */
    loci_str key;   /* with this key. */
    loci_str value; /* As text. */
    loci_str quote; /* The sentence that says it, word for word. */
    lc_rule rule;
    bool is_claim; /* For review: it must not change the fact. */
} lc_proposal;

typedef struct lc_propose_input {
    const lc_statements *statements; /* Of the message. */
    const lc_known *known;
    size_t known_count;
    const loci_str *before; /* Messages of people in the last LC_PROPOSE_TURNS turns. */
    size_t before_count;
    bool is_known_only; /* Nothing is created. */
    bool is_owner;      /* The speaker is the user that the facts are about: "my" means theirs. */
} lc_propose_input;

/* If several proposals have the same key, the last one is kept, because later words correct earlier
 * ones. */
loci_status lc_talk_propose(const lc_talk *talk, lc_arena *arena, const lc_propose_input *input,
                            lc_proposal out[LC_PROPOSALS_MAX], size_t *count, loci_error *err);

/* The subject of a statement as a key: "the marquee budget" is marquee_budget. Empty if the words
 * cannot be a key.
 */
loci_status lc_subject_key(lc_arena *arena, const lc_statement *statement, loci_str *out,
                           loci_error *err);

#endif /* LC_TALK_PROPOSE_H */
