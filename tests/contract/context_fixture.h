/* context_fixture.h - asking for a context, and what every answer must keep to.
 *
 *     loci_str answer = context_build(&f, "{\"query\":\"Where?\"}");
 *
 *     CHECK(context_shows(answer, "city: Oslo"));
 *     CHECK_STR_EQ(context_reason(answer, old), "superseded");
 */
#ifndef LC_TESTS_CONTRACT_CONTEXT_FIXTURE_H
#define LC_TESTS_CONTRACT_CONTEXT_FIXTURE_H

#include "contract/fact_fixture.h"

#include <stdbool.h>

/* context.build. Whatever is asked: no more than the budget, the sections add up, the tokens are
 * those of the text, nothing is both in and out, nothing is in twice. */
loci_str context_build(facts *f, const char *args_format, ...)
    __attribute__((format(printf, 2, 3)));
/* The text, with its line breaks. */
const char *context_text(loci_str answer);
bool context_shows(loci_str answer, const char *part);
/* The section that has it; "" when it is not in. */
const char *context_section(loci_str answer, const char *id);
/* Why it was left out; "" when that is not told. */
const char *context_reason(loci_str answer, const char *id);
/* How many were left out for that. */
int64_t context_count(loci_str answer, const char *reason);
/* How many are in: of the facts, constraints among them, or of a section. */
int context_facts_in(loci_str answer);
int context_in(loci_str answer, const char *section);

#endif /* LC_TESTS_CONTRACT_CONTEXT_FIXTURE_H */
