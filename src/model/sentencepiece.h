/* sentencepiece.h - splits text into the tokens ("pieces") of the sentence encoder.
 *
 * A unigram model: each piece has a score, and the segmentation with the highest sum is taken. A
 * character at which no piece begins is the unknown piece. The vocabulary is used directly in the
 * data file; nothing is built.
 */
#ifndef LC_MODEL_SENTENCEPIECE_H
#define LC_MODEL_SENTENCEPIECE_H

#include "base/arena.h"

#define LC_PIECE_UNKNOWN 0
/* Maximum size of a text; the rest is ignored. An encoder reads 128 tokens of at most 16
 * characters, so this matters only for a text that begins with tens of thousands of unknown
 * characters. */
#define LC_PIECE_TEXT_BYTES_MAX ((size_t)64 * 1024)

/* One node of a double array over bytes: the child of node n by byte b is node n.base + b, if that
 * one's parent is n. Node 0 is the root; its parent, and that of empty places, is UINT32_MAX. */
typedef struct lc_piece_node {
    uint32_t base;
    uint32_t parent;
    uint32_t piece; /* The piece that ends here, or 0. */
} lc_piece_node;

/* A view of the data file; zeroed is an empty vocabulary. Indices are checked when used. */
typedef struct lc_sentencepiece {
    const lc_piece_node *nodes;
    const double *scores; /* One per piece. */
    uint32_t node_count;
    uint32_t piece_count;
} lc_sentencepiece;

/* A piece and its offset in the text; it ends where the next one begins. */
typedef struct lc_piece {
    uint32_t id;
    uint32_t start;
} lc_piece;

typedef struct lc_pieces {
    const lc_piece *items;
    size_t count;
    double score; /* The sum of their scores. */
} lc_pieces;

/* Prepares `text` for splitting: cuts it, normalises it to NFKC, replaces each space by U+2581 and
 * adds one at the beginning. Empty stays empty. In `arena`. LOCI_EINVAL if it is not UTF-8. */
loci_status lc_sentencepiece_prepare(lc_arena *arena, loci_str text, loci_str *out,
                                     loci_error *err);
/* Splits `prepared` into the best pieces, in `arena`. */
loci_status lc_sentencepiece_split(const lc_sentencepiece *vocabulary, lc_arena *arena,
                                   loci_str prepared, lc_pieces *out, loci_error *err);
/* The first `max` ids for the encoder; consecutive unknown pieces are merged. Returns their number.
 */
size_t lc_sentencepiece_ids(const lc_pieces *pieces, uint32_t *out, size_t max);

#endif /* LC_MODEL_SENTENCEPIECE_H */
