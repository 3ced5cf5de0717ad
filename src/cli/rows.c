/* rows.c - the columns follow from the record of the answer, not from the rows: the same command
 * has the same columns, whatever is stored. */
#include "cli/rows.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/str.h"

static bool is_list(const lc_op *op)
{
    return op->look.columns != NULL && lc_record_rows(op->answer, NULL) != NULL;
}

const lc_record *lc_rows_record(const lc_op *op)
{
    return is_list(op) ? lc_record_rows(op->answer, NULL) : op->answer;
}

const char *lc_rows_id(const lc_op *op)
{
    lc_result members[LC_RECORD_MEMBERS_MAX];
    size_t count = lc_record_members(lc_rows_record(op), members);

    if (op->look.id != NULL)
        return op->look.id;
    for (size_t i = 0; i < count; i++) {
        if (strcmp(members[i].name, "id") == 0)
            return "id";
    }
    /* Names of members are those of the table: they outlive the array. */
    for (size_t i = 0; is_list(op) && i < count; i++) {
        loci_str rest;

        if (lc_str_is(lc_str_split(loci_str_of(op->look.columns), ' ', &rest), members[i].name))
            return members[i].name;
    }
    return NULL;
}

/* ---- Columns --------------------------------------------------------------------------------- */

static loci_status fail_column(const lc_record *record, loci_str name, loci_error *err)
{
    lc_result members[LC_RECORD_MEMBERS_MAX];
    size_t count = lc_record_members(record, members);
    char known[LOCI_ERROR_MESSAGE_BYTES];
    size_t len = 0;

    for (size_t i = 0; i < count; i++) {
        int added = snprintf(known + len, sizeof known - len, "%s%s", i > 0 ? ", " : "",
                             members[i].name);

        if (added < 0 || (size_t)added >= sizeof known - len)
            break;
        len += (size_t)added;
    }
    known[len] = '\0';
    return lc_fail(err, LOCI_EINVAL, "there is no column \"%.*s\"; columns: %s", LC_STR_ARG(name),
                   known);
}

loci_status lc_rows_check_columns(lc_arena *arena, const lc_op *op, const char *given,
                                  const char **out, loci_error *err)
{
    const lc_record *record = lc_rows_record(op);
    lc_result members[LC_RECORD_MEMBERS_MAX];
    size_t count = lc_record_members(record, members);
    loci_str copy = lc_arena_copy(arena, loci_str_of(given));
    loci_str rest = copy;

    if (copy.ptr == NULL)
        return lc_fail_memory(err);
    while (rest.ptr != NULL) {
        loci_str name = lc_str_split(rest, ',', &rest);
        bool is_known = false;

        for (size_t i = 0; i < count; i++)
            is_known = is_known || lc_str_is(name, members[i].name);
        if (!is_known)
            return fail_column(record, name, err);
        if (rest.ptr != NULL)
            ((char *)copy.ptr)[name.ptr + name.len - copy.ptr] = ' '; /* Ours: copied above. */
    }
    *out = copy.ptr;
    return LOCI_OK;
}

/* ---- Fields ---------------------------------------------------------------------------------- */

static void append_csv(lc_buf *out, loci_str text, bool is_text)
{
    bool needs_quotes = is_text && text.len == 0;

    for (size_t i = 0; i < text.len; i++)
        needs_quotes = needs_quotes || strchr(",\"\r\n", text.ptr[i]) != NULL;
    needs_quotes = needs_quotes ||
                   (text.len > 0 && (text.ptr[0] == ' ' || text.ptr[text.len - 1] == ' '));
    if (!needs_quotes) {
        lc_buf_append(out, text);
        return;
    }
    lc_buf_append_byte(out, '"');
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] == '"')
            lc_buf_append_byte(out, '"');
        lc_buf_append_byte(out, text.ptr[i]);
    }
    lc_buf_append_byte(out, '"');
}

static void append_tsv(lc_buf *out, loci_str text)
{
    static const char special[] = "\t\n\r\\", letters[] = "tnr\\";

    for (size_t i = 0; i < text.len; i++) {
        const char *found = text.ptr[i] != '\0' ? strchr(special, text.ptr[i]) : NULL;

        if (found != NULL)
            lc_buf_append_byte(out, '\\');
        lc_buf_append_byte(out, found != NULL ? letters[found - special] : text.ptr[i]);
    }
}

static void append_field(lc_buf *out, lc_rows_format format, const lc_json *value)
{
    bool is_text = value != NULL && lc_json_kind_of(value) == LC_JSON_STRING;
    lc_json_writer w;
    lc_buf json;
    loci_str text;

    if (value == NULL || lc_json_kind_of(value) == LC_JSON_NULL)
        return;
    lc_buf_init(&json, out->heap, out->category, out->bytes_max);
    lc_jw_init(&w, &json);
    if (!is_text)
        lc_jw_value(&w, value);
    text = is_text ? lc_json_str(value) : lc_buf_str(&json);
    if (format == LC_ROWS_CSV)
        append_csv(out, text, is_text);
    else
        append_tsv(out, text);
    lc_buf_clear(&json);
}

/* ---- Rows ------------------------------------------------------------------------------------ */

static void end_line(lc_buf *out, lc_rows_format format)
{
    lc_buf_append(out, format == LC_ROWS_CSV ? LC_STR("\r\n") : LC_STR("\n"));
}

/* Without `row`: the line with the names. */
static void append_row(lc_buf *out, lc_rows_format format, const char *columns, const lc_json *row)
{
    bool is_first = true;

    for (loci_str rest = loci_str_of(columns); rest.ptr != NULL;) {
        loci_str name = lc_str_split(rest, ' ', &rest);

        if (!is_first)
            lc_buf_append_byte(out, format == LC_ROWS_CSV ? ',' : '\t');
        is_first = false;
        if (row != NULL)
            append_field(out, format, lc_json_member(row, name));
        else
            lc_buf_append(out, name);
    }
    end_line(out, format);
}

static void append_all(lc_buf *out, const lc_op *op, lc_rows_format format, const char *columns,
                       const lc_json *answer)
{
    const char *name = "";
    const lc_json *list = NULL;

    if (format != LC_ROWS_IDS)
        append_row(out, format, columns, NULL);
    if (!is_list(op)) {
        append_row(out, format, columns, answer);
        return;
    }
    (void)lc_record_rows(op->answer, &name); /* It is a list. */
    list = lc_json_find(answer, name, LC_JSON_ARRAY);
    for (const lc_json *row = list != NULL ? lc_json_first(list) : NULL; row != NULL;
         row = lc_json_next(row))
        append_row(out, format, columns, row);
}

void lc_rows_append(lc_buf *out, const lc_op *op, lc_rows_format format, const char *columns,
                    const lc_json *answer)
{
    lc_result members[LC_RECORD_MEMBERS_MAX];
    size_t count = lc_record_members(lc_rows_record(op), members);
    lc_buf all;

    lc_buf_init(&all, out->heap, out->category, 16u * 1024);
    for (size_t i = 0; columns == NULL && i < count; i++) {
        if (i > 0)
            lc_buf_append_byte(&all, ' ');
        lc_buf_append(&all, loci_str_of(members[i].name));
    }
    lc_buf_append_byte(&all, '\0');
    append_all(out, op, format, columns != NULL ? columns : lc_buf_str(&all).ptr, answer);
    lc_buf_clear(&all);
}
