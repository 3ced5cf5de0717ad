/* replica.c - Invariants: `needed` is sorted by id and only touched under the lock; `polled_us` is
 * the time before the snapshot that gave `needed`, or 0; a time in `written_us` is later than the
 * commit it stands for. So a write that is not younger than `polled_us` is in `needed`.
 */
#include "engine/replica.h"

#include <pthread.h>
#include <string.h>

#include "base/assert.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "base/url.h"
#include "engine/internal.h"

#define REPLICAS_MAX 8
#define WRITERS_MAX 512
#define WRITER_ID_BYTES_MAX 32
#define URLS_BYTES_MAX 16384
#define LABEL_BYTES 256
#define POLL_US_MAX 1000000
#define BEHIND_REST_US 5000    /* About the time that a replica needs to catch up. */
#define FAILED_REST_US 1000000 /* Connecting again costs a read up to CONNECT_US_MAX. */

const lc_setting lc_setting_store_replicas = {
    .name = "store.replicas",
    .kind = LC_SETTING_TEXT,
    .default_text = "null",
    .help = "URLs of streaming replicas of the PostgreSQL server of the store, separated by "
            "spaces; reads of users run on them while they have all commits that the primary "
            "has shown",
    .is_secret = true, /* A URL may contain a password. */
};

typedef struct commit_count {
    char id[WRITER_ID_BYTES_MAX + 1];
    int64_t commits;
} commit_count;

typedef struct commit_counts {
    size_t count;
    bool is_too_long;
    commit_count items[WRITERS_MAX];
} commit_counts;

struct lc_replica {
    char *url; /* May contain a password. */
    char label[LABEL_BYTES];
    lc_readers *readers;
    _Atomic int64_t rests_until_us;
    _Atomic bool is_down; /* Logged. */
};

struct lc_replicas {
    loci_engine *engine;
    pthread_mutex_t lock;
    commit_counts needed;
    _Atomic int64_t polled_us;
    _Atomic int64_t all_written_us;
    _Atomic int64_t written_us[LC_WATCH_SLOTS];
    _Atomic unsigned turn;
    _Atomic int64_t reads, fallbacks;
    size_t count;
    struct lc_replica items[REPLICAS_MAX];
};

/* ---- The commits that a replica must have -------------------------------------------------- */

static void collect(void *ctx, loci_str writer_id, int64_t commits)
{
    commit_counts *counts = ctx;
    commit_count *at = &counts->items[counts->count];

    counts->is_too_long |= counts->count == WRITERS_MAX || writer_id.len >= sizeof at->id;
    if (counts->is_too_long)
        return;
    if (writer_id.len > 0)
        memcpy(at->id, writer_id.ptr, writer_id.len);
    at->id[writer_id.len] = '\0';
    at->commits = commits;
    counts->count++;
}

/* A writer whose row is missing has either not begun or, as the replica sees it, ended: its commits
 * are then in the sum of the row ''. To tell the two apart is not worth it, because the next poll
 * of the primary does not see the row either. */
static bool has_all(const commit_counts *have, const commit_counts *needed)
{
    size_t at = 0;

    for (size_t i = 0; i < needed->count; i++) {
        while (at < have->count && strcmp(have->items[at].id, needed->items[i].id) < 0)
            at++;
        if (at == have->count || strcmp(have->items[at].id, needed->items[i].id) != 0 ||
            have->items[at].commits < needed->items[i].commits)
            return false;
    }
    return true;
}

static loci_status read_numbers(lc_tx *tx, void *ctx, loci_error *err)
{
    bool is_replica;

    return tx->db->driver->commit_numbers(tx, collect, ctx, &is_replica, err);
}

void lc_replicas_poll(lc_replicas *replicas, lc_db *primary)
{
    int64_t now_us = lc_clock_monotonic_us();
    commit_counts counts = {.count = 0};
    bool is_read;

    if (replicas == NULL)
        return;
    is_read = lc_db_read(primary, now_us + POLL_US_MAX, read_numbers, &counts, NULL) == LOCI_OK &&
              !counts.is_too_long;
    (void)pthread_mutex_lock(&replicas->lock);
    if (is_read)
        replicas->needed = counts;
    atomic_store_explicit(&replicas->polled_us, is_read ? now_us : 0, memory_order_release);
    (void)pthread_mutex_unlock(&replicas->lock);
}

void lc_replicas_wrote(lc_replicas *replicas, const lc_write *first)
{
    int64_t now_us = lc_clock_monotonic_us();

    if (replicas == NULL)
        return;
    for (const lc_write *at = first; at != NULL; at = at->next) {
        if (at->user_id.len > 0)
            atomic_store_explicit(&replicas->written_us[lc_watch_slot(at->tenant_id, at->user_id)],
                                  now_us, memory_order_release);
        else if (!at->locks_nothing) /* The claim of a job changes no answer to a user. */
            atomic_store_explicit(&replicas->all_written_us, now_us, memory_order_release);
    }
}

void lc_replicas_wrote_all(lc_replicas *replicas)
{
    if (replicas != NULL)
        atomic_store_explicit(&replicas->all_written_us, lc_clock_monotonic_us(),
                              memory_order_release);
}

/* ---- Choosing and leaving -------------------------------------------------------------------- */

/* Whether everything that the read must see is among the needed numbers. */
static bool is_covered(lc_replicas *replicas, const lc_read *read)
{
    uint32_t slot = lc_watch_slot(read->tenant_id, read->user_id);
    int64_t polled_us = atomic_load_explicit(&replicas->polled_us, memory_order_acquire);

    return polled_us != 0 && lc_clock_monotonic_us() - polled_us <= LC_WATCH_STALE_US_MAX &&
           atomic_load_explicit(&replicas->written_us[slot], memory_order_acquire) < polled_us &&
           atomic_load_explicit(&replicas->all_written_us, memory_order_acquire) < polled_us;
}

bool lc_replicas_choose(lc_replicas *replicas, const lc_read *read, lc_replica_read *out)
{
    unsigned turn;

    if (replicas == NULL || !read->is_call || read->tenant_id.ptr == NULL ||
        read->user_id.len == 0 || !is_covered(replicas, read))
        return false;
    turn = atomic_fetch_add_explicit(&replicas->turn, 1, memory_order_relaxed);
    for (size_t i = 0; i < replicas->count; i++) {
        struct lc_replica *replica = &replicas->items[(turn + i) % replicas->count];

        if (atomic_load_explicit(&replica->rests_until_us, memory_order_relaxed) >
            lc_clock_monotonic_us())
            continue;
        *out = (lc_replica_read){
            .replicas = replicas, .replica = replica, .readers = replica->readers};
        return true;
    }
    return false;
}

loci_status lc_replica_check(lc_replica_read *on, lc_tx *tx, loci_error *err)
{
    commit_counts counts = {.count = 0};
    bool is_replica = false;
    loci_status status = tx->db->driver->commit_numbers(tx, collect, &counts, &is_replica, err);

    if (status != LOCI_OK)
        return status;
    if (!is_replica) /* Promoted: its log is not that of the primary any more. */
        return lc_fail(err, LOCI_EUNAVAILABLE, "%s is not a replica", on->replica->label);
    (void)pthread_mutex_lock(&on->replicas->lock);
    on->is_checked = !counts.is_too_long && has_all(&counts, &on->replicas->needed);
    (void)pthread_mutex_unlock(&on->replicas->lock);
    on->is_behind = !on->is_checked;
    return on->is_behind ? lc_fail(err, LOCI_EUNAVAILABLE, "%s is behind", on->replica->label)
                         : LOCI_OK;
}

static void rest(struct lc_replica *replica, int64_t us)
{
    atomic_store_explicit(&replica->rests_until_us, lc_clock_monotonic_us() + us,
                          memory_order_relaxed);
}

/* Once the snapshot is known to have everything, other statuses are answers. */
static bool has_failed(const lc_replica_read *on, loci_status status)
{
    if (!on->is_checked)
        return status != LOCI_OK;
    return status == LOCI_EUNAVAILABLE || status == LOCI_EDEADLINE;
}

static void note_state(lc_replica_read *on, bool is_down, loci_status status)
{
    lc_log *log = &lc_engine_env(on->replicas->engine)->log;

    if (atomic_exchange(&on->replica->is_down, is_down) == is_down)
        return;
    if (is_down)
        lc_log_write(log, LOCI_LOG_WARN, "replica.unusable",
                     LC_LOG_TEXT("replica", on->replica->label),
                     LC_LOG_TEXT("code", loci_status_name(status)));
    else
        lc_log_write(log, LOCI_LOG_INFO, "replica.usable",
                     LC_LOG_TEXT("replica", on->replica->label));
}

bool lc_replica_accept(lc_replica_read *on, loci_status status)
{
    if (!on->is_checked && status == LOCI_ELIMIT) /* All its connections are in use. */
        return false;
    if (!on->is_behind && !has_failed(on, status)) {
        note_state(on, false, status);
        atomic_fetch_add_explicit(&on->replicas->reads, 1, memory_order_relaxed);
        return true;
    }
    if (!on->is_behind)
        note_state(on, true, status);
    rest(on->replica, on->is_behind ? BEHIND_REST_US : FAILED_REST_US);
    atomic_fetch_add_explicit(&on->replicas->fallbacks, 1, memory_order_relaxed);
    return false;
}

lc_replica_counters lc_replicas_get_counters(lc_replicas *replicas)
{
    if (replicas == NULL)
        return (lc_replica_counters){0};
    return (lc_replica_counters){
        .reads = atomic_load_explicit(&replicas->reads, memory_order_relaxed),
        .fallbacks = atomic_load_explicit(&replicas->fallbacks, memory_order_relaxed)};
}

/* ---- Opening --------------------------------------------------------------------------------- */

static loci_status add_replica(lc_replicas *replicas, loci_str url, loci_error *err)
{
    loci_engine *engine = replicas->engine;
    struct lc_replica *replica = &replicas->items[replicas->count];
    int64_t places = lc_settings_i64(engine->settings, &lc_setting_store_readers, LC_STR_NONE);

    if (replicas->count == REPLICAS_MAX)
        return lc_fail(err, LOCI_ELIMIT, "store.replicas: at most %d replicas", REPLICAS_MAX);
    replica->url = lc_heap_zalloc(&engine->env.heap, url.len + 1, LOCI_MEM_ENGINE);
    if (replica->url == NULL)
        return lc_fail_memory(err);
    memcpy(replica->url, url.ptr, url.len);
    replicas->count++;
    lc_url_write_label(replica->url, replica->label, sizeof replica->label);
    if (lc_db_driver_of(replica->url) != engine->driver || engine->driver->commit_numbers == NULL)
        return lc_fail(err, LOCI_EINVAL,
                       "store.replicas: expected URLs postgresql://…, of replicas of the server of "
                       "the store");
    return lc_readers_new(engine, replica->url, (int)places, &replica->readers, err);
}

static loci_status add_replicas(lc_replicas *replicas, loci_str urls, loci_error *err)
{
    loci_status status = LOCI_OK;

    while (status == LOCI_OK && urls.ptr != NULL) {
        loci_str lines = lc_str_split(urls, ' ', &urls);

        while (status == LOCI_OK && lines.ptr != NULL) {
            loci_str url = lc_str_split(lines, '\n', &lines);

            if (url.len > 0)
                status = add_replica(replicas, url, err);
        }
    }
    return status;
}

loci_status lc_replicas_new(loci_engine *engine, lc_replicas **out, loci_error *err)
{
    lc_replicas *replicas;
    loci_status status;
    lc_buf urls;

    if (!lc_settings_is_set(engine->settings, &lc_setting_store_replicas) ||
        lc_engine_is_inline(engine)) /* Nothing polls the primary. */
        return LOCI_OK;
    replicas = lc_heap_zalloc(&engine->env.heap, sizeof *replicas, LOCI_MEM_ENGINE);
    if (replicas == NULL)
        return lc_fail_memory(err);
    replicas->engine = engine;
    (void)pthread_mutex_init(&replicas->lock, NULL); /* Does not fail on Linux. */
    lc_buf_init(&urls, &engine->env.heap, LOCI_MEM_ENGINE, URLS_BYTES_MAX);
    status = lc_settings_text(engine->settings, &lc_setting_store_replicas, LC_STR_NONE, &urls,
                              err);
    if (status == LOCI_OK)
        status = add_replicas(replicas, lc_buf_str(&urls), err);
    if (urls.ptr != NULL)
        explicit_bzero(urls.ptr, urls.capacity_bytes); /* Passwords. */
    lc_buf_clear(&urls);
    if (status == LOCI_OK)
        *out = replicas;
    else
        lc_replicas_free(replicas);
    return status;
}

void lc_replicas_free(lc_replicas *replicas)
{
    lc_heap *heap;

    if (replicas == NULL)
        return;
    heap = &replicas->engine->env.heap;
    for (size_t i = 0; i < replicas->count; i++) {
        struct lc_replica *replica = &replicas->items[i];
        size_t bytes = strlen(replica->url) + 1;

        lc_readers_free(replica->readers);
        explicit_bzero(replica->url, bytes);
        lc_heap_free(heap, replica->url, bytes, LOCI_MEM_ENGINE);
    }
    (void)pthread_mutex_destroy(&replicas->lock);
    lc_heap_free(heap, replicas, sizeof *replicas, LOCI_MEM_ENGINE);
}
