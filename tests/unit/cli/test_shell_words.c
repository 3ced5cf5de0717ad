#include "cli/shell_words.h"

#include <string.h>

#include "base/str.h"
#include "lib/test.h"

typedef struct split {
    lc_heap heap;
    lc_arena arena;
    lc_shell_words words;
    loci_error err;
} split;

static loci_status split_line(split *s, const char *line)
{
    lc_heap_init(&s->heap, test_heap());
    lc_arena_init(&s->arena, &s->heap, LOCI_MEM_REQUESTS);
    s->words = (lc_shell_words){0};
    return lc_shell_words_split(&s->arena, loci_str_of(line), &s->words, &s->err);
}

/* The words with '|' between them. */
static const char *joined(const split *s)
{
    const char *text = "";

    for (size_t i = 0; i < s->words.count; i++)
        text = test_format("%s%s%s", text, i > 0 ? "|" : "", s->words.items[i]);
    return text;
}

TEST(shell_words, are_those_of_a_shell)
{
    static const char *const cases[][2] = {
        {"", ""},
        {"  a  b\t", "a|b"},
        {"'a b' c", "a b|c"},
        {"\"a b\"c", "a bc"},
        {"it\\'s", "it's"},
        {"'\\n' \"\\n\" \"\\\\\" \"\\\"\"", "\\n|\\n|\\|\""},
        {"a '' b", "a||b"},
        {"two\\ words", "two words"},
        {"\xc3\xa9 'x'\"y\"z", "\xc3\xa9|xyz"},
        {"$HOME * ~ #", "$HOME|*|~|#"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        split s;

        CHECK_OK(split_line(&s, cases[i][0]), s.err);
        CHECK_STR_EQ(loci_str_of(joined(&s)), cases[i][1]);
        lc_arena_clear(&s.arena);
    }
}

/* Completion needs to know which word is being typed, also within a quote. */
TEST(shell_words, say_where_the_last_one_begins)
{
    static const struct {
        const char *line;
        size_t start;
        bool is_in_word;
    } cases[] = {{"fact cur", 5, true},  {"fact ", 0, false},       {"fact 'a b", 5, true},
                 {"fact a\\ ", 5, true}, {"fact \"a\" ", 5, false}, {"", 0, false}};

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        split s;

        (void)split_line(&s, cases[i].line);
        CHECK_EQ(s.words.last_start, cases[i].start);
        CHECK_EQ(s.words.is_in_word, cases[i].is_in_word);
        lc_arena_clear(&s.arena);
    }
}

TEST(shell_words, refuse_what_is_not_a_line)
{
    static const char *const bad[] = {"'", "a \"b", "a\\"};
    char many[2 * LC_SHELL_WORDS_MAX + 3];
    split s;

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        CHECK_STATUS(LOCI_EINVAL, split_line(&s, bad[i]));
        lc_arena_clear(&s.arena);
    }
    memset(many, ' ', sizeof many);
    for (size_t i = 0; i <= LC_SHELL_WORDS_MAX; i++)
        many[2 * i] = 'a';
    many[2 * LC_SHELL_WORDS_MAX] = '\0';
    CHECK_OK(split_line(&s, many), s.err);
    CHECK_EQ(s.words.count, LC_SHELL_WORDS_MAX);
    lc_arena_clear(&s.arena);
    many[2 * LC_SHELL_WORDS_MAX] = 'a';
    many[2 * LC_SHELL_WORDS_MAX + 1] = '\0';
    CHECK_STATUS(LOCI_ELIMIT, split_line(&s, many));
    lc_arena_clear(&s.arena);
}

TEST(shell_words, survive_quoting)
{
    static const char *const words[] = {"",   "plain", "two words", "it's",
                                        "\"", "a\\b",  "\xc3\xa9 x"};

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        lc_buf text;
        split s;

        lc_heap_init(&s.heap, test_heap());
        lc_buf_init(&text, &s.heap, LOCI_MEM_REQUESTS, 100);
        lc_shell_words_quote(&text, loci_str_of(words[i]));
        lc_buf_append_byte(&text, '\0');
        CHECK_OK(split_line(&s, text.ptr), s.err);
        CHECK_EQ(s.words.count, 1);
        CHECK_STR_EQ(loci_str_of(s.words.items[0]), words[i]);
        lc_arena_clear(&s.arena);
        lc_buf_clear(&text);
    }
}
