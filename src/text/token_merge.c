/* token_merge.c - merging with blocks of 64 places.
 *
 * A part keeps the place of its first byte. A block has, for its 64 places,
 *
 *     alive    one bit each: a part begins here
 *     token    the token of the part that begins here
 *     key      rank << 6 | place in the block, of what this part and the next one would merge to;
 *              NO_KEY when they do not, or when no part begins here
 *
 * so the smallest key is the merge that goes first in the block, leftmost of equals, and it is
 * found by looking at all 64 four at a time. That is quicker than any clever structure: most pieces
 * are one block. Those begin as characters where they may (token_table.h), others as bytes. Longer
 * ones have a tournament over their blocks: node i holds the better of 2i and 2i + 1 as rank << 32
 * | place, and a merge renews the few blocks that it touched and the nodes above them.
 */
#include "text/token_merge.h"

#include "text/split.h"

#define PLACES 64
#define NO_KEY INT32_MAX
#define NO_BEST UINT64_MAX
/* Pieces of so many bytes are worked on without taking memory. */
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
    /* Not four bytes, and not what takes more than it needs. */
    if (*bytes == (code_point < 0x800 ? 2 : 3)) {
        token = table->characters[code_point];
        if (token != LC_TOKEN_NONE &&
            (at == begin || !lc_token_table_is_seam(table, at[-1], at[0])) &&
            (at + *bytes == end || !lc_token_table_is_seam(table, at[*bytes - 1], at[*bytes])))
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

size_t lc_token_merge(const lc_token_table *table, lc_heap *heap, const uint8_t *at, size_t bytes,
                      uint32_t *out)
{
    if (bytes <= PLACES)
        return merge_short(table, at, bytes, out);
    if (bytes <= (size_t)BLOCKS_HERE * PLACES)
        return merge_here(table, at, bytes, out);
    return merge_long(table, heap, at, bytes, out);
}
