#include "index/fusion.h"

#include <string.h>

#include "lib/test.h"

#define LIST 60
#define DOCUMENTS 1000
#define RARE 8.0 /* The weight of a rare word. */

static const lc_fused *find(const lc_fused *fused, size_t count, uint32_t id)
{
    for (size_t i = 0; i < count; i++) {
        if (fused[i].id == id)
            return &fused[i];
    }
    test_fail(__FILE__, __LINE__, "id %u is missing", id);
    return NULL;
}

typedef struct lists {
    lc_hit vector[LIST], lexical[LIST];
    lc_fusion_lists it;
} lists;

static void add_vector(lists *l, uint32_t id, double cosine)
{
    l->vector[l->it.vector_count++] = (lc_hit){.id = id, .score = (float)cosine};
}

static void add_lexical(lists *l, uint32_t id, double score)
{
    l->lexical[l->it.lexical_count++] = (lc_hit){.id = id, .score = (float)score};
}

static void init(lists *l)
{
    memset(l, 0, sizeof *l);
    l->it = (lc_fusion_lists){.vector = l->vector, .lexical = l->lexical, .documents = DOCUMENTS};
}

static double real(test_rng *rng, double low, double high)
{
    return low + (high - low) * (double)test_rng_below(rng, 1000001) / 1e6;
}

static void shuffle(test_rng *rng, lc_hit *hits, size_t count)
{
    for (size_t i = count; i > 1; i--) {
        size_t other = (size_t)test_rng_below(rng, i);
        lc_hit hit = hits[i - 1];

        hits[i - 1] = hits[other];
        hits[other] = hit;
    }
}

static void make_random(lists *l, test_rng *rng)
{
    size_t vectors = (size_t)test_rng_below(rng, LIST + 1);
    size_t lexicals = (size_t)test_rng_below(rng, LIST + 1);

    init(l);
    for (uint32_t i = 0; i < vectors; i++)
        add_vector(l, 2 * i, real(rng, -0.5, 1)); /* Every third id is in both. */
    for (uint32_t i = 0; i < lexicals; i++)
        add_lexical(l, 3 * i, real(rng, 0, 20));
    shuffle(rng, l->vector, vectors);
    shuffle(rng, l->lexical, lexicals);
}

/* ---- Definition ------------------------------------------------------------------------------ */

TEST(fusion, parts_are_those_of_the_formula)
{
    lc_fused fused[3];
    lists l;

    init(&l);
    l.it.documents = 10; /* Too few to know what is rare: a rare word weighs 8. */
    add_vector(&l, 7, 0.75);
    add_vector(&l, 8, -0.25);
    add_lexical(&l, 7, 8);
    CHECK_EQ(lc_fuse(&l.it, fused), 2);
    CHECK_EQ(fused[0].id, 7);
    CHECK(fused[0].has_cosine && fused[0].has_bm25);
    CHECK(fused[0].cosine == 0.75 && fused[0].bm25 == 8);
    CHECK(fused[0].vector == 0.75);
    CHECK(fused[0].lexical == 0.5);
    CHECK(fabs(fused[0].score - 2.0 / 3) < 1e-12);
    CHECK_EQ(fused[1].id, 8);
    CHECK(fused[1].has_cosine && !fused[1].has_bm25);
    CHECK(fused[1].vector == 0 && fused[1].lexical == 0 && fused[1].score == 0);
}

/* The same words are worth less where there are many documents to have them. */
TEST(fusion, many_documents_raise_what_a_rare_word_weighs)
{
    lc_fused few[1], many[1];
    lists l;

    init(&l);
    add_lexical(&l, 7, 8);
    CHECK_EQ(lc_fuse(&l.it, few), 1);
    l.it.documents = 1000000;
    CHECK_EQ(lc_fuse(&l.it, many), 1);
    CHECK(few[0].lexical == 0.5);
    CHECK(many[0].lexical < 0.4);
}

TEST(fusion, nothing_gives_nothing)
{
    lc_fused fused[1];
    lists l;

    init(&l);
    CHECK_EQ(lc_fuse(&l.it, fused), 0);
    l.it.documents = 0;
    CHECK_EQ(lc_fuse(&l.it, fused), 0);
}

/* ---- Properties for any lists ---------------------------------------------------------------- */

static void check_answer(const lists *l, const lc_fused *fused, size_t count)
{
    size_t cosines = 0, bm25s = 0;

    for (size_t i = 0; i < count; i++) {
        CHECK(fused[i].score >= 0 && fused[i].score <= 1);
        CHECK(fused[i].has_cosine || fused[i].has_bm25);
        cosines += fused[i].has_cosine;
        bm25s += fused[i].has_bm25;
        CHECK(i == 0 || fused[i - 1].score > fused[i].score ||
              (fused[i - 1].score == fused[i].score && fused[i - 1].id < fused[i].id));
    }
    CHECK_EQ(cosines, l->it.vector_count);
    CHECK_EQ(bm25s, l->it.lexical_count);
}

/* Every document once, sorted, ties by id, and the order of the lists does not show. */
TEST(fusion, order_of_the_lists_does_not_matter)
{
    test_rng rng = test_random(51);

    for (uint64_t round = 0; round < test_count(1000, 20000); round++) {
        lc_fused once[2 * LIST], again[2 * LIST];
        lists l;
        size_t count;

        make_random(&l, &rng);
        memset(once, 0, sizeof once);
        memset(again, 0, sizeof again);
        count = lc_fuse(&l.it, once);
        check_answer(&l, once, count);
        shuffle(&rng, l.vector, l.it.vector_count);
        shuffle(&rng, l.lexical, l.it.lexical_count);
        CHECK_EQ(lc_fuse(&l.it, again), count);
        for (size_t i = 0; i < count; i++) {
            CHECK_EQ(once[i].id, again[i].id);
            CHECK(once[i].score == again[i].score);
        }
    }
}

/* A better match, in meaning or in words, never makes a document lose. */
TEST(fusion, score_rises_with_both_parts)
{
    test_rng rng = test_random(52);

    for (uint64_t round = 0; round < test_count(2000, 50000); round++) {
        lc_fused before[2 * LIST], after[2 * LIST];
        bool is_vector = test_rng_chance(&rng, 50);
        size_t count, list_count;
        lc_hit *raised;
        lists l;

        make_random(&l, &rng);
        list_count = is_vector ? l.it.vector_count : l.it.lexical_count;
        if (list_count == 0)
            continue;
        count = lc_fuse(&l.it, before);
        raised = (is_vector ? l.vector : l.lexical) + test_rng_below(&rng, list_count);
        raised->score += (float)real(&rng, 0, 2);
        CHECK_EQ(lc_fuse(&l.it, after), count);
        CHECK(find(after, count, raised->id)->score >= find(before, count, raised->id)->score);
    }
}

TEST(fusion, ties_go_to_the_lower_id)
{
    lc_fused fused[LIST];
    lists l;

    init(&l);
    for (uint32_t id = 10; id-- > 0;)
        add_vector(&l, id, 0.5);
    CHECK_EQ(lc_fuse(&l.it, fused), 10);
    for (uint32_t id = 0; id < 10; id++)
        CHECK_EQ(fused[id].id, id);
}

/* ---- Purpose --------------------------------------------------------------------------------- */

/* "the status of ABC-1234": one document has the identifier, many have "status", and to the encoder
 * all look alike. */
TEST(fusion, rare_word_wins_among_vectors_that_are_alike)
{
    test_rng rng = test_random(55);
    for (uint64_t round = 0; round < test_count(1000, 20000); round++) {
        lc_fused fused[2 * LIST];
        lists l;

        init(&l); /* A longer query, too. */
        for (uint32_t id = 0; id < 50; id++)
            add_vector(&l, id, real(&rng, 0.4, 0.5));
        for (uint32_t id = 0; id < 30; id++)
            add_lexical(&l, id, real(&rng, 0.2, 0.6));
        add_lexical(&l, 33, RARE + 0.6);
        CHECK_EQ(lc_fuse(&l.it, fused), 50);
        CHECK_EQ(fused[0].id, 33);
    }
}

/* Without an embedder, or with one that knows only words, the words still rank. */
TEST(fusion, words_alone_keep_the_order_of_bm25)
{
    test_rng rng = test_random(56);

    for (uint64_t round = 0; round < test_count(300, 5000); round++) {
        lc_fused fused[LIST];
        lists l;

        init(&l);
        for (uint32_t id = 0; id < LIST; id++)
            add_lexical(&l, id, real(&rng, 0.5, 20));
        CHECK_EQ(lc_fuse(&l.it, fused), LIST);
        for (size_t i = 1; i < LIST; i++)
            CHECK(fused[i - 1].bm25 >= fused[i].bm25);
    }
}

/* Its vector is not there yet (a job makes it), those of others are. */
TEST(fusion, strong_words_without_a_vector_are_worth_as_much_as_a_good_vector)
{
    lc_fused fused[4];
    lists l;

    init(&l);
    add_lexical(&l, 1, 1.3 * RARE);
    add_vector(&l, 2, 0.4);
    add_vector(&l, 3, 0.95);
    CHECK_EQ(lc_fuse(&l.it, fused), 3);
    CHECK_EQ(fused[0].id, 3);
    CHECK_EQ(fused[1].id, 1);
    CHECK_EQ(fused[2].id, 2);
}

TEST(fusion, agreeing_lists_strengthen_each_other)
{
    lc_fused fused[4];
    lists l;

    init(&l);
    add_vector(&l, 1, 0.8);
    add_vector(&l, 2, 0.7);
    add_lexical(&l, 2, RARE);
    add_lexical(&l, 3, RARE);
    CHECK_EQ(lc_fuse(&l.it, fused), 3);
    CHECK_EQ(fused[0].id, 2);
}
