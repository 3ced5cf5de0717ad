/* candidate.h - everything that could be in a context, as one list.
 *
 * Each section of a context has one row in lc_context_sections: how it is shown, when it may
 * choose, and a function that collects its candidates from a room. A context is built in four steps
 * over the same list (build.c):
 *
 *     collect   each section adds candidates, and says which of them are irrelevant to the query
 *     judge     what was said is judged together: is it still so, for this reader (talk/talk.h)?
 *     pack      what is left goes to the packer, in the order of choosing (pack/pack.h)
 *     manifest  what is in and what is not, with reasons, is read off the list
 *
 * A new section is one function and one row.
 */
#ifndef LC_CONTEXT_CANDIDATE_H
#define LC_CONTEXT_CANDIDATE_H

#include "context/build.h"

/* In the order of the text: what changes with every call comes last, so that a provider's cache of
 * the prompt can be used. */
typedef enum lc_section {
    LC_SECTION_IDENTITY,
    LC_SECTION_CONSTRAINTS,
    LC_SECTION_FOUNDATION,
    LC_SECTION_FACTS,
    LC_SECTION_CARDS,
    LC_SECTION_MEMORIES,
    LC_SECTION_TODOS,
    LC_SECTION_SUMMARIES,
    LC_SECTION_CONVERSATION,
    LC_SECTION_FRAME,
    LC_SECTION_MAP,
    LC_SECTION_WORKING,
    LC_SECTION_ENVIRONMENT
} lc_section;

_Static_assert(LC_SECTION_ENVIRONMENT + 1 == LC_SECTION_COUNT, "build.h counts the sections");

/* Reasons for not being in a context: superseded retracted restricted scope expired needs_review
 * claim duplicate irrelevant budget. */
#define LC_CONTEXT_REASONS 10

typedef struct lc_candidate {
    /* Set by the section. */
    lc_pack_item item;         /* id, section, is_mandatory, known_tokens: of the line as collected.
                                  `place`:         0 = as chosen. */
    loci_str lead, text, tail; /* Its line; `text` is what is judged. */
    bool is_judged;
    bool is_evidence;      /* Only helps to judge the others, such as a value that was replaced. */
    lc_said_kind kind;     /* How it is judged, with the next six members. */
    int64_t seq;           /* When it was said, among the candidates. */
    int64_t at_us;         /* When it was observed. */
    loci_str key;          /* Of a fact that later messages may be about, or of a lost value. */
    loci_str speaker;      /* Of a message. */
    bool is_model;         /* A model said it. */
    bool is_exempt;        /* A message that is shown whatever its score is. */
    loci_str successor_id; /* For a former value: the id of its successor, or none, */
    size_t successor;      /* or the index of its successor; LC_SAID_NONE = none. */
    bool is_last;          /* Chosen after all others, from the rest of the budget. */
    float score;           /* In its section a higher score is chosen first, */
    int64_t order;         /* then a lower order. */
    lc_fused parts;        /* Of the score, if it was searched for. */
    loci_str source_id, quote; /* For a candidate derived from a message: message id, sentence. */
    const loci_str *sources;   /* Ids of the messages of a summary, */
    size_t source_count;       /* or none. It is not shown beside all of them. */
    loci_str trust;            /* Of its source: lc_trust_is_trusted(); none = it is trusted. */
    const char *left_out; /* Only named in the manifest, with this reason: the section counts it. */
    const char *excluded; /* The reason; NULL = it goes to the packer. Set by the section or by
                             judging. */
    /* Set by judging. */
    const lc_judged *judged;
} lc_candidate;

/* A context in the making. */
typedef struct lc_context {
    lc_tx *tx;
    const lc_context_input *input;
    lc_arena *arena; /* Everything lives in it. */
    lc_candidate *candidates;
    size_t count, room;
    int64_t counts[LC_CONTEXT_REASONS]; /* Candidates left out, per reason. */
    bool is_complete;                   /* False: the index of facts was still being built. */
    bool is_frame_trimmed;              /* Handles are shown in their shorter forms. */
} lc_context;

typedef struct lc_context_section {
    lc_pack_section pack;
    int turn; /* Sections choose in this order. */
    /* Adds the candidates of this section, and of others that are read together with it. NULL =
     * another one does. */
    loci_status (*collect)(lc_context *context, loci_error *err);
} lc_context_section;

extern const lc_context_section lc_context_sections[LC_SECTION_COUNT];

/* A new candidate, zeroed but for its section and order; valid until the next one is added. NULL
 * when out of memory. */
lc_candidate *lc_context_add(lc_context *context, lc_section section);
/* Counts what is not in the context and is no candidate. */
void lc_context_count(lc_context *context, const char *reason, int64_t count);
/* Joins texts in the arena; `ptr` is NULL when out of memory. */
loci_str lc_context_join(lc_arena *arena, const loci_str *parts, size_t count);
/* "2026-01-06" in the arena; `ptr` is NULL when out of memory. */
loci_str lc_context_date(lc_arena *arena, int64_t at_us);

/* Collects the section of messages (conversation.c). */
loci_status lc_context_collect_conversation(lc_context *context, loci_error *err);
/* Adds the values that facts have lost, as evidence: the last ones, or only those that the manifest
 * names. */
loci_status lc_context_add_ended(lc_context *context, bool is_all, loci_error *err);
/* After judging: leaves out messages that have nothing to do with the query. */
void lc_context_drop_irrelevant(lc_context *context);

/* Collects the map of the window (collect_map.c). */
loci_status lc_context_collect_map(lc_context *context, loci_error *err);

/* Collects the frame that the agent works on (collect_frame.c). */
loci_status lc_context_collect_frame(lc_context *context, loci_error *err);

/* Collects summaries of conversations (collect_summary.c). */
loci_status lc_context_collect_summaries(lc_context *context, loci_error *err);

/* Of collect_memory.c. */
loci_status lc_context_collect_foundation(lc_context *context, loci_error *err);
loci_status lc_context_collect_memories(lc_context *context, loci_error *err);
loci_status lc_context_collect_todos(lc_context *context, loci_error *err);

/* The last messages, newest first, in the arena. */
typedef struct lc_message_list {
    lc_message *items;
    size_t count;
} lc_message_list;
loci_status lc_context_read_messages(lc_tx *tx, const lc_message_page *page, lc_arena *arena,
                                     lc_message_list *out, loci_error *err);
/* For relevant_only: whether the query is about a text with this score. */
bool lc_context_is_relevant(const lc_context *context, const lc_fused *score, bool is_short);
/* Whether the text has too few words to mean something by itself. */
bool lc_context_is_short(loci_str text);
/* Whether the section was asked for. */
bool lc_context_wants(const lc_context *context, lc_section section);
/* Whether a model said it, and no person. */
bool lc_message_is_model(const lc_message *message);

#endif /* LC_CONTEXT_CANDIDATE_H */
