/* The DDL statements for the two databases. */
#include "lib/test.h"

#include <string.h>

#include "store/catalogue.h"

static const lc_column columns[] = {
    LC_COLUMN("tenant_id", 't'),     LC_COLUMN("user_id", 't'),      LC_COLUMN("seq", 'i'),
    LC_COLUMN_OR_NULL("score", 'f'), LC_COLUMN_OR_NULL("body", 'b'), {0},
};
static const lc_index indexes[] = {
    {"score", "tenant_id, user_id, score desc", NULL, false},
    {"body", "tenant_id, user_id, body", "score is null", true},
    {NULL, NULL, NULL, false},
};
static const lc_table notes = {
    .name = "notes",
    .table_class = LC_TABLE_PROJECTION,
    .columns = columns,
    .key = "tenant_id, user_id, seq",
    .indexes = indexes,
};

static void check_text(lc_buf *out, const char *expected)
{
    CHECK_STATUS(LOCI_OK, lc_buf_status(out, NULL));
    CHECK_STR_EQ(lc_buf_str(out), expected);
    lc_buf_clear(out);
}

TEST(ddl, sqlite_tables_are_strict)
{
    lc_heap heap;
    lc_buf out;

    lc_heap_init(&heap, test_heap());
    lc_buf_init(&out, &heap, LOCI_MEM_ENGINE, 10000);
    lc_ddl_table(&out, &notes, &(lc_ddl){.dialect = LC_DIALECT_SQLITE, .suffix = "__new"});
    check_text(&out, "create table notes__new (\n"
                     "    tenant_id text not null,\n"
                     "    user_id text not null,\n"
                     "    seq integer not null,\n"
                     "    score real,\n"
                     "    body blob,\n"
                     "    primary key (tenant_id, user_id, seq)\n"
                     ") strict;\n");
}

/* Without collate "C" pages by key order would differ between the databases. */
TEST(ddl, postgres_text_compares_by_bytes)
{
    lc_heap heap;
    lc_buf out;

    lc_heap_init(&heap, test_heap());
    lc_buf_init(&out, &heap, LOCI_MEM_ENGINE, 10000);
    lc_ddl_table(&out, &notes, &(lc_ddl){.dialect = LC_DIALECT_POSTGRES, .suffix = ""});
    check_text(&out, "create table notes (\n"
                     "    tenant_id text collate \"C\" not null,\n"
                     "    user_id text collate \"C\" not null,\n"
                     "    seq bigint not null,\n"
                     "    score double precision,\n"
                     "    body bytea,\n"
                     "    primary key (tenant_id, user_id, seq)\n"
                     ");\n"
                     "alter table notes enable row level security;\n"
                     "create policy tenant on notes using"
                     " (tenant_id = nullif(current_setting('loci.tenant', true), ''));\n");
}

/* Only large tables, and only on PostgreSQL, are divided. */
TEST(ddl, large_tables_have_the_partitions_asked_for)
{
    lc_table large = notes;
    lc_ddl ddl = {.dialect = LC_DIALECT_POSTGRES, .suffix = "__new", .generation = 7};
    size_t plain_bytes;
    lc_heap heap;
    lc_buf out;

    lc_heap_init(&heap, test_heap());
    lc_buf_init(&out, &heap, LOCI_MEM_ENGINE, 10000);
    lc_ddl_table(&out, &notes, &ddl);
    plain_bytes = out.len;
    ddl.partitions = 2;
    lc_buf_reset(&out);
    lc_ddl_table(&out, &notes, &ddl);
    CHECK_EQ(out.len, plain_bytes);
    large.is_large = true;
    lc_buf_reset(&out);
    lc_ddl_table(&out, &large, &ddl);
    CHECK_CONTAINS(lc_buf_terminate(&out), ") partition by hash (tenant_id, user_id);");
    CHECK_CONTAINS(lc_buf_terminate(&out), "create table notes__7_1 partition of notes__new"
                                           " for values with (modulus 2, remainder 1);");
    ddl.dialect = LC_DIALECT_SQLITE;
    lc_buf_reset(&out);
    lc_ddl_table(&out, &large, &ddl);
    CHECK(strstr(lc_buf_terminate(&out), "partition") == NULL);
    lc_buf_clear(&out);
}

TEST(ddl, indexes_carry_their_generation)
{
    lc_table bare = notes;
    lc_heap heap;
    lc_buf out;

    bare.indexes = NULL;
    lc_heap_init(&heap, test_heap());
    lc_buf_init(&out, &heap, LOCI_MEM_ENGINE, 10000);
    lc_ddl_indexes(&out, &bare, &(lc_ddl){.suffix = "", .generation = 1});
    CHECK_EQ(out.len, 0);
    lc_ddl_indexes(&out, &notes, &(lc_ddl){.suffix = "__new", .generation = 7});
    check_text(&out, "create index notes_score_7 on notes__new (tenant_id, user_id, score desc);\n"
                     "create unique index notes_body_7 on notes__new (tenant_id, user_id, body) "
                     "where score is null;\n");
}
