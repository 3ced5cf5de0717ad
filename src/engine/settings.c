/* settings.c - layers of values, and which of them is in force.
 *
 *     default  <  file  <  stored for all  <  stored for the tenant  <  environment  <  flag
 *
 * The outer layers are read once, at open. What the store holds is a set: made as a whole by a
 * reload, never changed, and exchanged under the lock, so that a reader sees all of it or none. The
 * first one is kept until the end, because settings that are not live go by it.
 *
 * The lock is held to look up a number or to take hold of a set; never while JSON is written,
 * memory is allocated or the database is asked. Two reloads may race: each draws a ticket before it
 * reads, and one that comes second with the older ticket is dropped, or it would bring back what
 * was replaced.
 */
#include "engine/settings.h"

#include <pthread.h>

#include "base/assert.h"
#include "base/error.h"
#include "base/str.h"
#include "engine/setting_value.h"
#include "engine/settings_layers.h"
#include "engine/settings_stored.h"
#include "store/setting_table.h"

struct lc_settings {
    lc_env *env;
    lc_setting_list list;
    lc_setting_layers layers;
    lc_variables variables;
    pthread_mutex_t lock; /* Of what follows, and of the holds of the sets. */
    uint64_t tickets;
    lc_stored_settings *current; /* Empty until the first reload. */
    lc_stored_settings *first;   /* NULL until then; set once. */
};

/* Both sets, held. */
typedef struct view {
    lc_stored_settings *current;
    const lc_stored_settings *first;
} view;

/* What is in force, and why. */
typedef struct outcome {
    const lc_setting_value *value;
    lc_setting_origin origin;
} outcome;

/* ---- Opening --------------------------------------------------------------------------------- */

loci_status lc_settings_new_from(lc_env *env, lc_setting_list list,
                                 const lc_setting_sources *sources, lc_settings **out,
                                 loci_error *err)
{
    lc_settings *settings = lc_heap_zalloc(&env->heap, sizeof *settings, LOCI_MEM_ENGINE);
    loci_status status;

    if (settings == NULL)
        return lc_fail_memory(err);
    settings->env = env;
    settings->list = list;
    settings->variables = sources->variables;
    (void)pthread_mutex_init(&settings->lock, NULL); /* Cannot fail with default attributes. */

    status = lc_setting_layers_read(&settings->layers, &env->heap, list, sources, err);
    if (status == LOCI_OK)
        status = lc_stored_settings_new(env, list, &settings->current, err);
    if (status != LOCI_OK) {
        lc_settings_free(settings);
        return status;
    }
    settings->current->holds = 1;
    *out = settings;
    return LOCI_OK;
}

loci_status lc_settings_new(lc_env *env, const lc_setting_sources *sources, lc_settings **out,
                            loci_error *err)
{
    return lc_settings_new_from(env, lc_setting_list_own(), sources, out, err);
}

void lc_settings_free(lc_settings *settings)
{
    if (settings == NULL)
        return;
    if (settings->first != settings->current)
        lc_stored_settings_free(settings->first);
    lc_stored_settings_free(settings->current);
    (void)pthread_mutex_destroy(&settings->lock); /* Nobody holds it: that is the contract. */
    lc_setting_layers_clear(&settings->layers);
    lc_heap_free(&settings->env->heap, settings, sizeof *settings, LOCI_MEM_ENGINE);
}

/* ---- Who wins -------------------------------------------------------------------------------- */

/* `in_store` is what the store says, set or not. */
static outcome choose(const lc_settings *settings, size_t index, const lc_setting_value *in_store)
{
    for (int layer = LC_ORIGIN_FLAG; layer > LC_ORIGIN_DEFAULT; layer--) {
        const lc_setting_value *value = layer == LC_ORIGIN_STORE
                                            ? in_store
                                            : &settings->layers.values[layer][index];

        if (value->is_set)
            return (outcome){.value = value, .origin = (lc_setting_origin)layer};
    }
    return (outcome){.value = &settings->layers.values[LC_ORIGIN_DEFAULT][index],
                     .origin = LC_ORIGIN_DEFAULT};
}

static outcome find_in_force(const lc_settings *settings, view sets, size_t index,
                             loci_str tenant_id)
{
    const lc_stored_settings *set = sets.current;

    if (!settings->list.rows[index].is_live && sets.first != NULL)
        set = sets.first;
    return choose(settings, index, lc_stored_settings_find(set, index, tenant_id));
}

static int64_t find_number(lc_settings *settings, size_t index, loci_str tenant_id)
{
    int64_t number;

    pthread_mutex_lock(&settings->lock);
    number = find_in_force(settings, (view){settings->current, settings->first}, index, tenant_id)
                 .value->number;
    pthread_mutex_unlock(&settings->lock);
    return number;
}

int64_t lc_settings_i64(lc_settings *settings, lc_setting_id id, loci_str tenant_id)
{
    LC_ASSERT(settings->list.rows[id].kind == LC_SETTING_INT);
    return find_number(settings, id, tenant_id);
}

bool lc_settings_bool(lc_settings *settings, lc_setting_id id, loci_str tenant_id)
{
    LC_ASSERT(settings->list.rows[id].kind == LC_SETTING_BOOL);
    return find_number(settings, id, tenant_id) != 0;
}

int lc_settings_choice(lc_settings *settings, lc_setting_id id, loci_str tenant_id)
{
    LC_ASSERT(settings->list.rows[id].kind == LC_SETTING_CHOICE);
    return (int)find_number(settings, id, tenant_id);
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

static void release(lc_settings *settings, lc_stored_settings *set)
{
    bool is_last;

    pthread_mutex_lock(&settings->lock);
    is_last = --set->holds == 0;
    pthread_mutex_unlock(&settings->lock);
    if (is_last)
        lc_stored_settings_free(set);
}

/* Takes `set` over unless a later one is there. The caller keeps its hold of `set` and gets that of
 * the one returned: the one replaced, or NULL. */
static lc_stored_settings *exchange(lc_settings *settings, lc_stored_settings *set)
{
    lc_stored_settings *replaced = NULL;

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
    lc_stored_settings *set, *replaced;
    loci_status status = lc_stored_settings_new(settings->env, settings->list, &set, err);

    if (status != LOCI_OK)
        return status;
    set->holds = 1;
    pthread_mutex_lock(&settings->lock);
    set->ticket = ++settings->tickets;
    pthread_mutex_unlock(&settings->lock);

    status = lc_stored_settings_read(set, tx, err);
    if (status != LOCI_OK) {
        lc_stored_settings_free(set);
        return status;
    }
    replaced = exchange(settings, set);
    if (replaced != NULL) {
        lc_stored_settings_log(set, replaced);
        release(settings, replaced);
    }
    release(settings, set);
    return LOCI_OK;
}

/* ---- Texts ----------------------------------------------------------------------------------- */

loci_status lc_settings_text(lc_settings *settings, lc_setting_id id, loci_str tenant_id,
                             lc_buf *out, loci_error *err)
{
    const lc_setting *setting = &settings->list.rows[id];
    view sets = hold(settings);
    const lc_setting_value *value = find_in_force(settings, sets, id, tenant_id).value;
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

/* A value that is not set stands for `null`: what is stored is to be removed. */
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

/* Why what was stored is not, or not yet, what counts; NULL when it is. */
static const char *find_note(const lc_setting_value *value, outcome later, bool needs_restart)
{
    if (value->is_set && later.origin == LC_ORIGIN_FLAG)
        return "a flag given at the start outranks what is stored";
    if (value->is_set && later.origin == LC_ORIGIN_ENVIRONMENT)
        return "an environment variable outranks what is stored";
    return needs_restart ? "takes effect when the store is opened next" : NULL;
}

/* What the store will say once `change`, read as `value`, is in it. */
static const lc_setting_value *find_after(view sets, const lc_setting_change *change, size_t index,
                                          const lc_setting_value *value)
{
    if (!value->is_set && change->tenant_id.len > 0)
        return lc_stored_settings_find(sets.current, index, LC_STR_NONE);
    return value;
}

loci_status lc_settings_write_change(lc_settings *settings, lc_json_writer *out,
                                     const lc_setting_change *change, loci_error *err)
{
    const lc_setting *setting = change->setting;
    size_t index = (size_t)(setting - settings->list.rows);
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
    lc_jw_member_text(out, "origin", lc_setting_origin_name(now.origin));
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

void lc_settings_write(lc_settings *settings, lc_json_writer *out, lc_setting_id id,
                       loci_str tenant_id)
{
    const lc_setting *setting = &settings->list.rows[id];
    view sets = hold(settings);
    outcome now = find_in_force(settings, sets, id, tenant_id);
    outcome later = choose(settings, id, lc_stored_settings_find(sets.current, id, tenant_id));

    lc_jw_object(out);
    lc_jw_member_text(out, "name", setting->name);
    lc_jw_name(out, "value");
    lc_setting_value_write(setting, now.value, out);
    lc_jw_name(out, "default");
    lc_setting_value_write(setting, &settings->layers.values[LC_ORIGIN_DEFAULT][id], out);
    lc_jw_member_text(out, "origin", lc_setting_origin_name(now.origin));
    if (!lc_setting_value_eq(now.value, later.value)) {
        lc_jw_name(out, "pending");
        lc_setting_value_write(setting, later.value, out);
    }
    lc_setting_write_kind(setting, out);
    lc_jw_end(out);
    release(settings, sets.current);
}

bool lc_settings_is_changed(lc_settings *settings, lc_setting_id id, loci_str tenant_id)
{
    view sets = hold(settings);
    outcome now = find_in_force(settings, sets, id, tenant_id);
    bool is_changed = !lc_setting_value_eq(now.value,
                                           &settings->layers.values[LC_ORIGIN_DEFAULT][id]);

    release(settings, sets.current);
    return is_changed;
}
