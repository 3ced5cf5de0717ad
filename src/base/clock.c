/* clock.c - the kernel's clocks in µs. */
#include "base/clock.h"

#include <time.h>

static int64_t read_us(clockid_t id)
{
    struct timespec now;

    (void)clock_gettime(id, &now); /* Fails only for an unknown clock. */
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

int64_t lc_clock_system_us(void *ctx)
{
    (void)ctx;
    return read_us(CLOCK_REALTIME);
}

int64_t lc_clock_monotonic_us(void)
{
    return read_us(CLOCK_MONOTONIC);
}

void lc_clock_sleep_us(int64_t us)
{
    struct timespec span = {.tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000};

    (void)nanosleep(&span, NULL); /* Waking early is harmless: callers check the clock. */
}
