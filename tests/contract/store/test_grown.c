/* Which logs have grown between two snapshots: every new event is reported once, in whatever order
 * commits become visible, and nothing else is. */
#include "contract/probe_fixture.h"

#include <stdio.h>

#include "base/error.h"
#include "store/db_upkeep.h"
#include "store/grown.h"
#include "store/snapshot.h"

#define USERS_MAX 1000

static char word[] = "x";

/* A reader that goes from place to place. */
typedef struct reader {
    probe *p;
    lc_buf place, next;
    int64_t limit;
    char text[4096]; /* The report of the last read: "user:first-last …". */
    int64_t users;
} reader;

static loci_status note(void *ctx, const lc_grown *grown, loci_error *err)
{
    reader *r = ctx;
    size_t len = strlen(r->text);

    (void)err;
    CHECK_STR_EQ(grown->tenant_id, "t");
    r->users++;
    (void)snprintf(r->text + len, sizeof r->text - len, "%s%.*s:%d-%d", len > 0 ? " " : "",
                   LC_STR_ARG(grown->user_id), (int)grown->first_seq, (int)grown->last_seq);
    return LOCI_OK;
}

static loci_status look(lc_tx *tx, void *ctx, loci_error *err)
{
    reader *r = ctx;
    loci_status status = lc_grown_place(tx, &r->next, err);

    if (status == LOCI_OK && r->place.len > 0)
        status = lc_grown_each(tx, lc_buf_str(&r->place), r->limit, note, r, err);
    return status;
}

static const char *read_on(reader *r)
{
    lc_buf place;

    r->text[0] = '\0';
    r->users = 0;
    CHECK_OK(probe_read(r->p, look, r), r->p->err);
    place = r->place;
    r->place = r->next;
    r->next = place;
    return r->text;
}

static void begin(reader *r, probe *p)
{
    *r = (reader){.p = p, .limit = USERS_MAX};
    lc_buf_init(&r->place, &p->env.heap, LOCI_MEM_ENGINE, 65536);
    lc_buf_init(&r->next, &p->env.heap, LOCI_MEM_ENGINE, 65536);
    CHECK_STR_EQ(loci_str_of(read_on(r)), "");
}

static void end(reader *r)
{
    lc_buf_clear(&r->place);
    lc_buf_clear(&r->next);
}

static void say(probe *p, const char *user, int count)
{
    for (int i = 0; i < count; i++)
        CHECK_OK(probe_write(p, user, probe_say_body, word), p->err);
}

TEST(grown, each_event_is_reported_once)
{
    const char *path = probe_path();
    probe here, there;
    reader r;

    probe_open(&here, path);
    say(&here, "old", 3);
    begin(&r, &here);
    probe_open(&there, path);
    CHECK_STR_EQ(loci_str_of(read_on(&r)), "");
    say(&there, "new", 1);
    CHECK_STR_EQ(loci_str_of(read_on(&r)), "new:1-1");
    CHECK_STR_EQ(loci_str_of(read_on(&r)), "");
    say(&there, "old", 2);
    say(&here, "old", 1);
    CHECK_STR_EQ(loci_str_of(read_on(&r)), "old:4-6");
    say(&here, "a", 1);
    say(&there, "b", 1);
    (void)read_on(&r);
    CHECK_EQ(r.users, 2);
    r.limit = 1;
    say(&here, "a", 1);
    say(&there, "b", 1);
    (void)read_on(&r);
    CHECK_EQ(r.users, 1);
    end(&r);
    probe_close(&there);
    probe_close(&here);
}

/* `ctx` is the number of parts. */
static loci_status put_snapshot(lc_tx *tx, void *ctx, loci_error *err)
{
    loci_str parts[] = {LC_STR("{}"), LC_STR("{}"), LC_STR("{}")};
    lc_snapshot snapshot = {.parts = parts, .count = *(size_t *)ctx};
    lc_head head;
    loci_status status = lc_tx_head(tx, &head, err);

    return status == LOCI_OK ? lc_snapshot_put(&snapshot, tx, head.seq, head.recorded_at, err)
                             : status;
}

/* A snapshot is no event for followers, and its parts must not give their numbers to events: a
 * stream would never see those. */
TEST(grown, snapshots_are_not_reported_and_hide_no_event)
{
    size_t many = 3, few = 1;
    probe p;
    reader r;

    probe_open(&p, probe_path());
    say(&p, "a", 2);
    begin(&r, &p);
    CHECK_OK(probe_write(&p, "a", put_snapshot, &many), p.err);
    CHECK_STR_EQ(loci_str_of(read_on(&r)), "");
    CHECK_OK(probe_write(&p, "a", put_snapshot, &few), p.err);
    say(&p, "a", 1);
    CHECK_STR_EQ(loci_str_of(read_on(&r)), "a:3-3");
    end(&r);
    probe_close(&p);
}

static loci_status fail_after_writing(lc_tx *tx, void *ctx, loci_error *err)
{
    loci_status status = probe_say_body(tx, ctx, err);

    return status == LOCI_OK ? lc_fail(err, LOCI_EINVAL, "changed its mind") : status;
}

/* A row that was undone gives its number to the next one. */
TEST(grown, what_was_undone_is_not_reported)
{
    probe p;
    reader r;

    probe_open(&p, NULL);
    say(&p, "u", 2);
    begin(&r, &p);
    CHECK_STATUS(LOCI_EINVAL, probe_write(&p, "u", fail_after_writing, word));
    CHECK_STR_EQ(loci_str_of(read_on(&r)), "");
    say(&p, "u", 1);
    CHECK_STR_EQ(loci_str_of(read_on(&r)), "u:3-3");
    end(&r);
    probe_close(&p);
}

static loci_status erase_all(lc_tx *tx, void *ctx, loci_error *err)
{
    (void)ctx;
    return lc_event_erase_all(tx, err);
}

static loci_status say_and_erase(lc_tx *tx, void *ctx, loci_error *err)
{
    loci_status status = probe_say_body(tx, ctx, err);

    return status == LOCI_OK ? lc_event_erase_all(tx, err) : status;
}

/* Erasing overwrites events in place; it adds none. */
TEST(grown, erasing_reports_nothing_again_and_hides_nothing)
{
    probe p;
    reader r;

    probe_open(&p, NULL);
    say(&p, "u", 3);
    begin(&r, &p);
    CHECK_OK(probe_write(&p, "u", erase_all, NULL), p.err);
    CHECK_STR_EQ(loci_str_of(read_on(&r)), "");
    say(&p, "u", 1);
    CHECK_OK(probe_write(&p, "u", say_and_erase, word), p.err);
    CHECK_STR_EQ(loci_str_of(read_on(&r)), "u:4-5");
    end(&r);
    probe_close(&p);
}

/* The rowids of a file are the order of its commits: they must survive a VACUUM, also with gaps. */
TEST_ON(TEST_FILES, grown, compacting_the_file_changes_nothing)
{
    probe p;
    reader r;

    probe_open(&p, NULL);
    say(&p, "gone", 5);
    say(&p, "u", 3);
    begin(&r, &p);
    probe_script(&p, "delete from events where user_id = 'gone'");
    CHECK_OK(p.db->driver->upkeep->scrub(p.db, &p.err), p.err);
    CHECK_STR_EQ(loci_str_of(read_on(&r)), "");
    say(&p, "u", 2);
    CHECK_STR_EQ(loci_str_of(read_on(&r)), "u:4-5");
    end(&r);
    probe_close(&p);
}

/* ---- PostgreSQL: commits overtake each other ------------------------------------------------- */

typedef struct overtaking {
    probe *other;
    reader *r;
} overtaking;

/* Another connection commits, and is reported, while this transaction is open. */
static loci_status be_overtaken(lc_tx *tx, void *ctx, loci_error *err)
{
    overtaking *o = ctx;
    loci_status status = probe_say(tx, "slow", NULL, err);
    lc_rows rows = {0};
    bool found;

    if (status == LOCI_OK) /* Waits for the server, so that the event is there. */
        status = lc_tx_find(
            tx, &(lc_sql){"select count(*) from events where user_id = 'slow'", "", "i"}, NULL,
            &rows, &found, err);
    if (status == LOCI_OK)
        CHECK_EQ(lc_rows_i64(&rows, 0), 1);
    lc_rows_end(&rows);
    say(o->other, "fast", 2);
    CHECK_STR_EQ(loci_str_of(read_on(o->r)), "fast:1-2");
    CHECK_STR_EQ(loci_str_of(read_on(o->r)), "");
    say(o->other, "fast", 1);
    return status;
}

TEST_ON(TEST_SERVERS, grown, a_commit_that_was_overtaken_is_reported)
{
    const char *path = probe_path();
    probe slow, fast, watcher;
    reader r;

    probe_open(&slow, path);
    probe_open(&fast, path);
    probe_open(&watcher, path);
    begin(&r, &watcher);
    CHECK_OK(probe_write(&slow, "slow", be_overtaken, &(overtaking){&fast, &r}), slow.err);
    (void)read_on(&r);
    CHECK_EQ(r.users, 2);
    CHECK(strstr(r.text, "slow:1-1") != NULL);
    CHECK(strstr(r.text, "fast:3-3") != NULL);
    CHECK_STR_EQ(loci_str_of(read_on(&r)), "");
    end(&r);
    probe_close(&watcher);
    probe_close(&fast);
    probe_close(&slow);
}

/* Rows of events that the connection of `tx` has read so far. */
static loci_status count_read(lc_tx *tx, int64_t *out, loci_error *err)
{
    return lc_tx_find_numbers(
        tx,
        &(lc_sql){"select cast(coalesce(sum(idx_tup_fetch + seq_tup_read), 0) as bigint)"
                  " from pg_stat_xact_user_tables"
                  " where relname = 'events' and schemaname = current_schema()",
                  "", "i"},
        NULL, out, err);
}

typedef struct counted {
    reader *r;
    int64_t rows;
} counted;

static loci_status look_and_count(lc_tx *tx, void *ctx, loci_error *err)
{
    counted *c = ctx;
    int64_t before = 0, after = 0;
    loci_status status = count_read(tx, &before, err);

    if (status == LOCI_OK)
        status = look(tx, c->r, err);
    if (status == LOCI_OK)
        status = count_read(tx, &after, err);
    c->rows = after - before;
    return status;
}

/* The transaction stays open while others write. */
static loci_status stay_open(lc_tx *tx, void *ctx, loci_error *err)
{
    overtaking *o = ctx;
    counted c = {.r = o->r};
    loci_status status = probe_say(tx, "slow", NULL, err);
    lc_rows rows = {0};
    bool found;

    if (status == LOCI_OK) /* Waits for the server, so that the transaction has a number. */
        status = lc_tx_find(tx, &(lc_sql){"select count(*) from events", "", "i"}, NULL, &rows,
                            &found, err);
    lc_rows_end(&rows);
    say(o->other, "fast", 100);
    (void)read_on(o->r);
    say(o->other, "fast", 1);
    o->r->text[0] = '\0';
    CHECK_OK(probe_read(o->r->p, look_and_count, &c), o->r->p->err);
    CHECK_STR_EQ(loci_str_of(o->r->text), "fast:101-101");
    CHECK_LE(c.rows, 3);
    return status;
}

/* A transaction that takes an hour, of any database of the server, would otherwise make each read
 * of the growth as long as the log of that hour. */
TEST_ON(TEST_SERVERS, grown, a_long_transaction_does_not_make_reads_longer)
{
    const char *path = probe_path();
    probe slow, fast, watcher;
    reader r;

    probe_open(&slow, path);
    probe_open(&fast, path);
    probe_open(&watcher, path);
    begin(&r, &watcher);
    CHECK_OK(probe_write(&slow, "slow", stay_open, &(overtaking){&fast, &r}), slow.err);
    end(&r);
    probe_close(&watcher);
    probe_close(&fast);
    probe_close(&slow);
}

/* pg_restore brings the numbers of another server's transactions, some of which this server will
 * use in a moment. */
TEST_ON(TEST_SERVERS, grown, numbers_of_another_server_mean_nothing)
{
    probe p;
    reader r;

    probe_open(&p, NULL);
    say(&p, "u", 40);
    begin(&r, &p);
    probe_script(&p, "update events set insert_no = txid_current() + seq");
    for (int i = 0; i < 60; i++) {
        say(&p, "v", 1);
        CHECK_STR_EQ(loci_str_of(read_on(&r)), test_format("v:%d-%d", i + 1, i + 1));
    }
    end(&r);
    probe_close(&p);
}

/* A store of version 7: its events have no number, and are not reported. */
TEST_ON(TEST_SERVERS, grown, an_older_store_gets_its_column)
{
    const char *path = probe_path();
    lc_schema_state state;
    probe p;
    reader r;

    probe_open(&p, path);
    say(&p, "u", 2);
    probe_script(&p, "alter table events drop column insert_no;"
                     " update meta set value = '7' where name in"
                     " ('schema_version', 'schema_compatible')");
    probe_close(&p);
    probe_open_bare(&p, path);
    CHECK_OK(lc_schema_open(p.db, NULL, &state, &p.err), p.err);
    CHECK_EQ(state.version_before, 7);
    begin(&r, &p);
    CHECK_STR_EQ(loci_str_of(read_on(&r)), "");
    say(&p, "u", 1);
    CHECK_STR_EQ(loci_str_of(read_on(&r)), "u:3-3");
    end(&r);
    probe_close(&p);
}
