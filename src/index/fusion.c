/* fusion.c - Both lists are concatenated and sorted by id, and entries with the same id are merged;
 * then each is scored and all are sorted again. Done in the caller's array, so it cannot fail. */
#include "index/fusion.h"

#include "base/assert.h"

#define VECTOR_WEIGHT 2
#define RAREST_IDF_MIN 8 /* Of one document in 4,500. */

typedef bool before_fn(const lc_fused *a, const lc_fused *b);

static bool has_lower_id(const lc_fused *a, const lc_fused *b)
{
    return a->id < b->id;
}

static bool is_better(const lc_fused *a, const lc_fused *b)
{
    return a->score > b->score || (a->score == b->score && a->id < b->id);
}

/* Puts `item` at `place` or below it: no item comes before the one above it. */
static void sink(lc_fused *items, size_t count, size_t place, before_fn *before)
{
    lc_fused item = items[place];

    for (size_t child = 2 * place + 1; child < count; child = 2 * place + 1) {
        if (child + 1 < count && before(&items[child], &items[child + 1]))
            child++;
        if (!before(&item, &items[child]))
            break;
        items[place] = items[child];
        place = child;
    }
    items[place] = item;
}

static void sort(lc_fused *items, size_t count, before_fn *before)
{
    for (size_t place = count / 2; place-- > 0;)
        sink(items, count, place, before);
    for (size_t left = count; left-- > 1;) {
        lc_fused last = items[0];

        items[0] = items[left];
        items[left] = last;
        sink(items, left, 0, before);
    }
}

/* Every id of both lists once, in their order. */
static size_t merge(const lc_fusion_lists *lists, lc_fused *out)
{
    size_t total = lists->vector_count + lists->lexical_count, count = 0;

    for (size_t i = 0; i < lists->vector_count; i++)
        out[i] = (lc_fused){.id = lists->vector[i].id,
                            .has_cosine = true,
                            .cosine = (double)lists->vector[i].score};
    for (size_t i = 0; i < lists->lexical_count; i++)
        out[lists->vector_count + i] = (lc_fused){
            .id = lists->lexical[i].id, .has_bm25 = true, .bm25 = (double)lists->lexical[i].score};
    sort(out, total, has_lower_id);
    for (size_t i = 0; i < total; i++) {
        lc_fused *last = count == 0 ? NULL : &out[count - 1];

        if (last == NULL || last->id != out[i].id) {
            out[count++] = out[i];
            continue;
        }
        LC_ASSERT(last->has_cosine != out[i].has_cosine);
        last->cosine += out[i].cosine;
        last->bm25 += out[i].bm25;
        last->has_cosine = last->has_bm25 = true;
    }
    return count;
}

static double max(double a, double b)
{
    return a > b ? a : b;
}

/* ln(1 + (documents - 0.5) / 1.5): the weight in postings.c of a word that one document has. */
static double rarest_idf(size_t documents)
{
    return documents == 0 ? 0 : log1p(((double)documents - 0.5) / 1.5);
}

size_t lc_fuse(const lc_fusion_lists *lists, lc_fused *out)
{
    double rarest = max(RAREST_IDF_MIN, rarest_idf(lists->documents));
    size_t count = merge(lists, out);

    for (size_t i = 0; i < count; i++) {
        lc_fused *one = &out[i];

        one->lexical = one->bm25 / (one->bm25 + rarest);
        one->vector = one->has_cosine ? max(0, one->cosine) : one->lexical;
        one->score = (one->lexical + VECTOR_WEIGHT * one->vector) / (1 + VECTOR_WEIGHT);
    }
    sort(out, count, is_better);
    return count;
}
