/* Many calls that nobody waits for: the same answer as loci_call_many(), from what was given before
 * it returned, and called back exactly once. */
#include "lib/calls.h"

#include <stdatomic.h>
#include <string.h>

#include "base/clock.h"
#include "base/str.h"
#include "ops/surface.h"

#define PATIENCE_US INT64_C(60000000)

typedef struct outcome {
    _Atomic int done;
    loci_status status;
    char text[1024];
} outcome;

static void keep(void *ctx, loci_status status, loci_answer *answer, const loci_error *err)
{
    outcome *o = ctx;
    loci_str said = status == LOCI_OK ? loci_answer_json(answer) : loci_str_of(err->data);

    o->status = status;
    memcpy(o->text, said.ptr, said.len < sizeof o->text ? said.len : sizeof o->text - 1);
    loci_answer_free(answer);
    atomic_fetch_add(&o->done, 1);
}

static void wait_for(outcome *o)
{
    int64_t until_us = lc_clock_monotonic_us() + PATIENCE_US;

    while (atomic_load(&o->done) == 0) {
        CHECK_LT(lc_clock_monotonic_us(), until_us);
        lc_clock_sleep_us(500);
    }
}

static const char *new_store(void)
{
    return test_store(test_tmpdir(), "store.db");
}

static loci_request request(const char *operation, const char *args)
{
    return (loci_request){operation, loci_str_of(args), LOCI_AT_CLOCK};
}

/* Everything given is overwritten right after: whoever keeps a pointer to it would read rubbish. */
TEST(many_submit, what_was_given_is_copied)
{
    loci_engine *engine = test_open_threads(new_store());
    char operation[] = "fact.write";
    char args[] = "{\"key\":\"a\",\"value\":1}";
    char user[] = "ada";
    char request_id[] = "once";
    loci_principal principal = {.size = sizeof principal, .user = user};
    loci_call_options options = LOCI_CALL_OPTIONS_INIT;
    loci_request requests[] = {{operation, loci_str_of(args), LOCI_AT_CLOCK},
                               request("fact.current", "{\"key\":\"a\"}")};
    outcome o = {0}, again = {0};
    loci_error err;

    options.principal = &principal;
    options.request_id = request_id;
    CHECK_OK(lc_many_submit(engine, &(lc_many){requests, 2}, &options, keep, &o, &err), err);
    memset(operation, 'x', sizeof operation - 1);
    memset(args, 'x', sizeof args - 1);
    memset(requests, 0, sizeof requests);
    memset(&principal, 0, sizeof principal);
    wait_for(&o);
    CHECK_EQ(o.status, LOCI_OK);
    CHECK_CONTAINS(o.text, "\"outcome\":\"created\"");

    /* The same again is a repeat: the first answers, though waited for this time. */
    principal = (loci_principal){.size = sizeof principal, .user = "ada"};
    requests[0] = request("fact.write", "{\"key\":\"a\",\"value\":1}");
    requests[1] = request("fact.current", "{\"key\":\"a\"}");
    CHECK_OK(lc_many_submit(engine, &(lc_many){requests, 2}, &options, keep, &again, &err), err);
    wait_for(&again);
    CHECK_STR_EQ(again.text, o.text);
    CHECK_EQ(o.done, 1);
    test_close(engine);
}

TEST(many_submit, a_failure_names_the_call_and_changes_nothing)
{
    const char *store = new_store();
    loci_engine *engine = test_open_threads(store);
    loci_request requests[] = {request("fact.write", "{\"key\":\"a\",\"value\":1}"),
                               request("fact.current", "{\"key\":\"none\"}")};
    /* The workers' own upkeep may run meanwhile. */
    uint64_t before = test_store_hash(store, "jobs heads");
    outcome o = {0};
    loci_error err;

    CHECK_OK(lc_many_submit(engine, &(lc_many){requests, 2}, NULL, keep, &o, &err), err);
    wait_for(&o);
    CHECK_EQ(o.status, LOCI_ENOTFOUND);
    CHECK_CONTAINS(o.text, "\"index\":1");
    CHECK_EQ(test_store_hash(store, "jobs heads"), before);
    test_close(engine);
}

/* Reads run in the pool: no part of them waits in the writer's queue. */
TEST(many_submit, a_batch_of_reads_is_answered)
{
    const char *store = new_store();
    loci_engine *engine = test_open_threads(store);
    loci_call_options options = LOCI_CALL_OPTIONS_INIT;
    loci_request requests[] = {request("fact.current", "{\"key\":\"a\"}"),
                               request("fact.get", "{\"id\":\"$0.id\"}")};
    outcome o = {0}, failed = {0};
    loci_error err;

    test_call(engine, "fact.write", "{'key':'a','value':7}");
    options.request_id = "r";
    CHECK_OK(lc_many_submit(engine, &(lc_many){requests, 2}, &options, keep, &o, &err), err);
    wait_for(&o);
    CHECK_EQ(o.status, LOCI_OK);
    CHECK_CONTAINS(o.text, "\"value\":7");
    CHECK_EQ(test_store_number(store, "select count(*) from requests"), 0);
    requests[1].args = LC_STR("{\"id\":\"fact_01JCQ5Z8G00000000G00000000\"}");
    CHECK_OK(lc_many_submit(engine, &(lc_many){requests, 2}, &options, keep, &failed, &err), err);
    wait_for(&failed);
    CHECK_EQ(failed.status, LOCI_ENOTFOUND);
    CHECK_CONTAINS(failed.text, "\"index\":1");
    test_close(engine);
}

/* What can be known at once is said at once, and then nobody is called back. */
TEST(many_submit, wrong_calls_are_refused_at_once)
{
    loci_engine *engine = test_open_threads(new_store());
    loci_request requests[] = {request("fact.list", "{}"), request("no.such", "{}"),
                               request("store.verify", "{}"), request("fact.list", "{")};
    outcome o = {0};
    loci_error err;

    CHECK_STATUS(LOCI_EINVAL,
                 lc_many_submit(engine, &(lc_many){requests, 0}, NULL, keep, &o, &err));
    CHECK_STATUS(LOCI_ELIMIT,
                 lc_many_submit(engine, &(lc_many){requests, 101}, NULL, keep, &o, &err));
    CHECK_STATUS(LOCI_ENOTFOUND,
                 lc_many_submit(engine, &(lc_many){requests, 2}, NULL, keep, &o, &err));
    CHECK_STR_EQ(err.data, "{\"index\":1}");
    CHECK_STATUS(LOCI_EINVAL,
                 lc_many_submit(engine, &(lc_many){requests + 2, 1}, NULL, keep, &o, &err));
    CHECK_STATUS(LOCI_EINVAL,
                 lc_many_submit(engine, &(lc_many){requests + 3, 1}, NULL, keep, &o, &err));
    CHECK_EQ(o.done, 0);
    test_close(engine);
}

TEST(many_submit, an_inline_engine_calls_back_before_it_returns)
{
    loci_engine *engine = test_open(new_store());
    loci_request requests[] = {request("fact.write", "{\"key\":\"a\",\"value\":1}")};
    outcome o = {0};
    loci_error err;

    CHECK_OK(lc_many_submit(engine, &(lc_many){requests, 1}, NULL, keep, &o, &err), err);
    CHECK_EQ(o.done, 1);
    CHECK_EQ(o.status, LOCI_OK);
    test_close(engine);
}

/* What a health check and a surface ask without knowing an operation. */
TEST(many_submit, surfaces_can_probe_the_store_and_read_their_settings)
{
    loci_engine *engine = test_open(new_store());
    loci_error err;

    CHECK_OK(lc_probe_store(engine, 1000, &err), err);
    CHECK_EQ(lc_setting_view_i64(engine, "server.drain_ms"), 15000);
    CHECK_EQ(lc_setting_view_i64(engine, "log.level"), LOCI_LOG_INFO);
    test_close(engine);
}
