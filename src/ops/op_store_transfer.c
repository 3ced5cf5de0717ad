/* op_store_transfer.c - store.backup, store.restore, store.export and store.import: the store in
 * files.
 *
 * Paths are the process's own: relative ones start where it runs. That is why they are for admins.
 */
#include "ops/op_store.h"

#include <sys/stat.h>

#include "base/error.h"
#include "base/str.h"
#include "engine/engine.h"
#include "store/backup.h"
#include "store/publish.h"
#include "store/transfer.h"

#define PATH_PARAM(flags_, help_)                                                                  \
    {                                                                                              \
        LC_ARG_STR("path", lc_store_input, path), .flags = (flags_) | LC_PARAM_POSITIONAL,         \
                                                  .min = 1, .max = LC_PATH_BYTES_MAX - 1,          \
                                                  .help = help_                                    \
    }
#define FORCE_PARAM                                                                                \
    {                                                                                              \
        LC_ARG_BOOL("force", lc_store_input, force, "false"),                                      \
            .help = "Whether to replace an existing file"                                          \
    }

static bool is_forced(const lc_call *call)
{
    return ((const lc_store_input *)call->input)->force;
}

/* Whether two paths lead to one file. */
static bool is_same_file(const char *a, const char *b)
{
    struct stat first, second;

    return stat(a, &first) == 0 && stat(b, &second) == 0 && first.st_dev == second.st_dev &&
           first.st_ino == second.st_ino;
}

static loci_status refuse_own_store(const lc_store_work *work, loci_error *err)
{
    if (work->path == NULL || !is_same_file(work->path, lc_engine_store(work->call->engine)))
        return LOCI_OK;
    return lc_fail(err, LOCI_EINVAL, "path: %s is the store itself", work->path);
}

/* ---- store.backup --------------------------------------------------------------------------- */

static const lc_param backup_params[] = {
    PATH_PARAM(LC_PARAM_REQUIRED, "File to create: a complete store"),
    FORCE_PARAM,
    {.name = NULL},
};

static const lc_record backup_answer = {
    .members =
        (const lc_result[]){
            {"path", LC_PARAM_STRING, "Path of the file"},
            {"bytes", LC_PARAM_INT, "Size of the file in bytes"},
            {NULL},
        },
};

static loci_status backup(lc_store_work *work, const lc_upkeep *upkeep, loci_error *err)
{
    lc_call *call = work->call;
    int64_t bytes = 0;
    loci_status status = refuse_own_store(work, err);

    if (status == LOCI_OK)
        status = lc_backup(upkeep, work->path, is_forced(call), &bytes, err);
    if (status != LOCI_OK)
        return status;
    lc_jw_object(&call->out);
    lc_jw_member_text(&call->out, "path", work->path);
    lc_jw_member_int(&call->out, "bytes", bytes);
    lc_jw_end(&call->out);
    return LOCI_OK;
}

static loci_status run_backup(lc_call *call, loci_error *err)
{
    return lc_store_work_run(call, backup, err);
}

const lc_op lc_op_store_backup = {
    .name = "store.backup",
    .help = "Copy the store, while it is in use, into one file",
    .params = backup_params,
    .input_bytes = sizeof(lc_store_input),
    .answer = &backup_answer,
    .cost = LC_COST_WORK,
    .flags = LC_OP_ADMIN | LC_OP_ALONE | LC_OP_IDEMPOTENT | LC_OP_STREAMS,
    .http = "POST /v1/store/backup",
    .example = "{\"path\":\"backup.db\",\"force\":true}",
    .run_alone = run_backup,
};

/* ---- store.restore -------------------------------------------------------------------------- */

static const lc_param restore_params[] = {
    PATH_PARAM(LC_PARAM_REQUIRED, "File made by store.backup"),
    {.name = NULL},
};

static const lc_record restore_answer = {
    .members =
        (const lc_result[]){
            {"path", LC_PARAM_STRING, "Path of the file"},
            {"store_id", LC_PARAM_STRING, "Id of the restored store"},
            {"schema_version", LC_PARAM_INT, "Schema version of the backup; it is migrated now"},
            {NULL},
        },
};

static loci_status restore(lc_store_work *work, const lc_upkeep *upkeep, loci_error *err)
{
    lc_json_writer *out = &work->call->out;
    lc_backup_facts facts = {0};
    loci_status status = refuse_own_store(work, err);

    if (status == LOCI_OK)
        status = lc_restore(upkeep, work->path, &facts, err);
    if (status != LOCI_OK)
        return status;
    lc_jw_object(out);
    lc_jw_member_text(out, "path", work->path);
    lc_jw_member_text(out, "store_id", facts.store_id);
    lc_jw_member_int(out, "schema_version", facts.schema_version);
    lc_jw_end(out);
    return LOCI_OK;
}

static loci_status run_restore(lc_call *call, loci_error *err)
{
    loci_status status = lc_store_work_run(call, restore, err);

    /* Also after a failure: it may have come after the copy. */
    lc_engine_store_replaced(call->engine);
    return status;
}

const lc_op lc_op_store_restore = {
    .name = "store.restore",
    .help = "Replace the content of the store by a backup",
    .params = restore_params,
    .input_bytes = sizeof(lc_store_input),
    .answer = &restore_answer,
    .cost = LC_COST_WORK,
    .flags = LC_OP_ADMIN | LC_OP_ALONE | LC_OP_MUTATES | LC_OP_IDEMPOTENT | LC_OP_STREAMS,
    .http = "POST /v1/store/restore",
    .example = "{\"path\":\"backup.db\"}",
    .run_alone = run_restore,
};

/* ---- store.export --------------------------------------------------------------------------- */

static const lc_param export_params[] = {
    PATH_PARAM(0, "File to create (default: lines are streamed to the caller)"),
    FORCE_PARAM,
    {.name = NULL},
};

static const lc_record export_answer = {
    .members =
        (const lc_result[]){
            {"path", LC_PARAM_STRING, "Path of the file, if one was named", LC_RESULT_OPTIONAL},
            {"users", LC_PARAM_INT, "Number of users in it"},
            {"events", LC_PARAM_INT, "Number of events in it"},
            {"settings", LC_PARAM_INT, "Number of stored settings in it"},
            {NULL},
        },
};

static void put_counts(lc_json_writer *out, const lc_transfer_counts *counts)
{
    lc_jw_member_int(out, "users", counts->users);
    lc_jw_member_int(out, "events", counts->events);
    lc_jw_member_int(out, "settings", counts->settings);
}

static loci_status give_line(void *ctx, loci_str line, loci_error *err)
{
    return lc_call_line(ctx, line, err);
}

static loci_status export_store(lc_store_work *work, const lc_upkeep *upkeep, loci_error *err)
{
    lc_call *call = work->call;
    lc_transfer_counts counts = {0};
    loci_status status = refuse_own_store(work, err);

    if (status == LOCI_OK && work->path != NULL)
        status = lc_export_file(upkeep, work->path, is_forced(call), &counts, err);
    else if (status == LOCI_OK)
        status = lc_export(upkeep, give_line, call, &counts, err);
    if (status != LOCI_OK)
        return status;
    lc_jw_object(&call->out);
    if (work->path != NULL)
        lc_jw_member_text(&call->out, "path", work->path);
    put_counts(&call->out, &counts);
    lc_jw_end(&call->out);
    return LOCI_OK;
}

static loci_status run_export(lc_call *call, loci_error *err)
{
    if (((const lc_store_input *)call->input)->path.ptr == NULL && call->sink == NULL)
        return lc_fail(err, LOCI_EINVAL,
                       "path: missing, and the caller does not stream lines; name a file");
    return lc_store_work_run(call, export_store, err);
}

const lc_op lc_op_store_export = {
    .name = "store.export",
    .help = "Export the logs of all users as lines of JSON",
    .params = export_params,
    .input_bytes = sizeof(lc_store_input),
    .answer = &export_answer,
    .cost = LC_COST_WORK,
    .flags = LC_OP_ADMIN | LC_OP_ALONE | LC_OP_IDEMPOTENT | LC_OP_STREAMS,
    .http = "POST /v1/store/export",
    .example = "{\"path\":\"export.ndjson\",\"force\":true}",
    .run_alone = run_export,
};

/* ---- store.import --------------------------------------------------------------------------- */

static const lc_param import_params[] = {
    PATH_PARAM(LC_PARAM_REQUIRED, "File made by store.export"),
    {.name = NULL},
};

static const lc_record import_answer = {
    .members =
        (const lc_result[]){
            {"path", LC_PARAM_STRING, "Path of the file"},
            {"users", LC_PARAM_INT, "Number of users in it"},
            {"events", LC_PARAM_INT, "Number of events in it"},
            {"settings", LC_PARAM_INT,
             "Number of settings in it; settings already stored are kept"},
            {"skipped", LC_PARAM_INT, "Number of events that were in the store already"},
            {NULL},
        },
};

static loci_status import_store(lc_store_work *work, const lc_upkeep *upkeep, loci_error *err)
{
    lc_json_writer *out = &work->call->out;
    lc_transfer_counts counts = {0};
    loci_status status = lc_import_file(upkeep, work->path, &counts, err);

    if (status != LOCI_OK)
        return status;
    lc_jw_object(out);
    lc_jw_member_text(out, "path", work->path);
    put_counts(out, &counts);
    lc_jw_member_int(out, "skipped", counts.events_skipped);
    lc_jw_end(out);
    return LOCI_OK;
}

static loci_status run_import(lc_call *call, loci_error *err)
{
    loci_status status = lc_store_work_run(call, import_store, err);

    lc_engine_settings_changed(call->engine);
    return status;
}

const lc_op lc_op_store_import = {
    .name = "store.import",
    .help = "Import a file written by store.export; resumes if interrupted",
    .params = import_params,
    .input_bytes = sizeof(lc_store_input),
    .answer = &import_answer,
    .cost = LC_COST_WORK,
    .flags = LC_OP_ADMIN | LC_OP_ALONE | LC_OP_MUTATES | LC_OP_IDEMPOTENT | LC_OP_STREAMS,
    .http = "POST /v1/store/import",
    .example = "{\"path\":\"export.ndjson\"}",
    .run_alone = run_import,
};
