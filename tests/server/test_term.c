/* test_term.c - SIGTERM in the middle of many requests: what was answered with success is in the
 * store, whole, and nothing is half there. */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "server/daemon.h"

#define CLIENTS 16
#define REQUESTS 10000
#define EACH (REQUESTS / CLIENTS)
#define DRAIN_MS 10000
#define TEXT_BYTES 4096

/* Every fourth request is a batch of two writes, whose second fact has a key of its own. */
static bool is_batch(int number)
{
    return number % 4 == 3;
}

typedef struct client {
    pthread_t thread;
    int port;
    const char *token;
    int name;
    _Atomic int *answered;
    bool was_acked[EACH];
    int acked, refused;
    bool was_cut;
} client;

static int write_fact(char *out, size_t bytes, int name, int number, char part)
{
    return snprintf(out, bytes, "{\"key\":\"t-%d-%d-%c\",\"value\":\"%d:%d:%c:%0200d\"}", name,
                    number, part, name, number, part, number);
}

static void write_request(char *out, const client *c, int number)
{
    char first[512], second[512], body[1200];

    write_fact(first, sizeof first, c->name, number, 'a');
    write_fact(second, sizeof second, c->name, number, 'b');
    if (is_batch(number))
        snprintf(body, sizeof body,
                 "{\"calls\":[{\"op\":\"fact.write\",\"args\":%s},"
                 "{\"op\":\"fact.write\",\"args\":%s}]}",
                 first, second);
    else
        snprintf(body, sizeof body, "%s", first);
    snprintf(out, TEXT_BYTES,
             "POST %s HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer %s\r\n"
             "Content-Length: %zu\r\n\r\n%s",
             is_batch(number) ? "/v1/batch" : "/v1/facts", c->token, strlen(body), body);
}

/* One request after the other until the daemon does not want any more. */
static void *write_all(void *ctx)
{
    client *c = ctx;
    char request[TEXT_BYTES], buffer[TEXT_BYTES];
    int fd = test_try_connect(c->port);

    for (int i = 0; i < EACH && fd >= 0; i++) {
        test_answer answer = {0};

        write_request(request, c, i);
        if (test_send(fd, loci_str_of(request)))
            answer = test_receive_one(fd, buffer, sizeof buffer);
        if (answer.status == 0) {
            c->was_cut = true;
            break;
        }
        c->was_acked[i] = answer.status / 100 == 2;
        c->acked += c->was_acked[i];
        c->refused += !c->was_acked[i];
        atomic_fetch_add(c->answered, 1);
        if (strstr(buffer, "Connection: close") != NULL) {
            close(fd);
            fd = test_try_connect(c->port);
        }
    }
    if (fd >= 0)
        close(fd);
    return NULL;
}

static bool is_stored(loci_engine *engine, int name, int number, char part)
{
    char args[64], expected[512], fact[512];
    loci_answer *answer = NULL;
    loci_error err;
    loci_status status;

    snprintf(args, sizeof args, "{\"key\":\"t-%d-%d-%c\"}", name, number, part);
    status = loci_call(engine, "fact.current", loci_str_of(args), NULL, &answer, &err);
    if (status == LOCI_ENOTFOUND)
        return false;
    CHECK_OK(status, err);
    write_fact(fact, sizeof fact, name, number, part);
    snprintf(expected, sizeof expected, "%s", strstr(fact, "\"value\":"));
    expected[strlen(expected) - 1] = '\0'; /* Without the brace. */
    CHECK_CONTAINS(loci_answer_json(answer), expected);
    loci_answer_free(answer);
    return true;
}

static int check_client(loci_engine *engine, const client *c)
{
    int stored = 0;

    for (int i = 0; i < EACH; i++) {
        bool has_first = is_stored(engine, c->name, i, 'a');

        if (c->was_acked[i] && !has_first)
            test_fail(__FILE__, __LINE__, "request %d of client %d was answered and is lost", i,
                      c->name);
        if (is_batch(i))
            CHECK_EQ(is_stored(engine, c->name, i, 'b'), has_first);
        stored += has_first;
    }
    return stored;
}

static void check_store(const char *store, const client *clients, int acked)
{
    loci_open_options options = LOCI_OPEN_OPTIONS_INIT;
    loci_engine *engine = NULL;
    loci_answer *answer = NULL;
    loci_error err;
    int stored = 0;

    options.store = store;
    options.flags = LOCI_OPEN_EXISTING;
    CHECK_OK(loci_open(&options, &engine, &err), err);
    for (int i = 0; i < CLIENTS; i++)
        stored += check_client(engine, &clients[i]);
    /* Beyond what was answered there is at most the one request that each client had on its way. */
    CHECK_LE(acked, stored);
    CHECK_LE(stored, acked + CLIENTS);
    CHECK_OK(loci_call(engine, "store.verify", loci_str_of("{}"), NULL, &answer, &err), err);
    CHECK_CONTAINS(loci_answer_json(answer), "\"sound\":true");
    loci_answer_free(answer);
    loci_close(engine);
}

static void run_round(test_rng *rng)
{
    static const char *const settings[] = {"server.drain_ms=10000", NULL};
    static client clients[CLIENTS];
    test_daemon daemon = test_daemon_start(settings);
    int signal_at = (int)test_rng_between(rng, 200, REQUESTS * 9 / 10);
    int acked = 0, refused = 0, cut = 0;
    _Atomic int answered = 0;
    int64_t began_ms;

    memset(clients, 0, sizeof clients);
    for (int i = 0; i < CLIENTS; i++) {
        clients[i].port = daemon.port;
        clients[i].token = daemon.token;
        clients[i].name = i;
        clients[i].answered = &answered;
        CHECK_EQ(pthread_create(&clients[i].thread, NULL, write_all, &clients[i]), 0);
    }
    for (began_ms = test_now_ms();
         atomic_load(&answered) < signal_at && test_now_ms() < began_ms + 60000;)
        test_sleep_ms(1);
    CHECK_EQ(kill(daemon.process.pid, SIGTERM), 0);
    began_ms = test_now_ms();
    test_daemon_wait(&daemon);
    CHECK_LE(test_now_ms() - began_ms, DRAIN_MS);
    for (int i = 0; i < CLIENTS; i++) {
        pthread_join(clients[i].thread, NULL);
        acked += clients[i].acked;
        refused += clients[i].refused;
        cut += clients[i].was_cut;
    }
    CHECK_EQ(refused, 0);
    check_store(daemon.store, clients, acked);
    printf("    term: signal after %d answers, %d answered in all, %d clients without an answer\n",
           signal_at, acked, cut);
}

/* A deploy restarts the daemon under load. A client whose write was answered must find it in the
 * store. */
TEST(term, what_was_answered_before_the_end_is_in_the_store)
{
    test_rng rng = test_random(7);
    uint64_t rounds = test_count(2, 12);

    test_timeout(300);
    for (uint64_t i = 0; i < rounds; i++)
        run_round(&rng);
}
