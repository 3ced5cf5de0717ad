#include "lib/fill.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "engine/engine.h"
#include "engine/rooms.h"
#include "lib/vector_data.h"
#include "store/vector.h"

#define BATCH 100
#define IN_FLIGHT_MAX 512
#define PAGE_TEXTS 500

loci_engine *fill_open(const char *path, uint32_t flags)
{
    loci_open_options options = LOCI_OPEN_OPTIONS_INIT;
    loci_engine *engine = NULL;
    loci_error err;

    options.store = path;
    options.flags = flags;
    if (loci_open(&options, &engine, &err) != LOCI_OK)
        bench_die(err.message);
    return engine;
}

void fill_call(loci_engine *engine, const char *operation, const char *args)
{
    loci_answer *answer = NULL;
    loci_error err;

    if (loci_call(engine, operation, loci_str_of(args), NULL, &answer, &err) != LOCI_OK)
        bench_die(err.message);
    loci_answer_free(answer);
}

const char *fill_word(unsigned nth)
{
    static const char *const words[] = {
        "harbor",  "garden",   "engine",  "ladder",    "mirror",   "pocket", "window", "bridge",
        "meeting", "contract", "invoice", "architect", "deadline", "budget", "office", "travel"};

    return words[nth % (sizeof words / sizeof *words)];
}

static void put_fact(char *out, const char *user, int number)
{
    unsigned n = (unsigned)number * 7919u;

    snprintf(out, FILL_ARGS_BYTES,
             "{\"user_id\":\"%s\",\"key\":\"" FILL_KEY_FORMAT "\",\"value\":\"The %s of the %s is"
             " in the %s, number %u; ask about the %s\"}",
             user, fill_word((unsigned)number), number, fill_word(n / 3), fill_word(n / 5),
             fill_word(n / 7), n % 1000, fill_word(n / 11));
}

static void put_version(char *out, const char *user, int number)
{
    int key = number % FILL_VERSION_KEYS;

    snprintf(out, FILL_ARGS_BYTES,
             "{\"user_id\":\"%s\",\"key\":\"" FILL_KEY_FORMAT "\",\"value\":%d%s}", user,
             fill_word((unsigned)key), key, number,
             number / FILL_VERSION_KEYS % 2 == 1 ? ",\"persona_id\":\"crowd\"" : "");
}

static void put_message(char *out, const char *user, int number)
{
    unsigned n = (unsigned)number;

    snprintf(out, FILL_ARGS_BYTES,
             "{\"user_id\":\"%s\",\"role\":\"%s\",\"text\":\"By the way, the %s of the %s is next"
             " to the %s, number %u.\"}",
             user, n % 2 == 0 ? "user" : "assistant", fill_word(n / 3), fill_word(n / 5),
             fill_word(n * 7), n);
}

typedef struct content {
    const char *operation;
    void (*put)(char *out, const char *user, int number);
} content;

static void fill_many(loci_engine *engine, content of, const char *user, int first, int last)
{
    static char args[BATCH][FILL_ARGS_BYTES];
    loci_request requests[BATCH];

    while (first < last) {
        size_t count = 0;
        loci_answer *answer = NULL;
        loci_error err;

        for (; count < BATCH && first < last; count++, first++) {
            of.put(args[count], user, first);
            requests[count] = (loci_request){of.operation, loci_str_of(args[count]), LOCI_AT_CLOCK};
        }
        if (loci_call_many(engine, requests, count, NULL, &answer, &err) != LOCI_OK)
            bench_die(err.message);
        loci_answer_free(answer);
    }
}

void fill_facts(loci_engine *engine, const char *user, int first, int last)
{
    fill_many(engine, (content){"fact.write", put_fact}, user, first, last);
}

void fill_versions(loci_engine *engine, const char *user, int first, int last)
{
    fill_many(engine, (content){"fact.write", put_version}, user, first, last);
}

void fill_messages(loci_engine *engine, const char *user, int first, int last)
{
    fill_many(engine, (content){"session.append", put_message}, user, first, last);
}

/* ---- Memories -------------------------------------------------------------------------------- */

/* Ends `args` with a vector. Its length does not matter, so small integers are precise enough. */
static void add_vector(char args[FILL_ARGS_BYTES], uint32_t number)
{
    static vector_data *data;
    float values[VECTOR_DIMENSION];
    size_t len = strlen(args);

    if (data == NULL) {
        data = calloc(1, sizeof *data);
        vector_data_init(data, true);
    }
    vector_data_make(data, number, values);
    len += (size_t)snprintf(args + len, FILL_ARGS_BYTES - len, ",\"model\":\"bench\",\"vector\":");
    for (uint32_t i = 0; i < VECTOR_DIMENSION; i++)
        len += (size_t)snprintf(args + len, FILL_ARGS_BYTES - len, i == 0 ? "[%d" : ",%d",
                                (int)(values[i] * 1e4F));
    snprintf(args + len, FILL_ARGS_BYTES - len, "]}");
}

static void put_statement(char *out, const char *user, int number)
{
    unsigned n = (unsigned)number * 7919u;

    snprintf(out, FILL_ARGS_BYTES,
             "{\"user_id\":\"%s\",\"text\":\"We saw the %s of the %s at the %s, visit %d; the %s"
             " was near\"}",
             user, fill_word(n / 3), fill_word(n / 5), fill_word(n / 7), number, fill_word(n / 11));
}

void fill_memory_args(char out[FILL_ARGS_BYTES], const char *user, int number)
{
    put_statement(out, user, number);
    out[strlen(out) - 1] = '\0'; /* The brace. */
    add_vector(out, (uint32_t)number);
}

void fill_recall_args(char out[FILL_ARGS_BYTES], const char *user, unsigned nth)
{
    snprintf(out, FILL_ARGS_BYTES,
             "{\"user_id\":\"%s\",\"query\":\"Where is the %s of the %s, and the %s?\"", user,
             fill_word(nth), fill_word(nth / 3 + 1), fill_word(nth / 5 + 2));
    add_vector(out, VECTOR_QUERY_FIRST + nth);
}

void fill_memories(loci_engine *engine, const char *user, int first, int last)
{
    fill_many(engine, (content){"memory.store", put_statement}, user, first, last);
}

void fill_given_memories(loci_engine *engine, const char *user, int first, int last)
{
    fill_many(engine, (content){"memory.store", fill_memory_args}, user, first, last);
}

/* ---- Users ----------------------------------------------------------------------------------- */

/* Calls that were submitted and not yet answered. */
typedef struct flight {
    pthread_mutex_t lock;
    pthread_cond_t landed;
    int count;
} flight;

static void land(void *ctx, loci_status status, loci_answer *answer, const loci_error *err)
{
    flight *f = ctx;

    if (status != LOCI_OK)
        bench_die(err->message);
    loci_answer_free(answer);
    pthread_mutex_lock(&f->lock);
    f->count--;
    pthread_cond_signal(&f->landed);
    pthread_mutex_unlock(&f->lock);
}

static void wait_below(flight *f, int count)
{
    pthread_mutex_lock(&f->lock);
    while (f->count >= count)
        pthread_cond_wait(&f->landed, &f->lock);
    pthread_mutex_unlock(&f->lock);
}

void fill_users(loci_engine *engine, int first, int last, int facts)
{
    flight f = {.lock = PTHREAD_MUTEX_INITIALIZER, .landed = PTHREAD_COND_INITIALIZER};
    char args[FILL_ARGS_BYTES], user[32];
    loci_error err;

    for (int number = first; number < last; number++) {
        snprintf(user, sizeof user, "user-%d", number);
        if (facts >= BATCH / 2) { /* One transaction per user is faster from here on. */
            fill_facts(engine, user, 0, facts);
            continue;
        }
        for (int i = 0; i < facts; i++) {
            put_fact(args, user, i);
            wait_below(&f, IN_FLIGHT_MAX);
            pthread_mutex_lock(&f.lock);
            f.count++;
            pthread_mutex_unlock(&f.lock);
            if (loci_submit(engine, "fact.write", loci_str_of(args), NULL, land, &f, &err) !=
                LOCI_OK)
                bench_die(err.message);
        }
    }
    wait_below(&f, 1);
}

/* ---- Vectors --------------------------------------------------------------------------------- */

typedef struct filling {
    char generation[128], cursor[1024];
    const lc_recall_source *source;
    const char *user;
    vector_data *data;
    lc_vector vectors[PAGE_TEXTS];
    float numbers[PAGE_TEXTS][VECTOR_DIMENSION];
    size_t count;
} filling;

static loci_status take_text(void *ctx, loci_str text, loci_str cursor, loci_error *err)
{
    filling *f = ctx;
    lc_vector *vector = &f->vectors[f->count];

    (void)err;
    *vector = (lc_vector){.content = lc_vector_content(text), .numbers = f->numbers[f->count]};
    vector_data_make(f->data, (uint32_t)vector->content.low & (VECTOR_QUERY_FIRST - 1),
                     f->numbers[f->count]);
    snprintf(f->cursor, sizeof f->cursor, "%.*s", (int)cursor.len, cursor.ptr);
    f->count++;
    return LOCI_OK;
}

static loci_status put_page(lc_tx *tx, void *ctx, loci_error *err)
{
    filling *f = ctx;
    lc_recall_page page = {LC_STR("default"), loci_str_of(f->user), loci_str_of(f->cursor),
                           PAGE_TEXTS};
    lc_vector_set set = {page.tenant_id, page.user_id, loci_str_of(f->generation),
                         VECTOR_DIMENSION};
    loci_status status;

    f->count = 0;
    status = lc_recall_each_text(tx, f->source, &page, take_text, f, err);
    return status == LOCI_OK ? lc_vector_put(tx, &set, f->vectors, f->count, err) : status;
}

/* False if vectors are not made by the built-in encoder. */
static bool find_generation(loci_engine *engine, char out[128])
{
    static const char name[] = "\"generation\":\"";
    loci_answer *answer = NULL;
    loci_error err;
    char status[8192];
    const char *at;

    if (loci_call(engine, "model.status", loci_str_of("{}"), NULL, &answer, &err) != LOCI_OK)
        bench_die(err.message);
    snprintf(status, sizeof status, "%.*s", (int)loci_answer_json(answer).len,
             loci_answer_json(answer).ptr);
    loci_answer_free(answer);
    at = strstr(status, name);
    if (at == NULL || strstr(status, "\"embedder\":\"builtin\"") == NULL)
        return false;
    if (strstr(status, "\"dimensions\":512,") == NULL)
        bench_die("the encoder has other than 512 dimensions");
    at += sizeof name - 1;
    snprintf(out, 128, "%.*s", (int)strcspn(at, "\""), at);
    return true;
}

int fill_vectors(loci_engine *engine, const char *user)
{
    filling *f = calloc(1, sizeof *f);
    int total = 0;

    f->user = user;
    f->data = calloc(1, sizeof *f->data);
    vector_data_init(f->data, true);
    if (find_generation(engine, f->generation)) {
        for (size_t i = 0; (f->source = lc_engine_texts_at(i)) != NULL; i++) {
            f->cursor[0] = '\0';
            do {
                lc_write write = {.tenant_id = LC_STR("default"),
                                  .user_id = loci_str_of(user),
                                  .deadline_us = INT64_MAX,
                                  .body = put_page,
                                  .ctx = f};

                if (lc_engine_write(engine, &write) != LOCI_OK)
                    bench_die(write.error.message);
                total += (int)f->count;
            } while (f->count == PAGE_TEXTS);
        }
    }
    free(f->data);
    free(f);
    return total;
}
