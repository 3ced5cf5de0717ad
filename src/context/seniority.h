/* seniority.h - whose word weighs more, among the people a text names.
 *
 * A CEO's word outweighs a manager's when both are quoted. This is about what is said, and grants
 * nothing: what a caller may write and read is decided by its authority (fact/authority.h). */
#ifndef LC_CONTEXT_SENIORITY_H
#define LC_CONTEXT_SENIORITY_H

#include "talk/attribution.h"

/* For lc_talk_new(). */
lc_ranking lc_seniority(void);

#endif /* LC_CONTEXT_SENIORITY_H */
