/* json_tree.c - access to parsed values, and the canonical form.
 *
 * Sorting is a bottom-up merge: n log n for any input, unlike a hash table if an attacker chooses
 * the names, and no recursion. Two arrays of entries alternate.
 */
#include "base/json_tree.h"

#include <string.h>

#include "base/assert.h"
#include "base/error.h"
#include "base/str.h"

lc_json_kind lc_json_kind_of(const lc_json *value)
{
    return (lc_json_kind)value->kind;
}

const char *lc_json_kind_name(lc_json_kind kind)
{
    static const char *const names[] = {
        [LC_JSON_NULL] = "null",     [LC_JSON_BOOL] = "boolean",  [LC_JSON_INT] = "integer",
        [LC_JSON_REAL] = "number",   [LC_JSON_STRING] = "string", [LC_JSON_ARRAY] = "array",
        [LC_JSON_OBJECT] = "object",
    };

    LC_ASSERT((unsigned)kind <= LC_JSON_OBJECT);
    return names[kind];
}

bool lc_json_bool(const lc_json *value)
{
    LC_ASSERT(value->kind == LC_JSON_BOOL);
    return value->as.boolean;
}

int64_t lc_json_int(const lc_json *value)
{
    LC_ASSERT(value->kind == LC_JSON_INT);
    return value->as.integer;
}

double lc_json_real(const lc_json *value)
{
    if (value->kind == LC_JSON_INT)
        return (double)value->as.integer;
    LC_ASSERT(value->kind == LC_JSON_REAL);
    return value->as.real;
}

loci_str lc_json_str(const lc_json *value)
{
    LC_ASSERT(value->kind == LC_JSON_STRING);
    return (loci_str){value->as.text, value->text_bytes};
}

size_t lc_json_count(const lc_json *container)
{
    LC_ASSERT(lc_json_is_container(container));
    return container->as.container.count;
}

const lc_json *lc_json_first(const lc_json *container)
{
    return lc_json_count(container) == 0 ? NULL : container + 1;
}

const lc_json *lc_json_next(const lc_json *value)
{
    if (value->is_last)
        return NULL;
    return value + (lc_json_is_container(value) ? value->as.container.span : 1);
}

loci_str lc_json_name(const lc_json *value)
{
    LC_ASSERT(value->name != NULL);
    return (loci_str){value->name, value->name_bytes};
}

const lc_json *lc_json_member(const lc_json *object, loci_str name)
{
    LC_ASSERT(object->kind == LC_JSON_OBJECT);
    for (const lc_json *at = lc_json_first(object); at != NULL; at = lc_json_next(at)) {
        if (lc_str_eq((loci_str){at->name, at->name_bytes}, name))
            return at;
    }
    return NULL;
}

const lc_json *lc_json_find(const lc_json *value, const char *name, lc_json_kind kind)
{
    const lc_json *member = value != NULL && lc_json_kind_of(value) == LC_JSON_OBJECT
                                ? lc_json_member(value, loci_str_of(name))
                                : NULL;

    return member != NULL && lc_json_kind_of(member) == kind ? member : NULL;
}

bool lc_json_is_same_name(const lc_json *a, const lc_json *b)
{
    return a->name_bytes == b->name_bytes && memcmp(a->name, b->name, a->name_bytes) == 0;
}

static uint64_t prefix_of(const lc_json *member)
{
    unsigned char bytes[8] = {0};
    uint64_t prefix = 0;

    memcpy(bytes, member->name, member->name_bytes < 8 ? member->name_bytes : 8);
    for (size_t i = 0; i < 8; i++)
        prefix = prefix << 8 | bytes[i];
    return prefix;
}

static bool is_before(const lc_json_entry *a, const lc_json_entry *b)
{
    if (a->prefix != b->prefix)
        return a->prefix < b->prefix;
    return lc_str_compare(lc_json_name(a->member), lc_json_name(b->member)) < 0;
}

/* Merges from[low, middle) and from[middle, high) into to[low, high). */
static void merge(const lc_json_entry *from, lc_json_entry *to, const size_t bounds[3])
{
    size_t left = bounds[0], right = bounds[1];

    for (size_t at = bounds[0]; at < bounds[2]; at++) {
        bool takes_right = left == bounds[1] ||
                           (right < bounds[2] && is_before(&from[right], &from[left]));

        to[at] = takes_right ? from[right++] : from[left++];
    }
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

lc_json_entry *lc_json_sort_members(lc_arena *scratch, const lc_json *object)
{
    size_t count = lc_json_count(object);
    lc_json_entry *from = lc_arena_alloc(scratch, 2 * count * sizeof *from);
    lc_json_entry *to, *spare;
    size_t filled = 0;

    if (from == NULL)
        return NULL;
    to = from + count;
    for (const lc_json *at = lc_json_first(object); at != NULL; at = lc_json_next(at))
        from[filled++] = (lc_json_entry){prefix_of(at), at};
    LC_ASSERT(filled == count);

    for (size_t run = 1; run < count; run *= 2) {
        for (size_t low = 0; low < count; low += 2 * run) {
            size_t bounds[3] = {low, least(low + run, count), least(low + 2 * run, count)};

            merge(from, to, bounds);
        }
        spare = from;
        from = to;
        to = spare;
    }
    return from;
}

/* ---- The canonical form ---------------------------------------------------------------------- */

/* The form that is hashed and by which values are compared. Byte order of names is code point
 * order, as UTF-8 keeps it. Every open container has its members, in the order to write them, in
 * the scratch arena: objects sorted, arrays as they are. A stack of these replaces recursion. */

/* An open container; `entries` is NULL for an array, whose elements are walked from `next`. */
typedef struct level {
    const lc_json_entry *entries;
    size_t at;
    size_t count;
    const lc_json *next;
} level;

static bool enter(lc_arena *scratch, const lc_json *container, level *out)
{
    *out = (level){.count = lc_json_count(container), .next = lc_json_first(container)};
    if (lc_json_kind_of(container) != LC_JSON_OBJECT || out->count == 0)
        return true;
    out->entries = lc_json_sort_members(scratch, container);
    return out->entries != NULL;
}

/* The next value of a level, or NULL. */
static const lc_json *advance(level *from)
{
    const lc_json *value = from->next;

    if (from->entries != NULL)
        return from->at < from->count ? from->entries[from->at++].member : NULL;
    if (value != NULL)
        from->next = lc_json_next(value);
    return value;
}

/* False when out of memory. */
static bool write_sorted(lc_json_writer *w, lc_arena *scratch, const lc_json *value)
{
    level levels[LC_JSON_DEPTH_MAX];
    unsigned depth = 0;

    for (;;) {
        lc_jw_put_parsed(w, value);
        if (lc_json_is_container(value)) {
            LC_ASSERT(depth < LC_JSON_DEPTH_MAX);
            if (!enter(scratch, value, &levels[depth++]))
                return false;
        }
        value = NULL;
        while (depth > 0 && (value = advance(&levels[depth - 1])) == NULL) {
            depth--;
            lc_jw_end(w);
        }
        if (value == NULL)
            return true;
        if (levels[depth - 1].entries != NULL)
            lc_jw_name_str(w, lc_json_name(value));
    }
}

loci_status lc_json_canonical(lc_arena *scratch, const lc_json *value, lc_buf *out, loci_error *err)
{
    lc_arena_mark mark = lc_arena_get_mark(scratch);
    lc_json_writer w;
    bool has_memory;

    lc_jw_init(&w, out);
    has_memory = write_sorted(&w, scratch, value);
    lc_arena_rewind(scratch, mark);
    return has_memory ? lc_buf_status(out, err) : lc_fail_memory(err);
}

/* ---- Editing --------------------------------------------------------------------------------- */

loci_status lc_json_edit_strings(const lc_json *value, lc_json_edit_visit *visit, void *ctx,
                                 loci_error *err)
{
    size_t count = lc_json_is_container(value) ? value->as.container.span : 1;
    loci_status status = LOCI_OK;

    for (size_t i = 0; status == LOCI_OK && i < count; i++) {
        lc_json *each = (lc_json *)(value + i); /* The document is the caller's to change. */
        lc_json_edit edit = {0};

        if (i > 0 && each->name != NULL) {
            edit = (lc_json_edit){.text = {each->name, each->name_bytes}, .is_name = true};
            status = visit(ctx, each, &edit, err);
        }
        if (status != LOCI_OK || each->kind != LC_JSON_STRING)
            continue;
        edit = (lc_json_edit){.text = {each->as.text, each->text_bytes}};
        if (each->name != NULL)
            edit.name = (loci_str){each->name, each->name_bytes};
        status = visit(ctx, each, &edit, err);
        if (status == LOCI_OK && edit.text.len > LC_JSON_BYTES_MAX - 1)
            status = lc_fail(err, LOCI_ELIMIT, "a string of %zu bytes is too long", edit.text.len);
        if (status == LOCI_OK) {
            each->as.text = edit.text.ptr;
            each->text_bytes = (uint32_t)edit.text.len & 0xFFFFFFu;
        }
    }
    return status;
}
