/* Backup and restore: a copy that is whole, and never less than what was there before. */
#include "contract/note_fixture.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "store/backup.h"
#include "store/schema.h"

static const lc_sql events_sql = {"select count(*) from events", "", "i"};

static lc_upkeep upkeep_of(notes *n)
{
    return (lc_upkeep){.db = n->db, .plan = &n->plan};
}

static int files_in(const char *dir)
{
    DIR *stream = opendir(dir);
    int count = 0;

    for (struct dirent *entry = readdir(stream); entry != NULL; entry = readdir(stream))
        count += entry->d_name[0] != '.';
    (void)closedir(stream);
    return count;
}

TEST_ON(TEST_FILES, backup, a_backup_is_a_store)
{
    const char *dir = test_tmpdir();
    const char *path = test_path(dir, "backup.db");
    int64_t bytes = 0;
    notes n, copy;
    lc_upkeep upkeep;
    struct stat info;

    notes_open(&n, NULL);
    notes_fill(&n, "ann", 2000);
    upkeep = upkeep_of(&n);
    CHECK_OK(lc_backup(&upkeep, path, false, &bytes, &n.err), n.err);
    CHECK_EQ(files_in(dir), 1);
    CHECK_EQ(stat(path, &info), 0);
    CHECK_EQ(bytes, info.st_size);
    CHECK_EQ(info.st_mode & 077, 0); /* It holds people's words. */
    notes_write(&n, "ann", 1, "later");

    notes_open(&copy, path);
    CHECK_EQ(notes_number(&copy, &events_sql), 2000);
    notes_expect_sound(&copy);
    notes_close(&copy);
    notes_close(&n);
}

TEST_ON(TEST_FILES, backup, does_not_overwrite_unless_told)
{
    const char *dir = test_tmpdir();
    const char *path = test_path(dir, "backup.db");
    int64_t bytes;
    notes n;
    lc_upkeep upkeep;

    notes_open(&n, NULL);
    notes_fill(&n, "ann", 5);
    upkeep = upkeep_of(&n);
    test_write_file(path, LC_STR("precious"));
    CHECK_STATUS(LOCI_ECONFLICT, lc_backup(&upkeep, path, false, &bytes, &n.err));
    CHECK_CONTAINS(n.err.message, "exists");
    CHECK_STR_EQ(test_read_file(path), "precious");
    CHECK_OK(lc_backup(&upkeep, path, true, &bytes, &n.err), n.err);
    CHECK_OK(lc_backup_check(&upkeep, path, NULL, &n.err), n.err);
    CHECK_STATUS(LOCI_ENOTFOUND,
                 lc_backup(&upkeep, test_path(dir, "no/where"), false, &bytes, &n.err));
    CHECK_STATUS(LOCI_EINVAL, lc_backup(&upkeep, dir, true, &bytes, &n.err));
    CHECK_EQ(files_in(dir), 1);
    notes_close(&n);
}

static loci_status give_up(void *ctx, const char *what, int64_t done, int64_t total,
                           loci_error *err)
{
    (void)ctx;
    (void)what;
    (void)done;
    (void)total;
    return lc_fail(err, LOCI_ECANCELLED, "enough");
}

TEST_ON(TEST_FILES, backup, one_that_is_given_up_leaves_nothing)
{
    const char *dir = test_tmpdir();
    int64_t bytes;
    notes n;
    lc_upkeep upkeep;

    notes_open(&n, NULL);
    upkeep = upkeep_of(&n);
    upkeep.progress = give_up;
    CHECK_STATUS(LOCI_ECANCELLED,
                 lc_backup(&upkeep, test_path(dir, "backup.db"), false, &bytes, &n.err));
    CHECK_EQ(files_in(dir), 0);
    notes_close(&n);
}

TEST_ON(TEST_FILES, backup, restore_brings_the_copy_back)
{
    const char *path = test_path(test_tmpdir(), "backup.db");
    lc_backup_facts facts;
    lc_hash128 before;
    int64_t bytes;
    notes n;
    lc_upkeep upkeep;

    notes_open(&n, NULL);
    notes_fill(&n, "ann", 300);
    before = notes_hash(&n);
    upkeep = upkeep_of(&n);
    CHECK_OK(lc_backup(&upkeep, path, false, &bytes, &n.err), n.err);
    notes_fill(&n, "bob", 1000);
    notes_damage(&n, "delete from notes");
    CHECK_OK(lc_restore(&upkeep, path, &facts, &n.err), n.err);
    CHECK_EQ(facts.schema_version, LC_SCHEMA_VERSION);
    CHECK_STR_EQ(facts.store_id, n.db->store_id);
    CHECK_EQ(notes_number(&n, &events_sql), 300);
    CHECK(lc_hash128_eq(before, notes_hash(&n)));
    notes_expect_sound(&n);
    notes_write(&n, "ann", 5, "goes on");
    notes_expect_sound(&n);
    notes_close(&n);
}

/* What must not be restored, and why. */
static void check_refused(const char *path, loci_status expected)
{
    lc_hash128 before;
    notes n;
    lc_upkeep upkeep;

    notes_open(&n, NULL);
    notes_fill(&n, "ann", 10);
    before = notes_hash(&n);
    upkeep = upkeep_of(&n);
    CHECK_STATUS(expected, lc_restore(&upkeep, path, NULL, &n.err));
    CHECK(lc_hash128_eq(before, notes_hash(&n)));
    notes_expect_sound(&n);
    notes_close(&n);
}

static loci_status set_version(lc_tx *tx, void *ctx, loci_error *err)
{
    return lc_meta_set_i64(tx, "schema_version", *(const int *)ctx, err);
}

TEST_ON(TEST_FILES, backup, only_sound_stores_of_a_known_schema_are_restored)
{
    const char *dir = test_tmpdir();
    const char *path = test_path(dir, "other.db");
    int newer = LC_SCHEMA_VERSION + 1;
    loci_str bytes;
    char *damaged;
    notes n;

    check_refused(test_path(dir, "nothing"), LOCI_ENOTFOUND);
    check_refused(dir, LOCI_EINVAL);
    test_write_file(path, LC_STR(""));
    check_refused(path, LOCI_ECORRUPT);
    test_write_file(path,
                    LC_STR("this is not a database, but long enough to have been one, or is it?"
                           " It goes on and on and does not become one."));
    check_refused(path, LOCI_ECORRUPT);
    (void)unlink(path);

    notes_open(&n, path);
    notes_fill(&n, "ann", 500);
    CHECK_OK(notes_do(&n, "", set_version, &newer), n.err);
    notes_close(&n);
    check_refused(path, LOCI_EUNSUPPORTED);

    newer = LC_SCHEMA_VERSION;
    (void)unlink(path);
    notes_open(&n, path);
    notes_fill(&n, "ann", 500);
    notes_close(&n);
    bytes = test_read_file(path);
    damaged = test_bytes(bytes.len);
    memcpy(damaged, bytes.ptr, bytes.len);
    memset(damaged + bytes.len / 2, 0xA5, 8000);
    test_write_file(path, (loci_str){damaged, bytes.len});
    check_refused(path, LOCI_ECORRUPT);
}

TEST_ON(TEST_FILES, backup, an_older_shape_is_rebuilt_when_it_is_restored)
{
    const char *path = test_path(test_tmpdir(), "old.db");
    lc_hash128 expected;
    notes n, old;
    lc_upkeep upkeep;

    notes_open(&old, path);
    notes_fill(&old, "ann", 50);
    expected = notes_hash(&old);
    notes_damage(&old, "drop table notes; create table notes (a text);"
                       "update meta set value = '1' where name = 'projection_shape'");
    notes_close(&old);
    notes_open(&n, NULL);
    upkeep = upkeep_of(&n);
    CHECK_OK(lc_restore(&upkeep, path, NULL, &n.err), n.err);
    CHECK(lc_hash128_eq(expected, notes_hash(&n)));
    notes_close(&n);
}

/* ---- The mark -------------------------------------------------------------------------------- */

typedef struct other {
    lc_db *db; /* As another process has one. */
    int64_t events;
    int64_t mark;
    int seen; /* How often it saw the content of the backup. */
} other;

static loci_status look(lc_tx *tx, void *ctx, loci_error *err)
{
    other *o = ctx;
    loci_status status = lc_tx_find_numbers(tx, &events_sql, NULL, &o->events, err);

    return status == LOCI_OK ? lc_tx_restore_mark(tx, &o->mark, err) : status;
}

/* The content and its mark are one commit. */
static loci_status compare_with_mark(void *ctx, const char *what, int64_t done, int64_t total,
                                     loci_error *err)
{
    other *o = ctx;
    loci_status status = lc_db_read(o->db, INT64_MAX, look, o, err);

    (void)what;
    (void)done;
    (void)total;
    CHECK_EQ(status, LOCI_OK);
    CHECK_EQ(o->events == 10, o->mark != 0);
    o->seen += o->events == 10;
    return LOCI_OK;
}

/* Caches of other processes are judged by the mark: with a moment between the two commits they
 * would keep what is gone. */
TEST_ON(TEST_FILES, backup, what_is_restored_comes_with_its_mark)
{
    const char *path = test_path(test_tmpdir(), "backup.db");
    const char *store = test_path(test_tmpdir(), "store.db");
    lc_backup_facts facts;
    int64_t bytes;
    other o = {0};
    notes n;
    lc_upkeep upkeep;

    notes_open(&n, store);
    notes_fill(&n, "ann", 10);
    upkeep = upkeep_of(&n);
    CHECK_OK(lc_backup(&upkeep, path, false, &bytes, &n.err), n.err);
    notes_fill(&n, "bob", 5);
    CHECK_OK(n.db->driver->open(n.db->env, n.db->catalogue, &(lc_db_target){.store = store}, &o.db,
                                &n.err),
             n.err);
    upkeep.progress = compare_with_mark;
    upkeep.ctx = &o;
    CHECK_OK(lc_restore(&upkeep, path, &facts, &n.err), n.err);
    CHECK_LT(0, o.seen);
    lc_db_close(o.db);
    notes_expect_sound(&n);
    notes_close(&n);
}
