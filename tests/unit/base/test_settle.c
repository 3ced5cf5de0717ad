/* What is left until a thread has answered all that it can (base/settle.h). */
#include "lib/test.h"

#include <pthread.h>

#include "base/settle.h"

static int said[16], said_count;

static void say(void *ctx)
{
    said[said_count++] = *(const int *)ctx;
}

static void say_more(void *ctx)
{
    CHECK_EQ(lc_settle_later(say, ctx), LC_SETTLE_NOT);
    say(ctx);
}

TEST(settle, nothing_is_left_by_a_thread_that_does_not_hold)
{
    int one = 1;

    said_count = 0;
    CHECK_EQ(lc_settle_later(say, &one), LC_SETTLE_NOT);
    lc_settle();
    CHECK_EQ(said_count, 0);
}

TEST(settle, what_is_left_is_done_once_and_in_order)
{
    int one = 1, two = 2;

    said_count = 0;
    lc_settle_hold();
    CHECK_EQ(lc_settle_later(say, &one), LC_SETTLE_NEW);
    lc_settle_hold();
    CHECK_EQ(lc_settle_later(say_more, &two), LC_SETTLE_NEW);
    CHECK_EQ(lc_settle_later(say, &one), LC_SETTLE_KNOWN);
    CHECK_EQ(said_count, 0);
    lc_settle();
    CHECK_EQ(said_count, 2);
    CHECK_EQ(said[0], 1);
    CHECK_EQ(said[1], 2);
    CHECK_EQ(lc_settle_later(say, &one), LC_SETTLE_NOT);
    lc_settle();
    CHECK_EQ(said_count, 2);
}

TEST(settle, who_cannot_be_promised_does_it_now)
{
    int numbers[16], promised = 0;

    said_count = 0;
    lc_settle_hold();
    for (int i = 0; i < 16; i++)
        promised += lc_settle_later(say, &numbers[i]) == LC_SETTLE_NEW;
    lc_settle();
    CHECK_LT(0, promised);
    CHECK_LT(promised, 16);
    CHECK_EQ(said_count, promised);
}

static void *ask(void *ctx)
{
    *(lc_settle_promise *)ctx = lc_settle_later(say, ctx);
    return NULL;
}

TEST(settle, every_thread_holds_for_itself)
{
    lc_settle_promise promise = LC_SETTLE_NEW;
    pthread_t thread;

    lc_settle_hold();
    CHECK_EQ(pthread_create(&thread, NULL, ask, &promise), 0);
    CHECK_EQ(pthread_join(thread, NULL), 0);
    CHECK_EQ(promise, LC_SETTLE_NOT);
    lc_settle();
}
