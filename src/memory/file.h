/* file.h - files: documents with a path below /memories, for Anthropic's memory tool.
 *
 *     create --str_replace, insert, rename--> … --delete--> its versions stay
 *
 * A file has an id that survives renames. Directories are implied by paths: they exist while a file
 * is below them. Every change is one event and one version. A version has the edit, or the whole
 * content if that is shorter or if the last whole version was LC_FILE_WHOLE_EVERY versions ago. So
 * each change of a 100 KB file adds only the size of the edit to the log, and few rows are read to
 * rebuild any version.
 *
 * A file belongs to the persona that created it, or to all personas. A persona sees and can change
 * its own files and the shared ones. Its own file hides a shared file with the same path.
 */
#ifndef LC_MEMORY_FILE_H
#define LC_MEMORY_FILE_H

#include "base/arena.h"
#include "base/str.h"
#include "memory/file_text.h"
#include "recall/forget.h"
#include "store/row.h"

#define LC_FILE_OPERATIONS "create|str_replace|insert|rename|delete"
#define LC_FILE_WHOLE_EVERY 64
#define LC_FILE_SHA256_BYTES 64 /* Hexadecimal digits. */

extern const lc_table lc_files_table;
extern const lc_table lc_file_versions_table;
extern const lc_event_type lc_file_changed_event;
extern const lc_event_type lc_file_forgotten_event;

typedef struct lc_file {
    loci_str id; /* file_… */
    int64_t seq; /* Of the event that created it. */
    loci_str path;
    int64_t size; /* Bytes. */
    loci_str sha256;
    int64_t version;       /* From 1. */
    int64_t whole_version; /* The last one that has the whole content. */
    loci_str persona_id;
    int64_t created_at;
    int64_t updated_at;
    int64_t deleted_at; /* 0 = it is not deleted. */
    loci_str content;   /* "" if it is deleted. */
} lc_file;

extern const lc_row_type lc_file_row;      /* lc_file */
extern const lc_row_type lc_file_info_row; /* The same without the content. */

/* The order of LC_FILE_OPERATIONS. */
typedef enum lc_file_operation {
    LC_FILE_CREATE,
    LC_FILE_STR_REPLACE,
    LC_FILE_INSERT,
    LC_FILE_RENAME,
    LC_FILE_DELETE
} lc_file_operation;

typedef struct lc_file_version {
    loci_str id;     /* Of the file. */
    int64_t seq;     /* Of the event. */
    int64_t version; /* The file's, after it. */
    lc_file_operation operation;
    loci_str path; /* After it. */
    int64_t size;
    loci_str sha256;
    loci_str persona_id; /* Of the caller; "" = none. */
    loci_str token_id;   /* Of the caller; "" = none. */
    int64_t at;
    int64_t file_seq; /* lc_file.seq */
    bool is_whole;    /* It has the content; otherwise it has the edit of the one before. */
    lc_file_edit edit;
    loci_str content;
} lc_file_version;

extern const lc_row_type lc_file_version_row;      /* lc_file_version */
extern const lc_row_type lc_file_version_info_row; /* The same without edit and content. */

/* One call: its transaction, memory for its results, and the caller as versions record it. */
typedef struct lc_file_call {
    lc_tx *tx;
    lc_arena *arena;
    loci_str persona_id, token_id; /* None = none. */
} lc_file_call;

/* ---- Reading --------------------------------------------------------------------------------- */

/* The file at `path`, with its content. */
loci_status lc_file_find(const lc_file_call *call, loci_str path, lc_file *out, bool *found,
                         loci_error *err);
/* LOCI_ENOTFOUND if nothing is there, LOCI_EINVAL if it is a directory. */
loci_status lc_file_load(const lc_file_call *call, loci_str path, lc_file *out, loci_error *err);
/* By its id, also if it was deleted; LOCI_ENOTFOUND. */
loci_status lc_file_load_id(const lc_file_call *call, loci_str id, lc_file *out, loci_error *err);
/* Sets the members of `file` to those of an earlier version, its content included. LOCI_ENOTFOUND
 * if there is none, or if that version deleted the file. */
loci_status lc_file_load_version(const lc_file_call *call, int64_t version, lc_file *file,
                                 loci_error *err);
/* Appends the listing of the directory at `path` (lc_file_put_directory()); LOCI_ENOTFOUND. */
loci_status lc_file_view_directory(const lc_file_call *call, loci_str path, lc_buf *out,
                                   loci_error *err);

typedef loci_status lc_file_visit(void *ctx, const lc_file *file, loci_error *err);
typedef struct lc_file_page {
    loci_str path;  /* The file there, and those below it. */
    loci_str after; /* In the order of paths, behind this one; "" = from the first. */
    int64_t limit;
} lc_file_page;
/* Without contents. */
loci_status lc_file_each(const lc_file_call *call, const lc_file_page *page, lc_file_visit *visit,
                         void *ctx, loci_error *err);

/* Files that are or last were at or below a path, or one by its id; none = not given. */
typedef struct lc_file_target {
    loci_str path, id;
} lc_file_target;

typedef loci_status lc_file_version_visit(void *ctx, const lc_file_version *version,
                                          loci_error *err);
typedef struct lc_file_version_page {
    lc_file_target of;
    int64_t before_seq; /* Newest first, from here on. */
    int64_t limit;
} lc_file_version_page;
/* Without contents. */
loci_status lc_file_version_each(const lc_file_call *call, const lc_file_version_page *page,
                                 lc_file_version_visit *visit, void *ctx, loci_error *err);

/* ---- Writing --------------------------------------------------------------------------------- */

/* LOCI_ECONFLICT unless the file has this hash; none = any. */
loci_status lc_file_expect(const lc_file *file, loci_str sha256, loci_error *err);

/* LOCI_ECONFLICT if something is at `path`, or a file is above it. */
loci_status lc_file_create(const lc_file_call *call, loci_str path, loci_str content, lc_file *out,
                           loci_error *err);
/* Sets the members of `file`. An edit that changes nothing adds no version. */
loci_status lc_file_change(const lc_file_call *call, lc_file_operation operation,
                           const lc_file_edit *edit, lc_file *file, loci_error *err);

/* A file, or a directory with its content; LOCI_ENOTFOUND. */
typedef struct lc_file_move {
    loci_str old_path;
    loci_str new_path;        /* None: it is deleted. */
    loci_str expected_sha256; /* Of a file; a directory has none. None = any. */
} lc_file_move;
/* `out_ids`: of the files that were moved or deleted. */
loci_status lc_file_delete(const lc_file_call *call, const lc_file_move *move, lc_str_list *out_ids,
                           loci_error *err);
loci_status lc_file_rename(const lc_file_call *call, const lc_file_move *move, lc_str_list *out_ids,
                           loci_error *err);

/* ---- Forgetting (memory_forget.c) ------------------------------------------------------------ */

/* Adds the files and the events of all their versions; LOCI_ENOTFOUND if there are none. */
loci_status lc_file_decide_forget(const lc_file_call *call, const lc_file_target *target,
                                  lc_forgetting *f, lc_str_list *out_ids, loci_error *err);
loci_status lc_file_commit_forget(lc_tx *tx, lc_str_list ids, loci_error *err);
/* Calls `visit` for each file that the target means, deleted ones included; without contents. */
loci_status lc_file_each_of(const lc_file_call *call, const lc_file_target *target,
                            lc_file_visit *visit, void *ctx, loci_error *err);

#endif /* LC_MEMORY_FILE_H */
