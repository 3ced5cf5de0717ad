/* verify_job.h - store.verify for callers that cannot wait until it ends.
 *
 * "store.verify": args {}, result {sound, users, events} or {sound: false, message, data}: the
 * error `corrupt` that a caller gets. Belongs to the store; its unique name is "verify", so callers
 * that come while it runs get the same one. It writes nothing but its own row.
 */
#ifndef LC_ENGINE_VERIFY_JOB_H
#define LC_ENGINE_VERIFY_JOB_H

#include "engine/job_kind.h"

extern const lc_job_kind lc_job_verify;

#endif /* LC_ENGINE_VERIFY_JOB_H */
