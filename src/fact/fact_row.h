/* fact_row.h - rows of fact_current and fact_past, and C. Only fact/ includes this.
 *
 * fact_current has the valid facts: one row per slot (`place` is 0), or one row per fact of a slot
 * with several (`place` is its seq). fact_past has all others: ended ones, late ones and claims. A
 * row moves from the first to the second once and never back.
 */
#ifndef LC_FACT_FACT_ROW_H
#define LC_FACT_FACT_ROW_H

#include "fact/fact.h"
#include "store/row.h"

/* {row} of fact_current. */
extern const lc_row_type lc_fact_current_row;

/* $1 tenant, $2 user, $3 scope, $4 scope_id, $5 key. */
#define LC_FACT_IN_KEY                                                                             \
    " where tenant_id = $1 and user_id = $2 and scope = $3 and scope_id = $4 and key = $5"

/* Everywhere, for statements that read in the order of the key. SQLite leaves a column that equals
 * a constant out of `order by` and then sorts what is in order already, so none of this is "=". */
#define LC_FACT_IN_GLOBAL " and scope >= 'global' and scope <= 'global' and scope_id <= ''"

static inline loci_str lc_fact_or_empty(loci_str text)
{
    return text.ptr == NULL ? (loci_str){"", 0} : text;
}

/* The event that wrote a fact, which its id tells: rows are found by it, since an index of numbers
 * is less to write than one of ids. -1 = no id of a fact, and no row. */
static inline int64_t lc_fact_seq_of(loci_str id)
{
    lc_id_parts parts;

    return lc_id_parse(id, "fact", &parts) ? parts.seq : -1;
}

/* Whether `a` goes before `b`, of one key and scope: a persona's own first, then the newest. */
static inline bool lc_fact_is_before(const lc_fact *a, const lc_fact *b)
{
    if ((a->persona_id.len > 0) != (b->persona_id.len > 0))
        return a->persona_id.len > 0;
    return a->seq > b->seq;
}

/* A list of facts in an arena, in the order of the rows. */
typedef struct lc_fact_node {
    lc_fact fact;
    struct lc_fact_node *next;
} lc_fact_node;

/* Appends a copy; the text of `fact` moves into the arena. */
loci_status lc_fact_list_add(lc_fact_node ***end, const lc_fact *fact, lc_arena *arena,
                             loci_error *err);
/* Every row of a query, at most `max` + 1 of them. */
typedef struct lc_fact_query {
    const lc_sql *sql;
    const lc_arg *args;
    size_t max;
} lc_fact_query;
loci_status lc_fact_load_list(lc_tx *tx, const lc_fact_query *query, lc_arena *arena,
                              lc_fact_node **out, loci_error *err);
/* The first row. Here and below, a fact that was not found has no id. */
loci_status lc_fact_find_row(lc_tx *tx, const lc_fact_query *query, lc_arena *arena, lc_fact *out,
                             loci_error *err);

/* What the rows of a walk are ordered by. */
typedef enum lc_fact_order {
    LC_FACT_BY_ID,    /* key, id */
    LC_FACT_BY_PLACE, /* key, place */
    LC_FACT_BY_SEQ
} lc_fact_order;

/* Rows in the order of their statement, which takes as its last parameters the values of `order`
 * that the first row is behind, and how many rows it may answer. A store that is far away sends all
 * of an answer before the first row is seen, so no more are asked for than are wanted; whoever
 * passes over some of them is given the next. */
typedef struct lc_fact_walk {
    const lc_sql *sql;
    lc_fact_order order;
    int64_t limit; /* Rows to ask for at first. */
} lc_fact_walk;
typedef loci_status lc_fact_row_visit(void *ctx, const lc_rows *rows, const lc_fact *fact,
                                      loci_error *err);
/* `args` are those of the statement but the limit. The visit may not query; LOCI_ECANCELLED ends
 * the walk and is not reported. */
loci_status lc_fact_each_row(lc_tx *tx, const lc_fact_walk *walk, const lc_arg *args,
                             lc_fact_row_visit *visit, void *ctx, loci_error *err);

/* Where facts of one key live. */
typedef struct lc_fact_slot {
    loci_str scope;
    loci_str scope_id;
    loci_str key;
    loci_str persona_id; /* "" = everybody's. */
} lc_fact_slot;

static inline lc_fact_slot lc_fact_slot_of(const lc_fact *fact)
{
    return (lc_fact_slot){fact->scope, fact->scope_id, fact->key, fact->persona_id};
}
bool lc_fact_slot_is(const lc_fact_slot *a, const lc_fact_slot *b);
/* What it holds, expired ones included. */
loci_status lc_fact_load_slot(lc_tx *tx, const lc_fact_slot *slot, lc_arena *arena,
                              lc_fact_node **out, loci_error *err);
/* The last version that ended, claims and late ones aside. */
loci_status lc_fact_find_last(lc_tx *tx, const lc_fact_slot *slot, lc_arena *arena, lc_fact *out,
                              loci_error *err);
/* By id, valid, whosever it is: $1 tenant, $2 user, $3 seq, $4 id. */
extern const lc_sql lc_fact_valid_sql;
/* By id, valid or not, among what the persona sees. */
loci_status lc_fact_find_id(lc_tx *tx, loci_str persona_id, loci_str id, lc_arena *arena,
                            lc_fact *out, loci_error *err);
/* Where a chain of supersessions ends that left the slot of `last`: the head there, if any. */
loci_status lc_fact_find_end(lc_tx *tx, const lc_fact *last, lc_arena *arena, lc_fact *out,
                             loci_error *err);

/* Fails as LOCI_ECONFLICT with data {head}; a none head is null. */
loci_status lc_fact_fail_head(loci_error *err, loci_str named, loci_str head);
loci_status lc_fact_fail_absent(loci_error *err, loci_str named);

/* ["a","b"] in the arena; none for an empty list, ptr NULL with count > 0 when out of memory. */
loci_str lc_fact_list_text(lc_arena *arena, loci_str first, lc_str_list rest);

/* Facts that need a review when those of `ended` stop being valid. */
loci_status lc_fact_load_dependents(lc_tx *tx, lc_str_list ended, lc_arena *arena, lc_str_list *out,
                                    loci_error *err);

#endif /* LC_FACT_FACT_ROW_H */
