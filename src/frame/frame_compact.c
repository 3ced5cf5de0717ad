/* frame_compact.c - see frame_compact.h.
 *
 * Each strategy marks handles; then one event removes all of them. The event names the seqs of the
 * handles in its refs and has the state of the frame afterwards, as every event of a frame.
 */
#include "frame/frame_compact.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/str.h"
#include "frame/frame_row.h"
#include "pack/excerpt.h"

#define GIST_BYTES 200 /* Of a text in a summary, */
#define TITLE_BYTES 80 /* and of its title. */

typedef struct compacting {
    lc_tx *tx;
    lc_frame *frame;
    const lc_frame_compaction *wanted;
    lc_arena *arena;
    lc_frame_handle *handles; /* In use, oldest first; without results. */
    bool *is_removed;
    size_t count, room;
    lc_buf summary;
} compacting;

static loci_status keep_handle(void *ctx, const lc_frame_handle *handle, loci_error *err)
{
    compacting *c = ctx;

    if (handle->is_result)
        return LOCI_OK;
    if (c->count == c->room)
        return lc_fail(err, LOCI_ECORRUPT, "frame %.*s has more handles than its row says",
                       LC_STR_ARG(handle->frame_id));
    c->handles[c->count] = *handle;
    return lc_row_keep(&lc_frame_handle_row, c->arena, &c->handles[c->count++])
               ? LOCI_OK
               : lc_fail_memory(err);
}

static loci_status read_handles(compacting *c, loci_error *err)
{
    c->room = (size_t)c->frame->handles;
    c->handles = lc_arena_zalloc_array(c->arena, c->room + 1, sizeof *c->handles);
    c->is_removed = lc_arena_zalloc_array(c->arena, c->room + 1, sizeof *c->is_removed);
    if (c->handles == NULL || c->is_removed == NULL)
        return lc_fail_memory(err);
    return lc_frame_each_handle(c->tx, c->frame->id, keep_handle, c, err);
}

static bool is_critical(const lc_frame_handle *handle)
{
    return handle->priority == LC_PRIORITY_CRITICAL;
}

/* ---- Strategies ------------------------------------------------------------------------------ */

static int compare_importance(const void *a, const void *b)
{
    const lc_frame_handle *x = *(lc_frame_handle *const *)a, *y = *(lc_frame_handle *const *)b;

    if (x->priority != y->priority)
        return x->priority > y->priority ? -1 : 1;
    return x->seq < y->seq ? -1 : x->seq > y->seq;
}

static loci_status mark_by_priority(compacting *c, loci_error *err)
{
    lc_frame_handle **order = lc_arena_zalloc_array(c->arena, c->count + 1,
                                                    sizeof(lc_frame_handle *));
    int64_t tokens = c->frame->context_tokens;

    if (order == NULL)
        return lc_fail_memory(err);
    for (size_t i = 0; i < c->count; i++)
        order[i] = &c->handles[i];
    qsort(order, c->count, sizeof(lc_frame_handle *), compare_importance);
    for (size_t i = 0; i < c->count && tokens > c->wanted->budget; i++) {
        /* Removing a reference would free nothing. */
        if (order[i]->tokens == 0 || is_critical(order[i]))
            continue;
        c->is_removed[order[i] - c->handles] = true;
        tokens -= order[i]->tokens;
    }
    return LOCI_OK;
}

static void mark_oldest(compacting *c)
{
    int64_t kept = c->wanted->message_count;

    for (size_t i = 0; i < c->count; i++)
        c->is_removed[i] = (int64_t)(c->count - i) > kept && !is_critical(&c->handles[i]);
}

/* Adds the line of a handle to the summary, if its text is prose and longer than the line. */
static loci_status summarize_one(compacting *c, size_t index, lc_arena *scratch, loci_error *err)
{
    const lc_frame_handle *handle = &c->handles[index];
    loci_str text = LC_STR(""), gist, title;
    loci_status status;

    if (handle->hash.len == 0 || is_critical(handle))
        return LOCI_OK;
    status = lc_content_load(c->tx, handle->hash, scratch, &text, err);
    if (status != LOCI_OK || lc_excerpt_is_verbatim(text) || text.len <= GIST_BYTES)
        return status;
    gist = lc_excerpt_trim(scratch, text);
    if (gist.ptr != NULL)
        gist = lc_excerpt_cut(scratch, gist, GIST_BYTES);
    title = lc_excerpt_cut(scratch, lc_str_trim(handle->title), TITLE_BYTES);
    if (gist.ptr == NULL || title.ptr == NULL)
        return lc_fail_memory(err);
    lc_excerpt_append(&c->summary, c->summary.len > 0 ? "\n- " : "- ", title, gist);
    c->is_removed[index] = true;
    return lc_buf_status(&c->summary, err);
}

static loci_status mark_prose(compacting *c, loci_error *err)
{
    lc_arena scratch;
    loci_status status = LOCI_OK;

    lc_arena_init(&scratch, c->arena->heap, LOCI_MEM_REQUESTS);
    for (size_t i = 0; i + LC_COMPACT_RECENT < c->count && status == LOCI_OK; i++) {
        status = summarize_one(c, i, &scratch, err);
        lc_arena_clear(&scratch);
    }
    return status;
}

/* ---- Writing --------------------------------------------------------------------------------- */

/* Moves the marked handles to `out` and appends the event. */
static loci_status remove_marked(compacting *c, lc_frame_compacted *out, loci_error *err)
{
    loci_status status = LOCI_OK;

    out->removed = lc_arena_zalloc_array(c->arena, c->count + 1, sizeof *out->removed);
    if (out->removed == NULL)
        return lc_fail_memory(err);
    for (size_t i = 0; i < c->count && status == LOCI_OK; i++) {
        if (!c->is_removed[i])
            continue;
        out->removed[out->removed_count++] = c->handles[i];
        status = lc_frame_take_out(c->frame, &c->handles[i], c->arena, err);
    }
    if (status != LOCI_OK || out->removed_count == 0)
        return status;
    return lc_frame_append(c->tx,
                           &(lc_frame_change){.type = &lc_frame_compacted_event,
                                              .frame = c->frame,
                                              .removed = out->removed,
                                              .removed_count = out->removed_count,
                                              .strategy = c->wanted->strategy},
                           NULL, err);
}

static loci_status add_summary(compacting *c, lc_frame_compacted *out, loci_error *err)
{
    loci_str text = lc_buf_str(&c->summary);
    lc_frame_handle handle = {.type = LC_STR("worker_learning"), .priority = LC_PRIORITY_MEDIUM};
    lc_buf title;
    lc_content content;
    loci_status status;

    if (text.len == 0)
        return LOCI_OK;
    lc_buf_init(&title, c->arena->heap, LOCI_MEM_REQUESTS, TITLE_BYTES);
    lc_buf_append_format(&title, "Summary of %zu handles", out->removed_count);
    handle.title = lc_arena_copy(c->arena, lc_buf_str(&title));
    lc_buf_clear(&title);
    if (handle.title.ptr == NULL)
        return lc_fail_memory(err);
    status = lc_content_init(&content, text, c->wanted->counter.count(c->wanted->counter.ctx, text),
                             c->arena, err);
    if (status == LOCI_OK)
        status = lc_frame_add_handle(c->tx, c->frame, &handle, &content, c->arena, err);
    if (status == LOCI_OK) {
        out->summary_id = handle.id;
        out->summarized_count = out->removed_count;
    }
    return status;
}

static loci_status mark(compacting *c, loci_error *err)
{
    if (lc_str_is(c->wanted->strategy, "priority"))
        return mark_by_priority(c, err);
    if (lc_str_is(c->wanted->strategy, "summarize_oldest"))
        return mark_prose(c, err);
    mark_oldest(c);
    return LOCI_OK;
}

loci_status lc_frame_compact(lc_tx *tx, lc_frame *frame, const lc_frame_compaction *compaction,
                             lc_arena *arena, lc_frame_compacted *out, loci_error *err)
{
    compacting c = {.tx = tx, .frame = frame, .wanted = compaction, .arena = arena};
    bool is_truncated = lc_str_is(compaction->strategy, "truncate_at");
    loci_status status = lc_frame_check_open(frame, err);

    *out = (lc_frame_compacted){.original_tokens = frame->context_tokens};
    lc_buf_init(&c.summary, arena->heap, LOCI_MEM_REQUESTS, LC_CONTENT_BYTES_MAX);
    if (status == LOCI_OK)
        status = read_handles(&c, err);
    if (status == LOCI_OK)
        status = mark(&c, err);
    if (status == LOCI_OK)
        status = remove_marked(&c, out, err);
    if (status == LOCI_OK)
        status = add_summary(&c, out, err);
    lc_buf_clear(&c.summary);
    out->final_tokens = frame->context_tokens;
    out->is_reached = (compaction->budget == LC_FRAME_NO_LIMIT ||
                       frame->context_tokens <= compaction->budget) &&
                      (!is_truncated ||
                       (int64_t)(c.count - out->removed_count) <= compaction->message_count);
    return status;
}
