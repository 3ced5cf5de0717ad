/* The record of facts and the two tables that store it say the same. */
#include "lib/test.h"

#include "base/str.h"
#include "fact/fact_row.h"

static const lc_table *find_table(const char *name)
{
    static const lc_room *const rooms[] = {&lc_fact_room, NULL};
    static const lc_catalogue catalogue = {rooms};

    return lc_catalogue_find_table(&catalogue, loci_str_of(name));
}

static const lc_column *find_column(const lc_table *table, const char *name)
{
    const lc_column *column = table->columns;

    while (column->name != NULL && strcmp(column->name, name) != 0)
        column++;
    return column->name != NULL ? column : NULL;
}

static void check_table(const char *name, const lc_row_type *row, size_t others)
{
    const lc_table *table = find_table(name);
    size_t count = 0, stored = 0;

    CHECK(table != NULL);
    for (const lc_column *member = row->columns; member->name != NULL; member++) {
        const lc_column *column = find_column(table, member->name);

        if (member->kind == 0 || (member->flags & row->without) != 0)
            continue;
        CHECK(column != NULL);
        CHECK_EQ(column->kind, member->kind);
        CHECK_EQ(column->nullable, member->nullable);
        stored++;
    }
    for (const lc_column *column = table->columns; column->name != NULL; column++)
        count++;
    CHECK_EQ(stored, lc_row_width(row));
    CHECK_EQ(count, stored + others);
}

TEST(fact_columns, record_and_tables_agree)
{
    check_table("fact_current", &lc_fact_current_row, 3); /* tenant_id, user_id, place */
    check_table("fact_past", &lc_fact_row, 3);            /* tenant_id, user_id, ended_seq */
}

/* A column without a help text would be an undocumented member of the answer. */
TEST(fact_columns, everything_shown_is_explained)
{
    for (const lc_column *column = lc_fact_columns; column->name != NULL; column++)
        CHECK((column->flags & (LC_COL_SHOWN | LC_COL_REQUIRED)) == 0 || column->help != NULL);
}
