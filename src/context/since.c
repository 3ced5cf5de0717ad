/* since.c - see since.h. Each kind of line is asked of its room. */
#include "context/since.h"

#include "base/error.h"
#include "base/str.h"
#include "context/candidate.h"
#include "fact/fact.h"
#include "memory/memory.h"
#include "memory/todo.h"
#include "pack/show.h"
#include "session/environment.h"
#include "session/summary.h"
#include "session/working.h"

/* ---- Lines of a context ---------------------------------------------------------------------- */

/* LOCI_ENOTFOUND of a room means that a rewind took the thing back: forgotten ones have no line. */
static loci_status missing_as(loci_status status, const char *reason, lc_stale *out)
{
    if (status != LOCI_ENOTFOUND)
        return status;
    out->reason = reason;
    return LOCI_OK;
}

static loci_status check_fact(lc_tx *tx, const lc_fact_view *view, loci_str id, lc_arena *arena,
                              lc_stale *out, loci_error *err)
{
    lc_fact fact, next;
    loci_status status = lc_fact_load(tx, view->persona_id, id, arena, &fact, err);

    if (status != LOCI_OK)
        return missing_as(status, "withdrawn", out);
    if (!lc_fact_may_read(&fact, &view->access))
        out->reason = "restricted";
    else if (fact.standing == LC_FACT_IS_RETRACTED)
        out->reason = "retracted";
    else if (fact.standing != LC_FACT_VALID)
        out->reason = "superseded";
    else if (fact.valid_until <= tx->now_us)
        out->reason = "expired";
    else if (fact.needs_review)
        out->reason = "needs_review";
    next = fact;
    for (int i = 0; i < LC_FACT_CHAIN_MAX && next.superseded_by.len > 0 && status == LOCI_OK; i++)
        status = lc_fact_load(tx, view->persona_id, next.superseded_by, arena, &next, err);
    if (status == LOCI_OK && fact.superseded_by.len > 0 && next.standing == LC_FACT_VALID &&
        lc_fact_may_read(&next, &view->access))
        out->now_id = next.id;
    return status == LOCI_ENOTFOUND ? LOCI_OK : status;
}

static loci_status check_memory(lc_tx *tx, loci_str persona_id, loci_str id, lc_arena *arena,
                                lc_stale *out, loci_error *err)
{
    lc_memory memory;
    loci_status status = lc_memory_load(tx, persona_id, id, arena, &memory, err);

    if (status != LOCI_OK)
        return missing_as(status, "withdrawn", out);
    if (memory.status == LC_MEMORY_SUPERSEDED) {
        out->reason = "superseded";
        out->now_id = memory.superseded_by;
    } else if (memory.status != LC_MEMORY_ACTIVE) {
        out->reason = "archived";
    }
    return LOCI_OK;
}

static loci_status check_summary(lc_tx *tx, loci_str persona_id, loci_str id, lc_arena *arena,
                                 lc_stale *out, loci_error *err)
{
    lc_summary summary, last;
    bool found = false;
    loci_status status = lc_summary_load(tx, persona_id, id, arena, &summary, err);

    if (status != LOCI_OK)
        return missing_as(status, "withdrawn", out);
    status = lc_summary_find_last(
        tx, &(lc_summary_ref){summary.kind, summary.session_id, summary.persona_id}, arena, &last,
        &found, err);
    if (status == LOCI_OK && found && !lc_str_eq(last.id, id)) {
        out->reason = "superseded";
        out->now_id = last.id;
    }
    return status;
}

static loci_status check_note(lc_tx *tx, const lc_line_check *check, lc_stale *out, loci_error *err)
{
    lc_working_item item;
    loci_status status = lc_working_load(tx, check->context->session_id, check->line->id,
                                         check->arena, &item, err);

    if (status == LOCI_OK && item.created_at > check->context->created_at)
        out->reason = "changed";
    return missing_as(status, "expired", out);
}

static loci_status check_signal(lc_tx *tx, const lc_line_check *check, lc_stale *out,
                                loci_error *err)
{
    lc_signal signal;
    loci_status status = lc_environment_load(tx, check->view->persona_id, check->line->id,
                                             check->arena, &signal, err);

    if (status == LOCI_OK && signal.recorded_at > check->context->created_at)
        out->reason = "changed";
    return missing_as(status, "withdrawn", out);
}

loci_status lc_context_check_line(lc_tx *tx, const lc_line_check *check, lc_stale *out,
                                  loci_error *err)
{
    const lc_fact_view *view = check->view;
    loci_str id = check->line->id;
    lc_message message;
    lc_todo todo;
    loci_status status;

    *out = (lc_stale){.now_id = LC_STR_NONE};
    /* Notes and signals are named by their keys, which may look like an id. */
    if (lc_str_is(check->line->section, "working"))
        return check_note(tx, check, out, err);
    if (lc_str_is(check->line->section, "environment"))
        return check_signal(tx, check, out, err);
    if (lc_id_is(id, "fact"))
        return check_fact(tx, view, id, check->arena, out, err);
    if (lc_id_is(id, "mem"))
        return check_memory(tx, view->persona_id, id, check->arena, out, err);
    if (lc_id_is(id, "sum"))
        return check_summary(tx, view->persona_id, id, check->arena, out, err);
    if (lc_id_is(id, "msg")) {
        status = lc_session_load_message(tx, view->persona_id, id, check->arena, &message, err);
        return missing_as(status, "withdrawn", out);
    }
    if (lc_id_is(id, "todo")) {
        status = lc_todo_load(tx, view->persona_id, id, check->arena, &todo, err);
        if (status == LOCI_OK && !lc_str_is(todo.status, "open"))
            out->reason = "closed";
        return missing_as(status, "withdrawn", out);
    }
    return LOCI_OK; /* A map: it is made for each call. */
}

/* ---- Changes --------------------------------------------------------------------------------- */

typedef struct listing {
    lc_tx *tx;
    const lc_fact_view *view;
    lc_arena *arena;
    lc_changes *out;
    const char *kind;
    int64_t after_seq;
    int64_t left; /* Rows of this kind that may still be read. */
} listing;

/* The walks read one row more than the limit; whether it would be shown does not matter. */
static bool is_over(listing *l)
{
    if (l->left-- > 0)
        return false;
    l->out->is_complete = false;
    return true;
}

static loci_status add(listing *l, loci_str id, int64_t seq, loci_str line, loci_error *err)
{
    lc_change *to = &l->out->items[l->out->count];

    to->kind = l->kind;
    to->seq = seq;
    to->id = lc_arena_copy(l->arena, id);
    to->line = lc_arena_copy(l->arena, lc_str_trim(line));
    if (to->id.ptr == NULL || to->line.ptr == NULL)
        return lc_fail_memory(err);
    for (size_t i = 0; i < to->line.len; i++)
        if ((unsigned char)to->line.ptr[i] < 0x20 || to->line.ptr[i] == 0x7f)
            ((char *)to->line.ptr)[i] = ' ';
    l->out->count++;
    return LOCI_OK;
}

static loci_status add_fact(void *ctx, const lc_fact *fact, loci_error *err)
{
    listing *l = ctx;
    bool is_in_scope = lc_str_is(fact->scope, "global") ||
                       (l->view->session_id.len > 0 && lc_str_is(fact->scope, "session") &&
                        lc_str_eq(fact->scope_id, l->view->session_id));
    loci_str json, value, line;
    loci_status status;

    if (is_over(l) || !is_in_scope || !lc_fact_may_read(fact, &l->view->access))
        return LOCI_OK;
    /* One that has expired is no change to a value, and one with a successor is listed as that. */
    if (fact->standing == LC_FACT_VALID ? fact->valid_until <= l->tx->now_us
                                        : fact->superseded_by.len > 0)
        return LOCI_OK;
    json = lc_arena_copy(l->arena, fact->value); /* The row is gone after the visit. */
    status = json.ptr != NULL ? lc_show_value(l->arena, json, &value, err) : lc_fail_memory(err);
    if (status != LOCI_OK)
        return status;
    line = lc_context_join(l->arena, (loci_str[]){fact->key, LC_STR(": "), value}, 3);
    return line.ptr != NULL ? add(l, fact->id, fact->seq, line, err) : lc_fail_memory(err);
}

static loci_status add_memory(void *ctx, const lc_memory *memory, loci_error *err)
{
    listing *l = ctx;

    return memory->seq > l->after_seq && !is_over(l)
               ? add(l, memory->id, memory->seq, memory->text, err)
               : LOCI_OK;
}

static loci_status add_todo(void *ctx, const lc_todo *todo, loci_error *err)
{
    listing *l = ctx;

    return todo->seq > l->after_seq && !is_over(l) ? add(l, todo->id, todo->seq, todo->text, err)
                                                   : LOCI_OK;
}

#define KINDS 4

loci_status lc_context_list_changes(lc_tx *tx, const lc_change_query *query, lc_arena *arena,
                                    lc_changes *out, loci_error *err)
{
    const lc_fact_view *view = query->view;
    int64_t seq = query->seq, limit = query->limit;
    const lc_fact_recent recent = {
        .persona_id = view->persona_id, .after_seq = seq, .limit = limit + 1};
    const lc_memory_page memories = {.persona_id = view->persona_id,
                                     .status = LC_STR("active"),
                                     .before_seq = INT64_MAX,
                                     .limit = limit + 1};
    const lc_todo_page todos = {.persona_id = view->persona_id,
                                .status = LC_STR("open"),
                                .before_seq = INT64_MAX,
                                .limit = limit + 1};
    listing l = {.tx = tx, .view = view, .arena = arena, .out = out, .after_seq = seq};
    loci_status status;

    *out = (lc_changes){
        .items = lc_arena_zalloc_array(arena, KINDS * (size_t)limit + 1, sizeof *out->items),
        .is_complete = true};
    if (out->items == NULL)
        return lc_fail_memory(err);
    l.kind = "fact";
    l.left = limit;
    status = lc_fact_each_recent(tx, &recent, add_fact, &l, err);
    l.kind = "ended";
    l.left = limit;
    if (status == LOCI_OK)
        status = lc_fact_each_ended(tx, &recent, add_fact, &l, err);
    l.kind = "memory";
    l.left = limit;
    if (status == LOCI_OK)
        status = lc_memory_each(tx, &memories, add_memory, &l, err);
    l.kind = "todo";
    l.left = limit;
    if (status == LOCI_OK)
        status = lc_todo_each(tx, &todos, add_todo, &l, err);
    return status;
}
