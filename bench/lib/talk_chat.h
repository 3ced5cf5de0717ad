/* talk_chat.h - what contexts show of a conversation: questions whose evidence is known.
 *
 * A conversation is a file of JSON lines: a header {"conversation"}, which is not played because it
 * gives answers away; turns {"turn","at","role","speaker","text"}; questions {"question",
 * "category","evidence":[turn],"stale":[turn],"answer"}. All turns are played, then each question
 * is asked with every budget.
 *
 * A turn is shown when its text is in the context, runs of whitespace being one space. The score of
 * a question is the share of its evidence that is shown; the same for BM25 (lib/talk_bm25.h). Lines
 * without "evidence" are only counted by their tokens. In the category `update` a question is
 * current when all its evidence is shown, and fresh when in addition every stale turn is absent or
 * stands before the evidence: contexts are in the order of time.
 */
#ifndef LC_BENCH_LIB_TALK_CHAT_H
#define LC_BENCH_LIB_TALK_CHAT_H

#include "lib/talk_play.h"

#define TALK_BUDGETS 4 /* The last one is unlimited. */
#define TALK_TOTALS_MAX 64

extern const int64_t talk_budgets[TALK_BUDGETS];

/* Sums over questions, per budget. */
typedef struct talk_total {
    char name[64];
    int questions; /* With evidence. */
    double loci[TALK_BUDGETS], bm25[TALK_BUDGETS];
    double loci_tokens[TALK_BUDGETS], bm25_tokens[TALK_BUDGETS];
} talk_total;

typedef struct talk_updates {
    int questions;
    int current[TALK_BUDGETS], fresh[TALK_BUDGETS];
} talk_updates;

/* Zeroed is a valid board. */
typedef struct talk_board {
    talk_total all;
    talk_total conversations[TALK_TOTALS_MAX], categories[TALK_TOTALS_MAX];
    int conversation_count, category_count;
    talk_updates updates;
    talk_total without_evidence; /* Only its tokens. */
    int missing;                 /* Questions without a context: scored as if it were empty. */
} talk_board;

typedef struct talk_chat_options {
    bool asks;           /* Else the turns are played and nothing is asked. */
    bool shows_failures; /* Print the evidence that is not shown with 2,000 tokens. */
} talk_chat_options;

/* Plays a file for a new user. Turns may leave out everything but the text. A file that does not
 * begin with a JSON object is plain text: the user says each of its lines. */
void talk_chat_play(talk_player *player, const char *path, const talk_chat_options *options,
                    talk_board *board, talk_tally *tally);

#endif /* LC_BENCH_LIB_TALK_CHAT_H */
