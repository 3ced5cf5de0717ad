/* settings_stored.h - all settings that a store holds, read at one moment and never changed.
 *
 * Only for settings.c. Rows that this loci does not understand, because a newer one wrote them, are
 * left out and logged; they never keep a store from opening.
 */
#ifndef LC_ENGINE_SETTINGS_STORED_H
#define LC_ENGINE_SETTINGS_STORED_H

#include "base/hash.h"
#include "base/map.h"
#include "engine/setting_value.h"

/* A row that was left out. */
typedef struct lc_ignored_setting {
    loci_str tenant_id;
    loci_str name;
    loci_str reason;
    struct lc_ignored_setting *next;
} lc_ignored_setting;

typedef struct lc_stored_settings {
    lc_env *env;
    lc_setting_list list;
    lc_arena arena;              /* Of everything in it but the tables below and the set itself. */
    lc_setting_value *for_all;   /* In the order of the list. */
    lc_map tenants;              /* By tenant_id. */
    lc_ignored_setting *ignored; /* At most LC_PROBLEMS_MAX of them, */
    int64_t ignored_count;       /* their number, */
    lc_hash128 ignored_hash;     /* and what they hold; zero = none. */
    uint64_t ticket;             /* settings.c's: how manieth reload it is from, */
    int holds;                   /* and how many use it. */
} lc_stored_settings;

/* An empty one. */
loci_status lc_stored_settings_new(lc_env *env, lc_setting_list list, lc_stored_settings **out,
                                   loci_error *err);
/* NULL is fine. */
void lc_stored_settings_free(lc_stored_settings *set);
/* Adds every row of the store. */
loci_status lc_stored_settings_read(lc_stored_settings *set, lc_tx *tx, loci_error *err);
/* Logs what was left out, unless `before` left out the same. */
void lc_stored_settings_log(const lc_stored_settings *set, const lc_stored_settings *before);

/* What the store says, set or not; the tenant's own value before that for all. */
const lc_setting_value *lc_stored_settings_find(const lc_stored_settings *set, size_t index,
                                                loci_str tenant_id);

#endif /* LC_ENGINE_SETTINGS_STORED_H */
