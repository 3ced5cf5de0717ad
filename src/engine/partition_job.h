/* partition_job.h - the job that divides large tables, or joins them again (store/partition.h). */
#ifndef LC_ENGINE_PARTITION_JOB_H
#define LC_ENGINE_PARTITION_JOB_H

#include "engine/job_kind.h"

/* "store.partition": args {partitions}, result that of "store.rebuild", which is its last part;
 * none if all tables had that number already. Belongs to the store; its unique name is
 * "partition". */
extern const lc_job_kind lc_job_partition;

#endif /* LC_ENGINE_PARTITION_JOB_H */
