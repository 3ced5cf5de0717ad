/* Division of large tables: a store has the same content with any number of partitions, also if
 * clients write while the number changes. */
#include "contract/history_fixture.h"

#include <string.h>

#include "base/str.h"
#include "engine/engine.h"
#include "store/discard.h"
#include "store/partition.h"
#include "store/upkeep.h"

#define STEPS 120
#define EVERY 30
#define SLICES 60

static const int64_t counts[] = {3, 8, 1, 2};

/* Number of partitions of a table, from the server's catalogue. */
static int64_t partitions_of(const facts *f, const char *table)
{
    return test_store_number(f->store,
                             test_format("select count(*) from pg_inherits where inhparent ="
                                         " to_regclass('%s')",
                                         table));
}

/* The last line of an export has the hash of all others. */
static const char *exported(facts *f)
{
    const char *path = test_format("%s/export.jsonl", test_tmpdir());
    const char *end;

    facts_call(f, "store.export", "{'path':'%s','force':true}", path);
    end = strstr(test_read_file(path).ptr, "\"hash\":");
    CHECK(end != NULL);
    return end;
}

static void check_replays(facts *f)
{
    loci_str answer = facts_call(f, "store.rebuild", "{'wait':true}");

    CHECK_STR_EQ(test_member(answer, "result.equal"), "true");
    CHECK_OK(test_verify(f->engine, &f->err), f->err);
}

static void divide(facts *f, int64_t partitions)
{
    const char *before = exported(f);
    loci_str answer = facts_call(f, "store.partition", "{'partitions':%d}", (int)partitions);

    CHECK_STR_EQ(test_member_text(answer, "status"), "done");
    CHECK_STR_EQ(test_member(answer, "result.equal"), "true");
    answer = facts_call(f, "store.status", "{}");
    CHECK_EQ(test_member_int(answer, "partitions"), partitions);
    CHECK_EQ(test_member_int(answer, "tables_dividing"), 0);
    CHECK_EQ(test_member_int(answer, "tables_discarding"), 0);
    CHECK_EQ(partitions_of(f, "events"), partitions > 1 ? partitions : 0);
    CHECK_EQ(partitions_of(f, "vectors"), partitions > 1 ? partitions : 0);
    CHECK_EQ(partitions_of(f, "messages"), partitions > 1 ? partitions : 0);
    CHECK_EQ(partitions_of(f, "sessions"), 0);
    CHECK_STR_EQ(loci_str_of(exported(f)), before);
    check_replays(f);
    CHECK_EQ(partitions_of(f, "messages"), partitions > 1 ? partitions : 0);
}

TEST_ON(TEST_SERVERS, partition, a_store_is_divided_and_joined_at_any_point_of_its_history)
{
    history *h = history_open(7);
    size_t at = 0;

    test_timeout(600);
    for (h->step = 0; h->step < STEPS; h->step++) {
        history_step(h);
        if (h->step % EVERY == EVERY - 1)
            divide(&h->f, counts[at++]);
    }
    /* The same number again has nothing to do. */
    CHECK(strstr(facts_call(&h->f, "store.partition", "{'partitions':2}").ptr, "result") == NULL);
    facts_close(&h->f);
}

/* ---- Beside writers -------------------------------------------------------------------------- */

typedef struct division {
    facts *f;
    const lc_table *table;
    int64_t partitions;
    int slice;
    void (*between)(struct division *d);
    const char *before; /* The export before the swap. */
} division;

static loci_status want(lc_tx *tx, void *ctx, loci_error *err)
{
    return lc_partition_want(tx, ((const division *)ctx)->partitions, err);
}

/* A slice copies a few rows, and something is written behind each. */
static loci_status divide_slowly(lc_db *db, void *ctx, loci_error *err)
{
    division *d = ctx;
    lc_partition p;
    bool is_new = false;
    loci_status status = lc_db_write_one(db, LC_UPKEEP_WAIT_MS, want, d, err);

    d->table = lc_catalogue_find_table(db->catalogue, LC_STR("events"));
    lc_partition_init(&p, &db->env->heap, d->table);
    if (status == LOCI_OK)
        status = lc_partition_begin(&p, db, &is_new, err);
    CHECK(is_new);
    while (status == LOCI_OK && !p.is_over) {
        p.limit = d->slice < SLICES ? 3 : 1000;
        status = lc_partition_copy(&p, db, err);
        if (status == LOCI_OK && d->slice++ < SLICES)
            d->between(d);
    }
    d->before = exported(d->f);
    if (status == LOCI_OK)
        status = lc_partition_swap(&p, db, err);
    lc_partition_clear(&p);
    return status;
}

/* Users on both sides of the position of the copy. */
static void write_between(division *d)
{
    static const char *const users[] = {"aaa", "mmm", "zzz"};
    const char *user = users[d->slice % 3];

    facts_call(d->f, "fact.write", "{'user_id':'%s','key':'k%d','value':'between %d'}", user,
               d->slice % 7, d->slice);
    if (d->slice % 10 == 4)
        facts_call(d->f, "fact.forget", "{'user_id':'%s','key':'k%d'}", user, d->slice % 7);
    if (d->slice == 20)
        facts_call(d->f, "store.compact", "{'before':'2033-01-01T00:00:00Z','user':'mmm'}");
    if (d->slice == 30)
        facts_call(d->f, "user.forget", "{'user_id':'aaa'}");
    d->f->now_us += MINUTE_US;
}

static void open_with_users(facts *f)
{
    facts_open(f);
    for (int i = 0; i < 40; i++) {
        facts_call(f, "fact.write", "{'user_id':'aaa','key':'k%d','value':%d}", i % 7, i);
        facts_call(f, "fact.write", "{'user_id':'mmm','key':'k%d','value':%d}", i % 7, i);
        facts_call(f, "fact.write", "{'user_id':'zzz','key':'k%d','value':%d}", i % 7, i);
        f->now_us += MINUTE_US;
    }
}

TEST_ON(TEST_SERVERS, partition, every_change_during_the_copy_is_in_it)
{
    division d = {.partitions = 4, .between = write_between};
    facts f;

    test_timeout(600);
    open_with_users(&f);
    d.f = &f;
    CHECK_OK(lc_engine_with_connection(f.engine, divide_slowly, &d, &f.err), f.err);
    CHECK_LE(40, d.slice); /* All of write_between() was done. */
    CHECK_EQ(partitions_of(&f, "events"), 4);
    CHECK_STR_EQ(loci_str_of(exported(&f)), d.before);
    CHECK_OK(test_verify(f.engine, &f.err), f.err);
    CHECK_EQ(test_store_number(f.store, "select count(*) from pg_proc where proname like"
                                        " 'loci!_copy%' escape '!' and pronamespace ="
                                        " to_regnamespace(current_schema())"),
             0);
    facts_close(&f);
}

/* Forgotten text must leave the copy, too: at this slice it has all rows of `aaa` and, by the
 * trigger alone, a new one of `zzz`. */
static void forget_between(division *d)
{
    static const char file_sql[] = "select relfilenode from pg_class where relname ="
                                   " 'events__of2_0' and relnamespace ="
                                   " to_regnamespace(current_schema())";
    int64_t file;

    if (d->slice != 20)
        return;
    file = test_store_number(d->f->store, file_sql);
    facts_call(d->f, "fact.write", "{'user_id':'zzz','key':'secret','value':'canary-behind'}");
    CHECK(facts_is_stored(d->f, "canary-before"));
    facts_call(d->f, "fact.forget", "{'user_id':'aaa','key':'secret','wait':true}");
    facts_call(d->f, "fact.forget", "{'user_id':'zzz','key':'secret','wait':true}");
    CHECK(!facts_is_stored(d->f, "canary-before"));
    CHECK(!facts_is_stored(d->f, "canary-behind"));
    /* The scrub has written the file of the copy again, without the rows that were deleted. */
    CHECK(test_store_number(d->f->store, file_sql) != file);
}

TEST_ON(TEST_SERVERS, partition, what_is_forgotten_is_in_no_copy)
{
    division d = {.partitions = 2, .between = forget_between};
    facts f;

    test_timeout(600);
    open_with_users(&f);
    facts_write(&f, "created", "{'user_id':'aaa','key':'secret','value':'canary-before'}");
    d.f = &f;
    CHECK_OK(lc_engine_with_connection(f.engine, divide_slowly, &d, &f.err), f.err);
    CHECK(!facts_is_stored(&f, "canary-before"));
    CHECK(!facts_is_stored(&f, "canary-behind"));
    facts_close(&f);
}

/* ---- Other roles and programs ---------------------------------------------------------------- */

/* Rows that a role sees in a table after it has said which tenant it serves. */
static int64_t seen_by_role(const facts *f, const char *table)
{
    return test_store_number(f->store, test_format("set role part_reader; set loci.tenant = 'none';"
                                                   " select count(*) from %s",
                                                   table));
}

static void give_reader_all_tables(const facts *f)
{
    test_store_run(f->store,
                   "drop role if exists part_reader; create role part_reader;"
                   " do $$ begin"
                   " execute format('grant usage on schema %I to part_reader', current_schema());"
                   " execute format('grant select on all tables in schema %I to part_reader',"
                   " current_schema());"
                   " execute format('alter default privileges in schema %I"
                   " grant select on tables to part_reader', current_schema()); end $$");
}

/* Partitions are tables with names of their own, and an administrator may have granted all. */
TEST_ON(TEST_SERVERS, partition, partitions_show_no_rows_to_other_roles)
{
    facts f;

    open_with_users(&f);
    give_reader_all_tables(&f);
    facts_call(&f, "store.partition", "{'partitions':2}");
    CHECK_LT(0, test_store_number(f.store, "select count(*) from events__of2_0"));
    CHECK_EQ(seen_by_role(&f, "events"), 0);
    CHECK_EQ(seen_by_role(&f, "events__of2_0"), 0);
    CHECK_EQ(seen_by_role(&f, "events__of2_1"), 0);
    CHECK_EQ(test_store_number(f.store, "select count(*) from pg_class c join pg_inherits i"
                                        " on i.inhrelid = c.oid where relkind = 'r' and"
                                        " relnamespace = to_regnamespace(current_schema())"
                                        " and not relrowsecurity"),
             0);
    facts_close(&f);
    test_store_run(f.store, "drop owned by part_reader; drop role part_reader");
}

/* The trigger works for a role that may write but owns nothing, and whatever schemas a program
 * looks into. */
static void write_as_others(division *d)
{
    if (d->slice == 1)
        test_store_run(d->f->store, "set role part_writer; update events set recorded_at ="
                                    " recorded_at + 1 where user_id = 'aaa' and seq = 1");
    if (d->slice == 2)
        test_store_run(d->f->store,
                       "do $$ begin perform set_config('loci.schema', current_schema(), false);"
                       " perform set_config('search_path', '', false); execute format('update"
                       " %I.events set recorded_at = recorded_at - 1 where user_id = ''aaa''"
                       " and seq = 1', current_setting('loci.schema')); end $$");
}

TEST_ON(TEST_SERVERS, partition, every_program_may_write_during_the_copy)
{
    division d = {.partitions = 2, .between = write_as_others};
    facts f;

    open_with_users(&f);
    test_store_run(f.store,
                   "drop role if exists part_writer; create role part_writer bypassrls;"
                   " do $$ begin"
                   " execute format('grant usage on schema %I to part_writer', current_schema());"
                   " end $$; grant select, insert, update, delete on events to part_writer");
    d.f = &f;
    CHECK_OK(lc_engine_with_connection(f.engine, divide_slowly, &d, &f.err), f.err);
    CHECK_LE(2, d.slice);
    CHECK_STR_EQ(loci_str_of(exported(&f)), d.before);
    facts_close(&f);
    test_store_run(f.store, "drop owned by part_writer; drop role part_writer");
}

/* ---- Plans ----------------------------------------------------------------------------------- */

static loci_status count_locks(lc_tx *tx, void *ctx, loci_error *err)
{
    static const lc_sql read_sql = {
        "select count(*) from events where tenant_id = $1 and user_id = $2", "tt", "i"};
    static const lc_sql locks_sql = {
        "select count(*) from pg_catalog.pg_locks l join pg_catalog.pg_inherits i"
        " on i.inhrelid = l.relation where l.pid = pg_backend_pid()"
        " and i.inhparent = to_regclass('events')",
        "", "i"};
    const lc_arg args[] = {LC_T(LC_STR("default")), LC_T(LC_STR("aaa"))};
    int64_t rows = 0;
    loci_status status = lc_tx_find_numbers(tx, &read_sql, args, &rows, err);

    CHECK_EQ(rows, 40);
    return status == LOCI_OK ? lc_tx_find_numbers(tx, &locks_sql, NULL, ctx, err) : status;
}

static loci_status read_one_user(lc_db *db, void *ctx, loci_error *err)
{
    return lc_db_read(db, INT64_MAX, count_locks, ctx, err);
}

/* A plan about all partitions costs every connection their number, for each of its statements. */
TEST_ON(TEST_SERVERS, partition, a_statement_of_one_user_is_about_one_of_many_partitions)
{
    int64_t locks = 0;
    facts f;

    open_with_users(&f);
    facts_call(&f, "store.partition", "{'partitions':32}");
    CHECK_OK(lc_engine_with_connection(f.engine, read_one_user, &locks, &f.err), f.err);
    CHECK_EQ(locks, 1);
    facts_close(&f);
}

/* ---- Interrupted ----------------------------------------------------------------------------- */

static loci_status copy_in_two_attempts(lc_db *db, void *ctx, loci_error *err)
{
    division *d = ctx;
    const lc_table *table = lc_catalogue_find_table(db->catalogue, LC_STR("events"));
    lc_partition first, second;
    bool is_new;

    CHECK_OK(lc_db_write_one(db, LC_UPKEEP_WAIT_MS, want, d, err), *err);
    lc_partition_init(&first, &db->env->heap, table);
    CHECK_OK(lc_partition_begin(&first, db, &is_new, err), *err);
    CHECK(is_new);
    first.limit = 50;
    CHECK_OK(lc_partition_copy(&first, db, err), *err);
    CHECK_EQ(first.rows, 50);
    lc_partition_init(&second, &db->env->heap, table);
    CHECK_OK(lc_partition_begin(&second, db, &is_new, err), *err);
    CHECK(!is_new);
    CHECK_OK(lc_partition_continue(&second, first.after, first.key_count, err), *err);
    lc_partition_clear(&first);
    while (!second.is_over)
        CHECK_OK(lc_partition_copy(&second, db, err), *err);
    CHECK_EQ(second.rows, test_store_number(d->f->store, "select count(*) from events") - 50);
    CHECK_OK(lc_partition_swap(&second, db, err), *err);
    lc_partition_clear(&second);
    return LOCI_OK;
}

TEST_ON(TEST_SERVERS, partition, an_interrupted_copy_continues_behind_its_last_row)
{
    division d = {.partitions = 2};
    facts f;

    open_with_users(&f);
    d.f = &f;
    d.before = exported(&f);
    CHECK_OK(lc_engine_with_connection(f.engine, copy_in_two_attempts, &d, &f.err), f.err);
    CHECK_STR_EQ(loci_str_of(exported(&f)), d.before);
    /* The job does the rest. */
    CHECK_LT(0, test_member_int(facts_call(&f, "store.status", "{}"), "tables_dividing"));
    facts_call(&f, "store.partition", "{'partitions':2}");
    CHECK_EQ(test_member_int(facts_call(&f, "store.status", "{}"), "tables_dividing"), 0);
    facts_close(&f);
}

static loci_status begin_again(lc_tx *tx, void *ctx, loci_error *err)
{
    (void)ctx;
    return lc_partition_drop_copies(tx, err);
}

/* A process is stopped before its swap. Another gives the division up and begins one of its own. */
static loci_status swap_too_late(lc_db *db, void *ctx, loci_error *err)
{
    division *d = ctx;
    const lc_table *table = lc_catalogue_find_table(db->catalogue, LC_STR("events"));
    lc_partition late, second;
    loci_error cause;
    bool is_new;

    CHECK_OK(lc_db_write_one(db, LC_UPKEEP_WAIT_MS, want, d, err), *err);
    lc_partition_init(&late, &db->env->heap, table);
    CHECK_OK(lc_partition_begin(&late, db, &is_new, err), *err);
    while (!late.is_over)
        CHECK_OK(lc_partition_copy(&late, db, err), *err);
    CHECK_OK(lc_db_write_one(db, LC_UPKEEP_WAIT_MS, begin_again, NULL, err), *err);
    lc_partition_init(&second, &db->env->heap, table);
    CHECK_OK(lc_partition_begin(&second, db, &is_new, err), *err);
    CHECK(is_new);
    second.limit = 5;
    CHECK_OK(lc_partition_copy(&second, db, err), *err);
    CHECK_STATUS(LOCI_EFENCED, lc_partition_swap(&late, db, &cause));
    CHECK_STR_EQ(loci_str_of(exported(d->f)), d->before);
    while (!second.is_over)
        CHECK_OK(lc_partition_copy(&second, db, err), *err);
    CHECK_OK(lc_partition_swap(&second, db, err), *err);
    lc_partition_clear(&late);
    lc_partition_clear(&second);
    return LOCI_OK;
}

TEST_ON(TEST_SERVERS, partition, a_copy_that_another_process_began_is_not_put_in_place)
{
    division d = {.partitions = 2};
    facts f;

    open_with_users(&f);
    d.f = &f;
    d.before = exported(&f);
    CHECK_OK(lc_engine_with_connection(f.engine, swap_too_late, &d, &f.err), f.err);
    CHECK_STR_EQ(loci_str_of(exported(&f)), d.before);
    facts_close(&f);
}

static loci_status begin_only(lc_db *db, void *ctx, loci_error *err)
{
    lc_partition p;
    bool is_new;

    CHECK_OK(lc_db_write_one(db, LC_UPKEEP_WAIT_MS, want, ctx, err), *err);
    lc_partition_init(&p, &db->env->heap,
                      lc_catalogue_find_table(db->catalogue, LC_STR("vectors")));
    CHECK_OK(lc_partition_begin(&p, db, &is_new, err), *err);
    lc_partition_clear(&p);
    return LOCI_OK;
}

/* Back to the number that the tables have: nothing is left of the attempt. */
TEST_ON(TEST_SERVERS, partition, a_division_is_given_up_by_asking_for_the_former_number)
{
    division d = {.partitions = 16};
    facts f;

    open_with_users(&f);
    CHECK_OK(lc_engine_with_connection(f.engine, begin_only, &d, &f.err), f.err);
    CHECK_EQ(partitions_of(&f, "vectors__copy"), 16);
    facts_call(&f, "store.partition", "{'partitions':1}");
    CHECK_EQ(partitions_of(&f, "vectors__copy"), 0);
    CHECK_EQ(test_store_number(f.store,
                               "select count(*) from pg_trigger where tgname = 'loci_copy' and"
                               " tgrelid = to_regclass('vectors')"),
             0);
    check_replays(&f);
    facts_close(&f);
}

/* ---- Refusals -------------------------------------------------------------------------------- */

TEST_ON(TEST_FILES, partition, the_tables_of_a_file_are_not_divided)
{
    facts f;

    facts_open(&f);
    facts_fail(&f, LOCI_EUNSUPPORTED, "PostgreSQL", "store.partition", "{\"partitions\":2}");
    facts_call(&f, "store.partition", "{'partitions':1}");
    CHECK_EQ(test_member_int(facts_call(&f, "store.status", "{}"), "partitions"), 1);
    facts_close(&f);
}
