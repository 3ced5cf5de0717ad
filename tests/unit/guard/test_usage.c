/* test_usage.c - the registry: exact sums whatever threads do, refusals, and bad input. */
#include "guard/usage.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "lib/heap.h"
#include "lib/random.h"
#include "lib/test.h"

#define KB 1024ll
#define MB (1024 * KB)

static lc_heap heap;

static lc_usage *new_usage(void)
{
    lc_usage *usage = NULL;
    loci_error err;

    lc_heap_init(&heap, test_heap());
    CHECK_OK(lc_usage_new(&heap, &usage, &err), err);
    return usage;
}

static void set_cap(lc_usage *usage, int64_t bytes)
{
    lc_usage_set_caps(usage, (const int64_t[LC_WORK_KINDS]){bytes, bytes, bytes});
}

TEST(guard_usage, sums_are_per_category)
{
    lc_usage *usage = new_usage();
    loci_error err;

    CHECK_STATUS(LOCI_OK, lc_usage_charge(usage, LOCI_MEM_CACHES, LOCI_WORK_NORMAL, 100));
    CHECK_STATUS(LOCI_OK, lc_usage_charge(usage, LOCI_MEM_WAL, LOCI_WORK_BULK, 7 * MB));
    CHECK_OK(lc_usage_report(usage, LC_STR("index"), LOCI_MEM_CACHES, 11, &err), err);
    CHECK_EQ(lc_usage_total(usage, LOCI_MEM_CACHES), 111);
    CHECK_EQ(lc_usage_total(usage, LOCI_MEM_WAL), 7 * MB);
    CHECK_EQ(lc_usage_total(usage, LOCI_MEM_CATEGORIES), 7 * MB + 111);
    CHECK_STATUS(LOCI_OK, lc_usage_uncharge(usage, LOCI_MEM_WAL, 7 * MB));
    CHECK_STATUS(LOCI_OK, lc_usage_uncharge(usage, LOCI_MEM_CACHES, 100));
    CHECK_OK(lc_usage_release(usage, LC_STR("index"), &err), err);
    CHECK_EQ(lc_usage_total(usage, LOCI_MEM_CATEGORIES), 0);
    lc_usage_free(usage);
}

/* A charge is refused before the memory is there: what a sampler sees too late. */
TEST(guard_usage, a_charge_above_the_cap_is_refused_and_changes_nothing)
{
    lc_usage *usage = new_usage();
    int64_t charged = 0;

    set_cap(usage, 10 * MB);
    while (lc_usage_charge(usage, LOCI_MEM_CACHES, LOCI_WORK_NORMAL, 4 * KB) == LOCI_OK)
        charged += 4 * KB;
    CHECK_EQ(charged, 10 * MB);
    CHECK_EQ(lc_usage_total(usage, LOCI_MEM_CACHES), 10 * MB);
    CHECK_EQ(lc_usage_refused(usage), 1);
    CHECK_STATUS(LOCI_ERESOURCE, lc_usage_charge(usage, LOCI_MEM_WAL, LOCI_WORK_NORMAL, MB));
    CHECK_EQ(lc_usage_total(usage, LOCI_MEM_WAL), 0);
    /* Freed bytes can be charged again, to the byte. */
    CHECK_STATUS(LOCI_OK, lc_usage_uncharge(usage, LOCI_MEM_CACHES, MB));
    CHECK_STATUS(LOCI_OK, lc_usage_charge(usage, LOCI_MEM_WAL, LOCI_WORK_NORMAL, MB));
    CHECK_STATUS(LOCI_ERESOURCE, lc_usage_charge(usage, LOCI_MEM_WAL, LOCI_WORK_NORMAL, 1));
    CHECK_STATUS(LOCI_ERESOURCE, lc_usage_charge(usage, LOCI_MEM_WAL, LOCI_WORK_NORMAL, INT64_MAX));
    CHECK_EQ(lc_usage_total(usage, LOCI_MEM_CATEGORIES), 10 * MB);
    lc_usage_free(usage);
}

TEST(guard_usage, each_kind_of_work_has_its_cap)
{
    lc_usage *usage = new_usage();
    int64_t caps[LC_WORK_KINDS];

    caps[LOCI_WORK_BULK] = 1 * MB;
    caps[LOCI_WORK_NORMAL] = 2 * MB;
    caps[LOCI_WORK_FREES] = 3 * MB;
    lc_usage_set_caps(usage, caps);
    CHECK_STATUS(LOCI_OK, lc_usage_charge(usage, LOCI_MEM_WAL, LOCI_WORK_BULK, 1 * MB));
    CHECK_STATUS(LOCI_ERESOURCE, lc_usage_charge(usage, LOCI_MEM_WAL, LOCI_WORK_BULK, 64 * KB));
    CHECK_STATUS(LOCI_OK, lc_usage_charge(usage, LOCI_MEM_WAL, LOCI_WORK_NORMAL, 1 * MB));
    CHECK_STATUS(LOCI_ERESOURCE, lc_usage_charge(usage, LOCI_MEM_WAL, LOCI_WORK_NORMAL, 64 * KB));
    CHECK_STATUS(LOCI_OK, lc_usage_charge(usage, LOCI_MEM_WAL, LOCI_WORK_FREES, 1 * MB));
    CHECK_STATUS(LOCI_ERESOURCE, lc_usage_charge(usage, LOCI_MEM_WAL, LOCI_WORK_FREES, 64 * KB));
    lc_usage_free(usage);
}

TEST(guard_usage, bad_charges_are_refused_and_accounts_stay_right)
{
    lc_usage *usage = new_usage();

    CHECK_STATUS(LOCI_EINVAL, lc_usage_charge(usage, LOCI_MEM_WAL, LOCI_WORK_NORMAL, -1));
    CHECK_STATUS(LOCI_EINVAL, lc_usage_charge(usage, LOCI_MEM_CATEGORIES, LOCI_WORK_NORMAL, 1));
    CHECK_STATUS(LOCI_EINVAL, lc_usage_charge(usage, LOCI_MEM_WAL, (loci_work)3, 1));
    CHECK_STATUS(LOCI_EINVAL, lc_usage_uncharge(usage, LOCI_MEM_WAL, 1));
    CHECK_STATUS(LOCI_OK, lc_usage_charge(usage, LOCI_MEM_WAL, LOCI_WORK_NORMAL, 10));
    CHECK_STATUS(LOCI_EINVAL, lc_usage_uncharge(usage, LOCI_MEM_WAL, 11));
    CHECK_STATUS(LOCI_EINVAL, lc_usage_uncharge(usage, LOCI_MEM_WAL, -1));
    CHECK_STATUS(LOCI_EINVAL, lc_usage_uncharge(usage, LOCI_MEM_CACHES, 10));
    CHECK_EQ(lc_usage_total(usage, LOCI_MEM_CATEGORIES), 10);
    CHECK_STATUS(LOCI_OK, lc_usage_uncharge(usage, LOCI_MEM_WAL, 10));
    CHECK_EQ(lc_usage_total(usage, LOCI_MEM_CATEGORIES), 0);
    lc_usage_free(usage);
}

/* The seed's cache added the new size on every overwrite and never subtracted the old one. */
TEST(guard_usage, a_report_replaces_the_one_before)
{
    lc_usage *usage = new_usage();
    loci_error err;

    for (int i = 0; i < 1000; i++)
        CHECK_OK(lc_usage_report(usage, LC_STR("c"), LOCI_MEM_CACHES, 5 * MB, &err), err);
    CHECK_EQ(lc_usage_total(usage, LOCI_MEM_CATEGORIES), 5 * MB);
    CHECK_OK(lc_usage_report(usage, LC_STR("c"), LOCI_MEM_LLM_BUFFERS, 3, &err), err);
    CHECK_EQ(lc_usage_total(usage, LOCI_MEM_CACHES), 0);
    CHECK_EQ(lc_usage_total(usage, LOCI_MEM_LLM_BUFFERS), 3);
    lc_usage_free(usage);
}

TEST(guard_usage, bad_reports_are_refused_and_accounts_stay_right)
{
    char longest[LC_GUARD_NAME_BYTES_MAX + 2];
    lc_usage *usage = new_usage();
    loci_error err;

    memset(longest, 'n', sizeof longest);
    CHECK_STATUS(LOCI_ENOTFOUND, lc_usage_release(usage, LC_STR("never"), &err));
    CHECK_CONTAINS(err.message, "never");
    CHECK_STATUS(LOCI_EINVAL, lc_usage_report(usage, LC_STR("c"), LOCI_MEM_WAL, -5, &err));
    CHECK_CONTAINS(err.message, "-5");
    CHECK_STATUS(LOCI_EINVAL, lc_usage_report(usage, LC_STR("c"), LOCI_MEM_CATEGORIES, 5, &err));
    CHECK_STATUS(LOCI_EINVAL, lc_usage_report(usage, LC_STR(""), LOCI_MEM_WAL, 5, &err));
    CHECK_STATUS(LOCI_EINVAL, lc_usage_report(usage, LC_STR("a\nb"), LOCI_MEM_WAL, 5, &err));
    CHECK_STATUS(LOCI_EINVAL, lc_usage_report(usage, LC_STR("\xff"), LOCI_MEM_WAL, 5, &err));
    CHECK_STATUS(LOCI_EINVAL, lc_usage_report(usage, (loci_str){longest, sizeof longest - 1},
                                              LOCI_MEM_WAL, 5, &err));
    CHECK_STATUS(LOCI_EINVAL,
                 lc_usage_report(usage, LC_STR("c"), LOCI_MEM_WAL, LC_GUARD_BYTES_MAX + 1, &err));
    CHECK_EQ(lc_usage_total(usage, LOCI_MEM_CATEGORIES), 0);
    CHECK_OK(lc_usage_report(usage, (loci_str){longest, sizeof longest - 2}, LOCI_MEM_WAL,
                             LC_GUARD_BYTES_MAX, &err),
             err);
    CHECK_EQ(lc_usage_total(usage, LOCI_MEM_CATEGORIES), LC_GUARD_BYTES_MAX);
    lc_usage_free(usage);
}

TEST(guard_usage, components_are_bounded)
{
    lc_usage *usage = new_usage();
    char name[32];
    loci_error err;

    for (int i = 0; i < LC_GUARD_COMPONENTS_MAX; i++) {
        (void)snprintf(name, sizeof name, "c%d", i);
        CHECK_OK(lc_usage_report(usage, loci_str_of(name), LOCI_MEM_CACHES, 1, &err), err);
    }
    CHECK_STATUS(LOCI_ELIMIT, lc_usage_report(usage, LC_STR("more"), LOCI_MEM_CACHES, 1, &err));
    CHECK_OK(lc_usage_report(usage, LC_STR("c7"), LOCI_MEM_CACHES, 2, &err), err);
    CHECK_EQ(lc_usage_total(usage, LOCI_MEM_CACHES), LC_GUARD_COMPONENTS_MAX + 1);
    CHECK_OK(lc_usage_release(usage, LC_STR("c7"), &err), err);
    CHECK_OK(lc_usage_report(usage, LC_STR("more"), LOCI_MEM_CACHES, 1, &err), err);
    lc_usage_free(usage);
}

TEST(guard_usage, the_largest_come_first)
{
    lc_usage *usage = new_usage();
    lc_usage_row rows[3];
    char name[2] = "a";
    loci_error err;

    for (int i = 0; i < 8; i++, name[0]++)
        CHECK_OK(lc_usage_report(usage, loci_str_of(name),
                                 i % 2 == 0 ? LOCI_MEM_CACHES : LOCI_MEM_WAL, 10 + i / 4, &err),
                 err);
    CHECK_EQ(lc_usage_largest(usage, LOCI_MEM_CATEGORIES, rows, 3), 3);
    CHECK_STR_EQ(rows[0].name, "e");
    CHECK_STR_EQ(rows[1].name, "f");
    CHECK_STR_EQ(rows[2].name, "g");
    CHECK_EQ(lc_usage_largest(usage, LOCI_MEM_WAL, rows, 3), 3);
    CHECK_STR_EQ(rows[0].name, "f");
    CHECK_STR_EQ(rows[1].name, "h");
    CHECK_STR_EQ(rows[2].name, "b");
    CHECK_EQ(lc_usage_largest(usage, LOCI_MEM_INDEX, rows, 3), 0);
    lc_usage_free(usage);
}

/* ---- Threads --------------------------------------------------------------------------------- */

static void *charge_and_end(void *ctx)
{
    if (lc_usage_charge(ctx, LOCI_MEM_PIPELINES, LOCI_WORK_NORMAL, 3 * MB) != LOCI_OK)
        test_note_failure(__FILE__, __LINE__, "not charged");
    return NULL;
}

/* A charge outlives its thread, and any other thread may end it. */
TEST(guard_usage, another_thread_may_uncharge)
{
    lc_usage *usage = new_usage();
    pthread_t thread;

    set_cap(usage, 3 * MB);
    CHECK_EQ(pthread_create(&thread, NULL, charge_and_end, usage), 0);
    CHECK_EQ(pthread_join(thread, NULL), 0);
    CHECK_EQ(lc_usage_threads(usage), 0);
    CHECK_EQ(lc_usage_total(usage, LOCI_MEM_PIPELINES), 3 * MB);
    for (int i = 0; i < 3 * 1024; i++)
        CHECK_STATUS(LOCI_OK, lc_usage_uncharge(usage, LOCI_MEM_PIPELINES, KB));
    CHECK_STATUS(LOCI_EINVAL, lc_usage_uncharge(usage, LOCI_MEM_PIPELINES, 1));
    CHECK_EQ(lc_usage_total(usage, LOCI_MEM_CATEGORIES), 0);
    CHECK_STATUS(LOCI_OK, lc_usage_charge(usage, LOCI_MEM_WAL, LOCI_WORK_NORMAL, 3 * MB));
    lc_usage_free(usage);
}

/* A thread remembers the record it used last; registries that take turns, and a new one that may
 * have the address of a freed one, must not meet each other's records. */
TEST(guard_usage, registries_are_independent)
{
    lc_usage *kept = new_usage();

    for (int i = 1; i <= 20; i++) {
        lc_usage *other = new_usage();

        CHECK_EQ(lc_usage_total(other, LOCI_MEM_CATEGORIES), 0);
        CHECK_STATUS(LOCI_EINVAL, lc_usage_uncharge(other, LOCI_MEM_WAL, 1));
        CHECK_STATUS(LOCI_OK, lc_usage_charge(other, LOCI_MEM_WAL, LOCI_WORK_NORMAL, 7));
        CHECK_STATUS(LOCI_OK, lc_usage_charge(kept, LOCI_MEM_WAL, LOCI_WORK_NORMAL, 5));
        CHECK_EQ(lc_usage_total(other, LOCI_MEM_WAL), 7);
        CHECK_EQ(lc_usage_total(kept, LOCI_MEM_WAL), 5 * i);
        lc_usage_free(other);
    }
    lc_usage_free(kept);
}

#define THREADS 8
#define CAP (64 * MB)

typedef struct reporter {
    lc_usage *usage;
    unsigned number;
    uint64_t rounds;
    int64_t held[LOCI_MEM_CATEGORIES];
} reporter;

static void *report_and_charge(void *ctx)
{
    reporter *self = ctx;
    test_rng rng = {self->number};
    char name[16];

    (void)snprintf(name, sizeof name, "thread%u", self->number % 4); /* Two share each name. */
    for (uint64_t i = 0; i < self->rounds; i++) {
        loci_category category = (loci_category)test_rng_below(&rng, LOCI_MEM_CATEGORIES);
        int64_t bytes = test_rng_between(&rng, 0, 40000);

        if (test_rng_chance(&rng, 50)) {
            if (lc_usage_charge(self->usage, category, LOCI_WORK_NORMAL, bytes) == LOCI_OK)
                self->held[category] += bytes;
        } else if (self->held[category] >= bytes) {
            if (lc_usage_uncharge(self->usage, category, bytes) != LOCI_OK)
                test_note_failure(__FILE__, __LINE__, "own bytes were not uncharged");
            self->held[category] -= bytes;
        }
        if (i % 64 == 0)
            (void)lc_usage_report(self->usage, loci_str_of(name), category, bytes, NULL);
        if (i % 4096 == 0 && lc_usage_total(self->usage, category) < 0)
            test_note_failure(__FILE__, __LINE__, "negative total");
    }
    return NULL;
}

/* Under ThreadSanitizer, too. Afterwards every byte is accounted for. */
TEST(guard_usage, eight_threads_report_at_once)
{
    lc_usage *usage = new_usage();
    reporter reporters[THREADS];
    pthread_t threads[THREADS];
    int64_t held[LOCI_MEM_CATEGORIES] = {0}, sums[LOCI_MEM_CATEGORIES];
    lc_usage_row rows[8];
    char *name;

    set_cap(usage, CAP);
    for (unsigned i = 0; i < THREADS; i++) {
        reporters[i] = (reporter){usage, i, test_count(50000, 1000000), {0}};
        CHECK_EQ(pthread_create(&threads[i], NULL, report_and_charge, &reporters[i]), 0);
    }
    for (unsigned i = 0; i < THREADS; i++)
        CHECK_EQ(pthread_join(threads[i], NULL), 0);
    CHECK_EQ(lc_usage_largest(usage, LOCI_MEM_CATEGORIES, rows, 8), 4);
    for (int i = 0; i < 4; i++) {
        name = test_format("thread%d", i);
        CHECK_STATUS(LOCI_OK, lc_usage_release(usage, loci_str_of(name), NULL));
    }
    lc_usage_by_category(usage, sums);
    for (int c = 0; c < LOCI_MEM_CATEGORIES; c++) {
        for (unsigned i = 0; i < THREADS; i++)
            held[c] += reporters[i].held[c];
        CHECK_EQ(sums[c], held[c]);
        CHECK_STATUS(LOCI_OK, lc_usage_uncharge(usage, (loci_category)c, sums[c]));
    }
    CHECK_EQ(lc_usage_total(usage, LOCI_MEM_CATEGORIES), 0);
    /* No stock was lost: all of the cap can be charged. */
    CHECK_STATUS(LOCI_OK, lc_usage_charge(usage, LOCI_MEM_WAL, LOCI_WORK_NORMAL, CAP));
    CHECK_STATUS(LOCI_ERESOURCE, lc_usage_charge(usage, LOCI_MEM_WAL, LOCI_WORK_NORMAL, 1));
    lc_usage_free(usage);
}

static loci_status use_all(void *ctx)
{
    lc_usage *usage = NULL;
    loci_status status;

    (void)ctx;
    lc_heap_init(&heap, test_heap());
    status = lc_usage_new(&heap, &usage, NULL);
    if (status == LOCI_OK)
        status = lc_usage_report(usage, LC_STR("c"), LOCI_MEM_WAL, 5, NULL);
    if (status == LOCI_OK)
        CHECK_EQ(lc_usage_total(usage, LOCI_MEM_CATEGORIES), 5);
    lc_usage_free(usage);
    return status;
}

TEST(guard_usage, reports_survive_without_memory)
{
    test_oom_sweep(use_all, NULL);
}

/* A thread without a record of its own is slower, but its bytes are counted. */
TEST(guard_usage, charges_need_no_memory)
{
    lc_usage *usage = new_usage();

    set_cap(usage, MB);
    test_heap_fail_from(1);
    CHECK_STATUS(LOCI_OK, lc_usage_charge(usage, LOCI_MEM_WAL, LOCI_WORK_NORMAL, MB));
    CHECK_STATUS(LOCI_ERESOURCE, lc_usage_charge(usage, LOCI_MEM_WAL, LOCI_WORK_NORMAL, 1));
    CHECK_STATUS(LOCI_OK, lc_usage_uncharge(usage, LOCI_MEM_WAL, KB));
    CHECK_STATUS(LOCI_EINVAL, lc_usage_uncharge(usage, LOCI_MEM_WAL, MB));
    CHECK(test_heap_disarm());
    CHECK_EQ(lc_usage_total(usage, LOCI_MEM_WAL), MB - KB);
    CHECK_STATUS(LOCI_OK, lc_usage_uncharge(usage, LOCI_MEM_WAL, MB - KB));
    CHECK_EQ(lc_usage_total(usage, LOCI_MEM_WAL), 0);
    lc_usage_free(usage);
}
