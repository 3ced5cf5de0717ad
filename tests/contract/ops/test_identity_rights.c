/* What an identity may claim, and whom it binds. */
#include "contract/token_fixture.h"
#include "lib/calls.h"

#include "base/str.h"

static loci_engine *open_engine(void)
{
    return test_open(test_store(test_tmpdir(), "store.db"));
}

static loci_str call_as(loci_engine *engine, const loci_principal *who, const char *operation,
                        const char *args)
{
    loci_str out = {"", 0};
    loci_error err;

    CHECK_OK(token_call_as(engine, who, operation, test_json(args), &out, &err), err);
    return out;
}

static void refuse(loci_engine *engine, const loci_principal *who, loci_status status,
                   const char *operation, const char *args)
{
    loci_error err;

    CHECK_STATUS(status, token_call_as(engine, who, operation, test_json(args), NULL, &err));
}

/* A chat client with a guest's token shares the session with the application behind it. */
TEST(identity_rights, an_identity_does_not_lower_callers_above_its_setter)
{
    loci_principal guest = {.authority = "guest"}, web = {.trust = "web"};
    loci_principal manager = {.authority = "manager"}, app = {.user = "default"};
    loci_engine *engine = open_engine();

    test_call(engine, "fact.write", "{'key':'k','value':1,'authority':'employee'}");
    call_as(engine, &guest, "identity.set", "{'user_name':'G','authority':'guest'}");
    CHECK_STR_EQ(
        test_member_text(call_as(engine, &app, "fact.write", "{'key':'k','value':2}"), "outcome"),
        "superseded");
    CHECK_STR_EQ(test_member_text(call_as(engine, &manager, "fact.write", "{'key':'k','value':3}"),
                                  "outcome"),
                 "superseded");
    /* Callers with the same ceiling are bound, and cannot set it again. */
    refuse(engine, &guest, LOCI_EFORBIDDEN, "identity.set",
           "{'user_name':'H','authority':'guest'}");

    call_as(engine, &manager, "identity.set", "{'user_name':'M','authority':'intern'}");
    CHECK_STR_EQ(test_member_text(call_as(engine, &manager, "fact.write", "{'key':'k','value':4}"),
                                  "outcome"),
                 "claimed");
    refuse(engine, &guest, LOCI_EFORBIDDEN, "identity.set",
           "{'user_name':'G','authority':'guest'}");
    refuse(engine, &manager, LOCI_EFORBIDDEN, "identity.set",
           "{'user_name':'M','authority':'manager'}");
    call_as(engine, &app, "identity.set", "{'user_name':'A','authority':'manager'}");
    refuse(engine, &app, LOCI_EFORBIDDEN, "identity.set",
           "{'user_name':'A','authority':'manager'}");
    CHECK_STR_EQ(
        test_member_text(call_as(engine, &guest, "identity.get", "{}"), "identity.user_name"), "A");
    /* A ceiling of trust is one, too. */
    call_as(engine, &web, "identity.set",
            "{'user_name':'W','authority':'guest','session_id':'web'}");
    CHECK_STR_EQ(test_member_text(call_as(engine, &app, "fact.write",
                                          "{'key':'k','value':5,'session_id':'web'}"),
                                  "outcome"),
                 "superseded");
    test_close(engine);
}

TEST(identity_rights, an_identity_claims_no_more_than_its_setters_token)
{
    loci_principal guest = {.authority = "guest"};
    loci_principal clerk = {.authority = "employee", .permissions = "[\"hr\"]"};
    loci_principal app = {.user = "default"};
    loci_engine *engine = open_engine();

    call_as(engine, &app, "fact.write", "{'key':'pay','value':9,'required_permission':'hr'}");
    refuse(engine, &guest, LOCI_EFORBIDDEN, "identity.set",
           "{'user_name':'G','authority':'intern'}");
    refuse(engine, &guest, LOCI_EFORBIDDEN, "identity.set",
           "{'user_name':'G','authority':'guest','permissions':['hr']}");
    refuse(engine, &clerk, LOCI_EFORBIDDEN, "identity.set",
           "{'user_name':'C','authority':'employee','permissions':['hr','legal']}");
    call_as(engine, &clerk, "identity.set",
            "{'user_name':'C','authority':'employee','permissions':['hr']}");
    CHECK_STR_EQ(test_member(call_as(engine, &clerk, "fact.current", "{'key':'pay'}"), "value"),
                 "9");
    /* The permission of the session does not become the guest's. */
    refuse(engine, &guest, LOCI_ENOTFOUND, "fact.current", "{'key':'pay'}");
    test_close(engine);
}

/* The rules of loci_principal, through the rows of tokens. */
TEST(identity_rights, a_token_has_its_list_of_permissions)
{
    loci_principal admin = {.permissions = "[\"hr\",\"legal\"]",
                            .flags = LOCI_PRINCIPAL_TENANT_ADMIN};
    loci_engine *engine = open_engine();
    loci_str made = test_call(engine, "token.create", "{'name':'a'}");
    lc_token_identity who;

    CHECK_STR_EQ(test_member(made, "permissions"), "null");
    made = test_call(engine, "token.create", "{'name':'b','authority':'guest'}");
    CHECK_STR_EQ(test_member(made, "permissions"), "[]");
    made = test_call(engine, "token.create", "{'name':'c','trust':'web','permissions':['hr']}");
    CHECK_STR_EQ(test_member(made, "permissions"), "[\"hr\"]");
    /* And the callers that show it have no others. */
    who = token_identity(engine, made);
    refuse(engine, &who.principal, LOCI_EFORBIDDEN, "identity.set",
           "{'user_name':'C','authority':'guest','permissions':['legal']}");
    call_as(engine, &who.principal, "identity.set",
            "{'user_name':'C','authority':'guest','permissions':['hr']}");
    made = call_as(engine, &admin, "token.create", "{'name':'d'}");
    CHECK_STR_EQ(test_member(made, "permissions"), "[\"hr\",\"legal\"]");
    made = call_as(engine, &admin, "token.create", "{'name':'e','permissions':['legal']}");
    CHECK_STR_EQ(test_member(made, "permissions"), "[\"legal\"]");
    refuse(engine, &admin, LOCI_EFORBIDDEN, "token.create",
           "{'name':'f','permissions':['legal','board']}");
    test_close(engine);
}

/* A program built with an older header has a shorter principal. */
TEST(identity_rights, a_principal_without_permissions_is_understood)
{
    loci_principal old = {.size = offsetof(loci_principal, permissions),
                          .permissions = "not to be looked at"};
    loci_call_options options = LOCI_CALL_OPTIONS_INIT;
    loci_engine *engine = open_engine();
    loci_answer *answer = NULL;
    loci_error err;

    options.principal = &old;
    CHECK_OK(loci_call(engine, "identity.set",
                       LC_STR("{\"user_name\":\"O\",\"authority\":\"guest\","
                              "\"permissions\":[\"hr\"]}"),
                       &options, &answer, &err),
             err);
    loci_answer_free(answer);
    test_close(engine);
}
