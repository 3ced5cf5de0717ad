/* fuzz_sentencepiece.c - any bytes laid out as pieces, with the installed vocabulary.
 *
 * Whatever the bytes: the pieces lie one behind the other from the first byte to the last, each on
 * its own spelling, or an unknown one on one character. For short inputs a second, naive search
 * that knows the pieces as a list has to find the same ones with the same sum.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "base/utf8.h"
#include "model/encoder.h"

#define PIECES_MAX 8192
#define PIECE_BYTES_MAX 64
#define NAIVE_BYTES_MAX 100

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

typedef struct spelling {
    uint32_t id;
    size_t len;
    char text[PIECE_BYTES_MAX];
} spelling;

static lc_encoder_weights weights;
static lc_heap heap;
static spelling spellings[PIECES_MAX]; /* Sorted by bytes. */
static size_t spelling_count;
static const spelling *by_id[PIECES_MAX];
static size_t first_of_byte[257];

static void demand(bool is_right)
{
    if (!is_right)
        abort();
}

/* All pieces below `node`, whose spelling so far is `prefix`. */
static void list_pieces(uint32_t node, const char *prefix, size_t len)
{
    const lc_sentencepiece *vocabulary = &weights.vocabulary;
    char longer[PIECE_BYTES_MAX];

    demand(len < PIECE_BYTES_MAX);
    memcpy(longer, prefix, len);
    for (uint32_t byte = 0; byte < 256; byte++) {
        uint32_t child = vocabulary->nodes[node].base + byte;

        if (len == 0)
            first_of_byte[byte] = spelling_count;
        if (child == 0 || child >= vocabulary->node_count ||
            vocabulary->nodes[child].parent != node)
            continue;
        longer[len] = (char)byte;
        if (vocabulary->nodes[child].piece != LC_PIECE_UNKNOWN) {
            spelling *s = &spellings[spelling_count++];

            *s = (spelling){.id = vocabulary->nodes[child].piece, .len = len + 1};
            memcpy(s->text, longer, len + 1);
            by_id[s->id] = s;
        }
        list_pieces(child, longer, len + 1);
    }
    first_of_byte[256] = spelling_count;
}

static void open_vocabulary(void)
{
    static lc_data_file file;
    char path[LC_DATA_PATH_BYTES];
    loci_error err;

    lc_heap_init(&heap, (loci_allocator){0});
    if (lc_data_file_find(LC_STR(""), LC_ENCODER_FILE, path, &err) != LOCI_OK ||
        lc_data_file_open(&lc_encoder_kind, path, &file, &err) != LOCI_OK ||
        lc_encoder_weights_find(&file, &weights, &err) != LOCI_OK) {
        fprintf(stderr, "fuzz_sentencepiece: %s\n", err.message);
        exit(1);
    }
    demand(weights.vocabulary.piece_count <= PIECES_MAX);
    list_pieces(0, "", 0);
    demand(spelling_count > 7000);
}

static bool is_start(loci_str text, size_t at)
{
    return at == 0 || at == text.len || ((uint8_t)text.ptr[at] & 0xC0) != 0x80;
}

static size_t char_end(loci_str text, size_t at)
{
    do
        at++;
    while (!is_start(text, at));
    return at;
}

static void check_cover(loci_str text, const lc_pieces *pieces)
{
    size_t at = 0;

    for (size_t i = 0; i < pieces->count; i++) {
        const lc_piece *piece = &pieces->items[i];
        size_t end = i + 1 < pieces->count ? pieces->items[i + 1].start : text.len;

        demand(piece->start == at && end > at && is_start(text, end));
        if (piece->id == LC_PIECE_UNKNOWN)
            demand(end == char_end(text, at));
        else
            demand(by_id[piece->id]->len == end - at &&
                   memcmp(by_id[piece->id]->text, text.ptr + at, end - at) == 0);
        at = end;
    }
    demand(at == text.len);
}

/* ---- The naive search ------------------------------------------------------------------------ */

/* The pieces that begin at one place; a piece has at most 16 characters. */
typedef struct matches {
    size_t count;
    const spelling *pieces[16];
} matches;

static void find_matches(loci_str text, size_t start, matches *out)
{
    uint8_t byte = (uint8_t)text.ptr[start];

    out->count = 0;
    for (size_t i = first_of_byte[byte]; i < first_of_byte[byte + 1]; i++) {
        const spelling *s = &spellings[i];

        if (s->len <= text.len - start && memcmp(s->text, text.ptr + start, s->len) == 0 &&
            is_start(text, start + s->len)) {
            demand(out->count < 16);
            out->pieces[out->count++] = s;
        }
    }
}

/* The best way that ends at each place. */
typedef struct naive {
    matches found[NAIVE_BYTES_MAX];
    double best[NAIVE_BYTES_MAX + 1];
    uint32_t piece[NAIVE_BYTES_MAX + 1];
    size_t from[NAIVE_BYTES_MAX + 1];
} naive;

/* Everything that lies on text[start, end). */
static void pull(naive *n, loci_str text, size_t start, size_t end)
{
    const matches *found = &n->found[start];
    bool is_char = char_end(text, start) == end;

    if (is_char && n->piece[end] == LC_PIECE_UNKNOWN)
        n->from[end] = start;
    for (size_t i = 0; i < found->count || (i == 0 && is_char); i++) {
        const spelling *s = i < found->count ? found->pieces[i] : NULL;
        double score = n->best[start] + (s == NULL ? 0 : weights.vocabulary.scores[s->id]);

        if ((s == NULL || s->len == end - start) && (n->best[end] == 0 || score >= n->best[end])) {
            n->best[end] = score;
            n->piece[end] = s == NULL ? LC_PIECE_UNKNOWN : s->id;
            n->from[end] = start;
        }
    }
}

static void check_naive(loci_str text, const lc_pieces *pieces)
{
    static naive n;
    size_t at = text.len;

    memset(&n, 0, sizeof n);
    for (size_t start = 0; start < text.len; start++)
        if (is_start(text, start))
            find_matches(text, start, &n.found[start]);
    for (size_t end = 1; end <= text.len; end++)
        for (size_t start = 0; start < end && is_start(text, end); start++)
            if (is_start(text, start))
                pull(&n, text, start, end);
    demand(pieces->score == n.best[text.len]);
    for (size_t i = pieces->count; i > 0; i--) {
        demand(pieces->items[i - 1].id == n.piece[at] && pieces->items[i - 1].start == n.from[at]);
        at = n.from[at];
    }
    demand(at == 0);
}

static void check_text(lc_arena *arena, loci_str text)
{
    uint32_t ids[LC_ENCODER_TOKENS_MAX];
    lc_pieces pieces;

    if (lc_sentencepiece_split(&weights.vocabulary, arena, text, &pieces, NULL) != LOCI_OK)
        return;
    check_cover(text, &pieces);
    demand(lc_sentencepiece_ids(&pieces, ids, LC_ENCODER_TOKENS_MAX) <= LC_ENCODER_TOKENS_MAX);
    if (text.len <= NAIVE_BYTES_MAX)
        check_naive(text, &pieces);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    loci_str text = {(const char *)data, bytes}, prepared;
    lc_arena arena;

    if (spelling_count == 0)
        open_vocabulary();
    lc_arena_init(&arena, &heap, LOCI_MEM_REQUESTS);
    check_text(&arena, text);
    if (lc_utf8_is_valid(text) &&
        lc_sentencepiece_prepare(&arena, text, &prepared, NULL) == LOCI_OK)
        check_text(&arena, prepared);
    lc_arena_clear(&arena);
    return 0;
}
