/* extract.h - the facts that a chat model finds in a message.
 *
 *     lc_extract_read(tx, &observation, &input, err);     the message, the turns before, known
 * facts lc_extract_ask(&input, arena, &prompt, err);        as one JSON document
 *     ... the model answers, outside of any transaction ...
 *     lc_extract_check(arena, answer, &input, &list, err);
 *     lc_extract_write(tx, &observation, &list, &outcomes, err);
 *
 * The model only proposes. Its answer is untrusted: a value is accepted only if the quote
 * contains it and the message contains the quote, word for word, so nothing is stored that the
 * speaker did not say. Each accepted proposal is then decided like a fact.write with the authority
 * and trust that the speaker had; if these do not suffice, the proposal becomes a claim.
 */
#ifndef LC_CONTEXT_EXTRACT_H
#define LC_CONTEXT_EXTRACT_H

#include "context/observe.h"
#include "talk/learn.h"

#define LC_EXTRACT_PROPOSALS_MAX 5
#define LC_EXTRACT_CONFIDENCE_MIN 0.75
#define LC_EXTRACT_REVIEW_MIN 0.5 /* From here on a memory is proposed for review. */
/* Limits of the input of the model. */
#define LC_EXTRACT_MESSAGE_BYTES_MAX 16384 /* Of the message: its beginning. */
#define LC_EXTRACT_BEFORE_MAX 6            /* Turns before it in its session, */
#define LC_EXTRACT_BEFORE_BYTES_MAX 2000   /* each cut to this. */
#define LC_EXTRACT_KNOWN_MAX 60            /* Facts: the best matches, then the newest, */
#define LC_EXTRACT_KNOWN_BYTES_MAX 200     /* with values cut to this. */
/* Limits of its answer. */
#define LC_EXTRACT_KEY_BYTES_MAX 64 /* Of a new key. */
#define LC_EXTRACT_VALUE_BYTES_MAX 500
#define LC_EXTRACT_QUOTE_BYTES_MAX 1000

typedef struct lc_extract_known {
    loci_str key;
    loci_str value; /* As text. */
} lc_extract_known;

typedef struct lc_extract_input {
    lc_message message;                       /* In full; no id = it does not exist any more. */
    loci_str text;                            /* The part of its text that the model sees. */
    lc_message before[LC_EXTRACT_BEFORE_MAX]; /* Oldest first. */
    size_t before_count;
    lc_extract_known known[LC_EXTRACT_KNOWN_MAX];
    size_t known_count;
} lc_extract_input;

/* On a snapshot. `observation` has the id, seq, session_id and persona_id of the message, and the
 * speaker's view. Facts that the speaker may not read are not shown to the model. Everything is in
 * the arena of the observation. */
loci_status lc_extract_read(lc_tx *tx, const lc_observation *observation, lc_extract_input *out,
                            loci_error *err);

/* The message as it is stored now; no id = it does not exist any more, or was erased. */
loci_status lc_extract_find_message(lc_tx *tx, const lc_observation *observation, lc_message *out,
                                    loci_error *err);

extern const char lc_extract_instructions[]; /* The system prompt. */
extern const char lc_extract_schema[];       /* JSON schema of the answer. */

/* The user prompt: {known: [{key, value}], before: [{speaker, text}], message: {speaker, text}}. */
loci_status lc_extract_ask(const lc_extract_input *input, lc_arena *arena, loci_str *out,
                           loci_error *err);

typedef struct lc_extract_proposal {
    loci_str key;        /* Of a known fact, or a new one in snake_case. */
    loci_str value;      /* Words of the quote. */
    loci_str quote;      /* Words of the message. */
    loci_str supersedes; /* Another known key, or none. */
    size_t at;           /* Where the quote is in the text. */
} lc_extract_proposal;

typedef struct lc_extract_list {
    lc_extract_proposal items[LC_EXTRACT_PROPOSALS_MAX]; /* One per key. */
    size_t count;
    lc_lessons lessons; /* Memories and todos; `when` is not set. */
    size_t refused;     /* Proposals that did not pass the checks. */
} lc_extract_list;

/* Checks the model's answer. Pure and fuzzed. LOCI_EUNAVAILABLE: it does not have the form of the
 * schema at all; a single proposal that is wrong is only refused. `out` points into `answer`. */
loci_status lc_extract_check(lc_arena *arena, const lc_json *answer, const lc_extract_input *input,
                             lc_extract_list *out, loci_error *err);

typedef struct lc_extract_outcomes {
    lc_fact_result results[LC_EXTRACT_PROPOSALS_MAX];
    size_t count;
} lc_extract_outcomes;

/* In the writer. The events of the facts refer to the message (refs.message_id). A proposal that
 * cannot be decided, because its key was taken over by another, say, is left out. */
loci_status lc_extract_write(lc_tx *tx, const lc_observation *observation,
                             const lc_extract_list *list, lc_extract_outcomes *out,
                             loci_error *err);

#endif /* LC_CONTEXT_EXTRACT_H */
