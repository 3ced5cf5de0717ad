/* sim.h - one run of the simulation: an engine with a clock of the test's own, the model beside it,
 * and short forms of calling. What is read from answers lives in the arena until the step ends. */
#ifndef LC_TESTS_SIM_SIM_H
#define LC_TESTS_SIM_SIM_H

#include "base/json.h"
#include "lib/calls.h"
#include "model.h"

typedef struct sim {
    const char *store;
    loci_engine *engine;
    model m;
    test_rng rng;
    int64_t now_us;
    const char *ceiling; /* Of the caller's token, for the next calls; NULL = none. */
    loci_error err;      /* Of the last call that failed. */
    lc_heap heap;        /* Of the test's own, beside test_heap(). */
    lc_arena arena;
} sim;

/* Opens the engine on the store, with the run's clock. */
void sim_open(sim *s);

/* From 0 to `bound` - 1. */
int sim_below(sim *s, int bound);
model_who sim_anyone(sim *s);

/* How a caller of that tenant calls; `principal` must outlive the options. */
loci_call_options sim_options_of(int tenant, loci_principal *principal);
/* On failure s->err says why. */
loci_status sim_call(sim *s, int tenant, const char *op, const char *args, loci_str *out);

/* The members user_id and persona_id, without braces. */
const char *sim_who_args(sim *s, model_who who);

const lc_json *sim_parse(sim *s, loci_str text);
/* A string member; "" when it is missing or null. */
const char *sim_text_of(sim *s, const lc_json *object, const char *name);

#endif /* LC_TESTS_SIM_SIM_H */
