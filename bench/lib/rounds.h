/* rounds.h - what repeated measurements share: how many rounds, clocks, and the median of a figure.
 */
#ifndef LC_BENCH_LIB_ROUNDS_H
#define LC_BENCH_LIB_ROUNDS_H

#include <stddef.h>

#define BENCH_ROUNDS_MAX 101

/* $BENCH_ROUNDS, or `usual`. What is not 1 to BENCH_ROUNDS_MAX ends the benchmark. */
int bench_rounds(int usual);
/* How much is done in one: `usual`, or with $BENCH_SMALL a fifth, which shows that a benchmark
 * works and nothing else. */
int bench_size(int usual);

/* Rounds that lie behind each other, each a struct with one double a figure. */
typedef struct bench_series {
    const void *rounds;
    size_t round_bytes;
    int count;
} bench_series;

/* Of the double at `offset` in every round. */
double bench_median(bench_series series, size_t offset);

/* The value below which so many of 1,000 are: 500 is the median. Sorts the values. */
double bench_permille(double *values, int count, int permille);

double bench_now_s(void);
double bench_cpu_us(void); /* Of this process: all threads, kernel included. */
_Noreturn void bench_die(const char *what);

#endif /* LC_BENCH_LIB_ROUNDS_H */
