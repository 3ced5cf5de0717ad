/* auth.c - identifies the caller: by a bearer token, or as our own user on the Unix socket.
 *
 * A token is required on TCP connections, loopback included: any program of this machine can open a
 * port, even a page in a browser. On the Unix socket the kernel reports the user at the other end;
 * our own user and root can read the store's file anyway and need no token. If they send one, the
 * token decides. A token in a URL is refused even if it is valid, because URLs end up in logs and
 * browser histories.
 */
#include "server/parts.h"

#include <strings.h>
#include <unistd.h>

#include "base/error.h"
#include "base/str.h"
#include "ops/surface.h"

#define SCHEME "Bearer"

static loci_status fail_url(loci_error *err)
{
    return lc_fail(err, LOCI_EINVAL,
                   "a token does not belong in a URL, because URLs are logged: send it as "
                   "\"Authorization: Bearer loci_…\", and revoke it if it is a real one");
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

loci_status lc_auth_check(lc_server *server, lc_http_request *request, lc_identity *out,
                          loci_str *out_bearer, loci_error *err)
{
    loci_str header = lc_http_header(request, "Authorization");
    loci_str scheme, token;
    loci_status status = check_url(request, err);
    bool must_ask = false;
    uid_t uid;

    *out_bearer = LC_STR_NONE;
    if (status != LOCI_OK)
        return status;
    if (header.ptr == NULL && server->has_peer_access && lc_http_peer_uid(request, &uid) &&
        (uid == geteuid() || uid == 0)) {
        *out = (lc_identity){
            /* No tenant: the engine's default one. */
            .principal = {.size = sizeof out->principal,
                          .flags = LOCI_PRINCIPAL_ADMIN | LOCI_PRINCIPAL_TENANT_ADMIN},
            .scopes = LC_SCOPE_READ | LC_SCOPE_WRITE | LC_SCOPE_ADMIN,
            .token_id = "peer",
            .sees_metrics = true,
        };
        return LOCI_OK;
    }
    /* "Bearer TOKEN"; with two tokens, what is behind the first space is not one. */
    scheme = lc_str_split(lc_str_trim(header), ' ', &token);
    if (scheme.len != sizeof SCHEME - 1 || strncasecmp(scheme.ptr, SCHEME, scheme.len) != 0 ||
        token.ptr == NULL)
        return lc_token_refuse(err);
    token = lc_str_trim(token);
    status = lc_token_recall(server->engine, token, lc_http_arena(request), out, &must_ask, err);
    if (status == LOCI_OK && must_ask)
        *out_bearer = token;
    return status;
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
