/* What a connection remembers of its own writes (store/memo.h). */
#include "lib/test.h"

#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "store/memo.h"

static lc_heap heap;

static lc_memo *new_memo(void)
{
    lc_heap_init(&heap, test_heap());
    return lc_memo_new(&heap);
}

static void put(lc_memo *memo, const char *key, const char *value)
{
    char *to = lc_memo_put(memo, loci_str_of(key), strlen(value) + 1);

    CHECK(to != NULL);
    memcpy(to, value, strlen(value) + 1);
}

static const char *find(const lc_memo *memo, const char *key)
{
    return lc_memo_find(memo, loci_str_of(key));
}

TEST(memo, what_was_put_is_found_until_it_is_dropped)
{
    lc_memo *memo = new_memo();

    CHECK(find(memo, "a") == NULL);
    put(memo, "a", "one");
    put(memo, "b", "two");
    CHECK_STR_EQ(find(memo, "a"), "one");
    put(memo, "a", "three");
    CHECK_STR_EQ(find(memo, "a"), "three");
    CHECK_STR_EQ(find(memo, "b"), "two");
    lc_memo_drop(memo, LC_STR("a"));
    lc_memo_drop(memo, LC_STR("nobody"));
    CHECK(find(memo, "a") == NULL);
    CHECK_STR_EQ(find(memo, "b"), "two");
    lc_memo_clear(memo);
    CHECK(find(memo, "b") == NULL);
    put(memo, "b", "four");
    CHECK_STR_EQ(find(memo, "b"), "four");
    lc_memo_free(memo);
}

/* What is too long does not leave the older one behind. */
TEST(memo, what_is_too_long_is_not_remembered)
{
    lc_memo *memo = new_memo();

    put(memo, "a", "one");
    CHECK(lc_memo_put(memo, LC_STR("a"), LC_MEMO_BYTES) == NULL);
    CHECK(find(memo, "a") == NULL);
    CHECK(lc_memo_put(memo, LC_STR("a"), LC_MEMO_BYTES - 1) != NULL);
    lc_memo_free(memo);
}

/* It is bounded, and never answers with somebody else's. */
TEST(memo, the_oldest_go_when_it_is_full)
{
    enum { COUNT = 3 * LC_MEMO_ENTRIES };
    lc_memo *memo = new_memo();
    int found = 0;
    char key[16];

    for (int i = 0; i < COUNT; i++) {
        (void)snprintf(key, sizeof key, "key %d", i);
        put(memo, key, key);
        CHECK_STR_EQ(find(memo, key), key);
    }
    for (int i = 0; i < COUNT; i++) {
        const char *value;

        (void)snprintf(key, sizeof key, "key %d", i);
        value = find(memo, key);
        if (value != NULL)
            CHECK_STR_EQ(value, key);
        found += value != NULL;
    }
    CHECK_LT(LC_MEMO_ENTRIES / 2, found);
    CHECK_LE(found, LC_MEMO_ENTRIES);
    lc_memo_free(memo);
}

TEST(memo, without_one_nothing_is_remembered)
{
    CHECK(lc_memo_put(NULL, LC_STR("a"), 1) == NULL);
    CHECK(lc_memo_find(NULL, LC_STR("a")) == NULL);
    lc_memo_drop(NULL, LC_STR("a"));
    lc_memo_clear(NULL);
    lc_memo_free(NULL);
}
