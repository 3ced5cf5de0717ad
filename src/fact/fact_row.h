/* fact_row.h - the rows of fact_current and fact_past as C structures. Only fact/ includes this
 * file.
 *
 * fact_current has the valid facts: one row per slot (`place` is 0), or one row per fact of a slot
 * with several (`place` is its seq). Facts that were written beside one that their writer could not
 * see (fact_rights.c) have a `place` of their own as well. fact_past has all others: ended ones,
 * late ones and claims. A row moves from the first to the second once and never back.
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

/* The global scope, for statements that read in the order of the key. SQLite drops a column that
 * equals a constant from `order by` and then sorts rows that are in order already, so no condition
 * here is "=". */
#define LC_FACT_IN_GLOBAL " and scope >= 'global' and scope <= 'global' and scope_id <= ''"

/* Past facts that may have been valid beside others of their slot: their index has this condition.
 */
#define LC_FACT_IS_APART "(is_multi = 1 or hidden_from is not null) and standing <> 'claim'"
#define LC_FACT_APART " and " LC_FACT_IS_APART

/* The position of its row in fact_current: slots with one fact have place 0. */
static inline int64_t lc_fact_place(const lc_fact *fact)
{
    return fact->is_multi || fact->hidden_from.len > 0 ? fact->seq : 0;
}

static inline loci_str lc_fact_or_empty(loci_str text)
{
    return text.ptr == NULL ? (loci_str){"", 0} : text;
}

/* The seq of the event that wrote a fact, decoded from the fact's id. Rows are indexed by it,
 * because an index of numbers is cheaper to write than an index of ids. -1 = not the id of a fact,
 * so there is no row. */
static inline int64_t lc_fact_seq_of(loci_str id)
{
    lc_id_parts parts;

    return lc_id_parse(id, "fact", &parts) ? parts.seq : -1;
}

/* Whether `a` precedes `b` (same key and scope): a persona's own first, then the newest. */
static inline bool lc_fact_is_before(const lc_fact *a, const lc_fact *b)
{
    if ((a->persona_id.len > 0) != (b->persona_id.len > 0))
        return a->persona_id.len > 0;
    return a->seq > b->seq;
}

/* Where a view looks for a key: its scope, its session, everywhere; the innermost is the first. */
typedef struct lc_fact_place_of {
    loci_str scope;
    loci_str scope_id;
} lc_fact_place_of;
#define LC_FACT_PLACES_MAX 3
size_t lc_fact_list_places(const lc_fact_view *view, lc_fact_place_of out[LC_FACT_PLACES_MAX]);
/* lc_fact_each_valid() for a page with a time: fact_past.c. Keys up to `last_key`. */
loci_status lc_fact_each_then(lc_tx *tx, const lc_fact_view *view, const lc_fact_page *page,
                              loci_str last_key, lc_fact_visit *visit, void *ctx, loci_error *err);

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

/* Sort order of the rows of a walk. */
typedef enum lc_fact_order {
    LC_FACT_BY_ID,    /* key, id */
    LC_FACT_BY_PLACE, /* key, place */
    LC_FACT_BY_SEQ
} lc_fact_order;

/* Reads rows page by page in the order of the statement. The last parameters of the statement are
 * the `order` values of the row before the page (the cursor) and the maximum number of rows. A
 * remote database sends the complete result before the client sees the first row, so a page has
 * only as many rows as are needed; a caller that skips rows gets the next page. */
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

/* The slot: facts of one key with the same scope and persona. */
typedef struct lc_fact_slot {
    loci_str scope;
    loci_str scope_id;
    loci_str key;
    loci_str persona_id; /* "" = shared by all personas. */
} lc_fact_slot;

static inline lc_fact_slot lc_fact_slot_of(const lc_fact *fact)
{
    return (lc_fact_slot){fact->scope, fact->scope_id, fact->key, fact->persona_id};
}
/* Loads the valid facts of a slot, including facts that are expired or hidden from the caller. */
loci_status lc_fact_load_slot(lc_tx *tx, const lc_fact_slot *slot, lc_arena *arena,
                              lc_fact_node **out, loci_error *err);
/* The last version that ended, except claims and late versions. `is_beside`: search only facts
 * written beside hidden ones, else only the others. */
loci_status lc_fact_find_last(lc_tx *tx, const lc_fact_slot *slot, bool is_beside, lc_arena *arena,
                              lc_fact *out, loci_error *err);
/* By id, valid, of any persona: $1 tenant, $2 user, $3 seq, $4 id. */
extern const lc_sql lc_fact_valid_sql;
/* By id, valid or not, among the facts that the persona sees. */
loci_status lc_fact_find_id(lc_tx *tx, loci_str persona_id, loci_str id, lc_arena *arena,
                            lc_fact *out, loci_error *err);
/* Follows the chain of supersessions from `last` into other slots and finds the current fact at its
 * end, if any; if there are several, one that may be read. */
loci_status lc_fact_find_end(lc_tx *tx, const lc_fact *last, const lc_fact_access *access,
                             lc_arena *arena, lc_fact *out, loci_error *err);

/* Fails as LOCI_ECONFLICT with data {head}; null when there is none, or none that may be read. */
loci_status lc_fact_fail_head(loci_error *err, loci_str named, const lc_fact *head,
                              const lc_fact_access *access);
loci_status lc_fact_fail_absent(loci_error *err, loci_str named);

/* ["a","b"] in the arena; none for an empty list, ptr NULL with count > 0 when out of memory. */
loci_str lc_fact_list_text(lc_arena *arena, loci_str first, lc_str_list rest);

/* Facts that need a review when others stop being valid. */
typedef struct lc_fact_doubts {
    lc_str_list ids;
    size_t seen_count; /* Those that the view shows. */
} lc_fact_doubts;
loci_status lc_fact_load_dependents(lc_tx *tx, lc_str_list ended, const lc_fact_view *view,
                                    lc_arena *arena, lc_fact_doubts *out, loci_error *err);

/* LOCI_ELIMIT when a new fact with these bases would be one dependent too many for one of them, or
 * for a fact that they are derived from. `ended`: facts that end with the same write. */
loci_status lc_fact_check_dependents(lc_tx *tx, lc_str_list depends_on, lc_str_list ended,
                                     lc_arena *arena, loci_error *err);

/* ---- Events ---------------------------------------------------------------------------------- */

/* fact.written: a new version, a late one, or a claim.
 *
 * refs {id, replaces?, supersedes?[], unlink?[], review?[], depends_on?[], claim?, contests?,
 * late_for?}. Version 1 had {id, supersedes?}, where supersedes was what `replaces` is now. */
typedef struct lc_fact_written {
    lc_fact fact;            /* supersedes and depends_on are made from the lists. */
    loci_str replaces;       /* The fact of its own slot whose place it takes, or none. */
    const lc_fact *replaced; /* That fact, if just read; NULL = look it up. */
    lc_str_list supersedes;  /* Other facts that end with it. */
    lc_str_list unlink;      /* Facts that end and had depended on others. */
    lc_str_list review;      /* Facts that now need a review. */
    lc_str_list depends_on;
    bool was_valid; /* It is erased, and was neither late nor a claim. */
} lc_fact_written;

/* fact.retracted: refs {ids[], unlink?[], review?[]}, payload {reason?, restricted?}. */
typedef struct lc_fact_retracted {
    lc_str_list ids;
    lc_str_list unlink;
    lc_str_list review;
    loci_str reason;
    bool is_restricted; /* One of them was. */
} lc_fact_retracted;

void lc_fact_written_encode(const lc_fact_written *written, lc_event_draft *draft);
void lc_fact_retracted_encode(const lc_fact_retracted *retracted, lc_event_draft *draft);

/* Read them back; text lives in `arena` or in the event. Anything unexpected is LOCI_ECORRUPT. An
 * erased event has no payload: key and value are then "" and `null`. */
loci_status lc_fact_written_decode(const lc_event *event, lc_arena *arena, lc_fact_written *out,
                                   loci_error *err);
loci_status lc_fact_retracted_decode(const lc_event *event, lc_arena *arena, lc_fact_retracted *out,
                                     loci_error *err);

/* Of fact.written and fact.retracted. Errs on the side of hiding: a value that contains a member of
 * this name is treated as restricted, too. */
bool lc_fact_event_is_restricted(const lc_event *event);
/* Of fact.written: hidden_from, the last member of the payload, would tell its writer that there is
 * a fact that it cannot see. */
size_t lc_fact_event_hidden_bytes(const lc_event *event);

/* Fills fact.supersedes and fact.depends_on. */
loci_status lc_fact_written_complete(lc_fact_written *written, lc_arena *arena, loci_error *err);

/* user, capability or organizational, by the source of a fact. */
loci_str lc_fact_memory_type(loci_str source, bool is_constraint);

extern const lc_event_type lc_fact_written_event;
extern const lc_event_type lc_fact_retracted_event;
extern const lc_event_type lc_fact_reviewed_event; /* refs {id}: confirmed. */
/* refs {ids[], unlink?[], review?[], retractions?[seq]}. */
extern const lc_event_type lc_fact_forgotten_event;
/* refs {session_id, withdrawn[], flags[], moved[], relinked[], rebased[], claims[]}, objects with
 * an id: see fact_withdraw.c. */
extern const lc_event_type lc_fact_withdrawn_event;

extern lc_upcast *const lc_fact_written_upcasts[];

/* For `apply`, shared by fact_room.c, fact_forget.c and fact_withdraw.c. */
/* Inserts the row of a fact that is valid, or that ended with `event`. */
loci_status lc_fact_put_current(lc_tx *tx, const lc_event *event, const lc_fact *fact,
                                loci_error *err);
loci_status lc_fact_put_past(lc_tx *tx, const lc_event *event, const lc_fact *fact,
                             loci_error *err);
extern const lc_sql lc_fact_remove_sql; /* From fact_current: $1 tenant, $2 user, $3 seq, $4 id. */
/* Removes such a row again. */
loci_status lc_fact_remove_past(lc_tx *tx, const lc_event *event, const lc_fact *fact,
                                loci_error *err);
loci_status lc_fact_unlink_and_flag(lc_tx *tx, const lc_event *event, lc_str_list unlink,
                                    lc_str_list review, loci_error *err);
loci_status lc_fact_put_erased(lc_tx *tx, const lc_event *event, const lc_fact *fact,
                               loci_error *err);
/* LOCI_EFORBIDDEN unless the caller may end `fact`. */
loci_status lc_fact_check_rights(lc_tx *tx, const lc_fact_target *target, const lc_fact *fact,
                                 loci_error *err);

/* ---- Between deciding and committing --------------------------------------------------------- */

struct lc_fact_plan {
    lc_fact_outcome outcome;
    lc_fact_written written; /* Without an id, until it is committed. */
    lc_fact same;            /* REPEATED, or a repeated claim: the existing fact. */
    bool is_written;         /* There is something to append. */
    loci_str first;          /* The first fact that it ends, or none. */
    size_t review_count;     /* Of written.review, those that the writer sees. */
};

struct lc_fact_ending {
    lc_fact_retracted retracted;
    lc_fact fact;        /* The first of them. */
    size_t review_count; /* Of retracted.review, those that the caller sees. */
};

/* ---- Rights: fact_rights.c ------------------------------------------------------------------- */

/* Whether the reader has the rank and the permission that the fact requires. */
bool lc_fact_is_cleared(const lc_fact *fact, const lc_fact_access *access);
/* The first that may be read; NULL = none. */
const lc_fact *lc_fact_first_readable(const lc_fact_node *list, const lc_fact_access *access);
/* Hides `fact` from readers of `other`, which its writer cannot see. */
loci_status lc_fact_hide(lc_fact *fact, const lc_fact *other, lc_arena *arena, loci_error *err);
/* Hides `fact` from the readers that `other` is hidden from. */
loci_status lc_fact_hide_like(lc_fact *fact, const lc_fact *other, lc_arena *arena,
                              loci_error *err);
/* Whether lc_fact_hide() was applied to the fact. */
bool lc_fact_is_hidden_from(const lc_fact *fact, const lc_fact *other);

/* Whether the writer may end that fact. */
typedef struct lc_fact_writer {
    lc_authority authority;
    loci_str trust;
    lc_fact_access access;
    int64_t now_us;
} lc_fact_writer;
bool lc_fact_may_end(const lc_fact_writer *writer, const lc_fact *fact);

/* A set of facts that end: their ids, the ids of those that depended on other facts, and of those
 * that other facts depend on. Memory for `max` ids is allocated at the start. */
typedef struct lc_fact_ended {
    loci_str *ids, *unlink, *roots;
    size_t count, unlink_count, root_count;
} lc_fact_ended;
loci_status lc_fact_ended_init(lc_fact_ended *ended, size_t max, lc_arena *arena, loci_error *err);
void lc_fact_ended_add(lc_fact_ended *ended, const lc_fact *fact);

#endif /* LC_FACT_FACT_ROW_H */
