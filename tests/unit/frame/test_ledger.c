/* Tests of frame/ledger.h: the seed's example, each refusal, and random trees of frames whose
 * tokens are also counted in a second, naive way. */
#include "frame/ledger.h"

#include "lib/test.h"

#define MAX LC_LEDGER_TOKENS_MAX

/* The numbers of the design: 8000 given, 700 reserved, a child that got 3000 and used 2500, 2000
 * spent. Before the child returns its rest 2300 are available, afterwards 2800. */
TEST(ledger, a_child_returns_what_it_did_not_use)
{
    lc_ledger root = {.total = 8000}, child;
    lc_reservation brief, crumbs;

    CHECK(lc_ledger_reserve(&root, 500, &brief));
    CHECK(lc_ledger_reserve(&root, 200, &crumbs));
    CHECK(lc_ledger_allocate(&root, 3000, &child));
    CHECK(lc_ledger_use(&root, 2000));
    CHECK_EQ(lc_ledger_available(&root), 2300);
    CHECK(lc_ledger_use(&child, 2500));
    CHECK_EQ(lc_ledger_available(&child), 500);
    CHECK(lc_ledger_settle(&root, &child));
    CHECK_EQ(lc_ledger_available(&root), 2800);
    CHECK_EQ(root.used, 4500);
    CHECK_EQ(root.allocated, 0);
    CHECK(child.is_settled);
}

TEST(ledger, reservation_is_not_counted_twice)
{
    lc_ledger ledger = {.total = 100};
    lc_reservation held;

    CHECK(lc_ledger_reserve(&ledger, 60, &held));
    CHECK(lc_ledger_consume(&ledger, &held, 25));
    CHECK_EQ(held.left, 35);
    CHECK_EQ(lc_ledger_available(&ledger), 40);
    CHECK(lc_ledger_consume(&ledger, &held, 40)); /* 5 more than were reserved. */
    CHECK_EQ(held.left, 0);
    CHECK_EQ(ledger.used, 65);
    CHECK_EQ(lc_ledger_available(&ledger), 35);
    lc_ledger_release(&ledger, &held);
    lc_ledger_release(&ledger, &held);
    CHECK_EQ(lc_ledger_available(&ledger), 35);
}

/* Spent tokens cannot be refused, but nothing more is granted until the debt is gone. */
TEST(ledger, overdraft_is_recorded_and_grants_nothing)
{
    lc_ledger ledger = {.total = 100}, child = {0};
    lc_reservation held = {7};

    CHECK(lc_ledger_use(&ledger, 130));
    CHECK_EQ(lc_ledger_overdraft(&ledger), 30);
    CHECK_EQ(lc_ledger_available(&ledger), 0);
    CHECK(!lc_ledger_reserve(&ledger, 1, &held));
    CHECK(!lc_ledger_allocate(&ledger, 1, &child));
    CHECK_EQ(held.left, 7);
    CHECK_EQ(child.total, 0);
    CHECK(lc_ledger_reserve(&ledger, 0, &held));
}

/* A child can spend more than it got; its parent then pays for all of it. */
TEST(ledger, overdraft_of_a_child_moves_to_its_parent)
{
    lc_ledger root = {.total = 100}, child;

    CHECK(lc_ledger_allocate(&root, 80, &child));
    CHECK(lc_ledger_use(&child, 90));
    CHECK_EQ(lc_ledger_overdraft(&child), 10);
    CHECK_EQ(lc_ledger_overdraft(&root), 0);
    CHECK(lc_ledger_use(&root, 20));
    CHECK(lc_ledger_settle(&root, &child));
    CHECK_EQ(lc_ledger_overdraft(&root), 10);
}

TEST(ledger, use_above_the_maximum_is_refused)
{
    lc_ledger root = {.total = MAX}, child;
    lc_reservation held;

    CHECK(lc_ledger_allocate(&root, 1, &child));
    CHECK(lc_ledger_reserve(&root, MAX - 1, &held));
    CHECK(!lc_ledger_reserve(&root, 1, &held));
    for (int64_t used = 0; used < LC_LEDGER_USED_MAX; used += MAX) {
        CHECK(lc_ledger_use(&root, MAX));
        CHECK(lc_ledger_use(&child, MAX));
    }
    CHECK(!lc_ledger_use(&root, 1));
    CHECK(lc_ledger_use(&root, 0));
    CHECK(!lc_ledger_consume(&root, &held, 1));
    CHECK_EQ(held.left, MAX - 1);
    CHECK(!lc_ledger_settle(&root, &child));
    CHECK(!child.is_settled);
    CHECK_EQ(root.allocated, 1);
    CHECK_EQ(lc_ledger_overdraft(&root), LC_LEDGER_USED_MAX);
}

TEST(ledger, unsound_numbers_are_found)
{
    static const lc_ledger unsound[] = {
        {.total = -1},
        {.total = MAX + 1},
        {.total = 5, .reserved = -1},
        {.total = MAX, .reserved = MAX + 1},
        {.total = 5, .allocated = -1},
        {.total = MAX, .allocated = MAX + 1},
        {.total = 5, .reserved = 3, .allocated = 3},
        {.total = 5, .used = -1},
        {.total = 5, .used = LC_LEDGER_USED_MAX + 1},
    };

    for (size_t i = 0; i < sizeof unsound / sizeof unsound[0]; i++)
        CHECK(!lc_ledger_is_sound(&unsound[i]));
    CHECK(lc_ledger_is_sound(&(lc_ledger){.total = 5, .used = 50, .reserved = 2, .allocated = 3}));
}

/* ---- Random trees ---------------------------------------------------------------------------- */

#define FRAMES 64
#define HOLDS 4

typedef struct node {
    lc_ledger ledger;
    lc_reservation holds[HOLDS];
    int parent; /* -1 for the root. */
    int live_children;
    int64_t spent; /* By this frame alone: the naive count. */
    int settled;   /* How often. */
} node;

typedef struct tree {
    node nodes[FRAMES];
    int count;
} tree;

/* Tokens that were spent below `of`, itself included. */
static int64_t spent_below(const tree *t, int of)
{
    int64_t spent = 0;

    for (int i = 0; i < t->count; i++) {
        int at = i;

        while (at != of && at >= 0)
            at = t->nodes[at].parent;
        if (at == of)
            spent += t->nodes[i].spent;
    }
    return spent;
}

static void check_tree(const tree *t)
{
    int64_t overdrafts = 0;

    for (int i = 0; i < t->count; i++) {
        const node *n = &t->nodes[i];
        int64_t held = 0, allocated = 0, used = n->spent;

        CHECK(lc_ledger_is_sound(&n->ledger));
        for (int h = 0; h < HOLDS; h++)
            held += n->holds[h].left;
        for (int c = i + 1; c < t->count; c++) {
            if (t->nodes[c].parent != i)
                continue;
            if (t->nodes[c].ledger.is_settled)
                used += t->nodes[c].ledger.used;
            else
                allocated += t->nodes[c].ledger.total;
        }
        CHECK_EQ(n->ledger.reserved, held);
        CHECK_EQ(n->ledger.allocated, allocated);
        CHECK_EQ(n->ledger.used, used);
        CHECK_EQ(n->settled, n->ledger.is_settled ? 1 : 0);
        if (i == 0 || !n->ledger.is_settled)
            overdrafts += lc_ledger_overdraft(&n->ledger);
    }
    /* The sum over the tree stays within the root's total, but for the recorded overdraft. */
    CHECK_LE(spent_below(t, 0), t->nodes[0].ledger.total + overdrafts);
}

static void end_node(tree *t, int i)
{
    node *n = &t->nodes[i];

    for (int h = 0; h < HOLDS; h++)
        lc_ledger_release(&n->ledger, &n->holds[h]);
    CHECK(lc_ledger_settle(n->parent >= 0 ? &t->nodes[n->parent].ledger : NULL, &n->ledger));
    n->settled++;
    if (n->parent >= 0)
        t->nodes[n->parent].live_children--;
}

static void step(tree *t, test_rng *rng)
{
    int i = (int)test_rng_below(rng, (uint64_t)t->count);
    int64_t amount = (int64_t)test_rng_below(rng, 60);
    node *n = &t->nodes[i];
    lc_reservation *hold = &n->holds[test_rng_below(rng, HOLDS)];

    if (n->ledger.is_settled)
        return;
    switch (test_rng_below(rng, 5)) {
    case 0:
        if (t->count < FRAMES &&
            lc_ledger_allocate(&n->ledger, amount, &t->nodes[t->count].ledger)) {
            t->nodes[t->count++].parent = i;
            n->live_children++;
        }
        break;
    case 1:
        if (hold->left == 0)
            (void)lc_ledger_reserve(&n->ledger, amount, hold); /* A refusal is part of the test. */
        break;
    case 2:
        CHECK(lc_ledger_consume(&n->ledger, hold, amount));
        n->spent += amount;
        break;
    case 3:
        lc_ledger_release(&n->ledger, hold);
        break;
    default:
        if (n->live_children == 0 && i > 0)
            end_node(t, i);
        break;
    }
}

TEST(ledger, random_trees_neither_make_nor_lose_tokens)
{
    test_rng rng = test_random(18);

    for (uint64_t round = 0; round < test_count(200, 5000); round++) {
        tree t = {.count = 1};
        int64_t spent;

        t.nodes[0] = (node){.ledger = {.total = 1000}, .parent = -1};
        for (int i = 0; i < 300; i++) {
            step(&t, &rng);
            if (i % 10 == 0)
                check_tree(&t);
        }
        for (int i = t.count; i-- > 0;)
            if (!t.nodes[i].ledger.is_settled)
                end_node(&t, i);
        check_tree(&t);
        spent = spent_below(&t, 0);
        CHECK_EQ(t.nodes[0].ledger.used, spent);
        CHECK_EQ(lc_ledger_overdraft(&t.nodes[0].ledger), spent > 1000 ? spent - 1000 : 0);
    }
}
