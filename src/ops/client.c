/* client.c - the program that calls, as loci_call_options.client and the header Loci-Client name
 * it.
 *
 *     claude-code/2.1.4; model=claude-opus-4-5
 *     {"name":"claude-code","version":"2.1.4","model":"claude-opus-4-5"}
 *
 * Both become the same JSON object, which each event that the call writes has in its refs: they
 * survive the forgetting of the payload, and no apply reads them. The program describes itself, for
 * people who want to know the origin of a statement; no right depends on it.
 */
#include "ops/call.h"

#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "base/utf8.h"

#define TEXT_BYTES_MAX 1024
#define PART_BYTES_MAX 128

const lc_record lc_client_record = {
    .name = "Client",
    .members =
        (const lc_result[]){
            {"name", LC_PARAM_STRING, "Name of the program"},
            {"version", LC_PARAM_STRING, "Its version", LC_RESULT_OPTIONAL},
            {"model", LC_PARAM_STRING, "Model that it uses", LC_RESULT_OPTIONAL},
            {"session_id", LC_PARAM_STRING, "Session of the call (ses_...)", LC_RESULT_OPTIONAL},
            {NULL},
        },
};

typedef struct client {
    loci_str name;
    loci_str version;
    loci_str model;
} client;

static loci_status check_part(const char *what, loci_str text, loci_error *err)
{
    bool is_good = text.len <= PART_BYTES_MAX && lc_utf8_is_valid(text);

    for (size_t i = 0; is_good && i < text.len; i++)
        is_good = (unsigned char)text.ptr[i] >= 0x20 && text.ptr[i] != 0x7F;
    if (is_good)
        return LOCI_OK;
    return lc_fail(err, LOCI_EINVAL,
                   "client: %s must have at most %d bytes of UTF-8 without control characters",
                   what, PART_BYTES_MAX);
}

/* "name/version; model=NAME"; other parameters are for clients to come and are ignored. */
static void read_line(loci_str text, client *out)
{
    loci_str rest;
    loci_str product = lc_str_trim(lc_str_split(text, ';', &rest));
    const char *slash = product.len > 0 ? memrchr(product.ptr, '/', product.len) : NULL;

    out->name = product;
    if (slash != NULL) {
        size_t before = (size_t)(slash - product.ptr);

        out->name = lc_str_trim((loci_str){product.ptr, before});
        out->version = lc_str_trim((loci_str){slash + 1, product.len - before - 1});
    }
    while (rest.ptr != NULL) {
        loci_str value;
        loci_str name = lc_str_trim(lc_str_split(lc_str_split(rest, ';', &rest), '=', &value));

        if (lc_str_is(name, "model") && value.ptr != NULL)
            out->model = lc_str_trim(value);
    }
}

static loci_status read_object(lc_arena *arena, loci_str text, client *out, loci_error *err)
{
    const lc_json *json;
    loci_status status = lc_json_parse(arena, text, 0, &json, err);

    for (const lc_json *member = status == LOCI_OK ? lc_json_first(json) : NULL;
         status == LOCI_OK && member != NULL; member = lc_json_next(member)) {
        loci_str name = lc_json_name(member);
        loci_str *to = lc_str_is(name, "name")      ? &out->name
                       : lc_str_is(name, "version") ? &out->version
                       : lc_str_is(name, "model")   ? &out->model
                                                    : NULL;

        if (to == NULL || lc_json_kind_of(member) != LC_JSON_STRING)
            status = lc_fail(err, LOCI_EINVAL,
                             "client: an object has the strings name, version and model, and "
                             "nothing else");
        else
            *to = lc_json_str(member);
    }
    return status;
}

static loci_status write_object(lc_arena *arena, const client *from, loci_str *out, loci_error *err)
{
    lc_json_writer w;
    lc_buf text;
    loci_status status;

    lc_buf_init(&text, arena->heap, LOCI_MEM_REQUESTS, LC_ARGS_BYTES_MAX);
    lc_jw_init(&w, &text);
    lc_jw_object(&w);
    lc_jw_member_str(&w, "name", from->name);
    if (from->version.len > 0)
        lc_jw_member_str(&w, "version", from->version);
    if (from->model.len > 0)
        lc_jw_member_str(&w, "model", from->model);
    lc_jw_end(&w);
    status = lc_buf_status(&text, err);
    if (status == LOCI_OK) {
        *out = lc_arena_copy(arena, lc_buf_str(&text));
        status = out->ptr != NULL ? LOCI_OK : lc_fail_memory(err);
    }
    lc_buf_clear(&text);
    return status;
}

loci_status lc_client_read(lc_arena *arena, loci_str text, loci_str *out, loci_error *err)
{
    client found = {0};
    loci_status status = LOCI_OK;

    text = lc_str_trim(text);
    if (text.len > TEXT_BYTES_MAX)
        return lc_fail(err, LOCI_EINVAL, "client: %zu bytes, the maximum is %d", text.len,
                       TEXT_BYTES_MAX);
    if (text.len > 0 && text.ptr[0] == '{')
        status = read_object(arena, text, &found, err);
    else
        read_line(text, &found);
    if (status == LOCI_OK && found.name.len == 0)
        status = lc_fail(err, LOCI_EINVAL,
                         "client: the name is missing; pass name/version; model=NAME");
    if (status == LOCI_OK)
        status = check_part("name", found.name, err);
    if (status == LOCI_OK)
        status = check_part("version", found.version, err);
    if (status == LOCI_OK)
        status = check_part("model", found.model, err);
    return status == LOCI_OK ? write_object(arena, &found, out, err) : status;
}
