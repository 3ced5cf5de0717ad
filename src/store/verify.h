/* verify.h - does the store agree with itself?
 *
 * The log must be whole: each user's seqs 1, 2, 3 … up to its head, times not falling, types known.
 * The projections must be what the log makes of them: every user is replayed into a private
 * database in memory and compared row by row. Nothing may belong to a user who has no head, and
 * each room looks for references that lead nowhere. The store is only read, and may be in use
 * meanwhile: whoever writes while being compared is compared again.
 */
#ifndef LC_STORE_VERIFY_H
#define LC_STORE_VERIFY_H

#include "store/problems.h"
#include "store/upkeep.h"

/* Adds what it finds. LOCI_OK: it looked at everything, whatever it found. LOCI_EUNAVAILABLE:
 * somebody writes faster than it can compare. The memory used is that of one user's projections. */
loci_status lc_verify(const lc_upkeep *upkeep, lc_problems *problems, loci_error *err);

#endif /* LC_STORE_VERIFY_H */
