/* setting_sources.c - the library never reads the environment, so it is read here. A value is taken
 * as JSON where that makes sense (5000, true) and as text otherwise, as people write them. */
#include "cli/setting_sources.h"

#include <ctype.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/json.h"
#include "base/str.h"
#include "ops/setting_view.h"

void lc_setting_variable(const char *setting, char out[LC_SETTING_VARIABLE_BYTES])
{
    size_t len = 5;

    memcpy(out, "LOCI_", 5);
    for (; *setting != '\0' && len + 1 < LC_SETTING_VARIABLE_BYTES; setting++)
        out[len++] = *setting == '.' ? '_' : (char)toupper((unsigned char)*setting);
    out[len] = '\0';
}

static bool is_text(loci_str name)
{
    for (size_t i = 0; i < lc_setting_view_count(); i++) {
        lc_setting_view view = lc_setting_view_at(i);

        if (lc_str_is(name, view.name))
            return view.is_text;
    }
    return false;
}

static void write_setting(lc_cli *cli, lc_json_writer *w, loci_str name, loci_str value)
{
    lc_arena_mark mark = lc_arena_get_mark(cli->arena);
    const lc_json *json;

    lc_jw_name_str(w, name);
    if (!is_text(name) && lc_json_parse(cli->arena, value, 0, &json, NULL) == LOCI_OK)
        lc_jw_value(w, json);
    else
        lc_jw_str(w, value);
    lc_arena_rewind(cli->arena, mark);
}

static void write_environment(lc_cli *cli, lc_json_writer *w, bool *out_has_level)
{
    char variable[LC_SETTING_VARIABLE_BYTES];

    for (size_t i = 0; i < lc_setting_view_count(); i++) {
        loci_str name = loci_str_of(lc_setting_view_at(i).name);
        const char *value;

        lc_setting_variable(name.ptr, variable);
        value = getenv(variable);
        if (value == NULL || value[0] == '\0')
            continue;
        write_setting(cli, w, name, loci_str_of(value));
        *out_has_level = *out_has_level || lc_str_is(name, "log.level");
    }
}

/* A name given twice counts once, the last time: an object has a name once. */
static bool is_set_again(const lc_globals *globals, size_t index, loci_str name)
{
    for (size_t i = index + 1; i < globals->set_count; i++) {
        loci_str rest;

        if (lc_str_eq(lc_str_split(loci_str_of(globals->sets[i]), '=', &rest), name))
            return true;
    }
    return false;
}

static loci_status write_flags(lc_cli *cli, lc_json_writer *w, bool *out_has_level, loci_error *err)
{
    const lc_globals *globals = &cli->globals;
    bool has_level = false;

    for (size_t i = 0; i < globals->set_count; i++) {
        loci_str value;
        loci_str name = lc_str_split(loci_str_of(globals->sets[i]), '=', &value);

        if (value.ptr == NULL || name.len == 0)
            return lc_fail(err, LOCI_EINVAL, "--set takes NAME=VALUE, not %s", globals->sets[i]);
        if (is_set_again(globals, i, name))
            continue;
        write_setting(cli, w, name, value);
        has_level = has_level || lc_str_is(name, "log.level");
    }
    if (globals->is_verbose && !has_level && !*out_has_level)
        lc_jw_member_text(w, "log.level", "info");
    *out_has_level = *out_has_level || has_level || globals->is_verbose;
    return LOCI_OK;
}

loci_status lc_cli_settings_find(lc_cli *cli, lc_cli_settings *out, loci_error *err)
{
    lc_cli_settings found = {0};
    lc_json_writer w;
    lc_buf text;
    loci_status status;

    lc_buf_init(&text, cli->heap, LOCI_MEM_REQUESTS, LC_JSON_BYTES_MAX);
    lc_jw_init(&w, &text);
    lc_jw_object(&w);
    write_environment(cli, &w, &found.has_log_level);
    lc_jw_end(&w);
    found.environment = lc_arena_copy(cli->arena, lc_buf_str(&text)).ptr;
    status = lc_buf_status(&text, err);
    if (status != LOCI_OK)
        goto out;

    lc_buf_reset(&text);
    lc_jw_init(&w, &text);
    lc_jw_object(&w);
    status = write_flags(cli, &w, &found.has_log_level, err);
    if (status != LOCI_OK)
        goto out;
    lc_jw_end(&w);
    found.flags = lc_arena_copy(cli->arena, lc_buf_str(&text)).ptr;
    status = lc_buf_status(&text, err);
    if (status == LOCI_OK && (found.environment == NULL || found.flags == NULL))
        status = lc_fail_memory(err);
    if (status == LOCI_OK)
        *out = found;

out:
    lc_buf_clear(&text);
    return status;
}
