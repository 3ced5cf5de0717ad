/* Documents made from the tables must hold all of them, and survive the mark-up they are written
 * in. */
#include "lib/test.h"

#include <string.h>

#include "base/error.h"
#include "base/str.h"
#include "engine/settings.h"
#include "ops/op.h"
#include "ops/reference.h"

#define DOCUMENT_BYTES_MAX (4u << 20)

static const lc_reference_option call_options[] = {
    {"--pretty", "Indent the answer"},
    {NULL, NULL},
};
static const lc_reference_command commands[] = {
    {"call", "call OP [JSON|-]", "Run one operation, the user's \\way", call_options},
    {"init", "init", ".begins with a dot", NULL},
    {NULL, NULL, NULL, NULL},
};
static const lc_reference_option options[] = {{"--store STORE", "Where"}, {NULL, NULL}};
static const lc_reference_option environment[] = {{"LOCI_STORE", "The default"}, {NULL, NULL}};
static const lc_reference_cli cli = {commands, options, environment};

static void write_man(lc_buf *out)
{
    lc_reference_man(out, &cli);
}

/* The output of `write`, kept until the test ends. */
static const char *document_of(void (*write)(lc_buf *out))
{
    lc_heap heap;
    lc_buf out;
    loci_error err;
    char *copy;

    lc_heap_init(&heap, test_heap());
    lc_buf_init(&out, &heap, LOCI_MEM_REQUESTS, DOCUMENT_BYTES_MAX);
    write(&out);
    CHECK_OK(lc_buf_status(&out, &err), err);
    copy = test_bytes(out.len);
    memcpy(copy, out.ptr, out.len);
    lc_buf_clear(&out);
    return copy;
}

TEST(reference, markdown_holds_every_operation_code_and_setting)
{
    lc_setting_list settings = lc_setting_list_own();
    const char *text = document_of(lc_reference_markdown);

    for (size_t i = 0; i < lc_op_count(); i++) {
        const lc_op *op = lc_op_at(i);

        CHECK_CONTAINS(text, test_format("\n### %s\n", op->name));
        CHECK_CONTAINS(text, test_format("\nHTTP: `%s`.", op->http));
        CHECK_CONTAINS(text, test_format("loci call %s '", op->name));
        for (const lc_param *param = op->params; param->name != NULL; param++)
            CHECK_CONTAINS(text, test_format("\n| `%s` | ", param->name));
    }
    for (size_t i = LOCI_OK + 1; i <= LOCI_EINTERNAL; i++)
        CHECK_CONTAINS(text, test_format("| `%s` | %d | %d | ", lc_status_rows()[i].name,
                                         lc_status_rows()[i].http, lc_status_rows()[i].exit_code));
    for (size_t i = 0; i < settings.count; i++)
        CHECK_CONTAINS(text, test_format("\n| `%s` | ", settings.items[i]->name));
    CHECK_CONTAINS(text, "\n| `expected_seq` | an integer of at least 0 |");
}

/* A row with an extra cell is rendered wrongly without an error. */
TEST(reference, markdown_tables_have_as_many_cells_as_their_heads)
{
    loci_str rest = loci_str_of(document_of(lc_reference_markdown));
    size_t head_cells = 0;

    while (rest.ptr != NULL) {
        loci_str line = lc_str_split(rest, '\n', &rest);
        size_t cells = 0;

        for (size_t i = 0; i < line.len && line.ptr[0] == '|'; i++)
            cells += line.ptr[i] == '|' && (i == 0 || line.ptr[i - 1] != '\\');
        if (head_cells != 0 && cells != 0 && cells != head_cells)
            test_fail(__FILE__, __LINE__, "%.*s", LC_STR_ARG(line));
        head_cells = cells;
    }
}

TEST(reference, nouns_have_one_heading_each)
{
    const char *text = document_of(lc_reference_markdown);

    for (size_t i = 0; i < lc_op_count(); i++) {
        loci_str verb;
        loci_str noun = lc_str_split(loci_str_of(lc_op_at(i)->name), '.', &verb);
        const char *heading = test_format("\n## %.*s\n", LC_STR_ARG(noun));
        const char *first = strstr(text, heading);

        CHECK(first != NULL);
        CHECK(strstr(first + 1, heading) == NULL);
    }
}

/* The committed page; LOCI_TEST_BLESS=1 writes it again. */
TEST(reference, docs_are_what_the_tables_say)
{
    CHECK_GOLDEN("docs/reference.md", document_of(lc_reference_markdown));
}

TEST(reference, man_page_holds_commands_operations_and_errors)
{
    const char *text = document_of(write_man);

    CHECK_CONTAINS(text, ".TH LOCI 1 \"\" \"loci ");
    CHECK_CONTAINS(text, "\\fBloci\\fR \\fBcall OP [JSON|\\-]\\fR\n");
    CHECK_CONTAINS(text, ".RS\n.TP\n\\fB\\-\\-pretty\\fR\nIndent the answer.\n.RE\n");
    CHECK_CONTAINS(text, "\\fB\\-\\-store STORE\\fR\nWhere.\n");
    CHECK_CONTAINS(text, "\\fBLOCI_STORE\\fR\nThe default.\n");
    for (size_t i = 0; i < lc_op_count(); i++)
        CHECK_CONTAINS(text, test_format(".TP\n\\fB%s\\fR\n", lc_op_at(i)->name));
    for (size_t i = LOCI_OK + 1; i <= LOCI_EINTERNAL; i++)
        CHECK_CONTAINS(text, test_format("\\fB%s\\fR (HTTP ", lc_status_rows()[i].name));
}

/* Text from the tables cannot become a command of roff. */
TEST(reference, man_page_escapes_what_roff_would_read)
{
    const char *text = document_of(write_man);

    CHECK_CONTAINS(text, "the user\\(aqs \\eway.\n");
    CHECK_CONTAINS(text, "\n\\&.begins with a dot.\n");
    CHECK(strchr(text, '\'') == NULL);
}
