/* json.c - how fast documents are read and written, beside jansson and cJSON.
 *
 * One document of about 1 MB that looks like a batch of agent events: nested objects, escapes, text
 * beyond ASCII, integers, scores. "parse" is reading and freeing. The libraries take turns, round
 * by round, so that a busy machine slows all of them; each figure is the median of the rounds.
 * Prints one JSON line a case and a ratio, then a table for people.
 */
#include "base/json.h"
#include "base/str.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#if HAVE_JANSSON
#include <jansson.h>
#endif
#if HAVE_CJSON
#include <cjson/cJSON.h>
#endif

#define EVENTS 1700
#define ROUNDS 31
#define PASSES 4 /* A round's time is that of so many passes. */

static lc_heap heap;
static lc_buf document; /* Terminated, for those who need it. */

static void die(const char *what)
{
    fprintf(stderr, "json: %s\n", what);
    exit(1);
}

/* ---- The document -----------------------------------------------------------------------------
 */

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static void write_message(lc_json_writer *w, uint64_t *state)
{
    static const char *const texts[] = {
        "The deploy to staging failed: \"exit status 1\", see the log at /var/log/deploy.log",
        "Nutzer möchte den Termin auf Donnerstag verschieben – geht das?",
        "line one\nline two\n\tindented, with a tab and a backslash \\ in it",
        "Done. I moved the meeting, told both attendees, and noted the new room for next week.",
        "東京の天気を調べてください。 Then book the earlier train.",
    };
    size_t count = sizeof texts / sizeof texts[0];

    lc_jw_object(w);
    lc_jw_member_text(w, "role", next_random(state) % 2 == 0 ? "user" : "assistant");
    lc_jw_member_text(w, "content", texts[next_random(state) % count]);
    lc_jw_member_int(w, "tokens", (int64_t)(next_random(state) % 400));
    lc_jw_end(w);
}

static void write_event(lc_json_writer *w, uint64_t *state, int64_t seq)
{
    char id[40];

    (void)snprintf(id, sizeof id, "evt_01J%016llX", (unsigned long long)next_random(state));
    lc_jw_object(w);
    lc_jw_member_text(w, "id", id);
    lc_jw_member_text(w, "type", "fact.written");
    lc_jw_member_int(w, "seq", seq);
    lc_jw_member_int(w, "at_us", 1763241360000000 + seq * 1000003);
    lc_jw_member_text(w, "user_id", "default");
    lc_jw_name(w, "payload");
    lc_jw_object(w);
    lc_jw_member_text(w, "key", "preference.travel.seat");
    lc_jw_member_text(w, "value", "aisle, near the front");
    lc_jw_member_real(w, "confidence", (double)(next_random(state) % 1000) / 1000);
    lc_jw_member_real(w, "score", (double)(next_random(state) >> 11) / 9007199254740992.0);
    lc_jw_member_bool(w, "pinned", next_random(state) % 4 == 0);
    lc_jw_member_null(w, "superseded_by");
    lc_jw_name(w, "tags");
    lc_jw_array(w);
    lc_jw_text(w, "travel");
    lc_jw_text(w, "preference");
    lc_jw_end(w);
    lc_jw_name(w, "messages");
    lc_jw_array(w);
    write_message(w, state);
    write_message(w, state);
    lc_jw_end(w);
    lc_jw_end(w);
    lc_jw_end(w);
}

static void write_document(void)
{
    uint64_t state = 88172645463325252u;
    lc_json_writer w;

    lc_buf_init(&document, &heap, LOCI_MEM_REQUESTS, LC_JSON_BYTES_MAX);
    lc_jw_init(&w, &document);
    lc_jw_object(&w);
    lc_jw_name(&w, "events");
    lc_jw_array(&w);
    for (int64_t seq = 1; seq <= EVENTS; seq++)
        write_event(&w, &state, seq);
    lc_jw_end(&w);
    lc_jw_end(&w);
    if (lc_buf_terminate(&document) == NULL)
        die("out of memory");
}

/* ---- The cases --------------------------------------------------------------------------------
 */

/* Parses and frees the document, or writes the parsed one; false when it did not work. */
typedef bool pass_fn(void);

static lc_arena kept_arena;
static const lc_json *kept;

static bool parse_with_loci(void)
{
    lc_arena arena;
    const lc_json *value;
    bool is_ok;

    lc_arena_init(&arena, &heap, LOCI_MEM_REQUESTS);
    is_ok = lc_json_parse(&arena, lc_buf_str(&document), 0, &value, NULL) == LOCI_OK;
    lc_arena_clear(&arena);
    return is_ok;
}

static bool write_with_loci(void)
{
    lc_buf out;
    lc_json_writer w;
    bool is_same;

    lc_buf_init(&out, &heap, LOCI_MEM_REQUESTS, LC_JSON_BYTES_MAX);
    lc_jw_init(&w, &out);
    lc_jw_value(&w, kept);
    is_same = lc_str_eq(lc_buf_str(&out), lc_buf_str(&document));
    lc_buf_clear(&out);
    return is_same;
}

#if HAVE_JANSSON
#define JANSSON_FLAGS (JSON_DECODE_ANY | JSON_REJECT_DUPLICATES)
static json_t *kept_by_jansson;

static bool parse_with_jansson(void)
{
    json_t *value = json_loadb(document.ptr, document.len, JANSSON_FLAGS, NULL);

    json_decref(value);
    return value != NULL;
}

static bool write_with_jansson(void)
{
    char *text = json_dumps(kept_by_jansson, JSON_COMPACT | JSON_ENCODE_ANY);

    free(text);
    return text != NULL;
}
#endif

#if HAVE_CJSON
static cJSON *kept_by_cjson;

static bool parse_with_cjson(void)
{
    cJSON *value = cJSON_ParseWithLength(document.ptr, document.len);

    cJSON_Delete(value);
    return value != NULL;
}

static bool write_with_cjson(void)
{
    char *text = cJSON_PrintUnformatted(kept_by_cjson);

    free(text);
    return text != NULL;
}
#endif

typedef struct bench_case {
    const char *work; /* "parse" or "write" */
    const char *library;
    pass_fn *pass;
    double seconds[ROUNDS];
    double mb_per_s;
} bench_case;

static bench_case cases[] = {
    {.work = "parse", .library = "loci", .pass = parse_with_loci},
    {.work = "write", .library = "loci", .pass = write_with_loci},
#if HAVE_JANSSON
    {.work = "parse", .library = "jansson", .pass = parse_with_jansson},
    {.work = "write", .library = "jansson", .pass = write_with_jansson},
#endif
#if HAVE_CJSON
    {.work = "parse", .library = "cjson", .pass = parse_with_cjson},
    {.work = "write", .library = "cjson", .pass = write_with_cjson},
#endif
};

#define CASES (sizeof cases / sizeof cases[0])

static void keep_trees(void)
{
    lc_arena_init(&kept_arena, &heap, LOCI_MEM_REQUESTS);
    if (lc_json_parse(&kept_arena, lc_buf_str(&document), 0, &kept, NULL) != LOCI_OK)
        die("loci cannot read what it wrote");
#if HAVE_JANSSON
    kept_by_jansson = json_loadb(document.ptr, document.len, JANSSON_FLAGS, NULL);
#endif
#if HAVE_CJSON
    kept_by_cjson = cJSON_ParseWithLength(document.ptr, document.len);
#endif
}

static void drop_trees(void)
{
    lc_arena_clear(&kept_arena);
#if HAVE_JANSSON
    json_decref(kept_by_jansson);
#endif
#if HAVE_CJSON
    cJSON_Delete(kept_by_cjson);
#endif
}

/* ---- Measuring --------------------------------------------------------------------------------
 */

/* Time of this process alone: the machine is shared. */
static double cpu_seconds(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now); /* Cannot fail on Linux. */
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static double time_of_passes(pass_fn *pass)
{
    double begin = cpu_seconds();

    for (int i = 0; i < PASSES; i++) {
        if (!pass())
            die("a pass failed");
    }
    return cpu_seconds() - begin;
}

static int compare(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;

    return (left > right) - (left < right);
}

static void measure(void)
{
    for (int round = 0; round < ROUNDS; round++) {
        for (size_t i = 0; i < CASES; i++)
            cases[i].seconds[round] = time_of_passes(cases[i].pass);
    }
    for (size_t i = 0; i < CASES; i++) {
        qsort(cases[i].seconds, ROUNDS, sizeof cases[i].seconds[0], compare);
        cases[i].mb_per_s = (double)document.len * PASSES / 1e6 / cases[i].seconds[ROUNDS / 2];
    }
}

static void report(void)
{
    for (size_t i = 0; i < CASES; i++)
        printf("{\"bench\":\"json\",\"case\":\"%s/%s\",\"mb_per_s\":%.1f}\n", cases[i].work,
               cases[i].library, cases[i].mb_per_s);
    for (size_t i = 2; i < CASES; i++)
        printf("{\"bench\":\"json\",\"case\":\"%s/loci:%s\",\"ratio\":%.2f}\n", cases[i].work,
               cases[i].library, cases[i % 2].mb_per_s / cases[i].mb_per_s);
    fprintf(stderr, "\n%zu bytes, median of %d rounds, MB/s\n", document.len, ROUNDS);
    for (size_t i = 0; i < CASES; i++)
        fprintf(stderr, "  %-6s %-8s %8.1f   loci is %.1fx\n", cases[i].work, cases[i].library,
                cases[i].mb_per_s, cases[i % 2].mb_per_s / cases[i].mb_per_s);
}

int main(void)
{
    lc_heap_init(&heap, (loci_allocator){0});
    write_document();
    keep_trees();
    measure();
    report();
    drop_trees();
    lc_buf_clear(&document);
    return 0;
}
