/* store.recover on files that are really damaged: it saves every event whose page can be read,
 * makes up none, and never writes to the damaged file. */
#include "lib/calls.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/str.h"
#include "lib/files.h"
#include "lib/random.h"

#define PAGE 4096u
#define EVENTS 120

typedef struct bench {
    const char *dir;
    loci_engine *engine; /* A store that has nothing to do with the damaged one. */
    loci_str file;       /* An undamaged store, */
    loci_str log;        /* and its export. */
    const char *damaged;
    const char *fresh;
} bench;

/* A fact that takes several overflow pages. */
static void write_large(loci_engine *engine, int number)
{
    char value[30001];
    size_t bytes = sizeof value + 100;
    char *args = malloc(bytes);
    loci_error err;

    memset(value, 'x', sizeof value - 1);
    value[sizeof value - 1] = '\0';
    (void)snprintf(args, bytes, "{\"key\":\"large%d\",\"value\":\"%s\",\"user_id\":\"user0\"}",
                   number, value);
    CHECK_STATUS(LOCI_OK, test_try(engine, "fact.write", loci_str_of(args), &err));
    free(args);
}

static void fill(loci_engine *engine)
{
    for (int i = 0; i < EVENTS; i++) {
        (void)test_call(engine, "fact.write", "{'key':'k%d','value':'value %d','user_id':'user%d'}",
                        i % 40, i, i % 3);
        if (i % 10 == 0)
            (void)test_call(engine, "memory.store",
                            "{'text':'Lives in town %d','user_id':'user%d'}", i, i % 3);
        if (i % 40 == 0)
            write_large(engine, i);
    }
    (void)test_call(engine, "config.set", "{'name':'call.timeout_ms','value':12345}");
}

static loci_str export_of(const char *store, const char *path)
{
    loci_engine *engine = test_open(store);
    loci_str text;

    (void)test_call(engine, "store.export", "{'path':'%s','force':true}", path);
    text = test_read_file(path);
    test_close(engine);
    return text;
}

static bench open_bench(void)
{
    bench b = {.dir = test_tmpdir()};
    const char *store = test_path(b.dir, "whole.db");
    loci_engine *engine = test_open(store);

    fill(engine);
    test_close(engine);
    b.log = export_of(store, test_path(b.dir, "whole.jsonl"));
    b.file = test_read_file(store);
    b.damaged = test_path(b.dir, "damaged.db");
    b.fresh = test_path(b.dir, "damaged.db.recovered");
    b.engine = test_open(test_path(b.dir, "other.db"));
    return b;
}

static loci_str recover(const bench *b, loci_str content)
{
    loci_str answer, after;

    test_write_file(b->damaged, content);
    answer = test_call(b->engine, "store.recover", "{'path':'%s','force':true}", b->damaged);
    after = test_read_file(b->damaged);
    CHECK(lc_str_eq(after, content));
    CHECK(!test_file_exists(test_path(b->dir, "damaged.db-shm")));
    return answer;
}

/* How many events the new store has, all of which must be in the old one: equal, or, when single
 * bytes were changed, at least under the same seq of the same user. */
static int64_t check_new_store(const bench *b, bool is_exact)
{
    loci_str text = export_of(b->fresh, test_path(b->dir, "new.jsonl")), line;
    int64_t count = 0;

    while (text.ptr != NULL && text.len > 0) {
        const char *type;
        char *copy;

        line = lc_str_split(text, '\n', &text);
        copy = strndup(line.ptr, line.len);
        type = strstr(copy, ",\"type\":");
        if (strncmp(copy, "{\"tenant\":", 10) == 0 && type != NULL &&
            strncmp(type, ",\"type\":\"event.lost\"", 20) != 0) {
            if (!is_exact)
                copy[type - copy] = '\0';
            if (strstr(b->log.ptr, copy) == NULL)
                test_fail(__FILE__, __LINE__, "an event was made up");
            count++;
        }
        free(copy);
    }
    return count;
}

static void close_bench(bench *b)
{
    test_close(b->engine);
}

static int64_t count_lines(loci_str text, const char *with)
{
    int64_t count = 0;

    for (const char *at = text.ptr; (at = strstr(at, with)) != NULL; at++)
        count++;
    return count;
}

TEST_ON(TEST_FILES, recover, an_undamaged_store_is_copied_whole)
{
    bench b = open_bench();
    loci_str answer = recover(&b, b.file), copy;

    CHECK_EQ(test_member_int(answer, "events_lost"), 0);
    CHECK_EQ(test_member_int(answer, "users"), 3);
    CHECK_EQ(test_member_int(answer, "settings"), 1);
    CHECK_STR_EQ(test_member(answer, "sound"), "true");
    CHECK_STR_EQ(test_member(answer, "wal_damaged"), "false");
    CHECK_EQ(test_member_int(answer, "events"), count_lines(b.log, ",\"seq\":"));
    copy = export_of(b.fresh, test_path(b.dir, "new.jsonl"));
    /* Only the first line, with the id of the store, differs. */
    CHECK_STR_EQ(strchr(copy.ptr, '\n'), strchr(b.log.ptr, '\n'));
    close_bench(&b);
}

/* Whatever leads to the rows may be gone: the header, the schema, all interior pages. */
TEST_ON(TEST_FILES, recover, nothing_but_the_rows_is_needed)
{
    bench b = open_bench();
    char *bytes = (char *)b.file.ptr;
    loci_str answer;

    memset(bytes, 0x5A, PAGE);
    for (size_t page = 1; page < b.file.len / PAGE; page++) {
        if (bytes[page * PAGE] == 0x05 || bytes[page * PAGE] == 0x02)
            memset(bytes + page * PAGE + 1, 0xFF, 100);
    }
    answer = recover(&b, b.file);
    CHECK_EQ(test_member_int(answer, "events_lost"), 0);
    CHECK_STR_EQ(test_member(answer, "sound"), "true");
    CHECK_EQ(check_new_store(&b, true), count_lines(b.log, ",\"seq\":"));
    close_bench(&b);
}

/* The place of a lost event is kept, and said. */
TEST_ON(TEST_FILES, recover, lost_events_leave_gaps_that_are_reported)
{
    bench b = open_bench();
    char *bytes = (char *)b.file.ptr;
    int64_t all = count_lines(b.log, ",\"seq\":"), lost;
    loci_engine *engine;
    loci_str answer;
    loci_error err;
    int zeroed = 0;

    for (size_t page = 1; page < b.file.len / PAGE && zeroed < 2; page++) {
        if (bytes[page * PAGE] == 0x0D && memmem(bytes + page * PAGE, PAGE, "fact.written", 12) &&
            memmem(bytes + page * PAGE, PAGE, "user1", 5)) {
            memset(bytes + page * PAGE, 0, PAGE);
            zeroed++;
        }
    }
    CHECK_EQ(zeroed, 2);
    answer = recover(&b, b.file);
    lost = test_member_int(answer, "events_lost");
    CHECK_LT(0, lost);
    CHECK_EQ(test_member_int(answer, "events") + lost, all);
    CHECK_EQ(check_new_store(&b, true), test_member_int(answer, "events"));
    CHECK_STR_EQ(test_member(answer, "sound"), "true");
    CHECK_STR_EQ(test_member_text(answer, "lost.0.tenant_id"), "default");
    CHECK_LE(test_member_int(answer, "lost.0.first_seq"),
             test_member_int(answer, "lost.0.last_seq"));

    /* It is a store like any other. */
    engine = test_open(b.fresh);
    (void)test_call(engine, "fact.write", "{'key':'city','value':'Oslo','user_id':'user1'}");
    (void)test_call(engine, "store.verify", "{}");
    test_close(engine);
    CHECK_STATUS(LOCI_ECONFLICT,
                 test_try(b.engine, "store.recover",
                          loci_str_of(test_format("{\"path\":\"%s\"}", b.damaged)), &err));
    close_bench(&b);
}

TEST_ON(TEST_FILES, recover, a_file_without_events_creates_nothing)
{
    bench b = open_bench();
    const char *const contents[] = {"", "SQLite format 3", "a letter to a friend\n"};
    loci_str args = loci_str_of(test_format("{\"path\":\"%s\"}", b.damaged));
    loci_error err;

    for (size_t i = 0; i < sizeof contents / sizeof *contents; i++) {
        test_write_file(b.damaged, loci_str_of(contents[i]));
        CHECK_STATUS(LOCI_ENOTFOUND, test_try(b.engine, "store.recover", args, &err));
        CHECK_CONTAINS(err.message, "nothing was created");
        CHECK(!test_file_exists(b.fresh));
    }
    CHECK_STATUS(LOCI_ENOTFOUND,
                 test_try(b.engine, "store.recover", LC_STR("{\"path\":\"/no/such.db\"}"), &err));
    CHECK_STATUS(LOCI_EINVAL,
                 test_try(b.engine, "store.recover", LC_STR("{\"path\":\"/dev/null\"}"), &err));
    args = loci_str_of(test_format("{\"path\":\"%s\"}", test_path(b.dir, "other.db")));
    CHECK_STATUS(LOCI_EINVAL, test_try(b.engine, "store.recover", args, &err));
    CHECK_CONTAINS(err.message, "is the store that is open here");
    close_bench(&b);
}

/* Writes that were not moved into the file yet are in its write-ahead log. A damaged log counts up
 * to the damage. */
TEST_ON(TEST_FILES, recover, the_write_ahead_log_is_read)
{
    bench b = open_bench();
    const char *store = test_path(b.dir, "whole.db");
    loci_engine *engine = test_open(store);
    loci_str file, wal, answer;
    int64_t before = count_lines(b.log, ",\"seq\":"), with_half;

    for (int i = 0; i < 20; i++)
        (void)test_call(engine, "fact.write", "{'key':'late%d','value':1,'user_id':'user0'}", i);
    file = test_read_file(store);
    wal = test_read_file(test_path(b.dir, "whole.db-wal"));
    test_close(engine);
    b.log = export_of(store, test_path(b.dir, "whole.jsonl"));

    test_write_file(test_path(b.dir, "damaged.db-wal"), wal);
    answer = recover(&b, file);
    CHECK_EQ(test_member_int(answer, "events"), before + 20);
    CHECK_EQ(check_new_store(&b, true), before + 20);
    CHECK_STR_EQ(test_member(answer, "wal_damaged"), "false");

    ((char *)wal.ptr)[wal.len / 2] ^= 1;
    test_write_file(test_path(b.dir, "damaged.db-wal"), wal);
    answer = recover(&b, file);
    with_half = test_member_int(answer, "events");
    CHECK_LT(before, with_half);
    CHECK_LT(with_half, before + 20);
    CHECK_EQ(check_new_store(&b, true), with_half);
    CHECK_STR_EQ(test_member(answer, "wal_damaged"), "true");
    CHECK_STR_EQ(test_member(answer, "sound"), "true");
    close_bench(&b);
}

/* ---- Random damage --------------------------------------------------------------------------- */

/* Damages the copy at `bytes`; returns its new length. */
static size_t damage(test_rng *rng, char *bytes, size_t len, bool *is_exact)
{
    size_t pages = len / PAGE;
    int64_t times = test_rng_between(rng, 1, 12);

    for (int64_t i = 0; i < times; i++) {
        char *page = bytes + test_rng_below(rng, pages) * PAGE;

        switch (test_rng_below(rng, 6)) {
        case 0:
            memset(page, 0, PAGE);
            break;
        case 1:
            test_rng_fill(rng, page, PAGE);
            break;
        case 2: /* The page of another place; it may fit into the middle of a long text. */
            *is_exact = false;
            memmove(page, bytes + test_rng_below(rng, pages) * PAGE, PAGE);
            break;
        case 3:
            test_rng_fill(rng, page, 16);
            break;
        case 4: /* Only the last one to happen counts: pages are chosen from all. */
            if (i + 1 == times)
                len -= test_rng_below(rng, len / 2);
            break;
        default:
            *is_exact = false;
            for (int flip = 0; flip < 8; flip++)
                page[test_rng_below(rng, PAGE)] ^= (char)(1 << test_rng_below(rng, 8));
            break;
        }
    }
    return len;
}

/* Each run ends, by itself, with a new store whose events were all in the old one, or with none. */
TEST_ON(TEST_FILES, recover, random_damage_never_makes_up_an_event)
{
    test_rng rng = test_random(20261117);
    uint64_t runs = test_count(25, 400);
    bench b = open_bench();
    char *bytes = malloc(b.file.len);
    loci_error err;

    test_timeout(300);
    for (uint64_t run = 0; run < runs; run++) {
        loci_str args = loci_str_of(test_format("{\"path\":\"%s\",\"force\":true}", b.damaged));
        bool is_exact = true;
        loci_status status;
        size_t len;

        memcpy(bytes, b.file.ptr, b.file.len);
        len = damage(&rng, bytes, b.file.len, &is_exact);
        test_write_file(b.damaged, (loci_str){bytes, len});
        status = test_try(b.engine, "store.recover", args, &err);
        if (status == LOCI_OK)
            CHECK_LT(0, check_new_store(&b, is_exact));
        else
            CHECK_STATUS(LOCI_ENOTFOUND, status);
    }
    free(bytes);
    close_bench(&b);
}
