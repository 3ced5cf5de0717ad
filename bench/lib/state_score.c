/* state_score.c - keeps to the arithmetic of the Python scorer, so that figures agree to the last
 * digit: sums are integers and each figure is one division. */
#include "lib/state_score.h"

#include "base/limits.h"
#include "base/str.h"
#include "lib/state_input.h"
#include "lib/state_match.h"

/* ---- What can be reached ---------------------------------------------------------------------
 */

/* JSON with a space behind each comma and colon, as Python writes it. A phrase may hold ", ". */
static void append_spaced(lc_buf *out, loci_str json)
{
    bool is_in_string = false;

    for (size_t i = 0; i < json.len; i++) {
        char c = json.ptr[i];

        lc_buf_append_byte(out, c);
        if (is_in_string && c == '\\' && i + 1 < json.len)
            lc_buf_append_byte(out, json.ptr[++i]);
        else if (c == '"')
            is_in_string = !is_in_string;
        else if (!is_in_string && (c == ',' || c == ':'))
            lc_buf_append_byte(out, ' ');
    }
}

static void append_json(lc_buf *out, const lc_json *value)
{
    lc_buf json;
    lc_json_writer w;

    lc_buf_init(&json, out->heap, LOCI_MEM_REQUESTS, LC_JSON_BYTES_MAX);
    lc_jw_init(&w, &json);
    lc_jw_value(&w, value);
    append_spaced(out, lc_buf_str(&json));
    lc_buf_clear(&json);
}

/* As Python's str(). Lists and objects come with other quotes there, which no phrase asks for. */
static void append_value(lc_buf *out, const lc_json *value)
{
    lc_buf_append_byte(out, '\n');
    switch (lc_json_kind_of(value)) {
    case LC_JSON_STRING:
        lc_buf_append(out, lc_json_str(value));
        break;
    case LC_JSON_NULL:
        lc_buf_append(out, LC_STR("None"));
        break;
    default: /* "true" is "True" there, but the text is lowered. */
        append_json(out, value);
    }
}

loci_str state_reachable(lc_arena *arena, const lc_json *timeline)
{
    const lc_json *initial = state_member(timeline, "initial_state");
    lc_buf text;
    loci_str lowered;

    lc_buf_init(&text, arena->heap, LOCI_MEM_REQUESTS, LC_JSON_BYTES_MAX);
    if (initial != NULL)
        append_json(&text, initial);
    for (const lc_json *event = state_first(timeline, "events"); event != NULL;
         event = lc_json_next(event)) {
        if (lc_str_is(state_text(event, "type"), "conversation_turn")) {
            lc_buf_append_byte(&text, '\n');
            lc_buf_append(&text, state_text(event, "text"));
        }
        for (const lc_json *write = state_first(event, "writes"); write != NULL;
             write = lc_json_next(write))
            append_value(&text, state_need(write, "value"));
    }
    if (lc_buf_status(&text, NULL) != LOCI_OK)
        state_die("a timeline is too large");
    lowered = state_lower(arena, lc_buf_str(&text));
    lc_buf_clear(&text);
    return lowered;
}

/* ---- One query -------------------------------------------------------------------------------
 */

static void keep(lc_arena *arena, const state_phrase **list, loci_str text)
{
    state_phrase *phrase = state_alloc(arena, sizeof *phrase);
    const state_phrase **end = list;

    phrase->text = text;
    while (*end != NULL)
        end = &((state_phrase *)*end)->next;
    *end = phrase;
}

state_verdict state_judge(lc_arena *arena, loci_str reachable, const lc_json *query,
                          loci_str context)
{
    const lc_json *truth = state_member(query, "ground_truth");
    loci_str prompt = state_lower(arena, state_text(query, "prompt"));
    loci_str shown = state_lower(arena, context);
    state_verdict verdict = {0};
    const lc_json *each;

    for (each = state_first(truth, "must_mention"); each != NULL; each = lc_json_next(each)) {
        loci_str phrase = state_lower(arena, lc_json_str(each));

        if (!state_is_meaningful(phrase) || !state_is_found(reachable, phrase))
            continue;
        verdict.wanted++;
        if (state_is_found(shown, phrase))
            verdict.got++;
        else
            keep(arena, &verdict.missing, lc_json_str(each));
    }
    for (each = state_first(truth, "must_not_mention"); each != NULL; each = lc_json_next(each)) {
        loci_str phrase = state_lower(arena, lc_json_str(each));

        if (!state_is_meaningful(phrase) || !state_is_found(reachable, phrase) ||
            state_is_found(prompt, phrase))
            continue;
        verdict.is_guarded = true;
        if (state_is_found(shown, phrase))
            keep(arena, &verdict.exposed, lc_json_str(each));
    }
    return verdict;
}

bool state_is_perfect(const state_verdict *verdict)
{
    return verdict->missing == NULL && verdict->exposed == NULL;
}

/* ---- All of them -----------------------------------------------------------------------------
 */

static void add(state_total *total, const state_verdict *verdict)
{
    total->queries++;
    total->perfect += state_is_perfect(verdict);
    total->wanted += verdict->wanted;
    total->got += verdict->got;
    total->guarded += verdict->is_guarded;
    total->exposed += verdict->exposed != NULL;
}

static state_total *track_of(state_board *board, loci_str name)
{
    int at = 0;

    while (at < board->track_count &&
           lc_str_compare(loci_str_of(board->tracks[at].track), name) < 0)
        at++;
    if (at < board->track_count && lc_str_is(name, board->tracks[at].track))
        return &board->tracks[at];
    if (board->track_count == STATE_TRACKS_MAX || name.len >= sizeof board->tracks[0].track)
        state_die("too many tracks, or one with too long a name");
    memmove(&board->tracks[at + 1], &board->tracks[at],
            (size_t)(board->track_count - at) * sizeof board->tracks[0]);
    board->tracks[at] = (state_total){0};
    memcpy(board->tracks[at].track, name.ptr, name.len);
    board->track_count++;
    return &board->tracks[at];
}

void state_board_add(state_board *board, loci_str track, const state_verdict *verdict)
{
    add(&board->all, verdict);
    add(track_of(board, track), verdict);
}

double state_perfect(const state_total *total)
{
    return total->queries > 0 ? (double)total->perfect / total->queries : 0.0;
}

double state_recall(const state_total *total)
{
    return total->wanted > 0 ? (double)total->got / total->wanted : 1.0;
}

double state_exposure(const state_total *total)
{
    return total->guarded > 0 ? (double)total->exposed / total->guarded : 0.0;
}
