/* help_list.c - the layout of all help: two columns, the right one broken at words so that it stays
 * a column on narrow terminals. */
#include "cli/help.h"

#include "base/str.h"

#define ROWS_MAX 256
#define LEFT_COLUMNS_MAX 26 /* Longer ones get a line of their own. */
#define WIDTH_DEFAULT 100
#define WIDTH_MAX 100 /* Longer lines are hard to read. */

struct lc_help_list {
    lc_cli *cli;
    size_t count;
    loci_str left[ROWS_MAX];
    loci_str right[ROWS_MAX];
};

lc_help_list *lc_help_list_new(lc_cli *cli)
{
    lc_help_list *list = lc_arena_zalloc_array(cli->arena, 1, sizeof *list);

    if (list != NULL)
        list->cli = cli;
    return list;
}

void lc_help_list_add(lc_help_list *list, loci_str left, loci_str right)
{
    if (list == NULL || list->count == ROWS_MAX)
        return;
    list->left[list->count] = lc_arena_copy(list->cli->arena, left);
    list->right[list->count] = lc_arena_copy(list->cli->arena, right);
    if (list->left[list->count].ptr != NULL && list->right[list->count].ptr != NULL)
        list->count++;
}

static void append_spaces(lc_buf *out, size_t count)
{
    for (size_t i = 0; i < count; i++)
        lc_buf_append_byte(out, ' ');
}

/* Text from column `indent` on, broken at spaces. */
static void write_wrapped(lc_buf *out, loci_str text, size_t indent, size_t width)
{
    size_t column = indent;
    bool is_first = true;
    loci_str rest = text;

    while (rest.ptr != NULL) {
        loci_str word = lc_str_split(rest, ' ', &rest);
        size_t columns = lc_text_columns(word);

        if (!is_first && column + 1 + columns > width) {
            lc_buf_append_byte(out, '\n');
            append_spaces(out, indent);
            column = indent;
            is_first = true;
        }
        if (!is_first) {
            lc_buf_append_byte(out, ' ');
            column++;
        }
        lc_buf_append(out, word);
        column += columns;
        is_first = false;
    }
    lc_buf_append_byte(out, '\n');
}

static void write_row(const lc_help_list *list, size_t row, size_t left_columns, size_t width)
{
    lc_cli *cli = list->cli;
    size_t columns = lc_text_columns(list->left[row]);

    lc_buf_append(&cli->out, LC_STR("  "));
    lc_terminal_append(&cli->out_terminal, &cli->out, LC_STYLE_NAME, list->left[row]);
    if (columns > left_columns) {
        lc_buf_append_byte(&cli->out, '\n');
        append_spaces(&cli->out, left_columns + 4);
    } else {
        append_spaces(&cli->out, left_columns - columns + 2);
    }
    write_wrapped(&cli->out, list->right[row], left_columns + 4, width);
}

void lc_help_list_write(lc_help_list *list)
{
    size_t left_columns = 0;
    size_t width = WIDTH_DEFAULT;

    if (list == NULL)
        return;
    if (list->cli->out_terminal.columns > 0)
        width = list->cli->out_terminal.columns;
    if (width > WIDTH_MAX)
        width = WIDTH_MAX;
    for (size_t i = 0; i < list->count; i++) {
        size_t columns = lc_text_columns(list->left[i]);

        if (columns > left_columns && columns <= LEFT_COLUMNS_MAX)
            left_columns = columns;
    }
    for (size_t i = 0; i < list->count; i++)
        write_row(list, i, left_columns, width);
}

void lc_help_heading(lc_cli *cli, const char *text)
{
    lc_buf_append_byte(&cli->out, '\n');
    lc_cli_print_styled(cli, LC_STYLE_HEADING, text);
    lc_buf_append_byte(&cli->out, '\n');
}

void lc_help_append_choices(lc_buf *out, const char *choices)
{
    loci_str rest = loci_str_of(choices);
    bool is_first = true;

    while (rest.ptr != NULL) {
        lc_buf_append(out, is_first ? LC_STR("") : LC_STR(", "));
        lc_buf_append(out, lc_str_split(rest, '|', &rest));
        is_first = false;
    }
}

void lc_help_options(lc_cli *cli, const lc_option *options)
{
    lc_help_list *list = lc_help_list_new(cli);
    lc_buf left;
    lc_buf right;

    lc_buf_init(&left, cli->heap, LOCI_MEM_REQUESTS, 4096);
    lc_buf_init(&right, cli->heap, LOCI_MEM_REQUESTS, 4096);
    for (; options != NULL && options->name != NULL; options++) {
        lc_buf_reset(&left);
        lc_buf_reset(&right);
        if (options->letter != 0)
            lc_buf_append_format(&left, "-%c, ", options->letter);
        lc_buf_append_format(&left, "--%s", options->name);
        if (options->value != NULL)
            lc_buf_append_format(&left, " %s", options->value);
        lc_buf_append(&right, loci_str_of(options->help));
        if (options->choices != NULL) {
            lc_buf_append(&right, LC_STR(" (one of "));
            lc_help_append_choices(&right, options->choices);
            lc_buf_append_byte(&right, ')');
        }
        lc_help_list_add(list, lc_buf_str(&left), lc_buf_str(&right));
    }
    lc_help_list_write(list);
    lc_buf_clear(&left);
    lc_buf_clear(&right);
}
