/* upkeep_as_job.c - translates the end of the job. */
#include "ops/upkeep_as_job.h"

#include <stdio.h>

#include "base/error.h"
#include "base/json.h"
#include "base/str.h"
#include "engine/engine.h"
#include "ops/op_job.h"
#include "store/event.h"

static loci_status answer_as_call(lc_call *call, const lc_job *job, loci_error *err)
{
    const lc_json *result;
    char going_on[64];
    loci_str data;
    loci_status status;

    if (!lc_job_status_is_ended(job->status)) {
        (void)snprintf(going_on, sizeof going_on, "{\"job_id\":\"%.*s\"}", LC_STR_ARG(job->id));
        status = lc_fail(err, LOCI_EDEADLINE,
                         "%s takes longer than this call may: it goes on as %.*s; call "
                         "job.get {\"scope\":\"store\"} for its progress and result",
                         call->op->name, LC_STR_ARG(job->id));
        lc_error_set_data(err, loci_str_of(going_on));
        return status;
    }
    status = lc_json_parse(call->arena, job->result, 0, &result, err);
    if (status == LOCI_OK)
        status = lc_event_raw(result, "data", call->arena, &data, err);
    if (status != LOCI_OK)
        return status;
    if (data.len == 0) {
        lc_jw_raw(&call->out, job->result);
        return LOCI_OK;
    }
    status = lc_fail(err, LOCI_ECORRUPT, "%.*s", LC_STR_ARG(lc_event_str(result, "message")));
    lc_error_set_data(err, data);
    return status;
}

bool lc_upkeep_is_job(const lc_call *call)
{
    return call->is_remote && !lc_engine_is_read_only(call->engine);
}

loci_status lc_upkeep_as_job(lc_call *call, const lc_upkeep_job *job, loci_error *err)
{
    lc_job_new added = {.kind = loci_str_of(job->kind),
                        .unique = loci_str_of(job->kind),
                        .attempts_max = job->attempts_max,
                        .args = job->args};

    return lc_job_start_run(call,
                            &(lc_job_start){.tenant_id = LC_STR(""),
                                            .user_id = LC_STR(""),
                                            .job = &added,
                                            .unit = job->unit,
                                            .waits = true,
                                            .answer = answer_as_call},
                            err);
}
