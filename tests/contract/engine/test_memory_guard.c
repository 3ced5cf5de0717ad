/* The guard that an engine opens, and what it does to the engine (engine/memory_guard.h). */
#include "contract/guard_fixture.h"

#include <stdatomic.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/str.h"
#include "engine/internal.h"

#define PATIENCE_US 30000000
#define BLOCK_BYTES 300000

typedef struct heard {
    _Atomic int signals;
    _Atomic loci_level level; /* Of the last signal. */
} heard;

static void note_signal(void *ctx, const loci_signal *signal)
{
    heard *h = ctx;

    atomic_fetch_add(&h->signals, 1);
    atomic_store(&h->level, signal->level);
}

static loci_engine *open_on(guard_machine *m, uint32_t flags)
{
    return guard_open(m, &(guard_parts){.flags = flags});
}

TEST(memory_guard, engine_with_threads_has_one_that_measures_by_itself)
{
    loci_engine *engine = test_open_threads(test_store(test_tmpdir(), "store.db"));
    int64_t until_us = lc_clock_monotonic_us() + PATIENCE_US;
    char *status = NULL;
    int64_t ticks = 0;

    while (ticks < 2 && lc_clock_monotonic_us() < until_us) {
        status = loci_guard_status(guard_of(engine));
        ticks = test_member_int(loci_str_of(status), "ticks");
        CHECK_LT(0, test_member_int(loci_str_of(status), "limit_bytes"));
        CHECK_LT(0, test_member_int(loci_str_of(status), "used_bytes"));
        loci_text_free(status);
        lc_clock_sleep_us(10000);
    }
    CHECK_LE(2, ticks);
    loci_close(engine);
}

TEST(memory_guard, inline_engine_opens_one_when_it_is_asked_for)
{
    guard_machine m = {.used = GUARD_LIMIT / 100 * 60};
    loci_engine *engine = open_on(&m, LOCI_OPEN_INLINE);
    char *status;

    CHECK(lc_memory_guard_running(engine->memory_guard) == NULL);
    CHECK_EQ(loci_guard_level(guard_of(engine)), LOCI_LEVEL_ELEVATED);
    atomic_store(&m.used, GUARD_LIMIT / 100 * 90);
    atomic_fetch_add(&m.now_us, 200000);
    CHECK_EQ(loci_guard_level(guard_of(engine)), LOCI_LEVEL_CRITICAL); /* It measured again. */
    status = loci_guard_status(lc_memory_guard_running(engine->memory_guard));
    CHECK_EQ(test_member_int(loci_str_of(status), "ticks"), 3); /* At open, and when asked. */
    loci_text_free(status);
    loci_close(engine);
}

TEST(memory_guard, signals_reach_the_hook_until_it_is_replaced)
{
    guard_machine m = {.used = GUARD_LIMIT / 100 * 40};
    loci_engine *engine = open_on(&m, 0);
    heard one = {0}, other = {0};

    lc_engine_on_signal(engine, note_signal, &one);
    guard_set_usage(&m, engine, 45);
    CHECK_EQ(one.signals, 0);
    guard_set_usage(&m, engine, 55);
    CHECK_EQ(one.signals, 1);
    CHECK_EQ(one.level, LOCI_LEVEL_ELEVATED);
    guard_set_usage(&m, engine, 65);
    lc_engine_on_signal(engine, note_signal, &other);
    guard_set_usage(&m, engine, 72);
    CHECK_EQ(one.signals, 1);
    CHECK_LE(1, other.signals);
    CHECK_EQ(other.level, LOCI_LEVEL_HIGH);
    lc_engine_on_signal(engine, NULL, NULL);
    guard_set_usage(&m, engine, 95);
    CHECK_EQ(other.level, LOCI_LEVEL_HIGH);
    loci_close(engine);
}

TEST(memory_guard, setting_lowers_the_limit)
{
    loci_open_options options = test_open_options(test_store(test_tmpdir(), "store.db"));
    loci_engine *engine = NULL;
    loci_error err;
    char *status;

    options.settings = "{\"guard.limit_bytes\":123456789}";
    CHECK_OK(loci_open(&options, &engine, &err), err);
    status = loci_guard_status(guard_of(engine));
    CHECK_EQ(test_member_int(loci_str_of(status), "limit_bytes"), 123456789);
    CHECK_STR_EQ(test_member_text(loci_str_of(status), "limit_from"), "setting");
    loci_text_free(status);
    loci_close(engine);
}

TEST(memory_guard, can_be_turned_off)
{
    static const uint32_t flags[] = {0, LOCI_OPEN_INLINE};

    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        loci_open_options options = test_open_options(test_store(test_tmpdir(), "store.db"));
        loci_engine *engine = NULL;
        loci_guard *guard = NULL;
        loci_error err;

        options.flags = flags[i];
        options.settings = "{\"guard.enabled\":false}";
        CHECK_OK(loci_open(&options, &engine, &err), err);
        CHECK_STATUS(LOCI_EUNAVAILABLE, lc_engine_memory_guard(engine, &guard, &err));
        CHECK_STR_EQ(err.message,
                     "the guard is off: set guard.enabled to true and open the store again");
        CHECK(guard == NULL);
        loci_close(engine);
    }
}

/* ---- Reports of the service manager ---------------------------------------------------------- */

static const char *find_variable(void *ctx, const char *name)
{
    (void)ctx;
    return strcmp(name, "MEMORY_PRESSURE_WATCH") == 0 ? "/nonexistent/memory.pressure" : NULL;
}

static void note_log(void *ctx, loci_log_level level, const char *event, loci_str fields)
{
    (void)level;
    (void)fields;
    if (strcmp(event, "guard.not_watching") == 0)
        atomic_fetch_add((_Atomic int *)ctx, 1);
}

TEST(memory_guard, file_that_cannot_be_watched_is_only_logged)
{
    loci_open_options options = test_open_options(test_store(test_tmpdir(), "store.db"));
    _Atomic int warnings = 0;
    loci_engine *engine = NULL;
    loci_error err;

    options.flags &= ~LOCI_OPEN_INLINE;
    options.variable = find_variable;
    options.log = note_log;
    options.log_ctx = &warnings;
    CHECK_OK(loci_open(&options, &engine, &err), err);
    CHECK_EQ(warnings, 1);
    CHECK(guard_of(engine) != NULL);
    loci_close(engine);
}

/* ---- Caches ---------------------------------------------------------------------------------- */

/* A state of a user that is one block of memory. */
typedef struct block {
    lc_heap *heap;
    char bytes[BLOCK_BYTES];
} block;

static loci_status open_block(const lc_user_kind *kind, lc_heap *heap, void **out, loci_error *err)
{
    block *b = lc_heap_zalloc(heap, sizeof *b, LOCI_MEM_INDEX);

    (void)kind;
    if (b == NULL)
        return lc_fail_memory(err);
    b->heap = heap;
    *out = b;
    return LOCI_OK;
}

static size_t block_bytes(const void *state)
{
    (void)state;
    return sizeof(block);
}

static void close_block(void *state)
{
    block *b = state;

    lc_heap_free(b->heap, b, sizeof *b, LOCI_MEM_INDEX);
}

static const lc_user_kind block_kind = {
    .name = "test.block", .open = open_block, .bytes = block_bytes, .close = close_block};

/* Uses the states of users `from` to `to` - 1, in this order. */
static void visit(loci_engine *engine, int from, int to)
{
    for (int i = from; i < to; i++) {
        lc_tx tx = {.tenant_id = LC_STR("t"), .user_id = loci_str_of(test_format("u%d", i))};
        bool is_complete;
        lc_lender lender;
        loci_error err;
        void *state;

        lc_lender_init(&lender, engine->user_cache);
        tx.states = &lender.states;
        CHECK_OK(lc_tx_borrow(&tx, &block_kind, &state, &is_complete, &err), err);
        lc_tx_give_back(&tx, &block_kind, state);
    }
}

TEST(memory_guard, memory_of_the_engine_is_counted_by_category)
{
    guard_machine m = {.used = GUARD_LIMIT / 10};
    loci_engine *engine = open_on(&m, 0);
    int64_t index;
    lc_heap other;
    void *ptr;

    guard_set_usage(&m, engine, 10);
    index = test_member_int(guard_status(engine), "categories.index");
    CHECK_LT(0, test_member_int(guard_status(engine), "categories.engine"));
    visit(engine, 0, 3);
    guard_set_usage(&m, engine, 10);
    CHECK_EQ(test_member_int(guard_status(engine), "categories.index") - index,
             3 * (int64_t)sizeof(block));
    CHECK_STR_EQ(test_member_text(guard_status(engine), "caches.0.name"), "loci.user_cache");
    CHECK_LE(3 * (int64_t)sizeof(block), test_member_int(guard_status(engine), "caches.0.bytes"));

    /* A server's memory counts while it runs. */
    lc_heap_init(&other, test_heap());
    ptr = lc_heap_alloc(&other, 5000, LOCI_MEM_REQUESTS);
    lc_engine_add_heap(engine, &other);
    guard_set_usage(&m, engine, 10);
    CHECK_LE(5000, test_member_int(guard_status(engine), "categories.requests"));
    lc_engine_remove_heap(engine, &other);
    guard_set_usage(&m, engine, 10);
    CHECK_LT(test_member_int(guard_status(engine), "categories.requests"), 5000);
    lc_heap_free(&other, ptr, 5000, LOCI_MEM_REQUESTS);
    loci_close(engine);
}

TEST(memory_guard, pressure_evicts_the_states_of_users_used_longest_ago)
{
    guard_machine m = {.used = GUARD_LIMIT / 100 * 45};
    loci_engine *engine = open_on(&m, 0);
    lc_user_cache_counters before, after;

    visit(engine, 0, 20);
    guard_set_usage(&m, engine, 48);
    CHECK_EQ(lc_user_cache_get_counters(engine->user_cache).entries, 20);
    visit(engine, 0, 1); /* The oldest becomes the newest. */
    guard_set_usage(&m, engine, 56);
    guard_set_usage(&m, engine, 64);
    guard_set_usage(&m, engine, 71); /* High: all that is left above the minimum is wanted. */
    after = lc_user_cache_get_counters(engine->user_cache);
    CHECK_LT(after.bytes, 5 * BLOCK_BYTES);
    CHECK_LE(1, after.entries); /* The minimum stays: */
    before = after;
    visit(engine, 0, 1); /* the user who was active last. */
    after = lc_user_cache_get_counters(engine->user_cache);
    CHECK_EQ(after.misses, before.misses);
    CHECK_EQ(after.entries, before.entries);
    loci_close(engine);
}

TEST(memory_guard, normal_level_evicts_nothing)
{
    guard_machine m = {.used = GUARD_LIMIT / 100 * 30};
    loci_engine *engine = open_on(&m, 0);

    visit(engine, 0, 20);
    for (int i = 0; i < 20; i++)
        guard_set_usage(&m, engine, 30 + i / 2);
    CHECK_EQ(lc_user_cache_get_counters(engine->user_cache).entries, 20);
    loci_close(engine);
}

TEST(memory_guard, pages_of_idle_connections_are_freed)
{
    guard_machine m = {.used = GUARD_LIMIT / 100 * 45};
    loci_engine *engine = open_on(&m, 0);
    int64_t before;

    for (int i = 0; i < 200; i++)
        test_call(engine, "fact.write", "{'key':'k%d','value':'%0500d'}", i, i);
    for (int i = 0; i < 200; i++)
        test_call(engine, "fact.history", "{'key':'k%d'}", i);
    if (engine->driver->memory_bytes == NULL) {
        CHECK_STR_EQ(test_member(guard_status(engine), "caches.1"), "");
    } else {
        before = engine->driver->memory_bytes();
        guard_set_usage(&m, engine, 56);
        guard_set_usage(&m, engine, 64);
        CHECK_STR_EQ(test_member_text(guard_status(engine), "caches.1.name"), "loci.store_pages");
        CHECK_LT(engine->driver->memory_bytes(), before - 100000);
        test_call(engine, "fact.history", "{'key':'k7'}"); /* It reads them again. */
    }
    loci_close(engine);
}
