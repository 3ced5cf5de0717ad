/* settings.h - one table of everything an operator can turn.
 *
 * Who wins: default < config file < stored by config.set < environment < flag. A setting that is
 * live takes effect at once, also when another process stored it; the others when the store is
 * opened next. One that is per tenant may have another value for each. Unknown names are errors
 * everywhere but in the store: what a newer loci wrote there is ignored and logged, and never keeps
 * a store from opening.
 */
#ifndef LC_ENGINE_SETTINGS_H
#define LC_ENGINE_SETTINGS_H

#include "base/env.h"
#include "base/json.h"
#include "store/db.h"

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
    const char *help;
    bool is_live;
    bool is_per_tenant; /* Then it is live too. */
    bool is_secret;     /* Never shown; given as {"file": path} or {"env": name}, never as text. */
} lc_setting;

/* In the order of the table, which is that of the names. */
typedef enum lc_setting_id {
    LC_SETTING_AUTHORITY_TITLES,     /* authority.titles (per tenant): "title=rank, title=rank" */
    LC_SETTING_CACHE_USER_BYTES_MAX, /* cache.user_bytes_max */
    LC_SETTING_CALL_TIMEOUT_MS,      /* call.timeout_ms (per tenant) */
    LC_SETTING_DATA_DIR,             /* data.dir (restart): tables of tokenizers, encoders */
    LC_SETTING_JOB_KEEP_HOURS,       /* job.keep_hours: ended jobs stay visible that long */
    LC_SETTING_JOB_LEASE_MS,         /* job.lease_ms */
    LC_SETTING_JOB_WORKERS,          /* job.workers (restart) */
    LC_SETTING_LOG_LEVEL,            /* log.level debug|info|warn|error (restart) */
    LC_SETTING_MODEL_ALLOW_PRIVATE,  /* model.…: see docs/models.md */
    LC_SETTING_MODEL_CHAT_KEY,
    LC_SETTING_MODEL_CHAT_MODEL,
    LC_SETTING_MODEL_CHAT_PROMPT_BYTES_MAX,
    LC_SETTING_MODEL_CHAT_TOKENS_MAX,
    LC_SETTING_MODEL_CHAT_URL,
    LC_SETTING_MODEL_EMBED_DIMENSIONS,
    LC_SETTING_MODEL_EMBED_ENCODING, /* float|base64 */
    LC_SETTING_MODEL_EMBED_KEY,
    LC_SETTING_MODEL_EMBED_MODEL,
    LC_SETTING_MODEL_EMBED_URL,
    LC_SETTING_MODEL_EMBEDDER, /* auto|builtin|lexical|provider */
    LC_SETTING_MODEL_TIMEOUT_MS,
    LC_SETTING_REQUEST_KEEP_HOURS,    /* request.keep_hours 24: stored answers */
    LC_SETTING_SERVER_BODY_BYTES_MAX, /* server.…: limits of the daemon (restart) */
    LC_SETTING_SERVER_BODY_TIMEOUT_MS,
    LC_SETTING_SERVER_CONNECTIONS_MAX,
    LC_SETTING_SERVER_DRAIN_MS,
    LC_SETTING_SERVER_HEADER_TIMEOUT_MS,
    LC_SETTING_SERVER_IDLE_TIMEOUT_MS,
    LC_SETTING_SESSION_IDLE_MINUTES, /* session.idle_minutes 30 (per tenant) */
    LC_SETTING_STORE_DURABILITY,     /* store.durability full|relaxed (restart) */
    LC_SETTING_STORE_READERS,        /* store.readers (restart): read connections */
    LC_SETTING_WATCH_INTERVAL_MS, /* watch.interval_ms: how often others' writes are looked for */
    LC_SETTING_COUNT
} lc_setting_id;

/* A table of settings: loci's own, or one made by a test. */
typedef struct lc_setting_list {
    const lc_setting *rows;
    size_t count;
} lc_setting_list;

const lc_setting *lc_setting_table(void); /* LC_SETTING_COUNT rows. */
lc_setting_list lc_setting_list_own(void);
const lc_setting *lc_setting_find(loci_str name);
/* LOCI_ENOTFOUND naming the nearest. */
loci_status lc_setting_load(loci_str name, const lc_setting **out, loci_error *err);
/* What is wrong with a table (a bug of ours), or NULL. Checked by a test. */
const char *lc_setting_list_fault(lc_setting_list list);

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
 * source, setting, what was given and what is allowed. */
loci_status lc_settings_new(lc_env *env, const lc_setting_sources *sources, lc_settings **out,
                            loci_error *err);
/* The same with another table, which must outlive the settings. */
loci_status lc_settings_new_from(lc_env *env, lc_setting_list list,
                                 const lc_setting_sources *sources, lc_settings **out,
                                 loci_error *err);
/* NULL is fine. */
void lc_settings_free(lc_settings *settings);

/* Takes over what the store holds, all at once for readers; called at open and whenever it may have
 * changed. Any thread, several at once: the one that began last wins, so it must be the first thing
 * that `tx` reads. The first one fixes the settings that are not live. */
loci_status lc_settings_reload(lc_settings *settings, lc_tx *tx, loci_error *err);

/* The value in force. Any thread. `tenant_id` matters for per-tenant settings only; none =
 * store-wide. */
int64_t lc_settings_i64(lc_settings *settings, lc_setting_id id, loci_str tenant_id);
bool lc_settings_bool(lc_settings *settings, lc_setting_id id, loci_str tenant_id);
/* A choice as its place in `choices`: 0, 1, … */
int lc_settings_choice(lc_settings *settings, lc_setting_id id, loci_str tenant_id);
/* Appends a text, or what a secret's file or variable holds now (the end of the line cut off).
 * LOCI_ENOTFOUND when the secret is not set or what it refers to is not there. */
loci_status lc_settings_text(lc_settings *settings, lc_setting_id id, loci_str tenant_id,
                             lc_buf *out, loci_error *err);

typedef struct lc_setting_change {
    const lc_setting *setting; /* Of the settings' own table. */
    loci_str tenant_id;        /* None = store-wide. */
    const lc_json *value;      /* A JSON null removes what is stored. */
} lc_setting_change;

/* Stores a value inside a write; lc_settings_reload() after the commit makes it count here. A wrong
 * value, and a tenant for a store-wide setting, is LOCI_EINVAL. */
loci_status lc_settings_store(lc_settings *settings, lc_tx *tx, const lc_setting_change *change,
                              loci_error *err);
/* Writes what a change that was stored will lead to: {name, value (as stored), effective (in force
 * once it is committed), origin (of that), restart_required, note?}. */
loci_status lc_settings_write_change(lc_settings *settings, lc_json_writer *out,
                                     const lc_setting_change *change, loci_error *err);

/* {name, value (in force), default, origin (default|file|store|environment|flag), pending? (the
 * value after the next open, when that differs), kind (integer|string|boolean|choice), min?, max?,
 * choices?[], help, live, per_tenant, secret}; a secret's value is "***" when set, else null. */
void lc_settings_write(lc_settings *settings, lc_json_writer *out, lc_setting_id id,
                       loci_str tenant_id);
/* Whether the value in force is not the default's. */
bool lc_settings_is_changed(lc_settings *settings, lc_setting_id id, loci_str tenant_id);

#endif /* LC_ENGINE_SETTINGS_H */
