/* judge.h - the shadow judge: what a message of the user leaves behind besides itself.
 *
 *     prepare   lc_judge_read(): the rules for plain language read the text, before the writer
 *     write     lc_judge_write(): facts that it changes, then memories, todos and proposals, in the
 *               transaction that stored the message
 *
 * Only messages of the user are judged, and only the user's own words: a speaker with another name
 * says nothing about the user. A lesson is stored with its sentence (metadata.said.quote) and its
 * message (metadata.message_id, and refs.message_id of its event). Below LC_LEARN_CONFIDENCE_MIN,
 * or said with little trust, it is a proposal for review. A sentence that a fact was made from
 * makes no memory. A wrong memory is worse than a missing one.
 */
#ifndef LC_CONTEXT_JUDGE_H
#define LC_CONTEXT_JUDGE_H

#include "context/observe.h"
#include "memory/memory.h"
#include "talk/learn.h"

/* Statements and lessons that the rules found in a text, in an arena. */
typedef struct lc_judge_reading {
    const lc_statements *statements;
    const lc_lessons *lessons; /* None that has to ask is left. */
} lc_judge_reading;

/* Needs no transaction. */
loci_status lc_judge_read(const lc_talk *talk, lc_arena *arena, loci_str text,
                          lc_judge_reading *out, loci_error *err);

/* A row that was derived from a message. */
typedef struct lc_learned {
    const char *kind; /* fact, memory, todo or proposal */
    lc_id id;
    const char *outcome; /* Of the write; "proposed" for a proposal. */
    loci_str quote;
} lc_learned;

#define LC_LEARNED_MAX (LC_PROPOSALS_MAX + LC_LESSONS_MAX)
#define LC_LEARNED_KINDS "fact|memory|todo|proposal"
typedef struct lc_learned_list {
    lc_learned items[LC_LEARNED_MAX];
    size_t count;
} lc_learned_list;

/* In the writer, for a message that is stored: `observation` has it with its id, seq, session_id
 * and observed_at. Facts, then the rest. */
loci_status lc_judge_write(lc_tx *tx, const lc_observation *observation,
                           const lc_judge_reading *reading, lc_learned_list *out, loci_error *err);
/* The same without facts, which `observed` has (NULL = none were made). */
loci_status lc_judge_write_lessons(lc_tx *tx, const lc_observation *observation,
                                   const lc_lessons *lessons, const lc_observed *observed,
                                   lc_learned_list *out, loci_error *err);

/* The input of a memory that came from a message; also used when a proposal is accepted. Metadata
 * is in the arena. */
typedef struct lc_lesson_source {
    loci_str message_id, session_id, quote;
    loci_str when_words; /* The date as it was said; none = none. */
    int64_t when_us;
    bool has_time;
} lc_lesson_source;
loci_status lc_judge_metadata(lc_arena *arena, const lc_lesson_source *source, loci_str *out,
                              loci_error *err);
/* Refs {person:slug} of a name, in the arena. */
loci_status lc_judge_person(lc_arena *arena, loci_str name, lc_str_list *out, loci_error *err);

#endif /* LC_CONTEXT_JUDGE_H */
