/* read_cache.c - 1,024 sets of 4 entries. An entry is one block: its key (statement and arguments,
 * compared in full, since whoever chooses arguments could choose ones with equal hashes) and its
 * rows, as an array of cells with the texts behind it.
 *
 *     count of rows, are they all | cell cell cell ... | texts
 *
 * A body runs twice at most, each time on a "connection" made for the run: one that answers from
 * what is kept, and after a miss one that asks the store and writes down what it hands on. A body
 * that stops early, at its limit, leaves the beginning of an answer; whoever wants more of it later
 * misses, and writes down more.
 *
 * The stamp of its user (freshness.h) is asked for before the store is, and an entry counts while
 * it stays the same: rows that were read while somebody committed are stale from the beginning.
 *
 * Invariant: the sets of a stripe are touched under its lock only.
 */
#include "engine/read_cache.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "base/assert.h"
#include "base/error.h"
#include "base/hash.h"
#include "engine/internal.h"

#define WAYS 4
#define SETS (LC_READ_CACHE_ENTRIES / WAYS)
#define STRIPES 32
#define PARAMS_MAX 32

typedef struct cell {
    union {
        int64_t i64;
        double f64;
        size_t offset; /* Of a text, from the beginning of the rows. */
    } as;
    uint32_t len;
    bool is_null;
} cell;

typedef struct entry {
    uint64_t stamp;
    uint32_t slot;
    uint32_t key_bytes;
    uint32_t rows_bytes;
    _Alignas(8) char bytes[]; /* Rows, then key. */
} entry;

struct lc_read_cache {
    loci_engine *engine;
    lc_heap *heap;
    lc_freshness *freshness;
    _Atomic int64_t hits;
    pthread_mutex_t locks[STRIPES];
    entry *sets[SETS][WAYS];
    uint8_t victims[SETS]; /* The way that is given up next. */
};

typedef struct header {
    int64_t count;
    int64_t are_all;
} header;

/* Rows as they come: cells grow from the front, texts from the back, until they meet. */
typedef struct writing {
    lc_tx *tx; /* Of the store. */
    lc_rows rows;
    size_t front, back;
    header header;
    bool is_full;
} writing;

/* One run of one body. */
typedef struct kept {
    lc_db db; /* First: the driver's functions get a pointer to it. */
    lc_read_cache *cache;
    const lc_read *read;
    uint32_t slot;
    uint64_t stamp;
    const lc_sql *sql; /* What was asked for, */
    size_t key_bytes;  /* with its arguments; 0 = it cannot be kept. */
    bool was_asked;
    bool is_missed; /* It asked for what is not here, or for a second thing. */
    bool has_failed;
    writing writing;
    size_t rows_bytes;
    char key[LC_READ_CACHE_KEY_BYTES];
    _Alignas(8) char rows[LC_READ_CACHE_ROWS_BYTES];
} kept;

/* ---- Entries --------------------------------------------------------------------------------- */

static uint64_t place_of(const kept *k)
{
    return lc_hash64((loci_str){k->key, k->key_bytes}) % SETS;
}

static pthread_mutex_t *lock_of(lc_read_cache *cache, uint64_t set)
{
    return &cache->locks[set % STRIPES];
}

static bool is_of(const entry *e, const kept *k)
{
    return e != NULL && e->key_bytes == k->key_bytes &&
           memcmp(e->bytes + e->rows_bytes, k->key, k->key_bytes) == 0;
}

static void drop(lc_read_cache *cache, entry **at)
{
    if (*at != NULL)
        lc_heap_free(cache->heap, *at, sizeof **at + (*at)->rows_bytes + (*at)->key_bytes,
                     LOCI_MEM_CACHES);
    *at = NULL;
}

static bool find(kept *k)
{
    lc_read_cache *cache = k->cache;
    uint64_t set = place_of(k);
    bool found = false;

    (void)pthread_mutex_lock(lock_of(cache, set));
    for (int way = 0; way < WAYS && !found; way++) {
        entry *e = cache->sets[set][way];

        if (!is_of(e, k))
            continue;
        found = e->slot == k->slot && e->stamp == k->stamp;
        if (found) {
            memcpy(k->rows, e->bytes, e->rows_bytes);
            k->rows_bytes = e->rows_bytes;
        }
        break;
    }
    (void)pthread_mutex_unlock(lock_of(cache, set));
    return found;
}

/* Without memory it is not kept. */
static void keep(kept *k)
{
    lc_read_cache *cache = k->cache;
    uint64_t set = place_of(k);
    entry **at = NULL;
    entry *e = lc_heap_alloc(cache->heap, sizeof *e + k->rows_bytes + k->key_bytes,
                             LOCI_MEM_CACHES);

    if (e == NULL)
        return;
    e->stamp = k->stamp;
    e->slot = k->slot;
    e->key_bytes = (uint32_t)k->key_bytes;
    e->rows_bytes = (uint32_t)k->rows_bytes;
    memcpy(e->bytes, k->rows, k->rows_bytes);
    memcpy(e->bytes + k->rows_bytes, k->key, k->key_bytes);
    (void)pthread_mutex_lock(lock_of(cache, set));
    for (int way = 0; way < WAYS && at == NULL; way++) {
        if (cache->sets[set][way] == NULL || is_of(cache->sets[set][way], k))
            at = &cache->sets[set][way];
    }
    if (at == NULL)
        at = &cache->sets[set][cache->victims[set]++ % WAYS];
    drop(cache, at);
    *at = e;
    (void)pthread_mutex_unlock(lock_of(cache, set));
}

/* ---- Keys ------------------------------------------------------------------------------------ */

static bool add_bytes(kept *k, size_t *used, const void *bytes, size_t count)
{
    if (count > sizeof k->key - *used)
        return false;
    if (count > 0)
        memcpy(k->key + *used, bytes, count);
    *used += count;
    return true;
}

static bool add_arg(kept *k, size_t *used, const lc_arg *arg)
{
    uint32_t len = (uint32_t)arg->as.str.len;

    if (!add_bytes(k, used, &arg->kind, 1))
        return false;
    switch (arg->kind) {
    case 0:
        return true;
    case 'i':
    case 'f':
        return add_bytes(k, used, &arg->as.i64, sizeof arg->as.i64);
    default:
        return arg->as.str.len < sizeof k->key && add_bytes(k, used, &len, sizeof len) &&
               add_bytes(k, used, arg->as.str.ptr, len);
    }
}

/* The bytes of its key: 0 when they are too many. */
static size_t make_key(kept *k, const lc_sql *sql, const lc_arg *args)
{
    size_t count = strlen(sql->params), used = 0;
    bool fits = count <= PARAMS_MAX && add_bytes(k, &used, &sql, sizeof sql);

    for (size_t i = 0; fits && i < count; i++)
        fits = add_arg(k, &used, &args[i]);
    return fits ? used : 0;
}

/* Notes what the body asks for; false when it is not the first thing. */
static bool note_question(kept *k, const lc_sql *sql, const lc_arg *args)
{
    bool is_first = !k->was_asked;

    k->was_asked = true;
    k->sql = sql;
    k->key_bytes = is_first ? make_key(k, sql, args) : 0;
    return is_first;
}

/* Nobody is told of it: the body runs once more. */
static loci_status miss(kept *k)
{
    k->is_missed = true;
    return LOCI_EUNAVAILABLE;
}

/* ---- Writing rows down ----------------------------------------------------------------------- */

static void copy_text(kept *k, int column, cell *out)
{
    writing *w = &k->writing;
    loci_str text = lc_rows_str(&w->rows, column);

    out->is_null = text.ptr == NULL;
    out->len = (uint32_t)text.len;
    if (text.len > w->back - w->front) {
        w->is_full = true;
        return;
    }
    w->back -= text.len;
    out->as.offset = w->back;
    if (text.len > 0)
        memcpy(k->rows + w->back, text.ptr, text.len);
}

static void copy_row(kept *k)
{
    writing *w = &k->writing;
    size_t bytes = (size_t)w->rows.column_count * sizeof(cell);
    cell *cells = (cell *)(k->rows + w->front);

    if (bytes > w->back - w->front) {
        w->is_full = true;
        return;
    }
    memset(cells, 0, bytes);
    w->front += bytes;
    w->header.count++;
    for (int i = 0; i < w->rows.column_count && !w->is_full; i++) {
        char kind = k->sql->columns[i];

        if (kind == 't' || kind == 'b') {
            copy_text(k, i, &cells[i]);
            continue;
        }
        cells[i].is_null = lc_rows_is_null(&w->rows, i);
        if (kind == 'f')
            cells[i].as.f64 = lc_rows_f64(&w->rows, i);
        else
            cells[i].as.i64 = lc_rows_i64(&w->rows, i);
    }
}

/* Closes the gap between the cells and the texts. */
static void pack(kept *k)
{
    const writing *w = &k->writing;
    size_t texts = sizeof k->rows - w->back;
    size_t moved = w->back - w->front;
    int columns = w->rows.column_count;
    cell *cells = (cell *)(k->rows + sizeof(header));

    memcpy(k->rows, &w->header, sizeof w->header);
    memmove(k->rows + w->front, k->rows + w->back, texts);
    for (int64_t i = 0; i < w->header.count * columns; i++) {
        char kind = k->sql->columns[i % columns];

        if (kind == 't' || kind == 'b')
            cells[i].as.offset -= moved;
    }
    k->rows_bytes = w->front + texts;
}

/* ---- The driver that asks the store, and writes down ----------------------------------------- */

static writing *writing_of(const lc_rows *rows)
{
    return &((kept *)rows->statement)->writing;
}

static loci_status ask_query(lc_tx *tx, const lc_sql *sql, const lc_arg *args, lc_rows *out,
                             loci_error *err)
{
    kept *k = (kept *)tx->db;
    writing *w = &k->writing;
    loci_status status;

    if (!note_question(k, sql, args))
        return miss(k);
    w->tx->tenant_id = tx->tenant_id;
    w->tx->user_id = tx->user_id;
    status = lc_tx_query(w->tx, sql, args, &w->rows, err);
    k->has_failed = status != LOCI_OK;
    out->statement = k->has_failed ? NULL : k;
    return status;
}

static bool ask_next(lc_rows *rows, loci_status *out_status, loci_error *err)
{
    kept *k = rows->statement;
    writing *w = &k->writing;
    loci_status status = LOCI_OK;

    if (lc_rows_next(&w->rows, &status, err)) {
        if (!w->is_full)
            copy_row(k);
        return true;
    }
    w->header.are_all = status == LOCI_OK;
    k->has_failed = status != LOCI_OK;
    if (k->has_failed && out_status != NULL)
        *out_status = status;
    return false;
}

static int64_t ask_i64(const lc_rows *rows, int column)
{
    return lc_rows_i64(&writing_of(rows)->rows, column);
}

static double ask_f64(const lc_rows *rows, int column)
{
    return lc_rows_f64(&writing_of(rows)->rows, column);
}

static loci_str ask_str(const lc_rows *rows, int column)
{
    return lc_rows_str(&writing_of(rows)->rows, column);
}

static bool ask_is_null(const lc_rows *rows, int column)
{
    return lc_rows_is_null(&writing_of(rows)->rows, column);
}

static void ask_end(lc_rows *rows)
{
    if (rows->statement != NULL)
        lc_rows_end(&writing_of(rows)->rows);
    rows->statement = NULL;
}

static const lc_db_driver asking_driver = {
    .name = "kept",
    .query = ask_query,
    .next = ask_next,
    .column_i64 = ask_i64,
    .column_f64 = ask_f64,
    .column_str = ask_str,
    .column_is_null = ask_is_null,
    .end = ask_end,
};

/* ---- The driver of what is kept -------------------------------------------------------------- */

static loci_status query(lc_tx *tx, const lc_sql *sql, const lc_arg *args, lc_rows *out,
                         loci_error *err)
{
    kept *k = (kept *)tx->db;

    (void)err;
    if (!note_question(k, sql, args) || k->key_bytes == 0 || !find(k))
        return miss(k);
    out->statement = k;
    out->place = -1;
    return LOCI_OK;
}

static bool next(lc_rows *rows, loci_status *out_status, loci_error *err)
{
    kept *k = rows->statement;
    const header *head = (const header *)k->rows;

    (void)err;
    if (++rows->place < head->count)
        return true;
    if (head->are_all == 0)
        *out_status = miss(k);
    rows->statement = NULL;
    return false;
}

static const cell *cell_at(const lc_rows *rows, int column)
{
    const kept *k = rows->statement;

    return (const cell *)(k->rows + sizeof(header)) + (ptrdiff_t)rows->place * rows->column_count +
           column;
}

static int64_t column_i64(const lc_rows *rows, int column)
{
    return cell_at(rows, column)->as.i64;
}

static double column_f64(const lc_rows *rows, int column)
{
    return cell_at(rows, column)->as.f64;
}

static loci_str column_str(const lc_rows *rows, int column)
{
    const cell *at = cell_at(rows, column);

    if (at->is_null)
        return (loci_str){NULL, 0};
    return (loci_str){((const kept *)rows->statement)->rows + at->as.offset, at->len};
}

static bool column_is_null(const lc_rows *rows, int column)
{
    return cell_at(rows, column)->is_null;
}

static void end(lc_rows *rows)
{
    rows->statement = NULL; /* The rows live as long as the run. */
}

static const lc_db_driver kept_driver = {
    .name = "kept",
    .query = query,
    .next = next,
    .column_i64 = column_i64,
    .column_f64 = column_f64,
    .column_str = column_str,
    .column_is_null = column_is_null,
    .end = end,
};

/* ---- Running --------------------------------------------------------------------------------- */

static loci_status run_body(kept *k, const lc_db_driver *driver, lc_tx tx, loci_error *err)
{
    loci_status status;

    k->db.driver = driver;
    k->was_asked = k->is_missed = false;
    tx.db = &k->db;
    lc_arena_init(&k->db.scratch, &k->db.env->heap, LOCI_MEM_REQUESTS);
    status = k->read->body(&tx, k->read->ctx, err);
    lc_arena_clear(&k->db.scratch);
    return status;
}

static loci_status run_on_kept(void *ctx, loci_error *err)
{
    kept *k = ctx;

    return run_body(k, &kept_driver, (lc_tx){.now_us = lc_env_now_us(k->db.env)}, err);
}

static loci_status run_on_store(lc_tx *tx, void *ctx, loci_error *err)
{
    kept *k = ctx;

    k->has_failed = false;
    k->writing = (writing){.tx = tx, .front = sizeof(header), .back = sizeof k->rows};
    return run_body(k, &asking_driver, *tx, err);
}

bool lc_read_cache_run(lc_read_cache *cache, const lc_read *read, loci_status *out_status,
                       loci_error *err)
{
    uint32_t slot = lc_watch_slot(read->tenant_id, read->user_id);
    uint64_t stamp;
    kept k; /* Its rows and its key are not worth zeroing. */

    if (read->tenant_id.ptr == NULL || !lc_freshness_stamp(cache->freshness, slot, &stamp))
        return false;
    memset(&k, 0, offsetof(kept, key));
    k.db.env = lc_engine_env(cache->engine);
    k.db.catalogue = lc_engine_catalogue(cache->engine);
    k.cache = cache;
    k.read = read;
    k.slot = slot;
    k.stamp = stamp;
    *out_status = lc_engine_guard(cache->engine, run_on_kept, &k, err);
    if (!k.is_missed) {
        atomic_fetch_add_explicit(&cache->hits, 1, memory_order_relaxed);
        return true;
    }
    if (k.key_bytes == 0)
        return false;
    k.was_asked = k.is_missed = false; /* It may never get to run. */
    *out_status = lc_engine_fetch(cache->engine, read, run_on_store, &k, err);
    if (k.key_bytes > 0 && k.was_asked && !k.is_missed && !k.has_failed && !k.writing.is_full) {
        pack(&k);
        keep(&k);
    }
    return !k.is_missed;
}

int64_t lc_read_cache_hits(lc_read_cache *cache)
{
    return atomic_load_explicit(&cache->hits, memory_order_relaxed);
}

loci_status lc_read_cache_new(loci_engine *engine, lc_freshness *freshness, lc_read_cache **out,
                              loci_error *err)
{
    lc_heap *heap = &lc_engine_env(engine)->heap;
    lc_read_cache *cache = lc_heap_zalloc(heap, sizeof *cache, LOCI_MEM_CACHES);

    if (cache == NULL)
        return lc_fail_memory(err);
    cache->engine = engine;
    cache->freshness = freshness;
    cache->heap = heap;
    for (int i = 0; i < STRIPES; i++)
        (void)pthread_mutex_init(&cache->locks[i], NULL); /* Does not fail on Linux. */
    *out = cache;
    return LOCI_OK;
}

void lc_read_cache_free(lc_read_cache *cache)
{
    if (cache == NULL)
        return;
    for (int set = 0; set < SETS; set++) {
        for (int way = 0; way < WAYS; way++)
            drop(cache, &cache->sets[set][way]);
    }
    for (int i = 0; i < STRIPES; i++)
        (void)pthread_mutex_destroy(&cache->locks[i]);
    lc_heap_free(cache->heap, cache, sizeof *cache, LOCI_MEM_CACHES);
}
