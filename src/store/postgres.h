/* postgres.h - shared between the files of the PostgreSQL driver; no other file includes it.
 *
 * A connection is always in libpq's pipeline mode: each statement that is sent is noted in
 * `pending`, in order, and its answer is read when a caller needs it. So `exec` costs no round
 * trip, and a failure may be noticed later than it happened: it is kept in `failure` until the
 * transaction ends, and every statement until then returns it.
 *
 * libpq waits for ever for a server that was stopped, so nothing here calls a function of it that
 * waits: every wait is a poll() of ours with a deadline, and a connection that missed it is closed.
 */
#ifndef LC_STORE_POSTGRES_H
#define LC_STORE_POSTGRES_H

#include <libpq-fe.h>

#include "base/hash.h"
#include "base/limits.h"
#include "base/map.h"
#include "store/db.h"

/* libpq is loaded when the first PostgreSQL store is opened: it loads about thirty shared
 * libraries, which would slow down every start of the program that uses no PostgreSQL. Its
 * functions are called through a table in each connection, so that threads share nothing. */
#define LC_PQ_FUNCTIONS(X)                                                                         \
    X(conninfoParse)                                                                               \
    X(conninfoFree)                                                                                \
    X(connectStartParams)                                                                          \
    X(connectPoll)                                                                                 \
    X(connectionNeedsPassword)                                                                     \
    X(status)                                                                                      \
    X(finish)                                                                                      \
    X(socket)                                                                                      \
    X(errorMessage)                                                                                \
    X(parameterStatus)                                                                             \
    X(serverVersion)                                                                               \
    X(setnonblocking)                                                                              \
    X(setNoticeReceiver)                                                                           \
    X(enterPipelineMode)                                                                           \
    X(exitPipelineMode)                                                                            \
    X(pipelineSync)                                                                                \
    X(sendFlushRequest)                                                                            \
    X(sendPrepare)                                                                                 \
    X(sendQuery)                                                                                   \
    X(sendQueryPrepared)                                                                           \
    X(flush)                                                                                       \
    X(consumeInput)                                                                                \
    X(isBusy)                                                                                      \
    X(getResult)                                                                                   \
    X(putCopyData)                                                                                 \
    X(putCopyEnd)                                                                                  \
    X(clear)                                                                                       \
    X(resultStatus)                                                                                \
    X(resultErrorField)                                                                            \
    X(ntuples)                                                                                     \
    X(nfields)                                                                                     \
    X(ftype)                                                                                       \
    X(getvalue)                                                                                    \
    X(getlength)                                                                                   \
    X(getisnull)                                                                                   \
    X(cmdStatus)                                                                                   \
    X(cmdTuples)

typedef struct lc_pq {
#define LC_PQ_MEMBER(name) __typeof__(PQ##name) *name;
    LC_PQ_FUNCTIONS(LC_PQ_MEMBER)
#undef LC_PQ_MEMBER
} lc_pq;

#define LC_PG_PENDING_MAX 512 /* Unread answers; at this number they are read. */
#define LC_PG_WRITER_ID_BYTES 33
#define LC_PG_READING_MAX 32

typedef enum lc_pg_preparation { LC_PG_UNPREPARED, LC_PG_SENT, LC_PG_PREPARED } lc_pg_preparation;

/* A prepared statement, kept for the life of the connection under (sql, is_shadow). */
typedef struct lc_pg_statement {
    lc_statement_key key;
    char name[16];
    lc_pg_preparation preparation;
    const char *params; /* Kinds, those of {row} included: in `row_params` or in the lc_sql. */
    const char *columns;
    char row_params[LC_SQL_KINDS_MAX + 1];
    char row_columns[LC_SQL_KINDS_MAX + 1];
    bool is_select;
    bool is_checked; /* The kinds of its columns are the declared ones. */
} lc_pg_statement;

typedef enum lc_pg_answer_kind {
    LC_PG_PREPARING,
    LC_PG_CHANGES_ANY,
    LC_PG_CHANGES_ONE,
    LC_PG_ROWS,
    LC_PG_COMMIT, /* Must say COMMIT: one that failed says ROLLBACK. */
    LC_PG_SYNC
} lc_pg_answer_kind;

/* An answer that was not read yet. */
typedef struct lc_pg_pending {
    lc_pg_answer_kind kind;
    lc_pg_statement *statement;
} lc_pg_pending;

/* How the code that runs transactions reacts to a failure. */
typedef enum lc_pg_remedy {
    LC_PG_REPORT, /* Report the error. */
    LC_PG_AGAIN,  /* Another transaction was in the way: run it again. */
    LC_PG_LOST    /* The connection is gone. */
} lc_pg_remedy;

#define LC_PG_PREFETCH_ROUNDS 3 /* The stored answer, the session, the current rows. */

/* The answer to one query of one body. */
typedef struct lc_pg_prefetched {
    const lc_sql *sql;
    lc_hash128 args;
    PGresult *result; /* NULL until it has come, and when the body has taken it. */
} lc_pg_prefetched;

/* The answers for one body: one per round. */
typedef struct lc_pg_prefetch_slot {
    lc_pg_prefetched answers[LC_PG_PREFETCH_ROUNDS];
    size_t count, taken;
} lc_pg_prefetch_slot;

typedef struct lc_pg_prefetch {
    lc_pg_prefetch_slot slots[LC_WRITES_PER_COMMIT_MAX];
    lc_pg_prefetch_slot *slot; /* Of the body that runs; NULL = it gets no prefetched answers. */
    bool is_dry_run;           /* It runs without effect. */
} lc_pg_prefetch;

typedef struct lc_pg {
    lc_db db; /* First: the driver's functions get a pointer to it. */
    lc_pq pq;
    PGconn *conn; /* NULL once it was lost. */
    char *url;
    int wake_fd;               /* An eventfd; `interrupt` writes to it. */
    _Atomic bool is_executing; /* If false, an interrupt has no effect. */
    int64_t deadline_us;       /* Monotonic: of every wait until it is set again. */
    lc_map statements;
    unsigned statement_count;
    lc_buf text; /* Rewritten SQL. */
    lc_pg_pending pending[LC_PG_PENDING_MAX + 8];
    size_t pending_first, pending_count;
    /* Answers being read, as many as fit: to free them after a body that a bug has stopped. */
    PGresult *reading[LC_PG_READING_MAX];
    bool has_failed;      /* Since the transaction began. */
    bool has_expectation; /* A statement must change one row: check before the commit. */
    loci_error failure;
    lc_pg_remedy remedy;
    lc_pg_prefetch *prefetch;            /* In `group_room`. */
    struct lc_pg_group_room *group_room; /* For groups of writes; NULL until the first. */
    int64_t write_us; /* Moving averages of groups: the time per write until the commit, */
    int64_t fixed_us; /* and of locking and committing; 0 = not known yet. */
    char writer_id[LC_PG_WRITER_ID_BYTES]; /* "" until the first write. */
    int64_t commit_count;                  /* Of `writer_id`, as stored. */
    bool is_unknown;                       /* Unknown whether the last commit was done. */
    int64_t exec_count; /* Statements that wrote, since the connection was made, */
    int64_t analyze_at; /* and the number at which to analyze the tables. */
    int again_count;    /* Times in a row that a table to create existed. */
} lc_pg;

/* ---- Connection (postgres.c) */

/* Replaces a connection that was lost; waits until `deadline_us` at most. */
loci_status lc_pg_connect(lc_pg *db, int64_t deadline_us, loci_error *err);
/* Closes the connection at once, even during a transaction. */
void lc_pg_drop_connection(lc_pg *db);
/* Waits until something can be read. On failure the connection is closed. */
loci_status lc_pg_wait(lc_pg *db, loci_error *err);

/* Waits until libpq has sent everything to the server. On failure the connection is closed. */
loci_status lc_pg_flush(lc_pg *db, loci_error *err);

/* ---- Errors (postgres.c) */

/* Notes the failure that `result` reports; NULL = the failure of the connection. */
loci_status lc_pg_note_result(lc_pg *db, const PGresult *result);
loci_status lc_pg_note(lc_pg *db, lc_pg_remedy remedy, const loci_error *cause);
/* Returns the failure that was noted. */
loci_status lc_pg_tell_failure(const lc_pg *db, loci_error *err);
loci_status lc_pg_fail_url(loci_error *err);
/* The error of a failed attempt to connect. */
loci_status lc_pg_fail_connect(lc_pg *db, loci_error *err);

/* ---- Statements (postgres_statement.c) */

/* Frees the answers that a body was reading when a bug stopped it. */
void lc_pg_drop_reading(lc_pg *db);
/* After a reconnect: forgets prepared statements and pending answers of the old connection. */
void lc_pg_forget_answers(lc_pg *db);
void lc_pg_drop_statements(lc_pg *db);
loci_status lc_pg_send(lc_pg *db, const lc_sql *sql, bool is_shadow, const lc_arg *args,
                       lc_pg_answer_kind kind, loci_error *err);
/* The answer of the oldest LC_PG_ROWS that was sent; the caller clears it. */
loci_status lc_pg_take(lc_pg *db, PGresult **out, loci_error *err);
/* Sends and takes. */
loci_status lc_pg_ask(lc_pg *db, const lc_sql *sql, const lc_arg *args, PGresult **out,
                      loci_error *err);
/* Sends a Sync: a failure does not affect statements behind it. */
loci_status lc_pg_send_sync(lc_pg *db, loci_error *err);
/* Reads all pending answers. */
loci_status lc_pg_drain(lc_pg *db, loci_error *err);
int64_t lc_pg_value_i64(const lc_pg *db, const PGresult *result, int row, int column);
/* Borrowed from `result`. */
loci_str lc_pg_value_str(const lc_pg *db, const PGresult *result, int row, int column);

loci_status lc_pg_exec(lc_tx *tx, const lc_sql *sql, const lc_arg *args, lc_expect expect,
                       loci_error *err);
loci_status lc_pg_query(lc_tx *tx, const lc_sql *sql, const lc_arg *args, lc_rows *out,
                        loci_error *err);
bool lc_pg_next(lc_rows *rows, loci_status *out_status, loci_error *err);
void lc_pg_end(lc_rows *rows);
loci_status lc_pg_run_script(lc_tx *tx, const char *text, loci_error *err);

/* ---- Prefetch (postgres_write.c) */

/* True if the running body gets its answer from the prefetched ones, or if it is a dry run that
 * ends here. An answer that a dry run reads stays prefetched. */
bool lc_pg_find_prefetched(lc_pg *db, const lc_sql *sql, const lc_arg *args, PGresult **out,
                           loci_status *out_status, loci_error *err);
loci_status lc_pg_end_dry_run(loci_error *err);

/* ---- Many rows (postgres_statement.c) */

loci_status lc_pg_put_rows(lc_tx *tx, const lc_bulk *bulk, loci_error *err);

/* ---- Transactions (postgres_transaction.c, postgres_write.c) */

loci_status lc_pg_read(lc_db *base, int64_t deadline_us, lc_tx_body *body, void *ctx,
                       loci_error *err);
void lc_pg_write(lc_db *base, lc_write *first);
void lc_pg_free_group_room(lc_pg *db);
/* Rolls back the open transaction. */
void lc_pg_roll_back(lc_pg *db);
/* A rollback must not allocate memory: doing it once in advance allocates all it needs. */
loci_status lc_pg_send_nothing(lc_pg *db, loci_error *err);

/* The first sends the first statements of a write, which count it, so that the store can be asked
 * later whether it was committed; the second reads their answers. */
loci_status lc_pg_send_begin(lc_pg *db, loci_error *err);
loci_status lc_pg_take_begin(lc_pg *db, loci_error *err);
/* Commits. If the connection is lost before the answer, a new connection asks the store, until
 * `deadline_us`, whether it was committed; if this stays unknown, LOCI_EUNAVAILABLE says so. */
loci_status lc_pg_end_commit(lc_pg *db, int64_t deadline_us, loci_error *err);
uint64_t lc_pg_change_mark(lc_db *base);
loci_status lc_pg_commit_numbers(lc_tx *tx, lc_commit_number *each, void *ctx, bool *out_is_replica,
                                 loci_error *err);
loci_status lc_pg_set_up_store(lc_tx *tx, loci_error *err);
loci_status lc_pg_add_growth(lc_tx *tx, loci_error *err);
extern const struct lc_grown_sql lc_pg_grown_sql;
/* Deletes the writer's row and reads the remaining answers of the server; best effort. */
void lc_pg_say_goodbye(lc_pg *db);

/* ---- Statistics (postgres_transaction.c) */

/* After a commit: sees to it that tables that have grown much are analyzed. */
void lc_pg_analyze_young(lc_pg *db);
loci_status lc_pg_analyze_shadows(lc_db *base, loci_error *err);
loci_status lc_pg_maintain(lc_db *base, loci_error *err); /* Analyzes such tables. */
loci_status lc_pg_scrub(lc_db *base, loci_error *err);

loci_status lc_pg_lock_log(lc_tx *tx, loci_error *err);
loci_status lc_pg_lock_user(lc_tx *tx, loci_str tenant_id, loci_str user_id, loci_error *err);
loci_status lc_pg_lock_readers(lc_tx *tx, loci_error *err);
void lc_pg_extend_write(lc_tx *tx, int64_t us);

#endif /* LC_STORE_POSTGRES_H */
