/* The report of verify must fit, be JSON, and be correct for any bytes that a damaged store
 * contains. */
#include "lib/test.h"

#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "base/utf8.h"
#include "store/upkeep.h"

TEST(problems, none_is_ok)
{
    lc_problems problems = {0};
    loci_error err = {0};

    CHECK_STATUS(LOCI_OK, lc_problems_status(&problems, &err));
}

TEST(problems, are_listed_up_to_the_limit_and_counted_beyond)
{
    lc_problems problems = {0};
    loci_error err = {0};

    for (int i = 0; i < LC_PROBLEMS_MAX + 5; i++)
        lc_problems_add(&problems, "row %d is gone", i);
    CHECK_EQ(problems.count, LC_PROBLEMS_MAX + 5);
    CHECK_STR_EQ(problems.text[LC_PROBLEMS_MAX - 1],
                 test_format("row %d is gone", LC_PROBLEMS_MAX - 1));
    CHECK_STATUS(LOCI_ECORRUPT, lc_problems_status(&problems, &err));
    CHECK_CONTAINS(err.message, "25 problems, first: row 0 is gone");
    CHECK_CONTAINS(err.data, "{\"count\":25,\"problems\":[\"row 0 is gone\",\"row 1 is gone\"");
}

/* Whatever is in them, the data is one JSON object that fits. */
static void check_data(const char *text)
{
    lc_problems problems = {0};
    loci_error err = {0};
    const lc_json *json;
    lc_heap heap;
    lc_arena arena;

    for (int i = 0; i < LC_PROBLEMS_MAX; i++)
        lc_problems_add(&problems, "%s", text);
    CHECK_STATUS(LOCI_ECORRUPT, lc_problems_status(&problems, &err));
    CHECK(strlen(problems.text[0]) < LC_PROBLEM_BYTES);
    CHECK(lc_utf8_is_valid(loci_str_of(problems.text[0])));

    lc_heap_init(&heap, test_heap());
    lc_arena_init(&arena, &heap, LOCI_MEM_REQUESTS);
    CHECK_OK(lc_json_parse(&arena, loci_str_of(err.data), 0, &json, &err), err);
    CHECK_EQ(lc_json_int(lc_json_member(json, LC_STR("count"))), LC_PROBLEMS_MAX);
    CHECK_LE(1, lc_json_count(lc_json_member(json, LC_STR("problems"))));
    lc_arena_clear(&arena);
}

TEST(problems, any_text_becomes_json_that_fits)
{
    char quotes[400], wide[400], torn[400];

    memset(quotes, '"', sizeof quotes - 1);
    quotes[sizeof quotes - 1] = '\0';
    for (size_t i = 0; i < sizeof wide - 2; i += 2)
        memcpy(wide + i, "é", 3);
    memcpy(torn, "x", 1); /* One off, so that the cut falls into a character. */
    for (size_t i = 1; i < sizeof torn - 3; i += 2)
        memcpy(torn + i, "é", 3);
    check_data(quotes);
    check_data(wide);
    check_data(torn);
    check_data("bad \xff\xfe bytes \x80");
    check_data("two\nlines\tand \x7f back\\slash");
    check_data("");
}
