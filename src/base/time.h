/* time.h - a moment as text (RFC 3339) and as a number (µs since 1970 UTC, years 0001 to 9999).
 *
 * Pure conversion: what time it is now comes from the clock in lc_env, never from here.
 */
#ifndef LC_BASE_TIME_H
#define LC_BASE_TIME_H

#include "loci.h"

#include <stdbool.h>

#define LC_TIME_BYTES_MAX 32
/* The times that can be expressed: 0001-01-01T00:00:00Z .. 9999-12-31T23:59:59.999999Z, in µs. */
#define LC_TIME_MIN_US INT64_C(-62135596800000000)
#define LC_TIME_MAX_US INT64_C(253402300799999999)

/* Reads a whole date-time such as 2026-11-15T21:16:00.5+01:00. 't', 'z' and a space for 'T' are
 * fine; a fraction has 1 to 9 digits and is cut to µs; 23:59:60 UTC is the second after. False,
 * writing nothing, for anything else: a day that does not exist, no zone, a moment outside the
 * years. */
bool lc_time_parse(loci_str rfc3339, int64_t *out_us);

/* Writes 2026-11-15T21:16:00Z and returns its bytes; not terminated. A fraction only when it is not
 * zero: 3 digits for whole ms, else 6. Moments outside the years become the first or last of them.
 */
size_t lc_time_format(int64_t us, char out[LC_TIME_BYTES_MAX]);

#endif /* LC_BASE_TIME_H */
