/* The drawing of frames: the trees at each width, the bars of budgets, and that stored text cannot
 * leave its line. */
#include "lib/test.h"

#include <string.h>

#include "base/str.h"
#include "base/time.h"
#include "cli/drawing.h"
#include "cli/frame_draw.h"

#define BUDGET(total, used, reserved, children, available, over)                                   \
    "'budget':{'total':" #total ",'used':" #used ",'reserved':" #reserved                          \
    ",'subcall_allocation':" #children ",'available':" #available ",'over':" #over "}"

/* Newest first, as frame.list answers. */
static const char reference[] =
    "{'frames':["
    "{'id':'frm_7','goal':'Write the report','status':'waiting','waiting_for':'user',"
    "'updated_at':'2026-03-01T08:57:00Z','scope':{'actor_id':'writer','thread_id':'t1'},"
    "'budget':{'total':100000,'available':100000}},"
    "{'id':'frm_6','parent_id':'frm_1','goal':'Ask Ann whether the limit may change for good',"
    "'status':'suspended','updated_at':'2026-02-27T09:00:00Z',"
    "'budget':{'total':1000,'available':1000}},"
    "{'id':'frm_5','parent_id':'frm_2','goal':'Count','status':'failed','error':'no disk',"
    "'completed_at':'2026-03-01T08:00:00Z','budget':{'total':500,'used':20,'available':480}},"
    "{'id':'frm_4','parent_id':'frm_2','goal':'Measure','status':'completed',"
    "'completed_at':'2026-03-01T08:00:00Z','budget':{'total':500,'used':260,'available':240}},"
    "{'id':'frm_3','parent_id':'frm_2','goal':'Read the tests of the pool, which are long',"
    "'status':'active','error':'tool grep failed: no such file',"
    "'budget':{'total':1000,'used':1200,'available':0,'over':200}},"
    "{'id':'frm_2','parent_id':'frm_1','goal':'Read the pool','status':'active',"
    "'budget':{'total':3000,'used':280,'subcall_allocation':1000,'available':1720}},"
    "{'id':'frm_1','goal':'Find the cause of the timeout','status':'active',"
    "'scope':{'actor_id':'planner','session_id':'chat-42'},"
    "'budget':{'total':8000,'used':1500,'reserved':500,'subcall_allocation':4000,"
    "'available':2000,'over':0}}],"
    "'next_cursor':null}";

static const char *draw(size_t columns, bool has_color, const char *single_quoted)
{
    lc_terminal terminal = {columns > 0, has_color, columns, 0};
    char *input = test_format("%s", single_quoted);
    const lc_json *list = NULL;
    const char *text;
    loci_error err;
    lc_heap heap;
    lc_arena arena;
    lc_buf out;
    int64_t now_us = 0;

    for (char *at = strchr(input, '\''); at != NULL; at = strchr(at, '\''))
        *at = '"';
    CHECK(lc_time_parse(LC_STR("2026-03-01T09:00:00Z"), &now_us));
    lc_heap_init(&heap, test_heap());
    lc_arena_init(&arena, &heap, LOCI_MEM_REQUESTS);
    lc_buf_init(&out, &heap, LOCI_MEM_REQUESTS, 1u << 20);
    CHECK_OK(lc_json_parse(&arena, loci_str_of(input), LC_JSON_ALLOW_NUL, &list, &err), err);
    CHECK_OK(lc_frame_draw(&(lc_frame_drawing){&terminal, &arena, now_us, &out}, list, &err), err);
    CHECK_STATUS(LOCI_OK, lc_buf_status(&out, NULL));
    text = test_format("%.*s", (int)out.len, out.ptr);
    lc_buf_clear(&out);
    lc_arena_clear(&arena);
    return text;
}

static void check_columns(const char *text, size_t columns_max)
{
    loci_str rest = loci_str_of(text);

    while (rest.len > 0) {
        loci_str line = lc_str_split(rest, '\n', &rest);

        CHECK_LE(lc_text_columns(line), columns_max);
        CHECK(line.len == 0 || line.ptr[line.len - 1] != ' ');
    }
}

TEST(frame_draw, fits_the_terminal)
{
    for (size_t columns = 40; columns <= 80; columns += 40) {
        const char *text = draw(columns, false, reference);

        check_columns(text, columns);
        CHECK_GOLDEN(test_format("tests/unit/fixtures/frame_draw_%zu.txt", columns), text);
    }
    for (size_t columns = 20; columns <= 140; columns++)
        check_columns(draw(columns, false, reference), columns);
}

/* In a pipe nothing is cut, there is no colour, and ids follow. */
TEST(frame_draw, pipe)
{
    const char *text = draw(0, false, reference);

    CHECK_CONTAINS(text, "Ask Ann whether the limit may change for good  suspended 2 days ago  "
                         "frm_6\n");
    CHECK_CONTAINS(text, "1.5K used, 500 reserved, 4K children, 2K free of 8K\n");
    CHECK(strchr(text, '\033') == NULL);
    CHECK_CONTAINS(draw(140, true, reference), "\033[31m");
    CHECK_CONTAINS(draw(140, false, reference), "frm_6\n");
}

static const char *bar_of(const char *budget)
{
    const char *text = draw(
        80, false, test_format("{'frames':[{'id':'a','goal':'g','status':'active',%s}]}", budget));
    const char *line = strstr(text, "g  active\n") + strlen("g  active\n  ");

    return test_format("%.*s", (int)(strstr(line, "  ") - line), line);
}

/* The cells are proportional, and every part that has tokens has one. */
TEST(frame_draw, bars)
{
    CHECK_STR_EQ(bar_of(BUDGET(0, 0, 0, 0, 0, 0)), "░░░░░░░░░░░░░░░░░░░░");
    CHECK_STR_EQ(bar_of(BUDGET(100, 50, 0, 0, 50, 0)), "██████████░░░░░░░░░░");
    CHECK_STR_EQ(bar_of(BUDGET(100, 25, 25, 25, 25, 0)), "█████▓▓▓▓▓▒▒▒▒▒░░░░░");
    CHECK_STR_EQ(bar_of(BUDGET(1000000, 1, 1, 1, 999997, 0)), "█▓▒░░░░░░░░░░░░░░░░░");
    CHECK_STR_EQ(bar_of(BUDGET(1000000, 999997, 1, 1, 1, 0)), "█████████████████▓▒░");
    CHECK_STR_EQ(bar_of(BUDGET(100, 300, 0, 100, 0, 200)), "███████████████▒▒▒▒▒");
}

/* A chain of frames deeper than the screen is wide stays on it. */
TEST(frame_draw, deep)
{
    const char *text = "";

    for (int i = 64; i >= 0; i--)
        text = test_format("%s%s{'id':'f%d','parent_id':'f%d','goal':'Level %d','status':'active',"
                           "%s}",
                           text, i < 64 ? "," : "", i, i - 1, i, BUDGET(9, 0, 0, 0, 9, 0));
    text = test_format("{'frames':[%s],'next_cursor':'x'}", text);
    check_columns(draw(40, false, text), 40);
    CHECK_CONTAINS(draw(40, false, text), "└ ● Level 64\n");
    CHECK_CONTAINS(draw(40, false, text), "older frames: see `loci frame list`\n");
}

/* Goals and errors are texts of users; an answer may name a parent that is not in it. */
TEST(frame_draw, stored_text_cannot_control_the_terminal)
{
    const char *text = draw(
        80, false,
        "{'frames':[{'id':'a','parent_id':'a','goal':'x\\u001b[31m\\ny\\u202e','status':'odd'},"
        "{'id':'b','parent_id':'none','goal':'orphan','status':'failed','error':'\\r\\n✓ y'},"
        "{'id':'c','parent_id':'d'},{'id':'d','parent_id':'c'},7]}");

    CHECK(strchr(text, '\033') == NULL);
    CHECK(strchr(text, '\r') == NULL);
    CHECK_CONTAINS(text, "x\\x1b[31m\\ny\\u202e");
    CHECK_CONTAINS(text, "✗ orphan  failed\n  error: \\x0d\\n✓ y\n");
    check_columns(text, 80);
}

TEST(frame_draw, no_frames)
{
    CHECK_STR_EQ(draw(80, false, "{'frames':[],'next_cursor':null}"),
                 "No frames; `loci frame push GOAL` pushes one.\n");
}

TEST(frame_draw, tokens)
{
    char out[LC_TOKENS_BYTES];

    CHECK_STR_EQ(lc_tokens_format(0, out), "0");
    CHECK_STR_EQ(lc_tokens_format(999, out), "999");
    CHECK_STR_EQ(lc_tokens_format(1000, out), "1K");
    CHECK_STR_EQ(lc_tokens_format(1960, out), "2K");
    CHECK_STR_EQ(lc_tokens_format(9949, out), "9.9K");
    CHECK_STR_EQ(lc_tokens_format(9950, out), "10K");
    CHECK_STR_EQ(lc_tokens_format(999499, out), "999K");
    CHECK_STR_EQ(lc_tokens_format(999500, out), "1M");
    CHECK_STR_EQ(lc_tokens_format(INT64_MAX, out), "9.2E");
}
