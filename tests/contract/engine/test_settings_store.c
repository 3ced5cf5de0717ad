/* Settings in a real store: rows, and config.* through loci.h. */
#include "contract/job_fixture.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "engine/settings.h"
#include "lib/calls.h"
#include "store/store_room.h"

/* ---- Rows ------------------------------------------------------------------------------------ */

typedef struct row_list {
    char text[512]; /* "tenant/name=value;" each, in the order they came. */
} row_list;

static loci_status add_row(void *ctx, const lc_setting_row *row, loci_error *err)
{
    row_list *list = ctx;
    size_t len = strlen(list->text);

    (void)err;
    (void)snprintf(list->text + len, sizeof list->text - len, "%.*s/%.*s=%.*s;",
                   LC_STR_ARG(row->tenant_id), LC_STR_ARG(row->name), LC_STR_ARG(row->value));
    return LOCI_OK;
}

static loci_status list_body(lc_tx *tx, void *ctx, loci_error *err)
{
    return lc_setting_row_each(tx, add_row, ctx, err);
}

static loci_status put_body(lc_tx *tx, void *ctx, loci_error *err)
{
    return lc_setting_row_put(tx, ctx, err);
}

static loci_status remove_body(lc_tx *tx, void *ctx, loci_error *err)
{
    const lc_setting_row *row = ctx;

    return lc_setting_row_remove(tx, row->tenant_id, row->name, err);
}

static void put(fixture *f, const char *tenant_id, const char *name, const char *value)
{
    lc_setting_row row = {loci_str_of(tenant_id), loci_str_of(name), loci_str_of(value)};

    CHECK_OK(fixture_write(f, "", put_body, &row), f->err);
}

static void check_rows(fixture *f, const char *expected)
{
    row_list list = {""};

    CHECK_OK(fixture_read(f, list_body, &list), f->err);
    CHECK_STR_EQ(list.text, expected);
}

TEST(settings_store, rows_are_set_replaced_and_removed)
{
    lc_setting_row row = {LC_STR_NONE, LC_STR("b"), LC_STR_NONE};
    fixture f;

    fixture_open(&f, NULL);
    check_rows(&f, "");
    put(&f, "acme", "a", "1");
    put(&f, NULL, "b", "\"é\"");
    put(&f, "", "a", "{\"x\":[]}");
    check_rows(&f, "/a={\"x\":[]};/b=\"é\";acme/a=1;");
    put(&f, "acme", "a", "2");
    check_rows(&f, "/a={\"x\":[]};/b=\"é\";acme/a=2;");
    CHECK_OK(fixture_write(&f, "", remove_body, &row), f.err);
    CHECK_OK(fixture_write(&f, "", remove_body, &row), f.err);
    check_rows(&f, "/a={\"x\":[]};acme/a=2;");
    fixture_close(&f);
}

/* ---- Operations ------------------------------------------------------------------------------ */

static const char *new_store(void)
{
    return test_store(test_tmpdir(), "store.db");
}

/* The value in force of the tenant `default`. */
static int64_t value_of(loci_engine *engine, const char *name)
{
    return test_member_int(test_call(engine, "config.get", "{'name':'%s'}", name), "value");
}

TEST(settings_store, what_was_set_is_in_force_at_once_and_after_a_restart)
{
    const char *store = new_store();
    loci_engine *engine = test_open(store);
    loci_str answer = test_call(engine, "config.set", "{'name':'job.lease_ms','value':45000}");

    CHECK_STR_EQ(answer, "{\"name\":\"job.lease_ms\",\"value\":45000,\"effective\":45000,"
                         "\"origin\":\"store\",\"restart_required\":false}");
    CHECK_EQ(value_of(engine, "job.lease_ms"), 45000);
    loci_close(engine);

    engine = test_open(store);
    CHECK_EQ(value_of(engine, "job.lease_ms"), 45000);
    test_call(engine, "config.set", "{'name':'job.lease_ms','value':null}");
    CHECK_EQ(value_of(engine, "job.lease_ms"), 30000);
    loci_close(engine);
}

TEST(settings_store, restart_setting_counts_when_opened_next)
{
    const char *store = new_store();
    loci_engine *engine = test_open(store);
    loci_str answer = test_call(engine, "config.set", "{'name':'store.readers','value':7}");

    CHECK_STR_EQ(test_member(answer, "restart_required"), "true");
    CHECK_STR_EQ(test_member_text(answer, "note"), "takes effect when the store is opened next");
    CHECK_EQ(value_of(engine, "store.readers"), 4);
    answer = test_call(engine, "config.get", "{'name':'store.readers'}");
    CHECK_EQ(test_member_int(answer, "pending"), 7);
    loci_close(engine);

    engine = test_open(store);
    CHECK_EQ(value_of(engine, "store.readers"), 7);
    loci_close(engine);
}

TEST(settings_store, flag_outranks_and_the_answer_says_so)
{
    loci_open_options options = test_open_options(new_store());
    loci_engine *engine = NULL;
    loci_error err;
    loci_str answer;

    options.settings = "{\"job.lease_ms\":60000}";
    CHECK_OK(loci_open(&options, &engine, &err), err);
    answer = test_call(engine, "config.set", "{'name':'job.lease_ms','value':45000}");
    CHECK_EQ(test_member_int(answer, "effective"), 60000);
    CHECK_STR_EQ(test_member_text(answer, "origin"), "flag");
    CHECK_CONTAINS(test_member_text(answer, "note"), "has precedence");
    CHECK_EQ(value_of(engine, "job.lease_ms"), 60000);
    loci_close(engine);
}

TEST(settings_store, wrong_settings_keep_a_store_from_opening)
{
    loci_open_options options = test_open_options(new_store());
    loci_engine *engine = NULL;
    loci_error err;

    options.environment = "{\"job.lease\":60000}";
    CHECK_STATUS(LOCI_EINVAL, loci_open(&options, &engine, &err));
    CHECK_STR_EQ(err.message,
                 "environment: unknown setting \"job.lease\"; did you mean \"job.lease_ms\"?");
    CHECK(!test_file_exists(options.store));
}

TEST(settings_store, list_can_be_narrowed)
{
    static const char *const names[] = {"authority.titles",
                                        "call.timeout_ms",
                                        "context.keep_hours",
                                        "extract.enabled",
                                        "frame.budget_tokens",
                                        "frame.depth_max",
                                        "frame.orphan_grace_s",
                                        "hook.prompt_tokens",
                                        "hook.start_tokens",
                                        "hook.tool_bytes",
                                        "judge.enabled",
                                        "memory.stale_days",
                                        "quota.events_per_day",
                                        "quota.log_bytes_max",
                                        "quota.requests_per_second",
                                        "quota.users_max",
                                        "secrets.policy",
                                        "session.idle_minutes",
                                        "summary.rolling_turns",
                                        "summary.spine_messages",
                                        "summary.use_model",
                                        "window.evict_after_ms",
                                        "window.roots"};
    loci_engine *engine = test_open(new_store());
    loci_str all = test_call(engine, "config.list", "{}");
    loci_str own = test_call(engine, "config.list", "{'tenant_settings':true}");

    CHECK_STR_EQ(test_member_text(all, "settings.0.name"), "authority.titles");
    CHECK_STR_EQ(
        test_member_text(all, test_format("settings.%zu.name", lc_setting_list_own().count - 1)),
        "window.roots");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        CHECK_STR_EQ(test_member_text(own, test_format("settings.%zu.name", i)), names[i]);
    CHECK_STR_EQ(test_member(own, test_format("settings.%zu", sizeof names / sizeof *names)), "");
    CHECK_STR_EQ(test_call(engine, "config.list", "{'changed':true}"),
                 "{\"settings\":[],\"next_cursor\":null}");
    test_call(engine, "config.set", "{'name':'job.lease_ms','value':45000}");
    all = test_call(engine, "config.list", "{'changed':true}");
    CHECK_STR_EQ(test_member_text(all, "settings.0.name"), "job.lease_ms");
    CHECK_STR_EQ(test_member(all, "settings.1"), "");
    loci_close(engine);
}

TEST(settings_store, wrong_change_says_what_is_right_and_changes_nothing)
{
    static const struct {
        loci_str args;
        loci_status status;
        const char *message;
    } cases[] = {
        {LC_STR("{\"name\":\"job.lease_ms\",\"value\":1}"), LOCI_EINVAL,
         "setting \"job.lease_ms\" must be an integer from 1000 to 3600000, not 1"},
        {LC_STR("{\"name\":\"log.level\",\"value\":\"loud\"}"), LOCI_EINVAL,
         "setting \"log.level\" must be one of debug|info|warn|error, not \"loud\""},
        {LC_STR("{\"name\":\"log.levle\",\"value\":\"info\"}"), LOCI_ENOTFOUND,
         "unknown setting \"log.levle\"; did you mean \"log.level\"?"},
        {LC_STR("{\"name\":\"log.level\"}"), LOCI_EINVAL, "value"},
    };
    const char *store = new_store();
    loci_engine *engine = test_open(store);
    uint64_t before = test_store_hash(store, NULL);
    loci_error err;

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        CHECK_STATUS(cases[i].status, test_try(engine, "config.set", cases[i].args, &err));
        CHECK_CONTAINS(err.message, cases[i].message);
    }
    CHECK_EQ(test_store_hash(store, NULL), before);
    loci_close(engine);
}

/* ---- Who may --------------------------------------------------------------------------------- */

static loci_status set_as(loci_engine *engine, loci_principal principal, const char *name,
                          loci_error *err)
{
    loci_call_options options = LOCI_CALL_OPTIONS_INIT;
    const char *args = test_format("{\"name\":\"%s\",\"value\":20000}", name);
    loci_answer *answer = NULL;
    loci_status status;

    principal.size = sizeof principal;
    options.principal = &principal;
    status = loci_call(engine, "config.set", loci_str_of(args), &options, &answer, err);
    loci_answer_free(answer);
    return status;
}

/* One tenant's settings are no business of another's, and the store's are an administrator's. */
TEST(settings_store, tenant_sets_its_own_and_nothing_else)
{
    const char *store = new_store();
    loci_engine *engine = test_open(store);
    loci_error err;
    const loci_principal admin = {.tenant = "acme", .flags = LOCI_PRINCIPAL_TENANT_ADMIN};

    CHECK_OK(set_as(engine, admin, "call.timeout_ms", &err), err);
    CHECK_EQ(value_of(engine, "call.timeout_ms"), 30000);
    CHECK_EQ(test_store_number(store, "select count(*) from settings where tenant_id = 'acme'"), 1);
    CHECK_STATUS(LOCI_EFORBIDDEN, set_as(engine, admin, "job.lease_ms", &err));
    CHECK_STR_EQ(err.message, "only an administrator of the store may set \"job.lease_ms\"");
    CHECK_STATUS(LOCI_EFORBIDDEN,
                 set_as(engine, (loci_principal){.tenant = "acme"}, "call.timeout_ms", &err));
    CHECK_STR_EQ(err.message, "config.set is for administrators of the tenant");
    CHECK_OK(set_as(engine, (loci_principal){.tenant = "acme", .flags = LOCI_PRINCIPAL_ADMIN},
                    "job.lease_ms", &err),
             err);
    CHECK_EQ(value_of(engine, "job.lease_ms"), 20000);
    loci_close(engine);
}

/* ---- Others ---------------------------------------------------------------------------------- */

/* After going back to an older loci the store must still open. */
TEST(settings_store, store_with_settings_of_a_newer_loci_opens)
{
    const char *store = new_store();
    loci_engine *engine = test_open(store);

    loci_close(engine);
    test_store_run(store, "insert into settings (tenant_id, name, value, updated_at) values "
                          "('', 'future.setting', '1', 0), ('', 'job.lease_ms', '\"fast\"', 0), "
                          "('', 'log.level', 'not json', 0), ('acme', 'job.lease_ms', '5000', 0)");
    engine = test_open(store);
    CHECK_EQ(value_of(engine, "job.lease_ms"), 30000);
    test_call(engine, "config.set", "{'name':'job.lease_ms','value':5000}");
    CHECK_EQ(value_of(engine, "job.lease_ms"), 5000);
    loci_close(engine);
}

TEST(settings_store, repeated_request_has_the_stored_answer)
{
    loci_engine *engine = test_open(new_store());
    const char *args = "{\"name\":\"job.lease_ms\",\"value\":5000,\"request_id\":\"r1\"}";
    loci_str first = test_call(engine, "config.set", "%s", args);

    test_call(engine, "config.set", "{'name':'job.lease_ms','value':6000}");
    CHECK_STR_EQ(test_call(engine, "config.set", "%s", args), test_replayed(first));
    CHECK_EQ(value_of(engine, "job.lease_ms"), 6000);
    loci_close(engine);
}

/* Two processes on one file; here two engines, which know nothing of each other either. */
TEST(settings_store, live_setting_reaches_other_processes)
{
    const char *store = new_store();
    loci_engine *here = test_open_threads(store);
    loci_engine *there = test_open_threads(store);
    int64_t deadline_us = lc_clock_monotonic_us() + 30000000;

    test_call(here, "config.set", "{'name':'job.lease_ms','value':5000}");
    while (value_of(there, "job.lease_ms") != 5000) {
        CHECK_LT(lc_clock_monotonic_us(), deadline_us);
        lc_clock_sleep_us(10000);
    }
    loci_close(there);
    loci_close(here);
}
