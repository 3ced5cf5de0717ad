/* full_stop.h - whether a full stop with a space behind it ends a sentence or an abbreviation. */
#ifndef LC_TEXT_FULL_STOP_H
#define LC_TEXT_FULL_STOP_H

#include "text/character.h"

typedef struct lc_full_stop {
    loci_str before; /* From the last space up to the stop: "Dr", "(e.g", "U.S". */
    loci_str next;   /* The word behind, without quotes before it; empty when it is no word. */
    lc_character_kind next_kind; /* Of its first character. */
    bool is_next_initial;        /* It is one letter with a full stop of its own. */
    bool is_first;               /* `before` begins the sentence. */
    bool is_after_stop;          /* Just before it stands an abbreviation: "J." before "I". */
    bool is_lower_style;         /* The sentence began in lower case: so may the next. */
} lc_full_stop;

bool lc_full_stop_ends(const lc_full_stop *stop);

#endif /* LC_TEXT_FULL_STOP_H */
