#include "ops/setting_view.h"

#include "base/assert.h"
#include "base/str.h"
#include "engine/engine.h"

size_t lc_setting_view_count(void)
{
    return lc_setting_list_own().count;
}

lc_setting_view lc_setting_view_at(size_t index)
{
    lc_setting_list list = lc_setting_list_own();
    const lc_setting *setting = list.items[index];

    LC_ASSERT(index < list.count);
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
    lc_setting_list list = lc_setting_list_own();
    const lc_setting *setting = lc_setting_list_find(&list, loci_str_of(name));
    lc_settings *settings = lc_engine_settings(engine);

    LC_ASSERT(setting != NULL);
    LC_ASSERT(setting->kind == LC_SETTING_INT || setting->kind == LC_SETTING_CHOICE);
    if (setting->kind == LC_SETTING_CHOICE)
        return lc_settings_choice(settings, setting, LC_STR_NONE);
    return lc_settings_i64(settings, setting, LC_STR_NONE);
}
