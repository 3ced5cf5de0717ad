/* test_encoder_recall.c - finding by meaning what was said in other words.
 *
 * triples.jsonl holds 30 queries, each with a sentence that says it or answers it in other words,
 * and one that repeats its words and is about something else. All 60 sentences are candidates for
 * each query. The floors below are what later changes must not fall under.
 */
#include "lib/test.h"
#include "recall/recall_fixture.h"

/* Of 30: how often the answer is among the first three, and first. */
#define ENCODER_FEW_FLOOR 29
#define ENCODER_TOP_FLOOR 22
/* Of 30: the same by words or spelling alone, which must not be enough or the triples prove
 * nothing. */
#define WORDS_FEW_CEILING 2

static recall_set set;

static recall_found judge(void (*score)(recall_set *of))
{
    recall_found found;

    recall_open(&set);
    recall_add(&set, "triples.jsonl", "paraphrase");
    CHECK_EQ(set.count, RECALL_TRIPLES);
    score(&set);
    found = recall_judge(&set, 0, set.count);
    recall_close(&set);
    return found;
}

TEST(recall, the_encoder_finds_what_was_said_in_other_words)
{
    recall_found found = judge(recall_score_encoder);

    CHECK_LE(ENCODER_FEW_FLOOR, found.few);
    CHECK_LE(ENCODER_TOP_FLOOR, found.top);
}

TEST(recall, spelling_alone_does_not)
{
    CHECK_LE(judge(recall_score_spelling).few, WORDS_FEW_CEILING);
}

TEST(recall, bm25_alone_does_not_either)
{
    CHECK_LE(judge(recall_score_bm25).few, WORDS_FEW_CEILING);
}
