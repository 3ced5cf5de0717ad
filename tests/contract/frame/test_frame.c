/* Frames through loci_call(): budgets, limits, handles, tool calls, ends, and forgetting. Every
 * test ends with a comparison of the projections with those that the log gives (facts_close). */
#include "contract/fact_fixture.h"

#include <stdio.h>
#include <string.h>

static void frames_open(facts *f)
{
    facts_open_store(f, test_store(test_tmpdir(), "store.db"));
}

/* A frame's id. */
static const char *push(facts *f, const char *args)
{
    return test_format("%s", test_member_text(facts_call(f, "frame.push", "%s", args), "id").ptr);
}

static int64_t available(facts *f, const char *id)
{
    return test_member_int(facts_call(f, "frame.get", "{'id':'%s'}", id), "budget.available");
}

/* ---- Budgets --------------------------------------------------------------------------------- */

/* The example of the design, which printed 2300 and is 2800 when the child has returned its rest.
 */
TEST(frame, the_budget_of_the_design_ends_with_2800)
{
    facts f;
    const char *root, *child;
    loci_str answer;

    frames_open(&f);
    root = push(&f, "{'goal':'research','budget':8000}");
    facts_call(&f, "frame.reserve", "{'frame_id':'%s','tokens':500,'purpose':'brief'}", root);
    facts_call(&f, "frame.reserve", "{'frame_id':'%s','tokens':200}", root);
    child = push(&f, test_format("{'goal':'read','parent_id':'%s','budget':3000}", root));
    facts_call(&f, "frame.use", "{'frame_id':'%s','tokens':2000}", root);
    CHECK_EQ(available(&f, root), 2300);
    facts_call(&f, "frame.use", "{'frame_id':'%s','tokens':2500}", child);
    facts_call(&f, "frame.pop", "{'id':'%s'}", child);
    CHECK_EQ(available(&f, root), 2800);
    answer = facts_call(&f, "frame.get", "{'id':'%s'}", root);
    CHECK_EQ(test_member_int(answer, "budget.used"), 4500);
    CHECK_EQ(test_member_int(answer, "budget.reserved"), 700);
    CHECK_EQ(test_member_int(answer, "budget.subcall_allocation"), 0);
    facts_close(&f);
}

TEST(frame, a_reservation_is_consumed_and_released_by_its_id)
{
    facts f;
    const char *root;
    char *id;
    loci_str answer;

    frames_open(&f);
    root = push(&f, "{'goal':'g','budget':100}");
    answer = facts_call(&f, "frame.reserve", "{'frame_id':'%s','tokens':60}", root);
    id = test_format("%s", test_member_text(answer, "id").ptr);
    answer = facts_call(&f, "frame.consume", "{'id':'%s','tokens':25}", id);
    CHECK_EQ(test_member_int(answer, "left"), 35);
    CHECK_EQ(test_member_int(answer, "budget.available"), 40);
    answer = facts_call(&f, "frame.consume", "{'id':'%s','tokens':90}", id);
    CHECK_STR_EQ(test_member_text(answer, "outcome"), "over_budget");
    CHECK_EQ(test_member_int(answer, "over"), 15);
    answer = facts_call(&f, "frame.release", "{'id':'%s'}", id);
    CHECK_EQ(test_member_int(answer, "budget.used"), 115);
    CHECK_EQ(test_member_int(answer, "budget.reserved"), 0);
    facts_fail(&f, LOCI_ENOTFOUND, "no reservation rsv_1", "frame.release", "{'id':'rsv_1'}");
    facts_close(&f);
}

/* Tokens that were used are recorded; what was not granted yet is refused and changes nothing. */
TEST(frame, use_is_recorded_and_grants_are_refused)
{
    facts f;
    const char *root;
    loci_str answer;

    frames_open(&f);
    root = push(&f, "{'goal':'g','budget':100}");
    answer = facts_call(&f, "frame.use", "{'frame_id':'%s','tokens':130}", root);
    CHECK_STR_EQ(test_member_text(answer, "outcome"), "over_budget");
    CHECK_EQ(test_member_int(answer, "over"), 30);
    facts_fail(&f, LOCI_EOVERBUDGET, "0 tokens available, 1 were requested", "frame.reserve",
               test_format("{'frame_id':'%s','tokens':1}", root));
    CHECK_STR_EQ(f.err.data, "{\"requested\":1,\"available\":0}");
    facts_fail(&f, LOCI_EOVERBUDGET, "were requested", "frame.push",
               test_format("{'goal':'c','parent_id':'%s','budget':5}", root));
    facts_fail(&f, LOCI_EINVAL, "tokens", "frame.use",
               test_format("{'frame_id':'%s','tokens':-1}", root));
    facts_fail(&f, LOCI_EINVAL, "budget", "frame.push", "{'goal':'g','budget':-1}");
    facts_fail(&f, LOCI_EINVAL, "budget", "frame.push",
               "{'goal':'g','budget':9223372036854775807}");
    facts_close(&f);
}

/* ---- Trees ----------------------------------------------------------------------------------- */

TEST(frame, a_frame_with_open_children_is_not_popped)
{
    facts f;
    const char *root, *child, *leaf;
    loci_str answer;

    frames_open(&f);
    root = push(&f, "{'goal':'root','budget':1000}");
    child = push(&f, test_format("{'goal':'child','parent_id':'%s','budget':600}", root));
    leaf = push(&f, test_format("{'goal':'leaf','parent_id':'%s','budget':100}", child));
    facts_call(&f, "frame.use", "{'frame_id':'%s','tokens':40}", leaf);
    facts_call(&f, "frame.reserve", "{'frame_id':'%s','tokens':10}", leaf);
    facts_call(&f, "frame.tool_begin", "{'frame_id':'%s','call_id':'c','name':'n'}", leaf);
    facts_fail(&f, LOCI_ECONFLICT, "has 1 open children", "frame.pop",
               test_format("{'id':'%s'}", child));
    answer = facts_call(&f, "frame.pop", "{'id':'%s','cascade':true,'status':'failed'}", child);
    CHECK_EQ(test_member_int(answer, "popped"), 2);
    answer = facts_call(&f, "frame.get", "{'id':'%s'}", root);
    CHECK_EQ(test_member_int(answer, "budget.available"), 960);
    CHECK_EQ(test_member_int(answer, "open_children"), 0);
    CHECK_CONTAINS(test_member_text(answer, "error"), "failed");
    answer = facts_call(&f, "frame.get", "{'id':'%s'}", leaf);
    CHECK_STR_EQ(test_member_text(answer, "status"), "cancelled");
    CHECK_STR_EQ(test_member(answer, "running_tools"), "[]");
    CHECK_STR_EQ(test_member(answer, "reservations"), "[]");
    facts_fail(&f, LOCI_ECONFLICT, "is cancelled", "frame.use",
               test_format("{'frame_id':'%s','tokens':1}", leaf));
    facts_fail(&f, LOCI_ECONFLICT, "cannot become completed", "frame.pop",
               test_format("{'id':'%s'}", leaf));
    facts_close(&f);
}

TEST(frame, limits_are_inherited_and_can_only_be_lowered)
{
    facts f;
    const char *root, *child;
    loci_str answer;

    frames_open(&f);
    root = push(&f, "{'goal':'g','max_tool_calls':2,'max_subframe_depth':1,'timeout_ms':60000}");
    child = push(&f, test_format("{'goal':'c','parent_id':'%s','max_tool_calls':9,"
                                 "'max_subframe_depth':5,'timeout_ms':90000}",
                                 root));
    answer = facts_call(&f, "frame.get", "{'id':'%s'}", child);
    CHECK_EQ(test_member_int(answer, "limits.max_tool_calls"), 2);
    CHECK_EQ(test_member_int(answer, "limits.max_subframe_depth"), 1);
    CHECK_EQ(test_member_int(answer, "limits.timeout_ms"), 60000);
    facts_fail(&f, LOCI_ELIMIT, "the deepest frame allowed", "frame.push",
               test_format("{'goal':'x','parent_id':'%s'}", child));
    facts_call(&f, "frame.tool_begin", "{'frame_id':'%s','call_id':'1','name':'t'}", child);
    facts_call(&f, "frame.tool_begin", "{'frame_id':'%s','call_id':'2','name':'t'}", child);
    facts_fail(&f, LOCI_ELIMIT, "has made 2 tool calls", "frame.tool_begin",
               test_format("{'frame_id':'%s','call_id':'3','name':'t'}", child));
    f.now_us += MINUTE_US;
    facts_fail(&f, LOCI_ELIMIT, "is past its timeout", "frame.push",
               test_format("{'goal':'x','parent_id':'%s'}", root));
    facts_fail(&f, LOCI_ELIMIT, "is past its timeout", "frame.reserve",
               test_format("{'frame_id':'%s','tokens':1}", root));
    facts_close(&f);
}

TEST(frame, depth_64_is_the_deepest)
{
    facts f;
    const char *id;

    frames_open(&f);
    id = push(&f, "{'goal':'root','budget':1000}");
    for (int depth = 1; depth <= 64; depth++)
        id = push(&f, test_format("{'goal':'d%d','parent_id':'%s','budget':1000}", depth, id));
    CHECK_EQ(test_member_int(facts_call(&f, "frame.get", "{'id':'%s'}", id), "depth"), 64);
    facts_fail(&f, LOCI_ELIMIT, "has depth 64", "frame.push",
               test_format("{'goal':'x','parent_id':'%s'}", id));
    facts_close(&f);
}

TEST(frame, a_parent_has_the_same_scope_user_and_tenant)
{
    facts f;
    const char *root, *own;
    char *args;

    frames_open(&f);
    root = push(&f, "{'goal':'g','scope':{'actor_id':'a','session_id':'s'}}");
    args = test_format("{'goal':'c','parent_id':'%s'}", root);
    CHECK_CONTAINS(facts_call(&f, "frame.push", "%s", args), "\"session_id\":\"s\"");
    facts_fail(&f, LOCI_EINVAL, "another actor, session or thread", "frame.push",
               test_format("{'goal':'c','parent_id':'%s','actor_id':'b'}", root));
    facts_fail(&f, LOCI_EINVAL, "another actor, session or thread", "frame.push",
               test_format("{'goal':'c','parent_id':'%s','thread_id':'t'}", root));
    facts_fail(&f, LOCI_ENOTFOUND, "no frame frm_", "frame.push",
               test_format("{'goal':'c','parent_id':'%s','user_id':'bob'}", root));
    own = push(&f, "{'goal':'private','persona_id':'p1'}");
    facts_fail(&f, LOCI_ENOTFOUND, "no frame frm_", "frame.push",
               test_format("{'goal':'c','parent_id':'%s','persona_id':'p2'}", own));
    facts_fail(&f, LOCI_ENOTFOUND, "no frame frm_", "frame.get", test_format("{'id':'%s'}", own));
    facts_fail(&f, LOCI_EINVAL, "scope.actor_id", "frame.push",
               "{'goal':'g','scope':{'actor_id':7}}");
    facts_fail(&f, LOCI_EINVAL, "unknown member", "frame.push", "{'goal':'g','scope':{'actor':1}}");
    f.tenant = "other";
    facts_fail(&f, LOCI_ENOTFOUND, "no frame frm_", "frame.push", args);
    f.tenant = NULL;
    facts_close(&f);
}

TEST(frame, update_moves_by_the_table_of_statuses)
{
    facts f;
    const char *root;
    loci_str answer;

    frames_open(&f);
    root = push(&f, "{'goal':'g','inputs':{'n':1},'metadata':{'k':'v'}}");
    answer = facts_call(&f, "frame.update",
                        "{'id':'%s','status':'waiting','waiting_for':'user','goal':'h'}", root);
    CHECK_STR_EQ(test_member_text(answer, "waiting_for"), "user");
    CHECK_STR_EQ(test_member(answer, "inputs"), "{\"n\":1}");
    answer = facts_call(&f, "frame.list", "{'metadata':{'k':'v'},'status':'waiting'}");
    CHECK_STR_EQ(test_member_text(answer, "frames.0.goal"), "h");
    CHECK_STR_EQ(test_member(facts_call(&f, "frame.list", "{'metadata':{'k':'w'}}"), "frames"),
                 "[]");
    answer = facts_call(&f, "frame.update", "{'id':'%s','status':'active','error':'odd'}", root);
    CHECK_STR_EQ(test_member_text(answer, "error"), "odd");
    CHECK_STR_EQ(test_member(answer, "waiting_for"), "");
    facts_fail(&f, LOCI_EINVAL, "waiting_for", "frame.update",
               test_format("{'id':'%s','status':'active','waiting_for':'user'}", root));
    facts_call(&f, "frame.pop", "{'id':'%s'}", root);
    facts_fail(&f, LOCI_ECONFLICT, "it is completed", "frame.update",
               test_format("{'id':'%s','status':'waiting'}", root));
    facts_close(&f);
}

/* ---- Handles and tool calls ------------------------------------------------------------------ */

/* The result of a child is a handle of its parent, and its text is stored once. */
TEST(frame, the_parent_gets_the_result_of_a_child)
{
    facts f;
    const char *root, *child;
    loci_str answer;
    char *hash;

    frames_open(&f);
    root = push(&f, "{'goal':'root'}");
    child = push(&f, test_format("{'goal':'child','parent_id':'%s'}", root));
    facts_call(&f, "frame.pop", "{'id':'%s','result':'Pool exhausted','priority':'high'}", child);
    answer = facts_call(&f, "frame.get", "{'id':'%s'}", root);
    hash = test_format("%s", test_member_text(answer, "handles.0.content_hash").ptr);
    CHECK_STR_EQ(test_member_text(answer, "handles.0.priority"), "high");
    CHECK_EQ(test_member_int(answer, "context_tokens"),
             test_member_int(answer, "handles.0.tokens"));
    answer = facts_call(&f, "frame.get", "{'id':'%s'}", child);
    CHECK_STR_EQ(test_member_text(answer, "results.0.content_hash"), hash);
    answer = facts_call(&f, "event.list", "{'limit':100}");
    CHECK(strstr(strstr(answer.ptr, "Pool exhausted") + 1, "Pool exhausted") == NULL);
    facts_close(&f);
}

TEST(frame, handles_are_added_and_removed)
{
    facts f;
    const char *root;
    char *id, *before;
    loci_str answer;

    frames_open(&f);
    root = push(&f, "{'goal':'root'}");
    facts_call(&f, "frame.handle_add", "{'frame_id':'%s','ref':'https://x.org/a','type':'url'}",
               root);
    answer = facts_call(&f, "frame.get", "{'id':'%s'}", root);
    before = test_format("%s", test_member_text(answer, "context_hash").ptr);
    answer = facts_call(&f, "frame.handle_add", "{'frame_id':'%s','text':'some words'}", root);
    id = test_format("%s", test_member_text(answer, "id").ptr);
    CHECK_LT(0, test_member_int(answer, "tokens"));
    answer = facts_call(&f, "frame.handle_remove", "{'id':'%s'}", id);
    CHECK_EQ(test_member_int(answer, "context_tokens"), 0);
    answer = facts_call(&f, "frame.get", "{'id':'%s'}", root);
    CHECK_EQ(test_member_int(answer, "handle_count"), 1);
    CHECK(strcmp(test_member_text(answer, "context_hash").ptr, before) != 0);
    facts_fail(&f, LOCI_ENOTFOUND, "no handle hdl_", "frame.handle_remove",
               test_format("{'id':'%s'}", id));
    facts_fail(&f, LOCI_ENOTFOUND, "no handle hdl_", "frame.handle_remove",
               test_format("{'id':'%s','user_id':'bob'}", id));
    facts_fail(&f, LOCI_EINVAL, "text", "frame.handle_add",
               test_format("{'frame_id':'%s','text':'a','ref':'b'}", root));
    facts_close(&f);
}

TEST(frame, tool_calls_are_recorded_once_per_call_id)
{
    facts f;
    const char *root;
    loci_str answer;

    frames_open(&f);
    root = push(&f, "{'goal':'root'}");
    answer = facts_call(&f, "frame.tool_begin",
                        "{'frame_id':'%s','call_id':'c1','name':'grep','arguments':{'p':'x'}}",
                        root);
    CHECK_STR_EQ(test_member(answer, "existing"), "false");
    answer = facts_call(&f, "frame.tool_begin", "{'frame_id':'%s','call_id':'c1','name':'grep'}",
                        root);
    CHECK_STR_EQ(test_member(answer, "existing"), "true");
    answer = facts_call(&f, "frame.get", "{'id':'%s'}", root);
    CHECK_EQ(test_member_int(answer, "tool_calls"), 1);
    CHECK_STR_EQ(test_member_text(answer, "running_tools.0.name"), "grep");
    facts_fail(&f, LOCI_ECONFLICT, "another tool", "frame.tool_begin",
               test_format("{'frame_id':'%s','call_id':'c1','name':'sed'}", root));
    facts_fail(&f, LOCI_ENOTFOUND, "begin it first", "frame.tool_end",
               test_format("{'frame_id':'%s','call_id':'c2'}", root));
    answer = facts_call(&f, "frame.tool_end", "{'frame_id':'%s','call_id':'c1','output':'3 hits'}",
                        root);
    CHECK_STR_EQ(test_member_text(answer, "status"), "done");
    answer = facts_call(&f, "frame.tool_end", "{'frame_id':'%s','call_id':'c1','output':'4'}",
                        root);
    CHECK_STR_EQ(test_member(answer, "existing"), "true");
    facts_call(&f, "frame.tool_begin", "{'frame_id':'%s','call_id':'c3','name':'sed'}", root);
    facts_call(&f, "frame.tool_end", "{'frame_id':'%s','call_id':'c3','error':'no file'}", root);
    answer = facts_call(&f, "frame.get", "{'id':'%s'}", root);
    CHECK_STR_EQ(test_member_text(answer, "error"), "tool sed failed: no file");
    CHECK_EQ(test_member_int(answer, "handle_count"), 1);
    CHECK_STR_EQ(test_member_text(answer, "handles.0.type"), "tool_output");
    facts_close(&f);
}

/* Text of `bytes` bytes that compresses as code does. */
static char *long_text(int seed, size_t bytes)
{
    char *text = test_bytes(bytes);

    for (size_t at = 0; at < bytes;)
        at += (size_t)snprintf(text + at, bytes - at + 1, "line %zu of call %d returns value %zu. ",
                               at, seed, at * 7919 % 1000);
    return text;
}

/* The bytes of 400 turns grow with their texts: the second half costs no more than the first. */
TEST_ON(TEST_FILES, frame, storage_grows_linearly_with_the_texts)
{
    static const char sql[] = "select sum(length(payload) + length(refs)) from events";
    facts f;
    const char *root;
    int64_t half = 0, all;

    test_timeout(300);
    frames_open(&f);
    root = push(&f, "{'goal':'root'}");
    for (int turn = 0; turn < 400; turn++) {
        char *text = long_text(turn, 4000);

        facts_call(&f, "frame.tool_begin", "{'frame_id':'%s','call_id':'c%d','name':'n'}", root,
                   turn);
        facts_call(&f, "frame.tool_end", "{'frame_id':'%s','call_id':'c%d','output':'%s'}", root,
                   turn, text);
        /* The same text again costs no text. */
        facts_call(&f, "frame.result_add", "{'frame_id':'%s','text':'%s'}", root, text);
        if (turn == 199)
            half = test_store_number(f.store, sql);
    }
    all = test_store_number(f.store, sql);
    CHECK_LT(all, half * 21 / 10);
    CHECK_LT(all, 400 * 4000); /* Compressed, and events and states included. */
    facts_close(&f);
}

/* ---- Forgetting ------------------------------------------------------------------------------ */

TEST(frame, forgetting_erases_the_texts_of_the_tree_alone)
{
    facts f;
    const char *root, *child, *other;
    loci_str answer;

    frames_open(&f);
    root = push(&f, "{'goal':'GOAL-secretive','inputs':'INPUT-secretive'}");
    child = push(&f, test_format("{'goal':'CHILD-secretive','parent_id':'%s'}", root));
    other = push(&f, "{'goal':'stays','session_id':'chat'}");
    facts_call(&f, "frame.handle_add", "{'frame_id':'%s','text':'SHARED-text'}", child);
    facts_call(&f, "frame.handle_add", "{'frame_id':'%s','text':'SHARED-text'}", other);
    facts_call(&f, "frame.handle_add", "{'frame_id':'%s','text':'ALONE-text','title':'TITLE'}",
               child);
    facts_call(&f, "frame.tool_begin",
               "{'frame_id':'%s','call_id':'CALL-1','name':'n','arguments':'ARGS-x'}", child);
    facts_call(&f, "frame.update", "{'id':'%s','goal':'UPDATED-secretive'}", root);
    facts_call(&f, "frame.pop", "{'id':'%s','status':'failed','error':'ERROR-x'}", child);
    answer = facts_call(&f, "frame.forget", "{'id':'%s','dry_run':true}", child);
    CHECK_EQ(test_member_int(answer, "removed.frame"), 2);
    CHECK(facts_is_stored(&f, "ALONE-text"));
    facts_call(&f, "frame.forget", "{'id':'%s','wait':true}", child);
    for (const char *const *text = (const char *const[]){"secretive", "ALONE-text", "TITLE",
                                                         "CALL-1", "ARGS-x", "ERROR-x", NULL};
         *text != NULL; text++)
        CHECK(!facts_is_stored(&f, *text));
    CHECK(facts_is_stored(&f, "SHARED-text"));
    facts_fail(&f, LOCI_ENOTFOUND, "no frame frm_", "frame.get", test_format("{'id':'%s'}", root));
    CHECK_OK(test_verify(f.engine, &f.err), f.err);
    /* The text can be added again, and is stored again. */
    facts_call(&f, "frame.handle_add", "{'frame_id':'%s','text':'ALONE-text'}", other);
    facts_call(&f, "session.append", "{'session_id':'chat','role':'user','text':'hello'}");
    facts_call(&f, "session.forget", "{'session_id':'chat','wait':true}");
    CHECK(!facts_is_stored(&f, "SHARED-text"));
    CHECK(!facts_is_stored(&f, "ALONE-text"));
    facts_close(&f);
}

TEST(frame, forgetting_a_user_erases_its_frames)
{
    facts f;
    const char *root;

    frames_open(&f);
    root = push(&f, "{'goal':'GOAL-secretive','user_id':'ann'}");
    facts_call(&f, "frame.handle_add", "{'frame_id':'%s','text':'TEXT-x','user_id':'ann'}", root);
    facts_call(&f, "user.forget", "{'user_id':'ann','wait':true}");
    CHECK(!facts_is_stored(&f, "GOAL-secretive"));
    CHECK(!facts_is_stored(&f, "TEXT-x"));
    CHECK_STR_EQ(test_member(facts_call(&f, "frame.list", "{'user_id':'ann'}"), "frames"), "[]");
    facts_close(&f);
}

/* ---- Random trees ---------------------------------------------------------------------------- */

#define TREE_MAX 200

/* Any operation on any frame: an answer or an error, and in the end the log gives the same rows,
 * the parts add up (store.verify) and the root has paid for everything that was used. */
TEST(frame, random_operations_keep_the_books)
{
    static const char *const pops[] = {"completed", "failed", "cancelled"};
    test_rng rng = test_random(18);
    const char *ids[TREE_MAX];
    int count = 1;
    int64_t used = 0;
    loci_str answer;
    facts f;

    frames_open(&f);
    ids[0] = push(&f, "{'goal':'root','budget':100000}");
    for (uint64_t i = 0; i < test_count(400, 4000); i++) {
        const char *id = ids[test_rng_below(&rng, (uint64_t)count)];
        int64_t n = (int64_t)test_rng_below(&rng, 400);
        char *args = test_format("{'frame_id':'%s','tokens':%lld}", id, (long long)n);

        switch (test_rng_below(&rng, 6)) {
        case 0:
            args = test_format("{'goal':'g','parent_id':'%s','budget':%lld}", id, (long long)n);
            if (count < TREE_MAX && facts_try(&f, "frame.push", &answer, args) == LOCI_OK)
                ids[count++] = test_format("%s", test_member_text(answer, "id").ptr);
            break;
        case 1:
            if (facts_try(&f, "frame.use", &answer, args) == LOCI_OK)
                used += n;
            break;
        case 2:
            (void)facts_try(&f, "frame.reserve", &answer, args); /* May be refused. */
            break;
        case 3:
            args = test_format("{'frame_id':'%s','text':'text %lld'}", id, (long long)n % 20);
            (void)facts_try(&f, "frame.handle_add", &answer, args); /* The frame may have ended. */
            break;
        case 4:
            args = test_format("{'frame_id':'%s','call_id':'%lld','name':'t'}", id,
                               (long long)n % 10);
            (void)facts_try(&f, n % 2 == 0 ? "frame.tool_begin" : "frame.tool_end", &answer, args);
            break;
        default:
            if (id != ids[0]) /* May be refused: it has ended, or has children. */
                (void)facts_try(&f, "frame.pop", &answer,
                                test_format("{'id':'%s','status':'%s','cascade':%s}", id,
                                            pops[n % 3], n % 5 == 0 ? "true" : "false"));
            break;
        }
    }
    CHECK_LT(10, count);
    answer = facts_call(&f, "frame.pop", "{'id':'%s','cascade':true}", ids[0]);
    CHECK_EQ(test_member_int(answer, "budget.used"), used);
    facts_close(&f);
}
