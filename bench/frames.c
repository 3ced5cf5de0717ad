/* frames.c - packing and resuming in a large tree: 10,000 frames, 64 deep.
 *
 * The tree has one root and branches of 64 frames, all of them open. The deepest frame of the last
 * branch has 40 handles: notes, code, and outputs of tools. Printed are the median times of
 * frame.pack with a budget that fits everything and with one that does not, and of actor.resume.
 * To reach: 3 ms for each pack, as for context.build.
 *
 * BENCH_SMALL has 200 frames. The store is made in $TMPDIR or /tmp.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/fill.h"

#define DEPTH 64
#define FRAMES 10000
#define HANDLES 40
#define ROUNDS 200
#define PACK_MS_MAX 3.0

typedef struct frame_id {
    char text[32];
} frame_id;

/* The first id in an answer that begins behind `at`. */
static frame_id read_id(const char *at)
{
    frame_id id = {""};

    at = strstr(at, "\"id\":\"");
    if (at == NULL)
        bench_die("an answer has no id");
    (void)snprintf(id.text, sizeof id.text, "%.30s", at + strlen("\"id\":\""));
    return id;
}

static frame_id push_root(loci_engine *engine)
{
    loci_answer *answer;
    loci_error err;
    frame_id id;

    if (loci_call(engine, "frame.push",
                  loci_str_of("{\"goal\":\"Fix the timeout\",\"budget\":1000000000}"), NULL,
                  &answer, &err) != LOCI_OK)
        bench_die(err.message);
    id = read_id(loci_answer_json(answer).ptr);
    loci_answer_free(answer);
    return id;
}

/* One frame below the other; returns the deepest one. */
static frame_id push_branch(loci_engine *engine, const frame_id *root, int branch)
{
    char args[DEPTH][192];
    loci_request requests[DEPTH];
    loci_answer *answer;
    loci_error err;
    frame_id id = {""};

    for (int i = 0; i < DEPTH; i++) {
        char parent[40];

        if (i == 0)
            (void)snprintf(parent, sizeof parent, "%s", root->text);
        else
            (void)snprintf(parent, sizeof parent, "$%d.id", i - 1);
        (void)snprintf(args[i], sizeof args[i],
                       "{\"goal\":\"Step %d of branch %d: read and compare\",\"parent_id\":\"%s\","
                       "\"budget\":%d}",
                       i, branch, parent, 1000 * (DEPTH - i));
        requests[i] = (loci_request){"frame.push", loci_str_of(args[i]), LOCI_AT_CLOCK};
    }
    if (loci_call_many(engine, requests, DEPTH, NULL, &answer, &err) != LOCI_OK)
        bench_die(err.message);
    for (const char *at = loci_answer_json(answer).ptr; (at = strstr(at, "\"id\":\"frm_")) != NULL;
         at++)
        id = read_id(at);
    loci_answer_free(answer);
    return id;
}

/* Notes of three sentences, code, and outputs of tools. */
static void add_handles(loci_engine *engine, const frame_id *frame)
{
    static const char *const priorities[] = {"high", "medium", "low", "background"};
    char args[1024];

    for (int i = 0; i < HANDLES; i++) {
        const char *priority = i == 0 ? "critical" : priorities[i % 4];

        if (i % 4 == 1) {
            (void)snprintf(args, sizeof args,
                           "{\"frame_id\":\"%s\",\"call_id\":\"c%d\",\"name\":\"grep\","
                           "\"arguments\":{\"pattern\":\"pool_%d\"}}",
                           frame->text, i, i);
            fill_call(engine, "frame.tool_begin", args);
            (void)snprintf(args, sizeof args,
                           "{\"frame_id\":\"%s\",\"call_id\":\"c%d\",\"output\":\"pool.c:%d: if (n "
                           ">= POOL_MAX)\\npool.c:%d: return wait_for(pool, n);\"}",
                           frame->text, i, i, i + 7);
            fill_call(engine, "frame.tool_end", args);
            continue;
        }
        (void)snprintf(
            args, sizeof args,
            "{\"frame_id\":\"%s\",\"priority\":\"%s\",\"title\":\"Note %d\",\"text\":\"The pool of "
            "worker %d has ten connections, and all of them wait for the same row. The operators "
            "raised the limit in May, but they did not restart the workers afterwards. Whether "
            "that is the cause is not clear: the log of that day is gone, and the "
            "graphs show nothing before noon.\"}",
            frame->text, priority, i, i);
        fill_call(engine, "frame.handle_add", args);
    }
}

static int compare_times(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return x < y ? -1 : x > y;
}

/* The median time of a call in milliseconds. */
static double measure(loci_engine *engine, const char *operation, const char *args)
{
    double times[ROUNDS];

    for (int i = 0; i < ROUNDS; i++) {
        double before = bench_now_s();

        fill_call(engine, operation, args);
        times[i] = 1000 * (bench_now_s() - before);
    }
    qsort(times, ROUNDS, sizeof times[0], compare_times);
    return times[ROUNDS / 2];
}

static void print_pack(loci_engine *engine, const frame_id *frame, int budget)
{
    char args[128];

    (void)snprintf(args, sizeof args, "{\"frame_id\":\"%s\",\"budget\":%d}", frame->text, budget);
    printf("{\"bench\":\"frames\",\"case\":\"pack in %d tokens\",\"p50_ms\":%.2f,"
           "\"p50_ms_max\":%.1f}\n",
           budget, measure(engine, "frame.pack", args), PACK_MS_MAX);
    (void)fflush(stdout);
}

int main(void)
{
    int frames = getenv("BENCH_SMALL") != NULL ? 200 : FRAMES;
    const char *dir = getenv("TMPDIR");
    frame_id root, leaf = {""};
    loci_engine *engine;
    char path[300];

    (void)snprintf(path, sizeof path, "%s/loci-frames-%ld.db", dir != NULL ? dir : "/tmp",
                   (long)getpid());
    engine = fill_open(path, LOCI_OPEN_INLINE);
    root = push_root(engine);
    for (int count = 1; count < frames; count += DEPTH)
        leaf = push_branch(engine, &root, count / DEPTH);
    add_handles(engine, &leaf);
    print_pack(engine, &leaf, 8000);
    print_pack(engine, &leaf, 2000);
    print_pack(engine, &leaf, 500);
    printf("{\"bench\":\"frames\",\"case\":\"actor.resume\",\"p50_ms\":%.2f}\n",
           measure(engine, "actor.resume", "{\"actor_id\":\"default\"}"));
    loci_close(engine);
    (void)unlink(path);
    return 0;
}
