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

bool model_may_end(const model_claim *claim, const model_fact *fact)
{
    if (fact->is_trusted)
        return claim->is_trusted && claim->rank >= fact->rank;
    return claim->is_trusted || claim->rank >= fact->rank;
}

/* Whether the claim's persona sees a valid global fact of its key. */
static bool hides_something(const model *m, const model_claim *claim)
{
    for (int i = 0; i < m->fact_count; i++) {
        const model_fact *fact = &m->facts[i];

        if (fact->key == claim->key && !fact->is_scoped && fact->is_valid &&
            model_sees(claim->who, fact))
            return true;
    }
    return false;
}

model_outcome model_judge(const model *m, const model_claim *claim, int *out_standing)
{
    const model_fact *standing;

    *out_standing = -1;
    for (int i = 0; i < m->fact_count; i++) {
        const model_fact *fact = &m->facts[i];

        if (is_same_user(fact->who, claim->who) && fact->who.persona == claim->who.persona &&
            fact->key == claim->key && fact->is_scoped == claim->is_scoped && fact->is_valid)
            *out_standing = i;
    }
    if (*out_standing < 0)
        return claim->is_scoped && hides_something(m, claim) ? MODEL_SHADOWED : MODEL_CREATED;
    standing = &m->facts[*out_standing];
    if (standing->value == claim->value)
        return MODEL_REPEATED;
    if (!model_may_end(claim, standing))
        return MODEL_CLAIMED;
    if (claim->observed_at < standing->observed_at && claim->rank == standing->rank &&
        claim->is_trusted == standing->is_trusted)
        return MODEL_LATE;
    return MODEL_SUPERSEDED;
}

/* A claim said twice in a row is one. */
static bool is_said_again(const model *m, const model_claim *claim, int standing)
{
    const model_head *head = &m->heads[claim->who.tenant][claim->who.user];
    const model_fact *last;

    if (head->last_claim == 0)
        return false;
    last = &m->facts[head->last_claim - 1];
    return last->who.persona == claim->who.persona && last->key == claim->key &&
           last->value == claim->value && last->is_scoped == claim->is_scoped &&
           last->rank == claim->rank && last->is_trusted == claim->is_trusted &&
           last->contests == standing;
}

static void step_head(model_head *head, int64_t now_us)
{
    head->seq++;
    if (now_us > head->recorded_at)
        head->recorded_at = now_us;
}

void model_retract(model *m, int place, int64_t now_us)
{
    m->facts[place].is_valid = false;
    m->facts[place].status = "retracted";
    step_head(model_head_of(m, m->facts[place].who), now_us);
}

int model_write(model *m, const model_claim *claim, const char *id, int64_t now_us)
{
    model_head *head = model_head_of(m, claim->who);
    model_fact *fact = &m->facts[m->fact_count];
    int standing;
    model_outcome outcome = model_judge(m, claim, &standing);

    if (outcome == MODEL_REPEATED)
        return standing;
    if (outcome == MODEL_CLAIMED && is_said_again(m, claim, standing))
        return head->last_claim - 1;
    if (m->fact_count == MODEL_FACTS_MAX)
        abort();
    step_head(head, now_us);
    *fact = (model_fact){.who = claim->who,
                         .key = claim->key,
                         .value = claim->value,
                         .is_scoped = claim->is_scoped,
                         .rank = claim->rank,
                         .is_trusted = claim->is_trusted,
                         .seq = head->seq,
                         .observed_at = claim->observed_at,
                         .recorded_at = head->recorded_at,
                         .is_valid = outcome != MODEL_LATE && outcome != MODEL_CLAIMED,
                         .status = outcome == MODEL_CLAIMED ? "claim" : "superseded",
                         .supersedes = outcome == MODEL_SUPERSEDED ? standing : -1,
                         .superseded_by = outcome == MODEL_LATE ? standing : -1,
                         .contests = outcome == MODEL_CLAIMED ? standing : -1};
    snprintf(fact->id, sizeof fact->id, "%s", id);
    if (outcome == MODEL_SUPERSEDED) {
        m->facts[standing].is_valid = false;
        m->facts[standing].superseded_by = m->fact_count;
    }
    if (outcome == MODEL_CLAIMED)
        head->last_claim = m->fact_count + 1;
    return m->fact_count++;
}

model_head *model_head_of(model *m, model_who who)
{
    return &m->heads[who.tenant][who.user];
}

/* A valid fact before all that are not; of those a persona's own before everybody's, of the others
 * the newest. */
static bool is_better(const model_fact *a, const model_fact *b)
{
    if (a->is_valid != b->is_valid)
        return a->is_valid;
    if (a->is_valid && a->who.persona != b->who.persona)
        return a->who.persona > b->who.persona;
    return a->seq > b->seq;
}

/* It was older than the fact that it met: history from the beginning, and never the last word. */
static bool is_late(const model *m, const model_fact *fact)
{
    return fact->superseded_by >= 0 && m->facts[fact->superseded_by].seq < fact->seq;
}

int model_current(const model *m, model_who who, int key)
{
    int best = -1;

    for (int i = 0; i < m->fact_count; i++) {
        const model_fact *fact = &m->facts[i];

        if (fact->key == key && !fact->is_scoped && fact->contests < 0 && !is_late(m, fact) &&
            model_sees(who, fact) && (best < 0 || is_better(fact, &m->facts[best])))
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
