#include "base/assert.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/test.h"

typedef struct reports {
    int count;
    const char *what;
    const char *file;
    int line;
    bool fails; /* The report itself has a bug. */
} reports;

static void keep_report(void *ctx, const char *what, const char *file, int line)
{
    reports *seen = ctx;

    seen->count++;
    seen->what = what;
    seen->file = file;
    seen->line = line;
    LC_ASSERT(!seen->fails);
}

/* Deep enough that there is something to unwind. */
static int dive(int depth, int number)
{
    if (depth > 0)
        return 1 + dive(depth - 1, number);
    LC_ASSERT(number < 10);
    return 0;
}

TEST(assert, condition_that_holds_does_nothing)
{
    reports seen = {0};
    lc_fault_frame frame = {.report = keep_report, .ctx = &seen};
    volatile int depth = 0;

    if (LC_FAULT_ENTER(&frame))
        depth = dive(5, 9);
    lc_fault_leave(&frame);
    CHECK_EQ(depth, 5);
    CHECK_EQ(seen.count, 0);
}

TEST(assert, fault_unwinds_to_its_frame_and_is_reported_once)
{
    reports seen = {0};
    lc_fault_frame frame = {.report = keep_report, .ctx = &seen};
    volatile bool landed = false, went_on = false;

    if (LC_FAULT_ENTER(&frame)) {
        (void)dive(5, 10);
        went_on = true;
    } else {
        landed = true;
    }
    lc_fault_leave(&frame);
    CHECK(landed);
    CHECK(!went_on);
    CHECK_EQ(seen.count, 1);
    CHECK_STR_EQ(seen.what, "number < 10");
    CHECK_CONTAINS(seen.file, "test_assert.c");
    CHECK_LT(0, seen.line);
}

TEST(assert, unreachable_is_a_fault)
{
    reports seen = {0};
    lc_fault_frame frame = {.report = keep_report, .ctx = &seen};

    if (LC_FAULT_ENTER(&frame))
        LC_UNREACHABLE();
    lc_fault_leave(&frame);
    CHECK_EQ(seen.count, 1);
    CHECK_STR_EQ(seen.what, "unreachable");
}

/* A job that calls loci_call() has a frame inside a frame: only the inner one is lost. */
TEST(assert, frames_nest)
{
    reports outer_seen = {0}, inner_seen = {0};
    lc_fault_frame outer = {.report = keep_report, .ctx = &outer_seen};
    lc_fault_frame inner = {.report = keep_report, .ctx = &inner_seen};
    volatile bool outer_went_on = false;

    if (LC_FAULT_ENTER(&outer)) {
        if (LC_FAULT_ENTER(&inner))
            (void)dive(3, 99);
        lc_fault_leave(&inner);
        outer_went_on = true;
        (void)dive(3, 99);
        outer_went_on = false;
    }
    lc_fault_leave(&outer);
    CHECK(outer_went_on);
    CHECK_EQ(inner_seen.count, 1);
    CHECK_EQ(outer_seen.count, 1);
}

TEST(assert, frame_can_be_entered_again)
{
    reports seen = {0};

    for (volatile int i = 0; i < 3; i++) {
        lc_fault_frame frame = {.report = keep_report, .ctx = &seen};

        if (LC_FAULT_ENTER(&frame))
            (void)dive(1, 99);
        lc_fault_leave(&frame);
    }
    CHECK_EQ(seen.count, 3);
}

/* The host's handler runs in the report: its bug must not lead into the same report for ever. */
TEST(assert, report_that_fails_itself_is_not_called_again)
{
    reports seen = {.fails = true};
    lc_fault_frame frame = {.report = keep_report, .ctx = &seen};
    volatile bool landed = false;

    if (LC_FAULT_ENTER(&frame))
        (void)dive(1, 99);
    else
        landed = true;
    lc_fault_leave(&frame);
    CHECK(landed);
    CHECK_EQ(seen.count, 1);
}

/* Cleaning up after a fault may meet the next one: it is for the frame around, not a circle. */
TEST(assert, fault_after_a_fault_goes_outwards)
{
    reports outer_seen = {0}, inner_seen = {0};
    lc_fault_frame outer = {.report = keep_report, .ctx = &outer_seen};
    lc_fault_frame inner = {.report = keep_report, .ctx = &inner_seen};
    volatile int landings = 0;

    if (LC_FAULT_ENTER(&outer)) {
        if (LC_FAULT_ENTER(&inner)) {
            (void)dive(1, 99);
        } else {
            landings++;
            (void)dive(1, 99);
        }
        lc_fault_leave(&inner);
    }
    lc_fault_leave(&outer);
    CHECK_EQ(landings, 1);
    CHECK_EQ(inner_seen.count, 1);
    CHECK_EQ(outer_seen.count, 1);
}

TEST(assert, frame_without_a_report_still_lands)
{
    lc_fault_frame frame = {.report = NULL};
    volatile bool landed = false;

    if (LC_FAULT_ENTER(&frame))
        (void)dive(1, 99);
    else
        landed = true;
    lc_fault_leave(&frame);
    CHECK(landed);
}

static void *fail_in_thread(void *ctx)
{
    lc_fault_frame frame = {.report = keep_report, .ctx = ctx};

    if (LC_FAULT_ENTER(&frame))
        (void)dive(2, 99);
    lc_fault_leave(&frame);
    return NULL;
}

TEST(assert, threads_have_their_own_frames)
{
    reports own = {0}, others[2] = {{0}, {0}};
    lc_fault_frame frame = {.report = keep_report, .ctx = &own};
    pthread_t threads[2];

    if (LC_FAULT_ENTER(&frame)) {
        for (int i = 0; i < 2; i++)
            CHECK_EQ(pthread_create(&threads[i], NULL, fail_in_thread, &others[i]), 0);
        for (int i = 0; i < 2; i++)
            CHECK_EQ(pthread_join(threads[i], NULL), 0);
    }
    lc_fault_leave(&frame);
    CHECK_EQ(own.count, 0);
    CHECK_EQ(others[0].count, 1);
    CHECK_EQ(others[1].count, 1);
}

/* Without a frame no caller can get the error, and continuing would write wrong data. */
TEST(assert, without_a_frame_the_process_ends)
{
    pid_t child = fork();
    int state = 0;

    CHECK_LE(0, child);
    if (child == 0) {
        (void)setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0}); /* No core file is only nicer. */
        (void)signal(SIGABRT, SIG_DFL);
        (void)dive(1, 99);
        _exit(0);
    }
    CHECK_EQ(waitpid(child, &state, 0), child);
    CHECK(WIFSIGNALED(state));
    CHECK_EQ(WTERMSIG(state), SIGABRT);
}
