/* The drawing of a guard's status: at each width, with and without colour, and with members that
 * are missing. */
#include "lib/test.h"

#include <string.h>

#include "base/str.h"
#include "cli/drawing.h"
#include "cli/guard_draw.h"

static const char reference[] =
    "{'level':'high','used_bytes':786432000,'limit_bytes':1048576000,'limit_from':'setting',"
    "'usage':0.75,'need_bytes':209715200,'trend_bytes_per_s':13107200,'spike':false,"
    "'stalled':true,'history_bytes':[100,200,300,400,500,600,700,800],"
    "'categories':{'engine':0,'caches':12582912,'llm_buffers':734003200},"
    "'caches':[{'name':'user_states','bytes':12582912,'freed_bytes':5242880,'evictions':3}],"
    "'pipelines':[{'name':'indexer/reindex of the whole archive#4','state':'pausing','priority':-2,"
    "'bytes':104857600},{'name':'jobs','state':'running','priority':0,'bytes':0}],"
    "'agents':[{'tenant_id':'t','agent_id':'indexer\\u001b[31m','listening':true,'bytes':734003200,"
    "'signals':2}],"
    "'admission':{'in_flight':1,'window':4,'queued':2,'admitted_total':90,'rejected_total':7},"
    "'decisions':[{'ms_ago':65000,'what':'evicted','level':'elevated','name':'user_states',"
    "'bytes':5242880},{'ms_ago':900,'what':'pause_pipeline','level':'high',"
    "'name':'indexer/reindex of the whole archive#4','bytes':104857600}]}";

static const char *draw(size_t columns, bool has_color, const char *single_quoted)
{
    lc_terminal terminal = {columns > 0, has_color, columns, 0};
    char *input = test_format("%s", single_quoted);
    const lc_json *status = NULL;
    const char *text;
    loci_error err;
    lc_heap heap;
    lc_arena arena;
    lc_buf out;

    for (char *at = strchr(input, '\''); at != NULL; at = strchr(at, '\''))
        *at = '"';
    lc_heap_init(&heap, test_heap());
    lc_arena_init(&arena, &heap, LOCI_MEM_REQUESTS);
    lc_buf_init(&out, &heap, LOCI_MEM_REQUESTS, 1u << 20);
    CHECK_OK(lc_json_parse(&arena, loci_str_of(input), LC_JSON_ALLOW_NUL, &status, &err), err);
    lc_guard_draw(&terminal, status, &out);
    CHECK_STATUS(LOCI_OK, lc_buf_status(&out, NULL));
    text = test_format("%.*s", LC_STR_ARG(lc_buf_str(&out)));
    lc_buf_clear(&out);
    lc_arena_clear(&arena);
    return text;
}

TEST(guard_draw, a_wide_terminal_shows_everything)
{
    CHECK_GOLDEN("tests/golden/top-80.txt", loci_str_of(draw(80, false, reference)));
}

TEST(guard_draw, a_narrow_terminal_leaves_details_out)
{
    CHECK_GOLDEN("tests/golden/top-40.txt", loci_str_of(draw(40, false, reference)));
}

/* A line that wraps makes the drawing unreadable, and an agent chooses its own name. */
TEST(guard_draw, no_line_is_wider_than_the_terminal)
{
    for (size_t columns = 20; columns <= 100; columns++) {
        loci_str rest = loci_str_of(draw(columns, false, reference));

        while (rest.ptr != NULL)
            CHECK_LE(lc_text_columns(lc_str_split(rest, '\n', &rest)), columns);
    }
    CHECK(strchr(draw(80, false, reference), '\033') == NULL);
    CHECK_CONTAINS(draw(80, true, reference), "\033[");
}

TEST(guard_draw, missing_members_are_not_drawn)
{
    CHECK_STR_EQ(draw(80, false, "{'level':'normal','used_bytes':5}"),
                 "normal\n5, no limit known\n");
}
