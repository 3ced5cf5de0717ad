/* loci_call_many: all or nothing, in order, of one user. */
#include "lib/calls.h"

#include <sqlite3.h>
#include <string.h>

#include "base/limits.h"
#include "base/str.h"
#include "ops/op.h"

#define DAY_US INT64_C(86400000000)

static int64_t now_us;

static int64_t read_clock(void *ctx)
{
    (void)ctx;
    return now_us;
}

static loci_engine *open_engine(const char *store)
{
    loci_open_options options = test_open_options(store);
    loci_engine *engine = NULL;
    loci_error err;

    now_us = INT64_C(1700000000000000);
    options.clock = read_clock;
    CHECK_OK(loci_open(&options, &engine, &err), err);
    return engine;
}

static const char *new_store(void)
{
    return test_store(test_tmpdir(), "store.db");
}

/* "operation args" each, NULL behind the last. */
typedef struct batch {
    loci_request requests[LC_CALLS_PER_BATCH_MAX + 1];
    size_t count;
    loci_call_options options;
    loci_error err;
} batch;

static void add(batch *b, const char *operation, const char *args)
{
    b->requests[b->count++] = (loci_request){operation, loci_str_of(args), LOCI_AT_CLOCK};
}

static batch *new_batch(void)
{
    static const loci_call_options options = LOCI_CALL_OPTIONS_INIT;
    batch *b = (batch *)test_bytes(sizeof *b);

    b->options = options;
    return b;
}

/* The answer, or "" and b->err. */
static loci_str run(loci_engine *engine, batch *b)
{
    loci_answer *answer = NULL;
    loci_str json = {"", 0};

    b->err = (loci_error){0};
    if (loci_call_many(engine, b->requests, b->count, &b->options, &answer, &b->err) == LOCI_OK)
        json = loci_str_of(test_format("%s", loci_answer_json(answer).ptr));
    else
        CHECK(answer == NULL);
    loci_answer_free(answer);
    return json;
}

static void expect_failure(loci_engine *engine, const char *store, batch *b, loci_status status,
                           const char *data)
{
    uint64_t before = test_store_hash(store, NULL);

    CHECK_STR_EQ(run(engine, b), "");
    CHECK_STATUS(status, b->err.status);
    CHECK_STR_EQ(b->err.data, data);
    CHECK_EQ(test_store_hash(store, NULL), before);
}

/* ---- References ------------------------------------------------------------------------------ */

TEST(many, a_call_can_use_what_an_earlier_one_answered)
{
    loci_engine *engine = open_engine(new_store());
    batch *b = new_batch();
    loci_str answer;

    add(b, "fact.write", "{\"key\":\"a\",\"value\":{\"list\":[1,{\"deep\":\"x\"}]}}");
    add(b, "fact.get", "{\"id\":\"$0.id\"}");
    add(b, "fact.write",
        "{\"key\":\"b\",\"value\":[\"$1.value.list.1.deep\",\"$0.seq\",\"$1.value\"]}");
    add(b, "fact.write", "{\"key\":\"c\",\"value\":\"$$0.id\"}");
    add(b, "fact.list", "{}");
    answer = run(engine, b);
    CHECK_STR_EQ(test_member(answer, "1.id"), test_member(answer, "0.id"));
    CHECK_STR_EQ(test_member(answer, "4.facts.1.value"),
                 "[\"x\",1,{\"list\":[1,{\"deep\":\"x\"}]}]");
    CHECK_STR_EQ(test_member(answer, "4.facts.2.value"), "\"$0.id\"");
    CHECK_STR_EQ(test_member(answer, "5"), "");
    test_close(engine);
}

TEST(many, a_reference_that_leads_nowhere_names_its_call)
{
    static const char *const wrong[] = {
        "$2.id", "$1.id", "$0.no", "$0.id.x", "$99999999999999999999", "$0.", "$0x", "$0.value.9"};
    const char *store = new_store();
    loci_engine *engine = open_engine(store);

    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        batch *b = new_batch();

        add(b, "fact.write", "{\"key\":\"a\",\"value\":[1]}");
        add(b, "fact.write", test_format("{\"key\":\"b\",\"value\":\"%s\"}", wrong[i]));
        add(b, "fact.list", "{}");
        expect_failure(engine, store, b, LOCI_EINVAL, "{\"index\":1}");
        CHECK_CONTAINS(b->err.message, wrong[i]);
    }
    test_close(engine);
}

/* ---- All or nothing -------------------------------------------------------------------------- */

TEST(many, reads_see_earlier_writes_and_nobody_else_does_before_the_end)
{
    loci_engine *engine = open_engine(new_store());
    batch *b = new_batch();
    loci_str answer;

    add(b, "fact.write", "{\"key\":\"k\",\"value\":1}");
    add(b, "fact.current", "{\"key\":\"k\"}");
    add(b, "fact.write", "{\"key\":\"k\",\"value\":2}");
    add(b, "fact.history", "{\"key\":\"k\"}");
    add(b, "event.list", "{}");
    answer = run(engine, b);
    CHECK_STR_EQ(test_member(answer, "1.value"), "1");
    CHECK_STR_EQ(test_member(answer, "3.facts.1.value"), "2");
    CHECK_STR_EQ(test_member(answer, "3.facts.0.superseded_by"), test_member(answer, "2.id"));
    CHECK_EQ(test_member_int(answer, "4.head_seq"), 2);
    test_close(engine);
}

TEST(many, a_failure_undoes_everything)
{
    const char *store = new_store();
    loci_engine *engine = open_engine(store);
    batch *b = new_batch();

    test_call(engine, "fact.write", "{'key':'before','value':1}");
    add(b, "fact.write", "{\"key\":\"a\",\"value\":1}");
    add(b, "fact.write", "{\"key\":\"b\",\"value\":1}");
    add(b, "fact.write", "{\"key\":\"c\",\"value\":1,\"expected_seq\":1}");
    expect_failure(engine, store, b, LOCI_ECONFLICT, "{\"index\":2,\"head_seq\":3}");
    b->requests[2].args = LC_STR("{\"key\":\"c\",\"value\":1,\"expected_seq\":3}");
    CHECK_CONTAINS(run(engine, b), "\"seq\":4");
    test_close(engine);
}

/* ---- What cannot be in it -------------------------------------------------------------------- */

TEST(many, a_batch_is_of_one_user)
{
    const char *store = new_store();
    loci_engine *engine = open_engine(store);
    batch *b = new_batch();

    add(b, "fact.write", "{\"key\":\"a\",\"value\":1}");
    add(b, "fact.write", "{\"key\":\"a\",\"value\":1,\"user_id\":\"other\"}");
    expect_failure(engine, store, b, LOCI_EINVAL, "{\"index\":1}");
    b->requests[1].args = LC_STR("{\"key\":\"a\",\"value\":1,\"user_id\":\"$0.id\"}");
    expect_failure(engine, store, b, LOCI_EINVAL, "{\"index\":1}");
    b->requests[1].args = LC_STR("{\"key\":\"a\",\"value\":2,\"user_id\":\"def\\u0061ult\"}");
    CHECK_CONTAINS(run(engine, b), "superseded");
    test_close(engine);
}

/* The user, the persona and the key are judged before any call has run; an answer that brought them
 * along would move the call past that check. */
TEST(many, a_reference_cannot_say_whose_call_it_is)
{
    static const char *const wrong[] = {
        "\"$1.value\"",
        "{\"key\":\"k\",\"user_id\":\"$1.value.user_id\"}",
        "{\"key\":\"k\",\"persona_id\":\"$1.value.user_id\"}",
        "{\"key\":\"k\",\"value\":1,\"request_id\":\"$1.value.user_id\"}",
        "{\"key\":\"k\",\"value\":[{\"persona_id\":\"$1.value.user_id\"}]}",
    };
    const char *store = new_store();
    loci_engine *engine = open_engine(store);

    test_call(engine, "fact.write", "{'key':'k','value':'secret','user_id':'u2'}");
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        batch *b = new_batch();

        add(b, "fact.write", "{\"key\":\"args\",\"value\":{\"key\":\"k\",\"user_id\":\"u2\"}}");
        add(b, "fact.current", "{\"key\":\"args\"}");
        add(b, strstr(wrong[i], "value\":") != NULL ? "fact.write" : "fact.current", wrong[i]);
        expect_failure(engine, store, b, LOCI_EINVAL, "{\"index\":2}");
    }
    test_close(engine);
}

/* A session is looked up among those of the user and persona: an answer may name it. */
TEST(many, a_reference_can_name_the_session)
{
    loci_engine *engine = open_engine(new_store());
    batch *b = new_batch();
    loci_str answer;

    add(b, "session.open", "{}");
    add(b, "session.append", "{\"session_id\":\"$0.id\",\"role\":\"user\",\"text\":\"hello\"}");
    add(b, "session.messages", "{\"session_id\":\"$0.id\"}");
    answer = run(engine, b);
    CHECK_STR_EQ(test_member_text(answer, "2.messages.0.text"), "hello");
    test_close(engine);
}

TEST(many, wrong_calls_are_found_before_any_is_run)
{
    const char *store = new_store();
    loci_engine *engine = open_engine(store);
    batch *b = new_batch();

    expect_failure(engine, store, b, LOCI_EINVAL, "");
    add(b, "fact.write", "{\"key\":\"a\",\"value\":1}");
    add(b, "store.verify", "{}");
    expect_failure(engine, store, b, LOCI_EINVAL, "{\"index\":1}");
    CHECK_CONTAINS(b->err.message, "store.verify");
    b->requests[1].operation = "fact.nope";
    expect_failure(engine, store, b, LOCI_ENOTFOUND, "{\"index\":1}");
    b->requests[1].operation = NULL;
    expect_failure(engine, store, b, LOCI_ENOTFOUND, "{\"index\":1}");
    b->requests[1] = (loci_request){"fact.write", LC_STR("{\"key\":"), LOCI_AT_CLOCK};
    expect_failure(engine, store, b, LOCI_EINVAL, "{\"index\":1}");
    b->requests[1].args = LC_STR("[]");
    expect_failure(engine, store, b, LOCI_EINVAL, "{\"index\":1}");
    b->requests[1].args = LC_STR("{\"key\":\"b\",\"value\":1,\"user_id\":7}");
    expect_failure(engine, store, b, LOCI_EINVAL, "{\"index\":1,\"parameter\":\"user_id\"}");
    test_close(engine);
}

TEST(many, a_batch_has_a_ceiling)
{
    const char *store = new_store();
    loci_engine *engine = open_engine(store);
    batch *b = new_batch();

    for (int i = 0; i < LC_CALLS_PER_BATCH_MAX + 1; i++)
        add(b, "fact.write", test_format("{\"key\":\"k%d\",\"value\":1}", i));
    expect_failure(engine, store, b, LOCI_ELIMIT, "");
    b->count = LC_CALLS_PER_BATCH_MAX;
    CHECK_CONTAINS(run(engine, b), "\"seq\":100");
    b->count = LC_CALLS_PER_BATCH_MAX - 1;
    CHECK_CONTAINS(run(engine, b), "repeated");
    test_close(engine);
}

/* ---- Who and when ---------------------------------------------------------------------------- */

TEST(many, a_narrowed_caller_stays_within_its_user)
{
    const char *store = new_store();
    loci_engine *engine = open_engine(store);
    loci_principal anna = {.size = sizeof anna, .user = "anna"};
    batch *b = new_batch();

    b->options.principal = &anna;
    add(b, "fact.write", "{\"key\":\"a\",\"value\":1}");
    add(b, "fact.current", "{\"key\":\"a\",\"user_id\":\"anna\"}");
    CHECK_CONTAINS(run(engine, b), "\"outcome\":\"created\"");
    CHECK_EQ(
        test_store_number(
            store, "select count(*) from events where type = 'fact.written' and user_id = 'anna'"),
        1);
    b->requests[0].args = LC_STR("{\"key\":\"a\",\"value\":1,\"user_id\":\"bob\"}");
    b->count = 1;
    expect_failure(engine, store, b, LOCI_ENOTFOUND, "{\"index\":0}");
    test_close(engine);
}

/* An empty name narrows nothing; taken for a user it would be one that cannot have events. */
TEST(many, an_empty_principal_is_not_narrowed)
{
    loci_principal open = {.size = sizeof open, .tenant = "", .user = "", .persona = ""};
    const char *store = new_store();
    loci_engine *engine = open_engine(store);
    batch *b = new_batch();

    b->options.principal = &open;
    add(b, "fact.write", "{\"key\":\"a\",\"value\":1}");
    add(b, "event.list", "{\"user_id\":\"default\"}");
    CHECK_CONTAINS(run(engine, b), "\"head_seq\":1");
    CHECK_EQ(test_store_number(
                 store,
                 "select count(*) from events where type = 'fact.written' and user_id = 'default'"
                 " and tenant_id = 'default'"),
             1);
    test_close(engine);
}

/* The name is decoded into memory of one call; the head is written under it after all of them. */
TEST(many, a_read_in_the_middle_leaves_the_user_as_it_was)
{
    const char *store = new_store();
    loci_engine *engine = open_engine(store);
    batch *b = new_batch();

    add(b, "fact.write", "{\"key\":\"a\",\"value\":1,\"user_id\":\"z\\u00eb\"}");
    add(b, "event.list", "{\"user_id\":\"z\\u00eb\"}");
    add(b, "fact.write", "{\"key\":\"b\",\"value\":1,\"user_id\":\"z\\u00eb\"}");
    add(b, "event.list", "{\"user_id\":\"z\\u00eb\"}");
    CHECK_CONTAINS(run(engine, b), "\"head_seq\":2");
    CHECK_EQ(test_store_number(store, "select seq from heads where user_id = 'zë'"), 2);
    CHECK_EQ(test_store_number(store, "select count(*) from heads"), 1);
    test_close(engine);
}

TEST(many, each_call_may_have_its_own_time)
{
    loci_engine *engine = open_engine(new_store());
    batch *b = new_batch();
    loci_str answer;

    add(b, "fact.write", "{\"key\":\"a\",\"value\":1}");
    add(b, "fact.write", "{\"key\":\"b\",\"value\":1}");
    add(b, "fact.list", "{}");
    b->requests[0].at_us = 0;
    answer = run(engine, b);
    CHECK_STR_EQ(test_member_text(answer, "2.facts.0.recorded_at"), "1970-01-01T00:00:00Z");
    CHECK_STR_EQ(test_member_text(answer, "2.facts.1.recorded_at"), "2023-11-14T22:13:20Z");
    test_close(engine);
}

TEST(many, a_cancelled_batch_changes_nothing)
{
    volatile int cancel = 1;
    const char *store = new_store();
    loci_engine *engine = open_engine(store);
    batch *b = new_batch();

    b->options.cancel = &cancel;
    add(b, "fact.write", "{\"key\":\"a\",\"value\":1}");
    CHECK_STR_EQ(run(engine, b), "");
    CHECK_STATUS(LOCI_ECANCELLED, b->err.status);
    CHECK_EQ(test_store_number(store, "select count(*) from events"), 0);
    test_close(engine);
}

/* ---- Requests -------------------------------------------------------------------------------- */

static batch *named_batch(const char *first_args)
{
    batch *b = new_batch();

    b->options.request_id = "r";
    add(b, "fact.write", first_args);
    add(b, "fact.get", "{\"id\":\"$0.id\"}");
    return b;
}

TEST(many, a_batch_can_be_repeated)
{
    const char *store = new_store();
    loci_engine *engine = open_engine(store);
    loci_str first = run(engine, named_batch("{\"key\":\"k\",\"value\":1}"));
    batch *other = named_batch("{\"key\":\"k\",\"value\":2}");

    CHECK(first.len > 0);
    test_call(engine, "fact.write", "{'key':'k','value':3}");
    CHECK_STR_EQ(run(engine, named_batch("{\"key\":\"k\",\"value\":1}")), first);
    CHECK_STR_EQ(run(engine, named_batch(" { \"value\":1, \"key\":\"\\u006b\"}")), first);
    expect_failure(engine, store, other, LOCI_ECONFLICT, "");
    other = named_batch("{\"key\":\"k\",\"value\":1}");
    other->count = 1;
    expect_failure(engine, store, other, LOCI_ECONFLICT, "");
    CHECK_EQ(test_store_number(store, "select count(*) from events"), 2);
    test_close(engine);
}

TEST(many, a_batch_is_kept_for_a_day_like_any_call)
{
    loci_engine *engine = open_engine(new_store());
    loci_str first = run(engine, named_batch("{\"key\":\"k\",\"value\":1}"));

    test_call(engine, "fact.write", "{'key':'k','value':2}");
    now_us += DAY_US - 1;
    CHECK_STR_EQ(run(engine, named_batch("{\"key\":\"k\",\"value\":1}")), first);
    now_us += 1;
    CHECK_CONTAINS(run(engine, named_batch("{\"key\":\"k\",\"value\":1}")), "superseded");
    test_close(engine);
}

/* A call inside may have one of its own as well. */
TEST(many, a_call_in_a_batch_can_have_been_answered_before)
{
    const char *store = new_store();
    loci_engine *engine = open_engine(store);
    loci_str first = test_call(engine, "fact.write", "{'key':'k','value':1,'request_id':'q'}");
    batch *b = new_batch();

    test_call(engine, "fact.write", "{'key':'k','value':2}");
    add(b, "fact.write", "{\"key\":\"k\",\"value\":1,\"request_id\":\"q\"}");
    add(b, "fact.get", "{\"id\":\"$0.id\"}");
    CHECK_STR_EQ(test_member(run(engine, b), "0"), test_replayed(first));
    CHECK_EQ(test_store_number(store, "select count(*) from events"), 2);
    test_close(engine);
}

/* ---- Requests of others ---------------------------------------------------------------------- */

/* A write and a read of what only managers may see, repeatable. */
static batch *secret_batch(const loci_principal *who, const char *user)
{
    batch *b = new_batch();

    b->options.request_id = "r";
    b->options.principal = who;
    add(b, "fact.write", test_format("{\"key\":\"k\",\"value\":1,\"user_id\":\"%s\"}", user));
    add(b, "fact.current", test_format("{\"key\":\"pin\",\"user_id\":\"%s\"}", user));
    return b;
}

/* A stored answer must not be a way around the checks that the calls themselves would meet. */
TEST(many, a_stored_answer_is_for_callers_with_the_same_rights)
{
    loci_principal u1 = {.size = sizeof u1, .user = "u1"};
    loci_principal u2 = {.size = sizeof u2, .user = "u2"};
    loci_principal guest = {.size = sizeof guest, .authority = "guest"};
    loci_principal coach = {.size = sizeof coach, .user = "u1", .persona = "coach"};
    loci_principal web = {.size = sizeof web, .user = "u1", .trust = "web"};
    const char *store = new_store();
    loci_engine *engine = open_engine(store);
    loci_str first;

    test_call(engine, "fact.write",
              "{'key':'pin','value':4711,'min_read_authority':'manager','user_id':'u1'}");
    first = run(engine, secret_batch(&u1, "u1"));
    CHECK_STR_EQ(test_member(first, "1.value"), "4711");
    CHECK_STR_EQ(run(engine, secret_batch(&u1, "u1")), first);

    expect_failure(engine, store, secret_batch(&u2, "u1"), LOCI_ENOTFOUND, "{\"index\":0}");
    expect_failure(engine, store, secret_batch(&guest, "u1"), LOCI_ENOTFOUND, "{\"index\":1}");
    /* These two may read it; the point is that their write is a write of their own. */
    CHECK_STR_EQ(test_member_text(run(engine, secret_batch(&coach, "u1")), "0.outcome"), "created");
    CHECK_STR_EQ(test_member_text(run(engine, secret_batch(&web, "u1")), "0.outcome"), "repeated");
    test_close(engine);
}

/* A conflict would tell a caller that somebody else used the key. */
TEST(many, a_key_that_others_used_looks_unused)
{
    loci_principal u1 = {.size = sizeof u1, .user = "u1"};
    loci_principal guest = {.size = sizeof guest, .authority = "guest"};
    loci_engine *engine = open_engine(new_store());
    batch *b = new_batch();

    b->options.request_id = "r";
    b->options.principal = &u1;
    add(b, "fact.write", "{\"key\":\"a\",\"value\":1}");
    CHECK_STR_EQ(test_member_text(run(engine, b), "0.outcome"), "created");
    b->options.principal = &guest;
    b->requests[0].args = LC_STR("{\"key\":\"b\",\"value\":2,\"user_id\":\"u1\"}");
    CHECK_STR_EQ(test_member_text(run(engine, b), "0.outcome"), "created");
    b->options.principal = NULL;
    b->requests[0].args = LC_STR("{\"key\":\"c\",\"value\":3,\"user_id\":\"u1\"}");
    CHECK_STR_EQ(test_member_text(run(engine, b), "0.outcome"), "created");
    b->options.principal = &u1; /* Its own key is used. */
    CHECK_STR_EQ(run(engine, b), "");
    CHECK_STATUS(LOCI_ECONFLICT, b->err.status);
    test_close(engine);
}

/* ---- Reads ----------------------------------------------------------------------------------- */

/* A token that may only read must not be able to fill the store, or to hold up writers. */
TEST(many, a_batch_of_reads_stores_no_answer)
{
    const char *store = new_store();
    loci_engine *engine = open_engine(store);
    batch *b = new_batch();
    uint64_t before;

    test_call(engine, "fact.write", "{'key':'a','value':1}");
    before = test_store_hash(store, NULL);
    b->options.request_id = "r";
    add(b, "fact.current", "{\"key\":\"a\"}");
    add(b, "op.list", "{}");
    add(b, "fact.get", "{\"id\":\"$0.id\"}");
    CHECK_STR_EQ(test_member(run(engine, b), "2.value"), "1");
    CHECK_EQ(test_store_hash(store, NULL), before);
    test_call(engine, "fact.write", "{'key':'a','value':2}");
    CHECK_STR_EQ(test_member(run(engine, b), "0.value"), "2");
    test_close(engine);
}

/* Another process has the store's write lock all the while. */
TEST(many, a_batch_of_reads_does_not_wait_for_writers)
{
    const char *store = new_store();
    loci_engine *engine = open_engine(store);
    batch *b = new_batch();
    sqlite3 *other = NULL;

    if (test_is_postgres()) {
        test_close(engine);
        return;
    }
    test_call(engine, "fact.write", "{'key':'a','value':1}");
    CHECK_EQ(sqlite3_open(store, &other), SQLITE_OK);
    CHECK_EQ(sqlite3_exec(other, "begin immediate", NULL, NULL, NULL), SQLITE_OK);
    b->options.timeout_ms = 500;
    add(b, "fact.current", "{\"key\":\"a\"}");
    add(b, "fact.list", "{}");
    CHECK_STR_EQ(test_member(run(engine, b), "1.facts.0.value"), "1");
    CHECK_EQ(sqlite3_exec(other, "rollback", NULL, NULL, NULL), SQLITE_OK);
    (void)sqlite3_close(other);
    test_close(engine);
}
