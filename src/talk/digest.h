/* digest.h - the sentences of a conversation that a summary should keep.
 *
 * A digest is extractive: each of its lines is a sentence of the conversation, word for word, so a
 * summary cannot contain a statement that no speaker made. Sentences are scored by their role
 * (decision, promise, open point, question), by the words they share with other messages, by names,
 * amounts and dates in them, by speaker and by position. Code, pleasantries and very long sentences
 * are left out; the last one is kept of sentences that say nearly the same.
 *
 *     lc_digest_read(lexicon, arena, &input, &digest, err);
 *     lc_digest_choose(&digest, LC_GISTS_ALL, (lc_digest_room){.code_points = 600, .lines = 12},
 *                      arena, &lines, err);                       best ones, in order of time
 *
 * Deterministic and pure: no clock, no store. Reading is bounded by LC_DIGEST_SENTENCES_MAX; of a
 * longer conversation the last sentences are read.
 */
#ifndef LC_TALK_DIGEST_H
#define LC_TALK_DIGEST_H

#include "base/str.h"
#include "talk/term.h"

#define LC_DIGEST_SENTENCES_MAX 1000
#define LC_DIGEST_PEOPLE_MAX 12

typedef struct lc_digest_message {
    loci_str speaker; /* Name of the speaker; none = the role is shown. */
    loci_str role;    /* user, assistant, tool, system; only the first two are read. */
    loci_str text;
} lc_digest_message;

typedef struct lc_digest_input {
    const lc_digest_message *messages; /* In the order of time. */
    size_t count;
    lc_str_list people; /* Names of people who are known; they are recognised in texts. */
} lc_digest_input;

/* The role of a sentence; the first one that applies. */
typedef enum lc_gist {
    LC_GIST_DECISION,   /* Something was decided or changed. */
    LC_GIST_COMMITMENT, /* A person says what they will do. */
    LC_GIST_OPEN,       /* Something is still to be done or unclear, or a question has no answer. */
    LC_GIST_QUESTION,   /* It was asked and answered. */
    LC_GIST_STATEMENT
} lc_gist;
#define LC_GISTS_ALL ((1u << (LC_GIST_STATEMENT + 1)) - 1)
#define LC_GIST_BIT(gist) (1u << (gist))

typedef struct lc_digest_line {
    size_t message; /* Index into the input. */
    loci_str text;  /* One line, in the arena. */
    lc_gist gist;
    float score; /* Above 0. */
    lc_terms terms;
    uint64_t bits; /* lc_sense_bits() of the terms. */
} lc_digest_line;

typedef enum lc_tone { LC_TONE_NEUTRAL, LC_TONE_POSITIVE, LC_TONE_TROUBLED, LC_TONE_MIXED } lc_tone;
const char *lc_tone_name(lc_tone tone);

typedef struct lc_digest {
    lc_digest_line *lines; /* In the order of time. */
    size_t count;
    loci_str people[LC_DIGEST_PEOPLE_MAX]; /* In the order of their first mention. */
    size_t people_count;
    lc_tone tone; /* Tone of the people's messages, without those of models. */
} lc_digest;

/* Texts point into the input or live in the arena. */
loci_status lc_digest_read(const lc_lexicon *lexicon, lc_arena *arena, const lc_digest_input *input,
                           lc_digest *out, loci_error *err);

/* How much may be chosen. */
typedef struct lc_digest_room {
    size_t code_points; /* Of all texts, one separator each included. */
    size_t lines;
} lc_digest_room;

typedef struct lc_digest_lines {
    const lc_digest_line **items; /* In the order of time. */
    size_t count;
} lc_digest_lines;

/* The best lines among the kinds in `gists` that fit; a line that does not fit is passed over. */
loci_status lc_digest_choose(const lc_digest *digest, unsigned gists, lc_digest_room room,
                             lc_arena *arena, lc_digest_lines *out, loci_error *err);

#endif /* LC_TALK_DIGEST_H */
