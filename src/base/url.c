/* url.c - what cannot be understood is left out rather than shown: a password may hold any of the
 * characters that should have been escaped. */
#include "base/url.h"

#include <string.h>

#include "base/str.h"

typedef struct label {
    char *out;
    size_t bytes;
    size_t len;
} label;

static void put(label *l, loci_str text)
{
    for (size_t i = 0; i < text.len && l->len + 1 < l->bytes; i++)
        l->out[l->len++] = text.ptr[i];
    l->out[l->len] = '\0';
}

bool lc_url_is(const char *text)
{
    return strstr(text, "://") != NULL;
}

/* The host begins behind the last '@' before the query: one in a password should have been escaped,
 * but often is not. */
static loci_str put_user(label *l, loci_str rest)
{
    size_t authority = 0, at = 0;
    bool has_user = false;

    while (authority < rest.len && rest.ptr[authority] != '?')
        authority++;
    for (size_t i = 0; i < authority; i++) {
        if (rest.ptr[i] == '@') {
            at = i;
            has_user = true;
        }
    }
    if (has_user) {
        loci_str ignored;

        put(l, lc_str_split((loci_str){rest.ptr, at}, ':', &ignored));
        rest = (loci_str){rest.ptr + at, rest.len - at};
    }
    return rest;
}

static void put_parameters(label *l, loci_str rest)
{
    for (bool is_first = true; rest.ptr != NULL; is_first = false) {
        loci_str parameter = lc_str_split(rest, '&', &rest);
        loci_str value;
        loci_str name = lc_str_split(parameter, '=', &value);

        if (lc_str_is(name, "password") || lc_str_is(name, "sslpassword"))
            parameter = LC_STR("password=***");
        put(l, is_first ? LC_STR("?") : LC_STR("&"));
        put(l, parameter);
    }
}

void lc_url_write_label(const char *url, char *out, size_t bytes)
{
    label l = {.out = out, .bytes = bytes};
    const char *begin = strstr(url, "://");
    loci_str rest, query;

    out[0] = '\0';
    if (begin == NULL) {
        put(&l, loci_str_of(url));
        return;
    }
    put(&l, (loci_str){url, (size_t)(begin - url) + 3});
    rest = put_user(&l, loci_str_of(begin + 3));
    put(&l, lc_str_split(rest, '?', &query));
    if (query.ptr != NULL)
        put_parameters(&l, query);
}
