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

#include "engine/job_kind.h"
#include "engine/settings.h"
#include "engine/token_cache.h"
#include "engine/user_cache.h"
#include "store/db.h"

typedef struct lc_tokenizers lc_tokenizers;
typedef struct lc_talk lc_talk;

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
} lc_engine_parts;

loci_status lc_engine_open(const loci_open_options *options, const lc_engine_parts *parts,
                           loci_engine **out, loci_error *err);
void lc_engine_close(loci_engine *engine);

lc_env *lc_engine_env(loci_engine *engine);
lc_settings *lc_engine_settings(loci_engine *engine);
const lc_catalogue *lc_engine_catalogue(const loci_engine *engine);
/* As given at open, without a password. */
const char *lc_engine_store(const loci_engine *engine);
loci_str lc_engine_tenant(const loci_engine *engine); /* The default one. */
/* The tenant of a caller: its principal's, or the default one. */
loci_str lc_engine_tenant_of(const loci_engine *engine, const loci_principal *principal);
bool lc_engine_is_inline(const loci_engine *engine);
/* A read waits for a server, unless its answer is cached. */
bool lc_engine_is_far(const loci_engine *engine);
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
    loci_str tenant_id; /* Whose rows, if they are those of one user; ptr NULL = not. */
    loci_str user_id;
    int64_t deadline_us; /* Monotonic; INT64_MAX = none. */
    lc_tx_body *body;
    void *ctx;
} lc_read;
/* Runs the body on one snapshot in this thread; again on a new one if it borrowed a state of its
 * user (store/user_kind.h) that was not ready. */
loci_status lc_engine_read(loci_engine *engine, const lc_read *read, loci_error *err);
/* Reads the user's state without a transaction, if it is known to be current (user_cache.h). */
bool lc_engine_peek(loci_engine *engine, const lc_peek *peek);
/* Queues `write` and waits until it is durable or failed; its status is returned. LOCI_EUNAVAILABLE
 * at once if the queue is too long. */
loci_status lc_engine_write(loci_engine *engine, lc_write *write);
/* The same without waiting. `done` is called once, by the thread that committed it; not if this
 * fails. */
typedef struct lc_queued_write {
    lc_write write;                               /* First: the writer links these. */
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

/* Wakes the workers: a job may have become due. */
void lc_engine_wake_workers(loci_engine *engine);
/* Runs jobs in this thread until none is due. Inline engines do so after each call. */
loci_status lc_engine_run_jobs(loci_engine *engine, loci_error *err);

/* A JSON text that the caller of the library owns: one allocation. */
struct loci_answer {
    lc_heap *heap;
    struct loci_answer *next; /* For a queue of them. */
    size_t len;
    char text[]; /* Ends with a NUL byte. */
};
/* A copy of `json`; NULL when out of memory. */
loci_answer *lc_answer_new(lc_heap *heap, loci_str json);

/* Counters since open, for store.status and metrics. */
typedef struct lc_engine_counters {
    int64_t writes;  /* Calls that wrote. */
    int64_t commits; /* Transactions they shared. */
    int64_t reads;   /* Transactions that read, and calls answered without one. */
    int64_t jobs_done;
    int64_t jobs_failed;
    int64_t queue_length;   /* Writes waiting now. */
    int64_t model_calls;    /* Requests to providers, of embeddings and of chats. */
    int64_t model_failures; /* Requests that failed after all retries. */
    int64_t model_tokens;   /* In and out, as the providers count. */
    lc_user_cache_counters user_cache;
} lc_engine_counters;
lc_engine_counters lc_engine_get_counters(loci_engine *engine);

#endif /* LC_ENGINE_ENGINE_H */
