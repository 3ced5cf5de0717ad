/* loci.h - the state engine for AI agents: facts, memories, conversations, contexts.
 *
 * Usage: open an engine on a store, run operations by name with JSON arguments, close it. Every
 * operation, its parameters and its answer are listed by the operation "op.list" and in
 * docs/reference.md; the command line, HTTP and MCP are views of the same table,
 * so a program that links this library can do everything that they can do.
 *
 *     loci_open_options options = LOCI_OPEN_OPTIONS_INIT;
 *     options.store = "agent.db";
 *     loci_engine *engine;
 *     loci_error err;
 *     if (loci_open(&options, &engine, &err) != LOCI_OK)
 *         die(err.message);
 *     loci_answer *answer;
 *     loci_str args = loci_str_of("{\"key\":\"city\",\"value\":\"Oslo\"}");
 *     if (loci_call(engine, "fact.write", args, NULL, &answer, &err) == LOCI_OK)
 *         loci_answer_free(answer);
 *     loci_close(engine);
 *
 * Promises: a call that answered LOCI_OK is durable, power loss included; a call that failed
 * changed nothing; any function may be called from any thread unless it says otherwise; the library
 * never prints, exits or reads the environment. Until 1.0 a minor version may change this header,
 * and CHANGELOG.md says how.
 */
#ifndef LOCI_H
#define LOCI_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define LOCI_API __attribute__((visibility("default")))
#else
#define LOCI_API
#endif

#define LOCI_VERSION_MAJOR 0
#define LOCI_VERSION_MINOR 1
#define LOCI_VERSION_PATCH 0

/* ---- Plain values ---------------------------------------------------------------------------- */

/* Text or bytes, not necessarily terminated. Text is UTF-8. */
typedef struct loci_str {
    const char *ptr;
    size_t len;
} loci_str;

/* The result of a call. The names are stable codes, see loci_status_name(). */
typedef enum loci_status {
    LOCI_OK = 0,
    LOCI_EINVAL,        /* invalid_argument: the caller can correct it */
    LOCI_ENOTFOUND,     /* not_found */
    LOCI_ECONFLICT,     /* conflict: the state is not what the caller assumed */
    LOCI_EFORBIDDEN,    /* forbidden */
    LOCI_EAUTH,         /* unauthenticated */
    LOCI_ELIMIT,        /* limit: too large, too many, too deep */
    LOCI_EBUDGET,       /* budget_too_small */
    LOCI_EOVERBUDGET,   /* over_budget */
    LOCI_ENOTEVICTABLE, /* nothing_evictable */
    LOCI_ERESOURCE,     /* resource_exhausted: memory or disk; may pass */
    LOCI_EDEADLINE,     /* deadline_exceeded: it did not happen in time and will not happen */
    LOCI_ECANCELLED,    /* cancelled */
    LOCI_EFENCED,       /* fenced: another worker has the lease now */
    LOCI_EUNSUPPORTED,  /* unsupported */
    LOCI_EUNAVAILABLE,  /* unavailable: try again later */
    LOCI_ECORRUPT,      /* corrupt: stored data is damaged */
    LOCI_EINTERNAL      /* internal: a bug in loci */
} loci_status;

#define LOCI_ERROR_MESSAGE_BYTES 512
#define LOCI_ERROR_DATA_BYTES 3584

/* Why a call failed. Caller-owned, nothing to free; only written on failure. */
typedef struct loci_error {
    loci_status status;
    char message[LOCI_ERROR_MESSAGE_BYTES]; /* One line for the person who wrote the call. */
    char data[LOCI_ERROR_DATA_BYTES];       /* A JSON object with particulars, or "". */
} loci_error;

/* The purpose of an allocation, so that a host can account for it and refuse it by kind. */
typedef enum loci_category {
    LOCI_MEM_ENGINE = 0, /* Lives as long as the engine. */
    LOCI_MEM_REQUESTS,   /* Arguments, answers and work of calls in flight. */
    LOCI_MEM_CACHES,
    LOCI_MEM_INDEX,
    LOCI_MEM_PIPELINES, /* Jobs. */
    LOCI_MEM_LLM_BUFFERS,
    LOCI_MEM_WAL, /* Writes waiting for their commit. */
    LOCI_MEM_CATEGORIES
} loci_category;

/* Where all memory of an engine comes from. One function: `ptr` NULL allocates, `new_bytes` 0 frees
 * and answers NULL, otherwise resizes and keeps the content. NULL for a non-zero size means out of
 * memory; the call in progress then answers LOCI_ERESOURCE. Called from any thread. */
typedef struct loci_allocator {
    void *(*resize)(void *ctx, void *ptr, size_t old_bytes, size_t new_bytes,
                    loci_category category);
    void *ctx;
} loci_allocator;

typedef enum loci_log_level {
    LOCI_LOG_DEBUG,
    LOCI_LOG_INFO,
    LOCI_LOG_WARN,
    LOCI_LOG_ERROR
} loci_log_level;

/* One log record: `event` is a stable name such as "store.opened", `fields` a JSON object. Secrets
 * and the text of users are never in it. Called from any thread; must not call loci. */
typedef void loci_log_fn(void *ctx, loci_log_level level, const char *event, loci_str fields);

/* Called once when loci finds a bug in itself. The engine is poisoned: every later call on it
 * answers LOCI_EINTERNAL and nothing more is written. May abort the process; may return. */
typedef void loci_fault_fn(void *ctx, const char *what, const char *file, int line);

/* Domain time in µs since 1970 UTC. May stand still or go back. */
typedef int64_t loci_clock_fn(void *ctx);

/* The value of an environment variable, or NULL when it is not set; copied at once. For settings
 * that refer to a variable with a secret, and at open for MEMORY_PRESSURE_WATCH and _WRITE (see
 * docs/guard.md): the library itself does not read the environment. Called from any thread. */
typedef const char *loci_variable_fn(void *ctx, const char *name);

/* ---- Engine ---------------------------------------------------------------------------------- */

typedef struct loci_engine loci_engine;
typedef struct loci_answer loci_answer;
typedef struct loci_subscription loci_subscription;

/* For loci_open_options.flags. EXISTING: a store that does not exist is LOCI_ENOTFOUND instead of
 * being made. INLINE: no threads, jobs run inside the calls that cause them; for one caller at a
 * time. SEEDED: `seed` fixes everything random but secrets. */
#define LOCI_OPEN_EXISTING 1u
#define LOCI_OPEN_INLINE 2u
#define LOCI_OPEN_SEEDED 4u

typedef struct loci_open_options {
    uint32_t size;           /* sizeof(loci_open_options); LOCI_OPEN_OPTIONS_INIT sets it. */
    uint32_t flags;          /* LOCI_OPEN_... */
    const char *store;       /* A file path, or a postgresql:// URL. */
    const char *tenant;      /* Tenant of calls without a principal; NULL = "default". */
    const char *config_file; /* A file with a JSON object of settings, or NULL. */
    const char *environment; /* JSON object of settings that outrank the file's, or NULL. */
    const char *settings;    /* JSON object of settings that outrank all others, or NULL. */
    uint64_t seed;
    loci_allocator allocator; /* Zero = malloc. */
    loci_log_fn *log;         /* NULL = silent. */
    void *log_ctx;
    loci_fault_fn *on_fault; /* NULL = only poison. */
    void *fault_ctx;
    loci_clock_fn *clock; /* NULL = the system's. */
    void *clock_ctx;
    loci_variable_fn *variable; /* NULL = there are none. */
    void *variable_ctx;
} loci_open_options;

#define LOCI_OPEN_OPTIONS_INIT                                                                     \
    {                                                                                              \
        sizeof(loci_open_options), 0, 0, 0, 0, 0, 0, 0, {0, 0}, 0, 0, 0, 0, 0, 0, 0, 0             \
    }

/* Opens, creating it if need be, the store at `options->store`, brings its schema up to date and
 * starts the workers. Errors worth handling: LOCI_ENOTFOUND, LOCI_EFORBIDDEN (permission),
 * LOCI_ECORRUPT (not a loci store, or damaged), LOCI_EUNSUPPORTED (written by a newer loci).
 * Since 0.1. */
LOCI_API loci_status loci_open(const loci_open_options *options, loci_engine **out,
                               loci_error *err);

/* Finishes accepted calls, stops the workers and frees everything. No other call may be running
 * on the engine, and its subscriptions must have been closed. NULL is fine. Since 0.1. */
LOCI_API void loci_close(loci_engine *engine);

/* ---- Calls ----------------------------------------------------------------------------------- */

/* The caller and its limits. A NULL or empty member sets no limit. */
typedef struct loci_principal {
    uint32_t size;
    uint32_t flags;        /* LOCI_PRINCIPAL_... */
    const char *tenant;    /* Never taken from arguments. */
    const char *user;      /* May act for this user only. */
    const char *persona;   /* May act for this persona only. */
    const char *authority; /* Highest authority its statements can have. */
    const char *trust;     /* Highest trust its statements can have. */
    /* Permissions that an identity can give it: a JSON array of strings. NULL = any, or none if
     * `authority` or `trust` is set. Read only when `size` includes it. */
    const char *permissions;
    const char *token; /* Id of the token it was read from (tok_…), or NULL; `size` as above. */
} loci_principal;

#define LOCI_PRINCIPAL_ADMIN 1u        /* May run operations on the whole store. */
#define LOCI_PRINCIPAL_TENANT_ADMIN 2u /* May manage its tenant, such as its tokens. */

typedef struct loci_call_options {
    uint32_t size;
    uint32_t flags;                  /* LOCI_CALL_... */
    const loci_principal *principal; /* NULL = the tenant of open, admin. Borrowed for the call. */
    int64_t timeout_ms;              /* 0 = the setting `call.timeout_ms`. */
    const volatile int *cancel;      /* Becomes non-zero to cancel the call, or NULL. */
    int64_t at_us;                   /* Domain time of this call, or LOCI_AT_CLOCK. */
    const char *request_id;          /* The same as the argument `request_id`, or NULL. */
    /* The program that calls, recorded with every event that the call writes; NULL = not recorded.
     * "name/version; model=NAME" (version and model may be missing), or a JSON object with the
     * strings `name`, `version` and `model`. Read only when `size` includes it. Since 0.1. */
    const char *client;
} loci_call_options;

/* The caller is another program, such as a client of a daemon: it names files only in the folder of
 * the setting `store.transfer_dir`. */
#define LOCI_CALL_REMOTE 1u
#define LOCI_AT_CLOCK INT64_MIN
#define LOCI_CALL_OPTIONS_INIT                                                                     \
    {                                                                                              \
        sizeof(loci_call_options), 0, 0, 0, 0, LOCI_AT_CLOCK, 0, 0                                 \
    }

/* Runs one operation, such as "fact.write", and waits until its changes are durable.
 *
 * `args` is one JSON object ("" means {}), borrowed for the call; `options` may be NULL. On
 * success `out` is the answer, to be freed with loci_answer_free(); `out` may be NULL if the
 * answer is not wanted, here and in the functions below. On failure nothing was
 * changed and `err` says why in words meant for the person who wrote `args`; `err` may be NULL.
 * Since 0.1. */
LOCI_API loci_status loci_call(loci_engine *engine, const char *operation, loci_str args,
                               const loci_call_options *options, loci_answer **out,
                               loci_error *err);

/* How loci_submit() reports: exactly once, from a thread of loci's. On LOCI_OK `answer` is the
 * callee's to free and `err` is NULL. Must not block and must not close the engine. */
typedef void loci_done_fn(void *ctx, loci_status status, loci_answer *answer,
                          const loci_error *err);

/* The same without waiting: checks the arguments, queues the call and returns. A status other than
 * LOCI_OK means that `done` will not be called. `options->cancel` must outlive the call. With
 * LOCI_OPEN_INLINE `done` is called before this returns. Since 0.1. */
LOCI_API loci_status loci_submit(loci_engine *engine, const char *operation, loci_str args,
                                 const loci_call_options *options, loci_done_fn *done, void *ctx,
                                 loci_error *err);

typedef struct loci_request {
    const char *operation;
    loci_str args;
    int64_t at_us; /* Domain time of this one, or LOCI_AT_CLOCK for that of the whole. */
} loci_request;

/* Runs up to 100 operations of one user as one transaction: all or nothing. A string argument
 * "$0.id" stands for the member `id` of the first answer ("$$0.id" for the text "$0.id"). The
 * answer is a JSON array, one element per call. On failure `err->data` has `index`. Since 0.1. */
LOCI_API loci_status loci_call_many(loci_engine *engine, const loci_request *requests, size_t count,
                                    const loci_call_options *options, loci_answer **out,
                                    loci_error *err);

/* Receives the progress or rows of an operation: one JSON object per call, borrowed. A non-zero
 * result cancels the operation, which then answers LOCI_ECANCELLED. */
typedef int loci_sink_fn(void *ctx, loci_str chunk);

/* Runs one operation that reports more than its answer: progress
 * ({"progress":{done,total,what}}) or rows ({"line":…}). Any operation may be run this way. Since
 * 0.1. */
LOCI_API loci_status loci_call_stream(loci_engine *engine, const char *operation, loci_str args,
                                      const loci_call_options *options, loci_sink_fn *sink,
                                      void *ctx, loci_answer **out, loci_error *err);

/* The answer's JSON text, terminated; lives as long as the answer. Since 0.1. */
LOCI_API loci_str loci_answer_json(const loci_answer *answer);
/* NULL is fine. Must be called before the engine is closed. Since 0.1. */
LOCI_API void loci_answer_free(loci_answer *answer);

/* ---- Events as they happen --------------------------------------------------------------------
 */

typedef struct loci_subscribe_options {
    uint32_t size;
    uint32_t flags;                  /* LOCI_SUBSCRIBE_... */
    const loci_principal *principal; /* As in loci_call_options. */
    const char *user_id;             /* User of the events; NULL = "default". */
    int64_t after_seq; /* The last seq seen; 0 = from the first, -1 = only new ones. */
    const char *types; /* Comma-separated event types, or NULL = all. */
    /* Id or external_id of the session whose events are wanted, or NULL = all. Excludes
     * LOCI_SUBSCRIBE_ALL_USERS. */
    const char *session_id;
} loci_subscribe_options;

#define LOCI_SUBSCRIBE_ALL_USERS 1u /* Live only, in no order across users. */
#define LOCI_SUBSCRIBE_RESUMED 2u   /* after_seq was seen: a log that ends before it is lagged. */
#define LOCI_SUBSCRIBE_OPTIONS_INIT                                                                \
    {                                                                                              \
        sizeof(loci_subscribe_options), 0, 0, 0, -1, 0, 0                                          \
    }

/* A stream of one user's events, in order, none missed and none twice, whichever process wrote
 * them. Since 0.1. */
LOCI_API loci_status loci_subscribe(loci_engine *engine, const loci_subscribe_options *options,
                                    loci_subscription **out, loci_error *err);
/* A descriptor that is readable when loci_subscription_next() may have something. Not to be read.
 */
LOCI_API int loci_subscription_fd(const loci_subscription *subscription);
/* The next event as a JSON object in `*out`, or NULL there when nothing is waiting. `*out_lagged`
 * becomes 1 when an ALL_USERS stream had to drop events, or when a backup was restored: read the
 * state again. LOCI_EUNAVAILABLE with routes also when the tenant has moved to another database:
 * close it and subscribe again. One thread at a time. */
LOCI_API loci_status loci_subscription_next(loci_subscription *subscription, loci_answer **out,
                                            int *out_lagged, loci_error *err);
LOCI_API void loci_subscription_close(loci_subscription *subscription);

/* ---- For other languages -----------------------------------------------------------------------
 *
 * The same with nothing but pointers to text, for foreign function interfaces: no structs, no
 * callbacks. Texts are terminated UTF-8. */

/* Opens the store at `store`, creating it if need be, with default options. `settings` is a JSON
 * object of settings or NULL. NULL on failure: then `*error` is {"error":{"code":…,"message":…}},
 * to be freed with loci_text_free(); `error` may be NULL. Since 0.1. */
LOCI_API loci_engine *loci_open_text(const char *store, const char *settings, char **error);

/* Runs one operation and returns its answer, or {"error":{"code":…,"message":…,…}} on failure; to
 * be freed with loci_text_free(). `args` is a JSON object; NULL means {}. `*ok` becomes 1 or 0 and
 * may be NULL. Returns NULL only if memory runs out. Since 0.1. */
LOCI_API char *loci_call_text(loci_engine *engine, const char *operation, const char *args,
                              int *ok);

/* NULL is fine. Since 0.1. */
LOCI_API void loci_text_free(char *text);

/* ---- Guard -------------------------------------------------------------------------------------
 *
 * Keeps a process below its memory limit. A guard needs no engine and no store: a program registers
 * its caches and pipelines, charges memory before allocating it, and asks for admission before it
 * starts work. A thread of the guard measures memory and, as it gets scarce, limits admission,
 * evicts from caches and pauses pipelines. docs/guard.md has the levels and their actions.
 *
 *     loci_guard_options options = LOCI_GUARD_OPTIONS_INIT;
 *     loci_guard *guard;
 *     if (loci_guard_open(&options, &guard, &err) != LOCI_OK)
 *         die(err.message);
 *     if (loci_guard_charge(guard, LOCI_MEM_CACHES, LOCI_WORK_NORMAL, bytes) == LOCI_OK)
 *         block = malloc(bytes);
 */

typedef struct loci_guard loci_guard;

typedef enum loci_level {
    LOCI_LEVEL_NORMAL = 0,
    LOCI_LEVEL_ELEVATED,
    LOCI_LEVEL_HIGH,
    LOCI_LEVEL_CRITICAL
} loci_level;

/* The kind of work that asks for memory or admission. BULK is refused from the level high on,
 * NORMAL at critical; FREES is work that frees memory, such as a delete, and is always admitted. */
typedef enum loci_work { LOCI_WORK_NORMAL = 0, LOCI_WORK_BULK, LOCI_WORK_FREES } loci_work;

typedef enum loci_signal_kind {
    LOCI_SIGNAL_PRESSURE_CHANGED = 0, /* memory_pressure_changed: `level` is new. */
    LOCI_SIGNAL_EVICT_CACHES,         /* evict_caches: caches the guard does not know. */
    LOCI_SIGNAL_COMPACT_CONTEXTS,     /* compact_contexts: of `name`, or of all. */
    LOCI_SIGNAL_PAUSE_PIPELINE,       /* pause_pipeline: `name` must call loci_guard_ack(). */
    LOCI_SIGNAL_RESUME_PIPELINE,      /* resume_pipeline */
    LOCI_SIGNAL_CANCEL_PIPELINE       /* cancel_pipeline: it did not acknowledge its pause. */
} loci_signal_kind;

typedef struct loci_signal {
    loci_signal_kind kind;
    loci_level level; /* At this moment. */
    const char *name; /* Pipeline or component; NULL = all. Borrowed for the call. */
    int64_t bytes;    /* Bytes that should be freed; 0 = not known. */
} loci_signal;

/* Called from the guard's thread. Must not block; may call every function of the guard but close
 * and tick. The callbacks of caches and pipelines have the same rules. */
typedef void loci_signal_fn(void *ctx, const loci_signal *signal);

/* Replaces the readings of the system. Sets the bytes that the process uses and its limit (0 = no
 * limit known); a non-zero result means that the reading failed. Called from the guard's thread. */
typedef int loci_reading_fn(void *ctx, int64_t *used_bytes, int64_t *limit_bytes);

/* For loci_guard_options.flags. INLINE: no thread; the program calls loci_guard_tick(). */
#define LOCI_GUARD_INLINE 1u

typedef struct loci_guard_options {
    uint32_t size;           /* sizeof(loci_guard_options); LOCI_GUARD_OPTIONS_INIT sets it. */
    uint32_t flags;          /* LOCI_GUARD_... */
    int64_t limit_bytes;     /* Upper bound of the limit; 0 = only the system's limits. */
    uint32_t machine_share;  /* Share of the machine's memory, in thousandths; 0 = 500. */
    uint32_t in_flight_max;  /* Work admitted at the same time, at most 4096; 0 = 256. */
    uint32_t queue_max;      /* Work that waits for admission, at most 4096; 0 = 1024. */
    const char *watch;       /* Value of $MEMORY_PRESSURE_WATCH, or NULL. */
    const char *watch_write; /* Value of $MEMORY_PRESSURE_WRITE, or NULL. */
    loci_signal_fn *signal;  /* NULL = signals are dropped. */
    void *signal_ctx;
    loci_reading_fn *reading; /* NULL = the system's files. */
    void *reading_ctx;
    loci_clock_fn *clock; /* Monotonic time in µs; NULL = the system's. */
    void *clock_ctx;
    /* Returns free memory of the program's allocator to the system, such as a bounded
     * malloc_trim(). Called from the level elevated on, at most once a second; NULL = nothing. */
    void (*purge)(void *ctx);
    void *purge_ctx;
    loci_allocator allocator; /* Zero = malloc. For the guard's own tables only. */
} loci_guard_options;

#define LOCI_GUARD_OPTIONS_INIT                                                                    \
    {                                                                                              \
        sizeof(loci_guard_options), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,                   \
        {                                                                                          \
            0, 0                                                                                   \
        }                                                                                          \
    }

/* Starts a guard. LOCI_EINVAL: an option is out of range. Since 0.1. */
LOCI_API loci_status loci_guard_open(const loci_guard_options *options, loci_guard **out,
                                     loci_error *err);
/* Stops the thread and frees everything. Paused pipelines are resumed first. No other call may be
 * running on the guard, and no thread that charged may be ending meanwhile. NULL is fine. */
LOCI_API void loci_guard_close(loci_guard *guard);

/* Measures and acts once; returns the milliseconds until the next call is due. Only for a guard
 * opened with LOCI_GUARD_INLINE, one thread at a time; otherwise does nothing and returns 0. */
LOCI_API int64_t loci_guard_tick(loci_guard *guard);

/* Accounts for `bytes` of `category` before they are allocated. LOCI_ERESOURCE: they do not fit
 * now; free something or try again after a few ticks. LOCI_EINVAL: a negative size or an unknown
 * category. Takes nanoseconds and no lock. Since 0.1. */
LOCI_API loci_status loci_guard_charge(loci_guard *guard, loci_category category, loci_work work,
                                       int64_t bytes);
/* Ends a charge; any thread, in parts if need be. LOCI_EINVAL, and nothing changed: a negative
 * size, an unknown category, or more than is charged in the category. */
LOCI_API loci_status loci_guard_uncharge(loci_guard *guard, loci_category category, int64_t bytes);

/* Sets the bytes that the component `name` holds, for components that know their size and do not
 * charge it. Takes a lock: for reports now and then, not for every allocation. LOCI_EINVAL: a
 * negative size, or the name of a cache or pipeline; LOCI_ELIMIT: too many components. */
LOCI_API loci_status loci_guard_report(loci_guard *guard, const char *name, loci_category category,
                                       int64_t bytes, loci_error *err);
/* Forgets a component. LOCI_ENOTFOUND: it was never reported, or released before. */
LOCI_API loci_status loci_guard_release(loci_guard *guard, const char *name, loci_error *err);
/* Bytes charged and reported in one category; in all with LOCI_MEM_CATEGORIES. */
LOCI_API int64_t loci_guard_usage(loci_guard *guard, loci_category category);

/* For flags of caches and pipelines: their memory is charged, so their size is only used to choose
 * between them and is not added to the usage a second time. */
#define LOCI_GUARD_CHARGED 1u

typedef struct loci_cache {
    uint32_t size;
    uint32_t flags;              /* LOCI_GUARD_CHARGED */
    const char *name;            /* Unique in the guard; copied. */
    int64_t min_bytes;           /* Never asked to shrink below this. */
    int64_t (*bytes)(void *ctx); /* Its size now. */
    /* Frees at least `bytes` if it can, least recently used regions first, within about
     * `budget_us`; returns the bytes freed. The memory must go back to the system, not to a free
     * list. */
    int64_t (*evict)(void *ctx, int64_t bytes, int64_t budget_us);
    void *ctx;
} loci_cache;

#define LOCI_CACHE_INIT                                                                            \
    {                                                                                              \
        sizeof(loci_cache), 0, 0, 0, 0, 0, 0                                                       \
    }

/* Registers a cache. LOCI_ECONFLICT: the name is taken; LOCI_ELIMIT: more than 64. Since 0.1. */
LOCI_API loci_status loci_guard_add_cache(loci_guard *guard, const loci_cache *cache,
                                          loci_error *err);

typedef struct loci_pipeline {
    uint32_t size;
    uint32_t flags;              /* LOCI_GUARD_CHARGED */
    const char *name;            /* Unique in the guard; copied. */
    int32_t priority;            /* The lowest is paused first, the highest resumed first. */
    int64_t (*bytes)(void *ctx); /* Its size now; NULL = not known. */
    void (*pause)(void *ctx);    /* Asks it to stop, spill what it holds and acknowledge in 5 s. */
    void (*resume)(void *ctx);
    void (*cancel)(void *ctx); /* It did not acknowledge: give it up and free its memory. */
    void *ctx;
} loci_pipeline;

#define LOCI_PIPELINE_INIT                                                                         \
    {                                                                                              \
        sizeof(loci_pipeline), 0, 0, 0, 0, 0, 0, 0, 0                                              \
    }

/* Registers a running pipeline. Callbacks may be NULL: the signals carry the same. LOCI_ECONFLICT:
 * the name is taken; LOCI_ELIMIT: more than 1024. Since 0.1. */
LOCI_API loci_status loci_guard_add_pipeline(loci_guard *guard, const loci_pipeline *pipeline,
                                             loci_error *err);
/* Forgets a cache or pipeline and waits for a callback of it that is running, so the caller must
 * not hold a lock that the callback takes. LOCI_ENOTFOUND: no such name. */
LOCI_API loci_status loci_guard_remove(loci_guard *guard, const char *name, loci_error *err);
/* Confirms that a pipeline has paused. LOCI_ENOTFOUND: no such pipeline; LOCI_ECONFLICT: it was not
 * asked to pause, or did not confirm in time and was cancelled. */
LOCI_API loci_status loci_guard_ack(loci_guard *guard, const char *name, loci_error *err);

typedef struct loci_admission {
    uint32_t size;
    loci_work work;
    int32_t priority;    /* The highest is admitted first; then the oldest. */
    int64_t deadline_ms; /* Longest time in the queue; 0 = rejected instead of queued. */
} loci_admission;

#define LOCI_ADMISSION_INIT                                                                        \
    {                                                                                              \
        sizeof(loci_admission), LOCI_WORK_NORMAL, 0, 0                                             \
    }

typedef enum loci_admitted {
    LOCI_ADMITTED = 0, /* Go; call loci_guard_done() at the end. */
    LOCI_QUEUED,       /* Call loci_guard_wait(), or loci_guard_done() to give up. */
    LOCI_REJECTED      /* Try again after `retry_after_ms`; there is no ticket. */
} loci_admitted;

typedef struct loci_ticket {
    loci_admitted outcome;
    uint64_t id;            /* 0 = none. */
    int64_t retry_after_ms; /* Of REJECTED. */
} loci_ticket;

/* Asks to start work; never waits. A rejection is a LOCI_OK call. Since 0.1. */
LOCI_API loci_status loci_guard_admit(loci_guard *guard, const loci_admission *admission,
                                      loci_ticket *out, loci_error *err);
/* Waits up to `timeout_ms` for a queued ticket and sets `*out` to its outcome now: ADMITTED, QUEUED
 * (the time is over), or REJECTED (its deadline passed: the ticket is gone). LOCI_ENOTFOUND: no
 * such ticket. */
LOCI_API loci_status loci_guard_wait(loci_guard *guard, uint64_t ticket, int64_t timeout_ms,
                                     loci_ticket *out, loci_error *err);
/* Ends admitted work, or leaves the queue. LOCI_ENOTFOUND: no such ticket. */
LOCI_API loci_status loci_guard_done(loci_guard *guard, uint64_t ticket, loci_error *err);

LOCI_API loci_level loci_guard_level(loci_guard *guard);
/* Everything the guard knows as a JSON object: level, usage, limit, trend, categories, the largest
 * components, caches, pipelines, admission and the last decisions. To be freed with
 * loci_text_free(); NULL = out of memory. */
LOCI_API char *loci_guard_status(loci_guard *guard);

/* ---- About ----------------------------------------------------------------------------------- */

/* "0.1.0". */
LOCI_API const char *loci_version(void);
/* "invalid_argument" for LOCI_EINVAL, "ok" for LOCI_OK. Never NULL. */
LOCI_API const char *loci_status_name(loci_status status);
/* Exit code for a process: 0, 1, or 2 for wrong usage. */
LOCI_API int loci_status_exit_code(loci_status status);
/* Status code for an HTTP server, such as 404. */
LOCI_API int loci_status_http(loci_status status);
/* Terminated text as a loci_str; NULL becomes empty. */
LOCI_API loci_str loci_str_of(const char *text);

#ifdef __cplusplus
}
#endif

#endif /* LOCI_H */
