/* show.c - converts JSON to a line of text. A value nested deeper than a list or an object of plain
 * values stays JSON, because text would not be easier to read. */
#include "pack/show.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/str.h"

static bool is_nested(const lc_json *value)
{
    lc_json_kind kind = lc_json_kind_of(value);

    return kind == LC_JSON_ARRAY || kind == LC_JSON_OBJECT;
}

static void show_plain(lc_buf *out, const lc_json *value)
{
    lc_json_writer writer;

    switch (lc_json_kind_of(value)) {
    case LC_JSON_STRING:
        lc_buf_append(out, lc_json_str(value));
        break;
    case LC_JSON_NULL:
        lc_buf_append(out, LC_STR("none"));
        break;
    case LC_JSON_BOOL:
        lc_buf_append(out, lc_json_bool(value) ? LC_STR("yes") : LC_STR("no"));
        break;
    default:
        lc_jw_init(&writer, out);
        lc_jw_value(&writer, value);
        break;
    }
}

/* A list or an object of plain values. */
static void show_members(lc_buf *out, const lc_json *value)
{
    bool is_object = lc_json_kind_of(value) == LC_JSON_OBJECT;
    bool is_first = true;

    for (const lc_json *item = lc_json_first(value); item != NULL; item = lc_json_next(item)) {
        if (!is_first)
            lc_buf_append(out, is_object ? LC_STR("; ") : LC_STR(", "));
        if (is_object) {
            lc_buf_append(out, lc_json_name(item));
            lc_buf_append(out, LC_STR(": "));
        }
        show_plain(out, item);
        is_first = false;
    }
}

static bool has_nested(const lc_json *value)
{
    for (const lc_json *item = lc_json_first(value); item != NULL; item = lc_json_next(item))
        if (is_nested(item))
            return true;
    return false;
}

loci_status lc_show_value(lc_arena *arena, loci_str json, loci_str *out, loci_error *err)
{
    const lc_json *value;
    loci_status status = lc_json_parse(arena, json, 0, &value, err);

    return status == LOCI_OK ? lc_show_json(arena, value, out, err) : status;
}

loci_status lc_show_json(lc_arena *arena, const lc_json *value, loci_str *out, loci_error *err)
{
    lc_buf text;
    loci_status status;

    lc_buf_init(&text, arena->heap, LOCI_MEM_REQUESTS, 2 * LC_ARGS_BYTES_MAX);
    if (is_nested(value) && lc_json_first(value) != NULL && !has_nested(value))
        show_members(&text, value);
    else
        show_plain(&text, value);
    status = lc_buf_status(&text, err);
    if (status == LOCI_OK) {
        *out = lc_arena_copy(arena, lc_buf_str(&text));
        if (out->ptr == NULL)
            status = lc_fail_memory(err);
    }
    lc_buf_clear(&text);
    return status;
}
