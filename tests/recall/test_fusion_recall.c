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
/* Of 30, where the encoder alone has 30: to have the same words is not nothing. In conversations
 * words weigh more than these sentences, written against them, would want (index/fusion.h). */
#define FUSED_FEW_FLOOR 28

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
    recall_score_fused(&set);
    fused = recall_judge(&set, 0, RECALL_TRIPLES);
    recall_close(&set);
    CHECK_EQ(words.few, 0);
    CHECK_LE(FUSED_FEW_FLOOR, fused.few);
}

TEST(recall_fused, what_only_words_can_find_is_found)
{
    recall_found meaning, words, fused;

    open_set();
    recall_add(&set, "exact.jsonl", "answer");
    CHECK_EQ(set.count, RECALL_TRIPLES + EXACT);
    recall_score_encoder(&set);
    meaning = recall_judge(&set, RECALL_TRIPLES, EXACT);
    recall_score_bm25(&set);
    words = recall_judge(&set, RECALL_TRIPLES, EXACT);
    recall_score_fused(&set);
    fused = recall_judge(&set, RECALL_TRIPLES, EXACT);
    /* Or the questions prove nothing. */
    CHECK_LT(meaning.few, EXACT);
    CHECK_EQ(words.few, EXACT);
    CHECK_EQ(fused.few, EXACT);
    CHECK_LT(meaning.top, fused.top);
    CHECK_LE(FUSED_FEW_FLOOR, recall_judge(&set, 0, RECALL_TRIPLES).few);
    recall_close(&set);
}
