/* internal.h - the struct of the engine and functions shared by its files. Only engine/ includes
 * this. */
#ifndef LC_ENGINE_INTERNAL_H
#define LC_ENGINE_INTERNAL_H

#include <pthread.h>

#include "engine/engine.h"
#include "engine/maintenance.h"
#include "engine/memory_guard.h"
#include "engine/models.h"
#include "engine/pool.h"
#include "engine/quota.h"
#include "engine/replica.h"
#include "engine/route.h"
#include "engine/token_cache.h"
#include "engine/tokenizers.h"
#include "engine/watch.h"
#include "engine/worker.h"
#include "engine/writer.h"

#define LC_NEW_TEXTS_SLOTS 256

struct loci_engine {
    lc_env env;
    /* Set in an engine that lc_routes opened: it uses the settings, models, tokenizers and
     * memory_guard of `main`. NULL = this is the main one. */
    loci_engine *main;
    lc_routes *routes; /* NULL = none. */
    lc_catalogue catalogue;
    const lc_db_driver *driver;
    const lc_job_kind *const *job_kinds;
    char *store;       /* As given at open: it may contain a password. */
    char *store_label; /* The same without the password. */
    char *tenant;
    uint32_t flags;
    lc_settings *settings;
    lc_maintenance *maintenance;
    lc_writer *writer;
    lc_readers *readers;
    lc_replicas *replicas; /* NULL = none. */
    lc_token_cache *token_cache;
    lc_tokenizers *tokenizers;
    _Atomic(lc_talk *) talk; /* NULL until lc_engine_talk() is first called. */
    lc_user_cache *user_cache;
    lc_memory_guard *memory_guard;
    lc_quotas *quotas;
    lc_models *models;
    lc_watch *watch;
    lc_pool *pool;
    lc_workers *workers; /* Without threads when inline. */
    lc_file_id file;     /* Of the first connection; further ones must be to the same. */
    char store_id[33];   /* Of the first connection; a replica must have the same. */
    bool is_read_only;   /* As opened. */
    loci_fault_fn *on_fault;
    void *fault_ctx;
    pthread_rwlock_t drained_lock; /* Shared while the hook runs, exclusive to replace it. */
    lc_drained_fn *drained;        /* Or NULL. */
    void *drained_ctx;
    _Atomic bool is_poisoned;
    _Atomic bool has_old_settings; /* They could not be read again: the watch tries later. */
    _Atomic int64_t read_count;
    _Atomic int64_t recall_count;
    lc_engine_timings timings;
    _Atomic uint64_t origin_id; /* Of the writer's connection: lc_db.origin_id. */
    /* By the hash of the user: its upper bits, and how many texts were written since a job for them
     * was added (meaning.c). */
    _Atomic uint64_t new_texts[LC_NEW_TEXTS_SLOTS];
    _Atomic int64_t embed_free_us; /* Monotonic: when jobs may embed the next texts (meaning.c). */
};

/* Opens the engine of another database, which must be closed before `main`. */
loci_status lc_engine_open_routed(loci_engine *main, const char *store, loci_engine **out,
                                  loci_error *err);

/* Opens a connection to the engine's store with its schema checked and its durability set.
 * `deadline_us` is monotonic, for reaching a server; 0 = the driver's own limit. */
loci_status lc_engine_connect(loci_engine *engine, int64_t deadline_us, lc_db **out,
                              loci_error *err);
/* The same to a replica of the store: it must hold the same store. */
loci_status lc_engine_connect_to(loci_engine *engine, const char *replica, int64_t deadline_us,
                                 lc_db **out, loci_error *err);

/* The settings are new. Reads nothing. */
void lc_engine_apply_settings(loci_engine *engine);

/* lc_engine_counters.reads */
int64_t lc_engine_count_of_reads(loci_engine *engine);

/* ---- read.c: connections for reads ----------------------------------------------------------- */

/* `replica` is the URL of a replica, which must live as long as the result; NULL = the store. */
loci_status lc_readers_new(loci_engine *engine, const char *replica, int count_max,
                           lc_readers **out, loci_error *err);
void lc_readers_free(lc_readers *readers); /* NULL is fine. */
/* A connection for this thread alone, until it is given back. LOCI_EDEADLINE when none was free; of
 * a replica LOCI_ELIMIT at once. */
loci_status lc_readers_take(lc_readers *readers, int64_t deadline_us, lc_db **out, loci_error *err);
void lc_readers_give_back(lc_readers *readers, lc_db *db);
/* The same for a connection that may be damaged: it is closed. */
void lc_readers_drop(lc_readers *readers, lc_db *db);
/* The store was replaced: all connections are closed, those in use when they are given back. */
void lc_readers_renew(lc_readers *readers);
/* Frees the cached pages of idle connections, one after the other, until `until_us` (monotonic). */
void lc_readers_release_memory(lc_readers *readers, int64_t until_us);

/* Calls the host's hook (lc_engine_on_drained), if there is one. The writer and the pool call this
 * after the last of several completions and before they wait or begin something long. No lock may
 * be held. */
void lc_engine_drained(loci_engine *engine);

#endif /* LC_ENGINE_INTERNAL_H */
