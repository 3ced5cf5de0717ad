/* Transcripts: each format gives the same kind of messages, and broken files say where. */
#include "lib/test.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/str.h"
#include "cli/chat_file.h"
#include "lib/calls.h"

#define TEXT_BYTES ((size_t)4 << 20)

typedef struct fixture {
    lc_heap heap;
    lc_arena arena;
    loci_error err;
    const char *format;
    int pieces;
    char said[4096]; /* session|role|speaker|time in s|id|text, a line per message. */
} fixture;

static loci_status take(void *ctx, const lc_chat_piece *piece, loci_error *err)
{
    fixture *f = ctx;
    size_t len = strlen(f->said);

    (void)err;
    f->format = piece->format;
    f->pieces++;
    CHECK(piece->count > 0 && piece->count <= LC_CHAT_PIECE_MESSAGES_MAX);
    for (size_t i = 0; i < piece->count && len < sizeof f->said - 1000; i++) {
        const lc_chat_message *m = &piece->messages[i];

        len += (size_t)snprintf(
            f->said + len, sizeof f->said - len, "%.*s|%s|%.*s|%lld|%.*s|%.*s\n",
            LC_STR_ARG(piece->session), m->role, LC_STR_ARG(m->speaker),
            m->at_us == LC_CHAT_NO_TIME ? -1LL : (long long)(m->at_us / 1000000),
            LC_STR_ARG(m->external_id), LC_STR_ARG(m->text));
    }
    return LOCI_OK;
}

static fixture *open_fixture(void)
{
    fixture *f = (fixture *)test_bytes(sizeof *f);

    lc_heap_init(&f->heap, test_heap());
    lc_arena_init(&f->arena, &f->heap, LOCI_MEM_REQUESTS);
    return f;
}

static loci_status read_text(fixture *f, loci_str text)
{
    lc_chat_file file = {LC_STR("chat"), text, 100};

    f->said[0] = '\0';
    f->format = "";
    f->pieces = 0;
    return lc_chat_file_read(&f->arena, &file, take, f, &f->err);
}

static const char *said(fixture *f, const char *format, const char *text)
{
    CHECK_OK(read_text(f, loci_str_of(text)), f->err);
    CHECK_STR_EQ(f->format, format);
    return f->said;
}

static void check_fails(fixture *f, const char *part, const char *text)
{
    CHECK_EQ(read_text(f, loci_str_of(text)), LOCI_EINVAL);
    CHECK_CONTAINS(f->err.message, part);
}

static void close_fixture(fixture *f)
{
    lc_arena_clear(&f->arena);
}

TEST(chat_file, reads_json_lines)
{
    fixture *f = open_fixture();

    CHECK_STR_EQ(said(f, "jsonl",
                      test_json("\n{'role':'user','text':' Hi ','at':'2026-01-02T03:04:05Z',"
                                "'speaker':'Ada','session':'s1','id':'7'}\n\n"
                                "{'role':'Human','content':'Two','timestamp':1700000000,"
                                "'session':'s2','external_id':'x'}\n"
                                "{'role':'assistant','content':[{'type':'text','text':'a'},"
                                "{'type':'image'},'b'],'at':1700000000000,'session':'s1',"
                                "'id':'8'}\n"
                                "{'role':'assistant','content':null}\n")),
                 "s1|user|Ada|1767323045|s1#7|Hi\ns2|user||1700000000|x|Two\n"
                 "s1|assistant||1700000000|s1#8|a\n\nb\n");
    /* Without ids: the file and the line, and a hash. Blank messages are left out. */
    CHECK_CONTAINS(said(f, "jsonl", test_json("{'role':'user','text':'A\\u0000B'}")),
                   "chat|user||-1|chat#1-");
    CHECK_CONTAINS(f->said, "|A B\n");
    close_fixture(f);
}

TEST(chat_file, reads_sessions_of_claude_code)
{
    fixture *f = open_fixture();

    CHECK_STR_EQ(
        said(f, "claude-code",
             test_json("{'type':'summary','summary':'Greetings'}\n"
                       "{'type':'user','uuid':'u1','sessionId':'c1','timestamp':"
                       "'2026-01-02T03:04:05.678Z','message':{'role':'user','content':'Hi'}}\n"
                       "{'type':'assistant','uuid':'u2','sessionId':'c1','message':{'content':["
                       "{'type':'thinking','thinking':'hm'},{'type':'text','text':'Yes'}]}}\n")),
        "c1|user||1767323045|u1|Hi\nc1|assistant||-1|u2#1|Yes\n");
    close_fixture(f);
}

TEST(chat_file, reads_the_three_styles_of_markdown)
{
    fixture *f = open_fixture();

    CHECK_CONTAINS(said(f, "markdown",
                        "# A talk\n\n## User\n\nHello.\nUser: no heading\n\n## Assistant:\n"
                        "```\n## User\n```\n### You said:\nBye\n"),
                   "|Hello.\nUser: no heading\nchat|assistant");
    CHECK_CONTAINS(f->said, "|```\n## User\n```\nchat|user");
    CHECK_CONTAINS(f->said, "|Bye\n");
    CHECK_CONTAINS(said(f, "markdown", "**User:** One\n**Note:** more\n\n**Claude**: Two\n"),
                   "|One\n**Note:** more\nchat|assistant");
    CHECK_CONTAINS(said(f, "markdown", "User: One\r\n\r\nAI: Two\r\nhttp://x\r\n"),
                   "|One\nchat|assistant");
    CHECK_CONTAINS(f->said, "|Two\r\nhttp://x\n");
    close_fixture(f);
}

#define NODE(id, parent, role, text)                                                               \
    "'" id "':{'id':'" id "','parent':" parent ",'message':{'id':'m" id                            \
    "','author':{'role':'" role "'},'create_time':1700000000.5,"                                   \
    "'content':{'content_type':'text','parts':['" text "']}}}"

TEST(chat_file, follows_the_current_path_of_chatgpt)
{
    static const char old[] = NODE("c", "'b'", "assistant", "old");
    static const char new[] = NODE("d", "'b'", "assistant", "new");
    static const char ask[] = NODE("b", "'a'", "user", "ask");
    static const char tool[] = NODE("a", "null", "tool", "x");
    fixture *f = open_fixture();
    const char *branched = test_format(
        "{'title':'T','conversation_id':'g1','current_node':'d','mapping':{"
        "'a':{'id':'a','message':null,'parent':null},%s,%s,%s}}",
        old, new, ask);
    const char *other = test_format("{'id':'g2','current_node':'a','mapping':{%s}}", tool);

    CHECK_STR_EQ(said(f, "chatgpt", test_json(test_format("[%s,\n%s]", branched, other))),
                 "g1|user||1700000000|mb|ask\ng1|assistant||1700000000|md|new\n"
                 "g2|tool||1700000000|ma|x\n");
    check_fails(f, "chat: conversation 1 (T): the mapping has no node z",
                test_json("[{'title':'T','current_node':'z','mapping':{}}]"));
    check_fails(f, "its own ancestor",
                test_json("[{'current_node':'a','mapping':{" NODE("a", "'a'", "user", "x") "}}]"));
    check_fails(f, "current_node is missing",
                test_json("[{'mapping':{" NODE("a", "null", "user", "x") "}}]"));
    close_fixture(f);
}

TEST(chat_file, reads_exports_of_claude)
{
    fixture *f = open_fixture();
    const char *chat = test_json(
        "{'uuid':'c1','name':'N','chat_messages':[\n"
        "{'uuid':'m1','sender':'human','text':'Hi','created_at':'2026-01-02T03:04:05Z'},\n"
        "{'uuid':'m2','sender':'assistant','text':'?','content':[{'type':'text','text':'Yes'}]},\n"
        "{'uuid':'m3','sender':'human','text':''}]}");
    const char *expected = "c1|user||1767323045|m1|Hi\nc1|assistant||-1|m2|Yes\n";

    CHECK_STR_EQ(said(f, "claude", chat), expected);
    CHECK_STR_EQ(said(f, "claude", test_format("\xef\xbb\xbf [ %s ]", chat)), expected);
    close_fixture(f);
}

TEST(chat_file, says_where_a_file_is_broken)
{
    fixture *f = open_fixture();

    check_fails(f, "chat: the format is unknown; known are JSON lines", "Dear diary,\nUser: x\n");
    check_fails(f, "the format is unknown", "");
    check_fails(f, "the format is unknown", "[]");
    check_fails(f, "the format is unknown", "[1,2]");
    check_fails(f, "the format is unknown", test_json("[{'a':1}]"));
    check_fails(f, "chat: line 1: expected an object", test_json("{'a':1}"));
    check_fails(f, "chat: line 3: ", test_json("{'role':'user','text':'x'}\n\n{'role':'us"));
    check_fails(f, "chat: line 4: unknown role \"boss\"",
                test_json("\n\n{'role':'user','text':'x'}\n{'role':'boss','text':'x'}"));
    check_fails(f, "line 1: the message has neither text nor content",
                test_json("{'role':'user'}"));
    check_fails(f, "line 1: the time \"soon\"",
                test_json("{'role':'user','text':'x','at':'soon'}"));
    check_fails(f, "line 1: session: expected a string",
                test_json("{'role':'user','text':'x','session':1}"));
    check_fails(f, "control character", test_json("{'role':'user','text':'x','session':'a\\nb'}"));
    check_fails(f, "the file is not UTF-8 text", "## User\n\xff\n");
    check_fails(f, "conversation 2: the file ends within it",
                test_json("[{'uuid':'c','chat_messages':[]},{'uuid':"));
    check_fails(f, "conversation 1: expected ',' or ']' behind it",
                test_json("[{'uuid':'c','chat_messages':[]} {"));
    check_fails(f, "there is text behind the last ']'",
                test_json("[{'uuid':'c','chat_messages':[]}] x"));
    check_fails(f, "conversation 1 (N): message 1: unknown sender \"boss\"",
                test_json("[{'name':'N','chat_messages':[{'sender':'boss','text':'x'}]}]"));
    close_fixture(f);
}

/* Pieces have at most 100 messages and a bounded size; a text that is too long is refused. */
TEST(chat_file, hands_long_conversations_out_in_pieces)
{
    fixture *f = open_fixture();
    char *text = test_bytes(TEXT_BYTES);
    size_t len = 0;

    for (int i = 0; i < 250; i++)
        len += (size_t)snprintf(text + len, TEXT_BYTES - len,
                                "{\"role\":\"user\",\"text\":\"%d\"}\n", i);
    CHECK_OK(read_text(f, (loci_str){text, len}), f->err);
    CHECK_EQ(f->pieces, 3);
    len = 0;
    for (int i = 0; i < 3; i++)
        len += (size_t)snprintf(text + len, TEXT_BYTES - len, "User: %0400000d\n", i);
    CHECK_OK(read_text(f, (loci_str){text, len}), f->err);
    CHECK_EQ(f->pieces, 3);
    len = (size_t)snprintf(text, TEXT_BYTES, "AI: x\nUser: %0600000d\n", 1);
    CHECK_EQ(read_text(f, (loci_str){text, len}), LOCI_EINVAL);
    CHECK_CONTAINS(f->err.message, "line 2: the text has 600000 bytes");
    close_fixture(f);
}

/* No cut of a file reads outside of it (the sanitizers watch), and none of an export succeeds. */
TEST(chat_file, each_beginning_of_an_export_is_refused)
{
    fixture *f = open_fixture();
    const char *chat = test_json(
        "[{'uuid':'c1','name':'N','chat_messages':[{'uuid':'m1','sender':'human','text':'H\\\\i'}"
        "]},{'current_node':'a','mapping':{" NODE("a", "null", "user", "x") "}}]");

    for (size_t len = 0; len < strlen(chat); len++) {
        char *copy = test_bytes(len + 1);

        memcpy(copy, chat, len);
        CHECK_EQ(read_text(f, (loci_str){copy, len}), LOCI_EINVAL);
    }
    CHECK_OK(read_text(f, loci_str_of(chat)), f->err);
    close_fixture(f);
}
