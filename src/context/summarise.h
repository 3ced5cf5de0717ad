/* summarise.h - what a summary says: read its sources, extract or ask a model, check.
 *
 *     lc_summarise_read(tx, &request, arena, &input, err);         on a snapshot
 *     lc_summarise_extract(&input, lexicon, arena, &summary, err)  without a model; never fails for
 *                                                                  want of content
 *     lc_summarise_ask(&input, arena, &chat, err);                 with one:
 *     lc_summarise_check(&input, answer, arena, &summary, err);
 *     lc_summarise_is_current(tx, &input, arena, &is_current, err);  in the writer, before it is
 *                                                                    added
 *
 * Extracted summaries quote: sentences of the conversation (talk/digest.h), texts of memories and
 * todos. The answer of a model is checked for form and length and cut to the limits; unlike facts,
 * a summary is not evidence for anything.
 */
#ifndef LC_CONTEXT_SUMMARISE_H
#define LC_CONTEXT_SUMMARISE_H

#include "model/provider.h"
#include "session/session.h"
#include "session/summary.h"
#include "talk/digest.h"

#define LC_SUMMARISE_MESSAGES_MAX 400       /* The last ones of a longer session are read, */
#define LC_SUMMARISE_BYTES_MAX (256 * 1024) /* up to this size in bytes. */
#define LC_SPINE_SECTIONS 4
#define LC_SPINE_LINES_MAX 10 /* Per section. */

typedef struct lc_spine_line {
    loci_str id; /* mem_… or todo_… */
    loci_str text;
} lc_spine_line;

typedef struct lc_summarise_input {
    lc_summary summary; /* Kind, session, persona, seqs and counts; no text yet. */
    bool is_due;        /* There is something to summarise, and the last one is not recent. */
    /* rolling, session: messages, oldest first. */
    lc_digest_message *messages;
    loci_str *message_ids;
    size_t message_count;
    lc_str_list people; /* Labels of persons in memories. */
    loci_str previous;  /* Text of the last summary of this kind, or none. */
    /* spine: profile, projects, people, open loops. */
    lc_spine_line lines[LC_SPINE_SECTIONS][LC_SPINE_LINES_MAX];
    size_t line_counts[LC_SPINE_SECTIONS];
} lc_summarise_input;

/* Selects the messages to summarise. */
typedef struct lc_summarise_request {
    loci_str kind;
    loci_str session_id; /* None for a spine. */
    loci_str persona_id;
    int64_t spine_messages; /* User messages that a spine waits for. */
    bool is_forced;
} lc_summarise_request;

/* Everything is in the arena. A session that does not exist any more is not due. */
loci_status lc_summarise_read(lc_tx *tx, const lc_summarise_request *request, lc_arena *arena,
                              lc_summarise_input *out, loci_error *err);

loci_status lc_summarise_extract(const lc_summarise_input *input, const lc_lexicon *lexicon,
                                 lc_arena *arena, lc_summary *out, loci_error *err);

/* Sets system, user, name, schema and tokens_max. */
loci_status lc_summarise_ask(const lc_summarise_input *input, lc_arena *arena, lc_chat *out,
                             loci_error *err);
/* LOCI_EUNAVAILABLE: the answer does not have the form of the schema. */
loci_status lc_summarise_check(const lc_summarise_input *input, const lc_json *answer,
                               lc_arena *arena, lc_summary *out, loci_error *err);

/* Whether everything that was read is still there: nothing was forgotten or withdrawn meanwhile. */
loci_status lc_summarise_is_current(lc_tx *tx, const lc_summarise_input *input, lc_arena *arena,
                                    bool *out, loci_error *err);

#endif /* LC_CONTEXT_SUMMARISE_H */
