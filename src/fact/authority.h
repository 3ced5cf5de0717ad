/* authority.h - ranks of authority, weights of titles, and levels of trust.
 *
 * An authority is a word and its rank. The word is stored as given; comparisons use the rank, which
 * is recorded with every fact, so a later change of the table of titles does not change earlier
 * decisions. A word that is neither a rank nor a known title has the lowest rank, so inventing a
 * title gains nothing.
 */
#ifndef LC_FACT_AUTHORITY_H
#define LC_FACT_AUTHORITY_H

#include "base/setting.h"
#include "loci.h"

#include <stdbool.h>

extern const lc_setting lc_setting_authority_titles;

typedef enum lc_rank {
    LC_RANK_GUEST = 1, /* Also the rank of every unknown word. */
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

/* The rank of a word; case does not matter. `titles` is the setting authority.titles, "title=rank,
 * title=rank": it overrides the built-in titles but not the names of the ranks. An empty word has
 * rank 0 (not given). */
lc_authority lc_authority_of(loci_str name, loci_str titles);

/* Weight of a statement by a person with this title (singular or plural) when a text quotes several
 * people: 100 for policy, 10 for a guest, -1 for an unknown title. It grants nothing. */
int lc_title_weight(loci_str title);

/* The three limits of a caller's authority. */
typedef struct lc_authority_bounds {
    lc_authority ceiling;  /* Of its token. */
    lc_authority identity; /* Of its session. */
    lc_authority argument; /* Given with the call. */
} lc_authority_bounds;
/* The lowest of those given. The default of the argument is the identity's authority, and manager
 * without an identity. */
lc_authority lc_authority_effective(const lc_authority_bounds *bounds);

/* True for user and system; false for tool, web, model and unknown words. */
bool lc_trust_is_trusted(loci_str trust);
/* The lower of `trust` and `cap`; an empty cap is no limit, an empty trust is `user`. */
loci_str lc_trust_capped(loci_str trust, loci_str cap);

#endif /* LC_FACT_AUTHORITY_H */
