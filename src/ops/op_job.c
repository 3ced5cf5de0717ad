/* op_job.c - job.list, job.get and job.cancel.
 *
 * A job belongs to the user whose call caused it and is shown to that user only. The store's own
 * jobs belong to nobody (tenant and user are empty): `scope` "store" shows those, to admins.
 */
#include "ops/op.h"

#include "base/error.h"
#include "base/str.h"
#include "engine/job_kind.h"

#define STATUSES "queued|running|done|failed|cancelled"

#define SCOPE_PARAM                                                                                \
    {                                                                                              \
        .name = "scope", .kind = LC_PARAM_STRING, .default_text = "\"user\"",                      \
        .choices = "user|store",                                                                   \
        .help = "Whose jobs: the user's, or the store's own, which needs an admin"                 \
    }
#define ID_PARAM                                                                                   \
    {                                                                                              \
        .name = "id", .kind = LC_PARAM_STRING, .flags = LC_PARAM_REQUIRED | LC_PARAM_POSITIONAL,   \
        .min = 1, .max = LC_ID_BYTES_MAX, .help = "The job, job_…"                               \
    }

/* What lc_job_write() writes, under `prefix`. */
#define JOB_RESULTS(prefix)                                                                        \
    {prefix "id", LC_PARAM_STRING, "job_…"},                                                       \
        {prefix "kind", LC_PARAM_STRING, "What it does, such as store.purge"},                     \
        {prefix "status", LC_PARAM_STRING, "One of " STATUSES},                                    \
        {prefix "priority", LC_PARAM_INT, "Higher runs first; then the older"},                    \
        {prefix "args", LC_PARAM_OBJECT, "What it was given"},                                     \
        {prefix "result", LC_PARAM_OBJECT, "What it answered; null until it is done"},             \
        {prefix "error", LC_PARAM_OBJECT, "{code, message} of its last failed attempt, or null"},  \
        {prefix "attempts", LC_PARAM_INT, "How often it was begun"},                               \
        {prefix "attempts_max", LC_PARAM_INT, "How often it may be"},                              \
        {prefix "progress", LC_PARAM_OBJECT, "{done, total}; total is null while unknown"},        \
        {prefix "checkpoint", LC_PARAM_ANY, "Where its next attempt would go on, or null"},        \
        {prefix "cancel_requested", LC_PARAM_BOOL, "It was asked to stop"},                        \
        {prefix "created_at", LC_PARAM_TIME, "When it was added"},                                 \
    {                                                                                              \
        prefix "finished_at", LC_PARAM_TIME, "When it ended, or null"                              \
    }

static const lc_result job_results[] = {JOB_RESULTS(""), {NULL, LC_PARAM_ANY, NULL}};

/* Whose jobs the call is about, from `scope`. */
static loci_status find_owner(const lc_call *call, lc_job_key *out, loci_error *err)
{
    if (!lc_str_is(lc_call_str(call, "scope"), "store")) {
        *out = (lc_job_key){.tenant_id = call->tenant_id, .user_id = call->user_id};
        return LOCI_OK;
    }
    if (!call->is_admin)
        return lc_fail(err, LOCI_EFORBIDDEN, "scope \"store\" needs an admin");
    *out = (lc_job_key){.tenant_id = LC_STR(""), .user_id = LC_STR("")};
    return LOCI_OK;
}

/* ---- job.list ------------------------------------------------------------------------------- */

static const lc_param list_params[] = {
    SCOPE_PARAM,
    {.name = "status",
     .kind = LC_PARAM_STRING,
     .choices = STATUSES,
     .help = "Only jobs that stand so"},
    {.name = "kind",
     .kind = LC_PARAM_STRING,
     .min = 1,
     .max = LC_ID_BYTES_MAX,
     .help = "Only jobs of this kind"},
    {.name = "limit",
     .kind = LC_PARAM_INT,
     .default_text = "50",
     .min = 1,
     .max = LC_PAGE_ROWS_MAX,
     .help = "At most so many"},
    {.name = "before",
     .kind = LC_PARAM_STRING,
     .min = 1,
     .max = LC_ID_BYTES_MAX,
     .help = "Only jobs older than this one: the `next` of the page before"},
    {.name = NULL},
};

static const lc_result list_results[] = {
    {"jobs", LC_PARAM_ANY, "Newest first"},
    JOB_RESULTS("jobs[]."),
    {"next", LC_PARAM_STRING, "What `before` must be for the next page; null at the end"},
    {NULL, LC_PARAM_ANY, NULL},
};

typedef struct page {
    lc_json_writer *out;
    int64_t limit;
    int64_t count;
    lc_id last; /* Of those that were written. */
    bool has_more;
} page;

/* One row more than the page is asked for: whether there is one tells whether to go on. */
static loci_status list_one(void *ctx, const lc_job *job, loci_error *err)
{
    page *p = ctx;

    (void)err; /* Writing to a buffer fails later. */
    if (p->count == p->limit) {
        p->has_more = true;
        return LOCI_OK;
    }
    lc_job_write(p->out, job);
    p->count++;
    if (job->id.len < sizeof p->last.text) {
        memcpy(p->last.text, job->id.ptr, job->id.len);
        p->last.text[job->id.len] = '\0';
    }
    return LOCI_OK;
}

static loci_status run_list(lc_call *call, lc_tx *tx, loci_error *err)
{
    int64_t limit = lc_call_i64(call, "limit", 50);
    lc_job_filter filter = {
        .kind = lc_call_str(call, "kind"),
        .status = -1,
        .before_id = lc_call_str(call, "before"),
        .limit = limit + 1,
    };
    page p = {.out = &call->out, .limit = limit};
    lc_job_status wanted;
    lc_job_key owner;
    loci_status status = find_owner(call, &owner, err);

    if (status != LOCI_OK)
        return status;
    filter.tenant_id = owner.tenant_id;
    filter.user_id = owner.user_id;
    if (lc_job_status_find(lc_call_str(call, "status"), &wanted))
        filter.status = (int)wanted;

    lc_jw_object(&call->out);
    lc_jw_name(&call->out, "jobs");
    lc_jw_array(&call->out);
    status = lc_job_each(tx, &filter, list_one, &p, err);
    lc_jw_end(&call->out);
    if (p.has_more)
        lc_jw_member_str(&call->out, "next", lc_id_str(&p.last));
    else
        lc_jw_member_null(&call->out, "next");
    lc_jw_end(&call->out);
    return status;
}

static const lc_op op_list = {
    .name = "job.list",
    .help = "List jobs, the newest first",
    .params = list_params,
    .results = list_results,
    .cost = LC_COST_WORK,
    .flags = LC_OP_USER | LC_OP_IDEMPOTENT,
    .http = "GET /v1/jobs",
    .example = "{\"status\":\"failed\",\"limit\":10}",
    .run = run_list,
};

/* ---- job.get -------------------------------------------------------------------------------- */

static const lc_param one_params[] = {ID_PARAM, SCOPE_PARAM, {.name = NULL}};

static loci_status write_job(lc_call *call, lc_tx *tx, const lc_job_key *key, loci_error *err)
{
    lc_job job;
    loci_status status = lc_job_load(tx, key, call->arena, &job, err);

    if (status == LOCI_OK)
        lc_job_write(&call->out, &job);
    return status;
}

static loci_status run_get(lc_call *call, lc_tx *tx, loci_error *err)
{
    lc_job_key key;
    loci_status status = find_owner(call, &key, err);

    if (status != LOCI_OK)
        return status;
    key.id = lc_call_str(call, "id");
    return write_job(call, tx, &key, err);
}

static const lc_op op_get = {
    .name = "job.get",
    .help = "Show one job: how far it is, what it answered, why it failed",
    .params = one_params,
    .results = job_results,
    .cost = LC_COST_POINT,
    .flags = LC_OP_USER | LC_OP_IDEMPOTENT,
    .http = "GET /v1/jobs/{id}",
    .example = "{\"id\":\"job_01JCQ5Z8G00000000G00000000\"}",
    .run = run_get,
};

/* ---- job.cancel ----------------------------------------------------------------------------- */

static loci_status run_cancel(lc_call *call, lc_tx *tx, loci_error *err)
{
    lc_job_key key;
    loci_status status = find_owner(call, &key, err);

    if (status != LOCI_OK)
        return status;
    key.id = lc_call_str(call, "id");
    status = lc_job_request_cancel(tx, &key, err);
    return status == LOCI_OK ? write_job(call, tx, &key, err) : status;
}

static const lc_op op_cancel = {
    .name = "job.cancel",
    .help = "Ask a job to stop; a running one ends at its next pause point",
    .params = one_params,
    .results = job_results,
    .cost = LC_COST_WRITE,
    .flags = LC_OP_USER | LC_OP_MUTATES,
    .http = "POST /v1/jobs/{id}/cancel",
    .example = "{\"id\":\"job_01JCQ5Z8G00000000G00000000\"}",
    .run = run_cancel,
};

extern const lc_op *const lc_ops_job[];
const lc_op *const lc_ops_job[] = {&op_list, &op_get, &op_cancel, NULL};
