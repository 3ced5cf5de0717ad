/* sqlite.c - the SQLite driver: opening a file, and what its result codes mean.
 *
 * WAL, so that reads never wait for the writer; synchronous=FULL, so that acked is durable;
 * secure_delete and temp_store=MEMORY, so that forgotten text does not linger in free pages or in
 * files outside the store; double-quoted strings off, so that a misspelt column is an error.
 * SQLite's own busy handler starves processes for a second at a time; sleeping a random 1 to 3 ms
 * does not (ARCHITECTURE.md).
 *
 * `application_id` marks a file as loci's, so that we neither write into another program's database
 * nor another program into ours.
 */
#include "store/sqlite.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/limits.h"
#include "store/db_upkeep.h"
#include "store/grown.h"

#define APPLICATION_ID 0x6C6F6369 /* "loci" */
#define OPEN_BUSY_MS 10000        /* Another process may be creating the same store. */
#define PROGRESS_STEPS 1000       /* VM steps between two checks of the deadline, ~15 µs. */
#define PATH_BYTES_MAX 4096
#define MOVED_CHECK_US 250000
#define ROLL_BACK_TRIES 3
#define CHECKPOINT_FRAMES 1000 /* Growth of the WAL after which a checkpoint is due, */
#define LONG_FRAMES 8000       /* and its size from which on every commit tries one. */

static const struct {
    int code; /* Primary result code. */
    loci_status status;
    const char *message;
} meanings[] = {
    {SQLITE_BUSY, LOCI_EDEADLINE, "the store stayed locked by another writer until the deadline"},
    {SQLITE_LOCKED, LOCI_EDEADLINE, "the store stayed locked by another writer until the deadline"},
    {SQLITE_FULL, LOCI_ERESOURCE, "the disk is full; free some space and try again"},
    {SQLITE_NOMEM, LOCI_ERESOURCE, "out of memory"},
    {SQLITE_CORRUPT, LOCI_ECORRUPT,

     "the store is damaged; replace it with a backup (`loci restore BACKUP`), or save what can be "
     "read (`loci recover FILE`)"},
    {SQLITE_NOTADB, LOCI_ECORRUPT, "the file is not a loci store, or its beginning is damaged"},
    {SQLITE_READONLY, LOCI_EFORBIDDEN,
     "the store is read-only: its file or directory cannot be written; check their permissions"},
    {SQLITE_PERM, LOCI_EFORBIDDEN, "no permission for the store's file"},
    {SQLITE_AUTH, LOCI_EFORBIDDEN, "no permission for the store's file"},
    {SQLITE_CANTOPEN, LOCI_EUNAVAILABLE, "the store's file cannot be opened"},
    {SQLITE_IOERR, LOCI_EUNAVAILABLE, "the file system failed; see the system's log"},
    {SQLITE_TOOBIG, LOCI_ELIMIT, "a value is too large for the store"},
    {SQLITE_PROTOCOL, LOCI_EUNAVAILABLE, "the store's lock could not be had; try again"},
};

loci_status lc_sqlite_fail(lc_sqlite *db, int code, loci_error *err)
{
    int primary = code & 0xFF;

    if (primary == SQLITE_INTERRUPT) {
        if (db->read_timed_out)
            return lc_fail(err, LOCI_EDEADLINE, "the read took longer than its deadline");
        return lc_fail(err, LOCI_ECANCELLED, "interrupted");
    }
    for (size_t i = 0; i < sizeof meanings / sizeof meanings[0]; i++) {
        if (meanings[i].code == primary)
            return lc_fail(err, meanings[i].status, "%s (SQLite %d)", meanings[i].message, code);
    }
    return lc_fail(err, LOCI_EINTERNAL, "SQLite %d: %s", code, sqlite3_errmsg(db->handle));
}

loci_status lc_sqlite_run(lc_sqlite *db, const char *text, loci_error *err)
{
    int code = sqlite3_exec(db->handle, text, NULL, NULL, NULL);

    return code == SQLITE_OK ? LOCI_OK : lc_sqlite_fail(db, code, err);
}

static loci_status fail_moved(loci_error *err)
{
    return lc_fail(err, LOCI_EUNAVAILABLE,
                   "the file of the store was moved, deleted or replaced while it was open; put it "
                   "back, or open the store again");
}

loci_status lc_sqlite_check_place(lc_sqlite *db, loci_error *err)
{
    int64_t now_us = lc_clock_monotonic_us();

    if (now_us >= db->moved_due_us) {
        int moved = 0;

        db->moved_due_us = now_us + MOVED_CHECK_US;
        /* A store in memory has no path and returns SQLITE_NOTFOUND. */
        (void)sqlite3_file_control(db->handle, "main", SQLITE_FCNTL_HAS_MOVED, &moved);
        db->has_moved = moved != 0;
    }
    return db->has_moved ? fail_moved(err) : LOCI_OK;
}

void lc_sqlite_roll_back(lc_sqlite *db)
{
    /* After a change of the schema SQLite prepares even this statement again, which may run out of
     * memory; the failure that led here is the one reported. */
    for (int i = 0; i < ROLL_BACK_TRIES && sqlite3_get_autocommit(db->handle) == 0; i++)
        (void)lc_sqlite_run_control(db, LC_SQLITE_ROLLBACK);
    if (sqlite3_get_autocommit(db->handle) == 0)
        db->is_broken = true;
}

static int wait_while_busy(void *ctx, int count)
{
    lc_sqlite *db = ctx;

    (void)count;
    if (lc_clock_monotonic_us() >= db->busy_deadline_us)
        return 0;
    lc_clock_sleep_us(lc_random_between(&db->db.env->random, 1000, 3000));
    return 1;
}

static int look_at_deadline(void *ctx)
{
    lc_sqlite *db = ctx;

    if (lc_clock_monotonic_us() < db->read_deadline_us)
        return 0;
    db->read_timed_out = true;
    return 1;
}

/* After a commit that wrote. A hook takes the place of `pragma wal_autocheckpoint`; as there, it
 * does not matter to this commit how a checkpoint ends.
 *
 * A checkpoint takes as long as many commits, so another connection makes it if there is one. But
 * the WAL starts from its beginning only if a checkpoint ends before the next commit. Where commits
 * follow one another closely that connection may never get so far: then the WAL grows to
 * LONG_FRAMES, and this one copies the few frames that are left. */
static int on_commit(void *ctx, sqlite3 *handle, const char *name, int frames)
{
    lc_sqlite *db = ctx;

    if (frames < db->maintained_frames)
        db->maintained_frames = 0;
    if (frames >= (db->db.is_maintained ? LONG_FRAMES : CHECKPOINT_FRAMES)) {
        (void)sqlite3_wal_checkpoint(handle, name);
    } else if (frames - db->maintained_frames >= CHECKPOINT_FRAMES) {
        db->maintained_frames = frames;
        db->db.wants_maintenance = true;
    }
    return SQLITE_OK;
}

static loci_status maintain(lc_db *base, loci_error *err)
{
    (void)err;
    (void)sqlite3_wal_checkpoint(((lc_sqlite *)base)->handle, "main");
    return LOCI_OK;
}

/* SQLite only says "cannot open"; the message should say why. */
static loci_status explain_path(const char *store, int error, loci_error *err)
{
    switch (error) {
    case ENOENT:
    case ENOTDIR:
        return lc_fail(err, LOCI_ENOTFOUND,
                       "store %s: its directory does not exist; create it first", store);
    case EACCES:
    case EPERM:
    case EROFS:
        return lc_fail(err, LOCI_EFORBIDDEN,
                       "store %s: %s; check the permissions of file and directory", store,
                       strerror(error));
    case ENOSPC:
    case EDQUOT:
    case EMFILE:
    case ENFILE:
        return lc_fail(err, LOCI_ERESOURCE, "store %s: %s", store, strerror(error));
    case EISDIR:
        return lc_fail(err, LOCI_EINVAL, "store %s is a directory; name a file in it", store);
    default:
        return lc_fail(err, LOCI_EUNAVAILABLE, "store %s: %s", store, strerror(error));
    }
}

/* A file whose directory entry is not synced may be gone after a power loss, with all acknowledged
 * writes. */
static void sync_directory_of(const char *store)
{
    char path[PATH_BYTES_MAX];
    int fd;

    memcpy(path, store, strlen(store) + 1);
    fd = open(dirname(path), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return;
    (void)fsync(fd); /* Some file systems refuse it for directories, and then need none. */
    (void)close(fd);
}

static bool is_directory_writable(const char *store)
{
    char path[PATH_BYTES_MAX];

    memcpy(path, store, strlen(store) + 1);
    return access(dirname(path), W_OK) == 0;
}

/* Makes sure that there is a file to open, readable by its owner only: it holds people's words. It
 * is not opened here: closing any descriptor of it would drop the locks that this process's other
 * connections hold (another thread may be opening the new file already), and the WAL could be
 * deleted under them. */
static loci_status prepare_file(const char *store, bool create, bool *out_read_only,
                                loci_error *err)
{
    struct stat info;

    if (strlen(store) >= PATH_BYTES_MAX)
        return lc_fail(err, LOCI_ELIMIT, "the store's path is longer than %d bytes",
                       PATH_BYTES_MAX);
    if (stat(store, &info) == 0) {
        if (S_ISDIR(info.st_mode))
            return explain_path(store, EISDIR, err);
        if (access(store, R_OK) != 0)
            return explain_path(store, errno, err);
        /* SQLite writes the files beside it, too. A new store has no content to be read. */
        *out_read_only = info.st_size > 0 &&
                         (access(store, W_OK) != 0 || !is_directory_writable(store));
        return LOCI_OK;
    }
    if (errno == ENOENT && !create)
        return lc_fail(err, LOCI_ENOTFOUND, "store %s does not exist; `loci init` makes one",
                       store);
    if (errno != ENOENT)
        return explain_path(store, errno, err);

    if (mknod(store, S_IFREG | 0600, 0) != 0)
        return errno == EEXIST ? LOCI_OK : explain_path(store, errno, err);
    sync_directory_of(store);
    return LOCI_OK;
}

/* A rollback must not allocate memory: doing it once in advance allocates all it needs. */
static loci_status prepare_roll_back(lc_sqlite *db, loci_error *err)
{
    int code = lc_sqlite_run_control(db, LC_SQLITE_BEGIN);

    if (code == SQLITE_OK)
        code = lc_sqlite_run_control(db, LC_SQLITE_ROLLBACK);
    return code == SQLITE_OK ? LOCI_OK : lc_sqlite_fail(db, code, err);
}

static loci_status set_up(lc_sqlite *db, loci_error *err)
{
    loci_status status;
    int code;

    (void)sqlite3_extended_result_codes(db->handle, 1); /* Cannot fail on an open handle. */
    (void)sqlite3_busy_handler(db->handle, wait_while_busy, db);
    sqlite3_progress_handler(db->handle, PROGRESS_STEPS, look_at_deadline, db);
    (void)sqlite3_wal_hook(db->handle, on_commit, db); /* Returns the previous hook. */
    code = sqlite3_db_config(db->handle, SQLITE_DBCONFIG_DQS_DML, 0, NULL);
    if (code == SQLITE_OK)
        code = sqlite3_db_config(db->handle, SQLITE_DBCONFIG_DQS_DDL, 0, NULL);
    if (code == SQLITE_OK)
        code = sqlite3_db_config(db->handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    if (code != SQLITE_OK)
        return lc_sqlite_fail(db, code, err);

    status = lc_sqlite_run(db,
                           "pragma temp_store = memory; pragma foreign_keys = on;"
                           "pragma secure_delete = on; pragma synchronous = full;"
                           "pragma cache_size = -8192;",
                           err);
    return status == LOCI_OK ? prepare_roll_back(db, err) : status;
}

static loci_status new_connection(lc_env *env, const lc_catalogue *catalogue, lc_sqlite **out,
                                  loci_error *err)
{
    lc_sqlite *db = lc_heap_zalloc(&env->heap, sizeof *db, LOCI_MEM_ENGINE);

    if (db == NULL)
        return lc_fail_memory(err);
    db->db = (lc_db){.driver = &lc_sqlite_driver,
                     .env = env,
                     .catalogue = catalogue,
                     .commit_us_max = LC_WRITE_US_PER_COMMIT_MAX};
    lc_arena_init(&db->db.scratch, &env->heap, LOCI_MEM_ENGINE);
    lc_arena_init(&db->db.tx_memory, &env->heap, LOCI_MEM_ENGINE);
    db->read_deadline_us = INT64_MAX;
    db->busy_deadline_us = lc_clock_monotonic_us() + OPEN_BUSY_MS * 1000;
    lc_map_init(&db->statements, &env->heap, LOCI_MEM_ENGINE);
    lc_buf_init(&db->scratch, &env->heap, LOCI_MEM_ENGINE, LC_ARGS_BYTES_MAX);
    *out = db;
    return LOCI_OK;
}

static loci_status read_pragma(lc_sqlite *db, const char *text, int64_t *out, loci_error *err)
{
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(db->handle, text, -1, &statement, NULL);

    if (code == SQLITE_OK)
        code = sqlite3_step(statement);
    if (code == SQLITE_ROW)
        *out = sqlite3_column_int64(statement, 0);
    (void)sqlite3_finalize(statement); /* Repeats the error of step. */
    return code == SQLITE_ROW ? LOCI_OK : lc_sqlite_fail(db, code, err);
}

/* Marks an empty file as loci's and sets WAL mode; refuses files of other programs. */
static loci_status claim_file(lc_sqlite *db, const char *store, loci_error *err)
{
    int64_t application = 0, schema = 0;
    /* In this order: another process may be claiming and filling the file between the two. */
    loci_status status = read_pragma(db, "pragma schema_version", &schema, err);

    if (status == LOCI_OK)
        status = read_pragma(db, "pragma application_id", &application, err);
    if (status == LOCI_ECORRUPT)
        return lc_fail(err, LOCI_ECORRUPT,
                       "%s is not a loci store (not an SQLite database), or it is damaged", store);
    if (status != LOCI_OK)
        return status;
    if (application == APPLICATION_ID)
        return LOCI_OK;
    if (application != 0 || schema != 0)
        return lc_fail(err, LOCI_EUNSUPPORTED,
                       "%s is an SQLite database of another program, not a loci store; choose "
                       "another file",
                       store);
    /* 4096: restore relies on it. Auto-vacuum must be chosen before the first table. */
    return lc_sqlite_run(db,
                         "pragma page_size = 4096; pragma journal_mode = wal;"
                         "pragma application_id = 1819239273;",
                         err);
}

_Static_assert(APPLICATION_ID == 1819239273, "the pragma above says the same");

/* SQLite does not call the busy handler for everything it does here: changing the journal mode, or
 * recovering the WAL, while another process opens or closes the same file. */
static loci_status claim_patiently(lc_sqlite *db, const char *store, loci_error *err)
{
    loci_status status = claim_file(db, store, err);

    while (status == LOCI_EDEADLINE && wait_while_busy(db, 0) != 0)
        status = claim_file(db, store, err);
    return status;
}

/* ---- Read-only files ------------------------------------------------------------------------- */

/* A file in WAL mode is shared through `-shm`, which a reader must be able to create or to lock. As
 * long as a program writes to a store there is a `-wal`. Without one, the file is immutable for
 * SQLite, and no files are left beside it that its owner could not write later. With one in a
 * directory that can be written, the store is shared as always. With one that was left behind in a
 * directory that cannot, SQLite keeps the index of it in memory, as it does in exclusive mode. */

#define URI_BYTES (3 * PATH_BYTES_MAX + 64)

/* "file:", the path with the special characters of URIs escaped, and `query`. */
static void write_uri(const char *path, const char *query, char out[URI_BYTES])
{
    size_t len = 0;

    memcpy(out, "file:", 5);
    for (len = 5; *path != '\0'; path++) {
        if (*path == '%' || *path == '?' || *path == '#')
            len += (size_t)snprintf(out + len, URI_BYTES - len, "%%%02x", (unsigned)*path);
        else
            out[len++] = *path;
    }
    (void)snprintf(out + len, URI_BYTES - len, "%s", query); /* Room was made for it. */
}

static bool has_wal(const char *store)
{
    char path[PATH_BYTES_MAX + 8];
    struct stat info;

    (void)snprintf(path, sizeof path, "%s-wal", store); /* Fits: see prepare_file(). */
    return stat(path, &info) == 0;
}

static int open_read_only(lc_sqlite *db, const char *store)
{
    const int flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE |
                      SQLITE_OPEN_URI;
    bool is_shared = is_directory_writable(store), is_logged = has_wal(store);
    char uri[URI_BYTES];
    int code;

    write_uri(store, is_logged ? "" : "?immutable=1", uri);
    code = sqlite3_open_v2(uri, &db->handle, flags,
                           is_logged && !is_shared ? "unix-none" : lc_sqlite_vfs_name());
    if (code == SQLITE_OK && is_logged && !is_shared)
        code = sqlite3_exec(db->handle, "pragma locking_mode = exclusive", NULL, NULL, NULL);
    return code;
}

/* Notes which file was opened. A connection that an engine adds must be to the file of its first
 * one: with the `-wal` of that store beside it, even a file that is no database would be taken for
 * it, and when that connection is closed, the log would be written into the wrong file. */
static loci_status check_file(lc_sqlite *db, const lc_db_target *target, loci_error *err)
{
    struct stat info;

    if (stat(target->store, &info) != 0)
        return target->file.inode != 0 ? fail_moved(err) : explain_path(target->store, errno, err);
    db->db.file = (lc_file_id){.device = info.st_dev, .inode = info.st_ino};
    if (target->file.inode != 0 &&
        (target->file.device != db->db.file.device || target->file.inode != db->db.file.inode))
        return fail_moved(err);
    return LOCI_OK;
}

loci_status lc_sqlite_open(lc_env *env, const lc_catalogue *catalogue, const lc_db_target *target,
                           lc_db **out, loci_error *err)
{
    const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE;
    bool is_read_only = false;
    lc_sqlite *db = NULL;
    loci_status status;
    int code;

    status = prepare_file(target->store, target->is_created, &is_read_only, err);
    if (status != LOCI_OK)
        return status;
    status = new_connection(env, catalogue, &db, err);
    if (status != LOCI_OK)
        return status;

    db->db.is_read_only = is_read_only;
    code = is_read_only ? open_read_only(db, target->store)
                        : sqlite3_open_v2(target->store, &db->handle, flags, lc_sqlite_vfs_name());
    if (code != SQLITE_OK) {
        status = lc_sqlite_fail(db, code, err);
        goto out;
    }
    status = check_file(db, target, err);
    if (status == LOCI_OK)
        status = set_up(db, err);
    if (status == LOCI_OK)
        status = claim_patiently(db, target->store, err);
    if (status == LOCI_OK) {
        if (!is_read_only)
            lc_sqlite_find_state(db);
        *out = &db->db;
    }
out:
    if (status != LOCI_OK)
        lc_sqlite_close(&db->db);
    return status;
}

loci_status lc_sqlite_open_scratch(lc_env *env, const lc_catalogue *catalogue, lc_db **out,
                                   loci_error *err)
{
    lc_sqlite *db = NULL;
    loci_status status = new_connection(env, catalogue, &db, err);
    int code;

    if (status != LOCI_OK)
        return status;
    /* No name: SQLite unlinks the file as soon as it has opened it, readable by its owner only. It
     * is made when the cache of the connection is full. Deleted rows need not be overwritten. */
    code = sqlite3_open_v2("", &db->handle,
                           SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL);
    status = code == SQLITE_OK ? set_up(db, err) : lc_sqlite_fail(db, code, err);
    if (status == LOCI_OK)
        status = lc_sqlite_run(db, "pragma secure_delete = off", err);
    if (status == LOCI_OK)
        *out = &db->db;
    else
        lc_sqlite_close(&db->db);
    return status;
}

void lc_sqlite_close(lc_db *base)
{
    lc_sqlite *db = (lc_sqlite *)base;
    sqlite3_stmt *left;

    lc_sqlite_drop_statements(db);
    /* Made for one use by a body that a bug has stopped. One that is left would keep the
     * connection, and the lock of its transaction, alive. */
    while (db->handle != NULL && (left = sqlite3_next_stmt(db->handle, NULL)) != NULL)
        (void)sqlite3_finalize(left);
    lc_map_clear(&db->statements);
    lc_buf_clear(&db->scratch);
    lc_arena_clear(&db->db.scratch);
    lc_arena_clear(&db->db.tx_memory);
    (void)sqlite3_close_v2(db->handle); /* Every statement is finalised, so it closes now. */
    lc_sqlite_free_wal_buffer(db);
    lc_heap_free(&db->db.env->heap, db, sizeof *db, LOCI_MEM_ENGINE);
}

loci_status lc_sqlite_set_durability(lc_db *base, bool is_relaxed, loci_error *err)
{
    lc_sqlite *db = (lc_sqlite *)base;

    db->is_relaxed = is_relaxed;
    return lc_sqlite_run(
        db, is_relaxed ? "pragma synchronous = normal" : "pragma synchronous = full", err);
}

static loci_status host_now_us(lc_tx *tx, int64_t *out, loci_error *err)
{
    (void)tx;
    (void)err;
    /* Every process on this file runs on this machine. */
    *out = lc_clock_system_us(NULL);
    return LOCI_OK;
}

static uint64_t change_mark(lc_db *base)
{
    int64_t mark = 0;

    /* A failure leaves 0, which looks like a change: the reader's next query then reports it. */
    if (lc_sqlite_check_place((lc_sqlite *)base, NULL) == LOCI_OK)
        (void)read_pragma((lc_sqlite *)base, "pragma data_version", &mark, NULL);
    return (uint64_t)mark;
}

static bool is_broken(const lc_db *base)
{
    return ((const lc_sqlite *)base)->is_broken;
}

static void interrupt(lc_db *base)
{
    sqlite3_interrupt(((lc_sqlite *)base)->handle);
}

static int64_t memory_bytes(void)
{
    return sqlite3_memory_used();
}

static void release_memory(lc_db *base)
{
    (void)sqlite3_db_release_memory(((lc_sqlite *)base)->handle); /* Never fails. */
}

static loci_status has_table(lc_tx *tx, const char *name, bool *out, loci_error *err)
{
    static const lc_sql find = {"select 1 from sqlite_schema where type = 'table' and name = $1",
                                "t", "i"};
    lc_rows rows = {0};
    loci_status status = lc_tx_find(tx, &find, (lc_arg[]){LC_T(loci_str_of(name))}, &rows, out,
                                    err);

    lc_rows_end(&rows);
    return status;
}

/* ---- The state number ------------------------------------------------------------------------ */

/* In WAL mode every connection maps the same index file. It begins with a header of 48 bytes,
 * twice, which a committing connection writes last, the second copy first. A snapshot is what the
 * header says, so the header identifies the state, and reading it takes neither a lock nor a system
 * call. It is laid out as sqlite.org/walformat.html says, in the byte order of the machine:
 *
 *     version | 0 | commits | flags, page size | frames, pages | checksums | salts | checksums
 *
 * SQLite maps the pages for as long as the connection is open. They are obtained through SQLite's
 * own file handle: closing another descriptor of the file would drop every lock of this process. */

#define HEADER_WORDS 12
#define HEADER_VERSION 3007000
#define REGION_BYTES 32768 /* Unit in which SQLite maps the index file. */

enum { WORD_VERSION = 0, WORD_COMMITS = 2, WORD_FLAGS = 3 };

void lc_sqlite_find_state(lc_sqlite *db)
{
    sqlite3_file *file = NULL;
    void volatile *region = NULL;

    if (sqlite3_file_control(db->handle, "main", SQLITE_FCNTL_FILE_POINTER, &file) != SQLITE_OK ||
        file == NULL || file->pMethods == NULL || file->pMethods->iVersion < 2 ||
        file->pMethods->xShmMap(file, 0, REGION_BYTES, 0, &region) != SQLITE_OK)
        region = NULL;
    db->state = region;
}

static bool is_header(const uint32_t words[HEADER_WORDS])
{
    uint8_t flags[sizeof words[0]]; /* The first says whether it was written at all. */

    memcpy(flags, &words[WORD_FLAGS], sizeof flags);
    return words[WORD_VERSION] == HEADER_VERSION && flags[0] == 1;
}

/* True if both copies are equal, so no connection was writing it. */
static bool read_header(const volatile uint32_t *from, uint32_t out[HEADER_WORDS])
{
    uint32_t differences = 0;

    for (int i = 0; i < HEADER_WORDS; i++)
        out[i] = __atomic_load_n(&from[i], __ATOMIC_ACQUIRE);
    for (int i = 0; i < HEADER_WORDS; i++)
        differences |= out[i] ^ __atomic_load_n(&from[HEADER_WORDS + i], __ATOMIC_ACQUIRE);
    return differences == 0;
}

/* The number of commits in the upper half, a hash of the rest of the header in the lower half: two
 * logs may have seen the same number of commits. */
uint64_t lc_sqlite_state(const lc_db *base)
{
    const volatile uint32_t *from = ((const lc_sqlite *)base)->state;
    uint32_t words[HEADER_WORDS];
    uint64_t rest = 0;

    if (from == NULL || !read_header(from, words) || !is_header(words))
        return 0;
    for (int i = WORD_FLAGS; i < HEADER_WORDS; i++)
        rest = (rest ^ words[i]) * UINT64_C(0x9E3779B97F4A7C15);
    return (uint64_t)words[WORD_COMMITS] << 32 | rest >> 32;
}

/* ---- Growth ---------------------------------------------------------------------------------- */

/* One connection writes at a time and a new row gets a higher rowid than all others, so the rowids
 * of events are in the order of the commits and need no column of their own. VACUUM keeps them,
 * because the table has an index. The highest row of the log must not be deleted before another has
 * been inserted: its number would be used again. "not indexed" still finds rows by rowid; grouping
 * by the key's index would read the whole log. */
const lc_grown_sql lc_sqlite_grown_sql = {
    .place = {"select cast(coalesce(max(rowid), 0) as text) from events", "", "t"},
    .users = {"select tenant_id, user_id, min(seq), max(seq) from events not indexed"
              " where rowid > cast($1 as integer) and seq > 0 group by tenant_id, user_id limit $2",
              "ti", "ttii"}};

/* ---- The driver ------------------------------------------------------------------------------ */

static const lc_db_upkeep upkeep = {
    .open_scratch = lc_sqlite_open_scratch,
    .run_script = lc_sqlite_run_script,
    .has_table = has_table,
    .delete_some = lc_sqlite_delete_some,
    .backup = lc_sqlite_backup,
    .restore = lc_sqlite_restore,
    .check = lc_sqlite_check,
    .path = lc_sqlite_path,
    .size = lc_sqlite_size,
    .scrub = lc_sqlite_scrub,
};

const lc_db_driver lc_sqlite_driver = {
    .name = "sqlite",
    .dialect = LC_DIALECT_SQLITE,
    .slice_events = 10000,
    .upkeep = &upkeep,
    .grown = &lc_sqlite_grown_sql,
    .open = lc_sqlite_open,
    .close = lc_sqlite_close,
    .set_durability = lc_sqlite_set_durability,
    .exec = lc_sqlite_exec,
    .query = lc_sqlite_query,
    .next = lc_sqlite_next,
    .end = lc_sqlite_end,
    .read = lc_sqlite_read,
    .write = lc_sqlite_write,
    .maintain = maintain,
    .is_broken = is_broken,
    .now_us = host_now_us,
    .change_mark = change_mark,
    .state = lc_sqlite_state,
    .interrupt = interrupt,
    .memory_bytes = memory_bytes,
    .release_memory = release_memory,
};
