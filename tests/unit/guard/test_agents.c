/* test_agents.c - agents of a guard: accounts, pipelines, signals, acknowledgements, streams. */
#include "guard/agents.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "guard/host.h"
#include "lib/heap.h"
#include "lib/test.h"

#define MB (1024ll * 1024)
#define LIMIT_BYTES (1000 * MB)

typedef struct world {
    _Atomic int64_t used_bytes, now_us;
    lc_heap heap;
    loci_guard *guard;
    lc_agents *agents;
} world;

static const lc_agent_id ada = {{"t", 1}, {"tok_1", 5}, {"ada", 3}};
static const lc_agent_id bob = {{"t", 1}, {"tok_2", 5}, {"bob", 3}};

static int read_memory(void *ctx, int64_t *used_bytes, int64_t *limit_bytes)
{
    *used_bytes = ((world *)ctx)->used_bytes;
    *limit_bytes = LIMIT_BYTES;
    return 0;
}

static int64_t read_clock(void *ctx)
{
    return ((world *)ctx)->now_us;
}

static void open_world(world *w, uint32_t flags)
{
    loci_guard_options options = LOCI_GUARD_OPTIONS_INIT;
    loci_error err;

    memset(w, 0, sizeof *w);
    lc_heap_init(&w->heap, test_heap());
    CHECK_OK(lc_agents_new(&w->heap, &w->agents, &err), err);
    options.flags = flags;
    options.reading = read_memory;
    options.clock = read_clock;
    options.reading_ctx = options.clock_ctx = w;
    options.signal = lc_agents_signal;
    options.signal_ctx = w->agents;
    options.allocator = test_heap();
    CHECK_OK(loci_guard_open(&options, &w->guard, &err), err);
    lc_agents_attach(w->agents, w->guard);
}

static void close_world(world *w)
{
    loci_guard_close(w->guard);
    lc_agents_free(w->agents);
}

static void pass(world *w, int64_t ms)
{
    w->now_us += ms * 1000;
    (void)loci_guard_tick(w->guard);
}

static loci_status report(world *w, const lc_agent_id *id, const char *name, int64_t bytes,
                          loci_error *err)
{
    return lc_agents_report(w->agents, id,
                            &(lc_agent_size){.name = loci_str_of(name),
                                             .category = LOCI_MEM_LLM_BUFFERS,
                                             .bytes = bytes,
                                             .tenant_bytes_max = LIMIT_BYTES},
                            err);
}

static loci_status begin(world *w, const lc_agent_id *id, const char *name, int64_t bytes,
                         int64_t *retry_ms, loci_error *err)
{
    return lc_agents_begin(w->agents, id,
                           &(lc_agent_size){.name = loci_str_of(name),
                                            .bytes = bytes,
                                            .tenant_bytes_max = LIMIT_BYTES},
                           retry_ms, err);
}

/* Registers and begins. */
static void start(world *w, const lc_agent_id *id, const char *name, int32_t priority,
                  int64_t bytes)
{
    lc_agent_pipeline pipeline = {.name = loci_str_of(name), .priority = priority};
    int64_t retry_ms = -1;
    loci_error err;

    CHECK_OK(lc_agents_register(w->agents, id, &pipeline, &err), err);
    CHECK_OK(begin(w, id, name, bytes, &retry_ms, &err), err);
    CHECK_EQ(retry_ms, 0);
}

static void keep_state(void *ctx, const lc_agent_pipeline *pipeline)
{
    *(int *)ctx = (int)pipeline->state;
}

/* Of the only pipeline; -1 = none. */
static int state_of(world *w, const lc_agent_id *id)
{
    int state = -1;

    lc_agents_each_pipeline(w->agents, id, false, keep_state, &state);
    return state;
}

static int64_t usage(world *w)
{
    return loci_guard_usage(w->guard, LOCI_MEM_CATEGORIES);
}

/* ---- Accounts -------------------------------------------------------------------------------- */

/* An account that drifts makes the guard pause work for memory that is free. */
TEST(agents, bad_input_leaves_the_accounts_right)
{
    lc_agent_pipeline pipeline = {.name = LC_STR("p")};
    int64_t retry_ms = -1;
    loci_error err;
    world w;

    open_world(&w, LOCI_GUARD_INLINE);
    CHECK_EQ(lc_agents_release(w.agents, &ada, LC_STR("x"), &err), LOCI_ENOTFOUND);
    CHECK_CONTAINS(err.message, "never reported");
    CHECK_EQ(report(&w, &ada, "x", -1, &err), LOCI_EINVAL);
    CHECK_EQ(lc_agents_get_counters(w.agents).agents, 0); /* Nothing is left of an error. */
    CHECK_OK(report(&w, &ada, "x", 5 * MB, &err), err);
    CHECK_OK(report(&w, &ada, "x", 3 * MB, &err), err); /* Replaces, does not add. */
    CHECK_EQ(usage(&w), 3 * MB);
    CHECK_EQ(lc_agents_release(w.agents, &bob, LC_STR("x"), &err), LOCI_ENOTFOUND);
    CHECK_EQ(lc_agents_register(w.agents, &ada, &(lc_agent_pipeline){.name = LC_STR("x")}, &err),
             LOCI_ECONFLICT);
    CHECK_OK(lc_agents_register(w.agents, &ada, &pipeline, &err), err);
    CHECK_EQ(lc_agents_register(w.agents, &ada, &pipeline, &err), LOCI_ECONFLICT);
    CHECK_CONTAINS(err.message, "already");
    CHECK_EQ(lc_agents_end(w.agents, &ada, LC_STR("p"), false, &err), LOCI_ECONFLICT);
    CHECK_EQ(begin(&w, &bob, "p", 0, &retry_ms, &err), LOCI_ENOTFOUND);
    CHECK_EQ(begin(&w, &ada, "p", -1, &retry_ms, &err), LOCI_EINVAL);
    CHECK_OK(begin(&w, &ada, "p", 7 * MB, &retry_ms, &err), err);
    CHECK_EQ(begin(&w, &ada, "p", 7 * MB, &retry_ms, &err), LOCI_ECONFLICT);
    CHECK_EQ(report(&w, &ada, "p", 1, &err), LOCI_EINVAL); /* It is a pipeline. */
    CHECK_OK(lc_agents_end(w.agents, &ada, LC_STR("p"), true, &err), err);
    CHECK_OK(lc_agents_release(w.agents, &ada, LC_STR("x"), &err), err);
    CHECK_EQ(lc_agents_release(w.agents, &ada, LC_STR("x"), &err), LOCI_ENOTFOUND);
    CHECK_EQ(usage(&w), 0);
    CHECK_EQ(lc_agents_get_counters(w.agents).agents, 0);
    close_world(&w);
}

/* The memory of another process is in no reading of this one. */
TEST(agents, their_bytes_are_added_to_the_reading)
{
    loci_error err;
    world w;

    open_world(&w, LOCI_GUARD_INLINE);
    w.used_bytes = 400 * MB;
    CHECK_OK(report(&w, &ada, "x", 100 * MB, &err), err);
    start(&w, &ada, "p", 0, 50 * MB);
    pass(&w, 200);
    CHECK_EQ(lc_guard_sample(w.guard).used_bytes, 550 * MB);
    CHECK_OK(lc_agents_end(w.agents, &ada, LC_STR("p"), false, &err), err);
    pass(&w, 200);
    CHECK_EQ(lc_guard_sample(w.guard).used_bytes, 500 * MB);
    CHECK_OK(lc_agents_release(w.agents, &ada, LC_STR("x"), &err), err);
    pass(&w, 200);
    CHECK_EQ(lc_guard_sample(w.guard).used_bytes, 400 * MB);
    close_world(&w);
}

/* Otherwise one tenant could stop the work of all others with one call. */
TEST(agents, a_tenant_cannot_report_more_than_its_share)
{
    lc_agent_id other = {LC_STR("u"), LC_STR("tok_3"), LC_STR("ada")};
    lc_agent_size size = {.name = LC_STR("x"), .category = LOCI_MEM_CACHES, .bytes = 200 * MB};
    loci_error err;
    world w;

    open_world(&w, LOCI_GUARD_INLINE);
    CHECK_OK(lc_agents_report(w.agents, &ada, &size, &err), err);
    CHECK_EQ(lc_agents_report(w.agents, &bob, &size, &err), LOCI_ELIMIT);
    CHECK_CONTAINS(err.message, "guard.agents_bytes_max");
    CHECK_OK(lc_agents_report(w.agents, &other, &size, &err), err);
    size.bytes = 50 * MB;
    CHECK_OK(lc_agents_report(w.agents, &bob, &size, &err), err); /* 250 of 1000. */
    size.bytes = 51 * MB;
    CHECK_EQ(lc_agents_report(w.agents, &bob, &size, &err), LOCI_ELIMIT);
    CHECK_EQ(usage(&w), 450 * MB);
    close_world(&w);
}

TEST(agents, their_number_is_bounded)
{
    loci_error err;
    world w;
    char name[16];

    open_world(&w, LOCI_GUARD_INLINE);
    for (int i = 0; i <= LC_AGENT_COMPONENTS_MAX; i++) {
        (void)snprintf(name, sizeof name, "c%d", i);
        CHECK_EQ(report(&w, &ada, name, 1, &err),
                 i < LC_AGENT_COMPONENTS_MAX ? LOCI_OK : LOCI_ELIMIT);
    }
    for (int i = 0; i <= LC_AGENT_PIPELINES_MAX; i++) {
        (void)snprintf(name, sizeof name, "p%d", i);
        CHECK_EQ(lc_agents_register(w.agents, &ada, &(lc_agent_pipeline){.name = loci_str_of(name)},
                                    &err),
                 i < LC_AGENT_PIPELINES_MAX ? LOCI_OK : LOCI_ELIMIT);
    }
    for (int i = 1; i <= LC_AGENTS_PER_TENANT_MAX; i++) {
        (void)snprintf(name, sizeof name, "a%d", i);
        CHECK_EQ(report(&w, &(lc_agent_id){ada.tenant_id, ada.owner_id, loci_str_of(name)}, "c", 1,
                        &err),
                 i < LC_AGENTS_PER_TENANT_MAX ? LOCI_OK : LOCI_ELIMIT);
    }
    close_world(&w);
}

/* A pipeline that does not fit would push the process over the limit before the next reading. */
TEST(agents, a_pipeline_is_admitted_if_its_bytes_fit)
{
    lc_agent_pipeline pipeline = {.name = LC_STR("p")}, second = {.name = LC_STR("q")};
    int64_t retry_ms = -1;
    loci_error err;
    world w;

    open_world(&w, LOCI_GUARD_INLINE);
    pass(&w, 200);
    CHECK_OK(lc_agents_register(w.agents, &ada, &pipeline, &err), err);
    CHECK_OK(lc_agents_register(w.agents, &ada, &second, &err), err);
    CHECK_OK(begin(&w, &ada, "p", 960 * MB, &retry_ms, &err), err);
    CHECK_LT(0, retry_ms);
    CHECK_EQ(lc_agents_get_counters(w.agents).pipelines[LC_AGENT_RUNNING], 0);
    CHECK_OK(begin(&w, &ada, "p", 500 * MB, &retry_ms, &err), err);
    CHECK_EQ(retry_ms, 0);
    CHECK_OK(begin(&w, &ada, "q", 500 * MB, &retry_ms, &err), err); /* Before any tick. */
    CHECK_LT(0, retry_ms);
    close_world(&w);
}

/* ---- Signals --------------------------------------------------------------------------------- */

static bool next(lc_agent_stream *stream, lc_agent_signal_kind kind, lc_agent_signal *out)
{
    while (lc_agent_stream_next(stream, out)) {
        if (out->kind == kind)
            return true;
    }
    return false;
}

/* From the request to pause until the work goes on, with the memory given back meanwhile. */
TEST(agents, a_pipeline_pauses_and_resumes)
{
    lc_agent_signal signal, done;
    lc_agent_stream *stream = NULL;
    loci_error err;
    world w;

    open_world(&w, LOCI_GUARD_INLINE);
    CHECK_OK(lc_agent_stream_open(w.agents, &ada, &stream, &err), err);
    CHECK(next(stream, LC_AGENT_PRESSURE_CHANGED, &signal));
    CHECK_EQ(signal.level, LOCI_LEVEL_NORMAL);
    start(&w, &ada, "p", 0, 300 * MB);
    w.used_bytes = 900 * MB;
    pass(&w, 200);
    CHECK_EQ(state_of(&w, &ada), LC_AGENT_PAUSING);
    CHECK(next(stream, LC_AGENT_PAUSE_PIPELINE, &signal));
    CHECK_STR_EQ(signal.name, "p");
    CHECK(signal.needs_ack);
    CHECK_EQ(signal.ack_within_ms, LC_AGENT_ACK_MS);
    CHECK_EQ(lc_agents_ack(w.agents, &bob, signal.id, 0, &done, &err), LOCI_ENOTFOUND);
    CHECK_EQ(lc_agents_ack(w.agents, &ada, signal.id + 1000, 0, &done, &err), LOCI_ENOTFOUND);
    CHECK_EQ(lc_agents_ack(w.agents, &ada, signal.id, 301 * MB, &done, &err), LOCI_EINVAL);
    CHECK_OK(lc_agents_ack(w.agents, &ada, signal.id, 1 * MB, &done, &err), err);
    CHECK_EQ(lc_agents_ack(w.agents, &ada, signal.id, 0, &done, &err), LOCI_ENOTFOUND);
    CHECK_EQ(state_of(&w, &ada), LC_AGENT_PAUSED);
    w.used_bytes = 100 * MB;
    for (int i = 0; i < 60; i++) {
        lc_agent_signal other = {0};

        pass(&w, 200);
        if (lc_agent_stream_next(stream, &other) && other.kind == LC_AGENT_RESUME_PIPELINE)
            break;
        if (other.needs_ack)
            (void)lc_agents_ack(w.agents, &ada, other.id, 0, &done, &err);
    }
    CHECK_EQ(state_of(&w, &ada), LC_AGENT_RUNNING);
    CHECK_OK(lc_agents_end(w.agents, &ada, LC_STR("p"), true, &err), err);
    lc_agent_stream_close(stream);
    CHECK_EQ(lc_agents_get_counters(w.agents).agents, 0);
    close_world(&w);
}

/* A process that died holds nothing any more; work of others must not be paused for it. */
TEST(agents, one_that_does_not_acknowledge_is_gone)
{
    lc_agent_signal signal;
    lc_agent_stream *stream = NULL;
    loci_error err;
    world w;

    open_world(&w, LOCI_GUARD_INLINE);
    CHECK_OK(lc_agent_stream_open(w.agents, &ada, &stream, &err), err);
    start(&w, &ada, "p", 0, 1 * MB);
    CHECK_OK(report(&w, &ada, "x", 2 * MB, &err), err);
    start(&w, &bob, "q", 1, 1 * MB);
    w.used_bytes = 900 * MB;
    pass(&w, 200);
    CHECK_EQ(state_of(&w, &ada), LC_AGENT_PAUSING); /* The lower priority. */
    CHECK(next(stream, LC_AGENT_PAUSE_PIPELINE, &signal));
    pass(&w, LC_AGENT_ACK_MS - 100);
    CHECK(lc_agent_stream_end(stream) == NULL);
    CHECK_EQ(state_of(&w, &ada), LC_AGENT_PAUSING);
    pass(&w, 200);
    CHECK_STR_EQ(lc_agent_stream_end(stream), "no_ack");
    CHECK_EQ(state_of(&w, &ada), -1);
    CHECK_EQ(usage(&w), 0); /* Its component was released, too. */
    CHECK_EQ(lc_agents_get_counters(w.agents).gone, 1);
    CHECK(!lc_agent_stream_next(stream, &signal));
    CHECK_EQ(lc_agents_ack(w.agents, &ada, signal.id, 0, &signal, &err), LOCI_ENOTFOUND);
    lc_agent_stream_close(stream);
    CHECK_OK(report(&w, &ada, "x", 2 * MB, &err), err); /* It may come back. */
    close_world(&w);
}

TEST(agents, requests_to_listeners_need_an_acknowledgement)
{
    lc_agent_stream *stream = NULL;
    lc_agent_signal signal;
    loci_error err;
    world w;

    open_world(&w, LOCI_GUARD_INLINE);
    CHECK_OK(report(&w, &bob, "x", 1, &err), err); /* Does not listen: it is not asked. */
    CHECK_OK(lc_agent_stream_open(w.agents, &ada, &stream, &err), err);
    w.used_bytes = 750 * MB;
    pass(&w, 200);
    CHECK(next(stream, LC_AGENT_EVICT_CACHES, &signal));
    CHECK(signal.needs_ack);
    CHECK_LT(0, signal.bytes);
    pass(&w, 1200); /* Asked again: it is the same request. */
    CHECK(!next(stream, LC_AGENT_EVICT_CACHES, &signal));
    pass(&w, 4000);
    CHECK_STR_EQ(lc_agent_stream_end(stream), "no_ack");
    CHECK_EQ(lc_agents_get_counters(w.agents).agents, 1);
    lc_agent_stream_close(stream);
    close_world(&w);
}

/* A client that reconnects must not be given up for a request that it never read. */
TEST(agents, a_new_stream_gets_what_waits)
{
    lc_agent_stream *first = NULL, *second = NULL;
    lc_agent_signal signal, again;
    loci_error err;
    world w;

    open_world(&w, LOCI_GUARD_INLINE);
    CHECK_OK(lc_agent_stream_open(w.agents, &ada, &first, &err), err);
    CHECK_EQ(lc_agents_send(w.agents, LC_AGENT_PAUSE_ALL), 1);
    CHECK(next(first, LC_AGENT_PAUSE_ALL, &signal));
    CHECK_OK(lc_agent_stream_open(w.agents, &ada, &second, &err), err);
    CHECK_STR_EQ(lc_agent_stream_end(first), "replaced");
    CHECK(next(second, LC_AGENT_PAUSE_ALL, &again));
    CHECK_EQ(signal.id, again.id);
    lc_agent_stream_close(first);
    CHECK_EQ(lc_agents_get_counters(w.agents).listening, 1);
    CHECK_EQ(lc_agents_send(w.agents, LC_AGENT_RESUME_ALL), 1); /* Takes the request back. */
    CHECK_EQ(lc_agents_ack(w.agents, &ada, signal.id, 0, &again, &err), LOCI_ENOTFOUND);
    CHECK(next(second, LC_AGENT_RESUME_ALL, &again));
    CHECK(!again.needs_ack);
    lc_agent_stream_close(second);
    close_world(&w);
}

TEST(agents, nothing_begins_between_pause_all_and_resume_all)
{
    lc_agent_pipeline pipeline = {.name = LC_STR("p")};
    int64_t retry_ms = -1;
    loci_error err;
    world w;

    open_world(&w, LOCI_GUARD_INLINE);
    CHECK_OK(lc_agents_register(w.agents, &ada, &pipeline, &err), err);
    (void)lc_agents_send(w.agents, LC_AGENT_PAUSE_ALL);
    CHECK_OK(begin(&w, &ada, "p", 0, &retry_ms, &err), err);
    CHECK_LT(0, retry_ms);
    (void)lc_agents_send(w.agents, LC_AGENT_RESUME_ALL);
    CHECK_OK(begin(&w, &ada, "p", 0, &retry_ms, &err), err);
    CHECK_EQ(retry_ms, 0);
    close_world(&w);
}

/* An agent that ended without a word would be accounted for ever. */
TEST(agents, a_silent_one_is_forgotten)
{
    loci_error err;
    world w;

    open_world(&w, LOCI_GUARD_INLINE);
    CHECK_OK(report(&w, &ada, "x", 2 * MB, &err), err);
    pass(&w, LC_AGENT_IDLE_MS - 1);
    CHECK_EQ(usage(&w), 2 * MB);
    pass(&w, 1);
    CHECK_EQ(usage(&w), 0);
    close_world(&w);
}

static void *use_agents(void *ctx)
{
    world *w = ctx;
    int64_t retry_ms;

    for (uint64_t i = 0; i < test_count(300, 3000); i++) {
        char text[16];
        lc_agent_id id = {LC_STR("t"), LC_STR("tok"), {text, 2}};
        lc_agent_stream *stream = NULL;
        lc_agent_signal signal;

        (void)snprintf(text, sizeof text, "a%d", (int)(i % 4));
        (void)report(w, &id, "x", (int64_t)i, NULL);
        (void)lc_agents_register(w->agents, &id, &(lc_agent_pipeline){.name = LC_STR("p")}, NULL);
        (void)begin(w, &id, "p", 1, &retry_ms, NULL);
        if (lc_agent_stream_open(w->agents, &id, &stream, NULL) == LOCI_OK) {
            while (lc_agent_stream_next(stream, &signal))
                (void)lc_agents_ack(w->agents, &id, signal.id, 0, &signal, NULL);
        }
        atomic_store(&w->used_bytes, i % 2 == 0 ? 900 * MB : 100 * MB);
        atomic_fetch_add(&w->now_us, 300000);
        (void)lc_agents_end(w->agents, &id, LC_STR("p"), i % 3 == 0, NULL);
        (void)lc_agents_release(w->agents, &id, LC_STR("x"), NULL);
        lc_agent_stream_close(stream);
    }
    return NULL;
}

/* Eight threads and the guard's own; errors are expected, races and leaks are not. */
TEST(agents, threads_do_not_disturb_each_other)
{
    pthread_t threads[8];
    world w;

    open_world(&w, 0);
    for (size_t i = 0; i < 8; i++)
        CHECK_EQ(pthread_create(&threads[i], NULL, use_agents, &w), 0);
    for (size_t i = 0; i < 8; i++)
        CHECK_EQ(pthread_join(threads[i], NULL), 0);
    for (int i = 0; i < 4; i++) {
        char name[] = {'a', (char)('0' + i)};

        (void)lc_agents_end(w.agents,
                            &(lc_agent_id){LC_STR("t"), LC_STR("tok"), {name, sizeof name}},
                            LC_STR("p"), true, NULL);
    }
    CHECK_EQ(usage(&w), 0);
    close_world(&w);
}
