/* observe.h - what somebody says, kept as a message, and the facts that it gives another value.
 *
 * The message is always kept. Facts change only where talk/propose.h finds the slot that the words
 * are about and a value that contradicts what stands there; what the speaker may not change becomes
 * a claim, like any other write. Nothing is made up: a sentence about no known fact changes none.
 */
#ifndef LC_CONTEXT_OBSERVE_H
#define LC_CONTEXT_OBSERVE_H

#include "fact/fact.h"
#include "session/session.h"
#include "talk/propose.h"

typedef struct lc_observation {
    const lc_talk *talk;
    lc_session_use *session; /* Chosen, not yet begun. */
    lc_message message;      /* Role, speaker, text, observed_at. */
    lc_fact_view view;
    lc_authority authority;  /* Of the speaker, effective. */
    bool is_authority_given; /* The caller said so; else a correction keeps the rank of what it
                                corrects, at most the speaker's: talk alone raises nothing. */
    loci_str trust;
    bool is_one_session; /* The caller named a session: only its messages are before this one. */
    bool is_left_to_job; /* A job extracts the facts (engine/extraction.h): the rules do not run. */
    lc_arena *arena;
} lc_observation;

typedef struct lc_observed_fact {
    loci_str key;
    lc_fact_result result;
    lc_rule rule;
} lc_observed_fact;

typedef struct lc_observed {
    lc_id message_id;
    int64_t seq;
    lc_observed_fact facts[LC_PROPOSALS_MAX];
    size_t count;
} lc_observed;

/* In the writer. Begins the session, appends the message, writes the facts. */
loci_status lc_context_observe(lc_tx *tx, const lc_observation *observation, lc_observed *out,
                               loci_error *err);

/* In the writer. Writes the facts that the rules find in a message that is stored already,
 * `message` with its seq; its session is not used. */
loci_status lc_context_apply_rules(lc_tx *tx, const lc_observation *observation, lc_observed *out,
                                   loci_error *err);

/* `text` as the JSON value of a fact whose value was `old` (none = it is new): a number where there
 * was one and the text has exactly one, else a string. */
loci_status lc_context_write_value(lc_arena *arena, loci_str old, loci_str text, loci_str *out,
                                   loci_error *err);

/* Whether a failed decision is about this one fact, such as a slot that was taken over, and not
 * about the call. */
bool lc_context_is_about_fact(loci_status status);
/* The authority of a correction of `fact`: talk alone raises nothing. */
lc_authority lc_context_authority(const lc_observation *observation, const lc_fact *fact);

#endif /* LC_CONTEXT_OBSERVE_H */
