/* fact_corpus.c - keeping a user's valid facts in memory, and choosing from them.
 *
 * Building and catching up are the same code: facts are read in the order of their seq in pages,
 * and facts that ended since the last snapshot are removed first. Every fact that is read was valid
 * at the head of its snapshot, so only facts that ended later must be removed: `ends_seq` is that
 * head.
 *
 * Choosing decides first which facts the reader may see: facts that every reader may see at any
 * time are kept as one bitmap (nearly all facts); the other facts, if shared by all personas or
 * owned by the reader's persona, are checked one by one. Then come all constraints, the best for
 * the query, and the newest until the limit. Whether a fact needs a review is read from the store
 * each time, because the mark comes and goes without the fact being written.
 *
 * Invariants: a document's record points to its fact; a document is in exactly one of `open`,
 * `special` and its persona's bitmap, and in `constraints` when it is one; `by_key` leads to the
 * first fact of each key, the others of that key follow it.
 */
#include "fact/fact_corpus.h"

#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "base/error.h"
#include "base/map.h"
#include "base/str.h"
#include "fact/fact_row.h"
#include "pack/show.h"

typedef struct indexed_fact indexed_fact;
struct indexed_fact {
    lc_fact fact;
    loci_str text;
    indexed_fact *next, *previous; /* Of the same key. */
    uint32_t number;
    int64_t line_tokens; /* 0 = not counted. */
    int line_encoding;
    size_t bytes; /* Of the block, texts included. */
};

/* The facts of one persona, and how many of them have ended. "" = facts shared by all personas. */
typedef struct persona {
    lc_bitmap facts;
    lc_fact_counts past;
    size_t bytes;
    loci_str id; /* Behind it. */
} persona;

typedef struct fact_corpus {
    lc_heap *heap;
    lc_corpus corpus;                     /* Records: indexed_fact * */
    lc_bitmap open, special, constraints; /* Of no persona, but the constraints. */
    size_t constraint_count;
    lc_map by_key;    /* indexed_fact */
    lc_map personas;  /* persona */
    size_t bytes;     /* Of the facts and personas. */
    int64_t ends_seq; /* Facts that ended up to here are gone; -1 = the state is empty. */
} fact_corpus;

static indexed_fact *fact_at(const fact_corpus *c, uint32_t number)
{
    return *(indexed_fact **)lc_corpus_record(&c->corpus, number);
}

/* ---- Life ------------------------------------------------------------------------------------ */

static void init_maps(fact_corpus *c)
{
    lc_bitmap_init(&c->open, c->heap, LOCI_MEM_INDEX);
    lc_bitmap_init(&c->special, c->heap, LOCI_MEM_INDEX);
    lc_bitmap_init(&c->constraints, c->heap, LOCI_MEM_INDEX);
    lc_map_init(&c->by_key, c->heap, LOCI_MEM_INDEX);
    lc_map_init(&c->personas, c->heap, LOCI_MEM_INDEX);
    c->ends_seq = -1;
}

static void clear_corpus(fact_corpus *c)
{
    size_t place = 0;
    persona *p;

    for (uint32_t i = 0; lc_bitmap_next(&c->corpus.present, i, &i); i++) {
        indexed_fact *fact = fact_at(c, i);

        lc_heap_free(c->heap, fact, fact->bytes, LOCI_MEM_INDEX);
    }
    while ((p = lc_map_each(&c->personas, &place)) != NULL) {
        lc_bitmap_clear(&p->facts);
        lc_heap_free(c->heap, p, p->bytes, LOCI_MEM_INDEX);
    }
    lc_corpus_clear(&c->corpus);
    lc_map_clear(&c->by_key);
    lc_map_clear(&c->personas);
    lc_bitmap_clear(&c->open);
    lc_bitmap_clear(&c->special);
    lc_bitmap_clear(&c->constraints);
    c->bytes = c->constraint_count = 0;
}

static loci_status open_state(const lc_user_kind *kind, lc_heap *heap, void **out, loci_error *err)
{
    fact_corpus *c = lc_heap_zalloc(heap, sizeof *c, LOCI_MEM_INDEX);
    loci_status status;

    (void)kind;
    if (c == NULL)
        return lc_fail_memory(err);
    c->heap = heap;
    init_maps(c);
    status = lc_corpus_init(&c->corpus, heap, sizeof(indexed_fact *), err);
    if (status == LOCI_OK)
        *out = c;
    else
        lc_heap_free(heap, c, sizeof *c, LOCI_MEM_INDEX);
    return status;
}

static void close_state(void *state)
{
    fact_corpus *c = state;

    if (c == NULL)
        return;
    clear_corpus(c);
    lc_heap_free(c->heap, c, sizeof *c, LOCI_MEM_INDEX);
}

static size_t bytes_of(const void *state)
{
    const fact_corpus *c = state;

    return sizeof *c + c->bytes + lc_corpus_bytes(&c->corpus) +
           (c->by_key.place_count + c->personas.place_count) * sizeof(lc_map_entry) +
           3 * c->corpus.room / 8;
}

/* ---- Texts to embed ---------------------------------------------------------------------------
 */

loci_status lc_fact_embed_text(lc_arena *arena, loci_str key, loci_str value, loci_str *out,
                               loci_error *err)
{
    const lc_json *json = NULL;
    loci_status status = lc_json_parse(arena, value, 0, &json, err);
    loci_str shown;
    char *text;

    if (status != LOCI_OK)
        return status;
    shown = lc_json_kind_of(json) == LC_JSON_STRING ? lc_json_str(json) : value;
    text = lc_arena_alloc(arena, key.len + shown.len + 3);
    if (text == NULL)
        return lc_fail_memory(err);
    for (size_t i = 0; i < key.len; i++)
        text[i] = key.ptr[i] == '_' ? ' ' : key.ptr[i];
    memcpy(text + key.len, ": ", 2);
    if (shown.len > 0)
        memcpy(text + key.len + 2, shown.ptr, shown.len);
    text[key.len + 2 + shown.len] = '\0';
    *out = (loci_str){text, key.len + 2 + shown.len};
    return LOCI_OK;
}

static loci_status embed_text_of_row(const lc_rows *rows, lc_arena *arena, loci_str *out,
                                     loci_error *err)
{
    return lc_fact_embed_text(arena, lc_rows_str(rows, 4), lc_rows_str(rows, 2), out, err);
}

static const lc_sql embed_sql = {
    "select seq, observed_at, value, persona_id, key from fact_current"
    " where tenant_id = $1 and user_id = $2 and seq > $3 order by seq limit $4",
    "ttii", "iittt"};

const lc_recall_source lc_fact_source = {
    .name = "fact", .rows = &embed_sql, .text = embed_text_of_row};

/* ---- Adding and removing --------------------------------------------------------------------- */

/* Copies `from` to `*at` and moves that behind it. */
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
static indexed_fact *copy_fact(fact_corpus *c, const lc_fact *from, loci_str text)
{
    size_t bytes = sizeof(indexed_fact) + text.len + 1;
    lc_fact fact = *from;
    indexed_fact *to;
    char *at;

    fact.supersedes = fact.depends_on = LC_STR_NONE; /* Not needed here. */
    fact.needs_review = false;                       /* Read when it is chosen. */
    bytes += lc_row_bytes(&lc_fact_row, &fact);
    to = lc_heap_alloc(c->heap, bytes, LOCI_MEM_INDEX);
    if (to == NULL)
        return NULL;
    at = (char *)(to + 1);
    *to = (indexed_fact){.fact = fact, .text = put_text(&at, text), .bytes = bytes};
    lc_row_copy(&lc_fact_row, &to->fact, at);
    c->bytes += bytes;
    return to;
}

static void free_fact(fact_corpus *c, indexed_fact *fact)
{
    c->bytes -= fact->bytes;
    lc_heap_free(c->heap, fact, fact->bytes, LOCI_MEM_INDEX);
}

static loci_status find_persona(fact_corpus *c, loci_str id, persona **out, loci_error *err)
{
    size_t bytes = sizeof(persona) + id.len + 1;
    char *at;

    id = lc_fact_or_empty(id);
    *out = lc_map_find(&c->personas, id);
    if (*out != NULL)
        return LOCI_OK;
    *out = lc_heap_zalloc(c->heap, bytes, LOCI_MEM_INDEX);
    if (*out == NULL)
        return lc_fail_memory(err);
    at = (char *)(*out + 1);
    **out = (persona){.bytes = bytes, .id = put_text(&at, id)};
    lc_bitmap_init(&(*out)->facts, c->heap, LOCI_MEM_INDEX);
    if (!lc_map_put(&c->personas, (*out)->id, *out)) {
        lc_heap_free(c->heap, *out, bytes, LOCI_MEM_INDEX);
        return lc_fail_memory(err);
    }
    c->bytes += bytes;
    return LOCI_OK;
}

/* Whether every reader may see the fact at any time. */
static bool is_open(const lc_fact *fact)
{
    return lc_str_is(fact->scope, "global") && fact->valid_until == LC_FACT_NO_TIME &&
           !lc_fact_is_restricted(fact);
}

/* The bitmap that a fact belongs to, made when it is the first of its persona. */
static loci_status find_bitmap(fact_corpus *c, const lc_fact *fact, lc_bitmap **out,
                               loci_error *err)
{
    persona *p;
    loci_status status = LOCI_OK;

    if (fact->persona_id.len == 0) {
        *out = is_open(fact) ? &c->open : &c->special;
        return LOCI_OK;
    }
    status = find_persona(c, fact->persona_id, &p, err);
    if (status == LOCI_OK)
        *out = &p->facts;
    return status;
}

static void unlink_key(fact_corpus *c, indexed_fact *fact)
{
    bool is_put = true;

    if (fact->next != NULL)
        fact->next->previous = fact->previous;
    if (fact->previous != NULL) {
        fact->previous->next = fact->next;
        return;
    }
    (void)lc_map_take(&c->by_key, fact->fact.key);
    if (fact->next != NULL) /* The map borrows its key from the first fact. */
        is_put = lc_map_put(&c->by_key, fact->next->fact.key, fact->next);
    LC_ASSERT(is_put); /* A place has just become free. */
}

static bool link_key(fact_corpus *c, indexed_fact *fact)
{
    indexed_fact *first = lc_map_find(&c->by_key, fact->fact.key);

    if (first == NULL)
        return lc_map_put(&c->by_key, fact->fact.key, fact);
    fact->previous = first;
    fact->next = first->next;
    if (first->next != NULL)
        first->next->previous = fact;
    first->next = fact;
    return true;
}

static void remove_fact(fact_corpus *c, loci_str key, loci_str id)
{
    indexed_fact *fact = lc_map_find(&c->by_key, key);
    lc_bitmap *bitmap = NULL;

    while (fact != NULL && !lc_str_eq(fact->fact.id, id))
        fact = fact->next;
    if (fact == NULL)
        return;
    if (find_bitmap(c, &fact->fact, &bitmap, NULL) == LOCI_OK) /* It exists: nothing is made. */
        lc_bitmap_remove(bitmap, fact->number);
    lc_bitmap_remove(&c->constraints, fact->number);
    c->constraint_count -= fact->fact.is_constraint;
    unlink_key(c, fact);
    lc_corpus_remove(&c->corpus, fact->number);
    free_fact(c, fact);
}

/* Its words are those of "payment terms: net 30": keys are made of words, too. */
static loci_status add_document(fact_corpus *c, indexed_fact *fact, lc_arena *arena,
                                loci_error *err)
{
    loci_str key = fact->fact.key, embedded;
    size_t bytes = key.len + 1 + fact->text.len;
    char *text = lc_arena_alloc(arena, bytes + 1);
    loci_status status = text != NULL
                             ? lc_fact_embed_text(arena, key, fact->fact.value, &embedded, err)
                             : lc_fail_memory(err);

    if (status != LOCI_OK)
        return status;
    for (size_t i = 0; i < key.len; i++)
        text[i] = key.ptr[i] == '_' ? ' ' : key.ptr[i];
    text[key.len] = ' ';
    memcpy(text + key.len + 1, fact->text.ptr, fact->text.len);
    return lc_corpus_add(&c->corpus,
                         &(lc_corpus_document){.text = {text, bytes},
                                               .content = lc_vector_content(embedded),
                                               .record = &fact},
                         arena, &fact->number, err);
}

static loci_status add_fact(fact_corpus *c, const lc_fact *from, lc_arena *arena, loci_error *err)
{
    indexed_fact *fact;
    lc_bitmap *bitmap = NULL;
    loci_str text;
    loci_status status = lc_show_value(arena, from->value, &text, err);

    if (status != LOCI_OK)
        return status;
    remove_fact(c, from->key, from->id);
    fact = copy_fact(c, from, text);
    if (fact == NULL)
        return lc_fail_memory(err);
    if (!link_key(c, fact)) {
        free_fact(c, fact);
        return lc_fail_memory(err);
    }
    status = find_bitmap(c, &fact->fact, &bitmap, err);
    if (status == LOCI_OK)
        status = lc_bitmap_reserve(&c->constraints, (size_t)c->corpus.count + 1, err);
    if (status == LOCI_OK)
        status = lc_bitmap_reserve(bitmap, (size_t)c->corpus.count + 1, err);
    if (status == LOCI_OK)
        status = add_document(c, fact, arena, err);
    if (status != LOCI_OK) {
        unlink_key(c, fact);
        free_fact(c, fact);
        return status;
    }
    (void)lc_bitmap_add(bitmap, fact->number, NULL); /* There is room. */
    if (fact->fact.is_constraint)
        (void)lc_bitmap_add(&c->constraints, fact->number, NULL);
    c->constraint_count += fact->fact.is_constraint;
    return LOCI_OK;
}

/* ---- Catching up ----------------------------------------------------------------------------- */

static const lc_sql written_sql = {
    "select {row} from fact_current where tenant_id = $1 and user_id = $2 and seq > $3"
    " order by seq limit $4",
    "ttii", "", &lc_fact_current_row};
static const lc_sql ended_sql = {"select key, id from fact_past where tenant_id = $1"
                                 " and user_id = $2 and ended_seq > $3",
                                 "tti", "tt"};
static const lc_sql counts_sql = {"select persona_id, superseded, retracted, claims"
                                  " from fact_counts where tenant_id = $1 and user_id = $2",
                                  "tt", "tiii"};

static loci_status remove_ended(fact_corpus *c, lc_tx *tx, bool *out_any, loci_error *err)
{
    lc_arg args[] = {LC_T(tx->tenant_id), LC_T(tx->user_id), LC_I(c->ends_seq)};
    lc_rows rows;
    loci_status status = lc_tx_query(tx, &ended_sql, args, &rows, err);

    *out_any = false;
    while (status == LOCI_OK && lc_rows_next(&rows, &status, err)) {
        remove_fact(c, lc_rows_str(&rows, 0), lc_rows_str(&rows, 1));
        *out_any = true;
    }
    lc_rows_end(&rows);
    return status;
}

static loci_status read_counts(fact_corpus *c, lc_tx *tx, loci_error *err)
{
    lc_arg args[] = {LC_T(tx->tenant_id), LC_T(tx->user_id)};
    lc_rows rows;
    loci_status status = lc_tx_query(tx, &counts_sql, args, &rows, err);

    while (status == LOCI_OK && lc_rows_next(&rows, &status, err)) {
        persona *p;

        status = find_persona(c, lc_rows_str(&rows, 0), &p, err);
        if (status == LOCI_OK)
            p->past = (lc_fact_counts){lc_rows_i64(&rows, 1), lc_rows_i64(&rows, 2),
                                       lc_rows_i64(&rows, 3)};
    }
    lc_rows_end(&rows);
    return status;
}

static loci_status add_row(void *state, const lc_rows *rows, lc_arena *scratch, int64_t *out_seq,
                           loci_error *err)
{
    lc_fact fact;
    loci_status status = lc_row_read(rows, &fact, err);

    if (status == LOCI_OK)
        status = add_fact(state, &fact, scratch, err);
    if (status == LOCI_OK)
        *out_seq = fact.seq;
    return status;
}

static loci_status text_of(void *state, lc_tx *tx, const void *record, lc_arena *arena,
                           loci_str *out, loci_error *err)
{
    const indexed_fact *fact = *(indexed_fact *const *)record;

    (void)state;
    (void)tx;
    return lc_fact_embed_text(arena, fact->fact.key, fact->fact.value, out, err);
}

static lc_recall_build build_of(fact_corpus *c)
{
    return (lc_recall_build){
        .corpus = &c->corpus, .rows = &written_sql, .add = add_row, .text = text_of, .state = c};
}

static loci_status catch_up(void *state, lc_tx *tx, lc_catch_up *step, loci_error *err)
{
    fact_corpus *c = state;
    lc_recall_build build = build_of(c);
    bool has_ended = true;
    loci_status status = LOCI_OK;

    step->is_complete = false;
    if (lc_corpus_is_sparse(&c->corpus)) {
        clear_corpus(c);
        init_maps(c);
        step->seen_seq = -1;
        status = lc_corpus_init(&c->corpus, c->heap, sizeof(indexed_fact *), err);
    }
    if (status == LOCI_OK && c->ends_seq >= 0)
        status = remove_ended(c, tx, &has_ended, err);
    if (status == LOCI_OK && has_ended)
        status = read_counts(c, tx, err);
    c->ends_seq = step->head_seq;
    return status == LOCI_OK ? lc_recall_follow(tx, &build, step, err) : status;
}

const lc_user_kind lc_fact_corpus_kind = {.name = "fact.corpus",
                                          .open = open_state,
                                          .catch_up = catch_up,
                                          .bytes = bytes_of,
                                          .close = close_state};

/* ---- Which facts the reader may see ---------------------------------------------------------- */

typedef struct choosing {
    fact_corpus *c;
    lc_tx *tx;
    const lc_fact_request *request;
    lc_arena *arena;
    lc_fact_choice *out;
    lc_bitmap seen; /* Documents that may be chosen. */
    /* Keys of which an inner scope or a persona has a fact, seen or secret, with the nearest one:
     * facts farther out are hidden. */
    lc_map inner;
} choosing;

/* How near a fact is to the reader: 0 not in the view, then global, of the session, of the scope;
 * doubled, so that a persona's own fact has precedence over a fact shared by all personas. */
#define EVERYWHERE 2

static int nearness(const choosing *ch, const lc_fact *fact)
{
    const lc_fact_view *view = &ch->request->view;
    int near = 0;

    if (lc_str_is(fact->scope, "global"))
        near = 1;
    else if (view->scope.len > 0 && lc_str_eq(fact->scope, view->scope) &&
             lc_str_eq(fact->scope_id, view->scope_id))
        near = 3;
    else if (lc_str_is(fact->scope, "session") && view->session_id.len > 0 &&
             lc_str_eq(fact->scope_id, view->session_id))
        near = 2;
    if (near == 0 || fact->persona_id.len == 0)
        return 2 * near;
    return lc_str_eq(fact->persona_id, view->persona_id) ? 2 * near + 1 : 0;
}

static void leave_out(choosing *ch, const lc_fact *fact, int64_t *counter, const char *reason)
{
    lc_fact_choice *out = ch->out;
    loci_str id;

    ++*counter;
    if (out->left_out_count == LC_FACT_LEFT_OUT_MAX)
        return;
    id = lc_arena_copy(ch->arena, fact->id);
    if (id.ptr == NULL)
        return; /* It is counted; naming it is optional. */
    out->left_out[out->left_out_count].id = id;
    out->left_out[out->left_out_count++].reason = reason;
}

/* Counts and names a fact that the reader may not see; false for one that it may. */
static bool is_hidden(choosing *ch, const lc_fact *fact)
{
    if (nearness(ch, fact) == 0) {
        if (fact->persona_id.len == 0)
            leave_out(ch, fact, &ch->out->scoped, "scope");
    } else if (lc_fact_is_expired(fact, ch->tx->now_us)) {
        leave_out(ch, fact, &ch->out->expired, "expired");
    } else if (!lc_fact_is_cleared(fact, &ch->request->view.access)) {
        leave_out(ch, fact, &ch->out->restricted, "restricted");
    } else if (!lc_fact_may_read(fact, &ch->request->view.access)) {
        leave_out(ch, fact, &ch->out->past.claims, "claim");
    } else {
        return false;
    }
    return true;
}

/* Whether a fact that the reader may not see still hides those farther out: without access to a
 * secret, a reader must not take the outer value for the current one (fact_read.c). */
static bool is_secret(const choosing *ch, const lc_fact *fact)
{
    return nearness(ch, fact) > EVERYWHERE && !lc_fact_is_expired(fact, ch->tx->now_us) &&
           !lc_fact_is_cleared(fact, &ch->request->view.access) && fact->hidden_from.len == 0;
}

/* Checks the facts that only some readers may see, one by one. */
static loci_status mark_special(choosing *ch, const lc_bitmap *special, loci_error *err)
{
    loci_status status = LOCI_OK;

    for (uint32_t i = 0; status == LOCI_OK && lc_bitmap_next(special, i, &i); i++) {
        indexed_fact *indexed = fact_at(ch->c, i);
        const indexed_fact *inner;

        if (!is_hidden(ch, &indexed->fact))
            status = lc_bitmap_add(&ch->seen, i, err);
        else if (!is_secret(ch, &indexed->fact))
            continue;
        if (status != LOCI_OK || nearness(ch, &indexed->fact) == EVERYWHERE)
            continue;
        inner = lc_map_find(&ch->inner, indexed->fact.key);
        if ((inner == NULL || nearness(ch, &inner->fact) < nearness(ch, &indexed->fact)) &&
            !lc_map_put(&ch->inner, indexed->fact.key, indexed))
            status = lc_fail_memory(err);
    }
    return status;
}

static loci_status mark_seen(choosing *ch, loci_error *err)
{
    const fact_corpus *c = ch->c;
    const persona *p = ch->request->view.persona_id.len > 0
                           ? lc_map_find(&c->personas, ch->request->view.persona_id)
                           : NULL;
    lc_bitmap both;
    loci_status status = lc_bitmap_unite(&ch->seen, &c->open, err);

    if (status != LOCI_OK || p == NULL)
        return status == LOCI_OK ? mark_special(ch, &c->special, err) : status;
    lc_bitmap_init(&both, ch->arena->heap, LOCI_MEM_REQUESTS);
    status = lc_bitmap_unite(&both, &c->special, err);
    if (status == LOCI_OK)
        status = lc_bitmap_unite(&both, &p->facts, err);
    if (status == LOCI_OK)
        status = mark_special(ch, &both, err);
    lc_bitmap_clear(&both);
    return status;
}

/* Removes facts that a fact of an inner scope hides, in the order of writing. */
static loci_status hide_outer(choosing *ch, loci_error *err)
{
    lc_bitmap outer;
    size_t place = 0;
    const indexed_fact *inner;
    loci_status status = LOCI_OK;

    lc_bitmap_init(&outer, ch->arena->heap, LOCI_MEM_REQUESTS);
    while (status == LOCI_OK && (inner = lc_map_each(&ch->inner, &place)) != NULL) {
        const indexed_fact *other = lc_map_find(&ch->c->by_key, inner->fact.key);

        for (; other != NULL && status == LOCI_OK; other = other->next)
            if (lc_bitmap_has(&ch->seen, other->number) &&
                nearness(ch, &inner->fact) > nearness(ch, &other->fact))
                status = lc_bitmap_add(&outer, other->number, err);
    }
    for (uint32_t i = 0; status == LOCI_OK && lc_bitmap_next(&outer, i, &i); i++) {
        lc_bitmap_remove(&ch->seen, i);
        leave_out(ch, &fact_at(ch->c, i)->fact, &ch->out->scoped, "scope");
    }
    lc_bitmap_clear(&outer);
    return status;
}

/* ---- Taking ---------------------------------------------------------------------------------- */

loci_status lc_fact_line_parts(lc_arena *arena, const lc_fact *fact, loci_str *lead, loci_str *tail,
                               loci_error *err)
{
    bool is_official = lc_str_is(fact->memory_type, "organizational") && fact->source.len > 0;
    size_t bytes = fact->key.len + fact->source.len + 8;
    char *parts = lc_arena_alloc(arena, bytes);
    int len;

    if (parts == NULL)
        return lc_fail_memory(err);
    len = snprintf(parts, bytes, "%.*s: ", LC_STR_ARG(fact->key));
    *lead = (loci_str){parts, (size_t)len};
    *tail = LC_STR("");
    if (!is_official)
        return LOCI_OK;
    parts += len + 1;
    len = snprintf(parts, bytes - (size_t)len - 1, " (%.*s)", LC_STR_ARG(fact->source));
    *tail = (loci_str){parts, (size_t)len};
    return LOCI_OK;
}

/* A line is counted when it is first wanted, and the count stays with the fact. */
static loci_status count_line(choosing *ch, indexed_fact *fact, loci_error *err)
{
    lc_arena_mark mark = lc_arena_get_mark(ch->arena);
    loci_str parts[3] = {[1] = fact->text};
    char *line, *at;
    loci_status status;

    if (fact->line_tokens > 0 && fact->line_encoding == ch->request->encoding)
        return LOCI_OK;
    status = lc_fact_line_parts(ch->arena, &fact->fact, &parts[0], &parts[2], err);
    if (status != LOCI_OK)
        return status;
    line = at = lc_arena_alloc(ch->arena, parts[0].len + parts[1].len + parts[2].len + 3);
    if (line == NULL)
        return lc_fail_memory(err);
    for (size_t i = 0; i < 3; i++) {
        (void)put_text(&at, parts[i]);
        at--; /* The next part replaces the terminator. */
    }
    fact->line_tokens = lc_pack_line_tokens(ch->arena->heap, ch->request->counter, LC_FACT_BULLET,
                                            (loci_str){line, (size_t)(at - line)});
    fact->line_encoding = ch->request->encoding;
    lc_arena_rewind(ch->arena, mark);
    return LOCI_OK;
}

static loci_status take(choosing *ch, uint32_t number, float score, loci_error *err)
{
    indexed_fact *from = fact_at(ch->c, number);
    lc_chosen_fact *to = &ch->out->facts[ch->out->count];
    loci_status status = count_line(ch, from, err);

    if (status != LOCI_OK)
        return status;
    *to = (lc_chosen_fact){
        .fact = from->fact, .text = from->text, .score = score, .line_tokens = from->line_tokens};
    to->text = lc_arena_copy(ch->arena, to->text);
    if (to->text.ptr == NULL || !lc_fact_keep(ch->arena, &to->fact))
        return lc_fail_memory(err);
    lc_bitmap_remove(&ch->seen, number);
    ch->out->count++;
    return LOCI_OK;
}

static loci_status take_constraints(choosing *ch, loci_error *err)
{
    loci_status status = LOCI_OK;

    for (uint32_t i = 0; status == LOCI_OK && lc_bitmap_next(&ch->c->constraints, i, &i); i++)
        if (lc_bitmap_has(&ch->seen, i))
            status = take(ch, i, 0, err);
    return status;
}

static loci_status take_best(choosing *ch, loci_error *err)
{
    lc_recall_build build = build_of(ch->c);
    lc_corpus_vectors vectors;
    lc_corpus_hits hits = {0};
    loci_status status = lc_recall_load_vectors(ch->tx, &build, &vectors, err);

    if (status == LOCI_OK)
        status = lc_corpus_search(&ch->c->corpus,
                                  &(lc_corpus_query){.terms = ch->request->terms,
                                                     .vector = ch->request->vector,
                                                     .filter = &ch->seen,
                                                     .limit = ch->request->limit},
                                  ch->arena, &hits, err);
    ch->out->is_complete &= vectors.is_complete;
    ch->out->has_meaning = hits.has_vectors;
    for (size_t i = 0; i < hits.count && i < ch->request->limit && status == LOCI_OK; i++) {
        const lc_fused *hit = &hits.items[i];

        status = take(ch, hit->id, (float)(hits.has_vectors ? hit->score : hit->bm25), err);
        if (status == LOCI_OK)
            ch->out->facts[ch->out->count - 1].fused = *hit;
    }
    return status;
}

static loci_status take_newest(choosing *ch, size_t max, loci_error *err)
{
    loci_status status = LOCI_OK;

    for (uint32_t i = ch->c->corpus.count; i-- > 0 && ch->out->count < max && status == LOCI_OK;)
        if (lc_bitmap_has(&ch->seen, i))
            status = take(ch, i, 0, err);
    return status;
}

static void add_counts(const fact_corpus *c, loci_str persona_id, lc_fact_counts *out)
{
    const persona *p = lc_map_find(&c->personas, persona_id);

    if (p == NULL)
        return;
    out->superseded += p->past.superseded;
    out->retracted += p->past.retracted;
    out->claims += p->past.claims;
}

static loci_status choose(choosing *ch, loci_error *err)
{
    lc_fact_choice *out = ch->out;
    size_t limit = ch->request->limit;
    loci_status status = mark_seen(ch, err);

    if (status == LOCI_OK)
        status = hide_outer(ch, err);
    if (status == LOCI_OK) {
        out->facts = lc_arena_zalloc_array(ch->arena, ch->c->constraint_count + limit + 1,
                                           sizeof *out->facts);
        status = out->facts != NULL ? take_constraints(ch, err) : lc_fail_memory(err);
    }
    limit += out->count;
    if (status == LOCI_OK)
        status = take_best(ch, err);
    if (status == LOCI_OK)
        status = take_newest(ch, limit, err);
    out->irrelevant = (int64_t)lc_bitmap_count(&ch->seen);
    add_counts(ch->c, LC_STR(""), &out->past);
    if (ch->request->view.persona_id.len > 0)
        add_counts(ch->c, ch->request->view.persona_id, &out->past);
    return status;
}

static loci_status mark_review(void *ctx, const lc_fact *fact, loci_error *err)
{
    lc_fact_choice *out = ctx;

    (void)err;
    for (size_t i = 0; i < out->count; i++)
        if (lc_str_eq(out->facts[i].fact.id, fact->id))
            out->facts[i].fact.needs_review = true;
    return LOCI_OK;
}

loci_status lc_fact_choose(lc_tx *tx, const lc_fact_request *request, lc_arena *arena,
                           lc_fact_choice *out, loci_error *err)
{
    choosing ch = {.tx = tx, .request = request, .arena = arena, .out = out};
    void *state = NULL;
    loci_status status;

    *out = (lc_fact_choice){0};
    status = lc_tx_borrow(tx, &lc_fact_corpus_kind, &state, &out->is_complete, err);
    if (status != LOCI_OK)
        return status;
    ch.c = state;
    lc_bitmap_init(&ch.seen, arena->heap, LOCI_MEM_REQUESTS);
    lc_map_init(&ch.inner, arena->heap, LOCI_MEM_REQUESTS);
    status = choose(&ch, err);
    lc_bitmap_clear(&ch.seen);
    lc_map_clear(&ch.inner);
    lc_tx_give_back(tx, &lc_fact_corpus_kind, state);
    if (status == LOCI_OK)
        status = lc_fact_each_in_doubt(tx, mark_review, out, err);
    return status;
}
