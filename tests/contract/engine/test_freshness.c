/* How old an answer can be when another daemon writes to the same PostgreSQL store, whatever
 * happens to the server or to the connections in between. */
#include "lib/calls.h"

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/str.h"

#define STALENESS_US 100000 /* As docs/postgresql.md states it. */
#define PATIENCE_US 30000000

/* ---- A wire that can be cut ------------------------------------------------------------------ */

#define WIRES_MAX 32

/* Forwards the server's socket. While it is frozen, connections stay open and nothing comes
 * through, as when the network between two machines is interrupted. */
typedef struct wire {
    const char *dir; /* Of its own socket. */
    int listener;
    int ends[2 * WIRES_MAX]; /* A client and, behind it, its connection to the server, or -1. */
    _Atomic bool is_frozen;
    _Atomic bool is_over;
    pthread_t thread;
} wire;

static struct sockaddr_un address_in(const char *dir)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};

    (void)snprintf(address.sun_path, sizeof address.sun_path, "%s/.s.PGSQL.5432", dir);
    return address;
}

/* A server that recovers accepts connections and closes them, so ends are used again. */
static void add_client(wire *w)
{
    struct sockaddr_un server = address_in(test_postgres_dir());
    int client = accept(w->listener, NULL, NULL);
    int behind = socket(AF_UNIX, SOCK_STREAM, 0);
    int end = 0;

    while (end < 2 * WIRES_MAX && w->ends[end] >= 0)
        end += 2;
    if (end == 2 * WIRES_MAX || connect(behind, (struct sockaddr *)&server, sizeof server) != 0) {
        close(client);
        close(behind);
        return;
    }
    w->ends[end] = client;
    w->ends[end + 1] = behind;
}

/* False at the end of what comes from `from`. */
static bool forward(int from, int to)
{
    char bytes[65536];
    ssize_t count = read(from, bytes, sizeof bytes);
    ssize_t sent = 0;

    while (sent < count) {
        ssize_t more = send(to, bytes + sent, (size_t)(count - sent), MSG_NOSIGNAL);

        if (more <= 0)
            return false;
        sent += more;
    }
    return count > 0;
}

static void *run_wire(void *ctx)
{
    wire *w = ctx;

    while (!w->is_over) {
        struct pollfd fds[2 * WIRES_MAX + 1] = {{.fd = w->listener, .events = POLLIN}};

        for (int i = 0; i < 2 * WIRES_MAX; i++)
            fds[i + 1] = (struct pollfd){.fd = w->ends[i], .events = POLLIN};
        if (w->is_frozen || poll(fds, 2 * WIRES_MAX + 1, 5) <= 0) {
            lc_clock_sleep_us(w->is_frozen ? 1000 : 0);
            continue;
        }
        for (int i = 0; i < 2 * WIRES_MAX && !w->is_frozen; i++) {
            if (fds[i + 1].revents == 0 || w->ends[i] < 0 || forward(w->ends[i], w->ends[i ^ 1]))
                continue;
            close(w->ends[i]);
            close(w->ends[i ^ 1]);
            w->ends[i] = w->ends[i ^ 1] = -1; /* poll() passes over it. */
        }
        if (fds[0].revents != 0)
            add_client(w);
    }
    return NULL;
}

static void start_wire(wire *w)
{
    struct sockaddr_un own;

    *w = (wire){.dir = test_tmpdir(), .listener = socket(AF_UNIX, SOCK_STREAM, 0)};
    for (int i = 0; i < 2 * WIRES_MAX; i++)
        w->ends[i] = -1;
    own = address_in(w->dir);
    CHECK_EQ(bind(w->listener, (struct sockaddr *)&own, sizeof own), 0);
    CHECK_EQ(listen(w->listener, WIRES_MAX), 0);
    CHECK_EQ(pthread_create(&w->thread, NULL, run_wire, w), 0);
}

static void end_wire(wire *w)
{
    w->is_over = true;
    CHECK_EQ(pthread_join(w->thread, NULL), 0);
    for (int i = 0; i < 2 * WIRES_MAX; i++)
        if (w->ends[i] >= 0)
            close(w->ends[i]);
    close(w->listener);
}

/* The URL of the same store, through the wire. */
static const char *through(const wire *w, const char *store)
{
    const char *host = strstr(store, "host=") + strlen("host=");

    return test_format("%.*s%s%s", (int)(host - store), store, w->dir, host + strcspn(host, "&"));
}

/* ---- Two daemons ----------------------------------------------------------------------------- */

typedef struct pair {
    wire w;
    loci_engine *near, *far; /* The far one is behind the wire. */
    loci_subscription *stream;
} pair;

static void write_value(const pair *p, int value)
{
    test_call(p->near, "fact.write", "{'key':'k','value':%d}", value);
}

/* What the far daemon answers within a moment; -1 if it cannot say. */
static int try_far(const pair *p)
{
    loci_call_options options = LOCI_CALL_OPTIONS_INIT;
    loci_answer *answer = NULL;
    int64_t value = -1;
    loci_error err;

    options.timeout_ms = 200;
    if (loci_call(p->far, "fact.current", LC_STR("{\"key\":\"k\"}"), &options, &answer, &err) !=
        LOCI_OK)
        return -1;
    CHECK(lc_str_to_i64(test_member(loci_answer_json(answer), "value"), &value));
    loci_answer_free(answer);
    return (int)value;
}

/* Until it can say; it must not say anything else meanwhile. */
static void expect_far(const pair *p, int value)
{
    int64_t until_us = lc_clock_monotonic_us() + PATIENCE_US;
    int answer;

    while ((answer = try_far(p)) == -1)
        CHECK_LT(lc_clock_monotonic_us(), until_us);
    CHECK_EQ(answer, value);
}

/* Also brings the answer into the cache of the far daemon. */
static void open_pair(pair *p)
{
    const char *store = test_store(test_tmpdir(), "store.db");
    loci_subscribe_options options = LOCI_SUBSCRIBE_OPTIONS_INIT;
    loci_error err;

    start_wire(&p->w);
    p->near = test_open_threads(store);
    p->far = test_open_threads(through(&p->w, store));
    options.after_seq = 0;
    CHECK_OK(loci_subscribe(p->far, &options, &p->stream, &err), err);
    write_value(p, 1);
    for (int i = 0; i < 40; i++) {
        (void)try_far(p);
        lc_clock_sleep_us(5000);
    }
    expect_far(p, 1);
}

/* The stream has told of `count` events in order, each once. */
static void close_pair(pair *p, int count)
{
    int64_t until_us = lc_clock_monotonic_us() + PATIENCE_US;

    for (int seen = 0; seen < count;) {
        loci_answer *answer = NULL;
        loci_error err;

        CHECK_LT(lc_clock_monotonic_us(), until_us);
        if (loci_subscription_next(p->stream, &answer, NULL, &err) == LOCI_OK && answer != NULL) {
            seen++;
            CHECK_STR_EQ(test_member(loci_answer_json(answer), "seq"), test_format("%d", seen));
        } else {
            struct pollfd fd = {.fd = loci_subscription_fd(p->stream), .events = POLLIN};

            (void)poll(&fd, 1, 100);
        }
        loci_answer_free(answer);
    }
    loci_subscription_close(p->stream);
    test_close(p->near);
    loci_close(p->far);
    end_wire(&p->w);
}

/* Half-open: the daemon behind the wire hears nothing, not even that its connections are dead. */
TEST_ON(TEST_SERVERS, freshness, a_daemon_that_is_cut_off_answers_nothing_old)
{
    pair p = {0};

    open_pair(&p);
    for (int round = 0; round < 3; round++) {
        p.w.is_frozen = true;
        write_value(&p, 2 + round);
        lc_clock_sleep_us(STALENESS_US);
        CHECK_EQ(try_far(&p), -1);
        p.w.is_frozen = false;
        lc_clock_sleep_us(STALENESS_US);
        expect_far(&p, 2 + round);
    }
    close_pair(&p, 4);
}

TEST_ON(TEST_SERVERS, freshness, nothing_is_old_after_a_restart)
{
    static const char *const ends[] = {"stop", "kill"};
    pair p = {0};

    open_pair(&p);
    for (int round = 0; round < 2; round++) {
        test_postgres_command(ends[round]);
        lc_clock_sleep_us(STALENESS_US);
        CHECK_EQ(try_far(&p), -1);
        test_postgres_command("start");
        write_value(&p, 2 + round);
        lc_clock_sleep_us(STALENESS_US);
        expect_far(&p, 2 + round);
    }
    close_pair(&p, 3);
}
