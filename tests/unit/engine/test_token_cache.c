/* The cache of tokens: what was read is found for a moment, and never once it has changed. */
#include "lib/test.h"

#include <string.h>

#include "base/str.h"
#include "engine/token_cache.h"

static lc_heap heap;

static lc_token_cache *new_cache(void)
{
    lc_token_cache *cache;
    loci_error err;

    lc_heap_init(&heap, test_heap());
    CHECK_OK(lc_token_cache_new(&heap, &cache, &err), err);
    return cache;
}

static lc_token token_named(const char *name)
{
    lc_token token = {.expires_at = LC_TOKEN_NO_TIME};

    memcpy(token.name, name, strlen(name) + 1);
    return token;
}

static void put(lc_token_cache *cache, const char *text)
{
    lc_token token = token_named(text);

    lc_token_cache_put(cache, loci_str_of(text), lc_token_cache_moment(cache), &token);
}

static bool is_found(lc_token_cache *cache, const char *text)
{
    lc_token found;

    if (!lc_token_cache_find(cache, loci_str_of(text), &found))
        return false;
    CHECK_STR_EQ(found.name, text);
    return true;
}

TEST(token_cache, what_was_put_is_found)
{
    lc_token_cache *cache = new_cache();

    CHECK(!is_found(cache, "a"));
    put(cache, "a");
    CHECK(is_found(cache, "a"));
    CHECK(!is_found(cache, "b"));
    CHECK(!is_found(cache, ""));
    put(cache, "a");
    CHECK(is_found(cache, "a"));
    lc_token_cache_free(cache);
    lc_token_cache_free(NULL);
}

/* A revocation may be committed while the row it ends is being read. */
TEST(token_cache, what_was_read_before_a_change_is_not_found_after_it)
{
    lc_token_cache *cache = new_cache();
    lc_token token = token_named("late");
    lc_token_moment before = lc_token_cache_moment(cache);

    put(cache, "early");
    lc_token_cache_forget(cache);
    CHECK(!is_found(cache, "early"));
    lc_token_cache_put(cache, LC_STR("late"), before, &token);
    CHECK(!is_found(cache, "late"));
    put(cache, "late");
    CHECK(is_found(cache, "late"));
    lc_token_cache_free(cache);
}

TEST(token_cache, what_was_read_a_second_ago_is_read_again)
{
    lc_token_cache *cache = new_cache();
    lc_token token = token_named("old");
    lc_token_moment before = lc_token_cache_moment(cache);

    before.us -= LC_TOKEN_CACHE_US;
    lc_token_cache_put(cache, LC_STR("old"), before, &token);
    CHECK(!is_found(cache, "old"));
    before.us += LC_TOKEN_CACHE_US / 2;
    lc_token_cache_put(cache, LC_STR("old"), before, &token);
    CHECK(is_found(cache, "old"));
    lc_token_cache_free(cache);
}

TEST(token_cache, it_does_not_grow_beyond_its_entries)
{
    lc_token_cache *cache = new_cache();
    size_t empty = test_heap_live_blocks();
    int found = 0;

    for (int i = 0; i < 8 * LC_TOKEN_CACHE_ENTRIES; i++) {
        put(cache, test_format("token %d", i));
        CHECK(is_found(cache, test_format("token %d", i)));
    }
    CHECK_LE(test_heap_live_blocks() - empty, LC_TOKEN_CACHE_ENTRIES);
    for (int i = 0; i < 8 * LC_TOKEN_CACHE_ENTRIES; i++)
        found += is_found(cache, test_format("token %d", i));
    CHECK_LE(found, LC_TOKEN_CACHE_ENTRIES);
    CHECK_LT(LC_TOKEN_CACHE_ENTRIES / 2, found);
    lc_token_cache_free(cache);
}

/* Without memory it is only slower. */
TEST(token_cache, without_memory_nothing_is_kept)
{
    lc_token_cache *cache = new_cache();

    test_heap_fail_nth(1);
    put(cache, "a");
    CHECK(test_heap_disarm());
    CHECK(!is_found(cache, "a"));
    put(cache, "a");
    CHECK(is_found(cache, "a"));
    lc_token_cache_free(cache);
}
