/* faulty_vfs.c - A file of ours is a header of methods followed by the real file. The methods table
 * says version 2 or what the real one says, whichever is less: mapped pages (version 3) would not
 * be counted. */
#include "faulty_vfs.h"

#include <pthread.h>
#include <sqlite3.h>
#include <stddef.h>
#include <string.h>

typedef struct faulty_file {
    sqlite3_file base;
    _Alignas(8) char real[]; /* As many bytes as the real VFS asks for. */
} faulty_file;

static struct {
    pthread_mutex_t lock;
    uint64_t calls;
    uint64_t fail_at; /* 0 = never. */
    test_vfs_fault fault;
    bool is_lasting;
    bool was_injected;
    const char *failed_call;
} faults = {.lock = PTHREAD_MUTEX_INITIALIZER, .failed_call = ""};

static sqlite3_vfs *real_vfs;
static sqlite3_vfs faulty;

static sqlite3_file *real_of(sqlite3_file *file)
{
    return (sqlite3_file *)(void *)((faulty_file *)file)->real;
}

/* Whether this access is to fail. */
static bool meets(const char *call, bool takes_space)
{
    bool fails = false;

    pthread_mutex_lock(&faults.lock);
    if (faults.fail_at != 0 && (faults.fault == TEST_VFS_IO || takes_space)) {
        faults.calls++;
        fails = faults.calls == faults.fail_at ||
                (faults.is_lasting && faults.calls > faults.fail_at);
        if (fails) {
            faults.was_injected = true;
            faults.failed_call = call;
        }
    }
    pthread_mutex_unlock(&faults.lock);
    return fails;
}

void test_vfs_fail_nth(uint64_t nth, test_vfs_fault fault, bool is_lasting)
{
    pthread_mutex_lock(&faults.lock);
    faults.calls = 0;
    faults.fail_at = nth;
    faults.fault = fault;
    faults.is_lasting = is_lasting;
    faults.was_injected = false;
    faults.failed_call = "";
    pthread_mutex_unlock(&faults.lock);
}

bool test_vfs_disarm(void)
{
    bool was_injected;

    pthread_mutex_lock(&faults.lock);
    faults.fail_at = 0;
    was_injected = faults.was_injected;
    faults.was_injected = false;
    pthread_mutex_unlock(&faults.lock);
    return was_injected;
}

uint64_t test_vfs_calls(void)
{
    uint64_t calls;

    pthread_mutex_lock(&faults.lock);
    calls = faults.calls;
    pthread_mutex_unlock(&faults.lock);
    return calls;
}

const char *test_vfs_failed_call(void)
{
    const char *call;

    pthread_mutex_lock(&faults.lock);
    call = faults.failed_call;
    pthread_mutex_unlock(&faults.lock);
    return call;
}

static int file_close(sqlite3_file *file)
{
    return real_of(file)->pMethods->xClose(real_of(file));
}

static int file_read(sqlite3_file *file, void *out, int bytes, sqlite3_int64 at)
{
    if (meets("read", false))
        return SQLITE_IOERR_READ;
    return real_of(file)->pMethods->xRead(real_of(file), out, bytes, at);
}

static int file_write(sqlite3_file *file, const void *from, int bytes, sqlite3_int64 at)
{
    if (meets("write", true))
        return faults.fault == TEST_VFS_FULL ? SQLITE_FULL : SQLITE_IOERR_WRITE;
    return real_of(file)->pMethods->xWrite(real_of(file), from, bytes, at);
}

static int file_truncate(sqlite3_file *file, sqlite3_int64 bytes)
{
    if (meets("truncate", true))
        return faults.fault == TEST_VFS_FULL ? SQLITE_FULL : SQLITE_IOERR_TRUNCATE;
    return real_of(file)->pMethods->xTruncate(real_of(file), bytes);
}

static int file_sync(sqlite3_file *file, int flags)
{
    if (meets("sync", false))
        return SQLITE_IOERR_FSYNC;
    return real_of(file)->pMethods->xSync(real_of(file), flags);
}

static int file_size(sqlite3_file *file, sqlite3_int64 *out)
{
    return real_of(file)->pMethods->xFileSize(real_of(file), out);
}

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

static int file_control(sqlite3_file *file, int what, void *arg)
{
    return real_of(file)->pMethods->xFileControl(real_of(file), what, arg);
}

static int file_sector_size(sqlite3_file *file)
{
    return real_of(file)->pMethods->xSectorSize(real_of(file));
}

static int file_traits(sqlite3_file *file)
{
    return real_of(file)->pMethods->xDeviceCharacteristics(real_of(file));
}

static int file_shm_map(sqlite3_file *file, int page, int bytes, int extend, void volatile **out)
{
    return real_of(file)->pMethods->xShmMap(real_of(file), page, bytes, extend, out);
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

static const sqlite3_io_methods methods = {
    .iVersion = 2,
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
};

static int vfs_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags,
                    int *out_flags)
{
    faulty_file *self = (faulty_file *)file;
    int code;

    (void)vfs;
    self->base.pMethods = NULL;
    if (meets("open", false))
        return SQLITE_CANTOPEN;
    code = real_vfs->xOpen(real_vfs, name, real_of(file), flags, out_flags);
    if (real_of(file)->pMethods != NULL)
        self->base.pMethods = &methods;
    return code;
}

static int vfs_delete(sqlite3_vfs *vfs, const char *name, int sync_dir)
{
    (void)vfs;
    if (meets("delete", false))
        return SQLITE_IOERR_DELETE;
    return real_vfs->xDelete(real_vfs, name, sync_dir);
}

void test_vfs_install(void)
{
    if (real_vfs != NULL)
        return;
    real_vfs = sqlite3_vfs_find(NULL);
    faulty = *real_vfs;
    faulty.szOsFile = (int)(offsetof(faulty_file, real)) + real_vfs->szOsFile;
    faulty.zName = "faulty";
    faulty.pNext = NULL;
    faulty.xOpen = vfs_open;
    faulty.xDelete = vfs_delete;
    sqlite3_vfs_register(&faulty, 1);
}
