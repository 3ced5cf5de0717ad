#include "engine/settings.h"

#include <string.h>

#include "base/str.h"
#include "engine/internal.h"
#include "engine/setting_value.h"
#include "lib/test.h"
#include "unit/engine/settings_fixture.h"

#define TIMEOUT &lc_setting_call_timeout_ms
#define LEASE &lc_setting_job_lease_ms
#define READERS &lc_setting_store_readers

/* The message of settings that must not be accepted. */
static const char *refusal(const lc_setting_sources *sources)
{
    settings_fixture f = {.settings = NULL};

    settings_init_env(&f.env);
    CHECK_STATUS(LOCI_EINVAL, lc_settings_new(&f.env, sources, &f.settings, &f.err));
    CHECK(f.settings == NULL);
    CHECK_EQ(f.err.status, LOCI_EINVAL);
    return test_format("%s", f.err.message);
}

/* ---- The table ------------------------------------------------------------------------------- */

TEST(settings, table_is_sound)
{
    lc_setting_list own = lc_setting_list_own();

    CHECK_STR_EQ(settings_fault(&own), NULL);
    CHECK_LT(30, own.count);
    CHECK_STR_EQ(own.items[0]->name, "authority.titles"); /* Of a room. */
    CHECK(lc_setting_list_find(&own, LC_STR("job.workers")) == &lc_setting_job_workers);
    CHECK(lc_setting_list_find(&own, LC_STR("job.worker")) == NULL);
}

/* The check of the table must itself be able to fail. */
TEST(settings, faults_of_a_table_are_found)
{
    const lc_setting good = {"a.b", LC_SETTING_INT, "1", 0, 2, NULL, "help", true, false, false};
    lc_setting rows[2] = {good, good};
    lc_setting_list one = {{rows}, 1}, two = {{rows, rows + 1}, 2};

    CHECK(settings_fault(&one) == NULL);
    CHECK_CONTAINS(settings_fault(&two), "none twice");
    rows[0].is_per_tenant = true;
    rows[0].is_live = false;
    CHECK_CONTAINS(settings_fault(&one), "per-tenant");
    rows[0] = good;
    rows[0].is_secret = true;
    CHECK_CONTAINS(settings_fault(&one), "secret");
    rows[0] = good;
    rows[0].choices = "x|y";
    CHECK_CONTAINS(settings_fault(&one), "choices");
    rows[0] = good;
    rows[0].min = 3;
    CHECK_CONTAINS(settings_fault(&one), "range");
    rows[0] = good;
    rows[0].help = NULL;
    CHECK_CONTAINS(settings_fault(&one), "help");
}

TEST(settings, defaults_are_in_force_without_any_source)
{
    settings_fixture f;

    settings_open(&f, &(lc_setting_sources){.config_file = NULL});
    CHECK_EQ(lc_settings_i64(f.settings, TIMEOUT, LC_STR_NONE), 30000);
    CHECK_EQ(lc_settings_choice(f.settings, &lc_setting_log_level, LC_STR_NONE), LOCI_LOG_INFO);
    CHECK_EQ(lc_settings_choice(f.settings, &lc_setting_store_durability, LC_STR_NONE), 0);
    CHECK(!lc_settings_is_changed(f.settings, TIMEOUT, LC_STR_NONE));
    CHECK_STR_EQ(settings_show(&f, &lc_setting_store_durability, ""),
                 "{\"name\":\"store.durability\",\"value\":\"full\",\"default\":\"full\","
                 "\"origin\":\"default\",\"kind\":\"choice\",\"choices\":[\"full\",\"relaxed\"],"
                 "\"help\":\"full: a committed write survives a power failure; relaxed: a power "
                 "failure may lose the last writes, a crash of the process none\",\"live\":false,"
                 "\"per_tenant\":false,\"secret\":false}");
    settings_close(&f);
}

/* ---- Precedence ------------------------------------------------------------------------------ */

static void check_layer(const lc_setting_sources *sources, bool is_stored, int64_t expected,
                        const char *origin)
{
    settings_fixture f;

    settings_open(&f, sources);
    if (is_stored)
        fake_rows_add(&f.store, "", "job.lease_ms", "3000");
    settings_reload(&f);
    CHECK_EQ(lc_settings_i64(f.settings, LEASE, LC_STR_NONE), expected);
    CHECK_CONTAINS(settings_show(&f, LEASE, ""), origin);
    settings_close(&f);
}

TEST(settings, later_source_wins)
{
    lc_setting_sources sources = {.config_file = NULL};

    check_layer(&sources, false, 30000, "\"origin\":\"default\"");
    sources.config_file = settings_file("{\"job.lease_ms\": 2000}");
    check_layer(&sources, false, 2000, "\"origin\":\"file\"");
    check_layer(&sources, true, 3000, "\"origin\":\"store\"");
    sources.environment = "{\"job.lease_ms\": 4000}";
    check_layer(&sources, true, 4000, "\"origin\":\"environment\"");
    sources.flags = "{\"job.lease_ms\": 5000}";
    check_layer(&sources, true, 5000, "\"origin\":\"flag\"");
}

TEST(settings, tenants_own_value_wins_over_the_stores)
{
    settings_fixture f;

    settings_open(&f, &(lc_setting_sources){.config_file = NULL});
    fake_rows_add(&f.store, "", "call.timeout_ms", "1000");
    fake_rows_add(&f.store, "acme", "call.timeout_ms", "2000");
    fake_rows_add(&f.store, "beta", "call.timeout_ms", "3000");
    settings_reload(&f);
    CHECK_EQ(lc_settings_i64(f.settings, TIMEOUT, LC_STR_NONE), 1000);
    CHECK_EQ(lc_settings_i64(f.settings, TIMEOUT, LC_STR("acme")), 2000);
    CHECK_EQ(lc_settings_i64(f.settings, TIMEOUT, LC_STR("beta")), 3000);
    CHECK_EQ(lc_settings_i64(f.settings, TIMEOUT, LC_STR("gamma")), 1000);
    CHECK_EQ(lc_settings_i64(f.settings, LEASE, LC_STR("acme")), 30000);
    settings_close(&f);
}

/* A tenant's row for a store-wide setting would let one tenant change it for itself. */
TEST(settings, tenant_cannot_have_its_own_store_wide_setting)
{
    settings_fixture f;

    settings_open(&f, &(lc_setting_sources){.config_file = NULL});
    fake_rows_add(&f.store, "acme", "job.lease_ms", "2000");
    settings_reload(&f);
    CHECK_EQ(lc_settings_i64(f.settings, LEASE, LC_STR("acme")), 30000);
    settings_close(&f);
}

/* The pool of read connections is made at open: showing another number would be a lie. */
TEST(settings, restart_setting_waits_for_the_next_open)
{
    settings_fixture f;

    settings_open(&f, &(lc_setting_sources){.config_file = NULL});
    fake_rows_add(&f.store, "", "store.readers", "6");
    settings_reload(&f);
    CHECK_EQ(lc_settings_i64(f.settings, READERS, LC_STR_NONE), 6);
    CHECK(strstr(settings_show(&f, READERS, ""), "pending") == NULL);
    f.store.rows[0].value = LC_STR("7");
    settings_reload(&f);
    CHECK_EQ(lc_settings_i64(f.settings, READERS, LC_STR_NONE), 6);
    CHECK_CONTAINS(settings_show(&f, READERS, ""), "\"value\":6,");
    CHECK_CONTAINS(settings_show(&f, READERS, ""), "\"pending\":7,");
    settings_reload(&f);
    CHECK_EQ(lc_settings_i64(f.settings, READERS, LC_STR_NONE), 6);
    settings_close(&f);
}

/* ---- Refused settings ------------------------------------------------------------------------ */

TEST(settings, unknown_name_says_where_and_what_is_near)
{
    const char *path = settings_file("{\"cal.timeout_ms\": 1}");

    CHECK_STR_EQ(refusal(&(lc_setting_sources){.config_file = path}),
                 test_format("config file %s: unknown setting \"cal.timeout_ms\"; did you mean "
                             "\"call.timeout_ms\"?",
                             path));
    CHECK_STR_EQ(refusal(&(lc_setting_sources){.environment = "{\"jobs.workers\":1}"}),
                 "environment: unknown setting \"jobs.workers\"; did you mean \"job.workers\"?");
    CHECK_STR_EQ(refusal(&(lc_setting_sources){.flags = "{\"zzz\":1}"}),
                 "flags: unknown setting \"zzz\"; config.list names all of them");
}

TEST(settings, wrong_value_says_what_was_given_and_what_is_right)
{
    static const struct {
        const char *json;
        const char *message;
    } cases[] = {
        {"{\"store.readers\":0}", "flags: setting \"store.readers\" must be an integer from 1 to "
                                  "64, not 0"},
        {"{\"store.readers\":65}", "from 1 to 64, not 65"},
        {"{\"store.readers\":\"4\"}", "from 1 to 64, not \"4\""},
        {"{\"store.readers\":4.0}", "from 1 to 64, not 4"},
        {"{\"store.readers\":true}", "from 1 to 64, not true"},
        {"{\"store.readers\":null}", "from 1 to 64, not null"},
        {"{\"store.readers\":[1]}", "from 1 to 64, not a JSON array"},
        {"{\"log.level\":\"loud\"}", "must be one of debug|info|warn|error, not \"loud\""},
        {"{\"log.level\":\"\"}", "must be one of debug|info|warn|error, not \"\""},
        {"{\"log.level\":\"debug|info\"}", "not \"debug|info\""},
        {"{\"log.level\":1}", "must be one of debug|info|warn|error, not 1"},
        {"[]", "flags: must be a JSON object of settings, not a JSON array"},
        {"{", "flags: line 1, column 2"},
        {"", "flags: line 1, column 1"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        CHECK_CONTAINS(refusal(&(lc_setting_sources){.flags = cases[i].json}), cases[i].message);
}

TEST(settings, bounds_are_allowed)
{
    settings_fixture f;

    settings_open(&f, &(lc_setting_sources){.flags = "{\"store.readers\":1,\"job.workers\":64}"});
    CHECK_EQ(lc_settings_i64(f.settings, READERS, LC_STR_NONE), 1);
    CHECK_EQ(lc_settings_i64(f.settings, &lc_setting_job_workers, LC_STR_NONE), 64);
    settings_close(&f);
}

TEST(settings, long_value_is_cut_in_the_message)
{
    const char *message = refusal(&(lc_setting_sources){
        .flags = "{\"log.level\":\"éééééééééééééééééééééééééééééééééééééééé\"}"});

    CHECK_CONTAINS(message, "éééééééééééééééééééééééé…\"");
}

TEST(settings, config_file_that_cannot_be_read_says_why)
{
    const char *dir = test_tmpdir();
    const char *missing = test_path(dir, "missing.json");

    CHECK_STR_EQ(refusal(&(lc_setting_sources){.config_file = missing}),
                 test_format("config file %s: No such file or directory", missing));
    CHECK_STR_EQ(refusal(&(lc_setting_sources){.config_file = dir}),
                 test_format("config file %s: Is a directory", dir));
    CHECK_CONTAINS(refusal(&(lc_setting_sources){.config_file = settings_file("{\n \"a\" 1}")}),
                   "loci.json: line 2, column 6");
}

TEST(settings, config_file_of_the_permitted_size_is_read)
{
    settings_fixture f;
    size_t bytes = LC_CONFIG_FILE_BYTES_MAX;
    char *content = test_bytes(bytes + 1);
    const char *path = test_path(test_tmpdir(), "loci.json");

    memset(content, ' ', bytes + 1);
    memcpy(content, "{}", 2);
    test_write_file(path, (loci_str){content, bytes});
    settings_open(&f, &(lc_setting_sources){.config_file = path});
    settings_close(&f);

    test_write_file(path, (loci_str){content, bytes + 1});
    settings_init_env(&f.env);
    CHECK_STATUS(LOCI_ELIMIT, lc_settings_new(&f.env, &(lc_setting_sources){.config_file = path},
                                              &f.settings, &f.err));
    CHECK_CONTAINS(f.err.message, "is longer than 1048576 bytes");
}

TEST(settings, loading_an_unknown_name_is_not_found)
{
    const lc_setting *setting = NULL;
    loci_error err;

    CHECK_OK(lc_setting_load(LC_STR("log.level"), &setting, &err), err);
    CHECK_STR_EQ(setting->name, "log.level");
    CHECK_STATUS(LOCI_ENOTFOUND, lc_setting_load(LC_STR("log.levle"), &setting, &err));
    CHECK_STR_EQ(err.message, "unknown setting \"log.levle\"; did you mean \"log.level\"?");
}
