#include "ops/setting_view.h"

#include "base/assert.h"
#include "engine/settings.h"

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
