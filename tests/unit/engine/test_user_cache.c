/* The bounds of the user cache: which entries are evicted, when, and what stays usable. States here
 * are blocks of memory that do not follow the log. */
#include "lib/test.h"

#include <stdio.h>

#include "base/error.h"
#include "base/str.h"
#include "engine/user_cache.h"

#define BLOCK_BYTES 10000

static lc_heap heap;

typedef struct block {
    lc_heap *heap;
    int number; /* The first user who sees it writes it. */
    char bytes[BLOCK_BYTES];
} block;

static loci_status open_block(const lc_user_kind *kind, lc_heap *from, void **out, loci_error *err)
{
    block *b = lc_heap_zalloc(from, sizeof *b, LOCI_MEM_INDEX);

    (void)kind;
    if (b == NULL)
        return lc_fail_memory(err);
    b->heap = from;
    *out = b;
    return LOCI_OK;
}

static size_t block_bytes(const void *state)
{
    (void)state;
    return sizeof(block);
}

static void close_block(void *state)
{
    block *b = state;

    if (b != NULL)
        lc_heap_free(b->heap, b, sizeof *b, LOCI_MEM_INDEX);
}

static const lc_user_kind block_kind = {
    .name = "test.block", .open = open_block, .bytes = block_bytes, .close = close_block};
static const lc_user_kind other_kind = {
    .name = "test.other", .open = open_block, .bytes = block_bytes, .close = close_block};

static lc_user_cache *new_cache(void)
{
    lc_user_cache *cache;
    loci_error err;

    lc_heap_init(&heap, test_heap());
    CHECK_OK(lc_user_cache_new(&heap, &cache, &err), err);
    return cache;
}

/* A transaction of one user and what it borrows through. */
typedef struct reader {
    lc_tx tx;
    lc_lender lender;
} reader;

static void start(reader *r, lc_user_cache *cache, const char *tenant, const char *user)
{
    *r = (reader){.tx = {.tenant_id = loci_str_of(tenant), .user_id = loci_str_of(user)}};
    lc_lender_init(&r->lender, cache);
    r->tx.states = &r->lender.states;
}

static block *borrow(reader *r, const lc_user_kind *kind)
{
    bool is_complete = false;
    loci_error err;
    void *state = NULL;

    CHECK_OK(lc_tx_borrow(&r->tx, kind, &state, &is_complete, &err), err);
    CHECK(is_complete);
    return state;
}

/* The number in the user's block, which is set to `number` if it is new. */
static int visit(lc_user_cache *cache, const char *user, int number)
{
    reader r;
    block *b;
    int seen;

    start(&r, cache, "t", user);
    b = borrow(&r, &block_kind);
    if (b->number == 0)
        b->number = number;
    seen = b->number;
    lc_tx_give_back(&r.tx, &block_kind, b);
    return seen;
}

TEST(user_cache, a_state_is_found_again)
{
    lc_user_cache *cache = new_cache();

    CHECK_EQ(visit(cache, "ann", 1), 1);
    CHECK_EQ(visit(cache, "bob", 2), 2);
    CHECK_EQ(visit(cache, "ann", 3), 1);
    CHECK_EQ(lc_user_cache_get_counters(cache).entries, 2);
    CHECK_LT(2 * BLOCK_BYTES, lc_user_cache_get_counters(cache).bytes);
    lc_user_cache_free(cache);
    lc_user_cache_free(NULL);
}

/* Tenant and user must not run into each other: that would show one tenant the state of another. */
TEST(user_cache, users_of_different_tenants_differ)
{
    lc_user_cache *cache = new_cache();
    const char *pairs[][2] = {{"a", "bc"}, {"ab", "c"}, {"", "abc"}, {"abc", ""}};
    reader r;

    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < 4; i++) {
            block *b;

            start(&r, cache, pairs[i][0], pairs[i][1]);
            b = borrow(&r, &block_kind);
            CHECK_EQ(b->number, round == 0 ? 0 : i + 1);
            b->number = i + 1;
            lc_tx_give_back(&r.tx, &block_kind, b);
        }
    }
    lc_user_cache_free(cache);
}

TEST(user_cache, kinds_have_states_of_their_own)
{
    lc_user_cache *cache = new_cache();
    reader r;
    block *b;

    visit(cache, "ann", 1);
    start(&r, cache, "t", "ann");
    b = borrow(&r, &other_kind);
    CHECK_EQ(b->number, 0);
    lc_tx_give_back(&r.tx, &other_kind, b);
    CHECK_EQ(visit(cache, "ann", 2), 1);
    CHECK_EQ(lc_user_cache_get_counters(cache).entries, 1);
    lc_user_cache_free(cache);
}

TEST(user_cache, the_least_recently_used_is_evicted)
{
    lc_user_cache *cache = new_cache();

    visit(cache, "a", 1);
    visit(cache, "b", 2);
    visit(cache, "c", 3);
    visit(cache, "a", 9);
    lc_user_cache_set_limit(cache, 3 * (BLOCK_BYTES + 1000));
    CHECK_EQ(lc_user_cache_get_counters(cache).evictions, 0);
    visit(cache, "d", 4);
    CHECK_EQ(lc_user_cache_get_counters(cache).evictions, 1);
    CHECK_EQ(visit(cache, "c", 9), 3);
    CHECK_EQ(visit(cache, "a", 9), 1);
    CHECK_EQ(visit(cache, "d", 9), 4);
    CHECK_EQ(visit(cache, "b", 9), 9); /* It was the oldest. */
    lc_user_cache_free(cache);
}

TEST(user_cache, memory_is_bounded_with_many_users)
{
    lc_user_cache *cache = new_cache();
    lc_user_cache_counters counters;
    char user[32];

    lc_user_cache_set_limit(cache, 1000000);
    for (int i = 1; i <= 5000; i++) {
        (void)snprintf(user, sizeof user, "user%d", i);
        CHECK_EQ(visit(cache, user, i), i);
        CHECK_LE(lc_user_cache_get_counters(cache).bytes, 1000000);
    }
    counters = lc_user_cache_get_counters(cache);
    CHECK_LE(50, counters.entries);
    CHECK_EQ(counters.evictions, 5000 - counters.entries);
    CHECK_LE(test_heap_live_bytes(LOCI_MEM_INDEX), 1000000);
    CHECK_EQ(visit(cache, user, 1), 5000);
    lc_user_cache_set_limit(cache, 0);
    CHECK_EQ(lc_user_cache_get_counters(cache).entries, 0);
    CHECK_EQ(lc_user_cache_get_counters(cache).bytes, 0);
    CHECK_EQ(visit(cache, user, 1), 1); /* Usable without any room. */
    CHECK_EQ(lc_user_cache_get_counters(cache).entries, 0);
    lc_user_cache_free(cache);
}

static loci_status open_huge(const lc_user_kind *kind, lc_heap *from, void **out, loci_error *err)
{
    return open_block(kind, from, out, err);
}

static size_t huge_bytes(const void *state)
{
    (void)state;
    return 100 * BLOCK_BYTES;
}

static int visit_huge(lc_user_cache *cache, const char *user, int number)
{
    static const lc_user_kind huge_kind = {
        .name = "test.huge", .open = open_huge, .bytes = huge_bytes, .close = close_block};
    reader r;
    block *b;
    int seen;

    start(&r, cache, "t", user);
    b = borrow(&r, &huge_kind);
    if (b->number == 0)
        b->number = number;
    seen = b->number;
    lc_tx_give_back(&r.tx, &huge_kind, b);
    return seen;
}

/* One large user neither evicts all others nor is made again for each call. */
TEST(user_cache, a_state_above_the_limit_stays_while_it_is_used)
{
    lc_user_cache *cache = new_cache();

    lc_user_cache_set_limit(cache, 10 * BLOCK_BYTES);
    visit(cache, "a", 1);
    visit(cache, "b", 2);
    CHECK_EQ(visit_huge(cache, "huge", 3), 3);
    CHECK_EQ(visit_huge(cache, "huge", 9), 3);
    CHECK_EQ(lc_user_cache_get_counters(cache).entries, 3);
    CHECK_EQ(visit(cache, "a", 9), 1);
    CHECK_EQ(lc_user_cache_get_counters(cache).entries, 2); /* The huge one is gone. */
    CHECK_EQ(visit(cache, "b", 9), 2);
    CHECK_EQ(visit_huge(cache, "huge", 4), 4);
    CHECK_EQ(visit_huge(cache, "huger", 5), 5);
    CHECK_EQ(lc_user_cache_get_counters(cache).entries, 3); /* One of them, never two. */
    CHECK_EQ(visit(cache, "a", 9), 1);
    CHECK_EQ(visit(cache, "b", 9), 2);
    lc_user_cache_free(cache);
}

TEST(user_cache, evict_frees_as_many_bytes_as_wanted)
{
    lc_user_cache *cache = new_cache();
    int64_t before;
    size_t freed;

    CHECK_EQ(lc_user_cache_evict(cache, 1, INT64_MAX), 0);
    for (int i = 0; i < 10; i++)
        visit(cache, (const char *[]){"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"}[i], i + 1);
    before = lc_user_cache_get_counters(cache).bytes;
    freed = lc_user_cache_evict(cache, 2 * BLOCK_BYTES, INT64_MAX);
    CHECK_LE(2 * BLOCK_BYTES, freed);
    CHECK_EQ(lc_user_cache_get_counters(cache).entries, 8);
    CHECK_EQ(lc_user_cache_get_counters(cache).bytes, before - (int64_t)freed);
    CHECK_EQ(visit(cache, "c", 99), 3);
    (void)lc_user_cache_evict(cache, SIZE_MAX, INT64_MAX);
    CHECK_EQ(lc_user_cache_get_counters(cache).bytes, 0);
    lc_user_cache_free(cache);
}

TEST(user_cache, what_is_lent_is_neither_evicted_nor_closed)
{
    lc_user_cache *cache = new_cache();
    reader r;
    block *b;

    start(&r, cache, "t", "ann");
    b = borrow(&r, &block_kind);
    b->number = 7;
    CHECK_EQ(lc_user_cache_evict(cache, SIZE_MAX, INT64_MAX), 0);
    lc_user_cache_clear(cache); /* The store was replaced: it must not be found again. */
    CHECK_EQ(lc_user_cache_get_counters(cache).entries, 0);
    CHECK_EQ(visit(cache, "ann", 8), 8);
    CHECK_EQ(b->number, 7);
    lc_tx_give_back(&r.tx, &block_kind, b);
    CHECK_EQ(visit(cache, "ann", 9), 8);
    lc_user_cache_free(cache);
}

/* A second reader of a lent state gets a private one, if it may not come again. */
TEST(user_cache, a_busy_state_is_replaced_by_a_private_one)
{
    lc_user_cache *cache = new_cache();
    bool is_complete;
    reader first, second;
    void *state = NULL;
    block *b;
    loci_error err;

    start(&first, cache, "t", "ann");
    start(&second, cache, "t", "ann");
    b = borrow(&first, &block_kind);
    b->number = 7;
    second.lender.may_retry = true;
    CHECK_STATUS(LOCI_ECONFLICT, lc_tx_borrow(&second.tx, &block_kind, &state, &is_complete, &err));
    CHECK(second.lender.must_retry);
    second.lender.may_retry = false;
    state = borrow(&second, &block_kind);
    CHECK(state != b);
    CHECK_EQ(((block *)state)->number, 0);
    lc_tx_give_back(&second.tx, &block_kind, state);
    lc_tx_give_back(&first.tx, &block_kind, b);
    CHECK_EQ(visit(cache, "ann", 8), 7);
    lc_user_cache_free(cache);
}

static loci_status use_once(void *ctx)
{
    lc_user_cache *cache = NULL;
    bool is_complete;
    reader r;
    void *state = NULL;
    loci_status status;

    (void)ctx;
    lc_heap_init(&heap, test_heap());
    status = lc_user_cache_new(&heap, &cache, NULL);
    for (int i = 0; i < 3 && status == LOCI_OK; i++) {
        start(&r, cache, "t", i == 1 ? "ann" : "bob");
        status = lc_tx_borrow(&r.tx, i == 2 ? &other_kind : &block_kind, &state, &is_complete,
                              NULL);
        if (status == LOCI_OK)
            lc_tx_give_back(&r.tx, i == 2 ? &other_kind : &block_kind, state);
    }
    lc_user_cache_free(cache);
    return status;
}

TEST(user_cache, running_out_of_memory_is_an_answer)
{
    test_oom_sweep(use_once, NULL);
}
