/* json.h - JSON (RFC 8259, strictly): a reader that builds a tree in an arena, a writer that builds
 * none, and one canonical form.
 *
 * Reading: lc_json_parse(), then walk with lc_json_member(), lc_json_first() and lc_json_next().
 * Values are never changed and live as long as the arena and the text. Integers are exact int64,
 * everything else with a fraction or an exponent is a double; LC_JSON_INT and LC_JSON_REAL stay
 * apart.
 *
 * Writing: lc_jw_init(), then values in their order in the text; the writer adds commas and colons.
 * Failures stay in the buffer until lc_buf_status(); misuse (a value without a name, an end too
 * many) is a bug and asserted.
 */
#ifndef LC_BASE_JSON_H
#define LC_BASE_JSON_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/limits.h"

#include <stdbool.h>

typedef enum lc_json_kind {
    LC_JSON_NULL,
    LC_JSON_BOOL,
    LC_JSON_INT,
    LC_JSON_REAL,
    LC_JSON_STRING,
    LC_JSON_ARRAY,
    LC_JSON_OBJECT
} lc_json_kind;

/* One value of a parsed document. */
typedef struct lc_json lc_json;

/* For lc_json_parse(): accept \u0000 in strings and names, which carry their length. */
#define LC_JSON_ALLOW_NUL 1u

/* Parses the one document that fills `text`, with optional white space around it. The tree lives in
 * `arena`; strings without escapes are borrowed from `text`, which must therefore outlive the tree.
 *
 * LOCI_EINVAL: not JSON or not UTF-8, a duplicate key, a lone surrogate, \u0000 (see the flag), an
 * integer outside int64, a number too large for a double. LOCI_ELIMIT: more than LC_JSON_BYTES_MAX
 * bytes or LC_JSON_DEPTH_MAX levels. LOCI_ERESOURCE: out of memory. Messages say where: "line 3,
 * column 14: expected ',' or '}' after a member"; columns count characters. After a failed parse
 * its memory stays allocated until the arena is cleared or rewound. */
loci_status lc_json_parse(lc_arena *arena, loci_str text, unsigned flags, const lc_json **out,
                          loci_error *err);
/* `message` without "line 1, " at its beginning: the text was one line of a file, whose number is
 * reported instead. */
const char *lc_json_reason_in_line(const char *message);

lc_json_kind lc_json_kind_of(const lc_json *value);
/* "null" "boolean" "integer" "number" "string" "array" "object" */
const char *lc_json_kind_name(lc_json_kind kind);

/* The content of a value. Asking for another kind is a bug; lc_json_real() takes integers too. */
bool lc_json_bool(const lc_json *value);
int64_t lc_json_int(const lc_json *value);
double lc_json_real(const lc_json *value);
loci_str lc_json_str(const lc_json *value);

/* Elements of an array or members of an object. */
size_t lc_json_count(const lc_json *container);
/* The member called `name`, or NULL. A linear search. */
const lc_json *lc_json_member(const lc_json *object, loci_str name);
/* The same in a document of unknown structure: NULL also if `value` is NULL or not an object, or if
 * the member has another kind. */
const lc_json *lc_json_find(const lc_json *value, const char *name, lc_json_kind kind);
/* The first element or member, NULL when empty. */
const lc_json *lc_json_first(const lc_json *container);
/* The next in the same container, NULL at its end. */
const lc_json *lc_json_next(const lc_json *value);
/* The name of a member of an object. */
loci_str lc_json_name(const lc_json *value);

/* A string of a document that may be replaced. */
typedef struct lc_json_edit {
    loci_str name; /* Name of the member whose value it is; none = not a member. */
    loci_str text; /* In and out; a new text must live as long as the document. */
    bool is_name;  /* It is the name of a member, and is not replaced. */
} lc_json_edit;
typedef loci_status lc_json_edit_visit(void *ctx, const lc_json *value, lc_json_edit *edit,
                                       loci_error *err);
/* Calls `visit` for every string in `value`, and for the name of every member within it; replaces
 * strings in place. Non-OK stops. */
loci_status lc_json_edit_strings(const lc_json *value, lc_json_edit_visit *visit, void *ctx,
                                 loci_error *err);

/* Appends `value` in the form in which equal values have equal bytes: members sorted by the bytes
 * of their names, no white space, integers exact, shortest reals, only the escapes that must be. 1
 * and 1.0 differ. Memory taken from `scratch` is given back. */
loci_status lc_json_canonical(lc_arena *scratch, const lc_json *value, lc_buf *out,
                              loci_error *err);

/* Levels a writer can open. Twice the depth that can be read, because answers wrap documents that
 * were read. */
#define LC_JSON_WRITE_DEPTH_MAX (2 * LC_JSON_DEPTH_MAX)

typedef struct lc_json_writer {
    lc_buf *buf;
    unsigned depth;
    bool needs_comma; /* Something precedes in the container. */
    bool has_name;    /* A name waits for its value. */
    bool is_done;
    char closers[LC_JSON_WRITE_DEPTH_MAX]; /* '}' or ']' of each open container. */
} lc_json_writer;

/* Appends one document to `buf`, which must outlive the writer. */
void lc_jw_init(lc_json_writer *w, lc_buf *buf);
/* One whole document was written. */
bool lc_jw_is_done(const lc_json_writer *w);

void lc_jw_object(lc_json_writer *w);
void lc_jw_array(lc_json_writer *w);
/* Closes the container that was opened last. */
void lc_jw_end(lc_json_writer *w);
/* Names must be unique within an object; the writer does not check. */
void lc_jw_name(lc_json_writer *w, const char *name);
void lc_jw_name_str(lc_json_writer *w, loci_str name);

/* Text is UTF-8. Each byte that is not, from a damaged store, becomes U+FFFD: the text can always
 * be read back. `text` of lc_jw_text() is terminated; NULL is written as null. */
void lc_jw_str(lc_json_writer *w, loci_str text);
void lc_jw_text(lc_json_writer *w, const char *text);
void lc_jw_int(lc_json_writer *w, int64_t value);
/* `value` is finite. */
void lc_jw_real(lc_json_writer *w, double value);
void lc_jw_bool(lc_json_writer *w, bool value);
void lc_jw_null(lc_json_writer *w);
/* RFC 3339 text. */
void lc_jw_time(lc_json_writer *w, int64_t us);
/* One value that is JSON text already, copied unchanged. */
void lc_jw_raw(lc_json_writer *w, loci_str json);
/* A parsed value, members in their order. */
void lc_jw_value(lc_json_writer *w, const lc_json *value);

/* Name and value in one. */
void lc_jw_member_str(lc_json_writer *w, const char *name, loci_str text);
void lc_jw_member_text(lc_json_writer *w, const char *name, const char *text);
void lc_jw_member_int(lc_json_writer *w, const char *name, int64_t value);
void lc_jw_member_real(lc_json_writer *w, const char *name, double value);
void lc_jw_member_bool(lc_json_writer *w, const char *name, bool value);
void lc_jw_member_null(lc_json_writer *w, const char *name);
/* {"error":{"code":…,"message":…,…data}}. `scratch` is needed to read the data. */
void lc_jw_put_error(lc_json_writer *w, lc_arena *scratch, const loci_error *err);
void lc_jw_member_time(lc_json_writer *w, const char *name, int64_t us);
void lc_jw_member_raw(lc_json_writer *w, const char *name, loci_str json);
void lc_jw_member_value(lc_json_writer *w, const char *name, const lc_json *value);

#endif /* LC_BASE_JSON_H */
