/* judge.c - see judge.h. */
#include "ops/judge.h"

#include "base/error.h"
#include "base/str.h"
#include "engine/engine.h"
#include "engine/extraction.h"

const lc_record lc_learned_record = {
    .name = "Learned",
    .members =
        (const lc_result[]){
            {"id", LC_PARAM_STRING, "Id of the fact, memory, todo or proposal"},
            {"kind", LC_PARAM_STRING, "What was made; a proposal waits for review (review.list)",
             .choices = LC_LEARNED_KINDS},
            {"outcome", LC_PARAM_STRING, "Effect of the write, as in fact.write and memory.store",
             .choices = "created|superseded|repeated|late|claimed|shadowed|mentioned|kept_both|"
                        "ended|proposed"},
            {"quote", LC_PARAM_STRING, "Sentence of the message that says it"},
            {NULL},
        },
};

bool lc_call_is_judged(const lc_call *call)
{
    return lc_settings_bool(lc_engine_settings(call->engine), &lc_setting_judge_enabled,
                            call->tenant_id);
}

loci_status lc_call_read_message(lc_call *call, loci_str role, loci_str text,
                                 lc_message_judgement *out, loci_error *err)
{
    loci_status status;

    *out = (lc_message_judgement){0};
    if (!lc_str_is(role, "user") || !lc_call_is_judged(call))
        return LOCI_OK;
    out->is_judged = true;
    out->is_left_to_job = lc_extraction_is_on(call->engine, call->tenant_id);
    status = lc_engine_talk(call->engine, &out->talk, err);
    if (status == LOCI_OK)
        status = lc_fact_caller_init(&out->caller, call, NULL, err);
    if (status == LOCI_OK && !out->is_left_to_job)
        status = lc_judge_read(out->talk, call->arena, text, &out->reading, err);
    return status;
}

loci_status lc_call_judge_message(lc_call *call, lc_tx *tx, lc_session_use *use,
                                  const lc_message *stored, lc_message_judgement *judgement,
                                  loci_error *err)
{
    const lc_identity *identity = &use->session.identity;
    lc_observation observation;

    if (!judgement->is_judged ||
        (!judgement->is_left_to_job && judgement->reading.statements->count == 0 &&
         judgement->reading.lessons->count == 0))
        return LOCI_OK;
    observation = (lc_observation){
        .talk = judgement->talk,
        .session = use,
        .message = *stored,
        .view = {.persona_id = call->persona_id,
                 .session_id = use->session.id,
                 .access = lc_fact_caller_access(&judgement->caller, identity)},
        .authority = lc_fact_caller_authority(&judgement->caller, identity),
        .trust = judgement->caller.trust,
        .is_known_only = true, /* New knowledge becomes a memory, not a fact. */
        .is_one_session = call->implied.session_id.ptr != NULL,
        .arena = call->arena,
    };
    if (judgement->is_left_to_job)
        return lc_extraction_enqueue(tx, &observation, &judgement->job_id, err);
    judgement->learned = lc_arena_zalloc_array(call->arena, 1, sizeof *judgement->learned);
    if (judgement->learned == NULL)
        return lc_fail_memory(err);
    return lc_judge_write(tx, &observation, &judgement->reading, judgement->learned, err);
}

void lc_call_put_learned(lc_call *call, const lc_learned_list *learned)
{
    if (learned == NULL || learned->count == 0)
        return;
    lc_jw_name(&call->out, "learned");
    lc_jw_array(&call->out);
    for (size_t i = 0; i < learned->count; i++) {
        lc_jw_object(&call->out);
        lc_jw_member_text(&call->out, "id", learned->items[i].id.text);
        lc_jw_member_text(&call->out, "kind", learned->items[i].kind);
        lc_jw_member_text(&call->out, "outcome", learned->items[i].outcome);
        lc_jw_member_str(&call->out, "quote", learned->items[i].quote);
        lc_jw_end(&call->out);
    }
    lc_jw_end(&call->out);
}
