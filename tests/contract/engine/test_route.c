/* Tenants in several databases (engine/route.h), on both stores: where rows are, what happens when
 * a database is missing, and how a tenant moves. */
#include "lib/calls.h"

#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/str.h"
#include "lib/files.h"

#define PATIENCE_US 20000000

typedef struct places {
    const char *main, *east, *west;
    const char *list; /* File of store.databases. */
} places;

static places make_places(void)
{
    const char *dir = test_tmpdir();
    places p = {test_store(dir, "main.db"), test_store(dir, "east.db"), test_store(dir, "west.db"),
                test_path(dir, "databases")};

    test_write_file(p.list, loci_str_of(test_format("east %s\n\n west  %s \n", p.east, p.west)));
    return p;
}

static loci_status try_open(const places *p, const char *routes, uint32_t flags, loci_engine **out,
                            loci_error *err)
{
    loci_open_options options = test_open_options(p->main);

    options.flags = (options.flags & ~(uint32_t)LOCI_OPEN_INLINE) | flags;
    options.settings = test_format("{\"store.databases\":{\"file\":\"%s\"},\"session.idle_minutes\""
                                   ":20%s%s}",
                                   p->list, routes[0] != '\0' ? ",\"store.routes\":" : "", routes);
    return loci_open(&options, out, err);
}

/* Routes as a JSON text with escaped quotes; none: those that are stored. */
static loci_engine *open_routed(const places *p, const char *routes, uint32_t flags)
{
    loci_engine *engine = NULL;
    loci_error err;

    CHECK_OK(try_open(p, routes, flags, &engine, &err), err);
    return engine;
}

static loci_str copy_of(loci_str text)
{
    return (loci_str){memcpy(test_bytes(text.len + 1), text.ptr, text.len), text.len};
}

/* A call of an administrator of the tenant, or of the store if it has none. */
static loci_status call_as(loci_engine *engine, const char *tenant, const char *operation,
                           const char *args, loci_str *out, loci_error *err)
{
    loci_call_options options = LOCI_CALL_OPTIONS_INIT;
    loci_principal principal = {.size = sizeof principal, .tenant = tenant};
    loci_answer *answer = NULL;
    loci_status status;

    principal.flags = LOCI_PRINCIPAL_TENANT_ADMIN;
    if (tenant != NULL)
        options.principal = &principal;
    status = loci_call(engine, operation, loci_str_of(test_json(args)), &options, &answer, err);
    if (status == LOCI_OK && out != NULL)
        *out = copy_of(loci_answer_json(answer));
    loci_answer_free(answer);
    return status;
}

static loci_status write_as(loci_engine *engine, const char *tenant, int value, loci_error *err)
{
    return call_as(engine, tenant, "fact.write", test_format("{'key':'k','value':%d}", value), NULL,
                   err);
}

static void expect(loci_engine *engine, const char *tenant, int value)
{
    loci_str answer;
    loci_error err;

    CHECK_OK(call_as(engine, tenant, "fact.current", "{'key':'k'}", &answer, &err), err);
    CHECK_STR_EQ(test_member(answer, "value"), test_format("%d", value));
}

/* Whether the store holds the fact of that tenant. */
static bool holds(const char *store, const char *tenant)
{
    loci_engine *engine = test_open(store);
    loci_error err;
    loci_status status = call_as(engine, tenant, "fact.current", "{'key':'k'}", NULL, &err);

    test_close(engine);
    CHECK(status == LOCI_OK || status == LOCI_ENOTFOUND);
    return status == LOCI_OK;
}

#define ROUTES                                                                                     \
    "\"{\\\"acme\\\":\\\"east\\\",\\\"eu-*\\\":\\\"west\\\",\\\"eu-a*\\\":\\\"east\\\","           \
    "\\\"gone\\\":\\\"-\\\",\\\"lost\\\":\\\"north\\\"}\""

static void check_places(uint32_t flags)
{
    places p = make_places();
    loci_engine *engine = open_routed(&p, ROUTES, flags);
    static const char *const tenants[] = {"acme", "eu-1", "eu-ab", "other"};
    loci_error err;

    for (int i = 0; i < 4; i++)
        CHECK_OK(write_as(engine, tenants[i], i, &err), err);
    for (int i = 0; i < 4; i++)
        expect(engine, tenants[i], i);
    CHECK_STATUS(LOCI_EUNAVAILABLE, write_as(engine, "gone", 1, &err));
    CHECK(strstr(err.message, "gone") != NULL);
    CHECK_STATUS(LOCI_EUNAVAILABLE, write_as(engine, "lost", 1, &err));
    loci_close(engine);
    for (int i = 0; i < 4; i++) {
        CHECK_EQ(holds(p.east, tenants[i]), i == 0 || i == 2);
        CHECK_EQ(holds(p.west, tenants[i]), i == 1);
        CHECK_EQ(holds(p.main, tenants[i]), i == 3);
    }
}

TEST(route, tenants_are_in_the_databases_that_the_table_names)
{
    check_places(0);
}

TEST(route, an_engine_without_threads_routes_too)
{
    check_places(LOCI_OPEN_INLINE);
}

/* Tokens and settings are the main store's, whichever database the tenant is in. */
TEST(route, credentials_and_settings_stay_in_the_main_store)
{
    places p = make_places();
    loci_engine *engine = open_routed(&p, ROUTES, 0);
    loci_str answer;
    loci_error err;

    CHECK_OK(call_as(engine, "acme", "token.create", "{'name':'t','scopes':['read']}", NULL, &err),
             err);
    CHECK_OK(call_as(engine, "acme", "config.set", "{'name':'call.timeout_ms','value':4321}", NULL,
                     &err),
             err);
    CHECK_OK(call_as(engine, "acme", "config.get", "{'name':'call.timeout_ms'}", &answer, &err),
             err);
    CHECK_EQ(test_member_int(answer, "value"), 4321);
    loci_close(engine);
    engine = test_open(p.main);
    CHECK_OK(call_as(engine, "acme", "token.list", "{}", &answer, &err), err);
    CHECK(strstr(answer.ptr, "\"t\"") != NULL);
    CHECK_OK(call_as(engine, "acme", "config.get", "{'name':'call.timeout_ms'}", &answer, &err),
             err);
    CHECK_EQ(test_member_int(answer, "value"), 4321);
    test_close(engine);
}

/* Batches and streams go the same way as calls. */
TEST(route, batches_and_subscriptions_are_routed)
{
    places p = make_places();
    loci_engine *engine = open_routed(&p, ROUTES, 0);
    loci_request requests[] = {
        {.operation = "fact.write", .args = LC_STR("{\"key\":\"k\",\"value\":7}")},
        {.operation = "store.status", .args = LC_STR("{}")}};
    loci_principal principal = {.size = sizeof principal, .tenant = "acme"};
    loci_call_options options = LOCI_CALL_OPTIONS_INIT;
    loci_subscribe_options follow = LOCI_SUBSCRIBE_OPTIONS_INIT;
    loci_subscription *stream = NULL;
    loci_answer *answer = NULL;
    loci_error err;

    options.principal = follow.principal = &principal;
    follow.after_seq = 0;
    CHECK_OK(loci_call_many(engine, requests, 1, &options, NULL, &err), err);
    CHECK_OK(loci_subscribe(engine, &follow, &stream, &err), err);
    CHECK_OK(loci_subscription_next(stream, &answer, NULL, &err), err);
    CHECK(answer != NULL);
    loci_answer_free(answer);
    loci_subscription_close(stream);
    principal.flags = LOCI_PRINCIPAL_ADMIN;
    CHECK_STATUS(LOCI_EUNSUPPORTED, loci_call_many(engine, requests, 2, &options, NULL, &err));
    loci_close(engine);
    CHECK(holds(p.east, "acme"));
}

TEST(route, a_database_that_is_missing_affects_its_tenants_only)
{
    const char *dir = test_path(test_tmpdir(), "later");
    places p = make_places();
    int64_t until_us = lc_clock_monotonic_us() + PATIENCE_US;
    loci_engine *engine;
    loci_str answer;
    loci_error err;

    p.east = test_path(dir, "east.db");
    test_write_file(p.list, loci_str_of(test_format("east %s\nwest %s", p.east, p.west)));
    engine = open_routed(&p, ROUTES, 0);
    CHECK_STATUS(LOCI_EUNAVAILABLE, write_as(engine, "acme", 1, &err));
    CHECK(strstr(err.message, "east") != NULL);
    CHECK_OK(write_as(engine, "eu-1", 1, &err), err);
    CHECK_OK(write_as(engine, "other", 1, &err), err);
    CHECK_OK(call_as(engine, NULL, "store.status", "{}", &answer, &err), err);
    CHECK_STR_EQ(test_member(answer, "databases.0.open"), "false");
    CHECK_STR_EQ(test_member(answer, "databases.1.open"), "true");
    CHECK_STR_EQ(test_member(answer, "databases.1.name"), "\"west\"");
    CHECK_LE(2, test_member_int(answer, "counters.writes"));
    CHECK_EQ(mkdir(dir, 0700), 0);
    while (write_as(engine, "acme", 2, &err) != LOCI_OK) {
        CHECK_LT(lc_clock_monotonic_us(), until_us);
        lc_clock_sleep_us(20000);
    }
    expect(engine, "acme", 2);
    loci_close(engine);
}

TEST(route, lists_and_tables_that_cannot_be_read_are_refused)
{
    static const char *const lists[] = {"east", "east \n", "a%20b", "one %s\none %s"};
    places p = make_places();
    loci_engine *engine = NULL;
    loci_error err;

    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        test_write_file(p.list, loci_str_of(lists[i]));
        CHECK_STATUS(LOCI_EINVAL, try_open(&p, "", LOCI_OPEN_INLINE, &engine, &err));
        CHECK(strstr(err.message, "store.databases") != NULL);
    }
    p = make_places();
    engine = open_routed(&p, "\"[]\"", LOCI_OPEN_INLINE); /* The place of no tenant is known. */
    CHECK_STATUS(LOCI_EUNAVAILABLE, write_as(engine, "other", 1, &err));
    CHECK_OK(call_as(engine, NULL, "store.status", "{}", NULL, &err), err);
    loci_close(engine);
}

static loci_subscription *follow(loci_engine *engine, const char *tenant, uint32_t flags)
{
    loci_principal principal = {.size = sizeof principal, .tenant = tenant};
    loci_subscribe_options options = LOCI_SUBSCRIBE_OPTIONS_INIT;
    loci_subscription *sub = NULL;
    loci_error err;

    options.principal = &principal;
    options.flags = flags;
    options.after_seq = -1;
    CHECK_OK(loci_subscribe(engine, &options, &sub, &err), err);
    return sub;
}

static bool is_readable(loci_subscription *sub, int timeout_ms)
{
    struct pollfd fd = {.fd = loci_subscription_fd(sub), .events = POLLIN};

    return poll(&fd, 1, timeout_ms) == 1;
}

/* Reads until nothing is waiting; the number of events. */
static int drain(loci_subscription *sub)
{
    int count = -1;
    loci_answer *answer;
    loci_error err;

    do {
        answer = NULL;
        CHECK_OK(loci_subscription_next(sub, &answer, NULL, &err), err);
        loci_answer_free(answer);
        count++;
    } while (answer != NULL);
    return count;
}

/* The procedure of docs/scale.md, beside an engine that has not heard of the new route. */
TEST(route, a_tenant_moves_and_an_old_route_cannot_write)
{
    places p = make_places();
    loci_engine *engine = open_routed(&p, "", 0), *late = open_routed(&p, "\"{}\"", 0), *east;
    const char *file = test_path(test_tmpdir(), "acme.jsonl");
    loci_subscription *one, *all, *other, *after;
    loci_answer *answer = NULL;
    loci_error err;

    CHECK_OK(write_as(engine, "acme", 1, &err), err);
    CHECK_OK(write_as(late, "other", 5, &err), err);
    one = follow(engine, "acme", 0);
    all = follow(engine, "acme", LOCI_SUBSCRIBE_ALL_USERS);
    other = follow(engine, "other", 0);
    test_call(engine, "tenant.close", "{'tenant':'acme'}");
    CHECK_STATUS(LOCI_EUNAVAILABLE, write_as(engine, "acme", 2, &err));
    CHECK_STATUS(LOCI_EUNAVAILABLE, write_as(late, "acme", 3, &err));
    CHECK(strstr(err.message, "moved") != NULL);
    CHECK_OK(write_as(late, "other", 6, &err), err);
    expect(late, "acme", 1); /* It can be read meanwhile. */
    CHECK_EQ(test_member_int(
                 test_call(engine, "store.export", "{'path':'%s','tenant':'acme'}", file), "users"),
             1);
    east = test_open(p.east);
    test_call(east, "store.import", "{'path':'%s'}", file);
    test_close(east);
    CHECK_EQ(drain(one) + drain(all), 0);
    CHECK_EQ(drain(other), 1);
    CHECK_OK(
        test_try(engine, "config.set",
                 LC_STR("{\"name\":\"store.routes\",\"value\":\"{\\\"acme\\\":\\\"east\\\"}\"}"),
                 &err),
        err);
    CHECK_OK(write_as(engine, "acme", 4, &err), err);
    expect(engine, "acme", 4);
    CHECK_STATUS(LOCI_EUNAVAILABLE, write_as(late, "acme", 7, &err));
    /* The old database has no more events for them: they end, so that clients open new ones. */
    CHECK(is_readable(one, PATIENCE_US / 1000));
    CHECK_STATUS(LOCI_EUNAVAILABLE, loci_subscription_next(one, &answer, NULL, &err));
    CHECK(is_readable(all, PATIENCE_US / 1000));
    CHECK_STATUS(LOCI_EUNAVAILABLE, loci_subscription_next(all, &answer, NULL, &err));
    CHECK_EQ(drain(other), 0);
    after = follow(engine, "acme", 0);
    CHECK_OK(write_as(engine, "acme", 5, &err), err);
    CHECK_EQ(drain(after), 1);
    loci_subscription_close(one);
    loci_subscription_close(all);
    loci_subscription_close(other);
    loci_subscription_close(after);
    loci_close(late);
    test_call(engine, "tenant.open", "{'tenant':'acme'}");
    loci_close(engine);
    CHECK(holds(p.east, "acme"));
    CHECK(!holds(p.east, "other"));
    engine = open_routed(&p, "\"{}\"", LOCI_OPEN_INLINE); /* The old place is open again. */
    CHECK_OK(write_as(engine, "acme", 8, &err), err);
    loci_close(engine);
}
