/* user_cache.c - Invariants: everything but the content of a lent state is touched under the lock,
 * which is never held while a state is opened, brought up to date, read or closed; an entry whose
 * `use_count` is not 0 is not freed; `bytes` is the sum over the entries in the map; `newest` and
 * `oldest` are the ends of a list of exactly these entries.
 *
 * A state has an owner while `is_lent`: only that thread touches it. While `peek_count` is not 0
 * the state is shared by threads that read it, and is not lent. Waiting threads share one condition
 * variable: there are few of them, and they wait for a user's state to be built.
 */
#include "engine/user_cache.h"

#include <pthread.h>
#include <string.h>
#include <time.h>

#include "base/assert.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/map.h"
#include "base/str.h"
#include "store/backup.h"
#include "store/event.h"

#define NOTHING_SEEN (-1)
#define BUILDING_US 1000000 /* Between two slices: enough for a busy machine. */
#define KEY_BYTES_MAX (2 + 2 * LC_ID_BYTES_MAX)

/* The state of one kind. */
typedef struct slot {
    const lc_user_kind *kind;
    void *state; /* NULL = not opened yet, or closed after a failure. */
    int64_t seen_seq;
    int64_t restore_mark; /* Of the store that it was read from. */
    uint64_t version;     /* Of the database when it was last complete; 0 = unknown. */
    size_t bytes;         /* When it was last given back. */
    bool is_complete;
    bool has_more; /* Another slice would make progress. */
    bool is_lent;
    int peek_count;
    struct entry *entry; /* NULL = private. */
    struct slot *next;
} slot;

typedef struct entry {
    slot *slots;
    int use_count;   /* Threads that have, await or read one of its states. */
    bool is_dropped; /* It is not in the map any more; its last user frees it. */
    size_t bytes;
    int64_t building_until_us; /* A state is being built: its borrower comes back before that. */
    struct entry *newer, *older;
    size_t key_bytes;
    char key[];
} entry;

struct lc_user_cache {
    lc_heap *heap;
    pthread_mutex_t lock;
    pthread_cond_t given_back;
    int waiting_count;
    lc_map entries; /* By key. */
    entry *newest, *oldest;
    entry *large; /* The last one that was given back with more than bytes_max; NULL = none. */
    size_t bytes, bytes_max;
    lc_user_cache_counters counters;
};

/* ---- Entries --------------------------------------------------------------------------------- */

/* The length keeps ("a", "bc") and ("ab", "c") apart. */
static loci_str make_key(char out[KEY_BYTES_MAX], loci_str tenant_id, loci_str user_id)
{
    uint16_t tenant_bytes = (uint16_t)tenant_id.len;

    LC_ASSERT(tenant_id.len <= LC_ID_BYTES_MAX);
    LC_ASSERT(user_id.len <= LC_ID_BYTES_MAX);
    memcpy(out, &tenant_bytes, sizeof tenant_bytes);
    if (tenant_id.len > 0)
        memcpy(out + 2, tenant_id.ptr, tenant_id.len);
    if (user_id.len > 0)
        memcpy(out + 2 + tenant_id.len, user_id.ptr, user_id.len);
    return (loci_str){out, 2 + tenant_id.len + user_id.len};
}

static void unlink_entry(lc_user_cache *cache, entry *e)
{
    *(e->newer != NULL ? &e->newer->older : &cache->newest) = e->older;
    *(e->older != NULL ? &e->older->newer : &cache->oldest) = e->newer;
    e->newer = e->older = NULL;
}

static void link_as_newest(lc_user_cache *cache, entry *e)
{
    e->newer = NULL;
    e->older = cache->newest;
    *(e->older != NULL ? &e->older->newer : &cache->oldest) = e;
    cache->newest = e;
}

/* Takes `e` out of the map. If no thread uses it, it is put on `*garbage`, to be freed without the
 * lock; else its last user frees it. */
static void drop(lc_user_cache *cache, entry *e, entry **garbage)
{
    unlink_entry(cache, e);
    if (cache->large == e)
        cache->large = NULL;
    (void)lc_map_take(&cache->entries, (loci_str){e->key, e->key_bytes});
    cache->bytes -= e->bytes;
    e->is_dropped = true;
    if (e->use_count == 0) {
        e->older = *garbage;
        *garbage = e;
    }
}

static void free_entries(lc_user_cache *cache, entry *garbage)
{
    while (garbage != NULL) {
        entry *e = garbage;

        garbage = e->older;
        while (e->slots != NULL) {
            slot *s = e->slots;

            e->slots = s->next;
            if (s->state != NULL)
                s->kind->close(s->state);
            lc_heap_free(cache->heap, s, sizeof *s, LOCI_MEM_CACHES);
        }
        lc_heap_free(cache->heap, e, sizeof *e + e->key_bytes, LOCI_MEM_CACHES);
    }
}

static void evict_one(lc_user_cache *cache, entry *e, entry **garbage)
{
    cache->counters.evictions++;
    drop(cache, e, garbage);
}

static bool is_idle(const entry *e)
{
    return e->use_count == 0 &&
           (e->building_until_us == 0 || lc_clock_monotonic_us() >= e->building_until_us);
}

/* Least recently used first, up to `end` (NULL = all). */
static size_t evict(lc_user_cache *cache, size_t bytes, const entry *end, entry **garbage)
{
    size_t freed = 0;
    entry *e = cache->oldest;

    while (e != end && freed < bytes) {
        entry *newer = e->newer;

        if (is_idle(e)) {
            freed += e->bytes;
            evict_one(cache, e, garbage);
        }
        e = newer;
    }
    return freed;
}

/* See user_cache.h about users that are larger than the limit. */
static void keep_limit(lc_user_cache *cache, entry **garbage)
{
    size_t allowed = cache->bytes_max;
    bool is_newest_kept = cache->bytes_max > 0 && cache->newest != NULL;
    entry *large = cache->large;

    if (is_newest_kept && cache->newest->bytes > cache->bytes_max)
        allowed += cache->newest->bytes;
    if (cache->bytes > allowed && large != NULL && large != cache->newest) {
        if (is_idle(large))
            evict_one(cache, large, garbage);
        else
            allowed += large->bytes; /* The others must not go for it. */
    }
    if (cache->bytes > allowed)
        (void)evict(cache, cache->bytes - allowed, is_newest_kept ? cache->newest : NULL, garbage);
}

static void add_bytes(lc_user_cache *cache, entry *e, slot *s, size_t bytes)
{
    e->bytes += bytes - s->bytes;
    if (!e->is_dropped)
        cache->bytes += bytes - s->bytes;
    s->bytes = bytes;
}

static entry *add_entry(lc_user_cache *cache, loci_str key)
{
    size_t bytes = sizeof(entry) + key.len;
    entry *e = lc_heap_zalloc(cache->heap, bytes, LOCI_MEM_CACHES);

    if (e == NULL)
        return NULL;
    e->key_bytes = key.len;
    memcpy(e->key, key.ptr, key.len);
    if (!lc_map_put(&cache->entries, (loci_str){e->key, key.len}, e)) {
        lc_heap_free(cache->heap, e, bytes, LOCI_MEM_CACHES);
        return NULL;
    }
    e->bytes = bytes + sizeof(lc_map_entry);
    cache->bytes += e->bytes;
    link_as_newest(cache, e);
    return e;
}

static slot *find_slot(const entry *e, const lc_user_kind *kind)
{
    slot *s = e->slots;

    while (s != NULL && s->kind != kind)
        s = s->next;
    return s;
}

static slot *new_slot(lc_heap *heap, const lc_user_kind *kind)
{
    slot *s = lc_heap_zalloc(heap, sizeof *s, LOCI_MEM_CACHES);

    if (s != NULL) {
        s->kind = kind;
        s->seen_seq = NOTHING_SEEN;
    }
    return s;
}

/* NULL when out of memory. The lock is held. */
static slot *find_or_add_slot(lc_user_cache *cache, loci_str key, const lc_user_kind *kind)
{
    entry *e = lc_map_find(&cache->entries, key);
    slot *s;

    if (e == NULL)
        e = add_entry(cache, key);
    if (e == NULL)
        return NULL;
    unlink_entry(cache, e);
    link_as_newest(cache, e);
    s = find_slot(e, kind);
    if (s != NULL)
        return s;
    s = new_slot(cache->heap, kind);
    if (s == NULL)
        return NULL;
    s->entry = e;
    s->next = e->slots;
    e->slots = s;
    add_bytes(cache, e, s, sizeof *s);
    return s;
}

/* ---- States ---------------------------------------------------------------------------------- */

static void close_state(slot *s)
{
    if (s->state != NULL)
        s->kind->close(s->state);
    s->state = NULL;
    s->seen_seq = NOTHING_SEEN;
    s->is_complete = s->has_more = false;
    s->version = 0;
}

/* The end of the log of a transaction's user, and the restore mark of the store. */
typedef struct position {
    int64_t head_seq;
    int64_t restore_mark;
} position;

/* One slice of bringing a state to the end of the log. The state must not be ahead of it. */
static loci_status catch_up(slot *s, lc_tx *tx, const position *at, loci_error *err)
{
    lc_catch_up step = {
        .seen_seq = s->seen_seq, .head_seq = at->head_seq, .pause_us = lc_tx_slice_end_us(tx)};
    loci_status status;

    if (s->is_complete && s->seen_seq == at->head_seq)
        return LOCI_OK;
    status = s->kind->catch_up(s->state, tx, &step, err);
    if (status != LOCI_OK) {
        close_state(s);
        return status;
    }
    LC_ASSERT(!step.is_complete || step.seen_seq == at->head_seq);
    s->seen_seq = step.seen_seq;
    s->is_complete = step.is_complete;
    /* A step that ends early waits for something that another slice cannot provide. */
    s->has_more = !step.is_complete && lc_clock_monotonic_us() >= step.pause_us;
    return LOCI_OK;
}

static loci_status open_state(slot *s, lc_heap *heap, const position *at, loci_error *err)
{
    loci_status status;

    /* A restored backup may have another log with the same seqs. */
    if (s->state != NULL && s->restore_mark == at->restore_mark)
        return LOCI_OK;
    close_state(s);
    status = s->kind->open(s->kind, heap, &s->state, err);
    if (status != LOCI_OK) {
        s->state = NULL;
        return status;
    }
    s->restore_mark = at->restore_mark;
    s->is_complete = s->kind->catch_up == NULL;
    return LOCI_OK;
}

/* A state that has read something which was forgotten, or taken back, since is made again: nothing
 * in the rows that it would read to catch up says so. */
static loci_status drop_forgotten(slot *s, lc_heap *heap, lc_tx *tx, const position *at,
                                  loci_error *err)
{
    int64_t forgotten_seq = NOTHING_SEEN;
    loci_str rest;
    loci_status status = LOCI_OK;

    if (s->seen_seq >= 0 && s->seen_seq < at->head_seq)
        status = lc_tx_forgotten_seq(tx, tx->tenant_id, tx->user_id,
                                     lc_str_split(loci_str_of(s->kind->name), '.', &rest),
                                     &forgotten_seq, err);
    if (status != LOCI_OK || forgotten_seq <= s->seen_seq)
        return status;
    close_state(s);
    return open_state(s, heap, at, err);
}

static loci_status find_position(lc_tx *tx, const lc_user_kind *kind, lc_lender *lender,
                                 position *out, loci_error *err)
{
    lc_head head;
    loci_status status = LOCI_OK;

    *out = (position){0};
    if (kind->catch_up == NULL)
        return LOCI_OK;
    if (!lender->has_restore_mark)
        status = lc_tx_restore_mark(tx, &lender->restore_mark, err);
    if (status == LOCI_OK) {
        lender->has_restore_mark = true;
        status = lc_tx_head(tx, &head, err);
    }
    if (status == LOCI_OK)
        *out = (position){.head_seq = head.seq, .restore_mark = lender->restore_mark};
    return status;
}

/* ---- Lending --------------------------------------------------------------------------------- */

static void wait_until_given_back(lc_user_cache *cache, int64_t until_us)
{
    struct timespec until = {.tv_sec = until_us / 1000000, .tv_nsec = until_us % 1000000 * 1000};

    cache->waiting_count++;
    (void)pthread_cond_timedwait(&cache->given_back, &cache->lock, &until);
    cache->waiting_count--;
}

/* Makes this thread the owner of the user's state. NULL in `*out` when another thread had it for
 * too long. */
static loci_status take(lc_user_cache *cache, const lc_tx *tx, const lc_user_kind *kind, slot **out,
                        loci_error *err)
{
    int64_t until_us = lc_tx_slice_end_us(tx);
    char key[KEY_BYTES_MAX];
    entry *garbage = NULL;
    slot *s;

    *out = NULL;
    (void)pthread_mutex_lock(&cache->lock);
    s = find_or_add_slot(cache, make_key(key, tx->tenant_id, tx->user_id), kind);
    if (s != NULL) {
        s->entry->use_count++;
        while ((s->is_lent || s->peek_count > 0) && lc_clock_monotonic_us() < until_us)
            wait_until_given_back(cache, until_us);
        if (!s->is_lent && s->peek_count == 0) {
            s->is_lent = true;
            *(s->seen_seq == NOTHING_SEEN && kind->catch_up != NULL ? &cache->counters.misses
                                                                    : &cache->counters.hits) += 1;
            *out = s;
        } else if (--s->entry->use_count == 0 && s->entry->is_dropped) {
            s->entry->older = NULL;
            garbage = s->entry;
        }
    }
    (void)pthread_mutex_unlock(&cache->lock);
    free_entries(cache, garbage);
    return s != NULL ? LOCI_OK : lc_fail_memory(err);
}

/* Ends the ownership of a state (or a peek). The lock is held. */
static void release(lc_user_cache *cache, slot *s, entry **garbage)
{
    entry *e = s->entry;

    if (--e->use_count == 0 && e->is_dropped) {
        e->older = *garbage;
        *garbage = e;
    }
    if (cache->waiting_count > 0)
        (void)pthread_cond_broadcast(&cache->given_back);
}

static void give_back_slot(lc_user_cache *cache, slot *s)
{
    size_t bytes = sizeof *s + (s->state != NULL ? s->kind->bytes(s->state) : 0);
    int64_t building_until_us = s->has_more ? lc_clock_monotonic_us() + BUILDING_US : 0;
    entry *e = s->entry, *garbage = NULL;

    (void)pthread_mutex_lock(&cache->lock);
    add_bytes(cache, e, s, bytes);
    s->is_lent = false;
    e->building_until_us = building_until_us;
    if (!e->is_dropped && e->bytes > cache->bytes_max && cache->large != e) {
        if (cache->large != NULL && is_idle(cache->large))
            evict_one(cache, cache->large, &garbage);
        cache->large = e;
    }
    release(cache, s, &garbage);
    keep_limit(cache, &garbage);
    (void)pthread_mutex_unlock(&cache->lock);
    free_entries(cache, garbage);
}

static void give_back_private(lc_heap *heap, slot *s)
{
    close_state(s);
    lc_heap_free(heap, s, sizeof *s, LOCI_MEM_CACHES);
}

static loci_status build_private(lc_heap *heap, lc_tx *tx, const lc_user_kind *kind,
                                 const position *at, slot **out, loci_error *err)
{
    slot *s = new_slot(heap, kind);
    loci_status status = s != NULL ? open_state(s, heap, at, err) : lc_fail_memory(err);

    if (status == LOCI_OK && kind->catch_up != NULL)
        status = catch_up(s, tx, at, err);
    if (status == LOCI_OK)
        *out = s;
    else if (s != NULL)
        give_back_private(heap, s);
    return status;
}

static loci_status ask_for_retry(lc_lender *lender, const lc_user_kind *kind, loci_error *err)
{
    lender->must_retry = true;
    return lc_fail(err, LOCI_ECONFLICT, "%s: not ready for this snapshot", kind->name);
}

/* Brings the state that this thread owns to the snapshot; `*out_is_ahead`: impossible, since the
 * state is newer. */
static loci_status update(lc_lender *lender, slot *s, lc_tx *tx, const position *at,
                          bool *out_is_ahead, loci_error *err)
{
    loci_status status = open_state(s, lender->cache->heap, at, err);

    if (status != LOCI_OK || s->kind->catch_up == NULL)
        return status;
    *out_is_ahead = s->seen_seq > at->head_seq;
    if (*out_is_ahead)
        return LOCI_OK;
    status = drop_forgotten(s, lender->cache->heap, tx, at, err);
    if (status == LOCI_OK)
        status = catch_up(s, tx, at, err);
    if (status == LOCI_OK)
        s->version = s->is_complete ? lender->version : 0;
    return status;
}

static loci_status borrow(void *ctx, lc_tx *tx, const lc_user_kind *kind, void **out,
                          bool *out_is_complete, loci_error *err)
{
    lc_lender *lender = ctx;
    lc_user_cache *cache = lender->cache;
    bool is_ahead = false;
    position at;
    slot *s = NULL;
    loci_status status = find_position(tx, kind, lender, &at, err);

    LC_ASSERT(lender->loan == NULL); /* Two loans at a time could wait for each other. */
    if (status == LOCI_OK)
        status = take(cache, tx, kind, &s, err);
    if (status == LOCI_OK && s != NULL)
        status = update(lender, s, tx, &at, &is_ahead, err);
    if (s != NULL && (status != LOCI_OK || is_ahead || (s->has_more && lender->may_retry))) {
        give_back_slot(cache, s);
        s = NULL;
    }
    if (status == LOCI_OK && s == NULL)
        status = lender->may_retry ? ask_for_retry(lender, kind, err)
                                   : build_private(cache->heap, tx, kind, &at, &s, err);
    if (status != LOCI_OK)
        return status;
    lender->loan = s;
    *out = s->state;
    *out_is_complete = s->is_complete;
    return LOCI_OK;
}

static void give_back(void *ctx, lc_tx *tx, const lc_user_kind *kind, void *state)
{
    lc_lender *lender = ctx;
    slot *s = lender->loan;

    (void)tx;
    LC_ASSERT(s != NULL);
    LC_ASSERT(s->kind == kind);
    LC_ASSERT(s->state == state);
    lender->loan = NULL;
    if (s->entry != NULL)
        give_back_slot(lender->cache, s);
    else
        give_back_private(lender->cache->heap, s);
}

void lc_lender_init(lc_lender *lender, lc_user_cache *cache)
{
    *lender = (lc_lender){.states = {.borrow = borrow, .give_back = give_back, .ctx = lender},
                          .cache = cache};
}

/* ---- States of writes ------------------------------------------------------------------------ */

static loci_status borrow_private(void *ctx, lc_tx *tx, const lc_user_kind *kind, void **out,
                                  bool *out_is_complete, loci_error *err)
{
    lc_lender lender = {0};
    position at;
    slot *s = NULL;
    loci_status status = find_position(tx, kind, &lender, &at, err);

    (void)ctx;
    if (status == LOCI_OK)
        status = build_private(&tx->db->env->heap, tx, kind, &at, &s, err);
    if (status != LOCI_OK)
        return status;
    *out = s->state;
    *out_is_complete = s->is_complete;
    lc_heap_free(&tx->db->env->heap, s, sizeof *s, LOCI_MEM_CACHES);
    return LOCI_OK;
}

static void close_private(void *ctx, lc_tx *tx, const lc_user_kind *kind, void *state)
{
    (void)ctx;
    (void)tx;
    kind->close(state);
}

const lc_user_states lc_private_states = {.borrow = borrow_private, .give_back = close_private};

/* ---- Peeking --------------------------------------------------------------------------------- */

bool lc_user_cache_peek(lc_user_cache *cache, const lc_peek *peek, uint64_t version)
{
    char key[KEY_BYTES_MAX];
    loci_str name = make_key(key, peek->tenant_id, peek->user_id);
    entry *e, *garbage = NULL;
    slot *s = NULL;
    bool is_answered;

    (void)pthread_mutex_lock(&cache->lock);
    e = lc_map_find(&cache->entries, name);
    if (e != NULL)
        s = find_slot(e, peek->kind);
    if (s == NULL || s->is_lent || s->version != version || version == 0) {
        (void)pthread_mutex_unlock(&cache->lock);
        return false;
    }
    s->peek_count++;
    e->use_count++;
    if (cache->newest != e) {
        unlink_entry(cache, e);
        link_as_newest(cache, e);
    }
    (void)pthread_mutex_unlock(&cache->lock);

    is_answered = peek->look(peek->ctx, s->state);

    (void)pthread_mutex_lock(&cache->lock);
    s->peek_count--;
    release(cache, s, &garbage);
    cache->counters.hits += is_answered;
    cache->counters.peeks += is_answered;
    (void)pthread_mutex_unlock(&cache->lock);
    free_entries(cache, garbage);
    return is_answered;
}

/* ---- Bounds and life ------------------------------------------------------------------------- */

void lc_user_cache_set_limit(lc_user_cache *cache, size_t bytes_max)
{
    entry *garbage = NULL;

    (void)pthread_mutex_lock(&cache->lock);
    cache->bytes_max = bytes_max;
    keep_limit(cache, &garbage);
    (void)pthread_mutex_unlock(&cache->lock);
    free_entries(cache, garbage);
}

size_t lc_user_cache_evict(lc_user_cache *cache, size_t bytes, int64_t until_us)
{
    size_t freed = 0, one;

    do {
        entry *garbage = NULL;

        (void)pthread_mutex_lock(&cache->lock);
        one = evict(cache, 1, NULL, &garbage);
        (void)pthread_mutex_unlock(&cache->lock);
        free_entries(cache, garbage);
        freed += one;
    } while (one > 0 && freed < bytes && lc_clock_monotonic_us() < until_us);
    return freed;
}

void lc_user_cache_clear(lc_user_cache *cache)
{
    entry *garbage = NULL;

    (void)pthread_mutex_lock(&cache->lock);
    while (cache->oldest != NULL)
        drop(cache, cache->oldest, &garbage);
    (void)pthread_mutex_unlock(&cache->lock);
    free_entries(cache, garbage);
}

lc_user_cache_counters lc_user_cache_get_counters(lc_user_cache *cache)
{
    lc_user_cache_counters counters;

    (void)pthread_mutex_lock(&cache->lock);
    counters = cache->counters;
    counters.entries = (int64_t)cache->entries.entry_count;
    counters.bytes = (int64_t)cache->bytes;
    (void)pthread_mutex_unlock(&cache->lock);
    return counters;
}

loci_status lc_user_cache_new(lc_heap *heap, lc_user_cache **out, loci_error *err)
{
    lc_user_cache *cache = lc_heap_zalloc(heap, sizeof *cache, LOCI_MEM_CACHES);
    pthread_condattr_t attributes;

    if (cache == NULL)
        return lc_fail_memory(err);
    cache->heap = heap;
    cache->bytes_max = SIZE_MAX;
    lc_map_init(&cache->entries, heap, LOCI_MEM_CACHES);
    /* None of these fails on Linux. Waiting is timed by the clock that cannot be set. */
    (void)pthread_mutex_init(&cache->lock, NULL);
    (void)pthread_condattr_init(&attributes);
    (void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&cache->given_back, &attributes);
    (void)pthread_condattr_destroy(&attributes);
    *out = cache;
    return LOCI_OK;
}

void lc_user_cache_free(lc_user_cache *cache)
{
    if (cache == NULL)
        return;
    lc_user_cache_clear(cache);
    lc_map_clear(&cache->entries);
    (void)pthread_cond_destroy(&cache->given_back);
    (void)pthread_mutex_destroy(&cache->lock);
    lc_heap_free(cache->heap, cache, sizeof *cache, LOCI_MEM_CACHES);
}
