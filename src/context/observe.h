/* observe.h - a message, kept, and the facts that it changes.
 *
 * The message is always kept. A fact changes only where talk/propose.h finds a plain statement
 * about it; a less certain statement becomes a claim, and so does a change that the speaker may not
 * make. A proposal is decided like any other write, with the speaker's authority and trust.
 */
#ifndef LC_CONTEXT_OBSERVE_H
#define LC_CONTEXT_OBSERVE_H

#include "fact/fact.h"
#include "session/session.h"
#include "talk/propose.h"

typedef struct lc_observation {
    const lc_talk *talk;
    const lc_statements *statements; /* Of the message: lc_observation_read(). NULL = none. */
    lc_session_use *session;         /* Chosen, not yet begun. NULL = the message is stored. */
    lc_message message;              /* Role, speaker, text, observed_at. */
    lc_fact_view view;
    lc_authority authority;  /* Of the speaker, effective. */
    bool is_authority_given; /* By the caller; else a correction keeps the authority of the fact it
                                corrects, at most the speaker's: talk alone never raises it. */
    loci_str trust;
    bool is_owner;       /* The user wrote the message; for a message without a known session.
                            See lc_observation_is_owner(). */
    bool is_known_only;  /* Only facts that are known change; no new ones are made. */
    bool is_one_session; /* The caller named a session: only its messages are before this one. */
    lc_arena *arena;
} lc_observation;

typedef struct lc_observed_fact {
    loci_str key;
    loci_str value; /* As text. */
    loci_str quote;
    lc_fact_result result;
    lc_rule rule;
} lc_observed_fact;

typedef struct lc_observed {
    lc_id message_id;
    int64_t seq;
    lc_observed_fact facts[LC_PROPOSALS_MAX];
    size_t count;
} lc_observed;

/* The statements of a text, in the arena. Needs no transaction: reading is done before the writer.
 */
loci_status lc_observation_read(const lc_talk *talk, lc_arena *arena, loci_str text,
                                const lc_statements **out, loci_error *err);

/* The terms of a text; none if it has characters that a reader cannot see. */
loci_status lc_observation_terms(const lc_talk *talk, lc_arena *arena, loci_str text, lc_terms *out,
                                 loci_error *err);

/* In the writer. Begins the session, appends the message, writes the facts. */
loci_status lc_context_observe(lc_tx *tx, const lc_observation *observation, lc_observed *out,
                               loci_error *err);

/* Whether the speaker is the user that facts and memories are about: "my" means theirs. */
bool lc_observation_is_owner(const lc_observation *observation);

/* In the writer. Writes the facts that the rules find in a message that is stored already,
 * `message` with its id and seq. Without statements the text is read here. */
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
