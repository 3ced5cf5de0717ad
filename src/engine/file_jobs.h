/* file_jobs.h - the work of store.backup, store.export and store.import, and the same as jobs, for
 * callers that cannot wait until it ends.
 *
 * Kinds of these names: args {path, name, replaces, tenant}, the result is the answer of the
 * operation. The jobs belong to the store; the unique name is that of the kind. A repeat of the
 * call joins the job that runs. One that is interrupted begins again: a file appears only when it
 * is complete, and an import skips the events that are in the store already.
 */
#ifndef LC_ENGINE_FILE_JOBS_H
#define LC_ENGINE_FILE_JOBS_H

#include "base/json.h"
#include "engine/job_kind.h"
#include "store/transfer.h"

typedef struct lc_file_work {
    const char *path;
    loci_str name;   /* How the caller named the file; the answer says the same. */
    bool replaces;   /* An existing file. */
    int64_t now_us;  /* Domain time of the call. */
    loci_str tenant; /* Of an export; none = all. */
} lc_file_work;

typedef struct lc_file_kind {
    lc_job_kind job;
    const char *unit; /* Of its progress: "events exported". */
    /* Does the work with `upkeep`, whose tenant is that of the work; writes the answer. */
    loci_status (*run)(const lc_file_work *work, const lc_upkeep *upkeep, lc_json_writer *out,
                       loci_error *err);
    /* After the work, which ended with `status`, without the connection; NULL = nothing is left. */
    void (*done)(loci_engine *engine, const lc_file_work *work, loci_status status);
} lc_file_kind;

/* Members of the answers about a transfer. */
void lc_file_put_counts(lc_json_writer *out, const lc_transfer_counts *counts);

extern const lc_file_kind lc_file_backup, lc_file_export, lc_file_import;

/* The args of a job, in `arena`. */
loci_status lc_file_job_args(const lc_file_work *work, lc_arena *arena, loci_str *out,
                             loci_error *err);

#endif /* LC_ENGINE_FILE_JOBS_H */
