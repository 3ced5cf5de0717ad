/* postings.c - the index of words beside SQLite's FTS5, on the same documents.
 *
 * Documents of 8 to 24 words from a vocabulary in which few words are common and most are rare, as
 * content words are (Zipf's law, its head cut off: stop words are not indexed). Queries ask for
 * any of 8 words and want the best 50; "common" are those that ask for the hundred commonest words,
 * the worst that can happen. Both are in memory, get ready words, and rank by BM25 with
 * the same parameters; their formulas differ a little for very common words, so that how often both
 * put the same document first is shown beside the times. They take turns, round by round; each
 * figure is the median of CPU time. Also: how fast texts become terms, and adding beside removing.
 */
#include "index/postings.h"

#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/buf.h"
#include "base/str.h"
#include "text/term.h"

#define VOCABULARY 30000
#define DOCUMENTS_MAX 60000
#define WORDS_MIN 8
#define WORDS_MAX 24
#define COMMON 100
#define QUERIES 30
#define QUERY_TERMS 8
#define LIMIT 50
#define ROUNDS 5

typedef struct document {
    loci_str words[WORDS_MAX];
    size_t count;
} document;

static lc_heap heap;
static char vocabulary[VOCABULARY][12];
static double cumulated[VOCABULARY]; /* Of the frequencies, up to 1. */
static document documents[DOCUMENTS_MAX];
static loci_str queries[2 * QUERIES][QUERY_TERMS]; /* The second half asks for common words. */
static uint64_t state = 88172645463325252u;

static _Noreturn void die(const char *what)
{
    fprintf(stderr, "postings: %s\n", what);
    exit(1);
}

static double cpu_seconds(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now); /* Cannot fail on Linux. */
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static int compare(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;

    return (left > right) - (left < right);
}

static double median(double *values, size_t count)
{
    qsort(values, count, sizeof *values, compare);
    return values[count / 2];
}

/* ---- The documents --------------------------------------------------------------------------- */

static uint64_t next_random(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

/* Syllables, so that the words look like words: ba, be ... zuzuzu. */
static void make_vocabulary(void)
{
    double sum = 0;

    for (unsigned i = 0; i < VOCABULARY; i++) {
        unsigned rest = i;

        for (unsigned at = 0; at < 6; at += 2, rest /= 85) {
            vocabulary[i][at] = "bcdfghjklmnprstvz"[rest % 85 / 5];
            vocabulary[i][at + 1] = "aeiou"[rest % 5];
        }
        sum += 1.0 / (i + 50);
        cumulated[i] = sum;
    }
    for (unsigned i = 0; i < VOCABULARY; i++)
        cumulated[i] /= sum;
}

static loci_str random_word(void)
{
    double wanted = (double)(next_random() >> 11) / 9007199254740992.0;
    size_t low = 0, high = VOCABULARY - 1;

    while (low < high) {
        size_t middle = (low + high) / 2;

        if (cumulated[middle] < wanted)
            low = middle + 1;
        else
            high = middle;
    }
    return loci_str_of(vocabulary[low]);
}

static void make_documents(void)
{
    make_vocabulary();
    for (size_t i = 0; i < DOCUMENTS_MAX; i++) {
        documents[i].count = WORDS_MIN + next_random() % (WORDS_MAX - WORDS_MIN + 1);
        for (size_t k = 0; k < documents[i].count; k++)
            documents[i].words[k] = random_word();
    }
    for (size_t i = 0; i < QUERIES; i++) {
        for (size_t k = 0; k < QUERY_TERMS; k++)
            queries[i][k] = random_word();
        for (size_t k = 0; k < QUERY_TERMS; k++)
            queries[QUERIES + i][k] = loci_str_of(vocabulary[next_random() % COMMON]);
    }
}

/* ---- loci ------------------------------------------------------------------------------------ */

static lc_postings *build_loci(size_t count)
{
    lc_postings *index = NULL;

    if (lc_postings_new(&heap, &index, NULL) != LOCI_OK)
        die("out of memory");
    for (size_t i = 0; i < count; i++) {
        if (lc_postings_add(index, (uint32_t)i, documents[i].words, documents[i].count, NULL) !=
            LOCI_OK)
            die("adding failed");
    }
    return index;
}

/* The best document of query `number`, which the whole search was for. */
static int64_t search_loci(const lc_postings *index, size_t number)
{
    lc_postings_term terms[QUERY_TERMS];
    lc_postings_query query = {.terms = terms, .term_count = QUERY_TERMS, .limit = LIMIT};
    lc_hit hits[LIMIT];
    size_t count;

    for (size_t i = 0; i < QUERY_TERMS; i++)
        terms[i] = (lc_postings_term){queries[number][i], 1};
    if (lc_postings_search(index, &query, hits, &count, NULL) != LOCI_OK)
        die("searching failed");
    return count > 0 ? (int64_t)hits[0].id : -1;
}

/* ---- FTS5 ------------------------------------------------------------------------------------ */

static void execute(sqlite3 *db, const char *sql)
{
    if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
        die(sqlite3_errmsg(db));
}

static sqlite3_stmt *prepare(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *statement = NULL;

    if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) != SQLITE_OK)
        die(sqlite3_errmsg(db));
    return statement;
}

static void join(lc_buf *out, const loci_str *words, size_t count, const char *between)
{
    lc_buf_reset(out);
    for (size_t i = 0; i < count; i++)
        lc_buf_append_format(out, "%s%.*s", i > 0 ? between : "", LC_STR_ARG(words[i]));
    if (lc_buf_status(out, NULL) != LOCI_OK)
        die("out of memory");
}

static sqlite3 *build_fts(size_t count)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *insert;
    lc_buf text;

    if (sqlite3_open(":memory:", &db) != SQLITE_OK)
        die("no database");
    lc_buf_init(&text, &heap, LOCI_MEM_REQUESTS, SIZE_MAX);
    execute(db, "CREATE VIRTUAL TABLE docs USING fts5(text, content='')");
    execute(db, "BEGIN");
    insert = prepare(db, "INSERT INTO docs (rowid, text) VALUES (?1, ?2)");
    for (size_t i = 0; i < count; i++) {
        join(&text, documents[i].words, documents[i].count, " ");
        sqlite3_bind_int64(insert, 1, (sqlite3_int64)i);
        sqlite3_bind_text(insert, 2, text.ptr, (int)text.len, SQLITE_STATIC);
        if (sqlite3_step(insert) != SQLITE_DONE)
            die(sqlite3_errmsg(db));
        sqlite3_reset(insert);
    }
    sqlite3_finalize(insert);
    execute(db, "COMMIT");
    /* One segment, as good as it gets for reading. */
    execute(db, "INSERT INTO docs (docs) VALUES ('optimize')");
    lc_buf_clear(&text);
    return db;
}

static int64_t search_fts(sqlite3 *db, sqlite3_stmt *select, size_t number)
{
    lc_buf text;
    int64_t first = -1;
    int status;

    lc_buf_init(&text, &heap, LOCI_MEM_REQUESTS, SIZE_MAX);
    join(&text, queries[number], QUERY_TERMS, " OR ");
    sqlite3_bind_text(select, 1, text.ptr, (int)text.len, SQLITE_STATIC);
    while ((status = sqlite3_step(select)) == SQLITE_ROW) {
        if (first < 0)
            first = sqlite3_column_int64(select, 0);
    }
    if (status != SQLITE_DONE)
        die(sqlite3_errmsg(db));
    sqlite3_reset(select);
    lc_buf_clear(&text);
    return first;
}

/* ---- Measuring ------------------------------------------------------------------------------- */

static void report_build(size_t count, double loci_s, double fts_s, const lc_postings *index)
{
    lc_postings_size size = lc_postings_get_size(index);

    printf("{\"bench\":\"postings\",\"case\":\"build/%zu\",\"loci_docs_per_s\":%.0f,"
           "\"fts5_docs_per_s\":%.0f,\"ratio\":%.1f,\"loci_bytes_per_doc\":%.0f}\n",
           count, (double)count / loci_s, (double)count / fts_s, fts_s / loci_s,
           (double)size.bytes / (double)count);
}

typedef struct query_set {
    const char *name;
    size_t begin; /* In `queries`. */
} query_set;

static void measure_queries(const lc_postings *index, sqlite3 *db, const query_set *set)
{
    sqlite3_stmt *select = prepare(
        db, "SELECT rowid FROM docs WHERE docs MATCH ?1 ORDER BY rank LIMIT 50");
    double loci_s[ROUNDS], fts_s[ROUNDS], begin, loci_us, fts_us;
    int64_t first[QUERIES];
    int agreed = 0;
    int repeats = 20; /* One pass of ours is too short to be timed alone. */

    for (int round = 0; round < ROUNDS; round++) {
        begin = cpu_seconds();
        for (int repeat = 0; repeat < repeats; repeat++) {
            for (size_t i = 0; i < QUERIES; i++)
                first[i] = search_loci(index, set->begin + i);
        }
        loci_s[round] = (cpu_seconds() - begin) / QUERIES / repeats;
        agreed = 0;
        begin = cpu_seconds();
        for (size_t i = 0; i < QUERIES; i++)
            agreed += search_fts(db, select, set->begin + i) == first[i];
        fts_s[round] = (cpu_seconds() - begin) / QUERIES;
    }
    sqlite3_finalize(select);
    loci_us = median(loci_s, ROUNDS) * 1e6;
    fts_us = median(fts_s, ROUNDS) * 1e6;
    printf("{\"bench\":\"postings\",\"case\":\"%s/%zu\",\"loci_us\":%.1f,\"fts5_us\":%.0f,"
           "\"ratio\":%.0f,\"same_first\":\"%d of %d\"}\n",
           set->name, lc_postings_get_size(index).documents, loci_us, fts_us, fts_us / loci_us,
           agreed, QUERIES);
}

static void measure(size_t count)
{
    double begin = cpu_seconds(), loci_s, fts_s;
    lc_postings *index = build_loci(count);
    sqlite3 *db;

    loci_s = cpu_seconds() - begin;
    begin = cpu_seconds();
    db = build_fts(count);
    fts_s = cpu_seconds() - begin;
    report_build(count, loci_s, fts_s, index);
    measure_queries(index, db, &(query_set){"query", 0});
    measure_queries(index, db, &(query_set){"common", QUERIES});
    sqlite3_close(db);
    lc_postings_free(index);
}

/* Documents that change: each add takes the place of an older one, compactions included. */
static void measure_replacing(void)
{
    lc_postings *index = build_loci(DOCUMENTS_MAX);
    double begin = cpu_seconds();

    for (size_t i = 0; i < DOCUMENTS_MAX; i++) {
        const document *other = &documents[(i * 7919 + 1) % DOCUMENTS_MAX];

        if (lc_postings_add(index, (uint32_t)i, other->words, other->count, NULL) != LOCI_OK)
            die("replacing failed");
    }
    printf("{\"bench\":\"postings\",\"case\":\"replace/%d\",\"us_each\":%.2f}\n", DOCUMENTS_MAX,
           (cpu_seconds() - begin) * 1e6 / DOCUMENTS_MAX);
    lc_postings_free(index);
}

/* English text to terms: folding, splitting, stop words, stems. */
static void measure_splitting(void)
{
    static const char sentence[] =
        "John's allergies were discussed at the hospital on 2024-05-01; he can't eat peanuts or "
        "shellfish, and Dr. Keller (keller@example.com) recommended carrying two injectors. ";
    lc_stemmer stemmer;
    lc_arena arena;
    lc_words terms;
    size_t passes = 20000;
    double begin;

    if (lc_stemmer_init(&stemmer, LC_STEM_ENGLISH, NULL) != LOCI_OK)
        die("no stemmer");
    lc_arena_init(&arena, &heap, LOCI_MEM_REQUESTS);
    begin = cpu_seconds();
    for (size_t i = 0; i < passes; i++) {
        lc_arena_mark mark = lc_arena_get_mark(&arena);

        if (lc_terms_split(&stemmer, &arena, loci_str_of(sentence), &terms, NULL) != LOCI_OK)
            die("splitting failed");
        lc_arena_rewind(&arena, mark);
    }
    printf("{\"bench\":\"postings\",\"case\":\"terms\",\"mb_per_s\":%.1f,\"us_a_sentence\":%.1f}\n",
           (double)(passes * (sizeof sentence - 1)) / 1e6 / (cpu_seconds() - begin),
           (cpu_seconds() - begin) * 1e6 / (double)passes);
    lc_arena_clear(&arena);
    lc_stemmer_clear(&stemmer);
}

int main(void)
{
    static const size_t counts[] = {1000, 10000, DOCUMENTS_MAX};

    lc_heap_init(&heap, (loci_allocator){0});
    make_documents();
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
        measure(counts[i]);
    measure_replacing();
    measure_splitting();
    return 0;
}
