/* source.h - everything that a context is made from, read on one snapshot.
 *
 * The rooms do not know each other; here what they have comes together: valid facts and those that
 * ended lately, signals, messages, the working set. All of it is copied into one arena. What is
 * read is bounded by limits, whatever the user has. */
#ifndef LC_CONTEXT_SOURCE_H
#define LC_CONTEXT_SOURCE_H

#include "context/fact_index.h"
#include "session/environment.h"
#include "session/session.h"
#include "session/working.h"
#include "talk/talk.h"

#define LC_SOURCE_MESSAGES_MAX 200
#define LC_SOURCE_ENDED_MAX 200
#define LC_SOURCE_FACTS_MAX 150 /* Beside constraints. */

typedef struct lc_source_signal {
    lc_signal signal;
    loci_str text;
    loci_str former[LC_SIGNAL_FORMER_MAX]; /* What it was before, the last first. */
    size_t former_count;
} lc_source_signal;

typedef struct lc_source_item {
    lc_working_item item;
    loci_str text;
} lc_source_item;

typedef struct lc_source {
    lc_fact_choice chosen; /* Valid facts in the view that may be read. */
    lc_source_fact *ended; /* Superseded, retracted or only claimed, the last first. */
    size_t ended_count;
    lc_source_signal *signals;
    size_t signal_count;
    lc_source_item *items; /* Working set, newest first. */
    size_t item_count;
    lc_message *messages; /* Oldest first. */
    size_t message_count;
} lc_source;

typedef struct lc_source_input {
    loci_str query;
    lc_fact_chooser chooser;
    lc_counter counter;
    int encoding;
    lc_fact_view view;
    loci_str session_id; /* Messages of this session only; none = of all. */
    loci_str working_id; /* Whose working set; none = nobody's. */
} lc_source_input;

loci_status lc_source_read(lc_tx *tx, const lc_source_input *input, lc_arena *arena, lc_source *out,
                           loci_error *err);

/* Just the messages: what was said last, at most `limit`, oldest first. */
loci_status lc_source_read_messages(lc_tx *tx, const lc_message_page *page, lc_arena *arena,
                                    lc_source *out, loci_error *err);

/* Whether somebody other than a model said it. */
bool lc_message_is_model(const lc_message *message);

#endif /* LC_CONTEXT_SOURCE_H */
