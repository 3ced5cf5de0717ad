/* retry.h - when to ask again: after failures that pass, later each time, and not all at once.
 *
 * Pure decisions; net/client.c waits. */
#ifndef LC_NET_RETRY_H
#define LC_NET_RETRY_H

#include "base/random.h"

#define LC_NET_BACKOFF_MS 250           /* Before the second attempt; it doubles with each, */
#define LC_NET_BACKOFF_MS_MAX 8000      /* up to this. */
#define LC_NET_RETRY_AFTER_MS_MAX 60000 /* Nobody makes us wait longer than this at once. */

/* 429 and all of 5xx pass; what else is refused stays so. */
bool lc_net_may_pass(int http_status);

/* How long to wait after so many failed attempts (1 …): between half of the whole and the whole, so
 * that those who failed together do not come back together. */
int64_t lc_net_backoff_ms(lc_random *random, int attempts);

/* What a header `Retry-After` asks for: seconds, or a date of HTTP as seen from `now_us`. Never
 * more than LC_NET_RETRY_AFTER_MS_MAX; a date that has passed is 0, and what is neither is -1. */
int64_t lc_net_retry_after_ms(const char *value, int64_t now_us);

#endif /* LC_NET_RETRY_H */
