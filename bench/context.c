/* context.c - context.build of a user with 10,000 valid facts, alone, with 10,000 messages, with
 * 10,000 memories as well, and with something in every other room; without and with 100,000
 * superseded facts.
 *
 * P5 of the quality page: p50 at most 3 ms beside the embedding, and flat in the superseded facts.
 * A context embeds its query, and after a write the new fact too. The time of that is measured by
 * itself and subtracted: figures with "beside" in their name are without it, ratios too. Vectors of
 * all texts are pseudo-random (lib/fill.h). Two stores differ in nothing but the history
 * behind the same facts; they take turns, call by call. CPU is the median of the calls, and each
 * figure the median of the rounds. Warm: nothing has changed since the last context. Write: one
 * fact was written in between. Cold: the first context of an engine that has loaded the tokenizer.
 * BENCH_ROUNDS sets the number of rounds. The files are made in $TMPDIR or /tmp: it should be a
 * real disk.
 */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/fill.h"

#define VALID 10000
#define VERSIONS 10 /* Of each fact before, in the store that has a history. */
#define BATCH 100
#define BUDGET "2000"
#define WARM_CALLS 200
#define WRITE_CALLS 40
#define ROUNDS 5
#define ADDED 10000 /* Messages, and memories. */
/* What the other rooms have. */
#define RULES 20
#define PINNED 20
#define TODOS 200
#define RESOURCES 500
#define LOADED 50
#define HANDLES 100
#define ITEMS 50 /* Of the working set and of the environment. */
#define P50_MAX_MS 3.0
#define FLAT_MAX 1.2

typedef struct figures {               /* Of one round. */
    double embed_p50_ms, embed_cpu_ms; /* Of a query. */
    double fact_embed_p50_ms, fact_embed_cpu_ms;
    double warm_p50_ms, warm_p99_ms, warm_cpu_ms;
    double write_p50_ms, write_p99_ms, write_cpu_ms;
    double cold_ms, cold_cpu_ms;
} figures;

typedef struct store {
    char path[300];
    int versions;
    char frame_id[64]; /* "" = there is none. */
    loci_engine *engine;
    figures rounds[BENCH_ROUNDS_MAX];
} store;

/* ---- The facts ------------------------------------------------------------------------------- */

static void put_fact(char *out, size_t bytes, int key, int version)
{
    unsigned n = (unsigned)key * 7919u + (unsigned)version * 104729u;

    snprintf(out, bytes,
             "{\"key\":\"%s_%05d\",\"value\":\"The %s of the %s is in the %s, number %u; ask about"
             " the %s\"}",
             fill_word((unsigned)key), key, fill_word(n / 3), fill_word(n / 5), fill_word(n / 7),
             n % 1000, fill_word(n / 11));
}

static void write_batch(loci_engine *engine, int first, int version)
{
    static char args[BATCH][300];
    loci_request requests[BATCH];
    loci_answer *answer = NULL;
    loci_error err;

    for (int i = 0; i < BATCH; i++) {
        put_fact(args[i], sizeof args[i], first + i, version);
        requests[i] = (loci_request){"fact.write", loci_str_of(args[i]), LOCI_AT_CLOCK};
    }
    if (loci_call_many(engine, requests, BATCH, NULL, &answer, &err) != LOCI_OK)
        bench_die(err.message);
    loci_answer_free(answer);
}

/* The last version is the same in both stores. */
static void make_store(store *s)
{
    s->engine = fill_open(s->path, LOCI_OPEN_INLINE);
    for (int version = s->versions; version >= 0; version--)
        for (int first = 0; first < VALID; first += BATCH)
            write_batch(s->engine, first, version);
    (void)fill_vectors(s->engine, "default");
    loci_close(s->engine);
}

typedef void add_texts(loci_engine *engine, const char *user, int first, int last);

static void add(store *s, add_texts *texts)
{
    s->engine = fill_open(s->path, LOCI_OPEN_INLINE);
    texts(s->engine, "default", 0, ADDED);
    (void)fill_vectors(s->engine, "default");
    loci_close(s->engine);
}

/* Calls whose arguments are `before`, a word, `between`, a number, `behind`. */
typedef struct content {
    const char *operation, *before, *between, *behind;
    int count;
} content;

static void call_numbered(loci_engine *engine, const content *what)
{
    char args[400];

    for (int i = 0; i < what->count; i++) {
        snprintf(args, sizeof args, "%s%s%s%d%s", what->before, fill_word((unsigned)i),
                 what->between, i, what->behind);
        fill_call(engine, what->operation, args);
    }
}

static void push_frame(store *s)
{
    loci_answer *answer = NULL;
    loci_error err;
    const char *id;

    if (loci_call(s->engine, "frame.push", loci_str_of("{\"goal\":\"Repair the bridge\"}"), NULL,
                  &answer, &err) != LOCI_OK)
        bench_die(err.message);
    id = strstr(loci_answer_json(answer).ptr, "frm_");
    if (id == NULL)
        bench_die("frame.push answered no id");
    snprintf(s->frame_id, sizeof s->frame_id, "%.*s", (int)strcspn(id, "\""), id);
    loci_answer_free(answer);
}

/* Identity, rules, pinned memories, todos, summaries, a frame, a window, the working set and the
 * environment. */
static void add_rooms(store *s)
{
    static const content contents[] = {
        {"fact.write", "{\"key\":\"rule_", "_",
         "\",\"value\":\"never sell it\",\"is_constraint\":true}", RULES},
        {"memory.store", "{\"text\":\"Ann likes the ", ", number ", "\",\"pinned\":true}", PINNED},
        {"todo.add", "{\"text\":\"Paint the ", ", number ", "\"}", TODOS},
        {"resource.discover", "{\"text\":\"Notes on the ", ", part ", "\"}", RESOURCES},
        {"resource.discover", "{\"text\":\"The plan, in ten steps\",\"name\":\"plan-", "-", "\"}",
         LOADED},
        {"resource.page_in", "{\"id\":\"text:plan-", "-", "\"}", LOADED},
        {"working.set", "{\"key\":\"", "_", "\",\"value\":\"draft\"}", ITEMS},
        {"environment.set", "{\"key\":\"", "_", "\",\"value\":\"open\"}", ITEMS},
    };
    char handle[300];

    s->engine = fill_open(s->path, LOCI_OPEN_INLINE);
    fill_call(s->engine, "session.close", "{}");
    fill_call(s->engine, "identity.set", "{\"user_name\":\"Ann\",\"authority\":\"manager\"}");
    fill_call(s->engine, "window.open", "{\"context_max\":200000}");
    for (size_t i = 0; i < sizeof contents / sizeof *contents; i++)
        call_numbered(s->engine, &contents[i]);
    push_frame(s);
    for (int i = 0; i < HANDLES; i++) {
        snprintf(handle, sizeof handle,
                 "{\"frame_id\":\"%s\",\"text\":\"Finding %d about the %s: it needs paint\"}",
                 s->frame_id, i, fill_word((unsigned)i));
        fill_call(s->engine, "frame.handle_add", handle);
    }
    (void)fill_vectors(s->engine, "default");
    loci_close(s->engine);
}

/* The arguments of model.embed for the text that is embedded for the fact. */
static void put_fact_text(char *out, size_t bytes, int key, int version)
{
    char fact[300];

    put_fact(fact, sizeof fact, key, version);
    snprintf(out, bytes, "{\"texts\":[\"%s %05d: %.*s\"],\"encoding\":\"base64\"}",
             fill_word((unsigned)key), key, (int)strcspn(strstr(fact, "The "), "\""),
             strstr(fact, "The "));
}

/* ---- Measuring ------------------------------------------------------------------------------- */

/* Times of calls of one kind. */
typedef struct sample {
    double times_ms[WARM_CALLS], cpus_ms[WARM_CALLS];
} sample;

static void measure(const store *s, const char *operation, const char *args, sample *out, int nth)
{
    double start_cpu_us = bench_cpu_us(), start_s = bench_now_s();

    fill_call(s->engine, operation, args);
    out->times_ms[nth] = 1e3 * (bench_now_s() - start_s);
    out->cpus_ms[nth] = (bench_cpu_us() - start_cpu_us) / 1e3;
}

static void put_query(char *out, size_t bytes, int nth, const char *before, const char *behind)
{
    snprintf(out, bytes, "{%s\"Where is the %s of the %s, and the %s?\"%s}", before,
             fill_word((unsigned)nth), fill_word((unsigned)nth / 3), fill_word((unsigned)nth / 5),
             behind);
}

static void build(const store *s, int nth, sample *out)
{
    char args[300], frame[100] = "";

    if (s->frame_id[0] != '\0')
        snprintf(frame, sizeof frame, ",\"budget\":" BUDGET ",\"frame_id\":\"%s\"", s->frame_id);
    put_query(args, sizeof args, nth,
              "\"query\":", frame[0] != '\0' ? frame : ",\"budget\":" BUDGET);
    measure(s, "context.build", args, out, nth);
}

static void embed(const store *s, int nth, sample *out)
{
    char args[200];

    put_query(args, sizeof args, nth, "\"texts\":[", "],\"encoding\":\"base64\"");
    measure(s, "model.embed", args, out, nth);
}

static void run_cold(store *s, figures *out)
{
    sample took;

    s->engine = fill_open(s->path, LOCI_OPEN_INLINE);
    fill_call(s->engine, "text.count", "{\"text\":\"Load the tokenizer.\"}");
    fill_call(s->engine, "fact.current", "{\"key\":\"harbor_00000\"}");
    build(s, 0, &took);
    out->cold_ms = took.times_ms[0];
    out->cold_cpu_ms = took.cpus_ms[0];
}

/* The stores take turns, call by call: whatever else the machine does hits both. */
static void run_round(store *stores, int round)
{
    static sample warm[2], written[2], embedded[2], embedded_facts[2];

    for (int s = 0; s < 2; s++)
        run_cold(&stores[s], &stores[s].rounds[round]);
    for (int i = 0; i < 2 * WARM_CALLS; i++) {
        build(&stores[i % 2], i / 2, &warm[i % 2]);
        embed(&stores[i % 2], i / 2, &embedded[i % 2]);
    }
    for (int i = 0; i < 2 * WRITE_CALLS; i++) {
        int key = i / 2 * (VALID / WRITE_CALLS);
        char args[400];

        put_fact(args, sizeof args, key, 1000 + round);
        fill_call(stores[i % 2].engine, "fact.write", args);
        build(&stores[i % 2], i / 2, &written[i % 2]);
        put_fact_text(args, sizeof args, key, 1000 + round);
        measure(&stores[i % 2], "model.embed", args, &embedded_facts[i % 2], i / 2);
    }
    for (int s = 0; s < 2; s++) {
        figures *out = &stores[s].rounds[round];

        out->embed_p50_ms = bench_permille(embedded[s].times_ms, WARM_CALLS, 500);
        out->embed_cpu_ms = bench_permille(embedded[s].cpus_ms, WARM_CALLS, 500);
        out->fact_embed_p50_ms = bench_permille(embedded_facts[s].times_ms, WRITE_CALLS, 500);
        out->fact_embed_cpu_ms = bench_permille(embedded_facts[s].cpus_ms, WRITE_CALLS, 500);
        out->warm_p50_ms = bench_permille(warm[s].times_ms, WARM_CALLS, 500);
        out->warm_p99_ms = bench_permille(warm[s].times_ms, WARM_CALLS, 990);
        out->warm_cpu_ms = bench_permille(warm[s].cpus_ms, WARM_CALLS, 500);
        out->write_p50_ms = bench_permille(written[s].times_ms, WRITE_CALLS, 500);
        out->write_p99_ms = bench_permille(written[s].times_ms, WRITE_CALLS, 990);
        out->write_cpu_ms = bench_permille(written[s].cpus_ms, WRITE_CALLS, 500);
        loci_close(stores[s].engine);
    }
}

/* ---- Report ---------------------------------------------------------------------------------- */

static figures medians(const store *s, int count)
{
    bench_series series = {s->rounds, sizeof s->rounds[0], count};

    return (figures){
        .embed_p50_ms = bench_median(series, offsetof(figures, embed_p50_ms)),
        .embed_cpu_ms = bench_median(series, offsetof(figures, embed_cpu_ms)),
        .fact_embed_p50_ms = bench_median(series, offsetof(figures, fact_embed_p50_ms)),
        .fact_embed_cpu_ms = bench_median(series, offsetof(figures, fact_embed_cpu_ms)),
        .warm_p50_ms = bench_median(series, offsetof(figures, warm_p50_ms)),
        .warm_p99_ms = bench_median(series, offsetof(figures, warm_p99_ms)),
        .warm_cpu_ms = bench_median(series, offsetof(figures, warm_cpu_ms)),
        .write_p50_ms = bench_median(series, offsetof(figures, write_p50_ms)),
        .write_p99_ms = bench_median(series, offsetof(figures, write_p99_ms)),
        .write_cpu_ms = bench_median(series, offsetof(figures, write_cpu_ms)),
        .cold_ms = bench_median(series, offsetof(figures, cold_ms)),
        .cold_cpu_ms = bench_median(series, offsetof(figures, cold_cpu_ms)),
    };
}

static void report(const char *name, const store *s, const figures *f)
{
    double warm_ms = f->warm_p50_ms - f->embed_p50_ms;
    double write_ms = f->write_p50_ms - f->embed_p50_ms - f->fact_embed_p50_ms;

    printf("{\"bench\":\"context\",\"case\":\"%s\",\"valid\":%d,\"superseded\":%d,"
           "\"embed_p50_ms\":%.3f,\"fact_embed_p50_ms\":%.3f,"
           "\"beside_p50_ms\":%.3f,\"beside_cpu_ms\":%.3f,\"write_beside_p50_ms\":%.3f,"
           "\"warm_p50_ms\":%.3f,\"warm_p99_ms\":%.3f,\"warm_cpu_ms\":%.3f,"
           "\"write_p50_ms\":%.3f,\"write_p99_ms\":%.3f,\"write_cpu_ms\":%.3f,"
           "\"cold_ms\":%.1f,\"cold_cpu_ms\":%.1f,\"goal_p50_ms\":%.1f,\"ok\":%s}\n",
           name, VALID, s->versions * VALID, f->embed_p50_ms, f->fact_embed_p50_ms, warm_ms,
           f->warm_cpu_ms - f->embed_cpu_ms, write_ms, f->warm_p50_ms, f->warm_p99_ms,
           f->warm_cpu_ms, f->write_p50_ms, f->write_p99_ms, f->write_cpu_ms, f->cold_ms,
           f->cold_cpu_ms, P50_MAX_MS,
           warm_ms <= P50_MAX_MS && write_ms <= P50_MAX_MS ? "true" : "false");
}

static void report_flat(const char *name, const figures *none, const figures *many)
{
    double warm = (many->warm_cpu_ms - many->embed_cpu_ms) /
                  (none->warm_cpu_ms - none->embed_cpu_ms);
    double written = (many->write_cpu_ms - many->embed_cpu_ms - many->fact_embed_cpu_ms) /
                     (none->write_cpu_ms - none->embed_cpu_ms - none->fact_embed_cpu_ms);

    printf("{\"bench\":\"context\",\"case\":\"%s, flat\",\"warm_ratio\":%.3f,"
           "\"write_ratio\":%.3f,\"cold_ratio\":%.3f,\"goal\":%.1f,\"ok\":%s}\n",
           name, warm, written, many->cold_cpu_ms / none->cold_cpu_ms, FLAT_MAX,
           warm <= FLAT_MAX && written <= FLAT_MAX ? "true" : "false");
}

static void run_case(const char *name, store *stores, int count)
{
    figures results[2];

    for (int round = 0; round < count; round++)
        run_round(stores, round);
    for (int i = 0; i < 2; i++) {
        results[i] = medians(&stores[i], count);
        report(name, &stores[i], &results[i]);
    }
    report_flat(name, &results[0], &results[1]);
    (void)fflush(stdout);
}

int main(void)
{
    static store stores[2] = {{.versions = 0}, {.versions = VERSIONS}};
    const char *tmp = getenv("TMPDIR");
    int count = bench_rounds(ROUNDS);
    char dir[256];

    snprintf(dir, sizeof dir, "%s/loci-bench-XXXXXX", tmp != NULL ? tmp : "/tmp");
    if (mkdtemp(dir) == NULL)
        bench_die("no directory");
    for (int i = 0; i < 2; i++) {
        snprintf(stores[i].path, sizeof stores[i].path, "%s/%d.db", dir, i);
        make_store(&stores[i]);
    }
    run_case("facts", stores, count);
    for (int i = 0; i < 2; i++)
        add(&stores[i], fill_messages);
    run_case("facts and messages", stores, count);
    for (int i = 0; i < 2; i++)
        add(&stores[i], fill_memories);
    run_case("facts, messages and memories", stores, count);
    for (int i = 0; i < 2; i++)
        add_rooms(&stores[i]);
    run_case("all rooms", stores, count);
    fprintf(stderr,
            "context: medians of %d rounds; goal: p50 of 3 ms beside the embedding; ratios are of "
            "CPU, with / without superseded facts, goal 1.2\n",
            count);
    for (int i = 0; i < 2; i++)
        (void)unlink(stores[i].path);
    (void)rmdir(dir); /* The WAL files were removed with the last connections. */
    return 0;
}
