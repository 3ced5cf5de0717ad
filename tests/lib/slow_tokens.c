#include "lib/slow_tokens.h"

#include <string.h>

static uint32_t token_of(const lc_tokenizer *tokenizer, const uint8_t *at, size_t bytes)
{
    lc_token_search search = lc_token_table_search(&tokenizer->table, at, bytes, at + bytes);

    return lc_token_table_found(&tokenizer->table, &search);
}

/* Part i is the bytes from start[i] to start[i + 1]. */
static size_t merge(const lc_tokenizer *tokenizer, const uint8_t *at, size_t bytes, uint32_t *out)
{
    static size_t start[SLOW_PIECE_BYTES_MAX + 1];
    static uint32_t rank[SLOW_PIECE_BYTES_MAX]; /* Of part i and the next, together. */
    size_t parts = bytes;

    for (size_t i = 0; i <= bytes; i++)
        start[i] = i;
    for (size_t i = 0; i + 1 < bytes; i++)
        rank[i] = token_of(tokenizer, at + i, 2);
    while (parts > 1) {
        size_t best = 0;

        for (size_t i = 1; i + 1 < parts; i++)
            best = rank[i] < rank[best] ? i : best;
        if (rank[best] == LC_TOKEN_NONE)
            break;
        memmove(start + best + 1, start + best + 2, (parts - best - 1) * sizeof *start);
        memmove(rank + best, rank + best + 1, (parts - best - 1) * sizeof *rank);
        parts--;
        for (size_t i = best > 0 ? best - 1 : 0; i <= best && i + 1 < parts; i++)
            rank[i] = token_of(tokenizer, at + start[i], start[i + 2] - start[i]);
    }
    for (size_t i = 0; i < parts; i++)
        out[i] = token_of(tokenizer, at + start[i], start[i + 1] - start[i]);
    return parts;
}

size_t slow_tokens(const lc_tokenizer *tokenizer, loci_str text, uint32_t *out)
{
    const uint8_t *at = (const uint8_t *)text.ptr, *end = text.len > 0 ? at + text.len : at;
    size_t count = 0;

    while (at < end) {
        const uint8_t *next = tokenizer->split(at, end);
        size_t bytes = (size_t)(next - at);

        if (bytes > SLOW_PIECE_BYTES_MAX)
            return SIZE_MAX;
        out[count] = token_of(tokenizer, at, bytes);
        count += out[count] != LC_TOKEN_NONE ? 1 : merge(tokenizer, at, bytes, out + count);
        at = next;
    }
    return count;
}
