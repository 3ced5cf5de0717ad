/* settings_layers.h - the values that come from outside the store, read once when it is opened.
 *
 * Only for settings.c.
 */
#ifndef LC_ENGINE_SETTINGS_LAYERS_H
#define LC_ENGINE_SETTINGS_LAYERS_H

#include "engine/setting_value.h"

/* Where a value comes from; a later one wins. */
typedef enum lc_setting_origin {
    LC_ORIGIN_DEFAULT,
    LC_ORIGIN_FILE,
    LC_ORIGIN_STORE,
    LC_ORIGIN_ENVIRONMENT,
    LC_ORIGIN_FLAG,
    LC_ORIGIN_COUNT
} lc_setting_origin;

typedef struct lc_setting_layers {
    lc_setting_list list;
    lc_arena arena;
    /* In the order of the list. That of LC_ORIGIN_STORE stays empty: see settings_stored.h. */
    lc_setting_value *values[LC_ORIGIN_COUNT];
} lc_setting_layers;

/* Reads all sources into zeroed storage; to be cleared after a failure too. */
loci_status lc_setting_layers_read(lc_setting_layers *layers, lc_heap *heap, lc_setting_list list,
                                   const lc_setting_sources *sources, loci_error *err);
void lc_setting_layers_clear(lc_setting_layers *layers);
/* "default" */
const char *lc_setting_origin_name(lc_setting_origin origin);

#endif /* LC_ENGINE_SETTINGS_LAYERS_H */
