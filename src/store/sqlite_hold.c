/* sqlite_hold.c - the pages of a commit go to the WAL in one piece.
 *
 * SQLite writes each page of a commit by itself, its header and its content apart: 40 system calls
 * for a group of eight writes, one after the other in the file. What a connection that writes sends
 * to its WAL is therefore held, and handed on when the file is synced, or when anything else is
 * asked of it.
 *
 * Others read of the WAL what its index says, and a commit is written there after the sync
 * (`synchronous = full`), so nobody can miss what is held. With relaxed durability there is no sync
 * to wait for, and nothing is held. A write that fails is told by the sync: for SQLite the commit
 * has failed either way.
 *
 * The methods of the connection's own WAL file are replaced by a table of its own, which leads back
 * to what is held; whatever VFS the file is of does the work. Invariant: what is held belongs at
 * `offset`, in one piece.
 */
#include "store/sqlite.h"

#include <string.h>

#define HELD_BYTES_MAX (128u * 1024)

struct lc_sqlite_hold {
    sqlite3_io_methods methods; /* First: a file's methods lead to it. */
    const sqlite3_io_methods *real;
    bool is_on;
    sqlite3_int64 offset;
    size_t used;
    char bytes[HELD_BYTES_MAX];
};

static lc_sqlite_hold *hold_of(const sqlite3_file *file)
{
    return (lc_sqlite_hold *)(uintptr_t)file->pMethods;
}

static int let_go(sqlite3_file *file)
{
    lc_sqlite_hold *hold = hold_of(file);
    size_t used = hold->used;

    hold->used = 0; /* Should it fail, whoever caused it is told, and undoes its work. */
    return used == 0 ? SQLITE_OK : hold->real->xWrite(file, hold->bytes, (int)used, hold->offset);
}

static int hold_write(sqlite3_file *file, const void *data, int count, sqlite3_int64 offset)
{
    lc_sqlite_hold *hold = hold_of(file);
    size_t bytes = (size_t)count;
    int code = SQLITE_OK;

    if (hold->used > 0 &&
        (offset != hold->offset + (sqlite3_int64)hold->used || bytes > HELD_BYTES_MAX - hold->used))
        code = let_go(file);
    if (code != SQLITE_OK)
        return code;
    if (!hold->is_on || bytes > HELD_BYTES_MAX)
        return hold->real->xWrite(file, data, count, offset);
    if (hold->used == 0)
        hold->offset = offset;
    memcpy(hold->bytes + hold->used, data, bytes);
    hold->used += bytes;
    return SQLITE_OK;
}

static int hold_read(sqlite3_file *file, void *data, int count, sqlite3_int64 offset)
{
    int code = let_go(file);

    return code == SQLITE_OK ? hold_of(file)->real->xRead(file, data, count, offset) : code;
}

static int hold_truncate(sqlite3_file *file, sqlite3_int64 size)
{
    int code = let_go(file);

    return code == SQLITE_OK ? hold_of(file)->real->xTruncate(file, size) : code;
}

static int hold_sync(sqlite3_file *file, int flags)
{
    int code = let_go(file);

    return code == SQLITE_OK ? hold_of(file)->real->xSync(file, flags) : code;
}

static int hold_size(sqlite3_file *file, sqlite3_int64 *out)
{
    int code = let_go(file);

    return code == SQLITE_OK ? hold_of(file)->real->xFileSize(file, out) : code;
}

/* What was not synced was not committed: nobody will ask for it. */
static int hold_close(sqlite3_file *file)
{
    const sqlite3_io_methods *real = hold_of(file)->real;

    file->pMethods = real;
    return real->xClose(file);
}

/* The connection's WAL, which is open once anything was read; NULL when it has none. */
static sqlite3_file *wal_of(lc_sqlite *db)
{
    sqlite3_file *file = NULL;

    if (sqlite3_file_control(db->handle, "main", SQLITE_FCNTL_JOURNAL_POINTER, &file) != SQLITE_OK)
        return NULL;
    return file != NULL && file->pMethods != NULL ? file : NULL;
}

void lc_sqlite_hold_wal(lc_sqlite *db)
{
    sqlite3_file *file = db->hold == NULL && db->state != NULL ? wal_of(db) : NULL;

    if (file != NULL)
        db->hold = lc_heap_alloc(&db->db.env->heap, sizeof *db->hold, LOCI_MEM_ENGINE);
    if (db->hold == NULL)
        return; /* Without it all is as usual. */
    if (file != NULL) {
        db->hold->real = file->pMethods;
        db->hold->methods = *file->pMethods;
        db->hold->methods.xClose = hold_close;
        db->hold->methods.xRead = hold_read;
        db->hold->methods.xWrite = hold_write;
        db->hold->methods.xTruncate = hold_truncate;
        db->hold->methods.xSync = hold_sync;
        db->hold->methods.xFileSize = hold_size;
        db->hold->used = 0;
        file->pMethods = &db->hold->methods;
    }
    db->hold->is_on = !db->is_relaxed;
}

void lc_sqlite_free_hold(lc_sqlite *db)
{
    lc_heap_free(&db->db.env->heap, db->hold, sizeof *db->hold, LOCI_MEM_ENGINE);
    db->hold = NULL;
}
