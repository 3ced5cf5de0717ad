/* setting.h - the declaration of a setting: a value that an operator can change.
 *
 * A setting is declared in the folder that reads it, next to the code that uses it:
 *
 *     extern const lc_setting lc_setting_session_idle_minutes;
 *
 * A room names its settings in lc_room.settings; engine/rooms.c lists the others. Values are looked
 * up by this pointer (engine/settings.h).
 */
#ifndef LC_BASE_SETTING_H
#define LC_BASE_SETTING_H

#include <stdbool.h>
#include <stdint.h>

typedef enum lc_setting_kind {
    LC_SETTING_INT,
    LC_SETTING_TEXT,
    LC_SETTING_BOOL,
    LC_SETTING_CHOICE
} lc_setting_kind;

typedef struct lc_setting {
    const char *name; /* "call.timeout_ms" */
    lc_setting_kind kind;
    const char *default_text; /* As JSON; `null` for a secret. */
    int64_t min, max;         /* Of an integer; bytes of a text. */
    const char *choices;      /* "full|relaxed" */
    const char *help;         /* Its effect, with the unit. No full stop. */
    bool is_live;             /* Takes effect at once; else when the store is opened next. */
    bool is_per_tenant;       /* Tenants may have different values. Then it is live too. */
    bool is_secret; /* Never shown; given as {"file": path} or {"env": name}, never as text. */
    bool is_admins; /* Only administrators of the store may set it, even per tenant. */
} lc_setting;

#endif /* LC_BASE_SETTING_H */
