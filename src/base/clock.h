/* clock.h - the two clocks that are not the database's.
 *
 * Domain time is the time of events; it is injected, and may stand still or go back. Monotonic time
 * is for deadlines and durations and is never stored or sent. (Leases use the database's clock:
 * store/db.h.)
 */
#ifndef LC_BASE_CLOCK_H
#define LC_BASE_CLOCK_H

#include <stdint.h>

/* µs since 1970 UTC; a loci_clock_fn. */
int64_t lc_clock_system_us(void *ctx);
/* µs since some moment before the process started. */
int64_t lc_clock_monotonic_us(void);
void lc_clock_sleep_us(int64_t us);

#endif /* LC_BASE_CLOCK_H */
