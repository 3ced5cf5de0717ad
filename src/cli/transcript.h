/* transcript.h - the messages in a transcript of Claude Code: one JSON object per line.
 *
 * Texts of people and of the model become messages with the roles user and assistant, answers of
 * tools messages with the role tool. Everything else is left out: thinking, tool calls, messages of
 * sub-agents, summaries of a compaction, and texts that the program or its hooks added to a prompt,
 * because the user did not write them.
 */
#ifndef LC_CLI_TRANSCRIPT_H
#define LC_CLI_TRANSCRIPT_H

#include "base/arena.h"
#include "base/str.h"

/* Text that a hook adds to a prompt is enclosed in this tag, so that it can be recognized. */
#define LC_TRANSCRIPT_TAG "loci-memory"

#define LC_TRANSCRIPT_MESSAGES_MAX 64 /* Of one line. */

typedef struct lc_transcript_message {
    const char *role;     /* user, assistant, tool */
    loci_str text;        /* Valid UTF-8 without U+0000, not blank. */
    loci_str external_id; /* The line's uuid, with "#n" for the block n behind the first. */
    loci_str at;          /* RFC 3339; none = unknown. */
} lc_transcript_message;

typedef struct lc_transcript_line {
    lc_transcript_message messages[LC_TRANSCRIPT_MESSAGES_MAX];
    size_t count;
    loci_str version; /* Of the program that wrote it; none = not said. */
    loci_str model;   /* That answered; none = not said. */
} lc_transcript_line;

typedef struct lc_transcript_limits {
    size_t text_bytes_max; /* Of a message; a longer one is cut. */
    size_t tool_bytes_max; /* The same for tools; 0 = leave their messages out. */
} lc_transcript_limits;

/* Reads one line; texts are in `arena` or in `line`. A line that is not JSON, or of another kind,
 * has no messages. The only error is a lack of memory. */
loci_status lc_transcript_read(lc_arena *arena, loci_str line, const lc_transcript_limits *limits,
                               lc_transcript_line *out, loci_error *err);

/* The text without the parts that programs added, with U+0000 as spaces, trimmed and cut to
 * `bytes_max`; in `arena`. None if nothing is left, `ptr` NULL; false if out of memory. */
bool lc_transcript_clean(lc_arena *arena, loci_str text, size_t bytes_max, loci_str *out);

#endif /* LC_CLI_TRANSCRIPT_H */
