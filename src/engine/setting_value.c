/* setting_value.c - checks values, words the messages about wrong ones, and finds settings by name.
 *
 * A message is "SOURCE: setting "NAME" must be ALLOWED, not GIVEN". Both halves are put together in
 * small buffers first, so that there is one place where the sentence is written. The value given
 * for a secret is never repeated: it may be the secret itself, written where only a reference is
 * allowed.
 */
#include "engine/setting_value.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/error.h"
#include "base/str.h"
#include "base/utf8.h"

#define PHRASE_BYTES 192
#define SHOWN_BYTES_MAX 48
#define READ_BYTES 4096

typedef struct phrase {
    char text[PHRASE_BYTES]; /* Cut if it does not fit; choices and names are loci's own and short.
                              */
} phrase;

static phrase say_allowed(const lc_setting *setting)
{
    phrase out = {""};

    if (setting->is_secret) {
        (void)snprintf(out.text, sizeof out.text,
                       "{\"file\": path} or {\"env\": name}, never the secret itself");
        return out;
    }
    switch (setting->kind) {
    case LC_SETTING_INT:
        (void)snprintf(out.text, sizeof out.text, "an integer from %lld to %lld",
                       (long long)setting->min, (long long)setting->max);
        break;
    case LC_SETTING_TEXT:
        (void)snprintf(out.text, sizeof out.text, "a string of %lld to %lld bytes",
                       (long long)setting->min, (long long)setting->max);
        break;
    case LC_SETTING_BOOL:
        (void)snprintf(out.text, sizeof out.text, "true or false");
        break;
    case LC_SETTING_CHOICE:
        (void)snprintf(out.text, sizeof out.text, "one of %s", setting->choices);
        break;
    }
    return out;
}

static phrase say_given(const lc_setting *setting, const lc_json *json)
{
    lc_json_kind kind = lc_json_kind_of(json);
    phrase out = {""};

    if (setting->is_secret || kind == LC_JSON_NULL || kind >= LC_JSON_ARRAY) {
        (void)snprintf(out.text, sizeof out.text, "%s%s", kind == LC_JSON_NULL ? "" : "a JSON ",
                       lc_json_kind_name(kind));
    } else if (kind == LC_JSON_STRING && setting->kind == LC_SETTING_TEXT) {
        (void)snprintf(out.text, sizeof out.text, "%zu bytes", lc_json_str(json).len);
    } else if (kind == LC_JSON_STRING) {
        loci_str text = lc_json_str(json);
        size_t shown = lc_utf8_cut(text, SHOWN_BYTES_MAX);

        (void)snprintf(out.text, sizeof out.text, "\"%.*s%s\"", (int)shown, text.ptr,
                       shown < text.len ? "…" : "");
    } else if (kind == LC_JSON_BOOL) {
        (void)snprintf(out.text, sizeof out.text, "%s", lc_json_bool(json) ? "true" : "false");
    } else if (kind == LC_JSON_INT) {
        (void)snprintf(out.text, sizeof out.text, "%lld", (long long)lc_json_int(json));
    } else {
        (void)snprintf(out.text, sizeof out.text, "%g", lc_json_real(json));
    }
    return out;
}

static loci_status refuse(const lc_setting_input *input, loci_error *err)
{
    phrase allowed = say_allowed(input->setting);
    phrase given = say_given(input->setting, input->json);
    const char *source = input->source;

    return lc_fail(err, LOCI_EINVAL, "%s%ssetting \"%s\" must be %s, not %s",
                   source != NULL ? source : "", source != NULL ? ": " : "", input->setting->name,
                   allowed.text, given.text);
}

static bool read_int(const lc_setting_input *input, lc_setting_value *out)
{
    if (lc_json_kind_of(input->json) != LC_JSON_INT)
        return false;
    out->number = lc_json_int(input->json);
    return out->number >= input->setting->min && out->number <= input->setting->max;
}

static bool read_bool(const lc_setting_input *input, lc_setting_value *out)
{
    if (lc_json_kind_of(input->json) != LC_JSON_BOOL)
        return false;
    out->number = lc_json_bool(input->json);
    return true;
}

static bool read_text(const lc_setting_input *input, lc_setting_value *out)
{
    if (lc_json_kind_of(input->json) != LC_JSON_STRING)
        return false;
    out->text = lc_json_str(input->json);
    return out->text.len >= (size_t)input->setting->min &&
           out->text.len <= (size_t)input->setting->max;
}

static bool read_choice(const lc_setting_input *input, lc_setting_value *out)
{
    loci_str rest = loci_str_of(input->setting->choices);

    if (lc_json_kind_of(input->json) != LC_JSON_STRING)
        return false;
    out->text = lc_json_str(input->json);
    for (out->number = 0; rest.ptr != NULL; out->number++) {
        if (lc_str_eq(lc_str_split(rest, '|', &rest), out->text))
            return true;
    }
    return false;
}

static bool read_secret(const lc_setting_input *input, lc_setting_value *out)
{
    const lc_json *reference;

    if (lc_json_kind_of(input->json) != LC_JSON_OBJECT || lc_json_count(input->json) != 1)
        return false;
    reference = lc_json_first(input->json);
    if (lc_json_kind_of(reference) != LC_JSON_STRING || lc_json_str(reference).len == 0)
        return false;
    if (lc_str_is(lc_json_name(reference), "file"))
        out->number = LC_SECRET_FILE;
    else if (lc_str_is(lc_json_name(reference), "env"))
        out->number = LC_SECRET_VARIABLE;
    else
        return false;
    out->text = lc_json_str(reference);
    return true;
}

static bool read_kind(const lc_setting_input *input, lc_setting_value *out)
{
    if (input->setting->is_secret)
        return read_secret(input, out);
    switch (input->setting->kind) {
    case LC_SETTING_INT:
        return read_int(input, out);
    case LC_SETTING_TEXT:
        return read_text(input, out);
    case LC_SETTING_BOOL:
        return read_bool(input, out);
    case LC_SETTING_CHOICE:
        return read_choice(input, out);
    }
    LC_UNREACHABLE();
}

loci_status lc_setting_value_read(lc_arena *arena, const lc_setting_input *input,
                                  lc_setting_value *out, loci_error *err)
{
    lc_setting_value value = {.is_set = true};

    if (input->setting->is_secret && lc_json_kind_of(input->json) == LC_JSON_NULL) {
        *out = (lc_setting_value){.is_set = false};
        return LOCI_OK;
    }
    if (!read_kind(input, &value))
        return refuse(input, err);
    if (value.text.ptr != NULL) {
        value.text = lc_arena_copy(arena, value.text);
        if (value.text.ptr == NULL)
            return lc_fail_memory(err);
    }
    *out = value;
    return LOCI_OK;
}

bool lc_setting_value_eq(const lc_setting_value *a, const lc_setting_value *b)
{
    return a->is_set == b->is_set && a->number == b->number && lc_str_eq(a->text, b->text);
}

void lc_setting_value_write(const lc_setting *setting, const lc_setting_value *value,
                            lc_json_writer *out)
{
    if (!value->is_set) {
        lc_jw_null(out);
    } else if (setting->is_secret) {
        lc_jw_text(out, "***");
    } else if (setting->kind == LC_SETTING_INT) {
        lc_jw_int(out, value->number);
    } else if (setting->kind == LC_SETTING_BOOL) {
        lc_jw_bool(out, value->number != 0);
    } else {
        lc_jw_str(out, value->text);
    }
}

static const char *kind_name(lc_setting_kind kind)
{
    switch (kind) {
    case LC_SETTING_INT:
        return "integer";
    case LC_SETTING_TEXT:
        return "string";
    case LC_SETTING_BOOL:
        return "boolean";
    case LC_SETTING_CHOICE:
        return "choice";
    }
    LC_UNREACHABLE();
}

void lc_setting_write_kind(const lc_setting *setting, lc_json_writer *out)
{
    loci_str rest = loci_str_of(setting->choices);

    lc_jw_member_text(out, "kind", kind_name(setting->kind));
    if (setting->kind == LC_SETTING_INT || setting->kind == LC_SETTING_TEXT) {
        lc_jw_member_int(out, "min", setting->min);
        lc_jw_member_int(out, "max", setting->max);
    }
    if (setting->kind == LC_SETTING_CHOICE) {
        lc_jw_name(out, "choices");
        lc_jw_array(out);
        while (rest.ptr != NULL)
            lc_jw_str(out, lc_str_split(rest, '|', &rest));
        lc_jw_end(out);
    }
    lc_jw_member_text(out, "help", setting->help);
    lc_jw_member_bool(out, "live", setting->is_live);
    lc_jw_member_bool(out, "per_tenant", setting->is_per_tenant);
    lc_jw_member_bool(out, "secret", setting->is_secret);
}

static loci_status read_all(int file, lc_buf *out)
{
    char piece[READ_BYTES];

    while (out->failure == LOCI_OK) {
        ssize_t got = read(file, piece, sizeof piece);

        if (got == 0)
            return LOCI_OK;
        if (got < 0 && errno != EINTR)
            return LOCI_EUNAVAILABLE;
        if (got > 0)
            lc_buf_append(out, (loci_str){piece, (size_t)got});
    }
    return out->failure;
}

static loci_status fail_by_errno(const char *what, const char *path, loci_status absent,
                                 loci_error *err)
{
    loci_status status = errno == EACCES || errno == EPERM ? LOCI_EFORBIDDEN : absent;

    return lc_fail(err, status, "%s %s: %m", what, path);
}

loci_status lc_setting_read_file(const char *what, const char *path, loci_status absent,
                                 lc_buf *out, loci_error *err)
{
    loci_status status;
    int file = open(path, O_RDONLY | O_CLOEXEC);

    if (file < 0)
        return fail_by_errno(what, path, absent, err);
    status = read_all(file, out);
    if (status == LOCI_EUNAVAILABLE)
        status = fail_by_errno(what, path, absent, err);
    else if (status == LOCI_ELIMIT)
        status = lc_fail(err, LOCI_ELIMIT, "%s %s is longer than %zu bytes", what, path,
                         out->bytes_max);
    else if (status != LOCI_OK)
        status = lc_fail_memory(err);
    (void)close(file); /* Only read from. */
    return status;
}

static void cut_line_end(lc_buf *out, size_t begin)
{
    while (out->len > begin && (out->ptr[out->len - 1] == '\n' || out->ptr[out->len - 1] == '\r'))
        lc_buf_truncate(out, out->len - 1);
}

static loci_status load_file(const char *path, lc_buf *out, loci_error *err)
{
    size_t begin = out->len;
    loci_status status = lc_setting_read_file("secret file", path, LOCI_ENOTFOUND, out, err);

    if (status == LOCI_OK)
        cut_line_end(out, begin);
    return status;
}

loci_status lc_setting_secret_load(const lc_variables *variables, const lc_setting *setting,
                                   const lc_setting_value *value, lc_buf *out, loci_error *err)
{
    const char *held;

    if (!value->is_set)
        return lc_fail(err, LOCI_ENOTFOUND, "setting \"%s\" is not set", setting->name);
    if (value->number == LC_SECRET_FILE)
        return load_file(value->text.ptr, out, err);
    if (variables->find == NULL)
        return lc_fail(
            err, LOCI_EUNSUPPORTED,
            "setting \"%s\" refers to an environment variable, which this program does not pass on",
            setting->name);
    held = variables->find(variables->ctx, value->text.ptr);
    if (held == NULL)
        return lc_fail(err, LOCI_ENOTFOUND, "setting \"%s\": variable %s is not set", setting->name,
                       value->text.ptr);
    lc_buf_append(out, loci_str_of(held));
    return lc_buf_status(out, err);
}

/* ---- Lists ----------------------------------------------------------------------------------- */

const lc_setting *lc_setting_list_find(const lc_setting_list *list, loci_str name)
{
    for (size_t i = 0; i < list->count; i++) {
        if (lc_str_is(name, list->items[i]->name))
            return list->items[i];
    }
    return NULL;
}

/* At most a third of the letters may differ. */
static const lc_setting *find_nearest(const lc_setting_list *list, loci_str name)
{
    size_t best = name.len / 3 + 1;
    const lc_setting *nearest = NULL;

    for (size_t i = 0; i < list->count; i++) {
        size_t distance = lc_str_distance(name, loci_str_of(list->items[i]->name), best);

        if (distance < best) {
            best = distance;
            nearest = list->items[i];
        }
    }
    return nearest;
}

static loci_status fail_unknown(const lc_setting_list *list, const char *source, loci_str name,
                                loci_status status, loci_error *err)
{
    const lc_setting *nearest = find_nearest(list, name);
    const char *colon = source != NULL ? ": " : "";

    if (source == NULL)
        source = "";
    if (nearest != NULL)
        return lc_fail(err, status, "%s%sunknown setting \"%.*s\"; did you mean \"%s\"?", source,
                       colon, LC_STR_ARG(name), nearest->name);
    return lc_fail(err, status, "%s%sunknown setting \"%.*s\"; config.list names all of them",
                   source, colon, LC_STR_ARG(name));
}

loci_status lc_setting_load(loci_str name, const lc_setting **out, loci_error *err)
{
    lc_setting_list list = lc_setting_list_own();
    const lc_setting *setting = lc_setting_list_find(&list, name);

    if (setting == NULL)
        return fail_unknown(&list, NULL, name, LOCI_ENOTFOUND, err);
    *out = setting;
    return LOCI_OK;
}

loci_status lc_setting_list_load(const lc_setting_list *list, const char *source, loci_str name,
                                 const lc_setting **out, loci_error *err)
{
    const lc_setting *setting = lc_setting_list_find(list, name);

    if (setting == NULL)
        return fail_unknown(list, source, name, LOCI_EINVAL, err);
    *out = setting;
    return LOCI_OK;
}
