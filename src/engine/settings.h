/* settings.h - the values of all settings (base/setting.h).
 *
 * Precedence: default < config file < stored by config.set < environment < flag. A setting that is
 * live takes effect at once, also when another process stored it; the others when the store is
 * opened next. Unknown names are errors, except in the store: rows of a newer loci are ignored and
 * logged, and never keep a store from opening.
 */
#ifndef LC_ENGINE_SETTINGS_H
#define LC_ENGINE_SETTINGS_H

#include "base/env.h"
#include "base/json.h"
#include "base/setting.h"
#include "store/db.h"

#define LC_SETTINGS_MAX 128

/* Limits of the daemon. They are read by server/ and cli/, but the library must know their names:
 * a store may contain values for them. */
extern const lc_setting lc_setting_server_body_bytes_max;
extern const lc_setting lc_setting_server_body_timeout_ms;
extern const lc_setting lc_setting_server_client_bytes_max;
extern const lc_setting lc_setting_server_client_connections_max;
extern const lc_setting lc_setting_server_connections_max;
extern const lc_setting lc_setting_server_drain_ms;
extern const lc_setting lc_setting_server_header_timeout_ms;
extern const lc_setting lc_setting_server_idle_timeout_ms;
extern const lc_setting lc_setting_server_inflight_bytes_max;

/* Settings in the order of their names. */
typedef struct lc_setting_list {
    const lc_setting *items[LC_SETTINGS_MAX];
    size_t count;
} lc_setting_list;

/* All settings of loci: those of its rooms and the engine's (engine/rooms.c). */
lc_setting_list lc_setting_list_own(void);
/* NULL when there is none. */
const lc_setting *lc_setting_list_find(const lc_setting_list *list, loci_str name);
/* One of loci's settings; LOCI_ENOTFOUND suggests the nearest name. */
loci_status lc_setting_load(loci_str name, const lc_setting **out, loci_error *err);

typedef struct lc_settings lc_settings;

/* Environment variables, for secrets given as {"env": name}. The library itself reads none. */
typedef struct lc_variables {
    const char *(*find)(void *ctx, const char *name); /* NULL = there are none. */
    void *ctx;
} lc_variables;

/* Sources outside the store. */
typedef struct lc_setting_sources {
    const char *config_file; /* Path or NULL. */
    const char *environment; /* JSON object or NULL. */
    const char *flags;       /* JSON object or NULL. */
    lc_variables variables;
} lc_setting_sources;

/* Reads the sources outside the store. Any unknown name or wrong value is LOCI_EINVAL naming
 * source, setting, the given value and the allowed values. */
loci_status lc_settings_new(lc_env *env, const lc_setting_sources *sources, lc_settings **out,
                            loci_error *err);
/* The same with another list of settings. */
loci_status lc_settings_new_from(lc_env *env, const lc_setting_list *list,
                                 const lc_setting_sources *sources, lc_settings **out,
                                 loci_error *err);
/* NULL is fine. */
void lc_settings_free(lc_settings *settings);

/* Reads the stored values, which readers see all at once; called at open and whenever they may have
 * changed. Any thread, several at once: the call that began last wins, so it must be the first read
 * of `tx`. The first call fixes the settings that are not live. */
loci_status lc_settings_reload(lc_settings *settings, lc_tx *tx, loci_error *err);

/* The effective value. Any thread. `tenant_id` matters for per-tenant settings only; none = the
 * value for the whole store. A setting that is not in the list is a bug (asserted). */
int64_t lc_settings_i64(lc_settings *settings, const lc_setting *setting, loci_str tenant_id);
bool lc_settings_bool(lc_settings *settings, const lc_setting *setting, loci_str tenant_id);
/* The index of a choice in `choices`: 0, 1, … */
int lc_settings_choice(lc_settings *settings, const lc_setting *setting, loci_str tenant_id);
/* Appends a text, or the content of a secret's file or variable, without the end of the line.
 * LOCI_ENOTFOUND when the secret is not set, or its file or variable does not exist. */
loci_status lc_settings_text(lc_settings *settings, const lc_setting *setting, loci_str tenant_id,
                             lc_buf *out, loci_error *err);

typedef struct lc_setting_change {
    const lc_setting *setting;
    loci_str tenant_id;   /* None = store-wide. */
    const lc_json *value; /* A JSON null removes the stored value. */
} lc_setting_change;

/* Stores a value inside a write; lc_settings_reload() after the commit puts it into effect. A wrong
 * value, and a tenant for a store-wide setting, is LOCI_EINVAL. */
loci_status lc_settings_store(lc_settings *settings, lc_tx *tx, const lc_setting_change *change,
                              loci_error *err);
/* Writes the result of a change that was stored: {name, value (as stored), effective (after the
 * commit), origin (of that), restart_required, note?}. */
loci_status lc_settings_write_change(lc_settings *settings, lc_json_writer *out,
                                     const lc_setting_change *change, loci_error *err);

/* {name, value (effective), default, origin (default|file|store|environment|flag), pending? (the
 * value after the next open, when that differs), kind (integer|string|boolean|choice), min?, max?,
 * choices?[], help, live, per_tenant, secret}; a secret's value is "***" when set, else null. */
void lc_settings_write(lc_settings *settings, lc_json_writer *out, const lc_setting *setting,
                       loci_str tenant_id);
/* Whether the effective value differs from the default. */
bool lc_settings_is_changed(lc_settings *settings, const lc_setting *setting, loci_str tenant_id);
/* Whether any source sets it, for all or for some tenant. */
bool lc_settings_is_set(lc_settings *settings, const lc_setting *setting);

#endif /* LC_ENGINE_SETTINGS_H */
