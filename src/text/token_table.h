/* token_table.h - the tokens of one encoding, in a data file whose content is used as it is.
 *
 * tools/data/tokens.mjs writes it; both change together, with LC_TOKEN_TABLE_VERSION. Behind the
 * data file's header the body is, little-endian:
 *
 *     head      64 bytes, lc_token_table_head
 *     pieces    2^piece_bits slots {key u64, token u32, bytes u32}: a token by its text. The key of
 *               at most 8 bytes is the text itself, of more a hash; bytes 0 = free
 *     pairs     2^pair_bits slots u64: left token, right token, merged token, 18 bits each;
 *               all ones = free
 *     filter    2^(pair_bits + 2) bits: set for each pair at the top bits of its other hash. Most
 *               look-ups are for pairs that do not exist, and this bitmap is small enough to stay
 *               in the cache when the table is not
 *     characters 65536 u32: the token of a character below U+10000 of more than one byte, or
 *               LC_TOKEN_NONE
 *     two       65536 u32: the token of two bytes, the first in the low half; LC_TOKEN_NONE
 *     one       256 u32: the token of one byte
 *     seams     65536 bits: whether a token reaches from one character into a part of another where
 *               the one ends with this byte (the low half) and the other begins with that
 *     starts    token_count + 1 u32: where the text of each token begins
 *     text      the texts, one behind the other
 *
 * Both tables of slots are at most half full and probed linearly. A token's number is its rank: the
 * pair with the lowest merged token merges first.
 *
 * `pairs` has one pair per token, not all: the two parts that its text consists of before the last
 * merge, if it is encoded alone. No other two parts of its text can become neighbours: as long as
 * no merge crosses the ends of the text, the merges inside it are the same as if it were alone, and
 * these lead through one state of two parts only.
 *
 * Where no token crosses the seams on both sides of a character, its bytes can merge with each
 * other only. As every token ranks behind its parts, it makes no difference when they do so, and
 * merging may start with the character instead of its bytes.
 *
 * A wrong file gives wrong tokens but never a wrong access: numbers are masked or compared before
 * they are used, and a probe ends after LC_TOKEN_PROBES_MAX slots.
 */
#ifndef LC_TEXT_TOKEN_TABLE_H
#define LC_TEXT_TOKEN_TABLE_H

#include "base/data_file.h"

#include <stdbool.h>
#include <string.h>

#define LC_TOKEN_TABLE_VERSION 1
#define LC_TOKEN_BITS 18
#define LC_TOKEN_MASK ((1u << LC_TOKEN_BITS) - 1)
#define LC_TOKEN_NONE UINT32_MAX
#define LC_TOKEN_PROBES_MAX 256    /* Far more than any table of loci needs. */
#define LC_TOKEN_KEY_BYTES_MAX 256 /* The longest token has 128. */
#define LC_TOKEN_MIX_1 0x9E3779B97F4A7C15u
#define LC_TOKEN_MIX_2 0xD6E8FEB86659FD93u

typedef struct lc_token_table_head {
    char encoding[16];
    uint32_t token_count;
    uint32_t token_bytes_max; /* The longest text of a token. */
    uint32_t piece_bits;
    uint32_t pair_bits;
    uint32_t text_bytes;
    uint32_t reserved[7];
} lc_token_table_head;

_Static_assert(sizeof(lc_token_table_head) == 64, "the slots begin at a cache line");

typedef struct lc_token_piece {
    uint64_t key;
    uint32_t token;
    uint32_t bytes;
} lc_token_piece;

typedef struct lc_token_table {
    lc_data_file file;
    const lc_token_piece *pieces;
    const uint64_t *pairs;
    const uint64_t *filter;
    const uint32_t *characters, *two, *one, *starts;
    const uint8_t *seams, *text;
    uint32_t piece_shift, pair_shift; /* 64 - bits. */
    uint32_t token_count, text_bytes;
} lc_token_table;

extern const lc_data_kind lc_token_table_kind;

/* Opens the file at `path`, which must be of `encoding`. */
loci_status lc_token_table_open(const char *path, const char *encoding, lc_token_table *out,
                                loci_error *err);
void lc_token_table_close(lc_token_table *table);

/* The text of `token`, empty when there is no such token. */
loci_str lc_token_table_text(const lc_token_table *table, uint32_t token);

/* A search for the token whose text is `bytes` bytes at `at`. It takes two steps so that several
 * can be under way: the first prefetches the memory that the second reads. */
typedef struct lc_token_search {
    const uint8_t *at;
    size_t bytes;
    uint64_t key;
    uint64_t hash;
} lc_token_search;

/* Up to 8 bytes as a number, the first lowest. */
static inline uint64_t lc_token_load(const uint8_t *at, size_t bytes, const uint8_t *end)
{
    uint64_t word = 0;

    if (end - at >= 8) {
        memcpy(&word, at, 8);
        return word & UINT64_MAX >> (64 - 8 * bytes);
    }
    memcpy(&word, at, bytes);
    return word;
}

/* A text longer than any token has a key too, of its beginning; it will not be found. */
static inline uint64_t lc_token_key(const uint8_t *at, size_t bytes, const uint8_t *end)
{
    uint64_t hash = bytes;

    if (bytes <= 8)
        return lc_token_load(at, bytes, end);
    if (bytes > LC_TOKEN_KEY_BYTES_MAX)
        bytes = LC_TOKEN_KEY_BYTES_MAX;
    for (; bytes > 8; at += 8, bytes -= 8) {
        hash = (hash ^ lc_token_load(at, 8, end)) * LC_TOKEN_MIX_1;
        hash ^= hash >> 32;
    }
    hash = (hash ^ lc_token_load(at, bytes, end)) * LC_TOKEN_MIX_1;
    return hash ^ hash >> 32;
}

/* Bytes up to `end`, at or behind the end of the piece, may be read. */
static inline lc_token_search lc_token_table_search(const lc_token_table *table, const uint8_t *at,
                                                    size_t bytes, const uint8_t *end)
{
    lc_token_search search = {.at = at, .bytes = bytes, .key = lc_token_key(at, bytes, end)};

    search.hash = search.key * LC_TOKEN_MIX_1;
    search.hash = (search.hash ^ search.hash >> 32) * LC_TOKEN_MIX_2;
    __builtin_prefetch(&table->pieces[search.hash >> table->piece_shift]);
    return search;
}

/* The token, or LC_TOKEN_NONE. */
uint32_t lc_token_table_found(const lc_token_table *table, const lc_token_search *search);

/* The token that `left` and `right` merge to, or LC_TOKEN_NONE. */
static inline uint32_t lc_token_table_merge(const lc_token_table *table, uint32_t left,
                                            uint32_t right)
{
    uint64_t key = (uint64_t)left << LC_TOKEN_BITS | right;
    uint64_t slot = key * LC_TOKEN_MIX_1 >> table->pair_shift;
    uint64_t mask = UINT64_MAX >> table->pair_shift;
    uint64_t bit = key * LC_TOKEN_MIX_2 >> (table->pair_shift - 2);

    if ((table->filter[bit / 64] >> bit % 64 & 1) == 0)
        return LC_TOKEN_NONE;
    for (int probes = 0; probes < LC_TOKEN_PROBES_MAX; probes++) {
        uint64_t pair = table->pairs[slot];

        if (pair >> LC_TOKEN_BITS == key)
            return (uint32_t)pair & LC_TOKEN_MASK;
        if (pair == UINT64_MAX)
            break;
        slot = (slot + 1) & mask;
    }
    return LC_TOKEN_NONE;
}

/* Whether a token may cross the border between these bytes of two characters in part. */
static inline bool lc_token_table_is_seam(const lc_token_table *table, uint8_t last, uint8_t first)
{
    return (table->seams[(last | first << 8) >> 3] >> (last & 7) & 1) != 0;
}

/* The token that two bytes merge to. */
static inline uint32_t lc_token_table_merge_bytes(const lc_token_table *table, const uint8_t at[2])
{
    uint32_t token = table->two[at[0] | at[1] << 8];

    return token == LC_TOKEN_NONE ? token : token & LC_TOKEN_MASK;
}

#endif /* LC_TEXT_TOKEN_TABLE_H */
