/* fact_heads.c - see fact_heads.h.
 *
 * Invariant: if the state has a key, it has all rows of that key in the scopes global and session,
 * as they were at the seq that the state has seen, and none of them needs a review.
 *
 * Catching up drops keys; it reads no rows. A row appears or changes with the event that wrote its
 * fact (found by seq), and disappears with the event that ended it (found by ended_seq). Two marks
 * change without either. `needs_review`: rows that have it are not kept, and keys that have it now
 * are dropped, so only rows without it are in memory. `has_derived`: it is set on other facts by a
 * fact that depends on them, so after such a write everything is dropped; those writes are rare.
 */
#include "fact/fact_heads.h"

#include <string.h>

#include "base/error.h"
#include "base/map.h"
#include "base/str.h"
#include "fact/fact_row.h"

#define CHANGES_MAX 1000 /* Keys dropped one by one; if there are more, all are dropped. */

/* The rows of one key; the text of all follows the last. */
typedef struct rows_of_key {
    size_t bytes;
    size_t count;
    lc_fact facts[];
} rows_of_key;

typedef struct heads {
    lc_heap *heap;
    lc_map by_key; /* rows_of_key */
    size_t bytes;
} heads;

static const lc_sql rows_sql = {
    "select {row} from fact_current where tenant_id = $1 and user_id = $2 and key = $3"
    " and scope >= 'global' and scope <= 'session' limit $4",
    "ttti", "", &lc_fact_current_row};

/* The second column: whether the fact depends on others. */
static const lc_sql changes_sql = {
    "select key, case when depends_on is null then 0 else 1 end from fact_current"
    " where tenant_id = $1 and user_id = $2 and seq > $3"
    " union all select key, case when depends_on is null or seq <= $3 then 0 else 1 end"
    " from fact_past where tenant_id = $1 and user_id = $2 and ended_seq > $3"
    " union all select key, 0 from fact_current"
    " where tenant_id = $1 and user_id = $2 and needs_review = 1 limit $4",
    "ttii", "ti"};

/* ---- The state ------------------------------------------------------------------------------- */

static void drop_key(heads *h, loci_str key)
{
    rows_of_key *rows = lc_map_take(&h->by_key, key);

    if (rows == NULL)
        return;
    h->bytes -= rows->bytes;
    lc_heap_free(h->heap, rows, rows->bytes, LOCI_MEM_CACHES);
}

static void drop_all(heads *h)
{
    size_t place = 0;
    rows_of_key *rows;

    while ((rows = lc_map_each(&h->by_key, &place)) != NULL)
        lc_heap_free(h->heap, rows, rows->bytes, LOCI_MEM_CACHES);
    lc_map_clear(&h->by_key);
    lc_map_init(&h->by_key, h->heap, LOCI_MEM_CACHES);
    h->bytes = 0;
}

static loci_status open_state(const lc_user_kind *kind, lc_heap *heap, void **out, loci_error *err)
{
    heads *h = lc_heap_zalloc(heap, sizeof *h, LOCI_MEM_CACHES);

    (void)kind;
    if (h == NULL)
        return lc_fail_memory(err);
    h->heap = heap;
    lc_map_init(&h->by_key, heap, LOCI_MEM_CACHES);
    *out = h;
    return LOCI_OK;
}

static void close_state(void *state)
{
    heads *h = state;

    if (h == NULL)
        return;
    drop_all(h);
    lc_map_clear(&h->by_key);
    lc_heap_free(h->heap, h, sizeof *h, LOCI_MEM_CACHES);
}

static size_t bytes_of(const void *state)
{
    const heads *h = state;

    return sizeof *h + h->bytes + h->by_key.place_count * sizeof(lc_map_entry);
}

static loci_status catch_up(void *state, lc_tx *tx, lc_catch_up *step, loci_error *err)
{
    heads *h = state;
    lc_arg args[] = {LC_T(tx->tenant_id), LC_T(tx->user_id), LC_I(step->seen_seq),
                     LC_I(CHANGES_MAX + 1)};
    bool must_drop_all = false;
    int64_t count = 0;
    lc_rows rows = {0};
    loci_status status = LOCI_OK;

    if (h->by_key.entry_count > 0)
        status = lc_tx_query(tx, &changes_sql, args, &rows, err);
    while (status == LOCI_OK && !must_drop_all && lc_rows_next(&rows, &status, err)) {
        must_drop_all = lc_rows_i64(&rows, 1) == 1 || ++count > CHANGES_MAX;
        drop_key(h, lc_rows_str(&rows, 0));
    }
    lc_rows_end(&rows);
    if (must_drop_all)
        drop_all(h);
    step->seen_seq = step->head_seq;
    step->is_complete = true;
    return status;
}

const lc_user_kind lc_fact_heads_kind = {.name = "fact.heads",
                                         .open = open_state,
                                         .catch_up = catch_up,
                                         .bytes = bytes_of,
                                         .close = close_state};

/* ---- Deciding -------------------------------------------------------------------------------- */

/* The fact that is current for a persona; NULL if these rows do not decide it. */
static const lc_fact *decide(const rows_of_key *rows, loci_str persona_id, int64_t now_us)
{
    const lc_fact *head = NULL;

    for (size_t i = 0; i < rows->count; i++) {
        const lc_fact *fact = &rows->facts[i];

        if (fact->persona_id.len > 0 && !lc_str_eq(fact->persona_id, persona_id))
            continue;
        if (lc_str_is(fact->scope, "session"))
            return NULL; /* It may be the reader's session. */
        if (lc_str_is(fact->scope, "global") && !lc_fact_is_expired(fact, now_us) &&
            (head == NULL || lc_fact_is_before(fact, head)))
            head = fact;
    }
    return head != NULL && !lc_fact_is_restricted(head) ? head : NULL;
}

const lc_fact *lc_fact_heads_peek(const void *state, loci_str persona_id, loci_str key,
                                  int64_t now_us)
{
    const heads *h = state;
    const rows_of_key *rows = lc_map_find(&h->by_key, key);
    const lc_fact *head = rows != NULL ? decide(rows, persona_id, now_us) : NULL;

    return head != NULL && !head->has_derived ? head : NULL;
}

/* ---- Filling --------------------------------------------------------------------------------- */

/* Reads all rows of a key into the arena; one more than LC_FACT_HEADS_ROWS_MAX at most. */
static loci_status read_rows(lc_tx *tx, loci_str key, lc_arena *arena, rows_of_key **out,
                             loci_error *err)
{
    lc_fact_node *list, *node;
    size_t count = 0;
    loci_status status = lc_fact_load_list(
        tx,
        &(lc_fact_query){&rows_sql,
                         (lc_arg[]){LC_T(tx->tenant_id), LC_T(tx->user_id), LC_T(key),
                                    LC_I(LC_FACT_HEADS_ROWS_MAX + 1)},
                         LC_FACT_HEADS_ROWS_MAX},
        arena, &list, err);

    if (status != LOCI_OK)
        return status;
    for (node = list; node != NULL; node = node->next)
        count++;
    *out = lc_arena_alloc(arena, sizeof **out + count * sizeof(lc_fact));
    if (*out == NULL)
        return lc_fail_memory(err);
    (*out)->count = count;
    for (size_t i = 0; i < count; i++, list = list->next)
        (*out)->facts[i] = list->fact;
    return LOCI_OK;
}

/* Keeps a copy of the rows in the state. Without memory for it they are read again next time. */
static void keep_rows(heads *h, const rows_of_key *from)
{
    size_t bytes = sizeof *from + from->count * sizeof(lc_fact);
    rows_of_key *rows;
    char *text;

    if (from->count == 0 || from->count > LC_FACT_HEADS_ROWS_MAX)
        return;
    for (size_t i = 0; i < from->count; i++) {
        if (from->facts[i].needs_review)
            return;
        bytes += lc_row_bytes(&lc_fact_row, &from->facts[i]);
    }
    if (bytes > LC_FACT_HEADS_BYTES_MAX / 8)
        return;
    if (h->bytes + bytes > LC_FACT_HEADS_BYTES_MAX)
        drop_all(h);
    rows = lc_heap_alloc(h->heap, bytes, LOCI_MEM_CACHES);
    if (rows == NULL)
        return;
    rows->bytes = bytes;
    rows->count = from->count;
    text = (char *)(rows->facts + from->count);
    for (size_t i = 0; i < from->count; i++) {
        rows->facts[i] = from->facts[i];
        lc_row_copy(&lc_fact_row, &rows->facts[i], text);
        text += lc_row_bytes(&lc_fact_row, &rows->facts[i]);
    }
    if (lc_map_put(&h->by_key, rows->facts[0].key, rows))
        h->bytes += bytes;
    else
        lc_heap_free(h->heap, rows, bytes, LOCI_MEM_CACHES);
}

loci_status lc_fact_heads_find(lc_tx *tx, loci_str persona_id, loci_str key, lc_arena *arena,
                               lc_fact *out, loci_error *err)
{
    const lc_fact *head = NULL;
    rows_of_key *rows;
    bool is_complete;
    void *state;
    loci_status status = lc_tx_borrow(tx, &lc_fact_heads_kind, &state, &is_complete, err);

    *out = (lc_fact){0};
    if (status != LOCI_OK)
        return status;
    rows = lc_map_find(&((heads *)state)->by_key, key);
    if (rows == NULL) {
        status = read_rows(tx, key, arena, &rows, err);
        if (status == LOCI_OK)
            keep_rows(state, rows);
    }
    if (status == LOCI_OK && rows->count <= LC_FACT_HEADS_ROWS_MAX)
        head = decide(rows, persona_id, tx->now_us);
    if (head != NULL) {
        *out = *head;
        if (!lc_fact_keep(arena, out))
            status = lc_fail_memory(err);
    }
    lc_tx_give_back(tx, &lc_fact_heads_kind, state);
    return status;
}
