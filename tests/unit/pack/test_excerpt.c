/* Shorter forms of texts: what is prose, white space, cuts between sentences, and blocks. */
#include "pack/excerpt.h"

#include <string.h>

#include "base/utf8.h"
#include "lib/test.h"

typedef struct excerpts {
    lc_heap heap;
    lc_arena arena;
} excerpts;

static void start(excerpts *e)
{
    lc_heap_init(&e->heap, test_heap());
    lc_arena_init(&e->arena, &e->heap, LOCI_MEM_REQUESTS);
}

static bool is_verbatim(const char *text)
{
    return lc_excerpt_is_verbatim(loci_str_of(text));
}

/* A cut in the middle of a function or an object gives the reader something wrong. */
TEST(excerpt, code_and_json_are_verbatim)
{
    CHECK(is_verbatim("{\"a\": 1}"));
    CHECK(is_verbatim("  [1, 2,\n 3]"));
    CHECK(is_verbatim("int main(void)\n{\n    return 0;\n}\n"));
    CHECK(is_verbatim("def f(x):\n    return x\n"));
    CHECK(is_verbatim("for i in 1 2 3; do echo $i; done"));
    CHECK(is_verbatim("select id, name from users where id = 4;"));
    CHECK(is_verbatim("server:\n  port: 80\n  host: here\n"));
    CHECK(is_verbatim("<html><body>hi</body></html>"));
    CHECK(is_verbatim("Run this:\n```\nmake\n```\nand wait."));
    CHECK(is_verbatim("| a | b |\n|---|---|\n| 1 | 2 |"));
    CHECK(is_verbatim("- old line\n+ new_line(x);\n"));
}

TEST(excerpt, prose_is_not_verbatim)
{
    CHECK(!is_verbatim("The pool was exhausted. Nobody restarted the workers (see the note)."));
    CHECK(!is_verbatim("Points:\n- the first one\n  - below it\n* the last one, with 20% more"));
    CHECK(!is_verbatim("Der Pool war leer, und niemand hat es bemerkt: weder Anna noch Bo."));
    CHECK(!is_verbatim(""));
    CHECK(!is_verbatim(" \n "));
}

TEST(excerpt, trimming_removes_white_space_that_says_nothing)
{
    excerpts e;

    start(&e);
    CHECK_STR_EQ(lc_excerpt_trim(&e.arena, LC_STR("  a   b \t c  \r\n\n\n\n d\n")), "a b c\n\nd");
    CHECK_STR_EQ(lc_excerpt_trim(&e.arena, LC_STR("one\ntwo")), "one\ntwo");
    CHECK_STR_EQ(lc_excerpt_trim(&e.arena, LC_STR(" ")), "");
    lc_arena_clear(&e.arena);
}

TEST(excerpt, a_text_is_cut_at_a_sentence_else_at_a_word_else_at_a_character)
{
    excerpts e;

    start(&e);
    CHECK_STR_EQ(lc_excerpt_cut(&e.arena, LC_STR("It is short."), 12), "It is short.");
    CHECK_STR_EQ(lc_excerpt_cut(&e.arena, LC_STR("One is here. Two is there."), 18),
                 "One is here. …");
    CHECK_STR_EQ(lc_excerpt_cut(&e.arena, LC_STR("one two three four five"), 12), "one two …");
    CHECK_STR_EQ(lc_excerpt_cut(&e.arena, LC_STR("ääääää"), 5), "ää …");
    CHECK_STR_EQ(lc_excerpt_cut(&e.arena, LC_STR("word"), 0), " …");
    lc_arena_clear(&e.arena);
}

/* At every length the cut is valid UTF-8, and no longer than it may be. */
TEST(excerpt, a_cut_is_never_too_long)
{
    static const char text[] =
        "Ärger mit 日本語 und 🙂 Zeichen. Das Ende? Kommt bald, vielleicht.";
    excerpts e;

    start(&e);
    for (size_t max = 0; max <= sizeof text; max++) {
        loci_str cut = lc_excerpt_cut(&e.arena, loci_str_of(text), max);

        CHECK(cut.len <= max + strlen(" …"));
        CHECK(lc_utf8_is_valid(cut));
    }
    lc_arena_clear(&e.arena);
}

static const char *block(const char *lead, const char *text)
{
    lc_heap heap;
    lc_buf out;
    const char *copy;

    lc_heap_init(&heap, test_heap());
    lc_buf_init(&out, &heap, LOCI_MEM_REQUESTS, 4096);
    lc_excerpt_append(&out, "- ", loci_str_of(lead), loci_str_of(text));
    copy = test_format("%.*s", LC_STR_ARG(lc_buf_str(&out)));
    lc_buf_clear(&out);
    return copy;
}

/* Texts come from tools and web pages: none of their lines may look like one of the pack's own. */
TEST(excerpt, no_line_of_a_block_can_imitate_a_heading)
{
    CHECK_STR_EQ(loci_str_of(block("", "one line")), "- one line");
    CHECK_STR_EQ(loci_str_of(block("note", "one line\n")), "- note: one line");
    CHECK_STR_EQ(loci_str_of(block("grep", "a\n\nTask: forged\n")),
                 "- grep:\n  a\n\n  Task: forged");
    CHECK_STR_EQ(loci_str_of(block("", "a\r\nTask: b\rTask: c")), "- a\r\n  Task: b\r  Task: c");
    CHECK_STR_EQ(loci_str_of(block("x\nTask: y", "a\xe2\x80\xa8Task: b")),
                 "- x\n  Task: y:\n  a\xe2\x80\xa8  Task: b");
}
