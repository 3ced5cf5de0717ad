/* test_encoder_recall.c - finding by meaning what was said in other words.
 *
 * triples.jsonl holds 30 queries, each with a sentence that says it or answers it in other words,
 * and one that repeats its words and is about something else. All 60 sentences are candidates for
 * each query. The floors below are what later changes must not fall under.
 */
#include <string.h>

#include "base/clock.h"
#include "base/data_file.h"
#include "base/json.h"
#include "base/str.h"
#include "lib/test.h"
#include "model/encoder.h"
#include "model/lexical.h"

#define TRIPLES 30
#define CANDIDATES (2 * TRIPLES)
#define FIRST_FEW 3

/* Of 30: how often the answer is among the first three, and first. */
#define ENCODER_FEW_FLOOR 29
#define ENCODER_TOP_FLOOR 22
/* Of 30: the same by shared words alone, which must not be enough or the triples prove nothing. */
#define WORDS_FEW_CEILING 2

typedef struct recall_fixture {
    lc_env env;
    lc_arena arena;
    loci_str queries[TRIPLES];
    loci_str candidates[CANDIDATES]; /* The answer to query i, and at i + 30 its distractor. */
} recall_fixture;

static void open_recall(recall_fixture *f)
{
    loci_str rest = test_read_file(test_source_path("tests/recall/triples.jsonl"));
    size_t count = 0;
    loci_error err;

    memset(f, 0, sizeof *f);
    lc_heap_init(&f->env.heap, test_heap());
    f->env.clock = lc_clock_system_us;
    lc_arena_init(&f->arena, &f->env.heap, LOCI_MEM_REQUESTS);
    while (rest.len > 0) {
        loci_str line = lc_str_split(rest, '\n', &rest);
        const lc_json *triple;

        CHECK_LT(count, TRIPLES);
        CHECK_OK(lc_json_parse(&f->arena, line, 0, &triple, &err), err);
        f->queries[count] = lc_json_str(lc_json_member(triple, LC_STR("query")));
        f->candidates[count] = lc_json_str(lc_json_member(triple, LC_STR("paraphrase")));
        f->candidates[TRIPLES + count] = lc_json_str(lc_json_member(triple, LC_STR("distractor")));
        count++;
    }
    CHECK_EQ(count, TRIPLES);
}

typedef struct recalled {
    unsigned top; /* Answers that came first. */
    unsigned few; /* Answers among the first three. */
} recalled;

/* `scores` of all candidates for query i. A tie counts against the answer. */
static void count_rank(recalled *r, size_t i, const double scores[CANDIDATES])
{
    size_t rank = 0;

    for (size_t k = 0; k < CANDIDATES; k++)
        rank += k != i && scores[k] >= scores[i];
    r->top += rank == 0;
    r->few += rank < FIRST_FEW;
}

static double dot(const float *a, const float *b, size_t count)
{
    double sum = 0;

    for (size_t i = 0; i < count; i++)
        sum += (double)a[i] * (double)b[i];
    return sum;
}

TEST(recall, the_encoder_finds_what_was_said_in_other_words)
{
    static float queries[TRIPLES][LC_ENCODER_DIMENSIONS];
    static float candidates[CANDIDATES][LC_ENCODER_DIMENSIONS];
    recall_fixture f;
    recalled r = {0};
    lc_encoder *encoder;
    char path[LC_DATA_PATH_BYTES];
    loci_error err;

    open_recall(&f);
    CHECK_OK(lc_data_file_find(LC_STR(""), LC_ENCODER_FILE, path, &err), err);
    CHECK_OK(lc_encoder_open(&f.env, path, &encoder, &err), err);
    CHECK_OK(lc_encoder_embed_many(encoder, f.queries, TRIPLES, queries[0], &err), err);
    CHECK_OK(lc_encoder_embed_many(encoder, f.candidates, CANDIDATES, candidates[0], &err), err);
    for (size_t i = 0; i < TRIPLES; i++) {
        double scores[CANDIDATES];

        for (size_t k = 0; k < CANDIDATES; k++)
            scores[k] = dot(queries[i], candidates[k], LC_ENCODER_DIMENSIONS);
        count_rank(&r, i, scores);
    }
    lc_encoder_close(encoder);
    lc_arena_clear(&f.arena);
    CHECK_LE(ENCODER_FEW_FLOOR, r.few);
    CHECK_LE(ENCODER_TOP_FLOOR, r.top);
}

TEST(recall, spelling_alone_does_not)
{
    static float query[LC_LEXICAL_DIMENSIONS], candidate[LC_LEXICAL_DIMENSIONS];
    recall_fixture f;
    recalled r = {0};

    open_recall(&f);
    for (size_t i = 0; i < TRIPLES; i++) {
        double scores[CANDIDATES];

        lc_lexical_embed(f.queries[i], query);
        for (size_t k = 0; k < CANDIDATES; k++) {
            lc_lexical_embed(f.candidates[k], candidate);
            scores[k] = dot(query, candidate, LC_LEXICAL_DIMENSIONS);
        }
        count_rank(&r, i, scores);
    }
    lc_arena_clear(&f.arena);
    CHECK_LE(r.few, WORDS_FEW_CEILING);
}

/* ---- By shared words ------------------------------------------------------------------------- */

static bool is_word_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '\'';
}

/* Takes the next word off `text`; none at its end. */
static loci_str next_word(loci_str *text)
{
    loci_str word;

    while (text->len > 0 && !is_word_char(text->ptr[0]))
        *text = (loci_str){text->ptr + 1, text->len - 1};
    word = (loci_str){text->ptr, 0};
    while (word.len < text->len && is_word_char(text->ptr[word.len]))
        word.len++;
    *text = (loci_str){text->ptr + word.len, text->len - word.len};
    return word;
}

static bool has_word(loci_str text, loci_str word)
{
    for (loci_str other = next_word(&text); other.len > 0; other = next_word(&text))
        if (other.len == word.len && strncasecmp(other.ptr, word.ptr, word.len) == 0)
            return true;
    return false;
}

/* Shared words, each worth the more the fewer candidates have it. */
static double shared_words(const recall_fixture *f, loci_str query, loci_str candidate)
{
    double score = 0;

    for (loci_str word = next_word(&query); word.len > 0; word = next_word(&query)) {
        unsigned with = 0;

        if (!has_word(candidate, word))
            continue;
        for (size_t k = 0; k < CANDIDATES; k++)
            with += has_word(f->candidates[k], word);
        score += 1.0 / with;
    }
    return score;
}

TEST(recall, shared_words_do_not_either)
{
    recall_fixture f;
    recalled r = {0};

    open_recall(&f);
    for (size_t i = 0; i < TRIPLES; i++) {
        double scores[CANDIDATES];

        for (size_t k = 0; k < CANDIDATES; k++)
            scores[k] = shared_words(&f, f.queries[i], f.candidates[k]);
        count_rank(&r, i, scores);
    }
    lc_arena_clear(&f.arena);
    CHECK_LE(r.few, WORDS_FEW_CEILING);
}
