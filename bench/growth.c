/* growth.c - how the time of a call grows with the facts of a user, the messages of a user and the
 * number of users: 10, 100, 1,000, 10,000 and 100,000 of them, while the others stay at 10; and
 * with the versions of a user's facts, up to 1,000,000 of them, of a thousand keys.
 *
 * One line per operation, with the p50 of its calls in milliseconds at each point:
 *   warm     the user was asked before, and nothing has changed
 *   cold     the first call of a fresh engine (which has loaded the tokenizer)
 *   persona  warm, on behalf of one of three personas in turn
 *   early, middle, late  as of the time when a thousandth, a half or all but a thousandth of the
 *            versions were written
 * "late" counts calls that missed their deadline (the setting call.timeout_ms); "unfinished"
 * counts answers that say that an index was not complete. To reach: warm calls flat or logarithmic,
 * cold ones linear, none late. The time of embedding a query is part of searches and contexts; the
 * line model.embed shows it alone. Vectors are pseudo-random (lib/fill.h).
 *
 * growth [facts|messages|users|versions]...: only these. BENCH_SMALL ends at 1,000. The files are
 * made in $TMPDIR or /tmp: it should be a real disk.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/fill.h"
#include "ops/op.h"

#define POINTS 6 /* The last one is for versions only. */
#define BASE 10
#define CALLS_MAX 60
#define CALLS_SLOW 10 /* Of calls that take longer than a tenth of a second. */
#define COLD_CALLS 3

typedef enum state { WARM, COLD, PERSONA } state;

typedef enum input { KEY, PAGE, QUERY, TEXTS, EARLY, MIDDLE, LATE } input;

typedef struct operation {
    const char *label, *name;
    input input;
    state state;
} operation;

static const operation operations[] = {
    {"fact.current", "fact.current", KEY, WARM},
    {"fact.list, first page", "fact.list", PAGE, WARM},
    {"fact.list, early", "fact.list", EARLY, WARM},
    {"fact.list, middle", "fact.list", MIDDLE, WARM},
    {"fact.list, late", "fact.list", LATE, WARM},
    {"fact.history", "fact.history", KEY, WARM},
    {"fact.history, persona", "fact.history", KEY, PERSONA},
    {"session.messages, first page", "session.messages", PAGE, WARM},
    {"session.search, warm", "session.search", QUERY, WARM},
    {"session.search, cold", "session.search", QUERY, COLD},
    {"context.build, warm", "context.build", QUERY, WARM},
    {"context.build, cold", "context.build", QUERY, COLD},
    {"context.build, persona", "context.build", QUERY, PERSONA},
    {"model.embed", "model.embed", TEXTS, WARM},
};

#define OPERATIONS (sizeof operations / sizeof *operations)

typedef struct curve {
    double p50_ms[POINTS];
    int late, unfinished;
    bool is_missing; /* This version does not have the operation. */
} curve;

static int points = POINTS - 1;
static char times[LATE + 1][40]; /* Of the inputs that are a time. */
static char path[300];

/* ---- Measuring ------------------------------------------------------------------------------- */

static void put_args(const operation *o, int nth, int facts, char *out, size_t bytes)
{
    static const char *const personas[] = {"cook", "coach", "clerk"};
    unsigned n = (unsigned)nth;
    int key = (int)(n * 7919u % (unsigned)facts);
    char persona[40] = "", query[100];

    if (o->state == PERSONA)
        snprintf(persona, sizeof persona, ",\"persona_id\":\"%s\"", personas[n % 3]);
    snprintf(query, sizeof query, "Where is the %s of the %s, and the %s?", fill_word(n),
             fill_word(n / 3 + 1), fill_word(n / 5 + 2));
    if (o->input == KEY)
        snprintf(out, bytes, "{\"user_id\":\"grown\",\"key\":\"" FILL_KEY_FORMAT "\"%s}",
                 fill_word((unsigned)key), key, persona);
    else if (o->input >= EARLY)
        snprintf(out, bytes, "{\"user_id\":\"grown\",\"limit\":10,\"as_of\":\"%s\"}",
                 times[o->input]);
    else if (o->input == PAGE)
        snprintf(out, bytes, "{\"user_id\":\"grown\",\"limit\":50}");
    else if (o->input == QUERY)
        snprintf(out, bytes, "{\"user_id\":\"grown\",\"query\":\"%s\"%s%s}", query, persona,
                 strcmp(o->name, "context.build") == 0 ? ",\"budget\":2000" : "");
    else
        snprintf(out, bytes, "{\"encoding\":\"base64\",\"texts\":[\"%s\"]}", query);
}

/* Milliseconds of one call. */
static double measure(loci_engine *engine, const operation *o, int nth, int facts, curve *c)
{
    char args[400];
    loci_answer *answer = NULL;
    loci_error err;
    loci_status status;
    double began_s, took_ms;

    put_args(o, nth, facts, args, sizeof args);
    began_s = bench_now_s();
    status = loci_call(engine, o->name, loci_str_of(args), NULL, &answer, &err);
    took_ms = 1e3 * (bench_now_s() - began_s);
    if (status == LOCI_EDEADLINE)
        c->late++;
    else if (status != LOCI_OK)
        bench_die(err.message);
    else if (memmem(loci_answer_json(answer).ptr, loci_answer_json(answer).len,
                    "\"complete\":false", 16) != NULL)
        c->unfinished++;
    loci_answer_free(answer);
    return took_ms;
}

/* The time of the event that wrote one of the `count` rows. */
static void read_time(loci_engine *engine, int nth, char out[40])
{
    char args[100];
    loci_answer *answer = NULL;
    loci_error err;
    const char *at;

    snprintf(args, sizeof args, "{\"user_id\":\"grown\",\"after_seq\":%d,\"limit\":1}", nth);
    if (loci_call(engine, "event.list", loci_str_of(args), NULL, &answer, &err) != LOCI_OK)
        bench_die(err.message);
    at = strstr(loci_answer_json(answer).ptr, "\"recorded_at\":\"");
    if (at == NULL || sscanf(at, "\"recorded_at\":\"%39[^\"]", out) != 1)
        bench_die("event.list has no time");
    loci_answer_free(answer);
}

static void measure_cold(const operation *o, int facts, int point, curve *c)
{
    double took_ms[COLD_CALLS];

    for (int i = 0; i < COLD_CALLS; i++) {
        loci_engine *engine = fill_open(path, LOCI_OPEN_INLINE);

        fill_call(engine, "text.count", "{\"text\":\"Load the tokenizer.\"}");
        took_ms[i] = measure(engine, o, i, facts, c);
        loci_close(engine);
    }
    c->p50_ms[point] = bench_permille(took_ms, COLD_CALLS, 500);
}

static void measure_point(loci_engine *engine, int facts, int point, curve *curves)
{
    for (size_t i = 0; i < OPERATIONS; i++) {
        const operation *o = &operations[i];
        double took_ms[CALLS_MAX];
        int count = 0, wanted = CALLS_MAX;

        if (curves[i].is_missing)
            continue;
        if (o->state == COLD) {
            measure_cold(o, facts, point, &curves[i]);
            continue;
        }
        for (int warm_up = 0; warm_up < 3; warm_up++)
            if (measure(engine, o, warm_up, facts, &curves[i]) > 100)
                wanted = CALLS_SLOW;
        while (count < wanted) {
            took_ms[count] = measure(engine, o, count, facts, &curves[i]);
            count++;
        }
        curves[i].p50_ms[point] = bench_permille(took_ms, count, 500);
    }
}

/* ---- Growing --------------------------------------------------------------------------------- */

static void remove_store(void)
{
    static const char *const suffixes[] = {"", "-wal", "-shm"};
    char file[320];

    for (size_t i = 0; i < 3; i++) {
        snprintf(file, sizeof file, "%s%s", path, suffixes[i]);
        (void)unlink(file);
    }
}

static void report(const char *grows, const operation *o, const curve *c, int count)
{
    static const char *const names[POINTS] = {"10",     "100",     "1,000",
                                              "10,000", "100,000", "1,000,000"};

    printf("{\"bench\":\"growth\",\"case\":\"%s: %s\"", grows, o->label);
    for (int i = 0; i < count; i++)
        printf(",\"%s\":%.3f", names[i], c->p50_ms[i]);
    printf(",\"late\":%d,\"unfinished\":%d}\n", c->late, c->unfinished);
}

static void run(const char *grows)
{
    bool is_facts = strcmp(grows, "facts") == 0, is_messages = strcmp(grows, "messages") == 0,
         is_versions = strcmp(grows, "versions") == 0;
    int run_points = is_versions && points == POINTS - 1 ? POINTS : points;
    curve curves[OPERATIONS] = {0};
    int before = 0, count = BASE;
    loci_engine *engine = fill_open(path, 0);

    fill_facts(engine, "grown", 0, BASE);
    fill_messages(engine, "grown", 0, BASE);
    for (size_t i = 0; i < OPERATIONS; i++)
        curves[i].is_missing = lc_op_find(loci_str_of(operations[i].name)) == NULL;
    for (int point = 0; point < run_points; point++, before = count, count *= 10) {
        double began_s = bench_now_s();
        int vectors, facts = is_facts || is_versions ? count : BASE;

        if (is_facts)
            fill_facts(engine, "grown", before, count);
        else if (is_versions)
            fill_versions(engine, "grown", before, count);
        else if (is_messages)
            fill_messages(engine, "grown", before, count);
        else
            fill_users(engine, before, count, 1);
        vectors = fill_vectors(engine, "grown");
        fprintf(stderr, "growth: %d %s, %d vectors, filled in %.1f s\n", count, grows, vectors,
                bench_now_s() - began_s);
        loci_close(engine);
        engine = fill_open(path, LOCI_OPEN_INLINE);
        read_time(engine, facts / 1000, times[EARLY]);
        read_time(engine, facts / 2, times[MIDDLE]);
        read_time(engine, facts - 1 - facts / 1000, times[LATE]);
        measure_point(engine, is_versions && facts > FILL_VERSION_KEYS ? FILL_VERSION_KEYS : facts,
                      point, curves);
        loci_close(engine);
        engine = fill_open(path, 0);
    }
    loci_close(engine);
    remove_store();
    for (size_t i = 0; i < OPERATIONS; i++)
        if (!curves[i].is_missing)
            report(grows, &operations[i], &curves[i], run_points);
    (void)fflush(stdout);
}

int main(int argc, char **argv)
{
    static const char *const all[] = {"facts", "messages", "users", "versions"};
    const char *tmp = getenv("TMPDIR");
    char dir[256];

    snprintf(dir, sizeof dir, "%s/loci-bench-XXXXXX", tmp != NULL ? tmp : "/tmp");
    if (mkdtemp(dir) == NULL)
        bench_die("no directory");
    snprintf(path, sizeof path, "%s/store.db", dir);
    if (getenv("BENCH_SMALL") != NULL)
        points = 3;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        bool is_chosen = argc == 1;

        for (int a = 1; a < argc; a++)
            is_chosen |= strcmp(argv[a], all[i]) == 0;
        if (is_chosen)
            run(all[i]);
    }
    (void)rmdir(dir);
    return 0;
}
