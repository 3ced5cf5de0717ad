/* Who may manage which tokens, and that nobody hands out more than it has. */
#include "contract/token_fixture.h"

#include <string.h>

#include "base/limits.h"
#include "base/str.h"

static const char *new_store(void)
{
    return test_store(test_tmpdir(), "store.db");
}

static char *by_id(loci_str answer)
{
    return test_format("{\"id\":\"%s\"}", test_member_text(answer, "id").ptr);
}

/* ---- Scopes ---------------------------------------------------------------------------------- */

TEST(token_rights, admin_includes_the_other_scopes)
{
    loci_engine *engine = test_open(new_store());
    lc_token_identity who;

    who = token_identity(engine, token_make(engine, "{'name':'a','scopes':['admin']}"));
    CHECK_EQ(who.scopes, LC_SCOPE_READ | LC_SCOPE_WRITE | LC_SCOPE_ADMIN);
    who = token_identity(engine, token_make(engine, "{'name':'a','scopes':['write']}"));
    CHECK_EQ(who.scopes, LC_SCOPE_WRITE);
    who = token_identity(engine, token_make(engine, "{'name':'a','scopes':['read','read']}"));
    CHECK_EQ(who.scopes, LC_SCOPE_READ);
    test_close(engine);
}

/* Only a token of the engine's own tenant, with nothing taken away, is about the whole store. */
TEST(token_rights, admins_of_the_store_are_those_of_its_own_tenant)
{
    const char *const lesser[] = {"\"user_id\":\"u\"", "\"persona_id\":\"p\"",
                                  "\"authority\":\"policy\"", "\"trust\":\"user\""};
    loci_engine *engine = test_open(new_store());
    loci_principal other = {.tenant = "other", .flags = LOCI_PRINCIPAL_TENANT_ADMIN};
    lc_token_identity who;
    loci_str made;
    loci_error err;

    who = token_identity(engine, token_make(engine, "{'name':'a','scopes':['admin']}"));
    CHECK_EQ(who.principal.flags, LOCI_PRINCIPAL_ADMIN | LOCI_PRINCIPAL_TENANT_ADMIN);
    CHECK_OK(token_call_as(engine, &who.principal, "store.status", "{}", NULL, &err), err);
    for (size_t i = 0; i < sizeof lesser / sizeof *lesser; i++) {
        made = token_make(engine,
                          test_format("{\"name\":\"a\",\"scopes\":[\"admin\"],%s}", lesser[i]));
        who = token_identity(engine, made);
        CHECK_EQ(who.principal.flags, LOCI_PRINCIPAL_TENANT_ADMIN);
        CHECK_STATUS(LOCI_EFORBIDDEN,
                     token_call_as(engine, &who.principal, "store.status", "{}", NULL, &err));
    }
    CHECK_OK(token_call_as(engine, &other, "token.create",
                           "{\"name\":\"a\",\"scopes\":[\"admin\"]}", &made, &err),
             err);
    who = token_identity(engine, made);
    CHECK_STR_EQ(who.principal.tenant, "other");
    CHECK_EQ(who.principal.flags, LOCI_PRINCIPAL_TENANT_ADMIN);
    test_close(engine);
}

TEST(token_rights, who_is_no_admin_has_nothing_to_do_with_tokens)
{
    loci_engine *engine = test_open(new_store());
    lc_token_identity who = token_identity(engine, token_make(engine, "{'name':'a'}"));
    loci_error err;
    int seen = 0;

    for (size_t i = 0; lc_op_at(i) != NULL; i++) {
        const lc_op *op = lc_op_at(i);

        if (strncmp(op->name, "token.", 6) != 0)
            continue;
        CHECK_STATUS(LOCI_EFORBIDDEN,
                     token_call_as(engine, &who.principal, op->name, op->example, NULL, &err));
        CHECK_EQ(lc_op_scopes(op), LC_SCOPE_ADMIN);
        seen++;
    }
    CHECK_EQ(seen, 4);
    CHECK_EQ(lc_op_scopes(lc_op_find(LC_STR("fact.write"))), LC_SCOPE_WRITE);
    CHECK_EQ(lc_op_scopes(lc_op_find(LC_STR("fact.list"))), LC_SCOPE_READ);
    CHECK_EQ(lc_op_scopes(lc_op_find(LC_STR("store.status"))), LC_SCOPE_ADMIN);
    test_close(engine);
}

/* ---- Others' --------------------------------------------------------------------------------- */

/* What `who` is told of `id` is what it is told of an id that does not exist. */
static void expect_missing(loci_engine *engine, const loci_principal *who, loci_str made)
{
    static const char *const operations[] = {"token.revoke", "token.rotate"};
    char *foreign = by_id(made);
    char *missing = test_format("%s", foreign);
    char *digit = missing + strlen(missing) - 3;
    loci_error told, usual;

    *digit = *digit == '0' ? '1' : '0';
    for (size_t i = 0; i < 2; i++) {
        CHECK_STATUS(LOCI_ENOTFOUND,
                     token_call_as(engine, who, operations[i], foreign, NULL, &told));
        CHECK_STATUS(LOCI_ENOTFOUND,
                     token_call_as(engine, who, operations[i], missing, NULL, &usual));
        CHECK_EQ(strlen(told.message), strlen(usual.message));
        CHECK_STR_EQ(told.data, usual.data);
        /* But for the id itself the same. */
        for (size_t c = 0, other = 0; told.message[c] != '\0'; c++) {
            other += told.message[c] != usual.message[c];
            CHECK_LE(other, 1);
        }
    }
    CHECK(token_is_good(engine, made));
}

static int64_t count_list(loci_engine *engine, const loci_principal *who)
{
    loci_str list;
    loci_error err;
    int64_t count = 0;

    CHECK_OK(token_call_as(engine, who, "token.list", "{}", &list, &err), err);
    CHECK(memmem(list.ptr, list.len, "loci_", 5) == NULL);
    CHECK(memmem(list.ptr, list.len, "hash", 4) == NULL);
    while (test_member(list, test_format("tokens.%d", (int)count)).len > 0)
        count++;
    return count;
}

TEST(token_rights, tokens_of_another_tenant_are_not_there)
{
    loci_engine *engine = test_open(new_store());
    loci_principal a = {.tenant = "a", .flags = LOCI_PRINCIPAL_TENANT_ADMIN};
    loci_principal b = {.tenant = "b", .flags = LOCI_PRINCIPAL_TENANT_ADMIN};
    loci_principal root = {.tenant = "b", .flags = LOCI_PRINCIPAL_ADMIN};
    loci_str made;
    loci_error err;

    CHECK_OK(token_call_as(engine, &a, "token.create", "{\"name\":\"canary\"}", &made, &err), err);
    CHECK_EQ(count_list(engine, &a), 1);
    CHECK_EQ(count_list(engine, &b), 0);
    expect_missing(engine, &b, made);
    expect_missing(engine, &root, made); /* Which tenant is called for, not who calls. */
    CHECK_OK(token_call_as(engine, &a, "token.revoke", by_id(made), NULL, &err), err);
    CHECK(!token_is_good(engine, made));
    test_close(engine);
}

TEST(token_rights, who_is_narrowed_sees_tokens_narrowed_like_it)
{
    loci_engine *engine = test_open(new_store());
    loci_principal ann = {.user = "ann", .flags = LOCI_PRINCIPAL_TENANT_ADMIN};
    loci_principal work = {.persona = "work", .flags = LOCI_PRINCIPAL_TENANT_ADMIN};
    loci_str whole = token_make(engine, "{'name':'whole'}");
    loci_str bobs = token_make(engine, "{'name':'b','user_id':'bob'}");
    loci_str anns = token_make(engine, "{'name':'a','user_id':'ann'}");
    loci_str made;
    loci_error err;

    CHECK_EQ(count_list(engine, NULL), 3);
    CHECK_EQ(count_list(engine, &ann), 1);
    CHECK_EQ(count_list(engine, &work), 0);
    expect_missing(engine, &ann, whole);
    expect_missing(engine, &ann, bobs);
    expect_missing(engine, &work, anns);
    CHECK_STATUS(LOCI_ENOTFOUND, token_call_as(engine, &ann, "token.create",
                                               "{\"name\":\"x\",\"user_id\":\"bob\"}", NULL, &err));
    CHECK_OK(token_call_as(engine, &ann, "token.create", "{\"name\":\"x\"}", &made, &err), err);
    CHECK_STR_EQ(test_member_text(made, "user_id"), "ann");
    CHECK_OK(token_call_as(engine, &work, "token.create", "{\"name\":\"x\"}", &made, &err), err);
    CHECK_STR_EQ(test_member_text(made, "persona_id"), "work");
    CHECK_OK(token_call_as(engine, &ann, "token.rotate", by_id(anns), &made, &err), err);
    CHECK_STR_EQ(test_member_text(made, "user_id"), "ann");
    test_close(engine);
}

/* ---- Ceilings -------------------------------------------------------------------------------- */

TEST(token_rights, nobody_gives_a_higher_ceiling_than_its_own)
{
    loci_engine *engine = test_open(new_store());
    loci_principal capped = {
        .authority = "manager", .trust = "tool", .flags = LOCI_PRINCIPAL_TENANT_ADMIN};
    loci_principal odd = {.authority = "astronaut", .flags = LOCI_PRINCIPAL_TENANT_ADMIN};
    loci_str high = token_make(engine, "{'name':'high'}"), made;
    loci_error err;

    CHECK_OK(token_call_as(engine, &capped, "token.create", "{\"name\":\"x\"}", &made, &err), err);
    CHECK_STR_EQ(test_member_text(made, "authority"), "manager");
    CHECK_STR_EQ(test_member_text(made, "trust"), "tool");
    CHECK_OK(token_call_as(engine, &capped, "token.create",
                           "{\"name\":\"x\",\"authority\":\"guest\",\"trust\":\"web\"}", &made,
                           &err),
             err);
    CHECK_STATUS(LOCI_EFORBIDDEN,
                 token_call_as(engine, &capped, "token.create",
                               "{\"name\":\"x\",\"authority\":\"admin\"}", NULL, &err));
    CHECK_CONTAINS(err.message, "manager");
    CHECK_STATUS(LOCI_EFORBIDDEN, token_call_as(engine, &capped, "token.create",
                                                "{\"name\":\"x\",\"trust\":\"user\"}", NULL, &err));
    /* A token above it is not there. */
    expect_missing(engine, &capped, high);
    CHECK_OK(token_call_as(engine, &capped, "token.list", "{\"limit\":1}", &made, &err), err);
    CHECK(test_member_text(made, "tokens.0.authority").len > 0);
    CHECK(test_member_text(made, "next_cursor").len > 0);
    CHECK_OK(token_call_as(engine, &capped, "token.list", "{}", &made, &err), err);
    CHECK_STR_EQ(test_member(made, "tokens.2"), "");
    /* An authority that the table does not know is the lowest. */
    CHECK_STATUS(LOCI_EFORBIDDEN,
                 token_call_as(engine, &odd, "token.create",
                               "{\"name\":\"x\",\"authority\":\"intern\"}", NULL, &err));
    CHECK_OK(token_call_as(engine, &odd, "token.create", "{\"name\":\"x\"}", &made, &err), err);
    CHECK_STR_EQ(test_member_text(made, "authority"), "astronaut");
    test_close(engine);
}

/* What concerns the whole tenant, or all of them, is not for a part of it. */
TEST(token_rights, settings_of_the_tenant_need_all_of_its_rights)
{
    const loci_principal parts[] = {
        {.user = "ann"},   {.persona = "work"},         {.authority = "policy"},
        {.trust = "user"}, {.permissions = "[\"hr\"]"},
    };
    const char *args = "{\"name\":\"session.idle_minutes\",\"value\":5}";
    loci_principal whole = {.flags = LOCI_PRINCIPAL_TENANT_ADMIN};
    loci_engine *engine = test_open(new_store());
    loci_error err;

    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        loci_principal part = parts[i];

        part.flags = LOCI_PRINCIPAL_TENANT_ADMIN | LOCI_PRINCIPAL_ADMIN;
        CHECK_STATUS(LOCI_EFORBIDDEN, token_call_as(engine, &part, "config.set", args, NULL, &err));
        CHECK_STATUS(LOCI_EFORBIDDEN,
                     token_call_as(engine, &part, "store.status", "{}", NULL, &err));
    }
    CHECK_OK(token_call_as(engine, &whole, "config.set", args, NULL, &err), err);
    test_close(engine);
}

/* ---- Families -------------------------------------------------------------------------------- */

static loci_principal admin_of(loci_str made)
{
    return (loci_principal){.token = test_format("%s", test_member_text(made, "id").ptr),
                            .flags = LOCI_PRINCIPAL_TENANT_ADMIN};
}

static loci_str make_as(loci_engine *engine, const loci_principal *who, const char *args)
{
    loci_str made;
    loci_error err;

    CHECK_OK(token_call_as(engine, who, "token.create", test_json(args), &made, &err), err);
    return made;
}

/* Otherwise an administrator that is shut out has left a door open. */
TEST(token_rights, tokens_end_with_the_token_that_made_them)
{
    loci_engine *engine = test_open(new_store());
    loci_str root = token_make(engine, "{'name':'root','scopes':['admin']}"), next, child,
             grandchild, free_one;
    loci_principal admin = admin_of(root), second;
    loci_error err;

    child = make_as(engine, &admin, "{'name':'child','scopes':['admin']}");
    free_one = make_as(engine, &admin, "{'name':'free','detached':true}");
    CHECK_STR_EQ(test_member(child, "parent_id"), test_member(root, "id"));
    CHECK_STR_EQ(test_member(free_one, "parent_id"), "null");
    second = admin_of(child);
    grandchild = make_as(engine, &second, "{'name':'grandchild'}");
    /* The family follows a token that replaces itself. */
    CHECK_OK(token_call_as(engine, &admin, "token.rotate", by_id(root), &next, &err), err);
    CHECK(token_is_good(engine, grandchild));
    test_call(engine, "token.revoke", "%s", by_id(next));
    CHECK(!token_is_good(engine, child));
    CHECK(!token_is_good(engine, grandchild));
    CHECK(token_is_good(engine, free_one));
    CHECK_STATUS(LOCI_EAUTH,
                 token_call_as(engine, &second, "token.create", "{\"name\":\"late\"}", NULL, &err));
    test_close(engine);
}

TEST(token_rights, tokens_do_not_outlive_the_token_that_made_them)
{
    loci_engine *engine = test_open(new_store());
    loci_str root = token_make(engine, "{'name':'root','scopes':['admin'],'ttl_s':1000}"), made;
    loci_str service = token_make(engine, "{'name':'service'}");
    loci_principal admin = admin_of(root);
    loci_error err;

    made = make_as(engine, &admin, "{'name':'a'}");
    CHECK_STR_EQ(test_member(made, "expires_at"), test_member(root, "expires_at"));
    made = make_as(engine, &admin, "{'name':'b','ttl_s':5000,'detached':true}");
    CHECK_STR_EQ(test_member(made, "expires_at"), test_member(root, "expires_at"));
    made = make_as(engine, &admin, "{'name':'c','ttl_s':10}");
    CHECK(!lc_str_eq(test_member(made, "expires_at"), test_member(root, "expires_at")));
    CHECK_OK(token_call_as(engine, &admin, "token.rotate", by_id(service), &made, &err), err);
    CHECK_STR_EQ(test_member(made, "expires_at"), test_member(root, "expires_at"));
    CHECK_STR_EQ(test_member(made, "parent_id"), test_member(root, "id"));
    CHECK_OK(token_call_as(engine, &admin, "token.rotate", by_id(root), &made, &err), err);
    CHECK_STR_EQ(test_member(made, "expires_at"), test_member(root, "expires_at"));
    test_close(engine);
}

/* ---- Repeats --------------------------------------------------------------------------------- */

TEST(token_rights, a_repeat_of_the_request_has_no_secret)
{
    loci_engine *engine = test_open(new_store());
    const char *args = "{\"name\":\"a\",\"request_id\":\"r\"}";
    loci_str first = test_call(engine, "token.create", "%s", args);
    loci_str again = test_call(engine, "token.create", "%s", args);

    CHECK_STR_EQ(test_member(again, "token"), "null");
    CHECK_CONTAINS(test_member_text(again, "note"), "token.rotate");
    CHECK_STR_EQ(test_member(again, "id"), test_member(first, "id"));
    CHECK(token_is_good(engine, first));
    CHECK_STATUS(LOCI_ECONFLICT, test_try(engine, "token.create",
                                          LC_STR("{\"name\":\"b\",\"request_id\":\"r\"}"), NULL));
    test_close(engine);
}

/* The same request of somebody narrower is another one: it would be shown what it may not see. */
TEST(token_rights, a_repeat_is_by_the_same_caller)
{
    loci_engine *engine = test_open(new_store());
    loci_principal ann = {.user = "ann", .flags = LOCI_PRINCIPAL_TENANT_ADMIN};
    const char *args = "{\"name\":\"a\",\"request_id\":\"r\"}";
    loci_str first = test_call(engine, "token.create", "%s", args), second;
    loci_error err;

    CHECK_OK(token_call_as(engine, &ann, "token.create", args, &second, &err), err);
    CHECK_STR_EQ(test_member_text(second, "user_id"), "ann");
    CHECK(!lc_str_eq(test_member(first, "id"), test_member(second, "id")));
    test_close(engine);
}

TEST(token_rights, a_batch_that_is_stored_holds_no_secret)
{
    const char *store = new_store();
    loci_engine *engine = test_open(store);
    loci_request requests[] = {
        {"token.create", LC_STR("{\"name\":\"a\"}"), LOCI_AT_CLOCK},
        {"token.rotate", LC_STR("{\"id\":\"$0.id\"}"), LOCI_AT_CLOCK},
    };
    loci_call_options options = LOCI_CALL_OPTIONS_INIT;
    loci_answer *answer = NULL;
    loci_error err;

    options.request_id = "r";
    CHECK_STATUS(LOCI_EINVAL, loci_call_many(engine, requests, 2, &options, &answer, &err));
    CHECK_CONTAINS(err.message, "never stored");
    CHECK_EQ(test_store_number(store, "select count(*) from tokens"), 0);
    options.request_id = NULL;
    CHECK_OK(loci_call_many(engine, requests, 2, &options, &answer, &err), err);
    CHECK_STATUS(LOCI_OK,
                 token_show(engine, test_member_text(loci_answer_json(answer), "1.token"), NULL));
    loci_answer_free(answer);
    test_close(engine);
}

/* ---- Many ------------------------------------------------------------------------------------ */

TEST(token_rights, pages_of_the_list_lose_none)
{
    loci_engine *engine = test_open(new_store());
    const char *cursor = "null";
    int count = 0;

    for (int i = 0; i < 7; i++)
        token_make(engine, test_format("{\"name\":\"t%d\"}", i));
    do {
        loci_str page = test_call(engine, "token.list", "{'limit':2,'cursor':%s}", cursor);

        count += (test_member(page, "tokens.0").len > 0) + (test_member(page, "tokens.1").len > 0);
        CHECK_STR_EQ(test_member(page, "tokens.2"), "");
        cursor = test_member(page, "next_cursor").ptr;
    } while (cursor[0] == '"' && count < 100);
    CHECK_STR_EQ(cursor, "null");
    CHECK_EQ(count, 7);
    test_close(engine);
}

static void fill(const char *store, int count)
{
    test_store_run(store,
                   test_format("with recursive n(i) as (select 1 union all select i + 1 from n "
                               "where i < %d) insert into tokens (id, tenant_id, name, "
                               "secret_hash, scopes, created_at) select 'x' || i, "
                               "'default', 'n', zeroblob(32), 1, 0 from n",
                               count));
}

TEST(token_rights, a_tenant_has_room_for_so_many)
{
    const char *store = new_store();
    loci_engine *engine = test_open(store);
    loci_principal other = {.tenant = "other", .flags = LOCI_PRINCIPAL_TENANT_ADMIN};
    loci_error err;

    fill(store, LC_TOKENS_MAX - 2);
    token_make(engine, "{'name':'a'}");
    token_make(engine, "{'name':'b'}");
    CHECK_STATUS(LOCI_ELIMIT, test_try(engine, "token.create", LC_STR("{\"name\":\"c\"}"), &err));
    CHECK_OK(token_call_as(engine, &other, "token.create", "{\"name\":\"c\"}", NULL, &err), err);
    /* Those that ended long ago make room, and go. */
    test_store_run(store, "update tokens set revoked_at = 1 where id = 'x1'");
    token_make(engine, "{'name':'c'}");
    CHECK_EQ(test_store_number(store, "select count(*) from tokens where id = 'x1'"), 0);
    CHECK_STATUS(LOCI_ELIMIT, test_try(engine, "token.create", LC_STR("{\"name\":\"d\"}"), &err));
    test_close(engine);
}
