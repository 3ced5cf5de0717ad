/* settings.c - layers of values, and their precedence.
 *
 *     default  <  file  <  stored for all  <  stored for the tenant  <  environment  <  flag
 *
 * The outer layers are read once, at open. The stored values are an immutable set: a reload builds
 * a new set and exchanges it under the lock, so that a reader sees either the old set or the new
 * one. The first one is kept until the end, because settings that are not live are read from it.
 *
 * The lock is held to read a number or to take a reference to a set; never while JSON is written,
 * memory is allocated or the database is read. Two reloads may race: each draws a ticket before it
 * reads, and one that finishes second with the older ticket is dropped, or it would bring back
 * values that were replaced.
 *
 * Invariants: each value is one that its setting allows; a tenant has values of per-tenant settings
 * only.
 */
#include "engine/settings.h"

#include <pthread.h>

#include "base/assert.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/limits.h"
#include "base/map.h"
#include "base/str.h"
#include "engine/setting_value.h"
#include "store/store_room.h"

#define SOURCE_NAME_BYTES_MAX 8192 /* "config file " and a path. */

const lc_setting lc_setting_server_body_bytes_max = {
    .name = "server.body_bytes_max",
    .kind = LC_SETTING_INT,
    .default_text = "4194304",
    .min = 1024,
    .max = LC_JSON_BYTES_MAX,
    .help = "Maximum size of a request body, in bytes",
};

const lc_setting lc_setting_server_body_timeout_ms = {
    .name = "server.body_timeout_ms",
    .kind = LC_SETTING_INT,
    .default_text = "30000",
    .min = 100,
    .max = 3600000,
    .help = "Timeout for receiving a request body, in milliseconds",
};

const lc_setting lc_setting_server_client_bytes_max = {
    .name = "server.client_bytes_max",
    .kind = LC_SETTING_INT,
    .default_text = "201326592",
    .min = 1048576,
    .max = INT64_C(1) << 40,
    .help = "Maximum of server.inflight_bytes_max that one client (address, or user of the Unix "
            "socket) may use; at least two bodies",
};

const lc_setting lc_setting_server_client_connections_max = {
    .name = "server.client_connections_max",
    .kind = LC_SETTING_INT,
    .default_text = "3072",
    .min = 1,
    .max = 65536,
    .help = "Maximum number of open connections of one client (address, or user of the Unix "
            "socket); never more than seven eighths of server.connections_max",
};

const lc_setting lc_setting_server_connections_max = {
    .name = "server.connections_max",
    .kind = LC_SETTING_INT,
    .default_text = "4096",
    .min = 1,
    .max = 65536,
    .help = "Maximum number of open connections",
};

const lc_setting lc_setting_server_drain_ms = {
    .name = "server.drain_ms",
    .kind = LC_SETTING_INT,
    .default_text = "15000",
    .min = 0,
    .max = 3600000,
    .help = "Time that accepted requests have to finish when the daemon stops, in "
            "milliseconds",
};

const lc_setting lc_setting_server_header_timeout_ms = {
    .name = "server.header_timeout_ms",
    .kind = LC_SETTING_INT,
    .default_text = "10000",
    .min = 100,
    .max = 3600000,
    .help = "Timeout for receiving the headers of a request, in milliseconds",
};

const lc_setting lc_setting_server_idle_timeout_ms = {
    .name = "server.idle_timeout_ms",
    .kind = LC_SETTING_INT,
    .default_text = "60000",
    .min = 100,
    .max = 86400000,
    .help = "Time after which an idle connection is closed, in milliseconds",
};

const lc_setting lc_setting_server_inflight_bytes_max = {
    .name = "server.inflight_bytes_max",
    .kind = LC_SETTING_INT,
    .default_text = "268435456",
    .min = 1048576,
    .max = INT64_C(1) << 40,
    .help = "Maximum size of all bodies being received and answers being sent, in bytes; requests "
            "beyond it get 503",
};

/* Where a value comes from; a later one wins. */
typedef enum origin {
    ORIGIN_DEFAULT,
    ORIGIN_FILE,
    ORIGIN_STORE,
    ORIGIN_ENVIRONMENT,
    ORIGIN_FLAG,
    ORIGIN_COUNT
} origin;

static const char *const origin_names[ORIGIN_COUNT] = {
    [ORIGIN_DEFAULT] = "default",         [ORIGIN_FILE] = "file", [ORIGIN_STORE] = "store",
    [ORIGIN_ENVIRONMENT] = "environment", [ORIGIN_FLAG] = "flag",
};

/* A stored row that was ignored. */
typedef struct ignored_row {
    loci_str tenant_id;
    loci_str name;
    loci_str reason;
    struct ignored_row *next;
} ignored_row;

typedef struct tenant_values {
    loci_str tenant_id;
    lc_setting_value values[]; /* In the order of the list. */
} tenant_values;

/* All values in the store, read at one moment. */
typedef struct stored_set {
    lc_arena arena;            /* Has everything but the map and the set itself. */
    lc_setting_value *for_all; /* In the order of the list. */
    lc_map tenants;            /* tenant_values by tenant_id. */
    ignored_row *ignored;      /* At most LC_PROBLEMS_MAX of them, */
    int64_t ignored_count;     /* their number, */
    lc_hash128 ignored_hash;   /* and a hash of them; zero = none. */
    uint64_t ticket;           /* Number of the reload that it is from. */
    int holds;                 /* Number of references. */
} stored_set;

struct lc_settings {
    lc_env *env;
    lc_setting_list list;
    lc_variables variables;
    lc_arena arena;
    /* In the order of the list. Those of ORIGIN_STORE stay empty. */
    lc_setting_value *layers[ORIGIN_COUNT];
    pthread_mutex_t lock; /* Protects the members below and the references of sets. */
    uint64_t tickets;
    stored_set *current; /* Empty until the first reload. */
    stored_set *first;   /* NULL until then; set once. */
};

static size_t index_of(const lc_settings *settings, const lc_setting *setting)
{
    size_t index = 0;

    while (index < settings->list.count && settings->list.items[index] != setting)
        index++;
    LC_ASSERT(index < settings->list.count);
    return index;
}

/* ---- Layers outside the store ---------------------------------------------------------------- */

/* The text of one layer, and its source. */
typedef struct layer_text {
    origin from;
    loci_str json;
    const char *source; /* For messages. */
} layer_text;

static loci_status parse_layer(lc_settings *settings, const layer_text *layer, const lc_json **out,
                               loci_error *err)
{
    loci_error reason = {0};
    loci_status status = lc_json_parse(&settings->arena, layer->json, 0, out, &reason);

    if (status != LOCI_OK)
        return lc_fail(err, status, "%s: %s", layer->source, reason.message);
    if (lc_json_kind_of(*out) != LC_JSON_OBJECT)
        return lc_fail(err, LOCI_EINVAL, "%s: must be a JSON object of settings, not a JSON %s",
                       layer->source, lc_json_kind_name(lc_json_kind_of(*out)));
    return LOCI_OK;
}

static loci_status read_layer(lc_settings *settings, const layer_text *layer, loci_error *err)
{
    const lc_json *object;
    loci_status status = parse_layer(settings, layer, &object, err);

    if (status != LOCI_OK)
        return status;
    for (const lc_json *member = lc_json_first(object); member != NULL;
         member = lc_json_next(member)) {
        lc_setting_input input = {.json = member, .source = layer->source};
        lc_setting_value *value;

        status = lc_setting_list_load(&settings->list, layer->source, lc_json_name(member),
                                      &input.setting, err);
        if (status != LOCI_OK)
            return status;
        value = &settings->layers[layer->from][index_of(settings, input.setting)];
        if (value->is_set)
            return lc_fail(err, LOCI_EINVAL, "%s: setting \"%s\" is given twice", layer->source,
                           input.setting->name);
        status = lc_setting_value_read(&settings->arena, &input, value, err);
        if (status != LOCI_OK)
            return status;
    }
    return LOCI_OK;
}

static loci_status read_file_layer(lc_settings *settings, const char *path, loci_error *err)
{
    layer_text layer = {.from = ORIGIN_FILE};
    lc_buf name = {0}, text = {0};
    loci_status status;

    lc_buf_init(&name, settings->arena.heap, LOCI_MEM_ENGINE, SOURCE_NAME_BYTES_MAX);
    lc_buf_init(&text, settings->arena.heap, LOCI_MEM_ENGINE, LC_CONFIG_FILE_BYTES_MAX);
    lc_buf_append(&name, LC_STR("config file "));
    lc_buf_append(&name, loci_str_of(path));
    layer.source = lc_buf_terminate(&name);
    status = lc_buf_status(&name, err);
    if (status == LOCI_OK)
        status = lc_setting_read_file("config file", path, LOCI_EINVAL, &text, err);
    if (status == LOCI_OK) {
        layer.json = lc_buf_str(&text);
        status = read_layer(settings, &layer, err);
    }
    lc_buf_clear(&text);
    lc_buf_clear(&name);
    return status;
}

static loci_status read_defaults(lc_settings *settings, loci_error *err)
{
    for (size_t i = 0; i < settings->list.count; i++) {
        lc_setting_input input = {.setting = settings->list.items[i], .source = "defaults"};
        loci_status status = lc_json_parse(
            &settings->arena, loci_str_of(input.setting->default_text), 0, &input.json, err);

        if (status == LOCI_OK)
            status = lc_setting_value_read(&settings->arena, &input,
                                           &settings->layers[ORIGIN_DEFAULT][i], err);
        LC_ASSERT(status == LOCI_OK || status == LOCI_ERESOURCE);
        if (status != LOCI_OK)
            return status;
    }
    return LOCI_OK;
}

static loci_status read_layers(lc_settings *settings, const lc_setting_sources *sources,
                               loci_error *err)
{
    const layer_text environment = {ORIGIN_ENVIRONMENT, loci_str_of(sources->environment),
                                    "environment"};
    const layer_text flags = {ORIGIN_FLAG, loci_str_of(sources->flags), "flags"};
    loci_status status;

    for (int i = 0; i < ORIGIN_COUNT; i++) {
        settings->layers[i] = lc_arena_zalloc_array(&settings->arena, settings->list.count,
                                                    sizeof(lc_setting_value));
        if (settings->layers[i] == NULL)
            return lc_fail_memory(err);
    }
    status = read_defaults(settings, err);
    if (status == LOCI_OK && sources->config_file != NULL)
        status = read_file_layer(settings, sources->config_file, err);
    if (status == LOCI_OK && sources->environment != NULL)
        status = read_layer(settings, &environment, err);
    if (status == LOCI_OK && sources->flags != NULL)
        status = read_layer(settings, &flags, err);
    return status;
}

/* ---- Stored values --------------------------------------------------------------------------- */

static void free_set(lc_settings *settings, stored_set *set)
{
    if (set == NULL)
        return;
    lc_map_clear(&set->tenants);
    lc_arena_clear(&set->arena);
    lc_heap_free(&settings->env->heap, set, sizeof *set, LOCI_MEM_ENGINE);
}

/* An empty set with one reference. */
static loci_status new_set(lc_settings *settings, stored_set **out, loci_error *err)
{
    lc_heap *heap = &settings->env->heap;
    stored_set *set = lc_heap_zalloc(heap, sizeof *set, LOCI_MEM_ENGINE);

    if (set == NULL)
        return lc_fail_memory(err);
    set->holds = 1;
    lc_arena_init(&set->arena, heap, LOCI_MEM_ENGINE);
    lc_map_init(&set->tenants, heap, LOCI_MEM_ENGINE);
    set->for_all = lc_arena_zalloc_array(&set->arena, settings->list.count, sizeof *set->for_all);
    if (set->for_all == NULL) {
        free_set(settings, set);
        return lc_fail_memory(err);
    }
    *out = set;
    return LOCI_OK;
}

/* The values of that tenant, added if it has none; NULL when out of memory. */
static lc_setting_value *values_of(const lc_settings *settings, stored_set *set, loci_str tenant_id)
{
    tenant_values *own;

    if (tenant_id.len == 0)
        return set->for_all;
    own = lc_map_find(&set->tenants, tenant_id);
    if (own != NULL)
        return own->values;
    own = lc_arena_zalloc_array(&set->arena, 1,
                                sizeof *own + settings->list.count * sizeof(lc_setting_value));
    if (own == NULL)
        return NULL;
    own->tenant_id = lc_arena_copy(&set->arena, tenant_id);
    if (own->tenant_id.ptr == NULL || !lc_map_put(&set->tenants, own->tenant_id, own))
        return NULL;
    return own->values;
}

/* A set that is being read. */
typedef struct reload {
    lc_settings *settings;
    stored_set *set;
} reload;

/* LOCI_EINVAL, with the reason, for a row that this version does not understand. */
static loci_status read_row(const reload *r, const lc_setting_row *row, loci_error *err)
{
    stored_set *set = r->set;
    lc_setting_input input = {.source = "store"};
    lc_setting_value *values;
    loci_status status;

    status = lc_setting_list_load(&r->settings->list, input.source, row->name, &input.setting, err);
    if (status != LOCI_OK)
        return status;
    if (row->tenant_id.len > 0 && !input.setting->is_per_tenant)
        return lc_fail(err, LOCI_EINVAL, "store: setting \"%s\" is not per tenant",
                       input.setting->name);
    values = values_of(r->settings, set, row->tenant_id);
    if (values == NULL)
        return lc_fail_memory(err);
    /* The tree borrows from the row; values copy their text. */
    status = lc_json_parse(&set->arena, row->value, 0, &input.json, err);
    if (status != LOCI_OK)
        return status;
    return lc_setting_value_read(&set->arena, &input, &values[index_of(r->settings, input.setting)],
                                 err);
}

static loci_status ignore_row(stored_set *set, const lc_setting_row *row, const loci_error *reason,
                              loci_error *err)
{
    ignored_row *ignored;

    set->ignored_count++;
    set->ignored_hash = lc_hash128_chain(set->ignored_hash, row->tenant_id);
    set->ignored_hash = lc_hash128_chain(set->ignored_hash, row->name);
    set->ignored_hash = lc_hash128_chain(set->ignored_hash, row->value);
    if (set->ignored_count > LC_PROBLEMS_MAX)
        return LOCI_OK;

    ignored = lc_arena_zalloc_array(&set->arena, 1, sizeof *ignored);
    if (ignored == NULL)
        return lc_fail_memory(err);
    ignored->tenant_id = lc_arena_copy(&set->arena, row->tenant_id);
    ignored->name = lc_arena_copy(&set->arena, row->name);
    ignored->reason = lc_arena_copy(&set->arena, loci_str_of(reason->message));
    ignored->next = set->ignored;
    if (ignored->tenant_id.ptr == NULL || ignored->name.ptr == NULL || ignored->reason.ptr == NULL)
        return lc_fail_memory(err);
    set->ignored = ignored;
    return LOCI_OK;
}

static loci_status add_row(void *ctx, const lc_setting_row *row, loci_error *err)
{
    const reload *r = ctx;
    loci_error reason;
    loci_status status = read_row(r, row, &reason);

    if (status == LOCI_OK)
        return LOCI_OK;
    if (status == LOCI_ERESOURCE)
        return lc_fail_memory(err);
    return ignore_row(r->set, row, &reason, err);
}

/* Logs the ignored rows, unless `before` had the same. */
static void log_ignored(const lc_settings *settings, const stored_set *set,
                        const stored_set *before)
{
    if (lc_hash128_eq(set->ignored_hash, before->ignored_hash))
        return;
    for (const ignored_row *row = set->ignored; row != NULL; row = row->next)
        lc_log_write(&settings->env->log, LOCI_LOG_WARN, "settings.ignored",
                     LC_LOG_STR("tenant", row->tenant_id), LC_LOG_STR("name", row->name),
                     LC_LOG_STR("reason", row->reason), LC_LOG_INT("count", set->ignored_count));
}

/* The stored value, set or not; the tenant's own value takes precedence. */
static const lc_setting_value *find_stored(const stored_set *set, size_t index, loci_str tenant_id)
{
    const tenant_values *own = NULL;

    if (tenant_id.len > 0)
        own = lc_map_find(&set->tenants, tenant_id);
    return own != NULL && own->values[index].is_set ? &own->values[index] : &set->for_all[index];
}

/* ---- Effective values ------------------------------------------------------------------------ */

/* References to both sets. */
typedef struct view {
    stored_set *current;
    const stored_set *first;
} view;

/* The effective value, and its origin. */
typedef struct outcome {
    const lc_setting_value *value;
    origin origin;
} outcome;

/* ---- Opening --------------------------------------------------------------------------------- */

loci_status lc_settings_new_from(lc_env *env, const lc_setting_list *list,
                                 const lc_setting_sources *sources, lc_settings **out,
                                 loci_error *err)
{
    lc_settings *settings = lc_heap_zalloc(&env->heap, sizeof *settings, LOCI_MEM_ENGINE);
    loci_status status;

    if (settings == NULL)
        return lc_fail_memory(err);
    settings->env = env;
    settings->list = *list;
    settings->variables = sources->variables;
    lc_arena_init(&settings->arena, &env->heap, LOCI_MEM_ENGINE);
    (void)pthread_mutex_init(&settings->lock, NULL); /* Cannot fail with default attributes. */

    status = read_layers(settings, sources, err);
    if (status == LOCI_OK)
        status = new_set(settings, &settings->current, err);
    if (status == LOCI_OK)
        *out = settings;
    else
        lc_settings_free(settings);
    return status;
}

loci_status lc_settings_new(lc_env *env, const lc_setting_sources *sources, lc_settings **out,
                            loci_error *err)
{
    lc_setting_list own = lc_setting_list_own();

    return lc_settings_new_from(env, &own, sources, out, err);
}

void lc_settings_free(lc_settings *settings)
{
    if (settings == NULL)
        return;
    if (settings->first != settings->current)
        free_set(settings, settings->first);
    free_set(settings, settings->current);
    (void)pthread_mutex_destroy(&settings->lock); /* No other thread uses the settings now. */
    lc_arena_clear(&settings->arena);
    lc_heap_free(&settings->env->heap, settings, sizeof *settings, LOCI_MEM_ENGINE);
}

/* ---- Precedence ------------------------------------------------------------------------------ */

/* `in_store` is the stored value, set or not. */
static outcome choose(const lc_settings *settings, size_t index, const lc_setting_value *in_store)
{
    for (int layer = ORIGIN_FLAG; layer > ORIGIN_DEFAULT; layer--) {
        const lc_setting_value *value = layer == ORIGIN_STORE ? in_store
                                                              : &settings->layers[layer][index];

        if (value->is_set)
            return (outcome){.value = value, .origin = (origin)layer};
    }
    return (outcome){.value = &settings->layers[ORIGIN_DEFAULT][index], .origin = ORIGIN_DEFAULT};
}

static outcome find_in_force(const lc_settings *settings, view sets, size_t index,
                             loci_str tenant_id)
{
    const stored_set *set = sets.current;

    if (!settings->list.items[index]->is_live && sets.first != NULL)
        set = sets.first;
    return choose(settings, index, find_stored(set, index, tenant_id));
}

static int64_t find_number(lc_settings *settings, const lc_setting *setting, loci_str tenant_id)
{
    size_t index = index_of(settings, setting);
    int64_t number;

    pthread_mutex_lock(&settings->lock);
    number = find_in_force(settings, (view){settings->current, settings->first}, index, tenant_id)
                 .value->number;
    pthread_mutex_unlock(&settings->lock);
    return number;
}

int64_t lc_settings_i64(lc_settings *settings, const lc_setting *setting, loci_str tenant_id)
{
    LC_ASSERT(setting->kind == LC_SETTING_INT);
    return find_number(settings, setting, tenant_id);
}

bool lc_settings_bool(lc_settings *settings, const lc_setting *setting, loci_str tenant_id)
{
    LC_ASSERT(setting->kind == LC_SETTING_BOOL);
    return find_number(settings, setting, tenant_id) != 0;
}

int lc_settings_choice(lc_settings *settings, const lc_setting *setting, loci_str tenant_id)
{
    LC_ASSERT(setting->kind == LC_SETTING_CHOICE);
    return (int)find_number(settings, setting, tenant_id);
}

/* ---- Sets ------------------------------------------------------------------------------------ */

static view hold(lc_settings *settings)
{
    view sets;

    pthread_mutex_lock(&settings->lock);
    sets = (view){.current = settings->current, .first = settings->first};
    sets.current->holds++;
    pthread_mutex_unlock(&settings->lock);
    return sets;
}

static void release(lc_settings *settings, stored_set *set)
{
    bool is_last;

    pthread_mutex_lock(&settings->lock);
    is_last = --set->holds == 0;
    pthread_mutex_unlock(&settings->lock);
    if (is_last)
        free_set(settings, set);
}

/* Makes `set` the current one, unless a newer one is. The caller keeps its reference to `set` and
 * also gets the reference to the replaced set, which is returned, or NULL. */
static stored_set *exchange(lc_settings *settings, stored_set *set)
{
    stored_set *replaced = NULL;

    pthread_mutex_lock(&settings->lock);
    if (set->ticket > settings->current->ticket) {
        replaced = settings->current;
        settings->current = set;
        set->holds++;
    }
    if (settings->first == NULL) {
        settings->first = settings->current;
        settings->first->holds++;
    }
    pthread_mutex_unlock(&settings->lock);
    return replaced;
}

loci_status lc_settings_reload(lc_settings *settings, lc_tx *tx, loci_error *err)
{
    stored_set *set, *replaced;
    loci_status status = new_set(settings, &set, err);

    if (status != LOCI_OK)
        return status;
    pthread_mutex_lock(&settings->lock);
    set->ticket = ++settings->tickets;
    pthread_mutex_unlock(&settings->lock);

    status = lc_setting_row_each(tx, add_row, &(reload){settings, set}, err);
    if (status != LOCI_OK) {
        free_set(settings, set);
        return status;
    }
    replaced = exchange(settings, set);
    if (replaced != NULL) {
        log_ignored(settings, set, replaced);
        release(settings, replaced);
    }
    release(settings, set);
    return LOCI_OK;
}

/* ---- Texts ----------------------------------------------------------------------------------- */

loci_status lc_settings_text(lc_settings *settings, const lc_setting *setting, loci_str tenant_id,
                             lc_buf *out, loci_error *err)
{
    view sets = hold(settings);
    const lc_setting_value *value =
        find_in_force(settings, sets, index_of(settings, setting), tenant_id).value;
    loci_status status;

    if (setting->is_secret) {
        status = lc_setting_secret_load(&settings->variables, setting, value, out, err);
    } else {
        lc_buf_append(out, value->text);
        status = lc_buf_status(out, err);
    }
    release(settings, sets.current);
    return status;
}

/* ---- Changing -------------------------------------------------------------------------------- */

/* A value that is not set means `null`: the stored one is removed. */
static loci_status read_change(lc_arena *arena, const lc_setting_change *change,
                               lc_setting_value *out, loci_error *err)
{
    lc_setting_input input = {.setting = change->setting, .json = change->value};

    if (change->tenant_id.len > 0 && !change->setting->is_per_tenant)
        return lc_fail(err, LOCI_EINVAL, "setting \"%s\" is for the whole store, not for a tenant",
                       change->setting->name);
    if (lc_json_kind_of(change->value) == LC_JSON_NULL) {
        *out = (lc_setting_value){.is_set = false};
        return LOCI_OK;
    }
    return lc_setting_value_read(arena, &input, out, err);
}

loci_status lc_settings_store(lc_settings *settings, lc_tx *tx, const lc_setting_change *change,
                              loci_error *err)
{
    lc_setting_row row = {.tenant_id = change->tenant_id,
                          .name = loci_str_of(change->setting->name)};
    lc_setting_value value;
    lc_arena scratch;
    lc_buf json;
    loci_status status;

    lc_arena_init(&scratch, &settings->env->heap, LOCI_MEM_REQUESTS);
    lc_buf_init(&json, &settings->env->heap, LOCI_MEM_REQUESTS, LC_JSON_BYTES_MAX);
    status = read_change(&scratch, change, &value, err);
    if (status != LOCI_OK)
        goto out;
    if (!value.is_set) {
        status = lc_setting_row_remove(tx, row.tenant_id, row.name, err);
        goto out;
    }
    status = lc_json_canonical(&scratch, change->value, &json, err);
    if (status != LOCI_OK)
        goto out;
    row.value = lc_buf_str(&json);
    status = lc_setting_row_put(tx, &row, err);

out:
    lc_buf_clear(&json);
    lc_arena_clear(&scratch);
    return status;
}

/* Why the stored value is not, or not yet, in effect; NULL when it is. */
static const char *find_note(const lc_setting_value *value, outcome later, bool needs_restart)
{
    if (value->is_set && later.origin == ORIGIN_FLAG)
        return "a command-line flag has precedence over the stored value";
    if (value->is_set && later.origin == ORIGIN_ENVIRONMENT)
        return "an environment variable has precedence over the stored value";
    return needs_restart ? "takes effect when the store is opened next" : NULL;
}

/* The stored value after `change`, which was read as `value`. */
static const lc_setting_value *find_after(view sets, const lc_setting_change *change, size_t index,
                                          const lc_setting_value *value)
{
    if (!value->is_set && change->tenant_id.len > 0)
        return find_stored(sets.current, index, LC_STR_NONE);
    return value;
}

loci_status lc_settings_write_change(lc_settings *settings, lc_json_writer *out,
                                     const lc_setting_change *change, loci_error *err)
{
    const lc_setting *setting = change->setting;
    size_t index = index_of(settings, setting);
    lc_arena scratch;
    lc_setting_value value;
    outcome now, later;
    bool needs_restart;
    const char *note;
    view sets;
    loci_status status;

    lc_arena_init(&scratch, &settings->env->heap, LOCI_MEM_REQUESTS);
    status = read_change(&scratch, change, &value, err);
    if (status != LOCI_OK)
        goto out;
    sets = hold(settings);
    later = choose(settings, index, find_after(sets, change, index, &value));
    now = setting->is_live ? later : find_in_force(settings, sets, index, change->tenant_id);
    needs_restart = !lc_setting_value_eq(now.value, later.value);
    note = find_note(&value, later, needs_restart);

    lc_jw_object(out);
    lc_jw_member_text(out, "name", setting->name);
    lc_jw_name(out, "value");
    lc_setting_value_write(setting, &value, out);
    lc_jw_name(out, "effective");
    lc_setting_value_write(setting, now.value, out);
    lc_jw_member_text(out, "origin", origin_names[now.origin]);
    lc_jw_member_bool(out, "restart_required", needs_restart);
    if (note != NULL)
        lc_jw_member_text(out, "note", note);
    lc_jw_end(out);
    release(settings, sets.current);

out:
    lc_arena_clear(&scratch);
    return status;
}

/* ---- Showing --------------------------------------------------------------------------------- */

void lc_settings_write(lc_settings *settings, lc_json_writer *out, const lc_setting *setting,
                       loci_str tenant_id)
{
    size_t id = index_of(settings, setting);
    view sets = hold(settings);
    outcome now = find_in_force(settings, sets, id, tenant_id);
    outcome later = choose(settings, id, find_stored(sets.current, id, tenant_id));

    lc_jw_object(out);
    lc_jw_member_text(out, "name", setting->name);
    lc_jw_name(out, "value");
    lc_setting_value_write(setting, now.value, out);
    lc_jw_name(out, "default");
    lc_setting_value_write(setting, &settings->layers[ORIGIN_DEFAULT][id], out);
    lc_jw_member_text(out, "origin", origin_names[now.origin]);
    if (!lc_setting_value_eq(now.value, later.value)) {
        lc_jw_name(out, "pending");
        lc_setting_value_write(setting, later.value, out);
    }
    lc_setting_write_kind(setting, out);
    lc_jw_end(out);
    release(settings, sets.current);
}

bool lc_settings_is_changed(lc_settings *settings, const lc_setting *setting, loci_str tenant_id)
{
    size_t id = index_of(settings, setting);
    view sets = hold(settings);
    outcome now = find_in_force(settings, sets, id, tenant_id);
    bool is_changed = !lc_setting_value_eq(now.value, &settings->layers[ORIGIN_DEFAULT][id]);

    release(settings, sets.current);
    return is_changed;
}

bool lc_settings_is_set(lc_settings *settings, const lc_setting *setting)
{
    size_t id = index_of(settings, setting), place = 0;
    view sets = hold(settings);
    bool is_set = sets.current->for_all[id].is_set;
    const tenant_values *own;

    for (int from = ORIGIN_FILE; from < ORIGIN_COUNT; from++)
        is_set |= settings->layers[from][id].is_set;
    while (!is_set && (own = lc_map_each(&sets.current->tenants, &place)) != NULL)
        is_set = own->values[id].is_set;
    release(settings, sets.current);
    return is_set;
}
