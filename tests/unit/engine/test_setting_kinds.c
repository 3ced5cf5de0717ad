/* Kinds of settings that loci's own table has none of yet: texts, booleans, secrets. */
#include "engine/settings.h"

#include <string.h>
#include <unistd.h>

#include "base/str.h"
#include "lib/test.h"
#include "unit/engine/settings_fixture.h"

enum { BANNER, FANCY, KEY, ROW_COUNT };

static const lc_setting rows[ROW_COUNT] = {
    [BANNER] = {"a.banner", LC_SETTING_TEXT, "\"hello\"", 2, 8, NULL, "A text", true, true, false},
    [FANCY] = {"b.fancy", LC_SETTING_BOOL, "false", 0, 0, NULL, "A boolean", true, false, false},
    [KEY] = {"c.key", LC_SETTING_TEXT, "null", 0, 0, NULL, "A secret", true, false, true},
};

static const lc_setting_list list = {{&rows[BANNER], &rows[FANCY], &rows[KEY]}, ROW_COUNT};

static const char *find_variable(void *ctx, const char *name)
{
    (void)ctx;
    return strcmp(name, "THE_KEY") == 0 ? "from-variable" : NULL;
}

static loci_status open_from(settings_fixture *f, const char *flags)
{
    lc_setting_sources sources = {.flags = flags, .variables = {.find = find_variable}};

    settings_init_env(&f->env);
    fake_rows_init(&f->store);
    return lc_settings_new_from(&f->env, &list, &sources, &f->settings, &f->err);
}

static loci_status read_text(settings_fixture *f, int id, const char **out)
{
    lc_buf text;
    loci_status status;

    lc_buf_init(&text, &f->env.heap, LOCI_MEM_REQUESTS, 64);
    status = lc_settings_text(f->settings, &rows[id], LC_STR_NONE, &text, &f->err);
    *out = test_format("%.*s", (int)text.len, text.len > 0 ? text.ptr : "");
    lc_buf_clear(&text);
    return status;
}

TEST(setting_kinds, table_of_this_test_is_sound)
{
    CHECK(settings_fault(&list) == NULL);
}

TEST(setting_kinds, text_and_boolean_are_read_and_shown)
{
    settings_fixture f;
    const char *text;

    CHECK_OK(open_from(&f, "{\"a.banner\":\"caf\\u00e9\",\"b.fancy\":true}"), f.err);
    CHECK_OK(read_text(&f, BANNER, &text), f.err);
    CHECK_STR_EQ(text, "café");
    CHECK(lc_settings_bool(f.settings, &rows[FANCY], LC_STR_NONE));
    CHECK_CONTAINS(settings_show(&f, &rows[BANNER], ""),
                   "\"value\":\"café\",\"default\":\"hello\",\"origin\":\"flag\","
                   "\"kind\":\"string\",\"min\":2,\"max\":8,");
    CHECK_CONTAINS(settings_show(&f, &rows[FANCY], ""), "\"value\":true,\"default\":false");
    settings_close(&f);
}

TEST(setting_kinds, length_of_a_text_is_bounded)
{
    settings_fixture f;

    CHECK_OK(open_from(&f, "{\"a.banner\":\"ab\"}"), f.err);
    settings_close(&f);
    CHECK_OK(open_from(&f, "{\"a.banner\":\"abcdefgh\"}"), f.err);
    settings_close(&f);
    CHECK_STATUS(LOCI_EINVAL, open_from(&f, "{\"a.banner\":\"a\"}"));
    CHECK_STR_EQ(f.err.message,
                 "flags: setting \"a.banner\" must be a string of 2 to 8 bytes, not 1 bytes");
    CHECK_STATUS(LOCI_EINVAL, open_from(&f, "{\"a.banner\":\"abcdefghi\"}"));
    CHECK_STATUS(LOCI_EINVAL, open_from(&f, "{\"b.fancy\":1}"));
    CHECK_STR_EQ(f.err.message, "flags: setting \"b.fancy\" must be true or false, not 1");
}

/* The text of a tenant's own value lives in a set that the next reload replaces. */
TEST(setting_kinds, stored_text_is_read_for_its_tenant)
{
    settings_fixture f;
    lc_buf text;

    CHECK_OK(open_from(&f, NULL), f.err);
    fake_rows_add(&f.store, "acme", "a.banner", "\"welcome\"");
    settings_reload(&f);
    f.store.count = 0;
    lc_buf_init(&text, &f.env.heap, LOCI_MEM_REQUESTS, 64);
    CHECK_OK(lc_settings_text(f.settings, &rows[BANNER], LC_STR("acme"), &text, &f.err), f.err);
    settings_reload(&f);
    CHECK_OK(lc_settings_text(f.settings, &rows[BANNER], LC_STR("acme"), &text, &f.err), f.err);
    CHECK_STR_EQ(lc_buf_str(&text), "welcomehello");
    lc_buf_clear(&text);
    settings_close(&f);
}

/* ---- Secrets --------------------------------------------------------------------------------- */

/* A user may write the key itself into the file; it must not then be in a log as well. */
TEST(setting_kinds, secret_given_as_text_is_refused_and_not_repeated)
{
    static const char *const given[] = {
        "{\"c.key\":\"hunter2\"}",
        "{\"c.key\":{\"text\":\"hunter2\"}}",
        "{\"c.key\":{\"file\":\"hunter2\",\"env\":\"hunter2\"}}",
        "{\"c.key\":[\"hunter2\"]}",
        "{\"c.key\":{\"file\":7}}",
        "{\"c.key\":{\"file\":\"\"}}",
        "{\"c.key\":{}}",
        "{\"c.key\":42}",
    };

    for (size_t i = 0; i < sizeof given / sizeof given[0]; i++) {
        settings_fixture f;

        CHECK_STATUS(LOCI_EINVAL, open_from(&f, given[i]));
        CHECK_CONTAINS(f.err.message, "{\"file\": path} or {\"env\": name}");
        CHECK(strstr(f.err.message, "hunter2") == NULL);
        CHECK(strstr(f.err.message, "42") == NULL);
    }
}

TEST(setting_kinds, secret_is_read_from_its_file_and_never_shown)
{
    settings_fixture f;
    const char *path = settings_file("hunter2\r\n");
    const char *text;

    CHECK_OK(open_from(&f, test_format("{\"c.key\":{\"file\":\"%s\"}}", path)), f.err);
    CHECK_OK(read_text(&f, KEY, &text), f.err);
    CHECK_STR_EQ(text, "hunter2");
    CHECK_CONTAINS(settings_show(&f, &rows[KEY], ""),
                   "\"value\":\"***\",\"default\":null,\"origin\":\"flag\"");
    CHECK(strstr(settings_show(&f, &rows[KEY], ""), path) == NULL);
    CHECK_EQ(unlink(path), 0);
    CHECK_STATUS(LOCI_ENOTFOUND, read_text(&f, KEY, &text));
    CHECK_STR_EQ(f.err.message, test_format("secret file %s: No such file or directory", path));
    settings_close(&f);
}

TEST(setting_kinds, secret_is_read_from_its_variable)
{
    settings_fixture f;
    const char *text;

    CHECK_OK(open_from(&f, "{\"c.key\":{\"env\":\"THE_KEY\"}}"), f.err);
    CHECK_OK(read_text(&f, KEY, &text), f.err);
    CHECK_STR_EQ(text, "from-variable");
    settings_close(&f);

    CHECK_OK(open_from(&f, "{\"c.key\":{\"env\":\"OTHER\"}}"), f.err);
    CHECK_STATUS(LOCI_ENOTFOUND, read_text(&f, KEY, &text));
    CHECK_STR_EQ(f.err.message, "setting \"c.key\": variable OTHER is not set");
    settings_close(&f);
}

/* The library reads no environment that its host did not give it. */
TEST(setting_kinds, variable_without_a_host_that_gives_any_is_unsupported)
{
    settings_fixture f;
    lc_setting_sources sources = {.flags = "{\"c.key\":{\"env\":\"PATH\"}}"};
    const char *text;

    settings_init_env(&f.env);
    CHECK_OK(lc_settings_new_from(&f.env, &list, &sources, &f.settings, &f.err), f.err);
    CHECK_STATUS(LOCI_EUNSUPPORTED, read_text(&f, KEY, &text));
    settings_close(&f);
}

TEST(setting_kinds, secret_that_is_not_set_is_not_found)
{
    settings_fixture f;
    const char *text;

    CHECK_OK(open_from(&f, "{\"c.key\":null}"), f.err);
    CHECK_STATUS(LOCI_ENOTFOUND, read_text(&f, KEY, &text));
    CHECK_STR_EQ(f.err.message, "setting \"c.key\" is not set");
    CHECK_CONTAINS(settings_show(&f, &rows[KEY], ""), "\"value\":null,");
    settings_close(&f);
}
