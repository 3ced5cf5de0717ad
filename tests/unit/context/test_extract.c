/* The check of a chat model's answer: what is accepted was said, word for word. */
#include "lib/test.h"

#include <string.h>

#include "base/str.h"
#include "context/extract.h"

#define MESSAGE "I moved to\n New  York in 2012, the budget is $7,000 now. No wait: $6,500 is."

static lc_extract_input input(void)
{
    return (lc_extract_input){
        .text = LC_STR(MESSAGE),
        .known = {{LC_STR("Home City"), LC_STR("Oslo")}, {LC_STR("budget"), LC_STR("5000")}},
        .known_count = 2};
}

/* "key=value" of the accepted proposals of the answer, and the number of refused ones. */
static const char *check(const char *answer)
{
    lc_heap heap;
    lc_arena arena;
    lc_extract_input in = input();
    lc_extract_list list;
    const lc_json *json;
    loci_error err;
    const char *text = "";
    loci_status status;

    lc_heap_init(&heap, test_heap());
    lc_arena_init(&arena, &heap, LOCI_MEM_REQUESTS);
    CHECK_OK(lc_json_parse(&arena, loci_str_of(answer), 0, &json, &err), err);
    status = lc_extract_check(&arena, json, &in, &list, &err);
    if (status == LOCI_OK)
        for (size_t i = 0; i < list.count; i++)
            text = test_format("%s%.*s=%.*s<%.*s ", text, LC_STR_ARG(list.items[i].key),
                               LC_STR_ARG(list.items[i].value),
                               LC_STR_ARG(list.items[i].supersedes));
    text = status == LOCI_OK ? test_format("%s%zu", text, list.refused) : loci_status_name(status);
    lc_arena_clear(&arena);
    return text;
}

static const char *check_one(const char *key, const char *value, const char *quote)
{
    return check(test_format("{\"proposals\":[{\"key\":\"%s\",\"value\":\"%s\",\"supersedes\":null,"
                             "\"quote\":\"%s\",\"confidence\":0.75}]}",
                             key, value, quote));
}

TEST(extract, a_quote_stands_in_the_message_word_for_word)
{
    CHECK_STR_EQ(check_one("city", "New York", "moved to New York"), "city=New York< 0");
    CHECK_STR_EQ(check_one("city", "new york", "moved to\\n New  York"), "city=new york< 0");
    CHECK_STR_EQ(check_one("city", "New York", "Moved to New York"), "1"); /* Not as said. */
    CHECK_STR_EQ(check_one("city", "New York", "moved toNew York"), "1");
    CHECK_STR_EQ(check_one("city", "New York", "oved to New York"), "1");
    CHECK_STR_EQ(check_one("city", "New York", "moved to New York in 201"), "1");
    CHECK_STR_EQ(check_one("city", "New York", ""), "1");
    CHECK_STR_EQ(check_one("city", "", "moved"), "1");
    CHECK_STR_EQ(check_one("year", "12", "in 2012"), "1");
    CHECK_STR_EQ(check_one("year", "2012", "in 2012"), "year=2012< 0");
    CHECK_STR_EQ(check_one("budget", "$7,000", "the budget is $7,000"), "budget=$7,000< 0");
    CHECK_STR_EQ(check_one("budget", "7000", "the budget is $7,000"), "1");
}

TEST(extract, a_key_is_known_or_snake_case)
{
    char long_key[LC_EXTRACT_KEY_BYTES_MAX + 2];

    memset(long_key, 'k', sizeof long_key);
    long_key[LC_EXTRACT_KEY_BYTES_MAX + 1] = '\0';
    CHECK_STR_EQ(check_one("Home City", "New York", "New York"), "Home City=New York< 0");
    CHECK_STR_EQ(check_one("Other City", "New York", "New York"), "1");
    CHECK_STR_EQ(check_one("city_2", "New York", "New York"), "city_2=New York< 0");
    CHECK_STR_EQ(check_one("_city", "New York", "New York"), "1");
    CHECK_STR_EQ(check_one("city_", "New York", "New York"), "1");
    CHECK_STR_EQ(check_one("ci__ty", "New York", "New York"), "1");
    CHECK_STR_EQ(check_one("2city", "New York", "New York"), "1");
    CHECK_STR_EQ(check_one("", "New York", "New York"), "1");
    CHECK_STR_EQ(check_one(long_key, "New York", "New York"), "1");
    long_key[LC_EXTRACT_KEY_BYTES_MAX] = '\0';
    CHECK_STR_EQ(check_one(long_key, "New York", "New York"),
                 test_format("%s=New York< 0", long_key));
}

#define ITEM(key, value, quote, more)                                                              \
    "{\"key\":\"" key "\",\"value\":\"" value "\",\"quote\":\"" quote "\"," more "}"

TEST(extract, one_value_per_key_the_one_said_last)
{
    CHECK_STR_EQ(
        check("{\"proposals\":[" ITEM("budget", "$6,500", "$6,500 is", "\"confidence\":1") "," ITEM(
            "budget", "$7,000", "$7,000 now", "\"confidence\":1") "]}"),
        "budget=$6,500< 1");
    CHECK_STR_EQ(
        check("{\"proposals\":[" ITEM("budget", "$7,000", "$7,000 now",
                                      "\"confidence\":1") "," ITEM("budget", "$6,500", "$6,500 is",
                                                                   "\"confidence\":1") "]}"),
        "budget=$6,500< 1");
}

TEST(extract, only_another_known_key_is_superseded)
{
    CHECK_STR_EQ(
        check("{\"proposals\":[" ITEM("city", "New York", "New York",
                                      "\"confidence\":1,\"supersedes\":\"Home City\"") "]}"),
        "city=New York<Home City 0");
    CHECK_STR_EQ(check("{\"proposals\":[" ITEM("city", "New York", "New York",
                                               "\"confidence\":1,\"supersedes\":\"other\"") "]}"),
                 "city=New York< 0");
    CHECK_STR_EQ(check("{\"proposals\":[" ITEM("budget", "$7,000", "$7,000",
                                               "\"confidence\":1,\"supersedes\":\"budget\"") "]}"),
                 "budget=$7,000< 0");
}

TEST(extract, no_more_than_five_and_no_less_certain)
{
    const char *five = "";

    for (int i = 0; i < 6; i++)
        five = test_format("%s%s{\"key\":\"k%d\",\"value\":\"2012\",\"quote\":\"2012\","
                           "\"confidence\":0.8}",
                           five, i > 0 ? "," : "", i);
    CHECK_STR_EQ(check(test_format("{\"proposals\":[%s]}", five)),
                 "k0=2012< k1=2012< k2=2012< k3=2012< k4=2012< 1");
    CHECK_STR_EQ(
        check("{\"proposals\":[" ITEM("year", "2012", "2012", "\"confidence\":0.749") "]}"), "1");
    CHECK_STR_EQ(
        check("{\"proposals\":[" ITEM("year", "2012", "2012", "\"confidence\":\"1\"") "]}"), "1");
    CHECK_STR_EQ(check("{\"proposals\":[" ITEM("year", "2012", "2012", "\"confidence\":1.5") "]}"),
                 "1");
}

TEST(extract, an_answer_of_another_form_is_none)
{
    CHECK_STR_EQ(check("[]"), "unavailable");
    CHECK_STR_EQ(check("{}"), "unavailable");
    CHECK_STR_EQ(check("{\"proposals\":null}"), "unavailable");
    CHECK_STR_EQ(check("{\"proposals\":[]}"), "0");
    CHECK_STR_EQ(check("{\"proposals\":[[],1,null,\"x\"]}"), "4");
}

static loci_status check_once(void *ctx)
{
    lc_heap heap;
    lc_arena arena;
    lc_extract_input in = input();
    lc_extract_list list;
    const lc_json *json;
    loci_str prompt;
    loci_error err;
    loci_status status;

    lc_heap_init(&heap, test_heap());
    lc_arena_init(&arena, &heap, LOCI_MEM_REQUESTS);
    status = lc_json_parse(&arena, loci_str_of(ctx), 0, &json, &err);
    if (status == LOCI_OK)
        status = lc_extract_check(&arena, json, &in, &list, &err);
    if (status == LOCI_OK)
        status = lc_extract_ask(&in, &arena, &prompt, &err);
    lc_arena_clear(&arena);
    return status;
}

TEST(extract, memory_may_run_out_at_any_time)
{
    char answer[] = "{\"proposals\":[{\"key\":\"city\",\"value\":\"N\xC3\x89W\",\"quote\":\"New\","
                    "\"confidence\":1}]}";

    test_oom_sweep(check_once, answer);
}
