/* postings.c - adding, removing and searching documents.
 *
 * Documents are numbered again inside, by the order in which they came: the place of a document.
 * So a list of postings only grows at its end, for any ids of the caller, and an id that is removed
 * and added again is independent of its old postings. A removed document keeps its place, marked
 * dead, until compaction copies the living documents into new memory.
 *
 *     term -> list:  place << 8 | count of the term there (1 to 255)     4 bytes, rising
 *     document ->    id, terms (varints of the gaps between term numbers), length
 *
 * A document's own terms are kept so that a remove can decrement their counts: `n` in the formula
 * must not include dead documents.
 *
 * Adding prepares everything that can fail (terms, room at the end of each list, the document's own
 * list), then writes, which cannot fail. A failed add leaves only spare room and terms that no
 * document has: the next add uses them, compaction drops them.
 *
 * Compaction copies into a second index and swaps: the copy has its own regions, so the old regions
 * are freed completely. Compacting in place would need no memory but would free none either. If
 * there is no memory for the copy, compaction is tried again after later removes.
 *
 * Invariants: place_of[places[p].id] == p for every living p; term->live is the number of living
 * places in its list; lists rise.
 *
 * Searching is BM25 over windows of documents.
 * All lists are walked together, WINDOW places at a time: each term adds its part to the scores of
 * the window, then the places that were touched are offered to the best. So the scores stay in the
 * L1 cache for any number of documents, and windows that no list reaches cost nothing. Whether a
 * document is dead or filtered out is checked only if its score is high enough.
 *
 * The parts are added in the order of the query's terms, in double: the same documents and query
 * give the same scores to the last bit, for any history of the index.
 */
#include "index/postings.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/map.h"
#include "base/str.h"
#include "index/block.h"

#define CAPACITY_FIRST 16
#define VARINT_BYTES_MAX 5
#define DEAD_MIN 64  /* Fewer dead documents than this are never worth a copy. */
#define WINDOW 2048u /* 16 KiB of scores. */

#define COUNT_BITS 8
#define COUNT_MAX 255u
#define PLACE_NONE UINT32_MAX /* No place, or no id: the document there is dead. */

#define PLACES_MAX (1u << (32 - COUNT_BITS))

_Static_assert(LC_INDEX_IDS_MAX < PLACES_MAX, "one can be replaced when all ids are used");

typedef struct lc_term {
    uint32_t *list;    /* A block. */
    uint32_t count;    /* Of `list`, postings of dead documents included. */
    uint32_t capacity; /* Of `list`. */
    uint32_t live;     /* Living documents that have it. */
    uint32_t number;   /* Its index in `lc_postings.terms`. */
    uint32_t text_bytes;
    char text[];
} lc_term;

typedef struct lc_place {
    uint8_t *terms; /* A block; NULL without terms. */
    uint32_t terms_bytes;
    uint32_t id; /* PLACE_NONE = dead. */
} lc_place;

struct lc_postings {
    lc_heap *heap;
    lc_blocks blocks;
    lc_map by_text; /* lc_term */
    lc_term **terms;
    size_t term_count;
    size_t term_capacity;

    lc_place *places;
    uint32_t *lengths; /* By place: apart from the rest because a search reads only this. */
    size_t place_count;
    size_t place_capacity; /* Of both. */
    uint32_t *place_of;    /* By id. */
    size_t id_capacity;    /* Of `place_of`. */

    size_t live_count;
    uint64_t live_length; /* Sum of the lengths of the living. */
    size_t posting_count; /* Of the living. */
    size_t compact_above; /* Dead documents at which compaction is tried. */

    uint32_t *scratch; /* Term numbers of the document being added. */
    size_t scratch_capacity;
};

/* ---- Life ------------------------------------------------------------------------------------ */

static void init(lc_postings *index, lc_heap *heap)
{
    *index = (lc_postings){.heap = heap, .compact_above = DEAD_MIN};
    lc_blocks_init(&index->blocks, heap, LOCI_MEM_INDEX);
    lc_map_init(&index->by_text, heap, LOCI_MEM_INDEX);
}

static void free_array(lc_postings *index, void *array, size_t bytes)
{
    if (array != NULL)
        lc_heap_free(index->heap, array, bytes, LOCI_MEM_INDEX);
}

static void clear(lc_postings *index)
{
    free_array(index, index->terms, index->term_capacity * sizeof *index->terms);
    free_array(index, index->places, index->place_capacity * sizeof *index->places);
    free_array(index, index->lengths, index->place_capacity * sizeof *index->lengths);
    free_array(index, index->place_of, index->id_capacity * sizeof *index->place_of);
    free_array(index, index->scratch, index->scratch_capacity * sizeof *index->scratch);
    lc_map_clear(&index->by_text);
    lc_blocks_clear(&index->blocks);
}

loci_status lc_postings_new(lc_heap *heap, lc_postings **out, loci_error *err)
{
    lc_postings *index = lc_heap_alloc(heap, sizeof *index, LOCI_MEM_INDEX);

    if (index == NULL)
        return lc_fail_memory(err);
    init(index, heap);
    *out = index;
    return LOCI_OK;
}

void lc_postings_free(lc_postings *index)
{
    if (index == NULL)
        return;
    clear(index);
    lc_heap_free(index->heap, index, sizeof *index, LOCI_MEM_INDEX);
}

/* ---- Room ------------------------------------------------------------------------------------ */

static size_t grown_capacity(size_t capacity, size_t needed)
{
    size_t grown = capacity == 0 ? CAPACITY_FIRST : capacity + capacity / 2;

    return grown < needed ? needed : grown;
}

/* Makes `*array` hold `capacity` items. False when out of memory: nothing changed. */
static bool resize_array(lc_postings *index, void *array, size_t each_bytes, size_t before,
                         size_t capacity)
{
    void *old, *grown;

    memcpy(&old, array, sizeof old);
    grown = lc_heap_resize(index->heap, old, before * each_bytes, capacity * each_bytes,
                           LOCI_MEM_INDEX);
    if (grown != NULL)
        memcpy(array, &grown, sizeof grown);
    return grown != NULL;
}

static bool reserve_terms(lc_postings *index, size_t needed)
{
    size_t capacity = grown_capacity(index->term_capacity, needed);

    if (needed <= index->term_capacity)
        return true;
    if (!resize_array(index, &index->terms, sizeof *index->terms, index->term_capacity, capacity))
        return false;
    index->term_capacity = capacity;
    return true;
}

static bool reserve_places(lc_postings *index, size_t needed)
{
    size_t before = index->place_capacity;
    size_t capacity = grown_capacity(before, needed);
    uint32_t *lengths;

    if (needed <= before)
        return true;
    /* Two arrays with one capacity: the first is made beside the old one, so that it can be
     * dropped when the second fails. */
    lengths = lc_heap_alloc(index->heap, capacity * sizeof *lengths, LOCI_MEM_INDEX);
    if (lengths == NULL)
        return false;
    if (!resize_array(index, &index->places, sizeof *index->places, before, capacity)) {
        lc_heap_free(index->heap, lengths, capacity * sizeof *lengths, LOCI_MEM_INDEX);
        return false;
    }
    if (index->place_count > 0)
        memcpy(lengths, index->lengths, index->place_count * sizeof *lengths);
    free_array(index, index->lengths, before * sizeof *lengths);
    index->lengths = lengths;
    index->place_capacity = capacity;
    return true;
}

static bool reserve_ids(lc_postings *index, size_t needed)
{
    size_t capacity = grown_capacity(index->id_capacity, needed);

    if (needed <= index->id_capacity)
        return true;
    if (!resize_array(index, &index->place_of, sizeof *index->place_of, index->id_capacity,
                      capacity))
        return false;
    for (size_t id = index->id_capacity; id < capacity; id++)
        index->place_of[id] = PLACE_NONE;
    index->id_capacity = capacity;
    return true;
}

static bool reserve_scratch(lc_postings *index, size_t needed)
{
    size_t capacity = grown_capacity(index->scratch_capacity, needed);

    if (needed <= index->scratch_capacity)
        return true;
    if (!resize_array(index, &index->scratch, sizeof *index->scratch, index->scratch_capacity,
                      capacity))
        return false;
    index->scratch_capacity = capacity;
    return true;
}

/* Room for one more posting of `term`. */
static bool reserve_posting(lc_postings *index, lc_term *term)
{
    size_t before = term->capacity * sizeof *term->list;
    size_t bytes = before == 0 ? LC_BLOCK_BYTES_MIN : before * 2;
    uint32_t *list;

    if (term->count < term->capacity)
        return true;
    list = lc_blocks_alloc(&index->blocks, bytes);
    if (list == NULL)
        return false;
    if (before > 0)
        memcpy(list, term->list, before);
    lc_blocks_free(&index->blocks, term->list, before);
    term->list = list;
    term->capacity = (uint32_t)(bytes / sizeof *list);
    return true;
}

/* ---- Terms ----------------------------------------------------------------------------------- */

static lc_term *make_term(lc_postings *index, loci_str text)
{
    lc_term *term;

    if (text.len > UINT32_MAX - sizeof *term || !reserve_terms(index, index->term_count + 1))
        return NULL;
    term = lc_blocks_alloc(&index->blocks, sizeof *term + text.len);
    if (term == NULL)
        return NULL;
    *term = (lc_term){.number = (uint32_t)index->term_count, .text_bytes = (uint32_t)text.len};
    if (text.len > 0)
        memcpy(term->text, text.ptr, text.len);
    if (!lc_map_put(&index->by_text, (loci_str){term->text, text.len}, term)) {
        lc_blocks_free(&index->blocks, term, sizeof *term + text.len);
        return NULL;
    }
    index->terms[index->term_count++] = term;
    return term;
}

/* ---- A document's own terms ------------------------------------------------------------------ */

static uint8_t *write_varint(uint8_t *at, uint32_t value)
{
    for (; value >= 0x80; value >>= 7)
        *at++ = (uint8_t)(value | 0x80);
    *at++ = (uint8_t)value;
    return at;
}

/* Goes to the next term of a document: `*number` starts at UINT32_MAX, so that the first gap is
 * the first number plus one. False at the end. */
static bool next_number(const lc_place *place, size_t *at, uint32_t *number)
{
    uint32_t gap = 0;
    unsigned shift = 0;

    if (*at == place->terms_bytes)
        return false;
    while (place->terms[*at] >= 0x80) {
        gap |= (uint32_t)(place->terms[(*at)++] & 0x7F) << shift;
        shift += 7;
    }
    gap |= (uint32_t)place->terms[(*at)++] << shift;
    *number += gap;
    return true;
}

/* Writes the list of the rising, distinct `numbers` into a block of its size. */
static bool write_numbers(lc_postings *index, const uint32_t *numbers, size_t count, lc_place *out)
{
    uint8_t buffer[VARINT_BYTES_MAX];
    uint32_t before = UINT32_MAX;
    size_t bytes = 0;
    uint8_t *at;

    for (size_t i = 0; i < count; before = numbers[i++])
        bytes += (size_t)(write_varint(buffer, numbers[i] - before) - buffer);
    if (bytes > UINT32_MAX)
        return false;
    at = bytes > 0 ? lc_blocks_alloc(&index->blocks, bytes) : NULL;
    if (bytes > 0 && at == NULL)
        return false;
    out->terms = at;
    out->terms_bytes = (uint32_t)bytes;
    before = UINT32_MAX;
    for (size_t i = 0; i < count; before = numbers[i++])
        at = write_varint(at, numbers[i] - before);
    return true;
}

/* ---- Removing -------------------------------------------------------------------------------- */

/* Marks a document dead and counts its terms down. False when it is not there. */
static bool bury(lc_postings *index, uint32_t id)
{
    uint32_t number = UINT32_MAX, at;
    size_t read = 0;
    lc_place *place;

    if (!lc_postings_has(index, id))
        return false;
    at = index->place_of[id];
    place = &index->places[at];
    while (next_number(place, &read, &number)) {
        LC_ASSERT(index->terms[number]->live > 0);
        index->terms[number]->live--;
        index->posting_count--;
    }
    lc_blocks_free(&index->blocks, place->terms, place->terms_bytes);
    *place = (lc_place){.id = PLACE_NONE};
    index->place_of[id] = PLACE_NONE;
    index->live_count--;
    index->live_length -= index->lengths[at];
    return true;
}

/* Maps old numbers to new ones during compaction. */
typedef struct renumbering {
    uint32_t *places; /* The new place by the old one; PLACE_NONE for the dead. */
    uint32_t *terms;  /* The new number by the old one; rising, where there is one. */
} renumbering;

/* The terms that some living document has, with lists that fit. */
static bool copy_terms(lc_postings *to, const lc_postings *from, const renumbering *fresh)
{
    for (size_t i = 0; i < from->term_count; i++) {
        const lc_term *old = from->terms[i];
        size_t bytes = lc_block_bytes(old->live * sizeof *old->list);
        lc_term *term;

        if (old->live == 0)
            continue;
        term = make_term(to, (loci_str){old->text, old->text_bytes});
        if (term == NULL)
            return false;
        term->list = lc_blocks_alloc(&to->blocks, bytes);
        if (term->list == NULL)
            return false;
        term->capacity = (uint32_t)(bytes / sizeof *term->list);
        fresh->terms[i] = term->number;
        for (uint32_t k = 0; k < old->count; k++) {
            uint32_t place = fresh->places[old->list[k] >> COUNT_BITS];

            if (place != PLACE_NONE)
                term->list[term->count++] = place << COUNT_BITS | (old->list[k] & COUNT_MAX);
        }
        LC_ASSERT(term->count == old->live);
        term->live = term->count;
    }
    return true;
}

static bool copy_place(lc_postings *to, const lc_postings *from, uint32_t at,
                       const renumbering *fresh)
{
    const lc_place *old = &from->places[at];
    lc_place *place = &to->places[to->place_count];
    uint32_t number = UINT32_MAX;
    size_t read = 0, count = 0;

    if (!reserve_scratch(to, old->terms_bytes)) /* A term takes a byte at least. */
        return false;
    while (next_number(old, &read, &number))
        to->scratch[count++] = fresh->terms[number];
    if (!write_numbers(to, to->scratch, count, place))
        return false;
    place->id = old->id;
    to->lengths[to->place_count] = from->lengths[at];
    to->place_of[old->id] = (uint32_t)to->place_count++;
    return true;
}

static bool copy_living(lc_postings *to, const lc_postings *from, const renumbering *fresh)
{
    uint32_t living = 0;
    size_t id_end = 0;

    for (size_t i = 0; i < from->place_count; i++) {
        uint32_t id = from->places[i].id;

        fresh->places[i] = id == PLACE_NONE ? PLACE_NONE : living++;
        if (id != PLACE_NONE && id >= id_end)
            id_end = (size_t)id + 1;
    }
    if (!reserve_ids(to, id_end) || !reserve_places(to, living) || !copy_terms(to, from, fresh))
        return false;
    for (uint32_t i = 0; i < from->place_count; i++) {
        if (fresh->places[i] != PLACE_NONE && !copy_place(to, from, i, fresh))
            return false;
    }
    to->live_count = from->live_count;
    to->live_length = from->live_length;
    to->posting_count = from->posting_count;
    return true;
}

loci_status lc_postings_compact(lc_postings *index, loci_error *err)
{
    lc_postings copy;
    lc_arena scratch;
    renumbering fresh;
    bool is_ok;

    init(&copy, index->heap);
    lc_arena_init(&scratch, index->heap, LOCI_MEM_INDEX);
    fresh.places = lc_arena_alloc(&scratch, index->place_count * sizeof *fresh.places);
    fresh.terms = lc_arena_alloc(&scratch, index->term_count * sizeof *fresh.terms);
    is_ok = fresh.places != NULL && fresh.terms != NULL && copy_living(&copy, index, &fresh);
    lc_arena_clear(&scratch);
    if (!is_ok) {
        clear(&copy);
        return lc_fail_memory(err);
    }
    clear(index);
    *index = copy;
    return LOCI_OK;
}

static void compact_if_due(lc_postings *index)
{
    size_t dead = index->place_count - index->live_count;

    if (dead <= index->compact_above || dead * 4 <= index->place_count)
        return;
    /* Without memory for it the dead documents stay, which is slow but correct. */
    if (lc_postings_compact(index, NULL) != LOCI_OK)
        index->compact_above = dead + dead / 2;
}

/* ---- Adding ---------------------------------------------------------------------------------- */

static int compare_numbers(const void *a, const void *b)
{
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;

    return (left > right) - (left < right);
}

/* Documents are short and have few terms, for which one function call per comparison is
 * expensive. */
static void sort_numbers(uint32_t *numbers, size_t count)
{
    if (count > 40) {
        qsort(numbers, count, sizeof *numbers, compare_numbers);
        return;
    }
    for (size_t i = 1; i < count; i++) {
        uint32_t number = numbers[i];
        size_t at = i;

        for (; at > 0 && numbers[at - 1] > number; at--)
            numbers[at] = numbers[at - 1];
        numbers[at] = number;
    }
}

/* Puts the numbers of `terms`, sorted, into the scratch, and after them the distinct ones, of
 * which it gives the count. False when out of memory. */
static bool number_terms(lc_postings *index, const loci_str *terms, size_t count,
                         size_t *out_distinct)
{
    uint32_t *distinct;
    size_t found = 0;

    /* One more than needed: a document without terms has a scratch to point into, too. */
    if (count > SIZE_MAX / 16 || !reserve_scratch(index, 2 * count + 1))
        return false;
    for (size_t i = 0; i < count; i++) {
        lc_term *term = lc_map_find(&index->by_text, terms[i]);

        if (term == NULL)
            term = make_term(index, terms[i]);
        if (term == NULL)
            return false;
        index->scratch[i] = term->number;
    }
    sort_numbers(index->scratch, count);
    distinct = index->scratch + count;
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || index->scratch[i] != index->scratch[i - 1])
            distinct[found++] = index->scratch[i];
    }
    *out_distinct = found;
    return true;
}

/* Everything that may fail; `out` gets the document's own list. */
static bool prepare(lc_postings *index, lc_place *out, const loci_str *terms, size_t count,
                    size_t *out_distinct)
{
    if (!reserve_ids(index, (size_t)out->id + 1) ||
        !reserve_places(index, index->place_count + 1) ||
        !number_terms(index, terms, count, out_distinct))
        return false;
    for (size_t i = 0; i < *out_distinct; i++) {
        if (!reserve_posting(index, index->terms[index->scratch[count + i]]))
            return false;
    }
    return write_numbers(index, index->scratch + count, *out_distinct, out);
}

/* Writes the postings from the sorted numbers in the scratch. */
static void append_postings(lc_postings *index, uint32_t place, size_t count)
{
    for (size_t i = 0; i < count;) {
        lc_term *term = index->terms[index->scratch[i]];
        uint32_t repeats = 0;

        for (; i < count && index->scratch[i] == term->number; i++)
            repeats += repeats < COUNT_MAX;
        term->list[term->count++] = place << COUNT_BITS | repeats;
        term->live++;
        index->posting_count++;
    }
}

loci_status lc_postings_add(lc_postings *index, uint32_t id, const loci_str *terms, size_t count,
                            loci_error *err)
{
    lc_place place = {.id = id};
    size_t distinct;
    uint32_t at;

    if (id >= LC_INDEX_IDS_MAX)
        return lc_fail(err, LOCI_ELIMIT, "an index holds at most %d documents", LC_INDEX_IDS_MAX);
    if (count > UINT32_MAX)
        return lc_fail(err, LOCI_ELIMIT, "a document has at most %u terms", UINT32_MAX);
    /* All places can be full only if some documents are dead: there is one more place than there
     * are ids. */
    if (index->place_count == PLACES_MAX && lc_postings_compact(index, err) != LOCI_OK)
        return LOCI_ERESOURCE;
    if (!prepare(index, &place, terms, count, &distinct))
        return lc_fail_memory(err);

    (void)bury(index, id); /* The document it replaces, if any. */
    LC_ASSERT(index->place_count < PLACES_MAX);
    at = (uint32_t)index->place_count++;
    index->places[at] = place;
    index->lengths[at] = (uint32_t)count;
    index->place_of[id] = at;
    index->live_count++;
    index->live_length += count;
    append_postings(index, at, count);
    compact_if_due(index);
    return LOCI_OK;
}

bool lc_postings_remove(lc_postings *index, uint32_t id)
{
    bool was_there = bury(index, id);

    compact_if_due(index);
    return was_there;
}

bool lc_postings_has(const lc_postings *index, uint32_t id)
{
    return id < index->id_capacity && index->place_of[id] != PLACE_NONE;
}

lc_postings_size lc_postings_get_size(const lc_postings *index)
{
    return (lc_postings_size){
        .documents = index->live_count,
        .terms = index->term_count,
        .postings = index->posting_count,
        .dead_documents = index->place_count - index->live_count,
        .bytes = sizeof *index + index->blocks.bytes + index->term_capacity * sizeof *index->terms +
                 index->place_capacity * (sizeof *index->places + sizeof *index->lengths) +
                 index->id_capacity * sizeof *index->place_of +
                 index->scratch_capacity * sizeof *index->scratch +
                 index->by_text.place_count * sizeof *index->by_text.entries,
    };
}

/* ---- Searching ------------------------------------------------------------------------------- */

typedef struct cursor {
    const uint32_t *at;
    const uint32_t *end;
    double factor; /* Everything of the formula that is the same for all documents. */
} cursor;

typedef struct search {
    const lc_postings *index;
    const lc_postings_query *query;
    double norm_base;       /* k1 * (1 - b) */
    double norm_per_length; /* k1 * b / A */
    lc_best best;
    double scores[WINDOW];
    uint64_t touched[WINDOW / 64];
    size_t cursor_count;
    cursor cursors[]; /* Of the terms that some document has, in the query's order. */
} search;

/* Of a term that `having` of all documents have; none is fine. */
static double idf(const lc_postings *index, size_t having)
{
    return log1p(((double)(index->live_count - having) + 0.5) / ((double)having + 0.5));
}

static void init_cursors(search *s, const lc_bm25 *bm25)
{
    const lc_postings *index = s->index;

    for (size_t i = 0; i < s->query->term_count; i++) {
        const lc_postings_term *asked = &s->query->terms[i];
        const lc_term *term = lc_map_find(&index->by_text, asked->text);

        if (term == NULL || term->live == 0)
            continue;
        s->cursors[s->cursor_count++] = (cursor){
            .at = term->list,
            .end = term->list + term->count,
            .factor = asked->weight * idf(index, term->live) * (bm25->k1 + 1),
        };
    }
}

/* The first place that any list still has; PLACE_NONE at the end. */
static uint32_t first_place(const search *s)
{
    uint32_t first = PLACE_NONE;

    for (size_t i = 0; i < s->cursor_count; i++) {
        const cursor *c = &s->cursors[i];

        if (c->at < c->end && *c->at >> COUNT_BITS < first)
            first = *c->at >> COUNT_BITS;
    }
    return first;
}

/* Adds one term's part to the scores of the places from `begin` on. */
static void add_term(search *s, cursor *c, uint32_t begin)
{
    /* A posting's upper bits are its place: lists are compared with the first one behind. */
    uint64_t behind = (uint64_t)(begin + WINDOW) << COUNT_BITS;
    const uint32_t *lengths = s->index->lengths + begin;
    const uint32_t *at = c->at;

    for (; at < c->end && *at < behind; at++) {
        uint32_t place = (*at >> COUNT_BITS) - begin;
        double count = (double)(*at & COUNT_MAX);
        double norm = s->norm_base + s->norm_per_length * (double)lengths[place];

        s->scores[place] += c->factor * count / (count + norm);
        s->touched[place / 64] |= UINT64_C(1) << (place % 64);
    }
    c->at = at;
}

static void offer(search *s, uint32_t place, double score)
{
    lc_hit hit = {.id = s->index->places[place].id, .score = (float)score};

    if (hit.id == PLACE_NONE)
        return;
    if (s->query->filter != NULL && !lc_bitmap_has(s->query->filter, hit.id))
        return;
    lc_best_offer(&s->best, hit);
}

/* Offers the documents of the window as hits and empties it. */
static void collect(search *s, uint32_t begin)
{
    for (uint32_t word = 0; word < WINDOW / 64; word++) {
        for (uint64_t bits = s->touched[word]; bits != 0; bits &= bits - 1) {
            uint32_t place = word * 64 + (uint32_t)__builtin_ctzll(bits);
            double score = s->scores[place];

            s->scores[place] = 0;
            /* One with the same score may still win by its id. */
            if ((float)score >= lc_best_floor(&s->best))
                offer(s, begin + place, score);
        }
        s->touched[word] = 0;
    }
}

static void run(search *s)
{
    for (uint32_t first = first_place(s); first != PLACE_NONE; first = first_place(s)) {
        uint32_t begin = first - first % WINDOW;

        for (size_t i = 0; i < s->cursor_count; i++)
            add_term(s, &s->cursors[i], begin);
        collect(s, begin);
    }
}

loci_status lc_postings_search(const lc_postings *index, const lc_postings_query *query,
                               lc_hit *out, size_t *out_count, loci_error *err)
{
    const lc_bm25 usual = {.k1 = LC_BM25_K1, .b = LC_BM25_B};
    const lc_bm25 *bm25 = query->bm25 != NULL ? query->bm25 : &usual;
    size_t bytes = sizeof(search) + query->term_count * sizeof(cursor);
    search *s;

    LC_ASSERT(bm25->k1 >= 0);
    LC_ASSERT(bm25->b >= 0 && bm25->b <= 1);
    if (query->term_count > LC_QUERY_TERMS_MAX)
        return lc_fail(err, LOCI_ELIMIT, "a search has at most %d terms", LC_QUERY_TERMS_MAX);
    if (index->live_length == 0 || query->limit == 0) {
        *out_count = 0;
        return LOCI_OK;
    }
    s = lc_heap_zalloc(index->heap, bytes, LOCI_MEM_REQUESTS);
    if (s == NULL)
        return lc_fail_memory(err);
    s->index = index;
    s->query = query;
    s->norm_base = bm25->k1 * (1 - bm25->b);
    s->norm_per_length = bm25->k1 * bm25->b * (double)index->live_count /
                         (double)index->live_length;
    s->best = (lc_best){.hits = out, .limit = query->limit};
    init_cursors(s, bm25);
    run(s);
    lc_hits_sort(out, s->best.count);
    *out_count = s->best.count;
    lc_heap_free(index->heap, s, bytes, LOCI_MEM_REQUESTS);
    return LOCI_OK;
}
