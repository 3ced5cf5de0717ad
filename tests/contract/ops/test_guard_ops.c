/* test_guard_ops.c - guard.*, pipeline.* and signal.* through loci_call(). */
#include "lib/calls.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/str.h"
#include "engine/engine.h"

#define LIMIT 1000000000

/* Memory of the process as the guard of a test sees it. */
typedef struct machine {
    _Atomic int64_t used, now_us;
    loci_engine *engine;
} machine;

static int read_machine(void *ctx, int64_t *used, int64_t *limit)
{
    *used = ((machine *)ctx)->used;
    *limit = LIMIT;
    return 0;
}

static int64_t read_clock(void *ctx)
{
    return ((machine *)ctx)->now_us;
}

/* An engine with threads whose guard has none. */
static void open_machine(machine *m)
{
    loci_guard_options guard = LOCI_GUARD_OPTIONS_INIT;
    loci_open_options options = test_open_options(test_store(test_tmpdir(), "store.db"));
    loci_error err;

    *m = (machine){.used = 0};
    guard.flags = LOCI_GUARD_INLINE;
    guard.reading = read_machine;
    guard.clock = read_clock;
    guard.reading_ctx = guard.clock_ctx = m;
    options.flags &= ~LOCI_OPEN_INLINE;
    options.settings = "{\"guard.agents_bytes_max\":800000000}";
    CHECK_OK(lc_engine_open(&options, &(lc_engine_parts){.guard = &guard}, &m->engine, &err), err);
}

static void pass(machine *m, int64_t ms)
{
    loci_guard *guard = NULL;
    loci_error err;

    m->now_us += ms * 1000;
    CHECK_OK(lc_engine_memory_guard(m->engine, &guard, &err), err);
    (void)loci_guard_tick(guard);
}

/* Lets time pass until the only pipeline of the caller is in `state`: the engine's own jobs are
 * paused first, by threads that acknowledge when they get to it. */
static loci_str pass_until(machine *m, const char *state)
{
    loci_str answer = LC_STR_NONE;

    for (int i = 0; i < 200; i++) {
        pass(m, 200);
        answer = test_call(m->engine, "pipeline.list", "{}");
        if (lc_str_is(test_member_text(answer, "pipelines.0.state"), state))
            break;
        lc_clock_sleep_us(5000);
    }
    CHECK_STR_EQ(test_member_text(answer, "pipelines.0.state"), state);
    return answer;
}

static loci_status refused(machine *m, const char *operation, const char *args, const char *words)
{
    loci_error err = {0};
    loci_status status = test_try(m->engine, operation, loci_str_of(test_json(args)), &err);

    CHECK_CONTAINS(err.message, words);
    return status;
}

/* Agents are told what was wrong, and nothing of it stays in the accounts. */
TEST(guard_ops, bad_input_has_clear_errors)
{
    static const struct {
        const char *operation, *args;
        loci_status status;
        const char *words;
    } wrong[] = {
        {"guard.report", "{'name':'x','bytes':-1}", LOCI_EINVAL, "bytes"},
        {"guard.report", "{'name':'x','bytes':1,'category':'engine'}", LOCI_EINVAL, "category"},
        {"guard.report", "{'name':'x','bytes':1,'category':'pipelines'}", LOCI_ENOTFOUND,
         "pipeline.register"},
        {"guard.report", "{'name':'x','bytes':900000000}", LOCI_ELIMIT, "guard.agents_bytes_max"},
        {"guard.release", "{'name':'x'}", LOCI_ENOTFOUND, "never reported"},
        {"pipeline.register", "{'name':'x','priority':1001}", LOCI_EINVAL, "priority"},
        {"pipeline.register", "{'name':'a\\u0007b'}", LOCI_EINVAL, "control characters"},
        {"pipeline.begin", "{'name':'x'}", LOCI_ENOTFOUND, "pipeline.register"},
        {"pipeline.end", "{'name':'x'}", LOCI_ENOTFOUND, "has no pipeline"},
        {"signal.ack", "{'signal_id':1}", LOCI_ENOTFOUND, "no signal 1 waits"},
        {"signal.ack", "{'signal_id':0}", LOCI_EINVAL, "signal_id"},
        {"signal.send", "{'signal':'evict_caches'}", LOCI_EINVAL, "pause_all"},
    };
    loci_str status;
    machine m;

    open_machine(&m);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        CHECK_STATUS(wrong[i].status,
                     refused(&m, wrong[i].operation, wrong[i].args, wrong[i].words));
    (void)test_call(m.engine, "pipeline.register", "{'name':'p'}");
    CHECK_STATUS(LOCI_ECONFLICT, refused(&m, "pipeline.register", "{'name':'p'}", "already"));
    CHECK_STATUS(LOCI_ECONFLICT, refused(&m, "pipeline.end", "{'name':'p'}", "does not run"));
    (void)test_call(m.engine, "pipeline.end", "{'name':'p','unregister':true}");
    status = test_call(m.engine, "guard.status", "{}");
    CHECK_EQ(test_member_int(status, "categories.llm_buffers"), 0);
    CHECK_STR_EQ(test_member(status, "agents"), "[]");
    loci_close(m.engine);
}

/* The life of a pipeline, as an agent that polls sees it. */
TEST(guard_ops, pipeline_is_paused_acknowledged_and_resumed)
{
    loci_str answer;
    machine m;

    open_machine(&m);
    pass(&m, 200);
    (void)test_call(m.engine, "pipeline.register", "{'agent_id':'a','name':'p','priority':3}");
    answer = test_call(m.engine, "pipeline.begin", "{'agent_id':'a','name':'p','bytes':300000000}");
    CHECK_STR_EQ(test_member_text(answer, "outcome"), "admitted");
    answer = test_call(m.engine, "guard.report",
                       "{'agent_id':'a','name':'p','category':'pipelines','bytes':310000000}");
    CHECK_STR_EQ(test_member_text(answer, "level"), "normal");
    (void)test_call(m.engine, "guard.report", "{'agent_id':'a','name':'ctx','bytes':5}");
    m.used = LIMIT / 100 * 90;
    answer = pass_until(&m, "pausing");
    CHECK_STR_EQ(test_member_text(answer, "level"), "critical");
    answer = test_call(m.engine, "signal.list", "{'agent_id':'a'}");
    CHECK_STR_EQ(test_member_text(answer, "signals.0.signal"), "pause_pipeline");
    CHECK_EQ(test_member_int(answer, "signals.0.bytes"), 310000000);
    CHECK_EQ(test_member_int(answer, "signals.0.ack_within_ms"), 5000);
    answer = test_call(m.engine, "signal.ack", "{'agent_id':'a','signal_id':%lld}",
                       (long long)test_member_int(answer, "signals.0.signal_id"));
    CHECK_STR_EQ(test_member_text(answer, "name"), "p");
    answer = test_call(m.engine, "pipeline.list", "{'agent_id':'a'}");
    CHECK_STR_EQ(test_member_text(answer, "pipelines.0.state"), "paused");
    CHECK_EQ(test_member_int(answer, "pipelines.0.bytes"), 0);
    m.used = LIMIT / 100 * 10;
    (void)pass_until(&m, "running");
    answer = test_call(m.engine, "signal.list", "{'agent_id':'a'}");
    CHECK_STR_EQ(test_member_text(answer, "signals.0.signal"), "resume_pipeline");
    answer = test_call(m.engine, "guard.status", "{}");
    CHECK_STR_EQ(test_member_text(answer, "agents.0.agent_id"), "a");
    CHECK_EQ(test_member_int(answer, "agents.0.bytes"), 5);
    CHECK_EQ(test_member_int(answer, "signals.acknowledged"), 1);
    (void)test_call(m.engine, "pipeline.end", "{'agent_id':'a','name':'p','unregister':true}");
    (void)test_call(m.engine, "guard.release", "{'agent_id':'a','name':'ctx'}");
    answer = test_call(m.engine, "guard.status", "{}");
    CHECK_STR_EQ(test_member(answer, "agents"), "[]");
    CHECK_STR_EQ(test_member(test_call(m.engine, "pipeline.list", "{}"), "pipelines"), "[]");
    loci_close(m.engine);
}

TEST(guard_ops, agent_that_does_not_acknowledge_loses_what_it_had)
{
    loci_str answer;
    machine m;

    open_machine(&m);
    (void)test_call(m.engine, "pipeline.register", "{'name':'p'}");
    (void)test_call(m.engine, "pipeline.begin", "{'name':'p','bytes':1000}");
    (void)test_call(m.engine, "guard.report", "{'name':'ctx','bytes':5000}");
    m.used = LIMIT / 100 * 90;
    (void)pass_until(&m, "pausing");
    pass(&m, 5000);
    answer = test_call(m.engine, "guard.status", "{}");
    CHECK_EQ(test_member_int(answer, "signals.agents_gone"), 1);
    CHECK_EQ(test_member_int(answer, "categories.llm_buffers"), 0);
    CHECK_STR_EQ(test_member(test_call(m.engine, "pipeline.list", "{}"), "pipelines"), "[]");
    CHECK_STATUS(LOCI_ENOTFOUND,
                 refused(&m, "pipeline.end", "{'name':'p'}", "did not acknowledge"));
    loci_close(m.engine);
}

/* ---- Rights ---------------------------------------------------------------------------------- */

static loci_status call_as(machine *m, const loci_principal *who, const char *operation,
                           const char *args, loci_answer **out)
{
    loci_call_options options = LOCI_CALL_OPTIONS_INIT;

    options.principal = who;
    *out = NULL;
    return loci_call(m->engine, operation, loci_str_of(test_json(args)), &options, out, NULL);
}

static loci_status try_as(machine *m, const loci_principal *who, const char *operation,
                          const char *args)
{
    loci_answer *answer;
    loci_status status = call_as(m, who, operation, args, &answer);

    loci_answer_free(answer);
    return status;
}

static int64_t count_listed(machine *m, const loci_principal *who)
{
    loci_answer *answer;
    int64_t count = 0;

    CHECK_STATUS(LOCI_OK, call_as(m, who, "pipeline.list", "{}", &answer));
    for (const char *at = loci_answer_json(answer).ptr; (at = strstr(at, "\"name\":")) != NULL;
         at++)
        count++;
    loci_answer_free(answer);
    return count;
}

/* An agent that could end the pipelines of another, or read its names, would be a leak. */
TEST(guard_ops, agents_touch_and_see_only_their_own)
{
    loci_principal ada = {.size = sizeof ada, .tenant = "one", .token = "tok_1"};
    loci_principal bob = {.size = sizeof bob, .tenant = "one", .token = "tok_2"};
    loci_principal admin = {
        .size = sizeof admin, .flags = LOCI_PRINCIPAL_TENANT_ADMIN, .tenant = "one"};
    loci_principal other = {
        .size = sizeof other, .flags = LOCI_PRINCIPAL_TENANT_ADMIN, .tenant = "two"};
    machine m;

    open_machine(&m);
    CHECK_STATUS(LOCI_OK, try_as(&m, &ada, "pipeline.register", "{'name':'p'}"));
    CHECK_STATUS(LOCI_OK, try_as(&m, &ada, "pipeline.begin", "{'name':'p'}"));
    CHECK_STATUS(LOCI_OK, try_as(&m, &ada, "guard.report", "{'name':'x','bytes':7}"));
    CHECK_STATUS(LOCI_ENOTFOUND, try_as(&m, &bob, "pipeline.end", "{'name':'p'}"));
    CHECK_STATUS(LOCI_ENOTFOUND, try_as(&m, &bob, "guard.release", "{'name':'x'}"));
    CHECK_STATUS(LOCI_ENOTFOUND, try_as(&m, &other, "pipeline.end", "{'name':'p'}"));
    CHECK_STATUS(LOCI_OK, try_as(&m, &bob, "pipeline.register", "{'name':'p'}")); /* Its own. */
    CHECK_EQ(count_listed(&m, &ada), 1);
    CHECK_EQ(count_listed(&m, &admin), 2);
    CHECK_EQ(count_listed(&m, &other), 0);
    CHECK_STATUS(LOCI_EFORBIDDEN, try_as(&m, &ada, "guard.status", "{}"));
    CHECK_STATUS(LOCI_EFORBIDDEN, try_as(&m, &admin, "guard.status", "{}"));
    CHECK_STATUS(LOCI_EFORBIDDEN, try_as(&m, &admin, "signal.send", "{'signal':'pause_all'}"));
    loci_close(m.engine);
}

/* Without a token, users of a host program are told apart by their names. */
TEST(guard_ops, users_without_tokens_are_told_apart)
{
    loci_principal ada = {.size = sizeof ada, .tenant = "one", .user = "ada"};
    loci_principal bob = {.size = sizeof bob, .tenant = "one", .user = "bob"};
    machine m;

    open_machine(&m);
    CHECK_STATUS(LOCI_OK, try_as(&m, &ada, "guard.report", "{'name':'x','bytes':7}"));
    CHECK_STATUS(LOCI_ENOTFOUND, try_as(&m, &bob, "guard.release", "{'name':'x'}"));
    CHECK_STATUS(LOCI_OK, try_as(&m, &ada, "guard.release", "{'name':'x'}"));
    loci_close(m.engine);
}

/* ---- Threads --------------------------------------------------------------------------------- */

static void *report_often(void *ctx)
{
    machine *m = ctx;

    for (uint64_t i = 0; i < test_count(50, 500); i++) {
        char args[128];
        int agent = (int)(i % 3);

        (void)snprintf(args, sizeof args, "{\"agent_id\":\"a%d\",\"name\":\"x\",\"bytes\":%d}",
                       agent, (int)i);
        (void)test_try(m->engine, "guard.report", loci_str_of(args), NULL);
        (void)snprintf(args, sizeof args, "{\"agent_id\":\"a%d\",\"name\":\"p\"}", agent);
        (void)test_try(m->engine, "pipeline.register", loci_str_of(args), NULL);
        (void)test_try(m->engine, "pipeline.begin", loci_str_of(args), NULL);
        (void)test_try(m->engine, "guard.status", LC_STR("{}"), NULL);
        (void)test_try(m->engine, "pipeline.end", loci_str_of(args), NULL);
        (void)test_try(m->engine, "guard.release", loci_str_of(args), NULL);
    }
    return NULL;
}

/* Eight agents at once, while the guard ticks between calm and critical. */
TEST(guard_ops, threads_report_at_the_same_time)
{
    pthread_t threads[8];
    machine m;

    open_machine(&m);
    for (size_t i = 0; i < 8; i++)
        CHECK_EQ(pthread_create(&threads[i], NULL, report_often, &m), 0);
    for (int i = 0; i < 100; i++) {
        m.used = LIMIT / 100 * (i % 10 < 5 ? 90 : 10);
        pass(&m, 700);
    }
    for (size_t i = 0; i < 8; i++)
        CHECK_EQ(pthread_join(threads[i], NULL), 0);
    m.used = 0;
    pass(&m, 10 * 60 * 1000); /* All are silent, and forgotten; */
    pass(&m, 200);            /* the next reading shows it. */
    CHECK_EQ(test_member_int(test_call(m.engine, "guard.status", "{}"), "categories.llm_buffers"),
             0);
    CHECK_STR_EQ(test_member(test_call(m.engine, "guard.status", "{}"), "agents"), "[]");
    loci_close(m.engine);
}
