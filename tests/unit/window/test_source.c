/* Reading the content of resources: roots, links, counts in blocks, and the extract. */
#include "window/source.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/str.h"
#include "lib/files.h"
#include "lib/heap.h"
#include "lib/test.h"

typedef struct source {
    lc_heap heap;
    lc_arena arena;
    lc_tokenizer tokenizer;
    lc_source_reader reader;
    const char *root;
    loci_error err;
} source;

static void open_source(source *s)
{
    *s = (source){.root = test_tmpdir()};
    lc_heap_init(&s->heap, test_heap());
    lc_arena_init(&s->arena, &s->heap, LOCI_MEM_REQUESTS);
    lc_tokenizer_init(&s->tokenizer, &s->heap, LC_ENCODING_O200K_BASE);
    s->reader = (lc_source_reader){.tokenizer = &s->tokenizer,
                                   .arena = &s->arena,
                                   .roots = loci_str_of(test_format("/nowhere:%s/", s->root)),
                                   .wants_text = true};
}

static void close_source(source *s)
{
    lc_arena_clear(&s->arena);
}

static void put(source *s, const char *name, const char *text)
{
    test_write_file(test_path(s->root, name), loci_str_of(text));
}

static const char *find(source *s, const char *path)
{
    loci_str uri = LC_STR_NONE;
    loci_status status = lc_source_find_file(&s->reader, loci_str_of(path), &uri, &s->err);

    return status == LOCI_OK ? test_format("%.*s", LC_STR_ARG(uri)) : loci_status_name(status);
}

static loci_status get(source *s, const char *name, lc_resource_content *out)
{
    return lc_source_read_file(&s->reader, loci_str_of(test_format("file://%s/%s", s->root, name)),
                               out, &s->err);
}

TEST(source, files_are_found_below_the_roots_only)
{
    source s;
    const char *outside = test_tmpdir();

    open_source(&s);
    put(&s, "a.md", "a");
    test_write_file(test_path(outside, "secret"), LC_STR("secret"));
    CHECK_EQ(mkdir(test_path(s.root, "sub"), 0700), 0);
    put(&s, "sub/b.md", "b");
    CHECK_EQ(symlink(outside, test_path(s.root, "out")), 0);
    CHECK_EQ(symlink(test_path(outside, "secret"), test_path(s.root, "link")), 0);
    CHECK_EQ(symlink("a.md", test_path(s.root, "inner")), 0);
    CHECK_EQ(mkfifo(test_path(s.root, "pipe"), 0600), 0);

    CHECK_STR_EQ(loci_str_of(find(&s, "a.md")), test_format("file://%s/a.md", s.root));
    CHECK_STR_EQ(loci_str_of(find(&s, ".//sub/./b.md")), test_format("file://%s/sub/b.md", s.root));
    CHECK_STR_EQ(loci_str_of(find(&s, test_path(s.root, "sub//b.md"))),
                 test_format("file://%s/sub/b.md", s.root));
    CHECK_STR_EQ(loci_str_of(find(&s, test_path(outside, "secret"))), "forbidden");
    CHECK_STR_EQ(loci_str_of(find(&s, test_format("%s/../x", s.root))), "forbidden");
    CHECK_STR_EQ(loci_str_of(find(&s, "sub/../a.md")), "forbidden");
    CHECK_STR_EQ(loci_str_of(find(&s, "out/secret")), "forbidden");
    CHECK_STR_EQ(loci_str_of(find(&s, "link")), "forbidden");
    CHECK_STR_EQ(loci_str_of(find(&s, "inner")), "forbidden");
    CHECK_STR_EQ(loci_str_of(find(&s, "a.md/x")), "forbidden");
    CHECK_STR_EQ(loci_str_of(find(&s, "pipe")), "invalid_argument");
    CHECK_STR_EQ(loci_str_of(find(&s, "sub")), "invalid_argument");
    CHECK_STR_EQ(loci_str_of(find(&s, "none")), "not_found");
    CHECK_STR_EQ(loci_str_of(find(&s, test_format("%sx/a.md", s.root))), "forbidden");
    s.reader.roots = LC_STR("");
    CHECK_STR_EQ(loci_str_of(find(&s, "a.md")), "forbidden");
    CHECK_CONTAINS(s.err.message, "window.roots");
    close_source(&s);
}

TEST(source, a_file_is_counted_hashed_and_summarised)
{
    lc_resource_content content, text;
    source s;

    open_source(&s);
    put(&s, "a.md", "# Plan\n\nShip on Friday.\n");
    CHECK_OK(get(&s, "a.md", &content), s.err);
    CHECK_STR_EQ(content.text, "# Plan\n\nShip on Friday.\n");
    CHECK_STR_EQ(content.summary, "# Plan Ship on Friday.");
    CHECK_EQ(content.bytes, 24);
    CHECK(content.tokens > 0 && content.modified_at > 0);
    CHECK_OK(lc_source_read_text(&s.reader, content.text, &text, &s.err), s.err);
    CHECK_STR_EQ(text.hash, test_format("%.*s", LC_STR_ARG(content.hash)));
    CHECK_EQ(text.tokens, content.tokens);
    put(&s, "empty", "");
    CHECK_OK(get(&s, "empty", &content), s.err);
    CHECK_STR_EQ(content.summary, "(empty)");
    CHECK_EQ(content.tokens, 0);
    close_source(&s);
}

TEST(source, what_is_no_text_is_refused)
{
    lc_resource_content content;
    source s;

    open_source(&s);
    test_write_file(test_path(s.root, "zero"), (loci_str){"a\0b", 3});
    test_write_file(test_path(s.root, "latin"), (loci_str){"caf\xe9!", 5});
    CHECK_STATUS(LOCI_EUNSUPPORTED, get(&s, "zero", &content));
    CHECK_STATUS(LOCI_EUNSUPPORTED, get(&s, "latin", &content));
    CHECK_STATUS(LOCI_EUNAVAILABLE, get(&s, "gone", &content));
    close_source(&s);
}

/* Counting in blocks gives the number of the whole text, and an extract of few tokens. */
TEST(source, a_long_file_is_counted_in_blocks)
{
    static const char line[] = "The quick brown fox, no. 17, said: \"jumps\" // over it.\n\n  ";
    lc_text_tokens whole;
    lc_resource_content content;
    source s;
    lc_buf text;

    open_source(&s);
    lc_buf_init(&text, &s.heap, LOCI_MEM_REQUESTS, 4 << 20);
    for (int i = 0; text.len < (2 << 20); i++)
        lc_buf_append_format(&text, "%d %s", i, i % 3 == 0 ? line : "short\n");
    test_write_file(test_path(s.root, "long"), lc_buf_str(&text));
    CHECK_OK(lc_tokenizer_count(&s.tokenizer, lc_buf_str(&text), &whole, &s.err), s.err);
    CHECK_OK(get(&s, "long", &content), s.err);
    CHECK_STR_EQ(content.text, lc_buf_terminate(&text));
    CHECK_EQ(content.bytes, (int64_t)text.len);
    CHECK_EQ(content.tokens, whole.tokens);
    CHECK(content.summary_tokens > 20 && content.summary_tokens <= LC_SUMMARY_TOKENS_MAX);
    CHECK_CONTAINS(test_format("%.*s", LC_STR_ARG(content.summary)), " … ");

    /* Nowhere to cut: still read, and still in blocks. */
    lc_buf_reset(&text);
    while (text.len < (2 << 20))
        lc_buf_append(&text, LC_STR("é"));
    test_write_file(test_path(s.root, "one_word"), lc_buf_str(&text));
    s.reader.wants_text = false;
    CHECK_OK(get(&s, "one_word", &content), s.err);
    CHECK_EQ(content.bytes, (int64_t)text.len);
    CHECK(content.is_estimated && content.text.ptr == NULL);
    lc_buf_clear(&text);
    close_source(&s);
}
