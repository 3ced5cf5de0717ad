/* statebench.c - how well contexts keep to what is true: timelines in the format of StateBench.
 *
 *     statebench --data FILE [--tracks] [--json] [--failures] [--contexts OUT.jsonl]
 *                [--min-perfect X] [--min-recall Y] [--max-exposure Z]
 *
 * Every timeline of the file is played into an engine (lib/state_play.h), every query's context is
 * scored (lib/state_score.h). Prints a table, or with --json one line a case; --tracks adds a row a
 * track. --failures shows every query that is not perfect: what is missing, what is exposed, the
 * context and what was left out of it, and the calls that loci refused. --contexts writes the
 * contexts for another scorer. Exits with 1 when a figure is beyond its bound, with 2 for wrong
 * usage or a file that cannot be read.
 *
 * The same file gives the same bytes, on any day and machine: clock and seed are given.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/limits.h"
#include "base/number.h"
#include "base/str.h"
#include "lib/state_input.h"
#include "lib/state_play.h"
#include "lib/state_score.h"

typedef struct options {
    const char *data;
    const char *contexts; /* Where to write them, or NULL. */
    bool shows_tracks, is_json, shows_failures;
    double perfect_min, recall_min, exposure_max;
} options;

typedef struct bench {
    options options;
    lc_heap heap;
    lc_arena arena; /* Of one timeline. */
    state_player player;
    state_board board;
    FILE *contexts;
    /* The timeline that is played: */
    loci_str id, track, reachable;
} bench;

/* ---- Options ---------------------------------------------------------------------------------
 */

static _Noreturn void explain(void)
{
    fputs("usage: statebench --data FILE [--tracks] [--json] [--failures] [--contexts OUT.jsonl]\n"
          "                  [--min-perfect X] [--min-recall Y] [--max-exposure Z]\n",
          stderr);
    exit(2);
}

static double share(const char *text)
{
    double value;

    if (!lc_number_parse_f64(loci_str_of(text), &value) || value < 0 || value > 1)
        state_die("\"%s\" is no number from 0 to 1", text);
    return value;
}

static bool read_flag(options *out, loci_str name)
{
    if (lc_str_is(name, "--tracks"))
        out->shows_tracks = true;
    else if (lc_str_is(name, "--json"))
        out->is_json = true;
    else if (lc_str_is(name, "--failures"))
        out->shows_failures = true;
    else
        return false;
    return true;
}

static options read_options(int count, char **words)
{
    options out = {.exposure_max = 1.0};

    for (int i = 1; i < count; i++) {
        loci_str name = loci_str_of(words[i]);

        if (read_flag(&out, name))
            continue;
        if (++i == count)
            explain();
        if (lc_str_is(name, "--data"))
            out.data = words[i];
        else if (lc_str_is(name, "--contexts"))
            out.contexts = words[i];
        else if (lc_str_is(name, "--min-perfect"))
            out.perfect_min = share(words[i]);
        else if (lc_str_is(name, "--min-recall"))
            out.recall_min = share(words[i]);
        else if (lc_str_is(name, "--max-exposure"))
            out.exposure_max = share(words[i]);
        else
            explain();
    }
    if (out.data == NULL)
        explain();
    return out;
}

/* ---- One query -------------------------------------------------------------------------------
 */

static void print(const char *before, loci_str text, const char *after)
{
    fputs(before, stdout);
    fwrite(text.len > 0 ? text.ptr : "", 1, text.len, stdout);
    fputs(after, stdout);
}

static void print_phrases(const char *what, const state_phrase *phrase)
{
    for (; phrase != NULL; phrase = phrase->next) {
        printf("%-9s", what);
        print(" ", phrase->text, "\n");
    }
}

static void print_failure(const bench *b, const state_query *query, const state_verdict *verdict)
{
    print("== ", b->id, " ");
    print("(", b->track, ") ");
    printf("query %d", query->number);
    print(": ", state_text(query->event, "prompt"), "\n");
    print_phrases("missing", verdict->missing);
    print_phrases("exposed", verdict->exposed);
    print("-- context\n", query->context, "\n-- excluded\n");
    for (const lc_json *each = state_first(query->answer, "excluded"); each != NULL;
         each = lc_json_next(each)) {
        loci_str id = state_text(each, "id");

        print("", state_text(each, "reason"), " ");
        print("", id, " ");
        print("", state_label(&b->player, id), "\n");
    }
    putchar('\n');
}

/* A line for another scorer: {"timeline","query","context"}. */
static void write_context(bench *b, const state_query *query)
{
    lc_buf line;
    lc_json_writer w;

    lc_buf_init(&line, &b->heap, LOCI_MEM_REQUESTS, LC_ANSWER_BYTES_MAX);
    lc_jw_init(&w, &line);
    lc_jw_object(&w);
    lc_jw_member_str(&w, "timeline", b->id);
    lc_jw_member_int(&w, "query", query->number);
    lc_jw_member_str(&w, "context", query->context);
    lc_jw_end(&w);
    lc_buf_append_byte(&line, '\n');
    if (fwrite(line.ptr, 1, line.len, b->contexts) != line.len)
        state_die("%s: cannot be written", b->options.contexts);
    lc_buf_clear(&line);
}

static void take_query(void *ctx, const state_query *query)
{
    bench *b = ctx;
    state_verdict verdict = state_judge(&b->arena, b->reachable, query->event, query->context);

    state_board_add(&b->board, b->track, &verdict);
    b->board.missing += query->answer == NULL;
    if (b->contexts != NULL && query->answer != NULL)
        write_context(b, query);
    if (b->options.shows_failures && !state_is_perfect(&verdict))
        print_failure(b, query, &verdict);
}

/* ---- The file --------------------------------------------------------------------------------
 */

static void take_timeline(bench *b, int number, loci_str line)
{
    const lc_json *timeline = state_parse(&b->arena, line);

    if (timeline == NULL)
        state_die("%s: timeline %d is no JSON object", b->options.data, number);
    b->id = state_text(timeline, "id");
    b->track = state_text(timeline, "track");
    b->reachable = state_reachable(&b->arena, timeline);
    state_play(&b->player, &b->arena, number, timeline, take_query, b);
    if (b->options.shows_failures && b->player.client.refusals.len > 0) {
        print("== ", b->id, " refused\n");
        print("", lc_buf_str(&b->player.client.refusals), "\n");
    }
    lc_arena_clear(&b->arena);
}

static void take_file(bench *b)
{
    lc_buf file;
    loci_str rest;
    int number = 0;

    state_file_read(b->options.data, &b->heap, &file);
    rest = lc_buf_str(&file);
    while (rest.ptr != NULL) {
        loci_str line = lc_str_trim(lc_str_split(rest, '\n', &rest));

        if (line.len > 0)
            take_timeline(b, ++number, line);
    }
    lc_buf_clear(&file);
    if (b->board.all.queries == 0)
        state_die("%s: no queries", b->options.data);
}

/* ---- Figures ---------------------------------------------------------------------------------
 */

static void print_row(const bench *b, const char *name, const state_total *total)
{
    char perfect[LC_NUMBER_BYTES_MAX], recall[LC_NUMBER_BYTES_MAX], exposure[LC_NUMBER_BYTES_MAX];

    if (!b->options.is_json) {
        printf("%-28s %7d %8.3f %8.3f %9.3f\n", name, total->queries, state_perfect(total),
               state_recall(total), state_exposure(total));
        return;
    }
    printf("{\"bench\":\"statebench\",\"case\":\"%s\",\"queries\":%d,\"perfect\":%.*s,"
           "\"recall\":%.*s,\"exposure\":%.*s}\n",
           name, total->queries, (int)lc_number_format_f64(state_perfect(total), perfect), perfect,
           (int)lc_number_format_f64(state_recall(total), recall), recall,
           (int)lc_number_format_f64(state_exposure(total), exposure), exposure);
}

static void report(const bench *b)
{
    const state_client *client = &b->player.client;

    if (!b->options.is_json)
        printf("%-28s %7s %8s %8s %9s\n", "track", "queries", "perfect", "recall", "exposure");
    print_row(b, "all", &b->board.all);
    for (int i = 0; b->options.shows_tracks && i < b->board.track_count; i++)
        print_row(b, b->board.tracks[i].track, &b->board.tracks[i]);
    fflush(stdout);
    if (b->board.missing > 0)
        fprintf(stderr, "%d queries had no context and were scored as empty\n", b->board.missing);
    if (client->refused > 0)
        fprintf(stderr, "%d of %d calls were refused%s\n", client->refused, client->calls,
                b->options.shows_failures ? "" : ": --failures shows them");
}

static bool keeps_bounds(const bench *b)
{
    const state_total *all = &b->board.all;
    const options *o = &b->options;
    bool is_ok = true;

    if (state_perfect(all) < o->perfect_min) {
        fprintf(stderr, "perfect %.4f is below %.4f\n", state_perfect(all), o->perfect_min);
        is_ok = false;
    }
    if (state_recall(all) < o->recall_min) {
        fprintf(stderr, "recall %.4f is below %.4f\n", state_recall(all), o->recall_min);
        is_ok = false;
    }
    if (state_exposure(all) > o->exposure_max) {
        fprintf(stderr, "exposure %.4f is above %.4f\n", state_exposure(all), o->exposure_max);
        is_ok = false;
    }
    return is_ok;
}

int main(int count, char **words)
{
    static bench b;
    bool is_ok;

    b.options = read_options(count, words);
    lc_heap_init(&b.heap, (loci_allocator){0});
    lc_arena_init(&b.arena, &b.heap, LOCI_MEM_REQUESTS);
    if (b.options.contexts != NULL) {
        b.contexts = fopen(b.options.contexts, "wb");
        if (b.contexts == NULL)
            state_die("%s: cannot be written", b.options.contexts);
    }
    state_client_open(&b.player.client, &b.heap);
    take_file(&b);
    state_client_close(&b.player.client);
    if (b.contexts != NULL && fclose(b.contexts) != 0)
        state_die("%s: cannot be written", b.options.contexts);
    report(&b);
    is_ok = keeps_bounds(&b);
    return is_ok ? 0 : 1;
}
