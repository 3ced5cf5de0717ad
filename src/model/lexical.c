/* lexical.c - feature hashing.
 *
 * A word is a run of ASCII letters and digits, lower-cased, or of anything beyond ASCII. Its
 * features are the word itself and its parts of three to five characters, with marks at both ends,
 * so that "plan" and "planning" share "<pla" but not "an>". Scripts without spaces are one long
 * word, whose parts then do the work. A feature adds to one of the 512 numbers, with a sign that is
 * a bit of its hash too, so that collisions cancel out on average. A long word says more than a
 * short one and weighs more; nothing else is known about it.
 */
#include "model/lexical.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/hash.h"

#define WORD_BYTES_MAX 62 /* What is longer is cut into several. */
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

/* `word` has its marks. */
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

/* Copies one word of `text` from `at` on, lower-cased and marked; returns where it ends. */
static size_t copy_word(loci_str text, size_t at, char out[WORD_BYTES_MAX + 2], size_t *out_len)
{
    size_t len = 0;

    out[len++] = '<';
    while (at < text.len && is_word_byte(text.ptr[at])) {
        char c = text.ptr[at];

        /* Four bytes early, so that no character is cut. */
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
    /* Weights are whole quarters, so features that cancel out do it exactly. */
    if (squares == 0) {
        out[0] = 1;
        return;
    }
    factor = 1 / sqrtf(squares);
    for (size_t i = 0; i < LC_LEXICAL_DIMENSIONS; i++)
        out[i] *= factor;
}
