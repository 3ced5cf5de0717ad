/* Sessions: optional everywhere, and ended by silence. */
#include "contract/fact_fixture.h"

#include "base/str.h"

static const char *open_id(facts *f, const char *args)
{
    loci_str answer;

    if (facts_try(f, "session.get", &answer, args) != LOCI_OK ||
        !lc_str_is(test_member_text(answer, "state"), "active"))
        return "-";
    return test_format("%.*s", LC_STR_ARG(test_member_text(answer, "id")));
}

/* ---- Which ----------------------------------------------------------------------------------- */

TEST(session, a_write_opens_one_and_reads_open_none)
{
    facts f;
    const char *id;
    loci_str answer;

    facts_open(&f);
    facts_value(&f, "{'key':'a'}");
    facts_call(&f, "working.list", "{}");
    facts_call(&f, "session.messages", "{}");
    CHECK_STR_EQ(facts_call(&f, "session.list", "{}"), "{\"sessions\":[],\"next_cursor\":null}");
    facts_fail(&f, LOCI_ENOTFOUND, "no session is open", "session.get", "{}");
    answer = facts_call(&f, "fact.write", "{'key':'a','value':1}");
    CHECK_EQ(test_member_int(answer, "seq"), 1); /* Opening is no event of its own. */
    id = open_id(&f, "{}");
    CHECK(lc_str_starts(loci_str_of(id), LC_STR("ses_")));
    facts_write(&f, "superseded", "{'key':'a','value':2}");
    CHECK_STR_EQ(open_id(&f, "{}"), id);
    /* A persona has its own. */
    facts_write(&f, "created", "{'key':'a','value':2,'persona_id':'coach'}");
    CHECK(!lc_str_is(loci_str_of(open_id(&f, "{\"persona_id\":\"coach\"}")), id));
    CHECK_STR_EQ(open_id(&f, "{}"), id);
    facts_close(&f);
}

TEST(session, any_string_names_one)
{
    facts f;
    const char *chat, *by_call;

    facts_open(&f);
    facts_write(&f, "created", "{'key':'a','value':1,'session_id':'chat'}");
    chat = open_id(&f, "{\"session_id\":\"chat\"}");
    CHECK_STR_EQ(
        test_member_text(facts_call(&f, "session.get", "{'session_id':'%s'}", chat), "external_id"),
        "chat");
    facts_write(&f, "superseded", "{'key':'a','value':2,'session_id':'chat'}");
    CHECK_STR_EQ(open_id(&f, "{\"session_id\":\"chat\"}"), chat);
    facts_fail(&f, LOCI_ENOTFOUND, "no session ses_00000000000000000000000000", "fact.write",
               "{'key':'a','value':3,'session_id':'ses_00000000000000000000000000'}");
    facts_fail(&f, LOCI_ENOTFOUND, "no session", "fact.list",
               "{'session_id':'ses_00000000000000000000000000'}");
    /* One that has ended: a new one takes its name. */
    facts_call(&f, "session.close", "{'session_id':'chat'}");
    CHECK_STR_EQ(open_id(&f, "{\"session_id\":\"chat\"}"), "-");
    facts_write(&f, "superseded", "{'key':'a','value':4,'session_id':'chat'}");
    CHECK(!lc_str_is(loci_str_of(open_id(&f, "{\"session_id\":\"chat\"}")), chat));
    /* Who still names the old one by its id is led to the new one. */
    by_call = open_id(&f, "{\"session_id\":\"chat\"}");
    CHECK_STR_EQ(test_member_text(facts_call(&f, "session.append",
                                             "{'role':'user','text':'x','session_id':'%s'}", chat),
                                  "session_id"),
                 by_call);
    facts_close(&f);
}

TEST(session, opening_and_closing)
{
    facts f;
    loci_str first, again;

    facts_open(&f);
    first = facts_call(&f, "session.open", "{'external_id':'x'}");
    again = facts_call(&f, "session.open", "{'external_id':'x'}");
    CHECK_STR_EQ(test_member_text(first, "id"), test_member_text(again, "id"));
    facts_call(&f, "session.open", "{}");
    facts_call(&f, "session.open", "{}");
    facts_fail(&f, LOCI_EINVAL, "ses_", "session.open",
               "{'external_id':'ses_00000000000000000000000000'}");
    first = facts_call(&f, "session.list", "{'limit':2}");
    CHECK_STR_EQ(test_member(first, "sessions.2"), "");
    first = facts_call(&f, "session.list", "{'limit':2,'cursor':%s}",
                       test_member(first, "next_cursor").ptr);
    CHECK_STR_EQ(test_member_text(first, "sessions.0.external_id"), "x");
    CHECK_STR_EQ(test_member(first, "next_cursor"), "null");
    again = facts_call(&f, "session.close", "{'session_id':'x'}");
    CHECK_STR_EQ(test_member_text(again, "state"), "ended");
    CHECK_STR_EQ(test_member_text(again, "end_reason"), "closed");
    facts_fail(&f, LOCI_ENOTFOUND, "no session x is open", "session.close", "{'session_id':'x'}");
    facts_close(&f);
}

/* Routes such as /v1/sessions/current/messages have no other way to say it. */
TEST(session, current_is_the_open_session)
{
    facts f;
    loci_str opened;

    facts_open(&f);
    opened = facts_call(&f, "session.open", "{}");
    CHECK_STR_EQ(test_member_text(facts_call(&f, "session.get", "{'session_id':'current'}"), "id"),
                 test_member_text(opened, "id"));
    CHECK_STR_EQ(test_member_text(facts_call(&f, "session.append",
                                             "{'session_id':'current','role':'user',"
                                             "'text':'Hello'}"),
                                  "session_id"),
                 test_member_text(opened, "id"));
    facts_fail(&f, LOCI_EINVAL, "reserved", "session.open", "{'external_id':'current'}");
    facts_close(&f);
}

/* ---- Silence --------------------------------------------------------------------------------- */

TEST(session, thirty_minutes_without_a_write_end_one)
{
    facts f;
    const char *first, *second;
    loci_str answer;

    facts_open(&f);
    facts_write(&f, "created", "{'key':'a','value':1}");
    first = open_id(&f, "{}");
    f.now_us += 29 * MINUTE_US;
    facts_write(&f, "superseded", "{'key':'a','value':2}");
    f.now_us += 30 * MINUTE_US - 1;
    facts_value(&f, "{'key':'a'}"); /* Reading is no activity. */
    CHECK_STR_EQ(open_id(&f, "{}"), first);
    f.now_us += 1;
    answer = facts_call(&f, "session.get", "{'session_id':'%s'}", first);
    CHECK_STR_EQ(test_member_text(answer, "state"), "ended");
    CHECK_STR_EQ(test_member_text(answer, "end_reason"), "idle");
    facts_write(&f, "superseded", "{'key':'a','value':3}");
    second = open_id(&f, "{}");
    CHECK(!lc_str_is(loci_str_of(second), first));
    answer = facts_call(&f, "session.get", "{'session_id':'%s'}", first);
    CHECK_STR_EQ(test_member_text(answer, "ended_at"), "2023-11-14T23:12:20Z");
    /* What says nothing new opens nothing. */
    f.now_us += 40 * MINUTE_US;
    facts_write(&f, "repeated", "{'key':'a','value':3}");
    CHECK_STR_EQ(
        test_member_text(facts_call(&f, "session.get", "{'session_id':'%s'}", second), "state"),
        "ended");
    facts_call(&f, "config.set", "{'name':'session.idle_minutes','value':60}");
    CHECK_STR_EQ(open_id(&f, "{}"), second);
    facts_close(&f);
}

/* What a write knows of the session from those before it in the transaction is not out of date. */
TEST(session, one_transaction_follows_its_own_changes)
{
    static const struct {
        const char *operation, *args;
        int64_t after_minutes;
        int session; /* Of a fact: which one it is in. */
    } steps[] = {
        {"fact.write", "{\"key\":\"a\",\"value\":1,\"scope\":\"session\"}", 0, 1},
        {"fact.write", "{\"key\":\"b\",\"value\":1,\"scope\":\"session\"}", 0, 1},
        {"fact.write", "{\"key\":\"c\",\"value\":1,\"scope\":\"session\"}", 1, 1},
        {"fact.write", "{\"key\":\"d\",\"value\":1,\"scope\":\"session\"}", 30, 1},
        {"session.close", "{}", 30, 0},
        {"fact.write", "{\"key\":\"e\",\"value\":1,\"scope\":\"session\"}", 30, 2},
        {"fact.write", "{\"key\":\"f\",\"value\":1,\"scope\":\"session\"}", 30, 2},
        {"fact.write", "{\"key\":\"g\",\"value\":1,\"scope\":\"session\"}", 61, 3},
        {"fact.write", "{\"key\":\"h\",\"value\":1,\"scope\":\"session\"}", 61, 3},
        {"identity.set", "{\"user_name\":\"Ann\",\"authority\":\"guest\"}", 61, 0},
        {"fact.write", "{\"key\":\"i\",\"value\":1,\"scope\":\"session\"}", 61, 3},
    };
    enum { STEPS = sizeof steps / sizeof steps[0] };
    loci_request requests[STEPS];
    const char *sessions[4] = {"", "", "", ""};
    loci_answer *answer = NULL;
    loci_str fact;
    facts f;

    facts_open(&f);
    for (size_t i = 0; i < STEPS; i++)
        requests[i] = (loci_request){steps[i].operation, loci_str_of(steps[i].args),
                                     f.now_us + steps[i].after_minutes * 60000000};
    CHECK_OK(loci_call_many(f.engine, requests, STEPS, NULL, &answer, &f.err), f.err);
    for (size_t i = 0; i < STEPS; i++) {
        loci_str id = test_member_text(loci_answer_json(answer), test_format("%zu.id", i));
        const char **expected = &sessions[steps[i].session];

        if (steps[i].session == 0)
            continue;
        fact = facts_call(&f, "fact.get", "{'id':'%.*s'}", LC_STR_ARG(id));
        if (expected[0][0] == '\0')
            *expected = test_format("%.*s", LC_STR_ARG(test_member_text(fact, "scope_id")));
        CHECK_STR_EQ(test_member_text(fact, "scope_id"), *expected);
    }
    CHECK_STR_EQ(test_member_text(fact, "authority"), "guest");
    CHECK(!lc_str_is(loci_str_of(sessions[1]), sessions[2]));
    CHECK(!lc_str_is(loci_str_of(sessions[2]), sessions[3]));
    loci_answer_free(answer);
    facts_close(&f);
}

TEST(session, the_last_activity_never_moves_back)
{
    facts f;
    const char *id;

    facts_open(&f);
    facts_write(&f, "created", "{'key':'a','value':1}");
    id = open_id(&f, "{}");
    f.now_us += 20 * MINUTE_US;
    facts_write(&f, "superseded", "{'key':'a','value':2}");
    f.now_us -= 20 * MINUTE_US;
    facts_write(&f, "superseded", "{'key':'a','value':3}");
    f.now_us += 45 * MINUTE_US;
    CHECK_STR_EQ(open_id(&f, "{}"), id);
    f.now_us += 5 * MINUTE_US;
    CHECK_STR_EQ(
        test_member_text(facts_call(&f, "session.get", "{'session_id':'%s'}", id), "state"),
        "ended");
    facts_close(&f);
}

/* ---- Identity -------------------------------------------------------------------------------- */

TEST(session, an_identity_is_set_once)
{
    facts f;
    loci_str answer;

    facts_open(&f);
    facts_fail(&f, LOCI_ENOTFOUND, "no identity", "identity.get", "{}");
    facts_call(&f, "identity.set",
               "{'user_name':'Anna','authority':'CFO','department':'Finance',"
               "'permissions':['pay']}");
    answer = facts_call(&f, "identity.get", "{}");
    CHECK_STR_EQ(test_member_text(answer, "identity.authority"), "CFO");
    CHECK_STR_EQ(test_member_text(answer, "identity.permissions.0"), "pay");
    facts_fail(&f, LOCI_EFORBIDDEN, "is set", "identity.set",
               "{'user_name':'Bob','authority':'policy'}");
    facts_call(&f, "session.close", "{}");
    facts_fail(&f, LOCI_ENOTFOUND, "no identity", "identity.get", "{}");
    facts_call(&f, "identity.set", "{'user_name':'Bob','authority':'guest'}");
    facts_close(&f);
}

/* ---- Working set ----------------------------------------------------------------------------- */

TEST(session, the_working_set_goes_with_its_time_and_its_session)
{
    facts f;
    loci_str answer;

    facts_open(&f);
    facts_call(&f, "working.set", "{'key':'a','value':{'b':1}}");
    f.now_us += 1;
    facts_call(&f, "working.set", "{'key':'b','value':2,'expires_at':'2023-11-14T22:20:00Z'}");
    answer = facts_call(&f, "working.list", "{}");
    CHECK_STR_EQ(test_member_text(answer, "items.0.key"), "b"); /* The newest first. */
    CHECK_STR_EQ(test_member(answer, "items.1.value"), "{\"b\":1}");
    CHECK_STR_EQ(test_member(facts_call(&f, "working.get", "{'key':'b'}"), "value"), "2");
    CHECK_STR_EQ(facts_call(&f, "working.list", "{'session_id':'other'}"),
                 "{\"items\":[],\"next_cursor\":null}");
    f.now_us += 10 * MINUTE_US;
    facts_fail(&f, LOCI_ENOTFOUND, "no item b", "working.get", "{'key':'b'}");
    facts_call(&f, "working.set", "{'key':'c','value':3}");
    CHECK_EQ(test_store_number(f.store, "select count(*) from working_items"), 2);
    facts_call(&f, "working.delete", "{'key':'c'}");
    facts_fail(&f, LOCI_ENOTFOUND, "no item c", "working.delete", "{'key':'c'}");
    f.now_us += 31 * MINUTE_US;
    facts_fail(&f, LOCI_ENOTFOUND, "no session is open", "working.get", "{'key':'a'}");
    facts_write(&f, "created", "{'key':'a','value':1}");
    CHECK_EQ(test_store_number(f.store, "select count(*) from working_items"), 0);
    facts_close(&f);
}

TEST(session, the_working_set_has_a_ceiling)
{
    facts f;

    facts_open(&f);
    facts_call(&f, "session.open", "{'external_id':'w'}");
    for (int i = 0; i < 999; i++)
        facts_call(&f, "working.set", "{'key':'k%d','value':1,'session_id':'w'}", i);
    facts_call(&f, "working.set", "{'key':'last','value':1,'session_id':'w'}");
    facts_fail(&f, LOCI_ELIMIT, "at most 1000 items", "working.set",
               "{'key':'more','value':1,'session_id':'w'}");
    facts_call(&f, "working.set", "{'key':'last','value':2,'session_id':'w'}");
    facts_close(&f);
}

/* ---- Environment ----------------------------------------------------------------------------- */

TEST(session, a_newer_signal_replaces_the_older_one)
{
    facts f;
    loci_str answer;

    facts_open(&f);
    CHECK_STR_EQ(
        test_member_text(facts_call(&f, "environment.get", "{'key':'current_time'}"), "value"),
        "2023-11-14T22:13:20Z");
    CHECK_STR_EQ(
        test_member_text(facts_call(&f, "environment.get", "{'key':'current_date'}"), "value"),
        "2023-11-14");
    facts_call(&f, "environment.set", "{'key':'location','value':'Oslo'}");
    answer = facts_call(&f, "environment.set",
                        "{'key':'location','value':'Rome',"
                        "'observed_at':'2023-11-14T22:00:00Z'}");
    CHECK_STR_EQ(test_member_text(answer, "outcome"), "late");
    f.now_us -= MINUTE_US; /* The clock of another machine: no signal is late because of that. */
    answer = facts_call(&f, "environment.set", "{'key':'location','value':'Lima'}");
    CHECK_STR_EQ(test_member_text(answer, "outcome"), "set");
    facts_call(&f, "environment.set", "{'key':'location','value':'Oslo'}");
    facts_call(&f, "environment.set", "{'key':'location','value':'Bergen','persona_id':'coach'}");
    facts_call(&f, "environment.set", "{'key':'current_time','value':'noon'}");
    answer = facts_call(&f, "environment.list", "{}");
    CHECK_STR_EQ(test_member_text(answer, "signals.0.value"), "noon");
    CHECK_STR_EQ(test_member_text(answer, "signals.1.value"), "Oslo");
    CHECK_STR_EQ(test_member(answer, "signals.2"), "");
    answer = facts_call(&f, "environment.list", "{'persona_id':'coach'}");
    CHECK_STR_EQ(test_member_text(answer, "signals.1.value"), "Bergen");
    CHECK_STR_EQ(test_member(answer, "signals.2"), "");
    facts_fail(&f, LOCI_ENOTFOUND, "no signal timezone", "environment.get", "{'key':'timezone'}");
    CHECK_STR_EQ(facts_call(&f, "session.list", "{}"),
                 "{\"sessions\":[],\"next_cursor\":null}"); /* No activity. */
    f.trust = "model";
    facts_fail(&f, LOCI_EFORBIDDEN, "for connectors", "environment.set",
               "{'key':'location','value':'Rome'}");
    facts_close(&f);
}

/* ---- Messages -------------------------------------------------------------------------------- */

TEST(session, what_was_said_is_kept_in_order)
{
    facts f;
    loci_str answer;

    facts_open(&f);
    facts_call(&f, "session.append", "{'role':'user','text':'Hello'}");
    facts_call(&f, "session.append",
               "{'role':'assistant','text':'Hi','at':'2020-01-01T00:00:00Z'}");
    facts_call(&f, "session.append", "{'role':'user','text':'psst','persona_id':'coach'}");
    answer = facts_call(&f, "session.messages", "{'limit':1}");
    CHECK_STR_EQ(test_member_text(answer, "messages.0.text"), "Hello");
    answer = facts_call(&f, "session.messages", "{'cursor':%s}",
                        test_member(answer, "next_cursor").ptr);
    CHECK_STR_EQ(test_member_text(answer, "messages.0.text"), "Hi");
    CHECK_STR_EQ(test_member_text(answer, "messages.0.at"), "2020-01-01T00:00:00Z");
    CHECK_STR_EQ(test_member(answer, "messages.1"), "");
    facts_call(&f, "session.close", "{}"); /* The last conversation is still seen. */
    answer = facts_call(&f, "session.messages", "{}");
    CHECK_STR_EQ(test_member_text(answer, "messages.1.text"), "Hi");
    facts_fail(&f, LOCI_EINVAL, "role", "session.append", "{'role':'boss','text':'x'}");
    facts_fail(&f, LOCI_ENOTFOUND, "no session y", "session.messages", "{'session_id':'y'}");
    facts_close(&f);
}

/* ---- Verify ---------------------------------------------------------------------------------- */

/* The working set is outside the log, so nothing but this notices what it lost hold of. */
TEST(session, verify_sees_what_belongs_to_no_session)
{
    facts f;
    loci_error err;

    facts_open(&f);
    facts_call(&f, "working.set", "{'key':'a','value':1}");
    test_store_run(f.store, "insert into session_activity values"
                            " ('default', 'default', 'ses_lost', 1)");
    CHECK_STATUS(LOCI_ECORRUPT, test_verify(f.engine, &err));
    CHECK_CONTAINS(err.message, "ses_lost has activity and is no session");
    test_store_run(f.store, "delete from session_activity where session_id = 'ses_lost';"
                            "update working_items set session_id = 'ses_gone'");
    CHECK_STATUS(LOCI_ECORRUPT, test_verify(f.engine, &err));
    CHECK_CONTAINS(err.message, "ses_gone has a working set and is no active session");
    test_store_run(f.store, "delete from working_items");
    facts_close(&f);
}

/* ---- External ids of messages ---------------------------------------------------------------- */

/* A transcript is read again after each turn; each message must be there once. */
TEST(session, an_external_id_stores_a_message_once)
{
    loci_engine *engine = test_open(test_store(test_tmpdir(), "store.db"));
    loci_str first, again, messages;
    int64_t head;

    first = test_call(engine, "session.append",
                      "{'role':'user','text':'Hello.','session_id':'s','external_id':'u1'}");
    CHECK_STR_EQ(test_member(first, "repeated"), "");
    head = test_member_int(test_call(engine, "event.list", "{}"), "head_seq");
    again = test_call(engine, "session.append",
                      "{'role':'user','text':'Else.','session_id':'t','external_id':'u1'}");
    CHECK_STR_EQ(test_member(again, "repeated"), "true");
    CHECK_STR_EQ(test_member(again, "message_id"), test_member(first, "message_id"));
    CHECK_STR_EQ(test_member(again, "session_id"), test_member(first, "session_id"));
    CHECK_EQ(test_member_int(again, "seq"), test_member_int(first, "seq"));
    CHECK_EQ(test_member_int(test_call(engine, "event.list", "{}"), "head_seq"), head);
    messages = test_call(engine, "session.messages", "{'session_id':'s'}");
    CHECK_STR_EQ(test_member(messages, "messages.0.external_id"), "\"u1\"");
    CHECK_STR_EQ(test_member(messages, "messages.1"), "");

    /* Another persona, and another user, neither see nor disturb it. */
    again = test_call(engine, "session.append",
                      "{'role':'user','text':'Hello.','external_id':'u1','persona_id':'p'}");
    CHECK_STR_EQ(test_member(again, "repeated"), "");
    again = test_call(engine, "session.append",
                      "{'role':'user','text':'Hello.','external_id':'u1','user_id':'anna'}");
    CHECK_STR_EQ(test_member(again, "repeated"), "");
    test_close(engine);
}

/* What a person had forgotten must not come back with the next reading of the transcript. */
TEST(session, a_forgotten_message_does_not_come_back_by_its_external_id)
{
    loci_engine *engine = test_open(test_store(test_tmpdir(), "store.db"));
    loci_str first, again;

    first = test_call(engine, "session.append",
                      "{'role':'user','text':'Secret plan.','session_id':'s','external_id':'u1'}");
    (void)test_call(engine, "session.append",
                    "{'role':'user','text':'Else.','session_id':'s','external_id':'u2'}");
    (void)test_call(engine, "session.forget", "{'session_id':'s'}");
    (void)test_call(engine, "store.rebuild", "{}");
    again = test_call(engine, "session.append",
                      "{'role':'user','text':'Secret plan.','session_id':'s','external_id':'u1'}");
    CHECK_STR_EQ(test_member(again, "repeated"), "true");
    CHECK_STR_EQ(test_member(again, "message_id"), test_member(first, "message_id"));
    again = test_call(engine, "session.search", "{'query':'secret plan'}");
    CHECK_STR_EQ(test_member(again, "results.0"), "");
    /* A user that was forgotten as a whole starts from nothing. */
    (void)test_call(engine, "user.forget", "{}");
    again = test_call(engine, "session.append",
                      "{'role':'user','text':'Hello.','external_id':'u1'}");
    CHECK_STR_EQ(test_member(again, "repeated"), "");
    test_close(engine);
}
