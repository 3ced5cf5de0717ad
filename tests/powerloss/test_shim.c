/* test_shim.c - the shim itself, on a program whose durability is known. A power-loss test that
 * cannot see a loss proves nothing, so each kind of loss is provoked here. */
#include "point.h"

#include <sqlite3.h>
#include <stdlib.h>

static int64_t number(const char *path, const char *sql)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *query = NULL;
    int64_t result = -1;

    if (sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, NULL) == SQLITE_OK &&
        sqlite3_prepare_v2(db, sql, -1, &query, NULL) == SQLITE_OK &&
        sqlite3_step(query) == SQLITE_ROW)
        result = sqlite3_column_int64(query, 0);
    sqlite3_finalize(query);
    sqlite3_close(db);
    return result;
}

static int64_t last_ack(loci_str acks)
{
    int64_t last = 0;
    loci_str line;

    while (point_next_line(&acks, &line))
        last = strtoll(line.ptr, NULL, 10);
    return last;
}

static void check_rows(point_tally *tally, const point *p)
{
    const char *path = test_path(p->dir, "rows.db");
    int64_t acked = last_ack(p->acks);
    const char *problem;

    if (acked == 0)
        return;
    if (!test_file_exists(path))
        point_note_lost(tally, p, "the whole file is gone, %lld acked", (long long)acked);
    else if (!point_is_whole(path, &problem))
        point_note_corrupt(tally, p, "%s", problem);
    else if (number(path, "select count(*) from rows") < acked)
        point_note_lost(tally, p, "%lld acked", (long long)acked);
    else if (number(path, "select count(*) from rows") !=
             number(path, "select count(*) from twins"))
        point_note_corrupt(tally, p, "half a transaction");
}

static point_tally run_rows(const char *what, uint64_t points, bool is_lying)
{
    const char *argv[] = {test_build_path("tests/powerloss_victim"), "rows", "DIR", "60", NULL};
    point_tally tally = {.what = what, .is_control = is_lying};
    test_rng rng = test_random(1);
    point p = point_begin(&(point_plan){.argv = argv});
    uint64_t changes = p.changes;

    CHECK_EQ(last_ack(p.acks), 60);
    CHECK_LT(200, changes);
    check_rows(&tally, &p);
    point_end(&p);
    for (; tally.points < points; tally.points++) {
        p = point_begin(&(point_plan){.argv = argv,
                                      .at = 1 + test_rng_below(&rng, changes),
                                      .seed = tally.points,
                                      .is_lying = is_lying});
        tally.dark += p.went_dark;
        check_rows(&tally, &p);
        point_end(&p);
    }
    point_report(&tally);
    return tally;
}

/* SQLite keeps its promise on an honest disk; a shim under which it does not is wrong. */
TEST(powerloss_shim, honest_disk_loses_nothing_of_sqlite)
{
    run_rows("shim: sqlite", test_count(40, 300), false);
}

TEST(powerloss_shim, lying_disk_loses_rows_and_pages)
{
    point_tally tally = run_rows("shim: sqlite, lying", test_count(40, 200), true);

    CHECK(tally.lost > 0);
    CHECK(tally.corrupt > 0);
}

static point_tally run_names(const char *mode, uint64_t points, bool is_control)
{
    const char *argv[] = {test_build_path("tests/powerloss_victim"), mode, "DIR", "10", NULL};
    point_tally tally = {.what = test_format("shim: %s", mode), .is_control = is_control};
    test_rng rng = test_random(2);
    point p = point_begin(&(point_plan){.argv = argv});
    uint64_t changes = p.changes;

    point_end(&p);
    for (; tally.points < points; tally.points++) {
        p = point_begin(&(point_plan){
            .argv = argv, .at = 1 + test_rng_below(&rng, changes), .seed = tally.points});
        tally.dark += p.went_dark;
        for (int64_t n = last_ack(p.acks); n > 0; n--) {
            const char *path = test_path(p.dir, test_format("%lld", (long long)n));

            if (!test_file_exists(path))
                point_note_lost(&tally, &p, "%lld", (long long)n);
            else
                CHECK_STR_EQ(test_read_file(path), "whole\n"); /* It was fsynced. */
        }
        point_end(&p);
    }
    point_report(&tally);
    return tally;
}

/* Backups end with a rename: without an fsync of the directory it may not have happened. */
TEST(powerloss_shim, names_vanish_unless_their_directory_was_synced)
{
    run_names("names", 40, true);
    run_names("safe-names", 40, false);
}
