/* Every list in pages: limit and cursor in, next_cursor out, nothing lost and nothing twice. */
#include "lib/calls.h"

#include "base/str.h"
#include "ops/check.h"

static const char *new_store(void)
{
    return test_store(test_tmpdir(), "store.db");
}

typedef struct list {
    const char *operation, *args, *rows, *id;
    int count; /* 0 = as many as one page of 1000 has. */
} list;

/* Walks the list in pages of `limit` and returns how many rows there were; the names of the rows
 * at `id` must all differ. */
static int count_rows(loci_engine *engine, const list *l, int limit)
{
    const char *cursor = "null", *seen = "|";
    int count = 0;

    do {
        loci_str page = test_call(engine, l->operation, "{'limit':%d,'cursor':%s%s}", limit, cursor,
                                  l->args);

        for (int i = 0; test_member(page, test_format("%s.%d", l->rows, i)).len > 0; i++) {
            const char *name = test_format(
                "|%s|", test_member(page, test_format("%s.%d.%s", l->rows, i, l->id)).ptr);

            CHECK_LT(i, limit);
            CHECK(strstr(seen, name) == NULL);
            seen = test_format("%s%s", seen, name);
            count++;
        }
        cursor = test_member(page, "next_cursor").ptr;
    } while (cursor[0] == '"' && count < 1000);
    CHECK_STR_EQ(cursor, "null");
    return count;
}

static void fill(loci_engine *engine)
{
    for (int i = 0; i < 5; i++) {
        test_call(engine, "fact.write", "{'key':'k%d','value':1}", i);
        test_call(engine, "fact.write", "{'key':'k','value':%d}", i);
        test_call(engine, "fact.write", "{'key':'k','value':'claim %d','trust':'web'}", i);
        test_call(engine, "session.open", "{'external_id':'s%d'}", i);
        test_call(engine, "session.append", "{'role':'user','text':'%d','session_id':'talk'}", i);
        test_call(engine, "working.set", "{'key':'w%d','value':1,'session_id':'talk'}", i);
        test_call(engine, "environment.set", "{'key':'e%d','value':1}", i);
        test_call(engine, "token.create", "{'name':'t%d'}", i);
    }
}

TEST(pages, walk_every_list_without_loss_or_repeat)
{
    static const list lists[] = {
        {"fact.list", "", "facts", "id", 6},
        {"fact.history", ",\"key\":\"k\"", "facts", "id", 5},
        {"fact.claims", "", "claims", "id", 5},
        {"session.list", "", "sessions", "id", 0},
        {"session.messages", ",\"session_id\":\"talk\"", "messages", "id", 5},
        {"working.list", ",\"session_id\":\"talk\"", "items", "key", 5},
        {"environment.list", "", "signals", "key", 6},
        {"event.list", "", "events", "seq", 0},
        {"token.list", "", "tokens", "id", 5},
        {"config.list", "", "settings", "name", 0},
        {"op.list", "", "operations", "name", 0},
    };
    loci_engine *engine = test_open(new_store());

    fill(engine);
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        int whole = count_rows(engine, &lists[i], 1000);

        CHECK_LT(1, whole);
        if (lists[i].count > 0)
            CHECK_EQ(whole, lists[i].count);
        for (int limit = 1; limit < 7; limit++)
            CHECK_EQ(count_rows(engine, &lists[i], limit), whole);
    }
    test_close(engine);
}

/* What a list shows between two pages may change; the position stays. */
TEST(pages, survive_the_deletion_of_the_row_they_stand_at)
{
    loci_engine *engine = test_open(new_store());
    loci_str page;

    fill(engine);
    page = test_call(engine, "working.list", "{'session_id':'talk','limit':2}");
    test_call(engine, "working.delete", "{'key':%s,'session_id':'talk'}",
              test_member(page, "items.1.key").ptr);
    page = test_call(engine, "working.list", "{'session_id':'talk','limit':1000,'cursor':%s}",
                     test_member(page, "next_cursor").ptr);
    CHECK_STR_EQ(test_member(page, "items.3"), "");
    CHECK_LT(0, test_member(page, "items.2").len);
    test_close(engine);
}

static void expect_refused(loci_engine *engine, const char *operation, const char *cursor)
{
    loci_error err;

    CHECK_STATUS(
        LOCI_EINVAL,
        test_try(engine, operation, loci_str_of(test_format("{\"cursor\":\"%s\"}", cursor)), &err));
    CHECK_STR_EQ(err.message, test_format("cursor: not a cursor of %s; pass next_cursor of its "
                                          "previous page unchanged",
                                          operation));
}

TEST(pages, refuse_damaged_and_foreign_cursors)
{
    loci_engine *engine = test_open(new_store());
    loci_str cursor;
    char *damaged;

    fill(engine);
    cursor = test_member_text(test_call(engine, "fact.list", "{'limit':1}"), "next_cursor");
    for (size_t i = 0; i < cursor.len; i++)
        CHECK(strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_",
                     cursor.ptr[i]) != NULL);
    expect_refused(engine, "fact.claims", cursor.ptr);
    expect_refused(engine, "session.list", cursor.ptr);
    expect_refused(engine, "fact.list", "A");
    expect_refused(engine, "fact.list", "AAAAAA");
    expect_refused(engine, "fact.list", "no cursor");
    expect_refused(engine, "fact.list", test_format("%s=", cursor.ptr));
    for (size_t i = 0; i < cursor.len; i++) {
        damaged = test_format("%s", cursor.ptr);
        damaged[i] = damaged[i] == 'A' ? 'B' : 'A';
        expect_refused(engine, "fact.list", damaged);
    }
    expect_refused(engine, "fact.list", test_format("%.*s", (int)cursor.len - 1, cursor.ptr));
    test_close(engine);
}

/* Lists of the running process are bounded by limits of the guard, and are answered whole. */
static bool is_of_process(const lc_op *op)
{
    return strcmp(op->name, "pipeline.list") == 0 || strcmp(op->name, "signal.list") == 0;
}

/* A new list without the two parameters would be the first to have its own way. */
TEST(pages, are_what_every_operation_that_lists_has)
{
    for (size_t i = 0; i < lc_op_count(); i++) {
        const lc_op *op = lc_op_at(i);
        loci_str verb;
        size_t at;
        bool has_limit = lc_op_find_param(op, LC_STR("limit"), &at) != NULL;
        bool has_cursor = lc_op_find_param(op, LC_STR("cursor"), &at) != NULL;

        lc_str_split(loci_str_of(op->name), '.', &verb);
        if ((lc_str_is(verb, "list") && !is_of_process(op)) || has_cursor)
            CHECK(has_limit && has_cursor);
        CHECK(lc_op_find_param(op, LC_STR("after"), &at) == NULL);
        if (strcmp(op->name, "store.compact") != 0) /* There it is a time. */
            CHECK(lc_op_find_param(op, LC_STR("before"), &at) == NULL);
    }
}

TEST(pages, of_events_resume_by_seq_too)
{
    loci_engine *engine = test_open(new_store());
    loci_str page;
    loci_error err;

    fill(engine);
    page = test_call(engine, "event.list", "{'after_seq':3,'limit':2}");
    CHECK_EQ(test_member_int(page, "events.0.seq"), 4);
    page = test_call(engine, "event.list", "{'limit':2,'cursor':%s}",
                     test_member(page, "next_cursor").ptr);
    CHECK_EQ(test_member_int(page, "events.0.seq"), 6);
    CHECK_STATUS(LOCI_EINVAL, test_try(engine, "event.list",
                                       LC_STR("{\"after_seq\":3,\"cursor\":\"AAAAAAAA\"}"), &err));
    CHECK_STR_EQ(err.message, "event.list: give after_seq or cursor, not both");
    test_close(engine);
}

/* Appends `count` messages, each an event, in steps of at most 100. */
static void talk(loci_engine *engine, int count)
{
    while (count > 0) {
        const char *messages = "{\"role\":\"tool\",\"text\":\"x\"}";
        int step = count < 100 ? count : 100;

        for (int i = 1; i < step; i++)
            messages = test_format("%s,{\"role\":\"tool\",\"text\":\"x\"}", messages);
        test_call(engine, "session.append", "{'session_id':'talk','messages':[%s]}", messages);
        count -= step;
    }
}

/* A reader that asks for one type must not get empty pages before the events that it wants. */
TEST(pages, of_filtered_events_are_full)
{
    loci_engine *engine = test_open(new_store());
    loci_str page;

    talk(engine, 300);
    for (int i = 0; i < 3; i++) {
        test_call(engine, "fact.write", "{'key':'k%d','value':1}", i);
        talk(engine, 300);
    }
    page = test_call(engine, "event.list", "{'type':'fact.written','limit':2}");
    CHECK_STR_EQ(test_member(page, "events.0.payload.key"), "\"k0\"");
    CHECK_STR_EQ(test_member(page, "events.1.payload.key"), "\"k1\"");
    CHECK_EQ(test_member(page, "events.2").len, 0);
    page = test_call(engine, "event.list", "{'type':'fact.written','limit':2,'cursor':%s}",
                     test_member(page, "next_cursor").ptr);
    CHECK_STR_EQ(test_member(page, "events.0.payload.key"), "\"k2\"");
    CHECK_STR_EQ(test_member(page, "next_cursor"), "null");
    CHECK_EQ(
        count_rows(engine, &(list){"event.list", ",\"type\":\"fact.written\"", "events", "seq"}, 1),
        3);
    test_close(engine);
}

/* A page that ends the log has no successor, also if it is exactly full. */
TEST(pages, of_filtered_events_end_with_the_last_match)
{
    loci_engine *engine = test_open(new_store());
    loci_str page;

    test_call(engine, "fact.write", "{'key':'k','value':1}");
    talk(engine, 20);
    page = test_call(engine, "event.list", "{'type':'fact.written','limit':1}");
    CHECK_EQ(test_member(page, "events.1").len, 0);
    CHECK_STR_EQ(test_member(page, "next_cursor"), "null");
    test_close(engine);
}

/* A rare type in a long log: each call reads a bounded part of it, and pages still find it. */
TEST(pages, of_filtered_events_read_a_bounded_part_of_the_log)
{
    loci_engine *engine = test_open(new_store());
    loci_str page;

    talk(engine, 10400);
    test_call(engine, "fact.write", "{'key':'k','value':1}");
    page = test_call(engine, "event.list", "{'type':'fact.written'}");
    CHECK_EQ(test_member(page, "events.0").len, 0);
    page = test_call(engine, "event.list", "{'type':'fact.written','cursor':%s}",
                     test_member(page, "next_cursor").ptr);
    CHECK_STR_EQ(test_member(page, "events.0.payload.key"), "\"k\"");
    CHECK_STR_EQ(test_member(page, "next_cursor"), "null");
    test_close(engine);
}
