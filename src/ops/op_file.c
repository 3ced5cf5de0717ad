/* op_file.c - the operations on files: the six commands of Anthropic's memory tool, with exactly
 * its inputs and texts (memory/file_text.h), and operations that the tool does not have: raw
 * contents, lists, versions.
 *
 * Paths are screened for secrets like texts: a path is stored, and the same path, screened the same
 * way, finds the file again. So is old_str, which may quote a text that was redacted.
 */
#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "memory/file.h"
#include "ops/page.h"

static const lc_record file_record = {.name = "File", .row = &lc_file_info_row};
static const lc_record version_record = {.name = "FileVersion", .row = &lc_file_version_info_row};

#define TEXT_RESULT                                                                                \
    {                                                                                              \
        "text", LC_PARAM_STRING, "Answer of the tool to the model"                                 \
    }

/* About one file. */
static const lc_record written_answer = {
    .members =
        (const lc_result[]){
            TEXT_RESULT,
            {"file", 0, "The file as it is now", .record = &file_record},
            LC_WARNINGS_RESULT,
            {NULL},
        },
};

static const lc_record view_answer = {
    .members =
        (const lc_result[]){
            TEXT_RESULT,
            {"file", 0, "The file; absent if the path is a directory", LC_RESULT_OPTIONAL,
             .record = &file_record},
            LC_WARNINGS_RESULT,
            {NULL},
        },
};

/* About a file or all files of a directory. */
static const lc_record moved_answer = {
    .members =
        (const lc_result[]){
            TEXT_RESULT,
            {"file_ids", LC_PARAM_STRINGS, "Ids of the files concerned"},
            LC_WARNINGS_RESULT,
            {NULL},
        },
};

typedef struct file_input {
    loci_str path, id;
    const lc_json *view_range;
    loci_str file_text, old_str, new_str, insert_text;
    int64_t insert_line, version;
    loci_str old_path, new_path;
    loci_str expected_sha256;
    lc_page_args page;
    int64_t first_line, last_line; /* Made by prepare, from view_range. */
} file_input;

#define PATH(n, m, flags_, help_)                                                                  \
    {                                                                                              \
        LC_ARG_STR(n, file_input, m),                                                              \
            .flags = (flags_) | LC_PARAM_POSITIONAL | LC_PARAM_ID | LC_PARAM_SAID, .min = 1,       \
            .max = LC_FILE_PATH_BYTES_MAX, .help = help_                                           \
    }
#define EXPECTED_SHA256                                                                            \
    {                                                                                              \
        LC_ARG_STR("expected_sha256", file_input, expected_sha256),                                \
            .min = 1, .max = LC_FILE_SHA256_BYTES,                                                 \
            .help = "SHA-256 that the file must have; otherwise the call is a conflict"            \
    }
#define TEXT(n, m, flags_, min_, help_)                                                            \
    {                                                                                              \
        LC_ARG_STR(n, file_input, m), .flags = (flags_) | LC_PARAM_SAID, .min = min_,              \
                                      .max = LC_FILE_BYTES_MAX, .help = help_                      \
    }

/* Every path in its one spelling. */
static loci_status prepare_paths(lc_call *call, loci_error *err)
{
    file_input *in = call->input;
    loci_str *const paths[] = {&in->path, &in->old_path, &in->new_path};
    loci_status status = LOCI_OK;

    for (size_t i = 0; i < sizeof paths / sizeof *paths && status == LOCI_OK; i++) {
        if (paths[i]->ptr != NULL)
            status = lc_file_path_make(call->arena, *paths[i], paths[i], err);
    }
    return status;
}

static lc_file_call file_call(const lc_call *call, lc_tx *tx)
{
    return (lc_file_call){.tx = tx,
                          .arena = call->arena,
                          .persona_id = call->persona_id.ptr != NULL ? call->persona_id
                                                                     : LC_STR(""),
                          .token_id = call->token_id.ptr != NULL ? call->token_id : LC_STR("")};
}

static void put_file(lc_call *call, const char *name, const lc_file *file)
{
    lc_jw_name(&call->out, name);
    lc_jw_object(&call->out);
    lc_row_put(&lc_file_info_row, file, &call->out);
    lc_jw_end(&call->out);
}

/* Opens the answer with `text`; the caller adds members and ends it. Clears `text`. */
static loci_status open_answer(lc_call *call, lc_buf *text, loci_error *err)
{
    loci_status status = lc_buf_status(text, err);

    if (status == LOCI_OK) {
        lc_jw_object(&call->out);
        lc_jw_member_str(&call->out, "text", lc_buf_str(text));
    }
    lc_buf_clear(text);
    return status;
}

static loci_status put_written(lc_call *call, lc_buf *text, const lc_file *file, loci_error *err)
{
    loci_status status = open_answer(call, text, err);

    if (status == LOCI_OK) {
        put_file(call, "file", file);
        lc_jw_end(&call->out);
    }
    return status;
}

static lc_buf make_text(const lc_call *call)
{
    lc_buf text;

    lc_buf_init(&text, call->arena->heap, LOCI_MEM_REQUESTS, LC_ANSWER_BYTES_MAX);
    return text;
}

/* ---- file.view ------------------------------------------------------------------------------- */

static const lc_param view_params[] = {
    PATH("path", path, LC_PARAM_REQUIRED, "Path of the file or directory, from /memories"),
    {LC_ARG_ANY("view_range", file_input, view_range),
     .help = "First and last line to show, [first, last]; -1 as last is the end (default: all)"},
    {.name = NULL},
};

static bool read_line(const lc_json *item, int64_t *out)
{
    if (item == NULL || lc_json_kind_of(item) != LC_JSON_INT)
        return false;
    *out = lc_json_int(item);
    return true;
}

static loci_status prepare_view(lc_call *call, loci_error *err)
{
    file_input *in = call->input;
    const lc_json *range = in->view_range;
    const lc_json *first = range != NULL && lc_json_kind_of(range) == LC_JSON_ARRAY &&
                                   lc_json_count(range) == 2
                               ? lc_json_first(range)
                               : NULL;

    in->first_line = 1;
    in->last_line = INT64_MAX;
    if (range != NULL && (first == NULL || !read_line(first, &in->first_line) ||
                          !read_line(lc_json_next(first), &in->last_line) || in->last_line < -1))
        return lc_fail(err, LOCI_EINVAL,
                       "view_range: expected [first, last], two line numbers; -1 as last is the"
                       " end of the file");
    if (in->last_line == -1)
        in->last_line = INT64_MAX;
    return prepare_paths(call, err);
}

static loci_status run_view(lc_call *call, lc_tx *tx, loci_error *err)
{
    const file_input *in = call->input;
    const lc_file_call who = file_call(call, tx);
    lc_buf text = make_text(call);
    lc_file file;
    bool found;
    loci_status status = lc_file_find(&who, in->path, &file, &found, err);

    if (status == LOCI_OK && found) {
        lc_buf_append(&text, LC_STR("Here's the content of "));
        lc_buf_append(&text, in->path);
        lc_buf_append(&text, LC_STR(" with line numbers:\n"));
        lc_file_put_lines(&text, file.content, in->first_line, in->last_line);
        return put_written(call, &text, &file, err);
    }
    if (status == LOCI_OK)
        status = lc_file_view_directory(&who, in->path, &text, err);
    if (status == LOCI_OK)
        status = open_answer(call, &text, err);
    if (status == LOCI_OK)
        lc_jw_end(&call->out);
    lc_buf_clear(&text);
    return status;
}

static const lc_op file_view = {
    .name = "file.view",
    .help = "Show a file with line numbers, or list a directory",
    .params = view_params,
    .input_bytes = sizeof(file_input),
    .answer = &view_answer,
    .cost = LC_COST_WORK,
    .flags = LC_OP_USER | LC_OP_IDEMPOTENT,
    .http = "GET /v1/files/view",
    .mcp = "memory view",
    .mcp_takes = "path view_range",
    .mcp_shows = "text!",
    .look = {.text = "text", .hidden = "file file_ids"},
    .example = "{\"path\":\"/memories\"}",
    .prepare = prepare_view,
    .run = run_view,
};

/* ---- file.create ----------------------------------------------------------------------------- */

static const lc_param create_params[] = {
    PATH("path", path, LC_PARAM_REQUIRED, "Path of the new file, from /memories"),
    TEXT("file_text", file_text, LC_PARAM_REQUIRED, 0, "Content of the file"),
    {.name = NULL},
};

static loci_status run_create(lc_call *call, lc_tx *tx, loci_error *err)
{
    const file_input *in = call->input;
    const lc_file_call who = file_call(call, tx);
    lc_buf text = make_text(call);
    lc_file file;
    loci_status status = lc_file_create(&who, in->path, in->file_text, &file, err);

    if (status != LOCI_OK)
        return status;
    lc_buf_append(&text, LC_STR("File created successfully at: "));
    lc_buf_append(&text, in->path);
    return put_written(call, &text, &file, err);
}

static const lc_op file_create = {
    .name = "file.create",
    .help = "Create a file; its directories are made as needed",
    .params = create_params,
    .input_bytes = sizeof(file_input),
    .answer = &written_answer,
    .cost = LC_COST_WRITE,
    .flags = LC_OP_USER | LC_OP_MUTATES,
    .http = "POST /v1/files",
    .mcp = "memory create",
    .mcp_takes = "path file_text",
    .mcp_shows = "text!",
    .look = {.text = "text", .hidden = "file file_ids"},
    .example = "{\"path\":\"/memories/plan.md\",\"file_text\":\"1. Read the report\"}",
    .prepare = prepare_paths,
    .run = run_create,
};

/* ---- file.str_replace ------------------------------------------------------------------------ */

#define SNIPPET_LINES 2 /* Above and below the change. */

static const lc_param replace_params[] = {
    PATH("path", path, LC_PARAM_REQUIRED, "Path of the file"),
    TEXT("old_str", old_str, LC_PARAM_REQUIRED, 1,
         "Text to replace; the file must have it exactly once"),
    TEXT("new_str", new_str, 0, 0, "Text in its place (default: none, which removes it)"),
    EXPECTED_SHA256,
    {.name = NULL},
};

static loci_status run_replace(lc_call *call, lc_tx *tx, loci_error *err)
{
    const file_input *in = call->input;
    const lc_file_call who = file_call(call, tx);
    const lc_file_replacement what = {in->path, in->old_str,
                                      in->new_str.ptr != NULL ? in->new_str : LC_STR("")};
    lc_buf text = make_text(call);
    lc_file_edit edit = {0};
    int64_t line = 0;
    lc_file file;
    loci_status status = lc_file_load(&who, in->path, &file, err);

    if (status == LOCI_OK)
        status = lc_file_expect(&file, in->expected_sha256, err);
    if (status == LOCI_OK)
        status = lc_file_replace(file.content, &what, &edit, &line, err);
    if (status == LOCI_OK)
        status = lc_file_change(&who, LC_FILE_STR_REPLACE, &edit, &file, err);
    if (status != LOCI_OK)
        return status;
    lc_buf_append(&text, LC_STR("The memory file has been edited. Here is the snippet showing the"
                                " change (with line numbers):\n"));
    lc_file_put_lines(&text, file.content, line - SNIPPET_LINES, line + SNIPPET_LINES);
    return put_written(call, &text, &file, err);
}

static const lc_op file_str_replace = {
    .name = "file.str_replace",
    .help = "Replace a text that a file has exactly once",
    .params = replace_params,
    .input_bytes = sizeof(file_input),
    .answer = &written_answer,
    .cost = LC_COST_WRITE,
    .flags = LC_OP_USER | LC_OP_MUTATES,
    .http = "POST /v1/files/str_replace",
    .mcp = "memory str_replace",
    .mcp_takes = "path old_str new_str",
    .mcp_shows = "text!",
    .look = {.text = "text", .hidden = "file file_ids"},
    .example = "{\"path\":\"/memories/notes.md\",\"old_str\":\"beta\",\"new_str\":\"gamma\"}",
    .prepare = prepare_paths,
    .run = run_replace,
};

/* ---- file.insert ----------------------------------------------------------------------------- */

static const lc_param insert_params[] = {
    PATH("path", path, LC_PARAM_REQUIRED, "Path of the file"),
    {LC_ARG_INT("insert_line", file_input, insert_line), .flags = LC_PARAM_REQUIRED,
     .help = "Line behind which the text is inserted; 0 is the beginning"},
    TEXT("insert_text", insert_text, LC_PARAM_REQUIRED, 0, "Text to insert, one or more lines"),
    EXPECTED_SHA256,
    {.name = NULL},
};

static loci_status run_insert(lc_call *call, lc_tx *tx, loci_error *err)
{
    const file_input *in = call->input;
    const lc_file_call who = file_call(call, tx);
    lc_buf text = make_text(call);
    lc_file_edit edit = {0};
    lc_file file;
    loci_status status = lc_file_load(&who, in->path, &file, err);

    if (status == LOCI_OK)
        status = lc_file_expect(&file, in->expected_sha256, err);
    if (status == LOCI_OK)
        status = lc_file_insert(call->arena, file.content, in->insert_line, in->insert_text, &edit,
                                err);
    if (status == LOCI_OK)
        status = lc_file_change(&who, LC_FILE_INSERT, &edit, &file, err);
    if (status != LOCI_OK)
        return status;
    lc_buf_append(&text, LC_STR("The file "));
    lc_buf_append(&text, in->path);
    lc_buf_append(&text, LC_STR(" has been edited."));
    return put_written(call, &text, &file, err);
}

static const lc_op file_insert = {
    .name = "file.insert",
    .help = "Insert lines into a file",
    .params = insert_params,
    .input_bytes = sizeof(file_input),
    .answer = &written_answer,
    .cost = LC_COST_WRITE,
    .flags = LC_OP_USER | LC_OP_MUTATES,
    .http = "POST /v1/files/insert",
    .mcp = "memory insert",
    .mcp_takes = "path insert_line insert_text",
    .mcp_shows = "text!",
    .look = {.text = "text", .hidden = "file file_ids"},
    .example = "{\"path\":\"/memories/notes.md\",\"insert_line\":1,\"insert_text\":\"next\"}",
    .prepare = prepare_paths,
    .run = run_insert,
};

/* ---- file.delete and rename ------------------------------------------------------------------ */

static loci_status put_moved(lc_call *call, lc_buf *text, lc_str_list ids, loci_error *err)
{
    loci_status status = open_answer(call, text, err);

    if (status != LOCI_OK)
        return status;
    lc_jw_name(&call->out, "file_ids");
    lc_jw_array(&call->out);
    for (size_t i = 0; i < ids.count; i++)
        lc_jw_str(&call->out, ids.items[i]);
    lc_jw_end(&call->out);
    lc_jw_end(&call->out);
    return LOCI_OK;
}

static const lc_param delete_params[] = {
    PATH("path", path, LC_PARAM_REQUIRED, "Path of the file or directory"),
    EXPECTED_SHA256,
    {.name = NULL},
};

static loci_status run_delete(lc_call *call, lc_tx *tx, loci_error *err)
{
    const file_input *in = call->input;
    const lc_file_call who = file_call(call, tx);
    const lc_file_move move = {.old_path = in->path, .expected_sha256 = in->expected_sha256};
    lc_buf text = make_text(call);
    lc_str_list ids = {0};
    loci_status status = lc_file_delete(&who, &move, &ids, err);

    if (status != LOCI_OK)
        return status;
    lc_buf_append(&text, LC_STR("Successfully deleted "));
    lc_buf_append(&text, in->path);
    return put_moved(call, &text, ids, err);
}

static const lc_op file_delete = {
    .name = "file.delete",
    .help = "Delete a file, or a directory with all its files; their versions are kept",
    .params = delete_params,
    .input_bytes = sizeof(file_input),
    .answer = &moved_answer,
    .cost = LC_COST_WRITE,
    .flags = LC_OP_USER | LC_OP_MUTATES | LC_OP_DESTROYS,
    .http = "DELETE /v1/files",
    .mcp = "memory delete",
    .mcp_takes = "path",
    .mcp_shows = "text!",
    .look = {.text = "text", .hidden = "file file_ids"},
    .example = "{\"path\":\"/memories/notes.md\"}",
    .prepare = prepare_paths,
    .run = run_delete,
};

static const lc_param rename_params[] = {
    PATH("old_path", old_path, LC_PARAM_REQUIRED, "Path of the file or directory"),
    PATH("new_path", new_path, LC_PARAM_REQUIRED, "Path it gets; nothing may be there"),
    EXPECTED_SHA256,
    {.name = NULL},
};

static loci_status run_rename(lc_call *call, lc_tx *tx, loci_error *err)
{
    const file_input *in = call->input;
    const lc_file_call who = file_call(call, tx);
    const lc_file_move move = {in->old_path, in->new_path, in->expected_sha256};
    lc_buf text = make_text(call);
    lc_str_list ids = {0};
    loci_status status = lc_file_rename(&who, &move, &ids, err);

    if (status != LOCI_OK)
        return status;
    lc_buf_append(&text, LC_STR("Successfully renamed "));
    lc_buf_append(&text, in->old_path);
    lc_buf_append(&text, LC_STR(" to "));
    lc_buf_append(&text, in->new_path);
    return put_moved(call, &text, ids, err);
}

static const lc_op file_rename = {
    .name = "file.rename",
    .help = "Rename or move a file, or a directory with all its files",
    .params = rename_params,
    .input_bytes = sizeof(file_input),
    .answer = &moved_answer,
    .cost = LC_COST_WRITE,
    .flags = LC_OP_USER | LC_OP_MUTATES,
    .http = "POST /v1/files/rename",
    .mcp = "memory rename",
    .mcp_takes = "old_path new_path",
    .mcp_shows = "text!",
    .look = {.text = "text", .hidden = "file file_ids"},
    .example = "{\"old_path\":\"/memories/notes.md\",\"new_path\":\"/memories/old/notes.md\"}",
    .prepare = prepare_paths,
    .run = run_rename,
};

/* ---- file.get -------------------------------------------------------------------------------- */

static const lc_param get_params[] = {
    PATH("path", path, 0, "Path of the file"),
    LC_NAME_PARAM("id", file_input, id, 0,
                  "Instead of a path: id of the file, file_…; also of a deleted one"),
    {LC_ARG_INT("version", file_input, version), .min = 1, .max = INT64_MAX,
     .help = "Number of the version (default: the current one)"},
    {.name = NULL},
};

static const lc_param_rule get_rules[] = {
    {LC_RULE_EXACTLY_ONE, "path|id"},
    {LC_RULE_END, NULL},
};

static const lc_record get_answer = {
    .base = &file_record,
    .members =
        (const lc_result[]){
            {"content", LC_PARAM_STRING, "Content of the file; empty if it was deleted"},
            LC_WARNINGS_RESULT,
            {NULL},
        },
};

static loci_status run_get(lc_call *call, lc_tx *tx, loci_error *err)
{
    const file_input *in = call->input;
    const lc_file_call who = file_call(call, tx);
    lc_file file;
    loci_status status = in->id.ptr != NULL ? lc_file_load_id(&who, in->id, &file, err)
                                            : lc_file_load(&who, in->path, &file, err);

    if (status == LOCI_OK && in->version != LC_ABSENT && in->version != file.version)
        status = lc_file_load_version(&who, in->version, &file, err);
    if (status != LOCI_OK)
        return status;
    lc_jw_object(&call->out);
    lc_row_put(&lc_file_info_row, &file, &call->out);
    lc_jw_member_str(&call->out, "content", file.content);
    lc_jw_end(&call->out);
    return LOCI_OK;
}

static const lc_op file_get = {
    .name = "file.get",
    .help = "Return the content of a file as it is, or as it was in an earlier version",
    .params = get_params,
    .rules = get_rules,
    .input_bytes = sizeof(file_input),
    .answer = &get_answer,
    .cost = LC_COST_WORK,
    .flags = LC_OP_USER | LC_OP_IDEMPOTENT,
    .http = "GET /v1/files/content",
    .look = {.text = "content"},
    .example = "{\"path\":\"/memories/notes.md\",\"version\":1}",
    .prepare = prepare_paths,
    .run = run_get,
};

/* ---- file.list ------------------------------------------------------------------------------- */

static const lc_param list_params[] = {
    {LC_ARG_STR("path", file_input, path), .flags = LC_PARAM_POSITIONAL | LC_PARAM_ID, .min = 1,
     .max = LC_FILE_PATH_BYTES_MAX, .default_text = "\"" LC_FILE_ROOT "\"",
     .help = "Only the file at this path, or the files below it"},
    LC_PAGE_PARAMS(file_input, page),
    {.name = NULL},
};

static const lc_record list_answer = {
    .members =
        (const lc_result[]){
            {"files", 0, "Files in the order of their paths", LC_RESULT_LIST,
             .record = &file_record},
            LC_PAGE_RESULT,
            {NULL},
        },
};

typedef struct file_listing {
    lc_page page;
    lc_name_position last;
} file_listing;

static loci_status put_listed(void *ctx, const lc_file *file, loci_error *err)
{
    file_listing *l = ctx;
    lc_call *call = l->page.call;

    if (!lc_page_takes(&l->page))
        return LOCI_OK;
    l->last.name = lc_arena_copy(call->arena, file->path);
    if (l->last.name.ptr == NULL)
        return lc_fail_memory(err);
    lc_jw_object(&call->out);
    lc_row_put(&lc_file_info_row, file, &call->out);
    lc_jw_end(&call->out);
    return LOCI_OK;
}

static loci_status run_list(lc_call *call, lc_tx *tx, loci_error *err)
{
    const file_input *in = call->input;
    const lc_file_call who = file_call(call, tx);
    file_listing l = {.page = {call, &lc_position_by_name, &l.last}, .last = {LC_STR("")}};
    loci_status status = lc_page_begin(&l.page, &in->page, err);

    if (status != LOCI_OK)
        return status;
    lc_page_open(&l.page, "files");
    status = lc_file_each(&who, &(lc_file_page){in->path, l.last.name, in->page.limit + 1},
                          put_listed, &l, err);
    lc_page_close(&l.page);
    return status;
}

static const lc_op file_list = {
    .name = "file.list",
    .help = "List files with their sizes and hashes, without contents",
    .params = list_params,
    .input_bytes = sizeof(file_input),
    .answer = &list_answer,
    .cost = LC_COST_WORK,
    .flags = LC_OP_USER | LC_OP_IDEMPOTENT,
    .http = "GET /v1/files",
    .look = {.columns = "path size updated_at version id", .id = "path"},
    .example = "{\"path\":\"/memories\",\"limit\":10}",
    .prepare = prepare_paths,
    .run = run_list,
};

/* ---- file.history ---------------------------------------------------------------------------- */

static const lc_param history_params[] = {
    {LC_ARG_STR("path", file_input, path), .flags = LC_PARAM_POSITIONAL | LC_PARAM_ID, .min = 1,
     .max = LC_FILE_PATH_BYTES_MAX,
     .help = "Only files that are, or last were, at or below this path (default: all)"},
    LC_NAME_PARAM("id", file_input, id, 0, "Only this file, file_…"),
    LC_PAGE_PARAMS(file_input, page),
    {.name = NULL},
};

static const lc_param_rule history_rules[] = {
    {LC_RULE_AT_MOST_ONE, "path|id"},
    {LC_RULE_END, NULL},
};

static const lc_record history_answer = {
    .members =
        (const lc_result[]){
            {"versions", 0, "Versions, newest first; file.get returns the content of one",
             LC_RESULT_LIST, .record = &version_record},
            LC_PAGE_RESULT,
            {NULL},
        },
};

typedef struct version_listing {
    lc_page page;
    lc_seq_position last;
} version_listing;

static loci_status put_version(void *ctx, const lc_file_version *version, loci_error *err)
{
    version_listing *l = ctx;
    lc_call *call = l->page.call;

    (void)err; /* Writing to a buffer fails later. */
    if (!lc_page_takes(&l->page))
        return LOCI_OK;
    l->last.seq = version->seq;
    lc_jw_object(&call->out);
    lc_row_put(&lc_file_version_info_row, version, &call->out);
    lc_jw_end(&call->out);
    return LOCI_OK;
}

static loci_status run_history(lc_call *call, lc_tx *tx, loci_error *err)
{
    const file_input *in = call->input;
    const lc_file_call who = file_call(call, tx);
    version_listing l = {.page = {call, &lc_position_by_seq, &l.last}, .last = {INT64_MAX}};
    lc_file_version_page page = {.of = {in->path, in->id}, .limit = in->page.limit + 1};
    loci_status status = lc_page_begin(&l.page, &in->page, err);

    if (status != LOCI_OK)
        return status;
    if (in->path.ptr == NULL && in->id.ptr == NULL)
        page.of.path = LC_STR(LC_FILE_ROOT);
    page.before_seq = l.last.seq;
    lc_page_open(&l.page, "versions");
    status = lc_file_version_each(&who, &page, put_version, &l, err);
    lc_page_close(&l.page);
    return status;
}

static const lc_op file_history = {
    .name = "file.history",
    .help = "List the versions of files, newest first; every change is one",
    .params = history_params,
    .rules = history_rules,
    .input_bytes = sizeof(file_input),
    .answer = &history_answer,
    .cost = LC_COST_WORK,
    .flags = LC_OP_USER | LC_OP_IDEMPOTENT,
    .http = "GET /v1/files/history",
    .look = {.columns = "version operation path size at id"},
    .example = "{\"path\":\"/memories/notes.md\"}",
    .prepare = prepare_paths,
    .run = run_history,
};

extern const lc_op lc_op_file_forget; /* op_forget.c */

extern const lc_op *const lc_ops_file[];
const lc_op *const lc_ops_file[] = {
    &file_view, &file_create, &file_str_replace, &file_insert,       &file_delete, &file_rename,
    &file_get,  &file_list,   &file_history,     &lc_op_file_forget, NULL,
};
