/* auth.c - who is calling: a bearer token, or our own user on the Unix socket.
 *
 * A token counts on every kind of connection, loopback included: whoever can open a port of this
 * machine, a page in a browser too, is not yet somebody we know. On the Unix socket the kernel says
 * who is at the other end; our own user and root, who could read the store's file anyway, need no
 * token, unless they show one: then it is what counts. A token in a URL is refused even when it is
 * good, because URLs end up in logs and histories.
 */
#include "server/parts.h"

#include <strings.h>
#include <unistd.h>

#include "base/error.h"
#include "base/str.h"
#include "ops/token_auth.h"

#define SCHEME "Bearer"

static loci_status fail_url(loci_error *err)
{
    return lc_fail(err, LOCI_EINVAL,
                   "a token does not belong into a URL, which logs keep: send it as "
                   "\"Authorization: Bearer loci_…\", and revoke it if it was a real one");
}

static loci_status check_url(const lc_http_request *request, loci_error *err)
{
    static const char *const names[] = {"access_token", "authorization", "bearer", "token"};
    loci_str name, value;

    if (lc_token_text_is_in(lc_http_path(request)))
        return fail_url(err);
    for (size_t i = 0; lc_http_query_at(request, i, &name, &value); i++) {
        if (lc_token_text_is_in(name) || lc_token_text_is_in(value))
            return fail_url(err);
        for (size_t n = 0; n < sizeof names / sizeof names[0]; n++) {
            if (lc_str_is(name, names[n]))
                return fail_url(err);
        }
    }
    return LOCI_OK;
}

/* The token of "Bearer TOKEN"; false for anything else, two tokens included. */
static bool read_bearer(loci_str header, loci_str *out)
{
    loci_str rest;
    loci_str scheme = lc_str_split(lc_str_trim(header), ' ', &rest);

    if (scheme.len != sizeof SCHEME - 1 || strncasecmp(scheme.ptr, SCHEME, scheme.len) != 0 ||
        rest.ptr == NULL)
        return false;
    *out = lc_str_trim(rest);
    return true;
}

/* Whether the other end is us, or root. */
static bool is_own_peer(const lc_server *server, const lc_http_request *request)
{
    uid_t uid;

    return server->has_peer_access && lc_http_peer_uid(request, &uid) &&
           (uid == geteuid() || uid == 0);
}

static void become_peer(lc_identity *out)
{
    *out = (lc_identity){
        /* No tenant: the engine's own. */
        .principal = {.size = sizeof out->principal,
                      .flags = LOCI_PRINCIPAL_ADMIN | LOCI_PRINCIPAL_TENANT_ADMIN},
        .scopes = LC_SCOPE_READ | LC_SCOPE_WRITE | LC_SCOPE_ADMIN,
        .token_id = "peer",
    };
}

loci_status lc_auth_check(lc_server *server, lc_http_request *request, lc_identity *out,
                          loci_error *err)
{
    loci_str header = lc_http_header(request, "Authorization");
    loci_str bearer;
    loci_status status = check_url(request, err);

    if (status != LOCI_OK)
        return status;
    if (header.ptr == NULL && is_own_peer(server, request)) {
        become_peer(out);
        return LOCI_OK;
    }
    if (!read_bearer(header, &bearer))
        return lc_token_refuse(err);
    return lc_token_authenticate(server->engine, bearer, lc_http_arena(request), out, err);
}

loci_status lc_auth_need(const lc_identity *who, unsigned scopes, loci_error *err)
{
    static const struct {
        unsigned scope;
        const char *name;
    } names[] = {{LC_SCOPE_READ, "read"}, {LC_SCOPE_WRITE, "write"}, {LC_SCOPE_ADMIN, "admin"}};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if ((scopes & names[i].scope & ~who->scopes) != 0)
            return lc_fail(err, LOCI_EFORBIDDEN, "the token does not have the scope \"%s\"",
                           names[i].name);
    }
    return LOCI_OK;
}
