/* forget.c - see forget.h. Everything is decided before the first write. */
#include "context/forget.h"

#include <stdio.h>

#include "base/error.h"
#include "base/str.h"
#include "frame/frame.h"
#include "memory/todo.h"
#include "review/review.h"

/* ---- Derived rows ---------------------------------------------------------------------------- */

/* Rows derived from messages or memories, which are forgotten together with them. */
typedef struct derived {
    lc_forgetting *f;
    lc_memory_oblivion **memories;
    size_t memory_count;
    loci_str *todos;
    size_t todo_count, todo_room;
    lc_review_oblivion proposals;
} derived;

static loci_status add_todo(void *ctx, const lc_todo *todo, loci_error *err)
{
    derived *d = ctx;

    if (d->todo_count == d->todo_room) {
        size_t room = d->todo_room > 0 ? 2 * d->todo_room : 16;
        loci_str *ids = lc_arena_zalloc_array(d->f->arena, room, sizeof *ids);

        if (ids == NULL)
            return lc_fail_memory(err);
        for (size_t i = 0; i < d->todo_count; i++)
            ids[i] = d->todos[i];
        d->todos = ids;
        d->todo_room = room;
    }
    d->todos[d->todo_count] = lc_arena_copy(d->f->arena, todo->id);
    return d->todos[d->todo_count++].ptr != NULL ? LOCI_OK : lc_fail_memory(err);
}

/* The persona of a thing that goes is that of the message: what one persona was told, no other one
 * has. */
static loci_status decide_todos(derived *d, loci_str persona_id, loci_error *err)
{
    loci_status status = LOCI_OK;

    for (size_t i = 0; i < d->todo_count && status == LOCI_OK; i++) {
        status = lc_todo_decide_forget(d->f->tx, persona_id, d->todos[i], d->f, err);
        if (status == LOCI_ENOTFOUND) {
            d->todos[i] = LC_STR_NONE; /* Of another persona. */
            status = LOCI_OK;
        }
    }
    return status;
}

static loci_status add_proposals(void *ctx, const lc_forget_item *memory, loci_error *err)
{
    derived *d = ctx;
    loci_str content = lc_review_hash(d->f->arena, (loci_str[]){LC_STR("memory"), memory->text}, 2);

    if (content.ptr == NULL)
        return lc_fail_memory(err);
    return lc_review_decide_forget(d->f->tx, &(lc_review_target){.content = content}, d->f,
                                   &d->proposals, err);
}

/* Memories whose metadata has `name` with this id. */
static loci_status decide_memories(derived *d, loci_str persona_id, const char *name, loci_str id,
                                   loci_error *err)
{
    char json[LC_ID_TEXT_BYTES + 3];
    lc_memory_target target = {.which = {.persona_id = persona_id}};
    loci_status status;

    (void)snprintf(json, sizeof json, "\"%.*s\"", LC_STR_ARG(id)); /* Fits: it is an id. */
    target.which.tags[0] = lc_memory_metadata_tag(d->f->arena, loci_str_of(name),
                                                  loci_str_of(json));
    if (target.which.tags[0].ptr == NULL)
        return lc_fail_memory(err);
    status = lc_memory_decide_forget(d->f->tx, &target, d->f, &d->memories[d->memory_count], err);
    if (status == LOCI_OK)
        d->memory_count++;
    return status == LOCI_ENOTFOUND ? LOCI_OK : status;
}

/* All that was read in a message, or in those of a session. */
static loci_status decide_derived(derived *d, loci_str persona_id, loci_str message_id,
                                  loci_str session_id, loci_error *err)
{
    lc_todo_source source = {.message_id = message_id, .session_id = session_id};
    loci_status status = message_id.len > 0
                             ? decide_memories(d, persona_id, "message_id", message_id, err)
                             : decide_memories(d, persona_id, "session_id", session_id, err);

    if (status == LOCI_OK)
        status = lc_todo_each_of_source(d->f->tx, &source, add_todo, d, err);
    if (status == LOCI_OK)
        status = decide_todos(d, persona_id, err);
    if (status == LOCI_OK)
        status = lc_review_decide_forget(d->f->tx, &(lc_review_target){message_id, session_id, {0}},
                                         d->f, &d->proposals, err);
    return status;
}

static loci_status commit_derived(const derived *d, loci_error *err)
{
    lc_tx *tx = d->f->tx;
    loci_status status = LOCI_OK;

    for (size_t i = 0; i < d->memory_count && status == LOCI_OK; i++)
        status = lc_memory_commit_forget(tx, d->memories[i], err);
    for (size_t i = 0; i < d->todo_count && status == LOCI_OK; i++)
        if (d->todos[i].len > 0)
            status = lc_todo_commit_forget(tx, d->todos[i], err);
    return status == LOCI_OK ? lc_review_commit_forget(tx, &d->proposals, err) : status;
}

static loci_status init_derived(derived *d, lc_forgetting *f, size_t sources, loci_error *err)
{
    *d = (derived){.f = f};
    d->memories = lc_arena_zalloc_array(f->arena, sources + 1, sizeof(lc_memory_oblivion *));
    return d->memories != NULL ? LOCI_OK : lc_fail_memory(err);
}

/* ---- Messages and memories ------------------------------------------------------------------- */

loci_status lc_context_forget_message(const lc_message_forget *what, lc_forgetting *f,
                                      loci_error *err)
{
    derived d;
    loci_status status = lc_message_decide_forget(f->tx, what->persona_id, what->id, f, err);

    if (status == LOCI_OK)
        status = init_derived(&d, f, 1, err);
    if (status == LOCI_OK)
        status = decide_derived(&d, what->persona_id, what->id, LC_STR_NONE, err);
    if (status == LOCI_OK)
        status = lc_forget_each(f, "memory", add_proposals, &d, err);
    if (status != LOCI_OK || what->is_dry_run)
        return status;
    status = commit_derived(&d, err);
    return status == LOCI_OK ? lc_message_commit_forget(f->tx, what->id, err) : status;
}

loci_status lc_context_forget_memories(const lc_memories_forget *what, lc_forgetting *f,
                                       loci_error *err)
{
    lc_memory_oblivion *oblivion;
    derived d = {.f = f};
    loci_status status = lc_memory_decide_forget(f->tx, &what->target, f, &oblivion, err);

    if (status == LOCI_OK)
        status = lc_forget_each(f, "memory", add_proposals, &d, err);
    if (status != LOCI_OK || what->is_dry_run)
        return status;
    status = lc_memory_commit_forget(f->tx, oblivion, err);
    return status == LOCI_OK ? lc_review_commit_forget(f->tx, &d.proposals, err) : status;
}

/* ---- Sessions -------------------------------------------------------------------------------- */

/* Frames name their session as their caller did: by its id or by its external name. */
static loci_status decide_frames(const lc_session_forget *what,
                                 const lc_session_oblivions *sessions, lc_forgetting *f,
                                 lc_frame_oblivion *out, loci_error *err)
{
    loci_str *names = lc_arena_zalloc_array(f->arena, 2 * sessions->count, sizeof *names);
    lc_frame_target target = {.persona_id = what->session.persona_id};
    size_t count = 0;

    if (names == NULL)
        return lc_fail_memory(err);
    for (size_t i = 0; i < sessions->count; i++) {
        const lc_session *session = &sessions->items[i].session;

        names[count++] = session->id;
        /* All sessions of a forgotten name have the same one. */
        if (session->external_id.len > 0 && i == 0)
            names[count++] = session->external_id;
    }
    target.sessions = (lc_str_list){names, count};
    return lc_frame_decide_forget(f->tx, &target, f, out, err);
}

loci_status lc_context_forget_session(const lc_session_forget *what, lc_forgetting *f,
                                      loci_error *err)
{
    lc_tx *tx = f->tx;
    lc_session_oblivions sessions;
    lc_fact_oblivion **facts = NULL;
    lc_frame_oblivion frames = {0};
    derived d;
    loci_status status = lc_session_decide_forget(tx, &what->session, f, &sessions, err);

    if (status == LOCI_OK)
        status = decide_frames(what, &sessions, f, &frames, err);
    if (status != LOCI_OK)
        return status;
    facts = lc_arena_zalloc_array(f->arena, sessions.count, sizeof(lc_fact_oblivion *));
    status = facts != NULL ? init_derived(&d, f, sessions.count, err) : lc_fail_memory(err);
    for (size_t i = 0; status == LOCI_OK && i < sessions.count; i++) {
        lc_fact_target target = what->facts;

        target.key = target.id = LC_STR_NONE;
        target.view.scope = LC_STR("session");
        target.view.scope_id = sessions.items[i].session.id;
        status = lc_fact_decide_forget(tx, &target, f, &facts[i], err);
        if (status == LOCI_OK)
            status = decide_derived(&d, what->session.persona_id, LC_STR_NONE,
                                    sessions.items[i].session.id, err);
    }
    if (status == LOCI_OK)
        status = lc_forget_each(f, "memory", add_proposals, &d, err);
    if (status != LOCI_OK || what->is_dry_run)
        return status;
    for (size_t i = 0; status == LOCI_OK && i < sessions.count; i++)
        status = lc_fact_commit_forget(tx, facts[i], err);
    if (status == LOCI_OK)
        status = lc_frame_commit_forget(tx, &frames, err);
    if (status == LOCI_OK)
        status = commit_derived(&d, err);
    return status == LOCI_OK
               ? lc_session_commit_forget(tx, what->session.persona_id, &sessions, err)
               : status;
}
