/* The messages in a line of a transcript: what was said, by whom, and nothing else. */
#include "lib/test.h"

#include <string.h>

#include "base/str.h"
#include "cli/transcript.h"
#include "lib/calls.h"

typedef struct fixture {
    lc_heap heap;
    lc_arena arena;
    lc_transcript_line line;
    lc_transcript_limits limits;
} fixture;

static fixture *open_fixture(void)
{
    fixture *f = (fixture *)test_bytes(sizeof *f);

    lc_heap_init(&f->heap, test_heap());
    lc_arena_init(&f->arena, &f->heap, LOCI_MEM_REQUESTS);
    f->limits = (lc_transcript_limits){1000, 20};
    return f;
}

static size_t read_line(fixture *f, const char *text)
{
    loci_error err;

    CHECK_OK(
        lc_transcript_read(&f->arena, loci_str_of(test_json(text)), &f->limits, &f->line, &err),
        err);
    return f->line.count;
}

#define USER(content) "{'type':'user','uuid':'u1','message':{'role':'user','content':" content "}}"

TEST(transcript, what_people_models_and_tools_say_is_read)
{
    fixture *f = open_fixture();

    CHECK_EQ(read_line(f, "{'type':'user','uuid':'u1','timestamp':'2026-01-02T03:04:05.678Z',"
                          "'version':'2.1.4','message':{'role':'user','content':' Hello. '}}"),
             1);
    CHECK_STR_EQ(f->line.messages[0].role, "user");
    CHECK_STR_EQ(f->line.messages[0].text, "Hello.");
    CHECK_STR_EQ(f->line.messages[0].external_id, "u1");
    CHECK_STR_EQ(f->line.messages[0].at, "2026-01-02T03:04:05.678Z");
    CHECK_STR_EQ(f->line.version, "2.1.4");
    CHECK_EQ(f->line.model.len, 0);

    CHECK_EQ(read_line(f, "{'type':'assistant','uuid':'u2','message':{'model':'opus','content':["
                          "{'type':'thinking','thinking':'hm'},{'type':'text','text':'One.'},"
                          "{'type':'tool_use','name':'Bash','input':{}},"
                          "{'type':'text','text':'Two.'}]}}"),
             2);
    CHECK_STR_EQ(f->line.messages[0].role, "assistant");
    CHECK_STR_EQ(f->line.messages[0].external_id, "u2#1");
    CHECK_STR_EQ(f->line.messages[1].text, "Two.");
    CHECK_STR_EQ(f->line.messages[1].external_id, "u2#3");
    CHECK_STR_EQ(f->line.model, "opus");
    CHECK_EQ(f->line.messages[0].at.len, 0);

    CHECK_EQ(read_line(f, USER("[{'type':'tool_result','content':'0123456789012345678901234'},"
                               "{'type':'tool_result','content':[{'type':'text','text':'a'},"
                               "{'type':'image'},{'type':'text','text':'b'}]}]")),
             2);
    CHECK_STR_EQ(f->line.messages[0].role, "tool");
    CHECK_STR_EQ(f->line.messages[0].text, "01234567890123456789");
    CHECK_STR_EQ(f->line.messages[1].text, "a\nb");
    f->limits.tool_bytes_max = 0;
    CHECK_EQ(
        read_line(f, USER("[{'type':'tool_result','content':'x'},{'type':'text','text':'y'}]")), 1);
    CHECK_STR_EQ(f->line.messages[0].external_id, "u1#1");
    lc_arena_clear(&f->arena);
}

/* Text that a hook or the program adds to a prompt must not be stored as the user's own words. */
TEST(transcript, what_was_injected_is_not_what_the_user_said)
{
    fixture *f = open_fixture();

    CHECK_EQ(read_line(f, USER("'<loci-memory>\\nLives in Oslo.\\n</loci-memory>'")), 0);
    CHECK_EQ(
        read_line(f, USER("'a <loci-memory>x</loci-memory>b<system-reminder>y</system-reminder> "
                          "c'")),
        1);
    CHECK_STR_EQ(f->line.messages[0].text, "a b c");
    CHECK_EQ(
        read_line(f, USER("'<command-name>/clear</command-name>\\n<command-args></command-args>'")),
        0);
    CHECK_EQ(read_line(f, USER("'before <system-reminder>never closed'")), 1);
    CHECK_STR_EQ(f->line.messages[0].text, "before");
    CHECK_EQ(read_line(f, USER("'keep <b>this</b> and </loci-memory> and <loci-memoryx>'")), 1);
    CHECK_STR_EQ(f->line.messages[0].text,
                 "keep <b>this</b> and </loci-memory> and <loci-memoryx>");
    lc_arena_clear(&f->arena);
}

TEST(transcript, lines_that_nobody_said_are_left_out)
{
    static const char *const lines[] = {
        "",
        "{",
        "[]",
        "7",
        "{'type':'summary','summary':'x','leafUuid':'u'}",
        "{'type':'system','uuid':'u','message':{'content':'x'}}",
        "{'type':'user','message':{'content':'no id'}}",
        "{'type':'user','uuid':'u'}",
        "{'type':'user','uuid':'u','message':{'content':7}}",
        "{'type':'user','uuid':'u','message':{'content':'  '}}",
        "{'type':'user','uuid':'u','isMeta':true,'message':{'content':'x'}}",
        "{'type':'user','uuid':'u','isSidechain':true,'message':{'content':'x'}}",
        "{'type':'user','uuid':'u','isCompactSummary':true,'message':{'content':'x'}}",
        "{'type':'assistant','uuid':'u','message':{'model':'<synthetic>','content':'x'}}",
    };
    fixture *f = open_fixture();

    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
        CHECK_EQ(read_line(f, lines[i]), 0);
    lc_arena_clear(&f->arena);
}

TEST(transcript, odd_texts_are_made_storable)
{
    fixture *f = open_fixture();

    CHECK_EQ(read_line(f, USER("'a\\u0000b'")), 1);
    CHECK_STR_EQ(f->line.messages[0].text, "a b");
    f->limits.text_bytes_max = 5;
    CHECK_EQ(read_line(f, USER("'aaaa\\u00e9\\u00e9'")), 1); /* The character at 4 has two bytes. */
    CHECK_STR_EQ(f->line.messages[0].text, "aaaa");
    CHECK_EQ(read_line(f, "{'type':'user','uuid':'u','timestamp':'yesterday','version':'1 2',"
                          "'message':{'content':'x'}}"),
             1);
    CHECK_EQ(f->line.messages[0].at.len, 0);
    CHECK_EQ(f->line.version.len, 0);
    lc_arena_clear(&f->arena);
}

static loci_status read_again(void *ctx)
{
    fixture f = {.limits = {1000, 1000}};
    loci_error err;
    loci_status status;

    lc_heap_init(&f.heap, test_heap());
    lc_arena_init(&f.arena, &f.heap, LOCI_MEM_REQUESTS);
    status = lc_transcript_read(&f.arena, loci_str_of(ctx), &f.limits, &f.line, &err);
    lc_arena_clear(&f.arena);
    return status;
}

TEST(transcript, running_out_of_memory_is_reported)
{
    const char *line = test_json(USER("[{'type':'text','text':'a <loci-memory>x</loci-memory>'},"
                                      "{'type':'tool_result','content':[{'type':'text',"
                                      "'text':'b'}]}]"));

    test_oom_sweep(read_again, (void *)(uintptr_t)line);
}
