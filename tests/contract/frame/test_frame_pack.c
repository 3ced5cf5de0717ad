/* frame.pack through loci_call(): the budget, mandatory parts, levels, order, references to other
 * rooms, and what is left out. Every test ends with a comparison of the projections with those that
 * the log gives (facts_close). */
#include "contract/fact_fixture.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

static void frames_open(facts *f)
{
    facts_open_store(f, test_store(test_tmpdir(), "store.db"));
}

static const char *id_of(loci_str answer)
{
    return test_format("%s", test_member_text(answer, "id").ptr);
}

static const char *push(facts *f, const char *args)
{
    return id_of(facts_call(f, "frame.push", "%s", args));
}

/* `rest`: members behind the frame. */
static const char *add(facts *f, const char *frame, const char *rest)
{
    return id_of(facts_call(f, "frame.handle_add", "{'frame_id':'%s',%s}", frame, test_json(rest)));
}

static loci_str pack(facts *f, const char *frame, const char *rest)
{
    return facts_call(f, "frame.pack", "{'frame_id':'%s'%s}", frame, test_json(rest));
}

static int64_t used(loci_str answer)
{
    return test_member_int(answer, "tokens.used");
}

static void check_level(loci_str answer, const char *level)
{
    CHECK_STR_EQ(test_member_text(answer, "tokens.compaction_level"), level);
}

/* Number of elements of an array in an answer. */
static int64_t count_of(loci_str answer, const char *name)
{
    int64_t count = 0;

    while (test_member(answer, test_format("%s.%lld", name, (long long)count)).len > 0)
        count++;
    return count;
}

/* ---- Contents ---------------------------------------------------------------------------------
 */

TEST(frame_pack, a_pack_has_brief_breadcrumbs_and_handles)
{
    facts f;
    const char *root, *child;
    loci_str answer, again;

    frames_open(&f);
    root = push(&f, "{'goal':'Find the cause','inputs':{'since':'May'}}");
    child = push(&f, test_format("{'goal':'Read the pool','parent_id':'%s'}", root));
    facts_call(&f, "frame.tool_begin",
               "{'frame_id':'%s','call_id':'c1','name':'grep','arguments':{'p':'x'}}", child);
    facts_call(&f, "frame.tool_end", "{'frame_id':'%s','call_id':'c1','output':'a\\nb'}", child);
    facts_call(&f, "frame.tool_begin", "{'frame_id':'%s','call_id':'c2','name':'read'}", child);
    add(&f, child, "'text':'It was full.','title':'Note','priority':'low'");
    facts_call(&f, "frame.result_add", "{'frame_id':'%s','text':'Ten connections'}", child);
    answer = pack(&f, child, "");
    CHECK_STR_EQ(test_member_text(answer, "text"),
                 "Task: Read the pool\nIn progress: read (c2)\n\n"
                 "Part of, from the root:\n- Find the cause\n\n"
                 "Material:\n- grep {\"p\":\"x\"}:\n  a\n  b\n- Note: It was full.\n"
                 "- Ten connections\n");
    check_level(answer, "none");
    CHECK_EQ(test_member_int(answer, "tokens.budget"), 2000);
    CHECK_EQ(test_member_int(answer, "tokens.remaining"), 2000 - used(answer));
    CHECK_EQ(test_member_int(answer, "tokens.breakdown.brief") +
                 test_member_int(answer, "tokens.breakdown.breadcrumbs") +
                 test_member_int(answer, "tokens.breakdown.segments"),
             used(answer));
    CHECK_EQ(count_of(answer, "segments"), 3);
    CHECK_STR_EQ(test_member_text(answer, "segments.0.label"), "grep {\"p\":\"x\"}");
    CHECK_STR_EQ(test_member_text(answer, "segments.0.text"), "a\nb");
    CHECK_STR_EQ(test_member(answer, "dropped"), "[]");
    CHECK_STR_EQ(test_member(answer, "missing"), "[]");
    again = pack(&f, child, "");
    CHECK_STR_EQ(again, answer);
    answer = pack(&f, root, "");
    CHECK_STR_EQ(test_member_text(answer, "brief"),
                 "Task: Find the cause\nInputs: {\"since\":\"May\"}");
    facts_close(&f);
}

/* Frames above: the root and the last three, the others are counted. */
TEST(frame_pack, the_middle_of_the_stack_is_elided)
{
    facts f;
    const char *frame;
    loci_str answer;

    frames_open(&f);
    frame = push(&f, "{'goal':'g0'}");
    for (int i = 1; i <= 9; i++)
        frame = push(&f, test_format("{'goal':'g%d','parent_id':'%s','budget':1}", i, frame));
    answer = pack(&f, frame, "");
    CHECK_STR_EQ(test_member_text(answer, "text"),
                 "Task: g9\n\nPart of, from the root:\n- g0\n- (5 more)\n- g6\n- g7\n- g8\n");
    CHECK_EQ(count_of(answer, "breadcrumbs"), 4);
    CHECK_EQ(test_member_int(answer, "breadcrumbs.1.depth"), 6);
    CHECK_EQ(test_member_int(answer, "metadata.elided"), 5);
    answer = pack(&f, frame, ",'min_compaction':'critical'");
    CHECK_STR_EQ(test_member_text(answer, "text"),
                 "Task: g9\n\nPart of, from the root:\n- g0\n- (7 more)\n- g8\n");
    CHECK_EQ(test_member_int(answer, "metadata.elided"), 7);
    facts_close(&f);
}

/* ---- Mandatory parts ------------------------------------------------------------------------- */

TEST(frame_pack, mandatory_parts_fit_or_the_call_is_refused)
{
    facts f;
    const char *frame, *critical, *medium;
    loci_str answer;
    int64_t needed;

    frames_open(&f);
    frame = push(&f, "{'goal':'Check the rules'}");
    critical = add(&f, frame, "'text':'Never delete the archive.','priority':'critical'");
    medium = add(&f, frame, "'text':'The archive is on disk two, and it is large.'");
    answer = pack(&f, frame, ",'min_compaction':'critical'");
    needed = used(answer);
    CHECK_STR_EQ(test_member_text(answer, "segments.0.id"), critical);
    CHECK_STR_EQ(test_member_text(answer, "dropped.0.id"), medium);
    CHECK_STR_EQ(test_member_text(answer, "dropped.0.reason"), "compaction");
    answer = pack(&f, frame, test_format(",'budget':%lld", (long long)needed));
    CHECK_EQ(used(answer), needed);
    facts_fail(&f, LOCI_EBUDGET, "too small", "frame.pack",
               test_format("{'frame_id':'%s','budget':%lld}", frame, (long long)needed - 1));
    CHECK_STR_EQ(f.err.data, test_format("{\"needed\":%lld}", (long long)needed));
    answer = pack(&f, frame, test_format(",'min_compaction':'critical','include':['%s']", medium));
    CHECK_EQ(count_of(answer, "segments"), 2);
    CHECK(used(answer) > needed);
    facts_close(&f);
}

TEST(frame_pack, a_critical_handle_cannot_be_excluded)
{
    facts f;
    const char *frame, *critical, *other;
    loci_str before, answer;

    frames_open(&f);
    frame = push(&f, "{'goal':'g'}");
    critical = add(&f, frame, "'text':'always','priority':'critical'");
    other = add(&f, frame, "'text':'sometimes'");
    before = facts_call(&f, "frame.get", "{'id':'%s'}", frame);
    facts_fail(&f, LOCI_EINVAL, "is critical; critical and included handles", "frame.pack",
               test_format("{'frame_id':'%s','exclude':['%s']}", frame, critical));
    facts_fail(
        &f, LOCI_EINVAL, "is included", "frame.pack",
        test_format("{'frame_id':'%s','exclude':['%s'],'include':['%s']}", frame, other, other));
    answer = pack(&f, frame, test_format(",'exclude':['%s','hdl_none']", other));
    CHECK_STR_EQ(test_member_text(answer, "dropped.0.reason"), "excluded");
    CHECK_STR_EQ(test_member_text(answer, "text"), "Task: g\n\nMaterial:\n- always\n");
    CHECK_STR_EQ(facts_call(&f, "frame.get", "{'id':'%s'}", frame), before);
    facts_close(&f);
}

/* Handles of frames above can be included; what no frame of the stack has is named. */
TEST(frame_pack, included_handles_are_found_in_the_stack)
{
    facts f;
    const char *root, *child, *above, *beside;
    loci_str answer;

    frames_open(&f);
    root = push(&f, "{'goal':'root'}");
    above = add(&f, root, "'text':'from above'");
    child = push(&f, test_format("{'goal':'child','parent_id':'%s'}", root));
    beside = add(&f, push(&f, "{'goal':'another'}"), "'text':'from elsewhere'");
    add(&f, child, "'text':'own'");
    answer = pack(&f, child, test_format(",'include':['%s','%s','nothing']", above, beside));
    CHECK_CONTAINS(test_member_text(answer, "text"), "Material:\n- from above\n- own\n");
    CHECK_EQ(count_of(answer, "missing"), 2);
    CHECK_STR_EQ(test_member_text(answer, "missing.0.id"), beside);
    CHECK_STR_EQ(test_member_text(answer, "missing.0.reason"), "unknown");
    CHECK_STR_EQ(test_member_text(answer, "missing.1.id"), "nothing");
    facts_close(&f);
}

/* ---- Levels ---------------------------------------------------------------------------------- */

/* A note of more than 600 characters. */
static const char *long_note(int n)
{
    return test_format(
        "'text':'Note %d begins here.   Then it goes on with words, words and more words, so that "
        "it is worth to be shortened by the packer. It says the same again in other words, and it "
        "does not come to an end soon. The reader knows by now that nothing else follows, but it "
        "goes on. The next sentence is not different, it is only there to fill this note. And one "
        "more sentence, which the reader will not see in a short form at all. In the end there are "
        "more than six hundred characters in this one note, which is more than what is kept of it "
        "when the packer has to make room for others. Here is another sentence of that sort.'",
        n);
}

/* Levels are used in order, each shorter than the one before. */
TEST(frame_pack, levels_shorten_in_order)
{
    static const char *const levels[] = {"none", "light", "moderate", "aggressive", "critical"};
    facts f;
    const char *frame;
    int64_t tokens[5];

    frames_open(&f);
    frame = push(&f, "{'goal':'g'}");
    for (int i = 0; i < 12; i++)
        add(&f, frame, long_note(i));
    add(&f, frame, "'text':'not so important','priority':'low'");
    for (int i = 0; i < 5; i++) {
        loci_str answer = pack(&f, frame,
                               test_format(",'budget':9000,'min_compaction':'%s'", levels[i]));

        check_level(answer, levels[i]);
        tokens[i] = used(answer);
        if (i > 0)
            CHECK_LT(tokens[i], tokens[i - 1]);
        if (i == 2) {
            CHECK_STR_EQ(test_member_text(answer, "segments.0.form"), "shortened");
            CHECK_STR_EQ(test_member_text(answer, "segments.11.form"), "trimmed");
            CHECK_STR_EQ(test_member_text(answer, "segments.12.form"), "full");
        }
        if (i == 3)
            CHECK_STR_EQ(test_member_text(answer, "dropped.0.reason"), "compaction");
    }
    /* The budget alone chooses the same levels. */
    for (int i = 1; i < 4; i++) {
        loci_str answer = pack(&f, frame,
                               test_format(",'budget':%lld", (long long)tokens[i - 1] - 1));

        check_level(answer, levels[i]);
        CHECK_EQ(used(answer), tokens[i]);
    }
    facts_close(&f);
}

/* Of handles that do not all fit, those of the highest priority stay, then the newest; they are
 * shown in the order of time. */
TEST(frame_pack, choosing_is_by_priority_and_recency_and_showing_by_time)
{
    facts f;
    const char *frame, *first, *second;
    loci_str answer;

    frames_open(&f);
    frame = push(&f, "{'goal':'g'}");
    add(&f, frame, "'text':'an important one','priority':'high'");
    first = add(&f, frame, "'text':'an old medium one'");
    second = add(&f, frame, "'text':'a low one','priority':'low'");
    add(&f, frame, "'text':'a new medium one'");
    answer = pack(&f, frame, ",'budget':21,'min_compaction':'aggressive'");
    CHECK_STR_EQ(test_member_text(answer, "text"),
                 "Task: g\n\nMaterial:\n- an important one\n- a new medium one\n");
    CHECK_STR_EQ(test_member_text(answer, "dropped.0.id"), first);
    CHECK_STR_EQ(test_member_text(answer, "dropped.0.reason"), "budget");
    CHECK_STR_EQ(test_member_text(answer, "dropped.1.id"), second);
    CHECK_STR_EQ(test_member_text(answer, "dropped.1.reason"), "compaction");
    facts_close(&f);
}

/* Code and JSON are in a pack as they are, or not at all; so is a tool call with its output. */
TEST(frame_pack, code_and_json_are_never_shortened)
{
    static const char code[] =
        "int f(int a)\\n{\\n    if (a > 0)\\n        return f(a - 1);\\n\\n\\n"
        "    return 0;   \\n}";
    facts f;
    const char *frame;
    loci_str answer;

    frames_open(&f);
    frame = push(&f, "{'goal':'g'}");
    add(&f, frame, test_format("'text':'%s'", code));
    facts_call(&f, "frame.tool_begin",
               "{'frame_id':'%s','call_id':'c','name':'n','arguments':{'path':'a/b/c'}}", frame);
    facts_call(&f, "frame.tool_end",
               "{'frame_id':'%s','call_id':'c','output':'[1,   2,\\n\\n\\n 3]'}", frame);
    answer = pack(&f, frame, ",'min_compaction':'aggressive'");
    CHECK_STR_EQ(
        test_member_text(answer, "segments.0.text"),
        "int f(int a)\n{\n    if (a > 0)\n        return f(a - 1);\n\n\n    return 0;   \n}");
    CHECK_STR_EQ(test_member_text(answer, "segments.0.form"), "full");
    CHECK_STR_EQ(test_member_text(answer, "segments.1.text"), "[1,   2,\n\n\n 3]");
    answer = pack(&f, frame, test_format(",'budget':%lld", (long long)used(answer) - 1));
    CHECK_EQ(count_of(answer, "segments"), 1);
    CHECK_STR_EQ(test_member_text(answer, "dropped.0.reason"), "budget");
    facts_close(&f);
}

/* A limit of the frame, or of one above it, bounds the budget of every pack. */
TEST(frame_pack, max_context_tokens_bounds_the_budget)
{
    facts f;
    const char *root, *child;
    loci_str answer;

    frames_open(&f);
    root = push(&f, "{'goal':'root','max_context_tokens':40}");
    child = push(&f, test_format("{'goal':'child','parent_id':'%s'}", root));
    for (int i = 0; i < 10; i++)
        add(&f, child, test_format("'text':'this is note %d'", i));
    answer = pack(&f, child, ",'budget':500");
    CHECK_EQ(test_member_int(answer, "tokens.budget"), 40);
    CHECK_EQ(test_member_int(answer, "tokens.requested"), 500);
    CHECK_EQ(test_member_int(answer, "tokens.max_context_tokens"), 40);
    CHECK_LE(used(answer), 40);
    CHECK(count_of(answer, "dropped") > 0);
    answer = pack(&f, child, ",'budget':30");
    CHECK_EQ(test_member_int(answer, "tokens.budget"), 30);
    facts_close(&f);
}

/* ---- References ------------------------------------------------------------------------------ */

/* One handle of each kind; then each object goes, and the pack says so. */
TEST(frame_pack, references_are_read_and_what_is_gone_is_named)
{
    facts f;
    const char *frame, *memory, *message, *fact, *todo, *resource, *other, *own;
    loci_str answer;

    frames_open(&f);
    memory = id_of(facts_call(&f, "memory.store", "{'text':'Ann likes tea'}"));
    answer = facts_call(&f, "fact.observe", "{'text':'Hello there'}");
    message = test_format("%s", test_member_text(answer, "message_id").ptr);
    fact = id_of(facts_call(&f, "fact.write", "{'key':'city','value':'Oslo'}"));
    todo = id_of(facts_call(&f, "todo.add", "{'text':'Buy milk'}"));
    facts_call(&f, "window.open", "{'context_max':10000}");
    resource = id_of(
        facts_call(&f, "resource.discover", "{'name':'plan','text':'The plan is simple'}"));
    other = push(&f, "{'goal':'another task'}");
    own = add(&f, other, "'text':'of another frame'");
    frame = push(&f, "{'goal':'g'}");
    add(&f, frame, test_format("'ref':'%s'", memory));
    add(&f, frame, test_format("'ref':'%s'", message));
    add(&f, frame, test_format("'ref':'%s','title':'Place'", fact));
    add(&f, frame, test_format("'ref':'%s'", todo));
    add(&f, frame, test_format("'ref':'%s'", resource));
    add(&f, frame, test_format("'ref':'%s'", other));
    add(&f, frame, test_format("'ref':'%s'", own));
    add(&f, frame, "'ref':'https://example.com/a','title':'Page'");
    answer = pack(&f, frame, "");
    CHECK_STR_EQ(test_member_text(answer, "text"),
                 "Task: g\n\nMaterial:\n- Ann likes tea\n- Hello there\n- Place: city: Oslo\n"
                 "- Buy milk\n- The plan is simple\n- another task (active)\n"
                 "- of another frame\n- Page: https://example.com/a\n");
    CHECK_STR_EQ(test_member(answer, "missing"), "[]");
    facts_call(&f, "memory.forget", "{'id':'%s'}", memory);
    facts_call(&f, "fact.write", "{'key':'city','value':'Bergen'}");
    facts_call(&f, "frame.forget", "{'id':'%s'}", other);
    facts_call(&f, "resource.forget", "{'id':'%s'}", resource);
    add(&f, frame, "'ref':'mem_0','priority':'critical'");
    answer = pack(&f, frame, "");
    CHECK_STR_EQ(
        test_member_text(answer, "text"),
        "Task: g\n\nMaterial:\n- Hello there\n- Buy milk\n- Page: https://example.com/a\n");
    CHECK_EQ(count_of(answer, "missing"), 6);
    CHECK_STR_EQ(test_member_text(answer, "missing.0.ref"), "mem_0");
    CHECK_STR_EQ(test_member_text(answer, "missing.0.reason"), "not_found");
    CHECK_STR_EQ(test_member_text(answer, "missing.4.ref"), fact);
    CHECK_STR_EQ(test_member_text(answer, "missing.4.reason"), "superseded");
    facts_close(&f);
}

/* A pack has no reader whose rights could be checked, and belongs to a user and a persona. */
TEST(frame_pack, what_the_caller_may_not_see_is_not_found)
{
    facts f;
    const char *frame, *fact, *memory;
    loci_str answer;

    frames_open(&f);
    fact = id_of(
        facts_call(&f, "fact.write", "{'key':'pay','value':'100','required_permission':'hr'}"));
    memory = id_of(facts_call(&f, "memory.store", "{'text':'A secret','persona_id':'p'}"));
    frame = push(&f, "{'goal':'g'}");
    add(&f, frame, test_format("'ref':'%s'", fact));
    add(&f, frame, test_format("'ref':'%s'", memory));
    answer = pack(&f, frame, "");
    CHECK_STR_EQ(test_member_text(answer, "text"), "Task: g\n");
    CHECK_STR_EQ(test_member_text(answer, "missing.0.reason"), "not_found");
    CHECK_STR_EQ(test_member_text(answer, "missing.1.reason"), "not_found");
    answer = pack(&f, frame, ",'persona_id':'p'");
    CHECK_STR_EQ(test_member_text(answer, "text"), "Task: g\n\nMaterial:\n- A secret\n");
    facts_fail(&f, LOCI_ENOTFOUND, "no frame", "frame.pack",
               test_format("{'frame_id':'%s','user_id':'bo'}", frame));
    facts_close(&f);
}

/* A message that was taken back is gone from packs as well. */
TEST(frame_pack, withdrawn_messages_are_missing)
{
    facts f;
    const char *frame, *first, *second;
    loci_str answer;

    frames_open(&f);
    answer = facts_call(&f, "session.append", "{'role':'user','text':'first'}");
    first = test_format("%s", test_member_text(answer, "message_id").ptr);
    answer = facts_call(&f, "session.append", "{'role':'user','text':'second'}");
    second = test_format("%s", test_member_text(answer, "message_id").ptr);
    frame = push(&f, "{'goal':'g'}");
    add(&f, frame, test_format("'ref':'%s'", first));
    add(&f, frame, test_format("'ref':'%s'", second));
    facts_call(&f, "session.rewind", "{'message_id':'%s'}", first);
    answer = pack(&f, frame, "");
    CHECK_STR_EQ(test_member_text(answer, "text"), "Task: g\n\nMaterial:\n- first\n");
    CHECK_STR_EQ(test_member_text(answer, "missing.0.ref"), second);
    facts_close(&f);
}

/* A mark that names its readers holds for handles, too: a context hides the message itself. */
TEST(frame_pack, messages_marked_for_some_readers_are_not_found)
{
    facts f;
    const char *frame;
    loci_str answer;

    frames_open(&f);
    frame = push(&f, "{'goal':'g'}");
    answer = facts_call(&f, "session.append",
                        "{'role':'user','text':'[RESTRICTED to VP+] We hire Ann.'}");
    add(&f, frame, test_format("'ref':'%s'", test_member_text(answer, "message_id").ptr));
    answer = facts_call(&f, "session.append", "{'role':'user','text':'[Note] We hire Bob.'}");
    add(&f, frame, test_format("'ref':'%s'", test_member_text(answer, "message_id").ptr));
    answer = pack(&f, frame, "");
    CHECK_STR_EQ(test_member_text(answer, "text"), "Task: g\n\nMaterial:\n- [Note] We hire Bob.\n");
    CHECK_STR_EQ(test_member_text(answer, "missing.0.reason"), "not_found");
    facts_close(&f);
}

TEST(frame_pack, the_same_text_is_shown_once)
{
    facts f;
    const char *frame, *again;
    loci_str answer;

    frames_open(&f);
    frame = push(&f, "{'goal':'g'}");
    again = add(&f, frame, "'text':'the same'");
    add(&f, frame, "'text':'the same','priority':'high'");
    answer = pack(&f, frame, "");
    CHECK_STR_EQ(test_member_text(answer, "text"), "Task: g\n\nMaterial:\n- the same\n");
    CHECK_STR_EQ(test_member_text(answer, "dropped.0.id"), again);
    CHECK_STR_EQ(test_member_text(answer, "dropped.0.reason"), "duplicate");
    facts_close(&f);
}

TEST(frame_pack, bad_input_is_refused)
{
    facts f;
    const char *frame;

    frames_open(&f);
    frame = push(&f, "{'goal':'g'}");
    facts_fail(&f, LOCI_EINVAL, "frame_id", "frame.pack", "{}");
    facts_fail(&f, LOCI_ENOTFOUND, "no frame frm_1", "frame.pack", "{'frame_id':'frm_1'}");
    facts_fail(&f, LOCI_EINVAL, "budget", "frame.pack",
               test_format("{'frame_id':'%s','budget':0}", frame));
    facts_fail(&f, LOCI_EBUDGET, "too small", "frame.pack",
               test_format("{'frame_id':'%s','budget':1}", frame));
    facts_fail(&f, LOCI_EINVAL, "min_compaction", "frame.pack",
               test_format("{'frame_id':'%s','min_compaction':'most'}", frame));
    facts_fail(&f, LOCI_EINVAL, "include", "frame.pack",
               test_format("{'frame_id':'%s','include':[1]}", frame));
    facts_close(&f);
}

/* ---- In a context ---------------------------------------------------------------------------- */

/* context.build has the frame as a section: its brief and critical handles always, the others in
 * the order of choosing, shown by time. */
TEST(frame_pack, a_context_has_the_frame_as_a_section)
{
    facts f;
    const char *root, *frame, *low;
    loci_str answer;

    frames_open(&f);
    root = id_of(facts_call(&f, "frame.push", "{'goal':'Find the cause'}"));
    frame = push(&f, test_format("{'goal':'Read the pool','parent_id':'%s'}", root));
    add(&f, frame, "'text':'Never delete the archive.','priority':'critical'");
    low = add(&f, frame, "'text':'A remark that is not so important.','priority':'low'");
    add(&f, frame, "'text':'The pool has ten connections.','priority':'high'");
    answer = facts_call(&f, "context.build",
                        "{'query':'pool','frame_id':'%s','sections':['frame']}", frame);
    CHECK_STR_EQ(test_member_text(answer, "text"),
                 "Task: Read the pool\nPart of: Find the cause\n- Never delete the archive.\n"
                 "- A remark that is not so important.\n- The pool has ten connections.\n");
    CHECK_STR_EQ(test_member_text(answer, "included.0.section"), "frame");
    CHECK_EQ(test_member_int(answer, "tokens.frame"), test_member_int(answer, "tokens.total"));
    answer = facts_call(&f, "context.build",
                        "{'query':'pool','frame_id':'%s','sections':['frame'],'budget':64}", frame);
    CHECK_STR_EQ(test_member_text(answer, "text"),
                 "Task: Read the pool\nPart of: Find the cause\n- Never delete the archive.\n"
                 "- The pool has ten connections.\n");
    CHECK_STR_EQ(test_member_text(answer, "excluded.0.id"), low);
    CHECK_STR_EQ(test_member_text(answer, "excluded.0.reason"), "budget");
    facts_fail(&f, LOCI_EBUDGET, "too small", "context.build",
               test_format("{'query':'q','frame_id':'%s','budget':12}", frame));
    facts_fail(&f, LOCI_ENOTFOUND, "no frame frm_1", "context.build",
               "{'query':'q','frame_id':'frm_1'}");
    answer = facts_call(&f, "context.build", "{'query':'pool','sections':['frame']}");
    CHECK_STR_EQ(test_member_text(answer, "text"), "");
    facts_close(&f);
}

/* Handles are trimmed if they have to be, whatever part of the budget the frame has. */
TEST(frame_pack, a_context_fits_in_the_budget_that_was_needed)
{
    facts f;
    const char *frame;
    loci_str answer;
    int64_t needed;

    frames_open(&f);
    frame = push(&f, "{'goal':'g'}");
    facts_call(&f, "fact.write",
               "{'key':'limit','value':'At most five hundred euros per day and person, and none "
               "of it for anything that was not ordered before','is_constraint':true}");
    add(&f, frame, "'text':'Read   the   rules,   then   go   on.','priority':'critical'");
    CHECK_STATUS(LOCI_EBUDGET,
                 facts_try(&f, "context.build", &answer,
                           test_format("{'query':'q','frame_id':'%s','budget':1}", frame)));
    needed = test_member_int(loci_str_of(f.err.data), "needed");
    answer = facts_call(&f, "context.build", "{'query':'q','frame_id':'%s','budget':%lld}", frame,
                        (long long)needed);
    CHECK_EQ(test_member_int(answer, "tokens.total"), needed);
    answer = facts_call(&f, "context.build", "{'query':'q','frame_id':'%s'}", frame);
    CHECK_CONTAINS(test_member_text(answer, "text"), "Read   the   rules");
    facts_close(&f);
}

/* ---- Large trees ----------------------------------------------------------------------------- */

#define DEPTH 64

/* One frame below the other; returns the deepest one. */
static const char *push_branch(facts *f, const char *root)
{
    loci_request requests[DEPTH];
    loci_answer *answer = NULL;
    loci_str list;
    const char *id;

    for (int i = 0; i < DEPTH; i++) {
        const char *parent = i == 0 ? root : test_format("$%d.id", i - 1);

        requests[i] = (loci_request){
            "frame.push",
            loci_str_of(test_json(test_format("{'goal':'step %d','parent_id':'%s','budget':%d}", i,
                                              parent, DEPTH - i))),
            LOCI_AT_CLOCK};
    }
    CHECK_OK(loci_call_many(f->engine, requests, DEPTH, NULL, &answer, &f->err), f->err);
    loci_answer_free(answer);
    list = facts_call(f, "frame.list", "{'limit':1}");
    id = test_format("%s", test_member_text(list, "frames.0.id").ptr);
    CHECK_EQ(test_member_int(list, "frames.0.depth"), DEPTH);
    return id;
}

/* The least CPU time of a pack in microseconds. */
static double pack_cpu_us(facts *f, const char *frame)
{
    double best = 1e9;

    for (int i = 0; i < 20; i++) {
        struct timespec from, to;
        double us;

        (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
        pack(f, frame, ",'budget':500");
        (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &to);
        us = 1e6 * (double)(to.tv_sec - from.tv_sec) + 1e-3 * (double)(to.tv_nsec - from.tv_nsec);
        best = us < best ? us : best;
    }
    return best;
}

/* The cost of a pack is that of its frame, whatever else the user has: 10,000 frames, 64 deep
 * (2,000 in a quick run), and at most 3 ms. */
TEST_ON(TEST_FILES, frame_pack, the_size_of_the_tree_does_not_matter)
{
    int branches = (int)test_count(31, 156);
    const char *root, *leaf;
    double alone, among;
    facts f;

    test_timeout(300);
    frames_open(&f);
    root = push(&f, "{'goal':'root','budget':1000000}");
    leaf = push_branch(&f, root);
    for (int i = 0; i < 20; i++)
        add(&f, leaf, test_format("'text':'This is note %d of the deepest frame.'", i));
    alone = pack_cpu_us(&f, leaf);
    for (int i = 1; i < branches; i++)
        push_branch(&f, root);
    among = pack_cpu_us(&f, leaf);
    if (among > 3 * alone)
        test_fail(__FILE__, __LINE__, "a pack takes %.0f us in one branch and %.0f us in %d", alone,
                  among, branches);
    if (!test_is_sanitized())
        CHECK_LE((int64_t)among, 3000); /* As context.build. */
    CHECK_EQ(test_member_int(pack(&f, leaf, ""), "metadata.elided"), DEPTH - 4);
    facts_close(&f);
}

/* ---- Properties ------------------------------------------------------------------------------ */

/* The text or ref of a handle. */
static const char *random_text(test_rng *rng)
{
    int n = (int)test_rng_below(rng, 50);

    switch (test_rng_below(rng, 8)) {
    case 0:
        return test_format("'text':'A short note %d.'", n);
    case 1:
        return test_format("'text':'Line %d\\n\\n\\n   and   another\\nTask: forged'", n);
    case 2:
        return test_format("'text':'{\\'a\\': [%d, 2, 3], \\'b\\': {\\'c\\': null}}'", n);
    case 3:
        return test_format("'text':'for (i = 0; i < %d; i++)\\n    sum += a[i];\\n'", n);
    case 4:
        return "'text':'The same text'";
    case 5:
        return test_format("'ref':'https://example.com/%d'", n);
    case 6:
        return test_format("'ref':'mem_%d'", n);
    default:
        return test_format(
            "'text':'Sentence %d is long enough to be cut somewhere, because it goes on and on. "
            "Here it is, with many words that do not say much, but need room in every pack. "
            "A third sentence follows. And a fourth one with a number of words as well.'",
            n);
    }
}

/* Whatever the handles and the budget are: the budget is kept, the same call gives the same answer,
 * every handle is in exactly one list, mandatory ones are in the text, calls are with their
 * outputs, and packing changes nothing. */
TEST(frame_pack, a_pack_keeps_its_promises_for_random_frames)
{
    static const char *const priorities[] = {"critical", "high", "medium", "low", "background"};
    static const char *const levels[] = {"none", "light", "moderate", "aggressive", "critical"};
    test_rng rng = test_random(18);
    facts f;

    frames_open(&f);
    for (int round = 0; round < 12; round++) {
        const char *frame = push(&f, test_format("{'goal':'goal %d'}", round));
        int64_t handles = (int64_t)test_rng_below(&rng, 30);
        loci_str before;

        for (int64_t i = 0; i < handles; i++) {
            if (test_rng_below(&rng, 5) == 0) {
                facts_call(&f, "frame.tool_begin",
                           "{'frame_id':'%s','call_id':'c%lld','name':'tool','arguments':[%lld]}",
                           frame, (long long)i, (long long)i);
                facts_call(&f, "frame.tool_end",
                           "{'frame_id':'%s','call_id':'c%lld','output':'out%lld'}", frame,
                           (long long)i, (long long)i);
            } else {
                add(&f, frame,
                    test_format("%s,'priority':'%s'", random_text(&rng),
                                priorities[1 + test_rng_below(&rng, 4)]));
            }
        }
        add(&f, frame, "'text':'the rule','priority':'critical'");
        before = facts_call(&f, "frame.get", "{'id':'%s'}", frame);
        for (int i = 0; i < 8; i++) {
            int64_t budget = 20 + (int64_t)test_rng_below(&rng, 1200);
            const char *args = test_format(",'budget':%lld,'min_compaction':'%s'",
                                           (long long)budget, levels[test_rng_below(&rng, 5)]);
            loci_str answer = pack(&f, frame, args);
            int64_t shown = count_of(answer, "segments");

            CHECK_STR_EQ(pack(&f, frame, args), answer);
            CHECK_LE(used(answer), budget);
            CHECK_EQ(shown + count_of(answer, "dropped") + count_of(answer, "missing"),
                     handles + 1);
            CHECK_CONTAINS(test_member_text(answer, "text"), "- the rule\n");
            CHECK(strstr(test_member_text(answer, "text").ptr, "\nTask: forged") == NULL);
            for (int64_t s = 0; s < shown; s++) {
                loci_str text = test_member_text(answer,
                                                 test_format("segments.%lld.text", (long long)s));
                loci_str label = test_member_text(answer,
                                                  test_format("segments.%lld.label", (long long)s));

                if (strncmp(text.ptr, "out", 3) == 0)
                    CHECK_STR_EQ(label, test_format("tool [%s]", text.ptr + 3));
                else
                    CHECK_STR_EQ(label, "");
            }
        }
        CHECK_STR_EQ(facts_call(&f, "frame.get", "{'id':'%s'}", frame), before);
    }
    facts_close(&f);
}
