/* postgres_error.c - what the codes of a PostgreSQL server mean.
 *
 * Its own words are left out where they could hold text of users (a value in a unique violation)
 * and where ours say what to do. Those of libpq are never shown: they may repeat the URL, and with
 * it the password.
 */
#include "store/postgres.h"

#include <string.h>

#include "base/error.h"

typedef struct meaning {
    const char *code; /* SQLSTATE, or the two characters of its class. */
    loci_status status;
    lc_pg_remedy remedy;
    const char *message;
} meaning;

/* The first that fits. */
static const meaning meanings[] = {
    {"40001", LOCI_EDEADLINE, LC_PG_AGAIN, "other writers were in the way until the deadline"},
    {"40P01", LOCI_EDEADLINE, LC_PG_AGAIN, "other writers were in the way until the deadline"},
    {"55P03", LOCI_EDEADLINE, LC_PG_AGAIN, "other writers were in the way until the deadline"},
    {"40003", LOCI_EUNAVAILABLE, LC_PG_LOST, "the server lost the transaction"},
    /* Two processes are making the same tables. */
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
    {"42501", LOCI_EFORBIDDEN, LC_PG_REPORT, "the role of the store's URL lacks a privilege"},
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

/* Two processes make the same table: the second one meets the first in the server's own indexes. */
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

/* libpq gives no code for an attempt to connect, only the server's words, which it may translate.
 * They are looked at and not passed on. */
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
    /* Only looked at when it connects. */
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
