/* sql_rewrite.c - one SQL text for two databases, and for the live tables and their shadows.
 *
 * `$2` is a position in PostgreSQL but only a name in SQLite, numbered by first appearance: used
 * before `$1` it would silently get the wrong value. `?2` is a position there. For a shadow the
 * name of each projection gets its suffix, so that a room's apply needs no second copy of its
 * statements; the catalogue check keeps columns from having such names. Quotes and comments pass
 * through untouched, but for one comment: what only PostgreSQL has a word for, because SQLite has
 * one writer at a time anyway, is uncommented for it. Braces stand for the columns of a record: see
 * row.h.
 */
#include "store/db.h"

#include <string.h>

#include "base/assert.h"
#include "base/str.h"
#include "store/row.h"

#define PARAMS_MAX 64

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || is_digit(c);
}

/* Where the quoted text that starts at `at` ends; a doubled quote reads as two texts in a row. */
static const char *skip_quoted(const char *at)
{
    const char *end = strchr(at + 1, *at);

    LC_ASSERT(end != NULL);
    return end + 1;
}

static const char *skip_comment(const char *at)
{
    const char *end;

    if (at[0] == '-') {
        end = strchr(at, '\n');
        return end != NULL ? end : at + strlen(at);
    }
    end = strstr(at + 2, "*/");
    LC_ASSERT(end != NULL);
    return end + 2;
}

static bool is_comment(const char *at)
{
    return (at[0] == '-' && at[1] == '-') || (at[0] == '/' && at[1] == '*');
}

#define LOCK_COMMENT "/* for update skip locked */"

static bool is_lock(const char *at)
{
    return strncmp(at, LOCK_COMMENT, strlen(LOCK_COMMENT)) == 0;
}

static const char *uncomment(lc_buf *out, const char *at)
{
    lc_buf_append(out, LC_STR("for update skip locked"));
    return at + strlen(LOCK_COMMENT);
}

/* Writes the parameter at `at` and raises `highest` to its number. */
static const char *rewrite_param(lc_buf *out, const char *at, lc_dialect dialect, size_t *highest)
{
    size_t number = 0;

    lc_buf_append_byte(out, dialect == LC_DIALECT_SQLITE ? '?' : '$');
    for (at++; is_digit(*at); at++) {
        number = number * 10 + (size_t)(*at - '0');
        LC_ASSERT(number <= PARAMS_MAX);
        lc_buf_append_byte(out, *at);
    }
    LC_ASSERT(number > 0);
    if (number > *highest)
        *highest = number;
    return at;
}

static bool is_projection(const lc_catalogue *catalogue, loci_str name)
{
    const lc_table *table = lc_catalogue_find_table(catalogue, name);

    return table != NULL && table->table_class == LC_TABLE_PROJECTION;
}

void lc_sql_rewrite(lc_buf *out, const lc_sql *sql, const lc_catalogue *catalogue,
                    lc_dialect dialect, bool is_shadow)
{
    const char *at = sql->text;
    size_t highest = 0;

    while (*at != '\0') {
        const char *start = at;

        if (*at == '\'' || *at == '"') {
            at = skip_quoted(at);
        } else if (is_lock(at) && dialect == LC_DIALECT_POSTGRES) {
            at = uncomment(out, at);
            continue;
        } else if (is_comment(at)) {
            at = skip_comment(at);
        } else if (*at == '$') {
            at = rewrite_param(out, at, dialect, &highest);
            continue;
        } else if (*at == '{') {
            at = lc_row_expand(out, sql, at, catalogue, dialect);
            continue;
        } else if (is_word(*at)) {
            while (is_word(*at))
                at++;
        } else {
            at++;
        }
        lc_buf_append(out, (loci_str){start, (size_t)(at - start)});
        if (is_shadow && is_projection(catalogue, (loci_str){start, (size_t)(at - start)}))
            lc_buf_append(out, LC_STR("__new"));
    }
    LC_ASSERT(highest == strlen(sql->params));
}
