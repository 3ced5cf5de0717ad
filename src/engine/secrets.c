/* secrets.c - see secrets.h. */
#include "engine/secrets.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "text/secret.h"

const lc_setting lc_setting_secrets_policy = {
    .name = "secrets.policy",
    .kind = LC_SETTING_CHOICE,
    .default_text = "\"redact\"",
    .choices = "redact|refuse|keep", /* In the order of lc_secrets_policy. */
    .help = "Treatment of keys, tokens and passwords in texts: redact replaces them and warns, "
            "refuse fails the call, keep stores them",
    .is_live = true,
    .is_per_tenant = true,
};

typedef struct screening {
    const lc_secrets_scan *scan;
    const lc_json *root;
    lc_secrets_found *found;
} screening;

static void count_secret(screening *s, const char *kind)
{
    lc_secrets_found *found = s->found;
    size_t at = 0;

    found->count++;
    while (at < found->item_count && (strcmp(found->items[at].kind, kind) != 0 ||
                                      found->items[at].parameter != s->scan->parameter))
        at++;
    if (at == LC_SECRETS_KINDS_MAX)
        return;
    if (at == found->item_count) {
        found->items[found->item_count].parameter = s->scan->parameter;
        found->items[found->item_count++].kind = kind;
    }
    found->items[at].count++;
}

static loci_status refuse(const screening *s, const char *kind, const char *where, loci_error *err)
{
    char data[160];

    (void)lc_fail(err, LOCI_EINVAL,
                  "%s: %s looks like a secret (%s); remove it, or change the setting"
                  " secrets.policy",
                  s->scan->parameter, where, kind);
    (void)snprintf(data, sizeof data, "{\"parameter\":\"%s\",\"kind\":\"%s\"}", s->scan->parameter,
                   kind); /* Both are short constants. */
    lc_error_set_data(err, loci_str_of(data));
    return LOCI_EINVAL;
}

static void append_redacted(lc_buf *out, const char *kind)
{
    lc_buf_append_format(out, "[redacted: %s]", kind);
}

/* The text with all secrets replaced, in the arena. */
static loci_status redact(screening *s, loci_str text, lc_secret first, loci_str *out,
                          loci_error *err)
{
    lc_secret secret = first;
    size_t done = 0;
    bool is_found = true;
    loci_status status;
    lc_buf buf;

    lc_buf_init(&buf, s->scan->arena->heap, LOCI_MEM_REQUESTS, LC_JSON_BYTES_MAX);
    while (is_found) {
        lc_buf_append(&buf, (loci_str){text.ptr + done, secret.start - done});
        append_redacted(&buf, secret.kind);
        count_secret(s, secret.kind);
        done = secret.start + secret.bytes;
        is_found = lc_secret_next(text, done, &secret);
    }
    lc_buf_append(&buf, (loci_str){text.ptr + done, text.len - done});
    status = lc_buf_status(&buf, err);
    if (status == LOCI_OK) {
        *out = lc_arena_copy(s->scan->arena, lc_buf_str(&buf));
        if (out->ptr == NULL)
            status = lc_fail_memory(err);
    }
    lc_buf_clear(&buf);
    return status;
}

/* lc_json_edit: one string, or the name of a member. */
static loci_status screen_string(void *ctx, const lc_json *value, lc_json_edit *edit,
                                 loci_error *err)
{
    screening *s = ctx;
    loci_str name = value == s->root ? s->scan->name : edit->name;
    lc_secret secret;

    if (edit->is_name)
        return lc_secret_next(edit->text, 0, &secret)
                   ? refuse(s, secret.kind, "the name of a member", err)
                   : LOCI_OK;
    if (lc_secret_is_named(name, edit->text, &secret.kind)) {
        secret.start = 0;
        secret.bytes = edit->text.len;
    } else if (!lc_secret_next(edit->text, 0, &secret)) {
        return LOCI_OK;
    }
    if (s->scan->policy == LC_SECRETS_REFUSE)
        return refuse(s, secret.kind, "part of it", err);
    return redact(s, edit->text, secret, &edit->text, err);
}

loci_status lc_secrets_screen(const lc_secrets_scan *scan, const lc_json *value,
                              lc_secrets_found *found, loci_error *err)
{
    screening s = {.scan = scan, .root = value, .found = found};

    if (scan->policy == LC_SECRETS_KEEP)
        return LOCI_OK;
    return lc_json_edit_strings(value, screen_string, &s, err);
}

void lc_secrets_put(const lc_secrets_found *found, lc_json_writer *out)
{
    lc_jw_name(out, "warnings");
    lc_jw_array(out);
    for (size_t i = 0; i < found->item_count; i++) {
        lc_jw_object(out);
        lc_jw_member_text(out, "code", "secret_redacted");
        lc_jw_member_text(out, "parameter", found->items[i].parameter);
        lc_jw_member_text(out, "kind", found->items[i].kind);
        lc_jw_member_int(out, "count", found->items[i].count);
        lc_jw_end(out);
    }
    lc_jw_end(out);
}
