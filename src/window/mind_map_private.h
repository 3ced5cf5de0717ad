/* mind_map_private.h - printing an arranged map, and the words that printer and parser share. */
#ifndef LC_WINDOW_MIND_MAP_PRIVATE_H
#define LC_WINDOW_MIND_MAP_PRIVATE_H

#include "window/mind_map.h"

/* Appends the text of an arranged map in its level. Chooses nothing: what is in the map is printed,
 * in its order. */
void lc_mind_map_print(const lc_mind_map *map, lc_buf *out);

/* Sections that list resources: all regions at level 1; levels 2 and 3 list those that are offline
 * under Cold, with their symbol. */
static inline lc_resource_region lc_mind_map_section(int level, lc_resource_region region)
{
    return level > 1 && region == LC_REGION_OFFLINE ? LC_REGION_COLD : region;
}
extern const char *const lc_mind_map_headings[LC_REGIONS]; /* "Active" … */
extern const char lc_mind_map_letters[LC_REGIONS];         /* Of level 3: 'A' … */

/* The state that needs no symbol at level 3, because most resources of the region have it. */
lc_resource_state lc_mind_map_usual_state(lc_resource_region region);

/* Maxima of one resource at level 1; the other levels have less. */
#define LC_MIND_MAP_ANNOTATIONS_MAX 10
#define LC_MIND_MAP_LINKS_MAX 10
#define LC_MIND_MAP_TAGS_MAX 20
/* One group per region and kind, or per region for all kinds. */
#define LC_MIND_MAP_GROUPS_MAX (LC_REGIONS * (LC_KINDS + 1))

/* Characters that end a field and are escaped inside it. */
#define LC_MIND_MAP_NAME_ENDS " ;>:"   /* Names, link targets and labels, at levels 2 and 3. */
#define LC_MIND_MAP_NAME_MARKS "#@+!~" /* Escaped only where a name begins. */

#endif /* LC_WINDOW_MIND_MAP_PRIVATE_H */
