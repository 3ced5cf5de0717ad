/* fact_embed.h - the facts that stand, as texts that want a vector. */
#ifndef LC_FACT_FACT_EMBED_H
#define LC_FACT_FACT_EMBED_H

#include "store/embed_source.h"

extern const lc_embed_source lc_fact_embed_source;

#endif /* LC_FACT_FACT_EMBED_H */
