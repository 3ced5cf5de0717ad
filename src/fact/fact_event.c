/* fact_event.c - Invariant: decode(encode(x)) gives x again.
 *
 * The payload holds everything that a person may ask to be forgotten; refs hold ids only, so that a
 * replay of an erased log still knows which version replaced which. Default values (scope global,
 * trust user, no restriction) are left out.
 */
#include "fact/fact_row.h"

#include <string.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "store/event.h"

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

void lc_fact_written_encode(const lc_fact_written *written, lc_event_draft *draft)
{
    const lc_fact *fact = &written->fact;
    lc_json_writer *refs = &draft->refs;

    lc_jw_member_str(refs, "id", fact->id);
    put_text(refs, "replaces", written->replaces);
    put_list(refs, "supersedes", written->supersedes);
    put_list(refs, "unlink", written->unlink);
    put_list(refs, "review", written->review);
    put_list(refs, "depends_on", written->depends_on);
    if (fact->standing == LC_FACT_IS_CLAIM) {
        lc_jw_member_bool(refs, "claim", true);
        put_text(refs, "contests", fact->contests);
    }
    if (fact->standing == LC_FACT_IS_LATE)
        lc_jw_member_str(refs, "late_for", fact->superseded_by);
    lc_row_encode(&lc_fact_row, fact, LC_COL_PAYLOAD, &draft->payload);
}

void lc_fact_retracted_encode(const lc_fact_retracted *retracted, lc_event_draft *draft)
{
    put_list(&draft->refs, "ids", retracted->ids);
    put_list(&draft->refs, "unlink", retracted->unlink);
    put_list(&draft->refs, "review", retracted->review);
    put_text(&draft->payload, "reason", retracted->reason);
    if (retracted->is_restricted)
        lc_jw_member_bool(&draft->payload, "restricted", true);
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

static bool is_rank(int rank, bool is_required)
{
    return rank <= LC_RANK_POLICY && (rank > 0 || !is_required);
}

loci_status lc_fact_written_decode(const lc_event *event, lc_arena *arena, lc_fact_written *out,
                                   loci_error *err)
{
    lc_fact *fact = &out->fact;
    lc_event_json json;
    loci_status status = lc_event_parse(event, arena, &json, err);

    *out = (lc_fact_written){0};
    if (status == LOCI_OK)
        status = lc_row_decode_json(&lc_fact_row, event, &json, arena, fact, err);
    if (status != LOCI_OK)
        return status;
    if (!decode_refs(json.refs, arena, out) || lc_fact_seq_of(fact->id) != event->seq)
        return lc_event_fail(event, err);
    if (event->is_erased) {
        out->was_valid = fact->standing == LC_FACT_VALID;
        fact->standing = LC_FACT_IS_ERASED;
        fact->value = LC_STR("null");
    }
    if (fact->value.ptr == NULL || !is_rank(fact->authority.rank, !event->is_erased) ||
        !is_rank(fact->min_read.rank, false) || !is_rank(fact->min_write.rank, false))
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

size_t lc_fact_event_hidden_bytes(const lc_event *event)
{
    static const char name[] = ",\"hidden_from\":[\"";
    loci_str payload = event->payload;
    size_t at = payload.len;

    /* No other member ends the payload with a string in an array: a value is followed by members
     * that are always written. Labels have no quotes, so the last such name is the member's. */
    if (at < sizeof name || memcmp(payload.ptr + at - 3, "\"]}", 3) != 0)
        return 0;
    while (at > 0 && (payload.len - at < sizeof name - 1 ||
                      memcmp(payload.ptr + at, name, sizeof name - 1) != 0))
        at--;
    return at > 0 ? payload.len - 1 - at : 0;
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
        lc_jw_member_raw(&writer, "authority", LC_STR("[\"manager\",4]"));
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
