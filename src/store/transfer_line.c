/* transfer_line.c - `refs`, `payload` and setting values are copied byte for byte: written into the
 * line verbatim, and cut out of it again when it is read. */
#include "store/transfer_line.h"

#include <string.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "base/time.h"

/* ---- Writing -------------------------------------------------------------------------------- */

/* As text in the years 0001 to 9999, which it can express exactly; else as a number. */
static void put_time(lc_json_writer *w, int64_t us)
{
    char text[LC_TIME_BYTES_MAX];
    size_t bytes = lc_time_format(us, text);
    int64_t back = 0;

    lc_jw_name(w, "recorded_at");
    if (lc_time_parse((loci_str){text, bytes}, &back) && back == us)
        lc_jw_str(w, (loci_str){text, bytes});
    else
        lc_jw_int(w, us);
}

void lc_line_put_header(lc_buf *out, const char *store_id, int64_t schema_version)
{
    lc_json_writer w;

    lc_jw_init(&w, out);
    lc_jw_object(&w);
    lc_jw_member_text(&w, "loci", "export");
    lc_jw_member_int(&w, "format", LC_TRANSFER_FORMAT);
    lc_jw_member_text(&w, "store_id", store_id);
    lc_jw_member_int(&w, "schema_version", schema_version);
    lc_jw_end(&w);
}

void lc_line_put_setting(lc_buf *out, const lc_setting_row *row)
{
    lc_json_writer w;

    lc_jw_init(&w, out);
    lc_jw_object(&w);
    lc_jw_member_str(&w, "setting", row->name);
    lc_jw_member_str(&w, "tenant", row->tenant_id);
    lc_jw_member_raw(&w, "value", row->value);
    lc_jw_end(&w);
}

void lc_line_put_event(lc_buf *out, const lc_event *event)
{
    lc_json_writer w;

    lc_jw_init(&w, out);
    lc_jw_object(&w);
    lc_jw_member_str(&w, "tenant", event->tenant_id);
    lc_jw_member_str(&w, "user", event->user_id);
    lc_jw_member_int(&w, "seq", event->seq);
    lc_jw_member_text(&w, "type", event->type->name);
    lc_jw_member_int(&w, "v", event->version);
    put_time(&w, event->recorded_at);
    lc_jw_member_raw(&w, "refs", event->refs);
    if (event->is_erased)
        lc_jw_member_bool(&w, "erased", true);
    else
        lc_jw_member_raw(&w, "payload", event->payload);
    lc_jw_end(&w);
}

void lc_line_put_head(lc_buf *out, loci_str tenant_id, loci_str user_id, const lc_head *head)
{
    lc_json_writer w;

    lc_jw_init(&w, out);
    lc_jw_object(&w);
    lc_jw_member_str(&w, "tenant", tenant_id);
    lc_jw_member_str(&w, "user", user_id);
    lc_jw_name(&w, "head");
    lc_jw_object(&w);
    lc_jw_member_int(&w, "seq", head->seq);
    put_time(&w, head->recorded_at);
    lc_jw_member_int(&w, "objects", head->objects);
    lc_jw_end(&w);
    lc_jw_end(&w);
}

void lc_line_put_end(lc_buf *out, const lc_transfer_counts *counts, lc_hash128 hash)
{
    char text[LC_HASH_TEXT_BYTES];
    lc_json_writer w;

    lc_hash128_format(hash, text);
    lc_jw_init(&w, out);
    lc_jw_object(&w);
    lc_jw_member_bool(&w, "end", true);
    lc_jw_member_int(&w, "events", counts->events);
    lc_jw_member_int(&w, "users", counts->users);
    lc_jw_member_int(&w, "settings", counts->settings);
    lc_jw_member_text(&w, "hash", text);
    lc_jw_end(&w);
}

/* ---- Reading: members ----------------------------------------------------------------------- */

/* An object being read: a member that is missing, unknown or of the wrong type is an error. */
typedef struct reader {
    const lc_json *object;
    loci_str text;
    size_t taken; /* Members that were asked for. */
    loci_error *err;
    loci_status status; /* The first failure. */
} reader;

static const lc_json *take(reader *r, const char *name)
{
    const lc_json *member = lc_json_member(r->object, loci_str_of(name));

    if (r->status != LOCI_OK)
        return NULL;
    if (member == NULL)
        r->status = lc_fail(r->err, LOCI_EINVAL, "%s is missing", name);
    r->taken++;
    return member;
}

static loci_status refuse(reader *r, const char *name, const char *expected)
{
    if (r->status == LOCI_OK)
        r->status = lc_fail(r->err, LOCI_EINVAL, "%s: expected %s", name, expected);
    return r->status;
}

static int64_t take_int(reader *r, const char *name, int64_t min, int64_t max)
{
    const lc_json *member = take(r, name);

    if (member == NULL)
        return 0;
    if (lc_json_kind_of(member) != LC_JSON_INT || lc_json_int(member) < min ||
        lc_json_int(member) > max) {
        (void)refuse(r, name, "a number in its range");
        return 0;
    }
    return lc_json_int(member);
}

static loci_str take_str(reader *r, const char *name, size_t bytes_min, size_t bytes_max)
{
    const lc_json *member = take(r, name);

    if (member == NULL)
        return LC_STR("");
    if (lc_json_kind_of(member) != LC_JSON_STRING || lc_json_str(member).len < bytes_min ||
        lc_json_str(member).len > bytes_max) {
        (void)refuse(r, name, "a text of its length");
        return LC_STR("");
    }
    return lc_json_str(member);
}

static int64_t take_time(reader *r, const char *name)
{
    const lc_json *member = take(r, name);
    int64_t us = 0;

    if (member == NULL)
        return 0;
    if (lc_json_kind_of(member) == LC_JSON_INT)
        return lc_json_int(member);
    if (lc_json_kind_of(member) != LC_JSON_STRING || !lc_time_parse(lc_json_str(member), &us))
        (void)refuse(r, name, "a time");
    return us;
}

static const char *skip_space(const char *at)
{
    while (*at == ' ' || *at == '\t' || *at == '\r' || *at == '\n')
        at++;
    return at;
}

static const char *skip_string(const char *at)
{
    for (at++; *at != '"'; at++)
        at += *at == '\\';
    return at + 1;
}

/* Returns the position after the value at `at`. The text was parsed, so it can be trusted. */
static const char *skip_value(const char *at)
{
    int depth = 0;

    do {
        if (*at == '"') {
            at = skip_string(at);
        } else if (*at == '{' || *at == '[') {
            depth++;
            at++;
        } else if (*at == '}' || *at == ']') {
            depth--;
            at++;
        } else if (depth > 0) {
            at++;
        } else {
            while (strchr(",}] \t\r\n", *at) == NULL)
                at++;
        }
    } while (depth > 0);
    return at;
}

/* The bytes of a member's value, verbatim from the line. loci writes no names with escapes. */
static loci_str take_raw(reader *r, const char *name)
{
    const char *at = skip_space(r->text.ptr);

    if (take(r, name) == NULL)
        return LC_STR("");
    while (*at == '{' || *at == ',') {
        const char *name_start = skip_space(at + 1);
        const char *name_end = skip_string(name_start);
        const char *value = skip_space(skip_space(name_end) + 1);
        loci_str found = {name_start + 1, (size_t)(name_end - name_start) - 2};

        at = skip_value(value);
        if (lc_str_is(found, name))
            return (loci_str){value, (size_t)(at - value)};
        at = skip_space(at);
    }
    (void)refuse(r, name, "a name without escapes");
    return LC_STR("");
}

static loci_str take_raw_object(reader *r, const char *name)
{
    loci_str raw = take_raw(r, name);

    if (r->status == LOCI_OK && raw.ptr[0] != '{')
        (void)refuse(r, name, "an object");
    return raw;
}

static loci_status finish(reader *r)
{
    if (r->status == LOCI_OK && r->taken != lc_json_count(r->object))
        r->status = lc_fail(r->err, LOCI_EINVAL, "it has members that do not belong there");
    return r->status;
}

/* ---- Reading: lines ------------------------------------------------------------------------- */

static loci_status read_header(reader *r, lc_line *out)
{
    out->kind = LC_LINE_HEADER;
    if (!lc_str_is(take_str(r, "loci", 0, 100), "export"))
        (void)refuse(r, "loci", "\"export\"");
    out->format = take_int(r, "format", 1, INT64_MAX);
    if (r->status == LOCI_OK && out->format > LC_TRANSFER_FORMAT)
        return r->status = lc_fail(r->err, LOCI_EUNSUPPORTED,
                                   "its format is %lld, this loci knows %d: use a newer one",
                                   (long long)out->format, LC_TRANSFER_FORMAT);
    (void)take_str(r, "store_id", 1, 64); /* For people. */
    out->schema_version = take_int(r, "schema_version", 1, INT64_MAX);
    return finish(r);
}

static loci_status read_setting(reader *r, lc_line *out)
{
    out->kind = LC_LINE_SETTING;
    out->setting.name = take_str(r, "setting", 1, LC_KEY_BYTES_MAX);
    out->setting.tenant_id = take_str(r, "tenant", 0, LC_ID_BYTES_MAX);
    out->setting.value = take_raw(r, "value");
    return finish(r);
}

static loci_status read_owner(reader *r, lc_line *out)
{
    out->event.tenant_id = take_str(r, "tenant", 1, LC_ID_BYTES_MAX);
    out->event.user_id = take_str(r, "user", 0, LC_ID_BYTES_MAX); /* "": the tenant itself. */
    return r->status;
}

static loci_status find_type(reader *r, const lc_catalogue *catalogue, lc_event *event)
{
    loci_str name = take_str(r, "type", 1, LC_ID_BYTES_MAX);

    event->version = (int)take_int(r, "v", 1, INT32_MAX);
    if (r->status != LOCI_OK)
        return r->status;
    event->type = lc_catalogue_find_event(catalogue, name);
    if (event->type == NULL)
        r->status = lc_fail(r->err, LOCI_EUNSUPPORTED, "this loci knows no event of type %.*s",
                            LC_STR_ARG(name));
    else if (event->version > event->type->version)
        r->status = lc_fail(r->err, LOCI_EUNSUPPORTED,
                            "%s has version %d, this loci knows up to %d: use a newer one",
                            event->type->name, event->version, event->type->version);
    return r->status;
}

static loci_status read_event(reader *r, const lc_catalogue *catalogue, lc_line *out)
{
    lc_event *event = &out->event;

    out->kind = LC_LINE_EVENT;
    event->seq = take_int(r, "seq", -LC_ID_SEQ_MAX, LC_ID_SEQ_MAX);
    event->recorded_at = take_time(r, "recorded_at");
    event->refs = take_raw_object(r, "refs");
    event->payload = LC_STR("");
    event->is_erased = lc_json_member(r->object, LC_STR("erased")) != NULL;
    if (event->is_erased) {
        const lc_json *erased = take(r, "erased");

        if (erased != NULL && (lc_json_kind_of(erased) != LC_JSON_BOOL || !lc_json_bool(erased)))
            (void)refuse(r, "erased", "true");
    } else {
        event->payload = take_raw_object(r, "payload");
    }
    if (event->seq > 0 && event->refs.len + event->payload.len > LC_EVENT_BYTES_MAX)
        (void)refuse(r, "payload", "at most 1 MiB with refs");
    if (event->payload.len > LC_SNAPSHOT_PART_BYTES_MAX)
        (void)refuse(r, "payload", "at most 3 MiB");
    if (find_type(r, catalogue, event) != LOCI_OK)
        return r->status;
    return finish(r);
}

static loci_status read_head(reader *r, lc_line *out)
{
    reader inner = *r;

    out->kind = LC_LINE_HEAD;
    inner.object = take(r, "head");
    if (inner.object == NULL || lc_json_kind_of(inner.object) != LC_JSON_OBJECT)
        return refuse(r, "head", "an object");
    inner.taken = 0;
    out->head.seq = take_int(&inner, "seq", 0, LC_ID_SEQ_MAX);
    out->head.recorded_at = take_time(&inner, "recorded_at");
    out->head.objects = take_int(&inner, "objects", 0, LC_ID_SEQ_MAX);
    r->status = finish(&inner);
    return finish(r);
}

static loci_status read_end(reader *r, lc_line *out)
{
    const lc_json *end = take(r, "end");
    loci_str hash;

    out->kind = LC_LINE_END;
    if (lc_json_kind_of(end) != LC_JSON_BOOL || !lc_json_bool(end))
        return refuse(r, "end", "true");
    out->counts.events = take_int(r, "events", 0, INT64_MAX);
    out->counts.users = take_int(r, "users", 0, INT64_MAX);
    out->counts.settings = take_int(r, "settings", 0, INT64_MAX);
    hash = take_str(r, "hash", LC_HASH_TEXT_BYTES - 1, LC_HASH_TEXT_BYTES - 1);
    if (r->status == LOCI_OK)
        memcpy(out->hash, hash.ptr, hash.len);
    return finish(r);
}

static bool has(const reader *r, const char *name)
{
    return lc_json_member(r->object, loci_str_of(name)) != NULL;
}

loci_status lc_line_read(const lc_catalogue *catalogue, lc_arena *arena, loci_str text,
                         lc_line *out, loci_error *err)
{
    reader r = {.text = text, .err = err};
    loci_status status = lc_json_parse(arena, text, 0, &r.object, err);

    *out = (lc_line){0};
    if (status != LOCI_OK)
        return status;
    if (lc_json_kind_of(r.object) != LC_JSON_OBJECT)
        return lc_fail(err, LOCI_EINVAL, "it is not an object");
    if (has(&r, "loci"))
        return read_header(&r, out);
    if (has(&r, "setting"))
        return read_setting(&r, out);
    if (has(&r, "end"))
        return read_end(&r, out);
    if (read_owner(&r, out) != LOCI_OK)
        return r.status;
    return has(&r, "head") ? read_head(&r, out) : read_event(&r, catalogue, out);
}
