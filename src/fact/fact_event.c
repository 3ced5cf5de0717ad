/* fact_event.c - Invariant: decode(encode(x)) gives x again.
 *
 * The payload holds everything that a person may ask to be forgotten; refs hold ids only, so that a
 * replay of an erased log still knows which version took whose place. What is as usual (scope
 * global, trust user, no restriction) is left out.
 */
#include "fact/fact_event.h"

#include <string.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "fact/fact_row.h"
#include "store/event_json.h"

/* ---- Writing --------------------------------------------------------------------------------- */

static void put_text(lc_json_writer *out, const char *name, loci_str text)
{
    if (text.len > 0)
        lc_jw_member_str(out, name, text);
}

static void put_list(lc_json_writer *out, const char *name, lc_str_list list)
{
    if (list.count == 0)
        return;
    lc_jw_name(out, name);
    lc_jw_array(out);
    for (size_t i = 0; i < list.count; i++)
        lc_jw_str(out, list.items[i]);
    lc_jw_end(out);
}

static void put_authority(lc_json_writer *out, const char *name, lc_authority authority)
{
    if (authority.rank == 0)
        return;
    lc_jw_name(out, name);
    lc_jw_array(out);
    lc_jw_str(out, authority.name);
    lc_jw_int(out, authority.rank);
    lc_jw_end(out);
}

static void put_unusual(lc_json_writer *out, const char *name, loci_str text, const char *usual)
{
    if (!lc_str_is(text, usual))
        lc_jw_member_str(out, name, text);
}

static void encode_refs(const lc_fact_written *written, lc_json_writer *out)
{
    const lc_fact *fact = &written->fact;

    lc_jw_object(out);
    lc_jw_member_str(out, "id", fact->id);
    put_text(out, "replaces", written->replaces);
    put_list(out, "supersedes", written->supersedes);
    put_list(out, "unlink", written->unlink);
    put_list(out, "review", written->review);
    put_list(out, "depends_on", written->depends_on);
    if (fact->standing == LC_FACT_IS_CLAIM) {
        lc_jw_member_bool(out, "claim", true);
        put_text(out, "contests", fact->contests);
    }
    if (fact->standing == LC_FACT_IS_LATE)
        lc_jw_member_str(out, "late_for", fact->superseded_by);
    lc_jw_end(out);
}

void lc_fact_written_encode(const lc_fact_written *written, lc_buf *refs, lc_buf *payload)
{
    const lc_fact *fact = &written->fact;
    lc_json_writer out;

    lc_jw_init(&out, refs);
    encode_refs(written, &out);
    lc_jw_init(&out, payload);
    lc_jw_object(&out);
    lc_jw_member_str(&out, "key", fact->key);
    lc_jw_member_raw(&out, "value", fact->value);
    put_text(&out, "source", fact->source);
    put_authority(&out, "authority", fact->authority);
    put_unusual(&out, "trust", fact->trust, "user");
    lc_jw_member_str(&out, "memory_type", fact->memory_type);
    put_unusual(&out, "scope", fact->scope, "global");
    put_text(&out, "scope_id", fact->scope_id);
    put_text(&out, "persona_id", fact->persona_id);
    lc_jw_member_time(&out, "observed_at", fact->observed_at);
    if (fact->valid_until != LC_FACT_NO_TIME)
        lc_jw_member_time(&out, "valid_until", fact->valid_until);
    if (fact->is_constraint)
        lc_jw_member_bool(&out, "is_constraint", true);
    put_text(&out, "constraint_type", fact->constraint_type);
    put_authority(&out, "min_read", fact->min_read);
    put_authority(&out, "min_write", fact->min_write);
    put_text(&out, "required_permission", fact->required_permission);
    if (fact->is_multi)
        lc_jw_member_bool(&out, "multi", true);
    lc_jw_end(&out);
}

void lc_fact_retracted_encode(const lc_fact_retracted *retracted, lc_buf *refs, lc_buf *payload)
{
    lc_json_writer out;

    lc_jw_init(&out, refs);
    lc_jw_object(&out);
    put_list(&out, "ids", retracted->ids);
    put_list(&out, "unlink", retracted->unlink);
    put_list(&out, "review", retracted->review);
    lc_jw_end(&out);
    lc_jw_init(&out, payload);
    lc_jw_object(&out);
    put_text(&out, "reason", retracted->reason);
    if (retracted->is_restricted)
        lc_jw_member_bool(&out, "restricted", true);
    lc_jw_end(&out);
}

/* ---- Reading --------------------------------------------------------------------------------- */

/* False when it is not a list of strings, or memory ran out; absent is empty. */
static bool get_list(const lc_json *object, const char *name, lc_arena *arena, lc_str_list *out)
{
    const lc_json *list = lc_json_member(object, loci_str_of(name));
    loci_str *items;
    size_t count = 0;

    *out = (lc_str_list){0};
    if (list == NULL)
        return true;
    if (lc_json_kind_of(list) != LC_JSON_ARRAY)
        return false;
    items = lc_arena_zalloc_array(arena, lc_json_count(list) + 1, sizeof *items);
    if (items == NULL)
        return false;
    for (const lc_json *each = lc_json_first(list); each != NULL; each = lc_json_next(each)) {
        if (lc_json_kind_of(each) != LC_JSON_STRING)
            return false;
        items[count++] = lc_json_str(each);
    }
    *out = (lc_str_list){items, count};
    return true;
}

/* ["manager", 4]; absent is none. */
static lc_authority get_authority(const lc_json *object, const char *name)
{
    const lc_json *pair = lc_json_member(object, loci_str_of(name));
    const lc_json *word, *rank;

    if (pair == NULL || lc_json_kind_of(pair) != LC_JSON_ARRAY || lc_json_count(pair) != 2)
        return (lc_authority){0};
    word = lc_json_first(pair);
    rank = lc_json_next(word);
    if (lc_json_kind_of(word) != LC_JSON_STRING || lc_json_kind_of(rank) != LC_JSON_INT ||
        lc_json_int(rank) < LC_RANK_GUEST || lc_json_int(rank) > LC_RANK_POLICY)
        return (lc_authority){0};
    return (lc_authority){lc_json_str(word), (int)lc_json_int(rank)};
}

static loci_str or_usual(loci_str text, loci_str usual)
{
    return text.ptr != NULL ? text : usual;
}

static bool decode_refs(const lc_json *refs, lc_arena *arena, lc_fact_written *out)
{
    lc_fact *fact = &out->fact;
    const lc_json *supersedes = lc_json_member(refs, LC_STR("supersedes"));

    fact->id = lc_event_str(refs, "id");
    out->replaces = lc_event_str(refs, "replaces");
    if (supersedes != NULL && lc_json_kind_of(supersedes) == LC_JSON_STRING)
        out->replaces = lc_json_str(supersedes); /* Version 1. */
    else if (!get_list(refs, "supersedes", arena, &out->supersedes))
        return false;
    fact->contests = lc_event_str(refs, "contests");
    if (lc_event_bool(refs, "claim"))
        fact->standing = LC_FACT_IS_CLAIM;
    if (lc_json_member(refs, LC_STR("late_for")) != NULL) {
        fact->standing = LC_FACT_IS_LATE;
        fact->superseded_by = lc_event_str(refs, "late_for");
    }
    return fact->id.len > 0 && get_list(refs, "unlink", arena, &out->unlink) &&
           get_list(refs, "review", arena, &out->review) &&
           get_list(refs, "depends_on", arena, &out->depends_on);
}

static void decode_payload(const lc_json *payload, int64_t recorded_at, lc_fact *fact)
{
    fact->key = lc_fact_or_empty(lc_event_str(payload, "key"));
    fact->source = lc_event_str(payload, "source");
    fact->authority = get_authority(payload, "authority");
    fact->trust = or_usual(lc_event_str(payload, "trust"), LC_STR("user"));
    fact->memory_type = or_usual(lc_event_str(payload, "memory_type"), LC_STR("user"));
    fact->scope = or_usual(lc_event_str(payload, "scope"), LC_STR("global"));
    fact->scope_id = lc_fact_or_empty(lc_event_str(payload, "scope_id"));
    fact->persona_id = lc_fact_or_empty(lc_event_str(payload, "persona_id"));
    fact->observed_at = lc_event_time(payload, "observed_at", recorded_at);
    fact->valid_until = lc_event_time(payload, "valid_until", LC_FACT_NO_TIME);
    fact->is_constraint = lc_event_bool(payload, "is_constraint");
    fact->constraint_type = lc_event_str(payload, "constraint_type");
    fact->min_read = get_authority(payload, "min_read");
    fact->min_write = get_authority(payload, "min_write");
    fact->required_permission = lc_event_str(payload, "required_permission");
    fact->is_multi = lc_event_bool(payload, "multi");
}

loci_status lc_fact_written_decode(const lc_event *event, lc_arena *arena, lc_fact_written *out,
                                   loci_error *err)
{
    lc_event_json json;
    loci_status status = lc_event_parse(event, arena, &json, err);

    *out = (lc_fact_written){.fact = {.seq = event->seq, .recorded_at = event->recorded_at}};
    if (status != LOCI_OK)
        return status;
    if (!decode_refs(json.refs, arena, out) || lc_fact_seq_of(out->fact.id) != event->seq)
        return lc_event_fail(event, err);
    decode_payload(json.payload, event->recorded_at, &out->fact);
    status = lc_event_raw(json.payload, "value", arena, &out->fact.value, err);
    if (status != LOCI_OK)
        return status;
    if (event->is_erased) {
        out->fact.standing = LC_FACT_IS_ERASED;
        out->fact.value = LC_STR("null");
    }
    if (out->fact.value.ptr == NULL || (!event->is_erased && out->fact.authority.rank == 0))
        return lc_event_fail(event, err);
    return lc_fact_written_complete(out, arena, err);
}

loci_status lc_fact_retracted_decode(const lc_event *event, lc_arena *arena, lc_fact_retracted *out,
                                     loci_error *err)
{
    lc_event_json json;
    loci_status status = lc_event_parse(event, arena, &json, err);

    *out = (lc_fact_retracted){0};
    if (status != LOCI_OK)
        return status;
    if (!get_list(json.refs, "ids", arena, &out->ids) ||
        !get_list(json.refs, "unlink", arena, &out->unlink) ||
        !get_list(json.refs, "review", arena, &out->review))
        return lc_event_fail(event, err);
    out->reason = lc_event_str(json.payload, "reason");
    out->is_restricted = lc_event_bool(json.payload, "restricted");
    return LOCI_OK;
}

bool lc_fact_event_is_restricted(const lc_event *event)
{
    static const char *const members[] = {
        "\"min_read\":", "\"required_permission\":", "\"restricted\":"};

    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) {
        if (memmem(event->payload.ptr, event->payload.len, members[i], strlen(members[i])) != NULL)
            return true;
    }
    return false;
}

loci_status lc_fact_written_complete(lc_fact_written *written, lc_arena *arena, loci_error *err)
{
    lc_fact *fact = &written->fact;

    fact->supersedes = lc_fact_list_text(arena, written->replaces, written->supersedes);
    fact->depends_on = lc_fact_list_text(arena, LC_STR_NONE, written->depends_on);
    if ((fact->supersedes.ptr == NULL && written->replaces.len + written->supersedes.count > 0) ||
        (fact->depends_on.ptr == NULL && written->depends_on.count > 0))
        return lc_fail_memory(err);
    return LOCI_OK;
}

/* ---- Sources, and what version 1 lacked ------------------------------------------------------ */

loci_str lc_fact_memory_type(loci_str source, bool is_constraint)
{
    static const struct {
        const char *source;
        const char *type;
    } known[] = {
        {"policy", "organizational"},
        {"finance_system", "organizational"},
        {"hr_system", "organizational"},
        {"crm_system", "organizational"},
        {"erp_system", "organizational"},
        {"legal", "organizational"},
        {"document", "organizational"},
        {"system", "organizational"},
        {"organization", "organizational"},
        {"observation", "capability"},
        {"pattern", "capability"},
        {"heuristic", "capability"},
        {"strategy", "capability"},
        {"decision", "user"},
        {"user", "user"},
        {"preference", "user"},
        {"correction", "user"},
    };

    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (lc_str_is(source, known[i].source))
            return loci_str_of(known[i].type);
    }
    return is_constraint ? LC_STR("organizational") : LC_STR("user");
}

/* Version 1 had no authorities and no types: everything was a manager's. */
static loci_status upcast_1(loci_str payload, lc_buf *out, loci_error *err)
{
    lc_arena arena;
    const lc_json *json;
    lc_json_writer writer;
    loci_status status;

    lc_arena_init(&arena, out->heap, out->category);
    status = lc_json_parse(&arena, payload, 0, &json, err);
    if (status == LOCI_OK && lc_json_kind_of(json) != LC_JSON_OBJECT)
        status = lc_fail(err, LOCI_ECORRUPT, "the payload of a fact is no object");
    if (status == LOCI_OK) {
        lc_jw_init(&writer, out);
        lc_jw_object(&writer);
        for (const lc_json *each = lc_json_first(json); each != NULL; each = lc_json_next(each)) {
            lc_jw_name_str(&writer, lc_json_name(each));
            lc_jw_value(&writer, each);
        }
        put_authority(&writer, "authority", (lc_authority){LC_STR("manager"), LC_RANK_MANAGER});
        lc_jw_member_str(&writer, "memory_type",
                         lc_fact_memory_type(lc_event_str(json, "source"), false));
        lc_jw_end(&writer);
    }
    lc_arena_clear(&arena);
    if (status != LOCI_OK && status != LOCI_ERESOURCE)
        status = lc_fail(err, LOCI_ECORRUPT, "the payload of a fact cannot be read");
    return status;
}

lc_upcast *const lc_fact_written_upcasts[] = {upcast_1};
