/* users.c - memory of the daemon with many users: P14 of the quality page.
 *
 * 10,000 users with 100 facts each and their vectors. The daemon builds contexts of random users,
 * over 16 keep-alive connections, each user about twice: far more users than fit into the user
 * cache. To reach: the cache never exceeds the setting cache.user_bytes_max (256 MB by default, the
 * daemon's own counter is read after every 200 contexts), and a warm user's context takes as long
 * after that as before. "memory" is the daemon's anonymous memory (RssAnon).
 *
 * BENCH_USERS sets the number of users. Vectors are pseudo-random (lib/fill.h). The store, about
 * 3.5 GB, is made in $TMPDIR or /tmp: it should be a real disk.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/fill.h"
#include "lib/http_child.h"
#include "lib/http_load.h"

#define USERS 10000
#define FACTS 100
#define CONNECTIONS 16
#define SAMPLE_CALLS 200 /* Contexts between two looks at the cache. */
#define WARM_BATCHES 31
#define WARM_CALLS 20
#define LIMIT_MB 256.0
#define MB 1e6

typedef struct asking {
    int port;
    const char *token;
    int users; /* 1 = always the same one. */
    unsigned nth;
} asking;

static char dir[256];

static size_t ask_context(void *ctx, int number, char out[HTTP_LOAD_REQUEST_BYTES])
{
    asking *a = ctx;
    unsigned n = a->nth++;
    char body[256];

    (void)number;
    snprintf(body, sizeof body,
             "{\"user_id\":\"user-%u\",\"query\":\"Where is the %s of the %s?\",\"budget\":1000}",
             n * 2654435761u % (unsigned)a->users, fill_word(n), fill_word(n / 3 + 1));
    return (size_t)snprintf(out, HTTP_LOAD_REQUEST_BYTES,
                            "POST /v1/call/context.build HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n"
                            "Authorization: Bearer %s\r\nContent-Type: application/json\r\n"
                            "Content-Length: %zu\r\n\r\n%s",
                            a->port, a->token, strlen(body), body);
}

static double run_contexts(asking *a, int connections, int requests)
{
    http_load load = {.port = a->port,
                      .connections = connections,
                      .requests = requests,
                      .request = ask_context,
                      .ctx = a};
    http_loaded loaded = http_load_run(&load);

    if (loaded.failed > 0)
        bench_die("a context failed");
    return loaded.seconds;
}

/* The value of a metric of the daemon. */
static double read_metric(const asking *a, const char *name)
{
    static char text[1 << 18];
    char request[512];
    size_t len = 0;
    ssize_t got;
    const char *at;
    int fd = http_load_connect(a->port);
    int bytes = snprintf(request, sizeof request,
                         "GET /metrics HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nConnection: close\r\n"
                         "Authorization: Bearer %s\r\n\r\n",
                         a->port, a->token);

    if (send(fd, request, (size_t)bytes, MSG_NOSIGNAL) != bytes)
        bench_die("a request could not be sent");
    while (len < sizeof text - 1 && (got = read(fd, text + len, sizeof text - 1 - len)) > 0)
        len += (size_t)got;
    close(fd);
    text[len] = '\0';
    for (at = text; (at = strstr(at, name)) != NULL; at++)
        if (at[-1] == '\n' && at[strlen(name)] == ' ')
            return strtod(at + strlen(name), NULL);
    bench_die("the daemon has no such metric");
}

/* Milliseconds of a context of one user: the median of many short runs on one connection. */
static double measure_warm(asking a)
{
    double took_ms[WARM_BATCHES];

    a.users = 1;
    (void)run_contexts(&a, 1, WARM_CALLS);
    for (int i = 0; i < WARM_BATCHES; i++)
        took_ms[i] = 1e3 * run_contexts(&a, 1, WARM_CALLS) / WARM_CALLS;
    return bench_median((bench_series){took_ms, sizeof *took_ms, WARM_BATCHES}, 0);
}

static void fill(int users)
{
    double began_s = bench_now_s();
    char path[300], user[32];
    loci_engine *engine;

    snprintf(path, sizeof path, "%s/served.db", dir);
    engine = fill_open(path, 0);
    fill_users(engine, 0, users, FACTS);
    for (int i = 0; i < users; i++) {
        snprintf(user, sizeof user, "user-%d", i);
        if (fill_vectors(engine, user) == 0 && i == 0)
            fprintf(stderr, "users: no encoder is installed; contexts rank by words alone\n");
    }
    loci_close(engine);
    fprintf(stderr, "users: %d users with %d facts each, filled in %.0f s\n", users, FACTS,
            bench_now_s() - began_s);
}

static void run(int users)
{
    http_child loci = http_child_loci(dir);
    asking a = {.port = loci.port, .token = loci.token, .users = users};
    double idle_mb = (double)http_child_memory_kib(&loci) * 1024 / MB, memory_mb = idle_mb;
    double warm_before_ms = measure_warm(a), warm_after_ms, cache_mb = 0, seconds = 0;
    int calls = 2 * users;

    for (int done = 0; done < calls; done += SAMPLE_CALLS) {
        double now_mb;

        seconds += run_contexts(&a, CONNECTIONS, SAMPLE_CALLS);
        now_mb = read_metric(&a, "loci_user_cache_bytes") / MB;
        cache_mb = now_mb > cache_mb ? now_mb : cache_mb;
        now_mb = (double)http_child_memory_kib(&loci) * 1024 / MB;
        memory_mb = now_mb > memory_mb ? now_mb : memory_mb;
    }
    warm_after_ms = measure_warm(a);
    printf("{\"bench\":\"users\",\"case\":\"%d users, %d facts each\",\"contexts_per_s\":%.0f,"
           "\"cache_mb_max\":%.1f,\"goal_mb\":%.0f,\"evictions\":%.0f,\"memory_mb_max\":%.0f,"
           "\"idle_mb\":%.1f,\"ok\":%s}\n",
           users, FACTS, calls / seconds, cache_mb, LIMIT_MB,
           read_metric(&a, "loci_user_cache_evictions_total"), memory_mb, idle_mb,
           cache_mb <= LIMIT_MB * 1.048576 ? "true" : "false");
    printf("{\"bench\":\"users\",\"case\":\"context of a warm user\",\"before_ms\":%.3f,"
           "\"after_ms\":%.3f,\"ratio\":%.2f}\n",
           warm_before_ms, warm_after_ms, warm_after_ms / warm_before_ms);
    http_child_stop(&loci);
}

int main(void)
{
    static const char *const files[] = {"served.db", "served.db-wal", "served.db-shm",
                                        "served.token"};
    const char *tmp = getenv("TMPDIR"), *given = getenv("BENCH_USERS");
    char path[320];
    int users = given != NULL                   ? (int)strtol(given, NULL, 10)
                : getenv("BENCH_SMALL") != NULL ? 40
                                                : USERS;

    snprintf(dir, sizeof dir, "%s/loci-bench-XXXXXX", tmp != NULL ? tmp : "/tmp");
    if (users < 1 || mkdtemp(dir) == NULL)
        bench_die("no directory, or BENCH_USERS is not a number above 0");
    fill(users);
    run(users);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        snprintf(path, sizeof path, "%s/%s", dir, files[i]);
        (void)unlink(path);
    }
    (void)rmdir(dir);
    return 0;
}
