/* quota.h - limits of each tenant of a shared store.
 *
 *     quota.requests_per_second   calls, by a bucket that holds one second's worth
 *     quota.events_per_day        events of a day in UTC
 *     quota.log_bytes_max         size of the log; forgetting makes it smaller
 *     quota.users_max             users that have a log
 *
 * All are 0 by default: no limit; then a check costs one read of an atomic. A refusal is
 * LOCI_ELIMIT. Where time helps, its data has `retry_after_ms`.
 *
 * Checks look at numbers in memory. Writes of this process are added at once; those of others are
 * found by a query, every few seconds while the tenant writes: users and events are sums over
 * `heads`, and the sum at the beginning of the day is a row of `meta`. The size of the log needs a
 * query that reads all of it, at most once a minute. Until the first count, which the first write
 * starts, nothing is refused but by rate. Calls that run at the same moment may exceed a quota by
 * their own size.
 *
 * Operations for administrators are never refused, and those that end or remove something only by
 * rate.
 */
#ifndef LC_ENGINE_QUOTA_H
#define LC_ENGINE_QUOTA_H

#include "engine/engine.h"

extern const lc_setting lc_setting_quota_events_per_day;
extern const lc_setting lc_setting_quota_log_bytes_max;
extern const lc_setting lc_setting_quota_requests_per_second;
extern const lc_setting lc_setting_quota_users_max;

typedef struct lc_quotas lc_quotas;

loci_status lc_quotas_new(loci_engine *engine, lc_quotas **out, loci_error *err);
void lc_quotas_free(lc_quotas *quotas); /* NULL is fine. */
/* The settings may have other values. */
void lc_quotas_changed(lc_quotas *quotas);

#endif /* LC_ENGINE_QUOTA_H */
