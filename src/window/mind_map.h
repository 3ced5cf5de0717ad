/* mind_map.h - a window and its resources as a text for the agent, in three levels, and back.
 *
 *     1  verbose: Markdown, every field of a resource on a line of its own
 *     2  dense: one line per kind under Active, Indexed, Cold, Links, Notes
 *     3  ultra-dense: one line per region, names only
 *
 * A map is made in two steps. Arranging chooses the resources that are listed by name, gives them
 * unique short names, sorts them by region, kind and URI, cuts long texts, and counts the other
 * resources in groups. Printing writes an arranged map without any further choice, and parsing is
 * its exact inverse: printing a parsed map gives the same text again, byte for byte, at every
 * level. A text is accepted only if that is true of it; everything else is LOCI_EINVAL with the
 * line.
 *
 * The order does not depend on access, size or attention, so a change of one resource changes its
 * own lines, the totals and nothing else. Only in a map that is too large to name all resources may
 * another resource gain or lose its name.
 *
 * Texts of users (names, URIs, summaries, notes, tags) are escaped with backslashes, so that none
 * can end its line or its field, start a section or change a symbol.
 *
 * Levels have limits in tokens (LC_MIND_MAP_TOKENS_MAX_*). They are kept by naming fewer resources:
 * the most important ones (attention, then region, then last access) keep their names.
 */
#ifndef LC_WINDOW_MIND_MAP_H
#define LC_WINDOW_MIND_MAP_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/str.h"
#include "pressure/ladder.h"
#include "text/tokenizer.h"
#include "window/kind.h"

/* Maximum of each level, in tokens of the tokenizer that arranges it, */
#define LC_MIND_MAP_TOKENS_MAX_1 8000
#define LC_MIND_MAP_TOKENS_MAX_2 2000
#define LC_MIND_MAP_TOKENS_MAX_3 300
/* and in resources that are listed by name. A room need not give a map more than the first, if
 * those are the most important ones and the others are in its groups. */
#define LC_MIND_MAP_NAMED_MAX_1 100
#define LC_MIND_MAP_NAMED_MAX_2 100
#define LC_MIND_MAP_NAMED_MAX_3 32
#define LC_MIND_MAP_BYTES_MAX (1024 * 1024) /* Of a text that is parsed. */

/* A link to another resource. */
typedef struct lc_mind_map_link {
    loci_str
        target; /* Id or URI of a resource. If it is in the map, levels 2 and 3 show its name. */
    loci_str label; /* Meaning of the link, such as "uses"; "" = none given. */
} lc_mind_map_link;

/* A resource. Each member names the levels that hold it; in a parsed map of another level it is
 * empty. */
typedef struct lc_mind_map_resource {
    loci_str id;   /* Level 1. */
    loci_str uri;  /* Level 1. */
    loci_str name; /* Levels 2 and 3. Set by arranging: the shortest unique end of the URI. */
    lc_resource_kind kind;         /* Levels 1 and 2; `other` in a parsed map of level 3. */
    lc_resource_state state;       /* All levels. */
    bool is_stale;                 /* All levels. Its source has changed since it was read. */
    bool is_summary;               /* All levels. Active, but only with its summary. */
    int64_t size_tokens;           /* Levels 1 and 2 (rounded). 0 = not counted: not shown. */
    double attention;              /* Levels 1 and 2. */
    int64_t last_accessed_us;      /* Level 1. 0 = never. */
    loci_str summary;              /* Levels 1 and 2 (cut). */
    lc_str_list annotations;       /* Levels 1 and 2 (the last ones, cut). */
    int64_t annotations_left;      /* Level 3, which only counts annotations. */
    lc_str_list tags;              /* Level 1. */
    const lc_mind_map_link *links; /* All levels; without label in level 3. */
    size_t link_count;
} lc_mind_map_resource;

/* Resources that are counted, not listed. */
typedef struct lc_mind_map_group {
    lc_resource_region region;
    lc_resource_kind kind;  /* LC_KINDS = any: a group of level 3 may hold all kinds of a region. */
    int64_t resource_count; /* At least 1. */
    int64_t size_tokens;
} lc_mind_map_group;

typedef struct lc_mind_map {
    int level; /* 0 = not arranged: as the room gave it. 1 to 3: arranged for this level. */

    int64_t context_max;    /* Tokens; rounded in levels 2 and 3, like the next two. */
    int64_t reserve_output; /* Levels 1 and 2. */
    int64_t used_tokens;    /* Of the active resources. */
    lc_pressure pressure;
    lc_window_policy policy;
    int64_t time_us; /* Levels 2 and 3 hold the time of day in UTC, to the minute. */

    const lc_mind_map_resource *resources; /* In any order if not arranged. */
    size_t resource_count;
    /* Resources that are not in `resources`, by region and kind. In a map that is not arranged the
     * room may use it to leave out resources that would not be named anyway. */
    const lc_mind_map_group *groups;
    size_t group_count;
    int64_t links_left;       /* Links and annotations that are not listed, at any level; */
    int64_t annotations_left; /* the room may start with those of resources that it left out. */
} lc_mind_map;

/* Arranges `map` for a level, 1 to 3, and appends the text. A map that was parsed is printed in the
 * level that it has, whatever `level` is. `tokenizer` counts for the limits. `arena` is used for
 * the work; nothing in it is needed afterwards. */
typedef struct lc_mind_map_order {
    const lc_mind_map *map;
    int level;
    const lc_tokenizer *tokenizer;
    lc_arena *arena;
} lc_mind_map_order;
loci_status lc_mind_map_write(const lc_mind_map_order *order, lc_buf *out, loci_error *err);

/* The level that a pressure asks for: 1, 2, 3, 3. */
int lc_mind_map_level(lc_pressure pressure);

/* Reads a text of any level into an arranged map that lives in `arena`. LOCI_EINVAL, naming the
 * line and what was expected there, for a text that is not a map. */
loci_status lc_mind_map_parse(loci_str text, lc_arena *arena, lc_mind_map *out, loci_error *err);

#endif /* LC_WINDOW_MIND_MAP_H */
