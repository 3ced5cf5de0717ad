/* tokenizer.c - encodes piece by piece: most pieces are one token, the others are merged. */
#include "text/tokenizer.h"

#include <stdio.h>

#include "base/assert.h"
#include "base/error.h"
#include "base/str.h"
#include "text/split.h"

/* ---- Merging --------------------------------------------------------------------------------- */

/* Byte pair encoding of one piece of text that is not a token itself. The piece starts as its
 * bytes; of all adjacent pairs the one with the lowest rank merges, the leftmost if several are
 * equal, until no pair is left. The time is n log n at worst, so that a long word cannot stop a
 * service.
 *
 * A part keeps the place of its first byte. A block has, for its 64 places,
 *
 *     alive    one bit each: a part begins here
 *     token    the token of the part that begins here
 *     key      rank << 6 | place in the block, of the token that this part and the next one would
 * merge to; NO_KEY when they do not, or when no part begins here
 *
 * so the smallest key is the merge that goes first in the block, leftmost of equals, and it is
 * found by looking at all 64 four at a time. That is faster than a search structure, because most
 * pieces are one block. These start as characters where possible (token_table.h), longer pieces as
 * bytes. Longer ones have a tournament over their blocks: node i holds the better of 2i and 2i + 1
 * as rank << 32 | place, and a merge renews the few blocks that it touched and the nodes above
 * them. */

#define PLACES 64
#define NO_KEY INT32_MAX
#define NO_BEST UINT64_MAX
/* Pieces of up to this number of blocks need no memory from the heap. */
#define BLOCKS_HERE 16

typedef struct merge_block {
    int32_t key[PLACES];
    uint32_t token[PLACES];
    uint64_t alive;
    uint64_t padding;
} merge_block;

typedef int32_t lanes __attribute__((vector_size(16)));

static inline int32_t lowest_key(const merge_block *block, size_t places)
{
    const int32_t *key = block->key;
    lanes low, next, is_less;
    int32_t a, b;

    memcpy(&low, key, sizeof low);
    for (size_t i = 4; i < places; i += 4) {
        memcpy(&next, key + i, sizeof next);
        is_less = next < low;
        low = (next & is_less) | (low & ~is_less);
    }
    a = low[0] < low[1] ? low[0] : low[1];
    b = low[2] < low[3] ? low[2] : low[3];
    return a < b ? a : b;
}

static inline int32_t key_of(uint32_t merged, size_t place)
{
    return merged == LC_TOKEN_NONE ? NO_KEY : (int32_t)(merged << 6 | (uint32_t)place);
}

/* Whether no token begins at or before the last byte of a character and ends behind it, inside of
 * the next. Seams are known for characters only: a stray continuation byte, which is not a
 * character, may merge with the bytes before it. */
static inline bool ends_alone(const lc_token_table *table, const uint8_t *last, const uint8_t *end)
{
    return last + 1 == end ||
           ((last[1] & 0xC0) != 0x80 && !lc_token_table_is_seam(table, last[0], last[1]));
}

/* The token of the character at `at`, when its bytes can merge with each other only; else of the
 * byte. `begin` and `end` are of the piece. */
static inline uint32_t first_token(const lc_token_table *table, const uint8_t *begin,
                                   const uint8_t *at, const uint8_t *end, size_t *bytes)
{
    uint32_t code_point, token;

    *bytes = 1;
    if (*at < 0xC2)
        return table->one[*at] & LC_TOKEN_MASK;
    code_point = lc_split_wide(at, end, bytes);
    /* Not four bytes, and not an overlong form. */
    if (*bytes == (code_point < 0x800 ? 2 : 3)) {
        token = table->characters[code_point];
        if (token != LC_TOKEN_NONE &&
            (at == begin || !lc_token_table_is_seam(table, at[-1], at[0])) &&
            ends_alone(table, at + *bytes - 1, end))
            return token & LC_TOKEN_MASK;
    }
    *bytes = 1;
    return table->one[*at] & LC_TOKEN_MASK;
}

/* The parts that a piece of at most one block begins as. */
static void fill_short(const lc_token_table *table, merge_block *block, const uint8_t *at,
                       size_t bytes)
{
    size_t before = 0, before_bytes = 0, here;

    block->alive = 0;
    for (size_t i = 0; i < bytes; i += here) {
        uint32_t token = first_token(table, at, at + i, at + bytes, &here), merged;

        block->token[i] = token;
        block->alive |= 1ull << i;
        for (size_t k = i; k < i + here; k++)
            block->key[k] = NO_KEY;
        if (i > 0) {
            if (before_bytes + here == 2)
                merged = lc_token_table_merge_bytes(table, at + before);
            else
                merged = lc_token_table_merge(table, block->token[before], token);
            block->key[before] = key_of(merged, before);
        }
        before = i;
        before_bytes = here;
    }
    for (size_t i = bytes; i % 4 != 0; i++)
        block->key[i] = NO_KEY;
}

/* Bytes become parts. `has_next` says that the piece goes on behind them. */
static void fill(const lc_token_table *table, merge_block *block, const uint8_t *at, size_t bytes,
                 bool has_next)
{
    size_t pairs = has_next ? bytes : bytes - 1;

    block->alive = UINT64_MAX >> (PLACES - bytes);
    for (size_t i = 0; i < bytes; i++)
        block->token[i] = table->one[at[i]] & LC_TOKEN_MASK;
    for (size_t i = 0; i < pairs; i++)
        block->key[i] = key_of(lc_token_table_merge_bytes(table, at + i), i);
    for (size_t i = pairs; i < PLACES; i++)
        block->key[i] = NO_KEY;
}

/* ---- One block ------------------------------------------------------------------------------- */

static size_t write_tokens(const merge_block *block, uint32_t *out)
{
    size_t count = 0;

    for (uint64_t left = block->alive; left != 0; left &= left - 1)
        out[count++] = block->token[__builtin_ctzll(left)];
    return count;
}

static size_t merge_short(const lc_token_table *table, const uint8_t *at, size_t bytes,
                          uint32_t *out)
{
    merge_block block;
    int32_t key;

    fill_short(table, &block, at, bytes);
    while ((key = lowest_key(&block, bytes)) != NO_KEY) {
        size_t place = (size_t)key % PLACES;
        uint32_t token = (uint32_t)key / PLACES;
        uint64_t behind = block.alive & UINT64_MAX << place << 1;
        uint64_t before = block.alive & ~(UINT64_MAX << place);

        block.token[place] = token;
        block.key[__builtin_ctzll(behind)] = NO_KEY;
        block.alive &= ~(behind & -behind);
        behind &= behind - 1;
        block.key[place] = NO_KEY;
        if (behind != 0)
            block.key[place] = key_of(
                lc_token_table_merge(table, token, block.token[__builtin_ctzll(behind)]), place);
        if (before != 0) {
            size_t left = (size_t)(63 - __builtin_clzll(before));

            block.key[left] = key_of(lc_token_table_merge(table, block.token[left], token), left);
        }
    }
    if (out != NULL)
        return write_tokens(&block, out);
    return (size_t)__builtin_popcountll(block.alive);
}

/* ---- Many blocks ----------------------------------------------------------------------------- */

typedef struct merger {
    const lc_token_table *table;
    merge_block *blocks;
    uint64_t *nodes;    /* 1 is the root; block i is leaf leaf_count + i. */
    size_t block_count; /* At least 2. */
    size_t leaf_count;  /* A power of two. */
} merger;

#define NO_PLACE SIZE_MAX

static inline uint32_t *token_at(merger *m, size_t place)
{
    return &m->blocks[place / PLACES].token[place % PLACES];
}

static inline int32_t *key_at(merger *m, size_t place)
{
    return &m->blocks[place / PLACES].key[place % PLACES];
}

/* A token is short, so these look at two or three blocks. */
static size_t part_behind(const merger *m, size_t place)
{
    size_t i = place / PLACES;
    uint64_t alive = m->blocks[i].alive & UINT64_MAX << place % PLACES << 1;

    while (alive == 0) {
        if (++i == m->block_count)
            return NO_PLACE;
        alive = m->blocks[i].alive;
    }
    return i * PLACES + (size_t)__builtin_ctzll(alive);
}

static size_t part_before(const merger *m, size_t place)
{
    size_t i = place / PLACES;
    uint64_t alive = m->blocks[i].alive & ~(UINT64_MAX << place % PLACES);

    while (alive == 0) {
        if (i-- == 0)
            return NO_PLACE;
        alive = m->blocks[i].alive;
    }
    return i * PLACES + (size_t)(63 - __builtin_clzll(alive));
}

static uint64_t best_of_block(const merger *m, size_t i)
{
    int32_t key = lowest_key(&m->blocks[i], PLACES);
    uint64_t place = i * PLACES + (uint32_t)key % PLACES;

    return key == NO_KEY ? NO_BEST : (uint64_t)((uint32_t)key / PLACES) << 32 | place;
}

static uint64_t better(const merger *m, size_t node)
{
    uint64_t left = m->nodes[2 * node], right = m->nodes[2 * node + 1];

    return left < right ? left : right;
}

static void renew(merger *m, size_t block)
{
    size_t node = m->leaf_count + block;

    m->nodes[node] = best_of_block(m, block);
    for (node /= 2; node > 0; node /= 2)
        m->nodes[node] = better(m, node);
}

static void set_pair(merger *m, size_t left, size_t right)
{
    uint32_t merged = LC_TOKEN_NONE;

    if (right != NO_PLACE)
        merged = lc_token_table_merge(m->table, *token_at(m, left), *token_at(m, right));
    *key_at(m, left) = key_of(merged, left % PLACES);
}

static void merge_at(merger *m, size_t place, uint32_t token)
{
    size_t gone = part_behind(m, place);
    size_t before = part_before(m, place);

    *token_at(m, place) = token;
    m->blocks[gone / PLACES].alive &= ~(1ull << gone % PLACES);
    *key_at(m, gone) = NO_KEY;
    set_pair(m, place, part_behind(m, place));
    if (before != NO_PLACE)
        set_pair(m, before, place);
    if (gone / PLACES != place / PLACES)
        renew(m, gone / PLACES);
    if (before != NO_PLACE && before / PLACES != place / PLACES)
        renew(m, before / PLACES);
    renew(m, place / PLACES);
}

static void start(merger *m, const uint8_t *at, size_t bytes)
{
    for (size_t i = 0; i < m->block_count; i++) {
        size_t left = bytes - i * PLACES;
        bool is_last = left <= PLACES;

        fill(m->table, &m->blocks[i], at + i * PLACES, is_last ? left : PLACES, !is_last);
        m->nodes[m->leaf_count + i] = best_of_block(m, i);
    }
    for (size_t i = m->block_count; i < m->leaf_count; i++)
        m->nodes[m->leaf_count + i] = NO_BEST;
    for (size_t node = m->leaf_count - 1; node > 0; node--)
        m->nodes[node] = better(m, node);
}

static size_t merge_blocks(merger *m, const uint8_t *at, size_t bytes, uint32_t *out)
{
    size_t count = 0;

    start(m, at, bytes);
    while (m->nodes[1] != NO_BEST)
        merge_at(m, (uint32_t)m->nodes[1], (uint32_t)(m->nodes[1] >> 32));
    for (size_t i = 0; i < m->block_count; i++) {
        if (out != NULL)
            (void)write_tokens(&m->blocks[i], out + count);
        count += (size_t)__builtin_popcountll(m->blocks[i].alive);
    }
    return count;
}

static size_t merge_here(const lc_token_table *table, const uint8_t *at, size_t bytes,
                         uint32_t *out)
{
    merge_block blocks[BLOCKS_HERE];
    uint64_t nodes[2 * BLOCKS_HERE];
    merger m = {.table = table, .blocks = blocks, .nodes = nodes};

    m.block_count = (bytes + PLACES - 1) / PLACES;
    for (m.leaf_count = 2; m.leaf_count < m.block_count;)
        m.leaf_count *= 2;
    return merge_blocks(&m, at, bytes, out);
}

static size_t merge_long(const lc_token_table *table, lc_heap *heap, const uint8_t *at,
                         size_t bytes, uint32_t *out)
{
    merger m = {.table = table, .block_count = (bytes + PLACES - 1) / PLACES, .leaf_count = 2};
    size_t block_bytes = m.block_count * sizeof *m.blocks, node_bytes;
    size_t count = SIZE_MAX;

    while (m.leaf_count < m.block_count)
        m.leaf_count *= 2;
    node_bytes = 2 * m.leaf_count * sizeof *m.nodes;
    m.blocks = lc_heap_alloc(heap, block_bytes, LOCI_MEM_REQUESTS);
    m.nodes = lc_heap_alloc(heap, node_bytes, LOCI_MEM_REQUESTS);
    if (m.blocks != NULL && m.nodes != NULL)
        count = merge_blocks(&m, at, bytes, out);
    lc_heap_free(heap, m.nodes, node_bytes, LOCI_MEM_REQUESTS);
    lc_heap_free(heap, m.blocks, block_bytes, LOCI_MEM_REQUESTS);
    return count;
}

/* The tokens of the `bytes` bytes at `at`. Writes their numbers to `out` unless it is NULL; it has
 * room for `bytes` of them. Returns how many there are, or SIZE_MAX when out of memory, which only
 * long pieces need. */
static size_t merge_piece(const lc_token_table *table, lc_heap *heap, const uint8_t *at,
                          size_t bytes, uint32_t *out)
{
    if (bytes <= PLACES)
        return merge_short(table, at, bytes, out);
    if (bytes <= (size_t)BLOCKS_HERE * PLACES)
        return merge_here(table, at, bytes, out);
    return merge_long(table, heap, at, bytes, out);
}

/* ---- Encodings and tokenizers -------------------------------------------------------------------
 */

static const struct {
    const char *name;
    lc_split *split;
} encodings[LC_ENCODINGS] = {
    [LC_ENCODING_O200K_BASE] = {"o200k_base", lc_split_o200k},
    [LC_ENCODING_CL100K_BASE] = {"cl100k_base", lc_split_cl100k},
};

const char *lc_encoding_name(lc_encoding encoding)
{
    LC_ASSERT(encoding < LC_ENCODINGS);
    return encodings[encoding].name;
}

bool lc_encoding_find(loci_str name, lc_encoding *out)
{
    for (unsigned i = 0; i < LC_ENCODINGS; i++) {
        if (lc_str_is(name, encodings[i].name)) {
            *out = (lc_encoding)i;
            return true;
        }
    }
    return false;
}

void lc_tokenizer_init(lc_tokenizer *tokenizer, lc_heap *heap, lc_encoding encoding)
{
    LC_ASSERT(encoding < LC_ENCODINGS);
    *tokenizer = (lc_tokenizer){
        .heap = heap, .encoding = encoding, .split = encodings[encoding].split};
}

loci_status lc_tokenizer_open(lc_tokenizer *tokenizer, lc_heap *heap, lc_encoding encoding,
                              loci_str dir, loci_error *err)
{
    char name[32], path[LC_DATA_PATH_BYTES];
    loci_status status;

    lc_tokenizer_init(tokenizer, heap, encoding);
    (void)snprintf(name, sizeof name, "%s.loci", lc_encoding_name(encoding));
    status = lc_data_file_find(dir, name, path, err);
    if (status == LOCI_OK)
        status = lc_token_table_open(path, lc_encoding_name(encoding), &tokenizer->table, err);
    return status;
}

void lc_tokenizer_close(lc_tokenizer *tokenizer)
{
    lc_token_table_close(&tokenizer->table);
}

bool lc_tokenizer_is_exact(const lc_tokenizer *tokenizer)
{
    return tokenizer->table.file.header != NULL;
}

/* ---- Going through a text -----------------------------------------------------------------------
 *
 * The table of pieces is larger than the caches next to the processor, so the next few pieces are
 * cut and prefetched while one is encoded.
 *
 * Words that are not one token are often repeated in the same text: identifiers, names. Their
 * number of tokens is cached with their position in the text, one word per cache entry; a short
 * text, which repeats little, has few entries.
 */

#define AHEAD 16
#define SEEN_PLACES_MAX 4096
#define SEEN_TEXT_BYTES 64 /* One cache entry per this many bytes of the text. */

typedef struct seen_piece {
    uint32_t start; /* In the text that is being counted. */
    uint16_t bytes; /* 0 = none */
    uint16_t tokens;
} seen_piece;

typedef struct walk {
    const lc_tokenizer *tokenizer;
    const uint8_t *begin;    /* Of the text. */
    const uint8_t *at, *end; /* The text that is not cut yet. */
    size_t count;            /* Of searches. */
    lc_token_search searches[AHEAD];
    size_t place_mask;
    seen_piece seen[SEEN_PLACES_MAX];
} walk;

static void walk_init(walk *w, const lc_tokenizer *tokenizer, loci_str text)
{
    size_t places = 1;

    while (places < SEEN_PLACES_MAX && places * SEEN_TEXT_BYTES < text.len)
        places *= 2;
    w->tokenizer = tokenizer;
    w->begin = w->at = (const uint8_t *)text.ptr;
    w->end = text.len > 0 ? w->at + text.len : w->at; /* NULL is fine. */
    w->place_mask = places - 1;
    memset(w->seen, 0, places * sizeof *w->seen);
}

/* Cuts the next pieces; false at the end. */
static inline bool walk_on(walk *w, lc_split *split)
{
    const uint8_t *at = w->at, *end = w->end;
    size_t count = 0;

    for (; count < AHEAD && at < end; count++) {
        const uint8_t *next = split(at, end);

        w->searches[count] = lc_token_table_search(&w->tokenizer->table, at, (size_t)(next - at),
                                                   end);
        at = next;
    }
    w->at = at;
    w->count = count;
    return count > 0;
}

/* SIZE_MAX when out of memory. */
static size_t count_merged(walk *w, const lc_token_search *piece)
{
    seen_piece *seen = &w->seen[piece->hash & w->place_mask];
    size_t tokens;

    if (seen->bytes == piece->bytes && memcmp(w->begin + seen->start, piece->at, seen->bytes) == 0)
        return seen->tokens;
    tokens = merge_piece(&w->tokenizer->table, w->tokenizer->heap, piece->at, piece->bytes, NULL);
    if (piece->bytes <= UINT16_MAX && tokens <= piece->bytes && piece->at - w->begin <= UINT32_MAX)
        *seen = (seen_piece){(uint32_t)(piece->at - w->begin), (uint16_t)piece->bytes,
                             (uint16_t)tokens};
    return tokens;
}

static loci_status count_exactly(const lc_tokenizer *tokenizer, loci_str text, int64_t *out,
                                 loci_error *err)
{
    int64_t total = 0;
    walk w;

    walk_init(&w, tokenizer, text);
    while (walk_on(&w, tokenizer->split)) {
        for (size_t i = 0; i < w.count; i++) {
            size_t tokens = 1;

            if (lc_token_table_found(&tokenizer->table, &w.searches[i]) == LC_TOKEN_NONE)
                tokens = count_merged(&w, &w.searches[i]);
            if (tokens == SIZE_MAX)
                return lc_fail_memory(err);
            total += (int64_t)tokens;
        }
    }
    *out = total;
    return LOCI_OK;
}

loci_status lc_tokenizer_count(const lc_tokenizer *tokenizer, loci_str text, lc_text_tokens *out,
                               loci_error *err)
{
    *out = (lc_text_tokens){.encoding = tokenizer->encoding};
    if (lc_tokenizer_is_exact(tokenizer))
        return count_exactly(tokenizer, text, &out->tokens, err);
    out->tokens = lc_token_estimate(text, tokenizer->encoding, tokenizer->split);
    out->is_estimated = true;
    return LOCI_OK;
}

loci_status lc_tokenizer_encode(const lc_tokenizer *tokenizer, loci_str text, uint32_t *out,
                                size_t *count, loci_error *err)
{
    const lc_token_table *table = &tokenizer->table;
    size_t written = 0;
    walk w;

    LC_ASSERT(lc_tokenizer_is_exact(tokenizer));
    walk_init(&w, tokenizer, text);
    while (walk_on(&w, tokenizer->split)) {
        for (size_t i = 0; i < w.count; i++) {
            const lc_token_search *piece = &w.searches[i];
            size_t tokens = 1;

            out[written] = lc_token_table_found(table, piece);
            if (out[written] == LC_TOKEN_NONE)
                tokens = merge_piece(table, tokenizer->heap, piece->at, piece->bytes,
                                     out + written);
            if (tokens == SIZE_MAX)
                return lc_fail_memory(err);
            written += tokens;
        }
    }
    *count = written;
    return LOCI_OK;
}

loci_str lc_tokenizer_text(const lc_tokenizer *tokenizer, uint32_t token)
{
    if (!lc_tokenizer_is_exact(tokenizer))
        return (loci_str){"", 0};
    return lc_token_table_text(&tokenizer->table, token);
}
