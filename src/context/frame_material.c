/* frame_material.c - see frame_material.h.
 *
 * Handles are collected first, because a walk allows no queries, then marked, ordered, and read one
 * by one in the order of choosing. A text is read into a scratch arena; only the forms that a pack
 * can use are kept.
 */
#include "context/frame_material.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/map.h"
#include "context/build.h"
#include "context/candidate.h"
#include "context/resolve.h"
#include "pack/excerpt.h"

#define RECENT 10           /* Handles that are shortened last. */
#define SHORTENED_BYTES 600 /* Some sentences, */
#define GIST_BYTES 200      /* and one. */
#define TOOLS_SHOWN 10      /* Running tool calls that the brief names. */
#define BRIEF_BYTES_MAX (1 << 20)

typedef struct reading {
    lc_tx *tx;
    const lc_frame_material_request *request;
    lc_arena *arena;
    lc_arena scratch; /* For one text. */
    lc_frame_material *out;
    lc_frame_list stack;    /* For handles to include; read when it is needed. */
    size_t bytes_left;      /* For texts that are not mandatory. */
    size_t mandatory_bytes; /* Read so far. */
    size_t room;            /* For segments. */
} reading;

/* ---- Handles --------------------------------------------------------------------------------- */

static loci_status keep_handle(void *ctx, const lc_frame_handle *handle, loci_error *err)
{
    reading *r = ctx;
    lc_segment *to = &r->out->segments[r->out->count];

    if (r->out->count == r->room)
        return lc_fail(err, LOCI_ECORRUPT, "frame %.*s has more handles than its row says",
                       LC_STR_ARG(handle->frame_id));
    to->handle = *handle;
    to->is_mandatory = handle->priority == LC_PRIORITY_CRITICAL;
    r->out->count++;
    return lc_row_keep(&lc_frame_handle_row, r->arena, &to->handle) ? LOCI_OK : lc_fail_memory(err);
}

static lc_segment *find_segment(const lc_frame_material *material, loci_str id)
{
    for (size_t i = 0; i < material->count; i++)
        if (lc_str_eq(material->segments[i].handle.id, id))
            return &material->segments[i];
    return NULL;
}

/* Whether the frame is above this one. The whole stack is read once, if at all. */
static loci_status check_above(reading *r, loci_str frame_id, bool *out, loci_error *err)
{
    loci_status status = LOCI_OK;

    if (r->stack.items == NULL)
        status = lc_frame_load_stack(r->tx, &r->out->frame, r->arena, &r->stack, err);
    *out = false;
    for (size_t i = 0; i < r->stack.count && status == LOCI_OK; i++)
        *out |= lc_str_eq(r->stack.items[i].id, frame_id);
    return status;
}

/* A handle of this frame, or of one above it. */
static loci_status include(reading *r, loci_str id, loci_error *err)
{
    lc_frame_material *m = r->out;
    lc_segment *segment = find_segment(m, id);
    lc_frame_handle handle;
    bool is_above = false;
    loci_status status;

    if (segment != NULL) {
        segment->is_mandatory = true;
        return LOCI_OK;
    }
    status = lc_frame_load_handle(r->tx, id, r->arena, &handle, err);
    if (status == LOCI_OK)
        status = check_above(r, handle.frame_id, &is_above, err);
    if (status != LOCI_OK && status != LOCI_ENOTFOUND)
        return status;
    if (!is_above) {
        m->unknown[m->unknown_count++] = id;
        return LOCI_OK;
    }
    m->segments[m->count++] = (lc_segment){.handle = handle, .is_mandatory = true};
    return LOCI_OK;
}

static loci_status exclude(const reading *r, loci_str id, loci_error *err)
{
    lc_segment *segment = find_segment(r->out, id);

    if (segment == NULL) /* It is not in the pack. */
        return LOCI_OK;
    if (segment->is_mandatory)
        return lc_fail(err, LOCI_EINVAL,
                       "exclude: handle %.*s is %s; critical and included handles are always in a "
                       "pack",
                       LC_STR_ARG(id),
                       segment->handle.priority == LC_PRIORITY_CRITICAL ? "critical" : "included");
    segment->dropped = "excluded";
    return LOCI_OK;
}

static loci_status read_handles(reading *r, loci_error *err)
{
    const lc_frame_material_request *request = r->request;
    lc_frame_material *m = r->out;
    loci_status status;

    r->room = (size_t)m->frame.handles;
    m->segments = lc_arena_zalloc_array(r->arena, r->room + request->include.count + 1,
                                        sizeof *m->segments);
    m->unknown = lc_arena_zalloc_array(r->arena, request->include.count + 1, sizeof(loci_str));
    if (m->segments == NULL || m->unknown == NULL)
        return lc_fail_memory(err);
    status = lc_frame_each_handle(r->tx, m->frame.id, keep_handle, r, err);
    for (size_t i = 0; i < m->count; i++)
        m->segments[i].is_recent = i + RECENT >= m->count;
    for (size_t i = 0; i < request->include.count && status == LOCI_OK; i++)
        status = include(r, request->include.items[i], err);
    for (size_t i = 0; i < request->exclude.count && status == LOCI_OK; i++)
        status = exclude(r, request->exclude.items[i], err);
    return status;
}

/* ---- Order ----------------------------------------------------------------------------------- */

static int compare_choice(const void *a, const void *b)
{
    const lc_segment *x = *(lc_segment *const *)a, *y = *(lc_segment *const *)b;

    if (x->is_mandatory != y->is_mandatory)
        return x->is_mandatory ? -1 : 1;
    if (x->handle.priority != y->handle.priority)
        return x->handle.priority < y->handle.priority ? -1 : 1;
    if (x->handle.seq != y->handle.seq)
        return x->handle.seq > y->handle.seq ? -1 : 1;
    return lc_str_compare(x->handle.id, y->handle.id);
}

static loci_status sort_segments(reading *r, loci_error *err)
{
    lc_frame_material *m = r->out;

    m->order = lc_arena_zalloc_array(r->arena, m->count + 1, sizeof *m->order);
    if (m->order == NULL)
        return lc_fail_memory(err);
    for (size_t i = 0; i < m->count; i++)
        m->order[i] = &m->segments[i];
    qsort(m->order, m->count, sizeof *m->order, compare_choice);
    for (size_t i = 0; i < m->count; i++)
        m->order[i]->rank = (int64_t)i + 1;
    return LOCI_OK;
}

/* Of handles with the same text or ref the first in the order of choosing stays. Outputs of tools
 * are all kept: their calls differ. */
static loci_status drop_duplicates(reading *r, loci_error *err)
{
    lc_frame_material *m = r->out;
    lc_map seen;
    loci_status status = LOCI_OK;

    lc_map_init(&seen, r->arena->heap, LOCI_MEM_REQUESTS);
    for (size_t i = 0; i < m->count && status == LOCI_OK; i++) {
        lc_segment *segment = m->order[i];
        loci_str key = segment->handle.hash.len > 0 ? segment->handle.hash : segment->handle.ref;

        if (segment->dropped != NULL || segment->handle.call_seq > 0)
            continue;
        if (lc_map_find(&seen, key) == NULL)
            status = lc_map_put(&seen, key, segment) ? LOCI_OK : lc_fail_memory(err);
        else if (!segment->is_mandatory)
            segment->dropped = "duplicate";
    }
    lc_map_clear(&seen);
    return status;
}

/* ---- Texts ----------------------------------------------------------------------------------- */

/* Copies the text into the arena if there is room. */
static loci_status keep_text(reading *r, bool is_mandatory, loci_str text, loci_str *out,
                             loci_error *err)
{
    *out = LC_STR_NONE;
    if (!is_mandatory && text.len > r->bytes_left)
        return LOCI_OK;
    *out = lc_arena_copy(r->arena, text);
    if (out->ptr == NULL)
        return lc_fail_memory(err);
    if (!is_mandatory)
        r->bytes_left -= text.len;
    else
        r->mandatory_bytes += text.len;
    return r->mandatory_bytes <= LC_CONTEXT_BYTES_MAX
               ? LOCI_OK
               : lc_fail(err, LOCI_ELIMIT,
                         "frame %.*s: its critical and included handles have more than %d MB of "
                         "text; include fewer, or lower their priority",
                         LC_STR_ARG(r->out->frame.id), LC_CONTEXT_BYTES_MAX >> 20);
}

/* "grep {"pattern":"pool"}", and the error if it failed. Without room for it the segment has no
 * text either. */
static loci_status label_call(reading *r, lc_segment *segment, loci_error *err)
{
    loci_str label = LC_STR("");
    lc_frame_tool tool;
    bool found = false;
    loci_status status = lc_frame_find_call(r->tx, segment->handle.call_seq, &r->scratch, &tool,
                                            &found, err);

    if (status == LOCI_OK && found)
        label = lc_context_join(
            &r->scratch,
            (loci_str[]){tool.name, tool.arguments.len > 0 ? LC_STR(" ") : LC_STR(""),
                         tool.arguments, tool.error.len > 0 ? LC_STR(" failed, ") : LC_STR(""),
                         tool.error},
            5);
    if (status == LOCI_OK && label.ptr == NULL)
        status = lc_fail_memory(err);
    return status == LOCI_OK ? keep_text(r, segment->is_mandatory, label, &segment->label, err)
                             : status;
}

/* Sets the forms of `text`, which is in the scratch arena. */
static loci_status shape(reading *r, lc_segment *segment, loci_str text, loci_error *err)
{
    loci_str *forms = segment->texts, trimmed;
    loci_status status = keep_text(r, segment->is_mandatory, text, &forms[LC_SEGMENT_FULL], err);

    if (status != LOCI_OK)
        return status;
    for (int i = LC_SEGMENT_TRIMMED; i < LC_SEGMENT_FORMS; i++)
        forms[i] = forms[LC_SEGMENT_FULL];
    if (lc_excerpt_is_verbatim(text))
        return LOCI_OK;
    trimmed = lc_excerpt_trim(&r->scratch, text);
    if (trimmed.ptr == NULL)
        return lc_fail_memory(err);
    if (trimmed.len < text.len)
        status = keep_text(r, segment->is_mandatory, trimmed, &forms[LC_SEGMENT_TRIMMED], err);
    if (segment->is_mandatory) {
        forms[LC_SEGMENT_SHORTENED] = forms[LC_SEGMENT_GIST] = forms[LC_SEGMENT_TRIMMED];
        return status;
    }
    forms[LC_SEGMENT_SHORTENED] = lc_excerpt_cut(r->arena, trimmed, SHORTENED_BYTES);
    forms[LC_SEGMENT_GIST] = lc_excerpt_cut(r->arena, trimmed, GIST_BYTES);
    if (forms[LC_SEGMENT_SHORTENED].ptr == NULL || forms[LC_SEGMENT_GIST].ptr == NULL)
        return lc_fail_memory(err);
    return status;
}

static loci_status read_text(reading *r, lc_segment *segment, loci_error *err)
{
    const lc_frame_handle *handle = &segment->handle;
    lc_resolved found = {0};
    loci_status status = handle->hash.len > 0
                             ? lc_content_load(r->tx, handle->hash, &r->scratch, &found.text, err)
                             : lc_context_resolve_ref(r->tx, r->request->persona_id, handle->ref,
                                                      &r->scratch, &found, err);

    segment->missing = found.reason;
    segment->label = handle->title.ptr != NULL ? handle->title : LC_STR("");
    if (status == LOCI_OK && handle->call_seq > 0)
        status = label_call(r, segment, err);
    if (status == LOCI_OK && segment->missing == NULL && segment->label.ptr != NULL)
        status = shape(r, segment, found.text, err);
    return status;
}

static loci_status read_texts(reading *r, loci_error *err)
{
    loci_status status = LOCI_OK;

    lc_arena_init(&r->scratch, r->arena->heap, LOCI_MEM_REQUESTS);
    for (size_t i = 0; i < r->out->count && status == LOCI_OK; i++) {
        lc_arena_mark mark = lc_arena_get_mark(&r->scratch);

        if (r->out->order[i]->dropped == NULL)
            status = read_text(r, r->out->order[i], err);
        lc_arena_rewind(&r->scratch, mark);
    }
    lc_arena_clear(&r->scratch);
    return status;
}

/* ---- Brief ----------------------------------------------------------------------------------- */

typedef struct naming {
    lc_buf *out;
    int64_t count;
} naming;

static loci_status name_tool(void *ctx, const lc_frame_tool *tool, loci_error *err)
{
    naming *n = ctx;

    (void)err; /* Writing to a buffer fails later. */
    if (n->count++ >= TOOLS_SHOWN)
        return LOCI_OK;
    lc_excerpt_append(n->out, "\n", LC_STR("In progress"), tool->name);
    lc_buf_append(n->out, LC_STR(" ("));
    lc_buf_append(n->out, tool->call_id);
    lc_buf_append(n->out, LC_STR(")"));
    return LOCI_OK;
}

/* The status, unless the frame simply works. */
static void put_status(lc_buf *out, const lc_frame *frame)
{
    if (frame->status == LC_FRAME_ACTIVE)
        return;
    lc_excerpt_append(out, "\n", LC_STR("Status"),
                      loci_str_of(lc_frame_status_name(frame->status)));
    if (frame->status == LC_FRAME_WAITING && frame->waiting_for.len > 0) {
        lc_buf_append(out, LC_STR(" for "));
        lc_buf_append(out, frame->waiting_for);
    }
}

static loci_status write_brief(reading *r, loci_error *err)
{
    const lc_frame *frame = &r->out->frame;
    naming tools = {0};
    lc_buf text;
    loci_status status;

    lc_buf_init(&text, r->arena->heap, LOCI_MEM_REQUESTS, BRIEF_BYTES_MAX);
    tools.out = &text;
    lc_excerpt_append(&text, "", LC_STR("Task"), frame->goal);
    if (frame->inputs.len > 0)
        lc_excerpt_append(&text, "\n", LC_STR("Inputs"), frame->inputs);
    put_status(&text, frame);
    if (frame->error.len > 0)
        lc_excerpt_append(&text, "\n", LC_STR("Unhandled error"), frame->error);
    status = lc_frame_each_tool(r->tx, frame->id, true, name_tool, &tools, err);
    if (status == LOCI_OK)
        status = lc_buf_status(&text, err);
    if (status == LOCI_OK) {
        r->out->brief = lc_arena_copy(r->arena, lc_buf_str(&text));
        if (r->out->brief.ptr == NULL)
            status = lc_fail_memory(err);
    }
    lc_buf_clear(&text);
    return status;
}

loci_status lc_frame_material_read(lc_tx *tx, const lc_frame_material_request *request,
                                   lc_frame_material *out, loci_error *err)
{
    reading r = {.tx = tx,
                 .request = request,
                 .arena = request->arena,
                 .out = out,
                 .bytes_left = request->bytes_max};
    loci_status status;

    *out = (lc_frame_material){0};
    status = lc_frame_load(tx, request->persona_id, request->frame_id, r.arena, &out->frame, err);
    if (status == LOCI_OK)
        status = lc_frame_load_above(tx, &out->frame, r.arena, &out->above, err);
    if (status == LOCI_OK)
        status = read_handles(&r, err);
    if (status == LOCI_OK)
        status = sort_segments(&r, err);
    if (status == LOCI_OK)
        status = drop_duplicates(&r, err);
    if (status == LOCI_OK)
        status = read_texts(&r, err);
    return status == LOCI_OK ? write_brief(&r, err) : status;
}
