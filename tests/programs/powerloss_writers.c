/* powerloss_writers.c - eight threads that write to one store until they are done or the power
 * goes.
 *
 *     powerloss_writers STORE COUNT [BACKUP]
 *
 * Each makes COUNT calls, and says over descriptor 100 what was answered, one line a call:
 * {"op":…,"args":{…},"answer":…}. With BACKUP, one of them also makes a backup half-way. What each
 * thread does is fixed; how they mix is not.
 */
#include "loci.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ACK_FD 100
#define THREADS 8
#define LINE_BYTES 8192

typedef struct worker {
    loci_engine *engine;
    int number;
    int count;
    const char *backup;
} worker;

static void acknowledge(const char *op, const char *args, const loci_answer *answer)
{
    char line[LINE_BYTES];
    int bytes = snprintf(line, sizeof line, "{\"op\":\"%s\",\"args\":%s,\"answer\":%s}\n", op, args,
                         loci_answer_json(answer).ptr);

    if (bytes >= (int)sizeof line || write(ACK_FD, line, (size_t)bytes) != bytes)
        abort();
}

static void call(const worker *w, const char *op, const char *args)
{
    loci_answer *answer = NULL;
    loci_error err;

    if (loci_call(w->engine, op, loci_str_of(args), NULL, &answer, &err) != LOCI_OK) {
        fprintf(stderr, "%s %s: %s\n", op, args, err.message);
        exit(1);
    }
    acknowledge(op, args, answer);
    loci_answer_free(answer);
}

/* Three facts at once: all or none of them may be there. */
static void call_many(const worker *w, int n)
{
    char args[3][256];
    char all[3 * 256 + 16];
    loci_request requests[3];
    loci_answer *answer = NULL;
    loci_error err;

    for (int i = 0; i < 3; i++) {
        snprintf(args[i], sizeof args[i],
                 "{\"user_id\":\"u%d\",\"key\":\"many%d\",\"value\":[%d,%d,%d]}", w->number % 3, i,
                 w->number, n, i);
        requests[i] = (loci_request){"fact.write", loci_str_of(args[i]), LOCI_AT_CLOCK};
    }
    if (loci_call_many(w->engine, requests, 3, NULL, &answer, &err) != LOCI_OK) {
        fprintf(stderr, "loci_call_many: %s\n", err.message);
        exit(1);
    }
    snprintf(all, sizeof all, "[%s,%s,%s]", args[0], args[1], args[2]);
    acknowledge("many", all, answer);
    loci_answer_free(answer);
}

static void *work(void *ctx)
{
    const worker *w = ctx;
    char args[1024];
    char request[64];

    for (int n = 1; n <= w->count; n++) {
        int kind = (w->number * 7 + n) % 10;

        if (kind == 0) {
            call_many(w, n);
            continue;
        }
        if (kind == 1) {
            snprintf(args, sizeof args, "{\"name\":\"job.keep_hours\",\"value\":%d}", 1 + n);
            call(w, "config.set", args);
            continue;
        }
        request[0] = '\0';
        if (kind == 2)
            snprintf(request, sizeof request, ",\"request_id\":\"r%d-%d\"", w->number, n);
        snprintf(args, sizeof args,
                 "{\"user_id\":\"u%d\",\"key\":\"k%d\",\"value\":{\"n\":%d,\"thread\":%d}%s}",
                 w->number % 3, n % 7, n, w->number, request);
        call(w, "fact.write", args);
        if (w->backup != NULL && n == w->count / 2) {
            snprintf(args, sizeof args, "{\"path\":\"%s\"}", w->backup);
            call(w, "store.backup", args);
        }
    }
    return NULL;
}

int main(int argc, char **argv)
{
    loci_open_options options = LOCI_OPEN_OPTIONS_INIT;
    worker workers[THREADS];
    pthread_t threads[THREADS];
    loci_engine *engine = NULL;
    loci_error err;

    if (argc < 3)
        return 2;
    options.store = argv[1];
    if (loci_open(&options, &engine, &err) != LOCI_OK) {
        fprintf(stderr, "%s\n", err.message);
        return 1;
    }
    for (int i = 0; i < THREADS; i++) {
        workers[i] = (worker){.engine = engine,
                              .number = i,
                              .count = (int)strtol(argv[2], NULL, 10),
                              .backup = argc > 3 && i == 0 ? argv[3] : NULL};
        if (pthread_create(&threads[i], NULL, work, &workers[i]) != 0)
            return 1;
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    loci_close(engine);
    return 0;
}
