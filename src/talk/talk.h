/* talk.h - what was said, and which of it still holds.
 *
 * Given everything that bears on a question in the order it came (facts, what they replaced,
 * signals of the environment, messages), it judges each clause: does it state something that is
 * still true, or does it ask, suppose, speak of the past, repeat a value that has been replaced,
 * belong to an aside that was closed? The rules are for plain English, they are deterministic, and
 * docs/conversation.md tells them in words. Text in other languages is kept: without a cue
 * everything holds.
 */
#ifndef LC_TALK_TALK_H
#define LC_TALK_TALK_H

#include "talk/attribution.h"
#include "talk/cue.h"
#include "talk/subject.h"

typedef enum lc_said_kind {
    LC_SAID_FACT,
    LC_SAID_FORMER, /* A fact that was replaced; never shown, it only tells what is dead. */
    LC_SAID_SIGNAL, /* Of the environment. */
    LC_SAID_NOTE,   /* Of the working set: only its mark is judged. */
    LC_SAID_MESSAGE
} lc_said_kind;

#define LC_SAID_NONE SIZE_MAX

typedef struct lc_said {
    lc_said_kind kind;
    loci_str text;
    bool is_model;    /* Said by the assistant: asks and repeats, never replaces anything. */
    size_t successor; /* Of a former fact: which of the others took its place, or LC_SAID_NONE. */
    int rank; /* Of a fact: what its authority is worth, in steps of its own; 0 = nothing. */
} lc_said;

typedef enum lc_verdict {
    LC_VERDICT_HOLDS,
    LC_VERDICT_ASKS,      /* A question or a request. */
    LC_VERDICT_META,      /* About the talk. */
    LC_VERDICT_SUPPOSES,  /* Only supposed, or said while playing with ideas. */
    LC_VERDICT_WAS,       /* Speaks of how it was. */
    LC_VERDICT_ASIDE,     /* In an aside that was closed. */
    LC_VERDICT_REPLACED,  /* States a value that was replaced, corrected or withdrawn. */
    LC_VERDICT_OUTRANKED, /* Contradicts somebody of higher rank. */
    LC_VERDICT_RESTRICTED /* Marked for others. */
} lc_verdict;

typedef struct lc_clause {
    loci_str text;
    lc_verdict verdict;
} lc_clause;

/* What became of one of the things said. */
typedef struct lc_judged {
    lc_verdict verdict; /* Of the whole; when it holds, its clauses tell more. */
    loci_str lead;      /* Whose words these are, as written in front; none = it is not said. */
    const lc_clause *clauses;
    size_t count;
} lc_judged;

typedef struct lc_talk lc_talk;

/* `ranking` must live as long. Immutable afterwards: any number of threads may judge. */
loci_status lc_talk_new(lc_heap *heap, lc_ranking *ranking, lc_talk **out, loci_error *err);
void lc_talk_free(lc_talk *talk); /* NULL is fine. */
/* For lc_terms_read(). */
const lc_lexicon *lc_talk_lexicon(const lc_talk *talk);

/* Texts that were read before; see talk/reading.h. */
typedef struct lc_readings lc_readings;

typedef struct lc_talk_input {
    const lc_said *said; /* Oldest first. */
    size_t count;
    lc_readings *readings;        /* NULL = none: everything is read. */
    loci_str query;               /* An aside or the past is let in when the query names it. */
    int reader_rank;              /* Who will read it; -1 = nobody in particular. */
    loci_str reader_title;        /* As "[PHYSICIANS ONLY] ..." has it; none = not known. */
    loci_str reader_organization; /* None = not known. */
    loci_str scope;               /* "[SCOPE: x] ..." is kept where this is x. */
} lc_talk_input;

/* `out_judged` gets one for each of the things said, in the arena. */
loci_status lc_talk_judge(const lc_talk *talk, lc_arena *arena, const lc_talk_input *input,
                          const lc_judged **out_judged, loci_error *err);

/* A text whose clauses that do not hold are left out; the text itself when all hold. */
loci_status lc_judged_text(lc_arena *arena, const lc_judged *judged, loci_str whole, loci_str *out,
                           loci_error *err);

#endif /* LC_TALK_TALK_H */
