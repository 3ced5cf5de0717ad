/* engine.h - ties the store, the settings, the jobs and the threads together.
 *
 * A read takes one of a few read connections and runs in the caller's thread. Writes are committed
 * in groups (engine/writer.h). Jobs run in the workers. With LOCI_OPEN_INLINE there are no threads:
 * jobs run after the call that caused them, in its thread.
 *
 * Only this folder, guard/ and server/ use threads and locks.
 */
#ifndef LC_ENGINE_ENGINE_H
#define LC_ENGINE_ENGINE_H

#include "base/histogram.h"
#include "engine/job_kind.h"
#include "engine/settings.h"
#include "engine/token_cache.h"
#include "engine/user_cache.h"
#include "store/db.h"

typedef struct lc_tokenizers lc_tokenizers;
typedef struct lc_talk lc_talk;
typedef struct lc_agents lc_agents;

extern const lc_setting lc_setting_cache_user_bytes_max;
extern const lc_setting lc_setting_call_timeout_ms;
extern const lc_setting lc_setting_hook_prompt_tokens; /* Read by the command line. */
extern const lc_setting lc_setting_hook_start_tokens;
extern const lc_setting lc_setting_hook_tool_bytes;
extern const lc_setting lc_setting_log_level;
extern const lc_setting lc_setting_request_keep_hours;
extern const lc_setting lc_setting_request_user_bytes_max;
extern const lc_setting lc_setting_store_durability;
extern const lc_setting lc_setting_store_readers;
extern const lc_setting lc_setting_store_transfer_dir;

/* Parts of an engine that tests replace. */
typedef struct lc_engine_parts {
    const lc_db_driver *driver;          /* NULL = by the store's name. */
    const lc_room *const *rooms;         /* NULL = all of loci's. Ends with NULL. */
    const lc_job_kind *const *job_kinds; /* NULL = all of loci's. Ends with NULL. */
    /* NULL = the system's. Readings, clock, flags and sizes of the guard; LOCI_GUARD_INLINE: the
     * test calls loci_guard_tick(). Everything else is the engine's. */
    const loci_guard_options *guard;
} lc_engine_parts;

loci_status lc_engine_open(const loci_open_options *options, const lc_engine_parts *parts,
                           loci_engine **out, loci_error *err);
void lc_engine_close(loci_engine *engine);

lc_env *lc_engine_env(loci_engine *engine);
lc_settings *lc_engine_settings(loci_engine *engine);
const lc_catalogue *lc_engine_catalogue(const loci_engine *engine);
/* As given at open, without a password. */
const char *lc_engine_store(const loci_engine *engine);
const lc_db_driver *lc_engine_driver(const loci_engine *engine);
loci_str lc_engine_tenant(const loci_engine *engine); /* The default one. */
/* The tenant of a caller: its principal's, or the default one. */
loci_str lc_engine_tenant_of(const loci_engine *engine, const loci_principal *principal);
bool lc_engine_is_inline(const loci_engine *engine);
/* True if a read waits for a server, unless its answer is cached. */
bool lc_engine_is_far(const loci_engine *engine);
/* The store cannot be written: there are no workers, and every write is LOCI_EFORBIDDEN. */
bool lc_engine_is_read_only(const loci_engine *engine);
const lc_job_kind *lc_engine_find_job_kind(const loci_engine *engine, loci_str name);

/* LOCI_OK, or LOCI_EINTERNAL once a bug was found: the engine then refuses all work. */
loci_status lc_engine_check(const loci_engine *engine, loci_error *err);
/* A lc_fault_frame's report: calls the host's hook and poisons the engine. `ctx` is the engine. */
void lc_engine_report_fault(void *ctx, const char *what, const char *file, int line);

/* Runs `work` so that a bug found in it poisons the engine and returns LOCI_EINTERNAL. Every call
 * into the engine goes through here. Resources of the failed work are leaked, because nothing it
 * used can be trusted. */
typedef loci_status lc_guarded(void *ctx, loci_error *err);
loci_status lc_engine_guard(loci_engine *engine, lc_guarded *work, void *ctx, loci_error *err);

typedef struct lc_read {
    loci_str tenant_id; /* The user whose rows are read; ptr NULL = not one user's. */
    loci_str user_id;
    int64_t deadline_us; /* Monotonic; INT64_MAX = none. */
    lc_tx_body *body;
    void *ctx;
    bool is_call; /* Counted in lc_engine_counters.reads. */
} lc_read;
/* Runs the body on one snapshot in this thread; again on a new one if it borrowed a state of its
 * user (store/user_kind.h) that was not ready. */
loci_status lc_engine_read(loci_engine *engine, const lc_read *read, loci_error *err);
/* Reads the user's state without a transaction, if it is known to be current (user_cache.h). */
bool lc_engine_peek(loci_engine *engine, const lc_peek *peek);
/* Queues `write`, waits until it is durable or has failed, and returns its status.
 * LOCI_EUNAVAILABLE at once if the queue is too long. */
loci_status lc_engine_write(loci_engine *engine, lc_write *write);
/* The same without waiting. `done` is called once, by the thread that committed it; not if this
 * fails. */
typedef struct lc_queued_write {
    lc_write write;                               /* First: the writer links these. */
    int64_t queued_us;                            /* Monotonic; set by the writer. */
    void (*done)(struct lc_queued_write *queued); /* May free it. */
} lc_queued_write;
loci_status lc_engine_submit(loci_engine *engine, lc_queued_write *queued, loci_error *err);

/* Completions come in groups: the writes of one commit, the short tasks that one thread of the pool
 * ran one after the other. `drained` is called once after each group, in the thread that delivered
 * it, so that an event loop is woken once per group instead of once per answer. It follows every
 * completion except those delivered inside the call that submitted them. Several threads may call
 * it at the same time; NULL ends it. When this returns, no call of the former hook is running. */
typedef void lc_drained_fn(void *ctx);
void lc_engine_on_drained(loci_engine *engine, lc_drained_fn *drained, void *ctx);

/* Runs `work` with a connection of its own, outside any transaction: backup, verify, rebuild. */
typedef loci_status lc_db_work(lc_db *db, void *ctx, loci_error *err);
loci_status lc_engine_with_connection(loci_engine *engine, lc_db_work *work, void *ctx,
                                      loci_error *err);

/* The store was replaced (restore): all connections are opened again. */
void lc_engine_store_replaced(loci_engine *engine);
/* Reads the stored settings again. Called after a commit that may have changed them. */
void lc_engine_settings_changed(loci_engine *engine);
lc_token_cache *lc_engine_token_cache(loci_engine *engine);
lc_tokenizers *lc_engine_tokenizers(loci_engine *engine);
/* The rules for reading plain English, which all threads share and which live as long as the
 * engine. Compiled by the first call, because most programs that open a store never need them.
 * Fails only when out of memory, and can then be called again. */
loci_status lc_engine_talk(loci_engine *engine, const lc_talk **out, loci_error *err);

/* The guard of this process's memory (engine/memory_guard.h). LOCI_EUNAVAILABLE: guard.enabled is
 * false. In an inline engine this call measures, and the guard has no thread. */
loci_status lc_engine_memory_guard(loci_engine *engine, loci_guard **out, loci_error *err);
/* The agents that share its limit (guard/agents.h); fails and measures likewise. */
loci_status lc_engine_agents(loci_engine *engine, lc_agents **out, loci_error *err);
/* Calls `hook` for each signal of the guard, in its thread, under the rules of loci_signal_fn; NULL
 * ends it. When this returns, no call of the former hook is running. Not from within a hook. */
void lc_engine_on_signal(loci_engine *engine, loci_signal_fn *hook, void *ctx);

/* Asks the guard to let work start. LOCI_EUNAVAILABLE: memory is scarce; the data of `err` says
 * when to try again. Without a guard everything is let in. The first is for short work, which takes
 * no place in the window. Bulk work waits up to `wait_ms` for a place and keeps it until it is
 * ended; a ticket of 0 has none. */
loci_status lc_engine_check_admission(loci_engine *engine, loci_error *err);
loci_status lc_engine_begin_bulk(loci_engine *engine, int64_t wait_ms, uint64_t *out_ticket,
                                 loci_error *err);
void lc_engine_end_bulk(loci_engine *engine, uint64_t ticket);

/* Quotas of tenants (engine/quota.h). Without any, the others need not be called. */
bool lc_engine_has_quotas(const loci_engine *engine);
typedef enum lc_quota_use {
    LC_QUOTA_READS,
    LC_QUOTA_WRITES,
    LC_QUOTA_FREES /* Writes that end or remove something: refused by rate alone. */
} lc_quota_use;
/* Before a call of the tenant. LOCI_ELIMIT: not now, or not at all. */
loci_status lc_engine_check_quota(loci_engine *engine, loci_str tenant_id, lc_quota_use use,
                                  loci_error *err);
/* Before the first event of a user. */
loci_status lc_engine_check_new_user(loci_engine *engine, loci_str tenant_id, loci_error *err);
/* Adds the writes of a call, perhaps before they are committed. */
typedef struct lc_quota_written {
    int64_t users, events, bytes;
} lc_quota_written;
void lc_engine_count_written(loci_engine *engine, loci_str tenant_id, const lc_quota_written *what);

/* Counts the memory of another heap of this program among that of the engine, for the guard, until
 * it is removed. At most three. Any thread. */
void lc_engine_add_heap(loci_engine *engine, const lc_heap *heap);
void lc_engine_remove_heap(loci_engine *engine, const lc_heap *heap);

/* Wakes the workers: a job may have become due. */
void lc_engine_wake_workers(loci_engine *engine);
/* Runs jobs in this thread until none is due, or until `end_us` of the monotonic clock (INT64_MAX =
 * no end). Inline engines do so after each call. */
loci_status lc_engine_run_jobs(loci_engine *engine, int64_t end_us, loci_error *err);

/* A JSON text that the caller of the library owns: one allocation. */
struct loci_answer {
    lc_heap *heap;
    struct loci_answer *next; /* For a queue of them. */
    bool is_replayed;         /* It was stored by an earlier call with the same request_id. */
    size_t len;
    char text[]; /* Ends with a NUL byte. */
};
/* A copy of `json`; NULL when out of memory. */
loci_answer *lc_answer_new(lc_heap *heap, loci_str json);

/* Counters since open, for store.status and metrics. */
typedef struct lc_engine_counters {
    int64_t writes;  /* Calls that wrote. */
    int64_t commits; /* Transactions they shared. */
    /* Calls that read. Not the engine's own reads, which never rest, nor those of operations for
     * administrators: a scrape of the metrics must not count itself. */
    int64_t reads;
    int64_t replica_reads;     /* Those that a replica answered (engine/replica.h), */
    int64_t replica_fallbacks; /* and those that were begun on one and answered by the primary. */
    int64_t recalls; /* Questions to the memory: calls of memory.recall and context.build. */
    int64_t jobs_done;
    int64_t jobs_failed;
    int64_t queue_length;   /* Writes waiting now. */
    int64_t model_calls;    /* Requests to providers, of embeddings and of chats. */
    int64_t model_failures; /* Requests that failed after all retries. */
    int64_t model_tokens;   /* In and out, as the providers count. */
    lc_user_cache_counters user_cache;
} lc_engine_counters;
lc_engine_counters lc_engine_get_counters(loci_engine *engine);
void lc_engine_count_recall(loci_engine *engine);
/* lc_activity_read() of the engine's samples (engine/activity.h). */
struct lc_activity_sample;
size_t lc_engine_activity(loci_engine *engine, int64_t after_us, struct lc_activity_sample *out);

/* How long things took since open, for metrics. */
typedef struct lc_engine_timings {
    lc_histogram queue;  /* A write, from its call until its group was begun. */
    lc_histogram group;  /* Running and committing a group of writes. */
    lc_histogram commit; /* The commit of a group alone. */
    lc_histogram sync;   /* The sync of the write-ahead log within it; only of a SQLite store. */
    lc_histogram embed;  /* A call of the provider of embeddings, with its retries. */
    lc_histogram chat;   /* A call of the provider of chats, with its retries. */
} lc_engine_timings;
lc_engine_timings *lc_engine_get_timings(loci_engine *engine);

#endif /* LC_ENGINE_ENGINE_H */
