#include "lib/rounds.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

_Noreturn void bench_die(const char *what)
{
    fprintf(stderr, "bench: %s\n", what);
    exit(1);
}

double bench_now_s(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

double bench_cpu_us(void)
{
    struct rusage use;

    getrusage(RUSAGE_SELF, &use);
    return (double)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) * 1e6 +
           (double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec);
}

int bench_rounds(int usual)
{
    const char *asked = getenv("BENCH_ROUNDS");
    long count = asked != NULL ? strtol(asked, NULL, 10) : usual;

    if (count < 1 || count > BENCH_ROUNDS_MAX)
        bench_die("BENCH_ROUNDS must be 1 to 101");
    return (int)count;
}

int bench_size(int usual)
{
    return getenv("BENCH_SMALL") != NULL ? usual / 5 : usual;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

double bench_median(bench_series series, size_t offset)
{
    double all[BENCH_ROUNDS_MAX];
    int count = series.count;

    for (int i = 0; i < count; i++)
        memcpy(&all[i], (const char *)series.rounds + (size_t)i * series.round_bytes + offset,
               sizeof all[i]);
    qsort(all, (size_t)count, sizeof all[0], compare);
    return count % 2 == 1 ? all[count / 2] : (all[count / 2 - 1] + all[count / 2]) / 2;
}

double bench_permille(double *values, int count, int permille)
{
    qsort(values, (size_t)count, sizeof *values, compare);
    return values[count * permille / 1000];
}
