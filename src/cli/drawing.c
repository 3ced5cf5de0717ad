/* drawing.c - all texts pass through lc_drawing_put(), which escapes them and cuts them at the
 * right edge. */
#include "cli/drawing.h"

#include <stdio.h>

#include "base/str.h"

void lc_drawing_init(lc_drawing *drawing, const lc_terminal *terminal, lc_buf *out)
{
    *drawing = (lc_drawing){.terminal = terminal, .out = out};
    lc_buf_init(&drawing->scratch, out->heap, LOCI_MEM_REQUESTS, out->bytes_max);
}

void lc_drawing_clear(lc_drawing *drawing)
{
    lc_buf_clear(&drawing->scratch);
}

size_t lc_drawing_columns(const lc_drawing *drawing)
{
    size_t columns = drawing->terminal->columns;

    return columns == 0 ? LC_DRAWING_COLUMNS : columns;
}

size_t lc_drawing_columns_left(const lc_drawing *drawing)
{
    size_t columns = drawing->terminal->columns;

    return columns == 0 ? SIZE_MAX : columns > drawing->used ? columns - drawing->used : 0;
}

void lc_drawing_put(lc_drawing *drawing, lc_style style, loci_str text, size_t columns_max)
{
    size_t left = lc_drawing_columns_left(drawing), columns;
    lc_buf *visible = &drawing->scratch;

    if (columns_max > left)
        columns_max = left;
    lc_buf_reset(visible);
    lc_text_append_visible(visible, text);
    columns = lc_text_columns(lc_buf_str(visible));
    if (columns > columns_max) {
        if (columns_max == 0)
            return;
        lc_buf_truncate(visible, lc_text_cut(lc_buf_str(visible), columns_max - 1));
        lc_buf_append(visible, LC_STR("…"));
        columns = lc_text_columns(lc_buf_str(visible));
    }
    lc_terminal_append(drawing->terminal, drawing->out, style, lc_buf_str(visible));
    drawing->used += columns;
}

void lc_drawing_put_words(lc_drawing *drawing, lc_style style, const char *words)
{
    lc_drawing_put(drawing, style, loci_str_of(words), SIZE_MAX);
}

void lc_drawing_repeat(lc_drawing *drawing, lc_style style, const char *character, size_t count)
{
    size_t left = lc_drawing_columns_left(drawing);

    count = count < left ? count : left;
    lc_buf_reset(&drawing->scratch);
    for (size_t i = 0; i < count; i++)
        lc_buf_append(&drawing->scratch, loci_str_of(character));
    if (count > 0)
        lc_terminal_append(drawing->terminal, drawing->out, style, lc_buf_str(&drawing->scratch));
    drawing->used += count;
}

void lc_drawing_pad(lc_drawing *drawing, size_t columns)
{
    lc_drawing_repeat(drawing, LC_STYLE_PLAIN, " ", columns);
}

void lc_drawing_end_line(lc_drawing *drawing)
{
    lc_buf *out = drawing->out;

    while (out->len > 0 && out->ptr[out->len - 1] == ' ')
        lc_buf_truncate(out, out->len - 1);
    lc_buf_append_byte(out, '\n');
    drawing->used = 0;
}

const char *lc_tokens_format(int64_t tokens, char out[LC_TOKENS_BYTES])
{
    static const char units[] = " KMGTPE";
    double amount = (double)(tokens < 0 ? 0 : tokens);
    size_t unit = 0;
    int tenths;

    while (amount >= 999.5 && units[unit + 1] != '\0') {
        amount /= 1000;
        unit++;
    }
    tenths = (int)(amount * 10 + 0.5); /* 2^63 is 9.2E. */
    if (unit == 0)
        (void)snprintf(out, LC_TOKENS_BYTES, "%lld", (long long)tokens);
    else if (tenths < 100 && tenths % 10 != 0)
        (void)snprintf(out, LC_TOKENS_BYTES, "%d.%d%c", tenths / 10, tenths % 10, units[unit]);
    else
        (void)snprintf(out, LC_TOKENS_BYTES, "%.0f%c", amount, units[unit]);
    return out;
}

loci_str lc_member_str(const lc_json *object, const char *name)
{
    const lc_json *member = lc_json_find(object, name, LC_JSON_STRING);

    return member != NULL ? lc_json_str(member) : LC_STR("");
}

int64_t lc_member_int(const lc_json *object, const char *name)
{
    const lc_json *member = lc_json_find(object, name, LC_JSON_INT);

    return member != NULL ? lc_json_int(member) : 0;
}

const lc_json *lc_member_list(const lc_json *object, const char *name)
{
    const lc_json *list = lc_json_find(object, name, LC_JSON_ARRAY);

    return list != NULL ? lc_json_first(list) : NULL;
}
