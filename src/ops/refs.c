/* refs.c - "$0.id" in a batch: an argument that is part of an earlier answer.
 *
 *     "$0.id"           member `id` of the first answer
 *     "$2.facts.0.key"  members by name, elements by place
 *     "$$0.id"          the text "$0.id"; "$$$0.id" is "$$0.id", and so on
 *
 * Only a whole string is a reference. The arguments are copied with references replaced and are
 * then read like any others. A reference can be the value of a member or an element, but never all
 * of the arguments, and never user_id, persona_id or request_id, however deep: the rights of a call
 * and its stored answer are judged by these before the calls before it have run. (session_id is
 * looked up among the sessions of that user and persona, so an answer may name it.)
 */
#include "ops/call.h"

#include "base/assert.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_reference(loci_str text)
{
    return text.len >= 2 && text.ptr[0] == '$' && is_digit(text.ptr[1]);
}

/* Two dollars or more before a digit: one of them is there to say that the rest is text. */
static bool is_escaped(loci_str text)
{
    size_t dollars = 0;

    while (dollars < text.len && text.ptr[dollars] == '$')
        dollars++;
    return dollars >= 2 && dollars < text.len && is_digit(text.ptr[dollars]);
}

typedef struct resolver {
    lc_arena *arena;
    const loci_str *answers;
    const lc_json *parsed[LC_CALLS_PER_BATCH_MAX]; /* Each is read once, when first referred to. */
    size_t count;
    lc_json_writer out;
} resolver;

static const lc_json *element(const lc_json *array, loci_str place)
{
    int64_t index;
    const lc_json *at = lc_json_first(array);

    if (!lc_str_to_i64(place, &index) || index < 0)
        return NULL;
    while (at != NULL && index-- > 0)
        at = lc_json_next(at);
    return at;
}

static const lc_json *follow(const lc_json *value, loci_str path)
{
    while (value != NULL && path.ptr != NULL) {
        loci_str step = lc_str_split(path, '.', &path);

        if (lc_json_kind_of(value) == LC_JSON_OBJECT)
            value = lc_json_member(value, step);
        else if (lc_json_kind_of(value) == LC_JSON_ARRAY)
            value = element(value, step);
        else
            value = NULL;
    }
    return value;
}

static loci_status write_referenced(resolver *r, loci_str text, loci_error *err)
{
    loci_str path;
    loci_str number = lc_str_split((loci_str){text.ptr + 1, text.len - 1}, '.', &path);
    const lc_json *answer;
    int64_t index;
    loci_status status = LOCI_OK;

    if (!lc_str_to_i64(number, &index))
        return lc_fail(err, LOCI_EINVAL, "reference %.*s: expected \"$N.member\"",
                       LC_STR_ARG(text));
    if (index < 0 || (size_t)index >= r->count)
        return lc_fail(err, LOCI_EINVAL,
                       "reference %.*s: only the %zu calls before it have answers",
                       LC_STR_ARG(text), r->count);
    if (r->parsed[index] == NULL)
        status = lc_json_parse(r->arena, r->answers[index], LC_JSON_ALLOW_NUL, &r->parsed[index],
                               err);
    if (status != LOCI_OK)
        return status;
    answer = follow(r->parsed[index], path);
    if (answer == NULL)
        return lc_fail(err, LOCI_EINVAL,
                       "reference %.*s: the answer of call %lld has no such member",
                       LC_STR_ARG(text), (long long)index);
    lc_jw_value(&r->out, answer);
    return lc_buf_status(r->out.buf, err); /* Now: what follows could take long, and for nothing. */
}

/* Whether `value` may be a reference; `parent` NULL: it is all of the arguments. */
static loci_status check_place(const lc_json *parent, const lc_json *value, loci_error *err)
{
    static const char *const fixed[] = {"user_id", "persona_id", "request_id"};

    if (parent == NULL)
        return lc_fail(err, LOCI_EINVAL,
                       "the arguments of a call cannot be a reference; its members can");
    for (size_t i = 0; i < sizeof fixed / sizeof fixed[0]; i++) {
        if (lc_json_kind_of(parent) == LC_JSON_OBJECT && lc_str_is(lc_json_name(value), fixed[i]))
            return lc_fail(err, LOCI_EINVAL, "%s: a batch cannot take it from an answer", fixed[i]);
    }
    return LOCI_OK;
}

static loci_status write_scalar(resolver *r, const lc_json *parent, const lc_json *value,
                                loci_error *err)
{
    loci_str text;

    if (lc_json_kind_of(value) != LC_JSON_STRING) {
        lc_jw_value(&r->out, value);
        return LOCI_OK;
    }
    text = lc_json_str(value);
    if (is_reference(text)) {
        loci_status status = check_place(parent, value, err);

        return status == LOCI_OK ? write_referenced(r, text, err) : status;
    }
    if (is_escaped(text))
        text = (loci_str){text.ptr + 1, text.len - 1};
    lc_jw_str(&r->out, text);
    return LOCI_OK;
}

static bool is_container(const lc_json *value)
{
    return lc_json_kind_of(value) == LC_JSON_ARRAY || lc_json_kind_of(value) == LC_JSON_OBJECT;
}

/* Walks the tree with a stack of its own: depth is bounded by the reader. */
static loci_status copy(resolver *r, const lc_json *root, loci_error *err)
{
    const lc_json *stack[LC_JSON_DEPTH_MAX + 1];
    size_t depth = 0;
    const lc_json *at = root;
    loci_status status = LOCI_OK;

    for (;;) {
        if (depth > 0 && lc_json_kind_of(stack[depth - 1]) == LC_JSON_OBJECT)
            lc_jw_name_str(&r->out, lc_json_name(at));
        if (is_container(at)) {
            if (lc_json_kind_of(at) == LC_JSON_OBJECT)
                lc_jw_object(&r->out);
            else
                lc_jw_array(&r->out);
            stack[depth++] = at;
            at = lc_json_first(at);
        } else {
            status = write_scalar(r, depth > 0 ? stack[depth - 1] : NULL, at, err);
            if (status != LOCI_OK)
                return status;
            at = depth > 0 ? lc_json_next(at) : NULL;
        }
        while (at == NULL && depth > 0) {
            lc_jw_end(&r->out);
            depth--;
            at = depth > 0 ? lc_json_next(stack[depth]) : NULL;
        }
        if (depth == 0)
            return LOCI_OK;
    }
}

loci_status lc_refs_resolve(lc_arena *arena, loci_str args, const loci_str *answers, size_t count,
                            loci_str *out, loci_error *err)
{
    resolver r = {.arena = arena, .answers = answers, .count = count};
    const lc_json *tree;
    lc_buf text;
    loci_status status;

    LC_ASSERT(count <= LC_CALLS_PER_BATCH_MAX);
    *out = args;
    if (args.len == 0 || memchr(args.ptr, '$', args.len) == NULL)
        return LOCI_OK;
    status = lc_json_parse(arena, args, 0, &tree, err);
    if (status != LOCI_OK)
        return status;
    lc_buf_init(&text, arena->heap, LOCI_MEM_REQUESTS, LC_JSON_BYTES_MAX);
    lc_jw_init(&r.out, &text);
    status = copy(&r, tree, err);
    if (status == LOCI_OK)
        status = lc_buf_status(&text, err);
    if (status == LOCI_OK) {
        *out = lc_arena_copy(arena, lc_buf_str(&text));
        if (out->ptr == NULL)
            status = lc_fail_memory(err);
    }
    lc_buf_clear(&text);
    return status;
}
