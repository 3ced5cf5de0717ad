/* calls.c - calls go through loci.h, except functions that read the SQLite file directly. */
#include "lib/calls.h"

#include <sqlite3.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "base/json.h"
#include "base/str.h"
#include "base/url.h"
#include "ops/page.h"

loci_open_options test_open_options(const char *store)
{
    loci_open_options options = LOCI_OPEN_OPTIONS_INIT;

    options.store = store;
    options.flags = LOCI_OPEN_INLINE | LOCI_OPEN_SEEDED;
    options.seed = 1;
    options.allocator = test_heap();
    return options;
}

loci_engine *test_open(const char *store)
{
    loci_open_options options = test_open_options(store);
    loci_engine *engine = NULL;
    loci_error err;

    CHECK_OK(loci_open(&options, &engine, &err), err);
    return engine;
}

loci_engine *test_open_threads(const char *store)
{
    loci_open_options options = test_open_options(store);
    loci_engine *engine = NULL;
    loci_error err;

    options.flags = 0;
    CHECK_OK(loci_open(&options, &engine, &err), err);
    return engine;
}

void test_close(loci_engine *engine)
{
    loci_error err;

    CHECK_OK(test_verify(engine, &err), err);
    loci_close(engine);
}

const char *test_json(const char *text)
{
    char *json;

    if (strchr(text, '\'') == NULL || strchr(text, '"') != NULL)
        return text;
    json = test_format("%s", text);
    for (char *at = json; (at = strchr(at, '\'')) != NULL; at++)
        *at = '"';
    return json;
}

loci_str test_call(loci_engine *engine, const char *operation, const char *args_format, ...)
{
    loci_answer *answer = NULL;
    loci_error err;
    loci_status status;
    char text[4096];
    va_list list;
    loci_str json;

    va_start(list, args_format);
    CHECK_LT(vsnprintf(text, sizeof text, test_json(args_format), list), sizeof text);
    va_end(list);
    status = loci_call(engine, operation, loci_str_of(test_json(text)), NULL, &answer, &err);
    if (status != LOCI_OK)
        test_fail(__FILE__, __LINE__, "%s %s\n    status: %s\n    message: %s %s", operation, text,
                  loci_status_name(status), err.message, err.data);
    json = loci_str_of(test_format("%s", loci_answer_json(answer).ptr));
    loci_answer_free(answer);
    return json;
}

loci_status test_try(loci_engine *engine, const char *operation, loci_str args, loci_error *err)
{
    loci_answer *answer = NULL;
    loci_status status = loci_call(engine, operation, args, NULL, &answer, err);

    loci_answer_free(answer);
    return status;
}

loci_status test_verify(loci_engine *engine, loci_error *err)
{
    return test_try(engine, "store.verify", loci_str_of("{}"), err);
}

const char *test_cursor_after(const char *key)
{
    struct {
        loci_str key, id;
    } at = {loci_str_of(key), LC_STR("fact_7ZZZZZZZZZZZZZZZZZZZZZZZZZ")}; /* Behind every id. */
    const lc_position by_key = {"ss", {0, sizeof(loci_str)}};
    char text[LC_CURSOR_BYTES_MAX];
    loci_str cursor = lc_cursor_encode(lc_op_find(LC_STR("fact.list")), &by_key, &at, text);

    return test_format("%.*s", (int)cursor.len, cursor.ptr);
}

/* ---- JSON ----------------------------------------------------------------------------------- */

static const lc_json *step_into(const lc_json *value, loci_str step)
{
    int64_t index;

    if (lc_json_kind_of(value) == LC_JSON_OBJECT)
        return lc_json_member(value, step);
    if (lc_json_kind_of(value) != LC_JSON_ARRAY || !lc_str_to_i64(step, &index))
        return NULL;
    value = lc_json_first(value);
    while (value != NULL && index-- > 0)
        value = lc_json_next(value);
    return value;
}

/* The value at `path`, in `arena`; NULL when there is none. */
static const lc_json *find(lc_arena *arena, loci_str json, const char *path)
{
    const lc_json *value = NULL;
    loci_str rest = loci_str_of(path);
    loci_error err;

    CHECK_OK(lc_json_parse(arena, json, LC_JSON_ALLOW_NUL, &value, &err), err);
    while (value != NULL && rest.ptr != NULL)
        value = step_into(value, lc_str_split(rest, '.', &rest));
    return value;
}

loci_str test_member(loci_str json, const char *path)
{
    lc_heap heap;
    lc_arena arena;
    lc_buf buf;
    lc_json_writer writer;
    const lc_json *value;
    loci_str text = {"", 0};

    lc_heap_init(&heap, (loci_allocator){0});
    lc_arena_init(&arena, &heap, LOCI_MEM_REQUESTS);
    lc_buf_init(&buf, &heap, LOCI_MEM_REQUESTS, LC_JSON_BYTES_MAX);
    value = find(&arena, json, path);
    if (value != NULL) {
        lc_jw_init(&writer, &buf);
        lc_jw_value(&writer, value);
        text = loci_str_of(test_format("%.*s", (int)buf.len, buf.ptr));
    }
    lc_buf_clear(&buf);
    lc_arena_clear(&arena);
    return text;
}

int64_t test_member_int(loci_str json, const char *path)
{
    loci_str text = test_member(json, path);
    int64_t value = INT64_MIN;

    if (!lc_str_to_i64(text, &value))
        test_fail(__FILE__, __LINE__, "%s is not an integer in %.*s", path, LC_STR_ARG(json));
    return value;
}

loci_str test_member_text(loci_str json, const char *path)
{
    lc_heap heap;
    lc_arena arena;
    const lc_json *value;
    loci_str text = {"", 0};

    lc_heap_init(&heap, (loci_allocator){0});
    lc_arena_init(&arena, &heap, LOCI_MEM_REQUESTS);
    value = find(&arena, json, path);
    if (value != NULL && lc_json_kind_of(value) == LC_JSON_STRING)
        text = loci_str_of(
            test_format("%.*s", (int)lc_json_str(value).len, lc_json_str(value).ptr));
    lc_arena_clear(&arena);
    return text;
}

/* ---- The file ------------------------------------------------------------------------------- */

static sqlite3 *open_file(const char *store)
{
    sqlite3 *db = NULL;

    if (sqlite3_open_v2(store, &db, SQLITE_OPEN_READWRITE, NULL) != SQLITE_OK)
        test_fail(__FILE__, __LINE__, "%s: %s", store, sqlite3_errmsg(db));
    (void)sqlite3_busy_timeout(db, 5000);
    return db;
}

static sqlite3_stmt *prepare(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *statement = NULL;

    if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) != SQLITE_OK)
        test_fail(__FILE__, __LINE__, "%s: %s", sql, sqlite3_errmsg(db));
    return statement;
}

/* The sum of the rows' hashes: their order does not matter, a rebuild may change it. */
static uint64_t hash_table(sqlite3 *db, const char *table)
{
    sqlite3_stmt *rows = prepare(db, test_format("select * from \"%s\"", table));
    uint64_t sum = 0;

    while (sqlite3_step(rows) == SQLITE_ROW) {
        lc_hash128 hash = lc_hash128_chain((lc_hash128){0}, loci_str_of(table));

        for (int i = 0; i < sqlite3_column_count(rows); i++) {
            const char *bytes = sqlite3_column_blob(rows, i);
            size_t count = (size_t)sqlite3_column_bytes(rows, i);

            hash = lc_hash128_chain(hash, (loci_str){bytes != NULL ? bytes : "", count});
        }
        sum += hash.low;
    }
    sqlite3_finalize(rows);
    return sum;
}

uint64_t test_store_hash(const char *store, const char *except)
{
    sqlite3 *db;
    sqlite3_stmt *tables;
    uint64_t sum = 0;

    if (lc_url_is(store))
        return test_postgres_hash(store, except);
    db = open_file(store);
    tables = prepare(db, "select name from sqlite_schema where type = 'table'");

    while (sqlite3_step(tables) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(tables, 0);

        if (except == NULL || (strstr(except, name) == NULL && strstr(name, "__new") == NULL))
            sum += hash_table(db, name);
    }
    sqlite3_finalize(tables);
    sqlite3_close(db);
    return sum;
}

int64_t test_store_number(const char *store, const char *sql)
{
    sqlite3 *db;
    sqlite3_stmt *statement;
    int64_t result;

    if (lc_url_is(store))
        return test_postgres_run(store, sql);
    db = open_file(store);
    statement = prepare(db, sql);
    result = sqlite3_step(statement) == SQLITE_ROW ? sqlite3_column_int64(statement, 0) : -1;

    sqlite3_finalize(statement);
    sqlite3_close(db);
    return result;
}

void test_store_run(const char *store, const char *sql)
{
    sqlite3 *db;

    if (lc_url_is(store)) {
        (void)test_postgres_run(store, sql);
        return;
    }
    db = open_file(store);
    if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
        test_fail(__FILE__, __LINE__, "%s: %s", sql, sqlite3_errmsg(db));
    sqlite3_close(db);
}

loci_str test_replayed(loci_str first)
{
    return loci_str_of(test_format("%.*s,\"replayed\":true}", (int)first.len - 1, first.ptr));
}
