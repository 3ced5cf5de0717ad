/* test_model.c - random calls against a naive model: every answer must be the model's, and now and
 * then the log must equal the projections. A failing seed is printed; LOCI_TEST_SEED=n runs it
 * alone. */
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "base/time.h"
#include "sim.h"

#define STEPS 80
#define VERIFY_EVERY 20
#define KEYS 4
#define DAY_US (INT64_C(24) * 3600 * 1000000)

/* As given, and as it must be answered. */
static const struct {
    const char *given;
    const char *canonical;
} values[] = {
    {"1", "1"},
    {"\"Oslo\"", "\"Oslo\""},
    {"{\"b\":1, \"a\":[2,null]}", "{\"a\":[2,null],\"b\":1}"},
    {"15e-1", "1.5"},
    {"\"\\u00e9\"", "\"é\""},
    {"9223372036854775807", "9223372036854775807"},
};

#define VALUES ((int)(sizeof values / sizeof values[0]))

/* ---- Writing -------------------------------------------------------------------------------- */

static const char *outcome_name(model_outcome outcome)
{
    static const char *const names[] = {"created", "superseded", "repeated",
                                        "late",    "claimed",    "shadowed"};

    return names[outcome];
}

/* Compares the answer of a write with what the model would do, and does it there. */
static void check_written(sim *s, const model_claim *claim, const lc_json *answer)
{
    const char *id = sim_text_of(s, answer, "id");
    int standing;
    model_outcome outcome = model_judge(&s->m, claim, &standing);
    int known = model_find_id(&s->m, id);
    int place;

    CHECK_STR_EQ(sim_text_of(s, answer, "outcome"), outcome_name(outcome));
    if (outcome == MODEL_REPEATED)
        CHECK_STR_EQ(id, s->m.facts[standing].id);
    else if (outcome != MODEL_CLAIMED)
        CHECK_EQ(known, -1); /* Ids are never given twice, */
    place = model_write(&s->m, claim, id, s->now_us);
    if (known >= 0)
        CHECK_EQ(place, known); /* but for what was said before. */
    CHECK_EQ(lc_json_int(lc_json_member(answer, LC_STR("seq"))), s->m.facts[place].seq);
}

static const char *const ranks[] = {"",        "guest", "intern",    "employee",
                                    "manager", "admin", "executive", "policy"};

#define MANAGER 4

/* What somebody says without saying who they are. */
static model_claim plain_claim(sim *s, model_who who)
{
    return (model_claim){.who = who,
                         .key = sim_below(s, KEYS),
                         .value = sim_below(s, VALUES),
                         .rank = MANAGER,
                         .is_trusted = true,
                         .observed_at = s->now_us};
}

/* The arguments of a write; -1 leaves a part out. */
static const char *write_args(sim *s, const model_claim *claim, int request, int64_t expected_seq)
{
    char request_part[48] = "", seq_part[48] = "", time[LC_TIME_BYTES_MAX];
    size_t time_bytes = lc_time_format(claim->observed_at, time);

    if (request >= 0)
        snprintf(request_part, sizeof request_part, ",\"request_id\":\"r%d\"", request);
    if (expected_seq >= 0)
        snprintf(seq_part, sizeof seq_part, ",\"expected_seq\":%lld", (long long)expected_seq);
    return test_format("{%s,\"key\":\"k%d\",\"value\":%s,\"authority\":\"%s\",\"trust\":\"%s\","
                       "\"observed_at\":\"%.*s\"%s%s%s}",
                       sim_who_args(s, claim->who), claim->key, values[claim->value].given,
                       ranks[claim->rank], claim->is_trusted ? "user" : "web", (int)time_bytes,
                       time, claim->is_scoped ? ",\"scope\":\"hypothetical\"" : "", request_part,
                       seq_part);
}

static void keep_request(sim *s, const model_request *request, const char *args, const char *answer)
{
    model_request kept = *request;

    CHECK_LT(snprintf(kept.args, sizeof kept.args, "%s", args), sizeof kept.args);
    CHECK_LT(snprintf(kept.answer, sizeof kept.answer, "%s", answer), sizeof kept.answer);
    model_keep_request(&s->m, &kept);
}

/* Of any rank and trust, about now or before. */
static model_claim any_claim(sim *s)
{
    model_claim claim = plain_claim(s, sim_anyone(s));

    claim.is_scoped = test_rng_chance(&s->rng, 25);
    claim.is_trusted = test_rng_chance(&s->rng, 80);
    if (test_rng_chance(&s->rng, 50))
        claim.rank = 1 + sim_below(s, 7);
    if (test_rng_chance(&s->rng, 20))
        claim.observed_at -= sim_below(s, 1000) * INT64_C(100000000);
    return claim;
}

/* Callers with other rights have request ids of their own. */
static int request_number(int request, int ceiling)
{
    return request + 6 * ceiling;
}

static void do_write(sim *s)
{
    model_claim claim = any_claim(s);
    int ceiling = test_rng_chance(&s->rng, 30) ? 1 + sim_below(s, 7) : 0;
    int request = test_rng_chance(&s->rng, 30) ? sim_below(s, 6) : -1;
    int64_t head_seq = model_head_of(&s->m, claim.who)->seq;
    int64_t expected_seq = -1;
    const model_request *stored = NULL;
    const char *args;
    loci_str answer;
    loci_status status;

    if (test_rng_chance(&s->rng, 20))
        expected_seq = test_rng_chance(&s->rng, 60) ? head_seq : sim_below(s, 20);
    if (request >= 0)
        stored = model_find_request(&s->m, claim.who, request_number(request, ceiling), s->now_us);
    args = write_args(s, &claim, request, expected_seq);
    if (stored != NULL && test_rng_chance(&s->rng, 50))
        args = stored->args; /* The same call again. */

    s->ceiling = ceiling > 0 ? ranks[ceiling] : NULL;
    status = sim_call(s, claim.who.tenant, "fact.write", args, &answer);
    s->ceiling = NULL;
    if (ceiling > 0 && ceiling < claim.rank)
        claim.rank = ceiling; /* Nobody says more than its token allows. */
    if (stored != NULL && strcmp(stored->args, args) == 0) {
        CHECK_OK(status, s->err);
        CHECK_STR_EQ(answer, test_replayed(loci_str_of(stored->answer)));
    } else if (stored != NULL || (expected_seq >= 0 && expected_seq != head_seq)) {
        CHECK_STATUS(LOCI_ECONFLICT, status);
    } else {
        CHECK_OK(status, s->err);
        check_written(s, &claim, sim_parse(s, answer));
        if (request >= 0)
            keep_request(s,
                         &(model_request){.who = claim.who,
                                          .number = request_number(request, ceiling),
                                          .at_us = s->now_us},
                         args, answer.ptr);
    }
}

/* Up to five writes and a read of the first at once; a fifth of the batches ends with a call that
 * fails. */
static void do_batch(sim *s)
{
    model_claim claims[5];
    model_who who = sim_anyone(s);
    int count = 1 + sim_below(s, 5);
    bool fails = test_rng_chance(&s->rng, 20);
    loci_request requests[6];
    loci_principal principal;
    loci_call_options options = sim_options_of(who.tenant, &principal);
    loci_answer *answer = NULL;
    const lc_json *element;
    loci_error err;
    loci_status status;

    for (int i = 0; i < count; i++) {
        claims[i] = plain_claim(s, who);
        requests[i] = (loci_request){"fact.write", loci_str_of(write_args(s, &claims[i], -1, -1)),
                                     LOCI_AT_CLOCK};
    }
    requests[count] = (loci_request){
        "fact.get",
        loci_str_of(
            test_format("{%s,\"id\":\"%s\"}", sim_who_args(s, who), fails ? "nothing" : "$0.id")),
        LOCI_AT_CLOCK};
    status = loci_call_many(s->engine, requests, (size_t)count + 1, &options, &answer, &err);
    if (fails) {
        CHECK_STATUS(LOCI_ENOTFOUND, status);
        CHECK_EQ(test_member_int(loci_str_of(err.data), "index"), count);
        return;
    }
    CHECK_OK(status, err);
    element = lc_json_first(sim_parse(s, lc_arena_copy(&s->arena, loci_answer_json(answer))));
    loci_answer_free(answer);
    for (int i = 0; i < count; i++, element = lc_json_next(element))
        check_written(s, &claims[i], element);
    CHECK_STR_EQ(sim_text_of(s, element, "key"), test_format("k%d", claims[0].key));
}

/* Takes back a fact by its key, as a manager would. */
static void do_retract(sim *s)
{
    model_claim claim = plain_claim(s, sim_anyone(s));
    const char *args = test_format("{%s,\"key\":\"k%d\"}", sim_who_args(s, claim.who), claim.key);
    loci_str answer;
    loci_status status = sim_call(s, claim.who.tenant, "fact.retract", args, &answer);
    int standing;

    (void)model_judge(&s->m, &claim, &standing);
    if (standing < 0) {
        CHECK_STATUS(LOCI_ENOTFOUND, status);
    } else if (!model_may_end(&claim, &s->m.facts[standing])) {
        CHECK_STATUS(LOCI_EFORBIDDEN, status);
    } else {
        CHECK_OK(status, s->err);
        model_retract(&s->m, standing, s->now_us);
    }
}

/* ---- Reading -------------------------------------------------------------------------------- */

/* The only element of `supersedes`; "" when there is none. */
static const char *superseded_id(sim *s, const lc_json *fact)
{
    const lc_json *list = lc_json_member(fact, LC_STR("supersedes"));

    if (list == NULL || lc_json_count(list) == 0)
        return "";
    CHECK_EQ(lc_json_count(list), 1);
    return lc_arena_copy(&s->arena, lc_json_str(lc_json_first(list))).ptr;
}

static const char *id_at(const model *m, int place)
{
    return place < 0 ? "" : m->facts[place].id;
}

static void check_fact(sim *s, const model_fact *expected, const lc_json *seen)
{
    char recorded_at[LC_TIME_BYTES_MAX];
    size_t bytes = lc_time_format(expected->recorded_at, recorded_at);
    lc_buf value;

    lc_buf_init(&value, &s->heap, LOCI_MEM_REQUESTS, LC_JSON_BYTES_MAX);
    CHECK_OK(lc_json_canonical(&s->arena, lc_json_member(seen, LC_STR("value")), &value, &s->err),
             s->err);
    CHECK_STR_EQ(lc_buf_str(&value), values[expected->value].canonical);
    lc_buf_clear(&value);
    CHECK_STR_EQ(sim_text_of(s, seen, "id"), expected->id);
    CHECK_STR_EQ(sim_text_of(s, seen, "status"), expected->is_valid ? "valid" : expected->status);
    CHECK_STR_EQ(sim_text_of(s, seen, "authority"), ranks[expected->rank]);
    CHECK_STR_EQ(sim_text_of(s, seen, "contests"), id_at(&s->m, expected->contests));
    CHECK_STR_EQ(sim_text_of(s, seen, "recorded_at"), ((loci_str){recorded_at, bytes}));
    CHECK_STR_EQ(superseded_id(s, seen), id_at(&s->m, expected->supersedes));
    CHECK_STR_EQ(sim_text_of(s, seen, "superseded_by"), id_at(&s->m, expected->superseded_by));
    CHECK_EQ(lc_json_int(lc_json_member(seen, LC_STR("seq"))), expected->seq);
}

/* What fact.current says of a key without a valid fact. */
static void check_ended(sim *s, const model_fact *expected, const lc_json *seen)
{
    CHECK(lc_json_member(seen, LC_STR("value")) == NULL);
    CHECK_STR_EQ(sim_text_of(s, seen, "status"), expected->status);
    CHECK_STR_EQ(sim_text_of(s, seen, "superseded_by"), id_at(&s->m, expected->superseded_by));
    CHECK(sim_text_of(s, seen, "ended_at")[0] != '\0');
}

static void check_current(sim *s, model_who who, int key)
{
    const char *args = test_format("{%s,\"key\":\"k%d\"}", sim_who_args(s, who), key);
    int place = model_current(&s->m, who, key);
    loci_str answer;
    loci_status status = sim_call(s, who.tenant, "fact.current", args, &answer);

    CHECK_STATUS(place < 0 ? LOCI_ENOTFOUND : LOCI_OK, status);
    if (place < 0)
        return;
    if (s->m.facts[place].is_valid)
        check_fact(s, &s->m.facts[place], sim_parse(s, answer));
    else
        check_ended(s, &s->m.facts[place], sim_parse(s, answer));
}

static void check_history(sim *s, model_who who, int key)
{
    const char *args = test_format("{%s,\"key\":\"k%d\"}", sim_who_args(s, who), key);
    loci_str answer;
    loci_status status = sim_call(s, who.tenant, "fact.history", args, &answer);
    const lc_json *seen;

    if (model_current(&s->m, who, key) < 0) {
        CHECK_STATUS(LOCI_ENOTFOUND, status);
        return;
    }
    CHECK_OK(status, s->err);
    seen = lc_json_first(lc_json_member(sim_parse(s, answer), LC_STR("facts")));
    for (int i = 0; i < s->m.fact_count; i++) {
        const model_fact *fact = &s->m.facts[i];

        if (fact->key != key || fact->is_scoped || fact->contests >= 0 || !model_sees(who, fact))
            continue;
        CHECK(seen != NULL);
        check_fact(s, fact, seen);
        seen = lc_json_next(seen);
    }
    CHECK(seen == NULL);
}

/* Any fact there is, asked for by anyone: somebody else's answers as one that does not exist. */
static void check_get(sim *s, model_who who)
{
    const model_fact *fact = &s->m.facts[s->m.fact_count == 0 ? 0 : sim_below(s, s->m.fact_count)];
    const char *args = test_format("{%s,\"id\":\"%s\"}", sim_who_args(s, who),
                                   s->m.fact_count == 0 ? "fact_none" : fact->id);
    loci_str answer;
    loci_status status = sim_call(s, who.tenant, "fact.get", args, &answer);
    bool is_seen = s->m.fact_count > 0 && model_sees(who, fact);

    CHECK_STATUS(is_seen ? LOCI_OK : LOCI_ENOTFOUND, status);
    if (is_seen)
        check_fact(s, fact, sim_parse(s, answer));
}

/* ---- Running -------------------------------------------------------------------------------- */

static void step(sim *s)
{
    int roll = sim_below(s, 100);

    if (roll < 42)
        do_write(s);
    else if (roll < 45)
        do_retract(s);
    else if (roll < 55)
        do_batch(s);
    else if (roll < 65)
        check_current(s, sim_anyone(s), sim_below(s, KEYS));
    else if (roll < 73)
        check_history(s, sim_anyone(s), sim_below(s, KEYS));
    else if (roll < 83)
        check_get(s, sim_anyone(s));
    else if (roll < 97)
        s->now_us += test_rng_between(&s->rng, -DAY_US, 2 * DAY_US) / (roll % 2 == 0 ? 1 : 1000);
    else {
        loci_close(s->engine);
        sim_open(s);
    }
    lc_arena_clear(&s->arena);
}

static void check_all(sim *s)
{
    for (int i = 0; i < MODEL_TENANTS * MODEL_USERS * 3 * KEYS; i++) {
        model_who who = {.tenant = i % 2, .user = i / 2 % MODEL_USERS, .persona = i / 6 % 3};

        check_current(s, who, i / 18);
        check_history(s, who, i / 18);
        lc_arena_clear(&s->arena);
    }
}

static void run_seed(uint64_t seed, const char *store)
{
    static sim s;

    s = (sim){.store = store, .rng = test_random(seed), .now_us = INT64_C(1700000000) * 1000000};
    lc_heap_init(&s.heap, (loci_allocator){0});
    lc_arena_init(&s.arena, &s.heap, LOCI_MEM_REQUESTS);
    sim_open(&s);
    for (int i = 1; i <= STEPS; i++) {
        step(&s);
        if (i % VERIFY_EVERY == 0) {
            loci_error err;

            CHECK_OK(test_verify(s.engine, &err), err);
        }
    }
    check_all(&s);
    loci_close(s.engine);
    lc_arena_clear(&s.arena);
}

TEST(model, answers_equal_those_of_a_naive_model)
{
    uint64_t seeds = test_count(test_is_sanitized() ? 30 : 60, 5000);
    const char *dir = test_tmpdir();

    test_timeout(900);
    if (test_is_postgres()) /* Every one makes its tables there, and every call is a round trip. */
        seeds = test_count(12, seeds / 4);
    for (uint64_t seed = 1; seed <= seeds; seed++)
        run_seed(seed, test_store(dir, test_format("%llu.db", (unsigned long long)seed)));
}
