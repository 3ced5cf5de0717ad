/* fuzz_json.c - the reader against jansson, a strict reader written by others; then the writer and
 * the canonical form against the reader.
 *
 * Both must accept the same texts and see the same values in them. They may differ in this only:
 *   - texts with a byte of zero, behind which jansson does not look;
 *   - depth: ours is LC_JSON_DEPTH_MAX, theirs 2048;
 *   - U+0000 in a name, which jansson refuses and we allow along with the strings;
 *   - the sign of zero, which we drop.
 * Texts of more than 100 kB would only be slow. Without jansson only our own half is checked.
 */
#include "base/json.h"
#include "base/str.h"
#include "base/utf8.h"

#include <stdlib.h>
#include <string.h>

#if defined(__has_include)
#if __has_include(<jansson.h>)
#include <jansson.h>
#define HAS_ORACLE 1
#endif
#endif

#define TEXT_BYTES_MAX (100 * 1024)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static void require(bool condition)
{
    if (!condition)
        abort();
}

#ifdef HAS_ORACLE
static bool is_same_str(const char *text, size_t bytes, loci_str ours)
{
    return lc_str_eq((loci_str){text, bytes}, ours);
}

static bool is_same_scalar(const lc_json *ours, const json_t *theirs)
{
    switch (lc_json_kind_of(ours)) {
    case LC_JSON_NULL:
        return json_is_null(theirs);
    case LC_JSON_BOOL:
        return lc_json_bool(ours) ? json_is_true(theirs) : json_is_false(theirs);
    case LC_JSON_INT:
        return json_is_integer(theirs) && json_integer_value(theirs) == lc_json_int(ours);
    case LC_JSON_REAL:
        return json_is_real(theirs) && json_real_value(theirs) == lc_json_real(ours);
    case LC_JSON_STRING:
        return json_is_string(theirs) && is_same_str(json_string_value(theirs),
                                                     json_string_length(theirs), lc_json_str(ours));
    default:
        return false;
    }
}

/* jansson's names are terminated; ours are not. */
static const json_t *find_member(const json_t *object, loci_str name)
{
    char terminated[TEXT_BYTES_MAX + 1];

    memcpy(terminated, name.ptr, name.len);
    terminated[name.len] = '\0';
    return json_object_get(object, terminated);
}

/* Recursive, but the depth of `ours` is limited. */
static bool is_same(const lc_json *ours, const json_t *theirs)
{
    lc_json_kind kind = lc_json_kind_of(ours);
    size_t index = 0;

    if (kind != LC_JSON_ARRAY && kind != LC_JSON_OBJECT)
        return is_same_scalar(ours, theirs);
    if (kind == LC_JSON_ARRAY ? !json_is_array(theirs) : !json_is_object(theirs))
        return false;
    for (const lc_json *at = lc_json_first(ours); at != NULL; at = lc_json_next(at), index++) {
        const json_t *twin = kind == LC_JSON_ARRAY ? json_array_get(theirs, index)
                                                   : find_member(theirs, lc_json_name(at));

        if (twin == NULL || !is_same(at, twin))
            return false;
    }
    return index == lc_json_count(ours) &&
           index == (kind == LC_JSON_ARRAY ? json_array_size(theirs) : json_object_size(theirs));
}

/* `ours` is NULL when we refused the text. */
static void compare_with_oracle(loci_str text, const lc_json *ours, loci_status status)
{
    json_error_t error;
    json_t *theirs = json_loadb(text.ptr, text.len,
                                JSON_DECODE_ANY | JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &error);

    if (ours != NULL && theirs != NULL)
        require(is_same(ours, theirs));
    else if (ours != NULL)
        require(json_error_code(&error) == json_error_null_byte_in_key);
    else
        require(theirs == NULL || status == LOCI_ELIMIT);
    json_decref(theirs);
}
#endif

static loci_str write_value(lc_arena *arena, lc_buf *buf, const lc_json *value)
{
    lc_json_writer w;

    lc_buf_reset(buf);
    lc_jw_init(&w, buf);
    lc_jw_value(&w, value);
    require(lc_jw_is_done(&w));
    require(buf->failure == LOCI_OK);
    return lc_arena_copy(arena, lc_buf_str(buf));
}

static loci_str write_canonical(lc_arena *arena, lc_buf *buf, const lc_json *value)
{
    lc_buf_reset(buf);
    require(lc_json_canonical(arena, value, buf, NULL) == LOCI_OK);
    return lc_arena_copy(arena, lc_buf_str(buf));
}

/* Writing and reading again changes nothing, and the canonical form is a fixed point. */
static void check_round_trip(lc_arena *arena, const lc_json *value)
{
    lc_buf buf;
    const lc_json *again, *sorted;
    loci_str text, form;

    lc_buf_init(&buf, arena->heap, LOCI_MEM_REQUESTS, SIZE_MAX / 2);
    text = write_value(arena, &buf, value);
    require(lc_utf8_is_valid(text));
    require(lc_json_parse(arena, text, LC_JSON_ALLOW_NUL, &again, NULL) == LOCI_OK);
    require(lc_str_eq(write_value(arena, &buf, again), text));
    form = write_canonical(arena, &buf, value);
    require(lc_str_eq(write_canonical(arena, &buf, again), form));
    require(lc_json_parse(arena, form, LC_JSON_ALLOW_NUL, &sorted, NULL) == LOCI_OK);
    require(lc_str_eq(write_value(arena, &buf, sorted), form));
    lc_buf_clear(&buf);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    loci_str text = {(const char *)data, bytes};
    lc_heap heap;
    lc_arena arena;
    const lc_json *value = NULL, *strict = NULL;
    loci_error err = {0};
    loci_status status;

    if (bytes > TEXT_BYTES_MAX)
        return 0;
    lc_heap_init(&heap, (loci_allocator){0});
    lc_arena_init(&arena, &heap, LOCI_MEM_REQUESTS);
    status = lc_json_parse(&arena, text, LC_JSON_ALLOW_NUL, &value, &err);
    require((status == LOCI_OK) == (value != NULL));
    require(status == LOCI_OK || lc_utf8_is_valid(loci_str_of(err.message)));
    if (status != LOCI_OK)
        require(lc_json_parse(&arena, text, 0, &strict, NULL) == status);
#ifdef HAS_ORACLE
    if (bytes > 0 && memchr(text.ptr, '\0', text.len) == NULL)
        compare_with_oracle(text, value, status);
#endif
    if (value != NULL)
        check_round_trip(&arena, value);
    lc_arena_clear(&arena);
    require(lc_heap_live_bytes(&heap, LOCI_MEM_REQUESTS) == 0);
    return 0;
}
