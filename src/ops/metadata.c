/* metadata.c - see metadata.h. Values are equal if their canonical texts are. */
#include "ops/metadata.h"

#include "base/error.h"
#include "base/str.h"

loci_status lc_call_keep_metadata(lc_call *call, const lc_json *json, loci_str *out,
                                  loci_error *err)
{
    lc_json_writer w;
    lc_buf text;
    loci_status status;

    if (json == NULL)
        return LOCI_OK;
    lc_buf_init(&text, call->arena->heap, LOCI_MEM_REQUESTS, LC_ARGS_BYTES_MAX);
    lc_jw_init(&w, &text);
    lc_jw_value(&w, json);
    status = lc_buf_status(&text, err);
    if (status == LOCI_OK && text.len > LC_METADATA_BYTES_MAX)
        status = lc_fail(err, LOCI_EINVAL, "metadata: %zu bytes, the maximum is %d", text.len,
                         LC_METADATA_BYTES_MAX);
    if (status == LOCI_OK) {
        *out = lc_arena_copy(call->arena, lc_buf_str(&text));
        if (out->ptr == NULL)
            status = lc_fail_memory(err);
    }
    lc_buf_clear(&text);
    return status;
}

/* Both values canonically, one behind the other. */
static loci_status is_equal(lc_arena *arena, const lc_json *a, const lc_json *b, bool *out,
                            loci_error *err)
{
    lc_buf text;
    size_t first;
    loci_status status;

    lc_buf_init(&text, arena->heap, LOCI_MEM_REQUESTS, LC_ARGS_BYTES_MAX);
    status = lc_json_canonical(arena, a, &text, err);
    first = text.len;
    if (status == LOCI_OK)
        status = lc_json_canonical(arena, b, &text, err);
    if (status == LOCI_OK)
        status = lc_buf_status(&text, err);
    if (status == LOCI_OK)
        *out = lc_str_eq((loci_str){text.ptr, first},
                         (loci_str){text.ptr + first, text.len - first});
    lc_buf_clear(&text);
    return status;
}

loci_status lc_metadata_matches(lc_heap *heap, loci_str metadata, const lc_json *wanted, bool *out,
                                loci_error *err)
{
    const lc_json *object;
    lc_arena arena;
    loci_status status;

    *out = wanted == NULL || lc_json_count(wanted) == 0;
    if (*out || metadata.len == 0)
        return LOCI_OK;
    lc_arena_init(&arena, heap, LOCI_MEM_REQUESTS);
    status = lc_json_parse(&arena, metadata, 0, &object, err);
    *out = true;
    for (const lc_json *member = lc_json_first(wanted); status == LOCI_OK && *out && member != NULL;
         member = lc_json_next(member)) {
        const lc_json *has = lc_json_member(object, lc_json_name(member));

        *out = has != NULL;
        if (*out)
            status = is_equal(&arena, has, member, out, err);
    }
    lc_arena_clear(&arena);
    return status;
}
