/* The text of an event stream: what one side writes, any EventSource reads, and nothing that a user
 * says can become a field of its own. */
#include "lib/test.h"

#include <string.h>

#include "base/str.h"
#include "server/events.h"

/* All memory of these tests. */
static lc_heap *fresh_heap(void)
{
    static lc_heap heap;

    heap.allocator = test_heap();
    return &heap;
}

static lc_buf text_of(void)
{
    lc_buf out;

    lc_buf_init(&out, fresh_heap(), LOCI_MEM_REQUESTS, 4096);
    return out;
}

TEST(sse, a_message_is_id_event_and_data)
{
    lc_buf out = text_of();

    lc_sse_message_add(
        &out,
        &(lc_sse_message){.id = 7, .type = LC_STR("fact.written"), .data = LC_STR("{\"seq\":7}")});
    CHECK_STR_EQ(lc_buf_str(&out), "id: 7\nevent: fact.written\ndata: {\"seq\":7}\n\n");
    lc_buf_clear(&out);
}

TEST(sse, a_message_without_an_id_says_none)
{
    lc_buf out = text_of();

    lc_sse_message_add(&out, &(lc_sse_message){.type = LC_STR("reset"), .data = LC_STR("{}")});
    CHECK_STR_EQ(lc_buf_str(&out), "event: reset\ndata: {}\n\n");
    lc_buf_clear(&out);
}

/* Otherwise a fact's value could forge an event, or the id that a client goes on from. */
TEST(sse, no_field_can_begin_another)
{
    lc_buf out = text_of();

    lc_sse_message_add(&out, &(lc_sse_message){.type = LC_STR("a\nid: 99\r\nevent: b"),
                                               .data = LC_STR("x\n\nid: 99\rdata: y")});
    CHECK_STR_EQ(lc_buf_str(&out), "event: aid: 99event: b\ndata: x\ndata: \ndata: id: 99\n"
                                   "data: data: y\n\n");
    lc_buf_clear(&out);
}

/* ---- Reading the head of an event --------------------------------------------------------------
 */

static bool peek(const char *event, int64_t *seq, loci_str *type)
{
    return lc_sse_peek(loci_str_of(event), seq, type);
}

TEST(sse, seq_and_type_are_read_off_the_head)
{
    int64_t seq = 0;
    loci_str type = LC_STR_NONE;

    CHECK(peek("{\"user_id\":\"u\",\"seq\":12,\"type\":\"fact.written\",\"v\":1,\"payload\":{}}",
               &seq, &type));
    CHECK_EQ(seq, 12);
    CHECK_STR_EQ(type, "fact.written");
    CHECK(peek("{\"type\":\"t\",\"seq\":9223372036854775807}", &seq, &type));
    CHECK_EQ(seq, INT64_MAX);
}

/* A user's name is the user's text: it must not be taken for the event's own members. */
TEST(sse, a_user_id_that_looks_like_members_is_only_a_string)
{
    int64_t seq = 0;
    loci_str type = LC_STR_NONE;

    CHECK(
        peek("{\"user_id\":\"x\\\",\\\"seq\\\":99,\\\"type\\\":\\\"forged\\\",\\\"\\\\\",\"seq\":3,"
             "\"type\":\"real\"}",
             &seq, &type));
    CHECK_EQ(seq, 3);
    CHECK_STR_EQ(type, "real");
}

TEST(sse, what_is_no_event_is_refused)
{
    static const char *const texts[] = {
        "",
        "{",
        "{}",
        "[]",
        "null",
        "{\"seq\":1}",
        "{\"seq\":1,",
        "{\"seq\":1,\"type\"",
        "{\"seq\":1,\"type\":",
        "{\"seq\":1,\"type\":7}",
        "{\"seq\":\"x\",\"type\":\"t\"}",
        "{\"seq\":1.5,\"type\":\"t\"}",
        "{\"payload\":{\"seq\":1,\"type\":\"t\"}}",
        "{\"user_id\":\"u",
        "{\"user_id\":\"u\\",
    };
    int64_t seq;
    loci_str type;

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        CHECK(!peek(texts[i], &seq, &type));
}

/* ---- Types
 * --------------------------------------------------------------------------------------- */

TEST(sse, a_list_of_types_is_decent_words)
{
    char long_type[80], many[2000] = "";

    memset(long_type, 'a', sizeof long_type);
    for (int i = 0; i < 64; i++)
        memcpy(many + 2 * i, "t,", 3);
    CHECK(lc_sse_is_type_list(LC_STR("fact.written")));
    CHECK(lc_sse_is_type_list(LC_STR("fact.written, a-b_c.d2")));
    CHECK(!lc_sse_is_type_list(LC_STR_NONE));
    CHECK(!lc_sse_is_type_list(LC_STR("")));
    CHECK(!lc_sse_is_type_list(LC_STR("a,,b")));
    CHECK(!lc_sse_is_type_list(LC_STR("a,")));
    CHECK(!lc_sse_is_type_list(LC_STR("a b")));
    CHECK(!lc_sse_is_type_list(LC_STR("a\nb")));
    CHECK(!lc_sse_is_type_list(LC_STR("A")));
    CHECK(lc_sse_is_type_list((loci_str){long_type, 64}));
    CHECK(!lc_sse_is_type_list((loci_str){long_type, 65}));
    CHECK(lc_sse_is_type_list((loci_str){many, 2 * 64 - 1}));
    memcpy(many + 2 * 64, "t", 2);
    CHECK(!lc_sse_is_type_list((loci_str){many, 2 * 64 + 1}));
}
