/* Valid and invalid replies of a chat provider. */
#include "lib/test.h"

#include "base/str.h"
#include "model/provider.h"

typedef struct reading {
    lc_heap heap;
    lc_arena arena;
    lc_chat_reply reply;
    loci_error err;
} reading;

static loci_status read_text(const char *text, reading *r)
{
    lc_heap_init(&r->heap, test_heap());
    lc_arena_init(&r->arena, &r->heap, LOCI_MEM_REQUESTS);
    return lc_chat_reply_read(&r->arena, loci_str_of(text), &r->reply, &r->err);
}

#define USAGE "\"usage\":{\"prompt_tokens\":11,\"completion_tokens\":7}"

TEST(chat_reply, the_answer_is_json)
{
    reading r;

    CHECK_OK(read_text("{\"choices\":[{\"finish_reason\":\"stop\",\"message\":{\"role\":"
                       "\"assistant\",\"refusal\":null,\"content\":\" {\\\"a\\\": 1}\\n\"}}]," USAGE
                       "}",
                       &r),
             r.err);
    CHECK_STR_EQ(r.reply.text, "{\"a\": 1}");
    CHECK_EQ(lc_json_int(lc_json_member(r.reply.json, LC_STR("a"))), 1);
    CHECK_EQ(r.reply.tokens_in, 11);
    CHECK_EQ(r.reply.tokens_out, 7);
    lc_arena_clear(&r.arena);
}

TEST(chat_reply, what_is_wrong_is_said)
{
    static const struct {
        const char *text;
        loci_status status;
        const char *message;
    } rows[] = {
        {"", LOCI_EUNAVAILABLE, "the reply of the provider is not JSON"},
        {"<html>", LOCI_EUNAVAILABLE, "not JSON"},
        {"[]", LOCI_EUNAVAILABLE, "no choice"},
        {"{}", LOCI_EUNAVAILABLE, "no choice"},
        {"{\"choices\":[]}", LOCI_EUNAVAILABLE, "no choice"},
        {"{\"choices\":[7]}", LOCI_EUNAVAILABLE, "empty"},
        {"{\"choices\":[{\"message\":null}]}", LOCI_EUNAVAILABLE, "empty"},
        {"{\"choices\":[{\"message\":{\"content\":null}}]}", LOCI_EUNAVAILABLE, "empty"},
        {"{\"choices\":[{\"message\":{\"content\":\" \"}}]}", LOCI_EUNAVAILABLE, "empty"},
        {"{\"choices\":[{\"message\":{\"content\":\"Sure! Here\"}}]}", LOCI_EUNAVAILABLE,
         "the answer of the model is not JSON"},
        {"{\"choices\":[{\"message\":{\"content\":\"{}\",\"refusal\":\"I cannot\"}}]}",
         LOCI_EUNSUPPORTED, "refuses"},
        {"{\"choices\":[{\"finish_reason\":\"content_filter\",\"message\":{\"content\":\"{}\"}}]}",
         LOCI_EUNSUPPORTED, "filter"},
        {"{\"choices\":[{\"finish_reason\":\"length\",\"message\":{\"content\":\"{\"}}]}",
         LOCI_ELIMIT, "cut off"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        reading r;

        CHECK_STATUS(rows[i].status, read_text(rows[i].text, &r));
        CHECK_CONTAINS(r.err.message, rows[i].message);
        CHECK(strstr(r.err.message, "I cannot") == NULL);
        lc_arena_clear(&r.arena);
    }
}

/* Used tokens must be counted even if the answer cannot be used. */
TEST(chat_reply, tokens_count_in_failures_too)
{
    reading r;

    CHECK_STATUS(LOCI_ELIMIT,
                 read_text("{\"choices\":[{\"finish_reason\":\"length\"}]," USAGE "}", &r));
    CHECK_EQ(r.reply.tokens_in, 11);
    CHECK_EQ(r.reply.tokens_out, 7);
    lc_arena_clear(&r.arena);
}

static loci_status read_once(void *ctx)
{
    reading r;
    loci_status status = read_text(
        "{\"choices\":[{\"message\":{\"content\":\"{\\\"a\\\":[1,2,3]}\"}}]}", &r);

    (void)ctx;
    lc_arena_clear(&r.arena);
    return status;
}

TEST(chat_reply, memory_running_out)
{
    test_oom_sweep(read_once, NULL);
}
