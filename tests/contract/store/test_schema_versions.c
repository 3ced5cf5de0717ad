/* A store of every older version is brought to exactly the shape that a new one has, and what it
 * held is still there. */
#include "contract/probe_fixture.h"
#include "lib/calls.h"

#include <sqlite3.h>

#include "base/str.h"
#include "engine/rooms.h"

/* Tables that versions after the first brought. */
static bool is_newer(const lc_table *table)
{
    static const char *const names[] = {"tokens",        "vectors",       "session_activity",
                                        "working_items", "request_usage", "kept_contexts",
                                        "kept_lines",    "model_usage"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (lc_str_is(loci_str_of(names[i]), table->name))
            return true;
    return false;
}

/* The rooms with the log and operational tables of version 1. */
static const lc_catalogue *catalogue_1(void)
{
    enum { ROOMS = 16, TABLES = 16 };
    static const lc_table *tables[ROOMS][TABLES];
    static lc_room older[ROOMS];
    static const lc_room *rooms[ROOMS + 1];
    static const lc_catalogue catalogue = {.rooms = rooms};
    size_t room = 0;

    for (; lc_engine_rooms[room] != NULL; room++) {
        size_t count = 0;

        CHECK_LT(room, ROOMS);
        for (const lc_table *const *table = lc_engine_rooms[room]->tables; *table != NULL;
             table++) {
            CHECK_LT(count, TABLES - 1);
            if (!is_newer(*table))
                tables[room][count++] = *table;
        }
        tables[room][count] = NULL;
        older[room] = *lc_engine_rooms[room];
        older[room].tables = tables[room];
        rooms[room] = &older[room];
    }
    rooms[room] = NULL;
    return &catalogue;
}

static const char *make_version_1(void)
{
    const char *path = probe_path();
    lc_env env = {.clock = lc_clock_system_us};
    lc_schema_state state;
    loci_error err;
    lc_db *db;

    lc_heap_init(&env.heap, test_heap());
    lc_random_init(&env.random, 7);
    CHECK_OK(probe_driver()->open(&env, catalogue_1(),
                                  &(lc_db_target){.store = path, .is_created = true}, &db, &err),
             err);
    CHECK_OK(lc_schema_open(db, NULL, &state, &err), err);
    lc_db_close(db);
    test_store_run(path, "update meta set value = '1' where name = 'schema_version'");
    CHECK_EQ(test_store_number(path, "select count(*) from sqlite_schema where name = 'tokens'"),
             0);
    return path;
}

/* How many tables and indexes of `a` are not, in the same words, in `b`. */
static int differences(const char *a, const char *b)
{
    sqlite3 *db;
    sqlite3_stmt *statement;
    int count;

    if (test_is_postgres())
        return (int)test_postgres_differences(a, b);

    CHECK_EQ(sqlite3_open(a, &db), SQLITE_OK);
    CHECK_EQ(sqlite3_exec(db, test_format("attach '%s' as other", b), NULL, NULL, NULL), SQLITE_OK);
    CHECK_EQ(sqlite3_prepare_v2(db,
                                "select count(*) from (select type, name, sql from sqlite_schema "
                                "except select type, name, sql from other.sqlite_schema)",
                                -1, &statement, NULL),
             SQLITE_OK);
    CHECK_EQ(sqlite3_step(statement), SQLITE_ROW);
    count = sqlite3_column_int(statement, 0);
    (void)sqlite3_finalize(statement);
    (void)sqlite3_close(db);
    return count;
}

TEST(schema_versions, version_1_becomes_what_a_new_store_is)
{
    const char *old = make_version_1(), *new = probe_path();
    loci_engine *engine = test_open(old);

    test_call(engine, "fact.write", "{'key':'city','value':'Oslo'}");
    test_call(engine, "token.create", "{'name':'ci'}");
    test_close(engine);
    loci_close(test_open(new));
    CHECK_EQ(differences(old, new), 0);
    CHECK_EQ(differences(new, old), 0);
    CHECK_EQ(test_store_number(
                 old, "select cast(value as bigint) from meta where name = 'schema_version'"),
             LC_SCHEMA_VERSION);
}

/* What was known before the migration is known after it. */
TEST(schema_versions, what_version_1_held_is_kept)
{
    const char *path = probe_path();
    loci_engine *engine = test_open(path);

    test_call(engine, "fact.write", "{'key':'city','value':'Oslo'}");
    test_close(engine);
    test_store_run(path, "drop table tokens; drop table vectors; drop table session_activity;"
                         "drop table working_items; drop table request_usage;"
                         "drop table kept_contexts; drop table kept_lines; drop table model_usage;"
                         "update meta set value = '1' where name = 'schema_version'");
    engine = test_open(path);
    CHECK_STR_EQ(test_member(test_call(engine, "fact.current", "{'key':'city'}"), "value"),
                 "\"Oslo\"");
    CHECK_STR_EQ(test_member(test_call(engine, "token.list", "{}"), "tokens"), "[]");
    test_close(engine);
}

/* A blob in the words of the database. */
static const char *blob(const char *hex)
{
    return test_format(test_is_postgres() ? "'\\x%s'" : "x'%s'", hex);
}

/* The table of version 7, with a vector of four floats for each text: 1, -0.5, 0 and 0.25. */
static void make_vectors_7(const char *path, int count)
{
    const char *rows = "";

    test_store_run(path,
                   test_is_postgres()
                       ? "alter table vectors drop constraint vectors_pkey,"
                         " add primary key (tenant_id, user_id, content, generation)"
                       : "drop table vectors; create table vectors (tenant_id text not null,"
                         " user_id text not null, content blob not null, generation text not null,"
                         " vector blob not null,"
                         " primary key (tenant_id, user_id, content, generation)) strict");
    for (int i = 0; i < count; i++)
        rows = test_format("%s%s('default', 'user%d', %s, 'g%d', %s)", rows, i > 0 ? ", " : "",
                           i % 7, blob(test_format("%032x", i)), i % 3,
                           blob("0000803f000000bf000000000000803e"));
    test_store_run(path, test_format("insert into vectors (tenant_id, user_id, content, generation,"
                                     " vector) values %s",
                                     rows));
    test_store_run(path, "update meta set value = '7' where name = 'schema_version'");
}

/* Vectors that callers gave cannot be made again: all are converted, page by page. */
TEST(schema_versions, vectors_of_version_7_become_codes)
{
    const char *path = probe_path(), *new = probe_path();

    loci_close(test_open(path));
    make_vectors_7(path, 300);
    loci_close(test_open(path));
    loci_close(test_open(new));
    CHECK_EQ(test_store_number(path, "select count(*) from vectors"), 300);
    CHECK_EQ(test_store_number(path, test_format("select count(*) from vectors where vector = %s",
                                                 blob("0402013c7fc00020"))),
             300);
    CHECK_EQ(differences(path, new), 0);
    CHECK_EQ(differences(new, path), 0);
}
