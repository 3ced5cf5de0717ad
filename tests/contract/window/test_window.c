/* The window through loci_call(): its life, its limits, its pressure and who may see it. */
#include "contract/fact_fixture.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/str.h"
#include "engine/engine.h"
#include "lib/files.h"
#include "lib/postgres.h"
#include "window/window.h"

/* A text of `tokens` tokens: one per word. */
static const char *words(int tokens)
{
    char *text = (char *)(uintptr_t)test_format("%*s", 2 * tokens, "");

    for (int i = 0; i < tokens; i++)
        memcpy(text + 2 * i, " a", 2);
    return text;
}

static void open_window(facts *f, int64_t tokens)
{
    facts_open_store(f, test_store(test_tmpdir(), "store.db"));
    facts_call(f, "window.open", "{'context_max':%lld}", (long long)tokens);
}

/* Discovers a text of `tokens` tokens and returns its id. */
static const char *add(facts *f, const char *name, int tokens, const char *more)
{
    loci_str answer = facts_call(f, "resource.discover", "{'name':'%s','text':'%s'%s}", name,
                                 words(tokens), test_json(more));

    CHECK_EQ(test_member_int(answer, "size_tokens"), tokens);
    return test_format("%.*s", LC_STR_ARG(test_member_text(answer, "id")));
}

static loci_str page_in(facts *f, const char *id)
{
    f->now_us += MINUTE_US;
    return facts_call(f, "resource.page_in", "{'id':'%s'}", id);
}

static const char *state_of(facts *f, const char *id)
{
    loci_str answer = facts_call(f, "resource.get", "{'id':'%s'}", id);

    return test_format("%.*s", LC_STR_ARG(test_member_text(answer, "state")));
}

static const char *level_of(facts *f)
{
    loci_str answer = facts_call(f, "window.pressure", "{}");

    return test_format("%.*s", LC_STR_ARG(test_member_text(answer, "pressure.level")));
}

/* ---- The life of a resource ------------------------------------------------------------------ */

TEST(window, a_resource_goes_through_its_states)
{
    facts f;
    const char *id;
    loci_str answer;

    open_window(&f, 1000);
    id = add(&f, "notes", 100, ",'kind':'document'");
    CHECK_STR_EQ(loci_str_of(state_of(&f, id)), "cold");
    answer = page_in(&f, id);
    CHECK_STR_EQ(test_member_text(answer, "state"), "loaded");
    CHECK_STR_EQ(test_member_text(answer, "content"), words(100));
    CHECK_EQ(test_member_int(answer, "pressure.active_tokens"), 100);
    answer = facts_call(&f, "resource.attention", "{'id':'%s','attention':2.5}", id);
    CHECK_STR_EQ(test_member_text(answer, "state"), "hot");
    answer = facts_call(&f, "resource.page_out", "{'id':'text:notes'}");
    CHECK_STR_EQ(test_member_text(answer, "state"), "indexed");
    CHECK_STR_EQ(test_member(answer, "attention"), "2.5"); /* Kept over page_out. */
    CHECK_EQ(test_member_int(answer, "pressure.active_tokens"), 0);
    CHECK(test_member_int(answer, "summary_tokens") <= 100);
    answer = facts_call(&f, "resource.page_in", "{'id':'%s','mode':'summary'}", id);
    CHECK_STR_EQ(test_member_text(answer, "state"), "hot");
    CHECK_STR_EQ(test_member_text(answer, "content"),
                 test_format("%.*s", LC_STR_ARG(test_member_text(answer, "summary"))));
    CHECK_EQ(test_member_int(answer, "window_tokens"), test_member_int(answer, "summary_tokens"));
    answer = facts_call(&f, "resource.stale", "{'id':'%s'}", id);
    CHECK_STR_EQ(test_member(answer, "stale"), "true");
    answer = facts_call(&f, "resource.page_out", "{'id':'%s','summary':'All about a.'}", id);
    CHECK_STR_EQ(test_member_text(answer, "summary"), "All about a.");
    answer = facts_call(&f, "resource.stale", "{'id':'%s'}", id);
    CHECK_STR_EQ(test_member_text(answer, "state"), "cold");
    CHECK_STR_EQ(test_member(answer, "summary"), "");
    answer = facts_call(&f, "resource.offline", "{'id':'%s','problem':'no power'}", id);
    CHECK_STR_EQ(test_member_text(answer, "state"), "offline");
    answer = facts_call(&f, "resource.recover", "{'id':'%s'}", id);
    CHECK_STR_EQ(test_member_text(answer, "state"), "cold");
    facts_fail(&f, LOCI_ECONFLICT, "is cold", "resource.page_out", test_format("{'id':'%s'}", id));
    facts_fail(&f, LOCI_ECONFLICT, "not offline", "resource.recover",
               test_format("{'id':'%s'}", id));
    facts_close(&f);
}

TEST(window, wrong_requests_change_nothing)
{
    facts f;
    const char *id;

    open_window(&f, 1000);
    id = add(&f, "a", 10, "");
    facts_fail(&f, LOCI_EINVAL, "from 0 to 10", "resource.attention",
               test_format("{'id':'%s','attention':11}", id));
    facts_fail(&f, LOCI_EINVAL, "from 0 to 10", "resource.attention",
               test_format("{'id':'%s','attention':-0.1}", id));
    facts_fail(&f, LOCI_EINVAL, "attention", "resource.attention",
               test_format("{'id':'%s','attention':'NaN'}", id));
    facts_fail(&f, LOCI_EINVAL, "context_max", "window.open", "{'context_max':0}");
    facts_fail(&f, LOCI_EINVAL, "reserve_output", "window.open",
               "{'context_max':100,'reserve_output':100}");
    facts_fail(&f, LOCI_ENOTFOUND, "resource.list", "resource.page_in",
               "{'id':'res_00000000000000000000000000'}");
    facts_fail(&f, LOCI_EFORBIDDEN, "window.roots", "resource.discover", "{'path':'/etc/passwd'}");
    facts_fail(&f, LOCI_EINVAL, "only a text", "resource.discover",
               "{'object':'mem_1','name':'x'}");
    /* A text without a name is called by its hash. */
    CHECK_STR_EQ(test_member_text(facts_call(&f, "resource.discover", "{'text':'b'}"), "uri"),
                 test_member_text(facts_call(&f, "resource.discover", "{'text':'b'}"), "uri"));
    facts_fail(&f, LOCI_EINVAL, "object", "resource.discover", "{'object':'job_1'}");
    facts_fail(&f, LOCI_ENOTFOUND, "memory", "resource.discover",
               "{'object':'mem_00000000000000000000000000'}");
    facts_fail(&f, LOCI_ECONFLICT, "another text", "resource.discover", "{'name':'a','text':'b'}");
    facts_fail(&f, LOCI_EINVAL, "itself", "resource.link",
               test_format("{'id':'%s','to':'%s'}", id, id));
    facts_fail(&f, LOCI_EINVAL, "pass a text", "resource.annotate", test_format("{'id':'%s'}", id));
    facts_fail(&f, LOCI_EINVAL, "line", "window.parse", "{'text':'no map'}");
    facts_close(&f);
}

TEST(window, without_one_the_error_says_how_to_open_it)
{
    facts f;

    facts_open_store(&f, test_store(test_tmpdir(), "store.db"));
    facts_fail(&f, LOCI_ENOTFOUND, "window.open", "window.get", "{}");
    facts_fail(&f, LOCI_ENOTFOUND, "window.open", "resource.discover", "{'name':'a','text':'b'}");
    facts_close(&f);
}

TEST(window, a_second_discovery_is_the_same_resource)
{
    facts f;
    const char *id;
    loci_str again;

    open_window(&f, 1000);
    id = add(&f, "a", 10, "");
    again = facts_call(&f, "resource.discover", "{'name':'a','text':'%s','kind':'code'}",
                       words(10));
    CHECK_STR_EQ(test_member_text(again, "id"), id);
    CHECK_STR_EQ(test_member(again, "known"), "true");
    CHECK_STR_EQ(test_member_text(again, "kind"), "other");
    facts_close(&f);
}

/* ---- Notes and links ------------------------------------------------------------------------- */

TEST(window, notes_tags_and_links_are_kept_and_bounded)
{
    facts f;
    const char *a, *b;
    loci_str answer;

    open_window(&f, 1000);
    a = add(&f, "a", 10, "");
    b = add(&f, "b", 10, ",'tags':['protected']");
    for (int i = 0; i < 32; i++)
        answer = facts_call(&f, "resource.annotate", "{'id':'%s','text':'note %d'}", a, i);
    CHECK_STR_EQ(test_member_text(answer, "annotations.31.text"), "note 31");
    facts_fail(&f, LOCI_ELIMIT, "32 annotations", "resource.annotate",
               test_format("{'id':'%s','text':'one more'}", a));
    answer = facts_call(&f, "resource.annotate",
                        "{'id':'%s','text':'only','replace':true,'tags':['x','y']}", a);
    CHECK_STR_EQ(test_member(answer, "tags"), "[\"x\",\"y\"]");
    CHECK_STR_EQ(test_member(answer, "annotations.1"), "");
    facts_call(&f, "resource.link", "{'id':'%s','to':'text:b','label':'uses'}", a);
    answer = facts_call(&f, "resource.link", "{'id':'%s','to':'%s','label':'needs'}", a, b);
    CHECK_STR_EQ(test_member(answer, "links"),
                 test_format("[{\"to\":\"%s\",\"label\":\"needs\"}]", b));
    /* Forgetting the target removes the link, and everything that was said about it. */
    facts_call(&f, "resource.annotate", "{'id':'%s','text':'CANARY-note'}", b);
    facts_call(&f, "resource.forget", "{'id':'%s','wait':true}", b);
    answer = facts_call(&f, "resource.get", "{'id':'%s'}", a);
    CHECK_STR_EQ(test_member(answer, "links"), "[]");
    CHECK(!facts_is_stored(&f, "CANARY-note"));
    facts_fail(&f, LOCI_ENOTFOUND, "no resource", "resource.get", test_format("{'id':'%s'}", b));
    CHECK_EQ(test_member_int(facts_call(&f, "window.get", "{}"), "resource_count"), 1);
    facts_close(&f);
}

/* A forgotten active resource frees its tokens, also in a replay of its tombstones. */
TEST(window, forgetting_an_active_resource_frees_its_tokens)
{
    facts f;

    open_window(&f, 1000);
    page_in(&f, add(&f, "a", 500, ""));
    page_in(&f, add(&f, "b", 300, ""));
    facts_call(&f, "resource.forget", "{'id':'text:a'}");
    CHECK_EQ(test_member_int(facts_call(&f, "window.get", "{}"), "active_tokens"), 300);
    facts_call(&f, "user.forget", "{'user_id':'default'}");
    facts_fail(&f, LOCI_ENOTFOUND, "window.open", "window.get", "{}");
    facts_close(&f);
}

/* ---- Pressure -------------------------------------------------------------------------------- */

TEST(window, the_level_follows_the_ladder)
{
    facts f;
    loci_str answer;

    open_window(&f, 1000);
    page_in(&f, add(&f, "a", 499, ""));
    CHECK_STR_EQ(loci_str_of(level_of(&f)), "low");
    page_in(&f, add(&f, "b", 1, ""));
    CHECK_STR_EQ(loci_str_of(level_of(&f)), "medium");
    answer = page_in(&f, add(&f, "c", 200, ""));
    CHECK_STR_EQ(test_member_text(answer, "pressure.level"), "high");
    CHECK_STR_EQ(test_member_text(answer, "pressure.candidates.0.uri"), "text:a");
    CHECK_CONTAINS(test_member(answer, "pressure.candidates.0.reason").ptr, "lru: last used");
    CHECK_STR_EQ(test_member(answer, "pressure.warning"), "");
    answer = page_in(&f, add(&f, "d", 150, ""));
    CHECK_STR_EQ(test_member_text(answer, "pressure.level"), "critical");
    CHECK_CONTAINS(test_member(answer, "pressure.warning").ptr, "resource.page_out");
    answer = facts_call(&f, "resource.list", "{}"); /* Every answer of the window warns. */
    CHECK_CONTAINS(test_member(answer, "pressure.warning").ptr, "850 of 1000");
    facts_call(&f, "resource.page_out", "{'id':'text:b'}");
    CHECK_STR_EQ(loci_str_of(level_of(&f)), "critical"); /* 849: above the exit of 800. */
    facts_call(&f, "resource.page_out", "{'id':'text:d'}");
    CHECK_STR_EQ(loci_str_of(level_of(&f)), "high");
    facts_call(&f, "resource.page_out", "{'id':'text:a'}");
    CHECK_STR_EQ(loci_str_of(level_of(&f)), "low"); /* All at once. */
    facts_close(&f);
}

TEST(window, what_does_not_fit_is_refused_with_candidates)
{
    facts f;
    const char *a, *b;

    open_window(&f, 1000);
    a = add(&f, "a", 600, "");
    b = add(&f, "b", 401, "");
    page_in(&f, a);
    facts_fail(&f, LOCI_EOVERBUDGET, "needs 401 tokens and 400 are free", "resource.page_in",
               test_format("{'id':'%s'}", b));
    CHECK_STR_EQ(loci_str_of(f.err.data),
                 test_format("{\"needed\":401,\"available\":400,\"candidates\":[{\"id\":\"%s\","
                             "\"tokens\":600}]}",
                             a));
    facts_call(&f, "resource.page_in", "{'id':'%s','mode':'summary'}", b);
    facts_call(&f, "resource.page_in", "{'id':'%s','mode':'summary'}", a);
    facts_call(&f, "resource.page_in", "{'id':'%s'}", b); /* Its own tokens are counted once. */
    facts_fail(&f, LOCI_EOVERBUDGET, "would not fit", "window.open", "{'context_max':400}");
    facts_close(&f);
}

TEST(window, only_protected_resources_are_nothing_evictable)
{
    facts f;
    loci_str answer;

    open_window(&f, 1000);
    page_in(&f, add(&f, "a", 100, ",'kind':'soul'"));
    page_in(&f, add(&f, "b", 100, ",'tags':['protected']"));
    answer = facts_call(&f, "window.candidates", "{}");
    CHECK_STR_EQ(test_member_text(answer, "candidates.0.uri"), "text:a");
    CHECK_STR_EQ(test_member(answer, "candidates.1"), "");
    facts_call(&f, "window.policy", "{'policy':'keep_relational'}");
    facts_fail(&f, LOCI_ENOTEVICTABLE, "protected", "window.candidates", "{}");
    facts_close(&f);
}

/* After evict_after_ms the next write pages out by policy, and the event says who and why. */
TEST(window, the_engine_evicts_when_the_agent_does_not)
{
    facts f;
    loci_str answer, events;

    open_window(&f, 1000);
    page_in(&f, add(&f, "a", 300, ""));
    page_in(&f, add(&f, "b", 300, ",'tags':['protected']"));
    page_in(&f, add(&f, "c", 300, ",'attention':5"));
    add(&f, "d", 1, "");
    CHECK_STR_EQ(loci_str_of(level_of(&f)), "critical");
    f.now_us += 29 * MINUTE_US / 60;
    facts_call(&f, "resource.annotate", "{'id':'text:d','text':'early'}");
    CHECK_STR_EQ(loci_str_of(state_of(&f, "text:a")), "loaded");
    f.now_us += MINUTE_US;
    answer = facts_call(&f, "window.map", "{}"); /* Reads never write. */
    CHECK_EQ(test_member_int(answer, "level"), 3);
    CHECK_STR_EQ(loci_str_of(state_of(&f, "text:a")), "loaded");
    answer = facts_call(&f, "resource.annotate", "{'id':'text:d','text':'late'}");
    CHECK_STR_EQ(test_member_text(answer, "pressure.evicted.0.uri"), "text:a");
    CHECK_EQ(test_member_int(answer, "pressure.evicted.0.tokens"), 300);
    CHECK_STR_EQ(test_member(answer, "pressure.evicted.1"), "");
    CHECK_STR_EQ(loci_str_of(state_of(&f, "text:a")), "indexed");
    CHECK_STR_EQ(loci_str_of(level_of(&f)), "medium");
    events = facts_call(&f, "event.list", "{'limit':100}");
    CHECK_CONTAINS(events.ptr, "\"by\":\"engine\",\"why\":\"attention 1; lru: last used");
    facts_close(&f);
}

TEST(window, evict_after_ms_0_is_never)
{
    facts f;

    open_window(&f, 1000);
    facts_call(&f, "config.set", "{'name':'window.evict_after_ms','value':0}");
    page_in(&f, add(&f, "a", 900, ""));
    f.now_us += 1000 * MINUTE_US;
    add(&f, "b", 1, "");
    CHECK_STR_EQ(loci_str_of(state_of(&f, "text:a")), "loaded");
    facts_close(&f);
}

static loci_status run_sweep(lc_tx *tx, void *ctx, loci_error *err)
{
    const lc_sweep *sweep = lc_window_room.sweep;
    bool is_due = false;
    loci_status status = sweep->is_due(tx, 30000, &is_due, err);

    *(int64_t *)ctx = 0;
    return status == LOCI_OK && is_due ? sweep->run(tx, 30000, ctx, err) : status;
}

static int64_t sweep_window(facts *f)
{
    int64_t count;
    lc_write write = {.tenant_id = LC_STR("default"),
                      .user_id = LC_STR("default"),
                      .now_us = f->now_us,
                      .deadline_us = INT64_MAX,
                      .body = run_sweep,
                      .ctx = &count};

    CHECK_OK(lc_engine_write(f->engine, &write), write.error);
    return count;
}

/* The sweep does the same for a window without calls. */
TEST(window, the_sweep_relieves_windows)
{
    facts f;

    open_window(&f, 1000);
    page_in(&f, add(&f, "a", 900, ""));
    CHECK_EQ(sweep_window(&f), 0);
    f.now_us += 60 * MINUTE_US;
    CHECK_EQ(sweep_window(&f), 1);
    CHECK_EQ(sweep_window(&f), 0);
    CHECK_STR_EQ(loci_str_of(state_of(&f, "text:a")), "indexed");
    facts_close(&f);
}

/* ---- Files and objects ----------------------------------------------------------------------- */

static const char *allow_files(facts *f)
{
    const char *root = test_tmpdir();

    facts_call(f, "config.set", "{'name':'window.roots','value':'%s'}", root);
    return root;
}

TEST(window, a_file_that_vanished_goes_offline_and_comes_back)
{
    facts f;
    const char *root, *path;
    loci_str answer;

    open_window(&f, 1000);
    root = allow_files(&f);
    path = test_path(root, "plan.md");
    test_write_file(path, LC_STR("one two three\n"));
    facts_call(&f, "resource.discover", "{'path':'plan.md'}");
    answer = facts_call(&f, "resource.page_in", "{'id':'file://%s'}", path);
    CHECK_STR_EQ(test_member_text(answer, "content"), "one two three\n");
    CHECK_STR_EQ(test_member_text(answer, "kind"), "document");
    answer = facts_call(&f, "resource.get", "{'id':'%s'}", path); /* By its path, too. */
    CHECK_STR_EQ(test_member_text(answer, "state"), "loaded");
    facts_fail(&f, LOCI_ENOTFOUND, "window.roots", "resource.discover", "{'path':'other.md'}");
    CHECK_EQ(unlink(path), 0);
    CHECK_STATUS(LOCI_EUNAVAILABLE,
                 facts_try(&f, "resource.page_in", NULL, test_format("{'id':'file://%s'}", path)));
    CHECK_CONTAINS(f.err.message, "no such file");
    answer = facts_call(&f, "resource.get", "{'id':'file://%s'}", path);
    CHECK_STR_EQ(test_member_text(answer, "state"), "offline");
    CHECK_CONTAINS(test_member(answer, "problem").ptr, "no such file");
    CHECK_EQ(test_member_int(answer, "pressure.active_tokens"), 0);
    test_write_file(path, LC_STR("one two three\n")); /* The same content: the summary fits. */
    answer = facts_call(&f, "resource.recover", "{'id':'file://%s'}", path);
    CHECK_STR_EQ(test_member_text(answer, "state"), "indexed");
    CHECK_EQ(unlink(path), 0);
    CHECK_STATUS(LOCI_EUNAVAILABLE,
                 facts_try(&f, "resource.page_in", NULL, test_format("{'id':'file://%s'}", path)));
    test_write_file(path, LC_STR("four\n"));
    answer = facts_call(&f, "resource.page_in", "{'id':'file://%s'}", path); /* A good read. */
    CHECK_STR_EQ(test_member_text(answer, "state"), "loaded");
    CHECK_STR_EQ(test_member_text(answer, "summary"), "four");
    test_write_file(path, (loci_str){"\0\1", 2});
    facts_fail(&f, LOCI_EUNSUPPORTED, "not text", "resource.page_in",
               test_format("{'id':'file://%s'}", path));
    facts_close(&f);
}

/* The summary of a file that has changed is made again. */
TEST(window, a_changed_file_gets_a_new_summary)
{
    facts f;
    const char *path;
    loci_str answer;

    open_window(&f, 1000);
    path = test_path(allow_files(&f), "a.md");
    test_write_file(path, LC_STR("first"));
    facts_call(&f, "resource.discover", "{'path':'a.md'}");
    facts_call(&f, "resource.page_in", "{'id':'file://%s','mode':'summary'}", path);
    facts_call(&f, "resource.page_out", "{'id':'file://%s','summary':'mine'}", path);
    answer = facts_call(&f, "resource.page_in", "{'id':'file://%s','mode':'summary'}", path);
    CHECK_STR_EQ(test_member_text(answer, "content"), "mine");
    facts_call(&f, "resource.page_out", "{'id':'file://%s'}", path);
    test_write_file(path, LC_STR("second text"));
    answer = facts_call(&f, "resource.page_in", "{'id':'file://%s','mode':'summary'}", path);
    CHECK_STR_EQ(test_member_text(answer, "content"), "second text");
    facts_close(&f);
}

TEST(window, objects_of_loci_can_be_resources)
{
    facts f;
    loci_str memory, answer;

    open_window(&f, 1000);
    memory = facts_call(&f, "memory.store", "{'text':'Anna likes tea'}");
    answer = facts_call(&f, "resource.discover", "{'object':'%.*s','kind':'memory'}",
                        LC_STR_ARG(test_member_text(memory, "id")));
    answer = page_in(&f, test_format("%.*s", LC_STR_ARG(test_member_text(answer, "id"))));
    CHECK_STR_EQ(test_member_text(answer, "content"), "Anna likes tea");
    facts_call(&f, "memory.forget", "{'id':'%.*s'}", LC_STR_ARG(test_member_text(memory, "id")));
    CHECK_STATUS(
        LOCI_EUNAVAILABLE,
        facts_try(&f, "resource.page_in", NULL,
                  test_format("{'id':'loci:%.*s'}", LC_STR_ARG(test_member_text(memory, "id")))));
    facts_close(&f);
}

/* ---- Isolation ------------------------------------------------------------------------------- */

TEST(window, each_persona_and_user_has_its_own)
{
    facts f;
    const char *id;

    open_window(&f, 1000);
    id = add(&f, "a", 10, "");
    facts_fail(&f, LOCI_ENOTFOUND, "window.open", "window.get", "{'persona_id':'work'}");
    facts_call(&f, "window.open", "{'context_max':50,'persona_id':'work'}");
    facts_call(&f, "window.open", "{'context_max':60,'user_id':'bob'}");
    facts_fail(&f, LOCI_ENOTFOUND, "no resource", "resource.get",
               test_format("{'id':'%s','persona_id':'work'}", id));
    facts_fail(&f, LOCI_ENOTFOUND, "no resource", "resource.page_in",
               test_format("{'id':'%s','persona_id':'work'}", id));
    facts_fail(&f, LOCI_ENOTFOUND, "no resource", "resource.forget",
               test_format("{'id':'%s','user_id':'bob'}", id));
    CHECK_EQ(test_member_int(facts_call(&f, "window.get", "{}"), "context_max"), 1000);
    CHECK_EQ(test_member_int(facts_call(&f, "window.get", "{'persona_id':'work'}"), "context_max"),
             50);
    f.tenant = "other";
    facts_fail(&f, LOCI_ENOTFOUND, "window.open", "window.get", "{}");
    f.tenant = NULL;
    facts_close(&f);
}

/* ---- Maps ------------------------------------------------------------------------------------ */

/* A level is a number for most callers, although `auto` is one, too. */
TEST(window, a_level_that_does_not_exist_is_refused)
{
    facts f;

    open_window(&f, 1000);
    facts_fail(&f, LOCI_EINVAL, "expected one of auto, 1, 2, 3, got integer 4", "window.map",
               "{'level':4}");
    facts_fail(&f, LOCI_EINVAL, "expected one of auto, 1, 2, 3", "window.map", "{'level':3.5}");
    facts_close(&f);
}

TEST(window, every_map_is_read_back)
{
    facts f;
    loci_str map, text, parsed;

    open_window(&f, 1000);
    page_in(&f, add(&f, "a", 100, ",'kind':'code','attention':3"));
    facts_call(&f, "resource.link", "{'id':'text:a','to':'%s'}", add(&f, "b", 10, ""));
    for (int i = 0; i < 150; i++)
        add(&f, test_format("file%d", i), 2, "");
    for (int level = 1; level <= 3; level++) {
        map = facts_call(&f, "window.map", "{'level':%d}", level);
        text = test_member(map, "text");
        CHECK_STR_EQ(text,
                     test_member(facts_call(&f, "window.map", "{'level':'%d'}", level), "text"));
        CHECK_OK(facts_try(&f, "window.parse", &parsed,
                           test_format("{\"text\":%.*s}", (int)text.len, text.ptr)),
                 f.err);
        CHECK_EQ(test_member_int(parsed, "level"), level);
        CHECK_CONTAINS(parsed.ptr, "\"state\":\"hot\"");
        CHECK(test_member_int(parsed, "groups.0.count") > 50);
        CHECK_STR_EQ(test_member(parsed, "reserve_output"), level < 3 ? "0" : "");
        CHECK_EQ(test_member_text(parsed, "time").len, level == 1 ? 20 : 5);
        CHECK_STR_EQ(test_member(parsed, "links_left"), "0");
    }
    CHECK(test_member_int(map, "tokens") <= 300);
    facts_close(&f);
}

TEST(window, get_context_returns_one_sort)
{
    facts f;
    loci_str answer;

    open_window(&f, 1000);
    facts_call(&f, "resource.discover", "{'name':'me','text':'I am kind.','kind':'soul'}");
    facts_call(&f, "resource.discover", "{'name':'log 2026-01-06','text':'Rain.','kind':'daily'}");
    answer = facts_call(&f, "window.get_context", "{'type':'soul'}");
    CHECK_STR_EQ(test_member_text(answer, "items.0.text"), "I am kind.");
    answer = facts_call(&f, "window.get_context", "{'type':'daily','date':'2026-01-07'}");
    CHECK_STR_EQ(test_member(answer, "items"), "[]");
    answer = facts_call(&f, "window.get_context", "{'type':'search','query':'LOG 2026'}");
    CHECK_STR_EQ(test_member_text(answer, "items.0.text"), "Rain.");
    answer = facts_call(&f, "window.get_context", "{'type':'mindmap','level':'3'}");
    CHECK_CONTAINS(test_member(answer, "text").ptr, "@MM1.0");
    facts_fail(&f, LOCI_EINVAL, "query", "window.get_context", "{'type':'search'}");
    facts_close(&f);
}

/* ---- Sessions and contexts ------------------------------------------------------------------- */

TEST(window, a_session_begins_with_the_map_and_knows_the_pressure)
{
    facts f;
    loci_str answer;

    facts_open_store(&f, test_store(test_tmpdir(), "store.db"));
    answer = facts_call(&f, "session.open", "{}");
    CHECK_STR_EQ(test_member(answer, "map"), "null");
    facts_call(&f, "window.open", "{'context_max':1000}");
    page_in(&f, add(&f, "a", 900, ""));
    answer = facts_call(&f, "session.open", "{}");
    CHECK_CONTAINS(test_member(answer, "map").ptr, "@MM1.0|900/1K:critical");
    CHECK_STR_EQ(test_member_text(answer, "state"), "active/pressure");
    CHECK_CONTAINS(test_member(answer, "pressure.warning").ptr, "page_out");
    answer = facts_call(&f, "resource.page_out", "{'id':'text:a'}");
    answer = facts_call(&f, "session.get", "{}");
    CHECK_STR_EQ(test_member_text(answer, "state"), "active");
    facts_call(&f, "session.close", "{}");
    CHECK_STR_EQ(loci_str_of(state_of(&f, "text:a")), "indexed"); /* It survives the session. */
    facts_close(&f);
}

TEST(window, a_context_has_the_map_and_the_warning)
{
    facts f;
    loci_str answer;

    facts_open_store(&f, test_store(test_tmpdir(), "store.db"));
    answer = facts_call(&f, "context.build", "{'query':'x'}");
    CHECK_STR_EQ(test_member(answer, "pressure"), "null");
    facts_call(&f, "window.open", "{'context_max':1000}");
    page_in(&f, add(&f, "a", 900, ""));
    answer = facts_call(&f, "context.build", "{'query':'x'}");
    CHECK_CONTAINS(test_member(answer, "text").ptr, "In the window:\\n@MM1.0|");
    CHECK_STR_EQ(test_member_text(answer, "pressure"), "critical");
    CHECK_CONTAINS(test_member(answer, "warnings").ptr, "nearly full");
    answer = facts_call(&f, "context.build", "{'query':'x','sections':['facts']}");
    CHECK_STR_EQ(test_member(answer, "tokens.map"), "");
    facts_close(&f);
}
