#include "ops/setting_view.h"

#include "base/assert.h"
#include "base/str.h"
#include "engine/engine.h"

size_t lc_setting_view_count(void)
{
    return LC_SETTING_COUNT;
}

lc_setting_view lc_setting_view_at(size_t index)
{
    const lc_setting *setting;

    LC_ASSERT(index < LC_SETTING_COUNT);
    setting = &lc_setting_table()[index];
    return (lc_setting_view){
        .name = setting->name,
        .choices = setting->choices,
        .help = setting->help,
        .is_text = !setting->is_secret &&
                   (setting->kind == LC_SETTING_TEXT || setting->kind == LC_SETTING_CHOICE),
    };
}

int64_t lc_setting_view_i64(loci_engine *engine, const char *name)
{
    const lc_setting *setting = lc_setting_find(loci_str_of(name));
    lc_settings *settings = lc_engine_settings(engine);
    lc_setting_id id;

    LC_ASSERT(setting != NULL);
    LC_ASSERT(setting->kind == LC_SETTING_INT || setting->kind == LC_SETTING_CHOICE);
    id = (lc_setting_id)(setting - lc_setting_table());
    if (setting->kind == LC_SETTING_CHOICE)
        return lc_settings_choice(settings, id, LC_STR_NONE);
    return lc_settings_i64(settings, id, LC_STR_NONE);
}
