/* The texts of the memory tool. The comparison with the reference implementation is in
 * tests/contract/memory/anthropic_memory.txt; this file tests edge cases that its transcript leaves
 * out. */
#include "memory/file_text.h"

#include <string.h>

#include "base/limits.h"
#include "base/str.h"
#include "lib/test.h"

typedef struct bench {
    lc_heap heap;
    lc_arena arena;
    lc_buf out;
    loci_error err;
} bench;

static void begin(bench *b)
{
    lc_heap_init(&b->heap, test_heap());
    lc_arena_init(&b->arena, &b->heap, LOCI_MEM_REQUESTS);
    lc_buf_init(&b->out, &b->heap, LOCI_MEM_REQUESTS, SIZE_MAX);
}

static void end(bench *b)
{
    lc_buf_clear(&b->out);
    lc_arena_clear(&b->arena);
}

/* ---- Paths ----------------------------------------------------------------------------------- */

/* The path, or the error. */
static const char *path_of(bench *b, const char *given)
{
    loci_str path;

    return lc_file_path_make(&b->arena, loci_str_of(given), &path, &b->err) == LOCI_OK
               ? test_format("%.*s", (int)path.len, path.ptr)
               : test_format("%s: %s", loci_status_name(b->err.status), b->err.message);
}

TEST(file_text, a_path_has_one_spelling)
{
    bench b;

    begin(&b);
    CHECK_STR_EQ(path_of(&b, "/memories"), "/memories");
    CHECK_STR_EQ(path_of(&b, "/memories/"), "/memories");
    CHECK_STR_EQ(path_of(&b, "/memories//a/./b/"), "/memories/a/b");
    CHECK_STR_EQ(path_of(&b, "/memories/a/../b"), "/memories/b");
    CHECK_STR_EQ(path_of(&b, "/memories/a/b/../../c"), "/memories/c");
    CHECK_STR_EQ(path_of(&b, "/memories/a/.."), "/memories");
    CHECK_STR_EQ(path_of(&b, "/memories/..a/b.."), "/memories/..a/b..");
    CHECK_STR_EQ(path_of(&b, "/memories/cafe\u0301"), "/memories/caf\u00e9");
    end(&b);
}

TEST(file_text, a_path_stays_below_the_root)
{
    static const char *const outside[] = {
        "",          "/", "memories/a", "/memoriesfoo", "/Memories/a", "/etc/passwd", "../memories",
        " /memories"};
    static const char *const leaving[] = {"/memories/..", "/memories/../memories/a",
                                          "/memories/a/../../etc", "/memories/./../x"};
    bench b;

    begin(&b);
    for (size_t i = 0; i < sizeof outside / sizeof *outside; i++)
        CHECK_STR_EQ(
            path_of(&b, outside[i]),
            test_format("invalid_argument: Path must start with /memories, got: %s", outside[i]));
    for (size_t i = 0; i < sizeof leaving / sizeof *leaving; i++)
        CHECK_STR_EQ(
            path_of(&b, leaving[i]),
            test_format("invalid_argument: Path %s would escape /memories directory", leaving[i]));
    end(&b);
}

TEST(file_text, a_path_has_limits)
{
    char *long_path = test_bytes(LC_FILE_PATH_BYTES_MAX + 2);
    const char *deep = "/memories";
    bench b;

    begin(&b);
    for (int i = 0; i < LC_FILE_PATH_SEGMENTS_MAX; i++)
        deep = test_format("%s/x", deep);
    CHECK_STR_EQ(path_of(&b, deep), deep);
    CHECK_STR_EQ(path_of(&b, test_format("%s/x/..", deep)), deep);
    CHECK_CONTAINS(loci_str_of(path_of(&b, test_format("%s/x", deep))), "21 names");
    memset(long_path, 'a', LC_FILE_PATH_BYTES_MAX + 1);
    long_path[LC_FILE_PATH_BYTES_MAX + 1] = '\0';
    memcpy(long_path, "/memories/", 10);
    CHECK_CONTAINS(loci_str_of(path_of(&b, long_path)), "1025 bytes");
    long_path[LC_FILE_PATH_BYTES_MAX] = '\0';
    CHECK_STR_EQ(path_of(&b, long_path), long_path);
    end(&b);
}

static loci_status make_path(void *ctx)
{
    bench b;
    loci_str path;
    loci_status status;

    (void)ctx;
    begin(&b);
    status = lc_file_path_make(&b.arena, loci_str_of("/memories/e\u0301/../a\u030a"), &path,
                               &b.err);
    end(&b);
    return status;
}

TEST(file_text, a_path_survives_a_lack_of_memory)
{
    test_oom_sweep(make_path, NULL);
}

/* ---- Lines ----------------------------------------------------------------------------------- */

static const char *lines_of(bench *b, const char *content, int64_t first, int64_t last)
{
    lc_buf_reset(&b->out);
    lc_file_put_lines(&b->out, loci_str_of(content), first, last);
    return b->out.len > 0 ? test_format("%.*s", (int)b->out.len, b->out.ptr) : "";
}

TEST(file_text, lines_are_what_newlines_separate)
{
    bench b;

    begin(&b);
    CHECK_STR_EQ(lines_of(&b, "", 1, INT64_MAX), "     1\t");
    CHECK_STR_EQ(lines_of(&b, "\n", 1, INT64_MAX), "     1\t\n     2\t");
    CHECK_STR_EQ(lines_of(&b, "a\r\nb", 1, INT64_MAX), "     1\ta\r\n     2\tb");
    CHECK_STR_EQ(lines_of(&b, "a\nb\nc", -5, 1), "     1\ta");
    CHECK_STR_EQ(lines_of(&b, "a\nb\nc", 3, 3), "     3\tc");
    CHECK_STR_EQ(lines_of(&b, "a\nb\n", 3, 9), "     3\t");
    CHECK_STR_EQ(lines_of(&b, "a\nb", 3, 9), "");
    CHECK_STR_EQ(lines_of(&b, "a\nb", 2, 1), "");
    end(&b);
}

/* ---- Edits ----------------------------------------------------------------------------------- */

/* The content after a replacement, or the error. */
static const char *replaced(bench *b, const char *content, const char *old_str, const char *new_str)
{
    const lc_file_replacement what = {LC_STR("/memories/f"), loci_str_of(old_str),
                                      loci_str_of(new_str)};
    lc_file_edit edit;
    int64_t line;
    loci_str after;

    if (lc_file_replace(loci_str_of(content), &what, &edit, &line, &b->err) != LOCI_OK)
        return test_format("%s: %s", loci_status_name(b->err.status), b->err.message);
    after = lc_file_edit_apply(&b->arena, loci_str_of(content), &edit);
    return test_format("%d: %.*s", (int)line, (int)after.len, after.ptr);
}

TEST(file_text, a_text_is_replaced_if_it_is_there_once)
{
    bench b;

    begin(&b);
    CHECK_STR_EQ(replaced(&b, "a\nb\nc", "b", ""), "2: a\n\nc");
    CHECK_STR_EQ(replaced(&b, "a\nb\nc", "a\nb", "x"), "1: x\nc");
    CHECK_STR_EQ(replaced(&b, "a\nb\nc", "\nc", "$&"), "2: a\nb$&");
    CHECK_STR_EQ(replaced(&b, "abc", "abc", "x"), "1: x");
    CHECK_STR_EQ(replaced(&b, "", "x", "y"),
                 "conflict: No replacement was performed, old_str `x` did not appear verbatim in"
                 " /memories/f.");
    /* Twice on one line is not unique either, and neither are occurrences that overlap. */
    CHECK_STR_EQ(replaced(&b, "x\naba", "a", "y"),
                 "conflict: No replacement was performed. Multiple occurrences of old_str `a` in"
                 " lines: 2. Please ensure it is unique");
    CHECK_CONTAINS(loci_str_of(replaced(&b, "aaa", "aa", "b")), "lines: 1. Please");
    end(&b);
}

/* The end of a message says what to do: it is kept when the rest is long. */
TEST(file_text, long_texts_are_quoted_in_part)
{
    char *many = test_bytes(60001), *part = test_bytes(5001);
    bench b;

    begin(&b);
    memset(many, '\n', 60000);
    memset(part, 'x', 5000);
    many[60000] = part[5000] = '\0';
    for (int i = 0; i < 30000; i++)
        many[2 * i] = 'x';
    CHECK_CONTAINS(loci_str_of(replaced(&b, many, "x", "y")),
                   "19, 20, \u2026. Please ensure it is unique");
    CHECK_CONTAINS(loci_str_of(replaced(&b, many, part, "y")),
                   "x\u2026` did not appear verbatim in /memories/f.");
    end(&b);
}

static const char *inserted(bench *b, const char *content, int64_t line, const char *text)
{
    lc_file_edit edit;
    loci_str after;

    if (lc_file_insert(&b->arena, loci_str_of(content), line, loci_str_of(text), &edit, &b->err) !=
        LOCI_OK)
        return b->err.message;
    after = lc_file_edit_apply(&b->arena, loci_str_of(content), &edit);
    return test_format("%.*s", (int)after.len, after.ptr);
}

TEST(file_text, lines_are_inserted_behind_a_line)
{
    bench b;

    begin(&b);
    CHECK_STR_EQ(inserted(&b, "a\nb\n", 0, "x\n"), "x\na\nb\n");
    CHECK_STR_EQ(inserted(&b, "a\nb\n", 0, "x"), "x\na\nb\n");
    CHECK_STR_EQ(inserted(&b, "a\nb\n", 1, "x\ny\n\n"), "a\nx\ny\n\nb\n");
    CHECK_STR_EQ(inserted(&b, "a\nb\n", 2, "x"), "a\nb\nx\n");
    CHECK_STR_EQ(inserted(&b, "a\nb\n", 3, "x"), "a\nb\n\nx");
    CHECK_STR_EQ(inserted(&b, "a", 1, ""), "a\n");
    CHECK_STR_EQ(inserted(&b, "", 0, "x"), "x\n");
    CHECK_STR_EQ(inserted(&b, "a", 2, "x"),
                 "Invalid `insert_line` parameter: 2. It should be within the range of lines of the"
                 " file: [0, 1]");
    CHECK_STR_EQ(inserted(&b, "a", -1, "x"),
                 "Invalid `insert_line` parameter: -1. It should be within the range of lines of"
                 " the file: [0, 1]");
    end(&b);
}

/* An edit from a damaged log must not read behind the content. */
TEST(file_text, an_edit_must_fit)
{
    static const struct {
        int64_t at, removed;
        bool fits;
    } edits[] = {{0, 0, true},          {0, 3, true},         {3, 0, true},   {0, 4, false},
                 {4, 0, false},         {2, 2, false},        {-1, 0, false}, {0, -1, false},
                 {INT64_MAX, 1, false}, {1, INT64_MAX, false}};

    for (size_t i = 0; i < sizeof edits / sizeof *edits; i++)
        CHECK_EQ(lc_file_edit_fits(LC_STR("abc"),
                                   &(lc_file_edit){edits[i].at, edits[i].removed, LC_STR("")}),
                 edits[i].fits);
}

/* ---- Directories ----------------------------------------------------------------------------- */

TEST(file_text, sizes_are_short)
{
    static const struct {
        int64_t bytes;
        const char *text;
    } sizes[] = {{0, "0B"},         {1, "1B"},
                 {1023, "1023B"},   {1024, "1K"},
                 {1280, "1.3K"},    {1536, "1.5K"},
                 {1025, "1.0K"},    {4096, "4K"},
                 {102400, "100K"},  {1048575, "1024.0K"},
                 {1572864, "1.5M"}, {1073741824, "1G"}};
    bench b;

    begin(&b);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        lc_buf_reset(&b.out);
        lc_file_put_size(&b.out, sizes[i].bytes);
        CHECK_STR_EQ(lc_buf_str(&b.out), sizes[i].text);
    }
    end(&b);
}

#define ENTRY(p)                                                                                   \
    {                                                                                              \
        LC_STR(p), 5                                                                               \
    }

TEST(file_text, a_directory_shows_two_levels_in_order)
{
    lc_file_entry entries[] = {
        ENTRY("/memories/d/b.md"),
        ENTRY("/memories/d/a/x/y/z"),
        ENTRY("/memories/d/a/1"),
        ENTRY("/memories/d/a-b"),
        ENTRY("/memories/d/a.md"),
        ENTRY("/memories/d/.git/x"),
        ENTRY("/memories/d/.hidden"),
        ENTRY("/memories/d/h/.only"),
        ENTRY("/memories/d/a/x/k"),
        ENTRY("/memories/d/a/.h"),
        ENTRY("/memories/d/node_modules/m"),
        ENTRY("/memories/d/a/node_modules/m"),
        ENTRY("/memories/d/node_modules2"),
    };
    bench b;

    begin(&b);
    lc_file_put_directory(&b.out, LC_STR("/memories/d"), entries, sizeof entries / sizeof *entries);
    CHECK_STR_EQ(lc_buf_str(&b.out),
                 "Here're the files and directories up to 2 levels deep in /memories/d, excluding"
                 " hidden items and node_modules:\n"
                 "4K\t/memories/d\n"
                 "4K\t/memories/d/a/\n"
                 "5B\t/memories/d/a/1\n"
                 "4K\t/memories/d/a/x/\n"
                 "5B\t/memories/d/a-b\n"
                 "5B\t/memories/d/a.md\n"
                 "5B\t/memories/d/b.md\n"
                 "4K\t/memories/d/h/\n"
                 "5B\t/memories/d/node_modules2");
    end(&b);
}
