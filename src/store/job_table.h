/* job_table.h - the table `jobs`, for the store's room. */
#ifndef LC_STORE_JOB_TABLE_H
#define LC_STORE_JOB_TABLE_H

#include "store/catalogue.h"

extern const lc_table lc_jobs_table;

#endif /* LC_STORE_JOB_TABLE_H */
