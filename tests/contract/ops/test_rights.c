/* Every operation × every kind of token, in process: alone, in batches, and as a repeat of a
 * request that another caller made. */
#include "contract/token_fixture.h"
#include "lib/rights.h"

#include <string.h>

#include "base/str.h"

/* What the daemon does before it calls the library, which knows administrators but no scopes. */
static loci_status authenticate(loci_engine *engine, const rights_call *call,
                                lc_token_identity *who)
{
    loci_status status = token_show(engine, loci_str_of(call->token), who);

    if (status == LOCI_OK && (lc_op_scopes(call->op) & LC_SCOPE_WRITE & ~who->scopes) != 0)
        status = LOCI_EFORBIDDEN;
    return status;
}

static loci_status ask(void *ctx, const rights_call *call, const char **text)
{
    loci_request requests[] = {
        {.operation = call->op->name, .args = loci_str_of(call->args), .at_us = LOCI_AT_CLOCK},
        {.operation = "fact.list", .args = loci_str_of(call->beside), .at_us = LOCI_AT_CLOCK},
    };
    loci_call_options options = LOCI_CALL_OPTIONS_INIT;
    loci_engine *engine = ctx;
    loci_answer *answer = NULL;
    lc_token_identity who;
    loci_error err = {0};
    loci_status status = authenticate(engine, call, &who);

    if (status != LOCI_OK)
        return status;
    options.principal = &who.principal;
    options.flags = LOCI_CALL_REMOTE;
    options.request_id = call->request_id;
    if (call->beside != NULL)
        status = loci_call_many(engine, requests, 2, &options, &answer, &err);
    else
        status = loci_call(engine, call->op->name, loci_str_of(call->args), &options, &answer,
                           &err);
    *text = status == LOCI_OK ? test_format("%s", loci_answer_json(answer).ptr)
                              : test_format("%s %s", err.message, err.data);
    loci_answer_free(answer);
    return status;
}

TEST(rights, every_operation_obeys_every_kind_of_token)
{
    const char *folder = test_tmpdir();
    const char *store = test_store(folder, "store.db");
    loci_open_options options = test_open_options(store);
    loci_engine *engine = NULL;
    rights_world world;
    loci_error err;

    test_timeout(240);
    rights_fill(&world, store);
    options.settings = test_format("{\"store.transfer_dir\":\"%s\"}", folder);
    CHECK_OK(loci_open(&options, &engine, &err), err);
    rights_walk(&world, ask, engine);
    test_close(engine);
}
