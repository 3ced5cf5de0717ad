/* postgres_statement.c - statements in a pipeline.
 *
 *     send ---> [prepare] [bind, execute] ... ---> server
 *     take <--- answers in the same order, read up to the one that is needed
 *
 * A statement is prepared when it is first sent, in the same pipeline, so that costs no round trip
 * either. Whether it worked is known when the answer is read: the server skips a statement behind a
 * failure, which is then prepared again next time.
 *
 * Values go in the binary format: an int64 and a double as eight bytes, the highest first; text and
 * bytes as they are. A whole answer is held in memory (libpq's), so that a body may run a query
 * while it reads another one; every statement that can return many rows has a limit.
 */
#include "store/postgres.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"

#define PARAMS_MAX 64

/* Object ids of types, fixed in the server's catalogue. */
enum { TYPE_BYTEA = 17, TYPE_INT8 = 20, TYPE_INT4 = 23, TYPE_TEXT = 25, TYPE_FLOAT8 = 701 };

static lc_pg *of(const lc_tx *tx)
{
    return (lc_pg *)tx->db;
}

/* ---- The cache ------------------------------------------------------------------------------ */

void lc_pg_forget_answers(lc_pg *db)
{
    size_t place = 0;
    lc_pg_statement *statement;

    while ((statement = lc_map_each(&db->statements, &place)) != NULL)
        statement->preparation = LC_PG_UNPREPARED;
    db->pending_first = db->pending_count = 0;
}

void lc_pg_drop_statements(lc_pg *db)
{
    size_t place = 0;
    lc_pg_statement *statement;

    while ((statement = lc_map_each(&db->statements, &place)) != NULL)
        lc_heap_free(&db->db.env->heap, statement, sizeof *statement, LOCI_MEM_ENGINE);
    lc_map_clear(&db->statements);
}

static loci_status find_statement(lc_pg *db, const lc_sql *sql, bool is_shadow,
                                  lc_pg_statement **out, loci_error *err)
{
    lc_statement_key key = {.sql = sql, .is_shadow = is_shadow};
    lc_pg_statement *made;

    *out = lc_map_find(&db->statements, lc_statement_key_str(&key));
    if (*out != NULL)
        return LOCI_OK;
    made = lc_heap_alloc(&db->db.env->heap, sizeof *made, LOCI_MEM_ENGINE);
    if (made == NULL)
        return lc_fail_memory(err);
    *made = (lc_pg_statement){.key = key};
    made->params = lc_sql_params(sql, made->row_params);
    if (sql->columns != NULL)
        made->columns = lc_sql_columns(sql, made->row_columns);
    made->is_select = strncmp(sql->text, "select", 6) == 0 || strncmp(sql->text, "with", 4) == 0;
    (void)snprintf(made->name, sizeof made->name, "s%u", db->statement_count++);
    if (!lc_map_put(&db->statements, lc_statement_key_str(&made->key), made)) {
        lc_heap_free(&db->db.env->heap, made, sizeof *made, LOCI_MEM_ENGINE);
        return lc_fail_memory(err);
    }
    *out = made;
    return LOCI_OK;
}

/* Out of memory for its text: nothing was sent, so the statement is removed from the cache. */
static void forget_statement(lc_pg *db, lc_pg_statement *statement)
{
    if (statement == NULL || statement->preparation != LC_PG_UNPREPARED)
        return;
    (void)lc_map_take(&db->statements, lc_statement_key_str(&statement->key));
    lc_heap_free(&db->db.env->heap, statement, sizeof *statement, LOCI_MEM_ENGINE);
}

/* ---- Looking at answers --------------------------------------------------------------------- */

static lc_pg_pending pop(lc_pg *db)
{
    lc_pg_pending first = db->pending[db->pending_first];

    db->pending_first = (db->pending_first + 1) % (LC_PG_PENDING_MAX + 8);
    db->pending_count--;
    return first;
}

static void push(lc_pg *db, lc_pg_answer_kind kind, lc_pg_statement *statement)
{
    size_t at = (db->pending_first + db->pending_count) % (LC_PG_PENDING_MAX + 8);

    LC_ASSERT(db->pending_count < LC_PG_PENDING_MAX + 8);
    db->pending[at] = (lc_pg_pending){kind, statement};
    db->pending_count++;
}

static bool is_of_kind(Oid type, char kind)
{
    switch (kind) {
    case 'i':
        return type == TYPE_INT8 || type == TYPE_INT4;
    case 'f':
        return type == TYPE_FLOAT8;
    case 't':
        return type == TYPE_TEXT;
    default:
        return type == TYPE_BYTEA;
    }
}

/* The columns of an answer must be those that the lc_sql declares: a difference is a bug in
 * loci. */
static void check_columns(lc_pg *db, lc_pg_statement *statement, const PGresult *result)
{
    const char *columns = statement->columns;

    if (statement->is_checked)
        return;
    LC_ASSERT((size_t)db->pq.nfields(result) == strlen(columns));
    for (int i = 0; columns[i] != '\0'; i++)
        LC_ASSERT(is_of_kind(db->pq.ftype(result, i), columns[i]));
    statement->is_checked = true;
}

static void note_conflict(lc_pg *db)
{
    loci_error cause;

    (void)lc_fail(&cause, LOCI_ECONFLICT, "the state changed meanwhile");
    (void)lc_pg_note(db, LC_PG_REPORT, &cause);
}

/* The server answers the commit of a failed transaction with ROLLBACK, which is not an error of the
 * commit. */
static void note_no_commit(lc_pg *db)
{
    loci_error cause;

    (void)lc_fail(&cause, LOCI_EUNAVAILABLE, "the server rolled the transaction back");
    (void)lc_pg_note(db, LC_PG_REPORT, &cause);
}

static void look_at(lc_pg *db, const lc_pg_pending *pending, const PGresult *result)
{
    lc_pg_statement *statement = pending->statement;

    switch (db->pq.resultStatus(result)) {
    case PGRES_PIPELINE_ABORTED:
        LC_ASSERT(db->has_failed); /* A statement before it has failed. */
        if (pending->kind == LC_PG_PREPARING)
            statement->preparation = LC_PG_UNPREPARED;
        return;
    case PGRES_COMMAND_OK:
    case PGRES_TUPLES_OK:
        break;
    default:
        if (pending->kind == LC_PG_PREPARING)
            statement->preparation = LC_PG_UNPREPARED;
        (void)lc_pg_note_result(db, result);
        return;
    }
    if (pending->kind == LC_PG_PREPARING)
        statement->preparation = LC_PG_PREPARED;
    else if (pending->kind == LC_PG_CHANGES_ONE &&
             strcmp(db->pq.cmdTuples((PGresult *)result), "1"))
        note_conflict(db);
    else if (pending->kind == LC_PG_COMMIT &&
             strcmp(db->pq.cmdStatus((PGresult *)result), "COMMIT"))
        note_no_commit(db);
    else if (pending->kind == LC_PG_ROWS)
        check_columns(db, statement, result);
}

/* The oldest answer: `*out` is NULL when it was lost. Every answer but a sync ends with a NULL. */
static loci_status fetch(lc_pg *db, PGresult **out, loci_error *err)
{
    lc_pg_pending pending = db->pending[db->pending_first];
    PGresult *end;
    loci_status status = lc_pg_wait(db, err);

    *out = NULL;
    if (status != LOCI_OK)
        return status;
    *out = db->pq.getResult(db->conn);
    if (*out == NULL)
        return lc_pg_note_result(db, NULL);
    if (pending.kind != LC_PG_SYNC) {
        status = lc_pg_wait(db, err);
        if (status == LOCI_OK) {
            end = db->pq.getResult(db->conn);
            LC_ASSERT(end == NULL);
        }
    }
    if (status == LOCI_OK)
        (void)pop(db);
    else
        db->pq.clear(*out);
    if (status != LOCI_OK)
        *out = NULL;
    return status;
}

/* Reads answers until one with rows was read (if `wants_rows`) or none is pending. */
static loci_status look_until(lc_pg *db, bool wants_rows, PGresult **out, loci_error *err)
{
    while (db->pending_count > 0) {
        lc_pg_pending pending = db->pending[db->pending_first];
        PGresult *result = NULL;
        loci_status status = fetch(db, &result, err);

        if (status != LOCI_OK)
            return lc_pg_tell_failure(db, err);
        if (pending.kind != LC_PG_SYNC)
            look_at(db, &pending, result);
        if (db->conn == NULL) {
            db->pq.clear(result);
            return lc_pg_tell_failure(db, err);
        }
        if (wants_rows && pending.kind == LC_PG_ROWS) {
            if (!db->has_failed) {
                *out = result;
                return LOCI_OK;
            }
            db->pq.clear(result);
            return lc_pg_tell_failure(db, err);
        }
        db->pq.clear(result);
    }
    LC_ASSERT(!wants_rows);
    return db->has_failed ? lc_pg_tell_failure(db, err) : LOCI_OK;
}

loci_status lc_pg_take(lc_pg *db, PGresult **out, loci_error *err)
{
    *out = NULL;
    if (db->conn == NULL)
        return lc_pg_tell_failure(db, err);
    if (db->pq.sendFlushRequest(db->conn) == 0)
        return lc_pg_note_result(db, NULL);
    return look_until(db, true, out, err);
}

loci_status lc_pg_send_sync(lc_pg *db, loci_error *err)
{
    if (db->conn == NULL)
        return lc_pg_tell_failure(db, err);
    if (db->pq.pipelineSync(db->conn) == 0) {
        (void)lc_pg_note_result(db, NULL);
        return lc_pg_tell_failure(db, err);
    }
    push(db, LC_PG_SYNC, NULL);
    return LOCI_OK;
}

loci_status lc_pg_drain(lc_pg *db, loci_error *err)
{
    if (db->conn == NULL)
        return lc_pg_tell_failure(db, err);
    if (db->pending_count > 0 && db->pq.sendFlushRequest(db->conn) == 0)
        (void)lc_pg_note_result(db, NULL);
    return look_until(db, false, NULL, err);
}

/* ---- Sending -------------------------------------------------------------------------------- */

static Oid type_of(char kind)
{
    switch (kind) {
    case 'i':
        return TYPE_INT8;
    case 'f':
        return TYPE_FLOAT8;
    case 't':
        return TYPE_TEXT;
    default:
        LC_ASSERT(kind == 'b');
        return TYPE_BYTEA;
    }
}

static loci_status send_prepare(lc_pg *db, lc_pg_statement *statement, loci_error *err)
{
    const lc_sql *sql = statement->key.sql;
    const char *params = statement->params;
    int count = (int)strlen(params);
    Oid types[PARAMS_MAX];

    LC_ASSERT(count <= PARAMS_MAX);
    for (int i = 0; i < count; i++)
        types[i] = type_of(params[i]);
    lc_buf_reset(&db->text);
    lc_sql_rewrite(&db->text, sql, db->db.catalogue, LC_DIALECT_POSTGRES,
                   statement->key.is_shadow != 0);
    if (lc_buf_terminate(&db->text) == NULL)
        return lc_buf_status(&db->text, err);
    if (db->pq.sendPrepare(db->conn, statement->name, db->text.ptr, count, types) == 0) {
        (void)lc_pg_note_result(db, NULL);
        return lc_pg_tell_failure(db, err);
    }
    statement->preparation = LC_PG_SENT;
    push(db, LC_PG_PREPARING, statement);
    return LOCI_OK;
}

static void put_big_endian(char *out, uint64_t bits)
{
    for (int i = 0; i < 8; i++)
        out[i] = (char)(bits >> (56 - 8 * i) & 0xFF);
}

typedef struct values {
    const char *ptrs[PARAMS_MAX];
    int lengths[PARAMS_MAX];
    int formats[PARAMS_MAX];
    char numbers[PARAMS_MAX][8];
} values;

static void put_value(values *v, int i, const lc_arg *arg)
{
    double number;
    uint64_t bits;

    v->formats[i] = 1;
    v->ptrs[i] = v->numbers[i];
    v->lengths[i] = 8;
    switch (arg->kind) {
    case 0:
        v->ptrs[i] = NULL;
        v->lengths[i] = 0;
        break;
    case 'i':
        put_big_endian(v->numbers[i], (uint64_t)arg->as.i64);
        break;
    case 'f':
        number = arg->as.f64 + 0.0; /* -0 becomes 0. */
        memcpy(&bits, &number, sizeof bits);
        put_big_endian(v->numbers[i], bits);
        break;
    default:
        v->ptrs[i] = arg->as.str.ptr != NULL ? arg->as.str.ptr : "";
        v->lengths[i] = (int)arg->as.str.len;
    }
}

loci_status lc_pg_send(lc_pg *db, const lc_sql *sql, bool is_shadow, const lc_arg *args,
                       lc_pg_answer_kind kind, loci_error *err)
{
    lc_pg_statement *statement = NULL;
    int count;
    loci_status status;
    values v;

    if (db->has_failed || db->conn == NULL)
        return lc_pg_tell_failure(db, err);
    status = find_statement(db, sql, is_shadow, &statement, err);
    if (status == LOCI_OK && db->pending_count >= LC_PG_PENDING_MAX)
        status = lc_pg_drain(db, err);
    if (status == LOCI_OK && statement->preparation == LC_PG_UNPREPARED)
        status = send_prepare(db, statement, err);
    if (status == LOCI_ERESOURCE && db->conn != NULL)
        forget_statement(db, statement);
    if (status != LOCI_OK)
        return status;
    count = (int)strlen(statement->params);
    for (int i = 0; i < count; i++)
        put_value(&v, i, &args[i]);
    if (db->pq.sendQueryPrepared(db->conn, statement->name, count, v.ptrs, v.lengths, v.formats,
                                 1) == 0) {
        (void)lc_pg_note_result(db, NULL);
        return lc_pg_tell_failure(db, err);
    }
    push(db, kind, statement);
    return LOCI_OK;
}

loci_status lc_pg_ask(lc_pg *db, const lc_sql *sql, const lc_arg *args, PGresult **out,
                      loci_error *err)
{
    loci_status status = lc_pg_send(db, sql, false, args, LC_PG_ROWS, err);

    *out = NULL;
    return status == LOCI_OK ? lc_pg_take(db, out, err) : status;
}

loci_status lc_pg_exec(lc_tx *tx, const lc_sql *sql, const lc_arg *args, lc_expect expect,
                       loci_error *err)
{
    lc_pg_answer_kind kind = expect == LC_CHANGES_ONE ? LC_PG_CHANGES_ONE : LC_PG_CHANGES_ANY;
    lc_pg_prefetch *prefetch = of(tx)->prefetch;
    loci_status status;

    if (prefetch != NULL && prefetch->is_dry_run)
        return lc_pg_end_dry_run(err);
    if (prefetch != NULL)
        prefetch->slot = NULL; /* The prefetched answers are out of date now. */
    tx->wrote = true;          /* Even when it fails: some of it may have been done. */
    of(tx)->exec_count++;
    status = lc_pg_send(of(tx), sql, tx->is_shadow, args, kind, err);
    if (expect == LC_CHANGES_ONE)
        of(tx)->has_expectation = true;
    return status;
}

loci_status lc_pg_run_script(lc_tx *tx, const char *text, loci_error *err)
{
    lc_pg *db = of(tx);
    PGresult *result;
    loci_status status;

    tx->wrote = true;
    status = lc_pg_send_sync(db, err);
    if (status == LOCI_OK)
        status = lc_pg_drain(db, err);
    if (status != LOCI_OK)
        return status;
    /* Several statements in one text: only outside the pipeline. */
    if (db->pq.exitPipelineMode(db->conn) == 0 || db->pq.sendQuery(db->conn, text) == 0)
        return lc_pg_note_result(db, NULL);
    while ((status = lc_pg_wait(db, err)) == LOCI_OK &&
           (result = db->pq.getResult(db->conn)) != NULL) {
        ExecStatusType code = db->pq.resultStatus(result);

        if (code != PGRES_COMMAND_OK && code != PGRES_TUPLES_OK && code != PGRES_EMPTY_QUERY)
            (void)lc_pg_note_result(db, result);
        db->pq.clear(result);
        if (db->conn == NULL)
            break;
    }
    if (db->conn != NULL && db->pq.enterPipelineMode(db->conn) == 0)
        (void)lc_pg_note_result(db, NULL);
    return db->has_failed ? lc_pg_tell_failure(db, err) : LOCI_OK;
}

/* ---- Answers -------------------------------------------------------------------------------- */

static void replace_reading(lc_pg *db, const PGresult *from, PGresult *to)
{
    for (int i = 0; i < LC_PG_READING_MAX; i++) {
        if (db->reading[i] == from) {
            db->reading[i] = to;
            return;
        }
    }
}

void lc_pg_drop_reading(lc_pg *db)
{
    for (int i = 0; i < LC_PG_READING_MAX; i++) {
        db->pq.clear(db->reading[i]); /* NULL is fine. */
        db->reading[i] = NULL;
    }
}

loci_status lc_pg_query(lc_tx *tx, const lc_sql *sql, const lc_arg *args, lc_rows *out,
                        loci_error *err)
{
    lc_pg *db = of(tx);
    lc_pg_statement *statement = NULL;
    PGresult *result = NULL;
    loci_status status = find_statement(db, sql, tx->is_shadow, &statement, err);

    if (status != LOCI_OK)
        return status;
    if (!statement->is_select) { /* `update … returning` */
        LC_ASSERT(tx->is_write);
        if (db->prefetch != NULL && db->prefetch->is_dry_run)
            return lc_pg_end_dry_run(err);
        tx->wrote = true;
    }
    if (!lc_pg_find_prefetched(db, sql, args, &result, &status, err)) {
        status = lc_pg_send(db, sql, tx->is_shadow, args, LC_PG_ROWS, err);
        if (status == LOCI_OK)
            status = lc_pg_take(db, &result, err);
    }
    if (status != LOCI_OK)
        return status;
    out->statement = result;
    out->kinds = statement->columns;
    out->place = -1;
    if (db->prefetch == NULL || !db->prefetch->is_dry_run)
        replace_reading(db, NULL, result);
    return LOCI_OK;
}

static uint64_t get_big_endian(const char *bytes, int count)
{
    uint64_t bits = 0;

    for (int i = 0; i < count; i++)
        bits = bits << 8 | (unsigned char)bytes[i];
    return bits;
}

int64_t lc_pg_value_i64(const lc_pg *db, const PGresult *result, int row, int column)
{
    int bytes = db->pq.getlength(result, row, column);
    uint64_t bits = get_big_endian(db->pq.getvalue(result, row, column), bytes);

    if (bytes == 4)
        return (int32_t)(uint32_t)bits; /* A constant in a select list. */
    return (int64_t)bits;               /* 0 for NULL: it has no bytes. */
}

loci_str lc_pg_value_str(const lc_pg *db, const PGresult *result, int row, int column)
{
    return (loci_str){db->pq.getvalue(result, row, column),
                      (size_t)db->pq.getlength(result, row, column)};
}

static lc_cell read_cell(const lc_pg *db, const PGresult *result, int row, int column, char kind)
{
    lc_cell cell = {.kind = kind};
    int64_t bits;

    if (db->pq.getisnull(result, row, column)) {
        cell.kind = 0;
    } else if (kind == 'i') {
        cell.as.i64 = lc_pg_value_i64(db, result, row, column);
    } else if (kind == 'f') {
        bits = lc_pg_value_i64(db, result, row, column);
        memcpy(&cell.as.f64, &bits, sizeof cell.as.f64);
    } else {
        cell.as.str = lc_pg_value_str(db, result, row, column);
    }
    return cell;
}

bool lc_pg_next(lc_rows *rows, loci_status *out_status, loci_error *err)
{
    const lc_pg *db = of(rows->tx);

    (void)out_status; /* A failure was reported by the query. */
    (void)err;
    if (++rows->place < db->pq.ntuples(rows->statement)) {
        for (int i = 0; i < rows->column_count; i++)
            rows->cells[i] = read_cell(db, rows->statement, rows->place, i, rows->kinds[i]);
        return true;
    }
    lc_pg_end(rows);
    return false;
}

void lc_pg_end(lc_rows *rows)
{
    if (rows->statement == NULL)
        return;
    if (of(rows->tx)->prefetch == NULL || !of(rows->tx)->prefetch->is_dry_run) {
        replace_reading(of(rows->tx), rows->statement, NULL);
        of(rows->tx)->pq.clear(rows->statement);
    }
    rows->statement = NULL;
}

/* ---- Many rows ------------------------------------------------------------------------------- */

/* Many rows of one table with COPY, in its binary format:
 *
 *     "PGCOPY\n\377\r\n\0" | 0 (flags) | 0 (no extension)
 *     count of fields | length, bytes | length, bytes | ...     a row; length -1 = NULL
 *     -1                                                        the end
 *
 * all numbers big-endian, counts of 16 and lengths of 32 bits. One statement is parsed and planned
 * for all rows, and the server sends one answer for all of them. COPY does not work in pipeline
 * mode, so the connection leaves that mode and enters it again.
 */

#define CHUNK_BYTES 65536u

static const char header[] = "PGCOPY\n\377\r\n\0\0\0\0\0\0\0\0";
#define HEADER_BYTES 19

static void put_number(lc_buf *out, uint64_t value, int bytes)
{
    for (int i = bytes - 1; i >= 0; i--)
        lc_buf_append_byte(out, (char)(value >> (8 * i) & 0xFF));
}

static void put_field(lc_buf *out, const lc_arg *arg)
{
    double number;
    uint64_t bits;

    switch (arg->kind) {
    case 0:
        put_number(out, UINT32_MAX, 4);
        break;
    case 'i':
        put_number(out, 8, 4);
        put_number(out, (uint64_t)arg->as.i64, 8);
        break;
    case 'f':
        number = arg->as.f64 + 0.0; /* -0 becomes 0. */
        memcpy(&bits, &number, sizeof bits);
        put_number(out, 8, 4);
        put_number(out, bits, 8);
        break;
    default:
        put_number(out, arg->as.str.len, 4);
        lc_buf_append(out, arg->as.str);
    }
}

/* Sends the chunk and waits until the socket has taken it: memory stays bounded. */
static loci_status send_chunk(lc_pg *db, lc_buf *chunk, loci_error *err)
{
    loci_status status = lc_buf_status(chunk, err);

    if (status != LOCI_OK || chunk->len == 0)
        return status;
    if (db->pq.putCopyData(db->conn, chunk->ptr, (int)chunk->len) != 1) {
        (void)lc_pg_note_result(db, NULL);
        return lc_pg_tell_failure(db, err);
    }
    lc_buf_reset(chunk);
    return lc_pg_flush(db, err);
}

static loci_status send_rows(lc_pg *db, const lc_bulk *bulk, loci_error *err)
{
    size_t columns = strlen(bulk->put->params);
    lc_arg args[LC_BULK_COLUMNS_MAX];
    loci_status status = LOCI_OK;
    lc_buf chunk;

    LC_ASSERT(columns <= LC_BULK_COLUMNS_MAX);
    lc_buf_init(&chunk, &db->db.env->heap, LOCI_MEM_ENGINE, LC_ARGS_BYTES_MAX);
    lc_buf_append(&chunk, (loci_str){header, HEADER_BYTES});
    for (size_t row = 0; status == LOCI_OK && row < bulk->row_count; row++) {
        bulk->row(bulk->ctx, row, args);
        put_number(&chunk, columns, 2);
        for (size_t i = 0; i < columns; i++) {
            LC_ASSERT(args[i].kind == 0 || args[i].kind == bulk->put->params[i]);
            put_field(&chunk, &args[i]);
        }
        if (chunk.len >= CHUNK_BYTES)
            status = send_chunk(db, &chunk, err);
    }
    put_number(&chunk, UINT16_MAX, 2);
    if (status == LOCI_OK)
        status = send_chunk(db, &chunk, err);
    lc_buf_clear(&chunk);
    return status;
}

/* The next answer of the server outside the pipeline; its failure is noted. */
static ExecStatusType take_answer(lc_pg *db, loci_error *err)
{
    PGresult *result;
    ExecStatusType code;

    if (lc_pg_wait(db, err) != LOCI_OK)
        return PGRES_FATAL_ERROR;
    result = db->pq.getResult(db->conn);
    code = result == NULL ? PGRES_EMPTY_QUERY : db->pq.resultStatus(result);
    if (code == PGRES_FATAL_ERROR)
        (void)lc_pg_note_result(db, result);
    db->pq.clear(result);
    return code;
}

static loci_status copy(lc_pg *db, const lc_bulk *bulk, loci_error *err)
{
    loci_status status;

    if (take_answer(db, err) != PGRES_COPY_IN)
        return lc_pg_tell_failure(db, err);
    status = send_rows(db, bulk, err);
    if (db->conn == NULL)
        return lc_pg_tell_failure(db, err);
    /* With an error text the server aborts the COPY: after a failure no rows may stay. */
    if (db->pq.putCopyEnd(db->conn, status == LOCI_OK ? NULL : "given up") != 1)
        (void)lc_pg_note_result(db, NULL);
    while (db->conn != NULL && take_answer(db, NULL) != PGRES_EMPTY_QUERY)
        ;
    if (status == LOCI_OK && db->has_failed)
        status = lc_pg_tell_failure(db, err);
    return status;
}

loci_status lc_pg_put_rows(lc_tx *tx, const lc_bulk *bulk, loci_error *err)
{
    lc_pg *db = (lc_pg *)tx->db;
    loci_status status;

    tx->wrote = true;
    db->exec_count += (int64_t)bulk->row_count;
    status = lc_pg_send_sync(db, err);
    if (status == LOCI_OK)
        status = lc_pg_drain(db, err);
    if (status != LOCI_OK)
        return status;
    lc_buf_reset(&db->text);
    lc_buf_append_format(&db->text, "copy %s from stdin (format binary)", bulk->into);
    if (lc_buf_terminate(&db->text) == NULL)
        return lc_buf_status(&db->text, err);
    if (db->pq.exitPipelineMode(db->conn) == 0 || db->pq.sendQuery(db->conn, db->text.ptr) == 0) {
        (void)lc_pg_note_result(db, NULL);
        return lc_pg_tell_failure(db, err);
    }
    status = copy(db, bulk, err);
    if (db->conn != NULL && db->pq.enterPipelineMode(db->conn) == 0)
        (void)lc_pg_note_result(db, NULL);
    if (status == LOCI_OK && db->has_failed)
        status = lc_pg_tell_failure(db, err);
    return status;
}
