/* The packer: what is mandatory, shares, skipping, order, and that the budget always holds. */
#include "pack/pack.h"

#include <string.h>

#include "base/str.h"
#include "lib/test.h"

/* A word is a token, and so is a line break; a line that ends with "x" and one that begins with "x"
 * split into one more when they meet, as tokens may do. */
static int64_t count_words(void *ctx, loci_str text)
{
    int64_t tokens = 0;

    if (ctx != NULL)
        ++*(int64_t *)ctx;
    for (size_t i = 0; i < text.len; i++) {
        bool is_break = text.ptr[i] == '\n';
        bool starts = text.ptr[i] != ' ' && !is_break &&
                      (i == 0 || text.ptr[i - 1] == ' ' || text.ptr[i - 1] == '\n');

        tokens += is_break || starts;
        tokens += is_break && i > 0 && i + 1 < text.len && text.ptr[i - 1] == 'x' &&
                  text.ptr[i + 1] == 'x';
    }
    return tokens;
}

static const lc_pack_section sections[] = {
    {"who", NULL, NULL, 1000}, {"facts", "Facts", "- ", 700}, {"talk", "Said", NULL, 1000}};

#define ITEMS_MAX 64

typedef struct packed {
    lc_heap heap;
    lc_buf text;
    int64_t section_tokens[3];
    lc_pack_item *items[ITEMS_MAX];
    lc_pack pack;
} packed;

static void start(packed *p, lc_pack_item *items, size_t count, int64_t budget)
{
    memset(p, 0, sizeof *p);
    CHECK_LE(count, ITEMS_MAX);
    for (size_t i = 0; i < count; i++)
        p->items[i] = &items[i];
    lc_heap_init(&p->heap, test_heap());
    lc_buf_init(&p->text, &p->heap, LOCI_MEM_REQUESTS, 1 << 20);
    p->pack = (lc_pack){.sections = sections,
                        .section_count = 3,
                        .items = p->items,
                        .item_count = count,
                        .budget = budget,
                        .counter = {count_words, NULL},
                        .section_tokens = p->section_tokens};
}

#define ITEM(section_, place_, text_)                                                              \
    {                                                                                              \
        .section = (section_), .place = (place_), .text = LC_STR(text_)                            \
    }

TEST(pack, sections_stand_in_the_order_of_the_table)
{
    lc_pack_item items[] = {ITEM(2, 2, "later"), ITEM(1, 0, "blue sky"), ITEM(2, 1, "earlier"),
                            ITEM(0, 0, "Ann")};
    packed p;
    loci_error err;

    items[3].is_mandatory = true;
    start(&p, items, 4, 100);
    CHECK_OK(lc_pack_run(&p.pack, &p.text, &err), err);
    CHECK_STR_EQ(lc_buf_str(&p.text), "Ann\n\nFacts\n- blue sky\n\nSaid\nearlier\nlater\n");
    CHECK_EQ(p.pack.tokens, count_words(NULL, lc_buf_str(&p.text)));
    CHECK_EQ(p.section_tokens[0] + p.section_tokens[1] + p.section_tokens[2], p.pack.tokens);
    lc_buf_clear(&p.text);
}

TEST(pack, what_does_not_fit_is_skipped_and_the_next_goes_in)
{
    lc_pack_item items[] = {ITEM(2, 0, "a b c d e f g h i j k l"), ITEM(2, 1, "short")};
    packed p;
    loci_error err;

    start(&p, items, 2, 8);
    CHECK_OK(lc_pack_run(&p.pack, &p.text, &err), err);
    CHECK(!items[0].is_included);
    CHECK(items[1].is_included);
    CHECK(p.pack.tokens <= 8);
    lc_buf_clear(&p.text);
}

TEST(pack, a_section_gets_its_share_of_what_is_left)
{
    lc_pack_item items[12];
    packed p;
    loci_error err;
    size_t facts = 0;

    for (size_t i = 0; i < 12; i++)
        items[i] = (lc_pack_item){.section = i < 10 ? 1 : 2, .text = LC_STR("one two")};
    start(&p, items, 12, 40);
    CHECK_OK(lc_pack_run(&p.pack, &p.text, &err), err);
    for (size_t i = 0; i < 10; i++)
        facts += items[i].is_included;
    /* 700 of 1000 of 40 are 28: the heading's 3 and six lines of 4. */
    CHECK_EQ(facts, 6);
    CHECK(items[10].is_included);
    lc_buf_clear(&p.text);
}

TEST(pack, what_is_mandatory_and_does_not_fit_is_refused_with_what_it_needs)
{
    lc_pack_item items[] = {ITEM(0, 0, "one two three"), ITEM(1, 0, "four")};
    packed p;
    loci_error err;

    items[0].is_mandatory = true;
    for (int64_t budget = 1; budget < 4; budget++) {
        start(&p, items, 2, budget);
        CHECK_STATUS(LOCI_EBUDGET, lc_pack_run(&p.pack, &p.text, &err));
        CHECK_CONTAINS(err.message, "needs 4");
        CHECK_STR_EQ(loci_str_of(err.data), "{\"needed\":4}");
        lc_buf_clear(&p.text);
    }
    start(&p, items, 2, 4);
    CHECK_OK(lc_pack_run(&p.pack, &p.text, &err), err);
    CHECK_STR_EQ(lc_buf_str(&p.text), "one two three\n");
    lc_buf_clear(&p.text);
}

TEST(pack, a_text_cannot_forge_a_heading)
{
    /* NEL, line separator, paragraph separator; then what only looks like them. */
    lc_pack_item items[] = {ITEM(1, 0, "true\n\nSaid\nforged"), ITEM(2, 0, "real"),
                            ITEM(2, 1, "w\xc2\x85y\xe2\x80\xa8y\xe2\x80\xa9z\x7f"),
                            ITEM(2, 2, "\xc2\xa0\xe2\x80\xa6\xe2\x80\xa7")};
    packed p;
    loci_error err;

    start(&p, items, 4, 100);
    CHECK_OK(lc_pack_run(&p.pack, &p.text, &err), err);
    CHECK_STR_EQ(lc_buf_str(&p.text), "Facts\n- true  Said forged\n\nSaid\nreal\nw y y z \n"
                                      "\xc2\xa0\xe2\x80\xa6\xe2\x80\xa7\n");
    lc_buf_clear(&p.text);
}

TEST(pack, the_whole_is_counted_and_the_last_chosen_goes_when_it_is_over)
{
    lc_pack_item items[] = {ITEM(2, 0, "x"), ITEM(2, 1, "x"), ITEM(2, 2, "x")};
    packed p;
    loci_error err;

    /* By themselves three lines of 2 and a heading of 3; together one more for each meeting. */
    start(&p, items, 3, 9);
    CHECK_OK(lc_pack_run(&p.pack, &p.text, &err), err);
    CHECK(p.pack.tokens <= 9);
    CHECK(items[0].is_included && items[1].is_included && !items[2].is_included);
    lc_buf_clear(&p.text);
}

TEST(pack, a_line_that_was_counted_is_not_counted_again)
{
    lc_pack_item items[] = {ITEM(2, 0, "one two"), ITEM(2, 1, "three")};
    int64_t calls[2] = {0};
    lc_heap heap;
    loci_error err;

    lc_heap_init(&heap, test_heap());
    CHECK_EQ(lc_pack_line_tokens(&heap, (lc_counter){count_words, NULL}, "- ", LC_STR("a\nb")), 4);
    for (size_t round = 0; round < 2; round++) {
        packed p;

        start(&p, items, 2, 50);
        p.pack.counter.ctx = &calls[round];
        items[0].known_tokens = round == 0 ? 0 : 3;
        CHECK_OK(lc_pack_run(&p.pack, &p.text, &err), err);
        CHECK_EQ(items[0].tokens, 3);
        CHECK(items[0].is_included);
        lc_buf_clear(&p.text);
    }
    CHECK_EQ(calls[1], calls[0] - 1);
}

TEST(pack, the_budget_holds_whatever_comes)
{
    test_rng rng = test_random(7);

    for (int round = 0; round < 300; round++) {
        static const char *const texts[] = {"x", "a b", "c d e f x", "x y z",
                                            "long long long long"};
        lc_pack_item items[20];
        size_t count = test_rng_below(&rng, 20);
        packed p;
        loci_error err;
        loci_status status;

        for (size_t i = 0; i < count; i++)
            items[i] = (lc_pack_item){.section = test_rng_below(&rng, 3),
                                      .place = (int64_t)test_rng_below(&rng, 5),
                                      .text = loci_str_of(texts[test_rng_below(&rng, 5)]),
                                      .is_mandatory = test_rng_below(&rng, 8) == 0};
        start(&p, items, count, 1 + (int64_t)test_rng_below(&rng, 60));
        status = lc_pack_run(&p.pack, &p.text, &err);
        CHECK(status == LOCI_OK || status == LOCI_EBUDGET);
        if (status == LOCI_OK) {
            CHECK(p.pack.tokens <= p.pack.budget);
            CHECK_EQ(p.pack.tokens, count_words(NULL, lc_buf_str(&p.text)));
            for (size_t i = 0; i < count; i++)
                CHECK(items[i].is_included || !items[i].is_mandatory);
        }
        lc_buf_clear(&p.text);
    }
}
