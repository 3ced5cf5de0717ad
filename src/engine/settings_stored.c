/* settings_stored.c - Invariants: every value in a set is one that its setting allows; a tenant has
 * values of per-tenant settings only. */
#include "engine/settings_stored.h"

#include "base/error.h"
#include "base/str.h"
#include "store/setting_table.h"

typedef struct tenant_values {
    loci_str tenant_id;
    lc_setting_value values[]; /* In the order of the list. */
} tenant_values;

void lc_stored_settings_free(lc_stored_settings *set)
{
    if (set == NULL)
        return;
    lc_map_clear(&set->tenants);
    lc_arena_clear(&set->arena);
    lc_heap_free(&set->env->heap, set, sizeof *set, LOCI_MEM_ENGINE);
}

loci_status lc_stored_settings_new(lc_env *env, lc_setting_list list, lc_stored_settings **out,
                                   loci_error *err)
{
    lc_stored_settings *set = lc_heap_zalloc(&env->heap, sizeof *set, LOCI_MEM_ENGINE);

    if (set == NULL)
        return lc_fail_memory(err);
    set->env = env;
    set->list = list;
    lc_arena_init(&set->arena, &env->heap, LOCI_MEM_ENGINE);
    lc_map_init(&set->tenants, &env->heap, LOCI_MEM_ENGINE);
    set->for_all = lc_arena_zalloc_array(&set->arena, list.count, sizeof *set->for_all);
    if (set->for_all == NULL) {
        lc_stored_settings_free(set);
        return lc_fail_memory(err);
    }
    *out = set;
    return LOCI_OK;
}

/* Where the values of that tenant are, made when they are the first; NULL when out of memory. */
static lc_setting_value *values_of(lc_stored_settings *set, loci_str tenant_id)
{
    tenant_values *own;

    if (tenant_id.len == 0)
        return set->for_all;
    own = lc_map_find(&set->tenants, tenant_id);
    if (own != NULL)
        return own->values;
    own = lc_arena_zalloc_array(&set->arena, 1,
                                sizeof *own + set->list.count * sizeof(lc_setting_value));
    if (own == NULL)
        return NULL;
    own->tenant_id = lc_arena_copy(&set->arena, tenant_id);
    if (own->tenant_id.ptr == NULL || !lc_map_put(&set->tenants, own->tenant_id, own))
        return NULL;
    return own->values;
}

/* LOCI_EINVAL for a row that means nothing here; `err` then says why. */
static loci_status read_row(lc_stored_settings *set, const lc_setting_row *row, loci_error *err)
{
    lc_setting_input input = {.source = "store"};
    lc_setting_value *values;
    loci_status status;

    status = lc_setting_list_load(set->list, input.source, row->name, &input.setting, err);
    if (status != LOCI_OK)
        return status;
    if (row->tenant_id.len > 0 && !input.setting->is_per_tenant)
        return lc_fail(err, LOCI_EINVAL, "store: setting \"%s\" is not per tenant",
                       input.setting->name);
    values = values_of(set, row->tenant_id);
    if (values == NULL)
        return lc_fail_memory(err);
    /* The tree borrows from the row, and is needed no longer than that: values copy their text. */
    status = lc_json_parse(&set->arena, row->value, 0, &input.json, err);
    if (status != LOCI_OK)
        return status;
    return lc_setting_value_read(&set->arena, &input, &values[input.setting - set->list.rows], err);
}

static loci_status ignore_row(lc_stored_settings *set, const lc_setting_row *row,
                              const loci_error *reason, loci_error *err)
{
    lc_ignored_setting *ignored;

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
    lc_stored_settings *set = ctx;
    loci_error reason;
    loci_status status = read_row(set, row, &reason);

    if (status == LOCI_OK)
        return LOCI_OK;
    if (status == LOCI_ERESOURCE)
        return lc_fail_memory(err);
    return ignore_row(set, row, &reason, err);
}

loci_status lc_stored_settings_read(lc_stored_settings *set, lc_tx *tx, loci_error *err)
{
    return lc_setting_row_each(tx, add_row, set, err);
}

void lc_stored_settings_log(const lc_stored_settings *set, const lc_stored_settings *before)
{
    if (lc_hash128_eq(set->ignored_hash, before->ignored_hash))
        return;
    for (const lc_ignored_setting *row = set->ignored; row != NULL; row = row->next)
        lc_log_write(&set->env->log, LOCI_LOG_WARN, "settings.ignored",
                     LC_LOG_STR("tenant", row->tenant_id), LC_LOG_STR("name", row->name),
                     LC_LOG_STR("reason", row->reason), LC_LOG_INT("count", set->ignored_count));
}

const lc_setting_value *lc_stored_settings_find(const lc_stored_settings *set, size_t index,
                                                loci_str tenant_id)
{
    const tenant_values *own = NULL;

    if (tenant_id.len > 0)
        own = lc_map_find(&set->tenants, tenant_id);
    return own != NULL && own->values[index].is_set ? &own->values[index] : &set->for_all[index];
}
