/* Who is told of a commit: those who follow one of its users, soon, and few others. */
#include "lib/calls.h"

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/str.h"
#include "engine/watch.h"

#define PATIENCE_MS 30000
#define WRITERS 4
#define READERS 24
#define WRITES_EACH 50

/* Looks at the database so rarely that only marks can tell anybody anything. */
static loci_engine *open_marks_only(void)
{
    loci_open_options options = LOCI_OPEN_OPTIONS_INIT;
    loci_engine *engine = NULL;
    loci_error err;

    options.store = test_store(test_tmpdir(), "store.db");
    options.settings = "{\"watch.interval_ms\":60000}";
    CHECK_OK(loci_open(&options, &engine, &err), err);
    return engine;
}

static loci_subscription *follow(loci_engine *engine, const char *user_id)
{
    loci_subscribe_options options = LOCI_SUBSCRIBE_OPTIONS_INIT;
    loci_subscription *sub = NULL;
    loci_error err;

    options.user_id = user_id;
    options.after_seq = 0;
    options.flags = user_id == NULL ? LOCI_SUBSCRIBE_ALL_USERS : 0;
    CHECK_OK(loci_subscribe(engine, &options, &sub, &err), err);
    return sub;
}

static bool is_readable(loci_subscription *sub, int timeout_ms)
{
    struct pollfd fd = {.fd = loci_subscription_fd(sub), .events = POLLIN};

    return poll(&fd, 1, timeout_ms) == 1;
}

/* Takes everything that is waiting; returns how many events. */
static int drain(loci_subscription *sub)
{
    int count = -1;
    loci_answer *answer;
    loci_error err;

    do {
        answer = NULL;
        CHECK_OK(loci_subscription_next(sub, &answer, NULL, &err), err);
        loci_answer_free(answer);
        count++;
    } while (answer != NULL);
    return count;
}

static void write_fact(loci_engine *engine, const char *user_id)
{
    static _Atomic int value;
    char args[128];
    loci_answer *answer = NULL;
    loci_error err;

    (void)snprintf(args, sizeof args, "{\"key\":\"k\",\"value\":%d,\"user_id\":\"%s\"}",
                   atomic_fetch_add(&value, 1), user_id);
    CHECK_OK(loci_call(engine, "fact.write", loci_str_of(args), NULL, &answer, &err), err);
    loci_answer_free(answer);
}

/* Two thousand streams would otherwise read the store for every commit of anybody. */
TEST(watch, only_those_who_follow_the_user_are_told)
{
    loci_engine *engine = open_marks_only();
    loci_subscription *ada = follow(engine, "ada"), *bob = follow(engine, "bob");
    loci_subscription *all = follow(engine, NULL);

    CHECK_NE(lc_watch_slot(LC_STR("default"), LC_STR("ada")),
             lc_watch_slot(LC_STR("default"), LC_STR("bob")));
    CHECK_EQ(drain(ada) + drain(bob) + drain(all), 0);
    write_fact(engine, "ada");
    CHECK(is_readable(ada, PATIENCE_MS));
    CHECK(is_readable(all, PATIENCE_MS));
    CHECK(!is_readable(bob, 50));
    CHECK_EQ(drain(ada), 1);
    CHECK_EQ(drain(all), 1);
    write_fact(engine, "bob");
    CHECK(is_readable(bob, PATIENCE_MS));
    CHECK(!is_readable(ada, 50));
    loci_subscription_close(ada);
    loci_subscription_close(bob);
    loci_subscription_close(all);
    loci_close(engine);
}

TEST(watch, slots_are_of_tenant_and_user)
{
    CHECK_EQ(lc_watch_slot(LC_STR("a"), LC_STR("b")), lc_watch_slot(LC_STR("a"), LC_STR("b")));
    CHECK_NE(lc_watch_slot(LC_STR("a"), LC_STR("b")), lc_watch_slot(LC_STR("b"), LC_STR("a")));
    for (int i = 0; i < 1000; i++)
        CHECK_LT(lc_watch_slot(LC_STR("t"), loci_str_of(test_format("u%d", i))), LC_WATCH_SLOTS);
}

/* ---- Many ------------------------------------------------------------------------------------ */

typedef struct crowd {
    loci_engine *engine;
    _Atomic int next_writer;
} crowd;

static void *write_some(void *ctx)
{
    crowd *c = ctx;
    char user_id[16];

    (void)snprintf(user_id, sizeof user_id, "u%d", atomic_fetch_add(&c->next_writer, 1));
    for (int i = 0; i < WRITES_EACH; i++)
        write_fact(c->engine, user_id);
    return NULL;
}

/* Marks are put up while others are taken down; one that got lost would be a stream that sleeps. */
TEST(watch, no_commit_goes_untold_however_busy_it_is)
{
    crowd c = {.engine = open_marks_only()};
    loci_subscription *readers[READERS];
    pthread_t writers[WRITERS];
    int seen[READERS] = {0};
    int open_count = READERS;

    for (int i = 0; i < READERS; i++)
        readers[i] = follow(c.engine, test_format("u%d", i % WRITERS));
    for (int i = 0; i < WRITERS; i++)
        CHECK_EQ(pthread_create(&writers[i], NULL, write_some, &c), 0);
    while (open_count > 0) {
        struct pollfd fds[READERS];

        for (int i = 0; i < READERS; i++)
            fds[i] = (struct pollfd){.fd = loci_subscription_fd(readers[i]), .events = POLLIN};
        CHECK_LT(0, poll(fds, READERS, PATIENCE_MS));
        for (int i = 0; i < READERS; i++) {
            if (fds[i].revents == 0 || seen[i] == WRITES_EACH)
                continue;
            seen[i] += drain(readers[i]);
            CHECK_LE(seen[i], WRITES_EACH);
            open_count -= seen[i] == WRITES_EACH;
        }
    }
    for (int i = 0; i < WRITERS; i++)
        CHECK_EQ(pthread_join(writers[i], NULL), 0);
    for (int i = 0; i < READERS; i++)
        loci_subscription_close(readers[i]);
    loci_close(c.engine);
}

/* Streams come and go while others write. */
TEST(watch, listening_can_begin_and_end_at_any_time)
{
    crowd c = {.engine = open_marks_only()};
    pthread_t writers[WRITERS];

    for (int i = 0; i < WRITERS; i++)
        CHECK_EQ(pthread_create(&writers[i], NULL, write_some, &c), 0);
    for (int i = 0; i < 200; i++) {
        loci_subscription *sub = follow(c.engine, "u0");

        (void)drain(sub);
        loci_subscription_close(sub);
    }
    for (int i = 0; i < WRITERS; i++)
        CHECK_EQ(pthread_join(writers[i], NULL), 0);
    loci_close(c.engine);
}

/* ---- Writers that come and go ---------------------------------------------------------------- */

#define VISITS 20
#define STALENESS_US 100000 /* As docs/postgresql.md states it. */

static loci_str current_value(loci_engine *engine)
{
    return test_member(test_call(engine, "fact.current", "{'key':'k','user_id':'ada'}"), "value");
}

/* Each opens the store, writes once and is gone before the watch polls again, as a program does
 * that is started for one call. Its write is seen all the same, by readers and by streams. */
TEST(watch, a_writer_that_comes_and_goes_is_noticed)
{
    const char *store = test_store(test_tmpdir(), "store.db");
    loci_engine *reader = test_open_threads(store);
    loci_subscription *stream = follow(reader, "ada");

    for (int i = 0; i < VISITS; i++) {
        loci_engine *writer = test_open(store);

        for (int k = 0; i > 0 && k < 5; k++) { /* Until the answer is in the cache. */
            (void)current_value(reader);
            lc_clock_sleep_us(5000);
        }
        test_call(writer, "fact.write", "{'key':'k','value':%d,'user_id':'ada'}", i);
        loci_close(writer);
        lc_clock_sleep_us(STALENESS_US);
        CHECK_STR_EQ(current_value(reader), test_format("%d", i));
        CHECK(is_readable(stream, PATIENCE_MS));
        CHECK_EQ(drain(stream), 1);
    }
    loci_subscription_close(stream);
    test_close(reader);
}
