/* frame.compact through loci_call(): each strategy, what always stays, and that a frame that was
 * compacted is rebuilt from the log (facts_close). */
#include "contract/fact_fixture.h"

#include <stdio.h>
#include <string.h>

static void frames_open(facts *f)
{
    facts_open_store(f, test_store(test_tmpdir(), "store.db"));
}

static const char *id_of(loci_str answer)
{
    return test_format("%s", test_member_text(answer, "id").ptr);
}

static const char *add(facts *f, const char *frame, const char *rest)
{
    return id_of(facts_call(f, "frame.handle_add", "{'frame_id':'%s',%s}", frame, test_json(rest)));
}

static loci_str compact(facts *f, const char *frame, const char *rest)
{
    return facts_call(f, "frame.compact", "{'frame_id':'%s'%s}", frame, test_json(rest));
}

static int64_t count_of(loci_str answer, const char *name)
{
    int64_t count = 0;

    while (test_member(answer, test_format("%s.%lld", name, (long long)count)).len > 0)
        count++;
    return count;
}

/* The sum in the row of the frame is that of its handles. */
static void check_tokens(facts *f, const char *frame)
{
    loci_str answer = facts_call(f, "frame.get", "{'id':'%s'}", frame);
    int64_t tokens = 0;

    for (int64_t i = 0; i < count_of(answer, "handles"); i++)
        tokens += test_member_int(answer, test_format("handles.%lld.tokens", (long long)i));
    for (int64_t i = 0; i < count_of(answer, "results"); i++)
        tokens += test_member_int(answer, test_format("results.%lld.tokens", (long long)i));
    CHECK_EQ(test_member_int(answer, "context_tokens"), tokens);
}

TEST(frame_compact, the_least_important_go_first_and_critical_ones_stay)
{
    facts f;
    const char *frame, *low, *old;
    loci_str answer;
    int64_t tokens;

    frames_open(&f);
    frame = id_of(facts_call(&f, "frame.push", "{'goal':'g'}"));
    add(&f, frame, "'text':'a rule','priority':'critical'");
    old = add(&f, frame, "'text':'an old note'");
    add(&f, frame, "'text':'a new note'");
    low = add(&f, frame, "'text':'a remark','priority':'low'");
    add(&f, frame, "'ref':'https://example.com','priority':'background'");
    facts_call(&f, "frame.result_add", "{'frame_id':'%s','text':'found'}", frame);
    answer = facts_call(&f, "frame.get", "{'id':'%s'}", frame);
    tokens = test_member_int(answer, "context_tokens");
    answer = compact(&f, frame, test_format(",'budget':%lld", (long long)tokens));
    CHECK_EQ(test_member_int(answer, "items_removed"), 0);
    CHECK_STR_EQ(test_member(answer, "reached"), "true");
    answer = compact(&f, frame, test_format(",'budget':%lld", (long long)tokens - 3));
    CHECK_STR_EQ(test_member(answer, "removed"), test_format("[\"%s\",\"%s\"]", old, low));
    CHECK_STR_EQ(test_member(answer, "reached"), "true");
    CHECK_EQ(test_member_int(answer, "original_tokens"), tokens);
    CHECK_LE(test_member_int(answer, "final_tokens"), tokens - 3);
    check_tokens(&f, frame);
    answer = compact(&f, frame, ",'budget':1");
    CHECK_STR_EQ(test_member(answer, "reached"), "false");
    CHECK_EQ(test_member_int(answer, "shortfall"), test_member_int(answer, "final_tokens") - 1);
    answer = facts_call(&f, "frame.get", "{'id':'%s'}", frame);
    CHECK_EQ(count_of(answer, "handles"), 2); /* The critical one and the reference. */
    CHECK_EQ(count_of(answer, "results"), 1);
    check_tokens(&f, frame);
    facts_close(&f);
}

static const char *long_note(int n)
{
    return test_format("'title':'note %d','text':'Number %d is about the pool. It has many more "
                       "words than a summary should have, and they go on for a while, so that the "
                       "text is long enough to be worth it. The end of the note is here, and no "
                       "reader will miss it.'",
                       n, n);
}

/* Prose older than the last ten handles becomes one handle; code, references and critical handles
 * stay as they are. */
TEST(frame_compact, the_oldest_prose_is_summarized)
{
    facts f;
    const char *frame;
    loci_str answer, summary;

    frames_open(&f);
    frame = id_of(facts_call(&f, "frame.push", "{'goal':'g'}"));
    add(&f, frame, "'ref':'https://example.com'");
    add(&f, frame, "'text':'int f(int a)\\n{\\n    return a;\\n}'");
    for (int i = 0; i < 12; i++)
        add(&f, frame, long_note(i));
    answer = compact(&f, frame, ",'strategy':'summarize_oldest'");
    CHECK_EQ(test_member_int(answer, "items_removed"), 2);
    CHECK_EQ(test_member_int(answer, "items_summarized"), 2);
    CHECK_STR_EQ(test_member(answer, "reached"), "true");
    CHECK(test_member_int(answer, "final_tokens") < test_member_int(answer, "original_tokens"));
    check_tokens(&f, frame);
    answer = facts_call(&f, "frame.pack", "{'frame_id':'%s'}", frame);
    CHECK_EQ(count_of(answer, "segments"), 13);
    summary = test_member_text(answer, "segments.12.text");
    CHECK_STR_EQ(test_member_text(answer, "segments.12.label"), "Summary of 2 handles");
    CHECK_CONTAINS(summary, "- note 0: Number 0 is about the pool.");
    CHECK_CONTAINS(summary, "- note 1: Number 1 is about the pool.");
    CHECK(strstr(summary.ptr, "no reader will miss it") == NULL);
    facts_close(&f);
}

TEST(frame_compact, truncate_at_keeps_the_last_handles)
{
    facts f;
    const char *frame;
    loci_str answer;

    frames_open(&f);
    frame = id_of(facts_call(&f, "frame.push", "{'goal':'g'}"));
    add(&f, frame, "'text':'a rule','priority':'critical'");
    for (int i = 0; i < 5; i++)
        add(&f, frame, test_format("'text':'note %d'", i));
    answer = compact(&f, frame, ",'strategy':'truncate_at','message_count':2");
    CHECK_EQ(test_member_int(answer, "items_removed"), 3);
    CHECK_STR_EQ(test_member(answer, "reached"), "false"); /* The critical one is a third. */
    answer = facts_call(&f, "frame.pack", "{'frame_id':'%s'}", frame);
    CHECK_CONTAINS(test_member_text(answer, "text"), "- a rule\n- note 3\n- note 4\n");
    answer = compact(&f, frame, ",'strategy':'truncate_at','message_count':3");
    CHECK_STR_EQ(test_member(answer, "reached"), "true");
    CHECK_STR_EQ(test_member(answer, "removed"), "[]");
    check_tokens(&f, frame);
    facts_close(&f);
}

/* The limit of the frame is the default; a frame without one needs a budget. */
TEST(frame_compact, bad_input_is_refused_and_changes_nothing)
{
    facts f;
    const char *frame, *limited;
    loci_str answer;

    frames_open(&f);
    frame = id_of(facts_call(&f, "frame.push", "{'goal':'g'}"));
    limited = id_of(facts_call(&f, "frame.push", "{'goal':'g','max_context_tokens':2}"));
    add(&f, limited, "'text':'one two three four'");
    facts_fail(&f, LOCI_EINVAL, "has no max_context_tokens", "frame.compact",
               test_format("{'frame_id':'%s'}", frame));
    facts_fail(&f, LOCI_EINVAL, "message_count", "frame.compact",
               test_format("{'frame_id':'%s','strategy':'truncate_at'}", frame));
    facts_fail(&f, LOCI_EINVAL, "only the strategy truncate_at", "frame.compact",
               test_format("{'frame_id':'%s','budget':1,'message_count':1}", frame));
    facts_fail(&f, LOCI_EINVAL, "strategy", "frame.compact",
               test_format("{'frame_id':'%s','strategy':'custom'}", frame));
    facts_fail(&f, LOCI_ENOTFOUND, "no frame", "frame.compact", "{'frame_id':'frm_1','budget':1}");
    answer = compact(&f, limited, "");
    CHECK_EQ(test_member_int(answer, "budget"), 2);
    CHECK_EQ(test_member_int(answer, "items_removed"), 1);
    facts_call(&f, "frame.pop", "{'id':'%s'}", limited);
    facts_fail(&f, LOCI_ECONFLICT, "has ended", "frame.compact",
               test_format("{'frame_id':'%s'}", limited));
    facts_close(&f);
}

/* Removed texts and the summary go with their tree. */
TEST(frame_compact, forgetting_erases_what_was_removed_and_the_summary)
{
    facts f;
    const char *frame;

    frames_open(&f);
    frame = id_of(facts_call(&f, "frame.push", "{'goal':'g'}"));
    for (int i = 0; i < 11; i++)
        add(&f, frame, long_note(i));
    compact(&f, frame, ",'strategy':'summarize_oldest'");
    CHECK(strstr(facts_call(&f, "event.list", "{'limit':100}").ptr, "pool") != NULL);
    facts_call(&f, "frame.forget", "{'id':'%s'}", frame);
    CHECK(strstr(facts_call(&f, "event.list", "{'limit':100}").ptr, "pool") == NULL);
    facts_close(&f);
}
