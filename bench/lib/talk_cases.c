#include "lib/talk_cases.h"

#include <stdio.h>

#include "base/str.h"
#include "lib/state_input.h"
#include "lib/state_match.h"
#include "lib/talk_text.h"

#define START_US INT64_C(1767603600000000) /* 2026-01-05T09:00:00Z */
#define DAY_US (24 * INT64_C(3600000000))
#define BUDGET_TOKENS 500

/* What became of one case. */
typedef struct verdict {
    bool is_right;   /* The fact has the value that it should have. */
    bool is_changed; /* Some fact has another value than before. */
    bool is_claimed;
    loci_str value; /* Of the fact afterwards. */
    loci_str context;
} verdict;

/* Is the value, whatever its capitals, the wanted one or longer? "a|b" wants either. */
static bool is_in(lc_arena *arena, loci_str value, loci_str wanted)
{
    return state_is_found(state_lower(arena, value), state_lower(arena, wanted));
}

static void write_fact(talk_player *player, const lc_json *line)
{
    state_call c;

    state_call_begin(&c, &player->client);
    state_call_text(&c, "key", state_text(line, "key"));
    lc_jw_member_value(&c.args, "value", state_need(line, "value"));
    state_call_text(&c, "source", LC_STR("user"));
    if (state_call_end(&c, &player->client, "fact.write") == NULL)
        state_die("a fact was refused: %.*s", LC_STR_ARG(state_text(line, "key")));
}

static bool has_claim(const lc_json *answer, loci_str key)
{
    for (const lc_json *outcome = state_first(answer, "outcomes"); outcome != NULL;
         outcome = lc_json_next(outcome)) {
        if (lc_str_is(state_text(outcome, "outcome"), "claimed") &&
            lc_str_eq(state_text(outcome, "key"), key))
            return true;
    }
    return false;
}

/* One fact and a question. */
static verdict play_contradiction(talk_player *player, const lc_json *line)
{
    lc_arena *arena = player->client.arena;
    loci_str key = state_text(line, "key");
    talk_turn turn = {.number = 1,
                      .at_us = START_US + DAY_US,
                      .speaker = LC_STR("user"),
                      .text = state_text(line, "said")};
    verdict out = {0};
    const lc_json *answer;

    write_fact(player, line);
    answer = talk_say(player, &turn, NULL);
    out.is_claimed = has_claim(answer, key);
    out.value = talk_text_of(arena, talk_current(player, key));
    out.is_changed = !lc_str_eq(out.value, talk_text_of(arena, state_need(line, "value")));
    out.is_right = is_in(arena, out.value, state_text(line, "must_show"));
    player->client.now_us += DAY_US / 24;
    answer = talk_ask(player, state_text(line, "question"), BUDGET_TOKENS);
    out.context = state_text(answer, "text");
    return out;
}

/* The known facts and a sentence that changes one. */
static verdict play_change(talk_player *player, const lc_json *line)
{
    lc_arena *arena = player->client.arena;
    loci_str key = state_text(line, "key");
    talk_turn turn = {.number = 1,
                      .at_us = START_US + DAY_US,
                      .speaker = LC_STR("user"),
                      .text = state_text(line, "said")};
    verdict out = {0};
    const lc_json *answer;

    talk_write_known(player);
    answer = talk_say(player, &turn, NULL);
    out.is_claimed = has_claim(answer, key);
    out.value = talk_text_of(arena, talk_current(player, key));
    out.is_right = is_in(arena, out.value, state_text(line, "new"));
    for (const lc_json *outcome = state_first(answer, "outcomes"); outcome != NULL;
         outcome = lc_json_next(outcome)) {
        bool is_superseded = lc_str_is(state_text(outcome, "outcome"), "superseded");

        out.is_changed |= is_superseded;
        if (is_superseded && !lc_str_eq(state_text(outcome, "key"), key))
            out.is_right = false;
    }
    return out;
}

static void show(const lc_json *line, const verdict *v, bool is_shown)
{
    loci_str wanted = state_text(line, "must_show");

    printf("== %.*s: \"%.*s\"\n   should %s %.*s; the fact is %.*s%s%s\n",
           LC_STR_ARG(state_text(line, "key")), LC_STR_ARG(state_text(line, "said")),
           wanted.len > 0 ? "show" : "become",
           LC_STR_ARG(wanted.len > 0 ? wanted : state_text(line, "new")), LC_STR_ARG(v->value),
           v->is_claimed ? " (claimed)" : "", is_shown ? "" : "; not shown");
    if (!is_shown)
        printf("-- context\n%.*s\n", LC_STR_ARG(v->context));
}

static void take_line(talk_player *player, const lc_json *line, bool shows_failures,
                      talk_cases *out)
{
    lc_arena *arena = player->client.arena;
    bool is_keep = lc_str_is(state_text(line, "kind"), "keep");
    bool has_question = state_text(line, "question").len > 0;
    verdict v = has_question ? play_contradiction(player, line) : play_change(player, line);
    bool is_shown = !has_question ||
                    talk_find(talk_normalise(arena, v.context),
                              talk_normalise(arena, state_text(line, "must_show"))) != TALK_ABSENT;

    if (is_keep) {
        out->keeps++;
        out->keeps_right += !v.is_changed && is_shown;
    } else {
        out->changes++;
        out->changes_asked += has_question;
        out->changes_shown += has_question && is_shown;
        out->changes_right += v.is_right;
        out->changes_wrong += v.is_changed && !v.is_right;
        out->changes_claimed += v.is_claimed;
    }
    if (shows_failures && (!is_shown || (is_keep ? v.is_changed : !v.is_right)))
        show(line, &v, is_shown);
}

void talk_cases_play(talk_player *player, const char *path, bool shows_failures, talk_cases *out)
{
    lc_heap *heap = player->client.heap;
    lc_buf file;
    lc_arena arena;
    loci_str rest;

    lc_arena_init(&arena, heap, LOCI_MEM_REQUESTS);
    state_file_read(path, heap, &file);
    for (rest = lc_buf_str(&file); rest.ptr != NULL;) {
        loci_str text = lc_str_trim(lc_str_split(rest, '\n', &rest));
        const lc_json *line;

        if (text.len == 0)
            continue;
        line = state_parse(&arena, text);
        if (line == NULL)
            state_die("%s: a line is no JSON object", path);
        talk_begin(player, &arena, START_US);
        take_line(player, line, shows_failures, out);
        lc_arena_clear(&arena);
    }
    lc_buf_clear(&file);
}
