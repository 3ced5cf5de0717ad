/* collect_summary.c - the section of summaries: the session so far, the last session that ended,
 * and the spine, which says what is known about the user. Each is one line.
 *
 * Summaries repeat other rooms, so the section leaves out repetitions: a rolling
 * summary of a session that also has a session summary, a summary whose messages are all in the
 * conversation (build.c decides that after judging), and lines of a spine that are memories of this
 * context. The open loops of a spine are todos, which have a section of their own.
 *
 * Summaries of forgotten or withdrawn messages have no row (session/summary.h). Values that facts
 * have lost since are removed by judging, and a spine is shown without memories that were replaced
 * or archived. A model may have merged several memories into one statement, so its spine is left
 * out as a whole if one of its memories is no longer active.
 */
#include "context/candidate.h"

#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "base/str.h"
#include "memory/memory.h"
#include "session/summary.h"

#define SOURCES_MAX 64 /* Of an extracted summary; more are not compared with the conversation. */
#define LINE_BYTES_MAX 16384

static const char *const spine_parts[] = {"profile", "projects", "people"};

/* Appends a text as one line with a full stop. One that does not fit is left out: the others are
 * still worth their place. */
static void append_sentence(lc_buf *line, loci_str text)
{
    text = lc_str_trim(text);
    if (text.len == 0 || line->len + text.len + 2 > LINE_BYTES_MAX)
        return;
    if (line->len > 0)
        lc_buf_append_byte(line, ' ');
    for (size_t i = 0; i < text.len; i++) {
        bool is_control = (unsigned char)text.ptr[i] < 0x20 || text.ptr[i] == 0x7F;

        lc_buf_append_byte(line, is_control ? ' ' : text.ptr[i]);
    }
    if (memchr(".?!", text.ptr[text.len - 1], 3) == NULL)
        lc_buf_append_byte(line, '.');
}

static loci_status parse(lc_context *context, loci_str text, const lc_json **out, loci_error *err)
{
    *out = NULL;
    return text.len > 0 ? lc_json_parse(context->arena, text, 0, out, err) : LOCI_OK;
}

/* The ids of the messages of an extracted summary. */
static loci_status set_sources(lc_context *context, const lc_summary *summary, lc_candidate *to,
                               loci_error *err)
{
    const lc_json *sources;
    loci_str *ids;
    loci_status status = parse(context, summary->sources, &sources, err);

    if (status != LOCI_OK || !lc_str_is(summary->method, "extract") || sources == NULL ||
        lc_json_count(sources) > SOURCES_MAX)
        return status;
    ids = lc_arena_zalloc_array(context->arena, SOURCES_MAX, sizeof *ids);
    if (ids == NULL)
        return lc_fail_memory(err);
    to->sources = ids;
    for (const lc_json *item = lc_json_first(sources); item != NULL; item = lc_json_next(item))
        ids[to->source_count++] = lc_json_str(item);
    return LOCI_OK;
}

/* `line` is released. An empty one is no candidate. */
static loci_status add_line(lc_context *context, const lc_summary *summary, lc_buf *line,
                            lc_candidate **out, loci_error *err)
{
    loci_status status = lc_buf_status(line, err);
    loci_str text = status == LOCI_OK && line->len > 0
                        ? lc_arena_copy(context->arena, lc_buf_str(line))
                        : LC_STR_NONE;
    bool is_empty = line->len == 0;
    lc_candidate *to;

    *out = NULL;
    lc_buf_clear(line);
    if (status != LOCI_OK || is_empty)
        return status;
    to = text.ptr != NULL ? lc_context_add(context, LC_SECTION_SUMMARIES) : NULL;
    if (to == NULL)
        return lc_fail_memory(err);
    to->item.id = summary->id;
    to->text = text;
    to->is_judged = true;
    to->kind = LC_SAID_SUMMARY;
    to->seq = summary->to_seq > 0 ? summary->to_seq : summary->seq;
    to->at_us = summary->recorded_at;
    to->trust = lc_str_is(summary->method, "model") ? LC_STR("model") : LC_STR_NONE;
    *out = to;
    return LOCI_OK;
}

static loci_status find_last(lc_context *context, const lc_summary_ref *ref, lc_summary *out,
                             bool *found, loci_error *err)
{
    loci_str without = context->input->without_session;
    bool is_without = false;
    loci_status status = lc_summary_find_last(context->tx, ref, context->arena, out, found, err);

    if (status == LOCI_OK && *found && without.len > 0 && out->session_id.len > 0)
        status = lc_session_is_named(context->tx, out->session_id, without, &is_without, err);
    *found &= !is_without;
    return status;
}

static loci_status add_rolling(lc_context *context, const lc_summary *summary, bool is_repeated,
                               loci_error *err)
{
    lc_candidate *to;
    lc_buf line;
    loci_status status;

    lc_buf_init(&line, context->arena->heap, LOCI_MEM_REQUESTS, LINE_BYTES_MAX);
    append_sentence(&line, summary->text);
    status = add_line(context, summary, &line, &to, err);
    if (status != LOCI_OK || to == NULL)
        return status;
    to->lead = LC_STR("Session so far: ");
    to->excluded = is_repeated ? "duplicate" : NULL;
    return is_repeated ? LOCI_OK : set_sources(context, summary, to, err);
}

static void append_list(lc_buf *line, const lc_json *content, const char *name, const char *title,
                        loci_str but)
{
    const lc_json *list = content != NULL ? lc_json_find(content, name, LC_JSON_ARRAY) : NULL;
    bool is_first = true;

    for (const lc_json *item = lc_json_first(list); item != NULL; item = lc_json_next(item)) {
        if (lc_json_kind_of(item) != LC_JSON_STRING || lc_str_eq(lc_json_str(item), but))
            continue;
        if (is_first && title[0] != '\0' && line->len + strlen(title) < LINE_BYTES_MAX)
            lc_buf_append_format(line, " %s", title);
        is_first = false;
        append_sentence(line, lc_json_str(item));
    }
}

static loci_status add_session(lc_context *context, const lc_summary *summary, loci_error *err)
{
    const lc_json *content;
    lc_candidate *to = NULL;
    lc_buf line;
    loci_str date;
    loci_status status = parse(context, summary->content, &content, err);

    if (status != LOCI_OK)
        return status;
    lc_buf_init(&line, context->arena->heap, LOCI_MEM_REQUESTS, LINE_BYTES_MAX);
    append_sentence(&line, summary->text);
    append_list(&line, content, "what_mattered", "", summary->text);
    append_list(&line, content, "open_loops", "Open:", summary->text);
    append_list(&line, content, "commitments", "Promised:", summary->text);
    status = add_line(context, summary, &line, &to, err);
    if (status != LOCI_OK || to == NULL)
        return status;
    date = lc_context_date(context->arena, summary->recorded_at);
    to->lead = lc_context_join(context->arena,
                               (loci_str[]){LC_STR("Last session ("), date, LC_STR("): ")}, 3);
    if (date.ptr == NULL || to->lead.ptr == NULL)
        return lc_fail_memory(err);
    return set_sources(context, summary, to, err);
}

/* ---- Spine ----------------------------------------------------------------------------------- */

/* Is the memory, or its text, in another section? */
static bool is_elsewhere(const lc_context *context, loci_str id, loci_str text)
{
    for (size_t i = 0; i < context->count; i++) {
        const lc_candidate *at = &context->candidates[i];

        if (lc_str_eq(at->item.id, id) ||
            ((at->item.section == LC_SECTION_CARDS || at->item.section == LC_SECTION_FOUNDATION) &&
             memmem(at->text.ptr, at->text.len, text.ptr, text.len) != NULL))
            return true;
    }
    return false;
}

static loci_status is_active(lc_context *context, loci_str id, bool *out, loci_error *err)
{
    lc_memory memory;
    loci_status status = LOCI_OK;

    *out = true;
    if (lc_id_is(id, "mem"))
        status = lc_memory_load(context->tx, context->input->view.persona_id, id, context->arena,
                                &memory, err);
    if (status == LOCI_ENOTFOUND ||
        (lc_id_is(id, "mem") && status == LOCI_OK && memory.status != LC_MEMORY_ACTIVE))
        *out = false;
    return status == LOCI_ENOTFOUND ? LOCI_OK : status;
}

/* Lines and sources of an extracted spine are in the same order. */
static loci_status append_spine(lc_context *context, const lc_json *content, const lc_json *sources,
                                lc_buf *line, loci_error *err)
{
    const lc_json *source = lc_json_first(sources);
    loci_status status = LOCI_OK;

    for (size_t i = 0; i < sizeof spine_parts / sizeof *spine_parts; i++)
        for (const lc_json *item =
                 lc_json_first(lc_json_find(content, spine_parts[i], LC_JSON_ARRAY));
             item != NULL && source != NULL && status == LOCI_OK;
             item = lc_json_next(item), source = lc_json_next(source)) {
            bool is_shown = !is_elsewhere(context, lc_json_str(source), lc_json_str(item));

            if (is_shown)
                status = is_active(context, lc_json_str(source), &is_shown, err);
            if (status == LOCI_OK && is_shown)
                append_sentence(line, lc_json_str(item));
        }
    return status;
}

static loci_status append_model_spine(lc_context *context, const lc_json *content,
                                      const lc_json *sources, lc_buf *line, loci_error *err)
{
    loci_status status = LOCI_OK;
    bool is_current = true;

    for (const lc_json *source = lc_json_first(sources);
         source != NULL && is_current && status == LOCI_OK; source = lc_json_next(source))
        status = is_active(context, lc_json_str(source), &is_current, err);
    if (status != LOCI_OK || !is_current) {
        lc_context_count(context, "superseded", status == LOCI_OK);
        return status;
    }
    for (size_t i = 0; i < sizeof spine_parts / sizeof *spine_parts; i++)
        append_list(line, content, spine_parts[i], "", LC_STR_NONE);
    return LOCI_OK;
}

static loci_status add_spine(lc_context *context, const lc_summary *summary, loci_error *err)
{
    const lc_json *content, *sources = NULL;
    lc_candidate *to = NULL;
    lc_buf line;
    loci_status status = parse(context, summary->content, &content, err);

    if (status == LOCI_OK)
        status = parse(context, summary->sources, &sources, err);
    if (status != LOCI_OK || content == NULL || sources == NULL)
        return status;
    lc_buf_init(&line, context->arena->heap, LOCI_MEM_REQUESTS, LINE_BYTES_MAX);
    status = lc_str_is(summary->method, "model")
                 ? append_model_spine(context, content, sources, &line, err)
                 : append_spine(context, content, sources, &line, err);
    if (status != LOCI_OK) {
        lc_buf_clear(&line);
        return status;
    }
    status = add_line(context, summary, &line, &to, err);
    if (status == LOCI_OK && to != NULL)
        to->lead = LC_STR("About the user: ");
    return status;
}

loci_status lc_context_collect_summaries(lc_context *context, loci_error *err)
{
    const lc_context_input *input = context->input;
    /* A call that names a session wants messages of that session only, a brief those of the last
     * one that ended. */
    loci_str of = input->is_brief ? LC_STR_NONE : input->conversation_id;
    lc_summary_ref ref = {.persona_id = input->view.persona_id, .session_id = of};
    lc_summary rolling, ended, spine;
    bool has_rolling = false, has_ended = false, has_spine = false;
    loci_status status;

    ref.kind = LC_STR("rolling");
    status = find_last(context, &ref, &rolling, &has_rolling, err);
    ref.kind = LC_STR("session");
    if (status == LOCI_OK)
        status = find_last(context, &ref, &ended, &has_ended, err);
    ref.kind = LC_STR("spine");
    ref.session_id = LC_STR_NONE;
    if (status == LOCI_OK)
        status = find_last(context, &ref, &spine, &has_spine, err);
    if (status == LOCI_OK && has_rolling)
        status = add_rolling(context, &rolling,
                             has_ended && lc_str_eq(rolling.session_id, ended.session_id), err);
    if (status == LOCI_OK && has_ended)
        status = add_session(context, &ended, err);
    if (status == LOCI_OK && has_spine)
        status = add_spine(context, &spine, err);
    return status;
}
