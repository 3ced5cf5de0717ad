/* op_config.c - config.list, config.get, config.set.
 *
 * Reads return the values in force in this process. A change is stored in the call's transaction;
 * its effect is answered before the commit, and the engine loads the stored settings after it. The
 * rights required depend on the setting, so they are not in the operation's flags: settings of the
 * whole store, and those that make loci read a file or a variable, are for administrators.
 */
#include "ops/op.h"

#include "base/error.h"
#include "base/str.h"
#include "engine/engine.h"
#include "engine/settings.h"
#include "ops/page.h"
#include "window/window.h"

typedef struct list_input {
    bool tenant_settings;
    bool changed;
    lc_page_args page;
} list_input;

static loci_status run_list(lc_call *call, lc_tx *tx, loci_error *err)
{
    const list_input *in = call->input;
    lc_settings *settings = lc_engine_settings(call->engine);
    lc_setting_list list = lc_setting_list_own();
    lc_seq_position at = {0}; /* `seq` counts rows of the table. */
    lc_page page = {call, &lc_position_by_seq, &at};
    loci_status status = lc_page_begin(&page, &in->page, err);

    (void)tx; /* Effective values are in memory. */
    if (status != LOCI_OK)
        return status;
    lc_page_open(&page, "settings");
    for (; at.seq >= 0 && at.seq < (int64_t)list.count; at.seq++) {
        const lc_setting *setting = list.items[at.seq];

        if ((in->tenant_settings && !setting->is_per_tenant) ||
            (in->changed && !lc_settings_is_changed(settings, setting, call->tenant_id)))
            continue;
        if (!lc_page_takes(&page))
            break;
        lc_settings_write(settings, &call->out, setting, call->tenant_id);
    }
    lc_page_close(&page);
    return lc_buf_status(call->out.buf, err);
}

typedef struct get_input {
    loci_str name;
} get_input;

static loci_status run_get(lc_call *call, lc_tx *tx, loci_error *err)
{
    const get_input *in = call->input;
    const lc_setting *setting;
    loci_status status = lc_setting_load(in->name, &setting, err);

    (void)tx; /* As above. */
    if (status != LOCI_OK)
        return status;
    lc_settings_write(lc_engine_settings(call->engine), &call->out, setting, call->tenant_id);
    return lc_buf_status(call->out.buf, err);
}

static loci_status check_right(const lc_call *call, const lc_setting *setting, loci_error *err)
{
    if (call->is_remote &&
        (setting == &lc_setting_store_transfer_dir || setting == &lc_setting_window_roots))
        return lc_fail(err, LOCI_EFORBIDDEN,
                       "\"%s\" cannot be set over HTTP; set it on the command line or in the "
                       "configuration file",
                       setting->name);
    if (call->is_admin)
        return LOCI_OK;
    if (!setting->is_per_tenant || setting->is_secret || setting->is_admins)
        return lc_fail(err, LOCI_EFORBIDDEN, "only an administrator of the store may set \"%s\"",
                       setting->name);
    if (!call->is_whole)
        return lc_fail(err, LOCI_EFORBIDDEN,
                       "\"%s\" is a setting of the whole tenant; this caller is narrowed or capped",
                       setting->name);
    return LOCI_OK;
}

typedef struct set_input {
    loci_str name;
    lc_setting_change change; /* Without `setting` and `tenant_id` until it is prepared. */
} set_input;

static loci_status prepare_set(lc_call *call, loci_error *err)
{
    set_input *in = call->input;
    loci_status status = lc_setting_load(in->name, &in->change.setting, err);

    if (status == LOCI_OK)
        status = check_right(call, in->change.setting, err);
    if (status == LOCI_OK && in->change.setting->is_per_tenant)
        in->change.tenant_id = call->tenant_id;
    return status;
}

static loci_status run_set(lc_call *call, lc_tx *tx, loci_error *err)
{
    const set_input *in = call->input;
    lc_settings *settings = lc_engine_settings(call->engine);
    loci_status status = lc_settings_store(settings, tx, &in->change, err);

    if (status == LOCI_OK)
        status = lc_settings_write_change(settings, &call->out, &in->change, err);
    if (status != LOCI_OK)
        return status;
    return lc_buf_status(call->out.buf, err);
}

/* ---- The table ------------------------------------------------------------------------------- */

#define NAME_BYTES_MAX 64
#define ORIGINS "default|file|store|environment|flag"

static const lc_record setting_record = {
    .name = "Setting",
    .members =
        (const lc_result[]){
            {"name", LC_PARAM_STRING, "Name, such as call.timeout_ms"},
            {"value", LC_PARAM_ANY, "Value in force; \"***\" for a secret that is set"},
            {"default", LC_PARAM_ANY, "Default"},
            {"origin", LC_PARAM_STRING, "Origin of the value", .choices = ORIGINS},
            {"pending", LC_PARAM_ANY, "Value after the next open, if it differs",
             LC_RESULT_OPTIONAL},
            {"kind", LC_PARAM_STRING, "Kind of value", .choices = "integer|string|boolean|choice"},
            {"min", LC_PARAM_INT, "Minimum of an integer, or of the bytes of a string",
             LC_RESULT_OPTIONAL},
            {"max", LC_PARAM_INT, "Maximum of an integer, or of the bytes of a string",
             LC_RESULT_OPTIONAL},
            {"choices", LC_PARAM_STRINGS, "Values of a choice", LC_RESULT_OPTIONAL},
            {"help", LC_PARAM_STRING, "Purpose of the setting"},
            {"live", LC_PARAM_BOOL, "True if a change takes effect at once; else at the next open"},
            {"per_tenant", LC_PARAM_BOOL, "True if each tenant can have its own value"},
            {"secret", LC_PARAM_BOOL, "True if it is given by reference and never shown"},
            {NULL},
        },
};

static const lc_record list_answer = {
    .members =
        (const lc_result[]){
            {"settings", 0, "Settings", LC_RESULT_LIST, .record = &setting_record},
            LC_PAGE_RESULT,
            {NULL},
        },
};

static const lc_record set_answer = {
    .members =
        (const lc_result[]){
            {"name", LC_PARAM_STRING, "Name, such as call.timeout_ms"},
            {"value", LC_PARAM_ANY, "Stored value; null if it was removed"},
            {"effective", LC_PARAM_ANY, "Value in force"},
            {"origin", LC_PARAM_STRING, "Origin of the value in force", .choices = ORIGINS},
            {"restart_required", LC_PARAM_BOOL, "True if the change takes effect at the next open"},
            {"note", LC_PARAM_STRING, "Reason why the stored value is not in force",
             LC_RESULT_OPTIONAL},
            {NULL},
        },
};

#define NAME_PARAM(T)                                                                              \
    {                                                                                              \
        LC_ARG_STR("name", T, name), .flags = LC_PARAM_REQUIRED | LC_PARAM_POSITIONAL, .min = 1,   \
                                     .max = NAME_BYTES_MAX,                                        \
                                     .help = "Name of the setting, such as call.timeout_ms"        \
    }

static const lc_op op_list = {
    .name = "config.list",
    .help = "List the settings, their values and the origins of the values",
    .params =
        (const lc_param[]){
            {LC_ARG_BOOL("tenant_settings", list_input, tenant_settings, "false"),
             .help = "Only settings that each tenant may set"},
            {LC_ARG_BOOL("changed", list_input, changed, "false"),
             .help = "Only settings whose value is not the default"},
            LC_PAGE_PARAMS_DEFAULT(list_input, page, "1000"),
            {.name = NULL},
        },
    .input_bytes = sizeof(list_input),
    .answer = &list_answer,
    .cost = LC_COST_POINT,
    .http = "GET /v1/config",
    .look = {.columns = "name value origin", .id = "name"},
    .example = "{\"changed\":true}",
    .run = run_list,
};

static const lc_op op_get = {
    .name = "config.get",
    .help = "Return one setting, its value and the origin of the value",
    .params = (const lc_param[]){NAME_PARAM(get_input), {.name = NULL}},
    .input_bytes = sizeof(get_input),
    .answer = &setting_record,
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
            NAME_PARAM(set_input),
            {LC_ARG_ANY("value", set_input, change.value),
             .flags = LC_PARAM_REQUIRED | LC_PARAM_POSITIONAL,
             .help = "New value; null removes the stored value"},
            {.name = NULL},
        },
    .input_bytes = sizeof(set_input),
    .answer = &set_answer,
    .cost = LC_COST_WRITE,
    .flags = LC_OP_MAIN | LC_OP_MUTATES | LC_OP_IDEMPOTENT | LC_OP_TENANT_ADMIN,
    .http = "PUT /v1/config/{name}",
    .look = {.sentence = "{name} = {effective}[  ({note})]"},
    .example = "{\"name\":\"call.timeout_ms\",\"value\":20000}",
    .prepare = prepare_set,
    .run = run_set,
    .committed = lc_engine_settings_changed,
};

extern const lc_op *const lc_ops_config[];
const lc_op *const lc_ops_config[] = {&op_list, &op_get, &op_set, NULL};
