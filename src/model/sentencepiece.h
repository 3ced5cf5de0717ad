/* sentencepiece.h - text as the pieces that the sentence encoder was taught with.
 *
 * A unigram model: every piece has a score, and of all ways to lay pieces over a text the one with
 * the highest sum is taken. What no piece begins with is the unknown piece, one character long.
 * The vocabulary is used where it lies in the data file; nothing is built.
 */
#ifndef LC_MODEL_SENTENCEPIECE_H
#define LC_MODEL_SENTENCEPIECE_H

#include "base/arena.h"

#define LC_PIECE_UNKNOWN 0
/* What of a text is looked at. An encoder reads 128 tokens of at most 16 characters; only a text
 * that begins with tens of thousands of characters no piece knows could tell the difference. */
#define LC_PIECE_TEXT_BYTES_MAX ((size_t)64 * 1024)

/* One node of a double array over bytes: the child of node n by byte b is node n.base + b, if that
 * one's parent is n. Node 0 is the root; its parent, and that of empty places, is UINT32_MAX. */
typedef struct lc_piece_node {
    uint32_t base;
    uint32_t parent;
    uint32_t piece; /* That ends here, or 0. */
} lc_piece_node;

/* A view; zeroed is a vocabulary that knows nothing. Indices in it are checked when used. */
typedef struct lc_sentencepiece {
    const lc_piece_node *nodes;
    const double *scores; /* One a piece. */
    uint32_t node_count;
    uint32_t piece_count;
} lc_sentencepiece;

/* A piece and the bytes it lies on; it ends where the next one begins. */
typedef struct lc_piece {
    uint32_t id;
    uint32_t start;
} lc_piece;

typedef struct lc_pieces {
    const lc_piece *items;
    size_t count;
    double score; /* The sum of their scores. */
} lc_pieces;

/* `text` in the form that is split: its beginning, in NFKC, with U+2581 for every space and one in
 * front. Empty stays empty. In `arena`. LOCI_EINVAL when it is not UTF-8. */
loci_status lc_sentencepiece_prepare(lc_arena *arena, loci_str text, loci_str *out,
                                     loci_error *err);
/* The best pieces over `prepared`, from its first byte to its last. In `arena`. */
loci_status lc_sentencepiece_split(const lc_sentencepiece *vocabulary, lc_arena *arena,
                                   loci_str prepared, lc_pieces *out, loci_error *err);
/* The ids of `pieces` as an encoder wants them: unknown ones in a row are one, and what does not
 * fit is left out. Returns how many there are. */
size_t lc_sentencepiece_ids(const lc_pieces *pieces, uint32_t *out, size_t max);

#endif /* LC_MODEL_SENTENCEPIECE_H */
