/* feed.h - the latest growth of all logs, in memory, for streams of all users.
 *
 * The watch appends each range of new events that it learns of (store/grown.h). The feed numbers
 * these events 0, 1, 2 … in that order. So the position of a stream of all users is one number, and
 * two streams of a tenant at the same position get the same events next. The events themselves stay
 * in the log: the feed has users and seqs only.
 *
 * It has the last LC_FEED_RANGES_MAX ranges. A position before the oldest range is lost: events of
 * that stream have been dropped. No lock: the caller's.
 */
#ifndef LC_ENGINE_FEED_H
#define LC_ENGINE_FEED_H

#include "base/env.h"
#include "base/limits.h"
#include "loci.h"

#include <stdbool.h>

#define LC_FEED_RANGES_MAX 4096

/* New events of one user; one block with its texts. */
typedef struct lc_feed_range {
    struct lc_feed_range *next; /* For the caller, until it is added. */
    loci_str tenant_id, user_id;
    int64_t first_seq, count;
    int64_t begin; /* Number of its first event; set when it is added. */
    size_t bytes;  /* Of this block. */
} lc_feed_range;

typedef struct lc_feed {
    lc_heap *heap;
    lc_feed_range *ranges[LC_FEED_RANGES_MAX]; /* A ring. */
    size_t first, count;
    int64_t begin, end; /* Number of the oldest event, and of the next. */
} lc_feed;

/* NULL when out of memory. Texts are copied. */
lc_feed_range *lc_feed_range_new(lc_heap *heap, loci_str tenant_id, loci_str user_id,
                                 int64_t first_seq, int64_t count);
void lc_feed_range_free(lc_heap *heap, lc_feed_range *range); /* NULL is fine. */

void lc_feed_init(lc_feed *feed, lc_heap *heap);
void lc_feed_clear(lc_feed *feed);
/* Takes over the range. */
void lc_feed_add(lc_feed *feed, lc_feed_range *range);
/* Events may be missing: every position so far is lost. */
void lc_feed_skip(lc_feed *feed);

static inline bool lc_feed_is_lost(const lc_feed *feed, int64_t position)
{
    return position < feed->begin;
}
/* The range that has the event at `position`, or the first behind it of this tenant; NULL if there
 * is none. The position must not be lost. Valid until the feed changes. */
const lc_feed_range *lc_feed_find(const lc_feed *feed, loci_str tenant_id, int64_t position);

#endif /* LC_ENGINE_FEED_H */
