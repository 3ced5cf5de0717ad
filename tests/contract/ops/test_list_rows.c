/* A list asks the store for the rows that it shows and a few more, however many there are: a server
 * sends all of an answer, whether anybody looks at it or not. Counted where the driver gets them.
 */
#include "lib/calls.h"

#include "base/limits.h"
#include "base/str.h"
#include "engine/engine.h"
#include "lib/postgres.h"

#define MANY 5000
#define SOME 300
#define FEW_ROWS 24 /* A session and who speaks in it are looked up, too. */

static struct {
    lc_db_driver driver; /* The store's own, but for what is counted. */
    const lc_db_driver *own;
    int64_t rows;
    int64_t queries;
} counted;

static loci_status open_counted(lc_env *env, const lc_catalogue *catalogue,
                                const lc_db_target *target, lc_db **out, loci_error *err)
{
    loci_status status = counted.own->open(env, catalogue, target, out, err);

    if (status == LOCI_OK)
        (*out)->driver = &counted.driver;
    return status;
}

/* PostgreSQL's rows are all there now; SQLite's come one by one. */
static loci_status query_counted(lc_tx *tx, const lc_sql *sql, const lc_arg *args, lc_rows *out,
                                 loci_error *err)
{
    loci_status status = counted.own->query(tx, sql, args, out, err);

    counted.queries++;
    if (status == LOCI_OK && test_is_postgres())
        counted.rows += test_postgres_rows(out->statement);
    return status;
}

static bool next_counted(lc_rows *rows, loci_status *out_status, loci_error *err)
{
    bool is_there = counted.own->next(rows, out_status, err);

    counted.rows += is_there && !test_is_postgres();
    return is_there;
}

static loci_engine *open_engine(void)
{
    const char *store = test_store(test_tmpdir(), "store.db");
    loci_open_options options = test_open_options(store);
    loci_engine *engine = NULL;
    loci_error err;

    counted.own = lc_db_driver_of(store);
    counted.driver = *counted.own;
    counted.driver.open = open_counted;
    counted.driver.query = query_counted;
    counted.driver.next = next_counted;
    CHECK_OK(lc_engine_open(&options, &(lc_engine_parts){.driver = &counted.driver}, &engine, &err),
             err);
    return engine;
}

/* The arguments of the nth call. */
typedef const char *arguments(int n);

static void call_often(loci_engine *engine, const char *operation, arguments *args, int count)
{
    loci_request requests[LC_CALLS_PER_BATCH_MAX];
    loci_answer *answer = NULL;
    loci_error err;
    int done = 0;

    while (done < count) {
        size_t size = 0;

        for (; size < LC_CALLS_PER_BATCH_MAX && done < count; size++)
            requests[size] = (loci_request){operation, loci_str_of(args(done++)), LOCI_AT_CLOCK};
        CHECK_OK(loci_call_many(engine, requests, size, NULL, &answer, &err), err);
        loci_answer_free(answer);
    }
}

static loci_str call_counted(loci_engine *engine, const char *operation, const char *args)
{
    counted.rows = counted.queries = 0;
    return test_call(engine, operation, "%s", args);
}

/* Two facts whose values are these, and more behind them. */
static void expect_page(loci_engine *engine, const char *args, int first, int second)
{
    loci_str page = call_counted(engine, "fact.list", args);

    CHECK_STR_EQ(test_member(page, "facts.0.value"), test_format("%d", first));
    CHECK_STR_EQ(test_member(page, "facts.1.value"), test_format("%d", second));
    CHECK_STR_EQ(test_member(page, "facts.2"), "");
    CHECK_LT(0, test_member_text(page, "next_cursor").len);
}

/* The argument for the page behind `key`. */
static const char *from(const char *key)
{
    return test_format(",\"cursor\":\"%s\"", test_cursor_after(key));
}

static const char *plain_fact(int n)
{
    return test_format("{\"user_id\":\"u\",\"key\":\"k%04d\",\"value\":%d}", n, n);
}

/* Every second key, so that one of two is hidden. */
static const char *session_fact(int n)
{
    return test_format("{\"user_id\":\"u\",\"key\":\"k%04d\",\"value\":%d,\"scope\":\"session\","
                       "\"session_id\":\"s\"}",
                       2 * n, -2 * n);
}

TEST(list_rows, of_many_facts_a_page_is_read)
{
    static const struct {
        const char *args, *after;
        int first, second;
    } pages[] = {
        {"", NULL, 0, 1},
        {"", "k2500", 2501, 2502},
        {",\"persona_id\":\"p\"", "k0009", 10, 11},
        {",\"scope\":\"task\",\"scope_id\":\"t\"", NULL, 0, 1},
        {",\"as_of\":\"2100-01-01T00:00:00Z\"", NULL, 0, 1},
    };
    loci_engine *engine = open_engine();

    test_timeout(120);
    call_often(engine, "fact.write", plain_fact, MANY);
    for (size_t i = 0; i < sizeof pages / sizeof *pages; i++) {
        expect_page(engine,
                    test_format("{\"user_id\":\"u\",\"limit\":2%s%s}", pages[i].args,
                                pages[i].after != NULL ? from(pages[i].after) : ""),
                    pages[i].first, pages[i].second);
        CHECK_LE(counted.rows, FEW_ROWS);
    }
    call_often(engine, "fact.write", session_fact, SOME);
    expect_page(
        engine,
        test_format("{\"user_id\":\"u\",\"limit\":2,\"session_id\":\"s\"%s}", from("k0001")), -2,
        3);
    CHECK_LE(counted.rows, FEW_ROWS);
    expect_page(
        engine,
        "{\"user_id\":\"u\",\"limit\":2,\"session_id\":\"s\",\"as_of\":\"2100-01-01T00:00:00Z\"}",
        0, 1);
    CHECK_LE(counted.rows, FEW_ROWS);
    test_close(engine);
}

static const char *expired_fact(int n)
{
    return test_format("{\"key\":\"a%04d\",\"value\":%d,\"valid_until\":\"2001-01-01T00:00:00Z\"}",
                       n, n);
}

static const char *restricted_fact(int n)
{
    return test_format("{\"key\":\"b%04d\",\"value\":%d,\"min_read_authority\":\"manager\"}", n, n);
}

static const char *open_fact(int n)
{
    return test_format("{\"key\":\"c%04d\",\"value\":%d}", n, n);
}

/* What is passed over does not count; it takes more rows, and not many more statements. */
TEST(list_rows, a_page_lies_behind_many_facts_that_are_not_shown)
{
    loci_engine *engine = open_engine();

    call_often(engine, "fact.write", expired_fact, SOME);
    call_often(engine, "fact.write", open_fact, SOME);
    expect_page(engine, "{\"limit\":2}", 0, 1);
    CHECK_LT(SOME, counted.rows);
    CHECK_LE(counted.queries, FEW_ROWS);
    call_often(engine, "fact.write", restricted_fact, SOME);
    test_call(engine, "identity.set", "{'user_name':'I','authority':'intern','session_id':'i'}");
    expect_page(engine, "{\"limit\":2,\"session_id\":\"i\"}", 0, 1);
    CHECK_LE(counted.queries, FEW_ROWS);
    expect_page(engine, test_format("{\"limit\":2,\"session_id\":\"i\"%s}", from("c0290")), 291,
                292);
    test_close(engine);
}

/* Every tenth counts. */
static const char *one_of_many(int n)
{
    return test_format("{\"key\":\"m\",\"value\":%d,\"multi\":true%s}", n,
                       n % 10 == 0 ? "" : ",\"valid_until\":\"2001-01-01T00:00:00Z\"");
}

static const char *claim(int n)
{
    return test_format("{\"key\":\"%s\",\"value\":%d,\"trust\":\"model\"}",
                       n % 10 == 0 ? "city" : "secret", n);
}

static void expect_tens(loci_engine *engine, const char *operation, const char *args,
                        const char *list)
{
    loci_str page = call_counted(engine, operation, args);

    for (int i = 0; i < 20; i++)
        CHECK_STR_EQ(test_member(page, test_format("%s.%d.value", list, i)),
                     test_format("%d", 10 * i));
    CHECK_STR_EQ(test_member(page, test_format("%s.20", list)), "");
    CHECK_LT(20, counted.rows);
}

/* Rows are read in several goes: none is left out between them and none comes twice. */
TEST(list_rows, what_is_read_in_several_goes_is_whole)
{
    loci_engine *engine = open_engine();

    call_often(engine, "fact.write", one_of_many, SOME);
    expect_tens(engine, "fact.list", "{\"limit\":20}", "facts");
    expect_tens(engine, "fact.list", "{\"limit\":20,\"persona_id\":\"p\"}", "facts");
    expect_tens(engine, "fact.list", "{\"limit\":20,\"scope\":\"task\",\"scope_id\":\"t\"}",
                "facts");
    expect_tens(engine, "fact.list", "{\"limit\":20,\"as_of\":\"2100-01-01T00:00:00Z\"}", "facts");
    test_call(engine, "fact.write", "{'key':'city','value':-1}");
    test_call(engine, "fact.write", "{'key':'secret','value':-1,'min_read_authority':'manager'}");
    call_often(engine, "fact.write", claim, SOME);
    test_call(engine, "identity.set", "{'user_name':'I','authority':'intern','session_id':'i'}");
    expect_tens(engine, "fact.claims", "{\"limit\":20,\"session_id\":\"i\"}", "claims");
    test_close(engine);
}

static const char *next_version(int n)
{
    return test_format("{\"key\":\"city\",\"value\":%d}", n);
}

static const char *next_claim(int n)
{
    return test_format("{\"key\":\"city\",\"value\":%d,\"trust\":\"model\"}", SOME + n);
}

static const char *next_session(int n)
{
    return test_format("{\"session_id\":\"s%d\"}", n);
}

static const char *next_message(int n)
{
    return test_format("{\"session_id\":\"s0\",\"role\":\"user\",\"text\":\"%d\"}", n);
}

static const char *next_token(int n)
{
    return test_format("{\"name\":\"n%d\",\"scopes\":[\"read\"]}", n);
}

TEST(list_rows, every_list_reads_a_page)
{
    static const struct {
        const char *operation, *args, *list;
    } lists[] = {
        {"fact.history", "{\"key\":\"city\",\"limit\":2}", "facts"},
        {"fact.claims", "{\"limit\":2}", "claims"},
        {"fact.claims", "{\"key\":\"city\",\"limit\":2}", "claims"},
        {"event.list", "{\"limit\":2}", "events"},
        {"session.list", "{\"limit\":2}", "sessions"},
        {"session.messages", "{\"session_id\":\"s0\",\"limit\":2}", "messages"},
        {"token.list", "{\"limit\":2}", "tokens"},
        {"job.list", "{\"limit\":2}", "jobs"},
    };
    loci_engine *engine = open_engine();

    call_often(engine, "fact.write", next_version, SOME);
    call_often(engine, "fact.write", next_claim, SOME);
    call_often(engine, "session.open", next_session, SOME);
    call_often(engine, "session.append", next_message, SOME);
    for (int i = 0; i < SOME; i++)
        test_call(engine, "token.create", "%s", next_token(i));
    for (int i = 0; i < 2 * FEW_ROWS; i++)
        test_call(engine, "model.reembed", "{}");
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        loci_str page = call_counted(engine, lists[i].operation, lists[i].args);

        CHECK_LT(0, test_member(page, test_format("%s.1", lists[i].list)).len);
        CHECK_STR_EQ(test_member(page, test_format("%s.2", lists[i].list)), "");
        CHECK_LE(counted.rows, FEW_ROWS);
    }
    test_close(engine);
}
