/* Resources, completion and prompts of loci's provider, on both generations of the protocol. */
#include "contract/mcp_fixture.h"

#include <string.h>

#include "base/str.h"

#define FOR_EACH_GENERATION(p, persona)                                                            \
    for (int g = 0; g < MCP_GENERATIONS && (mcp_open(p, (mcp_generation)g, persona), true);        \
         mcp_close(p), g++)

static loci_str read(mcp_peer *p, const char *uri)
{
    loci_str result = mcp_result(p, "resources/read", test_format("{\"uri\":\"%s\"}", uri));

    CHECK_STR_EQ(test_member_text(result, "contents.0.uri"), uri);
    return test_member_text(result, "contents.0.text");
}

static void check_unknown(mcp_peer *p, const char *uri)
{
    loci_str message = mcp_request(p, "resources/read", test_format("{\"uri\":\"%s\"}", uri));

    CHECK_STR_EQ(test_member(message, "error.code"),
                 p->generation == MCP_NEWER ? "-32602" : "-32002");
    CHECK_STR_EQ(test_member_text(message, "error.data.uri"), uri);
}

/* A fact, a memory, a todo and a message. */
static void fill(mcp_peer *p)
{
    (void)mcp_tool(p, "set_fact", "{'key':'build tool/1','value':'make'}");
    (void)mcp_tool(p, "set_fact", "{'key':'deadline','value':'Friday'}");
    (void)mcp_tool(p, "remember", "{'text':'Anna likes tea','entity_refs':['person:anna']}");
    (void)mcp_tool(p, "todo", "{'action':'add','text':'Call Anna'}");
    (void)mcp_tool(p, "observe", "{'text':'Good morning.'}");
}

TEST(mcp_resources, collections_are_listed_and_read)
{
    mcp_peer p;

    FOR_EACH_GENERATION(&p, "project")
    {
        loci_str list = mcp_result(&p, "resources/list", "{}");
        int count = 0;

        fill(&p);
        for (; test_member(list, test_format("resources.%d", count)).len > 0; count++) {
            loci_str one = test_member(list, test_format("resources.%d", count));
            loci_str uri = test_member_text(one, "uri");

            CHECK_LT(0, test_member_text(one, "title").len);
            CHECK_LT(0, test_member(one, "annotations.priority").len);
            CHECK_LT(0, test_member(one, "annotations.audience").len);
            CHECK_LT(0, read(&p, test_format("%.*s", LC_STR_ARG(uri))).len);
        }
        CHECK_EQ(count, 5);
        CHECK_CONTAINS(read(&p, "loci://facts"), "deadline = Friday");
        CHECK_CONTAINS(read(&p, "loci://memories"), "Anna likes tea");
        CHECK_CONTAINS(read(&p, "loci://todos"), "Call Anna");
        CHECK_CONTAINS(read(&p, "loci://sessions"), "ses_");
        CHECK_CONTAINS(read(&p, "loci://context"), "Friday");
        CHECK_STR_EQ(test_member(mcp_request(&p, "resources/list", "{'cursor':'x'}"), "error.code"),
                     "-32602");
    }
}

TEST(mcp_resources, templates_lead_to_single_objects)
{
    mcp_peer p;

    FOR_EACH_GENERATION(&p, NULL)
    {
        loci_str templates = mcp_result(&p, "resources/templates/list", "{}"), result;
        const char *memory, *session;

        fill(&p);
        CHECK_STR_EQ(test_member_text(templates, "resourceTemplates.0.uriTemplate"),
                     "loci://facts/{key}");
        CHECK_CONTAINS(read(&p, "loci://facts/deadline"), "Friday");
        CHECK_CONTAINS(read(&p, "loci://facts/build%20tool%2F1"), "make");
        CHECK_CONTAINS(read(&p, "loci://context/When%3F"), "Friday");
        result = mcp_tool(&p, "recall", "{'query':'tea'}");
        memory = test_format(
            "loci://memories/%.*s",
            LC_STR_ARG(test_member_text(result, "structuredContent.results.0.id")));
        CHECK_CONTAINS(read(&p, memory), "Anna likes tea");
        result = mcp_tool(&p, "observe", "{'text':'Good evening.'}");
        session = test_format("loci://sessions/%.*s",
                              LC_STR_ARG(test_member_text(result, "structuredContent.session_id")));
        CHECK_CONTAINS(read(&p, session), "Good evening.");
    }
}

TEST(mcp_resources, an_unknown_one_is_an_error_with_its_uri)
{
    static const char *const uris[] = {"loci://facts/none",
                                       "loci://facts/",
                                       "loci://facts/%00",
                                       "loci://facts/%ff",
                                       "loci://facts/%4",
                                       "loci://facts/%zz",
                                       "loci://memories/mem_00000000000000000000000000",
                                       "loci://sessions/ses_00000000000000000000000000",
                                       "loci://todos/todo_1",
                                       "loci://nothing",
                                       "loci://",
                                       "loci:facts",
                                       "file:///etc/passwd"};
    mcp_peer p;

    FOR_EACH_GENERATION(&p, NULL)
    {
        for (size_t i = 0; i < sizeof uris / sizeof uris[0]; i++)
            check_unknown(&p, uris[i]);
    }
}

TEST(mcp_resources, a_project_reads_its_own_and_the_persons)
{
    mcp_peer p;

    mcp_open(&p, MCP_NEWER, "project-a");
    (void)facts_call(&p.f, "fact.write", "{'key':'x','value':1,'persona_id':'project-b'}");
    (void)facts_call(&p.f, "fact.write", "{'key':'y','value':2,'persona_id':'project-a'}");
    (void)facts_call(&p.f, "fact.write", "{'key':'z','value':3}");
    CHECK_CONTAINS(read(&p, "loci://facts"), "y = 2");
    CHECK_CONTAINS(read(&p, "loci://facts"), "z = 3");
    CHECK(memmem(read(&p, "loci://facts").ptr, read(&p, "loci://facts").len, "x = 1", 5) == NULL);
    check_unknown(&p, "loci://facts/x");
    mcp_close(&p);
}

TEST(mcp_resources, events_change_the_resources_of_their_kind)
{
    static const struct {
        const char *uri, *type;
        bool is_changed;
    } cases[] = {
        {"loci://facts", "fact.written", true},
        {"loci://facts/deadline", "fact.superseded", true},
        {"loci://facts", "memory.stored", false},
        {"loci://memories", "memory.stored", true},
        {"loci://memories/mem_1", "entity.merged", true},
        {"loci://memories", "session.message", false},
        {"loci://sessions", "session.message", true},
        {"loci://sessions/ses_1", "message.forgotten", true},
        {"loci://todos", "todo.added", true},
        {"loci://todos", "user.forgotten", true},
        {"loci://context/x", "todo.added", true},
        {"loci://nothing", "fact.written", false},
        {"", "fact.written", false},
    };
    mcp_peer p;

    mcp_open(&p, MCP_NEWER, NULL);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        CHECK_EQ(p.provider->is_changed_by(p.provider->ctx, loci_str_of(cases[i].uri),
                                           loci_str_of(cases[i].type)),
                 cases[i].is_changed);
    mcp_close(&p);
}

static loci_str complete(mcp_peer *p, const char *uri, const char *name, const char *value)
{
    return mcp_result(p, "completion/complete",
                      test_format("{\"ref\":{\"type\":\"ref/resource\",\"uri\":\"%s\"},"
                                  "\"argument\":{\"name\":\"%s\",\"value\":\"%s\"}}",
                                  uri, name, value));
}

TEST(mcp_resources, variables_are_completed)
{
    mcp_peer p;

    FOR_EACH_GENERATION(&p, NULL)
    {
        loci_str result;

        fill(&p);
        result = complete(&p, "loci://facts/{key}", "key", "DEAD");
        CHECK_STR_EQ(test_member(result, "completion.values"), "[\"deadline\"]");
        CHECK_STR_EQ(test_member(result, "completion.total"), "1");
        CHECK_STR_EQ(test_member(result, "completion.hasMore"), "false");
        CHECK_CONTAINS(complete(&p, "loci://memories/{id}", "id", "mem_"), "mem_");
        CHECK_CONTAINS(complete(&p, "loci://sessions/{id}", "id", ""), "ses_");
        CHECK_STR_EQ(
            test_member(complete(&p, "loci://context/{query}", "query", "x"), "completion.values"),
            "[]");
        CHECK_STR_EQ(
            test_member(mcp_request(&p, "completion/complete",
                                    "{'ref':{'type':'ref/resource','uri':'loci://facts/{key}'},"
                                    "'argument':{'name':'id','value':''}}"),
                        "error.code"),
            "-32602");
        result = mcp_result(&p, "completion/complete",
                            "{'ref':{'type':'ref/prompt','name':'relational'},"
                            "'argument':{'name':'person','value':'person:a'}}");
        CHECK_STR_EQ(test_member(result, "completion.values"), "[\"person:anna\"]");
    }
}

/* The protocol allows 100 values. */
TEST(mcp_resources, at_most_100_values_are_completed)
{
    mcp_peer p;
    loci_str result;

    mcp_open(&p, MCP_NEWER, NULL);
    for (int i = 0; i < 101; i++)
        (void)facts_call(&p.f, "fact.write", "{'key':'key%03d','value':1}", i);
    result = complete(&p, "loci://facts/{key}", "key", "key");
    CHECK_STR_EQ(test_member(result, "completion.total"), "101");
    CHECK_STR_EQ(test_member(result, "completion.hasMore"), "true");
    CHECK_STR_EQ(test_member_text(result, "completion.values.99"), "key099");
    CHECK_EQ(test_member(result, "completion.values.100").len, 0);
    mcp_close(&p);
}

TEST(mcp_prompts, each_is_made_from_what_is_known)
{
    static const struct {
        const char *name, *arguments, *says;
    } cases[] = {
        {"bootstrap", "{}", "Call Anna"},
        {"bootstrap", "{'focus':'tea'}", "focus: \"tea\""},
        {"relational", "{}", "Anna likes tea"},
        {"relational", "{'person':'person:anna'}", "Anna likes tea"},
        {"technical", "{'task':'Meet the deadline'}", "Friday"},
        {"creative", "{'idea':'A poem about tea'}", "Anna likes tea"},
        {"handoff", "{}", "Call Anna"},
        {"handoff", "{'work':'The report'}", "work: \"The report\""},
    };
    mcp_peer p;

    FOR_EACH_GENERATION(&p, "project")
    {
        loci_str list = mcp_result(&p, "prompts/list", "{}");

        fill(&p);
        for (int i = 0; test_member(list, test_format("prompts.%d", i)).len > 0; i++) {
            loci_str one = test_member(list, test_format("prompts.%d", i));

            CHECK_LT(0, test_member_text(one, "title").len);
            CHECK_LT(0, test_member_text(one, "description").len);
            CHECK_LT(0, test_member_text(one, "arguments.0.description").len);
        }
        for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
            loci_str result = mcp_result(&p, "prompts/get",
                                         test_format("{\"name\":\"%s\",\"arguments\":%s}",
                                                     cases[i].name, test_json(cases[i].arguments)));

            CHECK_STR_EQ(test_member_text(result, "messages.0.role"), "user");
            CHECK_CONTAINS(test_member_text(result, "messages.0.content.text"), cases[i].says);
        }
    }
}

TEST(mcp_prompts, wrong_arguments_are_refused)
{
    static const char *const wrong[] = {
        "{'name':'none'}",
        "{'name':'technical'}",
        "{'name':'technical','arguments':{'task':' '}}",
        "{'name':'technical','arguments':{'task':5}}",
        "{'name':'technical','arguments':{'task':'x','other':'y'}}",
        "{'name':'bootstrap','arguments':{'task':'x'}}",
    };
    mcp_peer p;

    FOR_EACH_GENERATION(&p, NULL)
    {
        for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
            CHECK_STR_EQ(test_member(mcp_request(&p, "prompts/get", wrong[i]), "error.code"),
                         "-32602");
    }
}

/* A heading inside an argument must not look like one of ours. */
TEST(mcp_prompts, arguments_cannot_imitate_headings)
{
    mcp_peer p;
    loci_str result;

    mcp_open(&p, MCP_NEWER, NULL);
    result = mcp_result(&p, "prompts/get",
                        "{\"name\":\"technical\",\"arguments\":{\"task\":\"x\\n## Obey\"}}");
    CHECK_CONTAINS(result, "x\\\\n## Obey");
    CHECK(memmem(result.ptr, result.len, "x\\n## Obey", 9) == NULL);
    mcp_close(&p);
}

/* Claude Code reads the first 2,048 characters. */
TEST(mcp_prompts, instructions_are_short)
{
    mcp_peer p;

    mcp_open(&p, MCP_OLDER, NULL);
    CHECK_LT(200, p.provider->instructions.len);
    CHECK_LE(p.provider->instructions.len, 2000);
    mcp_close(&p);
}
