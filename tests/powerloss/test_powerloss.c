/* test_powerloss.c - loci on a disk that loses its power: what was acknowledged is there
 * afterwards, the log equals the projections, and the file is whole. `kill -9` would prove nothing:
 * the kernel keeps what was written. The batch runs are single-threaded and repeatable from the
 * numbers a failure prints; the threaded ones are not, so their directory is kept. */
#include "acks.h"

#include <string.h>

#include "lib/process.h"

#define BATCH_LINES 40

/* The nth line of a batch. DIR stands for the directory of the point. */
static const char *batch_line(int n)
{
    if (n % 10 == 4)
        return test_format(
            "{\"op\":\"config.set\",\"args\":{\"name\":\"job.keep_hours\",\"value\":%d}}\n", n);
    if (n % 10 == 7)
        return test_format("{\"op\":\"fact.write\",\"args\":{\"user_id\":\"u%d\",\"key\":\"k%d\","
                           "\"value\":%d,\"request_id\":\"r%d\"}}\n",
                           n % 3, n % 5, n, n);
    return test_format("{\"op\":\"fact.write\",\"args\":{\"user_id\":\"u%d\",\"key\":\"k%d\","
                       "\"value\":{\"n\":%d,\"text\":\"%0*d\"}}}\n",
                       n % 3, n % 5, n, n * 37 % 900, n);
}

static loci_str batch_input(const char *middle)
{
    size_t bytes_max = (BATCH_LINES + 1) * 1200;
    char *text = test_bytes(bytes_max);
    size_t at = 0;

    for (int n = 0; n < BATCH_LINES; n++) {
        const char *line = n == BATCH_LINES / 2 && middle != NULL ? middle : batch_line(n);

        CHECK_LT(at + strlen(line), bytes_max);
        memcpy(text + at, line, strlen(line));
        at += strlen(line);
    }
    return (loci_str){text, at};
}

/* A check of one point; `acks` is what was acknowledged. */
typedef void point_check(point_tally *tally, const point *p, const ack_list *acks);

typedef struct series {
    const char *what;
    const char *const *argv;
    loci_str input; /* Of a batch; empty = acknowledgements come over the descriptor. */
    uint64_t points;
    uint64_t seed;
    bool is_lying;
    const char *like;
    point_check *check;
} series;

static void run_point(const series *s, point_tally *tally, uint64_t at)
{
    static ack_list acks;
    point p = point_begin(&(point_plan){.argv = s->argv,
                                        .input = s->input,
                                        .at = at,
                                        .seed = s->seed + tally->points,
                                        .is_lying = s->is_lying,
                                        .like = s->like});

    acks.count = 0;
    if (s->input.len > 0)
        acks_read_batch(&acks, p.input, p.out);
    else
        acks_read_lines(&acks, p.acks);
    tally->dark += p.went_dark;
    s->check(tally, &p, &acks);
    point_end(&p);
}

static void run_series(const series *s)
{
    point_tally tally = {.what = s->what, .is_control = s->is_lying};
    test_rng rng = test_random(s->seed);
    point p = point_begin(
        &(point_plan){.argv = s->argv, .input = s->input, .seed = s->seed, .like = s->like});
    uint64_t changes = p.changes;

    test_timeout(600);
    CHECK(!p.went_dark);
    point_end(&p);
    for (; tally.points < s->points; tally.points++)
        run_point(s, &tally, 1 + test_rng_below(&rng, changes));
    point_report(&tally);
}

static void check_store(point_tally *tally, const point *p, const ack_list *acks)
{
    acks_check(acks, acks->count, test_path(p->dir, "store.db"), tally, p);
}

TEST(powerloss, batch_loses_nothing_acknowledged)
{
    const char *argv[] = {test_loci(), "batch", "--store", "DIR/store.db", "--seed", "1", NULL};

    run_series(&(series){.what = "batch",
                         .argv = argv,
                         .input = batch_input(NULL),
                         .points = test_count(25, 300),
                         .seed = 100,
                         .check = check_store});
}

/* A test that cannot see a loss proves nothing: when fsync does nothing, there must be losses. */
TEST(powerloss, batch_on_a_lying_disk_is_seen_to_lose)
{
    const char *argv[] = {test_loci(), "batch", "--store", "DIR/store.db", "--seed", "1", NULL};

    run_series(&(series){.what = "batch, lying",
                         .argv = argv,
                         .input = batch_input(NULL),
                         .points = test_count(12, 60),
                         .seed = 100,
                         .is_lying = true,
                         .check = check_store});
}

TEST(powerloss, threads_with_group_commit_lose_nothing_acknowledged)
{
    const char *argv[] = {test_build_path("tests/powerloss_writers"), "DIR/store.db", "20", NULL};

    run_series(&(series){.what = "8 threads",
                         .argv = argv,
                         .points = test_count(25, 300),
                         .seed = 200,
                         .check = check_store});
}

TEST(powerloss, threads_on_a_lying_disk_are_seen_to_lose)
{
    const char *argv[] = {test_build_path("tests/powerloss_writers"), "DIR/store.db", "20", NULL};

    run_series(&(series){.what = "8 threads, lying",
                         .argv = argv,
                         .points = test_count(12, 60),
                         .seed = 200,
                         .is_lying = true,
                         .check = check_store});
}

/* A backup that was acknowledged is there under its name, whole, and holds all that was
 * acknowledged before it began. One that was not may be missing, but what has its name is whole. */
static void check_backup(point_tally *tally, const point *p, const ack_list *acks)
{
    const char *backup = test_path(p->dir, "backup.db");
    size_t before = 0;

    check_store(tally, p, acks);
    while (before < acks->count && strcmp(acks->items[before].op.ptr, "store.backup") != 0)
        before++;
    if (before == acks->count && !test_file_exists(backup))
        return;
    if (before == acks->count)
        before = 0; /* Not acknowledged: it need hold nothing. */
    acks_check(acks, before, backup, tally, p);
}

TEST(powerloss, backup_is_whole_or_not_there)
{
    const char *argv[] = {test_loci(), "batch", "--store", "DIR/store.db", "--seed", "1", NULL};

    run_series(&(series){
        .what = "backup",
        .argv = argv,
        .input = batch_input("{\"op\":\"store.backup\",\"args\":{\"path\":\"DIR/backup.db\"}}\n"),
        .points = test_count(10, 120),
        .seed = 300,
        .check = check_backup});
}

/* A rebuild is a job of many commits that ends by exchanging tables. */
TEST(powerloss, rebuild_can_be_interrupted_anywhere)
{
    const char *argv[] = {test_loci(), "batch", "--store", "DIR/store.db", "--seed", "1", NULL};

    run_series(&(series){.what = "rebuild",
                         .argv = argv,
                         .input = batch_input("{\"op\":\"store.rebuild\",\"args\":{}}\n"),
                         .points = test_count(10, 100),
                         .seed = 500,
                         .check = check_store});
}

/* Ten facts, a backup, ten more, the backup restored, ten more. */
static loci_str restore_input(void)
{
    char *text = test_bytes(40 * 200);
    size_t at = 0;

    for (int n = 0; n < 30; n++) {
        const char *line = test_format(
            "{\"op\":\"fact.write\",\"args\":{\"key\":\"k%d\",\"value\":%d}}\n%s", n % 7, n,
            n == 9    ? "{\"op\":\"store.backup\",\"args\":{\"path\":\"DIR/backup.db\"}}\n"
            : n == 19 ? "{\"op\":\"store.restore\",\"args\":{\"path\":\"DIR/backup.db\"}}\n"
                      : "");

        memcpy(text + at, line, strlen(line));
        at += strlen(line);
    }
    return (loci_str){text, at};
}

/* Keeps the facts acknowledged in one of the three stretches that backup and restore divide. */
static void keep_stretch(const ack_list *acks, int wanted, ack_list *out)
{
    int stretch = 0;

    out->count = 0;
    for (size_t i = 0; i < acks->count; i++) {
        if (strcmp(acks->items[i].op.ptr, "fact.write") != 0)
            stretch++;
        else if (stretch == wanted)
            out->items[out->count++] = acks->items[i];
    }
}

/* A restore is one step: afterwards the store holds what it held before, or what the backup holds.
 */
static void check_restore(point_tally *tally, const point *p, const ack_list *acks)
{
    static ack_list stretch;
    const char *store = test_path(p->dir, "store.db");
    point_tally middle = {.what = tally->what, .is_control = true};

    keep_stretch(acks, 0, &stretch);
    acks_check(&stretch, stretch.count, store, tally, p);
    if (acks_has(acks, "store.restore")) {
        keep_stretch(acks, 2, &stretch);
        acks_check(&stretch, stretch.count, store, tally, p);
        return;
    }
    keep_stretch(acks, 1, &stretch);
    acks_check(&stretch, stretch.count, store, &middle, p);
    if (middle.corrupt > 0 || (middle.lost > 0 && middle.lost < stretch.count))
        point_note_corrupt(tally, p, "half restored: %llu of %zu are gone",
                           (unsigned long long)middle.lost, stretch.count);
    else if (middle.lost > 0 && stretch.count < 10)
        point_note_lost(tally, p, "gone before the restore could have begun");
}

TEST(powerloss, restore_is_whole_or_did_not_happen)
{
    const char *argv[] = {test_loci(), "batch", "--store", "DIR/store.db", "--seed", "1", NULL};

    run_series(&(series){.what = "restore",
                         .argv = argv,
                         .input = restore_input(),
                         .points = test_count(15, 150),
                         .seed = 400,
                         .check = check_restore});
}
