/* usage.c - One record per thread, written by its thread alone.
 *
 *     taken  =  charged bytes + the stocks of all threads        (one atomic; compared with caps)
 *     charged[c]  =  settled[c] + sum over records of charged[c]
 *
 * A charge that the thread's stock covers is a load and a store of the thread's own memory; only
 * refilling and returning a stock touch `taken`. A thread that frees charges of others would
 * have a negative record: that is fine for the sums, but "more than is charged" could not be told.
 * So a record never becomes negative. Instead the thread takes over a part of the others' charges
 * (settled[c] becomes smaller, its record larger) after checking the sum, once per portion.
 *
 * A thread that ends adds its record to `settled`, returns its stock and leaves the record to the
 * next thread. The record is found by a thread-specific key of this registry, so several guards in
 * a process are independent; a thread-local variable keeps the record used last, which is three
 * instructions instead of a call. Registries have ids of their own, as a new one may have the
 * address of one that was freed. A thread for which no record can be allocated works on `settled`
 * and `taken` directly: slower, still exact.
 *
 * A stock is at most 1/128 of the smallest cap divided by the number of threads, so that all stocks
 * together stay below 2 % of it; 64 KiB at most.
 */
#include "guard/usage.h"

#include <pthread.h>
#include <string.h>

#include "base/assert.h"
#include "base/error.h"
#include "base/map.h"
#include "base/str.h"
#include "base/utf8.h"

#define LINE_BYTES 64 /* A line of the CPU cache: records of two threads share no line. */

typedef struct record {
    char before[LINE_BYTES];
    lc_usage *usage;
    struct record *next; /* Of all records. */
    bool is_used;        /* A thread owns it. */
    int64_t stock_bytes; /* Only used by the owner. */
    _Atomic int64_t charged[LOCI_MEM_CATEGORIES];
    char after[LINE_BYTES];
} record;

typedef struct component {
    loci_category category;
    int64_t bytes;
    size_t name_len;
    char name[LC_GUARD_NAME_BYTES_MAX];
} component;

struct lc_usage {
    uint64_t id; /* Not 0, and no other registry of the process ever has it. */
    lc_heap *heap;
    pthread_key_t key;
    pthread_mutex_t lock; /* Records, components, and changes of `settled`. */
    record *records;
    size_t thread_count;
    lc_map components;
    int64_t reported[LOCI_MEM_CATEGORIES];
    _Atomic int64_t settled[LOCI_MEM_CATEGORIES];
    _Atomic int64_t caps[LC_WORK_KINDS];
    _Atomic int64_t portion_bytes;
    _Atomic uint64_t refused;
    void (*on_refused)(void *ctx); /* NULL = nothing. */
    void *on_refused_ctx;
    char before[LINE_BYTES];
    _Atomic int64_t taken;
};

#define LOAD(place) atomic_load_explicit(&(place), memory_order_relaxed)
#define STORE(place, value) atomic_store_explicit(&(place), (value), memory_order_relaxed)
#define ADD(place, value) atomic_fetch_add_explicit(&(place), (value), memory_order_relaxed)

static _Atomic uint64_t last_id; /* Of registries. */

/* Initial-exec: 16 bytes are available to libraries that are loaded late, too. */
static _Thread_local struct {
    uint64_t id; /* 0 = none. */
    record *own;
} last_used __attribute__((tls_model("initial-exec")));

/* The destructor of the key: the thread that owns `ctx` ends. */
static void leave_record(void *ctx)
{
    record *own = ctx;
    lc_usage *usage = own->usage;

    (void)pthread_mutex_lock(&usage->lock);
    for (int i = 0; i < LOCI_MEM_CATEGORIES; i++) {
        ADD(usage->settled[i], LOAD(own->charged[i]));
        STORE(own->charged[i], 0);
    }
    ADD(usage->taken, -own->stock_bytes);
    own->stock_bytes = 0;
    own->is_used = false;
    usage->thread_count--;
    (void)pthread_mutex_unlock(&usage->lock);
    last_used.id = 0; /* Other destructors of the thread may charge. */
}

loci_status lc_usage_new(lc_heap *heap, lc_usage **out, loci_error *err)
{
    lc_usage *usage = lc_heap_zalloc(heap, sizeof *usage, LOCI_MEM_ENGINE);

    if (usage == NULL)
        return lc_fail_memory(err);
    if (pthread_key_create(&usage->key, leave_record) != 0) {
        lc_heap_free(heap, usage, sizeof *usage, LOCI_MEM_ENGINE);
        return lc_fail(err, LOCI_ERESOURCE,
                       "guard: the process has no thread-specific key left; close other guards");
    }
    usage->id = ADD(last_id, 1) + 1;
    usage->heap = heap;
    (void)pthread_mutex_init(&usage->lock, NULL); /* Cannot fail on Linux. */
    lc_map_init(&usage->components, heap, LOCI_MEM_ENGINE);
    lc_usage_set_caps(usage, (const int64_t[LC_WORK_KINDS]){INT64_MAX, INT64_MAX, INT64_MAX});
    *out = usage;
    return LOCI_OK;
}

void lc_usage_free(lc_usage *usage)
{
    component *row;
    size_t place = 0;

    if (usage == NULL)
        return;
    (void)pthread_key_delete(usage->key);
    while (usage->records != NULL) {
        record *next = usage->records->next;

        lc_heap_free(usage->heap, usage->records, sizeof *next, LOCI_MEM_ENGINE);
        usage->records = next;
    }
    while ((row = lc_map_each(&usage->components, &place)) != NULL)
        lc_heap_free(usage->heap, row, sizeof *row, LOCI_MEM_ENGINE);
    lc_map_clear(&usage->components);
    (void)pthread_mutex_destroy(&usage->lock);
    lc_heap_free(usage->heap, usage, sizeof *usage, LOCI_MEM_ENGINE);
}

/* ---- Charges --------------------------------------------------------------------------------- */

static void set_portion(lc_usage *usage)
{
    int64_t least = INT64_MAX, portion;

    for (int i = 0; i < LC_WORK_KINDS; i++)
        least = LOAD(usage->caps[i]) < least ? LOAD(usage->caps[i]) : least;
    portion = least / 128 / (int64_t)(usage->thread_count > 0 ? usage->thread_count : 1);
    if (portion > LC_USAGE_STOCK_BYTES)
        portion = LC_USAGE_STOCK_BYTES;
    STORE(usage->portion_bytes, portion);
}

/* The first charge of a thread. NULL when out of memory. */
static record *join_thread(lc_usage *usage)
{
    record *own;

    (void)pthread_mutex_lock(&usage->lock);
    for (own = usage->records; own != NULL && own->is_used; own = own->next)
        ;
    if (own == NULL) {
        own = lc_heap_zalloc(usage->heap, sizeof *own, LOCI_MEM_ENGINE);
        if (own != NULL) {
            own->usage = usage;
            own->next = usage->records;
            usage->records = own;
        }
    }
    if (own != NULL && pthread_setspecific(usage->key, own) != 0)
        own = NULL; /* The record stays for the next thread. */
    if (own != NULL) {
        own->is_used = true;
        usage->thread_count++;
        set_portion(usage);
    }
    (void)pthread_mutex_unlock(&usage->lock);
    return own;
}

/* The thread's record, or NULL when out of memory. */
static record *find_record(lc_usage *usage)
{
    record *own = pthread_getspecific(usage->key);

    if (own == NULL)
        own = join_thread(usage);
    if (own != NULL) {
        last_used.id = usage->id;
        last_used.own = own;
    }
    return own;
}

/* Takes `bytes`, and `more` if there is room for them too, from the common total. Returns the
 * bytes taken; 0 = not even `bytes` fit. */
static int64_t take(lc_usage *usage, int64_t bytes, int64_t more, int64_t cap)
{
    int64_t before = ADD(usage->taken, bytes + more);

    if (before + bytes + more <= cap)
        return bytes + more;
    ADD(usage->taken, -more);
    if (before + bytes <= cap)
        return bytes;
    ADD(usage->taken, -bytes);
    ADD(usage->refused, 1);
    if (usage->on_refused != NULL)
        usage->on_refused(usage->on_refused_ctx);
    return 0;
}

static void charge_record(record *own, loci_category category, int64_t bytes)
{
    own->stock_bytes -= bytes;
    STORE(own->charged[category], LOAD(own->charged[category]) + bytes);
}

/* The thread has no record yet, or its stock is too small, or the arguments are wrong. */
static __attribute__((noinline)) loci_status charge_slowly(lc_usage *usage, loci_category category,
                                                           loci_work work, int64_t bytes)
{
    record *own;
    int64_t taken;

    if ((unsigned)category >= LOCI_MEM_CATEGORIES || (unsigned)work >= LC_WORK_KINDS || bytes < 0)
        return LOCI_EINVAL;
    if (bytes > LC_GUARD_BYTES_MAX)
        return LOCI_ERESOURCE;
    own = find_record(usage);
    if (own == NULL) {
        if (bytes > 0 && take(usage, bytes, 0, LOAD(usage->caps[work])) == 0)
            return LOCI_ERESOURCE;
        ADD(usage->settled[category], bytes);
        return LOCI_OK;
    }
    if (bytes > own->stock_bytes) {
        taken = take(usage, bytes - own->stock_bytes, LOAD(usage->portion_bytes),
                     LOAD(usage->caps[work]));
        if (taken == 0)
            return LOCI_ERESOURCE;
        own->stock_bytes += taken;
    }
    charge_record(own, category, bytes);
    return LOCI_OK;
}

loci_status lc_usage_charge(lc_usage *usage, loci_category category, loci_work work, int64_t bytes)
{
    /* A stock is never negative, so one comparison refuses negative sizes, too. */
    if (__builtin_expect(last_used.id == usage->id && (unsigned)category < LOCI_MEM_CATEGORIES &&
                             (unsigned)work < LC_WORK_KINDS &&
                             (uint64_t)bytes <= (uint64_t)last_used.own->stock_bytes,
                         1)) {
        charge_record(last_used.own, category, bytes);
        return LOCI_OK;
    }
    return charge_slowly(usage, category, work, bytes);
}

/* The lock is held. */
static int64_t sum_charged(const lc_usage *usage, loci_category category)
{
    int64_t sum = LOAD(usage->settled[category]);

    for (const record *at = usage->records; at != NULL; at = at->next)
        sum += LOAD(at->charged[category]);
    return sum;
}

/* Makes room for an uncharge that the thread's own record does not cover. False: less is
 * charged. */
static bool take_over(lc_usage *usage, record *own, loci_category category, int64_t bytes)
{
    int64_t sum, part;

    (void)pthread_mutex_lock(&usage->lock);
    sum = sum_charged(usage, category);
    if (sum >= bytes) {
        part = bytes + LOAD(usage->portion_bytes);
        part = (part < sum ? part : sum) - (own != NULL ? LOAD(own->charged[category]) : 0);
        if (own == NULL)
            ADD(usage->settled[category], -bytes);
        else if (part > 0) {
            ADD(usage->settled[category], -part);
            STORE(own->charged[category], LOAD(own->charged[category]) + part);
        }
    }
    (void)pthread_mutex_unlock(&usage->lock);
    return sum >= bytes;
}

static __attribute__((noinline)) loci_status uncharge_slowly(lc_usage *usage,
                                                             loci_category category, int64_t bytes)
{
    record *own;
    int64_t portion;

    if ((unsigned)category >= LOCI_MEM_CATEGORIES || bytes < 0)
        return LOCI_EINVAL;
    own = find_record(usage);
    if ((own == NULL || bytes > LOAD(own->charged[category])) &&
        !take_over(usage, own, category, bytes))
        return LOCI_EINVAL;
    if (own == NULL) {
        ADD(usage->taken, -bytes);
        return LOCI_OK;
    }
    charge_record(own, category, -bytes);
    portion = LOAD(usage->portion_bytes);
    if (own->stock_bytes > 2 * portion) {
        ADD(usage->taken, portion - own->stock_bytes);
        own->stock_bytes = portion;
    }
    return LOCI_OK;
}

loci_status lc_usage_uncharge(lc_usage *usage, loci_category category, int64_t bytes)
{
    /* A record is never negative, so one comparison refuses negative sizes, too. */
    if (__builtin_expect(last_used.id == usage->id && (unsigned)category < LOCI_MEM_CATEGORIES &&
                             (uint64_t)bytes <= (uint64_t)LOAD(last_used.own->charged[category]) &&
                             last_used.own->stock_bytes + bytes <= 2 * LOAD(usage->portion_bytes),
                         1)) {
        charge_record(last_used.own, category, -bytes);
        return LOCI_OK;
    }
    return uncharge_slowly(usage, category, bytes);
}

void lc_usage_set_caps(lc_usage *usage, const int64_t caps[LC_WORK_KINDS])
{
    (void)pthread_mutex_lock(&usage->lock);
    for (int i = 0; i < LC_WORK_KINDS; i++)
        STORE(usage->caps[i], caps[i] > 0 ? caps[i] : 0);
    set_portion(usage);
    (void)pthread_mutex_unlock(&usage->lock);
}

void lc_usage_on_refused(lc_usage *usage, void (*refused)(void *ctx), void *ctx)
{
    usage->on_refused = refused;
    usage->on_refused_ctx = ctx;
}

uint64_t lc_usage_refused(const lc_usage *usage)
{
    return LOAD(usage->refused);
}

size_t lc_usage_threads(lc_usage *usage)
{
    size_t count;

    (void)pthread_mutex_lock(&usage->lock);
    count = usage->thread_count;
    (void)pthread_mutex_unlock(&usage->lock);
    return count;
}

/* ---- Reports --------------------------------------------------------------------------------- */

loci_status lc_usage_check_name(loci_str name, loci_error *err)
{
    if (name.len == 0 || name.len > LC_GUARD_NAME_BYTES_MAX)
        return lc_fail(err, LOCI_EINVAL, "guard: a name has %zu bytes, not 1 to %d", name.len,
                       LC_GUARD_NAME_BYTES_MAX);
    for (size_t i = 0; i < name.len; i++) {
        if ((unsigned char)name.ptr[i] < ' ' || name.ptr[i] == 0x7f)
            return lc_fail(err, LOCI_EINVAL, "guard: a name has a control character at byte %zu",
                           i);
    }
    if (!lc_utf8_is_valid(name))
        return lc_fail(err, LOCI_EINVAL, "guard: a name is not UTF-8");
    return LOCI_OK;
}

/* The lock is held. */
static loci_status add_component(lc_usage *usage, loci_str name, component **out, loci_error *err)
{
    component *row;

    if (usage->components.entry_count >= LC_GUARD_COMPONENTS_MAX)
        return lc_fail(err, LOCI_ELIMIT,
                       "guard: %d components are reported, the maximum; release some or report "
                       "under a common name",
                       LC_GUARD_COMPONENTS_MAX);
    row = lc_heap_zalloc(usage->heap, sizeof *row, LOCI_MEM_ENGINE);
    if (row == NULL)
        return lc_fail_memory(err);
    memcpy(row->name, name.ptr, name.len);
    row->name_len = name.len;
    if (!lc_map_put(&usage->components, (loci_str){row->name, row->name_len}, row)) {
        lc_heap_free(usage->heap, row, sizeof *row, LOCI_MEM_ENGINE);
        return lc_fail_memory(err);
    }
    *out = row;
    return LOCI_OK;
}

loci_status lc_usage_report(lc_usage *usage, loci_str name, loci_category category, int64_t bytes,
                            loci_error *err)
{
    component *row = NULL;
    loci_status status = lc_usage_check_name(name, err);

    if (status != LOCI_OK)
        return status;
    if ((unsigned)category >= LOCI_MEM_CATEGORIES)
        return lc_fail(err, LOCI_EINVAL, "component %.*s: %d is no category", LC_STR_ARG(name),
                       (int)category);
    if (bytes < 0 || bytes > LC_GUARD_BYTES_MAX)
        return lc_fail(err, LOCI_EINVAL, "component %.*s: size is %lld bytes, not 0 to %lld",
                       LC_STR_ARG(name), (long long)bytes, LC_GUARD_BYTES_MAX);
    (void)pthread_mutex_lock(&usage->lock);
    row = lc_map_find(&usage->components, name);
    if (row == NULL)
        status = add_component(usage, name, &row, err);
    if (status == LOCI_OK) {
        usage->reported[row->category] -= row->bytes;
        usage->reported[category] += bytes;
        row->category = category;
        row->bytes = bytes;
    }
    (void)pthread_mutex_unlock(&usage->lock);
    return status;
}

loci_status lc_usage_release(lc_usage *usage, loci_str name, loci_error *err)
{
    component *row;

    (void)pthread_mutex_lock(&usage->lock);
    row = lc_map_take(&usage->components, name);
    if (row != NULL) {
        usage->reported[row->category] -= row->bytes;
        lc_heap_free(usage->heap, row, sizeof *row, LOCI_MEM_ENGINE);
    }
    (void)pthread_mutex_unlock(&usage->lock);
    if (row == NULL)
        return lc_fail(err, LOCI_ENOTFOUND,
                       "component %.*s: not reported, or released before; report it first",
                       LC_STR_ARG(name));
    return LOCI_OK;
}

/* ---- Sums ------------------------------------------------------------------------------------ */

void lc_usage_by_category(lc_usage *usage, int64_t out[LOCI_MEM_CATEGORIES])
{
    (void)pthread_mutex_lock(&usage->lock);
    for (int i = 0; i < LOCI_MEM_CATEGORIES; i++) {
        int64_t sum = sum_charged(usage, (loci_category)i);

        /* Read while a thread takes over a part, a sum may be a portion too low. */
        out[i] = usage->reported[i] + (sum > 0 ? sum : 0);
    }
    (void)pthread_mutex_unlock(&usage->lock);
}

int64_t lc_usage_total(lc_usage *usage, loci_category category)
{
    int64_t sums[LOCI_MEM_CATEGORIES], total = 0;

    lc_usage_by_category(usage, sums);
    if ((unsigned)category < LOCI_MEM_CATEGORIES)
        return sums[category];
    for (int i = 0; i < LOCI_MEM_CATEGORIES; i++)
        total += sums[i];
    return total;
}

/* Keeps `rows` sorted, largest first, equal sizes by name; `count` of `max` are filled. */
static size_t insert_row(lc_usage_row *rows, size_t count, size_t max, const component *row)
{
    size_t at = count;
    loci_str name = {row->name, row->name_len};

    while (at > 0 && (rows[at - 1].bytes < row->bytes ||
                      (rows[at - 1].bytes == row->bytes &&
                       lc_str_compare(loci_str_of(rows[at - 1].name), name) > 0)))
        at--;
    if (at == max)
        return count;
    if (count < max)
        count++;
    memmove(&rows[at + 1], &rows[at], (count - at - 1) * sizeof *rows);
    rows[at] = (lc_usage_row){.category = row->category, .bytes = row->bytes};
    memcpy(rows[at].name, name.ptr, name.len);
    return count;
}

size_t lc_usage_largest(lc_usage *usage, loci_category category, lc_usage_row *rows, size_t max)
{
    const component *row;
    size_t count = 0, place = 0;

    (void)pthread_mutex_lock(&usage->lock);
    while ((row = lc_map_each(&usage->components, &place)) != NULL) {
        if (category == LOCI_MEM_CATEGORIES || row->category == category)
            count = insert_row(rows, count, max, row);
    }
    (void)pthread_mutex_unlock(&usage->lock);
    return count;
}
