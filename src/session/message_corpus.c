/* message_corpus.c - keeping a user's messages in memory, and searching them.
 *
 * Messages are only ever added, so building and catching up are the same: pages in the order of
 * seq. Ids of sessions and personas and names of roles are interned: a record holds numbers, and a
 * filter compares numbers. The filter is made by one pass over the records, which takes about a
 * nanosecond per message; a search that can see everything needs none.
 */
#include "session/message_corpus.h"

#include <string.h>

#include "base/assert.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/map.h"
#include "base/str.h"
#include "store/embedding.h"
#include "store/vector.h"
#include "text/word.h"

#define PAGE_ROWS 256
#define SEARCH_LOAD_US 200000 /* Time that one search spends on loading vectors. */
/* Hits of each kind that are fused, whatever the limit: so the first 5 of 10 are the 5 of 5. */
#define SEARCH_DEPTH 100
#define READ_ROWS 16 /* Hits that one statement reads. */

_Static_assert(LC_MESSAGE_HITS_MAX <= SEARCH_DEPTH, "as many hits as are asked for");

/* A text that many messages share. The empty one has the number 0. */
typedef struct name {
    uint32_t number;
    loci_str text;
} name;

typedef struct record {
    int64_t seq;
    int64_t at;
    uint32_t session, persona, role; /* Numbers of names. */
} record;

typedef struct message_corpus {
    lc_heap *heap;
    lc_corpus corpus; /* Records: record */
    lc_arena names_arena;
    lc_map names; /* name */
    uint32_t name_count;
    size_t name_bytes;
    uint32_t of_personas; /* How many messages belong to a persona. */
} message_corpus;

static const record *record_of(const message_corpus *c, uint32_t number)
{
    return lc_corpus_record(&c->corpus, number);
}

/* ---- Life ------------------------------------------------------------------------------------ */

static void close_state(void *state)
{
    message_corpus *c = state;

    if (c == NULL)
        return;
    lc_corpus_clear(&c->corpus);
    lc_map_clear(&c->names);
    lc_arena_clear(&c->names_arena);
    lc_heap_free(c->heap, c, sizeof *c, LOCI_MEM_INDEX);
}

static loci_status open_state(lc_heap *heap, void **out, loci_error *err)
{
    message_corpus *c = lc_heap_zalloc(heap, sizeof *c, LOCI_MEM_INDEX);
    loci_status status;

    if (c == NULL)
        return lc_fail_memory(err);
    c->heap = heap;
    lc_arena_init(&c->names_arena, heap, LOCI_MEM_INDEX);
    lc_map_init(&c->names, heap, LOCI_MEM_INDEX);
    status = lc_corpus_init(&c->corpus, heap, sizeof(record), err);
    if (status == LOCI_OK)
        *out = c;
    else
        close_state(c);
    return status;
}

static size_t bytes_of(const void *state)
{
    const message_corpus *c = state;

    return sizeof *c + lc_corpus_bytes(&c->corpus) + c->name_bytes +
           c->names.place_count * sizeof(lc_map_entry);
}

/* ---- Catching up ----------------------------------------------------------------------------- */

static const lc_sql page_sql = {
    "select seq, observed_at, session_id, persona_id, role, body from messages"
    " where tenant_id = $1 and user_id = $2 and seq > $3 order by seq limit $4",
    "ttii", "iitttt"};

static const lc_sql text_sql = {
    "select body from messages where tenant_id = $1 and user_id = $2 and seq = $3", "tti", "t"};

static loci_status intern(message_corpus *c, loci_str text, uint32_t *out, loci_error *err)
{
    name *known;

    *out = 0;
    if (text.len == 0)
        return LOCI_OK;
    known = lc_map_find(&c->names, text);
    if (known == NULL) {
        known = lc_arena_alloc(&c->names_arena, sizeof *known);
        if (known == NULL)
            return lc_fail_memory(err);
        *known = (name){.number = c->name_count + 1, .text = lc_arena_copy(&c->names_arena, text)};
        if (known->text.ptr == NULL || !lc_map_put(&c->names, known->text, known))
            return lc_fail_memory(err);
        c->name_count++;
        c->name_bytes += sizeof *known + text.len + 1;
    }
    *out = known->number;
    return LOCI_OK;
}

/* The number of a name, or one that no record has. */
static uint32_t number_of(const message_corpus *c, loci_str text)
{
    const name *known = text.len > 0 ? lc_map_find(&c->names, text) : NULL;

    return known != NULL ? known->number : text.len > 0 ? UINT32_MAX : 0;
}

static loci_status add_message(message_corpus *c, const lc_rows *rows, lc_arena *arena,
                               loci_error *err)
{
    loci_str text = lc_rows_str(rows, 5);
    record r = {.seq = lc_rows_i64(rows, 0), .at = lc_rows_i64(rows, 1)};
    uint32_t number;
    loci_status status = intern(c, lc_rows_str(rows, 2), &r.session, err);

    if (status == LOCI_OK)
        status = intern(c, lc_rows_str(rows, 3), &r.persona, err);
    if (status == LOCI_OK)
        status = intern(c, lc_rows_str(rows, 4), &r.role, err);
    if (status != LOCI_OK)
        return status;
    status = lc_corpus_add(&c->corpus,
                           &(lc_corpus_document){.text = text,
                                                 .content = lc_str_trim(text).len > 0
                                                                ? lc_vector_content(text)
                                                                : LC_CORPUS_NO_VECTOR,
                                                 .record = &r},
                           arena, &number, err);
    c->of_personas += status == LOCI_OK && r.persona != 0;
    return status;
}

static loci_status add_page(message_corpus *c, lc_tx *tx, int64_t *seen_seq, size_t *out_count,
                            loci_error *err)
{
    lc_arg args[] = {LC_T(tx->tenant_id), LC_T(tx->user_id), LC_I(*seen_seq), LC_I(PAGE_ROWS)};
    lc_arena arena;
    lc_rows rows;
    loci_status status = lc_tx_query(tx, &page_sql, args, &rows, err);

    *out_count = 0;
    lc_arena_init(&arena, c->heap, LOCI_MEM_REQUESTS);
    while (status == LOCI_OK && lc_rows_next(&rows, &status, err)) {
        *seen_seq = lc_rows_i64(&rows, 0);
        ++*out_count;
        status = add_message(c, &rows, &arena, err);
    }
    lc_rows_end(&rows);
    lc_arena_clear(&arena);
    return status;
}

/* The text of a message that has no vector in the store yet. */
static loci_status read_text(void *ctx, const void *of, lc_arena *arena, loci_str *out,
                             loci_error *err)
{
    lc_tx *tx = ctx;
    lc_rows rows = {0};
    bool found = false;
    loci_status status = lc_tx_find(
        tx, &text_sql,
        (lc_arg[]){LC_T(tx->tenant_id), LC_T(tx->user_id), LC_I(((const record *)of)->seq)}, &rows,
        &found, err);

    if (status == LOCI_OK && !found)
        status = lc_fail(err, LOCI_ECORRUPT, "messages: seq %lld is missing",
                         (long long)((const record *)of)->seq);
    if (status == LOCI_OK) {
        *out = lc_arena_copy(arena, lc_rows_str(&rows, 0));
        if (out->ptr == NULL)
            status = lc_fail_memory(err);
    }
    lc_rows_end(&rows);
    return status;
}

/* Loads vectors until `pause_us`; `out` says which of them count. */
static loci_status follow_vectors(message_corpus *c, lc_tx *tx, int64_t pause_us,
                                  lc_corpus_vectors *out, loci_error *err)
{
    loci_status status;

    *out = (lc_corpus_vectors){.is_complete = true};
    if (tx->embedding == NULL)
        return LOCI_OK;
    *out = (lc_corpus_vectors){.generation = loci_str_of(tx->embedding->generation),
                               .dimensions = tx->embedding->dimensions,
                               .find = lc_embedding_find,
                               .text = read_text,
                               .embed = lc_embedding_make,
                               .ctx = tx,
                               .pause_us = pause_us};
    status = lc_corpus_follow_vectors(&c->corpus, out, err);
    tx->embedding->wants_job |= out->wants_job;
    return status;
}

static loci_status catch_up(void *state, lc_tx *tx, lc_catch_up *step, loci_error *err)
{
    message_corpus *c = state;
    lc_corpus_vectors vectors;
    size_t count = PAGE_ROWS;
    loci_status status = LOCI_OK;

    step->is_complete = false;
    while (status == LOCI_OK && count == PAGE_ROWS) {
        status = add_page(c, tx, &step->seen_seq, &count, err);
        if (count == PAGE_ROWS && lc_clock_monotonic_us() >= step->pause_us)
            return status;
    }
    step->seen_seq = step->head_seq;
    if (status == LOCI_OK)
        status = follow_vectors(c, tx, step->pause_us, &vectors, err);
    step->is_complete = status == LOCI_OK && vectors.is_complete;
    return status;
}

const lc_user_kind lc_message_corpus_kind = {.name = "message.corpus",
                                             .open = open_state,
                                             .catch_up = catch_up,
                                             .bytes = bytes_of,
                                             .close = close_state};

/* ---- Texts to embed -------------------------------------------------------------------------- */

static const lc_sql embed_sql = {
    "select id, body from messages where tenant_id = $1 and user_id = $2 and seq > $3"
    " order by seq limit $4",
    "ttii", "tt"};

static loci_status each_text(lc_tx *tx, const lc_embed_page *page, lc_embed_visit *visit, void *ctx,
                             loci_error *err)
{
    lc_id_parts after = {.seq = -1};
    lc_rows rows;
    loci_status status;

    if (!lc_id_parse(page->cursor, "msg", &after))
        after.seq = -1; /* The first page. */
    status = lc_tx_query(
        tx, &embed_sql,
        (lc_arg[]){LC_T(page->tenant_id), LC_T(page->user_id), LC_I(after.seq), LC_I(page->limit)},
        &rows, err);
    while (status == LOCI_OK && lc_rows_next(&rows, &status, err))
        status = visit(ctx, lc_rows_str(&rows, 1), lc_rows_str(&rows, 0), err);
    lc_rows_end(&rows);
    return status;
}

const lc_embed_source lc_message_embed_source = {.name = "message", .each = each_text};

/* ---- Searching ------------------------------------------------------------------------------- */

typedef struct searching {
    message_corpus *c;
    lc_tx *tx;
    const lc_message_query *query;
    lc_arena *arena;
    lc_words sessions; /* Ids that `query->session` means, when it is given. */
    lc_message_hits *out;
} searching;

static const lc_sql session_by_id_sql = {
    "select id from sessions where tenant_id = $1 and user_id = $2 and id = $3"
    " and persona_id in ('', $4)",
    "tttt", "t"};

static const lc_sql sessions_by_name_sql = {
    "select id from sessions where tenant_id = $1 and user_id = $2 and external_id = $3"
    " and persona_id in ('', $4) order by seq",
    "tttt", "t"};

static const lc_sql hits_sql = {
    "select {m.row}, s.external_id from messages m left join sessions s"
    " on s.tenant_id = m.tenant_id and s.user_id = m.user_id and s.id = m.session_id"
    " where m.tenant_id = $1 and m.user_id = $2 and m.seq in ("
    "$3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18)",
    "ttiiiiiiiiiiiiiiii", "t", &lc_message_row};

/* The sessions that are meant. */
static loci_status find_sessions(searching *s, loci_error *err)
{
    loci_str persona_id = s->query->persona_id.ptr != NULL ? s->query->persona_id : LC_STR("");
    bool is_id = lc_id_is(s->query->session, "ses");
    lc_arg args[] = {LC_T(s->tx->tenant_id), LC_T(s->tx->user_id), LC_T(s->query->session),
                     LC_T(persona_id)};
    lc_rows rows;
    loci_status status = lc_tx_query(s->tx, is_id ? &session_by_id_sql : &sessions_by_name_sql,
                                     args, &rows, err);

    while (status == LOCI_OK && lc_rows_next(&rows, &status, err)) {
        loci_str id = lc_arena_copy(s->arena, lc_rows_str(&rows, 0));

        if (id.ptr == NULL || !lc_words_add(&s->sessions, s->arena, id))
            status = lc_fail_memory(err);
    }
    lc_rows_end(&rows);
    if (status == LOCI_OK && is_id && s->sessions.count == 0)
        status = lc_fail(err, LOCI_ENOTFOUND, "session: there is no session %.*s",
                         LC_STR_ARG(s->query->session));
    return status;
}

/* The messages that the reader may see and asked for. `*out_is_all`: no filter is needed. */
static loci_status make_filter(const searching *s, lc_bitmap *out, bool *out_is_all,
                               loci_error *err)
{
    const message_corpus *c = s->c;
    const lc_message_query *q = s->query;
    uint32_t persona = number_of(c, q->persona_id), role = number_of(c, q->role);
    bool has_times = q->from_us != INT64_MIN || q->to_us != INT64_MAX;
    lc_bitmap sessions; /* By number of their name. */
    loci_status status;

    *out_is_all = c->of_personas == 0 && q->role.len == 0 && q->session.len == 0 && !has_times;
    if (*out_is_all)
        return LOCI_OK;
    status = lc_bitmap_reserve(out, (size_t)c->corpus.count + 1, err);
    lc_bitmap_init(&sessions, s->arena->heap, LOCI_MEM_REQUESTS);
    for (size_t i = 0; i < s->sessions.count && status == LOCI_OK; i++) {
        uint32_t number = number_of(c, s->sessions.items[i]);

        if (number != UINT32_MAX) /* Else nothing was said in it. */
            status = lc_bitmap_add(&sessions, number, err);
    }
    for (uint32_t i = 0; i < c->corpus.count && status == LOCI_OK; i++) {
        const record *r = record_of(c, i);

        if ((r->persona == 0 || r->persona == persona) && (role == 0 || r->role == role) &&
            r->at >= q->from_us && r->at < q->to_us &&
            (q->session.len == 0 || lc_bitmap_has(&sessions, r->session)))
            (void)lc_bitmap_add(out, i, NULL); /* There is room. */
    }
    lc_bitmap_clear(&sessions);
    return status;
}

/* Finds the best messages: their seqs and scores. */
static loci_status rank(searching *s, int64_t *seqs, loci_error *err)
{
    lc_bitmap filter;
    bool is_all = false;
    lc_corpus_vectors vectors;
    lc_corpus_hits hits = {0};
    loci_status status;

    lc_bitmap_init(&filter, s->arena->heap, LOCI_MEM_REQUESTS);
    status = make_filter(s, &filter, &is_all, err);
    if (status == LOCI_OK)
        status = follow_vectors(s->c, s->tx, lc_clock_monotonic_us() + SEARCH_LOAD_US, &vectors,
                                err);
    if (status == LOCI_OK) {
        s->out->is_complete &= vectors.is_complete;
        status = lc_corpus_search(&s->c->corpus,
                                  &(lc_corpus_query){.terms = s->query->terms,
                                                     .vector = s->query->vector,
                                                     .vector_end = vectors.end,
                                                     .filter = is_all ? NULL : &filter,
                                                     .limit = SEARCH_DEPTH},
                                  s->arena, &hits, err);
    }
    lc_bitmap_clear(&filter);
    for (size_t i = 0; i < hits.count && s->out->count < s->query->limit; i++) {
        if (hits.items[i].score <= 0)
            break;
        seqs[s->out->count] = record_of(s->c, hits.items[i].id)->seq;
        s->out->items[s->out->count++].score = hits.items[i];
    }
    return status;
}

/* Reads at most READ_ROWS messages; unused parameters repeat the last. */
static loci_status read_rows(const searching *s, const int64_t *seqs, lc_message_hit *hits,
                             size_t count, loci_error *err)
{
    lc_arg args[2 + READ_ROWS] = {LC_T(s->tx->tenant_id), LC_T(s->tx->user_id)};
    lc_rows rows;
    lc_message message;
    loci_status status;

    for (size_t i = 0; i < READ_ROWS; i++)
        args[2 + i] = LC_I(seqs[i < count ? i : count - 1]);
    status = lc_tx_query(s->tx, &hits_sql, args, &rows, err);
    while (lc_row_next(&rows, &message, &status, err)) {
        loci_str external_id = lc_rows_str(&rows, rows.row_columns);
        size_t i = 0;

        while (i < count && seqs[i] != message.seq)
            i++;
        LC_ASSERT(i < count);
        hits[i] = (lc_message_hit){.message = message, .score = hits[i].score};
        if (external_id.ptr != NULL)
            hits[i].external_id = lc_arena_copy(s->arena, external_id);
        if (!lc_row_keep(&lc_message_row, s->arena, &hits[i].message) ||
            (external_id.ptr != NULL && hits[i].external_id.ptr == NULL))
            status = lc_fail_memory(err);
    }
    lc_rows_end(&rows);
    for (size_t i = 0; i < count && status == LOCI_OK; i++)
        if (hits[i].message.id.len == 0)
            status = lc_fail(err, LOCI_ECORRUPT, "messages: seq %lld is missing",
                             (long long)seqs[i]);
    return status;
}

loci_status lc_message_search(lc_tx *tx, const lc_message_query *query, lc_arena *arena,
                              lc_message_hits *out, loci_error *err)
{
    searching s = {.tx = tx, .query = query, .arena = arena, .out = out};
    int64_t seqs[LC_MESSAGE_HITS_MAX];
    void *state = NULL;
    loci_status status = LOCI_OK;

    LC_ASSERT(query->limit <= LC_MESSAGE_HITS_MAX);
    *out = (lc_message_hits){
        .items = lc_arena_zalloc_array(arena, query->limit + 1, sizeof *out->items)};
    if (out->items == NULL)
        return lc_fail_memory(err);
    if (query->session.len > 0)
        status = find_sessions(&s, err);
    if (status == LOCI_OK)
        status = lc_tx_borrow(tx, &lc_message_corpus_kind, &state, &out->is_complete, err);
    if (status != LOCI_OK)
        return status;
    s.c = state;
    status = rank(&s, seqs, err);
    lc_tx_give_back(tx, &lc_message_corpus_kind, state);
    for (size_t at = 0, count; at < out->count && status == LOCI_OK; at += count) {
        count = out->count - at < READ_ROWS ? out->count - at : READ_ROWS;
        status = read_rows(&s, seqs + at, out->items + at, count, err);
    }
    return status;
}
