/* talk_chat.c - a conversation is read whole, played, and asked about; its answers are given back
 * question by question, because a context without limit holds all of it. */
#include "lib/talk_chat.h"

#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "lib/state_input.h"
#include "lib/talk_bm25.h"
#include "lib/talk_text.h"

#define MINUTE_US INT64_C(60000000)
#define HOUR_US (60 * MINUTE_US)
#define START_US INT64_C(1767603600000000) /* 2026-01-05T09:00:00Z, of turns without a time. */
#define MIDDLE_BUDGET 1                    /* 2,000 tokens: what --failures is about. */

const int64_t talk_budgets[TALK_BUDGETS] = {500, 2000, 8000, 1000000};

typedef struct conversation {
    talk_player *player;
    const talk_chat_options *options;
    talk_board *board;
    lc_arena arena;
    loci_str name; /* Of the conversation, or of the file. */
    bool is_plain; /* Lines are texts, not JSON. */
    talk_turn *turns;
    loci_str *texts; /* Normalised, by place. */
    int turn_count;
    const lc_json **questions;
    int question_count;
    talk_bm25 bm25;
    bool *shown; /* By BM25: one flag per turn. */
} conversation;

/* ---- Reading ---------------------------------------------------------------------------------
 */

static void add_turn(conversation *chat, const lc_json *line, loci_str text)
{
    const lc_json *number = state_member(line, "turn");
    loci_str at = state_text(line, "at");
    loci_str speaker = state_text(line, "speaker");
    talk_turn *turn = &chat->turns[chat->turn_count];

    *turn = (talk_turn){.number = chat->turn_count + 1,
                        .at_us = START_US + chat->turn_count * MINUTE_US,
                        .is_assistant = lc_str_is(state_text(line, "role"), "assistant"),
                        .speaker = speaker.len > 0 ? speaker : LC_STR("user"),
                        .text = text};
    if (number != NULL)
        turn->number = (int)lc_json_int(number);
    if (at.len > 0)
        turn->at_us = state_time(at);
    chat->texts[chat->turn_count++] = talk_normalise(&chat->arena, text);
}

static void read_line(conversation *chat, loci_str line)
{
    const lc_json *object = chat->is_plain ? NULL : state_parse(&chat->arena, line);
    loci_str name = state_text(object, "conversation");

    if (name.len > 0)
        chat->name = name;
    else if (state_text(object, "question").len > 0)
        chat->questions[chat->question_count++] = object;
    else if (state_text(object, "text").len > 0)
        add_turn(chat, object, state_text(object, "text"));
    else if (chat->is_plain)
        add_turn(chat, NULL, line);
    else
        state_die("no turn, question or conversation: %.*s", LC_STR_ARG(line));
}

static void read_chat(conversation *chat, const char *path, lc_heap *heap)
{
    lc_buf file;
    loci_str text, rest;
    size_t lines = 1;

    lc_arena_init(&chat->arena, heap, LOCI_MEM_REQUESTS);
    state_file_read(path, heap, &file);
    text = state_copy(&chat->arena, lc_buf_str(&file));
    lc_buf_clear(&file);
    for (size_t i = 0; i < text.len; i++)
        lines += text.ptr[i] == '\n';
    chat->name = loci_str_of(strrchr(path, '/') != NULL ? strrchr(path, '/') + 1 : path);
    chat->turns = state_alloc(&chat->arena, lines * sizeof *chat->turns);
    chat->texts = state_alloc(&chat->arena, lines * sizeof *chat->texts);
    chat->questions = state_alloc(&chat->arena, lines * sizeof *chat->questions);
    chat->shown = state_alloc(&chat->arena, lines * sizeof *chat->shown);
    chat->is_plain = text.len > 0 && text.ptr[0] != '{';
    for (rest = text; rest.ptr != NULL;) {
        loci_str line = lc_str_trim(lc_str_split(rest, '\n', &rest));

        if (line.len > 0)
            read_line(chat, line);
    }
    if (chat->turn_count == 0)
        state_die("%s: no turns", path);
}

/* ---- Scoring ---------------------------------------------------------------------------------
 */

static talk_total *total_of(talk_total *list, int *count, loci_str name)
{
    for (int i = 0; i < *count; i++) {
        if (lc_str_is(name, list[i].name))
            return &list[i];
    }
    if (*count == TALK_TOTALS_MAX || name.len >= sizeof list->name)
        state_die("too many conversations or categories, or one with too long a name");
    memcpy(list[*count].name, name.ptr, name.len);
    return &list[(*count)++];
}

static void add_total(talk_total *to, const talk_total *from)
{
    to->questions += from->questions;
    for (int i = 0; i < TALK_BUDGETS; i++) {
        to->loci[i] += from->loci[i];
        to->bm25[i] += from->bm25[i];
        to->loci_tokens[i] += from->loci_tokens[i];
        to->bm25_tokens[i] += from->bm25_tokens[i];
    }
}

/* The place of the turn that an element of `evidence` or `stale` names. */
static int place_of(const conversation *chat, const lc_json *number)
{
    for (int i = 0; i < chat->turn_count; i++) {
        if (chat->turns[i].number == lc_json_int(number))
            return i;
    }
    state_die("%.*s: no turn %d", LC_STR_ARG(chat->name), (int)lc_json_int(number));
}

/* Why the message of a turn is not in a context, if the answer says so. */
static loci_str reason_of(const lc_json *answer, loci_str message_id)
{
    for (const lc_json *each = state_first(answer, "excluded"); each != NULL;
         each = lc_json_next(each)) {
        if (lc_str_eq(state_text(each, "id"), message_id))
            return state_text(each, "reason");
    }
    return LC_STR_NONE;
}

static void show_missing(const conversation *chat, const lc_json *question, const lc_json *answer,
                         loci_str context)
{
    bool has_title = false;

    for (const lc_json *each = state_first(question, "evidence"); each != NULL;
         each = lc_json_next(each)) {
        int place = place_of(chat, each);
        loci_str text = chat->texts[place];

        if (talk_find(context, text) != TALK_ABSENT)
            continue;
        if (!has_title)
            printf("== %.*s (%.*s): %.*s [%.*s]\n", LC_STR_ARG(chat->name),
                   LC_STR_ARG(state_text(question, "category")),
                   LC_STR_ARG(state_text(question, "question")),
                   LC_STR_ARG(state_text(question, "answer")));
        has_title = true;
        printf("missing   turn %d (%s by BM25; reason: %.*s) %.*s: %.*s\n",
               chat->turns[place].number, chat->shown[place] ? "shown" : "not shown",
               LC_STR_ARG(reason_of(answer, chat->turns[place].message_id)),
               LC_STR_ARG(chat->turns[place].speaker), LC_STR_ARG(text));
    }
}

/* Every stale turn is absent or before the first turn of the evidence. */
static bool is_fresh(const conversation *chat, const lc_json *question, loci_str context)
{
    size_t current = TALK_ABSENT;
    const lc_json *each;

    for (each = state_first(question, "evidence"); each != NULL; each = lc_json_next(each)) {
        size_t at = talk_find(context, chat->texts[place_of(chat, each)]);

        current = at < current ? at : current;
    }
    for (each = state_first(question, "stale"); each != NULL; each = lc_json_next(each)) {
        size_t at = talk_find(context, chat->texts[place_of(chat, each)]);

        if (at != TALK_ABSENT && at > current)
            return false;
    }
    return true;
}

static double share(int part, int whole)
{
    return whole > 0 ? (double)part / whole : 0.0;
}

/* Writes what one budget shows of a question to `out` and to the board. */
static void score(conversation *chat, const lc_json *question, int budget, talk_total *out)
{
    lc_arena *arena = &chat->arena;
    talk_updates *updates = &chat->board->updates;
    const lc_json *answer = talk_ask(chat->player, state_text(question, "question"),
                                     talk_budgets[budget]);
    loci_str context = talk_normalise(arena, state_text(answer, "text"));
    size_t hit_count;
    const lc_hit *hits = talk_bm25_rank(&chat->bm25, arena, state_text(question, "question"),
                                        &hit_count);
    int evidence = 0, loci = 0, bm25 = 0;

    out->bm25_tokens[budget] = (double)talk_bm25_cut(&chat->bm25, hits, hit_count,
                                                     talk_budgets[budget], chat->shown);
    if (answer != NULL)
        out->loci_tokens[budget] = (double)lc_json_int(
            state_need(state_need(answer, "tokens"), "total"));
    for (const lc_json *each = state_first(question, "evidence"); each != NULL;
         each = lc_json_next(each)) {
        int place = place_of(chat, each);

        evidence++;
        loci += talk_find(context, chat->texts[place]) != TALK_ABSENT;
        bm25 += chat->shown[place];
    }
    out->loci[budget] = share(loci, evidence);
    out->bm25[budget] = share(bm25, evidence);
    if (lc_str_is(state_text(question, "category"), "update")) {
        updates->current[budget] += loci == evidence;
        updates->fresh[budget] += loci == evidence && is_fresh(chat, question, context);
    }
    if (chat->options->shows_failures && budget == MIDDLE_BUDGET && loci < evidence)
        show_missing(chat, question, answer, context);
    chat->board->missing += answer == NULL;
}

static void take_question(conversation *chat, const lc_json *question)
{
    talk_board *board = chat->board;
    talk_total total = {.questions = 1};
    loci_str category = state_text(question, "category");

    board->updates.questions += lc_str_is(category, "update");
    for (int i = 0; i < TALK_BUDGETS; i++) {
        lc_arena_mark mark = lc_arena_get_mark(&chat->arena);

        score(chat, question, i, &total);
        lc_arena_rewind(&chat->arena, mark);
    }
    if (state_first(question, "evidence") == NULL) {
        add_total(&board->without_evidence, &total);
        return;
    }
    add_total(&board->all, &total);
    add_total(total_of(board->conversations, &board->conversation_count, chat->name), &total);
    add_total(total_of(board->categories, &board->category_count, category), &total);
}

/* ---- Playing ---------------------------------------------------------------------------------
 */

void talk_chat_play(talk_player *player, const char *path, const talk_chat_options *options,
                    talk_board *board, talk_tally *tally)
{
    conversation chat = {.player = player, .options = options, .board = board};

    read_chat(&chat, path, player->client.heap);
    talk_begin(player, &chat.arena, chat.turns[0].at_us - HOUR_US);
    talk_write_known(player);
    for (int i = 0; i < chat.turn_count; i++) {
        (void)talk_say(player, &chat.turns[i], tally); /* Refusals are counted by the client. */
    }
    if (options->asks && chat.question_count > 0) {
        player->client.now_us += HOUR_US;
        talk_bm25_open(&chat.bm25, player, chat.turns, chat.turn_count);
        for (int i = 0; i < chat.question_count; i++)
            take_question(&chat, chat.questions[i]);
        talk_bm25_close(&chat.bm25);
    }
    lc_arena_clear(&chat.arena);
}
