/* The drawing of a window: what it shows at each width, and that stored text cannot leave its line.
 */
#include "lib/test.h"

#include <string.h>

#include "base/str.h"
#include "cli/window_draw.h"

static const char high[] =
    "{'text':'','pressure':{'level':'high','active_tokens':23400,'limit':32000,"
    "'candidates':[{'id':'res_1','uri':'file:///a/notes.txt','tokens':1200,"
    "'reason':'attention 0.5, oldest access'},"
    "{'id':'res_2','uri':'https://example.org/','tokens':910,'reason':'oldest access'},"
    "{'id':'res_3','uri':'text:plan','tokens':5,'reason':'oldest access'}]}}";
static const char reference[] =
    "{'policy':'lru','resources':["
    "{'name':'SOUL.md','kind':'soul','state':'hot','stale':false,'size_tokens':1200,"
    "'attention':3.0,'annotations':[],'links':[]},"
    "{'name':'store.c','kind':'code','state':'loaded','stale':true,'size_tokens':11000,"
    "'attention':1.0,'annotations':['Check the lock order before editing.'],"
    "'links':[{'to':'writer.c','label':'calls'}]},"
    "{'name':'design.md','kind':'document','state':'loaded','mode':'summary',"
    "'size_tokens':910,'attention':1},"
    "{'name':'2026-11-17.md','kind':'daily','state':'indexed','size_tokens':2400,'attention':1.0,"
    "'summary':'Fixed the flaky log test; the release moved to Friday, for good this time.'},"
    "{'name':'aries.pdf','kind':'document','state':'cold','size_tokens':38700,'attention':1.0},"
    "{'name':'inbox.txt','kind':'other','state':'offline','size_tokens':0,'attention':1.0}],"
    "'groups':[{'region':'cold','kind':'code','count':41,'size_tokens':1250000}]}";

typedef struct fixture {
    lc_heap heap;
    lc_arena arena;
    lc_buf out;
} fixture;

static const lc_json *parse(fixture *f, const char *single_quoted)
{
    char *text = test_format("%s", single_quoted);
    const lc_json *json = NULL;
    loci_error err;

    for (char *at = strchr(text, '\''); at != NULL; at = strchr(at, '\''))
        *at = '"';
    CHECK_OK(lc_json_parse(&f->arena, loci_str_of(text), LC_JSON_ALLOW_NUL, &json, &err), err);
    return json;
}

static const char *draw(size_t columns, bool has_color, const char *map, const char *parsed)
{
    lc_terminal terminal = {columns > 0, has_color, columns, 0};
    const char *text;
    fixture f;

    lc_heap_init(&f.heap, test_heap());
    lc_arena_init(&f.arena, &f.heap, LOCI_MEM_REQUESTS);
    lc_buf_init(&f.out, &f.heap, LOCI_MEM_REQUESTS, 1u << 20);
    lc_window_draw(&terminal, parse(&f, map), parse(&f, parsed), &f.out);
    CHECK_STATUS(LOCI_OK, lc_buf_status(&f.out, NULL));
    text = test_format("%.*s", (int)f.out.len, f.out.ptr);
    lc_buf_clear(&f.out);
    lc_arena_clear(&f.arena);
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

TEST(window_draw, fits_the_terminal)
{
    for (size_t columns = 40; columns <= 80; columns += 40) {
        const char *text = draw(columns, false, high, reference);

        check_columns(text, columns);
        CHECK_GOLDEN(test_format("tests/unit/fixtures/window_draw_%zu.txt", columns), text);
    }
    for (size_t columns = 20; columns <= 120; columns++)
        check_columns(draw(columns, false, high, reference), columns);
}

/* In a pipe nothing is cut, and there is no colour. */
TEST(window_draw, pipe)
{
    const char *text = draw(0, false, high, reference);

    CHECK_CONTAINS(text, "the release moved to Friday, for good this time.\n");
    CHECK(strchr(text, '\033') == NULL);
}

TEST(window_draw, colour_follows_the_pressure)
{
    const char *text = draw(80, true, high, reference);

    CHECK_CONTAINS(text, "\033[");
    CHECK(strstr(draw(80, true,
                      "{'pressure':{'level':'critical','active_tokens':9,'limit':9,"
                      "'warning':'The window is full.'}}",
                      reference),
                 "The window is full.") != NULL);
}

/* Names, notes and reasons are texts of users. */
TEST(window_draw, stored_text_cannot_control_the_terminal)
{
    const char *text = draw(
        80, false, "{'pressure':{'level':'low','active_tokens':0,'limit':0}}",
        "{'policy':'lru\\n','resources':[{'name':'a\\u001b[31m\\nb','state':'loaded',"
        "'annotations':['x\\r\\n✓ y',7],'links':[{'to':'\\u202e'}]}],'groups':[5]}");

    CHECK(strchr(text, '\033') == NULL);
    CHECK(strchr(text, '\r') == NULL);
    CHECK_CONTAINS(text, "a\\x1b[31m\\nb");
    CHECK_CONTAINS(text, "note: x\\x0d\\n✓ y\n");
    check_columns(text, 80);
}

TEST(window_draw, empty_window)
{
    CHECK_STR_EQ(draw(80, false, "{'pressure':{'level':'low','active_tokens':0,'limit':192000}}",
                      "{'policy':'lru','resources':[],'groups':[]}"),
                 "░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░  0 %  0 of 192K tokens  low\n"
                 "policy lru\n"
                 "\n"
                 "The window has no resources; `loci resource discover` adds them.\n");
}
