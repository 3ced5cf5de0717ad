/* db.h - the database contract: the functions that each back end implements and the rooms use.
 *
 * SQL is written once, as `static const lc_sql`, in the subset that SQLite and PostgreSQL share
 * (ARCHITECTURE.md lists the features outside it). Parameters are $1 $2 …; their kinds and those of
 * the answer's columns are declared, because PostgreSQL fixes types at prepare and SQLite checks
 * none.
 *
 * Callers never begin or commit a transaction; they pass a body, a function. A read is a body that
 * sees one snapshot. A write is a body that runs with its user's head row locked; SQLite runs many
 * bodies in one transaction (group commit), PostgreSQL may run one again after a conflict. So a
 * body depends on (tx, ctx) only: time and arguments are fixed before it runs, it makes ids from
 * the locked head, and it may change nothing but its tx and ctx. It finds every domain error before
 * its first write; a body that fails later makes the whole group run again.
 *
 * A lc_db is one connection, used by one thread at a time; engine/ owns the threads and the queue.
 */
#ifndef LC_STORE_DB_H
#define LC_STORE_DB_H

#include "base/arena.h"
#include "base/assert.h"
#include "base/env.h"
#include "base/id.h"
#include "store/catalogue.h"

#include <stdbool.h>

typedef struct lc_row_type lc_row_type;

struct lc_sql {
    const char *text;    /* In the common subset. */
    const char *params;  /* One letter per parameter: i f t b; "" = none. */
    const char *columns; /* The same for the answer; NULL = it returns no rows. */
    /* The record that {row} in the text expands to (store/row.h), or NULL. In a query its columns
     * come before `columns`; in any other statement its parameters follow `params`. */
    const lc_row_type *row;
};

/* One value: an argument of a statement, or a column of a row. The text of an argument must live
 * until the statement has run (a query: until lc_rows_end()), the text of a column lives until the
 * next row. */
typedef struct lc_cell {
    char kind; /* Equals the declared kind (asserted), or 0 for NULL: then the rest is 0, too. */
    union {
        int64_t i64;
        double f64;
        loci_str str; /* Of kind t or b. */
    } as;
} lc_cell;
typedef lc_cell lc_arg;

#define LC_I(v) ((lc_arg){.kind = 'i', .as.i64 = (v)})
#define LC_F(v) ((lc_arg){.kind = 'f', .as.f64 = (v)})
#define LC_T(v) ((lc_arg){.kind = 't', .as.str = (v)})
#define LC_B(v) ((lc_arg){.kind = 'b', .as.str = (v)})
#define LC_NULL ((lc_arg){.kind = 0})
/* Text, or NULL when there is none. */
#define LC_T_OR_NULL(v) ((v).ptr != NULL ? LC_T(v) : LC_NULL)
/* Text, or "" when there is none: for columns that are not nullable. */
#define LC_T_OR_EMPTY(v) LC_T(((v).ptr != NULL ? (v) : (loci_str){"", 0}))

typedef struct lc_query { /* A statement with its arguments. */
    const lc_sql *sql;
    const lc_arg *args;
} lc_query;

/* How many rows a statement must change. ONE: any other number is LOCI_ECONFLICT, at the commit at
 * the latest. */
typedef enum lc_expect { LC_CHANGES_ANY, LC_CHANGES_ONE } lc_expect;

/* Many rows for one table. */
#define LC_BULK_COLUMNS_MAX 16
typedef struct lc_bulk {
    const lc_sql *put; /* The insert of one row. */
    const char *into;  /* The table and its columns in the order of the parameters: "t (a, b)". */
    size_t row_count;
    void (*row)(void *ctx, size_t row, lc_arg *out); /* Arguments of one row. */
    void *ctx;
} lc_bulk;

typedef struct lc_db lc_db;
typedef struct lc_user_states lc_user_states;
typedef struct lc_embedding lc_embedding;
typedef loci_status lc_tx_body(lc_tx *tx, void *ctx, loci_error *err);

/* A user's place in the log. */
typedef struct lc_head {
    int64_t seq;         /* Of the last event; 0 = none yet. */
    int64_t recorded_at; /* Of the last event, µs. */
    int64_t objects;     /* Number of ids made for things outside the log, such as jobs. */
} lc_head;

typedef struct lc_write { /* One write; the caller's storage until lc_db_write() has answered it. */
    loci_str tenant_id;   /* User whose head is locked. Both "": the store, without events. */
    loci_str user_id;
    int64_t now_us; /* Domain time of everything in the body. */
    int64_t
        deadline_us; /* Monotonic. Passed before the body starts: LOCI_EDEADLINE, it never runs. */
    size_t bytes;    /* Of its arguments, roughly: a commit has a maximum size. */
    /* No head is locked: the body makes no ids and relies on conditional statements alone, so it
     * may run beside others of the same user. SQLite locks all the same. */
    bool locks_nothing;
    /* Before its first write the body reads only rows of its user or rows that never change: the
     * driver of a remote store may do a dry run first, to prefetch the answers of its queries. */
    bool reads_own;
    lc_tx_body *body;
    void *ctx;
    bool is_answered;   /* Out: `status` is set. */
    loci_status status; /* Out: LOCI_OK means durable. */
    loci_error error;   /* Out, when the status is not LOCI_OK. */
    struct lc_write *next;
} lc_write;

#define LC_COLUMNS_MAX 48 /* Of an answer. */

/* An answer being read; the caller's storage. */
typedef struct lc_rows {
    lc_tx *tx;
    const lc_sql *sql;
    void *statement;   /* The driver's. NULL = nothing to end. */
    const char *kinds; /* Of all columns, those of {row} included. The driver sets it in `query`. */
    int column_count;
    int row_columns;               /* Those of {row}, which come first. */
    int place;                     /* The driver's. */
    lc_cell cells[LC_COLUMNS_MAX]; /* The current row. The driver fills it in `next`. */
} lc_rows;

/* The first part of every driver's transaction struct. */
struct lc_tx {
    lc_db *db;
    int64_t now_us;     /* Domain time. */
    int64_t until_us;   /* Monotonic: when a read must have ended; 0 = a write. */
    bool is_write;      /* exec is allowed. */
    bool is_shadow;     /* Projection tables mean their `__new` twins: a rebuild. */
    bool wrote;         /* The current body has changed something. */
    loci_str tenant_id; /* Of the current body. */
    loci_str user_id;
    lc_head head; /* Of that user; loaded at its first use. */
    bool has_head;
    bool is_open_tenant; /* Known not to be closed. */
    bool enqueued_job;   /* The current body added a job: a worker must be woken. */
    bool head_is_dirty;  /* To be written before the next user or the commit. */
    unsigned ordinal;    /* Of the next id made at this seq. */
    loci_str carried;    /* Set by lc_tx_carry(); none = none. */
    /* The program that the current body writes for: a JSON object, put into the refs of each event
     * as `client`. None = unknown. Lives at least as long as the body. */
    loci_str client;
    /* Id of the message that the current body's next events are derived from, as JSON, put into
     * their refs as `message_id`. None = none. Lives at least as long as the body. */
    loci_str source;
    /* One slot per room, in the order of the catalogue: a cache for later bodies of the same user
     * in this transaction, which then need not read the same rows again. See lc_tx_room_state(). */
    void *room_state[LC_ROOMS_MAX];
    /* The states that the engine keeps in memory for that user (store/user_kind.h). NULL outside
     * the engine. */
    const lc_user_states *states;
    lc_embedding *embedding; /* For searching by meaning; NULL = by words alone. */
};

typedef void lc_progress(void *ctx, const char *what, int64_t done, int64_t total);
typedef void lc_commit_number(void *ctx, loci_str writer_id, int64_t commits);

/* Identifies the file of a store under any name; zeros for a server. */
typedef struct lc_file_id {
    uint64_t device;
    uint64_t inode;
} lc_file_id;

typedef struct lc_db_target {
    const char *store;   /* A path or URL. */
    bool is_created;     /* Make the store if it is missing. */
    lc_file_id file;     /* The file that it must be; zeros = any. */
    int64_t deadline_us; /* Monotonic, for reaching a server; 0 = the driver's own limit. */
} lc_db_target;

typedef struct lc_db_driver {
    const char *name; /* "sqlite" */
    lc_dialect dialect;
    bool is_remote;       /* Every statement is a round trip over a network. */
    int64_t slice_events; /* Maximum number of events that one transaction of a rebuild replays. */
    /* How long a group may wait for callers that the last commit has just answered. If a commit
     * takes milliseconds, they would always miss the next group: two groups would take turns. */
    int64_t gather_us_max;
    const struct lc_db_upkeep *upkeep;
    const struct lc_grown_sql *grown; /* store/grown.h */

    /* Opens one connection. Does not check the schema. */
    loci_status (*open)(lc_env *env, const lc_catalogue *catalogue, const lc_db_target *target,
                        lc_db **out, loci_error *err);
    void (*close)(lc_db *db);
    /* Relaxed: a power failure may undo the last commits, in order. Otherwise, which is the
     * default, it cannot. */
    loci_status (*set_durability)(lc_db *db, bool is_relaxed, loci_error *err);

    /* Statements. `exec` may be deferred (PostgreSQL's pipeline): its failure may be reported by a
     * later statement or by the commit. `query` starts an answer; `next` fills rows->cells and is
     * false at the end and after a failure, which it reports; `end` may be called at any time and
     * twice. */
    loci_status (*exec)(lc_tx *tx, const lc_sql *sql, const lc_arg *args, lc_expect expect,
                        loci_error *err);
    loci_status (*query)(lc_tx *tx, const lc_sql *sql, const lc_arg *args, lc_rows *out,
                         loci_error *err);
    bool (*next)(lc_rows *rows, loci_status *out_status, loci_error *err);
    void (*end)(lc_rows *rows);
    /* Inserts all rows; a failure may be reported later, as that of `exec`. NULL: one by one. */
    loci_status (*put_rows)(lc_tx *tx, const lc_bulk *bulk, loci_error *err);

    /* Runs the body on one snapshot. LOCI_EDEADLINE after LC_READ_TX_MS_MAX or at `deadline_us`. */
    loci_status (*read)(lc_db *db, int64_t deadline_us, lc_tx_body *body, void *ctx,
                        loci_error *err);
    /* Runs unanswered writes of the list, as many as belong into one commit, and answers them: each
     * is then durable or undone. Answers none if another process has kept the store locked for a
     * while. The caller calls it again for the rest. */
    void (*write)(lc_db *db, lc_write *first);
    /* Work after commits for which a connection has set `wants_maintenance`, on another one: takes
     * seconds, blocks no write, may run again. NULL: there is none. */
    loci_status (*maintain)(lc_db *db, loci_error *err);
    /* True if the connection must be replaced by a new one, which recovers: the server is gone, or
     * a commit failed in the file system, so that the content of the disk is not known. */
    bool (*is_broken)(const lc_db *db);

    loci_status (*now_us)(lc_tx *tx, int64_t *out,
                          loci_error *err); /* Database clock: leases only. */
    /* A number that differs after another connection has committed, except one with the same
     * `origin_id` (a driver may count that one, too); 0 if it could not be read. */
    uint64_t (*change_mark)(lc_db *db);
    /* Identifies the state that a snapshot taken now would see: every commit that wrote something,
     * by any process, changes the number. Costs a few reads of shared memory; may be called from
     * any thread. 0 if the state is not known at the moment. NULL: the store has no such number. */
    uint64_t (*state)(const lc_db *db);
    /* Calls `each` for every writer, by id, with its commits that this snapshot sees;
     * `*is_replica`: the server replays the log of another one. NULL: the store has no replicas. */
    loci_status (*commit_numbers)(lc_tx *tx, lc_commit_number *each, void *ctx, bool *is_replica,
                                  loci_error *err);
    /* Any thread; the running statement answers LOCI_ECANCELLED. */
    void (*interrupt)(lc_db *db);
    /* Bytes that the database library uses in this process, for all connections; any thread. NULL:
     * not known. */
    int64_t (*memory_bytes)(void);
    /* Frees cached pages of a connection that is not in use. NULL: it caches none. */
    void (*release_memory)(lc_db *db);
} lc_db_driver;

/* The first part of every driver's connection struct. */
struct lc_db {
    const lc_db_driver *driver;
    lc_env *env;
    const lc_catalogue *catalogue;
    lc_arena scratch;      /* For the work of one statement or event: take a mark, rewind to it. */
    lc_arena tx_memory;    /* Cleared when lc_db_write() or lc_db_read() returns. */
    int64_t commit_us_max; /* Time in bodies after which a commit takes no further body. */
    /* Connections with one number, not 0, do not report each other's commits; their owner does. */
    uint64_t origin_id;
    char store_id[33];         /* From meta, set by lc_schema_open(); part of the mark in ids. */
    lc_file_id file;           /* That was opened. */
    struct lc_dump_plan *plan; /* Of snapshots (store/snapshot.h), or NULL; freed at close. */
    bool is_read_only;         /* Every write answers LOCI_EFORBIDDEN. */
    bool is_maintained;        /* Another connection does the work of `maintain`, */
    bool wants_maintenance;    /* which is due. */
    bool checks_tenants;       /* Events of closed tenants are refused (store/tenant.h). */
    /* For metrics, or NULL: how long commits took, and the syncs of the log among that. A server's
     * syncs are its own. */
    struct lc_histogram *commit_took, *sync_took;
};

extern const lc_db_driver lc_sqlite_driver;
extern const lc_db_driver lc_postgres_driver;
/* By the store's name: a URL of PostgreSQL, else a file. */
const lc_db_driver *lc_db_driver_of(const char *store);

/* Short forms used by everyone. Kinds and counts are asserted. */
loci_status lc_tx_exec(lc_tx *tx, const lc_sql *sql, const lc_arg *args, loci_error *err);
/* Exactly one row must change: anything else is LOCI_ECONFLICT. */
loci_status lc_tx_exec_one(lc_tx *tx, const lc_sql *sql, const lc_arg *args, loci_error *err);
/* Many rows at once, as fast as the store takes them. Not for projections of a rebuild. */
loci_status lc_tx_put_rows(lc_tx *tx, const lc_bulk *bulk, loci_error *err);
loci_status lc_tx_query(lc_tx *tx, const lc_sql *sql, const lc_arg *args, lc_rows *out,
                        loci_error *err);
bool lc_rows_next(lc_rows *rows, loci_status *out_status, loci_error *err);
void lc_rows_end(lc_rows *rows);

/* Columns of the current row: 0, or a text without an address, for NULL. */
static inline const lc_cell *lc_rows_cell(const lc_rows *rows, int column)
{
    LC_ASSERT(column >= 0 && column < rows->column_count);
    return &rows->cells[column];
}

static inline bool lc_rows_is_null(const lc_rows *rows, int column)
{
    return lc_rows_cell(rows, column)->kind == 0;
}

static inline int64_t lc_rows_i64(const lc_rows *rows, int column)
{
    LC_ASSERT(rows->kinds[column] == 'i');
    return lc_rows_cell(rows, column)->as.i64;
}

static inline double lc_rows_f64(const lc_rows *rows, int column)
{
    LC_ASSERT(rows->kinds[column] == 'f');
    return lc_rows_cell(rows, column)->as.f64;
}

static inline loci_str lc_rows_str(const lc_rows *rows, int column)
{
    LC_ASSERT(rows->kinds[column] == 't' || rows->kinds[column] == 'b');
    return lc_rows_cell(rows, column)->as.str;
}

/* The slot of `room`, which is the caller's own. NULL at the start of a transaction and whenever it
 * turns to another user. The room points it to memory from tx->db->tx_memory, which lives until the
 * transaction ends, and sets it to NULL when a statement of its own makes it outdated. */
void **lc_tx_room_state(lc_tx *tx, const lc_room *room);
/* Adds JSON members (without braces, at least one) to the refs of the event that the current body
 * appends next: small changes that belong to that event and need none of their own. Copied. */
loci_status lc_tx_carry(lc_tx *tx, loci_str members, loci_error *err);
/* For drivers, before each body: sets the user, the time and everything else that belongs to one
 * body. The caller has flushed the head of the user before. */
void lc_tx_turn_to(lc_tx *tx, const lc_write *write);

/* The first row of an answer, or `*found` false. The row stays readable until lc_rows_end(). */
loci_status lc_tx_find(lc_tx *tx, const lc_sql *sql, const lc_arg *args, lc_rows *out, bool *found,
                       loci_error *err);

/* The first row of an answer of integers: its columns in `out`. A column that is NULL, and all if
 * there is no row, stay as they were. */
loci_status lc_tx_find_numbers(lc_tx *tx, const lc_sql *sql, const lc_arg *args, int64_t *out,
                               loci_error *err);

/* In a write: until it ends no other transaction writes to any log (lock_log) or reads
 * (lock_readers). For changes to all users, such as the swap at the end of a rebuild. */
loci_status lc_tx_lock_log(lc_tx *tx, loci_error *err);
loci_status lc_tx_lock_readers(lc_tx *tx, loci_error *err);
/* The same for the log of one user, which may be new. The caller locks users in ascending order. */
loci_status lc_tx_lock_user(lc_tx *tx, loci_str tenant_id, loci_str user_id, loci_error *err);

loci_status lc_db_read(lc_db *db, int64_t deadline_us, lc_tx_body *body, void *ctx,
                       loci_error *err);
void lc_db_write(lc_db *db, lc_write *first);
/* One write on its own, waiting at most `timeout_ms` for the lock; for upkeep without a queue. */
loci_status lc_db_write_one(lc_db *db, int64_t timeout_ms, lc_tx_body *body, void *ctx,
                            loci_error *err);
void lc_db_close(lc_db *db); /* NULL is fine. */

/* The kinds of all parameters of a statement and of all columns of its answer, those of {row}
 * included; `out` is the buffer that is used if the statement has {row}. */
#define LC_SQL_KINDS_MAX 64
const char *lc_sql_params(const lc_sql *sql, char out[LC_SQL_KINDS_MAX + 1]);
const char *lc_sql_columns(const lc_sql *sql, char out[LC_SQL_KINDS_MAX + 1]);

/* Key of a prepared statement in a driver's cache. */
typedef struct lc_statement_key {
    const lc_sql *sql;
    uintptr_t is_shadow;
} lc_statement_key;

static inline loci_str lc_statement_key_str(const lc_statement_key *key)
{
    return (loci_str){(const char *)key, sizeof *key};
}

/* Expands {row} and the other braces (store/row.h), rewrites `$n` to `?n` and, for a shadow,
 * projection tables to their `__new` twins, outside quotes. Drivers call it when they prepare. */
void lc_sql_rewrite(lc_buf *out, const lc_sql *sql, const lc_catalogue *catalogue,
                    lc_dialect dialect, bool is_shadow);

#endif /* LC_STORE_DB_H */
