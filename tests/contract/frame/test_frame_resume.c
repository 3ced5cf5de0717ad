/* Suspending, resuming, timeouts, and the stack of an actor after a restart. */
#include "contract/fact_fixture.h"

#include <string.h>

#include "base/str.h"
#include "engine/engine.h"
#include "frame/frame.h"

static void frames_open(facts *f)
{
    facts_open_store(f, test_store(test_tmpdir(), "store.db"));
}

static const char *push(facts *f, const char *args)
{
    return test_format("%s", test_member_text(facts_call(f, "frame.push", "%s", args), "id").ptr);
}

static loci_status sweep(lc_tx *tx, void *ctx, loci_error *err)
{
    int64_t *count = ctx;
    bool is_due = false;
    loci_status status = lc_frame_sweep.is_due(tx, 60, &is_due, err);

    *count = 0;
    if (status == LOCI_OK && is_due)
        status = lc_frame_sweep.run(tx, 60, count, err);
    return status;
}

/* Does what the hourly job store.purge does for the user; returns how many frames failed. */
static int64_t sweep_frames(facts *f)
{
    int64_t count = 0;
    lc_write write = {.tenant_id = LC_STR("default"),
                      .user_id = LC_STR("default"),
                      .now_us = f->now_us,
                      .deadline_us = INT64_MAX,
                      .body = sweep,
                      .ctx = &count};

    CHECK_OK(lc_engine_write(f->engine, &write), write.error);
    return count;
}

static char *suspend(facts *f, const char *id, const char *more)
{
    loci_str answer = facts_call(f, "frame.suspend", "%s", test_format("{'id':'%s'%s}", id, more));

    return test_format("%s", test_member_text(answer, "token").ptr);
}

TEST(frame_resume, a_token_works_once)
{
    facts f;
    const char *id;
    char *token, *other;
    loci_str answer;

    frames_open(&f);
    id = push(&f, "{'goal':'g'}");
    token = suspend(&f, id, ",'reason':'approval'");
    CHECK_EQ(strlen(token), 36);
    CHECK(!facts_is_stored(&f, token));
    facts_fail(&f, LOCI_ECONFLICT, "resume it first", "frame.reserve",
               test_format("{'frame_id':'%s','tokens':1}", id));
    facts_fail(&f, LOCI_ECONFLICT, "cannot become completed", "frame.pop",
               test_format("{'id':'%s'}", id));
    answer = facts_call(&f, "frame.resume", "{'token':'%s'}", token);
    CHECK_STR_EQ(test_member_text(answer, "status"), "active");
    facts_fail(&f, LOCI_ECONFLICT, "was used before", "frame.resume",
               test_format("{'token':'%s'}", token));
    facts_fail(&f, LOCI_ENOTFOUND, "unknown", "frame.resume",
               "{'token':'frt_00000000000000000000000000000000'}");
    other = suspend(&f, id, "");
    CHECK(strcmp(token, other) != 0);
    facts_close(&f);
}

TEST(frame_resume, a_token_belongs_to_its_user_and_persona)
{
    facts f;
    const char *id;
    char *token;

    frames_open(&f);
    id = push(&f, "{'goal':'g','persona_id':'p1'}");
    token = suspend(&f, id, ",'persona_id':'p1'");
    facts_fail(&f, LOCI_ENOTFOUND, "unknown", "frame.resume",
               test_format("{'token':'%s','persona_id':'p2'}", token));
    facts_fail(&f, LOCI_ENOTFOUND, "unknown", "frame.resume",
               test_format("{'token':'%s','user_id':'bob'}", token));
    f.tenant = "other";
    facts_fail(&f, LOCI_ENOTFOUND, "unknown", "frame.resume",
               test_format("{'token':'%s','persona_id':'p1'}", token));
    f.tenant = NULL;
    facts_call(&f, "frame.resume", "{'token':'%s','persona_id':'p1'}", token);
    facts_close(&f);
}

TEST(frame_resume, a_repeated_request_does_not_show_the_token_again)
{
    facts f;
    const char *id;
    char *args, *token;
    loci_str answer;

    frames_open(&f);
    id = push(&f, "{'goal':'g'}");
    args = test_format("{'id':'%s','request_id':'r'}", id);
    answer = facts_call(&f, "frame.suspend", "%s", args);
    token = test_format("%s", test_member_text(answer, "token").ptr);
    answer = facts_call(&f, "frame.suspend", "%s", args);
    CHECK_STR_EQ(test_member(answer, "token"), "null");
    CHECK(!facts_is_stored(&f, token));
    facts_close(&f);
}

/* Two processes that present one token: the second learns that it was used. */
TEST(frame_resume, one_of_two_engines_wins)
{
    const char *store = test_store(test_tmpdir(), "store.db");
    facts a, b;
    char *token;

    facts_open_store(&a, store);
    facts_open_store(&b, store);
    token = suspend(&a, push(&a, "{'goal':'g'}"), "");
    facts_call(&b, "frame.resume", "{'token':'%s'}", token);
    facts_fail(&a, LOCI_ECONFLICT, "was used before", "frame.resume",
               test_format("{'token':'%s'}", token));
    facts_close(&b);
    facts_close(&a);
}

TEST(frame_resume, children_are_suspended_before_their_parent)
{
    facts f;
    const char *root, *child;

    frames_open(&f);
    root = push(&f, "{'goal':'root'}");
    child = push(&f, test_format("{'goal':'child','parent_id':'%s'}", root));
    facts_fail(&f, LOCI_ECONFLICT, "pop or suspend it first", "frame.suspend",
               test_format("{'id':'%s'}", root));
    (void)suspend(&f, child, "");
    (void)suspend(&f, root, "");
    facts_close(&f);
}

TEST(frame_resume, an_expired_token_fails_its_frame)
{
    facts f;
    const char *root, *child;
    char *token;
    loci_str answer;

    frames_open(&f);
    root = push(&f, "{'goal':'root','budget':100}");
    child = push(&f, test_format("{'goal':'child','parent_id':'%s','budget':60}", root));
    facts_call(&f, "frame.use", "{'frame_id':'%s','tokens':10}", child);
    token = suspend(&f, child, ",'ttl':30");
    f.now_us += MINUTE_US / 2;
    facts_fail(&f, LOCI_ECONFLICT, "has expired", "frame.resume",
               test_format("{'token':'%s'}", token));
    CHECK_EQ(sweep_frames(&f), 0); /* A minute of grace. */
    f.now_us += 2 * MINUTE_US;
    CHECK_EQ(sweep_frames(&f), 1);
    answer = facts_call(&f, "frame.get", "{'id':'%s'}", child);
    CHECK_STR_EQ(test_member_text(answer, "status"), "failed");
    CHECK_STR_EQ(test_member_text(answer, "error"), "its suspension expired");
    answer = facts_call(&f, "frame.get", "{'id':'%s'}", root);
    CHECK_EQ(test_member_int(answer, "budget.available"), 90);
    CHECK_STR_EQ(test_member_text(answer, "status"), "active");
    facts_close(&f);
}

TEST(frame_resume, orphans_past_their_timeout_fail_leaves_first)
{
    facts f;
    const char *root, *child, *other;

    frames_open(&f);
    root = push(&f, "{'goal':'root','timeout_ms':1000}");
    child = push(&f, test_format("{'goal':'child','parent_id':'%s'}", root));
    other = push(&f, "{'goal':'other'}");
    f.now_us += 2 * MINUTE_US;
    CHECK_EQ(sweep_frames(&f), 2);
    CHECK_EQ(sweep_frames(&f), 0);
    CHECK_CONTAINS(facts_call(&f, "frame.get", "{'id':'%s'}", root), "\"status\":\"failed\"");
    CHECK_CONTAINS(facts_call(&f, "frame.get", "{'id':'%s'}", child), "\"error\":\"it timed out\"");
    CHECK_CONTAINS(facts_call(&f, "frame.get", "{'id':'%s'}", other), "\"status\":\"active\"");
    facts_close(&f);
}

/* ---- actor.resume ---------------------------------------------------------------------------- */

TEST(frame_resume, an_actor_finds_its_stack_and_all_pending_work)
{
    static const char scope[] = "{'scope':{'actor_id':'a','session_id':'s'}}";
    facts f;
    const char *root, *left, *right;
    loci_str answer;

    frames_open(&f);
    answer = facts_call(&f, "actor.resume", "%s", scope);
    CHECK_STR_EQ(test_member(answer, "current_frame"), "null");
    CHECK_EQ(test_member_int(answer, "recovery_summary.last_event_seq"), 0);
    root = push(&f, "{'goal':'root','actor_id':'a','session_id':'s'}");
    left = push(&f, test_format("{'goal':'left','parent_id':'%s'}", root));
    right = push(&f, test_format("{'goal':'right','parent_id':'%s'}", root));
    (void)push(&f, "{'goal':'of another actor','actor_id':'b'}");
    (void)push(&f, "{'goal':'of another session','actor_id':'a','session_id':'t'}");
    facts_call(&f, "frame.update", "{'id':'%s','status':'waiting','waiting_for':'child'}", root);
    facts_call(&f, "frame.tool_begin", "{'frame_id':'%s','call_id':'c1','name':'grep'}", right);
    facts_call(&f, "frame.tool_begin", "{'frame_id':'%s','call_id':'c2','name':'sed'}", right);
    facts_call(&f, "frame.tool_end", "{'frame_id':'%s','call_id':'c2','error':'bad'}", right);
    (void)suspend(&f, left, ",'reason':'approval'");
    f.now_us += MINUTE_US;
    answer = facts_call(&f, "actor.resume", "%s", scope);
    CHECK_STR_EQ(test_member_text(answer, "current_frame.goal"), "right");
    CHECK_STR_EQ(test_member_text(answer, "frame_stack.0.goal"), "root");
    CHECK_STR_EQ(test_member_text(answer, "frame_stack.1.goal"), "right");
    CHECK_EQ(test_member_int(answer, "recovery_summary.frames_recovered"), 2);
    CHECK_EQ(test_member_int(answer, "recovery_summary.pending_work_items"), 4);
    CHECK_STR_EQ(test_member_text(answer, "pending_work.0.type"), "waiting");
    CHECK_STR_EQ(test_member_text(answer, "pending_work.1.type"), "suspended");
    CHECK_STR_EQ(test_member_text(answer, "pending_work.1.detail"), "approval");
    CHECK_EQ(test_member_int(answer, "pending_work.1.age_ms"), 60000);
    CHECK_LT(0, test_member(answer, "pending_work.1.expires_at").len);
    CHECK_STR_EQ(test_member_text(answer, "pending_work.2.type"), "unhandled_error");
    CHECK_STR_EQ(test_member_text(answer, "pending_work.2.detail"), "tool sed failed: bad");
    CHECK_STR_EQ(test_member_text(answer, "pending_work.3.type"), "tool_in_progress");
    CHECK_STR_EQ(test_member_text(answer, "pending_work.3.call_id"), "c1");
    facts_call(&f, "frame.update", "{'id':'%s','status':'waiting','waiting_for':'user'}", right);
    answer = facts_call(&f, "actor.resume", "%s", scope);
    CHECK_STR_EQ(test_member_text(answer, "pending_work.2.type"), "waiting_for_user");
    facts_close(&f);
}
