/* test_fusion_recall.c - one ranking from meaning and words: neither spoils what the other found.
 *
 * For the triples words are worse than useless: the sentence that shares most is the wrong one, for
 * each of the 30. exact.jsonl is the other way round: ten questions about an identifier or a name,
 * with a sentence that has it and speaks of something else, and one that says nearly what is asked
 * for and has a name that looks like it.
 */
#include "lib/test.h"
#include "recall/recall_fixture.h"

#define EXACT 10
/* Of 30, as for the encoder alone. One that it has third goes behind the sentence that repeats the
 * query: to have the same words is not nothing. */
#define FUSED_FEW_FLOOR 29

static recall_set set;

static void open_set(void)
{
    recall_open(&set);
    recall_add(&set, "triples.jsonl", "paraphrase");
    CHECK_EQ(set.count, RECALL_TRIPLES);
}

TEST(recall_fused, useless_words_do_not_drag_meaning_down)
{
    recall_found words, fused;

    open_set();
    recall_score_bm25(&set);
    words = recall_judge(&set, 0, RECALL_TRIPLES);
    recall_score_fused(&set, NULL);
    fused = recall_judge(&set, 0, RECALL_TRIPLES);
    recall_close(&set);
    CHECK_EQ(words.few, 0);
    CHECK_LE(FUSED_FEW_FLOOR, fused.few);
}

TEST(recall_fused, what_only_words_can_find_is_found)
{
    recall_found meaning, words, fused, others;

    open_set();
    recall_add(&set, "exact.jsonl", "answer");
    CHECK_EQ(set.count, RECALL_TRIPLES + EXACT);
    recall_score_encoder(&set);
    meaning = recall_judge(&set, RECALL_TRIPLES, EXACT);
    others = recall_judge(&set, 0, RECALL_TRIPLES);
    recall_score_bm25(&set);
    words = recall_judge(&set, RECALL_TRIPLES, EXACT);
    recall_score_fused(&set, NULL);
    fused = recall_judge(&set, RECALL_TRIPLES, EXACT);
    /* Or the questions prove nothing. */
    CHECK_LT(meaning.few, EXACT);
    CHECK_EQ(words.few, EXACT);
    CHECK_EQ(fused.few, EXACT);
    CHECK_LT(meaning.top, fused.top);
    CHECK_LE(others.few, recall_judge(&set, 0, RECALL_TRIPLES).few);
    recall_close(&set);
}

/* Why the default is what it is: taken at their word, few documents make each word a rare one. */
TEST(recall_fused, a_small_collection_does_not_know_what_is_rare)
{
    lc_fusion how = LC_FUSION_DEFAULT;
    recall_found usual, naive;

    open_set();
    recall_score_fused(&set, NULL);
    usual = recall_judge(&set, 0, RECALL_TRIPLES);
    how.rarest_idf_min = 0.1;
    recall_score_fused(&set, &how);
    naive = recall_judge(&set, 0, RECALL_TRIPLES);
    recall_close(&set);
    CHECK_LT(naive.few, usual.few);
    CHECK_LT(naive.top, usual.top);
}
