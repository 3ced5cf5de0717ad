/* loci_submit: calls that nobody waits for are answered once each, whatever happens. */
#include "lib/calls.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/str.h"
#include "engine/engine.h"
#include "ops/surface.h"
#include "store/event.h"

#define PATIENCE_US INT64_C(60000000)

static const char *new_store(void)
{
    return test_store(test_tmpdir(), "store.db");
}

/* What came back. */
typedef struct tally {
    _Atomic int done;
    _Atomic int ok;
    _Atomic int failed;
    _Atomic int last_status;
} tally;

static void count_answer(void *ctx, loci_status status, loci_answer *answer, const loci_error *err)
{
    tally *t = ctx;

    if ((status == LOCI_OK) != (answer != NULL) || (status == LOCI_OK) != (err == NULL))
        test_note_failure(__FILE__, __LINE__, "status, answer and error do not fit together");
    if (err != NULL && err->status != status)
        test_note_failure(__FILE__, __LINE__, "the error says another status");
    loci_answer_free(answer);
    atomic_fetch_add(status == LOCI_OK ? &t->ok : &t->failed, 1);
    atomic_store(&t->last_status, (int)status);
    atomic_fetch_add(&t->done, 1);
}

static void submit(loci_engine *engine, const char *operation, const char *args, tally *t)
{
    loci_error err;

    CHECK_OK(loci_submit(engine, operation, loci_str_of(args), NULL, count_answer, t, &err), err);
}

static void wait_for(tally *t, int count)
{
    int64_t until_us = lc_clock_monotonic_us() + PATIENCE_US;

    while (atomic_load(&t->done) < count) {
        CHECK_LT(lc_clock_monotonic_us(), until_us);
        lc_clock_sleep_us(500);
    }
}

TEST(submit, writes_and_reads_are_answered)
{
    loci_engine *engine = test_open_threads(new_store());
    tally writes = {0}, reads = {0};

    for (int i = 0; i < 20; i++)
        submit(engine, "fact.write", test_format("{\"key\":\"k%d\",\"value\":1}", i), &writes);
    wait_for(&writes, 20);
    CHECK_EQ(writes.ok, 20);
    for (int i = 0; i < 20; i++)
        submit(engine, "fact.current", test_format("{\"key\":\"k%d\"}", i), &reads);
    submit(engine, "fact.current", "{\"key\":\"none\"}", &reads);
    submit(engine, "store.verify", "{}", &reads); /* Alone: in no transaction. */
    wait_for(&reads, 22);
    CHECK_EQ(reads.ok, 21);
    CHECK_EQ(reads.failed, 1);
    test_close(engine);
}

/* ---- At once --------------------------------------------------------------------------------- */

typedef struct found {
    _Atomic int done;
    pthread_t by;
    char value[64];
} found;

static void keep_value(void *ctx, loci_status status, loci_answer *answer, const loci_error *err)
{
    found *f = ctx;
    loci_str value;

    if (status != LOCI_OK) {
        test_note_failure(__FILE__, __LINE__, "%s", err->message);
    } else {
        value = test_member(loci_answer_json(answer), "value");
        (void)snprintf(f->value, sizeof f->value, "%.*s", (int)value.len, value.ptr);
        loci_answer_free(answer);
    }
    f->by = pthread_self();
    atomic_fetch_add(&f->done, 1);
}

/* Looks up and says whether that was done before lc_submit_or_finish() returned. */
static bool find_at_once(loci_engine *engine, const char *key, found *out)
{
    int64_t until_us = lc_clock_monotonic_us() + PATIENCE_US;
    bool was_at_once;
    loci_error err;

    *out = (found){.done = 0};
    CHECK_OK(lc_submit_or_finish(engine, "fact.current",
                                 loci_str_of(test_format("{\"key\":\"%s\"}", key)), NULL,
                                 keep_value, out, &err),
             err);
    was_at_once = atomic_load(&out->done) == 1 && pthread_equal(out->by, pthread_self()) != 0;
    while (atomic_load(&out->done) == 0) {
        CHECK_LT(lc_clock_monotonic_us(), until_us);
        lc_clock_sleep_us(500);
    }
    return was_at_once;
}

/* An answer that is in memory is given at once; else the pool reads it. Either way there is one
 * callback with the same answer. */
TEST(submit, what_is_in_memory_is_answered_before_it_returns)
{
    loci_engine *engine = test_open_threads(new_store());
    int64_t until_us = lc_clock_monotonic_us() + PATIENCE_US;
    bool can_peek = lc_op_find(LC_STR("fact.current"))->peek != NULL;
    found f;

    test_call(engine, "fact.write", "{'key':'city','value':7}");
    CHECK(!find_at_once(engine, "city", &f));
    CHECK_STR_EQ(f.value, "7");
    while (!find_at_once(engine, "city", &f) && can_peek) {
        CHECK_LT(lc_clock_monotonic_us(), until_us);
        lc_clock_sleep_us(500);
    }
    CHECK_STR_EQ(f.value, "7");
    test_close(engine);
}

/* What can be known at once is said at once, and then `done` is not called. */
TEST(submit, wrong_calls_are_refused_at_once)
{
    loci_engine *engine = test_open_threads(new_store());
    tally t = {0};
    loci_error err;

    CHECK_STATUS(LOCI_ENOTFOUND,
                 loci_submit(engine, "no.such", LC_STR("{}"), NULL, count_answer, &t, &err));
    CHECK_STATUS(LOCI_EINVAL, loci_submit(engine, "fact.write", LC_STR("{\"key\":"), NULL,
                                          count_answer, &t, &err));
    CHECK_STATUS(LOCI_EINVAL,
                 loci_submit(engine, "fact.write", LC_STR("{}"), NULL, count_answer, &t, NULL));
    test_close(engine);
    CHECK_EQ(t.done, 0);
}

/* Everything given is borrowed until loci_submit() returns, but for the cancel flag. */
TEST(submit, what_was_given_may_be_freed_at_once)
{
    const char *store = new_store();
    loci_engine *engine = test_open_threads(store);
    tally t = {0};
    loci_error err;

    for (int i = 0; i < 50; i++) {
        loci_call_options options = LOCI_CALL_OPTIONS_INIT;
        loci_principal *who = calloc(1, sizeof *who);
        char *names = malloc(64);
        char *args = strdup(i % 2 == 0 ? "{\"key\":\"k\",\"value\":\"é\"}" : "{\"key\":\"k\"}");
        char *operation = strdup(i % 2 == 0 ? "fact.write" : "fact.current");

        memcpy(names, "tenant-x\0user-x\0persona-x\0high\0user\0request", 44);
        *who = (loci_principal){.size = sizeof *who,
                                .tenant = names,
                                .user = names + 9,
                                .persona = names + 16,
                                .authority = names + 26,
                                .trust = names + 31};
        options.principal = who;
        if (i % 2 == 0)
            options.request_id = names + 36;
        CHECK_OK(
            loci_submit(engine, operation, loci_str_of(args), &options, count_answer, &t, &err),
            err);
        memset(names, 'X', 44);
        memset(args, 'X', strlen(args));
        free(names);
        free(args);
        free(operation);
        free(who);
        wait_for(&t, i + 1);
    }
    CHECK_EQ(t.ok, 50);
    CHECK_EQ(test_store_number(store,
                               "select count(*) from fact_current where tenant_id = 'tenant-x'"
                               " and user_id = 'user-x' and persona_id = 'persona-x'"),
             1);
    CHECK_EQ(test_store_number(store, "select count(*) from requests"
                                      " where request_id like 'request_%'"),
             1);
    test_close(engine);
}

/* ---- Many threads ---------------------------------------------------------------------------- */

enum { THREADS = 6, EACH = 60 };

typedef struct sender {
    loci_engine *engine;
    tally *t;
    int number;
} sender;

static void *send_many(void *ctx)
{
    sender *s = ctx;

    for (int i = 0; i < EACH; i++) {
        char args[100];
        loci_error err;
        loci_answer *answer = NULL;
        loci_status status;

        (void)snprintf(args, sizeof args, "{\"key\":\"%d-%d\",\"value\":%d,\"user_id\":\"u%d\"}",
                       s->number, i, i, s->number % 3);
        if (i % 3 == 2) { /* Waiting callers and others share the queue. */
            status = loci_call(s->engine, "fact.write", loci_str_of(args), NULL, &answer, &err);
            loci_answer_free(answer);
            atomic_fetch_add(&s->t->done, 1);
            atomic_fetch_add(&s->t->ok, 1);
        } else {
            status = loci_submit(s->engine, "fact.write", loci_str_of(args), NULL, count_answer,
                                 s->t, &err);
        }
        if (status != LOCI_OK)
            test_note_failure(__FILE__, __LINE__, "%s", err.message);
    }
    return NULL;
}

TEST(submit, many_threads_lose_nothing)
{
    const char *store = new_store();
    loci_engine *engine = test_open_threads(store);
    pthread_t threads[THREADS];
    sender senders[THREADS];
    tally t = {0};

    for (int i = 0; i < THREADS; i++) {
        senders[i] = (sender){engine, &t, i};
        CHECK_EQ(pthread_create(&threads[i], NULL, send_many, &senders[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        CHECK_EQ(pthread_join(threads[i], NULL), 0);
    wait_for(&t, THREADS * EACH);
    CHECK_EQ(t.done, THREADS * EACH);
    CHECK_EQ(t.ok, THREADS * EACH);
    CHECK_EQ(test_store_number(store, "select count(*) from events where type = 'fact.written'"),
             THREADS * EACH);
    test_close(engine);
    CHECK_EQ(t.done, THREADS * EACH);
}

/* ---- Closing --------------------------------------------------------------------------------- */

/* Accepted is accepted: closing waits for it. */
TEST(submit, closing_answers_what_was_accepted)
{
    for (int round = 0; round < 5; round++) {
        const char *store = new_store();
        loci_engine *engine = test_open_threads(store);
        tally t = {0};

        for (int i = 0; i < 200; i++) {
            submit(engine, "fact.write", test_format("{\"key\":\"k%d\",\"value\":1}", i), &t);
            if (i % 10 == 0)
                submit(engine, "fact.list", "{}", &t);
        }
        submit(engine, "config.set", "{\"name\":\"job.keep_hours\",\"value\":5}", &t);
        loci_close(engine);
        CHECK_EQ(t.done, 221);
        CHECK_EQ(t.ok, 221);
        CHECK_EQ(
            test_store_number(store, "select count(*) from events where type = 'fact.written'"),
            200);
    }
}

/* ---- Giving up ------------------------------------------------------------------------------- */

typedef struct lock_holder {
    _Atomic bool is_held;
    _Atomic bool may_go;
} lock_holder;

static loci_status hold_lock(lc_tx *tx, void *ctx, loci_error *err)
{
    lock_holder *h = ctx;

    (void)tx;
    (void)err;
    atomic_store(&h->is_held, true);
    while (!atomic_load(&h->may_go))
        lc_clock_sleep_us(1000);
    return LOCI_OK;
}

typedef struct holding {
    loci_engine *engine;
    lock_holder holder;
    pthread_t thread;
} holding;

static void *hold_in_thread(void *ctx)
{
    holding *h = ctx;
    lc_write write = {.tenant_id = LC_STR("default"),
                      .user_id = LC_STR("default"),
                      .deadline_us = lc_clock_monotonic_us() + PATIENCE_US,
                      .body = hold_lock,
                      .ctx = &h->holder};

    (void)lc_engine_write(h->engine, &write);
    return NULL;
}

/* Another process (here: engine) has the store's write lock until release(). */
static void hold(holding *h, const char *store)
{
    h->engine = test_open(store);
    CHECK_EQ(pthread_create(&h->thread, NULL, hold_in_thread, h), 0);
    while (!atomic_load(&h->holder.is_held))
        lc_clock_sleep_us(1000);
}

static void release(holding *h)
{
    atomic_store(&h->holder.may_go, true);
    CHECK_EQ(pthread_join(h->thread, NULL), 0);
    loci_close(h->engine);
}

TEST(submit, a_waiting_write_can_be_cancelled)
{
    const char *store = new_store();
    loci_engine *engine = test_open_threads(store);
    loci_call_options options = LOCI_CALL_OPTIONS_INIT;
    volatile int cancel = 0;
    holding h = {0};
    tally t = {0};
    loci_error err;

    hold(&h, store);
    options.cancel = &cancel;
    CHECK_OK(loci_submit(engine, "fact.write", LC_STR("{\"key\":\"k\",\"value\":1}"), &options,
                         count_answer, &t, &err),
             err);
    cancel = 1;
    release(&h);
    wait_for(&t, 1);
    CHECK_EQ(t.last_status, LOCI_ECANCELLED);
    CHECK_EQ(test_store_number(store, "select count(*) from events where type = 'fact.written'"),
             0);
    test_close(engine);
}

typedef struct impatient {
    loci_engine *engine;
    int64_t timeout_ms;
    loci_status status;
    int64_t took_us;
} impatient;

static void *call_impatiently(void *ctx)
{
    impatient *i = ctx;
    loci_call_options options = LOCI_CALL_OPTIONS_INIT;
    loci_answer *answer = NULL;
    int64_t began_us = lc_clock_monotonic_us();

    options.timeout_ms = i->timeout_ms;
    i->status = loci_call(i->engine, "fact.write", LC_STR("{\"key\":\"k\",\"value\":1}"), &options,
                          &answer, NULL);
    loci_answer_free(answer);
    i->took_us = lc_clock_monotonic_us() - began_us;
    return NULL;
}

/* The one who holds the writer's role may be willing to wait long; those behind it need not be. */
TEST(submit, the_patience_of_one_is_not_that_of_another)
{
    const char *store = new_store();
    loci_engine *engine = test_open_threads(store);
    impatient patient = {.engine = engine, .timeout_ms = 60000};
    impatient quick = {.engine = engine, .timeout_ms = 50};
    pthread_t thread;
    holding h = {0};

    hold(&h, store);
    CHECK_EQ(pthread_create(&thread, NULL, call_impatiently, &patient), 0);
    lc_clock_sleep_us(50000); /* So that it has begun to wait for the lock. */
    (void)call_impatiently(&quick);
    release(&h);
    CHECK_EQ(pthread_join(thread, NULL), 0);
    CHECK_STATUS(LOCI_EDEADLINE, quick.status);
    CHECK_LT(quick.took_us, 5000000);
    CHECK_STATUS(LOCI_OK, patient.status);
    test_close(engine);
}

/* ---- Inline ---------------------------------------------------------------------------------- */

static loci_engine *inline_engine;

static void call_again(void *ctx, loci_status status, loci_answer *answer, const loci_error *err)
{
    (void)status;
    (void)err;
    loci_answer_free(answer);
    test_call(inline_engine, "fact.write", "{'key':'second','value':1}");
    submit(inline_engine, "fact.write", "{\"key\":\"third\",\"value\":1}", ctx);
}

TEST(submit, inline_is_done_before_it_returns)
{
    tally t = {0};
    loci_error err;

    inline_engine = test_open(new_store());
    submit(inline_engine, "fact.write", "{\"key\":\"k\",\"value\":1}", &t);
    CHECK_EQ(t.done, 1);
    submit(inline_engine, "fact.current", "{\"key\":\"k\"}", &t);
    CHECK_EQ(t.done, 2);
    /* And there is nobody else to wait for: a callback may go on with the next call. */
    test_timeout(20);
    CHECK_OK(loci_submit(inline_engine, "fact.write", LC_STR("{\"key\":\"first\",\"value\":1}"),
                         NULL, call_again, &t, &err),
             err);
    CHECK_EQ(t.ok, 3);
    test_close(inline_engine);
}
