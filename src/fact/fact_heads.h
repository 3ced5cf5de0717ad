/* fact_heads.h - an in-memory cache, per user, of the valid facts of the keys that were read last.
 *
 * One state per user (store/user_kind.h) maps a key to its rows of fact_current. It is filled by
 * look-ups: the first one of a key reads the rows in its transaction, the following ones need no
 * statement; and as long as nothing was committed since, they need no transaction either
 * (lc_op.peek). Each look-up checks persona and time on the rows.
 *
 * A look-up answers the common case only: a reader that names no scope and no session, a key
 * without facts of a session and without restrictions. lc_fact_load_current() answers the rest.
 */
#ifndef LC_FACT_FACT_HEADS_H
#define LC_FACT_FACT_HEADS_H

#include "fact/fact.h"
#include "store/user_kind.h"

extern const lc_user_kind lc_fact_heads_kind;

#define LC_FACT_HEADS_BYTES_MAX (8u << 20) /* Of one user; beyond it the state starts again. */
#define LC_FACT_HEADS_ROWS_MAX 64          /* Of one key; keys with more are not kept. */

/* Finds the current fact of a key, or returns one without an id if it takes more to decide. Borrows
 * the user's state: LOCI_ECONFLICT must be returned by the body as it is. Text lives in `arena`. */
loci_status lc_fact_heads_find(lc_tx *tx, loci_str persona_id, loci_str key, lc_arena *arena,
                               lc_fact *out, loci_error *err);
/* The same from the state alone; NULL if the state does not know, or the answer needs more than the
 * fact's row (facts derived from it). The fact is borrowed from the state. */
const lc_fact *lc_fact_heads_peek(const void *state, loci_str persona_id, loci_str key,
                                  int64_t now_us);

#endif /* LC_FACT_FACT_HEADS_H */
