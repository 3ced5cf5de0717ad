/* fact_embed.h - the facts that stand, as texts that want a vector. */
#ifndef LC_FACT_FACT_EMBED_H
#define LC_FACT_FACT_EMBED_H

#include "store/embed_source.h"

extern const lc_embed_source lc_fact_embed_source;

/* What stands for a fact, in the arena: "office floor: third" of the key office_floor and its value
 * as JSON. Its vector is found by this text. */
loci_status lc_fact_embed_text(lc_arena *arena, loci_str key, loci_str value, loci_str *out,
                               loci_error *err);

#endif /* LC_FACT_FACT_EMBED_H */
