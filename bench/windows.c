/* windows.c - how the CPU time of page operations grows with the resources of a window: 1,000,
 * 10,000 and 100,000 of them.
 *
 * Half of the resources are active, and the window is under high pressure, so that every answer
 * also finds the next candidates for eviction. One step is a page_in, an attention and a page_out
 * of one resource; its CPU time is that of the process, which has no other thread. The map of level
 * 3 is printed by itself. To reach: a step at 100,000 takes at most 4 times the CPU of one at
 * 1,000.
 *
 * BENCH_SMALL ends at 10,000. The store is made in $TMPDIR or /tmp.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "lib/fill.h"

#define SIZES 3
#define STEPS 200
#define BATCH 100
#define TIMES_MAX 4.0

static char path[300];

/* `more` is the end of the arguments, behind the id. */
static void call(loci_engine *engine, const char *operation, int number, const char *more)
{
    char args[256];

    (void)snprintf(args, sizeof args, "{\"id\":\"text:r%d\"%s}", number, more);
    fill_call(engine, operation, args);
}

/* Adds the resources `first` to `last - 1`, and pages in every second one. */
static void fill(loci_engine *engine, int first, int last)
{
    for (int at = first; at < last; at += BATCH) {
        char args[2 * BATCH][128];
        loci_request requests[2 * BATCH];
        size_t count = 0;
        loci_answer *answer;
        loci_error err;

        for (int i = at; i < at + BATCH && i < last; i++) {
            (void)snprintf(args[count], sizeof args[0], "{\"name\":\"r%d\",\"text\":\"note %d\"}",
                           i, i);
            requests[count] = (loci_request){"resource.discover", loci_str_of(args[count]),
                                             LOCI_AT_CLOCK};
            count++;
        }
        if (loci_call_many(engine, requests, count, NULL, &answer, &err) != LOCI_OK)
            bench_die(err.message);
        loci_answer_free(answer);
        count = 0;
        for (int i = at; i < at + BATCH && i < last; i += 2) {
            (void)snprintf(args[count], sizeof args[0], "{\"id\":\"text:r%d\"}", i);
            requests[count] = (loci_request){"resource.page_in", loci_str_of(args[count]),
                                             LOCI_AT_CLOCK};
            count++;
        }
        if (loci_call_many(engine, requests, count, NULL, &answer, &err) != LOCI_OK)
            bench_die(err.message);
        loci_answer_free(answer);
    }
}

static double measure_steps(loci_engine *engine, int size)
{
    double before = bench_cpu_us();

    for (int i = 0; i < STEPS; i++) {
        int odd = (int)((unsigned)i * 7919u % (unsigned)size) | 1;

        call(engine, "resource.page_in", odd, "");
        call(engine, "resource.attention", odd, ",\"attention\":2");
        call(engine, "resource.page_out", odd, "");
    }
    return (bench_cpu_us() - before) / STEPS;
}

static double measure_map(loci_engine *engine)
{
    double before = bench_cpu_us();

    for (int i = 0; i < 10; i++)
        fill_call(engine, "window.map", "{\"level\":\"3\"}");
    return (bench_cpu_us() - before) / 10;
}

int main(void)
{
    static const int sizes[SIZES] = {1000, 10000, 100000};
    int count = getenv("BENCH_SMALL") != NULL ? 2 : SIZES;
    const char *dir = getenv("TMPDIR");
    double first = 0;
    loci_engine *engine;

    (void)snprintf(path, sizeof path, "%s/loci-windows-%ld.db", dir != NULL ? dir : "/tmp",
                   (long)getpid());
    engine = fill_open(path, LOCI_OPEN_INLINE);
    fill_call(engine, "config.set", "{\"name\":\"window.evict_after_ms\",\"value\":0}");
    for (int i = 0; i < count; i++) {
        char args[64];
        double step, map;

        /* A text has 2 to 4 tokens: about three quarters of the window are used. */
        (void)snprintf(args, sizeof args, "{\"context_max\":%d}", sizes[i] * 2);
        fill_call(engine, "window.open", args);
        fill(engine, i == 0 ? 0 : sizes[i - 1], sizes[i]);
        step = measure_steps(engine, sizes[i]);
        map = measure_map(engine);
        if (i == 0)
            first = step;
        printf("{\"bench\":\"windows\",\"case\":\"%d resources\",\"step_cpu_us\":%.0f,"
               "\"times\":%.2f,\"times_max\":%.1f,\"map_cpu_us\":%.0f}\n",
               sizes[i], step, step / first, TIMES_MAX, map);
        (void)fflush(stdout);
    }
    loci_close(engine);
    (void)unlink(path);
    return 0;
}
