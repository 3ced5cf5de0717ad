/* memory_withdraw.c - memories, entities and todos that a rewind takes back (recall/rewind.h).
 *
 * A memory or todo that was stored for a withdrawn message has no row any more, and is spliced out
 * of its links, the newest first:
 *
 *     what it superseded        is active again, or superseded by its successor
 *     what superseded it        supersedes what it had superseded
 *     claims against it         contest what it had superseded, or nothing
 *
 * A change is taken back member by member: a member that the event changed, and that no later event
 * changed, gets its old value back. For that, the events of derived changes have the state before
 * them (`before`). Changes are recorded as memory.changed and todo.changed; memory.withdrawn has
 * the rest. An entity goes if it was added for a withdrawn message, unless a memory that stays
 * names it.
 */
#include "base/error.h"
#include "base/map.h"
#include "base/str.h"
#include "memory/entity.h"
#include "memory/memory.h"
#include "memory/todo.h"
#include "memory/withdraw.h"
#include "store/withdrawal.h"

typedef struct node {
    lc_memory memory; /* As it will be. */
    bool is_withdrawn;
    bool is_moved;    /* Its status, or its successor changes. */
    bool is_relinked; /* The list of memories it supersedes changes. */
    bool is_claiming; /* The memory it contests changes. */
    bool is_changed;  /* Its state. */
    struct node *next;
} node;

typedef struct todo_node {
    lc_todo todo;
    bool is_withdrawn, is_changed;
    struct todo_node *next;
} todo_node;

struct lc_memory_withdrawal {
    lc_rewind *r;
    lc_map nodes; /* node and todo_node, by id. */
    node *first, **end;
    todo_node *first_todo, **todo_end;
    const lc_rewind_event **events; /* That are taken back. */
    size_t event_count;
};

/* ---- The model ------------------------------------------------------------------------------- */

static const lc_sql memory_sql = {
    "select {row} from memories where tenant_id = $1 and user_id = $2 and seq = $3", "tti", "",
    &lc_memory_row};
static const lc_sql todo_sql = {
    "select {row} from todos where tenant_id = $1 and user_id = $2 and seq = $3", "tti", "",
    &lc_todo_row};

#define OF_SEQ(tx, seq)                                                                            \
    (lc_arg[])                                                                                     \
    {                                                                                              \
        LC_T((tx)->tenant_id), LC_T((tx)->user_id), LC_I(seq)                                      \
    }

/* `*out` is NULL if there is none: it was forgotten. */
static loci_status find_node(lc_memory_withdrawal *w, loci_str id, node **out, loci_error *err)
{
    lc_id_parts parts;
    bool found;
    node *n;
    loci_status status;

    *out = lc_map_find(&w->nodes, id);
    if (*out != NULL || !lc_id_parse(id, "mem", &parts))
        return LOCI_OK;
    n = lc_arena_zalloc_array(w->r->arena, 1, sizeof *n);
    if (n == NULL)
        return lc_fail_memory(err);
    status = lc_row_find(w->r->tx, &(lc_query){&memory_sql, OF_SEQ(w->r->tx, parts.seq)},
                         w->r->arena, &n->memory, &found, err);
    if (status != LOCI_OK || !found)
        return status;
    if (!lc_map_put(&w->nodes, n->memory.id, n))
        return lc_fail_memory(err);
    *w->end = n;
    w->end = &n->next;
    *out = n;
    return LOCI_OK;
}

static loci_status find_todo(lc_memory_withdrawal *w, loci_str id, todo_node **out, loci_error *err)
{
    lc_id_parts parts;
    bool found;
    todo_node *n;
    loci_status status;

    *out = lc_map_find(&w->nodes, id);
    if (*out != NULL || !lc_id_parse(id, "todo", &parts))
        return LOCI_OK;
    n = lc_arena_zalloc_array(w->r->arena, 1, sizeof *n);
    if (n == NULL)
        return lc_fail_memory(err);
    status = lc_row_find(w->r->tx, &(lc_query){&todo_sql, OF_SEQ(w->r->tx, parts.seq)}, w->r->arena,
                         &n->todo, &found, err);
    if (status != LOCI_OK || !found)
        return status;
    if (!lc_map_put(&w->nodes, n->todo.id, n))
        return lc_fail_memory(err);
    *w->todo_end = n;
    w->todo_end = &n->next;
    *out = n;
    return LOCI_OK;
}

/* The JSON array of strings `list` without `id`, and with the strings of `instead` in its place. */
static loci_status replace_id(lc_arena *arena, loci_str *list, loci_str id, const lc_json *instead,
                              bool *has_changed, loci_error *err)
{
    const lc_json *ids;
    lc_json_writer out;
    lc_buf text;
    loci_status status = lc_json_parse(arena, *list, 0, &ids, err);

    *has_changed = false;
    if (status != LOCI_OK)
        return status;
    lc_buf_init(&text, arena->heap, LOCI_MEM_REQUESTS, LC_EVENT_BYTES_MAX);
    lc_jw_init(&out, &text);
    lc_jw_array(&out);
    for (const lc_json *each = lc_json_first(ids); each != NULL; each = lc_json_next(each)) {
        if (!lc_str_eq(lc_json_str(each), id)) {
            lc_jw_str(&out, lc_json_str(each));
            continue;
        }
        *has_changed = true;
        for (const lc_json *other = instead != NULL ? lc_json_first(instead) : NULL; other != NULL;
             other = lc_json_next(other))
            lc_jw_str(&out, lc_json_str(other));
    }
    lc_jw_end(&out);
    status = lc_buf_status(&text, err);
    if (status == LOCI_OK && *has_changed) {
        *list = lc_arena_copy(arena, lc_buf_str(&text));
        if (list->ptr == NULL)
            status = lc_fail_memory(err);
    }
    lc_buf_clear(&text);
    return status;
}

/* ---- Splicing -------------------------------------------------------------------------------- */

static void free_memory(node *before, const node *n)
{
    bool was_superseded = n->memory.status == LC_MEMORY_SUPERSEDED;

    before->is_moved = true;
    before->memory.status = was_superseded ? LC_MEMORY_SUPERSEDED : LC_MEMORY_ACTIVE;
    before->memory.superseded_by = was_superseded ? n->memory.superseded_by : LC_STR_NONE;
    before->memory.ended_at = was_superseded ? n->memory.ended_at : 0;
}

/* Claims against a memory, and what it ended at once because it was newer. */
static const lc_sql referring_sql = {
    "select id from memories where tenant_id = $1 and user_id = $2 and persona_id = $3"
    " and memory_key = $4 and (contests = $5 or superseded_by = $5) limit 1000",
    "ttttt", "t"};

static loci_status load_referring(lc_memory_withdrawal *w, const lc_memory *memory, loci_error *err)
{
    loci_str ids[1000];
    size_t count = 0;
    node *ignored;
    lc_rows rows;
    loci_status status = lc_tx_query(w->r->tx, &referring_sql,
                                     (lc_arg[]){LC_T(w->r->tx->tenant_id), LC_T(w->r->tx->user_id),
                                                LC_T_OR_EMPTY(memory->persona_id),
                                                LC_T(memory->memory_key), LC_T(memory->id)},
                                     &rows, err);

    while (status == LOCI_OK && lc_rows_next(&rows, &status, err)) {
        ids[count] = lc_arena_copy(w->r->arena, lc_rows_str(&rows, 0));
        if (ids[count++].ptr == NULL) {
            status = lc_fail_memory(err);
            break;
        }
    }
    lc_rows_end(&rows);
    for (size_t i = 0; i < count && status == LOCI_OK; i++)
        status = find_node(w, ids[i], &ignored, err);
    if (status == LOCI_OK && memory->superseded_by.len > 0)
        status = find_node(w, memory->superseded_by, &ignored, err);
    return status;
}

static loci_status splice(lc_memory_withdrawal *w, node *n, loci_error *err)
{
    lc_arena *arena = w->r->arena;
    const lc_json *before_ids;
    loci_str own = LC_STR_NONE;
    bool has_changed;
    loci_status status = lc_json_parse(arena, n->memory.supersedes, 0, &before_ids, err);

    for (const lc_json *each = status == LOCI_OK ? lc_json_first(before_ids) : NULL;
         each != NULL && status == LOCI_OK; each = lc_json_next(each)) {
        node *before;

        status = find_node(w, lc_json_str(each), &before, err);
        if (status != LOCI_OK || before == NULL ||
            !lc_str_eq(before->memory.superseded_by, n->memory.id))
            continue;
        free_memory(before, n);
        own = before->memory.id;
    }
    if (status == LOCI_OK)
        status = load_referring(w, &n->memory, err);
    for (node *each = w->first; each != NULL && status == LOCI_OK; each = each->next) {
        if (each->is_withdrawn)
            continue;
        if (lc_str_eq(each->memory.contests, n->memory.id)) {
            each->memory.contests = own;
            each->is_claiming = true;
        }
        if (lc_str_eq(each->memory.superseded_by, n->memory.id) && own.len > 0) {
            each->memory.superseded_by = own;
            each->is_moved = true;
        } else if (lc_str_eq(each->memory.superseded_by, n->memory.id)) {
            free_memory(each, n);
        }
        status = replace_id(arena, &each->memory.supersedes, n->memory.id, before_ids, &has_changed,
                            err);
        each->is_relinked |= has_changed;
    }
    return status;
}

/* ---- Changes --------------------------------------------------------------------------------- */

/* The state that the event set, and the one before it, decoded as `type`. */
static loci_status read_change(lc_memory_withdrawal *w, int64_t seq, const lc_row_type *type,
                               void *after, void *before, loci_error *err)
{
    lc_event event = {0};
    lc_event_json json;
    loci_status status = lc_rewind_load(w->r, seq, &event, err);

    if (status == LOCI_OK)
        status = lc_row_decode(type, &event, w->r->arena, after, err);
    if (status == LOCI_OK)
        status = lc_event_parse(&event, w->r->arena, &json, err);
    if (status == LOCI_OK)
        status = lc_event_raw(json.payload, "before", w->r->arena, &event.payload, err);
    if (status == LOCI_OK && event.payload.len == 0)
        status = lc_event_fail(&event, err);
    return status == LOCI_OK ? lc_row_decode(type, &event, w->r->arena, before, err) : status;
}

#define TAKE_BACK(now, after, before, member)                                                      \
    do {                                                                                           \
        if ((now)->member == (after)->member)                                                      \
            (now)->member = (before)->member;                                                      \
    } while (0)
#define TAKE_BACK_TEXT(now, after, before, member)                                                 \
    do {                                                                                           \
        if (lc_str_eq((now)->member, (after)->member))                                             \
            (now)->member = (before)->member;                                                      \
    } while (0)

/* Sessions that the change added go from the list. */
static loci_status take_back_sessions(lc_arena *arena, lc_memory *now, const lc_memory *after,
                                      const lc_memory *before, loci_error *err)
{
    const lc_json *added;
    bool has_changed;
    loci_status status = lc_json_parse(arena, after->sessions, 0, &added, err);

    for (const lc_json *each = status == LOCI_OK ? lc_json_first(added) : NULL;
         each != NULL && status == LOCI_OK; each = lc_json_next(each)) {
        loci_str id = lc_json_str(each);

        if (memmem(before->sessions.ptr, before->sessions.len, id.ptr, id.len) == NULL)
            status = replace_id(arena, &now->sessions, id, NULL, &has_changed, err);
    }
    return status;
}

static loci_status undo_change(lc_memory_withdrawal *w, const lc_rewind_event *event,
                               loci_error *err)
{
    lc_memory after = {0}, before = {0};
    lc_memory *now;
    node *n;
    loci_status status = find_node(w, event->id, &n, err);

    if (status != LOCI_OK || n == NULL || n->is_withdrawn)
        return status;
    status = read_change(w, event->seq, &lc_memory_state_row, &after, &before, err);
    if (status != LOCI_OK)
        return status;
    now = &n->memory;
    n->is_changed = true;
    if (now->status == after.status && before.status != after.status) {
        now->status = before.status;
        now->ended_at = before.ended_at;
        n->is_moved = true;
    }
    now->mentions -= after.mentions - before.mentions;
    TAKE_BACK(now, &after, &before, importance);
    TAKE_BACK(now, &after, &before, pinned);
    TAKE_BACK(now, &after, &before, raised);
    TAKE_BACK(now, &after, &before, confirmed_at);
    TAKE_BACK_TEXT(now, &after, &before, entity_label);
    TAKE_BACK_TEXT(now, &after, &before, metadata);
    return take_back_sessions(w->r->arena, now, &after, &before, err);
}

static loci_status undo_todo(lc_memory_withdrawal *w, const lc_rewind_event *event, loci_error *err)
{
    lc_todo after = {0}, before = {0};
    todo_node *n;
    loci_status status = find_todo(w, event->id, &n, err);

    if (status != LOCI_OK || n == NULL || n->is_withdrawn)
        return status;
    status = read_change(w, event->seq, &lc_todo_state_row, &after, &before, err);
    if (status != LOCI_OK)
        return status;
    n->is_changed = true;
    TAKE_BACK_TEXT(&n->todo, &after, &before, text);
    TAKE_BACK_TEXT(&n->todo, &after, &before, kind);
    TAKE_BACK_TEXT(&n->todo, &after, &before, status);
    TAKE_BACK_TEXT(&n->todo, &after, &before, entity_refs);
    TAKE_BACK(&n->todo, &after, &before, due_at);
    TAKE_BACK(&n->todo, &after, &before, done_at);
    return LOCI_OK;
}

loci_status lc_state_change_append(lc_tx *tx, const lc_state_change *change, int64_t *out_seq,
                                   loci_error *err)
{
    const lc_row_type *type = change->state->row;
    lc_arena *arena = &tx->db->tx_memory;
    lc_event_draft draft;
    void *before;
    bool found;
    loci_status status;

    if (tx->source.len == 0)
        return lc_row_append(tx, change->type, type, change->row, out_seq, err);
    before = lc_arena_zalloc_array(arena, 1, type->bytes);
    if (before == NULL)
        return lc_fail_memory(err);
    status = lc_row_find(tx, &(lc_query){change->state, OF_SEQ(tx, change->seq)}, arena, before,
                         &found, err);
    if (status != LOCI_OK)
        return status;
    lc_event_draft_begin(&draft, tx);
    lc_row_encode(type, change->row, LC_COL_REFS, &draft.refs);
    lc_row_encode(type, change->row, LC_COL_PAYLOAD, &draft.payload);
    lc_jw_name(&draft.payload, "before");
    lc_jw_object(&draft.payload);
    if (found)
        lc_row_encode(type, before, LC_COL_PAYLOAD, &draft.payload);
    lc_jw_end(&draft.payload);
    return lc_event_draft_append(&draft, tx, &(lc_append){.type = change->type}, out_seq, err);
}

/* ---- Deciding -------------------------------------------------------------------------------- */

static bool is_ours(const lc_event_type *type)
{
    return type == &lc_memory_stored_event || type == &lc_memory_changed_event ||
           type == &lc_todo_added_event || type == &lc_todo_changed_event;
}

static loci_status mark_withdrawn(lc_memory_withdrawal *w, const lc_rewind_event *event,
                                  loci_error *err)
{
    todo_node *todo = NULL;
    node *memory = NULL;
    loci_status status = LOCI_OK;

    if (event->type == &lc_memory_stored_event)
        status = find_node(w, event->id, &memory, err);
    if (event->type == &lc_todo_added_event)
        status = find_todo(w, event->id, &todo, err);
    if (memory != NULL)
        memory->is_withdrawn = true;
    if (todo != NULL)
        todo->is_withdrawn = true;
    if (status == LOCI_OK && is_ours(event->type))
        w->events[w->event_count++] = event;
    return status;
}

static loci_status undo(lc_memory_withdrawal *w, const lc_rewind_event *event, loci_error *err)
{
    node *n = lc_map_find(&w->nodes, event->id);

    if (event->type == &lc_memory_changed_event)
        return undo_change(w, event, err);
    if (event->type == &lc_todo_changed_event)
        return undo_todo(w, event, err);
    return event->type == &lc_memory_stored_event && n != NULL ? splice(w, n, err) : LOCI_OK;
}

/* ---- Entities -------------------------------------------------------------------------------- */

static const lc_sql named_sql = {
    "select seq from memory_tags where tenant_id = $1 and user_id = $2 and tag = $3"
    " and persona_id = $4",
    "tttt", "i"};
static const lc_sql aliases_sql = {
    "select count(*) from entities where tenant_id = $1 and user_id = $2 and merged_into = $3",
    "ttt", "i"};
static const lc_sql entity_sql = {
    "select {row} from entities where tenant_id = $1 and user_id = $2 and id = $3", "ttt", "",
    &lc_entity_row};

static bool is_withdrawn_seq(const lc_memory_withdrawal *w, int64_t seq)
{
    for (const node *n = w->first; n != NULL; n = n->next)
        if (n->is_withdrawn && n->memory.seq == seq)
            return true;
    return false;
}

static loci_status take_entity(lc_memory_withdrawal *w, const lc_rewind_event *event,
                               loci_error *err)
{
    lc_tx *tx = w->r->tx;
    const lc_arg which[] = {LC_T(tx->tenant_id), LC_T(tx->user_id), LC_T(event->id)};
    lc_entity entity;
    bool found, stays = false;
    int64_t aliases = 0;
    lc_rows rows;
    loci_status status = lc_row_find(tx, &(lc_query){&entity_sql, which}, w->r->arena, &entity,
                                     &found, err);

    if (status == LOCI_OK && found)
        status = lc_tx_find_numbers(tx, &aliases_sql, which, &aliases, err);
    if (status != LOCI_OK || !found || aliases > 0 || entity.merged_into.len > 0)
        return status;
    status = lc_tx_query(tx, &named_sql,
                         (lc_arg[]){LC_T(tx->tenant_id), LC_T(tx->user_id),
                                    LC_T_OR_EMPTY(lc_memory_entity_tag(w->r->arena, entity.ref)),
                                    LC_T_OR_EMPTY(entity.persona_id)},
                         &rows, err);
    while (status == LOCI_OK && lc_rows_next(&rows, &status, err))
        stays = stays || !is_withdrawn_seq(w, lc_rows_i64(&rows, 0));
    lc_rows_end(&rows);
    if (status != LOCI_OK || stays)
        return status;
    w->events[w->event_count++] = event;
    return lc_rewind_add(w->r, &(lc_rewind_item){"entity", "withdrawn", entity.id, entity.ref},
                         err);
}

static loci_status list_items(lc_memory_withdrawal *w, loci_error *err)
{
    loci_status status = LOCI_OK;

    for (const node *n = w->first; n != NULL && status == LOCI_OK; n = n->next) {
        lc_rewind_item item = {.kind = "memory", .id = n->memory.id, .text = n->memory.text};

        item.action = n->is_withdrawn                                       ? "withdrawn"
                      : n->is_moved && n->memory.status == LC_MEMORY_ACTIVE ? "restored"
                      : n->is_moved || n->is_relinked || n->is_claiming || n->is_changed ? "changed"
                                                                                         : NULL;
        if (item.action != NULL)
            status = lc_rewind_add(w->r, &item, err);
    }
    for (const todo_node *n = w->first_todo; n != NULL && status == LOCI_OK; n = n->next)
        if (n->is_withdrawn || n->is_changed)
            status = lc_rewind_add(w->r,
                                   &(lc_rewind_item){"todo",
                                                     n->is_withdrawn ? "withdrawn" : "changed",
                                                     n->todo.id, n->todo.text},
                                   err);
    return status;
}

loci_status lc_memory_decide_withdraw(lc_rewind *r, lc_memory_withdrawal **out, loci_error *err)
{
    lc_memory_withdrawal *w = lc_arena_zalloc_array(r->arena, 1, sizeof *w);
    loci_status status = LOCI_OK;

    *out = w;
    if (w == NULL)
        return lc_fail_memory(err);
    w->r = r;
    w->end = &w->first;
    w->todo_end = &w->first_todo;
    lc_map_init(&w->nodes, &r->tx->db->env->heap, LOCI_MEM_REQUESTS);
    w->events = lc_arena_zalloc_array(r->arena, r->event_count + 1, sizeof(lc_rewind_event *));
    if (w->events == NULL)
        status = lc_fail_memory(err);
    for (size_t i = 0; i < r->event_count && status == LOCI_OK; i++)
        status = mark_withdrawn(w, &r->events[i], err);
    for (size_t i = r->event_count; i > 0 && status == LOCI_OK; i--)
        status = undo(w, &r->events[i - 1], err);
    for (size_t i = 0; i < r->event_count && status == LOCI_OK; i++)
        if (r->events[i].type == &lc_entity_added_event)
            status = take_entity(w, &r->events[i], err);
    if (status == LOCI_OK)
        status = list_items(w, err);
    lc_map_clear(&w->nodes);
    return status;
}

/* ---- Recording ------------------------------------------------------------------------------- */

/* Which list of the event an event that is taken back belongs to, and what it is called in
 * `withdrawals`. Rows go with the events that added them. */
static const struct {
    const lc_event_type *type;
    const char *list, *kind;
} lists[] = {
    {&lc_memory_stored_event, "memories", "memory"},
    {&lc_memory_changed_event, "memory_changes", "memory"},
    {&lc_entity_added_event, "entities", "entity"},
    {&lc_todo_added_event, "todos", "todo"},
    {&lc_todo_changed_event, "todo_changes", "todo"},
};
#define LISTS (sizeof lists / sizeof lists[0])

static void put_events(lc_rewind_outcome *to, const lc_memory_withdrawal *w)
{
    for (size_t k = 0; k < LISTS; k++) {
        for (size_t i = 0; i < w->event_count; i++) {
            const lc_rewind_event *event = w->events[i];

            if (event->type != lists[k].type ||
                !lc_rewind_outcome_open(to, lists[k].list, event->id))
                continue;
            lc_jw_member_int(&to->draft.refs, "seq", event->seq);
            lc_jw_end(&to->draft.refs);
        }
    }
}

static void put_links(lc_rewind_outcome *to, const lc_memory_withdrawal *w)
{
    for (const node *n = w->first; n != NULL; n = n->next) {
        if (n->is_withdrawn || !n->is_moved || !lc_rewind_outcome_open(to, "moved", n->memory.id))
            continue;
        lc_jw_member_text(&to->draft.refs, "status",
                          n->memory.status == LC_MEMORY_ACTIVE       ? "active"
                          : n->memory.status == LC_MEMORY_SUPERSEDED ? "superseded"
                          : n->memory.status == LC_MEMORY_CLAIMED    ? "claimed"
                                                                     : "archived");
        if (n->memory.superseded_by.len > 0)
            lc_jw_member_str(&to->draft.refs, "by", n->memory.superseded_by);
        if (n->memory.ended_at > 0)
            lc_jw_member_time(&to->draft.refs, "at", n->memory.ended_at);
        lc_jw_end(&to->draft.refs);
    }
    for (const node *n = w->first; n != NULL; n = n->next) {
        if (!n->is_withdrawn && n->is_relinked &&
            lc_rewind_outcome_open(to, "relinked", n->memory.id)) {
            lc_jw_member_raw(&to->draft.refs, "supersedes", n->memory.supersedes);
            lc_jw_end(&to->draft.refs);
        }
    }
    for (const node *n = w->first; n != NULL; n = n->next) {
        if (!n->is_withdrawn && n->is_claiming &&
            lc_rewind_outcome_open(to, "claims", n->memory.id)) {
            if (n->memory.contests.len > 0)
                lc_jw_member_str(&to->draft.refs, "contests", n->memory.contests);
            lc_jw_end(&to->draft.refs);
        }
    }
}

loci_status lc_memory_commit_withdraw(lc_tx *tx, lc_memory_withdrawal *w, loci_error *err)
{
    lc_rewind_outcome to = {.r = w->r, .type = &lc_memory_withdrawn_event, .err = err};
    loci_status status;

    put_events(&to, w);
    put_links(&to, w);
    lc_rewind_outcome_end(&to);
    status = to.status;
    for (node *n = w->first; n != NULL && status == LOCI_OK; n = n->next)
        if (n->is_changed && !n->is_withdrawn)
            status = lc_row_append(tx, &lc_memory_changed_event, &lc_memory_state_row, &n->memory,
                                   NULL, err);
    for (todo_node *n = w->first_todo; n != NULL && status == LOCI_OK; n = n->next)
        if (n->is_changed && !n->is_withdrawn)
            status = lc_todo_change(tx, &n->todo, err);
    return status;
}

/* ---- Applying -------------------------------------------------------------------------------- */

static const lc_sql delete_memory_sql = {
    "delete from memories where tenant_id = $1 and user_id = $2 and seq = $3", "tti", NULL};
static const lc_sql delete_tags_sql = {
    "delete from memory_tags where tenant_id = $1 and user_id = $2 and seq = $3", "tti", NULL};
static const lc_sql delete_entity_sql = {
    "delete from entities where tenant_id = $1 and user_id = $2 and seq = $3", "tti", NULL};
static const lc_sql delete_todo_sql = {
    "delete from todos where tenant_id = $1 and user_id = $2 and seq = $3", "tti", NULL};
static const lc_sql move_sql = {
    "update memories set status = $4, superseded_by = $5, ended_at = $6, changed_seq = $7"
    " where tenant_id = $1 and user_id = $2 and seq = $3",
    "ttittii", NULL};
static const lc_sql relink_sql = {
    "update memories set supersedes = $4 where tenant_id = $1 and user_id = $2 and seq = $3",
    "ttit", NULL};
static const lc_sql contest_sql = {
    "update memories set contests = $4 where tenant_id = $1 and user_id = $2 and seq = $3", "ttit",
    NULL};

static loci_status delete_rows(lc_tx *tx, const lc_event_type *type, const lc_arg *which,
                               loci_error *err)
{
    loci_status status = LOCI_OK;

    if (type == &lc_memory_stored_event)
        status = lc_tx_exec(tx, &delete_memory_sql, which, err);
    if (status == LOCI_OK && type == &lc_memory_stored_event)
        status = lc_tx_exec(tx, &delete_tags_sql, which, err);
    if (type == &lc_entity_added_event)
        status = lc_tx_exec(tx, &delete_entity_sql, which, err);
    if (type == &lc_todo_added_event)
        status = lc_tx_exec(tx, &delete_todo_sql, which, err);
    return status;
}

static loci_status apply_events(lc_tx *tx, const lc_event *event, const lc_json *refs, size_t k,
                                loci_error *err)
{
    const lc_json *list = lc_json_find(refs, lists[k].list, LC_JSON_ARRAY);
    loci_status status = LOCI_OK;

    for (const lc_json *each = list != NULL ? lc_json_first(list) : NULL;
         each != NULL && status == LOCI_OK; each = lc_json_next(each)) {
        const lc_withdrawal withdrawal = {.seq = lc_event_int(each, "seq", 0),
                                          .kind = loci_str_of(lists[k].kind),
                                          .id = lc_event_str(each, "id"),
                                          .session_id = lc_event_str(refs, "session_id")};
        const lc_arg which[] = {LC_T(event->tenant_id), LC_T(event->user_id), LC_I(withdrawal.seq)};

        if (withdrawal.seq <= 0 || withdrawal.id.len == 0)
            return lc_event_fail(event, err);
        status = delete_rows(tx, lists[k].type, which, err);
        if (status == LOCI_OK)
            status = lc_withdrawal_note(tx, event, &withdrawal, err);
    }
    return status;
}

typedef loci_status apply_link(lc_tx *tx, const lc_event *event, const lc_json *entry, int64_t seq,
                               loci_error *err);

static loci_status move(lc_tx *tx, const lc_event *event, const lc_json *entry, int64_t seq,
                        loci_error *err)
{
    int64_t at = lc_event_time(entry, "at", 0);
    loci_str by = lc_event_str(entry, "by");

    return lc_tx_exec(tx, &move_sql,
                      (lc_arg[]){LC_T(event->tenant_id), LC_T(event->user_id), LC_I(seq),
                                 LC_T(lc_event_str(entry, "status")),
                                 by.len > 0 ? LC_T(by) : LC_NULL, at != 0 ? LC_I(at) : LC_NULL,
                                 LC_I(event->seq)},
                      err);
}

static loci_status relink(lc_tx *tx, const lc_event *event, const lc_json *entry, int64_t seq,
                          loci_error *err)
{
    loci_str list;
    loci_status status = lc_event_raw(entry, "supersedes", &tx->db->scratch, &list, err);

    return status == LOCI_OK ? lc_tx_exec(tx, &relink_sql,
                                          (lc_arg[]){LC_T(event->tenant_id), LC_T(event->user_id),
                                                     LC_I(seq), LC_T(list)},
                                          err)
                             : status;
}

static loci_status set_contests(lc_tx *tx, const lc_event *event, const lc_json *entry, int64_t seq,
                                loci_error *err)
{
    loci_str id = lc_event_str(entry, "contests");

    return lc_tx_exec(tx, &contest_sql,
                      (lc_arg[]){LC_T(event->tenant_id), LC_T(event->user_id), LC_I(seq),
                                 id.len > 0 ? LC_T(id) : LC_NULL},
                      err);
}

static const struct {
    const char *list;
    apply_link *apply;
} links[] = {{"moved", move}, {"relinked", relink}, {"claims", set_contests}};

static loci_status apply_lists(lc_tx *tx, const lc_event *event, const lc_json *refs,
                               loci_error *err)
{
    loci_status status = LOCI_OK;

    for (size_t k = 0; k < LISTS && status == LOCI_OK; k++)
        status = apply_events(tx, event, refs, k, err);
    for (size_t i = 0; i < sizeof links / sizeof links[0] && status == LOCI_OK; i++) {
        const lc_json *list = lc_json_find(refs, links[i].list, LC_JSON_ARRAY);

        for (const lc_json *entry = list != NULL ? lc_json_first(list) : NULL;
             entry != NULL && status == LOCI_OK; entry = lc_json_next(entry)) {
            lc_id_parts parts;

            status = lc_id_parse(lc_event_str(entry, "id"), "mem", &parts)
                         ? links[i].apply(tx, event, entry, parts.seq, err)
                         : lc_event_fail(event, err);
        }
    }
    return status;
}

static loci_status apply_withdrawn(lc_tx *tx, const lc_event *event, loci_error *err)
{
    lc_arena *arena = &tx->db->scratch;
    lc_arena_mark mark = lc_arena_get_mark(arena);
    lc_event_json json;
    loci_status status = lc_event_parse(event, arena, &json, err);

    if (status == LOCI_OK)
        status = apply_lists(tx, event, json.refs, err);
    lc_arena_rewind(arena, mark);
    return status;
}

const lc_event_type lc_memory_withdrawn_event = {
    .name = "memory.withdrawn", .version = 1, .apply = apply_withdrawn, .revives = "memory"};
