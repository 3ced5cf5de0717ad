/* model.c - see model.h. */
#include "model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_same_user(model_who a, model_who b)
{
    return a.tenant == b.tenant && a.user == b.user;
}

bool model_sees(model_who who, const model_fact *fact)
{
    return is_same_user(who, fact->who) &&
           (fact->who.persona == 0 || fact->who.persona == who.persona);
}

model_outcome model_judge(const model *m, const model_claim *claim, int *out_standing)
{
    *out_standing = -1;
    for (int i = 0; i < m->fact_count; i++) {
        const model_fact *fact = &m->facts[i];

        if (is_same_user(fact->who, claim->who) && fact->who.persona == claim->who.persona &&
            fact->key == claim->key && fact->is_valid)
            *out_standing = i;
    }
    if (*out_standing < 0)
        return MODEL_CREATED;
    return m->facts[*out_standing].value == claim->value ? MODEL_REPEATED : MODEL_SUPERSEDED;
}

int model_write(model *m, const model_claim *claim, const char *id, int64_t now_us)
{
    model_head *head = model_head_of(m, claim->who);
    model_fact *fact = &m->facts[m->fact_count];
    int standing;
    model_outcome outcome = model_judge(m, claim, &standing);

    if (outcome == MODEL_REPEATED)
        return standing;
    if (m->fact_count == MODEL_FACTS_MAX)
        abort();
    head->seq++;
    if (now_us > head->recorded_at)
        head->recorded_at = now_us;
    *fact = (model_fact){.who = claim->who,
                         .key = claim->key,
                         .value = claim->value,
                         .seq = head->seq,
                         .recorded_at = head->recorded_at,
                         .is_valid = true,
                         .supersedes = standing,
                         .superseded_by = -1};
    snprintf(fact->id, sizeof fact->id, "%s", id);
    if (standing >= 0) {
        m->facts[standing].is_valid = false;
        m->facts[standing].superseded_by = m->fact_count;
    }
    return m->fact_count++;
}

model_head *model_head_of(model *m, model_who who)
{
    return &m->heads[who.tenant][who.user];
}

/* A persona's own fact before everybody's, a valid one before all that are not, then the newest. */
static bool is_better(const model_fact *a, const model_fact *b)
{
    if (a->is_valid != b->is_valid)
        return a->is_valid;
    if (a->who.persona != b->who.persona)
        return a->who.persona > b->who.persona;
    return a->seq > b->seq;
}

int model_current(const model *m, model_who who, int key)
{
    int best = -1;

    for (int i = 0; i < m->fact_count; i++) {
        const model_fact *fact = &m->facts[i];

        if (fact->key == key && model_sees(who, fact) &&
            (best < 0 || is_better(fact, &m->facts[best])))
            best = i;
    }
    return best;
}

int model_find_id(const model *m, const char *id)
{
    for (int i = 0; i < m->fact_count; i++)
        if (strcmp(m->facts[i].id, id) == 0)
            return i;
    return -1;
}

model_request *model_find_request(model *m, model_who who, int number, int64_t now_us)
{
    for (int i = m->request_count - 1; i >= 0; i--) {
        model_request *request = &m->requests[i];

        if (is_same_user(request->who, who) && request->number == number)
            return now_us - request->at_us < INT64_C(24) * 3600 * 1000000 ? request : NULL;
    }
    return NULL;
}

void model_keep_request(model *m, const model_request *request)
{
    if (m->request_count == MODEL_REQUESTS_MAX)
        abort();
    m->requests[m->request_count++] = *request;
}
