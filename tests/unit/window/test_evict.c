/* The order of eviction: four policies on one fixture, and the laws of an order. */
#include "lib/test.h"

#include <stdlib.h>

#include "window/evict.h"

#define HOUR INT64_C(3600000000)

/* Attention, kind, size and age each lead to another victim. */
static const lc_evictable fixture[] = {
    {LC_STR("soul"), LC_KIND_SOUL, 0.5, 900, 1 * HOUR, false},
    {LC_STR("tools"), LC_KIND_TOOLS, 1, 400, 2 * HOUR, false},
    {LC_STR("code"), LC_KIND_CODE, 1, 5000, 6 * HOUR, false},
    {LC_STR("daily"), LC_KIND_DAILY, 1, 700, 3 * HOUR, false},
    {LC_STR("memory"), LC_KIND_MEMORY, 1, 700, 4 * HOUR, false},
    {LC_STR("user"), LC_KIND_USER, 1, 300, 5 * HOUR, false},
    {LC_STR("hot"), LC_KIND_DOCUMENT, 4, 9000, 0, false},
    {LC_STR("ignored"), LC_KIND_OTHER, 0, 10, 9 * HOUR, false},
    {LC_STR("pinned"), LC_KIND_OTHER, 0, 10, 0, true},
};
#define COUNT (sizeof fixture / sizeof fixture[0])

static lc_window_policy sorting_by;

static int compare(const void *a, const void *b)
{
    return lc_evict_compare(sorting_by, a, b);
}

static const char *order_of(lc_window_policy policy)
{
    lc_evictable sorted[COUNT];
    const char *out = "";

    for (size_t i = 0; i < COUNT; i++)
        sorted[i] = fixture[i];
    sorting_by = policy;
    qsort(sorted, COUNT, sizeof sorted[0], compare);
    for (size_t i = 0; i < COUNT; i++)
        if (lc_evict_allows(policy, &sorted[i]))
            out = test_format("%s %s", out, sorted[i].id.ptr);
    return out;
}

/* docs/window.md has the same table. */
TEST(evict, four_policies_on_one_fixture)
{
    CHECK_STR_EQ(loci_str_of(order_of(LC_POLICY_LRU)),
                 " ignored soul tools daily memory user code hot");
    CHECK_STR_EQ(loci_str_of(order_of(LC_POLICY_SIZE_FIRST)),
                 " ignored soul code daily memory tools user hot");
    CHECK_STR_EQ(loci_str_of(order_of(LC_POLICY_KEEP_RELATIONAL)),
                 " ignored tools code daily memory hot");
    CHECK_STR_EQ(loci_str_of(order_of(LC_POLICY_KEEP_TECHNICAL)),
                 " ignored soul daily user memory hot");
}

TEST(evict, the_reason_names_what_decided)
{
    char out[LC_EVICT_REASON_BYTES];

    CHECK_STR_EQ(lc_evict_explain(LC_POLICY_LRU, &fixture[0], out),
                 "attention 0.5; lru: last used 1970-01-01T01:00:00Z");
    CHECK_STR_EQ(lc_evict_explain(LC_POLICY_SIZE_FIRST, &fixture[2], out),
                 "attention 1; size_first: 5000 tokens, last used 1970-01-01T06:00:00Z");
    CHECK_STR_EQ(lc_evict_explain(LC_POLICY_KEEP_TECHNICAL, &fixture[3], out),
                 "attention 1; keep_technical: kind daily, last used 1970-01-01T03:00:00Z");
}

/* Total and consistent, or a sort could put a resource anywhere. */
TEST(evict, it_is_a_total_order)
{
    static const double attentions[] = {0, 0.3, 0.9, 1, 1.1, 10};

    test_rng rng = test_random(17);

    for (int round = 0; round < 2000; round++) {
        lc_window_policy policy = (lc_window_policy)test_rng_below(&rng, LC_POLICIES);
        lc_evictable r[3];

        for (size_t i = 0; i < 3; i++)
            r[i] = (lc_evictable){loci_str_of(test_format("r%zu", i)),
                                  (lc_resource_kind)test_rng_below(&rng, LC_KINDS),
                                  attentions[test_rng_below(&rng, 6)],
                                  (int64_t)test_rng_below(&rng, 3),
                                  (int64_t)test_rng_below(&rng, 3),
                                  false};
        for (size_t i = 0; i < 3; i++)
            for (size_t k = 0; k < 3; k++) {
                int forth = lc_evict_compare(policy, &r[i], &r[k]);

                CHECK_EQ(forth > 0, lc_evict_compare(policy, &r[k], &r[i]) < 0);
                CHECK_EQ(forth == 0, i == k);
            }
        if (lc_evict_compare(policy, &r[0], &r[1]) < 0 &&
            lc_evict_compare(policy, &r[1], &r[2]) < 0)
            CHECK(lc_evict_compare(policy, &r[0], &r[2]) < 0);
    }
}
