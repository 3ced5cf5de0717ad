/* fact_event.c - Invariant: decode(encode(fact)) gives the same fact.
 *
 * The payload holds everything that a person may ask to be forgotten; refs hold ids only, so that a
 * replay of an erased log still knows which version took whose place.
 */
#include "fact/fact_event.h"

#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "base/time.h"

void lc_fact_event_encode(const lc_fact *fact, lc_buf *refs, lc_buf *payload)
{
    lc_json_writer out;

    lc_jw_init(&out, refs);
    lc_jw_object(&out);
    lc_jw_member_str(&out, "id", fact->id);
    if (fact->supersedes.len > 0)
        lc_jw_member_str(&out, "supersedes", fact->supersedes);
    lc_jw_end(&out);

    lc_jw_init(&out, payload);
    lc_jw_object(&out);
    lc_jw_member_str(&out, "key", fact->key);
    lc_jw_member_raw(&out, "value", fact->value);
    if (fact->source.ptr != NULL)
        lc_jw_member_str(&out, "source", fact->source);
    if (fact->persona_id.ptr != NULL)
        lc_jw_member_str(&out, "persona_id", fact->persona_id);
    lc_jw_member_time(&out, "observed_at", fact->observed_at);
    lc_jw_end(&out);
}

static bool get_text(const lc_json *object, const char *name, loci_str *out)
{
    const lc_json *member = lc_json_member(object, loci_str_of(name));

    if (member == NULL || lc_json_kind_of(member) != LC_JSON_STRING)
        return false;
    *out = lc_json_str(member);
    return true;
}

/* The value was written in canonical form, so writing it as it was read gives the same bytes. */
static loci_status get_value(const lc_json *payload, lc_arena *arena, loci_str *out,
                             loci_error *err)
{
    const lc_json *member = lc_json_member(payload, LC_STR("value"));
    lc_json_writer writer;
    lc_buf text;
    loci_status status;

    if (member == NULL)
        return lc_fail(err, LOCI_ECORRUPT, "a fact without a value");
    lc_buf_init(&text, arena->heap, arena->category, LC_EVENT_BYTES_MAX);
    lc_jw_init(&writer, &text);
    lc_jw_value(&writer, member);
    status = lc_buf_status(&text, err);
    if (status == LOCI_OK) {
        *out = lc_arena_copy(arena, lc_buf_str(&text));
        if (out->ptr == NULL)
            status = lc_fail_memory(err);
    }
    lc_buf_clear(&text);
    return status;
}

static loci_status corrupt(const lc_event *event, loci_error *err)
{
    return lc_fail(err, LOCI_ECORRUPT, "event %lld (%s) cannot be read", (long long)event->seq,
                   event->type->name);
}

static loci_status decode_payload(const lc_event *event, lc_arena *arena, lc_fact *out,
                                  loci_error *err)
{
    const lc_json *payload;
    loci_str observed_at;
    loci_status status = lc_json_parse(arena, event->payload, 0, &payload, err);

    if (status == LOCI_ERESOURCE)
        return status;
    if (status != LOCI_OK || lc_json_kind_of(payload) != LC_JSON_OBJECT ||
        !get_text(payload, "key", &out->key))
        return corrupt(event, err);
    if (!get_text(payload, "observed_at", &observed_at) ||
        !lc_time_parse(observed_at, &out->observed_at))
        return corrupt(event, err);
    (void)get_text(payload, "source", &out->source);         /* Absent is none. */
    (void)get_text(payload, "persona_id", &out->persona_id); /* Absent is none. */
    return get_value(payload, arena, &out->value, err);
}

loci_status lc_fact_event_decode(const lc_event *event, lc_arena *arena, lc_fact *out,
                                 loci_error *err)
{
    const lc_json *refs;
    loci_status status = lc_json_parse(arena, event->refs, 0, &refs, err);

    if (status == LOCI_ERESOURCE)
        return status;
    *out = (lc_fact){.seq = event->seq,
                     .recorded_at = event->recorded_at,
                     .observed_at = event->recorded_at,
                     .key = LC_STR(""),
                     .value = LC_STR("null"),
                     .is_valid = true};
    if (status != LOCI_OK || lc_json_kind_of(refs) != LC_JSON_OBJECT ||
        !get_text(refs, "id", &out->id))
        return corrupt(event, err);
    (void)get_text(refs, "supersedes", &out->supersedes); /* Absent is none. */
    return event->is_erased ? LOCI_OK : decode_payload(event, arena, out, err);
}
