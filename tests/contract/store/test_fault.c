/* Our own bugs: an assertion that fails stops this engine, and nobody else.
 *
 * The bug is put where it can hurt most: into the allocator. The nth request for memory fails an
 * assertion, as if the code that asked had one there.
 */
#include "contract/probe_fixture.h"
#include "lib/calls.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "engine/engine.h"

/* ---- Memory of an engine with a bug: what a fault leaks, by design, stays reachable -----------
 */

typedef struct block {
    _Alignas(16) struct block *next;
    struct block *before;
} block;

static struct {
    pthread_mutex_t lock;
    block *blocks; /* Never emptied by a test: a leak checker follows it. */
} given = {.lock = PTHREAD_MUTEX_INITIALIZER};

typedef struct leaky {
    _Atomic int64_t fault_in; /* Requests until the bug; 0 = none. */
    _Atomic int faults;       /* Told to on_fault. */
    const char *what;
} leaky;

static void unlink_block(block *b)
{
    if (b->before != NULL)
        b->before->next = b->next;
    else
        given.blocks = b->next;
    if (b->next != NULL)
        b->next->before = b->before;
}

static void link_block(block *b)
{
    b->before = NULL;
    b->next = given.blocks;
    if (given.blocks != NULL)
        given.blocks->before = b;
    given.blocks = b;
}

static void *leaky_resize(void *ctx, void *ptr, size_t old_bytes, size_t new_bytes,
                          loci_category category)
{
    leaky *l = ctx;
    block *old = ptr != NULL ? (block *)ptr - 1 : NULL, *made = NULL;

    (void)category;
    if (new_bytes > 0 && atomic_load(&l->fault_in) > 0 && atomic_fetch_sub(&l->fault_in, 1) == 1)
        lc_fault_raise("the test's bug", __FILE__, __LINE__);
    (void)pthread_mutex_lock(&given.lock);
    if (new_bytes > 0) {
        made = calloc(1, sizeof *made + new_bytes);
        if (made != NULL)
            link_block(made);
        if (made != NULL && old != NULL)
            memcpy(made + 1, ptr, old_bytes < new_bytes ? old_bytes : new_bytes);
    }
    if (old != NULL && (made != NULL || new_bytes == 0)) {
        unlink_block(old);
        free(old);
    }
    (void)pthread_mutex_unlock(&given.lock);
    return made != NULL ? made + 1 : NULL;
}

static void note_fault(void *ctx, const char *what, const char *file, int line)
{
    leaky *l = ctx;

    (void)file;
    (void)line;
    l->what = what;
    atomic_fetch_add(&l->faults, 1);
}

static leaky *new_leaky(void)
{
    return (leaky *)test_bytes(sizeof(leaky));
}

static loci_engine *open_leaky(leaky *l, const char *store, uint32_t flags,
                               const lc_engine_parts *parts)
{
    loci_open_options options = test_open_options(store);
    loci_engine *engine = NULL;
    loci_error err;

    options.flags = flags;
    options.allocator = (loci_allocator){leaky_resize, l};
    options.on_fault = note_fault;
    options.fault_ctx = l;
    CHECK_OK(lc_engine_open(&options, parts, &engine, &err), err);
    return engine;
}

/* ---- What must hold after a fault ------------------------------------------------------------ */

static void expect_poisoned(loci_engine *engine, leaky *l)
{
    loci_subscription *sub = NULL;
    loci_error err;

    CHECK_EQ(l->faults, 1);
    CHECK_STATUS(LOCI_EINTERNAL,
                 test_try(engine, "fact.write", LC_STR("{\"key\":\"k\",\"value\":1}"), &err));
    CHECK_STATUS(LOCI_EINTERNAL, test_try(engine, "fact.list", LC_STR("{}"), NULL));
    CHECK_STATUS(LOCI_EINTERNAL,
                 loci_submit(engine, "fact.list", LC_STR("{}"), NULL, NULL, NULL, &err));
    CHECK_STATUS(LOCI_EINTERNAL, loci_subscribe(engine, NULL, &sub, &err));
    CHECK_EQ(l->faults, 1); /* Told once. */
}

/* While the poisoned engine is still open: it may be the only one in its process, for days. */
static void expect_others_unharmed(const char *store)
{
    loci_engine *other = test_open(store);
    loci_call_options options = LOCI_CALL_OPTIONS_INIT;
    loci_answer *answer = NULL;
    loci_error err;

    options.timeout_ms = 2000;
    CHECK_OK(loci_call(other, "fact.write", LC_STR("{\"key\":\"other\",\"value\":1}"), &options,
                       &answer, &err),
             err);
    loci_answer_free(answer);
    test_close(other);
}

/* Nothing may keep the log of the database from being folded back into the file. */
static void expect_no_snapshot(const char *store)
{
    if (test_is_postgres())
        CHECK_EQ(test_store_number(store, "select count(*) from pg_stat_activity where state like "
                                          "'%in transaction%'"),
                 0);
    else
        CHECK_EQ(test_store_number(store, "pragma wal_checkpoint(truncate)"), 0);
}

/* ---- In a call ------------------------------------------------------------------------------- */

/* Puts the bug at the 1st, 2nd, 3rd … request for memory of one call, until it is over before. */
static void sweep(const char *operation, const char *args)
{
    int faults = 0;
    /* There a store is made of many tables: not every place, but places all over. */
    int64_t stride = test_is_postgres() ? (int64_t)test_count(5, 1) : 1;

    for (int64_t nth = 1;; nth += stride) {
        const char *store = test_store(test_tmpdir(), "store.db");
        leaky *l = new_leaky();
        loci_engine *engine = open_leaky(l, store, LOCI_OPEN_INLINE, NULL);
        loci_error err = {0};
        loci_status status;

        test_call(engine, "fact.write", "{'key':'city','value':'Oslo'}");
        atomic_store(&l->fault_in, nth);
        status = test_try(engine, operation, loci_str_of(args), &err);
        if (atomic_exchange(&l->fault_in, 0) > 0) {
            loci_close(engine);
            break;
        }
        CHECK_STATUS(LOCI_EINTERNAL, status);
        CHECK_STATUS(LOCI_EINTERNAL, err.status);
        expect_poisoned(engine, l);
        expect_no_snapshot(store);
        expect_others_unharmed(store);
        loci_close(engine);
        expect_others_unharmed(store);
        faults++;
        CHECK_LT(nth, 500);
    }
    CHECK_LT(1, faults);
}

TEST(fault, a_bug_in_a_write_stops_the_engine_and_frees_the_store)
{
    sweep("fact.write",
          "{\"key\":\"city\",\"value\":{\"name\":\"R\\u00f8ros\"},\"request_id\":\"r\"}");
}

TEST(fault, a_bug_in_a_read_stops_the_engine_and_frees_the_store)
{
    sweep("fact.history", "{\"key\":\"city\"}");
}

TEST(fault, a_bug_in_upkeep_stops_the_engine_and_frees_the_store)
{
    test_timeout(300);
    sweep("store.verify", "{}");
}

/* ---- In a body ------------------------------------------------------------------------------- */

static loci_status say_and_fail(lc_tx *tx, void *ctx, loci_error *err)
{
    loci_status status = probe_say(tx, "half done", NULL, err);

    (void)ctx;
    LC_ASSERT(status != LOCI_OK);
    return status;
}

/* Holds two statements of one kind: the second is not among those that are kept. */
static loci_status read_nested_and_fail(lc_tx *tx, void *ctx, loci_error *err)
{
    static const lc_sql events_sql = {"select seq from events", "", "i"};
    lc_rows outer, inner;
    bool found;
    loci_status status = probe_say(tx, "half done", NULL, err);

    (void)ctx;
    if (status == LOCI_OK)
        status = lc_tx_find(tx, &events_sql, NULL, &outer, &found, err);
    if (status == LOCI_OK)
        status = lc_tx_find(tx, &events_sql, NULL, &inner, &found, err);
    LC_ASSERT(status != LOCI_OK);
    return status;
}

static const lc_room *const probe_rooms[] = {&lc_store_room, &probe_room, NULL};
static const lc_engine_parts probe_parts = {.rooms = probe_rooms};

static lc_write write_of(lc_tx_body *body)
{
    return (lc_write){.tenant_id = LC_STR("t"),
                      .user_id = LC_STR("u"),
                      .now_us = PROBE_NOW_US,
                      .deadline_us = lc_clock_monotonic_us() + 10000000,
                      .body = body,
                      .ctx = (void *)"hello"};
}

static void expect_rolled_back(lc_tx_body *body)
{
    const char *store = test_store(test_tmpdir(), "store.db");
    leaky *l = new_leaky();
    loci_engine *engine = open_leaky(l, store, LOCI_OPEN_INLINE, &probe_parts);
    lc_write good = write_of(probe_say_body), bad = write_of(body);
    probe p;

    CHECK_OK(lc_engine_write(engine, &good), good.error);
    CHECK_STATUS(LOCI_EINTERNAL, lc_engine_write(engine, &bad));
    CHECK_EQ(l->faults, 1);
    probe_open(&p, store); /* While the other is open. */
    CHECK_OK(probe_write(&p, "u", probe_say_body, (void *)"free"), p.err);
    probe_expect_log(&p, "u", 2);
    probe_close(&p);
    lc_engine_close(engine);
}

TEST(fault, what_a_body_had_written_is_undone)
{
    expect_rolled_back(say_and_fail);
    expect_rolled_back(read_nested_and_fail);
}

/* ---- Among others ---------------------------------------------------------------------------- */

enum { CALLERS = 6 };

typedef struct caller {
    loci_engine *engine;
    lc_tx_body *body;
    int ok;
    int internal;
    int other;
} caller;

static void *write_often(void *ctx)
{
    caller *c = ctx;

    for (int i = 0; i < 50; i++) {
        lc_write write = write_of(c->body != NULL && i == 20 ? c->body : probe_say_body);
        loci_status status = lc_engine_write(c->engine, &write);

        c->ok += status == LOCI_OK;
        c->internal += status == LOCI_EINTERNAL;
        c->other += status != LOCI_OK && status != LOCI_EINTERNAL;
    }
    return NULL;
}

/* Whoever waits behind the one with the bug must be woken, and told the truth. */
TEST(fault, others_in_the_queue_are_answered)
{
    const char *store = test_store(test_tmpdir(), "store.db");
    leaky *l = new_leaky();
    loci_engine *engine = open_leaky(l, store, 0, &probe_parts);
    caller callers[CALLERS];
    pthread_t threads[CALLERS];
    int ok = 0;
    probe p;

    for (int i = 0; i < CALLERS; i++) {
        callers[i] = (caller){.engine = engine, .body = i == 0 ? say_and_fail : NULL};
        CHECK_EQ(pthread_create(&threads[i], NULL, write_often, &callers[i]), 0);
    }
    for (int i = 0; i < CALLERS; i++) {
        CHECK_EQ(pthread_join(threads[i], NULL), 0);
        CHECK_EQ(callers[i].other, 0);
        ok += callers[i].ok;
    }
    CHECK_LE(30, callers[0].internal);
    CHECK_EQ(l->faults, 1);
    lc_engine_close(engine);
    probe_open(&p, store);
    probe_expect_log(&p, "u", ok); /* OK is durable, internal is undone. */
    probe_close(&p);
}

/* ---- In a job -------------------------------------------------------------------------------- */

static loci_status run_bug(lc_job_run *run, loci_error *err)
{
    (void)err;
    LC_ASSERT(run == NULL);
    return LOCI_OK;
}

static loci_status run_bug_in_slice(lc_job_run *run, loci_error *err)
{
    return lc_job_run_finish(run, say_and_fail, NULL, LC_STR_NONE, err);
}

static loci_status add_job(lc_tx *tx, void *ctx, loci_error *err)
{
    lc_job_new job = {.kind = loci_str_of(ctx)};
    lc_id id;

    return lc_job_enqueue(tx, &job, &id, err);
}

static void expect_job_fault(const char *kind, uint32_t flags)
{
    static const lc_job_kind bug = {.name = "test.bug", .help = "", .run = run_bug};
    static const lc_job_kind slice_bug = {
        .name = "test.slice_bug", .help = "", .run = run_bug_in_slice};
    static const lc_job_kind *const kinds[] = {&bug, &slice_bug, NULL};
    const lc_engine_parts parts = {.rooms = probe_rooms, .job_kinds = kinds};
    int64_t until_us = lc_clock_monotonic_us() + 30000000;
    const char *store = test_store(test_tmpdir(), "store.db");
    leaky *l = new_leaky();
    loci_engine *engine = open_leaky(l, store, flags, &parts);
    lc_write write = write_of(add_job), late = write_of(probe_say_body);
    probe p;

    write.ctx = (void *)kind;
    CHECK_OK(lc_engine_write(engine, &write), write.error);
    lc_engine_wake_workers(engine);
    while (atomic_load(&l->faults) == 0) {
        CHECK_LT(lc_clock_monotonic_us(), until_us);
        lc_clock_sleep_us(1000);
    }
    CHECK_STATUS(LOCI_EINTERNAL, lc_engine_write(engine, &late));
    CHECK_EQ(l->faults, 1);
    probe_open(&p, store);
    CHECK_OK(probe_write(&p, "u", probe_say_body, (void *)"free"), p.err);
    probe_expect_log(&p, "u", 1);
    probe_close(&p);
    lc_engine_close(engine);
}

TEST(fault, a_bug_in_a_job_stops_the_engine_and_frees_the_store)
{
    expect_job_fault("test.bug", 0);
    expect_job_fault("test.slice_bug", 0);
}

/* ---- At open --------------------------------------------------------------------------------- */

static loci_status apply_bug(lc_tx *tx, const lc_event *event, loci_error *err)
{
    (void)tx;
    (void)err;
    LC_ASSERT(event == NULL);
    return LOCI_OK;
}

/* A rebuild at open runs all the code there is; the host must survive that, too. */
TEST(fault, a_bug_at_open_is_an_answer)
{
    static const lc_event_type broken_type = {
        .name = "probe.said", .version = 1, .apply = apply_bug};
    static const lc_event_type *const broken_events[] = {&broken_type, NULL};
    static const lc_column columns[] = {
        LC_COLUMN("tenant_id", 't'), LC_COLUMN("user_id", 't'), LC_COLUMN("seq", 'i'), {0}};
    static const lc_table table = {.name = "sayings",
                                   .table_class = LC_TABLE_PROJECTION,
                                   .columns = columns,
                                   .key = "tenant_id, user_id, seq"};
    static const lc_table *const tables[] = {&table, NULL};
    static const lc_room broken = {.name = "probe", .tables = tables, .events = broken_events};
    static const lc_room *const rooms[] = {&lc_store_room, &broken, NULL};
    const char *store = test_store(test_tmpdir(), "store.db");
    loci_open_options options = test_open_options(store);
    loci_engine *engine = NULL;
    leaky *l = new_leaky();
    loci_error err;
    probe p;

    probe_open(&p, store);
    CHECK_OK(probe_write(&p, "u", probe_say_body, (void *)"hello"), p.err);
    probe_close(&p);
    options.allocator = (loci_allocator){leaky_resize, l};
    options.on_fault = note_fault;
    options.fault_ctx = l;
    CHECK_STATUS(LOCI_EINTERNAL,
                 lc_engine_open(&options, &(lc_engine_parts){.rooms = rooms}, &engine, &err));
    CHECK(engine == NULL);
    CHECK_EQ(l->faults, 1);
    probe_open(&p, store);
    CHECK_OK(probe_write(&p, "u", probe_say_body, (void *)"and on"), p.err);
    probe_close(&p);
}
