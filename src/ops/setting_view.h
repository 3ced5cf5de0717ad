/* setting_view.h - the table of settings as surfaces see it: names to read from the environment, to
 * complete and to suggest. Values are got and set by the operations config.*. */
#ifndef LC_OPS_SETTING_VIEW_H
#define LC_OPS_SETTING_VIEW_H

#include <stdbool.h>
#include <stddef.h>

typedef struct lc_setting_view {
    const char *name;    /* "call.timeout_ms" */
    const char *choices; /* "full|relaxed" or NULL. */
    const char *help;
    bool is_text; /* Its value is text even when it looks like a number. */
} lc_setting_view;

size_t lc_setting_view_count(void);
lc_setting_view lc_setting_view_at(size_t index);

#endif /* LC_OPS_SETTING_VIEW_H */
