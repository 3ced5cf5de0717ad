/* model.h - facts as a person would keep them on paper: one list, searched from the end.
 *
 * The simplest thing that does what SEMANTICS.md says, to be compared with the real thing. It has
 * no store, no log and no index, and does not know how ids are made: it takes them from the answers
 * and checks that they are new.
 */
#ifndef LC_TESTS_SIM_MODEL_H
#define LC_TESTS_SIM_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MODEL_TENANTS 2
#define MODEL_USERS 3
#define MODEL_FACTS_MAX 2048
#define MODEL_REQUESTS_MAX 512
#define MODEL_ID_BYTES 40

/* Who asks, and as whom. */
typedef struct model_who {
    int tenant;
    int user;
    int persona; /* 0 = none. */
} model_who;

typedef struct model_fact {
    model_who who;
    int key;
    int value;      /* Place in the list of values; equal places are equal values. */
    bool is_scoped; /* In the hypothesis, not global. */
    int rank;       /* Of who said it, 1 to 7. */
    bool is_trusted;
    char id[MODEL_ID_BYTES];
    int64_t seq;
    int64_t observed_at;
    int64_t recorded_at;
    bool is_valid;
    const char *status; /* When it is not: superseded, retracted or claim. */
    int supersedes;     /* Place of the fact, -1 = none. */
    int superseded_by;  /* The same. */
    int contests;       /* The same, of a claim. */
} model_fact;

typedef struct model_head {
    int64_t seq;
    int64_t recorded_at;
    int last_claim; /* Its place + 1; 0 = none. */
} model_head;

typedef struct model_request {
    model_who who;
    int number;
    int64_t at_us; /* When it was answered; a day later it is forgotten. */
    char args[512];
    char answer[512];
} model_request;

typedef struct model {
    model_fact facts[MODEL_FACTS_MAX];
    int fact_count;
    model_head heads[MODEL_TENANTS][MODEL_USERS];
    model_request requests[MODEL_REQUESTS_MAX];
    int request_count;
} model;

/* What somebody says. */
typedef struct model_claim {
    model_who who;
    int key;
    int value;
    bool is_scoped;
    int rank; /* That counts: the lowest of what it says and what it may say. */
    bool is_trusted;
    int64_t observed_at;
} model_claim;

typedef enum model_outcome {
    MODEL_CREATED,
    MODEL_SUPERSEDED,
    MODEL_REPEATED,
    MODEL_LATE,
    MODEL_CLAIMED,
    MODEL_SHADOWED
} model_outcome;

/* What writing would do, and the place of the fact that is there now (-1 = none). */
model_outcome model_judge(const model *m, const model_claim *claim, int *out_standing);
/* Whether a claim may take the place of a fact. */
bool model_may_end(const model_claim *claim, const model_fact *fact);
/* Takes back the fact at that place. */
void model_retract(model *m, int place, int64_t now_us);
/* Does it; `id` is the new fact's. Returns its place. */
int model_write(model *m, const model_claim *claim, const char *id, int64_t now_us);

model_head *model_head_of(model *m, model_who who);
/* Whether `who` may see the fact. */
bool model_sees(model_who who, const model_fact *fact);
/* The fact that answers "what is it now", or -1 when `who` knows none. */
int model_current(const model *m, model_who who, int key);
/* By id, whoever it belongs to; -1 = none. */
int model_find_id(const model *m, const char *id);

/* The request as it was answered less than a day ago, or NULL. */
model_request *model_find_request(model *m, model_who who, int number, int64_t now_us);
void model_keep_request(model *m, const model_request *request);

#endif /* LC_TESTS_SIM_MODEL_H */
