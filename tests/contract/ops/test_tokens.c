/* Tokens: which are good, for how long, and that nothing tells a bad one from another. */
#include "contract/token_fixture.h"

#include <dirent.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "base/clock.h"
#include "base/str.h"

static const char *new_store(void)
{
    return test_store(test_tmpdir(), "store.db");
}

static char *by_id(loci_str answer, const char *more)
{
    return test_format("{\"id\":\"%s\"%s}", test_member_text(answer, "id").ptr, more);
}

TEST(tokens, a_new_token_says_who_is_calling)
{
    loci_engine *engine = test_open(new_store());
    loci_str made = token_make(engine, "{'name':'ci','user_id':'ann','persona_id':'p',"
                                       "'authority':'intern','trust':'tool'}");
    lc_token_identity who = token_identity(engine, made);

    CHECK_STR_EQ(who.principal.tenant, "default");
    CHECK_STR_EQ(who.principal.user, "ann");
    CHECK_STR_EQ(who.principal.persona, "p");
    CHECK_STR_EQ(who.principal.authority, "intern");
    CHECK_STR_EQ(who.principal.trust, "tool");
    CHECK_EQ(who.principal.flags, 0);
    CHECK_EQ(who.scopes, LC_SCOPE_READ | LC_SCOPE_WRITE);
    CHECK_STR_EQ(who.token_id, test_member_text(made, "id"));
    who = token_identity(engine, made); /* Again, from the cache. */
    CHECK_STR_EQ(who.principal.user, "ann");
    CHECK_STR_EQ(test_member(made, "expires_at"), "null");
    CHECK_CONTAINS(test_member_text(made, "note"), "not shown again");
    test_close(engine);
}

/* ---- Bad ones -------------------------------------------------------------------------------- */

TEST(tokens, whatever_is_wrong_is_refused_in_the_same_words)
{
    loci_engine *engine = test_open(new_store());
    loci_str good = test_member_text(token_make(engine, "{'name':'a'}"), "token");
    loci_str other = test_member_text(token_make(engine, "{'name':'b'}"), "token");
    char *text = test_format("%s", good.ptr), *mixed;

    CHECK_STATUS(LOCI_OK, token_show(engine, good, NULL));
    CHECK_STATUS(LOCI_EAUTH, token_show(engine, LC_STR(""), NULL));
    CHECK_STATUS(LOCI_EAUTH, token_show(engine, LC_STR_NONE, NULL));
    for (size_t len = 1; len < good.len; len++)
        CHECK_STATUS(LOCI_EAUTH, token_show(engine, (loci_str){good.ptr, len}, NULL));
    CHECK_STATUS(LOCI_EAUTH, token_show(engine, loci_str_of(test_format("%sA", good.ptr)), NULL));
    CHECK_STATUS(LOCI_EAUTH, token_show(engine, loci_str_of(test_format(" %s", good.ptr)), NULL));
    /* This one's id with the other's secret, and an id that nobody has; the check letters fit. */
    mixed = test_format("%.32s%s", good.ptr, other.ptr + 32);
    lc_token_text_seal(mixed);
    CHECK_STATUS(LOCI_EAUTH, token_show(engine, loci_str_of(mixed), NULL));
    text[20] = text[20] == '0' ? '1' : '0';
    lc_token_text_seal(text);
    CHECK_STATUS(LOCI_EAUTH, token_show(engine, loci_str_of(text), NULL));
    text[20] = good.ptr[20];
    for (size_t i = 32; i < good.len - 1; i++) {
        text[i] = text[i] == 'A' ? 'B' : 'A';
        if (i < good.len - LC_TOKEN_CHECK_LEN)
            lc_token_text_seal(text);
        CHECK_STATUS(LOCI_EAUTH, token_show(engine, loci_str_of(text), NULL));
        text[i] = good.ptr[i];
        lc_token_text_seal(text);
    }
    CHECK_STATUS(LOCI_OK, token_show(engine, loci_str_of(text), NULL));
    test_close(engine);
}

TEST(tokens, a_damaged_row_is_corrupt_and_nobody)
{
    const char *store = new_store();
    loci_engine *engine = test_open(store);
    loci_str made = token_make(engine, "{'name':'a'}");
    loci_str text = test_member_text(made, "token");

    test_store_run(store, "update tokens set scopes = 64");
    CHECK_STATUS(LOCI_ECORRUPT, token_show(engine, text, NULL));
    test_store_run(store, "update tokens set scopes = 3, tenant_id = ''");
    CHECK_STATUS(LOCI_ECORRUPT, token_show(engine, text, NULL));
    test_store_run(store, "update tokens set tenant_id = 'default', secret_hash = x'00'");
    CHECK_STATUS(LOCI_ECORRUPT, token_show(engine, text, NULL));
    test_store_run(store, "update tokens set secret_hash = zeroblob(32)");
    CHECK_STATUS(LOCI_EAUTH, token_show(engine, text, NULL));
    loci_close(engine);
}

/* ---- Ending ---------------------------------------------------------------------------------- */

TEST(tokens, a_revoked_token_ends_at_once)
{
    loci_engine *engine = test_open(new_store());
    loci_str made = token_make(engine, "{'name':'a'}"), first, again;

    CHECK(token_is_good(engine, made)); /* And is cached. */
    first = test_call(engine, "token.revoke", "%s", by_id(made, ""));
    CHECK(!token_is_good(engine, made));
    CHECK_STR_EQ(test_member_text(first, "status"), "revoked");
    again = test_call(engine, "token.revoke", "%s", by_id(made, ""));
    CHECK_STR_EQ(test_member(again, "revoked_at"), test_member(first, "revoked_at"));
    test_close(engine);
}

/* Also when it is a batch that does it, and not its last call. */
TEST(tokens, a_batch_ends_them_too)
{
    loci_engine *engine = test_open(new_store());
    loci_str made = token_make(engine, "{'name':'a'}");
    loci_request requests[] = {
        {"token.revoke", loci_str_of(by_id(made, "")), LOCI_AT_CLOCK},
        {"fact.write", LC_STR("{\"key\":\"k\",\"value\":1}"), LOCI_AT_CLOCK},
    };
    loci_answer *answer = NULL;
    loci_error err;

    CHECK(token_is_good(engine, made));
    CHECK_OK(loci_call_many(engine, requests, 2, NULL, &answer, &err), err);
    loci_answer_free(answer);
    CHECK(!token_is_good(engine, made));
    test_close(engine);
}

TEST(tokens, another_process_notices_within_a_second)
{
    const char *store = new_store();
    loci_engine *engine = test_open(store), *elsewhere = test_open(store);
    loci_str made = token_make(engine, "{'name':'a'}");
    int64_t since_us;

    CHECK(token_is_good(elsewhere, made));
    test_call(engine, "token.revoke", "%s", by_id(made, ""));
    since_us = lc_clock_monotonic_us();
    while (token_is_good(elsewhere, made)) {
        CHECK_LT(lc_clock_monotonic_us() - since_us, 1500000);
        lc_clock_sleep_us(20000);
    }
    test_close(elsewhere);
    test_close(engine);
}

static int64_t stand_still(void *ctx)
{
    (void)ctx;
    return INT64_C(1000000000000000); /* 2001 */
}

/* An injected clock must not keep a token alive, nor a cached one outlive its time. */
/* Two made in one millisecond stand in either order in the list. */
static loci_str status_in_list(loci_engine *engine, loci_str made)
{
    loci_str list = test_call(engine, "token.list", "{}");
    loci_str first = test_member_text(list, "tokens.0.id");
    bool is_first = lc_str_eq(first, test_member_text(made, "id"));

    return test_member_text(list, is_first ? "tokens.0.status" : "tokens.1.status");
}

TEST(tokens, expiry_follows_the_system_clock)
{
    loci_open_options options = test_open_options(new_store());
    loci_engine *engine;
    loci_error err;
    loci_str made, late;

    options.clock = stand_still;
    CHECK_OK(loci_open(&options, &engine, &err), err);
    made = token_make(engine, "{'name':'a','ttl_s':1}");
    late = token_make(engine, "{'name':'b','ttl_s':1000}");
    CHECK(token_is_good(engine, made));
    lc_clock_sleep_us(900000);
    (void)token_is_good(engine, made); /* Cached anew, shortly before its end. */
    lc_clock_sleep_us(150000);
    CHECK(!token_is_good(engine, made));
    CHECK(token_is_good(engine, late));
    CHECK_STR_EQ(status_in_list(engine, made), "expired");
    CHECK_STR_EQ(status_in_list(engine, late), "active");
    CHECK_STATUS(LOCI_ECONFLICT,
                 test_try(engine, "token.rotate", loci_str_of(by_id(made, "")), &err));
    CHECK_CONTAINS(err.message, "expired");
    test_close(engine);
}

TEST(tokens, an_end_that_has_passed_is_refused)
{
    loci_engine *engine = test_open(new_store());
    loci_error err;

    CHECK_STATUS(LOCI_EINVAL,
                 test_try(engine, "token.create",
                          LC_STR("{\"name\":\"a\",\"expires_at\":\"2001-01-01T00:00:00Z\"}"),
                          &err));
    CHECK_STATUS(
        LOCI_EINVAL,
        test_try(engine, "token.create",
                 LC_STR("{\"name\":\"a\",\"ttl_s\":5,\"expires_at\":\"2999-01-01T00:00:00Z\"}"),
                 &err));
    CHECK(token_is_good(
        engine, token_make(engine, "{'name':'a','expires_at':'9999-12-31T23:59:59.999999Z'}")));
    test_close(engine);
}

/* ---- Rotating -------------------------------------------------------------------------------- */

TEST(tokens, rotation_keeps_both_for_the_overlap)
{
    loci_engine *engine = test_open(new_store());
    loci_str old = token_make(engine, "{'name':'a','user_id':'ann','scopes':['read'],"
                                      "'authority':'guest','ttl_s':100}");
    loci_str next = test_call(engine, "token.rotate", "%s", by_id(old, ",\"overlap_s\":1"));
    lc_token_identity who = token_identity(engine, next);
    loci_error err;

    CHECK(token_is_good(engine, old));
    CHECK_STR_EQ(test_member_text(next, "replaces"), test_member_text(old, "id"));
    CHECK_STR_EQ(who.principal.user, "ann");
    CHECK_STR_EQ(who.principal.authority, "guest");
    CHECK_EQ(who.scopes, LC_SCOPE_READ);
    CHECK(test_member(next, "expires_at").ptr[0] == '"'); /* The old one's 100 s, from now. */
    CHECK_STATUS(LOCI_ECONFLICT,
                 test_try(engine, "token.rotate", loci_str_of(by_id(old, "")), &err));
    CHECK_CONTAINS(err.message, "was replaced by");
    lc_clock_sleep_us(1050000);
    CHECK(!token_is_good(engine, old));
    CHECK(token_is_good(engine, next));
    test_close(engine);
}

TEST(tokens, rotation_without_overlap_ends_the_old_one_at_once)
{
    loci_engine *engine = test_open(new_store());
    loci_str old = token_make(engine, "{'name':'a'}"), next;
    loci_error err;

    CHECK(token_is_good(engine, old));
    next = test_call(engine, "token.rotate", "%s", by_id(old, ",\"overlap_s\":0"));
    CHECK(!token_is_good(engine, old));
    CHECK(token_is_good(engine, next));
    CHECK_STR_EQ(test_member(next, "expires_at"), "null");
    test_call(engine, "token.revoke", "%s", by_id(next, ""));
    CHECK_STATUS(LOCI_ECONFLICT,
                 test_try(engine, "token.rotate", loci_str_of(by_id(next, "")), &err));
    CHECK_CONTAINS(err.message, "revoked");
    test_close(engine);
}

/* ---- Whether there are any ------------------------------------------------------------------- */

/* A daemon without any would be a public address that nobody can use, or everybody. */
TEST(tokens, one_good_token_is_one)
{
    loci_engine *engine = test_open(new_store());
    loci_principal other = {.tenant = "other", .flags = LOCI_PRINCIPAL_ADMIN};
    loci_str made;
    loci_error err;

    CHECK(!lc_token_exists_any(engine));
    made = token_make(engine, "{'name':'a'}");
    CHECK(lc_token_exists_any(engine));
    test_call(engine, "token.revoke", "%s", by_id(made, ""));
    CHECK(!lc_token_exists_any(engine));
    CHECK_OK(token_call_as(engine, &other, "token.create", "{\"name\":\"b\"}", NULL, &err), err);
    CHECK(lc_token_exists_any(engine));
    test_close(engine);
}

/* ---- Where the secret is not ----------------------------------------------------------------- */

static char logged[100000];

static void keep_log(void *ctx, loci_log_level level, const char *event, loci_str fields)
{
    size_t len = strlen(logged);

    (void)ctx;
    (void)level;
    if (len + fields.len + strlen(event) + 2 < sizeof logged) {
        memcpy(logged + len, event, strlen(event) + 1);
        memcpy(logged + strlen(logged), fields.ptr, fields.len);
    }
}

static bool holds(loci_str text, const void *part, size_t bytes)
{
    return memmem(text.ptr, text.len, part, bytes) != NULL;
}

static void expect_no_secret(loci_str content, loci_str token, const unsigned char secret[32])
{
    CHECK(!holds(content, token.ptr + 32, 43));
    CHECK(!holds(content, token.ptr + 40, 20));
    CHECK(!holds(content, secret, 32));
}

/* The secret's letters and its bytes, in every file beside the store, and in what it holds. */
static void hunt(const char *dir, loci_str token, const unsigned char secret[32])
{
    DIR *open = opendir(dir);
    int files = 0;

    CHECK(open != NULL);
    expect_no_secret(test_store_content(test_store(dir, "store.db")), token, secret);
    for (const struct dirent *each = readdir(open); each != NULL; each = readdir(open)) {
        if (each->d_name[0] == '.')
            continue;
        expect_no_secret(test_read_file(test_path(dir, each->d_name)), token, secret);
        files++;
    }
    (void)closedir(open);
    CHECK_LE(test_is_postgres() ? 0 : 2, files); /* The store and its WAL, at least. */
}

static void decode(loci_str token, unsigned char out[33])
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    unsigned bits = 0, count = 0;
    size_t len = 0;

    for (size_t i = 32; i < token.len - LC_TOKEN_CHECK_LEN; i++) {
        bits = bits << 6 | (unsigned)(strchr(letters, token.ptr[i]) - letters);
        count += 6;
        if (count >= 8)
            out[len++] = (unsigned char)(bits >> (count -= 8));
    }
    CHECK_EQ(len, 32);
}

TEST(tokens, no_store_and_no_log_holds_the_secret)
{
    const char *dir = test_tmpdir();
    loci_open_options options = test_open_options(test_store(dir, "store.db"));
    unsigned char secret[33];
    loci_str made, next, token;
    loci_engine *engine;
    loci_error err;

    logged[0] = '\0';
    options.log = keep_log;
    options.settings = "{\"log.level\":\"debug\"}";
    CHECK_OK(loci_open(&options, &engine, &err), err);
    made = token_make(engine, "{'name':'a','request_id':'r1'}");
    CHECK(token_is_good(engine, made));
    next = test_call(engine, "token.rotate", "%s", by_id(made, ",\"request_id\":\"r2\""));
    for (int i = 0; i < 2; i++) {
        token = test_member_text(i == 0 ? made : next, "token");
        decode(token, secret);
        hunt(dir, token, secret);
        CHECK(strstr(logged, token.ptr + 32) == NULL);
        CHECK(test_store_number(test_store(dir, "store.db"), "select count(*) from requests") == 2);
    }
    CHECK(logged[0] != '\0');
    test_close(engine);
}

/* ---- Several at once ------------------------------------------------------------------------- */

typedef struct bearer {
    loci_engine *engine;
    loci_str text;
    _Atomic bool is_revoked;
    int refusals;
    bool was_late; /* It was let in after it was revoked. */
} bearer;

static void *call_on(void *ctx)
{
    bearer *b = ctx;

    while (b->refusals < 3) {
        bool is_revoked = atomic_load(&b->is_revoked);
        loci_status status = token_show(b->engine, b->text, NULL);

        b->was_late |= is_revoked && status == LOCI_OK;
        b->refusals += status == LOCI_EAUTH;
    }
    return NULL;
}

/* Once the revocation has answered nobody gets in, however busy the token is. */
TEST(tokens, threads_see_a_revocation_at_once)
{
    loci_engine *engine = test_open_threads(new_store());

    for (int round = 0; round < 10; round++) {
        loci_str made = token_make(engine, "{'name':'a'}");
        bearer bearers[3];
        pthread_t threads[3];

        for (int i = 0; i < 3; i++) {
            bearers[i] = (bearer){.engine = engine, .text = test_member_text(made, "token")};
            CHECK_EQ(pthread_create(&threads[i], NULL, call_on, &bearers[i]), 0);
        }
        lc_clock_sleep_us(2000);
        test_call(engine, "token.revoke", "%s", by_id(made, ""));
        for (int i = 0; i < 3; i++)
            atomic_store(&bearers[i].is_revoked, true);
        for (int i = 0; i < 3; i++)
            CHECK_EQ(pthread_join(threads[i], NULL), 0);
        for (int i = 0; i < 3; i++)
            CHECK(!bearers[i].was_late);
    }
    test_close(engine);
}
