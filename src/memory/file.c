/* file.c - see file.h.
 *
 * There is one kind of event: a version. It holds the path, size and hash of the file after it, and
 * the whole content or an edit of the content before. An edit needs the rows before it, which
 * memory.changed avoids; here that is safe, because all versions of a file are forgotten together.
 */
#include "memory/file.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "base/error.h"
#include "base/limits.h"
#include "store/event.h"
#include "store/token.h"

/* ---- Tables ---------------------------------------------------------------------------------- */

/* The content comes last: lists, which do not read it, then do not read its pages. */
static const lc_column file_columns[] = {
    LC_COLUMN("tenant_id", 't'),
    LC_COLUMN("user_id", 't'),
    LC_INTEGER_COLUMN(lc_file, seq, "seq", 0),
    LC_STRING_COLUMN(lc_file, id, "id", LC_COL_REQUIRED, .help = "Id of the file (file_...)"),
    LC_STRING_COLUMN(lc_file, path, "path", LC_COL_REQUIRED, .absent = "",
                     .help = "Path of the file"),
    LC_INTEGER_COLUMN(lc_file, size, "size", LC_COL_REQUIRED, .help = "Size in bytes"),
    LC_STRING_COLUMN(lc_file, sha256, "sha256", LC_COL_REQUIRED, .absent = "",
                     .help = "SHA-256 of the content, in hexadecimal"),
    LC_INTEGER_COLUMN(lc_file, version, "version", LC_COL_REQUIRED,
                      .help = "Number of its current version, from 1"),
    LC_INTEGER_COLUMN(lc_file, whole_version, "whole_version", 0),
    LC_STRING_COLUMN(lc_file, persona_id, "persona_id", LC_COL_SHOWN, .absent = "",
                     .help = "Persona it belongs to; absent if it belongs to all"),
    LC_TIME_COLUMN(lc_file, created_at, "created_at", LC_COL_REQUIRED,
                   .help = "Time at which it was created"),
    LC_TIME_COLUMN(lc_file, updated_at, "updated_at", LC_COL_REQUIRED,
                   .help = "Time of its current version"),
    LC_TIME_COLUMN(lc_file, deleted_at, "deleted_at", LC_COL_NULL | LC_COL_SHOWN,
                   .help = "Time at which it was deleted; absent if it was not"),
    LC_STRING_COLUMN(lc_file, content, "content", LC_COL_PART, .absent = ""),
    {0},
};

const lc_row_type lc_file_row = {file_columns, 0, sizeof(lc_file)};
const lc_row_type lc_file_info_row = {file_columns, LC_COL_PART, sizeof(lc_file)};

static const lc_index file_indexes[] = {
    {"path", "tenant_id, user_id, persona_id, path", "deleted_at is null", true},
    {NULL, NULL, NULL, false},
};

static const lc_sql forget_files_sql = {"delete from files where tenant_id = $1 and user_id = $2",
                                        "tt", NULL};

const lc_table lc_files_table = {
    .name = "files",
    .table_class = LC_TABLE_PROJECTION,
    .columns = file_columns,
    .key = "tenant_id, user_id, seq",
    .forget = &forget_files_sql,
    .indexes = file_indexes,
};

static const lc_column version_columns[] = {
    LC_COLUMN("tenant_id", 't'),
    LC_COLUMN("user_id", 't'),
    LC_INTEGER_COLUMN(lc_file_version, seq, "seq", LC_COL_EVENT),
    LC_STRING_COLUMN(lc_file_version, id, "id", LC_COL_REFS | LC_COL_CODED | LC_COL_REQUIRED,
                     .help = "Id of the file (file_...)"),
    LC_INTEGER_COLUMN(lc_file_version, version, "version", LC_COL_PAYLOAD | LC_COL_REQUIRED,
                      .help = "Number of the version, from 1"),
    LC_ENUM_COLUMN(lc_file_version, operation, "operation",
                   LC_COL_PAYLOAD | LC_COL_CODED | LC_COL_REQUIRED, .choices = LC_FILE_OPERATIONS,
                   .help = "Operation that made it"),
    LC_STRING_COLUMN(lc_file_version, path, "path", LC_COL_PAYLOAD | LC_COL_REQUIRED, .absent = "",
                     .help = "Path of the file after it"),
    LC_INTEGER_COLUMN(lc_file_version, size, "size", LC_COL_PAYLOAD | LC_COL_REQUIRED,
                      .help = "Size of the file after it, in bytes"),
    LC_STRING_COLUMN(lc_file_version, sha256, "sha256", LC_COL_PAYLOAD | LC_COL_REQUIRED,
                     .absent = "", .help = "SHA-256 of the content after it; empty if deleted"),
    LC_STRING_COLUMN(lc_file_version, persona_id, "persona_id", LC_COL_PAYLOAD | LC_COL_SHOWN,
                     .absent = "", .help = "Persona of the caller; absent if it named none"),
    LC_STRING_COLUMN(lc_file_version, token_id, "token_id", LC_COL_PAYLOAD | LC_COL_SHOWN,
                     .absent = "", .help = "Token of the caller; absent if it had none"),
    LC_TIME_COLUMN(lc_file_version, at, "at", LC_COL_EVENT | LC_COL_REQUIRED,
                   .help = "Time of the version"),
    LC_INTEGER_COLUMN(lc_file_version, file_seq, "file_seq", 0),
    LC_BOOLEAN_COLUMN(lc_file_version, is_whole, "whole", LC_COL_PAYLOAD),
    LC_INTEGER_COLUMN(lc_file_version, edit.at, "edit_at", LC_COL_PAYLOAD | LC_COL_PART,
                      .json = "offset"),
    LC_INTEGER_COLUMN(lc_file_version, edit.removed, "removed", LC_COL_PAYLOAD | LC_COL_PART),
    LC_STRING_COLUMN(lc_file_version, edit.inserted, "inserted", LC_COL_PAYLOAD | LC_COL_PART,
                     .absent = ""),
    LC_STRING_COLUMN(lc_file_version, content, "content", LC_COL_PAYLOAD | LC_COL_PART,
                     .absent = ""),
    {0},
};

const lc_row_type lc_file_version_row = {version_columns, 0, sizeof(lc_file_version)};
const lc_row_type lc_file_version_info_row = {version_columns, LC_COL_PART,
                                              sizeof(lc_file_version)};

static const lc_index version_indexes[] = {
    {"file", "tenant_id, user_id, file_seq, version", NULL, true},
    {NULL, NULL, NULL, false},
};

static const lc_sql forget_versions_sql = {
    "delete from file_versions where tenant_id = $1 and user_id = $2", "tt", NULL};

const lc_table lc_file_versions_table = {
    .name = "file_versions",
    .table_class = LC_TABLE_PROJECTION,
    .columns = version_columns,
    .key = "tenant_id, user_id, seq",
    .forget = &forget_versions_sql,
    .indexes = version_indexes,
};

/* ---- Applying -------------------------------------------------------------------------------- */

#define OF_FILE " where tenant_id = $1 and user_id = $2 and seq = $3"

static const lc_sql insert_file_sql = {
    "insert into files (tenant_id, user_id, {row}) values ($1, $2, {values})", "tt", NULL,
    &lc_file_row};
static const lc_sql insert_version_sql = {
    "insert into file_versions (tenant_id, user_id, {row}) values ($1, $2, {values})", "tt", NULL,
    &lc_file_version_row};
static const lc_sql content_sql = {"select content, whole_version from files" OF_FILE, "tti", "ti"};
static const lc_sql edit_sql = {"update files set version = $4, updated_at = $5, size = $6,"
                                " sha256 = $7, content = $8, whole_version = $9" OF_FILE,
                                "ttiiiitti", NULL};
static const lc_sql rename_sql = {
    "update files set version = $4, updated_at = $5, path = $6" OF_FILE, "ttiiit", NULL};
static const lc_sql delete_sql = {"update files set version = $4, updated_at = $5, deleted_at = $5,"
                                  " size = 0, sha256 = '', content = ''" OF_FILE,
                                  "ttiii", NULL};

static loci_status apply_create(lc_tx *tx, const lc_event *event, const lc_file_version *version,
                                loci_error *err)
{
    lc_file file = {.id = version->id,
                    .seq = event->seq,
                    .path = version->path,
                    .size = version->size,
                    .sha256 = version->sha256,
                    .version = version->version,
                    .whole_version = version->version,
                    .persona_id = version->persona_id,
                    .created_at = event->recorded_at,
                    .updated_at = event->recorded_at,
                    .content = version->content};

    return version->file_seq == event->seq ? lc_row_insert(tx, event, &insert_file_sql, &file, err)
                                           : lc_event_fail(event, err);
}

/* The content after the version and the last whole version. The content is in the scratch arena or
 * borrowed from the version. */
static loci_status make_content(lc_tx *tx, const lc_event *event, const lc_file_version *version,
                                lc_file *out, loci_error *err)
{
    const lc_arg args[] = {LC_T(event->tenant_id), LC_T(event->user_id), LC_I(version->file_seq)};
    lc_rows rows;
    bool found;
    loci_status status;

    out->content = version->content;
    out->whole_version = version->version;
    if (version->is_whole)
        return LOCI_OK;
    status = lc_tx_find(tx, &content_sql, args, &rows, &found, err);
    if (status == LOCI_OK && (!found || !lc_file_edit_fits(lc_rows_str(&rows, 0), &version->edit)))
        status = lc_event_fail(event, err);
    if (status == LOCI_OK) {
        out->whole_version = lc_rows_i64(&rows, 1);
        out->content = lc_file_edit_apply(&tx->db->scratch, lc_rows_str(&rows, 0), &version->edit);
        if (out->content.ptr == NULL)
            status = lc_fail_memory(err);
    }
    lc_rows_end(&rows);
    return status;
}

static loci_status apply_version(lc_tx *tx, const lc_event *event, const lc_file_version *version,
                                 loci_error *err)
{
    lc_arg args[9] = {LC_T(event->tenant_id),   LC_T(event->user_id),
                      LC_I(version->file_seq),  LC_I(version->version),
                      LC_I(event->recorded_at), LC_T_OR_EMPTY(version->path)};
    lc_file file;
    loci_status status;

    switch (version->operation) {
    case LC_FILE_CREATE:
        return apply_create(tx, event, version, err);
    case LC_FILE_RENAME:
        return lc_tx_exec(tx, &rename_sql, args, err);
    case LC_FILE_DELETE:
        return lc_tx_exec(tx, &delete_sql, args, err);
    default:
        status = make_content(tx, event, version, &file, err);
        if (status != LOCI_OK)
            return status;
        args[5] = LC_I(version->size);
        args[6] = LC_T_OR_EMPTY(version->sha256);
        args[7] = LC_T_OR_EMPTY(file.content);
        args[8] = LC_I(file.whole_version);
        return lc_tx_exec(tx, &edit_sql, args, err);
    }
}

static loci_status apply_changed(lc_tx *tx, const lc_event *event, loci_error *err)
{
    lc_arena *arena = &tx->db->scratch;
    lc_arena_mark mark = lc_arena_get_mark(arena);
    lc_file_version version = {0};
    lc_id_parts parts;
    loci_status status = lc_row_decode(&lc_file_version_row, event, arena, &version, err);

    if (status == LOCI_OK && !lc_id_parse(version.id, "file", &parts))
        status = lc_event_fail(event, err);
    if (status == LOCI_OK && !event->is_erased) {
        version.file_seq = parts.seq;
        status = apply_version(tx, event, &version, err);
        if (status == LOCI_OK)
            status = lc_row_insert(tx, event, &insert_version_sql, &version, err);
    }
    lc_arena_rewind(arena, mark);
    return status;
}

const lc_event_type lc_file_changed_event = {
    .name = "file.changed", .version = 1, .apply = apply_changed};

/* ---- Reading --------------------------------------------------------------------------------- */

#define ALLOWED                                                                                    \
    " from files f where f.tenant_id = $1 and f.user_id = $2 and f.persona_id in ('', $3)"
/* Without those that a file of the persona hides. */
#define VISIBLE                                                                                    \
    ALLOWED " and f.deleted_at is null and not exists (select 1 from files o"                      \
            " where o.tenant_id = $1 and o.user_id = $2 and o.persona_id = $3"                     \
            " and o.path = f.path and o.deleted_at is null and o.seq <> f.seq)"

#define WHO(call)                                                                                  \
    LC_T((call)->tx->tenant_id), LC_T((call)->tx->user_id), LC_T_OR_EMPTY((call)->persona_id)

static const lc_sql find_sql = {"select {f.row}" VISIBLE " and f.path = $4", "tttt", "",
                                &lc_file_row};
static const lc_sql below_sql = {"select f.seq" VISIBLE " and f.path > $4 and f.path < $5 limit 1",
                                 "ttttt", "i"};

/* All paths below a directory are between these two. */
typedef struct path_range {
    loci_str from, to;
} path_range;

static loci_status make_range(lc_arena *arena, loci_str path, path_range *out, loci_error *err)
{
    char *text = lc_arena_alloc(arena, 2 * (path.len + 1));

    if (text == NULL)
        return lc_fail_memory(err);
    memcpy(text, path.ptr, path.len);
    text[path.len] = '/';
    memcpy(text + path.len + 1, path.ptr, path.len);
    text[2 * path.len + 1] = '/' + 1;
    out->from = (loci_str){text, path.len + 1};
    out->to = (loci_str){text + path.len + 1, path.len + 1};
    return LOCI_OK;
}

loci_status lc_file_find(const lc_file_call *call, loci_str path, lc_file *out, bool *found,
                         loci_error *err)
{
    const lc_arg args[] = {WHO(call), LC_T(path)};

    return lc_row_find(call->tx, &(lc_query){&find_sql, args}, call->arena, out, found, err);
}

static loci_status is_directory(const lc_file_call *call, loci_str path, bool *out, loci_error *err)
{
    path_range below = {0};
    int64_t seq = 0;
    loci_status status = make_range(call->arena, path, &below, err);

    if (status == LOCI_OK)
        status = lc_tx_find_numbers(call->tx, &below_sql,
                                    (lc_arg[]){WHO(call), LC_T(below.from), LC_T(below.to)}, &seq,
                                    err);
    *out = seq > 0 || lc_str_is(path, LC_FILE_ROOT);
    return status;
}

loci_status lc_file_load(const lc_file_call *call, loci_str path, lc_file *out, loci_error *err)
{
    bool found, is_there = false;
    loci_status status = lc_file_find(call, path, out, &found, err);

    if (status != LOCI_OK || found)
        return status;
    status = is_directory(call, path, &is_there, err);
    if (status == LOCI_OK)
        status = is_there
                     ? lc_fail(err, LOCI_EINVAL, "The path %.*s is not a file.", LC_STR_ARG(path))
                     : lc_fail(err, LOCI_ENOTFOUND,
                               "The path %.*s does not exist. Please provide a valid path.",
                               LC_STR_ARG(path));
    return status;
}

static const lc_sql load_sql = {"select {f.row}" ALLOWED " and f.seq = $4", "ttti", "",
                                &lc_file_row};

loci_status lc_file_load_id(const lc_file_call *call, loci_str id, lc_file *out, loci_error *err)
{
    lc_id_parts parts = {0};
    bool found = false;
    loci_status status = LOCI_OK;

    if (lc_id_parse(id, "file", &parts))
        status = lc_row_find(call->tx,
                             &(lc_query){&load_sql, (lc_arg[]){WHO(call), LC_I(parts.seq)}},
                             call->arena, out, &found, err);
    if (status == LOCI_OK && (!found || !lc_str_eq(out->id, id)))
        status = lc_fail(err, LOCI_ENOTFOUND, "no file %.*s", LC_STR_ARG(id));
    return status;
}

/* ---- Versions -------------------------------------------------------------------------------- */

#define OF_VERSIONS " from file_versions v where v.tenant_id = $1 and v.user_id = $2"

static const lc_sql replay_sql = {
    "select {v.row}" OF_VERSIONS " and v.file_seq = $3 and v.version <= $4 and v.version >="
    " (select max(w.version) from file_versions w where w.tenant_id = $1 and w.user_id = $2"
    " and w.file_seq = $3 and w.version <= $4 and w.whole = 1) order by v.version",
    "ttii", "", &lc_file_version_row};

/* The content is made again from the last version that has it whole. */
static loci_status replay(const lc_file_call *call, int64_t version, lc_arena *scratch,
                          lc_file *file, loci_error *err)
{
    const lc_arg args[] = {LC_T(call->tx->tenant_id), LC_T(call->tx->user_id), LC_I(file->seq),
                           LC_I(version)};
    lc_file_version row = {.operation = LC_FILE_DELETE};
    loci_str content = LC_STR("");
    lc_rows rows;
    loci_status status = lc_tx_query(call->tx, &replay_sql, args, &rows, err);

    while (lc_row_next(&rows, &row, &status, err)) {
        if (row.is_whole)
            content = lc_arena_copy(scratch, row.content);
        else if (lc_file_edit_fits(content, &row.edit))
            content = lc_file_edit_apply(scratch, content, &row.edit);
        else
            status = lc_fail(err, LOCI_ECORRUPT, "%.*s: version %" PRId64 " does not fit",
                             LC_STR_ARG(file->id), row.version);
        if (status == LOCI_OK && content.ptr == NULL)
            status = lc_fail_memory(err);
        file->path = lc_arena_copy(call->arena, row.path);
        file->sha256 = lc_arena_copy(call->arena, row.sha256);
        if (status == LOCI_OK && (file->path.ptr == NULL || file->sha256.ptr == NULL))
            status = lc_fail_memory(err);
    }
    lc_rows_end(&rows);
    if (status != LOCI_OK)
        return status;
    if (row.version != version || row.operation == LC_FILE_DELETE)
        return lc_fail(err, LOCI_ENOTFOUND, "%.*s has no version %" PRId64 " with content",
                       LC_STR_ARG(file->id), version);
    file->version = row.version;
    file->size = row.size;
    file->updated_at = row.at;
    file->deleted_at = 0;
    file->content = lc_arena_copy(call->arena, content);
    return file->content.ptr != NULL ? LOCI_OK : lc_fail_memory(err);
}

loci_status lc_file_load_version(const lc_file_call *call, int64_t version, lc_file *file,
                                 loci_error *err)
{
    lc_arena scratch;
    loci_status status;

    lc_arena_init(&scratch, call->arena->heap, LOCI_MEM_REQUESTS);
    status = replay(call, version, &scratch, file, err);
    lc_arena_clear(&scratch);
    return status;
}

/* ---- Lists ----------------------------------------------------------------------------------- */

#define AT_OR_BELOW " and (f.path = $4 or (f.path > $5 and f.path < $6))"

static const lc_sql each_sql = {"select {f.row}" VISIBLE AT_OR_BELOW
                                " and f.path > $7 order by f.path limit $8",
                                "ttttttti", "", &lc_file_info_row};

loci_status lc_file_each(const lc_file_call *call, const lc_file_page *page, lc_file_visit *visit,
                         void *ctx, loci_error *err)
{
    path_range below = {0};
    lc_file file = {0};
    lc_rows rows;
    loci_status status = make_range(call->arena, page->path, &below, err);

    if (status != LOCI_OK)
        return status;
    status = lc_tx_query(call->tx, &each_sql,
                         (lc_arg[]){WHO(call), LC_T(page->path), LC_T(below.from), LC_T(below.to),
                                    LC_T_OR_EMPTY(page->after), LC_I(page->limit)},
                         &rows, err);
    while (lc_row_next(&rows, &file, &status, err))
        status = visit(ctx, &file, err);
    lc_rows_end(&rows);
    return status;
}

/* $7 is an id, or "" for the files of the path. */
static const lc_sql each_of_sql = {
    "select {f.row}" ALLOWED " and (f.path = $4 or (f.path > $5 and f.path < $6) or f.id = $7)"
    " order by f.seq",
    "ttttttt", "", &lc_file_info_row};
static const lc_sql each_version_sql = {
    "select {v.row}" OF_VERSIONS " and v.seq < $8 and v.file_seq in (select f.seq" ALLOWED
    " and (f.path = $4 or (f.path > $5 and f.path < $6) or f.id = $7))"
    " order by v.seq desc limit $9",
    "tttttttii", "", &lc_file_version_info_row};

#define TARGET_ARGS 9

/* The first seven arguments of the two statements above. */
static loci_status bind_target(const lc_file_call *call, const lc_file_target *target,
                               lc_arg out[TARGET_ARGS], loci_error *err)
{
    path_range below = {LC_STR(""), LC_STR("")};
    loci_status status = target->path.ptr != NULL
                             ? make_range(call->arena, target->path, &below, err)
                             : LOCI_OK;
    const lc_arg args[] = {WHO(call), LC_T_OR_EMPTY(target->path), LC_T(below.from), LC_T(below.to),
                           LC_T_OR_EMPTY(target->id)};

    memcpy(out, args, sizeof args);
    return status;
}

loci_status lc_file_each_of(const lc_file_call *call, const lc_file_target *target,
                            lc_file_visit *visit, void *ctx, loci_error *err)
{
    lc_arg args[TARGET_ARGS];
    lc_file file = {0};
    lc_rows rows;
    loci_status status = bind_target(call, target, args, err);

    if (status != LOCI_OK)
        return status;
    status = lc_tx_query(call->tx, &each_of_sql, args, &rows, err);
    while (lc_row_next(&rows, &file, &status, err))
        status = visit(ctx, &file, err);
    lc_rows_end(&rows);
    return status;
}

loci_status lc_file_version_each(const lc_file_call *call, const lc_file_version_page *page,
                                 lc_file_version_visit *visit, void *ctx, loci_error *err)
{
    lc_arg args[TARGET_ARGS];
    lc_file_version version = {0};
    lc_rows rows;
    loci_status status = bind_target(call, &page->of, args, err);

    if (status != LOCI_OK)
        return status;
    args[7] = LC_I(page->before_seq);
    args[8] = LC_I(page->limit);
    status = lc_tx_query(call->tx, &each_version_sql, args, &rows, err);
    while (lc_row_next(&rows, &version, &status, err))
        status = visit(ctx, &version, err);
    lc_rows_end(&rows);
    return status;
}

/* Files in the arena, at most as many as a user may have. */
typedef struct file_list {
    lc_arena *arena;
    lc_file *items;
    size_t count, room;
} file_list;

static loci_status add_file(void *ctx, const lc_file *file, loci_error *err)
{
    file_list *list = ctx;

    if (list->count == list->room) {
        size_t room = list->room > 0 ? 2 * list->room : 16;
        lc_file *items = lc_arena_zalloc_array(list->arena, room, sizeof *items);

        if (items == NULL)
            return lc_fail_memory(err);
        if (list->count > 0)
            memcpy(items, list->items, list->count * sizeof *items);
        list->items = items;
        list->room = room;
    }
    list->items[list->count] = *file;
    if (!lc_row_keep(&lc_file_info_row, list->arena, &list->items[list->count]))
        return lc_fail_memory(err);
    list->count++;
    return LOCI_OK;
}

/* The file at `path`, else those below it. */
static loci_status list_tree(const lc_file_call *call, loci_str path, file_list *out,
                             loci_error *err)
{
    const lc_file_page page = {path, LC_STR(""), LC_FILES_PER_USER_MAX};
    loci_status status;

    *out = (file_list){.arena = call->arena};
    status = lc_file_each(call, &page, add_file, out, err);
    /* A file sorts before the paths below it, which only another persona can have created. */
    if (status == LOCI_OK && out->count > 0 && lc_str_eq(out->items[0].path, path))
        out->count = 1;
    return status;
}

static bool is_file(const file_list *list, loci_str path)
{
    return list->count == 1 && lc_str_eq(list->items[0].path, path);
}

loci_status lc_file_view_directory(const lc_file_call *call, loci_str path, lc_buf *out,
                                   loci_error *err)
{
    file_list list = {0};
    lc_file_entry *entries;
    loci_status status = list_tree(call, path, &list, err);

    if (status != LOCI_OK)
        return status;
    if (list.count == 0 && !lc_str_is(path, LC_FILE_ROOT))
        return lc_fail(err, LOCI_ENOTFOUND,
                       "The path %.*s does not exist. Please provide a valid path.",
                       LC_STR_ARG(path));
    entries = lc_arena_zalloc_array(call->arena, list.count + 1, sizeof *entries);
    if (entries == NULL)
        return lc_fail_memory(err);
    for (size_t i = 0; i < list.count; i++)
        entries[i] = (lc_file_entry){list.items[i].path, list.items[i].size};
    lc_file_put_directory(out, path, entries, list.count);
    return LOCI_OK;
}

/* ---- Writing --------------------------------------------------------------------------------- */

loci_status lc_file_expect(const lc_file *file, loci_str sha256, loci_error *err)
{
    if (sha256.ptr == NULL || lc_str_eq(sha256, file->sha256))
        return LOCI_OK;
    return lc_fail(err, LOCI_ECONFLICT,
                   "%.*s has changed: its sha256 is %.*s; view the file and try again",
                   LC_STR_ARG(file->path), LC_STR_ARG(file->sha256));
}

static loci_status set_content(lc_arena *arena, loci_str content, lc_file *file, loci_error *err)
{
    unsigned char digest[LC_SHA256_BYTES];
    char *hex = lc_arena_alloc(arena, LC_FILE_SHA256_BYTES + 1);

    if (hex == NULL)
        return lc_fail_memory(err);
    lc_sha256(content.ptr, content.len, digest);
    for (size_t i = 0; i < sizeof digest; i++)
        (void)snprintf(hex + 2 * i, 3, "%02x", digest[i]); /* It fits. */
    file->content = content;
    file->size = (int64_t)content.len;
    file->sha256 = (loci_str){hex, LC_FILE_SHA256_BYTES};
    return LOCI_OK;
}

/* Appends the version that `file` has now; `edit` is NULL if the version has the whole content. */
static loci_status append_version(const lc_file_call *call, lc_file_operation operation,
                                  const lc_file_edit *edit, lc_file *file, loci_error *err)
{
    lc_file_version version = {.id = file->id,
                               .version = file->version,
                               .operation = operation,
                               .path = file->path,
                               .size = file->size,
                               .sha256 = file->sha256,
                               .persona_id = call->persona_id,
                               .token_id = call->token_id,
                               .is_whole = edit == NULL};

    if (edit != NULL)
        version.edit = *edit;
    else
        version.content = file->content;
    return lc_row_append(call->tx, &lc_file_changed_event, &lc_file_version_row, &version, NULL,
                         err);
}

/* Whether a file or a directory is there. */
static loci_status is_taken(const lc_file_call *call, loci_str path, bool *out, loci_error *err)
{
    lc_file file;
    loci_status status = lc_file_find(call, path, &file, out, err);

    return status == LOCI_OK && !*out ? is_directory(call, path, out, err) : status;
}

/* No file may be where a directory has to be. */
static loci_status check_parents(const lc_file_call *call, loci_str path, loci_error *err)
{
    loci_status status = LOCI_OK;

    for (size_t at = sizeof LC_FILE_ROOT; at < path.len && status == LOCI_OK; at++) {
        loci_str parent = {path.ptr, at};
        lc_file file;
        bool found;

        if (path.ptr[at] != '/')
            continue;
        status = lc_file_find(call, parent, &file, &found, err);
        if (status == LOCI_OK && found)
            status = lc_fail(err, LOCI_ECONFLICT, "The path %.*s is not a directory",
                             LC_STR_ARG(parent));
    }
    return status;
}

static const lc_sql count_sql = {
    "select count(*) from files where tenant_id = $1 and user_id = $2 and deleted_at is null", "tt",
    "i"};

static loci_status check_new(const lc_file_call *call, loci_str path, loci_error *err)
{
    bool is_there = false;
    int64_t count = 0;
    loci_status status = is_taken(call, path, &is_there, err);

    if (status == LOCI_OK && is_there)
        status = lc_fail(err, LOCI_ECONFLICT, "File %.*s already exists", LC_STR_ARG(path));
    if (status == LOCI_OK)
        status = check_parents(call, path, err);
    if (status == LOCI_OK)
        status = lc_tx_find_numbers(call->tx, &count_sql,
                                    (lc_arg[]){LC_T(call->tx->tenant_id), LC_T(call->tx->user_id)},
                                    &count, err);
    if (status == LOCI_OK && count >= LC_FILES_PER_USER_MAX)
        status = lc_fail(err, LOCI_ELIMIT,
                         "%.*s: the user has %" PRId64
                         " files, which is the maximum; delete some, or add to an existing file",
                         LC_STR_ARG(path), count);
    return status;
}

loci_status lc_file_create(const lc_file_call *call, loci_str path, loci_str content, lc_file *out,
                           loci_error *err)
{
    lc_file file = {.path = path, .version = 1, .whole_version = 1, .persona_id = call->persona_id};
    lc_id id;
    loci_status status = check_new(call, path, err);

    if (status == LOCI_OK)
        status = set_content(call->arena, content, &file, err);
    if (status == LOCI_OK)
        status = lc_tx_make_id(call->tx, "file", &id, err);
    if (status == LOCI_OK)
        status = lc_tx_recorded_at(call->tx, &file.created_at, err);
    if (status == LOCI_OK) {
        file.updated_at = file.created_at;
        file.id = lc_arena_copy(call->arena, lc_id_str(&id));
        if (file.id.ptr == NULL)
            status = lc_fail_memory(err);
    }
    if (status == LOCI_OK)
        status = append_version(call, LC_FILE_CREATE, NULL, &file, err);
    if (status == LOCI_OK)
        *out = file;
    return status;
}

loci_status lc_file_change(const lc_file_call *call, lc_file_operation operation,
                           const lc_file_edit *edit, lc_file *file, loci_error *err)
{
    int64_t bytes = file->size - edit->removed + (int64_t)edit->inserted.len;
    bool is_whole = (int64_t)edit->inserted.len >= bytes ||
                    file->version + 1 - file->whole_version >= LC_FILE_WHOLE_EVERY;
    loci_str content;
    loci_status status;

    if (bytes > LC_FILE_BYTES_MAX)
        return lc_fail(err, LOCI_ELIMIT,
                       "%.*s: the file would have %" PRId64
                       " bytes, the maximum is %d; put the rest into another file",
                       LC_STR_ARG(file->path), bytes, LC_FILE_BYTES_MAX);
    content = lc_file_edit_apply(call->arena, file->content, edit);
    if (content.ptr == NULL)
        return lc_fail_memory(err);
    if (lc_str_eq(content, file->content))
        return LOCI_OK;
    status = set_content(call->arena, content, file, err);
    if (status == LOCI_OK)
        status = lc_tx_recorded_at(call->tx, &file->updated_at, err);
    file->version++;
    if (is_whole)
        file->whole_version = file->version;
    return status == LOCI_OK ? append_version(call, operation, is_whole ? NULL : edit, file, err)
                             : status;
}

/* ---- Files and directories ------------------------------------------------------------------- */

static loci_status choose_tree(const lc_file_call *call, const lc_file_move *move, file_list *out,
                               loci_error *err)
{
    loci_status status = list_tree(call, move->old_path, out, err);

    if (status != LOCI_OK)
        return status;
    if (out->count == 0)
        return lc_fail(err, LOCI_ENOTFOUND, "The path %.*s does not exist",
                       LC_STR_ARG(move->old_path));
    if (is_file(out, move->old_path))
        return lc_file_expect(&out->items[0], move->expected_sha256, err);
    return move->expected_sha256.ptr == NULL
               ? LOCI_OK
               : lc_fail(err, LOCI_EINVAL, "expected_sha256: %.*s is a directory, which has none",
                         LC_STR_ARG(move->old_path));
}

static loci_status make_ids(const lc_file_call *call, const file_list *list, lc_str_list *out,
                            loci_error *err)
{
    loci_str *ids = lc_arena_zalloc_array(call->arena, list->count + 1, sizeof *ids);

    if (ids == NULL)
        return lc_fail_memory(err);
    for (size_t i = 0; i < list->count; i++)
        ids[i] = list->items[i].id;
    *out = (lc_str_list){ids, list->count};
    return LOCI_OK;
}

loci_status lc_file_delete(const lc_file_call *call, const lc_file_move *move, lc_str_list *out_ids,
                           loci_error *err)
{
    file_list list = {0};
    loci_status status;

    if (lc_str_is(move->old_path, LC_FILE_ROOT))
        return lc_fail(err, LOCI_EINVAL, "Cannot delete the " LC_FILE_ROOT " directory itself");
    status = choose_tree(call, move, &list, err);
    if (status == LOCI_OK)
        status = make_ids(call, &list, out_ids, err);
    for (size_t i = 0; i < list.count && status == LOCI_OK; i++) {
        lc_file *file = &list.items[i];

        file->version++;
        file->size = 0;
        file->sha256 = file->content = LC_STR("");
        status = append_version(call, LC_FILE_DELETE, NULL, file, err);
    }
    return status;
}

/* Where the files go, if all these places are allowed. */
static loci_status move_paths(const lc_file_call *call, const lc_file_move *move, file_list *list,
                              loci_error *err)
{
    loci_status status = LOCI_OK;
    lc_buf path;

    lc_buf_init(&path, call->arena->heap, LOCI_MEM_REQUESTS, LC_ARGS_BYTES_MAX);
    for (size_t i = 0; i < list->count && status == LOCI_OK; i++) {
        loci_str old = list->items[i].path;

        lc_buf_reset(&path);
        lc_buf_append(&path, move->new_path);
        lc_buf_append(&path,
                      (loci_str){old.ptr + move->old_path.len, old.len - move->old_path.len});
        status = lc_buf_status(&path, err);
        if (status == LOCI_OK)
            status = lc_file_path_make(call->arena, lc_buf_str(&path), &list->items[i].path, err);
    }
    lc_buf_clear(&path);
    return status;
}

static loci_status check_move(const lc_file_call *call, const lc_file_move *move, loci_error *err)
{
    bool is_there = false;
    loci_status status;

    if (lc_str_is(move->old_path, LC_FILE_ROOT))
        return lc_fail(err, LOCI_EINVAL, "Cannot rename the " LC_FILE_ROOT " directory itself");
    status = is_taken(call, move->new_path, &is_there, err);
    if (status == LOCI_OK && is_there)
        status = lc_fail(err, LOCI_ECONFLICT, "The destination %.*s already exists",
                         LC_STR_ARG(move->new_path));
    return status == LOCI_OK ? check_parents(call, move->new_path, err) : status;
}

loci_status lc_file_rename(const lc_file_call *call, const lc_file_move *move, lc_str_list *out_ids,
                           loci_error *err)
{
    file_list list = {0};
    loci_status status = check_move(call, move, err);

    if (status == LOCI_OK)
        status = choose_tree(call, move, &list, err);
    if (status == LOCI_OK && lc_file_path_is_within(move->new_path, move->old_path))
        status = lc_fail(err, LOCI_EINVAL, "Cannot move the directory %.*s into itself",
                         LC_STR_ARG(move->old_path));
    if (status == LOCI_OK)
        status = move_paths(call, move, &list, err);
    if (status == LOCI_OK)
        status = make_ids(call, &list, out_ids, err);
    for (size_t i = 0; status == LOCI_OK && i < list.count; i++) {
        list.items[i].version++;
        status = append_version(call, LC_FILE_RENAME, &(lc_file_edit){.inserted = LC_STR("")},
                                &list.items[i], err);
    }
    return status;
}
