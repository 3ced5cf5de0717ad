/* memories.c - conversations stored turn by turn as memories: what is replaced, what is found.
 *
 *     memories [--replaced] FILE...
 *
 * A file has one JSON object per line: turns {turn, at, text} and questions {question, evidence[]},
 * where evidence are the numbers of the turns that answer it. Each turn is one memory.store; each
 * question one memory.recall. Prints, per file, how many turns replaced an earlier one, and the
 * share of evidence among the first 10: by the score, and by BM25 of the same hits. --replaced
 * shows each turn that replaced another, to be judged by a reader: in conversations nearly every
 * replacement is wrong. Exits with 1 when evidence is below 1.08 times BM25 over all files, or more
 * than one turn in 1,000 replaced another.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "lib/state_client.h"
#include "lib/state_input.h"

#define FIRST 10
#define HITS_MAX 100
#define RATIO_MIN 1.08

typedef struct figures {
    int turns, replaced, questions;
    double by_score, by_bm25; /* Sums of shares. */
} figures;

typedef struct hit {
    int64_t turn;
    double bm25;
} hit;

static bool shows_replaced;

static void store_turn(state_client *client, const lc_json *turn, figures *out)
{
    state_call call;
    const lc_json *answer;

    client->now_us = state_time(state_text(turn, "at"));
    state_call_begin(&call, client);
    state_call_text(&call, "text", state_text(turn, "text"));
    lc_jw_name(&call.args, "metadata");
    lc_jw_object(&call.args);
    lc_jw_member_int(&call.args, "turn", lc_json_int(state_need(turn, "turn")));
    lc_jw_end(&call.args);
    answer = state_call_end(&call, client, "memory.store");
    out->turns++;
    if (answer == NULL || !lc_str_is(state_text(answer, "outcome"), "superseded"))
        return;
    out->replaced++;
    if (shows_replaced)
        printf("replaced by: %.*s\n", LC_STR_ARG(state_text(turn, "text")));
}

static int compare_bm25(const void *a, const void *b)
{
    const hit *x = a, *y = b;

    if (x->bm25 != y->bm25)
        return x->bm25 > y->bm25 ? -1 : 1;
    return x->turn < y->turn ? -1 : x->turn > y->turn;
}

/* The share of the evidence among the first hits. */
static double share_of(const lc_json *question, const hit *hits, size_t count)
{
    int found = 0, all = 0;

    for (const lc_json *turn = state_first(question, "evidence"); turn != NULL;
         turn = lc_json_next(turn), all++)
        for (size_t i = 0; i < count && i < FIRST; i++)
            found += hits[i].turn == lc_json_int(turn);
    return (double)found / all;
}

static void ask(state_client *client, const lc_json *question, figures *out)
{
    hit hits[HITS_MAX];
    size_t count = 0;
    state_call call;
    const lc_json *answer;

    if (state_first(question, "evidence") == NULL)
        return; /* There is no answer to find. */
    state_call_begin(&call, client);
    state_call_text(&call, "query", state_text(question, "question"));
    lc_jw_member_int(&call.args, "limit", HITS_MAX);
    lc_jw_member_bool(&call.args, "explain", true);
    answer = state_call_end(&call, client, "memory.recall");
    for (const lc_json *each = state_first(answer, "results"); each != NULL && count < HITS_MAX;
         each = lc_json_next(each)) {
        const lc_json *bm25 = state_member(state_need(each, "parts"), "bm25");

        hits[count++] = (hit){lc_json_int(state_need(state_need(each, "metadata"), "turn")),
                              bm25 != NULL ? lc_json_real(bm25) : 0};
    }
    out->questions++;
    out->by_score += share_of(question, hits, count);
    qsort(hits, count, sizeof *hits, compare_bm25);
    out->by_bm25 += share_of(question, hits, count);
}

/* All turns first: questions come behind them in a file. */
static void play(state_client *client, loci_str file, lc_arena *arena, figures *out)
{
    bool has_vectors = false;

    for (loci_str rest = file; rest.ptr != NULL;) {
        loci_str line = lc_str_trim(lc_str_split(rest, '\n', &rest));
        const lc_json *json = line.len > 0 ? state_parse(arena, line) : NULL;
        state_call call;

        if (json == NULL)
            continue;
        if (state_member(json, "turn") != NULL)
            store_turn(client, json, out);
        if (state_member(json, "question") == NULL)
            continue;
        if (!has_vectors) {
            state_call_begin(&call, client);
            (void)state_call_end(&call, client, "model.reembed");
            has_vectors = true;
        }
        ask(client, json, out);
    }
}

static void print(const char *name, const figures *f)
{
    printf("%-40s %5d turns %4d replaced %4d questions  first %d: %.3f  BM25: %.3f  ratio: %.2f\n",
           name, f->turns, f->replaced, f->questions, FIRST, f->by_score / f->questions,
           f->by_bm25 / f->questions, f->by_score / f->by_bm25);
}

int main(int count, char **words)
{
    figures all = {0};
    state_client client;
    lc_heap heap;

    lc_heap_init(&heap, (loci_allocator){0});
    state_client_open(&client, &heap);
    for (int i = 1; i < count; i++) {
        figures one = {0};
        lc_arena arena;
        lc_buf file;

        if (strcmp(words[i], "--replaced") == 0) {
            shows_replaced = true;
            continue;
        }
        lc_arena_init(&arena, &heap, LOCI_MEM_REQUESTS);
        state_file_read(words[i], &heap, &file);
        state_client_turn_to(&client, &arena, i);
        play(&client, lc_buf_str(&file), &arena, &one);
        print(words[i], &one);
        all.turns += one.turns;
        all.replaced += one.replaced;
        all.questions += one.questions;
        all.by_score += one.by_score;
        all.by_bm25 += one.by_bm25;
        lc_buf_clear(&file);
        lc_arena_clear(&arena);
    }
    if (all.questions == 0)
        state_die("usage: memories [--replaced] FILE... (conversations with questions)");
    print("all", &all);
    state_client_close(&client);
    return all.by_score < RATIO_MIN * all.by_bm25 || all.replaced * 1000 > all.turns;
}
