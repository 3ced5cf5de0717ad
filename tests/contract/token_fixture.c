#include "contract/token_fixture.h"

#include <string.h>

#include "base/str.h"

loci_str token_make(loci_engine *engine, const char *args)
{
    return test_call(engine, "token.create", "%s", args);
}

static const char *keep(const char *text)
{
    return text != NULL ? test_format("%s", text) : NULL;
}

loci_status token_show(loci_engine *engine, loci_str text, lc_token_identity *out)
{
    lc_token_identity who;
    loci_error err = {0};
    lc_heap heap;
    lc_arena arena;
    loci_status status;

    lc_heap_init(&heap, test_heap());
    lc_arena_init(&arena, &heap, LOCI_MEM_REQUESTS);
    status = lc_token_authenticate(engine, text, &arena, &who, &err);
    if (status == LOCI_OK && out != NULL) {
        *out = who;
        out->principal.tenant = keep(who.principal.tenant);
        out->principal.user = keep(who.principal.user);
        out->principal.persona = keep(who.principal.persona);
        out->principal.authority = keep(who.principal.authority);
        out->principal.trust = keep(who.principal.trust);
        out->principal.permissions = keep(who.principal.permissions);
        out->principal.token = keep(who.principal.token);
        out->token_id = keep(who.token_id);
    }
    lc_arena_clear(&arena);
    if (status == LOCI_EAUTH) {
        loci_error usual;

        (void)lc_token_refuse(&usual);
        CHECK_STR_EQ(err.message, usual.message);
        CHECK_STR_EQ(err.data, "");
    }
    return status;
}

lc_token_identity token_identity(loci_engine *engine, loci_str answer)
{
    lc_token_identity who;

    CHECK_STATUS(LOCI_OK, token_show(engine, test_member_text(answer, "token"), &who));
    return who;
}

bool token_is_good(loci_engine *engine, loci_str answer)
{
    loci_status status = token_show(engine, test_member_text(answer, "token"), NULL);

    if (status != LOCI_OK)
        CHECK_STATUS(LOCI_EAUTH, status);
    return status == LOCI_OK;
}

loci_status token_call_as(loci_engine *engine, const loci_principal *who, const char *operation,
                          const char *args, loci_str *out, loci_error *err)
{
    loci_call_options options = LOCI_CALL_OPTIONS_INIT;
    loci_answer *answer = NULL;
    loci_principal copy;
    loci_status status;

    if (who != NULL) {
        copy = *who;
        copy.size = sizeof copy;
        options.principal = &copy;
    }
    status = loci_call(engine, operation, loci_str_of(args), &options, &answer, err);
    if (status == LOCI_OK && out != NULL)
        *out = loci_str_of(test_format("%s", loci_answer_json(answer).ptr));
    loci_answer_free(answer);
    return status;
}
