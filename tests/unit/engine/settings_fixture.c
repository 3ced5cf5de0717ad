#include "unit/engine/settings_fixture.h"

#include <string.h>

#include "base/str.h"
#include "lib/test.h"

static int64_t stand_still(void *ctx)
{
    (void)ctx;
    return 0;
}

void settings_init_env(lc_env *env)
{
    memset(env, 0, sizeof *env);
    lc_heap_init(&env->heap, test_heap());
    env->clock = stand_still;
}

void settings_open(settings_fixture *f, const lc_setting_sources *sources)
{
    f->settings = NULL;
    settings_init_env(&f->env);
    fake_rows_init(&f->store);
    CHECK_OK(lc_settings_new(&f->env, sources, &f->settings, &f->err), f->err);
}

void settings_reload(settings_fixture *f)
{
    CHECK_OK(lc_settings_reload(f->settings, &f->store.tx, &f->err), f->err);
}

void settings_close(settings_fixture *f)
{
    lc_settings_free(f->settings);
}

const char *settings_file(const char *content)
{
    const char *path = test_path(test_tmpdir(), "loci.json");

    test_write_file(path, loci_str_of(content));
    return path;
}

const char *settings_show(settings_fixture *f, const lc_setting *setting, const char *tenant_id)
{
    lc_json_writer out;
    lc_buf text;
    const char *copy;

    lc_buf_init(&text, &f->env.heap, LOCI_MEM_REQUESTS, 65536);
    lc_jw_init(&out, &text);
    lc_settings_write(f->settings, &out, setting, loci_str_of(tenant_id));
    CHECK(lc_jw_is_done(&out));
    copy = test_format("%.*s", (int)text.len, text.ptr);
    lc_buf_clear(&text);
    return copy;
}

static const char *find_row_fault(const lc_setting *row)
{
    bool is_ranged = row->kind == LC_SETTING_INT || row->kind == LC_SETTING_TEXT;

    if (row->name == NULL || row->help == NULL || row->default_text == NULL)
        return "a setting has a name, a help and a default";
    if (row->is_per_tenant && !row->is_live)
        return "a per-tenant setting is live";
    if (row->is_secret &&
        (row->kind != LC_SETTING_TEXT || !lc_str_is(LC_STR("null"), row->default_text)))
        return "a secret is a text and has no default";
    if ((row->kind == LC_SETTING_CHOICE) != (row->choices != NULL))
        return "choices belong to a choice";
    if (is_ranged && !row->is_secret && row->min >= row->max)
        return "a range is from less to more";
    if (row->kind == LC_SETTING_TEXT && row->min < 0)
        return "a text has no negative length";
    return NULL;
}

const char *settings_fault(const lc_setting_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        const char *fault = find_row_fault(list->items[i]);

        if (fault != NULL)
            return fault;
        if (i > 0 && lc_str_compare(loci_str_of(list->items[i - 1]->name),
                                    loci_str_of(list->items[i]->name)) >= 0)
            return "settings are sorted by name, none twice";
    }
    return NULL;
}
