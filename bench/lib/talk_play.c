/* talk_play.c - an outcome belongs to the known facts if its key is one of theirs: keys that talk
 * creates are new ones. */
#include "lib/talk_play.h"

#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "base/str.h"
#include "lib/state_input.h"

#define KNOWN_PATH BENCH_SOURCE_DIR "/tests/talk/known.jsonl"
#define KNOWN_MAX 64

/* ---- The player ------------------------------------------------------------------------------
 */

static void read_known(talk_player *player)
{
    lc_buf file;
    loci_str rest;

    state_file_read(KNOWN_PATH, player->client.heap, &file);
    rest = state_copy(&player->known_arena, lc_buf_str(&file));
    lc_buf_clear(&file);
    player->known = state_alloc(&player->known_arena, KNOWN_MAX * sizeof(lc_json *));
    while (rest.ptr != NULL) {
        loci_str line = lc_str_trim(lc_str_split(rest, '\n', &rest));

        if (line.len == 0)
            continue;
        if (player->known_count == KNOWN_MAX)
            state_die(KNOWN_PATH ": more than %d facts", KNOWN_MAX);
        player->known[player->known_count] = state_parse(&player->known_arena, line);
        if (player->known[player->known_count++] == NULL)
            state_die(KNOWN_PATH ": line %d is no JSON object", player->known_count);
    }
}

/* Versions without the parameter tell the assistant's turns by the name of the speaker. */
static bool has_role(talk_player *player)
{
    loci_str args = LC_STR("{\"name\":\"fact.observe\"}");
    loci_answer *answer;
    loci_error err;
    bool is_found;

    if (loci_call(player->client.engine, "op.get", args, NULL, &answer, &err) != LOCI_OK)
        state_die("op.get: %s", err.message);
    is_found = memmem(loci_answer_json(answer).ptr, loci_answer_json(answer).len,
                      "\"name\":\"role\"", strlen("\"name\":\"role\"")) != NULL;
    loci_answer_free(answer);
    return is_found;
}

void talk_player_open(talk_player *player, lc_heap *heap)
{
    *player = (talk_player){0};
    state_client_open(&player->client, heap);
    lc_arena_init(&player->known_arena, heap, LOCI_MEM_REQUESTS);
    read_known(player);
    player->takes_role = has_role(player);
}

void talk_player_close(talk_player *player)
{
    state_client_close(&player->client);
    lc_arena_clear(&player->known_arena);
}

void talk_begin(talk_player *player, lc_arena *arena, int64_t at_us)
{
    state_client_turn_to(&player->client, arena, ++player->users);
    player->client.now_us = at_us;
}

/* ---- Facts -----------------------------------------------------------------------------------
 */

void talk_write_known(talk_player *player)
{
    for (int i = 0; i < player->known_count; i++) {
        state_call c;

        state_call_begin(&c, &player->client);
        state_call_text(&c, "key", state_text(player->known[i], "key"));
        lc_jw_member_value(&c.args, "value", state_need(player->known[i], "value"));
        state_call_text(&c, "source", LC_STR("user"));
        if (state_call_end(&c, &player->client, "fact.write") == NULL)
            state_die(KNOWN_PATH ": line %d was refused", i + 1);
    }
}

const lc_json *talk_known_value(const talk_player *player, loci_str key)
{
    for (int i = 0; i < player->known_count; i++) {
        if (lc_str_eq(state_text(player->known[i], "key"), key))
            return state_need(player->known[i], "value");
    }
    return NULL;
}

const lc_json *talk_current(talk_player *player, loci_str key)
{
    state_call c;

    state_call_begin(&c, &player->client);
    state_call_text(&c, "key", key);
    return state_member(state_call_end(&c, &player->client, "fact.current"), "value");
}

loci_str talk_text_of(lc_arena *arena, const lc_json *value)
{
    lc_buf text;
    lc_json_writer w;
    loci_str copy;

    if (value == NULL)
        return LC_STR_NONE;
    if (lc_json_kind_of(value) == LC_JSON_STRING)
        return lc_json_str(value);
    lc_buf_init(&text, arena->heap, LOCI_MEM_REQUESTS, LC_ARGS_BYTES_MAX);
    lc_jw_init(&w, &text);
    lc_jw_value(&w, value);
    copy = state_copy(arena, lc_buf_str(&text));
    lc_buf_clear(&text);
    return copy;
}

/* ---- Outcomes --------------------------------------------------------------------------------
 */

static void add_counts(talk_counts *to, const talk_counts *from)
{
    to->changed += from->changed;
    to->claimed += from->claimed;
    to->created += from->created;
    to->revised += from->revised;
}

static void add_rule(talk_tally *tally, loci_str name, const talk_counts *counts)
{
    talk_rule *rule = tally->rules;

    while (rule < tally->rules + tally->rule_count && !lc_str_is(name, rule->name))
        rule++;
    if (rule == tally->rules + tally->rule_count) {
        if (tally->rule_count == TALK_RULES_MAX || name.len >= sizeof rule->name)
            state_die("too many rules, or one with too long a name");
        memcpy(rule->name, name.ptr, name.len);
        tally->rule_count++;
    }
    add_counts(&rule->counts, counts);
}

void talk_tally_add(talk_tally *to, const talk_tally *from)
{
    to->turns += from->turns;
    add_counts(&to->counts, &from->counts);
    for (int i = 0; i < from->rule_count; i++)
        add_rule(to, loci_str_of(from->rules[i].name), &from->rules[i].counts);
}

static talk_counts counts_of(const talk_player *player, const lc_json *outcome)
{
    loci_str became = state_text(outcome, "outcome");
    bool is_known = talk_known_value(player, state_text(outcome, "key")) != NULL;

    if (lc_str_is(became, "superseded"))
        return is_known ? (talk_counts){.changed = 1} : (talk_counts){.revised = 1};
    return (talk_counts){.claimed = lc_str_is(became, "claimed"),
                         .created = lc_str_is(became, "created")};
}

static void show_outcome(talk_player *player, const talk_turn *turn, const lc_json *outcome)
{
    loci_str key = state_text(outcome, "key");
    const lc_json *known = talk_known_value(player, key);
    const lc_json *fact;
    loci_str quote = state_text(outcome, "quote");
    state_call c;

    state_call_begin(&c, &player->client);
    state_call_text(&c, "id", state_text(outcome, "id"));
    fact = state_call_end(&c, &player->client, "fact.get");
    printf("%.*s %.*s (%.*s): %.*s -> %.*s\n", LC_STR_ARG(state_text(outcome, "outcome")),
           LC_STR_ARG(key), LC_STR_ARG(state_text(outcome, "rule")),
           LC_STR_ARG(talk_text_of(player->client.arena, known)),
           LC_STR_ARG(talk_text_of(player->client.arena, state_member(fact, "value"))));
    if (quote.len > 0)
        printf("    quote: %.*s\n", LC_STR_ARG(quote));
    printf("    turn %d, %.*s: %.*s\n", turn->number, LC_STR_ARG(turn->speaker),
           LC_STR_ARG(turn->text));
}

const lc_json *talk_say(talk_player *player, talk_turn *turn, talk_tally *tally)
{
    const char *role = turn->is_assistant ? "assistant" : "user";
    bool is_named_so = turn->is_assistant && !player->takes_role;
    const lc_json *answer;
    state_call c;

    player->client.now_us = turn->at_us;
    state_call_begin(&c, &player->client);
    state_call_text(&c, "text", turn->text);
    state_call_text(&c, "speaker", is_named_so ? LC_STR("assistant") : turn->speaker);
    if (player->takes_role)
        state_call_text(&c, "role", loci_str_of(role));
    lc_jw_member_time(&c.args, "observed_at", turn->at_us);
    answer = state_call_end(&c, &player->client, "fact.observe");
    turn->message_id = state_text(answer, "message_id");
    if (tally == NULL)
        return answer;
    tally->turns++;
    for (const lc_json *outcome = state_first(answer, "outcomes"); outcome != NULL;
         outcome = lc_json_next(outcome)) {
        talk_counts counts = counts_of(player, outcome);

        add_counts(&tally->counts, &counts);
        add_rule(tally, state_text(outcome, "rule"), &counts);
        if (player->shows_outcomes)
            show_outcome(player, turn, outcome);
    }
    return answer;
}

const lc_json *talk_ask(talk_player *player, loci_str question, int64_t budget)
{
    state_call c;

    state_call_begin(&c, &player->client);
    lc_jw_member_str(&c.args, "query", question);
    lc_jw_member_int(&c.args, "budget", budget);
    return state_call_end(&c, &player->client, "context.build");
}
