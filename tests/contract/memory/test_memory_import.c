/* Files of other programs become memories: what is over arrives as history, and a file that is
 * imported twice changes nothing. The files are written for this test, after the documentation of
 * each program. */
#include "contract/fact_fixture.h"

#include <string.h>

#include "base/str.h"

/* memory.import of a text; `more` are further arguments, such as ",'format':'zep'". */
static loci_status try_import(facts *f, loci_str text, const char *more, loci_str *out)
{
    char *args = test_bytes(6 * text.len + 200), *to = args;

    to = stpcpy(to, "{\"text\":\"");
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] == '"' || text.ptr[i] == '\\')
            *to++ = '\\';
        if (text.ptr[i] == '\n')
            *to++ = '\\';
        *to++ = (char)(text.ptr[i] == '\n' ? 'n' : text.ptr[i]);
    }
    (void)stpcpy(stpcpy(stpcpy(to, "\""), test_json(more)), "}");
    return facts_try(f, "memory.import", out, args);
}

static loci_str import_text(facts *f, const char *text, const char *more)
{
    loci_str answer = LC_STR_NONE;

    CHECK_OK(try_import(f, loci_str_of(text), more, &answer), f->err);
    return answer;
}

static loci_str import_file(facts *f, const char *name, const char *user)
{
    loci_str answer = LC_STR_NONE;
    loci_str text = test_read_file(
        test_source_path(test_format("tests/contract/memory/files/%s", name)));

    CHECK_OK(try_import(f, text, test_format(",'user_id':'%s'", user), &answer), f->err);
    return answer;
}

/* "created 2, ended 1, skipped 1": what is not 0. */
static const char *counts(loci_str answer)
{
    static const char *const names[] = {"created", "mentioned", "superseded", "kept_both",
                                        "claimed", "ended",     "skipped"};
    const char *out = "";

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (test_member_int(answer, names[i]) > 0)
            out = test_format("%s%s%s %d", out, *out != '\0' ? ", " : "", names[i],
                              (int)test_member_int(answer, names[i]));
    return out;
}

static const char *texts(loci_str answer, const char *list)
{
    const char *out = "";

    for (int i = 0;; i++) {
        loci_str text = test_member_text(answer, test_format("%s.%d.text", list, i));

        if (text.len == 0)
            return out;
        out = test_format("%s[%.*s]", out, LC_STR_ARG(text));
    }
}

static const char *listed(facts *f, const char *args)
{
    return texts(facts_call(f, "memory.list", "%s", args), "memories");
}

/* Every file twice: the second time nothing is new. */
TEST(memory_import, files_are_recognised_and_imported_once)
{
    static const struct {
        const char *file, *first, *second;
    } cases[] = {
        {"notes.md", "created 2, kept_both 2, skipped 3", "mentioned 4, skipped 3"},
        {"lines.jsonl", "created 2, skipped 1", "mentioned 2, skipped 1"},
        {"mem0_export.json", "created 1, ended 1", "mentioned 2"},
        {"server_memory.jsonl", "created 2", "mentioned 2"},
        {"zep_graph.json", "created 1, kept_both 1, ended 2, skipped 1", "mentioned 4, skipped 1"},
        {"zep_messages.json", "created 2, skipped 1", "mentioned 2, skipped 1"},
        {"letta_agent.af", "created 2, kept_both 1, skipped 3", "mentioned 3, skipped 3"},
        {"letta_passages.json", "created 2", "mentioned 2"},
    };
    facts f;

    facts_open(&f);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *all = test_format("{'status':'any','user_id':'%s'}", cases[i].file), *before;

        CHECK_STR_EQ(counts(import_file(&f, cases[i].file, cases[i].file)), cases[i].first);
        before = listed(&f, all);
        CHECK_STR_EQ(counts(import_file(&f, cases[i].file, cases[i].file)), cases[i].second);
        CHECK_STR_EQ(listed(&f, all), before);
    }
    CHECK_STR_EQ(listed(&f, "{'user_id':'server_memory.jsonl','entity':'person:Ben Lee'}"),
                 "[Ben Lee works at Acme][Cooks well]");
    CHECK_STR_EQ(listed(&f, "{'user_id':'server_memory.jsonl','entity':'organization:Acme'}"),
                 "[Ben Lee works at Acme]");
    CHECK_STR_EQ(listed(&f, "{'user_id':'lines.jsonl','metadata':{'a':1}}"), "[Anna likes tea]");
    CHECK_STR_EQ(listed(&f, "{'user_id':'mem0_export.json'}"), "[Plays chess]");
    CHECK_STR_EQ(listed(&f, "{'user_id':'mem0_export.json','status':'archived'}"),
                 "[Has a guest this week]");
    CHECK_STR_EQ(texts(facts_call(&f, "memory.recall", "%s",
                                  "{'query':'chess','to':'2023-02-01T00:00:00Z','user_id':"
                                  "'mem0_export.json'}"),
                       "results"),
                 "[Plays chess]");
    facts_close(&f);
}

/* An edge that Zep has invalidated must not come back as true. */
TEST(memory_import, edges_of_zep_keep_their_time)
{
    facts f;
    loci_str list;

    facts_open(&f);
    import_file(&f, "zep_graph.json", "default");
    CHECK_STR_EQ(listed(&f, "{}"), "[Jane's passport is valid for a long time][Jane lives in "
                                   "Denver]");
    list = facts_call(&f, "memory.list", "%s", "{'status':'superseded'}");
    CHECK_STR_EQ(texts(list, "memories"), "[Jane lives in Austin]");
    CHECK_STR_EQ(test_member_text(list, "memories.0.observed_at"), "2019-05-01T00:00:00Z");
    CHECK_STR_EQ(test_member_text(list, "memories.0.ended_at"), "2022-06-01T00:00:00Z");
    CHECK_STR_EQ(test_member(list, "memories.0.entity_refs"),
                 "[\"person:jane\",\"location:austin\"]");
    CHECK_STR_EQ(listed(&f, "{'status':'archived'}"), "[Jane sings in the choir of St. Mary]");
    CHECK_STR_EQ(texts(facts_call(&f, "memory.history", "{'id':'%.*s'}",
                                  LC_STR_ARG(test_member_text(list, "memories.0.superseded_by"))),
                       "memories"),
                 "[Jane lives in Austin][Jane lives in Denver]");
    CHECK_STR_EQ(
        test_member(facts_call(&f, "memory.recall", "%s", "{'query':'choir Austin'}"), "results.2"),
        "");
    /* A later export says that something has ended since. */
    CHECK_STR_EQ(counts(import_text(&f,
                                    "[{\"fact\":\"Jane's passport is valid for a long time\","
                                    "\"source_node_name\":\"Jane\",\"source_node_labels\":"
                                    "[\"User\"],\"valid_at\":\"2021-01-01T00:00:00Z\","
                                    "\"invalid_at\":\"2022-08-01T00:00:00Z\"}]",
                                    "")),
                 "ended 1");
    CHECK_STR_EQ(listed(&f, "{}"), "[Jane lives in Denver]");
    CHECK_OK(test_verify(f.engine, &f.err), f.err);
    facts_close(&f);
}

TEST(memory_import, blocks_and_passages_of_letta)
{
    facts f;
    loci_str list;

    facts_open(&f);
    import_file(&f, "letta_agent.af", "default");
    CHECK_STR_EQ(listed(&f, "{'metadata':{'block':'human'}}"),
                 "[Tom plays the cello][Tom is a nurse][The human's name is Tom.]");
    import_file(&f, "letta_passages.json", "default");
    list = facts_call(&f, "memory.list", "%s", "{'limit':2}");
    CHECK_STR_EQ(texts(list, "memories"),
                 "[Tom's sister is called Ina][Tom keeps bees on the roof]");
    CHECK_STR_EQ(test_member_text(list, "memories.1.observed_at"), "2025-02-03T04:05:06Z");
    CHECK_STR_EQ(test_member(list, "memories.1.metadata"), "{\"tags\":[\"hobby\"]}");
    facts_close(&f);
}

/* Programs seed at every start, and notes are imported again after a change. */
TEST(memory_import, a_repeat_does_not_undo_what_came_later)
{
    static const char notes[] = "* Lives in Austin\n* Lives in Denver\n";
    facts f;

    facts_open(&f);
    CHECK_STR_EQ(counts(import_text(&f, notes, "")), "created 1, superseded 1");
    CHECK_STR_EQ(counts(import_text(&f, notes, "")), "mentioned 2");
    CHECK_STR_EQ(listed(&f, "{}"), "[Lives in Denver]");
    facts_call(&f, "memory.store", "%s", "{'text':'Lives in Oslo'}");
    CHECK_STR_EQ(counts(import_text(&f, notes, "")), "mentioned 2");
    facts_call(&f, "memory.seed", "%s", "{'memories':['Lives in Austin']}");
    CHECK_STR_EQ(listed(&f, "{}"), "[Lives in Oslo]");
    CHECK_STR_EQ(listed(&f, "{'status':'superseded'}"), "[Lives in Denver][Lives in Austin]");
    /* A file that has times can say that the user moved back; a user can, too. */
    import_text(&f, "{\"text\":\"Lives in Austin\",\"observed_at\":\"2031-01-01T00:00:00Z\"}", "");
    CHECK_STR_EQ(listed(&f, "{}"), "[Lives in Austin]");
    facts_close(&f);
    facts_open(&f);
    import_text(&f, "* Lives in Austin\n* Lives in Denver\n* Lives in Austin\n", "");
    CHECK_STR_EQ(listed(&f, "{}"), "[Lives in Austin]");
    facts_close(&f);
}

TEST(memory_import, broken_files_are_named)
{
    static const struct {
        const char *text, *more, *message;
    } bad[] = {
        {"\"ok\"\nnot json", ",'format':'jsonl'", "line 2"},
        {"# only a heading", "", "no statements"},
        {"{\"edges\": [", "", "JSON"},
        {"{\"a\": 1}", ",'format':'zep'", "`edges`"},
        {"\"a\"", ",'format':'letta'", "agent file"},
        {"{\"agents\": [], \"blocks\": []}", "", "no statements"},
        {"{\"a\":\n 1}", ",'format':'mem0'", "`results`"},
        {"[[[[", "", "JSON"},
    };
    facts f;

    facts_open(&f);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        loci_str answer;

        CHECK_STATUS(LOCI_EINVAL, try_import(&f, loci_str_of(bad[i].text), bad[i].more, &answer));
        CHECK_CONTAINS(loci_str_of(f.err.message), bad[i].message);
    }
    CHECK_STR_EQ(listed(&f, "{'status':'any'}"), "");
    facts_close(&f);
}
