/* user_kind.h - state that a room keeps in memory for one user, beside the rows in the store.
 *
 * A kind is one sort of state, such as the search index of a user's facts or of its messages. A
 * room declares its kinds; the engine keeps one entry per user with one state per kind
 * (engine/user_cache.h), lends a state to one thread at a time, and evicts the least recently used
 * entries by bytes. A state is made from rows and can be dropped at any time: nothing is lost but
 * the time to build it again.
 *
 * A state knows up to which seq of its user's log it has read. Borrowing one inside a transaction
 * first brings it to the head of that snapshot, so writes of other processes are noticed. A long
 * build is cut into slices that run on several snapshots; a state may be used before it is complete
 * and then knows only the older part of the log. One user has one state per kind, shared by all
 * personas: the search inside the state decides which rows a persona may see.
 */
#ifndef LC_STORE_USER_KIND_H
#define LC_STORE_USER_KIND_H

#include "base/clock.h"
#include "store/db.h"

#define LC_STATE_SLICE_US 200000

/* When a slice of a long build in this transaction must end: in LC_STATE_SLICE_US, because an open
 * snapshot keeps the WAL from shrinking, or when an eighth of the time left has passed, so that a
 * body that needs several states is answered in time from incomplete ones. */
static inline int64_t lc_tx_slice_end_us(const lc_tx *tx)
{
    int64_t now_us = lc_clock_monotonic_us();
    int64_t longest_us = now_us + LC_STATE_SLICE_US,
            share_us = now_us + (tx->until_us - now_us) / 8;

    return tx->until_us == 0 || longest_us < share_us ? longest_us : share_us;
}

/* One step of bringing a state up to date. */
typedef struct lc_catch_up {
    int64_t seen_seq; /* In and out: the state reflects the log up to here; -1 = it is empty. */
    int64_t head_seq; /* In: where the log ends in this snapshot. */
    /* In: monotonic time at which a long build returns unfinished, to be called again soon. A build
     * that returns unfinished before this time is called again at the next use. */
    int64_t pause_us;
    bool is_complete; /* Out: the state reflects everything up to head_seq. */
} lc_catch_up;

typedef struct lc_user_kind lc_user_kind;
struct lc_user_kind {
    const char *name; /* "fact.corpus" */
    const void *of;   /* For `open`, if several kinds share their functions; may be NULL. */
    loci_status (*open)(const lc_user_kind *kind, lc_heap *heap, void **out, loci_error *err);
    /* Reads the changes after seen_seq. If it fails the engine closes the state. NULL: the state
     * does not depend on the log (a cache by content). */
    loci_status (*catch_up)(void *state, lc_tx *tx, lc_catch_up *step, loci_error *err);
    size_t (*bytes)(const void *state);
    void (*close)(void *state); /* NULL is fine. */
};

/* How a transaction reaches the states of its user; the engine sets lc_tx.states. */
struct lc_user_states {
    loci_status (*borrow)(void *ctx, lc_tx *tx, const lc_user_kind *kind, void **out,
                          bool *out_is_complete, loci_error *err);
    void (*give_back)(void *ctx, lc_tx *tx, const lc_user_kind *kind, void *state);
    void *ctx;
};

/* Borrows the state of the transaction's user, brought to the head of this snapshot, for this
 * thread alone. `*out_is_complete` false: there was no time to finish it, it knows only the older
 * part of the log. A failure must be returned by the body as it is: LOCI_ECONFLICT may mean that
 * the state is still being built, and that the engine runs the body again on a new snapshot. One
 * loan at a time; it ends with lc_tx_give_back(), also on failure of the body. */
static inline loci_status lc_tx_borrow(lc_tx *tx, const lc_user_kind *kind, void **out,
                                       bool *out_is_complete, loci_error *err)
{
    return tx->states->borrow(tx->states->ctx, tx, kind, out, out_is_complete, err);
}

static inline void lc_tx_give_back(lc_tx *tx, const lc_user_kind *kind, void *state)
{
    tx->states->give_back(tx->states->ctx, tx, kind, state);
}

#endif /* LC_STORE_USER_KIND_H */
