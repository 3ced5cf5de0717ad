/* postgres.c - starts the server's script, which runs as long as its input is open, so it ends with
 * this process even if that is killed. */
#include "lib/postgres.h"

#include "lib/test.h"

#include <fcntl.h>
#include <libpq-fe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/hash.h"

#define CONTENT_BYTES_MAX (64u << 20)

static struct {
    FILE *to;
    FILE *from;
    char dir[256];
} server;

/* The SQLite functions that tests use, under the same names. */
static const char compat_sql[] =
    "create schema compat;"
    "create view compat.sqlite_schema as"
    " select 'table' as type, cast(tablename as text) as name, cast(tablename as text) as tbl_name,"
    " 'x' as sql from pg_tables where schemaname = current_schema() union all"
    " select 'index', cast(indexname as text), cast(tablename as text), 'x' from pg_indexes"
    " where schemaname = current_schema() and indexname not like '%pkey%';"
    "create function compat.zeroblob(n int) returns bytea language sql as"
    " $$ select decode(repeat('00', n), 'hex') $$";

bool test_is_postgres(void)
{
    const char *store = getenv("LOCI_TEST_STORE");

    return store != NULL && strcmp(store, "postgresql") == 0;
}

static void read_line(char *out, int bytes)
{
    if (fgets(out, bytes, server.from) == NULL)
        test_fail(__FILE__, __LINE__, "the PostgreSQL server of the tests went away");
    out[strcspn(out, "\n")] = '\0';
}

static void start_server(void)
{
    const char *script = test_source_path("tests/lib/postgres.sh");
    int to[2], from[2];

    if (pipe(to) != 0 || pipe(from) != 0)
        test_fail(__FILE__, __LINE__, "no pipe for the PostgreSQL server");
    fflush(stdout);
    if (fork() == 0) {
        dup2(to[0], STDIN_FILENO);
        dup2(from[1], STDOUT_FILENO);
        for (int fd = 3; fd < 256; fd++)
            close(fd);
        execl("/bin/bash", "bash", script, (char *)NULL);
        _exit(127);
    }
    close(to[0]);
    close(from[1]);
    /* Children that the tests fork or start must not keep it alive. */
    server.to = fdopen(fcntl(to[1], F_DUPFD_CLOEXEC, 100), "w");
    server.from = fdopen(fcntl(from[0], F_DUPFD_CLOEXEC, 100), "r");
    close(to[1]);
    close(from[0]);
    read_line(server.dir, sizeof server.dir);
    test_postgres_run(test_format("postgresql://loci@/loci?host=%s", server.dir), compat_sql);
}

const char *test_postgres_dir(void)
{
    if (server.to == NULL)
        start_server();
    return server.dir;
}

void test_postgres_command(const char *command)
{
    char line[64];

    (void)test_postgres_dir();
    fprintf(server.to, "%s\n", command);
    fflush(server.to);
    read_line(line, sizeof line);
}

/* ---- Statements ------------------------------------------------------------------------------ */

static PGconn *connect_to(const char *url)
{
    PGconn *conn = PQconnectdb(url);

    if (PQstatus(conn) != CONNECTION_OK)
        test_fail(__FILE__, __LINE__, "%s: %s", url, PQerrorMessage(conn));
    return conn;
}

static void ignore_notice(void *ctx, const PGresult *result)
{
    (void)ctx;
    (void)result;
}

static PGresult *run(PGconn *conn, const char *sql)
{
    PGresult *result;

    PQsetNoticeReceiver(conn, ignore_notice, NULL);
    result = PQexec(conn, sql);
    if (PQresultStatus(result) != PGRES_COMMAND_OK && PQresultStatus(result) != PGRES_TUPLES_OK)
        test_fail(__FILE__, __LINE__, "%s: %s", sql, PQerrorMessage(conn));
    return result;
}

const char *test_sql(const char *sql)
{
    char *out = test_bytes(strlen(sql) * 4);
    char *to = out;

    if (!test_is_postgres())
        return sql;
    for (const char *at = sql; *at != '\0'; at++) {
        if (at[0] == 'x' && at[1] == '\'' && (at == sql || strchr(" (,", at[-1]) != NULL)) {
            size_t digits = strcspn(at + 2, "'");

            to = stpcpy(to, test_format("cast('\\x%.*s' as bytea)", (int)digits, at + 2));
            at += digits + 2;
        } else {
            *to++ = *at;
        }
    }
    return out;
}

static Oid type_of(char kind)
{
    return kind == 'i' ? 20 : kind == 'f' ? 701 : kind == 't' ? 25 : 17;
}

void test_postgres_prepare(const char *url, const char *text, const char *params,
                           const char *columns)
{
    PGconn *conn = connect_to(url);
    int count = (int)strlen(params);
    Oid types[64] = {0};
    PGresult *result;

    for (int i = 0; i < count; i++)
        types[i] = type_of(params[i]);
    result = PQprepare(conn, "s", text, count, types);
    if (PQresultStatus(result) != PGRES_COMMAND_OK)
        test_fail(__FILE__, __LINE__, "%s\n    %s", PQerrorMessage(conn), text);
    PQclear(result);
    result = PQdescribePrepared(conn, "s");
    CHECK_EQ(PQnparams(result), count);
    CHECK_EQ(PQnfields(result), columns == NULL ? 0 : strlen(columns));
    for (int i = 0; i < PQnfields(result); i++) {
        if (PQftype(result, i) != type_of(columns[i]) &&
            !(columns[i] == 'i' && PQftype(result, i) == 23))
            test_fail(__FILE__, __LINE__, "column %d is of type %u, not %c: %s", i,
                      PQftype(result, i), columns[i], text);
    }
    PQclear(result);
    PQfinish(conn);
}

const char *test_postgres_plan(const char *url, const char *text, const char *params)
{
    PGconn *conn = connect_to(url);
    int count = (int)strlen(params);
    const char *values = "";
    const char *plan = "";
    Oid types[64] = {0};
    PGresult *result;

    for (int i = 0; i < count; i++) {
        types[i] = type_of(params[i]);
        values = test_format("%s%snull", values, i > 0 ? ", " : "");
    }
    PQclear(run(conn, "set enable_seqscan = off"));
    PQclear(run(conn, "set plan_cache_mode = force_generic_plan"));
    PQclear(PQprepare(conn, "s", text, count, types));
    result = run(conn,
                 test_format(count > 0 ? "explain execute s (%s)" : "explain execute s%s", values));
    for (int i = 0; i < PQntuples(result); i++)
        plan = test_format("%s%s\n", plan, PQgetvalue(result, i, 0));
    PQclear(result);
    PQfinish(conn);
    return plan;
}

int64_t test_postgres_run(const char *url, const char *sql)
{
    PGconn *conn = connect_to(url);
    PGresult *result = run(conn, test_sql(sql));
    int64_t value = PQntuples(result) > 0 ? strtoll(PQgetvalue(result, 0, 0), NULL, 10) : -1;

    PQclear(result);
    PQfinish(conn);
    return value;
}

int64_t test_postgres_rows(const void *statement)
{
    return PQntuples(statement);
}

/* Its name in the URL that test_store() made. */
static const char *schema_of(const char *url)
{
    const char *name = strstr(url, "search_path%3D") + strlen("search_path%3D");

    return test_format("%.*s", (int)strcspn(name, ","), name);
}

int64_t test_postgres_differences(const char *a, const char *b)
{
    static const char shape[] =
        "select table_name || '.' || column_name || ' ' || data_type || ' ' || is_nullable"
        " || coalesce(collation_name, '') from information_schema.columns where table_schema = '%s'"
        " union all select replace(indexdef, '%s.', '') from pg_indexes where schemaname = '%s'";
    const char *of_a = test_format(shape, schema_of(a), schema_of(a), schema_of(a));
    const char *of_b = test_format(shape, schema_of(b), schema_of(b), schema_of(b));

    return test_postgres_run(a,
                             test_format("select count(*) from ((%s) except (%s)) d", of_a, of_b));
}

/* The tables of the store, without the counters of the driver. */
static PGresult *list_tables(PGconn *conn)
{
    return run(conn, "select tablename from pg_tables where schemaname = current_schema()"
                     " and tablename <> 'writers'");
}

static uint64_t hash_table(PGconn *conn, const char *table)
{
    PGresult *rows = run(conn, test_format("select * from \"%s\"", table));
    uint64_t sum = 0;

    for (int row = 0; row < PQntuples(rows); row++) {
        lc_hash128 hash = lc_hash128_chain((lc_hash128){0}, loci_str_of(table));

        for (int i = 0; i < PQnfields(rows); i++)
            hash = lc_hash128_chain(
                hash, (loci_str){PQgetvalue(rows, row, i), (size_t)PQgetlength(rows, row, i)});
        sum += hash.low;
    }
    PQclear(rows);
    return sum;
}

uint64_t test_postgres_hash(const char *url, const char *except)
{
    PGconn *conn = connect_to(url);
    PGresult *tables = list_tables(conn);
    uint64_t sum = 0;

    for (int i = 0; i < PQntuples(tables); i++) {
        const char *name = PQgetvalue(tables, i, 0);

        if (except == NULL || (strstr(except, name) == NULL && strstr(name, "__new") == NULL))
            sum += hash_table(conn, name);
    }
    PQclear(tables);
    PQfinish(conn);
    return sum;
}

/* In the binary format: bytes are themselves. */
static void add_content(PGconn *conn, const char *table, lc_buf *out)
{
    PGresult *rows = PQexecParams(conn, test_format("select * from \"%s\"", table), 0, NULL, NULL,
                                  NULL, NULL, 1);

    if (PQresultStatus(rows) != PGRES_TUPLES_OK)
        test_fail(__FILE__, __LINE__, "%s: %s", table, PQerrorMessage(conn));
    for (int row = 0; row < PQntuples(rows); row++) {
        for (int i = 0; i < PQnfields(rows); i++) {
            lc_buf_append(out,
                          (loci_str){PQgetvalue(rows, row, i), (size_t)PQgetlength(rows, row, i)});
            lc_buf_append_byte(out, '\n');
        }
    }
    PQclear(rows);
}

loci_str test_store_content(const char *store)
{
    lc_heap heap;
    lc_buf all;
    PGconn *conn;
    PGresult *tables;
    loci_str content;

    if (!test_is_postgres())
        return test_read_file(store);
    lc_heap_init(&heap, (loci_allocator){0});
    lc_buf_init(&all, &heap, LOCI_MEM_REQUESTS, CONTENT_BYTES_MAX);
    conn = connect_to(store);
    tables = list_tables(conn);
    for (int i = 0; i < PQntuples(tables); i++)
        add_content(conn, PQgetvalue(tables, i, 0), &all);
    PQclear(tables);
    PQfinish(conn);
    content = (loci_str){test_bytes(all.len), all.len};
    memcpy((char *)content.ptr, all.ptr, all.len);
    lc_buf_clear(&all);
    return content;
}

const char *test_store(const char *dir, const char *name)
{
    const char *path = test_path(dir, name);
    const char *base;
    lc_hash128 hash;

    if (!test_is_postgres())
        return path;
    hash = lc_hash128_of(loci_str_of(path));
    base = test_format("postgresql://loci@/loci?host=%s&options=-csearch_path%%3Dt%016llx,compat",
                       test_postgres_dir(), (unsigned long long)hash.low);
    test_postgres_run(
        base, test_format("create schema if not exists t%016llx", (unsigned long long)hash.low));
    return base;
}
