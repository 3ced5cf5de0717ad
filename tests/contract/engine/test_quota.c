/* Quotas of tenants (engine/quota.h), on both stores. */
#include "lib/calls.h"

#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/str.h"
#include "engine/internal.h"

#define DAY_US INT64_C(86400000000)
#define PATIENCE_US 30000000

static int64_t now_us;

static int64_t read_clock(void *ctx)
{
    (void)ctx;
    return now_us;
}

static loci_engine *open_store(const char *store, const char *settings)
{
    loci_open_options options = test_open_options(store);
    loci_engine *engine = NULL;
    loci_error err;

    if (now_us == 0)
        now_us = 20000 * DAY_US + DAY_US / 4;
    options.settings = test_json(settings);
    options.clock = read_clock;
    CHECK_OK(loci_open(&options, &engine, &err), err);
    return engine;
}

static loci_engine *open_with(const char *settings)
{
    now_us = 0;
    return open_store(test_store(test_tmpdir(), "store.db"), settings);
}

static loci_status try_write(loci_engine *engine, const char *user, int number, loci_error *err)
{
    const char *args = test_format("{\"user_id\":\"%s\",\"key\":\"k%d\",\"value\":%d}", user,
                                   number, number);

    return test_try(engine, "fact.write", loci_str_of(args), err);
}

TEST(quota, events_of_a_day_are_limited_until_midnight)
{
    const char *store = test_store(test_tmpdir(), "store.db");
    loci_engine *engine;
    loci_error err;

    now_us = 0;
    engine = open_store(store, "{'quota.events_per_day':3}");
    for (int i = 0; i < 3; i++)
        CHECK_OK(try_write(engine, i == 0 ? "ann" : "bob", i, &err), err);
    CHECK_STATUS(LOCI_ELIMIT, try_write(engine, "ann", 7, &err));
    CHECK(strstr(err.message, "quota.events_per_day (3)") != NULL);
    CHECK_EQ(lc_error_retry_ms(&err), DAY_US / 4 * 3 / 1000 + 1);
    test_call(engine, "fact.list", "{'user_id':'ann'}");              /* Reads go on, */
    test_call(engine, "fact.forget", "{'user_id':'ann','key':'k0'}"); /* and so does forgetting. */
    loci_close(engine);

    engine = open_store(store, "{'quota.events_per_day':3}"); /* The count is in the store. */
    CHECK_STATUS(LOCI_ELIMIT, try_write(engine, "ann", 8, &err));
    now_us += DAY_US;
    CHECK_OK(try_write(engine, "ann", 9, &err), err);
    test_close(engine);
}

TEST(quota, a_call_that_fails_is_not_an_event)
{
    loci_engine *engine = open_with("{'quota.events_per_day':2}");
    loci_error err;

    for (int i = 0; i < 5; i++)
        CHECK_STATUS(LOCI_ECONFLICT,
                     test_try(engine, "fact.write",
                              LC_STR("{\"key\":\"k\",\"value\":1,\"expected_seq\":9}"), &err));
    CHECK_OK(try_write(engine, "ann", 1, &err), err);
    CHECK_OK(try_write(engine, "ann", 2, &err), err);
    CHECK_STATUS(LOCI_ELIMIT, try_write(engine, "ann", 3, &err));
    test_close(engine);
}

TEST(quota, users_are_limited_but_known_ones_go_on)
{
    loci_engine *engine = open_with("{'quota.users_max':2}");
    loci_error err;

    CHECK_OK(try_write(engine, "ann", 1, &err), err);
    CHECK_OK(try_write(engine, "bob", 1, &err), err);
    CHECK_STATUS(LOCI_ELIMIT, try_write(engine, "eve", 1, &err));
    CHECK(strstr(err.message, "quota.users_max (2)") != NULL);
    CHECK_EQ(lc_error_retry_ms(&err), 0); /* Time does not help. */
    CHECK_OK(try_write(engine, "ann", 2, &err), err);
    test_call(engine, "fact.list", "{'user_id':'eve'}");
    test_close(engine);
}

TEST(quota, size_of_the_log_is_limited_and_forgetting_makes_room)
{
    const char *store = test_store(test_tmpdir(), "store.db");
    loci_engine *engine;
    loci_error err;

    now_us = 0;
    engine = open_store(store, "{'quota.log_bytes_max':2000}");
    test_call(engine, "fact.write", "{'user_id':'ann','key':'long','value':'%03000d'}", 1);
    CHECK_STATUS(LOCI_ELIMIT, try_write(engine, "bob", 1, &err));
    CHECK(strstr(err.message, "forget something") != NULL);
    test_call(engine, "fact.forget", "{'user_id':'ann','key':'long'}");
    loci_close(engine);
    engine = open_store(store, "{'quota.log_bytes_max':2000}"); /* Its size is read again. */
    CHECK_OK(try_write(engine, "bob", 1, &err), err);
    test_close(engine);
}

TEST(quota, rate_says_when_the_next_call_may_come)
{
    loci_engine *engine = open_with("{'quota.requests_per_second':2}");
    loci_status status = LOCI_OK;
    int passed = 0;
    loci_error err;

    while (status == LOCI_OK && passed < 100) {
        status = test_try(engine, "fact.list", LC_STR("{}"), &err);
        passed += status == LOCI_OK;
    }
    CHECK_STATUS(LOCI_ELIMIT, status);
    CHECK_LE(2, passed);
    CHECK_LT(0, lc_error_retry_ms(&err));
    CHECK_LE(lc_error_retry_ms(&err), 501);
    CHECK_STATUS(LOCI_ELIMIT, test_try(engine, "fact.list", LC_STR("{}"), &err));
    lc_clock_sleep_us(lc_error_retry_ms(&err) * 1000);
    CHECK_OK(test_try(engine, "fact.list", LC_STR("{}"), &err), err);
    test_call(engine, "config.set", "{'name':'log.level','value':'info'}"); /* Never refused. */
    test_call(engine, "store.status", "{}");
    loci_close(engine);
}

/* ---- Tenants --------------------------------------------------------------------------------- */

static loci_status call_as(loci_engine *engine, const char *tenant, bool is_admin,
                           const char *operation, const char *args, loci_error *err)
{
    loci_principal principal = {.size = sizeof principal, .tenant = tenant};
    loci_call_options options = LOCI_CALL_OPTIONS_INIT;

    principal.flags = is_admin ? LOCI_PRINCIPAL_ADMIN : LOCI_PRINCIPAL_TENANT_ADMIN;
    options.principal = &principal;
    return loci_call(engine, operation, loci_str_of(test_json(args)), &options, NULL, err);
}

TEST(quota, each_tenant_has_its_own_which_only_the_operator_sets)
{
    loci_engine *engine = open_with("{}");
    const char *write = "{'user_id':'u','key':'a','value':1}";
    const char *again = "{'user_id':'u','key':'b','value':2}";
    loci_error err;

    CHECK_STATUS(LOCI_EFORBIDDEN, call_as(engine, "acme", false, "config.set",
                                          "{'name':'quota.events_per_day','value':1000}", &err));
    CHECK_OK(call_as(engine, "acme", true, "config.set",
                     "{'name':'quota.events_per_day','value':1}", &err),
             err);
    CHECK_OK(call_as(engine, "acme", false, "fact.write", write, &err), err);
    CHECK_STATUS(LOCI_ELIMIT, call_as(engine, "acme", false, "fact.write", again, &err));
    CHECK_OK(call_as(engine, "other", false, "fact.write", write, &err), err);
    CHECK_OK(call_as(engine, "other", false, "fact.write", again, &err), err);
    CHECK_OK(call_as(engine, "acme", true, "config.set",
                     "{'name':'quota.events_per_day','value':5}", &err),
             err);
    CHECK_OK(call_as(engine, "acme", false, "fact.write", again, &err), err);
    CHECK_OK(call_as(engine, "acme", true, "config.set",
                     "{'name':'quota.events_per_day','value':null}", &err),
             err);
    CHECK(!lc_engine_has_quotas(engine)); /* Checks cost nothing again. */
    loci_close(engine);
}

TEST(quota, engine_with_threads_counts_beside_its_calls)
{
    loci_open_options options = test_open_options(test_store(test_tmpdir(), "store.db"));
    int64_t until_us = lc_clock_monotonic_us() + PATIENCE_US;
    loci_status status = LOCI_OK;
    loci_engine *engine = NULL;
    loci_error err;

    options.flags &= ~LOCI_OPEN_INLINE;
    options.settings = "{\"quota.events_per_day\":20,\"quota.log_bytes_max\":1000000}";
    CHECK_OK(loci_open(&options, &engine, &err), err);
    for (int i = 0; status == LOCI_OK && lc_clock_monotonic_us() < until_us; i++)
        status = try_write(engine, "ann", i, &err);
    CHECK_STATUS(LOCI_ELIMIT, status);
    CHECK(strstr(err.message, "quota.events_per_day") != NULL);
    loci_close(engine);
}
