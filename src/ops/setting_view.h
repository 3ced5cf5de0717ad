/* setting_view.h - the table of settings as surfaces see it: names to read from the environment, to
 * complete and to suggest, and the values of those that a surface obeys itself. Everything else
 * about values is the operations' config.*. */
#ifndef LC_OPS_SETTING_VIEW_H
#define LC_OPS_SETTING_VIEW_H

#include "loci.h"

#include <stdbool.h>

typedef struct lc_setting_view {
    const char *name;    /* "call.timeout_ms" */
    const char *choices; /* "full|relaxed" or NULL. */
    const char *help;
    bool is_text; /* Its value is text even when it looks like a number. */
} lc_setting_view;

size_t lc_setting_view_count(void);
lc_setting_view lc_setting_view_at(size_t index);

/* The store-wide value in force of the integer `name`, or of a choice as its place in `choices`.
 * The name must be a setting's of such a kind (asserted). */
int64_t lc_setting_view_i64(loci_engine *engine, const char *name);

#endif /* LC_OPS_SETTING_VIEW_H */
