/* probe.h - what the kernel says about this process's memory and its limits.
 *
 * Every file may be missing (other systems, containers, hardened services): its part of the reading
 * is then left out. A reading fails only if the memory of the process itself cannot be read.
 *
 *     each reading      /proc/self/statm: resident - shared, size, data; about 1 µs
 *     once per second   /proc/self/status (shared memory, swap), cgroups, /proc/meminfo, rlimits,
 * PSI
 *
 * All limits are compared as room: limit - what counts towards it. The limit of a reading is the
 * bytes in use + the least room, so neighbours in a cgroup or on the machine lower it.
 *
 *     cgroup            of each ancestor, v1 and v2: max and high - (current - inactive file pages)
 *     address_space     RLIMIT_AS - size of the address space
 *     data              RLIMIT_DATA - size of the data segments
 *     machine           the given share of the machine's memory - bytes in use
 *     available         80 % of the memory the machine can still give
 */
#ifndef LC_GUARD_PROBE_H
#define LC_GUARD_PROBE_H

#include "base/heap.h"
#include "guard/monitor.h"

typedef struct lc_probe lc_probe;

/* `root` is put before every path, for tests; "" = the system; borrowed. `machine_share` in
 * thousandths. */
loci_status lc_probe_open(lc_heap *heap, const char *root, uint32_t machine_share, lc_probe **out,
                          loci_error *err);
void lc_probe_close(lc_probe *probe); /* NULL is fine. */
/* False: the reading failed. */
bool lc_probe_read(lc_probe *probe, int64_t now_ms, lc_reading *out);

#endif /* LC_GUARD_PROBE_H */
