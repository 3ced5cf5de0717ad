/* recall_fixture.h - questions with the sentence that answers each, and a ranking that is judged.
 *
 *     recall_open(&set);
 *     recall_add(&set, "triples.jsonl", "paraphrase");
 *     recall_score_cosines(&set, ...) / recall_score_bm25(&set, ...) / recall_score_fused(&set ...)
 *     recall_judge(&set, 0, set.count)
 *
 * Each line of a file has a query, its answer, and a distractor. All answers and distractors of all
 * files that were added are candidates for each query.
 */
#ifndef TEST_RECALL_FIXTURE_H
#define TEST_RECALL_FIXTURE_H

#include "base/arena.h"
#include "base/env.h"
#include "index/fusion.h"
#include "index/postings.h"
#include "model/encoder.h"

#define RECALL_QUERIES_MAX 40
#define RECALL_CANDIDATES_MAX (2 * RECALL_QUERIES_MAX)
#define RECALL_FIRST_FEW 3
#define RECALL_TRIPLES 30 /* Lines of triples.jsonl. */

typedef struct recall_set {
    lc_env env;
    lc_arena arena;
    size_t count;
    loci_str queries[RECALL_QUERIES_MAX];
    loci_str candidates[RECALL_CANDIDATES_MAX]; /* The answer to query i at 2 i. */
    double scores[RECALL_QUERIES_MAX][RECALL_CANDIDATES_MAX];
} recall_set;

void recall_open(recall_set *set);
void recall_close(recall_set *set);
/* Adds a file of tests/recall; `answer` is the member that is to be found. */
void recall_add(recall_set *set, const char *name, const char *answer);

/* Each fills `scores`. */
void recall_score_encoder(recall_set *set);
void recall_score_spelling(recall_set *set);
void recall_score_bm25(recall_set *set);
/* The encoder's and the words' lists made one, as `how` says (NULL: as usual). */
void recall_score_fused(recall_set *set);

typedef struct recall_found {
    unsigned top; /* Answers that came first. */
    unsigned few; /* Answers among the first three. */
} recall_found;

/* Of `count` queries from `first` on. A tie counts against the answer. */
recall_found recall_judge(const recall_set *set, size_t first, size_t count);

#endif /* TEST_RECALL_FIXTURE_H */
