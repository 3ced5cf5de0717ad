#include "recall/recall_fixture.h"

#include <string.h>

#include "base/clock.h"
#include "base/data_file.h"
#include "base/json.h"
#include "base/str.h"
#include "lib/test.h"
#include "model/embedder.h"
#include "text/term.h"

void recall_open(recall_set *set)
{
    memset(set, 0, sizeof *set);
    lc_heap_init(&set->env.heap, test_heap());
    set->env.clock = lc_clock_system_us;
    lc_arena_init(&set->arena, &set->env.heap, LOCI_MEM_REQUESTS);
}

void recall_close(recall_set *set)
{
    lc_arena_clear(&set->arena);
}

static loci_str member(const lc_json *line, const char *name)
{
    loci_str text = lc_json_str(lc_json_member(line, loci_str_of(name)));

    CHECK(text.len > 0);
    return text;
}

void recall_add(recall_set *set, const char *name, const char *answer)
{
    const char *path = test_source_path(test_format("tests/recall/%s", name));
    loci_str rest = test_read_file(path);
    loci_error err;

    while (rest.len > 0) {
        loci_str line = lc_str_split(rest, '\n', &rest);
        const lc_json *json;

        CHECK_LT(set->count, RECALL_QUERIES_MAX);
        CHECK_OK(lc_json_parse(&set->arena, line, 0, &json, &err), err);
        set->queries[set->count] = member(json, "query");
        set->candidates[2 * set->count] = member(json, answer);
        set->candidates[2 * set->count + 1] = member(json, "distractor");
        set->count++;
    }
}

/* ---- Vectors --------------------------------------------------------------------------------- */

static double dot(const float *a, const float *b, size_t count)
{
    double sum = 0;

    for (size_t i = 0; i < count; i++)
        sum += (double)a[i] * (double)b[i];
    return sum;
}

void recall_score_encoder(recall_set *set)
{
    static float queries[RECALL_QUERIES_MAX][LC_ENCODER_DIMENSIONS];
    static float candidates[RECALL_CANDIDATES_MAX][LC_ENCODER_DIMENSIONS];
    char path[LC_DATA_PATH_BYTES];
    lc_encoder *encoder;
    loci_error err;

    CHECK_OK(lc_data_file_find(LC_STR(""), LC_ENCODER_FILE, path, &err), err);
    CHECK_OK(lc_encoder_open(&set->env, path, &encoder, &err), err);
    CHECK_OK(lc_encoder_embed_many(encoder, set->queries, set->count, queries[0], &err), err);
    CHECK_OK(lc_encoder_embed_many(encoder, set->candidates, 2 * set->count, candidates[0], &err),
             err);
    for (size_t i = 0; i < set->count; i++)
        for (size_t k = 0; k < 2 * set->count; k++)
            set->scores[i][k] = dot(queries[i], candidates[k], LC_ENCODER_DIMENSIONS);
    lc_encoder_close(encoder);
}

void recall_score_spelling(recall_set *set)
{
    static float query[LC_LEXICAL_DIMENSIONS], candidate[LC_LEXICAL_DIMENSIONS];

    for (size_t i = 0; i < set->count; i++) {
        lc_lexical_embed(set->queries[i], query);
        for (size_t k = 0; k < 2 * set->count; k++) {
            lc_lexical_embed(set->candidates[k], candidate);
            set->scores[i][k] = dot(query, candidate, LC_LEXICAL_DIMENSIONS);
        }
    }
}

/* ---- Words ----------------------------------------------------------------------------------- */

/* The postings of all candidates, and what queries are split with. */
typedef struct words {
    lc_postings *index;
    lc_stemmer stemmer;
    lc_hit hits[RECALL_CANDIDATES_MAX];
    size_t hit_count;
} words;

static lc_words split(recall_set *set, words *w, loci_str text)
{
    lc_words terms;
    loci_error err;

    CHECK_OK(lc_terms_split(&w->stemmer, &set->arena, text, &terms, &err), err);
    return terms;
}

static void open_words(recall_set *set, words *w)
{
    loci_error err;

    memset(w, 0, sizeof *w);
    CHECK_OK(lc_stemmer_init(&w->stemmer, LC_STEM_ENGLISH, &err), err);
    CHECK_OK(lc_postings_new(&set->env.heap, &w->index, &err), err);
    for (size_t k = 0; k < 2 * set->count; k++) {
        lc_words terms = split(set, w, set->candidates[k]);

        CHECK_OK(lc_postings_add(w->index, (uint32_t)k, terms.items, terms.count, &err), err);
    }
}

static void close_words(words *w)
{
    lc_postings_free(w->index);
    lc_stemmer_clear(&w->stemmer);
}

static void search_words(recall_set *set, words *w, size_t i)
{
    lc_words terms = split(set, w, set->queries[i]);
    lc_postings_term *asked = lc_arena_zalloc_array(&set->arena, terms.count, sizeof *asked);
    lc_postings_query query = {
        .terms = asked, .term_count = terms.count, .limit = RECALL_CANDIDATES_MAX};
    loci_error err;

    CHECK(asked != NULL);
    for (size_t k = 0; k < terms.count; k++)
        asked[k] = (lc_postings_term){.text = terms.items[k], .weight = 1};
    CHECK_OK(lc_postings_search(w->index, &query, w->hits, &w->hit_count, &err), err);
}

void recall_score_bm25(recall_set *set)
{
    words w;

    open_words(set, &w);
    memset(set->scores, 0, sizeof set->scores);
    for (size_t i = 0; i < set->count; i++) {
        search_words(set, &w, i);
        for (size_t k = 0; k < w.hit_count; k++)
            set->scores[i][w.hits[k].id] = (double)w.hits[k].score;
    }
    close_words(&w);
}

void recall_score_fused(recall_set *set)
{
    words w;

    recall_score_encoder(set);
    open_words(set, &w);
    for (size_t i = 0; i < set->count; i++) {
        lc_hit near[RECALL_CANDIDATES_MAX];
        lc_fused fused[2 * RECALL_CANDIDATES_MAX];
        lc_fusion_lists lists = {.vector = near,
                                 .vector_count = 2 * set->count,
                                 .lexical = w.hits,
                                 .documents = 2 * set->count};
        size_t count;

        for (size_t k = 0; k < 2 * set->count; k++)
            near[k] = (lc_hit){.id = (uint32_t)k, .score = (float)set->scores[i][k]};
        search_words(set, &w, i);
        lists.lexical_count = w.hit_count;
        count = lc_fuse(&lists, fused);
        CHECK_EQ(count, 2 * set->count);
        for (size_t k = 0; k < count; k++)
            set->scores[i][fused[k].id] = fused[k].score;
    }
    close_words(&w);
}

recall_found recall_judge(const recall_set *set, size_t first, size_t count)
{
    recall_found found = {0};

    for (size_t i = first; i < first + count; i++) {
        const double *scores = set->scores[i];
        size_t rank = 0;

        for (size_t k = 0; k < 2 * set->count; k++)
            rank += k != 2 * i && scores[k] >= scores[2 * i];
        found.top += rank == 0;
        found.few += rank < RECALL_FIRST_FEW;
    }
    return found;
}
