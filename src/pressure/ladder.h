/* ladder.h - the level of pressure that a usage means: one machine for tokens in a window and for
 * bytes in a process.
 *
 * Usage is a number of thousandths of a limit. Each of the levels 1 to 3 has a threshold to enter
 * it and a lower or equal one to leave it; the distance between the two keeps a usage that swings
 * around a threshold from changing the level all the time.
 *
 *     up     at once, to the highest level whose `enter` the usage reaches
 *     down   a level is left when usage has been below its `exit` for `hold_ms` without a break;
 *            all levels that can be left are left in one step
 *
 * Intervals are half-open: with enter 500 a usage of 500 is in the level, 499 is not.
 *
 *     lc_ladder ladder = {0};
 *     level = lc_ladder_judge(&ladder, &lc_ladder_guard, lc_ladder_usage(used, limit), now_ms);
 *
 * A ladder is a plain value: nothing to free, no lock, no clock of its own. Its user recomputes
 * actions from the level each time it is judged, and never fires them on a change of level: an
 * action that was missed once would otherwise be missed for good.
 */
#ifndef LC_PRESSURE_LADDER_H
#define LC_PRESSURE_LADDER_H

#include "loci.h"

#include <stdbool.h>

typedef enum lc_pressure {
    LC_PRESSURE_NONE,   /* A window says "low", the guard "normal". */
    LC_PRESSURE_MEDIUM, /* The guard says "elevated". */
    LC_PRESSURE_HIGH,
    LC_PRESSURE_CRITICAL,
    LC_PRESSURES
} lc_pressure;

#define LC_LADDER_STEPS (LC_PRESSURES - 1) /* Thresholds: step i leads from level i to i + 1. */
#define LC_LADDER_HOLD_MS_MAX 3600000      /* One hour. */

typedef struct lc_ladder_rules {
    const char *names[LC_PRESSURES]; /* Of the levels, in answers and settings. */
    uint32_t enter[LC_LADDER_STEPS]; /* Per mille, ascending, 1 to 1000. */
    uint32_t exit[LC_LADDER_STEPS];  /* Per mille, ascending, 1 to `enter` of the same step. */
    int64_t hold_ms;                 /* 0 = a level is left at once. */
} lc_ladder_rules;

/* Tokens: low, medium, high, critical; enter 500, 700, 850; exit 450, 650, 800; no hold. */
extern const lc_ladder_rules lc_ladder_window;
/* Bytes: normal, elevated, high, critical; enter 500, 700, 850; exit 350, 550, 700; 3 s. */
extern const lc_ladder_rules lc_ladder_guard;

/* LOCI_EINVAL, naming the threshold, unless the rules are as described above. Rules that come from
 * settings are checked once, where they are read; the functions below assert nothing about them. */
loci_status lc_ladder_check(const lc_ladder_rules *rules, loci_error *err);

/* `{0}` is a ladder at the lowest level; `{.level = n}` one that continues from a stored level. */
typedef struct lc_ladder {
    lc_pressure level;
    int64_t judged_ms;                       /* Time of the last call. */
    bool is_below[LC_LADDER_STEPS];          /* Usage is below the step's exit, */
    int64_t below_since_ms[LC_LADDER_STEPS]; /* and has been since this time. */
} lc_ladder;

/* Thousandths of `limit` that `used` is, rounded down, at most UINT32_MAX. Rounding down does not
 * under-report: it gives the same answer as exact fractions for every threshold. A limit of 0
 * returns UINT32_MAX, which is critical: nothing fits. */
uint32_t lc_ladder_usage(uint64_t used, uint64_t limit);

/* Moves the ladder to the level that `usage` (per mille) means at `now_ms`, and returns it. Time is
 * monotonic; if it goes back all the same, the holds start again, so no level is left too early. */
lc_pressure lc_ladder_judge(lc_ladder *ladder, const lc_ladder_rules *rules, uint32_t usage,
                            int64_t now_ms);

/* The smallest amount that must go from `used` for `level` to be left: the rest is below its exit.
 * 0 for the lowest level, or when the rest is below already. */
uint64_t lc_ladder_excess(const lc_ladder_rules *rules, lc_pressure level, uint64_t used,
                          uint64_t limit);

#endif /* LC_PRESSURE_LADDER_H */
