/* postings_private.h - how the postings lie in memory, for adding (postings.c) and searching
 * (postings_search.c).
 *
 * Documents are numbered again inside, by the order in which they came: the place of a document.
 * So a list of postings only ever grows at its end, whatever ids the caller uses, and an id that is
 * removed and added again has nothing to do with its old postings. A removed document keeps its
 * place, marked dead, until compaction copies the living into fresh memory.
 *
 *     term -> list:  place << 8 | count of the term there (1 to 255)     4 bytes, rising
 *     document ->    id, terms (varints of the gaps between term numbers), length
 *
 * A document's own terms are kept so that a remove can count them down: `n` in the formula must not
 * count the dead.
 */
#ifndef LC_INDEX_POSTINGS_PRIVATE_H
#define LC_INDEX_POSTINGS_PRIVATE_H

#include "base/limits.h"
#include "base/map.h"
#include "index/block.h"
#include "index/postings.h"

#define LC_POSTING_COUNT_BITS 8
#define LC_POSTING_COUNT_MAX 255u
#define LC_PLACE_NONE UINT32_MAX /* No place, or no id: the document there is dead. */

#define LC_PLACES_MAX (1u << (32 - LC_POSTING_COUNT_BITS))

_Static_assert(LC_INDEX_IDS_MAX < LC_PLACES_MAX, "one can be replaced when all ids are used");

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
    uint32_t id; /* LC_PLACE_NONE = dead. */
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

#endif /* LC_INDEX_POSTINGS_PRIVATE_H */
