/* judge.h - operations that store messages of the user: what the shadow judge needs of the call.
 *
 *     prepare   lc_call_read_message() for each message
 *     run       lc_call_judge_message() after each was stored
 *     answer    lc_call_put_learned()
 *
 * With a chat provider the message is left to the job fact.extract, and nothing is learned at once.
 */
#ifndef LC_OPS_JUDGE_H
#define LC_OPS_JUDGE_H

#include "context/judge.h"
#include "ops/call_scope.h"

/* A message that is being stored. Zeroed = it is not judged. */
typedef struct lc_message_judgement {
    const lc_talk *talk;
    lc_fact_caller caller;
    lc_judge_reading reading;
    bool is_judged;
    bool is_left_to_job;
    lc_learned_list *learned; /* Made by lc_call_judge_message(); NULL = nothing. */
    lc_id job_id;             /* "" = none. */
} lc_message_judgement;

/* Whether the tenant lets messages be judged (judge.enabled). */
bool lc_call_is_judged(const lc_call *call);

/* Reads a message of this role, before the writer; nothing if judge.enabled is false or no user
 * said it. */
loci_status lc_call_read_message(lc_call *call, loci_str role, loci_str text,
                                 lc_message_judgement *out, loci_error *err);
/* In the writer: `stored` has its id, seq and time, and is in the session of `use`. */
loci_status lc_call_judge_message(lc_call *call, lc_tx *tx, lc_session_use *use,
                                  const lc_message *stored, lc_message_judgement *judgement,
                                  loci_error *err);

/* The member `learned` of an answer. */
extern const lc_record lc_learned_record;
#define LC_LEARNED_RESULT                                                                          \
    {                                                                                              \
        "learned", 0, "What was learned from it, if anything",                                     \
            LC_RESULT_LIST | LC_RESULT_OPTIONAL, .record = &lc_learned_record                      \
    }
/* Writes it if there is something. */
void lc_call_put_learned(lc_call *call, const lc_learned_list *learned);

#endif /* LC_OPS_JUDGE_H */
