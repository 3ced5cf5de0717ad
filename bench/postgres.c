/* postgres.c - durable writes a second on PostgreSQL: `fact.write` beside raw inserts of the same
 * rows, as pgbench would do them.
 *
 * The peer has as many connections as there are clients; each of its transactions inserts the four
 * rows of a write (event, head, fact, and the one it takes the place of), a round trip a statement,
 * and no two touch the same row. So it neither reads nor decides nor waits for anybody. loci has
 * one connection and must do all of that; it wins back what it can with group commit and the
 * pipeline. To reach: 0.6 of the peer, with a user a client and with one user for all. The server
 * is one of our own that syncs (tests/lib/postgres.sh), on the disk of $TMPDIR. Both take turns,
 * round by round; medians. Look-ups that are warm are measured beside those of a file; to
 * reach: 1.2 times as long.
 */
#include <libpq-fe.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "engine/engine.h"
#include "lib/line_peer.h"
#include "lib/rounds.h"
#include "loci.h"

#define ROUNDS 5
#define ROUNDS_MAX 101
#define CLIENTS_MAX 16
#define READS 20000
#define WARM_UP_S 0.5
#define SLOTS 200
#define CROWD_MAX 1000

typedef struct bench_case {
    const char *name;
    int clients;
    int users;
    int writes;
} bench_case;

static bench_case cases[] = {
    {"16 clients, 16 users", 16, 16, 8000},
    {"16 clients, one user", 16, 1, 8000},
    {"1 client", 1, 1, 1500},
};

#define CASES (sizeof cases / sizeof cases[0])

typedef struct figures {
    double loci_per_s;
    double raw_per_s;
    double ratio;
    double writes_per_commit;
} figures;

static postgres_peer own_server;

static _Noreturn void die(const char *what)
{
    fprintf(stderr, "postgres: %s\n", what);
    exit(1);
}

static double now_s(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* ---- The server ------------------------------------------------------------------------------ */

static PGconn *connect_to(const char *url)
{
    PGconn *conn = PQconnectdb(url);

    if (PQstatus(conn) != CONNECTION_OK)
        die(PQerrorMessage(conn));
    return conn;
}

static const char *new_store(void)
{
    static char url[512];

    postgres_peer_new_store(&own_server, url, sizeof url);
    return url;
}

/* ---- loci ------------------------------------------------------------------------------------ */

static loci_engine *open_engine(const char *store)
{
    loci_open_options options = LOCI_OPEN_OPTIONS_INIT;
    loci_engine *engine = NULL;
    loci_error err;

    options.store = store;
    if (loci_open(&options, &engine, &err) != LOCI_OK)
        die(err.message);
    return engine;
}

typedef struct client {
    loci_engine *engine;
    const char *url;
    const bench_case *c;
    _Atomic int *next;
    int number;
} client;

static void call(loci_engine *engine, const char *operation, const char *args)
{
    loci_answer *answer = NULL;
    loci_error err;

    if (loci_call(engine, operation, loci_str_of(args), NULL, &answer, &err) != LOCI_OK)
        die(err.message);
    loci_answer_free(answer);
}

static void *write_facts(void *ctx)
{
    const client *own = ctx;
    char args[512];

    for (int n; (n = atomic_fetch_add(own->next, 1)) < own->c->writes;) {
        snprintf(args, sizeof args,
                 "{\"user_id\":\"user-%d\",\"key\":\"slot-%d\",\"value\":\"value %d of a fact that "
                 "is about as long as people make them, a sentence or so\",\"source\":\"user\"}",
                 own->number % own->c->users, n % SLOTS, n);
        call(own->engine, "fact.write", args);
    }
    return NULL;
}

/* ---- The peer -------------------------------------------------------------------------------- */

static void execute(PGconn *conn, const char *name, int count, const char *const *values)
{
    PGresult *result = PQexecPrepared(conn, name, count, values, NULL, NULL, 0);

    if (PQresultStatus(result) != PGRES_COMMAND_OK)
        die(PQerrorMessage(conn));
    PQclear(result);
}

static void prepare(PGconn *conn, const char *name, const char *sql)
{
    PGresult *result = PQprepare(conn, name, sql, 0, NULL);

    if (PQresultStatus(result) != PGRES_COMMAND_OK)
        die(PQerrorMessage(conn));
    PQclear(result);
}

#define FACT_COLUMNS                                                                               \
    "tenant_id, user_id, seq, id, key, value, source, authority, authority_rank, trust,"           \
    " memory_type, scope, scope_id, persona_id, observed_at, recorded_at, is_constraint,"          \
    " is_multi, needs_review, has_derived"
#define FACT_VALUES                                                                                \
    "'default', $1, $2, $3, $4, $5, 'user', 'manager', 4, 'user', 'user', 'global', '', '',"       \
    " 1700000000000000, 1700000000000000, 0, 0, 0, 0"

static void *insert_rows(void *ctx)
{
    const client *own = ctx;
    PGconn *conn = connect_to(own->url);
    char user[32], number[16], key[32], value[160], payload[320], id[40];

    prepare(conn, "begin", "begin");
    prepare(conn, "commit", "commit");
    prepare(conn, "event",
            "insert into events values ('default', $1, $2, 'fact.written', 1, 1700000000000000, "
            "'{\"id\":\"fact_01M7GXDK6A0000000100FABP0P\"}', $3, 0)");
    prepare(conn, "head", "insert into heads values ('default', $1, $2, 1700000000000000, 0, 0)");
    prepare(conn, "fact",
            "insert into fact_current (" FACT_COLUMNS ", place) values (" FACT_VALUES ", 0)");
    prepare(conn, "past",
            "insert into fact_past (" FACT_COLUMNS ", standing, superseded_by, ended_at, ended_seq)"
            " values (" FACT_VALUES ", 'superseded', $3, 1700000000000000, $2)");
    for (int n; (n = atomic_fetch_add(own->next, 1)) < own->c->writes;) {
        snprintf(user, sizeof user, "user-%d", n);
        snprintf(number, sizeof number, "%d", n);
        snprintf(key, sizeof key, "slot-%d", n % SLOTS);
        snprintf(id, sizeof id, "fact_01M7GXDK6A0000%012d", n);
        snprintf(value, sizeof value,
                 "\"value %d of a fact that is about as long as people make them, a sentence or "
                 "so\"",
                 n);
        snprintf(payload, sizeof payload, "{\"key\":\"%s\",\"value\":%s,\"source\":\"user\"}", key,
                 value);
        execute(conn, "begin", 0, NULL);
        execute(conn, "event", 3, (const char *[]){user, number, payload});
        execute(conn, "head", 2, (const char *[]){user, number});
        execute(conn, "fact", 5, (const char *[]){user, number, id, key, value});
        execute(conn, "past", 5, (const char *[]){user, number, id, key, value});
        execute(conn, "commit", 0, NULL);
    }
    PQfinish(conn);
    return NULL;
}

/* ---- Rounds ---------------------------------------------------------------------------------- */

static double run_clients(const bench_case *c, loci_engine *engine, const char *url,
                          void *(*work)(void *))
{
    client clients[CLIENTS_MAX];
    pthread_t threads[CLIENTS_MAX];
    _Atomic int next = 0;
    double start_s = now_s();

    for (int i = 0; i < c->clients; i++) {
        clients[i] = (client){engine, url, c, &next, i};
        if (pthread_create(&threads[i], NULL, work, &clients[i]) != 0)
            die("no thread");
    }
    for (int i = 0; i < c->clients; i++)
        pthread_join(threads[i], NULL);
    return c->writes / (now_s() - start_s);
}

static figures run_round(const bench_case *c)
{
    figures f = {0};
    lc_engine_counters counters;
    loci_engine *engine = open_engine(new_store());

    f.loci_per_s = run_clients(c, engine, NULL, write_facts);
    counters = lc_engine_get_counters(engine);
    f.writes_per_commit = (double)c->writes / (double)counters.commits;
    loci_close(engine);

    const char *url = new_store();

    loci_close(open_engine(url)); /* The tables. */
    f.raw_per_s = run_clients(c, NULL, url, insert_rows);
    f.ratio = f.loci_per_s / f.raw_per_s;
    return f;
}

/* µs a `fact.current`, of a user with SLOTS facts. */
static double read_us(const char *store)
{
    loci_engine *engine = open_engine(store);
    char args[64];
    double start_s;

    for (int i = 0; i < SLOTS; i++) {
        snprintf(args, sizeof args, "{\"key\":\"slot-%d\",\"value\":%d}", i, i);
        call(engine, "fact.write", args);
    }
    /* Until rows are kept: the first look of the watch comes after a moment. */
    for (start_s = now_s(); now_s() < start_s + WARM_UP_S;) {
        for (int i = 0; i < SLOTS; i++) {
            snprintf(args, sizeof args, "{\"key\":\"slot-%d\"}", i);
            call(engine, "fact.current", args);
        }
    }
    start_s = now_s();
    for (int i = 0; i < READS; i++) {
        snprintf(args, sizeof args, "{\"key\":\"slot-%d\"}", i * 7 % SLOTS);
        call(engine, "fact.current", args);
    }
    start_s = now_s() - start_s;
    loci_close(engine);
    return start_s / READS * 1e6;
}

/* ---- Crowds ---------------------------------------------------------------------------------- */

/* `size` calls are in flight at any time, each of another user, as with that many connections of a
 * daemon. */
typedef struct crowd {
    const char *name;
    int size;
    int writes;
    bool has_new_users; /* Each write is the first one of its user. */
} crowd;

static crowd crowds[] = {
    {"16 in flight", 16, 8000, false},         {"96 in flight", 96, 8000, false},
    {"240 in flight", 240, 8000, false},       {"1000 in flight", CROWD_MAX, 8000, false},
    {"200 new users", 200, 8000, true},        {"256 new users", 256, 8000, true},
    {"1000 new users", CROWD_MAX, 8000, true},
};

#define CROWDS (sizeof crowds / sizeof crowds[0])

static pthread_mutex_t crowd_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t crowd_wake = PTHREAD_COND_INITIALIZER;
static int idle_members[CROWD_MAX], idle_count, refused_count, failed_count;

static void end_of_call(void *ctx, loci_status status, loci_answer *answer, const loci_error *err)
{
    (void)err;
    loci_answer_free(answer);
    pthread_mutex_lock(&crowd_lock);
    idle_members[idle_count++] = (int)(intptr_t)ctx;
    refused_count += status == LOCI_EUNAVAILABLE;
    failed_count += status != LOCI_OK && status != LOCI_EUNAVAILABLE;
    pthread_cond_signal(&crowd_wake);
    pthread_mutex_unlock(&crowd_lock);
}

/* Writes that were acknowledged, per second. */
static double run_crowd(const crowd *c)
{
    loci_engine *engine = open_engine(new_store());
    double start_s = now_s();
    loci_error err;
    char args[512];

    refused_count = failed_count = 0;
    for (idle_count = 0; idle_count < c->size; idle_count++)
        idle_members[idle_count] = idle_count;
    for (int n = 0; n < c->writes; n++) {
        int member;

        pthread_mutex_lock(&crowd_lock);
        while (idle_count == 0)
            pthread_cond_wait(&crowd_wake, &crowd_lock);
        member = idle_members[--idle_count];
        pthread_mutex_unlock(&crowd_lock);
        snprintf(args, sizeof args,
                 "{\"user_id\":\"user-%d\",\"key\":\"slot-%d\",\"value\":\"value %d of a fact that "
                 "is about as long as people make them, a sentence or so\",\"source\":\"user\"}",
                 c->has_new_users ? n : member, n % SLOTS, n);
        if (loci_submit(engine, "fact.write", loci_str_of(args), NULL, end_of_call,
                        (void *)(intptr_t)member, &err) != LOCI_OK)
            die(err.message);
    }
    pthread_mutex_lock(&crowd_lock);
    while (idle_count < c->size)
        pthread_cond_wait(&crowd_wake, &crowd_lock);
    pthread_mutex_unlock(&crowd_lock);
    start_s = now_s() - start_s;
    loci_close(engine);
    if (failed_count > 0)
        fprintf(stderr, "postgres: %s: %d of %d writes failed\n", c->name, failed_count, c->writes);
    return (c->writes - refused_count - failed_count) / start_s;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double median(double *all, int count)
{
    qsort(all, (size_t)count, sizeof all[0], compare);
    return count % 2 == 1 ? all[count / 2] : (all[count / 2 - 1] + all[count / 2]) / 2;
}

static double median_of(const figures *rounds, int count, size_t offset)
{
    double all[ROUNDS_MAX];

    for (int i = 0; i < count; i++)
        memcpy(&all[i], (const char *)&rounds[i] + offset, sizeof all[i]);
    return median(all, count);
}

static void bench_reads(int count)
{
    double server[ROUNDS_MAX], file[ROUNDS_MAX], ratios[ROUNDS_MAX];
    char dir[] = "/tmp/loci-bench-XXXXXX", path[64], more[80];

    if (mkdtemp(dir) == NULL)
        die("no directory");
    snprintf(path, sizeof path, "%s/store.db", dir);
    for (int i = 0; i < count; i++) {
        server[i] = read_us(new_store());
        file[i] = read_us(path);
        ratios[i] = server[i] / file[i];
        remove(path);
        snprintf(more, sizeof more, "%s-wal", path);
        remove(more);
        snprintf(more, sizeof more, "%s-shm", path);
        remove(more);
    }
    rmdir(dir);
    printf("{\"bench\":\"postgres\",\"case\":\"fact.current\",\"postgres_us\":%.1f,"
           "\"sqlite_us\":%.1f,\"ratio\":%.3f}\n",
           median(server, count), median(file, count), median(ratios, count));
}

/* The crowds take turns, so that what the machine does meanwhile hits all of them. */
static void bench_crowds(int count)
{
    double per_s[CROWDS][ROUNDS_MAX], best = 0;

    for (int i = 0; i < count; i++)
        for (size_t c = 0; c < CROWDS; c++)
            per_s[c][i] = run_crowd(&crowds[c]);
    for (size_t c = 0; c < CROWDS; c++) {
        double of_crowd = median(per_s[c], count);

        if (c > 0 && crowds[c].has_new_users && !crowds[c - 1].has_new_users)
            best = 0;
        best = of_crowd > best ? of_crowd : best;
        printf("{\"bench\":\"postgres\",\"case\":\"%s\",\"loci_per_s\":%.0f,\"of_best\":%.3f}\n",
               crowds[c].name, of_crowd, of_crowd / best);
    }
}

/* `postgres crowds` runs these alone. */
int main(int argc, char **argv)
{
    static figures rounds[CASES][ROUNDS_MAX];
    const char *asked = getenv("BENCH_ROUNDS");
    int count = asked != NULL ? (int)strtol(asked, NULL, 10) : ROUNDS;

    if (count < 1 || count > ROUNDS_MAX)
        die("BENCH_ROUNDS must be 1 to 101");
    for (size_t c = 0; c < CASES; c++)
        cases[c].writes = bench_size(cases[c].writes);
    for (size_t c = 0; c < CROWDS; c++)
        crowds[c].writes = bench_size(crowds[c].writes);
    postgres_peer_start(&own_server);
    if (argc > 1 && strcmp(argv[1], "crowds") == 0) {
        bench_crowds(count);
        line_peer_stop(&own_server.process);
        return 0;
    }
    for (int i = 0; i < count; i++)
        for (size_t c = 0; c < CASES; c++)
            rounds[c][i] = run_round(&cases[c]);
    for (size_t c = 0; c < CASES; c++)
        printf("{\"bench\":\"postgres\",\"case\":\"%s\",\"loci_per_s\":%.0f,\"raw_per_s\":%.0f,"
               "\"ratio\":%.3f,\"writes_per_commit\":%.1f}\n",
               cases[c].name, median_of(rounds[c], count, offsetof(figures, loci_per_s)),
               median_of(rounds[c], count, offsetof(figures, raw_per_s)),
               median_of(rounds[c], count, offsetof(figures, ratio)),
               median_of(rounds[c], count, offsetof(figures, writes_per_commit)));
    bench_crowds(count);
    bench_reads(count);
    fprintf(stderr,
            "ratio: loci to raw inserts of the same rows, medians of %d rounds; to reach: 0.6. "
            "Of fact.current: warm look-ups to those of a file; at most 1.2\n",
            count);
    line_peer_stop(&own_server.process);
    return 0;
}
