/* postgres_copy.c - many rows of one table with COPY, in its binary format:
 *
 *     "PGCOPY\n\377\r\n\0" | 0 (flags) | 0 (no extension)
 *     count of fields | length, bytes | length, bytes | ...     a row; length -1 = NULL
 *     -1                                                        the end
 *
 * all numbers big-endian, counts of 16 and lengths of 32 bits. One statement is parsed and planned
 * for all rows, and none is answered singly. COPY does not go through the pipeline, so that is left
 * for it and entered again.
 */
#include "store/postgres.h"

#include <string.h>

#include "base/assert.h"
#include "base/error.h"
#include "base/limits.h"

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

/* Sends what was gathered and waits until it is on its way: memory stays bounded. */
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
    /* With a text it is given up by the server: what fails here must not be half done. */
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
