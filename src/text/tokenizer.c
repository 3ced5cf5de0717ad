/* tokenizer.c - piece by piece: most are a token as they stand, the others are merged. */
#include "text/tokenizer.h"

#include <stdio.h>

#include "base/assert.h"
#include "base/error.h"
#include "base/str.h"
#include "text/token_estimate.h"
#include "text/token_merge.h"

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
 * The table of pieces is larger than the caches next to the processor, so a few pieces are cut and
 * asked for ahead of the one that is looked at.
 *
 * Words that are not a token come again in the same text: identifiers, names. How many tokens they
 * are is remembered by where they were seen, one word to a place; a text too short to repeat itself
 * has few places.
 */

#define AHEAD 16
#define SEEN_PLACES_MAX 4096
#define SEEN_TEXT_BYTES 64 /* One place for so many bytes of the text. */

typedef struct seen_piece {
    uint32_t start; /* In the text that is being counted. */
    uint16_t bytes; /* 0 = none */
    uint16_t tokens;
} seen_piece;

typedef struct walk {
    const lc_tokenizer *tokenizer;
    const uint8_t *begin;    /* Of the text. */
    const uint8_t *at, *end; /* What is not yet cut. */
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
    tokens = lc_token_merge(&w->tokenizer->table, w->tokenizer->heap, piece->at, piece->bytes,
                            NULL);
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

bool lc_tokenizer_trusts(const lc_tokenizer *tokenizer, lc_text_tokens stored)
{
    return stored.encoding == tokenizer->encoding &&
           !(stored.is_estimated && lc_tokenizer_is_exact(tokenizer));
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
                tokens = lc_token_merge(table, tokenizer->heap, piece->at, piece->bytes,
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
