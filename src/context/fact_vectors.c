/* fact_vectors.c - the vectors of an index's facts.
 *
 * The job model.reembed puts vectors into the store in the order of writing, as places are given.
 * So it is enough to ask for the first fact that had none: when it has one now, for the next. What
 * lies behind the last one found is the tail. A short tail is embedded here, once for each fact; a
 * long one is left to the job, and until then found by words.
 *
 * Invariants: all live places below `made` are in the set, none above; `stored` <= `made`. */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "context/fact_index_private.h"
#include "fact/fact_embed.h"
#include "store/vector.h"

void lc_fact_vectors_clear(lc_fact_vectors *vectors)
{
    if (vectors->generation[0] != '\0')
        lc_vectors_clear(&vectors->set);
    vectors->generation[0] = '\0';
    vectors->stored = vectors->made = vectors->told = 0;
}

static void use_generation(lc_fact_index *index, const lc_fact_meaning *meaning)
{
    lc_fact_vectors *v = &index->vectors;

    if (strcmp(v->generation, meaning->generation) == 0)
        return;
    lc_fact_vectors_clear(v);
    lc_vectors_init(&v->set, index->heap, (uint32_t)meaning->dimensions, LC_VECTOR_BEST);
    (void)snprintf(v->generation, sizeof v->generation, "%s", meaning->generation);
}

/* Looks up the vectors behind those known to be stored, up to the first that is missing. */
static loci_status find_stored(lc_fact_index *index, lc_tx *tx, const lc_fact_meaning *meaning,
                               lc_arena *arena, loci_error *err)
{
    lc_vector_set set = {.tenant_id = tx->tenant_id,
                         .user_id = tx->user_id,
                         .generation = loci_str_of(meaning->generation),
                         .dimensions = meaning->dimensions};
    float *numbers = lc_arena_zalloc_array(arena, meaning->dimensions, sizeof *numbers);
    lc_arena_mark mark = lc_arena_get_mark(arena);
    lc_fact_vectors *v = &index->vectors;
    loci_status status = numbers != NULL ? LOCI_OK : lc_fail_memory(err);

    for (; status == LOCI_OK && v->stored < index->count; v->stored++) {
        const lc_indexed_fact *fact = index->places[v->stored];
        lc_vector vector = {.numbers = v->stored < v->made ? NULL : numbers};
        loci_str text;

        if (fact == NULL)
            continue;
        status = lc_fact_embed_text(arena, fact->fact.key, fact->fact.value, &text, err);
        if (status == LOCI_OK) {
            vector.content = lc_vector_content(text);
            status = lc_vector_find(tx, &set, &vector, 1, err);
        }
        if (status == LOCI_OK && vector.found && v->stored >= v->made)
            status = lc_vectors_add(&v->set, v->stored, numbers, err);
        lc_arena_rewind(arena, mark);
        if (status != LOCI_OK || !vector.found)
            break;
    }
    v->made = v->made < v->stored ? v->stored : v->made;
    return status;
}

/* How many facts lie behind what is stored; counting ends above the maximum. */
static size_t tail_of(const lc_fact_index *index)
{
    size_t count = 0;

    for (size_t i = index->vectors.stored; i < index->count && count <= LC_FACT_VECTORS_MADE_MAX;
         i++)
        count += index->places[i] != NULL;
    return count;
}

/* Embeds what is not in the set yet; there are at most LC_FACT_VECTORS_MADE_MAX. */
static loci_status make_tail(lc_fact_index *index, const lc_fact_meaning *meaning, lc_arena *arena,
                             loci_error *err)
{
    lc_fact_vectors *v = &index->vectors;
    loci_str texts[LC_FACT_VECTORS_MADE_MAX];
    uint32_t places[LC_FACT_VECTORS_MADE_MAX];
    size_t count = 0;
    float *numbers;
    loci_status status = LOCI_OK;

    for (uint32_t i = v->made; i < index->count && status == LOCI_OK; i++) {
        const lc_indexed_fact *fact = index->places[i];

        if (fact == NULL)
            continue;
        places[count] = i;
        status = lc_fact_embed_text(arena, fact->fact.key, fact->fact.value, &texts[count++], err);
    }
    if (status != LOCI_OK || count == 0)
        return status;
    numbers = lc_arena_zalloc_array(arena, count * meaning->dimensions, sizeof *numbers);
    status = numbers != NULL ? meaning->embed(meaning->ctx, texts, count, numbers, err)
                             : lc_fail_memory(err);
    for (size_t i = 0; i < count && status == LOCI_OK; i++) {
        status = lc_vectors_add(&v->set, places[i], numbers + i * meaning->dimensions, err);
        if (status == LOCI_OK)
            v->made = places[i] + 1;
    }
    return status;
}

loci_status lc_fact_vectors_follow(lc_fact_index *index, lc_tx *tx, lc_fact_meaning *meaning,
                                   uint32_t *out_end, loci_error *err)
{
    lc_fact_vectors *v = &index->vectors;
    lc_arena arena;
    size_t tail;
    loci_status status;

    lc_arena_init(&arena, index->heap, LOCI_MEM_REQUESTS);
    use_generation(index, meaning);
    status = find_stored(index, tx, meaning, &arena, err);
    tail = tail_of(index);
    if (status == LOCI_OK && tail <= LC_FACT_VECTORS_MADE_MAX)
        status = make_tail(index, meaning, &arena, err);
    *out_end = tail <= LC_FACT_VECTORS_MADE_MAX ? (uint32_t)index->count : v->stored;
    /* Once for so many new facts: a job that failed is not asked for with every call. */
    if (tail > LC_FACT_VECTORS_MADE_MAX / 2 &&
        (v->told == 0 || index->count >= v->told + LC_FACT_VECTORS_MADE_MAX / 2)) {
        meaning->wants_job = true;
        v->told = (uint32_t)index->count;
    }
    lc_arena_clear(&arena);
    return status;
}
