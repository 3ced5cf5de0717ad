/* recall.c - see recall.h.
 *
 * Building and catching up are the same: rows that ended are removed, then pages of new ones are
 * added in the order of seq. A removed row keeps its seq, so records are sorted by it. Persona
 * ids and tags are interned: a record holds numbers, and the filter compares numbers. The filter is
 * made by one pass over the records, which takes about a nanosecond per row; a search that can see
 * everything needs none.
 */
#include "recall/recall.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/map.h"
#include "store/row.h"

#define PAGE_ROWS 500
#define CHECK_BYTES (64u * 1024) /* Of texts between two checks of the clock. */
/* Hits of each kind that are fused, at least: so the first 5 of 10 are the 5 of 5. */
#define SEARCH_DEPTH_MIN 100
#define READ_ROWS 16 /* Rows that one statement reads: see LC_RECALL_SEQS. */
#define FIND_MAX 64  /* Vectors that one statement looks up. */

/* On conversations with questions (bench/talk) any pair of shares near these does about as well. */
#define SHARES (1 + LC_RECALL_NEXT_SHARE + LC_RECALL_SECOND_SHARE)
#define NEIGHBOUR_REACH 8 /* Maximum number of rows of other threads between two neighbours. */

_Static_assert(sizeof LC_RECALL_SEQ_PARAMS - 1 == 2 + READ_ROWS, "one parameter per row");

enum { SEQ_COLUMN, TIME_COLUMN, TEXT_COLUMN, PERSONA_COLUMN, TAGS_COLUMN };

static loci_str text_of_row(const lc_rows *rows)
{
    return lc_rows_str(rows, TEXT_COLUMN);
}

/* ---- Filling a corpus ------------------------------------------------------------------------ */

/* Context of the callbacks of a corpus, which does not know the store. */
typedef struct loading {
    lc_tx *tx;
    const lc_recall_build *build;
} loading;

static lc_vector_set set_of(const lc_tx *tx)
{
    return (lc_vector_set){.tenant_id = tx->tenant_id,
                           .user_id = tx->user_id,
                           .generation = loci_str_of(tx->embedding->generation),
                           .dimensions = tx->embedding->dimensions};
}

static loci_status find_vectors(void *ctx, lc_corpus_vector *wanted, size_t count, loci_error *err)
{
    lc_tx *tx = ((loading *)ctx)->tx;
    lc_vector_set set = set_of(tx);
    lc_vector vectors[FIND_MAX];
    loci_status status;

    LC_ASSERT(count <= FIND_MAX);
    for (size_t i = 0; i < count; i++)
        vectors[i] = (lc_vector){.content = wanted[i].content, .codes = wanted[i].codes};
    status = lc_vector_find(tx, &set, vectors, count, err);
    for (size_t i = 0; i < count && status == LOCI_OK; i++) {
        wanted[i].found = vectors[i].found;
        wanted[i].scale = vectors[i].scale;
    }
    return status;
}

/* lc_corpus_visit as an lc_vector_visit. */
typedef struct visiting {
    lc_corpus_visit *visit;
    void *ctx;
} visiting;

static void visit_vector(void *ctx, const lc_vector *vector)
{
    const visiting *v = ctx;

    v->visit(v->ctx, vector->content, (lc_vector_code){vector->codes, vector->scale});
}

static loci_status scan_vectors(void *ctx, lc_hash128 after, size_t limit, lc_corpus_visit *visit,
                                void *visit_ctx, loci_error *err)
{
    lc_tx *tx = ((loading *)ctx)->tx;
    lc_vector_set set = set_of(tx);
    visiting v = {visit, visit_ctx};
    size_t count;

    return lc_vector_scan(
        tx, &set,
        &(lc_vector_page){.after = after, .limit = limit, .visit = visit_vector, .ctx = &v}, &count,
        err);
}

static loci_status find_text(void *ctx, const void *record, lc_arena *arena, loci_str *out,
                             loci_error *err)
{
    const loading *l = ctx;

    return l->build->text(l->build->state, l->tx, record, arena, out, err);
}

static loci_status make_vectors(void *ctx, const loci_str *texts, size_t count, float *out,
                                loci_error *err)
{
    lc_tx *tx = ((loading *)ctx)->tx;

    return tx->embedding->embed(tx->embedding->ctx, tx, texts, count, out, err);
}

static loci_status load_vectors(lc_tx *tx, const lc_recall_build *build, int64_t pause_us,
                                lc_corpus_vectors *out, loci_error *err)
{
    loading l = {tx, build};
    loci_status status;

    *out = (lc_corpus_vectors){.is_complete = true};
    if (tx->embedding == NULL)
        return LOCI_OK;
    *out = (lc_corpus_vectors){.generation = loci_str_of(tx->embedding->generation),
                               .dimensions = tx->embedding->dimensions,
                               .find = find_vectors,
                               .scan = scan_vectors,
                               .is_given = tx->embedding->is_given,
                               .text = find_text,
                               .embed = make_vectors,
                               .ctx = &l,
                               .pause_us = pause_us};
    status = lc_corpus_follow_vectors(build->corpus, out, err);
    tx->embedding->wants_job |= out->wants_job;
    return status;
}

loci_status lc_recall_load_vectors(lc_tx *tx, const lc_recall_build *build, lc_corpus_vectors *out,
                                   loci_error *err)
{
    return load_vectors(tx, build, lc_tx_slice_end_us(tx), out, err);
}

static size_t bytes_of_row(const lc_rows *rows)
{
    size_t bytes = 0;

    for (int i = 0; i < rows->column_count; i++)
        if (rows->kinds[i] == 't')
            bytes += lc_rows_str(rows, i).len;
    return bytes;
}

/* Adds the next rows. `*out_is_last`: there are no others. Long texts take long: the time is
 * checked within the page, too. */
static loci_status add_page(lc_tx *tx, const lc_recall_build *build, lc_catch_up *step,
                            bool *out_is_last, loci_error *err)
{
    lc_arg args[] = {LC_T(tx->tenant_id), LC_T(tx->user_id), LC_I(step->seen_seq), LC_I(PAGE_ROWS)};
    size_t count = 0, bytes = 0;
    bool is_cut = false;
    lc_arena arena;
    lc_rows rows;
    loci_status status = lc_tx_query(tx, build->rows, args, &rows, err);

    lc_arena_init(&arena, &tx->db->env->heap, LOCI_MEM_REQUESTS);
    while (status == LOCI_OK && !is_cut && lc_rows_next(&rows, &status, err)) {
        lc_arena_mark mark = lc_arena_get_mark(&arena);

        bytes += bytes_of_row(&rows);
        status = build->add(build->state, &rows, &arena, &step->seen_seq, err);
        count++;
        if (bytes >= CHECK_BYTES) {
            is_cut = lc_clock_monotonic_us() >= step->pause_us;
            bytes = 0;
        }
        lc_arena_rewind(&arena, mark);
    }
    lc_rows_end(&rows);
    lc_arena_clear(&arena);
    *out_is_last = !is_cut && count < PAGE_ROWS;
    return status;
}

loci_status lc_recall_follow(lc_tx *tx, const lc_recall_build *build, lc_catch_up *step,
                             loci_error *err)
{
    lc_corpus_vectors vectors;
    bool is_last = false;
    loci_status status = LOCI_OK;

    step->is_complete = false;
    while (status == LOCI_OK && !is_last) {
        status = add_page(tx, build, step, &is_last, err);
        if (!is_last && lc_clock_monotonic_us() >= step->pause_us)
            return status;
    }
    step->seen_seq = step->head_seq;
    if (status == LOCI_OK)
        status = load_vectors(tx, build, step->pause_us, &vectors, err);
    step->is_complete = status == LOCI_OK && vectors.is_complete;
    return status;
}

/* ---- The index of a source ------------------------------------------------------------------- */

/* A text that many rows share. The empty one has the number 0. */
typedef struct name {
    uint32_t number;
    loci_str text;
} name;

typedef struct record {
    int64_t seq;
    int64_t at;
    uint32_t persona, tags[LC_RECALL_TAGS_MAX]; /* Numbers of names. */
} record;

typedef struct recall {
    const lc_recall_source *source;
    lc_heap *heap;
    lc_corpus corpus; /* Records: record */
    lc_arena names_arena;
    lc_map names; /* name */
    uint32_t name_count;
    size_t name_bytes;
    uint32_t of_personas; /* How many rows belong to a persona. */
    int64_t ends_seq;     /* Rows that ended up to here were removed; -1 = the state is empty. */
} recall;

static const record *record_of(const recall *r, uint32_t number)
{
    return lc_corpus_record(&r->corpus, number);
}

void lc_recall_close(void *state)
{
    recall *r = state;

    if (r == NULL)
        return;
    lc_corpus_clear(&r->corpus);
    lc_map_clear(&r->names);
    lc_arena_clear(&r->names_arena);
    lc_heap_free(r->heap, r, sizeof *r, LOCI_MEM_INDEX);
}

loci_status lc_recall_open(const lc_user_kind *kind, lc_heap *heap, void **out, loci_error *err)
{
    recall *r = lc_heap_zalloc(heap, sizeof *r, LOCI_MEM_INDEX);
    loci_status status;

    if (r == NULL)
        return lc_fail_memory(err);
    r->source = kind->of;
    r->heap = heap;
    r->ends_seq = -1;
    lc_arena_init(&r->names_arena, heap, LOCI_MEM_INDEX);
    lc_map_init(&r->names, heap, LOCI_MEM_INDEX);
    status = lc_corpus_init(&r->corpus, heap, sizeof(record), err);
    if (status == LOCI_OK)
        *out = r;
    else
        lc_recall_close(r);
    return status;
}

size_t lc_recall_bytes(const void *state)
{
    const recall *r = state;

    return sizeof *r + lc_corpus_bytes(&r->corpus) + r->name_bytes +
           r->names.place_count * sizeof(lc_map_entry);
}

static loci_status intern(recall *r, loci_str text, uint32_t *out, loci_error *err)
{
    name *known;

    *out = 0;
    if (text.len == 0)
        return LOCI_OK;
    known = lc_map_find(&r->names, text);
    if (known == NULL) {
        known = lc_arena_alloc(&r->names_arena, sizeof *known);
        if (known == NULL)
            return lc_fail_memory(err);
        *known = (name){.number = r->name_count + 1, .text = lc_arena_copy(&r->names_arena, text)};
        if (known->text.ptr == NULL || !lc_map_put(&r->names, known->text, known))
            return lc_fail_memory(err);
        r->name_count++;
        r->name_bytes += sizeof *known + text.len + 1;
    }
    *out = known->number;
    return LOCI_OK;
}

/* The number of a name, or one that no record has. */
static uint32_t number_of(const recall *r, loci_str text)
{
    const name *known = text.len > 0 ? lc_map_find(&r->names, text) : NULL;

    return known != NULL ? known->number : text.len > 0 ? UINT32_MAX : 0;
}

static loci_status add_row(void *state, const lc_rows *rows, lc_arena *scratch, int64_t *out_seq,
                           loci_error *err)
{
    recall *r = state;
    record added = {.seq = lc_rows_i64(rows, SEQ_COLUMN), .at = lc_rows_i64(rows, TIME_COLUMN)};
    loci_str text = text_of_row(rows), embedded = text;
    uint32_t number;
    loci_status status = intern(r, lc_rows_str(rows, PERSONA_COLUMN), &added.persona, err);

    LC_ASSERT(rows->column_count <= TAGS_COLUMN + LC_RECALL_TAGS_MAX);
    for (int i = TAGS_COLUMN; i < rows->column_count && status == LOCI_OK; i++)
        status = intern(r, lc_rows_str(rows, i), &added.tags[i - TAGS_COLUMN], err);
    if (status == LOCI_OK && r->source->text != NULL)
        status = r->source->text(rows, scratch, &embedded, err);
    if (status != LOCI_OK)
        return status;
    *out_seq = added.seq;
    status = lc_corpus_add(&r->corpus,
                           &(lc_corpus_document){.text = text,
                                                 .content = lc_str_trim(embedded).len > 0
                                                                ? lc_vector_content(embedded)
                                                                : LC_CORPUS_NO_VECTOR,
                                                 .record = &added},
                           scratch, &number, err);
    r->of_personas += status == LOCI_OK && added.persona != 0;
    return status;
}

/* The text of a row that has no vector in the store yet. */
static loci_status read_text(void *state, lc_tx *tx, const void *of, lc_arena *arena, loci_str *out,
                             loci_error *err)
{
    const recall *r = state;
    int64_t seq = ((const record *)of)->seq;
    lc_rows rows;
    bool found;
    loci_status status = lc_tx_find(
        tx, r->source->rows,
        (lc_arg[]){LC_T(tx->tenant_id), LC_T(tx->user_id), LC_I(seq - 1), LC_I(1)}, &rows, &found,
        err);

    if (status == LOCI_OK && (!found || lc_rows_i64(&rows, SEQ_COLUMN) != seq))
        status = lc_fail(err, LOCI_ECORRUPT, "%s: seq %" PRId64 " is missing", r->source->name,
                         seq);
    if (status == LOCI_OK && r->source->text != NULL)
        status = r->source->text(&rows, arena, out, err);
    else if (status == LOCI_OK)
        *out = lc_arena_copy(arena, text_of_row(&rows));
    lc_rows_end(&rows);
    return status == LOCI_OK && out->ptr == NULL ? lc_fail_memory(err) : status;
}

static lc_recall_build build_of(recall *r)
{
    return (lc_recall_build){.corpus = &r->corpus,
                             .rows = r->source->rows,
                             .add = add_row,
                             .text = read_text,
                             .state = r};
}

/* The number of the row with this seq; false if the index never had it. */
static bool find_number(const recall *r, int64_t seq, uint32_t *out)
{
    uint32_t low = 0, high = r->corpus.count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (record_of(r, middle)->seq < seq)
            low = middle + 1;
        else
            high = middle;
    }
    *out = low;
    return low < r->corpus.count && record_of(r, low)->seq == seq;
}

static void remove_row(recall *r, int64_t seq)
{
    uint32_t number;

    if (!find_number(r, seq, &number))
        return;
    r->of_personas -= record_of(r, number)->persona != 0;
    lc_corpus_remove(&r->corpus, number);
    *(record *)lc_corpus_record(&r->corpus, number) = (record){.seq = seq};
}

static loci_status remove_ended(recall *r, lc_tx *tx, loci_error *err)
{
    lc_arg args[] = {LC_T(tx->tenant_id), LC_T(tx->user_id), LC_I(r->ends_seq)};
    lc_rows rows;
    loci_status status = lc_tx_query(tx, r->source->ended, args, &rows, err);

    while (status == LOCI_OK && lc_rows_next(&rows, &status, err))
        remove_row(r, lc_rows_i64(&rows, 0));
    lc_rows_end(&rows);
    return status;
}

loci_status lc_recall_catch_up(void *state, lc_tx *tx, lc_catch_up *step, loci_error *err)
{
    recall *r = state;
    lc_recall_build build = build_of(r);
    loci_status status = LOCI_OK;

    step->is_complete = false;
    if (lc_corpus_is_sparse(&r->corpus)) {
        lc_corpus_clear(&r->corpus);
        r->of_personas = 0;
        r->ends_seq = step->seen_seq = -1;
        status = lc_corpus_init(&r->corpus, r->heap, sizeof(record), err);
    }
    if (status == LOCI_OK && r->source->ended != NULL && r->ends_seq >= 0)
        status = remove_ended(r, tx, err);
    r->ends_seq = step->head_seq;
    return status == LOCI_OK ? lc_recall_follow(tx, &build, step, err) : status;
}

/* ---- Texts to embed -------------------------------------------------------------------------- */

loci_status lc_recall_each_text(lc_tx *tx, const lc_recall_source *source,
                                const lc_recall_page *page, lc_recall_visit *visit, void *ctx,
                                loci_error *err)
{
    lc_arena *arena = &tx->db->scratch;
    int64_t after = 0; /* Also for a cursor of another version: texts with a vector are skipped. */
    lc_rows rows;
    loci_status status;

    (void)lc_str_to_i64(page->cursor, &after);
    status = lc_tx_query(
        tx, source->rows,
        (lc_arg[]){LC_T(page->tenant_id), LC_T(page->user_id), LC_I(after), LC_I(page->limit)},
        &rows, err);
    while (status == LOCI_OK && lc_rows_next(&rows, &status, err)) {
        lc_arena_mark mark = lc_arena_get_mark(arena);
        loci_str text = text_of_row(&rows);
        char cursor[24];
        int len = snprintf(cursor, sizeof cursor, "%" PRId64, lc_rows_i64(&rows, SEQ_COLUMN));

        if (source->text != NULL)
            status = source->text(&rows, arena, &text, err);
        if (status == LOCI_OK)
            status = visit(ctx, text, (loci_str){cursor, (size_t)len}, err);
        lc_arena_rewind(arena, mark);
    }
    lc_rows_end(&rows);
    return status;
}

/* ---- Searching ------------------------------------------------------------------------------- */

/* The numbers of the names that a tag may have. */
static loci_status find_names(const recall *r, const lc_str_list *names, lc_bitmap *out,
                              loci_error *err)
{
    loci_status status = LOCI_OK;

    for (size_t i = 0; i < names->count && status == LOCI_OK; i++) {
        uint32_t number = number_of(r, names->items[i]);

        if (number != UINT32_MAX) /* Else no row has it. */
            status = lc_bitmap_add(out, number, err);
    }
    return status;
}

/* Removes all rows but those of `seqs` from the filter. */
static loci_status keep_seqs(const recall *r, const lc_recall_query *q, lc_bitmap *filter,
                             loci_error *err)
{
    lc_bitmap wanted;
    uint32_t number;
    loci_status status;

    lc_bitmap_init(&wanted, r->heap, LOCI_MEM_REQUESTS);
    status = lc_bitmap_reserve(&wanted, (size_t)r->corpus.count + 1, err);
    for (size_t i = 0; i < q->seq_count && status == LOCI_OK; i++)
        if (find_number(r, q->seqs[i], &number))
            (void)lc_bitmap_add(&wanted, number, NULL); /* There is room. */
    if (status == LOCI_OK)
        lc_bitmap_intersect(filter, &wanted);
    lc_bitmap_clear(&wanted);
    return status;
}

/* The rows that the reader may see and asked for. `*out_is_all`: no filter is needed. */
static loci_status make_filter(const recall *r, const lc_recall_query *q, lc_bitmap *out,
                               bool *out_is_all, loci_error *err)
{
    uint32_t persona = number_of(r, q->persona_id);
    lc_bitmap tags[LC_RECALL_TAGS_MAX];
    loci_status status = LOCI_OK;

    *out_is_all = r->of_personas == 0 && q->from_us == INT64_MIN && q->to_us == INT64_MAX &&
                  q->seqs == NULL;
    for (size_t t = 0; t < LC_RECALL_TAGS_MAX; t++) {
        *out_is_all = *out_is_all && q->tags[t] == NULL;
        lc_bitmap_init(&tags[t], r->heap, LOCI_MEM_REQUESTS);
        if (q->tags[t] != NULL && status == LOCI_OK)
            status = find_names(r, q->tags[t], &tags[t], err);
    }
    if (status == LOCI_OK && !*out_is_all)
        status = lc_bitmap_reserve(out, (size_t)r->corpus.count + 1, err);
    for (uint32_t i = 0; i < r->corpus.count && status == LOCI_OK && !*out_is_all; i++) {
        const record *each = record_of(r, i);
        bool passes = (each->persona == 0 || each->persona == persona) && each->at >= q->from_us &&
                      each->at < q->to_us;

        for (size_t t = 0; t < LC_RECALL_TAGS_MAX && passes; t++)
            passes = q->tags[t] == NULL || lc_bitmap_has(&tags[t], each->tags[t]);
        if (passes)
            (void)lc_bitmap_add(out, i, NULL); /* There is room. */
    }
    if (r->corpus.live < r->corpus.count && !*out_is_all)
        lc_bitmap_intersect(out, &r->corpus.present); /* The others were removed. */
    for (size_t t = 0; t < LC_RECALL_TAGS_MAX; t++)
        lc_bitmap_clear(&tags[t]);
    return status == LOCI_OK && q->seqs != NULL ? keep_seqs(r, q, out, err) : status;
}

/* The row that is `distance` places away from `number` in its thread, or UINT32_MAX. */
static uint32_t neighbour_of(const recall *r, uint32_t number, int distance)
{
    uint32_t thread = record_of(r, number)->tags[0];
    int left = distance < 0 ? -distance : distance;

    for (int reach = 0; reach < NEIGHBOUR_REACH;) {
        if (distance < 0 ? number == 0 : number + 1 >= r->corpus.count)
            break;
        number = distance < 0 ? number - 1 : number + 1;
        if (!lc_bitmap_has(&r->corpus.present, number))
            continue; /* Removed: an index that is built again does not have it. */
        if (record_of(r, number)->tags[0] == thread && --left == 0)
            return number;
        reach++;
    }
    return UINT32_MAX;
}

/* Hits and their neighbours, found by number. */
typedef struct neighbourhood {
    const recall *recall;
    lc_fused *items;
    double *own;      /* By item: its score by itself. */
    uint32_t *places; /* By number: the index of its item, plus one; 0 = it has none. */
    size_t count;
} neighbourhood;

static void add_item(neighbourhood *n, lc_fused item)
{
    n->own[n->count] = item.score;
    n->items[n->count] = item;
    n->places[item.id] = (uint32_t)++n->count;
}

static double own_score(const neighbourhood *n, uint32_t number)
{
    return number == UINT32_MAX || n->places[number] == 0 ? 0 : n->own[n->places[number] - 1];
}

/* The better of the two rows at this distance from an item. */
static double score_beside(const neighbourhood *n, uint32_t number, int distance)
{
    double before = own_score(n, neighbour_of(n->recall, number, -distance));
    double after = own_score(n, neighbour_of(n->recall, number, distance));

    return before > after ? before : after;
}

static int compare_hits(const void *a, const void *b)
{
    const lc_fused *x = a, *y = b;

    if (x->score != y->score)
        return x->score > y->score ? -1 : 1;
    return x->id < y->id ? -1 : x->id > y->id;
}

static double share_beside(const neighbourhood *n, uint32_t number)
{
    return LC_RECALL_NEXT_SHARE * score_beside(n, number, 1) +
           LC_RECALL_SECOND_SHARE * score_beside(n, number, 2);
}

/* The neighbourhood of all hits, with room for their neighbours. */
static loci_status find_places(const recall *r, const lc_corpus_hits *hits, lc_arena *arena,
                               neighbourhood *out, loci_error *err)
{
    size_t room = 5 * hits->count + 1;

    *out = (neighbourhood){
        .recall = r,
        .items = lc_arena_alloc(arena, room * sizeof *out->items),
        .own = lc_arena_alloc(arena, room * sizeof *out->own),
        .places = lc_arena_zalloc_array(arena, (size_t)r->corpus.count + 1, sizeof *out->places)};
    if (out->items == NULL || out->own == NULL || out->places == NULL)
        return lc_fail_memory(err);
    for (size_t i = 0; i < hits->count; i++)
        add_item(out, hits->items[i]);
    return LOCI_OK;
}

/* Makes the neighbours of all hits hits, and gives each its shares of the scores beside it. */
static void add_neighbours(neighbourhood *n, const lc_bitmap *filter, lc_corpus_hits *hits)
{
    static const int distances[] = {-2, -1, 1, 2};

    for (size_t i = 0; i < hits->count; i++)
        for (size_t d = 0; d < sizeof distances / sizeof *distances; d++) {
            uint32_t number = neighbour_of(n->recall, hits->items[i].id, distances[d]);

            if (number != UINT32_MAX && n->places[number] == 0 &&
                (filter == NULL || lc_bitmap_has(filter, number)))
                add_item(n, (lc_fused){.id = number});
        }
    for (size_t i = 0; i < n->count; i++)
        n->items[i].score = (n->own[i] + share_beside(n, n->items[i].id)) / SHARES;
    qsort(n->items, n->count, sizeof *n->items, compare_hits);
    hits->items = n->items;
    hits->count = n->count;
}

static loci_status search(lc_tx *tx, recall *r, const lc_recall_query *query, lc_arena *arena,
                          lc_recall_hits *out, loci_error *err)
{
    lc_recall_build build = build_of(r);
    lc_bitmap filter;
    bool is_all = false;
    lc_corpus_vectors vectors;
    lc_corpus_hits hits = {0};
    neighbourhood near = {0};
    loci_status status;

    lc_bitmap_init(&filter, arena->heap, LOCI_MEM_REQUESTS);
    status = make_filter(r, query, &filter, &is_all, err);
    if (status == LOCI_OK)
        status = lc_recall_load_vectors(tx, &build, &vectors, err);
    if (status == LOCI_OK) {
        out->is_complete &= vectors.is_complete;
        status = lc_corpus_search(&r->corpus,
                                  &(lc_corpus_query){.terms = query->terms,
                                                     .vector = query->vector,
                                                     .filter = is_all ? NULL : &filter,
                                                     .limit = query->limit > SEARCH_DEPTH_MIN
                                                                  ? query->limit
                                                                  : SEARCH_DEPTH_MIN},
                                  arena, &hits, err);
    }
    out->total = is_all ? r->corpus.live : lc_bitmap_count(&filter);
    if (status == LOCI_OK && query->neighbours != LC_NEIGHBOURS_IGNORED)
        status = find_places(r, &hits, arena, &near, err);
    if (status == LOCI_OK && query->neighbours == LC_NEIGHBOURS_ADDED)
        add_neighbours(&near, is_all ? NULL : &filter, &hits);
    lc_bitmap_clear(&filter);
    if (status != LOCI_OK)
        return status;
    for (size_t i = 0; i < hits.count && out->count < query->limit; i++) {
        const lc_fused *hit = &hits.items[i];

        if (hit->score <= 0)
            break;
        out->items[out->count++] = (lc_recall_hit){
            .seq = record_of(r, hit->id)->seq,
            .score = *hit,
            .beside = query->neighbours == LC_NEIGHBOURS_RATED ? share_beside(&near, hit->id) : 0};
    }
    return LOCI_OK;
}

loci_status lc_recall_search(lc_tx *tx, const lc_user_kind *kind, const lc_recall_query *query,
                             lc_arena *arena, lc_recall_hits *out, loci_error *err)
{
    void *state = NULL;
    loci_status status;

    LC_ASSERT(query->limit <= LC_RECALL_HITS_MAX);
    *out = (lc_recall_hits){
        .items = lc_arena_zalloc_array(arena, query->limit + 1, sizeof *out->items)};
    if (out->items == NULL)
        return lc_fail_memory(err);
    status = lc_tx_borrow(tx, kind, &state, &out->is_complete, err);
    if (status != LOCI_OK)
        return status;
    status = search(tx, state, query, arena, out, err);
    lc_tx_give_back(tx, kind, state);
    return status;
}

/* Reads the current row into the item of its hit. */
static loci_status take_row(const lc_rows *rows, lc_arena *arena, const lc_recall_rows *out,
                            void *item, loci_error *err)
{
    loci_status status = lc_row_read(rows, item, err);

    if (status == LOCI_OK && !lc_row_keep(rows->sql->row, arena, item))
        status = lc_fail_memory(err);
    if (status == LOCI_OK && out->more != NULL)
        status = out->more(item, rows, arena, err);
    return status;
}

loci_status lc_recall_read(lc_tx *tx, const lc_sql *sql, const lc_recall_hits *hits,
                           lc_arena *arena, lc_recall_rows *out, loci_error *err)
{
    size_t bytes = out->item_bytes > 0 ? out->item_bytes : sql->row->bytes;
    loci_status status = LOCI_OK;

    out->items = lc_arena_zalloc_array(arena, hits->count + 1, bytes);
    if (out->items == NULL)
        return lc_fail_memory(err);
    for (size_t first = 0, count; first < hits->count && status == LOCI_OK; first += count) {
        const lc_recall_hit *page = hits->items + first;
        lc_arg args[2 + READ_ROWS] = {LC_T(tx->tenant_id), LC_T(tx->user_id)};
        size_t taken = 0;
        lc_rows rows;

        count = hits->count - first < READ_ROWS ? hits->count - first : READ_ROWS;
        for (size_t i = 0; i < READ_ROWS; i++) /* Unused parameters repeat the last. */
            args[2 + i] = LC_I(page[i < count ? i : count - 1].seq);
        status = lc_tx_query(tx, sql, args, &rows, err);
        while (status == LOCI_OK && lc_rows_next(&rows, &status, err)) {
            int64_t seq = lc_rows_i64(&rows, rows.column_count - 1);
            size_t i = 0;

            while (i < count && page[i].seq != seq)
                i++;
            LC_ASSERT(i < count);
            status = take_row(&rows, arena, out, (char *)out->items + (first + i) * bytes, err);
            taken++;
        }
        lc_rows_end(&rows);
        if (status == LOCI_OK && taken != count)
            status = lc_fail(err, LOCI_ECORRUPT, "%zu rows of hits are missing", count - taken);
    }
    return status;
}
