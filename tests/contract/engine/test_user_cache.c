/* States that follow the log (engine/user_cache.h): whoever writes, a borrower sees what its
 * snapshot has; long builds are cut into slices; a peek sees nothing outdated. */
#include "contract/probe_fixture.h"
#include "lib/calls.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "base/error.h"
#include "engine/internal.h"

#define PATIENCE_US 30000000

/* ---- A kind that remembers the seqs of a user's events --------------------------------------- */

typedef struct seqs {
    lc_heap *heap;
    int64_t last;  /* The seqs so far are 1 … last. */
    int users;     /* Threads that have it now. */
    int catch_ups; /* Slices. */
} seqs;

static _Atomic int opened_count;

static loci_status open_seqs(const lc_user_kind *kind, lc_heap *heap, void **out, loci_error *err)
{
    seqs *s = lc_heap_zalloc(heap, sizeof *s, LOCI_MEM_INDEX);

    (void)kind;
    if (s == NULL)
        return lc_fail_memory(err);
    s->heap = heap;
    *out = s;
    opened_count++;
    return LOCI_OK;
}

static void close_seqs(void *state)
{
    seqs *s = state;

    if (s != NULL)
        lc_heap_free(s->heap, s, sizeof *s, LOCI_MEM_INDEX);
}

static size_t seqs_bytes(const void *state)
{
    (void)state;
    return sizeof(seqs);
}

static const lc_sql seqs_sql = {
    "select seq from events where tenant_id = $1 and user_id = $2 and seq > $3 order by seq", "tti",
    "i"};

/* Reads the events after seen_seq; at most `limit` of them. */
static loci_status follow(seqs *s, lc_tx *tx, lc_catch_up *step, int64_t limit, loci_error *err)
{
    int64_t from = step->seen_seq < 0 ? 0 : step->seen_seq;
    lc_rows rows = {0};
    loci_status status = lc_tx_query(
        tx, &seqs_sql, (lc_arg[]){LC_T(tx->tenant_id), LC_T(tx->user_id), LC_I(from)}, &rows, err);

    s->catch_ups++;
    while (status == LOCI_OK && limit-- > 0 && lc_rows_next(&rows, &status, err)) {
        int64_t seq = lc_rows_i64(&rows, 0);

        if (seq != s->last + 1)
            status = lc_fail(err, LOCI_EINTERNAL, "%lld follows %lld", (long long)seq,
                             (long long)s->last);
        s->last = seq;
    }
    lc_rows_end(&rows);
    step->seen_seq = s->last;
    step->is_complete = s->last == step->head_seq;
    return status;
}

static loci_status catch_up_seqs(void *state, lc_tx *tx, lc_catch_up *step, loci_error *err)
{
    return follow(state, tx, step, INT64_MAX, err);
}

static const lc_user_kind seqs_kind = {.name = "test.seqs",
                                       .open = open_seqs,
                                       .catch_up = catch_up_seqs,
                                       .bytes = seqs_bytes,
                                       .close = close_seqs};

/* Three events per slice, each of which takes all of its time. */
static loci_status catch_up_slowly(void *state, lc_tx *tx, lc_catch_up *step, loci_error *err)
{
    loci_status status = follow(state, tx, step, 3, err);

    while (status == LOCI_OK && !step->is_complete && lc_clock_monotonic_us() < step->pause_us)
        lc_clock_sleep_us(10000);
    return status;
}

static const lc_user_kind slow_kind = {.name = "test.slow",
                                       .open = open_seqs,
                                       .catch_up = catch_up_slowly,
                                       .bytes = seqs_bytes,
                                       .close = close_seqs};

/* One event per step; it waits for something, so it never takes its time. */
static loci_status catch_up_lazily(void *state, lc_tx *tx, lc_catch_up *step, loci_error *err)
{
    return follow(state, tx, step, 1, err);
}

static const lc_user_kind lazy_kind = {.name = "test.lazy",
                                       .open = open_seqs,
                                       .catch_up = catch_up_lazily,
                                       .bytes = seqs_bytes,
                                       .close = close_seqs};

/* ---- Reading --------------------------------------------------------------------------------- */

typedef struct look {
    loci_engine *engine;
    const char *user;
    const lc_user_kind *kind;
    int64_t head, last; /* Out: of the snapshot, and of the state that was lent for it. */
    bool is_complete;
    int runs; /* Of the body. */
    int catch_ups;
    int users_max; /* Threads that had the state at the same time. */
    /* Called by the first run of the body, before it borrows. */
    void (*meanwhile)(loci_engine *engine);
} look;

static loci_status look_body(lc_tx *tx, void *ctx, loci_error *err)
{
    look *l = ctx;
    lc_head head;
    void *state;
    seqs *s;
    loci_status status;

    tx->tenant_id = lc_engine_tenant(l->engine);
    tx->user_id = loci_str_of(l->user);
    status = lc_tx_head(tx, &head, err);
    if (status != LOCI_OK)
        return status;
    l->head = head.seq;
    if (l->runs++ == 0 && l->meanwhile != NULL)
        l->meanwhile(l->engine);
    status = lc_tx_borrow(tx, l->kind, &state, &l->is_complete, err);
    if (status != LOCI_OK)
        return status;
    s = state;
    s->users++;
    l->users_max = s->users;
    l->last = s->last;
    l->catch_ups = s->catch_ups;
    s->users--;
    lc_tx_give_back(tx, l->kind, state);
    return LOCI_OK;
}

static look look_within(look l, int64_t timeout_us)
{
    lc_read read = {.tenant_id = lc_engine_tenant(l.engine),
                    .user_id = loci_str_of(l.user),
                    .deadline_us = lc_clock_monotonic_us() + timeout_us,
                    .body = look_body,
                    .ctx = &l};
    loci_error err;

    CHECK_OK(lc_engine_read(l.engine, &read, &err), err);
    return l;
}

static look look_at(loci_engine *engine, const char *user)
{
    return look_within((look){.engine = engine, .user = user, .kind = &seqs_kind}, PATIENCE_US);
}

static void write_fact(loci_engine *engine, const char *user)
{
    static _Atomic int value;

    test_call(engine, "fact.write", "%s",
              test_format("{\"key\":\"k\",\"value\":%d,\"user_id\":\"%s\"}", value++, user));
}

TEST(user_cache, a_state_follows_the_log)
{
    loci_engine *engine = test_open_threads(probe_path());
    look l = look_at(engine, "ann");

    CHECK_EQ(l.last, 0);
    CHECK(l.is_complete);
    opened_count = 0;
    for (int i = 1; i <= 20; i++) {
        write_fact(engine, "ann");
        l = look_at(engine, "ann");
        CHECK_EQ(l.last, l.head);
        CHECK_LE(i, l.last);
        CHECK_EQ(l.runs, 1);
    }
    CHECK_EQ(opened_count, 0); /* It was brought up to date, not built again. */
    CHECK_LE(20, lc_engine_get_counters(engine).user_cache.hits);
    test_close(engine);
}

TEST(user_cache, the_writes_of_others_are_seen_by_the_next_snapshot)
{
    const char *store = probe_path();
    loci_engine *engine = test_open_threads(store), *other = test_open_threads(store);

    for (int i = 0; i < 10; i++) {
        look l;

        write_fact(i % 2 == 0 ? engine : other, "ann");
        l = look_at(engine, "ann");
        CHECK_EQ(l.last, l.head);
        l = look_at(other, "ann");
        CHECK_EQ(l.last, l.head);
        CHECK_LE(i + 1, l.last);
    }
    test_close(other);
    test_close(engine);
}

TEST(user_cache, its_limit_is_a_live_setting)
{
    loci_engine *engine = test_open_threads(probe_path());

    look_at(engine, "ann");
    look_at(engine, "bob");
    CHECK_EQ(lc_user_cache_get_counters(engine->user_cache).entries, 2);
    test_call(engine, "config.set", "{'name':'cache.user_bytes_max','value':0}");
    CHECK_EQ(lc_user_cache_get_counters(engine->user_cache).entries, 0);
    look_at(engine, "ann");
    CHECK_EQ(lc_user_cache_get_counters(engine->user_cache).entries, 0);
    test_close(engine);
}

/* ---- Snapshots older than the state ---------------------------------------------------------- */

/* A newer snapshot is served while an older one is open. */
static void overtake(loci_engine *engine)
{
    write_fact(engine, "ann");
    look_at(engine, "ann");
}

TEST(user_cache, a_state_ahead_of_the_snapshot_is_met_by_a_newer_one)
{
    loci_engine *engine = test_open_threads(probe_path());
    look l;

    write_fact(engine, "ann");
    l = look_within(
        (look){.engine = engine, .user = "ann", .kind = &seqs_kind, .meanwhile = overtake},
        PATIENCE_US);
    CHECK_EQ(l.runs, 2);
    CHECK_EQ(l.last, l.head);
    test_close(engine);
}

/* A body that cannot be run again is lent a state of its own snapshot. */
static loci_status look_once(lc_tx *tx, void *ctx, loci_error *err)
{
    look *l = ctx;
    lc_lender lender;

    lc_lender_init(&lender, l->engine->user_cache);
    tx->states = &lender.states;
    return look_body(tx, l, err);
}

TEST(user_cache, a_private_state_serves_an_old_snapshot)
{
    loci_engine *engine = test_open_threads(probe_path());
    look l = {.engine = engine, .user = "ann", .kind = &seqs_kind, .meanwhile = overtake};
    lc_read read = {.deadline_us = INT64_MAX, .body = look_once, .ctx = &l};
    int64_t head;
    loci_error err;

    write_fact(engine, "ann");
    head = look_at(engine, "ann").head;
    opened_count = 0;
    CHECK_OK(lc_engine_read(engine, &read, &err), err);
    CHECK_EQ(l.runs, 1);
    CHECK_EQ(l.last, head);
    CHECK(l.is_complete);
    CHECK_EQ(opened_count, 1);
    l = look_at(engine, "ann"); /* The shared one is still there. */
    CHECK_LT(head, l.last);
    CHECK_EQ(opened_count, 1);
    test_close(engine);
}

/* ---- Slices ---------------------------------------------------------------------------------- */

TEST(user_cache, a_long_build_takes_several_snapshots)
{
    loci_engine *engine = test_open_threads(probe_path());
    look l = {.engine = engine, .user = "ann", .kind = &slow_kind};

    while (look_at(engine, "ann").head < 8)
        write_fact(engine, "ann");
    l = look_within(l, PATIENCE_US);
    CHECK(l.is_complete);
    CHECK_EQ(l.last, l.head);
    CHECK_LE(3, l.runs);
    CHECK_EQ(l.catch_ups, l.runs);
    l.runs = 0;
    l = look_within(l, PATIENCE_US);
    CHECK_EQ(l.runs, 1);
    test_close(engine);
}

static size_t many_bytes(const void *state)
{
    (void)state;
    return (size_t)1 << 30;
}

static const lc_user_kind large_kind = {.name = "test.large",
                                        .open = open_seqs,
                                        .catch_up = catch_up_slowly,
                                        .bytes = many_bytes,
                                        .close = close_seqs};

static void *look_at_large(void *engine)
{
    look l = {.engine = engine, .user = "bob", .kind = &large_kind};

    l = look_within(l, PATIENCE_US);
    CHECK(l.is_complete);
    return NULL;
}

/* A user who is larger than the cache has an index like all others: slices add to each other, also
 * while another such user is built, and calls in a row find it. */
TEST(user_cache, a_user_larger_than_the_cache_is_built)
{
    loci_engine *engine = test_open_threads(probe_path());
    look l = {.engine = engine, .user = "ann", .kind = &large_kind};
    pthread_t other;
    int opened;

    test_call(engine, "config.set", "{'name':'cache.user_bytes_max','value':100000}");
    while (look_at(engine, "ann").head < 8) {
        write_fact(engine, "ann");
        write_fact(engine, "bob");
    }
    opened = opened_count;
    CHECK_EQ(pthread_create(&other, NULL, look_at_large, engine), 0);
    l = look_within(l, PATIENCE_US);
    CHECK(l.is_complete);
    CHECK_EQ(l.last, l.head);
    CHECK_EQ(pthread_join(other, NULL), 0);
    CHECK_EQ(opened_count - opened, 2);
    l = look_within(l, PATIENCE_US);
    opened = opened_count;
    l.runs = 0;
    l = look_within(l, PATIENCE_US);
    CHECK_EQ(l.runs, 1);
    CHECK_EQ(opened_count, opened);
    test_close(engine);
}

TEST(user_cache, half_of_the_time_is_for_building)
{
    loci_engine *engine = test_open_threads(probe_path());
    look l = {.engine = engine, .user = "ann", .kind = &slow_kind};

    while (look_at(engine, "ann").head < 30)
        write_fact(engine, "ann");
    l = look_within(l, 4 * LC_STATE_SLICE_US);
    CHECK(!l.is_complete);
    CHECK_LT(0, l.last);
    CHECK_LT(l.last, l.head);
    CHECK_LE(l.runs, 9);
    test_close(engine);
}

/* A body that needs four long builds, as a context does, gets its states incomplete and in time. */
static const lc_user_kind slow_kinds[] = {
    {"test.slow_1", NULL, open_seqs, catch_up_slowly, seqs_bytes, close_seqs},
    {"test.slow_2", NULL, open_seqs, catch_up_slowly, seqs_bytes, close_seqs},
    {"test.slow_3", NULL, open_seqs, catch_up_slowly, seqs_bytes, close_seqs},
    {"test.slow_4", NULL, open_seqs, catch_up_slowly, seqs_bytes, close_seqs},
};

static loci_status look_at_four(lc_tx *tx, void *ctx, loci_error *err)
{
    look *l = ctx;
    loci_status status = LOCI_OK;

    for (int i = 0; i < 4 && status == LOCI_OK; i++) {
        l->kind = &slow_kinds[i];
        status = look_body(tx, l, err);
        CHECK(status != LOCI_OK || !l->is_complete);
    }
    return status;
}

TEST(user_cache, a_body_with_several_long_builds_ends_before_its_deadline)
{
    loci_engine *engine = test_open_threads(probe_path());
    look l = {.engine = engine, .user = "ann"};
    lc_read read = {.tenant_id = lc_engine_tenant(engine),
                    .user_id = LC_STR("ann"),
                    .body = look_at_four,
                    .ctx = &l};
    loci_error err;

    while (look_at(engine, "ann").head < 60)
        write_fact(engine, "ann");
    read.deadline_us = lc_clock_monotonic_us() + 3 * LC_STATE_SLICE_US;
    CHECK_OK(lc_engine_read(engine, &read, &err), err);
    CHECK_LT(lc_clock_monotonic_us(), read.deadline_us);
    CHECK_LT(0, l.last);
    test_close(engine);
}

/* Something that is not there yet, such as vectors, must not keep a reader waiting. */
TEST(user_cache, a_step_that_ends_early_is_not_repeated_at_once)
{
    loci_engine *engine = test_open_threads(probe_path());
    look l = {.engine = engine, .user = "ann", .kind = &lazy_kind};

    while (look_at(engine, "ann").head < 3)
        write_fact(engine, "ann");
    for (int i = 1; i <= 2; i++) {
        l.runs = 0;
        l = look_within(l, PATIENCE_US);
        CHECK_EQ(l.runs, 1);
        CHECK_EQ(l.last, i);
        CHECK(!l.is_complete);
    }
    test_close(engine);
}

/* ---- Peeking --------------------------------------------------------------------------------- */

static bool note_last(void *ctx, const void *state)
{
    *(int64_t *)ctx = ((const seqs *)state)->last;
    return true;
}

/* The last seq of the state, or -1 when it was not known to be current. */
static int64_t peek_at(loci_engine *engine, const char *user)
{
    int64_t last = -1;
    lc_peek peek = {.tenant_id = lc_engine_tenant(engine),
                    .user_id = loci_str_of(user),
                    .kind = &seqs_kind,
                    .look = note_last,
                    .ctx = &last};

    bool is_answered = lc_engine_peek(engine, &peek);

    CHECK_EQ(is_answered, last >= 0);
    return last;
}

/* Reads until a peek succeeds: jobs commit too, and a watch may not have looked yet. */
static int64_t warm_up(loci_engine *engine, const char *user)
{
    int64_t until_us = lc_clock_monotonic_us() + PATIENCE_US, last = -1;

    while (last < 0) {
        CHECK_LT(lc_clock_monotonic_us(), until_us);
        look_at(engine, user);
        last = peek_at(engine, user);
        if (last < 0 && lc_engine_is_far(engine))
            lc_clock_sleep_us(5000);
    }
    return last;
}

TEST(user_cache, a_peek_sees_what_was_read_and_nothing_outdated)
{
    loci_engine *engine = test_open_threads(probe_path());
    int64_t before;

    CHECK_EQ(peek_at(engine, "ann"), -1);
    write_fact(engine, "ann");
    before = warm_up(engine, "ann");
    CHECK_LT(0, before);
    CHECK_EQ(peek_at(engine, "bob"), -1);
    for (int i = 0; i < 20; i++) {
        int64_t last;

        write_fact(engine, "ann");
        CHECK_EQ(peek_at(engine, "ann"), -1);
        last = warm_up(engine, "ann");
        CHECK_LT(before, last);
        before = last;
    }
    test_close(engine);
}

/* A file shows every commit at once, of whatever process. */
TEST_ON(TEST_FILES, user_cache, a_peek_notices_the_writes_of_others_at_once)
{
    const char *store = probe_path();
    loci_engine *engine = test_open_threads(store), *other = test_open_threads(store);

    for (int i = 0; i < 20; i++) {
        warm_up(engine, "ann");
        write_fact(other, "ann");
        CHECK_EQ(peek_at(engine, "ann"), -1);
    }
    test_close(other);
    test_close(engine);
}

TEST_ON(TEST_SERVERS, user_cache, a_peek_notices_the_writes_of_others_soon)
{
    const char *store = probe_path();
    loci_engine *engine = test_open_threads(store), *other = test_open_threads(store);
    int64_t until_us = lc_clock_monotonic_us() + PATIENCE_US;

    warm_up(engine, "ann");
    write_fact(other, "ann");
    while (peek_at(engine, "ann") >= 0) {
        CHECK_LT(lc_clock_monotonic_us(), until_us);
        lc_clock_sleep_us(5000);
    }
    test_close(other);
    test_close(engine);
}

/* ---- A restored store ------------------------------------------------------------------------ */

/* After a restore the same seqs may belong to other events: whoever restored, nothing that was read
 * before is used. */
TEST_ON(TEST_FILES, user_cache, a_restore_drops_what_was_seen)
{
    const char *store = probe_path(), *copy = test_path(test_tmpdir(), "copy.db");
    loci_engine *engine = test_open_threads(store), *other = test_open_threads(store);

    write_fact(engine, "ann");
    test_call(engine, "store.backup", "%s", test_format("{\"path\":\"%s\"}", copy));
    for (int i = 0; i < 5; i++)
        write_fact(engine, "ann");
    CHECK_LE(6, warm_up(engine, "ann"));
    CHECK_LE(6, warm_up(other, "ann"));
    test_call(engine, "store.restore", "%s", test_format("{\"path\":\"%s\"}", copy));
    opened_count = 0;
    for (int i = 0; i < 2; i++) {
        loci_engine *at = i == 0 ? engine : other;
        look l;

        CHECK_EQ(peek_at(at, "ann"), -1);
        l = look_at(at, "ann");
        CHECK_EQ(l.last, l.head);
        CHECK_LT(l.last, 6);
        CHECK_EQ(opened_count, i + 1);
    }
    test_close(other);
    test_close(engine);
}

/* ---- Threads --------------------------------------------------------------------------------- */

#define THREADS 6
#define USERS 5
#define ROUNDS 60

static void *look_around(void *ctx)
{
    loci_engine *engine = ctx;
    static const char *const users[USERS] = {"u0", "u1", "u2", "u3", "u4"};

    for (int i = 0; i < ROUNDS; i++) {
        const char *user = users[i % USERS];
        look l = look_at(engine, user);
        int64_t peeked;

        CHECK(l.is_complete);
        CHECK_EQ(l.last, l.head);
        CHECK_EQ(l.users_max, 1);
        if (i % 7 == 0)
            write_fact(engine, user);
        peeked = peek_at(engine, user);
        CHECK(peeked == -1 || peeked >= l.last);
        if (i % 10 == 0)
            (void)lc_user_cache_evict(engine->user_cache, 2 * sizeof(seqs), INT64_MAX);
    }
    return NULL;
}

TEST(user_cache, many_threads_share_it)
{
    loci_engine *engine = test_open_threads(probe_path());
    pthread_t threads[THREADS];

    for (int i = 0; i < THREADS; i++)
        CHECK_EQ(pthread_create(&threads[i], NULL, look_around, engine), 0);
    for (int i = 0; i < THREADS; i++)
        (void)pthread_join(threads[i], NULL);
    CHECK_LT(0, lc_engine_get_counters(engine).user_cache.evictions);
    test_close(engine);
}
