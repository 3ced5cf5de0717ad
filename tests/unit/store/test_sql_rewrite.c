/* The rewriting that makes one statement right on both databases and on shadows. */
#include "lib/test.h"

#include <string.h>

#include "base/assert.h"
#include "store/db.h"

static const lc_column columns[] = {LC_COLUMN("tenant_id", 't'), LC_COLUMN("user_id", 't'), {0}};
static const lc_table facts = {.name = "facts",
                               .table_class = LC_TABLE_PROJECTION,
                               .columns = columns,
                               .key = "tenant_id, user_id"};
static const lc_table jobs = {.name = "jobs",
                              .table_class = LC_TABLE_OPERATIONAL,
                              .columns = columns,
                              .key = "tenant_id, user_id"};
static const lc_table *const tables[] = {&facts, &jobs, NULL};
static const lc_room room = {.name = "room", .tables = tables};
static const lc_room *const rooms[] = {&room, NULL};
static const lc_catalogue catalogue = {rooms};

static void check_rewrite(const char *text, const char *params, bool is_shadow,
                          const char *expected)
{
    lc_sql sql = {text, params, NULL};
    lc_heap heap;
    lc_buf out;

    lc_heap_init(&heap, test_heap());
    lc_buf_init(&out, &heap, LOCI_MEM_ENGINE, 10000);
    lc_sql_rewrite(&out, &sql, &catalogue, LC_DIALECT_SQLITE, is_shadow);
    CHECK_STATUS(LOCI_OK, lc_buf_status(&out, NULL));
    CHECK_STR_EQ(lc_buf_str(&out), expected);
    lc_buf_clear(&out);
}

/* In SQLite `$2` before `$1` is bound to the first value, silently. */
TEST(sql_rewrite, dollar_becomes_a_position)
{
    check_rewrite("update t set a=$2 where b=$1", "ti", false, "update t set a=?2 where b=?1");
    check_rewrite("select $1,$12,$2", "iiiiiiiiiiii", false, "select ?1,?12,?2");
    check_rewrite("select 1", "", false, "select 1");
}

TEST(sql_rewrite, quotes_and_comments_are_left_alone)
{
    check_rewrite("select '$2 facts', $1 -- $3 facts\n, \"$4\"", "t", true,
                  "select '$2 facts', ?1 -- $3 facts\n, \"$4\"");
    check_rewrite("select 'it''s $2 ''', $1 /* $3 facts */", "t", true,
                  "select 'it''s $2 ''', ?1 /* $3 facts */");
    check_rewrite("select $1 -- facts", "t", true, "select ?1 -- facts");
    check_rewrite("select $1 - 1 / 2", "i", true, "select ?1 - 1 / 2");
}

TEST(sql_rewrite, shadows_rename_projections_only)
{
    check_rewrite("insert into facts (a) values ($1) on conflict (a) do update set b = facts.b",
                  "t", true,
                  "insert into facts__new (a) values (?1) on conflict (a) do update set b = "
                  "facts__new.b");
    check_rewrite("select a from jobs, facts_old, facts", "", true,
                  "select a from jobs, facts_old, facts__new");
    check_rewrite("select 1facts from facts", "", true, "select 1facts from facts__new");
    check_rewrite("select a from facts", "", false, "select a from facts");
}

TEST(sql_rewrite, postgres_keeps_the_dollar)
{
    lc_sql sql = {"select $2, '$3' from facts where a = $1", "tt", "t"};
    lc_heap heap;
    lc_buf out;

    lc_heap_init(&heap, test_heap());
    lc_buf_init(&out, &heap, LOCI_MEM_ENGINE, 10000);
    lc_sql_rewrite(&out, &sql, &catalogue, LC_DIALECT_POSTGRES, true);
    CHECK_STR_EQ(lc_buf_str(&out), "select $2, '$3' from facts__new where a = $1");
    lc_buf_clear(&out);
}

static void note_fault(void *ctx, const char *what, const char *file, int line)
{
    (void)file;
    (void)line;
    *(const char **)ctx = what;
}

/* A statement with more or fewer parameters than declared is a bug, found when it is prepared. */
TEST(sql_rewrite, the_number_of_parameters_is_asserted)
{
    static const lc_sql wrong[] = {{"select $1", "", NULL}, {"select $1", "tt", NULL}};
    const char *volatile what = NULL;
    lc_heap heap;

    lc_heap_init(&heap, test_heap());
    for (volatile int i = 0; i < 2; i++) {
        lc_fault_frame frame = {.report = note_fault, .ctx = (void *)&what};
        lc_buf out;

        lc_buf_init(&out, &heap, LOCI_MEM_ENGINE, 10000);
        CHECK(lc_buf_reserve(&out, 100) != NULL); /* So that what the fault leaks is known. */
        what = NULL;
        if (LC_FAULT_ENTER(&frame))
            lc_sql_rewrite(&out, &wrong[i], &catalogue, LC_DIALECT_SQLITE, false);
        lc_fault_leave(&frame);
        CHECK(what != NULL);
        CHECK(strstr(what, "params") != NULL);
        lc_buf_clear(&out);
    }
}
