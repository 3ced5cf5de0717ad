/* loci_call: what it refuses, who may do what, and when it gives up. */
#include "lib/calls.h"

#include <string.h>

#include "base/clock.h"
#include "base/limits.h"
#include "base/str.h"
#include "base/time.h"
#include "engine/engine.h"
#include "ops/call.h"

static const char *new_store(void)
{
    return test_store(test_tmpdir(), "store.db");
}

/* ---- Opening --------------------------------------------------------------------------------- */

static loci_status try_open(loci_open_options options, loci_error *err)
{
    loci_engine *engine = NULL;
    loci_status status = loci_open(&options, &engine, err);

    CHECK((status == LOCI_OK) == (engine != NULL));
    loci_close(engine);
    return status;
}

TEST(call, an_engine_says_why_it_cannot_be_opened)
{
    const char *store = new_store();
    loci_open_options good = test_open_options(store), options;
    loci_engine *engine = NULL;
    loci_error err;

    CHECK_STATUS(LOCI_EINVAL, loci_open(NULL, &engine, &err));
    CHECK_STATUS(LOCI_EINVAL, loci_open(&good, NULL, &err));
    options = good;
    options.size = 8;
    CHECK_STATUS(LOCI_EINVAL, try_open(options, &err));
    options = good;
    options.store = NULL;
    CHECK_STATUS(LOCI_EINVAL, try_open(options, &err));
    options.store = "postgresql://localhost:1/loci"; /* Nobody is there. */
    CHECK_STATUS(LOCI_EUNAVAILABLE, try_open(options, &err));
    options.store = "postgresql://me:secret@[::1/loci";
    CHECK_STATUS(LOCI_EINVAL, try_open(options, &err));
    CHECK(strstr(err.message, "secret") == NULL);
    options = good;
    options.tenant = "";
    CHECK_STATUS(LOCI_EINVAL, try_open(options, &err));
    options = good;
    options.settings = "{\"no.such\":1}";
    CHECK_STATUS(LOCI_EINVAL, try_open(options, &err));
    options = good;
    options.flags |= LOCI_OPEN_EXISTING;
    CHECK_STATUS(LOCI_ENOTFOUND, try_open(options, &err));
    CHECK(!test_file_exists(store));
    CHECK_OK(try_open(good, &err), err);
    CHECK_OK(try_open(options, &err), err);
    loci_close(NULL);
}

TEST(call, options_that_were_not_initialised_are_refused)
{
    loci_engine *engine = test_open(new_store());
    loci_call_options options;
    loci_answer *answer = NULL;
    loci_error err;

    memset(&options, 0, sizeof options);
    CHECK_STATUS(LOCI_EINVAL,
                 loci_call(engine, "fact.list", LC_STR("{}"), &options, &answer, &err));
    CHECK_CONTAINS(err.message, "LOCI_CALL_OPTIONS_INIT");
    test_close(engine);
}

/* ---- Texts ----------------------------------------------------------------------------------- */

static void expect(loci_engine *engine, loci_status expected, const char *operation, loci_str args,
                   const char *part)
{
    loci_error err = {0};

    CHECK_STATUS(expected, test_try(engine, operation, args, &err));
    CHECK_STATUS(expected, err.status);
    CHECK_CONTAINS(err.message, part);
    CHECK_STATUS(expected, test_try(engine, operation, args, NULL)); /* Nobody needs to ask why. */
}

TEST(call, what_is_not_a_call_is_refused_and_changes_nothing)
{
    const char *store = new_store();
    loci_engine *engine = test_open(store);
    uint64_t before = test_store_hash(store, NULL);

    expect(engine, LOCI_ENOTFOUND, "fact.wirte", LC_STR("{}"), "did you mean \"fact.write\"");
    expect(engine, LOCI_ENOTFOUND, "", LC_STR("{}"), "unknown operation");
    expect(engine, LOCI_ENOTFOUND, NULL, LC_STR("{}"), "unknown operation");
    expect(engine, LOCI_ENOTFOUND, "\xff", LC_STR("{}"), "unknown operation");
    expect(engine, LOCI_EINVAL, "fact.list", LC_STR("[]"), "object");
    expect(engine, LOCI_EINVAL, "fact.list", LC_STR("null"), "object");
    expect(engine, LOCI_EINVAL, "fact.list", LC_STR("{"), "line 1");
    expect(engine, LOCI_EINVAL, "fact.list", LC_STR("{} {}"), "line 1");
    expect(engine, LOCI_EINVAL, "fact.write", LC_STR("{\"key\":\"k\",\"value\":\"\\u0000\"}"), "");
    expect(engine, LOCI_EINVAL, "fact.write", LC_STR("{\"key\":\"k\",\"value\":\"\xff\"}"), "");
    expect(engine, LOCI_EINVAL, "fact.write", LC_STR("{\"key\":\"a\nb\",\"value\":1}"), "");
    expect(engine, LOCI_EINVAL, "fact.write", LC_STR("{\"key\":\"a\\nb\",\"value\":1}"), "key");
    expect(engine, LOCI_EINVAL, "fact.write", LC_STR("{\"key\":\"k\",\"key\":\"l\",\"value\":1}"),
           "");
    expect(engine, LOCI_EINVAL, "fact.write", LC_STR("{\"key\":\"k\",\"value\":1,\"colour\":2}"),
           "colour");
    expect(engine, LOCI_EINVAL, "fact.write", LC_STR("{\"key\":\"k\"}"), "value");
    expect(engine, LOCI_EINVAL, "fact.write", LC_STR("{\"key\":7,\"value\":1}"), "key");
    expect(engine, LOCI_EINVAL, "fact.list", LC_STR("{\"request_id\":\"r\"}"), "request_id");
    CHECK_EQ(test_store_hash(store, NULL), before);
    test_call(engine, "fact.list", "  \n ");
    CHECK_OK(test_try(engine, "fact.list", (loci_str){NULL, 0}, NULL), (loci_error *)NULL);
    test_close(engine);
}

/* {"key":"k","value":"xxx…"} of exactly so many bytes. */
static loci_str args_of(size_t bytes)
{
    static const char head[] = "{\"key\":\"k\",\"value\":\"";
    char *text = test_bytes(bytes);

    memset(text, 'x', bytes);
    memcpy(text, head, sizeof head - 1);
    memcpy(text + bytes - 2, "\"}", 2);
    return (loci_str){text, bytes};
}

/* A program that is not interested in an answer passes NULL for it. */
TEST(call, an_answer_may_be_ignored)
{
    loci_engine *engine = test_open(new_store());
    loci_request request = {"fact.write", loci_str_of("{\"key\":\"b\",\"value\":1}"),
                            LOCI_AT_CLOCK};
    loci_error err;

    CHECK_OK(loci_call(engine, "fact.write", loci_str_of("{\"key\":\"a\",\"value\":1}"), NULL, NULL,
                       &err),
             err);
    CHECK_OK(loci_call_many(engine, &request, 1, NULL, NULL, &err), err);
    CHECK_EQ(test_member_int(test_call(engine, "fact.list", "{}"), "facts.1.value"), 1);
    loci_close(engine);
}

TEST(call, arguments_have_a_ceiling)
{
    loci_engine *engine = test_open(new_store());
    /* One event cannot hold what the arguments can. */
    const size_t fits = LC_EVENT_BYTES_MAX - 8192 + 20;

    expect(engine, LOCI_ELIMIT, "fact.write", args_of(LC_ARGS_BYTES_MAX - 1),
           "the maximum is 1040384");
    expect(engine, LOCI_ELIMIT, "fact.write", args_of(LC_ARGS_BYTES_MAX), "the maximum is 1040384");
    expect(engine, LOCI_ELIMIT, "fact.write", args_of(LC_ARGS_BYTES_MAX + 1), "at most 4194304");
    CHECK_OK(test_try(engine, "fact.write", args_of(fits - 1), NULL), (loci_error *)NULL);
    CHECK_OK(test_try(engine, "fact.write", args_of(fits), NULL), (loci_error *)NULL);
    expect(engine, LOCI_ELIMIT, "fact.write", args_of(fits + 1), "the maximum is 1040384");
    test_close(engine);
}

static loci_str nested(size_t depth)
{
    char *text = test_bytes(200 + 2 * depth);
    static const char head[] = "{\"key\":\"k\",\"value\":";
    size_t at = sizeof head - 1;

    memcpy(text, head, at);
    memset(text + at, '[', depth);
    memset(text + at + depth, ']', depth);
    text[at + 2 * depth] = '}';
    return loci_str_of(text);
}

TEST(call, arguments_have_a_depth)
{
    loci_engine *engine = test_open(new_store());
    loci_error err;

    CHECK_OK(test_try(engine, "fact.write", nested(LC_JSON_DEPTH_MAX - 2), &err), err);
    CHECK_OK(test_try(engine, "fact.write", nested(LC_JSON_DEPTH_MAX - 1), &err), err);
    test_call(engine, "fact.current", "{'key':'k'}");
    test_call(engine, "fact.list", "{}");
    test_call(engine, "event.list", "{}");
    expect(engine, LOCI_ELIMIT, "fact.write", nested(LC_JSON_DEPTH_MAX), "");
    expect(engine, LOCI_ELIMIT, "fact.write", nested(100000), "");
    test_close(engine);
}

/* ---- Who ------------------------------------------------------------------------------------- */

static loci_status try_as(loci_engine *engine, loci_principal who, const char *operation,
                          const char *args, loci_str *out, loci_error *err)
{
    loci_call_options options = LOCI_CALL_OPTIONS_INIT;
    loci_answer *answer = NULL;
    loci_status status;

    who.size = sizeof who;
    options.principal = &who;
    status = loci_call(engine, operation, loci_str_of(args), &options, &answer, err);
    if (status == LOCI_OK && out != NULL)
        *out = loci_str_of(test_format("%s", loci_answer_json(answer).ptr));
    loci_answer_free(answer);
    return status;
}

TEST(call, who_may_act_for_one_user_knows_no_other)
{
    loci_engine *engine = test_open(new_store());
    loci_principal anna = {.user = "anna"};
    loci_error err;
    loci_str mine;

    test_call(engine, "fact.write", "{\"key\":\"k\",\"value\":\"bob's\",\"user_id\":\"bob\"}");
    CHECK_OK(try_as(engine, anna, "fact.write", "{\"key\":\"k\",\"value\":1}", NULL, &err), err);
    CHECK_OK(
        try_as(engine, anna, "fact.current", "{\"key\":\"k\",\"user_id\":\"anna\"}", &mine, &err),
        err);
    CHECK_STR_EQ(test_member(mine, "value"), "1");
    CHECK_STATUS(LOCI_ENOTFOUND, try_as(engine, anna, "fact.current",
                                        "{\"key\":\"k\",\"user_id\":\"bob\"}", NULL, &err));
    CHECK_STATUS(LOCI_ENOTFOUND, try_as(engine, anna, "fact.current",
                                        "{\"key\":\"k\",\"user_id\":\"nobody\"}", NULL, &err));
    CHECK_STATUS(LOCI_ENOTFOUND,
                 try_as(engine, anna, "fact.write",
                        "{\"key\":\"k\",\"value\":2,\"user_id\":\"default\"}", NULL, &err));
    test_close(engine);
}

/* loci.h: a NULL or empty member means: not narrowed. */
TEST(call, an_empty_principal_is_not_narrowed)
{
    loci_engine *engine = test_open(new_store());
    loci_principal open = {.tenant = "", .user = "", .persona = "", .authority = "", .trust = ""};
    loci_error err;
    loci_str answer;

    CHECK_OK(try_as(engine, open, "fact.write", "{\"key\":\"k\",\"value\":1}", NULL, &err), err);
    answer = test_call(engine, "fact.current", "{'key':'k'}");
    CHECK_STR_EQ(test_member(answer, "value"), "1");
    CHECK_STR_EQ(test_member(answer, "persona_id"), "");
    CHECK_OK(
        try_as(engine, open, "fact.current", "{\"key\":\"k\",\"user_id\":\"default\"}", NULL, &err),
        err);
    test_close(engine);
}

TEST(call, a_principal_has_names_that_can_be_kept)
{
    char *longer = test_bytes(LC_ID_BYTES_MAX + 1);
    loci_principal wrong[] = {
        {.tenant = "a\nb"}, {.user = "a\nb"}, {.persona = "a\x7f"}, {.tenant = "\xff"},
        {.user = "\xff"},   {.user = longer}, {.tenant = longer},   {.persona = longer},
    };
    loci_engine *engine = test_open(new_store());
    loci_error err;

    memset(longer, 'x', LC_ID_BYTES_MAX + 1);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        CHECK_STATUS(LOCI_EINVAL, try_as(engine, wrong[i], "fact.list", "{}", NULL, &err));
    longer[LC_ID_BYTES_MAX] = '\0';
    CHECK_OK(try_as(engine, (loci_principal){.tenant = longer, .user = longer, .persona = longer},
                    "fact.write", "{\"key\":\"k\",\"value\":1}", NULL, &err),
             err);
    test_close(engine);
}

TEST(call, a_persona_sees_its_own_and_everybodys)
{
    loci_engine *engine = test_open(new_store());
    loci_principal anna = {.persona = "anna"}, bob = {.persona = "bob"};
    loci_str answer, list;
    loci_error err;

    test_call(engine, "fact.write", "{'key':'shared','value':0}");
    CHECK_OK(try_as(engine, anna, "fact.write", "{\"key\":\"own\",\"value\":1}", &answer, &err),
             err);
    CHECK_STATUS(LOCI_ENOTFOUND,
                 try_as(engine, bob, "fact.current", "{\"key\":\"own\"}", NULL, &err));
    CHECK_STATUS(LOCI_ENOTFOUND,
                 try_as(engine, bob, "fact.get",
                        test_format("{\"id\":\"%s\"}", test_member_text(answer, "id").ptr), NULL,
                        &err));
    CHECK_STATUS(LOCI_ENOTFOUND, try_as(engine, bob, "fact.current",
                                        "{\"key\":\"own\",\"persona_id\":\"anna\"}", NULL, &err));
    CHECK_STATUS(LOCI_ENOTFOUND,
                 try_as(engine, bob, "fact.history", "{\"key\":\"own\"}", NULL, &err));
    CHECK_OK(try_as(engine, bob, "fact.list", "{}", &list, &err), err);
    CHECK_STR_EQ(test_member_text(list, "facts.0.key"), "shared");
    CHECK_STR_EQ(test_member(list, "facts.1"), "");
    test_close(engine);
}

/* The answer of a write tells what became of it, which depends on the rights of its caller. */
TEST(call, a_stored_answer_is_for_callers_with_the_same_rights)
{
    loci_engine *engine = test_open(new_store());
    loci_principal guest = {.authority = "guest"};
    const char *args = "{\"key\":\"k\",\"value\":2,\"request_id\":\"q\"}";
    const char *other = "{\"key\":\"free\",\"value\":2,\"request_id\":\"q\"}";
    loci_str first, claimed, again;
    loci_error err;

    test_call(engine, "fact.write", "{'key':'k','value':1}");
    first = test_call(engine, "fact.write", "%s", args);
    CHECK_OK(try_as(engine, guest, "fact.write", args, &claimed, &err), err);
    CHECK_STR_EQ(test_member_text(first, "outcome"), "superseded");
    CHECK(!lc_str_eq(first, claimed));
    CHECK_OK(try_as(engine, guest, "fact.write", args, &again, &err), err);
    CHECK_STR_EQ(again, test_replayed(claimed));
    /* An id that only others used does not conflict. */
    CHECK_STATUS(LOCI_ECONFLICT, try_as(engine, guest, "fact.write", other, NULL, &err));
    guest.authority = "intern";
    CHECK_OK(try_as(engine, guest, "fact.write", other, NULL, &err), err);
    test_close(engine);
}

/* Two facts of one key, shared and own, and a page that ends between them. */
TEST(call, a_page_of_facts_loses_none)
{
    loci_engine *engine = test_open(new_store());
    loci_principal anna = {.persona = "anna"};
    const char *cursor = "null";
    loci_str page;
    loci_error err;
    int count = 0;

    for (int i = 0; i < 3; i++) {
        const char *args = test_format("{\"key\":\"k%d\",\"value\":1}", i);

        test_call(engine, "fact.write", "%s", args);
        CHECK_OK(try_as(engine, anna, "fact.write", args, NULL, &err), err);
    }
    do {
        CHECK_OK(try_as(engine, anna, "fact.list",
                        test_format("{\"limit\":1,\"cursor\":%s}", cursor), &page, &err),
                 err);
        count += test_member(page, "facts.0").len > 0;
        CHECK_STR_EQ(test_member(page, "facts.1"), "");
        cursor = test_member(page, "next_cursor").ptr;
    } while (cursor[0] == '"' && count < 100);
    CHECK_EQ(count, 6);
    test_close(engine);
}

TEST(call, what_is_about_the_whole_store_is_for_admins)
{
    loci_engine *engine = test_open(new_store());
    loci_principal plain = {.tenant = "default"};
    loci_principal admin = {.tenant = "default", .flags = LOCI_PRINCIPAL_ADMIN};
    int seen = 0;
    loci_error err;

    for (size_t i = 0; lc_op_at(i) != NULL; i++) {
        const lc_op *op = lc_op_at(i);

        if ((op->flags & LC_OP_ADMIN) == 0)
            continue;
        CHECK_STATUS(LOCI_EFORBIDDEN, try_as(engine, plain, op->name, "{}", NULL, &err));
        CHECK_STATUS(LOCI_EFORBIDDEN, try_as(engine, plain, op->name, "{\"x\":1}", NULL, &err));
        CHECK_STATUS(LOCI_EINVAL, try_as(engine, admin, op->name, "{\"no such\":1}", NULL, &err));
        seen++;
    }
    CHECK_LT(0, seen);
    CHECK_STATUS(LOCI_EFORBIDDEN,
                 try_as(engine, plain, "job.list", "{\"scope\":\"store\"}", NULL, &err));
    test_close(engine);
}

/* ---- Tenants --------------------------------------------------------------------------------- */

/* Runs every operation that reads as (stranger, user), with arguments that name what is another's,
 * and looks for the canary. */
static void hunt(loci_engine *engine, loci_principal stranger, const char *user, loci_str fact_id)
{
    for (size_t i = 0; lc_op_at(i) != NULL; i++) {
        const lc_op *op = lc_op_at(i);
        bool is_of_user = (op->flags & LC_OP_USER) != 0;
        char *args = test_format("{%s%s%s", is_of_user && user != NULL ? "\"user_id\":\"" : "",
                                 is_of_user && user != NULL ? user : "",
                                 is_of_user && user != NULL ? "\"" : "");
        loci_str answer = {"", 0};
        loci_error err = {0};

        if ((op->flags & (LC_OP_MUTATES | LC_OP_ADMIN)) != 0)
            continue;
        for (const lc_param *param = op->params; param->name != NULL; param++) {
            if ((param->flags & LC_PARAM_REQUIRED) != 0)
                args = test_format("%s%s\"%s\":\"%s\"", args, args[1] != '\0' ? "," : "",
                                   param->name,
                                   strcmp(param->name, "key") == 0 ? "canary" : fact_id.ptr);
        }
        (void)try_as(engine, stranger, op->name, test_format("%s}", args), &answer, &err);
        CHECK(memmem(answer.ptr, answer.len, "tweet", 5) == NULL);
        CHECK(strstr(err.message, "tweet") == NULL && strstr(err.data, "tweet") == NULL);
    }
}

TEST(call, tenants_and_users_never_meet)
{
    loci_engine *engine = test_open(new_store());
    loci_principal owner = {.tenant = "cage"};
    loci_str written, seen;
    loci_error err;

    CHECK_OK(try_as(engine, owner, "fact.write",
                    "{\"key\":\"canary\",\"value\":\"tweet\",\"source\":\"tweet\"}", &written,
                    &err),
             err);
    CHECK_OK(try_as(engine, owner, "event.list", "{}", &seen, &err), err);
    CHECK_CONTAINS(seen, "tweet"); /* The hunt would find it. */
    hunt(engine, (loci_principal){.tenant = "cat"}, NULL, test_member_text(written, "id"));
    hunt(engine, (loci_principal){.tenant = "cat"}, "default", test_member_text(written, "id"));
    hunt(engine, (loci_principal){.tenant = "cage"}, "cat", test_member_text(written, "id"));
    hunt(engine, (loci_principal){.tenant = "cage", .user = "cat"}, NULL,
         test_member_text(written, "id"));
    hunt(engine, (loci_principal){.tenant = "cage", .user = "cat"}, "default",
         test_member_text(written, "id"));
    test_close(engine);
}

/* ---- When ------------------------------------------------------------------------------------ */

static loci_str call_at(loci_engine *engine, int64_t at_us, const char *operation, const char *args,
                        loci_error *err)
{
    loci_call_options options = LOCI_CALL_OPTIONS_INIT;
    loci_answer *answer = NULL;
    loci_str json = {"", 0};

    options.at_us = at_us;
    *err = (loci_error){0};
    if (loci_call(engine, operation, loci_str_of(args), &options, &answer, err) == LOCI_OK)
        json = loci_str_of(test_format("%s", loci_answer_json(answer).ptr));
    loci_answer_free(answer);
    return json;
}

TEST(call, a_call_may_have_a_time_of_its_own)
{
    loci_engine *engine = test_open(new_store());
    loci_error err;
    loci_str fact;

    (void)call_at(engine, 0, "fact.write", "{\"key\":\"epoch\",\"value\":1}", &err);
    fact = test_call(engine, "fact.current", "{'key':'epoch'}");
    CHECK_STR_EQ(test_member_text(fact, "recorded_at"), "1970-01-01T00:00:00Z");
    (void)call_at(engine, INT64_C(1700000000000000), "fact.write", "{\"key\":\"k\",\"value\":1}",
                  &err);
    (void)call_at(engine, -5000000, "fact.write", "{\"key\":\"back\",\"value\":1}", &err);
    fact = test_call(engine, "fact.current", "{'key':'back'}");
    CHECK_STR_EQ(test_member_text(fact, "recorded_at"), "2023-11-14T22:13:20Z");
    test_close(engine);
}

/* What is recorded must be readable: a time that RFC 3339 cannot write becomes the nearest it can.
 */
/* One call at the end of time would keep that user's log there for good: recorded_at never falls.
 */
TEST(call, a_time_outside_the_calendar_is_refused)
{
    static const int64_t wrong[] = {INT64_MIN + 1, LC_TIME_MIN_US - 1, LC_TIME_MAX_US + 1,
                                    INT64_MAX};
    loci_engine *engine = test_open(new_store());
    const char *args = "{\"key\":\"first\",\"value\":1}";
    loci_error err;

    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        loci_call_options options = LOCI_CALL_OPTIONS_INIT;
        loci_answer *answer = NULL;

        options.at_us = wrong[i];
        CHECK_STATUS(LOCI_EINVAL,
                     loci_call(engine, "fact.write", loci_str_of(args), &options, &answer, &err));
    }
    (void)call_at(engine, LC_TIME_MIN_US, "fact.write", args, &err);
    CHECK_STR_EQ(
        test_member_text(test_call(engine, "fact.current", "{'key':'first'}"), "recorded_at"),
        "0001-01-01T00:00:00Z");
    test_close(engine);
}

/* What one persona said is not for another; the log does not tell them apart. */
TEST(call, a_persona_does_not_read_the_log)
{
    loci_engine *engine = test_open(new_store());
    loci_principal persona = {.size = sizeof persona, .persona = "coach"};
    loci_call_options options = LOCI_CALL_OPTIONS_INIT;
    loci_subscribe_options following = LOCI_SUBSCRIBE_OPTIONS_INIT;
    loci_answer *answer = NULL;
    loci_subscription *subscription = NULL;

    options.principal = &persona;
    following.principal = &persona;
    CHECK_STATUS(LOCI_EFORBIDDEN,
                 loci_call(engine, "event.list", LC_STR("{}"), &options, &answer, NULL));
    CHECK_STATUS(LOCI_EFORBIDDEN, loci_subscribe(engine, &following, &subscription, NULL));
    test_close(engine);
}

static loci_status call_within(loci_engine *engine, int64_t timeout_ms, const volatile int *cancel,
                               const char *operation, const char *args)
{
    loci_call_options options = LOCI_CALL_OPTIONS_INIT;
    loci_answer *answer = NULL;
    loci_status status;

    options.timeout_ms = timeout_ms;
    options.cancel = cancel;
    status = loci_call(engine, operation, loci_str_of(args), &options, &answer, NULL);
    loci_answer_free(answer);
    return status;
}

static loci_status hold_lock(lc_tx *tx, void *ctx, loci_error *err)
{
    loci_engine *engine = ctx;
    int64_t began_us = lc_clock_monotonic_us();

    (void)tx;
    (void)err;
    CHECK_STATUS(LOCI_EDEADLINE,
                 call_within(engine, 50, NULL, "fact.write", "{\"key\":\"late\",\"value\":1}"));
    CHECK_LT(lc_clock_monotonic_us() - began_us, 5000000);
    CHECK_STATUS(LOCI_OK, call_within(engine, 5000, NULL, "fact.list", "{}")); /* Reads pass. */
    return LOCI_OK;
}

TEST(call, a_call_gives_up_when_its_time_is_over)
{
    const char *store = new_store();
    loci_engine *engine = test_open(store), *other = test_open(store);
    lc_write holder = {.tenant_id = LC_STR("default"),
                       .user_id = LC_STR("default"),
                       .deadline_us = lc_clock_monotonic_us() + 10000000,
                       .body = hold_lock,
                       .ctx = engine};
    loci_error err;

    CHECK_OK(lc_engine_write(other, &holder), holder.error);
    CHECK_STATUS(LOCI_ENOTFOUND,
                 test_try(engine, "fact.current", LC_STR("{\"key\":\"late\"}"), &err));
    CHECK_STATUS(LOCI_OK, call_within(engine, INT64_MAX, NULL, "fact.list", "{}"));
    CHECK_STATUS(LOCI_OK,
                 call_within(engine, -1, NULL, "fact.write", "{\"key\":\"k\",\"value\":1}"));
    loci_close(other);
    test_close(engine);
}

TEST(call, a_cancelled_call_changes_nothing)
{
    volatile int cancel = 1;
    const char *store = new_store();
    loci_engine *engine = test_open(store);
    uint64_t before = test_store_hash(store, NULL);

    CHECK_STATUS(LOCI_ECANCELLED,
                 call_within(engine, 0, &cancel, "fact.write", "{\"key\":\"k\",\"value\":1}"));
    CHECK_STATUS(LOCI_ECANCELLED, call_within(engine, 0, &cancel, "fact.list", "{}"));
    CHECK_EQ(test_store_hash(store, NULL), before);
    cancel = 0;
    CHECK_STATUS(LOCI_OK, call_within(engine, 0, &cancel, "fact.list", "{}"));
    test_close(engine);
}

/* A commit has a ceiling of bytes; it holds only if every call says how large it is. */
TEST(call, a_write_says_how_large_it_is)
{
    loci_engine *engine = test_open(new_store());
    loci_str args = args_of(100000);
    lc_caller caller;
    lc_run run = {0};
    loci_error err;

    CHECK_OK(lc_caller_init(&caller, engine, NULL, &err), err);
    CHECK_OK(lc_run_begin(&run, &caller, "fact.write", args, &err), err);
    CHECK_LE(args.len, lc_run_write(&run).bytes);
    lc_run_end(&run);
    test_close(engine);
}
