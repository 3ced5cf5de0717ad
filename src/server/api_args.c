#include "server/api_args.h"

#include "base/error.h"
#include "base/str.h"
#include "base/utf8.h"
#include "ops/check.h"

/* The kind of a parameter. Unknown ones are written as strings, and refused by the check. */
static lc_param_kind kind_of(const lc_op *op, loci_str name)
{
    size_t index;
    const lc_param *param = lc_op_find_param(op, name, &index);

    return param != NULL ? param->kind : LC_PARAM_STRING;
}

/* ?types=a,b and ?types=a&types=b are the same list. */
static void write_strings(lc_arena *arena, lc_json_writer *w, const lc_api_given *given,
                          size_t first)
{
    loci_str name = given->query[first].name;

    lc_jw_array(w);
    for (size_t i = first; i < given->query_count; i++) {
        if (lc_str_eq(given->query[i].name, name))
            lc_arg_write_items(arena, w, given->query[i].value);
    }
    lc_jw_end(w);
}

static const lc_path_param *find(const lc_path_param *params, size_t count, loci_str name)
{
    for (size_t i = 0; i < count; i++) {
        if (lc_str_eq(params[i].name, name))
            return &params[i];
    }
    return NULL;
}

static loci_status fail_twice(loci_str name, loci_error *err)
{
    name.len = lc_utf8_cut(name, 64);
    return lc_fail(err, LOCI_EINVAL, "%.*s is given twice; give it once", LC_STR_ARG(name));
}

static loci_status check_text(loci_str name, loci_str text, loci_error *err)
{
    bool has_nul = (text.len > 0 && memchr(text.ptr, '\0', text.len) != NULL) ||
                   (name.len > 0 && memchr(name.ptr, '\0', name.len) != NULL);

    if (lc_utf8_is_valid(name) && lc_utf8_is_valid(text) && !has_nul)
        return LOCI_OK;
    return lc_fail(err, LOCI_EINVAL, "the query is not UTF-8 without U+0000");
}

static loci_status write_query(lc_arena *arena, lc_json_writer *w, const lc_api_given *given,
                               loci_error *err)
{
    loci_status status = LOCI_OK;

    for (size_t i = 0; status == LOCI_OK && i < given->query_count; i++) {
        const lc_path_param *param = &given->query[i];
        lc_param_kind kind = kind_of(given->op, param->name);
        bool is_repeated = find(given->query, i, param->name) != NULL;

        status = check_text(param->name, param->value, err);
        if (status != LOCI_OK)
            break;
        if (find(given->path, given->path_count, param->name) != NULL ||
            (is_repeated && kind != LC_PARAM_STRINGS)) {
            status = fail_twice(param->name, err);
        } else if (!is_repeated) {
            lc_jw_name_str(w, param->name);
            if (kind == LC_PARAM_STRINGS)
                write_strings(arena, w, given, i);
            else
                (void)lc_arg_write_text(arena, w, kind, param->value); /* The check explains it. */
        }
    }
    return status;
}

/* A body may say again what the path says, as one made from a whole object does. */
static loci_status write_body(lc_json_writer *w, const lc_api_given *given, const lc_json *body,
                              loci_error *err)
{
    for (const lc_json *member = lc_json_first(body); member != NULL;
         member = lc_json_next(member)) {
        loci_str name = lc_json_name(member);
        const lc_path_param *in_path = find(given->path, given->path_count, name);

        if (in_path != NULL && lc_json_kind_of(member) == LC_JSON_STRING &&
            lc_str_eq(lc_json_str(member), in_path->value))
            continue;
        if (in_path != NULL || find(given->query, given->query_count, name) != NULL)
            return fail_twice(name, err);
        lc_jw_name_str(w, name);
        lc_jw_value(w, member);
    }
    return LOCI_OK;
}

static loci_status parse_body(lc_arena *arena, loci_str text, const lc_json **out, loci_error *err)
{
    loci_status status;

    text = lc_str_trim(text);
    status = lc_json_parse(arena, text.len > 0 ? text : LC_STR("{}"), 0, out, err);
    if (status == LOCI_OK && lc_json_kind_of(*out) != LC_JSON_OBJECT)
        status = lc_fail(err, LOCI_EINVAL, "the body must be one JSON object, not %s",
                         lc_json_kind_name(lc_json_kind_of(*out)));
    return status;
}

loci_status lc_api_args(lc_arena *arena, const lc_api_given *given, loci_str *out, loci_error *err)
{
    const lc_json *body;
    lc_json_writer w;
    lc_buf text;
    loci_status status;

    if (given->path_count == 0 && given->query_count == 0) {
        *out = given->body; /* As it came, so that messages name its lines. */
        return LOCI_OK;
    }
    lc_buf_init(&text, arena->heap, LOCI_MEM_REQUESTS, LC_JSON_BYTES_MAX);
    lc_jw_init(&w, &text);
    status = parse_body(arena, given->body, &body, err);
    if (status == LOCI_OK) {
        lc_jw_object(&w);
        for (size_t i = 0; i < given->path_count; i++) {
            lc_jw_name_str(&w, given->path[i].name);
            (void)lc_arg_write_text(arena, &w, kind_of(given->op, given->path[i].name),
                                    given->path[i].value); /* The check explains it. */
        }
        status = write_query(arena, &w, given, err);
    }
    if (status == LOCI_OK)
        status = write_body(&w, given, body, err);
    if (status == LOCI_OK) {
        lc_jw_end(&w);
        status = lc_buf_status(&text, err);
    }
    if (status == LOCI_OK) {
        *out = lc_arena_copy(arena, lc_buf_str(&text));
        status = out->ptr != NULL ? LOCI_OK : lc_fail_memory(err);
    }
    lc_buf_clear(&text);
    return status;
}
