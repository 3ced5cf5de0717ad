/* Forgetting: what is forgotten is found nowhere, what is left agrees with the log. */
#include "contract/context_fixture.h"
#include "contract/token_fixture.h"

#include <sqlite3.h>
#include <string.h>

#include "base/str.h"
#include "engine/engine.h"
#include "lib/files.h"
#include "lib/postgres.h"
#include "lib/provider.h"
#include "store/rebuild.h"

static bool holds(loci_str content, const char *canary)
{
    return memmem(content.ptr, content.len, canary, strlen(canary)) != NULL;
}

static const char *text_of(loci_str answer, const char *path)
{
    return test_format("%.*s", LC_STR_ARG(test_member_text(answer, path)));
}

static void facts_open_here(facts *f)
{
    facts_open_store(f, test_store(test_tmpdir(), "store.db"));
}

/* ---- Facts ----------------------------------------------------------------------------------- */

TEST(forget, a_key_is_gone_with_its_history)
{
    facts f;
    loci_str answer;

    facts_open_here(&f);
    facts_write(&f, "created", "{'key':'city','value':'CANARY-Oslo'}");
    facts_write(&f, "superseded", "{'key':'city','value':'CANARY-Bergen'}");
    facts_write(&f, "claimed", "{'key':'city','value':'CANARY-Rome','trust':'web'}");
    facts_write(&f, "created", "{'key':'pet','value':'dog'}");
    CHECK(facts_is_stored(&f, "CANARY"));
    answer = facts_call(&f, "fact.forget", "{'key':'city','dry_run':true}");
    CHECK_EQ(test_member_int(answer, "removed.fact"), 3);
    CHECK_STR_EQ(facts_current(&f, "city", "value"), "CANARY-Bergen");
    answer = facts_call(&f, "fact.forget", "{'key':'city','wait':true}");
    CHECK_EQ(test_member_int(answer, "removed.fact"), 3);
    CHECK_EQ(test_member_int(answer, "removed.event"), 3);
    CHECK_EQ(test_member_int(answer, "items_left_out"), 0);
    CHECK_STR_EQ(test_member(answer, "scrubbed"), "true");
    CHECK(!facts_is_stored(&f, "CANARY"));
    facts_fail(&f, LOCI_ENOTFOUND, "city", "fact.current", "{'key':'city'}");
    facts_fail(&f, LOCI_ENOTFOUND, "city", "fact.forget", "{'key':'city'}");
    facts_fail(&f, LOCI_ENOTFOUND, "city", "fact.history", "{'key':'city'}");
    CHECK_STR_EQ(facts_current(&f, "pet", "value"), "dog");
    facts_write(&f, "created", "{'key':'city','value':'Paris'}");
    facts_close(&f);
}

/* Forgetting the head must not make what it superseded valid again. */
TEST(forget, nothing_superseded_comes_back)
{
    facts f;
    const char *first, *second;
    loci_str answer;

    facts_open_here(&f);
    first = facts_write(&f, "created", "{'key':'city','value':'Oslo'}");
    second = facts_write(&f, "superseded", "{'key':'city','value':'CANARY'}");
    (void)facts_call(&f, "fact.forget", "{'id':'%s','wait':true}", second);
    CHECK(!facts_is_stored(&f, "CANARY"));
    answer = facts_call(&f, "fact.get", "{'id':'%s'}", first);
    CHECK_STR_EQ(test_member_text(answer, "status"), "superseded");
    CHECK_STR_EQ(test_member_text(answer, "superseded_by"), second);
    answer = facts_call(&f, "fact.current", "{'key':'city'}");
    CHECK_STR_EQ(test_member_text(answer, "status"), "superseded");
    facts_fail(&f, LOCI_ENOTFOUND, second, "fact.get", test_format("{'id':'%s'}", second));
    facts_write(&f, "created", "{'key':'city','value':'Rome'}");
    CHECK_STR_EQ(facts_current(&f, "city", "value"), "Rome");
    facts_close(&f);
}

TEST(forget, dependents_need_review_and_reasons_go)
{
    facts f;
    const char *base, *derived;
    loci_str answer;

    facts_open_here(&f);
    base = facts_write(&f, "created", "{'key':'rent','value':'CANARY 900'}");
    derived = facts_write(&f, "created", "{'key':'budget','value':'tight','depends_on':['rent']}");
    facts_write(&f, "created", "{'key':'mood','value':'CANARY low','depends_on':['budget']}");
    (void)facts_call(&f, "fact.forget", "{'key':'mood'}");
    answer = facts_call(&f, "fact.forget", "{'id':'%s','wait':true}", base);
    CHECK_EQ(test_member_int(answer, "needs_review"), 1);
    answer = facts_call(&f, "fact.get", "{'id':'%s'}", derived);
    CHECK_STR_EQ(test_member(answer, "needs_review"), "true");

    facts_write(&f, "created", "{'key':'tag','value':'one','multi':true}");
    facts_write(&f, "created", "{'key':'tag','value':'CANARY two'}");
    answer = facts_call(&f, "fact.retract", "{'key':'tag','reason':'CANARY said so'}");
    CHECK_EQ(test_member_int(answer, "count"), 2);
    (void)facts_call(&f, "fact.forget", "{'id':'%s','wait':true}",
                     text_of(facts_call(&f, "fact.history", "{'key':'tag'}"), "facts.1.id"));
    CHECK(!facts_is_stored(&f, "CANARY"));
    CHECK_EQ(test_member_int(facts_call(&f, "store.rebuild", "{}"), "result.differences"), 0);
    facts_close(&f);
}

/* Replaces the tables and leaves the old ones, as a process that ends then does. */
static void rebuild_and_stop(facts *f)
{
    lc_rebuild rebuild;

    lc_rebuild_init(&rebuild, &lc_engine_env(f->engine)->heap);
    rebuild.may_swap = true;
    while (rebuild.phase != LC_REBUILD_DONE) {
        lc_write write = {.tenant_id = LC_STR(""),
                          .user_id = LC_STR(""),
                          .now_us = f->now_us,
                          .deadline_us = INT64_MAX,
                          .body = lc_rebuild_slice,
                          .ctx = &rebuild};

        CHECK_OK(lc_engine_write(f->engine, &write), write.error);
    }
    lc_rebuild_clear(&rebuild);
}

/* Deleting a row does not reach its copy in a table that a rebuild has replaced. */
TEST(forget, reaches_tables_that_a_rebuild_has_replaced)
{
    facts f;

    facts_open_here(&f);
    facts_write(&f, "created", "{'key':'city','value':'CANARY-Oslo'}");
    rebuild_and_stop(&f);
    CHECK_LT(0, test_member_int(facts_call(&f, "store.status", "{}"), "tables_discarding"));
    CHECK_CONTAINS(facts_call(&f, "store.verify", "{}"), "true");
    (void)facts_call(&f, "fact.forget", "{'key':'city','wait':true}");
    CHECK_EQ(test_member_int(facts_call(&f, "store.status", "{}"), "tables_discarding"), 0);
    CHECK(!facts_is_stored(&f, "CANARY"));
    CHECK_EQ(test_member_int(facts_call(&f, "store.rebuild", "{}"), "result.differences"), 0);
    facts_close(&f);
}

/* ---- Sessions -------------------------------------------------------------------------------- */

TEST(forget, a_session_is_gone_with_all_that_belongs_to_it)
{
    facts f;
    loci_str answer;

    facts_open_here(&f);
    (void)facts_call(&f, "session.open", "{'external_id':'CANARY-chat'}");
    (void)facts_call(&f, "identity.set",
                     "{'session_id':'CANARY-chat','user_name':'CANARY-name','authority':'manager',"
                     "'request_id':'i1'}");
    for (int i = 0; i < 30; i++)
        (void)facts_call(&f, "session.append",
                         "{'session_id':'CANARY-chat','role':'user','text':'CANARY word%d',"
                         "'request_id':'r%d'}",
                         i, i);
    (void)facts_call(&f, "working.set",
                     "{'session_id':'CANARY-chat','key':'note','value':'CANARY draft',"
                     "'request_id':'w1'}");
    facts_write(&f, "created",
                "{'session_id':'CANARY-chat','key':'topic','value':'CANARY','scope':'session'}");
    facts_write(&f, "created", "{'session_id':'CANARY-chat','key':'pet','value':'dog'}");
    answer = facts_call(&f, "session.search", "{'query':'word7'}");
    CHECK_CONTAINS(answer, "CANARY");
    answer = facts_call(&f, "session.forget", "{'session_id':'CANARY-chat','dry_run':true}");
    CHECK_EQ(test_member_int(answer, "removed.message"), 30);
    answer = facts_call(&f, "session.forget", "{'session_id':'CANARY-chat','wait':true}");
    CHECK_EQ(test_member_int(answer, "removed.message"), 30);
    CHECK_EQ(test_member_int(answer, "removed.session"), 1);
    CHECK_EQ(test_member_int(answer, "removed.fact"), 1);
    CHECK_EQ(test_member_int(answer, "removed.answer"), 32);
    CHECK_STR_EQ(test_member(answer, "scrubbed"), "true");
    CHECK(!facts_is_stored(&f, "CANARY"));
    answer = facts_call(&f, "session.search", "{'query':'word7'}");
    CHECK(!holds(answer, "CANARY"));
    CHECK_STR_EQ(facts_current(&f, "pet", "value"), "dog");
    /* The request is known, but what it answered is not: it is not run a second time. */
    facts_fail(
        &f, LOCI_ECONFLICT, "forgotten", "session.append",
        "{'session_id':'CANARY-chat','role':'user','text':'CANARY word3','request_id':'r3'}");
    facts_fail(&f, LOCI_ENOTFOUND, "no session", "session.forget", "{'session_id':'chat-x'}");
    facts_close(&f);
}

/* One event sets the identity of a session, opens it, and ends the idle one before it. */
TEST(forget, the_identity_of_a_session_goes_with_it_and_with_no_other)
{
    facts f;
    const char *first, *second;
    loci_str answer;

    facts_open_here(&f);
    answer = facts_call(&f, "identity.set", "{'user_name':'CANARY-Ann','authority':'manager'}");
    first = text_of(answer, "session_id");
    f.now_us += 60 * MINUTE_US;
    answer = facts_call(&f, "identity.set", "{'user_name':'CANARY-Bob','authority':'manager'}");
    second = text_of(answer, "session_id");
    (void)facts_call(&f, "session.forget", "{'session_id':'%s','wait':true}", first);
    CHECK(!facts_is_stored(&f, "CANARY-Ann"));
    CHECK_STR_EQ(text_of(facts_call(&f, "identity.get", "{}"), "identity.user_name"), "CANARY-Bob");
    CHECK_EQ(test_member_int(facts_call(&f, "store.rebuild", "{}"), "result.differences"), 0);
    (void)facts_call(&f, "session.forget", "{'session_id':'%s','wait':true}", second);
    CHECK(!facts_is_stored(&f, "CANARY"));
    facts_close(&f);
}

TEST(forget, one_message_goes_and_its_neighbours_stay)
{
    facts f;
    const char *id;

    facts_open_here(&f);
    (void)facts_call(&f, "session.append", "{'role':'user','text':'before'}");
    id = text_of(facts_call(&f, "session.append", "{'role':'user','text':'CANARY secret'}"),
                 "message_id");
    (void)facts_call(&f, "session.append", "{'role':'user','text':'after'}");
    (void)facts_call(&f, "session.forget", "{'message_id':'%s','wait':true}", id);
    CHECK(!facts_is_stored(&f, "CANARY"));
    CHECK_STR_EQ(text_of(facts_call(&f, "session.messages", "{}"), "messages.1.text"), "after");
    facts_fail(&f, LOCI_ENOTFOUND, "no message", "session.forget",
               test_format("{'message_id':'%s'}", id));
    facts_close(&f);
}

/* What one persona said in a session of all personas is not for another to forget. */
TEST(forget, a_persona_forgets_only_what_it_sees)
{
    facts f;
    loci_str answer;

    facts_open_here(&f);
    (void)facts_call(&f, "session.open", "{'external_id':'hall'}");
    (void)facts_call(&f, "session.append", "{'session_id':'hall','role':'user','text':'common'}");
    (void)facts_call(&f, "session.append",
                     "{'session_id':'hall','persona_id':'ann','role':'user','text':'of ann'}");
    facts_write(&f, "created", "{'key':'diary','value':'of ann','persona_id':'ann'}");
    facts_fail(&f, LOCI_ENOTFOUND, "diary", "fact.forget", "{'key':'diary','persona_id':'bob'}");
    answer = facts_call(&f, "session.forget", "{'session_id':'hall','persona_id':'bob'}");
    CHECK_EQ(test_member_int(answer, "removed.message"), 1);
    CHECK_STR_EQ(test_member(answer, "removed.session"), "");
    answer = facts_call(&f, "session.messages", "{'session_id':'hall','persona_id':'ann'}");
    CHECK_STR_EQ(text_of(answer, "messages.0.text"), "of ann");
    facts_close(&f);
}

/* ---- Rights ---------------------------------------------------------------------------------- */

TEST(forget, who_may_not_retract_may_not_forget)
{
    facts f;

    facts_open_here(&f);
    facts_write(&f, "created", "{'key':'limit','value':'100','authority':'policy'}");
    facts_write(&f, "created",
                "{'key':'salary','value':'9','min_read_authority':'manager','authority':'policy'}");
    facts_fail(&f, LOCI_EFORBIDDEN, "authority", "fact.forget", "{'key':'limit'}");
    f.ceiling = "employee";
    facts_fail(&f, LOCI_EFORBIDDEN, "authority", "fact.forget",
               "{'key':'limit','authority':'policy'}");
    /* What it may not see does not exist. */
    facts_fail(&f, LOCI_ENOTFOUND, "salary", "fact.forget", "{'key':'salary'}");
    facts_fail(&f, LOCI_EFORBIDDEN, "capped", "user.forget", "{}");
    facts_fail(&f, LOCI_EFORBIDDEN, "capped", "user.export", "{}");
    f.ceiling = NULL;
    (void)facts_call(&f, "fact.forget", "{'key':'limit','authority':'policy'}");
    (void)facts_call(&f, "fact.forget", "{'key':'salary','authority':'policy'}");
    facts_close(&f);
}

/* ---- Users ----------------------------------------------------------------------------------- */

TEST(forget, a_user_is_gone_and_may_come_back)
{
    facts f;
    loci_str answer;

    facts_open_here(&f);
    facts_write(&f, "created", "{'user_id':'ann','key':'city','value':'CANARY'}");
    (void)facts_call(&f, "session.append",
                     "{'user_id':'ann','role':'user','text':'CANARY','request_id':'r1'}");
    (void)facts_call(&f, "environment.set", "{'user_id':'ann','key':'location','value':'CANARY'}");
    (void)facts_call(&f, "working.set", "{'user_id':'ann','key':'draft','value':'CANARY'}");
    facts_write(&f, "created", "{'user_id':'bob','key':'city','value':'Oslo'}");
    CHECK_CONTAINS(facts_call(&f, "user.export", "{'user_id':'ann'}"), "CANARY");
    answer = facts_call(&f, "user.forget", "{'user_id':'ann','dry_run':true}");
    CHECK_EQ(test_member_int(answer, "removed.message"), 1);
    answer = facts_call(&f, "user.forget", "{'user_id':'ann','wait':true,'request_id':'bye'}");
    CHECK_EQ(test_member_int(answer, "removed.fact"), 1);
    CHECK(!facts_is_stored(&f, "CANARY"));
    CHECK_STR_EQ(test_member(facts_call(&f, "user.forget",
                                        "{'user_id':'ann','wait':true,'request_id':'bye'}"),
                             "removed"),
                 test_member(answer, "removed"));
    answer = facts_call(&f, "user.list", "{}");
    CHECK_STR_EQ(test_member_text(answer, "users.0.user_id"), "bob");
    CHECK_STR_EQ(test_member(answer, "users.1"), "");
    answer = facts_call(&f, "event.list", "{'user_id':'ann'}");
    CHECK_STR_EQ(test_member(answer, "events.0.payload"), "null");
    CHECK_STR_EQ(test_member(answer, "events.0.erased"), "true");
    facts_write(&f, "created", "{'user_id':'ann','key':'city','value':'Rome'}");
    CHECK_STR_EQ(test_member_text(facts_call(&f, "user.list", "{}"), "users.0.user_id"), "ann");
    facts_fail(&f, LOCI_ENOTFOUND, "no user", "user.forget", "{'user_id':'carl'}");
    facts_close(&f);
}

/* ---- Random histories ------------------------------------------------------------------------ */

#define STEPS 300
#define KEYS 12
#define TOPICS 5

typedef struct history {
    facts f;
    test_rng rng;
    int serial;
} history;

static const char *any_user(history *h)
{
    return test_rng_chance(&h->rng, 30) ? "bob" : "ann";
}

/* A long text now and then: rows that do not fit a page leave other traces. */
static const char *any_text(history *h, const char *user, const char *key)
{
    int filler = (int)test_rng_below(&h->rng, test_rng_chance(&h->rng, 20) ? 3000 : 300);

    return test_format("CANARY-%s-%s-%d-%0*d", user, key, h->serial++, filler + 1, 7);
}

static void act(history *h)
{
    const char *user = any_user(h);
    const char *key = test_format("key%d", (int)test_rng_below(&h->rng, KEYS));
    const char *chat = test_format("chat%d", (int)test_rng_below(&h->rng, 3));
    const char *format = NULL;
    const char *op = "fact.write";
    loci_str answer;

    switch (test_rng_below(&h->rng, 10)) {
    case 0:
    case 1:
        format = test_format("{'user_id':'%s','key':'%s','value':'%s','request_id':'q%d'}", user,
                             key, any_text(h, user, key), h->serial);
        break;
    case 2:
        format = test_format("{'user_id':'%s','key':'%s','value':'%s','depends_on':['key0']}", user,
                             key, any_text(h, user, key));
        break;
    case 3:
        format = test_format("{'user_id':'%s','key':'%s','value':'%s','trust':'tool'}", user, key,
                             any_text(h, user, key));
        break;
    case 4:
        op = "fact.retract";
        format = test_format("{'user_id':'%s','key':'%s','reason':'%s'}", user, key,
                             any_text(h, user, key));
        break;
    case 8:
    case 9: /* Rows that grow and shrink move between pages and leave copies behind. */
        op = "working.set";
        format = test_format("{'user_id':'%s','session_id':'%s','key':'%s','value':'%s'}", user,
                             chat, key, any_text(h, user, chat));
        break;
    case 5:
        op = "session.open";
        format = test_format("{'user_id':'%s','external_id':'%s'}", user, chat);
        break;
    default:
        op = "session.append";
        format = test_format("{'user_id':'%s','session_id':'%s','role':'user','text':'%s'}", user,
                             chat, any_text(h, user, chat));
        break;
    }
    (void)facts_try(&h->f, op, &answer, format); /* A base that is not there is fine. */
    h->f.now_us += MINUTE_US;
}

/* The id of a memory about the topic, or "" if there is none. */
static const char *any_memory(history *h, const char *user, const char *topic, const char *status)
{
    loci_str answer;

    if (facts_try(&h->f, "memory.list", &answer,
                  test_format("{'user_id':'%s','entity':'project:%s','status':'%s'}", user, topic,
                              status)) != LOCI_OK)
        return "";
    return text_of(answer, test_format("memories.%d.id", (int)test_rng_below(&h->rng, 3)));
}

static const char *any_topic(history *h)
{
    return test_format("topic%d", (int)test_rng_below(&h->rng, TOPICS));
}

/* Stores memories about topics, each with an entity of its own, and changes them in every way. */
static void act_on_memories(history *h)
{
    const char *user = any_user(h), *topic = any_topic(h), *op = "memory.store";
    const char *text = any_text(h, user, topic), *start, *format = NULL;
    bool folds = false;
    loci_str answer;

    start = test_format("'user_id':'%s','request_id':'m%d','entity_refs':['project:%s',"
                        "'person:who %s %s %d'],'entity_label':'%s'",
                        user, h->serial, topic, user, topic, h->serial, any_text(h, user, topic));
    switch (test_rng_below(&h->rng, 8)) {
    case 0: /* Another value supersedes it; a tool only claims one. */
        format = test_format("{%s,'text':'%s','attribute':'state','importance':2}", start, text);
        break;
    case 1:
        format = test_format("{%s,'text':'%s','attribute':'state','trust':'tool'}", start, text);
        break;
    case 2: /* Near-duplicates, which the curator folds. */
    case 3:
        folds = true;
        format = test_format("{%s,'messages':['%s notes','The %s note']}", start, text, text);
        break;
    case 4:
        op = "memory.update";
        format = test_format("{'user_id':'%s','id':'%s','text':'%s'}", user,
                             any_memory(h, user, topic, "active"), text);
        break;
    case 5:
        op = "memory.update";
        format = test_format("{'user_id':'%s','id':'%s','pinned':true,'metadata':{'why':'%s'}}",
                             user, any_memory(h, user, topic, "active"), text);
        break;
    case 6:
        op = "memory.confirm";
        format = test_format("{'user_id':'%s','id':'%s'}", user,
                             any_memory(h, user, topic, "claimed"));
        break;
    default:
        op = "todo.add";
        format = test_format("{'user_id':'%s','text':'%s'}", user, any_text(h, user, "todo"));
        break;
    }
    (void)facts_try(&h->f, op, &answer, format); /* A memory that is not there is fine. */
    if (folds)
        (void)facts_call(&h->f, "memory.curate", "{'user_id':'%s'}", user);
    h->f.now_us += MINUTE_US;
}

/* Makes, edits, moves and deletes files below a directory per topic. */
static void act_on_files(history *h)
{
    const char *user = any_user(h), *topic = any_topic(h), *op = "file.create";
    const char *text = any_text(h, user, topic), *format;
    const char *path = test_format("/memories/CANARY-%s-%s-/f%d", user, topic,
                                   (int)test_rng_below(&h->rng, 3));
    loci_str answer;

    switch (test_rng_below(&h->rng, 6)) {
    case 0:
    case 1:
        format = test_format("{'user_id':'%s','path':'%s','file_text':'%s','request_id':'f%d'}",
                             user, path, text, h->serial);
        break;
    case 2: /* Rows that grow and shrink. */
        op = "file.str_replace";
        format = test_format("{'user_id':'%s','path':'%s','old_str':'7','new_str':'%s'}", user,
                             path, text);
        break;
    case 3:
        op = "file.insert";
        format = test_format("{'user_id':'%s','path':'%s','insert_line':0,'insert_text':'%s'}",
                             user, path, text);
        break;
    case 4:
        op = "file.rename";
        format = test_format("{'user_id':'%s','old_path':'%s','new_path':'%s-%d','request_id':"
                             "'f%d'}",
                             user, path, path, h->serial, h->serial);
        break;
    default:
        op = "file.delete";
        format = test_format("{'user_id':'%s','path':'%s','request_id':'f%d'}", user, path,
                             h->serial);
        break;
    }
    (void)facts_try(&h->f, op, &answer, format); /* A file that is not there is fine. */
    h->f.now_us += MINUTE_US;
}

/* Forgets what is known of a topic, its files, and the todos. */
static void forget_memories(history *h, const char *topic)
{
    loci_str answer;
    const char *id;

    (void)facts_try(&h->f, "memory.forget", &answer,
                    test_format("{'user_id':'ann','entity':'project:%s'}", topic));
    (void)facts_try(&h->f, "file.forget", &answer,
                    test_format("{'user_id':'ann','path':'/memories/CANARY-ann-%s-'}", topic));
    while (id = text_of(facts_call(&h->f, "todo.list", "{'user_id':'ann'}"), "todos.0.id"),
           *id != '\0') {
        (void)facts_call(&h->f, "todo.update", "{'user_id':'ann','id':'%s','text':'%s'}", id,
                         any_text(h, "ann", "todo"));
        (void)facts_call(&h->f, "todo.forget", "{'user_id':'ann','id':'%s'}", id);
    }
}

/* One memory by its id; the beginning of its text, which only it and its copies have. */
static const char *forget_memory(history *h)
{
    const char *id = any_memory(h, "ann", any_topic(h), "any"), *text, *end;

    if (*id == '\0')
        return "CANARY-ann-none";
    text = text_of(facts_call(&h->f, "memory.get", "{'user_id':'ann','id':'%s'}", id), "text");
    text = strstr(text, "CANARY-");
    end = strrchr(text, '-');
    (void)facts_call(&h->f, "memory.forget", "{'user_id':'ann','id':'%s'}", id);
    return test_format("%.*s", (int)(end - text) + 1, text);
}

/* Warms the indexes, so that they have to be dropped. */
static void look(history *h)
{
    (void)facts_call(&h->f, "memory.recall", "{'user_id':'ann','query':'ann topic1'}");
    (void)facts_call(&h->f, "memory.recall",
                     "{'user_id':'ann','query':'ann notes','as_of':'2023-11-14T23:00:00Z'}");
    (void)facts_call(&h->f, "memory.cards", "{'user_id':'ann','query':'ann topic1'}");
    (void)facts_call(&h->f, "session.search", "{'user_id':'ann','query':'ann chat1'}");
    (void)facts_call(&h->f, "context.build", "{'user_id':'ann','query':'ann key1','budget':2000}");
}

static void check_gone(history *h, const char *canary)
{
    loci_str answer;

    CHECK(!facts_is_stored(&h->f, canary));
    answer = facts_call(&h->f, "session.search", "{'user_id':'ann','query':'%s'}", canary);
    CHECK(!holds(answer, canary));
    answer = facts_call(&h->f, "context.build", "{'user_id':'ann','query':'%s','budget':4000}",
                        canary);
    CHECK(!holds(test_member(answer, "text"), canary));
    answer = facts_call(&h->f, "memory.recall", "{'user_id':'ann','query':'%s'}", canary);
    CHECK(!holds(test_member(answer, "results"), canary));
    answer = facts_call(&h->f, "memory.cards", "{'user_id':'ann','query':'%s'}", canary);
    CHECK(!holds(answer, canary));
}

static void act_somehow(history *h)
{
    unsigned chance = (unsigned)test_rng_below(&h->rng, 100);

    if (chance < 30)
        act_on_memories(h);
    else if (chance < 45)
        act_on_files(h);
    else
        act(h);
}

TEST(forget, random_histories_leave_no_canary)
{
    /* On a server each history ends with a VACUUM FULL of everything. */
    const uint64_t few = test_is_postgres() ? 3 : test_is_sanitized() ? 4 : 10;
    const uint64_t histories = test_count(few, 20);

    test_timeout(600);
    for (uint64_t seed = 1; seed <= histories; seed++) {
        history *h = (history *)(void *)test_bytes(sizeof *h);
        const char *key, *chat, *topic, *one;
        loci_str answer;

        h->rng = test_random(seed);
        facts_open_here(&h->f);
        /* Sanitizers are slow: with all steps a context would take longer than a read may. */
        for (int step = 0; step < (test_is_sanitized() ? STEPS / 5 : STEPS); step++)
            act_somehow(h);
        look(h);
        key = test_format("key%d", (int)test_rng_below(&h->rng, KEYS));
        chat = test_format("chat%d", (int)test_rng_below(&h->rng, 3));
        topic = any_topic(h);
        forget_memories(h, topic);
        one = forget_memory(h);
        /* Some histories have no such key or chat. */
        (void)facts_try(&h->f, "fact.forget", &answer,
                        test_format("{'user_id':'ann','key':'%s'}", key));
        (void)facts_try(&h->f, "session.forget", &answer,
                        test_format("{'user_id':'ann','session_id':'%s','wait':true}", chat));
        CHECK_OK(test_verify(h->f.engine, &h->f.err), h->f.err);
        (void)facts_call(&h->f, "fact.write", "{'user_id':'ann','key':'last','value':'x'}");
        (void)facts_call(&h->f, "fact.forget", "{'user_id':'ann','key':'last','wait':true}");
        check_gone(h, test_format("CANARY-ann-%s-", key));
        check_gone(h, test_format("CANARY-ann-%s-", chat));
        check_gone(h, test_format("CANARY-ann-%s-", topic));
        check_gone(h, test_format("who_ann_%s_", topic));
        check_gone(h, "CANARY-ann-todo-");
        check_gone(h, one);
        for (int step = 0; step < 10; step++)
            act_somehow(h);
        answer = facts_call(&h->f, "store.rebuild", "{}");
        CHECK_EQ(test_member_int(answer, "result.differences"), 0);
        CHECK(facts_is_stored(&h->f, "CANARY-bob-"));
        (void)facts_call(&h->f, "user.forget", "{'user_id':'ann','wait':true}");
        check_gone(h, "CANARY-ann-");
        CHECK_EQ(test_member_int(facts_call(&h->f, "store.rebuild", "{}"), "result.differences"),
                 0);
        CHECK(facts_is_stored(&h->f, "CANARY-bob-"));
        facts_close(&h->f);
    }
}

/* ---- Beside others --------------------------------------------------------------------------- */

/* Another engine on the same store must drop what it has in memory. */
TEST(forget, another_engine_finds_nothing_either)
{
    facts f, other;

    facts_open_here(&f);
    facts_open_store(&other, f.store);
    facts_write(&f, "created", "{'key':'city','value':'CANARY'}");
    (void)facts_call(&f, "session.append", "{'role':'user','text':'CANARY words'}");
    CHECK_CONTAINS(facts_call(&other, "session.search", "{'query':'words'}"), "CANARY");
    CHECK_CONTAINS(facts_call(&other, "context.build", "{'query':'city','budget':1000}"), "CANARY");
    CHECK_STR_EQ(facts_current(&other, "city", "value"), "CANARY");
    (void)facts_call(&f, "fact.forget", "{'key':'city'}");
    (void)facts_call(&f, "session.forget", "{'message_id':'%s'}",
                     text_of(facts_call(&f, "session.messages", "{}"), "messages.0.id"));
    CHECK(!holds(facts_call(&other, "session.search", "{'query':'words'}"), "CANARY"));
    CHECK(!holds(facts_call(&other, "context.build", "{'query':'city','budget':1000}"), "CANARY"));
    facts_fail(&other, LOCI_ENOTFOUND, "city", "fact.current", "{'key':'city'}");
    facts_close(&other);
    facts_close(&f);
}

/* A store that is moved by lines of text keeps its tombstones, and a backup restored from before
 * the forgetting keeps the text: that is what backups are for, and the documentation says so. */
TEST(forget, exports_and_imports_keep_tombstones)
{
    const char *dir = test_tmpdir();
    const char *path = test_path(dir, "export.ndjson");
    facts f, copy;

    facts_open_here(&f);
    facts_write(&f, "created", "{'key':'city','value':'CANARY'}");
    facts_write(&f, "created", "{'key':'pet','value':'dog'}");
    (void)facts_call(&f, "session.append", "{'role':'user','text':'CANARY words'}");
    (void)facts_call(&f, "session.forget", "{'message_id':'%s'}",
                     text_of(facts_call(&f, "session.messages", "{}"), "messages.0.id"));
    (void)facts_call(&f, "fact.forget", "{'key':'city'}");
    (void)facts_call(&f, "store.export", "{'path':'%s'}", path);
    CHECK(!holds(test_read_file(path), "CANARY"));
    facts_open_store(&copy, test_store(dir, "copy.db"));
    (void)facts_call(&copy, "store.import", "{'path':'%s'}", path);
    facts_fail(&copy, LOCI_ENOTFOUND, "city", "fact.current", "{'key':'city'}");
    CHECK_STR_EQ(facts_current(&copy, "pet", "value"), "dog");
    facts_close(&copy);
    facts_close(&f);
}

/* Another program that reads keeps the log of the file from being emptied: that is said, and the
 * next attempt works. */
TEST_ON(TEST_FILES, forget, a_reader_in_the_way_is_named)
{
    facts f;
    sqlite3 *reader;
    loci_str answer;

    test_timeout(120);
    facts_open_here(&f);
    facts_write(&f, "created", "{'key':'city','value':'CANARY'}");
    CHECK_EQ(sqlite3_open(f.store, &reader), SQLITE_OK);
    CHECK_EQ(sqlite3_exec(reader, "begin; select * from events", NULL, NULL, NULL), SQLITE_OK);
    answer = facts_call(&f, "fact.forget", "{'key':'city','wait':true}");
    CHECK_STR_EQ(test_member(answer, "scrubbed"), "false");
    answer = facts_call(&f, "store.status", "{}");
    CHECK_STR_EQ(test_member(answer, "scrub_pending"), "true");
    CHECK_CONTAINS(test_member_text(answer, "scrub_blocked_by"), "reading");
    facts_fail(&f, LOCI_ENOTFOUND, "city", "fact.current", "{'key':'city'}");
    (void)sqlite3_exec(reader, "rollback", NULL, NULL, NULL);
    (void)sqlite3_close(reader);
    /* A process that ends between the two steps leaves the second one to the next. */
    facts_close(&f);
    facts_open_store(&f, f.store);
    CHECK_STR_EQ(test_member(facts_call(&f, "store.status", "{}"), "scrub_pending"), "true");
    facts_write(&f, "created", "{'key':'city','value':'Oslo'}");
    answer = facts_call(&f, "fact.forget", "{'key':'city','wait':true}");
    CHECK_STR_EQ(test_member(answer, "scrubbed"), "false"); /* The same job, still pausing. */
    test_store_run(f.store, "update jobs set run_after_us = 0");
    (void)facts_call(&f, "store.rebuild", "{}"); /* Runs what is due. */
    answer = facts_call(&f, "store.status", "{}");
    CHECK_STR_EQ(test_member(answer, "scrub_pending"), "false");
    CHECK_STR_EQ(test_member(answer, "scrub_blocked_by"), "null");
    CHECK(!facts_is_stored(&f, "CANARY"));
    facts_close(&f);
}

/* With threads the job runs beside the caller, which waits for it. */
TEST(forget, a_caller_waits_for_the_workers)
{
    loci_engine *engine = test_open_threads(test_store(test_tmpdir(), "store.db"));
    loci_str answer;

    test_call(engine, "fact.write", "{'key':'city','value':'CANARY'}");
    answer = test_call(engine, "fact.forget", "{'key':'city','wait':true}");
    CHECK_STR_EQ(test_member(answer, "scrubbed"), "true");
    answer = test_call(engine, "store.status", "{}");
    CHECK_STR_EQ(test_member(answer, "scrub_pending"), "false");
    test_close(engine);
}

/* A caller that is narrowed to a user or persona sees and forgets only that. */
TEST(forget, narrowed_callers_reach_only_their_own)
{
    loci_engine *engine = test_open(test_store(test_tmpdir(), "store.db"));
    loci_principal of_ann = {.size = sizeof of_ann, .user = "ann"};
    loci_principal of_persona = {.size = sizeof of_persona, .persona = "p"};
    loci_error err;
    loci_str answer;

    for (int i = 0; i < 3; i++)
        test_call(engine, "fact.write", "{'user_id':'aa%d','key':'city','value':'Oslo'}", i);
    test_call(engine, "fact.write", "{'user_id':'ann','key':'city','value':'Oslo'}");
    CHECK_OK(token_call_as(engine, &of_ann, "user.list", test_json("{'limit':1}"), &answer, &err),
             err);
    CHECK_STR_EQ(test_member_text(answer, "users.0.user_id"), "ann");
    CHECK_STATUS(LOCI_ENOTFOUND, token_call_as(engine, &of_ann, "user.forget",
                                               test_json("{'user_id':'aa0'}"), NULL, &err));
    CHECK_STATUS(LOCI_ENOTFOUND,
                 token_call_as(engine, &of_ann, "fact.forget",
                               test_json("{'user_id':'aa0','key':'city'}"), NULL, &err));
    CHECK_STATUS(LOCI_EFORBIDDEN,
                 token_call_as(engine, &of_persona, "user.list", test_json("{}"), NULL, &err));
    CHECK_STATUS(LOCI_EFORBIDDEN, token_call_as(engine, &of_persona, "user.forget",
                                                test_json("{'user_id':'ann'}"), NULL, &err));
    CHECK_OK(token_call_as(engine, &of_ann, "user.forget", test_json("{}"), NULL, &err), err);
    CHECK_STR_EQ(test_member(test_call(engine, "fact.list", "{'user_id':'ann'}"), "facts"), "[]");
    test_close(engine);
}

/* ---- Vectors --------------------------------------------------------------------------------- */

static const char *append_message(loci_engine *engine, const char *text)
{
    return text_of(test_call(engine, "session.append", "{'role':'user','text':'%s'}", text),
                   "message_id");
}

static int64_t forget_message(loci_engine *engine, const char *id)
{
    return test_member_int(test_call(engine, "session.forget", "{'message_id':'%s'}", id),
                           "removed.vector");
}

/* A vector is found by its text: it goes with the last row that has that text. */
TEST(forget, a_vector_goes_with_the_last_row_of_its_text)
{
    loci_open_options options = test_open_options(test_store(test_tmpdir(), "store.db"));
    const char *once, *first, *second, *fact;
    loci_engine *engine;
    loci_error err;

    options.settings = "{\"model.embedder\":\"lexical\"}";
    CHECK_OK(loci_open(&options, &engine, &err), err);
    once = append_message(engine, "apples are ripe");
    first = append_message(engine, "the office floor");
    second = append_message(engine, "the office floor");
    fact = text_of(test_call(engine, "fact.write", "{'key':'city','value':'Oslo'}"), "id");
    test_call(engine, "fact.write", "{'key':'city','value':'Rome'}");
    test_call(engine, "model.reembed", "{}");
    CHECK_EQ(forget_message(engine, once), 1);
    CHECK_EQ(forget_message(engine, first), 0);
    CHECK_EQ(forget_message(engine, second), 1);
    /* The vector of a fact that was superseded before it was embedded does not exist. */
    CHECK_EQ(
        test_member_int(test_call(engine, "fact.forget", "{'id':'%s'}", fact), "removed.vector"),
        0);
    CHECK_EQ(test_member_int(test_call(engine, "fact.forget", "{'key':'city'}"), "removed.vector"),
             1);
    test_close(engine);
}

/* A provider that is slow: something is forgotten between its question and its answer. */
typedef struct meddler {
    provider_good good;
    loci_engine *engine;
    bool is_done;
    loci_status status;
} meddler;

static void meddle(void *ctx, const provider_request *request, provider_reply *reply)
{
    meddler *m = ctx;
    loci_answer *answer = NULL;

    if (!m->is_done)
        m->status = loci_call(m->engine, "fact.forget", loci_str_of("{\"key\":\"city\"}"), NULL,
                              &answer, NULL);
    m->is_done = true;
    loci_answer_free(answer);
    provider_answer_well(&m->good, request, reply);
}

TEST_ON(TEST_FILES, forget, a_vector_does_not_come_back_from_a_provider)
{
    const char *store = test_store(test_tmpdir(), "store.db");
    loci_open_options options = test_open_options(store);
    meddler m = {.good = {.dimensions = 8}, .engine = test_open(store)};
    provider *p = provider_start(meddle, &m);
    loci_engine *engine;
    loci_error err;

    options.settings = test_format("{\"model.embedder\":\"provider\",\"model.embed_url\":\"%s\","
                                   "\"model.embed_model\":\"small\",\"model.embed_dimensions\":8,"
                                   "\"model.allow_private\":true}",
                                   provider_url(p));
    CHECK_OK(loci_open(&options, &engine, &err), err);
    test_call(engine, "fact.write", "{'key':'city','value':'CANARY'}");
    test_call(engine, "fact.write", "{'key':'pet','value':'dog'}");
    CHECK_STR_EQ(test_member_text(test_call(engine, "model.reembed", "{}"), "status"), "queued");
    CHECK_STATUS(LOCI_OK, m.status);
    CHECK_EQ(test_store_number(store, "select count(*) from vectors"), 0);
    test_store_run(store, "update jobs set run_after_us = 0");
    CHECK_STR_EQ(test_member_text(test_call(engine, "model.reembed", "{}"), "status"), "done");
    CHECK_EQ(test_store_number(store, "select count(*) from vectors"), 1);
    test_close(engine);
    test_close(m.engine);
    provider_stop(p);
    provider_good_clear(&m.good);
}
