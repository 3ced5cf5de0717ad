/* talk_cases.h - single sentences that change a fact, or must not.
 *
 * Two formats, one JSON object per line, each case with a user of its own:
 *
 *     {"key","value","said","question","must_show","kind"}
 *         The fact is written, `said` is observed one day later, `question` is asked with 500
 *         tokens. kind `change`: `must_show` is in the context, whether or not the fact changed;
 *         `keep`: the fact is unchanged and `must_show`, its value, is in the context.
 *     {"key","new","said"}
 *         `said` is observed with the known facts (lib/talk_play.h); the value of `key` contains
 *         `new` afterwards ("a|b": either), and no other fact changed.
 */
#ifndef LC_BENCH_LIB_TALK_CASES_H
#define LC_BENCH_LIB_TALK_CASES_H

#include "lib/talk_play.h"

/* Zeroed is empty. */
typedef struct talk_cases {
    int changes, changes_right, changes_wrong, changes_claimed;
    int changes_asked, changes_shown; /* Those with a question. */
    int keeps, keeps_right;
} talk_cases;

/* Adds up the cases of a file. With `shows_failures` prints those that are not as they should be.
 */
void talk_cases_play(talk_player *player, const char *path, bool shows_failures, talk_cases *out);

#endif /* LC_BENCH_LIB_TALK_CASES_H */
