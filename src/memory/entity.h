/* entity.h - the people, places, organisations and projects that memories are about.
 *
 * An entity has an id (ent_…), a ref such as person:john_doe, and a label. It is added when the
 * first memory of a persona names it; each persona has entities of its own, so that no persona
 * learns what another one knows. An alias is an entity that was merged into another one: its ref
 * leads there. Splitting undoes that. Memories keep the ref that they were stored with.
 */
#ifndef LC_MEMORY_ENTITY_H
#define LC_MEMORY_ENTITY_H

#include "base/arena.h"
#include "base/str.h"
#include "store/row.h"

extern const lc_table lc_entities_table;
extern const lc_event_type lc_entity_added_event;
extern const lc_event_type lc_entity_merged_event;

typedef struct lc_entity {
    loci_str id;
    int64_t seq;
    loci_str ref;
    loci_str label;       /* As first written; none = none. */
    loci_str persona_id;  /* "" = it belongs to all. */
    loci_str merged_into; /* Id; none = it is not an alias. */
    int64_t created_at;
    loci_str aliases; /* Computed: JSON array of refs. */
    int64_t memories; /* Computed: those that name it or an alias, former ones included. */
} lc_entity;

extern const lc_row_type lc_entity_row; /* lc_entity */

/* The entity of a ref or id that the persona sees, aliases followed: LOCI_ENOTFOUND. */
loci_status lc_entity_load(lc_tx *tx, loci_str persona_id, loci_str name, lc_arena *arena,
                           lc_entity *out, loci_error *err);
/* The same without following aliases; without an id in `out` there is none. */
loci_status lc_entity_find(lc_tx *tx, loci_str persona_id, loci_str name, lc_arena *arena,
                           lc_entity *out, loci_error *err);
/* The ref of the entity that `ref` leads to: itself when it is unknown or no alias. */
loci_status lc_entity_resolve(lc_tx *tx, loci_str persona_id, loci_str ref, lc_arena *arena,
                              loci_str *out, loci_error *err);
/* Adds the entity of `ref` to this persona unless it has it. */
loci_status lc_entity_ensure(lc_tx *tx, loci_str persona_id, loci_str ref, loci_str label,
                             loci_error *err);
/* The refs of an entity: its own, then its aliases. */
loci_status lc_entity_refs(lc_tx *tx, const lc_entity *entity, lc_arena *arena, lc_str_list *out,
                           loci_error *err);
/* Sets the computed members. */
loci_status lc_entity_describe(lc_tx *tx, loci_str persona_id, lc_entity *entity, lc_arena *arena,
                               loci_error *err);

/* Makes `from`, with its aliases, an alias of `into`; an `into` without an id splits `from` off the
 * entity it was merged into. Both belong to one persona, or LOCI_EINVAL. */
loci_status lc_entity_merge(lc_tx *tx, const lc_entity *from, const lc_entity *into,
                            loci_error *err);

typedef loci_status lc_entity_visit(void *ctx, const lc_entity *entity, loci_error *err);
typedef struct lc_entity_page {
    loci_str persona_id;
    loci_str type;     /* None = any. */
    int64_t after_seq; /* In the order in which they were added. */
    int64_t limit;
} lc_entity_page;
/* Entities that are not aliases. */
loci_status lc_entity_each(lc_tx *tx, const lc_entity_page *page, lc_entity_visit *visit, void *ctx,
                           loci_error *err);

/* Whether the slugs of two refs of one type are spellings of one name: Makesh and Mukesh. */
bool lc_entity_is_near(loci_str a, loci_str b);

/* Pairs of entities of one persona with near names, the later one first; among the first 1,000
 * entities. `number` of a pair is the same as long as no entity is merged. */
typedef struct lc_entity_pair {
    const lc_entity *entity, *into;
    int64_t number;
} lc_entity_pair;
typedef loci_status lc_entity_pair_visit(void *ctx, const lc_entity_pair *pair, loci_error *err);
loci_status lc_entity_each_near(lc_tx *tx, loci_str persona_id, lc_arena *arena,
                                lc_entity_pair_visit *visit, void *ctx, loci_error *err);

#endif /* LC_MEMORY_ENTITY_H */
