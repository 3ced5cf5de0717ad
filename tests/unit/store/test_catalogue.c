/* The catalogue is data, so its mistakes are found by looking at it: each fault has an offender. */
#include "lib/test.h"

#include <string.h>

#include "base/str.h"
#include "engine/rooms.h"
#include "store/catalogue.h"
#include "store/db.h"

static loci_status apply_nothing(lc_tx *tx, const lc_event *event, loci_error *err)
{
    (void)tx;
    (void)event;
    (void)err;
    return LOCI_OK;
}

static loci_status upcast_nothing(loci_str payload, lc_buf *out, loci_error *err)
{
    (void)payload;
    (void)out;
    (void)err;
    return LOCI_OK;
}

static const lc_column note_columns[] = {
    LC_COLUMN("tenant_id", 't'),     LC_COLUMN("user_id", 't'),      LC_COLUMN("id", 't'),
    LC_COLUMN_OR_NULL("score", 'f'), LC_COLUMN_OR_NULL("body", 'b'), {0},
};
static const lc_index note_indexes[] = {
    {"score", "tenant_id, user_id, score desc", NULL, false},
    {NULL, NULL, NULL, false},
};
static const lc_sql forget_sql = {"delete from notes where tenant_id = $1 and user_id = $2", "tt",
                                  NULL};
static const lc_table notes = {
    .name = "notes",
    .table_class = LC_TABLE_PROJECTION,
    .columns = note_columns,
    .key = "tenant_id, user_id, id",
    .indexes = note_indexes,
    .forget = &forget_sql,
};
static const lc_event_type note_made = {.name = "note.made", .version = 1, .apply = apply_nothing};

/* The fault of a catalogue made of `table` (or NULL) beside the good one. */
static const char *fault_of(const lc_table *table)
{
    const lc_table *tables[] = {&notes, table, NULL};
    lc_room room = {.name = "room", .tables = tables};
    const lc_room *rooms[] = {&room, NULL};
    lc_catalogue catalogue = {rooms};

    return lc_catalogue_fault(&catalogue);
}

TEST(catalogue, the_stores_own_tables_have_no_fault)
{
    const lc_room *rooms[] = {&lc_store_room, NULL};
    lc_catalogue catalogue = {rooms};

    CHECK(lc_catalogue_fault(&catalogue) == NULL);
    CHECK(lc_catalogue_find_table(&catalogue, LC_STR("events")) != NULL);
    CHECK(lc_catalogue_find_table(&catalogue, LC_STR("event")) == NULL);
}

/* Operational tables whose rows stay when a user is forgotten: answers are emptied, and the others
 * hold nothing that a user said. One that is not named here needs `forget`. */
static loci_status check_kept(void *ctx, const lc_table *table, loci_error *err)
{
    static const char *const kept[] = {"requests", "request_usage", "jobs", "tokens",
                                       "rebuild_heads"};
    bool is_named = table->table_class != LC_TABLE_OPERATIONAL || table->is_store_wide ||
                    table->forget != NULL;

    (void)ctx;
    (void)err;
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        is_named |= strcmp(table->name, kept[i]) == 0;
    if (!is_named)
        test_fail(__FILE__, __LINE__, "%s: what becomes of it when a user is forgotten?",
                  table->name);
    return LOCI_OK;
}

TEST(catalogue, the_tables_of_all_rooms_have_no_fault)
{
    lc_catalogue catalogue = {lc_engine_rooms};
    const char *fault = lc_catalogue_fault(&catalogue);

    CHECK_STR_EQ(fault != NULL ? fault : "", "");
    CHECK_EQ(lc_catalogue_each(&catalogue, check_kept, NULL, NULL), LOCI_OK);
}

TEST(catalogue, finds_tables_and_events_by_whole_name)
{
    const lc_table *tables[] = {&notes, NULL};
    const lc_event_type *types[] = {&note_made, NULL};
    lc_room room = {.name = "room", .tables = tables, .events = types};
    lc_room bare = {.name = "bare", .tables = (const lc_table *[]){NULL}};
    const lc_room *rooms[] = {&bare, &room, NULL};
    lc_catalogue catalogue = {rooms};

    CHECK(lc_catalogue_find_table(&catalogue, LC_STR("notes")) == &notes);
    CHECK(lc_catalogue_find_table(&catalogue, LC_STR("notes_")) == NULL);
    CHECK(lc_catalogue_find_event(&catalogue, LC_STR("note.made")) == &note_made);
    CHECK(lc_catalogue_find_event(&catalogue, LC_STR("note.mad")) == NULL);
    CHECK(fault_of(NULL) == NULL);
}

static loci_status count_tables(void *ctx, const lc_table *table, loci_error *err)
{
    int *left = ctx;

    (void)table;
    (void)err;
    return --*left > 0 ? LOCI_OK : LOCI_ECANCELLED;
}

TEST(catalogue, each_stops_where_the_visitor_says)
{
    const lc_table *tables[] = {&notes, &notes, &notes, NULL};
    lc_room room = {.name = "room", .tables = tables};
    const lc_room *rooms[] = {&room, NULL};
    lc_catalogue catalogue = {rooms};
    int left = 2;

    CHECK_STATUS(LOCI_ECANCELLED, lc_catalogue_each(&catalogue, count_tables, &left, NULL));
    CHECK_EQ(left, 0);
    left = 4;
    CHECK_STATUS(LOCI_OK, lc_catalogue_each(&catalogue, count_tables, &left, NULL));
    CHECK_EQ(left, 1);
}

/* The fault of a table called `name` with one more column and this key. */
static const char *fault_of_shape(const char *name, const char *column, const char *key)
{
    lc_column columns[] = {
        LC_COLUMN("tenant_id", 't'),
        LC_COLUMN("user_id", 't'),
        LC_COLUMN_OR_NULL("maybe", 't'),
        LC_COLUMN(column, 'i'),
        {0},
    };
    lc_table table = {.name = name, .columns = columns, .key = key, .forget = &forget_sql};

    table.table_class = LC_TABLE_PROJECTION;
    return fault_of(&table);
}

TEST(catalogue, names_that_one_database_refuses_are_faults)
{
    static const char *const words[] = {"user",  "window", "analyze", "end",  "limit",
                                        "order", "offset", "group",   "table"};

    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const char *fault = fault_of_shape("pages", words[i], "tenant_id, user_id");

        CHECK(fault != NULL && strstr(fault, "reserved") != NULL);
        fault = fault_of_shape(words[i], "id", "tenant_id, user_id");
        CHECK(fault != NULL && strstr(fault, "reserved") != NULL);
    }
    CHECK(fault_of_shape("pages", "userid", "tenant_id, user_id") == NULL);
    CHECK(fault_of_shape("Pages", "id", "tenant_id, user_id") != NULL);
    CHECK(fault_of_shape("pages__new", "id", "tenant_id, user_id") != NULL);
    CHECK(fault_of_shape("1pages", "id", "tenant_id, user_id") != NULL);
    CHECK(fault_of_shape("", "id", "tenant_id, user_id") != NULL);
    CHECK(fault_of_shape("p2345678901234567890123456789012345678901", "id", "tenant_id, user_id") !=
          NULL);
    CHECK(fault_of_shape("p234567890123456789012345678901234567890", "id", "tenant_id, user_id") ==
          NULL);
}

TEST(catalogue, keys_must_begin_with_the_owner_and_name_columns)
{
    CHECK(fault_of_shape("pages", "id", "tenant_id, user_id, id") == NULL);
    CHECK(fault_of_shape("pages", "id", "user_id, tenant_id, id") != NULL);
    CHECK(fault_of_shape("pages", "id", "tenant_id, id") != NULL);
    CHECK(fault_of_shape("pages", "id", "tenant_id, user_id, maybe") != NULL);
    CHECK(fault_of_shape("pages", "id", "tenant_id, user_id, nothing") != NULL);
    CHECK(fault_of_shape("pages", "id", "") != NULL);
    CHECK(fault_of_shape("pages", "tenant_id", "tenant_id, user_id") != NULL);
    CHECK(fault_of_shape("notes", "id", "tenant_id, user_id") != NULL);
    /* A shadow's statements would have notes__new for the column, too. */
    CHECK(fault_of_shape("pages", "notes", "tenant_id, user_id") != NULL);
}

/* A user who is forgotten must not stay in a table that was overlooked. */
TEST(catalogue, every_projection_says_how_a_user_is_forgotten)
{
    lc_table table = notes;

    table.name = "pages";
    CHECK(fault_of(&table) == NULL);
    table.forget = NULL;
    CHECK(fault_of(&table) != NULL);
    table.table_class = LC_TABLE_OPERATIONAL;
    CHECK(fault_of(&table) == NULL);
}

TEST(catalogue, only_operational_tables_may_belong_to_nobody)
{
    static const lc_column columns[] = {LC_COLUMN("name", 't'), {0}};
    lc_table table = {.name = "flags", .columns = columns, .key = "name", .is_store_wide = true};

    table.table_class = LC_TABLE_OPERATIONAL;
    CHECK(fault_of(&table) == NULL);
    table.table_class = LC_TABLE_PROJECTION;
    CHECK(fault_of(&table) != NULL);
    table.table_class = LC_TABLE_OPERATIONAL;
    table.is_store_wide = false;
    CHECK(fault_of(&table) != NULL);
}

TEST(catalogue, indexes_must_name_columns_once)
{
    lc_index indexes[] = {{"one", "user_id, id", NULL, false}, {"two", "id desc", NULL, true}, {0}};
    lc_table table = notes;

    table.name = "pages";
    table.indexes = indexes;
    CHECK(fault_of(&table) == NULL);
    indexes[1].columns = "id nulls first";
    CHECK(fault_of(&table) != NULL);
    indexes[1].columns = "ids";
    CHECK(fault_of(&table) != NULL);
    indexes[1].columns = "id";
    indexes[1].name = "one";
    CHECK(fault_of(&table) != NULL);
}

/* PostgreSQL cannot check across partitions that a value is unique. */
TEST(catalogue, unique_indexes_of_large_tables_begin_with_the_owner)
{
    lc_index indexes[] = {{"one", "id", NULL, true}, {0}};
    lc_table table = notes;

    table.name = "pages";
    table.indexes = indexes;
    CHECK(fault_of(&table) == NULL);
    table.is_large = true;
    CHECK(fault_of(&table) != NULL);
    indexes[0].columns = "tenant_id, user_id, id";
    CHECK(fault_of(&table) == NULL);
}

/* The same for a type of event. */
static const char *fault_of_event(const lc_event_type *type)
{
    const lc_table *tables[] = {&notes, NULL};
    const lc_event_type *types[] = {&note_made, type, NULL};
    lc_room room = {.name = "room", .tables = tables, .events = types};
    const lc_room *rooms[] = {&room, NULL};
    lc_catalogue catalogue = {rooms};

    return lc_catalogue_fault(&catalogue);
}

TEST(catalogue, every_version_of_an_event_must_lead_to_the_next)
{
    lc_upcast *upcasts[] = {upcast_nothing, upcast_nothing};
    lc_event_type type = {
        .name = "note.lost", .version = 3, .upcasts = upcasts, .apply = apply_nothing};

    CHECK(fault_of_event(&type) == NULL);
    upcasts[1] = NULL;
    CHECK(fault_of_event(&type) != NULL);
}

TEST(catalogue, events_need_a_name_of_their_own_and_an_apply)
{
    lc_event_type type = {.name = "note.lost", .version = 1, .apply = apply_nothing};

    CHECK(fault_of_event(&type) == NULL);
    type.name = "note.made";
    CHECK(fault_of_event(&type) != NULL);
    type.name = "lost";
    CHECK(fault_of_event(&type) != NULL);
    type.name = "note.lost";
    type.version = 0;
    CHECK(fault_of_event(&type) != NULL);
    type.version = 2;
    CHECK(fault_of_event(&type) != NULL);
    type.version = 1;
    type.apply = NULL;
    CHECK(fault_of_event(&type) != NULL);
}

static uint64_t shape_of(const lc_table *table)
{
    const lc_table *tables[] = {table, NULL};
    lc_room room = {.name = "room", .tables = tables};
    const lc_room *rooms[] = {&room, NULL};
    lc_catalogue catalogue = {rooms};

    return lc_catalogue_shape(&catalogue);
}

/* A changed shape that goes unnoticed leaves a store whose tables the statements do not fit. */
TEST(catalogue, shape_changes_with_everything_a_projection_is_made_of)
{
    lc_column columns[] = {
        LC_COLUMN("tenant_id", 't'),     LC_COLUMN("user_id", 't'),      LC_COLUMN("id", 't'),
        LC_COLUMN_OR_NULL("score", 'f'), LC_COLUMN_OR_NULL("body", 'b'), {0},
    };
    lc_index indexes[] = {{"score", "tenant_id, user_id, score desc", NULL, false}, {0}};
    lc_table table = notes;
    uint64_t before = shape_of(&notes);

    table.columns = columns;
    table.indexes = indexes;
    CHECK_EQ(shape_of(&table), before);
    columns[3].nullable = false;
    CHECK_NE(shape_of(&table), before);
    columns[3].nullable = true;
    columns[3].kind = 'i';
    CHECK_NE(shape_of(&table), before);
    columns[3].kind = 'f';
    indexes[0].where = "score > 1";
    CHECK_NE(shape_of(&table), before);
    indexes[0].where = NULL;
    indexes[0].is_unique = true;
    CHECK_NE(shape_of(&table), before);
    indexes[0].is_unique = false;
    table.key = "tenant_id, user_id";
    CHECK_NE(shape_of(&table), before);
    table.key = notes.key;
    table.table_class = LC_TABLE_OPERATIONAL;
    CHECK_NE(shape_of(&table), before);
}
