/* ledger.h - the tokens of one frame: given, spent, set aside and handed on to children.
 *
 *     total = available + used + reserved + allocated        while nothing is overdrawn
 *
 * Spending in two steps (reserve, then consume or release) keeps two parts of a frame from counting
 * on the same tokens. A child's budget is taken from its parent when the child is pushed and
 * settled once, when the child ends: what the child used becomes use of the parent, the rest
 * returns.
 *
 * Tokens that a model has already spent cannot be refused. lc_ledger_use() records them in any
 * case, and the amount above the total is the overdraft. An overdrawn ledger grants nothing more.
 *
 * A ledger is a plain value: nothing to free, no lock. Amounts are 0 to LC_LEDGER_TOKENS_MAX;
 * callers check arguments, these functions assert.
 */
#ifndef LC_FRAME_LEDGER_H
#define LC_FRAME_LEDGER_H

#include <stdbool.h>
#include <stdint.h>

#define LC_LEDGER_TOKENS_MAX INT64_C(1000000000000)  /* One amount: 10^12. */
#define LC_LEDGER_USED_MAX INT64_C(1000000000000000) /* Recorded use of one frame: 10^15. */

typedef struct lc_ledger {
    int64_t total;     /* Set once: `(lc_ledger){.total = n}` is a valid ledger. */
    int64_t used;      /* Spent by the frame and by its settled children. */
    int64_t reserved;  /* Set aside by reservations that are not yet consumed or released. */
    int64_t allocated; /* Totals of the children that are not settled yet. */
    bool is_settled;   /* Its tokens went back to the parent, or the root ended. */
} lc_ledger;

typedef struct lc_reservation {
    int64_t left; /* Tokens that are still set aside. */
} lc_reservation;

/* Tokens that can still be granted; 0 when the ledger is overdrawn. */
int64_t lc_ledger_available(const lc_ledger *ledger);
/* Tokens above the total; 0 when there are none. */
int64_t lc_ledger_overdraft(const lc_ledger *ledger);
/* Whether the numbers can be those of a ledger: for rows that were read. */
bool lc_ledger_is_sound(const lc_ledger *ledger);

/* Each returns false and changes nothing if it cannot: fewer tokens are available (reserve,
 * allocate), or the recorded use would exceed LC_LEDGER_USED_MAX (use, consume, settle). */
bool lc_ledger_reserve(lc_ledger *ledger, int64_t tokens, lc_reservation *out);
bool lc_ledger_use(lc_ledger *ledger, int64_t tokens);
/* Spends from a reservation; tokens above it are recorded as by lc_ledger_use(). */
bool lc_ledger_consume(lc_ledger *ledger, lc_reservation *reservation, int64_t tokens);
/* Gives back what is left of a reservation. */
void lc_ledger_release(lc_ledger *ledger, lc_reservation *reservation);
/* Takes the budget of a child out of `parent`. */
bool lc_ledger_allocate(lc_ledger *parent, int64_t tokens, lc_ledger *out_child);
/* Ends `child`, whose reservations are released and whose children are settled, and moves its use
 * to `parent`; NULL for a root. */
bool lc_ledger_settle(lc_ledger *parent, lc_ledger *child);

#endif /* LC_FRAME_LEDGER_H */
