/* Paths and their operations: a request must never reach the operation of another path, and the
 * answer to a misspelt path must suggest the right one. */
#include "lib/test.h"

#include "base/str.h"
#include "server/route.h"

typedef struct routing {
    lc_heap heap;
    lc_arena arena;
    lc_routes routes;
    lc_route_match match;
    loci_error err;
} routing;

static void begin(routing *r, const lc_route_source *sources, size_t count)
{
    memset(r, 0, sizeof *r);
    lc_heap_init(&r->heap, test_heap());
    lc_arena_init(&r->arena, &r->heap, LOCI_MEM_REQUESTS);
    if (sources != NULL)
        CHECK_OK(lc_routes_init_from(&r->routes, &r->heap, sources, count, &r->err), r->err);
    else
        CHECK_OK(lc_routes_init(&r->routes, &r->heap, &r->err), r->err);
}

static void end(routing *r)
{
    lc_routes_clear(&r->routes);
    lc_arena_clear(&r->arena);
}

static loci_status find(routing *r, const char *method, const char *path)
{
    return lc_route_find(&r->routes, &r->arena, loci_str_of(method), loci_str_of(path), &r->match,
                         &r->err);
}

static const lc_route_source notes[] = {
    {"GET /v1/notes/{id}", LC_ROUTE_OPERATION, NULL},
    {"PUT /v1/notes/{id}", LC_ROUTE_OPERATION, NULL},
    {"GET /v1/notes", LC_ROUTE_OPERATION, NULL},
    {"POST /v1/notes", LC_ROUTE_OPERATION, NULL},
    {"GET /v1/notes/latest", LC_ROUTE_OPERATION, NULL},
    {"GET /v1/notes/{id}/lines/{line}", LC_ROUTE_OPERATION, NULL},
    {"GET /v1/notes/latest/lines/{line}", LC_ROUTE_OPERATION, NULL},
};

#define NOTE_COUNT (sizeof notes / sizeof notes[0])

TEST(route, a_literal_goes_before_a_parameter)
{
    routing r;

    begin(&r, notes, NOTE_COUNT);
    CHECK_OK(find(&r, "GET", "/v1/notes/latest"), r.err);
    CHECK_STR_EQ(r.match.route->path, "/v1/notes/latest");
    CHECK_EQ(r.match.param_count, 0);
    CHECK_OK(find(&r, "GET", "/v1/notes/n1"), r.err);
    CHECK_STR_EQ(r.match.route->path, "/v1/notes/{id}");
    CHECK_STR_EQ(r.match.params[0].name, "id");
    CHECK_STR_EQ(r.match.params[0].value, "n1");
    CHECK_OK(find(&r, "GET", "/v1/notes/latest/lines/7"), r.err);
    CHECK_STR_EQ(r.match.route->path, "/v1/notes/latest/lines/{line}");
    /* The literal has no PUT, so the parameter takes it. */
    CHECK_OK(find(&r, "PUT", "/v1/notes/latest"), r.err);
    CHECK_STR_EQ(r.match.params[0].value, "latest");
    end(&r);
}

TEST(route, parameters_are_decoded_and_cannot_leave_their_segment)
{
    routing r;

    begin(&r, notes, NOTE_COUNT);
    CHECK_OK(find(&r, "GET", "/v1/notes/a%2Fb%20c+d"), r.err);
    CHECK_STR_EQ(r.match.params[0].value, "a/b c+d");
    CHECK_OK(find(&r, "GET", "/v1/notes/..%2f../lines/%C3%A9"), r.err);
    CHECK_STR_EQ(r.match.params[0].value, "../..");
    CHECK_STR_EQ(r.match.params[1].value, "é");
    CHECK_OK(find(&r, "GET", "/v1/notes/%6Catest"), r.err);
    CHECK_STR_EQ(r.match.route->path, "/v1/notes/{id}");
    CHECK_STATUS(LOCI_EINVAL, find(&r, "GET", "/v1/notes/a%2"));
    CHECK_STATUS(LOCI_EINVAL, find(&r, "GET", "/v1/notes/%zz"));
    CHECK_STATUS(LOCI_EINVAL, find(&r, "GET", "/v1/notes/%00"));
    CHECK_STATUS(LOCI_EINVAL, find(&r, "GET", "/v1/notes/%ff"));
    end(&r);
}

TEST(route, head_comes_with_get_and_other_methods_are_told_what_is_allowed)
{
    char allow[LC_ALLOW_BYTES];
    routing r;

    begin(&r, notes, NOTE_COUNT);
    CHECK_OK(find(&r, "HEAD", "/v1/notes"), r.err);
    CHECK_STATUS(LOCI_EUNSUPPORTED, find(&r, "DELETE", "/v1/notes"));
    CHECK_CONTAINS(r.err.message, "GET, HEAD, POST, OPTIONS");
    CHECK_STATUS(LOCI_EUNSUPPORTED, find(&r, "get", "/v1/notes"));
    CHECK(lc_route_allow(&r.routes, LC_STR("/v1/notes/latest"), allow));
    CHECK_STR_EQ(allow, "GET, HEAD, PUT, OPTIONS");
    CHECK(!lc_route_allow(&r.routes, LC_STR("/v1/other"), allow));
    end(&r);
}

TEST(route, what_fits_nothing_is_told_what_is_near)
{
    static const char *const nowhere[] = {"",           "/",
                                          "//",         "v1/notes",
                                          "/v1//notes", "/V1/NOTES/x/y/z",
                                          "/v1/notes/", "/a/b/c/d/e/f/g/h/i/j"};
    routing r;

    begin(&r, notes, NOTE_COUNT);
    CHECK_STATUS(LOCI_ENOTFOUND, find(&r, "GET", "/v1/note"));
    CHECK_CONTAINS(r.err.message, "/v1/notes?");
    CHECK_STATUS(LOCI_ENOTFOUND, find(&r, "GET", "/v1/note/n1"));
    CHECK_CONTAINS(r.err.message, "/v1/notes/n1?");
    for (size_t i = 0; i < sizeof nowhere / sizeof nowhere[0]; i++)
        CHECK_STATUS(LOCI_ENOTFOUND, find(&r, "GET", nowhere[i]));
    end(&r);
}

TEST(route, routes_that_take_the_same_paths_are_refused)
{
    static const lc_route_source same[] = {{"GET /v1/a/{x}", LC_ROUTE_OPERATION, NULL},
                                           {"GET /v1/a/{y}", LC_ROUTE_OPERATION, NULL}};
    static const char *const bad[] = {"GET",
                                      "FETCH /v1/a",
                                      "HEAD /v1/a",
                                      "GET v1/a",
                                      "GET /v1//a",
                                      "GET /v1/{x}/{x}",
                                      "GET /a/b/c/d/e/f/g/h/i",
                                      "GET /{a}/{b}/{c}/{d}/{e}"};
    lc_routes routes = {0};
    lc_heap heap;
    loci_error err;

    lc_heap_init(&heap, test_heap());
    CHECK_STATUS(LOCI_EINTERNAL, lc_routes_init_from(&routes, &heap, same, 2, &err));
    CHECK_CONTAINS(err.message, "/v1/a/{x}");
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        lc_route_source source = {bad[i], LC_ROUTE_OPERATION, NULL};

        CHECK_STATUS(LOCI_EINTERNAL, lc_routes_init_from(&routes, &heap, &source, 1, &err));
    }
    lc_routes_clear(&routes);
}

/* The table itself: no two of its routes are the same, and each leads to its own operation. */
TEST(route, every_route_of_the_table_leads_to_its_operation)
{
    routing r;

    begin(&r, NULL, 0);
    for (size_t i = 0; i < lc_op_count(); i++) {
        const lc_op *op = lc_op_at(i);
        loci_str path = LC_STR_NONE;
        loci_str method;

        if (op->http == NULL)
            continue;
        method = lc_str_split(loci_str_of(op->http), ' ', &path);
        CHECK_OK(lc_route_find(&r.routes, &r.arena, method, path, &r.match, &r.err), r.err);
        CHECK_STR_EQ(r.match.route->op->name, op->name);
    }
    CHECK_OK(find(&r, "POST", "/v1/call/fact.write"), r.err);
    CHECK_EQ(r.match.route->kind, LC_ROUTE_CALL);
    CHECK_STR_EQ(r.match.params[0].value, "fact.write");
    CHECK_OK(find(&r, "POST", "/v1/batch"), r.err);
    CHECK_EQ(r.match.route->kind, LC_ROUTE_BATCH);
    CHECK_OK(find(&r, "GET", "/livez"), r.err);
    CHECK_EQ(r.match.route->kind, LC_ROUTE_LIVE);
    end(&r);
}
