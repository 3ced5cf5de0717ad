/* resolve.c - see resolve.h. */
#include "context/resolve.h"

#include "base/error.h"
#include "base/str.h"
#include "context/candidate.h"
#include "fact/authority.h"
#include "frame/frame.h"
#include "memory/memory.h"
#include "memory/todo.h"
#include "pack/show.h"
#include "session/session.h"
#include "session/summary.h"
#include "talk/mark.h"
#include "window/window.h"

static loci_status resolve_fact(lc_tx *tx, loci_str persona_id, loci_str id, lc_arena *arena,
                                loci_str *out, loci_error *err)
{
    lc_fact fact;
    loci_status status = lc_fact_load(tx, persona_id, id, arena, &fact, err);

    if (status == LOCI_OK && lc_fact_is_restricted(&fact))
        status = lc_fail(err, LOCI_ENOTFOUND, "there is no fact \"%.*s\"", LC_STR_ARG(id));
    if (status != LOCI_OK)
        return status;
    *out = lc_context_join(arena, (loci_str[]){fact.key, LC_STR(": "), fact.value}, 3);
    return out->ptr != NULL ? LOCI_OK : lc_fail_memory(err);
}

static loci_status resolve_session(lc_tx *tx, loci_str persona_id, loci_str id, lc_arena *arena,
                                   loci_str *out, loci_error *err)
{
    const lc_summary_ref ref = {
        .kind = LC_STR("session"), .session_id = id, .persona_id = persona_id};
    lc_summary summary;
    bool found;
    loci_status status = lc_summary_find_last(tx, &ref, arena, &summary, &found, err);

    if (status == LOCI_OK && !found)
        status = lc_fail(err, LOCI_ENOTFOUND, "session %.*s has no summary", LC_STR_ARG(id));
    if (status == LOCI_OK)
        *out = summary.text;
    return status;
}

loci_status lc_context_resolve(lc_tx *tx, loci_str persona_id, loci_str id, lc_arena *arena,
                               loci_str *out, loci_error *err)
{
    lc_memory memory;
    lc_message message;
    lc_summary summary;
    lc_todo todo;
    loci_status status;

    if (lc_id_is(id, "fact"))
        return resolve_fact(tx, persona_id, id, arena, out, err);
    if (lc_id_is(id, "ses"))
        return resolve_session(tx, persona_id, id, arena, out, err);
    if (lc_id_is(id, "mem")) {
        status = lc_memory_load(tx, persona_id, id, arena, &memory, err);
        *out = status == LOCI_OK ? memory.text : LC_STR_NONE;
    } else if (lc_id_is(id, "msg")) {
        status = lc_session_load_message(tx, persona_id, id, arena, &message, err);
        *out = status == LOCI_OK ? message.text : LC_STR_NONE;
    } else if (lc_id_is(id, "sum")) {
        status = lc_summary_load(tx, persona_id, id, arena, &summary, err);
        *out = status == LOCI_OK ? summary.text : LC_STR_NONE;
    } else if (lc_id_is(id, "todo")) {
        status = lc_todo_load(tx, persona_id, id, arena, &todo, err);
        *out = status == LOCI_OK ? todo.text : LC_STR_NONE;
    } else {
        status = lc_fail(err, LOCI_EINVAL,
                         "object: expected the id of a memory, message, fact, summary, todo or "
                         "session (mem_…, msg_…, fact_…, sum_…, todo_…, ses_…)");
    }
    return status;
}

/* ---- Handles of frames ----------------------------------------------------------------------- */

typedef struct resolving {
    lc_tx *tx;
    loci_str persona_id;
    lc_arena *arena;
    loci_str text;
    loci_str object;    /* The id that a resource stands for; none = none. */
    const char *reason; /* NULL = the text was found. */
} resolving;

/* Only what is valid now: an old value in a pack would be read as the current one. */
static loci_status read_fact(resolving *r, loci_str id, loci_error *err)
{
    lc_fact fact;
    const char *fact_status;
    loci_str value;
    loci_status status = lc_fact_load(r->tx, r->persona_id, id, r->arena, &fact, err);

    if (status != LOCI_OK)
        return status;
    if (lc_fact_is_restricted(&fact)) {
        r->reason = "not_found"; /* As if there were none: the pack has no reader of its own. */
        return LOCI_OK;
    }
    fact_status = lc_fact_status(&fact, r->tx->now_us);
    if (!lc_str_is(loci_str_of(fact_status), "valid")) {
        r->reason = fact_status;
        return LOCI_OK;
    }
    status = lc_show_value(r->arena, fact.value, &value, err);
    if (status != LOCI_OK)
        return status;
    r->text = lc_context_join(r->arena, (loci_str[]){fact.key, LC_STR(": "), value}, 3);
    return r->text.ptr != NULL ? LOCI_OK : lc_fail_memory(err);
}

static loci_status read_memory(resolving *r, loci_str id, loci_error *err)
{
    static const char *const reasons[] = {[LC_MEMORY_ACTIVE] = NULL,
                                          [LC_MEMORY_ARCHIVED] = "archived",
                                          [LC_MEMORY_SUPERSEDED] = "superseded",
                                          [LC_MEMORY_CLAIMED] = "claimed"};
    lc_memory memory;
    loci_status status = lc_memory_load(r->tx, r->persona_id, id, r->arena, &memory, err);

    if (status != LOCI_OK)
        return status;
    r->text = memory.text;
    r->reason = reasons[memory.status];
    return LOCI_OK;
}

/* A mark that names its readers hides the message: the pack has no reader of its own. */
static loci_status read_message(resolving *r, loci_str id, loci_error *err)
{
    const lc_reader nobody = {.rank = -1};
    lc_message message;
    loci_status status = lc_session_load_message(r->tx, r->persona_id, id, r->arena, &message, err);

    if (status != LOCI_OK)
        return status;
    r->text = message.text;
    if (lc_mark_judge(message.text, &nobody, lc_title_weight) == LC_MARK_RESTRICTED)
        r->reason = "not_found";
    return LOCI_OK;
}

/* A text resource by its text, a file by its summary: packing reads no files. */
static loci_status read_resource(resolving *r, loci_str id, loci_error *err)
{
    lc_resource resource = {0};
    lc_window window;
    bool found = false;
    loci_status status = lc_window_find(r->tx, r->persona_id, r->arena, &window, &found, err);

    if (status == LOCI_OK && found)
        status = lc_resource_find(r->tx, &window, id, r->arena, &resource, err);
    if (status != LOCI_OK)
        return status;
    if (resource.id.len == 0) {
        r->reason = "not_found";
        return LOCI_OK;
    }
    if (lc_str_is(resource.source, "text"))
        return lc_resource_read_text(r->tx, &resource, r->arena, &r->text, err);
    r->text = resource.summary;
    if (lc_str_is(resource.source, "object"))
        (void)lc_str_split(resource.uri, ':', &r->object); /* loci:ID */
    return LOCI_OK;
}

/* The goal of a frame, and how far it is. */
static loci_status read_frame(resolving *r, loci_str id, loci_error *err)
{
    lc_frame frame;
    loci_status status = lc_frame_load(r->tx, r->persona_id, id, r->arena, &frame, err);

    if (status != LOCI_OK)
        return status;
    r->text = lc_context_join(r->arena,
                              (loci_str[]){frame.goal, LC_STR(" ("),
                                           loci_str_of(lc_frame_status_name(frame.status)),
                                           LC_STR(")")},
                              4);
    return r->text.ptr != NULL ? LOCI_OK : lc_fail_memory(err);
}

/* Only a handle with a text of its own: a chain of references could be a circle. */
static loci_status read_handle(resolving *r, loci_str id, loci_error *err)
{
    lc_frame_handle handle;
    lc_frame frame;
    loci_status status = lc_frame_load_handle(r->tx, id, r->arena, &handle, err);

    if (status == LOCI_OK) /* The persona must see its frame. */
        status = lc_frame_load(r->tx, r->persona_id, handle.frame_id, r->arena, &frame, err);
    if (status != LOCI_OK)
        return status;
    return handle.hash.len > 0 ? lc_content_load(r->tx, handle.hash, r->arena, &r->text, err)
                               : LOCI_OK;
}

static bool is_url(loci_str ref)
{
    for (size_t i = 0; i + 2 < ref.len; i++)
        if (ref.ptr[i] == ':')
            return ref.ptr[i + 1] == '/' && ref.ptr[i + 2] == '/';
    return false;
}

static loci_status read_ref(resolving *r, loci_str ref, loci_error *err)
{
    if (lc_id_is(ref, "fact"))
        return read_fact(r, ref, err);
    if (lc_id_is(ref, "mem"))
        return read_memory(r, ref, err);
    if (lc_id_is(ref, "msg"))
        return read_message(r, ref, err);
    if (lc_id_is(ref, "res"))
        return read_resource(r, ref, err);
    if (lc_id_is(ref, "frm"))
        return read_frame(r, ref, err);
    if (lc_id_is(ref, "hdl"))
        return read_handle(r, ref, err);
    if (!is_url(ref))
        return lc_context_resolve(r->tx, r->persona_id, ref, r->arena, &r->text, err);
    r->text = ref;
    return LOCI_OK;
}

loci_status lc_context_resolve_ref(lc_tx *tx, loci_str persona_id, loci_str ref, lc_arena *arena,
                                   lc_resolved *out, loci_error *err)
{
    resolving r = {.tx = tx, .persona_id = persona_id, .arena = arena};
    loci_status status = read_ref(&r, ref, err);

    if (status == LOCI_OK && r.object.len > 0) /* Never a resource. */
        status = read_ref(&r, r.object, err);
    if (status == LOCI_ENOTFOUND || status == LOCI_EINVAL) /* Gone, or an id of no such object. */
        r.reason = "not_found";
    else if (status != LOCI_OK)
        return status;
    if (r.reason == NULL && lc_str_trim(r.text).len == 0)
        r.reason = "no_text";
    *out = (lc_resolved){r.reason == NULL ? r.text : LC_STR_NONE, r.reason};
    return LOCI_OK;
}
