#include "index/postings.h"

#include <math.h>
#include <string.h>

#include "base/limits.h"
#include "base/str.h"
#include "lib/naive_postings.h"
#include "lib/test.h"

static lc_postings *make(lc_heap *heap)
{
    lc_postings *index = NULL;
    loci_error err;

    lc_heap_init(heap, test_heap());
    CHECK_OK(lc_postings_new(heap, &index, &err), err);
    return index;
}

/* Adds a document given as words with a space between. */
static void add_text(lc_postings *index, uint32_t id, const char *text)
{
    loci_str terms[64], rest = loci_str_of(text);
    size_t count = 0;
    loci_error err;

    while (rest.len > 0)
        terms[count++] = lc_str_split(rest, ' ', &rest);
    CHECK_OK(lc_postings_add(index, id, terms, count, &err), err);
}

/* The ids of the hits for a query of words, as text, best first. */
static const char *search(const lc_postings *index, const char *words, const lc_bitmap *filter)
{
    lc_postings_term terms[16];
    lc_postings_query query = {.terms = terms, .filter = filter, .limit = 10};
    loci_str rest = loci_str_of(words);
    lc_hit hits[10];
    size_t count;
    const char *out = "";
    loci_error err;

    while (rest.len > 0)
        terms[query.term_count++] = (lc_postings_term){lc_str_split(rest, ' ', &rest), 1};
    CHECK_OK(lc_postings_search(index, &query, hits, &count, &err), err);
    for (size_t i = 0; i < count; i++)
        out = test_format("%s%s%u", out, i > 0 ? " " : "", hits[i].id);
    return out;
}

TEST(postings, empty_index_finds_nothing)
{
    lc_heap heap;
    lc_postings *index = make(&heap);

    CHECK_STR_EQ(search(index, "a b", NULL), "");
    CHECK(!lc_postings_remove(index, 0));
    CHECK(!lc_postings_has(index, 0));
    CHECK(!lc_postings_has(index, UINT32_MAX));
    CHECK_OK(lc_postings_compact(index, NULL), (loci_error *)NULL);
    CHECK_EQ(lc_postings_get_size(index).documents, 0);
    lc_postings_free(index);
    lc_postings_free(NULL);
}

TEST(postings, rare_words_short_documents_and_repeats_come_first)
{
    lc_heap heap;
    lc_postings *index = make(&heap);

    add_text(index, 1, "the cat sat on the mat");
    add_text(index, 2, "the dog sat");
    add_text(index, 3, "the cat the cat the dog");
    add_text(index, 4, "the weather");
    CHECK_STR_EQ(search(index, "weather", NULL), "4");
    CHECK_STR_EQ(search(index, "cat", NULL), "3 1");
    CHECK_STR_EQ(search(index, "sat", NULL), "2 1");
    CHECK_STR_EQ(search(index, "dog mat", NULL), "1 2 3");
    CHECK_STR_EQ(search(index, "unicorn", NULL), "");
    CHECK_STR_EQ(search(index, "unicorn weather", NULL), "4");
    lc_postings_free(index);
}

/* The last ones to come must still push out those with higher ids. */
TEST(postings, equal_scores_stand_in_the_order_of_ids)
{
    lc_heap heap;
    lc_postings *index = make(&heap);
    static const uint32_t order[] = {11, 9, 2, 7, 10, 5, 3, 8, 1, 6, 4, 0};

    for (size_t i = 0; i < sizeof order / sizeof order[0]; i++)
        add_text(index, order[i], "same words");
    CHECK_STR_EQ(search(index, "words", NULL), "0 1 2 3 4 5 6 7 8 9");
    lc_postings_free(index);
}

TEST(postings, filter_lets_only_its_documents_through)
{
    lc_heap heap;
    lc_postings *index = make(&heap);
    lc_bitmap filter;

    lc_bitmap_init(&filter, &heap, LOCI_MEM_INDEX);
    for (uint32_t id = 0; id < 5000; id++)
        add_text(index, id, id == 4321 ? "needle needle hay" : "needle hay");
    CHECK_STR_EQ(search(index, "needle", &filter), "");
    CHECK_OK(lc_bitmap_add(&filter, 4998, NULL), (loci_error *)NULL);
    CHECK_OK(lc_bitmap_add(&filter, 17, NULL), (loci_error *)NULL);
    CHECK_STR_EQ(search(index, "needle", &filter), "17 4998");
    CHECK_OK(lc_bitmap_add(&filter, 4321, NULL), (loci_error *)NULL);
    CHECK_STR_EQ(search(index, "needle", &filter), "4321 17 4998");
    lc_bitmap_clear(&filter);
    lc_postings_free(index);
}

TEST(postings, adding_again_replaces)
{
    lc_heap heap;
    lc_postings *index = make(&heap);

    add_text(index, 1, "old words");
    add_text(index, 2, "other things");
    add_text(index, 1, "new things");
    CHECK_STR_EQ(search(index, "old words", NULL), "");
    CHECK_STR_EQ(search(index, "new", NULL), "1");
    CHECK_STR_EQ(search(index, "things", NULL), "1 2");
    CHECK_EQ(lc_postings_get_size(index).documents, 2);
    CHECK_EQ(lc_postings_get_size(index).postings, 4);
    CHECK(lc_postings_remove(index, 1));
    CHECK(!lc_postings_remove(index, 1));
    CHECK_STR_EQ(search(index, "new things", NULL), "2");
    lc_postings_free(index);
}

/* An empty document counts in the number of documents and is found by nothing. */
TEST(postings, document_without_terms_is_there)
{
    lc_heap heap;
    lc_postings *index = make(&heap);

    add_text(index, 3, "");
    CHECK(lc_postings_has(index, 3));
    CHECK_STR_EQ(search(index, "a", NULL), "");
    add_text(index, 4, "a");
    CHECK_STR_EQ(search(index, "a", NULL), "4");
    CHECK_OK(lc_postings_compact(index, NULL), (loci_error *)NULL);
    CHECK(lc_postings_has(index, 3));
    CHECK(lc_postings_remove(index, 3));
    lc_postings_free(index);
}

TEST(postings, repeats_count_up_to_255)
{
    enum { MANY = 300 };
    lc_heap heap;
    lc_postings *index = make(&heap);
    loci_str terms[MANY];
    lc_postings_term asked = {LC_STR("a"), 1};
    lc_postings_query query = {.terms = &asked, .term_count = 1, .limit = 1};
    lc_bm25 bm25 = {.k1 = 100, .b = 0};
    lc_hit hit;
    size_t count;

    for (size_t i = 0; i < MANY; i++)
        terms[i] = LC_STR("a");
    query.bm25 = &bm25;
    for (size_t repeats = 254; repeats <= 256; repeats++) {
        double counted = repeats > 255 ? 255 : (double)repeats;
        double expected = log(1 + 0.5 / 1.5) * counted * 101 / (counted + 100);

        CHECK_OK(lc_postings_add(index, 1, terms, repeats, NULL), (loci_error *)NULL);
        CHECK_OK(lc_postings_search(index, &query, &hit, &count, NULL), (loci_error *)NULL);
        CHECK_EQ(count, 1);
        CHECK(fabs(hit.score - expected) < 1e-6 * expected);
    }
    lc_postings_free(index);
}

TEST(postings, limits_of_ids_and_of_terms_in_a_query)
{
    lc_heap heap;
    lc_postings *index = make(&heap);
    loci_str term = LC_STR("a");
    lc_postings_term *many = (lc_postings_term *)(void *)test_bytes((LC_QUERY_TERMS_MAX + 1) *
                                                                    sizeof *many);
    lc_postings_query query = {.terms = many, .limit = 1};
    lc_hit hit;
    size_t count = 7;

    for (size_t i = 0; i <= LC_QUERY_TERMS_MAX; i++)
        many[i] = (lc_postings_term){term, 1};
    CHECK_OK(lc_postings_add(index, LC_INDEX_IDS_MAX - 2, &term, 1, NULL), (loci_error *)NULL);
    CHECK_OK(lc_postings_add(index, LC_INDEX_IDS_MAX - 1, &term, 1, NULL), (loci_error *)NULL);
    CHECK_STATUS(LOCI_ELIMIT, lc_postings_add(index, LC_INDEX_IDS_MAX, &term, 1, NULL));
    query.term_count = LC_QUERY_TERMS_MAX + 1;
    CHECK_STATUS(LOCI_ELIMIT, lc_postings_search(index, &query, &hit, &count, NULL));
    CHECK_EQ(count, 7);
    query.term_count = LC_QUERY_TERMS_MAX;
    CHECK_OK(lc_postings_search(index, &query, &hit, &count, NULL), (loci_error *)NULL);
    CHECK_EQ(count, 1);
    CHECK_EQ(hit.id, LC_INDEX_IDS_MAX - 2);
    query.limit = 0;
    CHECK_OK(lc_postings_search(index, &query, NULL, &count, NULL), (loci_error *)NULL);
    CHECK_EQ(count, 0);
    lc_postings_free(index);
}

/* ---- Memory ---------------------------------------------------------------------------------- */

/* Without compaction a user who edits one memory all day would fill the machine. */
TEST(postings, replacing_for_ever_takes_no_more_memory)
{
    lc_heap heap;
    lc_postings *index = make(&heap);
    int64_t bytes_max = 0;

    for (uint32_t round = 0; round < 20000; round++) {
        add_text(index, round % 50,
                 test_format("document %u with word%u and word%u", round % 50, round, round / 7));
        if (round == 5000)
            bytes_max = 2 * lc_heap_live_bytes(&heap, LOCI_MEM_INDEX);
        if (round >= 5000)
            CHECK_LE(lc_heap_live_bytes(&heap, LOCI_MEM_INDEX), bytes_max);
        CHECK_LE(lc_postings_get_size(index).dead_documents, 65);
    }
    CHECK_EQ(lc_postings_get_size(index).documents, 50);
    lc_postings_free(index);
    CHECK_EQ(lc_heap_live_bytes(&heap, LOCI_MEM_INDEX), 0);
}

TEST(postings, removing_most_gives_memory_back)
{
    lc_heap heap;
    lc_postings *index = make(&heap);
    int64_t full;

    for (uint32_t id = 0; id < 3000; id++)
        add_text(index, id, test_format("number%u and word%u are here", id, id % 97));
    full = lc_heap_live_bytes(&heap, LOCI_MEM_INDEX);
    for (uint32_t id = 0; id < 3000; id++) {
        if (id % 100 != 0)
            CHECK(lc_postings_remove(index, id));
    }
    CHECK_OK(lc_postings_compact(index, NULL), (loci_error *)NULL);
    CHECK_LT(lc_heap_live_bytes(&heap, LOCI_MEM_INDEX) * 5, full);
    CHECK_LE(lc_postings_get_size(index).terms, 2 + 1 + 2 * 30);
    CHECK_STR_EQ(search(index, "number2900", NULL), "2900");
    CHECK_STR_EQ(search(index, "number2901", NULL), "");
    lc_postings_free(index);
}

TEST(postings, stated_bytes_are_near_those_of_the_heap)
{
    lc_heap heap;
    lc_postings *index = make(&heap);
    int64_t stated;

    for (uint32_t id = 0; id < 3000; id++)
        add_text(index, id, test_format("number%u and word%u are here", id, id % 97));
    stated = (int64_t)lc_postings_get_size(index).bytes;
    CHECK_LE(stated, lc_heap_live_bytes(&heap, LOCI_MEM_INDEX));
    CHECK_LE(lc_heap_live_bytes(&heap, LOCI_MEM_INDEX), 2 * stated);
    lc_postings_free(index);
}

/* ---- Against the formula --------------------------------------------------------------------- */

typedef struct model {
    naive_postings naive;
    lc_postings *index;
    lc_heap heap;
    bool filter[NAIVE_IDS];
} model;

/* Low numbers are common, high ones rare, as words are. */
static unsigned random_term(test_rng *rng)
{
    return (unsigned)test_rng_below(rng, test_rng_below(rng, NAIVE_VOCABULARY) + 1);
}

static void random_change(model *m, test_rng *rng, unsigned add_percent)
{
    uint32_t id = (uint32_t)test_rng_below(rng, NAIVE_IDS);
    naive_document document = {.length = test_rng_below(rng, NAIVE_TERMS_MAX + 1)};

    if (!test_rng_chance(rng, add_percent)) {
        CHECK(naive_remove(&m->naive, m->index, id));
        return;
    }
    for (size_t i = 0; i < document.length; i++)
        document.terms[i] = random_term(rng);
    CHECK_STATUS(LOCI_OK, naive_add(&m->naive, m->index, id, &document));
}

static void random_search(model *m, test_rng *rng)
{
    naive_query query = {.count = test_rng_below(rng, NAIVE_QUERY_MAX + 1),
                         .limit = test_rng_below(rng, 60),
                         .bm25 = {.k1 = LC_BM25_K1, .b = LC_BM25_B}};
    unsigned filter_percent = (unsigned)test_rng_below(rng, 101);
    const char *difference;

    for (size_t i = 0; i < query.count; i++) {
        query.terms[i] = random_term(rng);
        query.weights[i] = test_rng_chance(rng, 50) ? 1 : 0.1 + (double)test_rng_below(rng, 30);
    }
    if (test_rng_chance(rng, 30))
        query.bm25 = (lc_bm25){(double)test_rng_below(rng, 30) / 10,
                               (double)test_rng_below(rng, 11) / 10};
    for (size_t i = 0; i < NAIVE_IDS; i++)
        m->filter[i] = test_rng_chance(rng, filter_percent);
    if (test_rng_chance(rng, 50))
        query.filter = m->filter;
    difference = naive_compare(&m->naive, m->index, &m->heap, &query);
    if (difference != NULL)
        test_fail(__FILE__, __LINE__, "%s", difference);
}

TEST(postings, scores_and_order_equal_the_formula_after_any_operations)
{
    test_rng rng = test_random(11);
    uint64_t steps = test_count(4000, 100000);
    model *m = (model *)(void *)test_bytes(sizeof *m);

    m->index = make(&m->heap);
    for (uint64_t step = 0; step < steps; step++) {
        /* Waves, so that compaction meets many dead and few. */
        random_change(m, &rng, step / 500 % 2 == 0 ? 80 : 35);
        if (step % 4 == 0)
            random_search(m, &rng);
        if (test_rng_below(&rng, 400) == 0)
            CHECK_OK(lc_postings_compact(m->index, NULL), (loci_error *)NULL);
    }
    for (uint32_t id = 0; id < NAIVE_IDS; id++)
        CHECK_EQ(lc_postings_has(m->index, id), m->naive.documents[id].is_there);
    lc_postings_free(m->index);
}

/* ---- Running out of memory ------------------------------------------------------------------- */

/* An add that failed must be as if it had not been tried: the same hits, the same scores. */
TEST(postings, failed_add_changes_nothing)
{
    test_rng rng = test_random(12);
    model *m = (model *)(void *)test_bytes(sizeof *m);

    m->index = make(&m->heap);
    for (uint64_t step = 0; step < 1500; step++) {
        uint32_t id = (uint32_t)test_rng_below(&rng, NAIVE_IDS);
        naive_document document = {.length = test_rng_below(&rng, NAIVE_TERMS_MAX + 1)};
        loci_status status;

        for (size_t i = 0; i < document.length; i++)
            document.terms[i] = random_term(&rng);
        test_heap_fail_nth(1 + test_rng_below(&rng, 3));
        status = naive_add(&m->naive, m->index, id, &document);
        (void)test_heap_disarm(); /* Most adds need no memory at all. */
        CHECK(status == LOCI_OK || status == LOCI_ERESOURCE);
        if (step % 10 == 0)
            random_search(m, &rng);
        if (step % 3 == 0) {
            test_heap_fail_from(1 + test_rng_below(&rng, 3));
            CHECK(naive_remove(&m->naive, m->index, (uint32_t)test_rng_below(&rng, NAIVE_IDS)));
            (void)test_heap_disarm(); /* Removing works without memory, compacted or not. */
        }
    }
    lc_postings_free(m->index);
}

static loci_status build_and_search(void *ctx)
{
    static const loci_str terms[] = {{"a", 1}, {"b", 1}, {"c", 1}, {"a", 1}};
    lc_postings_term asked = {{"a", 1}, 1};
    lc_postings_query query = {.terms = &asked, .term_count = 1, .limit = 2};
    lc_postings *index = NULL;
    lc_hit hits[2];
    size_t count;
    loci_status status = lc_postings_new(ctx, &index, NULL);

    for (uint32_t id = 0; id < 40 && status == LOCI_OK; id++)
        status = lc_postings_add(index, id, terms, 4, NULL);
    if (status == LOCI_OK)
        status = lc_postings_search(index, &query, hits, &count, NULL);
    if (status == LOCI_OK)
        status = lc_postings_compact(index, NULL);
    lc_postings_free(index);
    return status;
}

TEST(postings, every_allocation_may_fail)
{
    lc_heap heap;

    lc_heap_init(&heap, test_heap());
    test_oom_sweep(build_and_search, &heap);
}
