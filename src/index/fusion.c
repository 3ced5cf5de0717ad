/* fusion.c - Both lists are written one behind the other, sorted by id, and neighbours with one id
 * made one; then each is scored by itself and all are sorted again. In the caller's array, so there
 * is nothing to fail. */
#include "index/fusion.h"

#include "base/assert.h"

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

/* The score of the hit at `place`, counted from 1, or 0 when the list is shorter. */
static double background_of(const lc_fusion_lists *lists, uint32_t place)
{
    lc_hit hits[LC_FUSION_BACKGROUND_MAX];
    lc_best best = {.hits = hits, .limit = place};

    for (size_t i = 0; i < lists->lexical_count; i++)
        lc_best_offer(&best, lists->lexical[i]);
    return best.count < place ? 0 : (double)lc_best_floor(&best);
}

static double min(double a, double b)
{
    return a < b ? a : b;
}

static double max(double a, double b)
{
    return a > b ? a : b;
}

static double cube(double x)
{
    return x * x * x;
}

double lc_fusion_rarest_idf(size_t documents)
{
    return documents == 0 ? 0 : log1p(((double)documents - 0.5) / 1.5);
}

size_t lc_fuse(const lc_fusion_lists *lists, const lc_fusion *how, lc_fused *out)
{
    lc_fusion with = how != NULL ? *how : LC_FUSION_DEFAULT;
    size_t count;
    double background = 0;

    LC_ASSERT(with.vector_floor < 1);
    LC_ASSERT(with.lexical_midpoint > 0);
    LC_ASSERT(with.rarest_idf_min > 0);
    LC_ASSERT(with.background_place >= 1);
    LC_ASSERT(with.background_place <= LC_FUSION_BACKGROUND_MAX);
    if (lists->lexical_count > 0) {
        LC_ASSERT(lists->query_weight > 0);
        LC_ASSERT(lists->rarest_idf > 0);
    }

    count = merge(lists, out);
    if (lists->vector_count > 0)
        background = background_of(lists, with.background_place);
    else
        with.lexical_weight = 1;
    for (size_t i = 0; i < count; i++) {
        lc_fused *one = &out[i];
        double beyond = max(0, one->bm25 - background), evidence;

        if (one->has_cosine)
            one->vector = min(1,
                              max(0, (one->cosine - with.vector_floor) / (1 - with.vector_floor)));
        if (one->has_bm25) {
            one->rarity = beyond / max(lists->rarest_idf, with.rarest_idf_min);
            one->coverage = min(1, beyond / lists->query_weight);
        }
        evidence = one->rarity * (1 + one->coverage) / 2;
        one->lexical = cube(evidence) / (cube(evidence) + cube(with.lexical_midpoint));
        one->score = 1 - (1 - one->vector) * (1 - with.lexical_weight * one->lexical);
    }
    sort(out, count, is_better);
    return count;
}
