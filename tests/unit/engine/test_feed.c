/* The feed numbers events across users; positions stay right when the oldest ranges go. */
#include "lib/test.h"

#include "base/str.h"
#include "engine/feed.h"

static void add(lc_feed *feed, const char *tenant, const char *user, int64_t first, int64_t count)
{
    lc_feed_range *range = lc_feed_range_new(feed->heap, loci_str_of(tenant), loci_str_of(user),
                                             first, count);

    CHECK(range != NULL);
    lc_feed_add(feed, range);
}

TEST(feed, a_position_finds_its_user_and_seq)
{
    const lc_feed_range *found;
    lc_heap heap;
    lc_feed feed;

    lc_heap_init(&heap, test_heap());
    lc_feed_init(&feed, &heap);
    add(&feed, "t", "a", 5, 3);
    add(&feed, "other", "x", 1, 10);
    add(&feed, "t", "b", 1, 2);
    CHECK_EQ(feed.end, 15);
    found = lc_feed_find(&feed, LC_STR("t"), 0);
    CHECK_STR_EQ(found->user_id, "a");
    found = lc_feed_find(&feed, LC_STR("t"), 2);
    CHECK_STR_EQ(found->user_id, "a");
    CHECK_EQ(found->first_seq + 2 - found->begin, 7);
    found = lc_feed_find(&feed, LC_STR("t"), 3); /* Not the other tenant's. */
    CHECK_STR_EQ(found->user_id, "b");
    CHECK_EQ(found->begin, 13);
    CHECK(lc_feed_find(&feed, LC_STR("t"), 15) == NULL);
    CHECK(lc_feed_find(&feed, LC_STR("nobody"), 0) == NULL);
    lc_feed_clear(&feed);
}

TEST(feed, a_user_that_writes_alone_takes_one_range)
{
    lc_heap heap;
    lc_feed feed;

    lc_heap_init(&heap, test_heap());
    lc_feed_init(&feed, &heap);
    for (int64_t seq = 1; seq <= 3 * LC_FEED_RANGES_MAX; seq++)
        add(&feed, "t", "a", seq, 1);
    CHECK_EQ(feed.count, 1);
    CHECK(!lc_feed_is_lost(&feed, 0));
    add(&feed, "t", "a", 3 * LC_FEED_RANGES_MAX + 2, 1); /* One was left out. */
    CHECK_EQ(feed.count, 2);
    lc_feed_clear(&feed);
}

TEST(feed, the_oldest_ranges_are_lost_and_no_others)
{
    lc_heap heap;
    lc_feed feed;

    lc_heap_init(&heap, test_heap());
    lc_feed_init(&feed, &heap);
    for (int i = 0; i < LC_FEED_RANGES_MAX + 10; i++)
        add(&feed, "t", test_format("u%d", i), 1, 2);
    CHECK_EQ(feed.count, LC_FEED_RANGES_MAX);
    CHECK(lc_feed_is_lost(&feed, 19));
    CHECK(!lc_feed_is_lost(&feed, 20));
    CHECK_STR_EQ(lc_feed_find(&feed, LC_STR("t"), 20)->user_id, "u10");
    CHECK_STR_EQ(lc_feed_find(&feed, LC_STR("t"), feed.end - 1)->user_id,
                 test_format("u%d", LC_FEED_RANGES_MAX + 9));
    lc_feed_skip(&feed);
    CHECK(lc_feed_is_lost(&feed, feed.end - 1));
    CHECK(!lc_feed_is_lost(&feed, feed.end));
    lc_feed_clear(&feed);
}
