/* sqlite_vfs.c - coalesces the WAL writes of a commit.
 *
 * SQLite writes each page of a commit separately, and its frame header apart from its content: 40
 * system calls for a group of eight writes, all adjacent in the file. This file is a VFS named
 * "loci" that forwards every call to the default VFS, except that writes to a WAL are collected in
 * a buffer and passed on as one write when the file is synced, or when anything else is asked of
 * it. Only connections that ask for this VFS by name use it; other SQLite connections of the host
 * program are not affected.
 *
 * Why this is safe: other connections read from the WAL only the frames that the WAL index lists,
 * and with `synchronous = full` a commit is published there after the sync, hence after the buffer
 * was written. With relaxed durability no sync follows a commit, so nothing is buffered then. A
 * failed write is reported by the sync; for SQLite the commit has failed in both cases.
 *
 * The buffer belongs to the connection (its memory comes from the heap of the engine) and is passed
 * to the file of the main database by a file control; SQLite leads from the WAL to that file.
 * Invariant: the bytes in the buffer are adjacent and begin at `offset` of the WAL.
 */
#include "store/sqlite.h"

#include <string.h>

#include "base/clock.h"
#include "base/histogram.h"

#define NAME "loci"
#define BUFFER_BYTES (128u * 1024)
#define FCNTL_SET_BUFFER 0x6C6F6369 /* SQLite reserves the codes up to 100. */

struct lc_sqlite_wal_buffer {
    bool is_enabled;
    lc_histogram *sync_took; /* For metrics, or NULL. */
    sqlite3_int64 offset;
    size_t used;
    char bytes[BUFFER_BYTES];
};

typedef struct shim_file {
    sqlite3_file base;
    sqlite3_io_methods methods;   /* `base` points to it; its version is the real file's. */
    struct shim_file *main;       /* If this is a WAL: the file of its database. */
    lc_sqlite_wal_buffer *buffer; /* If this is the main database: set by its connection. */
    _Alignas(8) char real[];      /* As many bytes as the real VFS asks for. */
} shim_file;

/* The VFS that calls are forwarded to: the default VFS when the first store was opened. */
static sqlite3_vfs *real_vfs_of(const sqlite3_vfs *vfs)
{
    return vfs->pAppData;
}

static sqlite3_file *real_of(sqlite3_file *file)
{
    return (sqlite3_file *)(void *)((shim_file *)file)->real;
}

/* The buffer that writes to `file` go through, or NULL. */
static lc_sqlite_wal_buffer *buffer_of(const sqlite3_file *file)
{
    const shim_file *main = ((const shim_file *)file)->main;

    return main != NULL ? main->buffer : NULL;
}

/* Writes the collected bytes. On failure they are dropped: SQLite rolls back the transaction. */
static int flush(sqlite3_file *file)
{
    lc_sqlite_wal_buffer *buffer = buffer_of(file);
    size_t used = buffer != NULL ? buffer->used : 0;

    if (used == 0)
        return SQLITE_OK;
    buffer->used = 0;
    return real_of(file)->pMethods->xWrite(real_of(file), buffer->bytes, (int)used, buffer->offset);
}

/* ---- Files ----------------------------------------------------------------------------------- */

static int file_write(sqlite3_file *file, const void *data, int count, sqlite3_int64 offset)
{
    lc_sqlite_wal_buffer *buffer = buffer_of(file);
    size_t bytes = (size_t)count;
    int code = SQLITE_OK;

    if (buffer != NULL && buffer->used > 0 &&
        (offset != buffer->offset + (sqlite3_int64)buffer->used ||
         bytes > BUFFER_BYTES - buffer->used))
        code = flush(file);
    if (code != SQLITE_OK)
        return code;
    if (buffer == NULL || !buffer->is_enabled || bytes > BUFFER_BYTES)
        return real_of(file)->pMethods->xWrite(real_of(file), data, count, offset);
    if (buffer->used == 0)
        buffer->offset = offset;
    memcpy(buffer->bytes + buffer->used, data, bytes);
    buffer->used += bytes;
    return SQLITE_OK;
}

static int file_read(sqlite3_file *file, void *data, int count, sqlite3_int64 offset)
{
    int code = flush(file);

    return code == SQLITE_OK ? real_of(file)->pMethods->xRead(real_of(file), data, count, offset)
                             : code;
}

static int file_truncate(sqlite3_file *file, sqlite3_int64 size)
{
    int code = flush(file);

    return code == SQLITE_OK ? real_of(file)->pMethods->xTruncate(real_of(file), size) : code;
}

static int file_sync(sqlite3_file *file, int flags)
{
    const lc_sqlite_wal_buffer *buffer = buffer_of(file);
    int64_t began_us = lc_clock_monotonic_us();
    int code = flush(file);

    if (code == SQLITE_OK)
        code = real_of(file)->pMethods->xSync(real_of(file), flags);
    if (buffer != NULL && buffer->sync_took != NULL)
        lc_histogram_add(buffer->sync_took, lc_clock_monotonic_us() - began_us);
    return code;
}

static int file_size(sqlite3_file *file, sqlite3_int64 *out)
{
    int code = flush(file);

    return code == SQLITE_OK ? real_of(file)->pMethods->xFileSize(real_of(file), out) : code;
}

static int file_control(sqlite3_file *file, int what, void *arg)
{
    int code;

    if (what == FCNTL_SET_BUFFER) {
        ((shim_file *)file)->buffer = arg;
        return SQLITE_OK;
    }
    code = flush(file);
    return code == SQLITE_OK ? real_of(file)->pMethods->xFileControl(real_of(file), what, arg)
                             : code;
}

/* Bytes that were not synced were not committed: they are dropped. */
static int file_close(sqlite3_file *file)
{
    lc_sqlite_wal_buffer *buffer = buffer_of(file);

    if (buffer != NULL)
        buffer->used = 0;
    /* SQLite unmaps only if the connection used the WAL; lc_sqlite_find_state() maps it anyway. */
    if (real_of(file)->pMethods->iVersion >= 2)
        (void)real_of(file)->pMethods->xShmUnmap(real_of(file), 0);
    return real_of(file)->pMethods->xClose(real_of(file));
}

/* The other calls are forwarded: none of them touches the content of a WAL. */

static int file_lock(sqlite3_file *file, int level)
{
    return real_of(file)->pMethods->xLock(real_of(file), level);
}

static int file_unlock(sqlite3_file *file, int level)
{
    return real_of(file)->pMethods->xUnlock(real_of(file), level);
}

static int file_check_lock(sqlite3_file *file, int *out)
{
    return real_of(file)->pMethods->xCheckReservedLock(real_of(file), out);
}

static int file_sector_size(sqlite3_file *file)
{
    return real_of(file)->pMethods->xSectorSize(real_of(file));
}

static int file_traits(sqlite3_file *file)
{
    return real_of(file)->pMethods->xDeviceCharacteristics(real_of(file));
}

static int file_shm_map(sqlite3_file *file, int region, int bytes, int extend, void volatile **out)
{
    return real_of(file)->pMethods->xShmMap(real_of(file), region, bytes, extend, out);
}

static int file_shm_lock(sqlite3_file *file, int offset, int count, int flags)
{
    return real_of(file)->pMethods->xShmLock(real_of(file), offset, count, flags);
}

static void file_shm_barrier(sqlite3_file *file)
{
    real_of(file)->pMethods->xShmBarrier(real_of(file));
}

static int file_shm_unmap(sqlite3_file *file, int is_delete)
{
    return real_of(file)->pMethods->xShmUnmap(real_of(file), is_delete);
}

static int file_fetch(sqlite3_file *file, sqlite3_int64 offset, int count, void **out)
{
    return real_of(file)->pMethods->xFetch(real_of(file), offset, count, out);
}

static int file_unfetch(sqlite3_file *file, sqlite3_int64 offset, void *page)
{
    return real_of(file)->pMethods->xUnfetch(real_of(file), offset, page);
}

static const sqlite3_io_methods forwarding = {
    .iVersion = 3,
    .xClose = file_close,
    .xRead = file_read,
    .xWrite = file_write,
    .xTruncate = file_truncate,
    .xSync = file_sync,
    .xFileSize = file_size,
    .xLock = file_lock,
    .xUnlock = file_unlock,
    .xCheckReservedLock = file_check_lock,
    .xFileControl = file_control,
    .xSectorSize = file_sector_size,
    .xDeviceCharacteristics = file_traits,
    .xShmMap = file_shm_map,
    .xShmLock = file_shm_lock,
    .xShmBarrier = file_shm_barrier,
    .xShmUnmap = file_shm_unmap,
    .xFetch = file_fetch,
    .xUnfetch = file_unfetch,
};

/* ---- The VFS --------------------------------------------------------------------------------- */

static int vfs_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags,
                    int *out_flags)
{
    shim_file *self = (shim_file *)file;
    sqlite3_vfs *real = real_vfs_of(vfs);
    int code;

    *self = (shim_file){.methods = forwarding};
    code = real->xOpen(real, name, real_of(file), flags, out_flags);
    if (real_of(file)->pMethods == NULL)
        return code; /* There is nothing to close. */
    if (real_of(file)->pMethods->iVersion < self->methods.iVersion)
        self->methods.iVersion = real_of(file)->pMethods->iVersion;
    self->base.pMethods = &self->methods;
    if ((flags & SQLITE_OPEN_WAL) != 0)
        self->main = (shim_file *)sqlite3_database_file_object(name);
    return code;
}

static int vfs_delete(sqlite3_vfs *vfs, const char *name, int sync_dir)
{
    return real_vfs_of(vfs)->xDelete(real_vfs_of(vfs), name, sync_dir);
}

static int vfs_access(sqlite3_vfs *vfs, const char *name, int flags, int *out)
{
    return real_vfs_of(vfs)->xAccess(real_vfs_of(vfs), name, flags, out);
}

static int vfs_full_path(sqlite3_vfs *vfs, const char *name, int bytes, char *out)
{
    return real_vfs_of(vfs)->xFullPathname(real_vfs_of(vfs), name, bytes, out);
}

static int vfs_randomness(sqlite3_vfs *vfs, int bytes, char *out)
{
    return real_vfs_of(vfs)->xRandomness(real_vfs_of(vfs), bytes, out);
}

static int vfs_sleep(sqlite3_vfs *vfs, int microseconds)
{
    return real_vfs_of(vfs)->xSleep(real_vfs_of(vfs), microseconds);
}

static int vfs_current_time(sqlite3_vfs *vfs, double *out)
{
    return real_vfs_of(vfs)->xCurrentTime(real_vfs_of(vfs), out);
}

static int vfs_last_error(sqlite3_vfs *vfs, int bytes, char *out)
{
    return real_vfs_of(vfs)->xGetLastError(real_vfs_of(vfs), bytes, out);
}

/* SQLite links registered VFSs into a list, so this cannot be constant. pAppData is the real VFS
 * once the shim is registered. Extensions are never loaded by these connections, so the functions
 * for shared libraries are left out. */
static sqlite3_vfs shim = {
    .iVersion = 1,
    .zName = NAME,
    .xOpen = vfs_open,
    .xDelete = vfs_delete,
    .xAccess = vfs_access,
    .xFullPathname = vfs_full_path,
    .xRandomness = vfs_randomness,
    .xSleep = vfs_sleep,
    .xCurrentTime = vfs_current_time,
    .xGetLastError = vfs_last_error,
};

const char *lc_sqlite_vfs_name(void)
{
    /* SQLite's mutex for application code; NULL, a no-op, if SQLite was built without threads. */
    sqlite3_mutex *mutex = sqlite3_mutex_alloc(SQLITE_MUTEX_STATIC_APP1);
    sqlite3_vfs *real = sqlite3_vfs_find(NULL);
    const char *name;

    sqlite3_mutex_enter(mutex);
    if (shim.pAppData == NULL && real != NULL) {
        shim.szOsFile = (int)sizeof(shim_file) + real->szOsFile;
        shim.mxPathname = real->mxPathname;
        shim.pAppData = real;
        if (sqlite3_vfs_register(&shim, 0) != SQLITE_OK)
            shim.pAppData = NULL;
    }
    name = shim.pAppData != NULL ? NAME : NULL;
    sqlite3_mutex_leave(mutex);
    return name;
}

/* A host program may unload the library that contains this code. */
__attribute__((destructor)) static void unregister_shim(void)
{
    if (shim.pAppData != NULL)
        (void)sqlite3_vfs_unregister(&shim); /* Cannot fail for one that is registered. */
}

/* ---- The buffer of a connection -------------------------------------------------------------- */

void lc_sqlite_coalesce_wal(lc_sqlite *db)
{
    if (db->wal_buffer == NULL && db->state != NULL) {
        lc_sqlite_wal_buffer *buffer = lc_heap_alloc(&db->db.env->heap, sizeof *buffer,
                                                     LOCI_MEM_ENGINE);

        if (buffer == NULL)
            return; /* The pages are written one by one. */
        buffer->used = 0;
        db->wal_buffer = buffer;
        if (sqlite3_file_control(db->handle, "main", FCNTL_SET_BUFFER, buffer) != SQLITE_OK)
            lc_sqlite_free_wal_buffer(db);
    }
    if (db->wal_buffer != NULL) {
        db->wal_buffer->is_enabled = !db->is_relaxed;
        db->wal_buffer->sync_took = db->db.sync_took;
    }
}

void lc_sqlite_free_wal_buffer(lc_sqlite *db)
{
    lc_heap_free(&db->db.env->heap, db->wal_buffer, sizeof *db->wal_buffer, LOCI_MEM_ENGINE);
    db->wal_buffer = NULL;
}
