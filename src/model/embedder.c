/* embedder.c - the three kinds of embedder; the lexical one is here, too. */
#include "model/embedder.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/hash.h"
#include "base/str.h"
#include "model/encoder.h"

/* ---- Lexical vectors -------------------------------------------------------------------------
 *
 * Feature hashing. A word is a run of ASCII letters and digits, lower-cased, or of characters
 * beyond ASCII. Its features are the word itself and its parts of three to five characters, with
 * marks at both ends, so that "plan" and "planning" share "<pla" but not "an>". A text in a script
 * without spaces is one long word, which is compared by its parts. A feature adds to one of the 512
 * numbers, with a sign from its hash, so that collisions cancel out on average. Long words have
 * more weight. */

#define WORD_BYTES_MAX 62 /* A longer word is split. */
#define PART_CHARS_MIN 3
#define PART_CHARS_MAX 5
#define PART_WEIGHT 0.5f /* A word of n letters has about 3 n parts. */

static bool is_ascii_letter_or_digit(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

static bool is_word_byte(char c)
{
    return (c & 0x80) != 0 || is_ascii_letter_or_digit(c);
}

static bool is_inside_char(char c)
{
    return (c & 0xC0) == 0x80;
}

static void add_feature(float *out, loci_str feature, float weight)
{
    uint64_t hash = lc_hash64(feature);

    out[hash % LC_LEXICAL_DIMENSIONS] += (hash >> 63) != 0 ? weight : -weight;
}

/* `word` includes its marks. */
static void add_word(float *out, loci_str word)
{
    size_t letters = word.len - 2;

    add_feature(out, word, letters < 8 ? (float)letters / 4 : 2);
    for (size_t start = 0; start < word.len; start++) {
        size_t end = start, chars = 0;

        if (is_inside_char(word.ptr[start]))
            continue;
        while (end < word.len && chars < PART_CHARS_MAX) {
            do
                end++;
            while (end < word.len && is_inside_char(word.ptr[end]));
            if (++chars >= PART_CHARS_MIN && end - start < word.len)
                add_feature(out, (loci_str){word.ptr + start, end - start}, PART_WEIGHT);
        }
    }
}

/* Copies the word at `at`, lower-cased and marked; returns its end. */
static size_t copy_word(loci_str text, size_t at, char out[WORD_BYTES_MAX + 2], size_t *out_len)
{
    size_t len = 0;

    out[len++] = '<';
    while (at < text.len && is_word_byte(text.ptr[at])) {
        char c = text.ptr[at];

        /* Stops four bytes early, so that no character is cut. */
        if (len > WORD_BYTES_MAX || (len > WORD_BYTES_MAX - 4 && !is_inside_char(c)))
            break;
        out[len++] = c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
        at++;
    }
    out[len++] = '>';
    *out_len = len;
    return at;
}

void lc_lexical_embed(loci_str text, float out[LC_LEXICAL_DIMENSIONS])
{
    float squares = 0, factor;

    memset(out, 0, LC_LEXICAL_DIMENSIONS * sizeof *out);
    for (size_t at = 0; at < text.len;) {
        char word[WORD_BYTES_MAX + 2];
        size_t len;

        if (!is_word_byte(text.ptr[at])) {
            at++;
            continue;
        }
        at = copy_word(text, at, word, &len);
        add_word(out, (loci_str){word, len});
    }
    for (size_t i = 0; i < LC_LEXICAL_DIMENSIONS; i++)
        squares += out[i] * out[i];
    /* Weights are multiples of 1/4, so features cancel out exactly. */
    if (squares == 0) {
        out[0] = 1;
        return;
    }
    factor = 1 / sqrtf(squares);
    for (size_t i = 0; i < LC_LEXICAL_DIMENSIONS; i++)
        out[i] *= factor;
}

/* ---- All kinds ------------------------------------------------------------------------------- */

/* Texts per call of the encoder; cancellation is checked between calls. */
#define TEXTS_PER_STEP 16

const char *lc_embedder_kind_name(lc_embedder_kind kind)
{
    static const char *const names[] = {"builtin", "lexical", "provider"};

    return names[kind];
}

void lc_embedder_set_generation(lc_embedder *embedder, const char *digest)
{
    /* Nothing is cut: the setting limits the length of the name. */
    (void)snprintf(embedder->generation, sizeof embedder->generation, "%s:%s:%zu%s%s",
                   lc_embedder_kind_name(embedder->kind), embedder->model, embedder->dimensions,
                   digest[0] != '\0' ? ":" : "", digest);
}

loci_status lc_generation_check(loci_str a, loci_str b, loci_error *err)
{
    if (lc_str_eq(a, b))
        return LOCI_OK;
    return lc_fail(
        err, LOCI_ECONFLICT,
        "vectors of %.*s cannot be compared with those of %.*s: run model.reembed to compute them "
        "again",
        LC_STR_ARG(a), LC_STR_ARG(b));
}

static loci_status check_texts(const lc_embed_batch *batch, loci_error *err)
{
    for (size_t i = 0; i < batch->count; i++) {
        if (lc_str_trim(batch->texts[i]).len == 0)
            return lc_fail(err, LOCI_EINVAL, "texts[%zu] is empty", i);
    }
    return LOCI_OK;
}

static loci_status embed_here(const lc_embedder *embedder, lc_embed_batch *batch, size_t first,
                              loci_error *err)
{
    size_t count = batch->count - first < TEXTS_PER_STEP ? batch->count - first : TEXTS_PER_STEP;
    float *out = batch->out + first * batch->dimensions;

    if (embedder->kind == LC_EMBEDDER_BUILTIN)
        return lc_encoder_embed_many(embedder->encoder, batch->texts + first, count, out, err);
    for (size_t i = 0; i < count; i++, out += batch->dimensions)
        lc_lexical_embed(batch->texts[first + i], out);
    return LOCI_OK;
}

/* In the thread of the caller. */
static loci_status embed_all_here(const lc_embedder *embedder, const lc_provider_line *line,
                                  lc_embed_batch *batch, loci_error *err)
{
    loci_status status = LOCI_OK;

    for (size_t at = 0; status == LOCI_OK && at < batch->count; at += TEXTS_PER_STEP) {
        if (line->pause != NULL)
            status = line->pause(line->pause_ctx, err);
        if (status == LOCI_OK)
            status = embed_here(embedder, batch, at, err);
    }
    return status;
}

loci_status lc_embedder_embed(const lc_embedder *embedder, const lc_provider_line *line,
                              lc_embed_batch *batch, lc_arena *scratch, loci_error *err)
{
    loci_status status = check_texts(batch, err);

    batch->requests = 0;
    batch->tokens = 0;
    if (status != LOCI_OK || batch->count == 0)
        return status;
    if (embedder->kind == LC_EMBEDDER_PROVIDER)
        return lc_provider_embed(line, &embedder->provider, batch, scratch, err);
    return embed_all_here(embedder, line, batch, err);
}
