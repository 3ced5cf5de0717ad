/* Ordinary talk changes nothing that is known.
 *
 * tests/talk/ordinary.txt has 1,000 sentences that people say without changing any of the 35 facts
 * of tests/talk/known.jsonl, although many contain the words of a key, a date, a sum, or "actually"
 * and "now". All of them are said to one user who has those facts. The bar is one wrong change in
 * 1,000 turns of talk that loci was not developed with; on this file, which it was, it is none.
 * It fails, with 20 changes, on the rules that it was written for: those that do not ask whether a
 * key is named and whether old and new value are of one kind.
 *
 * bench/talk prints the same with rules and quotes:
 *     talk --changes-only tests/talk/ordinary.txt --failures --rules
 */
#include "contract/context_fixture.h"

#include <stdio.h>
#include <string.h>

#include "base/str.h"

#define KNOWN_COUNT 35
#define TALK_COUNT 1000

static int write_known(facts *f, loci_str rest)
{
    int count = 0;

    while (rest.len > 0) {
        loci_str fact = lc_str_split(rest, '\n', &rest);

        facts_write(f, "created", "%.*s", LC_STR_ARG(fact));
        count++;
    }
    return count;
}

/* The text inside a JSON string. */
static const char *escape(loci_str text)
{
    char *out = test_bytes(2 * text.len + 1);
    size_t len = 0;

    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] == '"' || text.ptr[i] == '\\')
            out[len++] = '\\';
        out[len++] = text.ptr[i];
    }
    out[len] = '\0';
    return out;
}

/* Says a line; returns the number of known facts that it changed, after printing each. */
static int say(facts *f, loci_str known, loci_str line)
{
    loci_str answer = facts_call(f, "fact.observe", "{\"text\":\"%s\"}", escape(line));
    int changed = 0;

    for (int i = 0;; i++) {
        loci_str key = test_member(answer, test_format("outcomes.%d.key", i));
        loci_str outcome = test_member(answer, test_format("outcomes.%d.outcome", i));

        if (key.len == 0)
            return changed;
        if (!lc_str_is(outcome, "\"superseded\"") ||
            strstr(known.ptr, test_format("\"key\": %.*s,", LC_STR_ARG(key))) == NULL)
            continue;
        changed++;
        fprintf(stderr, "    %.*s changed by: %.*s\n", LC_STR_ARG(key), LC_STR_ARG(line));
    }
}

TEST(ordinary_talk, changes_no_known_fact)
{
    loci_str known = test_read_file(test_source_path("tests/talk/known.jsonl"));
    loci_str rest = test_read_file(test_source_path("tests/talk/ordinary.txt"));
    int said = 0, changed = 0;
    facts f;

    facts_open(&f);
    CHECK_EQ(write_known(&f, known), KNOWN_COUNT);
    for (; rest.len > 0; said++) {
        f.now_us += MINUTE_US;
        changed += say(&f, known, lc_str_split(rest, '\n', &rest));
    }
    CHECK_EQ(said, TALK_COUNT);
    CHECK_EQ(changed, 0);
    /* Not only according to fact.observe. */
    for (rest = known; rest.len > 0;) {
        loci_str fact = lc_str_split(rest, '\n', &rest);

        CHECK_STR_EQ(
            facts_value(&f, test_format("{\"key\":%.*s}", LC_STR_ARG(test_member(fact, "key")))),
            test_member(fact, "value"));
    }
    facts_close(&f);
}
