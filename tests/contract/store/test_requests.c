/* Idempotency: who did not hear the answer may ask again. */
#include "lib/calls.h"

#include <string.h>

#include "base/str.h"

#define HOUR_US INT64_C(3600000000)

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

/* A fact.write with `id` in the options. The answer, or "" and `err`. */
static loci_str write_with(loci_engine *engine, const char *id, const char *args, loci_error *err)
{
    loci_call_options options = LOCI_CALL_OPTIONS_INIT;
    loci_answer *answer = NULL;
    loci_str json = {"", 0};

    options.request_id = id;
    *err = (loci_error){0};
    if (loci_call(engine, "fact.write", loci_str_of(args), &options, &answer, err) == LOCI_OK)
        json = loci_str_of(test_format("%s", loci_answer_json(answer).ptr));
    loci_answer_free(answer);
    return json;
}

TEST(requests, a_repeat_has_the_same_answer_and_changes_nothing)
{
    const char *args = "{\"key\":\"city\",\"value\":\"Oslo\",\"request_id\":\"r1\"}";
    const char *store = new_store();
    loci_engine *engine = open_engine(store);
    loci_str first = test_call(engine, "fact.write", "%s", args);
    uint64_t before;

    now_us += 1000;
    test_call(engine, "fact.write", "{'key':'city','value':'Rome'}");
    before = test_store_hash(store, NULL);
    now_us += 1000;
    CHECK_STR_EQ(test_call(engine, "fact.write", "%s", args), test_replayed(first));
    CHECK_EQ(test_store_hash(store, NULL), before);
    test_close(engine);
    engine = open_engine(store); /* And after a restart. */
    CHECK_STR_EQ(test_call(engine, "fact.write", "%s", args), test_replayed(first));
    test_close(engine);
}

TEST(requests, spelling_does_not_matter)
{
    loci_engine *engine = open_engine(new_store());
    loci_str first = test_call(engine, "fact.write",
                               "{'key':'a','value':{'x':1,'y':[2]},'source':'s','request_id':'r'}");

    CHECK_STR_EQ(test_call(engine, "fact.write",
                           " { \"request_id\" : \"r\" , \"source\":\"\\u0073\","
                           "\"value\":{ \"y\":[ 2 ],\"x\":1}, \"key\":\"a\"} "),
                 test_replayed(first));
    test_close(engine);
}

TEST(requests, other_arguments_or_operations_are_a_conflict)
{
    static const char *const others[] = {
        "{\"key\":\"city\",\"value\":\"Rome\",\"request_id\":\"r\"}",
        "{\"key\":\"town\",\"value\":\"Oslo\",\"request_id\":\"r\"}",
        "{\"key\":\"city\",\"value\":\"Oslo\",\"source\":\"me\",\"request_id\":\"r\"}",
        "{\"key\":\"city\",\"value\":\"Oslo\",\"persona_id\":\"p\",\"request_id\":\"r\"}",
    };
    const char *store = new_store();
    loci_engine *engine = open_engine(store);
    uint64_t before;
    loci_error err;

    test_call(engine, "fact.write", "{'key':'city','value':'Oslo','request_id':'r'}");
    before = test_store_hash(store, NULL);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        CHECK_STATUS(LOCI_ECONFLICT, test_try(engine, "fact.write", loci_str_of(others[i]), &err));
        CHECK_CONTAINS(err.message, "request_id r");
    }
    CHECK_STATUS(
        LOCI_ECONFLICT,
        test_try(engine, "job.cancel",
                 LC_STR("{\"id\":\"job_01JCQ5Z8G00000000G00000000\",\"request_id\":\"r\"}"), &err));
    CHECK_EQ(test_store_hash(store, NULL), before);
    test_close(engine);
}

TEST(requests, users_and_tenants_do_not_share_them)
{
    const char *store = new_store();
    loci_engine *engine = open_engine(store);
    loci_principal other = {.size = sizeof other, .tenant = "other"};
    loci_call_options options = LOCI_CALL_OPTIONS_INIT;
    loci_answer *answer = NULL;
    loci_error err;

    test_call(engine, "fact.write", "{'key':'k','value':1,'request_id':'r'}");
    test_call(engine, "fact.write", "{'key':'k','value':2,'request_id':'r','user_id':'u'}");
    options.principal = &other;
    CHECK_OK(loci_call(engine, "fact.write",
                       LC_STR("{\"key\":\"k\",\"value\":3,\"request_id\":\"r\"}"), &options,
                       &answer, &err),
             err);
    loci_answer_free(answer);
    CHECK_EQ(test_store_number(store, "select count(*) from events where type = 'fact.written'"),
             3);
    CHECK_EQ(test_store_number(store, "select count(*) from requests"), 3);
    test_close(engine);
}

/* HTTP gives it in a header, a tool in its arguments: a repeat may come the other way. */
TEST(requests, option_and_argument_are_the_same_thing)
{
    const char *plain = "{\"key\":\"k\",\"value\":1}";
    const char *named = "{\"key\":\"k\",\"value\":1,\"request_id\":\"r\"}";
    const char *store = new_store();
    loci_engine *engine = open_engine(store);
    loci_error err;
    loci_str first = write_with(engine, "r", plain, &err);

    CHECK_STR_EQ(test_member_text(first, "outcome"), "created");
    now_us += 5000;
    test_call(engine, "fact.write", "{'key':'k','value':2}");
    CHECK_STR_EQ(write_with(engine, "r", plain, &err), test_replayed(first));
    CHECK_STR_EQ(write_with(engine, NULL, named, &err), test_replayed(first));
    CHECK_STR_EQ(write_with(engine, "r", named, &err), test_replayed(first));
    CHECK_STR_EQ(write_with(engine, "s", named, &err), "");
    CHECK_STATUS(LOCI_EINVAL, err.status);
    CHECK_EQ(test_store_number(store, "select count(*) from requests"), 1);
    test_close(engine);
}

TEST(requests, a_wrong_id_is_refused_either_way)
{
    static const char *const wrong[] = {"", "line\nbreak", "\xff\xfe", "\x7f"};
    char *longer = test_bytes(257);
    loci_engine *engine = open_engine(new_store());
    loci_error err;

    memset(longer, 'r', 257);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        CHECK_STR_EQ(write_with(engine, wrong[i], "{\"key\":\"k\",\"value\":1}", &err), "");
        CHECK_STATUS(LOCI_EINVAL, err.status);
        CHECK_CONTAINS(err.message, "request_id");
    }
    CHECK_STR_EQ(write_with(engine, longer, "{\"key\":\"k\",\"value\":1}", &err), "");
    CHECK_STATUS(LOCI_EINVAL, err.status);
    longer[256] = '\0';
    CHECK(write_with(engine, longer, "{\"key\":\"k\",\"value\":1}", &err).len > 0);
    test_close(engine);
}

TEST(requests, an_answer_is_kept_for_a_day_of_the_domain_clock)
{
    const char *store = new_store();
    loci_engine *engine = open_engine(store);
    const char *args = "{\"key\":\"k\",\"value\":1,\"request_id\":\"r\"}";
    loci_str first = test_call(engine, "fact.write", "%s", args), later;

    test_call(engine, "fact.write", "{'key':'k','value':2}");
    now_us += 24 * HOUR_US - 1;
    CHECK_STR_EQ(test_call(engine, "fact.write", "%s", args), test_replayed(first));
    now_us += 1;
    later = test_call(engine, "fact.write", "%s", args);
    CHECK_STR_EQ(test_member_text(later, "outcome"), "superseded");
    now_us -= 48 * HOUR_US; /* A clock that goes back does not make anything too old. */
    CHECK_STR_EQ(test_call(engine, "fact.write", "%s", args), test_replayed(later));
    test_close(engine);
}

TEST(requests, a_failed_call_keeps_nothing)
{
    const char *store = new_store();
    loci_engine *engine = open_engine(store);
    loci_error err;

    CHECK_STATUS(
        LOCI_ECONFLICT,
        test_try(engine, "fact.write",
                 LC_STR("{\"key\":\"k\",\"value\":1,\"request_id\":\"r\",\"expected_seq\":7}"),
                 &err));
    CHECK_CONTAINS(err.data, "\"head_seq\":0");
    CHECK_EQ(test_store_number(store, "select count(*) from requests"), 0);
    test_call(engine, "fact.write", "{'key':'k','value':2,'request_id':'r'}");
    test_close(engine);
}

/* What belongs to the tenant itself, and to no user, is kept as well, and verify does not mind. */
TEST(requests, operations_of_no_user_can_be_repeated)
{
    const char *store = new_store();
    loci_engine *engine = open_engine(store);
    const char *args = "{\"name\":\"job.keep_hours\",\"value\":5,\"request_id\":\"r\"}";
    loci_str first = test_call(engine, "config.set", "%s", args);

    now_us += 1000;
    CHECK_STR_EQ(test_call(engine, "config.set", "%s", args), test_replayed(first));
    CHECK_EQ(test_store_number(store, "select count(*) from requests"), 1);
    test_close(engine);
}

/* Two personas of one user must not read each other's answers by guessing an id. */
TEST(requests, an_answer_is_not_given_to_another_persona)
{
    loci_engine *engine = open_engine(new_store());
    loci_principal anna = {.size = sizeof anna, .persona = "anna"};
    loci_principal bob = {.size = sizeof bob, .persona = "bob"};
    loci_call_options options = LOCI_CALL_OPTIONS_INIT;
    loci_str args = LC_STR("{\"key\":\"k\",\"value\":1,\"request_id\":\"r\"}");
    loci_answer *first = NULL, *second = NULL;
    loci_error err;

    options.principal = &anna;
    CHECK_OK(loci_call(engine, "fact.write", args, &options, &first, &err), err);
    options.principal = &bob;
    CHECK_OK(loci_call(engine, "fact.write", args, &options, &second, &err), err);
    CHECK_STR_EQ(test_member_text(loci_answer_json(second), "outcome"), "created");
    CHECK(!lc_str_eq(loci_answer_json(first), loci_answer_json(second)));
    loci_answer_free(first);
    loci_answer_free(second);
    test_close(engine);
}

/* ---- Quota ----------------------------------------------------------------------------------- */

static const char *write_number(int n)
{
    return test_format("{\"key\":\"k\",\"value\":%d}", n);
}

/* A client that sends a new id with every call must not fill the disk with answers, and must not
 * push out those of others: then a repeat of theirs would run twice. */
TEST(requests, answers_of_a_user_have_a_quota)
{
    const char *store = new_store();
    loci_engine *engine = open_engine(store);
    loci_str first;
    loci_error err;
    uint64_t before;
    int count = 1;

    test_call(engine, "config.set", "{'name':'request.user_bytes_max','value':2000}");
    first = write_with(engine, "r0", write_number(0), &err);
    CHECK_OK(err.status, err);
    while (write_with(engine, test_format("r%d", count), write_number(count), &err).len > 0)
        CHECK_LT(count++, 100);
    CHECK_STATUS(LOCI_ELIMIT, err.status);
    CHECK_CONTAINS(err.message, "request.user_bytes_max");
    CHECK_LT(5, count); /* 2,000 bytes hold some answers of about 150. */
    CHECK_LT(count, 20);
    /* Nothing was changed, and what was promised is kept. */
    before = test_store_hash(store, NULL);
    (void)write_with(engine, "other", write_number(-1), &err);
    CHECK_STATUS(LOCI_ELIMIT, err.status);
    CHECK_EQ(test_store_hash(store, NULL), before);
    CHECK_STR_EQ(write_with(engine, "r0", write_number(0), &err), test_replayed(first));
    /* Calls without an id, and other users, are not affected. */
    test_call(engine, "fact.write", "{'key':'k','value':'free'}");
    CHECK(write_with(engine, "r", "{\"key\":\"k\",\"value\":1,\"user_id\":\"u\"}", &err).len > 0);
    /* Half a day later they still count; when they are too old to be answered they do not. */
    now_us += 12 * HOUR_US;
    (void)write_with(engine, "later", write_number(-1), &err);
    CHECK_STATUS(LOCI_ELIMIT, err.status);
    now_us += 13 * HOUR_US;
    CHECK(write_with(engine, "later", write_number(-1), &err).len > 0);
    test_close(engine);
}

TEST(requests, a_batch_counts_with_all_its_answers)
{
    const char *args = "{\"key\":\"k\",\"value\":1}";
    const loci_request calls[] = {
        {.operation = "fact.write", .args = loci_str_of(args), .at_us = LOCI_AT_CLOCK},
        {.operation = "op.list", .args = LC_STR("{}"), .at_us = LOCI_AT_CLOCK},
    };
    loci_engine *engine = open_engine(new_store());
    loci_call_options options = LOCI_CALL_OPTIONS_INIT;
    loci_answer *answer = NULL;
    loci_error err;

    test_call(engine, "config.set", "{'name':'request.user_bytes_max','value':2000}");
    for (int i = 0; i < 2; i++) {
        options.request_id = test_format("b%d", i);
        CHECK_STATUS(i == 0 ? LOCI_OK : LOCI_ELIMIT,
                     loci_call_many(engine, calls, 2, &options, &answer, &err));
        if (i == 0)
            CHECK_LT(2000, (int)loci_answer_json(answer).len);
        loci_answer_free(answer);
        answer = NULL;
    }
    test_close(engine);
}
