/* extraction.h - facts extracted from messages by the chat provider, as a job.
 *
 * With a chat provider configured, fact.observe stores the message and queues this job in the same
 * transaction; it never waits for the provider and never fails because of it. Then the rules for
 * plain language (context/observe.h) do not run at once, so that a statement is not applied twice.
 * They are the fallback: the job runs them when its attempts are used up, or when another attempt
 * cannot help (a refusal, a limit).
 */
#ifndef LC_ENGINE_EXTRACTION_H
#define LC_ENGINE_EXTRACTION_H

#include "base/setting.h"
#include "context/observe.h"
#include "engine/job_kind.h"

extern const lc_setting lc_setting_extract_enabled;
extern const lc_setting lc_setting_judge_enabled;

/* Whether messages of this tenant are left to the job: a chat provider is configured and the tenant
 * has not turned it off. */
bool lc_extraction_is_on(loci_engine *engine, loci_str tenant_id);

/* In the transaction that stored the message, `message` with its id, seq and session. The job gets
 * the speaker's authority, trust and view as they are now. */
loci_status lc_extraction_enqueue(lc_tx *tx, const lc_observation *observation, lc_id *out,
                                  loci_error *err);

/* "fact.extract": result {method, outcomes: [{id, outcome}], refused}. `method` is model, rules, or
 * none if the message does not exist any more; `refused` counts proposals that did not pass the
 * checks. Neither arguments nor result contain text or keys: every caller of the user sees them. */
extern const lc_job_kind lc_job_extract;

#endif /* LC_ENGINE_EXTRACTION_H */
