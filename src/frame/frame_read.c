/* frame_read.c - finding frames and the records that belong to them. */
#include "frame/frame.h"

#include "base/error.h"
#include "base/str.h"

#define OF_USER " where tenant_id = $1 and user_id = $2"
#define SEEN " and persona_id in ('', $3)"

/* ---- Frames ---------------------------------------------------------------------------------- */

lc_priority lc_priority_of(loci_str name)
{
    loci_str rest = LC_STR(LC_HANDLE_PRIORITIES);
    int priority = LC_PRIORITY_CRITICAL;

    while (!lc_str_eq(lc_str_split(rest, '|', &rest), name) && rest.ptr != NULL)
        priority++;
    return (lc_priority)priority;
}

/* Sets the members that are not stored. */
static void complete(lc_frame *frame)
{
    frame->ledger.is_settled = !lc_frame_status_is_open(frame->status);
}

static loci_status check_ledger(const lc_frame *frame, loci_error *err)
{
    return lc_ledger_is_sound(&frame->ledger)
               ? LOCI_OK
               : lc_fail(err, LOCI_ECORRUPT, "frame %.*s has an impossible budget",
                         LC_STR_ARG(frame->id));
}

static const lc_sql load_sql = {"select {row} from frames" OF_USER SEEN " and seq = $4", "ttti", "",
                                &lc_frame_row};

loci_status lc_frame_load(lc_tx *tx, loci_str persona_id, loci_str id, lc_arena *arena,
                          lc_frame *out, loci_error *err)
{
    lc_id_parts parts = {0};
    bool found = false;
    loci_status status = LOCI_OK;

    if (lc_id_parse(id, "frm", &parts)) {
        const lc_arg args[] = {LC_T(tx->tenant_id), LC_T(tx->user_id), LC_T_OR_EMPTY(persona_id),
                               LC_I(parts.seq)};

        status = lc_row_find(tx, &(lc_query){&load_sql, args}, arena, out, &found, err);
    }
    if (status == LOCI_OK && (!found || !lc_str_eq(out->id, id)))
        status = lc_fail(err, LOCI_ENOTFOUND, "no frame %.*s", LC_STR_ARG(id));
    if (status != LOCI_OK)
        return status;
    complete(out);
    return check_ledger(out, err);
}

static const lc_sql stack_sql = {
    "with recursive up (seq, parent_seq) as (select f.seq, f.parent_seq from frames f"
    " where f.tenant_id = $1 and f.user_id = $2 and f.seq = $3 union all"
    " select p.seq, p.parent_seq from frames p join up on p.seq = up.parent_seq"
    " where p.tenant_id = $1 and p.user_id = $2)"
    " select {row} from frames" OF_USER " and seq in (select up.seq from up) order by depth",
    "tti", "", &lc_frame_row};

/* Exactly `count` frames. */
static loci_status load_path(lc_tx *tx, const lc_query *query, size_t count, lc_arena *arena,
                             lc_frame_list *out, loci_error *err)
{
    lc_frame next;
    lc_rows rows;
    loci_status status;

    *out = (lc_frame_list){lc_arena_zalloc_array(arena, count + 1, sizeof(lc_frame)), 0};
    if (out->items == NULL)
        return lc_fail_memory(err);
    status = lc_tx_query(tx, query->sql, query->args, &rows, err);
    while (out->count < count && lc_row_next(&rows, &next, &status, err)) {
        if (!lc_row_keep(&lc_frame_row, arena, &next))
            status = lc_fail_memory(err);
        complete(&next);
        out->items[out->count++] = next;
    }
    lc_rows_end(&rows);
    return status;
}

static loci_status fail_lost(const lc_frame *frame, loci_error *err)
{
    return lc_fail(err, LOCI_ECORRUPT, "frame %.*s has lost a frame above it",
                   LC_STR_ARG(frame->id));
}

loci_status lc_frame_load_stack(lc_tx *tx, const lc_frame *frame, lc_arena *arena,
                                lc_frame_list *out, loci_error *err)
{
    const lc_arg args[] = {LC_T(tx->tenant_id), LC_T(tx->user_id), LC_I(frame->seq)};
    size_t count = (size_t)frame->depth + 1;
    loci_status status = load_path(tx, &(lc_query){&stack_sql, args}, count, arena, out, err);

    return status == LOCI_OK && out->count != count ? fail_lost(frame, err) : status;
}

/* A frame of a deep stack costs as much as a handle, and most of them are elided. */
static const lc_sql above_sql = {
    "with recursive up (seq, parent_seq, steps) as (select f.seq, f.parent_seq, 1 from frames f"
    " where f.tenant_id = $1 and f.user_id = $2 and f.seq = $3 union all"
    " select p.seq, p.parent_seq, up.steps + 1 from frames p join up on p.seq = up.parent_seq"
    " where p.tenant_id = $1 and p.user_id = $2 and up.steps < $4)"
    " select {row} from frames" OF_USER
    " and seq in (select up.seq from up union select r.seq from frames r where r.tenant_id = $1"
    " and r.user_id = $2 and r.seq = $5) order by depth",
    "ttiii", "", &lc_frame_row};

loci_status lc_frame_load_above(lc_tx *tx, const lc_frame *frame, lc_arena *arena,
                                lc_frame_list *out, loci_error *err)
{
    const lc_arg args[] = {LC_T(tx->tenant_id), LC_T(tx->user_id), LC_I(frame->parent_seq),
                           LC_I(LC_FRAME_NEAR), LC_I(frame->root_seq)};
    size_t count = frame->depth <= LC_FRAME_NEAR ? (size_t)frame->depth : LC_FRAME_NEAR + 1;
    loci_status status;

    *out = (lc_frame_list){0};
    if (count == 0)
        return LOCI_OK;
    status = load_path(tx, &(lc_query){&above_sql, args}, count, arena, out, err);
    return status == LOCI_OK && out->count != count ? fail_lost(frame, err) : status;
}

static const lc_sql each_sql = {
    "select {row} from frames" OF_USER SEEN " and seq < $4 and ($5 = '' or actor_id = $5)"
    " and ($6 = '' or session_id = $6) and ($7 = '' or thread_id = $7)"
    " and ($8 = '' or status = $8"
    " or ($8 = 'open' and status in ('active', 'waiting', 'suspended')))"
    " and ($9 = 0 or parent_seq = $9) and ($10 = 0 or root_seq = $10)"
    " order by seq desc limit $11",
    "tttittttiii", "", &lc_frame_row};

loci_status lc_frame_each(lc_tx *tx, const lc_frame_page *page, lc_frame_visit *visit, void *ctx,
                          loci_error *err)
{
    lc_id_parts parent = {0};
    lc_frame frame;
    lc_rows rows;
    loci_status status;

    if (page->parent_id.len > 0 && !lc_id_parse(page->parent_id, "frm", &parent))
        return LOCI_OK;
    status = lc_tx_query(
        tx, &each_sql,
        (lc_arg[]){LC_T(tx->tenant_id), LC_T(tx->user_id), LC_T_OR_EMPTY(page->persona_id),
                   LC_I(page->before_seq), LC_T_OR_EMPTY(page->scope.actor_id),
                   LC_T_OR_EMPTY(page->scope.session_id), LC_T_OR_EMPTY(page->scope.thread_id),
                   LC_T_OR_EMPTY(page->status), LC_I(parent.seq), LC_I(page->root_seq),
                   LC_I(page->limit)},
        &rows, err);
    while (lc_row_next(&rows, &frame, &status, err)) {
        complete(&frame);
        status = visit(ctx, &frame, err);
    }
    lc_rows_end(&rows);
    return status;
}

/* ---- Handles --------------------------------------------------------------------------------- */

static const lc_sql handles_sql = {"select {row} from frame_handles" OF_USER
                                   " and frame_id = $3 and removed_at is null order by seq",
                                   "ttt", "", &lc_frame_handle_row};

loci_status lc_frame_each_handle(lc_tx *tx, loci_str frame_id, lc_frame_handle_visit *visit,
                                 void *ctx, loci_error *err)
{
    lc_frame_handle handle;
    lc_rows rows;
    loci_status status = lc_tx_query(
        tx, &handles_sql, (lc_arg[]){LC_T(tx->tenant_id), LC_T(tx->user_id), LC_T(frame_id)}, &rows,
        err);

    while (lc_row_next(&rows, &handle, &status, err))
        status = visit(ctx, &handle, err);
    lc_rows_end(&rows);
    return status;
}

static const lc_sql load_handle_sql = {"select {row} from frame_handles" OF_USER
                                       " and seq = $3 and removed_at is null",
                                       "tti", "", &lc_frame_handle_row};

loci_status lc_frame_load_handle(lc_tx *tx, loci_str id, lc_arena *arena, lc_frame_handle *out,
                                 loci_error *err)
{
    lc_id_parts parts = {0};
    bool found = false;
    loci_status status = LOCI_OK;

    if (lc_id_parse(id, "hdl", &parts)) {
        const lc_arg args[] = {LC_T(tx->tenant_id), LC_T(tx->user_id), LC_I(parts.seq)};

        status = lc_row_find(tx, &(lc_query){&load_handle_sql, args}, arena, out, &found, err);
    }
    if (status == LOCI_OK && (!found || !lc_str_eq(out->id, id)))
        status = lc_fail(err, LOCI_ENOTFOUND, "no handle %.*s", LC_STR_ARG(id));
    return status;
}

/* ---- Tool calls ------------------------------------------------------------------------------ */

static const lc_sql find_tool_sql = {"select {row} from frame_tools" OF_USER
                                     " and frame_id = $3 and call_id = $4",
                                     "tttt", "", &lc_frame_tool_row};

loci_status lc_frame_find_tool(lc_tx *tx, lc_arena *arena, lc_frame_tool *tool, bool *found,
                               loci_error *err)
{
    const lc_arg args[] = {LC_T(tx->tenant_id), LC_T(tx->user_id), LC_T(tool->frame_id),
                           LC_T(tool->call_id)};

    return lc_row_find(tx, &(lc_query){&find_tool_sql, args}, arena, tool, found, err);
}

static const lc_sql find_call_sql = {"select {row} from frame_tools" OF_USER " and seq = $3", "tti",
                                     "", &lc_frame_tool_row};

loci_status lc_frame_find_call(lc_tx *tx, int64_t seq, lc_arena *arena, lc_frame_tool *out,
                               bool *found, loci_error *err)
{
    const lc_arg args[] = {LC_T(tx->tenant_id), LC_T(tx->user_id), LC_I(seq)};

    return lc_row_find(tx, &(lc_query){&find_call_sql, args}, arena, out, found, err);
}

static const lc_sql tools_sql = {"select {row} from frame_tools" OF_USER
                                 " and frame_id = $3 order by seq",
                                 "ttt", "", &lc_frame_tool_row};
static const lc_sql running_sql = {"select {row} from frame_tools" OF_USER
                                   " and frame_id = $3 and status = 'running' order by seq",
                                   "ttt", "", &lc_frame_tool_row};

loci_status lc_frame_each_tool(lc_tx *tx, loci_str frame_id, bool running,
                               lc_frame_tool_visit *visit, void *ctx, loci_error *err)
{
    lc_frame_tool tool;
    lc_rows rows;
    loci_status status = lc_tx_query(
        tx, running ? &running_sql : &tools_sql,
        (lc_arg[]){LC_T(tx->tenant_id), LC_T(tx->user_id), LC_T(frame_id)}, &rows, err);

    while (lc_row_next(&rows, &tool, &status, err))
        status = visit(ctx, &tool, err);
    lc_rows_end(&rows);
    return status;
}

/* ---- Reservations ---------------------------------------------------------------------------- */

static const lc_sql load_reservation_sql = {"select {row} from frame_reservations" OF_USER
                                            " and seq = $3",
                                            "tti", "", &lc_frame_reservation_row};

loci_status lc_frame_load_reservation(lc_tx *tx, loci_str id, lc_arena *arena,
                                      lc_frame_reservation *out, loci_error *err)
{
    lc_id_parts parts = {0};
    bool found = false;
    loci_status status = LOCI_OK;

    if (lc_id_parse(id, "rsv", &parts)) {
        const lc_arg args[] = {LC_T(tx->tenant_id), LC_T(tx->user_id), LC_I(parts.seq)};

        status = lc_row_find(tx, &(lc_query){&load_reservation_sql, args}, arena, out, &found, err);
    }
    if (status == LOCI_OK && (!found || !lc_str_eq(out->id, id)))
        status = lc_fail(err, LOCI_ENOTFOUND, "no reservation %.*s", LC_STR_ARG(id));
    return status;
}

static const lc_sql held_sql = {"select {row} from frame_reservations" OF_USER
                                " and frame_id = $3 and left_tokens > 0 order by seq",
                                "ttt", "", &lc_frame_reservation_row};

loci_status lc_frame_each_reservation(lc_tx *tx, loci_str frame_id,
                                      lc_frame_reservation_visit *visit, void *ctx, loci_error *err)
{
    lc_frame_reservation reservation;
    lc_rows rows;
    loci_status status = lc_tx_query(
        tx, &held_sql, (lc_arg[]){LC_T(tx->tenant_id), LC_T(tx->user_id), LC_T(frame_id)}, &rows,
        err);

    while (lc_row_next(&rows, &reservation, &status, err))
        status = visit(ctx, &reservation, err);
    lc_rows_end(&rows);
    return status;
}
