/* read_cache.c - 1,024 sets of 4 entries. An entry is one block: its key (statement and arguments,
 * compared in full, since whoever chooses arguments could choose ones with equal hashes) and its
 * rows, as an array of cells with the texts behind it.
 *
 *     count of rows | cell cell cell ... | texts
 *
 * Every user falls into a slot (watch.h) that has a counter of commits; another counts for all.
 * Both only rise, so their sum tells whether either has. It is asked for before the store is, and
 * an entry counts while it stays the same: rows that were read while somebody committed are stale
 * from the beginning.
 *
 * Invariant: the sets of a stripe are touched under its lock only.
 */
#include "engine/read_cache.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "base/assert.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/hash.h"
#include "engine/watch.h"

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
    _Atomic int64_t checked_us;             /* 0 = nothing counts. */
    _Atomic uint64_t all;                   /* How often anything may have changed, */
    _Atomic uint64_t slots[LC_WATCH_SLOTS]; /* and somebody of a slot. */
    pthread_mutex_t locks[STRIPES];
    entry *sets[SETS][WAYS];
    uint8_t victims[SETS]; /* The way that is given up next. */
};

/* A "connection" to what is kept, for the run of one body. */
typedef struct kept {
    lc_db db; /* First: the driver's functions get a pointer to it. */
    lc_read_cache *cache;
    const lc_read *read;
    uint32_t slot;
    uint64_t stamp;
    const lc_sql *sql; /* What was asked for first, */
    size_t key_bytes;  /* with its arguments; 0 = it cannot be kept. */
    lc_hash128 asked;  /* Of the key. */
    bool has_rows;
    bool was_asked;
    bool is_missed; /* It asked for what is not here. */
    size_t rows_bytes;
    char key[LC_READ_CACHE_KEY_BYTES];
    _Alignas(8) char rows[LC_READ_CACHE_ROWS_BYTES];
} kept;

/* ---- Stamps ---------------------------------------------------------------------------------- */

static uint64_t stamp_of(lc_read_cache *cache, uint32_t slot)
{
    return atomic_load_explicit(&cache->all, memory_order_acquire) +
           atomic_load_explicit(&cache->slots[slot], memory_order_acquire);
}

static bool is_fresh(lc_read_cache *cache)
{
    int64_t checked_us = atomic_load_explicit(&cache->checked_us, memory_order_acquire);

    return checked_us != 0 && lc_clock_monotonic_us() - checked_us < LC_READ_CACHE_US;
}

void lc_read_cache_wrote(lc_read_cache *cache, uint32_t slot)
{
    if (cache != NULL)
        atomic_fetch_add_explicit(&cache->slots[slot], 1, memory_order_acq_rel);
}

void lc_read_cache_forget(lc_read_cache *cache)
{
    if (cache != NULL)
        atomic_fetch_add_explicit(&cache->all, 1, memory_order_acq_rel);
}

void lc_read_cache_checked(lc_read_cache *cache, int64_t at_us)
{
    if (cache != NULL)
        atomic_store_explicit(&cache->checked_us, at_us, memory_order_release);
}

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

/* The arguments again; texts lie in the key. */
static void read_args(const kept *k, lc_arg out[PARAMS_MAX])
{
    size_t at = sizeof k->sql;

    for (size_t i = 0; k->sql->params[i] != '\0'; i++) {
        uint32_t len;

        out[i] = (lc_arg){.kind = k->key[at++]};
        if (out[i].kind == 'i' || out[i].kind == 'f') {
            memcpy(&out[i].as.i64, k->key + at, sizeof out[i].as.i64);
            at += sizeof out[i].as.i64;
        } else if (out[i].kind != 0) {
            memcpy(&len, k->key + at, sizeof len);
            out[i].as.str = (loci_str){k->key + at + sizeof len, len};
            at += sizeof len + len;
        }
    }
}

/* ---- Rows ------------------------------------------------------------------------------------ */

static cell *cell_of(const char *rows, int column_count, int row, int column)
{
    return (cell *)(rows + sizeof(int64_t)) + (ptrdiff_t)row * column_count + column;
}

static int64_t count_of(const char *rows)
{
    int64_t count;

    memcpy(&count, rows, sizeof count);
    return count;
}

/* Rows as they come: cells grow from the front, texts from the back, until they meet. */
typedef struct copying {
    kept *k;
    size_t front, back;
    int64_t count;
    bool is_full;
} copying;

static void copy_text(copying *c, const lc_rows *rows, int column, cell *out)
{
    loci_str text = lc_rows_str(rows, column);

    out->is_null = text.ptr == NULL;
    out->len = (uint32_t)text.len;
    if (text.len > c->back - c->front) {
        c->is_full = true;
        return;
    }
    c->back -= text.len;
    out->as.offset = c->back;
    if (text.len > 0)
        memcpy(c->k->rows + c->back, text.ptr, text.len);
}

static void copy_row(copying *c, const lc_rows *rows)
{
    size_t bytes = (size_t)rows->column_count * sizeof(cell);
    cell *cells = (cell *)(c->k->rows + c->front);

    if (bytes > c->back - c->front) {
        c->is_full = true;
        return;
    }
    memset(cells, 0, bytes);
    c->front += bytes;
    c->count++;
    for (int i = 0; i < rows->column_count && !c->is_full; i++) {
        char kind = rows->sql->columns[i];

        if (kind == 't' || kind == 'b') {
            copy_text(c, rows, i, &cells[i]);
            continue;
        }
        cells[i].is_null = lc_rows_is_null(rows, i);
        if (kind == 'f')
            cells[i].as.f64 = lc_rows_f64(rows, i);
        else
            cells[i].as.i64 = lc_rows_i64(rows, i);
    }
}

/* Closes the gap between the cells and the texts. */
static void pack(copying *c, int column_count)
{
    kept *k = c->k;
    size_t texts = sizeof k->rows - c->back;
    size_t moved = c->back - c->front;

    memcpy(k->rows, &c->count, sizeof c->count);
    memmove(k->rows + c->front, k->rows + c->back, texts);
    for (int64_t i = 0; i < c->count * column_count; i++) {
        cell *at = cell_of(k->rows, column_count, 0, (int)i);
        char kind = k->sql->columns[i % column_count];

        if (kind == 't' || kind == 'b')
            at->as.offset -= moved;
    }
    k->rows_bytes = c->front + texts;
}

/* Reads what was missed; `has_rows` stays false when it is too long to be kept. */
static loci_status fetch(lc_tx *tx, void *ctx, loci_error *err)
{
    kept *k = ctx;
    copying c = {.k = k, .front = sizeof(int64_t), .back = sizeof k->rows};
    lc_arg args[PARAMS_MAX];
    lc_rows rows;
    loci_status status;

    read_args(k, args);
    tx->tenant_id = k->read->tenant_id;
    tx->user_id = k->read->user_id;
    k->has_rows = false;
    status = lc_tx_query(tx, k->sql, args, &rows, err);
    if (status != LOCI_OK)
        return status;
    while (!c.is_full && lc_rows_next(&rows, &status, err))
        copy_row(&c, &rows);
    lc_rows_end(&rows);
    k->has_rows = status == LOCI_OK && !c.is_full;
    if (k->has_rows)
        pack(&c, rows.column_count);
    return status;
}

/* ---- The driver of what is kept -------------------------------------------------------------- */

static loci_status miss(kept *k, loci_error *err)
{
    k->is_missed = true;
    k->asked = lc_hash128_of((loci_str){k->key, k->key_bytes});
    return lc_fail(err, LOCI_EUNAVAILABLE, "it is not kept");
}

static loci_status query(lc_tx *tx, const lc_sql *sql, const lc_arg *args, lc_rows *out,
                         loci_error *err)
{
    kept *k = (kept *)tx->db;
    bool is_second = k->was_asked;
    lc_hash128 asked;

    k->was_asked = true;
    if (is_second) {
        k->key_bytes = 0;
        return miss(k, err);
    }
    k->sql = sql;
    k->key_bytes = make_key(k, sql, args);
    asked = lc_hash128_of((loci_str){k->key, k->key_bytes});
    /* What was fetched for it is what it asks for again: the same body with the same arguments. */
    if (k->key_bytes == 0 || !(k->has_rows ? lc_hash128_eq(k->asked, asked) : find(k)))
        return miss(k, err);
    out->statement = k->rows;
    out->place = -1;
    return LOCI_OK;
}

static bool next(lc_rows *rows, loci_status *out_status, loci_error *err)
{
    (void)out_status; /* Cannot fail. */
    (void)err;
    if (++rows->place < count_of(rows->statement))
        return true;
    rows->statement = NULL;
    return false;
}

static const cell *cell_at(const lc_rows *rows, int column)
{
    return cell_of(rows->statement, rows->column_count, rows->place, column);
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
    return (loci_str){(const char *)rows->statement + at->as.offset, at->len};
}

static bool column_is_null(const lc_rows *rows, int column)
{
    return cell_at(rows, column)->is_null;
}

static void end(lc_rows *rows)
{
    (void)rows; /* The rows live as long as the run. */
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

static loci_status run_guarded(void *ctx, loci_error *err)
{
    kept *k = ctx;
    lc_tx tx = {.db = &k->db, .now_us = lc_env_now_us(k->db.env)};

    return k->read->body(&tx, k->read->ctx, err);
}

/* False when it asked for what is not here. */
static bool run_body(kept *k, loci_status *out_status, loci_error *err)
{
    k->was_asked = k->is_missed = false;
    lc_arena_init(&k->db.scratch, &k->db.env->heap, LOCI_MEM_REQUESTS);
    *out_status = lc_engine_guard(k->cache->engine, run_guarded, k, err);
    lc_arena_clear(&k->db.scratch);
    return !k->is_missed;
}

bool lc_read_cache_run(lc_read_cache *cache, const lc_read *read, bool may_read,
                       loci_status *out_status, loci_error *err)
{
    kept k; /* Its rows and its key are not worth zeroing. */

    if (read->tenant_id.ptr == NULL || !is_fresh(cache))
        return false;
    memset(&k, 0, offsetof(kept, key));
    k.db = (lc_db){.driver = &kept_driver,
                   .env = lc_engine_env(cache->engine),
                   .catalogue = lc_engine_catalogue(cache->engine)};
    k.cache = cache;
    k.read = read;
    k.slot = lc_watch_slot(read->tenant_id, read->user_id);
    k.stamp = stamp_of(cache, k.slot);
    if (run_body(&k, out_status, err))
        return true;
    if (!may_read || k.key_bytes == 0)
        return false;
    *out_status = lc_engine_read_one(cache->engine, read->deadline_us, fetch, &k, err);
    if (*out_status != LOCI_OK)
        return true;
    if (!k.has_rows)
        return false;
    keep(&k);
    return run_body(&k, out_status, err);
}

loci_status lc_read_cache_new(loci_engine *engine, lc_read_cache **out, loci_error *err)
{
    lc_heap *heap = &lc_engine_env(engine)->heap;
    lc_read_cache *cache = lc_heap_zalloc(heap, sizeof *cache, LOCI_MEM_CACHES);

    if (cache == NULL)
        return lc_fail_memory(err);
    cache->engine = engine;
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
