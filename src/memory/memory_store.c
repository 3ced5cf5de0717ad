/* memory_store.c - what a statement does to the memories that are there.
 *
 * The writer has locked the head of the user, so rows read here stay current until the event is
 * appended: of two concurrent statements with the same key, the later one sees the earlier one.
 */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/hash.h"
#include "base/str.h"
#include "memory/entity.h"
#include "memory/memory.h"
#include "memory/slug.h"
#include "memory/withdraw.h"
#include "store/event.h"

const char *lc_memory_outcome_name(lc_memory_outcome outcome)
{
    static const char *const names[] = {"created",   "mentioned", "superseded",
                                        "kept_both", "claimed",   "ended"};

    return names[outcome];
}

/* As lc_trust_is_trusted() of facts: a tool, the web and a model only claim. */
static bool is_trusted(loci_str trust)
{
    return lc_str_is(trust, "user") || lc_str_is(trust, "system");
}

/* ---- The statement --------------------------------------------------------------------------- */

static lc_memory_type type_of(loci_str name)
{
    return lc_str_is(name, "people")    ? LC_MEMORY_PEOPLE
           : lc_str_is(name, "project") ? LC_MEMORY_PROJECT
                                        : LC_MEMORY_PROFILE;
}

static const char *type_of_ref(loci_str ref)
{
    loci_str type = lc_ref_type(ref);

    return lc_str_is(type, "person")    ? "people"
           : lc_str_is(type, "project") ? "project"
                                        : "profile";
}

/* Joins texts with `gap` between them; empty ones are left out. NULL when out of memory. */
static loci_str join(lc_arena *arena, const loci_str *parts, size_t count, char gap)
{
    size_t bytes = 0;
    char *text, *to;

    for (size_t i = 0; i < count; i++)
        bytes += parts[i].len + 1;
    text = to = lc_arena_alloc(arena, bytes + 1);
    if (text == NULL)
        return LC_STR_NONE;
    for (size_t i = 0; i < count; i++) {
        if (parts[i].len == 0)
            continue;
        if (to > text)
            *to++ = gap;
        memcpy(to, parts[i].ptr, parts[i].len);
        to += parts[i].len;
    }
    *to = '\0';
    return (loci_str){text, (size_t)(to - text)};
}

/* A JSON array of strings in the arena. */
static loci_status list_of(lc_arena *arena, const loci_str *items, size_t count, loci_str *out,
                           loci_error *err)
{
    lc_json_writer w;
    lc_buf json;
    loci_status status;

    lc_buf_init(&json, arena->heap, LOCI_MEM_REQUESTS, LC_EVENT_BYTES_MAX);
    lc_jw_init(&w, &json);
    lc_jw_array(&w);
    for (size_t i = 0; i < count; i++)
        lc_jw_str(&w, items[i]);
    lc_jw_end(&w);
    status = lc_buf_status(&json, err);
    if (status == LOCI_OK) {
        *out = lc_arena_copy(arena, lc_buf_str(&json));
        if (out->ptr == NULL)
            status = lc_fail_memory(err);
    }
    lc_buf_clear(&json);
    return status;
}

typedef struct lc_memory_plan storing;
struct lc_memory_plan {
    lc_tx *tx;
    lc_arena *arena;
    const lc_memory_input *in;
    lc_memory next;
    loci_str refs[LC_MEMORY_REFS_MAX]; /* Of entities, aliases followed; its subject first. */
    size_t ref_count;
    lc_memory_outcome outcome;
    lc_memory same; /* Mentioned: the memory that says it already; ended: the one that ends. */
    bool is_silent; /* It is there as history: nothing is written. */
    loci_str old;   /* See lc_memory_result. */
};

/* Its entities: given, or the subject that the rules found. The user is not an entity. */
static loci_status set_refs(storing *s, const lc_understood *read, loci_error *err)
{
    loci_status status = LOCI_OK;

    if (s->in->entity_refs.items == NULL && !lc_str_is(read->ref, LC_SELF_REF))
        s->refs[s->ref_count++] = read->ref;
    for (size_t i = 0; i < s->in->entity_refs.count && status == LOCI_OK; i++) {
        loci_str ref;
        bool is_new = true;

        status = lc_ref_make(s->arena, s->in->entity_refs.items[i], &ref, err);
        for (size_t k = 0; k < s->ref_count && status == LOCI_OK; k++)
            is_new &= !lc_str_eq(s->refs[k], ref);
        if (status == LOCI_OK && is_new && !lc_str_is(ref, LC_SELF_REF))
            s->refs[s->ref_count++] = ref;
    }
    for (size_t i = 0; i < s->ref_count && status == LOCI_OK; i++)
        status = lc_entity_resolve(s->tx, s->in->persona_id, s->refs[i], s->arena, &s->refs[i],
                                   err);
    return status == LOCI_OK ? list_of(s->arena, s->refs, s->ref_count, &s->next.entity_refs, err)
                             : status;
}

/* Sets the members that depend on the statement alone. */
static loci_status set_key(storing *s, const lc_understood *read, loci_error *err)
{
    const lc_memory_input *in = s->in;
    lc_memory *next = &s->next;
    loci_str type = in->type, ref = s->ref_count > 0 ? s->refs[0] : LC_STR(LC_SELF_REF);
    char hash[LC_HASH_TEXT_BYTES];
    loci_str normal;
    loci_status status = lc_memory_normalise(s->arena, in->text, &normal, err);

    if (status != LOCI_OK)
        return status;
    if (type.len == 0)
        type = loci_str_of(in->entity_refs.items != NULL ? type_of_ref(ref) : read->type);
    next->type = type_of(type);
    next->fact_type = in->fact_type.len > 0 ? in->fact_type : loci_str_of(read->fact_type);
    next->entity_type = in->entity_type.len > 0 ? in->entity_type
                        : s->ref_count > 0      ? lc_ref_type(ref)
                                                : LC_STR("");
    next->entity_label = in->entity_label.len > 0        ? in->entity_label
                         : in->entity_refs.items == NULL ? read->label
                                                         : LC_STR_NONE;
    if (in->attribute.len > 0) {
        status = lc_slug_make(s->arena, in->attribute, &next->attribute, err);
        if (lc_str_eq(next->attribute, read->attribute))
            next->value = read->value;
    } else if (in->type.len == 0 || lc_str_is(in->type, read->type)) {
        next->attribute = read->attribute;
        next->value = read->value;
    }
    lc_hash128_format(lc_hash128_of(normal), hash);
    next->statement = lc_arena_copy(s->arena, loci_str_of(hash));
    next->memory_key = join(s->arena, (loci_str[]){type, ref, next->fact_type, next->attribute}, 4,
                            '|');
    if (status == LOCI_OK && (next->statement.ptr == NULL || next->memory_key.ptr == NULL))
        status = lc_fail_memory(err);
    return status;
}

static loci_status read_statement(storing *s, loci_error *err)
{
    const lc_memory_input *in = s->in;
    lc_understood read;
    loci_status status = lc_understood_read(s->arena, in->text, &read, err);

    if (status != LOCI_OK)
        return status;
    s->next = (lc_memory){
        .text = in->text,
        .importance = in->importance >= 0 ? in->importance : 1,
        .pinned = in->pinned,
        .source = in->source.len > 0 ? in->source : LC_STR("api"),
        .confidence = isnan(in->confidence) ? 1 : in->confidence,
        .trust = in->trust.len > 0 ? in->trust : LC_STR("user"),
        .observed_at = in->observed_at,
        .mentions = 1,
        .persona_id = in->persona_id.ptr != NULL ? in->persona_id : LC_STR(""),
        .metadata = in->metadata,
        .supersedes = LC_STR("[]"),
        .sessions = LC_STR("[]"),
    };
    if (s->next.observed_at == LOCI_AT_CLOCK)
        status = lc_tx_recorded_at(s->tx, &s->next.observed_at, err);
    if (status == LOCI_OK && in->session_id.len > 0)
        status = list_of(s->arena, &in->session_id, 1, &s->next.sessions, err);
    if (status == LOCI_OK)
        status = set_refs(s, &read, err);
    return status == LOCI_OK ? set_key(s, &read, err) : status;
}

/* ---- Existing memories ----------------------------------------------------------------------- */

#define OF_PERSONA                                                                                 \
    "select {row} from memories where tenant_id = $1 and user_id = $2 and persona_id = $3"         \
    " and status = 'active'"

static const lc_sql same_sql = {OF_PERSONA " and memory_key = $4 and statement = $5 limit 1",
                                "ttttt", "", &lc_memory_row};
static const lc_sql superseded_sql = {
    "select {row} from memories where tenant_id = $1 and user_id = $2 and persona_id = $3"
    " and status in ('superseded', 'archived') and memory_key = $4 and statement = $5"
    " order by status desc, observed_at desc, seq desc limit 1",
    "ttttt", "", &lc_memory_row};
static const lc_sql claimed_sql = {
    "select {row} from memories where tenant_id = $1 and user_id = $2 and persona_id = $3"
    " and status = 'claimed' and memory_key = $4 and statement = $5 limit 1",
    "ttttt", "", &lc_memory_row};
static const lc_sql head_sql = {OF_PERSONA " and memory_key = $4 order by seq desc limit 1", "tttt",
                                "", &lc_memory_row};
/* Any key of the same subject and fact type: "type|ref|fact" up to behind "type|ref|fact|". */
static const lc_sql slot_sql = {OF_PERSONA " and memory_key >= $4 and memory_key < $5 limit 1",
                                "ttttt", "", &lc_memory_row};

/* Without an id in `out` there is none. */
static loci_status find(const storing *s, const lc_sql *sql, loci_str key, loci_str second,
                        lc_memory *out, loci_error *err)
{
    const lc_arg args[] = {LC_T(s->tx->tenant_id), LC_T(s->tx->user_id), LC_T(s->next.persona_id),
                           LC_T(key), LC_T_OR_EMPTY(second)};
    bool found;
    loci_status status = lc_row_find(s->tx, &(lc_query){sql, args}, s->arena, out, &found, err);

    if (status == LOCI_OK && !found)
        *out = (lc_memory){0};
    return status;
}

static loci_status find_slot(const storing *s, bool *found, loci_error *err)
{
    loci_str slot = s->next.memory_key, end = lc_arena_copy(s->arena, slot);
    lc_memory other = {0};
    loci_status status;

    if (end.ptr == NULL)
        return lc_fail_memory(err);
    if (s->next.attribute.len > 0)
        slot.len -= s->next.attribute.len + 1;
    ((char *)end.ptr)[slot.len] = '}'; /* Follows '|'; the copy has room for one more byte. */
    end.len = slot.len + 1;
    status = find(s, &slot_sql, slot, end, &other, err);
    *found = other.id.len > 0;
    return status;
}

static void mention_past(storing *s, const lc_memory *past)
{
    s->outcome = LC_MEMORY_MENTIONED;
    s->same = *past;
    s->is_silent = true;
}

/* The JSON array `sessions` with `session_id` in it, if it has room. */
static loci_status add_session(lc_arena *arena, loci_str session_id, loci_str *sessions,
                               loci_error *err)
{
    loci_str items[LC_MEMORY_SESSIONS_MAX];
    size_t count = 0;
    const lc_json *list;
    loci_status status = lc_json_parse(arena, *sessions, 0, &list, err);

    if (status != LOCI_OK || session_id.len == 0)
        return status;
    for (const lc_json *item = lc_json_first(list); item != NULL; item = lc_json_next(item)) {
        if (count == LC_MEMORY_SESSIONS_MAX || lc_str_eq(lc_json_str(item), session_id))
            return LOCI_OK;
        items[count++] = lc_json_str(item);
    }
    if (count == LC_MEMORY_SESSIONS_MAX)
        return LOCI_OK;
    items[count++] = session_id;
    return list_of(arena, items, count, sessions, err);
}

static bool may_not_change(const storing *s, const lc_memory *head)
{
    return head->pinned || (is_trusted(head->trust) && !is_trusted(s->next.trust));
}

static loci_status contest(storing *s, const lc_memory *head, loci_error *err)
{
    loci_status status = find(s, &claimed_sql, s->next.memory_key, s->next.statement, &s->same,
                              err);

    s->outcome = s->same.id.len > 0 ? LC_MEMORY_MENTIONED : LC_MEMORY_CONTESTED;
    s->next.status = LC_MEMORY_CLAIMED;
    s->next.contests = head->id;
    return status;
}

/* A statement about the attribute of `head`, which is current. A caller that names the memory
 * means it, also if it is pinned. */
static loci_status replace(storing *s, const lc_memory *head, loci_error *err)
{
    bool is_named = s->in->replaces.id.len > 0;
    lc_memory past = {0};
    loci_status status;

    s->outcome = LC_MEMORY_REPLACED;
    if (is_named ? is_trusted(head->trust) && !is_trusted(s->next.trust) : may_not_change(s, head))
        return contest(s, head, err);
    if (s->next.observed_at < head->observed_at && !is_named) {
        status = find(s, &superseded_sql, s->next.memory_key, s->next.statement, &past, err);
        if (past.id.len > 0 && past.observed_at == s->next.observed_at)
            mention_past(s, &past);
        s->next.status = LC_MEMORY_SUPERSEDED;
        s->next.superseded_by = head->id;
        return status;
    }
    s->old = head->id;
    return list_of(s->arena, &head->id, 1, &s->next.supersedes, err);
}

/* Finds the active memory that says the same, or more about the same attribute. */
static loci_status find_same(storing *s, loci_error *err)
{
    loci_status status = find(s, &same_sql, s->next.memory_key, s->next.statement, &s->same, err);

    if (status != LOCI_OK || s->same.id.len > 0 || s->next.value.len == 0)
        return status;
    status = find(s, &head_sql, s->next.memory_key, LC_STR_NONE, &s->same, err);
    if (status == LOCI_OK && !lc_value_has(s->same.value, s->next.value))
        s->same = (lc_memory){0};
    return status;
}

/* A statement that was true until s->in->ended_at: the current memory that says it ends, unless it
 * is newer; without one it is stored as history, once. */
static loci_status decide_ended(storing *s, loci_error *err)
{
    lc_memory past = {0}, head = {0};
    loci_status status = find(s, &same_sql, s->next.memory_key, s->next.statement, &s->same, err);

    s->outcome = LC_MEMORY_ENDED;
    if (status != LOCI_OK)
        return status;
    if (s->same.id.len > 0) {
        if (s->same.observed_at >= s->in->ended_at || may_not_change(s, &s->same))
            mention_past(s, &s->same);
        return LOCI_OK;
    }
    status = find(s, &superseded_sql, s->next.memory_key, s->next.statement, &past, err);
    if (status == LOCI_OK && past.id.len == 0 && s->next.attribute.len > 0)
        status = find(s, &head_sql, s->next.memory_key, LC_STR_NONE, &head, err);
    if (past.id.len > 0)
        mention_past(s, &past);
    s->next.status = head.id.len > 0 ? LC_MEMORY_SUPERSEDED : LC_MEMORY_ARCHIVED;
    s->next.superseded_by = head.id;
    s->next.ended_at = s->in->ended_at;
    return status;
}

/* Whether a repeated import or seed states what has been superseded since. */
static loci_status decide_replayed(storing *s, loci_error *err)
{
    lc_memory past = {0};
    bool has_time = s->in->observed_at != LOCI_AT_CLOCK;
    loci_status status = find(s, &superseded_sql, s->next.memory_key, s->next.statement, &past,
                              err);

    if (status == LOCI_OK && past.id.len > 0 && past.status == LC_MEMORY_SUPERSEDED &&
        past.seq <= s->in->replayed_seq && (!has_time || s->next.observed_at <= past.observed_at))
        mention_past(s, &past);
    return status;
}

static loci_status decide(storing *s, loci_error *err)
{
    lc_memory head = s->in->replaces;
    bool has_others = false;
    loci_status status = LOCI_OK;

    if (head.id.len > 0)
        return replace(s, &head, err);
    if (s->in->ended_at > 0 && s->in->ended_at <= s->tx->now_us)
        return decide_ended(s, err);
    status = find_same(s, err);
    s->outcome = LC_MEMORY_MENTIONED;
    if (status == LOCI_OK && s->same.id.len == 0 && s->in->replayed_seq > 0)
        status = decide_replayed(s, err);
    if (status != LOCI_OK || s->same.id.len > 0)
        return status;
    if (s->next.attribute.len > 0)
        status = find(s, &head_sql, s->next.memory_key, LC_STR_NONE, &head, err);
    if (status == LOCI_OK && head.id.len > 0)
        return replace(s, &head, err);
    if (status == LOCI_OK)
        status = find_slot(s, &has_others, err);
    s->outcome = has_others ? LC_MEMORY_KEPT_BOTH : LC_MEMORY_CREATED;
    return status;
}

loci_status lc_memory_decide(lc_tx *tx, const lc_memory_input *input, lc_arena *arena,
                             lc_memory_plan **out, loci_error *err)
{
    storing *s = lc_arena_zalloc_array(arena, 1, sizeof *s);
    loci_status status;

    if (s == NULL)
        return lc_fail_memory(err);
    s->tx = tx;
    s->arena = arena;
    s->in = input;
    status = read_statement(s, err);
    if (status == LOCI_OK)
        status = decide(s, err);
    s->next.pinned = s->next.pinned && s->next.status == LC_MEMORY_ACTIVE;
    if (status == LOCI_OK && s->next.pinned && s->outcome != LC_MEMORY_MENTIONED &&
        !input->replaces.pinned)
        status = lc_memory_check_pins(tx, s->next.persona_id, err);
    *out = s;
    return status;
}

/* ---- Writing --------------------------------------------------------------------------------- */

/* Repetitions by tools, the web and models are not counted, because mentions can raise importance.
 */
bool lc_memory_plan_writes(const lc_memory_plan *plan)
{
    return plan->outcome != LC_MEMORY_MENTIONED ||
           (is_trusted(plan->next.trust) && !plan->is_silent);
}

static loci_status mention(storing *s, loci_error *err)
{
    loci_status status = add_session(s->arena, s->in->session_id, &s->same.sessions, err);

    s->same.mentions++;
    return status == LOCI_OK ? lc_memory_change(s->tx, &s->same, err) : status;
}

static loci_status end(storing *s, loci_error *err)
{
    s->same.status = LC_MEMORY_ARCHIVED;
    return lc_memory_change(s->tx, &s->same, err);
}

loci_status lc_memory_append(lc_tx *tx, lc_memory *memory, lc_arena *arena, loci_error *err)
{
    lc_id id;
    loci_status status = lc_tx_make_id(tx, "mem", &id, err);

    if (status == LOCI_OK)
        status = lc_tx_recorded_at(tx, &memory->recorded_at, err);
    if (status != LOCI_OK)
        return status;
    memory->id = lc_arena_copy(arena, lc_id_str(&id));
    if (memory->id.ptr == NULL)
        return lc_fail_memory(err);
    if (memory->status == LC_MEMORY_SUPERSEDED && memory->ended_at == 0)
        memory->ended_at = memory->recorded_at;
    return lc_row_append(tx, &lc_memory_stored_event, &lc_memory_row, memory, &memory->seq, err);
}

static loci_status append(storing *s, loci_error *err)
{
    loci_status status = LOCI_OK;

    for (size_t i = 0; i < s->ref_count && status == LOCI_OK; i++)
        status = lc_entity_ensure(s->tx, s->next.persona_id, s->refs[i],
                                  i == 0 ? s->next.entity_label : LC_STR_NONE, err);
    return status == LOCI_OK ? lc_memory_append(s->tx, &s->next, s->arena, err) : status;
}

loci_status lc_memory_commit(lc_tx *tx, lc_memory_plan *plan, lc_memory_result *out,
                             loci_error *err)
{
    bool is_there = plan->same.id.len > 0;
    loci_status status = LOCI_OK;

    plan->tx = tx;
    if (lc_memory_plan_writes(plan))
        status = plan->outcome == LC_MEMORY_MENTIONED ? mention(plan, err)
                 : is_there                           ? end(plan, err)
                                                      : append(plan, err);
    *out = (lc_memory_result){
        .outcome = plan->outcome, .memory = is_there ? plan->same : plan->next, .old = plan->old};
    return status;
}

static const lc_sql state_sql = {
    "select {row} from memories where tenant_id = $1 and user_id = $2 and seq = $3", "tti", "",
    &lc_memory_state_row};

loci_status lc_memory_change(lc_tx *tx, lc_memory *memory, loci_error *err)
{
    const lc_state_change change = {&lc_memory_changed_event, &state_sql, memory->seq, memory};
    loci_status status = LOCI_OK;

    if (memory->status == LC_MEMORY_ARCHIVED && memory->ended_at == 0)
        status = lc_tx_recorded_at(tx, &memory->ended_at, err);
    return status == LOCI_OK ? lc_state_change_append(tx, &change, &memory->changed_seq, err)
                             : status;
}

loci_status lc_memory_restate(lc_tx *tx, const lc_memory_restatement *what, lc_arena *arena,
                              lc_memory *out, loci_error *err)
{
    static const char *const types[] = {"profile", "people", "project"};
    const lc_memory *old = what->old;
    loci_str refs[LC_MEMORY_REFS_MAX];
    const lc_json *list;
    lc_memory_plan *plan;
    lc_memory_result result;
    lc_memory_input input = {.text = what->text,
                             .type = loci_str_of(types[old->type]),
                             .entity_label = old->entity_label,
                             .entity_type = old->entity_type,
                             .fact_type = old->fact_type,
                             .attribute = old->attribute,
                             .source = old->source,
                             .trust = what->trust,
                             .metadata = old->metadata,
                             .entity_refs = {refs, 0},
                             .importance = old->importance,
                             .pinned = old->pinned,
                             .confidence = old->confidence,
                             .observed_at = LOCI_AT_CLOCK,
                             .persona_id = old->persona_id,
                             .replaces = *old};
    loci_status status = lc_json_parse(arena, old->entity_refs, 0, &list, err);

    for (const lc_json *ref = status == LOCI_OK ? lc_json_first(list) : NULL;
         ref != NULL && input.entity_refs.count < LC_MEMORY_REFS_MAX; ref = lc_json_next(ref))
        refs[input.entity_refs.count++] = lc_json_str(ref);
    if (status == LOCI_OK)
        status = lc_memory_decide(tx, &input, arena, &plan, err);
    if (status == LOCI_OK)
        status = lc_memory_commit(tx, plan, &result, err);
    if (status == LOCI_OK)
        *out = result.memory;
    return status;
}

/* ---- Pins ------------------------------------------------------------------------------------ */

static const lc_sql pins_sql = {
    "select persona_id, count(*) from memories where tenant_id = $1 and user_id = $2"
    " and pinned = 1 and status = 'active' group by persona_id",
    "tt", "ti"};

/* A view is what a persona sees: its own and those of all. */
loci_status lc_memory_check_pins(lc_tx *tx, loci_str persona_id, loci_error *err)
{
    int64_t of_all = 0, of_personas_max = 0, of_persona = 0, seen;
    lc_rows rows;
    loci_status status = lc_tx_query(
        tx, &pins_sql, (lc_arg[]){LC_T(tx->tenant_id), LC_T(tx->user_id)}, &rows, err);

    while (status == LOCI_OK && lc_rows_next(&rows, &status, err)) {
        loci_str id = lc_rows_str(&rows, 0);
        int64_t count = lc_rows_i64(&rows, 1);

        if (id.len == 0)
            of_all = count;
        else if (count > of_personas_max)
            of_personas_max = count;
        if (id.len > 0 && lc_str_eq(id, persona_id))
            of_persona = count;
    }
    lc_rows_end(&rows);
    if (status != LOCI_OK)
        return status;
    seen = of_all + (persona_id.len > 0 ? of_persona : of_personas_max);
    if (seen >= LC_MEMORY_PINS_MAX)
        return lc_fail(err, LOCI_ELIMIT,
                       "%d memories are pinned, the maximum; unpin one first (memory.unpin)",
                       LC_MEMORY_PINS_MAX);
    return LOCI_OK;
}
