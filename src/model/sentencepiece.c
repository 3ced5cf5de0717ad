/* sentencepiece.c - the best way through a text, from left to right.
 *
 * steps[i] is the best way known that ends at byte i. Going over the starts in order, each piece
 * that begins at i makes an offer to the place where it ends; when i is reached all offers for it
 * have been made. Equal scores: the later start wins. Two peculiarities of the original
 * implementation are kept, because the model was trained with its pieces:
 *   - a sum of exactly 0 is treated as no offer, so any later offer beats it;
 *   - where no piece ends, the way starts again with a sum of 0 and an unknown character.
 * The work is linear in the text: no piece is longer than 16 characters.
 */
#include "model/sentencepiece.h"

#include <string.h>

#include "base/error.h"
#include "base/utf8.h"
#include "text/normalise.h"

#define NFKC_GROWTH_MAX 16 /* U+FDFA, three bytes, becomes 33. */

typedef struct step {
    double score;
    uint32_t piece; /* That ends here. */
    uint32_t start; /* Where it begins. */
} step;

typedef struct lattice {
    const lc_sentencepiece *vocabulary;
    loci_str text;
    step *steps; /* text.len + 1 of them. */
} lattice;

/* Whether a character begins at `at`, or the text ends there. Damaged text has characters too. */
static bool is_boundary(loci_str text, size_t at)
{
    return at == 0 || at == text.len || ((uint8_t)text.ptr[at] & 0xC0) != 0x80;
}

static size_t next_boundary(loci_str text, size_t at)
{
    do
        at++;
    while (!is_boundary(text, at));
    return at;
}

static void offer(lattice *ways, size_t start, size_t end, uint32_t piece)
{
    const step *from = &ways->steps[start];
    step *to = &ways->steps[end];
    double score = piece == LC_PIECE_UNKNOWN ? from->score
                                             : ways->vocabulary->scores[piece] + from->score;

    if (to->score == 0 || score >= to->score)
        *to = (step){score, piece, (uint32_t)start};
}

/* Offers every piece that begins at `start`; false when there is none. */
static bool offer_all(lattice *ways, size_t start)
{
    const lc_sentencepiece *vocabulary = ways->vocabulary;
    loci_str text = ways->text;
    uint32_t node = 0;
    bool has_any = false;

    for (size_t at = start; at < text.len && node < vocabulary->node_count; at++) {
        uint32_t child = vocabulary->nodes[node].base + (uint8_t)text.ptr[at];

        if (child >= vocabulary->node_count || vocabulary->nodes[child].parent != node)
            break;
        node = child;
        if (vocabulary->nodes[node].piece != LC_PIECE_UNKNOWN &&
            vocabulary->nodes[node].piece < vocabulary->piece_count && is_boundary(text, at + 1)) {
            offer(ways, start, at + 1, vocabulary->nodes[node].piece);
            has_any = true;
        }
    }
    return has_any;
}

static void fill(lattice *ways)
{
    size_t before = 0;

    for (size_t at = 0; at < ways->text.len;) {
        size_t next = next_boundary(ways->text, at);

        if (!offer_all(ways, at))
            offer(ways, at, next, LC_PIECE_UNKNOWN);
        before = at;
        at = next;
        /* Nothing ends here, or an unknown character does: both begin one character before. */
        if (ways->steps[at].piece == LC_PIECE_UNKNOWN)
            ways->steps[at].start = (uint32_t)before;
    }
}

/* From the end back to the beginning. */
static bool collect(const lattice *ways, lc_arena *arena, lc_pieces *out)
{
    size_t count = 0;
    lc_piece *items;

    for (size_t at = ways->text.len; at > 0; at = ways->steps[at].start)
        count++;
    items = lc_arena_alloc(arena, count * sizeof *items);
    if (items == NULL)
        return false;
    *out = (lc_pieces){items, count, ways->steps[ways->text.len].score};
    for (size_t at = ways->text.len; at > 0; at = ways->steps[at].start)
        items[--count] = (lc_piece){ways->steps[at].piece, ways->steps[at].start};
    return true;
}

loci_status lc_sentencepiece_split(const lc_sentencepiece *vocabulary, lc_arena *arena,
                                   loci_str prepared, lc_pieces *out, loci_error *err)
{
    lattice ways = {.vocabulary = vocabulary, .text = prepared};

    ways.steps = lc_arena_zalloc_array(arena, prepared.len + 1, sizeof *ways.steps);
    if (ways.steps == NULL)
        return lc_fail_memory(err);
    fill(&ways);
    return collect(&ways, arena, out) ? LOCI_OK : lc_fail_memory(err);
}

/* Every space of `plain` as a separator, and one in front. */
static loci_status separate(lc_arena *arena, loci_str plain, loci_str *out, loci_error *err)
{
    static const char separator[3] = {'\xE2', '\x96', '\x81'};
    char *start = lc_arena_alloc(arena, (plain.len + 1) * sizeof separator), *at = start;

    if (start == NULL)
        return lc_fail_memory(err);
    if (plain.len > 0) {
        memcpy(at, separator, sizeof separator);
        at += sizeof separator;
    }
    for (size_t i = 0; i < plain.len; i++) {
        if (plain.ptr[i] == ' ') {
            memcpy(at, separator, sizeof separator);
            at += sizeof separator;
        } else {
            *at++ = plain.ptr[i];
        }
    }
    *out = (loci_str){start, (size_t)(at - start)};
    return LOCI_OK;
}

loci_status lc_sentencepiece_prepare(lc_arena *arena, loci_str text, loci_str *out, loci_error *err)
{
    loci_str beginning = {text.ptr, lc_utf8_cut(text, LC_PIECE_TEXT_BYTES_MAX)};
    lc_buf normal;
    loci_status status;

    lc_buf_init(&normal, arena->heap, arena->category, LC_PIECE_TEXT_BYTES_MAX * NFKC_GROWTH_MAX);
    status = lc_text_nfkc(beginning, &normal, err);
    if (status == LOCI_OK)
        status = separate(arena, (loci_str){normal.ptr, normal.len}, out, err);
    lc_buf_clear(&normal);
    return status;
}

size_t lc_sentencepiece_ids(const lc_pieces *pieces, uint32_t *out, size_t max)
{
    size_t count = 0;

    for (size_t i = 0; i < pieces->count && count < max; i++) {
        uint32_t id = pieces->items[i].id;

        if (id == LC_PIECE_UNKNOWN && i > 0 && pieces->items[i - 1].id == LC_PIECE_UNKNOWN)
            continue;
        out[count++] = id;
    }
    return count;
}
