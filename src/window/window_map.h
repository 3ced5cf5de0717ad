/* window_map.h - the mind map of a window (mind_map.h), made from its rows. */
#ifndef LC_WINDOW_WINDOW_MAP_H
#define LC_WINDOW_WINDOW_MAP_H

#include "window/mind_map.h"
#include "window/window.h"

/* Fills `out` with the most important resources, at most as many as the level names, and the
 * numbers of all others. Everything lives in `arena`. The cost is that of the named resources and
 * of counting the others in an index. */
loci_status lc_window_make_map(lc_tx *tx, const lc_window *window, int level, lc_arena *arena,
                               lc_mind_map *out, loci_error *err);

/* The same as text, in `arena`. */
typedef struct lc_window_map_text {
    loci_str text;
    lc_text_tokens tokens;
    int level;
} lc_window_map_text;
typedef struct lc_window_map_order {
    const lc_window *window;
    int level; /* 0 = by the pressure. */
    const lc_tokenizer *tokenizer;
    lc_arena *arena;
} lc_window_map_order;
loci_status lc_window_write_map(lc_tx *tx, const lc_window_map_order *order,
                                lc_window_map_text *out, loci_error *err);

#endif /* LC_WINDOW_WINDOW_MAP_H */
