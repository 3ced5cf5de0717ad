/* A record between its struct, events, answers and SQL (store/row.h). Rows of real tables are in
 * tests/contract/store/test_row.c. */
#include "lib/test.h"

#include <string.h>

#include "base/str.h"
#include "store/row.h"

typedef enum mood { MOOD_CALM, MOOD_GLAD, MOOD_CROSS } mood;

typedef struct note {
    loci_str id;
    loci_str topic;
    loci_str text;
    loci_str author;
    int author_rank;
    int64_t seq;
    int64_t said_at;
    int64_t recorded_at;
    int64_t due_at;
    int64_t count;
    double weight;
    bool is_pinned;
    mood mood;
    loci_str tags;
    loci_str data;
    loci_str ended_by;
} note;

/* With the members that are computed for answers. */
typedef struct shown_note {
    note note;
    loci_str status;
} shown_note;

static const lc_column columns[] = {
    LC_COLUMN("tenant_id", 't'),
    LC_COLUMN("user_id", 't'),
    LC_STRING_COLUMN(note, id, "id", LC_COL_REFS | LC_COL_CODED | LC_COL_REQUIRED),
    LC_INTEGER_COLUMN(note, seq, "seq", LC_COL_EVENT | LC_COL_REQUIRED | LC_COL_LAST),
    LC_STRING_COLUMN(note, topic, "topic", LC_COL_PAYLOAD | LC_COL_REQUIRED, .absent = "all"),
    LC_STRING_COLUMN(note, text, "body", LC_COL_PAYLOAD | LC_COL_CODED | LC_COL_REQUIRED,
                     .absent = "", .json = "text"),
    LC_COMPUTED(LC_TYPE_STRING, shown_note, status, "status", LC_COL_SHOWN),
    LC_STRING_COLUMN(note, author, "author",
                     LC_COL_NULL | LC_COL_PAYLOAD | LC_COL_RANKED | LC_COL_SHOWN,
                     .shown = "said_by"),
    LC_RANK_COLUMN(note, author_rank, "author_rank", LC_COL_NULL),
    LC_TIME_COLUMN(note, said_at, "said_at",
                   LC_COL_PAYLOAD | LC_COL_CODED | LC_COL_SINCE | LC_COL_REQUIRED),
    LC_TIME_COLUMN(note, recorded_at, "recorded_at", LC_COL_EVENT),
    LC_TIME_COLUMN(note, due_at, "due_at", LC_COL_NULL | LC_COL_PAYLOAD | LC_COL_SHOWN,
                   .none = INT64_MAX),
    LC_INTEGER_COLUMN(note, count, "uses", LC_COL_PAYLOAD | LC_COL_SHOWN, .none = -1),
    LC_NUMBER_COLUMN(note, weight, "weight", LC_COL_PAYLOAD | LC_COL_SHOWN),
    LC_BOOLEAN_COLUMN(note, is_pinned, "is_pinned", LC_COL_PAYLOAD | LC_COL_REQUIRED),
    LC_ENUM_COLUMN(note, mood, "mood", LC_COL_PAYLOAD | LC_COL_SHOWN, .choices = "calm|glad|cross"),
    LC_STRINGS_COLUMN(note, tags, "tags", LC_COL_NULL | LC_COL_PAYLOAD | LC_COL_REQUIRED),
    LC_ANY_COLUMN(note, data, "data", LC_COL_NULL | LC_COL_PAYLOAD | LC_COL_SHOWN),
    LC_STRING_COLUMN(note, ended_by, "ended_by", LC_COL_NULL | LC_COL_PART),
    {0},
};
static const lc_row_type row_type = {columns, 0};
static const lc_row_type short_type = {columns, LC_COL_PART};

static note full_note(void)
{
    return (note){.id = LC_STR("note_1"),
                  .topic = LC_STR("home"),
                  .text = LC_STR("say \"hi\""),
                  .author = LC_STR("Boss"),
                  .author_rank = 4,
                  .seq = 7,
                  .said_at = 1000000,
                  .recorded_at = 2000000,
                  .due_at = 3000000,
                  .count = 3,
                  .weight = 0.5,
                  .is_pinned = true,
                  .mood = MOOD_CROSS,
                  .tags = LC_STR("[\"a\"]"),
                  .data = LC_STR("{\"b\":1}"),
                  .ended_by = LC_STR("note_9")};
}

static note empty_note(void)
{
    return (note){.id = LC_STR("note_1"),
                  .topic = LC_STR("all"),
                  .text = LC_STR(""),
                  .seq = 7,
                  .said_at = 0,
                  .recorded_at = 2000000,
                  .due_at = INT64_MAX,
                  .count = -1};
}

static void check_note(const note *a, const note *b)
{
    CHECK_STR_EQ(a->id, b->id);
    CHECK_STR_EQ(a->topic, b->topic);
    CHECK_STR_EQ(a->text, b->text);
    CHECK_STR_EQ(a->author, b->author);
    CHECK_EQ(a->author_rank, b->author_rank);
    CHECK_EQ(a->seq, b->seq);
    CHECK_EQ(a->said_at, b->said_at);
    CHECK_EQ(a->recorded_at, b->recorded_at);
    CHECK_EQ(a->due_at, b->due_at);
    CHECK_EQ(a->count, b->count);
    CHECK(a->weight == b->weight);
    CHECK_EQ(a->is_pinned, b->is_pinned);
    CHECK_EQ(a->mood, b->mood);
    CHECK_STR_EQ(a->tags, b->tags);
    CHECK_STR_EQ(a->data, b->data);
}

static lc_heap heap;

static void init_buf(lc_buf *buf)
{
    lc_heap_init(&heap, test_heap());
    lc_buf_init(buf, &heap, LOCI_MEM_ENGINE, 100000);
}

static const char *text_of(lc_buf *buf)
{
    const char *text = test_format("%.*s", (int)buf->len, buf->ptr);

    lc_buf_clear(buf);
    return text;
}

static const char *encoded(const note *row, unsigned part)
{
    lc_json_writer out;
    lc_buf buf;

    init_buf(&buf);
    lc_jw_init(&out, &buf);
    lc_jw_object(&out);
    lc_row_encode(&row_type, row, part, &out);
    lc_jw_end(&out);
    return text_of(&buf);
}

static const char *answered(const shown_note *row)
{
    lc_json_writer out;
    lc_buf buf;

    init_buf(&buf);
    lc_jw_init(&out, &buf);
    lc_jw_object(&out);
    lc_row_put(&row_type, row, &out);
    lc_jw_end(&out);
    return text_of(&buf);
}

TEST(row, an_event_has_what_differs_from_the_default)
{
    note full = full_note(), empty = empty_note();

    CHECK_STR_EQ(encoded(&full, LC_COL_REFS), "{\"id\":\"note_1\"}");
    CHECK_STR_EQ(encoded(&full, LC_COL_PAYLOAD),
                 "{\"topic\":\"home\",\"text\":\"say \\\"hi\\\"\",\"author\":[\"Boss\",4],"
                 "\"said_at\":\"1970-01-01T00:00:01Z\",\"due_at\":\"1970-01-01T00:00:03Z\","
                 "\"uses\":3,\"weight\":0.5,\"is_pinned\":true,\"mood\":\"cross\",\"tags\":[\"a\"],"
                 "\"data\":{\"b\":1}}");
    CHECK_STR_EQ(encoded(&empty, LC_COL_PAYLOAD),
                 "{\"text\":\"\",\"said_at\":\"1970-01-01T00:00:00Z\"}");
    empty.author = LC_STR("Nobody"); /* Without a rank the word was not given. */
    CHECK_STR_EQ(encoded(&empty, LC_COL_PAYLOAD),
                 "{\"text\":\"\",\"said_at\":\"1970-01-01T00:00:00Z\"}");
}

static const lc_event_type note_event = {.name = "note.made", .version = 1};

static loci_status decode(const char *refs, const char *payload, bool is_erased, note *out)
{
    lc_event event = {.seq = 7,
                      .type = &note_event,
                      .recorded_at = 2000000,
                      .refs = loci_str_of(refs),
                      .payload = loci_str_of(payload),
                      .is_erased = is_erased};
    lc_arena arena;
    loci_status status;

    lc_heap_init(&heap, test_heap());
    lc_arena_init(&arena, &heap, LOCI_MEM_REQUESTS);
    status = lc_row_decode(&row_type, &event, &arena, out, NULL);
    if (status == LOCI_OK) /* The arena ends here. */
        lc_row_copy(&row_type, out, test_bytes(lc_row_bytes(&row_type, out)));
    lc_arena_clear(&arena);
    return status;
}

TEST(row, what_was_encoded_is_decoded)
{
    note full = full_note(), empty = empty_note(), got;

    CHECK_STATUS(LOCI_OK,
                 decode(encoded(&full, LC_COL_REFS), encoded(&full, LC_COL_PAYLOAD), false, &got));
    check_note(&got, &full);
    CHECK(got.ended_by.ptr == NULL); /* In no event. */
    CHECK_STATUS(LOCI_OK, decode(encoded(&empty, LC_COL_REFS), encoded(&empty, LC_COL_PAYLOAD),
                                 false, &got));
    check_note(&got, &empty);
}

TEST(row, an_erased_event_gives_defaults)
{
    note got, empty = empty_note();

    CHECK_STATUS(LOCI_OK, decode("{\"id\":\"note_1\"}", "", true, &got));
    empty.said_at = 2000000; /* When it was recorded. */
    check_note(&got, &empty);
}

TEST(row, refs_without_a_coded_member_are_corrupt)
{
    note got;

    CHECK_STATUS(LOCI_ECORRUPT, decode("{}", "{}", false, &got));
    CHECK_STATUS(LOCI_ECORRUPT, decode("{\"id\":\"\"}", "{}", false, &got));
}

TEST(row, a_ranked_word_that_is_no_pair_is_none)
{
    static const char *const payloads[] = {
        "{\"author\":\"Boss\"}",      "{\"author\":[\"Boss\"]}",     "{\"author\":[4,\"Boss\"]}",
        "{\"author\":[\"Boss\",-1]}", "{\"author\":[\"Boss\",4,5]}",
    };

    for (size_t i = 0; i < sizeof payloads / sizeof *payloads; i++) {
        note got;

        CHECK_STATUS(LOCI_OK, decode("{\"id\":\"n\"}", payloads[i], false, &got));
        CHECK_EQ(got.author_rank, 0);
        CHECK(got.author.ptr == NULL);
    }
}

TEST(row, an_answer_has_computed_members_in_their_place)
{
    shown_note full = {full_note(), LC_STR("open")}, empty = {empty_note(), LC_STR_NONE};

    CHECK_STR_EQ(answered(&full),
                 "{\"id\":\"note_1\",\"topic\":\"home\",\"text\":\"say \\\"hi\\\"\","
                 "\"status\":\"open\",\"said_by\":\"Boss\",\"said_at\":\"1970-01-01T00:00:01Z\","
                 "\"due_at\":\"1970-01-01T00:00:03Z\",\"uses\":3,\"weight\":0.5,\"is_pinned\":true,"
                 "\"mood\":\"cross\",\"tags\":[\"a\"],\"data\":{\"b\":1},\"seq\":7}");
    CHECK_STR_EQ(answered(&empty),
                 "{\"id\":\"note_1\",\"topic\":\"all\",\"text\":\"\","
                 "\"said_at\":\"1970-01-01T00:00:00Z\",\"is_pinned\":false,\"tags\":[],\"seq\":7}");
}

TEST(row, defaults_of_nullable_columns_are_bound_as_null)
{
    note full = full_note(), empty = empty_note();
    lc_arg args[LC_ROW_COLUMNS_MAX];
    char kinds[LC_ROW_COLUMNS_MAX + 1] = {0};

    CHECK_EQ(lc_row_width(&row_type), 16);
    CHECK_EQ(lc_row_width(&short_type), 15);
    lc_row_bind(&row_type, &full, args);
    for (int i = 0; i < 16; i++)
        kinds[i] = args[i].kind;
    CHECK_STR_EQ(kinds, "titttiiiiifitttt");
    CHECK_STR_EQ(args[12].as.str, "cross");
    lc_row_bind(&row_type, &empty, args);
    for (int i = 0; i < 16; i++)
        kinds[i] = args[i].kind == 0 ? '-' : args[i].kind;
    CHECK_STR_EQ(kinds, "titt--ii-ifit---");
    empty.text = LC_STR_NONE; /* Not NULL in the table: the default stands for it. */
    lc_row_bind(&row_type, &empty, args);
    CHECK(args[3].as.str.ptr != NULL);
}

TEST(row, keeping_moves_every_text)
{
    char id[] = "note_1", tags[] = "[]";
    note row = {.id = {id, 6}, .topic = LC_STR(""), .tags = {tags, 2}};
    lc_arena arena;

    lc_heap_init(&heap, test_heap());
    lc_arena_init(&arena, &heap, LOCI_MEM_REQUESTS);
    CHECK(lc_row_keep(&row_type, &arena, &row));
    memset(id, 'x', sizeof id);
    memset(tags, 'x', sizeof tags);
    CHECK_STR_EQ(row.id, "note_1");
    CHECK_STR_EQ(row.tags, "[]");
    CHECK(row.topic.ptr != NULL); /* Empty is not none. */
    CHECK(row.data.ptr == NULL);
    lc_arena_clear(&arena);
}

TEST(row, all_texts_fit_in_the_bytes_they_need)
{
    note row = full_note(), empty = empty_note();
    size_t bytes = lc_row_bytes(&row_type, &row);
    char *block;

    lc_heap_init(&heap, test_heap());
    block = lc_heap_zalloc(&heap, bytes, LOCI_MEM_INDEX); /* Notices what is written past it. */
    CHECK_EQ(bytes, 1 + 6 + 4 + 8 + 4 + 5 + 7 + 6);
    CHECK_EQ(lc_row_bytes(&row_type, &empty), 1 + 6 + 3);
    lc_row_copy(&row_type, &row, block);
    CHECK(row.id.ptr == block);
    CHECK_STR_EQ(row.ended_by, "note_9");
    lc_heap_free(&heap, block, bytes, LOCI_MEM_INDEX);
}

/* ---- Answers with null, groups and arrays ---------------------------------------------------- */

typedef struct badge {
    char name[8];
    unsigned char mark[4];
    int64_t until;
    loci_str fault;
    loci_str reason;
    int64_t done, total;
} badge;

static const lc_column badge_columns[] = {
    LC_CHARS_COLUMN(badge, name, "name", LC_COL_NULL | LC_COL_OR_NULL | LC_COL_LAST),
    LC_BYTES_COLUMN(badge, mark, "mark", 0),
    LC_TIME_COLUMN(badge, until, "until", LC_COL_OR_NULL, .none = INT64_MAX),
    LC_STRING_COLUMN(badge, fault, "fault", LC_COL_NULL | LC_COL_OR_NULL, .json = "code",
                     .group = "error"),
    LC_STRING_COLUMN(badge, reason, "reason", LC_COL_NULL | LC_COL_REQUIRED, .group = "error"),
    LC_INTEGER_COLUMN(badge, done, "done", LC_COL_REQUIRED, .group = "progress"),
    LC_INTEGER_COLUMN(badge, total, "total", LC_COL_OR_NULL, .group = "progress"),
    {0},
};
static const lc_column detail_columns[] = {
    LC_STRING_COLUMN(badge, fault, "fault", LC_COL_NULL | LC_COL_REQUIRED, .group = "error"),
    LC_STRING_COLUMN(badge, reason, "reason", LC_COL_NULL | LC_COL_SHOWN, .group = "error"),
    LC_INTEGER_COLUMN(badge, total, "total", LC_COL_SHOWN),
    {0},
};

static const char *badge_answer(const lc_column *of, const badge *row)
{
    const lc_row_type type = {of, 0};
    lc_json_writer out;
    lc_buf buf;

    init_buf(&buf);
    lc_jw_init(&out, &buf);
    lc_jw_object(&out);
    lc_row_put(&type, row, &out);
    lc_jw_end(&out);
    return text_of(&buf);
}

TEST(row, an_answer_has_null_where_a_member_may_be_null)
{
    badge none = {.until = INT64_MAX};
    badge full = {.name = "gate", .until = 1000000, .fault = LC_STR("busy"), .done = 2, .total = 3};

    CHECK_STR_EQ(badge_answer(badge_columns, &none),
                 "{\"until\":null,\"error\":null,\"progress\":{\"done\":0,\"total\":null},"
                 "\"name\":null}");
    CHECK_STR_EQ(badge_answer(badge_columns, &full),
                 "{\"until\":\"1970-01-01T00:00:01Z\",\"error\":{\"code\":\"busy\","
                 "\"reason\":\"\"},\"progress\":{\"done\":2,\"total\":3},\"name\":\"gate\"}");
}

TEST(row, a_group_without_its_first_member_is_left_out)
{
    badge none = {.total = 3}, full = {.fault = LC_STR("busy"), .total = 3};

    CHECK_STR_EQ(badge_answer(detail_columns, &none), "{\"total\":3}");
    CHECK_STR_EQ(badge_answer(detail_columns, &full),
                 "{\"error\":{\"fault\":\"busy\"},\"total\":3}");
}

static const lc_row_type badge_type = {badge_columns, 0};

/* Reads a row with this name and mark; all others are NULL. */
static loci_status read_badge(loci_str name, loci_str mark, badge *out)
{
    static const lc_sql sql = {"select {row} from badges", "", "", &badge_type};
    lc_rows rows = {.sql = &sql, .kinds = "tbittii", .column_count = 7};

    rows.cells[0] = LC_T(name);
    rows.cells[1] = LC_B(mark);
    return lc_row_read(&rows, out, NULL);
}

TEST(row, text_that_does_not_fit_its_array_is_corrupt)
{
    badge got;
    lc_arg args[LC_ROW_COLUMNS_MAX];

    CHECK_STATUS(LOCI_OK, read_badge(LC_STR("1234567"), LC_STR("abcd"), &got));
    CHECK_STR_EQ(got.name, "1234567");
    CHECK_EQ(got.until, INT64_MAX);
    lc_row_bind(&badge_type, &got, args);
    CHECK_EQ(args[0].kind, 't');
    CHECK_STR_EQ(args[0].as.str, "1234567");
    CHECK_EQ(args[1].kind, 'b');
    CHECK_STR_EQ(args[1].as.str, "abcd");
    CHECK_STATUS(LOCI_ECORRUPT, read_badge(LC_STR("12345678"), LC_STR("abcd"), &got));
    CHECK_STATUS(LOCI_ECORRUPT, read_badge(LC_STR("1"), LC_STR("abc"), &got));
    CHECK_STATUS(LOCI_ECORRUPT, read_badge(LC_STR("1"), LC_STR("abcde"), &got));
}

TEST(row, a_word_that_is_no_choice_is_corrupt)
{
    static const lc_column mood_columns[] = {
        LC_ENUM_COLUMN(note, mood, "mood", 0, .choices = "calm|glad|cross"), {0}};
    static const lc_row_type type = {mood_columns, 0};
    static const lc_sql sql = {"select {row} from notes", "", "", &type};
    lc_rows rows = {.sql = &sql, .kinds = "t", .column_count = 1};
    note got;

    rows.cells[0] = LC_T(LC_STR("glad"));
    CHECK_STATUS(LOCI_OK, lc_row_read(&rows, &got, NULL));
    CHECK_EQ(got.mood, MOOD_GLAD);
    rows.cells[0] = LC_T(LC_STR("sad"));
    CHECK_STATUS(LOCI_ECORRUPT, lc_row_read(&rows, &got, NULL));
}

/* ---- SQL ------------------------------------------------------------------------------------- */

static const lc_column small_columns[] = {
    LC_COLUMN("tenant_id", 't'),
    LC_COLUMN("user_id", 't'),
    LC_STRING_COLUMN(note, id, "id", 0),
    LC_INTEGER_COLUMN(note, seq, "seq", 0),
    LC_STRING_COLUMN(note, ended_by, "ended_by", LC_COL_NULL | LC_COL_PART),
    {0},
};
static const lc_row_type small_type = {small_columns, 0};
static const lc_row_type open_type = {small_columns, LC_COL_PART};
static const lc_column open_columns[] = {
    LC_COLUMN("tenant_id", 't'),
    LC_COLUMN("user_id", 't'),
    LC_COLUMN("id", 't'),
    LC_COLUMN("seq", 'i'),
    {0},
};
static const lc_table open_table = {.name = "open_notes",
                                    .table_class = LC_TABLE_PROJECTION,
                                    .columns = open_columns,
                                    .key = "tenant_id, user_id, id"};
static const lc_table past_table = {.name = "past_notes",
                                    .table_class = LC_TABLE_PROJECTION,
                                    .columns = small_columns,
                                    .key = "tenant_id, user_id, id"};
static const lc_table *const tables[] = {&open_table, &past_table, NULL};
static const lc_room room = {.name = "note", .tables = tables};
static const lc_room *const rooms[] = {&room, NULL};
static const lc_catalogue catalogue = {rooms};

static const char *rewritten(const lc_sql *sql, lc_dialect dialect, bool is_shadow)
{
    lc_buf buf;

    init_buf(&buf);
    lc_sql_rewrite(&buf, sql, &catalogue, dialect, is_shadow);
    return text_of(&buf);
}

TEST(row, sql_names_the_columns_of_a_row)
{
    lc_sql sql = {"select {row}, 1 from past_notes where id = $1", "t", "i", &small_type};
    lc_sql joined = {"select {n.row} from past_notes n", "", "", &small_type};
    char kinds[LC_SQL_KINDS_MAX + 1];

    CHECK_STR_EQ(rewritten(&sql, LC_DIALECT_SQLITE, true),
                 "select id, seq, ended_by, 1 from past_notes__new where id = ?1");
    CHECK_STR_EQ(lc_sql_columns(&sql, kinds), "titi");
    CHECK_STR_EQ(lc_sql_params(&sql, kinds), "t");
    CHECK_STR_EQ(rewritten(&joined, LC_DIALECT_SQLITE, false),
                 "select n.id, n.seq, n.ended_by from past_notes n");
}

TEST(row, sql_reads_a_column_that_the_table_lacks_as_null)
{
    lc_sql sql = {"select {row} from (select {row} from open_notes union all"
                  " select {row} from past_notes) f",
                  "", "", &small_type};

    CHECK_STR_EQ(rewritten(&sql, LC_DIALECT_POSTGRES, false),
                 "select id, seq, ended_by from (select id, seq, cast(null as text) as ended_by"
                 " from open_notes union all select id, seq, ended_by from past_notes) f");
}

TEST(row, sql_numbers_the_parameters_of_a_row_behind_the_others)
{
    lc_sql insert = {"insert into open_notes (tenant_id, user_id, {row}) values ($1, $2, {values})"
                     " on conflict (tenant_id, user_id, id) do update set {excluded}",
                     "tt", NULL, &open_type};
    lc_sql update = {
        "update past_notes set {set} where tenant_id = $1 and user_id = $2 and id = $3", "ttt",
        NULL, &small_type};
    char kinds[LC_SQL_KINDS_MAX + 1];

    CHECK_STR_EQ(rewritten(&insert, LC_DIALECT_POSTGRES, false),
                 "insert into open_notes (tenant_id, user_id, id, seq) values ($1, $2, $3, $4)"
                 " on conflict (tenant_id, user_id, id) do update set seq = excluded.seq");
    CHECK_STR_EQ(lc_sql_params(&insert, kinds), "ttti");
    CHECK_STR_EQ(rewritten(&update, LC_DIALECT_SQLITE, false),
                 "update past_notes set seq = ?5, ended_by = ?6"
                 " where tenant_id = ?1 and user_id = ?2 and id = ?3");
    CHECK_STR_EQ(lc_sql_params(&update, kinds), "ttttit");
}

/* ---- Out of memory --------------------------------------------------------------------------- */

static loci_status keep_and_decode(void *ctx)
{
    note row = full_note();
    lc_event event = {.seq = 7,
                      .type = &note_event,
                      .refs = LC_STR("{\"id\":\"n\"}"),
                      .payload = LC_STR("{\"tags\":[\"a\"],\"data\":{\"b\":[1,2]}}")};
    lc_arena arena;
    loci_status status;

    (void)ctx;
    lc_heap_init(&heap, test_heap());
    lc_arena_init(&arena, &heap, LOCI_MEM_REQUESTS);
    status = lc_row_keep(&row_type, &arena, &row) ? LOCI_OK : LOCI_ERESOURCE;
    if (status != LOCI_OK)
        CHECK_STR_EQ(row.id, "note_1"); /* As it was. */
    else
        status = lc_row_decode(&row_type, &event, &arena, &row, NULL);
    lc_arena_clear(&arena);
    return status;
}

TEST(row, survives_running_out_of_memory)
{
    test_oom_sweep(keep_and_decode, NULL);
}
