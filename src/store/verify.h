/* verify.h - checks that a store is consistent.
 *
 * The log must be complete: each user's seqs are 1, 2, 3 … up to its head, times never decrease,
 * types are known. The projections must equal the result of a replay: every user is replayed into a
 * private database and compared row by row: a file without a name, which nothing else can open and
 * which is gone when it is closed. No row may belong to a user without a head,
 * and each room looks for dangling references. The store is only read, and may be in use: a user
 * that is written to during its comparison is compared again.
 */
#ifndef LC_STORE_VERIFY_H
#define LC_STORE_VERIFY_H

#include "store/upkeep.h"

/* Adds each problem that it finds to `problems`. LOCI_OK: everything was checked, with or without
 * problems. LOCI_EUNAVAILABLE: a user is written to faster than it can be compared. Uses a few
 * dozen megabytes of memory at most, and as much temporary disk space ($SQLITE_TMPDIR, $TMPDIR or
 * /var/tmp) as the projections of one user. */
loci_status lc_verify(const lc_upkeep *upkeep, lc_problems *problems, loci_error *err);

#endif /* LC_STORE_VERIFY_H */
