/* url.c - a label shows the parts known to be harmless and hides the rest: a password may be
 * anywhere, and may contain any of the characters that should have been escaped.
 *
 *     postgresql://user:password@host:port,host:port/database?name=value&name=value
 *
 * libpq ends the password at the first '@' before a '/', people at the last '@' they wrote. So
 * everything between the user and the last '@' is hidden, a port that is not a number is hidden (it
 * may be a password after a missing host), and so is the value of every parameter that is not
 * listed here.
 */
#include "base/url.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "base/str.h"

#define HIDDEN LC_STR("***")

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

/* Whether "password = …" is in it, as in a connection string of libpq. */
static bool names_password(const char *text)
{
    for (; *text != '\0'; text++) {
        const char *after = text + strlen("password");

        if (strncasecmp(text, "password", strlen("password")) == 0 &&
            after[strspn(after, " \t\r\n")] == '=')
            return true;
    }
    return false;
}

loci_status lc_url_check_store(const char *text, loci_error *err)
{
    loci_str name = loci_str_of(text);

    if (lc_str_starts(name, LC_STR("postgresql://")) || lc_str_starts(name, LC_STR("postgres://")))
        return LOCI_OK;
    if (lc_url_is(text) || strncasecmp(text, "postgresql:", 11) == 0 ||
        strncasecmp(text, "postgres:", 9) == 0 || names_password(text))
        return lc_fail(err, LOCI_EINVAL,
                       "the store's name is neither a file nor a URL of the form "
                       "postgresql://USER@HOST:PORT/DATABASE");
    return LOCI_OK;
}

/* Writes the user; returns the text behind the user and the password. */
static loci_str put_user(label *l, loci_str rest)
{
    size_t user = 0, at = rest.len;

    while (at > 0 && rest.ptr[at - 1] != '@')
        at--;
    if (at == 0)
        return rest;
    while (strchr(":/?@", rest.ptr[user]) == NULL)
        user++;
    put(l, (loci_str){rest.ptr, user});
    put(l, LC_STR("@"));
    return (loci_str){rest.ptr + at, rest.len - at};
}

/* Hosts, ports and the database, up to the parameters. */
static void put_place(label *l, loci_str place)
{
    bool is_bracketed = false, has_path = false;

    for (size_t i = 0; i < place.len; i++) {
        char c = place.ptr[i];
        size_t end = i + 1;

        is_bracketed = c == '[' || (is_bracketed && c != ']');
        has_path = has_path || c == '/';
        if (isalnum((unsigned char)c) == 0 && strchr("-._~%,:/[]", c) == NULL) {
            put(l, HIDDEN);
            return;
        }
        put(l, (loci_str){&c, 1});
        if (c != ':' || is_bracketed || has_path)
            continue;
        while (end < place.len && isdigit((unsigned char)place.ptr[end]) != 0)
            end++;
        if (end < place.len && place.ptr[end] != ',' && place.ptr[end] != '/') {
            put(l, HIDDEN);
            return;
        }
    }
}

static void put_parameters(label *l, loci_str rest)
{
    static const char *const harmless[] = {
        "application_name",     "dbname", "host", "hostaddr", "options", "port", "sslmode",
        "target_session_attrs", "user",
    };

    for (bool is_first = true; rest.ptr != NULL; is_first = false) {
        loci_str parameter = lc_str_split(rest, '&', &rest);
        loci_str value;
        loci_str name = lc_str_split(parameter, '=', &value);
        bool is_harmless = false;

        for (size_t i = 0; i < sizeof harmless / sizeof harmless[0]; i++)
            is_harmless = is_harmless || lc_str_is(name, harmless[i]);
        put(l, is_first ? LC_STR("?") : LC_STR("&"));
        put(l, is_harmless && value.ptr != NULL ? parameter : HIDDEN);
    }
}

void lc_url_write_label(const char *url, char *out, size_t bytes)
{
    label l = {.out = out, .bytes = bytes};
    const char *begin = strstr(url, "://");
    loci_str rest, query;

    out[0] = '\0';
    if (begin == NULL) {
        put(&l, names_password(url) ? HIDDEN : loci_str_of(url));
        return;
    }
    put(&l, (loci_str){url, (size_t)(begin - url) + 3});
    rest = put_user(&l, loci_str_of(begin + 3));
    put_place(&l, lc_str_split(rest, '?', &query));
    if (query.ptr != NULL)
        put_parameters(&l, query);
}
