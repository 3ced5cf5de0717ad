/* state_score.h - how good the contexts of a file's queries are. No model is needed.
 *
 * recall    share of the must_mention phrases that are in the contexts
 * exposure  share of the queries with a must_not_mention phrase whose context shows one
 * perfect   share of the queries whose context shows every wanted phrase and no forbidden one
 *
 * A phrase counts only where it can be judged: one that occurs nowhere in its timeline or is an
 * ordinary word is dropped, and so is a forbidden one that the question itself contains.
 */
#ifndef LC_BENCH_LIB_STATE_SCORE_H
#define LC_BENCH_LIB_STATE_SCORE_H

#include "base/arena.h"
#include "base/json.h"

#include <stdbool.h>

#define STATE_TRACKS_MAX 64

typedef struct state_total {
    char track[64];
    int queries, perfect;
    int wanted, got;      /* Phrases. */
    int guarded, exposed; /* Queries. */
} state_total;

/* Zeroed is a valid board. */
typedef struct state_board {
    state_total all;
    state_total tracks[STATE_TRACKS_MAX]; /* Sorted by name. */
    int track_count;
    int missing; /* Queries without a context: scored as if it were empty. */
} state_board;

typedef struct state_phrase {
    loci_str text; /* As the file has it. */
    const struct state_phrase *next;
} state_phrase;

/* What became of one query. */
typedef struct state_verdict {
    int wanted, got;
    bool is_guarded;
    const state_phrase *missing; /* Wanted and not shown. */
    const state_phrase *exposed; /* Forbidden and shown. */
} state_verdict;

/* All that was said or written in a timeline, lowered: where phrases must come from. */
loci_str state_reachable(lc_arena *arena, const lc_json *timeline);
/* `context` may be none. */
state_verdict state_judge(lc_arena *arena, loci_str reachable, const lc_json *query,
                          loci_str context);
bool state_is_perfect(const state_verdict *verdict);
void state_board_add(state_board *board, loci_str track, const state_verdict *verdict);

double state_perfect(const state_total *total);
double state_recall(const state_total *total);
double state_exposure(const state_total *total);

#endif /* LC_BENCH_LIB_STATE_SCORE_H */
