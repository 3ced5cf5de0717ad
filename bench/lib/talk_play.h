/* talk_play.h - plays ordinary talk into loci and counts what it does to facts.
 *
 * Before the first turn a user has 35 facts that have nothing to do with the talk
 * (tests/talk/known.jsonl), as a store in use would. Every turn is one fact.observe; each of its
 * outcomes is counted as
 *
 *     changed   a known fact got another value: wrong, unless the file says otherwise
 *     claimed   a proposal was kept for review
 *     created   a key that did not exist was written
 *     revised   a fact that came from the talk itself got another value
 */
#ifndef LC_BENCH_LIB_TALK_PLAY_H
#define LC_BENCH_LIB_TALK_PLAY_H

#include "lib/state_client.h"

#include <stdbool.h>

#define TALK_RULES_MAX 16

typedef struct talk_counts {
    int changed, claimed, created, revised;
} talk_counts;

typedef struct talk_rule {
    char name[32];
    talk_counts counts;
} talk_rule;

/* Zeroed is empty. */
typedef struct talk_tally {
    int turns;
    talk_counts counts;
    talk_rule rules[TALK_RULES_MAX]; /* In the order in which they were first met. */
    int rule_count;
} talk_tally;

typedef struct talk_turn {
    int number;
    int64_t at_us;
    bool is_assistant;
    loci_str speaker, text;
    loci_str message_id; /* Set by talk_say(); empty if loci refused the turn. */
} talk_turn;

typedef struct talk_player {
    state_client client;
    lc_arena known_arena;
    const lc_json **known; /* {"key","value"} */
    int known_count;
    int users;           /* Users so far: each talk has its own. */
    bool takes_role;     /* fact.observe has the parameter `role`. */
    bool shows_outcomes; /* Print each outcome with its turn. */
} talk_player;

/* The player must not move afterwards. */
void talk_player_open(talk_player *player, lc_heap *heap);
void talk_player_close(talk_player *player);

/* A new user without facts, at a time; answers live in `arena`. */
void talk_begin(talk_player *player, lc_arena *arena, int64_t at_us);
void talk_write_known(talk_player *player);
const lc_json *talk_known_value(const talk_player *player, loci_str key); /* NULL: not known. */

/* fact.observe; the clock is set to the time of the turn. `tally` may be NULL. The answer, or NULL
 * when loci refused. */
const lc_json *talk_say(talk_player *player, talk_turn *turn, talk_tally *tally);
/* context.build, or NULL when loci refused. */
const lc_json *talk_ask(talk_player *player, loci_str question, int64_t budget);
/* The value of fact.current, or NULL when the fact is not valid or was never written. */
const lc_json *talk_current(talk_player *player, loci_str key);

void talk_tally_add(talk_tally *to, const talk_tally *from);
/* A value as text: a string as it is, anything else as JSON. Lives in the arena. */
loci_str talk_text_of(lc_arena *arena, const lc_json *value);

#endif /* LC_BENCH_LIB_TALK_PLAY_H */
