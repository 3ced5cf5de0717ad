/* Subscriptions: of one user every event once and in order, whoever wrote it; of all users what is
 * new, or the word that something was missed. */
#include "lib/calls.h"

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/str.h"
#include "contract/probe_fixture.h"
#include "engine/internal.h"
#include "store/grown.h"

#define PATIENCE_MS 30000

static const char *new_store(void)
{
    return test_store(test_tmpdir(), "store.db");
}

static loci_subscription *follow(loci_engine *engine, loci_subscribe_options options)
{
    loci_subscription *sub = NULL;
    loci_error err;

    options.size = sizeof options;
    CHECK_OK(loci_subscribe(engine, &options, &sub, &err), err);
    return sub;
}

/* The next event, or "" when nothing is waiting. */
static loci_str next_of(loci_subscription *sub, int *lagged)
{
    loci_answer *answer = NULL;
    loci_str json = {"", 0};
    loci_error err;

    CHECK_OK(loci_subscription_next(sub, &answer, lagged, &err), err);
    if (answer != NULL)
        json = loci_str_of(test_format("%s", loci_answer_json(answer).ptr));
    loci_answer_free(answer);
    return json;
}

static bool is_readable(loci_subscription *sub, int timeout_ms)
{
    struct pollfd fd = {.fd = loci_subscription_fd(sub), .events = POLLIN};

    return poll(&fd, 1, timeout_ms) == 1;
}

/* Waits on the descriptor as a host would, and takes the next event. */
static loci_str await(loci_subscription *sub)
{
    int64_t until_us = lc_clock_monotonic_us() + PATIENCE_MS * INT64_C(1000);
    loci_str event = {"", 0};

    while (event.len == 0) {
        CHECK_LT(lc_clock_monotonic_us(), until_us);
        if (is_readable(sub, 1000))
            event = next_of(sub, NULL);
    }
    return event;
}

static void write_facts(loci_engine *engine, const char *user, int count)
{
    static int value;

    for (int i = 0; i < count; i++)
        test_call(engine, "fact.write", "{'key':'k%d','value':%d,'user_id':'%s'}", i % 7, ++value,
                  user);
}

/* ---- One user -------------------------------------------------------------------------------- */

TEST(subscription, a_stream_begins_where_it_is_told)
{
    loci_engine *engine = test_open(new_store());
    loci_subscription *all, *some, *fresh, *future;

    write_facts(engine, "u", 5);
    all = follow(engine, (loci_subscribe_options){.user_id = "u", .after_seq = 0});
    some = follow(engine, (loci_subscribe_options){.user_id = "u", .after_seq = 3});
    fresh = follow(engine, (loci_subscribe_options){.user_id = "u", .after_seq = -1});
    future = follow(engine, (loci_subscribe_options){.user_id = "u", .after_seq = 6});
    for (int i = 1; i <= 5; i++)
        CHECK_EQ(test_member_int(next_of(all, NULL), "seq"), i);
    CHECK_EQ(test_member_int(next_of(some, NULL), "seq"), 4);
    CHECK_STR_EQ(next_of(fresh, NULL), "");
    write_facts(engine, "u", 2);
    write_facts(engine, "other", 2);
    CHECK_EQ(test_member_int(next_of(all, NULL), "seq"), 6);
    CHECK_EQ(test_member_int(next_of(fresh, NULL), "seq"), 6);
    CHECK_EQ(test_member_int(next_of(fresh, NULL), "seq"), 7);
    CHECK_STR_EQ(next_of(fresh, NULL), "");
    CHECK_EQ(test_member_int(next_of(future, NULL), "seq"), 7);
    loci_subscription_close(all);
    loci_subscription_close(some);
    loci_subscription_close(fresh);
    loci_subscription_close(future);
    loci_subscription_close(NULL);
    test_close(engine);
}

TEST(subscription, an_event_tells_everything)
{
    loci_engine *engine = test_open(new_store());
    loci_subscription *sub = follow(engine, (loci_subscribe_options){.after_seq = 0});
    loci_str event;

    test_call(engine, "fact.write", "{'key':'city','value':'Oslo'}");
    event = next_of(sub, NULL);
    CHECK_STR_EQ(test_member_text(event, "user_id"), "default");
    CHECK_STR_EQ(test_member_text(event, "type"), "fact.written");
    CHECK_EQ(test_member_int(event, "v"), 2);
    CHECK_STR_EQ(test_member_text(event, "payload.value"), "Oslo");
    loci_subscription_close(sub);
    test_close(engine);
}

/* The descriptor is all that a host's event loop looks at. */
TEST(subscription, the_descriptor_is_readable_as_long_as_something_waits)
{
    loci_engine *engine = test_open(new_store());
    loci_subscription *sub;
    int seen = 0;

    write_facts(engine, "u", 200); /* Several pages. */
    sub = follow(engine, (loci_subscribe_options){.user_id = "u", .after_seq = 0});
    while (is_readable(sub, 0)) {
        loci_str event = next_of(sub, NULL);

        if (event.len == 0)
            break;
        CHECK_EQ(test_member_int(event, "seq"), ++seen);
    }
    CHECK_EQ(seen, 200);
    CHECK(!is_readable(sub, 0));
    write_facts(engine, "u", 1);
    CHECK(is_readable(sub, 0));
    CHECK_EQ(test_member_int(next_of(sub, NULL), "seq"), 201);
    loci_subscription_close(sub);
    test_close(engine);
}

/* ---- Types ----------------------------------------------------------------------------------- */

static const lc_room *const probe_rooms[] = {&lc_store_room, &probe_room, NULL};

static loci_engine *open_probe(const char *store)
{
    loci_open_options options = test_open_options(store);
    loci_engine *engine = NULL;
    loci_error err;

    CHECK_OK(lc_engine_open(&options, &(lc_engine_parts){.rooms = probe_rooms}, &engine, &err),
             err);
    return engine;
}

static loci_status append_grown(lc_tx *tx, void *ctx, loci_error *err)
{
    (void)ctx;
    return lc_event_append(tx, &(lc_append){.type = &probe_grown}, NULL, err);
}

static void write_as(loci_engine *engine, lc_tx_body *body)
{
    lc_write write = {.tenant_id = LC_STR("default"),
                      .user_id = LC_STR("default"),
                      .now_us = PROBE_NOW_US,
                      .deadline_us = lc_clock_monotonic_us() + 10000000,
                      .body = body,
                      .ctx = (void *)"hello"};

    CHECK_OK(lc_engine_write(engine, &write), write.error);
}

/* Among many of another type: what is wanted lies pages apart. */
TEST(subscription, only_wanted_types_are_given_and_none_of_them_is_missed)
{
    loci_engine *engine = open_probe(new_store());
    loci_subscription *sub, *both, *none;
    int seen = 0;

    for (int i = 0; i < 500; i++)
        write_as(engine, i % 100 == 37 ? append_grown : probe_say_body);
    sub = follow(engine, (loci_subscribe_options){.types = "probe.grown"});
    while (is_readable(sub, 0)) {
        loci_str event = next_of(sub, NULL);

        if (event.len > 0)
            CHECK_EQ(test_member_int(event, "seq"), 100 * seen++ + 38);
    }
    CHECK_EQ(seen, 5);
    both = follow(engine, (loci_subscribe_options){.types = "none.such, probe.grown ,probe.said"});
    for (int i = 1; i <= 500; i++)
        CHECK_EQ(test_member_int(next_of(both, NULL), "seq"), i);
    none = follow(engine, (loci_subscribe_options){.types = "probe.grow"});
    CHECK_STR_EQ(next_of(none, NULL), "");
    loci_subscription_close(sub);
    loci_subscription_close(both);
    loci_subscription_close(none);
    lc_engine_close(engine);
}

/* ---- Many writers ---------------------------------------------------------------------------- */

enum { WRITERS = 4, EACH = 60 };

typedef struct author {
    loci_engine *engine;
    int number;
} author;

static void *write_in_thread(void *ctx)
{
    const author *a = ctx;

    for (int i = 0; i < EACH; i++) {
        char args[100];
        loci_error err;
        loci_answer *answer = NULL;

        (void)snprintf(args, sizeof args, "{\"key\":\"%d-%d\",\"value\":1}", a->number, i);
        if (loci_call(a->engine, "fact.write", loci_str_of(args), NULL, &answer, &err) != LOCI_OK)
            test_note_failure(__FILE__, __LINE__, "%s", err.message);
        loci_answer_free(answer);
    }
    return NULL;
}

TEST(subscription, no_event_is_missed_or_repeated_among_many_writers)
{
    const char *store = new_store();
    loci_engine *here = test_open_threads(store), *there = test_open_threads(store);
    loci_subscription *near = follow(here, (loci_subscribe_options){.after_seq = 0});
    loci_subscription *far = follow(there, (loci_subscribe_options){.after_seq = -1});
    pthread_t threads[WRITERS];
    author authors[WRITERS];

    for (int i = 0; i < WRITERS; i++) {
        authors[i] = (author){i % 2 == 0 ? here : there, i};
        CHECK_EQ(pthread_create(&threads[i], NULL, write_in_thread, &authors[i]), 0);
    }
    for (int i = 1; i <= WRITERS * EACH; i++)
        CHECK_EQ(test_member_int(await(near), "seq"), i);
    for (int i = 1; i <= WRITERS * EACH; i++)
        CHECK_EQ(test_member_int(await(far), "seq"), i);
    for (int i = 0; i < WRITERS; i++)
        CHECK_EQ(pthread_join(threads[i], NULL), 0);
    CHECK_STR_EQ(next_of(near, NULL), "");
    CHECK_STR_EQ(next_of(far, NULL), "");
    loci_subscription_close(near);
    loci_subscription_close(far);
    loci_close(there);
    test_close(here);
}

/* ---- All users ------------------------------------------------------------------------------- */

TEST(subscription, a_stream_of_all_users_is_live)
{
    loci_engine *engine = test_open(new_store());
    loci_principal other = {.size = sizeof other, .tenant = "other"};
    loci_subscription *sub, *foreign;
    int seen[3] = {0}, lagged = 0;

    write_facts(engine, "a", 3);
    sub = follow(engine, (loci_subscribe_options){.flags = LOCI_SUBSCRIBE_ALL_USERS});
    foreign = follow(
        engine, (loci_subscribe_options){.flags = LOCI_SUBSCRIBE_ALL_USERS, .principal = &other});
    CHECK_STR_EQ(next_of(sub, &lagged), "");
    CHECK_EQ(lagged, 0);
    write_facts(engine, "a", 2);
    write_facts(engine, "b", 100);
    write_facts(engine, "new", 1);
    for (int i = 0; i < 103; i++) {
        loci_str event = next_of(sub, &lagged);
        loci_str user = test_member_text(event, "user_id");
        int who = lc_str_is(user, "a") ? 0 : lc_str_is(user, "b") ? 1 : 2;

        CHECK_EQ(test_member_int(event, "seq"), ++seen[who] + (who == 0 ? 3 : 0));
        CHECK_EQ(lagged, 0);
    }
    CHECK_STR_EQ(next_of(sub, &lagged), "");
    CHECK_STR_EQ(next_of(foreign, &lagged), "");
    loci_subscription_close(foreign);
    loci_subscription_close(sub);
    test_close(engine);
}

enum { LIVE_WRITERS = 4, LIVE_USERS = 25, LIVE_ROUNDS = 40 };

/* Writes to its own users in turn, so that many logs grow while others are read. */
static void *write_in_turn(void *ctx)
{
    const author *a = ctx;

    for (int i = 0; i < LIVE_USERS * LIVE_ROUNDS; i++) {
        char args[100];
        loci_error err;
        loci_answer *answer = NULL;

        (void)snprintf(args, sizeof args, "{\"key\":\"k\",\"value\":%d,\"user_id\":\"%d\"}", i,
                       a->number * LIVE_USERS + i % LIVE_USERS);
        if (loci_call(a->engine, "fact.write", loci_str_of(args), NULL, &answer, &err) != LOCI_OK)
            test_note_failure(__FILE__, __LINE__, "%s", err.message);
        loci_answer_free(answer);
    }
    return NULL;
}

/* The feed moves while a page is read: a snapshot that is older than a range must not be asked for
 * its events. */
TEST(subscription, a_stream_of_all_users_misses_nothing_while_many_write)
{
    const char *store = new_store();
    loci_engine *here = test_open_threads(store), *there = test_open_threads(store);
    loci_subscription *sub = follow(here,
                                    (loci_subscribe_options){.flags = LOCI_SUBSCRIBE_ALL_USERS});
    int seen[LIVE_WRITERS * LIVE_USERS] = {0};
    pthread_t threads[LIVE_WRITERS];
    author authors[LIVE_WRITERS];

    for (int i = 0; i < LIVE_WRITERS; i++) {
        authors[i] = (author){i % 2 == 0 ? here : there, i};
        CHECK_EQ(pthread_create(&threads[i], NULL, write_in_turn, &authors[i]), 0);
    }
    for (int i = 0; i < LIVE_WRITERS * LIVE_USERS * LIVE_ROUNDS; i++) {
        loci_str event = await(sub);
        int64_t user = 0;

        CHECK(lc_str_to_i64(test_member_text(event, "user_id"), &user));
        CHECK_EQ(test_member_int(event, "seq"), ++seen[user]);
    }
    for (int i = 0; i < LIVE_WRITERS; i++)
        CHECK_EQ(pthread_join(threads[i], NULL), 0);
    CHECK_STR_EQ(next_of(sub, NULL), "");
    loci_subscription_close(sub);
    loci_close(there);
    test_close(here);
}

/* One event for each of `count` users, in as few commits as possible. */
static void write_users(loci_engine *engine, int count)
{
    enum { GROUP = 250 };
    static lc_write writes[GROUP];
    static char names[GROUP][16], word[] = "blah";
    lc_db *db = NULL;
    loci_error err;

    CHECK_OK(lc_engine_connect(engine, 0, &db, &err), err);
    for (int i = 0; i < count; i += GROUP) {
        for (int k = 0; k < GROUP; k++) {
            (void)snprintf(names[k], sizeof names[k], "u%d", i + k);
            writes[k] = (lc_write){.tenant_id = LC_STR("default"),
                                   .user_id = loci_str_of(names[k]),
                                   .now_us = PROBE_NOW_US,
                                   .deadline_us = lc_clock_monotonic_us() + 30000000,
                                   .body = probe_say_body,
                                   .ctx = word,
                                   .next = k + 1 < GROUP ? &writes[k + 1] : NULL};
        }
        for (bool is_over = false; !is_over;) {
            lc_db_write(db, writes);
            is_over = true;
            for (int k = 0; k < GROUP; k++)
                is_over = is_over && writes[k].is_answered;
        }
        for (int k = 0; k < GROUP; k++)
            CHECK_OK(writes[k].status, writes[k].error);
    }
    lc_db_close(db);
}

/* Too much for the feed: the stream says so, and goes on with new events. */
TEST(subscription, a_slow_reader_of_all_users_is_told_that_it_lagged)
{
    loci_engine *engine = open_probe(new_store());
    loci_subscription *sub = follow(engine,
                                    (loci_subscribe_options){.flags = LOCI_SUBSCRIBE_ALL_USERS});
    int lagged = 0;

    write_users(engine, 1000);
    for (int i = 0; i < 1000; i++) {
        CHECK_EQ(test_member_int(next_of(sub, &lagged), "seq"), 1);
        CHECK_EQ(lagged, 0);
    }
    write_users(engine, 5000);
    CHECK_STR_EQ(next_of(sub, &lagged), "");
    CHECK_EQ(lagged, 1);
    write_as(engine, probe_say_body);
    CHECK_EQ(test_member_int(next_of(sub, &lagged), "seq"), 1);
    CHECK_EQ(lagged, 0);
    loci_subscription_close(sub);
    lc_engine_close(engine);
}

/* ---- A read of the growth that takes too long ------------------------------------------------ */

/* It has no end. */
static const lc_grown_sql endless_sql = {
    .place = {"select cast(coalesce(max(rowid), 0) as text) from events", "", "t"},
    .users = {"with recursive n(i) as (select 1 union all select i + 1 from n)"
              " select '', '', count(*), 1 from n where $1 <> '' and $2 > 0",
              "ti", "ttii"}};

/* The connection that the next read uses gets the driver. */
static const lc_db_driver *exchange_driver(loci_engine *engine, const lc_db_driver *driver)
{
    const lc_db_driver *before;
    lc_db *db = NULL;
    loci_error err;

    CHECK_OK(lc_readers_take(engine->readers, INT64_MAX, &db, &err), err);
    before = db->driver;
    db->driver = driver != NULL ? driver : before;
    lc_readers_give_back(engine->readers, db);
    return before;
}

/* As after an import of millions of events in one transaction. The same read would take too long
 * again and again, and streams would get nothing any more. */
TEST_ON(TEST_FILES, subscription, growth_that_takes_too_long_to_read_is_reported_as_lost)
{
    loci_engine *engine = test_open(new_store());
    loci_subscription *sub = follow(engine,
                                    (loci_subscribe_options){.flags = LOCI_SUBSCRIBE_ALL_USERS});
    const lc_db_driver *before = exchange_driver(engine, NULL);
    lc_db_driver endless = *before;
    loci_answer *answer = NULL;
    int lagged = 0;
    loci_error err;

    endless.grown = &endless_sql;
    (void)exchange_driver(engine, &endless);
    write_facts(engine, "a", 1);
    CHECK_STATUS(LOCI_EDEADLINE, loci_subscription_next(sub, &answer, &lagged, &err));
    CHECK(is_readable(sub, 0));
    CHECK_STR_EQ(next_of(sub, &lagged), "");
    CHECK_EQ(lagged, 1);
    (void)exchange_driver(engine, before);
    write_facts(engine, "a", 1);
    CHECK_EQ(test_member_int(next_of(sub, &lagged), "seq"), 2);
    CHECK_EQ(lagged, 0);
    loci_subscription_close(sub);
    test_close(engine);
}

/* ---- Who ------------------------------------------------------------------------------------- */

TEST(subscription, a_narrowed_caller_follows_its_user_only)
{
    loci_engine *engine = test_open(new_store());
    loci_principal anna = {.size = sizeof anna, .user = "anna"};
    loci_principal open = {.size = sizeof open, .tenant = "", .user = ""};
    loci_subscribe_options options = {.size = sizeof options, .principal = &anna};
    loci_subscription *sub = NULL;
    loci_error err;

    write_facts(engine, "anna", 1);
    write_facts(engine, "default", 1);
    options.user_id = "bob";
    CHECK_STATUS(LOCI_ENOTFOUND, loci_subscribe(engine, &options, &sub, &err));
    options.user_id = NULL;
    options.flags = LOCI_SUBSCRIBE_ALL_USERS;
    CHECK_STATUS(LOCI_EFORBIDDEN, loci_subscribe(engine, &options, &sub, &err));
    CHECK(sub == NULL);
    sub = follow(engine, (loci_subscribe_options){.principal = &anna});
    CHECK_STR_EQ(test_member_text(next_of(sub, NULL), "user_id"), "anna");
    loci_subscription_close(sub);
    sub = follow(engine, (loci_subscribe_options){.principal = &open});
    CHECK_STR_EQ(test_member_text(next_of(sub, NULL), "user_id"), "default");
    loci_subscription_close(sub);
    test_close(engine);
}

/* ---- Out of memory --------------------------------------------------------------------------- */

/* What could not be given must still be given later. */
TEST(subscription, running_out_of_memory_misses_nothing)
{
    loci_engine *engine = test_open(new_store());
    loci_subscription *sub;
    int64_t seq = 0;
    loci_error err;

    write_facts(engine, "default", 40);
    sub = follow(engine, (loci_subscribe_options){.after_seq = 0});
    for (uint64_t nth = 1; seq < 40; nth = nth % 150 + 1) {
        loci_answer *answer = NULL;
        loci_status status;

        test_heap_fail_nth(nth);
        status = loci_subscription_next(sub, &answer, NULL, &err);
        (void)test_heap_disarm();
        if (status != LOCI_OK) {
            CHECK_STATUS(LOCI_ERESOURCE, status);
            CHECK(is_readable(sub, 0));
            continue;
        }
        CHECK(answer != NULL);
        CHECK_EQ(test_member_int(loci_answer_json(answer), "seq"), ++seq);
        loci_answer_free(answer);
    }
    loci_subscription_close(sub);
    test_close(engine);
}

/* ---- After a restore --------------------------------------------------------------------------
 */

/* A reader that goes on as if nothing had happened would show what is gone, and miss what replaced
 * it. */
TEST_ON(TEST_FILES, subscription, a_restore_is_reported_to_every_stream)
{
    const char *backup = test_path(test_tmpdir(), "backup.db");
    loci_engine *engine = test_open(new_store());
    loci_subscription *one, *all, *resumed;
    int lagged = 0;

    write_facts(engine, "ann", 3);
    (void)test_call(engine, "store.backup", "{'path':'%s'}", backup);
    write_facts(engine, "ann", 7);
    one = follow(engine, (loci_subscribe_options){.user_id = "ann", .after_seq = -1});
    all = follow(engine, (loci_subscribe_options){.flags = LOCI_SUBSCRIBE_ALL_USERS});
    (void)test_call(engine, "store.restore", "{'path':'%s'}", backup);
    CHECK(is_readable(one, 0));
    CHECK_STR_EQ(next_of(one, &lagged), "");
    CHECK_EQ(lagged, 1);
    CHECK_STR_EQ(next_of(all, &lagged), "");
    CHECK_EQ(lagged, 1);
    resumed = follow(engine, (loci_subscribe_options){.flags = LOCI_SUBSCRIBE_RESUMED,
                                                      .user_id = "ann",
                                                      .after_seq = 11});
    CHECK_STR_EQ(next_of(resumed, &lagged), "");
    CHECK_EQ(lagged, 1);
    write_facts(engine, "ann", 1);
    CHECK_EQ(test_member_int(next_of(one, &lagged), "seq"),
             test_member_int(next_of(resumed, NULL), "seq"));
    CHECK_EQ(lagged, 0);
    CHECK_STR_EQ(test_member_text(next_of(all, &lagged), "type"), "fact.written");
    CHECK_EQ(lagged, 0);
    loci_subscription_close(one);
    loci_subscription_close(all);
    loci_subscription_close(resumed);
    test_close(engine);
}
