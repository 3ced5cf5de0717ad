/* talk.h - judges messages: which of them repeat a value that is no longer true, and which readers
 * may see them.
 *
 * A clause of a message is left out for two reasons only: it states a value that a fact has lost,
 * or its speaker took it back within the next turns and named both values. Marks in brackets
 * (talk/mark.h) are obeyed for everything. All other text is shown, whatever its words: rules that
 * hid questions, suppositions and asides hid more answers than noise. An aside only loses rank. The
 * rules read plain English and are deterministic; docs/conversation.md describes them.
 */
#ifndef LC_TALK_TALK_H
#define LC_TALK_TALK_H

#include "base/arena.h"
#include "talk/mark.h"

/* The lexicon, compiled, and the ranks of titles; immutable, for any number of threads. */
typedef struct lc_talk lc_talk;

/* `ranking` must live as long. */
loci_status lc_talk_new(lc_heap *heap, lc_ranking *ranking, lc_talk **out, loci_error *err);
void lc_talk_free(lc_talk *talk); /* NULL is fine. */

typedef struct lc_lexicon lc_lexicon;
const lc_lexicon *lc_talk_lexicon(const lc_talk *talk);

typedef enum lc_said_kind {
    LC_SAID_FACT,
    LC_SAID_FORMER,  /* A value that was replaced: never shown. */
    LC_SAID_NOTE,    /* Of the working set: only its mark is judged. */
    LC_SAID_SIGNAL,  /* Of the environment, which is about now: a later one on its subject replaces
                        it. */
    LC_SAID_SUMMARY, /* Made from messages: judged as they are, but it corrects nothing. */
    LC_SAID_MESSAGE
} lc_said_kind;

#define LC_SAID_NONE SIZE_MAX

typedef struct lc_said {
    lc_said_kind kind;
    loci_str key; /* Of a fact that later messages may name, or of a former value; none = none. */
    loci_str text;
    loci_str speaker; /* Of a message. */
    bool is_model;    /* A model said it. */
    int64_t seq;
    size_t successor; /* For a former value: index of its successor, or LC_SAID_NONE. */
} lc_said;

typedef enum lc_verdict {
    LC_VERDICT_HOLDS,
    LC_VERDICT_REPLACED,   /* States a value that was replaced, or was withdrawn. */
    LC_VERDICT_RESTRICTED, /* Marked for others. */
    LC_VERDICT_SUPPOSED    /* Marked as a draft, or of another scope. */
} lc_verdict;

/* The verdict on one message or fact. */
typedef struct lc_judged {
    lc_verdict verdict; /* Of the whole. */
    loci_str text;      /* The text that is left, or all of it. */
    /* For a fact with a key: the last message after it that names the key, or LC_SAID_NONE. */
    size_t later;
    /* For a message: factor of its rank. Below 1 inside an aside or a brainstorm that the speakers
     * opened and closed. */
    float weight;
} lc_judged;

typedef struct lc_talk_input {
    const lc_said *said; /* In the order of time. */
    size_t count;
    lc_reader reader;
    /* Asked before each message: not LOCI_OK ends the judgement. NULL = nothing to ask. */
    loci_status (*pause)(void *ctx, loci_error *err);
    void *pause_ctx;
} lc_talk_input;

/* `out` gets one per thing said, in the arena. */
loci_status lc_talk_judge(const lc_talk *talk, lc_arena *arena, const lc_talk_input *input,
                          const lc_judged **out, loci_error *err);

#endif /* LC_TALK_TALK_H */
