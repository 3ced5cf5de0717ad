/* Identifying the caller, with requests made up here: the form of the header, the user id that the
 * kernel reports on a Unix socket, and tokens in forbidden places. */
#include "lib/calls.h"

#include <string.h>
#include <unistd.h>

/* The file under test, with the HTTP library replaced by the functions below. */
#define lc_auth_check check_made_up
#define lc_auth_need need_made_up
#define lc_http_header made_up_header
#define lc_http_path made_up_path
#define lc_http_query_at made_up_query_at
#define lc_http_peer_uid made_up_peer_uid
#define lc_http_arena made_up_arena
#include "server/auth.c"

struct lc_http_request {
    const char *authorization; /* NULL = none. */
    const char *path;
    const char *query_name, *query_value;
    bool is_unix;
    uid_t uid;
    lc_arena arena;
};

loci_str lc_http_header(const lc_http_request *request, const char *name)
{
    CHECK_STR_EQ(name, "Authorization");
    return request->authorization != NULL ? loci_str_of(request->authorization) : LC_STR_NONE;
}

loci_str lc_http_path(const lc_http_request *request)
{
    return loci_str_of(request->path != NULL ? request->path : "/v1/facts");
}

bool lc_http_query_at(const lc_http_request *request, size_t index, loci_str *name, loci_str *value)
{
    if (index > 0 || request->query_name == NULL)
        return false;
    *name = loci_str_of(request->query_name);
    *value = loci_str_of(request->query_value);
    return true;
}

bool lc_http_peer_uid(const lc_http_request *request, uid_t *out)
{
    *out = request->uid;
    return request->is_unix;
}

lc_arena *lc_http_arena(lc_http_request *request)
{
    return &request->arena;
}

static lc_server server;
static lc_identity who; /* Of the last check; its texts are gone. */

static loci_status check(lc_http_request request)
{
    lc_heap heap;
    loci_error err = {0}, usual;
    loci_status status;
    loci_str bearer;

    lc_heap_init(&heap, test_heap());
    lc_arena_init(&request.arena, &heap, LOCI_MEM_REQUESTS);
    status = lc_auth_check(&server, &request, &who, &bearer, &err);
    if (status == LOCI_OK && bearer.ptr != NULL) /* As the daemon's thread does. */
        status = lc_token_authenticate(server.engine, bearer, &request.arena, &who, &err);
    lc_arena_clear(&request.arena);
    if (status == LOCI_EAUTH) {
        (void)lc_token_refuse(&usual);
        CHECK_STR_EQ(err.message, usual.message);
    }
    CHECK(strstr(err.message, "loci_0") == NULL); /* A message never repeats the token. */
    return status;
}

static loci_status with_header(const char *authorization)
{
    return check((lc_http_request){.authorization = authorization});
}

static const char *open_server(void)
{
    loci_engine *engine = test_open(test_path(test_tmpdir(), "store.db"));
    loci_str made = test_call(engine, "token.create", "{\"name\":\"a\",\"scopes\":[\"read\"]}");

    memset(&server, 0, sizeof server);
    server.engine = engine;
    server.has_peer_access = true;
    return test_member_text(made, "token").ptr;
}

TEST(auth, a_bearer_token_is_read_in_any_spelling_of_the_scheme)
{
    const char *token = open_server();

    CHECK_STATUS(LOCI_OK, with_header(test_format("Bearer %s", token)));
    CHECK_EQ(who.scopes, LC_SCOPE_READ);
    CHECK_EQ(who.principal.flags, 0);
    CHECK_STATUS(LOCI_OK, with_header(test_format("bearer %s", token)));
    CHECK_STATUS(LOCI_OK, with_header(test_format(" BEARER   %s ", token)));
    test_close(server.engine);
}

TEST(auth, anything_else_is_refused)
{
    const char *token = open_server();
    const char *const wrong[] = {
        "",
        "Bearer",
        "Bearer ",
        token,
        test_format("Basic %s", token),
        test_format("Bearer%s", token),
        test_format("Bearer %s, Bearer %s", token, token),
        test_format("Bearer %s %s", token, token),
        test_format("Bearer \"%s\"", token),
        test_format("Bearers %s", token),
        test_format("Bearer %.74s", token),
    };

    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        CHECK_STATUS(LOCI_EAUTH, with_header(wrong[i]));
    CHECK_STATUS(LOCI_EAUTH, with_header(NULL));
    test_close(server.engine);
}

TEST(auth, our_own_user_on_the_unix_socket_is_an_admin)
{
    const char *token = open_server();
    lc_http_request own = {.is_unix = true, .uid = geteuid()};
    lc_http_request root = {.is_unix = true, .uid = 0};
    lc_http_request stranger = {.is_unix = true, .uid = geteuid() + 1};
    lc_http_request narrower = own, wrong = own;

    CHECK_STATUS(LOCI_OK, check(own));
    CHECK_STR_EQ(who.token_id, "peer");
    CHECK_EQ(who.scopes, LC_SCOPE_READ | LC_SCOPE_WRITE | LC_SCOPE_ADMIN);
    CHECK_EQ(who.principal.flags, LOCI_PRINCIPAL_ADMIN | LOCI_PRINCIPAL_TENANT_ADMIN);
    CHECK_STATUS(LOCI_OK, check(root));
    CHECK_STATUS(LOCI_EAUTH, check(stranger));
    narrower.authorization = test_format("Bearer %s", token);
    CHECK_STATUS(LOCI_OK, check(narrower)); /* If a token is sent, the token decides. */
    CHECK_EQ(who.scopes, LC_SCOPE_READ);
    wrong.authorization = "Bearer nonsense";
    CHECK_STATUS(LOCI_EAUTH, check(wrong));
    own.is_unix = false; /* Loopback is not enough. */
    CHECK_STATUS(LOCI_EAUTH, check(own));
    own.is_unix = true;
    server.has_peer_access = false;
    CHECK_STATUS(LOCI_EAUTH, check(own));
    test_close(server.engine);
}

/* URLs are logged by every proxy on the way: a good header does not make up for it. */
TEST(auth, a_token_in_a_url_is_refused)
{
    const char *token = open_server();
    lc_http_request request = {.authorization = test_format("Bearer %s", token)};

    request.path = test_format("/v1/%s", token);
    CHECK_STATUS(LOCI_EINVAL, check(request));
    request.path = NULL;
    request.query_name = "access_token";
    request.query_value = "x";
    CHECK_STATUS(LOCI_EINVAL, check(request));
    request.query_name = "key";
    CHECK_STATUS(LOCI_OK, check(request));
    request.query_value = token;
    CHECK_STATUS(LOCI_EINVAL, check(request));
    request.query_name = token;
    request.query_value = "";
    CHECK_STATUS(LOCI_EINVAL, check(request));
    test_close(server.engine);
}

TEST(auth, every_scope_that_is_needed_is_asked_for)
{
    lc_identity reader = {.scopes = LC_SCOPE_READ};
    loci_error err;

    CHECK_OK(lc_auth_need(&reader, LC_SCOPE_READ, &err), err);
    CHECK_OK(lc_auth_need(&reader, 0, &err), err);
    CHECK_STATUS(LOCI_EFORBIDDEN, lc_auth_need(&reader, LC_SCOPE_READ | LC_SCOPE_WRITE, &err));
    CHECK_CONTAINS(err.message, "\"write\"");
    CHECK_STATUS(LOCI_EFORBIDDEN, lc_auth_need(&reader, LC_SCOPE_ADMIN, &err));
    CHECK_CONTAINS(err.message, "\"admin\"");
}
