/* postgres.c - the PostgreSQL driver: connecting, waiting, and the table of its parts.
 *
 * Connecting runs step by step with a deadline, like every wait (postgres.h); only the look-up of a
 * host name is done inside libpq and may take as long as the resolver does.
 *
 * Each session sets timeouts in the server for statements, for lock waits and for transactions that
 * are idle because their process was stopped. Without the last one a stopped process would keep its
 * users locked for all other processes.
 */
#include "store/postgres.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/library.h"
#include "base/limits.h"
#include "base/str.h"
#include "base/url.h"
#include "store/db_upkeep.h"

/* ---- Errors ---------------------------------------------------------------------------------- */

/* Maps the error codes of a PostgreSQL server to statuses and messages.
 *
 * The server's message is left out where it could contain text of users (a value in a unique
 * violation) and where loci's own message says what to do. Messages of libpq are never shown: they
 * may repeat the URL, and with it the password.
 */

typedef struct meaning {
    const char *code; /* SQLSTATE, or the two characters of its class. */
    loci_status status;
    lc_pg_remedy remedy;
    const char *message;
} meaning;

/* The first match is used. */
static const meaning meanings[] = {
    {"40001", LOCI_EDEADLINE, LC_PG_AGAIN, "other writers were in the way until the deadline"},
    {"40P01", LOCI_EDEADLINE, LC_PG_AGAIN, "other writers were in the way until the deadline"},
    {"55P03", LOCI_EDEADLINE, LC_PG_AGAIN, "other writers were in the way until the deadline"},
    {"40003", LOCI_EUNAVAILABLE, LC_PG_LOST, "the server lost the transaction"},
    /* Two processes are creating the same tables. */
    {"42P07", LOCI_ECONFLICT, LC_PG_AGAIN,
     "the database has a table of that name that is not loci's; give loci a schema of its own"},
    {"42710", LOCI_ECONFLICT, LC_PG_AGAIN,
     "the database has a type of that name that is not loci's; give loci a schema of its own"},
    {"57014", LOCI_EDEADLINE, LC_PG_REPORT, "the statement took longer than its deadline"},
    {"53100", LOCI_ERESOURCE, LC_PG_REPORT, "the disk of the PostgreSQL server is full"},
    {"53200", LOCI_ERESOURCE, LC_PG_REPORT, "the PostgreSQL server is out of memory"},
    {"53300", LOCI_EUNAVAILABLE, LC_PG_LOST,
     "the PostgreSQL server has no connection left; raise its max_connections or lower "
     "store.readers"},
    {"53", LOCI_ERESOURCE, LC_PG_REPORT, "the PostgreSQL server lacks a resource"},
    {"25006", LOCI_EFORBIDDEN, LC_PG_REPORT,
     "the PostgreSQL server only reads; name its primary, or add target_session_attrs=read-write"},
    {"42501", LOCI_EFORBIDDEN, LC_PG_REPORT,
     "the role of the store's URL lacks a privilege; without INSERT it can only read"},
    {"28", LOCI_EFORBIDDEN, LC_PG_LOST,
     "the PostgreSQL server refuses the user or the password of the store's URL"},
    {"3D000", LOCI_ENOTFOUND, LC_PG_LOST,
     "the PostgreSQL server has no such database; `createdb` makes one"},
    {"3F000", LOCI_ENOTFOUND, LC_PG_REPORT,
     "the database has no such schema; `create schema` makes one"},
    {"XX001", LOCI_ECORRUPT, LC_PG_REPORT, "the PostgreSQL server found damaged pages"},
    {"XX002", LOCI_ECORRUPT, LC_PG_REPORT, "the PostgreSQL server found a damaged index"},
    {"54", LOCI_ELIMIT, LC_PG_REPORT, "a value is too large for the store"},
    {"22021", LOCI_EINVAL, LC_PG_REPORT, "a text is not valid UTF-8, or has a NUL in it"},
    /* The shape of a table changed under a prepared statement: a new connection has none. */
    {"0A000", LOCI_EUNAVAILABLE, LC_PG_LOST, "the store was changed by another loci; try again"},
    {"26000", LOCI_EUNAVAILABLE, LC_PG_LOST,
     "the server forgot a statement: is there a pooler in between that shares sessions?"},
    {"25P03", LOCI_EUNAVAILABLE, LC_PG_LOST, "the server ended a transaction that stood still"},
    {"57", LOCI_EUNAVAILABLE, LC_PG_LOST, "the PostgreSQL server is going down or starting up"},
    {"08", LOCI_EUNAVAILABLE, LC_PG_LOST, "the connection to the PostgreSQL server was lost"},
};

static const meaning *find_meaning(const char *code)
{
    for (size_t i = 0; i < sizeof meanings / sizeof meanings[0]; i++) {
        if (strncmp(meanings[i].code, code, strlen(meanings[i].code)) == 0)
            return &meanings[i];
    }
    return NULL;
}

loci_status lc_pg_note(lc_pg *db, lc_pg_remedy remedy, const loci_error *cause)
{
    if (!db->has_failed) {
        db->has_failed = true;
        db->failure = *cause;
        db->remedy = remedy;
    }
    if (remedy == LC_PG_LOST) {
        db->remedy = LC_PG_LOST;
        lc_pg_drop_connection(db);
    }
    return db->failure.status;
}

/* Two processes create the same table: the second one violates a unique index of the server's own
 * catalogue. */
static bool is_catalogue_race(const lc_pg *db, const char *code, const PGresult *result)
{
    const char *name = db->pq.resultErrorField(result, PG_DIAG_CONSTRAINT_NAME);

    return strcmp(code, "23505") == 0 && name != NULL && strncmp(name, "pg_", 3) == 0;
}

loci_status lc_pg_note_result(lc_pg *db, const PGresult *result)
{
    const char *code = result == NULL ? NULL : db->pq.resultErrorField(result, PG_DIAG_SQLSTATE);
    const meaning *found;
    loci_error cause;

    if (code == NULL) {
        (void)lc_fail(&cause, LOCI_EUNAVAILABLE,
                      "the connection to the PostgreSQL server was lost");
        return lc_pg_note(db, LC_PG_LOST, &cause);
    }
    found = find_meaning(is_catalogue_race(db, code, result) ? "42P07" : code);
    if (found != NULL) {
        (void)lc_fail(&cause, found->status, "%s (PostgreSQL %s)", found->message, code);
        return lc_pg_note(db, found->remedy, &cause);
    }
    (void)lc_fail(&cause, LOCI_EINTERNAL, "PostgreSQL %s: %s", code,
                  db->pq.resultErrorField(result, PG_DIAG_MESSAGE_PRIMARY));
    return lc_pg_note(db, LC_PG_REPORT, &cause);
}

loci_status lc_pg_tell_failure(const lc_pg *db, loci_error *err)
{
    if (err != NULL)
        *err = db->failure;
    return db->failure.status;
}

loci_status lc_pg_fail_url(loci_error *err)
{
    return lc_fail(err, LOCI_EINVAL,
                   "the store's URL cannot be read; expected "
                   "postgresql://USER@HOST:PORT/DATABASE, with special characters as %%XX");
}

/* libpq gives no code for an attempt to connect, only the server's message, which may be
 * translated. It is searched for known phrases and not passed on. */
loci_status lc_pg_fail_connect(lc_pg *db, loci_error *err)
{
    static const struct {
        const char *words;
        const char *code;
    } hints[] = {
        {"password authentication failed", "28P01"},
        {"no password supplied", "28P01"},
        {"authentication failed", "28000"},
        {"no pg_hba.conf entry", "28000"},
        {"is not permitted to log in", "28000"},
        {"too many clients", "53300"},
        {"too many connections", "53300"},
        {"remaining connection slots", "53300"},
        {"starting up", "57P03"},
        {"shutting down", "57P03"},
        {"recovery mode", "57P03"},
    };
    const char *said = db->conn == NULL ? "" : db->pq.errorMessage(db->conn);
    const meaning *found;

    for (size_t i = 0; i < sizeof hints / sizeof hints[0]; i++) {
        if (strstr(said, hints[i].words) == NULL)
            continue;
        found = find_meaning(hints[i].code);
        return lc_fail(err, found->status, "%s", found->message);
    }
    /* libpq checks the port only when it connects. */
    if (strstr(said, "invalid port number") != NULL ||
        strstr(said, "invalid integer value") != NULL)
        return lc_pg_fail_url(err);
    if (strstr(said, "role \"") != NULL && strstr(said, "does not exist") != NULL)
        return lc_fail(err, LOCI_EFORBIDDEN,
                       "the PostgreSQL server does not know the user of the store's URL");
    if (strstr(said, "database \"") != NULL && strstr(said, "does not exist") != NULL) {
        found = find_meaning("3D000");
        return lc_fail(err, found->status, "%s", found->message);
    }
    return lc_fail(err, LOCI_EUNAVAILABLE,
                   "the PostgreSQL server cannot be reached; is it running, and are host and port "
                   "of the store's URL right?");
}

/* ---- Connections ----------------------------------------------------------------------------- */

/* LOCI_EUNSUPPORTED if the library is not installed. */
static loci_status load_library(lc_pq *out, loci_error *err)
{
#define LC_PQ_NAME(name) "PQ" #name,
    static const char *const names[] = {LC_PQ_FUNCTIONS(LC_PQ_NAME) NULL};
#undef LC_PQ_NAME
    static const lc_library library = {"libpq.so.5", "a PostgreSQL store", "libpq5", "libpq 14",
                                       names};

    return lc_library_load(&library, out, err);
}

#define CONNECT_US 10000000
#define SET_UP_US 5000000
#define COMMIT_US_MAX 20000 /* Queries are round trips, and a commit is expensive. */
#define LABEL_BYTES 256
#define LOOKS_MAX 4
#define SERVER_VERSION_MIN 120000
#define CHECK_INTERVAL_VERSION_MIN 140000

/* Milliseconds, as the server takes them. */
#define STATEMENT_MS "30000"
#define LOCK_MS "1000"
#define IDLE_MS "5000"
#define CLIENT_CHECK_MS "1000"

static const lc_sql set_sql = {"select set_config($1, $2, false)", "tt", "t"};

/* Few partitions: one plan for all arguments. By its estimate the server would plan again for each
 * call of a statement about a divided table, and go on so after the table was joined again:
 * planning takes several times as long as such a statement.
 *
 * Many partitions: a plan for each call, about one partition. One for all arguments is about all of
 * them. To make it locks all partitions with their indexes and takes as much longer, for every
 * statement of every connection, and a read that exceeds LC_READ_TX_MS_MAX in it loses the
 * connection with the plans that it has made. */
#define PARTITIONS_OF_ONE_PLAN "16"
static const lc_sql plan_sql = {
    "select set_config('plan_cache_mode', case when (select count(*) from pg_catalog.pg_inherits"
    " where inhparent = to_regclass('events')) > " PARTITIONS_OF_ONE_PLAN
    " then 'force_custom_plan' else 'force_generic_plan' end, false)",
    "", "t"};

/* A query of the catalogue sees the snapshot of its transaction, as the rows of the table do.
 * to_regclass() sees what is committed now: a table that another process has just made would seem
 * to exist without its rows. */
static const lc_sql has_table_sql = {
    "select 1 from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace"
    " where n.nspname = current_schema() and c.relname = $1 and c.relkind in ('r', 'p')",
    "t", "i"};
static const lc_sql now_sql = {
    "select cast(extract(epoch from clock_timestamp()) * 1000000 as bigint)", "", "i"};
static const lc_sql size_sql = {
    "select cast(coalesce(sum(pg_total_relation_size(c.oid)), 0) as bigint)"
    " from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace"
    " where n.nspname = current_schema() and c.relkind = 'r'",
    "", "i"};

/* ---- Waiting -------------------------------------------------------------------------------- */

static int left_ms(int64_t deadline_us)
{
    int64_t left_us = deadline_us - lc_clock_monotonic_us();

    if (left_us <= 0)
        return 0;
    return left_us > 1000000000 ? 1000000 : (int)((left_us + 999) / 1000);
}

static loci_status give_up(lc_pg *db, loci_status status, const char *why)
{
    loci_error cause;

    (void)lc_fail(&cause, status, "%s", why);
    return lc_pg_note(db, LC_PG_LOST, &cause);
}

/* Waits until an answer can be read or, if `sends`, only until everything is sent. */
static loci_status wait(lc_pg *db, bool sends, loci_error *err)
{
    struct pollfd fds[2] = {{.fd = db->conn == NULL ? -1 : db->pq.socket(db->conn)},
                            {.fd = db->wake_fd, .events = POLLIN}};
    eventfd_t ignored;

    while (db->conn != NULL) {
        int unsent = db->pq.flush(db->conn);
        int count;

        if (unsent < 0) {
            (void)lc_pg_note_result(db, NULL);
            break;
        }
        if (sends ? unsent == 0 : db->pq.isBusy(db->conn) == 0)
            return LOCI_OK;
        fds[0].events = (short)(POLLIN | (unsent > 0 ? POLLOUT : 0));
        count = poll(fds, 2, left_ms(db->deadline_us));
        if (count < 0 && errno == EINTR)
            continue;
        if (count == 0) {
            (void)give_up(db, LOCI_EDEADLINE,
                          "the PostgreSQL server did not answer before the deadline");
        } else if ((fds[1].revents & POLLIN) != 0) {
            (void)eventfd_read(db->wake_fd, &ignored);
            (void)give_up(db, LOCI_ECANCELLED, "interrupted");
        } else if ((fds[0].revents & (POLLIN | POLLERR | POLLHUP)) != 0 &&
                   db->pq.consumeInput(db->conn) == 0) {
            (void)lc_pg_note_result(db, NULL);
        }
    }
    return lc_pg_tell_failure(db, err);
}

loci_status lc_pg_wait(lc_pg *db, loci_error *err)
{
    return wait(db, false, err);
}

loci_status lc_pg_flush(lc_pg *db, loci_error *err)
{
    return wait(db, true, err);
}

/* ---- Connecting ----------------------------------------------------------------------------- */

void lc_pg_drop_connection(lc_pg *db)
{
    if (db->conn != NULL)
        db->pq.finish(db->conn);
    db->conn = NULL;
    lc_pg_forget_answers(db);
}

/* Notices of the server, such as that a table to drop did not exist, are ignored. */
static void hear_notice(void *ctx, const PGresult *result)
{
    (void)ctx;
    (void)result;
}

static loci_status poll_connection(lc_pg *db, int64_t deadline_us, loci_error *err)
{
    PostgresPollingStatusType state = PGRES_POLLING_WRITING;

    while (state != PGRES_POLLING_OK) {
        struct pollfd fd = {.fd = db->pq.socket(db->conn)};
        int count;

        fd.events = state == PGRES_POLLING_READING ? POLLIN : POLLOUT;
        count = poll(&fd, 1, left_ms(deadline_us));
        if (count < 0 && errno == EINTR)
            continue;
        if (count == 0)
            return lc_fail(err, LOCI_EUNAVAILABLE,
                           "the PostgreSQL server did not answer in time; is it overloaded?");
        state = db->pq.connectPoll(db->conn);
        if (state == PGRES_POLLING_FAILED)
            return lc_pg_fail_connect(db, err);
    }
    return LOCI_OK;
}

static loci_status check_server(lc_pg *db, loci_error *err)
{
    const char *encoding = db->pq.parameterStatus(db->conn, "server_encoding");

    if (db->pq.serverVersion(db->conn) < SERVER_VERSION_MIN)
        return lc_fail(err, LOCI_EUNSUPPORTED, "the PostgreSQL server is older than version %d",
                       SERVER_VERSION_MIN / 10000);
    if (encoding == NULL || strcmp(encoding, "UTF8") != 0)
        return lc_fail(err, LOCI_EUNSUPPORTED,
                       "the database's encoding is not UTF8; make one with `createdb -E UTF8`");
    return LOCI_OK;
}

static loci_status set_up_session(lc_pg *db, loci_error *err)
{
    static const char *const settings[][2] = {
        {"statement_timeout", STATEMENT_MS},
        {"lock_timeout", LOCK_MS},
        {"idle_in_transaction_session_timeout", IDLE_MS},
        /* Plans are kept: one that was made while a table was small would scan all of it for ever.
         * Where a scan is the only way, its estimated cost is then so high that the server would
         * use its JIT. */
        {"enable_seqscan", "off"},
        {"jit", "off"},
        {"client_connection_check_interval", CLIENT_CHECK_MS},
    };
    size_t count = sizeof settings / sizeof settings[0];
    loci_status status = LOCI_OK;
    PGresult *result = NULL;
    size_t sent = 0;

    if (db->pq.serverVersion(db->conn) < CHECK_INTERVAL_VERSION_MIN)
        count--;
    for (; status == LOCI_OK && sent < count; sent++)
        status = lc_pg_send(
            db, &set_sql, false,
            (lc_arg[]){LC_T(loci_str_of(settings[sent][0])), LC_T(loci_str_of(settings[sent][1]))},
            LC_PG_ROWS, err);
    if (status == LOCI_OK)
        status = lc_pg_send(db, &plan_sql, false, NULL, LC_PG_ROWS, err);
    sent += status == LOCI_OK;
    if (status == LOCI_OK)
        status = lc_pg_send_sync(db, err);
    if (status == LOCI_OK)
        status = lc_pg_send_nothing(db, err);
    if (status == LOCI_OK)
        status = lc_pg_send_sync(db, err);
    for (size_t i = 0; status == LOCI_OK && i < sent; i++) {
        status = lc_pg_take(db, &result, err);
        db->pq.clear(result);
        result = NULL;
    }
    return status == LOCI_OK ? lc_pg_drain(db, err) : status;
}

static loci_status start_connection(lc_pg *db, loci_error *err)
{
    const char *const names[] = {"dbname", "fallback_application_name", "client_encoding", NULL};
    const char *const values[] = {db->url, "loci", "UTF8", NULL};

    db->conn = db->pq.connectStartParams(names, values, 1);
    if (db->conn == NULL)
        return lc_fail_memory(err);
    if (db->pq.status(db->conn) == CONNECTION_BAD)
        return lc_pg_fail_connect(db, err);
    (void)db->pq.setNoticeReceiver(db->conn, hear_notice, NULL);
    return LOCI_OK;
}

loci_status lc_pg_connect(lc_pg *db, int64_t deadline_us, loci_error *err)
{
    loci_status status;

    lc_pg_drop_connection(db);
    db->has_failed = false;
    db->deadline_us = deadline_us;
    status = start_connection(db, err);
    if (status == LOCI_OK)
        status = poll_connection(db, deadline_us, err);
    if (status == LOCI_OK)
        status = check_server(db, err);
    if (status == LOCI_OK &&
        (db->pq.setnonblocking(db->conn, 1) != 0 || db->pq.enterPipelineMode(db->conn) == 0))
        status = lc_fail(err, LOCI_EINTERNAL, "libpq refuses its pipeline mode");
    if (status == LOCI_OK)
        status = set_up_session(db, err);
    if (status != LOCI_OK)
        lc_pg_drop_connection(db);
    return status;
}

/* ---- Opening -------------------------------------------------------------------------------- */

static loci_status check_url(const lc_pq *pq, const char *url, loci_error *err)
{
    /* NULL: libpq's error message would repeat the URL. */
    PQconninfoOption *options = pq->conninfoParse(url, NULL);

    if (options == NULL)
        return lc_pg_fail_url(err);
    pq->conninfoFree(options);
    return LOCI_OK;
}

static char *copy_text(lc_heap *heap, const char *text)
{
    size_t bytes = strlen(text) + 1;
    char *copy = lc_heap_alloc(heap, bytes, LOCI_MEM_ENGINE);

    return copy == NULL ? NULL : memcpy(copy, text, bytes);
}

static void close_connection(lc_db *base)
{
    lc_pg *db = (lc_pg *)base;
    lc_heap *heap = &base->env->heap;

    lc_pg_say_goodbye(db);
    if (db->pq.clear != NULL) /* False if the library was not loaded. */
        lc_pg_drop_reading(db);
    lc_pg_drop_connection(db);
    lc_pg_drop_statements(db);
    lc_map_clear(&db->statements);
    lc_buf_clear(&db->text);
    lc_pg_free_group_room(db);
    lc_arena_clear(&db->db.scratch);
    lc_arena_clear(&db->db.tx_memory);
    if (db->wake_fd >= 0)
        (void)close(db->wake_fd); /* Nothing is written to it. */
    if (db->url != NULL) {
        size_t bytes = strlen(db->url) + 1;

        explicit_bzero(db->url, bytes); /* It may hold a password. */
        lc_heap_free(heap, db->url, bytes, LOCI_MEM_ENGINE);
    }
    lc_heap_free(heap, db, sizeof *db, LOCI_MEM_ENGINE);
}

static loci_status new_connection(lc_env *env, const lc_catalogue *catalogue, const char *url,
                                  lc_pg **out, loci_error *err)
{
    lc_pg *db = lc_heap_zalloc(&env->heap, sizeof *db, LOCI_MEM_ENGINE);
    loci_status status;

    if (db == NULL)
        return lc_fail_memory(err);
    db->db = (lc_db){.driver = &lc_postgres_driver,
                     .env = env,
                     .catalogue = catalogue,
                     .commit_us_max = COMMIT_US_MAX};
    lc_arena_init(&db->db.scratch, &env->heap, LOCI_MEM_ENGINE);
    lc_arena_init(&db->db.tx_memory, &env->heap, LOCI_MEM_ENGINE);
    lc_map_init(&db->statements, &env->heap, LOCI_MEM_ENGINE);
    lc_buf_init(&db->text, &env->heap, LOCI_MEM_ENGINE, LC_ARGS_BYTES_MAX);
    *out = db;
    db->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (db->wake_fd < 0)
        return lc_fail(err, LOCI_ERESOURCE, "no file descriptor is left");
    status = load_library(&db->pq, err);
    if (status == LOCI_OK)
        status = check_url(&db->pq, url, err);
    if (status != LOCI_OK)
        return status;
    db->url = copy_text(&env->heap, url);
    return db->url == NULL ? lc_fail_memory(err) : LOCI_OK;
}

static loci_status has_table(lc_tx *tx, const char *name, bool *out, loci_error *err)
{
    lc_rows rows = {0};
    loci_status status = lc_tx_find(tx, &has_table_sql, (lc_arg[]){LC_T(loci_str_of(name))}, &rows,
                                    out, err);

    lc_rows_end(&rows);
    return status;
}

static loci_status look_for_store(lc_tx *tx, void *ctx, loci_error *err)
{
    bool found = false;
    char label[LABEL_BYTES];
    loci_status status = has_table(tx, "meta", &found, err);

    lc_url_write_label(ctx, label, sizeof label);
    if (status == LOCI_OK && !found)
        status = lc_fail(err, LOCI_ENOTFOUND, "there is no store in %s; `loci init` makes one",
                         label);
    return status;
}

/* Other roles than the owner see no rows (row-level security), which must not look like an empty
 * store. A role that cannot write reads only. */
static const lc_sql role_sql = {
    "select case when row_security_active('heads') then 1 else 0 end,"
    " case when has_table_privilege('events', 'insert')"
    " and current_setting('default_transaction_read_only') = 'off' then 0 else 1 end",
    "", "ii"};

static loci_status check_role(lc_tx *tx, void *ctx, loci_error *err)
{
    int64_t is[2] = {0}; /* Under row-level security; read-only. */
    lc_pg *db = ctx;
    bool found = false;
    loci_status status = has_table(tx, "heads", &found, err);

    if (status != LOCI_OK || !found)
        return status;
    status = lc_tx_find_numbers(tx, &role_sql, NULL, is, err);
    if (status == LOCI_OK && is[0] != 0)
        status = lc_fail(err, LOCI_EFORBIDDEN,
                         "row-level security hides the rows of the store from the role of its URL: "
                         "use the owner of the tables, or give the role BYPASSRLS");
    db->db.is_read_only = is[1] != 0;
    return status;
}

static loci_status open_connection(lc_env *env, const lc_catalogue *catalogue,
                                   const lc_db_target *target, lc_db **out, loci_error *err)
{
    int64_t deadline_us = lc_clock_monotonic_us() + CONNECT_US;
    lc_pg *db = NULL;
    loci_status status;

    if (target->deadline_us != 0 && target->deadline_us < deadline_us)
        deadline_us = target->deadline_us;
    status = new_connection(env, catalogue, target->store, &db, err);
    if (status == LOCI_OK)
        status = lc_pg_connect(db, deadline_us, err);
    if (status == LOCI_OK && !target->is_created)
        status = lc_pg_read(&db->db, lc_clock_monotonic_us() + SET_UP_US, look_for_store, db->url,
                            err);
    if (status == LOCI_OK)
        status = lc_pg_read(&db->db, lc_clock_monotonic_us() + SET_UP_US, check_role, db, err);
    if (status == LOCI_OK)
        *out = &db->db;
    else if (db != NULL)
        close_connection(&db->db);
    return status;
}

static loci_status open_scratch(lc_env *env, const lc_catalogue *catalogue, lc_db **out,
                                loci_error *err)
{
    /* The rows are the same on every database, and this one needs no server. */
    return lc_sqlite_driver.upkeep->open_scratch(env, catalogue, out, err);
}

/* ---- Small things --------------------------------------------------------------------------- */

static loci_status set_durability(lc_db *base, bool is_relaxed, loci_error *err)
{
    lc_pg *db = (lc_pg *)base;
    PGresult *result = NULL;
    loci_status status;

    db->deadline_us = lc_clock_monotonic_us() + SET_UP_US;
    status = lc_pg_ask(db, &set_sql,
                       (lc_arg[]){LC_T(LC_STR("synchronous_commit")),
                                  LC_T(is_relaxed ? LC_STR("off") : LC_STR("on"))},
                       &result, err);
    db->pq.clear(result);
    if (status == LOCI_OK)
        status = lc_pg_send_sync(db, err);
    return status == LOCI_OK ? lc_pg_drain(db, err) : status;
}

/* The socket shows that a server has closed the connection: checking it here is cheaper than a
 * transaction that fails. */
static bool is_broken(const lc_db *base)
{
    const lc_pg *db = (const lc_pg *)base;
    struct pollfd fd = {.fd = db->conn == NULL ? -1 : db->pq.socket(db->conn), .events = POLLIN};

    /* Its last message comes before the end of file; answers of the previous transaction may,
     * too. */
    for (int i = 0; i < LOOKS_MAX && db->conn != NULL && poll(&fd, 1, 0) > 0; i++) {
        if (db->pq.consumeInput(db->conn) == 0 || db->pq.status(db->conn) != CONNECTION_OK)
            return true;
    }
    return db->conn == NULL;
}

static loci_status database_now_us(lc_tx *tx, int64_t *out, loci_error *err)
{
    lc_rows rows = {0};
    bool found;
    loci_status status = lc_tx_find(tx, &now_sql, NULL, &rows, &found, err);

    if (status == LOCI_OK)
        *out = lc_rows_i64(&rows, 0);
    lc_rows_end(&rows);
    return status;
}

static void interrupt(lc_db *base)
{
    lc_pg *db = (lc_pg *)base;

    if (db->is_executing)
        (void)eventfd_write(db->wake_fd, 1); /* Full means that it is readable already. */
}

/* The server checks pages and indexes itself (data checksums, amcheck). */
static loci_status check(lc_db *base, lc_problems *problems, loci_error *err)
{
    (void)base;
    (void)problems;
    (void)err;
    return LOCI_OK;
}

static loci_status find_size(lc_db *base, int64_t *out_bytes, int64_t *out_wal_bytes,
                             loci_error *err)
{
    lc_pg *db = (lc_pg *)base;
    PGresult *result = NULL;
    loci_status status = lc_pg_ask(db, &size_sql, NULL, &result, err);

    if (status == LOCI_OK)
        *out_bytes = lc_pg_value_i64(db, result, 0, 0);
    *out_wal_bytes = 0; /* The server's, shared by all its databases. */
    db->pq.clear(result);
    return status;
}

static const lc_db_upkeep upkeep = {
    .open_scratch = open_scratch,
    .run_script = lc_pg_run_script,
    .has_table = has_table,
    .set_up_store = lc_pg_set_up_store,
    .add_growth = lc_pg_add_growth,
    .analyze_shadows = lc_pg_analyze_shadows,
    .extend_write = lc_pg_extend_write,
    .lock_log = lc_pg_lock_log,
    .lock_user = lc_pg_lock_user,
    .lock_readers = lc_pg_lock_readers,
    .check = check,
    .size = find_size,
    .scrub = lc_pg_scrub,
};

const lc_db_driver lc_postgres_driver = {
    .name = "postgresql",
    .dialect = LC_DIALECT_POSTGRES,
    .is_remote = true,
    .gather_us_max = 500,
    .slice_events = 1000, /* Each change of a row leaves a dead version of it until the commit. */
    .upkeep = &upkeep,
    .grown = &lc_pg_grown_sql,
    .open = open_connection,
    .close = close_connection,
    .set_durability = set_durability,
    .exec = lc_pg_exec,
    .query = lc_pg_query,
    .next = lc_pg_next,
    .end = lc_pg_end,
    .put_rows = lc_pg_put_rows,
    .read = lc_pg_read,
    .write = lc_pg_write,
    .maintain = lc_pg_maintain,
    .is_broken = is_broken,
    .now_us = database_now_us,
    .change_mark = lc_pg_change_mark,
    .commit_numbers = lc_pg_commit_numbers,
    .interrupt = interrupt,
};
