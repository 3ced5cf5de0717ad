/* fact_fixture.h - an engine with a clock of the test's own, and short forms for facts.
 *
 *     facts f;
 *
 *     facts_open(&f);
 *     facts_write(&f, "created", "{\"key\":\"city\",\"value\":\"Oslo\"}");
 *     facts_close(&f);
 */
#ifndef LC_TESTS_CONTRACT_FACT_FIXTURE_H
#define LC_TESTS_CONTRACT_FACT_FIXTURE_H

#include "lib/calls.h"

#define MINUTE_US INT64_C(60000000)

typedef struct facts {
    const char *store;
    loci_engine *engine;
    int64_t now_us;      /* 2023-11-14T22:13:20Z at first. */
    const char *ceiling; /* Authority and trust of the caller's token; NULL = not capped. */
    const char *trust;
    const char *tenant; /* NULL = the store's default. */
    loci_error err;     /* Of the last call that failed. */
} facts;

void facts_open(facts *f);
/* One more engine on a store, with a clock of its own. */
void facts_open_store(facts *f, const char *store);
/* Log and projections must agree. */
void facts_close(facts *f);

loci_status facts_try(facts *f, const char *operation, loci_str *out, const char *args);
/* The answer; a failure fails the test. */
loci_str facts_call(facts *f, const char *operation, const char *args_format, ...)
    __attribute__((format(printf, 3, 4)));
/* fact.write with that outcome; returns the fact's id. */
const char *facts_write(facts *f, const char *outcome, const char *args_format, ...)
    __attribute__((format(printf, 3, 4)));
/* It fails so, says `part`, and changes nothing. */
void facts_fail(facts *f, loci_status status, const char *part, const char *operation,
                const char *args);
/* The value that fact.current answers, as JSON; "-" when there is no such fact. */
loci_str facts_value(facts *f, const char *args);
/* A string of fact.current's answer. */
const char *facts_current(facts *f, const char *key, const char *member);

/* Whether these bytes are in the store: in its files, or in any row of its tables. */
bool facts_is_stored(const facts *f, const char *text);

#endif /* LC_TESTS_CONTRACT_FACT_FIXTURE_H */
