/* frame_write.c - deciding on changes of frames and appending their events.
 *
 * Each function checks everything first and then changes the structs and appends. Writes of one
 * user are serialised by the store, so rows that were read do not change until the commit. Tokens
 * go through frame/ledger.h, statuses through the table of frame/frame_status.h.
 */
#include <stdio.h>

#include "base/assert.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/str.h"
#include "frame/frame_row.h"

#define CASCADE_MAX 1000 /* Frames that one pop ends. */
#define ERROR_BYTES_MAX (LC_FRAME_GOAL_BYTES_MAX + 256)

/* ---- Shared ---------------------------------------------------------------------------------- */

/* The error over_budget. */
static loci_status fail_over(const lc_frame *frame, int64_t requested, loci_error *err)
{
    char data[128];

    (void)lc_fail(err, LOCI_EOVERBUDGET,
                  "frame %.*s has %lld tokens available, %lld were requested; ask for fewer, or "
                  "release reservations and pop children first",
                  LC_STR_ARG(frame->id), (long long)lc_ledger_available(&frame->ledger),
                  (long long)requested);
    (void)snprintf(data, sizeof data, "{\"requested\":%lld,\"available\":%lld}",
                   (long long)requested, (long long)lc_ledger_available(&frame->ledger));
    lc_error_set_data(err, loci_str_of(data));
    return LOCI_EOVERBUDGET;
}

static loci_status fail_use(const lc_frame *frame, loci_error *err)
{
    return lc_fail(err, LOCI_ELIMIT, "frame %.*s: the recorded use would exceed %lld tokens",
                   LC_STR_ARG(frame->id), (long long)LC_LEDGER_USED_MAX);
}

loci_status lc_frame_check_open(const lc_frame *frame, loci_error *err)
{
    return lc_frame_status_is_open(frame->status)
               ? LOCI_OK
               : lc_fail(err, LOCI_ECONFLICT, "frame %.*s has ended: it is %s",
                         LC_STR_ARG(frame->id), lc_frame_status_name(frame->status));
}

loci_status lc_frame_check_works(const lc_tx *tx, const lc_frame *frame, loci_error *err)
{
    if (frame->status == LC_FRAME_SUSPENDED)
        return lc_fail(err, LOCI_ECONFLICT, "frame %.*s is suspended; resume it first",
                       LC_STR_ARG(frame->id));
    if (frame->deadline_at != 0 && tx->now_us >= frame->deadline_at)
        return lc_fail(err, LOCI_ELIMIT, "frame %.*s is past its timeout of %lld ms; pop it",
                       LC_STR_ARG(frame->id), (long long)frame->limits.timeout_ms);
    return lc_frame_check_open(frame, err);
}

/* "what: reason" in the arena. */
static loci_status join_error(lc_arena *arena, const char *what, loci_str name, loci_str reason,
                              loci_str *out, loci_error *err)
{
    size_t room = ERROR_BYTES_MAX;
    char *text = lc_arena_alloc(arena, room);
    int len;

    if (text == NULL)
        return lc_fail_memory(err);
    len = snprintf(text, room, "%s %.*s failed%s%.*s", what, LC_STR_ARG(name),
                   reason.len > 0 ? ": " : "", LC_STR_ARG(reason));
    *out = (loci_str){text, len < (int)room ? (size_t)len : room - 1};
    return LOCI_OK;
}

static loci_status change(lc_tx *tx, const lc_event_type *type, lc_frame *frame, lc_frame *parent,
                          loci_error *err)
{
    return lc_frame_append(tx, &(lc_frame_change){.type = type, .frame = frame, .parent = parent},
                           NULL, err);
}

/* ---- Pushing --------------------------------------------------------------------------------- */

static int64_t lower_limit(int64_t a, int64_t b)
{
    if (a == LC_FRAME_NO_LIMIT || b == LC_FRAME_NO_LIMIT)
        return a == LC_FRAME_NO_LIMIT ? b : a;
    return a < b ? a : b;
}

/* A child can lower the limits that it inherits, not raise them. */
static void inherit(lc_frame_limits *limits, const lc_frame_limits *from)
{
    limits->max_subframe_depth = lower_limit(limits->max_subframe_depth, from->max_subframe_depth);
    limits->max_context_tokens = lower_limit(limits->max_context_tokens, from->max_context_tokens);
    limits->max_tool_calls = lower_limit(limits->max_tool_calls, from->max_tool_calls);
    limits->timeout_ms = lower_limit(limits->timeout_ms, from->timeout_ms);
}

/* A member of the scope that was given must be the parent's; absent ones are inherited. */
static bool is_inherited(loci_str *own, loci_str from)
{
    if (own->ptr != NULL)
        return lc_str_eq(*own, from);
    *own = from;
    return true;
}

static loci_status join_parent(const lc_tx *tx, lc_frame *frame, const lc_frame *parent,
                               loci_error *err)
{
    loci_status status = lc_frame_check_works(tx, parent, err);

    if (status != LOCI_OK)
        return status;
    if (!is_inherited(&frame->scope.actor_id, parent->scope.actor_id) ||
        !is_inherited(&frame->scope.session_id, parent->scope.session_id) ||
        !is_inherited(&frame->scope.thread_id, parent->scope.thread_id))
        return lc_fail(err, LOCI_EINVAL,
                       "parent_id: frame %.*s belongs to another actor, session or thread; leave "
                       "the scope out to use that of the parent",
                       LC_STR_ARG(parent->id));
    frame->persona_id = parent->persona_id;
    frame->root_seq = parent->root_seq;
    frame->parent_seq = parent->seq;
    frame->depth = parent->depth + 1;
    inherit(&frame->limits, &parent->limits);
    if (frame->depth > parent->limits.max_subframe_depth)
        return lc_fail(err, LOCI_ELIMIT,
                       "frame %.*s has depth %lld, and the deepest frame allowed below it has %lld",
                       LC_STR_ARG(parent->id), (long long)parent->depth,
                       (long long)parent->limits.max_subframe_depth);
    return LOCI_OK;
}

/* Gives the frame its budget, out of that of the parent if it has one. */
static loci_status fund(const lc_frame_push *push, lc_frame *parent, loci_error *err)
{
    int64_t budget = push->budget;

    if (parent == NULL) {
        push->frame->ledger = (lc_ledger){.total = budget != LC_FRAME_NO_LIMIT ? budget
                                                                               : push->root_budget};
        return LOCI_OK;
    }
    if (budget == LC_FRAME_NO_LIMIT)
        budget = lc_ledger_available(&parent->ledger) / 2;
    if (!lc_ledger_allocate(&parent->ledger, budget, &push->frame->ledger))
        return fail_over(parent, budget, err);
    return LOCI_OK;
}

static void set_deadline(lc_frame *frame, const lc_frame *parent)
{
    frame->deadline_at = frame->limits.timeout_ms != LC_FRAME_NO_LIMIT
                             ? frame->created_at + frame->limits.timeout_ms * 1000
                             : 0;
    if (parent != NULL && parent->deadline_at != 0 && parent->deadline_at < frame->deadline_at)
        frame->deadline_at = parent->deadline_at;
}

loci_status lc_frame_push_one(lc_tx *tx, const lc_frame_push *push, lc_arena *arena, lc_id *out_id,
                              loci_error *err)
{
    lc_frame *frame = push->frame, above, *parent = frame->parent_id.len > 0 ? &above : NULL;
    lc_id_parts parts;
    loci_status status = LOCI_OK;

    frame->limits.max_subframe_depth = lower_limit(frame->limits.max_subframe_depth,
                                                   push->depth_max);
    frame->status = LC_FRAME_ACTIVE;
    if (parent != NULL)
        status = lc_frame_load(tx, frame->persona_id, frame->parent_id, arena, parent, err);
    if (status == LOCI_OK && parent != NULL)
        status = join_parent(tx, frame, parent, err);
    if (status == LOCI_OK)
        status = fund(push, parent, err);
    if (status == LOCI_OK)
        status = lc_tx_make_id(tx, "frm", out_id, err);
    if (status == LOCI_OK)
        status = lc_tx_recorded_at(tx, &frame->created_at, err);
    if (status != LOCI_OK)
        return status;
    frame->id = lc_id_str(out_id);
    if (frame->parent_id.ptr == NULL)
        frame->parent_id = LC_STR("");
    if (parent == NULL && lc_id_parse(frame->id, "frm", &parts))
        frame->root_seq = parts.seq;
    set_deadline(frame, parent);
    if (parent != NULL) {
        parent->children++;
        parent->error = LC_STR_NONE; /* The parent goes on. */
    }
    return lc_frame_append(tx,
                           &(lc_frame_change){.type = &lc_frame_pushed_event,
                                              .frame = frame,
                                              .parent = parent,
                                              .type_of_row = &lc_frame_row,
                                              .row = frame,
                                              .is_new = true},
                           &frame->seq, err);
}

loci_status lc_frame_update(lc_tx *tx, lc_frame *frame, bool has_fields, loci_error *err)
{
    return lc_frame_append(tx,
                           &(lc_frame_change){.type = &lc_frame_updated_event,
                                              .frame = frame,
                                              .type_of_row = &lc_frame_fields_row,
                                              .row = has_fields ? frame : NULL},
                           NULL, err);
}

/* ---- Popping --------------------------------------------------------------------------------- */

static const lc_sql below_sql = {
    "with recursive down (seq) as (select f.seq from frames f where f.tenant_id = $1"
    " and f.user_id = $2 and f.parent_seq = $3 and f.status in ('active', 'waiting', 'suspended')"
    " union all select c.seq from frames c join down on c.parent_seq = down.seq"
    " where c.tenant_id = $1 and c.user_id = $2"
    " and c.status in ('active', 'waiting', 'suspended'))"
    " select {row} from frames where tenant_id = $1 and user_id = $2"
    " and seq in (select down.seq from down) order by depth desc, seq desc limit $4",
    "ttii", "", &lc_frame_row};

/* The open frames below `frame`, deepest first. */
static loci_status load_below(lc_tx *tx, const lc_frame *frame, lc_arena *arena, lc_frame_list *out,
                              loci_error *err)
{
    lc_frame next;
    lc_rows rows;
    loci_status status;

    *out = (lc_frame_list){lc_arena_zalloc_array(arena, CASCADE_MAX, sizeof(lc_frame)), 0};
    if (out->items == NULL)
        return lc_fail_memory(err);
    status = lc_tx_query(
        tx, &below_sql,
        (lc_arg[]){LC_T(tx->tenant_id), LC_T(tx->user_id), LC_I(frame->seq), LC_I(CASCADE_MAX + 1)},
        &rows, err);
    while (lc_row_next(&rows, &next, &status, err)) {
        if (out->count == CASCADE_MAX)
            status = lc_fail(err, LOCI_ELIMIT,
                             "frame %.*s has more than %d open frames below it; pop some of them "
                             "first",
                             LC_STR_ARG(frame->id), CASCADE_MAX);
        else if (!lc_row_keep(&lc_frame_row, arena, &next))
            status = lc_fail_memory(err);
        next.ledger.is_settled = false; /* The statement reads open frames. */
        if (status == LOCI_OK)
            out->items[out->count++] = next;
    }
    lc_rows_end(&rows);
    return status;
}

/* Changes the structs of a frame that ends and of its parent, which may be NULL. */
static loci_status settle(lc_tx *tx, lc_frame *frame, lc_frame *parent, lc_frame_status to,
                          loci_error *err)
{
    lc_reservation held = {frame->ledger.reserved};
    loci_status status = lc_frame_move(&frame->status, to, frame->id, err);

    if (status == LOCI_OK)
        status = lc_tx_recorded_at(tx, &frame->completed_at, err);
    if (status != LOCI_OK)
        return status;
    lc_ledger_release(&frame->ledger, &held);
    if (!lc_ledger_settle(parent != NULL ? &parent->ledger : NULL, &frame->ledger))
        return fail_use(parent, err);
    frame->waiting_for = LC_STR_NONE;
    if (parent == NULL)
        return LOCI_OK;
    parent->children--;
    if (parent->children == 0 && parent->status == LC_FRAME_WAITING &&
        lc_str_is(parent->waiting_for, "child")) {
        parent->waiting_for = LC_STR_NONE;
        return lc_frame_move(&parent->status, LC_FRAME_ACTIVE, parent->id, err);
    }
    return LOCI_OK;
}

static lc_frame *find_frame(lc_frame_list *frames, int64_t seq, lc_frame *otherwise)
{
    for (size_t i = 0; i < frames->count; i++)
        if (frames->items[i].seq == seq)
            return &frames->items[i];
    return otherwise;
}

static loci_status end_below(lc_tx *tx, lc_frame *frame, lc_frame_list *below, loci_error *err)
{
    loci_status status = LOCI_OK;

    for (size_t i = 0; i < below->count && status == LOCI_OK; i++) {
        lc_frame *child = &below->items[i], *parent = find_frame(below, child->parent_seq, frame);

        status = settle(tx, child, parent, LC_FRAME_CANCELLED, err);
        if (status == LOCI_OK)
            status = change(tx, &lc_frame_popped_event, child, parent, err);
    }
    return status;
}

/* The result is kept with its frame, and the parent gets a handle to the same text. */
static loci_status add_result(lc_tx *tx, lc_frame *frame, const lc_frame_end *end, bool is_result,
                              lc_arena *arena, loci_error *err)
{
    lc_frame_handle handle = {.is_result = is_result,
                              .type = LC_STR("worker_finding"),
                              .priority = end->priority,
                              .title = end->title};

    return lc_frame_add_handle(tx, frame, &handle, end->result, arena, err);
}

/* Errors that would be found after the first event. */
static loci_status check_pop(const lc_frame *frame, const lc_frame *parent, const lc_frame_end *end,
                             loci_error *err)
{
    lc_frame_status status = frame->status;

    if (frame->children > 0 && !end->cascades)
        return lc_fail(err, LOCI_ECONFLICT,
                       "frame %.*s has %lld open children; pop them first, or pass cascade to "
                       "cancel them",
                       LC_STR_ARG(frame->id), (long long)frame->children);
    if (end->result != NULL && (frame->handles >= LC_FRAME_HANDLES_MAX ||
                                (parent != NULL && parent->handles >= LC_FRAME_HANDLES_MAX)))
        return lc_fail(err, LOCI_ELIMIT,
                       "frame %.*s or its parent has %d handles, the maximum; remove some, or pop "
                       "without a result",
                       LC_STR_ARG(frame->id), LC_FRAME_HANDLES_MAX);
    return lc_frame_move(&status, end->status, frame->id, err);
}

loci_status lc_frame_pop(lc_tx *tx, lc_frame *frame, const lc_frame_end *end, lc_arena *arena,
                         int64_t *out_count, loci_error *err)
{
    lc_frame above, *parent = frame->parent_seq > 0 ? &above : NULL;
    lc_frame_list below = {0};
    loci_status status = LOCI_OK;

    if (parent != NULL)
        status = lc_frame_load(tx, frame->persona_id, frame->parent_id, arena, parent, err);
    if (status == LOCI_OK)
        status = check_pop(frame, parent, end, err);
    if (status == LOCI_OK && frame->children > 0)
        status = load_below(tx, frame, arena, &below, err);
    if (status == LOCI_OK)
        status = end_below(tx, frame, &below, err);
    if (status == LOCI_OK && end->result != NULL)
        status = add_result(tx, frame, end, true, arena, err);
    if (status == LOCI_OK)
        status = settle(tx, frame, parent, end->status, err);
    if (status != LOCI_OK)
        return status;
    frame->error = end->error;
    if (parent != NULL && end->status == LC_FRAME_FAILED)
        status = join_error(arena, "frame", frame->id, end->error, &parent->error, err);
    if (status == LOCI_OK)
        status = change(tx, &lc_frame_popped_event, frame, parent, err);
    if (status == LOCI_OK && parent != NULL && end->result != NULL)
        status = add_result(tx, parent, end, false, arena, err);
    if (status == LOCI_OK)
        *out_count = (int64_t)below.count + 1;
    return status;
}

/* ---- Handles --------------------------------------------------------------------------------- */

/* A chain over all changes: equal hashes mean equal handles. */
static loci_status chain_context(lc_frame *frame, loci_str id, char sign, lc_arena *arena,
                                 loci_error *err)
{
    lc_hash128 hash = lc_hash128_of(frame->context_hash);
    char *text = lc_arena_alloc(arena, LC_HASH_TEXT_BYTES);

    if (text == NULL)
        return lc_fail_memory(err);
    hash = lc_hash128_chain(lc_hash128_chain(hash, (loci_str){&sign, 1}), id);
    lc_hash128_format(hash, text);
    frame->context_hash = loci_str_of(text);
    return LOCI_OK;
}

loci_status lc_frame_add_handle(lc_tx *tx, lc_frame *frame, lc_frame_handle *handle,
                                const lc_content *content, lc_arena *arena, loci_error *err)
{
    lc_id *id = lc_arena_alloc(arena, sizeof *id);
    loci_status status = lc_frame_check_open(frame, err);

    if (status == LOCI_OK && id == NULL)
        status = lc_fail_memory(err);
    if (status == LOCI_OK && frame->handles >= LC_FRAME_HANDLES_MAX)
        status = lc_fail(err, LOCI_ELIMIT,
                         "frame %.*s has %d handles, the maximum; remove some or compact it",
                         LC_STR_ARG(frame->id), LC_FRAME_HANDLES_MAX);
    if (status == LOCI_OK && content != NULL)
        status = lc_content_store(tx, content, err);
    if (status == LOCI_OK)
        status = lc_tx_make_id(tx, "hdl", id, err);
    if (status == LOCI_OK)
        status = lc_tx_recorded_at(tx, &handle->created_at, err);
    if (status == LOCI_OK)
        status = chain_context(frame, lc_id_str(id), '+', arena, err);
    if (status != LOCI_OK)
        return status;
    handle->id = lc_id_str(id);
    handle->frame_id = frame->id;
    handle->root_seq = frame->root_seq;
    if (content != NULL) {
        handle->hash = loci_str_of(content->hash);
        handle->tokens = content->tokens;
    }
    frame->handles++;
    frame->context_tokens += handle->tokens;
    return lc_frame_append(tx,
                           &(lc_frame_change){.type = handle->is_result
                                                          ? &lc_frame_result_added_event
                                                          : &lc_frame_handle_added_event,
                                              .frame = frame,
                                              .type_of_row = &lc_frame_handle_row,
                                              .row = handle,
                                              .is_new = true},
                           &handle->seq, err);
}

loci_status lc_frame_take_out(lc_frame *frame, const lc_frame_handle *handle, lc_arena *arena,
                              loci_error *err)
{
    loci_status status = chain_context(frame, handle->id, '-', arena, err);

    if (status != LOCI_OK)
        return status;
    frame->handles--;
    frame->context_tokens -= handle->tokens;
    return LOCI_OK;
}

loci_status lc_frame_remove_handle(lc_tx *tx, lc_frame *frame, const lc_frame_handle *handle,
                                   lc_arena *arena, loci_error *err)
{
    loci_status status = lc_frame_check_open(frame, err);

    if (status == LOCI_OK)
        status = lc_frame_take_out(frame, handle, arena, err);
    if (status != LOCI_OK)
        return status;
    return lc_frame_append(tx,
                           &(lc_frame_change){.type = &lc_frame_handle_removed_event,
                                              .frame = frame,
                                              .id = handle->id},
                           NULL, err);
}

/* ---- Tokens ---------------------------------------------------------------------------------- */

loci_status lc_frame_reserve(lc_tx *tx, lc_frame *frame, lc_frame_reservation *reservation,
                             lc_arena *arena, loci_error *err)
{
    lc_id *id = lc_arena_alloc(arena, sizeof *id);
    lc_reservation held;
    loci_status status = lc_frame_check_works(tx, frame, err);

    if (status == LOCI_OK && id == NULL)
        status = lc_fail_memory(err);
    if (status == LOCI_OK && !lc_ledger_reserve(&frame->ledger, reservation->tokens, &held))
        status = fail_over(frame, reservation->tokens, err);
    if (status == LOCI_OK)
        status = lc_tx_make_id(tx, "rsv", id, err);
    if (status == LOCI_OK)
        status = lc_tx_recorded_at(tx, &reservation->created_at, err);
    if (status != LOCI_OK)
        return status;
    reservation->id = lc_id_str(id);
    reservation->frame_id = frame->id;
    reservation->root_seq = frame->root_seq;
    reservation->left = held.left;
    return lc_frame_append(tx,
                           &(lc_frame_change){.type = &lc_frame_budget_reserved_event,
                                              .frame = frame,
                                              .type_of_row = &lc_frame_reservation_row,
                                              .row = reservation,
                                              .is_new = true},
                           &reservation->seq, err);
}

static loci_status change_left(lc_tx *tx, const lc_event_type *type, lc_frame *frame,
                               const lc_frame_reservation *reservation, loci_error *err)
{
    return lc_frame_append(tx,
                           &(lc_frame_change){.type = type,
                                              .frame = frame,
                                              .type_of_row = &lc_frame_left_row,
                                              .row = reservation,
                                              .id = reservation->id},
                           NULL, err);
}

/* The row of a reservation can be trusted only as far as the ledger of its frame. */
static loci_status check_left(const lc_frame *frame, const lc_frame_reservation *reservation,
                              loci_error *err)
{
    loci_status status = lc_frame_check_open(frame, err);

    if (status == LOCI_OK && (reservation->left < 0 || reservation->left > frame->ledger.reserved))
        status = lc_fail(err, LOCI_ECORRUPT, "reservation %.*s has more tokens than its frame",
                         LC_STR_ARG(reservation->id));
    return status;
}

loci_status lc_frame_consume(lc_tx *tx, lc_frame *frame, lc_frame_reservation *reservation,
                             int64_t tokens, loci_error *err)
{
    lc_reservation held = {reservation->left};
    loci_status status = check_left(frame, reservation, err);

    if (status == LOCI_OK && !lc_ledger_consume(&frame->ledger, &held, tokens))
        status = fail_use(frame, err);
    if (status != LOCI_OK)
        return status;
    reservation->left = held.left;
    return change_left(tx, &lc_frame_budget_consumed_event, frame, reservation, err);
}

loci_status lc_frame_release(lc_tx *tx, lc_frame *frame, lc_frame_reservation *reservation,
                             loci_error *err)
{
    lc_reservation held = {reservation->left};
    loci_status status = check_left(frame, reservation, err);

    if (status != LOCI_OK)
        return status;
    lc_ledger_release(&frame->ledger, &held);
    reservation->left = held.left;
    return change_left(tx, &lc_frame_budget_released_event, frame, reservation, err);
}

loci_status lc_frame_use(lc_tx *tx, lc_frame *frame, int64_t tokens, loci_error *err)
{
    loci_status status = lc_frame_check_open(frame, err);

    if (status == LOCI_OK && !lc_ledger_use(&frame->ledger, tokens))
        status = fail_use(frame, err);
    return status == LOCI_OK ? change(tx, &lc_frame_budget_used_event, frame, NULL, err) : status;
}

/* ---- Tool calls ------------------------------------------------------------------------------ */

loci_status lc_frame_begin_tool(lc_tx *tx, lc_frame *frame, lc_frame_tool *tool, loci_error *err)
{
    int64_t limit = lower_limit(frame->limits.max_tool_calls, LC_FRAME_TOOL_CALLS_MAX);
    loci_status status = lc_frame_check_works(tx, frame, err);

    if (status == LOCI_OK && frame->tool_calls >= limit)
        status = lc_fail(err, LOCI_ELIMIT, "frame %.*s has made %lld tool calls, its maximum",
                         LC_STR_ARG(frame->id), (long long)limit);
    if (status == LOCI_OK)
        status = lc_tx_recorded_at(tx, &tool->started_at, err);
    if (status != LOCI_OK)
        return status;
    tool->frame_id = frame->id;
    tool->root_seq = frame->root_seq;
    tool->status = LC_TOOL_RUNNING;
    frame->tool_calls++;
    frame->error = LC_STR_NONE; /* The frame goes on. */
    return lc_frame_append(tx,
                           &(lc_frame_change){.type = &lc_frame_tool_begun_event,
                                              .frame = frame,
                                              .type_of_row = &lc_frame_tool_row,
                                              .row = tool,
                                              .is_new = true},
                           &tool->seq, err);
}

loci_status lc_frame_end_tool(lc_tx *tx, lc_frame *frame, lc_frame_tool *tool,
                              const lc_content *output, lc_arena *arena, loci_error *err)
{
    lc_frame_handle handle = {.type = LC_STR("tool_output"),
                              .priority = LC_PRIORITY_MEDIUM,
                              .title = tool->name,
                              .call_seq = tool->seq};
    loci_status status = lc_frame_check_open(frame, err);

    LC_ASSERT(tool->status == LC_TOOL_RUNNING);
    if (status == LOCI_OK && output != NULL)
        status = lc_frame_add_handle(tx, frame, &handle, output, arena, err);
    if (status == LOCI_OK)
        status = lc_tx_recorded_at(tx, &tool->ended_at, err);
    if (status == LOCI_OK && tool->error.ptr != NULL)
        status = join_error(arena, "tool", tool->name, tool->error, &frame->error, err);
    if (status != LOCI_OK)
        return status;
    tool->handle_id = handle.id;
    tool->status = tool->error.ptr != NULL ? LC_TOOL_FAILED : LC_TOOL_DONE;
    return lc_frame_append(tx,
                           &(lc_frame_change){.type = &lc_frame_tool_ended_event,
                                              .frame = frame,
                                              .type_of_row = &lc_frame_tool_state_row,
                                              .row = tool,
                                              .call_seq = tool->seq},
                           NULL, err);
}
