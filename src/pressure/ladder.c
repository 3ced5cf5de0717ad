/* ladder.c - One timer per step: since when usage is below the exit of that step.
 *
 * Exits ascend, so a usage below one of them is below all higher ones, and the timers of higher
 * steps never start later than those of lower ones. A ladder at level 3 whose usage falls below the
 * highest exit, and two seconds later below the others, therefore leaves level 3 one hold after the
 * first moment and the other levels one hold after the second: each level is left on its own
 * evidence. One timer for all of them would either keep level 3 too long or leave level 1 after
 * less than a hold.
 *
 * Invariant after each call: usage < enter[i] for all i >= level. A step is only taken down while
 * its timer runs, which means usage < exit[i] <= enter[i].
 */
#include "pressure/ladder.h"

#include "base/error.h"

/* 64 bits times 1000 does not fit into 64 bits. */
__extension__ typedef unsigned __int128 wide;

const lc_ladder_rules lc_ladder_window = {.names = {"low", "medium", "high", "critical"},
                                          .enter = {500, 700, 850},
                                          .exit = {450, 650, 800},
                                          .hold_ms = 0};
const lc_ladder_rules lc_ladder_guard = {.names = {"normal", "elevated", "high", "critical"},
                                         .enter = {500, 700, 850},
                                         .exit = {350, 550, 700},
                                         .hold_ms = 3000};

loci_status lc_ladder_check(const lc_ladder_rules *rules, loci_error *err)
{
    for (int i = 0; i < LC_LADDER_STEPS; i++) {
        const char *name = rules->names[i + 1];
        uint32_t enter = rules->enter[i], exit = rules->exit[i];

        if (enter < 1 || enter > 1000)
            return lc_fail(err, LOCI_EINVAL, "pressure %s: enter is %u per mille, not 1 to 1000",
                           name, enter);
        if (exit < 1 || exit > enter)
            return lc_fail(err, LOCI_EINVAL,
                           "pressure %s: exit is %u per mille, not 1 to %u (its enter)", name, exit,
                           enter);
        if (i > 0 && (enter <= rules->enter[i - 1] || exit <= rules->exit[i - 1]))
            return lc_fail(err, LOCI_EINVAL,
                           "pressure %s: enter %u and exit %u are not above those of %s (%u, %u)",
                           name, enter, exit, rules->names[i], rules->enter[i - 1],
                           rules->exit[i - 1]);
    }
    if (rules->hold_ms < 0 || rules->hold_ms > LC_LADDER_HOLD_MS_MAX)
        return lc_fail(err, LOCI_EINVAL, "pressure: hold is %lld ms, not 0 to %d",
                       (long long)rules->hold_ms, LC_LADDER_HOLD_MS_MAX);
    return LOCI_OK;
}

uint32_t lc_ladder_usage(uint64_t used, uint64_t limit)
{
    wide usage;

    if (limit == 0)
        return UINT32_MAX;
    usage = (wide)used * 1000 / limit;
    return usage > UINT32_MAX ? UINT32_MAX : (uint32_t)usage;
}

/* Starts or stops the timers for `usage`. */
static void run_timers(lc_ladder *ladder, const lc_ladder_rules *rules, uint32_t usage,
                       int64_t now_ms)
{
    bool is_back = now_ms < ladder->judged_ms;

    for (int i = 0; i < LC_LADDER_STEPS; i++) {
        bool is_below = usage < rules->exit[i];

        if (is_below && (!ladder->is_below[i] || is_back))
            ladder->below_since_ms[i] = now_ms;
        ladder->is_below[i] = is_below;
    }
    ladder->judged_ms = now_ms;
}

lc_pressure lc_ladder_judge(lc_ladder *ladder, const lc_ladder_rules *rules, uint32_t usage,
                            int64_t now_ms)
{
    unsigned level = ladder->level;

    run_timers(ladder, rules, usage, now_ms);
    for (unsigned i = level; i < LC_LADDER_STEPS; i++)
        if (usage >= rules->enter[i])
            level = i + 1;

    /* A running timer is never ahead of now, so the difference fits into 64 bits without sign. */
    while (level > 0 && ladder->is_below[level - 1] &&
           (uint64_t)now_ms - (uint64_t)ladder->below_since_ms[level - 1] >=
               (uint64_t)rules->hold_ms)
        level--;

    ladder->level = (lc_pressure)level;
    return ladder->level;
}

uint64_t lc_ladder_excess(const lc_ladder_rules *rules, lc_pressure level, uint64_t used,
                          uint64_t limit)
{
    uint64_t exit_amount; /* The smallest amount that is not below the exit. */

    if (level == LC_PRESSURE_NONE)
        return 0;
    exit_amount = (uint64_t)(((wide)rules->exit[level - 1] * limit + 999) / 1000);
    if (used < exit_amount)
        return 0;
    /* With a limit of 0 nothing is below the exit, and all that can go is everything. */
    return exit_amount == 0 ? used : used - exit_amount + 1;
}
