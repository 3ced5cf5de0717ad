/* Export and import: nothing lost, nothing invented. */
#include "contract/note_text.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "lib/postgres.h"

static const lc_sql events_sql = {"select count(*) from events", "", "i"};

/* Behind the header, which names the store. */
static loci_str body_of(const note_text *t)
{
    const char *newline = strchr(t->ptr, '\n');

    return (loci_str){newline, t->len - (size_t)(newline - t->ptr)};
}

/* Every sort of thing that an export must carry. */
static void fill_richly(notes *n)
{
    notes_fill(n, "ann", 30);
    notes_write(n, "bob", 1, "\\u00e9 \\\" } ] { \\\\ \\n tab\\t 😀");
    notes_write(n, "Zoë", 2, "capital letters come first");
    notes_set(n, "", "call.timeout_ms", "30000");
    notes_set(n, "acme", "log.level", "\"debug\"");
    /* An older version, an erased event, a head without events, odd times and odd spacing. */
    notes_damage(n, "update events set v = 1, payload = '{ \"text\" : \"old\" , \"n\":[1.50,{}] }'"
                    " where user_id = 'bob';"
                    "update notes set folder = 'old', text = 'old', score = null"
                    " where user_id = 'bob';"
                    "update events set payload = '', is_erased = 1 where user_id = 'Zoë';"
                    "update notes set folder = '', text = null, score = null"
                    " where user_id = 'Zoë';"
                    "insert into heads values ('t', 'new', 0, 5, 7, 0);"
                    "update heads set objects = 3 where user_id = 'ann';"
                    "update events set recorded_at = -9000000000000000000 where user_id = 'bob';"
                    "update heads set recorded_at = -9000000000000000000 where user_id = 'bob'");
}

TEST(transfer, what_comes_back_is_what_went_out)
{
    lc_transfer_counts out, in;
    notes a, b;
    note_text first, second;

    notes_open(&a, NULL);
    fill_richly(&a);
    first = note_text_export(&a, &out);
    CHECK_EQ(out.users, 4);
    CHECK_EQ(out.events, 32);
    CHECK_EQ(out.settings, 2);

    notes_open(&b, NULL);
    CHECK_OK(note_text_import(&b, &first, &in), b.err);
    CHECK_EQ(in.events, 32);
    CHECK_EQ(in.events_skipped, 0);
    second = note_text_export(&b, NULL);
    CHECK_STR_EQ(body_of(&first), body_of(&second));
    CHECK(lc_hash128_eq(notes_hash(&a), notes_hash(&b)));
    notes_expect_sound(&a);
    notes_expect_sound(&b);
    free(first.ptr);
    free(second.ptr);
    notes_close(&b);
    notes_close(&a);
}

TEST(transfer, an_empty_store_has_an_export)
{
    notes a, b;
    note_text t;

    notes_open(&a, NULL);
    notes_open(&b, NULL);
    t = note_text_export(&a, NULL);
    CHECK_CONTAINS(t.ptr, "{\"loci\":\"export\",\"format\":1,");
    CHECK_CONTAINS(t.ptr, "\n{\"end\":true,\"events\":0,\"users\":0,\"settings\":0,\"hash\":");
    CHECK_OK(note_text_import(&b, &t, NULL), b.err);
    free(t.ptr);
    notes_close(&b);
    notes_close(&a);
}

TEST(transfer, takes_many_batches)
{
    lc_transfer_counts counts;
    notes a, b;
    note_text first, second;

    notes_open(&a, NULL);
    notes_fill(&a, "ann", 2500);
    notes_fill(&a, "bob", LC_UPKEEP_EVENTS);
    notes_fill(&a, "cy", 1);
    first = note_text_export(&a, NULL);
    notes_open(&b, NULL);
    CHECK_OK(note_text_import(&b, &first, &counts), b.err);
    CHECK_EQ(counts.events, 3501);
    second = note_text_export(&b, NULL);
    CHECK(lc_str_eq(body_of(&first), body_of(&second)));
    notes_expect_sound(&b);
    free(first.ptr);
    free(second.ptr);
    notes_close(&b);
    notes_close(&a);
}

/* ---- Beside other writers -------------------------------------------------------------------- */

typedef struct neighbour { /* A writer of another user, in a transaction of its own. */
    const char *path;
    _Atomic bool is_inside, may_end;
    pthread_t thread;
    notes n;
    int batches; /* Committed while it was inside. */
} neighbour;

static loci_status stay_inside(lc_tx *tx, void *ctx, loci_error *err)
{
    neighbour *b = ctx;

    (void)tx;
    (void)err;
    b->is_inside = true;
    for (int i = 0; i < 3000 && !b->may_end; i++)
        lc_clock_sleep_us(1000);
    b->is_inside = false;
    return LOCI_OK;
}

static void *hold_other_user(void *ctx)
{
    neighbour *b = ctx;
    notes n;

    notes_open(&n, b->path);
    CHECK_OK(notes_do(&n, "zoe", stay_inside, b), n.err);
    notes_close(&n);
    return NULL;
}

/* On a server the neighbour has its user locked during the first batches; in a file all writers
 * wait for each other, so it writes between two batches. */
static loci_status meet_neighbour(void *ctx, const char *what, int64_t done, int64_t total,
                                  loci_error *err)
{
    neighbour *b = ctx;

    (void)err;
    if (strcmp(what, "events compared") == 0 && done == total && test_is_postgres()) {
        CHECK_EQ(pthread_create(&b->thread, NULL, hold_other_user, b), 0);
        while (!b->is_inside)
            lc_clock_sleep_us(1000);
    }
    if (strcmp(what, "events imported") != 0)
        return LOCI_OK;
    if (!test_is_postgres())
        notes_write(&b->n, "zoe", (int)done, "between two batches");
    b->batches += b->is_inside || !test_is_postgres();
    b->may_end = b->batches >= 3;
    return LOCI_OK;
}

/* An import writes to the logs of its own users and must not make others wait. */
TEST(transfer, an_import_lets_other_users_write)
{
    neighbour b = {.path = notes_path()};
    notes from, into;
    note_text text;
    lc_import_source source;
    lc_upkeep upkeep = {.progress = meet_neighbour, .ctx = &b};
    lc_transfer_counts counts;

    notes_open(&from, NULL);
    notes_fill(&from, "ann", 500);
    notes_fill(&from, "bob", 500);
    text = note_text_export(&from, NULL);
    source = note_text_source(&text);
    notes_open(&into, b.path);
    notes_open(&b.n, b.path);
    upkeep.db = into.db;
    CHECK_OK(lc_import(&upkeep, &source, &counts, &into.err), into.err);
    b.may_end = true;
    if (test_is_postgres())
        CHECK_EQ(pthread_join(b.thread, NULL), 0);
    CHECK_LE(3, b.batches);
    notes_expect_sound(&into);
    free(text.ptr);
    notes_close(&b.n);
    notes_close(&into);
    notes_close(&from);
}

/* ---- Into a store that has something -------------------------------------------------------- */

TEST(transfer, an_interrupted_import_is_simply_repeated)
{
    lc_transfer_counts counts;
    notes a, b;
    note_text before, after;

    notes_open(&a, NULL);
    notes_fill(&a, "ann", 10);
    notes_fill(&a, "bob", 5);
    before = note_text_export(&a, NULL);
    notes_write(&a, "ann", 77, "more");
    notes_fill(&a, "cy", 4);
    after = note_text_export(&a, NULL);

    notes_open(&b, NULL);
    CHECK_OK(note_text_import(&b, &before, NULL), b.err);
    CHECK_OK(note_text_import(&b, &before, &counts), b.err);
    CHECK_EQ(counts.events_skipped, 15);
    CHECK_OK(note_text_import(&b, &after, &counts), b.err);
    CHECK_EQ(counts.events_skipped, 15);
    CHECK_EQ(counts.events, 20);
    CHECK(lc_hash128_eq(notes_hash(&a), notes_hash(&b)));
    notes_expect_sound(&b);
    free(before.ptr);
    free(after.ptr);
    notes_close(&b);
    notes_close(&a);
}

TEST(transfer, another_history_is_a_conflict_and_changes_nothing)
{
    notes a, b;
    note_text t;

    notes_open(&a, NULL);
    notes_fill(&a, "aaa", 5); /* Would come first. */
    notes_write(&a, "ann", 1, "one");
    notes_write(&a, "ann", 2, "two");
    t = note_text_export(&a, NULL);

    notes_open(&b, NULL);
    notes_write(&b, "ann", 1, "another one");
    CHECK_STATUS(LOCI_ECONFLICT, note_text_import(&b, &t, NULL));
    CHECK_CONTAINS(b.err.message, "user t/ann: event 1");
    CHECK_EQ(notes_number(&b, &events_sql), 1);
    notes_close(&b);

    notes_open(&b, NULL);
    notes_damage(&a, "delete from events where user_id = 'ann' and seq = 2;"
                     "update heads set seq = 1, recorded_at ="
                     " (select recorded_at from events where user_id = 'ann' and seq = 1)"
                     " where user_id = 'ann'");
    CHECK_OK(note_text_import(&b, &t, NULL), b.err);
    free(t.ptr);
    t = note_text_export(&a, NULL); /* Ann's second event is in the store alone. */
    CHECK_STATUS(LOCI_ECONFLICT, note_text_import(&b, &t, NULL));
    CHECK_CONTAINS(b.err.message, "user t/ann: event 2");
    CHECK_EQ(notes_number(&b, &events_sql), 7);
    free(t.ptr);
    notes_close(&b);
    notes_close(&a);
}

TEST(transfer, stored_settings_stay)
{
    static const lc_sql value_sql = {
        "select cast(value as integer) from settings where name = 'call.timeout_ms'", "", "i"};
    notes a, b;
    note_text t;

    notes_open(&a, NULL);
    notes_set(&a, "", "call.timeout_ms", "1");
    t = note_text_export(&a, NULL);
    notes_open(&b, NULL);
    notes_set(&b, "", "call.timeout_ms", "2");
    CHECK_OK(note_text_import(&b, &t, NULL), b.err);
    CHECK_EQ(notes_number(&b, &value_sql), 2);
    free(t.ptr);
    notes_close(&b);
    notes_close(&a);
}

/* ---- Damaged stores, files and memory
 * ------------------------------------------------------------ */

TEST(transfer, a_damaged_log_is_not_exported)
{
    static const char *const damages[] = {
        "delete from events where seq = 2",
        "delete from events where seq = 3",
        "update events set payload = '{' where seq = 2",
        "update events set payload = '[]' where seq = 2",
        "update events set refs = '{}\n' where seq = 2",
        "update events set recorded_at = 1 where seq = 2",
        "update heads set recorded_at = 1",
    };

    for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
        lc_transfer_counts counts;
        note_text t = {0};
        notes n;
        lc_upkeep upkeep;

        notes_open(&n, NULL);
        notes_fill(&n, "ann", 3);
        notes_damage(&n, damages[i]);
        upkeep = (lc_upkeep){.db = n.db};
        CHECK_STATUS(LOCI_ECORRUPT, lc_export(&upkeep, note_text_add, &t, &counts, &n.err));
        CHECK_CONTAINS(n.err.message, "user t/ann: event ");
        free(t.ptr);
        notes_close(&n);
    }
}

TEST(transfer, files_appear_whole_and_are_not_overwritten)
{
    const char *dir = test_tmpdir();
    const char *path = test_path(dir, "out.ndjson");
    lc_transfer_counts counts;
    notes a, b;
    lc_upkeep upkeep;
    note_text t;

    notes_open(&a, NULL);
    fill_richly(&a);
    upkeep = (lc_upkeep){.db = a.db};
    CHECK_OK(lc_export_file(&upkeep, path, false, &counts, &a.err), a.err);
    CHECK_STATUS(LOCI_ECONFLICT, lc_export_file(&upkeep, path, false, &counts, &a.err));
    CHECK_OK(lc_export_file(&upkeep, path, true, &counts, &a.err), a.err);
    CHECK_STATUS(LOCI_ENOTFOUND,
                 lc_export_file(&upkeep, test_path(dir, "no/where"), false, &counts, &a.err));
    CHECK_STATUS(LOCI_EINVAL, lc_export_file(&upkeep, dir, true, &counts, &a.err));
    t = note_text_export(&a, NULL);
    CHECK_STR_EQ(test_read_file(path), t.ptr);

    notes_open(&b, NULL);
    upkeep.db = b.db;
    CHECK_STATUS(LOCI_ENOTFOUND,
                 lc_import_file(&upkeep, test_path(dir, "nothing"), &counts, &b.err));
    CHECK_STATUS(LOCI_EINVAL, lc_import_file(&upkeep, dir, &counts, &b.err));
    CHECK_OK(lc_import_file(&upkeep, path, &counts, &b.err), b.err);
    CHECK(lc_hash128_eq(notes_hash(&a), notes_hash(&b)));
    test_write_file(path, (loci_str){t.ptr, t.len - 1}); /* The last end of line may be missing. */
    CHECK_OK(lc_import_file(&upkeep, path, &counts, &b.err), b.err);
    free(t.ptr);
    notes_close(&b);
    notes_close(&a);
}

TEST(transfer, a_line_without_end_is_refused_before_it_fills_the_memory)
{
    const char *path = test_path(test_tmpdir(), "long");
    size_t bytes = LC_TRANSFER_LINE_BYTES_MAX + 1000;
    char *line = test_bytes(bytes);
    lc_transfer_counts counts;
    lc_upkeep upkeep;
    notes n;

    memset(line, ' ', bytes);
    test_write_file(path, (loci_str){line, bytes});
    notes_open(&n, NULL);
    upkeep = (lc_upkeep){.db = n.db};
    CHECK_STATUS(LOCI_ELIMIT, lc_import_file(&upkeep, path, &counts, &n.err));
    notes_close(&n);
}

typedef struct round_trip {
    notes *n;
    const char *path;
} round_trip;

static loci_status export_and_import(void *ctx)
{
    round_trip *r = ctx;
    lc_upkeep upkeep = {.db = r->n->db};
    lc_transfer_counts counts;
    loci_status status = lc_export_file(&upkeep, r->path, true, &counts, &r->n->err);

    return status != LOCI_OK ? status : lc_import_file(&upkeep, r->path, &counts, &r->n->err);
}

TEST(transfer, survives_the_loss_of_any_allocation)
{
    round_trip r = {.path = test_path(test_tmpdir(), "out")};
    notes n;

    r.n = &n;
    notes_open(&n, NULL);
    notes_fill(&n, "ann", 3);
    notes_set(&n, "", "x", "1");
    notes_oom_sweep(export_and_import, &r);
    notes_expect_sound(&n);
    notes_close(&n);
}
