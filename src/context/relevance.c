/* relevance.c - see relevance.h. The index lives as long as the call. */
#include "context/relevance.h"

#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "index/postings.h"
#include "text/term.h"

typedef struct scoring {
    lc_arena *arena;
    lc_stemmer stemmer;
    lc_postings *postings;
} scoring;

/* "payment_terms" is two words. */
static loci_status add_fact(scoring *s, size_t index, const lc_source_fact *fact, loci_error *err)
{
    size_t bytes = fact->fact.key.len + 1 + fact->text.len;
    char *text = lc_arena_alloc(s->arena, bytes + 1);
    lc_words words = {0};
    loci_status status;

    if (text == NULL)
        return lc_fail_memory(err);
    for (size_t i = 0; i < fact->fact.key.len; i++)
        text[i] = fact->fact.key.ptr[i] == '_' ? ' ' : fact->fact.key.ptr[i];
    text[fact->fact.key.len] = ' ';
    memcpy(text + fact->fact.key.len + 1, fact->text.ptr, fact->text.len);
    status = lc_terms_split(&s->stemmer, s->arena, (loci_str){text, bytes}, &words, err);
    if (status == LOCI_OK)
        status = lc_postings_add(s->postings, (uint32_t)index, words.items, words.count, err);
    return status;
}

static loci_status search(scoring *s, loci_str query, lc_hit *hits, size_t *count, loci_error *err)
{
    lc_words words = {0};
    lc_postings_term *terms;
    loci_status status = lc_terms_split(&s->stemmer, s->arena, query, &words, err);

    if (status != LOCI_OK)
        return status;
    if (words.count > LC_QUERY_TERMS_MAX)
        words.count = LC_QUERY_TERMS_MAX;
    terms = lc_arena_zalloc_array(s->arena, words.count + 1, sizeof *terms);
    if (terms == NULL)
        return lc_fail_memory(err);
    for (size_t i = 0; i < words.count; i++)
        terms[i] = (lc_postings_term){words.items[i], 1};
    return lc_postings_search(
        s->postings,
        &(lc_postings_query){.terms = terms, .term_count = words.count, .limit = *count}, hits,
        count, err);
}

loci_status lc_relevance_score(lc_arena *arena, const lc_source *source, loci_str query,
                               float *scores, loci_error *err)
{
    scoring s = {.arena = arena};
    lc_hit *hits = lc_arena_zalloc_array(arena, source->fact_count + 1, sizeof *hits);
    size_t count = source->fact_count;
    loci_status status = hits != NULL ? lc_stemmer_init(&s.stemmer, LC_STEM_ENGLISH, err)
                                      : lc_fail_memory(err);

    if (status == LOCI_OK)
        status = lc_postings_new(arena->heap, &s.postings, err);
    for (size_t i = 0; i < source->fact_count && status == LOCI_OK; i++) {
        scores[i] = 0;
        status = add_fact(&s, i, &source->facts[i], err);
    }
    if (status == LOCI_OK && count > 0)
        status = search(&s, query, hits, &count, err);
    for (size_t i = 0; i < count && status == LOCI_OK; i++)
        scores[hits[i].id] = hits[i].score;
    lc_postings_free(s.postings);
    lc_stemmer_clear(&s.stemmer);
    return status;
}
