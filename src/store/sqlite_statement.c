/* sqlite_statement.c - prepared statements: one per (lc_sql, shadow), kept as long as the
 * connection.
 *
 * Texts are bound without copying: an exec is over before it returns, and the caller of a query
 * keeps its arguments until lc_rows_end(). A statement that is already being read (a query inside a
 * query of the same kind) gets a twin for one use.
 */
#include "store/sqlite.h"

#include <string.h>

#include "base/assert.h"
#include "base/error.h"

static lc_sqlite *of(lc_tx *tx)
{
    return (lc_sqlite *)tx->db;
}

static void drop(lc_sqlite *db, lc_sqlite_statement *statement)
{
    (void)sqlite3_finalize(statement->handle); /* Repeats an error that was reported. */
    lc_heap_free(&db->db.env->heap, statement, sizeof *statement, LOCI_MEM_ENGINE);
}

void lc_sqlite_drop_statements(lc_sqlite *db)
{
    size_t place = 0;
    lc_sqlite_statement *statement;

    while ((statement = lc_map_each(&db->statements, &place)) != NULL)
        drop(db, statement);
    lc_map_clear(&db->statements);
    for (size_t i = 0; i < LC_SQLITE_CONTROLS; i++) {
        (void)sqlite3_finalize(db->controls[i]); /* Repeats an error that was reported. */
        db->controls[i] = NULL;
    }
}

int lc_sqlite_run_control(lc_sqlite *db, lc_sqlite_control control)
{
    static const char *const texts[LC_SQLITE_CONTROLS] = {"begin", "begin immediate", "commit",
                                                          "rollback"};
    sqlite3_stmt **statement = &db->controls[control];
    int code = SQLITE_OK;

    if (*statement == NULL)
        code = sqlite3_prepare_v3(db->handle, texts[control], -1, SQLITE_PREPARE_PERSISTENT,
                                  statement, NULL);
    if (code != SQLITE_OK)
        return code;
    code = sqlite3_step(*statement);
    (void)sqlite3_reset(*statement); /* Repeats the error of step. */
    return code == SQLITE_DONE ? SQLITE_OK : code;
}

static loci_status prepare(lc_sqlite *db, lc_sqlite_statement *statement, loci_error *err)
{
    const lc_sql *sql = statement->key.sql;
    loci_status status;
    int code;

    statement->params = lc_sql_params(sql, statement->row_params);
    if (sql->columns != NULL)
        statement->columns = lc_sql_columns(sql, statement->row_columns);
    lc_buf_reset(&db->scratch);
    lc_sql_rewrite(&db->scratch, sql, db->db.catalogue, LC_DIALECT_SQLITE,
                   statement->key.is_shadow != 0);
    status = lc_buf_status(&db->scratch, err);
    if (status != LOCI_OK)
        return status;
    code = sqlite3_prepare_v3(db->handle, db->scratch.ptr, (int)db->scratch.len,
                              SQLITE_PREPARE_PERSISTENT, &statement->handle, NULL);
    if (code != SQLITE_OK)
        return lc_sqlite_fail(db, code, err);
    LC_ASSERT(sqlite3_bind_parameter_count(statement->handle) == (int)strlen(statement->params));
    LC_ASSERT(sqlite3_column_count(statement->handle) ==
              (sql->columns == NULL ? 0 : (int)strlen(statement->columns)));
    return LOCI_OK;
}

/* A statement ready to be bound; release() gives it back. */
static loci_status acquire(lc_tx *tx, const lc_sql *sql, lc_sqlite_statement **out, loci_error *err)
{
    lc_sqlite *db = of(tx);
    lc_statement_key key = {.sql = sql, .is_shadow = tx->is_shadow};
    lc_sqlite_statement *found = lc_map_find(&db->statements, lc_statement_key_str(&key));
    lc_sqlite_statement *made;
    loci_status status;

    if (found != NULL && !found->is_in_use) {
        found->is_in_use = true;
        *out = found;
        return LOCI_OK;
    }
    made = lc_heap_alloc(&db->db.env->heap, sizeof *made, LOCI_MEM_ENGINE);
    if (made == NULL)
        return lc_fail_memory(err);
    *made = (lc_sqlite_statement){.key = key};
    status = prepare(db, made, err);
    if (status != LOCI_OK) {
        drop(db, made);
        return status;
    }
    made->is_in_use = true;
    /* If the map is out of memory, the statement is still usable once. */
    made->is_cached = found == NULL &&
                      lc_map_put(&db->statements, lc_statement_key_str(&made->key), made);
    *out = made;
    return LOCI_OK;
}

static void release(lc_sqlite *db, lc_sqlite_statement *statement)
{
    (void)sqlite3_reset(statement->handle); /* Repeats an error that was reported. */
    statement->is_in_use = false;
    if (!statement->is_cached)
        drop(db, statement);
}

static int bind_one(sqlite3_stmt *statement, int place, const lc_arg *arg)
{
    const char *ptr = arg->as.str.ptr != NULL ? arg->as.str.ptr : "";

    switch (arg->kind) {
    case 0:
        return sqlite3_bind_null(statement, place);
    case 'i':
        return sqlite3_bind_int64(statement, place, arg->as.i64);
    case 'f':
        return sqlite3_bind_double(statement, place, arg->as.f64 + 0.0); /* -0 becomes 0. */
    case 't':
        return sqlite3_bind_text64(statement, place, ptr, arg->as.str.len, SQLITE_STATIC,
                                   SQLITE_UTF8);
    case 'b':
        return sqlite3_bind_blob64(statement, place, ptr, arg->as.str.len, SQLITE_STATIC);
    default:
        LC_UNREACHABLE();
    }
}

static loci_status bind(lc_sqlite *db, lc_sqlite_statement *statement, const lc_arg *args,
                        loci_error *err)
{
    for (int i = 0; statement->params[i] != '\0'; i++) {
        int code = bind_one(statement->handle, i + 1, &args[i]);

        if (code != SQLITE_OK)
            return lc_sqlite_fail(db, code, err);
    }
    return LOCI_OK;
}

loci_status lc_sqlite_exec(lc_tx *tx, const lc_sql *sql, const lc_arg *args, lc_expect expect,
                           loci_error *err)
{
    lc_sqlite *db = of(tx);
    lc_sqlite_statement *statement = NULL;
    loci_status status = acquire(tx, sql, &statement, err);
    int code;

    if (status != LOCI_OK)
        return status;
    status = bind(db, statement, args, err);
    if (status == LOCI_OK) {
        tx->wrote = true; /* Even when it fails: some of it may have been done. */
        code = sqlite3_step(statement->handle);
        if (code != SQLITE_DONE && code != SQLITE_ROW)
            status = lc_sqlite_fail(db, code, err);
        else if (expect == LC_CHANGES_ONE && sqlite3_changes64(db->handle) != 1)
            status = lc_fail(err, LOCI_ECONFLICT, "the state changed meanwhile");
    }
    release(db, statement);
    return status;
}

loci_status lc_sqlite_query(lc_tx *tx, const lc_sql *sql, const lc_arg *args, lc_rows *out,
                            loci_error *err)
{
    lc_sqlite_statement *statement = NULL;
    loci_status status = acquire(tx, sql, &statement, err);

    if (status != LOCI_OK)
        return status;
    status = bind(of(tx), statement, args, err);
    if (status != LOCI_OK) {
        release(of(tx), statement);
        return status;
    }
    if (sqlite3_stmt_readonly(statement->handle) == 0) { /* `update … returning` */
        LC_ASSERT(tx->is_write);
        tx->wrote = true;
    }
    out->statement = statement;
    out->kinds = statement->columns;
    return LOCI_OK;
}

static lc_cell read_cell(sqlite3_stmt *statement, int column, char kind)
{
    lc_cell cell = {.kind = kind};
    const char *ptr;

    if (kind == 't' || kind == 'b') {
        ptr = sqlite3_column_blob(statement, column);
        /* An empty text or blob has no address in SQLite, but it is not NULL. */
        if (ptr == NULL && sqlite3_column_type(statement, column) != SQLITE_NULL)
            cell.as.str = (loci_str){"", 0};
        else if (ptr != NULL)
            cell.as.str = (loci_str){ptr, (size_t)sqlite3_column_bytes(statement, column)};
        else
            cell.kind = 0;
    } else if (sqlite3_column_type(statement, column) == SQLITE_NULL) {
        cell.kind = 0;
    } else if (kind == 'i') {
        cell.as.i64 = sqlite3_column_int64(statement, column);
    } else {
        cell.as.f64 = sqlite3_column_double(statement, column);
    }
    return cell;
}

bool lc_sqlite_next(lc_rows *rows, loci_status *out_status, loci_error *err)
{
    lc_sqlite_statement *statement = rows->statement;
    int code = sqlite3_step(statement->handle);

    if (code == SQLITE_ROW) {
        for (int i = 0; i < rows->column_count; i++)
            rows->cells[i] = read_cell(statement->handle, i, rows->kinds[i]);
        return true;
    }
    if (code != SQLITE_DONE)
        *out_status = lc_sqlite_fail(of(rows->tx), code, err);
    lc_sqlite_end(rows);
    return false;
}

void lc_sqlite_end(lc_rows *rows)
{
    if (rows->statement != NULL)
        release(of(rows->tx), rows->statement);
    rows->statement = NULL;
}

loci_status lc_sqlite_run_script(lc_tx *tx, const char *text, loci_error *err)
{
    tx->wrote = true;
    return lc_sqlite_run(of(tx), text, err);
}
