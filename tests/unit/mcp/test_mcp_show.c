/* Answers as text for a model and as structured content. */
#include "lib/test.h"

#include <string.h>

#include "base/str.h"
#include "lib/calls.h"
#include "lib/heap.h"
#include "mcp/own.h"
#include "ops/tool.h"

static lc_heap heap;

typedef struct shown_answer {
    const char *text, *data;
} shown_answer;

/* Text that the tool of `operation` makes of `answer`, with room for `bytes` of texts. */
static shown_answer show(const char *operation, const char *answer, size_t bytes)
{
    const lc_op *op = lc_op_find(loci_str_of(operation));
    lc_mcp_view view = {op->answer, loci_str_of(op->mcp_shows), bytes};
    const lc_json *json;
    shown_answer out;
    lc_json_writer w;
    lc_arena arena;
    lc_buf text, data;

    lc_heap_init(&heap, test_heap());
    lc_arena_init(&arena, &heap, LOCI_MEM_REQUESTS);
    CHECK_EQ(lc_json_parse(&arena, loci_str_of(answer), 0, &json, NULL), LOCI_OK);
    lc_buf_init(&text, &heap, LOCI_MEM_REQUESTS, 1 << 26);
    lc_buf_init(&data, &heap, LOCI_MEM_REQUESTS, 1 << 26);
    lc_jw_init(&w, &data);
    lc_mcp_show(&view, json, &text, &w);
    CHECK_EQ(lc_buf_status(&text, NULL), LOCI_OK);
    CHECK_EQ(lc_buf_status(&data, NULL), LOCI_OK);
    out.text = test_format("%.*s", (int)text.len, text.ptr);
    out.data = test_format("%.*s", (int)data.len, data.ptr);
    lc_buf_clear(&text);
    lc_buf_clear(&data);
    lc_arena_clear(&arena);
    return out;
}

TEST(mcp_show, an_item_is_a_line_with_date_text_and_id)
{
    shown_answer shown = show(
        "memory.recall",
        test_json("{'results':[{'id':'mem_1','text':'Likes tea','observed_at':"
                  "'2026-03-01T09:30:00Z','trust':'web','score':0.5,'type':'profile'}],"
                  "'complete':true,'next_cursor':'abc'}"),
        1000);

    CHECK_STR_EQ(shown.text, "- [2026-03-01 09:30] \"Likes tea\" (mem_1; trust: web; score: 0.50)\n"
                             "There are more: repeat the call with cursor abc.\n");
    CHECK_STR_EQ(shown.data, "{\"results\":[{\"text\":\"Likes tea\",\"observed_at\":"
                             "\"2026-03-01T09:30:00Z\",\"id\":\"mem_1\",\"trust\":\"web\","
                             "\"score\":0.5}],\"next_cursor\":\"abc\"}");
}

TEST(mcp_show, what_is_null_absent_or_usual_is_left_out)
{
    shown_answer shown = show("fact.list",
                              test_json("{'facts':[{'id':'fact_1','key':'a b','value':null,"
                                        "'status':'valid','trust':'user','is_constraint':false,"
                                        "'needs_review':true}],'next_cursor':null}"),
                              1000);

    CHECK_STR_EQ(shown.text, "- \"a b\" (fact_1; needs_review)\n");
    CHECK_STR_EQ(shown.data, "{\"facts\":[{\"key\":\"a b\",\"id\":\"fact_1\",\"status\":\"valid\","
                             "\"trust\":\"user\",\"is_constraint\":false,\"needs_review\":true}]}");
}

TEST(mcp_show, the_answer_itself_can_be_a_list_of_one)
{
    shown_answer shown = show("fact.current",
                              test_json("{'id':'fact_1','key':'city','value':['Oslo',7],"
                                        "'observed_at':'2026-03-01T09:30:00Z'}"),
                              1000);

    CHECK_STR_EQ(shown.text, "- city = [\"Oslo\",7] (observed_at: 2026-03-01 09:30; fact_1)\n");
    CHECK_STR_EQ(shown.data, "{\"facts\":[{\"key\":\"city\",\"value\":[\"Oslo\",7],\"observed_at\":"
                             "\"2026-03-01T09:30:00Z\",\"id\":\"fact_1\"}]}");
}

TEST(mcp_show, a_context_is_shown_as_it_is)
{
    shown_answer shown = show("context.build",
                              "{\"text\":\"A:\\n- b\\n\",\"tokens\":{\"total\":3}}", 1000);

    CHECK_STR_EQ(shown.text, "A:\n- b\n");
    CHECK_STR_EQ(shown.data, "{\"text\":\"A:\\n- b\\n\",\"tokens\":{\"total\":3}}");
}

TEST(mcp_show, outcomes_are_explained)
{
    shown_answer shown = show("memory.store",
                              test_json("{'id':'mem_2','outcome':'claimed','contests':'mem_1',"
                                        "'understood':{}}"),
                              1000);

    CHECK_CONTAINS(shown.text, "outcome: claimed, id: mem_2, contests: mem_1\n");
    CHECK_CONTAINS(shown.text, "Ask the user which is right.\n");
}

/* An answer with `count` results of `bytes` bytes each. */
static const char *long_answer(size_t count, size_t bytes, const char *letter)
{
    const char *copy;
    lc_buf out;

    lc_heap_init(&heap, test_heap());
    lc_buf_init(&out, &heap, LOCI_MEM_REQUESTS, 1 << 26);
    lc_buf_append(&out, LC_STR("{\"results\":["));
    for (size_t i = 0; i < count; i++) {
        lc_buf_append_format(&out, "%s{\"id\":\"mem_%zu\",\"text\":\"", i > 0 ? "," : "", i);
        for (size_t k = 0; k < bytes; k += strlen(letter))
            lc_buf_append(&out, loci_str_of(letter));
        lc_buf_append(&out, LC_STR("\"}"));
    }
    lc_buf_append(&out, LC_STR("]}"));
    CHECK_EQ(lc_buf_status(&out, NULL), LOCI_OK);
    copy = test_format("%.*s", (int)out.len, out.ptr);
    lc_buf_clear(&out);
    return copy;
}

/* Hosts cut or refuse long results; a store full of long texts must not cause one. Cutting must not
 * split a character. */
TEST(mcp_show, results_stay_short_whatever_is_stored)
{
    for (size_t count = 1; count <= LC_TOOL_LIMIT_MAX; count += 7) {
        for (int i = 0; i < 2; i++) {
            const char *letter = i == 0 ? "x" : "\xe2\x82\xac";
            shown_answer shown = show("memory.recall", long_answer(count, 30000, letter), 14000);

            CHECK_LT(strlen(shown.text), 20480);
            CHECK_LT(strlen(shown.data), 20480);
            CHECK_CONTAINS(shown.text, "…\"");
            CHECK_CONTAINS(shown.text, "were cut");
            CHECK(strstr(shown.text, "\xef\xbf\xbd") == NULL);
        }
    }
}

static const char *sweep_answer;

static loci_status show_all(void *ctx)
{
    const lc_op *op = lc_op_find(LC_STR("memory.recall"));
    lc_mcp_view view = {op->answer, loci_str_of(op->mcp_shows), 14000};
    const lc_json *json;
    lc_json_writer w;
    lc_arena arena;
    lc_buf text, data;
    loci_status status;

    lc_arena_init(&arena, ctx, LOCI_MEM_REQUESTS);
    lc_buf_init(&text, ctx, LOCI_MEM_REQUESTS, 1 << 26);
    lc_buf_init(&data, ctx, LOCI_MEM_REQUESTS, 1 << 26);
    lc_jw_init(&w, &data);
    status = lc_json_parse(&arena, loci_str_of(sweep_answer), 0, &json, NULL);
    if (status == LOCI_OK) {
        lc_mcp_show(&view, json, &text, &w);
        status = lc_buf_status(&text, NULL);
        if (status == LOCI_OK)
            status = lc_buf_status(&data, NULL);
    }
    lc_buf_clear(&text);
    lc_buf_clear(&data);
    lc_arena_clear(&arena);
    return status;
}

TEST(mcp_show, running_out_of_memory_is_reported)
{
    sweep_answer = long_answer(5, 9000, "x");
    lc_heap_init(&heap, test_heap());
    test_oom_sweep(show_all, &heap);
    sweep_answer = long_answer(50, 9000, "x");
    test_oom_sweep(show_all, &heap);
}

static loci_status make_provider(void *ctx)
{
    lc_mcp_defaults defaults = {LC_STR("user"), LC_STR("project")};
    lc_mcp_provider *provider = NULL;
    loci_status status = lc_mcp_provider_new(ctx, &defaults, &provider, NULL);

    if (status == LOCI_OK)
        lc_mcp_provider_free(provider);
    return status;
}

TEST(mcp_show, a_provider_is_made_whole_or_not_at_all)
{
    lc_heap_init(&heap, test_heap());
    test_oom_sweep(make_provider, &heap);
    lc_mcp_provider_free(NULL);
}

TEST(mcp_show, parts_are_read_as_they_are_written)
{
    loci_str rest = LC_STR("a facts:claims(b c(d ~e)) f:*(g) ~h text!");
    lc_shown shown;

    CHECK(lc_shown_next(&rest, &shown));
    CHECK_STR_EQ(shown.name, "a");
    CHECK_STR_EQ(shown.source, "a");
    CHECK(shown.inner.ptr == NULL && shown.is_declared && !shown.is_verbatim);
    CHECK(lc_shown_next(&rest, &shown));
    CHECK_STR_EQ(shown.name, "facts");
    CHECK_STR_EQ(shown.source, "claims");
    CHECK_STR_EQ(shown.inner, "b c(d ~e)");
    CHECK(lc_shown_next(&rest, &shown));
    CHECK_STR_EQ(shown.name, "f");
    CHECK(shown.source.ptr == NULL);
    CHECK_STR_EQ(shown.inner, "g");
    CHECK(lc_shown_next(&rest, &shown));
    CHECK_STR_EQ(shown.name, "h");
    CHECK(!shown.is_declared);
    CHECK(lc_shown_next(&rest, &shown));
    CHECK_STR_EQ(shown.name, "text");
    CHECK(shown.is_verbatim);
    CHECK(!lc_shown_next(&rest, &shown));
}
