/* corpus.c - documents, their vectors, and one search over both.
 *
 * The job that embeds texts puts vectors into the store in the order of writing, which is the order
 * of numbers. So the corpus looks up the first document whose vector was missing and, if it is
 * stored now, the next ones. If many are missing, it scans all vectors of the user instead, in the
 * order of their contents and possibly in several slices: each document has a row in `vectors`,
 * which is filled when its vector comes along. The documents behind the last one found are the
 * tail. The newest of them are embedded here, each once; the others are left to the job.
 *
 *     0 ............ stored ............. newest_from ............ count
 *     in `vectors`          by words alone             in `newest`
 *
 * There are two sets because numbers are added to a set in rising order only, and the job fills the
 * gap between them from below.
 *
 * Invariants: a number below `count` is in `present`, in the postings and has a record, or it was
 * removed and has none of these. All present documents with a content below `stored` are in
 * `vectors`, none above unless a scan runs; `newest` has none below `newest_from`, nor below
 * `stored`.
 */
#include "index/corpus.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/limits.h"
#include "text/term.h"

#define ROOM_FIRST 64
#define SPARSE_MIN 1000 /* Unused numbers below which building again is not worth it. */
#define FIND_BATCH 32   /* Vectors that are looked up at once. */
#define SCAN_MIN 64     /* Missing vectors from which on a scan is tried, */
#define SCAN_ROWS 512   /* rows of one page of it, */
#define SCAN_SHARE 8    /* and it goes on if at least one row in 8 was wanted. */
#define EMBED_BATCH 8   /* Texts that are embedded between two checks of the clock. */

loci_status lc_corpus_init(lc_corpus *corpus, lc_heap *heap, size_t record_bytes, loci_error *err)
{
    loci_status status;

    *corpus = (lc_corpus){.heap = heap, .record_bytes = record_bytes};
    lc_bitmap_init(&corpus->present, heap, LOCI_MEM_INDEX);
    status = lc_stemmer_init(&corpus->stemmer, LC_STEM_ENGLISH, err);
    if (status == LOCI_OK)
        status = lc_postings_new(heap, &corpus->postings, err);
    if (status != LOCI_OK)
        lc_corpus_clear(corpus);
    return status;
}

static bool has_vectors(const lc_corpus *corpus)
{
    return !lc_hash128_eq(corpus->generation, LC_CORPUS_NO_VECTOR);
}

typedef struct missing {
    lc_hash128 content;
    uint32_t number;
} missing;

/* The documents that a scan looks for, in the order of their contents, as the store has them. */
typedef struct lc_corpus_scan {
    uint32_t end;     /* It loads documents from `stored` up to here. */
    lc_hash128 after; /* It continues behind this content. */
    size_t next;      /* The first item that may still come. */
    size_t rows;      /* Visited, */
    size_t found;     /* and wanted. */
    size_t count;
    missing items[];
} lc_corpus_scan;

static size_t bytes_of_scan(const lc_corpus_scan *scan)
{
    return scan != NULL ? sizeof *scan + scan->count * sizeof *scan->items : 0;
}

static void free_scan(lc_corpus *corpus)
{
    lc_heap_free(corpus->heap, corpus->scan, bytes_of_scan(corpus->scan), LOCI_MEM_INDEX);
    corpus->scan = NULL;
}

static void drop_vectors(lc_corpus *corpus)
{
    if (has_vectors(corpus)) {
        lc_vectors_clear(&corpus->vectors);
        lc_vectors_clear(&corpus->newest);
    }
    corpus->generation = LC_CORPUS_NO_VECTOR;
    corpus->stored = corpus->newest_from = corpus->newest_end = corpus->reported = 0;
    corpus->not_to_scan = 0;
    free_scan(corpus);
}

void lc_corpus_clear(lc_corpus *corpus)
{
    if (corpus->heap == NULL)
        return;
    drop_vectors(corpus);
    lc_heap_free(corpus->heap, corpus->records, corpus->room * corpus->record_bytes,
                 LOCI_MEM_INDEX);
    lc_heap_free(corpus->heap, corpus->contents, corpus->room * sizeof *corpus->contents,
                 LOCI_MEM_INDEX);
    lc_bitmap_clear(&corpus->present);
    lc_postings_free(corpus->postings);
    lc_stemmer_clear(&corpus->stemmer);
    *corpus = (lc_corpus){0};
}

size_t lc_corpus_bytes(const lc_corpus *corpus)
{
    return bytes_of_scan(corpus->scan) +
           corpus->room * (corpus->record_bytes + sizeof *corpus->contents) +
           corpus->present.word_count * sizeof(uint64_t) +
           lc_postings_get_size(corpus->postings).bytes +
           (has_vectors(corpus)
                ? lc_vectors_bytes(&corpus->vectors) + lc_vectors_bytes(&corpus->newest)
                : 0);
}

/* ---- Documents ------------------------------------------------------------------------------- */

/* Room for one more. The arrays grow one after the other: a failure leaves the first larger than
 * `room` says, so both are sized before either is used. */
static loci_status make_room(lc_corpus *corpus, loci_error *err)
{
    uint32_t room = corpus->room == 0 ? ROOM_FIRST : 2 * corpus->room;
    lc_hash128 *contents;
    char *records = NULL;

    if (corpus->count < corpus->room)
        return LOCI_OK;
    if (corpus->count >= LC_INDEX_IDS_MAX)
        return lc_fail(err, LOCI_ELIMIT, "an index has at most %d documents", LC_INDEX_IDS_MAX);
    contents = lc_heap_alloc(corpus->heap, room * sizeof *contents, LOCI_MEM_INDEX);
    if (corpus->record_bytes > 0)
        records = lc_heap_zalloc(corpus->heap, room * corpus->record_bytes, LOCI_MEM_INDEX);
    if (contents == NULL || (corpus->record_bytes > 0 && records == NULL)) {
        lc_heap_free(corpus->heap, contents, room * sizeof *contents, LOCI_MEM_INDEX);
        lc_heap_free(corpus->heap, records, room * corpus->record_bytes, LOCI_MEM_INDEX);
        return lc_fail_memory(err);
    }
    if (corpus->count > 0) {
        memcpy(contents, corpus->contents, corpus->count * sizeof *contents);
        if (records != NULL)
            memcpy(records, corpus->records, corpus->count * corpus->record_bytes);
    }
    lc_heap_free(corpus->heap, corpus->contents, corpus->room * sizeof *contents, LOCI_MEM_INDEX);
    lc_heap_free(corpus->heap, corpus->records, corpus->room * corpus->record_bytes,
                 LOCI_MEM_INDEX);
    corpus->contents = contents;
    corpus->records = records;
    corpus->room = room;
    return LOCI_OK;
}

loci_status lc_corpus_add(lc_corpus *corpus, const lc_corpus_document *document, lc_arena *scratch,
                          uint32_t *out_number, loci_error *err)
{
    lc_arena_mark mark = lc_arena_get_mark(scratch);
    uint32_t number = corpus->count;
    lc_words words = {0};
    loci_status status = make_room(corpus, err);

    if (status == LOCI_OK)
        status = lc_bitmap_reserve(&corpus->present, (size_t)number + 1, err);
    if (status == LOCI_OK)
        status = lc_terms_split(&corpus->stemmer, scratch, document->text, &words, err);
    if (status == LOCI_OK)
        status = lc_postings_add(corpus->postings, number, words.items, words.count, err);
    lc_arena_rewind(scratch, mark);
    if (status != LOCI_OK)
        return status;
    (void)lc_bitmap_add(&corpus->present, number, NULL); /* There is room. */
    corpus->contents[number] = document->content;
    if (corpus->record_bytes > 0)
        memcpy(lc_corpus_record(corpus, number), document->record, corpus->record_bytes);
    corpus->count++;
    corpus->live++;
    *out_number = number;
    return LOCI_OK;
}

void lc_corpus_remove(lc_corpus *corpus, uint32_t number)
{
    if (!lc_bitmap_has(&corpus->present, number))
        return;
    lc_bitmap_remove(&corpus->present, number);
    (void)lc_postings_remove(corpus->postings, number);
    if (has_vectors(corpus)) { /* Possibly without a vector. */
        (void)lc_vectors_delete(&corpus->vectors, number);
        (void)lc_vectors_delete(&corpus->newest, number);
    }
    corpus->contents[number] = LC_CORPUS_NO_VECTOR;
    if (corpus->record_bytes > 0)
        memset(lc_corpus_record(corpus, number), 0, corpus->record_bytes);
    corpus->live--;
}

bool lc_corpus_is_sparse(const lc_corpus *corpus)
{
    return corpus->count > 2 * (size_t)corpus->live + SPARSE_MIN;
}

/* ---- Vectors --------------------------------------------------------------------------------- */

/* The next number from `from` on that needs a vector; false at the end. */
static bool next_wanting(const lc_corpus *corpus, uint32_t from, uint32_t *out)
{
    for (; lc_bitmap_next(&corpus->present, from, &from); from++)
        if (!lc_hash128_eq(corpus->contents[from], LC_CORPUS_NO_VECTOR)) {
            *out = from;
            return true;
        }
    return false;
}

/* Looks up the next `max` documents behind `stored`. `*is_gap`: one of them has no vector yet, or
 * there are no more. */
static loci_status load_batch(lc_corpus *corpus, const lc_corpus_vectors *from, size_t max,
                              int8_t *codes, bool *is_gap, loci_error *err)
{
    uint32_t wanting[FIND_BATCH], next = corpus->stored, reached;
    lc_corpus_vector vectors[FIND_BATCH];
    size_t count = 0;
    loci_status status = LOCI_OK;

    for (; count < max && next_wanting(corpus, next, &next); next++, count++) {
        wanting[count] = next;
        vectors[count] = (lc_corpus_vector){.content = corpus->contents[next],
                                            .codes = codes + count * from->dimensions};
    }
    reached = count < max ? corpus->count : wanting[count - 1] + 1;
    *is_gap = count < max;
    if (count > 0)
        status = from->find(from->ctx, vectors, count, err);
    for (size_t i = 0; i < count && status == LOCI_OK; i++) {
        if (!vectors[i].found && !from->is_given) {
            *is_gap = true;
            reached = wanting[i];
            break;
        }
        if (!vectors[i].found) /* Its cosine with anything is 0. */
            memset(vectors[i].codes, 0, from->dimensions);
        status = lc_vectors_add_code(&corpus->vectors, wanting[i],
                                     (lc_vector_code){vectors[i].codes, vectors[i].scale}, err);
        if (status == LOCI_OK)
            corpus->stored = wanting[i] + 1;
    }
    if (status == LOCI_OK)
        corpus->stored = reached;
    return status;
}

/* The newest documents without a stored vector, the newest first, at most LC_CORPUS_TAIL_MAX.
 * `*is_all`: there are no others. */
static size_t find_newest(const lc_corpus *corpus, uint32_t out[LC_CORPUS_TAIL_MAX], bool *is_all)
{
    size_t count = 0;

    *is_all = true;
    for (uint32_t number = corpus->count; number-- > corpus->stored;) {
        if (lc_hash128_eq(corpus->contents[number], LC_CORPUS_NO_VECTOR))
            continue;
        *is_all = count < LC_CORPUS_TAIL_MAX;
        if (!*is_all)
            break;
        out[count++] = number;
    }
    return count;
}

/* Removes vectors that are stored now, or are not among the newest any more. */
static void trim_newest(lc_corpus *corpus, uint32_t first)
{
    if (first < corpus->newest_from) { /* Newer ones were removed: begin again with an older one. */
        lc_vectors_clear(&corpus->newest);
        corpus->newest_end = first;
    }
    for (uint32_t number = corpus->newest_from; number < first; number++)
        (void)lc_vectors_delete(&corpus->newest, number);
    corpus->newest_from = first;
    if (corpus->newest_end < first)
        corpus->newest_end = first;
    if (corpus->newest.live == 0) /* Also gives the memory of deleted ones back. */
        lc_vectors_clear(&corpus->newest);
}

/* ---- Scanning the store ---------------------------------------------------------------------- */

static int compare_contents(lc_hash128 a, lc_hash128 b)
{
    if (a.high != b.high)
        return a.high < b.high ? -1 : 1;
    return a.low < b.low ? -1 : a.low > b.low;
}

static int compare_missing(const void *a, const void *b)
{
    const missing *x = a, *y = b;
    int order = compare_contents(x->content, y->content);

    return order != 0 ? order : x->number < y->number ? -1 : x->number > y->number;
}

static void visit_stored(void *ctx, lc_hash128 content, lc_vector_code code)
{
    lc_corpus *corpus = ctx;
    lc_corpus_scan *s = corpus->scan;

    s->rows++;
    s->after = content;
    while (s->next < s->count && compare_contents(s->items[s->next].content, content) < 0)
        s->next++;
    for (; s->next < s->count && lc_hash128_eq(s->items[s->next].content, content); s->next++) {
        uint32_t number = s->items[s->next].number;

        if (lc_bitmap_has(&corpus->present, number)) /* Else it was removed meanwhile. */
            lc_vectors_fill(&corpus->vectors, number, code);
        s->found++;
    }
}

/* Behind the documents that a scan loads: the newest have vectors already. */
static uint32_t end_of_scan(const lc_corpus *corpus)
{
    return corpus->newest.live > 0 ? corpus->newest_from : corpus->count;
}

/* Whether enough vectors are missing in memory for a scan to be faster than look-ups. The
 * first of them is in the store. */
static bool should_scan(const lc_corpus *corpus)
{
    return corpus->stored >= corpus->not_to_scan &&
           end_of_scan(corpus) >= (uint64_t)corpus->stored + SCAN_MIN;
}

static size_t count_missing(const lc_corpus *corpus, uint32_t end)
{
    size_t count = 0;

    for (uint32_t number = corpus->stored; next_wanting(corpus, number, &number) && number < end;
         number++)
        count++;
    return count;
}

static loci_status begin_scan(lc_corpus *corpus, loci_error *err)
{
    uint32_t end = end_of_scan(corpus), number = corpus->stored;
    size_t count = count_missing(corpus, end);
    lc_corpus_scan *s = lc_heap_zalloc(corpus->heap, sizeof *s + count * sizeof *s->items,
                                       LOCI_MEM_INDEX);
    loci_status status = s != NULL ? LOCI_OK : lc_fail_memory(err);

    if (s == NULL)
        return status;
    s->end = end;
    s->count = count;
    corpus->scan = s;
    for (size_t i = 0; status == LOCI_OK && i < count; i++, number++) {
        (void)next_wanting(corpus, number, &number); /* There are `count` of them. */
        s->items[i] = (missing){corpus->contents[number], number};
        status = lc_vectors_reserve(&corpus->vectors, number, err);
    }
    qsort(s->items, count, sizeof *s->items, compare_missing);
    if (status != LOCI_OK) {
        lc_vectors_truncate(&corpus->vectors, corpus->stored);
        free_scan(corpus);
    }
    return status;
}

/* Keeps the vectors up to the first gap: a search depends on the stored vectors alone, and those
 * behind a gap are looked up or scanned once it is filled. */
static void end_scan(lc_corpus *corpus, const int8_t *zeros)
{
    uint32_t number = corpus->stored, end = corpus->scan->end;

    for (; next_wanting(corpus, number, &number) && number < end; number++) {
        if (zeros != NULL) /* A row that was filled stays as it is. */
            lc_vectors_fill(&corpus->vectors, number, (lc_vector_code){.codes = zeros});
        if (!lc_vectors_has(&corpus->vectors, number))
            break;
    }
    if (!next_wanting(corpus, number, &number) || number > end)
        number = end;
    lc_vectors_truncate(&corpus->vectors, number);
    corpus->stored = number;
    free_scan(corpus);
}

/* Scans pages until there are no more or it is time to pause. Contents are hashes, so each page is
 * a random sample of the user's vectors: if nearly all of it belongs to other corpora, so does the
 * rest, and look-ups are faster. */
static loci_status run_scan(lc_corpus *corpus, const lc_corpus_vectors *from, lc_arena *arena,
                            loci_error *err)
{
    lc_corpus_scan *s = corpus->scan;
    bool is_over = false, is_worth_it = true;
    loci_status status = LOCI_OK;

    while (status == LOCI_OK && !is_over && is_worth_it) {
        size_t rows_before = s->rows;

        status = from->scan(from->ctx, s->after, SCAN_ROWS, visit_stored, corpus, err);
        is_over = s->rows - rows_before < SCAN_ROWS;
        is_worth_it = is_over || s->found * SCAN_SHARE >= s->rows;
        if (status == LOCI_OK && !is_over && is_worth_it &&
            lc_clock_monotonic_us() >= from->pause_us)
            return LOCI_OK;
    }
    if (status != LOCI_OK)
        return status;
    if (!is_worth_it)
        corpus->not_to_scan = s->end;
    end_scan(corpus, is_worth_it && from->is_given
                         ? lc_arena_zalloc_array(arena, from->dimensions, 1)
                         : NULL);
    return LOCI_OK;
}

/* Everything up to the first gap, or until it is time to pause. Mostly there is nothing to load, so
 * the first look-up is of one vector. */
static loci_status load_stored(lc_corpus *corpus, lc_corpus_vectors *from, lc_arena *arena,
                               loci_error *err)
{
    size_t batch = 1;
    int8_t *codes = lc_arena_alloc(arena, FIND_BATCH * from->dimensions);
    loci_status status = codes != NULL ? LOCI_OK : lc_fail_memory(err);
    bool is_gap = false;

    while (status == LOCI_OK && !is_gap) {
        bool is_first = batch == 1 && corpus->scan == NULL;

        if (corpus->scan != NULL) {
            status = run_scan(corpus, from, arena, err);
        } else {
            status = load_batch(corpus, from, batch, codes, &is_gap, err);
            if (status == LOCI_OK && !is_gap && should_scan(corpus))
                status = begin_scan(corpus, err);
        }
        if (!is_first && !is_gap && lc_clock_monotonic_us() >= from->pause_us)
            break;
        batch = FIND_BATCH;
    }
    from->is_complete = is_gap;
    return status;
}

/* ---- The newest documents -------------------------------------------------------------------- */

/* Embeds `count` documents, in rising order, and adds them to the newest. */
static loci_status embed_batch(lc_corpus *corpus, const lc_corpus_vectors *from,
                               const uint32_t *numbers, size_t count, lc_arena *arena,
                               loci_error *err)
{
    loci_str texts[EMBED_BATCH];
    float *vectors = lc_arena_zalloc_array(arena, count * from->dimensions, sizeof *vectors);
    loci_status status = vectors != NULL ? LOCI_OK : lc_fail_memory(err);

    for (size_t i = 0; i < count && status == LOCI_OK; i++)
        status = from->text(from->ctx, lc_corpus_record(corpus, numbers[i]), arena, &texts[i], err);
    if (status == LOCI_OK)
        status = from->embed(from->ctx, texts, count, vectors, err);
    for (size_t i = 0; i < count && status == LOCI_OK; i++) {
        status = lc_vectors_add(&corpus->newest, numbers[i], vectors + i * from->dimensions, err);
        if (status == LOCI_OK)
            corpus->newest_end = numbers[i] + 1;
    }
    return status;
}

/* Embeds those of the newest documents that are not in the set yet. On a busy machine that can take
 * longer than a snapshot may be held: then the rest is left to the next call. */
static loci_status embed_newest(lc_corpus *corpus, lc_corpus_vectors *from,
                                const uint32_t *newest_first, size_t count, lc_arena *arena,
                                loci_error *err)
{
    uint32_t numbers[LC_CORPUS_TAIL_MAX];
    size_t wanted = 0;
    loci_status status = LOCI_OK;

    for (size_t i = count; i-- > 0;)
        if (newest_first[i] >= corpus->newest_end)
            numbers[wanted++] = newest_first[i];
    for (size_t at = 0, batch; at < wanted && status == LOCI_OK; at += batch) {
        if (at > 0 && lc_clock_monotonic_us() >= from->pause_us) {
            from->is_complete = false;
            break;
        }
        batch = wanted - at < EMBED_BATCH ? wanted - at : EMBED_BATCH;
        status = embed_batch(corpus, from, numbers + at, batch, arena, err);
    }
    return status;
}

loci_status lc_corpus_follow_vectors(lc_corpus *corpus, lc_corpus_vectors *from, loci_error *err)
{
    lc_hash128 generation = lc_hash128_of(from->generation);
    uint32_t newest[LC_CORPUS_TAIL_MAX];
    bool is_all;
    size_t count;
    lc_arena arena;
    loci_status status;

    if (!lc_hash128_eq(corpus->generation, generation)) {
        drop_vectors(corpus);
        lc_vectors_init(&corpus->vectors, corpus->heap, (uint32_t)from->dimensions, LC_VECTOR_BEST);
        lc_vectors_init(&corpus->newest, corpus->heap, (uint32_t)from->dimensions, LC_VECTOR_BEST);
        corpus->generation = generation;
    }
    from->wants_job = false;
    lc_arena_init(&arena, corpus->heap, LOCI_MEM_REQUESTS);
    status = load_stored(corpus, from, &arena, err);
    if (corpus->newest_from < corpus->stored)
        trim_newest(corpus, corpus->stored);
    if (status == LOCI_OK && from->is_complete) {
        count = find_newest(corpus, newest, &is_all);
        trim_newest(corpus, count > 0 ? newest[count - 1] : corpus->count);
        status = embed_newest(corpus, from, newest, count, &arena, err);
        /* Asked for once per LC_CORPUS_TAIL_MAX / 2 new documents: not every call repeats a job
         * that fails. */
        from->wants_job = (!is_all || count > LC_CORPUS_TAIL_MAX / 2) &&
                          (corpus->reported == 0 ||
                           corpus->count >= corpus->reported + LC_CORPUS_TAIL_MAX / 2);
        if (from->wants_job)
            corpus->reported = corpus->count;
    }
    lc_arena_clear(&arena);
    return status;
}

/* ---- Searching ------------------------------------------------------------------------------- */

loci_status lc_corpus_split(lc_arena *arena, loci_str query, lc_corpus_terms *out, loci_error *err)
{
    lc_stemmer stemmer = {0};
    lc_words words = {0};
    loci_status status = lc_stemmer_init(&stemmer, LC_STEM_ENGLISH, err);

    *out = (lc_corpus_terms){0};
    if (status == LOCI_OK)
        status = lc_terms_split(&stemmer, arena, query, &words, err);
    lc_stemmer_clear(&stemmer);
    if (status != LOCI_OK)
        return status;
    out->count = words.count > LC_QUERY_TERMS_MAX ? LC_QUERY_TERMS_MAX : words.count;
    out->items = lc_arena_zalloc_array(arena, out->count + 1, sizeof *out->items);
    if (out->items == NULL)
        return lc_fail_memory(err);
    for (size_t i = 0; i < out->count; i++)
        out->items[i] = (lc_postings_term){words.items[i], 1};
    return LOCI_OK;
}

/* Both lists of one search. */
typedef struct found {
    lc_hit *words;
    size_t word_count;
    lc_hit *near; /* The nearest in meaning, then the rest of the lexical hits. */
    size_t near_count;
} found;

static loci_status search_words(const lc_corpus *corpus, const lc_corpus_query *query, found *f,
                                loci_error *err)
{
    lc_postings_query words = {.terms = query->terms.items,
                               .term_count = query->terms.count,
                               .filter = query->filter,
                               .limit = query->limit};

    return lc_postings_search(corpus->postings, &words, f->words, &f->word_count, err);
}

/* Appends the nearest documents of `filter`, at most query->limit. */
static loci_status search_near(const lc_corpus *corpus, const lc_corpus_query *query,
                               const lc_bitmap *filter, found *f, loci_error *err)
{
    lc_vector_search search = {.query = query->vector, .limit = query->limit, .filter = filter};
    lc_hit newest[LC_CORPUS_TAIL_MAX], *hits = f->near + f->near_count;
    size_t count = 0, newest_count = 0;
    loci_status status = lc_vectors_search(&corpus->vectors, &search, hits, &count, err);

    if (search.limit > LC_CORPUS_TAIL_MAX)
        search.limit = LC_CORPUS_TAIL_MAX;
    if (status == LOCI_OK && corpus->newest.live > 0) {
        status = lc_vectors_search(&corpus->newest, &search, newest, &newest_count, err);
        memcpy(hits + count, newest, newest_count * sizeof *newest);
        lc_hits_sort(hits, count + newest_count);
    }
    count += newest_count;
    f->near_count += count < query->limit ? count : query->limit;
    return status;
}

/* The nearest, and the cosines of the lexical hits that are not among them, so that each hit is
 * judged by both scores. */
static loci_status search_vectors(const lc_corpus *corpus, const lc_corpus_query *query, found *f,
                                  lc_heap *heap, loci_error *err)
{
    lc_bitmap numbers;
    loci_status status = search_near(corpus, query, query->filter, f, err);
    size_t nearest = f->near_count;

    lc_bitmap_init(&numbers, heap, LOCI_MEM_REQUESTS);
    for (size_t i = 0; i < f->word_count && status == LOCI_OK; i++)
        status = lc_bitmap_add(&numbers, f->words[i].id, err);
    for (size_t i = 0; i < nearest && status == LOCI_OK; i++)
        lc_bitmap_remove(&numbers, f->near[i].id);
    if (status == LOCI_OK && lc_bitmap_count(&numbers) > 0)
        status = search_near(corpus, query, &numbers, f, err);
    lc_bitmap_clear(&numbers);
    return status;
}

loci_status lc_corpus_search(const lc_corpus *corpus, const lc_corpus_query *query, lc_arena *arena,
                             lc_corpus_hits *out, loci_error *err)
{
    found f = {.words = lc_arena_zalloc_array(arena, query->limit + 1, sizeof *f.words),
               .near = lc_arena_zalloc_array(arena, 2 * query->limit + LC_CORPUS_TAIL_MAX + 1,
                                             sizeof *f.near)};
    loci_status status = f.words != NULL && f.near != NULL ? search_words(corpus, query, &f, err)
                                                           : lc_fail_memory(err);

    *out = (lc_corpus_hits){0};
    if (status == LOCI_OK && query->vector != NULL && has_vectors(corpus))
        status = search_vectors(corpus, query, &f, arena->heap, err);
    if (status != LOCI_OK)
        return status;
    out->items = lc_arena_zalloc_array(arena, f.near_count + f.word_count + 1, sizeof *out->items);
    if (out->items == NULL)
        return lc_fail_memory(err);
    out->has_vectors = f.near_count > 0;
    out->count = lc_fuse(&(lc_fusion_lists){.vector = f.near,
                                            .vector_count = f.near_count,
                                            .lexical = f.words,
                                            .lexical_count = f.word_count,
                                            .documents = corpus->live},
                         out->items);
    return LOCI_OK;
}
