/* settings_fixture.h - settings with everything they need, and a store that is only rows. */
#ifndef TEST_UNIT_ENGINE_SETTINGS_FIXTURE_H
#define TEST_UNIT_ENGINE_SETTINGS_FIXTURE_H

#include "engine/settings.h"
#include "unit/engine/fake_rows.h"

typedef struct settings_fixture {
    lc_env env;
    lc_settings *settings;
    fake_rows store;
    loci_error err;
} settings_fixture;

/* An environment on the test heap, silent, its clock standing still. */
void settings_init_env(lc_env *env);
void settings_open(settings_fixture *f, const lc_setting_sources *sources);
void settings_reload(settings_fixture *f);
void settings_close(settings_fixture *f);

/* Path of a new file with that content. */
const char *settings_file(const char *content);
/* The output of lc_settings_write(). Both live until the test ends. */
const char *settings_show(settings_fixture *f, const lc_setting *setting, const char *tenant_id);

/* The mistake in a list of settings, or NULL. */
const char *settings_fault(const lc_setting_list *list);

#endif /* TEST_UNIT_ENGINE_SETTINGS_FIXTURE_H */
