/* Settings in the store, their change by config.set, and secrets. */
#include "engine/settings.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "engine/internal.h"
#include "lib/test.h"
#include "unit/engine/settings_fixture.h"

#define TIMEOUT &lc_setting_call_timeout_ms
#define LEASE &lc_setting_job_lease_ms

static const lc_setting_sources no_sources = {.config_file = NULL};

/* ---- Rows of another loci -------------------------------------------------------------------- */

typedef struct records {
    int count;
    char last[1024];
} records;

static void keep_record(void *ctx, loci_log_level level, const char *event, loci_str fields)
{
    records *log = ctx;

    CHECK_EQ(level, LOCI_LOG_WARN);
    CHECK_STR_EQ(event, "settings.ignored");
    CHECK_LT(fields.len, sizeof log->last);
    memcpy(log->last, fields.ptr, fields.len);
    log->last[fields.len] = '\0';
    log->count++;
}

/* A newer loci stored more than this one knows; going back to the older must still be possible. */
TEST(settings_stored, row_of_a_newer_loci_is_ignored_and_logged_once)
{
    settings_fixture f;
    records log = {.count = 0};

    settings_open(&f, &no_sources);
    f.env.log = (lc_log){.write = keep_record, .ctx = &log};
    fake_rows_add(&f.store, "", "job.lease_ms", "\"adaptive\"");
    settings_reload(&f);
    CHECK_EQ(lc_settings_i64(f.settings, LEASE, LC_STR_NONE), 30000);
    CHECK_EQ(log.count, 1);
    CHECK_STR_EQ(log.last, "{\"tenant\":\"\",\"name\":\"job.lease_ms\",\"reason\":\"store: setting "
                           "\\\"job.lease_ms\\\" must be an integer from 1000 to 3600000, not "
                           "\\\"adaptive\\\"\",\"count\":1}");
    settings_reload(&f);
    CHECK_EQ(log.count, 1);

    fake_rows_add(&f.store, "", "future.setting", "1");
    fake_rows_add(&f.store, "acme", "call.timeout_ms", "not JSON");
    fake_rows_add(&f.store, "", "call.timeout_ms", "1000");
    settings_reload(&f);
    CHECK_EQ(log.count, 4);
    CHECK_EQ(lc_settings_i64(f.settings, TIMEOUT, LC_STR("acme")), 1000);
    settings_close(&f);
}

TEST(settings_stored, many_ignored_rows_are_counted_and_few_are_logged)
{
    settings_fixture f;
    records log = {.count = 0};

    settings_open(&f, &no_sources);
    f.env.log = (lc_log){.write = keep_record, .ctx = &log};
    for (int i = 0; i < LC_PROBLEMS_MAX + 5; i++)
        fake_rows_add(&f.store, "", test_format("future.%02d", i), "1");
    settings_reload(&f);
    CHECK_EQ(log.count, LC_PROBLEMS_MAX);
    CHECK_CONTAINS(log.last, test_format("\"count\":%d", LC_PROBLEMS_MAX + 5));
    settings_close(&f);
}

/* ---- Changing -------------------------------------------------------------------------------- */

typedef struct change_request {
    const char *tenant_id;
    const char *name;
    const char *json;
} change_request;

static const lc_setting *find_setting(const char *name)
{
    lc_setting_list own = lc_setting_list_own();

    return lc_setting_list_find(&own, loci_str_of(name));
}

/* Stores a setting, and returns the answer of lc_settings_write_change(). */
static loci_status store(settings_fixture *f, const change_request *request, const char **out)
{
    lc_setting_change change = {.tenant_id = loci_str_of(request->tenant_id),
                                .setting = find_setting(request->name)};
    lc_json_writer writer;
    lc_arena arena;
    lc_buf text;
    loci_status status;

    lc_arena_init(&arena, &f->env.heap, LOCI_MEM_REQUESTS);
    lc_buf_init(&text, &f->env.heap, LOCI_MEM_REQUESTS, 65536);
    lc_jw_init(&writer, &text);
    status = lc_json_parse(&arena, loci_str_of(request->json), 0, &change.value, &f->err);
    if (status == LOCI_OK)
        status = lc_settings_store(f->settings, &f->store.tx, &change, &f->err);
    if (status == LOCI_OK)
        status = lc_settings_write_change(f->settings, &writer, &change, &f->err);
    if (status == LOCI_OK)
        status = lc_buf_status(&text, &f->err);
    if (status == LOCI_OK)
        *out = test_format("%.*s", (int)text.len, text.ptr);
    lc_buf_clear(&text);
    lc_arena_clear(&arena);
    return status;
}

static void check_store(settings_fixture *f, change_request request, const char *expected)
{
    const char *answer = NULL;

    CHECK_OK(store(f, &request, &answer), f->err);
    CHECK_STR_EQ(answer, expected);
}

TEST(settings_stored, change_is_told_before_and_counts_after_the_reload)
{
    settings_fixture f;

    settings_open(&f, &no_sources);
    settings_reload(&f);
    check_store(&f, (change_request){"", "job.lease_ms", " 5000 "},
                "{\"name\":\"job.lease_ms\",\"value\":5000,\"effective\":5000,\"origin\":\"store\","
                "\"restart_required\":false}");
    CHECK_STR_EQ(fake_rows_find(&f.store, "", "job.lease_ms"), "5000");
    CHECK_EQ(lc_settings_i64(f.settings, LEASE, LC_STR_NONE), 30000);
    settings_reload(&f);
    CHECK_EQ(lc_settings_i64(f.settings, LEASE, LC_STR_NONE), 5000);
    CHECK(lc_settings_is_changed(f.settings, LEASE, LC_STR_NONE));

    check_store(&f, (change_request){"", "job.lease_ms", "null"},
                "{\"name\":\"job.lease_ms\",\"value\":null,\"effective\":30000,"
                "\"origin\":\"default\",\"restart_required\":false}");
    CHECK_EQ(f.store.count, 0);
    settings_close(&f);
}

TEST(settings_stored, removing_a_tenants_value_leads_back_to_that_for_all)
{
    settings_fixture f;

    settings_open(&f, &no_sources);
    fake_rows_add(&f.store, "", "call.timeout_ms", "7000");
    fake_rows_add(&f.store, "acme", "call.timeout_ms", "8000");
    settings_reload(&f);
    check_store(&f, (change_request){"acme", "call.timeout_ms", "null"},
                "{\"name\":\"call.timeout_ms\",\"value\":null,\"effective\":7000,"
                "\"origin\":\"store\",\"restart_required\":false}");
    settings_reload(&f);
    CHECK_EQ(lc_settings_i64(f.settings, TIMEOUT, LC_STR("acme")), 7000);
    settings_close(&f);
}

/* Without the note a user would store a value again and again and see no change. */
TEST(settings_stored, note_says_what_outranks_a_stored_value)
{
    settings_fixture f;

    settings_open(&f, &(lc_setting_sources){.environment = "{\"job.lease_ms\":2000}",
                                            .flags = "{\"job.keep_hours\":2}"});
    settings_reload(&f);
    check_store(&f, (change_request){"", "job.lease_ms", "5000"},
                "{\"name\":\"job.lease_ms\",\"value\":5000,\"effective\":2000,"
                "\"origin\":\"environment\",\"restart_required\":false,"
                "\"note\":\"an environment variable has precedence over the stored value\"}");
    check_store(&f, (change_request){"", "job.keep_hours", "5"},
                "{\"name\":\"job.keep_hours\",\"value\":5,\"effective\":2,\"origin\":\"flag\","
                "\"restart_required\":false,"
                "\"note\":\"a command-line flag has precedence over the stored value\"}");
    settings_close(&f);
}

TEST(settings_stored, note_says_when_a_restart_is_needed)
{
    settings_fixture f;

    settings_open(&f, &no_sources);
    settings_reload(&f);
    check_store(&f, (change_request){"", "log.level", "\"debug\""},
                "{\"name\":\"log.level\",\"value\":\"debug\",\"effective\":\"info\","
                "\"origin\":\"default\",\"restart_required\":true,"
                "\"note\":\"takes effect when the store is opened next\"}");
    check_store(&f, (change_request){"", "log.level", "\"info\""},
                "{\"name\":\"log.level\",\"value\":\"info\",\"effective\":\"info\","
                "\"origin\":\"default\",\"restart_required\":false}");
    settings_close(&f);
}

TEST(settings_stored, wrong_change_stores_nothing)
{
    settings_fixture f;
    const char *answer = NULL;

    settings_open(&f, &no_sources);
    CHECK_STATUS(LOCI_EINVAL, store(&f, &(change_request){"", "job.lease_ms", "1"}, &answer));
    CHECK_STR_EQ(f.err.message,
                 "setting \"job.lease_ms\" must be an integer from 1000 to 3600000, not 1");
    CHECK_STATUS(LOCI_EINVAL,
                 store(&f, &(change_request){"acme", "job.lease_ms", "2000"}, &answer));
    CHECK_STR_EQ(f.err.message,
                 "setting \"job.lease_ms\" is for the whole store, not for a tenant");
    CHECK_EQ(f.store.count, 0);
    settings_close(&f);
}

/* ---- Races ----------------------------------------------------------------------------------- */

static void reload_from_other(void *ctx)
{
    settings_fixture *f = ctx;
    fake_rows newer;
    loci_error err;

    fake_rows_init(&newer);
    fake_rows_add(&newer, "", "job.lease_ms", "9000");
    CHECK_OK(lc_settings_reload(f->settings, &newer.tx, &err), err);
}

/* One that read the store earlier and is slower must not bring back the old values. */
TEST(settings_stored, reload_that_was_overtaken_changes_nothing)
{
    settings_fixture f;

    settings_open(&f, &no_sources);
    settings_reload(&f);
    fake_rows_add(&f.store, "", "job.lease_ms", "8000");
    f.store.at_end = reload_from_other;
    f.store.ctx = &f;
    settings_reload(&f);
    CHECK_EQ(lc_settings_i64(f.settings, LEASE, LC_STR_NONE), 9000);
    settings_close(&f);
}

typedef struct race {
    lc_settings *settings;
    lc_heap *heap;
    _Atomic bool is_over;
} race;

static void *read_again_and_again(void *ctx)
{
    race *r = ctx;
    lc_json_writer out;
    lc_buf text;

    lc_buf_init(&text, r->heap, LOCI_MEM_REQUESTS, 65536);
    while (!atomic_load(&r->is_over)) {
        int64_t timeout_ms = lc_settings_i64(r->settings, TIMEOUT, LC_STR("acme"));

        CHECK(timeout_ms == 30000 || timeout_ms == 1000 || timeout_ms == 2000);
        lc_buf_reset(&text);
        lc_jw_init(&out, &text);
        lc_settings_write(r->settings, &out, &lc_setting_log_level, LC_STR_NONE);
        CHECK_CONTAINS(lc_buf_str(&text), "\"value\":\"info\"");
    }
    lc_buf_clear(&text);
    return NULL;
}

static void *reload_again_and_again(void *ctx)
{
    race *r = ctx;
    uint64_t rounds = test_count(2000, 50000);
    fake_rows rows;
    loci_error err;

    fake_rows_init(&rows);
    fake_rows_add(&rows, "", "log.level", "\"debug\"");
    fake_rows_add(&rows, "acme", "call.timeout_ms", "1000");
    for (uint64_t i = 0; i < rounds; i++) {
        rows.rows[1].value = i % 2 == 0 ? LC_STR("1000") : LC_STR("2000");
        CHECK_OK(lc_settings_reload(r->settings, &rows.tx, &err), err);
    }
    return NULL;
}

/* For the thread sanitizer, and for the heap: a set must outlive its last reader. */
TEST(settings_stored, readers_and_reloads_do_not_disturb_each_other)
{
    settings_fixture f;
    pthread_t readers[2], reloaders[2];
    race r = {.is_over = false};

    settings_open(&f, &no_sources);
    settings_reload(&f);
    r.settings = f.settings;
    r.heap = &f.env.heap;
    for (int i = 0; i < 2; i++) {
        CHECK_EQ(pthread_create(&readers[i], NULL, read_again_and_again, &r), 0);
        CHECK_EQ(pthread_create(&reloaders[i], NULL, reload_again_and_again, &r), 0);
    }
    for (int i = 0; i < 2; i++)
        CHECK_EQ(pthread_join(reloaders[i], NULL), 0);
    atomic_store(&r.is_over, true);
    for (int i = 0; i < 2; i++)
        CHECK_EQ(pthread_join(readers[i], NULL), 0);
    settings_close(&f);
}

/* ---- Memory ---------------------------------------------------------------------------------- */

static loci_status live_a_whole_life(void *ctx)
{
    settings_fixture *f = ctx;
    const char *answer = NULL;
    loci_status status;

    status = lc_settings_new(
        &f->env,
        &(lc_setting_sources){.config_file = f->store.ctx, .flags = "{\"log.level\":\"warn\"}"},
        &f->settings, &f->err);
    if (status != LOCI_OK)
        return status;
    status = lc_settings_reload(f->settings, &f->store.tx, &f->err);
    if (status == LOCI_OK)
        status = store(f, &(change_request){"acme", "call.timeout_ms", "2000"}, &answer);
    if (status == LOCI_OK)
        status = lc_settings_reload(f->settings, &f->store.tx, &f->err);
    lc_settings_free(f->settings);
    return status;
}

TEST(settings_stored, running_out_of_memory_leaves_nothing_behind)
{
    settings_fixture f;

    settings_init_env(&f.env);
    fake_rows_init(&f.store);
    fake_rows_add(&f.store, "", "call.timeout_ms", "1000");
    fake_rows_add(&f.store, "beta", "call.timeout_ms", "1000");
    fake_rows_add(&f.store, "", "future.setting", "1");
    f.store.ctx = (void *)settings_file("{\"job.lease_ms\":2000}");
    test_oom_sweep(live_a_whole_life, &f);
}
