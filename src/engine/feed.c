/* feed.c - Invariant: the ranges are contiguous from `begin` to `end`: each begins where the one
 * before it ends. */
#include "engine/feed.h"

#include <string.h>

#include "base/assert.h"
#include "base/str.h"

lc_feed_range *lc_feed_range_new(lc_heap *heap, loci_str tenant_id, loci_str user_id,
                                 int64_t first_seq, int64_t count)
{
    size_t bytes = sizeof(lc_feed_range) + tenant_id.len + user_id.len;
    lc_feed_range *range = lc_heap_zalloc(heap, bytes, LOCI_MEM_ENGINE);
    char *text = (char *)(range + 1);

    LC_ASSERT(count > 0);
    if (range == NULL)
        return NULL;
    memcpy(text, tenant_id.ptr, tenant_id.len);
    memcpy(text + tenant_id.len, user_id.ptr, user_id.len);
    range->tenant_id = (loci_str){text, tenant_id.len};
    range->user_id = (loci_str){text + tenant_id.len, user_id.len};
    range->first_seq = first_seq;
    range->count = count;
    range->bytes = bytes;
    return range;
}

void lc_feed_range_free(lc_heap *heap, lc_feed_range *range)
{
    if (range != NULL)
        lc_heap_free(heap, range, range->bytes, LOCI_MEM_ENGINE);
}

void lc_feed_init(lc_feed *feed, lc_heap *heap)
{
    *feed = (lc_feed){.heap = heap};
}

static lc_feed_range *at(const lc_feed *feed, size_t nth)
{
    return feed->ranges[(feed->first + nth) % LC_FEED_RANGES_MAX];
}

static void drop_first(lc_feed *feed)
{
    lc_feed_range *range = at(feed, 0);

    feed->begin = range->begin + range->count;
    feed->first = (feed->first + 1) % LC_FEED_RANGES_MAX;
    feed->count--;
    lc_feed_range_free(feed->heap, range);
}

void lc_feed_clear(lc_feed *feed)
{
    while (feed->count > 0)
        drop_first(feed);
}

void lc_feed_add(lc_feed *feed, lc_feed_range *range)
{
    lc_feed_range *last = feed->count > 0 ? at(feed, feed->count - 1) : NULL;

    range->begin = feed->end;
    feed->end += range->count;
    /* A user who writes alone takes one range. */
    if (last != NULL && last->first_seq + last->count == range->first_seq &&
        lc_str_eq(last->user_id, range->user_id) && lc_str_eq(last->tenant_id, range->tenant_id)) {
        last->count += range->count;
        lc_feed_range_free(feed->heap, range);
        return;
    }
    if (feed->count == LC_FEED_RANGES_MAX)
        drop_first(feed);
    feed->ranges[(feed->first + feed->count) % LC_FEED_RANGES_MAX] = range;
    feed->count++;
}

void lc_feed_skip(lc_feed *feed)
{
    lc_feed_clear(feed);
    feed->begin = ++feed->end;
}

const lc_feed_range *lc_feed_find(const lc_feed *feed, loci_str tenant_id, int64_t position)
{
    size_t low = 0, high = feed->count;

    LC_ASSERT(!lc_feed_is_lost(feed, position));
    while (low < high) { /* The first range that ends behind the position. */
        size_t middle = low + (high - low) / 2;

        if (at(feed, middle)->begin + at(feed, middle)->count > position)
            high = middle;
        else
            low = middle + 1;
    }
    while (low < feed->count && !lc_str_eq(at(feed, low)->tenant_id, tenant_id))
        low++;
    return low < feed->count ? at(feed, low) : NULL;
}
