/* sim.c - see sim.h. */
#include "sim.h"

#include <stdio.h>

static int64_t sim_clock(void *ctx)
{
    return ((const sim *)ctx)->now_us;
}

void sim_open(sim *s)
{
    loci_open_options options = test_open_options(s->store);
    loci_error err;

    options.clock = sim_clock;
    options.clock_ctx = s;
    CHECK_OK(loci_open(&options, &s->engine, &err), err);
}

int sim_below(sim *s, int bound)
{
    return (int)test_rng_below(&s->rng, (uint64_t)bound);
}

model_who sim_anyone(sim *s)
{
    return (model_who){.tenant = sim_below(s, MODEL_TENANTS),
                       .user = sim_below(s, MODEL_USERS),
                       .persona = test_rng_chance(&s->rng, 30) ? 1 + sim_below(s, 2) : 0};
}

loci_call_options sim_options_of(int tenant, loci_principal *principal)
{
    loci_call_options options = LOCI_CALL_OPTIONS_INIT;

    *principal = (loci_principal){.size = sizeof *principal,
                                  .flags = LOCI_PRINCIPAL_ADMIN,
                                  .tenant = tenant == 0 ? "default" : "other"};
    options.principal = principal;
    return options;
}

loci_status sim_call(sim *s, int tenant, const char *op, const char *args, loci_str *out)
{
    loci_principal principal;
    loci_call_options options = sim_options_of(tenant, &principal);
    loci_answer *answer = NULL;
    loci_status status;

    principal.authority = s->ceiling;
    status = loci_call(s->engine, op, loci_str_of(args), &options, &answer, &s->err);

    if (status == LOCI_OK)
        *out = lc_arena_copy(&s->arena, loci_answer_json(answer));
    loci_answer_free(answer);
    return status;
}

const lc_json *sim_parse(sim *s, loci_str text)
{
    const lc_json *value = NULL;
    loci_error err;

    CHECK_OK(lc_json_parse(&s->arena, text, 0, &value, &err), err);
    return value;
}

const char *sim_text_of(sim *s, const lc_json *object, const char *name)
{
    const lc_json *member = lc_json_member(object, loci_str_of(name));

    if (member == NULL || lc_json_kind_of(member) != LC_JSON_STRING)
        return "";
    return lc_arena_copy(&s->arena, lc_json_str(member)).ptr;
}

const char *sim_who_args(sim *s, model_who who)
{
    char text[64];
    int bytes = snprintf(text, sizeof text, "\"user_id\":\"u%d\"", who.user);

    if (who.persona != 0)
        snprintf(text + bytes, sizeof text - (size_t)bytes, ",\"persona_id\":\"p%d\"", who.persona);
    return lc_arena_copy(&s->arena, loci_str_of(text)).ptr;
}
