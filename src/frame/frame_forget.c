/* frame_forget.c - trees of frames that are forgotten (recall/forget.h).
 *
 * A tree is forgotten whole: goals, results and handles of one frame are repeated in those around
 * it. All its events are found by reading the log from the tree's first one, since no table says
 * which events changed a frame; their refs name the root. Texts are shared between trees, so an
 * event with a text is erased only if no handle of another tree has the same text.
 */
#include "base/error.h"
#include "base/str.h"
#include "frame/frame_row.h"

#define OF_USER " where tenant_id = $1 and user_id = $2"
#define EVENT_PAGE 1000

/* Appends a number to a list in the arena. */
static loci_status add_seq(lc_arena *arena, int64_t **seqs, size_t *count, size_t *room,
                           int64_t seq, loci_error *err)
{
    if (*count == *room) {
        size_t wider = *room > 0 ? 2 * *room : 16;
        int64_t *items = lc_arena_zalloc_array(arena, wider, sizeof *items);

        if (items == NULL)
            return lc_fail_memory(err);
        for (size_t i = 0; i < *count; i++)
            items[i] = (*seqs)[i];
        *seqs = items;
        *room = wider;
    }
    (*seqs)[(*count)++] = seq;
    return LOCI_OK;
}

/* ---- Deciding -------------------------------------------------------------------------------- */

static const lc_sql session_roots_sql = {
    "select seq from frames" OF_USER
    " and session_id = $3 and parent_seq = 0 and persona_id in ('', $4) order by seq",
    "tttt", "i"};

static loci_status add_root(lc_arena *arena, lc_frame_oblivion *out, int64_t seq, loci_error *err)
{
    return add_seq(arena, &out->roots, &out->root_count, &out->root_room, seq, err);
}

static loci_status choose_session(lc_tx *tx, const lc_frame_target *target, loci_str session_id,
                                  lc_arena *arena, lc_frame_oblivion *out, loci_error *err)
{
    lc_rows rows;
    loci_status status = lc_tx_query(tx, &session_roots_sql,
                                     (lc_arg[]){LC_T(tx->tenant_id), LC_T(tx->user_id),
                                                LC_T(session_id),
                                                LC_T_OR_EMPTY(target->persona_id)},
                                     &rows, err);

    while (status == LOCI_OK && lc_rows_next(&rows, &status, err))
        status = add_root(arena, out, lc_rows_i64(&rows, 0), err);
    lc_rows_end(&rows);
    return status;
}

static loci_status choose_roots(lc_tx *tx, const lc_frame_target *target, lc_arena *arena,
                                lc_frame_oblivion *out, loci_error *err)
{
    lc_frame frame;
    loci_status status = LOCI_OK;

    if (target->id.ptr != NULL) {
        status = lc_frame_load(tx, target->persona_id, target->id, arena, &frame, err);
        return status == LOCI_OK ? add_root(arena, out, frame.root_seq, err) : status;
    }
    for (size_t i = 0; i < target->sessions.count && status == LOCI_OK; i++)
        status = choose_session(tx, target, target->sessions.items[i], arena, out, err);
    return status;
}

static const lc_sql tree_sql = {
    "select {row} from frames" OF_USER " and root_seq = $3 order by seq", "tti", "", &lc_frame_row};

static loci_status add_frames(lc_tx *tx, int64_t root_seq, lc_forgetting *f, loci_error *err)
{
    lc_frame frame;
    lc_rows rows;
    loci_status status = lc_tx_query(
        tx, &tree_sql, (lc_arg[]){LC_T(tx->tenant_id), LC_T(tx->user_id), LC_I(root_seq)}, &rows,
        err);

    while (lc_row_next(&rows, &frame, &status, err))
        status = lc_forget_add(
            f, &(lc_forget_item){.kind = "frame", .id = frame.id, .seq = frame.seq}, err);
    lc_rows_end(&rows);
    return status;
}

static bool has_seq(const int64_t *seqs, size_t count, int64_t seq)
{
    for (size_t i = 0; i < count; i++)
        if (seqs[i] == seq)
            return true;
    return false;
}

static const lc_sql contents_sql = {
    "select distinct c.seq, h.content_hash from frame_handles h join frame_contents c"
    " on c.tenant_id = h.tenant_id and c.user_id = h.user_id and c.hash = h.content_hash"
    " where h.tenant_id = $1 and h.user_id = $2 and h.root_seq = $3 order by c.seq",
    "tti", "it"};
static const lc_sql holders_sql = {
    "select distinct root_seq from frame_handles" OF_USER " and content_hash = $3", "ttt", "i"};

/* Whether all handles with this text are in the trees. */
static loci_status is_only_ours(lc_tx *tx, const lc_frame_oblivion *oblivion, loci_str hash,
                                bool *out, loci_error *err)
{
    lc_rows rows;
    loci_status status = lc_tx_query(tx, &holders_sql,
                                     (lc_arg[]){LC_T(tx->tenant_id), LC_T(tx->user_id), LC_T(hash)},
                                     &rows, err);

    *out = true;
    while (status == LOCI_OK && *out && lc_rows_next(&rows, &status, err))
        *out = has_seq(oblivion->roots, oblivion->root_count, lc_rows_i64(&rows, 0));
    lc_rows_end(&rows);
    return status;
}

typedef struct text_of_tree {
    int64_t seq;
    loci_str hash;
    struct text_of_tree *next;
} text_of_tree;

/* The texts of one tree, in the arena. */
static loci_status list_texts(lc_tx *tx, int64_t root_seq, lc_arena *arena, text_of_tree **out,
                              loci_error *err)
{
    lc_rows rows;
    loci_status status = lc_tx_query(
        tx, &contents_sql, (lc_arg[]){LC_T(tx->tenant_id), LC_T(tx->user_id), LC_I(root_seq)},
        &rows, err);

    *out = NULL;
    while (status == LOCI_OK && lc_rows_next(&rows, &status, err)) {
        text_of_tree *text = lc_arena_alloc(arena, sizeof *text);
        loci_str hash = lc_arena_copy(arena, lc_rows_str(&rows, 1));

        if (text == NULL || hash.ptr == NULL) {
            status = lc_fail_memory(err);
            break;
        }
        *text = (text_of_tree){lc_rows_i64(&rows, 0), hash, *out};
        *out = text;
    }
    lc_rows_end(&rows);
    return status;
}

static loci_status add_contents(lc_tx *tx, int64_t root_seq, lc_forgetting *f,
                                lc_frame_oblivion *out, loci_error *err)
{
    text_of_tree *texts;
    bool is_ours = false;
    loci_status status = list_texts(tx, root_seq, f->arena, &texts, err);

    for (; texts != NULL && status == LOCI_OK; texts = texts->next) {
        if (has_seq(out->contents, out->content_count, texts->seq))
            continue;
        status = is_only_ours(tx, out, texts->hash, &is_ours, err);
        if (status == LOCI_OK && is_ours)
            status = add_seq(f->arena, &out->contents, &out->content_count, &out->content_room,
                             texts->seq, err);
        if (status == LOCI_OK && is_ours)
            status = lc_forget_add_event(f, texts->seq, err);
    }
    return status;
}

typedef struct walk {
    lc_forgetting *f;
    const lc_frame_oblivion *oblivion;
    int64_t last_seq;
    int64_t seen;
} walk;

/* Adds an event that belongs to one of the trees. */
static loci_status add_event(void *ctx, const lc_event *event, loci_error *err)
{
    walk *w = ctx;
    lc_arena_mark mark = lc_arena_get_mark(w->f->arena);
    lc_event_json json;
    bool is_ours = false;
    loci_status status = LOCI_OK;

    w->last_seq = event->seq;
    w->seen++;
    if (event->is_erased || !lc_str_starts(loci_str_of(event->type->name), LC_STR("frame.")))
        return LOCI_OK;
    status = lc_event_parse(event, w->f->arena, &json, err);
    if (status == LOCI_OK)
        is_ours = has_seq(w->oblivion->roots, w->oblivion->root_count,
                          lc_event_int(json.refs, "root_seq", 0));
    lc_arena_rewind(w->f->arena, mark);
    return is_ours ? lc_forget_add_event(w->f, event->seq, err) : status;
}

static loci_status add_events(lc_tx *tx, lc_forgetting *f, const lc_frame_oblivion *oblivion,
                              loci_error *err)
{
    walk w = {.f = f, .oblivion = oblivion, .last_seq = INT64_MAX};
    loci_status status;

    for (size_t i = 0; i < oblivion->root_count; i++)
        if (oblivion->roots[i] < w.last_seq)
            w.last_seq = oblivion->roots[i];
    do {
        w.seen = 0;
        status = lc_event_each(tx,
                               &(lc_event_range){.tenant_id = tx->tenant_id,
                                                 .user_id = tx->user_id,
                                                 .after_seq = w.last_seq,
                                                 .limit = EVENT_PAGE},
                               add_event, &w, err);
    } while (status == LOCI_OK && w.seen == EVENT_PAGE);
    return status;
}

loci_status lc_frame_decide_forget(lc_tx *tx, const lc_frame_target *target, lc_forgetting *f,
                                   lc_frame_oblivion *out, loci_error *err)
{
    loci_status status = choose_roots(tx, target, f->arena, out, err);

    for (size_t i = 0; i < out->root_count && status == LOCI_OK; i++) {
        status = add_frames(tx, out->roots[i], f, err);
        if (status == LOCI_OK)
            status = add_contents(tx, out->roots[i], f, out, err);
    }
    if (status == LOCI_OK && out->root_count > 0)
        status = add_events(tx, f, out, err);
    return status;
}

/* ---- The event ------------------------------------------------------------------------------- */

static void put_seqs(lc_json_writer *w, const char *name, const int64_t *seqs, size_t count)
{
    lc_jw_name(w, name);
    lc_jw_array(w);
    for (size_t i = 0; i < count; i++)
        lc_jw_int(w, seqs[i]);
    lc_jw_end(w);
}

loci_status lc_frame_commit_forget(lc_tx *tx, const lc_frame_oblivion *oblivion, loci_error *err)
{
    lc_event_draft draft;

    if (oblivion->root_count == 0)
        return LOCI_OK;
    lc_event_draft_begin(&draft, tx);
    put_seqs(&draft.refs, "roots", oblivion->roots, oblivion->root_count);
    put_seqs(&draft.refs, "contents", oblivion->contents, oblivion->content_count);
    return lc_event_draft_append(&draft, tx, &(lc_append){.type = &lc_frame_forgotten_event}, NULL,
                                 err);
}

static const lc_sql delete_frames_sql = {"delete from frames" OF_USER " and root_seq = $3", "tti",
                                         NULL};
static const lc_sql delete_handles_sql = {"delete from frame_handles" OF_USER " and root_seq = $3",
                                          "tti", NULL};
static const lc_sql delete_tools_sql = {"delete from frame_tools" OF_USER " and root_seq = $3",
                                        "tti", NULL};
static const lc_sql delete_reservations_sql = {
    "delete from frame_reservations" OF_USER " and root_seq = $3", "tti", NULL};
static const lc_sql delete_suspensions_sql = {
    "delete from frame_suspensions" OF_USER " and root_seq = $3", "tti", NULL};
static const lc_sql delete_content_sql = {"delete from frame_contents" OF_USER " and seq = $3",
                                          "tti", NULL};

/* Runs each statement for each number of the list `name`. */
static loci_status delete_each(lc_tx *tx, const lc_event *event, const lc_json *refs,
                               const char *name, const lc_sql *const *statements, loci_error *err)
{
    const lc_json *list = lc_json_find(refs, name, LC_JSON_ARRAY);
    loci_status status = LOCI_OK;

    if (list == NULL)
        return lc_event_fail(event, err);
    for (const lc_json *at = lc_json_first(list); at != NULL && status == LOCI_OK;
         at = lc_json_next(at)) {
        if (lc_json_kind_of(at) != LC_JSON_INT)
            return lc_event_fail(event, err);
        for (const lc_sql *const *sql = statements; *sql != NULL && status == LOCI_OK; sql++)
            status = lc_tx_exec(
                tx, *sql,
                (lc_arg[]){LC_T(event->tenant_id), LC_T(event->user_id), LC_I(lc_json_int(at))},
                err);
    }
    return status;
}

static loci_status apply_forgotten(lc_tx *tx, const lc_event *event, loci_error *err)
{
    static const lc_sql *const of_tree[] = {&delete_frames_sql,      &delete_handles_sql,
                                            &delete_tools_sql,       &delete_reservations_sql,
                                            &delete_suspensions_sql, NULL};
    static const lc_sql *const of_content[] = {&delete_content_sql, NULL};
    lc_arena *arena = &tx->db->scratch;
    lc_arena_mark mark = lc_arena_get_mark(arena);
    lc_event_json json;
    loci_status status = lc_event_parse(event, arena, &json, err);

    if (status == LOCI_OK)
        status = delete_each(tx, event, json.refs, "roots", of_tree, err);
    if (status == LOCI_OK)
        status = delete_each(tx, event, json.refs, "contents", of_content, err);
    lc_arena_rewind(arena, mark);
    return status;
}

const lc_event_type lc_frame_forgotten_event = {
    .name = "frame.forgotten", .version = 1, .apply = apply_forgotten, .forgets = true};
