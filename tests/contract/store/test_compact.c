/* Retention: a log whose beginning is a snapshot replays, exports and forgets like a whole one. */
#include "contract/history_fixture.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "base/time.h"

#define SEEDS 2
#define STEPS 100
#define EVERY 20

static const char *time_text(int64_t us)
{
    char text[LC_TIME_BYTES_MAX];

    return test_format("%.*s", (int)lc_time_format(us, text), text);
}

static loci_str compact(facts *f, int64_t before_us)
{
    return facts_call(f, "store.compact", "{'before':'%s'}", time_text(before_us));
}

static void check_replays(facts *f)
{
    loci_str answer;

    CHECK_OK(test_verify(f->engine, &f->err), f->err);
    answer = facts_call(f, "store.rebuild", "{'wait':true}");
    CHECK_STR_EQ(test_member(answer, "result.equal"), "true");
    CHECK_OK(test_verify(f->engine, &f->err), f->err);
}

/* The last line has the hash of all lines. */
static const char *export_to(facts *f, const char *path)
{
    loci_str text;
    const char *end;

    facts_call(f, "store.export", "{'path':'%s','force':true}", path);
    text = test_read_file(path);
    end = strstr(text.ptr, "\"hash\":");
    CHECK(end != NULL);
    return test_format("%s", end);
}

/* Its export, taken in by an empty store, gives a store that exports the same. */
static void check_travels(facts *f)
{
    const char *first = test_format("%s/first.jsonl", test_tmpdir());
    const char *second = test_format("%s/second.jsonl", test_tmpdir());
    const char *hash = export_to(f, first);
    facts other;

    facts_open_store(&other, test_store(test_tmpdir(), "other.db"));
    facts_call(&other, "store.import", "{'path':'%s'}", first);
    facts_call(&other, "store.import", "{'path':'%s'}", first); /* Changes nothing. */
    check_replays(&other);
    CHECK_STR_EQ(loci_str_of(export_to(&other, second)), hash);
    facts_close(&other);
}

/* All rooms, compacted again and again while they are written to, forgotten from and rewound. */
TEST(compact, any_history_compacts_at_any_point)
{
    test_timeout(600);
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        history *h = history_open(seed);
        int64_t start = h->f.now_us;

        for (h->step = 0; h->step < STEPS; h->step++) {
            history_step(h);
            if (h->step % EVERY != EVERY - 1)
                continue;
            compact(&h->f,
                    start + test_rng_between(&h->rng, 0, (h->f.now_us - start) / 1000) * 1000);
            check_replays(&h->f);
        }
        if (seed == 1)
            check_travels(&h->f);
        facts_close(&h->f);
    }
}

/* Compacted events are gone from the log; reads before them say from when on there are events. */
TEST(compact, the_past_before_a_snapshot_is_refused)
{
    loci_str answer;
    int64_t base_us;
    facts f;

    facts_open(&f);
    for (int i = 0; i < 10; i++) {
        facts_call(&f, "fact.write", "{'key':'city','value':%d}", i);
        f.now_us += MINUTE_US;
    }
    base_us = f.now_us - 6 * MINUTE_US; /* The time of the fifth. */
    answer = facts_call(&f, "store.compact", "{'before':'%s','dry_run':true}",
                        time_text(base_us + 1));
    CHECK_EQ(test_member_int(answer, "result.events"), 5);
    CHECK_EQ(test_member_int(facts_call(&f, "event.list", "{}"), "events.0.seq"), 1);
    answer = compact(&f, base_us + 1);
    CHECK_EQ(test_member_int(answer, "result.users"), 1);
    CHECK_EQ(test_member_int(answer, "result.events"), 5);
    CHECK_EQ(test_member_int(facts_call(&f, "event.list", "{}"), "events.0.seq"), 6);
    facts_fail(&f, LOCI_EINVAL, time_text(base_us), "fact.list",
               test_format("{\"as_of\":\"%s\"}", time_text(base_us - 1)));
    answer = facts_call(&f, "fact.list", "{'as_of':'%s'}", time_text(base_us));
    CHECK_EQ(test_member_int(answer, "facts.0.value"), 4);
    answer = facts_call(&f, "fact.history", "{'key':'city'}");
    CHECK_EQ(test_member_int(answer, "facts.0.value"), 0);
    check_replays(&f);
    /* The same again has nothing to do, and an earlier time neither. */
    CHECK_EQ(test_member_int(compact(&f, base_us + 1), "result.users"), 0);
    CHECK_EQ(test_member_int(compact(&f, base_us - 1), "result.users"), 0);
    facts_close(&f);
}

/* `count` times `unit`, which is a character in JSON. */
static void write_large(facts *f, const char *key, const char *unit, size_t count)
{
    static const char end[] = "\"}";
    size_t bytes = strlen(unit), len;
    char *args = malloc(100 + count * bytes);
    loci_str answer;

    CHECK(args != NULL);
    len = (size_t)snprintf(args, 100, "{\"key\":\"%s\",\"value\":\"", key);
    for (size_t i = 0; i < count; i++)
        memcpy(args + len + i * bytes, unit, bytes);
    memcpy(args + len + count * bytes, end, sizeof end);
    CHECK_OK(facts_try(f, "fact.write", &answer, args), f->err);
    free(args);
}

/* A row may take more bytes in a snapshot than in its event, where its text is escaped once. */
TEST(compact, large_values_are_in_a_snapshot_too)
{
    facts f;

    facts_open(&f);
    write_large(&f, "half", "x", 400000);
    write_large(&f, "long", "y", 900000);
    write_large(&f, "lines", "\\n", 500000);
    f.now_us += MINUTE_US;
    CHECK_EQ(test_member_int(compact(&f, f.now_us), "result.events"), 3);
    check_replays(&f);
    check_travels(&f);
    facts_call(&f, "fact.forget", "{'key':'half'}");
    check_replays(&f);
    facts_close(&f);
}

/* A snapshot has the text of everything that was stored then: forgetting must reach it. */
TEST(compact, what_is_forgotten_is_in_no_snapshot)
{
    facts f;

    facts_open(&f);
    facts_write(&f, "created", "{'key':'a','value':'canary-one'}");
    facts_write(&f, "superseded", "{'key':'a','value':'canary-two'}");
    facts_write(&f, "created", "{'key':'b','value':'keeper'}");
    f.now_us += MINUTE_US;
    compact(&f, f.now_us);
    facts_write(&f, "created", "{'key':'c','value':'later'}");
    CHECK(facts_is_stored(&f, "canary-one"));
    facts_call(&f, "fact.forget", "{'key':'a','wait':true}");
    CHECK(!facts_is_stored(&f, "canary-one"));
    CHECK(!facts_is_stored(&f, "canary-two"));
    CHECK(facts_is_stored(&f, "keeper"));
    check_replays(&f);
    CHECK(!facts_is_stored(&f, "canary-one"));
    facts_write(&f, "created", "{'key':'a','value':'again'}");
    CHECK_STR_EQ(facts_value(&f, "{'key':'b'}"), "\"keeper\"");
    facts_call(&f, "user.forget", "{'wait':true}");
    CHECK(!facts_is_stored(&f, "keeper"));
    check_replays(&f);
    facts_close(&f);
}

static loci_subscription *follow(facts *f, uint32_t flags, int64_t after_seq)
{
    loci_subscribe_options options = LOCI_SUBSCRIBE_OPTIONS_INIT;
    loci_subscription *sub = NULL;

    options.flags = flags;
    options.after_seq = after_seq;
    CHECK_OK(loci_subscribe(f->engine, &options, &sub, &f->err), f->err);
    return sub;
}

/* The seq of the next event, 0 if there is none; negative: the stream has lagged. */
static int64_t next_of(facts *f, loci_subscription *sub, const char *type)
{
    loci_answer *answer = NULL;
    int lagged = 0;
    int64_t seq = 0;

    CHECK_OK(loci_subscription_next(sub, &answer, &lagged, &f->err), f->err);
    if (answer != NULL) {
        seq = test_member_int(loci_answer_json(answer), "seq");
        CHECK_STR_EQ(test_member_text(loci_answer_json(answer), "type"), type);
    }
    loci_answer_free(answer);
    return lagged != 0 ? -seq - 1 : seq;
}

/* A follower must not go on as if it had seen the events that were deleted. */
TEST(compact, a_stream_whose_next_events_are_gone_is_told)
{
    loci_subscription *slow, *fast, *fresh, *resumed;
    facts f;

    facts_open(&f);
    for (int i = 0; i < 4; i++)
        facts_call(&f, "fact.write", "{'key':'city','value':%d}", i);
    slow = follow(&f, 0, 2);
    fast = follow(&f, 0, -1);
    f.now_us += MINUTE_US;
    compact(&f, f.now_us);
    facts_call(&f, "fact.write", "{'key':'city','value':9}");
    facts_call(&f, "fact.write", "{'key':'city','value':10}");
    fresh = follow(&f, 0, 0);
    resumed = follow(&f, LOCI_SUBSCRIBE_RESUMED, 3);
    CHECK_EQ(next_of(&f, slow, "fact.written"), -6);
    CHECK_EQ(next_of(&f, slow, "fact.written"), 6);
    CHECK_EQ(next_of(&f, fast, "fact.written"), 5);
    CHECK_EQ(next_of(&f, fresh, "fact.written"), 5);
    CHECK_EQ(next_of(&f, resumed, "fact.written"), -6);
    CHECK_EQ(next_of(&f, resumed, "fact.written"), 6);
    loci_subscription_close(slow);
    loci_subscription_close(fast);
    loci_subscription_close(fresh);
    loci_subscription_close(resumed);
    facts_close(&f);
}

/* Forgetting replaces the whole log, but those who show what is forgotten have to hear of it. */
TEST(compact, streams_see_that_something_was_forgotten)
{
    loci_subscription *one, *all, *slow;
    facts f;

    facts_open(&f);
    facts_write(&f, "created", "{'key':'a','value':1}");
    facts_write(&f, "created", "{'key':'b','value':1}");
    f.now_us += MINUTE_US;
    compact(&f, f.now_us);
    facts_write(&f, "created", "{'key':'c','value':1}");
    one = follow(&f, 0, -1);
    slow = follow(&f, 0, 2);
    all = follow(&f, LOCI_SUBSCRIBE_ALL_USERS, -1);
    facts_call(&f, "fact.forget", "{'key':'a','wait':true}");
    CHECK_EQ(next_of(&f, one, "fact.forgotten"), 4);
    CHECK_EQ(next_of(&f, all, "fact.forgotten"), 4);
    CHECK_EQ(next_of(&f, slow, "fact.forgotten"), -5);
    facts_write(&f, "created", "{'key':'d','value':1}");
    CHECK_EQ(next_of(&f, slow, "fact.written"), 5);
    CHECK_EQ(next_of(&f, all, "fact.written"), 5);
    check_replays(&f);
    check_travels(&f);
    loci_subscription_close(one);
    loci_subscription_close(all);
    loci_subscription_close(slow);
    facts_close(&f);
}

/* Events that a rewind took back may be gone: those behind them are not meant. */
TEST(compact, forgetting_a_session_spares_the_messages_of_others)
{
    loci_str answer, id;
    facts f;

    facts_open(&f);
    answer = facts_call(&f, "session.append", "{'session_id':'a','role':'user','text':'stays'}");
    id = test_member_text(answer, "message_id");
    facts_call(&f, "session.append", "{'session_id':'a','role':'user','text':'goes'}");
    facts_call(&f, "session.append", "{'session_id':'a','role':'user','text':'goes too'}");
    facts_call(&f, "session.append", "{'session_id':'b','role':'user','text':'first'}");
    facts_call(&f, "session.rewind", "{'message_id':'%.*s'}", LC_STR_ARG(id));
    f.now_us += MINUTE_US;
    compact(&f, f.now_us);
    facts_call(&f, "session.append", "{'session_id':'b','role':'user','text':'keeper'}");
    answer = facts_call(&f, "session.forget", "{'session_id':'a','wait':true}");
    CHECK_EQ(test_member_int(answer, "removed.message"), 1);
    CHECK(facts_is_stored(&f, "keeper"));
    CHECK(!facts_is_stored(&f, "stays"));
    answer = facts_call(&f, "session.messages", "{'session_id':'b'}");
    CHECK_STR_EQ(test_member_text(answer, "messages.1.text"), "keeper");
    check_replays(&f);
    facts_close(&f);
}

/* Salvage finds the parts like other events, and does not take the replaced ones for lost. */
TEST(compact, a_damaged_store_is_recovered_with_its_snapshot)
{
    const char *to = test_format("%s/recovered.db", test_tmpdir());
    const char *from = test_format("%s/backup.db", test_tmpdir());
    loci_str answer;
    facts f, other;

    facts_open_store(&f, test_format("%s/damaged.db", test_tmpdir()));
    for (int i = 0; i < 20; i++)
        facts_call(&f, "fact.write", "{'key':'k%d','value':%d}", i % 7, i);
    facts_call(&f, "frame.push", "{'goal':'sum up'}");
    f.now_us += MINUTE_US;
    compact(&f, f.now_us);
    facts_write(&f, "superseded", "{'key':'k1','value':99}");
    answer = facts_call(&f, "user.export", "{}");
    CHECK_STR_EQ(test_member_text(answer, "events.0.type"), "store.snapshot");
    CHECK(strstr(answer.ptr, "sum up") != NULL);
    facts_call(&f, "store.backup", "{'path':'%s'}", from);
    answer = facts_call(&f, "store.recover", "{'path':'%s','to':'%s'}", from, to);
    CHECK_EQ(test_member_int(answer, "events_lost"), 0);
    facts_close(&f);
    facts_open_store(&other, to);
    CHECK_STR_EQ(facts_value(&other, "{'key':'k1'}"), "99");
    CHECK_STR_EQ(facts_value(&other, "{'key':'k2'}"), "16");
    check_replays(&other);
    facts_close(&other);
}

static void run_sql(const char *path, const char *sql)
{
    sqlite3 *db;

    CHECK_EQ(sqlite3_open(path, &db), SQLITE_OK);
    CHECK_EQ(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

/* Recovers what is left of the backup without the events of `where`. */
static void check_rest(facts *f, const char *where, int64_t lost, int64_t first_seq)
{
    const char *to = test_format("%s/rest.db", test_tmpdir());
    const char *from = test_format("%s/backup.db", test_tmpdir());
    loci_str answer;
    facts other;

    facts_call(f, "store.backup", "{'path':'%s','force':true}", from);
    run_sql(from, test_format("delete from events where %s", where));
    answer = facts_call(f, "store.recover", "{'path':'%s','to':'%s','force':true}", from, to);
    CHECK_EQ(test_member_int(answer, "events_lost"), lost);
    CHECK_EQ(test_member_int(answer, "lost.0.first_seq"), first_seq);
    facts_open_store(&other, to);
    CHECK_STR_EQ(facts_value(&other, "{'key':'later'}"), "1");
    check_replays(&other);
    check_travels(&other);
    facts_close(&other);
}

/* Parts that are lost are in the answer, and what is left is a store like any other. */
TEST(compact, a_store_without_parts_of_its_snapshot_is_recovered)
{
    facts f;

    facts_open_store(&f, test_format("%s/damaged.db", test_tmpdir()));
    for (int i = 0; i < 6; i++)
        write_large(&f, test_format("k%d", i), "x", 200000);
    f.now_us += MINUTE_US;
    compact(&f, f.now_us);
    facts_write(&f, "created", "{'key':'later','value':1}");
    CHECK_EQ(test_member_int(facts_call(&f, "user.export", "{}"), "events.0.seq"), -2);
    check_rest(&f, "seq = -1", 1, -1);
    check_rest(&f, "seq = -2", 1, -2);
    check_rest(&f, "seq = 0", 1, 0);
    check_rest(&f, "seq between -2 and -1", 2, -2);
    check_rest(&f, "seq <= 0", 1, 0); /* How many there were is not known. */
    facts_close(&f);
}

/* A crash behind the snapshot leaves events that it replaced: no replay may read them, and the next
 * job deletes them. */
TEST(compact, replaced_events_that_are_left_do_no_harm)
{
    static const char left[] =
        "insert into events (tenant_id, user_id, seq, type, v, recorded_at, refs, payload,"
        " is_erased) select tenant_id, user_id, 1, type, v, recorded_at, refs, payload, is_erased"
        " from events where seq = 6";
    const char *path = test_format("%s/left.db", test_tmpdir());
    facts f;

    facts_open_store(&f, path);
    for (int i = 0; i < 8; i++) {
        facts_call(&f, "fact.write", "{'key':'city','value':%d}", i);
        f.now_us += MINUTE_US;
    }
    compact(&f, f.now_us - 3 * MINUTE_US);
    run_sql(path, left);
    CHECK_EQ(test_member_int(facts_call(&f, "event.list", "{}"), "events.0.seq"), 1);
    check_replays(&f);
    check_travels(&f);
    compact(&f, f.now_us - 3 * MINUTE_US);
    CHECK_EQ(test_member_int(facts_call(&f, "event.list", "{}"), "events.0.seq"), 6);
    facts_close(&f);
}
