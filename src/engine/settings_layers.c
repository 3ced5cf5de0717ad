/* settings_layers.c - every failure names its source and stops the opening: a setting that was
 * meant and not understood is worse than none. */
#include "engine/settings_layers.h"

#include "base/assert.h"
#include "base/error.h"
#include "base/str.h"

#define SOURCE_NAME_BYTES_MAX 8192 /* "config file " and a path. */

static const char *const origin_names[LC_ORIGIN_COUNT] = {
    [LC_ORIGIN_DEFAULT] = "default",         [LC_ORIGIN_FILE] = "file", [LC_ORIGIN_STORE] = "store",
    [LC_ORIGIN_ENVIRONMENT] = "environment", [LC_ORIGIN_FLAG] = "flag",
};

const char *lc_setting_origin_name(lc_setting_origin origin)
{
    return origin_names[origin];
}

/* A text with the settings of one layer in it, and where it is from. */
typedef struct layer_text {
    lc_setting_origin origin;
    loci_str json;
    const char *source; /* For messages. */
} layer_text;

static loci_status parse_layer(lc_setting_layers *layers, const layer_text *layer,
                               const lc_json **out, loci_error *err)
{
    loci_error reason = {0};
    loci_status status = lc_json_parse(&layers->arena, layer->json, 0, out, &reason);

    if (status != LOCI_OK)
        return lc_fail(err, status, "%s: %s", layer->source, reason.message);
    if (lc_json_kind_of(*out) != LC_JSON_OBJECT)
        return lc_fail(err, LOCI_EINVAL, "%s: must be a JSON object of settings, not a JSON %s",
                       layer->source, lc_json_kind_name(lc_json_kind_of(*out)));
    return LOCI_OK;
}

static loci_status read_layer(lc_setting_layers *layers, const layer_text *layer, loci_error *err)
{
    const lc_json *object;
    loci_status status = parse_layer(layers, layer, &object, err);

    if (status != LOCI_OK)
        return status;
    for (const lc_json *member = lc_json_first(object); member != NULL;
         member = lc_json_next(member)) {
        lc_setting_input input = {.json = member, .source = layer->source};
        lc_setting_value *value;

        status = lc_setting_list_load(layers->list, layer->source, lc_json_name(member),
                                      &input.setting, err);
        if (status != LOCI_OK)
            return status;
        value = &layers->values[layer->origin][input.setting - layers->list.rows];
        if (value->is_set)
            return lc_fail(err, LOCI_EINVAL, "%s: setting \"%s\" is given twice", layer->source,
                           input.setting->name);
        status = lc_setting_value_read(&layers->arena, &input, value, err);
        if (status != LOCI_OK)
            return status;
    }
    return LOCI_OK;
}

static loci_status read_file_layer(lc_setting_layers *layers, const char *path, loci_error *err)
{
    layer_text layer = {.origin = LC_ORIGIN_FILE};
    lc_buf name = {0}, text = {0};
    loci_status status;

    lc_buf_init(&name, layers->arena.heap, LOCI_MEM_ENGINE, SOURCE_NAME_BYTES_MAX);
    lc_buf_init(&text, layers->arena.heap, LOCI_MEM_ENGINE, LC_CONFIG_FILE_BYTES_MAX);
    lc_buf_append(&name, LC_STR("config file "));
    lc_buf_append(&name, loci_str_of(path));
    layer.source = lc_buf_terminate(&name);
    status = lc_buf_status(&name, err);
    if (status == LOCI_OK)
        status = lc_setting_read_file("config file", path, LOCI_EINVAL, &text, err);
    if (status == LOCI_OK) {
        layer.json = lc_buf_str(&text);
        status = read_layer(layers, &layer, err);
    }
    lc_buf_clear(&text);
    lc_buf_clear(&name);
    return status;
}

static loci_status read_defaults(lc_setting_layers *layers, loci_error *err)
{
    for (size_t i = 0; i < layers->list.count; i++) {
        lc_setting_input input = {.setting = &layers->list.rows[i], .source = "defaults"};
        loci_status status = lc_json_parse(&layers->arena, loci_str_of(input.setting->default_text),
                                           0, &input.json, err);

        if (status == LOCI_OK)
            status = lc_setting_value_read(&layers->arena, &input,
                                           &layers->values[LC_ORIGIN_DEFAULT][i], err);
        LC_ASSERT(status == LOCI_OK || status == LOCI_ERESOURCE);
        if (status != LOCI_OK)
            return status;
    }
    return LOCI_OK;
}

loci_status lc_setting_layers_read(lc_setting_layers *layers, lc_heap *heap, lc_setting_list list,
                                   const lc_setting_sources *sources, loci_error *err)
{
    const layer_text environment = {LC_ORIGIN_ENVIRONMENT, loci_str_of(sources->environment),
                                    "environment"};
    const layer_text flags = {LC_ORIGIN_FLAG, loci_str_of(sources->flags), "flags"};
    loci_status status = LOCI_OK;

    layers->list = list;
    lc_arena_init(&layers->arena, heap, LOCI_MEM_ENGINE);
    for (int i = 0; i < LC_ORIGIN_COUNT; i++) {
        layers->values[i] = lc_arena_zalloc_array(&layers->arena, list.count,
                                                  sizeof(lc_setting_value));
        if (layers->values[i] == NULL)
            return lc_fail_memory(err);
    }
    status = read_defaults(layers, err);
    if (status == LOCI_OK && sources->config_file != NULL)
        status = read_file_layer(layers, sources->config_file, err);
    if (status == LOCI_OK && sources->environment != NULL)
        status = read_layer(layers, &environment, err);
    if (status == LOCI_OK && sources->flags != NULL)
        status = read_layer(layers, &flags, err);
    return status;
}

void lc_setting_layers_clear(lc_setting_layers *layers)
{
    lc_arena_clear(&layers->arena);
}
