/* token_fixture.h - making tokens, showing them, and calling as whom they speak for. */
#ifndef TEST_CONTRACT_TOKEN_FIXTURE_H
#define TEST_CONTRACT_TOKEN_FIXTURE_H

#include "lib/calls.h"

#include "ops/surface.h"

/* Runs token.create in the engine's tenant; its answer. */
loci_str token_make(loci_engine *engine, const char *args);
/* What lc_token_authenticate() answers; `out` lives until the test ends and may be NULL. */
loci_status token_show(loci_engine *engine, loci_str text, lc_token_identity *out);
/* The same for `answer`'s token, which must be good. */
lc_token_identity token_identity(loci_engine *engine, loci_str answer);
/* Whether `answer`'s token is good; if not it must be refused in the usual words. */
bool token_is_good(loci_engine *engine, loci_str answer);

/* A call as `who`; `out` (may be NULL) gets the answer. */
loci_status token_call_as(loci_engine *engine, const loci_principal *who, const char *operation,
                          const char *args, loci_str *out, loci_error *err);

#endif /* TEST_CONTRACT_TOKEN_FIXTURE_H */
