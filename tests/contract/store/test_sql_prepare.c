/* Every statement in src/ is prepared on a fresh store, also on the shadows of a rebuild, whether a
 * test runs it or not; and none uses what only one of the two databases has.
 *
 * The statements are read from the sources: `const lc_sql name = {"text" MACRO "text", "params",
 * "columns", &row}`, with the macros of the file and of what it includes. Whatever looks like a
 * statement and cannot be read fails the test, so that none is left out in silence.
 */
#include "contract/probe_fixture.h"

#include <ctype.h>
#include <dirent.h>
#include <sqlite3.h>
#include <string.h>

#include "base/clock.h"
#include "base/str.h"
#include "context/kept.h"
#include "context/usage.h"
#include "engine/rooms.h"
#include "fact/fact_row.h"
#include "frame/frame.h"
#include "memory/entity.h"
#include "memory/file.h"
#include "memory/memory.h"
#include "memory/todo.h"
#include "review/review.h"
#include "session/environment.h"
#include "session/session.h"
#include "session/summary.h"
#include "session/working.h"
#include "store/job.h"
#include "store/schema.h"
#include "store/store_room.h"
#include "store/token.h"
#include "window/window_row.h"

/* ---- Reading C ------------------------------------------------------------------------------- */

typedef struct source {
    const char *path;
    const char *text;
} source;

typedef struct statement {
    const source *from;
    char name[64];
    char fields[3][4096]; /* text, params, columns */
    bool is_null[3];
    const lc_row_type *row; /* What {row} stands for, or NULL. */
} statement;

/* Every record that a statement names. */
static const struct {
    const char *name;
    const lc_row_type *row;
} row_types[] = {
    {"lc_fact_row", &lc_fact_row},
    {"lc_fact_current_row", &lc_fact_current_row},
    {"lc_session_row", &lc_session_row},
    {"lc_identity_row", &lc_identity_row},
    {"lc_message_row", &lc_message_row},
    {"lc_signal_row", &lc_signal_row},
    {"lc_working_row", &lc_working_row},
    {"lc_kept_context_row", &lc_kept_context_row},
    {"lc_kept_line_row", &lc_kept_line_row},
    {"lc_model_usage_row", &lc_model_usage_row},
    {"lc_job_row", &lc_job_row},
    {"lc_token_row", &lc_token_row},
    {"lc_stored_setting_row", &lc_stored_setting_row},
    {"lc_memory_row", &lc_memory_row},
    {"lc_memory_state_row", &lc_memory_state_row},
    {"lc_entity_row", &lc_entity_row},
    {"lc_summary_row", &lc_summary_row},
    {"lc_window_row", &lc_window_row},
    {"lc_window_state_row", &lc_window_state_row},
    {"lc_resource_row", &lc_resource_row},
    {"lc_resource_state_row", &lc_resource_state_row},
    {"lc_resource_notes_row", &lc_resource_notes_row},
    {"lc_resource_links_row", &lc_resource_links_row},
    {"lc_todo_row", &lc_todo_row},
    {"lc_review_proposal_row", &lc_review_proposal_row},
    {"lc_todo_state_row", &lc_todo_state_row},
    {"lc_file_row", &lc_file_row},
    {"lc_file_info_row", &lc_file_info_row},
    {"lc_file_version_row", &lc_file_version_row},
    {"lc_file_version_info_row", &lc_file_version_info_row},
    {"lc_frame_row", &lc_frame_row},
    {"lc_frame_state_row", &lc_frame_state_row},
    {"lc_frame_fields_row", &lc_frame_fields_row},
    {"lc_frame_handle_row", &lc_frame_handle_row},
    {"lc_frame_tool_row", &lc_frame_tool_row},
    {"lc_frame_tool_state_row", &lc_frame_tool_state_row},
    {"lc_frame_reservation_row", &lc_frame_reservation_row},
    {"lc_frame_left_row", &lc_frame_left_row},
    {"lc_frame_suspension_row", &lc_frame_suspension_row},
    {"lc_content_row", &lc_content_row},
};

static const char *skip_space(const char *at)
{
    for (;;) {
        while (isspace((unsigned char)*at) || (at[0] == '\\' && at[1] == '\n'))
            at++;
        if (at[0] == '/' && at[1] == '*')
            at = strstr(at, "*/") + 2;
        else
            return at;
    }
}

/* Appends the literal at `at`, which is its opening quote. */
static const char *read_literal(const char *at, char *out)
{
    size_t len = strlen(out);

    for (at++; *at != '"'; at++) {
        if (*at == '\\')
            at++;
        CHECK_LT(len, 4000);
        out[len++] = *at;
    }
    out[len] = '\0';
    return at + 1;
}

static const char *find_macro_in(const char *text, const char *name, size_t len)
{
    while ((text = strstr(text, "#define ")) != NULL) {
        text += 8;
        if (strncmp(text, name, len) == 0 && isspace((unsigned char)text[len]))
            return text + len;
    }
    return NULL;
}

/* Where the definition of a macro begins, behind its name: in the file, or in what it includes. */
static const char *find_macro(const source *from, const char *name, size_t len)
{
    const char *found = find_macro_in(from->text, name, len);
    const char *at = from->text;

    while (found == NULL && (at = strstr(at, "#include \"")) != NULL) {
        const char *end;

        at += 10;
        end = strchr(at, '"');
        CHECK(end != NULL);
        if (strncmp(at, "loci.h", 6) != 0)
            found = find_macro_in(
                test_read_file(test_source_path(test_format("src/%.*s", (int)(end - at), at))).ptr,
                name, len);
    }
    if (found == NULL)
        test_fail(__FILE__, __LINE__, "%s: what is %.*s?", from->path, (int)len, name);
    return found;
}

static const char *read_pieces(const source *from, const char *at, char *out, bool *is_null);

/* A name inside an initialiser: NULL, or a macro that is a text. */
static const char *read_name(const source *from, const char *at, char *out, bool *is_null)
{
    size_t len = 0;

    while (isalnum((unsigned char)at[len]) || at[len] == '_')
        len++;
    if (len == 4 && strncmp(at, "NULL", 4) == 0)
        *is_null = true;
    else
        (void)read_pieces(from, find_macro(from, at, len), out, is_null);
    return at + len;
}

/* Literals and names in a row: one string. */
static const char *read_pieces(const source *from, const char *at, char *out, bool *is_null)
{
    for (;;) {
        at = skip_space(at);
        if (*at == '"')
            at = read_literal(at, out);
        else if (isupper((unsigned char)*at))
            at = read_name(from, at, out, is_null);
        else
            return at;
    }
}

/* `.text = ` and its like; they come in the order of the members, or not at all. */
static const char *skip_designator(const char *at, int field)
{
    static const char *const names[] = {".text", ".params", ".columns"};
    size_t len = strlen(names[field]);

    at = skip_space(at);
    if (strncmp(at, names[field], len) != 0)
        return at;
    at = skip_space(at + len);
    CHECK_EQ(*at, '=');
    return at + 1;
}

/* `, &lc_fact_row`, or nothing. */
static const lc_row_type *read_row(const source *from, const char *at)
{
    size_t len = 0;

    at = strchr(at, '&');
    while (isalnum((unsigned char)at[1 + len]) || at[1 + len] == '_')
        len++;
    for (size_t i = 0; i < sizeof row_types / sizeof *row_types; i++) {
        if (strlen(row_types[i].name) == len && strncmp(at + 1, row_types[i].name, len) == 0)
            return row_types[i].row;
    }
    test_fail(__FILE__, __LINE__, "%s: add %.*s to the records of this test", from->path,
              (int)(len + 1), at);
    return NULL;
}

/* Reads from behind "lc_sql"; false when it is not a definition. */
static bool read_statement(const source *from, const char *at, statement *out)
{
    size_t len = 0;

    memset(out, 0, sizeof *out);
    out->from = from;
    at = skip_space(at);
    while ((isalnum((unsigned char)at[len]) || at[len] == '_') && len < sizeof out->name - 1)
        len++;
    memcpy(out->name, at, len);
    at = skip_space(at + len);
    if (len == 0 || *at != '=')
        return false;
    at = skip_space(at + 1);
    CHECK_EQ(*at, '{');
    at++;
    for (int i = 0; i < 3; i++) {
        at = read_pieces(from, skip_designator(at, i), out->fields[i], &out->is_null[i]);
        if (*at != ',' && (i < 2 || *at != '}'))
            test_fail(__FILE__, __LINE__, "%s: %s cannot be read by this test", from->path,
                      out->name);
        at++;
    }
    if (at[-1] == ',' && *skip_space(at) != '}')
        out->row = read_row(from, at);
    return true;
}

/* ---- Looking at one -------------------------------------------------------------------------- */

typedef struct visitor {
    lc_env env;
    const char *store;
    sqlite3 *handle; /* Beside the fixture's connection: the driver shows none. */
    int statements;
} visitor;

/* Words that one of the two databases does not have, or has with another meaning. */
static void check_subset(const statement *s)
{
    static const char *const banned[] = {
        "like",    "ilike",   "glob",          "rowid",  "ifnull",    "isnull",   "notnull",
        "boolean", "true",    "false",         "json",   "strftime",  "datetime", "now",
        "random",  "replace", "autoincrement", "pragma", "savepoint", "integer",
    };
    bool asks_schema = strstr(s->fields[0], "sqlite_schema") != NULL; /* The driver's own. */

    for (size_t i = 0; i < sizeof banned / sizeof *banned; i++) {
        const char *at = s->fields[0];
        size_t len = strlen(banned[i]);

        while ((at = strstr(at, banned[i])) != NULL) {
            bool starts = at == s->fields[0] || (!isalnum((unsigned char)at[-1]) && at[-1] != '_');
            bool ends = !isalnum((unsigned char)at[len]) && at[len] != '_';

            if (starts && ends && !asks_schema)
                test_fail(__FILE__, __LINE__, "%s: %s uses \"%s\", which is not in the subset",
                          s->from->path, s->name, banned[i]);
            at += len;
        }
    }
}

typedef struct planned {
    const statement *statement;
    const char *plan;
} planned;

static loci_status check_scan(void *ctx, const lc_table *table, loci_error *err)
{
    const planned *p = ctx;

    (void)err;
    if (table->is_large && strstr(p->plan, test_format("Seq Scan on %s", table->name)) != NULL)
        test_fail(__FILE__, __LINE__, "%s: %s reads all rows of %s:\n%s", p->statement->from->path,
                  p->statement->name, table->name, p->plan);
    return LOCI_OK;
}

/* PostgreSQL makes one plan per statement and connection, for all arguments: it must find rows by
 * an index. */
static void check_plan(const visitor *v, const statement *s, const char *text, const char *params)
{
    static const lc_catalogue catalogue = {.rooms = lc_engine_rooms};
    static const char *const planned_words[] = {"select", "update", "delete", "insert", "with"};

    for (size_t i = 0; i < sizeof planned_words / sizeof *planned_words; i++) {
        planned p = {.statement = s};

        if (strncmp(text, planned_words[i], strlen(planned_words[i])) != 0)
            continue;
        p.plan = test_postgres_plan(v->store, text, params);
        (void)lc_catalogue_each(&catalogue, check_scan, &p, NULL);
    }
}

static void prepare(visitor *v, const statement *s, bool is_shadow)
{
    static const lc_catalogue catalogue = {.rooms = lc_engine_rooms};
    lc_sql sql = {.text = s->fields[0],
                  .params = s->fields[1],
                  .columns = s->is_null[2] ? NULL : s->fields[2],
                  .row = s->row};
    char param_kinds[LC_SQL_KINDS_MAX + 1], column_kinds[LC_SQL_KINDS_MAX + 1];
    const char *params = lc_sql_params(&sql, param_kinds);
    const char *columns = lc_sql_columns(&sql, column_kinds);
    sqlite3_stmt *prepared = NULL;
    lc_buf text;
    int code;

    lc_buf_init(&text, &v->env.heap, LOCI_MEM_ENGINE, 1 << 20);
    lc_sql_rewrite(&text, &sql, &catalogue, probe_driver()->dialect, is_shadow);
    if (test_is_postgres()) {
        test_postgres_prepare(v->store, lc_buf_terminate(&text), params, columns);
        if (!is_shadow)
            check_plan(v, s, text.ptr, params);
        lc_buf_clear(&text);
        return;
    }
    code = sqlite3_prepare_v2(v->handle, text.ptr, (int)text.len, &prepared, NULL);
    if (code != SQLITE_OK)
        test_fail(__FILE__, __LINE__, "%s: %s: %s\n    %.*s", s->from->path, s->name,
                  sqlite3_errmsg(v->handle), (int)text.len, text.ptr);
    CHECK_EQ(sqlite3_bind_parameter_count(prepared), strlen(params));
    CHECK_EQ(sqlite3_column_count(prepared), columns != NULL ? strlen(columns) : 0);
    sqlite3_finalize(prepared);
    lc_buf_clear(&text);
}

static void check_file(visitor *v, const char *path)
{
    source from = {path, test_read_file(path).ptr};
    static statement s;

    for (const char *at = from.text; (at = strstr(at, "const lc_sql ")) != NULL;) {
        at += 13;
        if (!read_statement(&from, at, &s))
            continue;
        CHECK(!s.is_null[0] && !s.is_null[1]);
        CHECK_EQ(strspn(s.fields[1], "iftb"), strlen(s.fields[1]));
        CHECK_EQ(strspn(s.fields[2], "iftb"), strlen(s.fields[2]));
        if (strstr(path, "/postgres") == NULL)
            check_subset(&s);
        prepare(v, &s, false);
        prepare(v, &s, true);
        v->statements++;
    }
}

static void check_folder(visitor *v, const char *path, int depth)
{
    const char *other_driver = test_is_postgres() ? "sqlite" : "postgres";
    DIR *folder = opendir(path);
    const struct dirent *entry;

    CHECK(folder != NULL);
    while ((entry = readdir(folder)) != NULL) {
        const char *name = entry->d_name;
        const char *inside = test_path(path, name);
        size_t len = strlen(name);

        if (name[0] == '.')
            continue;
        /* What only one of them understands is in its driver. */
        if (strncmp(name, other_driver, strlen(other_driver)) == 0)
            continue;
        if (len > 2 && strcmp(name + len - 2, ".c") == 0)
            check_file(v, inside);
        else if (depth == 0 && strchr(name, '.') == NULL)
            check_folder(v, inside, 1);
    }
    closedir(folder);
}

/* ---- The test -------------------------------------------------------------------------------- */

static loci_status make_shadows(lc_tx *tx, void *ctx, loci_error *err)
{
    (void)ctx;
    return lc_schema_create_tables(tx, 1u << LC_TABLE_PROJECTION,
                                   &(lc_ddl){.suffix = "__new", .generation = 1}, err);
}

TEST(sql_prepare, every_statement_fits_the_tables)
{
    static const lc_catalogue catalogue = {.rooms = lc_engine_rooms};
    const char *store = test_store(test_tmpdir(), "store.db");
    visitor v = {.env = {.clock = lc_clock_system_us}};
    lc_schema_state state;
    lc_db *db = NULL;
    loci_error err;

    lc_heap_init(&v.env.heap, test_heap());
    lc_random_init(&v.env.random, 1);
    v.store = store;
    CHECK_OK(probe_driver()->open(&v.env, &catalogue,
                                  &(lc_db_target){.store = store, .is_created = true}, &db, &err),
             err);
    CHECK_OK(lc_schema_open(db, NULL, &state, &err), err);
    CHECK_OK(lc_db_write_one(db, 10000, make_shadows, NULL, &err), err);
    if (!test_is_postgres())
        CHECK_EQ(sqlite3_open(store, &v.handle), SQLITE_OK);
    check_folder(&v, test_source_path("src"), 0);
    CHECK_LE(40, v.statements); /* As many as there were when this was written. */
    sqlite3_close(v.handle);
    lc_db_close(db);
}
