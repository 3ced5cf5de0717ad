/* talk.c - what loci makes of ordinary talk: what contexts show of it, and which facts it changes.
 *
 *     talk --data FILE... [--changes-only FILE...] [--rules] [--failures] [--json]
 *          [--min-evidence X] [--min-ratio X] [--min-whole X] [--min-right X] [--max-wrong N]
 *
 * A file is a conversation with questions (lib/talk_chat.h) or a list of sentences that change a
 * fact or must not (lib/talk_cases.h); its first line tells. With --changes-only the turns of a
 * conversation are played and nothing is asked; such a file may be plain lines of text.
 *
 * Conversations: the share of the evidence that contexts of 500, 2,000, 8,000 and unlimited tokens
 * show, beside plain BM25 over single turns with the same budget; per category and conversation.
 * All talk: known facts that were changed, claims and created facts per 1,000 turns; --rules splits
 * them by rule. --failures prints the evidence that 2,000 tokens do not show, every outcome of
 * fact.observe with its turn, and the cases that went wrong.
 *
 * Prints tables, or with --json one line per case. Exits with 1 when a figure is beyond its bound:
 * the evidence with 2,000 tokens, the lowest ratio to BM25, the evidence without a limit, the share
 * of right changes, changes of known facts per 1,000 turns. Exits with 2 for wrong usage or a file
 * that cannot be read. The same files give the same bytes: clock and seed are given.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/str.h"
#include "lib/state_input.h"
#include "lib/talk_cases.h"
#include "lib/talk_chat.h"

#define FILES_MAX 64
#define LIMITED (TALK_BUDGETS - 1) /* Budgets that are one. */
#define MIDDLE 1                   /* 2,000 tokens. */

typedef struct input {
    const char *path;
    bool is_changes_only;
} input;

typedef struct options {
    input files[FILES_MAX];
    int file_count;
    bool is_json, shows_failures, shows_rules;
    double evidence_min, ratio_min, whole_min, right_min, wrong_max;
} options;

typedef struct bench {
    options options;
    lc_heap heap;
    talk_player player;
    talk_board board;
    talk_tally all;
    talk_cases cases;
} bench;

/* ---- Options ---------------------------------------------------------------------------------
 */

static _Noreturn void explain(void)
{
    fputs("usage: talk --data FILE... [--changes-only FILE...] [--rules] [--failures] [--json]\n"
          "            [--min-evidence X] [--min-ratio X] [--min-whole X] [--min-right X]\n"
          "            [--max-wrong N]\n",
          stderr);
    exit(2);
}

static double number(const char *text)
{
    double value;

    if (!lc_number_parse_f64(loci_str_of(text), &value) || value < 0)
        state_die("\"%s\" is no number from 0", text);
    return value;
}

static bool read_flag(options *out, loci_str name)
{
    if (lc_str_is(name, "--json"))
        out->is_json = true;
    else if (lc_str_is(name, "--failures"))
        out->shows_failures = true;
    else if (lc_str_is(name, "--rules"))
        out->shows_rules = true;
    else
        return false;
    return true;
}

static bool read_bound(options *out, loci_str name, const char *text)
{
    if (lc_str_is(name, "--min-evidence"))
        out->evidence_min = number(text);
    else if (lc_str_is(name, "--min-ratio"))
        out->ratio_min = number(text);
    else if (lc_str_is(name, "--min-whole"))
        out->whole_min = number(text);
    else if (lc_str_is(name, "--min-right"))
        out->right_min = number(text);
    else if (lc_str_is(name, "--max-wrong"))
        out->wrong_max = number(text);
    else
        return false;
    return true;
}

static options read_options(int count, char **words)
{
    options out = {.wrong_max = 1000.0};

    for (int i = 1; i < count; i++) {
        loci_str name = loci_str_of(words[i]);
        bool is_changes_only = lc_str_is(name, "--changes-only");

        if (read_flag(&out, name))
            continue;
        if (i + 1 == count)
            explain();
        if (is_changes_only || lc_str_is(name, "--data")) {
            while (i + 1 < count && words[i + 1][0] != '-') {
                if (out.file_count == FILES_MAX)
                    state_die("more than %d files", FILES_MAX);
                out.files[out.file_count++] = (input){words[++i], is_changes_only};
            }
        } else if (!read_bound(&out, name, words[++i])) {
            explain();
        }
    }
    if (out.file_count == 0)
        explain();
    return out;
}

/* ---- Output ----------------------------------------------------------------------------------
 */

static double mean(double sum, int count)
{
    return count > 0 ? sum / count : 0.0;
}

static double ratio(const talk_total *total, int budget)
{
    return total->bm25[budget] > 0 ? total->loci[budget] / total->bm25[budget] : 1.0;
}

static double per_thousand(int count, int turns)
{
    return turns > 0 ? 1000.0 * count / turns : 0.0;
}

/* ---- Conversations: evidence -----------------------------------------------------------------
 */

static void print_evidence(const bench *b, const char *kind, const talk_total *total)
{
    int n = total->questions;

    if (b->options.is_json) {
        for (int i = 0; i < TALK_BUDGETS; i++)
            printf("{\"bench\":\"talk\",\"case\":\"evidence %s%s%s %lld\",\"questions\":%d,"
                   "\"loci\":%.4f,\"bm25\":%.4f,\"ratio\":%.4f,\"tokens\":%.1f,"
                   "\"bm25_tokens\":%.1f}\n",
                   kind, kind[0] != '\0' ? " " : "", total->name, (long long)talk_budgets[i], n,
                   mean(total->loci[i], n), mean(total->bm25[i], n), ratio(total, i),
                   mean(total->loci_tokens[i], n), mean(total->bm25_tokens[i], n));
        return;
    }
    printf("%-14s %4d ", total->name, n);
    for (int i = 0; i < LIMITED; i++)
        printf(" %6.3f %6.3f %5.2f ", mean(total->loci[i], n), mean(total->bm25[i], n),
               ratio(total, i));
    printf(" %6.3f\n", mean(total->loci[LIMITED], n));
}

static void print_tokens(const bench *b)
{
    const talk_board *board = &b->board;
    const talk_total *none = &board->without_evidence;

    if (b->options.is_json) {
        printf("{\"bench\":\"talk\",\"case\":\"tokens without evidence 2000\",\"questions\":%d,"
               "\"tokens\":%.1f,\"bm25_tokens\":%.1f}\n",
               none->questions, mean(none->loci_tokens[MIDDLE], none->questions),
               mean(none->bm25_tokens[MIDDLE], none->questions));
        return;
    }
    printf("\n%-26s", "mean tokens used");
    for (int i = 0; i < TALK_BUDGETS; i++)
        printf(" %8lld", (long long)talk_budgets[i]);
    printf("\n%-26s", "questions with evidence");
    for (int i = 0; i < TALK_BUDGETS; i++)
        printf(" %8.0f", mean(board->all.loci_tokens[i], board->all.questions));
    printf("\n%-26s", "the same by BM25");
    for (int i = 0; i < TALK_BUDGETS; i++)
        printf(" %8.0f", mean(board->all.bm25_tokens[i], board->all.questions));
    printf("\n%-20s (%3d)", "no evidence", none->questions);
    for (int i = 0; i < TALK_BUDGETS; i++)
        printf(" %8.0f", mean(none->loci_tokens[i], none->questions));
    printf("\n");
}

static void print_updates(const bench *b)
{
    const talk_updates *u = &b->board.updates;

    if (!b->options.is_json)
        printf("\n%-26s %8s %8s\n", "update", "current", "fresh");
    for (int i = 0; i < TALK_BUDGETS; i++) {
        double current = mean(u->current[i], u->questions), fresh = mean(u->fresh[i], u->questions);

        if (b->options.is_json)
            printf("{\"bench\":\"talk\",\"case\":\"update %lld\",\"questions\":%d,"
                   "\"current\":%.4f,\"fresh\":%.4f}\n",
                   (long long)talk_budgets[i], u->questions, current, fresh);
        else
            printf("%-20lld (%3d) %8.3f %8.3f\n", (long long)talk_budgets[i], u->questions, current,
                   fresh);
    }
}

static void report_evidence(const bench *b)
{
    const talk_board *board = &b->board;

    if (board->all.questions == 0)
        return;
    if (!b->options.is_json) {
        printf("\n%-14s %4s  %-20s  %-20s  %-20s  %6s\n", "evidence shown", "", "500 tokens",
               "2,000", "8,000", "whole");
        printf("%-14s %4s ", "", "n");
        for (int i = 0; i < LIMITED; i++)
            printf(" %6s %6s %5s ", "loci", "BM25", "ratio");
        printf("\n");
    }
    for (int i = 0; i < board->conversation_count; i++)
        print_evidence(b, "conversation", &board->conversations[i]);
    for (int i = 0; i < board->category_count; i++)
        print_evidence(b, "category", &board->categories[i]);
    print_evidence(b, "", &board->all);
    print_updates(b);
    print_tokens(b);
}

/* ---- Changes ---------------------------------------------------------------------------------
 */

static void print_counts(const bench *b, const char *kind, const char *name, int turns,
                         const talk_counts *counts)
{
    if (b->options.is_json)
        printf("{\"bench\":\"talk\",\"case\":\"%s %s\",\"turns\":%d,\"changed\":%d,"
               "\"changed_per_1000\":%.2f,\"claimed_per_1000\":%.2f,\"created_per_1000\":%.2f,"
               "\"revised_per_1000\":%.2f}\n",
               kind, name, turns, counts->changed, per_thousand(counts->changed, turns),
               per_thousand(counts->claimed, turns), per_thousand(counts->created, turns),
               per_thousand(counts->revised, turns));
    else
        printf("%-20s %6d %8d %9.2f %9.2f %9.2f %9.2f\n", name, turns, counts->changed,
               per_thousand(counts->changed, turns), per_thousand(counts->claimed, turns),
               per_thousand(counts->created, turns), per_thousand(counts->revised, turns));
}

static void print_counts_title(const bench *b)
{
    if (b->options.is_json)
        return;
    printf("\n%-20s %6s %8s %39s\n", "facts and talk", "", "changes", "per 1,000 turns");
    printf("%-20s %6s %8s %9s %9s %9s %9s\n", "", "turns", "of known", "changed", "claimed",
           "created", "revised");
}

static void report_rules(const bench *b)
{
    for (int i = 0; i < b->all.rule_count; i++)
        print_counts(b, "rule", b->all.rules[i].name, b->all.turns, &b->all.rules[i].counts);
}

static void print_cases(const bench *b, const char *name, const talk_cases *cases)
{
    if (b->options.is_json)
        printf("{\"bench\":\"talk\",\"case\":\"cases %s\",\"changes\":%d,\"asked\":%d,\"shown\":%d,"
               "\"right\":%d,\"wrong\":%d,\"claimed\":%d,\"keeps\":%d,\"kept\":%d}\n",
               name, cases->changes, cases->changes_asked, cases->changes_shown,
               cases->changes_right, cases->changes_wrong, cases->changes_claimed, cases->keeps,
               cases->keeps_right);
    else
        printf("%s: %d changes: %d facts changed rightly, %d wrongly, %d claimed, %d of %d shown; "
               "%d to keep: %d kept and shown\n",
               name, cases->changes, cases->changes_right, cases->changes_wrong,
               cases->changes_claimed, cases->changes_shown, cases->changes_asked, cases->keeps,
               cases->keeps_right);
}

/* ---- Files -----------------------------------------------------------------------------------
 */

static bool is_first_line_with(bench *b, const char *path, const char *member)
{
    lc_buf file;
    lc_arena arena;
    loci_str rest;
    bool is_found;

    lc_arena_init(&arena, &b->heap, LOCI_MEM_REQUESTS);
    state_file_read(path, &b->heap, &file);
    is_found = state_member(state_parse(&arena, lc_str_split(lc_buf_str(&file), '\n', &rest)),
                            member) != NULL;
    lc_arena_clear(&arena);
    lc_buf_clear(&file);
    return is_found;
}

static const char *name_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash != NULL ? slash + 1 : path;
}

static void take_cases(bench *b, const char *path)
{
    talk_cases cases = {0};

    talk_cases_play(&b->player, path, b->options.shows_failures, &cases);
    print_cases(b, name_of(path), &cases);
    b->cases.changes += cases.changes;
    b->cases.changes_right += cases.changes_right;
}

static void take_files(bench *b)
{
    talk_tally tallies[FILES_MAX] = {0};

    for (int i = 0; i < b->options.file_count; i++) {
        input file = b->options.files[i];
        talk_chat_options chat = {.asks = !file.is_changes_only,
                                  .shows_failures = b->options.shows_failures};

        if (is_first_line_with(b, file.path, "initial_state"))
            state_die("%s is in the format of StateBench: "
                      "run bench/statebench --tracks --data FILE",
                      file.path);
        if (is_first_line_with(b, file.path, "said"))
            take_cases(b, file.path);
        else
            talk_chat_play(&b->player, file.path, &chat, &b->board, &tallies[i]);
        talk_tally_add(&b->all, &tallies[i]);
    }
    report_evidence(b);
    if (b->all.turns == 0)
        return;
    print_counts_title(b);
    for (int i = 0; i < b->options.file_count; i++) {
        if (tallies[i].turns > 0)
            print_counts(b, "facts", name_of(b->options.files[i].path), tallies[i].turns,
                         &tallies[i].counts);
    }
    print_counts(b, "facts", "all", b->all.turns, &b->all.counts);
    if (b->options.shows_rules)
        report_rules(b);
}

/* ---- Bounds ----------------------------------------------------------------------------------
 */

static bool keeps_min(const char *name, double value, double min)
{
    if (value >= min)
        return true;
    fprintf(stderr, "%s %.4f is below %.4f\n", name, value, min);
    return false;
}

static bool keeps_bounds(const bench *b)
{
    const talk_total *all = &b->board.all;
    const options *o = &b->options;
    double wrong = per_thousand(b->all.counts.changed, b->all.turns);
    double lowest = ratio(all, 0);
    bool is_ok = true;

    for (int i = 1; i < LIMITED; i++)
        lowest = ratio(all, i) < lowest ? ratio(all, i) : lowest;
    is_ok &= keeps_min("evidence", mean(all->loci[MIDDLE], all->questions), o->evidence_min);
    is_ok &= keeps_min("ratio to BM25", lowest, o->ratio_min);
    is_ok &= keeps_min("evidence shown whole", mean(all->loci[LIMITED], all->questions),
                       o->whole_min);
    is_ok &= keeps_min("right changes", mean(b->cases.changes_right, b->cases.changes),
                       o->right_min);
    if (wrong > o->wrong_max) {
        fprintf(stderr, "%.2f changes of known facts per 1,000 turns are above %.2f\n", wrong,
                o->wrong_max);
        is_ok = false;
    }
    return is_ok;
}

int main(int count, char **words)
{
    static bench b;

    b.options = read_options(count, words);
    lc_heap_init(&b.heap, (loci_allocator){0});
    talk_player_open(&b.player, &b.heap);
    b.player.shows_outcomes = b.options.shows_failures;
    memcpy(b.board.all.name, "all", sizeof "all");
    take_files(&b);
    talk_player_close(&b.player);
    fflush(stdout);
    if (b.board.missing > 0)
        fprintf(stderr, "%d contexts were refused and scored as empty\n", b.board.missing);
    if (b.player.client.refused > 0)
        fprintf(stderr, "%d of %d calls were refused\n", b.player.client.refused,
                b.player.client.calls);
    return keeps_bounds(&b) ? 0 : 1;
}
