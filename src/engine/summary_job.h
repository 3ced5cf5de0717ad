/* summary_job.h - the job that makes summaries (session/summary.h).
 *
 * It reads on a snapshot, asks the chat provider if one is configured, outside of any transaction,
 * and adds the summary with the end of the job in one commit. A provider that is down, slow or
 * answers nonsense costs nothing but time: when its attempts are used up, or another one cannot
 * help, the summary is extracted from the messages by rules.
 */
#ifndef LC_ENGINE_SUMMARY_JOB_H
#define LC_ENGINE_SUMMARY_JOB_H

#include "base/setting.h"
#include "engine/job_kind.h"

extern const lc_setting lc_setting_summary_use_model;

/* "summary.make": args {kind, session_id?, persona_id?, forced?}, result {made, method?}. */
extern const lc_job_kind lc_job_summary_make;

#endif /* LC_ENGINE_SUMMARY_JOB_H */
