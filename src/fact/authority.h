/* authority.h - who outranks whom, and whose statement it is.
 *
 * An authority is a word and its rank. The word is kept as it was given; the rank is what is
 * compared, and it is recorded with every fact, so that a later change of the table of titles does
 * not change what was decided. A word that is neither a rank nor a known title ranks lowest: nobody
 * gains by inventing one.
 */
#ifndef LC_FACT_AUTHORITY_H
#define LC_FACT_AUTHORITY_H

#include "base/setting.h"
#include "loci.h"

#include <stdbool.h>

extern const lc_setting lc_setting_authority_titles;

typedef enum lc_rank {
    LC_RANK_GUEST = 1, /* And every word that is not known. */
    LC_RANK_INTERN,
    LC_RANK_EMPLOYEE,
    LC_RANK_MANAGER,
    LC_RANK_ADMIN,
    LC_RANK_EXECUTIVE,
    LC_RANK_POLICY
} lc_rank;

typedef struct lc_authority {
    loci_str name; /* As given; none = not given. */
    int rank;      /* lc_rank; 0 when not given. */
} lc_authority;

/* The rank of a word, whatever its case. `titles` is the setting authority.titles, "title=rank,
 * title=rank"; what it says goes before the built-in titles and never before the ranks themselves.
 * An empty word is not given. */
lc_authority lc_authority_of(loci_str name, loci_str titles);

/* What bounds a caller. */
typedef struct lc_authority_bounds {
    lc_authority ceiling;  /* Of its token. */
    lc_authority identity; /* Of its session. */
    lc_authority argument; /* What it says of itself. */
} lc_authority_bounds;
/* The lowest of those given. Without an argument the identity's counts, without both manager. */
lc_authority lc_authority_effective(const lc_authority_bounds *bounds);

/* Statements of tools, of the web and of models are not trusted; of users and systems they are. */
bool lc_trust_is_trusted(loci_str trust);
/* `trust`, or `cap` when that is lower; an empty cap is none, an empty trust is `user`. */
loci_str lc_trust_capped(loci_str trust, loci_str cap);

#endif /* LC_FACT_AUTHORITY_H */
