/* event_json.c - see event_json.h. */
#include "store/event_json.h"

#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "base/time.h"

loci_status lc_event_fail(const lc_event *event, loci_error *err)
{
    return lc_fail(err, LOCI_ECORRUPT, "event %lld (%s) cannot be read", (long long)event->seq,
                   event->type->name);
}

static loci_status parse_object(const lc_event *event, loci_str text, lc_arena *arena,
                                const lc_json **out, loci_error *err)
{
    loci_status status = lc_json_parse(arena, text, 0, out, err);

    if (status == LOCI_ERESOURCE)
        return status;
    if (status != LOCI_OK || lc_json_kind_of(*out) != LC_JSON_OBJECT)
        return lc_event_fail(event, err);
    return LOCI_OK;
}

loci_status lc_event_parse(const lc_event *event, lc_arena *arena, lc_event_json *out,
                           loci_error *err)
{
    loci_str payload = event->is_erased ? LC_STR("{}") : event->payload;
    loci_status status = parse_object(event, event->refs, arena, &out->refs, err);

    if (status == LOCI_OK)
        status = parse_object(event, payload, arena, &out->payload, err);
    return status;
}

static const lc_json *find_member(const lc_json *object, const char *name, lc_json_kind kind)
{
    const lc_json *member = lc_json_member(object, loci_str_of(name));

    return member != NULL && lc_json_kind_of(member) == kind ? member : NULL;
}

loci_str lc_event_str(const lc_json *object, const char *name)
{
    const lc_json *member = find_member(object, name, LC_JSON_STRING);

    return member != NULL ? lc_json_str(member) : LC_STR_NONE;
}

int64_t lc_event_int(const lc_json *object, const char *name, int64_t absent)
{
    const lc_json *member = find_member(object, name, LC_JSON_INT);

    return member != NULL ? lc_json_int(member) : absent;
}

bool lc_event_bool(const lc_json *object, const char *name)
{
    const lc_json *member = find_member(object, name, LC_JSON_BOOL);

    return member != NULL && lc_json_bool(member);
}

int64_t lc_event_time(const lc_json *object, const char *name, int64_t absent)
{
    int64_t us;

    return lc_time_parse(lc_event_str(object, name), &us) ? us : absent;
}

loci_status lc_event_raw(const lc_json *object, const char *name, lc_arena *arena, loci_str *out,
                         loci_error *err)
{
    const lc_json *member = lc_json_member(object, loci_str_of(name));
    lc_json_writer writer;
    lc_buf text;
    loci_status status;

    *out = LC_STR_NONE;
    if (member == NULL)
        return LOCI_OK;
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
