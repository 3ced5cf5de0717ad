/* build.h - builds a text with the current state for a model, and a manifest of the reasons.
 *
 * The text contains the identity of the user, the rules that apply, the facts that are relevant to
 * the query, the messages that are still valid, the notes of the session and the state of the
 * environment. It leaves out entries that are superseded, retracted, expired, of another scope, not
 * meant for this reader, or only supposed. Mandatory parts come first, facts get at most 700 per
 * mille of the remaining budget, and the parts that change with every call come last. The same
 * state and the same input give the same bytes.
 */
#ifndef LC_CONTEXT_BUILD_H
#define LC_CONTEXT_BUILD_H

#include "fact/fact_corpus.h"
#include "pack/pack.h"
#include "session/session.h"
#include "talk/talk.h"
#include "text/tokenizer.h"
#include "window/window.h"

#define LC_CONTEXT_BYTES_MAX (32 << 20)

/* In the order of the text. */
#define LC_SECTION_NAMES                                                                           \
    "identity|constraints|foundation|facts|cards|memories|todos|summaries|conversation|frame|map|" \
    "working|environment"
#define LC_SECTION_COUNT 13
/* The sections of a brief. */
#define LC_BRIEF_SECTION_NAMES "identity|constraints|foundation|todos|summaries|environment"
/* The bit of a section in a mask; 0 for an unknown name. */
unsigned lc_context_section_bit(loci_str name);
/* The bits of LC_BRIEF_SECTION_NAMES. */
unsigned lc_context_brief_mask(void);

/* How the context is handed over (format.h). */
#define LC_CONTEXT_FORMATS "text|markdown|json|messages"
typedef enum lc_context_format {
    LC_CONTEXT_TEXT,
    LC_CONTEXT_MARKDOWN,
    LC_CONTEXT_JSON,
    LC_CONTEXT_MESSAGES
} lc_context_format;
#define LC_CONTEXT_APIS "anthropic|openai"

/* A line of the manifest, for callers that keep it (kept.h). */
#define LC_CONTEXT_WHYS "rule|pinned|relevant|recent|open|window|session|environment|frame"
typedef struct lc_context_line {
    loci_str id;
    const char *section;
    const char *why;    /* NULL = it is not in the text. */
    const char *reason; /* Why not; NULL = it is. */
    int64_t tokens;
    double score, words, meaning; /* 0 = it was not searched for. */
} lc_context_line;

typedef struct lc_context_lines {
    lc_context_line *items;
    size_t count;
    int64_t tokens; /* Of the whole text. */
} lc_context_lines;

typedef struct lc_context_input {
    loci_str query;
    lc_corpus_terms terms; /* Of the query. */
    const float *vector;   /* Of the query, made by tx->embedding; NULL = by words alone. */
    int64_t budget;        /* In tokens of the counter: lc_context_budget(). */
    int64_t asked_budget;  /* As the caller gave it. */
    double tokens_ratio;   /* Of a token of the model to a counted one; 0 = there is no model. */
    lc_fact_view view;
    loci_str conversation_id;    /* Messages of this session only; none = of all. */
    loci_str frame_id;           /* Frame of the section frame; none = there is none. */
    loci_str working_id;         /* Session of the working set; none = there is none. */
    const lc_identity *identity; /* Of the open session; no user_name = none. */
    const lc_talk *talk;
    lc_counter counter;
    const lc_tokenizer *tokenizer; /* For the map of the window. */
    const char *pressure;          /* Level of the window; NULL = there is none. */
    loci_str pressure_warning;     /* None = it is not critical. */
    int encoding;                  /* Identifies what the counter counts; see lc_fact_request. */
    bool is_estimated;             /* The counter's numbers are estimates, */
    bool is_estimate_wanted;       /* as the caller asked for. */
    loci_str warning;              /* For the caller; none = there is none. */
    int reader_rank;               /* Seniority of the reader, for marks in texts; -1 = unknown. */
    unsigned section_mask;         /* Sections that are wanted: lc_context_section_bit(). */
    bool relevant_only;            /* Nothing but what the query is about. */
    bool is_brief;                 /* For the start of a session: summaries of any session. */
    bool is_explained;             /* Items have their reasons and scores. */
    lc_context_lines *lines;       /* Out: the manifest, in the arena; NULL = not wanted. */
    lc_context_format format;
    bool is_for_openai;       /* Messages in OpenAI's shape, else in Anthropic's. */
    loci_str without_session; /* Without the messages of this session; none = with all. */
    /* Asked now and then: not LOCI_OK (the deadline, a cancelled call) ends the work. */
    loci_status (*pause)(void *ctx, loci_error *err);
    void *pause_ctx;
    lc_arena *arena;
} lc_context_input;

/* The budget in counted tokens of one in tokens of the model. A model that has more tokens than the
 * counter for the same text gets a smaller one; one that has fewer does not get a larger one, so
 * that the counted total is never above the budget of the call. */
int64_t lc_context_budget(int64_t asked, double tokens_ratio);

/* Writes the members of the answer: text, request (format messages), included, excluded,
 * excluded_counts, tokens, budget, model_tokens, estimated, pressure, warnings. LOCI_EBUDGET as the
 * packer; LOCI_ECONFLICT as lc_fact_choose(). */
loci_status lc_context_build(lc_tx *tx, const lc_context_input *input, lc_json_writer *out,
                             loci_error *err);

#endif /* LC_CONTEXT_BUILD_H */
