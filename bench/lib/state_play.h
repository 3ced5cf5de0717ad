/* state_play.h - plays timelines into loci, the way a host would: by operations and nothing else.
 *
 * Each timeline is a user of its own, and the clock is set to the time of each event:
 *
 *     initial facts    fact.write at their own times, before the identity, which would cap them
 *     identity_role    identity.set
 *     working_set      working.set, the keys are <item_type>_<n>
 *     environment      environment.set; `now` is the clock
 *     events           by time, in the order of the file where times are equal: fact.write or the
 *                      layer's operation, fact.observe, context.build
 */
#ifndef LC_BENCH_LIB_STATE_PLAY_H
#define LC_BENCH_LIB_STATE_PLAY_H

#include "base/arena.h"
#include "base/json.h"
#include "lib/state_client.h"

#define STATE_BUDGET_TOKENS 2000

typedef struct state_known state_known; /* Something that loci gave an id. */

typedef struct state_player {
    state_client client; /* To be opened before and closed after. */
    state_known *known;  /* Of the timeline that is played, the newest first. */
} state_player;

typedef struct state_query {
    const lc_json *event;
    int number;            /* Among the queries of the timeline, in the order of the file. */
    loci_str context;      /* `ptr` is NULL when there is none. */
    const lc_json *answer; /* Of context.build, NULL when it was refused. */
} state_query;

typedef void state_query_fn(void *ctx, const state_query *query);

/* Plays the `number`th timeline. All it keeps lives in `arena` until the next one. */
void state_play(state_player *player, lc_arena *arena, int number, const lc_json *timeline,
                state_query_fn *on_query, void *ctx);
/* What was said or written under an id of this timeline, for people; empty when nothing was. */
loci_str state_label(const state_player *player, loci_str id);

#endif /* LC_BENCH_LIB_STATE_PLAY_H */
