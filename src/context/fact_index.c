/* fact_index.c - keeping the index; choosing from it is in fact_choose.c.
 *
 * Invariants: `places[i]` is the fact of place i or NULL; a place is in the postings when it is not
 * NULL; `by_id` leads to every fact; facts stand in the order of their seq. */
#include "context/fact_index.h"

#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "context/fact_index_private.h"
#include "context/show.h"
#include "store/backup.h"

#define EMPTY_MAX 1000 /* Places without a fact, beside as many as there are facts. */
#define ALL INT64_MAX

loci_status lc_fact_index_new(lc_heap *heap, lc_fact_index **out, loci_error *err)
{
    lc_fact_index *index = lc_heap_zalloc(heap, sizeof *index, LOCI_MEM_INDEX);

    if (index == NULL)
        return lc_fail_memory(err);
    index->heap = heap;
    index->seen_seq = -1;
    lc_map_init(&index->by_id, heap, LOCI_MEM_INDEX);
    *out = index;
    return LOCI_OK;
}

static void free_fact(lc_fact_index *index, lc_indexed_fact *fact)
{
    index->bytes -= fact->bytes;
    lc_heap_free(index->heap, fact, fact->bytes, LOCI_MEM_INDEX);
}

void lc_fact_index_reset(lc_fact_index *index)
{
    for (size_t i = 0; i < index->count; i++)
        if (index->places[i] != NULL)
            free_fact(index, index->places[i]);
    lc_heap_free(index->heap, index->places, index->room * sizeof(*index->places), LOCI_MEM_INDEX);
    lc_map_clear(&index->by_id);
    lc_postings_free(index->postings);
    index->postings = NULL;
    index->places = NULL;
    index->count = index->room = index->live = index->constraints = 0;
    index->seen_seq = -1;
    memset(&index->past, 0, sizeof index->past);
}

void lc_fact_index_free(lc_fact_index *index)
{
    if (index == NULL)
        return;
    lc_fact_index_reset(index);
    lc_heap_free(index->heap, index, sizeof *index, LOCI_MEM_INDEX);
}

size_t lc_fact_index_bytes(const lc_fact_index *index)
{
    return index->bytes + index->room * sizeof(*index->places) +
           (index->postings != NULL ? lc_postings_get_size(index->postings).bytes : 0);
}

/* ---- Adding and removing --------------------------------------------------------------------- */

/* Copies `from` behind what is already in the block. */
static loci_str put_text(char **at, loci_str from)
{
    char *start = *at;

    if (from.ptr == NULL)
        return from;
    memcpy(start, from.ptr, from.len);
    start[from.len] = '\0';
    *at += from.len + 1;
    return (loci_str){start, from.len};
}

/* The fact with all its texts in one block. */
static lc_indexed_fact *copy_fact(lc_fact_index *index, const lc_fact *from, loci_str text)
{
    loci_str lc_fact_text[] = {from->id,
                               from->key,
                               from->value,
                               from->source,
                               from->trust,
                               from->memory_type,
                               from->scope,
                               from->scope_id,
                               from->persona_id,
                               from->required_permission,
                               from->authority.name};
    size_t bytes = sizeof(lc_indexed_fact) + text.len + 1;
    lc_indexed_fact *to;
    char *at;

    for (size_t i = 0; i < sizeof lc_fact_text / sizeof *lc_fact_text; i++)
        bytes += lc_fact_text[i].len + 1;
    to = lc_heap_zalloc(index->heap, bytes, LOCI_MEM_INDEX);
    if (to == NULL)
        return NULL;
    at = (char *)(to + 1);
    to->bytes = bytes;
    to->fact = (lc_fact){.seq = from->seq,
                         .observed_at = from->observed_at,
                         .recorded_at = from->recorded_at,
                         .valid_until = from->valid_until,
                         .is_constraint = from->is_constraint,
                         .needs_review = from->needs_review,
                         .min_read = {.rank = from->min_read.rank},
                         .authority = {.rank = from->authority.rank},
                         .standing = LC_FACT_VALID};
    to->fact.id = put_text(&at, from->id);
    to->fact.key = put_text(&at, from->key);
    to->fact.value = put_text(&at, from->value);
    to->fact.source = put_text(&at, from->source);
    to->fact.trust = put_text(&at, from->trust);
    to->fact.memory_type = put_text(&at, from->memory_type);
    to->fact.scope = put_text(&at, from->scope);
    to->fact.scope_id = put_text(&at, from->scope_id);
    to->fact.persona_id = put_text(&at, from->persona_id);
    to->fact.required_permission = put_text(&at, from->required_permission);
    to->fact.authority.name = put_text(&at, from->authority.name);
    to->text = put_text(&at, text);
    index->bytes += bytes;
    return to;
}

static void remove_fact(lc_fact_index *index, loci_str id)
{
    lc_indexed_fact *fact = lc_map_take(&index->by_id, id);

    if (fact == NULL)
        return;
    (void)lc_postings_remove(index->postings, fact->place);
    index->places[fact->place] = NULL;
    index->live--;
    index->constraints -= fact->fact.is_constraint;
    free_fact(index, fact);
}

static loci_status make_room(lc_fact_index *index, loci_error *err)
{
    size_t room = index->room == 0 ? 64 : 2 * index->room;
    void *places;

    if (index->count < index->room)
        return LOCI_OK;
    places = lc_heap_resize(index->heap, index->places, index->room * sizeof(*index->places),
                            room * sizeof(*index->places), LOCI_MEM_INDEX);
    if (places == NULL)
        return lc_fail_memory(err);
    index->places = places;
    index->room = room;
    return LOCI_OK;
}

/* The terms of "payment_terms: net 30": keys are words, too. */
static loci_status index_terms(lc_fact_index *index, lc_stemmer *stemmer, lc_arena *arena,
                               const lc_indexed_fact *fact, loci_error *err)
{
    size_t bytes = fact->fact.key.len + 1 + fact->text.len;
    char *text = lc_arena_alloc(arena, bytes + 1);
    lc_words words = {0};
    loci_status status;

    if (text == NULL)
        return lc_fail_memory(err);
    for (size_t i = 0; i < fact->fact.key.len; i++)
        text[i] = fact->fact.key.ptr[i] == '_' ? ' ' : fact->fact.key.ptr[i];
    text[fact->fact.key.len] = ' ';
    memcpy(text + fact->fact.key.len + 1, fact->text.ptr, fact->text.len);
    status = lc_terms_split(stemmer, arena, (loci_str){text, bytes}, &words, err);
    if (status == LOCI_OK)
        status = lc_postings_add(index->postings, fact->place, words.items, words.count, err);
    return status;
}

/* ---- Catching up ----------------------------------------------------------------------------- */

/* A row seen on the way; the newest comes first, so they are put in the other way round. */
typedef struct news {
    struct news *next;
    lc_fact fact;
} news;

typedef struct catching_up {
    lc_fact_index *index;
    lc_arena *arena;
    news *first;
} catching_up;

static bool keep(lc_arena *arena, loci_str *text)
{
    if (text->ptr == NULL)
        return true;
    *text = lc_arena_copy(arena, *text);
    return text->ptr != NULL;
}

static loci_status collect(void *ctx, const lc_fact *fact, loci_error *err)
{
    catching_up *c = ctx;
    news *n;

    n = lc_arena_alloc(c->arena, sizeof *n);
    if (n == NULL)
        return lc_fail_memory(err);
    *n = (news){.next = c->first, .fact = *fact};
    if (!keep(c->arena, &n->fact.id) || !keep(c->arena, &n->fact.key) ||
        !keep(c->arena, &n->fact.value) || !keep(c->arena, &n->fact.source) ||
        !keep(c->arena, &n->fact.trust) || !keep(c->arena, &n->fact.memory_type) ||
        !keep(c->arena, &n->fact.scope) || !keep(c->arena, &n->fact.scope_id) ||
        !keep(c->arena, &n->fact.persona_id) || !keep(c->arena, &n->fact.authority.name) ||
        !keep(c->arena, &n->fact.required_permission))
        return lc_fail_memory(err);
    c->first = n;
    return LOCI_OK;
}

static loci_status forget(void *ctx, const lc_fact *fact, loci_error *err)
{
    (void)err;
    remove_fact(((catching_up *)ctx)->index, fact->id);
    return LOCI_OK;
}

static loci_status add_fact(catching_up *c, lc_stemmer *stemmer, const lc_fact *from,
                            loci_error *err)
{
    lc_fact_index *index = c->index;
    lc_arena_mark mark = lc_arena_get_mark(c->arena);
    lc_indexed_fact *fact;
    loci_str text;
    loci_status status = lc_show_value(c->arena, from->value, &text, err);

    if (status == LOCI_OK)
        status = make_room(index, err);
    if (status != LOCI_OK)
        return status;
    remove_fact(index, from->id);
    fact = copy_fact(index, from, text);
    if (fact == NULL)
        return lc_fail_memory(err);
    fact->place = (uint32_t)index->count;
    fact->is_plain = fact->fact.persona_id.len == 0 && lc_str_is(fact->fact.scope, "global");
    status = index_terms(index, stemmer, c->arena, fact, err);
    if (status == LOCI_OK && !lc_map_put(&index->by_id, fact->fact.id, fact))
        status = lc_fail_memory(err);
    if (status != LOCI_OK) {
        free_fact(index, fact);
        return status;
    }
    index->places[index->count++] = fact;
    index->live++;
    index->constraints += fact->fact.is_constraint;
    lc_arena_rewind(c->arena, mark);
    return LOCI_OK;
}

static loci_status add_all(catching_up *c, loci_error *err)
{
    lc_stemmer stemmer = {0};
    loci_status status = lc_stemmer_init(&stemmer, LC_STEM_ENGLISH, err);

    for (const news *n = c->first; n != NULL && status == LOCI_OK; n = n->next)
        status = add_fact(c, &stemmer, &n->fact, err);
    lc_stemmer_clear(&stemmer);
    return status;
}

static loci_status follow(lc_fact_index *index, lc_tx *tx, const lc_head *head, loci_error *err)
{
    lc_arena arena;
    catching_up c = {.index = index, .arena = &arena};
    lc_fact_recent recent = {.is_of_all = true, .after_seq = index->seen_seq, .limit = ALL};
    loci_status status = LOCI_OK;

    lc_arena_init(&arena, index->heap, LOCI_MEM_REQUESTS);
    if (index->postings == NULL)
        status = lc_postings_new(index->heap, &index->postings, err);
    if (status == LOCI_OK && index->seen_seq >= 0)
        status = lc_fact_each_ended(tx, &recent, forget, &c, err);
    if (status == LOCI_OK)
        status = lc_fact_each_recent(tx, &recent, collect, &c, err);
    if (status == LOCI_OK)
        status = add_all(&c, err);
    if (status == LOCI_OK)
        status = lc_fact_count_past(tx, &recent, &index->past, err);
    if (status == LOCI_OK)
        index->seen_seq = head->seq;
    else
        lc_fact_index_reset(index);
    lc_arena_clear(&arena);
    return status;
}

loci_status lc_fact_index_catch_up(lc_fact_index *index, lc_tx *tx, loci_error *err)
{
    lc_head head = {0};
    int64_t mark = 0;
    loci_status status = lc_tx_restore_mark(tx, &mark, err);

    if (status == LOCI_OK)
        status = lc_tx_head(tx, &head, err);
    /* Another process may have put a backup in the place of the log that was seen. */
    if (status == LOCI_OK && mark != index->restore_mark) {
        lc_fact_index_reset(index);
        index->restore_mark = mark;
    }
    if (status != LOCI_OK || head.seq == index->seen_seq)
        return status;
    if (head.seq < index->seen_seq)
        return lc_fail(err, LOCI_ECONFLICT, "the index has seen more than this snapshot");
    if (index->count > 2 * index->live + EMPTY_MAX)
        lc_fact_index_reset(index);
    return follow(index, tx, &head, err);
}
