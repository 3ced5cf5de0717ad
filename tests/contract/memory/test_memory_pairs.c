/* Which statements replace each other: pairs.txt, each pair stored for a user of its own. A pair
 * that is replaced wrongly loses something true; one that is kept wrongly is only untidy, so both
 * are counted, and the test names each. */
#include "lib/calls.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/str.h"

#define PAIRS_MIN 300

/* The text as a JSON string; \n of the file is one already. */
static const char *quote(loci_str text)
{
    char *out = test_bytes(2 * text.len + 3), *to = out;

    *to++ = '"';
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] == '"')
            *to++ = '\\';
        *to++ = text.ptr[i];
    }
    *to = '"';
    return out;
}

static loci_str store(loci_engine *engine, int user, loci_str text)
{
    const char *args = test_format("{\"user_id\":\"pair-%d\",\"text\":%s}", user, quote(text));

    return test_call(engine, "memory.store", "%s", args);
}

/* The next of the fields of a line, which " | " separates. */
static loci_str next_field(loci_str *rest)
{
    return lc_str_trim(lc_str_split(*rest, '|', rest));
}

/* Whether the outcome of the second statement is the expected one; names a pair that is not. */
static bool check_pair(loci_engine *engine, int number, loci_str line)
{
    loci_str rest = line, expected = next_field(&rest), first = next_field(&rest);
    loci_str second = next_field(&rest), outcome;
    bool is_right;

    CHECK(expected.len > 0 && first.len > 0 && second.len > 0);
    CHECK_STR_EQ(test_member_text(store(engine, number, first), "outcome"), "created");
    outcome = test_member_text(store(engine, number, second), "outcome");
    is_right = lc_str_is(expected, "kept")
                   ? lc_str_is(outcome, "created") || lc_str_is(outcome, "kept_both")
                   : lc_str_eq(outcome, expected);
    if (!is_right)
        test_note_failure(__FILE__, __LINE__, "%.*s: %.*s", LC_STR_ARG(line), LC_STR_ARG(outcome));
    return is_right;
}

TEST(memory_pairs, statements_replace_each_other_only_about_one_attribute)
{
    loci_engine *engine = test_open(test_store(test_tmpdir(), "store.db"));
    loci_str rest = test_read_file(test_source_path("tests/contract/memory/pairs.txt"));
    int count = 0, wrong = 0;

    while (rest.ptr != NULL) {
        loci_str line = lc_str_split(rest, '\n', &rest);

        if (line.len == 0 || line.ptr[0] == '#')
            continue;
        wrong += !check_pair(engine, ++count, line);
    }
    CHECK_LE(PAIRS_MIN, count);
    CHECK_EQ(wrong, 0);
    test_close(engine);
}
