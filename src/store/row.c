/* row.c - see row.h.
 *
 * Every function walks the array of columns once. A member is reached by its offset, which comes
 * from offsetof() in LC_MEMBER(), and read according to its type.
 */
#include "store/row.h"

#include <string.h>

#include "base/assert.h"
#include "base/error.h"
#include "base/str.h"

/* ---- Members --------------------------------------------------------------------------------- */

static const void *at(const lc_column *column, const void *row)
{
    return (const char *)row + column->offset;
}

static void *at_of(const lc_column *column, void *row)
{
    return (char *)row + column->offset;
}

/* A column with a member, whether this type has it or not. */
static bool is_stored(const lc_column *column)
{
    return column->kind != 0 && column->type != LC_TYPE_NONE;
}

static bool is_selected(const lc_row_type *type, const lc_column *column)
{
    return is_stored(column) && (column->flags & type->without) == 0;
}

/* A loci_str. */
static bool is_text(const lc_column *column)
{
    return column->type == LC_TYPE_STRING || column->type >= LC_TYPE_STRINGS;
}

/* An array inside the struct. */
static bool is_array(const lc_column *column)
{
    return column->type == LC_TYPE_CHARS || column->type == LC_TYPE_BYTES;
}

/* The value of an integer, a time, a boolean or a rank. */
static int64_t number_of(const lc_column *column, const void *row)
{
    const void *member = at(column, row);

    switch (column->type) {
    case LC_TYPE_BOOLEAN:
        return *(const bool *)member;
    case LC_TYPE_RANK:
    case LC_TYPE_ENUM:
        return *(const int *)member;
    default:
        return *(const int64_t *)member;
    }
}

static void set_number(const lc_column *column, void *row, int64_t value)
{
    void *member = at_of(column, row);

    switch (column->type) {
    case LC_TYPE_BOOLEAN:
        *(bool *)member = value != 0;
        break;
    case LC_TYPE_RANK:
    case LC_TYPE_ENUM:
        *(int *)member = (int)value;
        break;
    default:
        *(int64_t *)member = value;
    }
}

static loci_str text_of(const lc_column *column, const void *row)
{
    if (column->type == LC_TYPE_CHARS)
        return loci_str_of(at(column, row));
    if (column->type == LC_TYPE_BYTES)
        return (loci_str){at(column, row), column->bytes};
    return *(const loci_str *)at(column, row);
}

static void set_text(const lc_column *column, void *row, loci_str value)
{
    *(loci_str *)at_of(column, row) = value;
}

static void set_default(const lc_column *column, void *row)
{
    if (is_text(column))
        set_text(column, row, column->absent != NULL ? loci_str_of(column->absent) : LC_STR_NONE);
    else if (is_array(column))
        memset(at_of(column, row), 0, column->bytes);
    else if (column->type == LC_TYPE_NUMBER)
        *(double *)at_of(column, row) = 0;
    else
        set_number(column, row, column->none);
}

static bool has_default(const lc_column *column, const void *row)
{
    loci_str text;

    if (column->type == LC_TYPE_NUMBER)
        return *(const double *)at(column, row) == 0;
    if (!is_text(column) && !is_array(column))
        return number_of(column, row) == column->none;
    text = text_of(column, row);
    return text.len == 0 || (column->absent != NULL && lc_str_is(text, column->absent));
}

/* ---- Words of an enum ------------------------------------------------------------------------ */

static loci_str word_at(const char *choices, int64_t number)
{
    loci_str rest = loci_str_of(choices);
    loci_str word = lc_str_split(rest, '|', &rest);

    for (int64_t i = 0; i < number; i++)
        word = lc_str_split(rest, '|', &rest);
    LC_ASSERT(word.len > 0);
    return word;
}

/* False if `choices` does not have the word; then `out` is the first. */
static bool find_word(const char *choices, loci_str word, int64_t *out)
{
    loci_str rest = loci_str_of(choices);

    for (*out = 0; rest.ptr != NULL; ++*out) {
        if (lc_str_eq(lc_str_split(rest, '|', &rest), word))
            return true;
    }
    *out = 0;
    return false;
}

/* ---- Rows ------------------------------------------------------------------------------------ */

size_t lc_row_width(const lc_row_type *type)
{
    size_t count = 0;

    for (const lc_column *column = type->columns; column->name != NULL; column++)
        count += is_selected(type, column);
    return count;
}

static lc_arg arg_of(const lc_column *column, const void *row)
{
    if (column->nullable && has_default(column, row))
        return LC_NULL;
    if (is_text(column)) {
        loci_str text = text_of(column, row);

        if (text.ptr == NULL)
            text = loci_str_of(column->absent != NULL ? column->absent : "");
        return LC_T(text);
    }
    if (is_array(column))
        return (lc_arg){.kind = column->kind, .as.str = text_of(column, row)};
    if (column->type == LC_TYPE_NUMBER)
        return LC_F(*(const double *)at(column, row));
    if (column->type == LC_TYPE_ENUM)
        return LC_T(word_at(column->choices, number_of(column, row)));
    return LC_I(number_of(column, row));
}

void lc_row_bind(const lc_row_type *type, const void *row, lc_arg *out)
{
    for (const lc_column *column = type->columns; column->name != NULL; column++) {
        if (is_selected(type, column))
            *out++ = arg_of(column, row);
    }
}

/* False if the array is too small, or of another size than the bytes. */
static bool read_array(const lc_column *column, loci_str text, void *out)
{
    char *to = at_of(column, out);

    if (column->type == LC_TYPE_BYTES ? text.len != column->bytes : text.len >= column->bytes)
        return false;
    memset(to, 0, column->bytes);
    if (text.len > 0)
        memcpy(to, text.ptr, text.len);
    return true;
}

loci_status lc_row_read(const lc_rows *rows, void *out, loci_error *err)
{
    const lc_row_type *type = rows->sql->row;
    int place = 0;

    for (const lc_column *column = type->columns; column->name != NULL; column++) {
        bool is_fine = true;
        int64_t number;

        if (!is_stored(column))
            continue;
        if (!is_selected(type, column)) {
            set_default(column, out);
            continue;
        }
        if (is_text(column)) {
            set_text(column, out, lc_rows_str(rows, place));
        } else if (lc_rows_is_null(rows, place)) { /* Also if its table does not have it. */
            set_default(column, out);
        } else if (is_array(column)) {
            is_fine = read_array(column, lc_rows_str(rows, place), out);
        } else if (column->type == LC_TYPE_NUMBER) {
            *(double *)at_of(column, out) = lc_rows_f64(rows, place);
        } else if (column->type == LC_TYPE_ENUM) {
            is_fine = find_word(column->choices, lc_rows_str(rows, place), &number);
            set_number(column, out, number);
        } else {
            number = lc_rows_i64(rows, place);
            is_fine = column->type != LC_TYPE_RANK || (number >= 0 && number <= INT32_MAX);
            set_number(column, out, number);
        }
        if (!is_fine)
            return lc_fail(err, LOCI_ECORRUPT, "a stored row has a damaged %s", column->name);
        place++;
    }
    return LOCI_OK;
}

bool lc_row_next(lc_rows *rows, void *out, loci_status *status, loci_error *err)
{
    if (*status != LOCI_OK || !lc_rows_next(rows, status, err))
        return false;
    *status = lc_row_read(rows, out, err);
    return *status == LOCI_OK;
}

loci_status lc_row_find(lc_tx *tx, const lc_query *query, lc_arena *arena, void *out, bool *found,
                        loci_error *err)
{
    lc_rows rows;
    loci_status status = lc_tx_query(tx, query->sql, query->args, &rows, err);

    *found = lc_row_next(&rows, out, &status, err);
    if (*found && !lc_row_keep(query->sql->row, arena, out))
        status = lc_fail_memory(err);
    lc_rows_end(&rows);
    return status;
}

/* ---- Keeping text ---------------------------------------------------------------------------- */

size_t lc_row_bytes(const lc_row_type *type, const void *row)
{
    size_t bytes = 1; /* An empty text is not none: it needs an address. */

    for (const lc_column *column = type->columns; column->name != NULL; column++) {
        if (is_stored(column) && is_text(column))
            bytes += text_of(column, row).len;
    }
    return bytes;
}

void lc_row_copy(const lc_row_type *type, void *row, char *to)
{
    for (const lc_column *column = type->columns; column->name != NULL; column++) {
        loci_str text;

        if (!is_stored(column) || !is_text(column))
            continue;
        text = text_of(column, row);
        if (text.ptr == NULL)
            continue;
        memcpy(to, text.ptr, text.len);
        set_text(column, row, (loci_str){to, text.len});
        to += text.len;
    }
}

bool lc_row_keep(const lc_row_type *type, lc_arena *arena, void *row)
{
    char *to = lc_arena_alloc(arena, lc_row_bytes(type, row));

    if (to != NULL)
        lc_row_copy(type, row, to);
    return to != NULL;
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static const char *json_name(const lc_column *column)
{
    return column->json != NULL ? column->json : column->name;
}

const char *lc_column_shown_name(const lc_column *column)
{
    return column->shown != NULL ? column->shown : json_name(column);
}

static void put_value(lc_json_writer *out, const lc_column *column, const void *row)
{
    switch (column->type) {
    case LC_TYPE_STRING:
    case LC_TYPE_CHARS:
        lc_jw_str(out, text_of(column, row));
        break;
    case LC_TYPE_INTEGER:
    case LC_TYPE_RANK:
        lc_jw_int(out, number_of(column, row));
        break;
    case LC_TYPE_NUMBER:
        lc_jw_real(out, *(const double *)at(column, row));
        break;
    case LC_TYPE_BOOLEAN:
        lc_jw_bool(out, number_of(column, row) != 0);
        break;
    case LC_TYPE_TIME:
        lc_jw_time(out, number_of(column, row));
        break;
    case LC_TYPE_ENUM:
        lc_jw_str(out, word_at(column->choices, number_of(column, row)));
        break;
    default: /* JSON as it is; none is an empty list, an empty object or null. */
        if (text_of(column, row).len > 0)
            lc_jw_raw(out, text_of(column, row));
        else if (column->type == LC_TYPE_ANY)
            lc_jw_null(out);
        else
            lc_jw_raw(out, column->type == LC_TYPE_STRINGS ? LC_STR("[]") : LC_STR("{}"));
    }
}

static const unsigned orders[] = {0, LC_COL_LAST};

/* One column, or a pair with its rank. */
static void encode(const lc_column *column, const void *row, lc_json_writer *out)
{
    bool is_ranked = (column->flags & LC_COL_RANKED) != 0;

    /* A word without a rank is a default, not a value that a caller gave. */
    if ((column->flags & LC_COL_CODED) == 0 && has_default(column + is_ranked, row))
        return;
    lc_jw_name(out, json_name(column));
    if (is_ranked)
        lc_jw_array(out);
    put_value(out, column, row);
    if (is_ranked) {
        put_value(out, column + 1, row);
        lc_jw_end(out);
    }
}

void lc_row_encode(const lc_row_type *type, const void *row, unsigned part, lc_json_writer *out)
{
    for (size_t i = 0; i < 2; i++) {
        for (const lc_column *column = type->columns; column->name != NULL; column++) {
            if ((column->flags & part) != 0 && (column->flags & LC_COL_LAST) == orders[i])
                encode(column, row, out);
        }
    }
}

loci_status lc_row_append(lc_tx *tx, const lc_event_type *event, const lc_row_type *type,
                          const void *row, int64_t *out_seq, loci_error *err)
{
    lc_event_draft draft;

    lc_event_draft_begin(&draft, tx);
    lc_row_encode(type, row, LC_COL_REFS, &draft.refs);
    lc_row_encode(type, row, LC_COL_PAYLOAD, &draft.payload);
    return lc_event_draft_append(&draft, tx, &(lc_append){.type = event}, out_seq, err);
}

loci_status lc_row_insert(lc_tx *tx, const lc_event *event, const lc_sql *sql, const void *row,
                          loci_error *err)
{
    lc_arg args[2 + LC_ROW_COLUMNS_MAX] = {LC_T(event->tenant_id), LC_T(event->user_id)};

    lc_row_bind(sql->row, row, args + 2);
    return lc_tx_exec(tx, sql, args, err);
}

loci_status lc_row_apply(lc_tx *tx, const lc_event *event, loci_error *err)
{
    const lc_sql *sql = event->type->insert;
    lc_arena *arena = &tx->db->scratch;
    lc_arena_mark mark = lc_arena_get_mark(arena);
    void *row = lc_arena_alloc(arena, sql->row->bytes);
    loci_status status = row != NULL ? lc_row_decode(sql->row, event, arena, row, err)
                                     : lc_fail_memory(err);

    if (status == LOCI_OK && !event->is_erased)
        status = lc_row_insert(tx, event, sql, row, err);
    lc_arena_rewind(arena, mark);
    return status;
}

static bool is_shown(const lc_column *column)
{
    return (column->flags & (LC_COL_SHOWN | LC_COL_REQUIRED | LC_COL_OR_NULL)) != 0;
}

static void put_member(const lc_column *column, const void *row, lc_json_writer *out)
{
    bool is_default = has_default(column, row);

    if ((column->flags & (LC_COL_REQUIRED | LC_COL_OR_NULL)) == 0 && is_default)
        return;
    lc_jw_name(out, lc_column_shown_name(column));
    if ((column->flags & LC_COL_OR_NULL) != 0 && is_default)
        lc_jw_null(out);
    else
        put_value(out, column, row);
}

/* All columns of the group that begins here, as one object. Returns the last of them. */
static const lc_column *put_group(const lc_column *column, const void *row, lc_json_writer *out)
{
    const char *group = column->group;
    bool is_absent = column->nullable && has_default(column, row);

    if (!is_absent || (column->flags & LC_COL_OR_NULL) != 0)
        lc_jw_name(out, group);
    if (is_absent && (column->flags & LC_COL_OR_NULL) != 0)
        lc_jw_null(out);
    if (!is_absent)
        lc_jw_object(out);
    for (;; column++) {
        if (!is_absent && is_shown(column))
            put_member(column, row, out);
        if (column[1].group == NULL || strcmp(column[1].group, group) != 0)
            break;
    }
    if (!is_absent)
        lc_jw_end(out);
    return column;
}

void lc_row_put(const lc_row_type *type, const void *row, lc_json_writer *out)
{
    for (size_t i = 0; i < 2; i++) {
        for (const lc_column *column = type->columns; column->name != NULL; column++) {
            if (!is_shown(column) || (column->flags & LC_COL_LAST) != orders[i])
                continue;
            if (column->group != NULL)
                column = put_group(column, row, out);
            else
                put_member(column, row, out);
        }
    }
}

/* ---- From events ----------------------------------------------------------------------------- */

/* ["manager", 4] into this column and the next; anything else is their default. */
static void get_ranked(const lc_column *column, const lc_json *object, void *out)
{
    const lc_json *pair = lc_json_find(object, json_name(column), LC_JSON_ARRAY);
    const lc_json *word = pair != NULL && lc_json_count(pair) == 2 ? lc_json_first(pair) : NULL;
    const lc_json *rank = word != NULL ? lc_json_next(word) : NULL;

    set_default(column, out);
    set_default(column + 1, out);
    if (rank == NULL || lc_json_kind_of(word) != LC_JSON_STRING ||
        lc_json_kind_of(rank) != LC_JSON_INT || lc_json_int(rank) < 0 ||
        lc_json_int(rank) > INT32_MAX)
        return;
    set_text(column, out, lc_json_str(word));
    set_number(column + 1, out, lc_json_int(rank));
}

static loci_status get_text(const lc_column *column, const lc_json *object, lc_arena *arena,
                            void *out, loci_error *err)
{
    loci_str text = LC_STR_NONE;
    loci_status status = LOCI_OK;

    if (column->type == LC_TYPE_STRING)
        text = lc_event_str(object, json_name(column));
    else
        status = lc_event_raw(object, json_name(column), arena, &text, err);
    if (status == LOCI_OK && text.ptr != NULL)
        set_text(column, out, text);
    else
        set_default(column, out);
    return status;
}

static void get_number(const lc_column *column, const lc_event *event, const lc_json *object,
                       void *out)
{
    const char *name = json_name(column);
    const lc_json *real;
    int64_t number;

    switch (column->type) {
    case LC_TYPE_BOOLEAN:
        set_number(column, out, lc_event_bool(object, name));
        break;
    case LC_TYPE_TIME:
        set_number(
            column, out,
            lc_event_time(object, name,
                          (column->flags & LC_COL_SINCE) != 0 ? event->recorded_at : column->none));
        break;
    case LC_TYPE_ENUM:
        (void)find_word(column->choices, lc_event_str(object, name), &number); /* Or the first. */
        set_number(column, out, number);
        break;
    case LC_TYPE_NUMBER:
        real = lc_json_member(object, loci_str_of(name));
        *(double *)at_of(column, out) = real != NULL && (lc_json_kind_of(real) == LC_JSON_REAL ||
                                                         lc_json_kind_of(real) == LC_JSON_INT)
                                            ? lc_json_real(real)
                                            : 0;
        break;
    default:
        set_number(column, out, lc_event_int(object, name, column->none));
    }
}

loci_status lc_row_decode_json(const lc_row_type *type, const lc_event *event,
                               const lc_event_json *json, lc_arena *arena, void *out,
                               loci_error *err)
{
    for (const lc_column *column = type->columns; column->name != NULL; column++) {
        bool is_ref = (column->flags & LC_COL_REFS) != 0;
        const lc_json *object = is_ref ? json->refs : json->payload;
        loci_status status = LOCI_OK;

        if (!is_stored(column))
            continue;
        if ((column->flags & LC_COL_EVENT) != 0) {
            set_number(column, out, column->type == LC_TYPE_TIME ? event->recorded_at : event->seq);
        } else if ((column->flags & (LC_COL_REFS | LC_COL_PAYLOAD)) == 0) {
            set_default(column, out);
        } else if ((column->flags & LC_COL_RANKED) != 0) {
            get_ranked(column, object, out);
            column++;
        } else if (is_text(column)) {
            status = get_text(column, object, arena, out, err);
        } else {
            get_number(column, event, object, out);
        }
        if (status == LOCI_OK && is_ref && (column->flags & LC_COL_CODED) != 0 &&
            has_default(column, out))
            status = lc_event_fail(event, err);
        if (status != LOCI_OK)
            return status;
    }
    return LOCI_OK;
}

loci_status lc_row_decode(const lc_row_type *type, const lc_event *event, lc_arena *arena,
                          void *out, loci_error *err)
{
    lc_event_json json;
    loci_status status = lc_event_parse(event, arena, &json, err);

    return status == LOCI_OK ? lc_row_decode_json(type, event, &json, arena, out, err) : status;
}

/* ---- SQL ------------------------------------------------------------------------------------- */

static const char *add_row_kinds(const lc_row_type *type, const char *first, const char *then,
                                 char *out)
{
    size_t len = strlen(first);

    LC_ASSERT(len + lc_row_width(type) + strlen(then) <= LC_SQL_KINDS_MAX);
    memcpy(out, first, len);
    for (const lc_column *column = type->columns; column->name != NULL; column++) {
        if (is_selected(type, column))
            out[len++] = column->kind;
    }
    memcpy(out + len, then, strlen(then) + 1);
    return out;
}

const char *lc_sql_params(const lc_sql *sql, char out[LC_SQL_KINDS_MAX + 1])
{
    return sql->row == NULL || sql->columns != NULL ? sql->params
                                                    : add_row_kinds(sql->row, sql->params, "", out);
}

const char *lc_sql_columns(const lc_sql *sql, char out[LC_SQL_KINDS_MAX + 1])
{
    return sql->row == NULL || sql->columns == NULL
               ? sql->columns
               : add_row_kinds(sql->row, "", sql->columns, out);
}

/* The table whose name comes next, after `word`; NULL when something else does. */
static const lc_table *table_after(const lc_catalogue *catalogue, const char *text,
                                   const char *word)
{
    size_t len = strlen(word);

    if (strncmp(text, word, len) != 0)
        return NULL;
    text += len;
    len = strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789_");
    return lc_catalogue_find_table(catalogue, (loci_str){text, len});
}

/* Whether a list of names ("tenant_id, user_id, key") has it. */
static bool is_listed(const char *names, const char *name)
{
    loci_str rest = loci_str_of(names);

    while (rest.ptr != NULL) {
        if (lc_str_is(lc_str_trim(lc_str_split(rest, ',', &rest)), name))
            return true;
    }
    return false;
}

static bool has_column(const lc_table *table, const char *name)
{
    const lc_column *column = table->columns;

    while (column->name != NULL && strcmp(column->name, name) != 0)
        column++;
    return column->name != NULL;
}

static void add_null(lc_buf *out, const lc_column *column, lc_dialect dialect)
{
    const char *type = column->kind == 't'            ? "text"
                       : column->kind == 'i'          ? "bigint"
                       : column->kind == 'f'          ? "double precision"
                       : dialect == LC_DIALECT_SQLITE ? "blob"
                                                      : "bytea";

    lc_buf_append_format(out, "cast(null as %s) as %s", type, column->name);
}

const char *lc_row_expand(lc_buf *out, const lc_sql *sql, const char *text,
                          const lc_catalogue *catalogue, lc_dialect dialect)
{
    const char *end = strchr(text, '}');
    const char *dot = memchr(text, '.', end != NULL ? (size_t)(end - text) : 0);
    loci_str prefix = dot != NULL ? (loci_str){text + 1, (size_t)(dot + 1 - text - 1)} : LC_STR("");
    loci_str what = {text + 1 + prefix.len,
                     end != NULL ? (size_t)(end - text - 1) - prefix.len : 0};
    bool is_row = lc_str_is(what, "row"), is_set = lc_str_is(what, "set");
    bool is_excluded = lc_str_is(what, "excluded");
    const lc_table *source = is_row && end != NULL ? table_after(catalogue, end + 1, " from ")
                                                   : NULL;
    const lc_table *target = table_after(catalogue, sql->text, is_set ? "update " : "insert into ");
    size_t number = strlen(sql->params);
    const char *comma = "";

    LC_ASSERT(end != NULL && sql->row != NULL);
    LC_ASSERT(is_row || is_set || is_excluded || lc_str_is(what, "values"));
    for (const lc_column *column = sql->row->columns; column->name != NULL; column++) {
        if (!is_selected(sql->row, column))
            continue;
        number++;
        if ((is_set || is_excluded) && target != NULL && is_listed(target->key, column->name))
            continue;
        lc_buf_append_format(out, "%s", comma);
        comma = ", ";
        if (is_row && source != NULL && !has_column(source, column->name))
            add_null(out, column, dialect);
        else if (is_row)
            lc_buf_append_format(out, "%.*s%s", LC_STR_ARG(prefix), column->name);
        else if (is_excluded)
            lc_buf_append_format(out, "%s = excluded.%s", column->name, column->name);
        else
            lc_buf_append_format(out, "%s%s%c%zu", is_set ? column->name : "", is_set ? " = " : "",
                                 dialect == LC_DIALECT_SQLITE ? '?' : '$', number);
    }
    return end + 1;
}
