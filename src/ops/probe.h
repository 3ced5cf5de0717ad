/* probe.h - does the store answer? For health checks, which know no operation. */
#ifndef LC_OPS_PROBE_H
#define LC_OPS_PROBE_H

#include "loci.h"

/* Reads one row, which takes no longer than `timeout_ms`. */
loci_status lc_probe_store(loci_engine *engine, int64_t timeout_ms, loci_error *err);

#endif /* LC_OPS_PROBE_H */
