/* reading.c - two maps from the hash of a text to what was read.
 *
 * Invariants: an entry is in one of the maps; `bytes` are those of the newer one. All parts of a
 * unit lie in one text, its words, so an entry keeps terms and clauses without it and gets the text
 * from whoever asks: the same bytes, or the hash would differ. */
#include "talk/reading.h"

#include "base/error.h"
#include "base/hash.h"
#include "base/map.h"
#include "base/str.h"

#define HALF_BYTES (LC_READINGS_BYTES_MAX / 2)

typedef struct kept {
    lc_hash128 content; /* Its key. */
    size_t bytes;
    size_t who_at, who_bytes, words_at, words_bytes; /* In the text. */
    int rank;
    bool has_who, has_title;
    uint64_t words_hash;
    size_t term_count, clause_count;
    lc_term *terms;
    lc_unit_clause *clauses; /* As they were read, but their texts are none. */
} kept;

struct lc_readings {
    lc_heap *heap;
    lc_map newer, older;
    size_t bytes, older_bytes;
};

loci_status lc_readings_new(lc_heap *heap, lc_readings **out, loci_error *err)
{
    lc_readings *readings = lc_heap_zalloc(heap, sizeof *readings, LOCI_MEM_CACHES);

    if (readings == NULL)
        return lc_fail_memory(err);
    readings->heap = heap;
    lc_map_init(&readings->newer, heap, LOCI_MEM_CACHES);
    lc_map_init(&readings->older, heap, LOCI_MEM_CACHES);
    *out = readings;
    return LOCI_OK;
}

static void clear_half(lc_readings *readings, lc_map *half)
{
    size_t place = 0;

    for (kept *k; (k = lc_map_each(half, &place)) != NULL;)
        lc_heap_free(readings->heap, k, k->bytes, LOCI_MEM_CACHES);
    lc_map_clear(half);
}

void lc_readings_free(lc_readings *readings)
{
    if (readings == NULL)
        return;
    clear_half(readings, &readings->newer);
    clear_half(readings, &readings->older);
    lc_heap_free(readings->heap, readings, sizeof *readings, LOCI_MEM_CACHES);
}

size_t lc_readings_bytes(const lc_readings *readings)
{
    size_t places = readings->newer.place_count + readings->older.place_count;

    return readings->bytes + readings->older_bytes + places * sizeof(lc_map_entry);
}

void lc_readings_trim(lc_readings *readings)
{
    lc_map older = readings->older;

    if (readings->bytes <= HALF_BYTES)
        return;
    clear_half(readings, &older);
    readings->older = readings->newer;
    readings->older_bytes = readings->bytes;
    lc_map_init(&readings->newer, readings->heap, LOCI_MEM_CACHES);
    readings->bytes = 0;
}

static loci_str key_of(const lc_hash128 *content)
{
    return (loci_str){(const char *)content, sizeof *content};
}

/* ---- Keeping --------------------------------------------------------------------------------- */

/* Where terms of a clause lie, for all that it has: from `from` to `to`, in another text. Who adds
 * terms to a clause or to its cues has to add them here; the sizes see to that. */
_Static_assert(sizeof(lc_cue_set) == 4 * sizeof(size_t) + 3 * sizeof(lc_terms) + sizeof(loci_str),
               "see move()");
_Static_assert(sizeof(lc_unit_clause) ==
                   sizeof(lc_cue_set) + 2 * sizeof(lc_terms) + 4 * sizeof(size_t),
               "see move()"); /* void_by is of a judgement, not of what was read. */
static void move(lc_unit_clause *clause, const lc_term *from, const lc_term *to, loci_str text)
{
    lc_terms *parts[] = {&clause->terms, &clause->cues.value, &clause->cues.former,
                         &clause->cues.amount};

    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        parts[i]->at = parts[i]->count > 0 ? to + (parts[i]->at - from) : to;
        parts[i]->text = text;
    }
}

/* One block: the entry, its clauses, its terms. */
static kept *copy_unit(lc_readings *readings, loci_str text, const lc_unit *unit)
{
    size_t clause_bytes = unit->clause_count * sizeof(lc_unit_clause);
    size_t term_bytes = unit->terms.count * sizeof(lc_term);
    size_t bytes = sizeof(kept) + clause_bytes + term_bytes;
    const lc_attribution *by = &unit->attribution;
    kept *k = lc_heap_zalloc(readings->heap, bytes, LOCI_MEM_CACHES);

    if (k == NULL)
        return NULL;
    *k = (kept){.bytes = bytes,
                .has_who = by->who.len > 0,
                .who_at = by->who.len > 0 ? (size_t)(by->who.ptr - text.ptr) : 0,
                .who_bytes = by->who.len,
                .words_at = by->words.len > 0 ? (size_t)(by->words.ptr - text.ptr) : 0,
                .words_bytes = by->words.len,
                .rank = by->rank,
                .has_title = by->has_title,
                .words_hash = unit->words_hash,
                .term_count = unit->terms.count,
                .clause_count = unit->clause_count,
                .clauses = (lc_unit_clause *)(k + 1),
                .terms = (lc_term *)((char *)(k + 1) + clause_bytes)};
    if (term_bytes > 0)
        memcpy(k->terms, unit->terms.at, term_bytes);
    for (size_t i = 0; i < unit->clause_count; i++) {
        k->clauses[i] = unit->clauses[i];
        move(&k->clauses[i], unit->terms.at, k->terms, LC_STR_NONE);
    }
    return k;
}

static void put(lc_readings *readings, kept *k)
{
    if (lc_map_put(&readings->newer, key_of(&k->content), k))
        readings->bytes += k->bytes;
    else
        lc_heap_free(readings->heap, k, k->bytes, LOCI_MEM_CACHES);
}

/* ---- Finding --------------------------------------------------------------------------------- */

static loci_status use(const kept *k, lc_arena *arena, loci_str text, lc_unit *out, loci_error *err)
{
    out->attribution = (lc_attribution){.rank = k->rank,
                                        .has_title = k->has_title,
                                        .words = {text.ptr + k->words_at, k->words_bytes}};
    if (k->has_who)
        out->attribution.who = (loci_str){text.ptr + k->who_at, k->who_bytes};
    out->words_hash = k->words_hash;
    out->terms = (lc_terms){out->attribution.words, k->terms, k->term_count};
    out->clause_count = k->clause_count;
    out->clauses = lc_arena_zalloc_array(arena, k->clause_count + 1, sizeof *out->clauses);
    if (out->clauses == NULL)
        return lc_fail_memory(err);
    for (size_t i = 0; i < k->clause_count; i++) {
        out->clauses[i] = k->clauses[i];
        move(&out->clauses[i], k->terms, k->terms, out->attribution.words);
    }
    return LOCI_OK;
}

static kept *find(lc_readings *readings, const lc_hash128 *content)
{
    kept *k = lc_map_find(&readings->newer, key_of(content));

    if (k != NULL)
        return k;
    k = lc_map_find(&readings->older, key_of(content));
    if (k == NULL || !lc_map_put(&readings->newer, key_of(&k->content), k))
        return k;
    (void)lc_map_take(&readings->older, key_of(content));
    readings->older_bytes -= k->bytes;
    readings->bytes += k->bytes;
    return k;
}

loci_status lc_readings_read(lc_readings *readings, const lc_talk *talk, lc_arena *arena,
                             loci_str text, lc_unit *out, loci_error *err)
{
    bool is_kept = readings != NULL && text.len > 0 && text.len <= LC_READING_TEXT_BYTES_MAX;
    lc_hash128 content;
    kept *k;
    loci_status status;

    if (!is_kept)
        return lc_unit_read(talk, arena, text, out, err);
    content = lc_hash128_of(text);
    k = find(readings, &content);
    if (k != NULL)
        return use(k, arena, text, out, err);
    status = lc_unit_read(talk, arena, text, out, err);
    k = status == LOCI_OK ? copy_unit(readings, text, out) : NULL;
    if (k != NULL) {
        k->content = content;
        put(readings, k);
    }
    return status;
}
