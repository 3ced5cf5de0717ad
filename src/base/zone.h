/* zone.h - how far local time is from UTC. */
#ifndef LC_BASE_ZONE_H
#define LC_BASE_ZONE_H

#include "loci.h"

#include <stdbool.h>

/* The offset of a time zone at a moment: "UTC", "+02:00", "UTC-5", and the names of zone files such
 * as "Europe/Berlin" if the system has them. False for anything else. */
bool lc_zone_offset(loci_str zone, int64_t at_us, int64_t *out_us);

#endif /* LC_BASE_ZONE_H */
