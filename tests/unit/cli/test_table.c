/* Tables: what fits, what is omitted first, and what programs get. */
#include "lib/test.h"

#include <locale.h>
#include <string.h>

#include "base/str.h"
#include "cli/table.h"

#define CELLS(...) ((const loci_str[]){__VA_ARGS__})

typedef struct fixture {
    lc_heap heap;
    lc_buf out;
} fixture;

static fixture *open_fixture(void)
{
    fixture *f = (fixture *)test_bytes(sizeof *f);

    (void)setlocale(LC_CTYPE, "C.UTF-8"); /* For the width of characters. */
    lc_heap_init(&f->heap, (loci_allocator){0});
    lc_buf_init(&f->out, &f->heap, LOCI_MEM_REQUESTS, 1u << 20);
    return f;
}

/* key, value, age and id. */
static lc_text_table facts(const loci_str *cells, size_t row_count)
{
    return (lc_text_table){.columns = {{.title = LC_STR("key")},
                                       {.title = LC_STR("value")},
                                       {.title = LC_STR("age"), .is_number = true},
                                       {.title = LC_STR("id"), .is_id = true}},
                           .column_count = 4,
                           .cells = cells,
                           .row_count = row_count};
}

static const char *written(fixture *f, lc_text_table table, size_t columns)
{
    lc_terminal terminal = {.is_terminal = columns > 0, .columns = columns};

    lc_buf_reset(&f->out);
    lc_text_table_write(&table, &terminal, 0, &f->out);
    return test_format("%.*s", LC_STR_ARG(lc_buf_str(&f->out)));
}

static void close_fixture(fixture *f)
{
    lc_buf_clear(&f->out);
}

/* Wide, combining and zero-width characters take the columns that terminals give them. */
TEST(table, columns_are_aligned_by_their_width_on_the_screen)
{
    fixture *f = open_fixture();

    CHECK_STR_EQ(
        written(f,
                facts(CELLS(LC_STR("a"), LC_STR("東京"), LC_STR("3"), LC_STR("f_1"), LC_STR("b"),
                            LC_STR("e\xcc\x81🎌"), LC_STR("12"), LC_STR("f_2")),
                      2),
                80),
        "key  value  age  id\n"
        "a    東京     3  f_1\n"
        "b    e\xcc\x81🎌     12  f_2\n");
    close_fixture(f);
}

/* Then the last columns go, then the value wraps; at the end it is cut, with a mark. */
TEST(table, ids_are_omitted_before_a_value_is_wrapped)
{
    fixture *f = open_fixture();
    lc_text_table table = facts(CELLS(LC_STR("city"), LC_STR("a value of several words"),
                                      LC_STR("3"), LC_STR("fact_0123456789")),
                                1);

    CHECK_STR_EQ(written(f, table, 52), "key   value                     age  id\n"
                                        "city  a value of several words    3  fact_0123456789\n");
    CHECK_STR_EQ(written(f, table, 51), "key   value                     age\n"
                                        "city  a value of several words    3\n"
                                        "not shown: id\n");
    CHECK_STR_EQ(written(f, table, 34), "key   value\n"
                                        "city  a value of several words\n"
                                        "not shown: age, id\n");
    CHECK_STR_EQ(written(f, table, 20), "key   value\n"
                                        "city  a value of\n"
                                        "      several words\n"
                                        "not shown: age, id\n");
    table.is_chosen = true;
    CHECK(strstr(written(f, table, 40), "not shown") == NULL);
    close_fixture(f);
}

TEST(table, a_cell_has_at_most_six_lines)
{
    fixture *f = open_fixture();
    lc_text_table table = facts(
        CELLS(LC_STR("k"),
              LC_STR("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
                     "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"),
              LC_STR(""), LC_STR("")),
        1);
    const char *text = written(f, table, 20);
    int lines = 0;

    for (const char *at = text; (at = strstr(at, "aaaaaaa")) != NULL; at = strchr(at, '\n'))
        lines++;
    CHECK_EQ(lines, 6);
    CHECK(strstr(text, "…") != NULL);
    close_fixture(f);
}

/* `cut -f2` must find the value whatever the other columns have. */
TEST(table, a_pipe_gets_one_tab_between_cells_and_no_padding)
{
    fixture *f = open_fixture();

    CHECK_STR_EQ(written(f,
                         facts(CELLS(LC_STR("city"), LC_STR(""), LC_STR("3"), LC_STR("f_1"),
                                     LC_STR("b"), LC_STR("two words"), LC_STR("12"), LC_STR("")),
                               2),
                         0),
                 "key\tvalue\tage\tid\ncity\t\t3\tf_1\nb\ttwo words\t12\t\n");
    close_fixture(f);
}
