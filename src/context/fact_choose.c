/* fact_choose.c - which facts a context is made from.
 *
 * First who may be seen: one look at every fact, cheap because nearly all are global and nobody's
 * own. Then all constraints, the best for the query by BM25, and the newest until the limit. What
 * needs a review is asked of the store: the mark can come and go without the fact being written. */
#include <stdio.h>

#include "base/assert.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "context/fact_index_private.h"

typedef struct choosing {
    lc_fact_index *index;
    lc_tx *tx;
    const lc_fact_request *request;
    lc_arena *arena;
    lc_fact_choice *out;
    lc_bitmap seen; /* Places that may be chosen. */
    lc_map inner; /* Keys that an inner scope or a persona has a fact of: outer ones are hidden. */
    size_t seen_count;
} choosing;

/* ---- Who may be seen ------------------------------------------------------------------------- */

/* How near a fact is: 0 not in the view, 1 everywhere, then the session's, then the scope's; twice,
 * so that a persona's own goes before. */
#define PLAIN 2

static int nearness(const choosing *c, const lc_indexed_fact *indexed)
{
    const lc_fact_view *view = &c->request->view;
    const lc_fact *fact = &indexed->fact;
    int near = 0;

    if (indexed->is_plain)
        return PLAIN;
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

static void leave_out(choosing *c, const lc_fact *fact, const char *reason)
{
    lc_fact_choice *out = c->out;
    size_t max = sizeof out->left_out / sizeof *out->left_out;
    loci_str id;

    if (out->left_out_count == max)
        return;
    id = lc_arena_copy(c->arena, fact->id);
    if (id.ptr == NULL)
        return; /* It is counted; its name is a courtesy. */
    out->left_out[out->left_out_count].id = id;
    out->left_out[out->left_out_count++].reason = reason;
}

/* Counts and names a fact that is not to be seen; false for one that is. */
static bool is_hidden(choosing *c, const lc_indexed_fact *indexed)
{
    const lc_fact *fact = &indexed->fact;
    int near = nearness(c, indexed);

    if (near == 0) {
        if (fact->persona_id.len == 0) {
            c->out->scoped++;
            leave_out(c, fact, "scope");
        }
        return true;
    }
    if (lc_fact_is_expired(fact, c->tx->now_us)) {
        c->out->expired++;
        leave_out(c, fact, "expired");
        return true;
    }
    if (lc_fact_is_restricted(fact) && !lc_fact_may_read(fact, &c->request->view.access)) {
        c->out->restricted++;
        leave_out(c, fact, "restricted");
        return true;
    }
    return false;
}

static loci_status mark_seen(choosing *c, loci_error *err)
{
    lc_fact_index *index = c->index;
    loci_status status = lc_bitmap_reserve(&c->seen, index->count + 1, err);

    for (size_t i = 0; i < index->count && status == LOCI_OK; i++) {
        lc_indexed_fact *fact = index->places[i];
        const lc_indexed_fact *inner;

        if (fact == NULL || is_hidden(c, fact))
            continue;
        status = lc_bitmap_add(&c->seen, (uint32_t)i, err);
        if (status != LOCI_OK || nearness(c, fact) == PLAIN)
            continue;
        inner = lc_map_find(&c->inner, fact->fact.key);
        if ((inner == NULL || nearness(c, inner) < nearness(c, fact)) &&
            !lc_map_put(&c->inner, fact->fact.key, fact))
            status = lc_fail_memory(err);
    }
    return status;
}

/* What an inner scope hides. */
static void hide_outer(choosing *c)
{
    for (size_t i = 0; c->inner.entry_count > 0 && i < c->index->count; i++) {
        const lc_indexed_fact *fact = c->index->places[i];
        const lc_indexed_fact *inner;

        if (fact == NULL || !lc_bitmap_has(&c->seen, (uint32_t)i))
            continue;
        inner = lc_map_find(&c->inner, fact->fact.key);
        if (inner != NULL && nearness(c, inner) > nearness(c, fact)) {
            lc_bitmap_remove(&c->seen, (uint32_t)i);
            c->out->scoped++;
            leave_out(c, &fact->fact, "scope");
        }
    }
}

/* ---- Taking ---------------------------------------------------------------------------------- */

loci_status lc_fact_line(lc_arena *arena, const lc_fact *fact, loci_str text, loci_str *out,
                         loci_error *err)
{
    bool is_official = lc_str_is(fact->memory_type, "organizational") && fact->source.len > 0;
    size_t bytes = fact->key.len + 2 + text.len + (is_official ? fact->source.len + 3 : 0);
    char *line = lc_arena_alloc(arena, bytes + 1);
    int len;

    if (line == NULL)
        return lc_fail_memory(err);
    memcpy(line, fact->key.ptr, fact->key.len);
    memcpy(line + fact->key.len, ": ", 2);
    memcpy(line + fact->key.len + 2, text.ptr, text.len);
    line[fact->key.len + 2 + text.len] = '\0';
    if (is_official) {
        char *at = line + fact->key.len + 2 + text.len;

        len = snprintf(at, fact->source.len + 4, " (%.*s)", (int)fact->source.len,
                       fact->source.ptr);
        LC_ASSERT(len == (int)fact->source.len + 3);
    }
    *out = (loci_str){line, bytes};
    return LOCI_OK;
}

/* A line is counted when it is first wanted, and the count stays with the fact. */
static loci_status count_line(choosing *c, lc_indexed_fact *fact, loci_error *err)
{
    lc_arena_mark mark = lc_arena_get_mark(c->arena);
    loci_str line;
    loci_status status;

    if (fact->line_tokens > 0 && fact->line_encoding == c->request->encoding)
        return LOCI_OK;
    status = lc_fact_line(c->arena, &fact->fact, fact->text, &line, err);
    if (status != LOCI_OK)
        return status;
    fact->line_tokens = lc_pack_line_tokens(c->arena->heap, c->request->counter, LC_FACT_BULLET,
                                            line);
    fact->line_encoding = c->request->encoding;
    lc_arena_rewind(c->arena, mark);
    return LOCI_OK;
}

static loci_status take(choosing *c, uint32_t place, float score, loci_error *err)
{
    lc_indexed_fact *from = c->index->places[place];
    loci_status status = count_line(c, from, err);
    lc_source_fact *to = &c->out->facts[c->out->count];
    loci_str *texts[] = {&to->fact.id,
                         &to->fact.key,
                         &to->fact.value,
                         &to->fact.source,
                         &to->fact.trust,
                         &to->fact.memory_type,
                         &to->fact.scope,
                         &to->fact.scope_id,
                         &to->fact.persona_id,
                         &to->fact.authority.name,
                         &to->text};

    if (status != LOCI_OK)
        return status;
    *to = (lc_source_fact){
        .fact = from->fact, .text = from->text, .score = score, .line_tokens = from->line_tokens};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        if (texts[i]->ptr == NULL)
            continue;
        *texts[i] = lc_arena_copy(c->arena, *texts[i]);
        if (texts[i]->ptr == NULL)
            return lc_fail_memory(err);
    }
    lc_bitmap_remove(&c->seen, place);
    c->out->count++;
    return LOCI_OK;
}

static loci_status take_constraints(choosing *c, loci_error *err)
{
    loci_status status = LOCI_OK;

    for (uint32_t i = 0; status == LOCI_OK && lc_bitmap_next(&c->seen, i, &i); i++)
        if (c->index->places[i]->fact.is_constraint)
            status = take(c, i, 0, err);
    return status;
}

static loci_status take_best(choosing *c, loci_error *err)
{
    lc_hit *hits = lc_arena_zalloc_array(c->arena, c->request->limit + 1, sizeof *hits);
    lc_stemmer stemmer = {0};
    lc_postings_term *terms = NULL;
    lc_words words = {0};
    size_t found = 0;
    loci_status status = hits != NULL ? lc_stemmer_init(&stemmer, LC_STEM_ENGLISH, err)
                                      : lc_fail_memory(err);

    if (status == LOCI_OK)
        status = lc_terms_split(&stemmer, c->arena, c->request->query, &words, err);
    if (status == LOCI_OK) {
        words.count = words.count > LC_QUERY_TERMS_MAX ? LC_QUERY_TERMS_MAX : words.count;
        terms = lc_arena_zalloc_array(c->arena, words.count + 1, sizeof *terms);
        status = terms != NULL ? LOCI_OK : lc_fail_memory(err);
    }
    for (size_t i = 0; i < words.count && status == LOCI_OK; i++)
        terms[i] = (lc_postings_term){words.items[i], 1};
    if (status == LOCI_OK)
        status = lc_postings_search(c->index->postings,
                                    &(lc_postings_query){.terms = terms,
                                                         .term_count = words.count,
                                                         .filter = &c->seen,
                                                         .limit = c->request->limit},
                                    hits, &found, err);
    for (size_t i = 0; i < found && status == LOCI_OK; i++)
        status = take(c, hits[i].id, hits[i].score, err);
    lc_stemmer_clear(&stemmer);
    return status;
}

static loci_status take_newest(choosing *c, size_t max, loci_error *err)
{
    loci_status status = LOCI_OK;

    for (size_t i = c->index->count; i-- > 0 && c->out->count < max && status == LOCI_OK;)
        if (lc_bitmap_has(&c->seen, (uint32_t)i))
            status = take(c, (uint32_t)i, 0, err);
    return status;
}

/* ---- Reviews --------------------------------------------------------------------------------- */

static loci_status note_review(void *ctx, const lc_fact *fact, loci_error *err)
{
    lc_fact_choice *out = ctx;

    (void)err;
    for (size_t i = 0; i < out->count; i++)
        if (lc_str_eq(out->facts[i].fact.id, fact->id))
            out->facts[i].fact.needs_review = true;
    return LOCI_OK;
}

static loci_status choose(choosing *c, loci_error *err)
{
    size_t constraints, room = c->index->constraints + c->request->limit + 1;
    loci_status status = mark_seen(c, err);

    if (status != LOCI_OK)
        return status;
    hide_outer(c);
    c->out->facts = lc_arena_zalloc_array(c->arena, room, sizeof *c->out->facts);
    if (c->out->facts == NULL)
        return lc_fail_memory(err);
    status = take_constraints(c, err);
    constraints = c->out->count;
    if (status == LOCI_OK && c->index->postings != NULL)
        status = take_best(c, err);
    if (status == LOCI_OK)
        status = take_newest(c, constraints + c->request->limit, err);
    c->out->irrelevant = (int64_t)lc_bitmap_count(&c->seen);
    for (size_t i = 0; i < c->out->count; i++)
        c->out->facts[i].fact.needs_review = false;
    if (status == LOCI_OK)
        status = lc_fact_each_in_doubt(c->tx, note_review, c->out, err);
    return status;
}

loci_status lc_fact_index_choose(lc_fact_index *index, lc_tx *tx, const lc_fact_request *request,
                                 lc_arena *arena, lc_fact_choice *out, loci_error *err)
{
    choosing c = {.index = index, .tx = tx, .request = request, .arena = arena, .out = out};
    loci_status status;

    memset(out, 0, sizeof *out);
    lc_bitmap_init(&c.seen, arena->heap, LOCI_MEM_REQUESTS);
    lc_map_init(&c.inner, arena->heap, LOCI_MEM_REQUESTS);
    status = choose(&c, err);
    out->past = index->past;
    if (status == LOCI_OK && request->view.persona_id.len > 0) {
        memset(&out->past, 0, sizeof out->past);
        status = lc_fact_count_past(
            tx, &(lc_fact_recent){.persona_id = request->view.persona_id, .after_seq = -1},
            &out->past, err);
    }
    lc_bitmap_clear(&c.seen);
    lc_map_clear(&c.inner);
    return status;
}
