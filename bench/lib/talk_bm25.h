/* talk_bm25.h - the baseline: plain BM25 over single turns, cut at a budget of tokens.
 *
 * Turns are ranked by BM25 (k1 1.2, b 0.75) with loci's own terms: stems, without stop words. The
 * best are taken as long as they fit as lines "speaker: text"; one that does not fit is skipped.
 */
#ifndef LC_BENCH_LIB_TALK_BM25_H
#define LC_BENCH_LIB_TALK_BM25_H

#include "index/postings.h"
#include "lib/talk_play.h"
#include "text/term.h"

typedef struct talk_bm25 {
    lc_postings *postings;
    lc_stemmer stemmer;
    const talk_turn *turns; /* Borrowed. */
    int count;
    int64_t *tokens; /* Of the line of each turn, as context.build counts them. */
} talk_bm25;

void talk_bm25_open(talk_bm25 *bm25, talk_player *player, const talk_turn *turns, int count);
void talk_bm25_close(talk_bm25 *bm25);

/* Places of the turns for a question, best first, in the arena. */
const lc_hit *talk_bm25_rank(talk_bm25 *bm25, lc_arena *arena, loci_str question,
                             size_t *out_count);
/* Marks in `shown`, one flag per turn, those of a ranking that fit; returns their tokens. */
int64_t talk_bm25_cut(const talk_bm25 *bm25, const lc_hit *hits, size_t count, int64_t budget,
                      bool *shown);

#endif /* LC_BENCH_LIB_TALK_BM25_H */
