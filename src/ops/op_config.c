/* op_config.c - config.list, config.get, config.set.
 *
 * Reads show what is in force in this process. A change is stored in the call's transaction; what
 * it will lead to is answered before the commit, and the engine takes the stored settings over
 * after it. Who may do so depends on the setting, so it is not in the operation's flags: what holds
 * for the whole store, and what makes loci read a file or a variable, is for administrators.
 */
#include "ops/op.h"

#include "base/error.h"
#include "engine/engine.h"
#include "engine/settings.h"

static loci_status run_list(lc_call *call, lc_tx *tx, loci_error *err)
{
    lc_settings *settings = lc_engine_settings(call->engine);
    lc_setting_list list = lc_setting_list_own();
    bool only_tenant = lc_call_bool(call, "tenant_settings");
    bool only_changed = lc_call_bool(call, "changed");

    (void)tx; /* What is in force is in memory. */
    lc_jw_object(&call->out);
    lc_jw_name(&call->out, "settings");
    lc_jw_array(&call->out);
    for (size_t i = 0; i < list.count; i++) {
        if (only_tenant && !list.items[i]->is_per_tenant)
            continue;
        if (only_changed && !lc_settings_is_changed(settings, list.items[i], call->tenant_id))
            continue;
        lc_settings_write(settings, &call->out, list.items[i], call->tenant_id);
    }
    lc_jw_end(&call->out);
    lc_jw_end(&call->out);
    return lc_buf_status(call->out.buf, err);
}

static loci_status run_get(lc_call *call, lc_tx *tx, loci_error *err)
{
    const lc_setting *setting;
    loci_status status = lc_setting_load(lc_call_str(call, "name"), &setting, err);

    (void)tx; /* As above. */
    if (status != LOCI_OK)
        return status;
    lc_settings_write(lc_engine_settings(call->engine), &call->out, setting, call->tenant_id);
    return lc_buf_status(call->out.buf, err);
}

static loci_status check_right(const lc_call *call, const lc_setting *setting, loci_error *err)
{
    if (call->is_admin)
        return LOCI_OK;
    if (!setting->is_per_tenant || setting->is_secret)
        return lc_fail(err, LOCI_EFORBIDDEN, "only an administrator of the store may set \"%s\"",
                       setting->name);
    if (!call->is_tenant_admin)
        return lc_fail(err, LOCI_EFORBIDDEN, "only an administrator of the tenant may set \"%s\"",
                       setting->name);
    return LOCI_OK;
}

static loci_status prepare_set(lc_call *call, loci_error *err)
{
    const lc_setting *setting;
    lc_setting_change *change;
    loci_status status = lc_setting_load(lc_call_str(call, "name"), &setting, err);

    if (status != LOCI_OK)
        return status;
    status = check_right(call, setting, err);
    if (status != LOCI_OK)
        return status;
    change = lc_arena_alloc(call->arena, sizeof *change);
    if (change == NULL)
        return lc_fail_memory(err);
    *change = (lc_setting_change){.setting = setting, .value = lc_call_value(call, "value")->json};
    if (setting->is_per_tenant)
        change->tenant_id = call->tenant_id;
    call->input = change;
    return LOCI_OK;
}

static loci_status run_set(lc_call *call, lc_tx *tx, loci_error *err)
{
    lc_settings *settings = lc_engine_settings(call->engine);
    loci_status status = lc_settings_store(settings, tx, call->input, err);

    if (status == LOCI_OK)
        status = lc_settings_write_change(settings, &call->out, call->input, err);
    if (status != LOCI_OK)
        return status;
    return lc_buf_status(call->out.buf, err);
}

/* ---- The table ------------------------------------------------------------------------------- */

#define NAME_BYTES_MAX 64

#define SETTING_MEMBERS(prefix)                                                                    \
    {prefix "name", LC_PARAM_STRING, "Such as call.timeout_ms"},                                   \
        {prefix "value", LC_PARAM_ANY, "In force now; \"***\" for a secret that is set"},          \
        {prefix "default", LC_PARAM_ANY, "When nobody says otherwise"},                            \
        {prefix "origin", LC_PARAM_STRING, "default, file, store, environment or flag"},           \
        {prefix "pending", LC_PARAM_ANY, "The value after the next open, when it differs"},        \
        {prefix "kind", LC_PARAM_STRING, "integer, string, boolean or choice"},                    \
        {prefix "min", LC_PARAM_INT, "Least value of an integer, bytes of a string"},              \
        {prefix "max", LC_PARAM_INT, "Greatest value of an integer, bytes of a string"},           \
        {prefix "choices", LC_PARAM_STRINGS, "What a choice may be"},                              \
        {prefix "help", LC_PARAM_STRING, "What it is for"},                                        \
        {prefix "live", LC_PARAM_BOOL, "Takes effect at once; else when opened next"},             \
        {prefix "per_tenant", LC_PARAM_BOOL, "Each tenant may have its own value"},                \
    {                                                                                              \
        prefix "secret", LC_PARAM_BOOL, "Given by reference and never shown"                       \
    }

#define NAME_PARAM                                                                                 \
    {                                                                                              \
        "name", LC_PARAM_STRING, LC_PARAM_REQUIRED | LC_PARAM_POSITIONAL, NULL, 1, NAME_BYTES_MAX, \
            NULL, "Its name, such as call.timeout_ms"                                              \
    }

static const lc_op op_list = {
    .name = "config.list",
    .help = "List the settings, their values and where those come from",
    .params =
        (const lc_param[]){
            {"tenant_settings", LC_PARAM_BOOL, 0, "false", 0, 0, NULL,
             "Only those that each tenant may set"},
            {"changed", LC_PARAM_BOOL, 0, "false", 0, 0, NULL,
             "Only those whose value is not the default"},
            {.name = NULL},
        },
    .results =
        (const lc_result[]){
            SETTING_MEMBERS("settings[]."),
            {NULL, 0, NULL},
        },
    .cost = LC_COST_POINT,
    .http = "GET /v1/config",
    .example = "{\"changed\":true}",
    .run = run_list,
};

static const lc_op op_get = {
    .name = "config.get",
    .help = "Show one setting, its value and where that comes from",
    .params = (const lc_param[]){NAME_PARAM, {.name = NULL}},
    .results =
        (const lc_result[]){
            SETTING_MEMBERS(""),
            {NULL, 0, NULL},
        },
    .cost = LC_COST_POINT,
    .http = "GET /v1/config/{name}",
    .example = "{\"name\":\"call.timeout_ms\"}",
    .run = run_get,
};

static const lc_op op_set = {
    .name = "config.set",
    .help = "Store the value of a setting, for the caller's tenant where it is per tenant",
    .params =
        (const lc_param[]){
            NAME_PARAM,
            {"value", LC_PARAM_ANY, LC_PARAM_REQUIRED | LC_PARAM_POSITIONAL, NULL, 0, 0, NULL,
             "The value; null removes what is stored"},
            {.name = NULL},
        },
    .results =
        (const lc_result[]){
            {"name", LC_PARAM_STRING, "Such as call.timeout_ms"},
            {"value", LC_PARAM_ANY, "What is stored now; null when it was removed"},
            {"effective", LC_PARAM_ANY, "What is in force now"},
            {"origin", LC_PARAM_STRING, "Where that comes from"},
            {"restart_required", LC_PARAM_BOOL, "It counts when the store is opened next"},
            {"note", LC_PARAM_STRING, "Why what was stored is not, or not yet, in force"},
            {NULL, 0, NULL},
        },
    .cost = LC_COST_WRITE,
    .flags = LC_OP_MUTATES | LC_OP_IDEMPOTENT,
    .http = "PUT /v1/config/{name}",
    .example = "{\"name\":\"call.timeout_ms\",\"value\":20000}",
    .prepare = prepare_set,
    .run = run_set,
    .committed = lc_engine_settings_changed,
};

extern const lc_op *const lc_ops_config[];
const lc_op *const lc_ops_config[] = {&op_list, &op_get, &op_set, NULL};
