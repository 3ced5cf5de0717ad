/* term_sense.h - what one term means; the part of reading terms that knows English. */
#ifndef LC_TALK_TERM_SENSE_H
#define LC_TALK_TERM_SENSE_H

#include "talk/term.h"

/* Fills `kind`, `word` and `sense` of `out` from its spelling. */
void lc_term_set_sense(loci_str spelled, bool is_amount, bool is_name, lc_term *out);

#endif /* LC_TALK_TERM_SENSE_H */
