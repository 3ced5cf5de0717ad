/* ledger.c - Invariants, before and after every call:
 *
 *     reserved + allocated <= total
 *         because only available tokens are granted; use alone can overdraw.
 *     0 <= used <= LC_LEDGER_USED_MAX
 *         so no sum of the members can overflow 64 bits.
 */
#include "frame/ledger.h"

#include <stddef.h>

#include "base/assert.h"

static bool is_amount(int64_t tokens)
{
    return tokens >= 0 && tokens <= LC_LEDGER_TOKENS_MAX;
}

bool lc_ledger_is_sound(const lc_ledger *ledger)
{
    return is_amount(ledger->total) && is_amount(ledger->reserved) &&
           is_amount(ledger->allocated) && ledger->reserved + ledger->allocated <= ledger->total &&
           ledger->used >= 0 && ledger->used <= LC_LEDGER_USED_MAX;
}

/* Tokens that are spent or promised. */
static int64_t committed(const lc_ledger *ledger)
{
    LC_ASSERT(lc_ledger_is_sound(ledger));
    return ledger->used + ledger->reserved + ledger->allocated;
}

int64_t lc_ledger_available(const lc_ledger *ledger)
{
    int64_t left = ledger->total - committed(ledger);

    return left > 0 ? left : 0;
}

int64_t lc_ledger_overdraft(const lc_ledger *ledger)
{
    int64_t over = committed(ledger) - ledger->total;

    return over > 0 ? over : 0;
}

bool lc_ledger_reserve(lc_ledger *ledger, int64_t tokens, lc_reservation *out)
{
    LC_ASSERT(is_amount(tokens));
    LC_ASSERT(!ledger->is_settled);
    if (tokens > lc_ledger_available(ledger))
        return false;
    ledger->reserved += tokens;
    *out = (lc_reservation){tokens};
    return true;
}

bool lc_ledger_use(lc_ledger *ledger, int64_t tokens)
{
    return lc_ledger_consume(ledger, &(lc_reservation){0}, tokens);
}

bool lc_ledger_consume(lc_ledger *ledger, lc_reservation *reservation, int64_t tokens)
{
    int64_t held = tokens < reservation->left ? tokens : reservation->left;

    LC_ASSERT(is_amount(tokens));
    LC_ASSERT(!ledger->is_settled);
    LC_ASSERT(lc_ledger_is_sound(ledger));
    LC_ASSERT(reservation->left >= 0);
    LC_ASSERT(reservation->left <= ledger->reserved);
    if (ledger->used + tokens > LC_LEDGER_USED_MAX)
        return false;
    ledger->reserved -= held;
    reservation->left -= held;
    ledger->used += tokens;
    return true;
}

void lc_ledger_release(lc_ledger *ledger, lc_reservation *reservation)
{
    LC_ASSERT(lc_ledger_is_sound(ledger));
    LC_ASSERT(reservation->left >= 0);
    LC_ASSERT(reservation->left <= ledger->reserved);
    ledger->reserved -= reservation->left;
    reservation->left = 0; /* So that a second release cannot give the same tokens back again. */
}

bool lc_ledger_allocate(lc_ledger *parent, int64_t tokens, lc_ledger *out_child)
{
    LC_ASSERT(is_amount(tokens));
    LC_ASSERT(!parent->is_settled);
    if (tokens > lc_ledger_available(parent))
        return false;
    parent->allocated += tokens;
    *out_child = (lc_ledger){.total = tokens};
    return true;
}

bool lc_ledger_settle(lc_ledger *parent, lc_ledger *child)
{
    LC_ASSERT(lc_ledger_is_sound(child));
    LC_ASSERT(!child->is_settled);
    LC_ASSERT(child->reserved == 0);
    LC_ASSERT(child->allocated == 0);
    if (parent != NULL) {
        LC_ASSERT(lc_ledger_is_sound(parent));
        LC_ASSERT(!parent->is_settled);
        LC_ASSERT(child->total <= parent->allocated);
        if (parent->used + child->used > LC_LEDGER_USED_MAX)
            return false;
        parent->allocated -= child->total;
        parent->used += child->used;
    }
    child->is_settled = true;
    return true;
}
