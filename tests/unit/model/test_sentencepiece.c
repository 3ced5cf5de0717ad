#include "model/sentencepiece.h"

#include <string.h>

#include "base/data_file.h"
#include "base/str.h"
#include "lib/test.h"
#include "model/encoder.h"
#include "unit/model/encoder_fixture.h"

typedef struct pieces_fixture {
    encoder_fixture base;
    lc_data_file file;
    lc_encoder_weights weights;
    lc_arena arena;
} pieces_fixture;

static void open_pieces(pieces_fixture *f)
{
    char path[LC_DATA_PATH_BYTES];
    loci_error err;

    memset(f, 0, sizeof *f);
    encoder_fixture_open(&f->base);
    lc_arena_init(&f->arena, &f->base.env.heap, LOCI_MEM_REQUESTS);
    CHECK_OK(lc_data_file_find(LC_STR(""), LC_ENCODER_FILE, path, &err), err);
    CHECK_OK(lc_data_file_open(&lc_encoder_kind, path, &f->file, &err), err);
    CHECK_OK(lc_encoder_weights_find(&f->file, &f->weights, &err), err);
}

static void close_pieces(pieces_fixture *f)
{
    lc_arena_clear(&f->arena);
    lc_data_file_close(&f->file);
    encoder_fixture_close(&f->base);
}

static lc_pieces split(pieces_fixture *f, loci_str text, loci_str *prepared)
{
    lc_pieces pieces;
    loci_error err;

    CHECK_OK(lc_sentencepiece_prepare(&f->arena, text, prepared, &err), err);
    CHECK_OK(lc_sentencepiece_split(&f->weights.vocabulary, &f->arena, *prepared, &pieces, &err),
             err);
    return pieces;
}

/* A token that differs is another word to the model. */
TEST(sentencepiece, tokens_are_those_of_the_package)
{
    pieces_fixture f;
    encoder_expected *expected;
    size_t count;

    open_pieces(&f);
    count = encoder_expected_read(&f.base, &expected);
    for (size_t i = 0; i < count; i++) {
        uint32_t ids[EXPECTED_TOKENS_MAX];
        loci_str prepared;
        lc_pieces pieces = split(&f, expected[i].text, &prepared);
        size_t ids_count = lc_sentencepiece_ids(&pieces, ids, EXPECTED_TOKENS_MAX);

        if (ids_count != expected[i].token_count ||
            memcmp(ids, expected[i].tokens, ids_count * sizeof *ids) != 0)
            test_fail(__FILE__, __LINE__, "text %zu: %.*s", i, LC_STR_ARG(expected[i].text));
        CHECK_EQ(lc_sentencepiece_ids(&pieces, ids, 3), ids_count < 3 ? ids_count : 3);
    }
    close_pieces(&f);
}

/* The words of a piece must be those it covers: here spelled out from the text. */
static void check_split(pieces_fixture *f, const char *text, const char *expected)
{
    char spelled[256] = "";
    loci_str prepared;
    lc_pieces pieces = split(f, (loci_str){text, strlen(text)}, &prepared);
    size_t len = 0;

    for (size_t i = 0; i < pieces.count; i++) {
        size_t start = pieces.items[i].start;
        size_t end = i + 1 < pieces.count ? pieces.items[i + 1].start : prepared.len;

        if (i > 0)
            spelled[len++] = '|';
        CHECK_LT(len + end - start + 1, sizeof spelled);
        memcpy(spelled + len, prepared.ptr + start, end - start);
        len += end - start;
    }
    spelled[len] = '\0';
    CHECK_STR_EQ(spelled, expected);
}

TEST(sentencepiece, words_are_cut_where_the_scores_say)
{
    pieces_fixture f;

    open_pieces(&f);
    check_split(&f, "", "");
    check_split(&f, " ", "▁|▁");
    check_split(&f, "hello world", "▁hell|o|▁world");
    close_pieces(&f);
}

/* An index that a damaged file names must not be followed. */
TEST(sentencepiece, a_damaged_vocabulary_is_survived)
{
    lc_piece_node nodes[] = {
        {.base = 0},
        {.base = UINT32_MAX - 3, .parent = 0, .piece = 2},
        {.base = 0, .parent = 0, .piece = UINT32_MAX},
    };
    double scores[] = {0, 0, -1};
    lc_sentencepiece vocabulary = {nodes, scores, 3, 3};
    lc_pieces pieces;
    lc_heap heap;
    lc_arena arena;
    loci_error err;

    lc_heap_init(&heap, test_heap());
    lc_arena_init(&arena, &heap, LOCI_MEM_REQUESTS);
    CHECK_OK(lc_sentencepiece_split(&vocabulary, &arena, LC_STR("\1\2\1\7"), &pieces, &err), err);
    CHECK_EQ(pieces.count, 4);
    CHECK_EQ(pieces.items[0].id, 2);
    CHECK_EQ(pieces.items[1].id, LC_PIECE_UNKNOWN);
    CHECK_EQ(pieces.items[3].id, LC_PIECE_UNKNOWN);
    vocabulary = (lc_sentencepiece){0};
    CHECK_OK(lc_sentencepiece_split(&vocabulary, &arena, LC_STR("ab"), &pieces, &err), err);
    CHECK_EQ(pieces.count, 2);
    lc_arena_clear(&arena);
}
