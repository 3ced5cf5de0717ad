#include "text/sentence.h"

#include <string.h>

#include "base/str.h"
#include "base/utf8.h"
#include "lib/test.h"

/* The sentences with a bar between each two; line ends inside are shown as ~. */
static loci_str split(const char *text)
{
    loci_str whole = loci_str_of(text), sentence;
    char *out = test_bytes(2 * whole.len + 1);
    size_t at = 0, bytes = 0;

    while (lc_sentence_next(whole, &at, &sentence)) {
        if (bytes > 0)
            out[bytes++] = '|';
        for (size_t i = 0; i < sentence.len; i++)
            out[bytes++] = sentence.ptr[i] == '\n' ? '~' : sentence.ptr[i];
    }
    return (loci_str){out, bytes};
}

/* `text` is one sentence. */
#define CHECK_ONE(text) CHECK_STR_EQ(split(text), text)

TEST(sentence, plain_prose)
{
    CHECK_STR_EQ(split(""), "");
    CHECK_STR_EQ(split(" \n\t\n "), "");
    CHECK_ONE("No full stop");
    CHECK_STR_EQ(split("One. Two! Three? Four"), "One.|Two!|Three?|Four");
    CHECK_STR_EQ(split("  Hello there.   How are you?  "), "Hello there.|How are you?");
    CHECK_STR_EQ(split("What?! No way!! Yes."), "What?!|No way!!|Yes.");
    CHECK_STR_EQ(split("It was 1999. Then came 2000. We danced."),
                 "It was 1999.|Then came 2000.|We danced.");
    CHECK_STR_EQ(split("\u00c9t\u00e9. \u00c7a va. \u00bfQu\u00e9? \u00a1Hola! Bien."),
                 "\u00c9t\u00e9.|\u00c7a va.|\u00bfQu\u00e9?|\u00a1Hola!|Bien.");
    CHECK_STR_EQ(split("\u041f\u0440\u0438\u0432\u0435\u0442. \u041a\u0430\u043a?"),
                 "\u041f\u0440\u0438\u0432\u0435\u0442.|\u041a\u0430\u043a?");
    CHECK_STR_EQ(split("I paid 5. 3 were left."), "I paid 5.|3 were left.");
}

TEST(sentence, titles_and_latin)
{
    CHECK_ONE("Dr. Smith met Mr. and Mrs. Jones.");
    CHECK_ONE("Prof. X and Gen. Y, e.g. Lt. Z, i.e. Sgt. W.");
    CHECK_ONE("Red vs. Blue, cf. Green.");
    CHECK_ONE("Take fruit (e.g. Apples) home.");
    CHECK_STR_EQ(split("Ask Dr. Lee. She knows."), "Ask Dr. Lee.|She knows.");
    CHECK_STR_EQ(split("We saw Smith et al. The paper is good."),
                 "We saw Smith et al.|The paper is good.");
    CHECK_ONE("We saw Smith et al. Nature printed it.");
    CHECK_STR_EQ(split("Apples, pears, etc. Bring some."), "Apples, pears, etc.|Bring some.");
    CHECK_ONE("Apples, pears, etc. are fruit.");
}

TEST(sentence, acronyms_and_initials)
{
    CHECK_ONE("The U.S. Army and the U.K. Parliament.");
    CHECK_STR_EQ(split("He lives in the U.S. She does not."), "He lives in the U.S.|She does not.");
    CHECK_ONE("J. R. R. Tolkien wrote it.");
    CHECK_ONE("It was written by J. Smith.");
    CHECK_ONE("It was J. I. Smith.");
    CHECK_STR_EQ(split("We go with plan B. It is better."), "We go with plan B.|It is better.");
    CHECK_STR_EQ(split("So am I. Good night."), "So am I.|Good night.");
    CHECK_STR_EQ(split("He has a Ph.D. He teaches."), "He has a Ph.D.|He teaches.");
    CHECK_ONE("Acme Inc. Germany is large.");
    CHECK_STR_EQ(split("I work at Acme Inc. We sell anvils."),
                 "I work at Acme Inc.|We sell anvils.");
}

TEST(sentence, times_and_numbers)
{
    CHECK_STR_EQ(split("Meet at 5 p.m. Bring cake."), "Meet at 5 p.m.|Bring cake.");
    CHECK_ONE("Meet at 5 p.m. Monday or 6 a.m. EST.");
    CHECK_ONE("It opens at 9 a.m. and closes.");
    CHECK_ONE("See No. 5 and Fig. 3 on pp. 10 to 12.");
    CHECK_STR_EQ(split("Is it true? No. It is not."), "Is it true?|No.|It is not.");
    CHECK_ONE("On Jan. 5 it snowed.");
    CHECK_ONE("Pi is 3.14, not 3.5 or 1.000,00.");
    CHECK_STR_EQ(split("Use v1.2.3. It works."), "Use v1.2.3.|It works.");
    CHECK_STR_EQ(split("It grew by 3.5. Nice."), "It grew by 3.5.|Nice.");
}

TEST(sentence, ellipses_quotes_and_brackets)
{
    CHECK_ONE("Well... maybe so.");
    CHECK_ONE("Well\u2026 maybe so.");
    CHECK_STR_EQ(split("Hmm... Let me see."), "Hmm...|Let me see.");
    CHECK_STR_EQ(split("He said \"Stop.\" Then he left."), "He said \"Stop.\"|Then he left.");
    CHECK_ONE("\"Really?\" she asked.");
    CHECK_STR_EQ(split("(It rained.) We left."), "(It rained.)|We left.");
    CHECK_STR_EQ(split("It is so \u201cgood.\u201d \u201cYes,\u201d I said."),
                 "It is so \u201cgood.\u201d|\u201cYes,\u201d I said.");
    CHECK_STR_EQ(split("**Done.** Next one."), "**Done.**|Next one.");
    CHECK_ONE("Yahoo! is a company.");
}

TEST(sentence, addresses_files_and_code)
{
    CHECK_STR_EQ(split("See https://example.com/a.b?c=d.e! Then go."),
                 "See https://example.com/a.b?c=d.e!|Then go.");
    CHECK_STR_EQ(split("Open file.txt and a.b.c. Then save."),
                 "Open file.txt and a.b.c.|Then save.");
    CHECK_ONE("Write to jo.doe@example.com today.");
    CHECK_ONE("Call `a.b(). C.d!` now.");
    CHECK_ONE("Call ``a ` b. C`` now.");
    CHECK_STR_EQ(split("An open ` tick. Then more."), "An open ` tick.|Then more.");
    CHECK_STR_EQ(split("Node.js is fine. So is .NET. Yes."), "Node.js is fine.|So is .NET.|Yes.");
}

TEST(sentence, fenced_blocks_stay_whole)
{
    CHECK_STR_EQ(split("Run this. Now:\n```c\nint a. B. C;\n\n- x\n```\nDone. Good."),
                 "Run this.|Now:|```c~int a. B. C;~~- x~```|Done.|Good.");
    CHECK_STR_EQ(split("~~~~\na. B\n~~~\nc. D\n~~~~\nEnd."), "~~~~~a. B~~~~~c. D~~~~~|End.");
    CHECK_STR_EQ(split("```\nnever. Closed\n\n"), "```~never. Closed");
    CHECK_STR_EQ(split("```"), "```");
}

TEST(sentence, lines_lists_and_headings)
{
    CHECK_STR_EQ(split("# Title\nText here."), "# Title|Text here.");
    CHECK_STR_EQ(split("- one\n- two. Three\n* four\n1. Five\n2) Six"),
                 "- one|- two.|Three|* four|1. Five|2) Six");
    CHECK_STR_EQ(split("First paragraph\n\nsecond paragraph"), "First paragraph|second paragraph");
    CHECK_STR_EQ(split("Hi Bob\nI moved to Berlin\nCall me"), "Hi Bob|I moved to Berlin|Call me");
    CHECK_STR_EQ(split("A wrapped line that is long enough to have been wrapped by\n"
                       "Someone goes on here. End."),
                 "A wrapped line that is long enough to have been wrapped by~"
                 "Someone goes on here.|End.");
    CHECK_STR_EQ(split("short line\ngoes on"), "short line~goes on");
    CHECK_STR_EQ(split("221B Baker Street,\nLondon"), "221B Baker Street,~London");
    CHECK_STR_EQ(split("> quoted\n> more\nText"), "> quoted|> more|Text");
    CHECK_STR_EQ(split("| a | b |\n| c | d |\nText"), "| a | b ||| c | d ||Text");
    CHECK_STR_EQ(split("Windows.\r\nLines.\r\n"), "Windows.|Lines.");
}

/* People who write to an assistant often use no capitals. */
TEST(sentence, lower_case_style)
{
    CHECK_STR_EQ(split("i went home. then i slept. e.g. like this"),
                 "i went home.|then i slept.|e.g. like this");
    CHECK_ONE("The dept. of health.");
}

TEST(sentence, scripts_without_spaces)
{
    CHECK_STR_EQ(split("\u4eca\u5929\u3002\u660e\u5929\uff01\u597d"),
                 "\u4eca\u5929\u3002|\u660e\u5929\uff01|\u597d");
    CHECK_STR_EQ(split("\u300c\u306f\u3044\u3002\u300d\u3068\u8a00\u3063\u305f\u3002\u6b21\u3002"),
                 "\u300c\u306f\u3044\u3002\u300d\u3068\u8a00\u3063\u305f\u3002|\u6b21\u3002");
    CHECK_STR_EQ(split("\u300c\u306f\u3044\u3002\u300d\u6b21\u3002"),
                 "\u300c\u306f\u3044\u3002\u300d|\u6b21\u3002");
    CHECK_ONE("\uff13\uff0e\uff15");
    CHECK_STR_EQ(split("\u092f\u0939 \u0939\u0948\u0964 \u0935\u0939\u0964"),
                 "\u092f\u0939 \u0939\u0948\u0964|\u0935\u0939\u0964");
}

/* ---- Properties ------------------------------------------------------------------------------ */

static bool is_space(char byte)
{
    return byte != '\0' && strchr(" \t\n\v\f\r", byte) != NULL;
}

/* In order, apart, without spaces around, and nothing but spaces between. */
static void check_cover(loci_str text)
{
    size_t at = 0, end = 0;
    loci_str sentence;

    while (lc_sentence_next(text, &at, &sentence)) {
        size_t begin = (size_t)(sentence.ptr - text.ptr);

        CHECK_LT(0, sentence.len);
        CHECK_LE(end, begin);
        CHECK(!is_space(sentence.ptr[0]));
        CHECK(!is_space(sentence.ptr[sentence.len - 1]));
        for (size_t i = end; i < begin; i++)
            CHECK(is_space(text.ptr[i]));
        end = begin + sentence.len;
        CHECK_LE(end, text.len);
        CHECK_LE(end, at);
    }
    for (size_t i = end; i < text.len; i++)
        CHECK(is_space(text.ptr[i]));
}

TEST(sentence, sentences_cover_the_text_in_order)
{
    static const char *const pieces[] = {
        ".",      ". ",      "! ",   "?",      "\n",     "\n\n",   " ",      "A",
        "b",      "Dr",      "No",   "5",      "`",      "``",     "```",    "\n```\n",
        "~~~",    "- ",      "1. ",  "# ",     "> ",     "|",      "e.g",    "U.S",
        "(",      ")",       "\"",   "\u3002", "\u300d", "\u3068", "\u6771", "...",
        ",",      "*",       "\r\n", "I",      "\xff",   "\t",     "word",   "http://a.b/c?d",
        "\u2026", "\xe3\x80"};
    test_rng rng = test_random(9);
    uint64_t rounds = test_count(20000, 500000);
    char text[40 * 16];

    for (uint64_t round = 0; round < rounds; round++) {
        size_t bytes = 0;

        for (size_t i = test_rng_below(&rng, 40); i > 0; i--) {
            const char *piece = pieces[test_rng_below(&rng, sizeof pieces / sizeof pieces[0])];

            memcpy(text + bytes, piece, strlen(piece));
            bytes += strlen(piece);
        }
        check_cover((loci_str){text, bytes});
    }
}

/* Looking ahead is bounded: these would take minutes otherwise. */
TEST(sentence, large_texts_take_linear_time)
{
    static const char *const units[] = {"`", "` ``", "a. ",   "\n",  "\n ", "- ",
                                        ".", "\" ",  "```\n", "(((", "x",   " "};
    size_t bytes_max = 1000000;
    char *text = test_bytes(bytes_max);

    for (size_t u = 0; u < sizeof units / sizeof units[0]; u++) {
        size_t unit = strlen(units[u]), at = 0, count = 0;
        loci_str sentence;

        for (size_t i = 0; i < bytes_max; i++)
            text[i] = units[u][i % unit];
        while (lc_sentence_next((loci_str){text, bytes_max}, &at, &sentence))
            count++;
        CHECK_LE(count, bytes_max);
    }
}
