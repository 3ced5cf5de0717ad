/* rebuild.c - replaying the log beside the same statements with ready values in a plain SQLite
 * loop.
 *
 * P11 of the quality page: at least 0.6. Both write the facts of the same log into a new table with
 * the same indexes, which exist from the beginning, in commits of 10,000, and then put it in the
 * place of the one made before. The plain loop binds values that wait in memory; loci reads events,
 * decodes them and finds out what to run. They take turns on one file, round by round; each figure
 * is the median. BENCH_ROUNDS says how many there are. The file is made in $TMPDIR or /tmp: it
 * should be a real disk.
 */
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/str.h"
#include "engine/rooms.h"
#include "fact/fact.h"
#include "lib/bare_store.h"
#include "lib/rounds.h"
#include "store/event.h"
#include "store/rebuild.h"
#include "store/schema.h"

#define EVENTS_MAX 100000
#define SLICES 10
#define ROUNDS 7
#define ROUNDS_MAX 101

typedef struct row { /* One event's outcome, ready to bind. */
    char *id, *key, *value, *source, *supersedes;
    int64_t seq, observed_at, recorded_at;
} row;

static char path[300];
static lc_env env;
static lc_catalogue catalogue;
static row rows[EVENTS_MAX];
static int events; /* How many there are, */
static int slice;  /* and in one transaction. */

static _Noreturn void die(const char *what)
{
    fprintf(stderr, "rebuild: %s\n", what);
    exit(1);
}

static double now_s(void)
{
    return (double)lc_clock_monotonic_us() / 1e6;
}

/* ---- The log -------------------------------------------------------------------------------- */

static loci_status write_facts(lc_tx *tx, void *ctx, loci_error *err)
{
    int first = *(const int *)ctx;
    loci_status status = LOCI_OK;

    for (int n = first; status == LOCI_OK && n < first + slice; n++) {
        char key[16], value[256];
        lc_fact_result written;
        lc_fact_plan *plan;
        lc_fact_input fact = {.source = LC_STR("user"),
                              .trust = LC_STR("user"),
                              .authority = {LC_STR("manager"), LC_RANK_MANAGER},
                              .observed_at = LOCI_AT_CLOCK,
                              .valid_until = LC_FACT_NO_TIME};
        lc_arena_mark mark = lc_arena_get_mark(&tx->db->scratch);

        snprintf(key, sizeof key, BENCH_KEY_FORMAT, n % BENCH_SLOTS);
        snprintf(value, sizeof value, BENCH_VALUE_FORMAT, n);
        fact.key = loci_str_of(key);
        fact.value = loci_str_of(value);
        status = lc_fact_decide(tx, &fact, &tx->db->scratch, &plan, err);
        if (status == LOCI_OK)
            status = lc_fact_commit(tx, plan, &tx->db->scratch, &written, err);
        lc_arena_rewind(&tx->db->scratch, mark);
    }
    return status;
}

static lc_db *open_store(void)
{
    lc_schema_state state;
    loci_error err;
    lc_db *db = NULL;

    if (lc_sqlite_driver.open(&env, &catalogue, &(lc_db_target){.store = path, .is_created = true},
                              &db, &err) != LOCI_OK ||
        lc_schema_open(db, NULL, &state, &err) != LOCI_OK)
        die(err.message);
    return db;
}

static void make_log(void)
{
    lc_db *db = open_store();

    for (int first = 0; first < events; first += slice) {
        lc_write write = {.tenant_id = LC_STR("default"),
                          .user_id = LC_STR("default"),
                          .now_us = lc_clock_system_us(NULL),
                          .deadline_us = INT64_MAX,
                          .body = write_facts,
                          .ctx = &first};

        lc_db_write(db, &write);
        if (write.status != LOCI_OK)
            die(write.error.message);
    }
    lc_db_close(db);
}

/* ---- The plain loop ------------------------------------------------------------------------- */

static void run(sqlite3 *db, const char *sql)
{
    if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
        die(sqlite3_errmsg(db));
}

static sqlite3_stmt *prepare(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *statement;

    if (sqlite3_prepare_v3(db, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, NULL) != SQLITE_OK)
        die(sqlite3_errmsg(db));
    return statement;
}

static sqlite3 *open_bare(void)
{
    sqlite3 *db;

    if (sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL) != SQLITE_OK)
        die("cannot open the store");
    run(db,
        "pragma temp_store = memory; pragma foreign_keys = on; pragma secure_delete = on;"
        "pragma synchronous = full; pragma wal_autocheckpoint = 1000; pragma cache_size = -8192;");
    return db;
}

static char *copy_column(sqlite3_stmt *statement, int column)
{
    const char *text = (const char *)sqlite3_column_text(statement, column);

    return text == NULL ? NULL : strdup(text);
}

static void load_rows(void)
{
    sqlite3 *db = open_bare();
    sqlite3_stmt *statement = prepare(
        db, "select id, key, value, source, supersedes, seq, observed_at, recorded_at"
            " from fact_current union all"
            " select id, key, value, source, supersedes, seq, observed_at, recorded_at"
            " from fact_past order by seq");
    int count = 0;

    for (; count < events && sqlite3_step(statement) == SQLITE_ROW; count++)
        rows[count] = (row){.id = copy_column(statement, 0),
                            .key = copy_column(statement, 1),
                            .value = copy_column(statement, 2),
                            .source = copy_column(statement, 3),
                            .supersedes = copy_column(statement, 4),
                            .seq = sqlite3_column_int64(statement, 5),
                            .observed_at = sqlite3_column_int64(statement, 6),
                            .recorded_at = sqlite3_column_int64(statement, 7)};
    if (count != events)
        die("the log is not what it should be");
    sqlite3_finalize(statement);
    sqlite3_close(db);
}

static void bind(sqlite3_stmt *statement, int place, const char *text)
{
    sqlite3_bind_text(statement, place, text, -1, SQLITE_STATIC);
}

static void step(sqlite3 *db, sqlite3_stmt *statement)
{
    if (sqlite3_step(statement) != SQLITE_DONE)
        die(sqlite3_errmsg(db));
    sqlite3_reset(statement);
}

/* The statements of one event. */
typedef struct plain {
    sqlite3_stmt *find, *keep, *insert, *replace;
} plain;

static void bind_row(sqlite3_stmt *statement, const row *r)
{
    bind(statement, 1, "default");
    bind(statement, 2, "default");
    bind(statement, 3, r->id);
    sqlite3_bind_int64(statement, 4, r->seq);
    bind(statement, 5, r->key);
    bind(statement, 6, r->value);
    bind(statement, 7, r->source);
    sqlite3_bind_int64(statement, 8, r->observed_at);
    sqlite3_bind_int64(statement, 9, r->recorded_at);
    if (r->supersedes != NULL)
        bind(statement, 10, r->supersedes);
    else
        sqlite3_bind_null(statement, 10);
}

/* The slots take turns, so the version before is BENCH_SLOTS rows back. */
static void put_row(sqlite3 *db, const plain *p, const row *r)
{
    if (r->supersedes == NULL) {
        bind_row(p->insert, r);
        step(db, p->insert);
        return;
    }
    bind(p->find, 1, "default");
    bind(p->find, 2, "default");
    sqlite3_bind_int64(p->find, 3, r[-BENCH_SLOTS].seq);
    bind(p->find, 4, r[-BENCH_SLOTS].id);
    if (sqlite3_step(p->find) != SQLITE_ROW)
        die("the version before is not there");
    sqlite3_reset(p->find);
    bind_row(p->keep, &r[-BENCH_SLOTS]);
    bind(p->keep, 11, r->id);
    sqlite3_bind_int64(p->keep, 12, r->recorded_at);
    sqlite3_bind_int64(p->keep, 13, r->seq);
    step(db, p->keep);
    bind_row(p->replace, r);
    step(db, p->replace);
}

/* A table like `like`, made by the catalogue as that one was. */
static void create_peer(sqlite3 *db, const char *like, const char *name)
{
    lc_table table = *lc_catalogue_find_table(&catalogue, loci_str_of(like));
    lc_buf text;

    table.name = name;
    lc_buf_init(&text, &env.heap, LOCI_MEM_ENGINE, 100000);
    lc_ddl_table(&text, &table, &(lc_ddl){.dialect = LC_DIALECT_SQLITE, .suffix = ""});
    lc_ddl_indexes(&text, &table, &(lc_ddl){.dialect = LC_DIALECT_SQLITE, .suffix = ""});
    run(db, lc_buf_terminate(&text));
    lc_buf_clear(&text);
}

/* Those of the tables that have just been renamed: their names are needed again. */
static void drop_indexes(sqlite3 *db)
{
    sqlite3_stmt *names = prepare(db, "select 'drop index ' || name from sqlite_schema where"
                                      " type = 'index' and sql is not null"
                                      " and tbl_name in ('former', 'former_past')");
    char texts[16][64];
    int count = 0;

    while (count < 16 && sqlite3_step(names) == SQLITE_ROW)
        snprintf(texts[count++], sizeof texts[0], "%s", sqlite3_column_text(names, 0));
    sqlite3_finalize(names);
    for (int i = 0; i < count; i++)
        run(db, texts[i]);
}

#define NEW_COLUMNS                                                                                \
    "tenant_id, user_id, id, seq, key, value, source, authority, authority_rank, trust,"           \
    " memory_type, scope, scope_id, persona_id, observed_at, recorded_at, is_constraint,"          \
    " is_multi, needs_review, has_derived, supersedes"
#define NEW_VALUES                                                                                 \
    "?1, ?2, ?3, ?4, ?5, ?6, ?7, 'manager', 4, 'user', 'user', 'global', '', '', ?8, ?9, 0, 0, 0," \
    " 0, ?10"

static const char find_text[] = "select * from peer where tenant_id = ?1"
                                " and user_id = ?2 and seq = ?3 and id = ?4";

static const char keep_text[] = "insert into peer_past (" NEW_COLUMNS
                                ", standing, superseded_by, ended_at, ended_seq)"
                                " values (" NEW_VALUES ", 'superseded', ?11, ?12, ?13)";

static const char insert_text[] = "insert into peer (" NEW_COLUMNS ", place) values (" NEW_VALUES
                                  ", 0)";

static const char replace_text[] =
    "update peer set id = ?3, seq = ?4, value = ?6, source = ?7, authority = 'manager',"
    " authority_rank = 4, trust = 'user', memory_type = 'user', observed_at = ?8,"
    " recorded_at = ?9, valid_until = null, is_constraint = 0, constraint_type = null,"
    " min_read = null, min_read_rank = null, min_write = null, min_write_rank = null,"
    " required_permission = null, is_multi = 0, supersedes = ?10, depends_on = null,"
    " needs_review = 0, has_derived = 0 where tenant_id = ?1 and user_id = ?2"
    " and scope = 'global' and scope_id = '' and key = ?5 and persona_id = '' and place = 0";

static double run_bare(void)
{
    sqlite3 *db = open_bare();
    plain p;
    double start_s = now_s();

    create_peer(db, "fact_current", "peer");
    create_peer(db, "fact_past", "peer_past");
    p = (plain){prepare(db, find_text), prepare(db, keep_text), prepare(db, insert_text),
                prepare(db, replace_text)};
    for (int n = 0; n < events; n++) {
        if (n % slice == 0)
            run(db, "begin immediate");
        put_row(db, &p, &rows[n]);
        if (n % slice == slice - 1)
            run(db, "commit");
    }
    sqlite3_finalize(p.find);
    sqlite3_finalize(p.keep);
    sqlite3_finalize(p.insert);
    sqlite3_finalize(p.replace);
    run(db, "begin immediate; drop table if exists former; drop table if exists former_past;"
            "alter table peer rename to former; alter table peer_past rename to former_past;");
    drop_indexes(db);
    run(db, "commit");
    start_s = now_s() - start_s;
    sqlite3_close(db);
    return start_s;
}

static double run_loci(void)
{
    lc_db *db = open_store();
    loci_error err;
    double start_s = now_s();

    if (lc_rebuild_run(db, NULL, NULL, &err) != LOCI_OK)
        die(err.message);
    start_s = now_s() - start_s;
    lc_db_close(db);
    return start_s;
}

/* ---- The rounds ----------------------------------------------------------------------------- */

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double median(double *values, int count)
{
    qsort(values, (size_t)count, sizeof values[0], compare);
    return values[count / 2];
}

int main(void)
{
    const char *asked = getenv("BENCH_ROUNDS");
    const char *tmp = getenv("TMPDIR");
    int count = asked != NULL ? (int)strtol(asked, NULL, 10) : ROUNDS;
    double loci[ROUNDS_MAX], bare[ROUNDS_MAX], ratio[ROUNDS_MAX], ratio_median;
    char dir[256];

    if (count < 1 || count > ROUNDS_MAX)
        die("BENCH_ROUNDS: expected 1 to 101");
    events = bench_size(EVENTS_MAX);
    slice = events / SLICES;
    snprintf(dir, sizeof dir, "%s/loci-bench-XXXXXX", tmp != NULL ? tmp : "/tmp");
    if (mkdtemp(dir) == NULL)
        die("no directory");
    snprintf(path, sizeof path, "%s/store.db", dir);
    lc_heap_init(&env.heap, (loci_allocator){0});
    lc_random_init(&env.random, 1);
    env.clock = lc_clock_system_us;
    catalogue.rooms = lc_engine_rooms;
    make_log();
    load_rows();
    (void)run_bare(); /* From now on both drop a table of the same size. */
    for (int i = 0; i < count; i++) {
        loci[i] = events / run_loci();
        bare[i] = events / run_bare();
        ratio[i] = loci[i] / bare[i];
    }
    ratio_median = median(ratio, count);
    printf("{\"bench\":\"rebuild\",\"case\":\"facts\",\"events\":%d,\"rounds\":%d,"
           "\"loci_per_s\":%.0f,\"bare_per_s\":%.0f,\"ratio\":%.3f,\"wanted\":0.6,\"ok\":%s}\n",
           events, count, median(loci, count), median(bare, count), ratio_median,
           ratio_median >= 0.6 ? "true" : "false");
    fprintf(stderr, "rebuild: %.0f events/s, %.2f of the same statements in bare SQLite (%.0f/s)\n",
            median(loci, count), ratio_median, median(bare, count));
    (void)unlink(path);
    (void)rmdir(dir); /* Companions of the file went with its last connection. */
    return 0;
}
