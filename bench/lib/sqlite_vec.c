#include "lib/sqlite_vec.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct sqlite_vec {
    sqlite3 *db;
    sqlite3_stmt *search;
    uint32_t dimension;
};

static _Noreturn void die(sqlite_vec *peer)
{
    fprintf(stderr, "sqlite-vec: %s\n", sqlite3_errmsg(peer->db));
    exit(1);
}

/* The path of the extension; false when npm has none to give. */
static bool find_extension(char *out, size_t out_bytes)
{
    FILE *pipe = popen("bench/lib/npm_peer " SQLITE_VEC_PACKAGE " vec0.so", "r");
    bool is_found = pipe != NULL && fgets(out, (int)out_bytes, pipe) != NULL;

    if (pipe != NULL && pclose(pipe) != 0)
        is_found = false;
    if (is_found)
        out[strcspn(out, "\n")] = '\0';
    return is_found;
}

static void run(sqlite_vec *peer, const char *sql)
{
    if (sqlite3_exec(peer->db, sql, NULL, NULL, NULL) != SQLITE_OK)
        die(peer);
}

sqlite_vec *sqlite_vec_open(uint32_t dimension)
{
    sqlite_vec *peer = calloc(1, sizeof *peer);
    char path[4096], sql[128], *problem = NULL;

    if (peer == NULL || sqlite3_open(":memory:", &peer->db) != SQLITE_OK)
        exit(1);
    peer->dimension = dimension;
    if (!find_extension(path, sizeof path)) {
        fprintf(stderr, "vectors: sqlite-vec is left out: npm is not reachable from here\n");
        sqlite_vec_close(peer);
        return NULL;
    }
    (void)sqlite3_db_config(peer->db, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 1, NULL);
    if (sqlite3_load_extension(peer->db, path, "sqlite3_vec_init", &problem) != SQLITE_OK) {
        fprintf(stderr, "vectors: sqlite-vec is left out: %s\n", problem);
        sqlite3_free(problem);
        sqlite_vec_close(peer);
        return NULL;
    }
    snprintf(sql, sizeof sql, "create virtual table vectors using vec0(v float[%u])", dimension);
    run(peer, sql);
    if (sqlite3_prepare_v2(peer->db, "select rowid from vectors where v match ? and k = ?", -1,
                           &peer->search, NULL) != SQLITE_OK)
        die(peer);
    return peer;
}

void sqlite_vec_close(sqlite_vec *peer)
{
    if (peer == NULL)
        return;
    (void)sqlite3_finalize(peer->search); /* Repeats the last error, which was looked at. */
    (void)sqlite3_close(peer->db);
    free(peer);
}

void sqlite_vec_add(sqlite_vec *peer, const float *values, uint32_t count)
{
    int bytes = (int)(peer->dimension * sizeof(float));
    sqlite3_stmt *insert;

    if (sqlite3_prepare_v2(peer->db, "insert into vectors (rowid, v) values (?, ?)", -1, &insert,
                           NULL) != SQLITE_OK)
        die(peer);
    run(peer, "begin");
    for (uint32_t i = 0; i < count; i++) {
        sqlite3_bind_int64(insert, 1, (int64_t)i + 1);
        sqlite3_bind_blob(insert, 2, values + (size_t)i * peer->dimension, bytes, SQLITE_STATIC);
        if (sqlite3_step(insert) != SQLITE_DONE || sqlite3_reset(insert) != SQLITE_OK)
            die(peer);
    }
    run(peer, "commit");
    (void)sqlite3_finalize(insert);
}

size_t sqlite_vec_search(sqlite_vec *peer, const float *query, size_t limit, uint32_t *out)
{
    size_t count = 0;
    int step;

    sqlite3_bind_blob(peer->search, 1, query, (int)(peer->dimension * sizeof(float)),
                      SQLITE_STATIC);
    sqlite3_bind_int64(peer->search, 2, (int64_t)limit);
    while ((step = sqlite3_step(peer->search)) == SQLITE_ROW && count < limit)
        out[count++] = (uint32_t)(sqlite3_column_int64(peer->search, 0) - 1);
    if (step != SQLITE_DONE || sqlite3_reset(peer->search) != SQLITE_OK)
        die(peer);
    return count;
}
