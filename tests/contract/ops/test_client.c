/* The program that calls is recorded with what it writes, and no more than that. */
#include "lib/calls.h"

#include <stddef.h>
#include <string.h>

#include "base/str.h"
#include "ops/call.h"

#define CLAUDE "claude-code/2.1.4; model=opus"
#define CLAUDE_JSON "{\"name\":\"claude-code\",\"version\":\"2.1.4\",\"model\":\"opus\""

static const char *new_store(void)
{
    return test_store(test_tmpdir(), "store.db");
}

static loci_status try_as(loci_engine *engine, const char *client, const char *operation,
                          const char *args, loci_str *out, loci_error *err)
{
    loci_call_options options = LOCI_CALL_OPTIONS_INIT;
    loci_answer *answer = NULL;
    loci_status status;

    options.client = client;
    status = loci_call(engine, operation, loci_str_of(test_json(args)), &options, &answer, err);
    if (status == LOCI_OK && out != NULL)
        *out = loci_str_of(test_format("%s", loci_answer_json(answer).ptr));
    loci_answer_free(answer);
    return status;
}

static loci_str call_as(loci_engine *engine, const char *client, const char *operation,
                        const char *args)
{
    loci_str answer = {"", 0};
    loci_error err;

    CHECK_OK(try_as(engine, client, operation, args, &answer, &err), err);
    return answer;
}

/* The client of the newest event, as its refs have it. */
static loci_str last_client(loci_engine *engine)
{
    loci_str events = test_call(engine, "event.list", "{}");
    int64_t last = test_member_int(events, "head_seq") - 1;

    return test_member(events, test_format("events.%d.refs.client", (int)last));
}

TEST(client, is_in_the_refs_of_every_event_with_its_session)
{
    loci_engine *engine = test_open(new_store());
    loci_str events, session;

    (void)call_as(engine, CLAUDE, "fact.write", "{'key':'city','value':'Oslo','session_id':'s'}");
    events = test_call(engine, "event.list", "{}");
    session = test_member_text(events, "events.0.refs.id");
    CHECK_STR_EQ(test_member(events, "events.0.type"), "\"session.opened\"");
    CHECK_STR_EQ(test_member(events, "events.0.refs.client.name"), "\"claude-code\"");
    CHECK_STR_EQ(test_member(events, "events.1.refs.client"),
                 test_format(CLAUDE_JSON ",\"session_id\":\"%.*s\"}", LC_STR_ARG(session)));
    /* One that says nothing is recorded as before. */
    (void)test_call(engine, "fact.write", "{'key':'floor','value':3}");
    CHECK_STR_EQ(last_client(engine), "");
    /* A call without a session names none. */
    (void)call_as(engine, "bot/1", "todo.add", "{'text':'Buy milk'}");
    CHECK_STR_EQ(last_client(engine), "{\"name\":\"bot\",\"version\":\"1\"}");
    test_close(engine);
}

TEST(client, may_be_written_in_several_ways)
{
    static const struct {
        const char *client, *json;
    } cases[] = {
        {"bot", "{\"name\":\"bot\"}"},
        {" bot / 1.2 ; model = big ; later=x ", NULL},
        {"@scope/bot/1.2", "{\"name\":\"@scope/bot\",\"version\":\"1.2\"}"},
        {"bot; model=\xC3\xA9t\xC3\xA9", "{\"name\":\"bot\",\"model\":\"\xC3\xA9t\xC3\xA9\"}"},
        {"{\"model\":\"m\",\"name\":\"a \\\"b\\\"\"}",
         "{\"name\":\"a \\\"b\\\"\",\"model\":\"m\"}"},
        {"", ""},
        {NULL, ""},
    };
    loci_engine *engine = test_open(new_store());

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        (void)call_as(engine, cases[i].client, "todo.add", "{'text':'x'}");
        CHECK_STR_EQ(last_client(engine), cases[i].json != NULL
                                              ? cases[i].json
                                              : "{\"name\":\"bot\",\"version\":\"1.2\","
                                                "\"model\":\"big\"}");
    }
    test_close(engine);
}

TEST(client, that_is_too_long_or_broken_is_refused)
{
    static const char *const broken[] = {"/1",
                                         "; model=x",
                                         "{}",
                                         "{\"name\":7}",
                                         "{\"name\":\"a\"",
                                         "{\"name\":\"a\",\"tenant\":\"b\"}",
                                         "a\nb",
                                         "a\xff"};
    loci_engine *engine = test_open(new_store());
    char *text = test_bytes(1100);
    loci_error err;

    for (size_t i = 0; i < sizeof broken / sizeof broken[0]; i++)
        CHECK_STATUS(LOCI_EINVAL,
                     try_as(engine, broken[i], "todo.add", "{'text':'x'}", NULL, &err));
    memset(text, 'a', 128);
    CHECK_OK(try_as(engine, text, "todo.add", "{'text':'x'}", NULL, &err), err);
    text[128] = 'a';
    CHECK_STATUS(LOCI_EINVAL, try_as(engine, text, "todo.add", "{'text':'x'}", NULL, &err));
    CHECK_CONTAINS(err.message, "128");
    memset(text, ' ', 1025);
    memcpy(text, "bot;", 4);
    text[1024] = 'x';
    CHECK_STATUS(LOCI_EINVAL, try_as(engine, text, "todo.add", "{'text':'x'}", NULL, &err));
    CHECK_EQ(test_member_int(test_call(engine, "event.list", "{}"), "head_seq"), 1);
    test_close(engine);
}

TEST(client, is_shown_where_people_ask_who_said_it)
{
    loci_engine *engine = test_open(new_store());
    loci_str memory, answer, fact;

    fact = call_as(engine, CLAUDE, "fact.write", "{'key':'city','value':'Oslo'}");
    (void)call_as(engine, "bot/1", "fact.write", "{'key':'city','value':'Bergen'}");
    answer = test_call(engine, "fact.history", "{'key':'city'}");
    CHECK_STR_EQ(test_member(answer, "facts.0.client.model"), "\"opus\"");
    CHECK_STR_EQ(test_member(answer, "facts.1.client.name"), "\"bot\"");
    answer = test_call(engine, "fact.get", "{'id':'%.*s'}",
                       LC_STR_ARG(test_member_text(fact, "id")));
    CHECK_STR_EQ(test_member(answer, "client.name"), "\"claude-code\"");
    (void)call_as(engine, "bot/2", "fact.write",
                  "{'key':'city','value':'Troms','authority':'guest'}");
    answer = test_call(engine, "fact.claims", "{}");
    CHECK_STR_EQ(test_member(answer, "claims.0.client.version"), "\"2\"");

    memory = call_as(engine, CLAUDE, "memory.store", "{'text':'Lives in Austin'}");
    (void)call_as(engine, "bot/1", "memory.store", "{'text':'Lives in Denver'}");
    answer = test_call(engine, "memory.get", "{'id':'%.*s'}",
                       LC_STR_ARG(test_member_text(memory, "id")));
    CHECK_STR_EQ(test_member(answer, "client.name"), "\"claude-code\"");
    answer = test_call(engine, "memory.history", "{'id':'%.*s'}",
                       LC_STR_ARG(test_member_text(memory, "id")));
    CHECK_STR_EQ(test_member(answer, "memories.0.client.version"), "\"2.1.4\"");
    CHECK_STR_EQ(test_member(answer, "memories.1.client.name"), "\"bot\"");

    (void)call_as(engine, CLAUDE, "session.append", "{'role':'user','text':'Hello.'}");
    (void)test_call(engine, "session.append", "{'role':'user','text':'Again.'}");
    answer = test_call(engine, "session.messages", "{}");
    CHECK_STR_EQ(test_member(answer, "messages.0.client.name"), "\"claude-code\"");
    CHECK_STR_EQ(test_member(answer, "messages.0.client.session_id"),
                 test_member(answer, "messages.0.session_id"));
    CHECK_STR_EQ(test_member(answer, "messages.1.client"), "");
    test_close(engine);
}

TEST(client, of_a_batch_is_that_of_all_its_calls)
{
    static const loci_request requests[] = {
        {"fact.write", {"{\"key\":\"a\",\"value\":1}", 21}, LOCI_AT_CLOCK},
        {"todo.add", {"{\"text\":\"b\"}", 12}, LOCI_AT_CLOCK}};
    loci_call_options options = LOCI_CALL_OPTIONS_INIT;
    loci_engine *engine = test_open(new_store());
    loci_answer *answer = NULL;
    loci_error err;
    loci_str events;

    options.client = "bot/1";
    CHECK_OK(loci_call_many(engine, requests, 2, &options, &answer, &err), err);
    loci_answer_free(answer);
    events = test_call(engine, "event.list", "{}");
    CHECK_STR_EQ(test_member(events, "events.0.refs.client.name"), "\"bot\"");
    /* The session of the first call is not that of the second. */
    CHECK(test_member(events, "events.0.refs.client.session_id").len > 0);
    CHECK_STR_EQ(test_member(events, "events.1.refs.client"),
                 "{\"name\":\"bot\",\"version\":\"1\"}");
    test_close(engine);
}

typedef struct waiting {
    loci_status status;
    bool is_done;
} waiting;

static void note(void *ctx, loci_status status, loci_answer *answer, const loci_error *err)
{
    waiting *w = ctx;

    (void)err;
    loci_answer_free(answer);
    *w = (waiting){status, true};
}

/* The caller's text is gone when a submitted call runs. */
TEST(client, of_a_submitted_call_is_copied)
{
    loci_call_options options = LOCI_CALL_OPTIONS_INIT;
    loci_engine *engine = test_open(new_store());
    char text[] = "bot/1";
    waiting w = {0};
    loci_error err;

    options.client = text;
    CHECK_OK(loci_submit(engine, "todo.add", LC_STR("{\"text\":\"x\"}"), &options, note, &w, &err),
             err);
    memset(text, 'z', sizeof text - 1);
    CHECK(w.is_done);
    CHECK_STATUS(LOCI_OK, w.status);
    CHECK_STR_EQ(last_client(engine), "{\"name\":\"bot\",\"version\":\"1\"}");
    test_close(engine);
}

/* A host that was built before `client` was added passes shorter options. */
TEST(client, is_not_read_from_options_without_it)
{
    loci_call_options options = LOCI_CALL_OPTIONS_INIT;
    loci_engine *engine = test_open(new_store());
    loci_answer *answer = NULL;
    loci_error err;

    options.size = offsetof(loci_call_options, client);
    options.client = "never read";
    CHECK_OK(loci_call(engine, "todo.add", LC_STR("{\"text\":\"x\"}"), &options, &answer, &err),
             err);
    loci_answer_free(answer);
    CHECK_STR_EQ(last_client(engine), "");
    options.size = offsetof(loci_call_options, request_id);
    CHECK_STATUS(LOCI_EINVAL, loci_call(engine, "todo.add", LC_STR("{\"text\":\"x\"}"), &options,
                                        &answer, &err));
    test_close(engine);
}

/* Forgetting takes what was said, not who said it. */
TEST(client, outlives_what_was_forgotten)
{
    loci_engine *engine = test_open(new_store());

    (void)call_as(engine, "bot/1", "fact.write", "{'key':'city','value':'Oslo'}");
    (void)test_call(engine, "fact.forget", "{'key':'city'}");
    CHECK_STR_EQ(test_member(test_call(engine, "event.list", "{}"), "events.0.erased"), "true");
    CHECK_STR_EQ(test_member(test_call(engine, "event.list", "{}"), "events.0.refs.client.name"),
                 "\"bot\"");
    (void)test_call(engine, "store.rebuild", "{}");
    test_close(engine);
}

static loci_status read_client(void *ctx)
{
    lc_arena arena;
    lc_heap heap;
    loci_str out;
    loci_error err;
    loci_status status;

    lc_heap_init(&heap, test_heap());
    lc_arena_init(&arena, &heap, LOCI_MEM_REQUESTS);
    status = lc_client_read(&arena, loci_str_of(ctx), &out, &err);
    lc_arena_clear(&arena);
    return status;
}

TEST(client, running_out_of_memory_is_reported)
{
    static char line[] = "bot/1; model=m", object[] = "{\"name\":\"bot\",\"model\":\"m\"}";

    test_oom_sweep(read_client, line);
    test_oom_sweep(read_client, object);
}
