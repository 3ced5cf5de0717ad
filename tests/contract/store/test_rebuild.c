/* Rebuild: the same rows again, whatever happens on the way. */
#include "contract/note_fixture.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "store/discard.h"
#include "store/rebuild.h"
#include "store/schema.h"

static const lc_sql shadow_sql = {
    "select count(*) from sqlite_schema where name like '%new%' escape '!'", "", "i"};
static const lc_sql old_sql = {
    "select count(*) from sqlite_schema where name like '%old%' escape '!'", "", "i"};
static const lc_sql progress_sql = {"select count(*) from rebuild_heads", "", "i"};
static const lc_sql replayed_sql = {
    "select cast(coalesce(sum(seq), 0) as bigint) from rebuild_heads", "", "i"};
static const lc_sql least_sql = {"select min(seq) from rebuild_heads", "", "i"};
static const lc_sql index_sql = {
    "select count(*) from sqlite_schema where type = 'index' and tbl_name = 'notes' and sql is not "
    "null",
    "", "i"};

/* A slice is 10,000 events of a file, and a tenth of that on a server. */
static int of_slice(int count)
{
    return test_is_postgres() ? count / 10 : count;
}

static void check_no_traces(notes *n)
{
    CHECK_EQ(notes_number(n, &shadow_sql), 0);
    CHECK_EQ(notes_number(n, &old_sql), 0);
    CHECK_EQ(notes_number(n, &progress_sql), 0);
    CHECK_EQ(notes_number(n, &index_sql), 2);
}

static void rebuild(notes *n)
{
    CHECK_OK(lc_rebuild_run(n->db, NULL, NULL, &n->err), n->err);
}

TEST(rebuild, gives_the_same_rows)
{
    lc_hash128 before;
    notes n;

    notes_open(&n, NULL);
    rebuild(&n); /* Of nothing. */
    notes_fill(&n, "ann", 500);
    notes_fill(&n, "bob", 1);
    before = notes_hash(&n);
    for (int i = 0; i < 3; i++) {
        rebuild(&n);
        CHECK(lc_hash128_eq(before, notes_hash(&n)));
        check_no_traces(&n);
    }
    notes_expect_sound(&n);
    notes_write(&n, "ann", 3, "and goes on");
    notes_expect_sound(&n);
    notes_close(&n);
}

TEST(rebuild, repairs_projections_that_were_damaged)
{
    lc_hash128 before;
    notes n;

    notes_open(&n, NULL);
    notes_fill(&n, "ann", 100);
    before = notes_hash(&n);
    notes_damage(&n, "update notes set text = 'x' where id = 4; delete from note_counts;"
                     "insert into notes values ('t', 'zoe', 'x', 1, null, null, null, 1)");
    CHECK(!lc_hash128_eq(before, notes_hash(&n)));
    rebuild(&n);
    CHECK(lc_hash128_eq(before, notes_hash(&n)));
    notes_expect_sound(&n);
    notes_close(&n);
}

TEST(rebuild, names_the_event_that_cannot_be_replayed)
{
    notes n;

    notes_open(&n, NULL);
    notes_fill(&n, "ann", 20);
    notes_damage(&n, "delete from events where seq = 7");
    CHECK_STATUS(LOCI_ECORRUPT, lc_rebuild_run(n.db, NULL, NULL, &n.err));
    CHECK_CONTAINS(n.err.message, "user t/ann");
    CHECK_CONTAINS(n.err.message, "event 7 is missing");
    notes_damage(&n, "update heads set seq = 6; delete from events where seq > 6");
    rebuild(&n);
    notes_damage(&n, "update heads set seq = 21");
    CHECK_STATUS(LOCI_ECORRUPT, lc_rebuild_run(n.db, NULL, NULL, &n.err));
    CHECK_CONTAINS(n.err.message, "behind event 6");
    notes_close(&n);
}

/* ---- Interrupted ---------------------------------------------------------------------------- */

static loci_status one_slice(notes *n, lc_rebuild *rebuild)
{
    return lc_db_write_one(n->db, LC_UPKEEP_WAIT_MS, lc_rebuild_slice, rebuild, &n->err);
}

/* Runs `slices` slices, then loses everything that is not in the store. True when it was over
 * before. */
static bool run_slices(const char *path, int slices)
{
    lc_rebuild state;
    bool is_done;
    notes n;

    notes_open(&n, path);
    lc_rebuild_init(&state, &n.env.heap);
    state.may_swap = true;
    state.slice_us = INT64_C(600000000); /* It ends by count. */
    for (int i = 0; i < slices && state.phase != LC_REBUILD_DONE; i++)
        CHECK_OK(one_slice(&n, &state), n.err);
    is_done = state.phase == LC_REBUILD_DONE;
    lc_rebuild_clear(&state);
    notes_close(&n);
    return is_done;
}

TEST(rebuild, goes_on_where_it_was_interrupted)
{
    const char *path = notes_path();
    int64_t replayed, replayed_before = 0;
    lc_hash128 before;
    bool is_done = false;
    notes n;

    notes_open(&n, path);
    notes_fill(&n, "ann", of_slice(25000));
    notes_fill(&n, "bob", 100);
    notes_fill(&n, "cy", of_slice(12000));
    before = notes_hash(&n);
    notes_close(&n);

    while (!is_done) { /* A slice ends by count or by time: how many there are is open. */
        is_done = run_slices(path, 1);
        notes_open(&n, path);
        CHECK(lc_hash128_eq(before, notes_hash(&n))); /* The old ones serve until the swap. */
        replayed = notes_number(&n, &replayed_sql);
        if (!is_done && replayed_before < 37100) /* The last ones compare and swap. */
            CHECK_LT(replayed_before, replayed);
        replayed_before = replayed;
        notes_close(&n);
    }
    notes_open(&n, path);
    CHECK_OK(lc_discard_run(n.db, &n.err), n.err);
    check_no_traces(&n);
    notes_expect_sound(&n);
    notes_close(&n);
}

static loci_status crash(lc_tx *tx, void *ctx, loci_error *err)
{
    loci_status status = lc_rebuild_slice(tx, ctx, err);

    return status != LOCI_OK ? status : lc_fail(err, LOCI_ERESOURCE, "the power went");
}

/* A slice that did its work and was rolled back must not have moved the next one. */
TEST(rebuild, survives_a_rollback_of_each_slice)
{
    lc_hash128 before;
    lc_rebuild state;
    notes n;

    notes_open(&n, NULL);
    notes_fill(&n, "ann", of_slice(15000));
    notes_fill(&n, "bob", of_slice(15000));
    before = notes_hash(&n);
    lc_rebuild_init(&state, &n.env.heap);
    state.may_swap = true;
    for (int i = 0; state.phase != LC_REBUILD_DONE && i < 2000; i++) {
        CHECK_STATUS(LOCI_ERESOURCE,
                     lc_db_write_one(n.db, LC_UPKEEP_WAIT_MS, crash, &state, &n.err));
        CHECK(lc_hash128_eq(before, notes_hash(&n)));
        CHECK_OK(one_slice(&n, &state), n.err);
    }
    CHECK_EQ(state.phase, LC_REBUILD_DONE);
    lc_rebuild_clear(&state);
    CHECK_OK(lc_discard_run(n.db, &n.err), n.err);
    CHECK(lc_hash128_eq(before, notes_hash(&n)));
    check_no_traces(&n);
    notes_expect_sound(&n);
    notes_close(&n);
}

/* A snapshot is loaded in slices, too: each may be rolled back, and another snapshot may come in
 * between. Not on a server, whose index of the notes has no room for such texts. */
TEST_ON(TEST_FILES, rebuild, loads_a_snapshot_in_slices)
{
    static char text[400001];
    lc_hash128 before;
    lc_rebuild state;
    int slices = 0;
    notes n;

    memset(text, 'x', sizeof text - 1);
    notes_open(&n, NULL);
    for (int i = 0; i < 20; i++)
        notes_write(&n, "ann", i, text);
    notes_compact(&n, "ann");
    notes_write(&n, "ann", 3, "after it");
    notes_fill(&n, "bob", 100);
    lc_rebuild_init(&state, &n.env.heap);
    state.may_swap = true;
    state.slice_us = 1; /* One part each. */
    for (; state.phase != LC_REBUILD_DONE && slices < 2000; slices++) {
        CHECK_STATUS(LOCI_ERESOURCE,
                     lc_db_write_one(n.db, LC_UPKEEP_WAIT_MS, crash, &state, &n.err));
        CHECK_OK(one_slice(&n, &state), n.err);
        if (slices == 4) {
            CHECK_LT(notes_number(&n, &least_sql), 0); /* It is not loaded yet. */
            notes_remove(&n, "ann", 1);
            notes_compact(&n, "ann");
        }
        if (slices == 5)
            notes_write(&n, "ann", 4, "after the next");
        before = notes_hash(&n);
    }
    CHECK_LT(20, slices);
    lc_rebuild_clear(&state);
    CHECK_OK(lc_discard_run(n.db, &n.err), n.err);
    CHECK(lc_hash128_eq(before, notes_hash(&n)));
    check_no_traces(&n);
    notes_expect_sound(&n);
    notes_close(&n);
}

/* What another version of loci has begun may have been applied differently. */
TEST(rebuild, begins_anew_when_the_shadows_are_not_its_own)
{
    lc_rebuild state;
    notes n;

    notes_open(&n, NULL);
    notes_fill(&n, "ann", of_slice(12000));
    lc_rebuild_init(&state, &n.env.heap);
    CHECK_OK(one_slice(&n, &state), n.err);
    CHECK_EQ(state.phase, LC_REBUILD_REPLAYING);
    lc_rebuild_clear(&state);
    notes_damage(&n, "update notes__new set text = 'by another version';"
                     "update meta set value = value || '-beta' where name = 'rebuild'");
    rebuild(&n);
    check_no_traces(&n);
    notes_expect_sound(&n);
    notes_close(&n);
}

/* ---- Others at work ------------------------------------------------------------------------- */

TEST(rebuild, takes_in_what_is_written_meanwhile)
{
    const char *path = notes_path();
    lc_rebuild state;
    int written = 0;
    notes n, other;

    notes_open(&n, path);
    notes_open(&other, path);
    notes_fill(&n, "bob", of_slice(25000));
    lc_rebuild_init(&state, &n.env.heap);
    state.may_swap = true;
    while (state.phase != LC_REBUILD_DONE) {
        CHECK_OK(one_slice(&n, &state), n.err);
        notes_write(&other, "ann", 1000 + written, "before the one at hand");
        notes_write(&other, "bob", 100000 + written, "the one at hand");
        notes_write(&other, "cy", written++, "behind it");
        notes_remove(&other, "bob", 100000);
    }
    CHECK_LE(3, written);
    lc_rebuild_clear(&state);
    notes_expect_sound(&n);
    notes_close(&other);
    notes_close(&n);
}

TEST(rebuild, two_at_once_end_it_once)
{
    static const lc_sql generation_sql = {
        "select cast(value as integer) from meta where name = 'projection_generation'", "", "i"};
    const char *path = notes_path();
    lc_rebuild a, b;
    notes n, other;

    notes_open(&n, path);
    notes_open(&other, path);
    notes_fill(&n, "ann", of_slice(25000));
    lc_rebuild_init(&a, &n.env.heap);
    lc_rebuild_init(&b, &other.env.heap);
    a.may_swap = b.may_swap = true;
    while (a.phase != LC_REBUILD_DONE || b.phase != LC_REBUILD_DONE) {
        CHECK_OK(one_slice(&n, &a), n.err);
        CHECK_OK(one_slice(&other, &b), other.err);
    }
    lc_rebuild_clear(&a);
    lc_rebuild_clear(&b);
    CHECK_EQ(notes_number(&n, &generation_sql), 1);
    notes_expect_sound(&other);
    notes_close(&other);
    notes_close(&n);
}

typedef struct writer {
    const char *path;
    _Atomic bool stop;
    int written;
} writer;

static void *keep_writing(void *ctx)
{
    writer *w = ctx;
    notes n;

    notes_open(&n, w->path);
    while (!w->stop)
        notes_write(&n, "ann", 50000 + w->written++, "from another thread");
    notes_close(&n);
    return NULL;
}

TEST(rebuild, runs_beside_a_writer_that_never_stops)
{
    static const lc_sql events_sql = {"select count(*) from events", "", "i"};
    writer w = {.path = notes_path()};
    pthread_t thread;
    notes n;

    notes_open(&n, w.path);
    notes_fill(&n, "ann", of_slice(20000));
    CHECK_EQ(pthread_create(&thread, NULL, keep_writing, &w), 0);
    rebuild(&n);
    rebuild(&n);
    w.stop = true;
    CHECK_EQ(pthread_join(thread, NULL), 0);
    CHECK_LT(0, w.written);
    CHECK_EQ(notes_number(&n, &events_sql), of_slice(20000) + w.written);
    notes_expect_sound(&n);
    notes_close(&n);
}

/* A write waits for the slice before it, so its length decides how long. */
TEST(rebuild, a_slice_ends_when_its_time_is_over)
{
    lc_rebuild state;
    notes n;

    notes_open(&n, NULL);
    notes_fill(&n, "ann", 5000);
    lc_rebuild_init(&state, &n.env.heap);
    state.slice_us = 1;
    CHECK_OK(one_slice(&n, &state), n.err);
    CHECK_EQ(state.phase, LC_REBUILD_REPLAYING);
    CHECK_LT(0, state.events_done);
    CHECK_LE(state.events_done, 8);
    state.slice_us = INT64_C(600000000);
    while (state.phase == LC_REBUILD_REPLAYING)
        CHECK_OK(one_slice(&n, &state), n.err);
    CHECK_EQ(state.events_done, 5000);
    lc_rebuild_clear(&state);
    notes_close(&n);
}

/* ---- The tables that were replaced ----------------------------------------------------------- */

static loci_status count_discarding(lc_tx *tx, void *ctx, loci_error *err)
{
    return lc_discard_count(tx, ctx, err);
}

static int64_t discarding(notes *n)
{
    int64_t count = -1;

    CHECK_OK(lc_db_read(n->db, INT64_MAX, count_discarding, &count, &n->err), n->err);
    return count;
}

static bool discard_slice(notes *n)
{
    lc_discard discard = {.slice_us = 1};

    CHECK_OK(lc_db_write_one(n->db, LC_UPKEEP_WAIT_MS, lc_discard_slice, &discard, &n->err),
             n->err);
    return discard.is_done;
}

static void rebuild_without_discarding(notes *n)
{
    lc_rebuild state;

    lc_rebuild_init(&state, &n->env.heap);
    state.may_swap = true;
    while (state.phase != LC_REBUILD_DONE)
        CHECK_OK(one_slice(n, &state), n->err);
    lc_rebuild_clear(&state);
}

/* The swap must not delete the old tables: the more data they have, the longer that takes. */
TEST(rebuild, discards_the_old_tables_in_slices_that_may_be_interrupted)
{
    static const lc_sql notes_sql = {"select count(*) from notes", "", "i"};
    static const lc_sql rows_sql = {"select count(*) from notes__old", "", "i"};
    const char *path = notes_path();
    int64_t rows, left;
    int slices = 0;
    notes n;

    notes_open(&n, path);
    notes_fill(&n, "ann", 2000);
    rows = notes_number(&n, &notes_sql);
    rebuild_without_discarding(&n);
    CHECK_EQ(discarding(&n), 4);
    notes_expect_sound(&n);
    notes_write(&n, "ann", 90000, "beside them");
    if (!test_is_postgres()) { /* Which drops a table at once. */
        CHECK_EQ(notes_number(&n, &rows_sql), rows);
        do {
            CHECK(!discard_slice(&n));
            left = notes_number(&n, &rows_sql);
        } while (left == rows);
        CHECK_LT(0, left);
    }
    notes_close(&n);
    for (bool is_done = false; !is_done; slices++) {
        notes_open(&n, path);
        is_done = discard_slice(&n);
        notes_expect_sound(&n);
        notes_close(&n);
    }
    CHECK_LT(1, slices);
    notes_open(&n, path);
    CHECK_EQ(discarding(&n), 0);
    check_no_traces(&n);
    notes_close(&n);
}

TEST(rebuild, a_second_one_discards_what_the_first_has_left)
{
    lc_hash128 before;
    notes n;

    notes_open(&n, NULL);
    notes_fill(&n, "ann", 1500);
    before = notes_hash(&n);
    rebuild_without_discarding(&n);
    CHECK_EQ(discarding(&n), 4);
    rebuild_without_discarding(&n);
    CHECK_EQ(discarding(&n), 4);
    CHECK(lc_hash128_eq(before, notes_hash(&n)));
    rebuild(&n);
    CHECK(lc_hash128_eq(before, notes_hash(&n)));
    check_no_traces(&n);
    notes_expect_sound(&n);
    notes_close(&n);
}

/* ---- Another shape -------------------------------------------------------------------------- */

static loci_status forget_shape(lc_tx *tx, void *ctx, loci_error *err)
{
    (void)ctx;
    return lc_meta_set_i64(tx, "projection_shape", 1, err);
}

static loci_status name_former(lc_tx *tx, void *ctx, loci_error *err)
{
    (void)ctx;
    return lc_meta_set_text(tx, "projection_tables", LC_STR("notes old_notes note_counts"), err);
}

TEST(rebuild, a_new_shape_replaces_the_old_tables)
{
    static const lc_sql former_sql = {"select count(*) from sqlite_schema where name = 'old_notes'",
                                      "", "i"};
    const char *path = notes_path();
    lc_schema_state state;
    lc_hash128 before;
    notes n;

    notes_open(&n, path);
    notes_fill(&n, "ann", 50);
    before = notes_hash(&n);
    /* As if an older loci had made it: other columns, no counts, a table that is no more. */
    notes_damage(&n, "drop table notes; create table notes (a text); drop table note_counts;"
                     "create table old_notes (b text)");
    CHECK_OK(notes_do(&n, "", forget_shape, NULL), n.err);
    CHECK_OK(notes_do(&n, "", name_former, NULL), n.err);
    notes_close(&n);

    notes_open(&n, path);
    CHECK_OK(lc_schema_open(n.db, NULL, &state, &n.err), n.err);
    CHECK(state.needs_rebuild);
    rebuild(&n);
    CHECK_OK(lc_schema_open(n.db, NULL, &state, &n.err), n.err);
    CHECK(!state.needs_rebuild);
    CHECK_EQ(notes_number(&n, &former_sql), 0);
    CHECK(lc_hash128_eq(before, notes_hash(&n)));
    notes_expect_sound(&n);
    notes_close(&n);
}

static loci_status rebuild_body(void *ctx)
{
    notes *n = ctx;

    return lc_rebuild_run(n->db, NULL, NULL, &n->err);
}

TEST(rebuild, survives_the_loss_of_any_allocation)
{
    lc_hash128 before;
    notes n;

    notes_open(&n, NULL);
    notes_fill(&n, "ann", 8);
    notes_fill(&n, "bob", 2);
    before = notes_hash(&n);
    notes_oom_sweep(rebuild_body, &n);
    CHECK(lc_hash128_eq(before, notes_hash(&n)));
    notes_expect_sound(&n);
    notes_close(&n);
}
