/* judge.c - see judge.h. */
#include "context/judge.h"

#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/json.h"
#include "base/str.h"
#include "base/time.h"
#include "base/zone.h"
#include "memory/slug.h"
#include "memory/todo.h"
#include "review/review.h"
#include "session/environment.h"

#define METADATA_BYTES_MAX 8192
#define DATE_BYTES 10

/* ---- Reading --------------------------------------------------------------------------------- */

/* Attributes that people state in passing about the moment, or whose value may be any words. */
static const char passing[] =
    "status|job|title|role|major|target|version|number|size|price|quota|favorite_part|"
    "favorite_thing|"
    "favorite_one|favorite_bit|favorite_moment|favorite_line|favorite_scene|favorite_quote|"
    "favorite_way|favorite_answer|favorite_option|favorite_word|favorite_question|project_status";

/* Whether the statement has an attribute worth remembering. "Is a product manager at Miro" has the
 * one of its part in front of "at". */
static loci_status find_attribute(lc_arena *arena, lc_lesson *lesson, bool *out, loci_error *err)
{
    static const char *const joints[] = {" at ", " for ", " in ", " from "};
    lc_understood understood;
    loci_status status = lc_understood_read(arena, lesson->text, &understood, err);

    for (size_t i = 0;
         status == LOCI_OK && understood.attribute.len == 0 && i < sizeof joints / sizeof *joints;
         i++) {
        const char *at = memmem(lesson->text.ptr, lesson->text.len, joints[i], strlen(joints[i]));

        if (at == NULL)
            continue;
        status = lc_understood_read(
            arena, (loci_str){lesson->text.ptr, (size_t)(at - lesson->text.ptr)}, &understood, err);
        if (status == LOCI_OK && lc_str_is(understood.attribute, "occupation"))
            lesson->attribute = understood.attribute;
        else
            understood.attribute = LC_STR_NONE;
    }
    *out = status == LOCI_OK && understood.attribute.len > 0 &&
           !lc_str_is_choice(understood.attribute, passing);
    return status;
}

loci_status lc_judge_read(const lc_talk *talk, lc_arena *arena, loci_str text,
                          lc_judge_reading *out, loci_error *err)
{
    lc_statements *statements = lc_arena_zalloc_array(arena, 1, sizeof *statements);
    lc_lessons *lessons = lc_arena_zalloc_array(arena, 1, sizeof *lessons);
    lc_terms terms;
    size_t kept = 0;
    loci_status status = statements != NULL && lessons != NULL
                             ? lc_observation_terms(talk, arena, text, &terms, err)
                             : lc_fail_memory(err);

    if (status == LOCI_OK) {
        lc_statements_read(terms, statements);
        status = lc_lessons_read(arena, terms, lessons, err);
    }
    for (size_t i = 0; status == LOCI_OK && i < lessons->count; i++) {
        bool is_kept = true;

        /* A secret was there: what is left says nothing. */
        if (memmem(lessons->items[i].quote.ptr, lessons->items[i].quote.len, "redacted:", 9) !=
            NULL)
            is_kept = false;
        else if (lessons->items[i].asks)
            status = find_attribute(arena, &lessons->items[i], &is_kept, err);
        if (is_kept)
            lessons->items[kept++] = lessons->items[i];
    }
    if (status != LOCI_OK)
        return status;
    lessons->count = kept;
    *out = (lc_judge_reading){statements, lessons};
    return LOCI_OK;
}

/* ---- Writing --------------------------------------------------------------------------------- */

typedef struct judging {
    lc_tx *tx;
    const lc_observation *o;
    lc_arena *arena;
    lc_learned_list *out;
    lc_moment said;
    bool has_zone; /* The time zone was looked for. */
    bool is_trusted;
} judging;

/* "2026-03-13", or the moment. */
static loci_str format_when(const lc_lesson_source *source, char out[LC_TIME_BYTES_MAX])
{
    size_t bytes = lc_time_format(source->when_us, out);

    return (loci_str){out, source->has_time ? bytes : DATE_BYTES};
}

loci_status lc_judge_metadata(lc_arena *arena, const lc_lesson_source *source, loci_str *out,
                              loci_error *err)
{
    char time[LC_TIME_BYTES_MAX];
    lc_json_writer json;
    lc_buf text;
    loci_status status;

    lc_buf_init(&text, arena->heap, LOCI_MEM_REQUESTS, METADATA_BYTES_MAX);
    lc_jw_init(&json, &text);
    lc_jw_object(&json);
    if (source->message_id.len > 0)
        lc_jw_member_str(&json, "message_id", source->message_id);
    if (source->session_id.len > 0)
        lc_jw_member_str(&json, "session_id", source->session_id);
    lc_jw_name(&json, "said");
    lc_jw_object(&json);
    lc_jw_member_str(&json, "quote", source->quote);
    if (source->when_words.len > 0) {
        lc_jw_member_str(&json, "when", source->when_words);
        lc_jw_member_str(&json, "date", format_when(source, time));
    }
    lc_jw_end(&json);
    lc_jw_end(&json);
    status = lc_buf_status(&text, err);
    if (status == LOCI_OK) {
        *out = lc_arena_copy(arena, lc_buf_str(&text));
        if (out->ptr == NULL)
            status = lc_fail_memory(err);
    }
    lc_buf_clear(&text);
    return status;
}

loci_status lc_judge_person(lc_arena *arena, loci_str name, lc_str_list *out, loci_error *err)
{
    loci_str *ref = lc_arena_zalloc_array(arena, 1, sizeof *ref), slug;
    loci_status status = ref != NULL ? lc_slug_make(arena, name, &slug, err) : lc_fail_memory(err);
    char *text;

    *out = (lc_str_list){NULL, 0};
    if (status != LOCI_OK || slug.len == 0)
        return status;
    text = lc_arena_alloc(arena, slug.len + 8);
    if (text == NULL)
        return lc_fail_memory(err);
    memcpy(text, "person:", 7);
    memcpy(text + 7, slug.ptr, slug.len);
    *ref = (loci_str){text, slug.len + 7};
    *out = (lc_str_list){ref, 1};
    return LOCI_OK;
}

/* Of the user, from the environment: only for a message that names a date. */
static loci_status find_zone(judging *j, loci_error *err)
{
    lc_signal signal;
    loci_status status;

    if (j->has_zone)
        return LOCI_OK;
    j->has_zone = true;
    status = lc_environment_load(j->tx, j->o->message.persona_id, LC_STR("timezone"), j->arena,
                                 &signal, err);
    if (status == LOCI_ENOTFOUND)
        return LOCI_OK;
    if (status == LOCI_OK && signal.value.len > 2 && signal.value.ptr[0] == '"')
        (void)lc_zone_offset((loci_str){signal.value.ptr + 1, signal.value.len - 2}, j->said.at_us,
                             &j->said.offset_us); /* An unknown zone is UTC. */
    return status;
}

static loci_status find_when(judging *j, const lc_lesson *lesson, lc_lesson_source *out,
                             loci_error *err)
{
    lc_when when;
    loci_status status;

    *out = (lc_lesson_source){.message_id = j->o->message.id,
                              .session_id = j->o->message.session_id,
                              .quote = lesson->quote};
    if (lesson->when.count == 0 || !lc_when_find(lesson->when, &j->said, &when))
        return LOCI_OK;
    status = find_zone(j, err);
    if (status == LOCI_OK && lc_when_find(lesson->when, &j->said, &when)) {
        out->when_words = lc_terms_text(lc_terms_part(lesson->when, when.first, when.count));
        out->when_us = when.at_us;
        out->has_time = when.has_time;
    }
    return status;
}

static void add(judging *j, lc_learned learned)
{
    j->out->items[j->out->count++] = learned;
}

static loci_str text_of(const char *text)
{
    return text != NULL ? loci_str_of(text) : LC_STR_NONE;
}

static loci_status write_memory(judging *j, const lc_lesson *lesson, const lc_lesson_source *source,
                                loci_error *err)
{
    lc_memory_input *input = lc_arena_zalloc_array(j->arena, 1, sizeof *input);
    lc_memory_plan *plan = NULL;
    lc_memory_result result;
    loci_status status;

    if (input == NULL)
        return lc_fail_memory(err);
    *input = (lc_memory_input){.text = lesson->text,
                               .type = text_of(lesson->type),
                               .fact_type = text_of(lesson->fact_type),
                               .attribute = lesson->attribute,
                               .source = LC_STR("shadow_extraction"),
                               .trust = j->o->trust,
                               .importance = lesson->importance,
                               .confidence = lesson->confidence,
                               .observed_at = j->o->message.observed_at,
                               .persona_id = j->o->message.persona_id,
                               .session_id = j->o->message.session_id};
    status = lc_judge_metadata(j->arena, source, &input->metadata, err);
    if (status == LOCI_OK && lesson->person.len > 0) {
        input->entity_label = lesson->person;
        status = lc_judge_person(j->arena, lesson->person, &input->entity_refs, err);
    }
    if (status == LOCI_OK)
        status = lc_memory_decide(j->tx, input, j->arena, &plan, err);
    if (lc_context_is_about_fact(status)) /* About this memory: the message is not wrong. */
        return LOCI_OK;
    if (status == LOCI_OK)
        status = lc_memory_commit(j->tx, plan, &result, err);
    if (status == LOCI_OK) {
        lc_learned learned = {.kind = "memory",
                              .outcome = lc_memory_outcome_name(result.outcome),
                              .quote = lesson->quote};

        LC_ASSERT(result.memory.id.len < sizeof learned.id.text);
        memcpy(learned.id.text, result.memory.id.ptr, result.memory.id.len);
        add(j, learned);
    }
    return status;
}

static loci_status write_todo(judging *j, const lc_lesson *lesson, const lc_lesson_source *source,
                              loci_error *err)
{
    lc_todo todo = {.text = lesson->text,
                    .kind = LC_STR("commitment"),
                    .status = LC_STR("open"),
                    .due_at = source->when_us,
                    .entity_refs = LC_STR("[]"),
                    .persona_id = j->o->message.persona_id,
                    .message_id = source->message_id,
                    .session_id = source->session_id,
                    .quote = source->quote};
    lc_learned learned = {.kind = "todo", .outcome = "created", .quote = lesson->quote};
    bool is_there = false;
    loci_status status = lc_todo_is_open(j->tx, &todo, &is_there, err);

    if (status != LOCI_OK || is_there)
        return status;
    status = lc_todo_add(j->tx, &todo, &learned.id, err);
    if (status == LOCI_OK)
        add(j, learned);
    return status;
}

static loci_status write_proposal(judging *j, const lc_lesson *lesson,
                                  const lc_lesson_source *source, loci_error *err)
{
    lc_review_proposal proposal = {.kind = lesson->kind == LC_LESSON_TODO ? LC_STR("todo")
                                                                          : LC_STR("memory"),
                                   .text = lesson->text,
                                   .quote = lesson->quote,
                                   .type = text_of(lesson->type),
                                   .fact_type = text_of(lesson->fact_type),
                                   .person = lesson->person,
                                   .importance = lesson->importance,
                                   .due_at = source->when_us,
                                   .confidence = lesson->confidence,
                                   .trust = j->o->trust,
                                   .persona_id = j->o->message.persona_id,
                                   .message_id = source->message_id,
                                   .session_id = source->session_id,
                                   .observed_at = j->o->message.observed_at};
    lc_learned learned = {.kind = "proposal", .outcome = "proposed", .quote = lesson->quote};
    loci_status status = lc_review_propose(j->tx, &proposal, j->arena, &learned.id, err);

    if (status == LOCI_OK && learned.id.text[0] != '\0')
        add(j, learned);
    return status;
}

/* Whether a fact that was made from the same sentence says it. */
static bool is_fact(const lc_lesson *lesson, const lc_observed *observed)
{
    for (size_t i = 0; observed != NULL && i < observed->count; i++) {
        const lc_observed_fact *fact = &observed->facts[i];

        if (fact->result.outcome != LC_FACT_CLAIMED && fact->result.outcome != LC_FACT_LATE &&
            fact->value.len > 0 &&
            memmem(lesson->text.ptr, lesson->text.len, fact->value.ptr, fact->value.len) != NULL)
            return true;
    }
    return false;
}

loci_status lc_judge_write_lessons(lc_tx *tx, const lc_observation *observation,
                                   const lc_lessons *lessons, const lc_observed *observed,
                                   lc_learned_list *out, loci_error *err)
{
    judging j = {.tx = tx,
                 .o = observation,
                 .arena = observation->arena,
                 .out = out,
                 .said = {.at_us = observation->message.observed_at},
                 .is_trusted = lc_str_is(observation->trust, "user") ||
                               lc_str_is(observation->trust, "system")};
    loci_status status = LOCI_OK;

    if (lessons->count == 0 || !lc_observation_is_owner(observation))
        return LOCI_OK;
    /* A rewind finds by this what the message led to; also the entities that its memories name. */
    status = lc_session_carry_source(tx, observation->message.id, err);
    for (size_t i = 0; status == LOCI_OK && i < lessons->count; i++) {
        const lc_lesson *lesson = &lessons->items[i];
        lc_lesson_source at;

        if (is_fact(lesson, observed))
            continue;
        status = find_when(&j, lesson, &at, err);
        if (status != LOCI_OK)
            continue;
        if (!j.is_trusted || lesson->confidence < LC_LEARN_CONFIDENCE_MIN)
            status = write_proposal(&j, lesson, &at, err);
        else if (lesson->kind == LC_LESSON_TODO)
            status = write_todo(&j, lesson, &at, err);
        else
            status = write_memory(&j, lesson, &at, err);
    }
    tx->source = LC_STR_NONE;
    return status;
}

loci_status lc_judge_write(lc_tx *tx, const lc_observation *observation,
                           const lc_judge_reading *reading, lc_learned_list *out, loci_error *err)
{
    lc_observation stored = *observation;
    lc_observed *observed;
    loci_status status = LOCI_OK;

    out->count = 0;
    if (reading->statements->count == 0 && reading->lessons->count == 0)
        return LOCI_OK;
    observed = lc_arena_zalloc_array(observation->arena, 1, sizeof *observed);
    if (observed == NULL)
        return lc_fail_memory(err);
    stored.statements = reading->statements;
    if (reading->statements->count > 0)
        status = lc_context_apply_rules(tx, &stored, observed, err);
    for (size_t i = 0; status == LOCI_OK && i < observed->count; i++)
        out->items[out->count++] = (lc_learned){
            .kind = "fact",
            .id = observed->facts[i].result.id,
            .outcome = lc_fact_outcome_name(observed->facts[i].result.outcome),
            .quote = observed->facts[i].quote};
    return status == LOCI_OK
               ? lc_judge_write_lessons(tx, &stored, reading->lessons, observed, out, err)
               : status;
}
